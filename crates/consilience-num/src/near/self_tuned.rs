//! The graph of nearest neighbours in which every row has its own scale.

use std::cmp::Ordering;

#[cfg(feature = "serde")]
use consilience_core::{Error, ensure, stored::Parts};
use consilience_core::{Observer, Result, room};
use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};
use ndarray::{Array1, Array2, ArrayView2};
use rayon::prelude::*;

use crate::rows::squared;
use crate::sparse::Csr;

/// Rows whose distances are computed together, and distances that are compared at once.
const ROWS: usize = 64;
const ABREAST: usize = 32;
/// A row with links of less than this share of the median has nothing but rounding in eigenvectors,
/// whose entries go with the root of it.
const FAINT: f64 = 1e-12;

/// Joins every row with its nearest ones, by weights that follow the density around them.
///
/// ```text
/// w(i, j) = exp(-|x_i - x_j|^2 / (s_i s_j)),   s_i = distance of x_i to its r-th neighbour,
///                                               but at least a share of the mean s
/// ```
///
/// ```
/// use consilience::num::near::SelfTuned;
/// use consilience::ndarray::array;
///
/// let x = array![[0.0], [1.0], [2.0], [10.0], [11.0], [12.0]];
/// let graph = SelfTuned::new(2).graph(x, &())?;
/// // Every row knows its two nearest only: the halves are not joined.
/// assert_eq!(graph.matrix().row(0).0, [1, 2]);
/// assert_eq!(graph.matrix().row(3).0, [4, 5]);
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Complexity
/// O(n^2 d) time for n rows of d columns, in parallel; O(n neighbours) memory beside the rows.
///
/// # References
/// L. Zelnik-Manor, P. Perona, "Self-tuning spectral clustering", 2004.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SelfTuned {
    neighbours: usize,
    rank: usize,
    least_scale: f64,
    with_itself: bool,
    one_sided: f64,
}

impl SelfTuned {
    /// Joins every row with so many others.
    pub fn new(neighbours: usize) -> Self {
        SelfTuned {
            neighbours,
            rank: neighbours,
            least_scale: 0.1,
            with_itself: false,
            one_sided: 1.0,
        }
    }

    consilience_core::setters! {
        /// The neighbour whose distance is the scale of a row. Default: the last; at least 1.
        pub fn rank(mut self, rank: usize) { self.rank = rank }

        /// The least scale of a row as a share of the mean; among duplicates the scale would else
        /// be 0, and cut them off from the rest. Default 0.1; at least 0.
        pub fn least_scale(mut self, share: f64) { self.least_scale = share }

        /// Whether a row is joined with itself too, by weight 1. Default no.
        pub fn with_itself(mut self, with: bool) { self.with_itself = with }

        /// The weight of a link of which only one end has the other among its neighbours, as a
        /// share of that of a link of both. Default 1; above 0.
        pub fn one_sided(mut self, share: f64) { self.one_sided = share }
    }

    /// The graph of the rows of `x`, whose entries must be finite.
    ///
    /// # Errors
    /// [`ErrorKind::Cancelled`](consilience_core::ErrorKind::Cancelled).
    pub fn graph(self, x: Array2<f64>, observer: &dyn Observer) -> Result<SelfTunedGraph> {
        let n = x.nrows();
        let x = if x.is_standard_layout() { x } else { x.as_standard_layout().into_owned() };
        let table = Table::new(x);
        let itself = usize::from(self.with_itself);
        let count = self.neighbours.saturating_add(itself);
        let wanted = Wanted { count, apart: !self.with_itself, reach: &[] };
        let near = table.nearest(table.x.view(), wanted, observer, |row| row)?;
        let others = |row: &Near| self.scale(row.get(itself..).unwrap_or_default());
        let far: Vec<f64> = near.iter().map(others).collect();
        let mean = far.iter().sum::<f64>() / n.max(1) as f64;
        let least = if mean > 0.0 { self.least_scale * mean } else { 1.0 };
        let scale: Vec<f64> = far.into_iter().map(|s| s.max(least)).collect();
        let rows = self.links(&near, &scale);
        let degree: Vec<f64> = rows.iter().map(|r| r.iter().map(|e| e.1).sum()).collect();
        let over = |i: usize, j: usize| {
            let d = degree[i] * degree[j];
            if d > 0.0 { d.sqrt() } else { f64::INFINITY }
        };
        let matrix = Csr::from_rows(n, rows).map(|i, j, w| w / over(i, j));
        let reach = |row: &Near| match row.last() {
            Some(last) if row.len() == count => last.1,
            // One more row would be among its neighbours, however far.
            _ => 1e300,
        };
        let reach = near.iter().map(reach).collect();
        let usual = median(&degree);
        Ok(SelfTunedGraph { with: self, table, least, scale, reach, degree, usual, matrix })
    }

    /// The distance to the neighbour of the rank among these others, or to the last.
    fn scale(&self, others: &[(usize, f64)]) -> f64 {
        let at = self.rank.min(others.len()).saturating_sub(1);
        others.get(at).map_or(0.0, |e| e.1.sqrt())
    }

    /// Weights of both directions, each row by column.
    fn links(&self, near: &[Near], scale: &[f64]) -> Vec<Vec<(u32, f64)>> {
        let mut rows: Vec<Vec<(u32, f64)>> = vec![Vec::new(); near.len()];
        for (i, row) in near.iter().enumerate() {
            for &(j, d) in row {
                let w = (-d / (scale[i] * scale[j])).exp();
                rows[i].push((j as u32, w));
                rows[j].push((i as u32, w));
            }
        }
        for row in &mut rows {
            row.sort_unstable_by(|a, b| a.0.cmp(&b.0).then(b.1.total_cmp(&a.1)));
            let mut kept: Vec<(u32, f64)> = Vec::with_capacity(row.len());
            for both in row.chunk_by(|a, b| a.0 == b.0) {
                let share = if both.len() > 1 { 1.0 } else { self.one_sided };
                kept.push((both[0].0, share * both[0].1));
            }
            *row = kept;
        }
        rows
    }
}

/// The graph of [`SelfTuned`], which also joins rows that come later.
#[derive(Clone, Debug)]
pub struct SelfTunedGraph {
    with: SelfTuned,
    table: Table,
    /// The least scale of a row.
    least: f64,
    scale: Vec<f64>,
    /// The squared distance of each row to the last of its neighbours.
    reach: Vec<f64>,
    degree: Vec<f64>,
    /// The median of the degrees.
    usual: f64,
    matrix: Csr,
}

/// The middle one of the values, the upper one of two; 0 of none.
fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(0.0)
}

impl SelfTunedGraph {
    /// `D^(-1/2) W D^(-1/2)`, with D the row sums of the weights W; symmetric. A row without
    /// neighbours is empty.
    pub fn matrix(&self) -> &Csr {
        &self.matrix
    }

    /// The diagonal of D.
    pub fn degrees(&self) -> &[f64] {
        &self.degree
    }

    /// Gives the memory of the matrix back; [`extend`](SelfTunedGraph::extend) does without.
    pub fn forget_matrix(&mut self) {
        self.matrix = Csr::from_rows(0, []);
    }

    /// Gives equal rows equal entries of vectors (n x m): in each column the mean of theirs.
    ///
    /// A list of neighbours ends somewhere, so that of many equal rows some have links that the
    /// others lack, and an eigenvector of the matrix other entries there.
    ///
    /// ```
    /// use consilience::num::near::SelfTuned;
    /// use consilience::ndarray::array;
    ///
    /// let graph = SelfTuned::new(2).graph(array![[7.0], [1.0], [7.0], [9.0]], &())?;
    /// let mut vectors = array![[1.0], [4.0], [3.0], [6.0]];
    /// graph.level(&mut vectors);
    /// assert_eq!(vectors, array![[2.0], [4.0], [2.0], [6.0]]);
    /// # Ok::<(), consilience::Error>(())
    /// ```
    ///
    /// # Complexity
    /// O(n d log n + n m).
    pub fn level(&self, vectors: &mut Array2<f64>) {
        let x = &self.table.x;
        let order = |a: usize, b: usize| {
            x.row(a).iter().partial_cmp(x.row(b).iter()).unwrap_or(Ordering::Equal)
        };
        let mut rows: Vec<usize> = (0..x.nrows()).collect();
        rows.sort_by(|&a, &b| order(a, b));
        let equal = rows.chunk_by(|&a, &b| order(a, b).is_eq()).filter(|equal| equal.len() > 1);
        for equal in equal {
            let mut mean = Array1::<f64>::zeros(vectors.ncols());
            equal.iter().for_each(|&i| mean += &vectors.row(i));
            mean /= equal.len() as f64;
            equal.iter().for_each(|&i| vectors.row_mut(i).assign(&mean));
        }
    }

    /// Entries of eigenvectors of the matrix (n x m, with their eigenvalues, none of them 0) at
    /// rows that come later. A row that equals one of the graph has the entries of that one
    /// ([`level`](SelfTunedGraph::level) makes those of equal rows equal), any other those that the
    /// eigenvectors' own equation gives over its links:
    ///
    /// ```text
    /// z(new) = sum_j w(new, j) z_j / sqrt(d_new d_j) / lambda,    d_new = sum_j w(new, j)
    /// ```
    ///
    /// Links are made as in the graph, with the nearest rows and with those that would have the new
    /// one among their own nearest. Where their sum is below the median of D they count as if it
    /// were that, in the same proportions, so that a row far away goes with the nearest ones; and
    /// rows that the graph links with next to nothing are left out.
    ///
    /// # Errors
    /// [`ErrorKind::Cancelled`](consilience_core::ErrorKind::Cancelled).
    ///
    /// # References
    /// Y. Bengio and others, "Out-of-sample extensions for LLE, Isomap, MDS, Eigenmaps, and
    /// spectral clustering", 2004 (the Nystroem formula).
    pub fn extend(
        &self,
        new: ArrayView2<'_, f64>,
        vectors: ArrayView2<'_, f64>,
        values: &[f64],
        observer: &dyn Observer,
    ) -> Result<Array2<f64>> {
        let wanted = Wanted { count: self.with.neighbours, apart: false, reach: &self.reach };
        let place = |near: Near| self.place(&near, vectors, values);
        let rows = self.table.nearest(new, wanted, observer, place)?;
        let mut z = Array2::zeros((new.nrows(), vectors.ncols()));
        z.rows_mut().into_iter().zip(&rows).for_each(|(mut out, row)| out.assign(row));
        Ok(z)
    }

    /// The entries at a row with these neighbours.
    fn place(
        &self,
        near: &[(usize, f64)],
        vectors: ArrayView2<'_, f64>,
        values: &[f64],
    ) -> Array1<f64> {
        if let Some(&(equal, _)) = near.first().filter(|e| e.1 == 0.0) {
            return vectors.row(equal).to_owned();
        }
        let others = &near[..self.with.neighbours.min(near.len())];
        let own = self.with.scale(others).max(self.least);
        let own = if own > 0.0 { own } else { 1.0 };
        let linked = |e: &&(usize, f64)| self.degree[e.0] > FAINT * self.usual;
        let power = |&(j, d): &(usize, f64)| d / (own * self.scale[j]);
        // Relative to the strongest, so that far rows have a neighbour too.
        let first = near.iter().filter(linked).map(power).fold(f64::INFINITY, f64::min);
        let (mut sum, mut out) = (0.0, Array1::<f64>::zeros(vectors.ncols()));
        for (at, e) in near.iter().enumerate().filter(|(_, e)| linked(e)) {
            let both = at < others.len() && e.1 <= self.reach[e.0];
            let share = if both { 1.0 } else { self.with.one_sided };
            let w = share * (first - power(e)).exp();
            sum += w;
            out.scaled_add(w / self.degree[e.0].sqrt(), &vectors.row(e.0));
        }
        if sum > 0.0 {
            let degree = (sum * (-first).exp()).max(self.usual);
            out *= degree.sqrt() / sum;
        }
        out.iter_mut().zip(values).for_each(|(o, v)| *o /= v);
        out
    }
}

/// What a stored clustering keeps of the graph: everything but the matrix.
#[cfg(feature = "serde")]
#[doc(hidden)]
impl SelfTunedGraph {
    pub fn stored(&self, parts: Parts) -> Parts {
        let SelfTuned { neighbours, rank, least_scale, with_itself, one_sided } = self.with;
        parts
            .number("neighbours", neighbours as f64)
            .number("rank", rank as f64)
            .number("least share", least_scale)
            .number("with itself", f64::from(u8::from(with_itself)))
            .number("one sided", one_sided)
            .table("rows", &self.table.x)
            .number("least scale", self.least)
            .row("scales", self.scale.iter().copied())
            .row("reaches", self.reach.iter().copied())
            .row("degrees", self.degree.iter().copied())
    }

    pub fn restored(parts: &mut Parts, columns: usize) -> Result<Self> {
        let count = |value: f64, name: &str| {
            let whole = value >= 0.0 && value.fract() == 0.0 && value < u32::MAX as f64;
            let error = || Error::invalid(format!("{value} {name}; expected a count"));
            if whole { Ok(value as usize) } else { Err(error()) }
        };
        let with = SelfTuned {
            neighbours: count(parts.take_number("neighbours")?, "neighbours")?,
            rank: count(parts.take_number("rank")?, "as the rank")?,
            least_scale: parts.take_number("least share")?,
            with_itself: parts.take_number("with itself")? != 0.0,
            one_sided: parts.take_number("one sided")?,
        };
        let table = Table::new(parts.take_table("rows")?);
        let least = parts.take_number("least scale")?;
        let (scale, degree) = (parts.take_row("scales")?, parts.take_row("degrees")?);
        let reach = parts.take_row("reaches")?;
        let (n, d) = table.x.dim();
        let lengths = [scale.len(), reach.len(), degree.len()];
        ensure!(
            d == columns && lengths == [n; 3],
            shape(
                "a graph of {n} rows of {d} columns with {} scales, {} reaches and {} degrees; \
                 expected {columns} columns",
                lengths[0],
                lengths[1],
                lengths[2]
            )
        );
        if let Some(bad) = scale.iter().find(|&&s| !(s > 0.0)) {
            return Err(Error::invalid(format!("a scale {bad}; expected above 0")));
        }
        if let Some(bad) = degree.iter().find(|&&d| !(d >= 0.0)) {
            return Err(Error::invalid(format!("a degree {bad}; expected at least 0")));
        }
        let (usual, matrix) = (median(&degree), Csr::from_rows(0, []));
        Ok(SelfTunedGraph { with, table, least, scale, reach, degree, usual, matrix })
    }
}

/// Places of the smallest values, so many.
fn smallest(values: &[f64], count: usize) -> Vec<(f64, usize)> {
    let shrink = |kept: &mut Vec<(f64, usize)>| {
        if (1..kept.len()).contains(&count) {
            kept.select_nth_unstable_by(count - 1, |a, b| a.0.total_cmp(&b.0));
        }
        kept.truncate(count);
    };
    let mut kept = Vec::with_capacity(2 * count + ABREAST);
    let mut border = f64::INFINITY;
    for (at, part) in values.chunks(ABREAST).enumerate() {
        // Most parts have none, which is seen at once.
        if part.iter().filter(|v| **v <= border).count() == 0 {
            continue;
        }
        let places = part.iter().enumerate().filter(|(_, v)| **v <= border);
        kept.extend(places.map(|(i, &v)| (v, at * ABREAST + i)));
        if kept.len() >= 2 * count {
            shrink(&mut kept);
            border = kept.iter().fold(f64::NEG_INFINITY, |most, e| most.max(e.0));
        }
    }
    shrink(&mut kept);
    kept
}

/// Neighbours of a row with their squared distances.
type Near = Vec<(usize, f64)>;

/// Which neighbours of a row are wanted.
#[derive(Clone, Copy)]
struct Wanted<'a> {
    /// The nearest, so many.
    count: usize,
    /// Whether they leave out the row of its own number.
    apart: bool,
    /// After them, every row that is no farther than its own number here; empty for none.
    reach: &'a [f64],
}

/// Rows, row-major, with their squared norms.
#[derive(Clone, Debug)]
struct Table {
    x: Array2<f64>,
    norms: Vec<f64>,
}

impl Table {
    fn new(x: Array2<f64>) -> Self {
        let norms = x.rows().into_iter().map(|r| r.dot(&r)).collect();
        Table { x, norms }
    }

    /// What `each` makes of the wanted rows of every row of `new`, which come with squared
    /// distances, ascending; of equals the lower number.
    fn nearest<T: Send>(
        &self,
        new: ArrayView2<'_, f64>,
        wanted: Wanted<'_>,
        observer: &dyn Observer,
        each: impl Fn(Near) -> T + Sync,
    ) -> Result<Vec<T>> {
        let ((n, d), new) = (self.x.dim(), new.as_standard_layout());
        if n == 0 || d == 0 || wanted.count == 0 {
            return Ok((0..new.nrows()).map(|_| each(Near::new())).collect());
        }
        let (x, rows) = (self.x.as_slice().unwrap_or_default(), new.as_slice().unwrap_or_default());
        let all = MatRef::from_row_major_slice(x, n, d);
        let parts: Result<Vec<Vec<T>>> = rows
            .par_chunks(ROWS * d)
            .enumerate()
            .map(|(c, part)| {
                observer.check()?;
                let m = part.len() / d;
                let mut products = room::zeros(m * n)?;
                let out = MatMut::from_row_major_slice_mut(&mut products, m, n);
                let part_rows = MatRef::from_row_major_slice(part, m, d);
                matmul(out, Accum::Replace, part_rows, all.transpose(), 1.0, Par::Seq);
                let mut order: Vec<u32> = Vec::with_capacity(n);
                let found = part.chunks_exact(d).zip(products.chunks_exact_mut(n)).enumerate();
                Ok(found
                    .map(|(r, (row, rough))| {
                        let own = wanted.apart.then_some(c * ROWS + r);
                        each(self.pick(row, rough, wanted, own, &mut order))
                    })
                    .collect())
            })
            .collect();
        Ok(parts?.into_iter().flatten().collect())
    }

    /// The wanted ones of all rows but that of the number `own`, from the row's inner products with
    /// all.
    fn pick(
        &self,
        row: &[f64],
        rough: &mut [f64],
        wanted: Wanted<'_>,
        own: Option<usize>,
        order: &mut Vec<u32>,
    ) -> Near {
        let n = rough.len();
        let count = wanted.count.min(n - usize::from(own.is_some_and(|own| own < n)));
        order.clear();
        rough.iter_mut().zip(&self.norms).for_each(|(p, norm)| *p = norm - 2.0 * *p);
        if let Some(own) = own.and_then(|own| rough.get_mut(own)) {
            *own = f64::INFINITY;
        }
        // The rough distances carry the rounding of large norms: whoever may be wanted is looked at
        // exactly.
        let from: f64 = row.iter().map(|v| v * v).sum();
        let unit = (row.len() + 4) as f64 * f64::EPSILON;
        let off = |norm: f64| unit * (from + norm);
        let most = smallest(rough, count)
            .into_iter()
            .fold(f64::NEG_INFINITY, |most, (v, j)| most.max(v + off(self.norms[j])));
        for (at, (part, norms)) in rough.chunks(ABREAST).zip(self.norms.chunks(ABREAST)).enumerate()
        {
            let may_be = |(v, norm): (&f64, &f64)| v - off(*norm) <= most;
            let reach = wanted.reach.get(at * ABREAST..).unwrap_or_default();
            if reach.is_empty() && part.iter().zip(norms).filter(|e| may_be(*e)).count() == 0 {
                continue;
            }
            for (i, (v, norm)) in part.iter().zip(norms).enumerate() {
                let reached = |r: &f64| from + v - off(*norm) <= r + off(*norm);
                if may_be((v, norm)) || reach.get(i).is_some_and(reached) {
                    order.push((at * ABREAST + i) as u32);
                }
            }
        }
        order.retain(|&j| Some(j as usize) != own);
        // Where ties abound these are nearly all there is to do.
        let rows = self.x.as_slice().unwrap_or_default();
        let exact = |j: usize| squared(row, &rows[j * row.len()..][..row.len()]);
        let mut all: Near = order.iter().map(|&j| (j as usize, exact(j as usize))).collect();
        let nearer = |a: &(usize, f64), b: &(usize, f64)| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0));
        if count < all.len() {
            all.select_nth_unstable_by(count - 1, nearer);
        }
        // Of ties there may be very many, and lists of all rows may be held at once.
        let (nearest, others) = all.split_at(count.min(all.len()));
        let reached = |e: &&(usize, f64)| wanted.reach.get(e.0).is_some_and(|reach| e.1 <= *reach);
        let mut near: Near = nearest.iter().chain(others.iter().filter(reached)).copied().collect();
        near.sort_unstable_by(nearer);
        near
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eigen::symmetric_eigen;
    use consilience_core::Seed;
    use ndarray::{ArrayView1, array, s};

    fn rows(n: usize, seed: u64) -> Array2<f64> {
        let mut stream = Seed(seed).stream();
        let mut x = Array2::from_shape_fn((n, 2), |_| stream.normal());
        // Duplicates and one far away.
        (1..n.min(4)).for_each(|i| x.row_mut(i).fill(0.25));
        x.row_mut(0).fill(1e3);
        x
    }

    fn dense(m: &Csr) -> Array2<f64> {
        let mut out = Array2::zeros((m.n_rows(), m.n_columns()));
        for i in 0..m.n_rows() {
            let (columns, values) = m.row(i);
            columns.iter().zip(values).for_each(|(&j, &v)| out[[i, j as usize]] = v);
        }
        out
    }

    /// The definition, over all pairs.
    fn reference(x: &Array2<f64>, with: SelfTuned) -> Array2<f64> {
        let n = x.nrows();
        let far = |i: usize, j: usize| (0..2).map(|c| (x[[i, c]] - x[[j, c]]).powi(2)).sum::<f64>();
        let near: Vec<Vec<usize>> = (0..n)
            .map(|i| {
                let mut order: Vec<usize> =
                    (0..n).filter(|&j| with.with_itself || j != i).collect();
                order.sort_by(|&a, &b| far(i, a).total_cmp(&far(i, b)).then(a.cmp(&b)));
                order.truncate(with.neighbours + usize::from(with.with_itself));
                order
            })
            .collect();
        let place = if with.with_itself { with.rank } else { with.rank - 1 };
        let mut scale: Vec<f64> =
            (0..n).map(|i| near[i].get(place).map_or(0.0, |&j| far(i, j).sqrt())).collect();
        let mean = scale.iter().sum::<f64>() / n as f64;
        scale.iter_mut().for_each(|s| *s = s.max(with.least_scale * mean));
        let w = Array2::from_shape_fn((n, n), |(i, j)| {
            let weight = (-far(i, j) / (scale[i] * scale[j])).exp();
            match (near[i].contains(&j), near[j].contains(&i)) {
                (true, true) => weight,
                (false, false) => 0.0,
                _ => with.one_sided * weight,
            }
        });
        let degree: Vec<f64> = w.rows().into_iter().map(|r| r.sum()).collect();
        Array2::from_shape_fn((n, n), |(i, j)| w[[i, j]] / (degree[i] * degree[j]).sqrt())
    }

    /// One row so far away that the distances of all others are lost in the rounding of norms.
    #[test]
    fn neighbours_beside_a_row_far_away_are_the_nearest() {
        for away in [1e3, 1e9, 1e10, 1e11] {
            let mut stream = Seed(8).stream();
            let mut x =
                Array2::from_shape_fn((120, 2), |(i, _)| stream.normal() + 10.0 * (i % 2) as f64);
            x.row_mut(0).fill(away);
            let far = |i: usize, j: usize| {
                x.row(i).iter().zip(x.row(j)).map(|(a, b)| (a - b) * (a - b)).sum::<f64>()
            };
            let wanted = Wanted { count: 5, apart: true, reach: &[] };
            let found = Table::new(x.clone()).nearest(x.view(), wanted, &(), |row| row).unwrap();
            for (i, found) in found.iter().enumerate() {
                let mut all: Near = (0..120).filter(|&j| j != i).map(|j| (j, far(i, j))).collect();
                all.sort_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0)));
                assert_eq!(found[..], all[..5], "{away}: {i}");
            }
        }
    }

    #[test]
    fn equals_the_definition() {
        for seed in 0..10 {
            let x = rows(90, seed);
            for with in [
                SelfTuned::new(5),
                SelfTuned::new(8).rank(3).least_scale(0.3).with_itself(true).one_sided(0.5),
            ] {
                let graph = with.graph(x.clone(), &()).unwrap();
                let expected = reference(&x, with);
                let apart =
                    (&dense(graph.matrix()) - &expected).fold(0.0f64, |m, e| m.max(e.abs()));
                assert!(apart < 1e-9, "seed {seed}: {apart}");
            }
        }
    }

    #[test]
    fn rows_of_the_graph_come_back_and_one_alone_is_as_in_a_batch() {
        let (x, new) = (rows(90, 7), rows(150, 8));
        for with in [SelfTuned::new(5), SelfTuned::new(8).rank(3).with_itself(true)] {
            let graph = with.graph(x.clone(), &()).unwrap();
            let mut vectors =
                Array2::from_shape_fn((90, 2), |(i, c)| ((i * 7 + c * 3) % 11) as f64 - 5.0);
            graph.level(&mut vectors);
            let place = |rows: ArrayView2<'_, f64>| {
                graph.extend(rows, vectors.view(), &[0.5, -2.0], &()).unwrap()
            };
            assert_eq!(place(x.view()), vectors);
            assert_eq!(vectors.row(1), vectors.row(3));
            let all = place(new.view());
            for i in 0..150 {
                assert_eq!(place(new.slice(s![i..=i, ..])).row(0), all.row(i));
            }
        }
    }

    /// A row among the others has the links that it has in the graph, and so its own entries; those
    /// whose links are weak have them as if these were as strong as usual.
    #[test]
    fn links_of_new_rows_are_made_as_those_of_the_graph() {
        let x = rows(60, 7);
        for with in [SelfTuned::new(6), SelfTuned::new(9).rank(4).one_sided(0.5)] {
            let graph = with.graph(x.clone(), &()).unwrap();
            let eigen = symmetric_eigen(dense(graph.matrix()).view()).unwrap();
            let (vectors, values) = (eigen.vectors.slice(s![.., ..4]), &eigen.values[..4]);
            let wanted = Wanted { count: with.neighbours, apart: true, reach: &graph.reach };
            let near = graph.table.nearest(x.view(), wanted, &(), |row| row).unwrap();
            // The first is far away, the next three are equal.
            for i in 4..60 {
                let found = graph.place(&near[i], vectors, values);
                let more = (graph.usual / graph.degree[i]).max(1.0).sqrt();
                for (a, b) in found.iter().zip(vectors.row(i)) {
                    assert!((a - more * b).abs() < 1e-9, "{i}: {a} {b}");
                }
            }
        }
    }

    #[test]
    fn far_rows_go_with_the_nearest() {
        let x = Array2::from_shape_fn((41, 1), |(i, _)| match i {
            40 => 1e6,
            _ => (i / 20 * 100 + i % 20) as f64,
        });
        let graph = SelfTuned::new(4).least_scale(1e-6).graph(x, &()).unwrap();
        assert_eq!(graph.degree[40], 0.0);
        let side = Array2::from_shape_fn((41, 1), |(i, _)| if i < 20 { -1.0 } else { 1.0 });
        let new = array![[-1e3], [1e3], [-1e9], [1e9]];
        let z = graph.extend(new.view(), side.view(), &[1.0], &()).unwrap();
        for (r, sign) in [-1.0, 1.0, -1.0, 1.0].into_iter().enumerate() {
            assert!((0.5..2.0).contains(&(sign * z[[r, 0]])), "{r}: {z}");
        }
    }

    #[test]
    fn one_row_and_equal_rows() {
        let graph = SelfTuned::new(3).graph(Array2::zeros((1, 2)), &()).unwrap();
        assert_eq!((graph.matrix().nnz(), graph.degrees()), (0, &[0.0][..]));
        let graph = SelfTuned::new(3).graph(Array2::zeros((5, 2)), &()).unwrap();
        assert!(graph.degrees().iter().all(|d| *d >= 3.0));
    }

    /// The formula of `extend` over all rows, weights relative to the strongest.
    #[test]
    fn new_rows_are_placed_by_the_formula() {
        let x = rows(40, 3);
        let new = array![[0.1, -0.2], [0.3, 0.25], [2.5, 2.0], [900.0, 1100.0]];
        let vectors = Array2::from_shape_fn((40, 2), |(i, c)| ((i * 7 + c * 3) % 11) as f64 - 5.0);
        for (with, place) in [
            (SelfTuned::new(5), 4),
            (SelfTuned::new(8).rank(3).with_itself(true).one_sided(0.5).least_scale(0.3), 2),
        ] {
            let graph = with.graph(x.clone(), &()).unwrap();
            let found = graph.extend(new.view(), vectors.view(), &[0.5, -2.0], &()).unwrap();
            let square = |a: ArrayView1<'_, f64>, b: ArrayView1<'_, f64>| -> f64 {
                a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum()
            };
            let mut degrees = graph.degree.clone();
            degrees.sort_by(f64::total_cmp);
            for (r, point) in new.rows().into_iter().enumerate() {
                let far = |j: usize| square(point, x.row(j));
                let mut order: Vec<usize> = (0..40).collect();
                order.sort_by(|&a, &b| far(a).total_cmp(&far(b)).then(a.cmp(&b)));
                let near = &order[..with.neighbours];
                let own = far(near[place]).sqrt().max(graph.least);
                let power = |j: usize| far(j) / (own * graph.scale[j]);
                let share = |j: usize| {
                    let mut others: Vec<f64> =
                        (0..40).filter(|&o| o != j).map(|o| square(x.row(o), x.row(j))).collect();
                    others.sort_by(f64::total_cmp);
                    let back = far(j) <= others[with.neighbours - 1];
                    match (near.contains(&j), back) {
                        (true, true) => 1.0,
                        (false, false) => 0.0,
                        _ => with.one_sided,
                    }
                };
                let enough = |&j: &usize| graph.degree[j] > 1e-12 * degrees[20];
                let linked: Vec<usize> = (0..40).filter(enough).collect();
                let shares: Vec<f64> = linked.iter().map(|&j| share(j)).collect();
                let powers = linked.iter().zip(&shares).filter(|e| *e.1 > 0.0);
                let least = powers.map(|e| power(*e.0)).fold(f64::INFINITY, f64::min);
                let weights = linked.iter().zip(&shares);
                let w: Vec<f64> = weights.map(|(&j, s)| s * (least - power(j)).exp()).collect();
                let sum: f64 = w.iter().sum();
                let degree = (sum * (-least).exp()).max(degrees[20]);
                for (c, lambda) in [0.5, -2.0].into_iter().enumerate() {
                    let term = |(&j, w): (&usize, &f64)| {
                        w * degree / sum * vectors[[j, c]] / (degree * graph.degree[j]).sqrt()
                    };
                    let expected = linked.iter().zip(&w).map(term).sum::<f64>() / lambda;
                    assert!((found[[r, c]] - expected).abs() < 1e-11, "{r} {c}");
                }
            }
        }
    }
}
