use std::borrow::Cow;

use crate::{
    Ensemble, Grouping, LabelInt, MemoryBudget, Observer, Partition, Result, SparseMemberships,
    Stop, canonical, lowest_terms, room, with_labels,
};
use rayon::prelude::*;

/// Objects per parallel chunk. Fixed, so that the result does not depend on the number of threads.
const CHUNK: usize = 1 << 16;
/// Objects whose row keys are packed together, so that the keys stay in the second-level cache.
const BLOCK: usize = 1 << 11;
/// Chunks in flight between two merges: bounds the memory of the keys where all rows differ.
const WINDOW: usize = 16;

/// The microclusters of an ensemble: objects with identical label rows, missing pattern included,
/// and bitwise equal memberships where members give those. Members of weight 0 are left out.
///
/// No evidence tells the objects of a microcluster apart, so counts between objects are counts
/// between their microclusters and everything downstream may work on these few nodes.
/// Microclusters are numbered by their first object. Objects that no member labels belong to none.
///
/// ```
/// use consilience::{Ensemble, Microclusters, Partition};
/// use consilience::core::Grouping;
///
/// let ensemble = Ensemble::new(vec![
///     Partition::from_labels(&[0, 0, 1, 0, -1])?,
///     Partition::from_labels(&[0, 0, 1, 1, -1])?,
/// ])?;
/// let microclusters = Microclusters::of(&ensemble)?;
/// assert_eq!(microclusters.grouping().of_object(), [0, 0, 1, 2, Grouping::NONE]);
/// assert_eq!(microclusters.sizes(), [2, 1, 1]);
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Complexity
/// One pass over the labels, O(n M), in parallel; 4 bytes per object beside the labels.
///
/// # References
/// Huang, Lai, Wang 2016, "Robust Ensemble Clustering Using Probability Trajectories", Definition 1
/// and Theorem 1; the missing pattern is ours.
#[doc(alias = "superobjects")]
#[derive(Clone, Debug, PartialEq)]
pub struct Microclusters {
    grouping: Grouping,
    rows: Vec<Partition>,
    members: usize,
    /// As in the ensemble: empty where all members have labels.
    soft: Vec<Option<SparseMemberships>>,
    /// How often each member counts; empty where each counts once.
    weights: Vec<f64>,
}

// No weight or membership is NaN.
impl Eq for Microclusters {}

impl Microclusters {
    /// The microclusters of an ensemble.
    ///
    /// # Errors
    /// [`ErrorKind::TooLarge`](crate::ErrorKind::TooLarge) where the system has no memory left.
    pub fn of(ensemble: &Ensemble) -> Result<Self> {
        Self::observed(ensemble, &())
    }

    /// As [`Microclusters::of`], with progress and cancellation.
    ///
    /// # Errors
    /// [`ErrorKind::Cancelled`](crate::ErrorKind::Cancelled),
    /// [`ErrorKind::TooLarge`](crate::ErrorKind::TooLarge) where the system has no memory left.
    pub fn observed(ensemble: &Ensemble, observer: &dyn Observer) -> Result<Self> {
        let ensemble = &*ensemble.heard()?;
        let (n, rows) = (ensemble.n_objects(), ensemble.rows());
        let layout = KeyLayout::new(&rows);
        // Whether the system gives so much; no budget is asked for here.
        let system = MemoryBudget::bytes(u64::MAX);
        system.check_table("microclusters of objects", n, 1, 4)?;
        let mut of_object = room::zeros::<u32>(n)?;
        let mut global = KeyTable::new(layout.words);
        let mut first_object: Vec<u32> = Vec::new();
        let (mut done, stop) = (0, Stop::new(observer));
        for window in of_object.chunks_mut(CHUNK * WINDOW) {
            stop.check()?;
            let distinct = |most: usize| {
                system.check_table("distinct rows of labels", most, 1, layout.bytes_per_row())
            };
            // As many as there were so far will hardly become several times as many at once.
            distinct(window.len().min(4 * first_object.len() + CHUNK))?;
            let locals: Vec<(KeyTable, Vec<u32>)> = window
                .par_chunks_mut(CHUNK)
                .enumerate()
                .map(|(c, ids)| number_chunk(&rows, &layout, done + c * CHUNK, ids, &stop))
                .collect::<Result<_>>()?;
            distinct(global.len + locals.iter().map(|(table, _)| table.len).sum::<usize>())?;
            let mut renumbered: Vec<Vec<u32>> = Vec::with_capacity(locals.len());
            for (c, (table, first)) in locals.iter().enumerate() {
                let mut map = room::with_capacity(first.len())?;
                for (local, &at) in first.iter().enumerate() {
                    let key = table.key(local);
                    if key == layout.missing {
                        map.push(Grouping::NONE);
                        continue;
                    }
                    let id = global.number(hash(key.iter().copied()), |w| key[w]);
                    if id as usize == first_object.len() {
                        room::push(&mut first_object, (done + c * CHUNK) as u32 + at)?;
                    }
                    map.push(id);
                }
                global.check()?;
                renumbered.push(map);
            }
            window.par_chunks_mut(CHUNK).zip(&renumbered).for_each(|(ids, map)| {
                for id in ids {
                    *id = map[*id as usize];
                }
            });
            done += window.len();
            observer.progress("microclusters", done, n);
        }
        system.check_table("rows of microclusters", first_object.len(), rows.len() + 8, 4)?;
        Self::assemble(ensemble, of_object, &first_object, observer)
    }

    /// Every labelled object as its own node: what a method works on when nothing is collapsed.
    ///
    /// # Errors
    /// None but those of an ensemble that cannot exist.
    pub fn each_object(ensemble: &Ensemble) -> Result<Self> {
        Self::each_object_observed(ensemble, &())
    }

    /// As [`Microclusters::each_object`], and can be cancelled.
    #[doc(hidden)]
    pub fn each_object_observed(ensemble: &Ensemble, observer: &dyn Observer) -> Result<Self> {
        let ensemble = &*ensemble.heard()?;
        let mut nodes = room::with_capacity(ensemble.n_objects())?;
        let of_object = room::collected((0..ensemble.n_objects()).map(|i| {
            if ensemble.members().iter().all(|p| p.label(i).is_none()) {
                return Grouping::NONE;
            }
            nodes.push(i as u32);
            nodes.len() as u32 - 1
        }))?;
        Self::assemble(ensemble, of_object, &nodes, observer)
    }

    fn assemble(
        ensemble: &Ensemble,
        of_object: Vec<u32>,
        first_object: &[u32],
        observer: &dyn Observer,
    ) -> Result<Self> {
        let grouping = match ensemble.counts() {
            Some(counts) => Grouping::with_counts(of_object, first_object.len(), counts)?,
            None => Grouping::new(of_object, first_object.len())?,
        };
        let members = ensemble.n_members();
        let nodes = Microclusters {
            grouping,
            rows: ensemble.members().to_vec(),
            members,
            soft: ensemble.soft.clone(),
            weights: ensemble.weights().unwrap_or_default().to_vec(),
        };
        nodes.with_rows(first_object, observer)
    }

    /// The rows of the members in the order given.
    fn with_rows(mut self, order: &[u32], observer: &dyn Observer) -> Result<Self> {
        if order.is_empty() {
            (self.rows, self.soft, self.weights) = Default::default();
            return Ok(self);
        }
        let chosen = |p: &Partition| {
            observer.check()?;
            Partition::from_fn(order.len(), |at| p.label(order[at] as usize).map(|l| l as u64))
        };
        self.rows = self.rows.iter().map(chosen).collect::<Result<_>>()?;
        if self.is_soft() {
            let order = room::collected(order.iter().map(|&i| i as usize))?;
            for soft in self.soft.iter_mut().flatten() {
                observer.check()?;
                *soft = soft.select(&order)?;
            }
        }
        Ok(self)
    }

    /// The same with the members sorted by what they say, so that sums over members do not depend
    /// on their order, not even in the last bit; equal members are interchangeable.
    pub fn sorted_members(mut self) -> Self {
        if self.is_plain() {
            self.rows.sort_by(|a, b| a.iter().cmp(b.iter()));
            return self;
        }
        let memberships = |a: usize, b: usize| match (self.soft(a), self.soft(b)) {
            (Some(a), Some(b)) => a.order(b),
            (a, b) => a.is_some().cmp(&b.is_some()),
        };
        let mut order: Vec<usize> = (0..self.rows.len()).collect();
        order.sort_by(|&a, &b| {
            (self.rows[a].iter().cmp(self.rows[b].iter()))
                .then_with(|| memberships(a, b))
                .then_with(|| self.weight(a).total_cmp(&self.weight(b)))
        });
        self.rows = order.iter().map(|&u| self.rows[u].clone()).collect();
        if self.is_soft() {
            self.soft = order.iter().map(|&u| self.soft[u].clone()).collect();
        }
        if !self.weights.is_empty() {
            self.weights = order.iter().map(|&u| self.weights[u]).collect();
        }
        self
    }

    /// The same with nodes and members in an order that depends on neither the order of the objects
    /// nor that of the members, so that whatever follows, random draws and the last bits of sums
    /// included, does not depend on them either.
    ///
    /// Nodes are ordered by what they are linked to: sizes, then the clusters that hold them, the
    /// nodes in those, and so on. Where that leaves nodes alike, the first object decides between
    /// them: reordered members give the same nodes in the same order, and reordered objects give
    /// the same table of labels wherever nodes that are left alike are symmetric, that is, some
    /// renaming of the nodes exchanges them and leaves the ensemble as it is.
    ///
    /// Weights of members are [in lowest terms](Self::in_lowest_terms) then, and what all sizes
    /// have in common does not show in the order: the same ensemble in other units has the same.
    ///
    /// ```
    /// use consilience::{Ensemble, Microclusters, Partition};
    ///
    /// let member = |labels: &[u8]| Partition::from_labels(labels);
    /// let (a, b) = (member(&[0, 0, 0, 1, 1])?, member(&[0, 0, 1, 1, 1])?);
    /// let nodes = Microclusters::of(&Ensemble::new(vec![a, b])?)?.canonical()?;
    /// // The same members in another order, and the objects backwards.
    /// let (a, b) = (member(&[0, 0, 1, 1, 1])?, member(&[0, 0, 0, 1, 1])?);
    /// let again = Microclusters::of(&Ensemble::new(vec![b, a])?)?.canonical()?;
    /// assert_eq!((nodes.rows(), nodes.sizes()), (again.rows(), again.sizes()));
    /// # Ok::<(), consilience::Error>(())
    /// ```
    ///
    /// # Complexity
    /// O(n + n~ M) for each round of comparing, of which there are seldom more than three; where
    /// many nodes are alike, so many more that 2^26 labels are looked at, after which all nodes
    /// that are left alike are ordered by their first object.
    ///
    /// # Errors
    /// None but those of an ensemble that cannot exist.
    ///
    /// # References
    /// B. Weisfeiler, A. Leman, "The reduction of a graph to canonical form and the algebra which
    /// appears therein", 1968; telling alike nodes apart one at a time is how B. D. McKay's nauty
    /// goes on.
    pub fn canonical(self) -> Result<Self> {
        self.canonical_observed(&())
    }

    /// As [`canonical`](Self::canonical), and can be cancelled.
    #[doc(hidden)]
    pub fn canonical_observed(self, observer: &dyn Observer) -> Result<Self> {
        let mut nodes = self;
        if let Some(weights) = lowest_terms::of_weights(&nodes.weights) {
            nodes.weights = weights;
        }
        nodes.canonical_as_weighed(observer)
    }

    /// As [`canonical_observed`](Self::canonical_observed), with the weights as they are given.
    ///
    /// # Errors
    /// As there.
    #[doc(hidden)]
    pub fn canonical_as_weighed(self, observer: &dyn Observer) -> Result<Self> {
        let order = canonical::node_order(&self.in_lowest_terms(), observer)?;
        let mut place = room::zeros::<u32>(self.n_nodes())?;
        for (at, &node) in order.iter().enumerate() {
            place[node as usize] = at as u32;
        }
        let mut sorted = self.with_rows(&order, observer)?;
        sorted.grouping = sorted.grouping.renumbered(&place, &order)?;
        observer.check()?;
        Ok(sorted.sorted_members())
    }

    /// The same with the weights of the members in lowest terms, for methods that their common
    /// factor means nothing to: in the largest unit of which all are whole multiples but for
    /// rounding (a ten-thousandth of the least at smallest), else times the power of two that
    /// brings the largest to some 1,024. Equal weights are none; weights more than 1e12 apart stay
    /// as they are.
    ///
    /// ```
    /// use consilience::{Ensemble, Microclusters};
    /// use consilience::ndarray::array;
    ///
    /// let ensemble = Ensemble::from_array(array![[0, 0], [0, 1]].view())?;
    /// let nodes = |weights: [f64; 2]| {
    ///     Microclusters::of(&ensemble.clone().with_weights(weights)?)
    /// };
    /// let tenths = nodes([0.2, 0.3])?;
    /// assert_eq!(tenths.in_lowest_terms().weight(1), 3.0);
    /// assert_eq!(tenths.in_lowest_terms(), nodes([20.0, 30.0])?.in_lowest_terms());
    /// assert!(nodes([0.7, 0.7])?.in_lowest_terms().is_plain());
    /// # Ok::<(), consilience::Error>(())
    /// ```
    pub fn in_lowest_terms(&self) -> Cow<'_, Self> {
        match lowest_terms::of_weights(&self.weights) {
            Some(weights) => Cow::Owned(Microclusters { weights, ..self.clone() }),
            None => Cow::Borrowed(self),
        }
    }

    /// Whether every member labels every microcluster.
    pub fn is_complete(&self) -> bool {
        self.rows.iter().all(Partition::is_complete)
    }

    /// How many members label each microcluster, each as often as it counts: the evidence behind
    /// it.
    pub fn evidence(&self) -> Vec<f64> {
        let weight = |g: usize, u: usize| self.rows[u].label(g).map_or(0.0, |_| self.weight(u));
        (0..self.n_nodes()).map(|g| (0..self.rows.len()).map(|u| weight(g, u)).sum()).collect()
    }

    /// Whether all members have labels and count once.
    pub fn is_plain(&self) -> bool {
        !self.is_soft() && self.weights.is_empty()
    }

    /// Whether some member gives memberships.
    pub fn is_soft(&self) -> bool {
        !self.soft.is_empty()
    }

    /// The memberships of a member over the microclusters, `None` where it has labels; then
    /// [`rows`](Self::rows) has the most probable clusters.
    pub fn soft(&self, member: usize) -> Option<&SparseMemberships> {
        self.soft.get(member)?.as_ref()
    }

    /// How often a member counts, more than 0.
    pub fn weight(&self, member: usize) -> f64 {
        self.weights.get(member).copied().unwrap_or(1.0)
    }

    /// (c, N) of two microclusters, or of two objects of one: how many members are expected to put
    /// them in one cluster, and how many label both, each as often as it counts.
    ///
    /// ```
    /// use consilience::{Ensemble, Microclusters, Partition, SparseMemberships};
    /// use consilience::ndarray::array;
    ///
    /// let ensemble = Ensemble::mixed([
    ///     Partition::from_labels(&[0, 0, 1])?.into(),
    ///     SparseMemberships::from_array(array![[0.5, 0.5], [1.0, 0.0], [0.0, 0.0]].view())?.into(),
    /// ])?;
    /// let nodes = Microclusters::of(&ensemble)?;
    /// assert_eq!(nodes.agreement(0, 1), (1.5, 2.0));
    /// assert_eq!(nodes.agreement(0, 0), (1.5, 2.0));
    /// assert_eq!(nodes.agreement(1, 2), (0.0, 1.0));
    /// # Ok::<(), consilience::Error>(())
    /// ```
    ///
    /// # Complexity
    /// O(M) and the memberships of both.
    pub fn agreement(&self, i: usize, j: usize) -> (f64, f64) {
        let (mut together, mut both) = (0.0, 0.0);
        for (u, member) in self.rows.iter().enumerate() {
            let (Some(a), Some(b)) = (member.label(i), member.label(j)) else { continue };
            let weight = self.weight(u);
            both += weight;
            together += weight
                * match self.soft(u) {
                    Some(soft) => product(soft.row(i), soft.row(j)),
                    None => f64::from(u8::from(a == b)),
                };
        }
        (together, both)
    }

    /// The rows as an ensemble of their own, each for one object.
    ///
    /// # Errors
    /// [`ErrorKind::Empty`](crate::ErrorKind::Empty) where there is no microcluster.
    pub fn to_ensemble(&self) -> Result<Ensemble> {
        let mut rows = Ensemble::new(self.rows.clone())?;
        rows.set_soft(self.soft.clone());
        if self.weights.is_empty() { Ok(rows) } else { rows.with_weights(self.weights.clone()) }
    }

    /// Number of microclusters; 0 where no object is labelled at all.
    pub fn n_nodes(&self) -> usize {
        self.grouping.n_nodes()
    }

    /// Number of base clusterings.
    pub fn n_members(&self) -> usize {
        self.members
    }

    /// Which microcluster each object belongs to.
    pub fn grouping(&self) -> &Grouping {
        &self.grouping
    }

    /// Objects in each microcluster, each as often as its count says.
    pub fn sizes(&self) -> &[u64] {
        self.grouping.sizes()
    }

    /// The base clusterings over the microclusters, one label per microcluster; no members where
    /// there is no microcluster.
    pub fn rows(&self) -> &[Partition] {
        &self.rows
    }
}

/// The inner product of two rows of memberships.
fn product((clusters, shares): (&[u32], &[f64]), (others, theirs): (&[u32], &[f64])) -> f64 {
    let (mut sum, mut at) = (0.0, 0);
    for (&c, p) in clusters.iter().zip(shares) {
        while others.get(at).is_some_and(|&d| d < c) {
            at += 1;
        }
        if others.get(at) == Some(&c) {
            sum += p * theirs[at];
        }
    }
    sum
}

/// How a row of labels is packed into 64-bit words: each member has a word and a shift in it.
struct KeyLayout {
    fields: Vec<(usize, u32)>,
    words: usize,
    /// The key of an object that no member labels.
    missing: Vec<u64>,
}

impl KeyLayout {
    fn new(rows: &[Partition]) -> Self {
        let mut fields = Vec::with_capacity(rows.len());
        let (mut words, mut used) = (1, 0);
        let mut missing = vec![0u64];
        for member in rows {
            let bits = 8 * member.labels().width() as u32;
            if used + bits > 64 {
                words += 1;
                used = 0;
                missing.push(0);
            }
            fields.push((words - 1, used));
            missing[words - 1] |= (u64::MAX >> (64 - bits)) << used;
            used += bits;
        }
        KeyLayout { fields, words, missing }
    }

    /// What a distinct row takes at most while tables of them grow: key and slot, in the old table
    /// and in the new one.
    fn bytes_per_row(&self) -> usize {
        2 * size_of::<u64>() * self.words + 10 * size_of::<(u32, u32)>()
    }

    /// Packs the rows `start..start + rows` into `keys`, word by word: `keys[w * BLOCK + r]`.
    fn pack(&self, members: &[Partition], start: usize, rows: usize, keys: &mut [u64]) {
        keys.fill(0);
        for (member, &(word, shift)) in members.iter().zip(&self.fields) {
            let out = &mut keys[word * BLOCK..word * BLOCK + rows];
            with_labels!(member.labels(), |labels| {
                for (key, &l) in out.iter_mut().zip(&labels[start..start + rows]) {
                    *key |= (l.index() as u64) << shift;
                }
            });
        }
    }
}

/// Numbers the distinct rows of one chunk by first appearance; returns their keys and first rows.
fn number_chunk(
    members: &[Partition],
    layout: &KeyLayout,
    start: usize,
    ids: &mut [u32],
    stop: &Stop<'_>,
) -> Result<(KeyTable, Vec<u32>)> {
    let mut table = KeyTable::new(layout.words);
    let mut first = Vec::new();
    let mut keys = room::zeros::<u64>(layout.words * BLOCK)?;
    for (b, block) in ids.chunks_mut(BLOCK).enumerate() {
        stop.check()?;
        layout.pack(members, start + b * BLOCK, block.len(), &mut keys);
        for (r, id) in block.iter_mut().enumerate() {
            let word = |w: usize| keys[w * BLOCK + r];
            *id = table.number(hash((0..layout.words).map(word)), word);
            if *id as usize == first.len() {
                room::push(&mut first, (b * BLOCK + r) as u32)?;
            }
        }
        table.check()?;
    }
    Ok((table, first))
}

/// Multiply-and-fold over the words of a key. Collisions cost time, never correctness: keys are
/// compared whole.
#[inline(always)]
fn hash(words: impl Iterator<Item = u64>) -> u64 {
    let mut h = 0x9e37_79b9_7f4a_7c15u64;
    for w in words {
        let wide = u128::from(h ^ w) * 0xd6e8_feb8_6659_fd93_u128;
        h = (wide as u64) ^ ((wide >> 64) as u64);
    }
    h.wrapping_mul(0x9fb2_1c65_1e98_df25)
}

/// Distinct keys of a fixed number of words, numbered by first appearance (open addressing).
struct KeyTable {
    words: usize,
    keys: Vec<u64>,
    /// Upper half of the hash, and the number of the key plus one; 0 is a free slot.
    slots: Vec<(u32, u32)>,
    len: usize,
    /// Whether there was no memory for a key, since when no new one is taken in.
    refused: bool,
}

impl KeyTable {
    fn new(words: usize) -> Self {
        KeyTable { words, keys: Vec::new(), slots: vec![(0, 0); 1024], len: 0, refused: false }
    }

    /// An error where numbers that were given are wrong, since there was no memory for a key.
    fn check(&self) -> Result<()> {
        if self.refused { Err(room::no_room::<u64>(self.keys.len() + self.words)) } else { Ok(()) }
    }

    fn key(&self, id: usize) -> &[u64] {
        &self.keys[id * self.words..(id + 1) * self.words]
    }

    /// The number of the key whose words are `word(0..words)`, a new one where it was not seen;
    /// [`check`](Self::check) says whether there was memory for it.
    #[inline(always)]
    fn number(&mut self, hash: u64, word: impl Fn(usize) -> u64) -> u32 {
        let mask = self.slots.len() - 1;
        let tag = (hash >> 32) as u32;
        let mut at = hash as usize & mask;
        loop {
            let (seen, id) = self.slots[at];
            if id == 0 {
                break;
            }
            if seen == tag {
                let id = id as usize - 1;
                let key = &self.keys[id * self.words..(id + 1) * self.words];
                if key.iter().enumerate().all(|(w, &k)| k == word(w)) {
                    return id as u32;
                }
            }
            at = (at + 1) & mask;
        }
        self.insert(tag, at, &word)
    }

    #[cold]
    fn insert(&mut self, tag: u32, at: usize, word: &dyn Fn(usize) -> u64) -> u32 {
        if self.refused || self.keys.try_reserve(self.words).is_err() {
            self.refused = true;
            return 0;
        }
        let id = self.len as u32;
        self.keys.extend((0..self.words).map(word));
        self.slots[at] = (tag, id + 1);
        self.len += 1;
        if 2 * self.len > self.slots.len() {
            self.refused = self.grow().is_err();
        }
        id
    }

    fn grow(&mut self) -> Result<()> {
        let size = 4 * self.slots.len();
        self.slots = room::zeros(size)?;
        for id in 0..self.len {
            let h = hash(self.key(id).iter().copied());
            let mut at = h as usize & (size - 1);
            while self.slots[at].1 != 0 {
                at = (at + 1) & (size - 1);
            }
            self.slots[at] = ((h >> 32) as u32, id as u32 + 1);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Seed;
    use std::collections::HashMap;

    /// Straight from Definition 1: what the members say as keys of an ordinary map.
    fn reference(ensemble: &Ensemble) -> Vec<u32> {
        let mut seen = HashMap::new();
        (0..ensemble.n_objects())
            .map(|i| {
                let row = said(ensemble, i);
                if row.iter().all(Vec::is_empty) {
                    return Grouping::NONE;
                }
                let next = seen.len() as u32;
                *seen.entry(row).or_insert(next)
            })
            .collect()
    }

    fn random(seed: u64, n: usize, clusters: &[usize], missing: f64) -> Ensemble {
        let mut s = Seed(seed).stream();
        let members = clusters
            .iter()
            .map(|&k| {
                let labels: Vec<i64> = (0..n)
                    .map(|_| if s.uniform() < missing { -1 } else { s.below(k) as i64 })
                    .collect();
                Partition::from_labels(&labels).unwrap()
            })
            .collect();
        Ensemble::new(members).unwrap()
    }

    #[test]
    fn equal_to_a_map_of_rows() {
        let cases: [(usize, &[usize], f64); 7] = [
            (1, &[1], 0.0),
            (50, &[2, 3], 0.5),
            (5000, &[3, 4, 2, 5, 3, 2, 2, 2, 2], 0.1),
            (5000, &[300, 2, 70_000, 2], 0.2),
            (200_000, &[4, 5, 3], 0.05),
            (140_000, &[1 << 20], 0.0),
            (3000, &[1000, 1000, 1000, 1000, 1000, 2], 0.9),
        ];
        for (seed, (n, k, missing)) in cases.into_iter().enumerate() {
            let e = random(seed as u64, n, k, missing);
            let m = Microclusters::of(&e).unwrap();
            assert_eq!(m.grouping().of_object(), reference(&e), "n={n} k={k:?}");
            for (u, rows) in m.rows().iter().enumerate() {
                for i in 0..n {
                    let g = m.grouping().of_object()[i];
                    if g != Grouping::NONE {
                        assert_eq!(rows.label(g as usize), e.members()[u].label(i));
                    }
                }
            }
        }
    }

    #[test]
    fn same_numbers_at_any_number_of_threads() {
        let e = random(3, 300_000, &[5, 6, 7], 0.01);
        let expected = Microclusters::of(&e).unwrap();
        for threads in [1, 2, 3, 8] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            assert_eq!(pool.install(|| Microclusters::of(&e)).unwrap(), expected);
        }
    }

    #[test]
    fn nobody_labelled() {
        let e = random(0, 10, &[2, 2], 1.1);
        let m = Microclusters::of(&e).unwrap();
        assert_eq!((m.n_nodes(), m.rows().len(), m.n_members()), (0, 0, 2));
    }

    #[test]
    fn each_object_is_its_own_node() {
        let e = random(1, 30, &[2, 2], 0.4);
        let m = Microclusters::each_object(&e).unwrap();
        assert!(m.sizes().iter().all(|&s| s == 1));
        let unlabelled = m.grouping().of_object().iter().filter(|&&g| g == Grouping::NONE).count();
        assert_eq!(m.n_nodes() + unlabelled, 30);
    }

    /// Labels and memberships of few values, so that rows are equal often; weighed.
    fn mixed(seed: u64, n: usize) -> Ensemble {
        let mut s = Seed(seed).stream();
        let members = (0..4).map(|u| {
            if u % 2 == 0 {
                let labels: Vec<i64> = (0..n).map(|_| s.below(4) as i64 - 1).collect();
                return Partition::from_labels(&labels).unwrap().into();
            }
            let rows = [[1.0, 0.0], [0.5, 0.5], [0.25, 0.75], [0.0, 0.0]];
            let drawn: Vec<usize> = (0..n).map(|_| s.below(4)).collect();
            let soft = ndarray::Array2::from_shape_fn((n, 2), |(i, c)| rows[drawn[i]][c]);
            SparseMemberships::from_array(soft.view()).unwrap().into()
        });
        let ensemble = Ensemble::mixed(members.collect::<Vec<crate::Member>>()).unwrap();
        ensemble.with_weights(vec![1.0, 2.0, 0.5, 3.0]).unwrap()
    }

    /// What each member says of an object: clusters and shares.
    fn said(e: &Ensemble, i: usize) -> Vec<Vec<(usize, u64)>> {
        let of = |(u, member): (usize, &Partition)| match e.soft(u) {
            Some(soft) => {
                let (clusters, shares) = soft.row(i);
                clusters.iter().zip(shares).map(|(&c, p)| (c as usize, p.to_bits())).collect()
            }
            None => member.label(i).map(|l| (l, 1f64.to_bits())).into_iter().collect(),
        };
        e.members().iter().enumerate().map(of).collect()
    }

    #[test]
    fn memberships_and_weights_are_those_of_the_objects() {
        for seed in 0..20 {
            let (n, weights) = (60, [1.0, 2.0, 0.5, 3.0]);
            let e = mixed(seed, n);
            let m = Microclusters::of(&e).unwrap();
            let expected = reference(&e);
            assert_eq!(m.grouping().of_object(), expected);
            let evidence = m.evidence();
            let node = |i: usize| (expected[i] != Grouping::NONE).then_some(expected[i] as usize);
            for (i, a) in (0..n).filter_map(|i| Some((i, node(i)?))) {
                let row = said(&e, i);
                let labelling = row.iter().zip(weights).filter(|(said, _)| !said.is_empty());
                assert_eq!(evidence[a], labelling.map(|(_, w)| w).sum::<f64>());
                for (j, b) in (0..n).filter_map(|j| Some((j, node(j)?))) {
                    let (mut together, mut both) = (0.0, 0.0);
                    for ((p, q), w) in row.iter().zip(said(&e, j)).zip(weights) {
                        let share = |c: usize| q.iter().find(|(d, _)| *d == c).map(|(_, v)| *v);
                        both += if p.is_empty() || q.is_empty() { 0.0 } else { w };
                        let product = |(c, p): &(usize, u64)| {
                            f64::from_bits(*p) * share(*c).map_or(0.0, f64::from_bits)
                        };
                        together += w * p.iter().map(product).sum::<f64>();
                    }
                    assert_eq!(m.agreement(a, b), (together, both), "{i} {j}");
                }
            }
        }
    }

    #[test]
    fn sorted_members_have_no_order() {
        for seed in 0..20 {
            let e = mixed(seed, 30);
            // Two members of equal labels, one of which has memberships; two that differ in weight.
            let hard = Ensemble::new(e.members().to_vec()).unwrap();
            let hard = hard.with_weights(vec![1.0, 2.0, 4.0, 3.0]).unwrap();
            let plain = Ensemble::new(e.members().to_vec()).unwrap();
            for e in [e, hard, plain] {
                let sorted = |e: &Ensemble| Microclusters::each_object(e).unwrap().sorted_members();
                let expected = sorted(&e);
                for order in [[3, 2, 1, 0], [1, 3, 0, 2], [2, 0, 3, 1]] {
                    assert_eq!(sorted(&e.select(&order).unwrap()), expected, "{seed} {order:?}");
                }
                // No member is lost or changed on the way.
                let nodes = Microclusters::each_object(&e).unwrap();
                for (i, j) in [(0, 1), (2, 7), (5, 6)] {
                    let (a, b) = (nodes.agreement(i, j), expected.agreement(i, j));
                    assert!((a.0 - b.0).abs() < 1e-12 && (a.1 - b.1).abs() < 1e-12, "{seed}");
                }
            }
        }
    }

    /// Keys are kept apart where their hashes are not: all of one slot and one tag.
    #[test]
    fn equal_hashes_keep_their_keys() {
        let mut table = KeyTable::new(2);
        let words = |i: u64| move |w: usize| if w == 0 { i } else { 7 };
        for i in 0..400u64 {
            assert_eq!(u64::from(table.number(77, words(i))), i);
        }
        for i in (0..400u64).rev() {
            assert_eq!(u64::from(table.number(77, words(i))), i);
            assert_eq!(table.key(i as usize), [i, 7]);
        }
        assert_eq!(table.len, 400);
    }

    #[test]
    fn tables_grow_and_keep_what_they_hold() {
        let mut table = KeyTable::new(1);
        let number = |table: &mut KeyTable, i: u64| table.number(hash([i].into_iter()), |_| i);
        for i in 0..50_000u64 {
            assert_eq!(u64::from(number(&mut table, i * 3)), i);
            // At most half full, so that what is sought is near.
            assert!(2 * table.len <= table.slots.len());
        }
        assert!(table.slots.len() <= 8 * table.len);
        assert!((0..50_000u64).all(|i| u64::from(number(&mut table, i * 3)) == i));
    }
}
