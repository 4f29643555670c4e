//! What an update allocates does not grow with the number of objects. Every allocation of this
//! program is counted, which is why the test stands alone.

use allocation_counter::{AllocationInfo, measure};
use consilience_conformance::planted;
use consilience_core::{Constraints, Ensemble, Link, Pair, Partition, Seed};
use consilience_follow::{
    AdditiveUpdate, AlignmentReference, ExactUpdate, MetricRule, MultiplicativeUpdate, UpdateRule,
    Updater, UpdaterSetup,
};
use ndarray::Array2;

type Batch = Vec<Pair>;

/// 1,000 objects and copies of them, under 40 members of which some have gaps if asked for.
fn updater(n: usize, missing: f64, rule: UpdateRule) -> (Updater, Partition) {
    let world = planted(Seed(1), &[500, 300, 200], 40, 0.3, missing).unwrap();
    let objects: Vec<usize> = (0..n).map(|i| i % 1000).collect();
    let ensemble: Ensemble = world.ensemble.select_objects(&objects).unwrap();
    let truth = Partition::from_fn(n, |i| world.truth.label(i % 1000).map(|l| l as u64)).unwrap();
    let setup = UpdaterSetup::new(3).reference(AlignmentReference::Given(truth)).rule(rule);
    (setup.updater(ensemble).unwrap(), world.truth)
}

/// Constraints among the first 1,000 objects.
fn batch(truth: &Partition, count: usize, seed: u64) -> Batch {
    let mut s = Seed(seed).stream();
    let pairs = std::iter::from_fn(|| Some((s.below(1000), s.below(1000)))).filter(|(i, j)| i != j);
    let link = |(i, j)| {
        let same = truth.label(i) == truth.label(j);
        Pair::new(i, j, if same { Link::Must } else { Link::Cannot })
    };
    pairs.map(link).take(count).collect()
}

/// One thread does everything, since threads are counted apart.
fn on_one_thread<T: Send>(f: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap().install(f)
}

/// What each of three updates allocates.
fn allocated(n: usize, missing: f64, rule: UpdateRule, metric: bool) -> Vec<AllocationInfo> {
    on_one_thread(|| {
        let (mut updater, truth) = updater(n, missing, rule);
        if metric {
            updater.read_out(&()).unwrap();
        }
        (0..3)
            .map(|b| {
                let batch = batch(&truth, 200, b);
                let mut report = None;
                let counted = measure(|| report = Some(updater.update(&batch)));
                report.unwrap().unwrap();
                counted
            })
            .collect()
    })
}

fn rules() -> [UpdateRule; 3] {
    [
        ExactUpdate::default().max_iterations(20).into(),
        AdditiveUpdate::default().into(),
        MultiplicativeUpdate::default().into(),
    ]
}

#[test]
fn an_update_allocates_nothing_in_proportion_to_the_objects() {
    for rule in rules() {
        for missing in [0.0, 0.1] {
            let few = allocated(1000, missing, rule.clone(), false);
            let many = allocated(100_000, missing, rule.clone(), false);
            assert!(few.iter().all(|info| info.bytes_total > 0), "nothing was counted");
            assert_eq!(few, many, "{} {missing}", rule.name());
        }
    }
}

#[test]
fn nor_does_it_while_a_metric_is_open() {
    for rule in rules() {
        let few = allocated(1000, 0.0, rule.clone(), true);
        let many = allocated(100_000, 0.0, rule.clone(), true);
        assert_eq!(few, many, "{}", rule.name());
    }
}

/// Features are not copied once for each object that a row stands for: 40 MB here.
#[test]
fn features_of_rows_with_counts_are_taken_once() {
    let most = on_one_thread(|| {
        let world = planted(Seed(2), &[60, 40], 6, 0.2, 0.0).unwrap();
        let ensemble = world.ensemble.with_counts(vec![100; 100]).unwrap();
        let x = Array2::from_shape_fn((100, 500), |(i, j)| ((i * 7 + j * j * 13) % 29) as f64);
        let mut metric = MetricRule::new(2).open(&ensemble, &()).unwrap();
        let none = Constraints::new(100).unwrap();
        let mut done = None;
        let counted =
            measure(|| done = Some(metric.lay_beside(&ensemble, x.view().into(), &none, &())));
        done.unwrap().unwrap();
        counted.bytes_max
    });
    assert!(most > 100 * 500 * 8 && most < 30_000_000, "{most}");
}

/// The counter sees what it should: a read-out of all objects does grow with them.
#[test]
fn a_read_out_does() {
    let counted = |n: usize| {
        on_one_thread(|| {
            let (updater, _) = updater(n, 0.0, UpdateRule::default());
            measure(|| drop(updater.by_weights().partition().unwrap())).bytes_total
        })
    };
    assert!(counted(100_000) > counted(1000) + 99_000);
}
