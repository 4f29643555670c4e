//! Whether links are taken at their word.

/// How a read-out of an [`Updater`](crate::Updater) places the objects that links are about.
///
/// ```
/// use consilience::follow::{LinkTrust, MetricRule};
///
/// assert_eq!("hold".parse::<LinkTrust>()?, LinkTrust::Hold);
/// assert_eq!(MetricRule::new(3), MetricRule::new(3).links(LinkTrust::Weigh));
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # References
/// A price for each broken link: Basu, Banerjee, Mooney 2004 (PCKMeans). The choice between both
/// by links that are held out is ours.
#[doc(alias = "hard constraints")]
#[doc(alias = "soft constraints")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum LinkTrust {
    /// Must-links hold, whatever speaks against them: each set of must-linked objects gets the
    /// centre that is best for all of them together. A cannot-link may be broken, for the total
    /// variance.
    Hold,
    /// As [`Hold`](LinkTrust::Hold), unless links are more often kept that are held out where every
    /// broken link has a price in its place, which may be nothing: then links that contradict
    /// members, features and the other links are set aside.
    #[default]
    Weigh,
}

consilience_core::names! {
    name "links" LinkTrust: "hold" => Hold, "weigh" => Weigh,
}
