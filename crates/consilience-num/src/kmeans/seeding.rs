//! k-means++ (Arthur and Vassilvitskii 2007).

use consilience_core::{Observer, Result, Seed, Stream, room};
use ndarray::ArrayView2;
use pulp::Arch;

use super::kernel::ClosestBlock;
use super::rows::Rows;
use super::step;
use crate::Float;

/// [`super::spread_rows`].
pub(super) fn spread_rows<F: Float>(
    rows: ArrayView2<'_, F>,
    weights: Option<&[f64]>,
    count: usize,
    seed: Seed,
    parallel: bool,
    observer: &dyn Observer,
) -> Result<Vec<usize>> {
    let rows = Rows::new(rows, count, parallel, observer);
    plus_plus(&rows, weights, count, &mut seed.stream())
}

/// Rows that serve as first centres: the first drawn by weight, each further one with probability
/// proportional to weight times squared distance to the nearest so far. Stops early where every row
/// of positive weight coincides with a centre.
pub(super) fn plus_plus<F: Float>(
    rows: &Rows<'_, F>,
    weights: Option<&[f64]>,
    k: usize,
    stream: &mut Stream,
) -> Result<Vec<usize>> {
    let mut chosen = room::with_capacity(k)?;
    let mut closest = room::filled(rows.n, F::infinity())?;
    let weight = |i: usize| weights.map_or(1.0, |w| w[i]);
    let mut mass = room::collected((0..rows.n).map(weight))?;
    let Some(first) = stream.weighted(&mass) else {
        return Ok(chosen);
    };
    chosen.push(first);
    while chosen.len() < k {
        let last = chosen[chosen.len() - 1];
        let centre: Vec<F> = rows.row(last).into_iter().map(F::from_f64).collect();
        step::each_block(rows, &mut closest, |first, closest| {
            Arch::new().dispatch(ClosestBlock { rows, centre: &centre, first, closest });
        })?;
        for (i, (mass, square)) in mass.iter_mut().zip(&closest).enumerate() {
            *mass = weight(i) * square.to_f64();
        }
        match stream.weighted(&mass) {
            Some(next) => chosen.push(next),
            None => break,
        }
    }
    Ok(chosen)
}
