use std::fs::File;
use std::io::{BufReader, Cursor, Read, Seek};
use std::path::Path;
use std::sync::Arc;

use consilience_core::{
    Ensemble, Error, ErrorKind, Fit, Memberships, MemoryBudget, Observer, Partition, Report,
    Result, ensure,
};
use ndarray::Array2;

use crate::allowance::Allowance;
use crate::answers::{self, AnswerTable};
#[cfg(feature = "arrow")]
use crate::arrow;
#[cfg(any(feature = "parquet", feature = "arrow"))]
use crate::columnar;
#[cfg(feature = "csv")]
use crate::csv;
use crate::data_table::DataTable;
use crate::fault::{ensure_format, malformed, system, within};
#[cfg(test)]
use crate::faulty::Faulty;
use crate::features::FeatureTable;
use crate::ids::{ObjectIds, Texts};
use crate::label::EXACT;
use crate::label_table::LabelTable;
use crate::location::{Format, Location};
use crate::membership_table::memberships_of;
#[cfg(feature = "parquet")]
use crate::parquet;
use crate::roles::Wanted;
use crate::table::LabelColumns;
use crate::{chosen, edges, sparse};
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
    wanted: Wanted,
}

#[derive(Clone, Debug)]
enum Place<'a> {
    File(std::path::PathBuf),
    Bytes(&'a [u8]),
    /// What standard input held.
    Standard(Arc<Vec<u8>>),
    #[cfg(test)]
    Faulty(Faulty),
}

impl Place<'_> {
    /// The bytes where they are in memory.
    fn content(&self) -> &[u8] {
        match self {
            Place::File(_) => &[],
            Place::Bytes(content) => content,
            Place::Standard(content) => content,
            #[cfg(test)]
            Place::Faulty(faulty) => &faulty.content,
        }
    }
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
        let tabs = location.tabs();
        let Location { path, format, array, .. } = location;
        let mut input = Self::of(Place::File(path), format, array);
        input.wanted.tabs = tabs;
        input
    }

    /// The table in the bytes of a file.
    pub fn in_memory(content: &'a [u8], format: Format) -> Self {
        Self::of(Place::Bytes(content), format, None)
    }

    /// A table on a disk with bytes that cannot be read.
    #[cfg(test)]
    pub(crate) fn faulty(faulty: Faulty, format: Format) -> Self {
        Self::of(Place::Faulty(faulty), format, None)
    }

    /// The table on standard input, which is read to its end. Its format is that of its contents:
    /// text, plain or compressed, or any of the others.
    ///
    /// # Errors
    /// [`ErrorKind::Io`](consilience_core::ErrorKind::Io) where it cannot be read,
    /// [`ErrorKind::TooLarge`](consilience_core::ErrorKind::TooLarge) beyond the budget.
    pub fn standard_input(budget: MemoryBudget) -> Result<Input<'static>> {
        let place = within("standard input");
        let content = Allowance::new(budget).all_of(std::io::stdin().lock()).map_err(place)?;
        let format = Format::of_content(&content);
        let input = Input::of(Place::Standard(Arc::new(content)), format, None);
        Ok(input.memory_budget(budget))
    }

    fn of(place: Place<'a>, format: Format, array: Option<String>) -> Self {
        let budget = MemoryBudget::bytes(u64::MAX);
        Input { place, format, array, budget, wanted: Wanted::default() }
    }

    consilience_core::setters! {
        /// The array of an `.npz` archive to read. Default the only array beside one of ids.
        pub fn array(mut self, name: impl Into<String>) { self.array = Some(name.into()) }

        /// The column that holds the ids of the objects, by its name or its number in the file.
        /// Default a first column that is called `id` or that holds another text in every row,
        /// where other columns follow, unless most of these say numbers in a CSV file of features;
        /// also a first column of whole numbers, no two alike, that has no name or is called
        /// `Unnamed: 0` or the like, or that counts the rows under a name that programs give to row
        /// numbers, such as `index`; in an `.npz` archive the array `id` or `ids`. Further columns
        /// of row numbers in front of the others are left out.
        pub fn id(mut self, column: impl Into<String>) { self.wanted.id = Some(column.into()) }

        /// Whether the column of [`Input::id`] may be missing, and is then looked for as without
        /// it. Default false.
        pub fn id_optional(mut self, optional: bool) { self.wanted.id_optional = optional }

        /// The only columns of labels to read, by their names or their numbers among the columns of
        /// labels, so that ids and row numbers do not count, in the order given. Default all.
        pub fn columns(mut self, columns: impl IntoIterator<Item = impl Into<String>>) {
            self.wanted.columns = texts(columns)
        }

        /// Columns of features that are left out, by their names or their numbers in the file.
        /// Default none.
        pub fn drop(mut self, columns: impl IntoIterator<Item = impl Into<String>>) {
            self.wanted.drop = texts(columns)
        }

        /// Columns of features that hold categories, by their names or their numbers in the file.
        /// Default none.
        pub fn categorical(mut self, columns: impl IntoIterator<Item = impl Into<String>>) {
            self.wanted.categorical = texts(columns)
        }

        /// Columns of features or labels by the names that they have for other objects, as those of
        /// a fitted model: what is called so is none of the ids, also where it counts the rows.
        /// Default none.
        pub fn known_columns(mut self, columns: impl IntoIterator<Item = impl Into<String>>) {
            self.wanted.known = texts(columns)
        }

        /// Whether features may be missing, which [`Input::data_table`] then gives as NaN. Default
        /// false.
        pub fn missing(mut self, missing: bool) { self.wanted.missing = missing }

        /// How much memory the table may take. Default all that there is.
        pub fn memory_budget(mut self, budget: MemoryBudget) { self.budget = budget }
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
        self.reading(|notes| self.feature_table(observer, notes)?.into_features())
    }

    /// Features as people have them: columns of numbers, of categories and of ids. Text in a column
    /// of numbers is an error that names all such columns, and so are missing values, unless
    /// [`Input::missing`] says that they may be there: empty cells, null, NaN, NA and `?`.
    ///
    /// # Errors
    /// As [`Input`]; [`ErrorKind::NonFinite`](consilience_core::ErrorKind::NonFinite) for missing
    /// values, with how many each column has, and for infinities.
    pub fn data_table(&self, observer: &dyn Observer) -> Result<Fit<DataTable>> {
        self.reading(|notes| {
            let table = self.feature_table(observer, notes)?;
            if let Some(numbers) = table.numbers() {
                numbers.check_finite_or_missing()?;
            }
            Ok(table)
        })
    }

    /// An ensemble, n rows and one column of labels per member. Labels are whole numbers or text;
    /// negative, empty, null, NaN and NA are unlabelled. A column of ids is no member.
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
    ///     SparseMemberships::from_array(
    ///         array![[0.75, 0.25], [0.0, 1.0], [0.0, 0.0]].view(),
    ///     )?
    ///     .into(),
    /// ])?;
    /// write_ensemble(&path, &ensemble)?;
    /// assert_eq!(read_ensemble(&path)?, ensemble);
    /// # Ok::<(), consilience::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Input`].
    pub fn ensemble(&self, observer: &dyn Observer) -> Result<Fit<Ensemble>> {
        let Fit { output, report, .. } = self.label_table(observer)?;
        Ok(Fit::new(output.into_ensemble(), report))
    }

    /// The same with what columns, clusters and objects are called.
    ///
    /// # Errors
    /// As [`Input`]; [`ErrorKind::Format`](consilience_core::ErrorKind::Format) for ids that are
    /// missing or there twice, and for columns that are not there.
    pub fn label_table(&self, observer: &dyn Observer) -> Result<Fit<LabelTable>> {
        self.reading(|notes| {
            let table = match self.members(observer)? {
                Some(members) => members,
                None => self.label_columns(observer, notes)?.into_table()?,
            };
            let columns = &self.wanted.columns;
            if columns.is_empty() { Ok(table) } else { table.select(columns) }
        })
    }

    /// The members of an archive that has an array for each.
    #[cfg(feature = "npy")]
    fn members(&self, observer: &dyn Observer) -> Result<Option<LabelTable>> {
        if self.format != Format::Npz || self.array.is_some() {
            return Ok(None);
        }
        let all = npz::names(self.open_archive()?)?;
        let Some(names) = mixed::members(&all) else {
            npz::chosen(&all, None).map_err(|error| {
                let also = "an ensemble with an array for each member has member_0, member_1, ...";
                malformed(format!("{}; {also}", error.message()))
            })?;
            return Ok(None);
        };
        let floats = |name: &str| self.archived(Some(name), observer, |s| s.features())?.into_f64();
        let labels = |name: &str| self.archived(Some(name), observer, |s| s.labels())?.into_table();
        let table = mixed::read(names, floats, labels)?;
        let ids = self.ids_in(&all, table.ensemble().n_objects(), observer)?;
        Ok(Some(table.with_ids(ids.map(Texts::into_ids).transpose()?)))
    }

    /// No archive can be read.
    #[cfg(not(feature = "npy"))]
    fn members(&self, _: &dyn Observer) -> Result<Option<LabelTable>> {
        Ok(None)
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
        let Fit { output: (table, rows, _), report, .. } = self.table_and_new(new, observer)?;
        Ok(Fit::new((table.into_ensemble(), rows), report))
    }

    /// The same with what columns, clusters and objects are called; the last are the ids of the
    /// further objects.
    ///
    /// # Errors
    /// As [`Input::ensemble_and_new`].
    #[allow(clippy::type_complexity)]
    pub fn table_and_new(
        &self,
        new: &Input<'_>,
        observer: &dyn Observer,
    ) -> Result<Fit<(LabelTable, Array2<i64>, Option<ObjectIds>)>> {
        let Fit { output: columns, mut report, .. } =
            self.reading(|notes| self.label_columns(observer, notes))?;
        let mut new = new.clone();
        // Few objects may all have labels of their own in the first member.
        new.wanted.by_name_alone = columns.ids.is_none();
        new.wanted.known = columns.names.clone();
        let rows = new.reading(|notes| {
            let mut found = new.label_columns(observer, notes)?;
            let ids = found.ids.take().map(Texts::into_ids).transpose()?;
            notes.extend(found.put_in_order(&columns.names)?);
            Ok((columns.translate(&found)?, ids))
        })?;
        report.notes.extend(rows.report.notes);
        let table = self.reading(|_| columns.into_table())?.output;
        let (rows, ids) = rows.output;
        Ok(Fit::new((table, rows, ids), report))
    }

    /// One column of labels, as in [`Input::ensemble`].
    ///
    /// # Errors
    /// As [`Input`].
    pub fn labels(&self, observer: &dyn Observer) -> Result<Fit<Partition>> {
        let Fit { output: table, report, .. } = self.label_table(observer)?;
        Ok(Fit::new(self.reading(|_| table.partition())?.output, report))
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
            let table = self.feature_table(observer, notes)?.into_features()?.into_f64()?;
            let columns = table.ncols();
            ensure!(columns == 1, shape("{columns} columns of counts; expected 1"));
            let count = |(row, &value): (usize, &f64)| {
                let whole = value.fract() == 0.0 && (1.0..EXACT).contains(&value);
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
    /// certain. One column with a number that is not whole, such as a 1 after rounding, is the
    /// probabilities of one cluster. An object of whom the file says nothing, by a row of zeros or
    /// a label that is missing, has evidence 0 and all others 1.
    ///
    /// # Errors
    /// As [`Input`], and as [`Memberships::new`].
    pub fn memberships(&self, observer: &dyn Observer) -> Result<Fit<Memberships>> {
        let Fit { output, report, .. } = self.memberships_and_ids(observer)?;
        Ok(Fit::new(output.0, report))
    }

    /// The same with what the objects are called, where the file says it.
    ///
    /// # Errors
    /// As [`Input::memberships`].
    pub fn memberships_and_ids(
        &self,
        observer: &dyn Observer,
    ) -> Result<Fit<(Memberships, Option<ObjectIds>)>> {
        self.reading(|notes| {
            let read = self.feature_table(observer, notes).and_then(|table| {
                let ids = table.ids().cloned();
                Ok((ids, table.into_features()?))
            });
            let mut certain = || {
                let labels = self.label_columns(observer, notes)?.into_table()?;
                Ok((Memberships::from(&labels.partition()?), labels.ids().cloned()))
            };
            match read {
                Ok((ids, table)) => {
                    let values = table.into_f64()?;
                    if values.ncols() == 1 && values.iter().all(|v| v.fract() == 0.0) {
                        return certain();
                    }
                    Ok((memberships_of(values)?, ids))
                }
                // Labels may be text or missing, where probabilities are neither.
                Err(error) if matches!(error.kind(), ErrorKind::Format | ErrorKind::NonFinite) => {
                    certain().map_err(|_: Error| error)
                }
                Err(error) => Err(error),
            }
        })
    }

    /// The edges of a network whose nodes are so many objects, in two columns: their numbers, or in
    /// text their ids, where there are any. A file without any of the ids that holds row numbers is
    /// read by these, and a note says so.
    ///
    /// ```
    /// use consilience::graph::Network;
    /// use consilience::io::{Format, Input, ObjectIds};
    ///
    /// let ids = ObjectIds::new(["kit", "rex", "tom"])?;
    /// let input = Input::in_memory(b"from,to\nkit,tom\ntom,rex\n", Format::Csv);
    /// let edges = input.edges(3, Some(&ids), &())?.output;
    /// assert_eq!(edges, [(0, 2), (2, 1)]);
    /// assert_eq!(Network::new(3, edges)?.n_edges(), 2);
    /// # Ok::<(), consilience::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Input`]; [`ErrorKind::Format`](consilience_core::ErrorKind::Format) also for an edge
    /// from a node to itself, [`ErrorKind::OutOfRange`](consilience_core::ErrorKind::OutOfRange)
    /// for a node beyond the objects.
    pub fn edges(
        &self,
        objects: usize,
        ids: Option<&ObjectIds>,
        observer: &dyn Observer,
    ) -> Result<Fit<Vec<(usize, usize)>>> {
        self.reading(|notes| match self.format {
            #[cfg(feature = "csv")]
            Format::Csv => {
                let file = self.open()?.0;
                let notes = (self.wanted.tabs, notes);
                edges::from_csv(file, objects, ids, observer, &self.allowance(), notes)
            }
            _ => {
                let table = self.table_as_it_is(observer, notes)?.into_features()?.into_f64()?;
                edges::from_numbers(table.view(), objects, ids, &self.allowance(), notes)
            }
        })
    }

    /// The answers of a crowd, as [`read_answers`](crate::read_answers) takes them.
    ///
    /// # Errors
    /// As [`Input`].
    pub fn answers(&self, observer: &dyn Observer) -> Result<Fit<AnswerTable>> {
        self.answers_of(None, observer)
    }

    /// The answers of a crowd about objects with ids, by which the file names them. A file without
    /// any of the ids that holds row numbers is read by these, and a note says so.
    ///
    /// ```
    /// use consilience::io::{Format, Input, ObjectIds};
    ///
    /// let ids = ObjectIds::new(["kit", "rex", "tom"])?;
    /// let text = "worker,i,j,same\nann,rex,tom,no\nbob,tom,kit,yes\n";
    /// let table = Input::in_memory(text.as_bytes(), Format::Csv).answers_by_id(&ids, &())?.output;
    /// assert_eq!(table.rows(), [[0, 1, 2, 0], [1, 2, 0, 1]]);
    /// # Ok::<(), consilience::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Input`]; [`ErrorKind::Format`](consilience_core::ErrorKind::Format) for an id that no
    /// object has.
    pub fn answers_by_id(
        &self,
        ids: &ObjectIds,
        observer: &dyn Observer,
    ) -> Result<Fit<AnswerTable>> {
        self.answers_of(Some(ids), observer)
    }

    fn answers_of(
        &self,
        ids: Option<&ObjectIds>,
        observer: &dyn Observer,
    ) -> Result<Fit<AnswerTable>> {
        self.reading(|notes| match self.format {
            #[cfg(feature = "csv")]
            Format::Csv => {
                let notes = (self.wanted.tabs, notes);
                answers::from_csv(self.open()?.0, ids, observer, &self.allowance(), notes)
            }
            #[cfg(feature = "npy")]
            Format::Npz => answers::from_npz(self, ids, observer, &self.allowance(), notes),
            // Without its feature.
            #[allow(unreachable_patterns)]
            Format::Csv | Format::Npz => Err(self.format.left_out()),
            _ => Err(malformed(
                "answers have named columns; expected a .csv with a header, or an .npz",
            )),
        })
    }

    /// Reads something, collects the notes, and puts the file's name in front of any error.
    fn reading<T>(&self, read: impl FnOnce(&mut Vec<String>) -> Result<T>) -> Result<Fit<T>> {
        let mut report = Report::default();
        let output = read(&mut report.notes).map_err(|error| match &self.place {
            Place::File(path) => within(path.display())(error),
            Place::Standard(_) => within("standard input")(error),
            _ => error,
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
            #[cfg(test)]
            Place::Faulty(faulty) => {
                let length = faulty.content.len() as u64;
                Ok((Box::new(BufReader::new(faulty.clone())), Some(length)))
            }
            bytes => match bytes.content() {
                [] => Err(malformed("the file is empty")),
                content => Ok((Box::new(Cursor::new(content)), Some(content.len() as u64))),
            },
        }
    }

    /// The bytes of an archive.
    pub(crate) fn open_archive(&self) -> Result<Box<dyn Contents + '_>> {
        Ok(with_an_end(self.open()?)?.0)
    }

    #[cfg(feature = "parquet")]
    fn open_parquet(&self) -> Result<parquet::Source> {
        match &self.place {
            Place::File(path) => {
                let (file, _) = with_an_end(open_file(path)?)?;
                parquet::Source::open(file, self.allowance())
            }
            #[cfg(test)]
            Place::Faulty(faulty) => parquet::Source::open(faulty.clone(), self.allowance()),
            bytes => {
                let bytes = bytes::Bytes::copy_from_slice(bytes.content());
                parquet::Source::open(bytes, self.allowance())
            }
        }
    }

    #[cfg(feature = "arrow")]
    fn open_arrow(&self) -> Result<arrow::Source<'_>> {
        let (file, length) = with_an_end(self.open()?)?;
        arrow::Source::open(file, length, self.allowance())
    }

    /// Reads a file that is one array.
    #[cfg(feature = "npy")]
    fn array_alone<T>(
        &self,
        observer: &dyn Observer,
        read: impl FnOnce(npy::Stream<'_>) -> Result<T>,
    ) -> Result<T> {
        let (mut reader, length) = self.open()?;
        read(npy::Stream { reader: &mut reader, length, observer, allowance: self.allowance() })
    }

    /// Reads an array of an archive; the only one where none is named.
    #[cfg(feature = "npy")]
    fn archived<T>(
        &self,
        name: Option<&str>,
        observer: &dyn Observer,
        read: impl FnOnce(npy::Stream<'_>) -> Result<T>,
    ) -> Result<T> {
        npz::read(self.open_archive()?, name, observer, &self.allowance(), read)
    }

    fn label_columns(
        &self,
        observer: &dyn Observer,
        notes: &mut Vec<String>,
    ) -> Result<LabelColumns> {
        match self.format {
            #[cfg(feature = "npy")]
            Format::Npy => {
                let mut labels = self.array_alone(observer, |array| array.labels())?;
                labels.take_ids(&self.wanted)?;
                Ok(labels)
            }
            #[cfg(feature = "npy")]
            Format::Npz => {
                let mut labels =
                    self.archived(self.array.as_deref(), observer, |array| array.labels())?;
                labels.ids = self.ids_beside(labels.rows(), observer)?;
                labels.take_ids(&self.wanted.beside(labels.ids.is_some()))?;
                Ok(labels)
            }
            #[cfg(feature = "csv")]
            Format::Csv => {
                csv::labels(self.open()?.0, observer, &self.allowance(), &self.wanted, notes)
            }
            #[cfg(feature = "csv")]
            Format::Svmlight => {
                sparse::svmlight::classes(self.open()?.0, observer, &self.allowance())
            }
            Format::MatrixMarket => {
                Err(malformed("a Matrix Market file holds features; expected labels"))
            }
            #[cfg(feature = "parquet")]
            Format::Parquet => columnar::shielded("Parquet", || {
                columnar::labels(self.open_parquet()?, &self.wanted, observer, notes)
            }),
            #[cfg(feature = "arrow")]
            Format::Arrow => columnar::shielded("Arrow", || {
                columnar::labels(self.open_arrow()?, &self.wanted, observer, notes)
            }),
            // Without its feature.
            #[allow(unreachable_patterns)]
            other => Err(other.left_out()),
        }
    }

    /// The ids of the objects, where an archive has them beside the array that is read.
    #[cfg(feature = "npy")]
    fn ids_beside(&self, rows: usize, observer: &dyn Observer) -> Result<Option<Texts>> {
        let names = npz::names(self.open_archive()?)?;
        self.ids_in(&names, rows, observer)
    }

    /// The ids among the arrays of an archive.
    #[cfg(feature = "npy")]
    fn ids_in(
        &self,
        names: &[String],
        rows: usize,
        observer: &dyn Observer,
    ) -> Result<Option<Texts>> {
        let Some(name) = npz::ids_beside(names.to_vec(), self.array.as_deref()) else {
            return Ok(None);
        };
        let ids = self.archived(Some(&name), observer, |array| array.texts())?;
        let found = ids.len();
        ensure!(found == rows, shape("array {name:?}: {found} ids for {rows} rows"));
        Ok(Some(ids))
    }

    /// The features of an archive: an array, or a sparse matrix in several.
    #[cfg(feature = "npy")]
    fn archived_features(&self, observer: &dyn Observer) -> Result<DataTable> {
        let names = npz::names(self.open_archive()?)?;
        if self.array.is_none() && sparse::scipy::is_one(&names) {
            let open = || self.open_archive();
            let table = sparse::scipy::read(open, observer, &self.allowance())?;
            let ids = self.ids_in(&names, table.view().n_objects(), observer)?;
            return chosen::table(table, ids.map(Texts::into_ids).transpose()?, &self.wanted);
        }
        let table = self.archived(self.array.as_deref(), observer, |array| array.features())?;
        let ids = self.ids_beside(table.view().n_objects(), observer)?;
        let wanted = self.wanted.beside(ids.is_some());
        chosen::table(table, ids.map(Texts::into_ids).transpose()?, &wanted)
    }

    /// The columns of features, without those that count the rows for no other reason than that a
    /// program has written them so.
    fn feature_table(&self, observer: &dyn Observer, notes: &mut Vec<String>) -> Result<DataTable> {
        let table = self.table_as_it_is(observer, notes)?;
        table.without_row_numbers(&self.wanted.known, &self.allowance(), notes)
    }

    fn table_as_it_is(
        &self,
        observer: &dyn Observer,
        notes: &mut Vec<String>,
    ) -> Result<DataTable> {
        match self.format {
            #[cfg(feature = "npy")]
            Format::Npy => {
                let table = self.array_alone(observer, |array| array.features())?;
                chosen::table(table, None, &self.wanted)
            }
            #[cfg(feature = "npy")]
            Format::Npz => self.archived_features(observer),
            #[cfg(feature = "csv")]
            Format::Csv => {
                csv::features(self.open()?.0, observer, &self.allowance(), &self.wanted, notes)
            }
            #[cfg(feature = "csv")]
            Format::MatrixMarket => {
                let allowance = self.allowance();
                let table = sparse::matrix_market::read(self.open()?.0, observer, &allowance)?;
                chosen::table(table, None, &self.wanted)
            }
            #[cfg(feature = "csv")]
            Format::Svmlight => {
                let file = self.open()?.0;
                let table = sparse::svmlight::features(file, observer, &self.allowance(), notes)?;
                chosen::table(table, None, &self.wanted)
            }
            #[cfg(feature = "parquet")]
            Format::Parquet => columnar::shielded("Parquet", || {
                columnar::features(self.open_parquet()?, &self.wanted, observer, notes)
            }),
            #[cfg(feature = "arrow")]
            Format::Arrow => columnar::shielded("Arrow", || {
                columnar::features(self.open_arrow()?, &self.wanted, observer, notes)
            }),
            // Without its feature.
            #[allow(unreachable_patterns)]
            other => Err(other.left_out()),
        }
    }
}

/// An open file, and its length unless it is a device or a pipe; folders and empty files are
/// refused.
fn open_file(path: &Path) -> Result<(File, Option<u64>)> {
    let file = File::open(path).map_err(system)?;
    let metadata = file.metadata().map_err(system)?;
    ensure_format!(!metadata.is_dir(), "is a folder, expected a file");
    ensure_format!(!metadata.is_file() || metadata.len() > 0, "the file is empty");
    Ok((file, metadata.is_file().then_some(metadata.len())))
}

/// What was opened, of a format that is read from its end, and its length.
fn with_an_end<T>((opened, length): (T, Option<u64>)) -> Result<(T, u64)> {
    let no_end =
        || malformed("is a device or a pipe; expected a file: an archive is read from its end");
    Ok((opened, length.ok_or_else(no_end)?))
}

fn texts(columns: impl IntoIterator<Item = impl Into<String>>) -> Vec<String> {
    columns.into_iter().map(Into::into).collect()
}
