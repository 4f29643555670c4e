//! A note where one column outweighs all others, as income does beside age: distances then see that
//! column alone.

use consilience::Features;
use consilience::core::Dense;
use ndarray::Axis;

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

/// The column that has nearly all of the variance, and its share; none where values are missing.
fn outweighing(features: Features<'_>) -> Option<(usize, f64)> {
    let variances = match features.dense().ok()? {
        Dense::F32(x) => x.var_axis(Axis(0), 0.0).mapv(f64::from),
        Dense::F64(x) => x.var_axis(Axis(0), 0.0),
    };
    let share = variances.iter().map(|variance| variance / variances.sum());
    let (column, share) = share.enumerate().max_by(|a, b| a.1.total_cmp(&b.1))?;
    (variances.len() > 1 && (NEARLY_ALL..1.0).contains(&share)).then_some((column, share))
}
