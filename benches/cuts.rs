//! Cuts, link-based similarities and seeded walks: on the first draw of the reference pools, where
//! those are found (as in `tests/cuts.rs`), and on larger ensembles. `eval/peers/cuts.py` times
//! other tools on the same draws.

use std::hint::black_box;
use std::time::Duration;

use consilience::consensus::{Cspa, Hgpa, LinkBased, Mcla};
use consilience::walk::RandomWalker;
use consilience::{ConsensusFunction, Partition};
use criterion::{Criterion, criterion_group, criterion_main};

#[path = "../tests/reference/mod.rs"]
mod reference;
mod worlds;

fn cuts(c: &mut Criterion) {
    let mut ensembles = vec![
        (
            "11,000 objects, 10 members of 25".to_string(),
            worlds::scattered(11_000, 10, 25),
            10,
            false,
        ),
        (
            "49,402 objects in 250 microclusters, 10 members".to_string(),
            worlds::copies(49_402, 10, 250),
            10,
            true,
        ),
        (
            "494,020 objects in 250 microclusters, 10 members".to_string(),
            worlds::copies(494_020, 10, 250),
            10,
            true,
        ),
    ];
    for pool in reference::pools(&["MF", "IS", "VS", "Semeion", "LS", "PD"]) {
        let e = pool.ensemble(&pool.draws[0]);
        ensembles.push((pool.name, e, pool.clusters, true));
    }
    for (name, e, k, dense) in ensembles {
        let mut group = c.benchmark_group(name);
        group
            .sample_size(10)
            .warm_up_time(Duration::from_millis(100))
            .measurement_time(Duration::from_secs(1));
        type Method = Box<dyn ConsensusFunction<Output = Partition>>;
        let linear: [(&str, Method); 3] = [
            ("CSPA", Box::new(Cspa::new(k))),
            ("HGPA", Box::new(Hgpa::new(k))),
            ("MCLA", Box::new(Mcla::new(k))),
        ];
        let quadratic: [(&str, Method); 4] = [
            ("WCT-AL", Box::new(LinkBased::wct(k))),
            ("SRS-AL", Box::new(LinkBased::srs(k))),
            ("ASRS-AL", Box::new(LinkBased::asrs(k))),
            ("SRW", Box::new(RandomWalker::new(k))),
        ];
        for (name, method) in linear.iter().chain(quadratic.iter().filter(|_| dense)) {
            group.bench_function(*name, |b| b.iter(|| method.consensus(black_box(&e)).unwrap()));
        }
        group.finish();
    }
}

criterion_group!(benches, cuts);
criterion_main!(benches);
