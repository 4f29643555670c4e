//! The generator: one base clusterer, many members, each seeing something else.

mod member;
mod missing;
mod mixed;
mod run;
mod scale;
mod seen;
#[cfg(feature = "serde")]
mod stored;
mod unlabelled;
mod view;

use std::fmt;
use std::ops::RangeInclusive;
use std::sync::Arc;

use consilience_core::{
    BaseClusterer, Ensemble, Error, Features, Fit, MemoryBudget, Observer, Result, Seed,
    at_least_one, ensure,
};

use ndarray::Array2;

pub use missing::Missing;
pub use scale::Scale;
use scale::{Affine, nearer};
pub use view::View;

use crate::SilhouetteNumber;

/// More than anything that can be done with them.
const MOST_MEMBERS: usize = 1_000_000;

/// Makes a clustering ensemble from features.
///
/// Each member runs the base clusterer with a number of clusters drawn from a range, on a random
/// part of the features and of the objects, optionally projected at random. Objects that a member
/// does not see are unlabelled in it.
///
/// ```
/// use consilience::Seed;
/// use consilience::generate::{Generator, KMeans};
/// use consilience::ndarray::Array2;
///
/// let x = Array2::from_shape_fn((30, 6), |(i, j)| (i % 3 * 10) as f64 + (i * j % 5) as f64 * 0.2);
/// let ensemble = Generator::new(KMeans::new())
///     .members(8)
///     .clusters(3..=5)
///     .feature_fraction(0.5)
///     .object_fraction(0.8)
///     .seed(Seed(3))
///     .generate(x.view())?;
/// assert_eq!(ensemble.n_members(), 8);
/// assert!(ensemble.members().iter().all(|m| m.n_labelled() == 24));
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Complexity
/// Members run in parallel on the caller's rayon pool. Beside the features
/// and the result there is one member's copy of its part of the features per thread, and none
/// where a member sees the whole table as it is.
///
/// # References
/// The default range for the number of clusters, `2..=min(sqrt(n), 50)`, or to the smaller of n / 2
/// and 10 where that is more, ends at twice the number that D. Huang, J.-H. Lai, C.-D. Wang,
/// "Robust ensemble clustering using probability trajectories", 2016, take,
/// `min(sqrt(n) / 2, 50)`, which joins clusters of few objects. Where a consensus of K clusters is
/// to follow ([`Generator::consensus_clusters`]) and the range would end
/// below `2 K`, it is `K..=2 K`.
pub struct Generator {
    clusterer: Box<dyn BaseClusterer>,
    members: usize,
    clusters: Option<RangeInclusive<usize>>,
    consensus_clusters: Option<usize>,
    feature_fraction: f64,
    object_fraction: f64,
    projection: Option<usize>,
    scale: Scale,
    missing: Missing,
    seed: Seed,
    budget: MemoryBudget,
}

impl fmt::Debug for Generator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Generator")
            .field("clusterer", &self.clusterer.name())
            .field("members", &self.members)
            .field("clusters", &self.clusters)
            .field("consensus_clusters", &self.consensus_clusters)
            .field("feature_fraction", &self.feature_fraction)
            .field("object_fraction", &self.object_fraction)
            .field("projection", &self.projection)
            .field("scale", &self.scale)
            .field("missing", &self.missing)
            .field("seed", &self.seed)
            .finish()
    }
}

/// What members are asked for.
#[derive(Clone, Copy)]
struct Ask<'a> {
    members: usize,
    /// What notes call them.
    name: &'a str,
    /// Into how many clusters they are to be combined, where that is known.
    into: Option<usize>,
}

impl Generator {
    /// 20 members of the given base clusterer on all features and objects, unscaled.
    pub fn new(clusterer: impl BaseClusterer + 'static) -> Self {
        Self::boxed(Box::new(clusterer))
    }

    /// As [`Generator::new`], for a base clusterer chosen at run time.
    pub fn boxed(clusterer: Box<dyn BaseClusterer>) -> Self {
        Generator {
            clusterer,
            members: 20,
            clusters: None,
            consensus_clusters: None,
            feature_fraction: 1.0,
            object_fraction: 1.0,
            projection: None,
            scale: Scale::None,
            missing: Missing::Refuse,
            seed: Seed(0),
            budget: MemoryBudget::default(),
        }
    }

    consilience_core::setters! {
        /// Number of members. Default 20; 1 to 1,000,000.
        pub fn members(mut self, members: usize) { self.members = members }

        /// Range that each member's number of clusters is drawn from; its end is lowered to the
        /// number of objects that a member sees. Default `2..=min(sqrt(n), 50)`, at least to the
        /// smaller of n / 2 and 10, or as
        /// [`consensus_clusters`](Generator::consensus_clusters) says; within `1..=n`.
        pub fn clusters(mut self, range: RangeInclusive<usize>) { self.clusters = Some(range) }

        /// Into how many clusters K the members are to be combined. Where no range is given and
        /// the default one ends below `2 K`, numbers of clusters are drawn from `K..=2 K`, up to
        /// the number of objects that a member sees: members of fewer than K clusters join what
        /// the consensus is to keep apart. `ConsensusClustering::new(K)` says it by itself.
        /// Default: not known; at least 1.
        pub fn consensus_clusters(mut self, clusters: usize) {
            self.consensus_clusters = Some(clusters)
        }

        /// Fraction f of the d features that each member sees: `ceil(f d)` at random, the product
        /// as a computer has it: of 100 features 0.07 are 8. Default 1; above 0, at most 1.
        pub fn feature_fraction(mut self, fraction: f64) { self.feature_fraction = fraction }

        /// Fraction f of the n objects that each member sees: `ceil(f n)` at random, as of
        /// features. Default 1; above 0, at most 1.
        pub fn object_fraction(mut self, fraction: f64) { self.object_fraction = fraction }

        /// Dimensions of a Gaussian random projection of what each member sees. A feature whose
        /// numbers are beyond 1024 times the spread of the widest counts from its smallest number:
        /// that moves all objects alike, and otherwise nothing else is left in single precision.
        /// Default: none; at least 1.
        pub fn projection(mut self, dimensions: usize) { self.projection = Some(dimensions) }

        /// How features are brought to a common scale. Default [`Scale::None`].
        pub fn scale(mut self, scale: Scale) { self.scale = scale }

        /// What is done about features that are missing, which are NaN. Default
        /// [`Missing::Refuse`].
        pub fn missing(mut self, missing: Missing) { self.missing = missing }

        /// Default `Seed(0)`.
        pub fn seed(mut self, seed: Seed) { self.seed = seed }

        /// How much memory a projection may take, and each member's run of the base clusterer.
        /// Default 8 GiB, or what the base clusterer was given.
        pub fn memory_budget(mut self, budget: MemoryBudget) {
            self.budget = budget;
            self.clusterer.set_memory_budget(budget)
        }
    }

    /// The ensemble alone.
    ///
    /// # Errors
    /// As [`Generator::fit`].
    #[doc(alias = "fit_transform")]
    pub fn generate<'a>(&self, features: impl Into<Features<'a>>) -> Result<Ensemble> {
        Ok(self.fit(features, &())?.output)
    }

    /// The ensemble with a report; the observer is told of finished members, stage `members`.
    ///
    /// The report's [`clusters_missing`](consilience_core::Report::clusters_missing) is how many
    /// clusters the member lacks that lacks most. Notes of members are passed on, once for all
    /// members that have them, and one says how many objects no member labels, and why.
    ///
    /// # Errors
    /// [`ErrorKind::Empty`](consilience_core::ErrorKind::Empty) and
    /// [`ErrorKind::NonFinite`](consilience_core::ErrorKind::NonFinite) for bad features,
    /// [`ErrorKind::InvalidParameter`](consilience_core::ErrorKind::InvalidParameter) for no
    /// members or more than a million, an empty range of clusters or one beyond the objects, and
    /// fractions outside `(0, 1]`, and under [`Missing::Member`] for a member that would see no
    /// object without a hole; [`ErrorKind::TooLarge`](consilience_core::ErrorKind::TooLarge)
    /// for a projection beyond the memory budget;
    /// [`ErrorKind::Cancelled`](consilience_core::ErrorKind::Cancelled); what the base clusterer
    /// says, for the first member that fails.
    pub fn fit<'a>(
        &self,
        features: impl Into<Features<'a>>,
        observer: &dyn Observer,
    ) -> Result<Fit<Ensemble>> {
        self.fit_into(features.into(), None, observer)
    }

    /// As [`Generator::fit`], for a consensus into so many clusters, where that is known by now.
    #[doc(hidden)]
    pub fn fit_into(
        &self,
        features: Features<'_>,
        clusters: Option<usize>,
        observer: &dyn Observer,
    ) -> Result<Fit<Ensemble>> {
        let into = clusters.or(self.consensus_clusters);
        let ask = Ask { members: self.members, name: "members", into };
        let mut fit = self.fit_members(features, ask, observer)?;
        self.tell_unlabelled(Some(features), &mut fit)?;
        Ok(fit)
    }

    /// All features on the scale that members see.
    #[doc(hidden)]
    pub fn whole_view(&self, features: Features<'_>) -> View {
        let maps = self.scale.maps_of(features);
        View { features: features.n_features(), columns: None, maps, projection: None }
    }

    /// The number of clusters by silhouettes, on the scale that members see.
    #[doc(hidden)]
    pub fn silhouettes(&self) -> SilhouetteNumber {
        let number = SilhouetteNumber::new().scale(self.scale);
        number.seed(self.seed).memory_budget(self.budget)
    }

    fn fit_members(
        &self,
        features: Features<'_>,
        ask: Ask<'_>,
        observer: &dyn Observer,
    ) -> Result<Fit<Ensemble>> {
        self.check(features)?;
        match self.filled(features, observer)? {
            Some(filled) => run::run(self, (&filled).into(), ask, observer),
            None => run::run(self, features, ask, observer),
        }
    }

    /// The features with their holes filled, where the generator fills them.
    #[doc(hidden)]
    pub fn filled(
        &self,
        features: Features<'_>,
        observer: &dyn Observer,
    ) -> Result<Option<Array2<f64>>> {
        match self.missing {
            Missing::Refuse | Missing::Member => Ok(None),
            missing => missing.filled_observed(features, observer).map(Some),
        }
    }

    /// What each member sees of the features, on which of them and on the scale of all of them.
    /// [`Generator::fit`] on the same features shows its members these views.
    ///
    /// # Errors
    /// As [`Generator::fit`] before it runs a member.
    pub fn views<'a>(&self, features: impl Into<Features<'a>>) -> Result<Vec<View>> {
        let features = features.into();
        self.check(features)?;
        Ok(match self.filled(features, &())? {
            Some(filled) => self.views_of((&filled).into()),
            None => self.views_of(features),
        })
    }

    fn views_of(&self, features: Features<'_>) -> Vec<View> {
        let d = features.n_features();
        let maps = self.maps(features);
        let view = |u| View::drawn(self, d, maps.clone(), self.member_seed(u));
        (0..self.members).map(view).collect()
    }

    /// What happens to each feature before it is projected, if it is.
    fn maps(&self, features: Features<'_>) -> Option<Arc<[Affine]>> {
        match self.scale {
            Scale::None => self.projection.and_then(|_| nearer(features)),
            scale => scale.maps_of(features),
        }
    }

    fn member_seed(&self, member: usize) -> Seed {
        self.seed.derive("member", member as u64)
    }

    fn check(&self, features: Features<'_>) -> Result<()> {
        self.missing.check(&features)?;
        ensure!(
            !features.is_sparse() || self.scale == Scale::None,
            invalid(
                "sparse features on a common scale are no longer sparse; expected no scale, or the \
                 features scaled beforehand (tf-idf, unit length)"
            )
        );
        self.check_members()?;
        self.fraction("feature fraction", self.feature_fraction)?;
        self.fraction("object fraction", self.object_fraction)?;
        if self.feature_fraction < 1.0 {
            // Which they are, and where each feature went.
            let d = features.n_features();
            self.budget.check_table("the features of a member", d, 2, size_of::<usize>())?;
        }
        if let Some(dimensions) = self.projection {
            at_least_one("projection", dimensions)?;
            let rows = features.n_objects().max(features.n_features());
            self.budget.check_table("projection", rows, dimensions, size_of::<f64>())?;
        }
        Ok(())
    }

    fn check_members(&self) -> Result<()> {
        at_least_one("members", self.members)?;
        ensure!(
            self.members <= MOST_MEMBERS,
            invalid("{} members; expected 1..={MOST_MEMBERS}", self.members)
        );
        Ok(())
    }

    /// The range that the numbers of clusters are drawn from, for features of `n` objects.
    ///
    /// ```
    /// use consilience::generate::{Generator, KMeans};
    ///
    /// let generator = Generator::new(KMeans::new());
    /// assert_eq!(generator.cluster_range(400)?, 2..=20);
    /// let generator = generator.consensus_clusters(12);
    /// assert_eq!(generator.cluster_range(400)?, 12..=24);
    /// assert_eq!(generator.cluster_range(600)?, 2..=24);
    /// assert_eq!(generator.clusters(5..=8).cluster_range(400)?, 5..=8);
    /// # Ok::<(), consilience::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::InvalidParameter`](consilience_core::ErrorKind::InvalidParameter) for an empty
    /// range or one beyond the objects that a member sees.
    pub fn cluster_range(&self, n: usize) -> Result<RangeInclusive<usize>> {
        let seen = (n as f64 * self.object_fraction).ceil() as usize;
        self.range(n, seen.clamp(1, n.max(1)), self.consensus_clusters)
    }

    fn fraction(&self, name: &str, value: f64) -> Result<()> {
        if !(value > 0.0 && value <= 1.0) {
            return Err(Error::invalid(format!("{name} {value}; expected above 0 and at most 1")));
        }
        Ok(())
    }

    /// The number of clusters of the consensus, where it is what numbers are drawn by: no range is
    /// given, and the default one ends below twice that number.
    fn beyond(&self, n: usize, into: Option<usize>) -> Option<usize> {
        let k = into.filter(|&k| k > 0 && self.clusters.is_none())?;
        (default_end(n) < k.saturating_mul(2)).then_some(k)
    }

    /// The range for members that see `objects` of `n` objects, for a consensus into so many
    /// clusters.
    fn range(
        &self,
        n: usize,
        objects: usize,
        into: Option<usize>,
    ) -> Result<RangeInclusive<usize>> {
        let Some(asked) = &self.clusters else {
            return Ok(match self.beyond(n, into) {
                Some(k) => k.min(objects)..=k.saturating_mul(2).min(objects),
                None => 2.min(objects)..=default_end(n).min(objects),
            });
        };
        let (low, high) = (*asked.start(), *asked.end());
        if low == 0 || low > high || low > objects {
            return Err(Error::invalid(format!(
                "{low} to {high} clusters of the {objects} objects that a member sees; expected a \
                 range within 1..={objects}"
            )));
        }
        Ok(low..=high.min(objects))
    }
}

/// Where the default range of the numbers of clusters ends.
fn default_end(n: usize) -> usize {
    // The root of a few objects is too few to tell how many clusters they are.
    let root = (n as f64).sqrt() as usize;
    root.max((n / 2).min(10)).clamp(2, 50)
}
