//! The orthonormal basis of the Krylov space, and how a block of new directions joins it.

use consilience_core::{Observer, Result, Stream, room};
use faer::{Mat, MatRef};

use super::dense::eigen_descending;
use super::tall::{self, Columns};

/// Rounds of orthonormalisation before giving up. Two are usual, a few more follow a loss of rank;
/// only NaN or a product far from symmetric uses them up.
const ROUNDS: usize = 8;

/// n x `stride` row-major numbers, of which the first `len` columns are orthonormal.
pub(super) struct Basis {
    pub(super) values: Vec<f64>,
    pub(super) stride: usize,
    pub(super) len: usize,
}

impl Basis {
    pub(super) fn new(n: usize, stride: usize) -> Result<Self> {
        Ok(Self { values: room::zeros(n.saturating_mul(stride))?, stride, len: 0 })
    }

    /// Columns from `first` to the end.
    pub(super) fn from(&self, first: usize) -> Columns<'_> {
        Columns::new(&self.values, self.stride, first, self.len - first)
    }

    /// Appends a block that is orthonormal to the basis.
    pub(super) fn push(&mut self, block: &[f64], b: usize) {
        tall::copy_columns(&mut self.values, self.stride, self.len, block, b);
        self.len += b;
    }

    /// Keeps only the span of `V S`.
    pub(super) fn restart(&mut self, s: MatRef<'_, f64>) {
        tall::rotate_basis(&mut self.values, self.stride, s);
        self.len = s.ncols();
    }

    /// Turns the n x b block `w`, already rid of its large components in the basis, into an
    /// orthonormal block Q that is also orthogonal to the basis, and returns R with `w = Q R` up to
    /// rounding and `drop`.
    ///
    /// Directions whose length is at most `drop` are noise: random ones take their place and get a
    /// zero row in R, so the block never loses rank. `None` if that fails, which needs numbers that
    /// are not finite.
    ///
    /// One eigendecomposition of the Gram matrix sees singular values only down to 1e-8 of the
    /// largest (it squares them). So the first rounds rotate the block to its singular directions,
    /// measure those directly and bring each to length 1; as soon as the Gram matrix is close to
    /// the identity, one polar step together with one projection is accurate to rounding.
    pub(super) fn orthonormalise(
        &self,
        w: &mut [f64],
        b: usize,
        drop: f64,
        stream: &mut Stream,
        observer: &dyn Observer,
    ) -> Result<Option<Mat<f64>>> {
        let none = Mat::zeros(0, b);
        let nothing = Columns::new(&self.values, self.stride, 0, 0);
        let basis = self.from(0);
        let mut r = Mat::<f64>::identity(b, b);
        for round in 0..ROUNDS {
            observer.check()?;
            // Projecting before the lengths are equal would leave the short directions
            // contaminated.
            let (v, c, gram) = if round == 0 {
                let [gram] = tall::gram([Columns::whole(w, b)], Columns::whole(w, b));
                (nothing, none.clone(), gram)
            } else {
                let [c, gram] = tall::gram([basis, Columns::whole(w, b)], Columns::whole(w, b));
                let gram = gram - tall::small_product(c.transpose(), c.as_ref());
                (basis, c, gram)
            };
            if !(c.is_all_finite() && gram.is_all_finite()) {
                return Ok(None);
            }
            let Some((d, z)) = eigen_descending(gram.as_ref())? else { return Ok(None) };
            if round > 0 && d[0] < 1.5 && d[b - 1] > 0.5 && c.norm_max() < 0.5 {
                let inverse_root = spectral(&z, &d, |d| 1.0 / d.sqrt());
                tall::subtract_and_rotate(w, v, c.as_ref(), inverse_root.as_ref());
                let root = spectral(&z, &d, f64::sqrt);
                return Ok(Some(tall::small_product(root.as_ref(), r.as_ref())));
            }
            tall::subtract_and_rotate(w, v, c.as_ref(), z.as_ref());
            let norms = tall::column_norms(w, b);
            r = tall::small_product(z.transpose(), r.as_ref());
            // Later on all columns have length 1, those of random numbers too.
            let least = if round == 0 { drop } else { 1e-14 };
            let mut lost = Vec::new();
            let mut factors = vec![1.0; b];
            for (i, &norm) in norms.iter().enumerate() {
                if norm > 0.0 && norm > least {
                    factors[i] = 1.0 / norm;
                    r.row_mut(i).iter_mut().for_each(|x| *x *= norm);
                } else {
                    lost.push(i);
                    factors[i] = 0.0;
                    r.row_mut(i).fill(0.0);
                }
            }
            if factors.iter().any(|f| !f.is_finite()) {
                return Ok(None);
            }
            tall::scale_columns(w, &factors);
            refill(w, b, &lost, stream);
        }
        Ok(None)
    }
}

/// `Z diag(f(d)) Z^T`.
fn spectral(z: &Mat<f64>, d: &[f64], f: impl Fn(f64) -> f64) -> Mat<f64> {
    let scaled = Mat::from_fn(z.nrows(), z.ncols(), |i, j| z[(i, j)] * f(d[j]));
    tall::small_product(scaled.as_ref(), z.transpose())
}

/// Fills the given columns with random numbers, of norm about 1.
pub(super) fn refill(w: &mut [f64], b: usize, columns: &[usize], stream: &mut Stream) {
    if columns.is_empty() {
        return;
    }
    // Uniform on [-1, 1] has variance 1/3.
    let scale = (3.0 / (w.len() / b) as f64).sqrt();
    for row in w.chunks_exact_mut(b) {
        for &j in columns {
            row[j] = (2.0 * stream.uniform() - 1.0) * scale;
        }
    }
}
