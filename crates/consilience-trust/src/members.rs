//! The members that count, as labels: what is counted in labels takes any ensemble.

use consilience_core::{Ensemble, Result};

/// How often each member counts.
pub(crate) fn weights(ensemble: &Ensemble) -> Vec<f64> {
    ensemble.weights().map_or_else(|| vec![1.0; ensemble.n_members()], <[f64]>::to_vec)
}

/// The most probable clusters of the members, those of weight 0 left out.
pub(crate) fn heard(ensemble: &Ensemble) -> Result<Ensemble> {
    let (hard, weights) = (ensemble.hardened(), weights(ensemble));
    let heard: Vec<usize> = (0..weights.len()).filter(|&u| weights[u] > 0.0).collect();
    if heard.len() == weights.len() { Ok(hard) } else { hard.select(&heard) }
}

/// The same with each member as often as it counts, and without weights, where these are whole
/// multiples of the least of them or of 1 and so many members are no more than `most`. Otherwise
/// the weights stay.
pub(crate) fn repeated(ensemble: &Ensemble, most: usize) -> Result<Ensemble> {
    let heard = heard(ensemble)?;
    if heard.weights().is_none() {
        return Ok(heard);
    }
    let weights = weights(&heard);
    let members = |unit: f64| -> Option<Vec<usize>> {
        let times: Vec<f64> = weights.iter().map(|w| w / unit).collect();
        let whole = times.iter().all(|t| t.fract() == 0.0);
        if !whole || times.iter().sum::<f64>() > most as f64 {
            return None;
        }
        let all = times.iter().enumerate();
        Some(all.flat_map(|(u, &t)| std::iter::repeat_n(u, t as usize)).collect())
    };
    let least = weights.iter().copied().fold(f64::INFINITY, f64::min);
    match members(least).or_else(|| members(1.0)) {
        Some(chosen) => heard.with_weights(vec![1.0; weights.len()])?.select(&chosen),
        None => Ok(heard),
    }
}
