//! EC-CMS on all objects, straight from its formulas, and what holds the fast one equal to it.

use consilience_core::{ConsensusFunction, Ensemble, Microclusters, Partition, Seed, Similarity};
use ndarray::Array2;
use proptest::prelude::*;

use super::{EcCms, SelfEnhancedCoAssociation};
use crate::co_association::threshold::Threshold;
use crate::reference::{compare, each_small_world, eci};

/// A few different rows, many of them equal, some labels missing.
pub(crate) fn world(seed: u64, n: usize, members: usize, k: usize, missing: f64) -> Ensemble {
    let mut s = Seed(seed).stream();
    let kinds = 1 + n / 2;
    // Members that mostly agree, so that some pairs are reliable.
    let truth: Vec<usize> = (0..kinds).map(|_| s.below(k)).collect();
    let of: Vec<usize> = (0..n).map(|_| s.below(kinds)).collect();
    let member = || {
        let table: Vec<i64> = truth
            .iter()
            .map(|&t| {
                if s.uniform() < missing {
                    -1
                } else if s.uniform() < 0.3 {
                    s.below(k) as i64
                } else {
                    t as i64
                }
            })
            .collect();
        Partition::from_labels(&of.iter().map(|&o| table[o]).collect::<Vec<_>>()).unwrap()
    };
    Ensemble::new(std::iter::repeat_with(member).take(members).collect()).unwrap()
}

fn label(e: &Ensemble, u: usize, i: usize) -> Option<usize> {
    e.members()[u].label(i)
}

/// exp(-H / (M theta)) of the cluster of object i in member u.
fn reliability(e: &Ensemble, u: usize, i: usize) -> f64 {
    eci(e, u, label(e, u, i).unwrap(), 0.4)
}

/// Over the members that label both, the mean of what a common cluster counts.
pub(crate) fn together(
    e: &Ensemble,
    objects: &[usize],
    weight: impl Fn(usize, usize) -> f64,
) -> Array2<f64> {
    Array2::from_shape_fn((objects.len(), objects.len()), |(x, y)| {
        let (i, j) = (objects[x], objects[y]);
        let (mut sum, mut both) = (0.0, 0.0);
        for u in 0..e.n_members() {
            if let (Some(a), Some(b)) = (label(e, u, i), label(e, u, j)) {
                both += 1.0;
                sum += if a == b { weight(u, i) } else { 0.0 };
            }
        }
        if both > 0.0 { sum / both } else { 0.0 }
    })
}

pub(crate) fn labelled(e: &Ensemble) -> Vec<usize> {
    (0..e.n_objects()).filter(|&i| (0..e.n_members()).any(|u| label(e, u, i).is_some())).collect()
}

/// Gauss-Jordan.
pub(crate) fn inverse(mut a: Array2<f64>) -> Array2<f64> {
    let n = a.nrows();
    let mut out = Array2::eye(n);
    for k in 0..n {
        let pivot = a[[k, k]];
        for j in 0..n {
            a[[k, j]] /= pivot;
            out[[k, j]] /= pivot;
        }
        for i in (0..n).filter(|&i| i != k) {
            let factor = a[[i, k]];
            for j in 0..n {
                a[[i, j]] -= factor * a[[k, j]];
                out[[i, j]] -= factor * out[[k, j]];
            }
        }
    }
    out
}

struct Settings {
    alpha: f64,
    lambda: f64,
    rounds: usize,
    tolerance: f64,
}

/// C on the labelled objects, and the rounds made.
fn enhanced(e: &Ensemble, of: &Settings) -> (Array2<f64>, usize) {
    let objects = labelled(e);
    let n = objects.len();
    let mut a = together(e, &objects, |u, i| reliability(e, u, i));
    a.diag_mut().fill(1.0);
    let mut h = together(e, &objects, |_, _| 1.0).mapv(|x| if x >= of.alpha { x } else { 0.0 });
    h.diag_mut().fill(0.0);
    let observed = h.mapv(|x| x > 0.0);
    let phi = Array2::from_diag(&h.sum_axis(ndarray::Axis(1))) - &h;
    let q = inverse(&phi * 2.0 + Array2::<f64>::eye(n) * 2.0);
    let zero = || Array2::<f64>::zeros((n, n));
    let (mut c, mut err, mut f, mut y1, mut y2) = (zero(), zero(), zero(), a.clone(), zero());
    let norm = |x: &Array2<f64>| x.iter().map(|v| v * v).sum::<f64>().sqrt();
    let mut size = 0.0;
    for round in 1..=of.rounds {
        let last = [c.clone(), err.clone(), f.clone(), y1.clone(), y2.clone()];
        c = q.dot(&((&a - &err + &y1) + (&f - &y2)));
        err = (&a - &c + &y1) / (of.lambda + 1.0);
        err.zip_mut_with(&observed, |e, &o| *e = if o { 0.0 } else { *e });
        let z = &c + &y2;
        f = (&z + &z.t()).mapv(|v| (0.5 * v).clamp(0.0, 1.0));
        y1 = &y1 + &(&a - &c - &err);
        y2 = &y2 + &(&c - &f);
        size = if round == 1 { norm(&c) } else { size };
        let still = |(new, old): (&Array2<f64>, &Array2<f64>)| {
            norm(&(new - old)) <= of.tolerance * norm(old) + 1e-12 * size
        };
        if [&c, &err, &f, &y1, &y2].into_iter().zip(&last).all(still) {
            return (c, round);
        }
    }
    (c, of.rounds)
}

fn check(e: &Ensemble, of: &Settings) {
    let fit = SelfEnhancedCoAssociation::default()
        .confidence(of.alpha)
        .error_penalty(of.lambda)
        .max_iterations(of.rounds)
        .tolerance(of.tolerance)
        .fit(e, &())
        .unwrap();
    // Without links A itself comes out. The iterations would end in a multiple of it, but on the
    // way to there some entries may be cut at 1.
    let linked = fit.report.notes.iter().all(|note| !note.contains("no two"));
    let c = if linked {
        let (c, rounds) = enhanced(e, of);
        let made = fit.report.iterations;
        if of.tolerance > 0.0 && made != rounds {
            // What changes by as much as the tolerance may be rounded to either side of it.
            assert_eq!(made.abs_diff(rounds), 1);
            enhanced(e, &Settings { rounds: made, tolerance: 0.0, ..*of }).0
        } else {
            c
        }
    } else {
        together(e, &labelled(e), |u, i| reliability(e, u, i))
    };
    let objects = labelled(e);
    let at = |i: usize| objects.binary_search(&i).unwrap();
    compare(&fit.output, !linked, 1e-8, |i, j| {
        let (x, y) = (at(i), at(j));
        (0.5 * (c[[x, y]] + c[[y, x]])).clamp(0.0, 1.0)
    });
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(120))]

    #[test]
    fn microclusters_are_exact(
        seed in 0u64..100_000, n in 1usize..26, m in 1usize..8, k in 1usize..5, gaps: bool,
        alpha in prop_oneof![Just(0.3), Just(0.6), Just(0.8), Just(1.0), Just(1.1)],
        lambda in prop_oneof![Just(0.01), Just(0.5), Just(1.0), Just(30.0)],
        rounds in prop_oneof![Just(1usize), Just(2), Just(9), Just(40), Just(100)],
        tolerance in prop_oneof![Just(0.0), Just(0.0123), Just(0.1057)],
    ) {
        let e = world(seed, n, m, k, if gaps { 0.2 } else { 0.0 });
        check(&e, &Settings { alpha, lambda, rounds, tolerance });
    }
}

/// Every pair of members over five objects, each object possibly unlabelled in each.
#[test]
fn every_small_world() {
    each_small_world(|at, e| {
        let alpha = [0.4, 0.8][at % 2];
        check(e, &Settings { alpha, lambda: 1.0, rounds: 9, tolerance: 0.0 });
    });
}

/// Where no pair is reliable, and the iterations would cut entries at 1.
#[test]
fn without_links_the_weighted_co_association_comes_out() {
    let settings = Settings { alpha: 1.1, lambda: 30.0, rounds: 9, tolerance: 0.0 };
    check(&world(11_078, 12, 7, 2, 0.2), &settings);
}

/// A row that stands for many is as the rows themselves.
pub(crate) fn check_counts(method: &impl ConsensusFunction<Output = Partition>) {
    for seed in 0..20 {
        let e = world(seed, 14, 5, 3, 0.1);
        let counts: Vec<u64> = (0..14).map(|i| 1 + (seed + i) % 4).collect();
        let of: Vec<usize> = (0..14).flat_map(|i| vec![i; counts[i] as usize]).collect();
        let many = method.consensus(&e.select_objects(&of).unwrap()).unwrap();
        let few = method.consensus(&e.with_counts(counts).unwrap()).unwrap();
        for (x, &i) in of.iter().enumerate() {
            assert_eq!(many.label(x), few.label(i), "seed {seed} object {i}");
        }
    }
}

#[test]
fn counts_are_repeated_rows() {
    check_counts(&EcCms::new(3).confidence(0.6));
}

/// A raised confidence is as the same confidence given, to the bit; a share that holds changes
/// nothing.
#[test]
fn a_raised_confidence_is_that_confidence() {
    let mut raised = 0;
    for seed in 0..30 {
        let e = world(seed, 24, 7, 4, if seed % 2 == 0 { 0.0 } else { 0.2 });
        let nodes = Microclusters::of(&e).unwrap();
        for (confidence, share) in [(0.4, 0.3), (0.4, 0.6), (0.7, 0.5)] {
            let method = SelfEnhancedCoAssociation::default().confidence(confidence);
            let found = method.largest_share(share).similarity(&e).unwrap();
            let threshold = Threshold::raised(&nodes, confidence, share, &()).unwrap();
            raised += usize::from(threshold != Threshold::From(confidence));
            let given = method.confidence(threshold.least()).similarity(&e).unwrap();
            assert_eq!(found, given, "seed {seed}");
            if threshold == Threshold::From(confidence) {
                assert_eq!(found, method.similarity(&e).unwrap(), "seed {seed}");
            }
        }
    }
    assert!((10..90).contains(&raised), "{raised} of 90");
}

/// Shares as they were given, of the objects that somebody labels, and limits by their names.
#[test]
fn what_is_told_of_components_can_be_acted_on() {
    // Pairs link five of the first seven objects with one another; nobody labels the others.
    let member = |labels: [i64; 7]| {
        let labels = labels.into_iter().chain([-1; 5]);
        Partition::from_labels(&labels.collect::<Vec<i64>>()).unwrap()
    };
    let same = [0, 0, 0, 1, 1, 2, 2];
    let members = vec![member(same), member([0, 0, 1, 1, 1, 2, 2]), member(same)];
    let e = Ensemble::new(members).unwrap();
    let method = |share: f64| EcCms::new(3).confidence(0.3).largest_share(share);
    let told = |share: f64, what: &str| {
        let notes = method(share).fit(&e, &()).unwrap().report.notes;
        assert!(notes.iter().any(|note| note.contains(what)), "{notes:?}");
    };
    told(1.0, "71 % of the labelled objects are in one component");
    told(0.57, "no component of reliable pairs holds more than 0.57 of the labelled objects");
    told(0.07, "at every confidence one component of reliable pairs holds more than 0.07 of the");
    let error = method(1.0).largest_component(1).consensus(&e).unwrap_err();
    assert!(error.message().ends_with("raise confidence or largest_component"), "{error}");
}

#[test]
fn shares_out_of_range_are_refused() {
    let e = world(1, 9, 3, 2, 0.0);
    for share in [0.0, -0.5, 1.5, f64::NAN] {
        let error = EcCms::new(2).largest_share(share).consensus(&e).unwrap_err();
        assert!(error.to_string().contains(&format!("largest share {share}")), "{error}");
    }
}
