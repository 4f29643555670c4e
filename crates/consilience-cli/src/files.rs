//! Reading as commands need it: notes go to the terminal, shapes are checked, files are named.

use std::path::Path;

use consilience::crowd::{Answers, GroupAnswer, KeywordAnswer, PairAnswer};
use consilience::io::{AnswerForm, AnswerTable, FeatureTable, Format, Input};
use consilience::{Ensemble, Memberships, Partition};
use ndarray::Array2;

use crate::failure::{Failure, Outcome};
use crate::memory;
use crate::terminal::Terminal;

/// A file that may take as much memory as there is.
fn input(path: &Path) -> Outcome<Input<'static>> {
    Ok(Input::file(path)?.memory_budget(memory::budget()))
}

/// Features, n rows and d columns of finite numbers.
pub(crate) fn features(path: &Path, terminal: &Terminal) -> Outcome<FeatureTable> {
    Ok(terminal.noted(input(path)?.features(terminal)?))
}

/// Features of objects that are known already.
pub(crate) fn features_of(path: &Path, n: usize, terminal: &Terminal) -> Outcome<FeatureTable> {
    let table = features(path, terminal)?;
    let rows = table.view().n_objects();
    if rows != n {
        return Err(Failure::Bad(format!(
            "{}: {rows} rows; expected {n}, one per object",
            path.display()
        )));
    }
    Ok(table)
}

/// An ensemble, n rows and M columns of labels.
pub(crate) fn ensemble(path: &Path, terminal: &Terminal) -> Outcome<Ensemble> {
    Ok(terminal.noted(input(path)?.ensemble(terminal)?))
}

/// The ensemble, or only the chosen columns of it.
pub(crate) fn members(path: &Path, columns: &[usize], terminal: &Terminal) -> Outcome<Ensemble> {
    let ensemble = ensemble(path, terminal)?;
    if columns.is_empty() {
        return Ok(ensemble);
    }
    if let Some(column) = columns.iter().find(|&&c| c >= ensemble.n_members()) {
        return Err(Failure::Bad(format!(
            "--columns {column}: {} has {} columns; expected 0..={}",
            path.display(),
            ensemble.n_members(),
            ensemble.n_members() - 1
        )));
    }
    Ok(ensemble.select(columns)?)
}

/// The ensemble, where a file says how many objects each row stands for.
pub(crate) fn counted(
    ensemble: Ensemble,
    counts: Option<&Path>,
    terminal: &Terminal,
) -> Outcome<Ensemble> {
    let Some(path) = counts else { return Ok(ensemble) };
    let counts = terminal.noted(input(path)?.counts(terminal)?);
    ensemble
        .with_counts(counts)
        .map_err(|e| Failure::Bad(format!("--counts {}: {}", path.display(), e.message())))
}

/// An ensemble, and the labels that its members give to further objects.
pub(crate) fn ensemble_and_new(
    path: &Path,
    new: &Path,
    terminal: &Terminal,
) -> Outcome<(Ensemble, Array2<i64>)> {
    Ok(terminal.noted(input(path)?.ensemble_and_new(&input(new)?, terminal)?))
}

/// One column of labels.
pub(crate) fn labels(path: &Path, terminal: &Terminal) -> Outcome<Partition> {
    Ok(terminal.noted(input(path)?.labels(terminal)?))
}

/// Soft memberships, n rows and k columns of probabilities; one column of labels counts as certain.
pub(crate) fn memberships(path: &Path, terminal: &Terminal) -> Outcome<Memberships> {
    Ok(terminal.noted(input(path)?.memberships(terminal)?))
}

/// The true labels, if asked for, of as many objects as there are.
pub(crate) fn truth(
    path: Option<&Path>,
    objects: usize,
    terminal: &Terminal,
) -> Outcome<Option<Partition>> {
    let Some(path) = path else { return Ok(None) };
    checked_truth(labels(path, terminal)?, path, objects).map(Some)
}

/// True labels, where they are of so many objects.
pub(crate) fn checked_truth(truth: Partition, path: &Path, objects: usize) -> Outcome<Partition> {
    if truth.n_objects() != objects {
        return Err(Failure::Bad(format!(
            "{}: {} rows of true labels, expected {objects}, one per object",
            path.display(),
            truth.n_objects()
        )));
    }
    if truth.n_labelled() == 0 {
        return Err(Failure::Bad(format!("{}: no object has a true label", path.display())));
    }
    Ok(truth)
}

/// The answers of a crowd, row by row.
pub(crate) fn answer_table(path: &Path, terminal: &Terminal) -> Outcome<AnswerTable> {
    Ok(terminal.noted(input(path)?.answers(terminal)?))
}

/// The answers of a file, about so many objects; with keywords two are the same that share `shared`
/// of them.
pub(crate) fn answers(table: &AnswerTable, objects: usize, shared: usize) -> Outcome<Answers> {
    let rows = table.rows().iter();
    Ok(match table.form() {
        AnswerForm::Groupings => {
            let rows: Vec<GroupAnswer> = rows
                .map(|&[worker, task, item, group]| GroupAnswer { worker, task, item, group })
                .collect();
            Answers::from_groupings(objects, &rows)?
        }
        AnswerForm::Keywords => {
            let rows: Vec<KeywordAnswer> = rows
                .map(|&[worker, task, item, keyword]| KeywordAnswer { worker, task, item, keyword })
                .collect();
            Answers::from_keywords(objects, &rows, shared)?
        }
        AnswerForm::Pairs => {
            let rows: Vec<PairAnswer> = rows
                .map(|&[worker, i, j, same]| PairAnswer { worker, i, j, same: same != 0 })
                .collect();
            Answers::from_pairs(objects, &rows)?
        }
        other => return Err(Failure::Bad(format!("answers of the form {other:?}"))),
    })
}

/// The digits that ship with the program: features and truth.
pub(crate) fn shipped_digits(terminal: &Terminal) -> Outcome<(FeatureTable, Partition)> {
    const DIGITS: &[u8] = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/data/digits.npz"));
    let digits = Input::in_memory(DIGITS, Format::Npz);
    let features = digits.clone().array("x").features(terminal)?;
    let truth = digits.array("y").labels(terminal)?;
    Ok((features.output, truth.output))
}
