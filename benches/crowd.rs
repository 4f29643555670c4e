//! Crowdclustering on planted crowds. The reference crowds:
//! `cargo run --release --manifest-path eval/Cargo.toml --bin crowd_sets`.

use std::time::Duration;

use consilience::Seed;
use consilience::crowd::{Answers, CrowdClustering, CrowdMethod, GroupAnswer};
use criterion::{Criterion, criterion_group, criterion_main};

/// 10 clusters; every worker groups 50 of the objects, one in five wrongly.
fn crowd(n: usize, workers: usize) -> Answers {
    let mut stream = Seed(1).stream();
    let mut rows = Vec::new();
    for worker in 0..workers {
        for item in stream.sample(n, 50) {
            let group = if stream.uniform() < 0.2 { stream.below(10) } else { item % 10 };
            rows.push(GroupAnswer { worker, task: 0, item, group });
        }
    }
    Answers::from_groupings(n, &rows).unwrap()
}

fn all(c: &mut Criterion) {
    // Twice the answers should take the block model about twice the time.
    for (n, workers) in [(1_000, 200), (1_000, 400)] {
        let answers = crowd(n, workers);
        for method in [CrowdMethod::Block, CrowdMethod::Spectral, CrowdMethod::DawidSkene] {
            let clustering = CrowdClustering::new(10).method(method).alternative(false);
            c.bench_function(&format!("{} {n} objects {workers} workers", method.name()), |b| {
                b.iter(|| clustering.fit(&answers, &()).unwrap());
            });
        }
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(10).measurement_time(Duration::from_secs(5));
    targets = all
}
criterion_main!(benches);
