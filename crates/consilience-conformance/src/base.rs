//! Laws of base clusterers.

use ndarray::{Array2, ArrayView2, ShapeBuilder, Slice};

use crate::run::check_clusters;
use crate::watch::{cancellation, progress, refuse, succeed, threads};
use crate::{Profile, broken, hold};
use consilience_core::{BaseClusterer, ErrorKind, Features, Fit, Partition, Seed, scores};

/// One law: its name, and what panics where it is broken.
pub(super) type Law = (&'static str, fn(&str, &dyn BaseClusterer, &Profile));

/// The laws in the order they are tried.
pub(super) const LAWS: [Law; 12] = [
    ("empty features are refused", empty),
    ("NaN and infinities are refused with row and column", non_finite),
    ("k outside 1..=n is refused with both numbers", clusters_out_of_range),
    ("one object", one_object),
    ("all rows equal", all_equal),
    ("a constant feature", constant_feature),
    ("k above the number of distinct rows", too_many_clusters),
    ("values near the ends of the range", extremes),
    ("blobs are found, in both precisions", blobs_found),
    ("memory layout does not matter", layout),
    ("same bits at any number of threads", same_bits),
    ("cancellation and progress", observed),
];

const SEED: Seed = Seed(17);

/// Puts a base clusterer through every law that its profile does not switch off.
///
/// Tried are: empty and non-finite features; `k` outside `1..=n` and above the number of distinct
/// rows; one object, equal rows, constant features; well separated blobs in single and double
/// precision, and with values at the ends of the range, which may be refused as out of range;
/// row-major, column-major and strided views; equal bits on 1, 2, 3 and 8 threads; cancellation and
/// progress.
///
/// # Panics
/// Where a law is broken, with its name and the input.
pub fn base_clusterer(clusterer: &dyn BaseClusterer, profile: &Profile) {
    for (name, law) in LAWS {
        law(name, clusterer, profile);
    }
}

/// Runs the method in both precisions, checks what every result must obey, and returns that in
/// double precision.
fn run(
    law: &str,
    clusterer: &dyn BaseClusterer,
    profile: &Profile,
    k: usize,
    x: ArrayView2<'_, f64>,
) -> Fit<Partition> {
    let before = x.to_owned();
    let single = x.mapv(|v| v as f32);
    let narrow = run_one(law, clusterer, profile, k, Features::from(single.view()), distinct(x));
    let wide = run_one(law, clusterer, profile, k, Features::from(x), distinct(x));
    hold(law, x == before, || "the input changed".into());
    hold(law, narrow.output.n_objects() == wide.output.n_objects(), || "precisions differ".into());
    wide
}

fn run_one(
    law: &str,
    clusterer: &dyn BaseClusterer,
    profile: &Profile,
    k: usize,
    features: Features<'_>,
    distinct: usize,
) -> Fit<Partition> {
    let n = features.n_objects();
    let precision = if matches!(features, Features::F32(_)) { "f32" } else { "f64" };
    let input = format!(
        "k = {k}, {n} x {} features in {precision}, {distinct} distinct rows",
        features.n_features()
    );
    let fit = succeed(law, &input, || clusterer.fit(features, k, SEED, &()));
    let out = &fit.output;
    hold(law, out.n_objects() == n, || format!("{} objects out on {input}", out.n_objects()));
    hold(law, out.is_complete() || !profile.complete, || format!("unlabelled objects on {input}"));
    check_clusters(law, profile, &fit, (k, distinct), &|| input.clone());
    fit
}

/// Number of different rows.
fn distinct(x: ArrayView2<'_, f64>) -> usize {
    let mut rows: Vec<Vec<u64>> =
        x.rows().into_iter().map(|r| r.iter().map(|v| v.to_bits()).collect()).collect();
    rows.sort_unstable();
    rows.dedup();
    rows.len()
}

/// Three blobs far apart in three dimensions, unequal in size and interleaved. Multiples of 1/64,
/// so that single precision holds them exactly.
fn blobs(n: usize) -> (Array2<f64>, Partition) {
    let mut s = Seed(18).stream();
    let of = |i: usize| [0, 1, 0, 2, 1, 0][i % 6];
    let centres = [[0.0, 0.0, 0.0], [40.0, 0.0, 10.0], [0.0, 50.0, -20.0]];
    let x = Array2::from_shape_fn((n, 3), |(i, j)| {
        centres[of(i)][j] + (s.normal() * 64.0).round() / 64.0
    });
    match Partition::from_fn(n, |i| Some(of(i) as u64)) {
        Ok(truth) => (x, truth),
        Err(e) => broken("the suite's own input", e),
    }
}

fn empty(law: &str, clusterer: &dyn BaseClusterer, _: &Profile) {
    for shape in [(0, 3), (3, 0), (0, 0)] {
        let (x, y) = (Array2::<f64>::zeros(shape), Array2::<f32>::zeros(shape));
        let input = format!("features of {shape:?}");
        refuse(law, &input, ErrorKind::Empty, &[], || clusterer.fit(x.view().into(), 1, SEED, &()));
        refuse(law, &input, ErrorKind::Empty, &[], || clusterer.fit(y.view().into(), 1, SEED, &()));
    }
}

fn non_finite(law: &str, clusterer: &dyn BaseClusterer, _: &Profile) {
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        for (row, column) in [(7, 2), (0, 0), (19, 1)] {
            let (mut x, _) = blobs(20);
            x[[row, column]] = bad;
            let y = x.mapv(|v| v as f32);
            let input = format!("{bad} at row {row}, column {column}");
            let place = [row, column];
            let kind = ErrorKind::NonFinite;
            refuse(law, &input, kind, &place, || clusterer.fit(x.view().into(), 3, SEED, &()));
            refuse(law, &input, kind, &place, || clusterer.fit(y.view().into(), 3, SEED, &()));
        }
    }
}

fn clusters_out_of_range(law: &str, clusterer: &dyn BaseClusterer, profile: &Profile) {
    if !profile.checks_clusters {
        return;
    }
    for n in [1, 12] {
        let (x, _) = blobs(n);
        for k in [0, n + 1, usize::MAX] {
            let input = format!("k = {k} of {n} objects");
            refuse(law, &input, ErrorKind::InvalidParameter, &[k, n], || {
                clusterer.fit(x.view().into(), k, SEED, &())
            });
        }
    }
}

fn one_object(law: &str, clusterer: &dyn BaseClusterer, profile: &Profile) {
    for d in [1, 4] {
        run(law, clusterer, profile, 1, Array2::from_elem((1, d), 2.5).view());
    }
}

fn all_equal(law: &str, clusterer: &dyn BaseClusterer, profile: &Profile) {
    for value in [0.0, -3.25] {
        let x = Array2::from_elem((9, 2), value);
        for k in [1, 2, 9] {
            run(law, clusterer, profile, k, x.view());
        }
    }
}

fn constant_feature(law: &str, clusterer: &dyn BaseClusterer, profile: &Profile) {
    for column in 0..3 {
        let (mut x, _) = blobs(40);
        x.column_mut(column).fill(7.0);
        for k in [1, 3] {
            run(law, clusterer, profile, k, x.view());
        }
    }
}

fn too_many_clusters(law: &str, clusterer: &dyn BaseClusterer, profile: &Profile) {
    let rows = [[0.0, 1.0], [5.0, 1.0], [0.0, -4.0]];
    let x = Array2::from_shape_fn((10, 2), |(i, j)| rows[i * i % 3 + usize::from(i == 4)][j]);
    hold(law, distinct(x.view()) == 3, || "in the suite's own input".into());
    for k in [3, 4, 10] {
        run(law, clusterer, profile, k, x.view());
    }
}

/// Squares overflow or vanish here: a unit is no information, so the answer is that of the plain
/// unit, or the values are refused as out of range.
fn extremes(law: &str, clusterer: &dyn BaseClusterer, profile: &Profile) {
    let (x, truth) = blobs(12);
    for scale in [1e200, 1e-200, f64::MAX / 100.0] {
        let huge = x.mapv(|v| v * scale);
        let input = format!("values of about {scale:e}");
        let run = || clusterer.fit(huge.view().into(), 3, SEED, &());
        match crate::watch::no_panic(law, &input, run) {
            Ok(fit) => {
                hold(law, fit.output.n_objects() == 12, || format!("lost objects on {input}"));
                let ari = scores::adjusted_rand(&fit.output, &truth).unwrap_or(f64::NAN);
                hold(law, ari >= 0.9 || !profile.planted, || format!("ARI {ari:.3} on {input}"));
            }
            Err(e) => hold(law, e.kind() == ErrorKind::OutOfRange, || format!("{e} on {input}")),
        }
    }
}

fn blobs_found(law: &str, clusterer: &dyn BaseClusterer, profile: &Profile) {
    if !profile.planted {
        return;
    }
    let (x, truth) = blobs(90);
    let single = x.mapv(|v| v as f32);
    run(law, clusterer, profile, 3, x.view());
    for features in [Features::from(x.view()), Features::from(single.view())] {
        let fit = succeed(law, "90 objects in 3 blobs", || clusterer.fit(features, 3, SEED, &()));
        let ari = scores::adjusted_rand(&fit.output, &truth).unwrap_or(f64::NAN);
        hold(law, ari >= 0.9, || format!("adjusted Rand index {ari:.3} on 90 objects in 3 blobs"));
    }
}

fn layout(law: &str, clusterer: &dyn BaseClusterer, _: &Profile) {
    let (x, _) = blobs(60);
    let mut columns = Array2::zeros(x.dim().f());
    columns.assign(&x);
    // Every second row and column.
    let second = Slice::new(0, None, 2);
    let mut wide = Array2::from_elem((120, 6), f64::NAN);
    wide.slice_each_axis_mut(|_| second).assign(&x);
    let fit = |x: ArrayView2<'_, f64>| {
        succeed(law, "60 objects", || clusterer.fit(x.into(), 3, SEED, &()))
    };
    let plain = fit(x.view()).output;
    for (name, view) in
        [("column-major", columns.view()), ("strided", wide.slice_each_axis(|_| second))]
    {
        hold(law, fit(view).output == plain, || format!("another partition from a {name} view"));
    }
}

fn same_bits(law: &str, clusterer: &dyn BaseClusterer, profile: &Profile) {
    // Blobs that overlap, so that the last bits of a distance may decide.
    let (mut x, _) = blobs(profile.thread_objects.max(15));
    let mut s = Seed(19).stream();
    x.mapv_inplace(|v| 0.05 * v + s.normal());
    let single = x.mapv(|v| v as f32);
    for features in [Features::from(x.view()), Features::from(single.view())] {
        threads(law, &format!("{} objects", x.nrows()), &|observer| {
            clusterer.fit(features, 7.min(x.nrows()), SEED, observer)
        });
    }
}

fn observed(law: &str, clusterer: &dyn BaseClusterer, _: &Profile) {
    let (x, _) = blobs(90);
    cancellation(law, "90 objects", &|observer| clusterer.fit(x.view().into(), 3, SEED, observer));
    progress(law, "90 objects", &|observer| clusterer.fit(x.view().into(), 3, SEED, observer));
}
