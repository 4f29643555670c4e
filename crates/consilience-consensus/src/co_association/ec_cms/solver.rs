use consilience_core::{Microclusters, Observer, Result};
use ndarray::{Array2, ArrayView2};
use rayon::prelude::*;

use super::own::{Own, Point};
use super::tile::{C, CHANGE, F, FREE, Operator, Pair, Penalty, Sums, Y1, Y2, upper};
use crate::co_association::confidence::{Confidence, Group};

/// Nodes without links that are treated together beside a group.
const STRIP: usize = 64;
/// Pairs of groups whose results are kept at a time.
const BATCH: usize = 256;
/// Of so many pairs of groups one is looked at to learn how many rounds there will be.
const SAMPLE: usize = 16;
/// Rounds after which it is asked anew.
const STEP: usize = 4;
/// Rounds of pairs without links that are looked at first.
const FIRST: usize = 32;
/// Rounds by which what the others say may come later.
const MARGIN: usize = 4;

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

/// The iteration on a tile.
enum State<'a> {
    Own(Own<'a>),
    Pair(Pair<'a>),
}

impl<'a> Tile<'a> {
    fn start(self, a: ArrayView2<'_, f64>) -> State<'a> {
        let Tile(left, right, own) = self;
        if own { State::Own(Own::new(left, a)) } else { State::Pair(Pair::new(left, right, a)) }
    }
}

impl State<'_> {
    fn advance(
        &mut self,
        penalty: Penalty,
        sums: &mut [Sums],
        observer: &dyn Observer,
    ) -> Result<()> {
        match self {
            State::Own(own) => own.advance(penalty, sums, observer),
            State::Pair(pair) => pair.advance(penalty, sums, observer),
        }
    }

    fn averaged(&self) -> Vec<f64> {
        match self {
            State::Own(own) => own.averaged(),
            State::Pair(pair) => pair.averaged(),
        }
    }
}

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

    /// Puts C in place of A after the first round in which nothing changes by more than the
    /// tolerance. The lower half takes what comes out, so that A stays in the upper one until the
    /// round is known; a sample of the pairs tells beforehand which it will be, nearly always.
    pub(super) fn enhance(&self, a: &mut Array2<f64>, most: usize) -> Result<Stop> {
        let own = a.diag().to_owned();
        let mut taken = self.guess(a.view(), most)?;
        let mut limit = (taken + MARGIN).min(most);
        loop {
            let sums = self.pass(a, taken, limit)?;
            let found = self.first_still(&sums);
            let stop = found.unwrap_or((2 * limit).min(most));
            if stop == taken && (found.is_some() || limit == most) {
                self.put_singles(a, taken)?;
                mirror(a, self.observer)?;
                return Ok(Stop { rounds: taken, reached: found.is_some() });
            }
            a.diag_mut().assign(&own);
            let known = found.is_some() || limit == most;
            (taken, limit) = (stop, if known { stop } else { (stop + MARGIN).min(most) });
        }
    }

    /// How many rounds it takes, by a few pairs of groups that stand for all.
    fn guess(&self, a: ArrayView2<'_, f64>, most: usize) -> Result<usize> {
        let (within, between): (Vec<_>, Vec<_>) =
            self.groups_with_all().into_iter().partition(|tile| tile.2);
        let kinds = [sample(&within, SAMPLE / 4), sample(&between, SAMPLE)];
        let mut states: Vec<(State<'_>, f64)> = Vec::new();
        for (tiles, weight) in kinds {
            states.extend(tiles.into_iter().map(|tile| (tile.start(a), weight)));
        }
        let (mut sums, mut of_singles): (Vec<Sums>, Vec<Sums>) = Default::default();
        while sums.len() < most {
            let rounds = STEP.min(most - sums.len());
            let parts = states.par_iter_mut().map(|(state, weight)| {
                let mut sums = vec![[0.0; 10]; rounds];
                state.advance(Penalty::new(self.lambda), &mut sums, self.observer)?;
                Ok((sums, *weight))
            });
            let parts = parts.collect::<Result<Vec<_>>>()?;
            let before = sums.len();
            sums.resize(before + rounds, [0.0; 10]);
            parts.iter().for_each(|(part, weight)| add(&mut sums[before..], part, *weight));
            if of_singles.len() < sums.len() {
                of_singles = self.sums_of_singles(a, (2 * sums.len()).max(FIRST).min(most))?;
            }
            let mut total = of_singles[..sums.len()].to_vec();
            add(&mut total, &sums, 1.0);
            if let Some(round) = self.first_still(&total) {
                return Ok(round);
            }
        }
        Ok(most)
    }

    /// The first round in which nothing changes by more than the tolerance, counted from 1.
    fn first_still(&self, sums: &[Sums]) -> Option<usize> {
        // What is nothing but rounding is no change.
        let least = 1e-24 * sums[0][C];
        let still = |round: &usize| self.is_still(&sums[round - 1], &sums[*round], least);
        (1..sums.len()).find(still).map(|round| round + 1)
    }

    /// Whether C, E, F, Y1 and Y2 hardly change; E is Y1 / lambda where no links are, 0 elsewhere.
    fn is_still(&self, last: &Sums, this: &Sums, least: f64) -> bool {
        let tolerance = self.tolerance * self.tolerance;
        let of_e = least * self.lambda * self.lambda;
        [C, F, Y1, Y2].iter().all(|&at| this[CHANGE + at] <= tolerance * last[at] + least)
            && this[FREE + 1] <= tolerance * last[FREE] + of_e
    }

    /// Each group with itself, with every other and with the nodes without links.
    fn groups_with_all(&self) -> Vec<Tile<'_>> {
        let groups = &self.groups;
        let mut tiles: Vec<Tile<'_>> = groups.iter().map(|g| Tile(g, g, true)).collect();
        for (at, group) in groups.iter().enumerate() {
            tiles.extend(groups[at + 1..].iter().map(|other| Tile(other, group, false)));
            // The product from the left is the cheaper one.
            tiles.extend(self.strips.iter().map(|strip| Tile(group, strip, false)));
        }
        tiles
    }

    /// Makes so many rounds on every pair that is not one of two nodes without links: C after the
    /// taken one into the lower half, and the sums of all.
    fn pass(&self, a: &mut Array2<f64>, taken: usize, rounds: usize) -> Result<Vec<Sums>> {
        let mut total = self.sums_of_singles(a.view(), rounds)?;
        let singles = self.singles.iter().map(|g| Tile(g, g, true));
        let tiles: Vec<Tile<'_>> = singles.chain(self.groups_with_all()).collect();
        for (done, batch) in tiles.chunks(BATCH).enumerate() {
            let of = |&tile: &Tile<'_>| {
                let (mut state, mut sums) = (tile.start(a.view()), vec![[0.0; 10]; rounds]);
                let (first, more) = sums.split_at_mut(taken);
                state.advance(Penalty::new(self.lambda), first, self.observer)?;
                let values = state.averaged();
                state.advance(Penalty::new(self.lambda), more, self.observer)?;
                Ok((values, sums))
            };
            let found: Vec<(Vec<f64>, Vec<Sums>)> =
                batch.par_iter().map(of).collect::<Result<_>>()?;
            for (&Tile(left, right, _), (values, sums)) in batch.iter().zip(&found) {
                add(&mut total, sums, 1.0);
                for (values, &i) in values.chunks_exact(right.nodes.len()).zip(&left.nodes) {
                    for (&value, &j) in values.iter().zip(&right.nodes) {
                        a[[i.max(j), i.min(j)]] = value;
                    }
                }
            }
            self.observer.progress("rounds", done * BATCH, tiles.len());
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
                let value = upper(a, one.nodes[0], other.nodes[0]);
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

    /// C between nodes without links, into the lower half.
    fn put_singles(&self, a: &mut Array2<f64>, rounds: usize) -> Result<()> {
        let penalty = Penalty::new(self.lambda);
        let common = Common::new(penalty, rounds);
        for (at, one) in self.singles.iter().enumerate() {
            self.observer.check()?;
            for other in &self.singles[at + 1..] {
                let (i, j) = (one.nodes[0], other.nodes[0]);
                let value = upper(a.view(), i, j);
                let cut = value > common.bound;
                let value =
                    if cut { trace(value, penalty, rounds).0 } else { common.factor * value };
                a[[i.max(j), i.min(j)]] = value;
            }
        }
        Ok(())
    }
}

/// Every so many-th tile, and what one of them stands for: the entries of all in parts of theirs.
fn sample<'a>(tiles: &[Tile<'a>], every: usize) -> (Vec<Tile<'a>>, f64) {
    let entries = |tiles: &[Tile<'_>]| {
        tiles.iter().map(|t| (t.0.nodes.len() * t.1.nodes.len()) as f64).sum::<f64>()
    };
    let taken: Vec<Tile<'a>> = tiles.iter().step_by(every).copied().collect();
    let weight = if taken.is_empty() { 0.0 } else { entries(tiles) / entries(&taken) };
    (taken, weight)
}

/// The lower half onto the upper one.
fn mirror(a: &mut Array2<f64>, observer: &dyn Observer) -> Result<()> {
    const SIDE: usize = 64;
    let n = a.nrows();
    for top in (0..n).step_by(SIDE) {
        observer.check()?;
        for left in (0..=top).step_by(SIDE) {
            for i in top..n.min(top + SIDE) {
                for j in left..i.min(left + SIDE) {
                    a[[j, i]] = a[[i, j]];
                }
            }
        }
    }
    Ok(())
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
