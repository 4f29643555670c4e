//! Matrices on which iterative methods hang, or return too few copies of an eigenvalue.

use std::f64::consts::PI;

use super::*;

#[test]
fn identity_and_zero() {
    for n in [1, 2, 3, 50, 301, 1500] {
        for count in [1, 2, 10, 60] {
            let k = count.min(n);
            expect_values(&Sparse::diagonal(&vec![1.0; n]), &options(count), &vec![1.0; k]);
            expect_values(&Sparse::diagonal(&vec![0.0; n]), &options(count), &vec![0.0; k]);
        }
    }
}

#[test]
fn nothing_asked_or_nothing_there() {
    let top = truncated_eigen(&Sparse::diagonal(&[1.0, 2.0]), &options(0));
    assert!(top.converged && top.values.is_empty() && top.vectors.dim() == (2, 0));
    let top = truncated_eigen(&Sparse(Vec::new()), &options(3));
    assert!(top.converged && top.values.is_empty() && top.vectors.dim() == (0, 0));
}

#[test]
fn more_pairs_than_dimensions() {
    expect_values(&Sparse::diagonal(&[1.0, 3.0, 2.0]), &options(9), &[3.0, 2.0, 1.0]);
    let ramp: Vec<f64> = (0..400).rev().map(f64::from).collect();
    expect_values(&Sparse::diagonal(&ramp), &options(usize::MAX), &ramp);
    expect_values(&Sparse::diagonal(&ramp), &options(399), &ramp[..399]);
}

#[test]
fn equal_diagonal_blocks() {
    let block = with_spectrum(&[5.0, 4.0, 3.0, 1.0, -1.0, -6.0], 1);
    let copies = 200;
    let row = |i: usize| (0..6).map(|j| (i / 6 * 6 + j, block[[i % 6, j]])).collect();
    let a = Sparse((0..6 * copies).map(row).collect());
    expect_values(&a, &options(40), &[5.0; 40]);
    let both = options(40).which(Which::LargestMagnitude);
    expect_values(&a, &both, &[-6.0; 40]);
}

#[test]
fn ten_disjoint_rings() {
    for length in [3, 31, 80] {
        let a = Sparse::rings(10, length);
        let mut all: Vec<f64> = (0..10 * length)
            .map(|i| (2.0 * PI * (i % length) as f64 / length as f64).cos())
            .collect();
        all.sort_by(|x, y| y.total_cmp(x));
        assert_eq!(all.iter().filter(|v| **v > 1.0 - 1e-9).count(), 10);
        for count in [1, 10, 25] {
            expect_values(&a, &options(count), &all[..count]);
        }
    }
}

#[test]
fn many_components_of_unequal_size() {
    let sizes: Vec<usize> = (0..60).map(|i| 1 + i % 23).collect();
    let mut rows = Vec::new();
    for &size in &sizes {
        let first = rows.len();
        rows.extend(
            (0..size).map(|_| (first..first + size).map(|j| (j, 1.0 / size as f64)).collect()),
        );
    }
    let mut expected = vec![1.0; 60];
    expected.extend([0.0; 5]);
    expect_values(&Sparse(rows), &options(65), &expected);
}

#[test]
fn multiplicities_beside_simple_values() {
    let mut values = vec![2.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0 - 1e-7, 0.9];
    values.resize(700, 0.5);
    expect_values(&with_spectrum(&values, 5), &options(8), &values[..8]);
    // One isolated direction beside an eigenvalue of multiplicity 999.
    let mut values = vec![1.0; 1000];
    values[617] = 1.01;
    expect_values(&Sparse::diagonal(&values), &options(2), &[1.01, 1.0]);
    values[617] = 0.0;
    expect_values(&Sparse::diagonal(&values), &options(3), &[1.0; 3]);
}

#[test]
fn a_block_shorter_than_the_count() {
    let ramp: Vec<f64> = (0..2000).map(|i| (-f64::from(i) / 7.0).exp()).collect();
    for block in [1, 2, 7, 500, usize::MAX] {
        expect_values(&Sparse::diagonal(&ramp), &options(20).block(block), &ramp[..20]);
    }
}

#[test]
fn counts_up_to_all() {
    // Multiplicities 1, 2, 3, ... from the top.
    for n in [300, 301, 350, 700] {
        let values: Vec<f64> =
            (0..n).map(|i| 1.0 / (1.0 + ((2 * i) as f64).sqrt().floor())).collect();
        for count in [1, 2, n / 12, n / 8, n / 6, n / 4, n / 3, n / 2, n - 1, n] {
            expect_values(&Sparse::diagonal(&values), &options(count), &values[..count]);
        }
    }
}

#[test]
fn not_square_is_not_called_converged() {
    for shape in [(3, 2), (2, 3), (400, 500), (500, 400)] {
        assert!(!truncated_eigen(&Array2::<f64>::ones(shape), &options(2)).converged);
    }
}

#[test]
fn low_rank() {
    for rank in [1, 3, 30] {
        let mut values: Vec<f64> = (0..rank).map(|i| 3.0 - 0.05 * f64::from(i)).collect();
        values.resize(500, 0.0);
        expect_values(&with_spectrum(&values, 9), &options(20), &values[..20]);
    }
}

#[test]
fn extreme_sizes() {
    for size in [1e-300, 1e-160, 1e160, 1e300] {
        for n in [4, 600] {
            let values: Vec<f64> = (0..n).map(|i| size * 0.5f64.powi(i)).collect();
            expect_values(&Sparse::diagonal(&values), &options(3), &values[..3]);
        }
    }
}

#[test]
fn not_a_number_comes_back_at_once() {
    for n in [1, 2, 100, 2000] {
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let mut values = vec![1.0; n];
            values[n / 2] = bad;
            let top = truncated_eigen(&Sparse::diagonal(&values), &options(5));
            assert!(!top.converged && top.iterations <= 2);
            assert!(
                top.values.iter().all(|v| v.is_nan()) && top.residuals.iter().all(|v| v.is_nan())
            );
            assert_eq!(top.vectors, Array2::<f64>::zeros((n, 5.min(n))));
        }
    }
    /// Turns bad after a few products.
    struct Late(std::sync::atomic::AtomicUsize);
    impl SymmetricOperator for Late {
        fn dim(&self) -> usize {
            2000
        }
        fn apply(&self, x: ArrayView2<f64>, mut y: ArrayViewMut2<f64>) {
            let calls = self.0.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
            y.indexed_iter_mut().for_each(|((i, j), y)| *y = i as f64 * x[[i, j]]);
            if calls > 2 {
                y[[7, 0]] = f64::NAN;
            }
        }
    }
    assert!(!truncated_eigen(&Late(Default::default()), &options(5)).converged);
}

#[test]
fn not_symmetric_is_not_called_converged() {
    let shift = Sparse((0..500).map(|i| vec![((i + 1) % 500, 1.0), (i, 0.1)]).collect());
    let limited = options(4).max_iterations(30);
    assert!(!truncated_eigen(&shift, &limited).converged);
}

#[test]
fn slow_convergence_is_told() {
    // The gaps at the top of a path's spectrum shrink with the square of its length.
    let n = 5000;
    let row = |i: usize| {
        let near = [i.checked_sub(1), (i + 1 < n).then_some(i + 1)];
        near.into_iter().flatten().map(|j| (j, 0.5)).collect()
    };
    let path = Sparse((0..n).map(row).collect());
    for tolerance in [0.0, -1.0, f64::NAN, 1e-9] {
        let limited = options(6).tolerance(tolerance).max_iterations(25);
        let top = truncated_eigen(&path, &limited);
        assert_eq!(top.iterations, 25);
        assert!(!top.converged && check(&path, 6, &top) > 1e-9);
    }
}

#[test]
fn products_can_be_cancelled_between() {
    struct Impatient(usize, std::sync::atomic::AtomicUsize);
    impl consilience_core::Observer for Impatient {
        fn cancelled(&self) -> bool {
            self.1.fetch_add(1, std::sync::atomic::Ordering::Relaxed) >= self.0
        }
    }
    let ring = |n: usize| Sparse((0..n).map(|i| vec![((i + 1) % n, 0.5)]).collect());
    // By iteration, and assembled from products.
    for (n, count) in [(3000, 5), (300, 290)] {
        for at in [0, 2] {
            let stop = Impatient(at, Default::default());
            let error = try_truncated_eigen(&ring(n), &options(count), &stop).unwrap_err();
            assert_eq!(error.kind(), consilience_core::ErrorKind::Cancelled);
        }
    }
}
