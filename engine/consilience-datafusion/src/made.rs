//! Tables of any size to try things on: ensembles with as many distinct rows as wanted, and
//! features.

use std::collections::HashSet;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use consilience::{Error, Result, Seed, Stream};
use datafusion::arrow::array::{ArrayRef, Float32Array, UInt8Array};
use datafusion::arrow::datatypes::{DataType, Field, Schema};
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::parquet::arrow::ArrowWriter;
use datafusion::parquet::basic::Compression;
use datafusion::parquet::file::properties::WriterProperties;
use rayon::prelude::*;

use crate::fault::{arrow, parquet, system, within};

/// Rows that are made at a time.
const BATCH: u64 = 1 << 16;
/// Classes that made members follow.
const CLASSES: usize = 10;

/// What is made.
///
/// For [`ensemble`] and [`features`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Number of files.
    pub files: usize,
    /// Rows of each file.
    pub rows: u64,
    /// Base clusterings, or features.
    pub members: usize,
    /// Distinct rows, all of which occur; 0 to draw each row by itself.
    pub distinct: usize,
    /// Where all randomness comes from.
    pub seed: u64,
}

/// Writes an ensemble into a new folder: members of ten labels each that follow ten classes four
/// times in five, or half of the time where each row is drawn by itself. Some of the distinct rows
/// occur far more often than others.
///
/// ```
/// use consilience_datafusion::{Table, made};
///
/// let folder = tempfile::tempdir().unwrap();
/// let shape = made::Shape { files: 3, rows: 100, members: 4, distinct: 20, seed: 1 };
/// made::ensemble(&folder.path().join("pool"), &shape)?;
/// assert_eq!(Table::open(folder.path().join("pool"))?.n_rows(), 300);
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Errors
/// [`ErrorKind::Io`](consilience::ErrorKind::Io) where the folder exists or cannot be written,
/// [`ErrorKind::InvalidParameter`](consilience::ErrorKind::InvalidParameter) for more distinct rows
/// than rows, or than so few members can have.
pub fn ensemble(folder: &Path, shape: &Shape) -> Result<()> {
    let all = shape.files as u64 * shape.rows;
    if shape.distinct as u64 > all {
        let distinct = shape.distinct;
        return Err(Error::invalid(format!("{distinct} distinct rows of {all}")));
    }
    let patterns = patterns(shape)?;
    let fields = (0..shape.members).map(|u| Field::new(format!("m{u}"), DataType::UInt8, false));
    let fields: Vec<Field> = fields.collect();
    write(folder, shape, fields, |first, rows, stream| {
        let mut columns = vec![Vec::with_capacity(rows as usize); shape.members];
        let mut drawn = vec![0; shape.members];
        for i in first..first + rows {
            let row = if shape.distinct == 0 {
                // So much noise that hardly two rows are equal.
                draw(stream, &mut drawn, 0.5);
                &drawn
            } else if i < shape.distinct as u64 {
                &patterns[i as usize]
            } else {
                let skewed = stream.uniform().powi(3) * shape.distinct as f64;
                &patterns[(skewed as usize).min(shape.distinct - 1)]
            };
            columns.iter_mut().zip(row).for_each(|(column, &label)| column.push(label));
        }
        columns.into_iter().map(|column| Arc::new(UInt8Array::from(column)) as ArrayRef).collect()
    })
}

/// Writes features into a new folder: ten heaps of normal numbers, `x0`, `x1`, ..., in single
/// precision.
///
/// # Errors
/// [`ErrorKind::Io`](consilience::ErrorKind::Io) where the folder exists or cannot be written.
pub fn features(folder: &Path, shape: &Shape) -> Result<()> {
    let mut stream = Seed(shape.seed).derive("centres", 0).stream();
    let centres: Vec<Vec<f64>> =
        (0..CLASSES).map(|_| (0..shape.members).map(|_| 4.0 * stream.normal()).collect()).collect();
    let fields = (0..shape.members).map(|j| Field::new(format!("x{j}"), DataType::Float32, false));
    let fields: Vec<Field> = fields.collect();
    write(folder, shape, fields, |_, rows, stream| {
        let mut columns = vec![Vec::with_capacity(rows as usize); shape.members];
        for _ in 0..rows {
            let centre = &centres[stream.below(CLASSES)];
            for (column, c) in columns.iter_mut().zip(centre) {
                column.push((c + stream.normal()) as f32);
            }
        }
        columns.into_iter().map(|column| Arc::new(Float32Array::from(column)) as ArrayRef).collect()
    })
}

fn draw(stream: &mut Stream, row: &mut [u8], noise: f64) {
    let class = stream.below(CLASSES);
    for (u, label) in row.iter_mut().enumerate() {
        let follows = stream.uniform() >= noise;
        // Every member has its own names for the classes.
        *label = if follows { (class + u) % CLASSES } else { stream.below(CLASSES) } as u8;
    }
}

/// The distinct rows.
fn patterns(shape: &Shape) -> Result<Vec<Vec<u8>>> {
    let mut stream = Seed(shape.seed).derive("patterns", 0).stream();
    let (mut seen, mut patterns) = (HashSet::new(), Vec::with_capacity(shape.distinct));
    let mut row = vec![0; shape.members];
    for _ in 0..100 * shape.distinct.max(1) {
        if patterns.len() == shape.distinct {
            return Ok(patterns);
        }
        draw(&mut stream, &mut row, 0.2);
        if seen.insert(row.clone()) {
            patterns.push(row.clone());
        }
    }
    let (distinct, members) = (shape.distinct, shape.members);
    Err(Error::invalid(format!("{distinct} distinct rows of {members} members; expected fewer")))
}

fn write(
    folder: &Path,
    shape: &Shape,
    fields: Vec<Field>,
    make: impl Fn(u64, u64, &mut Stream) -> Vec<ArrayRef> + Sync,
) -> Result<()> {
    std::fs::create_dir(folder).map_err(system).map_err(within(folder.display()))?;
    let schema = Arc::new(Schema::new(fields));
    let file = |number: usize| {
        let path = folder.join(format!("part-{number:05}.parquet"));
        let write = || {
            let file = File::create_new(&path).map_err(system)?;
            let properties = WriterProperties::builder().set_compression(Compression::SNAPPY);
            let properties = Some(properties.build());
            let mut writer =
                ArrowWriter::try_new(file, schema.clone(), properties).map_err(parquet)?;
            let mut stream = Seed(shape.seed).derive("file", number as u64).stream();
            let mut done = 0;
            while done < shape.rows {
                let rows = BATCH.min(shape.rows - done);
                let columns = make(number as u64 * shape.rows + done, rows, &mut stream);
                let batch = RecordBatch::try_new(schema.clone(), columns).map_err(arrow)?;
                writer.write(&batch).map_err(parquet)?;
                done += rows;
            }
            writer.close().map_err(parquet)?;
            Ok(())
        };
        write().map_err(within(path.display()))
    };
    (0..shape.files).into_par_iter().try_for_each(file)
}
