use consilience_core::scores::Contingency;
use consilience_core::{ErrorKind, MemoryBudget, Partition, Result, ensure};
use consilience_num::assignment::max_assignment;
use ndarray::Array2;

/// The objects that are in another cluster than before, ascending, after matching the clusters of
/// both so that as many as possible stay. Objects that came since count where they are labelled.
///
/// ```
/// use consilience::Partition;
/// use consilience::simplex::relabelled;
///
/// let before = Partition::from_labels(&[0, 0, 1, 1, 1])?;
/// let after = Partition::from_labels(&[0, 1, 1, 1, 1, -1, 1])?;
/// assert_eq!(relabelled(&before, &after)?, vec![1, 6]);
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Errors
/// [`ErrorKind::ShapeMismatch`] where `before` has more objects than `after`,
/// [`ErrorKind::TooLarge`] where a table of all pairs of clusters does not fit the default budget.
///
/// # Complexity
/// O(n + k^3).
#[doc(alias = "label correspondence")]
pub fn relabelled(before: &Partition, after: &Partition) -> Result<Vec<usize>> {
    relabelled_within(before, after, MemoryBudget::default())
}

/// As [`relabelled`], for a given memory budget: a table of all pairs of clusters is made.
///
/// ```
/// use consilience::simplex::relabelled_within;
/// use consilience::{ErrorKind, MemoryBudget, Partition};
///
/// let alone = Partition::from_labels(&[0, 1, 2])?;
/// let refused = relabelled_within(&alone, &alone, MemoryBudget::bytes(100)).unwrap_err();
/// assert_eq!(refused.kind(), ErrorKind::TooLarge);
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Errors
/// As [`relabelled`]; [`ErrorKind::TooLarge`] beyond the memory budget.
pub fn relabelled_within(
    before: &Partition,
    after: &Partition,
    budget: MemoryBudget,
) -> Result<Vec<usize>> {
    let (old, new) = (before.n_objects(), after.n_objects());
    ensure!(old <= new, shape("{old} objects before, {new} after"));
    let (a, b) = (before.n_clusters(), after.n_clusters());
    budget.check_table("overlaps of clusters", a, b, 24)?;
    let mut shared = Array2::<f64>::zeros((a, b));
    let common;
    let start = if old == new {
        after
    } else {
        common = Partition::from_fn(old, |i| after.label(i).map(|l| l as u64))?;
        &common
    };
    match Contingency::new(before, start) {
        // The clusters of the first objects have the same numbers as those of all.
        Ok(cells) => cells.cells().for_each(|(i, j, count)| shared[[i, j]] = count as f64),
        Err(e) if e.kind() == ErrorKind::Empty => {}
        Err(e) => return Err(e),
    }
    let matched = max_assignment(shared.view());
    let was = |i: usize| if i < old { before.label(i) } else { None };
    let changed = |&i: &usize| match (was(i), after.label(i)) {
        (None, now) => now.is_some(),
        (Some(was), now) => now.is_none() || matched[was] != now,
    };
    Ok((0..new).filter(changed).collect())
}
