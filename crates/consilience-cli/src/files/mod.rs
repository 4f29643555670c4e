//! Files in and out, by their ending: `.npy`, `.npz`, `.csv`, `.parquet`.
//!
//! What is written here is read here. Every error names the file, and row and column where there
//! are any.

mod answers;
mod constraints;
mod csv;
mod npy;
mod npz;
mod parquet;
pub(crate) mod table;
pub(crate) mod target;

use std::fs::File;
use std::io::{BufReader, Cursor, Write};
use std::path::{Path, PathBuf};

use consilience::{Ensemble, Memberships, Partition};
use ndarray::ArrayView2;

use crate::failure::{Failure, Outcome};
use crate::terminal::Terminal;
pub(crate) use answers::{AnswerTable, read_answers};
pub(crate) use constraints::{read_batches, read_constraints};
use table::{FeatureTable, LabelColumns};
use target::Target;

/// The formats of files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    /// One NumPy array.
    Npy,
    /// A zip archive of NumPy arrays.
    Npz,
    /// Comma-separated text.
    Csv,
    /// Apache Parquet.
    Parquet,
}

/// Where a table is: a file, and inside an archive an array.
#[derive(Clone, Debug)]
pub(crate) struct Location {
    /// The file.
    pub(crate) path: PathBuf,
    /// Its format, from its ending.
    pub(crate) format: Format,
    /// The array in an archive, where the user named one.
    pub(crate) array: Option<String>,
}

impl Location {
    /// Takes `pool.npz:labels` apart and looks at the ending.
    pub(crate) fn parse(path: &Path) -> Outcome<Self> {
        let mut file = path.to_path_buf();
        let mut array = None;
        if let Some(text) = path.to_str()
            && let Some(at) = text.to_ascii_lowercase().rfind(".npz:")
        {
            let (name, rest) = text.split_at(at + ".npz".len());
            file = PathBuf::from(name);
            array = Some(rest[1..].to_owned()).filter(|name| !name.is_empty());
        }
        let ending = file.extension().map(|e| e.to_string_lossy().to_ascii_lowercase());
        let format = match ending.as_deref() {
            Some("npy") => Format::Npy,
            Some("npz") => Format::Npz,
            Some("csv") => Format::Csv,
            Some("parquet") => Format::Parquet,
            _ => {
                return Err(Failure::bad(format!(
                    "{}: unknown ending; expected .npy, .npz, .csv or .parquet",
                    path.display()
                )));
            }
        };
        Ok(Location { path: file, format, array })
    }

    fn open(&self) -> Outcome<(File, u64)> {
        let file = File::open(&self.path)?;
        let metadata = file.metadata()?;
        if metadata.is_dir() {
            return Err(Failure::bad("is a folder, expected a file"));
        }
        if metadata.is_file() && metadata.len() == 0 {
            return Err(Failure::bad("the file is empty"));
        }
        Ok((file, metadata.len()))
    }

    fn label_columns(&self, terminal: &Terminal) -> Outcome<LabelColumns> {
        let (file, length) = self.open()?;
        match self.format {
            Format::Npy => {
                npy::Stream { reader: &mut BufReader::new(file), length, terminal }.labels()
            }
            Format::Npz => {
                npz::read(BufReader::new(file), self.array.as_deref(), terminal, |stream| {
                    stream.labels()
                })
            }
            Format::Csv => csv::labels(file, terminal),
            Format::Parquet => parquet::labels(file, terminal),
        }
    }

    fn feature_table(&self, terminal: &Terminal) -> Outcome<FeatureTable> {
        let (file, length) = self.open()?;
        match self.format {
            Format::Npy => {
                npy::Stream { reader: &mut BufReader::new(file), length, terminal }.features()
            }
            Format::Npz => {
                npz::read(BufReader::new(file), self.array.as_deref(), terminal, |stream| {
                    stream.features()
                })
            }
            Format::Csv => Ok(FeatureTable::F64(csv::features(file, terminal)?)),
            Format::Parquet => parquet::features(file, terminal),
        }
    }
}

/// Reads something and puts the file's name in front of any error.
fn reading<T>(path: &Path, read: impl FnOnce(&Location) -> Outcome<T>) -> Outcome<T> {
    let location = Location::parse(path)?;
    read(&location).map_err(|failure| failure.within(location.path.display()))
}

/// Features, n rows and d columns of finite numbers.
pub(crate) fn read_features(path: &Path, terminal: &Terminal) -> Outcome<FeatureTable> {
    reading(path, |location| {
        let table = location.feature_table(terminal)?;
        table.view().check()?;
        Ok(table)
    })
}

/// An ensemble, n rows and M columns of labels.
pub(crate) fn read_ensemble(path: &Path, terminal: &Terminal) -> Outcome<Ensemble> {
    reading(path, |location| location.label_columns(terminal)?.into_ensemble())
}

/// One column of labels.
pub(crate) fn read_labels(path: &Path, terminal: &Terminal) -> Outcome<Partition> {
    reading(path, |location| location.label_columns(terminal)?.into_partition())
}

/// Soft memberships, n rows and k columns of probabilities; one column of labels counts as certain.
pub(crate) fn read_memberships(path: &Path, terminal: &Terminal) -> Outcome<Memberships> {
    reading(path, |location| {
        let table = location.feature_table(terminal)?;
        if table.view().n_features() == 1 {
            return Ok(Memberships::from(&location.label_columns(terminal)?.into_partition()?));
        }
        Ok(Memberships::new(table.into_f64())?)
    })
}

/// The digits that ship with the program: features and truth.
pub(crate) fn shipped_digits(terminal: &Terminal) -> Outcome<(FeatureTable, Partition)> {
    const DIGITS: &[u8] = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/data/digits.npz"));
    let features = npz::read(Cursor::new(DIGITS), Some("x"), terminal, |stream| stream.features())?;
    let truth = npz::read(Cursor::new(DIGITS), Some("y"), terminal, |stream| stream.labels())?;
    Ok((features, truth.into_partition()?))
}

/// Clusterings on their way into a file.
#[derive(Clone, Copy)]
pub(crate) enum Labelled<'a> {
    /// One clustering.
    One(&'a Partition),
    /// An ensemble.
    All(&'a Ensemble),
    /// Cluster numbers that mean those of another clustering, so that they cannot be renumbered.
    Numbers(&'a [usize]),
}

impl Labelled<'_> {
    fn columns(&self) -> usize {
        if let Labelled::All(ensemble) = self { ensemble.n_members() } else { 1 }
    }

    fn rows(&self) -> usize {
        match self {
            Labelled::One(partition) => partition.n_objects(),
            Labelled::All(ensemble) => ensemble.n_objects(),
            Labelled::Numbers(numbers) => numbers.len(),
        }
    }

    /// The label as files hold it: -1 for none.
    #[inline]
    fn signed(&self, row: usize, column: usize) -> i64 {
        let label = match self {
            Labelled::One(partition) => partition.label(row),
            Labelled::All(ensemble) => ensemble.members()[column].label(row),
            Labelled::Numbers(numbers) => Some(numbers[row]),
        };
        label.map_or(-1, |l| l as i64)
    }

    /// One column of labels rather than an ensemble that happens to have one member.
    fn single(&self) -> bool {
        !matches!(self, Labelled::All(_))
    }

    fn column_names(&self) -> Vec<String> {
        if self.single() { vec!["label".to_owned()] } else { column_names("m", self.columns()) }
    }

    /// Bytes of the narrowest signed integer that holds every label and -1.
    fn width(&self) -> usize {
        let labels = match self {
            Labelled::One(partition) => partition.n_clusters(),
            Labelled::All(ensemble) => {
                ensemble.members().iter().map(Partition::n_clusters).max().unwrap_or(0)
            }
            Labelled::Numbers(numbers) => numbers.iter().max().map_or(0, |&most| most + 1),
        };
        match labels {
            0..=0x80 => 1,
            0x81..=0x8000 => 2,
            0x8001..=0x8000_0000 => 4,
            _ => 8,
        }
    }
}

fn column_names(prefix: &str, count: usize) -> Vec<String> {
    (0..count).map(|c| format!("{prefix}{c}")).collect()
}

/// Writes clusterings into a target; [`Target::commit`] puts it in its place.
pub(crate) fn write_labels(
    target: &mut Target,
    labels: &Labelled<'_>,
    terminal: &Terminal,
) -> Outcome<()> {
    let location = Location::parse(target.named())?;
    let mut write = || {
        let mut out = target.writer()?;
        match location.format {
            Format::Npy => npy::write_labels(&mut out, labels, terminal)?,
            Format::Npz => {
                let array = location.array.as_deref().unwrap_or("labels");
                return npz::write_labels(out, array, labels, terminal);
            }
            Format::Csv => csv::write_labels(&mut out, labels, terminal)?,
            Format::Parquet => return parquet::write_labels(out, labels, terminal),
        }
        Ok(out.flush()?)
    };
    write().map_err(|failure| failure.within(location.path.display()))
}

/// Writes a table of floats into a target.
pub(crate) fn write_floats(
    target: &mut Target,
    table: ArrayView2<'_, f64>,
    terminal: &Terminal,
) -> Outcome<()> {
    let location = Location::parse(target.named())?;
    let mut write = || {
        let mut out = target.writer()?;
        match location.format {
            Format::Npy => npy::write_floats(&mut out, table)?,
            Format::Npz => {
                let array = location.array.as_deref().unwrap_or("memberships");
                return npz::write_floats(out, array, table);
            }
            Format::Csv => csv::write_floats(&mut out, table)?,
            Format::Parquet => return parquet::write_floats(out, table, terminal),
        }
        Ok(out.flush()?)
    };
    write().map_err(|failure| failure.within(location.path.display()))
}
