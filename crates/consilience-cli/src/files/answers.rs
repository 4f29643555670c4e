//! Answers of a crowd: columns `worker,task,item,group`, `worker,task,item,keyword` or
//! `worker,i,j,same`, as CSV with a header or as arrays of those names in an `.npz`.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

use consilience::{Answers, GroupAnswer, KeywordAnswer, PairAnswer};
use csv::ReaderBuilder;
use rustc_hash::FxHashMap;

use super::{Format, npz, reading};
use crate::failure::{Failure, Outcome};
use crate::terminal::Terminal;

/// The forms that answers come in, by their columns.
const FORMS: [(Form, [&str; 4]); 3] = [
    (Form::Groupings, ["worker", "task", "item", "group"]),
    (Form::Keywords, ["worker", "task", "item", "keyword"]),
    (Form::Pairs, ["worker", "i", "j", "same"]),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Groupings,
    Keywords,
    Pairs,
}

/// The answers of a file.
#[derive(Debug)]
pub(crate) struct AnswerTable {
    form: Form,
    rows: Vec<[usize; 4]>,
    /// What the workers are called, where they are not called by numbers.
    names: Vec<String>,
}

impl AnswerTable {
    /// One more than the highest number of an object.
    pub(crate) fn objects(&self) -> usize {
        let highest = |row: &[usize; 4]| match self.form {
            Form::Pairs => row[1].max(row[2]),
            _ => row[2],
        };
        self.rows.iter().map(highest).max().map_or(0, |most| most.saturating_add(1))
    }

    /// The answers, about so many objects; with keywords two are the same that share `shared` of
    /// them.
    pub(crate) fn answers(&self, objects: usize, shared: usize) -> Outcome<Answers> {
        let rows = self.rows.iter();
        Ok(match self.form {
            Form::Groupings => {
                let rows: Vec<GroupAnswer> = rows
                    .map(|&[worker, task, item, group]| GroupAnswer { worker, task, item, group })
                    .collect();
                Answers::from_groupings(objects, &rows)?
            }
            Form::Keywords => {
                let rows: Vec<KeywordAnswer> = rows
                    .map(|&[worker, task, item, keyword]| KeywordAnswer {
                        worker,
                        task,
                        item,
                        keyword,
                    })
                    .collect();
                Answers::from_keywords(objects, &rows, shared)?
            }
            Form::Pairs => {
                let rows: Vec<PairAnswer> = rows
                    .map(|&[worker, i, j, same]| PairAnswer { worker, i, j, same: same != 0 })
                    .collect();
                Answers::from_pairs(objects, &rows)?
            }
        })
    }

    /// What a worker is called in the file.
    pub(crate) fn worker(&self, number: usize) -> String {
        self.names.get(number).cloned().unwrap_or_else(|| number.to_string())
    }
}

/// Reads the answers of a crowd.
pub(crate) fn read_answers(path: &Path, terminal: &Terminal) -> Outcome<AnswerTable> {
    reading(path, |location| match location.format {
        Format::Csv => from_csv(location.open()?.0),
        Format::Npz => from_npz(path, terminal),
        _ => Err(Failure::bad(
            "answers have named columns; expected a .csv with a header, or an .npz",
        )),
    })
}

/// The form whose columns are all there, and where they are.
fn form(names: &[String]) -> Outcome<(Form, [usize; 4])> {
    for (form, columns) in FORMS {
        let mut at = [0; 4];
        let found = columns.iter().zip(&mut at).all(|(column, at)| {
            names.iter().position(|n| n.eq_ignore_ascii_case(column)).is_some_and(|p| {
                *at = p;
                true
            })
        });
        if found {
            return Ok((form, at));
        }
    }
    let names: Vec<&str> = names.iter().map(|n| n.get(..40).unwrap_or(n)).collect();
    Err(Failure::bad(format!(
        "columns {}; expected worker,task,item,group or worker,task,item,keyword or worker,i,j,same by name",
        names.join(",")
    )))
}

/// Which of the four columns name something, rather than count objects or say yes or no.
fn names_things(form: Form, column: usize) -> bool {
    column == 0 || (form != Form::Pairs && column != 2)
}

fn from_csv(file: impl Read) -> Outcome<AnswerTable> {
    let wrong = |error: csv::Error| Failure::Bad(error.to_string());
    let mut reader = ReaderBuilder::new().trim(csv::Trim::All).from_reader(BufReader::new(file));
    let header: Vec<String> = reader
        .headers()
        .map_err(wrong)?
        .iter()
        .map(|h| h.trim_start_matches('\u{feff}').to_owned())
        .collect();
    let (form, at) = form(&header)?;
    let mut cells: Vec<[String; 4]> = Vec::new();
    for record in reader.records() {
        let record = record.map_err(wrong)?;
        cells.push(at.map(|c| record.get(c).unwrap_or_default().to_owned()));
    }
    let mut rows = vec![[0; 4]; cells.len()];
    let mut names = Vec::new();
    for column in 0..4 {
        let numbers: Option<Vec<usize>> =
            cells.iter().map(|row| row[column].parse().ok()).collect();
        let bad = |r: usize, expected: &str| {
            let cell = &cells[r][column];
            let column = &header[at[column]];
            Failure::Bad(format!("row {r}, column {column}: {cell:?}; expected {expected}"))
        };
        let numbers = match numbers {
            _ if form == Form::Pairs && column == 3 => cells
                .iter()
                .enumerate()
                .map(|(r, row)| {
                    yes(&row[3]).map(usize::from).ok_or_else(|| bad(r, "1 or 0, true or false"))
                })
                .collect::<Outcome<_>>()?,
            Some(numbers) => numbers,
            None if names_things(form, column) => {
                if let Some(r) = cells.iter().position(|row| row[column].is_empty()) {
                    return Err(bad(r, "a number or a name"));
                }
                let (numbers, called) = numbered(cells.iter().map(|row| &row[column][..]));
                if column == 0 {
                    names = called;
                }
                numbers
            }
            None => {
                let r =
                    cells.iter().position(|row| row[column].parse::<usize>().is_err()).unwrap_or(0);
                return Err(bad(r, "the number of an object, from 0"));
            }
        };
        rows.iter_mut().zip(numbers).for_each(|(row, v)| row[column] = v);
    }
    Ok(AnswerTable { form, rows, names })
}

fn yes(text: &str) -> Option<bool> {
    match text.to_ascii_lowercase().as_str() {
        "1" | "true" | "yes" | "same" => Some(true),
        "0" | "false" | "no" | "apart" => Some(false),
        _ => None,
    }
}

/// Names in the order of their first appearance, and the number of each row.
fn numbered<'a>(names: impl Iterator<Item = &'a str>) -> (Vec<usize>, Vec<String>) {
    let mut known: FxHashMap<&str, usize> = FxHashMap::default();
    let mut called = Vec::new();
    let numbers = names
        .map(|name| {
            *known.entry(name).or_insert_with(|| {
                called.push(name.to_owned());
                called.len() - 1
            })
        })
        .collect();
    (numbers, called)
}

fn from_npz(path: &Path, terminal: &Terminal) -> Outcome<AnswerTable> {
    let open = || Ok::<_, Failure>(BufReader::new(File::open(path)?));
    let names = npz::names(open()?)?;
    let (form, at) = form(&names)?;
    let mut rows: Vec<[usize; 4]> = Vec::new();
    for (column, name) in at.into_iter().map(|c| &names[c]).enumerate() {
        let table =
            npz::read(open()?, Some(name), terminal, |stream| stream.features())?.into_f64();
        if table.ncols() != 1 {
            return Err(Failure::bad(format!(
                "array {name:?}: {} columns; expected one",
                table.ncols()
            )));
        }
        if column == 0 {
            rows = vec![[0; 4]; table.nrows()];
        } else if table.nrows() != rows.len() {
            return Err(Failure::bad(format!(
                "array {name:?}: {} rows; expected {}, as the array {:?}",
                table.nrows(),
                rows.len(),
                names[at[0]]
            )));
        }
        for (r, (row, &v)) in rows.iter_mut().zip(&table).enumerate() {
            // Whole numbers that a float holds exactly.
            if !(v >= 0.0 && v.fract() == 0.0 && v < 9_007_199_254_740_992.0) {
                return Err(Failure::bad(format!(
                    "array {name:?}, row {r}: {v}; expected a whole number from 0"
                )));
            }
            row[column] = v as usize;
        }
    }
    Ok(AnswerTable { form, rows, names: Vec::new() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn csv(text: &str) -> Outcome<AnswerTable> {
        from_csv(text.as_bytes())
    }

    fn message(text: &str) -> String {
        match csv(text) {
            Err(Failure::Bad(message)) => message,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_three_forms_by_their_names() {
        let t =
            csv("task,worker,item,group,more\nt1,ann,0,a,x\nt1,ann,4,b,x\nt1,bob,4,a,x\n").unwrap();
        assert_eq!((t.form, t.objects()), (Form::Groupings, 5));
        assert_eq!(t.rows, [[0, 0, 0, 0], [0, 0, 4, 1], [1, 0, 4, 0]]);
        assert_eq!((t.worker(1), t.worker(9)), ("bob".into(), "9".into()));
        let t = csv("worker,i,j,same\n7,0,1,TRUE\n7, 2,1,0\n").unwrap();
        assert_eq!((t.form, t.objects(), t.worker(7)), (Form::Pairs, 3, "7".into()));
        assert_eq!(t.answers(3, 1).unwrap().n_pair_answers(), 2);
        let t = csv("worker,task,item,keyword\n0,0,0,cat\n0,0,1,cat\n0,0,1,dog\n").unwrap();
        assert_eq!(t.answers(2, 1).unwrap().pairs().next().map(|p| p.same), Some(true));
        assert_eq!(t.answers(2, 2).unwrap().pairs().next().map(|p| p.same), Some(false));
    }

    #[test]
    fn bad_cells_are_named() {
        assert!(message("0,1,2,3\n").contains("columns 0,1,2,3; expected worker,task,item,group"));
        assert_eq!(
            message("worker,i,j,same\n1,0,x,1\n"),
            "row 0, column j: \"x\"; expected the number of an object, from 0"
        );
        assert!(
            message("worker,i,j,same\n1,0,1,2\n")
                .contains("row 0, column same: \"2\"; expected 1 or 0")
        );
        assert!(
            message("worker,task,item,group\na,1,2,\n")
                .contains("column group: \"\"; expected a number or a name")
        );
    }
}
