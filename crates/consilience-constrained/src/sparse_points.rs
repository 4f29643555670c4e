//! The passes of [`points`](crate::points) over sparse rows.

use consilience_core::{Observer, Result, Stop, room};
use consilience_num::Float;
use consilience_num::kmeans::sparse::ScaledRows;
use rayon::prelude::*;

use crate::points::{PointSets, Table, block, farther};

/// Rows that are handed to a thread at a time.
const BLOCK: usize = 512;
/// Below this share of the squared lengths a distance is taken from differences, so that equal rows
/// are at distance 0.
const CLOSE: f64 = 1e-9;

/// Squared distance of a row to a point that has this squared length.
fn squared<F: Float>(rows: &ScaledRows<'_, F>, i: usize, point: &[f64], length: f64) -> f64 {
    let product: f64 = rows.row(i).map(|(j, v)| v * point[j as usize]).sum();
    let lengths = rows.square(i) + length;
    let distance = lengths - 2.0 * product;
    if distance > CLOSE * lengths {
        return distance;
    }
    let mut row = rows.row(i).peekable();
    let entries = point.iter().enumerate().map(|(j, &p)| {
        let v = row.next_if(|e| e.0 as usize == j).map_or(0.0, |e| e.1);
        (v - p) * (v - p)
    });
    entries.sum()
}

fn length(point: &[f64]) -> f64 {
    point.iter().map(|v| v * v).sum()
}

impl<F: Float> Table for ScaledRows<'_, F> {
    fn n(&self) -> usize {
        self.n_rows()
    }

    fn d(&self) -> usize {
        self.n_columns()
    }

    fn row(&self, i: usize) -> Result<Vec<f64>> {
        let mut row = room::zeros(self.n_columns())?;
        self.row(i).for_each(|(j, v)| row[j as usize] = v);
        Ok(row)
    }

    fn bring_nearer(
        &self,
        centre: &[f64],
        cluster: u32,
        closest: &mut [f64],
        labels: &mut [u32],
        observer: &dyn Observer,
    ) -> Result<Option<(usize, f64)>> {
        let (own, stop) = (length(centre), Stop::new(observer));
        let blocks = closest.par_chunks_mut(BLOCK).zip(labels.par_chunks_mut(BLOCK)).enumerate();
        let far = |(b, (closest, labels)): (usize, (&mut [f64], &mut [u32]))| {
            let mut best = (b * BLOCK, f64::NEG_INFINITY);
            if stop.asked() {
                return best;
            }
            for (r, (closest, label)) in closest.iter_mut().zip(labels).enumerate() {
                let i = b * BLOCK + r;
                let now = squared(self, i, centre, own);
                if now < *closest {
                    (*closest, *label) = (now, cluster);
                }
                best = farther(best, (i, *closest));
            }
            best
        };
        let found = blocks.map(far).reduce_with(farther);
        stop.check()?;
        Ok(found)
    }

    fn nearest(
        &self,
        sets: &PointSets,
        closest: &mut [f64],
        labels: &mut [u32],
        observer: &dyn Observer,
    ) -> Result<()> {
        let lengths: Vec<Vec<f64>> = sets.sets().map(|set| set.map(length).collect()).collect();
        let stop = Stop::new(observer);
        // A product takes less than a point has numbers, and as much where the rows are equal.
        let some = block(BLOCK, sets.n_numbers());
        closest.par_chunks_mut(some).zip(labels.par_chunks_mut(some)).enumerate().for_each(
            |(b, (closest, labels))| {
                if stop.asked() {
                    return;
                }
                for (r, (closest, label)) in closest.iter_mut().zip(labels).enumerate() {
                    let mut best = (f64::INFINITY, 0);
                    for (s, (set, lengths)) in (0..).zip(sets.sets().zip(&lengths)) {
                        let i = b * some + r;
                        let far = set.zip(lengths).map(|(p, &length)| squared(self, i, p, length));
                        let far = far.fold(0.0, f64::max);
                        if far < best.0 {
                            best = (far, s);
                        }
                    }
                    (*closest, *label) = best;
                }
            },
        );
        stop.check()
    }
}
