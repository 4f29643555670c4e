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
use crate::ids::Texts;
use crate::label::{Label, category, label, number_category};
use crate::roles::{Role, Wanted, unique_text};
use crate::table::{Cell, LabelColumn, LabelColumns, at};

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
    /// The index of the rows, where it has no name: no column of the table, but what pandas keeps
    /// of how its rows are called.
    index: Option<Column>,
    pub(crate) rows: usize,
    pub(crate) allowance: Allowance,
}

impl Head {
    /// `pandas` is what that wrote of the table: its index comes last in a file, and first here, as
    /// in text.
    pub(crate) fn new(
        mut columns: Vec<Column>,
        pandas: Option<&str>,
        rows: usize,
        allowance: Allowance,
    ) -> Result<Self> {
        let pandas: serde_json::Value =
            pandas.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
        let names = index_names(&pandas);
        let durations = durations(&pandas);
        for column in columns.iter_mut().filter(|column| durations.contains(&column.name.as_str()))
        {
            column.refused.get_or_insert_with(|| refused(&column.name, "Duration values"));
        }
        // Stable: all others stay in their order.
        columns.sort_by_key(|column| !names.contains(&column.name.as_str()));
        let (mut nameless, columns): (Vec<_>, Vec<_>) =
            columns.into_iter().partition(|column| column.name.starts_with(INDEX));
        check_not_empty(rows, columns.len())?;
        // Of several no one tells the rows apart.
        let index = nameless.pop().filter(|index| nameless.is_empty() && index.refused.is_none());
        Ok(Head { columns, index, rows, allowance })
    }

    /// Puts an index without a name in front of the columns, whose roles are given, unless there
    /// are ids among these.
    fn take_index(&mut self, roles: &mut Vec<Role>) {
        let Some(index) = self.index.take().filter(|_| !roles.contains(&Role::Id)) else { return };
        self.columns.insert(0, index);
        roles.insert(0, Role::Index);
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
const INDEX: &str = "__index_level_";

/// The names of the columns that are an index, from what pandas wrote of a table; an index that
/// only counts has no column.
fn index_names(pandas: &serde_json::Value) -> Vec<&str> {
    pandas["index_columns"].as_array().into_iter().flatten().filter_map(|n| n.as_str()).collect()
}

/// The names of the columns that hold durations, which are plain numbers in a Parquet file.
fn durations(pandas: &serde_json::Value) -> Vec<&str> {
    let is_one = |column: &&serde_json::Value| {
        column["numpy_type"].as_str().is_some_and(|kind| kind.starts_with("timedelta"))
    };
    let columns = pandas["columns"].as_array().into_iter().flatten();
    columns.filter(is_one).filter_map(|column| column["field_name"].as_str()).collect()
}

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

/// The ids that an index without a name gives, where it tells the rows apart.
fn ids_of_index(index: LabelColumn, notes: &mut Vec<String>) -> Result<Option<Texts>> {
    let counts = index.numbers_apart().is_some();
    let texts = index.into_texts()?;
    if !texts.are_ids()? {
        notes.push("the index of the rows was left out: it has the same twice, or nothing".into());
        return Ok(None);
    }
    notes.push("the index of the rows was read as the ids of the objects".into());
    Ok(Some(if counts { texts.into_row_numbers() } else { texts }))
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
    if !wanted.by_name_alone {
        head.take_index(&mut roles);
    }
    let may_at = usize::from(roles[0] == Role::Index);
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
            Some(value) if may && column == may_at => Ok(value.label().unwrap_or(Label::None)),
            Some(value) => value.label(),
        };
        labels.columns[column].push_label(found.map_err(|what| at(row, column, what))?)
    })?;
    let mut index = None;
    if let Some(id) = id {
        labels.names.remove(id);
        let column = labels.columns.remove(id);
        if roles[id] == Role::Index {
            index = Some(column);
        } else {
            labels.ids = Some(column.into_texts()?);
        }
    }
    labels.find_ids(wanted, front, may, notes)?;
    if let Some(index) = index.filter(|_| labels.ids.is_none()) {
        labels.ids = ids_of_index(index, notes)?;
    }
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
    // Text in front is what the objects are called.
    if roles[0] != Role::Maybe {
        head.take_index(&mut roles);
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
    rows.finish(n_rows, &names, notes, make)
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
        notes: &mut Vec<String>,
        make: impl Fn(Array2<F>) -> FeatureTable,
    ) -> Result<DataTable> {
        let ids = self.ids.columns.pop().filter(|_| self.roles.iter().any(|role| role.is_id()));
        let texts = match ids {
            Some(index) if self.roles[0] == Role::Index => ids_of_index(index, notes)?,
            other => other.map(LabelColumn::into_texts).transpose()?,
        };
        let ids = texts.map(Texts::into_ids).transpose()?;
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
