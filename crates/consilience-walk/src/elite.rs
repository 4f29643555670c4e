use std::sync::atomic::{AtomicUsize, Ordering};

use consilience_core::{MemoryBudget, Microclusters, Observer, Result, SimilarityGraph, ensure};
use consilience_graph::{AgreementRow, CountRow};
use consilience_num::sparse::Csr;
use consilience_num::tally::{places_reaching, reaching};
use rayon::prelude::*;

/// A link costs 16 bytes while rows are gathered and 12 in each of the up to five matrices of a
/// walk.
const BYTES_PER_LINK: usize = 64;

/// The links of a row, columns ascending.
type Links = Vec<(u32, f64)>;

/// The K-elite neighbour graph: only the links that are among the K strongest of one of their ends.
///
/// The threshold of a microcluster is its K-th largest co-association; a link stays where it
/// reaches the threshold of either end, all ties included. Weak links between microclusters are
/// more often chance than structure, and walks should not follow them.
///
/// ```
/// use consilience::{Ensemble, Microclusters, Partition};
/// use consilience::walk::EliteNeighbours;
///
/// let ensemble = Ensemble::new(vec![
///     Partition::from_labels(&[0, 0, 0, 1])?,
///     Partition::from_labels(&[0, 0, 1, 1])?,
///     Partition::from_labels(&[0, 1, 1, 1])?,
/// ])?;
/// let microclusters = Microclusters::of(&ensemble)?;
/// let elite = EliteNeighbours::of(&microclusters, 1)?;
/// // 0-1 (2/3), 1-2 (2/3) and 2-3 (2/3) stay; 0-2 and 1-3 (1/3) reach no threshold.
/// assert_eq!(elite.n_links(), 3);
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Complexity
/// O(n~^2 M) byte operations at most, in parallel; memory in proportion to the links that stay.
///
/// # References
/// Huang, Lai, Wang 2016, Definitions 5 to 7 and Eq. 9.
#[derive(Clone, Debug, PartialEq)]
pub struct EliteNeighbours {
    weights: Csr,
}

impl EliteNeighbours {
    /// The elite links of the co-association graph for a given K.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidParameter`](consilience_core::ErrorKind::InvalidParameter) for K = 0,
    /// [`ErrorKind::TooLarge`](consilience_core::ErrorKind::TooLarge) where ties keep so many links
    /// that walking on them would exceed the default memory budget.
    pub fn of(microclusters: &Microclusters, k: usize) -> Result<Self> {
        Self::of_observed(microclusters, k, &())
    }

    /// As [`EliteNeighbours::of`], with progress and cancellation.
    ///
    /// # Errors
    /// As [`EliteNeighbours::of`];
    /// [`ErrorKind::Cancelled`](consilience_core::ErrorKind::Cancelled).
    pub fn of_observed(
        microclusters: &Microclusters,
        k: usize,
        observer: &dyn Observer,
    ) -> Result<Self> {
        Self::within(microclusters, k, MemoryBudget::default(), observer)
    }

    /// As [`EliteNeighbours::of`], for a given budget.
    pub(crate) fn within(
        microclusters: &Microclusters,
        k: usize,
        budget: MemoryBudget,
        observer: &dyn Observer,
    ) -> Result<Self> {
        ensure!(k > 0, invalid("0 elite neighbours; expected at least 1"));
        let n = microclusters.n_nodes();
        // With few members ties are many: in the worst case every pair stays. The links are counted
        // as they come, before they fill the memory.
        let links = AtomicUsize::new(0);
        let counted = |row: Links| -> Result<Links> {
            let seen = links.fetch_add(row.len(), Ordering::Relaxed) + row.len();
            budget.check_table("elite links, kept by ties,", seen, 1, BYTES_PER_LINK)?;
            Ok(row)
        };
        let strongest = if microclusters.is_plain() && microclusters.is_complete() {
            let scratch = (CountRow::new(microclusters)?, 0);
            each(&scratch, n, observer, |(row, threshold), i| {
                row.fill(microclusters, i);
                counted(strongest_counts(
                    row.together(),
                    i,
                    k,
                    microclusters.n_members(),
                    threshold,
                ))
            })?
        } else {
            each(&AgreementRow::new(microclusters)?, n, observer, |row, i| {
                row.fill(i);
                let others = (0..n).filter(|&j| j != i).map(|j| (j as u32, row.ratio(j)));
                counted(strongest(others.filter(|&(_, w)| w > 0.0).collect(), k))
            })?
        };
        let rows = of_either_end(strongest);
        let both: usize = rows.iter().map(Vec::len).sum();
        budget.check_table("elite links, kept by ties,", both, 1, BYTES_PER_LINK)?;
        Ok(EliteNeighbours { weights: Csr::from_rows(n, rows) })
    }

    /// The elite links of any similarity of nodes, such as another co-association; only those above
    /// 0 are links.
    ///
    /// ```
    /// use consilience::SimilarityGraph;
    /// use consilience::core::Grouping;
    /// use consilience::ndarray::array;
    /// use consilience::walk::EliteNeighbours;
    ///
    /// let nodes = Grouping::new(vec![0, 1, 2], 3)?;
    /// let s = array![[1.0, 0.9, 0.2], [0.9, 1.0, 0.5], [0.2, 0.5, 1.0]];
    /// // 0-1 is the strongest of 0 and of 1, 1-2 that of 2.
    /// let graph = SimilarityGraph::new(nodes, s)?;
    /// assert_eq!(EliteNeighbours::of_similarity(&graph, 1)?.n_links(), 2);
    /// # Ok::<(), consilience::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`EliteNeighbours::of`].
    pub fn of_similarity(graph: &SimilarityGraph, k: usize) -> Result<Self> {
        Self::of_similarity_within(graph, k, MemoryBudget::default())
    }

    /// As [`EliteNeighbours::of_similarity`], for a given budget.
    pub(crate) fn of_similarity_within(
        graph: &SimilarityGraph,
        k: usize,
        budget: MemoryBudget,
    ) -> Result<Self> {
        ensure!(k > 0, invalid("0 elite neighbours; expected at least 1"));
        let (s, n) = (graph.weights(), graph.grouping().n_nodes());
        let mut seen = 0;
        let mut own = Vec::with_capacity(n);
        for (i, row) in s.rows().into_iter().enumerate() {
            let others = row.iter().enumerate().filter(|&(j, &w)| j != i && w > 0.0);
            let row = strongest(others.map(|(j, &w)| (j as u32, w)).collect(), k);
            seen += row.len();
            budget.check_table("elite links, kept by ties,", seen, 1, BYTES_PER_LINK)?;
            own.push(row);
        }
        let rows = of_either_end(own);
        Ok(EliteNeighbours { weights: Csr::from_rows(n, rows) })
    }

    /// Number of unordered links.
    pub fn n_links(&self) -> usize {
        self.weights.nnz() / 2
    }

    /// Both halves of the symmetric weights, without a diagonal.
    pub fn weights(&self) -> &Csr {
        &self.weights
    }
}

/// Runs `work` for every microcluster, with a copy of `scratch` for each task.
fn each<R: Clone + Send + Sync, T: Send>(
    scratch: &R,
    nodes: usize,
    observer: &dyn Observer,
    work: impl Fn(&mut R, usize) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    let one = |scratch: &mut R, i: usize| {
        if i.is_multiple_of(64) {
            observer.check()?;
        }
        work(scratch, i)
    };
    (0..nodes).into_par_iter().with_min_len(16).map_init(|| scratch.clone(), one).collect()
}

/// The links of row `i` that reach its K-th largest count, the diagonal apart; all of them where
/// fewer than K are positive. With equal N everywhere, counts order as ratios do, and comparing
/// small integers is many times faster. Rows are much alike: `threshold` is that of the row before,
/// and then of this one.
fn strongest_counts(
    counts: &[u16],
    i: usize,
    k: usize,
    members: usize,
    threshold: &mut u16,
) -> Links {
    *threshold = threshold_of_counts(counts, i, k, members as u16, *threshold);
    let places = places_reaching(counts, (*threshold).max(1)).into_iter();
    let others = places.filter(|&j| j as usize != i);
    others.map(|j| (j, f64::from(counts[j as usize]) / members as f64)).collect()
}

/// The largest count that at least K of a row reach, the diagonal apart; 0 where fewer than K are
/// positive. `guess` and the one beside it are tried first.
fn threshold_of_counts(counts: &[u16], i: usize, k: usize, most: u16, guess: u16) -> u16 {
    let enough = |t: u16| reaching(counts, t) - usize::from(counts[i] >= t) >= k;
    let (mut low, mut high) = (0, most);
    let mut tries = [guess, guess.saturating_add(1)].into_iter();
    while low < high {
        let halved = low + (high - low).div_ceil(2);
        let middle = tries.next().filter(|t| (low + 1..=high).contains(t)).unwrap_or(halved);
        if enough(middle) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    low
}

/// The links that reach the K-th largest, all where there are fewer.
fn strongest(positive: Links, k: usize) -> Links {
    if positive.len() < k {
        return positive;
    }
    let mut weights: Vec<f64> = positive.iter().map(|l| l.1).collect();
    let (_, &mut threshold, _) = weights.select_nth_unstable_by(k - 1, |a, b| b.total_cmp(a));
    positive.into_iter().filter(|l| l.1 >= threshold).collect()
}

/// Links that are among the strongest of their row or of their column: the union of both.
fn of_either_end(own: Vec<Links>) -> Vec<Links> {
    let mut others: Vec<Links> = own.iter().map(|_| Vec::new()).collect();
    for (i, row) in own.iter().enumerate() {
        row.iter().for_each(|&(j, w)| others[j as usize].push((i as u32, w)));
    }
    let union = |(mut row, others): (Links, Links)| {
        let is_own = |j: u32| row.binary_search_by_key(&j, |l| l.0).is_ok();
        let more: Vec<_> = others.into_iter().filter(|l| !is_own(l.0)).collect();
        row.extend(more);
        row.sort_unstable_by_key(|l| l.0);
        row
    };
    own.into_par_iter().zip(others).map(union).collect()
}
