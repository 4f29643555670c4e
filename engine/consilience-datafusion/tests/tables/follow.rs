//! Clusterings that follow links between objects of a table, as the library's updaters do.

use std::path::Path;

use crate::common::{engine, labels, random, read, signed, write_ensemble};
use consilience::catalogue::{Settings, by_name};
use consilience::follow::{LinkTrust, MetricRule, ReadOutMethod, UpdaterSetup};
use consilience::simplex::{AdditiveUpdate, AlignmentReference, UpdateRule, WeightUpdaterSetup};
use consilience::{Ensemble, ErrorKind, Link, Pair, Partition, Seed};
use consilience_datafusion::{DistinctRows, Engine, FollowRule, Followed, Output, Table};
use consilience_datafusion::{Labelled, UpdateState};

fn consensus(name: &str, clusters: usize, ensemble: &Ensemble) -> Partition {
    let settings = Settings::new(clusters).seed(Seed(5));
    by_name(name).unwrap().build(&settings).unwrap().consensus(ensemble).unwrap()
}

/// Links that hold in a clustering, in so many batches.
fn links(truth: &Partition, count: usize, batches: usize, seed: u64) -> Vec<Vec<Pair>> {
    let mut s = Seed(seed).stream();
    let mut all = vec![Vec::new(); batches];
    for b in 0..count {
        let (i, j) = (s.below(truth.n_objects()), s.below(truth.n_objects()));
        if let (Some(x), Some(y)) = (truth.label(i), truth.label(j)) {
            let link = if x == y { Pair::must_link(i, j) } else { Pair::cannot_link(i, j) };
            all[b % batches].push(link);
        }
    }
    all
}

fn written(
    engine: &Engine,
    table: &Table,
    rows: &DistinctRows,
    followed: &Followed,
    place: &Path,
) -> (Labelled, Vec<i32>) {
    let mut output = Output::new(place, table).unwrap();
    let told = engine.write_followed(table, rows, followed, &mut output, &()).unwrap();
    output.commit().unwrap();
    (told, read(place, "label"))
}

/// Two groupings of the objects: most members know the first, the links mean the second. Each
/// member errs now and then.
fn two_ways(seed: u64, n: usize) -> (Ensemble, Partition) {
    let mut s = Seed(seed).stream();
    let meant: Vec<usize> = (0..n).map(|i| i / 3 % 3).collect();
    let members = (0..8)
        .map(|u| {
            let label = |i: usize| if u < 5 { i % 3 } else { meant[i] };
            let labels: Vec<i64> = (0..n)
                .map(|i| match s.below(25) {
                    0 => -1,
                    1..3 => s.below(3) as i64,
                    _ => label(i) as i64,
                })
                .collect();
            Partition::from_labels(&labels).unwrap()
        })
        .collect();
    (Ensemble::new(members).unwrap(), Partition::from_labels(&meant).unwrap())
}

#[test]
fn links_move_the_weights_as_in_the_library() {
    let folder = tempfile::tempdir().unwrap();
    let ensemble = random(6, 1500, 6, 0.05);
    let pool = folder.path().join("pool");
    write_ensemble(&pool, &ensemble, 3, 200);
    let table = Table::open(&pool).unwrap();
    let batches = links(&ensemble.members()[2], 60, 2, 3);
    let start = consensus("lwea", 4, &ensemble);
    for rule in [UpdateRule::default(), AdditiveUpdate::default().into()] {
        let mut expected = WeightUpdaterSetup::new(start.n_clusters())
            .reference(AlignmentReference::Given(start.clone()))
            .rule(rule.clone())
            .updater(ensemble.clone())
            .unwrap();
        batches.iter().for_each(|batch| drop(expected.update(batch).unwrap()));
        for partitions in [1, 3] {
            let engine = engine(partitions);
            let rows = engine.distinct(&table, &()).unwrap();
            let start = consensus("lwea", 4, rows.ensemble());
            let found = engine.follow(&table, &rows, &start, rule.clone(), &batches, &()).unwrap();
            assert_eq!(found.weights, expected.weights());
            let place = folder.path().join(format!("{}{partitions}", rule.name()));
            let ours = labels(&engine, &table, &place, |_| found.labels.clone());
            assert_eq!(ours, signed(&expected.partition().unwrap()));
            let place = folder.path().join(format!("{}{partitions}-again", rule.name()));
            assert_eq!(written(&engine, &table, &rows, &found, &place).1, ours);
        }
    }
    let engine = engine(2);
    let rows = engine.distinct(&table, &()).unwrap();
    let start = consensus("lwea", 4, rows.ensemble());
    let refused = |batch: Vec<Pair>| {
        engine.follow(&table, &rows, &start, UpdateRule::default(), &[batch], &()).unwrap_err()
    };
    let error = refused(vec![Pair::must_link(900, 7), Pair::cannot_link(7, 900)]);
    assert!(error.message().contains("900"), "{error}");
    let error = refused(vec![Pair::must_link(1, 1500)]);
    assert!(error.message().contains("object 1500 of 1500"), "{error}");
}

/// The metric, its read-out and the assignment of linked objects.
#[test]
fn the_metric_follows_as_in_the_library() {
    let folder = tempfile::tempdir().unwrap();
    let mut by_metric = 0;
    for seed in 0..6 {
        let (ensemble, meant) = two_ways(seed, 400 + 700 * seed as usize);
        let start = consensus("lwea", 3, &ensemble);
        let batches = links(&meant, 40 * seed as usize, 2, seed);
        let rule = MetricRule::new(3).links(LinkTrust::Hold);
        let mut expected = UpdaterSetup::new(3)
            .reference(AlignmentReference::Given(start.clone()))
            .metric_rule(rule.clone())
            .updater(ensemble.clone())
            .unwrap();
        expected.open_metric(&()).unwrap();
        batches.iter().for_each(|batch| drop(expected.update(batch).unwrap()));
        let read = expected.read_out(&()).unwrap().output;
        by_metric += usize::from(read.method() != ReadOutMethod::Plain);
        let expected = read.partition(&ensemble, &()).unwrap();
        for (files, partitions) in [(1, 1), (3, 4)] {
            let pool = folder.path().join(format!("pool{seed}-{files}"));
            write_ensemble(&pool, &ensemble, files, 70);
            let table = Table::open(&pool).unwrap();
            let engine = engine(partitions);
            let rows = engine.distinct(&table, &()).unwrap();
            let start = consensus("lwea", 3, rows.ensemble());
            let found = engine.follow(&table, &rows, &start, rule.clone(), &batches, &()).unwrap();
            assert_eq!(found.cross_validation, Some(*read.cross_validation()), "seed {seed}");
            let place = folder.path().join(format!("labels{seed}-{files}"));
            let (told, ours) = written(&engine, &table, &rows, &found, &place);
            assert_eq!(ours, signed(&expected), "seed {seed}, {files} files");
            let sizes: Vec<u64> = expected.sizes().iter().map(|&size| size as u64).collect();
            assert_eq!(told.sizes, sizes);
            // Must-links hold, between objects that some member labels.
            for pair in batches.iter().flatten().filter(|pair| pair.link == Link::Must) {
                let (i, j) = (ours[pair.i], ours[pair.j]);
                assert!(i < 0 || j < 0 || i == j, "{pair:?}");
            }
        }
    }
    assert!(by_metric >= 3, "{by_metric}");
}

#[test]
fn states_go_on_where_they_stopped() {
    let folder = tempfile::tempdir().unwrap();
    let (ensemble, meant) = two_ways(2, 900);
    let batches = links(&meant, 120, 3, 2);
    let pool = folder.path().join("pool");
    write_ensemble(&pool, &ensemble, 2, 100);
    let table = Table::open(&pool).unwrap();
    let engine = engine(2);
    let rows = engine.distinct(&table, &()).unwrap();
    let start = consensus("lwea", 3, rows.ensemble());
    for name in ["metric", "completion", "exact", "additive", "multiplicative"] {
        let rule = FollowRule::named(name, 3, Seed(7)).unwrap();
        let whole = engine.follow(&table, &rows, &start, rule, &batches, &()).unwrap();
        let mut state = UpdateState::new(name, start.clone(), Seed(7)).unwrap();
        let mut last = None;
        for batch in &batches {
            let bytes = state.to_bytes(&rows);
            state = UpdateState::from_bytes(&bytes, &rows).unwrap();
            state.batches.push(batch.clone());
            let rule = state.rule().unwrap();
            let (start, links) = (&state.reference, &state.batches);
            last = Some(engine.follow(&table, &rows, start, rule, links, &()).unwrap());
        }
        let last = last.unwrap();
        assert_eq!((&last.weights, &last.labels), (&whole.weights, &whole.labels), "{name}");
        assert_eq!((&last.linked, &last.batches), (&whole.linked, &whole.batches), "{name}");
    }
    assert!(UpdateState::new("magic", start, Seed(0)).is_err());
}

#[test]
fn damaged_states_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (ensemble, meant) = two_ways(3, 300);
    let at = |name: &str, ensemble: &Ensemble| {
        write_ensemble(&folder.path().join(name), ensemble, 2, 50);
        Table::open(folder.path().join(name)).unwrap()
    };
    let rows = engine(1).distinct(&at("pool", &ensemble), &()).unwrap();
    let start = consensus("lwea", 3, rows.ensemble());
    let mut state = UpdateState::new("metric", start, Seed(0)).unwrap();
    state.batches = links(&meant, 20, 2, 1);
    let sound = state.to_bytes(&rows);
    assert_eq!(UpdateState::from_bytes(&sound, &rows).unwrap(), state);
    let mut stream = Seed(3).stream();
    for _ in 0..300 {
        let mut damaged = sound.clone();
        damaged[stream.below(sound.len())] ^= 1 << stream.below(8);
        let error = UpdateState::from_bytes(&damaged, &rows).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Corrupt | ErrorKind::InvalidParameter));
    }
    for cut in [0, 7, 30, sound.len() - 1] {
        let error = UpdateState::from_bytes(&sound[..cut], &rows).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt);
    }
    let (other, _) = two_ways(4, 300);
    let rows = engine(1).distinct(&at("other", &other), &()).unwrap();
    let error = UpdateState::from_bytes(&sound, &rows).unwrap_err();
    assert!(error.message().contains("over another table of 300 rows"), "{error}");
}
