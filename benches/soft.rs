//! Members that give memberships: 100,000 objects, 20 members of ten clusters, two clusters for
//! each object, and the same members as labels.

use std::hint::black_box;

use consilience::consensus::{Hbgf, Lwea};
use consilience::ndarray::Array2;
use consilience::walk::{Diffusion, Pta};
use consilience::{ConsensusFunction, Ensemble, Partition, Seed, SparseMemberships};
use criterion::{Criterion, criterion_group, criterion_main};

const OBJECTS: usize = 100_000;
const MEMBERS: u64 = 20;
const CLUSTERS: usize = 10;

/// Each object is mostly in its own cluster and partly in another; shares are tenths, and objects
/// follow one of 2,000 patterns, so that some are alike.
fn member(m: u64) -> SparseMemberships {
    let mut stream = Seed(1).derive("member", m).stream();
    let patterns: Vec<(usize, usize, f64)> = (0..2_000)
        .map(|p| {
            let own = if stream.below(10) == 0 { stream.below(CLUSTERS) } else { p % CLUSTERS };
            (own, stream.below(CLUSTERS), (6 + stream.below(5)) as f64 / 10.0)
        })
        .collect();
    let mut x = Array2::zeros((OBJECTS, CLUSTERS));
    for (i, mut row) in x.rows_mut().into_iter().enumerate() {
        let (own, other, share) = patterns[i * 7_919 % patterns.len()];
        row[own] += share;
        row[other] += 1.0 - share;
    }
    SparseMemberships::from_array(x.view()).expect("memberships")
}

fn soft(c: &mut Criterion) {
    let members: Vec<SparseMemberships> = (0..MEMBERS).map(member).collect();
    let soft = Ensemble::mixed(members.into_iter().map(Into::into)).expect("an ensemble");
    let hard = soft.hardened();
    let mut group = c.benchmark_group(format!("{OBJECTS} objects, {MEMBERS} members"));
    group.sample_size(10);
    let methods: [Box<dyn ConsensusFunction<Output = Partition>>; 4] = [
        Box::new(Lwea::new(CLUSTERS)),
        Box::new(Hbgf::new(CLUSTERS)),
        Box::new(Diffusion::new(CLUSTERS)),
        Box::new(Pta::new(CLUSTERS)),
    ];
    for function in methods {
        let name = function.name();
        for (kind, ensemble) in [("memberships", &soft), ("labels", &hard)] {
            group.bench_function(format!("{name}, {kind}"), |b| {
                b.iter(|| function.consensus(black_box(ensemble)).expect("clusters"));
            });
        }
    }
    group.finish();
}

criterion_group!(benches, soft);
criterion_main!(benches);
