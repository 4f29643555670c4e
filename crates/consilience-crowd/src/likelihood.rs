//! Log-odds and the likelihood of answers.

/// Log-likelihood of `yes` of `all` draws at rate p; 0 for no draws, whatever the rate.
pub(crate) fn bernoulli(yes: f64, all: f64, p: f64) -> f64 {
    let part = |count: f64, p: f64| if count > 0.0 { count * p.ln() } else { 0.0 };
    part(yes, p) + part(all - yes, 1.0 - p)
}

pub(crate) fn logit(p: f64) -> f64 {
    (p / (1.0 - p)).ln()
}

pub(crate) fn logistic(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}
