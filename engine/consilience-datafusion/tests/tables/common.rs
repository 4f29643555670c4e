//! Small tables in Parquet files.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use consilience::ndarray::Array2;
use consilience::{Ensemble, Partition, Seed};
use consilience_datafusion::{Engine, Generation, MemberSetup, Output, Table};
use datafusion::arrow::array::{
    Array, ArrayRef, AsArray, Float32Array, Float64Array, Int32Array, Int64Array,
};
use datafusion::arrow::datatypes::{Float64Type, Int32Type};
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::parquet::arrow::ArrowWriter;
use datafusion::parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use datafusion::parquet::file::properties::WriterProperties;

/// Writes columns into so many files of a folder, rows in order, in row groups of that size.
pub(crate) fn write(folder: &Path, columns: &[(&str, ArrayRef)], files: usize, group: usize) {
    std::fs::create_dir_all(folder).unwrap();
    let batch = RecordBatch::try_from_iter(
        columns.iter().map(|(name, column)| (name.to_string(), column.clone())),
    )
    .unwrap();
    let n = batch.num_rows();
    for f in 0..files {
        // Files of unequal length; the last of many may be empty.
        let bound = |f: usize| (n * f * f).div_ceil(files * files).min(n);
        let (start, end) = (bound(f), bound(f + 1));
        let file = File::create(folder.join(format!("part-{f}.parquet"))).unwrap();
        let properties = WriterProperties::builder().set_max_row_group_row_count(Some(group));
        let mut writer =
            ArrowWriter::try_new(file, batch.schema(), Some(properties.build())).unwrap();
        writer.write(&batch.slice(start, end - start)).unwrap();
        writer.close().unwrap();
    }
}

/// A column of 64-bit numbers.
pub(crate) fn numbers(values: &[i64]) -> ArrayRef {
    Arc::new(Int64Array::from(values.to_vec()))
}

/// Writes an ensemble as 32-bit numbers, nulls for what is missing.
pub(crate) fn write_ensemble(folder: &Path, ensemble: &Ensemble, files: usize, group: usize) {
    let columns: Vec<(String, ArrayRef)> = ensemble
        .members()
        .iter()
        .enumerate()
        .map(|(u, member)| {
            let labels: Int32Array = member.iter().map(|l| l.map(|l| l as i32)).collect();
            (format!("m{u}"), Arc::new(labels) as ArrayRef)
        })
        .collect();
    let columns: Vec<(&str, ArrayRef)> =
        columns.iter().map(|(name, column)| (name.as_str(), column.clone())).collect();
    write(folder, &columns, files, group);
}

/// One 32-bit column of all files of a table, in their order.
pub(crate) fn read(path: &Path, column: &str) -> Vec<i32> {
    let mut values = Vec::new();
    for column in arrays(path, column) {
        values.extend(column.as_primitive::<Int32Type>().values());
    }
    values
}

/// The same of 64-bit floats.
pub(crate) fn read_numbers(path: &Path, column: &str) -> Vec<f64> {
    let mut values = Vec::new();
    for column in arrays(path, column) {
        values.extend(column.as_primitive::<Float64Type>().values());
    }
    values
}

fn arrays(path: &Path, column: &str) -> Vec<ArrayRef> {
    let mut paths: Vec<_> = if path.is_dir() {
        std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()).collect()
    } else {
        vec![path.to_path_buf()]
    };
    paths.sort();
    let mut values = Vec::new();
    for path in paths {
        let file = File::open(path).unwrap();
        for batch in ParquetRecordBatchReaderBuilder::try_new(file).unwrap().build().unwrap() {
            let batch = batch.unwrap();
            let column = batch.column_by_name(column).unwrap();
            assert_eq!(column.null_count(), 0);
            values.push(column.clone());
        }
    }
    values
}

/// A random ensemble of objects in heaps, with many equal rows and some labels missing.
pub(crate) fn random(seed: u64, n: usize, members: usize, missing: f64) -> Ensemble {
    let mut s = Seed(seed).stream();
    let classes: Vec<usize> = (0..n).map(|_| s.below(4)).collect();
    let members = (0..members)
        .map(|_| {
            let labels: Vec<i64> = classes
                .iter()
                .map(|&class| {
                    if s.uniform() < missing {
                        -1
                    } else if s.uniform() < 0.1 {
                        s.below(5) as i64
                    } else {
                        class as i64
                    }
                })
                .collect();
            Partition::from_labels(&labels).unwrap()
        })
        .collect();
    Ensemble::new(members).unwrap()
}

/// An engine of so many partitions.
pub(crate) fn engine(partitions: usize) -> Engine {
    Engine::builder().memory(512 << 20).partitions(partitions).build().unwrap()
}

/// The labels that a method gives to a table, and how they were made.
pub(crate) fn labels(
    engine: &Engine,
    table: &Table,
    place: &Path,
    method: impl Fn(&Ensemble) -> Partition,
) -> Vec<i32> {
    let rows = engine.distinct(table, &()).unwrap();
    let found = method(rows.ensemble());
    let mut output = Output::new(place, table).unwrap();
    engine.write_labels(table, &rows, &found, &mut output, &()).unwrap();
    assert!(!place.exists());
    output.commit().unwrap();
    read(place, "label")
}

/// Labels as they are written.
pub(crate) fn signed(partition: &Partition) -> Vec<i32> {
    partition.iter().map(|l| l.map_or(-1, |l| l as i32)).collect()
}

/// What is in a folder, hidden files included.
pub(crate) fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// Four heaps in the plane of the first two features.
pub(crate) fn heaps(n: usize, d: usize) -> Array2<f64> {
    let mut s = Seed(1).stream();
    Array2::from_shape_fn((n, d), |(i, j)| {
        let centre = if j == 0 { i % 2 } else { i / 2 % 2 };
        if j < 2 { 20.0 * centre as f64 + s.normal() } else { s.normal() }
    })
}

/// Writes features as numbers of single or double precision, in row groups of 100 or more.
pub(crate) fn write_features(folder: &Path, x: &Array2<f64>, single: bool, files: usize) {
    let names: Vec<String> = (0..x.ncols()).map(|j| format!("x{j}")).collect();
    let columns: Vec<(&str, ArrayRef)> = names
        .iter()
        .zip(x.columns())
        .map(|(name, column)| {
            let values: ArrayRef = if single {
                Arc::new(column.iter().map(|&x| x as f32).collect::<Float32Array>())
            } else {
                Arc::new(Float64Array::from(column.to_vec()))
            };
            (name.as_str(), values)
        })
        .collect();
    write(folder, &columns, files, 100.max(x.nrows() / 20));
}

/// Generates members and puts them in their place.
pub(crate) fn generate(
    engine: &Engine,
    table: &Table,
    setup: &MemberSetup,
    place: &Path,
) -> consilience::Result<Generation> {
    let mut output = Output::new(place, table)?;
    let done = engine.generate(table, setup, &mut output, &())?;
    output.commit()?;
    Ok(done)
}
