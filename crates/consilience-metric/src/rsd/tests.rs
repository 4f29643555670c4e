//! Both metrics against other solvers, and on degenerate data.

use consilience_conformance::CancelFrom;
use consilience_core::{Constraints, ErrorKind, Link};
use ndarray::{Array2, array};

use super::*;

/// Whole tenths that any program can make.
fn points(n: usize, d: usize) -> Array2<f64> {
    Array2::from_shape_fn((n, d), |(i, j)| {
        ((i * i * 7 + j * j * 11 + i * j * 13 + i * 3 + j * 5) % 101) as f64 / 10.0
    })
}

fn classes(n: usize, k: usize) -> SideInformation {
    SideInformation::from_labels(&(0..n).map(|i| i % k).map(|c| c as u64).collect::<Vec<_>>())
        .unwrap()
}

/// Optima of the same programme by HiGHS 1.x through scipy's `linprog`, with the dual simplex
/// (`highs-ds`) and with the interior point method (`highs-ipm`), which agree in all digits:
/// variables z / (2 var_j), feasibility tolerances 1e-10.
#[test]
fn diagonal_equals_two_other_solvers() {
    for (n, d, k, expected) in [
        (12, 5, 3, 0.020658168349230652),
        (20, 8, 4, 0.2598096961977378),
        (24, 40, 3, 0.6620760028060408),
    ] {
        let found =
            RsdDiagonal::new().fit_metric(points(n, d).view().into(), &classes(n, k), &()).unwrap();
        assert!((found.output.split - expected).abs() <= 1e-8, "{n} {d}: {}", found.output.split);
        assert!(found.output.gap() <= 1e-8 && found.report.status == Status::Solved);
        assert!(!found.output.bounded);
    }
}

/// Optima by clarabel 0.11 (Python), tolerances 1e-10: the upper triangle of M in whitened
/// coordinates and s as variables, a PSD triangle cone beside the rows.
#[test]
fn full_equals_clarabel() {
    for (n, d, k, bound, expected) in [
        (12, 5, 3, 100.0, 0.03779196492),
        (20, 8, 4, 100.0, 0.47426072683),
        (12, 8, 4, 20.0, 9.754996663),
    ] {
        let learner = RsdFull::new().bound(bound);
        let found =
            learner.fit_metric(points(n, d).view().into(), &classes(n, k), &()).unwrap().output;
        let error = (found.split - expected).abs() / expected;
        println!("{n} {d}: {} for {expected}, error {error:e}, gap {:e}", found.split, found.gap());
        assert!(error <= 1e-5, "{n} {d}: {} for {expected}", found.split);
        assert!(found.upper >= expected * (1.0 - 1e-6));
    }
}

fn learn(x: &Array2<f64>, side: &SideInformation) -> [Fit<RsdMetric>; 2] {
    let features = || Features::from(x.view());
    [
        RsdDiagonal::new().fit_metric(features(), side, &()).unwrap(),
        RsdFull::new().fit_metric(features(), side, &()).unwrap(),
    ]
}

/// Primal constraints by their definition, and a split that is that of the map.
fn check_map(x: &Array2<f64>, side: &SideInformation, found: &RsdMetric) {
    let length = |(i, j): (usize, usize)| found.map.distance(x.row(i), x.row(j)).unwrap().powi(2);
    assert!(side.must_links().map(length).fold(0.0, f64::max) <= 1.0 + 1e-6);
    let shortest = side
        .cannot_links()
        .filter(|&(i, j)| x.row(i) != x.row(j))
        .map(length)
        .fold(f64::INFINITY, f64::min);
    if shortest.is_finite() {
        assert!((shortest - found.split).abs() <= 1e-6 * found.split, "{shortest} {}", found.split);
    }
}

#[test]
fn separable_features_are_bounded_and_told() {
    // The first feature is constant within the classes and separates them.
    let x =
        array![[0.0, 1.0, 7.0], [0.0, 2.0, 7.0], [1.0, 1.5, 7.0], [1.0, 2.5, 7.0], [0.0, 9.0, 7.0]];
    let side = SideInformation::from_labels(&[0, 0, 1, 1, -1]).unwrap();
    for found in learn(&x, &side) {
        assert!(found.output.bounded && found.output.split > 10.0, "{found:?}");
        assert!(found.report.notes.iter().any(|n| n.contains("mean squared distance")));
        check_map(&x, &side, &found.output);
        // The constant feature counts for nothing, whatever its value.
        let (a, b) = (array![0.0, 0.0, 0.0], array![0.0, 0.0, 9.0]);
        assert_eq!(found.output.map.distance(a.view(), b.view()).unwrap(), 0.0);
    }
}

#[test]
fn units_do_not_matter() {
    let x = points(20, 6);
    let units = array![1.0, 1e-6, 1e5, 3.0, 0.1, 1e3];
    let side = classes(20, 3);
    let one = learn(&x, &side);
    let other = learn(&(&x * &units + 1e3), &side);
    for (a, b) in one.iter().zip(&other) {
        let [a, b] = [a, b].map(|found| found.output.split);
        assert!((a / b - 1.0).abs() < 1e-4, "{a} {b}");
    }
    for scale in [1e-200, 1e200] {
        let found =
            RsdDiagonal::new().fit_metric((&x * scale).view().into(), &side, &()).unwrap().output;
        assert!((found.split / one[0].output.split - 1.0).abs() < 1e-6);
    }
}

#[test]
fn one_kind_of_pair_or_none() {
    let x = points(10, 4);
    let pairs = |link| {
        let mut c = Constraints::new(10).unwrap();
        c.add(0, 1, link).unwrap();
        c.add(2, 5, link).unwrap();
        SideInformation::from_constraints(&c)
    };
    for found in learn(&x, &pairs(Link::Cannot)) {
        assert!(found.report.notes[0].starts_with("no must-links"), "{:?}", found.report.notes);
        check_map(&x, &pairs(Link::Cannot), &found.output);
    }
    for found in learn(&x, &pairs(Link::Must)) {
        assert!(found.report.notes[0].starts_with("no cannot-links"), "{:?}", found.report.notes);
        check_map(&x, &pairs(Link::Must), &found.output);
    }
    for found in learn(&x, &SideInformation::none(10)) {
        assert_eq!(found.output.map, LinearMap::identity(4).unwrap());
    }
    // One label per class: no must-links either.
    for found in
        learn(&x, &SideInformation::from_labels(&[0, 1, 2, -1, -1, -1, -1, -1, -1, -1]).unwrap())
    {
        assert!(found.output.split > 0.0);
    }
}

#[test]
fn equal_objects_and_constant_tables() {
    let x = array![[1.0, 2.0], [1.0, 2.0], [3.0, 5.0], [1.0, 2.0]];
    let side = SideInformation::from_labels(&[0, 1, 1, 0]).unwrap();
    for found in learn(&x, &side) {
        assert!(found.report.notes.iter().any(|n| n.starts_with("2 cannot-links between equal")));
        check_map(&x, &side, &found.output);
    }
    let constant = Array2::from_elem((4, 3), 5.0);
    for found in learn(&constant, &side) {
        assert_eq!(found.output.map, LinearMap::identity(3).unwrap());
    }
    let single = array![[4.0]];
    for found in learn(&single, &SideInformation::from_labels(&[0]).unwrap()) {
        assert_eq!(found.output.map, LinearMap::identity(1).unwrap());
    }
}

#[test]
fn bad_input_is_refused() {
    let (x, side) = (points(6, 2), classes(6, 2));
    let kind = |learner: &dyn MetricLearner, x: &Array2<f64>, side: &SideInformation| {
        learner.fit(x.view().into(), side, &()).unwrap_err().kind()
    };
    let mut infinite = x.clone();
    infinite[[1, 1]] = f64::INFINITY;
    let learners: [&dyn MetricLearner; 2] = [&RsdDiagonal::new(), &RsdFull::new()];
    for learner in learners {
        assert_eq!(kind(learner, &infinite, &side), ErrorKind::NonFinite);
        assert_eq!(kind(learner, &x, &classes(5, 2)), ErrorKind::ShapeMismatch);
        assert_eq!(kind(learner, &Array2::zeros((6, 0)), &side), ErrorKind::Empty);
        let error = learner.fit(x.view().into(), &side, &CancelFrom::new(0)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Cancelled);
    }
    for bound in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert_eq!(kind(&RsdDiagonal::new().bound(bound), &x, &side), ErrorKind::InvalidParameter);
        assert_eq!(kind(&RsdFull::new().bound(bound), &x, &side), ErrorKind::InvalidParameter);
    }
    for tolerance in [f64::NAN, f64::INFINITY] {
        let bad = RsdFull::new().tolerance(tolerance);
        assert_eq!(kind(&bad, &x, &side), ErrorKind::InvalidParameter);
    }
    assert_eq!(kind(&RsdDiagonal::new().max_iterations(0), &x, &side), ErrorKind::InvalidParameter);
    let small = MemoryBudget::bytes(10);
    assert_eq!(kind(&RsdDiagonal::new().memory_budget(small), &x, &side), ErrorKind::TooLarge);
    let stopped = RsdDiagonal::new().max_iterations(1).fit_metric(
        points(24, 40).view().into(),
        &classes(24, 3),
        &(),
    );
    assert_eq!(stopped.unwrap().report.status, Status::MaxIterations);
}

/// Passes over all pairs, and all pivots and Newton steps, once were finished first.
#[test]
fn passes_over_pairs_are_asked_about() {
    let (x, side) = (points(1_500, 30), classes(1_500, 3));
    let learners: [Box<dyn MetricLearner>; 2] = [
        Box::new(RsdDiagonal::new().max_iterations(2)),
        Box::new(RsdFull::new().max_iterations(2)),
    ];
    for learner in learners {
        let counts = CancelFrom::new(usize::MAX);
        learner.fit(x.view().into(), &side, &counts).unwrap();
        assert!(counts.asked() >= 15, "{}: asked {} times", learner.name(), counts.asked());
        for query in [1, 3, 7, 11, 14] {
            let stops = CancelFrom::new(query);
            let error = learner.fit(x.view().into(), &side, &stops).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Cancelled, "{}: {query}", learner.name());
        }
    }
}
