//! SDGCA on all objects, straight from its formulas, and what holds the fast one equal to it.

use consilience_core::{Ensemble, Similarity};
use ndarray::{Array2, Axis};
use proptest::prelude::*;

use super::{GuidedCoAssociation, Sdgca};
use crate::co_association::ec_cms::reference::{check_counts, inverse, labelled, together, world};
use crate::reference::{compare, each_small_world, mean_entropy, propagated};

struct Settings {
    lambda: f64,
    eta: f64,
    theta: f64,
    rounds: usize,
}

/// Mean entropy (bits) of the members inside the cluster of object i in member u, by the logarithm
/// of that member's clusters.
fn certainty(e: &Ensemble, u: usize, i: usize, lambda: f64) -> f64 {
    let entropy = mean_entropy(e, u, e.members()[u].label(i).unwrap());
    if entropy == 0.0 {
        return 1.0;
    }
    let clusters = e.members()[u].n_clusters() as f64;
    (-entropy / (lambda * clusters.log2())).exp().max(1e-100)
}

/// N, must-links and cannot-links.
fn start(e: &Ensemble, of: &Settings) -> (Array2<f64>, Array2<f64>, Array2<f64>) {
    let objects = labelled(e);
    let mut n = together(e, &objects, |u, i| certainty(e, u, i, of.lambda));
    let largest = n.iter().fold(0.0f64, |m, &x| m.max(x));
    n /= largest;
    n.diag_mut().fill(1.0);
    let ca = together(e, &objects, |_, _| 1.0);
    let mut must =
        Array2::from_shape_fn(n.dim(), |at| if ca[at] >= of.theta { n[at] } else { 0.0 });
    let (least, most) =
        must.iter().fold((f64::INFINITY, 0.0f64), |(a, b), &x| (a.min(x), b.max(x)));
    must.mapv_inplace(|x| {
        if most > 0.0 && least == most {
            1.0
        } else if x > least + 1e-12 {
            (x - least) / (most - least) / 5.0 + 0.8
        } else {
            0.0
        }
    });
    let (clusters, alike) = propagated(e, 20);
    let at = |u: usize, c: usize| clusters.iter().position(|&x| x == (u, c)).unwrap();
    let mut cannot = Array2::zeros(n.dim());
    for (x, &i) in objects.iter().enumerate() {
        for (y, &j) in objects.iter().enumerate() {
            let (mut sum, mut both) = (0.0, 0.0);
            for (u, member) in e.members().iter().enumerate() {
                if let (Some(a), Some(b)) = (member.label(i), member.label(j)) {
                    both += 1.0;
                    sum += 1.0 - alike[[at(u, a), at(u, b)]];
                }
            }
            if both > 0.0 && sum / both >= 0.8 - 1e-10 {
                cannot[[x, y]] = sum / both;
                must[[x, y]] = 0.0;
            }
        }
    }
    (n, must, cannot)
}

/// W on the labelled objects.
fn guided(e: &Ensemble, of: &Settings) -> Array2<f64> {
    let (n, must, cannot) = start(e, of);
    if of.eta > 1.0 {
        return n;
    }
    let h = together(e, &labelled(e), |_, _| 1.0).mapv(|x| if x >= of.eta { x } else { 0.0 });
    let l = Array2::from_diag(&h.sum_axis(Axis(1))) - &h;
    let eye = Array2::<f64>::eye(n.nrows());
    let zero = || Array2::<f64>::zeros(n.dim());
    let (mut d, mut f1, mut f2) = (zero(), zero(), zero());
    let (mut y1, mut y2, mut mu) = (zero(), zero(), 1.0f64);
    let bound = |x: &Array2<f64>, y: &Array2<f64>, target: &Array2<f64>, mu: f64| {
        let inside = Array2::from_shape_fn(x.dim(), |at| {
            let value = (y[at] / (2.0 * mu) + x[at]).clamp(0.0, 1.0);
            if target[at] > 0.0 { target[at] } else { value }
        });
        (&inside + &inside.t()) * 0.5
    };
    for _ in 0..of.rounds {
        let q = inverse(&l * 2.0 + &eye * (2.0 * mu));
        let s = (&f1 * (2.0 * mu) - d.t() - &y1).dot(&q);
        f1 = bound(&s, &y1, &must, mu);
        d = (&f2 * (2.0 * mu) - s.t() - &y2).dot(&q);
        f2 = bound(&d, &y2, &cannot, mu);
        y1 = &y1 + &((&s - &f1) * mu);
        y2 = &y2 + &((&d - &f2) * mu);
        mu = (1.1 * mu).min(1e6);
    }
    Array2::from_shape_fn(n.dim(), |at| {
        let (s, d, n) = (f1[at], f2[at], n[at]);
        if s >= d { 1.0 - (1.0 - s + d) * (1.0 - n) } else { (1.0 + s - d) * n }
    })
}

fn check(e: &Ensemble, of: &Settings, tolerance: f64, within: f64) {
    let graph = GuidedCoAssociation::default()
        .entropy_scale(of.lambda)
        .confidence(of.eta)
        .must_link(of.theta)
        .max_iterations(of.rounds)
        .tolerance(tolerance)
        .similarity(e)
        .unwrap();
    let (objects, w) = (labelled(e), guided(e, of));
    let at = |i: usize| objects.binary_search(&i).unwrap();
    compare(&graph, true, within, |i, j| w[[at(i), at(j)]].clamp(0.0, 1.0));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(80))]

    #[test]
    fn microclusters_are_exact(
        seed in 0u64..100_000, n in 1usize..22, m in 1usize..8, k in 1usize..5, gaps: bool,
        eta in prop_oneof![Just(0.3), Just(0.6), Just(0.8), Just(1.0), Just(1.1)],
        theta in prop_oneof![Just(0.3), Just(0.6), Just(0.8), Just(1.0), Just(1.1)],
        lambda in prop_oneof![Just(0.07), Just(0.5)],
        rounds in prop_oneof![Just(1usize), Just(2), Just(9), Just(60)],
    ) {
        let e = world(seed, n, m, k, if gaps { 0.2 } else { 0.0 });
        check(&e, &Settings { lambda, eta, theta, rounds }, 0.0, 1e-7);
    }
}

/// Every pair of members over five objects, each object possibly unlabelled in each.
#[test]
fn every_small_world() {
    each_small_world(|at, e| {
        let eta = [0.4, 0.8][at % 2];
        check(e, &Settings { lambda: 0.07, eta, theta: 0.65, rounds: 9 }, 0.0, 1e-7);
    });
}

/// Pairs of components that stop by themselves are as near to the end as all together.
#[test]
fn the_tolerance_suffices() {
    for seed in 0..20 {
        let e = world(seed, 24, 7, 4, 0.0);
        let of = Settings { lambda: 0.07, eta: 0.6, theta: 0.6, rounds: 300 };
        check(&e, &of, 1e-3, 2e-2);
    }
}

#[test]
fn counts_are_repeated_rows() {
    check_counts(&Sdgca::new(3).confidence(0.6));
}
