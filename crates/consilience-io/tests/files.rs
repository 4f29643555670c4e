//! What is written is read, whatever the format; what is wrong leaves no file behind.

use std::path::Path;

use consilience_core::{Ensemble, ErrorKind, Memberships, Partition, SparseMemberships};
use consilience_io::{
    Format, Input, Labelled, ObjectIds, OutputFile, read_ensemble, read_features, read_labels,
    read_memberships, write_ensemble, write_labels, write_memberships,
};
use ndarray::{Array2, array};

const ENDINGS: [&str; 7] = ["npy", "npz", "csv", "csv.gz", "csv.zst", "parquet", "arrow"];

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn what_is_written_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let labels = Partition::from_labels(&[0, 1, -1, 1, 2]).unwrap();
    let wide = Partition::from_fn(5, |i| Some(i as u64)).unwrap();
    let ensemble = Ensemble::new(vec![labels.clone(), wide]).unwrap();
    let soft = array![[0.25, 0.75], [1.0, 0.0], [0.5, 0.5]];
    let soft = Memberships::new(soft).unwrap();
    for ending in ENDINGS {
        let path = |name: &str| folder.path().join(format!("{name}.{ending}"));
        write_labels(path("labels"), &labels).unwrap();
        assert_eq!(read_labels(path("labels")).unwrap(), labels, "{ending}");
        write_ensemble(path("pool"), &ensemble).unwrap();
        assert_eq!(read_ensemble(path("pool")).unwrap().members(), ensemble.members(), "{ending}");
        write_memberships(path("soft"), &soft).unwrap();
        assert_eq!(read_memberships(path("soft")).unwrap().values(), soft.values(), "{ending}");
        assert_eq!(
            read_features(path("soft")).unwrap().into_f64().unwrap(),
            soft.values(),
            "{ending}"
        );
        // The same from memory.
        let bytes = std::fs::read(path("pool")).unwrap();
        let format = consilience_io::Location::parse(path("pool")).unwrap().format;
        let again = Input::in_memory(&bytes, format).ensemble(&()).unwrap().output;
        assert_eq!(again.members(), ensemble.members(), "{ending}");
    }
}

#[test]
fn counts_of_rows_are_not_lost() {
    let folder = tempfile::tempdir().unwrap();
    let member = Partition::from_labels(&[0, 0, 1]).unwrap();
    let counted = Ensemble::new(vec![member]).unwrap().with_counts(vec![1, 1, 20]).unwrap();
    for ending in ENDINGS {
        let path = folder.path().join(format!("pool.{ending}"));
        let refused = write_ensemble(&path, &counted).unwrap_err();
        assert!(refused.message().contains("row 2 counts 20"), "{refused}");
        assert!(refused.message().contains("Input::counts") && !path.exists(), "{refused}");
    }
}

/// Text that ends early may be a whole table of fewer rows; everything else is refused.
#[test]
fn files_that_end_early_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let member = |k: i64| Partition::from_labels(&(0..40).map(|i| i % k).collect::<Vec<_>>());
    let ensemble = Ensemble::new(vec![member(3).unwrap(), member(5).unwrap()]).unwrap();
    for ending in ENDINGS {
        let path = folder.path().join(format!("pool.{ending}"));
        write_ensemble(&path, &ensemble).unwrap();
        let whole = std::fs::read(&path).unwrap();
        for length in 0..whole.len() {
            std::fs::write(&path, &whole[..length]).unwrap();
            match read_ensemble(&path) {
                Ok(read) => assert!(ending == "csv" && read.n_objects() <= 40, "{ending} {length}"),
                Err(error) => assert!(error.message().contains("pool."), "{error}"),
            }
            // No reader panics or hangs on any of them.
            let _ = read_features(&path);
            let _ = read_memberships(&path);
            let _ = consilience_io::read_answers(&path);
            let _ = consilience_io::read_constraints(&path, 40);
        }
    }
}

#[test]
fn a_budget_limits_what_is_read() {
    use consilience_core::MemoryBudget;
    let text = "0,1\n".repeat(10_000);
    let pool = Input::in_memory(text.as_bytes(), Format::Csv);
    let within = |bytes| pool.clone().memory_budget(MemoryBudget::bytes(bytes));
    for bytes in [0, 100, 10_000] {
        let error = within(bytes).ensemble(&()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::TooLarge, "{bytes}: {error}");
        assert_eq!(within(bytes).features(&()).unwrap_err().kind(), ErrorKind::TooLarge);
    }
    assert!(within(100_000).ensemble(&()).is_ok());
    assert!(within(1_000_000).features(&()).is_ok());
}

#[test]
fn arrays_of_an_archive_have_names() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pool.npz");
    let labels = Partition::from_labels(&[0, 1]).unwrap();
    let named = |name: &str| format!("{}:{name}", path.display());
    write_labels(named("truth"), &labels).unwrap();
    assert_eq!(read_labels(named("truth")).unwrap(), labels);
    assert_eq!(read_labels(&path).unwrap(), labels);
    let error = read_labels(named("other")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Format);
    assert!(error.message().contains("\"other\" among truth"), "{error}");
}

/// Memberships have an array for each member, and the ids go with them.
#[test]
fn ids_stay_with_memberships() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pool.npz");
    let ensemble = Ensemble::mixed([
        Partition::from_labels(&[0, 1, -1]).unwrap().into(),
        SparseMemberships::from_array(array![[0.75, 0.25], [0.0, 1.0], [0.0, 0.0]].view())
            .unwrap()
            .into(),
    ])
    .unwrap();
    let ids = ObjectIds::new(["p1", "p2", "ä3"]).unwrap();
    let write = |path: &Path| {
        let mut file = OutputFile::table(path)?;
        file.set_ids(ids.clone());
        file.write_labels(Labelled::All(&ensemble), &())?;
        file.commit()
    };
    write(&path).unwrap();
    let table = Input::file(&path).unwrap().label_table(&()).unwrap().output;
    assert_eq!(table.ensemble(), &ensemble);
    assert_eq!(table.ids(), Some(&ids));
    assert_eq!(table.column_names(), ["member_0", "member_1"]);
    let error = write(&folder.path().join("new.npz:name")).unwrap_err();
    assert!(error.message().contains("an array each"), "{error}");
}

/// Unlabelled objects, also those at the end.
#[test]
fn names_come_back_for_every_object() {
    let folder = tempfile::tempdir().unwrap();
    let labels = [-1, 0, 1, -1, 0, -1, -1];
    let partition = Partition::from_labels(&labels).unwrap();
    let animals = ["cat".to_owned(), "dog, or so".to_owned()];
    let ids = ObjectIds::new((0..7).map(|i| format!("p{i}"))).unwrap();
    for name in ["l.csv", "l.npz", "l.npy", "l.parquet"] {
        for ids in [None, Some(&ids).filter(|_| name != "l.npy")] {
            let path = folder.path().join(name);
            let mut file = OutputFile::table(&path).unwrap();
            file.set_ids(ids.cloned());
            file.write_labels(Labelled::Named(&partition, &animals), &()).unwrap();
            file.commit().unwrap();
            let table = Input::file(&path).unwrap().label_table(&()).unwrap().output;
            assert_eq!(table.partition().unwrap(), partition, "{name}");
            assert_eq!(table.cluster_names(0), animals, "{name}");
        }
    }
}

/// An object of which nothing was known came back in the first cluster.
#[test]
fn memberships_of_objects_without_evidence_come_back() {
    let folder = tempfile::tempdir().unwrap();
    let labels: [&[i64]; 4] = [&[-1, 0, 0, 1, -1], &[0, -1, 0], &[-1, -1], &[-1, 0, 1, 2]];
    for (ending, labels) in ENDINGS.iter().flat_map(|e| labels.map(|l| (e, l))) {
        let path = folder.path().join(format!("soft.{ending}"));
        let soft = Memberships::from(&Partition::from_labels(labels).unwrap());
        write_memberships(&path, &soft).unwrap();
        let read = read_memberships(&path).unwrap();
        assert_eq!(read.hard().unwrap().to_signed(), labels, "{ending}");
        assert_eq!(read.evidence(), soft.evidence(), "{ending}");
    }
    // How much evidence there is does not show, and a row of it means no cluster.
    let values = array![[0.75, 0.25], [0.25, 0.75], [0.5, 0.5]];
    let soft = Memberships::with_evidence(values.clone(), vec![3.0, 0.0, 2.0]).unwrap();
    let path = folder.path().join("soft.npy");
    write_memberships(&path, &soft).unwrap();
    let read = read_memberships(&path).unwrap();
    assert_eq!(read.evidence(), [1.0, 0.0, 1.0]);
    assert_eq!(read.values().row(1), array![0.5, 0.5]);
    assert_eq!(read.values().row(0), values.row(0));
}

#[test]
fn categories_are_the_same_in_every_format() {
    let folder = tempfile::tempdir().unwrap();
    let column = [-1.0, 0.0, 0.5, -1.0, 2.0, f64::NAN];
    let table = Array2::from_shape_fn((6, 2), |(i, j)| if j == 0 { column[i] } else { i as f64 });
    let mut found = Vec::new();
    for name in ["t.csv", "t.npy", "t.npz", "t.parquet"] {
        let path = folder.path().join(name);
        let mut file = OutputFile::table(&path).unwrap();
        file.write_numbers(table.view(), &()).unwrap();
        file.commit().unwrap();
        let first = if matches!(name, "t.csv" | "t.parquet") { "c0" } else { "0" };
        let read = Input::file(&path).unwrap().categorical([first]).data_table(&()).unwrap();
        let categories = read.output.categories().unwrap().clone();
        found.push((categories.partition().unwrap().to_signed(), categories.cluster_names(0)));
    }
    assert_eq!(found[0].0, [0, 1, 2, 0, 3, -1]);
    assert_eq!(found[0].1, ["-1", "0", "0.5", "2"]);
    assert!(found.iter().all(|other| *other == found[0]), "{found:?}");
}

#[test]
fn errors_have_kinds_and_places() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let missing = read_labels(path("none.csv")).unwrap_err();
    assert_eq!(missing.kind(), ErrorKind::Io);
    assert!(missing.message().ends_with("none.csv: no such file"), "{missing}");
    std::fs::write(path("nan.csv"), "1,2\n3,nan\n").unwrap();
    let error = read_features(path("nan.csv")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NonFinite);
    let message = error.message();
    assert!(message.contains("nan.csv: missing values: 1 in column 1"), "{message}");
    assert!(message.contains("row 1 (line 2)"), "{message}");
    assert_eq!(read_labels(path("a.txt")).unwrap_err().kind(), ErrorKind::Format);
    let error = Input::in_memory(b"", Format::Parquet).labels(&()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Format);
    assert!(names(folder.path()) == ["nan.csv"]);
}

#[test]
fn notes_come_with_the_report() {
    let fit = Input::in_memory(b"0,1,2\n0,0,1\n", Format::Csv).ensemble(&()).unwrap();
    assert_eq!(fit.output.n_objects(), 2);
    assert_eq!(fit.report.notes.len(), 1);
    assert!(fit.report.notes[0].contains("names of text would make it one"));
}

/// Stops at once.
struct Impatient;

impl consilience_core::Observer for Impatient {
    fn cancelled(&self) -> bool {
        true
    }
}

#[test]
fn cancelled_reading_and_writing_leave_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let labels = Partition::from_labels(&[0, 1]).unwrap();
    for ending in ["npy", "npz", "csv", "parquet"] {
        let path = folder.path().join(format!("out.{ending}"));
        let mut file = OutputFile::table(&path).unwrap();
        let error = file.write_labels(Labelled::One(&labels), &Impatient).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Cancelled, "{ending}");
        drop(file);
        assert!(names(folder.path()).is_empty(), "{ending}");
    }
}

#[test]
fn several_files_appear_together_or_not_at_all() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    std::fs::write(path("old"), "old").unwrap();
    let all = || {
        ["old", "new", "third"].map(|name| {
            let mut file = OutputFile::any(path(name)).unwrap();
            file.write("fresh").unwrap();
            file
        })
    };
    let files = Vec::from(all());
    // A folder that comes in between: the last file cannot take its place.
    std::fs::create_dir(path("third")).unwrap();
    std::fs::write(path("third").join("in the way"), "").unwrap();
    assert_eq!(OutputFile::commit_all(files).unwrap_err().kind(), ErrorKind::Io);
    assert_eq!(names(folder.path()), ["old", "third"]);
    assert_eq!(std::fs::read(path("old")).unwrap(), b"old");
    std::fs::remove_dir_all(path("third")).unwrap();
    OutputFile::commit_all(Vec::from(all())).unwrap();
    assert_eq!(names(folder.path()), ["new", "old", "third"]);
    assert_eq!(std::fs::read(path("old")).unwrap(), b"fresh");
}

#[test]
fn one_place_is_written_once_at_a_time() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out.csv");
    let first = OutputFile::table(&path).unwrap();
    assert!(OutputFile::table(&path).unwrap_err().message().contains("written twice"));
    drop(first);
    assert!(OutputFile::table(&path).is_ok());
}
