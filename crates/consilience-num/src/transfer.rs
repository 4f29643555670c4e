//! The small side of a transfer cut: eigenvectors of a normalised table of links.
//!
//! A bipartite graph between n nodes on the left and p on the right, with weights B (n x p), has
//! the normalised cut of the small graph `W = B' D_x^-1 B` on the right nodes, `D_x` being the row
//! sums of B:
//!
//! ```text
//! v = leading eigenvectors of D_y^-1/2 W D_y^-1/2,   D_y = row sums of W,   f = D_y^-1/2 v
//! left nodes: D_x^-1 B f
//! ```
//!
//! # References
//! Z. Li, X.-M. Wu, S.-F. Chang, "Segmentation using superpixels: a bipartite graph partitioning
//! approach", 2012, Section 3.2.

use std::ops::Range;

use consilience_core::{MemoryBudget, Observer, Result};
use ndarray::{Array1, Array2, ArrayView2, s};

use crate::eigen::{
    EIGEN_SQUARES, SymmetricOperator, TruncatedOptions, end, try_symmetric_eigen,
    try_truncated_eigen,
};
use crate::reduce::map_each;
use crate::sparse::Csr;

/// Up to this order all eigenpairs of a stored matrix are computed; beyond, only those wanted.
pub const DENSE: usize = 400;

/// Leading eigenpairs of a table of links, from [`small_side`].
#[derive(Clone, Debug)]
pub struct SmallSide {
    /// The eigenvalues in descending order, at most 1.
    pub values: Vec<f64>,
    /// `D_y^-1/2 v`, one row per right node and one column per value; rows of nodes without links
    /// are 0.
    pub coordinates: Array2<f64>,
}

/// The `count` leading eigenpairs of the normalised `w`, symmetric and not negative; all of them
/// where it has fewer rows. `None` for a table that is not square or not finite.
///
/// Every pair of right nodes is first given `tau` times the mean row sum, shared out over the p
/// columns. A little of it keeps small pieces that hang loose from taking an eigenvector each; 0
/// leaves the table as it is.
///
/// ```
/// use consilience::num::transfer::small_side;
/// use consilience::ndarray::array;
///
/// // Two pairs of right nodes with nothing in common: the value 1 twice.
/// let w = array![[2.0, 1.0, 0.0, 0.0], [1.0, 2.0, 0.0, 0.0], [0.0, 0.0, 3.0, 1.0], [0.0, 0.0, 1.0, 1.0]];
/// let side = small_side(w.view(), 2, 0.0).unwrap();
/// assert!(side.values.iter().all(|v| (v - 1.0).abs() < 1e-12));
/// let f = side.coordinates;
/// assert!((f[[0, 0]] - f[[1, 0]]).abs() < 1e-12 && (f[[2, 1]] - f[[3, 1]]).abs() < 1e-12);
/// // Tied together, one of them is a value for the whole.
/// assert!(small_side(w.view(), 2, 0.1).unwrap().values[1] < 0.95);
/// ```
///
/// # Complexity
/// O(p^3) up to order 400 or where a fifth of the pairs is wanted; beyond, O(nnz + p count) per
/// product.
///
/// # References
/// `tau`: A. A. Amini, A. Chen, P. J. Bickel, E. Levina, "Pseudo-likelihood methods for community
/// detection in large sparse networks", 2013, Section 2.4.
pub fn small_side(w: ArrayView2<'_, f64>, count: usize, tau: f64) -> Option<SmallSide> {
    try_small_side(w, count, tau, MemoryBudget::bytes(u64::MAX), &()).unwrap_or_else(end)
}

/// As [`small_side`], and can be cancelled before each product with the table. Where all pairs are
/// found, also since those wanted did not converge, [`small_side_columns`] are held within the
/// budget.
///
/// # Errors
/// [`ErrorKind::TooLarge`](consilience_core::ErrorKind::TooLarge) where there is no memory for the
/// eigenvectors, [`ErrorKind::Cancelled`](consilience_core::ErrorKind::Cancelled).
///
/// # Complexity
/// As [`small_side`].
#[doc(hidden)]
pub fn try_small_side(
    w: ArrayView2<'_, f64>,
    count: usize,
    tau: f64,
    budget: MemoryBudget,
    observer: &dyn Observer,
) -> Result<Option<SmallSide>> {
    let p = w.nrows();
    if w.ncols() != p || w.iter().any(|v| !v.is_finite()) {
        return Ok(None);
    }
    let sums: Vec<f64> = w.rows().into_iter().map(|row| row.sum()).collect();
    let own = tau * (sums.iter().sum::<f64>() / p.max(1) as f64);
    let everywhere = own / p.max(1) as f64;
    let scale: Vec<f64> = sums
        .iter()
        .map(|d| d + own)
        .map(|d| if d > 0.0 { d.sqrt().recip() } else { 0.0 })
        .collect();
    let count = count.min(p);
    let links = || {
        let mut links = Csr::with_room(p, w.iter().filter(|v| **v != 0.0).count())?;
        for (i, row) in w.rows().into_iter().enumerate() {
            let entries = row.iter().enumerate().filter(|(_, v)| **v != 0.0);
            links.push_row(entries.map(|(j, v)| (j as u32, v * scale[i] * scale[j])).collect())?;
        }
        Result::Ok(links)
    };
    let (values, mut vectors) = 'found: {
        if iterates(p, count) {
            let options = TruncatedOptions::new(count).tolerance(TOLERANCE);
            let links = Links { links: links()?, scale: &scale, everywhere };
            let top = try_truncated_eigen(&links, &options, observer)?;
            if top.converged {
                break 'found (top.values, top.vectors);
            }
        }
        budget.check_table("eigenvectors of the links", p, ALL.saturating_mul(p), 8)?;
        let a =
            Array2::from_shape_fn((p, p), |(i, j)| (w[[i, j]] + everywhere) * scale[i] * scale[j]);
        observer.check()?;
        let Some(mut all) = try_symmetric_eigen(a.view())? else { return Ok(None) };
        all.values.truncate(count);
        (all.values, all.vectors.slice(s![.., ..count]).to_owned())
    };
    for (mut row, &s) in vectors.rows_mut().into_iter().zip(&scale) {
        row *= s;
    }
    Ok(Some(SmallSide { values, coordinates: vectors }))
}

/// Whether only the wanted pairs are computed, as long as they converge.
fn iterates(p: usize, count: usize) -> bool {
    p > DENSE && count < p / 5
}

/// Columns of p numbers that are held while [`try_small_side`] works on a table of p right nodes,
/// that table among them: itself, and as it is stored for products, or what all pairs take. A basis
/// for few pairs comes beside.
#[doc(hidden)]
pub fn small_side_columns(p: usize, count: usize) -> usize {
    if iterates(p, count) { p.saturating_mul(3) } else { p.saturating_mul(ALL) }
}

/// Squares that are held while all pairs are found: the table, and what is decomposed.
const ALL: usize = EIGEN_SQUARES + 1;

/// Residual of an eigenpair: coordinates feed a k-means, which sees no more digits.
const TOLERANCE: f64 = 1e-7;

/// Bytes that the tables of one [`link_sums`] may take together.
const TABLES: usize = 256 << 20;
/// Left nodes that are handed out at once.
const ROWS: usize = 4096;

/// Adds up weights between pairs of `p` right nodes over `n` left nodes, in fixed point: sums are
/// exact, so the bits do not depend on the number of threads although every thread has a table of
/// its own.
///
/// `visit` is called with ranges that cover `0..n` once and [adds](LinkSums::add) what their left
/// nodes give. No left node may give a pair more than 1 in all. The result is symmetric to the last
/// bit.
///
/// ```
/// use consilience::num::transfer::link_sums;
///
/// // Left nodes 0 to 9 are all linked to right node 0, the even ones also to 1.
/// let w = link_sums(10, 2, |left, sums| {
///     for i in left {
///         sums.add(0, 0, 0.5);
///         if i % 2 == 0 {
///             sums.add(0, 1, 0.25);
///         }
///     }
/// });
/// assert_eq!(w, consilience::ndarray::array![[5.0, 1.25], [1.25, 0.0]]);
/// ```
///
/// # Complexity
/// 8 p^2 bytes per thread, in all at most 256 MB or one table; weights are rounded to n 2^-62.
pub fn link_sums(
    n: usize,
    p: usize,
    visit: impl Fn(Range<usize>, &mut LinkSums) + Sync,
) -> Array2<f64> {
    link_sums_within(n, p, MemoryBudget::bytes(u64::MAX), visit)
}

/// As [`link_sums`], with tables that take half of the budget together, or one.
#[doc(hidden)]
pub fn link_sums_within(
    n: usize,
    p: usize,
    budget: MemoryBudget,
    visit: impl Fn(Range<usize>, &mut LinkSums) + Sync,
) -> Array2<f64> {
    // Beside a table of sums, as many binary places as n ones leave in 62 bits.
    let places = 62 - usize::BITS.saturating_sub(n.leading_zeros()) as i32;
    let unit = 2f64.powi(places.min(52));
    let bytes = usize::try_from(budget.n_bytes() / 2).map_or(TABLES, |half| half.min(TABLES));
    let most = (bytes / p.saturating_mul(p).saturating_mul(8).max(1))
        .clamp(1, rayon::current_num_threads());
    let piece = n.div_ceil(most).max(ROWS).next_multiple_of(ROWS);
    let tables = map_each(n.div_ceil(piece), &|t| {
        let mut sums = LinkSums { p, unit, sums: vec![0; p * p] };
        let end = n.min((t + 1) * piece);
        for first in (t * piece..end).step_by(ROWS) {
            visit(first..end.min(first + ROWS), &mut sums);
        }
        sums.sums
    });
    let total = |at: usize| tables.iter().map(|t| t[at]).sum::<u64>();
    Array2::from_shape_fn((p, p), |(i, j)| {
        let sum = total(i * p + j) + if i == j { 0 } else { total(j * p + i) };
        sum as f64 / unit
    })
}

/// Sums of weights between pairs, see [`link_sums`].
#[derive(Debug)]
pub struct LinkSums {
    p: usize,
    unit: f64,
    sums: Vec<u64>,
}

impl LinkSums {
    /// Adds a weight in `[0, 1]` to the pair (i, j), which is also (j, i). Panics where one of them
    /// is not below p.
    #[inline(always)]
    pub fn add(&mut self, i: usize, j: usize, weight: f64) {
        assert!(j < self.p);
        self.sums[i * self.p + j] += (weight * self.unit + 0.5) as u64;
    }
}

/// The normalised links, and what every pair has beside.
struct Links<'a> {
    links: Csr,
    scale: &'a [f64],
    everywhere: f64,
}

impl SymmetricOperator for Links<'_> {
    fn dim(&self) -> usize {
        self.links.n_rows()
    }

    fn apply(&self, x: ArrayView2<'_, f64>, mut y: ndarray::ArrayViewMut2<'_, f64>) {
        self.links.apply(x, y.view_mut());
        if self.everywhere > 0.0 {
            let mut total = Array1::<f64>::zeros(x.ncols());
            for (row, &s) in x.rows().into_iter().zip(self.scale) {
                total.scaled_add(s * self.everywhere, &row);
            }
            for (mut row, &s) in y.rows_mut().into_iter().zip(self.scale) {
                row.scaled_add(s, &total);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::on_pool;
    use consilience_core::ErrorKind;
    use ndarray::array;

    /// Links along a ring with a few of its ties missing.
    fn ring(p: usize) -> Array2<f64> {
        let mut w = Array2::zeros((p, p));
        for i in 0..p {
            w[[i, i]] = 2.0;
            let j = (i + 1) % p;
            if i % 151 != 0 {
                w[[i, j]] = 1.0 + (i % 3) as f64;
                w[[j, i]] = w[[i, j]];
            }
        }
        w
    }

    #[test]
    fn both_roads_span_the_same_space() {
        let plain = ring(605);
        for tau in [0.0, 0.05] {
            let few = small_side(plain.view(), 5, tau).unwrap();
            let all = small_side(plain.view(), 605, tau).unwrap();
            let w = &plain + tau * plain.sum() / 605.0 / 605.0;
            let degree: Vec<f64> = w.rows().into_iter().map(|r| r.sum()).collect();
            for c in 0..5 {
                assert!((few.values[c] - all.values[c]).abs() < 1e-9, "{c}");
                // Orthonormal in the weights of the nodes, and eigenvectors of D^-1 W.
                for e in 0..5 {
                    let dot: f64 = (0..605)
                        .map(|i| degree[i] * few.coordinates[[i, c]] * few.coordinates[[i, e]])
                        .sum();
                    assert!((dot - f64::from(u8::from(c == e))).abs() < 1e-9, "{c} {e} {dot}");
                }
                let f = few.coordinates.column(c);
                let walked = w.dot(&f);
                for i in 0..605 {
                    assert!((walked[i] / degree[i] - few.values[c] * f[i]).abs() < 1e-6, "{c} {i}");
                }
            }
            // Five pieces, one of them a single node; or all in one.
            assert_eq!(
                few.values.iter().filter(|&&v| v > 1.0 - 1e-9).count(),
                if tau > 0.0 { 1 } else { 5 }
            );
        }
    }

    #[test]
    fn sums_are_the_same_at_any_number_of_threads() {
        let run = |threads: usize| {
            let visit = |left: Range<usize>, sums: &mut LinkSums| {
                for i in left {
                    sums.add(i % 7, (i + i / 7) % 7, 1.0 / (1.0 + (i % 13) as f64));
                }
            };
            on_pool(threads, || link_sums(50_000, 7, visit))
        };
        let alone = run(1);
        let mut naive = Array2::<f64>::zeros((7, 7));
        for i in 0..50_000 {
            let (a, b, w) = (i % 7, (i + i / 7) % 7, 1.0 / (1.0 + (i % 13) as f64));
            naive[[a, b]] += w;
            if a != b {
                naive[[b, a]] += w;
            }
        }
        assert!((&alone - &naive).iter().all(|v| v.abs() < 1e-8));
        for threads in [2, 3, 8] {
            assert_eq!(run(threads), alone);
        }
        assert_eq!(link_sums(0, 2, |_, _| ()), Array2::<f64>::zeros((2, 2)));
        // As much as a pair may get.
        let most = link_sums(100_000, 1, |left, sums| left.for_each(|_| sums.add(0, 0, 1.0)));
        assert_eq!(most[[0, 0]], 100_000.0);
    }

    /// Also where the wanted ones were looked for first, but do not converge.
    #[test]
    fn all_pairs_are_found_within_the_budget() {
        let found = |w: &Array2<f64>, columns: usize, tau| {
            let bytes = MemoryBudget::bytes((8 * columns * w.nrows()) as u64);
            try_small_side(w.view(), 5, tau, bytes, &()).map(|side| side.is_some())
        };
        let (few, many) = (ring(90), ring(605));
        assert_eq!(small_side_columns(90, 5), ALL * 90);
        assert!(found(&few, ALL * 90, 0.0).unwrap());
        let refused = found(&few, ALL * 90 - 1, 0.0).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::TooLarge);
        assert!(found(&many, small_side_columns(605, 5), 0.0).unwrap());
        // A path has eigenvalues so close to each other that no iteration tells them apart.
        let path = Array2::from_shape_fn((1_500, 1_500), |(i, j)| f64::from(i.abs_diff(j) == 1));
        let refused = found(&path, ALL * 1_500 - 1, 0.0).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::TooLarge);
    }

    #[test]
    fn nodes_without_links_and_bad_tables() {
        let side = small_side(array![[0.0, 0.0], [0.0, 4.0]].view(), 5, 0.0).unwrap();
        assert_eq!(side.values.len(), 2);
        assert!(side.coordinates.row(0).iter().all(|&v| v == 0.0));
        assert!(small_side(array![[1.0, f64::NAN], [0.0, 1.0]].view(), 1, 0.0).is_none());
        assert!(small_side(Array2::zeros((2, 3)).view(), 1, 0.0).is_none());
        assert_eq!(small_side(Array2::zeros((0, 0)).view(), 1, 0.0).unwrap().values.len(), 0);
    }
}
