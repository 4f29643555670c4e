use std::fs::File;
use std::io::{BufReader, Cursor, Read, Seek};
use std::path::Path;

use consilience_core::{
    Ensemble, Fit, Memberships, MemoryBudget, Observer, Partition, Report, Result, ensure,
};
use ndarray::Array2;

use crate::allowance::Allowance;
#[cfg(any(feature = "csv", feature = "npy"))]
use crate::answers;
use crate::answers::AnswerTable;
#[cfg(feature = "csv")]
use crate::csv;
use crate::fault::{malformed, system, within};
use crate::features::FeatureTable;
use crate::location::{Format, Location};
#[cfg(feature = "parquet")]
use crate::parquet;
use crate::table::LabelColumns;
#[cfg(feature = "npy")]
use crate::{mixed, npy, npz};

/// A table in a file or in memory, to be read as labels or as features.
///
/// [`read_labels`](crate::read_labels) and its like are shorter; here progress goes to an
/// [`Observer`], notes about the file come with the report, and bytes in memory can be read.
///
/// ```
/// use consilience::io::{Format, Input};
///
/// let text = "a,b\n0,7\n0,7\n1,\n";
/// let ensemble = Input::in_memory(text.as_bytes(), Format::Csv).ensemble(&())?.output;
/// assert_eq!((ensemble.n_objects(), ensemble.n_members()), (3, 2));
/// // An empty cell is no label.
/// assert_eq!(ensemble.members()[1].label(2), None);
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Errors
/// Every reader answers [`ErrorKind::Io`](consilience_core::ErrorKind::Io) for a file that cannot
/// be opened or read, [`ErrorKind::Format`](consilience_core::ErrorKind::Format) for contents that
/// are not as expected,
/// [`ErrorKind::TooLarge`](consilience_core::ErrorKind::TooLarge) for what does not fit in memory,
/// and [`ErrorKind::Cancelled`](consilience_core::ErrorKind::Cancelled). The message names the
/// file, and row and column where there are any.
#[derive(Clone, Debug)]
pub struct Input<'a> {
    place: Place<'a>,
    format: Format,
    array: Option<String>,
    budget: MemoryBudget,
}

#[derive(Clone, Debug)]
enum Place<'a> {
    File(std::path::PathBuf),
    Bytes(&'a [u8]),
}

/// What a reader reads from.
pub(crate) trait Contents: Read + Seek {}
impl<T: Read + Seek> Contents for T {}

impl<'a> Input<'a> {
    /// The table at a path, which may name an array as `pool.npz:labels`. Nothing is opened yet.
    ///
    /// # Errors
    /// As [`Location::parse`].
    pub fn file(path: impl AsRef<Path>) -> Result<Self> {
        Ok(Self::at(Location::parse(path)?))
    }

    /// The table at a location.
    pub fn at(location: Location) -> Self {
        let Location { path, format, array, .. } = location;
        Input { place: Place::File(path), format, array, budget: MemoryBudget::bytes(u64::MAX) }
    }

    /// The table in the bytes of a file.
    pub fn in_memory(content: &'a [u8], format: Format) -> Self {
        let budget = MemoryBudget::bytes(u64::MAX);
        Input { place: Place::Bytes(content), format, array: None, budget }
    }

    consilience_core::setters! {
        /// The array of an `.npz` archive to read. Default the only array.
        pub fn array(mut self, name: impl Into<String>) { self.array = Some(name.into()) }
    }

    /// How much memory the table may take. Default all that there is.
    pub fn memory_budget(mut self, budget: MemoryBudget) -> Self {
        self.budget = budget;
        self
    }

    fn allowance(&self) -> Allowance {
        Allowance::new(self.budget)
    }

    /// Features, n rows and d columns of finite numbers.
    ///
    /// # Errors
    /// As [`Input`]; [`ErrorKind::NonFinite`](consilience_core::ErrorKind::NonFinite) for a NaN or
    /// an infinity.
    pub fn features(&self, observer: &dyn Observer) -> Result<Fit<FeatureTable>> {
        self.reading(|notes| {
            let table = self.feature_table(observer, notes)?;
            table.view().check()?;
            Ok(table)
        })
    }

    /// An ensemble, n rows and one column of labels per member. Labels are whole numbers; negative,
    /// empty, null and NaN are unlabelled.
    ///
    /// An `.npz` archive whose arrays are called `member_0`, `member_1`, ... holds a member in
    /// each: one column is labels, several are memberships, with a row of zeros where an object
    /// has none.
    ///
    /// ```
    /// use consilience::io::{read_ensemble, write_ensemble};
    /// use consilience::ndarray::array;
    /// use consilience::{Ensemble, Partition, SparseMemberships};
    ///
    /// let folder = tempfile::tempdir().unwrap();
    /// let path = folder.path().join("pool.npz");
    /// let ensemble = Ensemble::mixed([
    ///     Partition::from_labels(&[0, 1, -1])?.into(),
    ///     SparseMemberships::from_array(array![[0.75, 0.25], [0.0, 1.0], [0.0, 0.0]].view())?.into(),
    /// ])?;
    /// write_ensemble(&path, &ensemble)?;
    /// assert_eq!(read_ensemble(&path)?, ensemble);
    /// # Ok::<(), consilience::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Input`].
    pub fn ensemble(&self, observer: &dyn Observer) -> Result<Fit<Ensemble>> {
        self.reading(|notes| {
            #[cfg(feature = "npy")]
            if let Some(names) = self.members()? {
                let one = |name: &str| self.clone().array(name);
                let columns =
                    |name: &str| Ok(one(name).feature_table(observer, &mut Vec::new())?.into_f64());
                let labels = |name: &str| {
                    one(name).label_columns(observer, &mut Vec::new())?.into_partition()
                };
                return mixed::read(&names, columns, labels);
            }
            self.label_columns(observer, notes)?.into_ensemble()
        })
    }

    /// The arrays of an archive of members.
    #[cfg(feature = "npy")]
    fn members(&self) -> Result<Option<Vec<String>>> {
        if self.format != Format::Npz || self.array.is_some() {
            return Ok(None);
        }
        Ok(mixed::members(npz::names(self.open_archive()?)?))
    }

    /// An ensemble, and the labels that its members give to further objects, which are in another
    /// table: one row for each in the numbers of the ensemble's clusters, -1 for unlabelled.
    ///
    /// ```
    /// use consilience::io::{Format, Input};
    /// use consilience::ndarray::array;
    ///
    /// let pool = Input::in_memory(b"7,1\n3,1\n3,2\n", Format::Csv);
    /// let new = Input::in_memory(b"3,2\n7,-1\n", Format::Csv);
    /// let (ensemble, rows) = pool.ensemble_and_new(&new, &())?.output;
    /// assert_eq!(ensemble.members()[0].to_signed(), [0, 1, 1]);
    /// assert_eq!(rows, array![[1, 1], [0, -1]]);
    /// # Ok::<(), consilience::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Input`]; [`ErrorKind::Format`](consilience_core::ErrorKind::Format) for another number
    /// of columns, and for a label that no object of the ensemble has.
    pub fn ensemble_and_new(
        &self,
        new: &Input<'_>,
        observer: &dyn Observer,
    ) -> Result<Fit<(Ensemble, Array2<i64>)>> {
        let Fit { output: columns, mut report, .. } =
            self.reading(|notes| self.label_columns(observer, notes))?;
        let rows = new.reading(|notes| columns.translate(&new.label_columns(observer, notes)?))?;
        report.notes.extend(rows.report.notes);
        let ensemble = self.reading(|_| columns.into_ensemble())?.output;
        Ok(Fit::new((ensemble, rows.output), report))
    }

    /// One column of labels, as in [`Input::ensemble`].
    ///
    /// # Errors
    /// As [`Input`].
    pub fn labels(&self, observer: &dyn Observer) -> Result<Fit<Partition>> {
        self.reading(|notes| self.label_columns(observer, notes)?.into_partition())
    }

    /// How many objects each row of an ensemble stands for: one column of whole numbers, as
    /// [`Ensemble::with_counts`] takes them.
    ///
    /// ```
    /// use consilience::io::{Format, Input};
    ///
    /// let counts = Input::in_memory(b"count\n3\n40000000000\n", Format::Csv).counts(&())?.output;
    /// assert_eq!(counts, [3, 40_000_000_000]);
    /// # Ok::<(), consilience::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Input`]; [`ErrorKind::ShapeMismatch`](consilience_core::ErrorKind::ShapeMismatch) for
    /// more than one column, [`ErrorKind::OutOfRange`](consilience_core::ErrorKind::OutOfRange) for
    /// what is no whole number from 1 to 2^53 - 1.
    pub fn counts(&self, observer: &dyn Observer) -> Result<Fit<Vec<u64>>> {
        self.reading(|notes| {
            let table = self.feature_table(observer, notes)?.into_f64();
            let columns = table.ncols();
            ensure!(columns == 1, shape("{columns} columns of counts; expected 1"));
            let count = |(row, &value): (usize, &f64)| {
                let whole = value.fract() == 0.0 && (1.0..9_007_199_254_740_992.0).contains(&value);
                ensure!(
                    whole,
                    out_of_range(
                        "row {row}: count {value}; expected a whole number from 1 to 2^53 - 1"
                    )
                );
                Ok(value as u64)
            };
            table.column(0).iter().enumerate().map(count).collect()
        })
    }

    /// Soft memberships, n rows and k columns of probabilities; one column of labels counts as
    /// certain.
    ///
    /// # Errors
    /// As [`Input`], and as [`Memberships::new`].
    pub fn memberships(&self, observer: &dyn Observer) -> Result<Fit<Memberships>> {
        self.reading(|notes| {
            let table = self.feature_table(observer, notes)?;
            if table.view().n_features() == 1 {
                let labels = self.label_columns(observer, &mut Vec::new())?;
                return Ok(Memberships::from(&labels.into_partition()?));
            }
            Memberships::new(table.into_f64())
        })
    }

    /// The answers of a crowd, as [`read_answers`](crate::read_answers) takes them.
    ///
    /// # Errors
    /// As [`Input`].
    pub fn answers(&self, observer: &dyn Observer) -> Result<Fit<AnswerTable>> {
        self.reading(|_| match self.format {
            #[cfg(feature = "csv")]
            Format::Csv => answers::from_csv(self.open()?.0, observer, &self.allowance()),
            #[cfg(feature = "npy")]
            Format::Npz => answers::from_npz(self, observer, &self.allowance()),
            Format::Npy | Format::Parquet => Err(malformed(
                "answers have named columns; expected a .csv with a header, or an .npz",
            )),
            #[cfg(not(all(feature = "csv", feature = "npy")))]
            other => Err(other.left_out()),
        })
    }

    /// Reads something, collects the notes, and puts the file's name in front of any error.
    fn reading<T>(&self, read: impl FnOnce(&mut Vec<String>) -> Result<T>) -> Result<Fit<T>> {
        let mut report = Report::default();
        let output = read(&mut report.notes).map_err(|error| match &self.place {
            Place::File(path) => within(path.display())(error),
            Place::Bytes(_) => error,
        })?;
        Ok(Fit::new(output, report))
    }

    /// The bytes, and how many they are where that is known.
    fn open(&self) -> Result<(Box<dyn Contents + '_>, Option<u64>)> {
        match &self.place {
            Place::File(path) => {
                let (file, length) = open_file(path)?;
                Ok((Box::new(BufReader::new(file)), length))
            }
            Place::Bytes([]) => Err(malformed("the file is empty")),
            Place::Bytes(content) => {
                Ok((Box::new(Cursor::new(*content)), Some(content.len() as u64)))
            }
        }
    }

    /// The bytes of an archive, which is read from its end.
    #[cfg(feature = "npy")]
    pub(crate) fn open_archive(&self) -> Result<Box<dyn Contents + '_>> {
        if let Place::File(path) = &self.place {
            return Ok(Box::new(BufReader::new(open_whole(path)?)));
        }
        Ok(self.open()?.0)
    }

    #[cfg(feature = "parquet")]
    fn open_parquet(&self) -> Result<parquet::Source> {
        match &self.place {
            Place::File(path) => parquet::Source::open(open_whole(path)?, self.allowance()),
            Place::Bytes(content) => {
                let bytes = bytes::Bytes::copy_from_slice(content);
                parquet::Source::open(bytes, self.allowance())
            }
        }
    }

    fn label_columns(
        &self,
        observer: &dyn Observer,
        notes: &mut Vec<String>,
    ) -> Result<LabelColumns> {
        let _ = (observer, &notes);
        match self.format {
            #[cfg(feature = "npy")]
            Format::Npy => {
                let (mut reader, length) = self.open()?;
                let allowance = self.allowance();
                npy::Stream { reader: &mut reader, length, observer, allowance }.labels()
            }
            #[cfg(feature = "npy")]
            Format::Npz => {
                let (archive, array) = (self.open_archive()?, self.array.as_deref());
                npz::read(archive, array, observer, &self.allowance(), |stream| stream.labels())
            }
            #[cfg(feature = "csv")]
            Format::Csv => csv::labels(self.open()?.0, observer, &self.allowance(), notes),
            #[cfg(feature = "parquet")]
            Format::Parquet => parquet::shielded(|| self.open_parquet()?.labels(observer)),
            #[cfg(not(all(feature = "csv", feature = "npy", feature = "parquet")))]
            other => Err(other.left_out()),
        }
    }

    fn feature_table(
        &self,
        observer: &dyn Observer,
        notes: &mut Vec<String>,
    ) -> Result<FeatureTable> {
        let _ = (observer, &notes);
        match self.format {
            #[cfg(feature = "npy")]
            Format::Npy => {
                let (mut reader, length) = self.open()?;
                let allowance = self.allowance();
                npy::Stream { reader: &mut reader, length, observer, allowance }.features()
            }
            #[cfg(feature = "npy")]
            Format::Npz => {
                let (archive, array) = (self.open_archive()?, self.array.as_deref());
                npz::read(archive, array, observer, &self.allowance(), |stream| stream.features())
            }
            #[cfg(feature = "csv")]
            Format::Csv => {
                let table = csv::features(self.open()?.0, observer, &self.allowance(), notes)?;
                Ok(FeatureTable::F64(table))
            }
            #[cfg(feature = "parquet")]
            Format::Parquet => parquet::shielded(|| self.open_parquet()?.features(observer)),
            #[cfg(not(all(feature = "csv", feature = "npy", feature = "parquet")))]
            other => Err(other.left_out()),
        }
    }
}

/// An open file, and its length unless it is a device or a pipe; folders and empty files are
/// refused.
pub(crate) fn open_file(path: &Path) -> Result<(File, Option<u64>)> {
    let file = File::open(path).map_err(system)?;
    let metadata = file.metadata().map_err(system)?;
    if metadata.is_dir() {
        return Err(malformed("is a folder, expected a file"));
    }
    if metadata.is_file() && metadata.len() == 0 {
        return Err(malformed("the file is empty"));
    }
    Ok((file, metadata.is_file().then_some(metadata.len())))
}

/// An open file of a format that is read from its end.
#[cfg(any(feature = "npy", feature = "parquet"))]
pub(crate) fn open_whole(path: &Path) -> Result<File> {
    match open_file(path)? {
        (file, Some(_)) => Ok(file),
        (_, None) => Err(malformed(
            "is a device or a pipe; expected a file: an archive is read from its end",
        )),
    }
}
