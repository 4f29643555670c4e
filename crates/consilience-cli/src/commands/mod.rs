//! One file per subcommand.

pub(crate) mod cluster;
pub(crate) mod complete;
pub(crate) mod consensus;
pub(crate) mod crowd;
pub(crate) mod demo;
pub(crate) mod generate;
pub(crate) mod plot;
pub(crate) mod score;
pub(crate) mod update;

use std::path::Path;

use consilience::{Constraints, Ensemble, Link, Pair, Partition};

use crate::failure::{Failure, Outcome};
use crate::files;
use crate::terminal::Terminal;

/// The true labels, if asked for, of as many objects as there are.
fn read_truth(
    path: Option<&Path>,
    objects: usize,
    terminal: &Terminal,
) -> Outcome<Option<Partition>> {
    let Some(path) = path else { return Ok(None) };
    checked_truth(files::read_labels(path, terminal)?, path, objects).map(Some)
}

/// True labels, where they are of so many objects.
fn checked_truth(truth: Partition, path: &Path, objects: usize) -> Outcome<Partition> {
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

/// How many must-links and cannot-links a clustering violates.
fn violated(constraints: &Constraints, partition: &Partition) -> (usize, usize) {
    let together = |i, j| partition.label(i).is_some() && partition.label(i) == partition.label(j);
    constraints.iter().fold((0, 0), |(must, cannot), Pair { i, j, link }| match link {
        Link::Must => (must + usize::from(!together(i, j)), cannot),
        Link::Cannot => (must, cannot + usize::from(together(i, j))),
    })
}

/// The ensemble, or only the chosen columns of it.
fn read_members(path: &Path, columns: &[usize], terminal: &Terminal) -> Outcome<Ensemble> {
    let ensemble = files::read_ensemble(path, terminal)?;
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
