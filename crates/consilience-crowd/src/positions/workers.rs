//! Workers: Gaussian factors of their W and tau, and what they have in common.

use rayon::prelude::*;

use super::layout::Layout;
use super::mixture::gamma_divergence;
use super::objects::Objects;
use super::prior::Prior;
use super::small::{Shape, add, bilinear, constant, curvature, digamma, invert, times};
use consilience_num::dot;

/// The factor of one worker, (W's entries on and above the diagonal, tau), and the moments that the
/// updates of objects read.
#[derive(Clone, Debug)]
pub(super) struct Worker {
    /// Q = P + 1 numbers, and Q x Q.
    pub(super) mean: Vec<f64>,
    pub(super) covariance: Vec<f64>,
    /// ln det of the covariance.
    log_det: f64,
    /// B to E[W B W], both as kept entries: P x P.
    apply: Vec<f64>,
    /// E[W], E[tau W]: D x D; E[tau^2].
    w: Vec<f64>,
    tau_w: Vec<f64>,
    tau_square: f64,
}

impl Worker {
    fn new(shape: &Shape, mean: Vec<f64>, covariance: Vec<f64>, log_det: f64) -> Self {
        let (p, q) = (shape.p(), shape.q());
        let both = |u: usize, v: usize| covariance[u * q + v] + mean[u] * mean[v];
        let mut apply = vec![0.0; p * p];
        for (to, &(a, b)) in apply.chunks_exact_mut(p).zip(&shape.pairs) {
            for (to, &(r, s)) in to.iter_mut().zip(&shape.pairs) {
                *to = both(shape.at(a, r), shape.at(s, b));
                if r != s {
                    *to += both(shape.at(a, s), shape.at(r, b));
                }
            }
        }
        let w = shape.full(&mean[..p]);
        let with_tau: Vec<f64> = (0..p).map(|u| both(u, p)).collect();
        let (tau_w, tau_square) = (shape.full(&with_tau), both(p, p));
        Worker { mean, covariance, log_det, apply, w, tau_w, tau_square }
    }

    /// E[W B W] for kept entries B.
    pub(super) fn apply(&self, b: &[f64], to: &mut [f64]) {
        times(&self.apply, b, to);
    }

    /// Adds what a task's others say about an object: to the precision, and to the linear term.
    pub(super) fn tell(&self, about: &Sums, precision: &mut [f64], linear: &mut [f64]) {
        for (to, row) in precision.iter_mut().zip(self.apply.chunks_exact(about.square.len())) {
            *to += dot(row, &about.square);
        }
        let d = linear.len();
        for ((to, w), tau_w) in
            linear.iter_mut().zip(self.w.chunks_exact(d)).zip(self.tau_w.chunks_exact(d))
        {
            *to += dot(w, &about.signed) - dot(tau_w, &about.mean);
        }
    }
}

/// E[A^2] of one object with any other, A = x' W y + tau, as a function of the other's moments.
pub(super) struct Squares {
    square: Vec<f64>,
    mean: Vec<f64>,
    constant: f64,
}

impl Squares {
    pub(super) fn new(shape: &Shape) -> Self {
        Squares { square: vec![0.0; shape.p()], mean: vec![0.0; shape.d], constant: 0.0 }
    }

    pub(super) fn set(&mut self, shape: &Shape, worker: &Worker, mean: &[f64], second: &[f64]) {
        worker.apply(second, &mut self.square);
        self.square.iter_mut().zip(&shape.times).for_each(|(x, times)| *x *= times);
        times(&worker.tau_w, mean, &mut self.mean);
        self.mean.iter_mut().for_each(|x| *x *= 2.0);
        self.constant = worker.tau_square;
    }

    pub(super) fn with(&self, mean: &[f64], second: &[f64]) -> f64 {
        (dot(&self.square, second) + dot(&self.mean, mean) + self.constant).max(0.0)
    }
}

/// Sums over the others y of a task, c being the curvature of the bound and a +1 or -1 the answer:
/// of c E[y y'], c E[y], (a / 2) E[y], c and a / 2.
pub(super) struct Sums {
    square: Vec<f64>,
    mean: Vec<f64>,
    signed: Vec<f64>,
    curvature: f64,
    sign: f64,
}

impl Sums {
    pub(super) fn new(shape: &Shape) -> Self {
        Sums {
            square: vec![0.0; shape.p()],
            mean: vec![0.0; shape.d],
            signed: vec![0.0; shape.d],
            curvature: 0.0,
            sign: 0.0,
        }
    }

    pub(super) fn clear(&mut self) {
        self.square.fill(0.0);
        self.mean.fill(0.0);
        self.signed.fill(0.0);
        (self.curvature, self.sign) = (0.0, 0.0);
    }

    pub(super) fn add(&mut self, same: bool, square: f64, mean: &[f64], second: &[f64]) {
        let c = curvature(square);
        let half = if same { 0.5 } else { -0.5 };
        add(&mut self.square, c, second);
        add(&mut self.mean, c, mean);
        add(&mut self.signed, half, mean);
        self.curvature += c;
        self.sign += half;
    }
}

/// All workers, and the crowd.
#[derive(Clone, Debug)]
pub(super) struct Workers {
    pub(super) each: Vec<Worker>,
    /// Mean and variance of what the crowd has in common: Q numbers each.
    pub(super) crowd: Vec<f64>,
    pub(super) crowd_variance: Vec<f64>,
    /// Shape and rate of the workers' precision around it, for W and for tau.
    pub(super) spread: [[f64; 2]; 2],
}

/// Means of the crowd before any answer: the identity, and 0.
fn expected(shape: &Shape) -> Vec<f64> {
    let on_diagonal = shape.pairs.iter().map(|&(r, c)| if r == c { 1.0 } else { 0.0 });
    on_diagonal.chain([0.0]).collect()
}

/// Which of two a number of a worker is: of W, or tau.
fn kind(shape: &Shape, u: usize) -> usize {
    usize::from(u == shape.p())
}

impl Workers {
    /// Everybody as is expected, but for the crowd's tau.
    pub(super) fn start(shape: &Shape, prior: &Prior, workers: usize, tau: f64) -> Self {
        let q = shape.q();
        let mut crowd = expected(shape);
        crowd[shape.p()] = tau;
        // Certain to begin with: the first update is of these factors.
        let worker = Worker::new(shape, crowd.clone(), vec![0.0; q * q], 0.0);
        Workers {
            each: vec![worker; workers],
            crowd,
            crowd_variance: vec![1e-2; q],
            spread: [prior.spread; 2],
        }
    }

    /// New factors of all workers, each with the bound that is best for its answers.
    pub(super) fn renew(&mut self, shape: &Shape, layout: &Layout, objects: &Objects) {
        // In place: each is renewed from itself and what all have in common.
        let (crowd, spread) = (&self.crowd, &self.spread);
        self.each.par_iter_mut().enumerate().for_each(|(w, worker)| {
            let mut gathered = Gathered::new(shape);
            for t in layout.tasks_of(w) {
                gathered.add_task(shape, worker, layout, t, objects);
            }
            if let Some(new) = gathered.factor(shape, crowd, spread) {
                *worker = new;
            }
        });
    }

    /// What the crowd has in common, then how far workers are from it.
    pub(super) fn renew_crowd(&mut self, shape: &Shape, prior: &Prior) {
        let (workers, own) = (self.each.len() as f64, expected(shape));
        for u in 0..shape.q() {
            let [a, b] = self.spread[kind(shape, u)];
            let sum: f64 = self.each.iter().map(|w| w.mean[u]).sum();
            let prior = prior.crowd[kind(shape, u)];
            let precision = prior + workers * a / b;
            self.crowd[u] = (prior * own[u] + a / b * sum) / precision;
            self.crowd_variance[u] = 1.0 / precision;
        }
        let squares = self.squares(shape);
        for (spread, (square, numbers)) in self.spread.iter_mut().zip(squares) {
            *spread = [prior.spread[0] + 0.5 * numbers, prior.spread[1] + 0.5 * square];
        }
    }

    /// Expected squares of all workers around the crowd, of W and of tau, and of how many numbers.
    fn squares(&self, shape: &Shape) -> [(f64, f64); 2] {
        let q = shape.q();
        let mut out = [(0.0, 0.0); 2];
        for worker in &self.each {
            for u in 0..q {
                let apart = worker.mean[u] - self.crowd[u];
                let of_kind = &mut out[kind(shape, u)];
                of_kind.0 += apart * apart + worker.covariance[u * q + u] + self.crowd_variance[u];
                of_kind.1 += 1.0;
            }
        }
        out
    }

    /// Their part of the bound: minus the divergence from the prior.
    pub(super) fn bound(&self, shape: &Shape, prior: &Prior) -> f64 {
        let q = shape.q();
        let mut total = 0.0;
        for worker in &self.each {
            total += 0.5 * (worker.log_det + q as f64);
        }
        for ((square, numbers), [a, b]) in self.squares(shape).into_iter().zip(self.spread) {
            total += 0.5 * (numbers * (digamma(a) - b.ln()) - a / b * square);
            total -= gamma_divergence([a, b], prior.spread);
        }
        let own = expected(shape);
        for u in 0..q {
            let precision = prior.crowd[kind(shape, u)];
            let (apart, variance) = (self.crowd[u] - own[u], self.crowd_variance[u]);
            total += 0.5 * (precision.ln() + variance.ln() + 1.0);
            total -= 0.5 * precision * (apart * apart + variance);
        }
        total
    }

    /// The answers' part of the bound, its own parameters being the best.
    pub(super) fn answers(&self, shape: &Shape, layout: &Layout, objects: &Objects) -> f64 {
        let of_task = |t: usize| {
            let task = layout.task(t);
            let worker = &self.each[task.worker];
            let mut squares = Squares::new(shape);
            let mut total = 0.0;
            for (at, (&i, group)) in task.items.iter().zip(task.groups).enumerate() {
                let (mean, second) = objects.of(shape, i as usize);
                squares.set(shape, worker, mean, second);
                for (&j, other) in task.items.iter().zip(task.groups).skip(at + 1) {
                    let (y, y_second) = objects.of(shape, j as usize);
                    let a = bilinear(&worker.w, mean, y) + worker.mean[shape.p()];
                    let said = if group == other { a } else { -a };
                    total += constant(squares.with(y, y_second)) + 0.5 * said;
                }
            }
            total
        };
        // Tasks one by one and then in their order, so that no bit depends on threads.
        let parts: Vec<f64> = (0..layout.n_tasks()).into_par_iter().map(of_task).collect();
        parts.iter().sum()
    }
}

/// Sums over the answers of a worker that its factor needs.
struct Gathered {
    others: Sums,
    squares: Squares,
    /// c E[x x'] (x) E[y y'], P x P; c E[x] E[y]' and (a / 2) E[x] E[y]', D x D; c and a / 2.
    second: Vec<f64>,
    first: Vec<f64>,
    signed: Vec<f64>,
    curvature: f64,
    sign: f64,
}

impl Gathered {
    fn new(shape: &Shape) -> Self {
        let (d, p) = (shape.d, shape.p());
        Gathered {
            others: Sums::new(shape),
            squares: Squares::new(shape),
            second: vec![0.0; p * p],
            first: vec![0.0; d * d],
            signed: vec![0.0; d * d],
            curvature: 0.0,
            sign: 0.0,
        }
    }

    fn add_task(
        &mut self,
        shape: &Shape,
        worker: &Worker,
        layout: &Layout,
        t: usize,
        objects: &Objects,
    ) {
        let (d, p) = (shape.d, shape.p());
        let task = layout.task(t);
        for (at, (&i, group)) in task.items.iter().zip(task.groups).enumerate() {
            let (mean, second) = objects.of(shape, i as usize);
            self.squares.set(shape, worker, mean, second);
            self.others.clear();
            for (&j, other) in task.items.iter().zip(task.groups).skip(at + 1) {
                let (y, y_second) = objects.of(shape, j as usize);
                let square = self.squares.with(y, y_second);
                self.others.add(group == other, square, y, y_second);
            }
            for (row, &x) in self.second.chunks_exact_mut(p).zip(second) {
                add(row, x, &self.others.square);
            }
            for (r, &x) in mean.iter().enumerate() {
                add(&mut self.first[r * d..][..d], x, &self.others.mean);
                add(&mut self.signed[r * d..][..d], x, &self.others.signed);
            }
            self.curvature += self.others.curvature;
            self.sign += self.others.sign;
        }
    }

    /// The worker's factor; `None` where it is no number.
    fn factor(&self, shape: &Shape, crowd: &[f64], spread: &[[f64; 2]; 2]) -> Option<Worker> {
        let q = shape.q();
        let (mut precision, mut linear) = self.normal(shape);
        for u in 0..q {
            let [a, b] = spread[kind(shape, u)];
            precision[u * q + u] += a / b;
            linear[u] += a / b * crowd[u];
        }
        let log_det = -invert(&mut precision, q)?;
        let mut mean = vec![0.0; q];
        times(&precision, &linear, &mut mean);
        Some(Worker::new(shape, mean, precision, log_det))
    }

    /// Precision and linear term of (W, tau): sums over the answers of c E[f f'] and (a / 2) E[f],
    /// f having x_r y_s + x_s y_r for the entry (r, s) of W (half of it on the diagonal), and 1.
    fn normal(&self, shape: &Shape) -> (Vec<f64>, Vec<f64>) {
        let (d, p, q) = (shape.d, shape.p(), shape.q());
        let mut precision = vec![0.0; q * q];
        let mut linear = vec![0.0; q];
        let second = |a: usize, b: usize, r: usize, s: usize| {
            self.second[shape.at(a, b) * p + shape.at(r, s)]
        };
        for (u, &(a, b)) in shape.pairs.iter().enumerate() {
            let half = 0.5 * shape.times[u];
            for (v, &(r, s)) in shape.pairs.iter().enumerate() {
                precision[u * q + v] = half
                    * 0.5
                    * shape.times[v]
                    * (second(a, r, b, s)
                        + second(a, s, b, r)
                        + second(b, r, a, s)
                        + second(b, s, a, r));
            }
            let with_tau = half * (self.first[a * d + b] + self.first[b * d + a]);
            (precision[u * q + p], precision[p * q + u]) = (with_tau, with_tau);
            linear[u] = half * (self.signed[a * d + b] + self.signed[b * d + a]);
        }
        precision[p * q + p] = self.curvature;
        linear[p] = self.sign;
        (precision, linear)
    }
}
