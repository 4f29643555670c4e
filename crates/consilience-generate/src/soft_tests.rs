//! Gaussian mixtures and fuzzy c-means against their definitions, and in a generator.

use consilience_conformance::{Profile, base_clusterer};
use consilience_core::{Dense, Features, Partition, Seed, SparseMemberships, Status, scores};
use ndarray::{Array2, Axis};

use crate::input::unit_table;
use crate::{FuzzyCMeans, GaussianMixture, Generator, KMeans};

fn blobs(n: usize, seed: u64) -> (Array2<f64>, Partition) {
    let mut s = Seed(seed).stream();
    let centres = Array2::from_shape_simple_fn((3, 2), || 5.0 * s.normal());
    let x = Array2::from_shape_fn((n, 2), |(i, j)| {
        centres[[i % 3, j]] + (1 + (i % 3) * j) as f64 * s.normal()
    });
    (x, Partition::from_fn(n, |i| Some((i % 3) as u64)).unwrap())
}

/// The centred features and the memberships of k-means that both methods start from.
fn beginning(x: &Array2<f64>, k: usize, seed: Seed) -> (Array2<f64>, Array2<f64>) {
    let mut x = unit_table(&Dense::from(x));
    x -= &x.mean_axis(Axis(0)).unwrap();
    let start = KMeans::new().fit_centres(&x, k, seed, &()).unwrap().output.partition;
    let p = Array2::from_shape_fn((x.nrows(), k), |(i, c)| {
        f64::from(u8::from(start.label(i) == Some(c)))
    });
    (x, p)
}

fn close(soft: &SparseMemberships, expected: &Array2<f64>) {
    let expected = expected.mapv(|v| if v < 1e-6 { 0.0 } else { v });
    let sums = expected.sum_axis(Axis(1)).insert_axis(Axis(1));
    let expected = SparseMemberships::from_array((expected / sums).view()).unwrap();
    let difference = soft.to_array() - expected.to_array();
    assert!(difference.iter().all(|d| d.abs() < 1e-9), "{difference}");
}

#[test]
fn a_mixture_is_expectation_and_maximisation() {
    for seed in 0..4 {
        let (x, truth) = blobs(90, seed);
        let (y, mut p) = beginning(&x, 3, Seed(seed));
        let floor = 1e-4 * y.var_axis(Axis(0), 0.0).mean().unwrap();
        // The maximisation of the start, three rounds, and the last expectation.
        for _ in 0..4 {
            let before = p.clone();
            for i in 0..90 {
                let density = |c: usize| {
                    let weight = before.column(c).sum();
                    let of = |j: usize| {
                        let mean = before.column(c).dot(&y.column(j)) / weight;
                        let square = y.column(j).mapv(|v| (v - mean).powi(2));
                        let variance = before.column(c).dot(&square) / weight + floor;
                        (-0.5 * (y[[i, j]] - mean).powi(2) / variance).exp() / variance.sqrt()
                    };
                    weight * of(0) * of(1)
                };
                let all: f64 = (0..3).map(density).sum();
                (0..3).for_each(|c| p[[i, c]] = density(c) / all);
            }
        }
        let method = GaussianMixture::new().max_iterations(3).tolerance(0.0);
        let soft = method.fit_soft(Features::from(&x), 3, Seed(seed), &()).unwrap().output;
        close(&soft, &p);
        let usual = GaussianMixture::new().fit_soft(Features::from(&x), 3, Seed(seed), &());
        let found = usual.unwrap().output.hard().unwrap();
        assert!(scores::adjusted_rand(&found, &truth).unwrap() > 0.4);
    }
}

#[test]
fn fuzzy_c_means_is_its_definition() {
    for m in [1.5, 2.0, 3.0] {
        let (x, _) = blobs(60, 7);
        let (y, mut p) = beginning(&x, 3, Seed(1));
        for _ in 0..4 {
            let w = p.mapv(|v| v.powf(m));
            let centre = |c: usize, j: usize| w.column(c).dot(&y.column(j)) / w.column(c).sum();
            for i in 0..60 {
                let distance = |c: usize| (0..2).map(|j| (y[[i, j]] - centre(c, j)).powi(2)).sum();
                let d: Vec<f64> = (0..3).map(distance).collect();
                for c in 0..3 {
                    let sum: f64 = d.iter().map(|e| (d[c] / e).powf(1.0 / (m - 1.0))).sum();
                    p[[i, c]] = 1.0 / sum;
                }
            }
        }
        let method = FuzzyCMeans::new().fuzzifier(m).max_iterations(3).tolerance(0.0);
        let soft = method.fit_soft(Features::from(&x), 3, Seed(1), &()).unwrap().output;
        close(&soft, &p);
    }
}

/// With a floor that is added to variances, steps may lower the likelihood.
#[test]
fn a_likelihood_that_falls_is_no_solution() {
    let x = ndarray::array![[0.0], [1.0], [2.0], [4.0], [7.0], [8.0]];
    let fit = |iterations: usize| {
        let method = GaussianMixture::new().variance_floor(0.1).max_iterations(iterations);
        method.fit_soft(Features::from(&x), 2, Seed(0), &()).unwrap()
    };
    let long = fit(1000);
    assert_eq!(long.report.status, Status::Solved);
    // Where all steps lead, from any start.
    assert!(long.report.objective.unwrap() > -2.2321, "{:?}", long.report);
    // More iterations never return less, and what is told is of what is returned.
    let told: Vec<f64> = (1..30).map(|i| fit(i).report.objective.unwrap()).collect();
    assert!(told.is_sorted(), "{told:?}");
}

/// The square of the unit, and the logarithm of a density.
#[test]
fn objectives_are_in_the_unit_of_the_features() {
    let (x, _) = blobs(90, 5);
    let fit = |x: &Array2<f64>| {
        let x = Features::from(x);
        let mixture = GaussianMixture::new().fit_soft(x, 3, Seed(2), &()).unwrap();
        let fuzzy = FuzzyCMeans::new().fit_soft(x, 3, Seed(2), &()).unwrap();
        [mixture, fuzzy].map(|fit| fit.report.objective.unwrap())
    };
    let [mixture, fuzzy] = fit(&x);
    for times in [1e-6, 10.0, 1e9] {
        let [m, f] = fit(&(&x * times));
        assert!((m - mixture + 2.0 * f64::ln(times)).abs() < 1e-6, "{times:e}: {mixture} {m}");
        assert!((f / (fuzzy * times * times) - 1.0).abs() < 1e-6, "{times:e}: {fuzzy} {f}");
    }
    // Of one cluster both are known: the mean log-density, and the squares around the mean.
    let variance = x.var_axis(Axis(0), 0.0);
    let floor = 1e-4 * variance.mean().unwrap();
    let term = |v: &f64| -0.5 * ((std::f64::consts::TAU * (v + floor)).ln() + v / (v + floor));
    let x = Features::from(&x);
    let one = GaussianMixture::new().fit_soft(x, 1, Seed(2), &()).unwrap().report.objective;
    assert!((one.unwrap() - variance.iter().map(term).sum::<f64>()).abs() < 1e-9);
    let one = FuzzyCMeans::new().fit_soft(x, 1, Seed(2), &()).unwrap().report.objective;
    assert!((one.unwrap() / (90.0 * variance.sum()) - 1.0).abs() < 1e-9);
}

/// The floor of the variances is a share of their mean, which once counted it.
#[test]
fn constant_features_have_no_say() {
    let (x, _) = blobs(90, 5);
    let beside = Array2::from_shape_fn((90, 7), |(i, j)| if j < 2 { x[[i, j]] } else { 0.25 });
    let mixture = GaussianMixture::new().variance_floor(0.5);
    let fit = |x: &Array2<f64>| {
        let x = Features::from(x);
        let mixture = mixture.fit_soft(x, 3, Seed(2), &()).unwrap();
        let fuzzy = FuzzyCMeans::new().fit_soft(x, 3, Seed(2), &()).unwrap();
        [mixture, fuzzy].map(|fit| (fit.output, fit.report.iterations, fit.report.objective))
    };
    assert_eq!(fit(&beside), fit(&x));
}

#[test]
fn both_obey_the_laws_of_base_clusterers() {
    // Most probable clusters may be fewer than clusters.
    let profile = Profile { exact_clusters: false, thread_objects: 3000, ..Profile::default() };
    base_clusterer(&GaussianMixture::new(), &profile);
    base_clusterer(&FuzzyCMeans::new(), &profile);
}

#[test]
fn members_see_a_part_of_the_objects() {
    let (x, _) = blobs(50, 3);
    let generator = Generator::new(GaussianMixture::new()).members(6).clusters(3..=4);
    let ensemble = generator.object_fraction(0.8).generate(&x).unwrap();
    assert!(ensemble.is_soft());
    for u in 0..6 {
        assert_eq!(ensemble.members()[u].n_labelled(), 40);
        let Some(soft) = ensemble.soft(u) else { continue };
        let known = (0..50).filter(|&i| !soft.row(i).0.is_empty()).count();
        assert_eq!(known, 40);
    }
}
