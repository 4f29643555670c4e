//! Rows of dissimilarities of the clusters that are left, and what merges make of them.

use std::ops::DerefMut;

use consilience_core::{Observer, Result, Stop, room};
use consilience_num::reduce::each_chunk;

/// Rows that one task looks at.
pub(crate) const ROWS: usize = 16;

/// What dissimilarities are kept as: numbers, or their places in the order of those that there are.
pub(crate) trait Level: Copy + PartialOrd + Send + Sync {
    /// Farther than any.
    const FAR: Self;
}

impl Level for f64 {
    const FAR: f64 = f64::INFINITY;
}

impl Level for u8 {
    const FAR: u8 = u8::MAX;
}

impl Level for u16 {
    const FAR: u16 = u16::MAX;
}

/// The dissimilarity of x to the union of a and b, from (d(a,x), d(b,x), d(a,b), weights of a, b,
/// x).
pub(crate) trait Update<T>: Fn(T, T, T, f64, f64, f64) -> T + Sync {}

impl<T, F: Fn(T, T, T, f64, f64, f64) -> T + Sync> Update<T> for F {}

/// [`Update`] of single linkage.
pub(crate) fn nearer<T: Level>(a: T, b: T, _: T, _: f64, _: f64, _: f64) -> T {
    if b < a { b } else { a }
}

/// [`Update`] of complete linkage.
pub(crate) fn farther<T: Level>(a: T, b: T, _: T, _: f64, _: f64, _: f64) -> T {
    if b > a { b } else { a }
}

/// [`Update`] of average linkage.
pub(crate) fn average(a: f64, b: f64, _: f64, wa: f64, wb: f64, _: f64) -> f64 {
    (wa * a + wb * b) / (wa + wb)
}

/// The cluster at `gone` went into that at `keep`: how far they were apart, and their weights.
struct Merge<T> {
    keep: usize,
    gone: usize,
    apart: T,
    weights: [f64; 2],
}

/// Takes merges into the row of a cluster of this weight, in their order.
fn take_in<T: Level>(row: &mut [T], merges: &[Merge<T>], weight: f64, update: &impl Update<T>) {
    for merge in merges {
        let [wa, wb] = merge.weights;
        row[merge.keep] = update(row[merge.keep], row[merge.gone], merge.apart, wa, wb, weight);
        row[merge.gone] = T::FAR;
    }
}

/// Numbers that are compared at a time.
pub(crate) const LANES: usize = 16;

/// The smallest entry, in lanes that the compiler keeps in vector registers; far where there is
/// none.
pub(crate) fn smallest<T: Level>(row: &[T]) -> T {
    let mut lanes = [T::FAR; LANES];
    let (body, tail) = row.as_chunks::<LANES>();
    for block in body {
        for (m, &v) in lanes.iter_mut().zip(block) {
            *m = if v < *m { v } else { *m };
        }
    }
    lanes.iter().chain(tail).fold(T::FAR, |m, &v| if v < m { v } else { m })
}

/// The first entry of a value, less than far.
pub(crate) fn find<T: Level>(row: &[T], value: T) -> Option<usize> {
    row.iter().position(|&v| v == value && v < T::FAR)
}

/// Where the rows of leaves come from.
pub(crate) trait Leaves<T> {
    type Row: DerefMut<Target = [T]> + Send;

    /// The leaves that rows are about from now on, ascending; all of them before the first call.
    fn keep(&mut self, leaves: &[usize]) -> Result<()>;

    /// How far a leaf is from each of those leaves, in the first entries.
    fn row(&mut self, leaf: usize) -> Result<Self::Row>;

    /// Takes a row back that is needed no more.
    fn done(&mut self, row: Self::Row);
}

/// The rows of a matrix, which are moved together where they lie.
pub(crate) struct Stored<'a, T> {
    rows: Vec<&'a mut [T]>,
    columns: Vec<usize>,
}

impl<'a, T> Stored<'a, T> {
    /// Of a square matrix.
    pub(crate) fn new(matrix: &'a mut [T], n: usize) -> Self {
        Stored { rows: matrix.chunks_mut(n).collect(), columns: (0..n).collect() }
    }
}

impl<'a, T: Level> Leaves<T> for Stored<'a, T> {
    type Row = &'a mut [T];

    fn keep(&mut self, leaves: &[usize]) -> Result<()> {
        leaves.clone_into(&mut self.columns);
        Ok(())
    }

    fn row(&mut self, leaf: usize) -> Result<&'a mut [T]> {
        let row = std::mem::take(&mut self.rows[leaf]);
        if self.columns.len() < row.len() {
            // Never beyond what is still to be read.
            self.columns.iter().enumerate().for_each(|(to, &from)| row[to] = row[from]);
        }
        Ok(row)
    }

    fn done(&mut self, _row: &'a mut [T]) {}
}

/// What is at a place.
#[derive(Clone, Copy, PartialEq)]
enum Place {
    Leaf,
    Union,
    Gone,
}

/// The clusters that are left, each at a place in the order of their first leaves. Clusters that
/// are gone keep their places until the others move together.
///
/// A leaf that nobody has asked for has no row. When it gets one, how far it is from unions is read
/// in their rows: no merge since has changed that, so that it need not take in the merges that were
/// before.
///
/// A merge writes the row of the union alone. Every other row takes a merge in when it is next
/// needed ([`Left::read`]), from its own entries: writing the union's column at once would touch
/// another line of memory for each cluster.
pub(crate) struct Left<'a, T, L: Leaves<T>, F> {
    leaves: &'a mut L,
    /// The first leaf of the cluster at each place.
    pub(crate) cluster: Vec<usize>,
    weight: Vec<f64>,
    place: Vec<Place>,
    /// Places of unions and, since the places were laid out, of clusters that are gone.
    merged: Vec<usize>,
    n_alive: usize,
    /// Rows of which the first `cluster.len()` entries count; far at their own place and, once
    /// read, at those of clusters that are gone.
    rows: Vec<Option<L::Row>>,
    /// The merges since the places were laid out.
    merges: Vec<Merge<T>>,
    /// How many of them each row has taken in.
    seen: Vec<usize>,
    update: F,
}

impl<'a, T: Level, L: Leaves<T>, F: Update<T>> Left<'a, T, L, F> {
    pub(crate) fn new(leaves: &'a mut L, weights: &[f64], update: F) -> Result<Self> {
        let n = weights.len();
        Ok(Left {
            leaves,
            cluster: room::collected(0..n)?,
            weight: room::copied(weights)?,
            place: room::filled(n, Place::Leaf)?,
            merged: room::with_capacity(n)?,
            n_alive: n,
            rows: room::collected((0..n).map(|_| None))?,
            merges: Vec::new(),
            seen: room::zeros(n)?,
            update,
        })
    }

    pub(crate) fn is_alive(&self, i: usize) -> bool {
        self.place[i] != Place::Gone
    }

    /// A row that was read.
    pub(crate) fn row(&self, i: usize) -> &[T] {
        self.rows[i].as_ref().map_or(&[], |row| &row[..self.cluster.len()])
    }

    /// Takes the merges into a row that it does not know of yet; a leaf gets its row.
    pub(crate) fn read(&mut self, i: usize) -> Result<()> {
        let n = self.cluster.len();
        if let Some(row) = &mut self.rows[i] {
            take_in(&mut row[..n], &self.merges[self.seen[i]..], self.weight[i], &self.update);
        } else {
            let mut row = self.leaves.row(self.cluster[i])?;
            // Only those that are gone have no row.
            for &at in &self.merged {
                row[at] = self.rows[at].as_ref().map_or(T::FAR, |theirs| theirs[i]);
            }
            row[i] = T::FAR;
            self.rows[i] = Some(row);
        }
        self.seen[i] = self.merges.len();
        Ok(())
    }

    /// Puts the union in the place of `keep`.
    pub(crate) fn merge(&mut self, keep: usize, gone: usize) -> Result<()> {
        self.read(keep)?;
        self.read(gone)?;
        let n = self.cluster.len();
        let apart = self.row(keep)[gone];
        let (wa, wb) = (self.weight[keep], self.weight[gone]);
        if let Some(from) = self.rows[gone].take() {
            if let Some(to) = &mut self.rows[keep] {
                for ((a, &b), &w) in to[..n].iter_mut().zip(&from[..n]).zip(&self.weight) {
                    *a = (self.update)(*a, b, apart, wa, wb, w);
                }
                (to[keep], to[gone]) = (T::FAR, T::FAR);
            }
            self.leaves.done(from);
        }
        self.merged.extend([keep, gone].iter().filter(|&&at| self.place[at] == Place::Leaf));
        (self.place[keep], self.place[gone]) = (Place::Union, Place::Gone);
        self.n_alive -= 1;
        self.weight[keep] += wb;
        self.merges.push(Merge { keep, gone, apart, weights: [wa, wb] });
        self.seen[keep] = self.merges.len();
        Ok(())
    }

    /// Where a third is gone, the others move together: what is read and written next lies closer.
    /// The new place of each old one.
    pub(crate) fn close_ranks(&mut self, observer: &dyn Observer) -> Result<Option<Vec<usize>>> {
        let n = self.cluster.len();
        if 3 * self.n_alive > 2 * n {
            return Ok(None);
        }
        let old = room::collected((0..n).filter(|&i| self.is_alive(i)))?;
        let (merges, update, stop) = (&self.merges, &self.update, Stop::new(observer));
        let (seen, weight) = (&self.seen, &self.weight);
        let rows = self.rows.iter_mut().enumerate();
        let mut rows = room::collected(rows.filter_map(|(i, row)| Some((i, row.as_mut()?))))?;
        each_chunk(&mut rows, ROWS, &|_, rows| {
            for (i, row) in rows.iter_mut().take_while(|_| !stop.asked()) {
                take_in(&mut row[..n], &merges[seen[*i]..], weight[*i], update);
                // Never beyond what is still to be read.
                old.iter().enumerate().for_each(|(to, &from)| row[to] = row[from]);
            }
        });
        stop.check()?;
        let mut places = room::filled(n, usize::MAX)?;
        // In the memory that is there.
        for (place, &i) in old.iter().enumerate() {
            places[i] = place;
            self.rows.swap(place, i);
            self.cluster[place] = self.cluster[i];
            self.weight[place] = self.weight[i];
            self.place[place] = self.place[i];
        }
        self.rows.truncate(old.len());
        self.cluster.truncate(old.len());
        self.weight.truncate(old.len());
        self.place.truncate(old.len());
        self.seen.truncate(old.len());
        self.seen.fill(0);
        self.merged.retain_mut(|at| {
            *at = places[*at];
            *at != usize::MAX
        });
        self.merges.clear();
        self.leaves.keep(&self.cluster)?;
        Ok(Some(places))
    }
}
