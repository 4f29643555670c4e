//! The pair counts that a consensus is fitted to.

use consilience_core::room::Zero;
use consilience_core::{
    Error, ErrorKind, LabelInt, MemoryBudget, Microclusters, Observer, Result, Seed, Stop, Stream,
    ensure, room, with_labels,
};
use consilience_graph::{AgreementRow, CountRow};
use consilience_num::reduce::{each_chunk, each_chunk_pair, ordered_chunks, try_map_each};
use std::ops::Range;

/// Microclusters per parallel task while pairs are sampled; fixed, so that the sample does not
/// depend on the number of threads.
const CHUNK: usize = 1024;
/// Rows of counts that one task fills.
const ROWS: usize = 16;
/// Largest number of members, each as often as it counts, that label a microcluster: with larger
/// ones sums over pairs could leave the numbers there are.
const OWN: f64 = 9_007_199_254_740_992.0;

/// Pair counts (c, N) between microclusters with their sizes: what [`Pcc`](crate::Pcc) is fitted
/// to.
///
/// Between *all* microclusters of an ensemble, between a random *sample* of pairs, or *given* pair
/// by pair, for instance from a crowd's answers. A pair without common members (`N = 0`) has no
/// weight. Pairs inside a microcluster of s objects are always there, with `c = N` where members
/// have labels, as their `s (s - 1) / 2` object pairs; in a sample they weigh what is drawn of them
/// in the mean. Counts of members that give memberships are
/// expected ones, and members count as often as their weights say.
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
#[derive(Clone, Debug, PartialEq)]
pub struct PairEvidence {
    sizes: Vec<u64>,
    /// Members that label each microcluster, as often as they count.
    own: Vec<f64>,
    /// How far they put its objects together; empty where they do entirely.
    within: Vec<f64>,
    /// All sizes are 1.
    single: bool,
    /// Share of the pairs that were drawn: pairs inside a microcluster count for so much of them.
    share: f64,
    /// Which pairs there are; all of them, in a full square, where `None`.
    pattern: Option<Pattern>,
    counts: Counts,
}

/// Both halves, rows compressed, columns ascending, no diagonal.
#[derive(Clone, Debug, PartialEq)]
struct Pattern {
    offsets: Vec<usize>,
    columns: Vec<u32>,
}

/// (c, N) of each pair.
#[derive(Clone, Debug, PartialEq)]
enum Counts {
    /// Of labels; `both` is empty where N is the same for all pairs.
    Whole { together: Vec<u16>, both: Vec<u16>, members: u16 },
    /// Of memberships, or of members with weights.
    Expected { together: Vec<f64>, both: Vec<f64> },
}

impl Counts {
    #[inline]
    fn get(&self, at: usize) -> (f64, f64) {
        match self {
            Counts::Whole { together, both, members } => {
                let both = if both.is_empty() { *members } else { both[at] };
                (f64::from(together[at]), f64::from(both))
            }
            Counts::Expected { together, both } => (together[at], both[at]),
        }
    }

    /// Writes frequencies and N of some pairs.
    fn load(&self, at: Range<usize>, a: &mut [f64], n: &mut [f64]) {
        match self {
            Counts::Whole { together, both, members } if both.is_empty() => {
                let members = f64::from(*members);
                a.iter_mut().zip(&together[at]).for_each(|(a, &c)| *a = f64::from(c) / members);
                n.fill(members);
            }
            Counts::Whole { together, both, .. } => {
                let counts = together[at.clone()].iter().zip(&both[at]);
                for ((a, n), (&c, &b)) in a.iter_mut().zip(n).zip(counts) {
                    *a = f64::from(c) / f64::from(b.max(1));
                    *n = f64::from(b);
                }
            }
            Counts::Expected { together, both } => {
                let counts = together[at.clone()].iter().zip(&both[at]);
                for ((a, n), (&c, &b)) in a.iter_mut().zip(n).zip(counts) {
                    *a = if b > 0.0 { (c / b).min(1.0) } else { 0.0 };
                    *n = b;
                }
            }
        }
    }
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
        if !microclusters.is_plain() {
            return Self::expected(microclusters, budget, observer);
        }
        let n = microclusters.n_nodes();
        let complete = microclusters.is_complete();
        budget.check_square("pair counts", n, if complete { 2 } else { 4 })?;
        let scratch = CountRow::new(microclusters)?;
        let mut together = room::zeros::<u16>(n * n)?;
        let mut both = room::zeros::<u16>(if complete { 0 } else { n * n })?;
        let (width, stop) = ((ROWS * n).max(1), Stop::new(observer));
        let fill = |c: usize, together: &mut [u16], both: &mut [u16]| {
            if stop.asked() {
                return;
            }
            let mut row = scratch.clone();
            for (r, together) in together.chunks_mut(n).enumerate() {
                row.fill(microclusters, c * ROWS + r);
                together.copy_from_slice(row.together());
                if let Some(both) = both.get_mut(r * n..(r + 1) * n) {
                    both.copy_from_slice(row.both());
                }
            }
        };
        if complete {
            each_chunk(&mut together, width, &|c, together| fill(c, together, &mut []));
        } else {
            each_chunk_pair(&mut together, width, &mut both, width, &fill);
        }
        stop.check()?;
        let members = microclusters.n_members() as u16;
        let own = |i: usize| f64::from(if complete { members } else { both[i * n + i] });
        let own = (0..n).map(own).collect();
        let counts = Counts::Whole { together, both, members };
        Ok(Self::assemble(microclusters.sizes().to_vec(), own, None, counts))
    }

    /// The expected counts between all microclusters.
    fn expected(
        microclusters: &Microclusters,
        budget: MemoryBudget,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let n = microclusters.n_nodes();
        budget.check_square("expected pair counts", n, 16)?;
        let scratch = AgreementRow::new(microclusters)?;
        let (mut together, mut both) = (room::zeros(n * n)?, room::zeros(n * n)?);
        let (width, stop) = ((ROWS * n).max(1), Stop::new(observer));
        let fill = |c: usize, together: &mut [f64], both: &mut [f64]| {
            if stop.asked() {
                return;
            }
            let mut row = scratch.clone();
            for (r, (t, b)) in together.chunks_mut(n).zip(both.chunks_mut(n)).enumerate() {
                row.fill(c * ROWS + r);
                for (j, (t, b)) in t.iter_mut().zip(b).enumerate() {
                    (*t, *b) = (row.together(j), row.both(j));
                }
            }
        };
        each_chunk_pair(&mut together, width, &mut both, width, &fill);
        stop.check()?;
        Ok(Self::unequal(microclusters, None, Counts::Expected { together, both }))
    }

    /// The counts of a random sample: each pair of microclusters is in it with probability `share`,
    /// and the pairs inside microclusters weigh this share of what they weigh among all.
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
        let n = microclusters.n_nodes();
        let expected = share * n as f64 * (n as f64 - 1.0) / 2.0;
        let expected = (expected + 6.0 * expected.sqrt()).min(9e15) as usize;
        // As they are drawn, in room that doubles, and then both ways round, beside the labels.
        let (drawn, kept) = match microclusters.is_plain() {
            true => (size_of::<PairCount<u16>>(), 2 * (4 + 2 * size_of::<u16>())),
            false => (size_of::<PairCount<f64>>(), 2 * (4 + 2 * size_of::<f64>())),
        };
        let width = microclusters.rows().iter().map(|p| p.labels().width()).max().unwrap_or(1);
        let labels = microclusters.n_members().saturating_mul(width);
        let tables = [(expected, 2 * drawn + kept), (n, labels)];
        budget.check_tables("sampled pair counts", &tables, 1)?;
        if !microclusters.is_plain() {
            let agreement = |i, j| microclusters.agreement(i, j);
            let chunks = sample_all(n, share, seed, observer, |i, j| {
                Some(agreement(i, j)).filter(|(_, both)| *both > 0.0)
            })?;
            let (pattern, together, both) = sparse(n, chunks)?;
            let counts = Counts::Expected { together, both };
            return Ok(Self::unequal(microclusters, Some(pattern), counts).with_share(share));
        }
        // The same limit on members as all counts have.
        drop(CountRow::new(microclusters)?);
        let rows = LabelRows::new(microclusters);
        let chunks = sample_all(n, share, seed, observer, |i, j| {
            Some(rows.counts(i, j)).filter(|(_, both)| *both > 0)
        })?;
        let own = (0..n).map(|i| f64::from(rows.counts(i, i).1)).collect();
        drop(rows);
        let (pattern, together, both) = sparse(n, chunks)?;
        let counts = Counts::Whole { together, both, members: 0 };
        let sizes = microclusters.sizes().to_vec();
        Ok(Self::assemble(sizes, own, Some(pattern), counts).with_share(share))
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
        ensure!(objects < u32::MAX as usize, too_large("pair counts of {objects} objects"));
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
        let (pattern, together, both) = sparse(objects, vec![pairs])?;
        let counts = Counts::Whole { together, both, members: 0 };
        Ok(Self::assemble(vec![1; objects], vec![1.0; objects], Some(pattern), counts))
    }

    /// The same counts between groups of alike objects: how many objects each stands for, and how
    /// many members label it (N of the pairs inside).
    ///
    /// # Errors
    /// [`ErrorKind::ShapeMismatch`] for other lengths, [`ErrorKind::InvalidParameter`] for a size
    /// of 0 or a number of members outside `0..=2^53`.
    pub fn with_sizes(self, sizes: &[u64], own: &[f64]) -> Result<Self> {
        let n = self.n_nodes();
        ensure!(
            sizes.len() == n && own.len() == n,
            shape("{} sizes and {} own counts for {n} microclusters", sizes.len(), own.len())
        );
        if let Some(i) = sizes.iter().position(|&s| s == 0) {
            return Err(Error::invalid(format!("microcluster {i} of size 0; expected at least 1")));
        }
        if let Some(i) = own.iter().position(|o| !(0.0..=OWN).contains(o)) {
            let own = own[i];
            let message = format!("own count {own} of microcluster {i}; expected 0 to 2^53");
            return Err(Error::invalid(message));
        }
        let within = self.within;
        let evidence = Self::assemble(sizes.to_vec(), own.to_vec(), self.pattern, self.counts);
        Ok(PairEvidence { within, ..evidence.with_share(self.share) })
    }

    fn assemble(sizes: Vec<u64>, own: Vec<f64>, pattern: Option<Pattern>, counts: Counts) -> Self {
        let single = sizes.iter().all(|&s| s == 1);
        PairEvidence { sizes, own, within: Vec::new(), single, share: 1.0, pattern, counts }
    }

    fn with_share(self, share: f64) -> Self {
        PairEvidence { share, ..self }
    }

    /// Evidence from members that do not put alike objects together entirely, or count otherwise
    /// than once.
    fn unequal(nodes: &Microclusters, pattern: Option<Pattern>, counts: Counts) -> Self {
        let own: Vec<(f64, f64)> = (0..nodes.n_nodes()).map(|i| nodes.agreement(i, i)).collect();
        let within = own.iter().map(|(c, both)| (c / both).min(1.0)).collect();
        let own = own.into_iter().map(|(_, both)| both).collect();
        let evidence = Self::assemble(nodes.sizes().to_vec(), own, pattern, counts);
        PairEvidence { within, ..evidence }
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

    /// Members that label each microcluster, each as often as it counts.
    pub fn own(&self) -> &[f64] {
        &self.own
    }

    /// Whether all pairs are held, in squares.
    pub fn is_dense(&self) -> bool {
        self.pattern.is_none()
    }

    /// Number of unordered pairs of different microclusters with evidence (`N > 0`).
    pub fn n_pairs(&self) -> usize {
        let n = self.n_nodes();
        if let Some(pattern) = &self.pattern {
            return pattern.columns.len() / 2;
        }
        let observed = match &self.counts {
            Counts::Whole { both, .. } if both.is_empty() => n * n,
            Counts::Whole { both, .. } => above_zero(both),
            Counts::Expected { both, .. } => above_zero(both),
        };
        let itself = |i: usize| self.counts.get(self.cells(i).start + i).1 > 0.0;
        (observed - (0..n).filter(|&i| itself(i)).count()) / 2
    }

    /// The pairs of one microcluster with others as (other, c, N), others ascending, those without
    /// evidence left out. Panics beyond the last microcluster, as indexing does.
    pub fn row(&self, i: usize) -> Vec<(usize, f64, f64)> {
        let partners = self.partners(i);
        let other = |at: usize| partners.map_or(at, |p| p[at] as usize);
        let first = self.cells(i).start;
        (0..self.row_len(i))
            .map(|at| (other(at), self.counts.get(first + at)))
            .filter(|&(j, (_, both))| j != i && both > 0.0)
            .map(|(j, (c, both))| (j, c, both))
            .collect()
    }

    /// Where row i lies.
    fn cells(&self, i: usize) -> Range<usize> {
        match &self.pattern {
            None => i * self.n_nodes()..(i + 1) * self.n_nodes(),
            Some(Pattern { offsets, .. }) => offsets[i]..offsets[i + 1],
        }
    }

    /// Entries of row i: all microclusters, or the observed partners.
    pub(crate) fn row_len(&self, i: usize) -> usize {
        self.cells(i).len()
    }

    /// Whether microcluster i is in no pair with evidence.
    pub(crate) fn alone(&self, i: usize) -> bool {
        let paired = if self.is_dense() {
            let first = self.cells(i).start;
            let n = self.n_nodes();
            (0..n).any(|j| j != i && self.counts.get(first + j).1 > 0.0)
        } else {
            self.row_len(i) > 0
        };
        !paired && self.inside(i) == 0.0
    }

    /// Observed partners of i where the evidence is sparse.
    pub(crate) fn partners(&self, i: usize) -> Option<&[u32]> {
        self.pattern.as_ref().map(|p| &p.columns[self.cells(i)])
    }

    /// Writes the observed frequencies a of row i and the weights `s_j N_ij`, 0 for i itself;
    /// returns the partners where not all microclusters are.
    pub(crate) fn load(&self, i: usize, a: &mut Vec<f64>, w: &mut Vec<f64>) -> Option<&[u32]> {
        let len = self.row_len(i);
        a.resize(len, 0.0);
        w.resize(len, 0.0);
        self.counts.load(self.cells(i), a, w);
        let partners = self.partners(i);
        if !self.single {
            match partners {
                None => w.iter_mut().zip(&self.sizes).for_each(|(w, &s)| *w *= s as f64),
                Some(columns) => {
                    let own = w.iter_mut().zip(columns);
                    own.for_each(|(w, &j)| *w *= self.sizes[j as usize] as f64);
                }
            }
        }
        if partners.is_none() {
            w[i] = 0.0;
        }
        partners
    }

    /// Frequency and `s_i s_j N_ij` of one pair, if observed.
    pub(crate) fn pair(&self, i: usize, j: usize) -> Option<(f64, f64)> {
        let at = match self.partners(i) {
            None => j,
            Some(row) => row.binary_search(&(j as u32)).ok()?,
        };
        let (c, both) = self.counts.get(self.cells(i).start + at);
        let sizes = self.sizes[i] as f64 * self.sizes[j] as f64;
        (both > 0.0).then(|| ((c / both).min(1.0), sizes * both))
    }

    /// How far the objects of microcluster i are put together: the frequency of the pairs inside.
    pub(crate) fn within(&self, i: usize) -> f64 {
        self.within.get(i).copied().unwrap_or(1.0)
    }

    /// Weight `(s_i - 1) N_ii` (times the share of a sample) of the pairs inside microcluster i,
    /// per object of it: the gradient of its objective is this times `d'(a, y'y) y`, where a is
    /// [`within`](Self::within).
    pub(crate) fn inside(&self, i: usize) -> f64 {
        (self.sizes[i] as f64 - 1.0) * self.own[i] * self.share
    }
}

/// How many of some numbers are above 0.
fn above_zero<T: Default + PartialOrd + Sync>(numbers: &[T]) -> usize {
    let count = |some: Range<usize>| numbers[some].iter().filter(|&v| *v > T::default()).count();
    ordered_chunks(numbers.len(), CHUNK * CHUNK, count, 0, |sum, part| sum + part)
}

/// A pair (i, j, c, N).
type PairCount<T> = (u32, u32, T, T);

/// A random sample of all pairs with their counts, in chunks; pairs without counts are left out.
fn sample_all<T: Send>(
    n: usize,
    share: f64,
    seed: Seed,
    observer: &dyn Observer,
    counts: impl Fn(usize, usize) -> Option<(T, T)> + Sync,
) -> Result<Vec<Vec<PairCount<T>>>> {
    try_map_each(n.div_ceil(CHUNK), &|chunk| {
        observer.check()?;
        let mut random = seed.derive("pairs", chunk as u64).stream();
        let first = chunk * CHUNK..n.min((chunk + 1) * CHUNK);
        sample(&counts, first, n, share, &mut random)
    })
}

/// The sampled pairs whose first microcluster is one of some.
fn sample<T>(
    counts: &impl Fn(usize, usize) -> Option<(T, T)>,
    first: Range<usize>,
    n: usize,
    share: f64,
    random: &mut Stream,
) -> Result<Vec<PairCount<T>>> {
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
            if let Some((c, both)) = counts(i, j) {
                room::push(&mut found, (i as u32, j as u32, c, both))?;
            }
        }
    }
    Ok(found)
}

/// Both halves of the pairs of ascending chunks; memory of a chunk is freed as it is copied.
fn sparse<T: Copy + Zero>(
    n: usize,
    chunks: Vec<Vec<PairCount<T>>>,
) -> Result<(Pattern, Vec<T>, Vec<T>)> {
    let mut offsets = room::zeros::<usize>(n + 1)?;
    for &(i, j, ..) in chunks.iter().flatten() {
        offsets[i as usize + 1] += 1;
        offsets[j as usize + 1] += 1;
    }
    for i in 0..n {
        offsets[i + 1] += offsets[i];
    }
    let total = offsets[n];
    let mut columns = room::zeros(total)?;
    let (mut together, mut both) = (room::zeros(total)?, room::zeros(total)?);
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
    Ok((Pattern { offsets, columns }, together, both))
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
    each_chunk(&mut out, (CHUNK * m).max(1), &|chunk, out| {
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
