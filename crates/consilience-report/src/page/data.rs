//! From findings to what pictures take.

use ndarray::Array2;

use crate::Findings;
use crate::findings::FlowFindings;
use crate::pictures::flow::Layer;

/// The matrix of the co-association.
pub(super) fn matrix(findings: &Findings) -> Array2<f64> {
    let percent = &findings.co_association.percent;
    let n = percent.len();
    Array2::from_shape_fn((n, n), |(r, c)| f64::from(percent[r][c]) / 100.0)
}

/// The layers of the flow.
pub(super) fn layers(flow: &[FlowFindings], chosen: usize) -> Vec<Layer> {
    flow.iter()
        .map(|layer| Layer {
            name: if layer.clusters == chosen {
                format!("k = {} (taken)", layer.clusters)
            } else {
                format!("k = {}", layer.clusters)
            },
            shares: layer.shares.clone(),
            links: layer.links.clone(),
        })
        .collect()
}
