use consilience_core::{Error, Features, Fit, Link, Observer, Pair, Result};

use crate::embedding::{ConsensusMetric, MetricReadOut, MetricReport, MetricRule};
use crate::growth::HullGrowth;
use crate::updater::Updater;

impl Updater {
    /// The default way to a clustering: under a metric on the ensemble's own embedding that has
    /// followed all constraints, where links that it has not seen speak for it, and the plain
    /// consensus else. See [`MetricRule`].
    ///
    /// The first call opens the metric, as does the first after objects or members came or went;
    /// from then on updates move it too.
    ///
    /// ```
    /// use consilience_core::{Ensemble, Link, Seed};
    /// use consilience_simplex::{Reading, Updater};
    /// use ndarray::Array2;
    ///
    /// // Three members group by i % 2, two by whether i % 4 > 1; the links mean the latter.
    /// let meant = |i: usize| i % 4 / 2;
    /// let labels = Array2::from_shape_fn((64, 5), |(i, u)| if u < 3 { i % 2 } else { meant(i) } as u32);
    /// let mut updater = Updater::new(Ensemble::from_array(labels.view())?, 2)?;
    /// assert_eq!(updater.read_out(&())?.output.reading(), Reading::Plain);
    /// let mut draw = Seed(1).stream();
    /// let batch: Vec<_> = (0..40)
    ///     .map(|_| (draw.below(64), draw.below(64)))
    ///     .map(|(i, j)| (i, j, if meant(i) == meant(j) { Link::Must } else { Link::Cannot }))
    ///     .collect();
    /// updater.update(&batch)?;
    /// let read = updater.read_out(&())?.output;
    /// assert_eq!(read.reading(), Reading::Metric);
    /// assert_eq!(&read.partition(updater.ensemble(), &())?, &updater.ensemble().members()[3]);
    /// # Ok::<(), consilience_core::Error>(())
    /// ```
    ///
    /// # Complexity
    /// Opening: as [`Embedding::fit`](crate::Embedding::fit). Then as
    /// [`ConsensusMetric::read_out`].
    ///
    /// # Errors
    /// [`ErrorKind::Cancelled`](consilience_core::ErrorKind::Cancelled).
    pub fn read_out(&mut self, observer: &dyn Observer) -> Result<Fit<MetricReadOut>> {
        self.open_metric(observer)?;
        let Some(metric) = &self.metric else { return Err(Error::empty("no metric was opened")) };
        metric.read_out(&self.ensemble, &self.constraints, observer)
    }

    /// The metric, where [`read_out`](Updater::read_out) or [`grow`](Updater::grow) has opened it.
    pub fn metric(&self) -> Option<&ConsensusMetric> {
        self.metric.as_ref()
    }

    /// Changes how the metric follows constraints; it is opened anew at the next read-out.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidParameter`](consilience_core::ErrorKind::InvalidParameter) for
    /// parameters out of range.
    pub fn set_metric_rule(&mut self, rule: MetricRule) -> Result<()> {
        rule.check()?;
        self.ensemble.check_clusters(rule.n_clusters())?;
        (self.metric_rule, self.metric) = (rule, None);
        Ok(())
    }

    /// Grows the hull: members made under a metric of the features, learned from all constraints so
    /// far, join with a share of the weight between them; those grown before leave. The read-out
    /// believes them only where they prove themselves on constraints that they have not seen. On an
    /// error nothing has changed.
    ///
    /// They stay, and the metric on them follows new constraints, until this is called again, or
    /// until objects or other members come or go: then they leave. [`Updater::to_bytes`] keeps
    /// them. Growing before there are constraints is of no use.
    ///
    /// ```
    /// use consilience_conformance::planted;
    /// # use consilience_core::{BaseClusterer, Features, Fit, Observer, Partition};
    /// use consilience_core::{Link, Result, Seed};
    /// use consilience_simplex::{HullGrowth, Updater};
    /// use ndarray::Array2;
    ///
    /// # struct Signs;
    /// # impl BaseClusterer for Signs {
    /// #     fn name(&self) -> &'static str { "signs" }
    /// #     fn fit(&self, x: Features<'_>, _: usize, _: Seed, _: &dyn Observer) -> Result<Fit<Partition>> {
    /// #         let Features::F64(x) = x else { unreachable!() };
    /// #         Ok(Fit::new(Partition::from_fn(x.nrows(), |i| Some(u64::from(x.row(i).sum() > 0.0)))?, Default::default()))
    /// #     }
    /// # }
    /// // The members know little, the only feature everything.
    /// let world = planted(Seed(1), &[30, 30], 6, 0.7, 0.0)?;
    /// let class = |i: usize| world.truth.label(i);
    /// let x = Array2::from_shape_fn((60, 1), |(i, _)| if class(i) == Some(0) { -1.0 } else { 1.0 });
    /// let mut updater = Updater::new(world.ensemble.clone(), 2)?;
    /// let batch: Vec<_> = (0..30)
    ///     .map(|i| (i, 59 - i, if class(i) == class(59 - i) { Link::Must } else { Link::Cannot }))
    ///     .collect();
    /// updater.update(&batch)?;
    /// updater.grow(x.view().into(), &HullGrowth::new(Signs), 0.0, &())?;
    /// let read = updater.read_out(&())?.output;
    /// assert_eq!(read.partition(updater.ensemble(), &())?, world.truth);
    /// # Result::Ok(())
    /// ```
    ///
    /// # Errors
    /// As [`HullGrowth::grow`] and [`Updater::add_members`];
    /// [`ErrorKind::ShapeMismatch`](consilience_core::ErrorKind::ShapeMismatch) for features of
    /// another number of objects.
    ///
    /// # Complexity
    /// That of making the members, and of one spectrum for each fold.
    pub fn grow(
        &mut self,
        features: Features<'_>,
        growth: &HullGrowth,
        share: f64,
        observer: &dyn Observer,
    ) -> Result<MetricReport> {
        let (rows, n) = (features.n_objects(), self.ensemble.n_objects());
        if rows != n {
            return Err(Error::shape(format!(
                "features of {rows} objects; expected {n}, as in the ensemble"
            )));
        }
        let grown = growth
            .grow(features, self.metric_rule.n_clusters(), &self.constraints, observer)?
            .output;
        let mut next = self.clone();
        next.open_metric(observer)?;
        let Some(mut metric) = next.metric.take() else {
            return Err(Error::empty("no metric was opened"));
        };
        let old: Vec<usize> = (metric.n_members()..next.ensemble.n_members()).collect();
        next.retire_members(&old)?;
        next.add_members(grown.members, share, observer)?;
        let report = metric.grow(
            &next.ensemble,
            &grown.left_out,
            grown.features,
            &next.constraints,
            observer,
        )?;
        next.metric = Some(metric);
        *self = next;
        Ok(report)
    }

    /// Numbers of the members that were grown; none where no metric is open.
    pub(crate) fn grown(&self) -> std::ops::Range<usize> {
        let all = self.ensemble.n_members();
        self.metric.as_ref().map_or(all, ConsensusMetric::n_members)..all
    }

    /// Opens the metric, if it is not open, so that the updates to come move it batch by batch.
    ///
    /// [`read_out`](Updater::read_out) does so anyway; the metric then follows all constraints so
    /// far at once, which ends where following them batch by batch does but for rounding.
    ///
    /// # Errors
    /// As [`Updater::read_out`].
    pub fn open_metric(&mut self, observer: &dyn Observer) -> Result<()> {
        if self.metric.is_none() {
            let mut metric = self.metric_rule.open(&self.ensemble, observer)?;
            let links: Vec<Pair> = self.constraints.iter().collect();
            metric.follow(&self.ensemble, &links, observer)?;
            self.metric = Some(metric);
        }
        Ok(())
    }
}
