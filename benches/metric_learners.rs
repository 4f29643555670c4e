//! Metric learners and constrained clusterers on generated data: 2,000 objects, 10 classes, five
//! labels each.

use criterion::{Criterion, criterion_group, criterion_main};
use std::hint::black_box;

use consilience::constrained::{Ccskl, CopKMeans, MpckMeans, PckMeans, Pmmc, SeededKMeans};
use consilience::core::{ConstrainedClusterer, Link};
use consilience::metric::{Dca, Itml, Lmnn, MetricLearner, Mmc, Rca};
use consilience::ndarray::Array2;
use consilience::{Constraints, Seed, SideInformation};

fn world(d: usize) -> (Array2<f64>, SideInformation) {
    let mut s = Seed(1).stream();
    let centres = Array2::from_shape_fn((10, d), |_| 2.0 * s.normal());
    let x = Array2::from_shape_fn((2000, d), |(i, j)| {
        centres[[i % 10, j]] + (1.0 + j as f64 / d as f64) * s.normal()
    });
    let labels: Vec<i64> = (0..2000).map(|i| if i < 50 { i % 10 } else { -1 }).collect();
    (x, SideInformation::from_labels(&labels).expect("there are labels"))
}

fn learners(c: &mut Criterion) {
    let methods: [(&str, Box<dyn MetricLearner>); 6] = [
        ("rca", Box::new(Rca::new())),
        ("dca", Box::new(Dca::new())),
        ("mmc", Box::new(Mmc::new())),
        ("mmc-diagonal", Box::new(Mmc::new().diagonal(true))),
        ("itml", Box::new(Itml::new())),
        ("lmnn", Box::new(Lmnn::new())),
    ];
    for d in [16, 64] {
        let (x, side) = world(d);
        let mut group = c.benchmark_group(format!("learner-d{d}"));
        group.sample_size(10);
        for (name, method) in &methods {
            group.bench_function(*name, |b| {
                b.iter(|| black_box(method.fit(x.view().into(), &side, &())));
            });
        }
    }
}

/// 3,000 objects of 784 features in which 40 directions hold ten classes, and 2,000 random pairs.
fn wide(c: &mut Criterion) {
    let mut s = Seed(5).stream();
    let (n, d, q) = (3000, 784, 40);
    let basis = Array2::from_shape_fn((q, d), |_| s.normal());
    let centres = Array2::from_shape_fn((10, q), |_| 0.9 * s.normal());
    let latent = Array2::from_shape_fn((n, q), |(i, j)| {
        centres[[i % 10, j]] + s.normal() / (1.0 + 0.05 * j as f64)
    });
    let x = latent.dot(&basis) + Array2::from_shape_fn((n, d), |_| 2.0 * s.normal());
    let mut pairs = Constraints::new(n).expect("there are objects");
    while pairs.len() < 2000 {
        let (a, b) = (s.below(n), s.below(n));
        let link = if a % 10 == b % 10 { Link::Must } else { Link::Cannot };
        // An object and itself are refused.
        let _ = pairs.add(a, b, link);
    }
    let side = SideInformation::from_constraints(&pairs);
    let mut group = c.benchmark_group("learner-3000x784");
    group.sample_size(10);
    for (name, method) in
        [("itml", Box::new(Itml::new()) as Box<dyn MetricLearner>), ("mmc", Box::new(Mmc::new()))]
    {
        group.bench_function(name, |b| {
            b.iter(|| black_box(method.fit(x.view().into(), &side, &())))
        });
    }
}

fn clusterers(c: &mut Criterion) {
    let methods: [(&str, Box<dyn ConstrainedClusterer>); 8] = [
        ("seeded-kmeans", Box::new(SeededKMeans::new(10))),
        ("constrained-kmeans", Box::new(SeededKMeans::constrained(10))),
        ("cop-kmeans", Box::new(CopKMeans::new(10))),
        ("pck-means", Box::new(PckMeans::new(10))),
        ("mpck-means", Box::new(MpckMeans::new(10))),
        ("mpck-means-full", Box::new(MpckMeans::new(10).per_cluster(true).full(true))),
        ("ccskl", Box::new(Ccskl::new(10))),
        ("pmmc", Box::new(Pmmc::new(10))),
    ];
    let (x, side) = world(16);
    let mut group = c.benchmark_group("clusterer-2000x16");
    group.sample_size(10);
    for (name, method) in &methods {
        group.bench_function(*name, |b| {
            b.iter(|| black_box(method.fit(x.view().into(), &side, &())))
        });
    }
}

criterion_group!(benches, learners, wide, clusterers);
criterion_main!(benches);
