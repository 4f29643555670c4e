use std::sync::Arc;

use consilience_core::{Constraints, Ensemble, Link, MemoryBudget, Observer, Pair, Result, Status};

use crate::align::Alignment;
use crate::embedding::{ConsensusMetric, MetricRule};
use crate::mirror::Mirror;
use crate::rules::block::{Batch, Standing, standing};
use crate::rules::gram::{self, Gram};
use crate::rules::mirrored::MirroredPairs;
use crate::rules::pairs::{self, Pairs};
use crate::rules::solve::{Part, Problem};
use crate::rules::{PairLoss, UpdateRule, Violations, mean_errors};
use crate::setup::UpdaterSetup;
use crate::tiles::{Tiles, WORTH};
use crate::weights::Weights;

/// A clustering that follows a stream of must-links and cannot-links at interactive speed.
///
/// The m members of an ensemble, aligned to r common clusters, span a hull of soft clusterings
/// `F = sum_u gamma_u P_u`, gamma on the simplex. A batch of constraints moves gamma and nothing
/// else, so that an update costs the same for a thousand objects and for ten million; the objects
/// are read out when somebody asks. Use a
/// [`ConsensusFunction`](consilience_core::ConsensusFunction) where no constraints come.
///
/// ```
/// use consilience_core::{Ensemble, Link};
/// use consilience_simplex::Updater;
/// use ndarray::array;
///
/// // Two members group by shape, one by colour; somebody means colour.
/// let ensemble = Ensemble::from_array(array![
///     [0, 0, 0],
///     [0, 0, 1],
///     [1, 1, 0],
///     [1, 1, 1],
/// ].view())?;
/// let mut updater = Updater::new(ensemble, 2)?;
/// assert_eq!(updater.partition()?.to_signed(), vec![0, 0, 1, 1]);
/// let report = updater.update(&[Pair::must_link(0, 2), Pair::cannot_link(0, 1)])?;
/// assert_eq!((report.before.total(), report.after.total()), (2, 0));
/// assert_eq!(updater.partition()?.to_signed(), vec![0, 1, 0, 1]);
/// // What contradicts the constraints so far is refused with the chain, and nothing has changed.
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
/// n. Up to 300 MB of labels are kept once more, object by object, which makes updates and single
/// objects several times faster; a clone shares them.
///
/// # References
/// Yi, Zhang, Yang, Liu, Wang 2015, "An Efficient Semi-supervised Clustering Algorithm with
/// Sequential Constraints" (SCSC), Section 3.2; Yi 2014, "Semi-supervised Clustering by Convex
/// Searching" (CCCS), Chapter 6. Missing labels, members of any number of clusters, contradictions,
/// new objects and members, questions and snapshots are ours.
#[doc(alias = "SCSC")]
#[doc(alias = "CCCS")]
#[derive(Clone, Debug)]
pub struct Updater {
    pub(crate) ensemble: Ensemble,
    pub(crate) alignment: Alignment,
    /// None for large ensembles.
    pub(crate) mirror: Option<Arc<Mirror>>,
    pub(crate) weights: Weights,
    /// The weights before the last batch.
    pub(crate) earlier: Weights,
    pub(crate) constraints: Constraints,
    pub(crate) rule: UpdateRule,
    pub(crate) batches: u64,
    pub(crate) metric_rule: MetricRule,
    /// Opened when it is first asked for; given up where objects or members change.
    pub(crate) metric: Option<ConsensusMetric>,
}

/// What an update did.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct UpdateReport {
    /// How the rule ended.
    pub status: Status,
    /// Iterations of the rule.
    pub iterations: usize,
    /// Constraints of the batch that were not known before; only these have weight.
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
    /// All labels are known, and members and common clusters are few enough for the fast road.
    Whole(Pairs),
    Gaps(Batch),
}

impl Updater {
    /// An updater over r common clusters with every default; [`UpdaterSetup`] has the options.
    ///
    /// # Errors
    /// As [`UpdaterSetup::updater`].
    pub fn new(ensemble: Ensemble, clusters: usize) -> Result<Self> {
        UpdaterSetup::new(clusters).updater(ensemble)
    }

    pub(crate) fn open(
        ensemble: Ensemble,
        alignment: Alignment,
        weights: Weights,
        constraints: Constraints,
        rule: UpdateRule,
    ) -> Self {
        Updater {
            metric_rule: MetricRule::new(alignment.clusters()),
            metric: None,
            mirror: Mirror::of(&ensemble, &alignment).map(Arc::new),
            ensemble,
            alignment,
            earlier: weights.clone(),
            weights,
            constraints,
            rule,
            batches: 0,
        }
    }

    /// Follows a batch of constraints `(i, j, link)`, all of it or nothing.
    ///
    /// Constraints that are known already, in this batch or from an earlier one, change nothing,
    /// and so does a batch without any new one. A constraint that only follows from others still
    /// counts: somebody said it.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfRange`](consilience_core::ErrorKind::OutOfRange) for an object that does
    /// not exist, [`ErrorKind::Contradiction`](consilience_core::ErrorKind::Contradiction) with the
    /// chain for a constraint that cannot hold with all others,
    /// [`ErrorKind::TooLarge`](consilience_core::ErrorKind::TooLarge) where the memberships of the
    /// batch take more than 8 GiB. The updater is then exactly as before.
    ///
    /// # Complexity
    /// As the [`UpdateRule`]; nothing in n.
    pub fn update(&mut self, batch: &[Pair]) -> Result<UpdateReport> {
        self.update_observed(batch, &())
    }

    /// As [`Updater::update`], with cancellation.
    ///
    /// # Errors
    /// As [`Updater::update`], and
    /// [`ErrorKind::Cancelled`](consilience_core::ErrorKind::Cancelled); the updater is then
    /// exactly as before.
    pub fn update_observed(
        &mut self,
        batch: &[Pair],
        observer: &dyn Observer,
    ) -> Result<UpdateReport> {
        observer.check()?;
        let known = self.constraints.len();
        let new = self.constraints.extend(batch)?;
        let followed = self.follow(known, new, observer).and_then(|done| {
            let links: Vec<_> = self.constraints.iter_from(known).collect();
            if let Some(metric) = &mut self.metric {
                metric.follow(&self.ensemble, &links, observer)?;
            }
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
        MemoryBudget::default().check_table(soft, new, self.n_clusters(), 64)?;
        if new == 0 {
            let report = UpdateReport {
                status: Status::Solved,
                iterations: 0,
                new_constraints: 0,
                objective_before: 0.0,
                objective: 0.0,
                gap: None,
                support: self.weights.support(),
                before: Violations::default(),
                after: Violations::default(),
            };
            return Ok((self.weights.clone(), report));
        }
        let follow = || match self.batch(known, self.rule.balanced()) {
            Constrained::Mirrored(pairs, errors) => {
                let stand =
                    |after: &Weights| pairs.standings([&self.weights, after], self.rule.loss());
                self.solve(new, &[], || errors, stand, observer)
            }
            Constrained::Whole(pairs) => {
                let loss = self.rule.loss();
                let parts = match self.rule {
                    UpdateRule::Exact(_) => vec![Part::Gram(Gram::of(&pairs, loss))],
                    _ => Vec::new(),
                };
                let stand = |after: &Weights| pairs.standings([&self.weights, after], loss);
                self.solve(new, &parts, || pairs.mean_errors(), stand, observer)
            }
            Constrained::Gaps(batch) => {
                let loss = self.rule.loss();
                let blocks = batch.blocks(self.n_clusters(), &self.weights);
                let parts: Vec<Part<'_>> = match self.rule {
                    UpdateRule::Exact(_) => blocks.iter().map(|b| Part::Pairs(b, loss)).collect(),
                    _ => Vec::new(),
                };
                let stand =
                    |after: &Weights| [None, Some(after)].map(|w| standing(&blocks, w, loss));
                self.solve(
                    new,
                    &parts,
                    || mean_errors(&blocks, self.ensemble.n_members()),
                    stand,
                    observer,
                )
            }
        };
        if 2 * new * self.ensemble.n_members() < WORTH {
            return follow();
        }
        // To the other threads once, and not for every step.
        rayon::join(follow, || ()).0
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
        if r > pairs::MOST {
            return Constrained::Gaps(Batch::of(ensemble, alignment, links(), balanced));
        }
        let labels = |objects: &[u32]| match &self.mirror {
            Some(mirror) => Tiles::mirrored(mirror, objects),
            None => {
                let members: Vec<usize> = (0..ensemble.n_members()).collect();
                Tiles::gathered(ensemble, alignment, &members, objects)
            }
        };
        let pairs = Pairs::of(labels, r, links(), balanced);
        if pairs.gaps() || (exact && ensemble.n_members() > gram::MEMBERS) {
            return Constrained::Gaps(Batch::of_pairs(&pairs));
        }
        Constrained::Whole(pairs.filled())
    }

    /// What the rule makes of new constraints.
    fn solve(
        &self,
        new: usize,
        parts: &[Part<'_>],
        errors: impl FnOnce() -> Vec<f64>,
        standings: impl FnOnce(&Weights) -> [Standing; 2],
        observer: &dyn Observer,
    ) -> Result<(Weights, UpdateReport)> {
        let anchor = self.weights.gamma();
        let floor = 1e-3 * new as f64;
        let problem = Problem { parts, anchor: &anchor, lambda: self.rule.lambda(new), floor };
        let outcome = self.rule.apply(&problem, errors, &self.weights, &self.earlier, observer)?;
        let weights = Weights::nearest(&outcome.gamma);
        let [before, after] = standings(&weights);
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

    /// All constraints so far that the weights violate.
    ///
    /// # Complexity
    /// O(c (m + r)) for all c constraints.
    pub fn violations(&self) -> Violations {
        let (weights, loss) = (&self.weights, PairLoss::Squared);
        match self.batch(0, false) {
            Constrained::Mirrored(pairs, _) => {
                pairs.standings([weights, weights], loss)[0].violations
            }
            Constrained::Whole(pairs) => pairs.standings([weights, weights], loss)[0].violations,
            Constrained::Gaps(batch) => {
                standing(&batch.blocks(self.n_clusters(), weights), None, loss).violations
            }
        }
    }

    /// The weight of each member: not negative, summing to 1.
    pub fn gamma(&self) -> Vec<f64> {
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
    pub fn set_gamma(&mut self, gamma: &[f64]) -> Result<()> {
        let weights = Weights::given(gamma, self.ensemble.n_members())?;
        self.earlier = weights.clone();
        self.weights = weights;
        Ok(())
    }

    /// Mirrors the labels again, after members came or went.
    pub(crate) fn reflect(&mut self) {
        self.mirror = Mirror::of(&self.ensemble, &self.alignment).map(Arc::new);
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
        let silent = self.alignment.silent();
        Ok(table[..table.len() - 1].iter().map(|&c| (c != silent).then_some(c as usize)).collect())
    }

    /// All constraints so far.
    pub fn constraints(&self) -> &Constraints {
        &self.constraints
    }

    /// Batches that brought something new.
    pub fn n_batches(&self) -> u64 {
        self.batches
    }
}
