//! Ensembles of extreme shapes, for every method of the catalogue.

use consilience::catalogue::{Method, NamedResult, Settings, methods};
use consilience::{Ensemble, ErrorKind, Fit, MemoryBudget, Microclusters, Partition, Result, Seed};
use consilience_conformance::{Planted, planted};

use super::{Exceptions, hold, worlds};

fn run(method: &Method, k: usize, ensemble: &Ensemble) -> Result<Fit<NamedResult>> {
    // Small enough for a test, and for what 5,000 members would need.
    let budget = MemoryBudget::bytes(200 << 20);
    method.build(&Settings::new(k).seed(Seed(1)).memory_budget(budget))?.fit(ensemble, &())
}

fn partition(method: &Method, k: usize, ensemble: &Ensemble) -> Partition {
    run(method, k, ensemble).unwrap().output.partition
}

fn world(seed: u64, sizes: &[usize], members: usize, noise: f64, missing: f64) -> Planted {
    planted(Seed(seed), sizes, members, noise, missing).unwrap()
}

/// The members of an ensemble, each with something done to its labels, and others behind them.
fn with(ensemble: &Ensemble, change: impl Fn(&mut Vec<i64>), more: &[Vec<i64>]) -> Ensemble {
    let changed = ensemble.members().iter().map(|member| {
        let mut labels = member.to_signed();
        change(&mut labels);
        labels
    });
    let all = changed.chain(more.iter().cloned());
    Ensemble::new(all.map(|labels| Partition::from_labels(&labels).unwrap()).collect()).unwrap()
}

fn law(name: &str, exceptions: Exceptions, broken: impl Fn(&Method) -> Vec<String>) {
    for method in methods() {
        hold(name, method.name(), exceptions, &broken(method));
    }
}

#[test]
fn objects_a_thousand_times() {
    law("every object 1,000 times", &[], |method| {
        let broken = |seed| {
            let ensemble = world(seed, &[6, 4, 3], 5, 0.1, 0.1).ensemble;
            let copies: Vec<usize> = (0..13_000).map(|i| i / 1000).collect();
            let plain = partition(method, 3, &ensemble);
            let many = partition(method, 3, &ensemble.select_objects(&copies).unwrap());
            (many != plain.select(&copies).unwrap()).then(|| format!("{seed}: {:?}", many.sizes()))
        };
        worlds(3).filter_map(broken).collect()
    });
}

#[test]
fn a_cluster_of_one_object() {
    law("a cluster of one object", &[], |method| {
        let broken = |seed| {
            let ensemble = world(seed, &[15, 14], 9, 0.1, 0.0).ensemble;
            let found = partition(method, 3, &with(&ensemble, |labels| labels.push(99), &[]));
            let beside = (0..29).any(|i| found.label(i) == found.label(29));
            beside.then(|| format!("{seed}: {:?}", found.to_signed()))
        };
        worlds(3).filter_map(broken).collect()
    });
}

/// Squares of numbers of clusters: refused for 5,000 members under the budget of this test.
const SQUARES: [&str; 6] = ["gp-mgla", "mcla", "srs-al", "sdgca", "ecpcs-hc", "ecpcs-mc"];

/// Work in squares of members or of their clusters: seconds to minutes for 5,000 members.
const SLOW: [&str; 10] = [
    "ptgp",
    "weac-al",
    "voting",
    "least-squares",
    "wct-al",
    "lwea",
    "ec-cms",
    "lwgp",
    "diffusion",
    "auto",
];

#[test]
fn five_thousand_members() {
    let large = world(0, &[9, 7, 5], 5_000, 0.3, 0.05);
    let fewer = world(0, &[9, 7, 5], 300, 0.3, 0.05);
    let few = world(0, &[9, 7, 5], 60, 0.3, 0.05);
    let patient = std::env::var("CONSILIENCE_NUMBERS_WORLDS").is_ok();
    for method in methods() {
        let (squares, slow) = (SQUARES.contains(&method.name()), SLOW.contains(&method.name()));
        let Planted { truth, ensemble } = if slow && !patient { &fewer } else { &large };
        match run(method, 3, ensemble) {
            Ok(found) => assert_eq!(&found.output.partition, truth, "{}", method.name()),
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::TooLarge, "{}: {error}", method.name());
                assert!(squares || method.name() == "wct-al", "{}: {error}", method.name());
            }
        }
        if squares {
            assert_eq!(partition(method, 3, &few.ensemble), few.truth, "{}", method.name());
        }
    }
}

#[test]
fn members_of_one_cluster() {
    let alike = Partition::single_cluster(8).unwrap();
    let only = Ensemble::new(vec![alike.clone(); 4]).unwrap();
    for method in methods() {
        for k in [1, 2, 8] {
            let found = run(method, k, &only).unwrap();
            assert_eq!(found.output.partition, alike, "{}", method.name());
            let missing = found.report.clusters_missing.unwrap_or(0);
            assert_eq!(missing, k - 1, "{}: {:?}", method.name(), found.report);
        }
    }
    law("two more members of one cluster", &[], |method| {
        let broken = |seed| {
            let ensemble = world(seed, &[10, 7, 5], 7, 0.1, 0.0).ensemble;
            let more = with(&ensemble, |_| (), &[vec![0; 22], vec![0; 22]]);
            let (plain, more) = (partition(method, 3, &ensemble), partition(method, 3, &more));
            (plain != more).then(|| format!("{seed}: {:?}", more.to_signed()))
        };
        worlds(3).filter_map(broken).collect()
    });
}

const FEWER: Exceptions = &[
    ("mcla", "clusters of clusters that win no object"),
    ("ecpcs-mc", "clusters of clusters that win no object"),
    ("voting", "labels come from members, which have fewer clusters"),
    ("least-squares", "labels come from members, which have fewer clusters"),
    ("pcc-kl", "clusters that explain no pair are given up"),
    ("pcc-l2", "clusters that explain no pair are given up"),
];

#[test]
fn as_many_clusters_as_objects() {
    law("k = n", FEWER, |method| {
        let broken = |seed| {
            let ensemble = world(seed, &[10, 7, 5], 7, 0.4, 0.0).ensemble;
            let distinct = Microclusters::of(&ensemble).unwrap().n_nodes();
            let fit = run(method, 22, &ensemble).unwrap();
            let found = fit.output.partition.n_clusters();
            let missing = fit.report.clusters_missing.unwrap_or(0);
            assert_eq!(found + missing, 22, "{}: {:?}", method.name(), fit.report);
            (found < distinct).then(|| format!("{seed}: {found} clusters of {distinct}"))
        };
        worlds(3).filter_map(broken).collect()
    });
}
