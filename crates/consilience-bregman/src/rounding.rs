//! What rounding hides from a step that is judged by derivatives alone.
//!
//! A step is judged at `v + step q`. Where two objects share no cluster after it, the true v is 0,
//! but that sum keeps the rounding of its parts, some 1e-17. The derivative there is large, where
//! at 0 it has no bound, and pairs that weigh 1e18 times as much outvote it: the step ends where
//! the objective is infinite. The same happens where v comes near 1.

use crate::Divergence;
use crate::inside::{Inside, slope};
use crate::kernel::{self, vectorised};
use crate::point::{Point, Problem, Row, inner};

/// Share of v left after a step below which the rounding of v counts.
const LITTLE: f64 = 1e-3;
/// How near 1 the rounding of v counts.
const NEAR: f64 = 1e-10;
/// How near 1 v is taken for 1, besides what a sum over the clusters rounds.
const EDGE: f64 = 1e-14;
/// Derivative at an end from which on rounding counts at all.
const STEEP: f64 = 1e4;

/// Whether a divergence rises so fast towards an end, 0 or 1, that the rounding of v counts there.
pub(crate) fn is_steep(divergence: &dyn Divergence) -> bool {
    let steep = |(u, v): (f64, f64)| {
        !(divergence.value(u, v).is_finite() && divergence.derivative(u, v).abs() <= STEEP)
    };
    [(0.5, 0.0), (1.0, 0.0), (0.5, 1.0), (0.0, 1.0)].into_iter().any(steep)
}

/// Whether rounding of v after a step counts in one pair.
#[inline(always)]
fn is_doubtful(observed: f64, weight: f64, current: f64, moved: f64) -> bool {
    let low = (observed > 0.0) & (moved <= LITTLE * current);
    let high = (observed < 1.0) & (moved > 1.0 - NEAR);
    (weight > 0.0) & (low | high)
}

vectorised! {
    /// Whether rounding counts in any pair of a row, at what `moved` says.
    fn any_doubtful<'a>(row: &'a Row) -> bool {
        let Row { observed, weights, current, moved, .. } = row;
        let mut any = false;
        for ((&u, &w), (&v, &m)) in observed.iter().zip(weights).zip(current.iter().zip(moved)) {
            any |= is_doubtful(u, w, v, m);
        }
        any
    }
}

impl Problem<'_> {
    /// d(u, v), infinite already where v cannot be told from an end where it is.
    pub(crate) fn price(&self, u: f64, v: f64) -> f64 {
        let edge = 1.0 - (EDGE + self.clusters as f64 * f64::EPSILON);
        let is_end = v > edge && self.divergence.value(u, 1.0).is_infinite();
        self.divergence.value(u, if is_end { 1.0 } else { v.min(1.0) })
    }

    /// By how much d is larger at the v that a step leads to than where the step was judged.
    fn hidden(&self, u: f64, before: f64, judged: f64, after: f64) -> f64 {
        let value = |v: f64| self.divergence.value(u, v.clamp(0.0, 1.0));
        if value(before).is_infinite() {
            return 0.0;
        }
        let end = if after > before { self.price(u, after) } else { value(after) };
        if end.is_infinite() { end } else { (end - value(judged)).max(0.0) }
    }
}

/// A step of object i, as derivatives judge it.
#[derive(Clone, Copy)]
pub(crate) struct Judged {
    pub(crate) i: usize,
    pub(crate) step: f64,
    pub(crate) inside: Inside,
    /// d'y and d'd of the direction d.
    pub(crate) along: (f64, f64),
}

impl Judged {
    /// By how much the objective changes at most, per object of i, whose memberships are `y` after
    /// the step; `None` where no v is so near an end that its rounding counts.
    ///
    /// `row` holds the pairs, v before the step and its slopes.
    pub(crate) fn change(
        &self,
        problem: &Problem<'_>,
        point: &Point,
        row: &mut Row,
        y: &[f64],
    ) -> Option<f64> {
        let Judged { i, step, inside, along } = *self;
        kernel::shift(&row.current, step, &row.slopes, &mut row.moved);
        let norm = inside.after(step, along);
        let own = inside.weight > 0.0 && inside.observed < 1.0 && norm > 1.0 - NEAR;
        if !own && !any_doubtful(row) {
            return None;
        }
        let partners = problem.evidence.partners(i);
        let mut hidden = 0.0;
        for b in 0..row.observed.len() {
            let (u, weight) = (row.observed[b], row.weights[b]);
            let (current, moved) = (row.current[b], row.moved[b]);
            if is_doubtful(u, weight, current, moved) {
                let other = point.row(partners.map_or(b, |p| p[b] as usize));
                hidden += weight * problem.hidden(u, current, moved, inner(y, other));
            }
        }
        if own {
            let after = inner(y, y);
            hidden +=
                0.5 * inside.weight * problem.hidden(inside.observed, inside.norm, norm, after);
        }
        let mut slope = |step| slope(problem.divergence, row, inside, along, step);
        let judged = 0.5 * step * (slope(0.5 * step) + slope(step));
        Some(judged + hidden)
    }
}
