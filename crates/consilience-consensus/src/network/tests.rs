use std::collections::BTreeMap;

use consilience_conformance::CancelFrom;
use consilience_core::{
    Clusters, ConsensusFunction, Ensemble, ErrorKind, Linkage, Partition, Seed, Status, Stream,
};
use consilience_graph::Network;

use super::*;

/// Members that know of four clusters and err, with gaps or without.
fn members(n: usize, count: usize, gaps: bool, stream: &mut Stream) -> Ensemble {
    let member = |stream: &mut Stream| {
        let labels: Vec<i64> = (0..n)
            .map(|i| match stream.below(10) {
                0 if gaps => -1,
                1 | 2 => stream.below(4) as i64,
                _ => (4 * i / n) as i64,
            })
            .collect();
        Partition::from_labels(&labels).unwrap()
    };
    Ensemble::new((0..count).map(|_| member(stream)).collect()).unwrap()
}

fn network(n: usize, edges: usize, stream: &mut Stream) -> Network {
    let pair = |_| {
        let i = stream.below(n);
        (i, (i + 1 + stream.below(n / 3)) % n)
    };
    Network::new(n, (0..edges).map(pair).collect::<Vec<_>>()).unwrap()
}

fn worlds() -> impl Iterator<Item = (Network, Ensemble)> {
    (0..60).map(|seed| {
        let mut stream = Seed(seed).stream();
        let n = 12 + 4 * (seed as usize % 9);
        let edges = n * (1 + seed as usize % 3);
        let network = network(n, edges, &mut stream);
        (network, members(n, 3 + seed as usize % 6, seed % 2 == 1, &mut stream))
    })
}

/// Shares of the edges by the definition.
fn shares(network: &Network, ensemble: &Ensemble) -> Vec<f64> {
    let share = |(i, j)| {
        let pairs = || ensemble.members().iter().map(|m| (m.label(i), m.label(j)));
        let both = pairs().filter(|(a, b)| a.is_some() && b.is_some()).count();
        let together = pairs().filter(|(a, b)| a.is_some() && a == b).count();
        if both == 0 { 0.0 } else { together as f64 / both as f64 }
    };
    network.edges().map(share).collect()
}

/// Every merge is the best there is at its time, over all pairs of clusters that edges link.
#[test]
fn trees_are_certified_merge_by_merge() {
    for linkage in [Linkage::Single, Linkage::Average, Linkage::Complete] {
        for (network, ensemble) in worlds() {
            let method = NetworkLinkage::new(network.clone(), 2).linkage(linkage);
            let (leaf, tree) = method.dendrogram(&ensemble, &()).unwrap();
            let mut cluster: Vec<usize> = (0..leaf.n_clusters()).collect();
            let shares = shares(&network, &ensemble);
            assert_eq!((tree.n_leaves(), tree.merges().len() + 1), (cluster.len(), cluster.len()));
            for (t, merge) in tree.merges().iter().enumerate() {
                assert!(merge.nodes.iter().all(|node| cluster.contains(node)), "{merge:?}");
                let mut between: BTreeMap<(usize, usize), Vec<f64>> = BTreeMap::new();
                for ((i, j), &share) in network.edges().zip(&shares) {
                    let (Some(a), Some(b)) = (leaf.label(i), leaf.label(j)) else { continue };
                    let (a, b) = (cluster[a], cluster[b]);
                    if a != b {
                        between.entry((a.min(b), a.max(b))).or_default().push(share);
                    }
                }
                let link = |shares: &Vec<f64>| match linkage {
                    Linkage::Single => shares.iter().copied().fold(0.0, f64::max),
                    Linkage::Complete => shares.iter().copied().fold(1.0, f64::min),
                    _ => shares.iter().sum::<f64>() / shares.len() as f64,
                };
                let best = between.values().map(link).fold(0.0, f64::max);
                let own = between.get(&(merge.nodes[0], merge.nodes[1])).map_or(0.0, link);
                assert!((own - best).abs() < 1e-12, "{linkage:?}, merge {t}: {own} of {best}");
                assert!((1.0 - merge.height - best).abs() < 1e-12);
                for c in cluster.iter_mut().filter(|c| merge.nodes.contains(c)) {
                    *c = tree.n_leaves() + t;
                }
            }
        }
    }
}

/// Edges on which nobody agrees count for the mean and for the worst.
#[test]
fn on_a_complete_network_it_is_evidence_accumulation() {
    let all = |n: usize| {
        Network::new(n, (0..n).flat_map(|j| (0..j).map(move |i| (i, j))).collect::<Vec<_>>())
    };
    let members = [([0, 0, 1, 2], 4), ([1, 0, 0, 1], 3), ([1, 0, 0, 2], 3)];
    let members = members.iter().flat_map(|(labels, times)| vec![labels; *times]);
    let ensemble: Vec<_> = members.map(|labels| Partition::from_labels(labels).unwrap()).collect();
    let ensemble = Ensemble::new(ensemble).unwrap();
    let found = NetworkLinkage::new(all(4).unwrap(), 2).consensus(&ensemble).unwrap();
    assert_eq!(found.to_signed(), [0, 1, 1, 0]);
    let theirs = crate::EvidenceAccumulation::new(2).consensus(&ensemble).unwrap();
    assert_eq!(found, theirs);
}

#[test]
fn components_are_those_of_the_kept_edges() {
    for (network, ensemble) in worlds() {
        for threshold in [0.3, 0.5, 1.0] {
            let method = NetworkComponents::new(network.clone()).threshold(threshold);
            let found = method.consensus(&ensemble).unwrap();
            // Whoever is linked is together, and whoever is together is reached over links.
            let mut reach: Vec<usize> = (0..network.n_nodes()).collect();
            let kept: Vec<(usize, usize)> = network
                .edges()
                .zip(shares(&network, &ensemble))
                .filter(|e| e.1 >= threshold)
                .map(|e| e.0)
                .collect();
            for _ in 0..network.n_nodes() {
                for &(i, j) in &kept {
                    let first = reach[i].min(reach[j]);
                    (reach[i], reach[j]) = (first, first);
                }
            }
            let expected = Partition::from_fn(network.n_nodes(), |i| {
                let labelled = ensemble.members().iter().any(|m| m.label(i).is_some());
                labelled.then_some(reach[i] as u64)
            });
            assert_eq!(found, expected.unwrap());
        }
    }
}

/// Nobody wants another label, by the definition on the network itself.
#[test]
fn propagation_ends_where_all_agree_with_their_neighbours() {
    let mut converged = 0;
    for (network, ensemble) in worlds() {
        let found = NetworkPropagation::new(network.clone()).fit(&ensemble, &()).unwrap();
        if found.report.status != Status::Solved {
            continue;
        }
        converged += 1;
        let leaf = NetworkLinkage::new(network.clone(), 1).dendrogram(&ensemble, &()).unwrap().0;
        let shares = shares(&network, &ensemble);
        for node in 0..leaf.n_clusters() {
            let mut votes: BTreeMap<Option<usize>, f64> = BTreeMap::new();
            let mut own = None;
            for ((i, j), &share) in network.edges().zip(&shares) {
                for (i, j) in [(i, j), (j, i)] {
                    if leaf.label(i) == Some(node) && leaf.label(j) != Some(node) {
                        *votes.entry(found.output.label(j)).or_default() += share;
                        own = found.output.label(i);
                    }
                }
            }
            let most = votes.values().copied().fold(0.0, f64::max);
            assert!(most == 0.0 || votes.get(&own).is_some_and(|&v| v >= most - 1e-9));
        }
    }
    assert!(converged > 50, "{converged}");
}

/// The clusters that members err about come out, whatever the method.
#[test]
fn planted_communities_are_found() {
    let mut stream = Seed(5).stream();
    let n = 400;
    let community = |i: usize| 4 * i / n;
    // Mostly inside of the communities.
    let pairs: Vec<(usize, usize)> = (0..4000)
        .map(|_| {
            let i = stream.below(n);
            let j = stream.below(n / 4) + n / 4 * community(i);
            if stream.below(10) == 0 { (i, stream.below(n)) } else { (i, j) }
        })
        .filter(|(i, j)| i != j)
        .collect();
    let network = Network::new(n, pairs).unwrap();
    let ensemble = members(n, 12, true, &mut stream);
    let truth = Partition::from_fn(n, |i| Some(community(i) as u64)).unwrap();
    let methods: [Box<dyn ConsensusFunction<Output = Partition>>; 3] = [
        Box::new(NetworkComponents::new(network.clone()).threshold(0.6)),
        Box::new(NetworkLinkage::new(network.clone(), 4)),
        Box::new(NetworkPropagation::new(network.clone())),
    ];
    for method in methods {
        let found = method.consensus(&ensemble).unwrap();
        let ari = consilience_core::scores::adjusted_rand(&found, &truth).unwrap();
        println!("{}: {ari:.3}, {} clusters", method.name(), found.n_clusters());
        assert!(ari > 0.9, "{}: {ari}", method.name());
    }
}

#[test]
fn the_same_bits_at_any_number_of_threads_and_in_any_order_of_members() {
    for (network, ensemble) in worlds().skip(40) {
        let methods: [Box<dyn ConsensusFunction<Output = Partition>>; 3] = [
            Box::new(NetworkComponents::new(network.clone())),
            Box::new(NetworkLinkage::new(network.clone(), Clusters::Lifetime)),
            Box::new(NetworkPropagation::new(network.clone())),
        ];
        let order: Vec<usize> = (0..ensemble.n_members()).rev().collect();
        let reversed = ensemble.select(&order).unwrap();
        for method in methods {
            let run = |threads: usize, ensemble: &Ensemble| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                pool.install(|| method.consensus(ensemble).unwrap())
            };
            let one = run(1, &ensemble);
            assert_eq!(one, run(3, &ensemble), "{}", method.name());
            assert_eq!(one, run(2, &reversed), "{}", method.name());
        }
    }
}

#[test]
fn parts_without_links_join_last_and_the_largest_stay() {
    // Sizes 3, 2 and 1, and an object that nobody labels.
    let network = Network::new(7, [(0, 1), (1, 2), (3, 4), (5, 6)]).unwrap();
    let member = Partition::from_labels(&[0, 0, 0, 0, 0, 0, -1]).unwrap();
    let ensemble = Ensemble::new(vec![member]).unwrap();
    let labels = |k: usize| {
        let fit = NetworkLinkage::new(network.clone(), k).fit(&ensemble, &()).unwrap();
        assert!(fit.report.notes.iter().any(|n| n.contains("3 parts")), "{:?}", fit.report.notes);
        fit.output.to_signed()
    };
    assert_eq!(labels(3), [0, 0, 0, 1, 1, 2, -1]);
    assert_eq!(labels(2), [0, 0, 0, 1, 1, 1, -1]);
    assert_eq!(labels(1), [0, 0, 0, 0, 0, 0, -1]);
    // More than the evidence can tell apart.
    let fit = NetworkLinkage::new(network.clone(), 5).fit(&ensemble, &()).unwrap();
    assert_eq!((fit.output.n_clusters(), fit.report.clusters_missing), (3, Some(2)));
    // The only member cuts the edge in the middle, and there is no more to cut.
    let path = Network::new(4, [(0, 1), (1, 2), (2, 3)]).unwrap();
    let ensemble = Ensemble::from_array(ndarray::array![[0], [0], [1], [1]].view()).unwrap();
    let report = NetworkLinkage::new(path, 3).fit(&ensemble, &()).unwrap().report;
    let why = "the members distinguish no more parts of the network";
    assert!(report.notes.iter().any(|note| note.ends_with(why)), "{:?}", report.notes);
}

#[test]
fn bad_input_is_told() {
    let network = Network::new(4, [(0, 1), (2, 3)]).unwrap();
    let four = Ensemble::new(vec![Partition::single_cluster(4).unwrap()]).unwrap();
    let five = Ensemble::new(vec![Partition::single_cluster(5).unwrap()]).unwrap();
    let kind = |method: &dyn ConsensusFunction<Output = Partition>, ensemble: &Ensemble| {
        method.consensus(ensemble).unwrap_err().kind()
    };
    let components = NetworkComponents::new(network.clone());
    assert_eq!(kind(&components, &five), ErrorKind::ShapeMismatch);
    for bad in [0.0, 1.5, f64::NAN] {
        let method = components.clone().threshold(bad);
        assert_eq!(kind(&method, &four), ErrorKind::InvalidParameter);
    }
    let linkage = NetworkLinkage::new(network.clone(), 2);
    assert_eq!(kind(&linkage, &five), ErrorKind::ShapeMismatch);
    let ward = linkage.clone().linkage(Linkage::Ward);
    assert_eq!(kind(&ward, &four), ErrorKind::InvalidParameter);
    assert_eq!(kind(&NetworkLinkage::new(network.clone(), 0), &four), ErrorKind::InvalidParameter);
    assert_eq!(kind(&NetworkLinkage::new(network.clone(), 5), &four), ErrorKind::InvalidParameter);
    let spectral = NetworkLinkage::new(network.clone(), Clusters::Eigengap);
    assert_eq!(kind(&spectral, &four), ErrorKind::InvalidParameter);
    let propagation = NetworkPropagation::new(network);
    assert_eq!(kind(&propagation.clone().max_iterations(0), &four), ErrorKind::InvalidParameter);
    assert_eq!(kind(&propagation.clone().threshold(-0.1), &four), ErrorKind::InvalidParameter);
    assert_eq!(kind(&propagation, &five), ErrorKind::ShapeMismatch);
}

#[test]
fn cancellation_is_asked_for_while_edges_are_joined() {
    let n = 3 * super::OFTEN;
    let network = Network::new(n, (1..n).map(|i| (i - 1, i))).unwrap();
    let member = Partition::from_fn(n, |i| Some(i as u64 / 4)).unwrap();
    let ensemble = Ensemble::new(vec![member.clone(), member]).unwrap();
    let asked = CancelFrom::new(usize::MAX);
    network.co_association(&ensemble, &asked).unwrap();
    let counted = asked.asked();
    let methods: [&dyn ConsensusFunction<Output = Partition>; 3] = [
        &NetworkComponents::new(network.clone()),
        &NetworkLinkage::new(network.clone(), 5),
        &NetworkPropagation::new(network.clone()),
    ];
    for method in methods {
        let asked = CancelFrom::new(usize::MAX);
        method.fit(&ensemble, &asked).unwrap();
        assert!(asked.asked() >= counted + 3, "{}: {}", method.name(), asked.asked());
    }
}
