//! Nearest rows of a table, found from coarse to fine.
//!
//! The rows of a small table (a thousand, say) are grouped once, and each remembers its neighbours
//! among the others. A query looks for the nearest group, for the nearest row in that group, and
//! then only among that row's neighbours: some `sqrt(p) + candidates` distances instead of p.
//!
//! ```
//! use consilience::num::near::NearRows;
//! use consilience::ndarray::Array2;
//!
//! let table = Array2::from_shape_fn((100, 2), |(i, j)| if j == 0 { (i / 10) as f64 } else { (i % 10) as f64 });
//! let near = NearRows::new(table.view(), 10, 20, consilience::Seed(7), &())?;
//! let mut found = Vec::new();
//! let query = consilience::ndarray::array![[4.1, 6.9], [4.9, 6.9]];
//! near.search(query.view(), 2, &mut found);
//! assert_eq!(found.iter().map(|f| f.0).collect::<Vec<_>>(), [47, 57, 57, 47]);
//! assert!((found[0].1 - 0.02).abs() < 1e-12);
//! # Ok::<(), consilience::Error>(())
//! ```
//!
//! # Complexity
//! O(p^2 d) time once and O(p (candidates + d)) memory; a query takes O((groups + p / groups +
//! candidates) d).
//!
//! # References
//! D. Huang, C.-D. Wang, J.-S. Wu, J.-H. Lai, C.-K. Kwoh, "Ultra-scalable spectral clustering and
//! ensemble clustering", 2020, Section 3.1.2 (approximate K-nearest representatives).

mod lists;
mod self_tuned;
#[cfg(test)]
mod tests;

#[cfg(doc)]
use consilience_core::ErrorKind;
use consilience_core::{Observer, OnlyCancels, Result, Seed, Stop};
use ndarray::ArrayView2;
use pulp::{Arch, NullaryFnOnce};

use crate::Float;
use crate::kmeans::{self, KMeansOptions};
use crate::reduce::each_chunk;
use lists::Lists;
pub use self_tuned::{SelfTuned, SelfTunedGraph};

/// Rows whose neighbours one task finds.
const ROWS: usize = 32;

/// A table of rows, ready to be asked for its rows nearest to others. Distances are Euclidean; of
/// equals the row with the lower number is nearer.
#[derive(Clone, Debug)]
pub struct NearRows<F> {
    /// Centres of the groups: one list.
    groups: Lists<F>,
    /// Rows of each group.
    members: Lists<F>,
    /// The rows nearest to each row, itself among them, nearest first.
    neighbours: Lists<F>,
    rows: usize,
    columns: usize,
    candidates: usize,
}

impl<F: Float> NearRows<F> {
    /// Groups the rows by k-means into `groups` (at least 1), and finds the `candidates` neighbours
    /// of each beside itself. With one group and as many candidates as rows every search is exact.
    ///
    /// Entries must be finite, and their squares in range, which the caller sees to.
    ///
    /// # Errors
    /// [`ErrorKind::Empty`] where the table has no rows or no columns; [`ErrorKind::Cancelled`].
    pub fn new(
        table: ArrayView2<'_, F>,
        groups: usize,
        candidates: usize,
        seed: Seed,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let table = table.as_standard_layout();
        let table = table.view();
        let (rows, columns) = table.dim();
        let parallel = rayon::current_num_threads() > 1;
        let options =
            KMeansOptions::new(groups.clamp(1, rows.max(1))).seed(seed).parallel(parallel);
        let grouped = kmeans::fit(table, None, &options, &OnlyCancels(observer))?;
        let mut members = vec![Vec::new(); grouped.centres.nrows()];
        for (i, &g) in grouped.assignment.iter().enumerate() {
            members[g as usize].push(i as u32);
        }
        let flat = table.as_slice().unwrap_or_default();
        let all: Vec<u32> = (0..grouped.centres.nrows() as u32).collect();
        let centres: Vec<F> = grouped.centres.iter().copied().collect();
        let whole = Lists::new(&[(0..rows as u32).collect()], flat, columns);
        let kept = candidates.saturating_add(1).min(rows);
        let mut neighbours = vec![Vec::new(); rows];
        let stop = Stop::new(observer);
        each_chunk(&mut neighbours, ROWS, &|c, out| {
            let mut far = Vec::with_capacity(rows);
            for (r, out) in out.iter_mut().enumerate().take_while(|_| !stop.asked()) {
                let at = c * ROWS + r;
                let row = &flat[at * columns..][..columns];
                Arch::new().dispatch(Distances { lists: &whole, list: 0, row, out: &mut far });
                let mut order: Vec<u32> = (0..rows as u32).collect();
                let nearer = |a: &u32, b: &u32| {
                    let (x, y) = (far[*a as usize].to_f64(), far[*b as usize].to_f64());
                    x.total_cmp(&y).then(a.cmp(b))
                };
                if kept < rows {
                    order.select_nth_unstable_by(kept, nearer);
                    order.truncate(kept);
                }
                order.sort_unstable_by(nearer);
                *out = order;
            }
        });
        stop.check()?;
        Ok(NearRows {
            groups: Lists::new(&[all], &centres, columns),
            members: Lists::new(&members, flat, columns),
            neighbours: Lists::new(&neighbours, flat, columns),
            rows,
            columns,
            candidates: kept,
        })
    }

    /// Rows of the table.
    pub fn n_rows(&self) -> usize {
        self.rows
    }

    /// Rows of the table that a search can return at most.
    pub fn most(&self) -> usize {
        self.candidates
    }

    /// For each query, in order, its `count` nearest rows with their squared distances, nearest
    /// first; as many as [`NearRows::most`] where that is less. `found` is emptied first, and stays
    /// empty for queries of another number of columns.
    pub fn search(&self, queries: ArrayView2<'_, F>, count: usize, found: &mut Vec<(u32, F)>) {
        found.clear();
        if queries.ncols() != self.columns || self.rows == 0 {
            return;
        }
        let count = count.min(self.candidates);
        let queries = queries.as_standard_layout();
        let flat = queries.as_slice().unwrap_or_default();
        found.reserve(queries.nrows() * count);
        Arch::new().dispatch(Search { near: self, flat, count, found });
    }
}

/// The distances of one row to a list. A closure would not be inlined into the function that has
/// the vector instructions.
struct Distances<'a, F> {
    lists: &'a Lists<F>,
    list: usize,
    row: &'a [F],
    out: &'a mut Vec<F>,
}

impl<F: Float> NullaryFnOnce for Distances<'_, F> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        self.lists.squares(self.list, self.row, self.out);
    }
}

/// A block of searches.
struct Search<'a, F> {
    near: &'a NearRows<F>,
    flat: &'a [F],
    count: usize,
    found: &'a mut Vec<(u32, F)>,
}

impl<F: Float> NullaryFnOnce for Search<'_, F> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Search { near, flat, count, found } = self;
        let mut far: Vec<F> = Vec::new();
        for row in flat.chunks_exact(near.columns) {
            near.groups.squares(0, row, &mut far);
            let group = near.groups.items(0)[first_least(&far)];
            near.members.squares(group as usize, row, &mut far);
            let first = near.members.items(group as usize)[first_least(&far)];
            near.neighbours.squares(first as usize, row, &mut far);
            let items = near.neighbours.items(first as usize);
            let start = found.len();
            for (&item, &square) in items.iter().zip(&far) {
                let kept = found.len() - start;
                if kept == count {
                    let last = found[start + count - 1];
                    if square > last.1 || (square == last.1 && item > last.0) {
                        continue;
                    }
                    found.pop();
                }
                // Insertion: the neighbours come nearly in order already.
                let mut at = found.len();
                found.push((item, square));
                while at > start
                    && (square < found[at - 1].1
                        || (square == found[at - 1].1 && item < found[at - 1].0))
                {
                    found[at] = found[at - 1];
                    at -= 1;
                }
                found[at] = (item, square);
            }
        }
    }
}

/// Position of the smallest number, the first of equals.
#[inline(always)]
fn first_least<F: Float>(values: &[F]) -> usize {
    let mut best = 0;
    for (i, &v) in values.iter().enumerate() {
        if v < values[best] {
            best = i;
        }
    }
    best
}
