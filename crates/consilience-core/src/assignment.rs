//! The linear assignment problem.

use ndarray::ArrayView2;

/// Beyond this, sums of weights could overflow inside the solver.
const LARGEST_SAFE: f64 = 1e150;

/// Assigns rows to columns, one to one, so that the total weight is largest; entry i of the result
/// is the column of row i.
///
/// For matching the clusters of one partition with those of another. Of r rows and c columns
/// `min(r, c)` pairs are formed, also where weights are negative; the rows left over get `None`.
/// The result maximises
///
/// ```text
/// sum_i w[i, sigma(i)]    over one-to-one sigma.
/// ```
///
/// Several assignments may have that weight; which of them is returned is arbitrary but
/// reproducible.
///
/// Where a weight is NaN or infinite every entry of the result is `None`.
///
/// ```
/// use consilience::core::assignment::max_assignment;
/// use consilience::ndarray::array;
///
/// // Taking the largest entry first (5) would give 5 + 0; the best is 4 + 4.
/// assert_eq!(max_assignment(array![[5.0, 4.0], [4.0, 0.0]].view()), vec![Some(1), Some(0)]);
/// // More rows than columns.
/// assert_eq!(max_assignment(array![[1.0], [3.0], [2.0]].view()), vec![None, Some(0), None]);
/// ```
///
/// # Complexity
/// `O(s^2 l)` time with s the shorter and l the longer side, memory for two copies of the matrix.
///
/// # References
/// D. F. Crouse, *On implementing 2D rectangular assignment algorithms*, IEEE Trans. Aerospace and
/// Electronic Systems 52, 2016, as implemented by the crate `lsap`.
#[doc(alias = "label correspondence")]
#[doc(alias = "hungarian")]
pub fn max_assignment(weights: ArrayView2<f64>) -> Vec<Option<usize>> {
    let (rows, columns) = weights.dim();
    let mut assigned = vec![None; rows];
    if rows == 0 || columns == 0 || weights.iter().any(|w| !w.is_finite()) {
        return assigned;
    }
    let largest = weights.iter().fold(0.0, |m: f64, w| m.max(w.abs()));
    // A power of two, so that nothing is rounded but what is negligible beside the largest weight.
    // The solver minimises: hence the sign.
    let scale = if largest > LARGEST_SAFE { 2f64.powi(-600) } else { 1.0 };
    let costs: Vec<f64> = weights.iter().map(|w| -w * scale).collect();
    for (i, j) in cheapest(rows, columns, &costs).into_iter().flatten() {
        assigned[i] = Some(j);
    }
    assigned
}

/// The `min(rows, columns)` pairs of rows and columns, one to one, of least total cost, by rows;
/// `None` where a cost is not finite.
pub(crate) fn cheapest(
    rows: usize,
    columns: usize,
    costs: &Vec<f64>,
) -> Option<impl Iterator<Item = (usize, usize)>> {
    let (row, column) = lsap::solve(rows, columns, costs, false).ok()?;
    Some(row.into_iter().zip(column))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Seed;
    use ndarray::Array2;

    /// Largest weight of `pairs` more pairs, from row `row` on, over all possibilities.
    fn brute_force(w: &Array2<f64>, row: usize, used: &mut Vec<bool>, pairs: usize) -> f64 {
        if pairs == 0 {
            return 0.0;
        }
        let mut best = f64::NEG_INFINITY;
        if w.nrows() - row > pairs {
            best = brute_force(w, row + 1, used, pairs);
        }
        for j in 0..w.ncols() {
            if !used[j] {
                used[j] = true;
                best = best.max(w[[row, j]] + brute_force(w, row + 1, used, pairs - 1));
                used[j] = false;
            }
        }
        best
    }

    fn weight(w: &Array2<f64>, assigned: &[Option<usize>]) -> f64 {
        let (rows, columns) = w.dim();
        assert_eq!(assigned.len(), rows);
        let mut seen = vec![false; columns];
        let mut total = 0.0;
        for (i, j) in assigned.iter().enumerate() {
            if let Some(j) = *j {
                assert!(!std::mem::replace(&mut seen[j], true), "column {j} twice");
                total += w[[i, j]];
            }
        }
        assert_eq!(seen.iter().filter(|s| **s).count(), rows.min(columns));
        total
    }

    #[test]
    fn as_good_as_all_possibilities() {
        let mut stream = Seed(1).stream();
        for rows in 1..=6 {
            for columns in 1..=6 {
                for case in 0..12 {
                    // Small integers: many ties, exact sums.
                    let range = [3, 20, 1000][case % 3];
                    let w = Array2::from_shape_simple_fn((rows, columns), || {
                        stream.below(range) as f64 - (range / 3) as f64
                    });
                    let best = brute_force(&w, 0, &mut vec![false; columns], rows.min(columns));
                    assert_eq!(weight(&w, &max_assignment(w.view())), best, "{w}");
                }
            }
        }
    }

    #[test]
    fn edge_cases() {
        assert_eq!(max_assignment(Array2::zeros((0, 0)).view()), vec![]);
        assert_eq!(max_assignment(Array2::zeros((0, 3)).view()), vec![]);
        assert_eq!(max_assignment(Array2::zeros((3, 0)).view()), vec![None; 3]);
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let mut w = Array2::ones((3, 2));
            w[[2, 1]] = bad;
            assert_eq!(max_assignment(w.view()), vec![None; 3]);
        }
        for shape in [(1, 1), (7, 7), (30, 4), (4, 30)] {
            weight(&Array2::zeros(shape), &max_assignment(Array2::zeros(shape).view()));
        }
    }

    #[test]
    fn any_finite_size() {
        let sign = |i: usize, j: usize| if (i * 3 + j) % 4 == 1 { 1.0 } else { -1.0 };
        for size in [f64::MAX, 1e200, 1e-300, 5e-324] {
            let w = Array2::from_shape_fn((5, 5), |(i, j)| sign(i, j) * size);
            let plain = Array2::from_shape_fn((5, 5), |(i, j)| sign(i, j));
            let found = weight(&plain, &max_assignment(w.view()));
            assert_eq!(found, weight(&plain, &max_assignment(plain.view())));
        }
    }

    #[test]
    fn a_view_in_any_layout() {
        let w = Array2::from_shape_fn((4, 6), |(i, j)| ((i * 7 + j * 5) % 11) as f64);
        let across = max_assignment(w.t());
        assert_eq!(weight(&w.t().to_owned(), &across), weight(&w, &max_assignment(w.view())));
    }
}
