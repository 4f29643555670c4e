//! Tables that hand out their values column by column, with a type for each column: what labels,
//! features, categories and ids they hold. Parquet and Arrow differ below this only.

use consilience_core::{Observer, Result};
use ndarray::Array2;

use crate::allowance::Allowance;
use crate::data_table::DataTable;
use crate::defects::Defects;
use crate::fault::{excerpt, malformed};
use crate::features::FeatureTable;
use crate::label::{Label, category, label, number_category};
use crate::roles::{Role, Wanted, unique_text};
use crate::table::{Cell, LabelColumns, at};

/// What the values of a column are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Text,
    /// Floats in single precision.
    Single,
    /// Any other numbers.
    Number,
}

/// A table of columns.
pub(crate) trait Columnar {
    /// What each column is called.
    fn names(&self) -> Vec<String>;
    /// What the values of a column are.
    fn kind(&self, column: usize) -> Kind;
    fn n_rows(&self) -> usize;
    fn allowance(&self) -> &Allowance;
    /// Leaves out the columns that are not to be kept.
    ///
    /// # Errors
    /// For a column that is kept and holds what cannot be read.
    fn keep(&mut self, kept: &[bool]) -> Result<()>;
    /// Hands out every value with its row and column, in any order in which the rows of each column
    /// ascend; `None` for null.
    fn read(
        &mut self,
        observer: &dyn Observer,
        each: impl FnMut(usize, usize, Option<Value<'_>>) -> Result<()>,
    ) -> Result<()>;
}

/// Runs a reader of a format, whose libraries are written for sound files: some damage that they do
/// not expect makes them panic.
pub(crate) fn shielded<T>(format: &str, read: impl FnOnce() -> Result<T>) -> Result<T> {
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(read))
        .unwrap_or_else(|_| Err(malformed(format!("damaged {format} file"))))
}

/// What pandas calls the index of a table that has no name, which it stores as one more column.
pub(crate) const INDEX: &str = "__index_level_";

/// Why a column of values that are neither numbers nor text is refused, if it is wanted.
pub(crate) fn refused(name: &str, what: &str) -> String {
    format!("column {:?} holds {what}; expected whole numbers, floats or text", excerpt(name))
}

/// A value of whatever type the column has.
#[derive(Clone, Copy)]
pub(crate) enum Value<'a> {
    Int(i64),
    Unsigned(u64),
    Float(f64),
    Text(&'a str),
    /// Bytes that are no text.
    Bytes,
}

pub(crate) const NO_TEXT: &str = "bytes that are no UTF-8; expected text";

impl<'a> Value<'a> {
    /// The value as the id of an object; `text` is where the digits of a number are put.
    fn id(self, text: &'a mut String) -> std::result::Result<Label<'a>, String> {
        match self {
            Value::Text(text) => Ok(Label::Text(text.trim())),
            other => other.category(text),
        }
    }

    /// The value as a label.
    pub(crate) fn label(self) -> std::result::Result<Label<'a>, String> {
        match self {
            Value::Int(x) => x.label().map(Label::from),
            Value::Unsigned(x) => x.label().map(Label::from),
            Value::Float(x) => x.label().map(Label::from),
            Value::Text(text) => label(text.trim_ascii().as_bytes()),
            Value::Bytes => Err(NO_TEXT.to_owned()),
        }
    }

    /// The value as a category; `text` is where the digits of a number are put.
    fn category(self, text: &'a mut String) -> std::result::Result<Label<'a>, String> {
        match self {
            Value::Text(text) => category(text.trim_ascii().as_bytes()),
            Value::Int(x) if x < 0 => number_category(x, text),
            Value::Float(x) => number_category(x, text),
            other => other.label(),
        }
    }
}

/// Leaves out the columns that are not wanted; what the others are.
fn choose(source: &mut impl Columnar, mut roles: Vec<Role>, otherwise: Role) -> Result<Vec<Role>> {
    for (c, role) in roles.iter_mut().enumerate() {
        // Only text is taken for ids without being named so.
        if *role == Role::Maybe && source.kind(c) != Kind::Text {
            *role = otherwise;
        }
    }
    let kept: Vec<bool> = roles.iter().map(|role| *role != Role::Skip).collect();
    source.keep(&kept)?;
    roles.retain(|&role| role != Role::Skip);
    Ok(roles)
}

/// Label columns.
pub(crate) fn labels(
    mut source: impl Columnar,
    wanted: &Wanted,
    observer: &dyn Observer,
    notes: &mut Vec<String>,
) -> Result<LabelColumns> {
    let roles = wanted.roles(&source.names(), notes)?;
    let roles = choose(&mut source, roles, Role::Skip)?;
    let id = roles.iter().position(|role| matches!(role, Role::Id | Role::Maybe));
    // One byte per label at least.
    source.allowance().expect(source.n_rows(), roles.len(), 1)?;
    let mut labels = LabelColumns::new(source.names(), source.allowance())?;
    let mut digits = String::new();
    source.read(observer, |row, column, value| {
        let found = match value {
            None => Ok(Label::None),
            Some(value) if Some(column) == id => value.id(&mut digits),
            Some(value) => value.label(),
        };
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
    labels.find_ids(wanted, notes)?;
    Ok(labels)
}

/// Features, single precision where every column of numbers is, and categories.
pub(crate) fn features(
    mut source: impl Columnar,
    wanted: &Wanted,
    observer: &dyn Observer,
    notes: &mut Vec<String>,
) -> Result<DataTable> {
    let roles = wanted.feature_roles(&source.names(), notes)?;
    let roles = choose(&mut source, roles, Role::Value)?;
    let mut numbers = (0..roles.len()).filter(|&c| roles[c] == Role::Value);
    if numbers.all(|c| source.kind(c) == Kind::Single) {
        // Exact: these doubles came from floats.
        let make = |table| FeatureTable::F32(table);
        data(&mut source, &roles, wanted.missing, observer, notes, |x| x as f32, make)
    } else {
        data(&mut source, &roles, wanted.missing, observer, notes, |x| x, FeatureTable::F64)
    }
}

fn data<F: Clone>(
    source: &mut impl Columnar,
    roles: &[Role],
    may_miss: bool,
    observer: &dyn Observer,
    notes: &mut Vec<String>,
    convert: impl Fn(f64) -> F,
    make: impl Fn(Array2<F>) -> FeatureTable,
) -> Result<DataTable> {
    let names = source.names();
    let mut rows = Rows::new(source, roles, convert)?;
    source.read(observer, |row, column, value| rows.push(row, column, value))?;
    rows.check(may_miss, &names, notes)?;
    rows.finish(source.n_rows(), &names, make)
}

/// Features while they are read.
struct Rows<'r, F, C> {
    roles: &'r [Role],
    /// Where each column goes among those of its role.
    places: Vec<usize>,
    /// Columns of numbers.
    width: usize,
    values: Vec<F>,
    convert: C,
    labels: LabelColumns,
    ids: LabelColumns,
    defects: Defects,
    /// The text of a first column that may be one of ids.
    maybe: Defects,
    /// The digits of a category.
    text: String,
}

impl<'r, F: Clone, C: Fn(f64) -> F> Rows<'r, F, C> {
    fn new(source: &impl Columnar, roles: &'r [Role], convert: C) -> Result<Self> {
        let (rows, names, allowance) = (source.n_rows(), source.names(), source.allowance());
        let mut places = vec![0; roles.len()];
        for role in [Role::Value, Role::Category] {
            of(roles, role).enumerate().for_each(|(place, c)| places[c] = place);
        }
        let width = of(roles, Role::Value).count();
        let mut values: Vec<F> = allowance.room(rows.saturating_mul(width))?;
        values.resize(rows * width, convert(f64::NAN));
        let categories = of(roles, Role::Category).map(|c| names[c].clone()).collect();
        Ok(Rows {
            roles,
            places,
            width,
            values,
            convert,
            labels: LabelColumns::new(categories, allowance)?,
            ids: LabelColumns::new(vec![String::new()], allowance)?,
            defects: Defects::new(roles.len()),
            maybe: Defects::new(1),
            text: String::new(),
        })
    }

    fn push(&mut self, row: usize, column: usize, value: Option<Value<'_>>) -> Result<()> {
        match self.roles[column] {
            Role::Value => {
                let place = || format!("row {row}");
                let number = match value {
                    Some(Value::Int(x)) => x as f64,
                    Some(Value::Unsigned(x)) => x as f64,
                    Some(Value::Float(x)) => x,
                    Some(Value::Text(text)) => {
                        self.defects.text(column, text, place);
                        return Ok(());
                    }
                    Some(Value::Bytes) => return Err(at(row, column, NO_TEXT)),
                    None => f64::NAN,
                };
                if number.is_nan() {
                    self.defects.missing(column, place);
                }
                self.values[row * self.width + self.places[column]] = (self.convert)(number);
                Ok(())
            }
            Role::Category => {
                let text = &mut self.text;
                let label = value.map_or(Ok(Label::None), |value| value.category(text));
                let label = label.map_err(|what| at(row, column, what))?;
                self.labels.columns[self.places[column]].push_label(label)
            }
            _ => {
                if let (Role::Maybe, Some(Value::Text(text))) = (self.roles[column], value) {
                    // Where some text is there twice these are told as no numbers.
                    self.maybe.text(0, text, || format!("row {row}"));
                }
                let text = &mut self.text;
                let label = value.map_or(Ok(Label::None), |value| value.id(text));
                self.ids.columns[0].push_label(label.map_err(|what| at(row, column, what))?)
            }
        }
    }

    /// Refuses text and, unless they may be there, holes among the numbers.
    fn check(&mut self, may_miss: bool, names: &[String], notes: &mut Vec<String>) -> Result<()> {
        if let Some(id) = of(self.roles, Role::Maybe).next() {
            if self.ids.columns[0].is_ids() {
                notes.push(unique_text(&names[id]));
            } else {
                self.defects.take(id, &self.maybe, 0);
            }
        }
        self.defects.check(may_miss, |c| format!("column {:?}", excerpt(&names[c])))
    }

    fn finish(
        mut self,
        rows: usize,
        names: &[String],
        make: impl Fn(Array2<F>) -> FeatureTable,
    ) -> Result<DataTable> {
        let is_id = |role: &Role| matches!(role, Role::Id | Role::Maybe);
        let ids = self.ids.columns.pop().filter(|_| self.roles.iter().any(is_id));
        let table = Array2::from_shape_vec((rows, self.width), self.values);
        let table = table.map_err(|e| malformed(e.to_string()))?;
        let categories = !self.labels.names.is_empty();
        Ok(DataTable {
            rows,
            numbers: (self.width > 0).then(|| make(table)),
            names: of(self.roles, Role::Value).map(|c| names[c].clone()).collect(),
            categories: categories.then(|| self.labels.into_table()).transpose()?,
            ids: ids.map(|column| column.into_texts()?.into_ids()).transpose()?,
        })
    }
}

/// The columns of a role.
fn of(roles: &[Role], role: Role) -> impl Iterator<Item = usize> + '_ {
    (0..roles.len()).filter(move |&c| roles[c] == role)
}
