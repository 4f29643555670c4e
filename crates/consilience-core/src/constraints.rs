use std::collections::VecDeque;
use std::collections::hash_map::Entry;

use rustc_hash::FxHashMap;

use crate::{Error, ErrorKind, Result, ensure};

/// What a person says about two objects.
///
/// Part of a [`Pair`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Link {
    /// They belong together.
    Must,
    /// They belong apart.
    Cannot,
}

/// Two objects and what is said about them: one must-link or cannot-link.
///
/// ```
/// use consilience::{Constraints, Link, Pair};
///
/// let said = [Pair::must_link(0, 1), Pair::cannot_link(1, 2)];
/// assert_eq!(said[1].link, Link::Cannot);
/// let mut constraints = Constraints::new(3)?;
/// assert_eq!(constraints.extend(&said)?, 2);
/// assert_eq!(constraints.iter().collect::<Vec<_>>(), said);
/// # Ok::<(), consilience::Error>(())
/// ```
#[doc(alias = "pairwise constraint")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Pair {
    /// One object.
    pub i: usize,
    /// The other.
    pub j: usize,
    /// Together or apart.
    pub link: Link,
}

impl Pair {
    /// Two objects and a link.
    pub fn new(i: usize, j: usize, link: Link) -> Self {
        Pair { i, j, link }
    }

    /// Two objects that belong together.
    pub fn must_link(i: usize, j: usize) -> Self {
        Pair { i, j, link: Link::Must }
    }

    /// Two objects that belong apart.
    pub fn cannot_link(i: usize, j: usize) -> Self {
        Pair { i, j, link: Link::Cannot }
    }
}

/// Objects of a chain that an error names.
const LONGEST_CHAIN: usize = 40;

/// Pairwise constraints over `n` objects that some clustering satisfies.
///
/// Repeating a constraint changes nothing, `must i,i` is no constraint, and whatever contradicts
/// what was said before, directly or through a chain of must-links, is refused with that chain.
///
/// ```
/// use consilience::{Constraints, ErrorKind, Link};
///
/// let mut c = Constraints::new(4)?;
/// c.add(0, 1, Link::Must)?;
/// c.add(1, 2, Link::Must)?;
/// let error = c.add(0, 2, Link::Cannot).unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::Contradiction);
/// assert!(error.message().contains("0 = 1 = 2"));
/// assert_eq!(c.len(), 2); // as before
/// # Ok::<(), consilience::Error>(())
/// ```
#[doc(alias = "must-link")]
#[doc(alias = "cannot-link")]
#[derive(Clone, Debug)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(
        try_from = "crate::stored::ConstraintsFields",
        into = "crate::stored::ConstraintsFields"
    )
)]
pub struct Constraints {
    objects: usize,
    links: Vec<(u32, u32, Link)>,
    /// Links by their two objects, as [`key`] has them.
    known: FxHashMap<u64, Link>,
    /// Numbers of the objects that occur, in order of appearance: everything below is a row per
    /// number, so that a batch allocates a few tables and nothing per object.
    numbers: FxHashMap<u32, u32>,
    /// Union-find; path halving on look-up.
    parent: Vec<u32>,
    /// For two united groups, by their roots: the cannot-link that keeps them apart.
    apart: FxHashMap<u64, (u32, u32)>,
    /// For each root the groups that are apart from it: how many, and where their list begins.
    others: Vec<Others>,
    /// The lists, each entry with a group, by a number that was its root once, and the next entry.
    entries: Vec<(u32, u32)>,
}

/// Equal are those of as many objects with the same links in the same order; all else follows.
impl PartialEq for Constraints {
    fn eq(&self, other: &Self) -> bool {
        self.objects == other.objects && self.links == other.links
    }
}

/// What is apart from a group.
#[derive(Clone, Copy, Debug)]
struct Others {
    count: u32,
    /// First entry, [`END`] where there is none.
    first: u32,
}

/// The end of a list.
const END: u32 = u32::MAX;

/// What an object is called.
type Called<'a> = &'a dyn Fn(usize) -> String;

/// Two numbers as one key, whatever their order.
fn key(a: u32, b: u32) -> u64 {
    u64::from(a.min(b)) << 32 | u64::from(a.max(b))
}

impl Constraints {
    /// No constraints yet, over `n` objects.
    ///
    /// # Errors
    /// [`ErrorKind::Empty`] without objects, [`ErrorKind::TooLarge`] from 2^32 - 1 on.
    pub fn new(n: usize) -> Result<Self> {
        ensure!(n > 0, empty("constraints over no objects"));
        ensure!(n < u32::MAX as usize, too_large("constraints over {n} objects"));
        Ok(Constraints {
            objects: n,
            links: Vec::new(),
            known: FxHashMap::default(),
            numbers: FxHashMap::default(),
            parent: Vec::new(),
            apart: FxHashMap::default(),
            others: Vec::new(),
            entries: Vec::new(),
        })
    }

    /// Adds one constraint; on an error nothing has changed.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfRange`] for an object that does not exist, [`ErrorKind::Contradiction`]
    /// with the chain for a constraint that cannot hold with the others.
    ///
    /// # Complexity
    /// Amortised near O(1), O(constraints) where a contradiction is explained.
    pub fn add(&mut self, i: usize, j: usize, link: Link) -> Result<()> {
        self.add_called(i, j, link, &|object| object.to_string())
    }

    /// [`add`](Constraints::add), whose errors call objects by their names.
    ///
    /// # Errors
    /// As [`add`](Constraints::add).
    #[doc(hidden)]
    pub fn add_called(&mut self, i: usize, j: usize, link: Link, called: Called<'_>) -> Result<()> {
        for o in [i, j] {
            ensure!(o < self.objects, out_of_range("object {} of {}", called(o), self.objects));
        }
        let (i, j) = (i.min(j) as u32, i.max(j) as u32);
        if i == j {
            return match link {
                Link::Must => Ok(()),
                Link::Cannot => Err(Error::new(
                    ErrorKind::Contradiction,
                    format!("cannot-link of object {} with itself", called(i as usize)),
                )),
            };
        }
        if self.known.get(&key(i, j)) == Some(&link) {
            return Ok(());
        }
        let (ni, nj) = (self.number(i), self.number(j));
        let (ri, rj) = (self.root(ni), self.root(nj));
        match link {
            Link::Cannot if ri == rj => {
                let said = self.chain(i, j, called);
                let (i, j) = (called(i as usize), called(j as usize));
                let what = format!("cannot-link {i}, {j}, but must-links say {said}");
                return Err(Error::new(ErrorKind::Contradiction, what));
            }
            Link::Must => {
                if let Some(&(a, b)) = self.apart.get(&key(ri, rj)) {
                    let (a, b) = if self.group(a) == Some(ri) { (a, b) } else { (b, a) };
                    let said = self.held_apart((i, j), (a, b), called);
                    let (i, j) = (called(i as usize), called(j as usize));
                    let what = format!("must-link {i}, {j}, but {said}");
                    return Err(Error::new(ErrorKind::Contradiction, what));
                }
                if ri != rj {
                    self.unite(ri, rj);
                }
            }
            Link::Cannot => {
                self.set_apart(ri, rj, (i, j));
            }
        }
        self.known.insert(key(i, j), link);
        self.links.push((i, j, link));
        Ok(())
    }

    /// Adds a batch, all of it or nothing, and returns how many of its constraints are new.
    ///
    /// ```
    /// use consilience::{Constraints, Pair};
    ///
    /// let mut c = Constraints::new(4)?;
    /// assert_eq!(c.extend(&[Pair::must_link(0, 1), Pair::must_link(1, 0)])?, 1);
    /// // The second constraint cannot hold, so the first is not taken either.
    /// assert!(c.extend(&[Pair::must_link(1, 2), Pair::cannot_link(0, 2)]).is_err());
    /// assert_eq!(c.relation(0, 2), None);
    /// # Ok::<(), consilience::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Constraints::add`], for the first constraint of the batch that cannot be added; nothing
    /// has changed then.
    ///
    /// # Complexity
    /// As [`Constraints::add`]; O(all constraints) where the batch is refused.
    pub fn extend(&mut self, batch: &[Pair]) -> Result<usize> {
        let before = self.len();
        self.links.reserve(batch.len());
        self.known.reserve(batch.len());
        self.numbers.reserve(2 * batch.len());
        self.parent.reserve(2 * batch.len());
        self.others.reserve(2 * batch.len());
        self.apart.reserve(batch.len());
        self.entries.reserve(2 * batch.len());
        for &Pair { i, j, link } in batch {
            if let Err(error) = self.add(i, j, link) {
                self.truncate(before);
                return Err(error);
            }
        }
        Ok(self.len() - before)
    }

    /// Takes back all but the first `len` constraints.
    ///
    /// # Complexity
    /// O(len) where anything is taken back.
    pub fn truncate(&mut self, len: usize) {
        if len >= self.len() {
            return;
        }
        // Unions cannot be undone, but what held together once does so again.
        let kept = self.links[..len].to_vec();
        self.links.clear();
        self.known.clear();
        self.numbers.clear();
        self.parent.clear();
        self.apart.clear();
        self.others.clear();
        self.entries.clear();
        for (i, j, link) in kept {
            let held = self.add(i as usize, j as usize, link);
            debug_assert!(held.is_ok());
        }
    }

    /// What the constraints say about two objects, directly or through a chain; `None` where they
    /// leave it open, as about two objects of which one does not exist.
    pub fn relation(&self, i: usize, j: usize) -> Option<Link> {
        if i == j {
            return Some(Link::Must);
        }
        let group = |object: usize| self.group(u32::try_from(object).ok()?);
        let (ri, rj) = (group(i)?, group(j)?);
        if ri == rj {
            return Some(Link::Must);
        }
        self.apart.get(&key(ri, rj)).map(|_| Link::Cannot)
    }

    /// Makes room for more objects; fewer than there are change nothing.
    ///
    /// # Errors
    /// [`ErrorKind::TooLarge`] from 2^32 - 1 objects on.
    pub fn grow(&mut self, n: usize) -> Result<()> {
        ensure!(n < u32::MAX as usize, too_large("constraints over {n} objects"));
        self.objects = self.objects.max(n);
        Ok(())
    }

    /// Number of objects.
    pub fn n_objects(&self) -> usize {
        self.objects
    }

    /// Number of distinct constraints.
    pub fn len(&self) -> usize {
        self.links.len()
    }

    /// Whether nothing was said yet.
    pub fn is_empty(&self) -> bool {
        self.links.is_empty()
    }

    /// The constraints in the order they came, the smaller object first.
    pub fn iter(&self) -> impl Iterator<Item = Pair> + '_ {
        self.iter_from(0)
    }

    /// The constraints after the first `known`, in the order they came.
    pub fn iter_from(&self, known: usize) -> impl Iterator<Item = Pair> + '_ {
        let new = self.links.get(known..).unwrap_or_default();
        new.iter().map(|&(i, j, link)| Pair::new(i as usize, j as usize, link))
    }

    /// The root of an object's group, without shortening the way there; `None` where no constraint
    /// names it.
    fn group(&self, object: u32) -> Option<u32> {
        let mut at = *self.numbers.get(&object)?;
        while self.parent[at as usize] != at {
            at = self.parent[at as usize];
        }
        Some(at)
    }

    fn number(&mut self, object: u32) -> u32 {
        let next = self.parent.len() as u32;
        let number = *self.numbers.entry(object).or_insert(next);
        if number == next {
            self.parent.push(next);
            self.others.push(Others { count: 0, first: END });
        }
        number
    }

    fn root(&mut self, mut at: u32) -> u32 {
        loop {
            let p = self.parent[at as usize];
            if p == at {
                return at;
            }
            let grand = self.parent[p as usize];
            self.parent[at as usize] = grand;
            at = grand;
        }
    }

    /// Notes that a cannot-link keeps two groups apart, unless one does so already.
    fn set_apart(&mut self, a: u32, b: u32, witness: (u32, u32)) {
        if let Entry::Vacant(slot) = self.apart.entry(key(a, b)) {
            slot.insert(witness);
            for (group, other) in [(a, b), (b, a)] {
                let others = &mut self.others[group as usize];
                self.entries.push((other, others.first));
                *others = Others { count: others.count + 1, first: self.entries.len() as u32 - 1 };
            }
        }
    }

    /// Joins two groups, keeping the one that holds more cannot-links as root.
    fn unite(&mut self, a: u32, b: u32) {
        let count = |g: u32| self.others[g as usize].count;
        let (keep, gone) = if count(a) >= count(b) { (a, b) } else { (b, a) };
        self.parent[gone as usize] = keep;
        let mut at =
            std::mem::replace(&mut self.others[gone as usize], Others { count: 0, first: END });
        while at.first != END {
            let (other, next) = self.entries[at.first as usize];
            at.first = next;
            // Lists keep the old names of groups, so that one may come up twice.
            let other = self.root(other);
            if let Some(witness) = self.apart.remove(&key(gone, other)) {
                self.others[other as usize].count -= 1;
                self.set_apart(keep, other, witness);
            }
        }
    }

    /// Why i and j are not together: a cannot-link of a, which is with i, and b, which is with j.
    fn held_apart(&self, (i, j): (u32, u32), (a, b): (u32, u32), called: Called<'_>) -> String {
        let cannot = format!("cannot-link {}, {}", called(a as usize), called(b as usize));
        let chain = |from, to| self.chain(from, to, called);
        // An object alone is no chain, and says nothing.
        match (i == a, b == j) {
            (true, true) => cannot,
            (false, true) => format!("{}, and {cannot}", chain(i, a)),
            (true, false) => format!("{cannot}, and {}", chain(b, j)),
            (false, false) => format!("{}, {cannot}, and {}", chain(i, a), chain(b, j)),
        }
    }

    /// The shortest chain of must-links from i to j, as `i = ... = j`; the middle of a long one is
    /// only counted, so that the message stays one that can be read.
    fn chain(&self, i: u32, j: u32, called: Called<'_>) -> String {
        let mut neighbours = FxHashMap::<u32, Vec<u32>>::default();
        for &(a, b, _) in self.links.iter().filter(|l| l.2 == Link::Must) {
            neighbours.entry(a).or_default().push(b);
            neighbours.entry(b).or_default().push(a);
        }
        let mut from = FxHashMap::default();
        let mut queue = VecDeque::from([j]);
        from.insert(j, j);
        while let Some(o) = queue.pop_front() {
            for &next in neighbours.get(&o).into_iter().flatten() {
                from.entry(next).or_insert_with(|| {
                    queue.push_back(next);
                    o
                });
            }
        }
        let mut chain = vec![i];
        let mut at = i;
        while at != j {
            let Some(&next) = from.get(&at) else { break };
            at = next;
            chain.push(at);
        }
        let join =
            |part: &[u32]| part.iter().map(|&o| called(o as usize)).collect::<Vec<_>>().join(" = ");
        if chain.len() <= LONGEST_CHAIN {
            return join(&chain);
        }
        let (head, tail) = (&chain[..LONGEST_CHAIN / 2], &chain[chain.len() - LONGEST_CHAIN / 2..]);
        let between = chain.len() - LONGEST_CHAIN;
        format!("{} = ({between} more) = {}", join(head), join(tail))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_are_called_by_their_names() {
        let called = |object: usize| ["ann", "bob", "cid", "dee"][object].to_owned();
        let mut c = Constraints::new(4).unwrap();
        let mut say = |i, j, link| match c.add_called(i, j, link, &called) {
            Ok(()) => String::new(),
            Err(error) => error.message().to_owned(),
        };
        assert_eq!(say(0, 0, Link::Cannot), "cannot-link of object ann with itself");
        assert_eq!(say(0, 1, Link::Must) + &say(1, 2, Link::Cannot) + &say(2, 3, Link::Must), "");
        let said = "cannot-link ann, bob, but must-links say ann = bob";
        assert_eq!(say(1, 0, Link::Cannot), said);
        let said = "must-link ann, dee, but ann = bob, cannot-link bob, cid, and cid = dee";
        assert_eq!(say(0, 3, Link::Must), said);
    }

    #[test]
    fn links_make_constraints_equal() {
        let of = |n: usize, links: &[(usize, usize)]| {
            let mut c = Constraints::new(n).unwrap();
            links.iter().for_each(|&(i, j)| c.add(i, j, Link::Must).unwrap());
            c
        };
        let all = of(5, &[(0, 1), (1, 2)]);
        let mut looked_at = all.clone();
        // A contradiction that is refused leaves shorter paths, and no other constraints.
        assert!(looked_at.add(0, 2, Link::Cannot).is_err());
        assert_eq!(looked_at, all);
        for other in [of(6, &[(0, 1), (1, 2)]), of(5, &[(0, 1)]), of(5, &[(1, 2), (0, 1)])] {
            assert_ne!(other, all);
        }
    }

    #[test]
    fn contradictions_through_chains_are_told_and_change_nothing() {
        let mut c = Constraints::new(10).unwrap();
        c.add(0, 1, Link::Must).unwrap();
        c.add(2, 3, Link::Must).unwrap();
        c.add(1, 3, Link::Cannot).unwrap();
        c.add(3, 4, Link::Must).unwrap();
        let before: Vec<_> = c.iter().collect();
        let e = c.add(4, 0, Link::Must).unwrap_err();
        assert_eq!(e.kind(), ErrorKind::Contradiction);
        assert_eq!(e.message(), "must-link 0, 4, but 0 = 1, cannot-link 1, 3, and 3 = 4");
        assert_eq!(c.iter().collect::<Vec<_>>(), before);
        // An object alone is no chain.
        let said = |i, j| c.clone().add(i, j, Link::Must).unwrap_err().message().to_owned();
        assert_eq!(said(3, 1), "must-link 1, 3, but cannot-link 1, 3");
        assert_eq!(said(0, 3), "must-link 0, 3, but 0 = 1, and cannot-link 1, 3");
        assert_eq!(said(1, 4), "must-link 1, 4, but cannot-link 1, 3, and 3 = 4");
    }

    #[test]
    fn long_chains_are_told_by_their_ends() {
        let mut c = Constraints::new(10_000).unwrap();
        for i in 0..9_999 {
            c.add(i, i + 1, Link::Must).unwrap();
        }
        let message = c.add(0, 9_999, Link::Cannot).unwrap_err().message().to_owned();
        assert!(message.contains("must-links say 0 = 1 = 2"), "{message}");
        assert!(message.contains(" = 19 = (9960 more) = 9980 = "), "{message}");
        assert!(message.ends_with(" = 9998 = 9999"), "{message}");
        let whole = c.add(0, 39, Link::Cannot).unwrap_err().message().to_owned();
        assert!(!whole.contains("more"), "{whole}");
    }

    #[test]
    fn trivial_and_repeated_links() {
        let mut c = Constraints::new(3).unwrap();
        c.add(1, 1, Link::Must).unwrap();
        assert!(c.is_empty());
        assert_eq!(c.add(1, 1, Link::Cannot).unwrap_err().kind(), ErrorKind::Contradiction);
        c.add(0, 1, Link::Cannot).unwrap();
        c.add(1, 0, Link::Cannot).unwrap();
        assert_eq!(c.len(), 1);
        assert_eq!(c.add(0, 3, Link::Must).unwrap_err().kind(), ErrorKind::OutOfRange);
    }

    #[test]
    fn a_refused_batch_leaves_no_trace() {
        let mut c = Constraints::new(8).unwrap();
        c.extend(&[Pair::must_link(0, 1), Pair::must_link(2, 3), Pair::cannot_link(1, 3)]).unwrap();
        let before: Vec<_> = c.iter().collect();
        let e = c
            .extend(&[Pair::must_link(4, 5), Pair::must_link(3, 4), Pair::must_link(5, 0)])
            .unwrap_err();
        assert_eq!(e.message(), "must-link 0, 5, but 0 = 1, cannot-link 1, 3, and 3 = 4 = 5");
        assert_eq!(c.iter().collect::<Vec<_>>(), before);
        for (i, j, relation) in [
            (0, 2, Some(Link::Cannot)),
            (1, 0, Some(Link::Must)),
            (4, 5, None),
            (3, 4, None),
            (6, 7, None),
            (7, 7, Some(Link::Must)),
            // 1 in its last 32 bits.
            (0, (1 << 32) + 1, None),
            (usize::MAX, 0, None),
        ] {
            assert_eq!(c.relation(i, j), relation, "{i} {j}");
        }
        // What was refused can still be said.
        assert_eq!(c.extend(&[Pair::cannot_link(4, 5), Pair::must_link(1, 0)]).unwrap(), 1);
        assert_eq!(c.extend(&[Pair::must_link(0, 9)]).unwrap_err().kind(), ErrorKind::OutOfRange);
        c.grow(10).unwrap();
        c.extend(&[Pair::must_link(0, 9)]).unwrap();
        assert_eq!(c.relation(9, 3), Some(Link::Cannot));
    }

    /// Groups by must-links, grown until nothing changes, and what is apart from what: by
    /// everything accepted so far.
    fn naive_relations(n: usize, links: &[Pair]) -> Vec<Vec<Option<Link>>> {
        let mut group: Vec<usize> = (0..n).collect();
        for _ in 0..n {
            for &Pair { i, j, link } in links {
                if link == Link::Must {
                    let least = group[i].min(group[j]);
                    (group[i], group[j]) = (least, least);
                }
            }
        }
        let apart = |a: usize, b: usize| {
            let between = |i: usize, j: usize| {
                (group[i], group[j]) == (a, b) || (group[i], group[j]) == (b, a)
            };
            links.iter().any(|&Pair { i, j, link }| link == Link::Cannot && between(i, j))
        };
        let relation = |i: usize, j: usize| match group[i] == group[j] {
            true => Some(Link::Must),
            false => apart(group[i], group[j]).then_some(Link::Cannot),
        };
        (0..n).map(|i| (0..n).map(|j| relation(i, j)).collect()).collect()
    }

    #[test]
    fn relations_equal_the_naive_closure() {
        for seed in 0..60 {
            let mut s = crate::Seed(seed).stream();
            let n = 4 + s.below(14);
            let mut c = Constraints::new(n).unwrap();
            let mut accepted: Vec<Pair> = Vec::new();
            for _ in 0..12 {
                let batch: Vec<_> = (0..1 + s.below(4))
                    .map(|_| {
                        let link = if s.below(2) == 0 { Link::Must } else { Link::Cannot };
                        Pair::new(s.below(n), s.below(n), link)
                    })
                    .collect();
                let mut next = accepted.clone();
                let holds = batch.iter().all(|&Pair { i, j, link }| {
                    let said = naive_relations(n, &next)[i][j];
                    let pair = Pair::new(i.min(j), i.max(j), link);
                    if i != j && !next.contains(&pair) {
                        next.push(pair);
                    }
                    said.is_none_or(|said| said == link)
                });
                let done = c.extend(&batch);
                assert_eq!(done.is_ok(), holds, "{batch:?} after {accepted:?}");
                if holds {
                    assert_eq!(done.unwrap(), next.len() - accepted.len());
                    accepted = next;
                }
                assert_eq!(c.iter().collect::<Vec<_>>(), accepted);
                let wanted = naive_relations(n, &accepted);
                for i in 0..n {
                    for j in 0..n {
                        assert_eq!(c.relation(i, j), wanted[i][j], "{i} {j} {accepted:?}");
                    }
                }
            }
        }
    }
}
