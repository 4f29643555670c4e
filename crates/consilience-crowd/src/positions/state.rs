//! All factors, and a round of updates.

use consilience_num::eigen::symmetric_eigen;
use ndarray::Array2;

use super::layout::Layout;
use super::mixture::Mixture;
use super::objects::Objects;
use super::prior::Prior;
use super::small::Shape;
use super::workers::Workers;
use crate::likelihood::logit;

/// Variance of each coordinate of a position at the start.
const VARIANCE: f64 = 0.1;
/// Answers that the crowd's share of "same" counts as between any two clusters of a start.
const PSEUDO: f64 = 4.0;
/// The probability that the label of a start is right.
const SURE: f64 = 0.9;

/// What does not change while the model is fitted.
pub(super) struct Fixed<'a> {
    pub(super) layout: &'a Layout,
    pub(super) shape: Shape,
    pub(super) prior: Prior,
    /// Most components.
    pub(super) truncation: usize,
    /// Starts on their way at the same time.
    pub(super) abreast: usize,
}

/// The factors of everything unknown.
#[derive(Clone, Debug)]
pub(super) struct State {
    pub(super) objects: Objects,
    pub(super) workers: Workers,
    pub(super) mixture: Mixture,
}

impl State {
    /// From labels: objects where the answers between the clusters would have them.
    pub(super) fn start(fixed: &Fixed<'_>, labels: &[u32]) -> Self {
        let Fixed { layout, shape, prior, truncation, .. } = fixed;
        let k = labels.iter().max().map_or(1, |&c| c as usize + 1).min(*truncation);
        let (places, tau) = places(layout, labels, k, shape.d);
        let mean = labels.iter().flat_map(|&c| places.row(c as usize).to_vec()).collect();
        let objects = Objects::start(shape, mean, VARIANCE);
        let rest = (1.0 - SURE) / k as f64;
        let mut q = vec![0.0; labels.len() * truncation];
        for (row, &label) in q.chunks_exact_mut(*truncation).zip(labels) {
            row[..k].fill(rest);
            row[label as usize] += SURE;
        }
        let mixture = Mixture::start(shape, prior, q, *truncation, &objects);
        let workers = Workers::start(shape, prior, layout.n_workers(), tau);
        let mut state = State { objects, workers, mixture };
        state.workers.renew(shape, layout, &state.objects);
        state
    }

    /// Every factor once, all others fixed; returns the largest change of a membership.
    pub(super) fn round(&mut self, fixed: &Fixed<'_>) -> f64 {
        let Fixed { layout, shape, prior, .. } = fixed;
        self.workers.renew_crowd(shape, prior);
        self.objects.renew(shape, layout, &self.workers, &self.mixture);
        self.mixture.renew_components(shape, prior, &self.objects);
        let change = self.mixture.renew_memberships(shape, &self.objects);
        self.mixture.renew_sticks(prior);
        self.workers.renew(shape, layout, &self.objects);
        change
    }

    /// Gives the objects of component b to a.
    pub(super) fn merge(&mut self, fixed: &Fixed<'_>, a: usize, b: usize) {
        let Fixed { shape, prior, .. } = fixed;
        self.mixture.merge(a, b);
        self.mixture.renew_components(shape, prior, &self.objects);
        self.mixture.renew_sticks(prior);
    }

    /// The bound on the logarithm of the probability of the answers.
    pub(super) fn bound(&self, fixed: &Fixed<'_>) -> f64 {
        let Fixed { layout, shape, prior, .. } = fixed;
        self.workers.answers(shape, layout, &self.objects)
            + self.workers.bound(shape, prior)
            + self.objects.entropy(shape)
            + self.mixture.bound(shape, prior, &self.objects)
    }
}

/// A position for each cluster, k x D, such that inner products and tau are near the log-odds of
/// "same" between them.
fn places(layout: &Layout, labels: &[u32], k: usize, d: usize) -> (Array2<f64>, f64) {
    let (same, all) = between(layout, labels, k);
    let share = (same.sum() + 1.0) / (all.sum() + 2.0);
    let mut odds = (&same + PSEUDO * share) / (&all + PSEUDO);
    odds.mapv_inplace(logit);
    let apart = odds.sum() - odds.diag().sum();
    let tau = if k > 1 { apart / (k * (k - 1)) as f64 } else { 0.5 * logit(share) };
    odds -= tau;
    let mut places = Array2::zeros((k, d));
    let Some(eigen) = symmetric_eigen(odds.view()) else { return (places, tau) };
    // Eigenvalues descend.
    let leading = eigen.values.iter().zip(eigen.vectors.columns());
    for (mut column, (value, vector)) in places.columns_mut().into_iter().zip(leading) {
        column.assign(&vector);
        column *= value.max(0.0).sqrt();
    }
    (places, tau)
}

/// Answers "same" and all answers by the clusters of the two objects: k x k, symmetric, a pair
/// inside a cluster counted twice.
fn between(layout: &Layout, labels: &[u32], k: usize) -> (Array2<f64>, Array2<f64>) {
    let (mut same, mut all) = (Array2::zeros((k, k)), Array2::zeros((k, k)));
    let count = |to: &mut Array2<f64>, clusters: &[usize]| {
        let mut sizes = vec![0.0; k];
        clusters.iter().for_each(|&c| sizes[c] += 1.0);
        let present: Vec<usize> = (0..k).filter(|&c| sizes[c] > 0.0).collect();
        for &c in &present {
            present.iter().for_each(|&e| to[[c, e]] += sizes[c] * sizes[e]);
            to[[c, c]] -= sizes[c];
        }
    };
    for t in 0..layout.n_tasks() {
        let task = layout.task(t);
        let clusters: Vec<usize> =
            task.items.iter().map(|&i| labels[i as usize] as usize).collect();
        count(&mut all, &clusters);
        let mut from = 0;
        for group in task.groups.chunk_by(|a, b| a == b) {
            count(&mut same, &clusters[from..from + group.len()]);
            from += group.len();
        }
    }
    (same, all)
}
