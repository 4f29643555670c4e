use consilience_core::{
    Accepts, Clusters, Ensemble, MemoryBudget, Microclusters, NodeConsensus, Observer, Partition,
    Report, Result, Seed, Status, check_restarts, room, sizes_in_lowest_terms,
};
use consilience_num::kmeans::KMeansOptions;
use consilience_num::kmeans::sparse::{self, ScaledRows};
use sprs::CsMat;

use super::{Ballots, number};

/// The quadratic mutual information consensus (QMI): k-means on the centred one-hot labels.
///
/// The partition that maximizes the generalized (quadratic) mutual information with the members is
/// the one that minimizes the inertia of the label rows, each label written as an indicator and
/// each indicator column centred. Fast, linear in n~, and a good start for other methods. Use it
/// where the members have about the number of clusters asked for; where they have many more,
/// methods on graphs do better.
///
/// With `x_i` the centred indicators of node i and `s_i` its objects, k-means minimizes
/// `sum_i s_i |x_i - mean of its cluster|^2`; a member that does not label a node contributes the
/// mean, 0.
///
/// ```
/// use consilience::{ConsensusFunction, Ensemble, Partition};
/// use consilience::consensus::Qmi;
///
/// let ensemble = Ensemble::new(vec![
///     Partition::from_labels(&[0, 0, 0, 1, 1, 1])?,
///     Partition::from_labels(&[0, 0, 1, 1, 1, 1])?,
///     Partition::from_labels(&[0, 0, 0, 2, 1, 1])?,
/// ])?;
/// assert_eq!(Qmi::new(2).consensus(&ensemble)?.to_signed(), vec![0, 0, 0, 1, 1, 1]);
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Complexity
/// O(n M) for the microclusters, then O(n~ k M) per iteration of k-means and 16 n~ M bytes; a
/// missing label takes as much as all clusters of the member. Microclusters are exact: the inertia
/// is that of the objects.
///
/// # Errors
/// [`ErrorKind::InvalidParameter`](consilience_core::ErrorKind::InvalidParameter) for anything but
/// a number of clusters in `1..=n`, or no restarts;
/// [`ErrorKind::TooLarge`](consilience_core::ErrorKind::TooLarge) beyond the memory budget.
///
/// # References
/// Topchy, Jain, Punch 2003, "Combining Multiple Weak Clusterings"; again in their paper of 2005,
/// "Clustering Ensembles: Models of Consensus and Weak Partitions", Section 4. The mean in place of
/// a missing label is ours.
#[doc(alias = "QMI")]
#[derive(Clone, Copy, Debug)]
pub struct Qmi {
    clusters: Clusters,
    restarts: usize,
    seed: Seed,
    budget: MemoryBudget,
}

impl Qmi {
    /// QMI into so many clusters; a number is expected.
    pub fn new(clusters: impl Into<Clusters>) -> Self {
        Qmi {
            clusters: clusters.into(),
            restarts: 10,
            seed: Seed(0),
            budget: MemoryBudget::default(),
        }
    }

    consilience_core::setters! {
        /// k-means starts, of which the one of least inertia is kept. Default 10; 1 to 10,000.
        pub fn restarts(mut self, restarts: usize) { self.restarts = restarts }

        /// Seed of the starts. Default 0.
        pub fn seed(mut self, seed: Seed) { self.seed = seed }

        /// How much memory the indicators may take. Default 8 GiB.
        pub fn memory_budget(mut self, budget: MemoryBudget) { self.budget = budget }
    }

    /// Refuses parameters out of range.
    pub(crate) fn check(&self) -> Result<()> {
        number(self.clusters, "QMI")?;
        check_restarts(self.restarts)
    }

    /// Cluster of each node; how k-means ended goes to the report.
    pub(crate) fn of_nodes(
        &self,
        ballots: &Ballots,
        report: &mut Report,
        observer: &dyn Observer,
    ) -> Result<Vec<usize>> {
        let clusters = number(self.clusters, "QMI")?.min(ballots.n_nodes());
        let labels: usize = (0..ballots.members().len()).map(|u| ballots.n_clusters(u)).sum();
        // The centres and the sums of the next ones.
        self.budget.check_table("centres of label indicators", labels, clusters, 16)?;
        let x = self.indicators(ballots, observer)?;
        let options =
            KMeansOptions::new(clusters).restarts(self.restarts).seed(self.seed.derive("qmi", 0));
        let rows = ScaledRows::new(&x)?;
        observer.check()?;
        // Neither how objects are counted nor how members are shows in the clusters.
        let (sizes, objects) = sizes_in_lowest_terms(ballots.weights())?;
        let fit = sparse::fit(&rows, Some(&*sizes), &options, observer)?;
        report.status = if fit.converged { Status::Solved } else { Status::MaxIterations };
        report.iterations = fit.iterations;
        report.objective = Some(fit.inertia * objects * ballots.unit());
        Ok(fit.assignment.into_iter().map(|c| c as usize).collect())
    }

    /// The indicators of the nodes; the mean where a member has no label. Centred they would be as
    /// far apart, but have no zeros.
    fn indicators(&self, ballots: &Ballots, observer: &dyn Observer) -> Result<CsMat<f64>> {
        let n = ballots.n_nodes();
        let mut starts = room::zeros(n + 1)?;
        for u in 0..ballots.members().len() {
            observer.check()?;
            let filled = filled(ballots, u)?;
            starts.iter_mut().skip(1).zip(filled).for_each(|(start, count)| *start += count);
        }
        for i in 0..n {
            starts[i + 1] += starts[i];
        }
        self.budget.check_table("label indicators", starts[n], 1, ENTRY)?;
        let (mut columns, mut values) = (room::zeros(starts[n])?, room::zeros(starts[n])?);
        let mut next = room::copied(&starts)?;
        let mut put = |i: usize, column: usize, value: f64| {
            (columns[next[i]], values[next[i]]) = (column, value);
            next[i] += 1;
        };
        let mut first = 0;
        for (u, member) in ballots.members().iter().enumerate() {
            observer.check()?;
            let mut share = vec![0.0; ballots.n_clusters(u)];
            ballots.each_vote(u, |i, l, p| share[l] += ballots.weights()[i] * p);
            let labelled: f64 = share.iter().sum();
            // Squared distances count a member as often as its weight says.
            let scale = ballots.count(u).sqrt();
            ballots.each_vote(u, |i, l, p| put(i, first + l, scale * p));
            for (i, _) in member.iter().enumerate().filter(|(_, label)| label.is_none()) {
                for (l, share) in share.iter().enumerate() {
                    put(i, first + l, scale * (share / labelled));
                }
            }
            first += share.len();
        }
        Ok(CsMat::new((n, first), starts, columns, values))
    }
}

/// How many entries a member gives each node.
fn filled(ballots: &Ballots, member: usize) -> Result<Vec<usize>> {
    let mut filled = room::zeros(ballots.n_nodes())?;
    ballots.each_vote(member, |i, _, _| filled[i] += 1);
    let labels = ballots.members()[member].iter();
    for (filled, _) in filled.iter_mut().zip(labels).filter(|(_, label)| label.is_none()) {
        *filled = ballots.n_clusters(member);
    }
    Ok(filled)
}

/// Bytes of an entry: its column and its value.
const ENTRY: usize = 16;

impl NodeConsensus for Qmi {
    type Output = Partition;

    fn name(&self) -> &str {
        "qmi"
    }

    fn clusters(&self) -> Clusters {
        self.clusters
    }

    fn accepts(&self) -> Accepts {
        Accepts::ALL
    }

    fn check(&self, _: &Ensemble) -> Result<()> {
        self.check()
    }

    fn solve(
        &self,
        nodes: &Microclusters,
        report: &mut Report,
        observer: &dyn Observer,
    ) -> Result<Vec<usize>> {
        let ballots = Ballots::from(nodes);
        report.inner_stage("partition", |inner| self.of_nodes(&ballots, inner, observer))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use consilience_conformance::planted;
    use consilience_core::ConsensusFunction;

    /// The inertia of a partition of the objects, straight from the definition.
    fn inertia(ensemble: &Ensemble, clusters: &Partition) -> f64 {
        let n = ensemble.n_objects();
        let mut total = 0.0;
        for member in ensemble.members() {
            let labelled = member.n_labelled() as f64;
            for l in 0..member.n_clusters() {
                let share = member.sizes()[l] as f64 / labelled;
                let x: Vec<f64> = (0..n)
                    .map(|i| match member.label(i) {
                        None => 0.0,
                        Some(own) => f64::from(u8::from(own == l)) - share,
                    })
                    .collect();
                for c in 0..clusters.n_clusters() {
                    let own: Vec<f64> =
                        (0..n).filter(|&i| clusters.label(i) == Some(c)).map(|i| x[i]).collect();
                    let mean = own.iter().sum::<f64>() / own.len() as f64;
                    total += own.iter().map(|v| (v - mean).powi(2)).sum::<f64>();
                }
            }
        }
        total
    }

    #[test]
    fn the_objective_is_the_inertia_of_the_objects() {
        for (seed, missing) in [(1, 0.0), (2, 0.3), (3, 0.0), (4, 0.2)] {
            let world = planted(Seed(seed), &[30, 20, 9], 6, 0.25, missing).unwrap();
            let fit = Qmi::new(3).seed(Seed(seed)).fit(&world.ensemble, &()).unwrap();
            let expected = inertia(&world.ensemble, &fit.output);
            let found = fit.report.objective.unwrap();
            assert!((found - expected).abs() < 1e-9 * expected, "{found} {expected}");
            // No object alone can be moved for the better.
            let labels: Vec<i64> = fit.output.to_signed();
            for i in 0..labels.len() {
                for c in 0..3 {
                    let mut moved = labels.clone();
                    moved[i] = c;
                    let moved = Partition::from_labels(&moved).unwrap();
                    if moved.n_clusters() == 3 {
                        // Lloyd's fixed point is not optimal under single moves to the last digit:
                        // a move may gain by shifting the means. It never gains more than the
                        // means' own shift.
                        assert!(inertia(&world.ensemble, &moved) > expected * (1.0 - 0.02));
                    }
                }
            }
        }
    }

    #[test]
    fn bad_parameters_are_refused() {
        let e = planted(Seed(0), &[3, 3], 2, 0.0, 0.0).unwrap().ensemble;
        assert!(Qmi::new(2).restarts(0).fit(&e, &()).is_err());
        let small = Qmi::new(2).memory_budget(MemoryBudget::bytes(8)).fit(&e, &()).unwrap_err();
        assert_eq!(small.kind(), consilience_core::ErrorKind::TooLarge);
    }
}
