//! The semidefinite programme, by generating the pairs that matter.

use std::collections::HashSet;

use consilience_core::{Observer, Result, Watch, room};
use consilience_num::product::times;
use ndarray::Array2;

use super::barrier::Barrier;
use super::diagonal::{Lengths, largest};
use super::pairs::{Pairs, Room};
use super::solution::Solution;
use crate::scatter::identity;

/// Falls of mu on one set of pairs, at most.
const FALLS: usize = 60;

/// `F` with `M = F' F`; the iterations are centres that were found.
pub(super) type Full = Solution<Array2<f64>>;

impl Full {
    /// Takes a metric that may exceed its constraints, scaled into them, if it is better.
    fn offer(
        &mut self,
        pairs: &Pairs,
        root: &Array2<f64>,
        bound: f64,
        observer: &dyn Observer,
    ) -> Result<Lengths> {
        let mapped = times(pairs.points.view(), root.t(), observer)?;
        let lengths = Lengths::between(pairs, &mapped, observer)?;
        let trace = root.iter().map(|v| v * v).sum::<f64>();
        let longest = lengths.must.iter().copied().fold(trace / bound, f64::max);
        let shortest = lengths.cannot.iter().copied().fold(f64::INFINITY, f64::min);
        // Scaled up as well as down: M itself is not quite at the edge.
        if longest > 0.0 && shortest / longest > self.split {
            self.split = shortest / longest;
            self.point = root / longest.sqrt();
        }
        Ok(lengths)
    }

    /// Follows the centres on one set of pairs until others are due; how far those exceed them, and
    /// the lengths of all pairs at the end.
    fn follow(
        &mut self,
        pairs: &Pairs,
        [must, cannot]: [&Working; 2],
        rules: &Rules,
        watch: &mut Watch<'_>,
    ) -> Result<(f64, Lengths)> {
        let (m, r) = (must.order.len() + cannot.order.len(), pairs.points.ncols());
        rules.room.check_more(&[(m.saturating_mul(OF_WORKING), m), (m * 6, r), (r * 10, r)])?;
        let mut barrier = barrier(pairs, must, cannot, rules.bound)?;
        let mut last = Lengths { must: Vec::new(), cannot: Vec::new() };
        let mut missing = 0.0;
        for _ in 0..FALLS {
            watch.step(self.iterations)?;
            if self.iterations == rules.max_iterations {
                break;
            }
            let Some(centre) = barrier.advance(watch.observer())? else { break };
            self.iterations += 1;
            if centre.upper < self.upper {
                self.upper = centre.upper;
                self.bounded = centre.trace_share > 1e-3;
            }
            last = self.offer(pairs, &centre.root, rules.bound, watch.observer())?;
            if self.gap() <= rules.tolerance {
                break;
            }
            // Once the working pairs are solved far more exactly than the others are respected,
            // others are due.
            let (longest, shortest) = edges(&last, must, cannot);
            let working = (centre.upper - shortest / longest) / centre.upper;
            missing = excess(&last, longest, shortest);
            if working < 0.1 * missing || working < 0.1 * rules.tolerance {
                break;
            }
        }
        Ok((missing, last))
    }
}

/// Tables of the working pairs by themselves that are held at the same time.
const OF_WORKING: usize = 4;

/// When to stop, and the bound on the trace.
pub(super) struct Rules {
    pub room: Room,
    pub bound: f64,
    pub tolerance: f64,
    pub max_iterations: usize,
}

/// Solves to a relative gap of `tolerance`. At least one cannot-link and one dimension are
/// expected.
pub(super) fn solve(pairs: &Pairs, rules: &Rules, watch: &mut Watch<'_>) -> Result<Full> {
    let r = pairs.points.ncols();
    let mut best = Full::new(Array2::zeros((r, r)));
    let batch = (r + 1).max(10);
    let start = best.offer(pairs, &identity(r)?, rules.bound, watch.observer())?;
    let mut must = Working::default();
    must.add(&start.must, batch, |v| v);
    let mut cannot = Working::default();
    cannot.add(&start.cannot, batch, |v| -v);
    drop(start);
    loop {
        let (missing, last) = best.follow(pairs, [&must, &cannot], rules, watch)?;
        best.generated = must.order.len() + cannot.order.len();
        let solved = best.gap() <= rules.tolerance;
        if solved || best.iterations == rules.max_iterations || missing <= 0.0 {
            return Ok(best);
        }
        let (longest, shortest) = edges(&last, &must, &cannot);
        let longer = |v: f64| if v > longest { v } else { f64::NEG_INFINITY };
        let shorter = |v: f64| if v < shortest { -v } else { f64::NEG_INFINITY };
        if must.add(&last.must, batch, longer) + cannot.add(&last.cannot, batch, shorter) == 0 {
            return Ok(best);
        }
    }
}

/// The barrier of the working pairs.
fn barrier(pairs: &Pairs, must: &Working, cannot: &Working, bound: f64) -> Result<Barrier> {
    let r = pairs.points.ncols();
    let mut rows = room::table(must.order.len() + cannot.order.len(), r)?;
    let together = must.order.iter().map(|&p| pairs.must[p as usize]);
    let apart = cannot.order.iter().map(|&q| pairs.cannot[q as usize]);
    for (mut row, pair) in rows.rows_mut().into_iter().zip(together.chain(apart)) {
        row.assign(&pairs.difference(pair));
    }
    Barrier::new(rows, must.order.len(), bound)
}

/// The longest working must-link, at least 1, and the shortest working cannot-link.
fn edges(lengths: &Lengths, must: &Working, cannot: &Working) -> (f64, f64) {
    let longest = must.order.iter().map(|&p| lengths.must[p as usize]).fold(1.0, f64::max);
    let shortest =
        cannot.order.iter().map(|&q| lengths.cannot[q as usize]).fold(f64::INFINITY, f64::min);
    (longest, shortest)
}

/// By how much pairs outside exceed what holds for those inside, relative.
fn excess(lengths: &Lengths, longest: f64, shortest: f64) -> f64 {
    let longer = lengths.must.iter().copied().fold(0.0, f64::max) / longest - 1.0;
    let shorter = 1.0 - lengths.cannot.iter().copied().fold(f64::INFINITY, f64::min) / shortest;
    longer.max(shorter)
}

/// Pairs in the order they were generated.
#[derive(Default)]
struct Working {
    order: Vec<u32>,
    known: HashSet<u32>,
}

impl Working {
    /// Adds the pairs that are not known yet and of which the largest value is told, at most so
    /// many; how many there are. Those of no value are left out.
    fn add(&mut self, lengths: &[f64], most: usize, by: impl Fn(f64) -> f64) -> usize {
        let values = (0..).zip(lengths).map(|(p, &v)| (by(v), p));
        let valued = values.filter(|(v, p)| *v > f64::NEG_INFINITY && !self.known.contains(p));
        let new = largest(valued, most);
        self.known.extend(&new);
        self.order.extend(&new);
        new.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use consilience_core::{MemoryBudget, Seed};
    use consilience_num::eigen::symmetric_eigen;

    fn random(seed: u64, n: usize, r: usize, classes: usize) -> Pairs {
        let mut s = Seed(seed).stream();
        let points = Array2::from_shape_fn((n, r), |(i, j)| {
            s.normal() + if j == i % classes { 1.5 } else { 0.0 }
        });
        let (mut must, mut cannot) = (Vec::new(), Vec::new());
        for a in 0..n {
            for b in 0..a {
                if a % classes == b % classes { &mut must } else { &mut cannot }
                    .push((b as u32, a as u32));
            }
        }
        Pairs { points, must, cannot, equal: 0 }
    }

    fn solved(pairs: &Pairs, bound: f64, tolerance: f64) -> Full {
        let room = Room { budget: MemoryBudget::default(), held: Vec::new() };
        let rules = Rules { room, bound, tolerance, max_iterations: 2000 };
        solve(pairs, &rules, &mut Watch::new(&(), "", 0)).unwrap()
    }

    #[test]
    fn one_dimension_is_worked_by_hand() {
        let points = ndarray::array![[0.0], [2.0], [5.0], [6.0]];
        let pairs =
            Pairs { points, must: vec![(0, 1), (2, 3)], cannot: vec![(0, 2), (1, 2)], equal: 0 };
        // M = 1/4 by the must-link of length 2; the shorter cannot-link has length 3.
        let found = solved(&pairs, 100.0, 1e-7);
        assert!((found.split - 2.25).abs() < 1e-6, "{found:?}");
        assert!(!found.bounded);
        // Or by the bound, where that is smaller.
        let found = solved(&pairs, 0.1, 1e-7);
        assert!((found.split - 0.9).abs() < 1e-6 && found.bounded, "{found:?}");
    }

    /// Primal feasibility by its definition; the dual bound is compared with runs that see all
    /// pairs at once.
    #[test]
    fn certified_within_a_few_hundred_thousandths() {
        for (seed, n, r, classes, bound) in [
            (1, 12, 3, 2, 1e3),
            (2, 20, 6, 4, 50.0),
            (3, 15, 14, 3, 20.0),
            (4, 40, 8, 4, 1e4),
            (5, 6, 5, 6, 5.0),
        ] {
            let pairs = random(seed, n, r, classes);
            let found = solved(&pairs, bound, 1e-6);
            let m = found.point.t().dot(&found.point);
            let length = |&(a, b): &(u32, u32)| {
                let diff = &pairs.points.row(a as usize) - &pairs.points.row(b as usize);
                diff.dot(&m.dot(&diff))
            };
            assert!(m.diag().sum() <= bound * (1.0 + 1e-9));
            assert!(pairs.must.iter().map(length).fold(0.0, f64::max) <= 1.0 + 1e-9);
            let split = pairs.cannot.iter().map(length).fold(f64::INFINITY, f64::min);
            assert!((split / found.split - 1.0).abs() < 1e-9);
            println!("seed {seed}: gap {:e} after {}", found.gap(), found.iterations);
            assert!(found.gap() <= 3e-5, "seed {seed}: {found:?}");
            assert!(symmetric_eigen(m.view()).unwrap().values[r - 1] > -1e-12);
        }
    }
}
