//! One file per subcommand.

pub(crate) mod consensus;
pub(crate) mod demo;
pub(crate) mod generate;
pub(crate) mod score;

use std::path::Path;

use consilience::Partition;

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
