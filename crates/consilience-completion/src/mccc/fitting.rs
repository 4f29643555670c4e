//! From coordinates to the completed similarity.

use consilience_core::{Error, Observer, OnlyCancels, Partition, Report, Result};
use consilience_num::kmeans::{KMeansOptions, fit};
use ndarray::{Array2, ArrayView2, s};

use super::choose::{Candidate, Judge, OF_PAIR, PATH, held_out, kept_by_plain};
use super::coordinates::Coordinates;
use super::sampling::Sampling;
use super::solve::{Rules, Solved, Spectrum, least_weight, positive_root, solve};
use super::{CompletionSolver, Eigenvectors, LossWeight, Mccc, stochastic};
use crate::basis::Basis;
use crate::known_pairs::{Kinds, KnownPairs};
use crate::product::product;

/// Numbers of columns that are tried, where the caller names none.
const COLUMNS: [usize; 3] = [25, 50, 100];
/// Bytes of a known pair, and of its part.
const KNOWN: usize = 25;
/// The weight where nothing can be held out.
const PLAIN_MULTIPLE: f64 = 10.0;

/// The completed similarity `(Z R)(Z R)'`.
pub(super) struct Completed {
    /// Number of the coordinates that were chosen, and the basis that they are of.
    pub(super) chosen: usize,
    pub(super) basis: Option<Basis>,
    /// Z, N x k.
    pub(super) z: Array2<f64>,
    /// R, k x rank.
    pub(super) root: Array2<f64>,
    /// What takes Z to the rows that k-means sees, k x columns.
    pub(super) read: Array2<f64>,
    /// C; `None` where M = 0 without a problem to solve.
    pub(super) loss_weight: Option<f64>,
}

/// The solution for a weight, and what to say about the weight.
struct Minimum {
    solved: Solved,
    weight: f64,
    note: Option<String>,
}

/// How C is found for the last problem.
enum Weights {
    /// So many times the least, and what to say about it.
    Multiple(f64, Option<String>),
    Fixed(f64),
    Balanced,
}

/// How C is found, or why nothing is learned from the constraints.
type Sought = std::result::Result<Weights, String>;

impl Mccc {
    /// Chooses among the coordinates and completes the similarity in them.
    pub(super) fn complete(
        &self,
        coordinates: &[&Coordinates],
        pairs: &KnownPairs,
        report: &mut Report,
        observer: &dyn Observer,
    ) -> Result<Completed> {
        self.budget.check_table("known pairs", pairs.links().len(), 1, KNOWN + OF_PAIR)?;
        let (candidate, weights) =
            report.stage("choice", || self.choose(coordinates, pairs, observer))?;
        let chosen = coordinates[candidate.coordinates];
        if !chosen.converged {
            let name = chosen.basis.map_or("of the caller", Basis::name);
            report.notes.push(format!("eigenvectors of the basis {name} did not converge"));
        }
        let z = chosen.z.slice(s![.., ..candidate.k]).as_standard_layout().into_owned();
        let scale = (z.nrows() as f64).sqrt();
        // Sized as if the columns had mean square 1, so that numbers are of the size of 1.
        let sampling = Sampling::new(z.view(), scale, pairs);
        let least = least_weight(&sampling, self.semidefinite);
        let kinds = pairs.kinds();
        let (mut root, mut loss_weight) = (Array2::zeros((z.ncols(), 0)), None);
        let (mut why, weights) = match weights {
            Ok(weights) => (self.why_none(kinds, chosen.basis), Some(weights)),
            Err(why) => (Some(why), None),
        };
        if let Some(weights) = weights.filter(|_| why.is_none() && least.is_finite()) {
            let found = report.stage("completion", || {
                self.minimum(weights, &sampling, z.view(), least, observer)
            })?;
            root = positive_root(&found.solved.m);
            why = (!found.solved.m.values.is_empty()).then(|| ONLY_NEGATIVE.to_owned());
            loss_weight = Some(found.weight * scale * scale);
            report.status = found.solved.status;
            report.iterations = found.solved.iterations;
            let known = |value: f64| Some(value).filter(|v| v.is_finite());
            report.objective = known(found.solved.objective * scale * scale);
            report.error_bound = known(found.solved.gap);
            report.notes.extend(found.note);
        }
        if root.ncols() == 0 {
            // Plain spectral clustering: all leading columns alike.
            let rank = self.clusters.min(z.ncols());
            root = Array2::from_shape_fn((z.ncols(), rank), |(i, j)| f64::from(u8::from(i == j)));
            let why = why.as_deref().unwrap_or(ZERO);
            let name = chosen.basis.map_or("of the caller", Basis::name);
            report.notes.push(format!(
                "{why}, so the clusters are those of plain spectral clustering in the basis {name}"
            ));
        } else if self.basis == Basis::HeldOut && kinds.are_few() {
            report.notes.extend(chosen.basis.map(|basis| {
                let (name, columns) = (basis.name(), candidate.k);
                format!("{kinds}: too few to choose a basis; {name}, {columns} columns")
            }));
        }
        let read = self.read(&root) * scale;
        root *= scale;
        let (chosen, basis) = (candidate.coordinates, chosen.basis);
        Ok(Completed { chosen, basis, z, root, read, loss_weight })
    }

    /// Why no M is sought, where none is. Where neither basis nor columns nor weight are named, a
    /// handful of links cannot tell which M serves: one in 25 columns fits them and little else,
    /// and in fewer columns or another basis it still loses to spectral clustering.
    fn why_none(&self, kinds: Kinds, basis: Option<Basis>) -> Option<String> {
        kinds.why_unused(self.is_named(basis), "a basis, columns or a weight are")
    }

    /// Whether the caller says in which coordinates, columns or by which weight M is sought.
    fn is_named(&self, basis: Option<Basis>) -> bool {
        let Mccc { basis: asked, eigenvectors, loss_weight, .. } = self;
        basis.is_none()
            || (*asked, *eigenvectors, *loss_weight) != (Basis::HeldOut, None, LossWeight::HeldOut)
    }

    /// What k-means sees of the eigenvectors, which are scaled and in descending order.
    fn read(&self, root: &Array2<f64>) -> Array2<f64> {
        match self.read_out {
            Eigenvectors::Scaled => root.clone(),
            Eigenvectors::Leading => {
                let mut first = root.slice(s![.., ..self.clusters.min(root.ncols())]).to_owned();
                for mut column in first.columns_mut() {
                    column /= column.dot(&column).sqrt().max(f64::MIN_POSITIVE);
                }
                first
            }
        }
    }

    fn minimum(
        &self,
        weights: Weights,
        sampling: &Sampling,
        z: ArrayView2<'_, f64>,
        least: f64,
        observer: &dyn Observer,
    ) -> Result<Minimum> {
        let (weight, note) = match weights {
            Weights::Multiple(multiple, note) => (multiple * least, note),
            // For orthonormal columns, of which these are a multiple.
            Weights::Fixed(c) => {
                (c / ((z.nrows() as f64).sqrt() * (z.nrows() as f64).sqrt()), None)
            }
            Weights::Balanced => return self.balanced(sampling, z, least, observer),
        };
        let zero = Spectrum::zero(sampling.order());
        let solved = self.minimise(sampling, weight, z.nrows(), zero, observer)?;
        Ok(Minimum { solved, weight, note })
    }

    /// Which coordinates, how many columns, and how C is found.
    fn choose(
        &self,
        coordinates: &[&Coordinates],
        pairs: &KnownPairs,
        observer: &dyn Observer,
    ) -> Result<(Candidate, Sought)> {
        let candidates = self.candidates(coordinates);
        let first = candidates[0];
        let fixed = match self.loss_weight {
            LossWeight::Fixed(c) => Some(Weights::Fixed(c)),
            LossWeight::Balanced => Some(Weights::Balanced),
            LossWeight::HeldOut => None,
        };
        if candidates.len() == 1
            && let Some(fixed) = fixed
        {
            return Ok((first, Ok(fixed)));
        }
        let Mccc { clusters, semidefinite, seed, budget, .. } = *self;
        let judge = Judge { clusters, semidefinite, seed, budget };
        let choice = held_out(coordinates, &candidates, pairs, judge, observer)?;
        let Some(choice) = choice else {
            return Ok((first, Ok(fixed.unwrap_or(Weights::Multiple(PLAIN_MULTIPLE, None)))));
        };
        let named = self.is_named(coordinates[first.coordinates].basis);
        if let Some(plain) = candidates.iter().find(|c| !named && is_plain(coordinates, c)) {
            let own = coordinates[plain.coordinates];
            let kept = kept_by_plain(own, pairs, judge, observer)?;
            if kept > choice.kept {
                let [kept, learned] = [kept, choice.kept].map(|kept| 100.0 * kept);
                let why = format!(
                    "{kept:.1} % of the constraints are kept without any of them, and of those \
                     held out from the best completion {learned:.1} %"
                );
                return Ok((*plain, Err(why)));
            }
        }
        let basis = coordinates[choice.candidate.coordinates].basis;
        let note = format!(
            "held-out constraints chose basis {}, {} columns and {} times the least weight: \
             {:.1} % of them were kept (must-links and cannot-links counting alike)",
            basis.map_or("of the caller", Basis::name),
            choice.candidate.k,
            choice.multiple,
            100.0 * choice.kept
        );
        Ok((choice.candidate, Ok(fixed.unwrap_or(Weights::Multiple(choice.multiple, Some(note))))))
    }

    /// What is tried.
    fn candidates(&self, coordinates: &[&Coordinates]) -> Vec<Candidate> {
        let mut candidates = Vec::new();
        for (at, own) in coordinates.iter().enumerate() {
            // What was prepared may have more columns than are asked for now.
            let most = match (own.basis, self.eigenvectors) {
                (Some(_), Some(asked)) => own.z.ncols().min(asked),
                _ => own.z.ncols(),
            };
            if own.basis.is_some() && self.eigenvectors.is_none() {
                let fewer = COLUMNS.iter().filter(|&&k| k < most);
                candidates.extend(fewer.map(|&k| Candidate { coordinates: at, k }));
            }
            candidates.push(Candidate { coordinates: at, k: most });
        }
        candidates
    }

    /// The solution for one weight; the exact solver starts from `start`.
    fn minimise(
        &self,
        sampling: &Sampling,
        c: f64,
        objects: usize,
        start: Spectrum,
        observer: &dyn Observer,
    ) -> Result<Solved> {
        let rules = Rules {
            c,
            semidefinite: self.semidefinite,
            tolerance: self.tolerance,
            max_iterations: self.max_iterations,
        };
        match self.solver {
            CompletionSolver::Accelerated => solve(sampling, &rules, start, observer),
            CompletionSolver::Stochastic => {
                // 1 for orthonormal columns, of which these are a multiple.
                let threshold = 1.0 / objects as f64;
                let (rank, seed) = (self.clusters, self.seed);
                stochastic::descend(sampling, &rules, threshold, rank, seed, observer)
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
    ) -> Result<Minimum> {
        let mut best: Option<(f64, Solved, f64)> = None;
        let mut at = Spectrum::zero(sampling.order());
        for multiple in PATH {
            let solved = self.minimise(sampling, multiple * least, z.nrows(), at, observer)?;
            at = solved.m.clone();
            let root = positive_root(&solved.m);
            let trivial = root.ncols() < self.clusters;
            // The sum of squared sizes is 1' S 1 for the similarity S of the clusters.
            let unbalance = if trivial {
                f64::INFINITY
            } else {
                let rows = product(z, self.read(&root).view()) * (z.nrows() as f64).sqrt();
                self.squared_sizes(rows, observer)?
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
        Ok(Minimum { solved, weight: multiple * least, note: Some(note) })
    }

    /// Sum of the squared sizes of the clusters of an embedding.
    fn squared_sizes(&self, rows: Array2<f64>, observer: &dyn Observer) -> Result<f64> {
        let options = KMeansOptions::new(self.clusters)
            .restarts(self.restarts.min(3))
            .seed(self.seed.derive("k-means", 2))
            .parallel(rayon::current_num_threads() > 1);
        let labels = fit(rows.view(), None, &options, &OnlyCancels(observer))?.assignment;
        let clusters = Partition::from_fn(labels.len(), |i| Some(u64::from(labels[i])))?;
        Ok(clusters.sizes().iter().map(|&s| (s as f64) * (s as f64)).sum())
    }
}

/// Whether plain spectral clustering is in these coordinates, as it is with few constraints.
fn is_plain(coordinates: &[&Coordinates], candidate: &Candidate) -> bool {
    coordinates[candidate.coordinates].basis == Some(Basis::Neighbours)
}

/// Why an M without positive eigenvalues is one, which no similarity of clusters is.
const ONLY_NEGATIVE: &str = "M has negative eigenvalues only, which no similarity of clusters has: \
    the coordinates of must-linked objects point apart";
const ZERO: &str = "M = 0: the weight is too low, no constrained object has coordinates or those \
    of must-linked objects point apart";
