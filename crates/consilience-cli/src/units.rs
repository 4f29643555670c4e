//! A note where a few columns outweigh all others, as income does beside age: distances then see
//! these columns alone.

use consilience::Features;
use consilience::core::Dense;
use ndarray::Axis;

use crate::terminal::Terminal;

/// Share of the variance of all columns from which on a few of them outweigh the others.
const NEARLY_ALL: f64 = 0.9;
/// How many times the variance of each other column one of the few has at least: components, which
/// have one unit, decline more slowly.
const GAP: f64 = 10.0;
/// How many the few are at most, beside at least as many others.
const FEW: usize = 3;
/// Methods that do not see units, or only directions.
const INDIFFERENT: [&str; 2] = ["gaussian-mixture", "spherical-kmeans"];

/// Says so, and what changes it, unless the features are scaled or `method` makes members that do
/// not depend on units.
pub(crate) fn note(
    features: Features<'_>,
    names: &[String],
    (method, scale): (&str, &str),
    advice: &str,
    terminal: &Terminal,
) {
    if scale != "none" || INDIFFERENT.contains(&method) {
        return;
    }
    let Some((columns, share)) = outweighing(features) else { return };
    let name = |&column: &usize| names.get(column).cloned().unwrap_or_else(|| column.to_string());
    let named: Vec<String> = columns.iter().map(name).collect();
    let (noun, verb) = if named.len() == 1 { ("column", "holds") } else { ("columns", "hold") };
    let counting = columns.iter().filter(|&&column| counts(features, column)).map(name);
    let counting: Vec<String> = counting.collect();
    let may_be_ids = if counting.is_empty() {
        String::new()
    } else {
        format!(
            "; {} has another whole number in each row: if these are no measurements, leave it out \
             by --drop, or name it by --id",
            counting.join(", ")
        )
    };
    terminal.note(format!(
        "{noun} {} {verb} {:.1} % of the variance of the features, so distances see hardly any \
         other: {advice}{may_be_ids}",
        named.join(", "),
        100.0 * share
    ));
}

/// The few columns that have nearly all of the variance, the largest first, and their share; none
/// where values are missing.
fn outweighing(features: Features<'_>) -> Option<(Vec<usize>, f64)> {
    let variances = match features.dense().ok()? {
        Dense::F32(x) => x.var_axis(Axis(0), 0.0).mapv(f64::from),
        Dense::F64(x) => x.var_axis(Axis(0), 0.0),
    };
    let all = variances.sum();
    let mut order: Vec<usize> = (0..variances.len()).filter(|&c| variances[c] > 0.0).collect();
    order.sort_by(|&a, &b| variances[b].total_cmp(&variances[a]));
    let few = (1..=FEW.min(order.len() / 2)).find(|&few| {
        let share = order[..few].iter().map(|&c| variances[c]).sum::<f64>() / all;
        share >= NEARLY_ALL && variances[order[few - 1]] >= GAP * variances[order[few]]
    })?;
    order.truncate(few);
    let share = order.iter().map(|&c| variances[c]).sum::<f64>() / all;
    share.is_finite().then_some((order, share))
}

/// Whether a column has another whole number in each row, as ids do.
fn counts(features: Features<'_>, column: usize) -> bool {
    let Ok(dense) = features.dense() else { return false };
    let mut values: Vec<f64> = match dense {
        Dense::F32(x) => x.column(column).iter().map(|&v| f64::from(v)).collect(),
        Dense::F64(x) => x.column(column).to_vec(),
    };
    let whole = values.iter().all(|v| v.fract() == 0.0);
    values.sort_by(f64::total_cmp);
    whole && values.windows(2).all(|pair| pair[0] < pair[1])
}
