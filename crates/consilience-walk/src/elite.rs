use std::sync::atomic::{AtomicUsize, Ordering};

use consilience_core::{MemoryBudget, Microclusters, Observer, Result, SimilarityGraph, ensure};
use consilience_graph::{AgreementRow, CountRow};
use consilience_num::sparse::Csr;
use rayon::prelude::*;

/// A link costs 16 bytes while rows are gathered and 12 in each of the up to five matrices of a
/// walk.
const BYTES_PER_LINK: usize = 64;

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
/// O(n~^2 M) byte operations in parallel, twice; memory in proportion to the links that stay.
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
        let counted_alike = microclusters.is_plain() && microclusters.is_complete();
        // With few members ties are many: in the worst case every pair stays. The links are counted
        // as they come, before they fill the memory.
        let links = AtomicUsize::new(0);
        let counted = |row: Vec<(u32, f64)>| -> Result<Vec<(u32, f64)>> {
            let seen = links.fetch_add(row.len(), Ordering::Relaxed) + row.len();
            budget.check_table("elite links, kept by ties,", seen, 1, BYTES_PER_LINK)?;
            Ok(row)
        };
        let rows = if counted_alike {
            let thresholds = each_row(microclusters, observer, |row, i| {
                Ok(threshold_of_counts(row.together(), i, k))
            })?;
            let members = microclusters.n_members() as f64;
            each_row(microclusters, observer, |row, i| {
                counted(links_of_counts(row.together(), &thresholds, i, members))
            })?
        } else {
            let thresholds = each_agreement(microclusters, observer, |row, i| {
                Ok(threshold_of_ratios(row, i, n, k))
            })?;
            each_agreement(microclusters, observer, |row, i| {
                let links = (0..n)
                    .filter(|&j| j != i)
                    .map(|j| (j, row.ratio(j)))
                    .filter(|&(j, w)| w > 0.0 && (w >= thresholds[i] || w >= thresholds[j]))
                    .map(|(j, w)| (j as u32, w));
                counted(links.collect())
            })?
        };
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
        let thresholds: Vec<f64> = (0..n)
            .into_par_iter()
            .map(|i| {
                let row = s.row(i);
                kth((0..n).filter(|&j| j != i && row[j] > 0.0).map(|j| row[j]).collect(), k)
            })
            .collect();
        let mut seen = 0;
        let mut rows = Vec::with_capacity(n);
        for i in 0..n {
            let stays = |w: f64, j: usize| w > 0.0 && (w >= thresholds[i] || w >= thresholds[j]);
            let row: Vec<(u32, f64)> = (0..n)
                .filter(|&j| j != i && stays(s[[i, j]], j))
                .map(|j| (j as u32, s[[i, j]]))
                .collect();
            seen += row.len();
            budget.check_table("elite links, kept by ties,", seen, 1, BYTES_PER_LINK)?;
            rows.push(row);
        }
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

/// Runs `work` on the pair counts of every microcluster.
fn each_row<T: Send>(
    microclusters: &Microclusters,
    observer: &dyn Observer,
    work: impl Fn(&mut CountRow, usize) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    let scratch = CountRow::new(microclusters)?;
    let fill = |row: &mut CountRow, i| row.fill(microclusters, i);
    each(&scratch, microclusters.n_nodes(), observer, fill, work)
}

/// The same with fractions.
fn each_agreement<'a, T: Send>(
    microclusters: &'a Microclusters,
    observer: &dyn Observer,
    work: impl Fn(&mut AgreementRow<'a>, usize) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    let scratch = AgreementRow::new(microclusters)?;
    each(&scratch, microclusters.n_nodes(), observer, AgreementRow::fill, work)
}

fn each<R: Clone + Send + Sync, T: Send>(
    scratch: &R,
    nodes: usize,
    observer: &dyn Observer,
    fill: impl Fn(&mut R, usize) + Sync,
    work: impl Fn(&mut R, usize) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    let one = |row: &mut R, i: usize| {
        if i.is_multiple_of(64) {
            observer.check()?;
        }
        fill(row, i);
        work(row, i)
    };
    (0..nodes).into_par_iter().with_min_len(16).map_init(|| scratch.clone(), one).collect()
}

/// The K-th largest count of a row, the diagonal apart; 0 where fewer than K are positive. With
/// equal N everywhere, counts order as ratios do, and comparing small integers is many times
/// faster.
fn threshold_of_counts(counts: &[u16], i: usize, k: usize) -> u16 {
    let reaching = |t: u16| -> usize {
        let all: usize = counts
            .chunks(1 << 15)
            .map(|c| usize::from(c.iter().map(|&c| u16::from(c >= t)).sum::<u16>()))
            .sum();
        all - usize::from(counts[i] >= t)
    };
    // The largest t that at least k entries reach.
    let (mut low, mut high) = (0, counts.iter().fold(0, |m, &c| m.max(c)));
    while low < high {
        let middle = low + (high - low).div_ceil(2);
        if reaching(middle) >= k {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    low
}

fn links_of_counts(counts: &[u16], thresholds: &[u16], i: usize, members: f64) -> Vec<(u32, f64)> {
    const BLOCK: usize = 64;
    let own = thresholds[i];
    let mut links = Vec::new();
    let mut stays = [0u8; BLOCK];
    for (b, (counts, thresholds)) in counts.chunks(BLOCK).zip(thresholds.chunks(BLOCK)).enumerate()
    {
        let mut any = 0;
        for ((s, &c), &t) in stays.iter_mut().zip(counts).zip(thresholds) {
            *s = u8::from(c > 0) & (u8::from(c >= own) | u8::from(c >= t));
            any |= *s;
        }
        if any == 0 {
            continue;
        }
        for (at, &c) in counts.iter().enumerate() {
            if stays[at] != 0 && b * BLOCK + at != i {
                links.push(((b * BLOCK + at) as u32, f64::from(c) / members));
            }
        }
    }
    links
}

fn threshold_of_ratios(row: &AgreementRow<'_>, i: usize, n: usize, k: usize) -> f64 {
    kth((0..n).filter(|&j| j != i && row.together(j) > 0.0).map(|j| row.ratio(j)).collect(), k)
}

/// The K-th largest, 0 where there are fewer.
fn kth(mut positive: Vec<f64>, k: usize) -> f64 {
    if positive.len() < k {
        return 0.0;
    }
    let (_, &mut threshold, _) = positive.select_nth_unstable_by(k - 1, |a, b| b.total_cmp(a));
    threshold
}
