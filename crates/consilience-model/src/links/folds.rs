//! Which links are left out together.

use std::collections::HashSet;

use consilience_core::{Constraints, Link, Pair, Partition, Result, Seed, SideInformation};

/// Links of a kind that are judged by, at most.
pub(super) const MOST_LINKS: usize = 5_000;
/// A part of the pairs that is smaller than this is not worth its fits.
const SMALL: f64 = 0.05;

/// The links to judge by, and the parts that they and their objects are in.
#[derive(Debug)]
pub(super) struct HeldOut {
    links: Vec<Pair>,
    /// The part of every object; [`FREE`] for those of which nothing is said.
    part: Vec<u16>,
    /// The part of every link.
    of_link: Vec<u16>,
    folds: usize,
    /// How much links count that are left out by themselves: the share of the pairs of objects of
    /// which both have links. 0 of labels, which say every pair of theirs: none can be left out but
    /// with an object.
    linked: f64,
}

const FREE: u16 = u16::MAX;

/// What is left out of a fit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Trial {
    /// The objects of a part with all their links.
    Objects(usize),
    /// The links of a part.
    Links(usize),
}

impl HeldOut {
    /// Cuts the linked objects into `folds` parts. What must-links tie together stays together,
    /// unless it is so much that no part could hold it; of labels, each class is shared out.
    /// `objects` is the number of all objects.
    pub(super) fn new(side: &SideInformation, objects: usize, folds: usize, seed: Seed) -> Self {
        let (must, cannot) = side.links_up_to(MOST_LINKS);
        let mut of_link = Vec::with_capacity(must.len() + cannot.len());
        for (kind, links) in [&must, &cannot].into_iter().enumerate() {
            let mut parts: Vec<u16> = (0..links.len()).map(|l| (l % folds) as u16).collect();
            seed.derive("links", kind as u64).stream().shuffle(&mut parts);
            of_link.extend(parts);
        }
        let links = must
            .into_iter()
            .map(|(i, j)| Pair::new(i, j, Link::Must))
            .chain(cannot.into_iter().map(|(i, j)| Pair::new(i, j, Link::Cannot)))
            .collect();
        let share = side.labelled_objects().len() as f64 / objects.max(1) as f64;
        let linked = match share * share {
            _ if side.stated().is_none() => 0.0,
            small if small < SMALL => 0.0,
            large if large > 1.0 - SMALL => 1.0,
            between => between,
        };
        HeldOut { links, part: parts(side, folds, seed), of_link, folds, linked }
    }

    /// Must-links, then cannot-links.
    pub(super) fn links(&self) -> &[Pair] {
        &self.links
    }

    /// The fits to make.
    pub(super) fn trials(&self) -> Vec<Trial> {
        let mut trials = Vec::new();
        if self.linked < 1.0 {
            trials.extend((0..self.folds).map(Trial::Objects));
        }
        if self.linked > 0.0 {
            trials.extend((0..self.folds).map(Trial::Links));
        }
        trials
    }

    /// What a fit may know.
    pub(super) fn side_of(&self, side: &SideInformation, trial: Trial) -> Result<SideInformation> {
        match trial {
            Trial::Objects(part) => side.without(|i| self.is_in(i, part)),
            Trial::Links(part) => {
                let ends = |pair: &Pair| (pair.i.min(pair.j), pair.i.max(pair.j));
                let own = self.links.iter().zip(&self.of_link);
                let out: HashSet<(usize, usize)> =
                    own.filter(|l| usize::from(*l.1) == part).map(|l| ends(l.0)).collect();
                // All that were stated, also where there are too many to judge by.
                let stated = side.stated().unwrap_or_default();
                let mut rest = Constraints::new(side.n_objects())?;
                for kind in [Link::Must, Link::Cannot] {
                    for pair in stated.iter().filter(|p| p.link == kind && !out.contains(&ends(p)))
                    {
                        rest.add(pair.i, pair.j, pair.link)?;
                    }
                }
                Ok(SideInformation::from_constraints(&rest))
            }
        }
    }

    /// How far the fits keep a link that they were made without.
    pub(super) fn mean_kept(&self, link: usize, trials: &[Trial], found: &[Partition]) -> f64 {
        let pair = &self.links[link];
        // Without its objects, and without the link itself: kept, and how often.
        let mut sums = [(0.0, 0.0); 2];
        for (&trial, labels) in trials.iter().zip(found) {
            let (own, out) = match trial {
                Trial::Objects(part) => (0, self.is_in(pair.i, part) || self.is_in(pair.j, part)),
                Trial::Links(part) => (1, usize::from(self.of_link[link]) == part),
            };
            if out {
                sums[own].0 += keeps(labels, pair);
                sums[own].1 += 1.0;
            }
        }
        let mean = |(kept, times): (f64, f64)| kept / f64::max(times, 1.0);
        (1.0 - self.linked) * mean(sums[0]) + self.linked * mean(sums[1])
    }

    /// Whether the object is left out with this part.
    pub(super) fn is_in(&self, object: usize, part: usize) -> bool {
        usize::from(self.part[object]) == part
    }
}

/// The part of every object.
fn parts(side: &SideInformation, folds: usize, seed: Seed) -> Vec<u16> {
    let largest = match side.stated() {
        Some(_) => (side.labelled_objects().len() / (4 * folds)).max(2),
        None => 1,
    };
    let mut units: Vec<Vec<usize>> = Vec::new();
    for (s, set) in side.labelled_sets().iter().enumerate() {
        let mut set = set.clone();
        if set.len() > largest || side.stated().is_none() {
            seed.derive("set", s as u64).stream().shuffle(&mut set);
        }
        units.extend(set.chunks(largest).map(<[usize]>::to_vec));
    }
    if side.stated().is_some() {
        seed.derive("folds", 0).stream().shuffle(&mut units);
        // Large ones first, so that the parts become alike.
        units.sort_by_key(|unit| std::cmp::Reverse(unit.len()));
    }
    let mut part = vec![FREE; side.n_objects()];
    for (u, unit) in units.iter().enumerate() {
        unit.iter().for_each(|&i| part[i] = (u % folds) as u16);
    }
    part
}

/// 1 where a clustering keeps a link, else 0.
pub(super) fn keeps(labels: &Partition, link: &Pair) -> f64 {
    let together = labels.label(link.i).is_some() && labels.label(link.i) == labels.label(link.j);
    f64::from(u8::from(together == (link.link == Link::Must)))
}
