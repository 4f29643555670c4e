use super::*;
use crate::{Clusters, Ensemble, ErrorKind, Microclusters, Partition, Seed};

/// Thirty objects in three groups under eight members, some labels wrong or missing.
fn ensemble() -> Ensemble {
    let mut draw = Seed(3).stream();
    let member = |draw: &mut crate::core::Stream| {
        let labels: Vec<i64> = (0..30)
            .map(|i| match draw.below(10) {
                0 => -1,
                1 => draw.below(4) as i64,
                _ => i / 10,
            })
            .collect();
        Partition::from_labels(&labels).unwrap()
    };
    Ensemble::new((0..8).map(|_| member(&mut draw)).collect()).unwrap()
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
        let plain = run(&Settings::new(3));
        for parameter in method.parameters() {
            // A rule in words is no value.
            if parameter.default.contains(' ') {
                continue;
            }
            for name in std::iter::once(&parameter.name).chain(parameter.aliases) {
                let said = run(&Settings::new(3).parameter(*name, parameter.default));
                assert_eq!(said, plain, "{} {name} = {}", method.name(), parameter.default);
            }
        }
    }
}

#[test]
fn parameters_reach_the_method() {
    for method in methods() {
        for parameter in method.parameters() {
            let settings = Settings::new(2).parameter(parameter.name, "-1");
            let outcome = method.build(&settings).and_then(|m| m.consensus(&ensemble()));
            let error = outcome.expect_err(&format!("{} {}", method.name(), parameter.name));
            assert_eq!(error.kind(), ErrorKind::InvalidParameter, "{} {error}", method.name());
        }
        let unknown = Settings::new(2).parameter("colour", 1);
        assert!(method.build(&unknown).err().unwrap().message().contains("colour"));
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
fn names_nearly_right_are_suggested() {
    let hint = |name: &str| by_name(name).err().unwrap().message().to_owned();
    assert!(hint("pcc").contains("did you mean pcc-kl or pcc-l2"), "{}", hint("pcc"));
    assert!(hint("PTA_AL").contains("did you mean pta-al"), "{}", hint("PTA_AL"));
    assert!(hint("difusion").contains("did you mean diffusion?"), "{}", hint("difusion"));
    assert!(!hint("kmeans++ of all").contains("did you mean"), "{}", hint("kmeans++ of all"));
    assert!(!hint("").contains("did you mean"));
}
