//! The pair counts that a consensus is fitted to.

use consilience_core::{
    Error, ErrorKind, LabelInt, MemoryBudget, Microclusters, Observer, Result, Seed, Stream,
    ensure, with_labels,
};
use consilience_graph::CountRow;
use rayon::prelude::*;
use std::ops::Range;

/// Microclusters per parallel task while pairs are sampled; fixed, so that the sample does not
/// depend on the number of threads.
const CHUNK: usize = 1024;

/// Pair counts (c, N) between microclusters with their sizes: what [`Pcc`](crate::Pcc) is fitted
/// to.
///
/// Between *all* microclusters of an ensemble, between a random *sample* of pairs, or *given* pair
/// by pair, for instance from a crowd's answers. A pair without common members (`N = 0`) has no
/// weight. Pairs inside a microcluster of s objects always count, with `c = N`, as their
/// `s (s - 1) / 2` object pairs.
///
/// ```
/// use consilience::bregman::{PairEvidence, Pcc};
///
/// // Four objects; (i, j, c, N): how often i and j were put together, of how many times they were
/// // seen.
/// let answers = [(0, 1, 9, 10), (2, 3, 8, 8), (0, 2, 0, 5), (1, 3, 1, 9), (1, 2, 0, 7)];
/// let evidence = PairEvidence::from_pairs(4, answers)?;
/// let y = Pcc::new(2).solution(&evidence)?.memberships.values().to_owned();
/// assert!((y[[0, 0]] - y[[1, 0]]).abs() < 0.2 && (y[[0, 0]] - y[[2, 0]]).abs() > 0.8);
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Complexity
/// All pairs: O(n~^2 M) byte operations in parallel and 2 n~^2 bytes (4 n~^2 where labels are
/// missing). Sampled or given pairs: 16 bytes for each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PairEvidence {
    sizes: Vec<u64>,
    /// Members that label each microcluster.
    own: Vec<u16>,
    /// All sizes are 1.
    single: bool,
    counts: Counts,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Counts {
    /// Full squares; `both` is empty where N is the same for all pairs.
    Dense { together: Vec<u16>, both: Vec<u16>, members: u16 },
    /// Both halves, rows compressed, columns ascending, no diagonal.
    Sparse { offsets: Vec<usize>, columns: Vec<u32>, together: Vec<u16>, both: Vec<u16> },
}

impl PairEvidence {
    /// The counts between all microclusters.
    ///
    /// # Errors
    /// [`ErrorKind::TooLarge`] beyond the budget or with more than 65,535 members.
    pub fn all(microclusters: &Microclusters, budget: MemoryBudget) -> Result<Self> {
        Self::all_observed(microclusters, budget, &())
    }

    /// As [`PairEvidence::all`], with cancellation.
    ///
    /// # Errors
    /// As [`PairEvidence::all`]; [`ErrorKind::Cancelled`].
    pub fn all_observed(
        microclusters: &Microclusters,
        budget: MemoryBudget,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let n = microclusters.n_nodes();
        let complete = microclusters.is_complete();
        budget.check_square("pair counts", n, if complete { 2 } else { 4 })?;
        let scratch = CountRow::new(microclusters)?;
        let mut together = vec![0u16; n * n];
        let mut both = vec![0u16; if complete { 0 } else { n * n }];
        let mut own = vec![0u16; n];
        let width = n.max(1);
        let fill = |row: &mut CountRow, i: usize, t: &mut [u16], b: &mut [u16], own: &mut u16| {
            if i.is_multiple_of(64) {
                observer.check()?;
            }
            row.fill(microclusters, i);
            t.copy_from_slice(row.together());
            b.copy_from_slice(&row.both()[..b.len()]);
            *own = row.both()[i];
            Ok::<(), Error>(())
        };
        let rows = together.par_chunks_mut(width).zip(own.par_iter_mut()).enumerate();
        if complete {
            rows.try_for_each_init(
                || scratch.clone(),
                |row, (i, (t, o))| fill(row, i, t, &mut [], o),
            )?;
        } else {
            rows.zip(both.par_chunks_mut(width)).try_for_each_init(
                || scratch.clone(),
                |row, ((i, (t, o)), b)| fill(row, i, t, b, o),
            )?;
        }
        let members = microclusters.n_members() as u16;
        let counts = Counts::Dense { together, both, members };
        Ok(Self::assemble(microclusters.sizes().to_vec(), own, counts))
    }

    /// The counts of a random sample: each pair of microclusters is in it with probability `share`.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidParameter`] for a share outside `(0, 1]`, [`ErrorKind::TooLarge`] beyond
    /// the budget or with more than 65,535 members.
    ///
    /// # Complexity
    /// O(n~ M) to lay the labels out row by row, then O(M) bytes read per sampled pair, in
    /// parallel.
    pub fn sampled(
        microclusters: &Microclusters,
        share: f64,
        seed: Seed,
        budget: MemoryBudget,
    ) -> Result<Self> {
        Self::sampled_observed(microclusters, share, seed, budget, &())
    }

    /// As [`PairEvidence::sampled`], with cancellation.
    ///
    /// # Errors
    /// As [`PairEvidence::sampled`]; [`ErrorKind::Cancelled`].
    pub fn sampled_observed(
        microclusters: &Microclusters,
        share: f64,
        seed: Seed,
        budget: MemoryBudget,
        observer: &dyn Observer,
    ) -> Result<Self> {
        ensure!(
            share > 0.0 && share <= 1.0,
            invalid("share {share} of the pairs; expected above 0, at most 1")
        );
        // The same limit on members as all counts have.
        drop(CountRow::new(microclusters)?);
        let n = microclusters.n_nodes();
        let expected = share * n as f64 * (n as f64 - 1.0) / 2.0;
        let expected = (expected + 6.0 * expected.sqrt()).min(9e15) as usize;
        budget.check_table("sampled pair counts", expected, 1, 24)?;
        let rows = LabelRows::new(microclusters);
        let chunks: Vec<Vec<PairCount>> = (0..n.div_ceil(CHUNK))
            .into_par_iter()
            .map(|chunk| {
                observer.check()?;
                let mut random = seed.derive("pairs", chunk as u64).stream();
                let first = chunk * CHUNK..n.min((chunk + 1) * CHUNK);
                Ok(sample(&rows, first, n, share, &mut random))
            })
            .collect::<Result<_>>()?;
        let own = (0..n).map(|i| rows.counts(i, i).1).collect();
        drop(rows);
        let sizes = microclusters.sizes().to_vec();
        Ok(Self::assemble(sizes, own, sparse(n, chunks)))
    }

    /// Counts given as (i, j, c, N); a pair that comes twice adds up, whichever way round. Every
    /// object stands for itself; see [`PairEvidence::with_sizes`].
    ///
    /// # Errors
    /// [`ErrorKind::Empty`] without objects, [`ErrorKind::OutOfRange`] for an object that does not
    /// exist, [`ErrorKind::InvalidParameter`] for a pair of an object with itself or `c > N`,
    /// [`ErrorKind::TooLarge`] for counts above 65,535 or 2^32 - 1 objects.
    pub fn from_pairs(
        objects: usize,
        pairs: impl IntoIterator<Item = (usize, usize, usize, usize)>,
    ) -> Result<Self> {
        ensure!(objects > 0, empty("pair counts of no objects"));
        if objects >= u32::MAX as usize {
            return Err(Error::new(
                ErrorKind::TooLarge,
                format!("pair counts of {objects} objects"),
            ));
        }
        let mut given: Vec<(u32, u32, u64, u64)> = Vec::new();
        for (i, j, c, both) in pairs {
            ensure!(i.max(j) < objects, out_of_range("pair ({i}, {j}) of {objects} objects"));
            ensure!(
                i != j && c <= both,
                invalid(
                    "pair ({i}, {j}) with c = {c}, N = {both}; expected two objects and c <= N"
                )
            );
            given.push((i.min(j) as u32, i.max(j) as u32, c as u64, both as u64));
        }
        given.sort_unstable_by_key(|p| (p.0, p.1));
        given.dedup_by(|next, kept| {
            let same = (next.0, next.1) == (kept.0, kept.1);
            if same {
                (kept.2, kept.3) = (kept.2.saturating_add(next.2), kept.3.saturating_add(next.3));
            }
            same
        });
        if let Some((i, j, _, both)) = given.iter().find(|p| p.3 > u64::from(u16::MAX)) {
            let message = format!("pair ({i}, {j}) counted {both} times; at most {}", u16::MAX);
            return Err(Error::new(ErrorKind::TooLarge, message));
        }
        given.retain(|p| p.3 > 0);
        let pairs = given.into_iter().map(|(i, j, c, b)| (i, j, c as u16, b as u16)).collect();
        Ok(Self::assemble(vec![1; objects], vec![1; objects], sparse(objects, vec![pairs])))
    }

    /// The same counts between groups of alike objects: how many objects each stands for, and how
    /// many members label it (N of the pairs inside).
    ///
    /// # Errors
    /// [`ErrorKind::ShapeMismatch`] for other lengths, [`ErrorKind::InvalidParameter`] for a size
    /// of 0.
    pub fn with_sizes(self, sizes: &[u64], own: &[u16]) -> Result<Self> {
        let n = self.n_nodes();
        ensure!(
            sizes.len() == n && own.len() == n,
            shape("{} sizes and {} own counts for {n} microclusters", sizes.len(), own.len())
        );
        if let Some(i) = sizes.iter().position(|&s| s == 0) {
            return Err(Error::invalid(format!("microcluster {i} of size 0; expected at least 1")));
        }
        Ok(Self::assemble(sizes.to_vec(), own.to_vec(), self.counts))
    }

    fn assemble(sizes: Vec<u64>, own: Vec<u16>, counts: Counts) -> Self {
        let single = sizes.iter().all(|&s| s == 1);
        PairEvidence { sizes, own, single, counts }
    }

    /// s_i / s_j: what turns the weight of a pair in row i into its weight in row j.
    #[inline]
    pub(crate) fn turned(&self, i: usize, j: usize) -> f64 {
        if self.single { 1.0 } else { self.sizes[i] as f64 / self.sizes[j] as f64 }
    }

    /// Number of microclusters (or objects, where nothing is collapsed).
    pub fn n_nodes(&self) -> usize {
        self.sizes.len()
    }

    /// Objects in each microcluster.
    pub fn sizes(&self) -> &[u64] {
        &self.sizes
    }

    /// Members that label each microcluster.
    pub fn own(&self) -> &[u16] {
        &self.own
    }

    /// Whether all pairs are held, in squares.
    pub fn is_dense(&self) -> bool {
        matches!(self.counts, Counts::Dense { .. })
    }

    /// Number of unordered pairs of different microclusters with evidence (`N > 0`).
    pub fn n_pairs(&self) -> usize {
        let n = self.n_nodes();
        match &self.counts {
            Counts::Dense { both, .. } if both.is_empty() => n * n.saturating_sub(1) / 2,
            Counts::Dense { both, .. } => {
                let observed = both.par_iter().filter(|&&b| b > 0).count();
                (observed - self.own.iter().filter(|&&o| o > 0).count()) / 2
            }
            Counts::Sparse { columns, .. } => columns.len() / 2,
        }
    }

    /// The pairs of one microcluster with others as (other, c, N), others ascending, those without
    /// evidence left out. Panics beyond the last microcluster, as indexing does.
    pub fn row(&self, i: usize) -> Vec<(usize, usize, usize)> {
        let mut scratch = (Vec::new(), Vec::new());
        let partners = self.load(i, &mut scratch.0, &mut scratch.1);
        let other = |at: usize| partners.map_or(at, |p| p[at] as usize);
        let counts = |at: usize| match &self.counts {
            Counts::Dense { together, both, members } => {
                let cell = i * self.n_nodes() + at;
                (together[cell], if both.is_empty() { *members } else { both[cell] })
            }
            Counts::Sparse { offsets, together, both, .. } => {
                (together[offsets[i] + at], both[offsets[i] + at])
            }
        };
        (0..scratch.0.len())
            .map(|at| (other(at), counts(at)))
            .filter(|&(j, (_, both))| j != i && both > 0)
            .map(|(j, (c, both))| (j, usize::from(c), usize::from(both)))
            .collect()
    }

    /// Entries of row i: all microclusters, or the observed partners.
    pub(crate) fn row_len(&self, i: usize) -> usize {
        match &self.counts {
            Counts::Dense { .. } => self.n_nodes(),
            Counts::Sparse { offsets, .. } => offsets[i + 1] - offsets[i],
        }
    }

    /// Whether microcluster i is in no pair with evidence.
    pub(crate) fn alone(&self, i: usize) -> bool {
        let n = self.n_nodes();
        let paired = match &self.counts {
            Counts::Dense { both, .. } if both.is_empty() => n > 1,
            Counts::Dense { both, .. } => {
                both[i * n..(i + 1) * n].iter().enumerate().any(|(j, &b)| j != i && b > 0)
            }
            Counts::Sparse { offsets, .. } => offsets[i + 1] > offsets[i],
        };
        !paired && self.inside(i) == 0.0
    }

    /// Observed partners of i where the evidence is sparse.
    pub(crate) fn partners(&self, i: usize) -> Option<&[u32]> {
        match &self.counts {
            Counts::Dense { .. } => None,
            Counts::Sparse { offsets, columns, .. } => Some(&columns[offsets[i]..offsets[i + 1]]),
        }
    }

    /// Writes the observed frequencies a of row i and the weights `s_j N_ij`, 0 for i itself;
    /// returns the partners where not all microclusters are.
    pub(crate) fn load(&self, i: usize, a: &mut Vec<f64>, w: &mut Vec<f64>) -> Option<&[u32]> {
        let len = self.row_len(i);
        a.resize(len, 0.0);
        w.resize(len, 0.0);
        match &self.counts {
            Counts::Dense { together, both, members } => {
                let together = &together[i * len..(i + 1) * len];
                if both.is_empty() {
                    let members = f64::from(*members);
                    for (((a, w), &c), &s) in
                        a.iter_mut().zip(&mut *w).zip(together).zip(&self.sizes)
                    {
                        *a = f64::from(c) / members;
                        *w = s as f64 * members;
                    }
                } else {
                    let both = &both[i * len..(i + 1) * len];
                    for ((((a, w), &c), &b), &s) in
                        a.iter_mut().zip(&mut *w).zip(together).zip(both).zip(&self.sizes)
                    {
                        *a = f64::from(c) / f64::from(b.max(1));
                        *w = s as f64 * f64::from(b);
                    }
                }
                w[i] = 0.0;
                None
            }
            Counts::Sparse { offsets, columns, together, both } => {
                let at = offsets[i]..offsets[i + 1];
                let columns = &columns[at.clone()];
                let counts = together[at.clone()].iter().zip(&both[at]);
                for ((a, w), (&c, &b)) in a.iter_mut().zip(&mut *w).zip(counts) {
                    *a = f64::from(c) / f64::from(b);
                    *w = f64::from(b);
                }
                if !self.single {
                    for (w, &j) in w.iter_mut().zip(columns) {
                        *w *= self.sizes[j as usize] as f64;
                    }
                }
                Some(columns)
            }
        }
    }

    /// Frequency and `s_i s_j N_ij` of one pair, if observed.
    pub(crate) fn pair(&self, i: usize, j: usize) -> Option<(f64, f64)> {
        let (c, b) = match &self.counts {
            Counts::Dense { together, both, members } => {
                let at = i * self.n_nodes() + j;
                (together[at], if both.is_empty() { *members } else { both[at] })
            }
            Counts::Sparse { offsets, columns, together, both } => {
                let row = &columns[offsets[i]..offsets[i + 1]];
                let at = offsets[i] + row.binary_search(&(j as u32)).ok()?;
                (together[at], both[at])
            }
        };
        let sizes = self.sizes[i] as f64 * self.sizes[j] as f64;
        (b > 0).then(|| (f64::from(c) / f64::from(b), sizes * f64::from(b)))
    }

    /// Weight `(s_i - 1) N_ii` of the pairs inside microcluster i, per object of it: the gradient
    /// of its objective is this times `d'(1, y'y) y`.
    pub(crate) fn inside(&self, i: usize) -> f64 {
        (self.sizes[i] as f64 - 1.0) * f64::from(self.own[i])
    }
}

/// A pair (i, j, c, N).
type PairCount = (u32, u32, u16, u16);

/// The sampled pairs whose first microcluster is one of some.
fn sample(
    rows: &LabelRows,
    first: Range<usize>,
    n: usize,
    share: f64,
    random: &mut Stream,
) -> Vec<PairCount> {
    // Lengths of the gaps between chosen pairs are geometric.
    let scale = (-share).ln_1p();
    let mut found = Vec::new();
    for i in first {
        let mut j = i;
        loop {
            let gap = if share < 1.0 { (1.0 - random.uniform()).ln() / scale } else { 0.0 };
            if gap >= (n - j) as f64 {
                break;
            }
            j += 1 + gap as usize;
            if j >= n {
                break;
            }
            let (c, both) = rows.counts(i, j);
            if both > 0 {
                found.push((i as u32, j as u32, c, both));
            }
        }
    }
    found
}

/// Both halves of the pairs of ascending chunks; memory of a chunk is freed as it is copied.
fn sparse(n: usize, chunks: Vec<Vec<PairCount>>) -> Counts {
    let mut offsets = vec![0usize; n + 1];
    for &(i, j, ..) in chunks.iter().flatten() {
        offsets[i as usize + 1] += 1;
        offsets[j as usize + 1] += 1;
    }
    for i in 0..n {
        offsets[i + 1] += offsets[i];
    }
    let total = offsets[n];
    let (mut columns, mut together, mut both) = (vec![0; total], vec![0; total], vec![0; total]);
    // Row j gets its smaller partners first and in order, since the pairs come sorted by i: columns
    // ascend.
    let mut next: Vec<usize> = offsets[..n].to_vec();
    for chunk in chunks {
        for (i, j, c, b) in chunk {
            for (from, to) in [(i, j), (j, i)] {
                let at = next[from as usize];
                next[from as usize] += 1;
                (columns[at], together[at], both[at]) = (to, c, b);
            }
        }
    }
    Counts::Sparse { offsets, columns, together, both }
}

/// The labels of each microcluster side by side, so that two of them are compared in one pass.
struct LabelRows {
    members: usize,
    labels: Narrow,
}

enum Narrow {
    U8(Vec<u8>),
    U16(Vec<u16>),
    U32(Vec<u32>),
}

impl LabelRows {
    fn new(microclusters: &Microclusters) -> Self {
        let width = microclusters.rows().iter().map(|p| p.labels().width()).max().unwrap_or(1);
        let labels = match width {
            1 => Narrow::U8(transposed(microclusters, u8::MAX, |l| l as u8)),
            2 => Narrow::U16(transposed(microclusters, u16::MAX, |l| l as u16)),
            _ => Narrow::U32(transposed(microclusters, u32::MAX, |l| l as u32)),
        };
        LabelRows { members: microclusters.rows().len(), labels }
    }

    /// (c, N) of two microclusters.
    fn counts(&self, i: usize, j: usize) -> (u16, u16) {
        fn count<L: Copy + Eq>(x: &[L], y: &[L], missing: L) -> (u16, u16) {
            x.iter().zip(y).fold((0, 0), |(c, n), (&a, &b)| {
                let both = u16::from(a != missing) & u16::from(b != missing);
                (c + (both & u16::from(a == b)), n + both)
            })
        }
        let m = self.members;
        let at = |i: usize| i * m..(i + 1) * m;
        match &self.labels {
            Narrow::U8(l) => count(&l[at(i)], &l[at(j)], u8::MAX),
            Narrow::U16(l) => count(&l[at(i)], &l[at(j)], u16::MAX),
            Narrow::U32(l) => count(&l[at(i)], &l[at(j)], u32::MAX),
        }
    }
}

fn transposed<L: Copy + Send + Sync>(
    microclusters: &Microclusters,
    missing: L,
    narrow: impl Fn(usize) -> L + Sync,
) -> Vec<L> {
    let (n, m) = (microclusters.n_nodes(), microclusters.rows().len());
    let mut out = vec![missing; n * m];
    out.par_chunks_mut((CHUNK * m).max(1)).enumerate().for_each(|(chunk, out)| {
        for (u, member) in microclusters.rows().iter().enumerate() {
            with_labels!(member.labels(), |labels| {
                let labels = &labels[chunk * CHUNK..];
                for (row, &l) in out.chunks_mut(m).zip(labels) {
                    if !l.is_missing() {
                        row[u] = narrow(l.index());
                    }
                }
            });
        }
    });
    out
}
