//! From an ensemble to a graph, and from a graph to a partition.
//!
//! Objects that every base clustering treats alike form one *microcluster*; how often two
//! microclusters are together, and how often both are labelled at all, are the pair counts (c, N).
//! Everything in this crate works on those few microclusters and expands at the end:
//!
//! ```
//! use consilience_core::{ConsensusFunction, Ensemble, Partition};
//! use consilience_graph::{EvidenceAccumulation, Linkage, Microclusters};
//!
//! let ensemble = Ensemble::new(vec![
//!     Partition::from_labels(&[0, 0, 0, 1, 1, 1])?,
//!     Partition::from_labels(&[0, 0, 0, 1, 1, 2])?,
//!     Partition::from_labels(&[0, 0, 1, 1, 1, 1])?,
//! ])?;
//! assert_eq!(Microclusters::of(&ensemble)?.n_nodes(), 4);
//!
//! let eac = EvidenceAccumulation::new(2).linkage(Linkage::Average);
//! let consensus = eac.consensus(&ensemble)?;
//! assert_eq!(consensus.to_signed(), vec![0, 0, 0, 1, 1, 1]);
//! # Ok::<(), consilience_core::Error>(())
//! ```
//!
//! The lower road: [`CoAssociation`] is the similarity and [`Agglomeration`] the partitioner that
//! [`EvidenceAccumulation`] is made of, [`PairCounts`] and [`SparsePairCounts`] are the evidence itself,
//! [`linkage()`] builds a [`Dendrogram`] over any dissimilarities, and [`TransferCut`] partitions a
//! bipartite graph.

mod agglomeration;
mod counts;
mod dendrogram;
mod eac;
mod linkage;
mod microclusters;
mod transfer_cut;

pub use agglomeration::{Agglomeration, Cut, LeafWeights};
pub use consilience_core::Linkage;
pub use counts::{CountRow, PairCounts, SparsePairCounts};
pub use dendrogram::{Dendrogram, Merge};
pub use eac::{CoAssociation, EvidenceAccumulation};
pub use linkage::linkage;
pub use microclusters::Microclusters;
pub use transfer_cut::{Clusters, TransferCut};
