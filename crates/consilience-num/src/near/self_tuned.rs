//! The graph of nearest neighbours in which every row has its own scale.

#[cfg(feature = "serde")]
use consilience_core::{Error, stored::Parts};
use consilience_core::{Observer, Result, room};
use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};
use ndarray::{Array2, ArrayView2};
use rayon::prelude::*;

use crate::sparse::Csr;

/// Rows whose distances are computed together.
const ROWS: usize = 64;

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
        let near =
            table.nearest(table.x.view(), self.count(n, true), !self.with_itself, observer)?;
        let far: Vec<f64> = near.iter().map(|row| self.scale(row)).collect();
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
        Ok(SelfTunedGraph { with: self, table, least, scale, degree, matrix })
    }

    /// How many entries a list of neighbours has.
    fn count(&self, n: usize, fitted: bool) -> usize {
        let others = if fitted && !self.with_itself { n.saturating_sub(1) } else { n };
        self.neighbours.saturating_add(usize::from(self.with_itself)).min(others)
    }

    /// The distance to the neighbour of the rank, or to the last.
    fn scale(&self, row: &Near) -> f64 {
        let at = if self.with_itself { self.rank } else { self.rank.saturating_sub(1) };
        row.get(at.min(row.len().saturating_sub(1))).map_or(0.0, |e| e.1.sqrt())
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
    degree: Vec<f64>,
    matrix: Csr,
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

    /// Entries of eigenvectors of the matrix (n x m, with their eigenvalues, none of them 0) at
    /// rows that come later: the eigenvectors' own equation over the nearest neighbours.
    ///
    /// ```text
    /// z(new) = sum_j w(new, j) z_j / sqrt(d_new d_j) / lambda
    /// ```
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
        let count = self.with.count(self.table.x.nrows(), false);
        let near = self.table.nearest(new, count, false, observer)?;
        let mut z = Array2::zeros((new.nrows(), vectors.ncols()));
        for (row, mut out) in near.iter().zip(z.rows_mut()) {
            let own = self.with.scale(row).max(self.least);
            let own = if own > 0.0 { own } else { 1.0 };
            // Relative to the nearest, so that far rows have a neighbour too.
            let power = |&(j, d): &(usize, f64)| d / (own * self.scale[j]);
            let first = row.iter().map(power).fold(f64::INFINITY, f64::min);
            let w: Vec<f64> = row.iter().map(|e| (first - power(e)).exp()).collect();
            let degree: f64 = w.iter().sum();
            for (&(j, _), w) in row.iter().zip(&w) {
                if self.degree[j] > 0.0 {
                    out.scaled_add(w / (degree * self.degree[j]).sqrt(), &vectors.row(j));
                }
            }
            out.iter_mut().zip(values).for_each(|(o, v)| *o /= v);
        }
        Ok(z)
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
        let n = table.x.nrows();
        if table.x.ncols() != columns || scale.len() != n || degree.len() != n {
            return Err(Error::shape(format!(
                "a graph of {n} rows of {} columns with {} scales and {} degrees; expected \
                 {columns} columns",
                table.x.ncols(),
                scale.len(),
                degree.len()
            )));
        }
        if let Some(bad) = scale.iter().find(|&&s| !(s > 0.0)) {
            return Err(Error::invalid(format!("a scale {bad}; expected above 0")));
        }
        let matrix = Csr::from_rows(0, []);
        Ok(SelfTunedGraph { with, table, least, scale, degree, matrix })
    }
}

/// Neighbours of a row with their squared distances.
type Near = Vec<(usize, f64)>;

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

    /// For every row of `new` its `count` nearest rows with squared distances, ascending; of equals
    /// the lower number. `apart` leaves out the row of its own number.
    fn nearest(
        &self,
        new: ArrayView2<'_, f64>,
        count: usize,
        apart: bool,
        observer: &dyn Observer,
    ) -> Result<Vec<Near>> {
        let ((n, d), new) = (self.x.dim(), new.as_standard_layout());
        if n == 0 || d == 0 || count == 0 {
            return Ok(vec![Near::new(); new.nrows()]);
        }
        let (x, rows) = (self.x.as_slice().unwrap_or_default(), new.as_slice().unwrap_or_default());
        let all = MatRef::from_row_major_slice(x, n, d);
        let parts: Result<Vec<Vec<Near>>> = rows
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
                        let left_out = apart.then_some(c * ROWS + r);
                        self.pick(row, rough, count, left_out, &mut order)
                    })
                    .collect())
            })
            .collect();
        Ok(parts?.into_iter().flatten().collect())
    }

    /// The nearest of one row, from its inner products with all.
    fn pick(
        &self,
        row: &[f64],
        rough: &mut [f64],
        count: usize,
        left_out: Option<usize>,
        order: &mut Vec<u32>,
    ) -> Near {
        rough.iter_mut().zip(&self.norms).for_each(|(p, norm)| *p = norm - 2.0 * *p);
        order.clear();
        order.extend((0..rough.len() as u32).filter(|&j| Some(j as usize) != left_out));
        if count < order.len() {
            order.select_nth_unstable_by(count - 1, |a, b| {
                rough[*a as usize].total_cmp(&rough[*b as usize]).then(a.cmp(b))
            });
            // The rough distances carry the rounding of large norms: whoever may be among the
            // nearest is looked at exactly.
            let own: f64 = row.iter().map(|v| v * v).sum();
            let unit = (row.len() + 4) as f64 * f64::EPSILON;
            let off = |j: u32| unit * (own + self.norms[j as usize]);
            let (nearest, others) = order.split_at(count);
            let most = |most: f64, &j: &u32| most.max(rough[j as usize] + off(j));
            let most = nearest.iter().fold(f64::NEG_INFINITY, most);
            let near = |j: &u32| rough[*j as usize] - off(*j) <= most;
            let also: Vec<u32> = others.iter().copied().filter(near).collect();
            order.truncate(count);
            order.extend(also);
        }
        let exact = |j: usize| {
            let other = self.x.row(j);
            row.iter().zip(other).map(|(a, b)| (a - b) * (a - b)).sum::<f64>()
        };
        let mut all: Near = order.iter().map(|&j| (j as usize, exact(j as usize))).collect();
        let nearer = |a: &(usize, f64), b: &(usize, f64)| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0));
        if count < all.len() {
            all.select_nth_unstable_by(count - 1, nearer);
        }
        // Of ties there may be very many, and all rows are held at once.
        let mut near = all[..count.min(all.len())].to_vec();
        near.sort_unstable_by(nearer);
        near
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eigen::symmetric_eigen;
    use consilience_core::Seed;
    use ndarray::{array, s};

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
            let found = Table::new(x.clone()).nearest(x.view(), 5, true, &()).unwrap();
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
    fn old_rows_come_out_near_where_they_are_and_far_ones_are_finite() {
        let x = rows(60, 7);
        let graph = SelfTuned::new(6).with_itself(true).graph(x.clone(), &()).unwrap();
        let eigen = symmetric_eigen(dense(graph.matrix()).view()).unwrap();
        let vectors = eigen.vectors.slice(s![.., ..3]).to_owned();
        let again = graph.extend(x.view(), vectors.view(), &eigen.values[..3], &()).unwrap();
        let size = vectors.iter().fold(0.0f64, |m, v| m.max(v.abs()));
        let apart = (&again - &vectors).fold(0.0f64, |m, e| m.max(e.abs()));
        assert!(apart < 0.5 * size, "{apart} of {size}");
        let far = Array2::from_elem((1, 2), -1e9);
        let z = graph.extend(far.view(), vectors.view(), &eigen.values[..3], &()).unwrap();
        assert!(z.iter().all(|v| v.is_finite()));
    }

    #[test]
    fn one_row_and_equal_rows() {
        let graph = SelfTuned::new(3).graph(Array2::zeros((1, 2)), &()).unwrap();
        assert_eq!((graph.matrix().nnz(), graph.degrees()), (0, &[0.0][..]));
        let graph = SelfTuned::new(3).graph(Array2::zeros((5, 2)), &()).unwrap();
        assert!(graph.degrees().iter().all(|d| *d >= 3.0));
    }

    /// The formula of `extend` over all rows, weights relative to the nearest.
    #[test]
    fn new_rows_are_placed_by_the_formula() {
        let x = rows(40, 3);
        let new = array![[0.1, -0.2], [0.25, 0.25], [900.0, 1100.0]];
        let vectors = Array2::from_shape_fn((40, 2), |(i, c)| ((i * 7 + c * 3) % 11) as f64 - 5.0);
        for (with, place, count) in [
            (SelfTuned::new(5), 4, 5),
            (SelfTuned::new(8).rank(3).with_itself(true).least_scale(0.3), 3, 9),
        ] {
            let graph = with.graph(x.clone(), &()).unwrap();
            let found = graph.extend(new.view(), vectors.view(), &[0.5, -2.0], &()).unwrap();
            for (r, point) in new.rows().into_iter().enumerate() {
                let far = |j: usize| (&point - &x.row(j)).mapv(|d| d * d).sum();
                let mut near: Vec<usize> = (0..40).collect();
                near.sort_by(|&a, &b| far(a).total_cmp(&far(b)).then(a.cmp(&b)));
                near.truncate(count);
                let own = far(near[place]).sqrt().max(graph.least);
                let power: Vec<f64> =
                    near.iter().map(|&j| far(j) / (own * graph.scale[j])).collect();
                let least = power.iter().fold(f64::INFINITY, |m, &p| m.min(p));
                let w: Vec<f64> = power.iter().map(|p| (least - p).exp()).collect();
                let total: f64 = w.iter().sum();
                for (c, lambda) in [0.5, -2.0].into_iter().enumerate() {
                    let terms = near.iter().zip(&w).map(|(&j, w)| {
                        w * vectors[[j, c]] / (total * graph.degree[j]).sqrt() / lambda
                    });
                    let expected: f64 = terms.sum();
                    assert!((found[[r, c]] - expected).abs() < 1e-12, "{r} {c}");
                }
            }
        }
    }
}
