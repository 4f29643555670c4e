use consilience_core::Seed;
use ndarray::{Array2, ArrayView2};

/// Draws of all objects' clusters.
const DRAWS: usize = 400;
/// Fits of smaller shares of the best are left out.
const LEAST: f64 = 1e-6;
/// Probabilities this near 1 are certain.
const CERTAIN: f64 = 1.0 - 1e-9;

/// How many clusters hold objects, by the posterior of [`PositionModel`](crate::PositionModel), or
/// of planted partitions where these explain the answers better (see
/// [`CrowdClustering`](crate::CrowdClustering)).
///
/// Of planted partitions it is from draws that begin with the best one that was found: each object
/// in turn goes to a cluster by the probabilities of these, the others being given, 10 to 200
/// times. Of positions it is over the fits that were found: the best of each number of clusters
/// counts in proportion to exp(bound), the bound on the log-probability of the answers (nats), and
/// in each of them objects lie as that fit has it. What no start led to has no share, and bounds
/// may lie further below what they bound than from each other. In both the pair answers of a task
/// count as if they did not depend on each other: it is narrower than it should be. Where the
/// number of clusters is given, it is that of the best fit alone.
///
/// ```
/// use consilience::Clusters;
/// use consilience::crowd::{Answers, CrowdClustering, GroupAnswer};
///
/// // Eight workers sort 24 objects by what remains after division by three, and err sometimes.
/// let row = |r: usize| (r / 24, r % 24);
/// let rows: Vec<GroupAnswer> = (0..192)
///     .map(row)
///     .map(|(worker, item)| (worker, item, (item + usize::from((item + worker) % 11 == 0)) % 3))
///     .map(|(worker, item, group)| GroupAnswer { worker, task: 0, item, group })
///     .collect();
/// let answers = Answers::from_groupings(24, &rows)?;
/// let result = CrowdClustering::new(Clusters::Auto).fit(&answers, &())?.output;
/// let count = result.cluster_count.expect("answers contradict each other");
/// assert!(count.expected > 1.0 && count.probability(count.most_probable()) > 0.0);
/// # Ok::<(), consilience::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(try_from = "crate::stored::ClusterCountFields")
)]
#[non_exhaustive]
pub struct ClusterCount {
    /// The expected number of components that hold at least one object.
    pub expected: f64,
    /// Probabilities of 0, 1, 2, ... clusters, of positions from 400 draws of all objects'
    /// components in every fit.
    pub probabilities: Vec<f64>,
}

impl ClusterCount {
    /// Of nothing.
    pub(crate) fn none() -> Self {
        ClusterCount { expected: 0.0, probabilities: vec![1.0] }
    }

    /// From memberships in components.
    pub(crate) fn of(q: ArrayView2<'_, f64>, seed: Seed) -> Self {
        let empty = |column: ndarray::ArrayView1<'_, f64>| -> f64 {
            column.iter().map(|&x| (1.0 - x).max(0.0)).product()
        };
        let expected = q.columns().into_iter().map(|column| 1.0 - empty(column)).sum();
        let mut held = vec![false; q.ncols()];
        let mut open = Vec::new();
        for row in q.rows() {
            match row.iter().position(|&x| x > CERTAIN) {
                Some(c) => held[c] = true,
                None => open.push(row),
            }
        }
        let mut stream = seed.stream();
        let mut times = vec![0usize; q.ncols() + 1];
        for _ in 0..DRAWS {
            let mut holds = held.clone();
            for row in &open {
                let mut left = stream.uniform();
                let drawn = row.iter().position(|&x| {
                    left -= x;
                    left < 0.0
                });
                holds[drawn.unwrap_or(row.len() - 1)] = true;
            }
            times[holds.iter().filter(|&&h| h).count()] += 1;
        }
        let probabilities = times.iter().map(|&t| t as f64 / DRAWS as f64).collect();
        ClusterCount { expected, probabilities }
    }

    /// Over fits, each with its bound and memberships in as many components: shares in proportion
    /// to exp(bound). `None` without any of finite bound.
    pub(crate) fn over(fits: &[(f64, Array2<f64>)], seed: Seed) -> Option<Self> {
        let best = fits.iter().map(|fit| fit.0).filter(|bound| bound.is_finite());
        let best = best.reduce(f64::max)?;
        let shared: Vec<(f64, Self)> = fits
            .iter()
            .map(|(bound, q)| ((bound - best).exp(), q))
            .filter(|&(share, _)| share >= LEAST && share.is_finite())
            .map(|(share, q)| (share, Self::of(q.view(), seed)))
            .collect();
        let total: f64 = shared.iter().map(|fit| fit.0).sum();
        let longest = shared.iter().map(|(_, count)| count.probabilities.len()).max()?;
        let mut out = ClusterCount { expected: 0.0, probabilities: vec![0.0; longest] };
        for (share, count) in &shared {
            out.expected += share * count.expected;
            for (to, p) in out.probabilities.iter_mut().zip(&count.probabilities) {
                *to += share * p;
            }
        }
        out.expected /= total;
        out.probabilities.iter_mut().for_each(|p| *p = (*p / total).min(1.0));
        Some(out)
    }

    /// The probability of so many clusters.
    pub fn probability(&self, clusters: usize) -> f64 {
        self.probabilities.get(clusters).copied().unwrap_or(0.0)
    }

    /// The most probable number of clusters, the smaller of equals.
    pub fn most_probable(&self) -> usize {
        let probable = |best: usize, c: usize| {
            if self.probabilities[c] > self.probabilities[best] { c } else { best }
        };
        (0..self.probabilities.len()).reduce(probable).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    #[test]
    fn fits_count_by_their_bounds() {
        let two = array![[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 1.0, 0.0]];
        let three = array![[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
        let over = |bounds: [f64; 2]| {
            let fits = [(bounds[0], two.clone()), (bounds[1], three.clone())];
            ClusterCount::over(&fits, Seed(1)).unwrap()
        };
        // One nat apart, wherever they lie.
        let share = 1.0 / (1.0 + 1_f64.exp());
        for bound in [-3.0, -90_000.0] {
            let count = over([bound - 1.0, bound]);
            assert!((count.probability(2) - share).abs() < 1e-9, "{count:?}");
            assert!((count.probability(3) - 1.0 + share).abs() < 1e-9, "{count:?}");
            assert!((count.expected - 3.0 + share).abs() < 1e-9, "{count:?}");
            assert_eq!(count.most_probable(), 3);
        }
        // Far behind is nothing, and one fit is itself.
        assert_eq!(over([-1.0, -30.0]), ClusterCount::of(two.view(), Seed(1)));
        let one = ClusterCount::over(&[(-7.0, three.clone())], Seed(1)).unwrap();
        assert_eq!(one, ClusterCount::of(three.view(), Seed(1)));
        assert_eq!(over([f64::NAN, -30.0]), one);
        assert!(ClusterCount::over(&[], Seed(1)).is_none());
    }

    #[test]
    fn draws_are_near_the_exact_distribution() {
        // Two certain objects, and two that may be in the third component.
        let q = array![[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.5, 0.0, 0.5], [0.0, 0.8, 0.2]];
        let count = ClusterCount::of(q.view(), Seed(1));
        assert!((count.expected - 2.6).abs() < 1e-12);
        assert!((count.probability(3) - 0.6).abs() < 0.1 && count.probability(7) == 0.0);
        assert!((count.probabilities.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        assert_eq!(count.most_probable(), 3);
        assert_eq!(count, ClusterCount::of(q.view(), Seed(1)));
        assert_eq!(ClusterCount::none().most_probable(), 0);
    }
}
