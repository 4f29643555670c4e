use consilience_graph::CliqueCut;

use super::clique_method::clique_method;

/// Hypergraph partitioning (HGPA): every cluster of every member is a hyperedge, and few of them
/// shall be cut.
///
/// The second of the classics by Strehl and Ghosh. Unlike [`Cspa`](crate::Cspa) a cluster counts
/// once however large it is, so that small, specific clusters count more than members with few
/// large ones.
///
/// Each hyperedge e becomes a clique whose links share its weight:
///
/// ```text
/// w_ij = sum of 1 / (|e| - 1) over the clusters e that hold i and j
/// ```
///
/// so that cutting one object off an otherwise whole cluster costs 1, whatever its size. The
/// published method gives the hypergraph to HMETIS, whose licence is not free and whose clusters
/// are of nearly equal size. The default here is the normalised cut of the cliques, sizes free;
/// `CutMethod::Hypergraph` cuts the hypergraph itself into nearly equal parts, by a multilevel
/// method like HMETIS, and `CutMethod::Metis` (feature `metis`) the cliques.
///
/// ```
/// use consilience::{ConsensusFunction, Ensemble, Partition};
/// use consilience::consensus::Hgpa;
///
/// let ensemble = Ensemble::new(vec![
///     Partition::from_labels(&[0, 0, 0, 1, 1, 2, 2])?,
///     Partition::from_labels(&[0, 0, 1, 1, 1, 2, 2])?,
///     Partition::from_labels(&[0, 0, 0, 1, 1, 2, -1])?,
/// ])?;
/// assert_eq!(Hgpa::new(3).consensus(&ensemble)?.to_signed(), vec![0, 0, 0, 1, 1, 2, 2]);
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Complexity
/// As [`Cspa`](crate::Cspa).
///
/// # Errors
/// As [`Cspa`](crate::Cspa).
///
/// # References
/// Strehl, Ghosh 2002, Section 3.3; the cliques: Agarwal, Branson, Belongie 2006, "Higher Order
/// Learning with Graphs". A cluster of one object links nothing and keeps weight 1 with itself.
#[doc(alias = "HGPA")]
#[derive(Clone, Copy, Debug)]
pub struct Hgpa(CliqueCut);

clique_method!(Hgpa, "hgpa", WEIGHTS, |objects: f64| 1.0 / (objects - 1.0).max(1.0));
