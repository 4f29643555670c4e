//! The objective of an object along a direction, with the pairs inside a microcluster.

use crate::divergence::Divergence;
use crate::kernel;
use crate::point::{Problem, Row, inner};

/// Derivative of the objective of an object along a direction d after a step; `along` is d'y and
/// d'd. `row` holds the pairs, v before the step and its slopes; v after it and its derivatives are
/// left there.
pub(crate) fn slope(
    divergence: &dyn Divergence,
    row: &mut Row,
    inside: Inside,
    (along, square): (f64, f64),
    step: f64,
) -> f64 {
    kernel::shift(&row.current, step, &row.slopes, &mut row.moved);
    divergence.derivatives(&row.observed, &row.moved, &mut row.first);
    let mut sum = kernel::triple(&row.first, &row.slopes, &row.weights);
    if inside.weight > 0.0 {
        sum += inside.slope(divergence, step, along, square);
    }
    sum
}

/// The pairs inside a microcluster: their weight, their frequency u, and y'y.
///
/// Their part of the objective is not convex in y. In its place stands what is, never less, and the
/// same where the step begins: `d(u, min(t, u)) + d(u, max(v, u))`, with v = y'y and t its tangent,
/// which lies below. The first falls in t, which is linear; the second rises in v, which is convex.
/// Labels have u = 1: then the tangent is all there is.
#[derive(Clone, Copy)]
pub(crate) struct Inside {
    pub(crate) weight: f64,
    pub(crate) observed: f64,
    pub(crate) norm: f64,
}

impl Inside {
    /// The pairs inside of microcluster i, whose memberships are `y`.
    pub(crate) fn of(problem: &Problem<'_>, i: usize, y: &[f64]) -> Self {
        let Problem { evidence, .. } = problem;
        Inside { weight: evidence.inside(i), observed: evidence.within(i), norm: inner(y, y) }
    }

    /// Where d is looked at after a step, and half of how fast that place moves: the tangent and v,
    /// each where it counts. The direction d has these d'y and d'd.
    fn places(&self, step: f64, along: f64, square: f64) -> [Option<(f64, f64)>; 2] {
        let u = self.observed;
        let tangent = self.norm + 2.0 * step * along;
        let v = tangent + step * step * square;
        [
            (tangent < u || u >= 1.0).then_some((tangent, along)),
            (u < 1.0 && v > u).then_some((v, along + step * square)),
        ]
    }

    /// y'y after a step.
    pub(crate) fn after(&self, step: f64, (along, square): (f64, f64)) -> f64 {
        self.norm + 2.0 * step * along + step * step * square
    }

    /// Half of the derivative after a step.
    pub(crate) fn slope(
        &self,
        divergence: &dyn Divergence,
        step: f64,
        along: f64,
        square: f64,
    ) -> f64 {
        let of = |(v, rise): (f64, f64)| {
            let slope = match v > 0.0 {
                true => divergence.derivative(self.observed, v.min(1.0)),
                false => f64::NEG_INFINITY,
            };
            self.weight * slope * rise
        };
        self.places(step, along, square).into_iter().flatten().map(of).sum()
    }

    /// Half of the second derivative after a step.
    pub(crate) fn bend(
        &self,
        divergence: &dyn Divergence,
        step: f64,
        along: f64,
        square: f64,
    ) -> f64 {
        let u = self.observed;
        let places = self.places(step, along, square);
        let of =
            |(v, rise): (f64, f64)| 2.0 * divergence.curvature(u, v.clamp(0.0, 1.0)) * rise * rise;
        // v itself bends, the tangent does not.
        let own = places[1].map_or(0.0, |(v, _)| divergence.derivative(u, v.min(1.0)) * square);
        self.weight * (places.into_iter().flatten().map(of).sum::<f64>() + own)
    }
}
