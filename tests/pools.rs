//! Every draw of the reference pools: counts equal, PTS to 1e-12, PTA's scores to 1e-9, PTGP's on
//! average.
//!
//! The pools are not part of the project: without them the tests say so and pass
//! (`tests/reference/mod.rs`).

mod reference;

use consilience::graph::{SparsePairCounts, TransferCut};
use consilience::walk::{EliteNeighbours, ProbabilityTrajectories, Pta, Ptgp};
use consilience::{
    ConsensusFunction, Ensemble, Hierarchy, Linkage, Microclusters, Partition, Seed, Similarity,
};
use reference::{integers, number, partition, pools};

/// Pools with values of the published PTA program.
const POOLS: [&str; 4] = ["MF", "IS", "LS", "PD"];

#[test]
fn counts_links_and_trajectories() {
    for pool in pools(&POOLS) {
        for (at, e, draw) in pool.published() {
            let m = Microclusters::of(&e).unwrap();
            assert_eq!(m.n_nodes() as u64, draw["microclusters"].as_u64().unwrap(), "{at}");
            let links = SparsePairCounts::of(&m, &()).unwrap().n_links();
            assert_eq!(links as u64, draw["msg_links"].as_u64().unwrap(), "{at}");
            let default = (((m.n_nodes() as f64).sqrt() / 2.0) as u64).clamp(1, 20);
            assert_eq!(Some(default), draw["K"].as_u64(), "{at}");
            assert_eq!(Some(default), draw["T"].as_u64(), "{at}");
            let graph = ProbabilityTrajectories::default().similarity(&e).unwrap();
            let sum: f64 = graph.weights().iter().sum();
            let expected = number(&draw["pts"]["sum"]);
            // The reference is printed to eight decimals.
            assert!((sum - expected).abs() < 1e-12 * expected + 5e-9, "{at}: {sum} {expected}");
            let elite = EliteNeighbours::of(&m, default as usize).unwrap();
            let isolated =
                (0..m.n_nodes()).filter(|&i| elite.weights().row(i).0.is_empty()).count();
            assert_eq!(
                Some(isolated as u64),
                draw["pts"]["isolated_microclusters"].as_u64(),
                "{at}"
            );
        }
    }
}

#[test]
fn details_of_the_first_draw() {
    for pool in pools(&POOLS) {
        let detail = &pool.golden["detail_draw0"];
        let draw = &pool.golden["draws"][0];
        let e = pool.ensemble(&pool.draws[0]);
        let m = Microclusters::of(&e).unwrap();
        let k = draw["K"].as_u64().unwrap() as usize;
        let elite = EliteNeighbours::of(&m, k).unwrap();
        assert_eq!(Some(elite.n_links() as u64), detail["keng_links"].as_u64(), "{}", pool.name);
        let weights: f64 = elite.weights().row_sums().iter().sum::<f64>() / 2.0;
        assert!((weights / number(&detail["keng_weight_sum"]) - 1.0).abs() < 1e-10);

        let graph = ProbabilityTrajectories::default().similarity(&e).unwrap();
        let s = graph.weights();
        let objects: Vec<usize> = integers(&detail["object_index"]).collect();
        for (a, &i) in objects.iter().enumerate() {
            for (b, &j) in objects.iter().enumerate() {
                let node = |o: usize| m.grouping().of_object()[o] as usize;
                let (ours, theirs) =
                    (s[[node(i), node(j)]], number(&detail["pts_between_objects"][a][b]));
                assert!(
                    (ours - theirs).abs() <= 1e-12 * theirs,
                    "{} {i} {j}: {ours} {theirs}",
                    pool.name
                );
            }
        }
        let expected = partition(&detail["pta_al_labels_true_k"]);
        assert_eq!(Pta::new(pool.clusters).consensus(&e).unwrap(), expected, "{}", pool.name);
    }
}

/// Other linkages than the average on every fourth draw, and on all where `CONSILIENCE_LARGE` is
/// set: the walks before them are the same.
#[test]
fn pta_scores_on_every_draw() {
    let large = std::env::var("CONSILIENCE_LARGE").is_ok();
    for pool in pools(&POOLS) {
        for (which, (at, e, draw)) in pool.published().enumerate() {
            let linkages = [
                ("pta_al", Linkage::Average),
                ("pta_cl", Linkage::Complete),
                ("pta_sl", Linkage::Single),
            ];
            let tried = if large || which.is_multiple_of(4) { 3 } else { 1 };
            for (name, linkage) in linkages.into_iter().take(tried) {
                // One tree serves the true number of clusters and the search for the best.
                let (m, tree) =
                    Pta::new(pool.clusters).linkage(linkage).dendrogram(&e, &()).unwrap();
                let nmi = |k: usize| pool.nmi(&m.grouping().expand(&tree.cut(k).unwrap()).unwrap());
                let expected = number(&draw[name]["true_k"]);
                let found = nmi(pool.clusters);
                assert!((found - expected).abs() < 1e-9, "{at} {name}: {found} {expected}");
                let best = integers(&pool.golden["cluster_numbers_for_best_k"])
                    .map(nmi)
                    .fold(0.0, f64::max);
                let expected = number(&draw[name]["best_k"]);
                assert!((best - expected).abs() < 1e-9, "{at} {name} best k: {best} {expected}");
            }
        }
    }
}

#[test]
fn ptgp_scores_on_average() {
    for pool in pools(&POOLS) {
        let (mut ours, mut theirs, mut draws) = (0.0, 0.0, 0.0);
        for (_, e, draw) in pool.published() {
            let m = Microclusters::of(&e).unwrap();
            // The graph does not depend on the seed, the cut does.
            let b = Ptgp::new(pool.clusters).bipartite(&m).unwrap().weights;
            for seed in 0..5 {
                let cut =
                    TransferCut::new(pool.clusters).seed(Seed(seed)).partition(b.view()).unwrap();
                ours += pool.nmi(&m.grouping().expand(&cut).unwrap()) / 5.0;
            }
            theirs += number(&draw["ptgp"]["true_k_mean"]);
            draws += 1.0;
        }
        let (ours, theirs) = (ours / draws, theirs / draws);
        println!("{}: PTGP {ours:.4}, reference {theirs:.4}", pool.name);
        assert!((ours - theirs).abs() < 0.01, "{}: {ours} {theirs}", pool.name);
    }
}

#[test]
fn label_gaps_change_nothing() {
    for pool in pools(&["MF"]) {
        let e = pool.ensemble(&pool.draws[0]);
        let gaps: Vec<Partition> = pool.draws[0]
            .iter()
            .map(|&c| {
                let labels: Vec<u64> = pool
                    .labels
                    .column(c)
                    .iter()
                    .map(|&l| u64::from(l) * 7919 + (1 << 40))
                    .collect();
                Partition::from_labels(&labels).unwrap()
            })
            .collect();
        let gaps = Ensemble::new(gaps).unwrap();
        assert_eq!(
            Ptgp::new(pool.clusters).consensus(&gaps).unwrap(),
            Ptgp::new(pool.clusters).consensus(&e).unwrap()
        );
    }
}
