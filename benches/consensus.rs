//! Consensus functions on ensembles of growing size, beside one plain read of the labels.

use std::hint::black_box;
use std::time::Duration;

use consilience::consensus::EvidenceAccumulation;
use consilience::core::with_labels;
use consilience::walk::{ProbabilityTrajectories, Pta, Ptgp};
use consilience::{ConsensusFunction, Ensemble, Microclusters, Report, Similarity};
use criterion::{Criterion, criterion_group, criterion_main};
use faer::linalg::matmul::triangular::{BlockStructure, matmul};
use faer::{Accum, Mat, Par};

mod worlds;

/// Sums every label, and hashes every row once: what any method has to do.
fn read(ensemble: &Ensemble) -> u64 {
    ensemble
        .members()
        .iter()
        .map(|p| with_labels!(p.labels(), |l| l.iter().map(|&l| u64::from(l)).sum::<u64>()))
        .sum()
}

fn hash_rows(ensemble: &Ensemble) -> u64 {
    let mut hashes = vec![0u64; ensemble.n_objects()];
    for p in ensemble.members() {
        with_labels!(p.labels(), |l| {
            for (h, &l) in hashes.iter_mut().zip(l.iter()) {
                *h = (*h ^ u64::from(l)).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
            }
        });
    }
    hashes.into_iter().fold(0, u64::wrapping_add)
}

fn pta(c: &mut Criterion) {
    for (n, members, nodes) in [(49_402, 10, 250), (494_020, 10, 250)] {
        let e = worlds::copies(n, members, nodes);
        let mut group = c.benchmark_group(format!("{n} objects x {members} members"));
        group
            .sample_size(10)
            .warm_up_time(Duration::from_millis(100))
            .measurement_time(Duration::from_secs(1));
        group.bench_function("read the labels", |b| b.iter(|| read(black_box(&e))));
        group.bench_function("hash the rows", |b| b.iter(|| hash_rows(black_box(&e))));
        group.bench_function("microclusters", |b| {
            b.iter(|| Microclusters::of(black_box(&e)).unwrap())
        });
        group.bench_function("PTA-AL", |b| {
            b.iter(|| Pta::new(10).consensus(black_box(&e)).unwrap())
        });
        group
            .bench_function("PTGP", |b| b.iter(|| Ptgp::new(10).consensus(black_box(&e)).unwrap()));
        group.bench_function("EAC-AL", |b| {
            b.iter(|| EvidenceAccumulation::new(10).consensus(black_box(&e)).unwrap())
        });
        group.finish();
    }
}

/// PTS for 3,000 microclusters and T = 20, beside the 20 symmetric products of that size that the
/// sum of squared walks is made of when it is computed as written.
fn trajectories(c: &mut Criterion) {
    let e = worlds::scattered(4460, 10, 30);
    let m = Microclusters::of(&e).unwrap();
    let n = m.n_nodes();
    let mut group = c.benchmark_group(format!("trajectories of {n} microclusters"));
    group
        .sample_size(10)
        .warm_up_time(Duration::from_millis(100))
        .measurement_time(Duration::from_secs(1));
    let p = Mat::<f64>::from_fn(n, n, |i, j| ((i * 7 + j * 13) % 101) as f64 / 1e4);
    let mut g = Mat::<f64>::zeros(n, n);
    group.bench_function("20 symmetric products", |b| {
        b.iter(|| {
            for _ in 0..20 {
                let lower = BlockStructure::TriangularLower;
                let full = BlockStructure::Rectangular;
                matmul(
                    g.as_mut(),
                    lower,
                    Accum::Add,
                    p.as_ref(),
                    full,
                    p.transpose(),
                    full,
                    1.0,
                    Par::rayon(0),
                );
            }
        });
    });
    let pts = ProbabilityTrajectories::default().walk_length(20).elite_neighbours(20);
    group.bench_function("PTS", |b| {
        b.iter(|| pts.between(black_box(&m), &mut Report::default(), &()).unwrap())
    });
    group.finish();
}

criterion_group!(benches, pta, trajectories);
criterion_main!(benches);
