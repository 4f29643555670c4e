use consilience_core::Seed;
use ndarray::ArrayView2;

/// Draws of all objects' clusters.
const DRAWS: usize = 400;
/// Probabilities this near 1 are certain.
const CERTAIN: f64 = 1.0 - 1e-9;

/// How many clusters hold objects, by the posterior of
/// [`PositionModel`](crate::PositionModel).
///
/// It is that of the best fit: how sure the fit is of the components that it has, and not what
/// another fit would have found. It is therefore narrower than it should be.
///
/// ```
/// use consilience::Clusters;
/// use consilience::crowd::{Answers, CrowdClustering, GroupAnswer};
///
/// // Eight workers sort 24 objects by what remains after division by three.
/// let row = |r: usize| (r / 24, r % 24);
/// let rows: Vec<GroupAnswer> = (0..192)
///     .map(row)
///     .map(|(worker, item)| GroupAnswer { worker, task: 0, item, group: item % 3 })
///     .collect();
/// let answers = Answers::from_groupings(24, &rows)?;
/// let result = CrowdClustering::new(Clusters::Auto).fit(&answers, &())?.output;
/// let count = result.cluster_count.expect("the number was asked for");
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
    /// Probabilities of 0, 1, 2, ... clusters, from 400 draws of all objects' components.
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
