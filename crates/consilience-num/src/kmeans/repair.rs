//! Empty clusters.

use consilience_core::Result;

use super::centres::Centres;
use super::kernel::Partial;
use super::rows::Rows;
use super::step;
use crate::Float;

/// Fills each empty cluster with the row that fits its own centre worst, together with the rows
/// equal to it. Clusters stay empty only where every row coincides with its centre: then there are
/// no more distinct rows. Returns whether anything moved.
pub(super) fn fill_empty<F: Float>(
    rows: &Rows<'_, F>,
    weights: Option<&[f64]>,
    centres: &mut Centres<F>,
    total: &mut Partial,
    labels: &mut [u32],
) -> Result<bool> {
    let empty: Vec<usize> = (0..centres.k).filter(|&c| total.counts[c] == 0).collect();
    if empty.is_empty() {
        return Ok(false);
    }
    for c in 0..centres.k {
        take_mean(centres, total, c);
    }
    let mut distance = step::distances(rows, centres, labels)?;
    let mut moved = false;
    for target in empty {
        while let Some(worst) = farthest(&distance) {
            rows.stop.check()?;
            let donor = labels[worst] as usize;
            let members: Vec<usize> =
                (0..rows.n).filter(|&i| labels[i] as usize == donor).collect();
            let (equal, others): (Vec<_>, Vec<_>) =
                members.into_iter().partition(|&i| rows.same(i, worst));
            if others.is_empty() {
                // All rows of the donor are equal: its distance is rounding in the mean.
                let row = rows.row(worst);
                centres.exact[donor * rows.d..][..rows.d].copy_from_slice(&row);
                for i in equal {
                    distance[i] = 0.0;
                }
                continue;
            }
            for &i in &equal {
                labels[i] = target as u32;
            }
            for (cluster, members) in [(target, &equal), (donor, &others)] {
                resum(rows, weights, total, cluster, members);
                take_mean(centres, total, cluster);
                for &i in members {
                    distance[i] = rows.distance(i, centres.row(cluster));
                }
            }
            moved = true;
            break;
        }
    }
    Ok(moved)
}

/// Index of the largest positive distance, the first one of equals.
fn farthest(distance: &[f64]) -> Option<usize> {
    let mut best = (0.0, None);
    for (i, &d) in distance.iter().enumerate() {
        if d > best.0 {
            best = (d, Some(i));
        }
    }
    best.1
}

fn resum<F: Float>(
    rows: &Rows<'_, F>,
    weights: Option<&[f64]>,
    total: &mut Partial,
    c: usize,
    members: &[usize],
) {
    let sums = &mut total.sums[c * rows.d..][..rows.d];
    sums.fill(0.0);
    total.weights[c] = 0.0;
    for &i in members {
        let weight = weights.map_or(1.0, |w| w[i]);
        rows.add_to(i, weight, sums);
        total.weights[c] += weight;
    }
    total.counts[c] = members.len();
}

/// Moves a centre to the mean of its rows; it stays where they have no weight.
pub(super) fn take_mean<F: Float>(centres: &mut Centres<F>, total: &Partial, c: usize) {
    let d = centres.d;
    if total.weights[c] > 0.0 {
        for (x, sum) in centres.exact[c * d..][..d].iter_mut().zip(&total.sums[c * d..]) {
            *x = sum / total.weights[c];
        }
    }
}
