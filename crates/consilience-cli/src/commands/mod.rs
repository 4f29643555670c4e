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

use consilience::{Ensemble, Partition};

use crate::failure::{Failure, Outcome};
use crate::files;
use crate::terminal::Terminal;

/// The true labels, if asked for, of as many objects as there are.
fn read_truth(path: Option<&Path>, objects: usize, terminal: &Terminal) -> Outcome<Option<Partition>> {
    let Some(path) = path else { return Ok(None) };
    let truth = files::read_labels(path, terminal)?;
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
    Ok(Some(truth))
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
