use std::sync::Arc;

use ndarray::{Array2, ArrayView2};
use rayon::prelude::*;

#[cfg(any(doc, test))]
use crate::ErrorKind;
use crate::{
    Error, MemoryBudget, Observer, Partition, Result, Stop, check_answer, checks, ensure, room,
};

/// Which node of a graph each object belongs to: microclusters, or the objects themselves.
///
/// Objects without any label belong to no node. Where objects stand for many
/// ([`Ensemble::with_counts`](crate::Ensemble::with_counts)), a node is as large as their counts
/// say.
///
/// ```
/// use consilience::core::Grouping;
///
/// // Objects 0 and 1 are one node, object 3 is in none.
/// let grouping = Grouping::new([0, 0, 1, Grouping::NONE], 2)?;
/// assert_eq!((grouping.n_objects(), grouping.n_nodes()), (4, 2));
/// assert_eq!(grouping.of_object(), [0, 0, 1, Grouping::NONE]);
/// # Ok::<(), consilience::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grouping {
    of_object: Arc<Vec<u32>>,
    sizes: Arc<Vec<u64>>,
}

impl Grouping {
    /// The node number of an object that belongs to none.
    pub const NONE: u32 = u32::MAX;

    /// A grouping from each object's node, [`Grouping::NONE`] for no node.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfRange`] for a node `>= nodes`, [`ErrorKind::Empty`] for a node without
    /// objects, [`ErrorKind::TooLarge`] where the system has no memory left.
    pub fn new(of_object: impl Into<Vec<u32>>, nodes: usize) -> Result<Self> {
        Self::counted(of_object, nodes, |_| 1)
    }

    /// As [`Grouping::new`], where object i stands for `counts[i]` identical ones.
    ///
    /// # Errors
    /// As [`Grouping::new`], [`ErrorKind::ShapeMismatch`] unless there is one count per object,
    /// and [`ErrorKind::OutOfRange`] for counts of 0 or beyond 2^53 in all.
    pub fn with_counts(
        of_object: impl Into<Vec<u32>>,
        nodes: usize,
        counts: &[u64],
    ) -> Result<Self> {
        let of_object = of_object.into();
        checks::counts(counts, of_object.len())?;
        Self::counted(of_object, nodes, |i| counts[i])
    }

    fn counted(
        of_object: impl Into<Vec<u32>>,
        nodes: usize,
        count: impl Fn(usize) -> u64,
    ) -> Result<Self> {
        let of_object = of_object.into();
        let mut sizes = room::zeros::<u64>(nodes)?;
        for (i, &g) in of_object.iter().enumerate() {
            if g != Self::NONE {
                match sizes.get_mut(g as usize) {
                    Some(size) => *size += count(i),
                    None => {
                        return Err(Error::out_of_range(format!(
                            "object {i} in node {g} of {nodes}"
                        )));
                    }
                }
            }
        }
        if let Some(node) = sizes.iter().position(|&s| s == 0) {
            return Err(Error::empty(format!("node {node} has no objects")));
        }
        Ok(Grouping { of_object: Arc::new(of_object), sizes: Arc::new(sizes) })
    }

    /// The same nodes in another order: where each goes, and which comes at each place.
    pub(crate) fn renumbered(&self, place: &[u32], order: &[u32]) -> Result<Self> {
        let moved = |&node: &u32| if node == Self::NONE { node } else { place[node as usize] };
        let of_object = room::collected(self.of_object.iter().map(moved))?;
        let sizes = room::collected(order.iter().map(|&node| self.sizes[node as usize]))?;
        Ok(Grouping { of_object: Arc::new(of_object), sizes: Arc::new(sizes) })
    }

    /// Number of objects.
    pub fn n_objects(&self) -> usize {
        self.of_object.len()
    }

    /// Number of nodes.
    pub fn n_nodes(&self) -> usize {
        self.sizes.len()
    }

    /// Node of each object.
    pub fn of_object(&self) -> &[u32] {
        &self.of_object
    }

    /// Objects in each node, each as often as its count says; at most 2^53 in all, so that they
    /// are exact in floating point.
    pub fn sizes(&self) -> &[u64] {
        &self.sizes
    }

    /// The sizes in floating point.
    pub fn weights(&self) -> Vec<f64> {
        self.sizes.iter().map(|&size| size as f64).collect()
    }

    /// The partition of the objects that a clustering of the nodes means; objects of no node are
    /// unlabelled.
    ///
    /// # Errors
    /// [`ErrorKind::ShapeMismatch`] where there is not one cluster per node.
    pub fn expand(&self, cluster_of_node: &[usize]) -> Result<Partition> {
        ensure!(
            cluster_of_node.len() == self.n_nodes(),
            shape("clusters for {} nodes, the graph has {}", cluster_of_node.len(), self.n_nodes())
        );
        Partition::from_fn(self.n_objects(), |i| match self.of_object[i] {
            Self::NONE => None,
            g => Some(cluster_of_node[g as usize] as u64),
        })
    }
}

/// A weighted undirected graph over groups of objects: what a [`Similarity`](crate::Similarity)
/// makes and a [`GraphPartitioner`](crate::GraphPartitioner) cuts.
///
/// Weights are symmetric, finite and not negative; 0 is no link. The diagonal is each node's
/// similarity to itself.
#[derive(Clone, Debug, PartialEq)]
pub struct SimilarityGraph {
    grouping: Grouping,
    weights: Array2<f64>,
}

impl SimilarityGraph {
    /// A graph from a dense symmetric matrix of weights, one row per node.
    ///
    /// # Errors
    /// [`ErrorKind::ShapeMismatch`] for a matrix of another size, [`ErrorKind::NonFinite`] or
    /// [`ErrorKind::InvalidParameter`] with row and column for a weight that is no similarity or
    /// that differs from its mirror image.
    ///
    /// # Complexity
    /// O(nodes^2), once.
    pub fn new(grouping: Grouping, weights: Array2<f64>) -> Result<Self> {
        Self::new_observed(grouping, weights, &())
    }

    /// As [`SimilarityGraph::new`], and can be cancelled.
    ///
    /// # Errors
    /// As [`SimilarityGraph::new`]; [`ErrorKind::Cancelled`].
    ///
    /// # Complexity
    /// As [`SimilarityGraph::new`].
    pub fn new_observed(
        grouping: Grouping,
        weights: Array2<f64>,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let nodes = grouping.n_nodes();
        let dim = weights.dim();
        ensure!(dim == (nodes, nodes), shape("weights of {dim:?} for {nodes} nodes"));
        // One look at every entry; only where something is wrong a second one tells what.
        if unlike(weights.view(), 0.0, observer)?.is_none() {
            return Ok(SimilarityGraph { grouping, weights });
        }
        check_symmetric("similarity", weights.view())?;
        if let Some(((i, j), w)) = weights.indexed_iter().find(|&(_, &w)| w < 0.0) {
            return Err(Error::invalid(format!(
                "similarity {w} at row {i}, column {j}; expected >= 0"
            )));
        }
        Ok(SimilarityGraph { grouping, weights })
    }

    /// As [`SimilarityGraph::new`], of similarities that are symmetric, finite and non-negative by
    /// how they were computed: looked at in debug builds only.
    #[doc(hidden)]
    pub fn of_symmetric(grouping: Grouping, weights: Vec<f64>) -> Result<Self> {
        let n = grouping.n_nodes();
        let weights = Array2::from_shape_vec((n, n), weights)
            .map_err(|e| Error::shape(format!("weights for {n} nodes: {e}")))?;
        debug_assert_eq!(unlike(weights.view(), 0.0, &()), Ok(None));
        Ok(SimilarityGraph { grouping, weights })
    }

    /// Refuses a graph that somebody's code made over other nodes than it was given.
    ///
    /// # Errors
    /// [`ErrorKind::ShapeMismatch`] for another number of nodes or objects, and
    /// [`ErrorKind::InvalidParameter`] for as many of others, naming `who`.
    #[doc(hidden)]
    pub fn check_answer(&self, who: &str, nodes: &Grouping) -> Result<()> {
        check_answer(who, "nodes of a graph", self.grouping.n_nodes(), nodes.n_nodes())?;
        let (found, n) = (self.grouping.n_objects(), nodes.n_objects());
        check_answer(who, "objects behind a graph", found, n)?;
        // Those of our own share what they compare.
        ensure!(
            self.grouping == *nodes,
            invalid(
                "{who} returned a graph whose nodes hold other objects than those it was given"
            )
        );
        Ok(())
    }

    /// The objects behind the nodes.
    pub fn grouping(&self) -> &Grouping {
        &self.grouping
    }

    /// The symmetric matrix of weights.
    pub fn weights(&self) -> ArrayView2<'_, f64> {
        self.weights.view()
    }

    /// The matrix of all objects, as the consensus matrix of consensus clustering is: entry (i, j)
    /// is that of their nodes, and 0 where one of the two is in none.
    ///
    /// ```
    /// use consilience::{Ensemble, MemoryBudget, Similarity};
    /// use consilience::graph::CoAssociation;
    /// use consilience::ndarray::array;
    ///
    /// let ensemble = Ensemble::from_array(array![[0, 0], [0, 1], [0, 0]].view())?;
    /// let graph = CoAssociation::default().fit(&ensemble, &())?.output;
    /// assert_eq!(graph.weights().dim(), (2, 2)); // objects 0 and 2 are one node
    /// let matrix = graph.by_object(MemoryBudget::default())?;
    /// assert_eq!(matrix, array![[1.0, 0.5, 1.0], [0.5, 1.0, 0.5], [1.0, 0.5, 1.0]]);
    /// # Ok::<(), consilience::Error>(())
    /// ```
    ///
    /// # Complexity
    /// 8 n^2 bytes.
    ///
    /// # Errors
    /// [`ErrorKind::TooLarge`](crate::ErrorKind::TooLarge) beyond the budget.
    #[doc(alias = "consensus matrix")]
    #[doc(alias = "co-association matrix")]
    pub fn by_object(&self, budget: MemoryBudget) -> Result<Array2<f64>> {
        let nodes = self.grouping.of_object();
        let n = nodes.len();
        budget.check_square("similarities of objects", n, 8)?;
        let mut all = room::zeros(n.saturating_mul(n))?;
        all.par_chunks_mut(n.max(1)).zip(nodes).for_each(|(out, &own)| {
            if own != Grouping::NONE {
                let row = self.weights.row(own as usize);
                for (out, &node) in out.iter_mut().zip(nodes) {
                    *out = if node == Grouping::NONE { 0.0 } else { row[node as usize] };
                }
            }
        });
        Array2::from_shape_vec((n, n), all).map_err(|e| Error::shape(e.to_string()))
    }

    /// Takes the graph apart, for partitioners that work in its memory.
    pub fn into_parts(self) -> (Grouping, Array2<f64>) {
        (self.grouping, self.weights)
    }
}

/// Refuses a matrix that is not square, finite and equal to its mirror image.
///
/// ```
/// use consilience::core::check_symmetric;
/// use consilience::ndarray::array;
///
/// assert!(check_symmetric("weights", array![[1.0, 0.5], [0.5, 1.0]].view()).is_ok());
/// let error = check_symmetric("weights", array![[1.0, 0.5], [0.4, 1.0]].view()).unwrap_err();
/// assert!(error.message().starts_with("weights"));
/// ```
///
/// # Errors
/// [`ErrorKind::ShapeMismatch`], [`ErrorKind::NonFinite`] or [`ErrorKind::InvalidParameter`] with
/// row and column.
///
/// # Complexity
/// O(n^2), in tiles that stay in the cache.
pub fn check_symmetric(what: &str, matrix: ArrayView2<'_, f64>) -> Result<()> {
    check_symmetric_observed(what, matrix, &())
}

/// As [`check_symmetric`], and can be cancelled.
///
/// # Errors
/// As [`check_symmetric`]; [`ErrorKind::Cancelled`].
///
/// # Complexity
/// As [`check_symmetric`].
#[doc(hidden)]
pub fn check_symmetric_observed(
    what: &str,
    matrix: ArrayView2<'_, f64>,
    observer: &dyn Observer,
) -> Result<()> {
    let (n, columns) = matrix.dim();
    ensure!(n == columns, shape("{what} of {n} x {columns}; expected a square matrix"));
    let fault = unlike(matrix, f64::NEG_INFINITY, observer)?;
    let Some((i, j)) = fault else { return Ok(()) };
    let (w, mirrored) = (matrix[[i, j]], matrix[[j, i]]);
    Err(if !w.is_finite() {
        Error::non_finite(what, i, j, w)
    } else if !mirrored.is_finite() {
        Error::non_finite(what, j, i, mirrored)
    } else {
        Error::invalid(format!(
            "{what} {w} at row {i}, column {j}, mirrored as {mirrored}; expected equal values"
        ))
    })
}

/// The first pair of entries, tile by tile, that are not equal, finite and at least `least`.
fn unlike(
    matrix: ArrayView2<'_, f64>,
    least: f64,
    observer: &dyn Observer,
) -> Result<Option<(usize, usize)>> {
    const TILE: usize = 64;
    let (n, stop) = (matrix.nrows(), Stop::new(observer));
    // One comparison for the usual case: it fails for a NaN and for unequal values.
    let fine = |w: f64, mirrored: f64| w == mirrored && w.abs() < f64::INFINITY && w >= least;
    // The first fault of the first tile that has one, whoever finds it.
    let found = (0..n.div_ceil(TILE)).into_par_iter().find_map_first(|tile| {
        if stop.asked() {
            return Some((0, 0));
        }
        let (top, bottom) = (tile * TILE, n.min((tile + 1) * TILE));
        (top..n).step_by(TILE).find_map(|left| {
            let right = n.min(left + TILE);
            if let Some(all) = matrix.to_slice() {
                let as_it_should_be = (top..bottom).all(|i| {
                    let row = &all[i * n + left..i * n + right];
                    let mirrored = all[left * n + i..].iter().step_by(n);
                    row.iter().zip(mirrored).fold(true, |so, (&w, &m)| so & fine(w, m))
                });
                if as_it_should_be {
                    return None;
                }
            }
            (top..bottom).find_map(|i| {
                let mut columns = left.max(i)..right;
                columns.find(|&j| !fine(matrix[[i, j]], matrix[[j, i]])).map(|j| (i, j))
            })
        })
    });
    stop.check()?;
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    #[test]
    fn graphs_are_checked() {
        let g = Grouping::new(vec![0, 1, Grouping::NONE, 1], 2).unwrap();
        assert_eq!(g.sizes(), [1, 2]);
        assert_eq!(g.expand(&[5, 5]).unwrap().to_signed(), vec![0, 0, -1, 0]);
        assert!(SimilarityGraph::new(g.clone(), array![[1.0, 0.5], [0.5, 1.0]]).is_ok());
        let e = SimilarityGraph::new(g.clone(), array![[1.0, 0.5], [0.4, 1.0]]).unwrap_err();
        assert_eq!(e.kind(), ErrorKind::InvalidParameter);
        let e = SimilarityGraph::new(g.clone(), array![[1.0, f64::NAN], [0.4, 1.0]]).unwrap_err();
        assert_eq!(e.kind(), ErrorKind::NonFinite);
        let graph = SimilarityGraph::new(g.clone(), array![[1.0, 0.5], [0.5, 1.0]]).unwrap();
        assert!(graph.check_answer("own", &g).is_ok());
        for (other, nodes, kind) in [
            (vec![0, 1, 2, 1], 3, ErrorKind::ShapeMismatch),
            (vec![0, 1, 1], 2, ErrorKind::ShapeMismatch),
            (vec![1, 0, Grouping::NONE, 1], 2, ErrorKind::InvalidParameter),
        ] {
            let e = graph.check_answer("own", &Grouping::new(other, nodes).unwrap()).unwrap_err();
            assert_eq!(e.kind(), kind);
            assert!(e.message().starts_with("own returned"), "{e}");
        }
        let e = SimilarityGraph::new(g, array![[1.0]]).unwrap_err();
        assert_eq!(e.kind(), ErrorKind::ShapeMismatch);
        assert_eq!(Grouping::new(vec![0, 2], 2).unwrap_err().kind(), ErrorKind::OutOfRange);
        assert_eq!(Grouping::new(vec![0, 0], 2).unwrap_err().kind(), ErrorKind::Empty);
    }

    #[test]
    fn large_matrices_are_looked_at_until_somebody_asks_to_stop() {
        struct Stop;
        impl Observer for Stop {
            fn cancelled(&self) -> bool {
                true
            }
        }
        let grouping = Grouping::new([0, 1], 2).unwrap();
        let weights = array![[1.0, 0.5], [0.5, 1.0]];
        let e = check_symmetric_observed("weights", weights.view(), &Stop).unwrap_err();
        assert_eq!(e.kind(), ErrorKind::Cancelled);
        let e = SimilarityGraph::new_observed(grouping, weights, &Stop).unwrap_err();
        assert_eq!(e.kind(), ErrorKind::Cancelled);
    }
}
