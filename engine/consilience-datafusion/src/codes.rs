//! Labels of one column, numbered as they come.

use consilience::{Error, ErrorKind, Result};
use consilience_io::{TextLabel, text_label};
use datafusion::arrow::array::{Array, ArrayRef, AsArray, StringViewArray};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{
    ArrowPrimitiveType, DataType, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type,
    Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use crate::fault::arrow;
use crate::table::is_text;

/// Labels below this are numbered through a table, others through a map.
const SMALL: u64 = 1 << 16;
/// The number of a missing label, and of one that was not seen before.
pub(crate) const MISSING: u32 = u32::MAX;
pub(crate) const UNSEEN: u32 = u32::MAX - 1;

/// The labels of one column: a number for each, by first appearance.
///
/// Negative, null, empty, NaN and NA are no label, and text that says a number is that number, as
/// in the files that the library reads.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub(crate) struct Codes {
    small: Vec<u32>,
    large: FxHashMap<u64, u32>,
    text: FxHashMap<Box<str>, u32>,
    /// Text that is not the name of its label: numbers, words for none, names within white space.
    otherwise: FxHashMap<Box<str>, u32>,
    len: u32,
}

/// A number as a label.
trait Cell: Copy {
    /// `Ok(None)` where it is none, `Err` where it cannot be one.
    fn key(self) -> std::result::Result<Option<u64>, String>;
}

macro_rules! whole {
    ($($t:ty),*) => {$(impl Cell for $t {
        #[inline(always)]
        fn key(self) -> std::result::Result<Option<u64>, String> {
            Ok(u64::try_from(self).ok())
        }
    })*};
}
whole!(i8, i16, i32, i64, u8, u16, u32, u64);

impl Cell for f64 {
    fn key(self) -> std::result::Result<Option<u64>, String> {
        if self.is_nan() {
            return Ok(None);
        }
        if self.fract() != 0.0 || self.is_infinite() || self >= 18_446_744_073_709_551_616.0 {
            return Err(format!("{self:?} is no label; expected a whole number below 2^64"));
        }
        Ok((self >= 0.0).then_some(self as u64))
    }
}

impl Cell for f32 {
    fn key(self) -> std::result::Result<Option<u64>, String> {
        f64::from(self).key()
    }
}

impl Codes {
    /// Number of labels so far.
    pub(crate) fn len(&self) -> usize {
        self.len as usize
    }

    /// Bytes that the numbering takes, about.
    pub(crate) fn bytes(&self) -> u64 {
        let texts = self.text.len() + self.otherwise.len();
        (4 * self.small.len() + 24 * self.large.len() + 64 * texts) as u64
    }

    /// The numbers of a column, new labels included.
    pub(crate) fn grow(&mut self, column: &ArrayRef, out: &mut Vec<u32>) -> Result<()> {
        out.clear();
        out.reserve(column.len());
        match column.data_type() {
            kind if is_text(kind) => self.grow_text(&text(column)?, out),
            DataType::Boolean => {
                for label in column.as_boolean() {
                    out.push(match label {
                        Some(label) => self.number(u64::from(label))?,
                        None => MISSING,
                    });
                }
                Ok(())
            }
            _ => numbers(column, |key| {
                out.push(match key {
                    Some(key) => self.number(key)?,
                    None => MISSING,
                });
                Ok(())
            }),
        }
    }

    fn grow_text(&mut self, column: &StringViewArray, out: &mut Vec<u32>) -> Result<()> {
        for label in column {
            out.push(match label {
                None => MISSING,
                Some(label) => match self.known(label) {
                    Some(number) => number,
                    None => self.read(label)?,
                },
            });
        }
        Ok(())
    }

    /// The number of a text that was read before.
    fn known(&self, text: &str) -> Option<u32> {
        self.text.get(text).or_else(|| self.otherwise.get(text)).copied()
    }

    /// The number of a text that was not, which may be a label that is known by another text.
    #[cold]
    fn read(&mut self, text: &str) -> Result<u32> {
        let number = match text_label(text)? {
            TextLabel::None => MISSING,
            TextLabel::Number(key) => self.number(key)?,
            TextLabel::Name(name) => match self.text.get(name) {
                Some(&number) => number,
                None => {
                    let number = self.fresh()?;
                    self.text.insert(name.into(), number);
                    number
                }
            },
        };
        if !self.text.contains_key(text) {
            self.otherwise.insert(text.into(), number);
        }
        Ok(number)
    }

    /// The numbers of a column, [`UNSEEN`] for labels that are not known.
    pub(crate) fn find(&self, column: &ArrayRef, mut each: impl FnMut(u32)) -> Result<()> {
        match column.data_type() {
            kind if is_text(kind) => {
                for label in &text(column)? {
                    let Some(label) = label else {
                        each(MISSING);
                        continue;
                    };
                    each(match self.known(label) {
                        Some(number) => number,
                        None => match text_label(label)? {
                            TextLabel::None => MISSING,
                            TextLabel::Number(key) => self.look_up(key),
                            TextLabel::Name(name) => self.text.get(name).copied().unwrap_or(UNSEEN),
                        },
                    });
                }
                Ok(())
            }
            DataType::Boolean => {
                for label in column.as_boolean() {
                    each(label.map_or(MISSING, |label| self.look_up(u64::from(label))));
                }
                Ok(())
            }
            _ => numbers(column, |key| {
                each(key.map_or(MISSING, |key| self.look_up(key)));
                Ok(())
            }),
        }
    }

    #[inline(always)]
    fn look_up(&self, key: u64) -> u32 {
        match self.small.get(key as usize) {
            Some(&number) if key < SMALL => number,
            _ if key < SMALL => UNSEEN,
            _ => self.large.get(&key).copied().unwrap_or(UNSEEN),
        }
    }

    #[inline(always)]
    fn number(&mut self, key: u64) -> Result<u32> {
        match self.look_up(key) {
            UNSEEN => self.add(key),
            number => Ok(number),
        }
    }

    #[cold]
    fn add(&mut self, key: u64) -> Result<u32> {
        let number = self.fresh()?;
        if key < SMALL {
            let needed = (key as usize + 1).max(self.small.len());
            self.small.resize(needed, UNSEEN);
            self.small[key as usize] = number;
        } else {
            self.large.insert(key, number);
        }
        Ok(number)
    }

    fn fresh(&mut self) -> Result<u32> {
        if self.len >= UNSEEN - 1 {
            return Err(Error::too_large("more than 2^32 - 3 different labels in one column"));
        }
        self.len += 1;
        Ok(self.len - 1)
    }

    /// The labels of another numbering in this one, in their order; new ones are added.
    pub(crate) fn adopt(&mut self, other: &Codes) -> Result<Vec<u32>> {
        let mut ours = vec![UNSEEN; other.len()];
        let mut keys = vec![None; other.len()];
        for (key, &number) in other.small.iter().enumerate().filter(|(_, n)| **n != UNSEEN) {
            keys[number as usize] = Some(key as u64);
        }
        for (&key, &number) in &other.large {
            keys[number as usize] = Some(key);
        }
        let mut names: Vec<Option<&str>> = vec![None; other.len()];
        for (name, &number) in &other.text {
            names[number as usize] = Some(name);
        }
        for (number, our) in ours.iter_mut().enumerate() {
            *our = match (keys[number], names[number]) {
                (Some(key), _) => self.number(key)?,
                (None, Some(name)) => match self.text.get(name) {
                    Some(&known) => known,
                    None => {
                        let fresh = self.fresh()?;
                        self.text.insert(name.into(), fresh);
                        fresh
                    }
                },
                (None, None) => UNSEEN,
            };
        }
        Ok(ours)
    }
}

fn text(column: &ArrayRef) -> Result<StringViewArray> {
    Ok(cast(column, &DataType::Utf8View).map_err(arrow)?.as_string_view().clone())
}

/// Hands out a column of numbers as labels.
fn numbers(column: &ArrayRef, each: impl FnMut(Option<u64>) -> Result<()>) -> Result<()> {
    use DataType as D;
    match column.data_type() {
        D::Int8 => primitive::<Int8Type>(column, each),
        D::Int16 => primitive::<Int16Type>(column, each),
        D::Int32 => primitive::<Int32Type>(column, each),
        D::Int64 => primitive::<Int64Type>(column, each),
        D::UInt8 => primitive::<UInt8Type>(column, each),
        D::UInt16 => primitive::<UInt16Type>(column, each),
        D::UInt32 => primitive::<UInt32Type>(column, each),
        D::UInt64 => primitive::<UInt64Type>(column, each),
        D::Float32 => primitive::<Float32Type>(column, each),
        D::Float64 => primitive::<Float64Type>(column, each),
        other => Err(Error::new(ErrorKind::Format, format!("{other} values; expected labels"))),
    }
}

fn primitive<T: ArrowPrimitiveType>(
    column: &ArrayRef,
    mut each: impl FnMut(Option<u64>) -> Result<()>,
) -> Result<()>
where
    T::Native: Cell,
{
    let column = column.as_primitive::<T>();
    let refused = |what: String| Error::new(ErrorKind::Format, what);
    if column.null_count() == 0 {
        for &value in column.values() {
            each(value.key().map_err(refused)?)?;
        }
    } else {
        for value in column {
            each(value.map_or(Ok(None), Cell::key).map_err(refused)?)?;
        }
    }
    Ok(())
}
