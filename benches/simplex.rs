//! Updates and read-outs of the dynamic updater. The largest worlds: `--bin simplex_large`.

use std::time::Duration;

use consilience::follow::{Updater, UpdaterSetup};
use consilience::simplex::{
    AdditiveUpdate, AlignmentReference, ExactUpdate, MultiplicativeUpdate, UpdateRule,
};
use consilience::{Ensemble, Pair, Partition, Seed};
use consilience_conformance::planted;
use criterion::{BatchSize, Criterion, criterion_group, criterion_main};

fn constraints(truth: &Partition, count: usize) -> Vec<Pair> {
    let (mut s, n) = (Seed(2).stream(), truth.n_objects());
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

fn open(ensemble: &Ensemble, truth: &Partition, rule: UpdateRule) -> Updater {
    let setup =
        UpdaterSetup::new(10).reference(AlignmentReference::Given(truth.clone())).rule(rule);
    setup.updater(ensemble.clone()).unwrap()
}

fn all(c: &mut Criterion) {
    let world = planted(Seed(1), &[1000; 10], 300, 0.5, 0.0).unwrap();
    let batch = constraints(&world.truth, 500);
    let rules: [UpdateRule; 3] = [
        ExactUpdate::default().into(),
        AdditiveUpdate::default().into(),
        MultiplicativeUpdate::default().into(),
    ];
    for rule in rules {
        let updater = open(&world.ensemble, &world.truth, rule.clone());
        c.bench_function(&format!("update {} of 500, 10000x300", rule.name()), |b| {
            b.iter_batched(
                || updater.clone(),
                |mut u| u.update(&batch).unwrap(),
                BatchSize::LargeInput,
            );
        });
    }
    for members in [50, 300] {
        let few = world.ensemble.select(&(0..members).collect::<Vec<_>>()).unwrap();
        let mut updater = open(&few, &world.truth, AdditiveUpdate::default().into());
        updater.open_metric(&()).unwrap();
        for count in [100, 500] {
            let name = format!("update additive of {count} under an open metric, 10000x{members}");
            c.bench_function(&name, |b| {
                let batch = &batch[..count];
                b.iter_batched(
                    || updater.clone(),
                    |mut u| u.update(batch).unwrap(),
                    BatchSize::LargeInput,
                );
            });
        }
    }
    let updater = open(&world.ensemble, &world.truth, UpdateRule::default());
    let asked: Vec<usize> = (0..1000).map(|i| i * 7 % 10_000).collect();
    c.bench_function("labels of all, 10000x300", |b| {
        b.iter(|| updater.by_weights().partition().unwrap())
    });
    c.bench_function("labels of 1000, 10000x300", |b| {
        b.iter(|| updater.by_weights().labels_of(&asked).unwrap())
    });
    c.bench_function("questions, 10000x300", |b| {
        b.iter(|| updater.next_questions(20, Seed(0)).unwrap())
    });
    c.bench_function("snapshot, 10000x300", |b| b.iter(|| updater.to_bytes()));
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(20).measurement_time(Duration::from_secs(3));
    targets = all
}
criterion_main!(benches);
