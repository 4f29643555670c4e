//! Projected gradients on the simplex, accelerated where the problem is convex, with a lower bound
//! that certifies the gap.

use consilience_core::{Observer, Result, Status};
use consilience_num::reduce::map_each;
use consilience_num::simplex::project_simplex;

use super::block::{Block, Rows};
use super::gram::Gram;
use super::loss::PairLoss;
use super::outcome::Outcome;

/// `sum_blocks weight loss(F(gamma)) + lambda |gamma - anchor|^2` over the simplex.
pub(crate) struct Problem<'a> {
    pub(crate) parts: &'a [Part<'a>],
    pub(crate) anchor: &'a [f64],
    pub(crate) lambda: f64,
    /// Objectives below this do not make the relative gap larger.
    pub(crate) floor: f64,
}

/// What a few objects cost. Each has an image of gamma that is linear in gamma, so that steps may
/// be taken between images.
pub(crate) enum Part<'a> {
    /// Pairs of one kind; the image is F, r x n.
    Pairs(&'a Block<'a>, PairLoss),
    /// `|F - target|^2`, the target r x n like the image F.
    Target(Rows<'a>, Vec<f64>),
    /// Many pairs in one matrix A; the image is A gamma.
    Gram(Gram),
}

impl Part<'_> {
    fn image(&self, gamma: &[f64]) -> Vec<f64> {
        match self {
            Part::Pairs(b, _) => b.rows.forward(gamma),
            Part::Target(rows, _) => rows.forward(gamma),
            Part::Gram(gram) => gram.times(gamma),
        }
    }

    fn value(&self, gamma: &[f64], image: &[f64]) -> f64 {
        match self {
            Part::Pairs(b, loss) => b.weight * loss.value(b.link, image, b.pairs()),
            Part::Target(_, target) => square(image.iter().zip(target).map(|(f, t)| f - t)),
            Part::Gram(gram) => gram.constant() + dot(image, gamma.iter().copied()),
        }
    }

    /// The part of second degree, of a difference of two points.
    fn quadratic(&self, gamma: &[f64], image: &[f64]) -> f64 {
        match self {
            Part::Pairs(b, loss) => b.weight * loss.quadratic(b.link, image, b.pairs()),
            Part::Target(..) => square(image.iter().copied()),
            Part::Gram(_) => dot(image, gamma.iter().copied()),
        }
    }

    /// The derivative by gamma.
    fn gradient(&self, members: usize, mut image: Vec<f64>) -> Vec<f64> {
        let rows = match self {
            Part::Pairs(b, loss) => {
                loss.differentiate(b.link, &mut image, b.pairs(), b.weight);
                &b.rows
            }
            Part::Target(rows, target) => {
                image.iter_mut().zip(target).for_each(|(f, t)| *f = 2.0 * (*f - t));
                rows
            }
            Part::Gram(_) => {
                image.iter_mut().for_each(|g| *g *= 2.0);
                return image;
            }
        };
        let mut out = vec![0.0; members];
        rows.backward(image, &mut out);
        out
    }

    fn convex(&self) -> bool {
        match self {
            Part::Pairs(_, loss) => *loss == PairLoss::Squared,
            Part::Target(..) => true,
            Part::Gram(gram) => gram.convex(),
        }
    }
}

/// A point, its images, and the loss there.
#[derive(Clone)]
struct Point {
    gamma: Vec<f64>,
    images: Vec<Vec<f64>>,
    loss: f64,
}

impl Problem<'_> {
    fn at(&self, gamma: Vec<f64>) -> Point {
        let parts = map_each(self.parts.len(), &|at| {
            let image = self.parts[at].image(&gamma);
            let value = self.parts[at].value(&gamma, &image);
            (image, value)
        });
        let loss = parts.iter().map(|(_, v)| v).sum();
        Point { gamma, images: parts.into_iter().map(|(f, _)| f).collect(), loss }
    }

    pub(crate) fn pull(&self, gamma: &[f64]) -> f64 {
        self.lambda * square(gamma.iter().zip(self.anchor).map(|(g, a)| g - a))
    }

    fn gradient(&self, at: &Point) -> Vec<f64> {
        let m = at.gamma.len();
        let of_part = |p: usize| self.parts[p].gradient(m, at.images[p].clone());
        let mut gradient: Vec<f64> =
            at.gamma.iter().zip(self.anchor).map(|(g, a)| 2.0 * self.lambda * (g - a)).collect();
        for part in map_each(self.parts.len(), &of_part) {
            gradient.iter_mut().zip(part).for_each(|(g, p)| *g += p);
        }
        gradient
    }

    /// `objective(to) - tangent at from`, exactly: everything here is of second degree.
    fn deviation(&self, from: &Point, to: &Point) -> f64 {
        let difference =
            |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| b - a).collect::<Vec<_>>();
        let step = difference(&from.gamma, &to.gamma);
        let parts: Vec<f64> = self
            .parts
            .iter()
            .zip(from.images.iter().zip(&to.images))
            .map(|(p, (a, b))| p.quadratic(&step, &difference(a, b)))
            .collect();
        parts.iter().sum::<f64>() + self.lambda * square(step.iter().copied())
    }

    /// The least value over the simplex of the tangent at a point plus `lambda |. - point|^2`:
    /// below a convex objective everywhere.
    fn lower(&self, at: &Point, gradient: &[f64]) -> f64 {
        let objective = at.loss + self.pull(&at.gamma);
        if self.lambda > 0.0 {
            let mut z: Vec<f64> =
                at.gamma.iter().zip(gradient).map(|(x, g)| x - g / (2.0 * self.lambda)).collect();
            if project_simplex(&mut z) {
                let steps = z.iter().zip(&at.gamma).map(|(z, x)| z - x);
                return objective + dot(gradient, steps.clone()) + self.lambda * square(steps);
            }
        }
        let least = gradient.iter().fold(f64::INFINITY, |m, &g| m.min(g));
        objective + least - dot(gradient, at.gamma.iter().copied())
    }

    pub(crate) fn relative(&self, objective: f64, lower: f64) -> f64 {
        ((objective - lower) / objective.max(self.floor)).max(0.0)
    }

    /// From `start` until the relative gap is at most `gap`. Where the problem is not convex, the
    /// gap is that of the tangent problem, 0 at a stationary point, and bounds nothing.
    pub(crate) fn minimise(
        &self,
        start: &[f64],
        gap: f64,
        max_iterations: usize,
        observer: &dyn Observer,
    ) -> Result<Outcome> {
        let convex = self.parts.iter().all(Part::convex);
        let floor = 2.0 * self.lambda;
        let mut x = self.at(start.to_vec());
        let mut y = x.clone();
        let mut curvature = floor.max(self.floor);
        let (mut t, mut lower) = (1.0f64, f64::NEG_INFINITY);
        let mut iterations = 0;
        loop {
            observer.check()?;
            let gradient = self.gradient(&y);
            let bound = self.lower(&y, &gradient);
            lower = if convex { bound.max(lower) } else { bound };
            let done = self.relative(x.loss + self.pull(&x.gamma), lower) <= gap;
            if done || iterations == max_iterations {
                let status = if done { Status::Solved } else { Status::MaxIterations };
                let lower = convex.then_some(lower);
                return Ok(Outcome { gamma: x.gamma, status, iterations, lower });
            }
            let next = loop {
                let mut z: Vec<f64> =
                    y.gamma.iter().zip(&gradient).map(|(y, g)| y - g / curvature).collect();
                project_simplex(&mut z);
                let next = self.at(z);
                let moved = square(next.gamma.iter().zip(&y.gamma).map(|(a, b)| a - b));
                if !(self.deviation(&y, &next) > 0.5 * curvature * moved * (1.0 + 1e-12)) {
                    break next;
                }
                curvature *= 2.0;
            };
            let uphill = dot(&gradient, next.gamma.iter().zip(&x.gamma).map(|(a, b)| a - b)) > 0.0;
            t = if uphill { 1.0 } else { t };
            let after = 0.5 * (1.0 + (1.0 + 4.0 * t * t).sqrt());
            // No faster than is best for a problem of known strong convexity.
            let known = (curvature.sqrt() - floor.sqrt()) / (curvature.sqrt() + floor.sqrt());
            let momentum = if convex { ((t - 1.0) / after).min(known) } else { 0.0 };
            y = extrapolate(&x, &next, momentum);
            y.loss = self.parts.iter().zip(&y.images).map(|(p, f)| p.value(&y.gamma, f)).sum();
            t = after;
            x = next;
            curvature = floor.max(0.9 * curvature);
            iterations += 1;
        }
    }
}

/// `next + momentum (next - x)`; images are linear and need no second pass over the labels.
fn extrapolate(x: &Point, next: &Point, momentum: f64) -> Point {
    let beyond =
        |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| b + momentum * (b - a)).collect();
    Point {
        gamma: beyond(&x.gamma, &next.gamma),
        images: x.images.iter().zip(&next.images).map(|(a, b)| beyond(a, b)).collect(),
        loss: 0.0,
    }
}

fn square(x: impl Iterator<Item = f64>) -> f64 {
    x.map(|x| x * x).sum()
}

fn dot(a: &[f64], b: impl Iterator<Item = f64>) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
