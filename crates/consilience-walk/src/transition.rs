use consilience_core::{Grouping, Microclusters};
use consilience_num::sparse::Csr;

use crate::EliteNeighbours;

/// The random walk over elite neighbours: a step goes to microcluster j with probability in
/// proportion to its size times the weight of the link,
/// `p_ij = s_j w_ij / sum_l s_l w_il`.
///
/// What [`ProbabilityTrajectories`](crate::ProbabilityTrajectories) walks on.
///
/// With `A_ij = s_i s_j w_ij` symmetric and `D` its row sums, `P = D^-1 A`: the walk is reversible.
/// A microcluster without links is isolated, its row is empty.
///
/// # References
/// Huang, Lai, Wang 2016, Eq. 10.
#[derive(Clone, Debug, PartialEq)]
pub struct Transition {
    /// A, symmetric.
    affinity: Csr,
    /// D.
    degree: Vec<f64>,
}

impl Transition {
    /// The walk over the elite links of these microclusters.
    pub fn new(elite: &EliteNeighbours, microclusters: &Microclusters) -> Self {
        Self::over(elite, microclusters.grouping())
    }

    /// The same, for nodes of any grouping.
    pub(crate) fn over(elite: &EliteNeighbours, grouping: &Grouping) -> Self {
        let size = grouping.weights();
        let affinity = elite.weights().clone().map(|i, j, w| (size[i] * size[j]) * w);
        let degree = affinity.row_sums();
        Transition { affinity, degree }
    }

    /// The same walk with its microclusters in another order.
    pub(crate) fn permuted(&self, order: &[u32]) -> Self {
        Transition {
            affinity: self.affinity.permuted(order),
            degree: order.iter().map(|&i| self.degree[i as usize]).collect(),
        }
    }

    /// Number of microclusters.
    pub fn n_nodes(&self) -> usize {
        self.degree.len()
    }

    /// A: symmetric, `A_ij = s_i s_j w_ij`.
    pub fn affinity(&self) -> &Csr {
        &self.affinity
    }

    /// D: the row sums of A, 0 for an isolated microcluster.
    pub fn degree(&self) -> &[f64] {
        &self.degree
    }

    /// P = D^-1 A: rows sum to 1, or are empty.
    pub fn probabilities(&self) -> Csr {
        self.affinity.clone().map(|i, _, a| a / self.degree[i])
    }

    /// P as a matrix of the crate sprs, in compressed rows.
    ///
    /// ```
    /// use consilience::{Ensemble, Microclusters, Partition};
    /// use consilience::walk::{EliteNeighbours, Transition};
    ///
    /// let ensemble = Ensemble::new(vec![
    ///     Partition::from_labels(&[0, 0, 0, 1])?,
    ///     Partition::from_labels(&[0, 0, 1, 1])?,
    /// ])?;
    /// let nodes = Microclusters::of(&ensemble)?;
    /// let walk = Transition::new(&EliteNeighbours::of(&nodes, 1)?, &nodes);
    /// let p = walk.to_sprs();
    /// assert_eq!((p.rows(), p.nnz()), (3, 4));
    /// assert_eq!(p.get(1, 0), Some(&(2.0 / 3.0))); // two objects of three to step to
    /// # Ok::<(), consilience::Error>(())
    /// ```
    #[doc(alias = "sparse matrix")]
    pub fn to_sprs(&self) -> sprs::CsMat<f64> {
        let (p, n) = (self.probabilities(), self.n_nodes());
        let (mut starts, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
        for i in 0..n {
            let row = p.row(i);
            columns.extend(row.0.iter().map(|&j| j as usize));
            values.extend_from_slice(row.1);
            starts.push(columns.len());
        }
        sprs::CsMat::new((n, n), starts, columns, values)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use consilience_core::{Ensemble, Partition};

    #[test]
    fn steps_go_to_large_and_similar_microclusters() {
        // Microclusters of 1, 2 and 3 objects; the first agrees with the others in one member of
        // two each, the last is linked to nobody.
        let member = |labels: &[i64]| Partition::from_labels(labels).unwrap();
        let (a, b) = (member(&[0, 0, 0, 1, 1, 1, 2]), member(&[0, 1, 1, 0, 0, 0, 2]));
        let nodes = Microclusters::of(&Ensemble::new(vec![a, b]).unwrap()).unwrap();
        let walk = Transition::new(&EliteNeighbours::of(&nodes, 2).unwrap(), &nodes);
        assert_eq!(walk.n_nodes(), 4);
        assert_eq!(walk.degree(), [2.5, 1.0, 1.5, 0.0]);
        assert_eq!(walk.affinity().row(0), (&[1u32, 2][..], &[1.0, 1.5][..]));
        let steps = walk.probabilities();
        assert_eq!(steps.row(0), (&[1u32, 2][..], &[0.4, 0.6][..]));
        assert_eq!(steps.row(1), (&[0u32][..], &[1.0][..]));
        let sparse = walk.to_sprs();
        assert_eq!((sparse.shape(), sparse.nnz()), ((4, 4), steps.nnz()));
        for (&v, (i, j)) in &sparse {
            assert!(steps.entries(i).any(|entry| entry == (j, v)));
        }
        // In another order every node keeps its neighbours.
        let turned = walk.permuted(&[3, 2, 0, 1]);
        assert_eq!(turned.degree(), [0.0, 1.5, 2.5, 1.0]);
        assert_eq!(turned.affinity().row(2), (&[1u32, 3][..], &[1.5, 1.0][..]));
    }
}
