use std::sync::atomic::{AtomicUsize, Ordering};

use consilience_core::{
    ConstrainedClusterer, Constraints, Dense, ErrorKind, Link, MemoryBudget, Observer, Pair,
    Partition, Seed, SideInformation, Status, scores::adjusted_rand,
};
use ndarray::{Array2, Axis, array};

use super::coordinates::Coordinates;
use super::sampling::Sampling;
use super::solve::{Rules, Spectrum, certificate, least_weight, solve};
use super::stochastic::{Factors, StepRules};
use super::{CompletionSolver, Eigenvectors, LossWeight, Mccc, reference};
use crate::basis::Basis;
use crate::frame::Frame;
use crate::known_pairs::KnownPairs;

/// `clusters` blobs in `d` columns, the centres `apart`, and a column that means nothing.
pub(super) fn blobs(
    n: usize,
    clusters: usize,
    d: usize,
    apart: f64,
    seed: u64,
) -> (Array2<f64>, Partition) {
    let mut stream = Seed(seed).derive("blobs", 0).stream();
    let centres = Array2::from_shape_simple_fn((clusters, d), || apart * stream.normal());
    let x = Array2::from_shape_fn((n, d + 1), |(i, j)| {
        stream.normal() + if j < d { centres[[i % clusters, j]] } else { 0.0 }
    });
    (x, Partition::from_fn(n, |i| Some((i % clusters) as u64)).unwrap())
}

pub(super) fn random_pairs(truth: &Partition, count: usize, seed: u64) -> Constraints {
    let n = truth.n_objects();
    let mut stream = Seed(seed).derive("pairs", 0).stream();
    let mut out = Constraints::new(n).unwrap();
    while out.len() < count.min(n * (n - 1) / 2) {
        let (i, j) = (stream.below(n), stream.below(n));
        if i != j {
            let link = if truth.label(i) == truth.label(j) { Link::Must } else { Link::Cannot };
            out.add(i, j, link).unwrap();
        }
    }
    out
}

pub(super) fn side(constraints: &Constraints) -> SideInformation {
    SideInformation::from_constraints(constraints)
}

/// A small problem of any condition: rows, pairs and what they must be.
fn problem(seed: u64) -> (Array2<f64>, Vec<(usize, usize, f64)>) {
    let mut stream = Seed(seed).derive("problem", 0).stream();
    let (n, k) = (4 + stream.below(20), 1 + stream.below(6));
    let z = Array2::from_shape_simple_fn((n, k), || stream.normal());
    let count = 1 + stream.below(3 * n);
    let mut links: Vec<(usize, usize, f64)> = Vec::new();
    for _ in 0..count {
        let (i, j) = (stream.below(n), stream.below(n));
        if i != j && !links.iter().any(|l| (l.0, l.1) == (i.min(j), i.max(j))) {
            links.push((i.min(j), i.max(j), stream.below(2) as f64));
        }
    }
    (z, links)
}

#[test]
fn objective_equals_that_of_a_long_plain_run() {
    let mut compared = 0;
    for seed in 0..20 {
        let (z, links) = problem(seed);
        let sampling = Sampling::new(z.view(), 1.0, &KnownPairs::from_links(links.clone()));
        for semidefinite in [true, false] {
            let least = least_weight(&sampling, semidefinite);
            if !least.is_finite() {
                continue;
            }
            for multiple in [0.5, 2.0, 8.0] {
                let c = multiple * least;
                let rules = Rules { c, semidefinite, tolerance: 1e-9, max_iterations: 5000 };
                let solved = solve(&sampling, &rules, Spectrum::zero(z.ncols()), &()).unwrap();
                assert_eq!(
                    solved.status,
                    Status::Solved,
                    "seed {seed}, {multiple}, gap {}",
                    solved.gap
                );
                let long = reference::minimise(&z, &links, c, semidefinite, 2500);
                let expected = reference::objective(&z, &links, c, &long);
                let own = reference::objective(&z, &links, c, &solved.m.matrix());
                assert!((own - solved.objective).abs() <= 1e-9 * own.max(1e-300), "what is told");
                assert!(
                    own <= expected * (1.0 + 1e-6),
                    "seed {seed}, {multiple}: {own} above {expected}"
                );
                // The other way round the plain run may not have come all the way: the bound holds
                // for both.
                assert!(
                    expected >= own * (1.0 - 1e-8),
                    "seed {seed}: {expected} below the bound of {own}"
                );
                if (own - expected).abs() <= 1e-6 * expected {
                    compared += 1;
                }
                if multiple < 1.0 {
                    assert!(solved.m.values.is_empty(), "below the least weight M = 0");
                }
            }
        }
    }
    assert!(compared > 70, "the plain run came to the same objective {compared} times");
}

/// Squares of weighted residuals overflow; that was an objective without a value, and solved.
#[test]
fn very_large_weights_have_an_objective_and_an_honest_gap() {
    let (x, truth) = blobs(60, 3, 3, 4.0, 5);
    let known = side(&random_pairs(&truth, 80, 5));
    for c in [1e100, 1e160, 1e300] {
        for solver in [CompletionSolver::Accelerated, CompletionSolver::Stochastic] {
            let method = Mccc::new(3).loss_weight(LossWeight::Fixed(c)).solver(solver);
            let method = method.tolerance(1e-4).max_iterations(20);
            let report = method.fit_completed(x.view(), &known, &()).unwrap().report;
            assert!(report.objective.is_none_or(f64::is_finite), "{c}, {solver:?}");
            assert!(report.error_bound.is_some() || report.status != Status::Solved);
            if report.status == Status::Solved {
                assert!(report.objective.is_some(), "{c}, {solver:?}");
                assert!(report.error_bound.is_some_and(|gap| gap <= 1e-4), "{c}, {solver:?}");
            }
        }
    }
    let z = array![[1.0], [2.0], [3.0]];
    let links = KnownPairs::from_links(vec![(0, 1, 1.0), (1, 2, 0.0)]);
    let sampling = Sampling::new(z.view(), 1.0, &links);
    let zero = Spectrum::zero(1);
    let at = |c: f64| {
        let rules = Rules { c, semidefinite: true, tolerance: 1e-4, max_iterations: 1 };
        certificate(&sampling, &rules, &zero)
    };
    let (objective, gap) = at(1e200);
    assert!((objective / 1e200 / at(1.0).0 - 1.0).abs() < 1e-12 && gap > 0.0, "{objective} {gap}");
}

#[test]
fn the_certificate_is_that_of_a_minimum() {
    for seed in 0..30 {
        let (z, links) = problem(seed + 500);
        let sampling = Sampling::new(z.view(), 1.0, &KnownPairs::from_links(links));
        let least = least_weight(&sampling, false);
        if !least.is_finite() {
            continue;
        }
        let rules =
            Rules { c: 4.0 * least, semidefinite: false, tolerance: 1e-10, max_iterations: 5000 };
        let m = solve(&sampling, &rules, Spectrum::zero(z.ncols()), &()).unwrap().m;
        // G = C A*(S - A(M)) is a subgradient of the nuclear norm at M: V sign(Lambda) V' on its
        // range, no longer than 1 beyond.
        let seen = sampling.forward(m.vectors.view(), &m.values);
        let pull: Vec<f64> =
            seen.iter().zip(sampling.target()).map(|(f, s)| rules.c * (s - f)).collect();
        let g = sampling.adjoint(&pull);
        let range = g.dot(&m.vectors);
        for (l, value) in m.values.iter().enumerate() {
            let off = &range.column(l) - &(&m.vectors.column(l) * value.signum());
            assert!(off.iter().all(|e| e.abs() < 2e-3), "seed {seed}: {off}");
        }
        let all = consilience_num::eigen::symmetric_eigen(g.view()).unwrap().values;
        assert!(all.iter().all(|v| v.abs() <= 1.0 + 1e-3), "seed {seed}: {all:?}");
        assert!(certificate(&sampling, &rules, &m).1 <= 1e-4);
        // Any other M has a larger gap, and never a negative one.
        let off = Spectrum {
            vectors: m.vectors.clone(),
            values: m.values.iter().map(|v| 1.5 * v).collect(),
        };
        assert!(certificate(&sampling, &rules, &off).1 > 1e-3);
    }
}

#[test]
fn planted_clusters_are_recovered_in_every_basis() {
    let (x, truth) = blobs(400, 4, 6, 3.0, 1);
    let known = random_pairs(&truth, 400, 2);
    for basis in [Basis::HeldOut, Basis::Singular, Basis::Neighbours, Basis::StandardizedNeighbours]
    {
        for weight in [LossWeight::HeldOut, LossWeight::Balanced] {
            let found = Mccc::new(4)
                .basis(basis)
                .loss_weight(weight)
                .fit_completed(x.view(), &side(&known), &())
                .unwrap();
            let ari = adjusted_rand(&found.output.clustering.partition, &truth).unwrap();
            assert!(ari > 0.9, "{basis:?} {weight:?}: {ari} {:?}", found.report.notes);
            assert_eq!(found.report.status, Status::Solved, "{basis:?} {:?}", found.report);
            assert!(found.report.error_bound.unwrap() <= 1e-6);
            assert!(found.output.similarity.loss_weight().unwrap() > 0.0);
        }
    }
    let free =
        Mccc::new(4).semidefinite(false).fit_completed(x.view(), &side(&known), &()).unwrap();
    assert!(adjusted_rand(&free.output.clustering.partition, &truth).unwrap() > 0.9);
    let slow = Mccc::new(4).basis(Basis::Singular).solver(CompletionSolver::Stochastic);
    let slow = slow.fit_completed(x.view(), &side(&known), &()).unwrap();
    assert!(adjusted_rand(&slow.output.clustering.partition, &truth).unwrap() > 0.88);
    // A rank of at most 4 costs at least what the optimum costs.
    assert!(slow.report.error_bound.unwrap() < 0.5);
}

#[test]
fn what_held_out_constraints_chose_is_told() {
    // So far apart that no basis and no weight breaks anything: the first of equals is taken.
    let (x, truth) = blobs(150, 3, 30, 6.0, 13);
    let known = random_pairs(&truth, 200, 14);
    for (basis, told) in [
        (Basis::Singular, "basis singular, 25 columns"),
        (Basis::Neighbours, "basis neighbours, 25 columns"),
        (Basis::StandardizedNeighbours, "basis standardized-neighbours, 25 columns"),
    ] {
        let found = Mccc::new(3).basis(basis).fit_completed(x.view(), &side(&known), &()).unwrap();
        let notes = found.report.notes.concat();
        assert!(notes.contains(told) && notes.contains(": 100.0 % of them were kept"), "{notes}");
        assert_eq!(found.output.similarity.eigenvectors(), Some(25));
        assert_eq!(found.output.clustering.partition, truth);
    }
}

#[test]
fn standardized_columns_have_the_mean_0_and_the_variance_1() {
    let (x, _) = blobs(70, 3, 3, 2.0, 24);
    let units = [1e-3, 7.0, 1e200, 0.0];
    let x = Array2::from_shape_fn(x.dim(), |(i, j)| (x[[i, j]] + 3.0) * units[j]);
    let (frame, own) = Frame::standardized(&Dense::F64(x.view()));
    assert_eq!(frame.apply(&Dense::F64(x.view())), own);
    for (j, unit) in units.into_iter().enumerate() {
        if unit == 0.0 {
            assert!(own.column(j).iter().all(|v| *v == 0.0));
            continue;
        }
        let column = x.column(j).mapv(|v| v / unit);
        let mean = column.sum() / 70.0;
        let deviation = (column.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / 70.0).sqrt();
        let expected = column.iter().map(|v| (v - mean) / deviation);
        assert!(own.column(j).iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12), "{j}");
    }
}

#[test]
fn factored_steps_are_those_of_algorithm_1() {
    for seed in 0..25 {
        let (z, links) = problem(seed + 900);
        let k = z.ncols();
        let sampling = Sampling::new(z.view(), 1.0, &KnownPairs::from_links(links.clone()));
        let mut stream = Seed(seed).derive("probes", 0).stream();
        let rank = 1 + stream.below(k);
        let (c, eta) = (0.5 + stream.uniform(), 0.2 / links.len() as f64);
        let probes: Vec<(Array2<f64>, f64)> = (0..12)
            .map(|t| {
                let h = Array2::from_shape_simple_fn((k, rank), || stream.normal());
                (h / (rank as f64).sqrt(), eta / (1.0 + f64::from(t)))
            })
            .collect();
        let path = reference::algorithm_1(&z, &links, c, rank, &probes);
        let mut m = Factors::zero(k);
        for (t, ((h, eta), expected)) in probes.iter().zip(&path).enumerate() {
            let rules = StepRules { c, eta: *eta, rank };
            m = m.step(&sampling, &m.residuals(&sampling), rules, h.view()).unwrap();
            let own = (&m.u * &ndarray::ArrayView1::from(&m.sigma)).dot(&m.v.t());
            let size = expected.iter().fold(1e-12f64, |a, v| a.max(v.abs()));
            let off = (&own - expected).iter().fold(0.0f64, |a, v| a.max(v.abs()));
            assert!(off < 1e-6 * size, "seed {seed}, k {k}, r {rank}, step {t}: {off:e} of {size}");
            assert!(m.sigma.len() <= rank && m.sigma.is_sorted_by(|a, b| a >= b));
        }
        // Line 15, of the whole matrix.
        let own = (&m.u * &ndarray::ArrayView1::from(&m.sigma)).dot(&m.v.t());
        let whole = consilience_num::eigen::symmetric_eigen(((&own + &own.t()) * 0.5).view());
        let Some(&largest) = m.sigma.first() else { continue };
        let threshold = 0.1 * largest;
        let shrunk = m.shrunk(rank, threshold).unwrap();
        let expected: Vec<f64> = whole.unwrap().values.iter().map(|v| v - threshold).collect();
        for (at, value) in shrunk.values.iter().enumerate() {
            assert!((value - expected[at]).abs() < 1e-9 * largest);
        }
        assert!(shrunk.values.len() == rank || expected[shrunk.values.len()] < 1e-9 * largest);
    }
}

#[test]
fn the_published_form_uses_its_own_parts_and_not_ours() {
    let (x, truth) = blobs(400, 4, 6, 3.0, 1);
    let known = random_pairs(&truth, 400, 2);
    let run = |m: Mccc| m.fit_completed(x.view(), &side(&known), &()).unwrap();
    let found = run(Mccc::new(4).published());
    let ari = adjusted_rand(&found.output.clustering.partition, &truth).unwrap();
    assert!(ari > 0.75, "{ari} {:?}", found.report);
    assert_eq!(found.output.similarity.basis(), Some(Basis::RawSingular));
    assert_eq!(found.output.similarity.eigenvectors(), Some(7));
    assert!(found.output.similarity.rank() <= 4);
    assert!(found.report.notes.iter().any(|n| n.contains("most balanced")));
    // The rule of balance runs the solver that was asked for.
    assert_eq!(found.report.status, Status::MaxIterations);
    let c = LossWeight::Fixed(found.output.similarity.loss_weight().unwrap());
    let exact = Mccc::new(4).published().solver(CompletionSolver::Accelerated);
    let exact = run(exact.loss_weight(c));
    assert_eq!(exact.report.status, Status::Solved);
    assert!(exact.report.objective.unwrap() < found.report.objective.unwrap());
    // Columns of length 1 make other clusters of the same similarity.
    let plain = Mccc::new(4).basis(Basis::Singular);
    let (ours, leading) = (run(plain.clone()), run(plain.read_out(Eigenvectors::Leading)));
    let embeddings = [&ours, &leading].map(|f| f.output.similarity.embedding());
    assert_eq!(embeddings[0], embeddings[1]);
    let again = leading.output.clustering.assign(x.view()).unwrap();
    let own = leading.output.clustering.partition.iter().map(Option::unwrap);
    assert!(own.zip(again).filter(|(a, b)| a == b).count() > 395);
}

#[test]
fn constraints_say_which_clusters_are_meant() {
    // Two crossed groupings; the features hold both.
    let x = Array2::from_shape_fn((240, 2), |(i, j)| {
        let group = if j == 0 { i % 2 } else { (i / 2) % 2 };
        group as f64 * 4.0 + ((i * (j + 3) * 31) % 17) as f64 * 0.1
    });
    for asked in [0usize, 1] {
        let truth = Partition::from_fn(240, |i| Some(((i >> asked) % 2) as u64)).unwrap();
        let known = random_pairs(&truth, 150, 3);
        let found = Mccc::new(2).fit_completed(x.view(), &side(&known), &()).unwrap().output;
        assert!(adjusted_rand(&found.clustering.partition, &truth).unwrap() > 0.99, "{asked}");
    }
}

#[test]
fn new_objects_get_the_clusters_of_their_like() {
    let (x, truth) = blobs(600, 3, 4, 4.0, 5);
    let (old, new) = (x.slice(ndarray::s![..450, ..]), x.slice(ndarray::s![450.., ..]));
    let first = truth.select(&(0..450).collect::<Vec<_>>()).unwrap();
    let known = random_pairs(&first, 300, 6);
    for basis in
        [Basis::Singular, Basis::RawSingular, Basis::Neighbours, Basis::StandardizedNeighbours]
    {
        let found =
            Mccc::new(3).basis(basis).fit_completed(old, &side(&known), &()).unwrap().output;
        let again = found.clustering.assign(old).unwrap();
        let same = |i: usize| found.clustering.partition.label(i) == Some(again[i]);
        assert!((0..450).all(same), "{basis:?}");
        let predicted = found.clustering.predict(new).unwrap();
        let rest = truth.select(&(450..600).collect::<Vec<_>>()).unwrap();
        assert!(adjusted_rand(&predicted, &rest).unwrap() > 0.95, "{basis:?}");
        let narrow = array![[1.0, 2.0]];
        assert_eq!(
            found.clustering.assign(narrow.view()).unwrap_err().kind(),
            ErrorKind::ShapeMismatch
        );
        assert_eq!(found.similarity.between(0, 450).unwrap_err().kind(), ErrorKind::OutOfRange);
    }
}

/// Clusters that overlap, also on a grid, where most objects are equal to others.
#[test]
fn objects_of_the_fit_and_their_equals_keep_their_clusters() {
    for seed in 0..3 {
        let (x, truth) = blobs(300, 4, 2, 1.5, seed);
        let known = random_pairs(&truth, 200, seed);
        for x in [x.clone(), x.mapv(f64::round)] {
            for basis in [Basis::Neighbours, Basis::StandardizedNeighbours] {
                let method = Mccc::new(4).basis(basis).eigenvectors(25);
                let found = method.fit_completed(x.view(), &side(&known), &()).unwrap().output;
                let again = found.clustering.assign(x.view()).unwrap();
                let own = |i: usize| found.clustering.partition.label(i).unwrap();
                for i in 0..300 {
                    assert_eq!(again[i], own(i), "{seed} {basis:?}: {i}");
                    let equal = |j: &usize| x.row(i) == x.row(*j);
                    assert!((0..i).filter(equal).all(|j| own(j) == own(i)), "{basis:?}: {i}");
                }
            }
        }
    }
}

#[test]
fn bits_do_not_depend_on_threads_nor_on_the_order_of_constraints() {
    let (x, truth) = blobs(300, 3, 5, 1.5, 7);
    let known = random_pairs(&truth, 200, 8);
    let mut turned = Constraints::new(300).unwrap();
    for Pair { i, j, link } in known.iter().collect::<Vec<_>>().into_iter().rev() {
        turned.add(j, i, link).unwrap();
        turned.add(i, j, link).unwrap();
        turned.add(i, i, Link::Must).unwrap();
    }
    let run = |threads, constraints: &Constraints| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            Mccc::new(3).fit_completed(x.view(), &side(constraints), &()).unwrap().output
        })
    };
    let one = run(1, &known);
    for threads in [2, 3] {
        let more = run(threads, &known);
        assert_eq!(
            (one.similarity.embedding(), &one.clustering.partition),
            (more.similarity.embedding(), &more.clustering.partition)
        );
    }
    let other = run(2, &turned);
    assert_eq!(
        (one.similarity.embedding(), &one.clustering.partition),
        (other.similarity.embedding(), &other.clustering.partition)
    );
}

#[test]
fn permuted_objects_get_the_permuted_clusters() {
    let (x, truth) = blobs(300, 3, 5, 3.0, 9);
    let known = random_pairs(&truth, 250, 10);
    let mut order: Vec<usize> = (0..300).collect();
    Seed(1).stream().shuffle(&mut order);
    let mut place = vec![0; 300];
    order.iter().enumerate().for_each(|(new, &old)| place[old] = new);
    let mut moved = Constraints::new(300).unwrap();
    known.iter().for_each(|Pair { i, j, link }| moved.add(place[i], place[j], link).unwrap());
    let (a, b) = (
        Mccc::new(3)
            .fit_completed(x.view(), &side(&known), &())
            .unwrap()
            .output
            .clustering
            .partition,
        Mccc::new(3)
            .fit_completed(x.select(Axis(0), &order).view(), &side(&moved), &())
            .unwrap()
            .output
            .clustering
            .partition,
    );
    assert_eq!(a.select(&order).unwrap(), b);
}

#[test]
fn both_precisions_and_extreme_units_agree() {
    let (x, truth) = blobs(120, 3, 3, 4.0, 11);
    let known = random_pairs(&truth, 120, 12);
    let plain = Mccc::new(3)
        .fit_completed(x.view(), &side(&known), &())
        .unwrap()
        .output
        .clustering
        .partition;
    let single = x.mapv(|v| v as f32);
    assert_eq!(
        Mccc::new(3)
            .fit_completed(single.view(), &side(&known), &())
            .unwrap()
            .output
            .clustering
            .partition,
        plain
    );
    for factor in [2f64.powi(900), 2f64.powi(-900)] {
        let far = &x * factor;
        assert_eq!(
            Mccc::new(3)
                .fit_completed(far.view(), &side(&known), &())
                .unwrap()
                .output
                .clustering
                .partition,
            plain
        );
    }
}

/// Squares of the distances between the others vanished beside it, and what was left were clusters
/// by the numbers of the objects; as a new row it was said to hold NaN.
#[test]
fn a_row_of_another_scale_leaves_the_others_as_they_are() {
    let (x, truth) = blobs(120, 3, 3, 4.0, 11);
    let known = side(&random_pairs(&truth, 120, 12));
    let far = |factor: f64| {
        let mut x = x.clone();
        x.row_mut(7).mapv_inplace(|v| v * factor);
        x
    };
    let fit = |basis, x: &Array2<f64>| {
        Mccc::new(3).basis(basis).fit_completed(x.view(), &known, &()).unwrap()
    };
    let found = fit(Basis::Neighbours, &far(1e200)).output.clustering.partition;
    assert_eq!(found, fit(Basis::Neighbours, &far(1e20)).output.clustering.partition);
    assert!(adjusted_rand(&found, &truth).unwrap() > 0.5);
    for basis in [Basis::Neighbours, Basis::StandardizedNeighbours, Basis::Singular] {
        let plain = fit(basis, &x).output.clustering;
        let again = plain.assign(far(1e200).view()).unwrap();
        let same = |i: usize| plain.partition.label(i) == Some(again[i]);
        assert!((0..120).filter(|i| *i != 7).all(same), "{basis:?}");
    }
    // In the unit of their deviations the others are all equal.
    let report = fit(Basis::StandardizedNeighbours, &far(1e200)).report;
    assert_eq!(report.clusters_missing, Some(1));
}

#[test]
fn too_few_constraints_are_plain_spectral_clustering() {
    let (x, truth) = blobs(150, 3, 4, 6.0, 13);
    let mut known = Constraints::new(150).unwrap();
    for round in 0..3 {
        for basis in [Basis::HeldOut, Basis::Singular] {
            let found =
                Mccc::new(3).basis(basis).fit_completed(x.view(), &side(&known), &()).unwrap();
            assert!(found.report.notes.iter().any(|n| n.contains("plain spectral")), "{round}");
            assert!(
                adjusted_rand(&found.output.clustering.partition, &truth).unwrap() > 0.9,
                "{round} {basis:?}"
            );
        }
        // Of one kind alone.
        known = Constraints::new(150).unwrap();
        let link = if round == 0 { Link::Must } else { Link::Cannot };
        let by = if round == 0 { 3 } else { 1 };
        (0..20).for_each(|i| known.add(i, i + by, link).unwrap());
    }
    // A few of both are used, without a trial, where anything is named.
    (0..5).for_each(|i| known.add(i + 60, i + 63, Link::Must).unwrap());
    let plain = Mccc::new(3);
    let methods = [
        (plain.clone(), false, "in the basis neighbours"),
        (plain.clone().eigenvectors(3), true, "too few to choose a basis; neighbours, 3 columns"),
        (plain.clone().loss_weight(LossWeight::Balanced), true, "too few to choose a basis"),
        (plain.basis(Basis::Singular), true, ""),
    ];
    for (method, used, note) in methods {
        let found = method.fit_completed(x.view(), &side(&known), &()).unwrap();
        assert_eq!(found.report.objective.is_some(), used, "{method:?}");
        let told = found.report.notes.concat();
        assert!(told.contains(note) && told.contains("basis") != note.is_empty(), "{told}");
        assert_eq!(found.output.clustering.partition.n_clusters(), 3);
    }
}

/// Some M in 25 columns fits ten links, or 30 of which three are must-links, and it was once taken.
#[test]
fn a_handful_of_links_does_not_spoil_what_spectral_clustering_finds() {
    for seed in 0..4 {
        let (x, truth) = blobs(90, 3, 6, 8.0, seed);
        let mut three = Constraints::new(90).unwrap();
        (0..27).for_each(|i| three.add(i, i + 1, Link::Cannot).unwrap());
        (0..3).for_each(|i| three.add(i + 30, i + 60, Link::Must).unwrap());
        for known in [random_pairs(&truth, 10, seed + 50), three] {
            let found = Mccc::new(3).fit_completed(x.view(), &side(&known), &()).unwrap().output;
            assert_eq!(found.clustering.partition, truth, "{seed}");
            assert_eq!(found.similarity.basis(), Some(Basis::Neighbours));
        }
    }
}

#[test]
fn odd_tables() {
    // One object.
    let one = array![[3.0, f64::MIN_POSITIVE]];
    for basis in [Basis::HeldOut, Basis::Singular, Basis::Neighbours] {
        let found = Mccc::new(1).basis(basis).fit_completed(
            one.view(),
            &side(&Constraints::new(1).unwrap()),
            &(),
        );
        assert_eq!(found.unwrap().output.clustering.partition.n_clusters(), 1);
    }
    // Equal objects, constant columns, more clusters than are distinct.
    let mut known = Constraints::new(40).unwrap();
    for i in 0..10 {
        known.add(2 * i, 2 * i + 2, Link::Must).unwrap();
        known.add(2 * i, 2 * i + 1, Link::Cannot).unwrap();
    }
    for table in [Array2::from_elem((40, 3), 7.0), Array2::zeros((40, 1))] {
        for basis in [Basis::HeldOut, Basis::Singular, Basis::RawSingular, Basis::Neighbours] {
            let found =
                Mccc::new(3).basis(basis).fit_completed(table.view(), &side(&known), &()).unwrap();
            assert!(found.output.clustering.partition.n_clusters() >= 1);
            assert!(found.output.similarity.embedding().iter().all(|v| v.is_finite()));
        }
    }
    let two = Array2::from_shape_fn((40, 2), |(i, j)| if j == 0 { (i % 2) as f64 } else { 5.0 });
    let found =
        Mccc::new(3).basis(Basis::Singular).fit_completed(two.view(), &side(&known), &()).unwrap();
    assert_eq!(
        (found.output.clustering.partition.n_clusters(), found.report.clusters_missing.is_some()),
        (2, true)
    );
}

#[test]
fn bad_input_is_told_with_its_place() {
    let (x, truth) = blobs(30, 2, 2, 3.0, 15);
    let known = random_pairs(&truth, 40, 16);
    let run = |m: Mccc, x: &Array2<f64>| {
        m.fit_completed(x.view(), &side(&known), &()).map(|_| ()).unwrap_err()
    };
    for (m, what) in [
        (Mccc::new(0), "0 clusters of 30"),
        (Mccc::new(31), "31 clusters of 30"),
        (Mccc::new(2).eigenvectors(0), "eigenvectors is 0"),
        (Mccc::new(2).tolerance(f64::NAN), "tolerance is NaN"),
        (Mccc::new(2).tolerance(0.0), "tolerance is 0"),
        (Mccc::new(2).loss_weight(LossWeight::Fixed(-1.0)), "loss weight is -1"),
        (Mccc::new(2).max_iterations(0), "max_iterations is 0"),
        (Mccc::new(2).restarts(0), "0 restarts; expected 1..=10000"),
    ] {
        let error = run(m, &x);
        assert_eq!(error.kind(), ErrorKind::InvalidParameter);
        assert!(error.message().contains(what), "{error}");
    }
    let mut bad = x.clone();
    bad[[7, 1]] = f64::NAN;
    let error = run(Mccc::new(2), &bad);
    assert_eq!(error.kind(), ErrorKind::NonFinite);
    assert!(error.message().contains("row 7, column 1"), "{error}");
    assert_eq!(run(Mccc::new(2), &Array2::zeros((30, 0))).kind(), ErrorKind::Empty);
    let short = x.slice(ndarray::s![..20, ..]);
    let error = Mccc::new(2).fit_completed(short, &side(&known), &()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ShapeMismatch);
    // Weights at the ends of the scale.
    for c in [1e-300, 1e300] {
        let found = Mccc::new(2)
            .loss_weight(LossWeight::Fixed(c))
            .fit_completed(x.view(), &side(&known), &())
            .unwrap();
        assert!(found.output.similarity.embedding().iter().all(|v| v.is_finite()));
    }
}

/// Stops at a given question.
struct StopAt {
    at: usize,
    asked: AtomicUsize,
}

impl Observer for StopAt {
    fn cancelled(&self) -> bool {
        // Only once: who forgets the answer goes on.
        self.asked.fetch_add(1, Ordering::Relaxed) == self.at
    }
}

#[test]
fn cancelled_at_any_question() {
    let (x, truth) = blobs(90, 3, 3, 3.0, 17);
    let known = random_pairs(&truth, 80, 18);
    let count = StopAt { at: usize::MAX, asked: AtomicUsize::new(0) };
    let method = Mccc::new(3).max_iterations(20).restarts(1);
    method.fit_completed(x.view(), &side(&known), &count).unwrap();
    let questions = count.asked.into_inner();
    assert!(questions > 10);
    for at in (0..questions.min(4)).chain((4..questions).step_by(questions.div_ceil(25))) {
        let stop = StopAt { at, asked: AtomicUsize::new(0) };
        let error = method.fit_completed(x.view(), &side(&known), &stop).map(|_| ()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Cancelled, "question {at} of {questions}");
    }
}

#[test]
fn decompositions_can_be_stopped() {
    let (x, _) = blobs(90, 3, 3, 3.0, 17);
    // Question 0 comes before it.
    for at in 1..4 {
        let stop = StopAt { at, asked: AtomicUsize::new(0) };
        let found = Coordinates::new(Basis::Singular, &x.view().into(), 3, Seed(0), &stop);
        assert_eq!(found.err().map(|e| e.kind()), Some(ErrorKind::Cancelled));
    }
}

#[test]
fn own_coordinates() {
    let (x, truth) = blobs(200, 4, 6, 3.0, 19);
    let known = random_pairs(&truth, 200, 20);
    let top = consilience_num::svd::truncated_svd(&x, &consilience_num::svd::SvdOptions::new(7));
    let found = Mccc::new(4).fit_coordinates(top.left.view(), &side(&known), &()).unwrap();
    assert!(adjusted_rand(&found.output.partition, &truth).unwrap() > 0.97);
    let similarity = found.output.similarity;
    assert_eq!((similarity.basis(), similarity.eigenvectors()), (None, Some(7)));
}

/// Which was told as M = 0.
#[test]
fn a_free_solution_below_0_is_told_as_such() {
    // Must-linked objects have opposite coordinates.
    let z = Array2::from_shape_fn((8, 1), |(i, _)| if i % 2 == 0 { 1.0 } else { -1.0 });
    let mut known = Constraints::new(8).unwrap();
    known.extend(&[Pair::must_link(0, 1), Pair::must_link(2, 3), Pair::cannot_link(4, 6)]).unwrap();
    let notes = |semidefinite: bool| {
        let method = Mccc::new(1).semidefinite(semidefinite).loss_weight(LossWeight::Fixed(1e3));
        let found = method.fit_coordinates(z.view(), &side(&known), &()).unwrap();
        found.report.notes.join("; ")
    };
    let free = notes(false);
    assert!(free.contains("negative eigenvalues only") && !free.contains("M = 0"), "{free}");
    assert!(notes(true).contains("M = 0"), "{}", notes(true));
}

#[test]
fn the_map_is_the_least_and_other_rows_change_nothing() {
    for seed in 0..4 {
        let (x, truth) = blobs(90, 3, 4, 3.0, 30 + seed);
        let options = consilience_num::svd::SvdOptions::new(5);
        let z = consilience_num::svd::truncated_svd(&x, &options).left;
        let known = side(&random_pairs(&truth, 25, 40 + seed));
        let objects: Vec<usize> = known.labelled_objects().iter().map(|o| o.0).collect();
        assert!(objects.len() < 60);
        let (rows, few) = (z.select(Axis(0), &objects), known.select(&objects).unwrap());
        let c = 40.0;
        let method =
            Mccc::new(3).loss_weight(LossWeight::Fixed(c)).tolerance(1e-9).max_iterations(9_000);
        let complete = |z: &Array2<f64>, side: &SideInformation| {
            let found = method.complete_map(z.view(), side, &()).unwrap().output;
            assert!((found.loss_weight.unwrap() / c - 1.0).abs() < 1e-9);
            found.map.dot(&found.map.t())
        };
        let m = complete(&rows, &few);
        let known_pairs = KnownPairs::new(&few, MemoryBudget::default(), &()).unwrap();
        let links = known_pairs.links();
        let long = reference::minimise(&rows, links, c, true, 6_000);
        let expected = reference::objective(&rows, links, c, &long);
        let own = reference::objective(&rows, links, c, &m);
        assert!(own < expected * (1.0 + 1e-6) && own > 0.99 * expected, "{own} {expected}");
        let all = complete(&z, &known);
        let size = m.iter().fold(0.0f64, |s, v| s.max(v.abs()));
        assert!(size > 0.0 && (&m - &all).iter().all(|d| d.abs() < 1e-3 * size), "seed {seed}");
    }
}

#[test]
fn labels_are_every_pair_of_the_labelled() {
    let (x, truth) = blobs(150, 3, 4, 4.0, 23);
    let labels: Vec<i64> = (0..150).map(|i| if i < 30 { (i % 3) as i64 } else { -1 }).collect();
    let mut pairs = Constraints::new(150).unwrap();
    for i in 0..30 {
        for j in 0..i {
            let link = if i % 3 == j % 3 { Link::Must } else { Link::Cannot };
            pairs.add(i, j, link).unwrap();
        }
    }
    let from_labels = SideInformation::from_labels(&labels).unwrap();
    let method = Mccc::new(3);
    let by_labels = method.fit_completed(x.view(), &from_labels, &()).unwrap().output;
    let by_pairs = method.fit_completed(x.view(), &side(&pairs), &()).unwrap().output;
    assert_eq!(by_labels.similarity.embedding(), by_pairs.similarity.embedding());
    assert!(adjusted_rand(&by_labels.clustering.partition, &truth).unwrap() > 0.97);
    // As any constrained clusterer.
    let short = method.cluster(x.view().into(), &from_labels).unwrap();
    assert_eq!(short.partition, by_labels.clustering.partition);
    let tiny = method.memory_budget(MemoryBudget::bytes(1000));
    assert_eq!(
        tiny.cluster(x.view().into(), &from_labels).unwrap_err().kind(),
        ErrorKind::TooLarge
    );
}

#[test]
fn many_objects_need_representatives() {
    // Two rings, one in the other: no linear function of the features distinguishes them.
    let n = 20_400;
    let x = Array2::from_shape_fn((n, 2), |(i, j)| {
        let (radius, turn) = (if i % 2 == 0 { 1.0f32 } else { 3.0 }, i as f32 * 2.399_963);
        (radius + (i % 7) as f32 * 0.03) * if j == 0 { turn.cos() } else { turn.sin() }
    });
    let truth = Partition::from_fn(n, |i| Some((i % 2) as u64)).unwrap();
    let known = random_pairs(&truth, 200, 21);
    let method = Mccc::new(2).basis(Basis::Neighbours).eigenvectors(30);
    let run = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| method.fit_completed(x.view(), &side(&known), &()).unwrap().output)
    };
    let found = run(2);
    assert!(adjusted_rand(&found.clustering.partition, &truth).unwrap() > 0.99);
    let again = found.clustering.assign(x.view()).unwrap();
    let same = again
        .iter()
        .enumerate()
        .filter(|&(i, &c)| found.clustering.partition.label(i) == Some(c))
        .count();
    assert!(same > n - 10, "{same}");
    assert_eq!(found.similarity.embedding(), run(1).similarity.embedding());
}

/// A graph of neighbours takes far more while its eigenvectors are found than the coordinates.
#[test]
fn what_finding_coordinates_takes_is_asked_of_the_budget() {
    let x = Array2::from_shape_fn((600, 2), |(i, j)| (i % (7 + 4 * j)) as f64 + 0.01 * i as f64);
    let method = Mccc::new(2).basis(Basis::Neighbours);
    let kind = |bytes: u64| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
        let method = method.clone().memory_budget(MemoryBudget::bytes(bytes));
        pool.install(|| method.prepare(x.view(), &()).map_err(|error| error.kind()))
    };
    assert_eq!(kind(4_000_000).unwrap_err(), ErrorKind::TooLarge);
    assert_eq!(kind(9_000_000).unwrap().n_objects(), 600);
}
