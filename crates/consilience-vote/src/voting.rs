use consilience_core::scores::Normalizer;
use consilience_core::{
    ConsensusFunction, Ensemble, Error, Fit, MemoryBudget, Observer, Partition, Report, Result,
    Seed, Status,
};
use ndarray::{Array2, ArrayView1};

use crate::ballots::{Ballots, indicator};
use crate::{Qmi, weighted_nmi};

/// Rounds of alignment and counting at most, unless said otherwise.
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
/// The first reference is the medoid: the member of k clusters with the largest mean NMI with all
/// members; where none has k clusters, that of [`Qmi`]. Member order leaves no trace in either.
///
/// ```
/// use consilience_core::{ConsensusFunction, Ensemble, Partition};
/// use consilience_vote::Voting;
///
/// let ensemble = Ensemble::new(vec![
///     Partition::from_labels(&[0, 0, 1, 1, 2, 2])?,
///     Partition::from_labels(&[2, 2, 0, 0, 1, 0])?,
///     Partition::from_labels(&[1, 1, 2, 1, 0, 0])?,
/// ])?;
/// assert_eq!(Voting::new(3).consensus(&ensemble)?.to_signed(), vec![0, 0, 1, 1, 2, 2]);
/// # Ok::<(), consilience_core::Error>(())
/// ```
///
/// # Complexity
/// O(n M) for the microclusters, O(n~ M^2) for the medoid, then O(n~ M k + M k^3) per round.
///
/// # Errors
/// [`ErrorKind::InvalidParameter`](consilience_core::ErrorKind::InvalidParameter) for k outside
/// `1..=n`.
///
/// # References
/// Dimitriadou, Weingessel, Hornik 2002, "A Combination Scheme for Fuzzy Clustering"; Fischer,
/// Buhmann 2003, "Bagging for Path-Based Clustering". Theirs align to the members before in order;
/// the medoid and the repetition make ours independent of it.
#[doc(alias = "majority_vote")]
#[doc(alias = "relabelling")]
#[derive(Clone, Copy, Debug)]
pub struct Voting {
    clusters: usize,
    start: Qmi,
    rounds: usize,
    budget: MemoryBudget,
}

impl Voting {
    /// Voting into k clusters; at most 100 rounds, seed 0.
    pub fn new(clusters: usize) -> Self {
        Voting {
            clusters,
            start: Qmi::new(clusters),
            rounds: ROUNDS,
            budget: MemoryBudget::default(),
        }
    }

    /// Seed of the first reference, where no member has k clusters.
    pub fn seed(mut self, seed: Seed) -> Self {
        self.start = self.start.seed(seed);
        self
    }

    /// Rounds of alignment and counting at most.
    pub fn max_rounds(mut self, rounds: usize) -> Self {
        self.rounds = rounds;
        self
    }

    /// How much memory the votes may take.
    pub fn memory_budget(mut self, budget: MemoryBudget) -> Self {
        self.budget = budget;
        self.start = self.start.memory_budget(budget);
        self
    }

    /// The final reference over the nodes; objective is the agreement per vote.
    fn elect(&self, ballots: &Ballots, observer: &dyn Observer) -> Result<Fit<Vec<usize>>> {
        let (nodes, k) = (ballots.n_nodes(), self.clusters);
        self.budget.check_table("votes", nodes, k, 16)?;
        let mut report = Report::default();
        report.status = Status::MaxIterations;
        let mut reference = first_reference(&self.start, k, ballots, observer)?;
        let mut best = f64::NEG_INFINITY;
        for round in 0..self.rounds {
            observer.check()?;
            observer.progress("votes", round, self.rounds);
            let votes = count(ballots, &reference, k);
            let next: Vec<usize> = votes
                .rows()
                .into_iter()
                .zip(&reference)
                .map(|(row, &now)| winner(row, now))
                .collect();
            // Agreement of the aligned members with what they elected: it bounds the next round
            // from below but for left over clusters, so that it is compared and not trusted.
            let agreement: f64 = votes
                .rows()
                .into_iter()
                .zip(&next)
                .zip(ballots.weights())
                .map(|((row, &c), weight)| weight * row[c])
                .sum();
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
        let voices: f64 = ballots
            .members()
            .iter()
            .map(|m| {
                m.iter()
                    .zip(ballots.weights())
                    .filter(|(l, _)| l.is_some())
                    .map(|(_, w)| w)
                    .sum::<f64>()
            })
            .sum();
        report.objective = Some(best / voices);
        Ok(Fit::new(reference, report))
    }
}

impl ConsensusFunction for Voting {
    type Output = Partition;

    fn name(&self) -> &str {
        "voting"
    }

    fn fit(&self, ensemble: &Ensemble, observer: &dyn Observer) -> Result<Fit<Partition>> {
        self.start.check(ensemble)?;
        if self.rounds == 0 {
            return Err(Error::invalid("0 rounds of voting; expected at least 1"));
        }
        let mut report = Report::default();
        let ballots = report.stage("microclusters", || Ballots::of(ensemble, observer))?;
        report.microclusters = Some(ballots.n_nodes());
        let clusters = if ballots.n_nodes() == 0 {
            observer.check()?;
            Vec::new()
        } else {
            let fit = report.stage("votes", || self.elect(&ballots, observer))?;
            report.status = fit.report.status;
            report.iterations = fit.report.iterations;
            report.objective = fit.report.objective;
            fit.output
        };
        let partition = ballots.grouping().expand(&clusters)?;
        report.expect_clusters(
            self.clusters,
            partition.n_clusters(),
            "the ensemble distinguishes no more objects",
        );
        Ok(Fit::new(partition, report))
    }
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
        return Ok(qmi.of_nodes(ballots, observer)?.output);
    }
    let mut best: Option<(&Partition, f64)> = None;
    for member in candidates {
        observer.check()?;
        let shared = |m| weighted_nmi(member, m, ballots.weights(), Normalizer::Sqrt);
        let sum: f64 = ballots.members().iter().filter_map(shared).sum();
        if best.is_none_or(|(_, b)| sum > b) {
            best = Some((member, sum));
        }
    }
    Ok(best.map(|(member, _)| member.iter().flatten().collect()).unwrap_or_default())
}

/// Votes of the aligned members: nodes in rows, clusters of the reference in columns.
fn count(ballots: &Ballots, reference: &[usize], k: usize) -> Array2<f64> {
    let soft = indicator(reference, k);
    let mut votes = Array2::zeros((ballots.n_nodes(), k));
    for member in ballots.members() {
        let shared = ballots.overlap(member, soft.view());
        let mut means = consilience_num::assignment::max_assignment(shared.view());
        for (mean, row) in means.iter_mut().zip(shared.rows()) {
            if mean.is_none() {
                *mean = Some((1..k).fold(0, |b, c| if row[c] > row[b] { c } else { b }));
            }
        }
        for (i, label) in member.iter().enumerate() {
            if let Some(c) = label.and_then(|l| means[l]) {
                votes[[i, c]] += 1.0;
            }
        }
    }
    votes
}

/// The label with most votes: the present one if it is among them, else the lowest.
fn winner(votes: ArrayView1<'_, f64>, now: usize) -> usize {
    (0..votes.len()).fold(now, |b, c| if votes[c] > votes[b] { c } else { b })
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    #[test]
    fn ties_keep_what_is_and_then_take_the_lowest() {
        assert_eq!(winner(array![1.0, 2.0, 2.0].view(), 2), 2);
        assert_eq!(winner(array![1.0, 2.0, 2.0].view(), 0), 1);
        assert_eq!(winner(array![0.0, 0.0].view(), 1), 1);
    }

    #[test]
    fn members_with_more_clusters_vote_with_all_of_them() {
        // Member 1 splits the first half in two: both halves mean cluster 0.
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
    fn no_rounds_are_refused() {
        let e = Ensemble::from_array(array![[0], [1]].view()).unwrap();
        assert!(Voting::new(2).max_rounds(0).fit(&e, &()).is_err());
    }
}
