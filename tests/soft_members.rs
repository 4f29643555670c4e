//! Members that give memberships and members that count more or less than others: what methods find
//! is what the definitions say of the objects, one by one.

use consilience::bregman::PairEvidence;
use consilience::catalogue::{self, AnyConsensus, Settings};
use consilience::conformance::planted;
use consilience::consensus::LocallyWeighted;
use consilience::graph::{
    Agglomeration, ClusterIncidence, CoAssociation, IncidenceSpectrum, Linked, Network,
};
use consilience::ndarray::{Array2, Axis};
use consilience::num::eigen::symmetric_eigen;
use consilience::prelude::*;
use consilience::{
    Ensemble, Linkage, Member, MemoryBudget, Microclusters, Partition, Seed, SparseMemberships,
    scores,
};

/// Methods that read memberships, and those of them that also take weights.
const SOFT: [&str; 15] = [
    "eac-al",
    "weac-al",
    "lwea",
    "ecpcs-hc",
    "ecpcs-mc",
    "cspa",
    "mcla",
    "hbgf",
    "lwgp",
    "pta-al",
    "ptgp",
    "diffusion",
    "voting",
    "least-squares",
    "pcc-kl",
];
const NO_WEIGHTS: [&str; 3] = ["ecpcs-hc", "ecpcs-mc", "mcla"];

struct World {
    ensemble: Ensemble,
    truth: Partition,
}

/// A planted world in which every second member gives memberships, in sixteenths.
fn world(seed: u64, noise: f64, missing: f64) -> World {
    let planted = planted(Seed(seed), &[12, 9, 7], 10, noise, missing).unwrap();
    let mut s = Seed(seed).derive("memberships", 0).stream();
    let members = planted.ensemble.members().iter().enumerate().map(|(u, labels)| {
        if u % 2 == 0 {
            return Member::from(labels.clone());
        }
        let k = labels.n_clusters();
        let mut values = Array2::zeros((labels.n_objects(), k));
        for (mut row, label) in values.rows_mut().into_iter().zip(labels.iter()) {
            let Some(label) = label else { continue };
            let away = s.below(7) as f64 / 16.0;
            row[label] += 1.0 - away;
            row[s.below(k)] += away;
        }
        SparseMemberships::from_array(values.view()).unwrap().into()
    });
    World { ensemble: Ensemble::mixed(members).unwrap(), truth: planted.truth }
}

fn worlds() -> Vec<World> {
    [(1, 0.1, 0.0), (2, 0.2, 0.0), (3, 0.1, 0.2)].map(|(s, n, m)| world(s, n, m)).into()
}

fn method(name: &str, k: usize) -> AnyConsensus {
    catalogue::by_name(name).unwrap().build(&Settings::new(k)).unwrap()
}

fn found(name: &str, e: &Ensemble) -> Partition {
    method(name, 3).consensus(e).unwrap()
}

/// The memberships of object i in each member, `None` without evidence; and the member's weight.
fn rows(e: &Ensemble, i: usize) -> Vec<(Option<Vec<f64>>, f64)> {
    (0..e.n_members())
        .map(|u| {
            let labels = &e.members()[u];
            let row = labels.label(i).map(|label| match e.soft(u) {
                Some(soft) => {
                    let mut row = vec![0.0; soft.n_clusters()];
                    let (clusters, shares) = soft.row(i);
                    clusters.iter().zip(shares).for_each(|(&c, &p)| row[c as usize] = p);
                    row
                }
                None => (0..labels.n_clusters()).map(|c| f64::from(u8::from(c == label))).collect(),
            });
            (row, e.weights().map_or(1.0, |w| w[u]))
        })
        .collect()
}

/// (c, N) of two objects, where cluster c of member u has weight `of(u, c)`.
fn counts(e: &Ensemble, i: usize, j: usize, of: impl Fn(usize, usize) -> f64) -> (f64, f64) {
    let mut out = (0.0, 0.0);
    for (u, ((a, w), (b, _))) in rows(e, i).into_iter().zip(rows(e, j)).enumerate() {
        let (Some(a), Some(b)) = (a, b) else { continue };
        out.1 += w;
        out.0 += w * (0..a.len()).map(|c| of(u, c) * a[c] * b[c]).sum::<f64>();
    }
    out
}

/// exp(-H_c / 0.4) of each cluster of each member, from the objects.
fn cluster_index(e: &Ensemble) -> Vec<Vec<f64>> {
    let objects: Vec<_> = (0..e.n_objects()).map(|i| rows(e, i)).collect();
    let width = |u: usize| objects.iter().find_map(|o| o[u].0.as_ref().map(Vec::len)).unwrap_or(0);
    let one = |u: usize, c: usize| {
        let (mut sum, mut members) = (0.0, 0.0);
        for v in 0..e.n_members() {
            let mut shared = vec![0.0; width(v)];
            for o in &objects {
                let (Some(p), Some(q)) = (&o[u].0, &o[v].0) else { continue };
                shared.iter_mut().zip(q).for_each(|(s, q)| *s += p[c] * q);
            }
            let all: f64 = shared.iter().sum();
            let weight = objects[0][v].1;
            if all > 0.0 {
                let entropy = |&x: &f64| if x > 0.0 { -x / all * (x / all).log2() } else { 0.0 };
                sum += weight * shared.iter().map(entropy).sum::<f64>();
                members += weight;
            }
        }
        (-sum / members / 0.4f64).exp()
    };
    (0..e.n_members()).map(|u| (0..width(u)).map(|c| one(u, c)).collect()).collect()
}

fn weighted(e: &Ensemble) -> Ensemble {
    let weights: Vec<f64> = (0..e.n_members()).map(|u| [1.0, 2.5, 0.0, 3.0][u % 4]).collect();
    e.clone().with_weights(weights).unwrap()
}

/// Compares a table over microclusters with a ratio over their objects.
fn same(
    e: &Ensemble,
    table: impl Fn(usize, usize) -> f64,
    naive: impl Fn(usize, usize) -> (f64, f64),
) {
    let of = Microclusters::of(e).unwrap().grouping().of_object().to_vec();
    let n = e.n_objects();
    for (i, j) in (0..n).flat_map(|i| (0..n).map(move |j| (i, j))).filter(|(i, j)| i != j) {
        let (c, both) = naive(i, j);
        let expected = if both > 0.0 { c / both } else { 0.0 };
        let found = table(of[i] as usize, of[j] as usize);
        assert!((found - expected).abs() < 1e-12, "{i} {j}: {found} {expected}");
    }
}

#[test]
fn co_association_and_pair_counts_are_those_of_the_objects() {
    for World { ensemble, .. } in worlds() {
        for e in [weighted(&ensemble), ensemble] {
            let graph = CoAssociation::default().similarity(&e).unwrap();
            same(&e, |a, b| graph.weights()[[a, b]], |i, j| counts(&e, i, j, |_, _| 1.0));
            let nodes = Microclusters::of(&e).unwrap();
            let budget = MemoryBudget::default();
            let all = PairEvidence::all(&nodes, budget).unwrap();
            let some = PairEvidence::sampled(&nodes, 1.0, Seed(0), budget).unwrap();
            for a in 0..nodes.n_nodes() {
                for ((j, c, n), (k, d, m)) in all.row(a).into_iter().zip(some.row(a)) {
                    assert_eq!((j, nodes.agreement(a, j).1), (k, n));
                    assert!((c - nodes.agreement(a, j).0).abs() < 1e-12);
                    assert!((c - d).abs() < 1e-12 && n == m);
                }
                assert_eq!(all.row(a).len(), some.row(a).len());
            }
            let pair = |a, b| nodes.agreement(a, b).0 / nodes.agreement(a, b).1.max(1e-9);
            same(&e, pair, |i, j| counts(&e, i, j, |_, _| 1.0));
        }
    }
}

#[test]
fn edges_of_a_network_agree_as_the_objects_do() {
    for World { ensemble, .. } in worlds() {
        let n = ensemble.n_objects();
        let edges = (0..n).flat_map(|i| (1..4).map(move |d| (i, (i + d) % n)));
        let network = Network::new(n, edges).unwrap();
        for e in [weighted(&ensemble), ensemble] {
            let shares = network.co_association(&e, &()).unwrap();
            for ((i, j), share) in network.edges().zip(shares) {
                let (c, both) = counts(&e, i, j, |_, _| 1.0);
                let expected = if both > 0.0 { c / both } else { 0.0 };
                assert!((share - expected).abs() < 1e-12, "{i} {j}: {share} {expected}");
            }
        }
    }
}

#[test]
fn local_weights_are_those_of_the_objects() {
    for World { ensemble, .. } in worlds() {
        for e in [weighted(&ensemble), ensemble] {
            let index = cluster_index(&e);
            let graph = LocallyWeighted::default().similarity(&e).unwrap();
            same(&e, |a, b| graph.weights()[[a, b]], |i, j| counts(&e, i, j, |u, c| index[u][c]));
        }
    }
}

/// Average linkage without the matrix has the heights of average linkage on it.
#[test]
fn trees_without_the_matrix() {
    for World { ensemble, .. } in worlds().into_iter().take(2) {
        let heights = |tree: consilience::Dendrogram| -> Vec<f64> {
            tree.merges().iter().map(|m| m.height).collect()
        };
        let graph = CoAssociation::default().similarity(&ensemble).unwrap();
        let full = Agglomeration::new(Linkage::Average, 1).dendrogram(graph, &()).unwrap();
        let tree = Linked::new(CoAssociation::default(), 1).dendrogram(&ensemble, &()).unwrap().1;
        for (a, b) in heights(full).into_iter().zip(heights(tree)) {
            assert!((a - b).abs() < 1e-9, "{a} {b}");
        }
    }
}

/// The spectrum of the incidence is that of the dense matrix of objects and clusters.
#[test]
fn the_spectrum_is_that_of_the_objects() {
    for World { ensemble: e, .. } in worlds() {
        let nodes = Microclusters::of(&e).unwrap();
        let incidence = ClusterIncidence::of(&nodes).unwrap();
        let c = incidence.n_clusters();
        let weights: Vec<f64> = (0..c).map(|j| 1.0 + (j % 3) as f64).collect();
        let found = IncidenceSpectrum::of(&incidence, &weights, c, &()).unwrap();
        let mut x = Array2::zeros((e.n_objects(), c));
        for i in 0..e.n_objects() {
            let row = rows(&e, i).into_iter().enumerate().flat_map(|(u, (row, _))| {
                let k = incidence.clusters_of_member(u).len();
                row.unwrap_or(vec![0.0; k])
            });
            x.row_mut(i).iter_mut().zip(row).zip(&weights).for_each(|((x, p), w)| *x = w * p);
        }
        let (rows, columns) = (x.sum_axis(Axis(1)), x.sum_axis(Axis(0)));
        for ((i, j), v) in x.indexed_iter_mut() {
            *v /= (rows[i].max(1e-300) * columns[j]).sqrt();
        }
        let exact = symmetric_eigen(x.t().dot(&x).view()).unwrap().values;
        assert!((exact[0] - 1.0).abs() < 1e-9);
        for (a, b) in found.values.iter().zip(&exact) {
            assert!((a - b).abs() < 1e-9, "{a} {b}");
        }
    }
}

#[test]
fn zeros_and_ones_are_labels() {
    let labels = planted(Seed(5), &[9, 7], 6, 0.2, 0.2).unwrap().ensemble;
    let soft = labels.members().iter().map(|p| {
        let mut values = Array2::zeros((p.n_objects(), p.n_clusters() + 1));
        let known = p.iter().enumerate().filter_map(|(i, l)| Some((i, l?)));
        // In another order, and with a cluster that nobody belongs to.
        known.for_each(|(i, l)| values[[i, p.n_clusters() - l]] = 1.0);
        SparseMemberships::from_array(values.view()).unwrap().into()
    });
    assert_eq!(Ensemble::mixed(soft).unwrap(), labels);
}

#[test]
fn methods_take_memberships_or_say_so() {
    let World { ensemble, truth } = world(1, 0.1, 0.0);
    for method in catalogue::methods() {
        let name = method.name();
        let built = method.build(&Settings::new(3)).unwrap();
        match built.consensus(&ensemble) {
            Ok(found) => {
                let ari = scores::adjusted_rand(&found, &truth).unwrap();
                assert!(ari > 0.85, "{name}: {ari}");
            }
            Err(e) => {
                assert!(e.message().contains("takes labels, member 1 gives"), "{name}: {e}");
                assert!(!SOFT.contains(&name), "{name}: {e}");
                assert!(built.consensus(&ensemble.hardened()).is_ok(), "{name}");
            }
        }
    }
}

#[test]
fn rows_may_stand_for_many() {
    for World { ensemble, .. } in worlds() {
        let n = ensemble.n_objects();
        let counts: Vec<u64> = (0..n).map(|i| 1 + (i * 7 % 4) as u64).collect();
        let row_of: Vec<usize> =
            (0..n).flat_map(|i| std::iter::repeat_n(i, counts[i] as usize)).collect();
        let repeated = ensemble.select_objects(&row_of).unwrap();
        let counted = ensemble.with_counts(counts).unwrap();
        for name in SOFT {
            let rows = found(name, &counted).select(&row_of).unwrap();
            assert_eq!(found(name, &repeated), rows, "{name}");
        }
    }
}

#[test]
fn neither_threads_nor_the_order_of_members_leave_a_trace() {
    for World { ensemble, .. } in worlds() {
        let order: Vec<usize> = (0..ensemble.n_members()).map(|u| (u * 7 + 3) % 10).collect();
        let permuted = ensemble.select(&order).unwrap();
        for name in SOFT {
            let expected = found(name, &ensemble);
            assert_eq!(found(name, &permuted), expected, "{name}");
            for threads in [1, 3] {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                assert_eq!(pool.install(|| found(name, &ensemble)), expected, "{name}");
            }
        }
    }
}

/// Eight members of one clustering and five of another, which count four times as much.
#[test]
fn weights_decide_between_two_clusterings() {
    let of = |seed, m| planted(Seed(seed), &[12, 9, 7], m, 0.1, 0.0).unwrap();
    let (light, heavy) = (of(1, 8), of(2, 5));
    let ari = |p: &Partition, t: &Partition| scores::adjusted_rand(p, t).unwrap();
    assert!(ari(&light.truth, &heavy.truth) < 0.3);
    let members = light.ensemble.members().iter().chain(heavy.ensemble.members()).cloned();
    let even = Ensemble::new(members.collect()).unwrap();
    let weighed = even.clone().with_weights([vec![1.0; 8], vec![4.0; 5]].concat()).unwrap();
    let (mut tried, mut failed) = (0, Vec::new());
    for method in catalogue::methods() {
        let run = method.build(&Settings::new(3)).unwrap();
        let Ok(found) = run.consensus(&weighed) else { continue };
        let plain = run.consensus(&even).unwrap();
        let lead = |p: &Partition| ari(p, &heavy.truth) - ari(p, &light.truth);
        tried += 1;
        if lead(&plain) > -0.2 || lead(&found) < 0.2 {
            failed.push(format!("{} {:.2} {:.2}", method.name(), lead(&plain), lead(&found)));
        }
    }
    assert!(tried >= 14, "{tried}");
    assert!(failed.is_empty(), "{failed:?}");
}

/// Weight 2 is the member twice, weight 0 the member left out, of labels and of memberships.
#[test]
fn weights_are_repetitions() {
    for World { ensemble, truth } in worlds() {
        let m = ensemble.n_members();
        for e in [ensemble.hardened(), ensemble] {
            let doubled: Vec<f64> = (0..m).map(|u| [1.0, 2.0, 2.0][u % 3]).collect();
            let twice: Vec<usize> =
                (0..m).flat_map(|u| std::iter::repeat_n(u, doubled[u] as usize)).collect();
            let some: Vec<f64> = (0..m).map(|u| f64::from(u8::from(u % 4 != 1))).collect();
            let rest: Vec<usize> = (0..m).filter(|u| u % 4 != 1).collect();
            let (twice, rest) = (e.select(&twice).unwrap(), e.select(&rest).unwrap());
            let doubled = e.clone().with_weights(doubled).unwrap();
            let some = e.clone().with_weights(some).unwrap();
            let table = |e| CoAssociation::default().similarity(e).unwrap().weights().to_owned();
            if e.is_soft() {
                assert!((table(&doubled) - table(&twice)).iter().all(|d| d.abs() < 1e-14));
            } else {
                assert_eq!(table(&doubled), table(&twice));
            }
            for name in SOFT.into_iter().chain(["hgpa", "qmi"]) {
                if NO_WEIGHTS.contains(&name) {
                    let e = method(name, 3).consensus(&doubled).unwrap_err();
                    assert!(e.message().contains("takes no weights of members"), "{e}");
                    assert_eq!(found(name, &some), found(name, &rest), "{name}");
                    continue;
                }
                if name == "hgpa" && e.is_soft() {
                    continue;
                }
                // Random starts may differ, since the members are other ones in number.
                let (a, b) = (found(name, &doubled), found(name, &twice));
                let ari = |p| scores::adjusted_rand(p, &truth).unwrap();
                assert!((ari(&a) - ari(&b)).abs() < 0.1, "{name}: {} {}", ari(&a), ari(&b));
                if ["eac-al", "weac-al", "lwea", "pta-al", "voting"].contains(&name) {
                    assert_eq!(a, b, "{name}");
                }
                assert_eq!(found(name, &some), found(name, &rest), "{name}");
            }
        }
    }
}

/// Weights of 0 and 1 leave members out, for methods without a meaning for weights too.
#[test]
fn every_method_leaves_members_out() {
    let World { ensemble, .. } = world(2, 0.1, 0.1);
    let labels = ensemble.hardened();
    let weights: Vec<f64> = (0..labels.n_members()).map(|u| f64::from(u8::from(u > 2))).collect();
    let rest: Vec<usize> = (3..labels.n_members()).collect();
    let rest = labels.select(&rest).unwrap();
    let chosen = labels.with_weights(weights).unwrap();
    for method in catalogue::methods() {
        let built = method.build(&Settings::new(3)).unwrap();
        assert_eq!(built.consensus(&chosen), built.consensus(&rest), "{}", method.name());
    }
}

/// Members with structure, with labels missing, and with none, so that starts and ties decide.
fn unit_worlds() -> Vec<Ensemble> {
    let planted =
        |seed, missing| planted(Seed(seed), &[14, 11, 8, 5], 10, 0.3, missing).unwrap().ensemble;
    let mut s = Seed(6).derive("noise", 0).stream();
    let noise = (0..8).map(|_| {
        let labels: Vec<usize> = (0..40).map(|_| s.below(3)).collect();
        Partition::from_labels(&labels).unwrap()
    });
    let noise = Ensemble::new(noise.collect()).unwrap();
    vec![planted(8, 0.0), planted(9, 0.2), noise]
}

/// What the weights of all members have in common means nothing: equal ones change no label, and
/// others give the same labels in any unit. Every method of the catalogue either takes weights or
/// refuses all but 0 and 1; WEAC compares a member with its copies, so that there the unit counts.
#[test]
fn the_unit_of_weights_leaves_no_trace() {
    let mut taken = 0;
    for ensemble in unit_worlds() {
        let m = ensemble.n_members();
        let own: Vec<f64> = (0..m).map(|u| [1.0, 2.0, 1.0, 3.0, 1.7, 0.4][u % 6]).collect();
        for method in catalogue::methods().iter().filter(|method| method.name() != "weac-al") {
            let name = method.name();
            let built = method.build(&Settings::new(4)).unwrap();
            let of = |weights: Vec<f64>| {
                built.consensus(&ensemble.clone().with_weights(weights).unwrap())
            };
            let plain = built.consensus(&ensemble).unwrap();
            let weighed = match of(own.clone()) {
                Ok(weighed) => weighed,
                Err(e) => {
                    assert!(e.message().contains("takes no weights of members"), "{name}: {e}");
                    continue;
                }
            };
            taken += 1;
            for by in [2.0, 3.0, 0.7] {
                assert_eq!(of(vec![by; m]).unwrap(), plain, "{name}: all weights {by}");
                let times = own.iter().map(|w| w * by).collect();
                assert_eq!(of(times).unwrap(), weighed, "{name}: weights times {by}");
            }
        }
    }
    assert!(taken >= 3 * 16, "{taken}");
}

/// Whatever weights are allowed, in a unit of one's own they are as well.
#[test]
fn weights_may_be_far_apart() {
    let ensemble = unit_worlds().into_iter().next().unwrap();
    for far in [[0.5, 1e9, 1.0], [1e-9, 1e9, 1.0], [1e-3, 1e9, 7.5]] {
        let weights: Vec<f64> = (0..ensemble.n_members()).map(|u| far[u % 3]).collect();
        let ensemble = ensemble.clone().with_weights(weights).unwrap();
        for method in catalogue::methods() {
            let built = method.build(&Settings::new(4)).unwrap();
            if let Err(e) = built.consensus(&ensemble) {
                let told = e.message().contains("takes no weights of members");
                assert!(told, "{}: {e}", method.name());
            }
        }
    }
}

/// Memberships too: those of a member that counts twice as much weigh the same in any unit.
#[test]
fn the_unit_of_weights_leaves_no_trace_in_memberships() {
    for World { ensemble, .. } in worlds().into_iter().take(2) {
        let m = ensemble.n_members();
        let own: Vec<f64> = (0..m).map(|u| [1.0, 2.5, 0.5][u % 3]).collect();
        let weighing = |name: &&str| !NO_WEIGHTS.contains(name) && *name != "weac-al";
        for name in SOFT.into_iter().filter(weighing) {
            let of = |by: f64| {
                let weights: Vec<f64> = own.iter().map(|w| w * by).collect();
                found(name, &ensemble.clone().with_weights(weights).unwrap())
            };
            let weighed = of(1.0);
            for by in [2.0, 3.0, 0.7] {
                assert_eq!(of(by), weighed, "{name}: weights times {by}");
            }
        }
    }
}
