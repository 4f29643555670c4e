use consilience_core::{Grouping, MemoryBudget, Result, SimilarityGraph, ensure, room};
use sprs::CsMatView;

/// A similarity graph from a sparse matrix: a graph of your own for linkage and graph cuts.
///
/// Rows and columns are the nodes of the grouping; what is not stored is 0. The matrix may be
/// compressed by rows or by columns. It is stored densely, since that is what partitioners work on.
///
/// ```
/// use consilience::{Linkage, MemoryBudget};
/// use consilience::core::{GraphPartitioner, Grouping};
/// use consilience::graph::{Agglomeration, similarity_from_sprs};
/// use consilience::sprs::TriMat;
///
/// let mut links = TriMat::new((4, 4));
/// for (i, j, s) in [(0, 1, 0.9), (1, 2, 0.2), (2, 3, 0.8)] {
///     links.add_triplet(i, j, s);
///     links.add_triplet(j, i, s);
/// }
/// let links = links.to_csr::<usize>();
/// // Each of the four objects is a node.
/// let nodes = Grouping::new(vec![0, 1, 2, 3], 4)?;
/// let graph = similarity_from_sprs(nodes, links.view(), MemoryBudget::default())?;
/// let found = Agglomeration::new(Linkage::Average, 2).partition(graph)?;
/// assert_eq!(found.to_signed(), [0, 0, 1, 1]);
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Complexity
/// O(nodes^2) time and 8 nodes^2 bytes.
///
/// # Errors
/// [`ErrorKind::ShapeMismatch`](consilience_core::ErrorKind::ShapeMismatch) unless there is one row
/// and one column for each node, [`ErrorKind::TooLarge`](consilience_core::ErrorKind::TooLarge)
/// beyond the budget, [`ErrorKind::NonFinite`](consilience_core::ErrorKind::NonFinite) or
/// [`ErrorKind::InvalidParameter`](consilience_core::ErrorKind::InvalidParameter) with row and
/// column for an entry that is no similarity or that differs from its mirror image.
pub fn similarity_from_sprs(
    grouping: Grouping,
    matrix: CsMatView<'_, f64>,
    budget: MemoryBudget,
) -> Result<SimilarityGraph> {
    let n = grouping.n_nodes();
    ensure!(
        (matrix.rows(), matrix.cols()) == (n, n),
        shape("a matrix of {} rows and {} columns for {n} nodes", matrix.rows(), matrix.cols())
    );
    budget.check_square("similarity graph", n, 8)?;
    let mut weights = room::table(n, n)?;
    for (&weight, (i, j)) in matrix.iter() {
        weights[[i, j]] += weight;
    }
    SimilarityGraph::new(grouping, weights)
}

#[cfg(test)]
mod tests {
    use super::*;
    use consilience_core::ErrorKind;
    use sprs::{CsMat, TriMat};

    fn matrix(n: usize, entries: &[(usize, usize, f64)]) -> CsMat<f64> {
        let mut links = TriMat::new((n, n));
        entries.iter().for_each(|&(i, j, s)| links.add_triplet(i, j, s));
        links.to_csr()
    }

    #[test]
    fn bad_matrices_are_refused() {
        let nodes = || Grouping::new(vec![0, 0, 1], 2).unwrap();
        let small = MemoryBudget::bytes(31);
        let kind = |m: CsMat<f64>, budget| {
            similarity_from_sprs(nodes(), m.view(), budget).unwrap_err().kind()
        };
        let budget = MemoryBudget::default();
        assert_eq!(kind(matrix(3, &[]), budget), ErrorKind::ShapeMismatch);
        assert_eq!(kind(matrix(2, &[]), small), ErrorKind::TooLarge);
        let bad = [f64::NAN, f64::INFINITY].map(|v| matrix(2, &[(0, 1, v), (1, 0, v)]));
        assert!(bad.into_iter().all(|m| kind(m, budget) == ErrorKind::NonFinite));
        assert_eq!(kind(matrix(2, &[(0, 1, 0.5)]), budget), ErrorKind::InvalidParameter);
        let negative = matrix(2, &[(0, 1, -0.5), (1, 0, -0.5)]);
        assert_eq!(kind(negative, budget), ErrorKind::InvalidParameter);
    }

    #[test]
    fn either_order_of_storage() {
        let rows = matrix(2, &[(0, 0, 1.0), (0, 1, 0.25), (1, 0, 0.25)]);
        let nodes = Grouping::new(vec![0, 0, 1], 2).unwrap();
        let budget = MemoryBudget::default();
        let a = similarity_from_sprs(nodes.clone(), rows.view(), budget).unwrap();
        let b = similarity_from_sprs(nodes, rows.to_csc().view(), budget).unwrap();
        assert_eq!(a, b);
        assert_eq!(a.weights(), ndarray::array![[1.0, 0.25], [0.25, 0.0]]);
    }
}
