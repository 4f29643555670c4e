//! k-means++ (Arthur and Vassilvitskii 2007).

use pulp::Arch;
use rand_chacha::ChaCha8Rng;
use rand_core::Rng;

use super::kernel::ClosestBlock;
use super::rows::Rows;
use super::step;
use crate::Float;

/// Rows that serve as first centres: the first drawn by weight, each further one with probability
/// proportional to weight times squared distance to the nearest so far. Stops early where every row
/// of positive weight coincides with a centre.
pub(super) fn plus_plus<F: Float>(
    rows: &Rows<'_, F>,
    weights: Option<&[f64]>,
    k: usize,
    rng: &mut ChaCha8Rng,
) -> Vec<usize> {
    let mut chosen = Vec::with_capacity(k);
    let mut closest = vec![F::infinity(); rows.n];
    let Some(first) = draw(rows, |i| weights.map_or(1.0, |w| w[i]), rng) else {
        return chosen;
    };
    chosen.push(first);
    while chosen.len() < k {
        let last = chosen[chosen.len() - 1];
        let centre: Vec<F> = rows.row(last).into_iter().map(F::from_f64).collect();
        step::each_block(rows, &mut closest, |first, closest| {
            Arch::new().dispatch(ClosestBlock { rows, centre: &centre, first, closest });
        });
        match draw(rows, |i| weights.map_or(1.0, |w| w[i]) * closest[i].to_f64(), rng) {
            Some(next) => chosen.push(next),
            None => break,
        }
    }
    chosen
}

/// A row drawn in proportion to its mass; `None` where there is no mass.
fn draw<F: Float>(
    rows: &Rows<'_, F>,
    mass: impl Fn(usize) -> f64,
    rng: &mut ChaCha8Rng,
) -> Option<usize> {
    let range = |b: usize| b * rows.block..rows.n.min((b + 1) * rows.block);
    let sums: Vec<f64> = (0..rows.blocks()).map(|b| range(b).map(&mass).sum()).collect();
    let total: f64 = sums.iter().sum();
    if !(total > 0.0 && total.is_finite()) {
        return None;
    }
    let mut rest = uniform(rng) * total;
    let mut last = None;
    for (b, &sum) in sums.iter().enumerate() {
        if rest >= sum {
            rest -= sum;
            // Rounding may carry the draw past the end: keep the last block that has mass.
            if sum > 0.0 {
                last = Some(b);
            }
            continue;
        }
        last = Some(b);
        break;
    }
    let mut found = None;
    for i in range(last?) {
        let m = mass(i);
        if m > 0.0 {
            found = Some(i);
            if rest < m {
                break;
            }
            rest -= m;
        }
    }
    found
}

fn uniform(rng: &mut ChaCha8Rng) -> f64 {
    (rng.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
}
