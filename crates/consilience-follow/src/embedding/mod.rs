//! A metric on the ensemble's own embedding, learned from must-links and cannot-links as they come.
//!
//! A weight per member can only say whom to believe. The metric says which distinctions matter:
//! [`Embedding`] places every cluster, and through them every object, in a few dimensions;
//! [`MetricRule`] learns a metric there, judges it on links that it has not seen, and reads out.

mod evidence;
mod ground;
mod logdet;
mod place;
mod read_out;
#[cfg(test)]
mod reference;
mod rule;
mod state;
#[cfg(test)]
mod tests;

pub use evidence::{Judgement, LinkEvidence, Reading};
pub use place::{ConsensusEmbedding, Embedding};
pub use read_out::MetricReadOut;
pub use rule::MetricRule;
pub use state::{ConsensusMetric, MetricReport};
