use consilience_core::{
    Accepts, Clusters, Ensemble, Memberships, MemoryBudget, Microclusters, NodeConsensus,
    NodeMemberships, Observer, Report, Result, Seed, Status, ensure, room,
};
use ndarray::{Array2, ArrayView2};

use super::ballots::{Ballots, indicator};
use super::voting::{ROUNDS, first_reference};
use super::{Qmi, number};

/// Least squares soft consensus: the memberships nearest, on average, to those of the members once
/// the labels are matched.
///
/// Use it where a probability per object is wanted and the members have about the number of
/// clusters asked for; its rows are the shares of the votes. For soft results from members of any
/// number of clusters use `Pcc`.
///
/// With `P_u` the indicators of member u, minimizes over row-stochastic Y and matchings of clusters
/// `sum_u sum_i [u labels i] s_i |P_u(i) - Y(i)|^2`, a cluster of `P_u` that is left over counting
/// as a column that Y does not have. In turn each member is matched (Hungarian method) and Y is the
/// mean of the matched members, what was left over spread evenly: the exact minimum each time, so
/// that the objective never rises. The first Y is the first reference of [`Voting`](crate::Voting);
/// objects that it does not label count in the matchings from the second on.
///
/// ```
/// use consilience::{ConsensusFunction, Ensemble, Partition};
/// use consilience::consensus::LeastSquares;
///
/// let ensemble = Ensemble::new(vec![
///     Partition::from_labels(&[0, 0, 1, 1])?,
///     Partition::from_labels(&[1, 1, 0, 0])?,
///     Partition::from_labels(&[0, 1, 1, 1])?,
///     Partition::from_labels(&[0, 0, 1, 1])?,
/// ])?;
/// let soft = LeastSquares::new(2).consensus(&ensemble)?;
/// assert_eq!(soft.row(1).to_vec(), vec![0.75, 0.25]);
/// assert_eq!(soft.hard()?.to_signed(), vec![0, 0, 1, 1]);
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Complexity
/// O(n M) for the microclusters, then O(n~ M k + M k^3) per round; 8 k bytes per object, 16 k per
/// microcluster, and 24 k per cluster of the member that has most.
///
/// # Errors
/// [`ErrorKind::InvalidParameter`](consilience_core::ErrorKind::InvalidParameter) for anything but
/// a number of clusters in `1..=n`, or no iterations;
/// [`ErrorKind::TooLarge`](consilience_core::ErrorKind::TooLarge) beyond the memory budget.
///
/// # References
/// Dimitriadou, Weingessel, Hornik 2002, "A Combination Scheme for Fuzzy Clustering"; Hornik 2005,
/// "A CLUE for CLUster Ensembles", Section 2.3 (soft least squares Euclidean consensus). Incomplete
/// members count only where they label; the start is the medoid, not a random member.
#[doc(alias = "clue")]
#[doc(alias = "soft_consensus")]
#[derive(Clone, Copy, Debug)]
pub struct LeastSquares {
    clusters: Clusters,
    start: Qmi,
    max_iterations: usize,
    budget: MemoryBudget,
}

impl LeastSquares {
    /// Soft consensus of so many clusters; a number is expected.
    pub fn new(clusters: impl Into<Clusters>) -> Self {
        let clusters = clusters.into();
        LeastSquares {
            clusters,
            start: Qmi::new(clusters),
            max_iterations: ROUNDS,
            budget: MemoryBudget::default(),
        }
    }

    consilience_core::setters! {
        /// Seed of the start, where no member has k clusters. Default 0.
        pub fn seed(mut self, seed: Seed) { self.start = self.start.seed(seed) }

        /// Rounds of matching and averaging at most. Default 100; at least 1.
        pub fn max_iterations(mut self, rounds: usize) { self.max_iterations = rounds }

        /// How much memory the memberships may take. Default 8 GiB.
        pub fn memory_budget(mut self, budget: MemoryBudget) {
            self.budget = budget;
            self.start = self.start.memory_budget(budget)
        }
    }

    /// Rounds until the objective stays: the memberships of the nodes, and the objective after each
    /// round, for the tests.
    fn rounds(
        &self,
        ballots: &Ballots,
        report: &mut Report,
        observer: &dyn Observer,
    ) -> Result<(Array2<f64>, Vec<f64>)> {
        let k = number(self.clusters, "least squares consensus")?;
        ballots.check_alignment(k, self.budget)?;
        // Those of this round and of the one before.
        self.budget.check_table("memberships", ballots.n_nodes(), k, 16)?;
        let start = first_reference(&self.start, k, ballots, observer)?;
        let mut y = indicator(&start, k)?;
        let mut path: Vec<f64> = Vec::new();
        report.status = Status::MaxIterations;
        for round in 0..self.max_iterations {
            observer.check()?;
            observer.progress("rounds", round, self.max_iterations);
            let members = 0..ballots.members().len();
            let align = |u| observer.check().map(|()| ballots.align(u, y.view()));
            let matched = members.map(align).collect::<Result<Vec<_>>>()?;
            y = mean(ballots, &matched, k, observer)?;
            let value = distance(ballots, &matched, y.view(), observer)?;
            report.iterations = round + 1;
            let settled = path.last().is_some_and(|&last| !(value < last - 1e-12 * last));
            path.push(value);
            if settled || value == 0.0 {
                report.status = Status::Solved;
                break;
            }
        }
        report.objective = path.last().copied();
        Ok((y, path))
    }
}

impl NodeConsensus for LeastSquares {
    type Output = Memberships;

    fn name(&self) -> &str {
        "least-squares"
    }

    fn clusters(&self) -> Clusters {
        self.clusters
    }

    fn accepts(&self) -> Accepts {
        Accepts::ALL
    }

    fn check(&self, ensemble: &Ensemble) -> Result<()> {
        let k = number(self.clusters, "least squares consensus")?;
        self.start.check()?;
        ensure!(self.max_iterations > 0, invalid("max_iterations 0; expected at least 1"));
        self.budget.check_table("memberships", ensemble.n_objects(), k, 8)
    }

    fn solve(
        &self,
        nodes: &Microclusters,
        report: &mut Report,
        observer: &dyn Observer,
    ) -> Result<NodeMemberships> {
        let ballots = Ballots::from(nodes);
        let (y, _) =
            report.inner_stage("rounds", |inner| self.rounds(&ballots, inner, observer))?;
        Ok(y.into())
    }
}

/// Mean of the matched members over those that label a node; what they left over is spread evenly,
/// the projection of the mean onto the simplex. Votes are counted before anything is divided, so
/// that no entry is rounded below 0 or above 1 and none depends on the order of the members.
fn mean(
    ballots: &Ballots,
    matched: &[Vec<Option<usize>>],
    k: usize,
    observer: &dyn Observer,
) -> Result<Array2<f64>> {
    let mut y = room::table(ballots.n_nodes(), k)?;
    let mut labelled = vec![0.0; ballots.n_nodes()];
    let mut left_over = vec![0.0; ballots.n_nodes()];
    for (u, (member, matched)) in ballots.members().iter().zip(matched).enumerate() {
        observer.check()?;
        let count = ballots.count(u);
        let heard = labelled.iter_mut().zip(member.iter()).filter(|(_, l)| l.is_some());
        heard.for_each(|(all, _)| *all += count);
        ballots.each_vote(u, |i, l, p| match matched[l] {
            Some(c) => y[[i, c]] += count * p,
            None => left_over[i] += count * p,
        });
    }
    for ((mut row, members), left) in y.rows_mut().into_iter().zip(labelled).zip(left_over) {
        row += left / k as f64;
        row /= members;
    }
    Ok(y)
}

/// Mean squared distance of the matched members to Y over all votes.
fn distance(
    ballots: &Ballots,
    matched: &[Vec<Option<usize>>],
    y: ArrayView2<'_, f64>,
    observer: &dyn Observer,
) -> Result<f64> {
    let squares: Vec<f64> = y.rows().into_iter().map(|row| row.dot(&row)).collect();
    let (mut total, mut votes) = (0.0, 0.0);
    for (u, (member, matched)) in ballots.members().iter().zip(matched).enumerate() {
        observer.check()?;
        // |p - y|^2 = p'p - 2 p'y + y'y; a cluster left over is a column that Y does not have.
        let (mut own, mut square) = (vec![0.0; squares.len()], vec![0.0; squares.len()]);
        ballots.each_vote(u, |i, l, p| {
            own[i] += matched[l].map_or(0.0, |c| p * y[[i, c]]);
            square[i] += p * p;
        });
        for ((i, label), weight) in member.iter().enumerate().zip(ballots.weights()) {
            if label.is_some() {
                let weight = weight * ballots.count(u);
                total += weight * (square[i] - 2.0 * own[i] + squares[i]).max(0.0);
                votes += weight;
            }
        }
    }
    Ok(total / votes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Voting;
    use consilience_conformance::planted;
    use consilience_core::{ConsensusFunction, Partition};
    use ndarray::array;

    /// The objective straight from its definition, over objects, for the best matchings of all.
    fn objective(ensemble: &Ensemble, y: ArrayView2<'_, f64>) -> f64 {
        let k = y.ncols();
        let (mut total, mut votes) = (0.0, 0.0);
        for member in ensemble.members() {
            let width = k.max(member.n_clusters());
            let of = |sigma: &[usize]| {
                let mut sum = 0.0;
                for i in 0..member.n_objects() {
                    if let Some(l) = member.label(i) {
                        for c in 0..width {
                            let p = f64::from(u8::from(sigma[l] == c));
                            let q = if c < k { y[[i, c]] } else { 0.0 };
                            sum += (p - q).powi(2);
                        }
                    }
                }
                sum
            };
            let mut best = f64::INFINITY;
            permutations(width, &mut Vec::new(), &mut |sigma| best = best.min(of(sigma)));
            total += best;
            votes += member.n_labelled() as f64;
        }
        total / votes
    }

    fn permutations(n: usize, so_far: &mut Vec<usize>, visit: &mut dyn FnMut(&[usize])) {
        if so_far.len() == n {
            visit(so_far);
        }
        for c in (0..n).filter(|c| !so_far.contains(c)).collect::<Vec<_>>() {
            so_far.push(c);
            permutations(n, so_far, visit);
            so_far.pop();
        }
    }

    #[test]
    fn tables_beyond_the_budget_are_refused() {
        // Objects that are all apart in one member: its clusters with those of all are more.
        let members = [60, 2].map(|k| Partition::from_fn(60, |i| Some(i as u64 % k)).unwrap());
        let e = Ensemble::new(members.to_vec()).unwrap();
        let refused = |bytes: u64, what: &str| {
            let method = LeastSquares::new(2).memory_budget(MemoryBudget::bytes(bytes));
            let error = method.fit(&e, &()).unwrap_err();
            assert!(error.message().starts_with(what), "{error}");
        };
        refused(8 * 60 * 2 - 1, "memberships of 60 x 2 entries");
        refused(24 * 60 * 2 - 1, "clusters of a member and of all of 60 x 2 entries");
        let method = Voting::new(2).memory_budget(MemoryBudget::bytes(24 * 60 * 2 - 1));
        let error = method.fit(&e, &()).unwrap_err();
        assert!(error.message().starts_with("clusters of a member and of all"), "{error}");
    }

    #[test]
    fn the_objective_never_rises_and_is_that_of_the_definition() {
        for seed in 0..12 {
            let missing = if seed % 2 == 0 { 0.0 } else { 0.25 };
            let world = planted(Seed(seed), &[20, 12, 7], 5, 0.3, missing).unwrap();
            for k in 2..=4 {
                let method = LeastSquares::new(k).seed(Seed(seed));
                let ballots = Ballots::of(&world.ensemble).unwrap();
                let path = method.rounds(&ballots, &mut Report::default(), &()).unwrap().1;
                assert!(path.windows(2).all(|w| w[1] <= w[0] + 1e-12), "{path:?}");
                let fit = method.fit(&world.ensemble, &()).unwrap();
                let expected = objective(&world.ensemble, fit.output.values());
                let found = fit.report.objective.unwrap();
                assert!((found - expected).abs() < 1e-9, "k {k}: {found} {expected}");
            }
        }
    }

    #[test]
    fn each_row_is_the_nearest_stochastic_one() {
        let world = planted(Seed(5), &[9, 6], 4, 0.3, 0.2).unwrap();
        let ballots = Ballots::of(&world.ensemble).unwrap();
        let (y, _) = LeastSquares::new(2).rounds(&ballots, &mut Report::default(), &()).unwrap();
        let matched: Vec<_> = (0..4).map(|u| ballots.align(u, y.view())).collect();
        let best = distance(&ballots, &matched, y.view(), &()).unwrap();
        for i in 0..y.nrows() {
            for step in [-0.05, 0.05] {
                let mut moved = y.clone();
                moved[[i, 0]] += step;
                moved[[i, 1]] -= step;
                if moved.row(i).iter().all(|&v| v >= 0.0) {
                    assert!(distance(&ballots, &matched, moved.view(), &()).unwrap() > best);
                }
            }
        }
    }

    /// Rows whose votes divided by 10 do not add up to 1 in floating point.
    #[test]
    fn votes_of_ten_members_are_probabilities() {
        let rows = [
            "1012210221",
            "2021201012",
            "2012011211",
            "1211212121",
            "0100211202",
            "2001212222",
            "1111020001",
        ];
        let member = |u: usize| {
            let labels: Vec<u8> = rows.iter().map(|row| row.as_bytes()[u] - b'0').collect();
            Partition::from_labels(&labels).unwrap()
        };
        let e = Ensemble::new((0..10).map(member).collect()).unwrap();
        for k in 1..=7 {
            let soft = LeastSquares::new(k).consensus(&e).unwrap();
            assert!(soft.values().iter().all(|v| (0.0..=1.0).contains(v)));
        }
    }

    /// Every member has three clusters and lacks a label: no start of k-means decides.
    #[test]
    fn the_seed_changes_nothing_where_a_member_has_k_clusters() {
        let e = Ensemble::from_array(
            array![
                [0, 0, 0, 0],
                [1, 1, 1, 1],
                [2, 2, 2, 2],
                [-1, 2, 2, 0],
                [0, -1, 2, 0],
                [2, 0, -1, 0],
                [2, 1, 0, -1],
                [1, 1, 1, 2],
                [0, 2, 1, 1],
                [0, 1, 2, 1],
                [0, 1, 2, 0],
                [1, 1, 0, 1],
                [1, 1, 2, 0],
                [1, 1, 0, 2],
            ]
            .view(),
        )
        .unwrap();
        let voting = |seed| Voting::new(3).seed(Seed(seed)).fit(&e, &()).unwrap();
        let soft = |seed| LeastSquares::new(3).seed(Seed(seed)).consensus(&e).unwrap();
        let first = voting(0);
        assert!(first.output.is_complete());
        for seed in 1..6 {
            assert_eq!(voting(seed).output, first.output);
            assert_eq!(soft(seed), soft(0));
        }
    }

    #[test]
    fn unlabelled_objects_are_uniform_without_evidence() {
        let e = Ensemble::new(vec![Partition::from_labels(&[0, 0, 1, -1]).unwrap()]).unwrap();
        let soft = LeastSquares::new(2).consensus(&e).unwrap();
        assert_eq!(soft.row(3).to_vec(), vec![0.5, 0.5]);
        assert_eq!(soft.evidence(), [1.0, 1.0, 1.0, 0.0]);
    }
}
