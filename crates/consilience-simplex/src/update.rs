//! A batch of links and the weights that follow it.

use consilience_core::{Ensemble, Link, Observer, Pair, Result, Status};

use crate::parallel::{PARALLEL_FROM, in_pool};
use crate::rules::block::{Batch, evaluate, mean_errors};
use crate::rules::gram::{self, Gram};
use crate::rules::mirrored::MirroredPairs;
use crate::rules::pairs::{self, Pairs};
use crate::rules::solve::{Part, Problem};
use crate::rules::{Evaluation, PairLoss, UpdateRule, Violations};
use crate::tiles::Tiles;
use crate::weight_updater::WeightUpdater;
use crate::weights::Weights;

/// What an update did.
///
/// From [`WeightUpdater::update`].
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct UpdateReport {
    /// How the rule ended.
    pub status: Status,
    /// Iterations of the rule.
    pub iterations: usize,
    /// Links of the batch that were not known before; only these count.
    pub new_constraints: usize,
    /// `sum w loss + lambda |gamma - gamma_(t-1)|^2` over the new constraints at the weights
    /// before, as in [`ExactUpdate`](crate::ExactUpdate); the other rules report the squared loss
    /// with lambda the number of constraints.
    pub objective_before: f64,
    /// The same at the weights now.
    pub objective: f64,
    /// Certified: the objective is at most this part of itself (or of a thousandth per constraint,
    /// where that is more) above its minimum. `None` for rules and losses without a certificate.
    pub gap: Option<f64>,
    /// Members with weight now.
    pub support: Vec<usize>,
    /// New constraints that the weights before violate.
    pub before: Violations,
    /// New constraints that the weights now violate.
    pub after: Violations,
}

/// Constraints with the labels of their objects.
enum Constrained<'a> {
    /// All labels are known, and the rule needs each member's share of errors alone.
    Mirrored(MirroredPairs<'a>, Vec<f64>),
    /// All labels are known, and members and common clusters are few enough for bytes.
    Whole(Pairs),
    Gaps(Batch),
}

impl WeightUpdater {
    /// Moves the weights by a batch of links, all of it or nothing.
    ///
    /// Links that are known already, in this batch or from an earlier one, change nothing, and so
    /// does a batch without any new one. A link that only follows from others still counts. The
    /// links of a batch are followed sorted by kind and objects: their order changes nothing.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfRange`](consilience_core::ErrorKind::OutOfRange) for an object that does
    /// not exist, [`ErrorKind::Contradiction`](consilience_core::ErrorKind::Contradiction) with the
    /// chain for a link that cannot hold with all others,
    /// [`ErrorKind::TooLarge`](consilience_core::ErrorKind::TooLarge) where the memberships of the
    /// batch exceed the memory budget. The updater is then exactly as before.
    ///
    /// # Complexity
    /// As the [`UpdateRule`]; nothing in n.
    pub fn update(&mut self, batch: &[Pair]) -> Result<UpdateReport> {
        self.update_observed(batch, &())
    }

    /// As [`WeightUpdater::update`], with cancellation.
    ///
    /// # Errors
    /// As [`WeightUpdater::update`], and
    /// [`ErrorKind::Cancelled`](consilience_core::ErrorKind::Cancelled); the updater is then
    /// exactly as before.
    pub fn update_observed(
        &mut self,
        batch: &[Pair],
        observer: &dyn Observer,
    ) -> Result<UpdateReport> {
        self.update_together(batch, observer, |_, _| Ok(()))
    }

    /// As [`WeightUpdater::update_observed`], together with something else that follows the same
    /// links: `also` gets the ensemble and the new links of the batch. The weights change only
    /// where it succeeds.
    ///
    /// # Errors
    /// As [`WeightUpdater::update_observed`], and those of `also`; the updater is then exactly as
    /// before.
    pub fn update_together(
        &mut self,
        batch: &[Pair],
        observer: &dyn Observer,
        also: impl FnOnce(&Ensemble, &[Pair]) -> Result<()>,
    ) -> Result<UpdateReport> {
        self.update_renumbered(batch, |object| object, observer, also)
    }

    /// As [`WeightUpdater::update_together`] for links between objects that have another number
    /// here. They are sorted by their own numbers, so that what follows is the same wherever the
    /// objects stand.
    ///
    /// # Errors
    /// As [`WeightUpdater::update_together`], with the numbers here.
    #[doc(hidden)]
    pub fn update_renumbered(
        &mut self,
        batch: &[Pair],
        number: impl Fn(usize) -> usize,
        observer: &dyn Observer,
        also: impl FnOnce(&Ensemble, &[Pair]) -> Result<()>,
    ) -> Result<UpdateReport> {
        observer.check()?;
        let known = self.constraints.len();
        let here = |links: &[Pair]| -> Vec<Pair> {
            links.iter().map(|p| Pair::new(number(p.i), number(p.j), p.link)).collect()
        };
        let mut sorted = batch.to_vec();
        sorted.sort_unstable_by_key(|p| (p.link == Link::Cannot, p.i.min(p.j), p.i.max(p.j)));
        let added = self.constraints.extend(&here(&sorted));
        // An error names the first link in the order given that cannot be added.
        let new = added.or_else(|_| self.constraints.extend(&here(batch)))?;
        let followed = self.follow(known, new, observer).and_then(|done| {
            let links: Vec<_> = self.constraints.iter_from(known).collect();
            also(&self.ensemble, &links)?;
            Ok(done)
        });
        match followed {
            Ok((weights, report)) => {
                if new > 0 {
                    self.earlier = std::mem::replace(&mut self.weights, weights);
                    self.batches += 1;
                }
                Ok(report)
            }
            Err(error) => {
                self.constraints.truncate(known);
                Err(error)
            }
        }
    }

    /// The weights after the constraints from `known` on.
    fn follow(
        &self,
        known: usize,
        new: usize,
        observer: &dyn Observer,
    ) -> Result<(Weights, UpdateReport)> {
        let soft = "memberships of constrained objects";
        self.budgets.work.check_table(soft, new, self.n_clusters(), 64)?;
        if new == 0 {
            return Ok((self.weights.clone(), self.unchanged()));
        }
        if 2 * new * self.ensemble.n_members() < PARALLEL_FROM {
            return self.follow_new(known, new, observer);
        }
        in_pool(|| self.follow_new(known, new, observer))
    }

    /// The report of a batch without anything new.
    fn unchanged(&self) -> UpdateReport {
        UpdateReport {
            status: Status::Solved,
            iterations: 0,
            new_constraints: 0,
            objective_before: 0.0,
            objective: 0.0,
            gap: None,
            support: self.weights.support(),
            before: Violations::default(),
            after: Violations::default(),
        }
    }

    fn follow_new(
        &self,
        known: usize,
        new: usize,
        observer: &dyn Observer,
    ) -> Result<(Weights, UpdateReport)> {
        let (loss, exact) = (self.rule.loss(), matches!(self.rule, UpdateRule::Exact(_)));
        match self.batch(known, self.rule.balanced()) {
            Constrained::Mirrored(pairs, errors) => {
                let both = |after: &Weights| pairs.evaluations([&self.weights, after], loss);
                self.solve(new, &[], || errors, both, observer)
            }
            Constrained::Whole(pairs) => {
                let parts = match exact {
                    true => vec![Part::Gram(Gram::of(&pairs, loss))],
                    false => Vec::new(),
                };
                let both = |after: &Weights| pairs.evaluations([&self.weights, after], loss);
                self.solve(new, &parts, || pairs.mean_errors(), both, observer)
            }
            Constrained::Gaps(batch) => {
                let blocks = batch.blocks(self.n_clusters(), &self.weights);
                let parts: Vec<Part<'_>> = match exact {
                    true => blocks.iter().map(|b| Part::Pairs(b, loss)).collect(),
                    false => Vec::new(),
                };
                let both =
                    |after: &Weights| [None, Some(after)].map(|w| evaluate(&blocks, w, loss));
                let errors = || mean_errors(&blocks, self.ensemble.n_members());
                self.solve(new, &parts, errors, both, observer)
            }
        }
    }

    /// The constraints from `known` on with the labels of their objects.
    fn batch(&self, known: usize, balanced: bool) -> Constrained<'_> {
        let (ensemble, alignment, r) = (&self.ensemble, &self.alignment, self.n_clusters());
        let links = || self.constraints.iter_from(known);
        let exact = matches!(self.rule, UpdateRule::Exact(_));
        if let (Some(mirror), false) = (&self.mirror, exact) {
            let pairs = MirroredPairs::of(mirror, r, links(), balanced);
            if let Some(errors) = pairs.mean_errors() {
                return Constrained::Mirrored(pairs, errors);
            }
        }
        if r > pairs::MAX_CLUSTERS {
            return Constrained::Gaps(Batch::of(ensemble, alignment, links(), balanced));
        }
        let labels = |objects: &[u32]| match &self.mirror {
            Some(mirror) => mirror.tiles(objects),
            None => {
                let members: Vec<usize> = (0..ensemble.n_members()).collect();
                Tiles::gathered(ensemble, alignment, &members, objects)
            }
        };
        let pairs = Pairs::of(labels, r, links(), balanced);
        if pairs.gaps() || (exact && ensemble.n_members() > gram::MEMBERS) {
            return Constrained::Gaps(pairs.batch());
        }
        Constrained::Whole(pairs.filled())
    }

    /// What the rule makes of new constraints.
    fn solve(
        &self,
        new: usize,
        parts: &[Part<'_>],
        errors: impl FnOnce() -> Vec<f64>,
        evaluations: impl FnOnce(&Weights) -> [Evaluation; 2],
        observer: &dyn Observer,
    ) -> Result<(Weights, UpdateReport)> {
        let anchor = self.weights.gamma();
        let floor = 1e-3 * new as f64;
        let problem = Problem { parts, anchor: &anchor, lambda: self.rule.lambda(new), floor };
        let outcome = self.rule.apply(&problem, errors, &self.weights, &self.earlier, observer)?;
        let weights = Weights::nearest(&outcome.gamma);
        let [before, after] = evaluations(&weights);
        let objective = after.loss + problem.pull(&weights.gamma());
        let report = UpdateReport {
            status: outcome.status,
            iterations: outcome.iterations,
            new_constraints: new,
            objective_before: before.loss,
            objective,
            gap: outcome.lower.map(|lower| problem.relative(objective, lower)),
            support: weights.support(),
            before: before.violations,
            after: after.violations,
        };
        Ok((weights, report))
    }

    /// The links so far that the clustering by weights violates.
    ///
    /// # Complexity
    /// O(c (m + r)) for all c constraints.
    pub fn violations(&self) -> Violations {
        let (weights, loss) = (&self.weights, PairLoss::Squared);
        match self.batch(0, false) {
            Constrained::Mirrored(pairs, _) => {
                pairs.evaluations([weights, weights], loss)[0].violations
            }
            Constrained::Whole(pairs) => pairs.evaluations([weights, weights], loss)[0].violations,
            Constrained::Gaps(batch) => {
                evaluate(&batch.blocks(self.n_clusters(), weights), None, loss).violations
            }
        }
    }
}
