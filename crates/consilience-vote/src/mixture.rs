use consilience_core::{
    ConsensusFunction, Ensemble, Error, Fit, Memberships, MemoryBudget, Observer, Partition,
    Report, Result, Seed, Status,
};
use consilience_num::reduce::ordered_chunks;
use ndarray::Array2;
use rayon::prelude::*;

use crate::qmi::MOST_RESTARTS;
use crate::{Ballots, Qmi};

/// Nodes per parallel chunk. Fixed, so that the result does not depend on the number of threads.
const CHUNK: usize = 1 << 12;
/// How much of the ensemble's own label frequencies is mixed into the first components, so that no
/// label is impossible before the first step.
const BLUR: f64 = 0.1;
/// The number of a label that is not there.
const NONE: u32 = u32::MAX;

/// The mixture model (MM): expectation maximisation for a mixture of multinomials over the members'
/// labels.
///
/// Each consensus cluster draws each member's label from a distribution of its own, independently:
/// soft, linear, no matching of labels, any numbers of clusters. Use it where memberships with a
/// likelihood behind them are wanted, on up to millions of objects; graph methods usually score
/// higher, since members are never independent.
///
/// The log-likelihood `sum_i s_i ln sum_c p_c prod_u q_uc(label_u(i))`, with the product over the
/// members that label i, never falls from one step to the next; that of the best start is the
/// objective. Starts are k-means clusterings of the labels ([`Qmi`]), a little blurred.
///
/// ```
/// use consilience_core::{ConsensusFunction, Ensemble, Partition};
/// use consilience_vote::MixtureModel;
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
/// # Ok::<(), consilience_core::Error>(())
/// ```
///
/// # Complexity
/// O(n M) for the microclusters, then O(n~ M k) per step; 4 n~ M + 8 n~ k + 8 C k bytes with C
/// clusters in the ensemble, and those of [`Qmi`] for the starts. Microclusters are exact: they
/// count with their sizes.
///
/// # Errors
/// [`ErrorKind::InvalidParameter`](consilience_core::ErrorKind::InvalidParameter) for k outside
/// `1..=n`, no restarts, no steps or a tolerance below 0,
/// [`ErrorKind::TooLarge`](consilience_core::ErrorKind::TooLarge) beyond the memory budget.
///
/// # References
/// Topchy, Jain, Punch 2004, "A Mixture Model for Clustering Ensembles"; 2005, "Clustering
/// Ensembles: Models of Consensus and Weak Partitions", Section 3. They start at random; we start
/// from k-means.
#[doc(alias = "MM")]
#[doc(alias = "EM")]
#[doc(alias = "latent_class_analysis")]
#[derive(Clone, Copy, Debug)]
pub struct MixtureModel {
    clusters: usize,
    restarts: usize,
    steps: usize,
    tolerance: f64,
    seed: Seed,
    budget: MemoryBudget,
}

impl MixtureModel {
    /// A mixture of k components; 5 restarts of at most 300 steps, tolerance 1e-8, seed 0.
    pub fn new(clusters: usize) -> Self {
        MixtureModel {
            clusters,
            restarts: 5,
            steps: 300,
            tolerance: 1e-8,
            seed: Seed(0),
            budget: MemoryBudget::default(),
        }
    }

    /// Starts, of which the one of largest likelihood is kept.
    pub fn restarts(mut self, restarts: usize) -> Self {
        self.restarts = restarts;
        self
    }

    /// Steps per start at most.
    pub fn max_iterations(mut self, steps: usize) -> Self {
        self.steps = steps;
        self
    }

    /// Stops where a step raises the log-likelihood by at most this share of itself.
    pub fn tolerance(mut self, tolerance: f64) -> Self {
        self.tolerance = tolerance;
        self
    }

    /// Seed of the starts.
    pub fn seed(mut self, seed: Seed) -> Self {
        self.seed = seed;
        self
    }

    /// How much memory the tables may take.
    pub fn memory_budget(mut self, budget: MemoryBudget) -> Self {
        self.budget = budget;
        self
    }

    /// The same method, giving the probabilities of the components.
    pub fn soft(self) -> SoftMixtureModel {
        SoftMixtureModel(self)
    }

    fn check(&self, ensemble: &Ensemble) -> Result<()> {
        ensemble.check_clusters(self.clusters)?;
        if self.restarts == 0 || self.restarts > MOST_RESTARTS {
            return Err(Error::invalid(format!(
                "{} restarts; expected 1..={MOST_RESTARTS}",
                self.restarts
            )));
        }
        if self.steps == 0 {
            return Err(Error::invalid("0 steps; expected at least 1"));
        }
        if !(self.tolerance >= 0.0) {
            return Err(Error::invalid(format!("tolerance {}; expected >= 0", self.tolerance)));
        }
        Ok(())
    }

    /// Probabilities of the components for each node, `None` where no object is labelled.
    fn nodes(
        &self,
        ensemble: &Ensemble,
        report: &mut Report,
        observer: &dyn Observer,
    ) -> Result<(Ballots, Option<Array2<f64>>)> {
        let ballots = report.stage("microclusters", || Ballots::of(ensemble, observer))?;
        let n = ballots.n_nodes();
        report.microclusters = Some(n);
        if n == 0 {
            observer.check()?;
            return Ok((ballots, None));
        }
        let k = self.clusters;
        self.budget.check_table("responsibilities", n, k, 16)?;
        let rows = LabelRows::new(&ballots);
        self.budget.check_table("mixture components", rows.labels(), k, 16)?;
        let start = std::time::Instant::now();
        let mut best: Option<Run> = None;
        for restart in 0..self.restarts {
            let qmi = Qmi::new(k)
                .restarts(1)
                .seed(self.seed.derive("mixture", restart as u64))
                .memory_budget(self.budget);
            let first = qmi.of_nodes(&ballots, observer)?.output;
            let run =
                expectation_maximisation(&rows, k, &first, self.steps, self.tolerance, observer)?;
            let last = |run: &Run| run.likelihoods.last().copied().unwrap_or(f64::NEG_INFINITY);
            if best.as_ref().is_none_or(|b| last(&run) > last(b)) {
                best = Some(run);
            }
        }
        report.stages.push(("mixture", start.elapsed()));
        Ok((
            ballots,
            best.map(|run| {
                report.status = if run.settled { Status::Solved } else { Status::MaxIterations };
                report.iterations = run.likelihoods.len();
                report.objective = run.likelihoods.last().copied();
                Array2::from_shape_vec((n, k), run.responsibilities).unwrap_or_default()
            }),
        ))
    }
}

impl ConsensusFunction for MixtureModel {
    type Output = Partition;

    fn name(&self) -> &str {
        "mm"
    }

    fn fit(&self, ensemble: &Ensemble, observer: &dyn Observer) -> Result<Fit<Partition>> {
        self.check(ensemble)?;
        let mut report = Report::default();
        let (ballots, nodes) = self.nodes(ensemble, &mut report, observer)?;
        let clusters: Vec<usize> =
            nodes.iter().flat_map(|z| z.rows()).map(|row| largest(&row.to_vec())).collect();
        let partition = ballots.grouping().expand(&clusters)?;
        report.expect_clusters(
            self.clusters,
            partition.n_clusters(),
            "the ensemble distinguishes no more objects",
        );
        Ok(Fit::new(partition, report))
    }
}

/// The [`MixtureModel`] with its probabilities of the components for each object; silent objects
/// are uniform with evidence 0.
///
/// # Errors
/// As [`MixtureModel`].
#[derive(Clone, Copy, Debug)]
pub struct SoftMixtureModel(MixtureModel);

impl ConsensusFunction for SoftMixtureModel {
    type Output = Memberships;

    fn name(&self) -> &str {
        "mm"
    }

    fn fit(&self, ensemble: &Ensemble, observer: &dyn Observer) -> Result<Fit<Memberships>> {
        let SoftMixtureModel(mixture) = self;
        mixture.check(ensemble)?;
        mixture.budget.check_table("memberships", ensemble.n_objects(), mixture.clusters, 8)?;
        let mut report = Report::default();
        let (ballots, nodes) = mixture.nodes(ensemble, &mut report, observer)?;
        report.expect_clusters(
            mixture.clusters,
            nodes.as_ref().map_or(0, hard_clusters),
            "the ensemble distinguishes no more objects",
        );
        let nodes = nodes.unwrap_or_else(|| Array2::zeros((0, mixture.clusters)));
        Ok(Fit::new(ballots.memberships(nodes.view(), mixture.clusters)?, report))
    }
}

/// The first largest entry.
fn largest(row: &[f64]) -> usize {
    (1..row.len()).fold(0, |b, c| if row[c] > row[b] { c } else { b })
}

/// Components that are the most probable of some node.
fn hard_clusters(z: &Array2<f64>) -> usize {
    let mut used = vec![false; z.ncols()];
    for row in z.rows() {
        used[largest(&row.to_vec())] = true;
    }
    used.iter().filter(|&&u| u).count()
}

/// The labels of all nodes row by row, numbered through over the members.
struct LabelRows {
    /// One label per member and node, [`NONE`] where the member is silent.
    labels: Vec<u32>,
    members: usize,
    /// First label of each member, and the number of all labels at the end.
    first: Vec<usize>,
    weights: Vec<f64>,
}

impl LabelRows {
    fn new(ballots: &Ballots) -> Self {
        let members = ballots.members().len();
        let mut labels = vec![NONE; ballots.n_nodes() * members];
        let mut first = vec![0];
        for (u, member) in ballots.members().iter().enumerate() {
            for (i, label) in member.iter().enumerate() {
                if let Some(l) = label {
                    labels[i * members + u] = (first[u] + l) as u32;
                }
            }
            first.push(first[u] + member.n_clusters());
        }
        LabelRows { labels, members, first, weights: ballots.weights().to_vec() }
    }

    fn nodes(&self) -> usize {
        self.weights.len()
    }

    fn labels(&self) -> usize {
        self.first[self.members]
    }

    fn of(&self, node: usize) -> impl Iterator<Item = usize> + '_ {
        let row = &self.labels[node * self.members..(node + 1) * self.members];
        row.iter().filter(|&&l| l != NONE).map(|&l| l as usize)
    }
}

/// One start from beginning to end.
struct Run {
    /// Probability of each component for each node, row by row.
    responsibilities: Vec<f64>,
    /// Log-likelihood of the components behind each expectation step, in order.
    likelihoods: Vec<f64>,
    settled: bool,
}

/// Components: logarithms of their shares and of their label probabilities (label by label, k
/// each).
struct Components {
    shares: Vec<f64>,
    labels: Vec<f64>,
}

fn expectation_maximisation(
    rows: &LabelRows,
    k: usize,
    first: &[usize],
    steps: usize,
    tolerance: f64,
    observer: &dyn Observer,
) -> Result<Run> {
    let mut z = vec![0.0; rows.nodes() * k];
    for (row, &c) in z.chunks_exact_mut(k).zip(first) {
        row[c] = 1.0;
    }
    let mut components = maximise(rows, k, &z, BLUR);
    let mut run = Run { responsibilities: Vec::new(), likelihoods: Vec::new(), settled: false };
    for step in 0..steps {
        observer.check()?;
        observer.progress("mixture", step, steps);
        let value = expect(rows, k, &components, &mut z);
        let before = run.likelihoods.last().copied();
        run.likelihoods.push(value);
        if before.is_some_and(|b| !(value - b > tolerance * value.abs())) {
            run.settled = true;
            break;
        }
        if step + 1 < steps {
            components = maximise(rows, k, &z, 0.0);
        }
    }
    run.responsibilities = z;
    Ok(run)
}

/// Fills in the responsibilities and returns the log-likelihood.
fn expect(rows: &LabelRows, k: usize, components: &Components, z: &mut [f64]) -> f64 {
    let parts: Vec<f64> = z
        .par_chunks_mut(CHUNK * k)
        .enumerate()
        .map(|(chunk, z)| {
            let mut total = 0.0;
            for (r, row) in z.chunks_exact_mut(k).enumerate() {
                let node = chunk * CHUNK + r;
                row.copy_from_slice(&components.shares);
                for l in rows.of(node) {
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
                total += rows.weights[node] * (top + sum.ln());
            }
            total
        })
        .collect();
    parts.iter().sum()
}

/// The most likely components of given responsibilities, mixed with a share `blur` of the
/// ensemble's own label frequencies.
fn maximise(rows: &LabelRows, k: usize, z: &[f64], blur: f64) -> Components {
    let labels = rows.labels();
    let part = |range: std::ops::Range<usize>| {
        let mut mass = vec![0.0; k + labels * k];
        for i in range {
            let weight = rows.weights[i];
            let z = &z[i * k..(i + 1) * k];
            let (shares, of_label) = mass.split_at_mut(k);
            let add = |out: &mut [f64]| out.iter_mut().zip(z).for_each(|(o, z)| *o += weight * z);
            add(shares);
            for l in rows.of(i) {
                add(&mut of_label[l * k..(l + 1) * k]);
            }
        }
        mass
    };
    let mut mass =
        ordered_chunks(rows.nodes(), CHUNK, part, vec![0.0; k + labels * k], |mut total, part| {
            total.iter_mut().zip(part).for_each(|(t, p)| *t += p);
            total
        });
    let mut probabilities = mass.split_off(k);
    let shares = mass;
    let all: f64 = shares.iter().sum();
    for u in 0..rows.members {
        let block = &mut probabilities[rows.first[u] * k..rows.first[u + 1] * k];
        let mut voices = vec![0.0; k];
        for row in block.chunks_exact(k) {
            voices.iter_mut().zip(row).for_each(|(t, v)| *t += v);
        }
        let heard: f64 = voices.iter().sum();
        for row in block.chunks_exact_mut(k) {
            let overall = row.iter().sum::<f64>() / heard;
            for (v, &voices) in row.iter_mut().zip(&voices) {
                // A component of which the member says nothing draws as the ensemble does.
                let own = if voices > 0.0 { *v / voices } else { overall };
                *v = ((1.0 - blur) * own + blur * overall).ln();
            }
        }
    }
    let even = blur / k as f64;
    Components {
        shares: shares.iter().map(|s| ((1.0 - blur) * s / all + even).ln()).collect(),
        labels: probabilities,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use consilience_conformance::planted;
    use consilience_graph::Microclusters;

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
            let rows = LabelRows::new(&Ballots::from(&micro));
            let mut stream = Seed(seed).stream();
            let first: Vec<usize> = (0..micro.n_nodes()).map(|_| stream.below(3)).collect();
            let of_object: Vec<usize> =
                micro.grouping().of_object().iter().map(|&g| first[g as usize]).collect();
            let steps = 25;
            let run = expectation_maximisation(&rows, 3, &first, steps, 0.0, &()).unwrap();
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
        for bad in [m.restarts(0), m.max_iterations(0), m.tolerance(f64::NAN), m.tolerance(-1.0)] {
            assert_eq!(
                bad.fit(&e, &()).unwrap_err().kind(),
                consilience_core::ErrorKind::InvalidParameter
            );
        }
    }
}
