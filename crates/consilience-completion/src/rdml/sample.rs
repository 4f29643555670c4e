use consilience_core::{Error, Result, ensure};
use ndarray::ArrayView2;

/// Similarities of the annotated sample, completed: what [`Rdml`](crate::Rdml) regresses on.
///
/// ```
/// use consilience::completion::SampleSimilarity;
/// use consilience::ndarray::array;
///
/// // Three objects, the first two alike: in full, and by memberships.
/// let full = array![[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
/// let memberships = array![[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]];
/// assert_eq!(memberships.dot(&memberships.t()), full);
/// let _dense = SampleSimilarity::Dense(full.view());
/// let _the_same = SampleSimilarity::Factors(memberships.view());
/// let vectors = &memberships / &array![2f64.sqrt(), 1.0];
/// let _again = SampleSimilarity::Eigenpairs(vectors.view(), &[2.0, 1.0]);
/// ```
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum SampleSimilarity<'a> {
    /// The whole symmetric n x n matrix A.
    Dense(ArrayView2<'a, f64>),
    /// A = F F' by its factors F (n x r).
    Factors(ArrayView2<'a, f64>),
    /// A = V diag(values) V' by its eigenvectors V (n x r) and eigenvalues of either sign, as a
    /// low-rank completion gives them.
    Eigenpairs(ArrayView2<'a, f64>, &'a [f64]),
}

pub(super) fn check_sample(sample: &[usize], n: usize) -> Result<()> {
    ensure!(!sample.is_empty(), empty("a sample of no objects"));
    let mut sorted = sample.to_vec();
    sorted.sort_unstable();
    if let Some(&last) = sorted.last().filter(|&&i| i >= n) {
        return Err(Error::out_of_range(format!("sample object {last} of {n}")));
    }
    match sorted.windows(2).find(|w| w[0] == w[1]) {
        Some(w) => Err(Error::invalid(format!("object {} is twice in the sample", w[0]))),
        None => Ok(()),
    }
}

pub(super) fn check_similarity(similarity: &SampleSimilarity<'_>, n: usize) -> Result<()> {
    let (a, square) = match similarity {
        SampleSimilarity::Dense(a) => (a, true),
        SampleSimilarity::Factors(f) => (f, false),
        SampleSimilarity::Eigenpairs(vectors, values) => {
            ensure!(
                vectors.ncols() == values.len(),
                shape("{} eigenvectors, {} eigenvalues", vectors.ncols(), values.len())
            );
            if let Some((i, &v)) = values.iter().enumerate().find(|(_, v)| !v.is_finite()) {
                return Err(Error::non_finite("eigenvalues of the sample", i, 0, v));
            }
            (vectors, false)
        }
    };
    if a.nrows() != n || (square && a.ncols() != n) {
        return Err(Error::shape(format!(
            "similarity of {} x {} entries, a sample of {n} objects",
            a.nrows(),
            a.ncols()
        )));
    }
    ensure!(a.ncols() > 0, empty("factors of no columns"));
    if let Some(((i, j), &v)) = a.indexed_iter().find(|(_, v)| !v.is_finite()) {
        return Err(Error::non_finite("similarity of the sample", i, j, v));
    }
    if square
        && let Some(((i, j), &v)) = a.indexed_iter().find(|&((i, j), &v)| i < j && a[[j, i]] != v)
    {
        return Err(Error::invalid(format!(
            "similarity {v} at row {i}, column {j}, but {} at row {j}, column {i}; expected a \
             symmetric matrix",
            a[[j, i]]
        )));
    }
    Ok(())
}
