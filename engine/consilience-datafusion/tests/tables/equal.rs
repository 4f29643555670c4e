//! The labels of the engine are those of the library on all rows, at any number of files and
//! partitions.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use crate::common::{engine, labels, names, numbers, random, read, signed, write, write_ensemble};
use consilience::catalogue::{Settings, by_name, methods};
use consilience::ndarray::{Array1, Array2};
use consilience::scores::{Contingency, Scores};
use consilience::trust::Diagnostics;
use consilience::{Clusters, Ensemble, Microclusters, Partition, Seed};
use consilience_datafusion::{Output, Table};
use datafusion::arrow::array::{
    ArrayRef, BooleanArray, Float64Array, Int16Array, StringArray, UInt64Array,
};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::DataType;

fn consensus(name: &str, clusters: impl Into<Clusters>, ensemble: &Ensemble) -> Partition {
    let settings = Settings::new(clusters).seed(Seed(5));
    by_name(name).unwrap().build(&settings).unwrap().consensus(ensemble).unwrap()
}

#[test]
fn every_method_at_any_number_of_files_and_partitions() {
    let folder = tempfile::tempdir().unwrap();
    let ensemble = random(1, 400, 6, 0.05);
    let expected: Vec<(&str, Partition)> =
        methods().iter().map(|m| (m.name(), consensus(m.name(), 3, &ensemble))).collect();
    for (files, group) in [(1, 1000), (2, 100), (5, 37)] {
        let pool = folder.path().join(format!("pool{files}"));
        write_ensemble(&pool, &ensemble, files, group);
        let table = Table::open(&pool).unwrap();
        for partitions in [1, 2, 4] {
            let engine = engine(partitions);
            let rows = engine.distinct(&table, &()).unwrap();
            let (expected, _) = ensemble.distinct().unwrap();
            assert_eq!(*rows.ensemble(), expected, "{files} files, {partitions} partitions");
            assert!(rows.total() == 400 && rows.n_distinct() == expected.n_objects() as u64);
        }
        let engine = engine(files);
        // All of them in five files, where rows are cut up most, and every fourth in fewer.
        let tried = expected.iter().step_by(if files == 5 { 1 } else { 4 });
        for (name, found) in tried {
            let place = folder.path().join(format!("{name}{files}"));
            let ours = labels(&engine, &table, &place, |e| consensus(name, 3, e));
            assert_eq!(ours, signed(found), "{name}, {files} files");
        }
    }
    assert!(expected.len() > 30);
}

#[test]
fn small_worlds() {
    let folder = tempfile::tempdir().unwrap();
    let engines = [engine(1), engine(3)];
    for seed in 0..60 {
        let mut s = Seed(seed).stream();
        let (n, members) = (1 + s.below(40), 1 + s.below(4));
        let ensemble = random(seed, n, members, 0.3 * s.uniform());
        let pool = folder.path().join(format!("pool{seed}"));
        write_ensemble(&pool, &ensemble, 1 + s.below(4), 1 + s.below(9));
        let table = Table::open(&pool).unwrap();
        let k = 1 + s.below(n.min(3));
        for (e, engine) in engines.iter().enumerate() {
            let place = folder.path().join(format!("labels{seed}-{e}"));
            let ours = labels(engine, &table, &place, |e| consensus("eac-al", k, e));
            assert_eq!(ours, signed(&consensus("eac-al", k, &ensemble)), "seed {seed}");
            assert_eq!(names(&place), names(&pool));
        }
    }
}

/// The same labels in every form that they may have.
#[test]
fn labels_of_every_type() {
    let folder = tempfile::tempdir().unwrap();
    let raw = [3i64, -1, 0, 3, 300, -7, 0, 300, 3, 3, -1, 0];
    let plain: Vec<Option<i64>> = raw.iter().map(|&l| (l >= 0).then_some(l)).collect();
    let text: Vec<Option<String>> = plain.iter().map(|l| l.map(|l| format!("c{l}"))).collect();
    let text: ArrayRef = Arc::new(StringArray::from(text));
    let to = |kind: DataType, column: &ArrayRef| cast(column, &kind).unwrap();
    let dictionary = DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8));
    let empty: Vec<String> =
        plain.iter().map(|l| l.map_or(String::new(), |l| l.to_string())).collect();
    let floats: Vec<f64> = plain.iter().map(|l| l.map_or(f64::NAN, |l| l as f64)).collect();
    let negative: Vec<f64> = raw.iter().map(|&l| if l == 0 { -0.0 } else { l as f64 }).collect();
    let large: Vec<Option<u64>> = plain.iter().map(|l| l.map(|l| u64::MAX - l as u64)).collect();
    // A number in any writing, and the words for none.
    let digits =
        |at: usize, l: i64| [l.to_string(), format!(" 0{l}"), format!("{l}.0")][at % 3].clone();
    let nothing = |at: usize| ["NA", "-1", "NaN", " ", "null"][at % 5].to_owned();
    let each = || plain.iter().enumerate();
    let words: Vec<String> =
        each().map(|(at, l)| l.map_or_else(|| nothing(at), |l| digits(at, l))).collect();
    let spaces: Vec<String> = each()
        .map(|(at, l)| l.map_or_else(|| nothing(at), |l| format!("{}c{l} ", " ".repeat(at % 2))))
        .collect();
    let short: Vec<i16> = raw.iter().map(|&l| l as i16).collect();
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("signed", numbers(&raw)),
        ("short", Arc::new(Int16Array::from(short))),
        ("null", Arc::new(plain.iter().copied().collect::<datafusion::arrow::array::Int64Array>())),
        ("nan", Arc::new(Float64Array::from(floats))),
        ("negative", Arc::new(Float64Array::from(negative))),
        ("large", Arc::new(UInt64Array::from(large))),
        ("text", text.clone()),
        ("view", to(DataType::Utf8View, &text)),
        ("long", to(DataType::LargeUtf8, &text)),
        ("dictionary", to(dictionary, &text)),
        ("empty", Arc::new(StringArray::from(empty))),
        ("words", Arc::new(StringArray::from(words))),
        ("spaces", Arc::new(StringArray::from(spaces))),
    ];
    let pool = folder.path().join("pool");
    write(&pool, &columns, 2, 5);
    let member = Partition::from_labels(&raw).unwrap();
    let table = Table::open(&pool).unwrap();
    let rows = engine(2).distinct(&table, &()).unwrap();
    // Rows that differ only in how a missing label is written are one.
    assert_eq!(rows.n_distinct(), 4);
    let all = vec![member.clone(); columns.len()];
    assert_eq!(*rows.ensemble(), Ensemble::new(all).unwrap().distinct().unwrap().0);
    let place = folder.path().join("labels");
    let ours = labels(&engine(2), &table, &place, |e| consensus("eac-al", 3, e));
    assert_eq!(ours, signed(&member));
}

#[test]
fn truth_values_are_labels() {
    let folder = tempfile::tempdir().unwrap();
    let pool = folder.path().join("pool");
    let yes: ArrayRef =
        Arc::new(BooleanArray::from(vec![Some(true), Some(false), None, Some(true)]));
    write(&pool, &[("yes", yes)], 1, 10);
    let rows = engine(1).distinct(&Table::open(&pool).unwrap(), &()).unwrap();
    assert_eq!(rows.ensemble().members()[0].to_signed(), [0, 1, -1]);
    assert_eq!(rows.ensemble().counts(), Some(&[2, 1, 1][..]));
}

#[test]
fn chosen_columns_ids_and_single_files() {
    let folder = tempfile::tempdir().unwrap();
    let pool = folder.path().join("pool");
    let ids: ArrayRef = Arc::new(StringArray::from(vec!["a", "b", "c", "d", "e"]));
    let columns = [
        ("name", ids),
        ("x", numbers(&[0, 0, 1, 1, 1])),
        ("y", numbers(&[0, 1, 2, 3, 4])),
        ("z", numbers(&[5, 5, 5, 6, 6])),
        // Names that the scan itself would like to use.
        ("consilience_row", numbers(&[1, 1, 1, 1, 1])),
        ("Consilience First", numbers(&[1, 1, 1, 1, 1])),
    ];
    write(&pool, &columns, 1, 2);
    let file = pool.join("part-0.parquet");
    let table = Table::open(&file).unwrap().ids("name").unwrap().columns(&[2, 0, 2]).unwrap();
    assert_eq!(table.names(), ["z", "x", "z"]);
    let rows = engine(2).distinct(&table, &()).unwrap();
    let z = Partition::from_labels(&[0, 0, 1]).unwrap();
    let x = Partition::from_labels(&[0, 1, 1]).unwrap();
    assert_eq!(rows.ensemble().members().len(), 3);
    assert_eq!(rows.ensemble().members()[0], z);
    assert_eq!(rows.ensemble().members()[1], x);
    let place = folder.path().join("labels.parquet");
    let mut output = Output::new(&place, &table).unwrap();
    engine(2).write_labels(&table, &rows, &z, &mut output, &()).unwrap();
    output.commit().unwrap();
    assert_eq!(read(&place, "label"), [0, 0, 0, 1, 1]);
    assert_eq!(Table::open(&place).unwrap().names(), ["name", "label"]);
    let pool = Table::open(folder.path().join("pool/part-?.parquet")).unwrap();
    let missing = pool.clone().without("w").unwrap_err();
    assert!(missing.message().contains("expected one of name, x, y, z"), "{missing}");
    let all = pool.without("name").unwrap();
    assert_eq!(engine(1).distinct(&all, &()).unwrap().n_distinct(), 5);
}

#[test]
fn scores_and_diagnostics_are_those_of_the_library() {
    let folder = tempfile::tempdir().unwrap();
    let ensemble = random(8, 900, 3, 0.1);
    let (a, b) = (&ensemble.members()[0], &ensemble.members()[1]);
    let (left, right) = (folder.path().join("a"), folder.path().join("b"));
    write_ensemble(&left, &ensemble.select(&[0]).unwrap(), 3, 100);
    write_ensemble(&right, &ensemble.select(&[1]).unwrap(), 2, 77);
    let tables = (Table::open(&left).unwrap(), Table::open(&right).unwrap());
    for partitions in [1, 2, 4] {
        let table = engine(partitions).contingency(&tables.0, &tables.1, &()).unwrap();
        let expected = Contingency::new(a, b).unwrap();
        assert!(table.cells().eq(expected.cells()));
        let (ours, theirs) = (Scores::of(&table).unwrap(), Scores::of(&expected).unwrap());
        assert_eq!(ours.entries().map(|e| e.1.to_bits()), theirs.entries().map(|e| e.1.to_bits()));
    }
    let pool = folder.path().join("pool");
    write_ensemble(&pool, &ensemble, 2, 100);
    let rows = engine(2).distinct(&Table::open(&pool).unwrap(), &()).unwrap();
    let (distinct, _) = ensemble.distinct().unwrap();
    let found = consensus("auto", Clusters::Auto, &distinct);
    assert_eq!(consensus("auto", Clusters::Auto, rows.ensemble()), found);
    let trust = Diagnostics::of(rows.ensemble(), &found).unwrap();
    assert_eq!(trust.anmi, Diagnostics::of(&distinct, &found).unwrap().anmi);
}

#[test]
fn a_sample_of_everything_is_everything() {
    let folder = tempfile::tempdir().unwrap();
    let ensemble = random(4, 2000, 8, 0.1);
    let pool = folder.path().join("pool");
    write_ensemble(&pool, &ensemble, 3, 200);
    let table = Table::open(&pool).unwrap();
    let all = engine(2).distinct(&table, &()).unwrap();
    let sample = engine(3).sample(&table, 5000, Seed(1), &()).unwrap();
    assert!(!sample.is_sample());
    assert_eq!(sample.ensemble(), all.ensemble());
    let some = engine(1).sample(&table, 60, Seed(1), &()).unwrap();
    assert!(some.is_sample());
    assert_eq!(some.ensemble().n_objects(), 60);
    assert_eq!(some.n_distinct(), all.n_distinct());
    for partitions in [2, 4] {
        let again = engine(partitions).sample(&table, 60, Seed(1), &()).unwrap();
        assert_eq!(again.ensemble(), some.ensemble());
    }
    let other = engine(1).sample(&table, 60, Seed(2), &()).unwrap();
    assert_ne!(other.ensemble(), some.ensemble());
}

#[test]
fn rows_outside_of_the_sample_are_placed() {
    let folder = tempfile::tempdir().unwrap();
    let ensemble = random(4, 4000, 8, 0.02);
    let pool = folder.path().join("pool");
    write_ensemble(&pool, &ensemble, 3, 500);
    let table = Table::open(&pool).unwrap();
    let mut all: Vec<Vec<i32>> = Vec::new();
    for partitions in [1, 3] {
        let engine = engine(partitions);
        let rows = engine.sample(&table, 100, Seed(1), &()).unwrap();
        let found = consensus("eac-al", 4, rows.ensemble());
        let place = folder.path().join(format!("labels{partitions}"));
        let mut output = Output::new(&place, &table).unwrap();
        let told = engine.write_labels(&table, &rows, &found, &mut output, &()).unwrap();
        output.commit().unwrap();
        assert!(told.placed > 0 && told.placed < 2000, "{told:?}");
        assert_eq!(told.sizes.iter().sum::<u64>() + told.unlabelled, 4000);
        all.push(read(&place, "label"));
    }
    assert_eq!(all[0], all[1]);
    let placed = Partition::from_labels(&all[0]).unwrap();
    let full = consensus("eac-al", 4, &ensemble);
    let ari = Scores::compare(&placed, &full).unwrap().ari;
    assert!(ari > 0.9, "{ari}");
}

/// The pools are not part of the project: without them the test says so and passes.
#[test]
fn reference_pools() {
    let root = std::env::var_os("CONSILIENCE_DATA").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"),
        |folder| Path::new(&folder).to_path_buf(),
    );
    let pools = root.join("pools");
    if !pools.is_dir() {
        println!("skipped: no reference pools in {}", pools.display());
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    for name in ["MF", "IS", "Semeion", "VS", "Texture", "LS", "FCT", "PD", "Caltech20"] {
        let file = File::open(pools.join(format!("{name}.npz"))).unwrap();
        let mut npz = ndarray_npy::NpzReader::new(file).unwrap();
        let all: Array2<u8> = npz.by_name("labels").unwrap();
        let truth = npz.by_name::<_, _>("truth").map(|t: Array1<u8>| t.mapv(i32::from));
        let truth = truth.unwrap_or_else(|_| npz.by_name("truth").unwrap());
        let text = std::fs::read_to_string(pools.join(format!("golden_{name}.json"))).unwrap();
        let golden: serde_json::Value = serde_json::from_str(&text).unwrap();
        let columns: Vec<usize> = golden["draws"][0]["columns"]
            .as_array()
            .unwrap()
            .iter()
            .map(|c| c.as_u64().unwrap() as usize)
            .collect();
        let member = |&c: &usize| Partition::from_labels(&all.column(c).to_vec()).unwrap();
        let ensemble = Ensemble::new(columns.iter().map(member).collect()).unwrap();
        let k = Partition::from_labels(&truth.to_vec()).unwrap().n_clusters();
        let found = consensus("lwea", k, &ensemble);
        let nodes = Microclusters::of(&ensemble).unwrap().n_nodes();
        for (files, partitions) in [(1, 1), (2, 4), (5, 2)] {
            let pool = folder.path().join(format!("{name}{files}"));
            write_ensemble(&pool, &ensemble, files, 500);
            let table = Table::open(&pool).unwrap();
            let place = folder.path().join(format!("{name}{files}-labels"));
            let engine = engine(partitions);
            assert_eq!(engine.distinct(&table, &()).unwrap().n_distinct(), nodes as u64);
            let ours = labels(&engine, &table, &place, |e| consensus("lwea", k, e));
            assert_eq!(ours, signed(&found), "{name}, {files} files");
        }
    }
}
