use consilience_core::{
    Clustering, ConstrainedClusterer, Features, Fit, Observer, Result, SideInformation, Status,
    check_answer,
};
use consilience_metric::MetricLearner;

/// Learns a metric and clusters under it: the two as one method, which takes plain features, also
/// of new objects.
///
/// For features that differ in importance, or of which only some combination distinguishes the
/// classes. Not where the features are already in the unit that counts: a metric learned from very
/// few labels can be worse than none.
///
/// ```text
/// metric -> L,   clusterer on the rows L x
/// ```
///
/// ```
/// use consilience::{Constraints, Link, SideInformation};
/// use consilience::constrained::{PckMeans, UnderMetric};
/// use consilience::metric::Itml;
/// use consilience::core::ConstrainedClusterer;
/// use consilience::ndarray::array;
///
/// let x = array![[0.0, 50.0], [1.0, 90.0], [0.5, 10.0], [5.0, 90.0], [6.0, 10.0], [5.5, 50.0]];
/// let mut pairs = Constraints::new(6)?;
/// pairs.add(0, 1, Link::Must)?;
/// pairs.add(0, 2, Link::Must)?;
/// pairs.add(3, 4, Link::Must)?;
/// pairs.add(3, 5, Link::Must)?;
/// pairs.add(1, 3, Link::Cannot)?;
/// let side = SideInformation::from_constraints(&pairs);
/// let method = UnderMetric::new(Itml::new(), PckMeans::new(2));
/// let found = method.cluster(x.view().into(), &side)?;
/// assert_eq!(found.partition.to_signed(), [0, 0, 0, 1, 1, 1]);
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// The report is that of the clusterer, after the notes of the metric; where the metric stopped at
/// its cap on iterations, status and notes say so.
///
/// # Errors
/// As those of the metric and of the clusterer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UnderMetric<M, C> {
    metric: M,
    clusterer: C,
}

impl<M: MetricLearner, C: ConstrainedClusterer> UnderMetric<M, C> {
    /// The metric, and the method that clusters under it. Boxes of trait objects serve as well.
    pub fn new(metric: M, clusterer: C) -> Self {
        UnderMetric { metric, clusterer }
    }
}

impl<M: MetricLearner, C: ConstrainedClusterer> ConstrainedClusterer for UnderMetric<M, C> {
    fn name(&self) -> &'static str {
        self.clusterer.name()
    }

    fn fit(
        &self,
        features: Features<'_>,
        side: &SideInformation,
        observer: &dyn Observer,
    ) -> Result<Fit<Clustering>> {
        let learned = self.metric.fit(features, side, observer)?;
        let (taken, d) = (learned.output.n_features(), features.n_features());
        check_answer(self.metric.name(), "features of a metric", taken, d)?;
        let mapped = learned.output.apply_observed(features, observer)?;
        let mut found = self.clusterer.fit(mapped.view().into(), side, observer)?;
        let labels = found.output.partition.n_objects();
        check_answer(self.clusterer.name(), "labels", labels, features.n_objects())?;
        let mut notes = learned.report.notes;
        if learned.report.status != Status::Solved {
            found.report.status = learned.report.status;
            let name = self.metric.name();
            notes.push(format!("the metric, {name}, stopped at the cap on iterations"));
        }
        notes.append(&mut found.report.notes);
        found.report.notes = notes;
        Ok(Fit::new(found.output.behind(learned.output)?, found.report))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Nnc;
    use consilience_metric::{Itml, RsdDiagonal};
    use ndarray::array;

    #[test]
    fn boxes_do_the_same_and_new_objects_come_before_the_map() {
        let x = array![[0.0, 5.0], [1.0, -5.0], [8.0, 5.0], [9.0, -5.0]];
        let side = SideInformation::from_labels(&[0, 0, 1, 1]).unwrap();
        let plain = UnderMetric::new(RsdDiagonal::new(), Nnc::new(2));
        let metric: Box<dyn MetricLearner> = Box::new(RsdDiagonal::new());
        let clusterer: Box<dyn ConstrainedClusterer> = Box::new(Nnc::new(2));
        let boxed = UnderMetric::new(metric, clusterer);
        let a = plain.cluster(x.view().into(), &side).unwrap();
        let b = boxed.cluster(x.view().into(), &side).unwrap();
        assert_eq!(a.partition, b.partition);
        let new = array![[7.0, 0.0]];
        assert_eq!(a.assign(new.view()).unwrap(), [1]);
        assert_eq!(b.assign(new.view()).unwrap(), [1]);
        assert_eq!(boxed.name(), "nnc");
    }

    #[test]
    fn a_metric_at_its_cap_is_told() {
        let x = array![[0.0, 5.0], [1.0, -5.0], [8.0, 5.0], [9.0, -5.0], [4.0, 1.0]];
        let side = SideInformation::from_labels(&[0, 0, 1, 1, -1]).unwrap();
        let fit = |sweeps: usize, tolerance: f64| {
            let metric = Itml::new().max_iterations(sweeps).tolerance(tolerance);
            UnderMetric::new(metric, Nnc::new(2)).fit(x.view().into(), &side, &()).unwrap().report
        };
        let cut = fit(1, 1e-12);
        assert_eq!(cut.status, Status::MaxIterations);
        assert!(cut.notes.iter().any(|n| n.contains("itml, stopped at the cap")), "{cut:?}");
        let whole = fit(100_000, 1e-3);
        assert_eq!(whole.status, Status::Solved);
        assert!(!whole.notes.iter().any(|n| n.contains("cap")), "{whole:?}");
    }
}
