//! Apache Parquet: flat columns of whole numbers or floats, read one after the other; null is
//! unlabelled.

use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use consilience_core::{Error, Observer, Result};
use ndarray::{Array2, ArrayView2};
use parquet::basic::{Compression, ConvertedType, LogicalType, Repetition, Type as Physical};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{ChunkReader, FileReader, SerializedFileReader};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::{ColumnDescriptor, Type};

use crate::allowance::Allowance;
use crate::data_table::DataTable;
use crate::defects::Defects;
use crate::fault::{excerpt, malformed, system};
use crate::features::FeatureTable;
use crate::ids::ObjectIds;
use crate::label::{Label, category, label};
use crate::labelled::{Labelled, column_names};
use crate::roles::{Role, Wanted, unique_text};
use crate::table::{Cell, LabelColumns, at};

/// Values read at a time.
const BATCH: usize = 1 << 16;
/// Rows written per row group.
const ROW_GROUP: usize = 1 << 20;

fn unreadable(error: ParquetError) -> Error {
    malformed(format!("not a readable Parquet file: {error}"))
}

/// The reader is written for sound files: some damage that it does not expect makes it panic.
pub(crate) fn shielded<T>(read: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(read)).unwrap_or_else(|_| Err(malformed("damaged Parquet file")))
}

/// A value of whatever type the column has.
#[derive(Clone, Copy)]
enum Value<'a> {
    Int(i64),
    Unsigned(u64),
    Float(f64),
    Text(&'a str),
    /// Bytes that are no text.
    Bytes,
}

const NO_TEXT: &str = "bytes that are no UTF-8; expected text";

impl<'a> Value<'a> {
    /// The value as a label, or as it is written.
    fn label(self, verbatim: bool) -> std::result::Result<Label<'a>, String> {
        match self {
            Value::Int(x) => x.label().map(Label::from),
            Value::Unsigned(x) => x.label().map(Label::from),
            Value::Float(x) => x.label().map(Label::from),
            Value::Text(text) if verbatim => Ok(Label::Text(text.trim())),
            Value::Text(text) => label(text.trim_ascii().as_bytes()),
            Value::Bytes => Err(NO_TEXT.to_owned()),
        }
    }

    fn category(self) -> std::result::Result<Label<'a>, String> {
        match self {
            Value::Text(text) => category(text.trim_ascii().as_bytes()),
            other => other.label(false),
        }
    }
}

struct Column {
    name: String,
    /// Position in the file.
    index: usize,
    physical: Physical,
    unsigned: bool,
    nullable: i16,
}

/// An open file.
pub(crate) struct Source {
    reader: Box<dyn FileReader>,
    columns: Vec<Column>,
    rows: usize,
    allowance: Allowance,
}

/// What pandas calls the index of a table that has no name.
const INDEX: &str = "__index_level_";

impl Source {
    /// Reads the end of the file, where its columns are described.
    pub(crate) fn open(file: impl ChunkReader + 'static, allowance: Allowance) -> Result<Self> {
        let reader = SerializedFileReader::new(file).map_err(unreadable)?;
        let metadata = reader.metadata().file_metadata();
        let rows = usize::try_from(metadata.num_rows()).unwrap_or(0);
        let mut columns = Vec::new();
        for (index, column) in metadata.schema_descr().columns().iter().enumerate() {
            // pandas stores a table's index as one more column.
            if !column.name().starts_with(INDEX) {
                columns.push(Column {
                    name: column.name().to_owned(),
                    index,
                    physical: column.physical_type(),
                    unsigned: is_unsigned(column)?,
                    nullable: column.max_def_level(),
                });
            }
        }
        if rows == 0 || columns.is_empty() {
            return Err(malformed(format!(
                "a table of {rows} rows and {} columns; expected at least one of each",
                columns.len()
            )));
        }
        Ok(Source { reader: Box::new(reader), columns, rows, allowance })
    }

    fn names(&self) -> Vec<String> {
        self.columns.iter().map(|column| column.name.clone()).collect()
    }

    /// Leaves out the columns that are not wanted; what the others are.
    fn choose(&mut self, mut roles: Vec<Role>, otherwise: Role) -> Vec<Role> {
        for (role, column) in roles.iter_mut().zip(&self.columns) {
            // Only text is taken for ids without being named so.
            if *role == Role::Maybe && column.physical != Physical::BYTE_ARRAY {
                *role = otherwise;
            }
        }
        let mut kept = roles.iter();
        self.columns.retain(|_| kept.next() != Some(&Role::Skip));
        roles.retain(|&role| role != Role::Skip);
        roles
    }

    /// Label columns.
    pub(crate) fn labels(
        mut self,
        wanted: &Wanted,
        observer: &dyn Observer,
        notes: &mut Vec<String>,
    ) -> Result<LabelColumns> {
        let roles = self.choose(wanted.roles(&self.names(), notes)?, Role::Skip);
        let id = roles.iter().position(|role| matches!(role, Role::Id | Role::Maybe));
        // One byte per label at least.
        self.allowance.expect(self.rows, self.columns.len(), 1)?;
        let mut labels = LabelColumns::new(self.names(), &self.allowance)?;
        self.read(observer, |row, column, value| {
            let found = value.map_or(Ok(Label::None), |value| value.label(Some(column) == id));
            labels.columns[column].push_label(found.map_err(|what| at(row, column, what))?)
        })?;
        if let Some(id) = id {
            let name = labels.names.remove(id);
            let column = labels.columns.remove(id);
            if roles[id] == Role::Id {
                labels.ids = Some(column.into_texts()?);
            } else if column.is_ids() {
                notes.push(unique_text(&name));
                labels.ids = Some(column.into_texts()?);
            }
        }
        labels.find_ids(&wanted.columns, notes)?;
        Ok(labels)
    }

    /// Features, single precision where every column of numbers is, and categories.
    pub(crate) fn features(
        mut self,
        wanted: &Wanted,
        observer: &dyn Observer,
        notes: &mut Vec<String>,
    ) -> Result<DataTable> {
        let roles = self.choose(wanted.feature_roles(&self.names(), notes)?, Role::Value);
        let numbers = self.columns.iter().zip(&roles).filter(|(_, role)| **role == Role::Value);
        if numbers.clone().all(|(column, _)| column.physical == Physical::FLOAT) {
            // Exact: these doubles came from floats.
            let make = |table| FeatureTable::F32(table);
            self.data(&roles, wanted.missing, observer, notes, |x| x as f32, make)
        } else {
            self.data(&roles, wanted.missing, observer, notes, |x| x, FeatureTable::F64)
        }
    }

    fn data<F: Clone>(
        &self,
        roles: &[Role],
        may_miss: bool,
        observer: &dyn Observer,
        notes: &mut Vec<String>,
        convert: impl Fn(f64) -> F,
        make: impl Fn(Array2<F>) -> FeatureTable,
    ) -> Result<DataTable> {
        let of = |role: Role| (0..roles.len()).filter(move |&c| roles[c] == role);
        let name = |c: usize| self.columns[c].name.clone();
        let width = of(Role::Value).count();
        // Where each column goes among those of its kind.
        let places: Vec<usize> =
            (0..roles.len()).map(|c| (0..c).filter(|&b| roles[b] == roles[c]).count()).collect();
        let mut values: Vec<F> = self.allowance.room(self.rows.saturating_mul(width))?;
        values.resize(self.rows * width, convert(f64::NAN));
        let mut labels =
            LabelColumns::new(of(Role::Category).map(name).collect(), &self.allowance)?;
        let mut ids = LabelColumns::new(vec![String::new()], &self.allowance)?;
        let mut defects = Defects::new(roles.len());
        self.read(observer, |row, column, value| match roles[column] {
            Role::Value => {
                let place = || format!("row {row}");
                let number = match value {
                    Some(Value::Int(x)) => x as f64,
                    Some(Value::Unsigned(x)) => x as f64,
                    Some(Value::Float(x)) => x,
                    Some(Value::Text(text)) => {
                        defects.text(column, text, place);
                        return Ok(());
                    }
                    Some(Value::Bytes) => return Err(at(row, column, NO_TEXT)),
                    None => f64::NAN,
                };
                if number.is_nan() {
                    defects.missing(column, place);
                }
                values[row * width + places[column]] = convert(number);
                Ok(())
            }
            Role::Category => {
                let label = value.map_or(Ok(Label::None), Value::category);
                let label = label.map_err(|what| at(row, column, what))?;
                labels.columns[places[column]].push_label(label)
            }
            _ => {
                let label = value.map_or(Ok(Label::None), |value| value.label(true));
                ids.columns[0].push_label(label.map_err(|what| at(row, column, what))?)
            }
        })?;
        let id = roles.iter().position(|role| matches!(role, Role::Id | Role::Maybe));
        let found = ids.columns.pop().filter(|_| id.is_some());
        if let (Some(at), Some(column)) = (id.filter(|&at| roles[at] == Role::Maybe), &found) {
            if column.is_ids() {
                notes.push(unique_text(&self.columns[at].name));
            } else {
                defects.text(at, "text", || "row 0".to_owned());
                defects.text(at, "text", || "row 0".to_owned());
            }
        }
        defects.check(may_miss, |c| format!("column {:?}", excerpt(&self.columns[c].name)))?;
        let table = Array2::from_shape_vec((self.rows, width), values);
        let table = table.map_err(|e| malformed(e.to_string()))?;
        let categories = (!labels.names.is_empty()).then(|| labels.into_table()).transpose()?;
        Ok(DataTable {
            rows: self.rows,
            numbers: (width > 0).then(|| make(table)),
            names: of(Role::Value).map(name).collect(),
            categories,
            ids: found.map(|column| column.into_texts()?.into_ids()).transpose()?,
        })
    }

    /// Hands out every value with its row and column: within a row group, column by column.
    fn read(
        &self,
        observer: &dyn Observer,
        mut each: impl FnMut(usize, usize, Option<Value<'_>>) -> Result<()>,
    ) -> Result<()> {
        let mut first = 0;
        for group in 0..self.reader.num_row_groups() {
            let group = self.reader.get_row_group(group).map_err(unreadable)?;
            let rows =
                usize::try_from(group.metadata().num_rows()).unwrap_or(0).min(self.rows - first);
            for (c, column) in self.columns.iter().enumerate() {
                observer.check()?;
                let values = group.get_column_reader(column.index).map_err(unreadable)?;
                let found = column
                    .read(values, rows, &mut |row, value| each(first + row, c, value))?
                    .ok_or_else(|| malformed(format!("column {c} holds no numbers")))?;
                if found != rows {
                    return Err(malformed(format!(
                        "truncated: column {c} has {found} of {rows} rows"
                    )));
                }
            }
            first += rows;
            observer.progress("reading", first, self.rows);
        }
        if first != self.rows {
            return Err(malformed(format!("truncated: {first} of {} rows", self.rows)));
        }
        Ok(())
    }
}

impl Column {
    /// Hands out the values of one row group and says how many rows it had; `None` where they are
    /// no numbers.
    fn read(
        &self,
        values: ColumnReader,
        rows: usize,
        sink: &mut dyn FnMut(usize, Option<Value<'_>>) -> Result<()>,
    ) -> Result<Option<usize>> {
        use ColumnReader as R;
        let found = match values {
            R::BoolColumnReader(r) => pump(r, self, rows, |&x| Value::Int(i64::from(x)), sink)?,
            R::Int32ColumnReader(r) if self.unsigned => {
                pump(r, self, rows, |&x| Value::Unsigned(u64::from(x as u32)), sink)?
            }
            R::Int32ColumnReader(r) => pump(r, self, rows, |&x| Value::Int(i64::from(x)), sink)?,
            R::Int64ColumnReader(r) if self.unsigned => {
                pump(r, self, rows, |&x| Value::Unsigned(x as u64), sink)?
            }
            R::Int64ColumnReader(r) => pump(r, self, rows, |&x| Value::Int(x), sink)?,
            R::FloatColumnReader(r) => pump(r, self, rows, |&x| Value::Float(f64::from(x)), sink)?,
            R::DoubleColumnReader(r) => pump(r, self, rows, |&x| Value::Float(x), sink)?,
            R::ByteArrayColumnReader(r) => pump(r, self, rows, text, sink)?,
            _ => return Ok(None),
        };
        Ok(Some(found))
    }
}

fn text(bytes: &ByteArray) -> Value<'_> {
    std::str::from_utf8(bytes.data()).map_or(Value::Bytes, Value::Text)
}

/// Refuses columns of anything but plain numbers and text.
fn is_unsigned(column: &ColumnDescriptor) -> Result<bool> {
    let refuse = |what: &str| {
        Err(malformed(format!(
            "column {:?} holds {what}; expected whole numbers, floats or text",
            excerpt(column.name())
        )))
    };
    if column.max_rep_level() > 0 {
        return refuse("lists");
    }
    if matches!(column.physical_type(), Physical::FIXED_LEN_BYTE_ARRAY | Physical::INT96) {
        return refuse(&format!("{} values", column.physical_type()));
    }
    match column.logical_type_ref() {
        None => {}
        Some(LogicalType::Integer(integer)) => return Ok(!integer.is_signed),
        Some(LogicalType::String | LogicalType::Enum) => return Ok(false),
        Some(other) => return refuse(&format!("{other:?} values")),
    }
    use ConvertedType as C;
    match column.converted_type() {
        C::NONE | C::INT_8 | C::INT_16 | C::INT_32 | C::INT_64 | C::UTF8 | C::ENUM => Ok(false),
        C::UINT_8 | C::UINT_16 | C::UINT_32 | C::UINT_64 => Ok(true),
        other => refuse(&format!("{other} values")),
    }
}

/// Reads one column of a row group in batches and says how many rows it had.
fn pump<T: DataType>(
    mut reader: ColumnReaderImpl<T>,
    column: &Column,
    rows: usize,
    value: impl Fn(&T::T) -> Value<'_>,
    sink: &mut dyn FnMut(usize, Option<Value<'_>>) -> Result<()>,
) -> Result<usize> {
    let mut values = Vec::new();
    let mut levels = Vec::new();
    let mut row = 0;
    while row < rows {
        values.clear();
        levels.clear();
        let (records, _, _) = reader
            .read_records(BATCH.min(rows - row), Some(&mut levels), None, &mut values)
            .map_err(unreadable)?;
        if records == 0 {
            break;
        }
        let mut present = values.iter();
        for i in 0..records {
            let defined = column.nullable == 0 || levels.get(i) == Some(&column.nullable);
            let number = if defined { present.next().map(&value) } else { None };
            sink(row + i, number)?;
        }
        row += records;
    }
    Ok(row)
}

/// Writes labels, one column of integers per member, -1 for unlabelled; names as text, null for
/// unlabelled. Ids come first.
pub(crate) fn write_labels(
    out: impl Write + Send,
    labels: &Labelled<'_>,
    ids: Option<&ObjectIds>,
    observer: &dyn Observer,
) -> Result<()> {
    let named = matches!(labels, Labelled::Named(..));
    let kind = match labels.width() > 4 {
        _ if named => Kind::Text,
        true => Kind::Int64,
        false => Kind::Int32,
    };
    let columns = labels.column_names().into_iter().map(|name| (name, kind)).collect();
    write(out, columns, ids, labels.rows(), observer, |writer, column, rows| match kind {
        Kind::Int64 => {
            let values: Vec<i64> = rows.map(|i| labels.signed(i, column)).collect();
            writer.typed::<Int64Type>().write_batch(&values, None, None)
        }
        Kind::Text => write_texts(writer, rows.map(|i| labels.name(i).unwrap_or_default()), true),
        _ => {
            let values: Vec<i32> = rows.map(|i| labels.signed(i, column) as i32).collect();
            writer.typed::<Int32Type>().write_batch(&values, None, None)
        }
    })
}

/// Writes a table of float64. Ids come first.
pub(crate) fn write_floats(
    out: impl Write + Send,
    table: ArrayView2<'_, f64>,
    ids: Option<&ObjectIds>,
    observer: &dyn Observer,
) -> Result<()> {
    let names = column_names("c", table.ncols());
    let columns = names.into_iter().map(|name| (name, Kind::Double)).collect();
    write(out, columns, ids, table.nrows(), observer, |writer, column, rows| {
        let values: Vec<f64> = rows.map(|i| table[[i, column]]).collect();
        writer.typed::<DoubleType>().write_batch(&values, None, None)
    })
}

/// What a written column holds.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Int32,
    Int64,
    Double,
    /// Text, or null.
    Text,
    /// Text in every row.
    Id,
}

impl Kind {
    fn field(self, name: &str) -> std::result::Result<Type, ParquetError> {
        let physical = match self {
            Kind::Int32 => Physical::INT32,
            Kind::Int64 => Physical::INT64,
            Kind::Double => Physical::DOUBLE,
            Kind::Text | Kind::Id => Physical::BYTE_ARRAY,
        };
        let text = physical == Physical::BYTE_ARRAY;
        let optional = self == Kind::Text;
        Type::primitive_type_builder(name, physical)
            .with_repetition(if optional { Repetition::OPTIONAL } else { Repetition::REQUIRED })
            .with_logical_type(text.then_some(LogicalType::String))
            .build()
    }
}

type Writer<'a> = parquet::file::writer::SerializedColumnWriter<'a>;

/// Writes text; where it may be missing, empty text is.
fn write_texts<'a>(
    writer: &mut Writer<'_>,
    texts: impl Iterator<Item = &'a str>,
    optional: bool,
) -> std::result::Result<usize, ParquetError> {
    let (mut values, mut levels) = (Vec::new(), Vec::new());
    for text in texts {
        let there = !optional || !text.is_empty();
        levels.push(i16::from(there));
        if there {
            values.push(ByteArray::from(text));
        }
    }
    let levels = optional.then_some(&levels[..]);
    writer.typed::<ByteArrayType>().write_batch(&values, levels, None)
}

fn write(
    out: impl Write + Send,
    mut columns: Vec<(String, Kind)>,
    ids: Option<&ObjectIds>,
    n: usize,
    observer: &dyn Observer,
    mut column: impl FnMut(
        &mut Writer<'_>,
        usize,
        std::ops::Range<usize>,
    ) -> std::result::Result<usize, ParquetError>,
) -> Result<()> {
    let wrong = |error: ParquetError| malformed(error.to_string());
    if ids.is_some() {
        columns.insert(0, ("id".to_owned(), Kind::Id));
    }
    let fields = columns.iter().map(|(name, kind)| kind.field(name).map(Arc::new));
    let fields = fields.collect::<std::result::Result<_, _>>().map_err(wrong)?;
    let schema =
        Type::group_type_builder("consilience").with_fields(fields).build().map_err(wrong)?;
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_created_by("consilience".to_owned())
        .build();
    let mut file =
        SerializedFileWriter::new(out, Arc::new(schema), Arc::new(properties)).map_err(wrong)?;
    for first in (0..n).step_by(ROW_GROUP) {
        let rows = first..n.min(first + ROW_GROUP);
        let mut group = file.next_row_group().map_err(wrong)?;
        let mut index = 0;
        while let Some(mut writer) = group.next_column().map_err(wrong)? {
            observer.check()?;
            let written = match (ids, index) {
                (Some(ids), 0) => {
                    write_texts(&mut writer, rows.clone().map(|row| ids.get(row)), false)
                }
                (Some(_), _) => column(&mut writer, index - 1, rows.clone()),
                (None, _) => column(&mut writer, index, rows.clone()),
            };
            written.map_err(wrong)?;
            writer.close().map_err(wrong)?;
            index += 1;
        }
        group.close().map_err(wrong)?;
        observer.progress("writing", rows.end, n);
    }
    let mut out = file.into_inner().map_err(wrong)?;
    out.flush().map_err(system)?;
    Ok(())
}
