//! Eigenvectors of the graph of nearest neighbours.

use consilience_core::{Observer, Result, Seed};
use consilience_num::eigen::{SymmetricOperator, TruncatedOptions, truncated_eigen};
use consilience_num::sparse::Csr;
use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};
use ndarray::{Array2, ArrayView2, ArrayViewMut2, s};
use rayon::prelude::*;

/// Neighbours of an object; the last sets its scale.
pub(super) const NEIGHBOURS: usize = 10;
/// Least scale of an object, as a share of the mean: else duplicates would be cut off from the
/// rest.
const LEAST_SCALE: f64 = 0.1;
/// Rows whose distances are computed together.
const ROWS: usize = 64;
/// Eigenvalues below this cannot be divided by.
const LEAST: f64 = 1e-3;
/// Residual of an eigenpair: enough for coordinates.
const TOLERANCE: f64 = 1e-6;

/// The graph behind the coordinates, for objects that come later.
#[derive(Clone, Debug)]
pub(crate) struct Graph {
    x: Array2<f64>,
    norms: Vec<f64>,
    scale: Vec<f64>,
    degree: Vec<f64>,
    /// N x k, orthonormal.
    z: Array2<f64>,
    values: Vec<f64>,
}

/// `D^(-1/2) W D^(-1/2)`.
struct Normalised(Csr);

impl SymmetricOperator for Normalised {
    fn dim(&self) -> usize {
        self.0.n_rows()
    }

    fn apply(&self, x: ArrayView2<'_, f64>, mut y: ArrayViewMut2<'_, f64>) {
        match (x.as_slice(), y.as_slice_mut()) {
            (Some(x), Some(out)) => self.0.multiply(x, out, x.len() / self.0.n_rows().max(1)),
            _ => y.fill(f64::NAN),
        }
    }
}

impl Graph {
    /// The `k` leading eigenvectors, and whether they converged.
    pub(super) fn new(
        x: Array2<f64>,
        k: usize,
        seed: Seed,
        observer: &dyn Observer,
    ) -> Result<(Self, bool)> {
        let n = x.nrows();
        let norms: Vec<f64> = x.rows().into_iter().map(|r| r.dot(&r)).collect();
        let count = NEIGHBOURS.min(n - 1);
        let near = nearest(&x, &norms, x.view(), count, true, observer)?;
        let scale =
            floored(near.iter().map(|row| row.last().map_or(0.0, |l| l.1.sqrt())).collect());
        let mut rows: Vec<Vec<(u32, f64)>> = vec![Vec::new(); n];
        for (i, row) in near.iter().enumerate() {
            for &(j, d) in row {
                let w = (-d / (scale[i] * scale[j])).exp();
                rows[i].push((j as u32, w));
                rows[j].push((i as u32, w));
            }
        }
        for row in &mut rows {
            row.sort_by(|a, b| a.0.cmp(&b.0).then(b.1.total_cmp(&a.1)));
            row.dedup_by_key(|e| e.0);
        }
        let degree: Vec<f64> = rows.iter().map(|r| r.iter().map(|e| e.1).sum()).collect();
        let over = |i: usize, j: usize| {
            let d = degree[i] * degree[j];
            if d > 0.0 { 1.0 / d.sqrt() } else { 0.0 }
        };
        let matrix = Csr::from_rows(n, rows).map(|i, j, w| w * over(i, j));
        observer.check()?;
        let options = TruncatedOptions::new(k)
            .tolerance(TOLERANCE)
            .max_iterations(60)
            .seed(seed.derive("eigenvectors", 0));
        let top = truncated_eigen(&Normalised(matrix), &options);
        let kept = top.values.iter().take_while(|&&v| v > LEAST).count();
        let mut z = top.vectors.slice(s![.., ..kept]).as_standard_layout().into_owned();
        let mut values = top.values[..kept].to_vec();
        if kept == 0 {
            // One object has no neighbours.
            (z, values) = (Array2::from_elem((n, 1), 1.0 / (n as f64).sqrt()), vec![1.0]);
        }
        Ok((Graph { x, norms, scale, degree, z, values }, top.converged))
    }

    pub(super) fn coordinates(&self) -> ArrayView2<'_, f64> {
        self.z.view()
    }

    /// Coordinates of new rows, by the eigenvectors' own equation over their nearest neighbours.
    pub(super) fn extend(&self, new: &Array2<f64>) -> Result<Array2<f64>> {
        let count = NEIGHBOURS.min(self.x.nrows());
        let near = nearest(&self.x, &self.norms, new.view(), count, false, &())?;
        let mut z = Array2::zeros((new.nrows(), self.z.ncols()));
        for (row, mut out) in near.iter().zip(z.rows_mut()) {
            let far = row.last().map_or(0.0, |l| l.1.sqrt());
            let own = if far > 0.0 { far } else { 1.0 };
            // Relative to the nearest, so that far objects have a neighbour too.
            let power = |&(j, d): &(usize, f64)| d / (own * self.scale[j]);
            let first = row.iter().map(power).fold(f64::INFINITY, f64::min);
            let w: Vec<f64> = row.iter().map(|e| (first - power(e)).exp()).collect();
            let degree: f64 = w.iter().sum();
            for (&(j, _), w) in row.iter().zip(&w) {
                if self.degree[j] > 0.0 {
                    out.scaled_add(w / (degree * self.degree[j]).sqrt(), &self.z.row(j));
                }
            }
            out.iter_mut().zip(&self.values).for_each(|(o, v)| *o /= v);
        }
        Ok(z)
    }
}

/// Scales, none below a share of their mean.
fn floored(mut scale: Vec<f64>) -> Vec<f64> {
    let mean = scale.iter().sum::<f64>() / scale.len().max(1) as f64;
    let least = if mean > 0.0 { LEAST_SCALE * mean } else { 1.0 };
    scale.iter_mut().for_each(|s| *s = s.max(least));
    scale
}

/// Neighbours of a row with their squared distances.
type Near = Vec<(usize, f64)>;

/// For every row of `new` its `count` nearest rows of `x` with squared distances, ascending; of
/// equals the lower number. `apart` leaves out the row of its own number.
fn nearest(
    x: &Array2<f64>,
    norms: &[f64],
    new: ArrayView2<'_, f64>,
    count: usize,
    apart: bool,
    observer: &dyn Observer,
) -> Result<Vec<Near>> {
    let ((n, d), new) = (x.dim(), new.as_standard_layout());
    let (x, rows) = (x.as_slice().unwrap_or_default(), new.as_slice().unwrap_or_default());
    let all = MatRef::from_row_major_slice(x, n, d);
    let parts: Result<Vec<Vec<Near>>> = rows
        .par_chunks(ROWS * d)
        .enumerate()
        .map(|(c, part)| {
            observer.check()?;
            let m = part.len() / d;
            let mut products = vec![0.0; m * n];
            let out = MatMut::from_row_major_slice_mut(&mut products, m, n);
            let part_rows = MatRef::from_row_major_slice(part, m, d);
            matmul(out, Accum::Replace, part_rows, all.transpose(), 1.0, Par::Seq);
            let mut order: Vec<u32> = Vec::with_capacity(n);
            Ok(part
                .chunks_exact(d)
                .zip(products.chunks_exact_mut(n))
                .enumerate()
                .map(|(r, (row, rough))| {
                    rough.iter_mut().zip(norms).for_each(|(p, norm)| *p = norm - 2.0 * *p);
                    let own = c * ROWS + r;
                    order.clear();
                    order.extend((0..n as u32).filter(|&j| !(apart && j as usize == own)));
                    let by = |a: &u32, b: &u32| {
                        rough[*a as usize].total_cmp(&rough[*b as usize]).then(a.cmp(b))
                    };
                    if count == 0 {
                        return Vec::new();
                    }
                    if count < order.len() {
                        order.select_nth_unstable_by(count - 1, by);
                        order.truncate(count);
                    }
                    // The rough distances carry the rounding of large norms.
                    let mut near: Near = order
                        .iter()
                        .map(|&j| {
                            let other = &x[j as usize * d..][..d];
                            (
                                j as usize,
                                row.iter().zip(other).map(|(a, b)| (a - b) * (a - b)).sum(),
                            )
                        })
                        .collect();
                    near.sort_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0)));
                    near
                })
                .collect())
        })
        .collect();
    Ok(parts?.into_iter().flatten().collect())
}
