//! Work that others do: the same results as here, and clear errors where they fail.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::common::{numbers, write};
use consilience::catalogue::{Settings, by_name};
use consilience::scores::Scores;
use consilience::{Error, ErrorKind, Observer, Result, Seed};
use consilience_datafusion::remote::{Cluster, Job, Resources, perform};
use consilience_datafusion::{Engine, MemberSetup, Output, Table, made};

/// Another machine that is this one. Every task is done twice, the second time by somebody who was
/// given up.
#[derive(Debug, Default)]
struct Here {
    tasks: AtomicUsize,
}

impl Cluster for Here {
    fn run(&self, job: &Job, observer: &dyn Observer) -> Result<()> {
        for task in job.open()?.into_iter().rev() {
            observer.check()?;
            perform(task.bytes(), &Resources::default())?;
            perform(task.bytes(), &Resources::default())?;
            self.tasks.fetch_add(1, Ordering::Relaxed);
            job.open()?;
        }
        assert_eq!(job.rows_done()?, job.rows());
        Ok(())
    }
}

/// One that does nothing and says that it is done.
#[derive(Debug)]
struct Idle;

impl Cluster for Idle {
    fn run(&self, _: &Job, _: &dyn Observer) -> Result<()> {
        Ok(())
    }
}

fn here() -> Engine {
    Engine::builder().memory(256 << 20).partitions(2).build().unwrap()
}

fn elsewhere(cluster: impl Cluster + 'static, shared: &Path) -> Engine {
    let builder = Engine::builder().memory(256 << 20).partitions(2);
    builder.cluster(Arc::new(cluster), shared).build().unwrap()
}

/// Names and contents of all files of a folder.
fn files(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let name = |path: &Path| path.file_name().unwrap().to_str().unwrap().to_owned();
    let mut files: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|path| (name(&path), fs::read(&path).unwrap()))
        .collect();
    files.sort();
    files
}

fn labels(engine: &Engine, table: &Table, sample: Option<usize>, place: &Path) -> Result<Vec<u64>> {
    let rows = match sample {
        Some(rows) => engine.sample(table, rows, Seed(3), &())?,
        None => engine.distinct(table, &())?,
    };
    let found = by_name("lwea")?.build(&Settings::new(4))?.consensus(rows.ensemble())?;
    let mut output = Output::new(place, table)?;
    let told = engine.write_labels(table, &rows, &found, &mut output, &())?;
    output.commit()?;
    Ok(told.sizes)
}

#[test]
fn the_same_labels_and_scores() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let shape = made::Shape { files: 5, rows: 3000, members: 7, distinct: 200, seed: 2 };
    made::ensemble(&at.join("pool"), &shape).unwrap();
    let table = Table::open(at.join("pool")).unwrap();
    let (own, other) = (here(), elsewhere(Here::default(), at));
    for sample in [None, Some(60)] {
        let ours = labels(&own, &table, sample, &at.join("ours")).unwrap();
        let theirs = labels(&other, &table, sample, &at.join("theirs")).unwrap();
        assert_eq!(ours, theirs);
        assert_eq!(files(&at.join("ours")), files(&at.join("theirs")));
        let labels = Table::open(at.join("ours")).unwrap();
        let truth = Table::open(at.join("pool")).unwrap().columns(&[2]).unwrap();
        let ours = own.contingency(&labels, &truth, &()).unwrap();
        let theirs = other.contingency(&labels, &truth, &()).unwrap();
        assert_eq!(ours, theirs);
        assert!(Scores::of(&theirs).unwrap().ari > 0.1);
        for place in ["ours", "theirs"] {
            fs::remove_dir_all(at.join(place)).unwrap();
        }
    }
    assert_eq!(files_but(at, "pool"), Vec::<String>::new());
}

fn files_but(folder: &Path, kept: &str) -> Vec<String> {
    let names = fs::read_dir(folder).unwrap();
    let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter(|name| name != kept).collect()
}

#[test]
fn the_same_members() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let shape = made::Shape { files: 4, rows: 2500, members: 5, distinct: 0, seed: 5 };
    made::features(&at.join("features"), &shape).unwrap();
    let table = Table::open(at.join("features")).unwrap();
    let settings = MemberSetup::new().members(4).clusters(3..=9).sample(700).passes(6);
    let settings = settings.object_fraction(0.7).feature_fraction(0.6);
    let cluster = elsewhere(Here::default(), at);
    for (engine, place) in [(&here(), "ours"), (&cluster, "theirs")] {
        let mut output = Output::new(at.join(place), &table).unwrap();
        engine.generate(&table, &settings, &mut output, &()).unwrap();
        output.commit().unwrap();
    }
    assert_eq!(files(&at.join("ours")), files(&at.join("theirs")));
}

#[test]
fn one_file_and_files_without_rows() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let columns = [("a", numbers(&[0, 0, 1, -1])), ("b", numbers(&[4, 4, 7, 7]))];
    write(&at.join("pool"), &columns, 4, 2);
    let cluster = elsewhere(Here::default(), at);
    for (table, n, distinct, place) in
        [("pool", 4, 3, "folder"), ("pool/part-2.parquet", 2, 2, "file.parquet")]
    {
        let table = Table::open(at.join(table)).unwrap();
        let rows = cluster.distinct(&table, &()).unwrap();
        assert_eq!((rows.total(), rows.n_distinct()), (n, distinct));
        let found = by_name("eac-al").unwrap().build(&Settings::new(2)).unwrap();
        let found = found.consensus(rows.ensemble()).unwrap();
        let mut output = Output::new(at.join(place), &table).unwrap();
        cluster.write_labels(&table, &rows, &found, &mut output, &()).unwrap();
        output.commit().unwrap();
        let written = Table::open(at.join(place)).unwrap();
        assert_eq!((written.n_rows(), written.n_files()), (n, table.n_files()));
    }
}

#[test]
fn errors_of_others_are_errors_here() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let shape = made::Shape { files: 3, rows: 400, members: 3, distinct: 9, seed: 1 };
    made::ensemble(&at.join("pool"), &shape).unwrap();
    let table = Table::open(at.join("pool")).unwrap();
    let other = elsewhere(Here::default(), at);
    let rows = other.distinct(&table, &()).unwrap();

    // A file that changes, and one that goes.
    let second = table_file(at, 1);
    let bytes = fs::read(&second).unwrap();
    fs::write(&second, [&bytes[..], b"x"].concat()).unwrap();
    let error = other.distinct(&table, &()).unwrap_err();
    assert!(error.message().contains(second.to_str().unwrap()), "{error}");
    fs::remove_file(&second).unwrap();
    let error = other.distinct(&table, &()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Io);
    assert!(error.message().ends_with("no such file"), "{error}");
    fs::write(&second, bytes).unwrap();

    // Who does nothing is found out, and nothing is left.
    let found = by_name("eac-al").unwrap().build(&Settings::new(2)).unwrap();
    let found = found.consensus(rows.ensemble()).unwrap();
    let idle = elsewhere(Idle, at);
    let mut output = Output::new(at.join("labels"), &table).unwrap();
    let error = idle.write_labels(&table, &rows, &found, &mut output, &()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt);
    drop(output);
    assert_eq!(files_but(at, "pool"), Vec::<String>::new());

    let error = perform(b"no task", &Resources::default()).unwrap_err();
    assert_eq!(error, Error::new(ErrorKind::Corrupt, "damaged message between machines"));
}

fn table_file(at: &Path, number: usize) -> std::path::PathBuf {
    let mut names: Vec<_> =
        fs::read_dir(at.join("pool")).unwrap().map(|entry| entry.unwrap().path()).collect();
    names.sort();
    names.swap_remove(number)
}
