use consilience_core::{
    ConsensusFunction, Ensemble, Fit, GraphPartitioner, MemoryBudget, Observer, Partition, Report,
    Result, Seed, SimilarityGraph, Status,
};
use consilience_graph::{Agglomeration, CountRow, Linkage, Microclusters};
use ndarray::{Array1, Array2};
use rayon::prelude::*;

use crate::rmc::{Completion, ObservedPairs, Penalty, RobustCompletion, agreed, check_thresholds};
use crate::spectral;

/// Bins of the shares of members that put a pair together.
const BINS: usize = 100;
/// The bin of the highest threshold that is chosen.
const HIGHEST: usize = 60;

/// Ensemble clustering by matrix completion (ECMC): the pairs on which the base clusterings agree,
/// completed to a low rank matrix, then average linkage on its cosines.
///
/// Use it where base clusterings are noisy but agree on many pairs; where most pairs are in dispute
/// little is known and [`EvidenceAccumulation`](consilience_graph::EvidenceAccumulation) is the
/// safer choice.
///
/// A pair that at least the share `d1` of the members puts together is known to be together, at
/// most `d0` apart, and the rest is completed as in [`RobustCompletion`]. Microclusters enter with
/// their sizes: entry (i, j) scaled by `sqrt(s_i s_j)` has the nuclear norm of the matrix of all
/// objects, so that the collapsed optimum is the expanded one.
///
/// ```
/// use consilience_completion::EcmcAl;
/// use consilience_core::{ConsensusFunction, Ensemble, Partition};
///
/// let ensemble = Ensemble::new(vec![
///     Partition::from_labels(&[0, 0, 0, 1, 1, 1])?,
///     Partition::from_labels(&[0, 0, 0, 1, 1, 1])?,
///     Partition::from_labels(&[0, 0, 1, 1, 1, 1])?,
/// ])?;
/// assert_eq!(EcmcAl::new(2).consensus(&ensemble)?.to_signed(), vec![0, 0, 0, 1, 1, 1]);
/// # Ok::<(), consilience_core::Error>(())
/// ```
///
/// # Complexity
/// O(n~^2 M) byte operations for the counts, some hundred iterations of O((m + n~ r) r) for m
/// agreed pairs and rank r, O(n~^2) for the tree; memory 60 m + 8 n~^2 bytes.
///
/// # Errors
/// [`ErrorKind::InvalidParameter`](consilience_core::ErrorKind::InvalidParameter) for k outside
/// `1..=n` or bad options, [`ErrorKind::TooLarge`](consilience_core::ErrorKind::TooLarge) beyond
/// the memory budget, [`ErrorKind::Cancelled`](consilience_core::ErrorKind::Cancelled).
///
/// # References
/// Yi, Yang, Jin, Jain, Mahdavi 2012, "Robust Ensemble Clustering by Matrix Completion"; with
/// average linkage as compared in Huang, Lai, Wang 2016, Sect. 5.
#[doc(alias = "ECMC")]
#[derive(Clone, Copy, Debug)]
pub struct EcmcAl {
    clusters: usize,
    linkage: Linkage,
    thresholds: Option<(f64, f64)>,
    completion: RobustCompletion,
    budget: MemoryBudget,
}

impl EcmcAl {
    /// k clusters; c = 1.3, average linkage, and thresholds by the ensemble: d1 = 0.6 or, where
    /// that leaves fewer than half of the pairs known that k equal clusters would hold, so low that
    /// they are; d0 = d1 / 6.
    ///
    /// Stricter ones leave too few pairs known where members err (on planted ensembles with one
    /// label in five wrong, d1 = 0.7 finds nothing and 0.6 everything), and where members split the
    /// classes no pair is together often.
    pub fn new(clusters: usize) -> Self {
        EcmcAl {
            clusters,
            linkage: Linkage::Average,
            thresholds: None,
            completion: RobustCompletion::new(),
            budget: MemoryBudget::default(),
        }
    }

    /// The linkage; average unless said otherwise.
    pub fn linkage(mut self, linkage: Linkage) -> Self {
        self.linkage = linkage;
        self
    }

    /// Shares of members from which on a pair is known: at most `d0` apart, at least `d1` together.
    pub fn thresholds(mut self, d0: f64, d1: f64) -> Self {
        self.thresholds = Some((d0, d1));
        self
    }

    /// The weight of the errors.
    pub fn penalty(mut self, penalty: Penalty) -> Self {
        self.completion = self.completion.penalty(penalty);
        self
    }

    /// Seed of the completion's first basis.
    pub fn seed(mut self, seed: Seed) -> Self {
        self.completion = self.completion.seed(seed);
        self
    }

    /// How large the matrices may become.
    pub fn memory_budget(mut self, budget: MemoryBudget) -> Self {
        self.budget = budget;
        self
    }

    /// The given thresholds, or those that suit the ensemble.
    fn suited(&self, microclusters: &Microclusters, observer: &dyn Observer) -> Result<(f64, f64)> {
        if let Some(given) = self.thresholds {
            return Ok(given);
        }
        let n = microclusters.n_nodes();
        let sizes: Vec<f64> =
            microclusters.grouping().sizes().iter().map(|&s| f64::from(s)).collect();
        let scratch = CountRow::new(microclusters)?;
        // Pairs of objects by the share of members that put them together, one bin for each
        // hundredth. Counts are whole numbers, whose sums do not depend on the order.
        let bins = (0..n)
            .into_par_iter()
            .fold(
                || (scratch.clone(), vec![0.0; BINS + 1]),
                |(mut row, mut bins), i| {
                    if i % 64 != 0 || !observer.cancelled() {
                        row.fill(microclusters, i);
                        for j in (0..n).filter(|&j| j != i && row.both()[j] > 0) {
                            bins[(row.ratio(j) * BINS as f64 + 1e-9) as usize] +=
                                sizes[i] * sizes[j];
                        }
                        bins[BINS] += sizes[i] * (sizes[i] - 1.0);
                    }
                    (row, bins)
                },
            )
            .map(|(_, bins)| bins)
            .reduce(|| vec![0.0; BINS + 1], |a, b| a.iter().zip(&b).map(|(a, b)| a + b).collect());
        observer.check()?;
        let enough = 0.5 * bins.iter().sum::<f64>() / self.clusters as f64;
        let (mut d1, mut known) = (BINS, bins[BINS]);
        while d1 > 1 && (known < enough || d1 > HIGHEST) {
            d1 -= 1;
            known += bins[d1];
        }
        let d1 = d1.min(HIGHEST) as f64 / BINS as f64;
        Ok((d1 / 6.0, d1))
    }

    fn observed(
        &self,
        microclusters: &Microclusters,
        observer: &dyn Observer,
    ) -> Result<ObservedPairs> {
        let n = microclusters.n_nodes();
        let scratch = CountRow::new(microclusters)?;
        let (d0, d1) = self.suited(microclusters, observer)?;
        let rows: Vec<Vec<(u32, f64)>> = (0..n)
            .into_par_iter()
            .map_init(
                || scratch.clone(),
                |row, i| {
                    if i % 64 == 0 {
                        observer.check()?;
                    }
                    row.fill(microclusters, i);
                    let known = |j: usize| {
                        let share = if j == i { 1.0 } else { row.ratio(j) };
                        let counted = j == i || row.both()[j] > 0;
                        agreed(share, d0, d1).filter(|_| counted).map(|v| (j as u32, v))
                    };
                    Ok((0..n).filter_map(known).collect())
                },
            )
            .collect::<Result<_>>()?;
        let mut observed = ObservedPairs::from_rows(n, |i, out| out.extend_from_slice(&rows[i]))?;
        let sizes = microclusters.grouping().sizes();
        observed.sizes = Some(sizes.iter().map(|&s| f64::from(s)).collect());
        Ok(observed)
    }
}

impl ConsensusFunction for EcmcAl {
    type Output = Partition;

    fn name(&self) -> &str {
        "ecmc-al"
    }

    fn fit(&self, ensemble: &Ensemble, observer: &dyn Observer) -> Result<Fit<Partition>> {
        ensemble.check_clusters(self.clusters)?;
        self.completion.check()?;
        if let Some((d0, d1)) = self.thresholds {
            check_thresholds(d0, d1)?;
        }
        observer.check()?;
        let mut report = Report::default();
        let microclusters =
            report.stage("microclusters", || Microclusters::observed(ensemble, observer))?;
        let n = microclusters.n_nodes();
        report.microclusters = Some(n);
        if n == 0 {
            report.expect_clusters(self.clusters, 0, "the ensemble distinguishes no more objects");
            return Ok(Fit::new(microclusters.grouping().expand(&[])?, report));
        }
        // The agreed pairs with their multipliers, and the matrix for the tree.
        self.budget.check_square("known entries and similarity", n, 68)?;
        let observed = report.stage("pair counts", || self.observed(&microclusters, observer))?;
        let completion = self.completion.memory_budget(self.budget);
        let fit = report.stage("completion", || completion.fit(&observed, observer))?;
        let (status, completed) = (fit.report.status, fit.output);
        report.iterations = fit.report.iterations;
        report.objective = fit.report.objective;
        report.error_bound = fit.report.error_bound;
        observer.check()?;
        let similarity = cosines(&completed);
        let graph = SimilarityGraph::new(microclusters.grouping().clone(), similarity)?;
        let cut = Agglomeration::new(self.linkage, self.clusters);
        let partition = report.stage("partition", || cut.fit(graph, observer))?.output;
        if status != Status::Solved {
            report.status = status;
        }
        report.expect_clusters(
            self.clusters,
            partition.n_clusters(),
            "the ensemble distinguishes no more objects",
        );
        Ok(Fit::new(partition, report))
    }
}

/// Cosines of the objects in the positive part of A, 0 where they are negative.
///
/// The completion shrinks the row of an object with few known pairs as a whole. In A itself such an
/// object is similar to nobody, and average linkage splits one after the other off as clusters of
/// their own.
fn cosines(completed: &Completion) -> Array2<f64> {
    let roots: Array1<f64> = completed.values.iter().map(|v| v.max(0.0).sqrt()).collect();
    let mut rows = &completed.vectors * &roots;
    spectral::unit_rows(&mut rows);
    let n = rows.nrows();
    let mut similarity = rows.dot(&rows.t());
    for i in 0..n {
        similarity[[i, i]] = 1.0;
        for j in 0..i {
            let s = similarity[[i, j]].clamp(0.0, 1.0);
            similarity[[i, j]] = s;
            similarity[[j, i]] = s;
        }
    }
    similarity
}

#[cfg(test)]
mod tests {
    use super::*;
    use consilience_conformance::{Profile, consensus_function};

    /// Members that split every class in three at random: no pair is together in most of them.
    #[test]
    fn finds_classes_that_members_split() {
        let mut draw = Seed(3).stream();
        let truth: Vec<usize> = (0..200).map(|i| i % 5).collect();
        let members = (0..12).map(|_| {
            let labels: Vec<usize> = truth.iter().map(|t| 3 * t + draw.below(3)).collect();
            Partition::from_labels(&labels).unwrap()
        });
        let ensemble = Ensemble::new(members.collect()).unwrap();
        let found = EcmcAl::new(5).consensus(&ensemble).unwrap();
        assert_eq!(found, Partition::from_labels(&truth).unwrap());
    }

    #[test]
    fn keeps_the_laws_of_consensus_functions() {
        // The optimum is known to a gap of 1e-3: merges closer than that may fall the other way
        // where objects are reordered or doubled.
        let profile = Profile {
            object_permutation: false,
            duplication: false,
            small_worlds: (4, 2),
            ..Profile::default()
        };
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        pool.install(|| consensus_function(&|k| Box::new(EcmcAl::new(k)), &profile));
    }
}
