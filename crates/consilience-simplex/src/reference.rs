//! The papers' formulas on dense matrices, for tests.

use consilience_core::Link;
use consilience_core::Pair;
use consilience_num::simplex::project_simplex;
use ndarray::{Array1, Array2};

use crate::{PairLoss, WeightUpdater};

/// P_k for each member, n x r; a member without a label of an object takes the memberships.
pub(crate) fn dense(updater: &WeightUpdater) -> Vec<Array2<f64>> {
    let (n, r) = (updater.ensemble().n_objects(), updater.n_clusters());
    let f = memberships(updater).0;
    let members = updater.ensemble().members().iter().enumerate();
    members
        .map(|(u, member)| {
            let table = updater.alignment_of(u).unwrap();
            let mut p = Array2::zeros((n, r));
            for i in 0..n {
                match member.label(i).and_then(|l| table[l]) {
                    Some(c) => p[[i, c]] = 1.0,
                    None => p.row_mut(i).assign(&f.row(i)),
                }
            }
            p
        })
        .collect()
}

/// F, each object over the members that label it, and their share of the weight.
pub(crate) fn memberships(updater: &WeightUpdater) -> (Array2<f64>, Vec<f64>) {
    let (n, r) = (updater.ensemble().n_objects(), updater.n_clusters());
    let mut f = Array2::zeros((n, r));
    let gamma = updater.weights();
    for (u, member) in updater.ensemble().members().iter().enumerate() {
        let table = updater.alignment_of(u).unwrap();
        for i in 0..n {
            if let Some(c) = member.label(i).and_then(|l| table[l]) {
                f[[i, c]] += gamma[u];
            }
        }
    }
    let evidence: Vec<f64> = f.rows().into_iter().map(|row| row.sum()).collect();
    for (mut row, &e) in f.rows_mut().into_iter().zip(&evidence) {
        if e > 0.0 { row /= e } else { row.fill(1.0 / r as f64) }
    }
    (f, evidence)
}

/// Weights of must-links and cannot-links.
pub(crate) fn weights(links: &[Pair], balance: bool) -> (f64, f64) {
    let must = links.iter().filter(|l| l.link == Link::Must).count();
    let cannot = links.len() - must;
    if !balance || must == 0 || cannot == 0 {
        return (1.0, 1.0);
    }
    let half = links.len() as f64 / 2.0;
    (half / must as f64, half / cannot as f64)
}

/// 000 Eq. 8 and its gradient by Eq. 9, with the m x r matrices U and V of each pair.
pub(crate) struct Naive {
    pub(crate) p: Vec<Array2<f64>>,
    pub(crate) links: Vec<Pair>,
    pub(crate) balance: bool,
    pub(crate) anchor: Array1<f64>,
    pub(crate) lambda: f64,
    pub(crate) loss: PairLoss,
}

impl Naive {
    fn weight(&self, link: Link) -> f64 {
        let (must, cannot) = weights(&self.links, self.balance);
        if link == Link::Must { must } else { cannot }
    }

    /// Rows of all members for one object, m x r.
    fn rows(&self, i: usize) -> Array2<f64> {
        Array2::from_shape_fn((self.p.len(), self.p[0].ncols()), |(k, c)| self.p[k][[i, c]])
    }

    pub(crate) fn value(&self, gamma: &Array1<f64>) -> f64 {
        let pull = self.lambda * (gamma - &self.anchor).mapv(|d| d * d).sum();
        let pair = |&Pair { i, j, link }: &Pair| {
            let (a, b) = (gamma.dot(&self.rows(i)), gamma.dot(&self.rows(j)));
            self.weight(link)
                * match (self.loss, link) {
                    (PairLoss::Squared, Link::Must) => (&a - &b).mapv(|d| d * d).sum(),
                    (PairLoss::Squared, Link::Cannot) => (&a + &b).mapv(|d| d * d).sum(),
                    (PairLoss::Probability, Link::Must) => 1.0 - a.dot(&b),
                    (PairLoss::Probability, Link::Cannot) => a.dot(&b),
                }
        };
        pull + self.links.iter().map(pair).sum::<f64>()
    }

    pub(crate) fn gradient(&self, gamma: &Array1<f64>) -> Array1<f64> {
        let mut g = (gamma - &self.anchor) * (2.0 * self.lambda);
        for &Pair { i, j, link } in &self.links {
            let (a, b) = (self.rows(i), self.rows(j));
            let w = self.weight(link);
            match self.loss {
                PairLoss::Squared => {
                    let u = if link == Link::Must { &a - &b } else { &a + &b };
                    g = g + gamma.dot(&u.dot(&u.t())) * (2.0 * w);
                }
                PairLoss::Probability => {
                    let sign = if link == Link::Must { -w } else { w };
                    g = g + (a.dot(&gamma.dot(&b)) + b.dot(&gamma.dot(&a))) * sign;
                }
            }
        }
        g
    }

    /// Many plain projected gradient steps.
    pub(crate) fn solve(&self, steps: usize) -> Array1<f64> {
        let (must, cannot) = weights(&self.links, self.balance);
        let eta = 0.5
            / (self.lambda
                + 4.0 * self.p.len() as f64 * self.links.len() as f64 * must.max(cannot));
        let mut gamma = self.anchor.clone();
        for _ in 0..steps {
            gamma = gamma.clone() - self.gradient(&gamma) * eta;
            project_simplex(gamma.as_slice_mut().unwrap());
        }
        gamma
    }
}

/// 000 Eq. 11, iterated to its fixed point with a small step.
pub(crate) fn additive(
    updater: &WeightUpdater,
    links: &[Pair],
    step: f64,
    balance: bool,
) -> Vec<f64> {
    let (before, e) = (updater.weights(), errors(updater, links, balance));
    let (m, p) = (before.len() as f64, links.len() as f64);
    let lambda = p;
    let c = 2.0 * step * lambda / (m * p);
    let eta = 0.05 / lambda;
    let mut gamma = before.clone();
    for _ in 0..2000 {
        for u in 0..gamma.len() {
            gamma[u] = (1.0 - 2.0 * lambda * eta) * gamma[u] + 2.0 * lambda * eta * before[u]
                - c * eta * e[u];
        }
        project_simplex(&mut gamma);
    }
    gamma
}

/// Weighted sums of e^(ij): 1 for each pair that a member puts wrong.
pub(crate) fn errors(updater: &WeightUpdater, links: &[Pair], balance: bool) -> Vec<f64> {
    let (must, cannot) = weights(links, balance);
    let error = |p: &Array2<f64>| {
        let pair = |&Pair { i, j, link }: &Pair| {
            let together = p.row(i).dot(&p.row(j));
            if link == Link::Must { must * (1.0 - together) } else { cannot * together }
        };
        links.iter().map(pair).sum()
    };
    dense(updater).iter().map(error).collect()
}
