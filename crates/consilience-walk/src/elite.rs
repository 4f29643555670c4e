use std::mem::take;
use std::sync::atomic::{AtomicUsize, Ordering};

use consilience_core::{
    MemoryBudget, Microclusters, Observer, Result, SimilarityGraph, ensure, room,
};
use consilience_graph::{AgreementRow, ClusterIncidence, CountRow};
use consilience_num::reduce::{each_chunk_pair, try_map_each};
use consilience_num::sets::{PlaceCounts, PlaceSets};
use consilience_num::sparse::Csr;
use consilience_num::tally::{places_reaching, reaching};

/// A link costs 16 bytes while rows are gathered and 12 in each of the up to five matrices of a
/// walk.
const BYTES_PER_LINK: usize = 64;

/// With up to so many clusters per member, all microclusters are compared with a cluster as bits;
/// smaller ones are sooner walked along.
const CLUSTERS_AS_BITS: usize = 256;

/// Microclusters that one task compares with all others.
const TOGETHER: usize = 32;

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
/// O(n~^2 M) operations on single bits, hundreds at a time, where members have at most 256 clusters
/// on average, and on bytes beyond; in parallel. Memory in proportion to the links that stay, and a
/// bit per microcluster and cluster.
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
        let members = microclusters.n_members();
        let strongest = if !microclusters.is_plain() || !microclusters.is_complete() {
            each(&AgreementRow::new(microclusters)?, n, observer, |row, i| {
                row.fill(i);
                let others = (0..n).filter(|&j| j != i).map(|j| (j as u32, row.ratio(j)));
                counted(strongest(others.filter(|&(_, w)| w > 0.0).collect(), k))
            })?
        } else if let Some((incidence, sets)) = as_bits(microclusters, budget, observer)? {
            let scratch = (PlaceCounts::new(&sets, members)?, 0);
            each(&scratch, n, observer, |(counts, threshold), i| {
                counts.fill(&sets, incidence.clusters_of(i));
                counted(strongest_counts(counts, i, k, members, threshold)?)
            })?
        } else {
            let scratch = (CountRow::new(microclusters)?, 0);
            each(&scratch, n, observer, |(row, threshold), i| {
                row.fill(microclusters, i);
                counted(strongest_counts(row.together(), i, k, members, threshold)?)
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
        Self::of_similarity_within(graph, k, MemoryBudget::default(), &())
    }

    /// As [`EliteNeighbours::of_similarity`], for a given budget.
    pub(crate) fn of_similarity_within(
        graph: &SimilarityGraph,
        k: usize,
        budget: MemoryBudget,
        observer: &dyn Observer,
    ) -> Result<Self> {
        ensure!(k > 0, invalid("0 elite neighbours; expected at least 1"));
        let (s, n) = (graph.weights(), graph.grouping().n_nodes());
        let mut seen = 0;
        let mut own = Vec::with_capacity(n);
        for (i, row) in s.rows().into_iter().enumerate() {
            observer.check()?;
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
fn each<R: Clone + Sync, T: Send>(
    scratch: &R,
    nodes: usize,
    observer: &dyn Observer,
    work: impl Fn(&mut R, usize) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    let some = |c: usize| -> Result<Vec<T>> {
        observer.check()?;
        let mut scratch = scratch.clone();
        let own = c * TOGETHER..nodes.min((c + 1) * TOGETHER);
        own.map(|i| work(&mut scratch, i)).collect()
    };
    let parts = try_map_each(nodes.div_ceil(TOGETHER), &some)?;
    Ok(parts.into_iter().flatten().collect())
}

/// The clusters of a complete ensemble as sets of microclusters, where these are few and large
/// enough.
fn as_bits(
    microclusters: &Microclusters,
    budget: MemoryBudget,
    observer: &dyn Observer,
) -> Result<Option<(ClusterIncidence, PlaceSets)>> {
    let nodes = microclusters.n_nodes();
    let clusters: usize = microclusters.rows().iter().map(|member| member.n_clusters()).sum();
    if clusters > CLUSTERS_AS_BITS * microclusters.n_members()
        || budget.check_table("clusters as bits", PlaceSets::bytes(nodes, clusters), 1, 1).is_err()
    {
        return Ok(None);
    }
    let incidence = ClusterIncidence::of_observed(microclusters, observer)?;
    let mut sets = PlaceSets::new(nodes, clusters)?;
    for cluster in 0..clusters {
        incidence.rows_of(cluster).iter().for_each(|&i| sets.insert(cluster, i as usize));
    }
    Ok(Some((incidence, sets)))
}

/// A row of whole pair counts.
trait Counts {
    fn count(&self, place: usize) -> usize;
    /// How many counts are at least `least`, which is 1 or more.
    fn reaching(&self, least: usize) -> usize;
    /// Where they are, ascending, and which.
    fn each_reaching(&self, least: usize, with: impl FnMut(u32, usize));
}

impl Counts for [u16] {
    fn count(&self, place: usize) -> usize {
        usize::from(self[place])
    }

    fn reaching(&self, least: usize) -> usize {
        reaching(self, least as u16)
    }

    fn each_reaching(&self, least: usize, mut with: impl FnMut(u32, usize)) {
        let places = places_reaching(self, least as u16);
        places.into_iter().for_each(|j| with(j, self.count(j as usize)));
    }
}

impl Counts for PlaceCounts {
    fn count(&self, place: usize) -> usize {
        self.get(place)
    }

    fn reaching(&self, least: usize) -> usize {
        self.reaching(least)
    }

    fn each_reaching(&self, least: usize, with: impl FnMut(u32, usize)) {
        self.each_reaching(least, with);
    }
}

/// The links of row `i` that reach its K-th largest count, the diagonal apart; all of them where
/// fewer than K are positive. With equal N everywhere, counts order as ratios do, and comparing
/// small integers is many times faster. Rows are much alike: `threshold` is that of the row before,
/// and then of this one.
fn strongest_counts<C: Counts + ?Sized>(
    counts: &C,
    i: usize,
    k: usize,
    members: usize,
    threshold: &mut usize,
) -> Result<Links> {
    *threshold = threshold_of_counts(counts, i, k, members, *threshold);
    let least = (*threshold).max(1);
    let mut links = room::with_capacity(counts.reaching(least))?;
    counts.each_reaching(least, |j, count| {
        if j as usize != i {
            links.push((j, count as f64 / members as f64));
        }
    });
    Ok(links)
}

/// The largest count that at least K of a row reach, the diagonal apart; 0 where fewer than K are
/// positive. `guess` and the one beside it, on the side where it has to be, are tried first.
fn threshold_of_counts<C: Counts + ?Sized>(
    counts: &C,
    i: usize,
    k: usize,
    most: usize,
    guess: usize,
) -> usize {
    let enough = |t: usize| counts.reaching(t) - usize::from(counts.count(i) >= t) >= k;
    let (mut low, mut high) = (0, most);
    let (mut next, mut tries) = (guess, 2);
    while low < high {
        let halved = low + (high - low).div_ceil(2);
        let near = tries > 0 && (low + 1..=high).contains(&next);
        let middle = if near { next } else { halved };
        tries -= usize::from(near);
        if enough(middle) {
            (low, next) = (middle, middle + 1);
        } else {
            (high, next) = (middle - 1, middle - 1);
        }
    }
    low
}

/// The links that reach the K-th largest, all where there are fewer.
fn strongest(mut positive: Links, k: usize) -> Links {
    if positive.len() < k {
        return positive;
    }
    let mut weights: Vec<f64> = positive.iter().map(|l| l.1).collect();
    let (_, &mut threshold, _) = weights.select_nth_unstable_by(k - 1, |a, b| b.total_cmp(a));
    positive.retain(|l| l.1 >= threshold);
    // A few links of each row stay, and no room for all others.
    positive.shrink_to_fit();
    positive
}

/// Links that are among the strongest of their row or of their column: the union of both.
fn of_either_end(mut own: Vec<Links>) -> Vec<Links> {
    let mut others: Vec<Links> = own.iter().map(|_| Vec::new()).collect();
    for (i, row) in own.iter().enumerate() {
        row.iter().for_each(|&(j, w)| others[j as usize].push((i as u32, w)));
    }
    let union = |_: usize, rows: &mut [Links], others: &mut [Links]| {
        for (row, others) in rows.iter_mut().zip(others) {
            let is_own = |j: u32| row.binary_search_by_key(&j, |l| l.0).is_ok();
            let more: Vec<_> = take(others).into_iter().filter(|l| !is_own(l.0)).collect();
            row.extend(more);
            row.sort_unstable_by_key(|l| l.0);
        }
    };
    each_chunk_pair(&mut own, TOGETHER, &mut others, TOGETHER, &union);
    own
}
