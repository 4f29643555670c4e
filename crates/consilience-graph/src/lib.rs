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
//! [`EvidenceAccumulation`] is made of, [`PairCounts`] and [`SparsePairCounts`] are the evidence
//! itself, [`linkage()`] builds a [`Dendrogram`] over any dissimilarities, and [`TransferCut`]
//! partitions a bipartite graph. [`ClusterIncidence`] is the bipartite graph of the ensemble
//! itself, which [`Hbgf`] and [`Lwgp`] cut and from which members ([`Weac`], [`GpMgla`]) and
//! clusters ([`Lwea`], [`EcpcsHc`], [`EcpcsMc`]) get their weights. [`SpectralCut`] cuts any graph,
//! [`Cspa`], [`Hgpa`] and [`Mcla`] those of the ensemble; [`LinkBased`] and [`RandomWalker`] look
//! beyond direct links.

mod agglomeration;
mod average;
mod clique_cut;
mod cluster_overlaps;
mod co_association;
mod composition;
mod counts;
mod directions;
mod evidence_weights;
mod incidence;
mod lifespan;
mod linkage;
#[cfg(feature = "metis")]
mod metis_cut;
mod reliability;
mod spectral_cut;
mod spectrum;
mod transfer_cut;
mod vat;

/// What [`linked_method`] names.
#[doc(hidden)]
pub use consilience_core;

pub use agglomeration::{Agglomeration, LeafWeights};
pub use clique_cut::{CliqueCut, CutMethod};
pub use cluster_overlaps::ClusterOverlaps;
pub use co_association::CoAssociation;
pub use composition::{Linked, Partitioned};
pub use consilience_core::{Dendrogram, Linkage, Merge, Microclusters};
pub use counts::{CountRow, PairCounts, SparsePairCounts};
pub use directions::{SpectralCount, check_restarts, cluster_directions, numbered, unit_rows};
pub use evidence_weights::{EvidenceWeights, on_grid};
pub use incidence::ClusterIncidence;
pub use lifespan::Lifespan;
pub use linkage::linkage;
#[cfg(feature = "metis")]
pub use metis_cut::MetisCut;
pub use reliability::{
    check_entropy_scale, ensemble_driven_cluster_index, normalized_crowd_agreement,
};
pub use spectral_cut::SpectralCut;
pub use spectrum::{IncidenceSpectrum, leading_eigenpairs};
pub use transfer_cut::TransferCut;
pub use vat::vat_order;
