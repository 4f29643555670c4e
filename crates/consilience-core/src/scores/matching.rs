use super::Contingency;
use super::largest_weight::{Link, largest_weight};
use crate::assignment::cheapest;
use crate::{Error, ErrorKind, Joined, Partition, Result, room};

/// Pairs of clusters that are matched with each other at most: at most some minutes and, where all
/// of them are in a table, half a gibibyte.
const LARGEST_TABLE: u64 = 1 << 26;

/// Accuracy: the fraction of objects that agree under the best one-to-one matching of clusters.
///
/// Reads like the accuracy of a classifier; an unmatched cluster counts as all wrong, so it
/// punishes too many clusters harder than [`purity`]. The numbers of clusters may differ. Objects
/// unlabelled in either are left out.
///
/// `(1/n) max_v sum_i n_{i v(i)}` over injections `v`, the criterion H of the papers.
///
/// ```
/// use consilience::{Partition, scores};
/// let result = Partition::from_labels(&[0, 0, 1, 1, 2])?;
/// let truth = Partition::from_labels(&[1, 1, 0, 0, 0])?;
/// assert_eq!(scores::accuracy(&result, &truth)?, 0.8);
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Complexity
/// O(n + k_a + k_b) plus, for each group of r and c clusters linked through shared objects,
/// O(min(r, c) e log max(r, c)) time at most, with e pairs of clusters that share objects, mostly
/// some times e. Memory is linear in objects and clusters.
///
/// # Errors
/// As [`Contingency::new`]; [`ErrorKind::TooLarge`] where the table of one such group would have
/// more than 2^26 entries. [`Scores`](super::Scores) then has all other scores, and NaN in place of
/// this one.
///
/// # References
/// Meilă & Heckerman (2001), An experimental comparison of model-based clustering methods, Machine
/// Learning 42:9-29; Lourenço et al. (2015), Machine Learning 98:331-357, section 7 (H). Matching:
/// Tarjan (1983), Data structures and network algorithms, chapter 8.4, on the pairs that share
/// objects alone.
#[doc(alias = "H")]
#[doc(alias = "hungarian")]
pub fn accuracy(result: &Partition, truth: &Partition) -> Result<f64> {
    matched_fraction(&Contingency::new(result, truth)?, LARGEST_TABLE)
}

/// The accuracy, NaN where there are too many clusters to match: those who ask for all scores get
/// the others.
pub(super) fn accuracy_or_nan(table: &Contingency) -> Result<f64> {
    match matched_fraction(table, LARGEST_TABLE) {
        Err(error) if error.kind() == ErrorKind::TooLarge => Ok(f64::NAN),
        matched => matched,
    }
}

/// Purity: the fraction of objects in the most frequent class of their cluster.
///
/// Simple and widely reported, but single objects reach 1: only compare results with equal numbers
/// of clusters. Objects unlabelled in either are left out.
///
/// `(1/n) sum_i max_j n_ij`, with the result's clusters in rows.
///
/// ```
/// use consilience::{Partition, scores};
/// let result = Partition::from_labels(&[0, 0, 0, 1])?;
/// let truth = Partition::from_labels(&[0, 0, 1, 1])?;
/// assert_eq!(scores::purity(&result, &truth)?, 0.75);
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Complexity
/// O(n + k_a + k_b) time; memory as [`Contingency::new`].
///
/// # Errors
/// As [`Contingency::new`].
///
/// # References
/// Manning, Raghavan & Schütze (2008), Introduction to information retrieval, section 16.3,
/// equation 16.1.
pub fn purity(result: &Partition, truth: &Partition) -> Result<f64> {
    Ok(pure_fraction(&Contingency::new(result, truth)?))
}

pub(super) fn pure_fraction(table: &Contingency) -> f64 {
    let mut largest = vec![0u64; table.row_sums().len()];
    for (i, _, count) in table.cells() {
        largest[i] = largest[i].max(count);
    }
    largest.iter().sum::<u64>() as f64 / table.n_objects() as f64
}

/// The fraction of objects in matched clusters; tables of assignments up to `largest` are solved.
fn matched_fraction(table: &Contingency, largest: u64) -> Result<f64> {
    let mut matched = 0u64;
    for cells in linked_groups(table) {
        matched += match_group(&cells, largest)?;
    }
    Ok(matched as f64 / table.n_objects() as f64)
}

/// One entry of the table: row, column, objects.
type Cell = (usize, usize, u64);

/// The entries in groups that share no row and no column: each can be matched alone, since
/// matching across groups gains nothing.
fn linked_groups(table: &Contingency) -> Vec<Vec<Cell>> {
    let rows = table.row_sums().len();
    let mut joined = Joined::new(rows + table.column_sums().len());
    for (i, j, _) in table.cells() {
        joined.join(i, rows + j);
    }
    // Groups come in the order of their first row.
    let (group_of, count) = joined.numbers(|i| table.row_sums().get(i).is_some_and(|&s| s > 0));
    let mut groups = vec![Vec::new(); count];
    table.cells().for_each(|cell| groups[group_of[cell.0] as usize].push(cell));
    groups
}

/// Objects matched in one group of entries, which come row by row.
fn match_group(cells: &[Cell], largest: u64) -> Result<u64> {
    let (mut rows, mut columns): (Vec<usize>, Vec<usize>) =
        (cells.iter().map(|c| c.0).collect(), cells.iter().map(|c| c.1).collect());
    rows.dedup();
    columns.sort_unstable();
    columns.dedup();
    if rows.len() == 1 || columns.len() == 1 {
        return Ok(cells.iter().map(|c| c.2).max().unwrap_or(0));
    }
    check_within("accuracy", rows.len(), columns.len(), largest)?;
    // The shorter side looks for partners: it has fewer to find.
    let tall = rows.len() > columns.len();
    let place = |sorted: &[usize], x: usize| sorted.partition_point(|&other| other < x) as u32;
    let link = |&(i, j, count): &Cell| -> Link {
        let (row, column) = (place(&rows, i), place(&columns, j));
        if tall { (column, row, count) } else { (row, column, count) }
    };
    let links = room::collected(cells.iter().map(link))?;
    let (short, long) = if tall { (&columns, &rows) } else { (&rows, &columns) };
    largest_weight(short.len(), long.len(), &links)
}

/// Refuses an assignment problem of a score whose table would be too large, before it is allocated.
pub(super) fn check_table(score: &str, rows: usize, columns: usize) -> Result<()> {
    check_within(score, rows, columns, LARGEST_TABLE)
}

fn check_within(score: &str, rows: usize, columns: usize, largest: u64) -> Result<()> {
    if rows as u64 * columns as u64 > largest {
        return Err(Error::too_large(format!(
            "{score}: too many clusters to match, {rows} with {columns} at once; the table of \
             their pairs may have {largest} entries; expected fewer clusters, or a score that \
             matches none"
        )));
    }
    Ok(())
}

/// For each row the column of the cheapest assignment; `rows <= columns`, costs finite.
pub(super) fn assign(rows: usize, columns: usize, cost: &Vec<f64>) -> Result<Vec<usize>> {
    let pairs = cheapest(rows, columns, cost).ok_or_else(|| {
        Error::new(
            ErrorKind::NonFinite,
            format!("no assignment of {rows} x {columns} clusters with finite cost"),
        )
    })?;
    Ok(pairs.map(|(_, column)| column).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Seed;

    /// All injections of the shorter side, by recursion.
    fn best_by_hand(table: &[Vec<u64>], row: usize, used: &mut Vec<bool>) -> u64 {
        if row == table.len() {
            return 0;
        }
        let mut best = best_by_hand(table, row + 1, used);
        for j in 0..used.len() {
            if !used[j] {
                used[j] = true;
                best = best.max(table[row][j] + best_by_hand(table, row + 1, used));
                used[j] = false;
            }
        }
        best
    }

    #[test]
    fn matching_equals_the_best_of_all_injections() {
        let mut s = Seed(5).stream();
        for round in 0..200 {
            let (n, ka, kb) = (2 + s.below(30), 1 + s.below(6), 1 + s.below(6));
            let a =
                Partition::from_labels(&(0..n).map(|_| s.below(ka)).collect::<Vec<_>>()).unwrap();
            let b =
                Partition::from_labels(&(0..n).map(|_| s.below(kb)).collect::<Vec<_>>()).unwrap();
            let table = Contingency::new(&a, &b).unwrap();
            let mut full = vec![vec![0; b.n_clusters()]; a.n_clusters()];
            for (i, j, count) in table.cells() {
                full[i][j] = count;
            }
            let best = best_by_hand(&full, 0, &mut vec![false; b.n_clusters()]);
            assert_eq!(accuracy(&a, &b).unwrap(), best as f64 / n as f64, "round {round}");
        }
    }

    #[test]
    fn many_clusters_that_agree_need_no_table() {
        let labels: Vec<u32> = (0..300_000).map(|i| i / 2).collect();
        let a = Partition::from_labels(&labels).unwrap();
        assert_eq!(accuracy(&a, &a).unwrap(), 1.0);
        let single = Partition::single_cluster(300_000).unwrap();
        assert_eq!(accuracy(&a, &single).unwrap(), 2.0 / 300_000.0);
    }

    #[test]
    fn a_table_beyond_reason_is_refused() {
        // A chain through all clusters of both sides: 20,001 x 20,000 clusters in one group.
        let a = Partition::from_fn(40_000, |i| Some((i as u64).div_ceil(2))).unwrap();
        let b = Partition::from_fn(40_000, |i| Some(i as u64 / 2)).unwrap();
        let error = accuracy(&a, &b).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::TooLarge);
        let start = "accuracy: too many clusters to match, 20001 with 20000";
        assert!(error.message().starts_with(start), "{error}");
        // The other scores match nothing.
        let scores = crate::scores::Scores::compare(&a, &b).unwrap();
        for (name, value) in scores.entries() {
            assert_eq!(value.is_nan(), name == "accuracy", "{name}: {value}");
        }
        assert_eq!(scores.rand, crate::scores::rand(&a, &b).unwrap());
    }

    #[test]
    fn the_largest_table_is_that_of_one_group() {
        let p = |labels: &[u32]| Partition::from_labels(labels).unwrap();
        // 2 x 2 linked clusters, and two that agree.
        let table = Contingency::new(&p(&[0, 0, 1, 1, 2]), &p(&[0, 1, 1, 1, 2])).unwrap();
        assert_eq!(matched_fraction(&table, 4).unwrap(), 0.8);
        assert_eq!(matched_fraction(&table, 3).unwrap_err().kind(), ErrorKind::TooLarge);
    }
}
