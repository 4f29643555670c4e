/// lambda of [`Rdml`](crate::Rdml): what is added to the variance of every direction before it is
/// inverted.
///
/// ```
/// use consilience::completion::{Rdml, Smoothing};
///
/// assert_eq!(Rdml::new(3).smoothing(0.01), Rdml::new(3));
/// let published = Rdml::new(3).smoothing(Smoothing::PerObject(1.0));
/// assert_ne!(published, Rdml::new(3));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Smoothing {
    /// This share of the features' whole variance: lambda t, t being the trace of `X X'`.
    OfVariance(f64),
    /// lambda n for a sample of n objects, as in Eq. 4.5, in units in which the longest row of
    /// features has length 1, as the thesis's Theorem 2 assumes.
    PerObject(f64),
}

impl From<f64> for Smoothing {
    /// A share of the variance.
    fn from(share: f64) -> Self {
        Smoothing::OfVariance(share)
    }
}

impl Smoothing {
    pub(super) fn lambda(self) -> f64 {
        match self {
            Smoothing::OfVariance(lambda) | Smoothing::PerObject(lambda) => lambda,
        }
    }

    /// What is added to the diagonal of `X X'` of that trace, over so many objects, where the
    /// longest row has that squared length.
    pub(super) fn ridge(self, trace: f64, objects: f64, longest: f64) -> f64 {
        match self {
            Smoothing::OfVariance(lambda) => lambda * trace,
            Smoothing::PerObject(lambda) => lambda * objects * longest,
        }
    }
}
