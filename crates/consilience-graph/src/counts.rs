use std::sync::Arc;

#[cfg(any(doc, test))]
use consilience_core::ErrorKind;
use consilience_core::{
    Error, LabelInt, MemoryBudget, Observer, Partition, Result, ensure, room, with_labels,
};
use consilience_num::tally::tally;
use rayon::prelude::*;
use sprs::CsMat;

use crate::{ClusterIncidence, Microclusters};

/// Comparisons of labels that take as long as one addition at a place in memory.
const COMPARISONS: usize = 16;

/// The pair counts of one microcluster with all others, computed on demand.
///
/// This is what dense and sparse counts, co-association and elite neighbours are all made from:
/// small clusters are walked along, and the columns of members with large ones compared, some
/// dozens of labels at a time.
///
/// ```
/// use consilience::{Ensemble, Microclusters, Partition};
/// use consilience::graph::CountRow;
///
/// let ensemble = Ensemble::new(vec![
///     Partition::from_labels(&[0, 0, 1])?,
///     Partition::from_labels(&[0, 1, -1])?,
/// ])?;
/// let nodes = Microclusters::of(&ensemble)?;
/// let mut row = CountRow::new(&nodes)?;
/// row.fill(&nodes, 0);
/// assert_eq!((row.together(), row.both()), (&[2, 1, 0][..], &[2, 2, 1][..]));
/// assert_eq!(row.ratio(1), 0.5);
/// # Ok::<(), consilience::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct CountRow {
    together: Vec<u16>,
    both: Vec<u16>,
    narrow: Vec<u8>,
    complete: bool,
    incidence: Arc<ClusterIncidence>,
}

impl CountRow {
    /// Scratch for the rows of these microclusters.
    ///
    /// # Errors
    /// [`ErrorKind::TooLarge`] with more than 65,535 members, whose counts would overflow;
    /// [`ErrorKind::InvalidParameter`] where members give memberships or have weights: counts are
    /// whole numbers, and [`AgreementRow`](crate::AgreementRow) has others.
    pub fn new(microclusters: &Microclusters) -> Result<Self> {
        ensure!(
            microclusters.is_plain(),
            invalid("whole pair counts of members with memberships or weights")
        );
        let (n, members) = (microclusters.n_nodes(), microclusters.n_members());
        ensure!(
            members <= usize::from(u16::MAX),
            too_large("pair counts over {members} members; at most {} fit", u16::MAX)
        );
        let complete = microclusters.is_complete();
        Ok(CountRow {
            together: vec![0; n],
            // The same in every row where all is labelled.
            both: vec![if complete { members as u16 } else { 0 }; n],
            narrow: vec![0; n],
            complete,
            incidence: Arc::new(ClusterIncidence::of(microclusters)?),
        })
    }

    /// Counts of microcluster `i` with every other, and with itself.
    ///
    /// # Complexity
    /// O(n~ M) byte operations at most, several per instruction; where clusters are small, one
    /// addition for each of their microclusters.
    pub fn fill(&mut self, microclusters: &Microclusters, i: usize) {
        let CountRow { together, both, narrow, complete, incidence } = self;
        let rows = microclusters.rows();
        let few = rows[0].n_objects() / COMPARISONS;
        count(together, narrow, rows, |counts, u, member| {
            let Some(label) = member.label(i) else { return };
            let mates = incidence.rows_of(incidence.clusters_of_member(u).start + label);
            if mates.len() <= few {
                mates.iter().for_each(|&j| counts[j as usize] += 1);
            } else {
                with_labels!(member.labels(), |labels| tally(counts, labels, labels[i], true));
            }
        });
        if !*complete {
            count(both, narrow, rows, |counts, _, member| {
                if member.label(i).is_some() {
                    with_labels!(member.labels(), |labels| missing_apart(counts, labels));
                }
            });
        }
    }

    /// c of the last row filled: members that put both microclusters in one cluster.
    pub fn together(&self) -> &[u16] {
        &self.together
    }

    /// N of the last row filled: members that label both.
    pub fn both(&self) -> &[u16] {
        &self.both
    }

    /// a = c / N of the last row filled, 0 where no member labels both.
    #[inline]
    pub fn ratio(&self, j: usize) -> f64 {
        if self.both[j] == 0 { 0.0 } else { f64::from(self.together[j]) / f64::from(self.both[j]) }
    }
}

/// Adds up what `add` counts for each member.
fn count(
    out: &mut [u16],
    narrow: &mut [u8],
    members: &[Partition],
    add: impl Fn(&mut [u8], usize, &Partition),
) {
    /// Byte counters hold 255 members; only then are they added to the wide ones.
    const BATCH: usize = 255;
    for (batch, members) in members.chunks(BATCH).enumerate() {
        narrow.fill(0);
        for (u, member) in members.iter().enumerate() {
            add(narrow, batch * BATCH + u, member);
        }
        let counted = out.iter_mut().zip(narrow.iter());
        match batch {
            0 => counted.for_each(|(o, &c)| *o = u16::from(c)),
            _ => counted.for_each(|(o, &c)| *o += u16::from(c)),
        }
    }
}

fn missing_apart<L: LabelInt>(counts: &mut [u8], labels: &[L]) {
    tally(counts, labels, L::MISSING, false);
}

/// The pair counts (c, N) between all microclusters, as two triangles.
///
/// c counts the members that put both in one cluster, N those that label both. They are the common
/// currency of every method on pairs; objects inside one microcluster have the counts of its
/// diagonal.
///
/// ```
/// use consilience::{Ensemble, MemoryBudget, Microclusters, Partition};
/// use consilience::graph::PairCounts;
///
/// let ensemble = Ensemble::new(vec![
///     Partition::from_labels(&[0, 0, 1])?,
///     Partition::from_labels(&[0, 1, -1])?,
/// ])?;
/// let m = Microclusters::of(&ensemble)?;
/// let counts = PairCounts::of(&m, MemoryBudget::default(), &())?;
/// assert_eq!(counts.get(0, 1), (1, 2));
/// assert_eq!(counts.get(2, 0), (0, 1));
/// assert_eq!(counts.ratio(0, 1), Some(0.5));
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Complexity
/// O(n~^2 M) byte operations in parallel; 2 bytes per pair, 4 where some label is missing.
#[doc(alias = "co-association")]
#[doc(alias = "consensus_matrix")]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PairCounts {
    nodes: usize,
    members: usize,
    /// Rows of the upper triangle, diagonal included.
    together: Vec<u16>,
    /// Empty where every member labels everything: N = M.
    both: Vec<u16>,
}

impl PairCounts {
    /// Counts between all pairs of microclusters.
    ///
    /// # Errors
    /// [`ErrorKind::TooLarge`] beyond the budget or with more than 65,535 members,
    /// [`ErrorKind::Cancelled`].
    pub fn of(
        microclusters: &Microclusters,
        budget: MemoryBudget,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let (nodes, members) = (microclusters.n_nodes(), microclusters.n_members());
        budget.check_square("pair counts", nodes, 2)?;
        let scratch = CountRow::new(microclusters)?;
        let complete = microclusters.is_complete();
        let cells = nodes * (nodes + 1) / 2;
        let mut together = room::zeros::<u16>(cells)?;
        let mut both = room::zeros::<u16>(if complete { 0 } else { cells })?;
        // The triangle's rows have unequal lengths: cut it into slices first, then share them out.
        let mut jobs = Vec::with_capacity(nodes);
        let (mut t, mut b) = (together.as_mut_slice(), both.as_mut_slice());
        for i in 0..nodes {
            let (head, rest) = t.split_at_mut(nodes - i);
            t = rest;
            let cut = if complete { 0 } else { nodes - i };
            let (head_both, rest) = b.split_at_mut(cut);
            b = rest;
            jobs.push((i, head, head_both));
        }
        jobs.into_par_iter().try_for_each_init(
            || scratch.clone(),
            |row, (i, t, b)| {
                if i % 64 == 0 {
                    observer.check()?;
                }
                row.fill(microclusters, i);
                t.copy_from_slice(&row.together[i..]);
                if !complete {
                    b.copy_from_slice(&row.both[i..]);
                }
                Ok::<(), Error>(())
            },
        )?;
        Ok(PairCounts { nodes, members, together, both })
    }

    /// Number of microclusters.
    pub fn n_nodes(&self) -> usize {
        self.nodes
    }

    fn at(&self, i: usize, j: usize) -> usize {
        let (i, j) = (i.min(j), i.max(j));
        assert!(j < self.nodes, "microcluster {j} of {}", self.nodes);
        i * self.nodes - i * (i + 1) / 2 + j
    }

    /// (c, N) of a pair. Panics for a microcluster that does not exist, as indexing does.
    pub fn get(&self, i: usize, j: usize) -> (usize, usize) {
        let at = self.at(i, j);
        let both = if self.both.is_empty() { self.members } else { usize::from(self.both[at]) };
        (usize::from(self.together[at]), both)
    }

    /// a = c / N of a pair, `None` where no member labels both.
    pub fn ratio(&self, i: usize, j: usize) -> Option<f64> {
        match self.get(i, j) {
            (_, 0) => None,
            (c, n) => Some(c as f64 / n as f64),
        }
    }
}

/// The pairs of microclusters that some member puts together, with their counts: rows compressed,
/// columns ascending, both halves and no diagonal.
///
/// ```
/// use consilience::{Ensemble, Microclusters, Partition};
/// use consilience::graph::SparsePairCounts;
///
/// let ensemble = Ensemble::new(vec![
///     Partition::from_labels(&[0, 0, 1, 2])?,
///     Partition::from_labels(&[0, 1, 1, 2])?,
/// ])?;
/// let m = Microclusters::of(&ensemble)?;
/// let counts = SparsePairCounts::of(&m, &())?;
/// assert_eq!(counts.n_links(), 2); // 0-1 and 1-2, each once
/// assert_eq!(counts.row(1).collect::<Vec<_>>(), vec![(0, 1, 2), (2, 1, 2)]);
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Complexity
/// O(n~^2 M) byte operations in parallel, memory in proportion to the links.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SparsePairCounts {
    offsets: Vec<usize>,
    columns: Vec<u32>,
    together: Vec<u16>,
    both: Vec<u16>,
}

impl SparsePairCounts {
    /// Counts of all linked pairs.
    ///
    /// # Errors
    /// [`ErrorKind::TooLarge`] with more than 65,535 members, [`ErrorKind::Cancelled`].
    pub fn of(microclusters: &Microclusters, observer: &dyn Observer) -> Result<Self> {
        let nodes = microclusters.n_nodes();
        let scratch = CountRow::new(microclusters)?;
        let rows: Vec<Vec<(u32, u16, u16)>> = (0..nodes)
            .into_par_iter()
            .map_init(
                || scratch.clone(),
                |row, i| {
                    if i % 64 == 0 {
                        observer.check()?;
                    }
                    row.fill(microclusters, i);
                    let links = (0..nodes)
                        .filter(|&j| j != i && row.together[j] > 0)
                        .map(|j| (j as u32, row.together[j], row.both[j]));
                    Ok(links.collect())
                },
            )
            .collect::<Result<_>>()?;
        let mut out = SparsePairCounts {
            offsets: Vec::with_capacity(nodes + 1),
            columns: Vec::new(),
            together: Vec::new(),
            both: Vec::new(),
        };
        out.offsets.push(0);
        for row in rows {
            for (j, c, n) in row {
                out.columns.push(j);
                out.together.push(c);
                out.both.push(n);
            }
            out.offsets.push(out.columns.len());
        }
        Ok(out)
    }

    /// Number of microclusters.
    pub fn n_nodes(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Number of unordered linked pairs.
    pub fn n_links(&self) -> usize {
        self.columns.len() / 2
    }

    /// The co-association `a = c / N` of the linked pairs as a matrix of the crate `sprs`,
    /// compressed by rows: both halves and no diagonal.
    ///
    /// ```
    /// use consilience::{Ensemble, Microclusters, Partition};
    /// use consilience::graph::SparsePairCounts;
    ///
    /// let ensemble = Ensemble::new(vec![
    ///     Partition::from_labels(&[0, 0, 1])?,
    ///     Partition::from_labels(&[0, 1, 1])?,
    /// ])?;
    /// let counts = SparsePairCounts::of(&Microclusters::of(&ensemble)?, &())?;
    /// let matrix: consilience::sprs::CsMat<f64> = counts.to_sprs();
    /// assert_eq!((matrix.nnz(), matrix.get(0, 1), matrix.get(0, 2)), (4, Some(&0.5), None));
    /// # Ok::<(), consilience::Error>(())
    /// ```
    ///
    /// # Complexity
    /// O(links) time, 16 bytes per entry.
    pub fn to_sprs(&self) -> CsMat<f64> {
        let (n, columns) = (self.n_nodes(), self.columns.iter().map(|&j| j as usize).collect());
        let ratios = self.together.iter().zip(&self.both);
        let ratios = ratios.map(|(&c, &n)| f64::from(c) / f64::from(n)).collect();
        CsMat::new((n, n), self.offsets.clone(), columns, ratios)
    }

    /// The links of one microcluster as (other, c, N), others ascending.
    pub fn row(&self, i: usize) -> impl Iterator<Item = (usize, usize, usize)> + '_ {
        (self.offsets[i]..self.offsets[i + 1]).map(|at| {
            (self.columns[at] as usize, usize::from(self.together[at]), usize::from(self.both[at]))
        })
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use consilience_core::{Ensemble, Seed};

    /// Members with so many clusters and such a share of missing labels.
    pub(crate) fn random(seed: u64, n: usize, members: usize, k: usize, missing: f64) -> Ensemble {
        let mut s = Seed(seed).stream();
        let members = (0..members)
            .map(|_| {
                let labels: Vec<i64> = (0..n)
                    .map(|_| if s.uniform() < missing { -1 } else { s.below(k) as i64 })
                    .collect();
                Partition::from_labels(&labels).unwrap()
            })
            .collect();
        Ensemble::new(members).unwrap()
    }

    #[test]
    fn dense_and_sparse_equal_counting_by_hand() {
        for (seed, members, k, missing) in
            [(0, 3, 2, 0.0), (1, 4, 3, 0.4), (2, 600, 2, 0.1), (3, 3, 400, 0.0), (4, 1, 1, 0.0)]
        {
            let e = random(seed, 60, members, k, missing);
            let m = Microclusters::each_object(&e).unwrap();
            let dense = PairCounts::of(&m, MemoryBudget::default(), &()).unwrap();
            let sparse = SparsePairCounts::of(&m, &()).unwrap();
            assert_eq!(sparse.n_nodes(), m.n_nodes());
            for i in 0..m.n_nodes() {
                let mut links = Vec::new();
                for j in 0..m.n_nodes() {
                    let labels = |o: usize| m.rows().iter().map(move |p| p.label(o));
                    let both = labels(i).zip(labels(j)).filter(|(a, b)| a.is_some() && b.is_some());
                    let n = both.clone().count();
                    let c = both.filter(|(a, b)| a == b).count();
                    assert_eq!(dense.get(i, j), (c, n), "{i} {j}");
                    let ratio = (n > 0).then(|| c as f64 / n as f64);
                    assert_eq!(dense.ratio(i, j), ratio, "{i} {j}");
                    if i != j && c > 0 {
                        links.push((j, c, n));
                    }
                }
                assert_eq!(sparse.row(i).collect::<Vec<_>>(), links);
            }
        }
    }

    #[test]
    fn too_large_is_said_before_anything_is_allocated() {
        let m = Microclusters::of(&random(0, 100, 8, 3, 0.0)).unwrap();
        let e = PairCounts::of(&m, MemoryBudget::bytes(100), &()).unwrap_err();
        assert_eq!(e.kind(), ErrorKind::TooLarge);
    }
}
