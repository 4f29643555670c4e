use consilience_core::{Observer, Result, Seed, Stop, Stream, room};

use super::ScaledRows;
use crate::Float;
use crate::reduce::each_chunk_if;

const CHUNK: usize = 1 << 10;
/// Below this share of the squared lengths a distance is computed from differences: equal rows are
/// then at distance 0.
const CLOSE: f64 = 1e-9;

/// [`super::spread_rows`].
pub(super) fn spread_rows<F: Float>(
    rows: &ScaledRows<'_, F>,
    count: usize,
    seed: Seed,
    parallel: bool,
    observer: &dyn Observer,
) -> Result<Vec<usize>> {
    let mut stream = seed.derive("restart", 0).stream();
    let count = count.min(rows.n_rows());
    plus_plus(rows, None, count, parallel, &mut stream, &Stop::new(observer))
}

/// Rows that serve as first centres, as [`kmeans`](super::super) draws them.
pub(super) fn plus_plus<F: Float>(
    rows: &ScaledRows<'_, F>,
    weights: Option<&[f64]>,
    k: usize,
    parallel: bool,
    stream: &mut Stream,
    stop: &Stop<'_>,
) -> Result<Vec<usize>> {
    let n = rows.n_rows();
    let weight = |i: usize| weights.map_or(1.0, |w| w[i]);
    let mut mass = room::collected((0..n).map(weight))?;
    let mut closest = room::filled(n, f64::INFINITY)?;
    let mut centre = room::zeros(rows.n_columns())?;
    let mut chosen = room::with_capacity(k)?;
    while k > 0
        && let Some(next) = stream.weighted(&mass)
    {
        chosen.push(next);
        if chosen.len() == k {
            break;
        }
        for (j, v) in rows.row(next) {
            centre[j as usize] = v;
        }
        each_chunk_if(parallel, &mut closest, CHUNK, &|c, closest| {
            if stop.asked() {
                return;
            }
            for (i, closest) in (c * CHUNK..).zip(closest) {
                let product: f64 = rows.row(i).map(|(j, v)| v * centre[j as usize]).sum();
                let lengths = rows.square(i) + rows.square(next);
                let mut distance = lengths - 2.0 * product;
                if distance <= CLOSE * lengths {
                    distance = rows.distance(i, next);
                }
                *closest = closest.min(distance);
            }
        });
        stop.check()?;
        for (j, _) in rows.row(next) {
            centre[j as usize] = 0.0;
        }
        for (i, (mass, closest)) in mass.iter_mut().zip(&closest).enumerate() {
            *mass = weight(i) * closest;
        }
    }
    Ok(chosen)
}
