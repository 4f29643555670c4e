use std::collections::BTreeSet;

use consilience_core::{ErrorKind, Observer, Result, Seed};
use ndarray::{Array2, ArrayView2, ShapeBuilder, array};

use super::{
    KMeansFit, KMeansOptions, RowSource, assign, fit, fit_source, from_centres, reference,
    spread_rows, try_assign,
};
use crate::Float;
use crate::testing::{Counting, noise, on_pool};

fn run<F: Float>(x: ArrayView2<'_, F>, options: &KMeansOptions) -> KMeansFit<F> {
    fit(x, None, options, &()).unwrap()
}

/// Asks to stop at once.
struct Stop;

impl Observer for Stop {
    fn cancelled(&self) -> bool {
        true
    }
}

fn kind<F: Float>(found: Result<KMeansFit<F>>) -> ErrorKind {
    found.unwrap_err().kind()
}

fn cloud(n: usize, d: usize, seed: u64) -> Array2<f64> {
    let mut next = noise(seed);
    Array2::from_shape_simple_fn((n, d), || next() + next() + next())
}

fn sound<F: Float>(x: ArrayView2<'_, F>, k: usize, found: &KMeansFit<F>) {
    let count = found.centres.nrows();
    let used: BTreeSet<u32> = found.assignment.iter().copied().collect();
    assert_eq!(found.assignment.len(), x.nrows());
    assert_eq!(used.len(), count, "an empty cluster");
    assert_eq!(used.last().map(|&m| m as usize + 1), Some(count));
    let distinct: BTreeSet<Vec<u64>> = x
        .rows()
        .into_iter()
        .map(|r| r.iter().map(|v| (v.to_f64() + 0.0).to_bits()).collect())
        .collect();
    assert_eq!(count, k.min(distinct.len()), "{k} clusters of {} distinct rows", distinct.len());
    assert!(found.inertia >= 0.0 && found.centres.iter().all(|c| c.to_f64().is_finite()));
}

/// Rows and centres on a small grid: duplicates and ties abound, and all squares are exact.
fn grid(seed: u64) -> (Array2<f64>, Array2<f64>) {
    let mut next = noise(seed);
    let mut below = |n: usize| (next() * n as f64) as usize;
    let (n, d, k) = (1 + below(40), 1 + below(7), 1 + below(15));
    let mut table = |rows: usize| Array2::from_shape_simple_fn((rows, d), || below(7) as f64 - 3.0);
    (table(n), table(k))
}

#[test]
fn nearest_centres_equal_the_naive_loop() {
    for seed in 0..600 {
        let (x, c) = grid(seed);
        for offset in [0.0, 1e6, -4096.0] {
            let (x, c) = (&x + offset, &c + offset);
            let expected = reference::assign(x.view(), c.view());
            assert_eq!(assign(x.view(), c.view(), false), expected, "seed {seed}, offset {offset}");
            let single = (x.mapv(|v| v as f32), c.mapv(|v| v as f32));
            assert_eq!(
                assign(single.0.view(), single.1.view(), true),
                expected,
                "f32, seed {seed}"
            );
        }
    }
}

#[test]
fn lloyd_equals_the_naive_loop() {
    let mut compared = 0;
    for seed in 0..300 {
        let (n, d) = (1 + seed as usize * 7 % 60, 1 + seed as usize % 9);
        let k = (1 + seed as usize % 8).min(n);
        let x = cloud(n, d, seed);
        let c = x.slice(ndarray::s![..k, ..]);
        for iterations in 0..4 {
            let options = KMeansOptions::new(k).max_iterations(iterations);
            let found = from_centres(x.view(), None, c, &options, &()).unwrap();
            sound(x.view(), k, &found);
            if let Some((labels, inertia)) = reference::lloyd(x.view(), c, iterations) {
                compared += 1;
                assert_eq!(found.assignment, labels, "seed {seed}");
                assert!(
                    (found.inertia - inertia).abs() <= 1e-12 * inertia.max(1e-9),
                    "seed {seed}"
                );
            }
        }
    }
    assert!(compared > 600, "{compared}");
}

#[test]
fn no_cluster_is_empty() {
    for seed in 0..400 {
        let (x, c) = grid(seed);
        let k = (1 + seed as usize % 45).min(x.nrows());
        let options = KMeansOptions::new(k).max_iterations(seed as usize % 6).seed(Seed(seed));
        sound(x.view(), k, &run(x.view(), &options));
        sound(x.view(), c.nrows(), &from_centres(x.view(), None, c.view(), &options, &()).unwrap());
        let thirds = x.mapv(|v| v as f32 / 3.0);
        sound(thirds.view(), k, &run(thirds.view(), &options));
    }
}

#[test]
fn integer_weights_equal_repeated_rows() {
    for seed in 0..100 {
        let n = 2 + seed as usize % 28;
        let x = cloud(n, 2, seed);
        let mut next = noise(seed + 1);
        let weights: Vec<usize> = (0..n).map(|_| 1 + (next() * 3.0) as usize).collect();
        let rows: Vec<usize> = (0..n).flat_map(|i| vec![i; weights[i]]).collect();
        let repeated = x.select(ndarray::Axis(0), &rows);
        let c = x.slice(ndarray::s![..2, ..]);
        let options = KMeansOptions::new(2);
        let w: Vec<f64> = weights.iter().map(|&w| w as f64).collect();
        let light = from_centres(x.view(), Some(&w), c, &options, &()).unwrap();
        let heavy = from_centres(repeated.view(), None, c, &options, &()).unwrap();
        assert!((light.inertia - heavy.inertia).abs() <= 1e-9 * heavy.inertia, "seed {seed}");
        assert_eq!(rows.iter().map(|&i| light.assignment[i]).collect::<Vec<_>>(), heavy.assignment);
    }
}

#[test]
fn same_bits_at_any_number_of_threads_and_in_any_layout() {
    let x = cloud(10_000, 5, 3);
    let mut columns = Array2::zeros(x.dim().f());
    columns.assign(&x);
    let options = KMeansOptions::new(13).restarts(2).max_iterations(12).seed(Seed(9));
    let alone = run(x.view(), &options.parallel(false));
    sound(x.view(), 13, &alone);
    for threads in [1, 2, 3, 8] {
        for x in [&x, &columns] {
            assert_eq!(on_pool(threads, || run(x.view(), &options)), alone, "{threads} threads");
        }
    }
}

#[test]
fn huge_small_and_far_data() {
    let x = cloud(300, 4, 5);
    let plain = run(x.view(), &KMeansOptions::new(5));
    // In two steps: a power is the inverse of one that may be infinite.
    let small = 2f64.powi(-1000) * 2f64.powi(-30);
    for scale in [2f64.powi(900), 2f64.powi(-900), small, 2f64.powi(1020)] {
        let found = run((&x * scale).view(), &KMeansOptions::new(5));
        assert_eq!(found.centres.nrows(), 5, "{scale:e}");
        if (1e-300..1e300).contains(&scale) {
            assert_eq!(found.assignment, plain.assignment, "{scale:e}");
        }
    }
    // Powers of two change the unit of the inertia and nothing else.
    for scale in [2f64.powi(-400), 2f64.powi(-40), 2f64.powi(40), 2f64.powi(400)] {
        let found = run((&x * scale).view(), &KMeansOptions::new(5));
        assert_eq!(found.inertia / scale / scale, plain.inertia, "{scale:e}");
        assert_eq!(found.centres, &plain.centres * scale, "{scale:e}");
    }
    // A large offset in a large unit is both.
    let far = x.mapv(|v| v + 1000.0);
    let (near, large) = (run(far.view(), &KMeansOptions::new(5)), &far * 2f64.powi(100));
    let large = run(large.view(), &KMeansOptions::new(5));
    assert_eq!(large.assignment, near.assignment);
    assert_eq!(large.inertia / 2f64.powi(200), near.inertia);
    // An offset rounds the rows themselves; starts and assignment stay what the rounded rows say.
    for offset in [1e3, 1e6, -1e9] {
        let far = x.mapv(|v| v + offset);
        let found = run(far.view(), &KMeansOptions::new(5));
        assert!((found.inertia / plain.inertia - 1.0).abs() < 1e-4, "{offset}: {}", found.inertia);
        assert_eq!(
            found.assignment,
            reference::assign(far.view(), found.centres.view()),
            "{offset}"
        );
        let single = far.mapv(|v| v as f32);
        sound(single.view(), 5, &run(single.view(), &KMeansOptions::new(5)));
    }
}

#[test]
fn equal_rows_k_of_n_and_nothing() {
    let x = Array2::from_elem((9, 3), 0.1);
    for k in [1, 2, 9] {
        let found = run(x.view(), &KMeansOptions::new(k));
        assert_eq!((found.centres.nrows(), found.inertia), (1, 0.0));
        assert_eq!(found.centres.row(0), x.row(0));
    }
    let x = cloud(40, 3, 6);
    let found = run(x.view(), &KMeansOptions::new(40));
    sound(x.view(), 40, &found);
    assert_eq!(found.inertia, 0.0);
    // Neighbouring numbers are different rows.
    let close = array![[1.0], [1.0 + f64::EPSILON], [1.0], [2.0]];
    sound(close.view(), 3, &run(close.view(), &KMeansOptions::new(3)));
    let none = Array2::<f64>::zeros((0, 3));
    assert!(kind(fit(none.view(), None, &KMeansOptions::new(1), &())) == ErrorKind::Empty);
    assert!(kind(fit(x.view(), None, &KMeansOptions::new(0), &())) == ErrorKind::InvalidParameter);
    assert!(kind(fit(x.view(), None, &KMeansOptions::new(2), &Stop)) == ErrorKind::Cancelled);
    assert!(assign(x.view(), none.view(), true).is_empty());
    let options = KMeansOptions::new(2);
    for bad in [&[1.0; 39][..], &[1.0; 41], &[]] {
        let weighted = fit(x.view(), Some(bad), &options, &());
        assert_eq!(kind(weighted), ErrorKind::ShapeMismatch);
        assert_eq!(spread_rows(x.view(), Some(bad), 2, Seed(0), false, &()), Ok(Vec::new()));
    }
    let narrow = Array2::zeros((2, 2));
    let moved = from_centres(x.view(), None, narrow.view(), &options, &());
    assert_eq!(kind(moved), ErrorKind::ShapeMismatch);
    assert!(assign(x.view(), narrow.view(), true).is_empty());
}

/// Rows beside one whose squares overflow keep their centres, and that one gets the centre of its
/// direction.
#[test]
fn a_row_far_out_leaves_the_others_where_they_are() {
    let c = array![[0.0, 0.0, 0.0], [20.0, 0.0, 0.0], [0.0, 20.0, 1e-9]];
    let mut x = cloud(60, 3, 5);
    (0..60).for_each(|i| x[[i, i % 3]] += 9.0);
    let before = assign(x.view(), c.view(), false);
    assert!((0..3).all(|k| before.contains(&k)));
    for far in [1e100, 1e155, 1e200, f64::MAX] {
        for (at, column, nearest) in [(0, 0, 1), (31, 1, 2), (59, 1, 2)] {
            let mut beside = x.clone();
            beside.row_mut(at).fill(0.0);
            beside[[at, column]] = far;
            let mut expected = before.clone();
            expected[at] = nearest;
            assert_eq!(assign(beside.view(), c.view(), at == 31), expected, "{far:e} in row {at}");
        }
    }
}

#[test]
fn not_a_number_neither_panics_nor_hangs() {
    let mut x = cloud(50, 3, 8);
    x[[7, 1]] = f64::NAN;
    x[[9, 0]] = f64::INFINITY;
    let found = run(x.view(), &KMeansOptions::new(4));
    assert!(found.assignment.len() == 50 || found.assignment.is_empty());
}

/// Hears that progress does not fall.
#[derive(Default)]
struct Rising(std::sync::Mutex<usize>);

impl Observer for Rising {
    fn progress(&self, _: &str, done: usize, total: usize) {
        let mut last = self.0.lock().unwrap();
        assert!(*last <= done && done <= total, "{done} of {total} after {last}");
        *last = done;
    }
}

#[test]
fn starts_side_by_side_are_those_one_after_the_other() {
    let x = cloud(700, 3, 5);
    for (most, restarts) in [(100, 20), (usize::MAX, 3), (0, 2)] {
        let options = KMeansOptions::new(9).restarts(restarts).max_iterations(most).seed(Seed(4));
        let abreast = fit(x.view(), None, &options, &Rising::default()).unwrap();
        let single = fit(x.view(), None, &options.parallel(false), &Rising::default()).unwrap();
        assert_eq!(abreast, single);
    }
}

#[test]
fn starts_are_distinct_and_restarts_do_not_harm() {
    let x = cloud(500, 2, 4);
    let rows = spread_rows(x.view(), None, 20, Seed(1), true, &()).unwrap();
    assert_eq!(rows.iter().collect::<BTreeSet<_>>().len(), 20);
    let one = run(x.view(), &KMeansOptions::new(8));
    let ten = run(x.view(), &KMeansOptions::new(8).restarts(10));
    assert!(ten.inertia <= one.inertia && one.converged);
    let loose = run(x.view(), &KMeansOptions::new(8).tolerance(1e-2));
    assert!(loose.converged && loose.iterations <= one.iterations);
}

/// Heaps of 300, 300 and 3 rows: drawn evenly, or by the distance to the last one alone, starts
/// would often miss one.
#[test]
fn starts_are_drawn_by_the_distance_to_the_nearest() {
    let heap = |i: usize| (i / 300).min(2);
    let x = Array2::from_shape_fn((603, 2), |(i, j)| match j {
        0 => heap(i) as f64 * 1000.0,
        _ => (i % 7) as f64 * 1e-3,
    });
    for seed in 0..40 {
        let rows = spread_rows(x.view(), None, 3, Seed(seed), false, &()).unwrap();
        let heaps: BTreeSet<usize> = rows.into_iter().map(heap).collect();
        assert_eq!(heaps.len(), 3, "seed {seed}");
    }
}

/// Rows of a stored table, as if they were computed.
struct Stored {
    rows: Array2<f32>,
    counts: Option<Vec<u64>>,
    /// Which single rows were asked for.
    asked: std::sync::Mutex<Vec<usize>>,
}

impl Stored {
    fn new(rows: Array2<f32>) -> Self {
        Stored { rows, counts: None, asked: Default::default() }
    }
}

impl RowSource for Stored {
    fn n_rows(&self) -> usize {
        self.rows.nrows()
    }
    fn n_columns(&self) -> usize {
        self.rows.ncols()
    }
    fn write(&self, rows: std::ops::Range<usize>, out: &mut [f32]) {
        if rows.len() == 1 {
            self.asked.lock().unwrap().push(rows.start);
        }
        for (o, v) in out.iter_mut().zip(self.rows.slice(ndarray::s![rows, ..])) {
            *o = *v;
        }
    }
    fn counts(&self) -> Option<&[u64]> {
        self.counts.as_deref()
    }
}

#[test]
fn rows_that_are_not_stored() {
    let source = Stored::new(cloud(20_000, 3, 2).mapv(|v| v as f32));
    let options = KMeansOptions::new(6).restarts(2).tolerance(1e-4).seed(Seed(5));
    let all = fit_source(&source, &options, 20_000, &()).unwrap();
    assert_eq!(all, fit(source.rows.view(), None, &options, &()).unwrap());
    // Centres from a tenth of the rows, and every row at the nearest of them.
    let drawn =
        |threads: usize| on_pool(threads, || fit_source(&source, &options, 2000, &()).unwrap());
    let some = drawn(1);
    assert_eq!(some.assignment, assign(source.rows.view(), some.centres.view(), false));
    let inertia = |found: &KMeansFit<f32>| {
        let once = options.max_iterations(0);
        from_centres(source.rows.view(), None, found.centres.view(), &once, &()).unwrap().inertia
    };
    assert!(inertia(&some) < 1.05 * inertia(&all), "{} {}", inertia(&some), inertia(&all));
    for threads in [2, 3] {
        assert_eq!(drawn(threads), some);
    }
    let serial = options.parallel(false);
    assert_eq!(fit_source(&source, &serial, 2000, &()).unwrap(), some);
    assert!(kind(fit_source(&source, &options, 2000, &Stop)) == ErrorKind::Cancelled);
    for (shape, most) in [((0, 3), 9), ((9, 0), 5)] {
        let empty = Stored::new(Array2::zeros(shape));
        assert_eq!(kind(fit_source(&empty, &options, most, &())), ErrorKind::Empty);
    }
}

#[test]
fn a_sample_has_a_row_of_each_stretch() {
    let source = Stored::new(cloud(10_007, 2, 3).mapv(|v| v as f32));
    fit_source(&source, &KMeansOptions::new(3).seed(Seed(4)), 100, &()).unwrap();
    let asked = source.asked.into_inner().unwrap();
    assert_eq!(asked.len(), 100);
    for (s, row) in asked.into_iter().enumerate() {
        assert!((s * 10_007 / 100..(s + 1) * 10_007 / 100).contains(&row), "{s} {row}");
    }
}

#[test]
fn rows_with_counts_are_those_rows_repeated() {
    // Four heaps at the corners of a square.
    let mut next = noise(6);
    let heaps = Array2::from_shape_fn((3000, 2), |(i, j)| {
        let corner = if j == 0 { i % 2 } else { i / 2 % 2 };
        (20 * corner) as f32 + next() as f32
    });
    let counts: Vec<u64> = (0..heaps.nrows()).map(|_| 1 + (next() * 5.0) as u64).collect();
    let row_of: Vec<usize> = (0..heaps.nrows()).flat_map(|i| vec![i; counts[i] as usize]).collect();
    let repeated = Stored::new(heaps.select(ndarray::Axis(0), &row_of));
    let weights: Vec<f64> = counts.iter().map(|&count| count as f64).collect();
    let counted = Stored { counts: Some(counts), ..Stored::new(heaps) };
    let options = KMeansOptions::new(4).restarts(3).seed(Seed(2));
    let expanded =
        |fit: &KMeansFit<f32>| row_of.iter().map(|&i| fit.assignment[i]).collect::<Vec<_>>();
    // All rows.
    let rows = fit_source(&counted, &options, 3000, &()).unwrap();
    assert_eq!(rows, fit(counted.rows.view(), Some(&weights), &options, &()).unwrap());
    let objects = fit_source(&repeated, &options, row_of.len(), &()).unwrap();
    assert!((rows.inertia / objects.inertia - 1.0).abs() < 1e-6);
    let pairs: BTreeSet<(u32, u32)> =
        expanded(&rows).into_iter().zip(objects.assignment.iter().copied()).collect();
    assert_eq!(pairs.len(), 4, "{pairs:?}");
    // A sample: the same rows are drawn.
    let rows = fit_source(&counted, &options, 500, &()).unwrap();
    let objects = fit_source(&repeated, &options, 500, &()).unwrap();
    assert_eq!((&rows.centres, rows.inertia), (&objects.centres, objects.inertia));
    assert_eq!(expanded(&rows), objects.assignment);
}

#[test]
fn counts_decide_and_are_checked() {
    // Each row once, the pair that lies closest is a cluster; with counts it is torn apart.
    let line = |counts: &[u64]| Stored {
        counts: Some(counts.to_vec()),
        ..Stored::new(array![[0.0], [1.0], [3.0]])
    };
    let options = KMeansOptions::new(2).restarts(10);
    let found = fit_source(&line(&[1, 1, 1]), &options, 3, &()).unwrap();
    assert_eq!((found.assignment[0], found.inertia), (found.assignment[1], 0.5));
    let found = fit_source(&line(&[1000, 1000, 1]), &options, 3, &()).unwrap();
    assert_eq!(found.assignment[1], found.assignment[2]);
    assert!((found.inertia - 4000.0 / 1001.0).abs() < 1e-4);
    // A row that stands for none is not drawn, as others may be again and again.
    let found = fit_source(&line(&[0, 7, 0]), &options, 2, &()).unwrap();
    assert_eq!((found.centres, found.assignment), (array![[1.0]], vec![0; 3]));
    for (counts, expected) in [
        (&[1, 1][..], ErrorKind::ShapeMismatch),
        (&[1, 1, 1, 1][..], ErrorKind::ShapeMismatch),
        (&[0, 0, 0][..], ErrorKind::InvalidParameter),
    ] {
        for most in [2, 3] {
            assert_eq!(kind(fit_source(&line(counts), &options, most, &())), expected);
        }
    }
    let many = line(&[u64::MAX, u64::MAX, u64::MAX]);
    assert_eq!(kind(fit_source(&many, &options, 2, &())), ErrorKind::InvalidParameter);
}

/// Whoever has many columns or many centres need not wait for a whole pass over the rows.
#[test]
fn cancellation_is_asked_for_inside_of_passes() {
    let (x, centres) = (cloud(200, 600, 1), cloud(600, 600, 2));
    let asked = Counting::default();
    try_assign(x.view(), centres.view(), false, &asked).unwrap();
    assert!(asked.count() > 5, "{}", asked.count());
    // Each start looks at all rows.
    let asked = Counting::default();
    spread_rows(x.view(), None, 50, Seed(1), true, &asked).unwrap();
    assert!(asked.count() >= 50, "{}", asked.count());
    assert!(try_assign(x.view(), centres.view(), true, &Stop).is_err());
    assert!(spread_rows(x.view(), None, 50, Seed(1), true, &Stop).is_err());
}
