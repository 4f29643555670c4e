use std::collections::BTreeMap;

#[cfg(feature = "serde")]
use crate::Error;
#[cfg(any(doc, test))]
use crate::ErrorKind;
use crate::{
    Constraints, Features, Link, Pair, Partition, RawLabel, Report, Result, checks, ensure,
};

/// Pairs of classes that labels and constraints together may keep apart before it is refused.
const MOST_PAIRS_OF_CLASSES: usize = 50_000_000;

/// What is known about a few of `n` objects: labels of some, or pairs that belong together or
/// apart.
///
/// Both forms are closed into one: *labelled sets*, the objects that are known to belong together,
/// and which of those sets are known to be apart. Every object of a set is must-linked to every
/// other, and cannot-linked to every object of a set that is apart. Labels give one set per class,
/// all of them apart; constraints give one set per chain of must-links, and one of a single object
/// for each object that occurs in cannot-links only.
///
/// ```
/// use consilience::{Constraints, Link, SideInformation};
///
/// let labels = SideInformation::from_labels(&[0, 0, -1, 1, -1])?;
/// assert_eq!(labels.labelled_sets(), [vec![0, 1], vec![3]]);
/// assert_eq!(labels.must_links().collect::<Vec<_>>(), [(0, 1)]);
/// assert_eq!(labels.cannot_links().collect::<Vec<_>>(), [(0, 3), (1, 3)]);
///
/// let mut pairs = Constraints::new(5)?;
/// pairs.add(0, 1, Link::Must)?;
/// pairs.add(1, 2, Link::Must)?;
/// pairs.add(2, 4, Link::Cannot)?;
/// let pairs = SideInformation::from_constraints(&pairs);
/// assert_eq!(pairs.labelled_sets(), [vec![0, 1, 2], vec![4]]);
/// assert_eq!(pairs.cannot_links().collect::<Vec<_>>(), [(0, 4), (1, 4), (2, 4)]);
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Complexity
/// Memory and time in proportion to what is said (for labels: n), not to the pairs that follow from
/// it: those are enumerated as they are asked for.
#[doc(alias = "supervision")]
#[doc(alias = "constraints")]
#[derive(Clone, Debug)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(
        try_from = "crate::stored::SideInformationFields",
        into = "crate::stored::SideInformationFields"
    )
)]
pub struct SideInformation {
    objects: usize,
    sets: Vec<Vec<usize>>,
    /// (object, set) in ascending order of objects.
    members: Vec<(usize, usize)>,
    apart: Apart,
    stated: Option<Vec<Pair>>,
}

#[derive(Clone, Debug)]
enum Apart {
    All,
    /// Pairs of sets, the smaller first, ascending, each once.
    Pairs(Vec<(usize, usize)>),
}

impl SideInformation {
    /// Nothing is known about `n` objects: methods then work unsupervised, or say that they cannot.
    pub fn none(n: usize) -> Self {
        SideInformation {
            objects: n,
            sets: Vec::new(),
            members: Vec::new(),
            apart: Apart::All,
            stated: None,
        }
    }

    /// Labels of some objects: one number per object, negative or `None` where unlabelled.
    ///
    /// # Errors
    /// [`ErrorKind::Empty`] without objects, [`ErrorKind::TooLarge`] from 2^32 - 1 objects on.
    pub fn from_labels<L: RawLabel>(labels: &[L]) -> Result<Self> {
        Ok(Self::from_partition(&Partition::from_labels(labels)?))
    }

    /// The clusters of a partition as labelled sets; objects that it leaves unlabelled are free.
    pub fn from_partition(partition: &Partition) -> Self {
        let mut sets = vec![Vec::new(); partition.n_clusters()];
        for (i, label) in partition.iter().enumerate() {
            if let Some(c) = label {
                sets[c].push(i);
            }
        }
        Self::new(partition.n_objects(), sets, Apart::All, None)
    }

    /// Pairs that belong together or apart. They cannot contradict each other: [`Constraints::add`]
    /// refuses that with the chain.
    pub fn from_constraints(constraints: &Constraints) -> Self {
        // Ascending: methods that take links one by one, or some of many, then depend on what is
        // said and not on the order in which it was.
        let mut stated: Vec<Pair> = constraints.iter().collect();
        stated.sort_unstable_by_key(|pair| (pair.i, pair.j));
        Self::close(constraints, &[], Some(stated))
    }

    /// The sets that the constraints unite; `known` objects are in one even where no constraint
    /// names them.
    fn close(constraints: &Constraints, known: &[usize], stated: Option<Vec<Pair>>) -> Self {
        let mut groups = Groups::default();
        for &i in known {
            groups.root(i);
        }
        for Pair { i, j, link } in constraints.iter() {
            let (a, b) = (groups.root(i), groups.root(j));
            if link == Link::Must {
                groups.unite(a, b);
            }
        }
        let (sets, number) = groups.collect();
        let mut apart: Vec<(usize, usize)> = constraints
            .iter()
            .filter(|pair| pair.link == Link::Cannot)
            .map(|Pair { i, j, .. }| {
                let (a, b) = (number[&i], number[&j]);
                (a.min(b), a.max(b))
            })
            .collect();
        apart.sort_unstable();
        apart.dedup();
        Self::new(constraints.n_objects(), sets, Apart::Pairs(apart), stated)
    }

    /// Labels of some objects and pairs of others (or of the same) together.
    ///
    /// # Errors
    /// [`ErrorKind::ShapeMismatch`] where they speak of different numbers of objects,
    /// [`ErrorKind::Contradiction`] with the chain where they contradict each other,
    /// [`ErrorKind::TooLarge`] beyond 10,000 classes.
    pub fn from_labels_and_constraints(
        labels: &Partition,
        constraints: &Constraints,
    ) -> Result<Self> {
        let (n, m) = (labels.n_objects(), constraints.n_objects());
        ensure!(n == m, shape("labels of {n} objects, constraints over {m}"));
        let classes = labels.n_clusters();
        ensure!(
            classes.saturating_mul(classes) / 2 <= MOST_PAIRS_OF_CLASSES,
            too_large("{classes} classes beside constraints")
        );
        let mut all = Constraints::new(labels.n_objects())?;
        let mut first = vec![None; classes];
        for (i, label) in labels.iter().enumerate() {
            let Some(c) = label else { continue };
            match first[c] {
                Some(f) => all.add(f, i, Link::Must)?,
                None => first[c] = Some(i),
            }
        }
        let first: Vec<usize> = first.into_iter().flatten().collect();
        for (c, &a) in first.iter().enumerate() {
            for &b in &first[..c] {
                all.add(a, b, Link::Cannot)?;
            }
        }
        for Pair { i, j, link } in constraints.iter() {
            all.add(i, j, link)?;
        }
        // Stated is then every pair, as with labels alone.
        Ok(Self::close(&all, &first, None))
    }

    /// Sets and pairs of them as they were stored; without pairs all sets are apart.
    #[cfg(feature = "serde")]
    pub(crate) fn from_sets(
        objects: usize,
        sets: Vec<Vec<usize>>,
        apart: Option<Vec<(usize, usize)>>,
    ) -> Result<Self> {
        let first = sets.iter().map(|set| set.first());
        ensure!(first.clone().all(|i| i.is_some()), empty("a labelled set without objects"));
        ensure!(
            first.is_sorted_by(|a, b| a < b) && sets.iter().all(|s| s.is_sorted_by(|a, b| a < b)),
            invalid("labelled sets whose objects do not ascend")
        );
        let mut all: Vec<usize> = sets.iter().flatten().copied().collect();
        all.sort_unstable();
        if let Some(object) = all.windows(2).find(|w| w[0] == w[1]).map(|w| w[0]) {
            return Err(Error::invalid(format!("object {object} is in two labelled sets")));
        }
        checks::exist(&all, objects)?;
        let apart = match apart {
            None => Apart::All,
            Some(pairs) => {
                let count = sets.len();
                let wrong = pairs.iter().find(|(a, b)| a >= b || *b >= count);
                if let Some((a, b)) = wrong {
                    return Err(Error::out_of_range(format!("sets {a} and {b} of {count}, apart")));
                }
                ensure!(
                    pairs.is_sorted_by(|a, b| a < b),
                    invalid("pairs of labelled sets that do not ascend")
                );
                Apart::Pairs(pairs)
            }
        };
        Ok(Self::new(objects, sets, apart, None))
    }

    fn new(objects: usize, sets: Vec<Vec<usize>>, apart: Apart, stated: Option<Vec<Pair>>) -> Self {
        let mut members: Vec<(usize, usize)> =
            sets.iter().enumerate().flat_map(|(s, set)| set.iter().map(move |&i| (i, s))).collect();
        members.sort_unstable();
        SideInformation { objects, sets, members, apart, stated }
    }

    /// Number of objects, known about or not.
    pub fn n_objects(&self) -> usize {
        self.objects
    }

    /// Whether nothing is known.
    pub fn is_empty(&self) -> bool {
        self.sets.is_empty()
    }

    /// The objects known to belong together, ascending; sets in the order of their first objects. A
    /// set may hold a single object.
    #[doc(alias = "neighbourhoods")]
    #[doc(alias = "chunklets")]
    pub fn labelled_sets(&self) -> &[Vec<usize>] {
        &self.sets
    }

    /// The labelled set that an object is in.
    pub fn set_of(&self, object: usize) -> Option<usize> {
        let at = self.members.binary_search_by_key(&object, |m| m.0).ok()?;
        Some(self.members[at].1)
    }

    /// The objects of which anything is known, ascending, each with its set.
    pub fn labelled_objects(&self) -> &[(usize, usize)] {
        &self.members
    }

    /// Whether two labelled sets are known to be apart.
    pub fn are_apart(&self, a: usize, b: usize) -> bool {
        a != b
            && a.max(b) < self.sets.len()
            && match &self.apart {
                Apart::All => true,
                Apart::Pairs(pairs) => pairs.binary_search(&(a.min(b), a.max(b))).is_ok(),
            }
    }

    /// Whether every two labelled sets are known to be apart, as with labels: the sets are classes
    /// then.
    pub fn are_classes(&self) -> bool {
        match &self.apart {
            Apart::All => true,
            Apart::Pairs(pairs) => {
                pairs.len() == self.sets.len() * self.sets.len().saturating_sub(1) / 2
            }
        }
    }

    /// Pairs of labelled sets that are apart, the smaller number first.
    pub fn sets_apart(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        let (all, pairs): (usize, &[(usize, usize)]) = match &self.apart {
            Apart::All => (self.sets.len(), &[]),
            Apart::Pairs(pairs) => (0, pairs),
        };
        (0..all).flat_map(move |a| (a + 1..all).map(move |b| (a, b))).chain(pairs.iter().copied())
    }

    /// Every pair of objects that belongs together, also through a chain; the smaller object first.
    pub fn must_links(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        self.sets.iter().flat_map(|set| {
            set.iter().enumerate().flat_map(|(a, &i)| set[a + 1..].iter().map(move |&j| (i, j)))
        })
    }

    /// Every pair of objects that belongs apart, also through a chain; the smaller object first.
    pub fn cannot_links(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        self.sets_apart().flat_map(move |(a, b)| {
            self.sets[a]
                .iter()
                .flat_map(move |&i| self.sets[b].iter().map(move |&j| (i.min(j), i.max(j))))
        })
    }

    /// How many pairs [`must_links`](SideInformation::must_links) enumerates.
    pub fn n_must_links(&self) -> usize {
        self.sets.iter().map(|s| s.len() * (s.len() - 1) / 2).fold(0, usize::saturating_add)
    }

    /// How many pairs [`cannot_links`](SideInformation::cannot_links) enumerates.
    pub fn n_cannot_links(&self) -> usize {
        match &self.apart {
            // Labels may name very many sets: not pair by pair.
            Apart::All => {
                let mut before = 0;
                let with_earlier = |set: &Vec<usize>| {
                    let pairs = set.len().saturating_mul(before);
                    before += set.len();
                    pairs
                };
                self.sets.iter().map(with_earlier).fold(0, usize::saturating_add)
            }
            Apart::Pairs(pairs) => pairs
                .iter()
                .map(|&(a, b)| self.sets[a].len() * self.sets[b].len())
                .fold(0, usize::saturating_add),
        }
    }

    /// The pairs that were said, by ascending objects, without what follows from them; `None` where
    /// labels were said.
    pub fn stated(&self) -> Option<&[Pair]> {
        self.stated.as_deref()
    }

    /// The must-links and the cannot-links that a method learns from: those stated, or, where
    /// labels were said, all that follow from them. Of more than `limit` of a kind, `limit` at even
    /// distances.
    ///
    /// ```
    /// use consilience::SideInformation;
    ///
    /// let side = SideInformation::from_labels(&[0, 0, 0, 1, -1])?;
    /// let (must, cannot) = side.links_up_to(2);
    /// assert_eq!((must.len(), cannot.len()), (2, 2));
    /// # Ok::<(), consilience::Error>(())
    /// ```
    pub fn links_up_to(&self, limit: usize) -> (Links, Links) {
        let Some(stated) = self.stated() else {
            // Whole sets are passed over: there may be very many pairs.
            let within = self.sets.iter().map(|set| Block {
                pairs: set.len() * (set.len() - 1) / 2,
                pair: Box::new(move |p| {
                    let (i, j) = pair_of(p, set.len());
                    (set[i], set[j])
                }),
            });
            return (
                blocks_thinned(within, self.n_must_links(), limit),
                self.cannot_links_thinned(limit),
            );
        };
        let of = |kind: Link| {
            let links: Links =
                stated.iter().filter(|p| p.link == kind).map(|p| (p.i, p.j)).collect();
            let count = links.len();
            thinned(links.into_iter(), count, limit)
        };
        (of(Link::Must), of(Link::Cannot))
    }

    fn cannot_links_thinned(&self, limit: usize) -> Links {
        let pair = |a: usize, b: usize, p: usize| {
            let (a, b) = (&self.sets[a], &self.sets[b]);
            let (i, j) = (a[p / b.len()], b[p % b.len()]);
            (i.min(j), i.max(j))
        };
        let count = self.n_cannot_links();
        if let Apart::Pairs(pairs) = &self.apart {
            let blocks = pairs.iter().map(|&(a, b)| Block {
                pairs: self.sets[a].len() * self.sets[b].len(),
                pair: Box::new(move |p| pair(a, b, p)),
            });
            return blocks_thinned(blocks, count, limit);
        }
        // Each set with all later ones at once: labels may name very many sets. `starts` is where
        // each set begins among all labelled objects.
        let mut starts = vec![0];
        self.sets.iter().for_each(|set| starts.push(starts[starts.len() - 1] + set.len()));
        let starts = &starts;
        let blocks = self.sets.iter().enumerate().map(|(a, set)| Block {
            pairs: set.len() * (starts[self.sets.len()] - starts[a + 1]),
            pair: Box::new(move |p| {
                let at = starts[a + 1] + p / set.len();
                let b = starts.partition_point(|&start| start <= at) - 1;
                pair(a, b, p - set.len() * (starts[b] - starts[a + 1]))
            }),
        });
        blocks_thinned(blocks, count, limit)
    }

    /// Says in the report where [`links_up_to`](SideInformation::links_up_to) leaves links out.
    #[doc(hidden)]
    pub fn tell_thinned(&self, limit: usize, report: &mut Report) {
        self.tell_used(limit, "are used, at even distances; max_pairs sets the limit", report);
    }

    /// The same in other words: what happens with those that are not left out.
    #[doc(hidden)]
    pub fn tell_used(&self, limit: usize, how: &str, report: &mut Report) {
        let of = |kind: Link| match &self.stated {
            Some(stated) => stated.iter().filter(|p| p.link == kind).count(),
            None if kind == Link::Must => self.n_must_links(),
            None => self.n_cannot_links(),
        };
        for (count, name) in [(of(Link::Must), "must-links"), (of(Link::Cannot), "cannot-links")] {
            if count > limit {
                report.notes.push(format!("{limit} of {count} {name} {how}"));
            }
        }
    }

    /// The same without what is said about some objects: for judging a method by what it has not
    /// seen. What follows only through them is forgotten too where pairs were stated.
    ///
    /// ```
    /// use consilience::{Constraints, Pair, SideInformation};
    ///
    /// let mut pairs = Constraints::new(5)?;
    /// pairs.extend(&[Pair::must_link(0, 1), Pair::must_link(1, 2), Pair::cannot_link(2, 4)])?;
    /// let side = SideInformation::from_constraints(&pairs);
    /// let fewer = side.without(|i| i == 1)?;
    /// assert_eq!(fewer.n_must_links(), 0);
    /// assert_eq!(fewer.cannot_links().collect::<Vec<_>>(), [(2, 4)]);
    /// let labels = SideInformation::from_labels(&[0, 0, 0, 1, -1])?;
    /// assert_eq!(labels.without(|i| i == 1)?.labelled_sets(), [vec![0, 2], vec![3]]);
    /// # Ok::<(), consilience::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::Empty`] without objects.
    pub fn without(&self, left_out: impl Fn(usize) -> bool) -> Result<Self> {
        if let Some(stated) = &self.stated {
            let mut kept = Constraints::new(self.objects)?;
            for pair in stated.iter().filter(|pair| !left_out(pair.i) && !left_out(pair.j)) {
                kept.add(pair.i, pair.j, pair.link)?;
            }
            return Ok(Self::from_constraints(&kept));
        }
        let keep = |set: &Vec<usize>| set.iter().copied().filter(|&i| !left_out(i)).collect();
        let kept: Vec<Vec<usize>> = self.sets.iter().map(keep).collect();
        // The new number of each set; sets that lose all their objects leave.
        let mut number = vec![None; kept.len()];
        let mut sets: Vec<(usize, Vec<usize>)> =
            kept.into_iter().enumerate().filter(|(_, set)| !set.is_empty()).collect();
        sets.sort_by_key(|(_, set)| set[0]);
        sets.iter().enumerate().for_each(|(new, &(old, _))| number[old] = Some(new));
        let apart = match &self.apart {
            Apart::All => Apart::All,
            Apart::Pairs(pairs) => {
                let renumbered = |&(a, b): &(usize, usize)| {
                    let (a, b) = (number[a]?, number[b]?);
                    Some((a.min(b), a.max(b)))
                };
                let mut pairs: Vec<(usize, usize)> = pairs.iter().filter_map(renumbered).collect();
                pairs.sort_unstable();
                Apart::Pairs(pairs)
            }
        };
        Ok(Self::new(self.objects, sets.into_iter().map(|(_, set)| set).collect(), apart, None))
    }

    /// What is said about some objects, ascending, which are numbered from 0 then.
    ///
    /// ```
    /// use consilience::SideInformation;
    ///
    /// let labels = SideInformation::from_labels(&[0, -1, 0, 1, -1])?;
    /// assert_eq!(labels.select(&[0, 2, 4])?.labelled_sets(), [vec![0, 1]]);
    /// # Ok::<(), consilience::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::Empty`] for no objects, [`ErrorKind::InvalidParameter`] unless they ascend,
    /// [`ErrorKind::OutOfRange`] for an object that does not exist.
    pub fn select(&self, objects: &[usize]) -> Result<Self> {
        ensure!(!objects.is_empty(), empty("side information about no objects"));
        ensure!(objects.is_sorted_by(|a, b| a < b), invalid("objects that do not ascend"));
        checks::exist(objects, self.objects)?;
        let place = |i: usize| objects.binary_search(&i).ok();
        let mut kept = self.without(|i| place(i).is_none())?;
        kept.objects = objects.len();
        // Every object that is left has a place.
        let new = |i: usize| place(i).unwrap_or(usize::MAX);
        kept.sets.iter_mut().flatten().for_each(|i| *i = new(*i));
        kept.members.iter_mut().for_each(|m| m.0 = new(m.0));
        for pair in kept.stated.iter_mut().flatten() {
            (pair.i, pair.j) = (new(pair.i), new(pair.j));
        }
        Ok(kept)
    }

    /// Refuses features of another number of objects.
    ///
    /// # Errors
    /// [`ErrorKind::ShapeMismatch`] with both numbers.
    pub fn check_features<'a>(&self, features: impl Into<Features<'a>>) -> Result<()> {
        let features = features.into();
        let (own, n) = (self.objects, features.n_objects());
        ensure!(own == n, shape("side information about {own} objects, features of {n}"));
        Ok(())
    }
}

/// Pairs of objects of one kind.
type Links = Vec<(usize, usize)>;

/// The pairs of a set, or between two.
struct Block<'a> {
    pairs: usize,
    pair: Box<dyn Fn(usize) -> (usize, usize) + 'a>,
}

/// The p-th of the pairs (0, 1), (0, 2), ..., (1, 2), ... of n objects.
fn pair_of(p: usize, n: usize) -> (usize, usize) {
    // Pairs whose first object is below i.
    let before = |i: usize| i * (2 * n - i - 1) / 2;
    let (mut low, mut high) = (0, n - 1);
    while low + 1 < high {
        let middle = low.midpoint(high);
        if before(middle) <= p { low = middle } else { high = middle }
    }
    (low, low + 1 + p - before(low))
}

/// As [`thinned`], of the pairs of all blocks.
fn blocks_thinned<'a>(
    blocks: impl Iterator<Item = Block<'a>>,
    count: usize,
    limit: usize,
) -> Links {
    let wanted = count.min(limit);
    let at = |k: usize| (k as u128 * count as u128 / wanted as u128) as usize;
    let mut kept = Vec::with_capacity(wanted);
    let mut first = 0usize;
    for block in blocks {
        let end = first.saturating_add(block.pairs);
        while kept.len() < wanted && at(kept.len()) < end {
            kept.push((block.pair)(at(kept.len()) - first));
        }
        first = end;
        if kept.len() == wanted {
            break;
        }
    }
    kept
}

fn thinned(links: impl Iterator<Item = (usize, usize)>, count: usize, limit: usize) -> Links {
    if count <= limit {
        return links.collect();
    }
    let at = |p: usize| (p as u128 * count as u128 / limit as u128) as usize;
    let mut kept = Vec::with_capacity(limit);
    for (p, link) in links.enumerate() {
        if kept.len() < limit && p == at(kept.len()) {
            kept.push(link);
        }
    }
    kept
}

/// Union-find over the objects that occur.
#[derive(Default)]
struct Groups {
    parent: BTreeMap<usize, usize>,
}

impl Groups {
    fn root(&mut self, mut i: usize) -> usize {
        self.parent.entry(i).or_insert(i);
        while self.parent[&i] != i {
            let grand = self.parent[&self.parent[&i]];
            self.parent.insert(i, grand);
            i = grand;
        }
        i
    }

    fn unite(&mut self, a: usize, b: usize) {
        self.parent.insert(a.max(b), a.min(b));
    }

    /// The groups by first object, and the group of each object.
    fn collect(mut self) -> (Vec<Vec<usize>>, BTreeMap<usize, usize>) {
        let objects: Vec<usize> = self.parent.keys().copied().collect();
        let (mut sets, mut number) = (Vec::<Vec<usize>>::new(), BTreeMap::new());
        for i in objects {
            let root = self.root(i);
            // The root is the smallest of its group, so that it comes first.
            let set = if root == i { sets.len() } else { number[&root] };
            if root == i {
                sets.push(Vec::new());
            }
            number.insert(i, set);
            sets[set].push(i);
        }
        (sets, number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type List = Vec<(usize, usize)>;

    /// Every pair that follows, by asking `Constraints` whether the opposite would contradict.
    fn closure(constraints: &Constraints) -> (List, List) {
        let n = constraints.n_objects();
        let (mut must, mut cannot) = (Vec::new(), Vec::new());
        for i in 0..n {
            for j in i + 1..n {
                let refuses = |link| constraints.clone().add(i, j, link).is_err();
                if refuses(Link::Cannot) {
                    must.push((i, j));
                }
                if refuses(Link::Must) {
                    cannot.push((i, j));
                }
            }
        }
        (must, cannot)
    }

    fn sorted(pairs: impl Iterator<Item = (usize, usize)>) -> Vec<(usize, usize)> {
        let mut pairs: Vec<_> = pairs.collect();
        pairs.sort_unstable();
        pairs
    }

    #[test]
    fn closure_equals_what_constraints_imply() {
        for seed in 0..200 {
            let mut s = crate::Seed(seed).stream();
            let mut c = Constraints::new(12).unwrap();
            for _ in 0..s.below(16) {
                let link = if s.below(2) == 0 { Link::Must } else { Link::Cannot };
                let _ = c.add(s.below(12), s.below(12), link);
            }
            let side = SideInformation::from_constraints(&c);
            let (must, cannot) = closure(&c);
            assert_eq!(sorted(side.must_links()), must);
            assert_eq!(sorted(side.cannot_links()), cannot);
            assert_eq!((side.n_must_links(), side.n_cannot_links()), (must.len(), cannot.len()));
            assert_eq!(side.stated().unwrap().len(), c.len());
            for (s, set) in side.labelled_sets().iter().enumerate() {
                assert!(set.iter().all(|&i| side.set_of(i) == Some(s)));
            }
        }
    }

    #[test]
    fn labels_are_classes_that_are_all_apart() {
        // However many are wanted, the same as by passing over all of them.
        let labels: Vec<i64> = (0..60).map(|i| (i * i) % 7 % 5 - 1).collect();
        let side = SideInformation::from_labels(&labels).unwrap();
        for limit in (0..200).chain([10_000]) {
            let (must, cannot) = side.links_up_to(limit);
            assert_eq!(must, thinned(side.must_links(), side.n_must_links(), limit), "{limit}");
            assert_eq!(cannot, thinned(side.cannot_links(), side.n_cannot_links(), limit));
        }
        // A class for every object: not pair of classes by pair of classes.
        let side = SideInformation::from_labels(&(0..200_000).collect::<Vec<i64>>()).unwrap();
        assert_eq!(side.n_cannot_links(), 200_000 * 199_999 / 2);
        let (must, cannot) = side.links_up_to(3);
        assert_eq!((must.len(), cannot[0], cannot[2].0 > cannot[1].0), (0, (0, 1), true));
        let side = SideInformation::from_labels(&[5, -1, 9, 5, 2, -1]).unwrap();
        assert_eq!(side.labelled_sets(), [vec![0, 3], vec![2], vec![4]]);
        assert!(side.are_classes() && side.are_apart(0, 2) && !side.are_apart(1, 1));
        assert_eq!(side.n_cannot_links(), 5);
        assert_eq!(side.set_of(1), None);
        assert!(side.select(&[0, 5]).is_ok());
        assert_eq!(side.select(&[0, 6]).unwrap_err().kind(), ErrorKind::OutOfRange);
        assert!(SideInformation::none(3).is_empty());
        assert!(SideInformation::from_labels(&[-1, -1]).unwrap().is_empty());
    }

    #[test]
    fn links_are_thinned_evenly() {
        let labels: Vec<i32> = (0..40).map(|i| i % 2).collect();
        let side = SideInformation::from_labels(&labels).unwrap();
        let (all, apart) = side.links_up_to(1000);
        assert_eq!((all.len(), apart.len()), (380, 400));
        let (some, few) = side.links_up_to(19);
        assert_eq!((some.len(), few.len()), (19, 19));
        assert!(some.iter().all(|p| all.contains(p)));
        assert_eq!((some[0], some[1]), (all[0], all[20]));
        let mut report = Report::default();
        side.tell_thinned(400, &mut report);
        assert!(report.notes.is_empty());
        side.tell_thinned(390, &mut report);
        assert_eq!(report.notes.len(), 1);
        assert!(report.notes[0].contains("390 of 400 cannot-links"), "{:?}", report.notes);
        let mut pairs = Constraints::new(9).unwrap();
        (0..5).for_each(|i| pairs.add(i, i + 1, Link::Must).unwrap());
        pairs.add(8, 0, Link::Cannot).unwrap();
        let stated = SideInformation::from_constraints(&pairs);
        let chain: List = (0..5).map(|i| (i, i + 1)).collect();
        assert_eq!(stated.links_up_to(5), (chain.clone(), vec![(0, 8)]));
        assert_eq!(stated.links_up_to(1), (chain[..1].to_vec(), vec![(0, 8)]));
        assert_eq!(stated.stated().unwrap()[1], Pair::cannot_link(0, 8)); // said last
        stated.tell_thinned(4, &mut report);
        assert!(report.notes[1].contains("4 of 5 must-links"), "{:?}", report.notes);
    }

    #[test]
    fn labels_and_pairs_together() {
        let labels = Partition::from_labels(&[0, 0, 1, -1, -1]).unwrap();
        let mut pairs = Constraints::new(5).unwrap();
        pairs.add(3, 4, Link::Must).unwrap();
        pairs.add(4, 0, Link::Cannot).unwrap();
        let side = SideInformation::from_labels_and_constraints(&labels, &pairs).unwrap();
        assert_eq!(side.labelled_sets(), [vec![0, 1], vec![2], vec![3, 4]]);
        assert!(side.are_apart(0, 1) && side.are_apart(0, 2) && !side.are_apart(1, 2));
        assert!(!side.are_classes());
        let mut wrong = Constraints::new(5).unwrap();
        wrong.add(1, 4, Link::Must).unwrap();
        wrong.add(4, 2, Link::Must).unwrap();
        let error = SideInformation::from_labels_and_constraints(&labels, &wrong).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Contradiction);
        // One class of one object, and pairs elsewhere.
        let single = Partition::from_labels(&[-1, -1, 1, -1, -1]).unwrap();
        let mut pairs = Constraints::new(5).unwrap();
        pairs.add(0, 4, Link::Cannot).unwrap();
        let side = SideInformation::from_labels_and_constraints(&single, &pairs).unwrap();
        assert_eq!(side.labelled_sets(), [vec![0], vec![2], vec![4]]);
        assert!(side.are_apart(0, 2) && !side.are_apart(0, 1));
    }
}
