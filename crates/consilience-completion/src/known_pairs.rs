//! The pairs of objects that are known.

use std::fmt;

use consilience_core::{
    Link, MemoryBudget, Observer, Pace, Pair, Result, SideInformation, ensure, number_of, room,
};

/// Links of either kind that it takes to hold some out. Of fewer nothing can be learned that
/// holds for others.
const LEAST_KIND: usize = 6;

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

    /// How many there are of either kind.
    pub(crate) fn kinds(&self) -> Kinds {
        let must = self.links.iter().filter(|l| l.2 == 1.0).count();
        Kinds { must, cannot: self.links.len() - must }
    }
}

/// Numbers of must-links and of cannot-links.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kinds {
    must: usize,
    cannot: usize,
}

impl Kinds {
    /// Whether they are too few to hold some of each out.
    pub(crate) fn are_few(self) -> bool {
        self.must.min(self.cannot) < LEAST_KIND
    }

    /// Why nothing is learned from them, if so. A handful of links cannot tell what serves: it is
    /// fitted, and little else. So they are used only where the caller names one of some options,
    /// which are told.
    pub(crate) fn why_unused(self, named: bool, options: &str) -> Option<String> {
        if self.must == 0 || self.cannot == 0 {
            return Some(format!("{self}: both kinds are needed"));
        }
        (!named && self.are_few()).then(|| {
            format!(
                "{self}: with fewer than {LEAST_KIND} of either kind nothing can be held out, and \
                 the links are not used unless {options} named"
            )
        })
    }
}

impl fmt::Display for Kinds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let of = |count: usize, thing| number_of(count as u64, thing);
        write!(f, "{} and {}", of(self.must, "must-link"), of(self.cannot, "cannot-link"))
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
