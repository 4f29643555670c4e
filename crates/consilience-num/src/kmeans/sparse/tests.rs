use consilience_core::{ErrorKind, Seed};
use ndarray::Array2;
use proptest::prelude::*;
use sprs::CsMat;

use super::{Centres, ScaledRows, assign, fit, from_centres, spread_rows};
use crate::kmeans::{self as dense, KMeansOptions};
use crate::testing::{Counting, on_pool};

/// Rows of few whole numbers, so that no sum is rounded and ties are exact.
fn table(n: usize, d: usize, seed: u64) -> Array2<f64> {
    let mut stream = Seed(seed).stream();
    Array2::from_shape_simple_fn((n, d), || match stream.below(4) {
        0 => stream.below(9) as f64 - 4.0,
        _ => 0.0,
    })
}

fn sparse(x: &Array2<f64>) -> CsMat<f64> {
    CsMat::csr_from_dense(x.view(), 0.0)
}

/// How many rows of whole numbers differ.
fn distinct(x: &Array2<f64>) -> usize {
    let rows = x.rows().into_iter().map(|r| r.iter().map(|v| *v as i64).collect::<Vec<_>>());
    rows.collect::<std::collections::BTreeSet<_>>().len()
}

proptest! {
    #[test]
    fn a_sparse_table_is_clustered_as_the_dense_one(
        n in 1usize..60,
        d in 1usize..20,
        k in 1usize..9,
        seed in 0u64..1000,
    ) {
        let x = table(n, d, seed);
        let matrix = sparse(&x);
        let rows = ScaledRows::new(matrix.view()).unwrap();
        let start = x.select(ndarray::Axis(0), &(0..k.min(n)).collect::<Vec<_>>());
        let labels = assign(&rows, start.view(), false, &()).unwrap();
        prop_assert_eq!(&labels, &dense::assign(x.view(), start.view(), false));
        // Empty clusters are filled one by one here, with all rows that are equal there; and no
        // iterations, since means are rounded differently in a moved frame.
        prop_assume!((0..start.nrows()).all(|c| labels.contains(&(c as u32))));
        let options = KMeansOptions::new(k).max_iterations(0);
        let (a, b) = (
            from_centres(&rows, None, start.view(), &options, &()).unwrap(),
            dense::from_centres(x.view(), None, start.view(), &options, &()).unwrap(),
        );
        prop_assert!((a.inertia - b.inertia).abs() <= 1e-9 * (1.0 + b.inertia));
        prop_assert_eq!(a.assignment, b.assignment);
    }

    #[test]
    fn what_comes_out_is_a_fixed_point(
        n in 2usize..60,
        d in 1usize..20,
        k in 1usize..9,
        seed in 0u64..1000,
    ) {
        let x = table(n, d, seed);
        let matrix = sparse(&x);
        let rows = ScaledRows::new(matrix.view()).unwrap();
        let options = KMeansOptions::new(k).seed(Seed(seed));
        let found = fit(&rows, None, &options, &()).unwrap();
        prop_assert!(found.converged);
        let mut inertia = 0.0;
        for (i, &label) in found.assignment.iter().enumerate() {
            let to = |c: usize| -> f64 {
                (0..d).map(|j| (x[[i, j]] - found.centres[[c, j]]).powi(2)).sum()
            };
            let own = to(label as usize);
            for c in 0..found.centres.nrows() {
                prop_assert!(own <= to(c) + 1e-9);
            }
            inertia += own;
        }
        prop_assert!((inertia - found.inertia).abs() <= 1e-9 * (1.0 + inertia));
        for c in 0..found.centres.nrows() {
            let mine: Vec<usize> = (0..n).filter(|&i| found.assignment[i] as usize == c).collect();
            prop_assert!(!mine.is_empty());
            for j in 0..d {
                let mean = mine.iter().map(|&i| x[[i, j]]).sum::<f64>() / mine.len() as f64;
                prop_assert!((mean - found.centres[[c, j]]).abs() < 1e-12);
            }
        }
    }
}

#[test]
fn equal_bits_at_any_number_of_threads() {
    let x = table(3000, 50, 5);
    let matrix = sparse(&x);
    let run = |threads: usize, parallel: bool| {
        on_pool(threads, || {
            let rows = ScaledRows::new(matrix.view()).unwrap().unit_length().unwrap();
            let options = KMeansOptions::new(7).restarts(2).parallel(parallel);
            fit(&rows, None, &options, &()).unwrap()
        })
    };
    let one = run(1, false);
    assert_eq!(run(1, true), one);
    assert_eq!(run(3, true), one);
}

/// From the same centres as many iterations as on the dense table, whatever the tolerance.
#[test]
fn sparse_rows_come_to_rest_when_dense_ones_do() {
    let mut shorter = 0;
    for seed in 0..6 {
        let mut stream = Seed(seed).stream();
        let x = Array2::from_shape_simple_fn((300, 6), || match stream.below(3) {
            0 => 0.0,
            _ => stream.uniform() * 3.0,
        });
        let matrix = sparse(&x);
        let rows = ScaledRows::new(matrix.view()).unwrap();
        let start = x.slice(ndarray::s![..7, ..]);
        let mut full = 0;
        for tolerance in [0.0, 1e-4, 1e-2, 0.1] {
            let options = KMeansOptions::new(7).tolerance(tolerance).parallel(false);
            let own = from_centres(&rows, None, start, &options, &()).unwrap();
            let other = dense::from_centres(x.view(), None, start, &options, &()).unwrap();
            assert_eq!(
                (own.iterations, own.converged, &own.assignment),
                (other.iterations, other.converged, &other.assignment),
                "{seed}, {tolerance}"
            );
            full = full.max(own.iterations);
            shorter += usize::from(own.iterations < full);
        }
    }
    assert!(shorter > 6, "{shorter}");
}

#[test]
fn as_many_clusters_as_distinct_rows_and_weights_that_count() {
    let x = ndarray::array![[0.0, 1.0], [0.0, 1.0], [3.0, 0.0], [0.0, 0.0], [3.0, 0.0]];
    let matrix = sparse(&x);
    let rows = ScaledRows::new(matrix.view()).unwrap();
    let found = fit(&rows, None, &KMeansOptions::new(5), &()).unwrap();
    assert_eq!((found.centres.nrows(), found.inertia), (3, 0.0));
    let weights = [1.0, 1.0, 4.0, 1.0, 2.0];
    let one = fit(&rows, Some(&weights), &KMeansOptions::new(1), &()).unwrap();
    assert_eq!(one.centres, ndarray::array![[2.0, 2.0 / 9.0]]);
}

/// Two directions at all lengths: nothing for distances, everything for cosines.
#[test]
fn rows_of_unit_length_are_clustered_by_direction() {
    let x = Array2::from_shape_fn((40, 3), |(i, j)| {
        let length = 10f64.powi(i as i32 / 4 - 5);
        if j == i % 2 { length } else { 0.01 * length * ((i + j) % 3) as f64 }
    });
    let matrix = sparse(&x);
    let rows = ScaledRows::new(matrix.view()).unwrap().unit_length().unwrap();
    let found = fit(&rows, None, &KMeansOptions::new(2).restarts(3), &()).unwrap();
    assert!((0..40).all(|i| found.assignment[i] == found.assignment[i % 2]));
    for centre in found.centres.rows() {
        assert!((centre.dot(&centre) - 1.0).abs() < 1e-12);
    }
}

#[test]
fn extreme_numbers_and_slices_of_a_matrix() {
    let x = table(60, 8, 3);
    let reference = sparse(&x);
    let options = KMeansOptions::new(4);
    let plain = fit(&ScaledRows::new(reference.view()).unwrap(), None, &options, &()).unwrap();
    for scale in [2f64.powi(-1000), 2f64.powi(1000)] {
        let matrix = sparse(&x.mapv(|v| v * scale));
        let found = fit(&ScaledRows::new(matrix.view()).unwrap(), None, &options, &()).unwrap();
        assert_eq!(found.assignment, plain.assignment, "{scale:e}");
    }
    let tall = sparse(&ndarray::concatenate![ndarray::Axis(0), table(7, 8, 9), x]);
    let rows = ScaledRows::new(tall.slice_outer(7..67)).unwrap();
    assert_eq!(fit(&rows, None, &options, &()).unwrap(), plain);
}

#[test]
fn bad_input_is_told() {
    let kind = |matrix: &CsMat<f64>| ScaledRows::new(matrix.view()).unwrap_err().kind();
    assert_eq!(kind(&CsMat::zero((0, 3))), ErrorKind::Empty);
    assert_eq!(kind(&sparse(&table(4, 3, 1)).to_csc()), ErrorKind::InvalidParameter);
    let damaged = CsMat::new((4, 3), vec![0, 0, 0, 1, 1], vec![1], vec![f64::NAN]);
    let error = ScaledRows::new(damaged.view()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NonFinite);
    assert!(error.message().contains("row 2, column 1"), "{error}");
    let x = sparse(&table(4, 3, 1));
    let rows = ScaledRows::new(x.view()).unwrap();
    let centres = Array2::zeros((1, 2));
    let wrong = assign(&rows, centres.view(), false, &());
    assert_eq!(wrong.unwrap_err().kind(), ErrorKind::ShapeMismatch);
    let short = fit(&rows, Some(&[1.0]), &KMeansOptions::new(2), &());
    assert_eq!(short.unwrap_err().kind(), ErrorKind::ShapeMismatch);
}

#[test]
fn starts_are_distinct_rows_as_long_as_there_are_any() {
    for seed in 0..40 {
        let x = table(60, 3, seed);
        let matrix = sparse(&x);
        let rows = ScaledRows::new(matrix.view()).unwrap();
        for count in [3, 25, 60] {
            let starts = spread_rows(&rows, count, Seed(seed), false, &()).unwrap();
            assert_eq!(starts.len(), count.min(distinct(&x)), "seed {seed}");
            for (a, &i) in starts.iter().enumerate() {
                assert!(starts[..a].iter().all(|&j| x.row(i) != x.row(j)), "seed {seed}");
            }
        }
    }
}

#[test]
fn no_cluster_is_empty() {
    for seed in 0..150 {
        let x = table(40, 2, seed);
        let matrix = sparse(&x);
        let rows = ScaledRows::new(matrix.view()).unwrap();
        // Centres that hold no row at first, and some twice.
        let k = 1 + seed as usize % 12;
        let start = Array2::from_shape_fn((k, 2), |(c, j)| ((c * (j + 2)) % 5) as f64 * 3.0);
        let found = from_centres(&rows, None, start.view(), &KMeansOptions::new(k), &()).unwrap();
        assert_eq!(found.centres.nrows(), k.min(distinct(&x)), "seed {seed}");
        for c in 0..found.centres.nrows() {
            assert!(found.assignment.contains(&(c as u32)), "seed {seed}");
        }
    }
}

#[test]
fn squared_distances_are_those_of_the_differences() {
    let x = table(30, 6, 8);
    let matrix = sparse(&x);
    let rows = ScaledRows::new(matrix.view()).unwrap();
    let centres = x.select(ndarray::Axis(0), &[4, 9, 2]) * 0.5;
    let known = Centres::given(&rows, centres.view()).unwrap();
    let mut out = vec![f64::NAN; 3 * 12];
    known.squared_distances(&rows, 7..19, &mut out);
    for (i, distances) in (7..19).zip(out.chunks_exact(3)) {
        for (c, found) in distances.iter().enumerate() {
            let exact = (&x.row(i) - &centres.row(c)).mapv(|d| d * d).sum();
            assert!((found - exact).abs() < 1e-12, "{i} {c}");
        }
    }
}

#[test]
fn cancellation_is_asked_for_inside_of_passes() {
    // Some 2^27 multiply-adds in every 256 rows.
    let matrix = sparse(&table(512, 2800, 1));
    let rows = ScaledRows::new(matrix.view()).unwrap();
    let centres = table(800, 2800, 2);
    let asked = Counting::default();
    assign(&rows, centres.view(), false, &asked).unwrap();
    assert!(asked.count() >= 8, "{}", asked.count());
    let matrix = sparse(&table(3000, 40, 1));
    let rows = ScaledRows::new(matrix.view()).unwrap();
    let asked = Counting::default();
    spread_rows(&rows, 20, Seed(1), true, &asked).unwrap();
    assert!(asked.count() >= 50, "{}", asked.count());
}
