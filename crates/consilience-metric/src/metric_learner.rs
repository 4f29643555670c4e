use consilience_core::{Features, Fit, Observer, Result, SideInformation};

use crate::LinearMap;

/// A few labels or pairs to a metric.
///
/// ```
/// use consilience::{Features, Fit, Observer, Report, Result, SideInformation};
/// use consilience::metric::{LinearMap, MetricLearner};
/// use consilience::ndarray::array;
///
/// /// Every feature by its range among the objects of which something is known.
/// struct Ranges;
///
/// impl MetricLearner for Ranges {
///     fn name(&self) -> &'static str {
///         "ranges"
///     }
///
///     fn fit(
///         &self,
///         features: Features<'_>,
///         side: &SideInformation,
///         observer: &dyn Observer,
///     ) -> Result<Fit<LinearMap>> {
///         features.check()?;
///         side.check_features(features)?;
///         observer.check()?;
///         let x = features.dense()?.to_f64()?;
///         let known: Vec<usize> = side.labelled_objects().iter().map(|o| o.0).collect();
///         let range = |j: usize| {
///             let values = known.iter().map(|&i| x[[i, j]]);
///             values.clone().fold(f64::MIN, f64::max) - values.fold(f64::MAX, f64::min)
///         };
///         let factors: Vec<f64> = (0..x.ncols()).map(|j| 1.0 / range(j).max(1.0)).collect();
///         Ok(Fit::new(LinearMap::from_diagonal(&factors)?, Report::default()))
///     }
/// }
///
/// let x = array![[0.0, 100.0], [4.0, 900.0]];
/// let side = SideInformation::from_labels(&[0, 1])?;
/// let map = Ranges.learn(x.view().into(), &side)?;
/// assert_eq!(map.apply(x.view())?, array![[0.0, 0.125], [1.0, 1.125]]);
/// # Ok::<(), consilience::Error>(())
/// ```
pub trait MetricLearner: Send + Sync {
    /// The name that the program uses, for instance `rsd-diagonal`.
    fn name(&self) -> &'static str;

    /// Learns a metric that brings must-linked objects together and drives cannot-linked ones
    /// apart.
    ///
    /// # Errors
    /// [`ErrorKind::Empty`](consilience_core::ErrorKind::Empty) and
    /// [`ErrorKind::NonFinite`](consilience_core::ErrorKind::NonFinite) for bad features,
    /// [`ErrorKind::ShapeMismatch`](consilience_core::ErrorKind::ShapeMismatch) where the side
    /// information is about another number of objects,
    /// [`ErrorKind::InvalidParameter`](consilience_core::ErrorKind::InvalidParameter) as the method
    /// says, [`ErrorKind::Cancelled`](consilience_core::ErrorKind::Cancelled).
    fn fit(
        &self,
        features: Features<'_>,
        side: &SideInformation,
        observer: &dyn Observer,
    ) -> Result<Fit<LinearMap>>;

    /// The metric alone.
    ///
    /// # Errors
    /// As [`MetricLearner::fit`].
    fn learn(&self, features: Features<'_>, side: &SideInformation) -> Result<LinearMap> {
        Ok(self.fit(features, side, &())?.output)
    }
}

/// What points at a learner is one.
macro_rules! forward {
    ($($pointer:ty),+) => {$(
        impl<T: MetricLearner + ?Sized> MetricLearner for $pointer {
            fn name(&self) -> &'static str {
                (**self).name()
            }

            fn fit(
                &self,
                features: Features<'_>,
                side: &SideInformation,
                observer: &dyn Observer,
            ) -> Result<Fit<LinearMap>> {
                (**self).fit(features, side, observer)
            }
        }
    )+};
}

forward!(Box<T>, &T);
