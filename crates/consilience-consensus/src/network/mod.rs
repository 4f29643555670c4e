//! Consensus on the edges of a network: for clusterings of its nodes, where no pair but the linked
//! ones is ever looked at.

mod adjacency;
mod candidates;
mod components;
mod linkage;
mod propagation;
#[cfg(test)]
mod tests;

use consilience_core::{Ensemble, Joined, Observer, Partition, Report, Result};
use consilience_graph::Network;
use rayon::prelude::*;

pub use components::NetworkComponents;
pub use linkage::NetworkLinkage;
pub use propagation::NetworkPropagation;

use adjacency::Adjacency;

/// Objects that are in no node, since no member labels them.
const NONE: u32 = u32::MAX;
/// Edges that are looked at between two questions whether to stop.
const OFTEN: usize = 1 << 16;

/// An edge between nodes: all edges of the network between their objects.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Edge {
    ends: [u32; 2],
    /// Sum of the co-associations of these edges, and their number.
    sum: f64,
    count: u32,
    /// The smallest and the largest of them.
    least: f64,
    most: f64,
}

/// The network with objects that all members keep together, along edges, as one node.
struct Condensed {
    /// Nodes are numbered by their first object.
    of_object: Vec<u32>,
    /// Objects of each node.
    sizes: Vec<u64>,
    /// By their ends.
    edges: Vec<Edge>,
}

/// What a threshold is multiplied by: sums of weights, and of many edges, may be rounded to below
/// what they are.
const ROUNDED: f64 = 1.0 - 1e-12;

/// Which edges between nodes count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kept {
    All,
    /// Those on which some member keeps both ends together.
    Agreed,
}

impl Condensed {
    fn new(
        network: &Network,
        ensemble: &Ensemble,
        kept: Kept,
        report: &mut Report,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let shares = report.stage("similarity", || network.co_association(ensemble, observer))?;
        report.stage("condensing", || Self::of(network, &shares, ensemble, kept, observer))
    }

    fn of(
        network: &Network,
        shares: &[f64],
        ensemble: &Ensemble,
        kept: Kept,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let mut joined = joined(network, shares, observer, |share| share == 1.0)?;
        let labelled = labelled(ensemble);
        let (of_object, nodes) = joined.numbers(|i| labelled[i]);
        let mut sizes = vec![0; nodes];
        for (i, &node) in of_object.iter().enumerate().filter(|(_, node)| **node != NONE) {
            sizes[node as usize] += ensemble.counts().map_or(1, |counts| counts[i]);
        }
        observer.check()?;
        let mut edges: Vec<([u32; 2], f64)> = network
            .edges()
            .zip(shares)
            .filter(|&(_, &share)| share > 0.0 || kept == Kept::All)
            .map(|((i, j), &share)| ([of_object[i], of_object[j]], share))
            .filter(|([a, b], _)| a != b && *a != NONE && *b != NONE)
            .map(|([a, b], share)| ([a.min(b), a.max(b)], share))
            .collect();
        observer.check()?;
        // Equal entries are the same in every order, so that sums have the same bits.
        edges.par_sort_unstable_by(|x, y| x.0.cmp(&y.0).then(x.1.total_cmp(&y.1)));
        observer.check()?;
        let merge = |part: &[([u32; 2], f64)]| Edge {
            ends: part[0].0,
            sum: part.iter().map(|e| e.1).sum(),
            count: part.len() as u32,
            least: part[0].1,
            most: part[part.len() - 1].1,
        };
        let edges = edges.chunk_by(|x, y| x.0 == y.0).map(merge).collect();
        Ok(Condensed { of_object, sizes, edges })
    }

    fn n_nodes(&self) -> usize {
        self.sizes.len()
    }

    /// The partition of the objects that a clustering of the nodes means.
    fn expand(&self, of_node: &[usize]) -> Result<Partition> {
        Partition::from_fn(self.of_object.len(), |i| match self.of_object[i] {
            NONE => None,
            node => Some(of_node[node as usize] as u64),
        })
    }
}

/// The nodes, joined where the share of an edge is enough.
fn joined(
    network: &Network,
    shares: &[f64],
    observer: &dyn Observer,
    enough: impl Fn(f64) -> bool,
) -> Result<Joined> {
    let mut joined = Joined::new(network.n_nodes());
    for (e, ((i, j), &share)) in network.edges().zip(shares).enumerate() {
        if e.is_multiple_of(OFTEN) {
            observer.check()?;
        }
        if enough(share) {
            joined.join(i, j);
        }
    }
    Ok(joined)
}

/// Whether some member that counts labels each object.
fn labelled(ensemble: &Ensemble) -> Vec<bool> {
    let counts = |u: usize| ensemble.weights().is_none_or(|w| w[u] > 0.0);
    let members: Vec<&Partition> =
        (0..).zip(ensemble.members()).filter(|(u, _)| counts(*u)).map(|(_, m)| m).collect();
    if members.iter().any(|m| m.is_complete()) {
        return vec![true; ensemble.n_objects()];
    }
    let labelled = |i: usize| members.iter().any(|m| m.label(i).is_some());
    (0..ensemble.n_objects()).into_par_iter().map(labelled).collect()
}
