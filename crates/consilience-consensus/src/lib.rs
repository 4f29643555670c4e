//! Consensus functions: from an ensemble to one clustering.
//!
//! [`EvidenceAccumulation`], [`Weac`], [`Lwea`], [`EcCms`], [`Sdgca`], [`EcpcsHc`] and
//! [`LinkBased`] put a linkage on a similarity of microclusters, each with a similarity of its own.
//! [`Cspa`], [`Hgpa`], [`Mcla`], [`Hbgf`], [`Lwgp`], [`GpMgla`], [`EcpcsMc`] and [`USenc`] cut a
//! graph of the ensemble. Votes need no graph: [`Voting`] matches the labels of all members and
//! counts, [`LeastSquares`] does so softly; [`Qmi`] and [`MixtureModel`] cluster the label rows
//! themselves, by distance and by likelihood. [`Ballots`] are what these work on: the members over
//! microclusters, sorted so that no result depends on the order in which they came.
//!
//! [`NetworkComponents`], [`NetworkLinkage`] and [`NetworkPropagation`] combine clusterings of the
//! nodes of a network, and look at its edges alone.
//!
//! ```
//! use consilience::{Clusters, ConsensusFunction, Ensemble, Partition};
//! use consilience::consensus::{EvidenceAccumulation, LeastSquares};
//!
//! let ensemble = Ensemble::new(vec![
//!     Partition::from_labels(&[0, 0, 0, 1, 1, 1])?,
//!     Partition::from_labels(&[0, 0, 0, 1, 1, 2])?,
//!     Partition::from_labels(&[0, 0, 1, 1, 1, 1])?,
//! ])?;
//! let eac = EvidenceAccumulation::new(2);
//! assert_eq!(eac.consensus(&ensemble)?.to_signed(), [0, 0, 0, 1, 1, 1]);
//! // The number of clusters may be left to the method.
//! let eac = EvidenceAccumulation::new(Clusters::Auto);
//! assert_eq!(eac.consensus(&ensemble)?.n_clusters(), 2);
//! // Two of three members put the third object with the first.
//! let soft = LeastSquares::new(2).consensus(&ensemble)?;
//! assert!((soft.values()[[2, 0]] - 2.0 / 3.0).abs() < 1e-12);
//! # Ok::<(), consilience::Error>(())
//! ```

mod co_association;
mod cuts;
mod network;
#[cfg(test)]
mod reference;
mod votes;

pub use co_association::{
    ApproximateSimRank, ConnectedTriples, EcCms, EcpcsHc, EnhancedCoAssociation,
    EvidenceAccumulation, GuidedCoAssociation, LinkBased, LinkSimilarity, LocallyWeighted, Lwea,
    Sdgca, SelfEnhancedCoAssociation, SimRank, Weac, WeightedCoAssociation,
    propagated_cluster_similarity,
};
pub use cuts::{Cspa, EcpcsMc, GpMgla, Hbgf, Hgpa, Lwgp, Mcla, USenc};
pub use network::{NetworkComponents, NetworkLinkage, NetworkPropagation};
pub use votes::{Ballots, LeastSquares, MixtureModel, Qmi, SoftMixtureModel, Voting};
