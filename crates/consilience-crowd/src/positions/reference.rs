//! The model as it is written down: dense loops over answers and indices. Shares nothing with the
//! fast code but the numbers it starts from.

use libm::lgamma;
use ndarray::{Array1, Array2};

use super::prior::Prior;

/// One answer: worker, objects, and +1 for "same", -1 for "apart".
pub(super) type Said = (usize, usize, usize, f64);

#[derive(Clone)]
pub(super) struct Naive {
    pub(super) said: Vec<Said>,
    pub(super) prior: Prior,
    /// Positions: mean and covariance of each object.
    pub(super) x: Vec<(Array1<f64>, Array2<f64>)>,
    /// Mean and covariance of each worker's (W, tau); W's entries row by row, from the diagonal.
    pub(super) u: Vec<(Array1<f64>, Array2<f64>)>,
    pub(super) crowd: Array1<f64>,
    pub(super) crowd_variance: Array1<f64>,
    /// Shape and rate of the workers' precision: of W, of tau.
    pub(super) spread: [[f64; 2]; 2],
    pub(super) q: Array2<f64>,
    /// Mean, weight, scale, degrees of freedom.
    pub(super) components: Vec<(Array1<f64>, f64, Array2<f64>, f64)>,
    pub(super) sticks: Vec<[f64; 2]>,
    pub(super) concentration: [f64; 2],
}

fn inverse(a: &Array2<f64>) -> Array2<f64> {
    let n = a.nrows();
    let mut left = a.clone();
    let mut right = Array2::<f64>::eye(n);
    for i in 0..n {
        let pivot = left[[i, i]];
        for c in 0..n {
            left[[i, c]] /= pivot;
            right[[i, c]] /= pivot;
        }
        for r in (0..n).filter(|&r| r != i) {
            let times = left[[r, i]];
            for c in 0..n {
                left[[r, c]] -= times * left[[i, c]];
                right[[r, c]] -= times * right[[i, c]];
            }
        }
    }
    right
}

fn log_det(a: &Array2<f64>) -> f64 {
    let n = a.nrows();
    let mut left = a.clone();
    let mut total = 0.0;
    for i in 0..n {
        total += left[[i, i]].ln();
        for r in i + 1..n {
            let times = left[[r, i]] / left[[i, i]];
            for c in 0..n {
                left[[r, c]] -= times * left[[i, c]];
            }
        }
    }
    total
}

/// By the difference of ln Gamma far out, and the recurrence.
fn psi(x: f64) -> f64 {
    let steps = 400;
    let y = x + f64::from(steps);
    let far = y.ln() - 0.5 / y - 1.0 / (12.0 * y * y);
    far - (0..steps).map(|s| 1.0 / (x + f64::from(s))).sum::<f64>()
}

const LN_2_PI: f64 = 1.837_877_066_409_345_5;

impl Naive {
    fn d(&self) -> usize {
        self.x[0].0.len()
    }

    /// Entries of W, each with the ordered places (r, c) that it fills.
    fn entries(&self) -> Vec<Vec<(usize, usize)>> {
        let d = self.d();
        let mut out = Vec::new();
        for r in 0..d {
            for c in r..d {
                out.push(if r == c { vec![(r, c)] } else { vec![(r, c), (c, r)] });
            }
        }
        out
    }

    /// E[x x'].
    fn second(&self, i: usize) -> Array2<f64> {
        let (m, s) = &self.x[i];
        Array2::from_shape_fn(s.dim(), |(r, c)| s[[r, c]] + m[r] * m[c])
    }

    /// E[f f'] and E[f] for an answer on a and b: A = u' f.
    fn features(&self, a: usize, b: usize) -> (Array2<f64>, Array1<f64>) {
        let (x, y) = (self.second(a), self.second(b));
        let (mx, my) = (&self.x[a].0, &self.x[b].0);
        let entries = self.entries();
        let p = entries.len();
        let mut both = Array2::<f64>::zeros((p + 1, p + 1));
        let mut mean = Array1::<f64>::zeros(p + 1);
        for (u, places) in entries.iter().enumerate() {
            for &(r, c) in places {
                mean[u] += mx[r] * my[c];
                for (v, others) in entries.iter().enumerate() {
                    for &(s, e) in others {
                        both[[u, v]] += x[[r, s]] * y[[c, e]];
                    }
                }
            }
            (both[[u, p]], both[[p, u]]) = (mean[u], mean[u]);
        }
        (both[[p, p]], mean[p]) = (1.0, 1.0);
        (both, mean)
    }

    /// E[u u'].
    fn worker_second(&self, w: usize) -> Array2<f64> {
        let (m, s) = &self.u[w];
        Array2::from_shape_fn(s.dim(), |(r, c)| s[[r, c]] + m[r] * m[c])
    }

    /// sqrt E[A^2] of every answer.
    pub(super) fn best_xi(&self) -> Vec<f64> {
        let square = |&(w, a, b, _): &Said| {
            let (features, worker) = (self.features(a, b).0, self.worker_second(w));
            (&features * &worker).sum().max(0.0).sqrt()
        };
        self.said.iter().map(square).collect()
    }

    fn curvature(xi: f64) -> f64 {
        if xi < 1e-6 { 0.25 } else { (0.5 * xi).tanh() / (2.0 * xi) }
    }

    pub(super) fn renew_worker(&mut self, w: usize, xi: &[f64]) {
        let n = self.u[w].0.len();
        let mut precision = Array2::<f64>::zeros((n, n));
        let mut linear = Array1::<f64>::zeros(n);
        for (u, l) in linear.iter_mut().enumerate() {
            let [a, b] = self.spread[usize::from(u + 1 == n)];
            precision[[u, u]] = a / b;
            *l = a / b * self.crowd[u];
        }
        for (&(who, a, b, said), &xi) in self.said.iter().zip(xi) {
            if who == w {
                let (both, mean) = self.features(a, b);
                precision = precision + both * Self::curvature(xi);
                linear = linear + mean * (0.5 * said);
            }
        }
        let covariance = inverse(&precision);
        self.u[w] = (covariance.dot(&linear), covariance);
    }

    pub(super) fn renew_crowd(&mut self) {
        let n = self.crowd.len();
        for u in 0..n {
            let kind = usize::from(u + 1 == n);
            let precision = self.spread[kind][0] / self.spread[kind][1];
            let own = self.own(u);
            let all = self.prior.crowd[kind] + self.u.len() as f64 * precision;
            let sum: f64 = self.u.iter().map(|w| w.0[u]).sum();
            self.crowd[u] = (self.prior.crowd[kind] * own + precision * sum) / all;
            self.crowd_variance[u] = 1.0 / all;
        }
        self.spread = [self.prior.spread; 2];
        for (mean, covariance) in &self.u {
            for u in 0..n {
                let kind = usize::from(u + 1 == n);
                let apart = mean[u] - self.crowd[u];
                self.spread[kind][0] += 0.5;
                self.spread[kind][1] +=
                    0.5 * (apart * apart + covariance[[u, u]] + self.crowd_variance[u]);
            }
        }
    }

    /// The crowd's mean before any answer: the identity, and 0.
    fn own(&self, u: usize) -> f64 {
        match self.entries().get(u) {
            Some(places) if places[0].0 == places[0].1 => 1.0,
            _ => 0.0,
        }
    }

    pub(super) fn renew_object(&mut self, i: usize, xi: &[f64]) {
        let d = self.d();
        let mut precision = Array2::<f64>::zeros((d, d));
        let mut linear = Array1::<f64>::zeros(d);
        for (c, (mean, _, scale, freedom)) in self.components.iter().enumerate() {
            let own = scale * (*freedom * self.q[[i, c]]);
            linear = linear + own.dot(mean);
            precision = precision + own;
        }
        let entries = self.entries();
        let p = entries.len();
        for (&(w, a, b, said), &xi) in self.said.iter().zip(xi) {
            let other = if a == i { b } else { a };
            if a != i && b != i {
                continue;
            }
            let (y, mean) = (self.second(other), &self.x[other].0);
            let worker = self.worker_second(w);
            for (u, places) in entries.iter().enumerate() {
                for &(r, s) in places {
                    linear[r] += 0.5 * said * self.u[w].0[u] * mean[s];
                    linear[r] -= Self::curvature(xi) * worker[[u, p]] * mean[s];
                    for (v, others) in entries.iter().enumerate() {
                        for &(c, e) in others {
                            precision[[r, c]] += Self::curvature(xi) * worker[[u, v]] * y[[s, e]];
                        }
                    }
                }
            }
        }
        let covariance = inverse(&precision);
        self.x[i] = (covariance.dot(&linear), covariance);
    }

    /// Textbook form: means and scatter of each component.
    pub(super) fn renew_components(&mut self) {
        let d = self.d();
        let (beta, freedom) = (self.prior.mean_weight, d as f64 + self.prior.freedom);
        for c in 0..self.components.len() {
            let count: f64 = self.q.column(c).sum();
            let mut centre = Array1::<f64>::zeros(d);
            for (i, (mean, _)) in self.x.iter().enumerate() {
                centre = centre + mean * (self.q[[i, c]] / count.max(f64::MIN_POSITIVE));
            }
            let mut inverse_scale = Array2::<f64>::eye(d) * (freedom * self.prior.variance);
            for (i, (mean, covariance)) in self.x.iter().enumerate() {
                let apart = mean - &centre;
                for r in 0..d {
                    for s in 0..d {
                        inverse_scale[[r, s]] +=
                            self.q[[i, c]] * (covariance[[r, s]] + apart[r] * apart[s]);
                    }
                }
            }
            for r in 0..d {
                for s in 0..d {
                    inverse_scale[[r, s]] += beta * count / (beta + count) * centre[r] * centre[s];
                }
            }
            let mean = centre * (count / (beta + count));
            let scale = inverse(&inverse_scale);
            self.components[c] = (mean, beta + count, scale, freedom + count);
        }
    }

    /// E[ln share], E[ln det of the precision] and E of the squared distance.
    fn log_share(&self, c: usize) -> f64 {
        let broken = |&[a, b]: &[f64; 2]| psi(b) - psi(a + b);
        let before: f64 = self.sticks[..c].iter().map(broken).sum();
        before + self.sticks.get(c).map_or(0.0, |&[a, b]| psi(a) - psi(a + b))
    }

    fn log_precision(&self, c: usize) -> f64 {
        let (_, _, scale, freedom) = &self.components[c];
        let d = self.d();
        let psis: f64 = (1..=d).map(|r| psi(0.5 * (freedom + 1.0 - r as f64))).sum();
        psis + d as f64 * 2_f64.ln() + log_det(scale)
    }

    fn distance(&self, i: usize, c: usize) -> f64 {
        let (mean, weight, scale, freedom) = &self.components[c];
        let apart = &self.x[i].0 - mean;
        let spread: f64 = (scale * &self.x[i].1).sum();
        self.d() as f64 / weight + freedom * (spread + apart.dot(&scale.dot(&apart)))
    }

    pub(super) fn renew_memberships(&mut self) {
        let t = self.components.len();
        for i in 0..self.x.len() {
            let density = |c: usize| {
                self.log_share(c) + 0.5 * self.log_precision(c) - 0.5 * self.distance(i, c)
            };
            let field: Vec<f64> = (0..t).map(density).collect();
            let most = field.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let sum: f64 = field.iter().map(|f| (f - most).exp()).sum();
            (0..t).for_each(|c| self.q[[i, c]] = (field[c] - most).exp() / sum);
        }
    }

    pub(super) fn renew_sticks(&mut self) {
        let t = self.components.len();
        let alpha = self.concentration[0] / self.concentration[1];
        for c in 0..t - 1 {
            let later: f64 = (c + 1..t).map(|e| self.q.column(e).sum()).sum();
            self.sticks[c] = [1.0 + self.q.column(c).sum(), alpha + later];
        }
        let [a, b] = self.prior.concentration;
        let rest: f64 = self.sticks.iter().map(|&[x, y]| psi(y) - psi(x + y)).sum();
        self.concentration = [a + self.sticks.len() as f64, b - rest];
    }

    /// A round in the order of the fast code, each answer's bound being the best before an update.
    pub(super) fn round(&mut self) {
        self.renew_crowd();
        for i in 0..self.x.len() {
            let xi = self.best_xi();
            self.renew_object(i, &xi);
        }
        self.renew_components();
        self.renew_memberships();
        self.renew_sticks();
        let xi = self.best_xi();
        (0..self.u.len()).for_each(|w| self.renew_worker(w, &xi));
    }

    /// The bound, term by term, at given parameters of the answers' bounds.
    pub(super) fn bound(&self, xi: &[f64]) -> f64 {
        let (d, t) = (self.d(), self.components.len());
        let mut total = 0.0;
        for (&(w, a, b, said), &xi) in self.said.iter().zip(xi) {
            let (both, mean) = self.features(a, b);
            let square = (&both * &self.worker_second(w)).sum();
            total += -(1.0 + (-xi).exp()).ln() + 0.5 * (said * self.u[w].0.dot(&mean) - xi);
            total -= 0.5 * Self::curvature(xi) * (square - xi * xi);
        }
        for i in 0..self.x.len() {
            for c in 0..t {
                let q = self.q[[i, c]];
                if q > 0.0 {
                    total += q * (self.log_share(c) - q.ln());
                    total += 0.5 * q * (self.log_precision(c) - d as f64 * LN_2_PI);
                    total -= 0.5 * q * self.distance(i, c);
                }
            }
            total += 0.5 * (log_det(&self.x[i].1) + d as f64 * (1.0 + LN_2_PI));
        }
        let gamma = |[a, b]: [f64; 2], [a0, b0]: [f64; 2]| {
            let log = psi(a) - b.ln();
            let expected = a0 * b0.ln() - lgamma(a0) + (a0 - 1.0) * log - b0 * a / b;
            expected + a - b.ln() + lgamma(a) + (1.0 - a) * psi(a)
        };
        total += (0..t).map(|c| self.component_bound(c)).sum::<f64>();
        let [a, b] = self.concentration;
        for &[x, y] in &self.sticks {
            let rest = psi(y) - psi(x + y);
            let entropy =
                lgamma(x) + lgamma(y) - lgamma(x + y) - (x - 1.0) * psi(x) - (y - 1.0) * psi(y)
                    + (x + y - 2.0) * psi(x + y);
            total += psi(a) - b.ln() + (a / b - 1.0) * rest + entropy;
        }
        total += gamma(self.concentration, self.prior.concentration);
        total += self.spread.iter().map(|&s| gamma(s, self.prior.spread)).sum::<f64>();
        let n = self.crowd.len();
        for u in 0..n {
            let kind = usize::from(u + 1 == n);
            let ([a, b], own) = (self.spread[kind], self.prior.crowd[kind]);
            let apart = self.crowd[u] - self.own(u);
            total += 0.5 * (own.ln() - LN_2_PI - own * (apart * apart + self.crowd_variance[u]));
            total += 0.5 * (self.crowd_variance[u].ln() + 1.0 + LN_2_PI);
            for (mean, covariance) in &self.u {
                let apart = mean[u] - self.crowd[u];
                let square = apart * apart + covariance[[u, u]] + self.crowd_variance[u];
                total += 0.5 * (psi(a) - b.ln() - LN_2_PI - a / b * square);
            }
        }
        for (_, covariance) in &self.u {
            total += 0.5 * (log_det(covariance) + n as f64 * (1.0 + LN_2_PI));
        }
        total
    }

    /// Expected log-density of a component's mean and precision, and their entropy.
    fn component_bound(&self, c: usize) -> f64 {
        let d = self.d() as f64;
        let (mean, weight, scale, freedom) = &self.components[c];
        let (beta, nu) = (self.prior.mean_weight, d + self.prior.freedom);
        let start = Array2::<f64>::eye(self.d()) / (nu * self.prior.variance);
        let constant = |scale: &Array2<f64>, nu: f64| {
            let gammas: f64 = (1..=self.d()).map(|r| lgamma(0.5 * (nu + 1.0 - r as f64))).sum();
            -0.5 * nu * log_det(scale)
                - 0.5 * nu * d * 2_f64.ln()
                - 0.25 * d * (d - 1.0) * std::f64::consts::PI.ln()
                - gammas
        };
        let log = self.log_precision(c);
        let prior = 0.5 * (d * (beta.ln() - LN_2_PI) + log - d * beta / weight)
            - 0.5 * beta * freedom * mean.dot(&scale.dot(mean))
            + constant(&start, nu)
            + 0.5 * (nu - d - 1.0) * log
            - 0.5 * freedom * inverse(&start).dot(scale).diag().sum();
        let own = 0.5 * (d * (weight.ln() - LN_2_PI) + log - d)
            + constant(scale, *freedom)
            + 0.5 * (freedom - d - 1.0) * log
            - 0.5 * freedom * d;
        prior - own
    }
}
