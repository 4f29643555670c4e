//! From an ensemble to a graph, and from a graph to a partition.
//!
//! Objects that every base clustering treats alike form one *microcluster*; how often two
//! microclusters are together, and how often both are labelled at all, are the pair counts.
//! Everything in this crate works on those few microclusters and expands at the end:
//!
//! ```
//! use consilience::{ConsensusFunction, Ensemble, Linkage, Microclusters, Partition};
//! use consilience::graph::{CoAssociation, Linked};
//!
//! let ensemble = Ensemble::new(vec![
//!     Partition::from_labels(&[0, 0, 0, 1, 1, 1])?,
//!     Partition::from_labels(&[0, 0, 0, 1, 1, 2])?,
//!     Partition::from_labels(&[0, 0, 1, 1, 1, 1])?,
//! ])?;
//! assert_eq!(Microclusters::of(&ensemble)?.n_nodes(), 4);
//!
//! let method = Linked::new(CoAssociation::default(), 2).linkage(Linkage::Complete);
//! let consensus = method.consensus(&ensemble)?;
//! assert_eq!(consensus.to_signed(), vec![0, 0, 0, 1, 1, 1]);
//! # Ok::<(), consilience::Error>(())
//! ```
//!
//! Composition: [`Linked`] makes a consensus function of any similarity and a linkage,
//! [`Partitioned`] of any similarity and a graph partitioner ([`Agglomeration`], [`SpectralCut`],
//! [`CliqueCut`]). [`linked_method`] makes a published method of a struct around a [`Linked`].
//!
//! Building blocks: [`PairCounts`] and [`SparsePairCounts`] are the evidence of pairs,
//! [`ClusterIncidence`] is the bipartite graph of microclusters and clusters, [`ClusterOverlaps`]
//! what clusters have in common, [`EvidenceWeights`] a co-association with weights, [`linkage()`] a
//! [`Dendrogram`] over any dissimilarities, [`TransferCut`] the cut of a bipartite graph and
//! [`IncidenceSpectrum`] its eigenvectors.

#![cfg_attr(docsrs, feature(doc_cfg))]

mod agglomeration;
mod agreement_row;
mod average;
mod chain;
mod clique_cut;
mod cluster_overlaps;
mod co_association;
mod components;
mod composition;
mod counts;
mod directions;
mod evidence_weights;
mod hypergraph_cut;
mod incidence;
mod lifespan;
mod linkage;
mod merging;
#[cfg(feature = "metis")]
mod metis_cut;
mod most_clusters;
mod network;
mod reliability;
mod rows;
mod similarity_from_sprs;
mod spectral_cut;
mod spectrum;
mod transfer_cut;
mod vat;

/// What [`linked_method`] names.
#[doc(hidden)]
pub use consilience_core;

pub use agglomeration::{Agglomeration, LeafWeights};
pub use agreement_row::AgreementRow;
pub use chain::{SimilarityRows, average_of_rows};
pub use clique_cut::{CliqueCut, CutMethod};
pub use cluster_overlaps::ClusterOverlaps;
pub use co_association::CoAssociation;
pub use components::Components;
pub use composition::{Linked, Partitioned};
pub use consilience_core::{Dendrogram, Linkage, Merge, Microclusters};
pub use counts::{CountRow, PairCounts, SparsePairCounts};
pub use directions::{SpectralCount, cluster_directions, numbered, unit_rows};
pub use evidence_weights::{EvidenceWeights, on_grid};
pub use hypergraph_cut::HypergraphCut;
pub use incidence::ClusterIncidence;
pub use lifespan::Lifespan;
pub use linkage::linkage;
#[cfg(feature = "metis")]
pub use metis_cut::MetisCut;
pub use most_clusters::most_clusters;
pub use network::Network;
pub use reliability::{
    check_entropy_scale, ensemble_driven_cluster_index, normalized_crowd_agreement,
};
pub use rows::each_row;
pub use similarity_from_sprs::similarity_from_sprs;
pub use spectral_cut::SpectralCut;
pub use spectrum::{
    Eigenpairs, IncidenceSpectrum, eigen_columns, leading_eigenpairs, leading_eigenpairs_within,
};
pub use transfer_cut::TransferCut;
pub use vat::vat_order;
