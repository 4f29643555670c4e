use consilience_core::Ensemble;

use crate::alignment::Alignment;
use crate::weights::Weights;

/// Aligned members with a weight each: what votes are counted from.
#[derive(Clone, Copy)]
pub(crate) struct WeightedMembers<'a> {
    pub(crate) ensemble: &'a Ensemble,
    pub(crate) alignment: &'a Alignment,
    pub(crate) weights: &'a Weights,
}

impl WeightedMembers<'_> {
    /// Number of common clusters, r.
    pub(crate) fn n_clusters(&self) -> usize {
        self.alignment.clusters()
    }
}
