//! The reference crowds.

use std::error::Error;
use std::fs::File;
use std::path::Path;

use consilience::Partition;
use consilience::crowd::{Answers, GroupAnswer};
use consilience::ndarray::{Ix1, OwnedRepr};
use ndarray_npy::NpzReader;

/// Answers and true classes.
pub(crate) fn read(folder: &Path, name: &str) -> Result<(Answers, Partition), Box<dyn Error>> {
    let mut npz = NpzReader::new(File::open(folder.join(format!("crowd_{name}.npz")))?)?;
    let mut column = |name: &str| -> Result<Vec<i32>, Box<dyn Error>> {
        Ok(npz.by_name::<OwnedRepr<i32>, Ix1>(name)?.to_vec())
    };
    let (worker, task, item, group) =
        (column("worker")?, column("task")?, column("item")?, column("group")?);
    let truth = Partition::from_labels(&column("y")?)?;
    let rows: Vec<GroupAnswer> = (0..worker.len())
        .map(|r| GroupAnswer {
            worker: worker[r] as usize,
            task: task[r] as usize,
            item: item[r] as usize,
            group: group[r] as usize,
        })
        .collect();
    Ok((Answers::from_groupings(truth.n_objects(), &rows)?, truth))
}
