//! The linear programme, by generating the pairs that matter.
//!
//! ```text
//! maximise s   subject to   sum_j z_j g_pj <= 1   must-links p,
//!                           sum_j z_j g_qj >= s   cannot-links q,
//!                           sum_j z_j <= bound,   z, s >= 0
//! ```

use std::collections::HashSet;

use ndarray::Array2;

use super::dictionary::{Dictionary, Outcome, Row};
use super::pairs::{Pairs, Room};
use super::solution::Solution;
use consilience_core::{Error, Observer, Pace, Result, Watch, room};
use consilience_num::rows::squared;

/// Pairs of each kind that are added at a time, at most.
const BATCH: usize = 16;
/// Relative gap at which to stop.
const GAP: f64 = 1e-12;
/// Violations below this are rounding.
const VIOLATION: f64 = 1e-12;
/// Pivots per round, at most.
const PIVOTS: usize = 20_000;

/// What a row of the dictionary stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Origin {
    Trace,
    /// The mean of all cannot-links: a consequence of them that bounds s from the start.
    Mean,
    Must(u32),
    Cannot(u32),
}

/// The weights of the features.
pub(super) type Diagonal = Solution<Vec<f64>>;

impl Diagonal {
    /// Takes weights that may exceed their constraints, scaled into them, if they are better.
    fn offer(
        &mut self,
        pairs: &Pairs,
        z: &[f64],
        bound: f64,
        observer: &dyn Observer,
    ) -> Result<Lengths> {
        let lengths = Lengths::under(pairs, z, observer)?;
        let longest =
            lengths.must.iter().copied().fold(z.iter().sum::<f64>() / bound, f64::max).max(1.0);
        let shortest = if pairs.cannot.is_empty() {
            z.iter().sum()
        } else {
            lengths.cannot.iter().copied().fold(f64::INFINITY, f64::min)
        };
        if shortest / longest > self.split {
            self.split = shortest / longest;
            self.point = z.iter().map(|z| z / longest).collect();
        }
        Ok(lengths)
    }
}

/// Without any cannot-link the mean over all pairs of objects, which is the trace, takes their
/// place.
pub(super) fn solve(
    pairs: &Pairs,
    bound: f64,
    max_rounds: usize,
    room: &Room,
    watch: &mut Watch<'_>,
) -> Result<Diagonal> {
    let (d, observer) = (pairs.points.ncols(), watch.observer());
    let mut lp = first_dictionary(pairs, bound, observer)?;
    let mut origins = vec![Origin::Trace, Origin::Mean];
    let mut best = Diagonal::new(vec![0.0; d]);
    let (mut refreshed, mut dropped_at) = (false, f64::INFINITY);
    for round in 0..max_rounds {
        watch.step(round)?;
        best.iterations = round + 1;
        let outcome = lp.solve(PIVOTS, observer)?;
        let point = lp.point();
        let (z, s) = (&point[..d], point[d]);
        let lengths = best.offer(pairs, z, bound, observer)?;
        let certificate = certify(&lp, &origins, d, bound);
        if certificate.0 < best.upper {
            (best.upper, best.bounded) = certificate;
        }
        if best.gap() <= GAP {
            break;
        }
        let add = missing(&lengths, s, &origins);
        if add.is_empty() || outcome == Outcome::Stopped {
            // What is left is rounding: once more from a fresh dictionary, then it is as good as it
            // gets.
            if refreshed && add.is_empty() {
                break;
            }
            refreshed = true;
            lp.refresh(observer)?;
        } else {
            refreshed = false;
        }
        if lp.rows().len() > 3 * (d + 1) && lp.value() < dropped_at * (1.0 - 1e-9) {
            dropped_at = lp.value();
            let loose = lp.drop_loose(|r| r == 0);
            let mut rows = 0..;
            origins.retain(|_| rows.next().is_none_or(|r| !loose.contains(&r)));
        }
        best.generated += add.len();
        // The dictionary and its rows, and it once more where it is computed anew or grows.
        let lines = lp.rows().len() + add.len();
        room.check_more(&[(3 * lines, d + 2)])?;
        lp.reserve(add.len())?;
        for origin in add {
            lp.add(row(pairs, origin));
            origins.push(origin);
        }
    }
    Ok(best)
}

/// The rows of trace and mean, at their best point.
fn first_dictionary(pairs: &Pairs, bound: f64, observer: &dyn Observer) -> Result<Dictionary> {
    let d = pairs.points.ncols();
    let mean = mean_cannot(pairs, observer)?;
    let mut lp = Dictionary::new(d + 1);
    let mut trace = vec![1.0; d];
    trace.push(0.0);
    lp.add(Row { g: trace, h: bound });
    lp.add(cannot_row(&mean));
    // All of the trace where the mean is largest.
    let peak = (0..d).fold(0, |p, j| if mean[j] > mean[p] { j } else { p });
    lp.pivot(1, d);
    lp.pivot(0, peak);
    Ok(lp)
}

/// The pairs that a point violates most and that have no row yet.
fn missing(lengths: &Lengths, s: f64, origins: &[Origin]) -> Vec<Origin> {
    let known: HashSet<Origin> = origins.iter().copied().collect();
    let longer = violated(&lengths.must, |v| v - 1.0).into_iter().map(Origin::Must);
    let shorter = violated(&lengths.cannot, |v| (s - v) / s.max(f64::MIN_POSITIVE));
    let all = longer.chain(shorter.into_iter().map(Origin::Cannot));
    all.filter(|o| !known.contains(o)).collect()
}

/// Squared differences of a pair.
fn squares(pairs: &Pairs, pair: (u32, u32)) -> Vec<f64> {
    pairs.difference(pair).iter().map(|v| v * v).collect()
}

fn cannot_row(g: &[f64]) -> Row {
    Row { g: g.iter().map(|v| -v).chain([1.0]).collect(), h: 0.0 }
}

fn row(pairs: &Pairs, origin: Origin) -> Row {
    match origin {
        Origin::Cannot(q) => cannot_row(&squares(pairs, pairs.cannot[q as usize])),
        Origin::Must(p) => {
            let mut g = squares(pairs, pairs.must[p as usize]);
            g.push(0.0);
            Row { g, h: 1.0 }
        }
        Origin::Trace | Origin::Mean => Row { g: vec![0.0; pairs.points.ncols() + 1], h: 0.0 },
    }
}

fn mean_cannot(pairs: &Pairs, observer: &dyn Observer) -> Result<Vec<f64>> {
    let d = pairs.points.ncols();
    if pairs.cannot.is_empty() {
        return Ok(vec![1.0; d]);
    }
    let (mut mean, mut pace) = (vec![0.0; d], Pace::new(observer));
    for &(a, b) in &pairs.cannot {
        pace.work(d)?;
        let (a, b) = (pairs.points.row(a as usize), pairs.points.row(b as usize));
        for (m, (a, b)) in mean.iter_mut().zip(a.iter().zip(b)) {
            let v = a - b;
            *m += v * v;
        }
    }
    Ok(mean.iter().map(|m| m / pairs.cannot.len() as f64).collect())
}

/// Squared length of every pair.
pub(super) struct Lengths {
    pub must: Vec<f64>,
    pub cannot: Vec<f64>,
}

impl Lengths {
    /// Under diagonal weights, most of which are 0.
    fn under(pairs: &Pairs, weights: &[f64], observer: &dyn Observer) -> Result<Self> {
        let support: Vec<usize> = (0..weights.len()).filter(|&j| weights[j] > 0.0).collect();
        let roots: Vec<f64> = support.iter().map(|&j| weights[j].sqrt()).collect();
        let points = &pairs.points;
        let value = |(i, c): (usize, usize)| points[[i, support[c]]] * roots[c];
        let mapped = room::table_of(points.nrows(), support.len(), value)?;
        Self::between(pairs, &mapped, observer)
    }

    /// Between the rows of mapped points.
    pub(super) fn between(
        pairs: &Pairs,
        mapped: &Array2<f64>,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let width = mapped.ncols();
        let flat = mapped.as_standard_layout();
        let flat = flat.as_slice().unwrap_or_default();
        let row = |i: u32| &flat[i as usize * width..][..width];
        let mut pace = Pace::new(observer);
        let mut of = |list: &[(u32, u32)]| {
            let mut lengths = room::with_capacity(list.len())?;
            for &(a, b) in list {
                pace.work(width + BESIDE)?;
                lengths.push(squared(row(a), row(b)));
            }
            Ok::<_, Error>(lengths)
        };
        Ok(Lengths { must: of(&pairs.must)?, cannot: of(&pairs.cannot)? })
    }
}

/// What looking a pair up takes beside its differences, in multiplications.
const BESIDE: usize = 16;

/// The numbers of the largest values, at most so many; of equals the first.
pub(super) fn largest(values: impl Iterator<Item = (f64, u32)>, most: usize) -> Vec<u32> {
    let order = |a: &(f64, u32), b: &(f64, u32)| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1));
    let mut found: Vec<(f64, u32)> = Vec::new();
    for value in values {
        found.push(value);
        // A few more are kept than are wanted, so that they are sorted now and then only.
        if found.len() >= 2 * most.max(BATCH) {
            found.sort_unstable_by(order);
            found.truncate(most);
        }
    }
    found.sort_unstable_by(order);
    found.truncate(most);
    found.into_iter().map(|f| f.1).collect()
}

/// The most violated pairs; of equals the first.
fn violated(lengths: &[f64], by: impl Fn(f64) -> f64) -> Vec<u32> {
    let values = (0..).zip(lengths).map(|(p, &v)| (by(v), p));
    largest(values.filter(|v| v.0 > VIOLATION), BATCH)
}

/// A bound on every feasible split from the multipliers of the rows so far: whatever dual
/// constraint they violate by rounding is repaired by the trace. And whether the bound on the trace
/// has a share in it.
fn certify(lp: &Dictionary, origins: &[Origin], d: usize, bound: f64) -> (f64, bool) {
    let multipliers = lp.multipliers();
    let mut reduced = vec![0.0; d + 1];
    let (mut total, mut trace) = (0.0, 0.0);
    for ((row, &y), origin) in lp.rows().iter().zip(&multipliers).zip(origins) {
        if y > 0.0 {
            total += y * row.h;
            for (r, g) in reduced.iter_mut().zip(&row.g) {
                *r += y * g;
            }
            if *origin == Origin::Trace {
                trace += y * row.h;
            }
        }
    }
    let short = reduced[..d].iter().fold(0.0f64, |m, r| m.max(-r));
    let upper = (total + bound * short) / reduced[d];
    if upper.is_finite() { (upper, trace > 1e-9 * total) } else { (f64::INFINITY, true) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use consilience_core::{MemoryBudget, Seed, Stream};

    fn anything() -> Room {
        Room { budget: MemoryBudget::default(), held: Vec::new() }
    }

    /// Every vertex of a small programme, by solving all square systems of tight constraints.
    fn by_vertices(pairs: &Pairs, bound: f64) -> f64 {
        let d = pairs.points.ncols();
        let mut rows: Vec<Row> =
            (0..pairs.must.len()).map(|p| row(pairs, Origin::Must(p as u32))).collect();
        rows.extend((0..pairs.cannot.len()).map(|q| row(pairs, Origin::Cannot(q as u32))));
        rows.push(Row { g: [vec![1.0; d], vec![0.0]].concat(), h: bound });
        for j in 0..=d {
            let mut g = vec![0.0; d + 1];
            g[j] = -1.0;
            rows.push(Row { g, h: 0.0 });
        }
        let mut best = 0.0;
        let mut chosen: Vec<usize> = (0..=d).collect();
        loop {
            if let Some(x) = gauss(chosen.iter().map(|&r| (rows[r].g.clone(), rows[r].h)).collect())
            {
                let feasible = rows.iter().all(|r| {
                    r.g.iter().zip(&x).map(|(g, x)| g * x).sum::<f64>() <= r.h + 1e-9 * (1.0 + r.h)
                });
                if feasible {
                    best = f64::max(best, x[d]);
                }
            }
            // The next combination.
            let Some(at) = (0..=d).rev().find(|&at| chosen[at] < rows.len() - 1 - (d - at)) else {
                break;
            };
            chosen[at] += 1;
            for next in at + 1..=d {
                chosen[next] = chosen[next - 1] + 1;
            }
        }
        best
    }

    fn gauss(mut rows: Vec<(Vec<f64>, f64)>) -> Option<Vec<f64>> {
        let n = rows.len();
        for c in 0..n {
            let p = (c..n).max_by(|&a, &b| rows[a].0[c].abs().total_cmp(&rows[b].0[c].abs()))?;
            if rows[p].0[c].abs() < 1e-9 {
                return None;
            }
            rows.swap(c, p);
            for r in 0..n {
                let factor = rows[r].0[c] / rows[c].0[c];
                if r != c && factor != 0.0 {
                    for j in 0..n {
                        rows[r].0[j] -= factor * rows[c].0[j];
                    }
                    rows[r].1 -= factor * rows[c].1;
                }
            }
        }
        Some((0..n).map(|c| rows[c].1 / rows[c].0[c]).collect())
    }

    fn random(s: &mut Stream, points: usize, d: usize, whole: bool) -> Pairs {
        let entry = |s: &mut Stream| if whole { s.below(3) as f64 } else { s.normal() };
        let points = Array2::from_shape_simple_fn((points, d), || entry(s));
        let (mut must, mut cannot) = (Vec::new(), Vec::new());
        for a in 0..points.nrows() {
            for b in 0..a {
                if points.row(a) != points.row(b) {
                    if a % 2 == b % 2 { &mut must } else { &mut cannot }.push((b as u32, a as u32));
                }
            }
        }
        Pairs { points, must, cannot, equal: 0 }
    }

    #[test]
    fn equals_the_best_vertex() {
        for seed in 0..60 {
            let mut s = Seed(seed).stream();
            let (n, d) = (3 + s.below(2), 2 + s.below(2));
            let pairs = random(&mut s, n, d, seed % 2 == 0);
            let bound = [3.0, 100.0][s.below(2)];
            let found =
                solve(&pairs, bound, 1000, &anything(), &mut Watch::new(&(), "", 0)).unwrap();
            let expected =
                if pairs.cannot.is_empty() { found.split } else { by_vertices(&pairs, bound) };
            assert!(
                (found.split - expected).abs() <= 1e-9 * expected,
                "seed {seed}: {found:?} {expected}"
            );
            assert!(found.gap() <= 1e-9);
        }
    }

    /// On larger ones the certificate proves the optimum: primal and dual points are checked here
    /// by sums over all pairs that share nothing with the solver.
    #[test]
    fn certified_on_larger_and_degenerate_ones() {
        for seed in 0..20 {
            let mut s = Seed(seed).stream();
            let pairs = random(&mut s, 30, 40, seed % 2 == 0);
            let found =
                solve(&pairs, 50.0, 1000, &anything(), &mut Watch::new(&(), "", 0)).unwrap();
            let length = |&(a, b): &(u32, u32)| -> f64 {
                (0..40)
                    .map(|j| {
                        let diff = pairs.points[[a as usize, j]] - pairs.points[[b as usize, j]];
                        found.point[j] * diff * diff
                    })
                    .sum()
            };
            assert!(found.point.iter().sum::<f64>() <= 50.0 * (1.0 + 1e-12));
            assert!(pairs.must.iter().map(length).fold(0.0, f64::max) <= 1.0 + 1e-12);
            let split = pairs.cannot.iter().map(length).fold(f64::INFINITY, f64::min);
            assert!((split - found.split).abs() <= 1e-12 * split);
            assert!(found.gap() <= 1e-9, "seed {seed}: gap {}", found.gap());
        }
    }
}
