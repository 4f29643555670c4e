//! A note where one column outweighs all others, as income does beside age: distances then see that
//! column alone.

use consilience::Features;
use consilience::core::Dense;
use ndarray::ArrayView1;

use crate::terminal::Terminal;

/// Share of the variance of all columns from which on one of them outweighs the others.
const NEARLY_ALL: f64 = 0.98;
/// Methods that do not see units, or only directions.
const INDIFFERENT: [&str; 2] = ["gaussian-mixture", "spherical-kmeans"];

/// Says so, and which option changes it, unless the features are scaled or `method` makes members
/// that do not depend on units.
pub(crate) fn note(
    features: Features<'_>,
    names: &[String],
    (method, scale): (&str, &str),
    option: &str,
    terminal: &Terminal,
) {
    if scale != "none" || INDIFFERENT.contains(&method) {
        return;
    }
    let Some((column, share)) = outweighing(features) else { return };
    let name = names.get(column).cloned().unwrap_or_else(|| column.to_string());
    terminal.note(format!(
        "column {name} holds {:.1} % of the variance of the features, so distances see hardly any \
         other: {option} lets all columns count",
        100.0 * share
    ));
}

/// The column that has nearly all of the variance, and its share.
fn outweighing(features: Features<'_>) -> Option<(usize, f64)> {
    let variances: Vec<f64> = match features.dense().ok()? {
        Dense::F32(x) => x.columns().into_iter().map(|c| variance(c, f64::from)).collect(),
        Dense::F64(x) => x.columns().into_iter().map(|c| variance(c, |x| x)).collect(),
    };
    if variances.len() < 2 {
        return None;
    }
    let total: f64 = variances.iter().sum();
    let (column, most) = variances.into_iter().enumerate().max_by(|a, b| a.1.total_cmp(&b.1))?;
    let share = most / total;
    (share.is_finite() && share >= NEARLY_ALL && share < 1.0).then_some((column, share))
}

/// The variance of the values that are there.
fn variance<F: Copy>(column: ArrayView1<'_, F>, number: impl Fn(F) -> f64) -> f64 {
    let values = || column.iter().map(|&x| number(x)).filter(|x| x.is_finite());
    let count = values().count().max(1) as f64;
    let mean = values().sum::<f64>() / count;
    values().map(|x| (x - mean) * (x - mean)).sum::<f64>() / count
}
