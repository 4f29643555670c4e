//! The thesis's Algorithm 1: stochastic subgradient steps on a matrix of rank r.

use consilience_core::{Observer, Result, Seed, Status};
use ndarray::Array2;

use super::sampling::Sampling;
use super::solve::{Rules, Solved, Spectrum, certificate, shrink, stretch};
use crate::product::product;

/// Step lengths fall like `1 / sqrt(1 + t / COOLING)`.
const COOLING: f64 = 20.0;

/// At step t a probing matrix H (k x r, `E[H H'] = I`) gives the estimate `G H H'` of the gradient
/// G, and `M <- Pi(M - eta_t G H H')`, where Pi takes the r largest eigenvalues of the symmetric
/// part less eta_t.
pub(super) fn descend(
    sampling: &Sampling,
    rules: &Rules,
    rank: usize,
    seed: Seed,
    observer: &dyn Observer,
) -> Result<Solved> {
    let k = sampling.order();
    let rank = rank.clamp(1, k.max(1));
    let mut stream = seed.derive("probing", 0).stream();
    let length = rules.c * stretch(sampling).max(f64::MIN_POSITIVE);
    // The estimate is longer than the gradient by about this much.
    let first = 1.0 / (length * (1.0 + k as f64 / rank as f64));
    let mut spectrum = Spectrum::zero(k);
    let mut best = (f64::INFINITY, spectrum.clone());
    for t in 0..rules.max_iterations {
        observer.check()?;
        let seen = sampling.forward(spectrum.vectors.view(), &spectrum.values);
        let fall: Vec<f64> =
            sampling.target().iter().zip(&seen).map(|(s, f)| rules.c * (s - f)).collect();
        let value = spectrum.values.iter().map(|v| v.abs()).sum::<f64>()
            + fall.iter().map(|f| f * f).sum::<f64>() / (2.0 * rules.c);
        if value < best.0 {
            best = (value, spectrum.clone());
        }
        let spread = 1.0 / (rank as f64).sqrt();
        let h = Array2::from_shape_simple_fn((k, rank), || stream.normal() * spread);
        let estimate = product(product(sampling.adjoint(&fall).view(), h.view()).view(), h.t());
        let eta = first / (1.0 + t as f64 / COOLING).sqrt();
        let moved = spectrum.matrix() + (&estimate + &estimate.t()) * (0.5 * eta);
        let Some(found) = shrink(&moved, eta, rules.semidefinite) else { break };
        spectrum = found.leading(rank);
    }
    let (objective, gap) = certificate(sampling, rules, &best.1);
    let status = if gap <= rules.tolerance { Status::Solved } else { Status::MaxIterations };
    Ok(Solved { m: best.1, objective, gap, iterations: rules.max_iterations, status })
}
