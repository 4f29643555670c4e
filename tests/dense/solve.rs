//! Systems with a positive definite matrix.

use consilience_core::Seed;
use consilience_num::cholesky::solve_positive_definite;
use ndarray::{Array2, array, s};

#[test]
fn the_solution_satisfies_its_equation() {
    for (s, r) in [(1, 1), (2, 3), (7, 1), (60, 5), (150, 200)] {
        let mut stream = Seed(s as u64).stream();
        let x = Array2::from_shape_fn((s, s), |_| stream.normal());
        let mut a = x.dot(&x.t());
        a.diag_mut().mapv_inplace(|v| v + s as f64);
        let b = Array2::from_shape_fn((s, r), |_| stream.normal());
        // What lies above the diagonal is not read.
        let mut lower = a.clone();
        for i in 0..s {
            lower.slice_mut(s![i, i + 1..]).fill(f64::NAN);
        }
        let found = solve_positive_definite(lower.view(), b.clone()).unwrap();
        let off = (a.dot(&found) - &b).iter().fold(0.0f64, |m, v| m.max(v.abs()));
        assert!(off < 1e-12, "{s} x {r}: {off}");
    }
}

#[test]
fn what_cannot_be_solved_is_none() {
    let b = array![[1.0], [1.0]];
    assert!(solve_positive_definite(array![[1.0, 2.0], [2.0, 1.0]].view(), b.clone()).is_none());
    assert!(solve_positive_definite(array![[1.0]].view(), b.clone()).is_none());
    assert!(solve_positive_definite(array![[1.0, 0.0]].view(), b).is_none());
}
