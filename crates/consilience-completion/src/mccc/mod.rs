//! Side-information clustering by matrix completion in the features' own basis.

mod basis;
mod choose;
mod clustering;
pub(crate) mod frame;
mod neighbours;
pub(crate) mod pairs;
#[cfg(test)]
mod reference;
mod representatives;
mod solve;
mod stochastic;
#[cfg(test)]
mod tests;

use consilience_core::{
    Constraints, Error, ErrorKind, Features, Fit, MemoryBudget, Observer, Partition, Report,
    Result, Seed, Status,
};
use consilience_num::kmeans::KMeansOptions;
use ndarray::{Array2, ArrayView2, s};

pub use basis::Basis;
pub use clustering::CompletedClustering;

use basis::{Coordinates, Extension};
use choose::{Candidate, PATH, held_out};
pub(crate) use clustering::Map;
use pairs::{Pairs, Sampling, product};
use solve::{Rules, Solved, Spectrum, least_weight, positive_root, solve};

/// Numbers of columns that are tried, where the caller names none.
const COLUMNS: [usize; 3] = [25, 50, 100];
/// The weight where nothing can be held out.
const PLAIN_MULTIPLE: f64 = 10.0;

/// How [`Mccc`] finds C, the weight of the constraints against the rank (Eq. 5.8).
///
/// ```
/// use consilience_completion::{LossWeight, Mccc};
///
/// assert_eq!(LossWeight::default(), LossWeight::HeldOut);
/// assert_eq!(Mccc::new(3), Mccc::new(3).loss_weight(LossWeight::HeldOut));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum LossWeight {
    /// The weight whose clusters keep most of the constraints that were held out, in three parts;
    /// must-links and cannot-links count alike.
    #[default]
    HeldOut,
    /// The thesis's rule: the weight with the most balanced clusters, among those whose solution
    /// has at least as many eigenvectors as there are clusters (the trivial M = 0 is balanced,
    /// too).
    Balanced,
    /// This C, for orthonormal columns of the basis as in the thesis.
    Fixed(f64),
}

/// How [`Mccc`] minimises Eq. 5.8.
///
/// ```
/// use consilience_completion::{CompletionSolver, Mccc};
///
/// assert_ne!(Mccc::new(3), Mccc::new(3).solver(CompletionSolver::Stochastic));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum CompletionSolver {
    /// Accelerated proximal gradient with restarts: exact, down to the tolerance.
    #[default]
    Accelerated,
    /// The thesis's Algorithm 1, stochastic subgradient steps on a matrix of rank r: slow to a low
    /// accuracy, here for comparison. It seldom reaches the tolerance, and the status says so.
    Stochastic,
}

/// MCCC: clusters from features and a few must-links and cannot-links, by completing the similarity
/// of all pairs in a basis made from the features.
///
/// For thousands of constraints on objects whose features say something about the clusters; also
/// the way to settle which clustering of the data was meant. With a handful of constraints a
/// constrained k-means uses them better. Where constraints contradict the features altogether no
/// basis holds the clusters, and held-out constraints (in the notes of the report) tell.
///
/// ```text
/// Z = k orthonormal columns from the features (N x k)
/// minimise  |M|_* + C/2 sum_(i,j known) (z_i' M z_j - s_ij)^2,   s = 1 on must-links, 0 on cannot-links
/// similarity Z M Z' = E E',  E = Z V Lambda^(1/2) over the positive eigenvalues of M,  clusters = k-means of E
/// ```
///
/// ```
/// use consilience_completion::Mccc;
/// use consilience_core::{Constraints, Link};
/// use ndarray::Array2;
///
/// // 200 objects: column 0 is wide and means nothing, columns 1 and 2 hold three groups.
/// let x = Array2::from_shape_fn((200, 3), |(i, j)| match j {
///     0 => ((i * 37) % 101) as f64,
///     j => f64::from(u8::from(i % 3 == j)) + ((i * j * 13) % 11) as f64 * 0.03,
/// });
/// let mut constraints = Constraints::new(200)?;
/// for i in 0..120 {
///     constraints.add(i, i + 3, Link::Must)?;
///     constraints.add(i, i + 4, Link::Cannot)?;
/// }
/// let found = Mccc::new(3).fit(x.view().into(), &constraints, &())?;
/// assert!(found.output.partition.iter().enumerate().all(|(i, c)| c == Some(i % 3)));
/// // The completed similarity, also of objects in no constraint.
/// assert!(found.output.similarity(180, 183)? > found.output.similarity(180, 184)? + 0.2);
/// # Ok::<(), consilience_core::Error>(())
/// ```
///
/// Basis, k and C are chosen by held-out constraints unless they are named; that needs 6 links of
/// either kind, and with fewer it takes neighbours, 25 columns and 10 times the least weight that
/// gives an M other than 0. Without must-links, or without cannot-links, M says nothing: the
/// clusters are then those of k-means on the leading columns of the basis, that is plain spectral
/// clustering, and a note says so. Objects in no constraint cost nothing in the optimisation: only
/// the rows of constrained objects are looked at, and nothing is N x N.
///
/// # Complexity
/// O(m k^2 + p k + k^3) per iteration for p constraints over m objects. The basis: O(N d min(N, d))
/// for singular vectors; O(N^2 d) time and O(N (k + 10)) memory for neighbours up to 20,000
/// objects, beyond O(N d) with a constant of some thousand.
///
/// # Errors
/// [`ErrorKind::Empty`] and [`ErrorKind::NonFinite`] for bad features;
/// [`ErrorKind::InvalidParameter`] for clusters outside `1..=N` and for parameters out of their
/// range; [`ErrorKind::ShapeMismatch`] where the constraints are over another number of objects;
/// [`ErrorKind::TooLarge`] where the tables exceed 8 GiB; [`ErrorKind::Cancelled`]. Constraints
/// that contradict each other cannot be stated: [`Constraints::add`] refuses them.
///
/// # References
/// J. Yi, "Crowdclustering", PhD thesis, Michigan State University, 2014, Chapter 5, Eq. 5.8 and
/// Algorithm 1; J. Yi, L. Zhang, R. Jin, Q. Qian, A. K. Jain, "Semi-supervised clustering by input
/// pattern assisted pairwise similarity matrix completion", ICML 2013. Ours: M is positive
/// semidefinite, as the similarity of a clustering is (`semidefinite(false)` is the thesis's free
/// M); k-means sees all positive eigenvectors scaled by the roots of their eigenvalues, where the
/// thesis takes the first r unscaled; the basis may come from the graph of neighbours; and C is
/// chosen by held-out constraints, where the thesis looks for balanced clusters.
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
    tolerance: f64,
    max_iterations: usize,
    restarts: usize,
    seed: Seed,
}

impl Mccc {
    /// At most this many clusters; basis, columns and C by held-out constraints, tolerance 1e-6, at
    /// most 500 iterations, 10 starts of the k-means, seed 0.
    pub fn new(clusters: usize) -> Self {
        Mccc {
            clusters,
            basis: Basis::HeldOut,
            eigenvectors: None,
            loss_weight: LossWeight::HeldOut,
            solver: CompletionSolver::Accelerated,
            semidefinite: true,
            tolerance: 1e-6,
            max_iterations: 500,
            restarts: 10,
            seed: Seed(0),
        }
    }

    /// Where the coordinates come from.
    pub fn basis(mut self, basis: Basis) -> Self {
        self.basis = basis;
        self
    }

    /// k, the number of columns of the basis, at most. Left out, held-out constraints choose among
    /// 25, 50 and (for singular vectors) 100.
    pub fn eigenvectors(mut self, eigenvectors: usize) -> Self {
        self.eigenvectors = Some(eigenvectors);
        self
    }

    /// How C is found.
    pub fn loss_weight(mut self, loss_weight: LossWeight) -> Self {
        self.loss_weight = loss_weight;
        self
    }

    /// How the last problem is solved; the trials with held-out constraints are always accelerated.
    pub fn solver(mut self, solver: CompletionSolver) -> Self {
        self.solver = solver;
        self
    }

    /// Whether M must be positive semidefinite.
    pub fn semidefinite(mut self, semidefinite: bool) -> Self {
        self.semidefinite = semidefinite;
        self
    }

    /// Relative duality gap at which the solver stops.
    pub fn tolerance(mut self, tolerance: f64) -> Self {
        self.tolerance = tolerance;
        self
    }

    /// Most iterations of the solver.
    pub fn max_iterations(mut self, max_iterations: usize) -> Self {
        self.max_iterations = max_iterations;
        self
    }

    /// Starts of the k-means.
    pub fn restarts(mut self, restarts: usize) -> Self {
        self.restarts = restarts;
        self
    }

    /// Seed of the parts, the representatives, the probing matrices and the k-means.
    pub fn seed(mut self, seed: Seed) -> Self {
        self.seed = seed;
        self
    }

    /// Clusters the rows of a feature table.
    ///
    /// # Errors
    /// As [`Mccc`] says.
    pub fn fit(
        &self,
        features: Features<'_>,
        constraints: &Constraints,
        observer: &dyn Observer,
    ) -> Result<Fit<CompletedClustering>> {
        let n = features.n_objects();
        self.check(n)?;
        features.check()?;
        check_constraints(constraints, n)?;
        observer.check()?;
        let budget = MemoryBudget::default();
        budget.check_table("features", n, features.n_features(), 24)?;
        let pairs = Pairs::new(constraints);
        let bases: Vec<Basis> = match self.basis {
            // The most general last: of equals the first wins.
            Basis::HeldOut if self.can_hold_out(&pairs) => {
                vec![Basis::Singular, Basis::Neighbours, Basis::StandardisedNeighbours]
            }
            Basis::HeldOut => vec![Basis::Neighbours],
            one => vec![one],
        };
        let most = |basis: Basis| self.eigenvectors.unwrap_or(basis.most()).min(n);
        for &basis in &bases {
            budget.check_table("coordinates", n, most(basis), 64)?;
        }
        let mut report = Report::default();
        let coordinates = report.stage("basis", || {
            let mut made = Vec::with_capacity(bases.len());
            for (done, &basis) in bases.iter().enumerate() {
                observer.progress("basis", done, bases.len());
                observer.check()?;
                made.push(Coordinates::new(basis, &features, most(basis), self.seed, observer)?);
            }
            Ok::<_, Error>(made)
        })?;
        self.complete(coordinates, &pairs, report, observer, true)
    }

    /// Clusters objects by coordinates of the caller's own (N x k, columns as orthonormal as may
    /// be): eigenvectors of a graph, singular vectors of sparse rows
    /// ([`truncated_svd`](consilience_num::svd::truncated_svd)), a spectral embedding of an
    /// ensemble. The lower road.
    ///
    /// All columns are used. The result cannot label new objects, since their coordinates are
    /// unknown here.
    ///
    /// # Errors
    /// As [`Mccc`] says.
    pub fn fit_coordinates(
        &self,
        coordinates: ArrayView2<'_, f64>,
        constraints: &Constraints,
        observer: &dyn Observer,
    ) -> Result<Fit<CompletedClustering>> {
        let n = coordinates.nrows();
        self.check(n)?;
        Features::from(coordinates).check()?;
        check_constraints(constraints, n)?;
        observer.check()?;
        let z = coordinates.as_standard_layout().into_owned();
        // The way from features is never asked for.
        let extension = Extension::None;
        let own = Coordinates { basis: Basis::HeldOut, z, extension, converged: true };
        self.complete(vec![own], &Pairs::new(constraints), Report::default(), observer, false)
    }

    /// From coordinates to clusters.
    fn complete(
        &self,
        mut coordinates: Vec<Coordinates>,
        pairs: &Pairs,
        mut report: Report,
        observer: &dyn Observer,
        named: bool,
    ) -> Result<Fit<CompletedClustering>> {
        let (candidate, weights) =
            report.stage("choice", || self.choose(&coordinates, pairs, named, observer))?;
        let Coordinates { basis, z, extension, converged } =
            coordinates.swap_remove(candidate.coordinates);
        if !converged {
            report
                .notes
                .push(format!("eigenvectors of the basis {} did not converge", basis.name()));
        }
        let z = z.slice_move(s![.., ..candidate.k]).as_standard_layout().into_owned();
        let (must, cannot) = pairs.kinds();
        let scale = (z.nrows() as f64).sqrt();
        // Sized as if the columns had mean square 1, so that numbers are of the size of 1.
        let sampling = Sampling::new(z.view(), scale, pairs);
        let least = least_weight(&sampling, self.semidefinite);
        let mut solved = None;
        if must > 0 && cannot > 0 && least.is_finite() {
            solved = Some(report.stage("completion", || match &weights {
                Weights::Multiple(m, note) => {
                    let solved = self.minimise(&sampling, m * least, observer)?;
                    Ok::<_, Error>((solved, m * least, note.clone()))
                }
                Weights::Fixed(c) => {
                    let c = c / (scale * scale);
                    Ok((self.minimise(&sampling, c, observer)?, c, None))
                }
                Weights::Balanced => self.balanced(&sampling, z.view(), least, observer),
            })?);
        }
        let mut root = Array2::zeros((z.ncols(), 0));
        let mut c = f64::NAN;
        if let Some((solved, weight, note)) = solved {
            root = positive_root(&solved.m);
            c = weight * scale * scale;
            report.status = solved.status;
            report.iterations = solved.iterations;
            report.objective = Some(solved.objective * scale * scale);
            report.error_bound = Some(solved.gap);
            report.notes.extend(note);
        }
        if root.ncols() == 0 {
            // Plain spectral clustering: all leading columns alike.
            let rank = self.clusters.min(z.ncols());
            root = Array2::from_shape_fn((z.ncols(), rank), |(i, j)| f64::from(u8::from(i == j)));
            report.notes.push(if must == 0 || cannot == 0 {
                format!(
                    "{must} must-links and {cannot} cannot-links: both kinds are needed, so the clusters are \
                     those of plain spectral clustering"
                )
            } else {
                "M = 0: the weight is too low or no constrained object has coordinates, so the clusters are those \
                 of plain spectral clustering"
                    .to_owned()
            });
        }
        root *= scale;
        let rows = product(z.view(), root.view());
        let map = if named { Map::Coordinates(Box::new(extension), root) } else { Map::None };
        let options = KMeansOptions::new(self.clusters)
            .restarts(self.restarts)
            .seed(self.seed.derive("k-means", 0))
            .tolerance(1e-6)
            .parallel(rayon::current_num_threads() > 1);
        let (mut found, told) =
            report.stage("k-means", || CompletedClustering::new(rows, &options, map, observer))?;
        if !told.converged {
            report.status = Status::MaxIterations;
        }
        observer.check()?;
        found.basis = named.then_some(basis);
        found.eigenvectors = z.ncols();
        found.loss_weight = c;
        report.expect_clusters(
            self.clusters,
            found.partition.n_clusters(),
            "the features distinguish no more objects",
        );
        Ok(Fit::new(found, report))
    }

    fn can_hold_out(&self, pairs: &Pairs) -> bool {
        let (must, cannot) = pairs.kinds();
        must.min(cannot) >= choose::LEAST_KIND
    }

    /// Which coordinates, how many columns, and how C is found.
    fn choose(
        &self,
        coordinates: &[Coordinates],
        pairs: &Pairs,
        named: bool,
        observer: &dyn Observer,
    ) -> Result<(Candidate, Weights)> {
        let mut candidates = Vec::new();
        for (at, own) in coordinates.iter().enumerate() {
            let most = own.z.ncols();
            if named && self.eigenvectors.is_none() {
                candidates.extend(
                    COLUMNS
                        .iter()
                        .filter(|&&k| k < most)
                        .map(|&k| Candidate { coordinates: at, k }),
                );
            }
            candidates.push(Candidate { coordinates: at, k: most });
        }
        let first = candidates[0];
        let fixed = match self.loss_weight {
            LossWeight::Fixed(c) => Some(Weights::Fixed(c)),
            LossWeight::Balanced => Some(Weights::Balanced),
            LossWeight::HeldOut => None,
        };
        if candidates.len() == 1
            && let Some(fixed) = fixed
        {
            return Ok((first, fixed));
        }
        let choice = held_out(
            coordinates,
            &candidates,
            pairs,
            self.clusters,
            self.semidefinite,
            self.seed,
            observer,
        )?;
        let Some(choice) = choice else {
            return Ok((first, fixed.unwrap_or(Weights::Multiple(PLAIN_MULTIPLE, None))));
        };
        let note = format!(
            "held-out constraints chose basis {}, {} columns and {} times the least weight: {:.1} % of them were \
             kept (must-links and cannot-links counting alike)",
            if named {
                coordinates[choice.candidate.coordinates].basis.name()
            } else {
                "of the caller"
            },
            choice.candidate.k,
            choice.multiple,
            100.0 * choice.kept
        );
        Ok((choice.candidate, fixed.unwrap_or(Weights::Multiple(choice.multiple, Some(note)))))
    }

    fn minimise(&self, sampling: &Sampling, c: f64, observer: &dyn Observer) -> Result<Solved> {
        let rules = Rules {
            c,
            semidefinite: self.semidefinite,
            tolerance: self.tolerance,
            max_iterations: self.max_iterations,
        };
        match self.solver {
            CompletionSolver::Accelerated => {
                solve(sampling, &rules, Spectrum::zero(sampling.order()), observer)
            }
            CompletionSolver::Stochastic => {
                stochastic::descend(sampling, &rules, self.clusters, self.seed, observer)
            }
        }
    }

    /// The thesis's rule over the path, each weight from where the one before ended.
    fn balanced(
        &self,
        sampling: &Sampling,
        z: ArrayView2<'_, f64>,
        least: f64,
        observer: &dyn Observer,
    ) -> Result<(Solved, f64, Option<String>)> {
        let mut best: Option<(f64, Solved, f64)> = None;
        let mut at = Spectrum::zero(sampling.order());
        for multiple in PATH {
            let rules = Rules {
                c: multiple * least,
                semidefinite: self.semidefinite,
                tolerance: self.tolerance,
                max_iterations: self.max_iterations,
            };
            let solved = solve(sampling, &rules, at, observer)?;
            at = solved.m.clone();
            let root = positive_root(&solved.m);
            let trivial = root.ncols() < self.clusters;
            // The sum of squared sizes is 1' S 1 for the similarity S of the clusters.
            let unbalance = if trivial {
                f64::INFINITY
            } else {
                let options = KMeansOptions::new(self.clusters)
                    .restarts(self.restarts.min(3))
                    .seed(self.seed.derive("k-means", 2))
                    .parallel(rayon::current_num_threads() > 1);
                let rows = product(z, root.view()) * (z.nrows() as f64).sqrt();
                let found = consilience_num::kmeans::fit(rows.view(), None, &options, &())?;
                let labels = found.assignment;
                let clusters = Partition::from_fn(labels.len(), |i| Some(u64::from(labels[i])))?;
                clusters.sizes().iter().map(|&s| (s as f64) * (s as f64)).sum()
            };
            if best.as_ref().is_none_or(|b| unbalance < b.0 || (trivial && b.0.is_infinite())) {
                best = Some((unbalance, solved, multiple));
            }
        }
        let Some((_, solved, multiple)) = best else {
            return Err(Error::invalid("no weight was tried"));
        };
        let note =
            format!("the most balanced clusters are those at {multiple} times the least weight");
        Ok((solved, multiple * least, Some(note)))
    }

    fn check(&self, n: usize) -> Result<()> {
        if self.clusters == 0 || self.clusters > n {
            return Err(Error::invalid(format!(
                "{} clusters of {n} objects; expected 1..={n}",
                self.clusters
            )));
        }
        if n >= u32::MAX as usize {
            return Err(Error::new(ErrorKind::TooLarge, format!("{n} objects")));
        }
        let counts = [
            ("eigenvectors", self.eigenvectors.unwrap_or(1)),
            ("max_iterations", self.max_iterations),
            ("restarts", self.restarts),
        ];
        for (name, value) in counts {
            if value == 0 {
                return Err(Error::invalid(format!("{name} is 0; expected at least 1")));
            }
        }
        let mut sizes = vec![("tolerance", self.tolerance)];
        if let LossWeight::Fixed(c) = self.loss_weight {
            sizes.push(("loss weight", c));
        }
        for (name, value) in sizes {
            if !(value > 0.0 && value.is_finite()) {
                return Err(Error::invalid(format!(
                    "{name} is {value}; expected a positive number"
                )));
            }
        }
        Ok(())
    }
}

/// How C is found for the last problem.
enum Weights {
    /// So many times the least, and what to say about it.
    Multiple(f64, Option<String>),
    Fixed(f64),
    Balanced,
}

/// Refuses constraints about another number of objects than there are rows.
pub(crate) fn check_constraints(constraints: &Constraints, n: usize) -> Result<()> {
    if constraints.n_objects() != n {
        return Err(Error::shape(format!(
            "constraints over {} objects, {n} rows",
            constraints.n_objects()
        )));
    }
    Ok(())
}
