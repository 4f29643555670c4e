//! Distances under learned metrics, in units of the largest, when features are changed.

use consilience::metric::{Dca, Itml, Lmnn, MetricLearner, Mmc, Rca, RsdDiagonal, RsdFull};
use consilience::ndarray::Array2;
use consilience::{Result, SideInformation};

use super::features::{CHANGES, World, mixed_units};
use super::worlds;

/// A learner; how far rounding may move a distance; whether shares of the variance of all columns
/// enter, so that a column more that varies is another metric.
struct Learner {
    name: &'static str,
    learner: Box<dyn MetricLearner>,
    rounding: f64,
    counts_columns: bool,
}

fn learners() -> Vec<Learner> {
    let of = |name, learner, rounding, counts_columns| Learner {
        name,
        learner,
        rounding,
        counts_columns,
    };
    vec![
        of("RCA", Box::new(Rca::new()), 1e-12, true),
        of("DCA", Box::new(Dca::new()), 1e-12, true),
        of("MMC", Box::new(Mmc::new()), 1e-12, true),
        of("MMC, diagonal", Box::new(Mmc::new().diagonal(true)), 1e-12, true),
        of("ITML", Box::new(Itml::new()), 1e-10, false),
        of("LMNN", Box::new(Lmnn::new()), 1e-12, false),
        of("RSD, diagonal", Box::new(RsdDiagonal::new()), 1e-10, false),
        // Its optimum is known to a relative gap of 1e-6 to 5e-5.
        of("RSD, full", Box::new(RsdFull::new()), 1e-2, false),
    ]
}

fn distances(learner: &Learner, x: &Array2<f64>, side: &SideInformation) -> Result<Vec<f64>> {
    let mapped = learner.learner.learn(x.view().into(), side)?.apply(x)?;
    let pairs = (0..x.nrows()).flat_map(|i| (0..i).map(move |j| (i, j)));
    let distance = |(i, j)| {
        let difference = &mapped.row(i) - &mapped.row(j);
        difference.dot(&difference).sqrt()
    };
    let all: Vec<f64> = pairs.map(distance).collect();
    let largest = all.iter().fold(0.0f64, |m, v| m.max(*v));
    Ok(all.iter().map(|d| d / largest).collect())
}

/// The largest difference of two distances; NaN where there is one.
fn apart(a: &[f64], b: &[f64]) -> f64 {
    let differences = a.iter().zip(b).map(|(a, b)| (a - b).abs());
    differences.fold(0.0, |m: f64, d| if d.is_nan() || d > m { d } else { m })
}

#[test]
fn distances_do_not_depend_on_the_unit() {
    for learner in learners() {
        for (name, change) in CHANGES {
            // What 1e12 leaves of the features is 1e-4 of them at worst.
            let tolerance = if name == "plus 1e12" { 1e-3 } else { learner.rounding };
            if name == "columns twice" && learner.counts_columns {
                continue;
            }
            for seed in worlds(3) {
                let World { x, side, .. } = World::blobs(seed);
                let plain = distances(&learner, &x, &side).unwrap();
                let changed = distances(&learner, &change(&x), &side).unwrap();
                let apart = apart(&plain, &changed);
                assert!(apart <= tolerance, "{}, {name}, {seed}: {apart:e}", learner.name);
            }
        }
    }
}

#[test]
fn distances_do_not_depend_on_units_of_columns() {
    for learner in learners() {
        for seed in worlds(3) {
            let World { x, side, .. } = World::noise(seed);
            let plain = distances(&learner, &x, &side).unwrap();
            let changed = distances(&learner, &mixed_units(&x), &side).unwrap();
            let apart = apart(&plain, &changed);
            assert!(apart <= learner.rounding, "{}, {seed}: {apart:e}", learner.name);
        }
    }
}
