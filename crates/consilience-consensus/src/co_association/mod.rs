//! Linkage on similarities of microclusters: evidence accumulation and its refinements.

mod confidence;
mod ec_cms;
mod ecpcs_hc;
mod evidence_accumulation;
mod lanes;
mod links;
mod lwea;
mod propagation;
mod sdgca;
mod small;
mod threshold;
mod weac;

pub(crate) use confidence::product;
pub use ec_cms::{EcCms, SelfEnhancedCoAssociation};
pub use ecpcs_hc::{EcpcsHc, EnhancedCoAssociation};
pub use evidence_accumulation::EvidenceAccumulation;
pub use links::{ApproximateSimRank, ConnectedTriples, LinkBased, LinkSimilarity, SimRank};
pub(crate) use lwea::ENTROPY_SCALE;
pub use lwea::{LocallyWeighted, Lwea};
pub use propagation::propagated_cluster_similarity;
pub(crate) use propagation::{STEPS, check_steps};
pub use sdgca::{GuidedCoAssociation, Sdgca};
pub(crate) use weac::{EXPONENT, check_exponent};
pub use weac::{Weac, WeightedCoAssociation};
