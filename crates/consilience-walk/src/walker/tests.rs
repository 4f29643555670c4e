use consilience_conformance::{CancelFrom, planted, small_worlds};
use consilience_core::{ConsensusFunction, ErrorKind, Grouping, Seed};
use ndarray::Array2;

use super::*;

/// Arrival probabilities by Gauss elimination on the whole Laplacian, marked rows replaced by their
/// certainty; `None` where some node reaches no seed.
fn naive(w: &Array2<f64>, group: &[usize], marked: &[bool], k: usize) -> Option<Array2<f64>> {
    let n = w.nrows();
    let mut system = Array2::<f64>::zeros((n, n + k));
    for i in 0..n {
        if marked[i] {
            system[[i, i]] = 1.0;
            system[[i, n + group[i]]] = 1.0;
        } else {
            for j in (0..n).filter(|&j| j != i) {
                system[[i, j]] -= w[[i, j]];
                system[[i, i]] += w[[i, j]];
            }
        }
    }
    for p in 0..n {
        let pivot =
            (p..n).max_by(|&a, &b| system[[a, p]].abs().total_cmp(&system[[b, p]].abs()))?;
        if system[[pivot, p]].abs() < 1e-14 {
            return None;
        }
        for c in 0..n + k {
            system.swap([p, c], [pivot, c]);
        }
        for r in (0..n).filter(|&r| r != p) {
            let factor = system[[r, p]] / system[[p, p]];
            for c in 0..n + k {
                let x = system[[p, c]];
                system[[r, c]] -= factor * x;
            }
        }
    }
    Some(Array2::from_shape_fn((n, k), |(i, c)| system[[i, n + c]] / system[[i, i]]))
}

#[test]
fn walks_on_microclusters_equal_walks_on_objects() {
    let (mut compared, mut walked) = (0, 0);
    let noisy = [(1, 0.0), (2, 0.3), (3, 0.0), (4, 0.5)].map(|(seed, missing)| {
        planted(Seed(seed), &[14, 10, 6], 5, 0.2, missing).unwrap().ensemble
    });
    for ensemble in small_worlds(4, 2).chain(noisy) {
        let walker = RandomWalker::new(2).neighbours(3).link_preference(3.0);
        let m = Microclusters::of(&ensemble).unwrap();
        let node = m.grouping().of_object();
        if node.contains(&Grouping::NONE) {
            continue;
        }
        let arrivals = walker.walk(&m, &mut Report::default(), &()).unwrap();
        // The graph of all objects: equal ones are linked by a = 1, others by the links of their
        // microclusters.
        let a = CoAssociation::default().between(&m, &mut Report::default(), &()).unwrap();
        let kept = links(&a, 3, 3.0, &()).unwrap();
        let n = node.len();
        let w = Array2::from_shape_fn((n, n), |(i, j)| {
            let (g, h) = (node[i], node[j]);
            if g == h {
                return f64::from(u8::from(i != j));
            }
            let (others, _) = kept.row(g as usize);
            if others.contains(&h) {
                (-3.0 * (1.0 - a.weights()[[g as usize, h as usize]])).exp()
            } else {
                0.0
            }
        });
        let seeds = Seeds::find(&a, Clusters::Fixed(2), &()).unwrap();
        let group: Vec<usize> = node.iter().map(|&g| seeds.group[g as usize]).collect();
        let marked: Vec<bool> = node.iter().map(|&g| seeds.marked[g as usize]).collect();
        walked += usize::from(marked.contains(&false));
        let Some(expected) = naive(&w, &group, &marked, seeds.count) else { continue };
        compared += 1;
        for i in 0..n {
            for c in 0..seeds.count {
                let found = arrivals.chance[[node[i] as usize, c]];
                assert!((found - expected[[i, c]]).abs() < 1e-9, "{found} {}", expected[[i, c]]);
            }
        }
    }
    assert!(compared > 500 && walked > 50, "{compared} {walked}");
}

#[test]
fn seeds_are_the_best_supported_half_of_each_group() {
    for (seed, missing) in [(1, 0.0), (2, 0.3), (3, 0.1)] {
        let ensemble = planted(Seed(seed), &[20, 12, 7], 6, 0.3, missing).unwrap().ensemble;
        let graph = CoAssociation::default().similarity(&ensemble).unwrap();
        let seeds = Seeds::find(&graph, Clusters::Fixed(3), &()).unwrap();
        let (a, sizes) = (graph.weights(), graph.grouping().sizes());
        assert_eq!(seeds.count, 3);
        for g in 0..seeds.count {
            let own: Vec<usize> = (0..a.nrows()).filter(|&i| seeds.group[i] == g).collect();
            let support = |i: usize| own.iter().map(|&j| sizes[j] as f64 * a[[i, j]]).sum::<f64>();
            let holding = |least: f64| {
                let held = own.iter().filter(|&&i| support(i) >= least * (1.0 - 1e-9));
                held.map(|&i| sizes[i]).sum::<u64>()
            };
            // The highest support at which half of the objects are held, all that tie included.
            let all: u64 = own.iter().map(|&i| sizes[i]).sum();
            let enough = own.iter().map(|&i| support(i)).filter(|&s| 2 * holding(s) >= all);
            let least = enough.fold(0.0, f64::max) * (1.0 - 1e-9);
            assert!(own.iter().all(|&i| seeds.marked[i] == (support(i) >= least)), "{seed} {g}");
        }
        assert!(seeds.marked.contains(&false));
    }
}

#[test]
fn links_are_mutual_and_few() {
    let ensemble = planted(Seed(5), &[30, 20], 8, 0.3, 0.0).unwrap().ensemble;
    let a = CoAssociation::default().similarity(&ensemble).unwrap();
    for k in [1, 3, 1000] {
        let kept = links(&a, k, 10.0, &()).unwrap();
        for i in 0..kept.n_rows() {
            for (j, w) in kept.entries(i) {
                assert!(kept.entries(j).any(|mirrored| mirrored == (i, w)));
            }
            // The K strongest are there.
            let stronger = |t: f64| {
                (0..a.weights().nrows()).filter(|&j| j != i && a.weights()[[i, j]] > t).count()
            };
            for j in (0..a.weights().nrows()).filter(|&j| j != i && a.weights()[[i, j]] > 0.0) {
                if stronger(a.weights()[[i, j]]) < k {
                    assert!(kept.entries(i).any(|(other, _)| other == j));
                }
            }
        }
    }
}

#[test]
fn parameters_are_checked() {
    let ensemble = planted(Seed(5), &[5, 3], 3, 0.1, 0.0).unwrap().ensemble;
    let bad = [
        RandomWalker::new(0),
        RandomWalker::new(9),
        RandomWalker::new(2).neighbours(0),
        RandomWalker::new(2).link_preference(f64::NAN),
        RandomWalker::new(2).link_preference(-1.0),
        RandomWalker::new(2).link_preference(f64::INFINITY),
    ];
    for walker in bad {
        assert_eq!(walker.consensus(&ensemble).unwrap_err().kind(), ErrorKind::InvalidParameter);
        assert_eq!(
            walker.soft().consensus(&ensemble).unwrap_err().kind(),
            ErrorKind::InvalidParameter
        );
    }
    let walker = RandomWalker::new(2);
    assert_eq!(NodeConsensus::name(&walker.soft()), NodeConsensus::name(&walker));
    let small = RandomWalker::new(2).memory_budget(MemoryBudget::bytes(8));
    assert_eq!(small.consensus(&ensemble).unwrap_err().kind(), ErrorKind::TooLarge);
}

#[test]
fn weak_links_do_not_break_the_walk() {
    // exp(-1000 (1 - a)) is 0 for all but equal rows.
    let ensemble = planted(Seed(6), &[12, 9, 5], 6, 0.3, 0.2).unwrap().ensemble;
    let found = RandomWalker::new(3).link_preference(1000.0).consensus(&ensemble).unwrap();
    assert_eq!(found.n_clusters(), 3);
    let soft = RandomWalker::new(3).link_preference(1000.0).soft().consensus(&ensemble).unwrap();
    assert_eq!(soft.hard().unwrap().n_labelled(), 26);
}

#[test]
fn on_a_path_the_chance_falls_evenly_with_the_way() {
    // 0 - 1 - ... - 59, a seed at either end: from i the walk ends at 59 with probability i / 59.
    let last = 59;
    let neighbours = |i: u32| match i {
        0 => vec![(1, 1.0)],
        59 => vec![(58, 1.0)],
        _ => vec![(i - 1, 1.0), (i + 1, 1.0)],
    };
    let links = Csr::from_rows(last + 1, (0..=last as u32).map(neighbours));
    let seeds = Seeds {
        count: 2,
        group: (0..=last).map(|i| usize::from(i > 30)).collect(),
        marked: (0..=last).map(|i| i == 0 || i == last).collect(),
    };
    let walked = solve::arrivals(&links, &seeds, &()).unwrap();
    for i in 0..=last {
        let expected = i as f64 / last as f64;
        assert!((walked.chance[[i, 1]] - expected).abs() < 1e-9, "{i}: {}", walked.chance[[i, 1]]);
        assert!((walked.chance.row(i).sum() - 1.0).abs() < 1e-12);
    }
    // Conjugate directions reach 58 unknowns in 58 steps, but for rounding.
    assert!(walked.converged && walked.iterations <= 70, "{}", walked.iterations);

    // However light the links are: only their proportions count.
    let light = |i: u32| neighbours(i).into_iter().map(|(j, w)| (j, w * 1e-250)).collect();
    let links = Csr::from_rows(last + 1, (0..=last as u32).map(light).collect::<Vec<Vec<_>>>());
    let again = solve::arrivals(&links, &seeds, &()).unwrap();
    assert!(again.converged);
    for (a, b) in again.chance.iter().zip(&walked.chance) {
        assert!((a - b).abs() < 1e-9, "{a} {b}");
    }
}

/// The published seeds, object by object: regions are joined one pair at a time by the mean over
/// all pairs of objects.
fn naive_regions(a: &Array2<f64>, sizes: &[usize], least: usize, k: usize) -> Vec<Vec<usize>> {
    let mut by_size: Vec<usize> = (0..sizes.len()).collect();
    by_size.sort_by(|&i, &j| sizes[j].cmp(&sizes[i]).then(i.cmp(&j)));
    let large = sizes.iter().filter(|&&s| s >= least).count().max(k);
    let mut regions: Vec<Vec<usize>> = by_size[..large].iter().map(|&i| vec![i]).collect();
    while regions.len() > k {
        let mut best = (f64::NEG_INFINITY, 0, 0);
        for p in 0..regions.len() {
            for q in p + 1..regions.len() {
                let (mut sum, mut pairs) = (0.0, 0.0);
                for &i in &regions[p] {
                    for &j in &regions[q] {
                        let both = (sizes[i] * sizes[j]) as f64;
                        sum += both * a[[i, j]];
                        pairs += both;
                    }
                }
                if sum / pairs > best.0 {
                    best = (sum / pairs, p, q);
                }
            }
        }
        let joined = regions.remove(best.2);
        regions[best.1].extend(joined);
    }
    regions.iter_mut().for_each(|r| r.sort_unstable());
    regions.sort();
    regions
}

#[test]
fn published_seeds_equal_the_definition() {
    let mut few = 0;
    for seed in 0..30 {
        let planted = planted(Seed(seed), &[25, 18, 11], 7, 0.12, 0.0).unwrap().ensemble;
        let m = Microclusters::of(&planted).unwrap();
        let graph = CoAssociation::default().between(&m, &mut Report::default(), &()).unwrap();
        // Pairs that are alike to the bit may be joined in either order.
        let mut stream = Seed(seed).derive("apart", 0).stream();
        let (grouping, mut a) = graph.into_parts();
        let n = a.nrows();
        for i in 0..n {
            for j in 0..i {
                let v = a[[i, j]] + 1e-6 * stream.uniform();
                (a[[i, j]], a[[j, i]]) = (v, v);
            }
        }
        let sizes: Vec<usize> = grouping.sizes().iter().map(|&s| s as usize).collect();
        let graph = SimilarityGraph::new(grouping, a.clone()).unwrap();
        for (least, k) in [(1, 3), (2, 3), (3, 2), (9, 4)] {
            few += usize::from(sizes.iter().filter(|&&s| s >= least).count() < k);
            let rule = SeedRule::Agreement { least };
            let found = Seeds::by(rule, &graph, Clusters::Fixed(k), &()).unwrap();
            let mut regions = vec![Vec::new(); found.count];
            for i in (0..n).filter(|&i| found.marked[i]) {
                regions[found.group[i]].push(i);
            }
            regions.sort();
            assert_eq!(regions, naive_regions(&a, &sizes, least, k), "seed {seed}, {least}");
            for i in (0..n).filter(|&i| !found.marked[i]) {
                let mean = |g: usize| {
                    let members = (0..n).filter(|&j| found.marked[j] && found.group[j] == g);
                    let sums = members.fold((0.0, 0.0), |(sum, held), j| {
                        let size = sizes[j] as f64;
                        (sum + size * a[[i, j]], held + size)
                    });
                    sums.0 / sums.1
                };
                assert!((0..k).all(|g| mean(g) <= mean(found.group[i]) + 1e-12));
            }
        }
    }
    assert!(few > 0, "no world with too few regions");
    let ensemble = planted(Seed(5), &[5, 3], 3, 0.1, 0.0).unwrap().ensemble;
    let none = RandomWalker::new(2).seeds(SeedRule::Agreement { least: 0 });
    assert_eq!(none.consensus(&ensemble).unwrap_err().kind(), ErrorKind::InvalidParameter);
}

/// Seconds passed between the tree and the walk without a question, of thousands of microclusters.
#[test]
fn links_and_seeds_ask_whether_to_stop() {
    let ensemble = planted(Seed(5), &[60, 40], 8, 0.4, 0.0).unwrap().ensemble;
    let graph = CoAssociation::default().similarity(&ensemble).unwrap();
    let nodes = graph.grouping().n_nodes();
    let asked = CancelFrom::new(usize::MAX);
    links(&graph, 3, 10.0, &asked).unwrap();
    assert!(asked.asked() >= 2 * nodes / ROWS, "{} of {nodes}", asked.asked());
    for at in [0, nodes.div_ceil(ROWS), asked.asked() - 1] {
        let stopped = links(&graph, 3, 10.0, &CancelFrom::new(at)).unwrap_err();
        assert_eq!(stopped.kind(), ErrorKind::Cancelled, "{at}");
    }
    for rule in [SeedRule::Supported, SeedRule::Agreement { least: 1 }] {
        let asked = CancelFrom::new(usize::MAX);
        Seeds::by(rule, &graph, Clusters::Fixed(2), &asked).unwrap();
        for at in 0..asked.asked() {
            let stopped = Seeds::by(rule, &graph, Clusters::Fixed(2), &CancelFrom::new(at));
            assert!(stopped.is_err(), "{rule:?} {at}");
        }
    }
}
