//! Consensus by votes, diffusion, the recommended method and its diagnostics.

use std::time::Duration;

use consilience::consensus::{LeastSquares, MixtureModel, Qmi, Voting};
use consilience::trust::{Diagnostics, Recommended};
use consilience::walk::Diffusion;
use consilience::{ConsensusFunction, Ensemble, Partition, Seed};
use consilience_conformance::planted;
use criterion::{Criterion, criterion_group, criterion_main};

/// Noisy copies of ten clusters.
fn ensemble(n: usize) -> Ensemble {
    planted(Seed(1), &[n / 10; 10], 20, 0.2, 0.0).unwrap().ensemble
}

fn hard(
    c: &mut Criterion,
    name: &str,
    e: &Ensemble,
    f: &dyn ConsensusFunction<Output = Partition>,
) {
    c.bench_function(&format!("{name} {}x{}", e.n_objects(), e.n_members()), |b| {
        b.iter(|| f.consensus(e).unwrap());
    });
}

fn all(c: &mut Criterion) {
    for n in [2_000, 20_000] {
        let e = ensemble(n);
        hard(c, "mm", &e, &MixtureModel::new(10));
        hard(c, "qmi", &e, &Qmi::new(10));
        hard(c, "voting", &e, &Voting::new(10));
        hard(c, "diffusion", &e, &Diffusion::new(10));
        c.bench_function(&format!("least-squares {n}x20"), |b| {
            b.iter(|| LeastSquares::new(10).consensus(&e).unwrap());
        });
        let result = Voting::new(10).consensus(&e).unwrap();
        c.bench_function(&format!("diagnostics {n}x20"), |b| {
            b.iter(|| Diagnostics::of(&e, &result).unwrap());
        });
    }
    hard(c, "auto", &ensemble(2_000), &Recommended::new(10));
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(10).measurement_time(Duration::from_secs(3));
    targets = all
}
criterion_main!(benches);
