//! Apache Parquet: flat columns of whole numbers or floats, read one after the other; null is
//! unlabelled.

use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use consilience_core::{Error, Observer, Result};
use ndarray::{Array2, ArrayView2};
use parquet::basic::{Compression, ConvertedType, LogicalType, Repetition, Type as Physical};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{DataType, DoubleType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{ChunkReader, FileReader, SerializedFileReader};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::{ColumnDescriptor, Type};

use crate::allowance::Allowance;
use crate::fault::{excerpt, malformed, system};
use crate::features::FeatureTable;
use crate::labelled::{Labelled, column_names};
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

/// A number of whatever type the column has.
#[derive(Clone, Copy)]
enum Value {
    Int(i64),
    Unsigned(u64),
    Float(f64),
}

struct Column {
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

impl Source {
    /// Reads the end of the file, where its columns are described.
    pub(crate) fn open(file: impl ChunkReader + 'static, allowance: Allowance) -> Result<Self> {
        let reader = SerializedFileReader::new(file).map_err(unreadable)?;
        let metadata = reader.metadata().file_metadata();
        let rows = usize::try_from(metadata.num_rows()).unwrap_or(0);
        let mut columns = Vec::new();
        for (index, column) in metadata.schema_descr().columns().iter().enumerate() {
            // pandas stores a table's index as one more column of this name.
            if !column.name().starts_with("__index_level_") {
                columns.push(Column {
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

    /// Label columns.
    pub(crate) fn labels(&self, observer: &dyn Observer) -> Result<LabelColumns> {
        // One byte per label at least.
        self.allowance.expect(self.rows, self.columns.len(), 1)?;
        let mut labels = LabelColumns::new(self.columns.len(), &self.allowance)?;
        self.read(observer, |row, column, value| {
            let key = match value {
                Some(Value::Int(x)) => x.label(),
                Some(Value::Unsigned(x)) => x.label(),
                Some(Value::Float(x)) => x.label(),
                None => Ok(None),
            };
            labels.0[column].push(key.map_err(|what| at(row, column, what))?)
        })?;
        Ok(labels)
    }

    /// Features; single precision where every column is.
    pub(crate) fn features(&self, observer: &dyn Observer) -> Result<FeatureTable> {
        if self.columns.iter().all(|c| c.physical == Physical::FLOAT) {
            // Exact: these doubles came from floats.
            Ok(FeatureTable::F32(self.table(observer, |x| x as f32)?))
        } else {
            Ok(FeatureTable::F64(self.table(observer, |x| x)?))
        }
    }

    fn table<F: Clone>(
        &self,
        observer: &dyn Observer,
        convert: impl Fn(f64) -> F,
    ) -> Result<Array2<F>> {
        let width = self.columns.len();
        let mut values: Vec<F> = self.allowance.room(self.rows.saturating_mul(width))?;
        values.resize(self.rows * width, convert(f64::NAN));
        self.read(observer, |row, column, value| {
            let number = match value {
                Some(Value::Int(x)) => x as f64,
                Some(Value::Unsigned(x)) => x as f64,
                Some(Value::Float(x)) => x,
                None => return Err(at(row, column, "null; expected a number")),
            };
            values[row * width + column] = convert(number);
            Ok(())
        })?;
        Array2::from_shape_vec((self.rows, width), values).map_err(|e| malformed(e.to_string()))
    }

    /// Hands out every value with its row and column: within a row group, column by column.
    fn read(
        &self,
        observer: &dyn Observer,
        mut each: impl FnMut(usize, usize, Option<Value>) -> Result<()>,
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
        sink: &mut dyn FnMut(usize, Option<Value>) -> Result<()>,
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
            _ => return Ok(None),
        };
        Ok(Some(found))
    }
}

/// Refuses columns of anything but plain numbers.
fn is_unsigned(column: &ColumnDescriptor) -> Result<bool> {
    let refuse = |what: &str| {
        Err(malformed(format!(
            "column {:?} holds {what}; expected whole numbers or floats",
            excerpt(column.name())
        )))
    };
    if column.max_rep_level() > 0 {
        return refuse("lists");
    }
    if matches!(
        column.physical_type(),
        Physical::BYTE_ARRAY | Physical::FIXED_LEN_BYTE_ARRAY | Physical::INT96
    ) {
        return refuse(&format!("{} values", column.physical_type()));
    }
    match column.logical_type_ref() {
        None => {}
        Some(LogicalType::Integer(integer)) => return Ok(!integer.is_signed),
        Some(other) => return refuse(&format!("{other:?} values")),
    }
    use ConvertedType as C;
    match column.converted_type() {
        C::NONE | C::INT_8 | C::INT_16 | C::INT_32 | C::INT_64 => Ok(false),
        C::UINT_8 | C::UINT_16 | C::UINT_32 | C::UINT_64 => Ok(true),
        other => refuse(&format!("{other} values")),
    }
}

/// Reads one column of a row group in batches and says how many rows it had.
fn pump<T: DataType>(
    mut reader: ColumnReaderImpl<T>,
    column: &Column,
    rows: usize,
    value: impl Fn(&T::T) -> Value,
    sink: &mut dyn FnMut(usize, Option<Value>) -> Result<()>,
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

/// Writes labels, one column of integers per member, -1 for unlabelled.
pub(crate) fn write_labels(
    out: impl Write + Send,
    labels: &Labelled<'_>,
    observer: &dyn Observer,
) -> Result<()> {
    let wide = labels.width() > 4;
    let physical = if wide { Physical::INT64 } else { Physical::INT32 };
    write(out, &labels.column_names(), physical, labels.rows(), observer, |writer, column, rows| {
        if wide {
            let values: Vec<i64> = rows.map(|i| labels.signed(i, column)).collect();
            writer.typed::<Int64Type>().write_batch(&values, None, None)
        } else {
            let values: Vec<i32> = rows.map(|i| labels.signed(i, column) as i32).collect();
            writer.typed::<Int32Type>().write_batch(&values, None, None)
        }
    })
}

/// Writes a table of float64.
pub(crate) fn write_floats(
    out: impl Write + Send,
    table: ArrayView2<'_, f64>,
    observer: &dyn Observer,
) -> Result<()> {
    let names = column_names("c", table.ncols());
    write(out, &names, Physical::DOUBLE, table.nrows(), observer, |writer, column, rows| {
        let values: Vec<f64> = rows.map(|i| table[[i, column]]).collect();
        writer.typed::<DoubleType>().write_batch(&values, None, None)
    })
}

fn write(
    out: impl Write + Send,
    names: &[String],
    physical: Physical,
    n: usize,
    observer: &dyn Observer,
    mut column: impl FnMut(
        &mut parquet::file::writer::SerializedColumnWriter<'_>,
        usize,
        std::ops::Range<usize>,
    ) -> std::result::Result<usize, ParquetError>,
) -> Result<()> {
    let wrong = |error: ParquetError| malformed(error.to_string());
    let field = |name: &String| {
        Type::primitive_type_builder(name, physical)
            .with_repetition(Repetition::REQUIRED)
            .build()
            .map(Arc::new)
    };
    let fields = names.iter().map(field).collect::<std::result::Result<_, _>>().map_err(wrong)?;
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
            column(&mut writer, index, rows.clone()).map_err(wrong)?;
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
