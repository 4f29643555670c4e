//! How far a result can be trusted.

use consilience::trust::Diagnostics;
use serde_json::{Value, json};

use crate::summary::Summary;

/// Adds what is known to a summary, under the names of the program `consilience`. The rows stand
/// for so many objects each.
pub(crate) fn tell(trust: &Diagnostics, counts: &[u64], summary: &mut Summary) {
    let clusters: Vec<Value> = trust
        .clusters
        .iter()
        .map(|c| {
            json!({
                "objects": c.objects,
                "density": c.density,
                "nearest": c.nearest.map(|(cluster, _)| cluster),
                "nearest_density": c.nearest.map(|(_, density)| density),
                "stability": c.stability,
                "confidence": c.confidence,
            })
        })
        .collect();
    let members: Vec<Value> = trust
        .members
        .iter()
        .map(|m| {
            json!({
                "clusters": m.clusters,
                "agreement": m.agreement,
                "company": m.agreement_with_others,
            })
        })
        .collect();
    let weighted = trust.confidence.iter().zip(counts).map(|(c, &count)| c * count as f64);
    let mean = weighted.sum::<f64>() / counts.iter().sum::<u64>().max(1) as f64;
    let object = json!({
        "anmi": trust.anmi,
        "diversity": trust.diversity,
        "confidence": mean,
        "dissenters": trust.dissenters,
        "clusters": clusters,
        "members": members,
        "sentences": trust.sentences,
    });
    summary.data("diagnostics", object);
    lines(trust, mean, summary);
}

fn lines(trust: &Diagnostics, confidence: f64, summary: &mut Summary) {
    summary.line("agreement with the members", format!("{:.4}", trust.anmi));
    if let Some(diversity) = trust.diversity {
        summary.line("diversity among them", format!("{diversity:.4}"));
    }
    summary.line("mean confidence", format!("{confidence:.4}"));
    for (c, cluster) in trust.clusters.iter().enumerate() {
        let stability = cluster.stability.map_or("none".to_owned(), |s| format!("{s:.2}"));
        let text = format!(
            "{} objects, confidence {:.2}, stability {stability}",
            cluster.objects, cluster.confidence
        );
        summary.line(format!("cluster {c}"), text);
    }
    for sentence in &trust.sentences {
        summary.line("", sentence);
    }
}
