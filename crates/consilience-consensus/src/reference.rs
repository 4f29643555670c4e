//! The weighted methods straight from their definitions, object by object, and the properties that
//! hold the fast ones equal to them. Test only.

use consilience_conformance::small_worlds;
use consilience_core::scores::{Normalizer, normalized_mutual_information};
use consilience_core::{
    ConsensusFunction, Ensemble, Linkage, MemoryBudget, Microclusters, Partition, Report, Seed,
    Similarity, SimilarityGraph,
};
use consilience_graph::{ClusterIncidence, IncidenceSpectrum, TransferCut, linkage};
use ndarray::{Array2, ArrayView2};
use proptest::prelude::*;

use crate::{
    EnhancedCoAssociation, Hbgf, LocallyWeighted, Lwea, WeightedCoAssociation,
    propagated_cluster_similarity,
};

/// A few labels, many ties: `kinds` different rows for `n` objects, some labels missing.
fn world(seed: u64, n: usize, members: usize, k: usize, missing: f64) -> Ensemble {
    let mut s = Seed(seed).stream();
    let kinds = 1 + n / 2;
    let table: Vec<Vec<i64>> = (0..kinds)
        .map(|_| {
            (0..members)
                .map(|_| if s.uniform() < missing { -1 } else { s.below(k) as i64 })
                .collect()
        })
        .collect();
    let of: Vec<usize> = (0..n).map(|_| s.below(kinds)).collect();
    let members = (0..members)
        .map(|u| {
            Partition::from_labels(&of.iter().map(|&o| table[o][u]).collect::<Vec<_>>()).unwrap()
        })
        .collect();
    Ensemble::new(members).unwrap()
}

fn inside(e: &Ensemble, u: usize, c: usize) -> Vec<usize> {
    (0..e.n_objects()).filter(|&i| e.members()[u].label(i) == Some(c)).collect()
}

/// Mean entropy (bits) inside cluster c of member u of the members that label it.
pub(crate) fn mean_entropy(e: &Ensemble, u: usize, c: usize) -> f64 {
    let objects = inside(e, u, c);
    let (mut sum, mut labelling) = (0.0, 0.0);
    for v in e.members() {
        let labels: Vec<usize> = objects.iter().filter_map(|&i| v.label(i)).collect();
        if labels.is_empty() {
            continue;
        }
        labelling += 1.0;
        for l in 0..v.n_clusters() {
            let p = labels.iter().filter(|&&x| x == l).count() as f64 / labels.len() as f64;
            if p > 0.0 {
                sum -= p * p.log2();
            }
        }
    }
    sum / labelling
}

/// ECI of cluster c of member u.
pub(crate) fn eci(e: &Ensemble, u: usize, c: usize, theta: f64) -> f64 {
    (-mean_entropy(e, u, c) / theta).exp()
}

/// Average over the members that label i and j, of `value(member, label of i, label of j)`
/// weighted.
fn average(
    e: &Ensemble,
    w: &[f64],
    i: usize,
    j: usize,
    value: impl Fn(usize, usize, usize) -> f64,
) -> f64 {
    let (mut sum, mut total) = (0.0, 0.0);
    for (u, p) in e.members().iter().enumerate() {
        if let (Some(a), Some(b)) = (p.label(i), p.label(j)) {
            sum += w[u] * value(u, a, b);
            total += w[u];
        }
    }
    if total > 0.0 { sum / total } else { 0.0 }
}

fn ncai(e: &Ensemble) -> Vec<f64> {
    let m = e.members();
    let cai: Vec<f64> = (0..m.len())
        .map(|u| {
            let nmi: Vec<f64> = (0..m.len())
                .filter(|&v| v != u)
                .filter_map(|v| normalized_mutual_information(&m[u], &m[v], Normalizer::Max).ok())
                .collect();
            if nmi.is_empty() { 0.0 } else { nmi.iter().sum::<f64>() / nmi.len() as f64 }
        })
        .collect();
    let best = cai.iter().fold(0.0f64, |a, &b| a.max(b));
    cai.iter().map(|c| if best > 0.0 { c / best } else { 1.0 }).collect()
}

/// Cosines of the trajectories of clusters, step by step.
pub(crate) fn propagated(e: &Ensemble, steps: usize) -> (Vec<(usize, usize)>, Array2<f64>) {
    let clusters: Vec<(usize, usize)> = e
        .members()
        .iter()
        .enumerate()
        .flat_map(|(u, p)| (0..p.n_clusters()).map(move |c| (u, c)))
        .collect();
    let labelling = e.members().iter().filter(|p| p.n_clusters() > 0).count();
    let c = clusters.len();
    let jaccard = |a: (usize, usize), b: (usize, usize)| {
        let seen = |i: &usize| {
            e.members()[a.0].label(*i).is_some() && e.members()[b.0].label(*i).is_some()
        };
        let (x, y) = (inside(e, a.0, a.1), inside(e, b.0, b.1));
        let common = x.iter().filter(|i| y.contains(i)).count();
        let union = x.iter().copied().filter(seen).count() + y.iter().copied().filter(seen).count()
            - common;
        if common == 0 { 0.0 } else { common as f64 / union as f64 }
    };
    let mut p = Array2::from_shape_fn((c, c), |(i, j)| {
        if i == j && labelling > 2 { 0.0 } else { jaccard(clusters[i], clusters[j]) }
    });
    for mut row in p.rows_mut() {
        let sum = row.sum();
        if sum > 0.0 {
            row /= sum;
        }
    }
    let mut power = Array2::<f64>::eye(c);
    let mut g = Array2::<f64>::zeros((c, c));
    for _ in 0..steps {
        power = power.dot(&p);
        g += &power.dot(&power.t());
    }
    let s = Array2::from_shape_fn((c, c), |(i, j)| {
        let norm = (g[[i, i]] * g[[j, j]]).sqrt();
        if i == j {
            1.0
        } else if norm > 0.0 {
            g[[i, j]] / norm
        } else {
            0.0
        }
    });
    (clusters, s)
}

/// The graph's weight of each two different labelled objects, or those of different nodes alone,
/// against `expected`.
pub(crate) fn compare(
    graph: &SimilarityGraph,
    skip_own: bool,
    within: f64,
    expected: impl Fn(usize, usize) -> f64,
) {
    let node = graph.grouping().of_object();
    for i in 0..node.len() {
        for j in 0..node.len() {
            let labelled = node[i] != u32::MAX && node[j] != u32::MAX;
            if i == j || !labelled || (skip_own && node[i] == node[j]) {
                continue;
            }
            let (found, e) =
                (graph.weights()[[node[i] as usize, node[j] as usize]], expected(i, j));
            assert!((found - e).abs() < within, "objects {i} and {j}: {found}, expected {e}");
        }
    }
}

/// All pairs of members over five objects that label any, with their numbers; one after the other.
pub(crate) fn each_small_world(check: impl Fn(usize, &Ensemble) + Send) {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    pool.install(move || {
        let labelling = |e: &Ensemble| e.members().iter().any(|p| p.n_labelled() > 0);
        for (at, e) in small_worlds(5, 2).in_one_order().enumerate().filter(|(_, e)| labelling(e)) {
            check(at, &e);
        }
    });
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn locally_weighted(
        seed in 0u64..10_000, n in 1usize..16, m in 1usize..5, k in 1usize..4, gaps: bool,
    ) {
        let e = world(seed, n, m, k, if gaps { 0.3 } else { 0.0 });
        let graph = LocallyWeighted::default().entropy_scale(0.7).similarity(&e).unwrap();
        compare(&graph, false, 1e-10, |i, j| {
            let weight = |u, a, b| if a == b { eci(&e, u, a, 0.7) } else { 0.0 };
            average(&e, &vec![1.0; m], i, j, weight)
        });
    }

    #[test]
    fn crowd_weighted(
        seed in 0u64..10_000, n in 1usize..16, m in 1usize..5, k in 1usize..4, gaps: bool,
    ) {
        let e = world(seed, n, m, k, if gaps { 0.3 } else { 0.0 });
        let w: Vec<f64> = ncai(&e).iter().map(|c| c.powf(1.5)).collect();
        let similarity = WeightedCoAssociation::default().agreement_exponent(1.5);
        let graph = similarity.similarity(&e).unwrap();
        // Weights of rounding size only: nothing to compare.
        prop_assume!(w.iter().all(|&w| w == 0.0 || w > 1e-6));
        compare(&graph, true, 1e-10, |i, j| average(&e, &w, i, j, |_, a, b| f64::from(a == b)));
    }

    #[test]
    fn enhanced(
        seed in 0u64..10_000, n in 1usize..16, m in 1usize..5, k in 1usize..4, gaps: bool,
        steps in 1usize..9,
    ) {
        let e = world(seed, n, m, k, if gaps { 0.3 } else { 0.0 });
        let (clusters, s) = propagated(&e, steps);
        let graph = EnhancedCoAssociation::default().steps(steps).similarity(&e).unwrap();
        let at = |u, c| clusters.iter().position(|&x| x == (u, c)).unwrap();
        compare(&graph, false, 1e-10, |i, j| {
            average(&e, &vec![1.0; m], i, j, |u, a, b| s[[at(u, a), at(u, b)]])
        });
    }

    #[test]
    fn spectra_of_microclusters_and_objects(
        seed in 0u64..10_000, n in 2usize..40, m in 1usize..5, gaps: bool,
    ) {
        let e = world(seed, n, m, 3, if gaps { 0.3 } else { 0.0 });
        let (few, all) = (Microclusters::of(&e).unwrap(), Microclusters::each_object(&e).unwrap());
        prop_assume!(few.n_nodes() > 0);
        let (a, b) = (ClusterIncidence::of(&few).unwrap(), ClusterIncidence::of(&all).unwrap());
        let w: Vec<f64> = (0..a.n_clusters()).map(|c| 0.2 + (c % 5) as f64).collect();
        let c = w.len();
        let x = IncidenceSpectrum::of(&a, &w, c, &()).unwrap();
        let y = IncidenceSpectrum::of(&b, &w, c, &()).unwrap();
        for (v, u) in x.values.iter().zip(&y.values) {
            prop_assert!((v - u).abs() < 1e-10);
        }
        prop_assert!((x.values[0] - 1.0).abs() < 1e-10);
        // Inner products of rows do not depend on the choice of eigenvectors.
        let gram = |r: ArrayView2<'_, f64>| r.dot(&r.t());
        let (p, q) = (gram(x.rows(&a, c).unwrap().view()), gram(y.rows(&b, c).unwrap().view()));
        let (of_few, of_all) = (few.grouping().of_object(), all.grouping().of_object());
        for i in (0..n).filter(|&i| of_few[i] != u32::MAX) {
            for j in (0..n).filter(|&j| of_few[j] != u32::MAX) {
                let (v, u) = (
                    p[[of_few[i] as usize, of_few[j] as usize]],
                    q[[of_all[i] as usize, of_all[j] as usize]],
                );
                prop_assert!((v - u).abs() < 1e-9, "{v} {u}");
            }
        }
        // X X' from the definition.
        let degree = |i: usize| a.clusters_of(i).iter().map(|&c| w[c as usize]).sum::<f64>();
        for i in 0..a.n_rows() {
            for j in 0..a.n_rows() {
                let common = a.clusters_of(i).iter().filter(|c| a.clusters_of(j).contains(c));
                let sum: f64 = common.map(|&c| w[c as usize] / a.objects()[c as usize]).sum();
                prop_assert!((p[[i, j]] - sum / (degree(i) * degree(j)).sqrt()).abs() < 1e-9);
            }
        }
    }
}

/// Three blocks of sizes 40, 30, 20 under ten members that misplace one object in ten.
fn planted(seed: u64) -> Ensemble {
    let mut s = Seed(seed).stream();
    let members = (0..10)
        .map(|_| {
            let labels: Vec<u64> = (0..90)
                .map(|i| {
                    if s.uniform() < 0.1 {
                        s.below(3) as u64
                    } else {
                        u64::from(i >= 40) + u64::from(i >= 70)
                    }
                })
                .collect();
            Partition::from_labels(&labels).unwrap()
        })
        .collect();
    Ensemble::new(members).unwrap()
}

#[test]
fn hbgf_on_objects_is_hbgf_on_microclusters() {
    for seed in 0..5 {
        let e = planted(seed);
        let all = Microclusters::each_object(&e).unwrap();
        let incidence = ClusterIncidence::of(&all).unwrap();
        let weights = vec![1.0; incidence.n_clusters()];
        let cut = TransferCut::new(3).restarts(5).fit_incidence(&incidence, &weights, &()).unwrap();
        let of_objects = all.grouping().expand(&cut.output).unwrap();
        let collapsed = Hbgf::new(3).restarts(5).fit(&e, &()).unwrap();
        assert_eq!(collapsed.output, of_objects);
        let (a, b) = (collapsed.report.objective.unwrap(), cut.report.objective.unwrap());
        assert!((a - b).abs() < 1e-9 * b, "{a} {b}");
        // And the dense transfer cut of the objects' B agrees.
        let b = Array2::from_shape_fn((90, incidence.n_clusters()), |(i, c)| {
            f64::from(incidence.clusters_of(i).contains(&(c as u32)))
        });
        let dense = TransferCut::new(3).restarts(5).partition(b.view()).unwrap();
        assert_eq!(all.grouping().expand(&dense).unwrap(), of_objects);
    }
}

#[test]
fn lwea_on_objects_is_lwea_on_microclusters() {
    for seed in 0..5 {
        let e = planted(seed);
        let m = Microclusters::each_object(&e).unwrap();
        let s = LocallyWeighted::default().between(&m, &mut Report::default(), &()).unwrap();
        let d = s.weights().mapv(|s| 1.0 - s);
        let tree = linkage(d, &[1.0; 90], Linkage::Average, &()).unwrap();
        for k in 1..8 {
            let expected = m.grouping().expand(&tree.cut(k).unwrap()).unwrap();
            assert_eq!(Lwea::new(k).consensus(&e).unwrap(), expected, "{k} clusters");
        }
    }
}

#[test]
fn clusters_without_links_are_like_none() {
    let e = Ensemble::new(vec![Partition::from_labels(&[0, 0, 1]).unwrap()]).unwrap();
    let incidence = ClusterIncidence::of(&Microclusters::of(&e).unwrap()).unwrap();
    let s = propagated_cluster_similarity(&incidence, 3, MemoryBudget::default(), &()).unwrap();
    assert_eq!(s, Array2::<f64>::eye(2));
}
