use consilience_core::{
    Clusters, Ensemble, Error, Memberships, MemoryBudget, Microclusters, NodeConsensus,
    NodeMemberships, Observer, Partition, Report, Result, Seed, Status, Stop, check_restarts,
    ensure, room,
};
use consilience_graph::ClusterIncidence;
use consilience_num::reduce::ordered_chunks;
use ndarray::{Array2, ArrayView1};
use rayon::prelude::*;

use super::{Ballots, Qmi, number};

/// Nodes per parallel chunk. Fixed, so that the result does not depend on the number of threads.
const CHUNK: usize = 1 << 12;
/// Components of more entries are added up label by label: a chunk of nodes each would hold a copy
/// of all. Then so many parts of the nodes at most are added up, each by itself.
const LARGE: usize = 1 << 16;
const PARTS: usize = 8;
/// Labels that one task adds up at least.
const LABELS: usize = 64;
/// How much of the ensemble's own label frequencies is mixed into the first components, so that no
/// label is impossible before the first step.
const BLUR: f64 = 0.1;

/// The mixture model (MM): expectation maximization for a mixture of multinomials over the members'
/// labels.
///
/// Each consensus cluster draws each member's label from a distribution of its own, independently:
/// soft, linear, no matching of labels, any numbers of clusters. Use it where memberships with a
/// likelihood behind them are wanted, on up to millions of objects; graph methods usually score
/// higher, since members are never independent. For the same reason its probabilities are too near
/// 0 and 1: an error that members share counts as evidence as often as it is made. On Gaussian
/// classes of 180, 15 and 15 objects under k-means members all 210 objects got .99 or more, and 94
/// of them were right.
///
/// The log-likelihood `sum_i s_i ln sum_c p_c prod_u q_uc(label_u(i))`, with the product over the
/// members that label i, never falls from one step to the next; that of the best start is the
/// objective. Starts are k-means clusterings of the labels ([`Qmi`]), a little blurred.
///
/// ```
/// use consilience::{ConsensusFunction, Ensemble, Partition};
/// use consilience::consensus::MixtureModel;
///
/// let ensemble = Ensemble::new(vec![
///     Partition::from_labels(&[0, 0, 0, 1, 1, 1])?,
///     Partition::from_labels(&[1, 1, 1, 0, 0, 2])?,
///     Partition::from_labels(&[0, 0, 1, 1, 1, 1])?,
/// ])?;
/// let mixture = MixtureModel::new(2);
/// assert_eq!(mixture.consensus(&ensemble)?.to_signed(), vec![0, 0, 0, 1, 1, 1]);
/// let soft = mixture.soft().consensus(&ensemble)?;
/// assert!(soft.values()[[0, 0]] > 0.99);
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Complexity
/// O(n M) for the microclusters, then O(n~ M k) per step; 8 n~ M + 16 n~ k + 8 C k bytes with C
/// clusters in the ensemble, and those of [`Qmi`] for the starts. Microclusters are exact: they
/// count with their sizes.
///
/// # Errors
/// [`ErrorKind::InvalidParameter`](consilience_core::ErrorKind::InvalidParameter) for anything but
/// a number of clusters in `1..=n`, no restarts, no iterations or a tolerance below 0;
/// [`ErrorKind::TooLarge`](consilience_core::ErrorKind::TooLarge) beyond the memory budget.
///
/// # References
/// Topchy, Jain, Punch 2004, "A Mixture Model for Clustering Ensembles"; 2005, "Clustering
/// Ensembles: Models of Consensus and Weak Partitions", Section 3. They start at random
/// ([`MixtureModel::random_starts`]); we start from k-means.
#[doc(alias = "MM")]
#[doc(alias = "EM")]
#[doc(alias = "latent_class_analysis")]
#[doc(alias = "latent class analysis")]
#[derive(Clone, Copy, Debug)]
pub struct MixtureModel {
    clusters: Clusters,
    restarts: usize,
    max_iterations: usize,
    tolerance: f64,
    random_starts: bool,
    seed: Seed,
    budget: MemoryBudget,
}

impl MixtureModel {
    /// A mixture of so many components; a number is expected.
    pub fn new(clusters: impl Into<Clusters>) -> Self {
        MixtureModel {
            clusters: clusters.into(),
            restarts: 5,
            max_iterations: 300,
            tolerance: 1e-8,
            random_starts: false,
            seed: Seed(0),
            budget: MemoryBudget::default(),
        }
    }

    consilience_core::setters! {
        /// Starts, of which the one of largest likelihood is kept. Default 5; 1 to 10,000.
        pub fn restarts(mut self, restarts: usize) { self.restarts = restarts }

        /// Steps per start at most. Default 300; at least 1.
        pub fn max_iterations(mut self, steps: usize) { self.max_iterations = steps }

        /// A start ends where a step raises the log-likelihood by at most this share of it. Default
        /// 1e-8; at least 0.
        pub fn tolerance(mut self, tolerance: f64) { self.tolerance = tolerance }

        /// Whether the objects start in components drawn at random, as published, and not in those
        /// of a k-means of their labels. Default false.
        pub fn random_starts(mut self, random: bool) { self.random_starts = random }

        /// Seed of the starts. Default 0.
        pub fn seed(mut self, seed: Seed) { self.seed = seed }

        /// How much memory the tables may take. Default 8 GiB.
        pub fn memory_budget(mut self, budget: MemoryBudget) { self.budget = budget }
    }

    /// The same method, giving the probabilities of the components.
    pub fn soft(self) -> SoftMixtureModel {
        SoftMixtureModel(self)
    }

    fn check(&self) -> Result<usize> {
        let k = number(self.clusters, "the mixture model")?;
        check_restarts(self.restarts)?;
        ensure!(self.max_iterations > 0, invalid("max_iterations 0; expected at least 1"));
        ensure!(
            self.tolerance >= 0.0 && self.tolerance.is_finite(),
            invalid("tolerance {}; expected a number from 0 on", self.tolerance)
        );
        Ok(k)
    }

    /// Probabilities of the components for each node.
    fn probabilities(
        &self,
        nodes: &Microclusters,
        report: &mut Report,
        observer: &dyn Observer,
    ) -> Result<Array2<f64>> {
        let (n, k) = (nodes.n_nodes(), self.check()?);
        let ballots = Ballots::from(nodes);
        let labels = ClusterIncidence::of_observed(ballots.nodes(), observer)?;
        // Of the nodes those of the best start and of this one; of the labels this start's, or the
        // two tables of the k-means before it.
        let rows = n + labels.n_clusters();
        self.budget.check_table("mixture: probabilities of nodes and labels", rows, k, 16)?;
        let run = report.stage("mixture", || self.best_run(&ballots, &labels, k, observer))?;
        report.status = if run.settled { Status::Solved } else { Status::MaxIterations };
        report.iterations = run.likelihoods.len();
        report.objective = run.likelihoods.last().copied();
        Array2::from_shape_vec((n, k), run.responsibilities)
            .map_err(|e| Error::shape(e.to_string()))
    }

    /// The run of largest likelihood.
    fn best_run(
        &self,
        ballots: &Ballots,
        labels: &ClusterIncidence,
        k: usize,
        observer: &dyn Observer,
    ) -> Result<Run> {
        let mut best = Run::default();
        for restart in 0..self.restarts {
            let seed = self.seed.derive("mixture", restart as u64);
            let first = if self.random_starts {
                let mut stream = seed.derive("random", 0).stream();
                (0..ballots.nodes().n_nodes()).map(|_| stream.below(k)).collect()
            } else {
                let qmi = Qmi::new(k).restarts(1).seed(seed).memory_budget(self.budget);
                qmi.of_nodes(ballots, &mut Report::default(), observer)?
            };
            let most = self.max_iterations;
            let run = expectation_maximization(labels, k, &first, most, self.tolerance, observer)?;
            if run.likelihood() > best.likelihood() || restart == 0 {
                best = run;
            }
        }
        Ok(best)
    }
}

impl NodeConsensus for MixtureModel {
    type Output = Partition;

    fn name(&self) -> &str {
        "mm"
    }

    fn clusters(&self) -> Clusters {
        self.clusters
    }

    fn check(&self, _: &Ensemble) -> Result<()> {
        self.check().map(drop)
    }

    fn solve(
        &self,
        nodes: &Microclusters,
        report: &mut Report,
        observer: &dyn Observer,
    ) -> Result<Vec<usize>> {
        let probabilities = self.probabilities(nodes, report, observer)?;
        Ok(probabilities.rows().into_iter().map(largest).collect())
    }
}

/// The [`MixtureModel`] with its probabilities of the components for each object; unlabelled
/// objects are uniform with evidence 0.
///
/// They say how sure the model is, not how often it is right: see [`MixtureModel`].
///
/// ```
/// use consilience::{ConsensusFunction, Ensemble, Partition};
/// use consilience::consensus::MixtureModel;
///
/// let ensemble = Ensemble::new(vec![
///     Partition::from_labels(&[0, 0, 0, 1, 1, -1])?,
///     Partition::from_labels(&[1, 1, 1, 0, 0, -1])?,
/// ])?;
/// let soft = MixtureModel::new(2).soft().consensus(&ensemble)?;
/// assert_eq!(soft.evidence(), [2.0, 2.0, 2.0, 2.0, 2.0, 0.0]);
/// assert_eq!(soft.values()[[5, 0]], 0.5);
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Errors
/// As [`MixtureModel`].
#[derive(Clone, Copy, Debug)]
pub struct SoftMixtureModel(MixtureModel);

impl NodeConsensus for SoftMixtureModel {
    type Output = Memberships;

    fn name(&self) -> &str {
        "mm"
    }

    fn clusters(&self) -> Clusters {
        self.0.clusters
    }

    fn check(&self, ensemble: &Ensemble) -> Result<()> {
        let k = self.0.check()?;
        self.0.budget.check_table("memberships", ensemble.n_objects(), k, 8)
    }

    fn solve(
        &self,
        nodes: &Microclusters,
        report: &mut Report,
        observer: &dyn Observer,
    ) -> Result<NodeMemberships> {
        Ok(self.0.probabilities(nodes, report, observer)?.into())
    }
}

/// The first largest entry.
fn largest(row: ArrayView1<'_, f64>) -> usize {
    (1..row.len()).fold(0, |b, c| if row[c] > row[b] { c } else { b })
}

/// One start from beginning to end.
#[derive(Default)]
struct Run {
    /// Probability of each component for each node, row by row.
    responsibilities: Vec<f64>,
    /// Log-likelihood of the components behind each expectation step, in order.
    likelihoods: Vec<f64>,
    settled: bool,
}

impl Run {
    fn likelihood(&self) -> f64 {
        self.likelihoods.last().copied().unwrap_or(f64::NEG_INFINITY)
    }
}

/// Components: logarithms of their shares and of their label probabilities (label by label, k
/// each).
struct Components {
    shares: Vec<f64>,
    labels: Vec<f64>,
}

fn expectation_maximization(
    labels: &ClusterIncidence,
    k: usize,
    first: &[usize],
    steps: usize,
    tolerance: f64,
    observer: &dyn Observer,
) -> Result<Run> {
    let stop = Stop::new(observer);
    let mut z = room::zeros(labels.n_rows() * k)?;
    for (row, &c) in z.chunks_exact_mut(k).zip(first) {
        row[c] = 1.0;
    }
    let mut components =
        Components { shares: vec![0.0; k], labels: room::zeros(labels.n_clusters() * k)? };
    maximize(labels, k, &z, BLUR, &mut components, &stop);
    let mut run = Run { responsibilities: Vec::new(), likelihoods: Vec::new(), settled: false };
    for step in 0..steps {
        stop.check()?;
        observer.progress("mixture", step, steps);
        let value = expect(labels, k, &components, &mut z, &stop);
        stop.check()?;
        let before = run.likelihoods.last().copied();
        run.likelihoods.push(value);
        if before.is_some_and(|b| !(value - b > tolerance * value.abs())) {
            run.settled = true;
            break;
        }
        if step + 1 < steps {
            maximize(labels, k, &z, 0.0, &mut components, &stop);
        }
    }
    run.responsibilities = z;
    Ok(run)
}

/// Fills in the responsibilities and returns the log-likelihood.
fn expect(
    labels: &ClusterIncidence,
    k: usize,
    components: &Components,
    z: &mut [f64],
    stop: &Stop<'_>,
) -> f64 {
    let parts: Vec<f64> = z
        .par_chunks_mut(CHUNK * k)
        .enumerate()
        .map(|(chunk, z)| {
            let mut total = 0.0;
            if stop.asked() {
                return total;
            }
            for (r, row) in z.chunks_exact_mut(k).enumerate() {
                let node = chunk * CHUNK + r;
                row.copy_from_slice(&components.shares);
                for &l in labels.clusters_of(node) {
                    let l = l as usize;
                    for (out, q) in row.iter_mut().zip(&components.labels[l * k..(l + 1) * k]) {
                        *out += q;
                    }
                }
                // Some component made this row, so that the largest is finite.
                let top = row.iter().fold(f64::NEG_INFINITY, |m, &v| m.max(v));
                let mut sum = 0.0;
                for v in row.iter_mut() {
                    *v = (*v - top).exp();
                    sum += *v;
                }
                for v in row.iter_mut() {
                    *v /= sum;
                }
                total += labels.sizes()[node] * (top + sum.ln());
            }
            total
        })
        .collect();
    parts.iter().sum()
}

/// Makes them the most likely components of given responsibilities, mixed with a share `blur` of
/// the ensemble's own label frequencies.
fn maximize(
    labels: &ClusterIncidence,
    k: usize,
    z: &[f64],
    blur: f64,
    components: &mut Components,
    stop: &Stop<'_>,
) {
    let n = labels.n_rows();
    if components.labels.len() > LARGE {
        add_by_labels(labels, k, z, CHUNK.max(n.div_ceil(PARTS)), components, stop);
    } else {
        add_by_nodes(labels, k, z, CHUNK, components, stop);
    }
    let Components { shares, labels: probabilities } = components;
    let all: f64 = shares.iter().sum();
    for u in 0..labels.n_members() {
        let of_member = labels.clusters_of_member(u);
        let block = &mut probabilities[of_member.start * k..of_member.end * k];
        let mut labelled = vec![0.0; k];
        for row in block.chunks_exact(k) {
            add(&mut labelled, row);
        }
        let all: f64 = labelled.iter().sum();
        for row in block.chunks_exact_mut(k) {
            let overall = row.iter().sum::<f64>() / all;
            for (v, &labelled) in row.iter_mut().zip(&labelled) {
                // A component of which the member labels nothing draws as the ensemble does.
                let own = if labelled > 0.0 { *v / labelled } else { overall };
                *v = ((1.0 - blur) * own + blur * overall).ln();
            }
        }
    }
    let even = blur / k as f64;
    shares.iter_mut().for_each(|s| *s = ((1.0 - blur) * *s / all + even).ln());
}

/// The responsibilities added up over all nodes and over those of each label, a chunk of nodes
/// after the other: every chunk has sums of all labels, so that they had better be few.
fn add_by_nodes(
    labels: &ClusterIncidence,
    k: usize,
    z: &[f64],
    chunk: usize,
    sums: &mut Components,
    stop: &Stop<'_>,
) {
    let c = labels.n_clusters();
    let part = |range: std::ops::Range<usize>| {
        let mut mass = vec![0.0; k + c * k];
        if stop.asked() {
            return mass;
        }
        for i in range {
            let (shares, of_label) = mass.split_at_mut(k);
            add_node(labels, z, i, shares);
            for &l in labels.clusters_of(i) {
                let l = l as usize;
                add_node(labels, z, i, &mut of_label[l * k..(l + 1) * k]);
            }
        }
        mass
    };
    let mass = ordered_chunks(labels.n_rows(), chunk, part, vec![0.0; k + c * k], added);
    sums.shares.copy_from_slice(&mass[..k]);
    sums.labels.copy_from_slice(&mass[k..]);
}

/// The same, to the bit, a label after the other: no table but that of the sums.
fn add_by_labels(
    labels: &ClusterIncidence,
    k: usize,
    z: &[f64],
    chunk: usize,
    sums: &mut Components,
    stop: &Stop<'_>,
) {
    let part = |range: std::ops::Range<usize>| {
        let mut mass = vec![0.0; k];
        range.for_each(|i| add_node(labels, z, i, &mut mass));
        mass
    };
    sums.shares = ordered_chunks(labels.n_rows(), chunk, part, vec![0.0; k], added);
    let of_label = sums.labels.par_chunks_mut(k).enumerate().with_min_len(LABELS);
    of_label.for_each_init(
        || vec![0.0; k],
        |part, (l, total)| {
            if stop.asked() {
                return;
            }
            total.fill(0.0);
            let together = |a: &u32, b: &u32| *a as usize / chunk == *b as usize / chunk;
            for nodes in labels.rows_of(l).chunk_by(together) {
                part.fill(0.0);
                nodes.iter().for_each(|&i| add_node(labels, z, i as usize, part));
                add(total, part);
            }
        },
    );
}

/// Adds the responsibilities of a node, for each of its objects.
#[inline(always)]
fn add_node(labels: &ClusterIncidence, z: &[f64], i: usize, sums: &mut [f64]) {
    let weight = labels.sizes()[i];
    let own = &z[i * sums.len()..(i + 1) * sums.len()];
    sums.iter_mut().zip(own).for_each(|(sum, z)| *sum += weight * z);
}

fn add(sums: &mut [f64], part: &[f64]) {
    sums.iter_mut().zip(part).for_each(|(sum, part)| *sum += part);
}

fn added(mut sums: Vec<f64>, part: Vec<f64>) -> Vec<f64> {
    add(&mut sums, &part);
    sums
}

#[cfg(test)]
mod tests {
    use super::*;
    use consilience_conformance::planted;
    use consilience_core::ConsensusFunction;

    /// EM as the paper writes it: plain probabilities, object by object.
    fn reference(
        ensemble: &Ensemble,
        k: usize,
        first: &[usize],
        steps: usize,
    ) -> (Vec<Vec<f64>>, Vec<f64>) {
        let n = ensemble.n_objects();
        let mut z: Vec<Vec<f64>> =
            (0..n).map(|i| (0..k).map(|c| f64::from(u8::from(first[i] == c))).collect()).collect();
        let mut likelihoods = Vec::new();
        for step in 0..steps {
            let blur = if step == 0 { BLUR } else { 0.0 };
            let share: Vec<f64> = (0..k)
                .map(|c| {
                    (1.0 - blur) * z.iter().map(|z| z[c]).sum::<f64>() / n as f64 + blur / k as f64
                })
                .collect();
            let probability = |c: usize, m: &Partition, l: usize| {
                let mass = |l: Option<usize>| -> f64 {
                    (0..n)
                        .filter(|&i| m.label(i).is_some() && (l.is_none() || m.label(i) == l))
                        .map(|i| z[i][c])
                        .sum()
                };
                let overall = m.sizes()[l] as f64 / m.n_labelled() as f64;
                let own = if mass(None) > 0.0 { mass(Some(l)) / mass(None) } else { overall };
                (1.0 - blur) * own + blur * overall
            };
            let mut value = 0.0;
            let next: Vec<Vec<f64>> = (0..n)
                .map(|i| {
                    let joint: Vec<f64> = (0..k)
                        .map(|c| {
                            ensemble
                                .members()
                                .iter()
                                .filter_map(|m| m.label(i).map(|l| probability(c, m, l)))
                                .fold(share[c], |p, q| p * q)
                        })
                        .collect();
                    let sum: f64 = joint.iter().sum();
                    value += sum.ln();
                    joint.iter().map(|j| j / sum).collect()
                })
                .collect();
            z = next;
            likelihoods.push(value);
        }
        (z, likelihoods)
    }

    #[test]
    fn steps_equal_the_plain_ones_on_objects_and_the_likelihood_never_falls() {
        for seed in 0..8 {
            let missing = if seed % 2 == 0 { 0.0 } else { 0.3 };
            let world = planted(Seed(seed), &[14, 9, 5], 4, 0.3, missing).unwrap();
            // Every object twice, so that sizes matter.
            let twice: Vec<usize> = (0..56).map(|i| i / 2).collect();
            let e = world.ensemble.select_objects(&twice).unwrap();
            let micro = Microclusters::of(&e).unwrap();
            let rows = ClusterIncidence::of(&micro.clone().sorted_members()).unwrap();
            let mut stream = Seed(seed).stream();
            let first: Vec<usize> = (0..micro.n_nodes()).map(|_| stream.below(3)).collect();
            let of_object: Vec<usize> =
                micro.grouping().of_object().iter().map(|&g| first[g as usize]).collect();
            let steps = 25;
            let run = expectation_maximization(&rows, 3, &first, steps, 0.0, &()).unwrap();
            let steps = run.likelihoods.len();
            let (z, likelihoods) = reference(&e, 3, &of_object, steps);
            for (a, b) in run.likelihoods.iter().zip(&likelihoods) {
                assert!((a - b).abs() < 1e-8 * b.abs(), "seed {seed}: {a} {b}");
            }
            for (i, &g) in micro.grouping().of_object().iter().enumerate() {
                for c in 0..3 {
                    let ours = run.responsibilities[g as usize * 3 + c];
                    assert!((ours - z[i][c]).abs() < 1e-6, "seed {seed}: {ours} {}", z[i][c]);
                }
            }
            let all = run.likelihoods.windows(2).all(|w| w[1] >= w[0] - 1e-12 * w[0].abs());
            assert!(all, "{:?}", run.likelihoods);
        }
    }

    #[test]
    fn sums_by_labels_are_those_by_nodes_to_the_bit() {
        for (seed, missing) in [(1, 0.0), (2, 0.3)] {
            let world = planted(Seed(seed), &[140, 90, 50], 5, 0.4, missing).unwrap();
            let nodes = Microclusters::of(&world.ensemble).unwrap();
            let labels = ClusterIncidence::of(&nodes).unwrap();
            let (n, c, k) = (labels.n_rows(), labels.n_clusters(), 3);
            let mut stream = Seed(seed).stream();
            let z: Vec<f64> = (0..n * k).map(|_| stream.uniform()).collect();
            // What is there before is written over.
            let sums = || Components { shares: vec![7.0; k], labels: vec![7.0; c * k] };
            for chunk in [1, 7, n - 1, n, n + 1] {
                let (mut nodes, mut own, stop) = (sums(), sums(), Stop::new(&()));
                add_by_nodes(&labels, k, &z, chunk, &mut nodes, &stop);
                add_by_labels(&labels, k, &z, chunk, &mut own, &stop);
                assert_eq!((nodes.shares, nodes.labels), (own.shares, own.labels), "{chunk}");
            }
        }
    }

    #[test]
    fn nodes_and_labels_are_asked_for_together() {
        let world = planted(Seed(4), &[40, 30, 20], 6, 0.4, 0.1).unwrap();
        let nodes = Microclusters::of(&world.ensemble).unwrap();
        let labels = ClusterIncidence::of(&nodes).unwrap();
        let k = 7;
        let needed = 16 * (labels.n_rows() + labels.n_clusters()) * k;
        let fit = |bytes: usize| {
            let budget = MemoryBudget::bytes(bytes as u64);
            let mixture = MixtureModel::new(k).random_starts(true).memory_budget(budget);
            mixture.fit(&world.ensemble, &()).map(|fit| fit.output)
        };
        let error = fit(needed - 1).unwrap_err();
        assert_eq!(error.kind(), consilience_core::ErrorKind::TooLarge);
        assert!(error.message().contains(&format!("{needed} bytes needed")), "{error}");
        assert_eq!(fit(needed).unwrap(), fit(1 << 30).unwrap());
    }

    #[test]
    fn more_restarts_are_never_less_likely() {
        let world = planted(Seed(3), &[30, 20, 10], 6, 0.4, 0.1).unwrap();
        let value = |restarts| {
            MixtureModel::new(3)
                .restarts(restarts)
                .fit(&world.ensemble, &())
                .unwrap()
                .report
                .objective
                .unwrap()
        };
        assert!(value(6) >= value(2) && value(2) >= value(1));
    }

    #[test]
    fn soft_and_hard_agree() {
        let world = planted(Seed(9), &[30, 20, 10], 8, 0.2, 0.3).unwrap();
        let mixture = MixtureModel::new(3);
        let soft = mixture.soft().fit(&world.ensemble, &()).unwrap();
        let hard = mixture.fit(&world.ensemble, &()).unwrap();
        assert_eq!(soft.output.hard().unwrap(), hard.output);
        assert_eq!(soft.report.objective, hard.report.objective);
        assert!(soft.output.evidence().iter().all(|&e| (1.0..=8.0).contains(&e)));
    }

    #[test]
    fn bad_parameters_are_refused() {
        let e = planted(Seed(0), &[3, 3], 2, 0.0, 0.0).unwrap().ensemble;
        let m = MixtureModel::new(2);
        let tolerances = [f64::NAN, -1.0, f64::INFINITY].map(|value| m.tolerance(value));
        for bad in tolerances.into_iter().chain([m.restarts(0), m.max_iterations(0)]) {
            assert_eq!(
                bad.fit(&e, &()).unwrap_err().kind(),
                consilience_core::ErrorKind::InvalidParameter
            );
        }
    }
}
