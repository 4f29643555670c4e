use consilience_core::scores::{Normalizer, nmi_of_cells, weighted_nmi};
use consilience_core::{
    Accepts, Clusters, Ensemble, LabelInt, MemoryBudget, Microclusters, NodeConsensus, Observer,
    Partition, Report, Result, Seed, Status, ensure, room, with_labels,
};
use consilience_num::assignment::max_assignment;
use ndarray::{Array2, ArrayView1};
use rayon::prelude::*;

use super::ballots::{Ballots, indicator};
use super::{Qmi, number};

/// Default of the rounds of alignment and counting at most.
pub(crate) const ROUNDS: usize = 100;
/// Tables of pairs of clusters up to this many entries are kept from one comparison of members to
/// the next.
const TABLE: usize = 1 << 16;

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
/// The first reference is the medoid: of the members of k clusters that label all objects (of those
/// that any member labels) the one with the largest mean NMI with all members. Where none does, it
/// is the member of k clusters with the largest mean NMI times the share of the objects that it
/// labels, and only these count in the first matching; where no member has k clusters, it is what
/// [`Qmi`] finds. None of them depends on the order of the members.
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
/// O(n M) for the microclusters, O(n~ d c) for the medoid, where d members differ and c of them
/// have k clusters, in parallel, then O(n~ M k + M k^3) per round.
///
/// # Errors
/// [`ErrorKind::InvalidParameter`](consilience_core::ErrorKind::InvalidParameter) for anything but
/// a number of clusters in `1..=n`, or no iterations;
/// [`ErrorKind::TooLarge`](consilience_core::ErrorKind::TooLarge) beyond the memory budget.
///
/// # References
/// Dudoit, Fridlyand 2003, "Bagging to Improve the Accuracy of a Clustering Procedure" (BagClust1).
/// Theirs aligns members with a clustering of all objects that is known beforehand; here that is
/// the medoid at first, then the outcome of the round before. Others align with the members before
/// in order (Dimitriadou, Weingessel, Hornik 2002; Fischer, Buhmann 2003), which makes the order
/// matter.
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
        ballots.check_alignment(k, self.budget)?;
        // After the first round no node is without a label: each has votes.
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
            let next: Vec<_> = next.into_iter().map(Some).collect();
            let settled = next == reference;
            reference = next;
            if settled {
                report.status = Status::Solved;
                break;
            }
        }
        report.objective = Some(best / all_votes(ballots));
        Ok(reference.into_iter().flatten().collect())
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
        let ballots = Ballots::from(nodes);
        report.inner_stage("votes", |inner| self.rounds(&ballots, inner, observer))
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

/// The medoid among the members of k clusters that label every node, else among all members of k
/// clusters, else what QMI makes of k: a cluster of each node that it labels. Members are sorted,
/// so that the first of equals does not depend on the order they came in.
pub(crate) fn first_reference(
    qmi: &Qmi,
    k: usize,
    ballots: &Ballots,
    observer: &dyn Observer,
) -> Result<Vec<Option<usize>>> {
    let members = ballots.members();
    // Sorted members of equal labels lie side by side, and agree with any other alike.
    let repeats: Vec<bool> =
        (0..members.len()).map(|u| u > 0 && members[u] == members[u - 1]).collect();
    let mut candidates: Vec<usize> =
        (0..members.len()).filter(|&u| !repeats[u] && members[u].n_clusters() == k).collect();
    if candidates.is_empty() {
        let found = qmi.of_nodes(ballots, &mut Report::default(), observer)?;
        return Ok(found.into_iter().map(Some).collect());
    }
    if candidates.iter().any(|&u| members[u].is_complete()) {
        candidates.retain(|&u| members[u].is_complete());
    }
    // Each sum in the order of the members: the same at any number of threads.
    let sums: Vec<f64> = candidates
        .par_iter()
        .map_init(Comparison::default, |comparison, &u| {
            observer.check()?;
            let agreement = comparison.with_all(&members[u], ballots, &repeats, observer)?;
            // A few objects are easily agreed on, and are no reference for all others.
            Ok(agreement * coverage(&members[u], ballots.weights()))
        })
        .collect::<Result<_>>()?;
    let best = (1..sums.len()).fold(0, |best, c| if sums[c] > sums[best] { c } else { best });
    Ok(members[candidates[best]].iter().collect())
}

/// Share of the objects that a member labels: exactly 1 of one that labels all.
fn coverage(member: &Partition, weights: &[f64]) -> f64 {
    let labelled = member.iter().zip(weights).filter(|(label, _)| label.is_some());
    labelled.map(|(_, weight)| weight).sum::<f64>() / weights.iter().sum::<f64>()
}

/// Compares a member with others, as [`weighted_nmi`] by the root does, to the last bit. That looks
/// for memory for each pair, which takes longer than the pair itself where members are many and
/// nodes few.
#[derive(Default)]
struct Comparison {
    /// The clusters of the nodes.
    own: Vec<Option<usize>>,
    /// Objects of each pair of clusters, those of the member in rows.
    table: Vec<f64>,
    rows: Vec<f64>,
    columns: Vec<f64>,
}

impl Comparison {
    /// How much a member agrees with all, each as often as it counts; one that `repeats` the labels
    /// of the one before as much as that does.
    fn with_all(
        &mut self,
        member: &Partition,
        ballots: &Ballots,
        repeats: &[bool],
        observer: &dyn Observer,
    ) -> Result<f64> {
        self.own.clear();
        self.own.extend(member.iter());
        let (mut sum, mut nmi) = (0.0, None);
        for (u, other) in ballots.members().iter().enumerate() {
            if !repeats[u] {
                observer.check()?;
                nmi = self.nmi(member, other, ballots.weights());
            }
            sum += nmi.map_or(0.0, |nmi: f64| nmi * ballots.count(u));
        }
        Ok(sum)
    }

    /// `None` where the two label no node in common.
    fn nmi(&mut self, member: &Partition, other: &Partition, weights: &[f64]) -> Option<f64> {
        let (k, clusters) = (member.n_clusters(), other.n_clusters());
        if clusters == 0 || k.saturating_mul(clusters) > TABLE {
            return weighted_nmi(member, other, weights, Normalizer::Sqrt);
        }
        let Comparison { own, table, rows, columns } = self;
        zeros(table, k * clusters);
        zeros(rows, k);
        zeros(columns, clusters);
        with_labels!(other.labels(), |labels| {
            for ((&i, &j), &w) in own.iter().zip(labels).zip(weights) {
                if let Some(i) = i
                    && !j.is_missing()
                {
                    table[i * clusters + j.index()] += w;
                }
            }
        });
        for (row, shared) in rows.iter_mut().zip(table.chunks_exact(clusters)) {
            for (column, &w) in columns.iter_mut().zip(shared) {
                *row += w;
                *column += w;
            }
        }
        let cells = table.chunks_exact(clusters).enumerate().flat_map(|(i, shared)| {
            let cells = shared.iter().enumerate().filter(|&(_, &w)| w > 0.0);
            cells.map(move |(j, &w)| (i, j, w))
        });
        nmi_of_cells(rows, columns, cells, Normalizer::Sqrt)
    }
}

fn zeros(sums: &mut Vec<f64>, length: usize) {
    sums.clear();
    sums.resize(length, 0.0);
}

/// Votes of the aligned members: nodes in rows, clusters of the reference in columns.
fn count(
    ballots: &Ballots,
    reference: &[Option<usize>],
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
fn winner(votes: ArrayView1<'_, f64>, now: Option<usize>) -> usize {
    (0..votes.len()).fold(now.unwrap_or(0), |b, c| if votes[c] > votes[b] { c } else { b })
}

#[cfg(test)]
mod tests {
    use super::*;
    use consilience_core::ConsensusFunction;
    use ndarray::array;

    #[test]
    fn ties_keep_what_is_and_then_take_the_lowest() {
        assert_eq!(winner(array![1.0, 2.0, 2.0].view(), Some(2)), 2);
        assert_eq!(winner(array![1.0, 2.0, 2.0].view(), Some(0)), 1);
        assert_eq!(winner(array![0.0, 0.0].view(), Some(1)), 1);
        assert_eq!(winner(array![1.0, 2.0, 2.0].view(), None), 1);
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

    /// Members of few kinds, so that many are equal; some without all labels, some with more
    /// clusters than a kept table has room for; each counts as often as it will.
    fn kinds(seed: u64, n: usize, most: usize) -> Ballots {
        let mut s = Seed(seed).stream();
        let mut kind = || {
            let (k, missing) = (1 + s.below(most), if s.below(3) == 0 { 0.3 } else { 0.0 });
            let mut label = || if s.uniform() < missing { -1 } else { s.below(k) as i64 };
            let mut labels: Vec<i64> = (0..n).map(|_| label()).collect();
            labels[0] = 0;
            Partition::from_labels(&labels).unwrap()
        };
        let kinds: Vec<Partition> = (0..9).map(|_| kind()).collect();
        let members: Vec<Partition> = (0..25).map(|_| kinds[s.below(9)].clone()).collect();
        let often: Vec<f64> = (0..25).map(|_| 1.0 + s.below(3) as f64 / 3.0).collect();
        let e = Ensemble::new(members).unwrap().with_weights(often).unwrap();
        Ballots::of(&e).unwrap()
    }

    #[test]
    fn the_medoid_is_that_of_every_pair_by_itself() {
        let few = (0..40).map(|seed| kinds(seed, 12, 5));
        let (mut medoids, mut incomplete) = (0, 0);
        for ballots in few.chain([kinds(0, 500, 480)]) {
            let members = ballots.members();
            let with_all = |member: &Partition| -> f64 {
                let shared = |(u, other): (usize, &Partition)| {
                    let nmi = weighted_nmi(member, other, ballots.weights(), Normalizer::Sqrt);
                    nmi.map_or(0.0, |nmi| nmi * ballots.count(u))
                };
                members.iter().enumerate().map(shared).sum()
            };
            let ks: std::collections::BTreeSet<usize> =
                members.iter().map(Partition::n_clusters).collect();
            let objects: f64 = ballots.weights().iter().sum();
            for k in ks {
                let of_k = || members.iter().filter(move |m| m.n_clusters() == k);
                let whole = of_k().any(|m| m.is_complete());
                let mut best: Option<(&Partition, f64)> = None;
                for member in of_k().filter(|m| m.is_complete() || !whole) {
                    let labelled = (0..ballots.n_nodes()).filter(|&i| member.label(i).is_some());
                    let labelled: f64 = labelled.map(|i| ballots.weights()[i]).sum();
                    let sum = with_all(member) * (labelled / objects);
                    if best.is_none_or(|(_, b)| sum > b) {
                        best = Some((member, sum));
                    }
                }
                let (medoid, sum) = best.unwrap();
                let never = vec![false; members.len()];
                let mut comparison = Comparison::default();
                let shared = comparison.with_all(medoid, &ballots, &never, &()).unwrap();
                assert_eq!(shared, with_all(medoid));
                assert_eq!(shared * coverage(medoid, ballots.weights()), sum);
                let found = first_reference(&Qmi::new(k), k, &ballots, &()).unwrap();
                assert_eq!(found, medoid.iter().collect::<Vec<_>>());
                medoids += usize::from(whole);
                incomplete += usize::from(!whole);
            }
        }
        assert!(medoids > 80 && incomplete > 5, "{medoids} {incomplete}");
    }

    #[test]
    fn no_iterations_are_refused() {
        let e = Ensemble::from_array(array![[0], [1]].view()).unwrap();
        assert!(Voting::new(2).max_iterations(0).fit(&e, &()).is_err());
    }
}
