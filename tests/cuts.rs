//! CSPA, HGPA, MCLA, link-based similarities and seeded walks on the reference pools, beside the
//! values of other tools on the same draws.
//!
//! The pools are not part of the project: without them the tests say so and pass
//! (`tests/reference/mod.rs`).
//! `cargo test -p consilience-tests --release --test cuts -- --nocapture` prints the
//! tables of `docs/graph-cuts.md`, those of METIS as well.

mod reference;

use std::time::Instant;

use consilience::consensus::{Cspa, EvidenceAccumulation, Hgpa, LinkBased, Mcla};
use consilience::graph::CutMethod;
use consilience::walk::RandomWalker;
use consilience::{ConsensusFunction, Linkage, Partition};
use reference::{Pool, pools};

const POOLS: [&str; 7] = ["MF", "IS", "VS", "Semeion", "LS", "PD", "Texture"];

type Method = dyn Fn(usize) -> Box<dyn ConsensusFunction<Output = Partition>>;

fn nmi(method: &Method, pool: &Pool, draw: usize) -> f64 {
    let ensemble = pool.ensemble(&pool.draws[draw]);
    pool.nmi(&method(pool.clusters).consensus(&ensemble).unwrap())
}

fn mean(x: &[f64]) -> f64 {
    x.iter().sum::<f64>() / x.len() as f64
}

/// Mean NMI over the draws that the tool could do, ours and theirs, per pool and in all.
fn beside(tool: &str, method: &Method) -> Option<(f64, f64)> {
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for pool in pools(&POOLS) {
        let draws = pool.peer(tool);
        if draws.is_empty() {
            continue;
        }
        let own: Vec<f64> = draws.iter().map(|d| nmi(method, &pool, d.0)).collect();
        let other: Vec<f64> = draws.iter().map(|d| d.1).collect();
        println!(
            "{tool} {} ({} draws): {:.4}, peer {:.4}",
            pool.name,
            own.len(),
            mean(&own),
            mean(&other)
        );
        ours.extend(own);
        theirs.extend(other);
    }
    if ours.is_empty() {
        return None;
    }
    println!("{tool} in all ({} draws): {:.4}, peer {:.4}", ours.len(), mean(&ours), mean(&theirs));
    Some((mean(&ours), mean(&theirs)))
}

fn no_worse(tool: &str, method: &Method) {
    if let Some((ours, theirs)) = beside(tool, method) {
        assert!(ours >= theirs - 0.01, "{tool}: {ours:.4} beside {theirs:.4}");
    }
}

#[test]
fn cspa_beside_cluster_ensembles() {
    no_worse("ce_cspa", &|k| Box::new(Cspa::new(k)));
}

#[test]
fn hgpa_beside_cluster_ensembles() {
    no_worse("ce_hgpa", &|k| Box::new(Hgpa::new(k)));
}

#[test]
fn mcla_beside_cluster_ensembles() {
    no_worse("ce_mcla", &|k| Box::new(Mcla::new(k)));
}

/// METIS, by the same means as the peers, comes out as they do.
#[cfg(feature = "metis")]
#[test]
fn metis_beside_cluster_ensembles() {
    no_worse("ce_cspa", &|k| Box::new(Cspa::new(k).cut_method(CutMethod::Metis)));
    no_worse("ce_hgpa", &|k| Box::new(Hgpa::new(k).cut_method(CutMethod::Metis)));
    no_worse("ce_mcla", &|k| Box::new(Mcla::new(k).cut_method(CutMethod::Metis)));
}

/// The table of the documentation: mean NMI at the true k over all draws. Links between clusters
/// must not lose much against plain co-association, which is what they refine; SimRank loses most.
#[test]
fn all_draws() {
    let mut methods: Vec<(&str, Box<Method>)> = vec![
        ("eac-al", Box::new(|k| Box::new(EvidenceAccumulation::new(k).linkage(Linkage::Average)))),
        ("cspa", Box::new(|k| Box::new(Cspa::new(k).cut_method(CutMethod::Spectral)))),
        ("hgpa", Box::new(|k| Box::new(Hgpa::new(k)))),
        (
            "hgpa, hypergraph",
            Box::new(|k| Box::new(Hgpa::new(k).cut_method(CutMethod::Hypergraph))),
        ),
        ("mcla", Box::new(|k| Box::new(Mcla::new(k)))),
        ("wct-al", Box::new(|k| Box::new(LinkBased::wct(k)))),
        ("srs-al", Box::new(|k| Box::new(LinkBased::srs(k)))),
        ("asrs-al", Box::new(|k| Box::new(LinkBased::asrs(k)))),
        ("srw", Box::new(|k| Box::new(RandomWalker::new(k)))),
    ];
    if cfg!(feature = "metis") {
        methods.extend(with_metis());
    }
    let pools = pools(&POOLS);
    if pools.is_empty() {
        return;
    }
    let mut totals = Vec::new();
    for (name, method) in &methods {
        let per_pool: Vec<f64> = pools
            .iter()
            .map(|p| {
                mean(&(0..p.draws.len()).map(|d| nmi(method.as_ref(), p, d)).collect::<Vec<_>>())
            })
            .collect();
        let cells: Vec<String> =
            pools.iter().zip(&per_pool).map(|(p, m)| format!("{} {m:.3}", p.name)).collect();
        println!("{name}: {}, mean {:.3}", cells.join(", "), mean(&per_pool));
        let seconds: Vec<String> = pools
            .iter()
            .map(|p| format!("{} {:.4}", p.name, median_seconds(method.as_ref(), p)))
            .collect();
        println!("{name}, seconds for the first draw: {}", seconds.join(", "));
        totals.push((*name, mean(&per_pool)));
    }
    let of = |name: &str| totals.iter().find(|t| t.0 == name).unwrap().1;
    for (name, slack) in [("wct-al", 0.01), ("srs-al", 0.02), ("asrs-al", 0.01), ("srw", 0.01)] {
        assert!(
            of(name) >= of("eac-al") - slack,
            "{name}: {:.4} beside {:.4}",
            of(name),
            of("eac-al")
        );
    }
}

/// Of three runs on the first draw, from labels to labels.
fn median_seconds(method: &Method, pool: &Pool) -> f64 {
    let (method, ensemble) = (method(pool.clusters), pool.ensemble(&pool.draws[0]));
    let mut seconds: Vec<f64> = (0..3)
        .map(|_| {
            let start = Instant::now();
            method.consensus(&ensemble).unwrap();
            start.elapsed().as_secs_f64()
        })
        .collect();
    seconds.sort_by(f64::total_cmp);
    seconds[1]
}

#[cfg(feature = "metis")]
fn with_metis() -> Vec<(&'static str, Box<Method>)> {
    vec![
        ("cspa, METIS", Box::new(|k| Box::new(Cspa::new(k).cut_method(CutMethod::Metis)))),
        ("hgpa, METIS", Box::new(|k| Box::new(Hgpa::new(k).cut_method(CutMethod::Metis)))),
        ("mcla, METIS", Box::new(|k| Box::new(Mcla::new(k).cut_method(CutMethod::Metis)))),
    ]
}

#[cfg(not(feature = "metis"))]
fn with_metis() -> Vec<(&'static str, Box<Method>)> {
    Vec::new()
}
