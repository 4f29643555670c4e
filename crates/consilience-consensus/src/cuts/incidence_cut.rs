//! The transfer cut of the graph of microclusters and clusters, which HBGF and LWGP share.

use consilience_core::{Clusters, Error, Microclusters, Observer, Report, Result};
use consilience_graph::{ClusterIncidence, TransferCut};

/// The cut under weights of the clusters; a fixed number is at most that of the microclusters.
pub(super) fn cut_incidence(
    cut: TransferCut,
    clusters: Clusters,
    nodes: &Microclusters,
    report: &mut Report,
    observer: &dyn Observer,
    weights: impl FnOnce(&ClusterIncidence) -> Result<Vec<f64>>,
) -> Result<Vec<usize>> {
    let (incidence, weights) = report.stage("similarity", || {
        let incidence = ClusterIncidence::of(nodes)?;
        let weights = weights(&incidence)?;
        Ok::<_, Error>((incidence, weights))
    })?;
    let cut = match clusters {
        Clusters::Fixed(k) => cut.clusters(k.min(nodes.n_nodes())),
        _ => cut,
    };
    let found = report.stage("partition", || cut.fit_incidence(&incidence, &weights, observer))?;
    report.adopt(found.report);
    Ok(found.output)
}
