//! The names that commands take for methods, metrics and rules, and for their parameters: one table
//! per option.

pub(crate) mod cluster;
pub(crate) mod complete;
pub(crate) mod crowd;
pub(crate) mod generate;
pub(crate) mod network;
pub(crate) mod update;

use consilience::{MemoryBudget, Seed};

use crate::memory;

/// What the user asks of a method beside its parameters.
#[derive(Clone, Copy)]
pub(crate) struct Ask<C = usize> {
    pub(crate) clusters: C,
    pub(crate) seed: Seed,
    pub(crate) budget: MemoryBudget,
}

impl<C> Ask<C> {
    /// So many clusters, in as much memory as there is.
    pub(crate) fn new(clusters: C, seed: u64) -> Self {
        Ask { clusters, seed: Seed(seed), budget: memory::budget() }
    }
}
