//! How far a result can be trusted, for this program and for `consilience-engine`.

use consilience::trust::Diagnostics;
use serde_json::{Value, json};

use crate::summary::Summary;

/// Adds what is known to a summary, without the confidence of every object. Rows of an ensemble
/// with counts stand for so many objects each.
pub(crate) fn tell(trust: &Diagnostics, counts: Option<&[u64]>, summary: &mut Summary) {
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
    let mean = mean(trust, counts);
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

/// The mean confidence of the objects that the result labels; of the others it is 0.
fn mean(trust: &Diagnostics, counts: Option<&[u64]>) -> f64 {
    let count = |i: usize| counts.map_or(1, |counts| counts[i]) as f64;
    let sum: f64 = trust.confidence.iter().enumerate().map(|(i, c)| c * count(i)).sum();
    let labelled: u64 = trust.clusters.iter().map(|cluster| cluster.objects).sum();
    if labelled > 0 { sum / labelled as f64 } else { 0.0 }
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
