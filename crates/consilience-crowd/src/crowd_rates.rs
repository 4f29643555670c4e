/// How often a crowd calls two objects the same.
///
/// ```
/// use consilience::crowd::{Answers, CrowdClustering, PairAnswer};
///
/// // Three workers judge all pairs of six objects, without a mistake.
/// let mut rows = Vec::new();
/// for worker in 0..3 {
///     for i in 0..6 {
///         for j in 0..i {
///             rows.push(PairAnswer { worker, i, j, same: (i < 3) == (j < 3) });
///         }
///     }
/// }
/// let result = CrowdClustering::new(2).fit(&Answers::from_pairs(6, &rows)?, &())?.output;
/// let rates = result.crowd_rates;
/// assert!(rates.same_together > 0.9 && rates.same_apart < 0.1);
/// # Ok::<(), consilience::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(try_from = "crate::stored::CrowdRatesFields")
)]
#[non_exhaustive]
pub struct CrowdRates {
    /// Probability of calling two objects of one cluster the same.
    #[doc(alias = "sensitivity")]
    pub same_together: f64,
    /// Probability of calling two objects of different clusters the same.
    pub same_apart: f64,
}
