use std::sync::Arc;

use consilience_core::{
    Constraints, Ensemble, Error, MemoryBudget, Observer, Pair, Result, Status,
};

use crate::alignment::Alignment;
use crate::mirror::Mirror;
use crate::parallel::{PARALLEL_FROM, in_pool};
use crate::rules::block::{Batch, evaluate, mean_errors};
use crate::rules::gram::{self, Gram};
use crate::rules::mirrored::MirroredPairs;
use crate::rules::pairs::{self, Pairs};
use crate::rules::solve::{Part, Problem};
use crate::rules::{Evaluation, PairLoss, UpdateRule, Violations};
use crate::tiles::Tiles;
use crate::weighted_members::WeightedMembers;
use crate::weights::Weights;

/// Weights of the members of an ensemble that follow must-links and cannot-links.
///
/// The m members are aligned to r common clusters. Each has a weight, and the weighted mean of the
/// members is a soft clustering
///
/// ```text
/// F = sum_u gamma_u P_u,     gamma_u >= 0,   sum_u gamma_u = 1.
/// ```
///
/// A batch of links moves the weights gamma and nothing else, so that an update costs the same for
/// a thousand objects and for ten million; objects get their labels when they are read out. Use it
/// where the weights themselves are wanted, or the papers' methods. The updater of the crate
/// `consilience-follow` combines it with a learned metric, which is mostly more accurate; where no
/// links come, use a [`ConsensusFunction`](consilience_core::ConsensusFunction).
///
/// ```
/// use consilience_core::{Ensemble, Pair};
/// use consilience_simplex::WeightUpdater;
/// use ndarray::array;
///
/// // Two members group by shape, one by colour; the links mean colour.
/// let ensemble = Ensemble::from_array(array![
///     [0, 0, 0],
///     [0, 0, 1],
///     [1, 1, 0],
///     [1, 1, 1],
/// ].view())?;
/// let mut updater = WeightUpdater::new(ensemble, 2)?;
/// assert_eq!(updater.partition()?.to_signed(), vec![0, 0, 1, 1]);
/// let report = updater.update(&[Pair::must_link(0, 2), Pair::cannot_link(0, 1)])?;
/// assert_eq!((report.before.total(), report.after.total()), (2, 0));
/// assert_eq!(updater.partition()?.to_signed(), vec![0, 1, 0, 1]);
/// // A link that contradicts those so far is refused with the chain, and nothing has changed.
/// let error = updater.update(&[Pair::must_link(2, 3), Pair::cannot_link(0, 3)]).unwrap_err();
/// assert!(error.message().contains("0 = 2 = 3"));
/// assert_eq!(updater.constraints().len(), 2);
/// # Ok::<(), consilience_core::Error>(())
/// ```
///
/// Weights are multiples of 2^-31 (before they are divided by their sum), so that memberships are
/// exact sums: ties stay ties, and no label depends on the order of members or on threads.
///
/// # Complexity
/// An update costs O(p (m + r)) per pass over the p new constraints, in time and memory; nothing in
/// n. Labels are kept a second time, object by object, where these take at most 300 MB
/// ([`label_copy`](crate::WeightUpdaterSetup::label_copy)): updates and single objects are then
/// several times faster. A clone shares them.
///
/// # References
/// Yi, Zhang, Yang, Liu, Wang 2015, "An Efficient Semi-supervised Clustering Algorithm with
/// Sequential Constraints" (SCSC), Section 3.2; Yi 2014, "Semi-supervised Clustering by Convex
/// Searching" (CCCS), Chapter 6. Missing labels, members of any number of clusters, contradictions,
/// new objects and members, questions and snapshots are ours.
#[doc(alias = "hull")]
#[doc(alias = "SCSC")]
#[doc(alias = "CCCS")]
#[doc(alias = "online")]
#[doc(alias = "incremental")]
#[doc(alias = "semi-supervised")]
#[derive(Clone, Debug)]
pub struct WeightUpdater {
    pub(crate) ensemble: Ensemble,
    pub(crate) alignment: Alignment,
    /// `None` where it would be larger than its budget.
    pub(crate) mirror: Option<Arc<Mirror>>,
    pub(crate) weights: Weights,
    /// The weights before the last batch.
    pub(crate) earlier: Weights,
    pub(crate) constraints: Constraints,
    pub(crate) rule: UpdateRule,
    pub(crate) batches: u64,
    pub(crate) budgets: Budgets,
}

/// What may be allocated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Budgets {
    /// For what an update or a read-out allocates.
    pub(crate) work: MemoryBudget,
    /// For the second copy of the labels.
    pub(crate) mirror: MemoryBudget,
}

impl Default for Budgets {
    fn default() -> Self {
        Budgets { work: MemoryBudget::default(), mirror: MemoryBudget::bytes(300_000_000) }
    }
}

/// What an update did.
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
    pub(crate) fn open(
        ensemble: Ensemble,
        alignment: Alignment,
        weights: Weights,
        constraints: Constraints,
        rule: UpdateRule,
        budgets: Budgets,
    ) -> Self {
        WeightUpdater {
            mirror: Mirror::of(&ensemble, &alignment, budgets.mirror).map(Arc::new),
            ensemble,
            alignment,
            earlier: weights.clone(),
            weights,
            constraints,
            rule,
            batches: 0,
            budgets,
        }
    }

    /// Moves the weights by a batch of links, all of it or nothing.
    ///
    /// Links that are known already, in this batch or from an earlier one, change nothing, and so
    /// does a batch without any new one. A link that only follows from others still counts.
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
        observer.check()?;
        let known = self.constraints.len();
        let new = self.constraints.extend(batch)?;
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

    /// The weight of each member: not negative, summing to 1.
    #[doc(alias = "gamma")]
    pub fn weights(&self) -> Vec<f64> {
        self.weights.gamma()
    }

    /// Members with weight, ascending: only these are read.
    pub fn support(&self) -> Vec<usize> {
        self.weights.support()
    }

    /// Sets the weights, which are divided by their sum; constraints stay.
    ///
    /// # Errors
    /// [`ErrorKind::ShapeMismatch`](consilience_core::ErrorKind::ShapeMismatch) unless there is one
    /// per member, [`ErrorKind::NonFinite`](consilience_core::ErrorKind::NonFinite) or
    /// [`ErrorKind::InvalidParameter`](consilience_core::ErrorKind::InvalidParameter) for weights
    /// that are not finite, negative or all 0; nothing has changed then.
    #[doc(alias = "set_gamma")]
    pub fn set_weights(&mut self, weights: &[f64]) -> Result<()> {
        let weights = Weights::given(weights, self.ensemble.n_members())?;
        self.earlier = weights.clone();
        self.weights = weights;
        Ok(())
    }

    /// Mirrors the labels again, after members came or went.
    pub(crate) fn reflect(&mut self) {
        self.mirror =
            Mirror::of(&self.ensemble, &self.alignment, self.budgets.mirror).map(Arc::new);
    }

    /// The rule that updates follow.
    pub fn rule(&self) -> &UpdateRule {
        &self.rule
    }

    /// Changes the rule for the updates to come.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidParameter`](consilience_core::ErrorKind::InvalidParameter) for
    /// parameters out of range.
    pub fn set_rule(&mut self, rule: impl Into<UpdateRule>) -> Result<()> {
        let rule = rule.into();
        rule.check()?;
        self.rule = rule;
        Ok(())
    }

    /// The members.
    pub fn ensemble(&self) -> &Ensemble {
        &self.ensemble
    }

    /// Gives the ensemble back.
    pub fn into_ensemble(self) -> Ensemble {
        self.ensemble
    }

    /// Number of common clusters, r.
    pub fn n_clusters(&self) -> usize {
        self.alignment.clusters()
    }

    /// The common cluster of each cluster of a member, `None` where the alignment found it none.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfRange`](consilience_core::ErrorKind::OutOfRange) for a member that does
    /// not exist.
    pub fn alignment_of(&self, member: usize) -> Result<Vec<Option<usize>>> {
        self.check_member(member)?;
        let table = self.alignment.table(member);
        let unlabelled = self.alignment.unlabelled();
        Ok(table[..table.len() - 1]
            .iter()
            .map(|&c| (c != unlabelled).then_some(c as usize))
            .collect())
    }

    /// All links so far.
    pub fn constraints(&self) -> &Constraints {
        &self.constraints
    }

    /// Batches that brought something new.
    pub fn n_batches(&self) -> u64 {
        self.batches
    }

    /// Changes how much memory an update or a read-out may allocate. Default 8 GiB. A state that
    /// was stored comes back with the default.
    pub fn set_memory_budget(&mut self, budget: MemoryBudget) {
        self.budgets.work = budget;
    }

    /// Changes how much memory the second copy of the labels may take; see
    /// [`WeightUpdaterSetup::label_copy`](crate::WeightUpdaterSetup::label_copy). Default 300 MB.
    /// A state that was stored comes back with the default.
    ///
    /// # Complexity
    /// O(n m), in parallel.
    pub fn set_label_copy(&mut self, budget: MemoryBudget) {
        self.budgets.mirror = budget;
        self.reflect();
    }

    /// What votes are counted from.
    pub(crate) fn weighted(&self) -> WeightedMembers<'_> {
        WeightedMembers {
            ensemble: &self.ensemble,
            alignment: &self.alignment,
            weights: &self.weights,
        }
    }

    pub(crate) fn check_member(&self, member: usize) -> Result<()> {
        let m = self.ensemble.n_members();
        if member >= m {
            return Err(Error::out_of_range(format!("member {member} of {m}")));
        }
        Ok(())
    }
}
