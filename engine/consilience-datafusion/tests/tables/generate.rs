//! Members of features: those of the library where all objects fit, deterministic beyond.

use std::sync::Arc;

use crate::common::{engine, generate, heaps, read, signed, write, write_features};
use consilience::generate::{Generator, KMeans};
use consilience::scores::Scores;
use consilience::{ErrorKind, Partition, Seed};
use consilience_datafusion::{MemberMethod, MemberSetup, Table};
use datafusion::arrow::array::{ArrayRef, StringArray};

#[test]
fn what_fits_is_what_the_library_makes() {
    let folder = tempfile::tempdir().unwrap();
    let x = heaps(600, 5);
    for single in [false, true] {
        let rounded = x.mapv(|x| x as f32);
        let generator = Generator::new(KMeans::new())
            .members(6)
            .clusters(2..=6)
            .feature_fraction(0.6)
            .object_fraction(0.8)
            .seed(Seed(9));
        let expected = match single {
            true => generator.generate(rounded.view()),
            false => generator.generate(x.view()),
        };
        let expected = expected.unwrap();
        let settings = MemberSetup::new()
            .members(6)
            .clusters(2..=6)
            .feature_fraction(0.6)
            .object_fraction(0.8)
            .seed(Seed(9));
        for (files, partitions) in [(1, 1), (3, 4)] {
            let source = folder.path().join(format!("x{single}{files}"));
            write_features(&source, &x, single, files);
            let table = Table::open(&source).unwrap();
            let place = folder.path().join(format!("pool{single}{files}"));
            let done = generate(&engine(partitions), &table, &settings, &place).unwrap();
            assert_eq!((done.sample, done.passes), (600, 0));
            for (u, member) in expected.members().iter().enumerate() {
                assert_eq!(read(&place, &format!("m{u}")), signed(member));
            }
        }
    }
}

#[test]
fn beyond_the_sample_all_objects_move_the_centres() {
    let folder = tempfile::tempdir().unwrap();
    let x = heaps(5000, 3);
    let truth: Vec<usize> = (0..5000).map(|i| i % 2 + i / 2 % 2 * 2).collect();
    let truth = Partition::from_labels(&truth).unwrap();
    let settings = MemberSetup::new().members(3).clusters(4..=4).sample(200).seed(Seed(2));
    let mut all = Vec::new();
    for (files, partitions) in [(1, 1), (1, 4), (3, 2)] {
        let source = folder.path().join(format!("x{files}-{partitions}"));
        write_features(&source, &x, false, files);
        let table = Table::open(&source).unwrap();
        let place = folder.path().join(format!("pool{files}-{partitions}"));
        let done = generate(&engine(partitions), &table, &settings, &place).unwrap();
        assert!(done.sample == 200 && done.passes >= 1 && done.converged, "{done:?}");
        let members: Vec<Vec<i32>> = (0..3).map(|u| read(&place, &format!("m{u}"))).collect();
        let found = Partition::from_labels(&members[0]).unwrap();
        assert!(Scores::compare(&found, &truth).unwrap().ari > 0.4);
        all.push(members);
    }
    assert!(all.iter().all(|members| *members == all[0]));
}

/// With all objects as the sample and none of the library's shortcuts, Lloyd's iterations of the
/// passes are those of the naive loop.
#[test]
fn passes_are_the_naive_loop() {
    let folder = tempfile::tempdir().unwrap();
    let x = heaps(900, 2);
    let source = folder.path().join("x");
    write_features(&source, &x, false, 2);
    let table = Table::open(&source).unwrap();
    let settings = MemberSetup::new().members(1).clusters(3..=3).sample(50).tolerance(0.0);
    let labels = |passes: usize| {
        let place = folder.path().join(format!("pool{passes}"));
        generate(&engine(2), &table, &settings.clone().passes(passes), &place).unwrap();
        read(&place, "m0")
    };
    let mut naive = labels(0);
    for passes in 1..4 {
        let mut sums = [[0.0; 3]; 3];
        for (row, &label) in x.outer_iter().zip(&naive) {
            let sum = &mut sums[label as usize];
            (sum[0], sum[1], sum[2]) = (sum[0] + row[0], sum[1] + row[1], sum[2] + 1.0);
        }
        let distance = |row: [f64; 2], c: usize| {
            let s = sums[c];
            (row[0] - s[0] / s[2]).powi(2) + (row[1] - s[1] / s[2]).powi(2)
        };
        naive = x
            .outer_iter()
            .map(|row| {
                let row = [row[0], row[1]];
                let nearest = (0..3).min_by(|&a, &b| distance(row, a).total_cmp(&distance(row, b)));
                nearest.unwrap() as i32
            })
            .collect();
        let found = Partition::from_labels(&naive).unwrap();
        assert_eq!(labels(passes), signed(&found), "after {passes} passes");
    }
}

#[test]
fn a_share_of_the_objects_is_labelled() {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("x");
    write_features(&source, &heaps(4000, 4), true, 2);
    let table = Table::open(&source).unwrap();
    let settings = MemberSetup::new()
        .members(2)
        .clusters(2..=5)
        .feature_fraction(0.5)
        .object_fraction(0.25)
        .sample(500);
    let place = folder.path().join("pool");
    generate(&engine(2), &table, &settings, &place).unwrap();
    for member in ["m0", "m1"] {
        let labelled = read(&place, member).iter().filter(|&&label| label >= 0).count();
        assert!((850..1150).contains(&labelled), "{labelled}");
    }
}

#[test]
fn features_that_are_none() {
    let folder = tempfile::tempdir().unwrap();
    let mut x = heaps(300, 3);
    x[[250, 1]] = f64::NAN;
    let source = folder.path().join("x");
    write_features(&source, &x, false, 2);
    let table = Table::open(&source).unwrap();
    let place = folder.path().join("pool");
    let settings = MemberSetup::new();
    let refused = |table: &Table, setup: &MemberSetup| {
        let error = generate(&engine(2), table, setup, &place).unwrap_err();
        assert!(!place.exists());
        error
    };
    let error = refused(&table, &settings);
    assert_eq!(error.kind(), ErrorKind::NonFinite);
    assert!(error.message().contains("part-1.parquet") && error.message().contains("row 250"));
    for settings in [
        settings.clone().members(0),
        settings.clone().sample(0),
        settings.clone().feature_fraction(0.0),
        settings.clone().object_fraction(1.5),
        settings.clone().tolerance(f64::NAN),
        settings.clone().clusters(0..=3),
        settings.clone().method(MemberMethod::MiniBatch { batch: 0, batches: 1 }),
        settings
            .clone()
            .method("uspec".parse::<MemberMethod>().unwrap().parameter("restarts", "0").unwrap()),
    ] {
        let error = refused(&table.clone().without("x1").unwrap(), &settings);
        assert_eq!(error.kind(), ErrorKind::InvalidParameter, "{error}");
    }
    let names: ArrayRef = Arc::new(StringArray::from(vec!["a", "b"]));
    write(&folder.path().join("names"), &[("name", names)], 1, 10);
    let table = Table::open(folder.path().join("names")).unwrap();
    assert_eq!(refused(&table, &settings).kind(), ErrorKind::Format);
}
