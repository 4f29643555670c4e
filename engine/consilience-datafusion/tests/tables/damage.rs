//! Damaged, removed and unequal files, too little memory, outputs that cannot be: one clear error,
//! and nothing that could be taken for a result.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::common::{engine, names, numbers, random, write, write_ensemble};
use consilience::{ErrorKind, Observer, Partition, Result, Seed};
use consilience_datafusion::{Engine, Output, Table, made};

/// The whole job: labels of all rows by their first member.
fn job(pool: &Path, place: &Path, engine: &Engine, observer: &dyn Observer) -> Result<()> {
    let table = Table::open(pool)?;
    let mut output = Output::new(place, &table)?;
    let rows = engine.distinct(&table, observer)?;
    let labels = rows.ensemble().members()[0].clone();
    engine.write_labels(&table, &rows, &labels, &mut output, observer)?;
    output.commit()
}

/// Fails with an error that names the file, and leaves nothing, not even a hidden file.
fn refused(root: &Path, pool: &Path, kinds: &[ErrorKind], about: &str) {
    let before = names(root);
    for partitions in [1, 3] {
        let error = job(pool, &root.join("labels"), &engine(partitions), &()).unwrap_err();
        assert!(kinds.contains(&error.kind()), "{:?}: {error}", error.kind());
        assert!(error.message().contains(about), "{error}");
        assert!(!error.message().contains('\n') && error.message().len() < 400, "{error}");
        assert_eq!(names(root), before);
    }
}

#[test]
fn damaged_pages_and_footers() {
    let root = tempfile::tempdir().unwrap();
    let pool = root.path().join("pool");
    write_ensemble(&pool, &random(1, 3000, 4, 0.1), 3, 400);
    let file = pool.join("part-1.parquet");
    let sound = fs::read(&file).unwrap();
    let kinds = [ErrorKind::Format, ErrorKind::Io, ErrorKind::Corrupt];
    let mut damaged = sound.clone();
    damaged[4..64].fill(0xff);
    fs::write(&file, &damaged).unwrap();
    refused(root.path(), &pool, &kinds, "part-1.parquet");
    for cut in [0, 3, 50, sound.len() / 2, sound.len() - 1] {
        fs::write(&file, &sound[..cut]).unwrap();
        refused(root.path(), &pool, &kinds, "part-1.parquet");
    }
    // A flipped byte may go unnoticed, since pages have no checksums; it must not do harm.
    let mut stream = Seed(3).stream();
    for _ in 0..60 {
        let mut damaged = sound.clone();
        let at = stream.below(damaged.len());
        damaged[at] ^= 1 << stream.below(8);
        fs::write(&file, &damaged).unwrap();
        let place = root.path().join("labels");
        match job(&pool, &place, &engine(2), &()) {
            Ok(()) => fs::remove_dir_all(&place).unwrap(),
            Err(error) => assert!(error.message().contains("part-1"), "{at}: {error}"),
        }
        assert_eq!(names(root.path()), ["pool"]);
    }
}

#[test]
fn files_that_go_and_files_that_change() {
    let root = tempfile::tempdir().unwrap();
    let pool = root.path().join("pool");
    let ensemble = random(2, 1000, 4, 0.0);
    write_ensemble(&pool, &ensemble, 3, 200);
    let table = Table::open(&pool).unwrap();
    let rows = engine(2).distinct(&table, &()).unwrap();
    let labels = rows.ensemble().members()[0].clone();
    let write = || {
        let mut output = Output::new(root.path().join("labels"), &table)?;
        engine(2).write_labels(&table, &rows, &labels, &mut output, &())?;
        output.commit()
    };
    let file = pool.join("part-2.parquet");
    let sound = fs::read(&file).unwrap();
    fs::remove_file(&file).unwrap();
    for error in [engine(2).distinct(&table, &()).unwrap_err(), write().unwrap_err()] {
        assert_eq!(error.kind(), ErrorKind::Io);
        assert!(error.message().ends_with("part-2.parquet: no such file"), "{error}");
    }
    // Another file in its place, shorter or with other labels.
    fs::write(&file, &sound[..sound.len() - 10]).unwrap();
    let error = write().unwrap_err();
    assert!(error.message().contains("part-2.parquet: changed while it was read"), "{error}");
    assert_eq!(names(root.path()), ["pool"]);
    fs::write(&file, &sound).unwrap();
    write().unwrap();
    assert_eq!(names(root.path()), ["labels", "pool"]);
}

#[test]
fn labels_that_were_not_there_before() {
    let root = tempfile::tempdir().unwrap();
    let pool = root.path().join("pool");
    write(&pool, &[("x", numbers(&[1, 2, 1, 2]))], 1, 10);
    let table = Table::open(&pool).unwrap();
    let rows = engine(1).distinct(&table, &()).unwrap();
    write(&pool, &[("x", numbers(&[1, 2, 1, 1]))], 1, 10);
    let again = Table::open(&pool).unwrap();
    let labels = rows.ensemble().members()[0].clone();
    let mut output = Output::new(root.path().join("labels"), &again).unwrap();
    let error = engine(1).write_labels(&again, &rows, &labels, &mut output, &()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt);
    let other = Partition::from_labels(&[0, 1, 1]).unwrap();
    let error = engine(1).write_labels(&table, &rows, &other, &mut output, &()).unwrap_err();
    assert_eq!(error.message(), "3 labels for 2 distinct rows");
    drop(output);
    assert_eq!(names(root.path()), ["pool"]);
}

#[test]
fn unequal_files() {
    let root = tempfile::tempdir().unwrap();
    let pool = root.path().join("pool");
    let kinds = [ErrorKind::Format];
    for (second, about) in [
        (vec![("x", numbers(&[1])), ("z", numbers(&[1]))], "column 1 is \"z\"; expected \"y\""),
        (vec![("x", numbers(&[1]))], "1 columns; expected 2 as in"),
        (
            vec![
                ("x", numbers(&[1])),
                (
                    "y",
                    std::sync::Arc::new(datafusion::arrow::array::Int32Array::from(vec![1])) as _,
                ),
            ],
            "column 1 (y) holds Int32; expected Int64",
        ),
    ] {
        write(&pool, &[("x", numbers(&[1])), ("y", numbers(&[1]))], 1, 10);
        let other = root.path().join("other");
        write(&other, &second, 1, 10);
        fs::rename(other.join("part-0.parquet"), pool.join("part-1.parquet")).unwrap();
        fs::remove_dir(&other).unwrap();
        refused(root.path(), &pool, &kinds, about);
    }
}

#[test]
fn what_holds_no_labels() {
    let root = tempfile::tempdir().unwrap();
    let pool = root.path().join("pool");
    let halves: datafusion::arrow::array::ArrayRef =
        std::sync::Arc::new(datafusion::arrow::array::Float64Array::from(vec![1.0, 2.5]));
    write(&pool, &[("x", halves)], 1, 10);
    refused(root.path(), &pool, &[ErrorKind::Format], "2.5 is no label; expected a whole number");
    let days: datafusion::arrow::array::ArrayRef =
        std::sync::Arc::new(datafusion::arrow::array::Date32Array::from(vec![1, 2]));
    write(&pool, &[("x", days)], 1, 10);
    refused(root.path(), &pool, &[ErrorKind::Format], "column \"x\" holds Date32; expected");
    write(&pool, &[("x", numbers(&[]))], 1, 10);
    refused(root.path(), &pool, &[ErrorKind::Empty], "0 rows");
    fs::remove_file(pool.join("part-0.parquet")).unwrap();
    refused(root.path(), &pool, &[ErrorKind::Empty], "no Parquet files");
    refused(root.path(), &root.path().join("none"), &[ErrorKind::Io], "none: no such file");
    refused(root.path(), &root.path().join("n*.parquet"), &[ErrorKind::Empty], "no file matches");
}

#[test]
fn places_that_cannot_be_written() {
    let root = tempfile::tempdir().unwrap();
    let pool = root.path().join("pool");
    write_ensemble(&pool, &random(2, 100, 2, 0.0), 2, 200);
    let table = Table::open(&pool).unwrap();
    let refuse = |place: &Path, table: &Table, about: &str| {
        let error = Output::new(place, table).unwrap_err();
        assert!(error.message().contains(about), "{error}");
    };
    refuse(&pool, &table, "holds something; expected a new one");
    refuse(&root.path().join("labels.parquet"), &table, "expected the name of a folder");
    refuse(&root.path().join("no/labels"), &table, "no such file");
    fs::write(root.path().join("file"), "kept").unwrap();
    refuse(&root.path().join("file"), &table, "is a file; expected the name of a folder");
    let file = pool.join("part-0.parquet");
    let one = Table::open(&file).unwrap();
    refuse(&file, &one, "is a file of the table");
    assert_eq!(names(root.path()), ["file", "pool"]);
    // An empty folder is as good as a new one, and a file is replaced at once.
    fs::create_dir(root.path().join("labels")).unwrap();
    job(&pool, &root.path().join("labels"), &engine(1), &()).unwrap();
    let place = root.path().join("labels.parquet");
    fs::write(&place, "old").unwrap();
    job(&file, &place, &engine(1), &()).unwrap();
    assert_eq!(Table::open(&place).unwrap().n_rows(), one.n_rows());
    assert_eq!(names(root.path()), ["file", "labels", "labels.parquet", "pool"]);
}

#[test]
fn too_many_distinct_rows() {
    let root = tempfile::tempdir().unwrap();
    let pool = root.path().join("pool");
    let shape = made::Shape { files: 4, rows: 150_000, members: 20, distinct: 0, seed: 1 };
    made::ensemble(&pool, &shape).unwrap();
    let small = Engine::builder().memory(64 << 20).partitions(2).build().unwrap();
    let error = job(&pool, &root.path().join("labels"), &small, &()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::TooLarge);
    assert!(error.message().contains("memory"), "{error}");
    assert_eq!(names(root.path()), ["pool"]);
    // With more memory the rows are grouped on disk, and fit.
    let larger = Engine::builder().memory(192 << 20).partitions(2).build().unwrap();
    let table = Table::open(&pool).unwrap();
    let rows = larger.distinct(&table, &()).unwrap();
    assert!(rows.n_distinct() > 560_000 && rows.total() == 600_000);
    let sample = larger.sample(&table, 1000, Seed(0), &()).unwrap();
    assert_eq!((sample.ensemble().n_objects(), sample.n_distinct()), (1000, rows.n_distinct()));
}

/// Stops in the middle of a stage.
struct Stop(&'static str, AtomicBool);

impl Observer for Stop {
    fn progress(&self, stage: &str, done: usize, _total: usize) {
        if stage == self.0 && done > 0 {
            self.1.store(true, Ordering::Relaxed);
        }
    }

    fn cancelled(&self) -> bool {
        self.1.load(Ordering::Relaxed)
    }
}

#[test]
fn cancelled_runs_leave_nothing() {
    let root = tempfile::tempdir().unwrap();
    let pool = root.path().join("pool");
    write_ensemble(&pool, &random(2, 10_000, 4, 0.0), 3, 300);
    for stage in ["grouping", "writing"] {
        let stop = Stop(stage, AtomicBool::new(false));
        let error = job(&pool, &root.path().join("labels"), &engine(2), &stop).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Cancelled, "{stage}");
        assert_eq!(names(root.path()), ["pool"]);
    }
}

#[test]
fn settings_out_of_range() {
    assert!(Engine::builder().partitions(0).build().is_err());
    assert!(Engine::builder().memory(1 << 20).build().is_err());
}
