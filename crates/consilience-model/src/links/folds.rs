//! Which links are left out together.

use consilience_core::{Link, Pair, Seed, SideInformation};

/// Links of a kind that are judged by, at most.
const MOST_LINKS: usize = 5_000;

/// The links to judge by, and the part of each linked object.
#[derive(Debug)]
pub(super) struct HeldOut {
    links: Vec<Pair>,
    /// The part of every object; [`FREE`] for those of which nothing is said.
    part: Vec<u16>,
}

const FREE: u16 = u16::MAX;

impl HeldOut {
    /// Cuts the linked objects into `folds` parts. What must-links tie together stays together,
    /// unless it is so much that no part could hold it; of labels, each class is shared out.
    pub(super) fn new(side: &SideInformation, folds: usize, seed: Seed) -> Self {
        let (must, cannot) = side.links_up_to(MOST_LINKS);
        let links = must
            .into_iter()
            .map(|(i, j)| Pair::new(i, j, Link::Must))
            .chain(cannot.into_iter().map(|(i, j)| Pair::new(i, j, Link::Cannot)))
            .collect();
        let largest = match side.stated() {
            Some(_) => (side.labelled_objects().len() / (4 * folds)).max(2),
            None => 1,
        };
        let mut units: Vec<Vec<usize>> = Vec::new();
        for (s, set) in side.labelled_sets().iter().enumerate() {
            let mut set = set.clone();
            if set.len() > largest {
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
        HeldOut { links, part }
    }

    /// Must-links, then cannot-links.
    pub(super) fn links(&self) -> &[Pair] {
        &self.links
    }

    /// Whether the object is left out with this part.
    pub(super) fn is_in(&self, object: usize, part: usize) -> bool {
        usize::from(self.part[object]) == part
    }
}
