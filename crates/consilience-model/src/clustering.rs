use std::fmt;

use consilience_core::{
    Clusters, ConsensusFunction, Features, Fit, MemoryBudget, Observer, Partition, Report, Result,
    Seed, check_answer,
};
use consilience_generate::{Generator, KMeans};
use consilience_trust::Recommended;

use crate::prototypes::Prototypes;
use crate::{ConsensusModel, table};

/// Features to a consensus clustering that labels new objects: generator, consensus function and
/// what places objects, in one call.
///
/// The first choice for features without labels where one run of k-means would depend on its start.
/// With a few labels or pairs see [`LinkedClustering`](crate::LinkedClustering). By default 20
/// k-means members with random numbers of clusters, combined by [`Recommended`]. Where many
/// clusters K are asked for, members have K to 2 K ([`Generator::consensus_clusters`]).
///
/// ```
/// use consilience::generate::{Generator, KMeans, Scale};
/// use consilience::model::ConsensusClustering;
/// use consilience::ndarray::Array2;
/// use consilience::walk::Pta;
/// use consilience::Observer;
///
/// let at = |(i, j): (usize, usize)| (i / 20 * 9) as f32 + (i * (j + 2) % 5) as f32 * 0.2;
/// let x = Array2::from_shape_fn((60, 3), at);
/// let members = Generator::new(KMeans::new()).members(10).clusters(3..=6).scale(Scale::ZScore);
/// let found = ConsensusClustering::by(Pta::new(3)).generator(members).fit(&x, &())?;
/// assert_eq!(found.output.partition().sizes(), [20, 20, 20]);
/// assert!(found.report.stages.iter().any(|(stage, _)| *stage == "members"));
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Complexity
/// That of generator and consensus function, and O(n p d) per member for its p prototypes: as many
/// as it has clusters where objects are nearest to the mean of their own, as k-means has it.
#[doc(alias = "fit_predict")]
#[doc(alias = "ClusterEnsemble")]
pub struct ConsensusClustering {
    generator: Generator,
    method: Method,
    /// Into how many clusters, where that is known.
    clusters: Option<usize>,
}

/// The consensus function.
enum Method {
    /// Chosen by the evidence.
    Recommended(Recommended),
    /// The user's.
    Given(Box<dyn ConsensusFunction<Output = Partition>>),
}

impl Method {
    fn function(&self) -> &dyn ConsensusFunction<Output = Partition> {
        match self {
            Method::Recommended(method) => method,
            Method::Given(method) => method.as_ref(),
        }
    }
}

impl fmt::Debug for ConsensusClustering {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConsensusClustering")
            .field("generator", &self.generator)
            .field("method", &self.method.function().name())
            .finish()
    }
}

impl ConsensusClustering {
    /// Into so many clusters, by the recommended method.
    pub fn new(clusters: impl Into<Clusters>) -> Self {
        let clusters = clusters.into();
        let made = Self::with(Method::Recommended(Recommended::new(clusters)));
        let clusters = clusters.fixed();
        ConsensusClustering { clusters, ..made }.generator(Generator::new(KMeans::new()))
    }

    /// By a consensus function of the caller's choice, which says how many clusters. Where these
    /// are many, say it to the generator as well: [`Generator::consensus_clusters`].
    pub fn by(method: impl ConsensusFunction<Output = Partition> + 'static) -> Self {
        Self::boxed(Box::new(method))
    }

    /// As [`ConsensusClustering::by`], for a method chosen at run time.
    pub fn boxed(method: Box<dyn ConsensusFunction<Output = Partition>>) -> Self {
        Self::with(Method::Given(method))
    }

    fn with(method: Method) -> Self {
        ConsensusClustering { generator: Generator::new(KMeans::new()), method, clusters: None }
    }

    consilience_core::setters! {
        /// What makes the members. Default: 20 members of k-means on all features as they are,
        /// with 2 to sqrt(n) clusters (50 at most), or of K to 2 K where the recommended
        /// method is to find K and that range ends below 2 K.
        pub fn generator(mut self, generator: Generator) {
            self.generator = match self.clusters {
                Some(clusters) => generator.consensus_clusters(clusters),
                None => generator,
            }
        }

        /// Seed of the generator, and of the recommended method; a method given to
        /// [`ConsensusClustering::by`] keeps its own. Default: the generator's, and `Seed(0)`.
        pub fn seed(mut self, seed: Seed) {
            self.generator = self.generator.seed(seed);
            if let Method::Recommended(method) = self.method {
                self.method = Method::Recommended(method.seed(seed));
            }
        }

        /// How much memory generator and recommended method may take each; a method given to
        /// [`ConsensusClustering::by`] keeps its own. Default 8 GiB, or the generator's.
        pub fn memory_budget(mut self, budget: MemoryBudget) {
            self.generator = self.generator.memory_budget(budget);
            if let Method::Recommended(method) = self.method {
                self.method = Method::Recommended(method.memory_budget(budget));
            }
        }
    }

    /// The fitted model alone.
    ///
    /// # Errors
    /// As [`ConsensusClustering::fit`].
    #[doc(alias = "fit_predict")]
    pub fn cluster<'a>(&self, features: impl Into<Features<'a>>) -> Result<ConsensusModel> {
        Ok(self.fit(features, &())?.output)
    }

    /// The fitted model, with a report that has the stages of generator and consensus function.
    ///
    /// # Errors
    /// Those of [`Generator::fit`] and of the consensus function;
    /// [`ErrorKind::InvalidParameter`](consilience_core::ErrorKind::InvalidParameter) for sparse
    /// features, since prototypes are means: fit to the rows that the map of a `TruncatedSvd` makes
    /// of them, or give the ensemble of a [`Generator`], which takes sparse features as they are,
    /// to a consensus function;
    /// [`ErrorKind::Empty`](consilience_core::ErrorKind::Empty) where that labels no object,
    /// [`ErrorKind::ShapeMismatch`](consilience_core::ErrorKind::ShapeMismatch) where it returns
    /// another number of labels than there are objects.
    pub fn fit<'a>(
        &self,
        features: impl Into<Features<'a>>,
        observer: &dyn Observer,
    ) -> Result<Fit<ConsensusModel>> {
        let features = features.into();
        // Prototypes are means of what the members saw.
        let instead = format!(
            "{}, or the ensemble that a `Generator` makes of them as they are, given to a \
             consensus function",
            table::MAPPED
        );
        table::of(features, "a consensus clustering", &instead)?;
        match self.generator.filled(features, observer)? {
            Some(filled) => self.fit_to((&filled).into(), observer),
            None => self.fit_to(features, observer),
        }
    }

    fn fit_to(
        &self,
        features: Features<'_>,
        observer: &dyn Observer,
    ) -> Result<Fit<ConsensusModel>> {
        let made = self.generator.fit(features, observer)?;
        let ensemble = made.output;
        let views = self.generator.views(features)?;
        let method = self.method.function();
        let found = method.fit(&ensemble, observer)?;
        let (labels, n) = (found.output.n_objects(), ensemble.n_objects());
        check_answer(method.name(), "labels", labels, n)?;
        let mut report = joined(made.report, found.report);
        let places = report.stage("prototypes", || {
            Prototypes::of_members(views, features.dense()?.to_f64()?.view(), &ensemble, observer)
        })?;
        Ok(Fit::new(ConsensusModel::new(ensemble, found.output, places)?, report))
    }
}

/// The report of the consensus, with the stages and notes of the generator before its own.
fn joined(made: Report, mut found: Report) -> Report {
    found.stages.splice(0..0, made.stages);
    found.notes.splice(0..0, made.notes);
    found
}
