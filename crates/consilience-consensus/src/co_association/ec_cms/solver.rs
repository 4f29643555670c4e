use consilience_core::{Microclusters, Observer, Result};
use ndarray::{Array2, ArrayView2};
use rayon::prelude::*;

use super::own::{Own, Point};
use super::tile::{C, CHANGE, F, FREE, Operator, Pair, Penalty, Sums, Y1, Y2};
use crate::co_association::confidence::{Confidence, Group};

/// Nodes without links that are treated together beside a group.
const STRIP: usize = 64;
/// Pairs of groups whose results are kept at a time.
const BATCH: usize = 256;
/// Rounds of the first attempt; each further one makes twice as many.
const FIRST: usize = 32;

/// The problem of EC-CMS on microclusters, pair of groups by pair of groups.
pub(super) struct Solver<'a> {
    lambda: f64,
    tolerance: f64,
    observer: &'a dyn Observer,
    groups: Vec<Operator>,
    strips: Vec<Operator>,
    singles: Vec<Operator>,
}

/// Two groups, or one with itself, and where they stand.
#[derive(Clone, Copy)]
struct Tile<'a>(&'a Operator, &'a Operator, bool);

/// Rounds made, and whether the tolerance was reached.
pub(super) struct Stop {
    pub(super) rounds: usize,
    pub(super) reached: bool,
}

fn operator(group: Group, linked: bool) -> Result<Operator> {
    let inverse = linked.then(|| group.inverse(2.0, 1.0)).transpose()?;
    let inverse = inverse.map(|q: Array2<f64>| q.as_standard_layout().into_owned());
    let of = |(degree, size): (&f64, &f64)| 1.0 / (2.0 * (degree + size) + 2.0);
    let within = group.degrees().iter().zip(&group.sizes).map(of).collect();
    let Group { nodes, sizes, mut links } = group;
    // Of a node of one object there are no pairs inside.
    for (own, &size) in links.diag_mut().iter_mut().zip(&sizes) {
        *own = f64::from(size > 1.0);
    }
    Ok(Operator { nodes, sizes, links, inverse, within })
}

impl<'a> Solver<'a> {
    pub(super) fn new(
        nodes: &Microclusters,
        graph: Confidence,
        lambda: f64,
        tolerance: f64,
        observer: &'a dyn Observer,
    ) -> Result<Self> {
        let sizes = nodes.grouping().weights();
        let single = |nodes: &[usize]| operator(Group::unlinked(nodes, &sizes), false);
        let strips = graph.singles.chunks(STRIP).map(single).collect::<Result<_>>()?;
        let singles = graph.singles.chunks(1).map(single).collect::<Result<_>>()?;
        let groups = graph.groups.into_par_iter().map(|group| {
            observer.check()?;
            operator(group, true)
        });
        let groups = groups.collect::<Result<_>>()?;
        Ok(Solver { lambda, tolerance, observer, groups, strips, singles })
    }

    /// When to stop: at the first round in which nothing changes by more than the tolerance.
    pub(super) fn rounds(&self, a: ArrayView2<'_, f64>, most: usize) -> Result<Stop> {
        let mut limit = FIRST.min(most);
        loop {
            let sums = self.sums(a, limit)?;
            // What is nothing but rounding is no change.
            let least = 1e-24 * sums[0][C];
            let still = |round: &usize| self.is_still(&sums[round - 1], &sums[*round], least);
            if let Some(round) = (1..limit).find(still) {
                return Ok(Stop { rounds: round + 1, reached: true });
            }
            if limit == most {
                return Ok(Stop { rounds: most, reached: false });
            }
            limit = (2 * limit).min(most);
        }
    }

    /// Whether C, E, F, Y1 and Y2 hardly change; E is Y1 / lambda where no links are, 0 elsewhere.
    fn is_still(&self, last: &Sums, this: &Sums, least: f64) -> bool {
        let tolerance = self.tolerance * self.tolerance;
        let of_e = least * self.lambda * self.lambda;
        [C, F, Y1, Y2].iter().all(|&at| this[CHANGE + at] <= tolerance * last[at] + least)
            && this[FREE + 1] <= tolerance * last[FREE] + of_e
    }

    fn tiles(&self) -> Vec<Tile<'_>> {
        let groups = &self.groups;
        let mut tiles: Vec<Tile<'_>> =
            self.singles.iter().chain(groups).map(|g| Tile(g, g, true)).collect();
        for (at, group) in groups.iter().enumerate() {
            let others = groups[at + 1..].iter().chain(&self.strips);
            tiles.extend(others.map(|other| Tile(other, group, false)));
        }
        tiles
    }

    fn run(&self, tile: Tile<'_>, a: ArrayView2<'_, f64>, sums: &mut [Sums]) -> Result<Vec<f64>> {
        let (Tile(left, right, own), penalty) = (tile, Penalty::new(self.lambda));
        if own {
            Own::new(left, a).run(penalty, sums, self.observer)
        } else {
            Pair::new(left, right, a).run(penalty, sums, self.observer)
        }
    }

    /// The sums of so many rounds.
    fn sums(&self, a: ArrayView2<'_, f64>, rounds: usize) -> Result<Vec<Sums>> {
        let mut total = self.sums_of_singles(a, rounds)?;
        for batch in self.tiles().chunks(BATCH) {
            let of = |&tile: &Tile<'_>| {
                let mut sums = vec![[0.0; 10]; rounds];
                self.run(tile, a, &mut sums)?;
                Ok(sums)
            };
            let found: Vec<Vec<Sums>> = batch.par_iter().map(of).collect::<Result<_>>()?;
            found.iter().for_each(|sums| add(&mut total, sums, 1.0));
        }
        Ok(total)
    }

    /// Of pairs of nodes without links. As long as nothing is cut at 1, all that comes of an entry
    /// of A is a multiple of it, and the same multiple everywhere.
    fn sums_of_singles(&self, a: ArrayView2<'_, f64>, rounds: usize) -> Result<Vec<Sums>> {
        let penalty = Penalty::new(self.lambda);
        let common = Common::new(penalty, rounds);
        let row = |i: usize| {
            self.observer.check()?;
            let (mut squares, mut cut) = (0.0, Vec::new());
            for other in &self.singles[i + 1..] {
                let (one, other) = (&self.singles[i], other);
                let value = a[[one.nodes[0], other.nodes[0]]];
                let pairs = 2.0 * one.sizes[0] * other.sizes[0];
                if value <= common.bound {
                    squares += pairs * value * value;
                } else {
                    cut.resize(rounds, [0.0; 10]);
                    add(&mut cut, &trace(value, penalty, rounds).1, pairs);
                }
            }
            Ok((squares, cut))
        };
        let rows: Vec<(f64, Vec<Sums>)> =
            (0..self.singles.len()).into_par_iter().map(row).collect::<Result<_>>()?;
        let mut total = vec![[0.0; 10]; rounds];
        for (squares, cut) in rows {
            add(&mut total, &common.sums, squares);
            add(&mut total, &cut, 1.0);
        }
        Ok(total)
    }

    /// Puts C after so many rounds in place of A.
    pub(super) fn solve(&self, a: &mut Array2<f64>, rounds: usize) -> Result<()> {
        let tiles = self.tiles();
        for (done, batch) in tiles.chunks(BATCH).enumerate() {
            let of = |&tile: &Tile<'_>| self.run(tile, a.view(), &mut vec![[0.0; 10]; rounds]);
            let found: Vec<Vec<f64>> = batch.par_iter().map(of).collect::<Result<_>>()?;
            for (&Tile(left, right, _), values) in batch.iter().zip(&found) {
                let ends =
                    left.nodes.iter().flat_map(|&i| right.nodes.iter().map(move |&j| (i, j)));
                for ((i, j), &value) in ends.zip(values) {
                    a[[i, j]] = value;
                    a[[j, i]] = value;
                }
            }
            self.observer.progress("rounds", done * BATCH, tiles.len());
        }
        let penalty = Penalty::new(self.lambda);
        let common = Common::new(penalty, rounds);
        for (at, one) in self.singles.iter().enumerate() {
            if at % 64 == 0 {
                self.observer.check()?;
            }
            for other in &self.singles[at + 1..] {
                let (i, j) = (one.nodes[0], other.nodes[0]);
                let value = a[[i, j]];
                let cut = value > common.bound;
                let value =
                    if cut { trace(value, penalty, rounds).0 } else { common.factor * value };
                (a[[i, j]], a[[j, i]]) = (value, value);
            }
        }
        Ok(())
    }
}

fn add(total: &mut [Sums], sums: &[Sums], weight: f64) {
    for (total, sums) in total.iter_mut().zip(sums) {
        total.iter_mut().zip(sums).for_each(|(t, s)| *t += weight * s);
    }
}

/// What comes of an entry of A between two nodes without links: C in the last round, and the
/// squares of all of them.
fn trace(a: f64, penalty: Penalty, rounds: usize) -> (f64, Vec<Sums>) {
    let mut point = Point { y1: a, ..Point::default() };
    let sums = (0..rounds).map(|round| {
        let c = 0.5 * if round == 0 { 2.0 * a } else { point.right(a, penalty.rest) };
        let next = point.next(a, c, c + point.y2, penalty.keep);
        let mut sums = [0.0; 10];
        next.add(point, 1.0, false, &mut sums);
        point = next;
        sums
    });
    let sums = sums.collect();
    (point.c, sums)
}

/// What comes of 1 as long as nothing is cut.
struct Common {
    factor: f64,
    sums: Vec<Sums>,
    /// Entries of A above this are cut at some time.
    bound: f64,
}

impl Common {
    fn new(penalty: Penalty, rounds: usize) -> Self {
        // So small that nothing is cut; a power of 2, so that no digit is lost.
        let small = 2f64.powi(-200);
        let (c, mut sums) = trace(small, penalty, rounds);
        sums.iter_mut().flatten().for_each(|sum| *sum = *sum / small / small);
        let largest = sums.iter().map(|sums| sums[C].sqrt()).fold(0.0, f64::max);
        Common { factor: c / small, sums, bound: 1.0 / largest.max(1.0) }
    }
}
