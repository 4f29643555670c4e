//! The thesis's Algorithm 1: stochastic subgradient steps on a matrix of rank r that stays
//! factored.

use consilience_core::{Observer, Result, Seed, Status};
use consilience_num::eigen::symmetric_eigen;
use ndarray::{Array2, ArrayView1, ArrayView2, Axis, concatenate, s};

use super::sampling::Sampling;
use super::solve::{Rules, Solved, Spectrum, certificate};
use crate::product::product;
use crate::qr::{ROUNDING, qr};

/// Step lengths fall like `1 / sqrt(1 + t / COOLING)`; the thesis leaves them open.
const COOLING: f64 = 20.0;
/// Products that start the search for a step length.
const POWER: usize = 12;

/// `M = U diag(sigma) V'` with at most r columns, `U'U = V'V = I`.
#[derive(Clone, Debug)]
pub(super) struct Factors {
    /// k x r.
    pub(super) u: Array2<f64>,
    /// Descending, above 0.
    pub(super) sigma: Vec<f64>,
    /// k x r.
    pub(super) v: Array2<f64>,
}

impl Factors {
    pub(super) fn zero(k: usize) -> Self {
        Factors { u: Array2::zeros((k, 0)), sigma: Vec::new(), v: Array2::zeros((k, 0)) }
    }

    /// `U diag(sigma)`.
    fn left(&self) -> Array2<f64> {
        &self.u * &ArrayView1::from(&self.sigma)
    }

    /// What is missing in the similarity of every pair, both ways round: M need not be symmetric.
    pub(super) fn residuals(&self, sampling: &Sampling) -> [Vec<f64>; 2] {
        let seen = sampling.both_ways(self.left().view(), self.v.view());
        seen.map(|seen| seen.iter().zip(sampling.target()).map(|(f, s)| f - s).collect())
    }

    /// `[U S, B] [V, -eta H]'` cut to its `rank` leading singular triplets (lines 5 to 14), where
    /// `B = (U V' + C Z' R Z) H` and R holds the residuals.
    pub(super) fn step(
        &self,
        sampling: &Sampling,
        residuals: &[Vec<f64>; 2],
        rules: StepRules,
        h: ArrayView2<'_, f64>,
    ) -> Option<Self> {
        let own = product(self.u.view(), product(self.v.t(), h).view());
        let b = own + sampling.probe(residuals, h) * rules.c;
        let (left, right) = (self.left(), h.to_owned() * -rules.eta);
        let wide_u = concatenate(Axis(1), &[left.view(), b.view()]).ok()?;
        let wide_v = concatenate(Axis(1), &[self.v.view(), right.view()]).ok()?;
        let ((q_u, r_u), (q_v, r_v)) = (qr(wide_u), qr(wide_v));
        let (m, sigma, n) = singular(&product(r_u.view(), r_v.t()), rules.rank)?;
        Some(Factors { u: product(q_u.view(), m.view()), sigma, v: product(q_v.view(), n.view()) })
    }

    /// Line 15: the `rank` leading eigenpairs of the symmetric part, less `threshold`. Only the
    /// factors are decomposed.
    pub(super) fn shrunk(&self, rank: usize, threshold: f64) -> Option<Spectrum> {
        let q = self.sigma.len();
        let (basis, r) = qr(concatenate(Axis(1), &[self.u.view(), self.v.view()]).ok()?);
        let half = Array2::from_shape_fn((2 * q, 2 * q), |(i, j)| {
            if i.abs_diff(j) == q { 0.5 * self.sigma[i.min(j)] } else { 0.0 }
        });
        let small = product(product(r.view(), half.view()).view(), r.t());
        let eigen = symmetric_eigen(((&small + &small.t()) * 0.5).view())?;
        let values: Vec<f64> = eigen
            .values
            .iter()
            .take(rank)
            .map(|v| v - threshold)
            .take_while(|&v| v > ROUNDING * eigen.values[0])
            .collect();
        let vectors = product(basis.view(), eigen.vectors.slice(s![.., ..values.len()]));
        Some(Spectrum { vectors, values })
    }
}

/// C, the length of a step, and r.
#[derive(Clone, Copy, Debug)]
pub(super) struct StepRules {
    pub(super) c: f64,
    pub(super) eta: f64,
    pub(super) rank: usize,
}

/// At step t a probing matrix H (k x r, `E[H H'] = I`) gives the estimate `G H H'` of a subgradient
/// `G = U V' + C Z' P(Z M Z' - S) Z`, and M moves by `-eta_t G H H'` and is cut to rank r. No
/// matrix of k x k is formed. The best M on the way is taken, and its eigenvalues are shrunk by
/// `threshold`, which is 1 for orthonormal columns Z.
pub(super) fn descend(
    sampling: &Sampling,
    rules: &Rules,
    threshold: f64,
    rank: usize,
    seed: Seed,
    observer: &dyn Observer,
) -> Result<Solved> {
    let k = sampling.order();
    let rank = rank.clamp(1, k.max(1));
    let mut stream = seed.derive("probing", 0).stream();
    // The estimate is longer than the subgradient by about 1 + k / r.
    let length = rules.c * stretch(sampling, seed, observer)?.max(f64::MIN_POSITIVE);
    let first = 1.0 / (length * (1.0 + k as f64 / rank as f64));
    let mut m = Factors::zero(k);
    let mut best = (f64::INFINITY, m.clone());
    for t in 0..rules.max_iterations {
        observer.check()?;
        let residuals = m.residuals(sampling);
        let squares: f64 = residuals.iter().flatten().map(|r| r * r).sum();
        let value = m.sigma.iter().sum::<f64>() + 0.25 * rules.c * squares;
        if value < best.0 {
            best = (value, m.clone());
        }
        let spread = 1.0 / (rank as f64).sqrt();
        let h = Array2::from_shape_simple_fn((k, rank), || stream.normal() * spread);
        let eta = first / (1.0 + t as f64 / COOLING).sqrt();
        let step = StepRules { c: rules.c, eta, rank };
        let Some(next) = m.step(sampling, &residuals, step, h.view()) else { break };
        m = next;
    }
    let found = best.1.shrunk(rank, threshold).unwrap_or_else(|| Spectrum::zero(k));
    let (objective, gap) = certificate(sampling, rules, &found);
    let status = if gap <= rules.tolerance { Status::Solved } else { Status::MaxIterations };
    Ok(Solved { m: found, objective, gap, iterations: rules.max_iterations, status })
}

/// Largest factor by which the map stretches a matrix of rank 1, squared, from below: by products
/// with one vector.
fn stretch(sampling: &Sampling, seed: Seed, observer: &dyn Observer) -> Result<f64> {
    let k = sampling.order();
    let mut stream = seed.derive("stretch", 0).stream();
    let mut x = Array2::from_shape_simple_fn((k, 1), || stream.normal());
    let mut square = 0.0;
    for _ in 0..POWER {
        observer.check()?;
        let norm = x.iter().map(|v| v * v).sum::<f64>().sqrt();
        if !(norm > 0.0 && norm.is_finite()) {
            break;
        }
        x /= norm;
        let seen = sampling.both_ways(x.view(), x.view());
        square = seen[0].iter().map(|w| w * w).sum();
        x = sampling.probe(&seen, x.view());
    }
    Ok(square)
}

/// The at most `rank` leading singular triplets of a small matrix: the eigenpairs above 0 of
/// `[0 K; K' 0]`, which squares nothing.
fn singular(k: &Array2<f64>, rank: usize) -> Option<(Array2<f64>, Vec<f64>, Array2<f64>)> {
    let m = k.nrows();
    let mut both = Array2::zeros((2 * m, 2 * m));
    both.slice_mut(s![..m, m..]).assign(k);
    both.slice_mut(s![m.., ..m]).assign(&k.t());
    let eigen = symmetric_eigen(both.view())?;
    let floor = ROUNDING * eigen.values.first().copied().unwrap_or(0.0);
    let sigma: Vec<f64> =
        eigen.values.iter().copied().take(rank.min(m)).take_while(|&v| v > floor).collect();
    let vectors = eigen.vectors.slice(s![.., ..sigma.len()]).to_owned() * 2f64.sqrt();
    Some((vectors.slice(s![..m, ..]).to_owned(), sigma, vectors.slice(s![m.., ..]).to_owned()))
}
