use consilience_core::{
    ConsensusFunction, Constraints, Ensemble, MemoryBudget, Observer, Pair, Partition, Result,
    Seed, at_least_one, ensure,
};
use consilience_simplex::{
    AlignmentReference, InitialWeights, Questions, UpdateReport, UpdateRule, WeightUpdater,
    WeightUpdaterSetup, evenly_within,
};
use consilience_walk::Diffusion;

use crate::consensus_metric::ConsensusMetric;
use crate::disputed::Disputed;
use crate::metric_rule::MetricRule;

/// Objects that a reference for the alignment is made from by default.
const SAMPLE: usize = 4096;

/// A clustering that follows a stream of must-links and cannot-links at interactive speed.
///
/// Two things follow the links of a batch: one weight per member of the ensemble
/// ([`WeightUpdater`], read by [`by_weights`](Updater::by_weights)), and a metric on the ensemble's
/// embedding ([`MetricRule`]). The cost of an update does not grow with n while the labels fit the
/// table of 300 MB that is kept of them; beyond it the latency of memory decides (500 links and 300
/// members, exact rule: 2 ms for a million objects, 8 ms for eight). Objects get their labels when
/// they are read out. [`partition`](Updater::partition) is the default read-out: by the metric
/// where cross-validation on the links supports it, else the plain consensus. Must-links
/// hold there, unless links that contradict members, features and the other links are better set
/// aside ([`LinkTrust`](crate::LinkTrust)). Use a [`ConsensusFunction`] where no links come.
///
/// ```
/// use consilience::{Ensemble, Pair, Seed};
/// use consilience::follow::Updater;
/// use consilience::ndarray::Array2;
///
/// // Three members group by i % 2, two by whether i % 4 > 1; the links mean the latter.
/// let meant = |i: usize| i % 4 / 2;
/// let label = |(i, u)| if u < 3 { i % 2 } else { meant(i) } as u32;
/// let ensemble = Ensemble::from_array(Array2::from_shape_fn((64, 5), label).view())?;
/// let mut updater = Updater::new(ensemble, 2)?;
/// let mut draw = Seed(1).stream();
/// let batch: Vec<Pair> = (0..40)
///     .map(|_| (draw.below(64), draw.below(64)))
///     .map(|(i, j)| match meant(i) == meant(j) {
///         true => Pair::must_link(i, j),
///         false => Pair::cannot_link(i, j),
///     })
///     .collect();
/// updater.update(&batch)?;
/// assert_eq!(&updater.partition()?, &updater.ensemble().members()[3]);
/// // A link that contradicts those so far is refused with the chain, and nothing has changed.
/// let known = updater.constraints().len();
/// let Pair { i, j, .. } = batch[0];
/// let error = match meant(i) == meant(j) {
///     true => updater.update(&[Pair::cannot_link(i, j)]),
///     false => updater.update(&[Pair::must_link(i, j)]),
/// };
/// assert!(error.is_err() && updater.constraints().len() == known);
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Complexity
/// An update costs as [`WeightUpdater::update`], and as [`ConsensusMetric::follow`] once the metric
/// is open; nothing in n. A clone shares the labels.
///
/// # References
/// Weights: Yi, Zhang, Yang, Liu, Wang 2015, "An Efficient Semi-supervised Clustering Algorithm
/// with Sequential Constraints" (SCSC); Yi, "Data Clustering with Pairwise Constraints", PhD
/// thesis, 2014, Chapter 6, Constrained Clustering by Convex Searching (CCCS). The metric, new
/// members from features, and the states are ours.
#[doc(alias = "SCSC")]
#[doc(alias = "CCCS")]
#[doc(alias = "online")]
#[doc(alias = "incremental")]
#[doc(alias = "semi-supervised")]
#[doc(alias = "active learning")]
#[derive(Clone, Debug)]
pub struct Updater {
    pub(crate) weights: WeightUpdater,
    /// Links that contradict those before them, which the weights do not follow.
    pub(crate) disputed: Disputed,
    pub(crate) metric_rule: MetricRule,
    /// Opened when it is first needed; dropped where objects or members change.
    pub(crate) metric: Option<ConsensusMetric>,
    pub(crate) notes: Vec<String>,
}

/// How to open an [`Updater`]: number of clusters, reference, start, rules and budgets.
///
/// ```
/// use consilience::Ensemble;
/// use consilience::follow::{AdditiveUpdate, InitialWeights, UpdaterSetup};
/// use consilience::ndarray::array;
///
/// let ensemble = Ensemble::from_array(array![[0, 0], [0, 1], [1, 1]].view())?;
/// let updater = UpdaterSetup::new(2)
///     .start(InitialWeights::Given(vec![3.0, 1.0]))
///     .rule(AdditiveUpdate::default())
///     .updater(ensemble)?;
/// assert_eq!(updater.by_weights().weights(), vec![0.75, 0.25]);
/// # Ok::<(), consilience::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct UpdaterSetup {
    clusters: usize,
    reference: AlignmentReference,
    reference_objects: usize,
    weights: WeightUpdaterSetup,
    metric_rule: MetricRule,
}

impl UpdaterSetup {
    /// r common clusters, as many for the metric, and every default.
    pub fn new(clusters: usize) -> Self {
        UpdaterSetup {
            clusters,
            reference: AlignmentReference::default(),
            reference_objects: SAMPLE,
            weights: WeightUpdaterSetup::new(clusters),
            metric_rule: MetricRule::new(clusters),
        }
    }

    consilience_core::setters! {
        /// What the members are aligned to. Default [`AlignmentReference::Medoid`]; where no member
        /// has r clusters, the diffusion consensus of at most 4,096 evenly spaced objects
        /// ([`Diffusion`]).
        pub fn reference(mut self, reference: AlignmentReference) { self.reference = reference }

        /// Evenly spaced objects that the medoid, or that consensus, is made from at most; where
        /// there are more, [`Updater::notes`] says so. Default 4,096; at least 1, and at most as
        /// many as the memory budget has room for.
        pub fn reference_objects(mut self, objects: usize) {
            self.reference_objects = objects;
            self.weights = self.weights.reference_objects(objects)
        }

        /// Where the weights start. Default [`InitialWeights::Uniform`], 1/m each.
        pub fn start(mut self, start: InitialWeights) { self.weights = self.weights.start(start) }

        /// How the weights follow links. Default [`ExactUpdate`](crate::ExactUpdate).
        pub fn rule(mut self, rule: impl Into<UpdateRule>) {
            self.weights = self.weights.rule(rule)
        }

        /// How the metric is learned and used. Default [`MetricRule::new`] for the same number of
        /// clusters.
        pub fn metric_rule(mut self, rule: MetricRule) { self.metric_rule = rule }

        /// How much memory an update, a read-out by weights, all metrics together, or the consensus
        /// that a reference is made by may allocate. Default 8 GiB.
        pub fn memory_budget(mut self, budget: MemoryBudget) {
            self.weights = self.weights.memory_budget(budget)
        }

        /// How much memory the second copy of the labels may take; see
        /// [`WeightUpdaterSetup::label_copy`]. Default 300 MB; 0 for never.
        pub fn label_copy(mut self, budget: MemoryBudget) {
            self.weights = self.weights.label_copy(budget)
        }
    }

    /// Aligns the members and opens the updater, which takes the ensemble over without copying it
    /// ([`Updater::into_ensemble`] gives it back).
    ///
    /// # Complexity
    /// As [`WeightUpdaterSetup::updater`].
    ///
    /// # Errors
    /// As [`WeightUpdaterSetup::updater`], and
    /// [`ErrorKind::InvalidParameter`](consilience_core::ErrorKind::InvalidParameter) for a metric
    /// rule out of range.
    pub fn updater(&self, ensemble: Ensemble) -> Result<Updater> {
        self.updater_observed(ensemble, &())
    }

    /// As [`UpdaterSetup::updater`], with cancellation.
    ///
    /// # Errors
    /// As [`UpdaterSetup::updater`], and
    /// [`ErrorKind::Cancelled`](consilience_core::ErrorKind::Cancelled).
    pub fn updater_observed(&self, ensemble: Ensemble, observer: &dyn Observer) -> Result<Updater> {
        ensemble.check_clusters(self.clusters)?;
        self.metric_rule.check()?;
        at_least_one("reference_objects", self.reference_objects)?;
        ensemble.check_clusters(self.metric_rule.n_clusters())?;
        let (limit, n) = (self.reference_objects, ensemble.total_count());
        let mut notes = Vec::new();
        let setup = match self.consensus_reference(&ensemble, observer)? {
            Some(made) => {
                if (limit as u64) < n {
                    notes.push(format!(
                        "the reference is made from {limit} of {n} objects, at even distances; \
                         reference_objects sets the limit"
                    ));
                }
                self.weights.clone().reference(AlignmentReference::Given(made))
            }
            None => self.weights.clone().reference(self.reference.clone()),
        };
        let weights = setup.updater_observed(ensemble, observer)?;
        notes.extend_from_slice(weights.notes());
        Ok(Updater {
            weights,
            disputed: Disputed::default(),
            metric_rule: self.metric_rule.clone(),
            metric: None,
            notes,
        })
    }

    /// The diffusion consensus of some objects, where the medoid is asked for and no member has r
    /// clusters.
    fn consensus_reference(
        &self,
        ensemble: &Ensemble,
        observer: &dyn Observer,
    ) -> Result<Option<Partition>> {
        let candidates = ensemble.members().iter().any(|p| p.n_clusters() == self.clusters);
        if candidates || self.reference != AlignmentReference::Medoid {
            return Ok(None);
        }
        let sample = evenly_within(ensemble, self.reference_objects, self.weights.work_budget())?;
        let few = match ensemble.counts() {
            // Rows come as often as their objects, each of which then stands for itself.
            Some(_) => Ensemble::new(ensemble.members().to_vec())?.select_objects(&sample)?,
            None => ensemble.select_objects(&sample)?,
        };
        let diffusion = Diffusion::new(self.clusters.min(sample.len()));
        let diffusion = diffusion.memory_budget(self.weights.work_budget());
        let consensus = diffusion.fit(&few, observer)?.output;
        let mut labels = vec![None; ensemble.n_objects()];
        for (&i, label) in sample.iter().zip(consensus.iter()) {
            labels[i] = label.map(|l| l as u32);
        }
        let made = Partition::from_labels(&labels)?;
        Ok((made.n_clusters() > 0).then_some(made))
    }
}

impl Updater {
    /// An updater over r common clusters with every default; [`UpdaterSetup`] has the options.
    ///
    /// # Errors
    /// As [`UpdaterSetup::updater`].
    pub fn new(ensemble: Ensemble, clusters: usize) -> Result<Self> {
        UpdaterSetup::new(clusters).updater(ensemble)
    }

    /// Follows a batch of links, all of it or nothing.
    ///
    /// Links that are known already, in this batch or from an earlier one, change nothing. A link
    /// that only follows from others still counts. The order of the links in a batch changes
    /// nothing. The report is that of the weights.
    ///
    /// # Errors
    /// As [`WeightUpdater::update`]; the updater is then exactly as before.
    ///
    /// # Complexity
    /// As the [`UpdateRule`], and as [`ConsensusMetric::follow`] where the metric is open; nothing
    /// in n.
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
        self.update_renumbered(batch, |object| object, observer)
    }

    /// As [`Updater::update_observed`], renumbered as by [`WeightUpdater::update_renumbered`].
    ///
    /// # Errors
    /// As [`WeightUpdater::update_renumbered`].
    #[doc(hidden)]
    pub fn update_renumbered(
        &mut self,
        batch: &[Pair],
        number: impl Fn(usize) -> usize,
        observer: &dyn Observer,
    ) -> Result<UpdateReport> {
        let metric = &mut self.metric;
        self.weights.update_renumbered(batch, number, observer, |ensemble, links| {
            if let Some(metric) = metric {
                metric.follow(ensemble, links, observer)?;
            }
            Ok(())
        })
    }

    /// Follows a batch, and keeps links of it that contradict those before them as *disputed*: for
    /// answers of which some are wrong. They come back, without those that were known. Of two links
    /// that contradict each other the later one is disputed.
    ///
    /// The metric and its cross-validation follow disputed links like all others. The weights and
    /// [`constraints`](Updater::constraints) do not. Under [`LinkTrust::Weigh`](crate::LinkTrust) a
    /// read-out places the objects by all links, whichever came first, where links that are held
    /// out speak for it; else disputed links are broken.
    ///
    /// ```
    /// use consilience::follow::Updater;
    /// use consilience::ndarray::array;
    /// use consilience::{Ensemble, Pair};
    ///
    /// let labels = array![[0, 0, 0], [0, 0, 0], [0, 0, 1], [1, 1, 1], [1, 1, 2], [1, 1, 2]];
    /// let mut updater = Updater::new(Ensemble::from_array(labels.view())?, 2)?;
    /// let (report, disputed) = updater.update_disputed(
    ///     &[Pair::must_link(0, 1), Pair::must_link(1, 2), Pair::cannot_link(0, 2)],
    ///     &(),
    /// )?;
    /// assert_eq!(report.new_constraints, 2);
    /// assert_eq!(disputed, [Pair::cannot_link(0, 2)]);
    /// assert_eq!(updater.disputed(), disputed);
    /// # Ok::<(), consilience::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Updater::update_observed`], but for contradictions other than a cannot-link of an
    /// object with itself; the updater is then exactly as before.
    ///
    /// # Complexity
    /// As [`Updater::update`], and a copy of the links so far.
    #[doc(alias = "contradiction")]
    #[doc(alias = "noisy links")]
    pub fn update_disputed(
        &mut self,
        batch: &[Pair],
        observer: &dyn Observer,
    ) -> Result<(UpdateReport, Vec<Pair>)> {
        let (agreed, disputed) = self.disputed.divide(self.constraints(), batch)?;
        let metric = &mut self.metric;
        let report = self.weights.update_together(&agreed, observer, |ensemble, links| {
            if let Some(metric) = metric {
                metric.follow(ensemble, &[links, &disputed].concat(), observer)?;
            }
            Ok(())
        })?;
        self.disputed.extend(&disputed, self.weights.constraints().len());
        Ok((report, disputed))
    }

    /// Links that contradict those that came before them, in the order that they came
    /// ([`update_disputed`](Updater::update_disputed)).
    pub fn disputed(&self) -> &[Pair] {
        self.disputed.links()
    }

    /// All links in the order that they came, disputed ones among them.
    pub(crate) fn told(&self) -> Vec<Pair> {
        self.disputed.among(self.constraints())
    }

    /// What was found on some of the objects only when the updater was opened, and which setter
    /// sets the limit: the notes of [`by_weights`](Updater::by_weights), and what a reference was
    /// made from. Empty where nothing was, and after [`from_bytes`](Updater::from_bytes).
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// The weights of the members and what is read out by them alone: their clustering, soft
    /// memberships, labels of a few objects, k-means on the memberships, violated links.
    ///
    /// ```
    /// use consilience::{Ensemble, Pair};
    /// use consilience::follow::Updater;
    /// use consilience::ndarray::array;
    ///
    /// let ensemble = Ensemble::from_array(array![[0, 0], [0, 1], [1, 0], [1, 1]].view())?;
    /// let mut updater = Updater::new(ensemble, 2)?;
    /// updater.update(&[Pair::must_link(0, 1), Pair::cannot_link(0, 2)])?;
    /// let by_weights = updater.by_weights();
    /// assert!(by_weights.weights()[0] > 0.7);
    /// assert_eq!(by_weights.partition()?.to_signed(), vec![0, 0, 1, 1]);
    /// assert_eq!(by_weights.memberships()?.n_clusters(), 2);
    /// # Ok::<(), consilience::Error>(())
    /// ```
    #[doc(alias = "gamma")]
    pub fn by_weights(&self) -> &WeightUpdater {
        &self.weights
    }

    /// Pairs and objects to ask about next; see [`WeightUpdater::next_questions`].
    ///
    /// # Errors
    /// As [`WeightUpdater::next_questions`].
    #[doc(alias = "active learning")]
    pub fn next_questions(&self, count: usize, seed: Seed) -> Result<Questions> {
        self.weights.next_questions(count, seed)
    }

    /// Changes how the weights follow the links to come.
    ///
    /// # Errors
    /// As [`WeightUpdater::set_rule`].
    pub fn set_rule(&mut self, rule: impl Into<UpdateRule>) -> Result<()> {
        self.weights.set_rule(rule)
    }

    /// Sets the weights; see [`WeightUpdater::set_weights`].
    ///
    /// # Errors
    /// As [`WeightUpdater::set_weights`].
    pub fn set_weights(&mut self, weights: &[f64]) -> Result<()> {
        self.weights.set_weights(weights)
    }

    /// Changes how much memory an update, a read-out by weights or all metrics together may
    /// allocate. Default 8 GiB; a state that was stored comes back with the default.
    pub fn set_memory_budget(&mut self, budget: MemoryBudget) {
        self.weights.set_memory_budget(budget);
        if let Some(metric) = &mut self.metric {
            metric.budget = budget;
        }
    }

    /// Changes how much memory the second copy of the labels may take. Default 300 MB; a state that
    /// was stored comes back with the default.
    pub fn set_label_copy(&mut self, budget: MemoryBudget) {
        self.weights.set_label_copy(budget);
    }

    /// The members.
    pub fn ensemble(&self) -> &Ensemble {
        self.weights.ensemble()
    }

    /// Gives the ensemble back.
    pub fn into_ensemble(self) -> Ensemble {
        self.weights.into_ensemble()
    }

    /// Number of common clusters, r.
    pub fn n_clusters(&self) -> usize {
        self.weights.n_clusters()
    }

    /// All links so far but those that are [disputed](Updater::disputed).
    pub fn constraints(&self) -> &Constraints {
        self.weights.constraints()
    }

    /// Batches that brought something new.
    pub fn n_batches(&self) -> u64 {
        self.weights.n_batches()
    }

    /// Numbers of the members that were grown; none where no metric is open.
    pub(crate) fn grown(&self) -> std::ops::Range<usize> {
        let all = self.ensemble().n_members();
        self.metric.as_ref().map_or(all, ConsensusMetric::n_members)..all
    }

    pub(crate) fn check_member(&self, member: usize) -> Result<()> {
        let m = self.ensemble().n_members();
        ensure!(member < m, out_of_range("member {member} of {m}"));
        Ok(())
    }
}
