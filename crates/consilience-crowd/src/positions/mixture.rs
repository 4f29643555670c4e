//! The components: sticks, Normal-Wishart factors and who is in which.

use libm::lgamma;

use super::objects::Objects;
use super::prior::Prior;
use super::small::{Shape, add, bilinear, digamma, invert, times};
use consilience_num::dot;

/// Expected objects from which on a component is worth merging.
const HELD: f64 = 0.5;

/// The factors of the mixture.
#[derive(Clone, Debug)]
pub(super) struct Mixture {
    /// Probabilities of components: n x T, row by row.
    pub(super) q: Vec<f64>,
    pub(super) components: Vec<Component>,
    /// Beta factors of the sticks of all components but the last.
    pub(super) sticks: Vec<[f64; 2]>,
    /// Gamma factor of their concentration.
    pub(super) concentration: [f64; 2],
}

/// A Normal-Wishart factor.
#[derive(Clone, Debug)]
pub(super) struct Component {
    /// Mean and its weight in objects.
    pub(super) mean: Vec<f64>,
    pub(super) weight: f64,
    /// Degrees of freedom, scale (D x D) and the logarithm of its determinant.
    pub(super) freedom: f64,
    pub(super) scale: Vec<f64>,
    log_det: f64,
}

impl Component {
    fn start(shape: &Shape, prior: &Prior) -> Self {
        let d = shape.d;
        let freedom = d as f64 + prior.freedom;
        let entry = 1.0 / (freedom * prior.variance);
        let mut scale = vec![0.0; d * d];
        (0..d).for_each(|r| scale[r * d + r] = entry);
        Component {
            mean: vec![0.0; d],
            weight: prior.mean_weight,
            freedom,
            scale,
            log_det: d as f64 * entry.ln(),
        }
    }

    /// E[ln det of the precision].
    fn log_precision(&self) -> f64 {
        let d = self.mean.len();
        let sum: f64 = (0..d).map(|r| digamma(0.5 * (self.freedom - r as f64))).sum();
        sum + d as f64 * 2_f64.ln() + self.log_det
    }

    /// The logarithm of the Wishart density's constant.
    fn log_constant(&self) -> f64 {
        let d = self.mean.len() as f64;
        let gammas: f64 =
            (0..self.mean.len()).map(|r| lgamma(0.5 * (self.freedom - r as f64))).sum();
        -0.5 * self.freedom * (self.log_det + d * 2_f64.ln())
            - 0.25 * d * (d - 1.0) * std::f64::consts::PI.ln()
            - gammas
    }

    /// Kullback-Leibler divergence from the prior.
    fn divergence(&self, prior: &Component) -> f64 {
        let d = self.mean.len();
        let log_precision = self.log_precision();
        let apart: Vec<f64> = self.mean.iter().zip(&prior.mean).map(|(a, b)| a - b).collect();
        let mut mean = (self.weight / prior.weight).ln() + prior.weight / self.weight - 1.0;
        mean *= d as f64;
        mean += prior.weight * self.freedom * bilinear(&self.scale, &apart, &apart);
        // The prior's scale is a multiple of the identity.
        let trace: f64 = (0..d).map(|r| self.scale[r * d + r] / prior.scale[r * d + r]).sum();
        0.5 * mean + self.log_constant() - prior.log_constant()
            + 0.5 * (self.freedom - prior.freedom) * log_precision
            - 0.5 * self.freedom * (d as f64 - trace)
    }
}

/// What the update of an object needs of the components: E[precision], kept entries, and that times
/// the mean.
pub(super) struct Expected {
    precision: Vec<Vec<f64>>,
    linear: Vec<Vec<f64>>,
}

impl Expected {
    pub(super) fn tell(&self, q: &[f64], precision: &mut [f64], linear: &mut [f64]) {
        precision.fill(0.0);
        linear.fill(0.0);
        for ((own, own_linear), &q) in self.precision.iter().zip(&self.linear).zip(q) {
            if q > 0.0 {
                add(precision, q, own);
                add(linear, q, own_linear);
            }
        }
    }
}

impl Mixture {
    /// Of given memberships.
    pub(super) fn start(
        shape: &Shape,
        prior: &Prior,
        q: Vec<f64>,
        truncation: usize,
        objects: &Objects,
    ) -> Self {
        let mut out = Mixture {
            q,
            components: vec![Component::start(shape, prior); truncation],
            sticks: vec![[1.0, 1.0]; truncation - 1],
            concentration: prior.concentration,
        };
        out.renew_components(shape, prior, objects);
        out.renew_sticks(prior);
        out
    }

    pub(super) fn truncation(&self) -> usize {
        self.components.len()
    }

    pub(super) fn of_object(&self, i: usize) -> &[f64] {
        &self.q[i * self.truncation()..][..self.truncation()]
    }

    pub(super) fn expected(&self, shape: &Shape) -> Expected {
        let d = shape.d;
        let mut out = Expected { precision: Vec::new(), linear: Vec::new() };
        for c in &self.components {
            let entry = |&(r, s): &(usize, usize)| c.freedom * c.scale[r * d + s];
            out.precision.push(shape.pairs.iter().map(entry).collect());
            let mut linear = vec![0.0; d];
            times(&c.scale, &c.mean, &mut linear);
            linear.iter_mut().for_each(|x| *x *= c.freedom);
            out.linear.push(linear);
        }
        out
    }

    /// New Normal-Wishart factors.
    pub(super) fn renew_components(&mut self, shape: &Shape, prior: &Prior, objects: &Objects) {
        let (d, t) = (shape.d, self.truncation());
        let start = Component::start(shape, prior);
        for c in 0..t {
            let mut count = 0.0;
            let mut sum = vec![0.0; d];
            let mut second = vec![0.0; shape.p()];
            for (i, row) in self.q.chunks_exact(t).enumerate() {
                if row[c] > 0.0 {
                    let (mean, square) = objects.of(shape, i);
                    count += row[c];
                    add(&mut sum, row[c], mean);
                    add(&mut second, row[c], square);
                }
            }
            let weight = start.weight + count;
            // The prior's mean is the origin.
            let mean: Vec<f64> = sum.iter().map(|x| x / weight).collect();
            let mut scale = shape.full(&second);
            for r in 0..d {
                scale[r * d + r] += 1.0 / start.scale[r * d + r];
                for s in 0..d {
                    scale[r * d + s] -= weight * mean[r] * mean[s];
                }
            }
            if let Some(log_det) = invert(&mut scale, d) {
                let freedom = start.freedom + count;
                self.components[c] = Component { mean, weight, freedom, scale, log_det: -log_det };
            }
        }
    }

    /// New memberships; returns the largest change of one.
    pub(super) fn renew_memberships(&mut self, shape: &Shape, objects: &Objects) -> f64 {
        let t = self.truncation();
        let distances = self.distances(shape);
        let mut field = vec![0.0; t];
        let mut largest: f64 = 0.0;
        for (i, own) in self.q.chunks_exact_mut(t).enumerate() {
            let (mean, second) = objects.of(shape, i);
            for (f, distance) in field.iter_mut().zip(&distances) {
                *f = distance.log_density(mean, second);
            }
            let most = field.iter().fold(f64::NEG_INFINITY, |m, &x| m.max(x));
            field.iter_mut().for_each(|x| *x = (*x - most).exp());
            let sum: f64 = field.iter().sum();
            for (own, new) in own.iter_mut().zip(&field) {
                largest = largest.max((new / sum - *own).abs());
                *own = new / sum;
            }
        }
        largest
    }

    /// New factors of the sticks, then of their concentration.
    pub(super) fn renew_sticks(&mut self, prior: &Prior) {
        let counts = self.counts();
        let expected = self.concentration[0] / self.concentration[1];
        let mut left: f64 = counts.iter().sum();
        for (stick, count) in self.sticks.iter_mut().zip(&counts) {
            left = (left - count).max(0.0);
            *stick = [1.0 + count, expected + left];
        }
        let rest: f64 = self.sticks.iter().map(|&[a, b]| digamma(b) - digamma(a + b)).sum();
        let [shape, rate] = prior.concentration;
        self.concentration = [shape + self.sticks.len() as f64, rate - rest];
    }

    /// Expected objects of each component.
    pub(super) fn counts(&self) -> Vec<f64> {
        let mut counts = vec![0.0; self.truncation()];
        self.q.chunks_exact(counts.len()).for_each(|row| add(&mut counts, 1.0, row));
        counts
    }

    /// How many components are some object's likeliest; of equals the first is.
    pub(super) fn held(&self) -> usize {
        let mut held = vec![false; self.truncation()];
        for row in self.q.chunks_exact(held.len()) {
            let likeliest = (1..row.len()).fold(0, |b, c| if row[c] > row[b] { c } else { b });
            held[likeliest] = true;
        }
        held.iter().filter(|&&h| h).count()
    }

    /// Pairs of components that hold objects, those whose means are closest first, at most `most`:
    /// squared distances in units of the two precisions.
    pub(super) fn closest(&self, most: usize) -> Vec<(usize, usize)> {
        let counts = self.counts();
        let held: Vec<usize> = (0..counts.len()).filter(|&c| counts[c] > HELD).collect();
        let mut pairs = Vec::new();
        for (at, &a) in held.iter().enumerate() {
            for &b in &held[at + 1..] {
                let (x, y) = (&self.components[a], &self.components[b]);
                let apart: Vec<f64> = x.mean.iter().zip(&y.mean).map(|(x, y)| x - y).collect();
                let precisions = [x, y].map(|c| c.freedom * bilinear(&c.scale, &apart, &apart));
                pairs.push((precisions[0].min(precisions[1]), (a, b)));
            }
        }
        pairs.sort_by(|x, y| x.0.total_cmp(&y.0));
        pairs.into_iter().take(most).map(|(_, pair)| pair).collect()
    }

    /// Gives the objects of component b to a.
    pub(super) fn merge(&mut self, a: usize, b: usize) {
        let t = self.truncation();
        for row in self.q.chunks_exact_mut(t) {
            row[a] += row[b];
            row[b] = 0.0;
        }
    }

    /// E[ln share] of each component.
    fn log_shares(&self) -> Vec<f64> {
        let mut left = 0.0;
        let mut out: Vec<f64> = Vec::with_capacity(self.truncation());
        for &[a, b] in &self.sticks {
            let both = digamma(a + b);
            out.push(left + digamma(a) - both);
            left += digamma(b) - both;
        }
        out.push(left);
        out
    }

    fn distances(&self, shape: &Shape) -> Vec<Distance> {
        let d = shape.d;
        let of = |(c, share): (&Component, f64)| {
            let mut linear = vec![0.0; d];
            times(&c.scale, &c.mean, &mut linear);
            let own = c.freedom * dot(&linear, &c.mean) + d as f64 / c.weight;
            linear.iter_mut().for_each(|x| *x *= c.freedom);
            let entries = shape.pairs.iter().zip(&shape.times);
            let square =
                entries.map(|(&(r, s), times)| -0.5 * times * c.freedom * c.scale[r * d + s]);
            Distance {
                square: square.collect(),
                linear,
                constant: share + 0.5 * c.log_precision() - 0.5 * own,
            }
        };
        self.components.iter().zip(self.log_shares()).map(of).collect()
    }

    /// Its part of the bound: expected log-density of positions and components (but for ln 2 pi),
    /// entropy of the memberships, less the divergence of all else from the prior.
    pub(super) fn bound(&self, shape: &Shape, prior: &Prior, objects: &Objects) -> f64 {
        let t = self.truncation();
        let distances = self.distances(shape);
        let mut total = 0.0;
        for (i, row) in self.q.chunks_exact(t).enumerate() {
            let (mean, second) = objects.of(shape, i);
            for (&q, distance) in row.iter().zip(&distances) {
                if q > 0.0 {
                    total += q * (distance.log_density(mean, second) - q.ln());
                }
            }
        }
        let start = Component::start(shape, prior);
        total -= self.components.iter().map(|c| c.divergence(&start)).sum::<f64>();
        let [shape, rate] = self.concentration;
        let log = digamma(shape) - rate.ln();
        for &[a, b] in &self.sticks {
            // Beta(1, alpha) has density alpha (1 - v)^(alpha - 1).
            let (both, rest) = (digamma(a + b), digamma(b));
            let own = lgamma(a + b) - lgamma(a) - lgamma(b)
                + (a - 1.0) * (digamma(a) - both)
                + (b - 1.0) * (rest - both);
            total += log + (shape / rate - 1.0) * (rest - both) - own;
        }
        total - gamma_divergence(self.concentration, prior.concentration)
    }
}

/// Expected log-density of a position and a component as a function of the position's moments.
struct Distance {
    square: Vec<f64>,
    linear: Vec<f64>,
    constant: f64,
}

impl Distance {
    fn log_density(&self, mean: &[f64], second: &[f64]) -> f64 {
        self.constant + dot(&self.linear, mean) + dot(&self.square, second)
    }
}

/// Kullback-Leibler divergence of Gamma factors, given by shape and rate.
pub(super) fn gamma_divergence([a, b]: [f64; 2], [a0, b0]: [f64; 2]) -> f64 {
    (a - a0) * digamma(a) - lgamma(a) + lgamma(a0) + a0 * (b / b0).ln() + a * (b0 - b) / b
}
