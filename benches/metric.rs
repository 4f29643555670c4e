//! FPC and NNC beside plain passes of distances, and the RSD metrics.

use std::hint::black_box;
use std::time::Duration;

use consilience::constrained::{Fpc, Nnc};
use consilience::core::ConstrainedClusterer;
use consilience::metric::{MetricLearner, RsdDiagonal, RsdFull};
use consilience::ndarray::{Array2, ArrayView2};
use consilience::num::Float;
use consilience::{Features, Seed, SideInformation};
use criterion::{Criterion, criterion_group, criterion_main};
use rayon::prelude::*;

const N: usize = 1_000_000;
const D: usize = 16;
const K: usize = 10;

/// Ten overlapping groups, in rows.
fn points(n: usize, d: usize) -> Array2<f64> {
    let mut s = Seed(1).stream();
    let centres = Array2::from_shape_simple_fn((K, d), || s.normal());
    Array2::from_shape_fn((n, d), |(i, j)| centres[[i % K, j]] + 0.7 * s.normal())
}

fn labels(n: usize, per_class: usize) -> SideInformation {
    let labels: Vec<i64> =
        (0..n).map(|i| if i < K * per_class { (i % K) as i64 } else { -1 }).collect();
    SideInformation::from_labels(&labels).unwrap()
}

/// Distances of all rows to `count` rows, one pass each, in the precision of the rows.
fn passes<F: Float + std::ops::Sub<Output = F> + std::ops::Mul<Output = F> + std::iter::Sum>(
    x: ArrayView2<'_, F>,
    count: usize,
    out: &mut [F],
) {
    let flat = x.to_slice().unwrap();
    for c in 0..count {
        let centre = &flat[c * D..(c + 1) * D];
        out.par_chunks_mut(2048).zip(flat.par_chunks(2048 * D)).for_each(|(out, rows)| {
            for (o, row) in out.iter_mut().zip(rows.as_chunks::<D>().0) {
                *o = row.iter().zip(centre).map(|(&x, &c)| (x - c) * (x - c)).sum();
            }
        });
    }
}

fn clusterers(c: &mut Criterion) {
    let x = points(N, D);
    let narrow = x.mapv(|v| v as f32);
    let side = labels(N, 1);
    let mut group = c.benchmark_group(format!("{N} x {D}, k = {K}"));
    group
        .sample_size(10)
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(3));
    let (mut wide, mut single) = (vec![0.0; N], vec![0.0; N]);
    group.bench_function("10 plain passes, f64", |b| {
        b.iter(|| passes(x.view(), K, black_box(&mut wide)))
    });
    group.bench_function("10 plain passes, f32", |b| {
        b.iter(|| passes(narrow.view(), K, black_box(&mut single)))
    });
    for (name, features) in
        [("f64", Features::from(x.view())), ("f32", Features::from(narrow.view()))]
    {
        group.bench_function(format!("FPC, {name}"), |b| {
            b.iter(|| Fpc::new(K).seed(Seed(1)).fit_clustering(features, &()).unwrap())
        });
        group.bench_function(format!("NNC, {name}"), |b| {
            b.iter(|| Nnc::new(K).seed(Seed(1)).fit(features, &side, &()).unwrap())
        });
    }
    group.finish();
}

/// 50 labelled objects of ten classes: 100 must-links and 1,125 cannot-links.
fn metrics(c: &mut Criterion) {
    let mut group = c.benchmark_group("1,225 pairs");
    group
        .sample_size(10)
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_secs(3));
    for d in [20, 40, 240] {
        let x = points(500, d);
        let side = labels(500, 5);
        let learners: [&dyn MetricLearner; 2] = [&RsdDiagonal::new(), &RsdFull::new()];
        for learner in learners {
            group.bench_function(format!("{}, d = {d}", learner.name()), |b| {
                b.iter(|| learner.fit(x.view().into(), &side, &()).unwrap())
            });
        }
    }
    group.finish();
}

criterion_group!(benches, clusterers, metrics);
criterion_main!(benches);
