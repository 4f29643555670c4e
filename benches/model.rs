//! New objects placed into a consensus clustering.

use consilience::Seed;
use consilience::model::ConsensusClustering;
use consilience::ndarray::Array2;
use criterion::{Criterion, criterion_group, criterion_main};

fn clouds(n: usize, seed: u64) -> Array2<f64> {
    let mut stream = Seed(seed).stream();
    Array2::from_shape_fn((n, 16), |(i, j)| stream.normal() + 3.0 * ((i * (j + 1)) % 11) as f64)
}

/// A million objects of 16 features under 20 members of k-means, made from 10,000 objects.
fn place(c: &mut Criterion) {
    let model = ConsensusClustering::new(10).cluster(&clouds(10_000, 1)).expect("a model");
    let new = clouds(1_000_000, 2);
    let mut group = c.benchmark_group("model");
    group.sample_size(10);
    group.bench_function("place 1000000 x 16 under 20 members", |b| {
        b.iter(|| model.place(&new).expect("places"));
    });
    group.finish();
}

criterion_group!(benches, place);
criterion_main!(benches);
