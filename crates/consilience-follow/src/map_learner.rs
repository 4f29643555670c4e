//! What a rule learns from links.

/// How a [`MetricRule`](crate::MetricRule) learns from links.
///
/// ```
/// use consilience::follow::{MapLearner, MetricRule};
///
/// assert_eq!(MapLearner::default(), MapLearner::LogDet);
/// assert_eq!(MetricRule::new(3), MetricRule::new(3).learner(MapLearner::LogDet));
/// ```
///
/// # References
/// LogDet: Davis et al. 2007. Completion: Yi, Zhang, Jin, Qian, Jain 2013, "Semi-supervised
/// clustering by input pattern assisted pairwise similarity matrix completion", here on the
/// singular vectors of an ensemble in place of those of features.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum MapLearner {
    /// The metric nearest to the identity under which must-links are short and cannot-links long
    /// (ITML). The better one with few links, and with few clusters.
    #[default]
    LogDet,
    /// The similarity of least nuclear norm that is 1 on must-links and 0 on cannot-links
    /// ([`Mccc`](consilience_completion::Mccc)), in the same positions. With thousands of links it
    /// may be better; with a hundred it is often worse, even than the plain consensus where
    /// cross-validation does not see it. Following a batch costs nothing: all is solved at the
    /// read-out, within a second or two.
    Completion,
}
