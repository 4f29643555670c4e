//! What a disagreement between an observed frequency and a probability costs.

use std::fmt;

use consilience_core::{Error, Result};

use crate::kernel::vectorised;

/// Denominators below this are raised to it: no 0/0, and no term that is 0 becomes anything else.
const FLOOR: f64 = 1e-100;

/// One direction through the pairs of an object: minimize
/// `sum_j weights[j] d(observed[j], current[j] + e slopes[j])` over the step e. What
/// [`Divergence::exact_step`] gets.
#[derive(Clone, Copy, Debug)]
pub struct Line<'a> {
    /// u: observed frequencies.
    pub observed: &'a [f64],
    /// v at step 0.
    pub current: &'a [f64],
    /// Change of v per unit of step.
    pub slopes: &'a [f64],
    /// Weight of each term; those without evidence weigh 0.
    pub weights: &'a [f64],
}

/// A double-convex Bregman divergence between the two-point distributions `(u, 1 - u)` and
/// `(v, 1 - v)`: what probabilistic consensus charges for predicting v where u was observed.
///
/// [`KullbackLeibler`] (the default: maximum likelihood) and [`SquaredEuclidean`] are built in.
/// Write your own where mistakes cost something else; `value` and `derivative` are enough, the rest
/// makes it faster. It must be 0 at `u = v`, never negative, and convex in v; [`check_divergence`]
/// looks, and [`Pcc`](crate::Pcc) calls it.
///
/// A worked example is the beta divergence of exponent 3/2, half way between the two that are built
/// in. With `phi'' = x^(beta - 2)` it is convex in v for every beta in 1..=2:
///
/// ```
/// use consilience::{ConsensusFunction, Ensemble, Partition};
/// use consilience::bregman::{Divergence, Pcc, check_divergence};
///
/// #[derive(Debug)]
/// struct Beta;
///
/// impl Divergence for Beta {
///     fn name(&self) -> &str {
///         "beta 3/2"
///     }
///     fn value(&self, u: f64, v: f64) -> f64 {
///         let half = |u: f64, v: f64| {
///             (u.powf(1.5) + 0.5 * v.powf(1.5) - 1.5 * u * v.sqrt()) / 0.75
///         };
///         half(u, v) + half(1.0 - u, 1.0 - v)
///     }
///     fn derivative(&self, u: f64, v: f64) -> f64 {
///         (v - u) * (1.0 / v.max(1e-12).sqrt() + 1.0 / (1.0 - v).max(1e-12).sqrt())
///     }
/// }
///
/// check_divergence(&Beta)?;
/// let ensemble = Ensemble::new(vec![
///     Partition::from_labels(&[0, 0, 0, 1, 1, 1])?,
///     Partition::from_labels(&[0, 0, 1, 1, 1, 1])?,
/// ])?;
/// let soft = Pcc::new(2).divergence(Beta).consensus(&ensemble)?;
/// let between = soft.values()[[2, 0]];
/// assert!(0.2 < between && between < 0.8);
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # References
/// Lourenço et al. 2015, Section 4, Eq. 3 and Table 1.
pub trait Divergence: fmt::Debug + Send + Sync {
    /// The name for reports.
    fn name(&self) -> &str;

    /// d(u, v) for u and v in `0..=1`; may be infinite where v is 0 or 1.
    fn value(&self, u: f64, v: f64) -> f64;

    /// Derivative in v. Never NaN; large instead of infinite at the ends.
    fn derivative(&self, u: f64, v: f64) -> f64;

    /// Second derivative in v, at least 0. It only steers the steps: the default, a difference of
    /// derivatives, costs time and no accuracy.
    fn curvature(&self, u: f64, v: f64) -> f64 {
        let h = 1e-5;
        let (low, high) = ((v - h).max(0.0), (v + h).min(1.0));
        ((self.derivative(u, high) - self.derivative(u, low)) / (high - low)).max(0.0)
    }

    /// The best step along a line where it has a closed form; `None` leaves it to safeguarded
    /// Newton steps. Steps outside the feasible interval are cut by the caller.
    fn exact_step(&self, line: &Line<'_>) -> Option<f64> {
        let _ = line;
        None
    }

    /// Derivatives of many pairs at once; the slices have equal lengths.
    fn derivatives(&self, u: &[f64], v: &[f64], out: &mut [f64]) {
        for ((o, &u), &v) in out.iter_mut().zip(u).zip(v) {
            *o = self.derivative(u, v);
        }
    }

    /// First and second derivatives of many pairs at once.
    fn both_derivatives(&self, u: &[f64], v: &[f64], first: &mut [f64], second: &mut [f64]) {
        for (((f, s), &u), &v) in first.iter_mut().zip(second).zip(u).zip(v) {
            *f = self.derivative(u, v);
            *s = self.curvature(u, v);
        }
    }
}

/// The Kullback-Leibler divergence: with it the consensus is the maximum-likelihood one, every pair
/// count being a binomial draw.
///
/// `d(u, v) = u ln(u/v) + (1-u) ln((1-u)/(1-v))`, infinite where an observed event has probability
/// 0.
///
/// ```
/// use consilience::bregman::{Divergence, KullbackLeibler};
///
/// assert_eq!(KullbackLeibler.value(0.3, 0.3), 0.0);
/// assert_eq!(KullbackLeibler.value(1.0, 0.5), 2f64.ln());
/// assert_eq!(KullbackLeibler.value(0.5, 0.0), f64::INFINITY);
/// ```
///
/// # References
/// Lourenço et al. 2015, Eq. 1 and Proposition 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KullbackLeibler;

impl Divergence for KullbackLeibler {
    fn name(&self) -> &str {
        "kl"
    }

    fn value(&self, u: f64, v: f64) -> f64 {
        let half = |u: f64, v: f64| if u > 0.0 { u * (u / v.max(0.0)).ln() } else { 0.0 };
        half(u, v) + half(1.0 - u, 1.0 - v)
    }

    #[inline(always)]
    fn derivative(&self, u: f64, v: f64) -> f64 {
        let (v, w) = (v.max(FLOOR), (1.0 - v).max(FLOOR));
        ((1.0 - u) * v - u * w) * (1.0 / (v * w))
    }

    #[inline(always)]
    fn curvature(&self, u: f64, v: f64) -> f64 {
        let (v, w) = (v.max(FLOOR), (1.0 - v).max(FLOOR));
        // The one division that the derivative has too.
        let inverse = 1.0 / (v * w);
        let (v, w) = (w * inverse, v * inverse);
        u * v * v + (1.0 - u) * w * w
    }

    fn derivatives(&self, u: &[f64], v: &[f64], out: &mut [f64]) {
        vectorised! {
            fn run<'a>(u: &'a [f64], v: &'a [f64], out: &'a mut [f64]) {
                for ((o, &u), &v) in out.iter_mut().zip(u).zip(v) {
                    *o = KullbackLeibler.derivative(u, v);
                }
            }
        }
        run(u, v, out);
    }

    fn both_derivatives(&self, u: &[f64], v: &[f64], first: &mut [f64], second: &mut [f64]) {
        vectorised! {
            fn run<'a>(u: &'a [f64], v: &'a [f64], first: &'a mut [f64], second: &'a mut [f64]) {
                for (((f, s), &u), &v) in first.iter_mut().zip(second).zip(u).zip(v) {
                    *f = KullbackLeibler.derivative(u, v);
                    *s = KullbackLeibler.curvature(u, v);
                }
            }
        }
        run(u, v, first, second);
    }
}

/// The squared Euclidean distance of the two-point distributions: bounded, so that single odd pairs
/// matter less, and the fastest.
///
/// `d(u, v) = 2 (u - v)^2`.
///
/// ```
/// use consilience::bregman::{Divergence, SquaredEuclidean};
///
/// assert_eq!(SquaredEuclidean.value(1.0, 0.5), 0.5);
/// assert_eq!(SquaredEuclidean.derivative(1.0, 0.5), -2.0);
/// ```
///
/// # References
/// Lourenço et al. 2015, Section 4.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SquaredEuclidean;

impl Divergence for SquaredEuclidean {
    fn name(&self) -> &str {
        "l2"
    }

    fn value(&self, u: f64, v: f64) -> f64 {
        2.0 * (u - v) * (u - v)
    }

    #[inline(always)]
    fn derivative(&self, u: f64, v: f64) -> f64 {
        4.0 * (v - u)
    }

    #[inline(always)]
    fn curvature(&self, _: f64, _: f64) -> f64 {
        4.0
    }

    fn exact_step(&self, line: &Line<'_>) -> Option<f64> {
        let (mut slope, mut curvature) = (0.0, 0.0);
        let terms =
            line.observed.iter().zip(line.current).zip(line.slopes.iter().zip(line.weights));
        for ((&u, &v), (&q, &w)) in terms {
            slope += w * (v - u) * q;
            curvature += w * q * q;
        }
        (curvature > 0.0).then(|| -slope / curvature)
    }

    fn both_derivatives(&self, u: &[f64], v: &[f64], first: &mut [f64], second: &mut [f64]) {
        self.derivatives(u, v, first);
        second.fill(4.0);
    }
}

/// Refuses a divergence that is not what [`Divergence`] promises, on a grid over u and v.
///
/// Looked at are: 0 at `u = v`, no negative or NaN value, a curvature of at least 0, and between
/// neighbouring v the inequality `d'(v1) <= (d(v2) - d(v1)) / (v2 - v1) <= d'(v2)`, which holds
/// everywhere exactly where d is convex in v and `derivative` is its derivative.
///
/// ```
/// use consilience::bregman::{Divergence, KullbackLeibler, check_divergence};
///
/// check_divergence(&KullbackLeibler)?;
///
/// /// The beta divergence of exponent 1/2: Bregman, but not convex in its second argument.
/// #[derive(Debug)]
/// struct Half;
/// impl Divergence for Half {
///     fn name(&self) -> &str {
///         "beta 1/2"
///     }
///     fn value(&self, u: f64, v: f64) -> f64 {
///         let half = |u: f64, v: f64| 2.0 * v.sqrt() + 2.0 * u / v.sqrt() - 4.0 * u.sqrt();
///         half(u, v) + half(1.0 - u, 1.0 - v)
///     }
///     fn derivative(&self, u: f64, v: f64) -> f64 {
///         (v - u) * (v.powf(-1.5) + (1.0 - v).powf(-1.5))
///     }
/// }
/// let error = check_divergence(&Half).unwrap_err();
/// assert!(error.message().contains("convex"));
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Errors
/// [`ErrorKind::InvalidParameter`](consilience_core::ErrorKind::InvalidParameter) with the place
/// where it fails.
pub fn check_divergence(divergence: &dyn Divergence) -> Result<()> {
    const STEPS: usize = 64;
    let name = divergence.name();
    let grid = |i: usize| i as f64 / STEPS as f64;
    for u in (0..=STEPS).step_by(4).map(grid) {
        for i in 1..STEPS {
            let v = grid(i);
            let (value, slope, curvature) =
                (divergence.value(u, v), divergence.derivative(u, v), divergence.curvature(u, v));
            let fail = |what: String| {
                Err(Error::invalid(format!("divergence {name} at u = {u}, v = {v}: {what}")))
            };
            let room = 1e-9 * (1.0 + value.abs() + slope.abs());
            if !(value >= -room) || value.is_infinite() {
                return fail(format!("value {value}; expected finite and at least 0"));
            }
            if u == v && value > room {
                return fail(format!("value {value}; expected 0 where u = v"));
            }
            if !slope.is_finite() || !(curvature >= 0.0) || curvature.is_infinite() {
                return fail(format!(
                    "derivatives {slope} and {curvature}; expected finite, the second >= 0"
                ));
            }
            if i + 1 == STEPS {
                continue;
            }
            let next = grid(i + 1);
            let (after, secant) =
                (divergence.derivative(u, next), (divergence.value(u, next) - value) / (next - v));
            let room = 1e-6 * (1.0 + slope.abs().max(after.abs()));
            if !(slope - room <= secant && secant <= after + room) {
                return fail(format!(
                    "derivative {slope}, {after} at v = {next}, and {secant} between them: not \
                     convex in its second argument, or no derivative of the value"
                ));
            }
        }
    }
    Ok(())
}
