//! How probable answers are under soft clusters, to choose between models by.

use consilience_core::{Observer, Result};
use libm::lgamma;
use ndarray::ArrayView2;

use crate::answers::Answers;
use crate::expected_counts::{ExpectedCounts, Shrinkage};
use crate::likelihood::bernoulli;
use crate::memberships::ln_share;
use crate::rates::{OWN, Rates};

/// Expected log-probability (nats) of the answers and clusters, plus the entropy of the
/// memberships.
///
/// Where workers have rates between clusters of their own, these are integrated out under Beta
/// priors about what the crowd expects: a rate for every worker and every two clusters explains any
/// answers better, and this is what it has to be worth. The priors are those that the rates are
/// shrunk by where workers answer pairs; of workers who sort many items into groups, whose answers
/// repeat each other, the rates are shrunk more than that.
pub(crate) fn evidence(
    answers: &Answers,
    q: ArrayView2<'_, f64>,
    shrinkage: Shrinkage,
    observer: &dyn Observer,
) -> Result<f64> {
    observer.check()?;
    let k = q.ncols();
    let counts = ExpectedCounts::of(answers, q, Shrinkage { by_worker: true, ..shrinkage }).0;
    let own = counts.between.as_ref().and_then(|between| between.of_workers.as_ref());
    let rates = Rates::without_own(&counts, shrinkage);
    let mut total = 0.0;
    for w in 0..answers.n_workers() {
        for c in 0..k {
            let (yes, all) = (counts.same[[w, c]], counts.within[[w, c]]);
            total += bernoulli(yes, all, rates.within[[w, c]]);
            let Some(own) = own else { continue };
            for d in 0..c {
                let at = (w * k + c) * k + d;
                let (yes, all, p) = (own.same[at], own.all[at], rates.across(w, c, d));
                total += if shrinkage.by_worker {
                    beta_binomial(yes, all, p)
                } else {
                    bernoulli(yes, all, p)
                };
            }
        }
        if own.is_none() {
            total += bernoulli(counts.same_apart[w], counts.apart[w], rates.apart[w]);
        }
    }
    let share = ln_share(q);
    for row in q.rows() {
        for (&x, s) in row.iter().zip(&share).filter(|(x, _)| **x > 0.0) {
            total += x * (s - x.ln());
        }
    }
    Ok(total)
}

/// Log-probability of `yes` of `all` draws in a given order, their rate having a Beta prior of mean
/// p that counts as `OWN` draws.
fn beta_binomial(yes: f64, all: f64, p: f64) -> f64 {
    let rising = |x: f64, times: f64| lgamma(x + times) - lgamma(x);
    if all > 0.0 {
        rising(OWN * p, yes) + rising(OWN * (1.0 - p), all - yes) - rising(OWN, all)
    } else {
        0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_integrated_out_are_predictions_multiplied() {
        // Three of four draws, in any order.
        let (a, b) = (OWN * 0.3, OWN * 0.7);
        let expected =
            a * (a + 1.0) * b * (a + 2.0) / (OWN * (OWN + 1.0) * (OWN + 2.0) * (OWN + 3.0));
        assert!((beta_binomial(3.0, 4.0, 0.3) - expected.ln()).abs() < 1e-12);
        assert_eq!(beta_binomial(0.0, 0.0, 0.3), 0.0);
        // A worker who answers as is expected gains nothing, one who does not gains much.
        assert!(beta_binomial(30.0, 100.0, 0.3) < bernoulli(30.0, 100.0, 0.3));
        assert!(beta_binomial(90.0, 100.0, 0.3) > bernoulli(90.0, 100.0, 0.3) + 50.0);
    }
}
