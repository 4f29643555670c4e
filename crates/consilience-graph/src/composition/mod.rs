//! Consensus functions put together from a similarity and what cuts its graph.

mod linked;
mod partitioned;

pub use linked::Linked;
pub use partitioned::Partitioned;
