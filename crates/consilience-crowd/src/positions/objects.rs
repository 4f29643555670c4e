//! Objects: Gaussian factors of their positions.

use super::layout::Layout;
use super::mixture::Mixture;
use super::small::{Shape, invert, times};
use super::workers::{Squares, Sums, Workers};

/// First and second moments of the positions.
#[derive(Clone, Debug)]
pub(super) struct Objects {
    /// n x D.
    pub(super) mean: Vec<f64>,
    /// E[x x'], kept entries: n x P.
    pub(super) second: Vec<f64>,
    /// ln det of each covariance.
    log_det: Vec<f64>,
}

impl Objects {
    /// Positions, each coordinate with the same variance.
    pub(super) fn start(shape: &Shape, mean: Vec<f64>, variance: f64) -> Self {
        let d = shape.d;
        let n = mean.len() / d;
        let mut second = Vec::with_capacity(n * shape.p());
        for x in mean.chunks_exact(d) {
            let entry =
                |&(r, c): &(usize, usize)| x[r] * x[c] + if r == c { variance } else { 0.0 };
            second.extend(shape.pairs.iter().map(entry));
        }
        Objects { mean, second, log_det: vec![d as f64 * variance.ln(); n] }
    }

    /// Moments of an object.
    pub(super) fn of(&self, shape: &Shape, i: usize) -> (&[f64], &[f64]) {
        let (d, p) = (shape.d, shape.p());
        (&self.mean[i * d..][..d], &self.second[i * p..][..p])
    }

    /// One object after the other, all else fixed.
    pub(super) fn renew(
        &mut self,
        shape: &Shape,
        layout: &Layout,
        workers: &Workers,
        mixture: &Mixture,
    ) {
        let (d, p) = (shape.d, shape.p());
        let mut squares = Squares::new(shape);
        let mut others = Sums::new(shape);
        let expected = mixture.expected(shape);
        let (mut precision, mut linear) = (vec![0.0; p], vec![0.0; d]);
        for i in 0..layout.n {
            expected.tell(mixture.of_object(i), &mut precision, &mut linear);
            for (task, at) in layout.of_object(i) {
                let worker = &workers.each[task.worker];
                let (mean, second) = self.of(shape, i);
                squares.set(shape, worker, mean, second);
                others.clear();
                for (place, (&j, group)) in task.items.iter().zip(task.groups).enumerate() {
                    if place != at {
                        let (y, y_second) = self.of(shape, j as usize);
                        let square = squares.with(y, y_second);
                        others.add(*group == task.groups[at], square, y, y_second);
                    }
                }
                worker.tell(&others, &mut precision, &mut linear);
            }
            let mut covariance = shape.full(&precision);
            let Some(log_det) = invert(&mut covariance, d) else { continue };
            self.log_det[i] = -log_det;
            let mean = &mut self.mean[i * d..][..d];
            times(&covariance, &linear, mean);
            for (to, &(r, c)) in self.second[i * p..][..p].iter_mut().zip(&shape.pairs) {
                *to = covariance[r * d + c] + mean[r] * mean[c];
            }
        }
    }

    /// Entropy of the positions, less what the mixture's part of the bound counts of it.
    pub(super) fn entropy(&self, shape: &Shape) -> f64 {
        // ln 2 pi e / 2 for each coordinate; ln 2 pi / 2 of it is taken off in the mixture.
        self.log_det.iter().map(|x| 0.5 * (x + shape.d as f64)).sum()
    }
}
