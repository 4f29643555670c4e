//! Semi-crowdsourced clustering: a metric by regression on the completed similarity of a sample.

mod cut;
mod regression;
mod sample;
mod smoothing;
#[cfg(test)]
mod tests;

use consilience_core::{
    Clustering, ConstrainedClusterer, Dense, Error, ErrorKind, Features, Fit, MemoryBudget,
    Observer, Report, Result, Seed, SideInformation, check_restarts, ensure,
};
use ndarray::{Array2, Axis};

pub use cut::SimilarityCut;
pub use sample::SampleSimilarity;
pub use smoothing::Smoothing;

use crate::completed::{CompletedClustering, CompletedSimilarity, cluster_rows};
use crate::frame::Frame;
use crate::known_pairs::{KnownPairs, check_objects};
use cut::Normalized;
use regression::{Projection, from_dense, from_eigenpairs, from_factors, from_pairs, longest};
use sample::{check_sample, check_similarity};

/// RDML: a linear similarity learned by regression on the completed similarity of a small annotated
/// sample, and the clusters of all objects under it.
///
/// For crowds that annotated a sample of the objects: complete the sample's similarity first (by
/// robust matrix completion, say), then the features extend it to all others. Only what a linear
/// function of the features distinguishes can be extended. For a few sure pairs from all over the
/// data [`Mccc`](crate::Mccc) is better.
///
/// ```text
/// M = (X X' + lambda t I)^-1 X A X' (X X' + lambda t I)^-1 = L L'
///     X: d x n, the sample;  t = trace of X X'
/// clusters = k-means of L' x over all N objects; x' M y is the similarity of any two
/// ```
///
/// ```
/// use consilience::completion::{Rdml, SampleSimilarity};
/// use consilience::ndarray::Array2;
///
/// // 300 objects in two groups that only the second column distinguishes; 20 are annotated.
/// let x = Array2::from_shape_fn((300, 2), |(i, j)| {
///     if j == 0 { ((i * 37) % 101) as f64 } else { (i % 2) as f64 + ((i * 13) % 7) as f64 * 0.05 }
/// });
/// let sample: Vec<usize> = (0..20).collect();
/// let same = Array2::from_shape_fn((20, 20), |(i, j)| f64::from(u8::from(i % 2 == j % 2)));
/// let given = SampleSimilarity::Dense(same.view());
/// let found = Rdml::new(2).fit_sample(x.view(), &sample, given, &())?.output;
/// assert!(found.clustering.partition.iter().enumerate().all(|(i, c)| c == Some(i % 2)));
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// As a [`ConstrainedClusterer`] it takes labels of some objects, which are then the sample, or
/// pairs from all over the data; see [`Rdml::fit_completed`].
///
/// The features are standardized by default (each less its mean over all objects, over its standard
/// deviation). lambda is a share of their whole variance: too small, and rare combinations of
/// features are trusted; too large, and M no longer whitens. A may be indefinite: the positive part
/// of M counts.
///
/// # Complexity
/// With s = min(n, d): O(n d s + s^3 + N d r) time, O(N d + s^2) memory; for a dense A O(n^2 s)
/// time beside, and r up to s. Nothing N x N.
///
/// # Errors
/// [`ErrorKind::Empty`] and [`ErrorKind::NonFinite`] for bad features or similarities;
/// [`ErrorKind::InvalidParameter`] for clusters outside `1..=N`, for parameters out of their range,
/// and for an object twice in the sample; [`ErrorKind::OutOfRange`] for a sample object that does
/// not exist; [`ErrorKind::ShapeMismatch`] where the similarity has another order than the sample;
/// [`ErrorKind::TooLarge`] beyond the memory budget; [`ErrorKind::Cancelled`].
///
/// # References
/// J. Yi, "Data Clustering with Pairwise Constraints", PhD thesis, Michigan State University, 2014,
/// Chapter 4, Eq. 4.5; J. Yi, R. Jin, S. Jain, T. Yang, A. K. Jain, "Semi-crowdsourced clustering:
/// generalizing crowd labeling by robust distance metric learning", NIPS 2012. The thesis has
/// lambda n in place of our lambda t, for features scaled to norm at most 1, where both are of one
/// size, and takes lambda = 1; at 0.01 the development sets are clustered better by up to .3 NMI
/// (docs/side-information.md). Its spectral clustering of X' M X is here k-means on L' x, whose
/// inner products are that matrix. [`Rdml::published`] is the thesis's form.
#[doc(alias = "semi-crowdsourced clustering")]
#[doc(alias = "distance metric learning")]
#[derive(Clone, Debug, PartialEq)]
pub struct Rdml {
    clusters: usize,
    smoothing: Smoothing,
    standardize: bool,
    cut: SimilarityCut,
    restarts: usize,
    seed: Seed,
    budget: MemoryBudget,
}

impl Rdml {
    /// At most this many clusters.
    pub fn new(clusters: usize) -> Self {
        Rdml {
            clusters,
            smoothing: Smoothing::OfVariance(0.01),
            standardize: true,
            cut: SimilarityCut::KMeans,
            restarts: 10,
            seed: Seed(0),
            budget: MemoryBudget::default(),
        }
    }

    consilience_core::setters! {
        /// lambda: what share of the features' whole variance is added to that of every direction,
        /// or as in the thesis ([`Smoothing::PerObject`]). Default 0.01; above 0.
        #[doc(alias = "lambda")]
        pub fn smoothing(mut self, smoothing: impl Into<Smoothing>) {
            self.smoothing = smoothing.into()
        }

        /// Whether features are standardized or taken as they are. Default true.
        pub fn standardize(mut self, standardize: bool) { self.standardize = standardize }

        /// What divides the objects by the learned similarity. Default [`SimilarityCut::KMeans`].
        pub fn cut(mut self, cut: SimilarityCut) { self.cut = cut }

        /// Starts of the k-means. Default 10; 1 to 10,000.
        pub fn restarts(mut self, restarts: usize) { self.restarts = restarts }

        /// Seed of the k-means. Default `Seed(0)`.
        pub fn seed(mut self, seed: Seed) { self.seed = seed }

        /// How much memory may be taken. Default 8 GiB.
        pub fn memory_budget(mut self, budget: MemoryBudget) { self.budget = budget }
    }

    /// The same into another number of clusters.
    #[doc(hidden)]
    #[must_use]
    pub fn of(self, clusters: usize) -> Self {
        Rdml { clusters, ..self }
    }

    /// The same with features as they are where it standardizes them, and the other way round; and
    /// whether it standardizes them now.
    #[doc(hidden)]
    pub fn other_scale(&self) -> (Self, bool) {
        (Rdml { standardize: !self.standardize, ..self.clone() }, !self.standardize)
    }

    /// The form of the thesis: features as they are, lambda = 1 a sample object
    /// ([`Smoothing::PerObject`]) and the normalised cut of the learned similarity. Default: ours,
    /// as the setters say. Setters that follow change single parts.
    ///
    /// ```
    /// use consilience::completion::{Rdml, SampleSimilarity, SimilarityCut, Smoothing};
    ///
    /// let published = Rdml::new(3).published();
    /// let same = Rdml::new(3)
    ///     .standardize(false)
    ///     .smoothing(Smoothing::PerObject(1.0))
    ///     .cut(SimilarityCut::ShiMalik);
    /// assert_eq!(published, same);
    /// ```
    #[must_use]
    pub fn published(self) -> Self {
        self.standardize(false).smoothing(Smoothing::PerObject(1.0)).cut(SimilarityCut::ShiMalik)
    }

    /// Clusters all rows, from the completed similarity of the rows that `sample` names (in its
    /// order); progress goes to the observer, which may also cancel.
    ///
    /// # Errors
    /// As [`Rdml`] says.
    pub fn fit_sample<'a>(
        &self,
        features: impl Into<Features<'a>>,
        sample: &[usize],
        similarity: SampleSimilarity<'_>,
        observer: &dyn Observer,
    ) -> Result<Fit<CompletedClustering>> {
        let features = features.into().dense()?;
        let (n, d) = self.check(&features)?;
        check_sample(sample, n)?;
        check_similarity(&similarity, sample.len())?;
        observer.check()?;
        self.budget.check_square("the linear system", d.min(sample.len()), 24)?;
        self.budget.check_table("features", n, d, 24)?;
        let mut report = Report::default();
        let (frame, x) = self.frame(&features);
        let map = report.stage("metric", || {
            let rows = x.select(Axis(0), sample);
            let trace = rows.iter().map(|v| v * v).sum::<f64>();
            let ridge = self.smoothing.ridge(trace, rows.nrows() as f64, longest(&x));
            match similarity {
                SampleSimilarity::Dense(a) => from_dense(&rows, a, ridge),
                SampleSimilarity::Factors(f) => Some(from_factors(&rows, &f.to_owned(), ridge)),
                SampleSimilarity::Eigenpairs(vectors, values) => {
                    from_eigenpairs(&rows, &vectors.to_owned(), values, ridge)
                }
            }
        });
        // Nothing positive in M: nothing is distinguished.
        let map = map.unwrap_or_else(|| Array2::zeros((d, 1)));
        self.finish(Projection::new(frame, map), x, report, observer)
    }

    /// Clusters all rows from labels or pairs, and also gives the learned similarity.
    ///
    /// Labelled objects are the sample, their similarity 1 within a class and 0 between classes.
    ///
    /// With must-links and cannot-links the sample are all objects, and A is completed by what is
    /// expected of pairs drawn at random: a pair that nothing is known of counts as the share s of
    /// must-links among the constraints, a known one as `s + (s_ij - s) N^2 / (2 p)`, p being their
    /// number. With constraints on random pairs this A is right in the mean, and the regression
    /// averages over it; its noise falls with p alone. With constraints on a sample of the objects,
    /// complete the sample's similarity and call [`Rdml::fit_sample`].
    ///
    /// Without any of either kind, and where nothing is left of M, nothing is learned: the clusters
    /// are those of plain k-means, and a note says which it is. So they are with fewer than 6 links
    /// of either kind, which M fits and little else, unless a smoothing or a cut other than the
    /// default is named.
    ///
    /// # Errors
    /// As [`Rdml`] says; [`ErrorKind::ShapeMismatch`] where the side information is about another
    /// number of objects.
    ///
    /// # Complexity
    /// O(N d^2 + p d^2 + d^3) time, O(N d + d^2) memory for pairs.
    pub fn fit_completed<'a>(
        &self,
        features: impl Into<Features<'a>>,
        side: &SideInformation,
        observer: &dyn Observer,
    ) -> Result<Fit<CompletedClustering>> {
        let features = features.into().dense()?;
        let (n, d) = self.check(&features)?;
        check_objects(side, n)?;
        let labels = side.stated().is_none() && side.are_classes();
        let classes = side.labelled_sets().len();
        if labels && classes > 1 {
            let labelled = side.labelled_objects().len();
            let tables = [(n, d.saturating_mul(3)), (labelled, classes.saturating_mul(2))];
            self.budget.check_tables("features, and labelled objects by classes", &tables, 8)?;
            let (sample, one_hot) = indicators(side);
            let given = SampleSimilarity::Factors(one_hot.view());
            return self.fit_sample(features, &sample, given, observer);
        }
        observer.check()?;
        // Sums over pairs, and the eigenvectors of one of them.
        let tables = [(n, d.saturating_mul(3)), (d, d.saturating_mul(7))];
        self.budget.check_tables("features and the metric", &tables, 8)?;
        let pairs = KnownPairs::new(side, self.budget, observer)?;
        let mut report = Report::default();
        let (frame, x) = self.frame(&features);
        let usual = Rdml::new(self.clusters);
        let named = (self.smoothing, self.cut) != (usual.smoothing, usual.cut);
        let mut why = pairs.kinds().why_unused(named, "a smoothing or a cut is");
        let mut map = None;
        if why.is_none() {
            let learn = || from_pairs(&x, &pairs, self.smoothing, self.clusters);
            map = report.stage("metric", learn);
            why = map.is_none().then(|| NOTHING_LEFT.to_owned());
        }
        let of = match self.standardize {
            true => "standardized features; standardize=false takes them as they are",
            false => "features as they are; standardize=true takes standardized ones",
        };
        report.notes.extend(
            why.map(|why| format!("{why}, so the clusters are those of plain k-means on {of}")),
        );
        let projection = match map {
            Some(map) => Projection::new(frame, map),
            None => Projection::identity(frame),
        };
        self.finish(projection, x, report, observer)
    }

    fn finish(
        &self,
        projection: Projection,
        x: Array2<f64>,
        mut report: Report,
        observer: &dyn Observer,
    ) -> Result<Fit<CompletedClustering>> {
        observer.check()?;
        let rows = projection.project(x);
        let (k, restarts) = (self.clusters, self.restarts);
        let cut = match self.cut {
            SimilarityCut::KMeans => None,
            // Similarities of centred features sum to 0.
            SimilarityCut::ShiMalik if self.standardize => None,
            SimilarityCut::ShiMalik => report.stage("eigenvectors", || {
                let seed = self.seed.derive("eigenvectors", 0);
                Normalized::new(&projection, &rows, k, seed, observer)
            })?,
        };
        if self.cut == SimilarityCut::ShiMalik && cut.is_none() {
            report.notes.push(
                "the similarities of every object sum to 0, as those of standardized features do: \
                 the normalised cut is not defined, and k-means divides the objects"
                    .to_owned(),
            );
        }
        let seen = cut.as_ref().map_or(rows.view(), |(_, eigenvectors, _)| eigenvectors.view());
        let found = cluster_rows(seen, k, restarts, self.seed, &mut report, observer)?;
        report.iterations = found.iterations;
        report.objective = Some(found.inertia);
        let similarity = CompletedSimilarity::new(rows);
        let clustering = match cut {
            None => CompletedClustering::new(similarity, found, projection)?,
            Some((map, _, raised)) => {
                if raised > 0 {
                    report.notes.push(format!(
                        "{raised} objects have similarities that do not sum to more than 0; they \
                         count with the mean of the others"
                    ));
                }
                CompletedClustering::new(similarity, found, map)?
            }
        };
        let clusters = clustering.clustering.partition.n_clusters();
        report.expect_clusters(k, clusters, "the similarity distinguishes no more objects");
        Ok(Fit::new(clustering, report))
    }

    fn frame(&self, features: &Dense<'_>) -> (Frame, Array2<f64>) {
        if self.standardize { Frame::standardized(features) } else { Frame::raw(features) }
    }

    /// Refuses options and features that no fit takes: for those who have work to do before one.
    ///
    /// ```
    /// use consilience::completion::Rdml;
    /// use consilience::ndarray::array;
    ///
    /// let x = array![[1.0], [2.0], [3.0]];
    /// assert!(Rdml::new(3).check_features(x.view()).is_ok());
    /// assert!(Rdml::new(4).check_features(x.view()).is_err());
    /// ```
    ///
    /// # Errors
    /// As [`Rdml`] says of features, clusters, smoothing, restarts and the memory for features.
    ///
    /// # Complexity
    /// O(N d).
    pub fn check_features<'a>(&self, features: impl Into<Features<'a>>) -> Result<()> {
        let (n, d) = self.check(&features.into().dense()?)?;
        self.budget.check_table("features", n, d, 24)
    }

    fn check(&self, features: &Dense<'_>) -> Result<(usize, usize)> {
        let n = features.n_objects();
        ensure!(
            (1..=n).contains(&self.clusters),
            invalid("{} clusters of {n} objects; expected 1..={n}", self.clusters)
        );
        let lambda = self.smoothing.lambda();
        ensure!(
            lambda > 0.0 && lambda.is_finite(),
            invalid("smoothing is {lambda}; expected a positive number")
        );
        check_restarts(self.restarts)?;
        if n >= u32::MAX as usize {
            return Err(Error::new(ErrorKind::TooLarge, format!("{n} objects")));
        }
        features.check()?;
        Ok((n, features.n_features()))
    }
}

impl ConstrainedClusterer for Rdml {
    fn name(&self) -> &'static str {
        "rdml"
    }

    fn fit(
        &self,
        features: Features<'_>,
        side: &SideInformation,
        observer: &dyn Observer,
    ) -> Result<Fit<Clustering>> {
        let features = features.dense()?;
        let fit = self.fit_completed(features, side, observer)?;
        Ok(Fit::new(fit.output.clustering, fit.report))
    }
}

const NOTHING_LEFT: &str = "nothing is left of the metric: the features say nothing about the \
    constraints, or lambda is too large";

/// The labelled objects, and a column for each class with 1 for its objects.
fn indicators(side: &SideInformation) -> (Vec<usize>, Array2<f64>) {
    let labelled = side.labelled_objects();
    let sample = labelled.iter().map(|&(object, _)| object).collect();
    let classes = side.labelled_sets().len();
    let one_hot = Array2::from_shape_fn((labelled.len(), classes), |(at, class)| {
        f64::from(u8::from(labelled[at].1 == class))
    });
    (sample, one_hot)
}
