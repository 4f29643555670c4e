//! The pairs of objects that are known.

use consilience_core::{
    Link, MemoryBudget, Observer, Pace, Pair, Result, SideInformation, ensure, room,
};

/// The pairs that are known, in a fixed order whatever the order in which they were stated.
#[derive(Clone, Debug)]
pub(crate) struct KnownPairs {
    /// The smaller object, the larger, and what their similarity must be: 1 or 0.
    links: Vec<(usize, usize, f64)>,
}

impl KnownPairs {
    /// The constraints as they were stated; where labels were given, every pair of labelled
    /// objects.
    pub(crate) fn new(
        side: &SideInformation,
        budget: MemoryBudget,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let Some(pairs) = side.stated() else { return Self::of_labels(side, budget, observer) };
        let value = |p: &Pair| f64::from(u8::from(p.link == Link::Must));
        let links = pairs.iter().map(|p| (p.i.min(p.j), p.i.max(p.j), value(p)));
        let mut links = room::collected(links)?;
        links.sort_unstable_by_key(|l| (l.0, l.1));
        Ok(KnownPairs { links })
    }

    /// Every pair of labelled objects of which it is known whether they belong together.
    fn of_labels(
        side: &SideInformation,
        budget: MemoryBudget,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let count = side.n_must_links().saturating_add(side.n_cannot_links());
        budget.check_table("pairs of labelled objects", count, 1, 96)?;
        let mut links = room::with_capacity(count)?;
        let mut pace = Pace::new(observer);
        let objects = side.labelled_objects();
        for (at, &(i, set)) in objects.iter().enumerate() {
            let later = &objects[at + 1..];
            pace.work(later.len())?;
            links.extend(later.iter().filter_map(|&(j, other)| {
                let known = set == other || side.are_apart(set, other);
                known.then(|| (i, j, f64::from(u8::from(set == other))))
            }));
        }
        Ok(KnownPairs { links })
    }

    pub(crate) fn from_links(links: Vec<(usize, usize, f64)>) -> Self {
        KnownPairs { links }
    }

    pub(crate) fn links(&self) -> &[(usize, usize, f64)] {
        &self.links
    }

    /// Numbers of must-links and of cannot-links.
    pub(crate) fn kinds(&self) -> (usize, usize) {
        let must = self.links.iter().filter(|l| l.2 == 1.0).count();
        (must, self.links.len() - must)
    }
}

/// Refuses side information about another number of objects than there are rows.
pub(crate) fn check_objects(side: &SideInformation, n: usize) -> Result<()> {
    ensure!(
        side.n_objects() == n,
        shape("side information about {} objects, {n} rows", side.n_objects())
    );
    Ok(())
}
