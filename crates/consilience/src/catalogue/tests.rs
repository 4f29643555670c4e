use super::*;
use crate::{Clusters, Ensemble, ErrorKind, Microclusters, Partition, Seed};

/// Thirty objects in three groups under eight members, some labels wrong or missing.
fn ensemble() -> Ensemble {
    drawn(3, [30, 3, 8], [10, 10, 4])
}

#[test]
fn every_method_is_built_and_run_by_its_name() {
    let ensemble = ensemble();
    for method in methods() {
        let settings = Settings::new(3).seed(Seed(1));
        let found = method.build(&settings).unwrap().fit(&ensemble, &()).unwrap().output;
        let name = method.name();
        assert!((1..=3).contains(&found.partition.n_clusters()), "{name}");
        if let Some(soft) = &found.memberships {
            assert_eq!(soft.hard().unwrap(), found.partition, "{name}");
        }
        let own = method.build(&Settings::new(Clusters::Auto)).unwrap().fit(&ensemble, &());
        match own {
            Ok(_) => assert!(method.chooses_clusters(), "{name}"),
            Err(e) => {
                assert_eq!(e.kind(), ErrorKind::InvalidParameter, "{name}");
                assert!(!method.chooses_clusters(), "{name}: {e}");
            }
        }
    }
}

#[test]
fn stated_defaults_are_the_real_ones() {
    let ensemble = ensemble();
    for method in methods() {
        let run = |settings: &Settings| {
            method.build(settings).unwrap().fit(&ensemble, &()).unwrap().output
        };
        for parameter in method.parameters() {
            // A rule in words is no value.
            if parameter.default.contains(' ') {
                continue;
            }
            let beside = match parameter.name {
                "region" => Settings::new(3).parameter("seeds", "agreement"),
                _ => Settings::new(3),
            };
            let plain = run(&beside);
            // By itself a default is always taken.
            let alone = run(&Settings::new(3).parameter(parameter.name, parameter.default));
            assert_eq!(alone, run(&Settings::new(3)), "{} {}", method.name(), parameter.name);
            for name in std::iter::once(&parameter.name).chain(parameter.aliases) {
                let said = run(&beside.clone().parameter(*name, parameter.default));
                assert_eq!(said, plain, "{} {name} = {}", method.name(), parameter.default);
            }
        }
    }
}

/// So many objects in so many groups under so many members, of whose labels in a hundred so many
/// are one of `kinds` at random and so many missing.
fn drawn(seed: u64, [n, groups, members]: [u64; 3], [wrong, missing, kinds]: [u64; 3]) -> Ensemble {
    let mut state = seed;
    let mut draw = |below: u64| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    let mut label = |i: u64| -> i64 {
        match draw(100) {
            t if t < missing => -1,
            t if t < missing + wrong => draw(kinds) as i64,
            _ => (i * groups / n) as i64,
        }
    };
    let mut member =
        || Partition::from_labels(&(0..n).map(&mut label).collect::<Vec<i64>>()).unwrap();
    Ensemble::new((0..members).map(|_| member()).collect()).unwrap()
}

/// All that a run tells but its times: result, report and tree to the last bit, or the error.
fn told(method: &Method, settings: &Settings, ensemble: &Ensemble) -> String {
    let found = method.build(settings).and_then(|m| m.fit(ensemble, &())).map(|mut fit| {
        fit.report.stages.clear();
        fit
    });
    let tree = method.has_tree().then(|| {
        let tree = method.hierarchy(settings).and_then(|tree| tree.dendrogram(ensemble, &()));
        tree.map(|(_, tree)| tree)
    });
    format!("{found:?} {tree:?}")
}

type Said = (&'static str, &'static str);

/// A value of each parameter of a method that is another than the default, and what is said beside
/// both.
fn other_values(method: &str, parameter: &str) -> (&'static [&'static str], &'static [Said]) {
    let values: &[&str] = match parameter {
        "solver" if method.starts_with("pcc") => &["line-search"],
        // The same sum with other roundings.
        "solver" => &["eigenpairs"],
        "elite_neighbours" | "walk_length" | "max_iterations" | "iterations" | "neighbours"
        | "region" | "steps" | "width" => &["1"],
        "restarts" => &["1", "50"],
        "published" | "random_starts" | "entries" => &["true"],
        "collapse" => &["false"],
        "measure" => &["tanimoto"],
        "linkage" => &["single"],
        "seeds" => &["agreement"],
        // Which MCLA refuses.
        "cut_method" => &["hypergraph"],
        "dense_limit" | "linkage_limit" | "agreement_exponent" | "link_preference" => &["0"],
        "object_link_weight" | "entropy_scale" | "c" => &["0.01"],
        "error_penalty" => &["1e-6"],
        "tolerance" => &["0.5"],
        "confidence" | "must_link" | "pairs" => &["0.3"],
        "largest_component" => &["2"],
        "decay" | "largest_share" | "d0" => &["0.1"],
        "d1" => &["0.9"],
        _ => panic!("{method}: what does {parameter} change?"),
    };
    let beside: &[Said] = match parameter {
        "region" => &[("seeds", "agreement")],
        "d0" | "d1" => &[("d0", "0.2"), ("d1", "0.8")],
        // The cap says nothing of what is told; short walks take less time.
        "published" => &[("walk_length", "1")],
        _ => &[],
    };
    (values, beside)
}

/// Whether a value of the parameter changes what comes out of one of the ensembles.
fn changes(method: &Method, parameter: &Parameter, ensembles: &[Ensemble]) -> bool {
    let (values, beside) = other_values(method.name(), parameter.name);
    let with = |said: &[Said]| {
        said.iter().fold(Settings::new(5), |all, (name, value)| all.parameter(*name, value))
    };
    let rest: Vec<Said> = beside.iter().copied().filter(|said| said.0 != parameter.name).collect();
    ensembles.iter().any(|ensemble| {
        let plain = told(method, &with(beside), ensemble);
        values.iter().any(|&value| {
            let said = [&rest[..], &[(parameter.name, value)]].concat();
            told(method, &with(&said), ensemble) != plain
        })
    })
}

/// A parameter that is read and then forgotten is none.
#[test]
fn every_parameter_changes_something() {
    let worlds = [
        drawn(3, [40, 5, 8], [50, 5, 6]),
        drawn(5, [60, 6, 7], [70, 0, 8]),
        drawn(7, [40, 4, 9], [25, 5, 5]),
    ];
    let mut tried = 0;
    for method in methods() {
        for parameter in method.parameters().iter().filter(|p| p.name != "published") {
            let name = method.name();
            assert!(
                changes(method, parameter, &worlds),
                "{name}: {} changes nothing",
                parameter.name
            );
            tried += 1;
        }
    }
    assert!(tried > 90, "{tried}");
}

/// Without the cap K and T differ from 1,764 microclusters on, of which so many rows are.
#[test]
fn the_published_walks_have_no_cap() {
    let large = [drawn(1, [1800, 12, 6], [70, 0, 40])];
    let mut tried = 0;
    for method in methods() {
        for parameter in method.parameters().iter().filter(|p| p.name == "published") {
            assert!(changes(method, parameter, &large), "{}", method.name());
            tried += 1;
        }
    }
    assert_eq!(tried, 4);
}

#[test]
fn parameters_reach_the_method() {
    for method in methods() {
        for parameter in method.parameters() {
            for value in ["-1", "inf", "1e99999", "nan"] {
                let settings = Settings::new(2).parameter(parameter.name, value);
                let outcome = method.build(&settings).and_then(|m| m.consensus(&ensemble()));
                let of = format!("{} {} {value}", method.name(), parameter.name);
                let error = outcome.expect_err(&of);
                assert_eq!(error.kind(), ErrorKind::InvalidParameter, "{of}: {error}");
            }
        }
        let unknown = Settings::new(2).parameter("colour", 1);
        assert!(method.build(&unknown).err().unwrap().message().contains("colour"));
    }
}

/// What would be read and then do nothing is refused, as half of a pair is.
#[test]
fn parameters_that_mean_nothing_beside_others_are_refused() {
    let cases: [(&str, &[Said], &str); 5] = [
        ("srw", &[("region", "0")], "region: only with seeds=agreement"),
        ("srw", &[("region", "4"), ("seeds", "supported")], "region: only with seeds=agreement"),
        ("ecmc-al", &[("d0", "0.1")], "d0 or d1 alone"),
        ("cspa", &[("restarts", "3"), ("cut", "hypergraph")], "only with cut_method=spectral"),
        ("hgpa", &[("cut", "hypergraph"), ("restarts", "3")], "only with cut_method=spectral"),
    ];
    for (method, said, expected) in cases {
        let of = |all: Settings, (name, value): &Said| all.parameter(*name, value);
        let settings = said.iter().fold(Settings::new(2), of);
        let error = by_name(method).unwrap().build(&settings).map(|_| ()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidParameter, "{method} {said:?}");
        assert!(error.message().contains(expected), "{method} {said:?}: {error}");
    }
}

/// Objects 2 and 3, and 4 and 5, are two clusters each of the six that PCC starts with; where it
/// chooses the number itself nobody asked for six.
#[test]
fn clusters_that_nobody_asked_for_are_not_missing() {
    let labels = |l: [i64; 6]| Partition::from_labels(&l).unwrap();
    let members = vec![labels([0, 0, 1, 1, 2, 3]), labels([0, 1, 2, 3, 4, 5])];
    let ensemble = Ensemble::new(members).unwrap();
    let method = by_name("pcc-l2").unwrap();
    let fit = |settings: Settings| method.build(&settings).unwrap().fit(&ensemble, &()).unwrap();
    let instead = |notes: &[String]| notes.iter().filter(|n| n.contains("asked for:")).count();
    let asked = fit(Settings::new(6));
    assert_eq!((asked.output.partition.n_clusters(), asked.report.clusters_missing), (4, Some(2)));
    assert_eq!(instead(&asked.report.notes), 1);
    let own = fit(Settings::new(Clusters::Auto));
    assert_eq!((own.output.partition.n_clusters(), own.report.clusters_missing), (4, None));
    assert_eq!(instead(&own.report.notes), 0, "{:?}", own.report.notes);
}

#[test]
fn trees_are_those_that_are_cut() {
    let ensemble = ensemble();
    for method in methods().iter().filter(|m| m.has_tree()) {
        for k in [2, 3, 5] {
            let settings = Settings::new(k);
            let tree = method.hierarchy(&settings).unwrap();
            let (nodes, tree): (Microclusters, _) = tree.dendrogram(&ensemble, &()).unwrap();
            let cut = nodes.grouping().expand(&tree.cut(k).unwrap()).unwrap();
            let found = method.build(&settings).unwrap().consensus(&ensemble).unwrap();
            assert_eq!(cut, found, "{} k = {k}", method.name());
        }
    }
    let none = by_name("hbgf").unwrap().hierarchy(&Settings::new(2)).err().unwrap();
    assert!(none.message().contains("pta-al"), "{none}");
}

#[test]
fn parameters_are_told_by_the_name_that_was_given() {
    let said = |method: &str, name: &str, value: &str| {
        let settings = Settings::new(2).parameter(name, value);
        let error = by_name(method).unwrap().build(&settings).map(|_| ()).unwrap_err();
        error.message().to_owned()
    };
    assert_eq!(said("lwea", "theta", "abc"), "theta \"abc\"; expected a number");
    assert_eq!(said("lwea", "entropy_scale", "abc"), "entropy_scale \"abc\"; expected a number");
    assert!(said("cspa", "cut", "abc").starts_with("cut \"abc\"; expected one of spectral"));
    let takes = "lwea takes entropy_scale, linkage";
    for (name, meant) in [("entropy-scale", "entropy_scale"), ("Theta", "theta")] {
        let wanted = format!("unknown parameter {name:?}; did you mean {meant}? {takes}");
        assert_eq!(said("lwea", name, "1"), wanted);
    }
    assert_eq!(said("lwea", "scale", "1"), format!("unknown parameter \"scale\"; {takes}"));
}

#[test]
fn names_nearly_right_are_suggested() {
    let hint = |name: &str| by_name(name).err().unwrap().message().to_owned();
    assert!(hint("pcc").contains("did you mean pcc-kl or pcc-l2"), "{}", hint("pcc"));
    assert!(hint("PTA_AL").contains("did you mean pta-al"), "{}", hint("PTA_AL"));
    assert!(hint("difusion").contains("did you mean diffusion?"), "{}", hint("difusion"));
    assert!(!hint("kmeans++ of all").contains("did you mean"), "{}", hint("kmeans++ of all"));
    assert!(!hint("").contains("did you mean"));
}

/// Up to the root of the number of microclusters fewer were found the better members agreed.
#[test]
fn the_number_that_members_nearly_agree_on_is_found_in_eigenvalues() {
    let found = |name: &str, ensemble: &Ensemble| {
        let method = by_name(name).unwrap().build(&Settings::new(Clusters::Auto)).unwrap();
        method.consensus(ensemble).unwrap()
    };
    let methods =
        ["ptgp", "lwgp", "hbgf", "cspa", "hgpa", "gp-mgla", "diffusion", "mcla", "ecpcs-mc"];
    for k in [3, 4, 9, 12] {
        let own = Partition::from_fn(5 * k, |i| Some((i % k) as u64)).unwrap();
        let ensemble = Ensemble::new(vec![own.clone(); 2]).unwrap();
        for name in methods {
            assert_eq!(found(name, &ensemble), own, "{name}, {k}");
        }
    }
    // Twenty classes of twenty objects, of whom each of ten members moves two.
    let class = |i: usize| i as u64 / 20;
    let member = |u: usize| {
        let moved = |i: usize| i == (37 * u + 11) % 400 || i == (101 * u + 205) % 400;
        let label = |i| Some(if moved(i) { (class(i) + u as u64 + 1) % 20 } else { class(i) });
        Partition::from_fn(400, label).unwrap()
    };
    let ensemble = Ensemble::new((0..10).map(member).collect()).unwrap();
    let truth = Partition::from_fn(400, |i| Some(class(i))).unwrap();
    // PTGP's spectrum has its widest gap behind five of them.
    for name in methods.into_iter().filter(|&name| name != "ptgp") {
        let found = found(name, &ensemble);
        let ari = crate::scores::adjusted_rand(&found, &truth).unwrap();
        assert!(ari > 0.9, "{name}: {} clusters, {ari}", found.n_clusters());
    }
}
