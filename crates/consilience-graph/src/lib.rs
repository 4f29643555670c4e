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

#![cfg_attr(docsrs, feature(doc_cfg))]

mod agglomeration;
mod average;
mod clique_cut;
mod counts;
mod crowd;
mod cspa;
mod diffusion;
mod eac;
mod ecpcs;
mod gp_mgla;
mod hbgf;
mod incidence;
mod linkage;
mod links;
mod local;
mod mcla;
#[cfg(feature = "metis")]
mod metis_cut;
mod overlap;
mod propagation;
#[cfg(test)]
mod reference;
mod spectral_cut;
mod spectrum;
mod transfer_cut;
mod usenc;
mod vat;
mod walker;
mod weighted;

pub use agglomeration::{Agglomeration, Cut, LeafWeights};
pub use clique_cut::CutMethod;
pub use consilience_core::{Dendrogram, Linkage, Merge, Microclusters};
pub use counts::{CountRow, PairCounts, SparsePairCounts};
pub use crowd::{Weac, WeightedCoAssociation, normalized_crowd_agreement};
pub use cspa::{Cspa, Hgpa};
pub use diffusion::Diffusion;
pub use eac::{CoAssociation, EvidenceAccumulation};
pub use ecpcs::{EcpcsHc, EcpcsMc, EnhancedCoAssociation};
pub use gp_mgla::GpMgla;
pub use hbgf::Hbgf;
pub use incidence::ClusterIncidence;
pub use linkage::linkage;
pub use links::{ApproximateSimRank, ConnectedTriples, LinkBased, LinkSimilarity, SimRank};
pub use local::{LocallyWeighted, Lwea, Lwgp, ensemble_driven_cluster_index};
pub use mcla::Mcla;
#[cfg(feature = "metis")]
pub use metis_cut::MetisCut;
pub use propagation::propagated_cluster_similarity;
pub use spectral_cut::SpectralCut;
pub use spectrum::IncidenceSpectrum;
pub use transfer_cut::{Clusters, TransferCut};
pub use usenc::Usenc;
pub use vat::vat_order;
pub use walker::{RandomWalker, SoftRandomWalker};
