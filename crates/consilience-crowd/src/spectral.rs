//! Leading eigenvectors of matrices over the answered objects, and k-means on them.

use consilience_core::{Observer, Result, Seed};
use consilience_num::eigen::{Shifted, SymmetricOperator, TruncatedOptions, try_truncated_eigen};
use consilience_num::kmeans::{self, KMeansOptions};
use consilience_num::sparse::Csr;
use ndarray::{Array2, ArrayView2, ArrayViewMut2};

use crate::answer_counts::AnswerCounts;
use crate::answers::Answers;

const RESTARTS: usize = 10;
/// The eigenvectors are only clustered: no more digits are needed. The last of them may lie in the
/// noise, where none is better than another.
const TOLERANCE: f64 = 1e-4;
const PRODUCTS: usize = 60;
/// Fewer objects have no neighbourhoods.
const FEWEST: usize = 4;

/// Numbers that the [`AnswerCounts`] hold of each pair.
pub(crate) const COUNTED: usize = 3;
/// Numbers for each pair while a matrix is made of what was said of it, pair by pair, and what each
/// matrix beside that one takes; lists of them grow by doubling.
const MADE: usize = 24;
const BESIDE: usize = 5;

/// What is held while k eigenvectors of so many matrices of the answers are found at the same time:
/// rows and columns of numbers.
pub(crate) fn tables(answers: &Answers, k: usize, matrices: usize) -> [(usize, usize); 4] {
    let n = answers.answered().len();
    let of_pair = COUNTED + MADE + BESIDE * matrices.saturating_sub(1);
    [
        (n, columns(n, k).saturating_mul(matrices)),
        (answers.most_pairs(), of_pair),
        // Who said it, and where each object was shown.
        (answers.n_pair_answers(), 1),
        (answers.n_rows(), 1),
    ]
}

/// Numbers that k eigenvectors take for each of `n` objects while they are found: a basis, three
/// blocks, and they themselves.
fn columns(n: usize, k: usize) -> usize {
    let block = k.saturating_add(4);
    let basis = block.saturating_mul(6).max(128);
    // All of a small matrix.
    basis.saturating_add(block.saturating_mul(4)).min(n.saturating_mul(4))
}

/// Rows of the k leading eigenvectors, each times its eigenvalue (0 where that is negative).
///
/// Scaling by the eigenvalue keeps weak eigenvectors, which are mostly noise, from weighing as much
/// as the strong ones.
fn embedding(
    matrix: &dyn SymmetricOperator,
    k: usize,
    seed: Seed,
    observer: &dyn Observer,
) -> Result<Array2<f64>> {
    let seed = seed.derive("crowd eigenvectors", 0);
    let options = TruncatedOptions::new(k).tolerance(TOLERANCE).max_iterations(PRODUCTS).seed(seed);
    let top = try_truncated_eigen(&Operator(matrix), &options, observer)?;
    let mut rows = top.vectors;
    for (mut column, &value) in rows.columns_mut().into_iter().zip(&top.values) {
        column *= value.max(0.0);
    }
    // A matrix without finite products has no eigenvectors; all objects are then alike.
    rows.mapv_inplace(|x| if x.is_finite() { x } else { 0.0 });
    Ok(rows)
}

struct Operator<'a>(&'a dyn SymmetricOperator);

impl SymmetricOperator for Operator<'_> {
    fn dim(&self) -> usize {
        self.0.dim()
    }

    fn apply(&self, x: ArrayView2<f64>, y: ArrayViewMut2<f64>) {
        self.0.apply(x, y);
    }
}

/// k-means on rows: at most k clusters.
pub(crate) fn round(
    rows: ArrayView2<'_, f64>,
    k: usize,
    seed: Seed,
    observer: &dyn Observer,
) -> Result<Vec<u32>> {
    let n = rows.nrows();
    if k <= 1 || rows.is_empty() {
        return Ok(vec![0; n]);
    }
    let options = KMeansOptions::new(k).restarts(RESTARTS).seed(seed.derive("crowd k-means", 0));
    Ok(kmeans::fit(rows, None, &options, observer)?.assignment)
}

/// Eigenvectors and k-means of a matrix.
pub(crate) fn cluster(
    matrix: &dyn SymmetricOperator,
    k: usize,
    seed: Seed,
    observer: &dyn Observer,
) -> Result<Vec<u32>> {
    let n = matrix.dim();
    if k >= n {
        return Ok((0..n as u32).collect());
    }
    round(embedding(matrix, k, seed, observer)?.view(), k, seed, observer)
}

/// Every row scaled to norm 1.
fn unit_rows(rows: &mut Array2<f64>) {
    for mut row in rows.rows_mut() {
        let norm = row.dot(&row).sqrt();
        if norm > 0.0 {
            row /= norm;
        }
    }
}

/// The mean answer of every answered pair, the crowd's mean elsewhere, 1 on the diagonal.
pub(crate) fn mean_answers(
    answers: &Answers,
    counts: &AnswerCounts,
    k: usize,
    seed: Seed,
    observer: &dyn Observer,
) -> Result<Vec<u32>> {
    let mean = counts.mean();
    let sparse = over_answered(answers, counts, 1.0 - mean, |c, n| c / n - mean);
    cluster(&Shifted::new(sparse, mean), k, seed, observer)
}

/// c - mean N, whose zeros need no filling: by eigenvectors, and by their rows scaled to norm 1.
pub(crate) fn residual(
    answers: &Answers,
    counts: &AnswerCounts,
    k: usize,
    seed: Seed,
    observer: &dyn Observer,
) -> Result<[Vec<u32>; 2]> {
    let mean = counts.mean();
    let sparse = over_answered(answers, counts, 0.0, |c, n| c - mean * n);
    let n = sparse.n_rows();
    if k >= n {
        return Ok([(0..n as u32).collect(), (0..n as u32).collect()]);
    }
    let mut rows = embedding(&sparse, k, seed, observer)?;
    let plain = round(rows.view(), k, seed, observer)?;
    unit_rows(&mut rows);
    Ok([plain, round(rows.view(), k, seed, observer)?])
}

/// Whether objects were compared with neighbours only, as along a chain, instead of here and there.
///
/// Matrices of answers then have smooth waves along the chain among their leading eigenvectors, of
/// almost the eigenvalues that the clusters have: those are lost among these. A random walk over
/// the compared pairs tells, by its second eigenvalue as a share of the first: that is near 1 along
/// a chain, and `((sqrt(s) + sqrt(t - 1))^2 - t) / (t s)` where each object is in t tasks with s
/// others each, all at random; of pairs that is `2 sqrt(t - 1) / t`, the bound of Alon and Boppana.
/// What is more than half of the way from there to 1 counts as a chain. The mean degree is added to
/// every degree, or a few objects that hang on the rest by a thread would count as one (the
/// regularization of Amini, Chen, Bickel, Levina 2013).
pub(crate) fn is_local(
    answers: &Answers,
    counts: &AnswerCounts,
    seed: Seed,
    observer: &dyn Observer,
) -> Result<bool> {
    let graph = over_answered(answers, counts, 0.0, |_, _| 1.0);
    let degrees = graph.row_sums();
    if degrees.len() < FEWEST {
        return Ok(false);
    }
    let mean = degrees.iter().sum::<f64>() / degrees.len() as f64;
    let rows = answers.n_rows();
    let others = (2.0 * answers.n_pair_answers() as f64 / rows as f64).max(1.0);
    // So few comparisons, here and there, leave objects in many pieces: nothing tells a chain.
    if mean - others <= 1.0 {
        return Ok(false);
    }
    let scale: Vec<f64> = degrees.iter().map(|d| 1.0 / (d + mean).sqrt()).collect();
    let walk = graph.map(|i, j, x| x * scale[i] * scale[j]);
    let seed = seed.derive("crowd walk", 0);
    let options = TruncatedOptions::new(2).tolerance(TOLERANCE).max_iterations(PRODUCTS).seed(seed);
    let values = try_truncated_eigen(&walk, &options, observer)?.values;
    let tasks = mean / others;
    let random = ((others.sqrt() + (tasks - 1.0).sqrt()).powi(2) - tasks) / (tasks * others);
    let least = 0.5 * (1.0 + random);
    Ok(matches!(values[..], [first, second] if second > least * first))
}

/// A matrix over the answered objects from the counts of pairs; `diagonal` elsewhere on the
/// diagonal.
fn over_answered(
    answers: &Answers,
    counts: &AnswerCounts,
    diagonal: f64,
    f: impl Fn(f64, f64) -> f64,
) -> Csr {
    let objects = answers.answered();
    let mut place = vec![0u32; answers.n_objects()];
    for (at, &i) in objects.iter().enumerate() {
        place[i as usize] = at as u32;
    }
    let rows = objects.iter().enumerate().map(|(at, &i)| {
        let mut row: Vec<(u32, f64)> = counts
            .row(i as usize)
            .map(|(j, count)| (place[j], f(count.same as f64, count.answers as f64)))
            .collect();
        if diagonal != 0.0 {
            let before = row.partition_point(|&(j, _)| (j as usize) < at);
            row.insert(before, (at as u32, diagonal));
        }
        row
    });
    Csr::from_rows(objects.len(), rows)
}
