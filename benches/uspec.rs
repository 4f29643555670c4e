//! U-SPEC and the consensus of U-SENC on points in the plane, beside one pass of k-means over the
//! same table.

use std::hint::black_box;
use std::time::Duration;

use consilience::consensus::USenc;
use consilience::core::BaseClusterer;
use consilience::generate::{Generator, KMeans, USpec};
use consilience::ndarray::Array2;
use consilience::{ConsensusFunction, Seed};
use criterion::{Criterion, criterion_group, criterion_main};

/// Five rings around each other.
fn rings(n: usize, d: usize) -> Array2<f32> {
    let mut s = Seed(3).stream();
    Array2::from_shape_fn((n, d), |(i, j)| {
        let (radius, turn) = ((1 + i % 5) as f64, i as f64 * 2.399_963);
        (radius * if j % 2 == 0 { turn.cos() } else { turn.sin() } + 0.1 * s.normal()) as f32
    })
}

fn members(c: &mut Criterion) {
    for (n, d) in [(100_000, 2), (10_000, 64)] {
        let x = rings(n, d);
        let mut group = c.benchmark_group(format!("{n} objects x {d} features"));
        group.sample_size(10).measurement_time(Duration::from_secs(10));
        for (name, clusterer) in [
            ("uspec", Box::new(USpec::new().restarts(1)) as Box<dyn BaseClusterer>),
            ("k-means, 10 iterations", Box::new(KMeans::new().max_iterations(10).tolerance(0.0))),
        ] {
            group.bench_function(name, |b| {
                b.iter(|| {
                    clusterer.fit(black_box(x.view()).into(), 40, Seed(1), &()).map(|f| f.output)
                });
            });
        }
        group.finish();
    }
}

fn consensus(c: &mut Criterion) {
    let x = rings(200_000, 2);
    let generator = Generator::new(USpec::new().restarts(1)).members(20).clusters(20..=60);
    let Ok(ensemble) = generator.generate(x.view()) else {
        return;
    };
    let mut group = c.benchmark_group("consensus of 200000 objects x 20 members");
    group.sample_size(10);
    group.bench_function("usenc", |b| b.iter(|| USenc::new(5).consensus(black_box(&ensemble))));
    group.finish();
}

criterion_group!(benches, members, consensus);
criterion_main!(benches);
