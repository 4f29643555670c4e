//! The chain of nearest neighbours over the distances of all pairs.

use consilience_core::{Observer, Result, Watch, room};

use crate::pages::Table;
use crate::ward::Merge;

/// Distances of all pairs, row by row of the lower triangle: row b has those before b.
///
/// A union takes the place of its last object, so that clusters gather at the end, where most of
/// what a search reads stands side by side.
pub(crate) struct Lower {
    values: Table,
    n: usize,
}

/// Where a row begins.
#[inline(always)]
fn start(b: usize) -> usize {
    b * b.saturating_sub(1) / 2
}

impl Lower {
    pub(crate) fn new(values: Table, n: usize) -> Self {
        debug_assert_eq!(values.len(), start(n));
        Lower { values, n }
    }

    pub(crate) fn n(&self) -> usize {
        self.n
    }

    #[inline(always)]
    pub(crate) fn get(&self, a: usize, b: usize) -> f64 {
        self.values[start(a.max(b)) + a.min(b)]
    }

    fn row(&self, b: usize) -> &[f64] {
        &self.values[start(b)..][..b]
    }
}

/// What is left while clusters are joined. Those that are gone are infinitely far, and keep their
/// places until a quarter is gone.
struct Chain {
    distances: Lower,
    /// The places of clusters, in order.
    active: Vec<u32>,
    /// The last object of each place's cluster, and how many it has.
    objects: Vec<u32>,
    sizes: Vec<f64>,
    chain: Vec<usize>,
}

/// The chain of nearest neighbours (Muellner, Figure 3). `update` says how far the union of a and b
/// is from x: by the distances of a and of b to it, the three sizes, and the distance of a and b.
/// It has to give infinity where both are infinitely far.
pub(crate) fn chained(
    distances: Lower,
    watch: &mut Watch<'_>,
    update: impl Fn(f64, f64, [f64; 3], f64) -> f64,
) -> Result<Vec<Merge>> {
    let n = distances.n;
    let mut left = Chain {
        active: room::collected(0..n as u32)?,
        objects: room::collected(0..n as u32)?,
        sizes: room::filled(n, 1.0f64)?,
        chain: Vec::new(),
        distances,
    };
    let mut found = room::with_capacity(n)?;
    for done in 0..n - 1 {
        left.close_ranks(watch.observer())?;
        let (mut nearest, mut a, mut b) = left.begin();
        loop {
            // A search takes as long as a merge, and there are at most three for each.
            watch.step(done)?;
            left.chain.push(b);
            (nearest, a) = left.neighbour(b, (nearest, a));
            b = a;
            a = left.chain[left.chain.len() - 1];
            if b == left.chain[left.chain.len() - 2] {
                break;
            }
        }
        let (a, b) = (a.min(b), a.max(b));
        found.push((nearest, [left.objects[a], left.objects[b]]));
        left.join(a, b, |from_a, from_b, sizes| update(from_a, from_b, sizes, nearest));
    }
    Ok(found)
}

impl Chain {
    /// Where a place stands among those that are left, or would stand.
    fn rank(&self, place: usize) -> usize {
        self.active.partition_point(|&x| (x as usize) < place)
    }

    /// Two clusters to go on from, and how far they are apart: the end of the chain without the two
    /// that were joined, or the first cluster and its nearest.
    fn begin(&mut self) -> (f64, usize, usize) {
        if self.chain.len() < 4 {
            let first = self.active[0] as usize;
            self.chain = vec![first];
            let known = (f64::INFINITY, self.active[1] as usize);
            let (nearest, b) = self.neighbour(first, known);
            return (nearest, first, b);
        }
        self.chain.truncate(self.chain.len() - 2);
        let b = self.chain.pop().unwrap_or(0);
        let a = self.chain[self.chain.len() - 1];
        (self.distances.get(a, b), a, b)
    }

    /// The first of those nearer to b than what is known, else what is known.
    fn neighbour(&self, b: usize, mut nearest: (f64, usize)) -> (f64, usize) {
        let row = self.distances.row(b);
        let low = least(row);
        if low < nearest.0 {
            nearest = (low, row.iter().position(|&here| here == low).unwrap_or(nearest.1));
        }
        for &x in &self.active[self.rank(b) + 1..] {
            let here = self.distances.values[start(x as usize) + b];
            if here < nearest.0 {
                nearest = (here, x as usize);
            }
        }
        nearest
    }

    /// Joins a to b, which is behind it: puts how far the union is from the others in the place of
    /// b.
    fn join(&mut self, a: usize, b: usize, update: impl Fn(f64, f64, [f64; 3]) -> f64) {
        let (at, to) = (self.rank(a), self.rank(b));
        let sizes = &self.sizes;
        let both = |x: usize| [sizes[a], sizes[b], sizes[x]];
        let (head, tail) = self.distances.values.split_at_mut(start(b));
        let row = &mut tail[..b];
        // Before a all places are taken, those of clusters that are gone too, which stay far.
        let of_a = &mut head[start(a)..][..a];
        for (x, (near, from)) in row.iter_mut().zip(of_a).enumerate() {
            *near = update(*from, *near, both(x));
            *from = f64::INFINITY;
        }
        row[a] = f64::INFINITY;
        for x in self.active[at + 1..to].iter().map(|&x| x as usize) {
            let from = &mut head[start(x) + a];
            row[x] = update(*from, row[x], both(x));
            *from = f64::INFINITY;
        }
        for x in self.active[to + 1..].iter().map(|&x| x as usize) {
            let row = &mut self.distances.values[start(x)..][..x];
            row[b] = update(row[a], row[b], both(x));
            row[a] = f64::INFINITY;
        }
        self.sizes[b] += self.sizes[a];
        self.active.remove(at);
    }

    /// Gives the places of those that are gone to the others, where a quarter is gone.
    fn close_ranks(&mut self, observer: &dyn Observer) -> Result<()> {
        let left = self.active.len();
        if left * 4 > self.distances.n * 3 {
            return Ok(());
        }
        for i in 0..self.chain.len() {
            self.chain[i] = self.rank(self.chain[i]);
        }
        let (values, mut to) = (&mut self.distances.values, 0);
        for (i, b) in self.active.iter().map(|&b| b as usize).enumerate() {
            observer.check()?;
            for &a in &self.active[..i] {
                values[to] = values[start(b) + a as usize];
                to += 1;
            }
            self.sizes[i] = self.sizes[b];
            self.objects[i] = self.objects[b];
        }
        self.distances.n = left;
        self.active.iter_mut().zip(0..).for_each(|(place, i)| *place = i);
        Ok(())
    }
}

/// The least of them, infinity where there is none.
fn least(row: &[f64]) -> f64 {
    let lower = |a: f64, b: f64| if b < a { b } else { a };
    let mut lanes = [f64::INFINITY; 16];
    let (chunks, rest) = row.as_chunks::<16>();
    for chunk in chunks {
        lanes.iter_mut().zip(chunk).for_each(|(lane, &here)| *lane = lower(*lane, here));
    }
    lanes.iter().chain(rest).copied().fold(f64::INFINITY, lower)
}
