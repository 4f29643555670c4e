//! Tables that hand out their values column by column, with a type for each column: what labels,
//! features, categories and ids they hold. Parquet and Arrow differ below this only.

use consilience_core::{Observer, Result};
use ndarray::Array2;

use crate::allowance::Allowance;
use crate::data_table::DataTable;
use crate::defects::Defects;
use crate::fault::{check_not_empty, ensure_format, excerpt, malformed};
use crate::features::FeatureTable;
use crate::front::Front;
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

/// A column of a file.
pub(crate) struct Column {
    pub(crate) name: String,
    /// Position in the file.
    pub(crate) index: usize,
    pub(crate) kind: Kind,
    /// Why it cannot be read.
    pub(crate) refused: Option<String>,
}

/// What the description of a table says, and the columns of it that are wanted.
pub(crate) struct Head {
    pub(crate) columns: Vec<Column>,
    pub(crate) rows: usize,
    pub(crate) allowance: Allowance,
}

impl Head {
    pub(crate) fn new(columns: Vec<Column>, rows: usize, allowance: Allowance) -> Result<Self> {
        check_not_empty(rows, columns.len())?;
        Ok(Head { columns, rows, allowance })
    }

    fn names(&self) -> Vec<String> {
        self.columns.iter().map(|column| column.name.clone()).collect()
    }

    /// Leaves out the columns without a role; an error where one that stays cannot be read.
    fn keep(&mut self, roles: &[Role]) -> Result<()> {
        let mut roles = roles.iter();
        self.columns.retain(|_| roles.next() != Some(&Role::Skip));
        match self.columns.iter().find_map(|column| column.refused.as_ref()) {
            Some(refused) => Err(malformed(refused.clone())),
            None => Ok(()),
        }
    }

    /// Refuses a file of which fewer rows are there than it says.
    pub(crate) fn check_whole(&self, read: usize) -> Result<()> {
        ensure_format!(read == self.rows, "truncated: {read} of {} rows", self.rows);
        Ok(())
    }
}

/// A table of columns.
pub(crate) trait Columnar {
    fn head(&mut self) -> &mut Head;
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
    let name = excerpt(name);
    format!(
        "column {name:?} holds {what}; expected whole numbers, floats or text, or the column to be \
         dropped"
    )
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

/// Leaves out the columns that are not wanted; what the others are, and where they lie.
fn choose(head: &mut Head, mut roles: Vec<Role>) -> Result<(Vec<Role>, Front)> {
    let id = roles.iter().position(|role| role.is_id());
    let values: Vec<usize> = of(&roles, Role::Value).collect();
    head.keep(&roles)?;
    roles.retain(|&role| role != Role::Skip);
    Ok((roles, Front::of(id, &values)))
}

/// Label columns.
pub(crate) fn labels(
    mut source: impl Columnar,
    wanted: &Wanted,
    observer: &dyn Observer,
    notes: &mut Vec<String>,
) -> Result<LabelColumns> {
    let head = source.head();
    let mut roles = wanted.roles(&head.names(), notes)?;
    let maybe = roles.first() == Some(&Role::Maybe);
    // Of values that cannot be read nothing was asked.
    let may = maybe && head.columns[0].refused.is_none();
    if maybe {
        roles[0] = if may { Role::Value } else { Role::Skip };
    }
    let (roles, front) = choose(head, roles)?;
    let id = roles.iter().position(|role| role.is_id());
    // One byte per label at least.
    head.allowance.expect(head.rows, roles.len(), 1)?;
    let mut labels = LabelColumns::new(head.names(), &head.allowance)?;
    let mut digits = String::new();
    source.read(observer, |row, column, value| {
        let found = match value {
            None => Ok(Label::None),
            Some(value) if Some(column) == id => value.id(&mut digits),
            // What is no label is none of the ids either.
            Some(value) if may && column == 0 => Ok(value.label().unwrap_or(Label::None)),
            Some(value) => value.label(),
        };
        labels.columns[column].push_label(found.map_err(|what| at(row, column, what))?)
    })?;
    if let Some(id) = id {
        labels.names.remove(id);
        labels.ids = Some(labels.columns.remove(id).into_texts()?);
    }
    labels.find_ids(wanted, front, may, notes)?;
    Ok(labels)
}

/// Features, single precision where every column of numbers is, and categories.
pub(crate) fn features(
    mut source: impl Columnar,
    wanted: &Wanted,
    observer: &dyn Observer,
    notes: &mut Vec<String>,
) -> Result<DataTable> {
    let head = source.head();
    let mut roles = wanted.feature_roles(&head.names(), notes)?;
    // Only text is taken for ids without being named so.
    if roles[0] == Role::Maybe && head.columns[0].kind != Kind::Text {
        roles[0] = Role::Value;
    }
    let (roles, front) = choose(head, roles)?;
    let (may_miss, roles) = (wanted.missing, &roles[..]);
    let table = if of(roles, Role::Value).all(|c| head.columns[c].kind == Kind::Single) {
        // Exact: these doubles came from floats.
        let make = |table| FeatureTable::F32(table);
        data(&mut source, roles, may_miss, observer, notes, |x| x as f32, make)
    } else {
        data(&mut source, roles, may_miss, observer, notes, |x| x, FeatureTable::F64)
    };
    Ok(table?.placed(front))
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
    let head = source.head();
    let (names, n_rows) = (head.names(), head.rows);
    let mut rows = Rows::new(head, roles, convert)?;
    source.read(observer, |row, column, value| rows.push(row, column, value))?;
    rows.check(may_miss, &names, notes)?;
    rows.finish(n_rows, &names, make)
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
    fn new(head: &Head, roles: &'r [Role], convert: C) -> Result<Self> {
        let mut places = vec![0; roles.len()];
        for role in [Role::Value, Role::Category] {
            of(roles, role).enumerate().for_each(|(place, c)| places[c] = place);
        }
        let width = of(roles, Role::Value).count();
        let mut values: Vec<F> = head.allowance.room(head.rows.saturating_mul(width))?;
        values.resize(head.rows * width, convert(f64::NAN));
        let categories = of(roles, Role::Category).map(|c| head.columns[c].name.clone()).collect();
        Ok(Rows {
            roles,
            places,
            width,
            values,
            convert,
            labels: LabelColumns::new(categories, &head.allowance)?,
            ids: LabelColumns::new(vec![String::new()], &head.allowance)?,
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
        let ids = self.ids.columns.pop().filter(|_| self.roles.iter().any(|role| role.is_id()));
        let ids = ids.map(|column| column.into_texts()?.into_ids()).transpose()?;
        let table = Array2::from_shape_vec((rows, self.width), self.values);
        let table = table.map_err(|e| malformed(e.to_string()))?;
        let names = of(self.roles, Role::Value).map(|c| names[c].clone()).collect();
        DataTable::new(rows, make(table), names, self.labels, ids)
    }
}

/// The columns of a role.
fn of(roles: &[Role], role: Role) -> impl Iterator<Item = usize> + '_ {
    (0..roles.len()).filter(move |&c| roles[c] == role)
}
