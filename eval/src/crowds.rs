//! The reference crowds.

use std::error::Error;
use std::fs::File;

use consilience::Partition;
use consilience::crowd::{Answers, GroupAnswer};
use consilience::ndarray::{Ix1, OwnedRepr};
use ndarray_npy::NpzReader;

use crate::sets::folder;

/// Crowds with few classes.
pub const CROWDS: [&str; 8] = [
    "birds5_drag_wp2",
    "birds5_drag_wp3",
    "birds5_drag_wp4",
    "birds5_drag_wp5",
    "birds5_radio2",
    "birds5_radio3",
    "birds5_radio4",
    "bluebirds",
];

/// The rows of the answers, and the true classes.
///
/// # Errors
/// A file that is missing or damaged.
pub fn rows(name: &str) -> Result<(Vec<GroupAnswer>, Partition), Box<dyn Error>> {
    let mut npz = NpzReader::new(File::open(folder("crowd").join(format!("crowd_{name}.npz")))?)?;
    let mut column = |name: &str| -> Result<Vec<i32>, Box<dyn Error>> {
        Ok(npz.by_name::<OwnedRepr<i32>, Ix1>(name)?.to_vec())
    };
    let (worker, task, item, group) =
        (column("worker")?, column("task")?, column("item")?, column("group")?);
    let truth = Partition::from_labels(&column("y")?)?;
    let rows = (0..worker.len())
        .map(|r| GroupAnswer {
            worker: worker[r] as usize,
            task: task[r] as usize,
            item: item[r] as usize,
            group: group[r] as usize,
        })
        .collect();
    Ok((rows, truth))
}

/// The answers, and the true classes.
///
/// # Errors
/// As [`rows`].
pub fn read(name: &str) -> Result<(Answers, Partition), Box<dyn Error>> {
    let (rows, truth) = rows(name)?;
    Ok((Answers::from_groupings(truth.n_objects(), &rows)?, truth))
}
