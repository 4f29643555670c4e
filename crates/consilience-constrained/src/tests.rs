use consilience_conformance::{CancelFrom, partly_known};
use consilience_core::{
    Clustering, Clusters, ConstrainedClusterer, Constraints, ErrorKind, Fit, Link, Observer,
    Partition, Report, Seed, SideInformation, Status,
};
use consilience_metric::Separation;
use ndarray::{Array2, array};

use crate::frame::{Begun, best_start};
use crate::{Ccskl, CopKMeans, Fpc, MpckMeans, Nnc, PckMeans, Pmmc, SeededKMeans};

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
        Box::new(Nnc::new(k).seed(Seed(seed))),
        Box::new(Fpc::new(k).seed(Seed(seed))),
    ]
}

#[test]
fn same_seed_same_bits_at_any_thread_count_and_predictions_agree() {
    for seed in 0..12 {
        let (x, side, k) = partly_known(seed);
        for method in all(k, 7) {
            if method.name() == "constrained-kmeans" && !side.are_classes() {
                continue;
            }
            let run = || method.fit(x.view().into(), &side, &()).unwrap();
            let [one, three] = [1, 3].map(|threads| {
                rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(run)
            });
            let what = format!("{} {seed}", method.name());
            assert_eq!(one.output.partition, three.output.partition, "{what}");
            let bits = |fit: &Fit<Clustering>| fit.report.objective.map(f64::to_bits);
            assert_eq!(bits(&one), bits(&three), "{what}");
            let found = one.output.partition.n_clusters();
            assert!(found <= k && found > 0);
            assert_eq!(found < k, one.report.clusters_missing.is_some(), "{what}");
            let new = one.output.assign(x.view()).unwrap();
            assert!(new.iter().all(|&l| l < k));
            // Objects of which nothing is known are where a new object like them would go, but for
            // the methods whose fit may end at the cap, and repaired clusters.
            let free = (0..x.nrows()).filter(|&i| side.set_of(i).is_none());
            let (same, all) = free.fold((0, 0), |(same, all), i| {
                (same + usize::from(one.output.partition.label(i) == Some(new[i])), all + 1)
            });
            let settled = one.report.status == Status::Solved;
            let enough = if settled { same == all } else { 10 * same >= 7 * all };
            assert!(enough, "{what}: {same} of {all}");
        }
    }
}

/// The cluster whose mean is nearest to the row; `None` where another is as near, up to rounding.
fn nearest_mean(x: &Array2<f64>, clusters: &Partition, row: &[f64]) -> Option<usize> {
    let mut apart: Vec<(f64, usize)> = (0..clusters.n_clusters())
        .map(|c| {
            let own: Vec<usize> =
                (0..x.nrows()).filter(|&i| clusters.label(i) == Some(c)).collect();
            let square = |j: usize| -> f64 {
                let mean = own.iter().map(|&i| x[[i, j]]).sum::<f64>() / own.len() as f64;
                (row[j] - mean) * (row[j] - mean)
            };
            ((0..x.ncols()).map(square).sum(), c)
        })
        .collect();
    apart.sort_by(|a, b| a.0.total_cmp(&b.0));
    let clear = apart.len() == 1 || apart[1].0 - apart[0].0 > 1e-9 * apart[1].0;
    clear.then_some(apart[0].1)
}

#[test]
fn new_objects_go_to_the_nearest_mean() {
    let mut tried = [0; 4];
    for seed in 0..40 {
        let (x, side, k) = partly_known(seed);
        let mut s = Seed(seed).derive("new", 0).stream();
        let new = x.mapv(|v| v + s.normal());
        let methods: [Box<dyn ConstrainedClusterer>; 4] = [
            Box::new(SeededKMeans::new(k)),
            Box::new(SeededKMeans::constrained(k)),
            Box::new(CopKMeans::new(k)),
            Box::new(PckMeans::new(k)),
        ];
        for (tried, method) in tried.iter_mut().zip(methods) {
            if method.name() == "constrained-kmeans" && !side.are_classes() {
                continue;
            }
            let fit = method.fit(x.view().into(), &side, &()).unwrap();
            if fit.report.status != Status::Solved {
                continue;
            }
            let found = fit.output.assign(new.view()).unwrap();
            for (row, label) in new.rows().into_iter().zip(found) {
                let nearest = nearest_mean(&x, &fit.output.partition, &row.to_vec());
                assert!(nearest.is_none_or(|c| c == label), "{} {seed}: {row}", method.name());
                *tried += usize::from(nearest.is_some());
            }
        }
    }
    assert!(tried.iter().all(|&tried| tried > 300), "{tried:?}");
}

/// Four blobs that overlap, four labels of each, and links of which a third is wrong.
fn overlapping(seed: u64) -> (Array2<f64>, [SideInformation; 2]) {
    let mut s = Seed(seed).stream();
    let centres = Array2::from_shape_simple_fn((4, 3), || 1.5 * s.normal());
    let x = Array2::from_shape_fn((300, 3), |(i, j)| {
        centres[[i % 4, j]] + [1.0, 0.5, 2.0][j] * s.normal()
    });
    let labels: Vec<i64> = (0..300).map(|i| if i < 16 { i % 4 } else { -1 }).collect();
    let mut links = Constraints::new(300).unwrap();
    for i in 0..60 {
        let link = if (i % 4 == 0) != (i % 3 == 0) { Link::Must } else { Link::Cannot };
        links.add(i, i + 64 + i % 4, link).unwrap();
    }
    let side = SideInformation::from_labels(&labels).unwrap();
    (x, [side, SideInformation::from_constraints(&links)])
}

/// With a feature more, which is the same of all objects.
fn beside(x: &Array2<f64>, value: f64) -> Array2<f64> {
    let (n, d) = x.dim();
    Array2::from_shape_fn((n, d + 1), |(i, j)| if j < d { x[[i, j]] } else { value })
}

#[test]
fn units_and_constant_features_have_no_say_in_mpck() {
    for seed in 0..4 {
        let (x, sides) = overlapping(seed);
        for (each, full) in [(false, false), (true, false), (false, true), (true, true)] {
            let method = MpckMeans::new(4).per_cluster(each).full(full);
            for side in &sides {
                let run = |x: &Array2<f64>| {
                    let fit = method.fit(x.view().into(), side, &()).unwrap();
                    (fit.output.partition, fit.report)
                };
                let (labels, plain) = run(&x);
                let constant = [-0.1, 1e6, 1e27].map(|value| beside(&x, value));
                for (t, other) in [&x * 1e6, &x * 1e-6].iter().chain(&constant).enumerate() {
                    let (found, report) = run(other);
                    let ours = (found, report.iterations, report.status);
                    let expected = (labels.clone(), plain.iterations, plain.status);
                    assert_eq!(ours, expected, "{seed} {each} {full}: table {t}");
                }
                // The objective is that of the formula, in the unit of the features.
                let metrics = if each { 4.0 } else { 1.0 };
                let more = (300.0 + 10.0 * metrics) * 2.0 * 3.0 * 1e6f64.ln();
                let (small, large) = (plain.objective.unwrap(), run(&(&x * 1e6)).1.objective);
                assert!((large.unwrap() - small - more).abs() < 1e-6 * more, "{small} {large:?}");
            }
        }
    }
}

/// By the volumes of the metrics a constant feature once told large clusters from small ones, and
/// as a column it was counted in the mean deviation.
#[test]
fn constant_features_have_no_say_in_what_is_learned() {
    // Links that four clusters have to break.
    let mut apart = Constraints::new(300).unwrap();
    for i in 0..20 {
        (0..i).for_each(|j| apart.add(i, j, Link::Cannot).unwrap());
    }
    let side = SideInformation::from_constraints(&apart);
    for seed in 0..2 {
        let (x, _) = overlapping(seed);
        let mut methods: Vec<Box<dyn ConstrainedClusterer>> = vec![Box::new(Pmmc::new(4))];
        for (each, full) in [(false, false), (true, false), (false, true), (true, true)] {
            for weight in [1.0, 1e6] {
                let method = MpckMeans::new(4).per_cluster(each).full(full).weight(weight);
                methods.push(Box::new(method));
            }
        }
        for (m, method) in methods.iter().enumerate() {
            let run = |x: &Array2<f64>| {
                let fit = method.fit(x.view().into(), &side, &()).unwrap();
                let again = fit.output.assign(x.view()).unwrap();
                (fit.output.partition, fit.report.iterations, fit.report.objective, again)
            };
            assert_eq!(run(&beside(&x, -0.1)), run(&x), "seed {seed}, method {m}");
        }
    }
}

#[test]
fn constant_features_have_no_say_in_farthest_points() {
    for seed in 0..4 {
        let (x, [side, _]) = overlapping(seed);
        let methods: [Box<dyn ConstrainedClusterer>; 2] =
            [Box::new(Fpc::new(4)), Box::new(Nnc::new(4))];
        for method in methods {
            for (unit, value) in [(1.0, 0.1), (1.0, -1e120), (1.0, 1e250), (1e-200, 1.0)] {
                let x = &x * unit;
                let plain = method.fit(x.view().into(), &side, &()).unwrap();
                let table = beside(&x, value);
                let found = method.fit(table.view().into(), &side, &()).unwrap();
                let what = format!("{} {seed}: {value:e}", method.name());
                assert_eq!(found.output.partition, plain.output.partition, "{what}");
                let apart = found.report.objective.unwrap() / plain.report.objective.unwrap();
                assert!((apart - 1.0).abs() < 1e-12, "{what}: {apart}");
                let labels = found.output.assign(table.view()).unwrap();
                assert_eq!(labels, plain.output.assign(x.view()).unwrap(), "{what}");
            }
        }
    }
}

/// What is left of a large number in the mean of equal ones once was most of the price of a link.
#[test]
fn constant_features_have_no_say_in_plain_distances() {
    for seed in 0..4 {
        let (x, sides) = overlapping(seed);
        for side in &sides {
            let run = |x: &Array2<f64>| PckMeans::new(4).cluster(x.view().into(), side).unwrap();
            let plain = run(&x);
            for value in [0.1, 1e9, 1e27, -1e120, 1e250] {
                let found = run(&beside(&x, value));
                assert_eq!(found.partition, plain.partition, "{seed}: {value:e}");
                let labels = found.assign(beside(&x, value).view()).unwrap();
                assert_eq!(labels, plain.assign(x.view()).unwrap(), "{seed}: {value:e}");
            }
        }
    }
}

#[test]
fn cop_breaks_no_link_and_constrained_k_means_no_label() {
    for seed in 0..60 {
        let (x, side, k) = partly_known(seed);
        let mut methods: Vec<Box<dyn ConstrainedClusterer>> =
            vec![Box::new(CopKMeans::new(k).seed(Seed(seed)))];
        if side.are_classes() {
            methods.push(Box::new(SeededKMeans::constrained(k).seed(Seed(seed))));
        }
        for method in methods {
            let p = method.fit(x.view().into(), &side, &()).unwrap().output.partition;
            let together = |(i, j): (usize, usize)| p.label(i) == p.label(j);
            assert!(side.must_links().all(together), "{} {seed}", method.name());
            assert!(!side.cannot_links().any(together), "{} {seed}", method.name());
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
        let kind = |new: &Array2<f64>| found.assign(new.view()).unwrap_err().kind();
        assert_eq!(kind(&array![[1.0]]), ErrorKind::ShapeMismatch);
        assert_eq!(kind(&array![[0.0, f64::INFINITY]]), ErrorKind::NonFinite);
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
                    let what = format!("{} table {t} k {k}", method.name());
                    let fit = method.fit(x.view().into(), &side, &());
                    let fit = fit.unwrap_or_else(|e| panic!("{what}: {e}"));
                    let p = fit.output.partition;
                    assert!(p.is_complete() && p.n_clusters() <= k);
                    assert_eq!(p.n_clusters() < k, fit.report.clusters_missing.is_some(), "{what}");
                }
            }
        }
    }
}

#[test]
fn cancelled_at_once() {
    let (x, side, k) = partly_known(2);
    for method in all(k, 0) {
        let error = method.fit(x.view().into(), &side, &CancelFrom::new(0)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Cancelled, "{}", method.name());
    }
}

#[test]
fn margins_under_extreme_weights_come_to_rest_where_they_should() {
    let (x, side, k) = partly_known(5);
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

/// All said that no more objects were distinct, or free to move.
#[test]
fn why_clusters_are_missing_is_true() {
    let told = |method: &dyn ConstrainedClusterer, x: &Array2<f64>, side: &SideInformation| {
        let report = method.fit(x.view().into(), side, &()).unwrap().report;
        report.clusters_missing.map(|_| report.notes.last().cloned().unwrap_or_default())
    };
    let (mut merged, mut unpaid) = (0, 0);
    for seed in 0..60 {
        let mut s = Seed(seed).stream();
        let centres = Array2::from_shape_simple_fn((4, 2), || 3.0 * s.normal());
        let x = Array2::from_shape_fn((40, 2), |(i, j)| centres[[i % 4, j]] + s.normal());
        let mut links = Constraints::new(40).unwrap();
        for i in 0..10 {
            let j = 10 + s.below(30);
            links.add(i, j, if i % 4 == j % 4 { Link::Must } else { Link::Cannot }).unwrap();
        }
        let side = SideInformation::from_constraints(&links);
        if let Some(note) = told(&Pmmc::new(4), &x, &side) {
            assert!(note.contains("have wider margins") && !note.contains("distinct"), "{note}");
            merged += 1;
        }
        for per_cluster in [false, true] {
            for k in [4, 20] {
                let method = MpckMeans::new(k).per_cluster(per_cluster);
                if let Some(note) = told(&method, &x, &side) {
                    assert!(note.contains("lowers the objective"), "{note}");
                    unpaid += 1;
                }
            }
        }
    }
    assert!(merged > 20 && unpaid > 0, "{merged} {unpaid}");
    // Three distinct objects.
    let x = Array2::from_shape_fn((12, 2), |(i, j)| (i % 3 * (j + 1)) as f64);
    for method in [&Pmmc::new(4) as &dyn ConstrainedClusterer, &MpckMeans::new(4)] {
        let note = told(method, &x, &SideInformation::none(12)).unwrap();
        assert!(note.contains("no more objects are distinct, or free to move"), "{note}");
    }
    let note = told(&Ccskl::new(4), &x, &SideInformation::none(12)).unwrap();
    assert!(note.contains("distinct in the eigenvectors"), "{note}");
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

/// Passes over all objects once were finished first: of so many labels seconds.
#[test]
fn long_passes_are_asked_about() {
    let n = 3_000;
    let x = Array2::from_shape_fn((n, 60), |(i, j)| ((i * 31 + j * 17 + i * i * j) % 101) as f64);
    let labels: Vec<u64> = (0..n as u64).map(|i| i % 100).collect();
    let side = SideInformation::from_labels(&labels).unwrap();
    // 3,000 x 3,000 comparisons of 60 numbers, a question for every 2^25; and 100 metrics, of which
    // each is asked about with every 1,024 objects.
    let methods: [(Box<dyn ConstrainedClusterer>, usize); 5] = [
        (Box::new(Nnc::new(100)), 16),
        (Box::new(MpckMeans::new(100).per_cluster(true).max_iterations(1)), 100),
        (Box::new(CopKMeans::new(100).max_iterations(1)), 12),
        (Box::new(PckMeans::new(100).max_iterations(1)), 12),
        (Box::new(Pmmc::new(100).max_iterations(1)), 30),
    ];
    for (method, least) in methods {
        let counts = CancelFrom::new(usize::MAX);
        method.fit(x.view().into(), &side, &counts).unwrap();
        let asked = counts.asked();
        assert!(asked >= least, "{}: asked {asked} times", method.name());
        for query in [0, 1, 2, 5, asked / 2] {
            let error = method.fit(x.view().into(), &side, &CancelFrom::new(query)).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Cancelled, "{}: question {query}", method.name());
        }
    }
}

/// Most must-links are within the class of 100, and the first centres by them once were, too: no
/// iteration led out of that.
#[test]
fn classes_of_unequal_size_are_found_from_links_at_random() {
    for seed in 0..4 {
        let mut stream = Seed(seed).derive("unequal", 0).stream();
        let class = |i: usize| [100, 110].iter().filter(|&&end| i >= end).count();
        let place = [[8.0, 0.0], [0.0, 8.0], [-8.0, -8.0]];
        let x = Array2::from_shape_fn((115, 2), |(i, j)| place[class(i)][j] + stream.normal());
        let mut known = Constraints::new(115).unwrap();
        while known.len() < 30 {
            let (i, j) = (stream.below(115), stream.below(115));
            if i != j {
                let link = if class(i) == class(j) { Link::Must } else { Link::Cannot };
                known.add(i, j, link).unwrap();
            }
        }
        let side = SideInformation::from_constraints(&known);
        let methods: [Box<dyn ConstrainedClusterer>; 5] = [
            Box::new(SeededKMeans::new(3)),
            Box::new(CopKMeans::new(3)),
            Box::new(PckMeans::new(3)),
            Box::new(MpckMeans::new(3)),
            Box::new(MpckMeans::new(3).full(true)),
        ];
        for method in methods {
            let found = method.cluster(x.view().into(), &side).unwrap().partition;
            let right = (0..115).all(|i| found.label(i) == found.label([0, 100, 110][class(i)]));
            assert!(right && found.n_clusters() == 3, "{} {seed}", method.name());
        }
    }
}

/// A second start for more sets than clusters only, and only its clear gain counts.
#[test]
fn the_start_from_the_sets_stands_unless_the_other_is_clearly_better() {
    let x = Array2::from_shape_fn((12, 1), |(i, _)| i as f64);
    let mut known = Constraints::new(12).unwrap();
    for (sets, second, taken) in [(2, 0.0, 0), (3, 9.4, 0), (3, 9.2, 1)] {
        while known.len() < sets {
            known.add(2 * known.len(), 2 * known.len() + 1, Link::Must).unwrap();
        }
        let side = SideInformation::from_constraints(&known);
        let mut runs = 0;
        let run = |centres: Array2<f64>, _: &dyn Observer| {
            assert_eq!(centres.dim(), (2, 1));
            runs += 1;
            let objective = [10.0, second][runs - 1];
            Ok(Begun { objective, unit: 10.0, found: runs - 1 })
        };
        let found = best_start(x.view(), &side, 2, Seed(0), &(), run).unwrap();
        assert_eq!((found, runs), (taken, sets - 1));
    }
}
