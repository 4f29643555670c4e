//! The eigenpairs beyond a threshold of a matrix that changes a little from step to step.

use consilience_core::{MemoryBudget, Observer, Result, Seed};
use consilience_num::eigen::{SymmetricOperator, symmetric_eigen};
use consilience_num::sparse::Csr;
use ndarray::{Array2, ArrayView2, ArrayViewMut2, Axis, s};

use super::tall;

/// Fewest vectors beyond those wanted.
const SPARE: usize = 8;
/// One more for so many wanted: with too few, a rank in the hundreds is found a few at a time, and
/// the completion crawls.
const WANTED_PER_SPARE: usize = 3;
/// Below this order the matrix is decomposed whole.
const SMALL: usize = 64;
/// A filter amplifies a vector at the threshold by so much against those that are not kept, ...
const AMPLIFIED: f64 = 4.0;
/// ... if a polynomial of this degree can.
const DEGREE: usize = 6;

/// A sparse matrix plus `U diag(values) U'`.
pub(crate) struct LowRankPlusSparse<'a> {
    pub(crate) sparse: Csr,
    pub(crate) vectors: &'a Array2<f64>,
    pub(crate) values: &'a [f64],
}

impl SymmetricOperator for LowRankPlusSparse<'_> {
    fn dim(&self) -> usize {
        self.sparse.n_rows()
    }

    fn apply(&self, x: ArrayView2<f64>, mut y: ArrayViewMut2<f64>) {
        let width = x.ncols();
        if let (Some(x), Some(y)) = (x.as_slice(), y.as_slice_mut()) {
            self.sparse.multiply(x, y, width);
        }
        if !self.values.is_empty() {
            let mut inner = tall::gram(self.vectors.view(), x);
            for (mut row, &value) in inner.rows_mut().into_iter().zip(self.values) {
                row *= value;
            }
            y += &tall::product(self.vectors, &inner);
        }
    }
}

impl LowRankPlusSparse<'_> {
    fn times(&self, x: &Array2<f64>) -> Array2<f64> {
        let mut y = Array2::zeros(x.dim());
        self.apply(x.view(), y.view_mut());
        y
    }
}

/// A basis that is carried from one matrix to the next.
#[derive(Debug)]
pub(crate) struct Subspace {
    basis: Array2<f64>,
    /// Magnitude of the smallest eigenvalue in the basis; 0 where it holds random vectors.
    least: f64,
    seed: Seed,
    drawn: u64,
    budget: MemoryBudget,
}

/// Bytes for each entry of a basis: it, three steps of its filter and a product, or what
/// decomposing takes where it is whole; and the eigenvectors of the iterate and of the best.
const ENTRY: usize = 56;

/// Eigenpairs beyond the threshold in magnitude, vectors as columns.
pub(crate) struct Beyond {
    pub(crate) values: Vec<f64>,
    pub(crate) vectors: Array2<f64>,
}

impl Subspace {
    /// Starts from orthonormal vectors, as columns, and `width` random ones.
    pub(crate) fn new(
        vectors: &Array2<f64>,
        width: usize,
        seed: Seed,
        budget: MemoryBudget,
    ) -> Result<Self> {
        let mut out = Subspace { basis: vectors.clone(), least: 0.0, seed, drawn: 0, budget };
        out.widen((vectors.ncols() + width).min(vectors.nrows()))?;
        Ok(out)
    }

    /// Columns of the basis.
    pub(crate) fn width(&self) -> usize {
        self.basis.ncols()
    }

    /// Refuses a basis of so many columns that does not fit: a rank may rise on the way to far more
    /// than the known entries let expect.
    fn check(&self, width: usize) -> Result<()> {
        self.budget.check_table("basis of the completion", self.basis.nrows(), width, ENTRY)
    }

    /// Adds random columns.
    fn widen(&mut self, width: usize) -> Result<()> {
        let (n, old) = self.basis.dim();
        self.check(width)?;
        let mut stream = self.seed.derive("completion basis", self.drawn).stream();
        self.drawn += 1;
        let mut basis = Array2::zeros((n, width));
        basis.slice_mut(s![.., ..old]).assign(&self.basis);
        basis.slice_mut(s![.., old..]).mapv_inplace(|_| stream.normal());
        self.basis = orthonormal(basis);
        self.least = 0.0;
        Ok(())
    }

    /// The basis, filtered: a Chebyshev polynomial of the matrix that is at most 1 where its
    /// eigenvalues are below the least of the basis and grows steeply beyond. One product where the
    /// basis is random, since a steep filter would leave nothing of it but the largest
    /// eigenvectors.
    fn filtered(&self, matrix: &LowRankPlusSparse<'_>, threshold: f64) -> Array2<f64> {
        let first = matrix.times(&self.basis);
        let ratio = threshold / self.least;
        if !(ratio > 1.0) || ratio.is_infinite() {
            return first;
        }
        let degree = (AMPLIFIED.acosh() / ratio.acosh()).ceil().clamp(1.0, DEGREE as f64) as usize;
        let scale = 1.0 / self.least;
        let (mut before, mut last) = (self.basis.clone(), first * scale);
        for _ in 1..degree {
            let mut next = matrix.times(&last);
            ndarray::Zip::from(&mut next).and(&before).for_each(|x, b| *x = 2.0 * scale * *x - b);
            (before, last) = (last, next);
        }
        last
    }

    /// A filter step and a Rayleigh-Ritz projection, widened until the basis holds vectors below
    /// the threshold as well.
    ///
    /// # Errors
    /// Where the basis outgrows the memory budget, or on cancellation, which is looked at once for
    /// each basis.
    pub(crate) fn beyond(
        &mut self,
        matrix: &LowRankPlusSparse<'_>,
        threshold: f64,
        observer: &dyn Observer,
    ) -> Result<Beyond> {
        let n = matrix.dim();
        // What the filter left of the basis before.
        let mut before = None;
        loop {
            observer.check()?;
            let mut exhausted = false;
            if n <= SMALL || 2 * self.width() > n {
                self.check(n)?;
                self.basis = Array2::eye(n);
            } else {
                self.basis = orthonormal(self.filtered(matrix, threshold));
                // Random columns were added, and nothing came of them: the matrix has no more
                // directions than the basis, which may be just those that are wanted.
                exhausted = before.is_some_and(|before| self.width() <= before);
                before = Some(self.width());
                if self.width() < SPARE {
                    // A matrix of lower rank, the zero of the first step for one, leaves too
                    // little.
                    self.widen(SPARE)?;
                }
            }
            let image = matrix.times(&self.basis);
            let projected = tall::gram(self.basis.view(), image.view());
            // Only its lower triangle is read, so that rounding cannot make it unsymmetric.
            let Some(eigen) = symmetric_eigen(projected.view()) else {
                return Ok(Beyond { values: Vec::new(), vectors: Array2::zeros((n, 0)) });
            };
            let mut order: Vec<usize> = (0..eigen.values.len()).collect();
            order.sort_by(|&a, &b| {
                eigen.values[b].abs().total_cmp(&eigen.values[a].abs()).then(a.cmp(&b))
            });
            let wanted = order.iter().take_while(|&&o| eigen.values[o].abs() > threshold).count();
            let ritz = tall::product(&self.basis, &eigen.vectors.select(Axis(1), &order));
            let full = self.width() >= n;
            let spare = SPARE.max(wanted / WANTED_PER_SPARE);
            if !full && !exhausted && wanted + spare / 2 > self.width() {
                self.basis = ritz;
                self.widen((wanted + wanted / 2 + spare).min(n))?;
                continue;
            }
            let keep = (wanted + spare).min(ritz.ncols());
            self.basis = ritz.slice(s![.., ..keep]).as_standard_layout().to_owned();
            self.least = order.get(keep.wrapping_sub(1)).map_or(0.0, |&o| eigen.values[o].abs());
            return Ok(Beyond {
                values: order[..wanted].iter().map(|&o| eigen.values[o]).collect(),
                vectors: ritz.slice(s![.., ..wanted]).as_standard_layout().to_owned(),
            });
        }
    }
}

/// An orthonormal basis of the columns' span; directions that are lost in rounding are dropped.
fn orthonormal(columns: Array2<f64>) -> Array2<f64> {
    match tall::by_cholesky(columns.clone()) {
        Some(basis) => basis,
        // Twice, since the Gram matrix squares the condition number.
        None => by_gram(by_gram(columns)),
    }
}

fn by_gram(columns: Array2<f64>) -> Array2<f64> {
    let gram = tall::gram(columns.view(), columns.view());
    let Some(eigen) = symmetric_eigen(gram.view()) else {
        return Array2::zeros((columns.nrows(), 0));
    };
    let largest = eigen.values.first().copied().unwrap_or(0.0);
    let kept = eigen.values.iter().take_while(|&&v| v > 1e-13 * largest && v > 0.0).count();
    let mut mix = eigen.vectors.slice(s![.., ..kept]).to_owned();
    for (mut column, value) in mix.columns_mut().into_iter().zip(&eigen.values) {
        column /= value.sqrt();
    }
    tall::product(&columns, &mix)
}
