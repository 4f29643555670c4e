//! Columns that count the rows of a table. Programs write them in front of it without being asked;
//! as features they would drown the others.

use consilience_core::Result;
use ndarray::Array2;
use rustc_hash::FxHashSet;

use crate::allowance::{Allowance, bytes_of, no_room};
use crate::data_table::DataTable;
use crate::fault::{excerpt, malformed};
use crate::features::FeatureTable;
use crate::ids::Texts;
use crate::label::EXACT;
use crate::roles::are_numbered;

/// What programs call a column of row numbers, beside no name at all.
const NAMES: [&str; 9] =
    ["index", "row", "rownames", "row.names", "row_names", "row_nr", "level_0", "...1", "X"];

/// Rows from which on it is no chance that a column counts them.
const ENOUGH: usize = 3;

/// Whether a column has no name, or the one that pandas gives to such a column.
fn unnamed(name: &str) -> bool {
    let number = name.strip_prefix("Unnamed: ");
    name.is_empty() || number.is_some_and(|number| number.parse::<usize>().is_ok())
}

fn usual(name: &str) -> bool {
    // x is a feature more often than not.
    NAMES.iter().any(|usual| name == *usual || (name.eq_ignore_ascii_case(usual) && name != "x"))
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

/// Whether values are whole numbers, no two alike, as the rows of a part of a table have them.
fn distinct(
    values: impl Iterator<Item = f64>,
    count: usize,
    allowance: &Allowance,
) -> Result<bool> {
    let bytes = bytes_of::<(u64, u64)>(count);
    allowance.take(bytes)?;
    let mut seen = FxHashSet::default();
    seen.try_reserve(count).map_err(|_| no_room::<u64>(count))?;
    let mut whole =
        values.map(|value| (value.fract() == 0.0 && (0.0..EXACT).contains(&value), value));
    let found = whole.all(|(whole, value)| whole && seen.insert(value as u64));
    allowance.give_back(bytes);
    Ok(found)
}

impl DataTable {
    /// The same where columns in front that count the rows are no features: the first gives the
    /// ids, where the table has none; behind ids only what has no name is taken for more of them.
    /// `known` are columns of other objects, which stay what they are. Other columns that count the
    /// rows stay, which a note asks about.
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
                self.ids = Some(numbers.into_ids()?);
                "was read as the ids of the objects"
            } else {
                "was left out"
            };
            let name = self.names.remove(0);
            self.numbers = match self.numbers.take() {
                _ if self.names.is_empty() => None,
                Some(FeatureTable::F32(x)) => Some(FeatureTable::F32(without_first(x)?)),
                Some(FeatureTable::F64(x)) => Some(FeatureTable::F64(without_first(x)?)),
                other => other,
            };
            let called = match name.as_str() {
                "" => "without a name".to_owned(),
                name => format!("called {}", excerpt(name)),
            };
            notes.push(format!(
                "a column of row numbers {called} {read}; to keep it as a feature give it another \
                 name"
            ));
        }
        self.ask_about_row_numbers(known, notes);
        Ok(self)
    }

    fn column(&self, c: usize) -> Option<Box<dyn Iterator<Item = f64> + '_>> {
        match self.numbers.as_ref()? {
            FeatureTable::F32(x) => Some(Box::new(x.column(c).into_iter().map(|&x| f64::from(x)))),
            FeatureTable::F64(x) => Some(Box::new(x.column(c).into_iter().copied())),
            _ => None,
        }
    }

    fn starts_with_row_numbers(&self, known: &[String], allowance: &Allowance) -> Result<bool> {
        let Some(name) = self.names.first().map(|name| name.trim()) else { return Ok(false) };
        let alone = self.names.len() == 1 && self.categories.is_none();
        // As many as are known of others: all are features.
        let all_known = self.names.len() == known.len() || is_known(name, known);
        let (unnamed, usual) = (unnamed(name), usual(name) && self.ids.is_none());
        if alone || all_known || are_numbered(&self.names) || !(unnamed || usual) {
            return Ok(false);
        }
        let column = || self.column(0).into_iter().flatten();
        // Of a part of a table the rows are not in order.
        let part = unnamed || (!known.is_empty() && self.names.len() == known.len() + 1);
        if part {
            return distinct(column(), self.rows, allowance);
        }
        Ok(self.rows >= ENOUGH && consecutive(column()))
    }

    /// Notes columns of numbers that count the rows, as far as they are not known from others.
    fn ask_about_row_numbers(&self, known: &[String], notes: &mut Vec<String>) {
        if self.rows < ENOUGH || self.names.len() < 2 {
            return;
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

fn is_known(name: &str, known: &[String]) -> bool {
    known.iter().any(|known| known.trim().eq_ignore_ascii_case(name.trim()))
}

#[cfg(test)]
mod tests {
    use consilience_core::Fit;

    use super::*;
    use crate::{Format, Input};

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
        // Some rows of a table.
        assert_eq!(ids(&read(",a\n17,2.5\n3,4.5\n").output), ["17", "3"]);
        assert!(ids(&read(",a\n17,2.5\n17,4.5\n").output).is_empty());
        for kept in ["index,a\n17,2.5\n3,4.5\n", "X,Y\n1,5\n", "X,Y\n0,5\n1,2\n"] {
            assert!(ids(&read(kept).output).is_empty(), "{kept}");
        }
        let text = "index,colour\n100,red\n501,blue\n7,red\n";
        let input = Input::in_memory(text.as_bytes(), Format::Csv).categorical(["colour"]);
        assert!(ids(&input.data_table(&()).unwrap().output).is_empty());
        // Behind the ids a name is a name.
        let table = read("id,X,Y\na,0,2.5\nb,1,4.5\nc,2,1.5\n").output;
        assert_eq!((table.number_names().join(" "), ids(&table)[0]), ("X Y".to_owned(), "a"));
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
