//! Every network of four nodes under every ensemble of two members, each node possibly unlabelled
//! in each: components, trees and propagation against their definitions.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicUsize, Ordering};

use consilience::consensus::{NetworkComponents, NetworkLinkage, NetworkPropagation};
use consilience::graph::Network;
use consilience::{ConsensusFunction, Ensemble, Linkage, Partition, Status};
use consilience_conformance::small_worlds;
use rayon::prelude::*;

const NODES: usize = 4;
const PAIRS: [(usize, usize); 6] = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)];

/// A network, an ensemble, and the share of each edge by definition.
struct World {
    network: Network,
    ensemble: Ensemble,
    edges: Vec<((usize, usize), f64)>,
}

/// Tries every world; all there are is their number.
fn every_world(test: impl Fn(&World) + Sync) {
    let ensembles: Vec<Ensemble> = small_worlds(NODES, 2).in_one_order().collect();
    let tried = AtomicUsize::new(0);
    (0..1usize << PAIRS.len()).into_par_iter().for_each(|bits| {
        let kept = PAIRS.iter().enumerate().filter(|(at, _)| bits >> at & 1 == 1);
        let network = Network::new(NODES, kept.map(|(_, &pair)| pair)).unwrap();
        for ensemble in &ensembles {
            let share = |(i, j): (usize, usize)| share(ensemble, i, j);
            let edges = network.edges().map(|edge| (edge, share(edge))).collect();
            test(&World { network: network.clone(), ensemble: ensemble.clone(), edges });
            tried.fetch_add(1, Ordering::Relaxed);
        }
    });
    assert_eq!(tried.into_inner(), 64 * 52 * 53 / 2);
}

fn share(ensemble: &Ensemble, i: usize, j: usize) -> f64 {
    let pairs = || ensemble.members().iter().map(|m| (m.label(i), m.label(j)));
    let both = pairs().filter(|(a, b)| a.is_some() && b.is_some()).count();
    let together = pairs().filter(|(a, b)| a.is_some() && a == b).count();
    if both == 0 { 0.0 } else { together as f64 / both as f64 }
}

/// The ensemble with its members in another order gives the same, which is what comes back.
fn members_may_be_reordered(
    world: &World,
    method: &dyn ConsensusFunction<Output = Partition>,
) -> Partition {
    let plain = method.consensus(&world.ensemble).unwrap();
    let turned = world.ensemble.select(&[1, 0]).unwrap();
    assert_eq!(method.consensus(&turned).unwrap(), plain, "{}", method.name());
    plain
}

/// The nodes that edges of at least this share link, each node possibly over others; those that no
/// member labels have no label.
fn linked(world: &World, threshold: f64) -> Partition {
    let mut reach: Vec<u64> = (0..NODES as u64).collect();
    for _ in 0..NODES {
        for &((i, j), _) in world.edges.iter().filter(|edge| edge.1 >= threshold) {
            let first = reach[i].min(reach[j]);
            (reach[i], reach[j]) = (first, first);
        }
    }
    let labelled = |i| world.ensemble.members().iter().any(|m| m.label(i).is_some());
    Partition::from_fn(NODES, |i| labelled(i).then_some(reach[i])).unwrap()
}

#[test]
fn components() {
    every_world(|world| {
        for threshold in [0.4, 0.5, 1.0] {
            let method = NetworkComponents::new(world.network.clone()).threshold(threshold);
            let found = members_may_be_reordered(world, &method);
            assert_eq!(found, linked(world, threshold));
        }
    });
}

/// How strongly two clusters are linked.
fn link(linkage: Linkage, shares: &[f64]) -> f64 {
    match linkage {
        Linkage::Single => shares.iter().copied().fold(0.0, f64::max),
        Linkage::Complete => shares.iter().copied().fold(1.0, f64::min),
        _ => shares.iter().sum::<f64>() / shares.len() as f64,
    }
}

/// How strongly edges link any two clusters; `cluster` is that of each leaf.
fn links(
    world: &World,
    linkage: Linkage,
    leaf: &Partition,
    cluster: &[usize],
) -> BTreeMap<[usize; 2], f64> {
    let mut between: BTreeMap<[usize; 2], Vec<f64>> = BTreeMap::new();
    for &((i, j), share) in &world.edges {
        let (Some(a), Some(b)) = (leaf.label(i), leaf.label(j)) else { continue };
        let (a, b) = (cluster[a], cluster[b]);
        if a != b {
            between.entry([a.min(b), a.max(b)]).or_default().push(share);
        }
    }
    between.into_iter().map(|(pair, shares)| (pair, link(linkage, &shares))).collect()
}

/// Of clusters that nothing links the two smallest merge first, and then with these the smallest
/// of the others; `rest` is what the ones before have made.
fn smallest_first(
    leaf: &Partition,
    cluster: &[usize],
    pair: [usize; 2],
    rest: Option<usize>,
) -> bool {
    let mut sizes: BTreeMap<usize, usize> = BTreeMap::new();
    leaf.iter().flatten().for_each(|l| *sizes.entry(cluster[l]).or_default() += 1);
    let own = |c: usize| if Some(c) == rest { 0 } else { sizes[&c] };
    let mut merged = pair.map(own);
    merged.sort_unstable();
    let mut all: Vec<usize> = sizes.keys().map(|&c| own(c)).collect();
    all.sort_unstable();
    merged[..] == all[..2]
}

#[test]
fn trees() {
    every_world(|world| {
        for linkage in [Linkage::Single, Linkage::Average, Linkage::Complete] {
            let method = NetworkLinkage::new(world.network.clone(), 2).linkage(linkage);
            let two = members_may_be_reordered(world, &method);
            let Ok((leaf, tree)) = method.dendrogram(&world.ensemble, &()) else {
                let unlabelled = world.ensemble.members().iter().all(|m| m.n_clusters() == 0);
                assert!(unlabelled, "no tree");
                continue;
            };
            // What all members that label two of them keep together is one leaf.
            assert_eq!(leaf, linked(world, 1.0));
            let n = leaf.n_clusters();
            assert_eq!((tree.n_leaves(), tree.merges().len()), (n, n - 1));
            let mut cluster: Vec<usize> = (0..n).collect();
            let mut rest = None;
            for (t, merge) in tree.merges().iter().enumerate() {
                let between = links(world, linkage, &leaf, &cluster);
                let best = between.values().copied().fold(0.0, f64::max);
                let [a, b] = merge.nodes;
                let pair = [a.min(b), a.max(b)];
                assert!(a != b && pair.iter().all(|node| cluster.contains(node)), "{merge:?}");
                let own = between.get(&pair).copied().unwrap_or(0.0);
                assert!((own - best).abs() < 1e-12, "{linkage:?}, merge {t}: {own} of {best}");
                assert!((1.0 - merge.height - best).abs() < 1e-12, "{linkage:?}, merge {t}");
                if best == 0.0 {
                    assert!(smallest_first(&leaf, &cluster, pair, rest), "{linkage:?}, merge {t}");
                    rest = Some(n + t);
                }
                if cluster_count(&cluster) == 2 {
                    assert_eq!(two, cut(&leaf, &cluster));
                }
                for c in cluster.iter_mut().filter(|c| merge.nodes.contains(c)) {
                    *c = n + t;
                }
            }
            assert!(n > 1 || two == leaf);
        }
    });
}

fn cluster_count(cluster: &[usize]) -> usize {
    cluster.iter().collect::<BTreeSet<_>>().len()
}

/// The partition of the nodes of the network that these clusters of leaves are.
fn cut(leaf: &Partition, cluster: &[usize]) -> Partition {
    Partition::from_fn(NODES, |i| leaf.label(i).map(|l| cluster[l] as u64)).unwrap()
}

#[test]
fn propagation() {
    let solved = AtomicUsize::new(0);
    every_world(|world| {
        let method = NetworkPropagation::new(world.network.clone());
        members_may_be_reordered(world, &method);
        let found = method.fit(&world.ensemble, &()).unwrap();
        let labels = &found.output;
        for i in 0..NODES {
            let labelled = world.ensemble.members().iter().any(|m| m.label(i).is_some());
            assert_eq!(labels.label(i).is_some(), labelled);
        }
        // Whoever is together is linked through others that are.
        for &((i, j), share) in &world.edges {
            assert!(share < 1.0 || labels.label(i) == labels.label(j) || apart(world, i, j));
        }
        solved.fetch_add(usize::from(found.report.status == Status::Solved), Ordering::Relaxed);
    });
    assert!(solved.into_inner() > 86_000);
}

/// Whether some member that labels one of the two does not label the other: then the two are not
/// one node, whatever the share of their edge.
fn apart(world: &World, i: usize, j: usize) -> bool {
    world.ensemble.members().iter().any(|m| m.label(i).is_some() != m.label(j).is_some())
}
