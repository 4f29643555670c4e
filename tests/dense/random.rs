//! Random matrices against the dense solver, and the promise of equal bits.

use super::*;

#[test]
fn dense_solver_reconstructs() {
    for n in [0, 1, 2, 3, 10, 33, 64, 150] {
        for a in [
            random_symmetric(n, n as u64),
            Array2::eye(n),
            Array2::zeros((n, n)),
            Array2::ones((n, n)),
            random_symmetric(n, 4) * 1e300,
            random_symmetric(n, 5) * 1e-310,
        ] {
            let eigen = symmetric_eigen(a.view()).unwrap();
            assert!(eigen.values.windows(2).all(|w| w[0] >= w[1]));
            let v = &eigen.vectors;
            let off =
                (v.t().dot(v) - Array2::<f64>::eye(n)).iter().fold(0.0, |m: f64, x| m.max(x.abs()));
            assert!(off < 1e-12, "orthonormality {off}");
            let norm = eigen.values.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
            for j in 0..n {
                for i in 0..n {
                    // Divided first: the entries may be near the largest f64.
                    let av: f64 = (0..n).map(|k| a[[i, k]] / norm.max(1e-320) * v[[k, j]]).sum();
                    let lv = eigen.values[j] / norm.max(1e-320) * v[[i, j]];
                    assert!((av - lv).abs() < 1e-11, "n {n} norm {norm}: {av} {lv}");
                }
            }
        }
    }
}

#[test]
fn dense_solver_refuses() {
    for bad in [f64::NAN, f64::INFINITY] {
        let mut a = Array2::<f64>::eye(5);
        a[[3, 1]] = bad;
        assert!(symmetric_eigen(a.view()).is_none());
    }
    assert!(symmetric_eigen(Array2::zeros((2, 3)).view()).is_none());
}

#[test]
fn random_matrices_against_the_dense_solver() {
    for seed in 0..3 {
        let n = 301 + 83 * seed as usize;
        let a = random_symmetric(n, seed);
        // Positive semidefinite with a decaying spectrum, and indefinite without any gap.
        let decay: Vec<f64> = (0..n).map(|i| 10.0 * (-(i as f64) / 15.0).exp()).collect();
        for a in [with_spectrum(&decay, seed), a] {
            let all = symmetric_eigen(a.view()).unwrap().values;
            for count in [1, 5, 17] {
                expect_values(&a, &options(count), &all[..count]);
                let mut by_size = all.clone();
                by_size.sort_by(|x, y| y.abs().total_cmp(&x.abs()));
                by_size.truncate(count);
                by_size.sort_by(|x, y| y.total_cmp(x));
                let both = options(count).which(Which::LargestMagnitude);
                expect_values(&a, &both, &by_size);
            }
        }
    }
}

#[test]
fn tight_tolerance_is_met() {
    let a = Sparse::clustered(3000, 8, 12, 0.1, 1);
    let tight = options(8).tolerance(1e-13);
    let top = truncated_eigen(&a, &tight);
    assert!(top.converged && check(&a, 8, &top) <= 1e-13);
}

#[test]
fn same_bits_on_any_pool() {
    let a = Sparse::clustered(5000, 6, 10, 0.2, 7);
    let dense = random_symmetric(400, 1);
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            [&a as &dyn SymmetricOperator, &dense].map(|op| {
                let top = truncated_eigen(op, &options(8));
                let bits: Vec<u64> =
                    top.vectors.iter().chain(&top.values).map(|x| x.to_bits()).collect();
                (top.iterations, bits)
            })
        })
    };
    let expected = run(1);
    for threads in [2, 3, 8] {
        assert!(run(threads) == expected, "other bits on {threads} threads");
    }
}

#[test]
fn other_seeds_find_the_same_values() {
    let a = Sparse::clustered(2000, 5, 10, 0.1, 2);
    let expected = truncated_eigen(&a, &options(5)).values;
    for seed in 10..15 {
        expect_values(&a, &options(5).seed(Seed(seed)), &expected);
    }
}
