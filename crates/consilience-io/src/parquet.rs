//! Apache Parquet: flat columns of whole numbers or floats, read one after the other; null is
//! unlabelled.

use std::io::Write;
use std::sync::Arc;

use consilience_core::{Error, Observer, Result, room};
use ndarray::ArrayView2;
use parquet::basic::{Compression, ConvertedType, LogicalType, Repetition, Type as Physical};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{ChunkReader, FileReader, SerializedFileReader};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::{ColumnDescriptor, Type};

use crate::allowance::Allowance;
use crate::columnar::{self, Column, Columnar, Head, Value, refused};
use crate::fault::{ensure_format, malformed, system};
use crate::ids::ObjectIds;
use crate::labelled::{Labelled, column_names};

/// Values read at a time.
const BATCH: usize = 1 << 16;
/// Rows written per row group.
const ROW_GROUP: usize = 1 << 20;

fn unreadable(error: ParquetError) -> Error {
    crate::fault::unreadable(error, "not a readable Parquet file")
}

/// An open file.
pub(crate) struct Source {
    reader: Box<dyn FileReader>,
    head: Head,
}

impl Source {
    /// Reads the end of the file, where its columns are described.
    pub(crate) fn open(file: impl ChunkReader + 'static, allowance: Allowance) -> Result<Self> {
        let reader = SerializedFileReader::new(file).map_err(unreadable)?;
        let metadata = reader.metadata().file_metadata();
        let rows = usize::try_from(metadata.num_rows()).unwrap_or(0);
        let mut columns = Vec::new();
        for (index, column) in metadata.schema_descr().columns().iter().enumerate() {
            let name = name_of(column);
            let kind = match column.physical_type() {
                Physical::BYTE_ARRAY => columnar::Kind::Text,
                Physical::FLOAT => columnar::Kind::Single,
                _ => columnar::Kind::Number,
            };
            let refused = is_unsigned(column, &name).err();
            columns.push(Column { name, index, kind, refused });
        }
        let pairs = metadata.key_value_metadata().into_iter().flatten();
        let pandas = pairs.filter(|pair| pair.key == "pandas").find_map(|pair| pair.value.clone());
        let head = Head::new(columns, pandas.as_deref(), rows, allowance)?;
        Ok(Source { reader: Box::new(reader), head })
    }
}

impl Columnar for Source {
    fn head(&mut self) -> &mut Head {
        &mut self.head
    }

    fn read(
        &mut self,
        observer: &dyn Observer,
        mut each: impl FnMut(usize, usize, Option<Value<'_>>) -> Result<()>,
    ) -> Result<()> {
        let head = &self.head;
        let schema = self.reader.metadata().file_metadata().schema_descr();
        let mut first = 0;
        for group in 0..self.reader.num_row_groups() {
            let group = self.reader.get_row_group(group).map_err(unreadable)?;
            let rows =
                usize::try_from(group.metadata().num_rows()).unwrap_or(0).min(head.rows - first);
            for (c, column) in head.columns.iter().enumerate() {
                observer.check()?;
                let values = group.get_column_reader(column.index).map_err(unreadable)?;
                let of = schema.column(column.index);
                let found = read(values, &of, rows, &mut |row, value| each(first + row, c, value))?
                    .ok_or_else(|| malformed(format!("column {c} holds no numbers")))?;
                ensure_format!(found == rows, "truncated: column {c} has {found} of {rows} rows");
            }
            first += rows;
            observer.progress("reading", first, head.rows);
        }
        head.check_whole(first)
    }
}

/// Where the values of a column go, with their rows.
type Sink<'a> = &'a mut dyn FnMut(usize, Option<Value<'_>>) -> Result<()>;

/// Hands out the values of one row group and says how many rows it had; `None` where they are no
/// numbers.
fn read(
    values: ColumnReader,
    column: &ColumnDescriptor,
    rows: usize,
    sink: Sink<'_>,
) -> Result<Option<usize>> {
    use ColumnReader as R;
    let unsigned = is_unsigned(column, column.name()) == Ok(true);
    let there = column.max_def_level();
    let found = match values {
        R::BoolColumnReader(r) => pump(r, there, rows, |&x| Value::Int(i64::from(x)), sink)?,
        R::Int32ColumnReader(r) if unsigned => {
            pump(r, there, rows, |&x| Value::Unsigned(u64::from(x as u32)), sink)?
        }
        R::Int32ColumnReader(r) => pump(r, there, rows, |&x| Value::Int(i64::from(x)), sink)?,
        R::Int64ColumnReader(r) if unsigned => {
            pump(r, there, rows, |&x| Value::Unsigned(x as u64), sink)?
        }
        R::Int64ColumnReader(r) => pump(r, there, rows, |&x| Value::Int(x), sink)?,
        R::FloatColumnReader(r) => pump(r, there, rows, |&x| Value::Float(f64::from(x)), sink)?,
        R::DoubleColumnReader(r) => pump(r, there, rows, |&x| Value::Float(x), sink)?,
        R::ByteArrayColumnReader(r) => pump(r, there, rows, text, sink)?,
        _ => return Ok(None),
    };
    Ok(Some(found))
}

fn text(bytes: &ByteArray) -> Value<'_> {
    std::str::from_utf8(bytes.data()).map_or(Value::Bytes, Value::Text)
}

/// What a column is called: a part of a structure by all names that lead to it.
fn name_of(column: &ColumnDescriptor) -> String {
    let parts = column.path().parts();
    if column.max_rep_level() > 0 { parts[0].clone() } else { parts.join(".") }
}

/// Whether the numbers of a column are unsigned; why it is refused if it holds anything but plain
/// numbers and text.
fn is_unsigned(column: &ColumnDescriptor, name: &str) -> std::result::Result<bool, String> {
    let refuse = |what: &str| Err(refused(name, what));
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
        Some(other) => {
            // Its name without the particulars: Timestamp, Decimal.
            let all = format!("{other:?}");
            let name = all.split(['(', ' ', '{']).next().unwrap_or_default();
            return refuse(&format!("{name} values"));
        }
    }
    use ConvertedType as C;
    match column.converted_type() {
        C::NONE | C::INT_8 | C::INT_16 | C::INT_32 | C::INT_64 | C::UTF8 | C::ENUM => Ok(false),
        C::UINT_8 | C::UINT_16 | C::UINT_32 | C::UINT_64 => Ok(true),
        other => refuse(&format!("{other} values")),
    }
}

/// Reads one column of a row group in batches and says how many rows it had; `there` is the level
/// of a value that is not null.
fn pump<T: DataType>(
    mut reader: ColumnReaderImpl<T>,
    there: i16,
    rows: usize,
    value: impl Fn(&T::T) -> Value<'_>,
    sink: Sink<'_>,
) -> Result<usize> {
    // The reader fills them as far as a batch goes, and would ask for more where there is no room.
    let mut values = room::with_capacity(BATCH.min(rows))?;
    let mut levels = room::with_capacity(BATCH.min(rows))?;
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
            let defined = there == 0 || levels.get(i) == Some(&there);
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
    out.flush().map_err(system)
}
