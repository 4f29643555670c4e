//! Semi-crowdsourced clustering: a metric by regression on the completed similarity of a sample.

mod regression;
#[cfg(test)]
mod tests;

use consilience_core::{
    Constraints, Error, ErrorKind, Features, Fit, MemoryBudget, Observer, Report, Result, Seed,
    Status,
};
use consilience_num::kmeans::KMeansOptions;
use ndarray::ArrayView2;

pub(crate) use regression::Projection;
use regression::{from_constraints, from_factors, leading_factors};

use crate::mccc::frame::Frame;
use crate::mccc::{CompletedClustering, Map, check_constraints};

/// Similarities of the annotated sample, completed: what [`Rdml`] regresses on.
///
/// ```
/// use consilience_completion::SampleSimilarity;
/// use ndarray::array;
///
/// // Three objects, the first two alike: in full, and by memberships.
/// let (full, memberships) =
///     (array![[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0]], array![[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]]);
/// assert_eq!(memberships.dot(&memberships.t()), full);
/// let _either = [SampleSimilarity::Dense(full.view()), SampleSimilarity::Factors(memberships.view())];
/// ```
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum SampleSimilarity<'a> {
    /// The whole symmetric n x n matrix A.
    Dense(ArrayView2<'a, f64>),
    /// A = F F' by its factors F (n x r), as a low-rank completion gives them.
    Factors(ArrayView2<'a, f64>),
}

/// RDML: a linear similarity learned by regression on the completed similarity of a small annotated
/// sample, and the clusters of all objects under it.
///
/// For crowds that annotated a sample of the objects: complete the sample's similarity first (by
/// robust matrix completion, say), then let the features carry it to all others. Only what a linear
/// function of the features tells apart can be carried over. For a few sure pairs from all over the
/// data [`Mccc`](crate::Mccc) is better.
///
/// ```text
/// M = (X X' + lambda t I)^-1 X A X' (X X' + lambda t I)^-1 = L L',    X: d x n, the sample;  t = trace of X X'
/// clusters = k-means of L' x over all N objects; x' M y is the similarity of any two
/// ```
///
/// ```
/// use consilience_completion::{Rdml, SampleSimilarity};
/// use ndarray::Array2;
///
/// // 300 objects in two groups that only the second column tells apart; 20 of them are annotated.
/// let x = Array2::from_shape_fn((300, 2), |(i, j)| {
///     if j == 0 { ((i * 37) % 101) as f64 } else { (i % 2) as f64 + ((i * 13) % 7) as f64 * 0.05 }
/// });
/// let sample: Vec<usize> = (0..20).collect();
/// let same = Array2::from_shape_fn((20, 20), |(i, j)| f64::from(u8::from(i % 2 == j % 2)));
/// let found = Rdml::new(2).fit(x.view().into(), &sample, SampleSimilarity::Dense(same.view()), &())?.output;
/// assert!(found.partition.iter().enumerate().all(|(i, c)| c == Some(i % 2)));
/// # Ok::<(), consilience_core::Error>(())
/// ```
///
/// The features are standardised by default (each less its mean over all objects, over its standard
/// deviation). lambda is a share of their whole variance: too small, and rare combinations of
/// features are trusted; too large, and M no longer whitens. A may be indefinite: its positive part
/// counts.
///
/// # Complexity
/// With s = min(n, d): O(n d s + s^3 + N d r) time, O(N d + s^2) memory; for a dense A some tens of
/// products with n x r blocks beside. Nothing N x N.
///
/// # Errors
/// [`ErrorKind::Empty`] and [`ErrorKind::NonFinite`] for bad features or similarities;
/// [`ErrorKind::InvalidParameter`] for clusters outside `1..=N`, for parameters out of their range,
/// and for an object twice in the sample; [`ErrorKind::OutOfRange`] for a sample object that does
/// not exist; [`ErrorKind::ShapeMismatch`] where the similarity has another order than the sample;
/// [`ErrorKind::TooLarge`] where the linear system exceeds 8 GiB; [`ErrorKind::Cancelled`].
///
/// # References
/// J. Yi, "Crowdclustering", PhD thesis, Michigan State University, 2014, Chapter 4, Eq. 4.5; J.
/// Yi, R. Jin, S. Jain, T. Yang, A. K. Jain, "Semi-crowdsourced clustering: generalizing crowd
/// labeling by robust distance metric learning", NIPS 2012. The thesis has lambda n in place of our
/// lambda t, for features scaled to norm at most 1, where both are of one size, and takes lambda =
/// 1; at 0.01 the development sets are clustered better by up to .3 NMI (docs/side-information.md).
/// Its spectral clustering of X' M X is here k-means on L' x, whose inner products are that matrix.
#[doc(alias = "semi-crowdsourced clustering")]
#[doc(alias = "distance metric learning")]
#[derive(Clone, Debug, PartialEq)]
pub struct Rdml {
    clusters: usize,
    smoothing: f64,
    standardise: bool,
    restarts: usize,
    seed: Seed,
}

impl Rdml {
    /// At most this many clusters; lambda 0.01, standardised features, 10 starts of the k-means,
    /// seed 0.
    pub fn new(clusters: usize) -> Self {
        Rdml { clusters, smoothing: 0.01, standardise: true, restarts: 10, seed: Seed(0) }
    }

    /// lambda: what share of the features' whole variance is added to that of every direction.
    #[doc(alias = "lambda")]
    pub fn smoothing(mut self, smoothing: f64) -> Self {
        self.smoothing = smoothing;
        self
    }

    /// Whether features are standardised or taken as they are.
    pub fn standardise(mut self, standardise: bool) -> Self {
        self.standardise = standardise;
        self
    }

    /// Starts of the k-means.
    pub fn restarts(mut self, restarts: usize) -> Self {
        self.restarts = restarts;
        self
    }

    /// Seed of the k-means.
    pub fn seed(mut self, seed: Seed) -> Self {
        self.seed = seed;
        self
    }

    /// Clusters all rows, from the completed similarity of the rows that `sample` names (in its
    /// order).
    ///
    /// # Errors
    /// As [`Rdml`] says.
    pub fn fit(
        &self,
        features: Features<'_>,
        sample: &[usize],
        similarity: SampleSimilarity<'_>,
        observer: &dyn Observer,
    ) -> Result<Fit<CompletedClustering>> {
        let (n, d) = self.check(&features)?;
        check_sample(sample, n)?;
        check_similarity(&similarity, sample.len())?;
        observer.check()?;
        let side = d.min(sample.len());
        MemoryBudget::default().check_square("the linear system", side, 24)?;
        MemoryBudget::default().check_table("features", n, d, 24)?;
        let mut report = Report::default();
        let (factors, converged) = report.stage("factors", || match similarity {
            SampleSimilarity::Dense(a) => leading_factors(a, self.clusters),
            SampleSimilarity::Factors(f) => (f.to_owned(), true),
        });
        observer.check()?;
        let (frame, x) = self.frame(&features);
        let map = report.stage("metric", || from_factors(&x, sample, &factors, self.smoothing));
        if !converged {
            report.status = Status::MaxIterations;
            report
                .notes
                .push("eigenvectors of the sample's similarity did not converge".to_owned());
        }
        self.finish(Projection::new(frame, map), x, report, observer)
    }

    /// Clusters all rows from must-links and cannot-links.
    ///
    /// The sample are all objects then, and A is completed by what is expected of pairs drawn at
    /// random: a pair that nothing is known of counts as the share s of must-links among the
    /// constraints, a known one as `s + (s_ij - s) N^2 / (2 p)`, p being their number. With
    /// constraints on random pairs this A is right in the mean, and the regression averages over
    /// it; its noise falls with p alone. With constraints on a sample of the objects, complete the
    /// sample's similarity and call [`Rdml::fit`].
    ///
    /// Without any of either kind nothing is learned: the clusters are those of plain k-means, and
    /// a note says so.
    ///
    /// # Errors
    /// As [`Rdml`] says; [`ErrorKind::ShapeMismatch`] where the constraints are over another number
    /// of objects.
    ///
    /// # Complexity
    /// O(N d^2 + p d^2 + d^3) time, O(N d + d^2) memory.
    pub fn fit_constraints(
        &self,
        features: Features<'_>,
        constraints: &Constraints,
        observer: &dyn Observer,
    ) -> Result<Fit<CompletedClustering>> {
        let (n, d) = self.check(&features)?;
        check_constraints(constraints, n)?;
        observer.check()?;
        MemoryBudget::default().check_square("the metric", d, 32)?;
        MemoryBudget::default().check_table("features", n, d, 24)?;
        let mut report = Report::default();
        let (frame, x) = self.frame(&features);
        let map = report
            .stage("metric", || from_constraints(&x, constraints, self.smoothing, self.clusters));
        if map.ncols() == 0 {
            report.notes.push(
                "must-links and cannot-links are both needed for a metric: the clusters are those of plain k-means"
                    .to_owned(),
            );
            return self.finish(Projection::identity(frame), x, report, observer);
        }
        self.finish(Projection::new(frame, map), x, report, observer)
    }

    fn finish(
        &self,
        projection: Projection,
        x: ndarray::Array2<f64>,
        mut report: Report,
        observer: &dyn Observer,
    ) -> Result<Fit<CompletedClustering>> {
        observer.check()?;
        let rows = projection.project(x);
        let options = KMeansOptions::new(self.clusters)
            .restarts(self.restarts)
            .seed(self.seed.derive("k-means", 0))
            .tolerance(1e-6)
            .parallel(rayon::current_num_threads() > 1);
        let (found, told) = report.stage("k-means", || {
            CompletedClustering::new(rows, &options, Map::Projection(projection), observer)
        })?;
        observer.check()?;
        report.iterations = told.iterations;
        report.objective = Some(told.inertia);
        if !told.converged {
            report.status = Status::MaxIterations;
        }
        report.expect_clusters(
            self.clusters,
            found.partition.n_clusters(),
            "the features distinguish no more objects",
        );
        Ok(Fit::new(found, report))
    }

    fn frame(&self, features: &Features<'_>) -> (Frame, ndarray::Array2<f64>) {
        if self.standardise { Frame::standardised(features) } else { Frame::raw(features) }
    }

    fn check(&self, features: &Features<'_>) -> Result<(usize, usize)> {
        let n = features.n_objects();
        if self.clusters == 0 || self.clusters > n {
            return Err(Error::invalid(format!(
                "{} clusters of {n} objects; expected 1..={n}",
                self.clusters
            )));
        }
        if !(self.smoothing > 0.0 && self.smoothing.is_finite()) {
            return Err(Error::invalid(format!(
                "smoothing is {}; expected a positive number",
                self.smoothing
            )));
        }
        if self.restarts == 0 {
            return Err(Error::invalid("restarts is 0; expected at least 1"));
        }
        if n >= u32::MAX as usize {
            return Err(Error::new(ErrorKind::TooLarge, format!("{n} objects")));
        }
        features.check()?;
        Ok((n, features.n_features()))
    }
}

fn check_sample(sample: &[usize], n: usize) -> Result<()> {
    if sample.is_empty() {
        return Err(Error::empty("a sample of no objects"));
    }
    let mut sorted = sample.to_vec();
    sorted.sort_unstable();
    if let Some(&last) = sorted.last().filter(|&&i| i >= n) {
        return Err(Error::out_of_range(format!("sample object {last} of {n}")));
    }
    match sorted.windows(2).find(|w| w[0] == w[1]) {
        Some(w) => Err(Error::invalid(format!("object {} is twice in the sample", w[0]))),
        None => Ok(()),
    }
}

fn check_similarity(similarity: &SampleSimilarity<'_>, n: usize) -> Result<()> {
    let (a, square) = match similarity {
        SampleSimilarity::Dense(a) => (a, true),
        SampleSimilarity::Factors(f) => (f, false),
    };
    if a.nrows() != n || (square && a.ncols() != n) {
        return Err(Error::shape(format!(
            "similarity of {} x {} entries, a sample of {n} objects",
            a.nrows(),
            a.ncols()
        )));
    }
    if a.ncols() == 0 {
        return Err(Error::empty("factors of no columns"));
    }
    if let Some(((i, j), &v)) = a.indexed_iter().find(|(_, v)| !v.is_finite()) {
        return Err(Error::non_finite("similarity of the sample", i, j, v));
    }
    if square
        && let Some(((i, j), &v)) = a.indexed_iter().find(|&((i, j), &v)| i < j && a[[j, i]] != v)
    {
        return Err(Error::invalid(format!(
            "similarity {v} at row {i}, column {j}, but {} the other way round; expected a symmetric matrix",
            a[[j, i]]
        )));
    }
    Ok(())
}
