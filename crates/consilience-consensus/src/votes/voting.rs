use consilience_core::scores::{Normalizer, weighted_nmi};
use consilience_core::{
    Accepts, Clusters, Ensemble, MemoryBudget, Microclusters, NodeConsensus, Observer, Partition,
    Report, Result, Seed, Status, ensure, room,
};
use consilience_num::assignment::max_assignment;
use ndarray::{Array2, ArrayView1};

use super::ballots::{Ballots, indicator};
use super::{Qmi, number};

/// Default of the rounds of alignment and counting at most.
pub(crate) const ROUNDS: usize = 100;

/// Label voting: the members' labels are matched to a reference, then each object goes where most
/// members put it; the outcome is the next reference, until it stays.
///
/// Simple, linear and easy to explain: use it where the members have about the number of clusters
/// asked for. Where they have many more, most of their distinctions are lost in the matching, and
/// methods on the co-association or its graphs do better.
///
/// Member u agrees with the reference by `sum_i s_i [map_u(label_u(i)) = reference(i)]`. Its
/// clusters are mapped one-to-one so that this is largest (Hungarian method); clusters left over,
/// where it has more than k, go to the reference cluster with which they share most objects, the
/// lower of equals. Among the labels with most votes an object keeps the one it has, else takes the
/// lowest. The rounds stop when the total agreement no longer rises.
///
/// A member of memberships votes for each cluster as far as an object belongs to it, and for the
/// medoid with its most probable clusters; a member votes as often as its weight says.
///
/// The first reference is the medoid: the member of k clusters with the largest mean NMI with all
/// members; where none has k clusters, that of [`Qmi`]. Neither depends on the order of the
/// members.
///
/// ```
/// use consilience::{ConsensusFunction, Ensemble, Partition};
/// use consilience::consensus::Voting;
///
/// let ensemble = Ensemble::new(vec![
///     Partition::from_labels(&[0, 0, 1, 1, 2, 2])?,
///     Partition::from_labels(&[2, 2, 0, 0, 1, 0])?,
///     Partition::from_labels(&[1, 1, 2, 1, 0, 0])?,
/// ])?;
/// assert_eq!(Voting::new(3).consensus(&ensemble)?.to_signed(), vec![0, 0, 1, 1, 2, 2]);
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Complexity
/// O(n M) for the microclusters, O(n~ M^2) for the medoid, then O(n~ M k + M k^3) per round.
///
/// # Errors
/// [`ErrorKind::InvalidParameter`](consilience_core::ErrorKind::InvalidParameter) for anything but
/// a number of clusters in `1..=n`, or no iterations;
/// [`ErrorKind::TooLarge`](consilience_core::ErrorKind::TooLarge) beyond the memory budget.
///
/// # References
/// Dimitriadou, Weingessel, Hornik 2002, "A Combination Scheme for Fuzzy Clustering"; Fischer,
/// Buhmann 2003, "Bagging for Path-Based Clustering". Theirs align to the members before in order;
/// the medoid and the repetition make ours independent of it.
#[doc(alias = "majority vote")]
#[doc(alias = "label correspondence")]
#[doc(alias = "majority_vote")]
#[doc(alias = "relabelling")]
#[derive(Clone, Copy, Debug)]
pub struct Voting {
    clusters: Clusters,
    start: Qmi,
    max_iterations: usize,
    budget: MemoryBudget,
}

impl Voting {
    /// Voting into so many clusters; a number is expected.
    pub fn new(clusters: impl Into<Clusters>) -> Self {
        let clusters = clusters.into();
        Voting {
            clusters,
            start: Qmi::new(clusters),
            max_iterations: ROUNDS,
            budget: MemoryBudget::default(),
        }
    }

    consilience_core::setters! {
        /// Seed of the first reference, where no member has k clusters. Default 0.
        pub fn seed(mut self, seed: Seed) { self.start = self.start.seed(seed) }

        /// Rounds of alignment and counting at most. Default 100; at least 1.
        pub fn max_iterations(mut self, rounds: usize) { self.max_iterations = rounds }

        /// How much memory the votes may take. Default 8 GiB.
        pub fn memory_budget(mut self, budget: MemoryBudget) {
            self.budget = budget;
            self.start = self.start.memory_budget(budget)
        }
    }

    /// The final reference over the nodes; the objective is the agreement per vote.
    fn rounds(
        &self,
        ballots: &Ballots,
        report: &mut Report,
        observer: &dyn Observer,
    ) -> Result<Vec<usize>> {
        let k = number(self.clusters, "voting")?;
        self.budget.check_table("votes", ballots.n_nodes(), k, 16)?;
        let mut reference = first_reference(&self.start, k, ballots, observer)?;
        report.status = Status::MaxIterations;
        let mut best = f64::NEG_INFINITY;
        for round in 0..self.max_iterations {
            observer.check()?;
            observer.progress("votes", round, self.max_iterations);
            let votes = count(ballots, &reference, k, observer)?;
            let rows = votes.rows().into_iter().zip(&reference);
            let next: Vec<usize> = rows.map(|(row, &now)| winner(row, now)).collect();
            // Agreement of the aligned members with the reference that they made: it bounds the
            // next round from below except for clusters left over, so it is compared.
            let rows = votes.rows().into_iter().zip(&next).zip(ballots.weights());
            let agreement: f64 = rows.map(|((row, &c), weight)| weight * row[c]).sum();
            report.iterations = round + 1;
            if !(agreement > best) {
                report.status = Status::Solved;
                break;
            }
            best = agreement;
            let settled = next == reference;
            reference = next;
            if settled {
                report.status = Status::Solved;
                break;
            }
        }
        report.objective = Some(best / all_votes(ballots));
        Ok(reference)
    }
}

impl NodeConsensus for Voting {
    type Output = Partition;

    fn name(&self) -> &str {
        "voting"
    }

    fn clusters(&self) -> Clusters {
        self.clusters
    }

    fn accepts(&self) -> Accepts {
        Accepts::ALL
    }

    fn check(&self, _: &Ensemble) -> Result<()> {
        number(self.clusters, "voting")?;
        self.start.check()?;
        ensure!(self.max_iterations > 0, invalid("max_iterations 0; expected at least 1"));
        Ok(())
    }

    fn solve(
        &self,
        nodes: &Microclusters,
        report: &mut Report,
        observer: &dyn Observer,
    ) -> Result<Vec<usize>> {
        let mut inner = Report::default();
        let ballots = Ballots::from(nodes);
        let clusters = report.stage("votes", || self.rounds(&ballots, &mut inner, observer))?;
        report.adopt(inner);
        Ok(clusters)
    }
}

/// Objects that the members label, in all.
fn all_votes(ballots: &Ballots) -> f64 {
    let of_member = |(u, m): (usize, &Partition)| -> f64 {
        let labelled = m.iter().zip(ballots.weights()).filter(|(l, _)| l.is_some());
        ballots.count(u) * labelled.map(|(_, w)| w).sum::<f64>()
    };
    ballots.members().iter().enumerate().map(of_member).sum()
}

/// The medoid among the members of k clusters, else what QMI makes of k. Members are sorted, so
/// that the first of equals does not depend on the order they came in.
pub(crate) fn first_reference(
    qmi: &Qmi,
    k: usize,
    ballots: &Ballots,
    observer: &dyn Observer,
) -> Result<Vec<usize>> {
    let whole = |m: &&Partition| m.n_clusters() == k && m.is_complete();
    let candidates: Vec<&Partition> = ballots.members().iter().filter(whole).collect();
    if candidates.is_empty() {
        return qmi.of_nodes(ballots, &mut Report::default(), observer);
    }
    let mut best: Option<(&Partition, f64)> = None;
    for member in candidates {
        observer.check()?;
        let shared = |(u, m)| {
            let nmi = weighted_nmi(member, m, ballots.weights(), Normalizer::Sqrt);
            nmi.map(|nmi| nmi * ballots.count(u))
        };
        let sum: f64 = ballots.members().iter().enumerate().filter_map(shared).sum();
        if best.is_none_or(|(_, b)| sum > b) {
            best = Some((member, sum));
        }
    }
    Ok(best.map(|(member, _)| member.iter().flatten().collect()).unwrap_or_default())
}

/// Votes of the aligned members: nodes in rows, clusters of the reference in columns.
fn count(
    ballots: &Ballots,
    reference: &[usize],
    k: usize,
    observer: &dyn Observer,
) -> Result<Array2<f64>> {
    let soft = indicator(reference, k)?;
    let mut votes = room::table(ballots.n_nodes(), k)?;
    for member in 0..ballots.members().len() {
        observer.check()?;
        let shared = ballots.overlap(member, soft.view());
        let mut matched = max_assignment(shared.view());
        for (cluster, row) in matched.iter_mut().zip(shared.rows()) {
            cluster
                .get_or_insert_with(|| (1..k).fold(0, |b, c| if row[c] > row[b] { c } else { b }));
        }
        let count = ballots.count(member);
        ballots.each_vote(member, |i, l, p| {
            if let Some(c) = matched[l] {
                votes[[i, c]] += count * p;
            }
        });
    }
    Ok(votes)
}

/// The label with most votes: the present one if it is among them, else the lowest.
fn winner(votes: ArrayView1<'_, f64>, now: usize) -> usize {
    (0..votes.len()).fold(now, |b, c| if votes[c] > votes[b] { c } else { b })
}

#[cfg(test)]
mod tests {
    use super::*;
    use consilience_core::ConsensusFunction;
    use ndarray::array;

    #[test]
    fn ties_keep_what_is_and_then_take_the_lowest() {
        assert_eq!(winner(array![1.0, 2.0, 2.0].view(), 2), 2);
        assert_eq!(winner(array![1.0, 2.0, 2.0].view(), 0), 1);
        assert_eq!(winner(array![0.0, 0.0].view(), 1), 1);
    }

    #[test]
    fn members_with_more_clusters_vote_with_all_of_them() {
        // Member 1 splits the first half in two: both halves count for cluster 0.
        let e = Ensemble::from_array(
            array![[0, 0, 0], [0, 0, 0], [0, 1, 0], [1, 2, 1], [1, 2, 1], [1, 2, 0]].view(),
        )
        .unwrap();
        let fit = Voting::new(2).fit(&e, &()).unwrap();
        assert_eq!(fit.output.to_signed(), vec![0, 0, 0, 1, 1, 1]);
        assert_eq!(fit.report.objective, Some(17.0 / 18.0));
        assert_eq!(fit.report.status, Status::Solved);
    }

    #[test]
    fn no_iterations_are_refused() {
        let e = Ensemble::from_array(array![[0], [1]].view()).unwrap();
        assert!(Voting::new(2).max_iterations(0).fit(&e, &()).is_err());
    }
}
