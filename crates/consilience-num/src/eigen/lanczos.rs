//! Block Lanczos with thick restart and full orthogonalisation.

use std::ops::Range;

use consilience_core::{Observer, Result, Seed, room};
use faer::{Mat, MatRef};
use ndarray::{Array2, ArrayView2, ArrayViewMut2};

use super::basis::{Basis, refill};
use super::dense::{ORDINARY, balance, eigen_descending};
use super::tall::{self, Columns};
use super::{SymmetricOperator, Truncated, TruncatedOptions, Which, mats};

/// Up to this order the matrix is assembled and decomposed: quicker than iterating, and certain.
const DENSE: usize = 300;
/// Vectors in a block of the assembly.
const ASSEMBLY: usize = 64;
/// Shorter directions, relative to |A|, are rounding noise.
const NOISE: f64 = 1e-14;
/// The most steps between two looks at the residuals; a full basis is always looked at.
const FARTHEST_LOOK: usize = 64;
/// Tolerances below this cannot be met in double precision.
const LEAST_TOLERANCE: f64 = 1e-13;

/// Finds the largest eigenvalues of a symmetric operator, and their vectors, from products with
/// blocks.
///
/// For a few eigenpairs of a matrix that is large or not stored. It is slow where the wanted
/// eigenvalues are not separated from the rest by a gap (`converged` then tells, and the residuals
/// say how far it came), and gains nothing when more than a third of all eigenpairs are wanted:
/// then, and up to n = 300, the matrix is assembled and decomposed as in
/// [`symmetric_eigen`](super::symmetric_eigen).
///
/// With a block `V_1` of b random orthonormal vectors, b > `count`, it builds an orthonormal basis
/// of the Krylov space `span(V_1, A V_1, A^2 V_1, ...)`,
///
/// ```text
/// A V = V T + V_next R E^T,    T = V^T A V,
/// ```
///
/// and takes the eigenpairs `(theta, V s)` of T, whose residuals are `|R s_last|`, `s_last` being
/// the last b entries of s. When the basis is full it keeps the best of these vectors and goes on
/// from `V_next` (thick restart). A block that loses rank gets random vectors in place of the lost
/// directions. Since the block is longer than `count`, the space holds as many independent vectors
/// of each wanted eigenvalue as are asked for: ten components of a graph give ten eigenvalues 1,
/// where a method with one start vector sees only one.
///
/// The bits of the result depend on the operator, the options and the instruction set of the
/// processor, not on the number of threads. The operator must be symmetric; if it is not,
/// `converged` will be false. Entries of any finite size are handled as long as the products with
/// vectors of norm 1 are finite.
///
/// ```
/// use consilience::num::eigen::{truncated_eigen, SymmetricOperator, TruncatedOptions};
/// use consilience::ndarray::{ArrayView2, ArrayViewMut2};
///
/// /// Ten disjoint rings of 50 nodes, with the matrix of the random walk on them.
/// struct Rings;
///
/// impl SymmetricOperator for Rings {
///     fn dim(&self) -> usize {
///         500
///     }
///     fn apply(&self, x: ArrayView2<f64>, mut y: ArrayViewMut2<f64>) {
///         for i in 0..500 {
///             let ring = i / 50 * 50;
///             let (left, right) = (ring + (i + 49) % 50, ring + (i + 1) % 50);
///             for j in 0..x.ncols() {
///                 y[[i, j]] = 0.5 * (x[[left, j]] + x[[right, j]]);
///             }
///         }
///     }
/// }
///
/// let top = truncated_eigen(&Rings, &TruncatedOptions::new(12));
/// assert!(top.converged);
/// assert!(top.values[..10].iter().all(|v| (v - 1.0).abs() < 1e-9));
/// let second = (2.0 * std::f64::consts::PI / 50.0).cos();
/// assert!(top.values[10..].iter().all(|v| (v - second).abs() < 1e-9));
/// ```
///
/// # Complexity
/// With b the length of a block and m the size of the basis (6 b, or 128 where that is more), an
/// iteration takes one product of A with b vectors and `O(n m b)` time for the orthogonalisation,
/// and `O(m^3)` for T where convergence is looked at: when the basis is full, and where it is to be
/// expected. Memory is `n (m + 3 b)` numbers. Matrices with k well separated clusters take
/// about 10 to 20 iterations for k pairs. Where the system refuses the memory the process ends, and
/// [`try_truncated_eigen`] returns an error.
///
/// # References
/// - G. H. Golub and R. Underwood, *The block Lanczos method for computing eigenvalues*, 1977.
/// - K. Wu and H. Simon, *Thick-restart Lanczos method for large symmetric eigenvalue problems*,
///   SIAM J. Matrix Anal. Appl. 22, 2000. Theirs has one start vector; here whole blocks are added,
///   and orthogonalised against the whole basis.
/// - A. Stathopoulos and K. Wu, *A block orthogonalization procedure with constant synchronization
///   requirements*, SIAM J. Sci. Comput. 23, 2002, for the orthonormalisation through the Gram
///   matrix.
pub fn truncated_eigen(op: &dyn SymmetricOperator, options: &TruncatedOptions) -> Truncated {
    // Who cannot cancel sees no other error than that of memory.
    try_truncated_eigen(op, options, &()).unwrap_or_else(mats::end)
}

/// [`truncated_eigen`] that returns an error where the system refuses the memory, and that the
/// observer may cancel between two products.
///
/// ```
/// use consilience::num::eigen::{try_truncated_eigen, TruncatedOptions};
/// use consilience::ndarray::array;
///
/// let top = try_truncated_eigen(&array![[2.0, 1.0], [1.0, 2.0]], &TruncatedOptions::new(1), &())?;
/// assert!((top.values[0] - 3.0).abs() < 1e-14);
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Errors
/// [`ErrorKind::TooLarge`](consilience_core::ErrorKind::TooLarge),
/// [`ErrorKind::Cancelled`](consilience_core::ErrorKind::Cancelled).
///
/// # Complexity
/// As [`truncated_eigen`].
pub fn try_truncated_eigen(
    op: &dyn SymmetricOperator,
    options: &TruncatedOptions,
    observer: &dyn Observer,
) -> Result<Truncated> {
    let n = op.dim();
    let count = options.count.min(n);
    if count == 0 {
        return Ok(Truncated {
            values: Vec::new(),
            vectors: Array2::zeros((n, 0)),
            residuals: Vec::new(),
            converged: true,
            iterations: 0,
        });
    }
    // Four guard vectors: the last wanted pair would otherwise converge at the rate of its distance
    // to the very next eigenvalue, and a random square block is often ill-conditioned.
    let automatic = count.saturating_add(4);
    let block =
        if options.block == 0 { automatic } else { options.block.min(automatic.max(n / 12)) };
    let plan = Plan::new(n, count, block, options);
    let op = Balanced { op, observer, down: (1.0, 1.0), up: (1.0, 1.0) };
    if n <= DENSE
        || count.saturating_mul(3) >= n
        || plan.stride < count.saturating_add(block.saturating_mul(3))
    {
        return assembled(op, &plan);
    }
    iterate(op, &plan, options.seed)
}

/// The options, settled.
struct Plan {
    count: usize,
    block: usize,
    /// Columns of the basis.
    stride: usize,
    /// Columns that survive a restart.
    keep: usize,
    tolerance: f64,
    max_iterations: usize,
    which: Which,
}

impl Plan {
    fn new(n: usize, count: usize, block: usize, options: &TruncatedOptions) -> Self {
        // A block needs room in the complement of a full basis, a further one makes it
        // well-conditioned.
        let room = n.saturating_sub(block.saturating_mul(2));
        let stride = count.max(block).saturating_add(block.saturating_mul(5)).max(128).min(room);
        // Two thirds of the room go to new blocks, the rest to vectors that shield the wanted
        // pairs; after a whole number of blocks the basis is exactly full.
        let steps = stride.saturating_sub(count) * 2 / 3 / block;
        let keep = stride.saturating_sub(steps.max(2).saturating_mul(block));
        let tolerance =
            if options.tolerance > LEAST_TOLERANCE { options.tolerance } else { LEAST_TOLERANCE };
        Self {
            count,
            block,
            stride,
            keep,
            tolerance,
            max_iterations: options.max_iterations,
            which: options.which,
        }
    }

    /// Positions of the `count` most wanted of the values, which descend; the positions ascend.
    fn wanted(&self, values: &[f64], count: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..values.len()).collect();
        if self.which == Which::LargestMagnitude {
            order.sort_by(|&i, &j| values[j].abs().total_cmp(&values[i].abs()));
        }
        order.truncate(count);
        order.sort_unstable();
        order
    }
}

/// The operator times a power of two, exactly representable, so that squares of its products cannot
/// overflow.
struct Balanced<'a> {
    op: &'a dyn SymmetricOperator,
    /// May cancel before each product.
    observer: &'a dyn Observer,
    down: (f64, f64),
    up: (f64, f64),
}

impl Balanced<'_> {
    fn apply(&self, x: &[f64], y: &mut [f64], b: usize) -> Result<()> {
        self.observer.check()?;
        let n = self.op.dim();
        if let (Ok(x), Ok(y)) =
            (ArrayView2::from_shape((n, b), x), ArrayViewMut2::from_shape((n, b), &mut *y))
        {
            self.op.apply(x, y);
        }
        if self.down.0 != 1.0 {
            y.iter_mut().for_each(|y| *y *= self.down.0 * self.down.1);
        }
        Ok(())
    }

    /// Chooses the factor from a first product.
    fn settle(&mut self, y: &mut [f64]) {
        let largest = y.iter().fold(0.0, |m: f64, y| m.max(y.abs()));
        if largest.is_finite() {
            (self.down, self.up) = balance(largest, ORDINARY);
            if self.down.0 != 1.0 {
                y.iter_mut().for_each(|y| *y *= self.down.0 * self.down.1);
            }
        }
    }
}

fn iterate(mut op: Balanced<'_>, plan: &Plan, seed: Seed) -> Result<Truncated> {
    let (n, b, stride) = (op.op.dim(), plan.block, plan.stride);
    let mut stream = seed.stream();
    let mut basis = Basis::new(n, stride)?;
    let mut next = room::zeros(n * b)?;
    let mut work = room::zeros(n * b)?;
    refill(&mut next, b, &(0..b).collect::<Vec<_>>(), &mut stream);
    if basis.orthonormalise(&mut next, b, 0.0, &mut stream, op.observer)?.is_none() {
        return not_finite(n, plan, 0);
    }
    let mut t = mats::from_fn(stride, stride, |_, _| 0.0)?;
    // In exact arithmetic A V_j touches only V_{j-1}, V_j and V_{j+1}; after a restart the whole
    // basis takes the place of V_{j-1}. The rest is rounding, which the orthonormalisation removes.
    let mut local = 0;
    let (mut norm, mut iterations, mut looks) = (0.0f64, 0, Looks::new());
    loop {
        op.apply(&next, &mut work, b)?;
        iterations += 1;
        if iterations == 1 {
            op.settle(&mut work);
        }
        let (old, m) = (basis.len, basis.len + b);
        basis.push(&next, b);
        let [h] = tall::gram([basis.from(local)], Columns::whole(&work, b));
        if !h.is_all_finite() {
            return not_finite(n, plan, iterations);
        }
        tall::subtract(&mut work, basis.from(local), h.as_ref());
        project(&mut t, h.as_ref(), local..m, old);
        local = old;

        let (full, last) = (m + b > stride, iterations >= plan.max_iterations);
        let mut pairs = None;
        if full || last || looks.due(iterations) {
            pairs = eigen_descending(t.as_ref().submatrix(0, 0, m, m))?;
            let Some((theta, _)) = &pairs else { return not_finite(n, plan, iterations) };
            norm = norm.max(theta[0].abs()).max(theta[m - 1].abs());
        }
        let least = NOISE * norm;
        let Some(r) = basis.orthonormalise(&mut work, b, least, &mut stream, op.observer)? else {
            return not_finite(n, plan, iterations);
        };
        std::mem::swap(&mut next, &mut work);

        let Some((theta, s)) = pairs else { continue };
        let wanted = plan.wanted(&theta, plan.count);
        let tail = Mat::from_fn(b, wanted.len(), |i, j| s[(old + i, wanted[j])]);
        // A little below the tolerance, so that rounding does not spoil the check at the end.
        let (longest, bound) = (longest(r.as_ref(), tail.as_ref()), 0.9 * plan.tolerance * norm);
        if wanted.len() == plan.count && (longest <= bound || last) {
            drop((next, work));
            return finish(&op, plan, basis, (&theta, s.as_ref()), norm, iterations);
        }
        looks.found(iterations, longest / bound);
        if full {
            restart(&mut basis, &mut t, &theta, s.as_ref(), &plan.wanted(&theta, plan.keep))?;
            local = 0;
        }
    }
}

/// At which iterations the projected matrix is decomposed to see how far the residuals are: for a
/// matrix of some thousand rows that takes longer than the product and the orthogonalisation. They
/// shrink by about the same factor at every step, so half of the steps that are still to be
/// expected can be made without a look.
struct Looks {
    next: usize,
    /// An iteration, and the longest residual there over what is allowed.
    before: Option<(usize, f64)>,
}

impl Looks {
    fn new() -> Self {
        Self { next: 0, before: None }
    }

    fn due(&self, iteration: usize) -> bool {
        iteration >= self.next
    }

    fn found(&mut self, iteration: usize, excess: f64) {
        let ahead = match self.before.replace((iteration, excess)) {
            Some((then, more)) if excess < more => {
                excess.ln() / (more / excess).ln() * (iteration - then) as f64
            }
            _ => 1.0,
        };
        self.next = iteration + ((ahead / 2.0) as usize).clamp(1, FARTHEST_LOOK);
    }
}

/// The wanted pairs, from those of the projected matrix.
fn finish(
    op: &Balanced<'_>,
    plan: &Plan,
    basis: Basis,
    (theta, s): (&[f64], MatRef<'_, f64>),
    norm: f64,
    iterations: usize,
) -> Result<Truncated> {
    let wanted = plan.wanted(theta, plan.count);
    let values: Vec<f64> = wanted.iter().map(|&i| theta[i]).collect();
    let s = mats::from_fn(s.nrows(), wanted.len(), |i, j| s[(i, wanted[j])])?;
    let vectors = tall::product(basis.from(0), s.as_ref())?;
    drop(basis);
    checked(op, plan, values, vectors, norm, iterations)
}

/// Writes the products of the new columns, from `old` on, with the columns of `rows` into the
/// projected matrix, symmetric to the bit.
fn project(t: &mut Mat<f64>, h: MatRef<'_, f64>, rows: Range<usize>, old: usize) {
    let local = rows.start;
    for j in 0..h.ncols() {
        for i in rows.clone() {
            let mirrored = if i >= old { h[(old + j - local, i - old)] } else { h[(i - local, j)] };
            let value = 0.5 * (h[(i - local, j)] + mirrored);
            t[(i, old + j)] = value;
            t[(old + j, i)] = value;
        }
    }
}

/// The longest residual, a column of the product; NaN where one is.
fn longest(r: MatRef<'_, f64>, tail: MatRef<'_, f64>) -> f64 {
    let residual = tall::small_product(r, tail);
    (0..residual.ncols())
        .map(|j| residual.col(j).norm_l2())
        .fold(0.0, |most, x| if x > most || x.is_nan() { x } else { most })
}

/// Begins again from the eigenvectors that are kept.
fn restart(
    basis: &mut Basis,
    t: &mut Mat<f64>,
    theta: &[f64],
    s: MatRef<'_, f64>,
    kept: &[usize],
) -> Result<()> {
    let s = mats::from_fn(s.nrows(), kept.len(), |i, j| s[(i, kept[j])])?;
    basis.restart(s.as_ref());
    t.fill(0.0);
    for (i, &k) in kept.iter().enumerate() {
        t[(i, i)] = theta[k];
    }
    Ok(())
}

/// Assembles the matrix and decomposes it.
fn assembled(mut op: Balanced<'_>, plan: &Plan) -> Result<Truncated> {
    let n = op.op.dim();
    let mut a = room::zeros(n.saturating_mul(n))?;
    for first in (0..n).step_by(ASSEMBLY) {
        let b = ASSEMBLY.min(n - first);
        let mut x = room::zeros(n * b)?;
        let mut y = room::zeros(n * b)?;
        (0..b).for_each(|j| x[(first + j) * b + j] = 1.0);
        op.apply(&x, &mut y, b)?;
        tall::copy_columns(&mut a, n, first, &y, b);
    }
    op.settle(&mut a);
    let mean = |i: usize, j: usize| 0.5 * (a[i * n + j] + a[j * n + i]);
    let lower = mats::from_fn(n, n, |i, j| if i >= j { mean(i, j) } else { 0.0 })?;
    drop(a);
    if !lower.is_all_finite() {
        return not_finite(n, plan, 0);
    }
    let Some((theta, s)) = eigen_descending(lower.as_ref())? else {
        return not_finite(n, plan, 0);
    };
    let wanted = plan.wanted(&theta, plan.count);
    let values: Vec<f64> = wanted.iter().map(|&i| theta[i]).collect();
    let mut vectors = room::zeros(n * wanted.len())?;
    for (i, row) in vectors.chunks_exact_mut(wanted.len()).enumerate() {
        row.iter_mut().zip(&wanted).for_each(|(x, &k)| *x = s[(i, k)]);
    }
    let norm = theta[0].abs().max(theta[n - 1].abs());
    checked(&op, plan, values, vectors, norm, 0)
}

/// Measures the residuals with a product of their own.
fn checked(
    op: &Balanced<'_>,
    plan: &Plan,
    values: Vec<f64>,
    mut vectors: Vec<f64>,
    norm: f64,
    iterations: usize,
) -> Result<Truncated> {
    let (n, b) = (op.op.dim(), values.len());
    // After hundreds of restarts rounding adds up; this step squares the departure from
    // orthonormality.
    let [gram] = tall::gram([Columns::whole(&vectors, b)], Columns::whole(&vectors, b));
    let polish = Mat::from_fn(b, b, |i, j| 0.5 * (if i == j { 3.0 } else { 0.0 } - gram[(i, j)]));
    let nothing = Columns::new(&[], 1, 0, 0);
    tall::subtract_and_rotate(&mut vectors, nothing, Mat::zeros(0, b).as_ref(), polish.as_ref());
    let mut product = room::zeros(n * b)?;
    op.apply(&vectors, &mut product, b)?;
    let residuals = tall::shifted_norms(&product, &vectors, &values);
    let up = op.up;
    let converged = residuals.iter().all(|&r| r <= plan.tolerance * norm);
    match Array2::from_shape_vec((n, b), vectors) {
        Ok(vectors) if residuals.iter().all(|r| r.is_finite()) => Ok(Truncated {
            values: values.iter().map(|x| x * up.0 * up.1).collect(),
            vectors,
            residuals: residuals.iter().map(|x| x * up.0 * up.1).collect(),
            converged,
            iterations,
        }),
        _ => not_finite(n, plan, iterations),
    }
}

fn not_finite(n: usize, plan: &Plan, iterations: usize) -> Result<Truncated> {
    Ok(Truncated {
        values: vec![f64::NAN; plan.count],
        vectors: room::table(n, plan.count)?,
        residuals: vec![f64::NAN; plan.count],
        converged: false,
        iterations,
    })
}
