//! Which read-out is used: each is compared with links that it was made without.

use consilience_core::{Constraints, Ensemble, Fit, Observer, Pair, Partition, Report, Result};
use consilience_num::logdet::LogDet;

use crate::consensus_metric::ConsensusMetric;
use crate::coordinates::Coordinates;
use crate::cross_validation::{CrossValidation, ReadOutMethod};
use crate::link_evidence::{HeldOutLink, ScoredLinks};
use crate::metric_read_out::{Cut, MetricReadOut};

/// Starts of k-means for a fold.
const FOLD_RESTARTS: usize = 2;

/// The read-out of a fold, and the metric that distances are measured by; without one the
/// directions of positions are compared.
type FoldReadOut = (MetricReadOut, Option<LogDet>);

impl ConsensusMetric {
    /// Compares the possible read-outs with links that they were made without.
    ///
    /// # Errors
    /// As [`ConsensusMetric::read_out`].
    #[doc(alias = "judge")]
    pub fn cross_validate(
        &self,
        ensemble: &Ensemble,
        constraints: &Constraints,
        observer: &dyn Observer,
    ) -> Result<CrossValidation> {
        self.check_links(constraints)?;
        self.embedding().check(ensemble)?;
        let plain = self.plain_read_out(ensemble, observer)?;
        self.compare(&plain, ensemble, constraints, observer)
    }

    fn plain_read_out(
        &self,
        ensemble: &Ensemble,
        observer: &dyn Observer,
    ) -> Result<MetricReadOut> {
        MetricReadOut::of_directions(&self.plain, ensemble, &self.cut(observer))
    }

    fn cut<'a>(&self, observer: &'a dyn Observer) -> Cut<'a> {
        Cut {
            clusters: self.rule.clusters,
            restarts: self.rule.restarts,
            seed: self.rule.seed,
            quick: false,
            observer,
        }
    }

    /// Compares the other read-outs with the plain one.
    fn compare(
        &self,
        plain: &MetricReadOut,
        ensemble: &Ensemble,
        constraints: &Constraints,
        observer: &dyn Observer,
    ) -> Result<CrossValidation> {
        let links: Vec<Pair> = constraints.iter().collect();
        let all = links.iter().enumerate();
        let plain = ScoredLinks::of(&held_out(plain, None, ensemble, all), links.len());
        let cut = Cut { quick: true, restarts: FOLD_RESTARTS, ..self.cut(observer) };
        let by_folds = |read: &dyn Fn(usize) -> Result<FoldReadOut>| -> Result<ScoredLinks> {
            let mut all = Vec::with_capacity(links.len());
            for fold in 0..self.rule.folds.min(links.len()) {
                let (read, metric) = read(fold)?;
                let of_fold = links.iter().enumerate().skip(fold).step_by(self.rule.folds);
                all.append(&mut held_out(&read, metric.as_ref(), ensemble, of_fold));
            }
            Ok(ScoredLinks::of(&all, links.len()))
        };
        let under = |coordinates: &Coordinates, metric: &LogDet| -> Result<FoldReadOut> {
            let read = MetricReadOut::of(coordinates, ensemble, metric.root()?.view(), &cut)?;
            Ok((read, Some(metric.clone())))
        };
        let metric = by_folds(&|f| under(&self.base.coordinates, &self.folds[f]))?;
        let grown = match &self.grown {
            None => None,
            Some(g) => Some((
                by_folds(&|f| {
                    Ok((MetricReadOut::of_directions(&g.plain_folds[f], ensemble, &cut)?, None))
                })?,
                by_folds(&|f| under(&g.folds[f].coordinates, &g.folds[f].metric))?,
            )),
        };
        let grown = grown.as_ref().map(|(plain, metric)| (plain, metric));
        Ok(CrossValidation::of(&plain, &metric, grown))
    }

    /// The clustering that cross-validation chooses, ready to label objects; `constraints` are
    /// those followed. The report notes which it is.
    ///
    /// Centres are found on at most 65,536 microclusters, on 4,096 in cross-validation; all objects
    /// are labelled by them.
    ///
    /// # Complexity
    /// O(n~ q k) per iteration of k-means over the microclusters, and folds times that over those
    /// of cross-validation.
    ///
    /// # Errors
    /// [`ErrorKind::ShapeMismatch`](consilience_core::ErrorKind::ShapeMismatch) for another
    /// ensemble, [`ErrorKind::InvalidParameter`](consilience_core::ErrorKind::InvalidParameter)
    /// unless `constraints` are as many as were followed,
    /// [`ErrorKind::Cancelled`](consilience_core::ErrorKind::Cancelled).
    pub fn read_out(
        &self,
        ensemble: &Ensemble,
        constraints: &Constraints,
        observer: &dyn Observer,
    ) -> Result<Fit<MetricReadOut>> {
        self.check_links(constraints)?;
        self.embedding().check(ensemble)?;
        let plain = self.plain_read_out(ensemble, observer)?;
        let validation = if self.n_links() == 0 {
            CrossValidation::default()
        } else if self.rule.cross_validated {
            self.compare(&plain, ensemble, constraints, observer)?
        } else {
            let chosen = match self.grown {
                Some(_) => ReadOutMethod::MetricGrown,
                None => ReadOutMethod::Metric,
            };
            CrossValidation { chosen, ..CrossValidation::default() }
        };
        let mut read = match validation.chosen {
            ReadOutMethod::Plain => plain,
            method => self.read_out_by(method, ensemble, observer)?,
        };
        read.cross_validation = validation;
        read.assign_groups(ensemble, constraints);
        let mut report = Report::default();
        report.microclusters = Some(read.coordinates.embedding.nodes().len());
        report.expect_clusters(
            self.rule.clusters,
            read.n_clusters(),
            "the ensemble distinguishes no more objects",
        );
        report.notes.push(format!("read out: {}", validation.chosen.name()));
        Ok(Fit::new(read, report))
    }

    /// The clustering by a given method, without cross-validation and without assigning linked
    /// objects as groups. Where no members were grown, the methods with grown members are those
    /// without.
    ///
    /// # Errors
    /// [`ErrorKind::ShapeMismatch`](consilience_core::ErrorKind::ShapeMismatch) for another
    /// ensemble, [`ErrorKind::Cancelled`](consilience_core::ErrorKind::Cancelled).
    #[doc(alias = "read_as")]
    pub fn read_out_by(
        &self,
        method: ReadOutMethod,
        ensemble: &Ensemble,
        observer: &dyn Observer,
    ) -> Result<MetricReadOut> {
        self.embedding().check(ensemble)?;
        let cut = self.cut(observer);
        let space = match (method, &self.grown) {
            (ReadOutMethod::Plain, _) | (ReadOutMethod::PlainGrown, None) => {
                return self.plain_read_out(ensemble, observer);
            }
            (ReadOutMethod::PlainGrown, Some(grown)) => {
                let mut read = MetricReadOut::of_directions(&grown.plain, ensemble, &cut)?;
                read.cross_validation.chosen = method;
                return Ok(read);
            }
            (ReadOutMethod::MetricGrown, Some(grown)) => &grown.all,
            _ => &self.base,
        };
        let root = space.metric.root()?;
        let mut read = MetricReadOut::of(&space.coordinates, ensemble, root.view(), &cut)?;
        read.cross_validation.chosen = method;
        Ok(read)
    }

    /// The clustering of all objects that cross-validation chooses.
    ///
    /// # Errors
    /// As [`ConsensusMetric::read_out`].
    pub fn partition(
        &self,
        ensemble: &Ensemble,
        constraints: &Constraints,
        observer: &dyn Observer,
    ) -> Result<Fit<Partition>> {
        let read = self.read_out(ensemble, constraints, observer)?;
        Ok(Fit::new(read.output.partition(ensemble, observer)?, read.report))
    }
}

/// Links with what a read-out made without them says: whether their objects share a cluster, and
/// their squared distance under the metric in units of the total variance, or without a metric that
/// of the directions of their positions.
fn held_out<'a>(
    read: &MetricReadOut,
    metric: Option<&LogDet>,
    ensemble: &Ensemble,
    links: impl Iterator<Item = (usize, &'a Pair)>,
) -> Vec<HeldOutLink> {
    let unit = if read.spread > 0.0 { read.spread } else { 1.0 };
    let one = |(link, &Pair { i, j, link: kind }): (usize, &Pair)| {
        let (a, b) = (read.label(ensemble, i)?, read.label(ensemble, j)?);
        let square = match metric {
            Some(metric) => metric.square(&read.coordinates.difference(ensemble, i, j)?) / unit,
            None => read.coordinates.direction_distance(ensemble, i, j)?,
        };
        Some(HeldOutLink { link, same: a == b, square, kind })
    };
    links.filter_map(one).collect()
}
