use std::fs::{self, File};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use consilience::{Error, ErrorKind, Observer, Result};
use datafusion::arrow::array::ArrayRef;
use datafusion::arrow::datatypes::{DataType, FieldRef, SchemaRef};
use datafusion::parquet::arrow::ProjectionMask;
use datafusion::parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder, RowSelection,
};
use datafusion::parquet::file::metadata::PageIndexPolicy;
use rayon::prelude::*;

use crate::fault::{arrow, parquet, shielded, system, within};
use crate::location::{self, Location};
use crate::store;
use crate::store::reader::{ObjectReader, Source};

/// Rows of a piece at most: what one thread reads at a time.
const PIECE: u64 = 1 << 20;
/// Rows of a batch.
const BATCH: usize = 1 << 14;
/// Columns of an object are fetched whole where at least this part of their rows is wanted.
const MOST_OF: u64 = 4;

/// One Parquet file of a [`Table`].
#[derive(Clone, Debug)]
pub(crate) struct DataFile {
    pub(crate) place: Location,
    pub(crate) bytes: u64,
    /// What an object store calls this state of it.
    pub(crate) version: Option<String>,
    /// Rows of the files before it.
    pub(crate) first: u64,
    pub(crate) rows: u64,
    metadata: ArrowReaderMetadata,
}

/// Rows that are read in one go: all in one row group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    pub(crate) file: usize,
    group: usize,
    offset: u64,
    pub(crate) rows: u64,
    /// The number of the first row in the whole table.
    pub(crate) first: u64,
}

/// Parquet files with the same columns, read as one table; nothing but their footers is in memory.
///
/// Rows are numbered through all files in the order of their names. Columns are chosen by
/// [`Table::columns`] and [`Table::without`]; those that pandas adds for its index are left out.
///
/// ```no_run
/// use consilience_datafusion::Table;
///
/// // A file, a folder, or a pattern.
/// let table = Table::open("pool/part-*.parquet")?.without("customer")?;
/// println!("{} rows, {} columns", table.n_rows(), table.names().len());
/// # Ok::<(), consilience::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Table {
    files: Arc<[DataFile]>,
    /// The columns in use, by their positions in every file.
    columns: Vec<usize>,
    /// The column that says what each row is about.
    ids: Option<usize>,
    rows: u64,
}

impl Table {
    /// Opens a file, all files of a folder that end in `.parquet`, or those that match a pattern
    /// in which `*` stands for any text and `?` for one character of the last part of the path.
    /// What begins with `s3://` lies in an object store, see [`Bucket`](crate::Bucket).
    ///
    /// # Errors
    /// [`ErrorKind::Io`] for what cannot be opened, [`ErrorKind::Empty`] without files, rows or
    /// columns, [`ErrorKind::Format`] naming the file that is no Parquet file or that differs from
    /// the first one in the names or types of its columns.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let opened: Vec<Result<DataFile>> = location::files(path)?
            .into_par_iter()
            .map(|place| DataFile::open(place.clone(), 0).map_err(within(place)))
            .collect();
        let mut files: Vec<DataFile> = Vec::with_capacity(opened.len());
        let mut rows = 0;
        for file in opened {
            let file = DataFile { first: rows, ..file? };
            if let Some(first) = files.first() {
                file.check_like(first).map_err(within(&file.place))?;
            }
            rows += file.rows;
            files.push(file);
        }
        let Some(first) = files.first() else {
            return Err(Error::empty(format!("{}: no Parquet files", path.display())));
        };
        let columns: Vec<usize> = (0..first.schema().fields().len())
            .filter(|&c| !first.schema().field(c).name().starts_with("__index_level_"))
            .collect();
        if rows == 0 || columns.is_empty() {
            let what = format!("a table of {rows} rows and {} columns", columns.len());
            return Err(Error::empty(format!("{}: {what}", path.display())));
        }
        Ok(Table { files: files.into(), columns, ids: None, rows })
    }

    /// Files that were looked at before, with these columns of theirs.
    pub(crate) fn of_files(
        files: Vec<DataFile>,
        columns: Vec<usize>,
        ids: Option<usize>,
    ) -> Result<Self> {
        let width = files.first().map_or(0, |file| file.schema().fields().len());
        if columns.is_empty() || columns.iter().chain(&ids).any(|&c| c >= width) {
            return Err(Error::new(ErrorKind::Io, "other columns than before"));
        }
        let rows = files.iter().map(|file| file.rows).sum();
        Ok(Table { files: files.into(), columns, ids, rows })
    }

    /// Only these columns, counted from 0, in this order. Default all.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfRange`] for a column that does not exist.
    pub fn columns(mut self, chosen: &[usize]) -> Result<Self> {
        let of = self.columns.len();
        self.columns = chosen
            .iter()
            .map(|&c| {
                let missing = || Error::out_of_range(format!("column {c} of {of}"));
                self.columns.get(c).copied().ok_or_else(missing)
            })
            .collect::<Result<_>>()?;
        Ok(self)
    }

    /// Without the column of that name.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfRange`] for a column that does not exist, [`ErrorKind::Empty`] where no
    /// column is left.
    pub fn without(mut self, name: &str) -> Result<Self> {
        let column = self.find(name)?;
        self.columns.retain(|&c| c != column);
        if self.columns.is_empty() {
            return Err(Error::empty(format!("a table without its only column {name:?}")));
        }
        Ok(self)
    }

    /// Takes the column of that name as what tells rows apart: it is no label and no feature, and
    /// is written beside all that is written about the rows. Default none.
    ///
    /// # Errors
    /// As [`Table::without`].
    pub fn ids(mut self, name: &str) -> Result<Self> {
        self.ids = Some(self.find(name)?);
        self.without(name)
    }

    /// Only the column of that name.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfRange`] for a column that does not exist.
    pub fn only(mut self, name: &str) -> Result<Self> {
        self.columns = vec![self.find(name)?];
        Ok(self)
    }

    /// Whether a path names one of the files, under whatever name.
    pub fn holds(&self, path: impl AsRef<Path>) -> bool {
        let place = Location::parse(path.as_ref());
        place.is_ok_and(|place| self.files.iter().any(|file| file.place.is(&place)))
    }

    fn find(&self, name: &str) -> Result<usize> {
        let all = self.files[0].schema().fields();
        let names = || all.iter().map(|f| f.name().as_str()).collect::<Vec<_>>().join(", ");
        all.iter().position(|f| f.name() == name).ok_or_else(|| {
            Error::out_of_range(format!("column {name:?}; expected one of {}", names()))
        })
    }

    /// Number of rows in all files, as their footers tell.
    pub fn n_rows(&self) -> u64 {
        self.rows
    }

    /// Number of files.
    pub fn n_files(&self) -> usize {
        self.files.len()
    }

    /// Names of the chosen columns.
    pub fn names(&self) -> Vec<&str> {
        self.fields().map(|field| field.name().as_str()).collect()
    }

    /// The chosen columns.
    pub(crate) fn fields(&self) -> impl Iterator<Item = &FieldRef> {
        self.columns.iter().map(|&c| &self.files[0].schema().fields()[c])
    }

    /// The position of the column of ids.
    pub(crate) fn id_position(&self) -> Option<usize> {
        self.ids
    }

    /// Positions of the chosen columns in every file.
    pub(crate) fn positions(&self) -> &[usize] {
        &self.columns
    }

    pub(crate) fn files(&self) -> &[DataFile] {
        &self.files
    }

    /// All columns of the files.
    pub(crate) fn schema(&self) -> &SchemaRef {
        self.files[0].schema()
    }

    /// All rows of some files, in pieces that are read on their own.
    pub(crate) fn pieces(&self, files: Range<usize>) -> Vec<Piece> {
        self.pieces_of(files, PIECE)
    }

    /// The same, of so many rows at most.
    pub(crate) fn pieces_of(&self, files: Range<usize>, most: u64) -> Vec<Piece> {
        let most = most.clamp(1, PIECE);
        let mut pieces = Vec::new();
        for file in files {
            let mut first = self.files[file].first;
            for (group, all) in self.files[file].groups().enumerate() {
                for offset in (0..all).step_by(most as usize) {
                    let rows = most.min(all - offset);
                    pieces.push(Piece { file, group, offset, rows, first });
                    first += rows;
                }
            }
        }
        pieces
    }

    /// Hands out batches of a piece: the columns at these positions of the file, in that order.
    pub(crate) fn read(
        &self,
        piece: &Piece,
        positions: &[usize],
        mut each: impl FnMut(&[ArrayRef]) -> Result<()>,
    ) -> Result<()> {
        let file = &self.files[piece.file];
        let read = || {
            let reader = file
                .reader(piece.group, positions, piece.rows)?
                .with_offset(piece.offset as usize)
                .with_limit(piece.rows as usize)
                .build()
                .map_err(parquet)?;
            let slots = slots(positions);
            let mut rows = 0;
            for batch in reader {
                let batch = batch.map_err(arrow)?;
                rows += batch.num_rows() as u64;
                let columns: Vec<ArrayRef> =
                    slots.iter().map(|&slot| batch.column(slot).clone()).collect();
                each(&columns)?;
            }
            if rows != piece.rows {
                return Err(Error::new(
                    ErrorKind::Format,
                    format!("{rows} rows where its footer tells of {}", piece.rows),
                ));
            }
            Ok(())
        };
        shielded(read).map_err(within(&file.place))
    }

    /// Hands out batches of rows by their numbers in the whole table: the chosen columns.
    pub(crate) fn read_rows(
        &self,
        rows: Range<u64>,
        mut each: impl FnMut(&[ArrayRef]) -> Result<()>,
    ) -> Result<()> {
        let first = self.files.partition_point(|file| file.first + file.rows <= rows.start);
        let last = self.files.partition_point(|file| file.first < rows.end);
        for piece in self.pieces(first..last) {
            let (start, end) =
                (piece.first.max(rows.start), rows.end.min(piece.first + piece.rows));
            if start < end {
                let skipped = start - piece.first;
                let part = Piece {
                    offset: piece.offset + skipped,
                    rows: end - start,
                    first: start,
                    ..piece
                };
                self.read(&part, &self.columns, &mut each)?;
            }
        }
        Ok(())
    }

    /// Hands out the chosen columns of some rows, which are given in ascending order by their
    /// numbers in the whole table. Row groups without any of them are not looked at, and of the
    /// others nothing else is handed out.
    pub(crate) fn read_some(
        &self,
        wanted: &[u64],
        mut each: impl FnMut(&[ArrayRef], &[u64]) -> Result<()>,
    ) -> Result<()> {
        let mut rest = wanted;
        for file in self.files.iter() {
            let mut first = file.first;
            for (group, rows) in file.groups().enumerate() {
                let (here, later) = rest.split_at(rest.partition_point(|&i| i < first + rows));
                rest = later;
                if !here.is_empty() {
                    shielded(|| {
                        self.read_of_group(file, group, here, first..first + rows, &mut each)
                    })
                    .map_err(within(&file.place))?;
                }
                first += rows;
            }
        }
        Ok(())
    }

    /// The same for rows of one row group, which holds those rows of the table.
    fn read_of_group(
        &self,
        file: &DataFile,
        group: usize,
        mut wanted: &[u64],
        held: Range<u64>,
        each: &mut impl FnMut(&[ArrayRef], &[u64]) -> Result<()>,
    ) -> Result<()> {
        let places = wanted.iter().map(|&i| (i - held.start) as usize);
        let total = (held.end - held.start) as usize;
        let chosen = RowSelection::from_consecutive_ranges(places.map(|i| i..i + 1), total);
        let rows = wanted.len() as u64;
        let reader = file.reader(group, &self.columns, rows)?.with_row_selection(chosen);
        let slots = slots(&self.columns);
        for batch in reader.build().map_err(parquet)? {
            let batch = batch.map_err(arrow)?;
            let (now, later) = wanted.split_at(batch.num_rows().min(wanted.len()));
            let columns: Vec<ArrayRef> =
                slots.iter().map(|&slot| batch.column(slot).clone()).collect();
            each(&columns, now)?;
            wanted = later;
        }
        if let Some(row) = wanted.first() {
            let what = format!("row {} of a row group of {total} is missing", row - held.start);
            return Err(Error::new(ErrorKind::Format, what));
        }
        Ok(())
    }

    /// Refuses objects that were replaced since they were opened: queries ask for no version.
    pub(crate) fn check_versions(&self) -> Result<()> {
        let versions = self.files.iter().filter_map(|file| match &file.place {
            Location::Object(object) => Some((object.clone(), file.version.clone()?)),
            Location::Path(_) => None,
        });
        let versions: Vec<_> = versions.collect();
        if versions.is_empty() { Ok(()) } else { store::check_versions(versions) }
    }

    /// The error of the first file that cannot be read to its end, if there is one: for queries
    /// that say what is wrong and not where.
    pub(crate) fn fault(&self, observer: &dyn Observer) -> Option<Error> {
        let all: Vec<usize> = (0..self.schema().fields().len()).collect();
        // From page to page, as queries read.
        let again = |file: &DataFile| {
            let opened = DataFile::open_with(file.place.clone(), file.first, PageIndexPolicy::Skip);
            opened.map_err(within(&file.place))
        };
        let again = match self.files.iter().map(again).collect() {
            Ok(files) => Table { files, ..self.clone() },
            Err(error) => return Some(error),
        };
        for piece in again.pieces(0..again.files.len()) {
            if observer.cancelled() {
                return None;
            }
            if let Err(error) = again.read(&piece, &all, |_| Ok(())) {
                return Some(error);
            }
        }
        None
    }
}

impl DataFile {
    /// A file, and in an object store where its pages lie: to find one without those before it.
    pub(crate) fn open(place: Location, first: u64) -> Result<Self> {
        let policy = match &place {
            Location::Path(_) => PageIndexPolicy::Skip,
            Location::Object(_) => PageIndexPolicy::Optional,
        };
        Self::open_with(place, first, policy)
    }

    fn open_with(place: Location, first: u64, policy: PageIndexPolicy) -> Result<Self> {
        let (source, bytes, version) = match &place {
            Location::Path(path) => {
                let file = File::open(path).map_err(system)?;
                let bytes = file.metadata().map_err(system)?.len();
                (Source::File(file), bytes, None)
            }
            Location::Object(object) => {
                let object = ObjectReader::open(object)?;
                let (bytes, version) = (object.bytes(), object.version());
                (Source::Object(object), bytes, version)
            }
        };
        let options = ArrowReaderOptions::new().with_page_index_policy(policy);
        let metadata = shielded(|| ArrowReaderMetadata::load(&source, options).map_err(parquet))?;
        let groups = metadata.metadata().row_groups().iter();
        let rows = groups.map(|group| u64::try_from(group.num_rows()).unwrap_or(0)).sum();
        let told = u64::try_from(metadata.metadata().file_metadata().num_rows()).unwrap_or(0);
        if rows != told {
            return Err(Error::new(
                ErrorKind::Format,
                format!("its row groups hold {rows} rows, its footer tells of {told}"),
            ));
        }
        Ok(DataFile { place, bytes, version, first, rows, metadata })
    }

    pub(crate) fn schema(&self) -> &SchemaRef {
        self.metadata.schema()
    }

    /// Rows of each row group.
    fn groups(&self) -> impl Iterator<Item = u64> + '_ {
        let groups = self.metadata.metadata().row_groups().iter();
        groups.map(|group| u64::try_from(group.num_rows()).unwrap_or(0))
    }

    /// A reader of the columns at these positions in one row group, in the order of the file, for
    /// so many of its rows.
    fn reader(
        &self,
        group: usize,
        positions: &[usize],
        rows: u64,
    ) -> Result<ParquetRecordBatchReaderBuilder<Source>> {
        let metadata = self.metadata.clone();
        let descriptor = metadata.metadata().file_metadata().schema_descr();
        let mask = ProjectionMask::roots(descriptor, positions.iter().copied());
        let source = match &self.place {
            Location::Path(path) => {
                let file = File::open(path).map_err(system)?;
                self.check_unchanged(&file)?;
                Source::File(file)
            }
            Location::Object(object) => {
                let reader = ObjectReader::of(object.clone(), self.bytes, self.version.clone());
                let group = metadata.metadata().row_group(group);
                let all = group.columns().iter().enumerate();
                let columns =
                    all.filter(|(leaf, _)| mask.leaf_included(*leaf)).map(|(_, column)| {
                        let (start, bytes) = column.byte_range();
                        start..start.saturating_add(bytes)
                    });
                let most = MOST_OF * rows >= u64::try_from(group.num_rows()).unwrap_or(0);
                reader.prepare(columns.collect(), most)?;
                Source::Object(reader)
            }
        };
        let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(source, metadata.clone());
        Ok(builder.with_row_groups(vec![group]).with_projection(mask).with_batch_size(BATCH))
    }

    /// Refuses other names or types of columns than those of the first file.
    fn check_like(&self, first: &DataFile) -> Result<()> {
        let (ours, theirs) = (self.schema().fields(), first.schema().fields());
        let other = &first.place;
        let differs = |what: String| Err(Error::new(ErrorKind::Format, what));
        if ours.len() != theirs.len() {
            let (ours, theirs) = (ours.len(), theirs.len());
            return differs(format!("{ours} columns; expected {theirs} as in {other}"));
        }
        for (c, (our, their)) in ours.iter().zip(theirs).enumerate() {
            if our.name() != their.name() {
                let (our, their) = (our.name(), their.name());
                return differs(format!("column {c} is {our:?}; expected {their:?} as in {other}"));
            }
            if our.data_type() != their.data_type() {
                return differs(format!(
                    "column {c} ({}) holds {}; expected {} as in {other}",
                    our.name(),
                    our.data_type(),
                    their.data_type()
                ));
            }
        }
        Ok(())
    }

    /// Refuses a file that is not the one whose footer was read.
    fn check_unchanged(&self, file: &File) -> Result<()> {
        let bytes = file.metadata().map_err(system)?.len();
        if bytes != self.bytes {
            return Err(Error::new(
                ErrorKind::Io,
                format!("changed while it was read: {bytes} bytes, {} before", self.bytes),
            ));
        }
        Ok(())
    }
}

/// Whether a column can hold labels: whole numbers, floats, booleans or text.
pub(crate) fn holds_labels(kind: &DataType) -> bool {
    kind.is_integer()
        || is_text(kind)
        || matches!(kind, DataType::Boolean | DataType::Float32 | DataType::Float64)
}

/// Whether a column holds text, possibly by number of an entry in a dictionary.
pub(crate) fn is_text(kind: &DataType) -> bool {
    match kind {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => true,
        DataType::Dictionary(_, values) => is_text(values),
        _ => false,
    }
}

/// Where each position stands among those that are read: columns come in the order of the file.
pub(crate) fn slots(positions: &[usize]) -> Vec<usize> {
    let mut sorted = positions.to_vec();
    sorted.sort_unstable();
    sorted.dedup();
    positions.iter().map(|p| sorted.iter().position(|s| s == p).unwrap_or(0)).collect()
}

/// Rows in the footer of a file.
pub(crate) fn rows_of(path: &Path) -> Result<u64> {
    Ok(DataFile::open(Location::Path(path.to_path_buf()), 0)?.rows)
}

/// Whether something is there.
pub(crate) fn exists(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok()
}
