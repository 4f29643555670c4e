//! Arrow IPC files, which are Feather's second version: flat columns of numbers and text, read one
//! batch of rows after the other.

use std::io::{Read, Seek, SeekFrom};

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type,
    UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrowPrimitiveType, RecordBatch};
use arrow_buffer::Buffer;
use arrow_ipc::convert::try_fb_to_schema;
use arrow_ipc::reader::{FileDecoder, read_footer_length};
use arrow_ipc::{Block, RecordBatch as Header, root_as_footer, root_as_message};
use arrow_schema::{ArrowError, DataType};
use consilience_core::{Observer, Result};

use crate::allowance::Allowance;
use crate::columnar::{Column, Columnar, Head, Kind, Value, refused};
use crate::fault::{ensure_format, malformed, system};
use crate::input::Contents;

#[cfg(test)]
mod tests;
mod writing;

pub(crate) use writing::{write_floats, write_labels};

/// What a file begins and ends with.
const MAGIC: &[u8] = b"ARROW1";
/// The length of the footer and the magic bytes, at the end of a file.
const END: u64 = 10;

fn unreadable(error: impl std::fmt::Display) -> consilience_core::Error {
    malformed(format!("not a readable Arrow file: {error}"))
}

fn damaged() -> consilience_core::Error {
    malformed("damaged Arrow file: it describes parts that it does not hold")
}

/// An open file.
pub(crate) struct Source<'a> {
    file: Box<dyn Contents + 'a>,
    decoder: FileDecoder,
    batches: Vec<Block>,
    head: Head,
}

impl<'a> Source<'a> {
    /// Reads the end of the file, where its columns are described, and its dictionaries.
    pub(crate) fn open(
        mut file: Box<dyn Contents + 'a>,
        length: u64,
        allowance: Allowance,
    ) -> Result<Self> {
        let footer = footer(&mut file, length, &allowance)?;
        let footer = root_as_footer(&footer).map_err(unreadable)?;
        let schema = footer.schema().ok_or_else(damaged)?;
        let schema = std::sync::Arc::new(try_fb_to_schema(schema).map_err(unreadable)?);
        let mut columns = Vec::new();
        for (index, field) in schema.fields().iter().enumerate() {
            let name = field.name().clone();
            let (kind, refused) = match kind(&name, field.data_type()) {
                Ok(kind) => (kind, None),
                Err(refused) => (Kind::Number, Some(refused)),
            };
            columns.push(Column { name, index, kind, refused });
        }
        let blocks = |blocks: Option<flatbuffers::Vector<'_, Block>>| -> Vec<Block> {
            blocks.map(|blocks| blocks.iter().copied().collect()).unwrap_or_default()
        };
        let mut decoder = FileDecoder::new(schema.clone(), footer.version());
        for block in blocks(footer.dictionaries()) {
            // It stays in memory as long as the decoder.
            let (bytes, _) = block_of(&mut file, &block, length, &allowance)?;
            decoder.read_dictionary(&block, &bytes).map_err(unreadable)?;
        }
        let batches = blocks(footer.recordBatches());
        let mut rows = 0usize;
        for block in &batches {
            let (bytes, taken) = block_of(&mut file, block, length, &allowance)?;
            rows = rows.checked_add(rows_of(&bytes)?).ok_or_else(damaged)?;
            allowance.give_back(taken);
        }
        let pandas = schema.metadata().get("pandas");
        let head = Head::new(columns, pandas.map(String::as_str), rows, allowance)?;
        head.allowance.expect(rows, head.columns.len(), 1)?;
        Ok(Source { file, decoder, batches, head })
    }
}

impl Columnar for Source<'_> {
    fn head(&mut self) -> &mut Head {
        &mut self.head
    }

    fn read(
        &mut self,
        observer: &dyn Observer,
        mut each: impl FnMut(usize, usize, Option<Value<'_>>) -> Result<()>,
    ) -> Result<()> {
        let head = &self.head;
        let mut first = 0;
        for block in &self.batches {
            observer.check()?;
            // The length was checked when the file was opened.
            let (bytes, taken) = block_of(&mut self.file, block, u64::MAX, &head.allowance)?;
            let batch = self.decoder.read_record_batch(block, &bytes).map_err(unreadable)?;
            let batch: RecordBatch = batch.ok_or_else(damaged)?;
            if first + batch.num_rows() > head.rows {
                return Err(damaged());
            }
            for (c, column) in head.columns.iter().enumerate() {
                let array = batch.columns().get(column.index).ok_or_else(damaged)?;
                values(array.as_ref(), &mut |row, value| each(first + row, c, value))?;
            }
            first += batch.num_rows();
            drop(batch);
            head.allowance.give_back(taken);
            observer.progress("reading", first, head.rows);
        }
        head.check_whole(first)
    }
}

/// The description of a file.
fn footer(file: &mut (impl Read + Seek), length: u64, allowance: &Allowance) -> Result<Vec<u8>> {
    let mut start = [0; MAGIC.len()];
    file.read_exact(&mut start).map_err(system)?;
    ensure_format!(
        !start.starts_with(b"FEA1"),
        "the first version of Feather; expected the second, which is Arrow"
    );
    ensure_format!(start == MAGIC, "not an Arrow file: it does not begin with ARROW1");
    let mut end = [0; END as usize];
    let at = length.checked_sub(END).ok_or_else(truncated)?;
    file.seek(SeekFrom::Start(at)).map_err(system)?;
    file.read_exact(&mut end).map_err(system)?;
    let bytes = read_footer_length(end).map_err(|_| truncated())?;
    let start = at.checked_sub(bytes as u64).ok_or_else(truncated)?;
    file.seek(SeekFrom::Start(start)).map_err(system)?;
    let mut footer = allowance.room(bytes)?;
    footer.resize(bytes, 0);
    file.read_exact(&mut footer).map_err(system)?;
    Ok(footer)
}

fn truncated() -> consilience_core::Error {
    malformed("truncated: an Arrow file ends in its description and ARROW1")
}

/// One part of a file, and what it takes of the memory, unpacked.
fn block_of(
    file: &mut (impl Read + Seek),
    block: &Block,
    length: u64,
    allowance: &Allowance,
) -> Result<(Buffer, u64)> {
    let size = |n: i64| u64::try_from(n).map_err(|_| damaged());
    let (at, head, body) =
        (size(block.offset())?, size(block.metaDataLength().into())?, size(block.bodyLength())?);
    let bytes = head.checked_add(body).ok_or_else(damaged)?;
    if at.checked_add(bytes).is_none_or(|end| end > length) || head < 8 {
        return Err(damaged());
    }
    let len = usize::try_from(bytes).map_err(|_| damaged())?;
    let mut content = allowance.room::<u8>(len)?;
    content.resize(len, 0);
    file.seek(SeekFrom::Start(at)).map_err(system)?;
    file.read_exact(&mut content).map_err(system)?;
    let (head, body) = content.split_at(head as usize);
    let unpacked = check_buffers(head, body)?;
    allowance.take(unpacked)?;
    // The decoder asks the system for it without a way to be refused.
    Vec::<u8>::new()
        .try_reserve_exact(unpacked as usize)
        .map_err(|_| crate::allowance::no_room::<u8>(unpacked as usize))?;
    Ok((Buffer::from_vec(content), bytes + unpacked))
}

/// The description of a batch, after its length.
fn message(head: &[u8]) -> Result<arrow_ipc::Message<'_>> {
    let start = if head.starts_with(&[0xff; 4]) { 8 } else { 4 };
    root_as_message(&head[start..]).map_err(unreadable)
}

/// Checks that a batch holds the buffers that it describes, and says how many bytes they are once
/// they are decompressed.
fn check_buffers(head: &[u8], body: &[u8]) -> Result<u64> {
    let message = message(head)?;
    let dictionary = message.header_as_dictionary_batch().and_then(|batch| batch.data());
    let batch: Option<Header<'_>> = message.header_as_record_batch().or(dictionary);
    let batch = batch.ok_or_else(damaged)?;
    let mut unpacked = 0u64;
    for buffer in batch.buffers().into_iter().flatten() {
        let size = |n: i64| usize::try_from(n).map_err(|_| damaged());
        let (start, len) = (size(buffer.offset())?, size(buffer.length())?);
        let end = start.checked_add(len).ok_or_else(damaged)?;
        let bytes = body.get(start..end).ok_or_else(damaged)?;
        if let (Some(_), Some(prefix)) = (batch.compression(), bytes.first_chunk::<8>()) {
            let claimed = i64::from_le_bytes(*prefix);
            unpacked = unpacked.saturating_add(u64::try_from(claimed).unwrap_or(0));
        }
    }
    Ok(unpacked)
}

fn rows_of(bytes: &[u8]) -> Result<usize> {
    let message = message(bytes)?;
    let batch = message.header_as_record_batch().ok_or_else(damaged)?;
    usize::try_from(batch.length()).map_err(|_| damaged())
}

/// What a column of that type holds.
fn kind(name: &str, kind: &DataType) -> std::result::Result<Kind, String> {
    use DataType as T;
    match kind {
        T::Utf8 | T::LargeUtf8 | T::Utf8View => Ok(Kind::Text),
        T::Float32 | T::Float16 => Ok(Kind::Single),
        T::Null | T::Boolean | T::Float64 => Ok(Kind::Number),
        _ if kind.is_integer() => Ok(Kind::Number),
        T::Dictionary(_, values) if !matches!(**values, T::Dictionary(..)) => {
            self::kind(name, values)
        }
        other => Err(refused(name, &format!("{other} values"))),
    }
}

type Sink<'s, 'v> = &'s mut dyn FnMut(usize, Option<Value<'v>>) -> Result<()>;

/// Hands out the values of a column of a batch.
fn values<'v>(array: &'v dyn Array, sink: Sink<'_, 'v>) -> Result<()> {
    use DataType as T;
    match array.data_type() {
        T::Null => (0..array.len()).try_for_each(|row| sink(row, None)),
        T::Boolean => {
            let flags = array.as_boolean().iter();
            each(flags.map(|x| x.map(|x| Value::Int(i64::from(x)))), sink)
        }
        T::Int8 => numbers::<Int8Type>(array, |x| Value::Int(x.into()), sink),
        T::Int16 => numbers::<Int16Type>(array, |x| Value::Int(x.into()), sink),
        T::Int32 => numbers::<Int32Type>(array, |x| Value::Int(x.into()), sink),
        T::Int64 => numbers::<Int64Type>(array, Value::Int, sink),
        T::UInt8 => numbers::<UInt8Type>(array, |x| Value::Unsigned(x.into()), sink),
        T::UInt16 => numbers::<UInt16Type>(array, |x| Value::Unsigned(x.into()), sink),
        T::UInt32 => numbers::<UInt32Type>(array, |x| Value::Unsigned(x.into()), sink),
        T::UInt64 => numbers::<UInt64Type>(array, Value::Unsigned, sink),
        T::Float16 => numbers::<Float16Type>(array, |x| Value::Float(x.to_f64()), sink),
        T::Float32 => numbers::<Float32Type>(array, |x| Value::Float(x.into()), sink),
        T::Float64 => numbers::<Float64Type>(array, Value::Float, sink),
        T::Utf8 => each(array.as_string::<i32>().iter().map(|x| x.map(Value::Text)), sink),
        T::LargeUtf8 => each(array.as_string::<i64>().iter().map(|x| x.map(Value::Text)), sink),
        T::Utf8View => each(array.as_string_view().iter().map(|x| x.map(Value::Text)), sink),
        T::Dictionary(..) => {
            let dictionary = array.as_any_dictionary();
            let mut known = Vec::new();
            values(dictionary.values().as_ref(), &mut |_, value| {
                known.push(value);
                Ok(())
            })?;
            values(dictionary.keys(), &mut |row, key| {
                let key = match key {
                    None => return sink(row, None),
                    Some(Value::Int(key)) => usize::try_from(key).ok(),
                    Some(Value::Unsigned(key)) => usize::try_from(key).ok(),
                    Some(_) => None,
                };
                let value = key.and_then(|key| known.get(key)).ok_or_else(damaged)?;
                sink(row, *value)
            })
        }
        other => Err(unreadable(ArrowError::NotYetImplemented(other.to_string()))),
    }
}

fn numbers<'v, T: ArrowPrimitiveType>(
    array: &'v dyn Array,
    value: impl Fn(T::Native) -> Value<'static>,
    sink: Sink<'_, 'v>,
) -> Result<()> {
    each(array.as_primitive::<T>().iter().map(|x| x.map(&value)), sink)
}

fn each<'v>(values: impl Iterator<Item = Option<Value<'v>>>, sink: Sink<'_, 'v>) -> Result<()> {
    values.enumerate().try_for_each(|(row, value)| sink(row, value))
}
