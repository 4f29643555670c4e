//! The updater on its own and on the reference pools.
//!
//! The pools are not part of the project: without them the test says so and passes
//! (`tests/reference/mod.rs`).

mod reference;

use consilience::follow::{Updater, UpdaterSetup};
use consilience::simplex::{
    AdditiveUpdate, AlignmentReference, ExactUpdate, UpdateReport, UpdateRule,
};
use consilience::walk::Diffusion;
use consilience::{ConsensusFunction, Ensemble, Pair, Partition, Seed};
use consilience_conformance::planted;
use reference::pools;

/// Random constraints as a clustering has them.
fn constraints(truth: &Partition, count: usize, seed: u64) -> Vec<Pair> {
    let (mut s, n) = (Seed(seed).stream(), truth.n_objects());
    let mut all = Vec::new();
    while all.len() < count {
        let (i, j) = (s.below(n), s.below(n));
        if i != j {
            let same = truth.label(i) == truth.label(j);
            all.push(if same { Pair::must_link(i, j) } else { Pair::cannot_link(i, j) });
        }
    }
    all
}

/// Objects that no constraint names have no influence on an update, not on one bit of it.
#[test]
fn an_update_does_not_know_how_many_objects_there_are() {
    let world = planted(Seed(1), &[70, 50, 30], 12, 0.3, 0.1).unwrap();
    let copies = |times: usize| {
        let objects: Vec<usize> = (0..150 * times).map(|i| i % 150).collect();
        world.ensemble.select_objects(&objects).unwrap()
    };
    for rule in [UpdateRule::from(ExactUpdate::default()), AdditiveUpdate::default().into()] {
        let run = |e: Ensemble| {
            let n = e.n_objects();
            let truth =
                Partition::from_fn(n, |i| world.truth.label(i % 150).map(|l| l as u64)).unwrap();
            let setup =
                UpdaterSetup::new(3).reference(AlignmentReference::Given(truth)).rule(rule.clone());
            let mut updater = setup.updater(e).unwrap();
            let reports: Vec<_> = (0..4)
                .map(|b| updater.update(&constraints(&world.truth, 40, b)).unwrap())
                .collect();
            let by_weights = updater.by_weights();
            let labels = by_weights.labels_of(&(0..150).collect::<Vec<_>>()).unwrap();
            (reports, by_weights.weights(), labels)
        };
        let one = run(copies(1));
        let moved = |r: &UpdateReport| r.new_constraints > 0 && r.objective != r.objective_before;
        assert!(one.0.iter().all(moved), "{:?}", one.0);
        assert_eq!(one, run(copies(200)));
    }
}

#[test]
fn constraints_of_the_truth_are_followed_on_the_pools() {
    for pool in pools(&["MF", "IS", "LS"]) {
        let e = pool.ensemble(&pool.draws[0]);
        let k = pool.truth.n_clusters();
        let plain = Diffusion::new(k).consensus(&e).unwrap();
        let setup = UpdaterSetup::new(k).reference(AlignmentReference::Given(plain.clone()));
        for rule in [UpdateRule::from(ExactUpdate::default()), AdditiveUpdate::default().into()] {
            let mut updater: Updater = setup.clone().rule(rule).updater(e.clone()).unwrap();
            for tier in 0..5 {
                let report = updater.update(&constraints(&pool.truth, 100, tier)).unwrap();
                assert!(report.objective.is_finite());
                assert!(report.gap.is_none_or(|gap| gap <= 2e-6), "{} {report:?}", pool.name);
                // What has a gap is the minimum, and the weights before are among the others.
                let lower = report.objective < report.objective_before;
                assert!(report.gap.is_none() || lower, "{} {report:?}", pool.name);
            }
            let free = updater.consensus(k, Seed(0), &()).unwrap().output;
            let by_weights = updater.by_weights();
            println!(
                "{} {}: plain {:.3}, rounded {:.3}, alignment-free {:.3}, support {} of {}, {:?}",
                pool.name,
                by_weights.rule().name(),
                pool.nmi(&plain),
                pool.nmi(&by_weights.partition().unwrap()),
                pool.nmi(&free),
                by_weights.support().len(),
                e.n_members(),
                by_weights.violations()
            );
            // A weight per member moves little, and must not ruin the consensus either: with links
            // drawn otherwise the most that was lost is 0.033.
            assert!(pool.nmi(&free) > pool.nmi(&plain) - 0.05, "{}", pool.name);
            let resumed = Updater::from_bytes(&updater.to_bytes(), e.clone()).unwrap();
            let resumed = resumed.by_weights().partition().unwrap();
            assert_eq!(resumed, by_weights.partition().unwrap());
        }
    }
}
