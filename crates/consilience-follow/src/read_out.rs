//! Read-outs of the updater, its metric and its grown members.

use consilience_core::{
    ConsensusFunction, Error, Features, Fit, Observer, Partition, Result, Seed, ensure,
};
use consilience_walk::Diffusion;

use crate::consensus_metric::{ConsensusMetric, MetricReport};
use crate::member_growth::{COMPONENTS, MemberGrowth};
use crate::metric_read_out::MetricReadOut;
use crate::metric_rule::{MetricRule, check_metrics};
use crate::updater::Updater;

/// The least weight that counts, of the largest: as [`Ensemble::with_weights`] takes them.
///
/// [`Ensemble::with_weights`]: consilience_core::Ensemble::with_weights
const LEAST: f64 = 1e-9;

impl Updater {
    /// The clustering of all objects by the default read-out, [`read_out`](Updater::read_out).
    ///
    /// The clustering by the weights alone is
    /// [`by_weights().partition()`](consilience_simplex::WeightUpdater::partition).
    ///
    /// # Errors
    /// As [`Updater::read_out`].
    pub fn partition(&mut self) -> Result<Partition> {
        self.read_out(&())?.output.partition(self.ensemble(), &())
    }

    /// The default read-out, ready to label all objects or a few: by a metric on the ensemble's
    /// embedding that has followed all links, where cross-validation on the links supports it, else
    /// the plain consensus. See [`MetricRule`].
    ///
    /// The first call opens the metric, as does the first after objects or members came or went;
    /// from then on updates move it too. The report says where the metric of all links stopped
    /// before it was solved.
    ///
    /// ```
    /// use consilience::Ensemble;
    /// use consilience::follow::{ReadOutMethod, Updater};
    /// use consilience::ndarray::array;
    ///
    /// let labels = array![[0, 0, 0], [0, 0, 0], [0, 0, 1], [1, 1, 1], [1, 1, 2], [1, 1, 2]];
    /// let mut updater = Updater::new(Ensemble::from_array(labels.view())?, 2)?;
    /// let read = updater.read_out(&())?.output;
    /// assert_eq!(read.method(), ReadOutMethod::Plain);
    /// let labels = read.labels(updater.ensemble(), &[0, 5])?;
    /// assert_ne!(labels[0], labels[1]);
    /// # Ok::<(), consilience::Error>(())
    /// ```
    ///
    /// # Complexity
    /// Opening: as [`Embedding::fit`](crate::Embedding::fit). Then as
    /// [`ConsensusMetric::read_out`].
    ///
    /// # Errors
    /// [`ErrorKind::TooLarge`](consilience_core::ErrorKind::TooLarge) where the metrics exceed the
    /// memory budget, [`ErrorKind::Cancelled`](consilience_core::ErrorKind::Cancelled); the updater
    /// is then exactly as before.
    pub fn read_out(&mut self, observer: &dyn Observer) -> Result<Fit<MetricReadOut>> {
        let was_open = self.metric.is_some();
        self.open_metric(observer)?;
        let Some(metric) = &self.metric else { return Err(Error::empty("no metric was opened")) };
        let read = metric.read_out(self.ensemble(), self.constraints(), observer);
        // A metric that follows batch by batch differs by rounding from one opened later.
        if read.is_err() && !was_open {
            self.metric = None;
        }
        read
    }

    /// The clustering by the weights without any alignment: the diffusion consensus ([`Diffusion`])
    /// of the members with weight, each counted by it as by
    /// [`Ensemble::with_weights`](consilience_core::Ensemble::with_weights), into k
    /// clusters. Members of less than 1e-9 of the largest weight are not counted.
    ///
    /// Use it where members have other numbers of clusters than r: the alignment loses their finer
    /// distinctions, the co-association of objects keeps them.
    ///
    /// ```
    /// use consilience::follow::{Updater, UpdaterSetup};
    /// use consilience::simplex::ExactUpdate;
    /// use consilience::{Ensemble, Link, Pair, Partition, Seed};
    ///
    /// // Three members split the objects in halves, and one by their parity.
    /// let halves = Partition::from_fn(8, |i| Some(i as u64 / 4))?;
    /// let parity = Partition::from_fn(8, |i| Some(i as u64 % 2))?;
    /// let mut members = vec![halves; 3];
    /// members.push(parity.clone());
    /// let setup = UpdaterSetup::new(2).rule(ExactUpdate::default());
    /// let mut updater: Updater = setup.updater(Ensemble::new(members)?)?;
    /// updater.update(&[Pair::new(0, 6, Link::Must), Pair::new(1, 2, Link::Cannot)])?;
    /// assert_eq!(updater.consensus(2, Seed(0), &())?.output, parity);
    /// # Ok::<(), consilience::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::InvalidParameter`](consilience_core::ErrorKind::InvalidParameter) for k outside
    /// `1..=n`, [`ErrorKind::TooLarge`](consilience_core::ErrorKind::TooLarge) beyond the memory
    /// budget, [`ErrorKind::Cancelled`](consilience_core::ErrorKind::Cancelled).
    ///
    /// # Complexity
    /// A copy of the labels of the members with weight, then as [`Diffusion`].
    pub fn consensus(
        &self,
        clusters: usize,
        seed: Seed,
        observer: &dyn Observer,
    ) -> Result<Fit<Partition>> {
        let gamma = self.weights.weights();
        let most = gamma.iter().copied().fold(0.0, f64::max);
        let counted: Vec<usize> = (0..gamma.len()).filter(|&u| gamma[u] / most >= LEAST).collect();
        let weights: Vec<f64> = counted.iter().map(|&u| gamma[u] / most).collect();
        let ensemble = self.ensemble().select(&counted)?.with_weights(weights)?;
        let diffusion = Diffusion::new(clusters).seed(seed);
        diffusion.memory_budget(self.weights.memory_budget()).fit(&ensemble, observer)
    }

    /// The metric, where [`read_out`](Updater::read_out) or [`grow`](Updater::grow) has opened it.
    pub fn metric(&self) -> Option<&ConsensusMetric> {
        self.metric.as_ref()
    }

    /// Changes how the metric is learned and used; it is opened anew at the next read-out. Members
    /// that were [grown](Updater::grow) leave, as they belong to the metric there was, and the
    /// others share their weight.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidParameter`](consilience_core::ErrorKind::InvalidParameter) for
    /// parameters out of range; nothing has changed then.
    pub fn set_metric_rule(&mut self, rule: MetricRule) -> Result<()> {
        rule.check()?;
        self.ensemble().check_clusters(rule.n_clusters())?;
        let grown: Vec<usize> = self.grown().collect();
        self.weights.retire_members(&grown)?;
        (self.metric_rule, self.metric) = (rule, None);
        Ok(())
    }

    /// Opens the metric, if it is not open, so that the updates to come move it batch by batch.
    ///
    /// [`read_out`](Updater::read_out) does so anyway. The metric then follows all links so far at
    /// once; the result is the same as batch by batch, but for rounding.
    ///
    /// # Errors
    /// As [`Updater::read_out`].
    pub fn open_metric(&mut self, observer: &dyn Observer) -> Result<()> {
        self.open_metric_bounded(None, observer)
    }

    /// As [`Updater::open_metric`], with the bounds of links from the distances of these objects:
    /// for rows with counts that stand for objects in another order. A stored state does not keep
    /// which they were.
    #[doc(hidden)]
    pub fn open_metric_bounded(
        &mut self,
        objects: Option<&[usize]>,
        observer: &dyn Observer,
    ) -> Result<()> {
        let n = self.ensemble().n_objects();
        if let Some(i) = objects.unwrap_or_default().iter().find(|&&i| i >= n) {
            return Err(Error::out_of_range(format!("object {i} of {n}")));
        }
        if self.metric.is_none() {
            let rule = &self.metric_rule;
            let budget = self.weights.memory_budget();
            let mut metric = rule.open_bounded(self.ensemble(), objects, budget, observer)?;
            metric.follow(self.ensemble(), &self.told(), observer)?;
            self.metric = Some(metric);
        }
        Ok(())
    }

    /// Grows new members from the features: they are made under a metric of the features that is
    /// learned from all links so far, and join with a share of the weight between them; those grown
    /// before leave. The read-out uses them only where cross-validation chooses them. On an error
    /// nothing has changed.
    ///
    /// They stay, and the metric on them follows new links, until this is called again, until
    /// objects or other members come or go, or until the metric's rule changes
    /// ([`set_metric_rule`](Updater::set_metric_rule)): then they leave.
    /// [`Updater::to_bytes`] keeps them. Growing before there are links is of no use. A row with a
    /// count is so many objects, as for [`MemberGrowth::grow_counted`]. The report says how the
    /// growth went: where members were made from some of the objects, and whether the metric on
    /// them was solved.
    ///
    /// ```
    /// use consilience::{Link, Pair, Result, Seed};
    /// # use consilience::{Features, Fit, Observer, Partition};
    /// use consilience::conformance::planted;
    /// # use consilience::core::BaseClusterer;
    /// use consilience::follow::{MemberGrowth, Updater};
    /// use consilience::ndarray::Array2;
    ///
    /// # struct Signs;
    /// # impl BaseClusterer for Signs {
    /// #     fn name(&self) -> &'static str { "signs" }
    /// #     fn fit(&self, x: Features<'_>, _: usize, _: Seed, _: &dyn Observer)
    /// #         -> Result<Fit<Partition>> {
    /// #         let Features::F64(x) = x else { unreachable!() };
    /// #         let sign = |i: usize| Some(u64::from(x.row(i).sum() > 0.0));
    /// #         Ok(Fit::new(Partition::from_fn(x.nrows(), sign)?, Default::default()))
    /// #     }
    /// # }
    /// // The members hardly know the classes; the only feature does.
    /// let world = planted(Seed(1), &[30, 30], 6, 0.7, 0.0)?;
    /// let class = |i: usize| world.truth.label(i);
    /// let sign = |i: usize| if class(i) == Some(0) { -1.0 } else { 1.0 };
    /// let x = Array2::from_shape_fn((60, 1), |(i, _)| sign(i));
    /// let mut updater = Updater::new(world.ensemble.clone(), 2)?;
    /// let link = |i: usize, j: usize| match class(i) == class(j) {
    ///     true => Link::Must,
    ///     false => Link::Cannot,
    /// };
    /// let batch: Vec<_> = (0..30).map(|i| Pair::new(i, 59 - i, link(i, 59 - i))).collect();
    /// updater.update(&batch)?;
    /// updater.grow(x.view().into(), &MemberGrowth::new(Signs), 0.0, &())?;
    /// assert_eq!(updater.partition()?, world.truth);
    /// # Result::Ok(())
    /// ```
    ///
    /// # Errors
    /// As [`MemberGrowth::grow`] and [`Updater::add_members`];
    /// [`ErrorKind::InvalidParameter`](consilience_core::ErrorKind::InvalidParameter) for another
    /// number of [folds](MemberGrowth::folds) than that of the metric's rule;
    /// [`ErrorKind::ShapeMismatch`](consilience_core::ErrorKind::ShapeMismatch) for features of
    /// another number of objects;
    /// [`ErrorKind::TooLarge`](consilience_core::ErrorKind::TooLarge) where the metrics, or the
    /// sample of objects that rows with counts stand for, exceed the memory budget.
    ///
    /// # Complexity
    /// That of making the members, and of one spectrum for each fold.
    pub fn grow(
        &mut self,
        features: Features<'_>,
        growth: &MemberGrowth,
        share: f64,
        observer: &dyn Observer,
    ) -> Result<Fit<MetricReport>> {
        let (rows, n) = (features.n_objects(), self.ensemble().n_objects());
        ensure!(rows == n, shape("features of {rows} objects; expected {n}, as in the ensemble"));
        // Before anything is grown.
        ensure!(
            (0.0..=1.0).contains(&share),
            invalid("share {share} for new members; expected 0..=1")
        );
        let rule = self.metric.as_ref().map_or(&self.metric_rule, |metric| metric.rule());
        // Else members would be judged by links that they were made from.
        ensure!(
            growth.folds == rule.folds || !rule.cross_validated,
            invalid(
                "members grown in {} folds, and judged in {}; expected the same number",
                growth.folds,
                rule.folds
            )
        );
        let (counts, links) = (self.ensemble().counts(), self.told());
        let budget = self.weights.memory_budget();
        let q = self.metric.as_ref().map_or(0, |metric| metric.base.metric.n_dimensions());
        let q = q.saturating_add(COMPONENTS.min(features.n_features()));
        check_metrics(budget, rule.folds, q, links.len())?;
        let k = self.metric_rule.n_clusters();
        let made = growth.grow_objects(features, counts, k, &links, budget, observer)?;
        let (grown, mut told) = (made.output, made.report);
        let mut next = self.clone();
        next.open_metric(observer)?;
        let Some(mut metric) = next.metric.take() else {
            return Err(Error::empty("no metric was opened"));
        };
        let old: Vec<usize> = (metric.n_members()..next.ensemble().n_members()).collect();
        next.weights.retire_members(&old)?;
        next.weights.add_members(grown.members, share, observer)?;
        let report = metric.grow(
            next.ensemble(),
            &grown.left_out,
            grown.features,
            next.constraints(),
            observer,
        )?;
        told.status = report.status;
        next.metric = Some(metric);
        *self = next;
        Ok(Fit::new(report, told))
    }
}
