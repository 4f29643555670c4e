//! Side-information clustering by matrix completion in the features' own basis.

mod choose;
mod coordinates;
mod fitting;
mod map;
mod neighbours;
mod options;
mod prepared;
#[cfg(test)]
mod reference;
mod representatives;
mod sampling;
mod solve;
mod stochastic;
#[cfg(feature = "serde")]
mod stored;
#[cfg(test)]
mod tests;

#[cfg(feature = "serde")]
use consilience_core::stored::Parts;
use consilience_core::{
    Clustering, ConstrainedClusterer, Dense, Error, ErrorKind, FeatureMap, Features, Fit,
    MemoryBudget, Observer, Partition, Report, Result, Seed, SideInformation, check_restarts,
    ensure,
};
use consilience_num::kmeans::KMeansFit;
use ndarray::{Array2, ArrayView2, s};
use std::sync::Arc;

pub use map::CompletedMap;
pub use options::{CompletionSolver, Eigenvectors, LossWeight};
pub use prepared::CompletionBasis;

use crate::basis::Basis;
use crate::completed::{
    CompletedClustering, CompletedPartition, CompletedSimilarity, cluster_rows,
};
use crate::known_pairs::{KnownPairs, check_objects};
use crate::product::product;
use coordinates::{Coordinates, Extension, most_columns, numbers};
use prepared::Prepared;

/// The bases that are compared, the most general last, since of equals the first wins.
const COMPARED: [Basis; 3] = [Basis::Singular, Basis::Neighbours, Basis::StandardizedNeighbours];

/// MCCC: clusters from features and a few must-links and cannot-links, by completing the similarity
/// of all pairs in a basis made from the features.
///
/// For thousands of constraints on objects whose features say something about the clusters; also
/// where the features hold several clusterings and constraints say which is meant. With a handful
/// of constraints a constrained k-means uses them better. Where constraints contradict the features
/// altogether no basis holds the clusters; the share of held-out constraints that are kept (in the
/// notes of the report) is then low.
///
/// ```text
/// Z = k orthonormal columns from the features (N x k)
/// minimise  |M|_* + C/2 sum_(i,j known) (z_i' M z_j - s_ij)^2
///           with s = 1 on must-links, 0 on cannot-links
/// similarity Z M Z' = E E',  E = Z V Lambda^(1/2) over the positive eigenvalues of M
/// clusters = k-means of E
/// ```
///
/// ```
/// use consilience::{Constraints, Pair, SideInformation};
/// use consilience::completion::Mccc;
/// use consilience::core::ConstrainedClusterer;
/// use consilience::ndarray::Array2;
///
/// // 200 objects: column 0 is wide and means nothing, columns 1 and 2 hold three groups.
/// let x = Array2::from_shape_fn((200, 3), |(i, j)| match j {
///     0 => ((i * 37) % 101) as f64,
///     j => f64::from(u8::from(i % 3 == j)) + ((i * j * 13) % 11) as f64 * 0.03,
/// });
/// let mut constraints = Constraints::new(200)?;
/// for i in 0..120 {
///     constraints.extend(&[Pair::must_link(i, i + 3), Pair::cannot_link(i, i + 4)])?;
/// }
/// let side = SideInformation::from_constraints(&constraints);
/// let found = Mccc::new(3).cluster(x.view().into(), &side)?;
/// assert!(found.partition.iter().enumerate().all(|(i, c)| c == Some(i % 3)));
/// // The completed similarity, also of objects in no constraint.
/// let similarity = Mccc::new(3).fit_completed(x.view(), &side, &())?.output.similarity;
/// assert!(similarity.between(180, 183)? > similarity.between(180, 184)? + 0.2);
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// Basis, k and C are chosen by held-out constraints unless they are named; that needs 6 links of
/// either kind. With fewer and none of the three named the links are not used: the clusters are
/// those of k-means on the leading columns of neighbours, as many as clusters, that is plain
/// spectral clustering, and a note says so. So they are where these, which see no link, keep more
/// of them all than the best M keeps of those held out; and, in whatever basis, without must-links
/// or without cannot-links, since M then says nothing. Where one of the three is named, the links
/// are used, with neighbours, 25 columns and 10 times the least weight that gives an M other than 0
/// for what is not. Labels of some objects count as every pair of them. Objects in no constraint
/// cost nothing in the optimisation: only the rows of constrained objects are looked at, and
/// nothing is N x N.
///
/// The units of columns matter to [`Basis::Neighbours`], which the default may choose, and to
/// [`Basis::RawSingular`]; [`Basis::Singular`] and [`Basis::StandardizedNeighbours`] do not depend
/// on them. In a basis of neighbours equal objects have equal coordinates, a row that equals an
/// object of the fit is where that is, and others are placed by the eigenvectors' equation.
///
/// # Complexity
/// O(m k^2 + p k + k^3) per iteration for p constraints over m objects. The basis: O(N d min(N, d))
/// for singular vectors; O(N^2 d) time and 8 N (13 k + 2 d + 300) bytes for neighbours up to 20,000
/// objects, beyond O(N d) with a constant of some thousand.
///
/// # Errors
/// [`ErrorKind::Empty`] and [`ErrorKind::NonFinite`] for bad features;
/// [`ErrorKind::InvalidParameter`] for clusters outside `1..=N` and for parameters out of their
/// range; [`ErrorKind::ShapeMismatch`] where the constraints are over another number of objects;
/// [`ErrorKind::TooLarge`] beyond the memory budget; [`ErrorKind::Cancelled`]. Constraints that
/// contradict each other cannot be stated: [`Constraints::add`](consilience_core::Constraints::add)
/// refuses them.
///
/// # References
/// J. Yi, "Data Clustering with Pairwise Constraints", PhD thesis, Michigan State University, 2014,
/// Chapter 5, Eq. 5.8 and Algorithm 1; J. Yi, L. Zhang, R. Jin, Q. Qian, A. K. Jain,
/// "Semi-supervised clustering by input pattern assisted pairwise similarity matrix completion",
/// ICML 2013. Ours: M is positive semidefinite, as the similarity of a clustering is; k-means sees
/// all positive eigenvectors scaled by the roots of their eigenvalues, where the thesis takes the
/// first r unscaled; the basis may come from the graph of neighbours, and singular vectors are
/// those of standardized features; C is chosen by held-out constraints, where the thesis looks for
/// balanced clusters; and the solver is exact. [`Mccc::published`] is the thesis's form.
#[doc(alias = "semi-supervised clustering")]
#[doc(alias = "input pattern assisted matrix completion")]
#[derive(Clone, Debug, PartialEq)]
pub struct Mccc {
    clusters: usize,
    basis: Basis,
    eigenvectors: Option<usize>,
    loss_weight: LossWeight,
    solver: CompletionSolver,
    semidefinite: bool,
    read_out: Eigenvectors,
    tolerance: f64,
    max_iterations: usize,
    restarts: usize,
    seed: Seed,
    budget: MemoryBudget,
}

impl Mccc {
    /// At most this many clusters.
    pub fn new(clusters: usize) -> Self {
        Mccc {
            clusters,
            basis: Basis::HeldOut,
            eigenvectors: None,
            loss_weight: LossWeight::HeldOut,
            solver: CompletionSolver::Accelerated,
            semidefinite: true,
            read_out: Eigenvectors::Scaled,
            tolerance: 1e-6,
            max_iterations: 500,
            restarts: 10,
            seed: Seed(0),
            budget: MemoryBudget::default(),
        }
    }

    consilience_core::setters! {
        /// Where the coordinates come from. Default [`Basis::HeldOut`].
        pub fn basis(mut self, basis: Basis) { self.basis = basis }

        /// k, the number of columns of the basis, at most. Default: held-out constraints choose
        /// among 25, 50 and (for singular vectors) 100; at least 1.
        pub fn eigenvectors(mut self, eigenvectors: usize) {
            self.eigenvectors = Some(eigenvectors)
        }

        /// How C is found. Default [`LossWeight::HeldOut`].
        #[doc(alias = "C")]
        pub fn loss_weight(mut self, loss_weight: LossWeight) { self.loss_weight = loss_weight }

        /// How the last problem is solved, and those of [`LossWeight::Balanced`]; the trials with
        /// held-out constraints are always accelerated. Default [`CompletionSolver::Accelerated`].
        pub fn solver(mut self, solver: CompletionSolver) { self.solver = solver }

        /// Whether M must be positive semidefinite. Default true.
        pub fn semidefinite(mut self, semidefinite: bool) { self.semidefinite = semidefinite }

        /// What the k-means sees of the completed similarity. Default [`Eigenvectors::Scaled`].
        pub fn read_out(mut self, read_out: Eigenvectors) { self.read_out = read_out }

        /// Relative duality gap at which the solver stops. Default 1e-6; above 0.
        pub fn tolerance(mut self, tolerance: f64) { self.tolerance = tolerance }

        /// Most iterations of the solver. Default 500; at least 1.
        pub fn max_iterations(mut self, max_iterations: usize) {
            self.max_iterations = max_iterations
        }

        /// Starts of the k-means. Default 10; 1 to 10,000.
        pub fn restarts(mut self, restarts: usize) { self.restarts = restarts }

        /// Seed of the parts, the representatives, the probing matrices and the k-means. Default
        /// `Seed(0)`.
        pub fn seed(mut self, seed: Seed) { self.seed = seed }

        /// How much memory may be taken. Default 8 GiB.
        pub fn memory_budget(mut self, budget: MemoryBudget) { self.budget = budget }
    }

    /// The form of the thesis: the first min(100, d) left singular vectors of the features as they
    /// are, a free M by Algorithm 1, C by the balance of the clusters, and k-means on the first r
    /// eigenvectors of length 1. Default: ours, as the setters say. Setters that follow change
    /// single parts.
    ///
    /// For comparison with the published method.
    ///
    /// ```
    /// use consilience::{Constraints, Pair, SideInformation};
    /// use consilience::completion::{Basis, Mccc};
    /// use consilience::core::ConstrainedClusterer;
    /// use consilience::ndarray::Array2;
    ///
    /// let x = Array2::from_shape_fn((120, 3), |(i, j)| {
    ///     f64::from(u8::from(i % 3 == j)) + ((i * (j + 3) * 13) % 11) as f64 * 0.03
    /// });
    /// let mut constraints = Constraints::new(120)?;
    /// for i in 0..100 {
    ///     constraints.extend(&[Pair::must_link(i, i + 3), Pair::cannot_link(i, i + 4)])?;
    /// }
    /// let side = SideInformation::from_constraints(&constraints);
    /// let found = Mccc::new(3).published().fit_completed(x.view(), &side, &())?.output;
    /// assert_eq!(found.similarity.basis(), Some(Basis::RawSingular));
    /// assert_eq!(found.clustering.partition.sizes(), [40, 40, 40]);
    /// # Ok::<(), consilience::Error>(())
    /// ```
    #[must_use]
    pub fn published(self) -> Self {
        self.basis(Basis::RawSingular)
            .eigenvectors(coordinates::most_columns(Basis::RawSingular))
            .loss_weight(LossWeight::Balanced)
            .solver(CompletionSolver::Stochastic)
            .semidefinite(false)
            .read_out(Eigenvectors::Leading)
    }

    /// Clusters the rows of a feature table and also gives the completed similarity; progress goes
    /// to the observer, which may also cancel.
    ///
    /// # Errors
    /// As [`Mccc`] says.
    pub fn fit_completed<'a>(
        &self,
        features: impl Into<Features<'a>>,
        side: &SideInformation,
        observer: &dyn Observer,
    ) -> Result<Fit<CompletedClustering>> {
        let features = features.into().dense()?;
        self.check(features.n_objects())?;
        check_objects(side, features.n_objects())?;
        let mut report = Report::default();
        let pairs = KnownPairs::new(side, self.budget, observer)?;
        let bases = self.bases(&pairs);
        let basis = report.stage("basis", || self.basis_of(&features, &bases, observer))?;
        self.fit_known(&basis, &pairs, report, observer)
    }

    /// Everything that does not depend on the constraints: the coordinates in every basis that is
    /// compared. [`fit_prepared`](Mccc::fit_prepared) then takes milliseconds to a second, again
    /// and again as constraints come.
    ///
    /// # Errors
    /// As [`Mccc`] says.
    pub fn prepare<'a>(
        &self,
        features: impl Into<Features<'a>>,
        observer: &dyn Observer,
    ) -> Result<CompletionBasis> {
        let features = features.into().dense()?;
        self.check(features.n_objects())?;
        let all = match self.basis {
            Basis::HeldOut => COMPARED.to_vec(),
            one => vec![one],
        };
        self.basis_of(&features, &all, observer)
    }

    /// As [`fit_completed`](Mccc::fit_completed) on the features that were prepared by the same
    /// method, to the same bits.
    ///
    /// # Errors
    /// As [`Mccc`] says; [`ErrorKind::InvalidParameter`] where the basis that is asked for was not
    /// prepared.
    pub fn fit_prepared(
        &self,
        basis: &CompletionBasis,
        side: &SideInformation,
        observer: &dyn Observer,
    ) -> Result<Fit<CompletedClustering>> {
        self.check(basis.n_objects())?;
        check_objects(side, basis.n_objects())?;
        let pairs = KnownPairs::new(side, self.budget, observer)?;
        self.fit_known(basis, &pairs, Report::default(), observer)
    }

    fn fit_known(
        &self,
        basis: &CompletionBasis,
        pairs: &KnownPairs,
        mut report: Report,
        observer: &dyn Observer,
    ) -> Result<Fit<CompletedClustering>> {
        observer.check()?;
        let used = basis.of(&self.bases(pairs))?;
        let coordinates: Vec<&Coordinates> = used.iter().map(|made| &made.coordinates).collect();
        let completed = self.complete(&coordinates, pairs, &mut report, observer)?;
        let root = completed.read.clone();
        let extension = Arc::clone(&used[completed.chosen].extension);
        let (similarity, found) = self.clusters_of(completed, &mut report, observer)?;
        let clustering = CompletedClustering::new(similarity, found, Embedder { extension, root })?;
        self.expect_clusters(&mut report, clustering.clustering.partition.n_clusters());
        Ok(Fit::new(clustering, report))
    }

    /// Clusters objects by coordinates of the caller's own (N x k, columns as orthonormal as may
    /// be): eigenvectors of a graph, singular vectors of sparse rows
    /// ([`truncated_svd`](consilience_num::svd::truncated_svd)), a spectral embedding of an
    /// ensemble. A building block: all columns are used, and new objects cannot be labelled, since
    /// their coordinates are unknown here.
    ///
    /// ```
    /// use consilience::{Constraints, Pair, SideInformation};
    /// use consilience::completion::Mccc;
    /// use consilience::ndarray::Array2;
    ///
    /// // Two columns that are the memberships themselves.
    /// let entry = |(i, j)| if i % 2 == j { 20f64.powf(-0.5) } else { 0.0 };
    /// let z = Array2::from_shape_fn((40, 2), entry);
    /// let mut constraints = Constraints::new(40)?;
    /// for i in 0..12 {
    ///     constraints.extend(&[Pair::must_link(i, i + 2), Pair::cannot_link(i, i + 3)])?;
    /// }
    /// let side = SideInformation::from_constraints(&constraints);
    /// let found = Mccc::new(2).fit_coordinates(z.view(), &side, &())?.output;
    /// assert!(found.partition.iter().enumerate().all(|(i, c)| c == Some(i % 2)));
    /// assert!(found.similarity.basis().is_none());
    /// # Ok::<(), consilience::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Mccc`] says.
    pub fn fit_coordinates(
        &self,
        coordinates: ArrayView2<'_, f64>,
        side: &SideInformation,
        observer: &dyn Observer,
    ) -> Result<Fit<CompletedPartition>> {
        let (own, pairs) = self.given(coordinates, side, observer)?;
        let mut report = Report::default();
        let completed = self.complete(&[&own], &pairs, &mut report, observer)?;
        let (similarity, found) = self.clusters_of(completed, &mut report, observer)?;
        let labels = found.assignment;
        let partition = Partition::from_fn(labels.len(), |i| Some(u64::from(labels[i])))?;
        self.expect_clusters(&mut report, partition.n_clusters());
        Ok(Fit::new(CompletedPartition { partition, similarity }, report))
    }

    /// The bases to compare.
    fn bases(&self, pairs: &KnownPairs) -> Vec<Basis> {
        match self.basis {
            Basis::HeldOut if pairs.kinds().are_few() => vec![Basis::Neighbours],
            Basis::HeldOut => COMPARED.to_vec(),
            one => vec![one],
        }
    }

    fn basis_of(
        &self,
        features: &Dense<'_>,
        bases: &[Basis],
        observer: &dyn Observer,
    ) -> Result<CompletionBasis> {
        let (n, d) = (features.n_objects(), features.n_features());
        features.check()?;
        observer.check()?;
        let most = |basis: Basis| self.eigenvectors.unwrap_or(most_columns(basis)).min(n);
        let (mut kept, mut beside) = (0usize, 0);
        for &basis in bases {
            let (own, found) = numbers(basis, (n, d), most(basis));
            kept = kept.saturating_add(own);
            beside = found.max(beside);
        }
        // The features in the unit of a basis, and what k-means sees.
        let columns = kept.saturating_add(beside).saturating_add(d).saturating_add(self.clusters);
        self.budget.check_table("coordinates, while they are found,", n, columns, 8)?;
        let mut made = Vec::with_capacity(bases.len());
        for (done, &basis) in bases.iter().enumerate() {
            observer.progress("basis", done, bases.len());
            observer.check()?;
            let (coordinates, extension) =
                Coordinates::new(basis, features, most(basis), self.seed, observer)?;
            made.push(Prepared { basis, coordinates, extension: Arc::new(extension) });
        }
        Ok(CompletionBasis { made })
    }

    /// k-means on the eigenvectors.
    fn clusters_of(
        &self,
        completed: fitting::Completed,
        report: &mut Report,
        observer: &dyn Observer,
    ) -> Result<(CompletedSimilarity, KMeansFit<f64>)> {
        let rows = product(completed.z.view(), completed.read.view());
        let found =
            cluster_rows(rows.view(), self.clusters, self.restarts, self.seed, report, observer)?;
        let embedding = match self.read_out {
            Eigenvectors::Scaled => rows,
            Eigenvectors::Leading => product(completed.z.view(), completed.root.view()),
        };
        let mut similarity = CompletedSimilarity::new(embedding);
        similarity.basis = completed.basis;
        similarity.eigenvectors = Some(completed.z.ncols());
        similarity.loss_weight = completed.loss_weight;
        Ok((similarity, found))
    }

    fn expect_clusters(&self, report: &mut Report, found: usize) {
        report.expect_clusters(
            self.clusters,
            found,
            "the similarity distinguishes no more objects",
        );
    }

    fn check(&self, n: usize) -> Result<()> {
        ensure!(
            (1..=n).contains(&self.clusters),
            invalid("{} clusters of {n} objects; expected 1..={n}", self.clusters)
        );
        if n >= u32::MAX as usize {
            return Err(Error::new(ErrorKind::TooLarge, format!("{n} objects")));
        }
        let counts = [
            ("eigenvectors", self.eigenvectors.unwrap_or(1)),
            ("max_iterations", self.max_iterations),
        ];
        check_restarts(self.restarts)?;
        for (name, value) in counts {
            ensure!(value > 0, invalid("{name} is 0; expected at least 1"));
        }
        let mut sizes = vec![("tolerance", self.tolerance)];
        if let LossWeight::Fixed(c) = self.loss_weight {
            sizes.push(("loss weight", c));
        }
        for (name, value) in sizes {
            ensure!(
                value > 0.0 && value.is_finite(),
                invalid("{name} is {value}; expected a positive number")
            );
        }
        Ok(())
    }
}

impl ConstrainedClusterer for Mccc {
    fn name(&self) -> &'static str {
        "mccc"
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

/// From features to the rows that k-means saw.
#[derive(Debug)]
struct Embedder {
    extension: Arc<Extension>,
    /// k x columns.
    root: Array2<f64>,
}

impl FeatureMap for Embedder {
    fn n_features(&self) -> usize {
        self.extension.n_features()
    }

    fn n_outputs(&self) -> usize {
        self.root.ncols()
    }

    fn apply(&self, features: Features<'_>) -> Result<Array2<f64>> {
        let features = features.dense()?;
        let z = self.extension.extend(&features)?;
        Ok(product(z.slice(s![.., ..self.root.nrows()]), self.root.view()))
    }

    #[cfg(feature = "serde")]
    fn stored(&self) -> Option<Parts> {
        Some(self.parts())
    }
}
