//! Columns that count the rows of a table. Programs write them in front of it without being asked;
//! as features they would drown the others, as labels put every object apart.

use consilience_core::Result;
use ndarray::Array2;
use rustc_hash::FxHashSet;

use crate::allowance::{Allowance, bytes_of, no_room};
use crate::data_table::DataTable;
use crate::fault::{excerpt, malformed};
use crate::features::FeatureTable;
use crate::front::Front;
use crate::ids::Texts;
use crate::label::{EXACT, number, says_nothing};
use crate::roles::{Wanted, are_numbered, unique_text};
use crate::table::{LabelColumn, LabelColumns};

/// What programs call a column of row numbers, beside no name at all.
const NAMES: [&str; 9] =
    ["index", "row", "rownames", "row.names", "row_names", "row_nr", "level_0", "...1", "X"];

/// Rows from which on it is no chance that a column counts them.
pub(crate) const ENOUGH: usize = 3;

/// Whole numbers that as names of columns are years more often than not.
pub(crate) const YEARS: std::ops::Range<f64> = 1000.0..3000.0;

/// Whether a name is the one that pandas gives to a first column without one, also where it was
/// read and written more than once: `Unnamed: 0.1`.
fn unnamed_first(name: &str) -> bool {
    let again = |times: &str| times.split('.').all(|time| time.parse::<usize>().is_ok());
    name.strip_prefix("Unnamed: 0")
        .is_some_and(|rest| rest.is_empty() || rest.strip_prefix('.').is_some_and(again))
}

fn usual(name: &str) -> bool {
    // x is a feature more often than not.
    NAMES.iter().any(|usual| name == *usual || (name.eq_ignore_ascii_case(usual) && name != "x"))
}

/// What the names of columns say of the first one.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Told {
    /// That it is like the others.
    Nothing,
    /// That it has row numbers if it counts the rows, in any order.
    IfItCounts,
    /// That it has row numbers if these are numbers, also of some rows of a table.
    IfApart,
}

/// What the name says of the first column, which may stand `behind` ids. Row numbers in front of it
/// are no such: a table that was written and read and written again has several.
fn told(names: &[String], behind: bool, known: &[String]) -> Told {
    let Some(name) = names.first().map(|name| name.trim()) else { return Told::Nothing };
    // As many as are known of others: all are what they are there.
    if names.len() == known.len() || is_known(name, known) || are_numbered(names) {
        return Told::Nothing;
    }
    let of_pandas = unnamed_first(name);
    if of_pandas || (name.is_empty() && !behind) {
        let nameless = |name: &String| name.is_empty() || name.starts_with("Unnamed: ");
        // A sheet without names at all.
        let all = names.len() > 1 && names.iter().all(nameless);
        return if all { Told::IfItCounts } else { Told::IfApart };
    }
    match usual(name) && !behind {
        true if !known.is_empty() && names.len() == known.len() + 1 => Told::IfApart,
        true => Told::IfItCounts,
        false => Told::Nothing,
    }
}

/// What a note calls a column of row numbers.
fn called(name: &str) -> String {
    match name {
        "" => "without a name".to_owned(),
        name => format!("called {}", excerpt(name)),
    }
}

/// A table without its first column.
fn without_first<F: Copy>(table: Array2<F>) -> Result<Array2<F>> {
    let (n, d) = table.dim();
    // Where the values lie one row behind the other no second table is made.
    let mut values = match table.is_standard_layout() {
        true => table.into_raw_vec_and_offset().0,
        false => table.iter().copied().collect(),
    };
    let mut at = 0;
    values.retain(|_| {
        at += 1;
        (at - 1) % d != 0
    });
    Array2::from_shape_vec((n, d - 1), values).map_err(|e| malformed(e.to_string()))
}

/// Whether values are whole numbers one after the other, from 0 or 1.
fn consecutive(mut values: impl Iterator<Item = f64>) -> bool {
    let first = values.next();
    first.is_some_and(|first| {
        (first == 0.0 || first == 1.0)
            && values.enumerate().all(|(i, value)| value == first + (i + 1) as f64)
    })
}

/// Whether values are all whole numbers from 0 or 1 on, in any order: rows may have been shuffled.
fn counts<I: Iterator<Item = f64>>(
    values: impl Fn() -> I,
    count: usize,
    allowance: &Allowance,
) -> Result<bool> {
    let first = values().fold(f64::INFINITY, f64::min);
    let last = values().fold(f64::NEG_INFINITY, f64::max);
    let span = count >= ENOUGH && (first == 0.0 || first == 1.0);
    Ok(span && last - first == (count - 1) as f64 && are_apart(values, count, allowance)?)
}

/// As [`counts`], of numbers no two of which are alike.
fn count_apart(numbers: &[u64]) -> bool {
    let (first, last) = (numbers.iter().min(), numbers.iter().max());
    let span = |(first, last): (&u64, &u64)| {
        *first <= 1 && last.saturating_sub(*first) == numbers.len() as u64 - 1
    };
    numbers.len() >= ENOUGH && first.zip(last).is_some_and(span)
}

/// Whether values are whole numbers, no two alike, as the rows of a part of a table have them.
fn are_apart<I: Iterator<Item = f64>>(
    values: impl Fn() -> I,
    count: usize,
    allowance: &Allowance,
) -> Result<bool> {
    if !values().all(|value| value.fract() == 0.0 && (0.0..EXACT).contains(&value)) {
        return Ok(false);
    }
    let bytes = bytes_of::<(u64, u64)>(count);
    allowance.take(bytes)?;
    let mut seen = FxHashSet::default();
    seen.try_reserve(count).map_err(|_| no_room::<u64>(count))?;
    let apart = values().all(|value| seen.insert(value as u64));
    allowance.give_back(bytes);
    Ok(apart)
}

impl DataTable {
    /// The same where columns of row numbers are no features: the first gives the ids, where the
    /// table has none. `known` are columns of other objects, which stay what they are. Other
    /// columns that count the rows stay, which a note asks about.
    pub(crate) fn without_row_numbers(
        mut self,
        known: &[String],
        allowance: &Allowance,
        notes: &mut Vec<String>,
    ) -> Result<Self> {
        while self.starts_with_row_numbers(known, allowance)? {
            let read = if self.ids.is_none() {
                let mut numbers = Texts::default();
                for x in self.column(0).into_iter().flatten() {
                    numbers.push(&(x as u64).to_string(), allowance)?;
                }
                self.ids = Some(numbers.into_row_numbers().into_ids()?);
                "was read as the ids of the objects"
            } else {
                "was left out"
            };
            let name = self.names.remove(0);
            self.front = self.front.next(false);
            self.numbers = match self.numbers.take() {
                _ if self.names.is_empty() => None,
                Some(FeatureTable::F32(x)) => Some(FeatureTable::F32(without_first(x)?)),
                Some(FeatureTable::F64(x)) => Some(FeatureTable::F64(without_first(x)?)),
                other => other,
            };
            notes.push(format!(
                "a column of row numbers {} {read}; to keep it as a feature give it another name",
                called(&name)
            ));
        }
        self.ask_about_row_numbers(known, notes);
        Ok(self)
    }

    /// Whether the first column is one of row numbers, by its name and by what it holds.
    fn starts_with_row_numbers(&self, known: &[String], allowance: &Allowance) -> Result<bool> {
        let alone = self.names.len() == 1 && self.categories.is_none();
        if alone || !self.front.leads() {
            return Ok(false);
        }
        let values = || self.column(0).into_iter().flatten();
        match told(&self.names, self.front.behind_ids(), known) {
            Told::Nothing => Ok(false),
            Told::IfItCounts => counts(values, self.rows, allowance),
            Told::IfApart => are_apart(values, self.rows, allowance),
        }
    }

    fn column(&self, c: usize) -> Option<Box<dyn Iterator<Item = f64> + '_>> {
        match self.numbers.as_ref()? {
            FeatureTable::F32(x) => Some(Box::new(x.column(c).into_iter().map(|&x| f64::from(x)))),
            FeatureTable::F64(x) => Some(Box::new(x.column(c).into_iter().copied())),
            _ => None,
        }
    }

    /// Notes columns of numbers that count the rows, as far as they are not known from others.
    fn ask_about_row_numbers(&self, known: &[String], notes: &mut Vec<String>) {
        if self.rows < ENOUGH || self.names.len() < 2 {
            return;
        }
        let index = told(&self.names, self.front.behind_ids(), known) == Told::IfApart;
        if index && self.front.leads() && self.column(0).is_some() {
            notes.push(format!(
                "a column {} is a feature, as its numbers do not tell the rows apart: is it an \
                 index? Drop it if so",
                called(&self.names[0])
            ));
        }
        // Without a header only the first is one: this is where programs put them.
        let columns = if are_numbered(&self.names) { 1 } else { self.names.len() };
        for (c, name) in self.names[..columns].iter().enumerate() {
            // Few columns do: the names that are known need not be looked through for the others.
            if self.column(c).is_some_and(consecutive) && !is_known(name, known) {
                let name = excerpt(name);
                notes.push(format!(
                    "column {name} counts the rows: is it a row number? Drop it if so: as a \
                     feature it would count as the others do"
                ));
            }
        }
    }
}

impl LabelColumns {
    /// Takes a first column of unique text, or of row numbers, for ids, where there are none yet
    /// and other columns follow; further columns of row numbers are left out: as clusterings they
    /// would put every object apart. A first column that `may` be one of ids and is none goes: it
    /// is not wanted for anything else.
    pub(crate) fn find_ids(
        &mut self,
        wanted: &Wanted,
        mut front: Front,
        may: bool,
        notes: &mut Vec<String>,
    ) -> Result<()> {
        let columns = self.columns.len();
        if self.starts_with_unique_text(wanted) {
            notes.push(unique_text(&self.names[0]));
            self.ids = Some(self.remove_first().1.into_texts()?);
            front = front.next(true);
        }
        while front.leads() && self.starts_with_row_numbers(wanted, front.behind_ids()) {
            let (name, column) = self.remove_first();
            front = front.next(false);
            let read = if self.ids.is_none() {
                self.ids = Some(column.into_texts()?.into_row_numbers());
                "was read as the ids of the objects"
            } else {
                "was left out"
            };
            notes.push(format!("a column of row numbers {} {read}", called(&name)));
        }
        if may && self.columns.len() == columns {
            self.remove_first();
        }
        Ok(())
    }

    fn remove_first(&mut self) -> (String, LabelColumn) {
        (self.names.remove(0), self.columns.remove(0))
    }

    fn starts_with_unique_text(&self, wanted: &Wanted) -> bool {
        self.ids.is_none()
            && !wanted.by_name_alone
            && !wanted.columns.iter().any(|name| Some(name) == self.names.first())
            && self.columns.len() > 1
            && self.columns[0].is_ids()
    }

    fn starts_with_row_numbers(&self, wanted: &Wanted, behind: bool) -> bool {
        let told = told(&self.names, behind, &wanted.known);
        if told == Told::Nothing
            || self.columns.len() < 2
            || is_known(self.names[0].trim(), &wanted.columns)
        {
            return false;
        }
        self.columns[0]
            .numbers_apart()
            .is_some_and(|numbers| told == Told::IfApart || count_apart(numbers))
    }
}

/// Whether a first row without text, the first cell of which is empty, is a header: what programs
/// write where columns are called by numbers, in front of them those of the rows, which have no
/// name. The first column holds one name for each row below then, and these count the rows unless
/// the names of the others are such as a program gives, or years.
pub(crate) fn is_header_of_numbers(
    header: &[f64],
    below: &Texts,
    allowance: &Allowance,
) -> Result<bool> {
    let cells = || below.iter().map(|cell| number(cell.as_bytes()));
    if cells().any(|cell| cell.is_none()) {
        return Ok(!below.iter().any(says_nothing) && below.are_ids()?);
    }
    let values = || cells().flatten();
    let years = header.iter().all(|year| YEARS.contains(year)) && header.is_sorted_by(|a, b| a < b);
    let in_order = header.iter().enumerate().all(|(c, &name)| name == c as f64);
    let counted = below.len() >= ENOUGH && consecutive(values());
    Ok((years || in_order || counted) && are_apart(values, below.len(), allowance)?)
}

fn is_known(name: &str, known: &[String]) -> bool {
    known.iter().any(|known| known.trim().eq_ignore_ascii_case(name.trim()))
}

#[cfg(test)]
mod tests {
    use consilience_core::Fit;

    use super::*;
    use crate::{Format, Input, ObjectIds};

    fn read(text: &str) -> Fit<DataTable> {
        Input::in_memory(text.as_bytes(), Format::Csv).data_table(&()).unwrap()
    }

    fn ids(table: &DataTable) -> Vec<&str> {
        table.ids().map_or(Vec::new(), |ids| ids.iter().collect())
    }

    #[test]
    fn what_programs_write_in_front_of_a_table_are_its_ids() {
        for head in ["", "\"\"", "Unnamed: 0", "index", "Index", "row", "rownames", "X", "...1"] {
            for from in [0, 1] {
                let row = |i: usize| format!("{},{}.5,{}\n", i + from, i * i, 7 - i);
                let text = format!("{head},a,b\n{}{}{}{}", row(0), row(1), row(2), row(3));
                let Fit { output: table, report, .. } = read(&text);
                assert_eq!(table.number_names(), ["a", "b"], "{head:?}");
                assert_eq!(ids(&table)[0], from.to_string());
                assert_eq!(table.view().unwrap().n_features(), 2);
                assert!(report.notes[0].contains("read as the ids"), "{:?}", report.notes);
                let x = table.into_features().unwrap().into_f64().unwrap();
                assert_eq!(x.row(3).to_vec(), [9.5, 4.0]);
            }
        }
        // pandas writes the names of unnamed columns as numbers, which is no row of features.
        let table = read(",0,1\n0,2.5,3\n1,4.5,1\n2,0.5,9\n").output;
        assert_eq!((table.number_names().join(" "), table.n_objects()), ("0 1".to_owned(), 3));
        assert_eq!(ids(&table), ["0", "1", "2"]);
        // Written and read twice.
        let table = read(",Unnamed: 0,a,b\n0,0,2.5,1\n1,1,4.5,7\n2,2,0.5,7\n").output;
        assert_eq!((table.number_names().join(" "), ids(&table).len()), ("a b".to_owned(), 3));
        // So does pandas, which tells the two apart.
        let table = read("Unnamed: 0.1,Unnamed: 0,a,b\n7,5,2.5,1\n1,8,4.5,7\n2,2,0.5,7\n").output;
        assert_eq!(
            (table.number_names().join(" "), ids(&table)),
            ("a b".into(), vec!["7", "1", "2"])
        );
        // A series, years, and text in front of both.
        for (text, names) in [
            (",0\n0,2.5\n1,4.5\n2,0.5\n", "0"),
            (",2019,2020\n5,2.5,1\n7,4.5,1\n2,0.5,1\n", "2019 2020"),
            (",2019\np5,2.5\np7,4.5\np2,0.5\n", "2019"),
        ] {
            let table = read(text).output;
            assert_eq!((table.number_names().join(" ").as_str(), ids(&table).len()), (names, 3));
        }
        // Shuffled.
        assert_eq!(ids(&read("index,a\n2,2.5\n0,4.5\n1,0.5\n").output), ["2", "0", "1"]);
        assert!(ids(&read("index,a\n2,2.5\n0,4.5\n2,0.5\n").output).is_empty());
        // Some rows of a table.
        assert_eq!(ids(&read(",a\n17,2.5\n3,4.5\n").output), ["17", "3"]);
        assert!(ids(&read(",a\n17,2.5\n17,4.5\n").output).is_empty());
        let twice = read(",a\n17,2.5\n17,4.5\n18,1.5\n");
        assert_eq!(twice.output.number_names().len(), 2);
        assert!(twice.report.notes[0].contains("is it an index?"), "{:?}", twice.report.notes);
        for kept in ["index,a\n17,2.5\n3,4.5\n", "X,Y\n1,5\n", "X,Y\n0,5\n1,2\n"] {
            assert!(ids(&read(kept).output).is_empty(), "{kept}");
        }
        let text = "index,colour\n100,red\n501,blue\n7,red\n";
        let input = Input::in_memory(text.as_bytes(), Format::Csv).categorical(["colour"]);
        assert!(ids(&input.data_table(&()).unwrap().output).is_empty());
        // A sheet without names, a column of it behind another, and what is not in front.
        let text = "Unnamed: 0,Unnamed: 1\n4100,2\n3900,2\n4700,1\n";
        assert!(ids(&read(text).output).is_empty());
        for text in ["name,Unnamed: 1,a\np,4100,2\nq,3900,2\nr,470,1\n", "id,,a\np,7,2\nq,9,2\n"] {
            let table = read(text).output;
            assert_eq!((table.number_names().len(), ids(&table)[0]), (2, "p"), "{text}");
        }
        let text = "colour,X,Y\nred,0,2\nblue,1,4\nred,2,1\n";
        let input = Input::in_memory(text.as_bytes(), Format::Csv);
        for input in [input.clone().categorical(["colour"]), input.drop(["colour"])] {
            let table = input.data_table(&()).unwrap().output;
            assert_eq!((table.number_names().join(" ").as_str(), table.ids()), ("X Y", None));
        }
        // A value is missing in the first row of a table without a header.
        let holes = Input::in_memory(b",3\n7,4\n7,5\n8,1\n", Format::Csv).missing(true);
        let table = holes.data_table(&()).unwrap().output;
        assert_eq!((table.n_objects(), table.number_names().join(" ").as_str()), (4, "0 1"));
        // Behind the ids a name is a name.
        let table = read("id,X,Y\na,0,2.5\nb,1,4.5\nc,2,1.5\n").output;
        assert_eq!((table.number_names().join(" "), ids(&table)[0]), ("X Y".to_owned(), "a"));
    }

    #[test]
    fn what_programs_write_in_front_of_labels_are_ids() {
        let read = |text: &str| {
            let Fit { output, report, .. } =
                Input::in_memory(text.as_bytes(), Format::Csv).label_table(&()).unwrap();
            let ids: Vec<String> =
                output.ids().map_or(Vec::new(), |ids| ids.iter().map(str::to_owned).collect());
            (output.column_names().join(" "), ids.join(" "), report.notes.len())
        };
        let found = |names: &str, ids: &str| (names.to_owned(), ids.to_owned(), 1);
        for head in ["", "\"\"", "Unnamed: 0", "index", "row.names", "X"] {
            let rows = "1,cat,4\n2,dog,4\n3,cat,2\n";
            assert_eq!(read(&format!("{head},a,b\n{rows}")), found("a b", "1 2 3"), "{head:?}");
        }
        assert_eq!(read(",label\n0,1\n1,0\n"), found("label", "0 1"));
        assert_eq!(read(",a\n17,2\n3,4\n"), found("a", "17 3"));
        assert_eq!(read("index,a\n3,2\n1,4\n2,2\n"), found("a", "3 1 2"));
        // pandas calls unnamed columns by their numbers, which a note of its own says.
        let headed = |names: &str, ids: &str| (names.to_owned(), ids.to_owned(), 2);
        assert_eq!(read(",0,1\n0,2,3\n1,2,1\n2,0,3\n"), headed("0 1", "0 1 2"));
        assert_eq!(read(",0\n0,2\n1,1\n2,2\n"), headed("0", "0 1 2"));
        assert_eq!(read(",0\np,2\nq,1\nr,2\n"), headed("0", "p q r"));
        assert_eq!(read(",0\n4,2\n1,1\n2,2\n"), headed("0", "4 1 2"));
        assert_eq!(read(",0,1,2\n3,2,3,1\n1,2,1,1\n2,0,3,1\n0,0,3,0\n").0, "0 1 2");
        assert_eq!(read(",0,1,2\n0,2,3,1\n1,2,1,1\n"), headed("0 1 2", "0 1"));
        assert_eq!(read(",2019,2020\n7,2,3\n3,2,1\n"), headed("2019 2020", "7 3"));
        for plain in [",3,1\n7,2,3\n3,2,1\n", ",0,1\n2,2,3\n2,2,1\n", ",0,1\n,2,3\n2,2,1\n"] {
            assert_eq!(read(plain), ("0 1 2".to_owned(), String::new(), 0), "{plain}");
        }
        for kept in [
            ",a\n17,2\n17,4\n",
            ",a\n17,2\n,4\n",
            "index,a\n0,2\n1,4\n",
            "index,a\n4,2\n1,4\n2,2\n",
            "m0,a\n0,2\n1,4\n2,4\n",
            "0,1\n1,1\n2,1\n",
            "label\n0\n1\n2\n",
        ] {
            assert_eq!((read(kept).1.as_str(), read(kept).2), ("", 0), "{kept}");
        }
        assert_eq!(read("id,X,Y\na,0,2\nb,1,4\nc,2,1\n"), found("X Y", "a b c"));
        let chosen = Input::in_memory(b"index,a\n0,2\n1,4\n2,2\n", Format::Csv).columns(["index"]);
        let table = chosen.label_table(&()).unwrap().output;
        assert_eq!((table.ids(), table.column_names()), (None, &["index".to_owned()][..]));
    }

    /// Also beside those that are asked for by name, where what is no label counts for nothing.
    #[test]
    fn chosen_labels_keep_their_ids() {
        let read = |text: &str, columns: &[&str]| {
            let input = Input::in_memory(text.as_bytes(), Format::Csv).columns(columns.to_vec());
            let table = input.label_table(&()).unwrap().output;
            let ids: Vec<&str> = table.ids().map_or(Vec::new(), |ids| ids.iter().collect());
            let counted = table.ids().map(ObjectIds::are_row_numbers);
            (table.column_names().join(" "), ids.join(" "), counted)
        };
        let numbers = ("b a".to_owned(), "7 1 2".to_owned(), Some(true));
        assert_eq!(read(",a,b\n7,2,1\n1,2,3\n2,4,1\n", &["b", "a"]), numbers);
        assert_eq!(read(",a,b\n7,2,1\n1,2,3\n2,4,1\n", &["1", "0"]), numbers);
        let texts = ("a".to_owned(), "p q".to_owned(), Some(false));
        assert_eq!(read("x,a,b\np,2,1\nq,2,3\n", &["a"]), texts);
        for other in ["x,a,b\n.5,2,1\n1,2,3\n2,4,1\n", "x,a,b\n0,2,1\n1,2,3\n2,4,1\n"] {
            assert_eq!(read(other, &["a"]), ("a".to_owned(), String::new(), None), "{other}");
        }
    }

    /// Where it is the first of the file, behind ids and behind another.
    #[test]
    fn several_indexes_are_left_out() {
        let read = |text: &str, id: Option<&str>| {
            let mut input = Input::in_memory(text.as_bytes(), Format::Csv);
            if let Some(id) = id {
                input = input.id(id);
            }
            let labels = input.label_table(&()).unwrap().output;
            let table = input.data_table(&()).unwrap().output;
            assert_eq!(table.number_names(), labels.column_names(), "{text}");
            assert_eq!(table.ids(), labels.ids(), "{text}");
            let ids = table.ids().unwrap();
            assert_eq!(ids.are_row_numbers(), labels.ids().unwrap().are_row_numbers(), "{text}");
            (table.number_names().join(" "), ids.get(0).to_owned())
        };
        let found = |id: &str| ("a b".to_owned(), id.to_owned());
        assert_eq!(read(",name,a,b\n5,p,2,3\n1,q,2,1\n", Some("name")), found("p"));
        assert_eq!(read("index,name,a,b\n0,p,2,3\n1,q,2,1\n2,r,4,3\n", Some("name")), found("p"));
        assert_eq!(read(",Unnamed: 0,a,b\n5,9,2,3\n1,8,2,1\n", None), found("5"));
        assert_eq!(read("Unnamed: 0.1,Unnamed: 0,a,b\n5,9,2,3\n1,8,2,1\n", None), found("5"));
        assert_eq!(read(",index,a,b\n5,0,2,3\n1,1,2,1\n7,2,4,1\n", None), found("5"));
        assert_eq!(read("name,Unnamed: 0,a,b\np,9,2,3\nq,8,2,1\n", None), found("p"));
        assert_eq!(read(",name,Unnamed: 0,a,b\n5,p,9,2,3\n1,q,8,2,1\n", Some("name")), found("p"));
        let index = ("a Unnamed: 0".to_owned(), "p".to_owned());
        assert_eq!(read("name,a,Unnamed: 0\np,2,3\nq,2,1\n", None), index);
        assert_eq!(read("id,X,a\np,0,3\nq,1,1\nr,2,1\n", None).0, "X a");
    }

    /// The first row tells that whether or not the index is read.
    #[test]
    fn headers_of_numbers_are_told() {
        let table = |text: &str, drop: &[&str]| {
            let input = Input::in_memory(text.as_bytes(), Format::Csv).drop(drop.to_vec());
            let Fit { output, report, .. } = input.missing(true).data_table(&()).unwrap();
            let told = report.notes.iter().any(|note| note.contains("was read as a header"));
            (output.n_objects(), output.number_names().join(" "), told)
        };
        for text in [",0,1\n0,2.5,1\n1,4.5,7\n2,0.5,2\n", ",2019,2020\n4,2.5,1\n1,4.5,7\n2,.5,2\n"]
        {
            let names = text.split('\n').next().unwrap()[1..].replace(',', " ");
            for drop in [&[][..], &["0"], &[""]] {
                assert_eq!(table(text, drop), (3, names.clone(), true), "{text} {drop:?}");
            }
        }
        // A table without a header and without its first value.
        for text in
            [",3\n7,4\n9,5\n8,1\n", ",0,9\n7,4,1\n9,5,1\n8,1,1\n", ",2020,2019\n7,4,2\n9,5,2\n"]
        {
            let rows = text.lines().count();
            let (found, names, told) = table(text, &[]);
            assert_eq!((found, told), (rows, false), "{text}");
            assert!(names.starts_with("0 1"), "{text}");
        }
        assert_eq!(table(",7,3\n0,4,2\n1,5,2\n2,1,2\n", &[]), (3, "7 3".to_owned(), true));
    }

    #[test]
    fn members_keep_their_columns() {
        let pool = Input::in_memory(b"index,a\n4,0\n0,1\n1,0\n2,1\n", Format::Csv);
        let new = Input::in_memory(b"index,a\n0,1\n1,1\n2,0\n", Format::Csv);
        let (_, rows, ids) = pool.table_and_new(&new, &()).unwrap().output;
        assert_eq!((rows.dim(), ids), ((3, 2), None));
        // Numbers that begin anew are told as such.
        let pool = Input::in_memory(b",a\n0,0\n1,1\n2,0\n", Format::Csv);
        for (new, last) in [(&b",a\n0,1\n1,1\n"[..], "1"), (b",a\n3,1\n4,1\n", "4")] {
            let new = Input::in_memory(new, Format::Csv);
            let (table, rows, ids) = pool.table_and_new(&new, &()).unwrap().output;
            assert_eq!((table.ids().unwrap().get(2), rows.dim()), ("2", (2, 1)));
            let ids = ids.unwrap();
            assert!(ids.get(1) == last && ids.are_row_numbers());
        }
    }

    #[test]
    fn columns_of_other_names_that_count_rows_are_asked_about() {
        let asked = |text: &str| {
            let Fit { output: table, report, .. } = read(text);
            assert!(table.ids().is_none() && table.number_names().len() == 2, "{text:?}");
            report.notes.iter().filter(|note| note.contains("is it a row number?")).count()
        };
        assert_eq!(asked("time,a\n0,2\n1,5\n2,1\n"), 1);
        assert_eq!(asked("a,time\n2,1\n5,2\n1,3\n"), 1);
        assert_eq!(asked("x,y\n1,2\n2,5\n3,1\n"), 1);
        assert_eq!(asked("1,2\n2,5\n3,1\n"), 1);
        assert_eq!(asked("2,1\n5,2\n1,3\n"), 0);
        assert_eq!(asked("time,a\n0,2\n1,5\n"), 0);
        assert_eq!(asked("time,a\n0,2\n2,5\n3,5\n"), 0);
    }

    #[test]
    fn columns_that_are_known_stay_features() {
        let read = |known: &[&str], text: &str| {
            let input =
                Input::in_memory(text.as_bytes(), Format::Csv).known_columns(known.to_vec());
            let table = input.data_table(&()).unwrap().output;
            (table.number_names().join(" "), table.ids().is_some())
        };
        let text = "index,a\n1,2\n2,5\n3,1\n";
        assert_eq!(read(&["a", "index"], text), ("index a".to_owned(), false));
        assert_eq!(read(&["p", "q"], text), ("index a".to_owned(), false));
        assert_eq!(read(&["a"], text), ("a".to_owned(), true));
        // New objects are some rows of a table.
        assert_eq!(read(&["a"], "index,a\n9,2\n7,5\n"), ("a".to_owned(), true));
    }
}
