use std::sync::Arc;

use consilience_core::{Constraints, Ensemble, MemoryBudget, Result, ensure};

use crate::alignment::Alignment;
use crate::mirror::Mirror;
use crate::rules::UpdateRule;
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
/// use consilience::{Ensemble, Pair};
/// use consilience::simplex::WeightUpdater;
/// use consilience::ndarray::array;
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
/// # Ok::<(), consilience::Error>(())
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
/// Sequential Constraints" (SCSC), Section 3.2; J. Yi, "Data Clustering with Pairwise Constraints",
/// PhD thesis, Michigan State University, 2014, Chapter 6, Constrained Clustering by Convex
/// Searching (CCCS). Missing labels, members of any number of clusters, contradictions, new objects
/// and members, questions and snapshots are ours.
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
    pub(crate) notes: Vec<String>,
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
            notes: Vec::new(),
        }
    }

    /// What was found on some of the objects only when the updater was opened, and which setter
    /// sets the limit; empty where nothing was, and after
    /// [`from_bytes`](WeightUpdater::from_bytes).
    ///
    /// ```
    /// use consilience::{Ensemble, Partition};
    /// use consilience::simplex::WeightUpdaterSetup;
    ///
    /// let halves = Partition::from_fn(100, |i| Some((i / 50) as u64))?;
    /// let setup = WeightUpdaterSetup::new(2).reference_objects(40);
    /// let updater = setup.updater(Ensemble::new(vec![halves; 3])?)?;
    /// assert!(updater.notes()[0].starts_with("the medoid is chosen on 40 of 100 objects"));
    /// # Ok::<(), consilience::Error>(())
    /// ```
    pub fn notes(&self) -> &[String] {
        &self.notes
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

    /// How much memory an update or a read-out may allocate.
    pub fn memory_budget(&self) -> MemoryBudget {
        self.budgets.work
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
        ensure!(member < m, out_of_range("member {member} of {m}"));
        Ok(())
    }
}
