use consilience_core::{
    BaseClusterer, Error, ErrorKind, Features, Fit, Joined, MemoryBudget, Observer, Partition,
    Report, Result, Seed, Status, Stop, at_least_one, check_restarts, room,
};
use consilience_num::eigen::{TruncatedOptions, try_symmetric_eigen, try_truncated_eigen};
use consilience_num::exp_all;
use consilience_num::kmeans::fit;
use consilience_num::near::SelfTuned;
use consilience_num::sparse::Csr;
use consilience_num::transfer::{small_side_columns, try_small_side};
use ndarray::{Array2, ArrayView2};
use pulp::Arch;
use rayon::prelude::*;

use crate::columns::{ABREAST, Squares, columns};
use crate::distinct::{Distinct, spread};
use crate::input::{finish, last_kmeans, tell, unit_table};
use crate::pages::Table;
use crate::similarity::{landmarks, nearest_marks};

/// Spectral clustering: k-means on the leading eigenvectors of a normalized similarity matrix.
///
/// For clusters that hang together without being balls: rings, arcs, bands. Not for very noisy
/// data, and slower than k-means by far. Up to 1000 distinct objects ([`Spectral::exact_objects`])
/// all similarities are used; beyond, each object is described by its nearest landmarks, so that no
/// n x n matrix is needed. In place of both the similarities of each object with its nearest ones
/// ([`Spectral::nearest`]) may be used, which are far fewer: megabytes for thousands of objects.
///
/// ```text
/// A_ij = exp(-|x_i - x_j|^2 / (s_i s_j)),  s_i = distance to the 7th neighbour
/// rows of the k leading eigenvectors of D^(-1/2) A D^(-1/2), scaled to norm 1  ->  k-means
/// ```
///
/// ```
/// use consilience::Seed;
/// use consilience::core::BaseClusterer;
/// use consilience::generate::Spectral;
/// use consilience::ndarray::Array2;
///
/// // A ring of 40 objects around another.
/// let x = Array2::from_shape_fn((80, 2), |(i, j)| {
///     let (radius, turn) = (if i < 40 { 1.0 } else { 4.0 }, (i % 40) as f64 * 0.157);
///     radius * if j == 0 { turn.cos() } else { turn.sin() }
/// });
/// let found = Spectral::new().fit(x.view().into(), 2, Seed(1), &())?.output;
/// assert_eq!(found.sizes(), vec![40, 40]);
/// assert_ne!(found.label(0), found.label(40));
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Complexity
/// O(n^3) up to 1000 distinct objects; beyond, O(n p d + p^3) time and O(n (d + k)) memory for p
/// landmarks. By the q nearest: O(n^2 d) time for these and O(n k (q + k)) for each step to the
/// eigenvectors; O(n (d + q + k)) memory.
///
/// # Errors
/// As [`BaseClusterer::fit`]; [`ErrorKind::InvalidParameter`] for a setting outside its range,
/// [`ErrorKind::TooLarge`] beyond the memory budget.
///
/// # References
/// A. Ng, M. Jordan, Y. Weiss, "On spectral clustering", 2001; L. Zelnik-Manor, P. Perona,
/// "Self-tuning spectral clustering", 2004 (the scales s_i); X. Chen, D. Cai, "Large scale spectral
/// clustering with landmark-based representation", 2011 (five landmarks per object). Equal objects
/// are collapsed and counted by weight: the same matrix written shorter, but for the scales, which
/// are distances to the 7th distinct neighbour. U. von Luxburg, "A tutorial on spectral
/// clustering", 2007, Section 2.2 (the graph of nearest neighbours).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spectral {
    neighbours: usize,
    nearest: usize,
    landmarks: usize,
    exact_objects: usize,
    restarts: usize,
    budget: MemoryBudget,
}

/// Most distinct objects for the full similarity matrix.
const DENSE: usize = 1000;
/// Objects up to which all eigenpairs are computed, and how many times the wanted ones they are at
/// least where only these are; all of them where these do not converge.
const FEW: usize = 500;
const LEADING: usize = 16;
/// Landmarks that describe an object.
const NEAR: usize = 5;
/// Rows that are placed between two questions whether to stop.
const OFTEN: usize = 1024;
/// Bytes for a row and one of its nearest: both directions of the link, in rows and compressed.
const LINK: usize = 64;
/// Columns in which eigenvectors are sought at least, with those of a block.
const BASIS: usize = 160;
/// Residual of an eigenvector of the graph of nearest neighbours: enough for coordinates.
const TOLERANCE: f64 = 1e-6;

/// Coordinates of the rows, and what is to be said of them.
struct Embedded {
    rows: Array2<f64>,
    note: Option<String>,
    converged: bool,
}

impl Embedded {
    fn by(rows: Array2<f64>) -> Self {
        Embedded { rows, note: None, converged: true }
    }
}

/// The k leading eigenvectors.
fn leading(
    a: ArrayView2<'_, f64>,
    k: usize,
    observer: &dyn Observer,
) -> Result<Option<Array2<f64>>> {
    let m = a.nrows();
    if m > FEW && k.saturating_mul(LEADING) <= m {
        let options = TruncatedOptions::new(k).tolerance(1e-10);
        let top = try_truncated_eigen(&a, &options, observer)?;
        if top.converged {
            return Ok(Some(top.vectors));
        }
    }
    let Some(eigen) = try_symmetric_eigen(a)? else { return Ok(None) };
    Ok(Some(Array2::from_shape_fn((m, k), |(i, c)| eigen.vectors[[i, c]])))
}

/// The part of the graph that each row is in, and how many there are; no link leads from one to
/// another.
fn parts(graph: &Csr) -> (Vec<usize>, usize) {
    let m = graph.n_rows();
    let mut joined = Joined::new(m);
    for i in 0..m {
        graph.entries(i).for_each(|(j, _)| _ = joined.join(i, j));
    }
    let (mut number, mut count) = (vec![usize::MAX; m], 0);
    let part = (0..m).map(|i| {
        let first = joined.find(i);
        if number[first] == usize::MAX {
            (number[first], count) = (count, count + 1);
        }
        number[first]
    });
    (part.collect(), count)
}

impl Default for Spectral {
    fn default() -> Self {
        Spectral {
            neighbours: 7,
            nearest: 0,
            landmarks: 300,
            exact_objects: DENSE,
            restarts: 5,
            budget: MemoryBudget::default(),
        }
    }
}

impl Spectral {
    /// 7th neighbour as scale, 300 landmarks, 5 starts of the k-means.
    pub fn new() -> Self {
        Self::default()
    }

    consilience_core::setters! {
        /// The neighbour whose distance is an object's scale. Default 7; at least 1.
        pub fn neighbours(mut self, neighbours: usize) { self.neighbours = neighbours }

        /// Nearest distinct objects whose similarities with an object are used, in place of all or
        /// of landmarks'; of two objects it is enough that one is among the nearest of the other.
        /// Where the objects fall into more parts than clusters, they are doubled until they do
        /// not, the last of them sets the scale, and the report says so. Default 0: all, or
        /// landmarks; at least 0.
        ///
        /// ```
        /// use consilience::Seed;
        /// use consilience::core::BaseClusterer;
        /// use consilience::generate::Spectral;
        /// use consilience::ndarray::Array2;
        ///
        /// // A ring of 900 objects around another.
        /// let x = Array2::from_shape_fn((1800, 2), |(i, j)| {
        ///     let (radius, turn) = (if i < 900 { 1.0 } else { 2.0 }, i as f64 * 0.007);
        ///     radius * if j == 0 { turn.cos() } else { turn.sin() }
        /// });
        /// let found = Spectral::new().nearest(10).fit(x.view().into(), 2, Seed(1), &())?.output;
        /// assert_eq!(found.sizes(), vec![900, 900]);
        /// # Ok::<(), consilience::Error>(())
        /// ```
        pub fn nearest(mut self, objects: usize) { self.nearest = objects }

        /// Number of landmarks p for more distinct objects than [`Spectral::exact_objects`]; raised
        /// to twice the number of clusters. Default 300; at least 1.
        pub fn landmarks(mut self, landmarks: usize) { self.landmarks = landmarks }

        /// Most distinct objects of which all similarities are used; beyond, the report says that
        /// landmarks took their place. Default 1000; at least 1. Time grows with the cube.
        pub fn exact_objects(mut self, objects: usize) { self.exact_objects = objects }

        /// Runs of the k-means on the eigenvectors. Default 5; 1 to 10,000.
        pub fn restarts(mut self, restarts: usize) { self.restarts = restarts }

        /// How much memory similarities of the landmarks and eigenvectors may take. Default 8 GiB.
        pub fn memory_budget(mut self, budget: MemoryBudget) { self.budget = budget }
    }

    /// The normalized similarities of distinct rows; one of weight w stands for w equal ones.
    fn similarities(
        &self,
        x: ArrayView2<'_, f64>,
        weights: &[f64],
        observer: &dyn Observer,
    ) -> Result<Table> {
        let m = x.nrows();
        let mut a = Table::zeros(m * m)?;
        let roots: Vec<f64> = weights.iter().map(|w| w.sqrt()).collect();
        let stop = Stop::new(observer);
        let scales = self.squares(x, &mut a, &stop)?;
        let degrees: Vec<f64> = a
            .par_chunks_mut(m)
            .enumerate()
            .map(|(i, row)| {
                stop.check()?;
                Arch::new().dispatch(|| {
                    row.iter_mut().zip(&scales).for_each(|(v, s)| *v = -*v / (scales[i] * s));
                    exp_all(row);
                    let shares = row.iter_mut().zip(weights);
                    shares.for_each(|(v, w)| *v *= (weights[i] * w).sqrt());
                });
                Ok(row.iter().zip(&roots).map(|(v, root)| v * root).sum::<f64>() / roots[i])
            })
            .collect::<Result<_>>()?;
        a.par_chunks_mut(m).enumerate().for_each(|(i, row)| {
            Arch::new().dispatch(|| {
                let others = row.iter_mut().zip(&degrees);
                others.for_each(|(v, degree)| *v /= (degrees[i] * degree).sqrt());
            });
        });
        Ok(a)
    }

    /// Writes all squared distances, row by row, and returns each row's scale.
    fn squares(
        &self,
        x: ArrayView2<'_, f64>,
        out: &mut [f64],
        stop: &Stop<'_>,
    ) -> Result<Vec<f64>> {
        let m = x.nrows();
        let columns = columns(x)?;
        // Position 0 is the row itself.
        let at = self.neighbours.min(m - 1);
        let scale = |(i, row): (usize, &mut [f64])| {
            stop.check()?;
            let point: Vec<f64> = columns.iter().map(|column| column[i]).collect();
            for (part, out) in row.chunks_mut(ABREAST).enumerate() {
                Squares { columns: &columns, point: &point, from: part * ABREAST, out }.run();
            }
            let mut all = room::collected(row.iter().copied())?;
            let far = *all.select_nth_unstable_by(at, f64::total_cmp).1;
            Ok(far.sqrt().max(f64::MIN_POSITIVE.sqrt()))
        };
        out.par_chunks_mut(m).enumerate().map(scale).collect()
    }

    /// The coordinates of the rows, of norm 1.
    fn embed(
        &self,
        x: ArrayView2<'_, f64>,
        weights: &[f64],
        clusters: usize,
        seed: Seed,
        observer: &dyn Observer,
    ) -> Result<Embedded> {
        let embedded = if self.nearest > 0 {
            Some(self.by_nearest(x, weights, clusters, seed, observer)?)
        } else if x.nrows() <= self.exact_objects {
            self.by_all(x, weights, clusters, observer)?.map(Embedded::by)
        } else {
            self.by_landmarks(x, weights, clusters, seed, observer)?
        };
        let mut embedded = embedded.ok_or_else(|| {
            Error::new(ErrorKind::NonFinite, "the similarity matrix has no eigenpairs")
        })?;
        for mut row in embedded.rows.rows_mut() {
            let norm = row.dot(&row).sqrt();
            if norm > 0.0 {
                row /= norm;
            }
        }
        Ok(embedded)
    }

    fn by_all(
        &self,
        x: ArrayView2<'_, f64>,
        weights: &[f64],
        clusters: usize,
        observer: &dyn Observer,
    ) -> Result<Option<Array2<f64>>> {
        self.budget.check_square("similarities", x.nrows(), 3 * size_of::<f64>())?;
        let a = self.similarities(x, weights, observer)?;
        match ArrayView2::from_shape((x.nrows(), x.nrows()), &a) {
            Ok(a) => leading(a, clusters, observer),
            Err(_) => Ok(None),
        }
    }

    fn by_nearest(
        &self,
        x: ArrayView2<'_, f64>,
        weights: &[f64],
        clusters: usize,
        seed: Seed,
        observer: &dyn Observer,
    ) -> Result<Embedded> {
        let (m, first) = (x.nrows(), self.nearest.min(x.nrows() - 1));
        let columns = BASIS.max(clusters.saturating_mul(8));
        self.budget.check_table("eigenvectors", m, columns, size_of::<f64>())?;
        let mut nearest = first;
        let (a, (part, count)) = loop {
            // The last of more sets the scale: by that of the first, what is between parts is 0.
            let rank = if nearest > first { nearest } else { self.neighbours };
            let a = self.graph(x, weights, nearest, rank, observer)?;
            let parts = parts(&a);
            if nearest == m - 1 || parts.1 <= clusters {
                break (a, parts);
            }
            nearest = nearest.saturating_mul(2).min(m - 1);
        };
        let note = (nearest > first).then(|| {
            format!(
                "{nearest} nearest objects in place of {first}: more parts than clusters by these"
            )
        });
        if count == clusters {
            // Their eigenvalues are all 1, and the next may be as near to it as is hard to tell.
            let place = |(i, c): (usize, usize)| f64::from(u8::from(part[i] == c));
            let rows = Array2::from_shape_fn((m, clusters), place);
            return Ok(Embedded { note, ..Embedded::by(rows) });
        }
        let options = TruncatedOptions::new(clusters).tolerance(TOLERANCE);
        let options = options.seed(seed.derive("eigenvectors", 0));
        let top = try_truncated_eigen(&a, &options, observer)?;
        Ok(Embedded { rows: top.vectors, note, converged: top.converged })
    }

    /// The normalized similarities of each distinct row with the nearest ones and with itself; a
    /// row of weight w stands for w equal ones.
    fn graph(
        &self,
        x: ArrayView2<'_, f64>,
        weights: &[f64],
        nearest: usize,
        rank: usize,
        observer: &dyn Observer,
    ) -> Result<Csr> {
        self.budget.check_table("similarities of the nearest", x.nrows(), nearest + 1, LINK)?;
        let links = SelfTuned::new(nearest).rank(rank).with_itself(true);
        let graph = links.graph(x.to_owned(), observer)?;
        if weights.iter().all(|&w| w == 1.0) {
            return graph.matrix().copied();
        }
        // The weights of the links once more, and degrees that count every one of equal rows.
        let degrees = graph.degrees();
        let links = graph.matrix().copied()?.map(|i, j, v| v * (degrees[i] * degrees[j]).sqrt());
        let degree = |i: usize| links.entries(i).map(|(j, w)| w * weights[j]).sum::<f64>();
        let degrees: Vec<f64> = (0..x.nrows()).map(degree).collect();
        Ok(links.map(|i, j, w| w * (weights[i] * weights[j] / (degrees[i] * degrees[j])).sqrt()))
    }

    fn landmark_count(&self, distinct: usize, clusters: usize) -> usize {
        self.landmarks.max(clusters.saturating_mul(2)).min(distinct)
    }

    fn by_landmarks(
        &self,
        x: ArrayView2<'_, f64>,
        weights: &[f64],
        clusters: usize,
        seed: Seed,
        observer: &dyn Observer,
    ) -> Result<Option<Embedded>> {
        let count = self.landmark_count(x.nrows(), clusters);
        let columns = small_side_columns(count, clusters);
        let entry = size_of::<f64>();
        self.budget.check_table("similarities of the landmarks", count, columns, entry)?;
        self.budget.check_table("eigenvectors", x.nrows(), clusters, entry)?;
        let marks = landmarks(x, count, seed, observer)?;
        let placed = self.place(x, weights, clusters, &marks, observer)?;
        let note = format!(
            "{} distinct objects by {count} landmarks; exact_objects is {}",
            x.nrows(),
            self.exact_objects
        );
        Ok(placed.map(|rows| Embedded { note: Some(note), ..Embedded::by(rows) }))
    }

    /// Distinct rows x k, by landmarks; rows of weight w stand for w equal ones.
    fn place(
        &self,
        x: ArrayView2<'_, f64>,
        weights: &[f64],
        k: usize,
        marks: &Array2<f64>,
        observer: &dyn Observer,
    ) -> Result<Option<Array2<f64>>> {
        let m = x.nrows();
        let (p, near) = (marks.nrows(), NEAR.min(marks.nrows()));
        let mut z = nearest_marks(x, marks.view(), near, observer)?;
        let scale = z.chunks(near).map(|row| row[near - 1].1.sqrt()).sum::<f64>() / m as f64;
        let width = 2.0 * (scale * scale).max(f64::MIN_POSITIVE);
        let mut gram = Array2::zeros((p, p));
        for (row, w) in z.chunks_mut(near).zip(weights) {
            // Relative to the nearest, so that the sum cannot vanish.
            let nearest = row[0].1;
            let mut sum = 0.0;
            for (_, v) in row.iter_mut() {
                *v = ((nearest - *v) / width).exp();
                sum += *v;
            }
            row.iter_mut().for_each(|(_, v)| *v /= sum);
            for &(i, a) in row.iter() {
                for &(j, b) in row.iter() {
                    gram[[i, j]] += w * (a * b);
                }
            }
        }
        let side = try_small_side(gram.view(), k, 0.0, self.budget, observer)?;
        let Some(side) = side else { return Ok(None) };
        let mut out = Array2::zeros((m, side.values.len()));
        for (at, (row, mut out)) in z.chunks(near).zip(out.rows_mut()).enumerate() {
            if at % OFTEN == 0 {
                observer.check()?;
            }
            for (c, &value) in side.values.iter().enumerate() {
                let sum: f64 = row.iter().map(|&(j, v)| v * side.coordinates[[j, c]]).sum();
                out[c] = sum / value.max(1e-12).sqrt();
            }
        }
        Ok(Some(out))
    }
}

impl BaseClusterer for Spectral {
    fn name(&self) -> &'static str {
        "spectral"
    }

    fn set_memory_budget(&mut self, budget: MemoryBudget) {
        self.budget = budget;
    }

    fn fit(
        &self,
        features: Features<'_>,
        clusters: usize,
        seed: Seed,
        observer: &dyn Observer,
    ) -> Result<Fit<Partition>> {
        let features = features.dense()?;
        features.check_clusters(clusters)?;
        at_least_one("neighbours", self.neighbours)?;
        at_least_one("landmarks", self.landmarks)?;
        at_least_one("exact objects", self.exact_objects)?;
        check_restarts(self.restarts)?;
        observer.check()?;
        let distinct = Distinct::new(unit_table(&features));
        let mut report = Report::default();
        if clusters >= distinct.len() {
            return finish(&distinct.kind, clusters, report);
        }
        let (x, weights) = (distinct.rows.view(), &distinct.weights);
        let Embedded { rows, note, converged } =
            report.stage("eigenvectors", || self.embed(x, weights, clusters, seed, observer))?;
        report.notes.extend(note);
        let options = last_kmeans(clusters, self.restarts, seed);
        let found =
            report.stage("k-means", || fit(rows.view(), Some(weights), &options, observer))?;
        tell(&mut report, &found);
        if !converged {
            report.status = Status::MaxIterations;
            report.notes.push("the eigenvectors were not found to the tolerance".into());
        }
        finish(&spread(&distinct.kind, &found.assignment), clusters, report)
    }
}

#[cfg(test)]
mod tests {
    use consilience_num::eigen::symmetric_eigen;

    use super::*;
    use crate::similarity::square;

    /// To the bit, at sizes about the number of objects abreast.
    #[test]
    fn similarities_equal_the_definition() {
        for (n, d) in [(2, 1), (40, 3), (ABREAST + 30, 6)] {
            let mut stream = Seed(n as u64).stream();
            let x = Array2::from_shape_simple_fn((n, d), || stream.normal());
            let weights: Vec<f64> = (0..n).map(|i| (1 + i % 4) as f64).collect();
            let found = Spectral::new().similarities(x.view(), &weights, &()).unwrap();
            let far = Array2::from_shape_fn((n, n), |(i, j)| square(x.row(i), x.row(j)));
            let scales: Vec<f64> = far
                .rows()
                .into_iter()
                .map(|row| {
                    let mut row = row.to_vec();
                    row.sort_by(f64::total_cmp);
                    row[7.min(n - 1)].sqrt()
                })
                .collect();
            let a = Array2::from_shape_fn((n, n), |(i, j)| {
                let mut near = [-far[[i, j]] / (scales[i] * scales[j])];
                exp_all(&mut near);
                near[0] * (weights[i] * weights[j]).sqrt()
            });
            let degree = |i: usize| {
                let all = (0..n).map(|j| a[[i, j]] * weights[j].sqrt()).sum::<f64>();
                all / weights[i].sqrt()
            };
            let degrees: Vec<f64> = (0..n).map(degree).collect();
            for ((i, j), a) in a.indexed_iter() {
                assert_eq!(found[i * n + j], a / (degrees[i] * degrees[j]).sqrt(), "{n}: {i}, {j}");
            }
        }
    }

    #[test]
    fn leading_eigenvectors_equal_those_of_all() {
        let n = FEW + 60;
        let mut stream = Seed(1).stream();
        let x = Array2::from_shape_fn((n, 3), |(i, j)| {
            f64::from(u8::from(i % 3 == j)) * 3.0 + stream.normal()
        });
        let a = Array2::from_shape_fn((n, n), |(i, j)| (-square(x.row(i), x.row(j))).exp());
        let few = leading(a.view(), 4, &()).unwrap().unwrap();
        let all = symmetric_eigen(a.view()).unwrap().vectors;
        assert_eq!(few.dim(), (n, 4));
        for c in 0..4 {
            let along: f64 = (0..n).map(|i| few[[i, c]] * all[[i, c]]).sum();
            assert!((along.abs() - 1.0).abs() < 1e-9, "{c}: {along}");
        }
        // More than a sixteenth of all: by all eigenpairs.
        assert_eq!(leading(a.view(), n / 4, &()).unwrap().unwrap().ncols(), n / 4);
    }

    /// Rows that stand for others, against all rows in full.
    #[test]
    fn the_graph_of_the_nearest_equals_the_definition() {
        let (n, nearest, scale) = (50, 6, 4);
        let mut stream = Seed(3).stream();
        let x = Array2::from_shape_simple_fn((n, 3), || stream.normal());
        let far = Array2::from_shape_fn((n, n), |(i, j)| square(x.row(i), x.row(j)));
        let order: Vec<Vec<usize>> = (0..n)
            .map(|i| {
                let mut others: Vec<usize> = (0..n).filter(|&j| j != i).collect();
                others.sort_by(|&a, &b| far[[i, a]].total_cmp(&far[[i, b]]));
                others
            })
            .collect();
        let s: Vec<f64> = (0..n).map(|i| far[[i, order[i][scale - 1]]].sqrt()).collect();
        let near = |i: usize, j: usize| order[i][..nearest].contains(&j);
        let w = Array2::from_shape_fn((n, n), |(i, j)| {
            let linked = i == j || near(i, j) || near(j, i);
            if linked { (-far[[i, j]] / (s[i] * s[j])).exp() } else { 0.0 }
        });
        for weights in [vec![1.0; n], (0..n).map(|i| (1 + i % 3) as f64).collect()] {
            let d: Vec<f64> =
                (0..n).map(|i| (0..n).map(|j| w[[i, j]] * weights[j]).sum()).collect();
            let found = Spectral::new().graph(x.view(), &weights, nearest, scale, &()).unwrap();
            let found = found.to_dense().unwrap();
            for ((i, j), w) in w.indexed_iter() {
                let expected = w * (weights[i] * weights[j] / (d[i] * d[j])).sqrt();
                assert!((found[[i, j]] - expected).abs() < 1e-12, "{i}, {j}");
            }
        }
    }

    #[test]
    fn more_nearest_ones_where_the_parts_are_more_than_the_clusters() {
        // Four groups of 12 in a row, of which the middle two are near each other.
        let x = Array2::from_shape_fn((48, 1), |(i, _)| {
            [0.0, 40.0, 44.0, 90.0][i / 12] + (i % 12) as f64 * 0.05
        });
        let fit = |nearest: usize, clusters: usize| {
            let spectral = Spectral::new().nearest(nearest);
            spectral.fit(x.view().into(), clusters, Seed(1), &()).unwrap()
        };
        let all = fit(3, 4);
        assert!(all.report.notes.is_empty(), "{:?}", all.report.notes);
        assert_eq!(all.output.sizes(), [12; 4]);
        let some = fit(3, 3);
        let note = "in place of 3: more parts than clusters by these";
        assert!(some.report.notes[0].contains(note), "{:?}", some.report.notes);
        assert_eq!(some.output.sizes(), [12, 24, 12]);
        // Two rings are two parts, as many as clusters: no eigenvectors are sought.
        let ring = Array2::from_shape_fn((900, 2), |(i, j)| {
            let (radius, turn) = (1.0 + (i % 2) as f64, i as f64 * 0.007);
            radius * if j == 0 { turn.cos() } else { turn.sin() }
        });
        let found = Spectral::new().nearest(6).fit(ring.view().into(), 2, Seed(1), &()).unwrap();
        assert_eq!(found.report.status, Status::Solved);
        assert!((0..900).all(|i| found.output.label(i) == found.output.label(i % 2)));
        // More than there are others.
        assert_eq!(fit(100, 3).output, fit(47, 3).output);
    }
}
