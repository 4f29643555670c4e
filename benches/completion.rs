//! MCCC and RDML at the sizes of the thesis.

use std::hint::black_box;
use std::time::Duration;

use consilience::completion::{Basis, Mccc, Rdml, SampleSimilarity};
use consilience::ndarray::Array2;
use consilience::{Constraints, Link, Seed, SideInformation};
use criterion::{Criterion, criterion_group, criterion_main};

/// Section 5.4.2: five equal clusters, features U G.
fn world(n: usize, pairs: usize) -> (Array2<f64>, SideInformation) {
    let mut s = Seed(1).stream();
    let g = Array2::from_shape_simple_fn((5, 15), || s.normal());
    let x = Array2::from_shape_fn((n, 15), |(i, j)| g[[i % 5, j]]);
    let mut known = Constraints::new(n).unwrap();
    while known.len() < pairs {
        let (i, j) = (s.below(n), s.below(n));
        let link = if i % 5 == j % 5 { Link::Must } else { Link::Cannot };
        if i != j {
            known.add(i, j, link).unwrap();
        }
    }
    (x, SideInformation::from_constraints(&known))
}

fn mccc(c: &mut Criterion) {
    let mut group = c.benchmark_group("MCCC");
    group
        .sample_size(10)
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(5));
    for n in [5_000, 100_000] {
        let (x, known) = world(n, 300);
        group.bench_function(format!("five clusters, N = {n}, singular vectors"), |b| {
            let method = Mccc::new(5).basis(Basis::Singular);
            b.iter(|| method.fit_completed(black_box(x.view()), &known, &()).unwrap());
        });
    }
    let mut s = Seed(2).stream();
    let x = Array2::from_shape_fn((5_000, 200), |(i, j)| {
        f64::from(u8::from(j % 10 == i % 10)) + s.normal()
    });
    let mut known = Constraints::new(5_000).unwrap();
    while known.len() < 4_000 {
        let (i, j) = (s.below(5_000), s.below(5_000));
        let link = if i % 10 == j % 10 { Link::Must } else { Link::Cannot };
        if i != j {
            known.add(i, j, link).unwrap();
        }
    }
    let known = SideInformation::from_constraints(&known);
    group.bench_function("5,000 x 200, 4,000 constraints, everything chosen", |b| {
        b.iter(|| Mccc::new(10).fit_completed(black_box(x.view()), &known, &()).unwrap());
    });
}

fn rdml(c: &mut Criterion) {
    let mut group = c.benchmark_group("RDML");
    group
        .sample_size(10)
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(5));
    let mut s = Seed(3).stream();
    let x = Array2::from_shape_fn((6_408, 1_000), |(i, j)| {
        f64::from(u8::from(j % 7 == i % 7)) + 2.0 * s.normal()
    });
    let sample: Vec<usize> = (0..1_000).collect();
    let same = Array2::from_shape_fn((1_000, 1_000), |(i, j)| f64::from(u8::from(i % 7 == j % 7)));
    group.bench_function("N = 6,408, d = 1,000, n = 1,000", |b| {
        let given = SampleSimilarity::Dense(same.view());
        b.iter(|| Rdml::new(7).fit_sample(black_box(x.view()), &sample, given, &()).unwrap());
    });
}

criterion_group!(benches, mccc, rdml);
criterion_main!(benches);
