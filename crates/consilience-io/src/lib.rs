//! Labels, features, constraints and answers of a crowd, from and to files: CSV and TSV, plain or
//! compressed by gzip or zstd, NumPy's `.npy` and `.npz`, Apache Parquet, and Arrow IPC, which
//! Feather is. Sparse features are read from Matrix Market, svmlight and scipy's `.npz` too.
//!
//! The format follows from the ending of the name; `pool.npz:labels` names an array of an archive.
//! What is written here is read here, and by the program `consilience`:
//!
//! ```
//! use consilience::Partition;
//! use consilience::io::{read_ensemble, read_labels, write_labels};
//!
//! let folder = tempfile::tempdir().unwrap();
//! let path = folder.path().join("pool.csv");
//! // One row per object, one column per base clustering; an empty cell is no label.
//! std::fs::write(&path, "a,b,c\n0,3,7\n0,3,7\n1,3,\n1,4,8\n").unwrap();
//! let ensemble = read_ensemble(&path)?;
//! assert_eq!((ensemble.n_objects(), ensemble.n_members()), (4, 3));
//!
//! let consensus = Partition::from_labels(&[0, 0, 1, 1])?; // of a consensus function
//! write_labels(folder.path().join("labels.npy"), &consensus)?;
//! assert_eq!(read_labels(folder.path().join("labels.npy"))?, consensus);
//! # Ok::<(), consilience::Error>(())
//! ```
//!
//! An [`Error`] names the file, and row and column where there are any:
//!
//! ```
//! # let folder = tempfile::tempdir().unwrap();
//! let path = folder.path().join("x.csv");
//! std::fs::write(&path, "height,weight\n1.7,70\n1.8,heavy\n").unwrap();
//! let error = consilience::io::read_features(&path).unwrap_err();
//! assert!(error.message().ends_with(
//!     "x.csv: row 1 (line 3), column 1 (weight): \"heavy\"; expected a number"
//! ));
//! ```
//!
//! | what | rows | columns |
//! |---|---|---|
//! | features | one per object | numbers |
//! | ensemble | one per object | one per base clustering: whole numbers |
//! | labels | one per object | one |
//! | memberships | one per object | one probability per cluster |
//! | constraints (CSV) | one per pair | `i,j,link`, perhaps `batch`, and others that are ignored |
//! | edges of a network | one per edge | two: objects |
//! | answers (CSV, npz) | one per answer | those of an [`AnswerForm`] |
//!
//! Negative, empty and null labels are unlabelled; a link is `must` or `cannot`.
//!
//! Building blocks: [`Input`] reads with an observer and from memory, [`OutputFile`] is a file that
//! appears only when it is complete, [`FileLock`] keeps other processes away from one. The
//! features `csv`, `compression`, `npy`, `parquet` and `arrow`, all on by default, choose the
//! formats.

// What several formats share has parts that a build of some of them does not use.
#![cfg_attr(
    not(all(feature = "compression", feature = "npy", feature = "parquet", feature = "arrow")),
    allow(dead_code, unreachable_code, unused_imports, unused_mut, unused_variables)
)]

mod allowance;
mod answers;
#[cfg(feature = "arrow")]
mod arrow;
mod chosen;
#[cfg(any(feature = "parquet", feature = "arrow"))]
mod columnar;
#[cfg(feature = "csv")]
mod compressed;
#[cfg(feature = "csv")]
mod constraints;
#[cfg(feature = "csv")]
mod csv;
mod data_table;
mod defects;
mod edges;
mod fault;
#[cfg(test)]
mod faulty;
mod features;
mod front;
mod ids;
mod input;
mod label;
mod label_table;
mod labelled;
mod location;
mod lock;
mod lookup;
mod membership_table;
#[cfg(feature = "npy")]
mod mixed;
#[cfg(feature = "npy")]
mod npy;
#[cfg(feature = "npy")]
mod npz;
mod output;
#[cfg(feature = "parquet")]
mod parquet;
mod place;
#[cfg(feature = "csv")]
mod records;
mod roles;
mod row_numbers;
mod sink;
mod sparse;
mod table;
#[cfg(feature = "csv")]
mod text;

use std::io::Read;
use std::path::Path;

use consilience_core::{Ensemble, Error, ErrorKind, Memberships, MemoryBudget, Partition, Result};

use crate::membership_table::table_of;

pub use answers::{AnswerForm, AnswerTable, read_answers, read_answers_observed};
#[cfg(feature = "csv")]
pub use constraints::{
    Batch, read_batches, read_batches_by_id, read_constraints, read_constraints_by_id,
};
pub use data_table::DataTable;
pub use features::FeatureTable;
pub use ids::ObjectIds;
pub use input::Input;
#[doc(hidden)]
pub use label::{TextLabel, text_label};
pub use label_table::LabelTable;
pub use labelled::Labelled;
pub use location::{Compression, Format, Location};
pub use lock::FileLock;
pub use output::{OutputFile, remove_unfinished};
#[doc(hidden)]
pub use roles::order_of_columns;

/// Reads an ensemble: one row per object, one column of labels per base clustering.
///
/// ```
/// let folder = tempfile::tempdir().unwrap();
/// let path = folder.path().join("pool.csv");
/// std::fs::write(&path, "0,1\n0,-1\n5,1\n").unwrap();
/// let ensemble = consilience::io::read_ensemble(&path)?;
/// assert_eq!(ensemble.members()[0].to_signed(), [0, 0, 1]);
/// assert_eq!(ensemble.members()[1].to_signed(), [0, -1, 0]);
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Errors
/// As [`Input`].
pub fn read_ensemble(path: impl AsRef<Path>) -> Result<Ensemble> {
    Ok(Input::file(path)?.ensemble(&())?.output)
}

/// The bytes of a file, a device or a pipe, where they fit the budget: for what is stored in a
/// format of its own, a fitted model or the state of an updater.
///
/// ```
/// use consilience::{ErrorKind, MemoryBudget, io::read_bytes};
///
/// let folder = tempfile::tempdir().unwrap();
/// let path = folder.path().join("model.bin");
/// std::fs::write(&path, [1, 2, 3]).unwrap();
/// assert_eq!(read_bytes(&path, MemoryBudget::bytes(3))?, [1, 2, 3]);
/// let error = read_bytes(&path, MemoryBudget::bytes(2)).unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::TooLarge);
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Errors
/// [`ErrorKind::Io`], with the path; [`ErrorKind::TooLarge`] beyond the budget.
pub fn read_bytes(path: impl AsRef<Path>, budget: MemoryBudget) -> Result<Vec<u8>> {
    let path = path.as_ref();
    let limit = budget.n_bytes();
    let mut bytes = Vec::new();
    let read = std::fs::File::open(path)
        .and_then(|file| file.take(limit.saturating_add(1)).read_to_end(&mut bytes));
    match read {
        Ok(_) if bytes.len() as u64 > limit => Err(Error::new(
            ErrorKind::TooLarge,
            format!("{}: more than the memory budget of {limit} bytes", path.display()),
        )),
        Ok(_) => Ok(bytes),
        Err(error) => Err(fault::within(path.display())(fault::system(error))),
    }
}

/// Reads one column of labels.
///
/// ```
/// let folder = tempfile::tempdir().unwrap();
/// let path = folder.path().join("labels.csv");
/// std::fs::write(&path, "label\n7\n\n7\n3\n").unwrap();
/// // The blank line is an object without a label; clusters are numbered by their first object.
/// assert_eq!(consilience::io::read_labels(&path)?.to_signed(), [0, -1, 0, 1]);
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Errors
/// As [`Input`].
pub fn read_labels(path: impl AsRef<Path>) -> Result<Partition> {
    Ok(Input::file(path)?.labels(&())?.output)
}

/// Reads features: one row per object, finite numbers.
///
/// ```
/// let folder = tempfile::tempdir().unwrap();
/// let path = folder.path().join("x.csv");
/// std::fs::write(&path, "height,weight\n1.7,70\n1.8,75\n").unwrap();
/// let table = consilience::io::read_features(&path)?;
/// assert_eq!((table.view().n_objects(), table.view().n_features()), (2, 2));
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// Ids, and a first column of [row numbers](Input::id), are left out; [`Input::data_table`] has
/// them.
///
/// # Errors
/// As [`Input::features`].
pub fn read_features(path: impl AsRef<Path>) -> Result<FeatureTable> {
    Ok(Input::file(path)?.features(&())?.output)
}

/// Reads soft memberships: one row per object, one column of probabilities per cluster. One column
/// of labels counts as certain. A row of zeros, or no label, is an object without evidence; all
/// others have evidence 1, since no file says how much there is.
///
/// ```
/// let folder = tempfile::tempdir().unwrap();
/// let path = folder.path().join("soft.csv");
/// std::fs::write(&path, "0.75,0.25\n0.5,0.5\n0,0\n").unwrap();
/// let soft = consilience::io::read_memberships(&path)?;
/// assert_eq!((soft.n_clusters(), soft.evidence()), (2, &[1.0, 1.0, 0.0][..]));
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Errors
/// As [`Input`], and as [`Memberships::new`].
pub fn read_memberships(path: impl AsRef<Path>) -> Result<Memberships> {
    Ok(Input::file(path)?.memberships(&())?.output)
}

/// Writes one column of labels, -1 for unlabelled. A file that was there is replaced when the new
/// one is complete.
///
/// ```
/// use consilience::Partition;
/// use consilience::io::{read_labels, write_labels};
///
/// let folder = tempfile::tempdir().unwrap();
/// let path = folder.path().join("labels.parquet");
/// let partition = Partition::from_labels(&[0, 1, -1])?;
/// write_labels(&path, &partition)?;
/// assert_eq!(read_labels(&path)?, partition);
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Errors
/// [`ErrorKind::Format`] for an unknown ending,
/// [`ErrorKind::Io`] where the file cannot be written.
pub fn write_labels(path: impl AsRef<Path>, labels: &Partition) -> Result<()> {
    written(path, |file| file.write_labels(Labelled::One(labels), &()))
}

/// Writes an ensemble, one column of labels per member; with memberships an `.npz` of an array per
/// member, `member_0`, `member_1`, ..., of one column of labels or a column of memberships for each
/// cluster.
///
/// ```
/// use consilience::{Ensemble, Partition};
/// use consilience::io::{read_ensemble, write_ensemble};
///
/// let folder = tempfile::tempdir().unwrap();
/// let path = folder.path().join("pool.npz");
/// let ensemble = Ensemble::new(vec![Partition::from_labels(&[0, 0, 1])?])?;
/// write_ensemble(&path, &ensemble)?;
/// assert_eq!(read_ensemble(&path)?.members(), ensemble.members());
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Errors
/// As [`write_labels`];
/// [`ErrorKind::InvalidParameter`] for memberships
/// in another format, for members with weights and for rows that stand for several objects: their
/// counts are a table of their own, which [`Input::counts`] reads.
pub fn write_ensemble(path: impl AsRef<Path>, ensemble: &Ensemble) -> Result<()> {
    written(path, |file| file.write_labels(Labelled::All(ensemble), &()))
}

/// Writes soft memberships, one column of probabilities per cluster. An object without evidence,
/// whose probabilities mean nothing, has a row of zeros (NaN where there is one cluster), so that
/// [`read_memberships`] finds none either; how much evidence others have is not written.
///
/// ```
/// use consilience::{Memberships, Partition};
/// use consilience::io::{read_memberships, write_memberships};
///
/// let folder = tempfile::tempdir().unwrap();
/// let path = folder.path().join("soft.csv");
/// let soft = Memberships::from(&Partition::from_labels(&[0, 1, 1])?);
/// write_memberships(&path, &soft)?;
/// assert_eq!(read_memberships(&path)?.values(), soft.values());
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Errors
/// As [`write_labels`].
pub fn write_memberships(path: impl AsRef<Path>, memberships: &Memberships) -> Result<()> {
    written(path, |file| file.write_numbers(table_of(memberships)?.view(), &()))
}

fn written(
    path: impl AsRef<Path>,
    write: impl FnOnce(&mut OutputFile) -> Result<()>,
) -> Result<()> {
    let mut file = OutputFile::table(path)?;
    write(&mut file)?;
    file.commit()
}
