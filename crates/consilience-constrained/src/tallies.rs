//! How many objects of each labelled set are in each cluster: violated links are counted from that,
//! without walking over pairs.

use consilience_core::{Pace, Result, SideInformation, room};

/// Counts of the objects of set s in cluster h.
pub(crate) struct Tallies<'a> {
    sets: &'a [Vec<usize>],
    k: usize,
    count: Vec<f64>,
    /// Over all sets: where every two sets are apart.
    total: Vec<f64>,
    classes: bool,
    apart: Vec<Vec<usize>>,
}

impl<'a> Tallies<'a> {
    /// Nothing is assigned yet.
    pub(crate) fn new(side: &'a SideInformation, k: usize) -> Result<Self> {
        let sets = side.labelled_sets();
        let classes = side.are_classes();
        let mut apart = vec![Vec::new(); sets.len()];
        if !classes {
            for (a, b) in side.sets_apart() {
                apart[a].push(b);
                apart[b].push(a);
            }
        }
        let count = room::zeros(sets.len().saturating_mul(k))?;
        Ok(Tallies { sets, k, count, total: vec![0.0; k], classes, apart })
    }

    /// What [`apart`](Tallies::apart) takes for set s, in additions.
    pub(crate) fn work(&self, s: usize) -> usize {
        if self.classes { 1 } else { self.apart[s].len() }
    }

    /// Adds `by` (1 or -1) objects of set s in cluster h.
    pub(crate) fn add(&mut self, s: usize, h: usize, by: f64) {
        self.count[s * self.k + h] += by;
        self.total[h] += by;
    }

    /// Objects of set s in cluster h.
    pub(crate) fn of(&self, s: usize, h: usize) -> f64 {
        self.count[s * self.k + h]
    }

    /// Objects in cluster h that are apart from set s.
    pub(crate) fn apart(&self, s: usize, h: usize) -> f64 {
        if self.classes {
            self.total[h] - self.of(s, h)
        } else {
            self.apart[s].iter().map(|&t| self.of(t, h)).sum()
        }
    }

    /// Violated must-links within set s.
    pub(crate) fn split(&self, s: usize) -> f64 {
        let pairs = |c: f64| c * (c - 1.0) / 2.0;
        pairs(self.sets[s].len() as f64) - (0..self.k).map(|h| pairs(self.of(s, h))).sum::<f64>()
    }

    /// Violated must-links and cannot-links of a full assignment.
    pub(crate) fn violated(&self, pace: &mut Pace<'_>) -> Result<(f64, f64)> {
        let mut out = (0.0, 0.0);
        for s in 0..self.sets.len() {
            pace.work(self.k.saturating_mul(1 + self.work(s)))?;
            out.0 += self.split(s);
            out.1 += (0..self.k).map(|h| self.of(s, h) * self.apart(s, h)).sum::<f64>();
        }
        Ok((out.0, out.1 / 2.0))
    }
}
