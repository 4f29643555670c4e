use consilience_core::{
    Clusters, ConstrainedClusterer, Constraints, ErrorKind, Link, Partition, Report, Seed,
    SideInformation, Status,
};
use consilience_metric::Separation;
use ndarray::{Array2, array};

use crate::{Ccskl, CopKMeans, Fpc, MpckMeans, Nnc, PckMeans, Pmmc, SeededKMeans};

/// A small table with duplicates and a constant feature now and then, side information that some
/// clustering satisfies, and a number of clusters.
pub(crate) fn world(seed: u64) -> (Array2<f64>, SideInformation, usize) {
    let mut s = Seed(seed).stream();
    let (n, d, k) = (12 + s.below(40), 1 + s.below(5), 2 + s.below(4));
    let truth: Vec<i64> = (0..n).map(|_| s.below(k) as i64).collect();
    let mut x = Array2::from_shape_fn((n, d), |(i, j)| {
        let centre = ((truth[i] as usize * 7 + j * 3) % 5) as f64;
        if seed.is_multiple_of(4) && j == 0 { 1.5 } else { centre + 0.8 * s.normal() }
    });
    if seed.is_multiple_of(3) {
        x.mapv_inplace(f64::round);
    }
    let side = if seed.is_multiple_of(2) {
        let labels: Vec<i64> =
            truth.iter().map(|&t| if s.below(3) == 0 { t } else { -1 }).collect();
        SideInformation::from_labels(&labels).unwrap()
    } else {
        let mut c = Constraints::new(n).unwrap();
        for _ in 0..n {
            let (i, j) = (s.below(n), s.below(n));
            c.add(i, j, if truth[i] == truth[j] { Link::Must } else { Link::Cannot }).unwrap();
        }
        SideInformation::from_constraints(&c)
    };
    (x, side, k)
}

fn all(k: usize, seed: u64) -> Vec<Box<dyn ConstrainedClusterer>> {
    vec![
        Box::new(SeededKMeans::new(k).seed(Seed(seed))),
        Box::new(SeededKMeans::constrained(k).seed(Seed(seed))),
        Box::new(CopKMeans::new(k).seed(Seed(seed))),
        Box::new(PckMeans::new(k).seed(Seed(seed))),
        Box::new(MpckMeans::new(k).seed(Seed(seed))),
        Box::new(MpckMeans::new(k).seed(Seed(seed)).per_cluster(true).full(true)),
        Box::new(Ccskl::new(k).seed(Seed(seed))),
        Box::new(Pmmc::new(k).seed(Seed(seed))),
    ]
}

#[test]
fn same_seed_same_bits_at_any_thread_count_and_predictions_agree() {
    for seed in 0..12 {
        let (x, side, k) = world(seed);
        for method in all(k, 7) {
            if method.name() == "constrained-kmeans" && !side.are_classes() {
                continue;
            }
            let run = || method.fit(x.view().into(), &side, &()).unwrap();
            let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap().install(run);
            let three =
                rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap().install(run);
            assert_eq!(one.output.partition, three.output.partition, "{} {seed}", method.name());
            assert_eq!(
                one.report.objective.map(f64::to_bits),
                three.report.objective.map(f64::to_bits),
                "{} {seed}",
                method.name()
            );
            let found = one.output.partition.n_clusters();
            assert!(found <= k && found > 0);
            assert_eq!(
                found < k,
                one.report.clusters_missing.is_some(),
                "{} {seed}",
                method.name()
            );
            let new = one.output.assign(x.view()).unwrap();
            assert!(new.iter().all(|&l| l < k));
            // Objects of which nothing is known are where a new object like them would go, but for
            // the methods whose fit may end at the cap and for repaired clusters.
            let same = (0..x.nrows())
                .filter(|&i| side.set_of(i).is_none())
                .filter(|&i| one.output.partition.label(i) == Some(new[i]))
                .count();
            let free = (0..x.nrows()).filter(|&i| side.set_of(i).is_none()).count();
            assert!(10 * same >= 7 * free, "{} {seed}: {same} of {free}", method.name());
        }
    }
}

#[test]
fn cop_breaks_no_link_and_constrained_k_means_no_label() {
    for seed in 0..60 {
        let (x, side, k) = world(seed);
        let mut methods: Vec<Box<dyn ConstrainedClusterer>> =
            vec![Box::new(CopKMeans::new(k).seed(Seed(seed)))];
        if side.are_classes() {
            methods.push(Box::new(SeededKMeans::constrained(k).seed(Seed(seed))));
        }
        for method in methods {
            let p = method.fit(x.view().into(), &side, &()).unwrap().output.partition;
            assert!(
                side.must_links().all(|(i, j)| p.label(i) == p.label(j)),
                "{} {seed}",
                method.name()
            );
            assert!(
                side.cannot_links().all(|(i, j)| p.label(i) != p.label(j)),
                "{} {seed}",
                method.name()
            );
        }
    }
}

#[test]
fn bad_input_is_refused_with_its_place() {
    let x = array![[0.0, 1.0], [2.0, 3.0], [4.0, 9.0]];
    let side = SideInformation::none(3);
    for m in 0..all(1, 0).len() {
        let kind = |x: &Array2<f64>, k: usize, side: &SideInformation| {
            all(k, 0)[m].fit(x.view().into(), side, &()).unwrap_err().kind()
        };
        let method = &all(2, 0)[m];
        assert_eq!(kind(&x, 0, &side), ErrorKind::InvalidParameter, "{}", method.name());
        assert_eq!(kind(&x, 4, &side), ErrorKind::InvalidParameter);
        assert_eq!(kind(&x, 2, &SideInformation::none(4)), ErrorKind::ShapeMismatch);
        assert_eq!(kind(&Array2::zeros((0, 2)), 1, &side), ErrorKind::Empty);
        assert_eq!(kind(&array![[0.0], [f64::NAN], [1.0]], 2, &side), ErrorKind::NonFinite);
        let found = method.cluster(x.view().into(), &side).unwrap();
        let error = found.assign(array![[1.0]].view()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ShapeMismatch);
    }
}

#[test]
fn as_many_clusters_as_the_labels_have_classes() {
    let x = array![[0.0], [1.0], [10.0], [11.0], [20.0], [21.0]];
    let side = SideInformation::from_labels(&[0, -1, 1, -1, 2, -1]).unwrap();
    let found = Nnc::new(Clusters::Auto).cluster(x.view().into(), &side).unwrap();
    assert_eq!(found.partition.to_signed(), [0, 0, 1, 1, 2, 2]);
}

#[test]
fn degenerate_tables_are_answered() {
    let tables = [
        Array2::zeros((7, 2)),
        Array2::from_elem((7, 1), 3e300),
        Array2::from_shape_fn((7, 2), |(i, j)| if j == 0 { 5.0 } else { (i / 4) as f64 }),
        Array2::from_shape_fn((7, 3), |(i, _)| 1e-200 * i as f64),
        Array2::from_shape_fn((7, 30), |(i, j)| ((i * 31 + j * 17) % 13) as f64 * 1e150),
        array![[2.0]],
    ];
    for (t, x) in tables.iter().enumerate() {
        let n = x.nrows();
        let labels: Vec<i32> = (0..n as i32).map(|i| if i < 3 { i % 2 } else { -1 }).collect();
        for side in [SideInformation::none(n), SideInformation::from_labels(&labels).unwrap()] {
            for k in [1, 2.min(n), n] {
                if side.labelled_sets().len() > k {
                    continue;
                }
                for method in all(k, 1) {
                    let fit = method
                        .fit(x.view().into(), &side, &())
                        .unwrap_or_else(|e| panic!("{} table {t} k {k}: {e}", method.name()));
                    let p = fit.output.partition;
                    assert!(p.is_complete() && p.n_clusters() <= k);
                    assert_eq!(
                        p.n_clusters() < k,
                        fit.report.clusters_missing.is_some(),
                        "{} {t} {k}",
                        method.name()
                    );
                }
            }
        }
    }
}

#[test]
fn cancelled_at_once() {
    struct Stop;
    impl consilience_core::Observer for Stop {
        fn cancelled(&self) -> bool {
            true
        }
    }
    let (x, side, k) = world(2);
    for method in all(k, 0) {
        let error = method.fit(x.view().into(), &side, &Stop).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Cancelled, "{}", method.name());
    }
}

#[test]
fn margins_under_extreme_weights_come_to_rest_where_they_should() {
    let (x, side, k) = world(5);
    let with = |method: Pmmc| method.fit(x.view().into(), &side, &()).unwrap().report;
    // Weights of 0 lose 1 of every object and of every link.
    let links = if side.stated().is_some_and(|s| !s.is_empty()) { 1.0 } else { 0.0 };
    for decay in [1e6, 1e12, 1e100] {
        let report = with(Pmmc::new(k).decay(decay).max_iterations(2_000));
        let objective = report.objective.unwrap();
        assert!(objective <= (1.0 + links) * (1.0 + 1e-6), "{decay:e}: {report:?}");
        assert_eq!(report.status, Status::Solved, "{decay:e}");
    }
    // What links lose does not depend on their weight, where it is large.
    let (usual, large) =
        (with(Pmmc::new(k).link_weight(1e6)), with(Pmmc::new(k).link_weight(1e250)));
    let unit = |report: &Report, weight: f64| report.objective.unwrap() / weight;
    assert!(unit(&large, 1e250) <= unit(&usual, 1e6) + 0.05, "{usual:?} {large:?}");
    // Nothing is solved where numbers are too large.
    let report = with(Pmmc::new(k).link_weight(f64::MAX));
    assert!(report.objective.unwrap().is_finite() || report.status == Status::MaxIterations);
}

#[test]
fn infeasible_links_are_proven() {
    let x = Array2::from_shape_fn((6, 1), |(i, _)| i as f64);
    let mut c = Constraints::new(6).unwrap();
    for (i, j) in [(0, 1), (1, 2), (0, 2), (3, 4)] {
        c.add(i, j, Link::Cannot).unwrap();
    }
    let side = SideInformation::from_constraints(&c);
    let error = CopKMeans::new(2).fit(x.view().into(), &side, &()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Contradiction);
    assert!(error.message().contains("proven"), "{error}");
    assert!(CopKMeans::new(3).fit(x.view().into(), &side, &()).is_ok());
}

/// Theorems 7 and 9, on blobs that are just far enough apart.
#[test]
fn above_one_the_fast_methods_find_the_optimum() {
    let mut certified = 0;
    for seed in 0..100 {
        let mut s = Seed(seed).stream();
        let (n, k) = (40, 4);
        let truth: Vec<usize> = (0..n).map(|_| s.below(k)).collect();
        let x = Array2::from_shape_fn((n, 2), |(i, j)| {
            [[0.0, 0.0], [3.0, 0.0], [0.0, 3.0], [3.0, 3.0]][truth[i]][j] + s.uniform() * 1.3
        });
        let labels: Vec<i64> = truth.iter().map(|&t| t as i64).collect();
        let p = Partition::from_labels(&labels).unwrap();
        if p.n_clusters() < k || !Separation::of(x.view(), &p).unwrap().certifies_optimum() {
            continue;
        }
        certified += 1;
        let found = Fpc::new(k)
            .seed(Seed(seed))
            .cluster(x.view().into(), &SideInformation::none(n))
            .unwrap();
        assert_eq!(found.partition, p);
        let mut few = vec![-1; n];
        for c in 0..k as i64 {
            few[labels.iter().position(|&l| l == c).unwrap()] = c;
        }
        let side = SideInformation::from_labels(&few).unwrap();
        let found = Nnc::new(k).seed(Seed(seed)).cluster(x.view().into(), &side).unwrap();
        assert_eq!(found.partition, p);
    }
    assert!(certified > 20, "{certified}");
}
