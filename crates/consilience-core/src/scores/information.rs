use super::Contingency;
use crate::{Ensemble, Error, ErrorKind, Partition, Result};

/// What mutual information is divided by to make it normalised; papers differ, so it is always
/// named.
///
/// ```
/// use consilience::{Partition, scores::{normalized_mutual_information, Normalizer}};
///
/// let a = Partition::from_labels(&[0, 0, 1, 1])?;
/// let b = Partition::from_labels(&[0, 1, 2, 3])?;
/// let nmi = |by| normalized_mutual_information(&a, &b, by);
/// assert!((nmi(Normalizer::Max)? - 0.5).abs() < 1e-12);
/// assert!((nmi(Normalizer::Arithmetic)? - 2.0 / 3.0).abs() < 1e-12);
/// assert!((nmi(Normalizer::Sqrt)? - 0.5f64.sqrt()).abs() < 1e-12);
/// assert!((nmi(Normalizer::Min)? - 1.0).abs() < 1e-12);
/// # Ok::<(), consilience::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum Normalizer {
    /// The larger entropy: the tables and programs of PTA, PTGP, LWEA and U-SENC. The strictest.
    Max,
    /// The geometric mean of the entropies: Strehl & Ghosh.
    Sqrt,
    /// The arithmetic mean of the entropies: Yi's thesis, and scikit-learn by default. Equals
    /// [`v_measure`].
    Arithmetic,
    /// The smaller entropy: 1 wherever one partition refines the other, but 0 where one of them
    /// alone is a single cluster, which tells nothing.
    Min,
}

crate::names! {
    name "normalizer" Normalizer:
    "max" => Max,
    "sqrt" => Sqrt,
    "arithmetic" => Arithmetic,
    "min" => Min,
}

impl Normalizer {
    pub(super) fn of(self, a: f64, b: f64) -> f64 {
        match self {
            Normalizer::Max => a.max(b),
            Normalizer::Sqrt => (a * b).sqrt(),
            Normalizer::Arithmetic => 0.5 * (a + b),
            Normalizer::Min => a.min(b),
        }
    }
}

/// Entropies in nats of two partitions over the objects that both label.
#[derive(Clone, Copy, Debug)]
pub(super) struct Information {
    /// H(A).
    pub(super) first: f64,
    /// H(B).
    pub(super) second: f64,
    /// I(A; B).
    pub(super) mutual: f64,
    /// H(A|B) + H(B|A).
    pub(super) variation: f64,
    /// Whether each partition has a single cluster.
    single: (bool, bool),
}

/// `ln(x / y)`, to the last digits also where the two are nearly equal.
fn log_ratio(x: u128, y: u128) -> f64 {
    let ratio = x as f64 / y as f64;
    if !(0.5..2.0).contains(&ratio) {
        return ratio.ln();
    }
    let apart = x.abs_diff(y) as f64 / y as f64;
    (if x < y { -apart } else { apart }).ln_1p()
}

impl Information {
    pub(super) fn new(table: &Contingency) -> Self {
        let n = table.n_objects();
        let scale = 1.0 / n as f64;
        let entropy = |sums: &[u64]| {
            let sum: f64 = sums
                .iter()
                .filter(|&&s| s > 0)
                .map(|&s| s as f64 * log_ratio(n.into(), s.into()))
                .sum();
            sum * scale
        };
        let (first, second) = (entropy(table.row_sums()), entropy(table.column_sums()));
        let (mut mutual, mut variation) = (0.0, 0.0);
        for (i, j, count) in table.cells() {
            let (a, b) = (table.row_sums()[i], table.column_sums()[j]);
            // Both products are exact, so that independence gives 0 exactly.
            let wide = |x: u64, y: u64| u128::from(x) * u128::from(y);
            mutual += count as f64 * log_ratio(wide(n, count), wide(a, b));
            // Every term is >= 0: no cancellation, and 0 exactly for equal partitions.
            let above = |sum: u64| log_ratio(sum.into(), count.into());
            variation += count as f64 * (above(a) + above(b));
        }
        Information {
            first,
            second,
            mutual: (mutual * scale).clamp(0.0, first.min(second)),
            variation: variation * scale,
            single: (table.occupied_rows() == 1, table.occupied_columns() == 1),
        }
    }

    pub(super) fn normalized(&self, by: Normalizer) -> f64 {
        if self.single == (true, true) {
            return 1.0;
        }
        if self.mutual == 0.0 {
            return 0.0;
        }
        (self.mutual / by.of(self.first, self.second)).min(1.0)
    }

    /// The first partition is the result, the second the truth.
    pub(super) fn homogeneity(&self) -> f64 {
        if self.single.1 { 1.0 } else { self.mutual / self.second }
    }

    pub(super) fn completeness(&self) -> f64 {
        if self.single.0 { 1.0 } else { self.mutual / self.first }
    }

    pub(super) fn v_measure(&self) -> f64 {
        let (h, c) = (self.homogeneity(), self.completeness());
        if h + c == 0.0 { 0.0 } else { 2.0 * h * c / (h + c) }
    }
}

fn information(a: &Partition, b: &Partition) -> Result<Information> {
    Ok(Information::new(&Contingency::new(a, b)?))
}

/// Mutual information in nats: how much knowing one partition tells about the other.
///
/// The raw quantity behind the normalised scores; it grows with the number of clusters, so compare
/// by [`normalized_mutual_information`] or
/// [`adjusted_mutual_information`](super::adjusted_mutual_information). Objects unlabelled in
/// either are left out.
///
/// `I(A;B) = sum_ij (n_ij / n) ln(n n_ij / (a_i b_j))`, between 0 and the smaller entropy.
///
/// ```
/// use consilience::{Partition, scores};
/// let a = Partition::from_labels(&[0, 0, 1, 1])?;
/// assert!((scores::mutual_information(&a, &a)? - 2f64.ln()).abs() < 1e-15);
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Complexity
/// O(n + k_a + k_b) time; memory as [`Contingency::new`].
///
/// # Errors
/// As [`Contingency::new`].
///
/// # References
/// Cover & Thomas (2006), Elements of information theory, equation 2.28.
#[doc(alias = "MI")]
pub fn mutual_information(a: &Partition, b: &Partition) -> Result<f64> {
    Ok(information(a, b)?.mutual)
}

/// Normalized mutual information: mutual information over a named normaliser, 0 to 1.
///
/// The score of most papers on consensus clustering; take [`Normalizer::Max`] to compare with the
/// tables of PTA and its relatives. Not corrected for chance: many clusters are favoured. Objects
/// unlabelled in either are left out.
///
/// `I(A;B) / norm(H(A), H(B))`; 1 where both are a single cluster, 0 where only one is.
///
/// ```
/// use consilience::{Partition, scores::{normalized_mutual_information, Normalizer}};
/// let a = Partition::from_labels(&[0, 0, 1, 1])?;
/// let b = Partition::from_labels(&[1, 1, 0, 0])?;
/// assert_eq!(normalized_mutual_information(&a, &b, Normalizer::Max)?, 1.0);
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Complexity
/// O(n + k_a + k_b) time; memory as [`Contingency::new`].
///
/// # Errors
/// As [`Contingency::new`].
///
/// # References
/// Strehl & Ghosh (2002), Cluster ensembles, JMLR 3:583-617, equation 2 (sqrt); Vinh, Epps & Bailey
/// (2010), JMLR 11:2837-2854, table 2 (all normalisers).
#[doc(alias = "NMI")]
pub fn normalized_mutual_information(a: &Partition, b: &Partition, by: Normalizer) -> Result<f64> {
    Ok(information(a, b)?.normalized(by))
}

/// Homogeneity: whether each cluster of the result holds objects of a single class.
///
/// Splitting classes costs nothing, so read it with [`completeness`]. Objects unlabelled in either
/// are left out.
///
/// `I(result;truth) / H(truth)`; 1 where the truth is a single class.
///
/// ```
/// use consilience::{Partition, scores};
/// let result = Partition::from_labels(&[0, 1, 2, 2])?;
/// let truth = Partition::from_labels(&[0, 0, 1, 1])?;
/// assert!((scores::homogeneity(&result, &truth)? - 1.0).abs() < 1e-12);
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Complexity
/// O(n + k_a + k_b) time; memory as [`Contingency::new`].
///
/// # Errors
/// As [`Contingency::new`].
///
/// # References
/// Rosenberg & Hirschberg (2007), V-measure, EMNLP-CoNLL 410-420, equation 1.
pub fn homogeneity(result: &Partition, truth: &Partition) -> Result<f64> {
    Ok(information(result, truth)?.homogeneity())
}

/// Completeness: whether all objects of a class lie in the same cluster of the result.
///
/// A single cluster reaches 1, so read it with [`homogeneity`]. Objects unlabelled in either are
/// left out.
///
/// `I(result;truth) / H(result)`; 1 where the result is a single cluster.
///
/// ```
/// use consilience::{Partition, scores};
/// let result = Partition::from_labels(&[0, 1, 2, 2])?;
/// let truth = Partition::from_labels(&[0, 0, 1, 1])?;
/// assert!((scores::completeness(&result, &truth)? - 2.0 / 3.0).abs() < 1e-12);
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Complexity
/// O(n + k_a + k_b) time; memory as [`Contingency::new`].
///
/// # Errors
/// As [`Contingency::new`].
///
/// # References
/// Rosenberg & Hirschberg (2007), V-measure, EMNLP-CoNLL 410-420, equation 2.
pub fn completeness(result: &Partition, truth: &Partition) -> Result<f64> {
    Ok(information(result, truth)?.completeness())
}

/// V-measure: the harmonic mean of [`homogeneity`] and [`completeness`].
///
/// The same number as [`normalized_mutual_information`] by [`Normalizer::Arithmetic`]. Objects
/// unlabelled in either are left out.
///
/// `2 h c / (h + c)`; 0 where both are 0.
///
/// ```
/// use consilience::{Partition, scores};
/// let result = Partition::from_labels(&[0, 1, 2, 2])?;
/// let truth = Partition::from_labels(&[0, 0, 1, 1])?;
/// assert!((scores::v_measure(&result, &truth)? - 0.8).abs() < 1e-12);
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Complexity
/// O(n + k_a + k_b) time; memory as [`Contingency::new`].
///
/// # Errors
/// As [`Contingency::new`].
///
/// # References
/// Rosenberg & Hirschberg (2007), V-measure, EMNLP-CoNLL 410-420, with beta = 1.
pub fn v_measure(result: &Partition, truth: &Partition) -> Result<f64> {
    Ok(information(result, truth)?.v_measure())
}

/// Variation of information in nats: a distance between partitions, 0 only where they are equal.
///
/// A true metric, so fit for medians and for maps of many partitions. Lower is better, at most
/// ln(n). Objects unlabelled in either are left out; between different pairs the objects counted
/// may then differ, and the triangle inequality no longer holds.
///
/// `H(A|B) + H(B|A)`.
///
/// ```
/// use consilience::{Partition, scores};
/// let a = Partition::from_labels(&[0, 0, 1, 1])?;
/// let b = Partition::from_labels(&[0, 1, 0, 1])?;
/// assert!((scores::variation_of_information(&a, &b)? - 4f64.ln()).abs() < 1e-15);
/// assert_eq!(scores::variation_of_information(&a, &a)?, 0.0);
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Complexity
/// O(n + k_a + k_b) time; memory as [`Contingency::new`].
///
/// # Errors
/// As [`Contingency::new`].
///
/// # References
/// Meilă (2007), Comparing clusterings, J. Multivariate Analysis 98:873-895, equation 15.
#[doc(alias = "VI")]
pub fn variation_of_information(a: &Partition, b: &Partition) -> Result<f64> {
    Ok(information(a, b)?.variation)
}

/// Average normalized mutual information of a partition with the members of an ensemble.
///
/// How well a consensus sums up its ensemble, without any known classes; use it to choose among
/// consensus functions. Each member is compared over the objects that it labels; members that share
/// no labelled object with the partition have nothing to say and are left out of the average.
/// Members count as often as their weights say; those that give memberships count by their most
/// probable clusters.
///
/// `(1/M) sum_u NMI(P, P_u)`.
///
/// ```
/// use consilience::{Ensemble, Partition, scores::{average_nmi, Normalizer}};
/// let a = Partition::from_labels(&[0, 0, 1, 1])?;
/// let b = Partition::from_labels(&[0, 1, 0, 1])?;
/// let ensemble = Ensemble::new(vec![a.clone(), b])?;
/// assert_eq!(average_nmi(&a, &ensemble, Normalizer::Sqrt)?, 0.5);
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Complexity
/// O(M n + sum of k_u + M k) time; memory as [`Contingency::new`].
///
/// # Errors
/// As [`Contingency::new`]; [`ErrorKind::Empty`] only where no member shares a labelled object.
///
/// # References
/// Strehl & Ghosh (2002), Cluster ensembles, JMLR 3:583-617, equation 4.
#[doc(alias = "ANMI")]
pub fn average_nmi(partition: &Partition, ensemble: &Ensemble, by: Normalizer) -> Result<f64> {
    let (mut sum, mut heard) = (0.0, 0.0);
    for (u, member) in ensemble.members().iter().enumerate() {
        let weight = ensemble.weights().map_or(1.0, |weights| weights[u]);
        if weight == 0.0 {
            continue;
        }
        let table = Contingency::with_counts(partition, member, ensemble.counts());
        match table.map(|table| Information::new(&table).normalized(by)) {
            Ok(nmi) => {
                sum += weight * nmi;
                heard += weight;
            }
            Err(e) if e.kind() == ErrorKind::Empty => {}
            Err(e) => return Err(e),
        }
    }
    if heard == 0.0 {
        return Err(Error::empty(format!(
            "the partition shares no labelled object with any of {} members",
            ensemble.n_members()
        )));
    }
    Ok(sum / heard)
}
