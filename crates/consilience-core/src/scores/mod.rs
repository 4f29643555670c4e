//! How well two clusterings agree.
//!
//! [`Scores::compare`] computes everything at once; each score is also a function of two
//! partitions. Where the two play different roles, the result comes first and the truth second.
//!
//! ```
//! use consilience::{Partition, scores::Scores};
//!
//! let result = Partition::from_labels(&[0, 0, 0, 1, 1, 1])?;
//! let truth = Partition::from_labels(&[0, 0, 1, 1, 2, 2])?;
//! let scores = Scores::compare(&result, &truth)?;
//! assert_eq!(scores.purity, 4.0 / 6.0);
//! assert!((scores.ari - 8.0 / 33.0).abs() < 1e-12);
//! for (name, value) in scores.entries() {
//!     println!("{name:20} {value:.4}");
//! }
//! # Ok::<(), consilience::Error>(())
//! ```
//!
//! Which one? [`adjusted_rand`] or [`adjusted_mutual_information`] against known classes, since
//! chance agreement counts as 0; [`accuracy`] where a person will read it;
//! [`normalized_mutual_information`] to compare with a paper, by the normaliser of that paper;
//! [`pair_precision`] and [`pair_recall`] where pairs are the answer; [`average_nmi`] without any
//! truth; [`jensen_shannon`] for soft results.
//!
//! Objects unlabelled in either partition are left out everywhere. No score is ever NaN: degenerate
//! partitions (a single cluster, single objects) follow scikit-learn's conventions, stated at each
//! function. Only [`Scores::accuracy`] is, where there are too many clusters to match.

mod adjusted;
mod contingency;
mod information;
mod largest_weight;
mod matching;
mod pair;
mod soft;
#[cfg(test)]
mod tests;
mod weighted;

pub use adjusted::adjusted_mutual_information;
pub use contingency::Contingency;
pub use information::{
    Normalizer, average_nmi, completeness, homogeneity, mutual_information,
    normalized_mutual_information, v_measure, variation_of_information,
};
pub use matching::{accuracy, purity};
pub use pair::{
    adjusted_rand, fowlkes_mallows, jaccard, pair_f, pair_precision, pair_recall, rand,
};
pub use soft::{jensen_shannon, jensen_shannon_within};
pub use weighted::{nmi_of_cells, weighted_nmi};

use crate::{Partition, Result};

/// All scores of one partition against another, from one pass over the labels.
///
/// Use it for tables and reports; a single score is cheaper on its own. The fields follow the
/// functions of this module.
///
/// ```
/// use consilience::{Partition, scores::Scores};
///
/// let truth = Partition::from_labels(&[0, 0, 1, 1, 1])?;
/// let scores = Scores::compare(&truth, &truth)?;
/// assert_eq!((scores.ari, scores.ami, scores.nmi_max, scores.vi), (1.0, 1.0, 1.0, 0.0));
/// # Ok::<(), consilience::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Scores {
    /// [`normalized_mutual_information`] by [`Normalizer::Max`].
    pub nmi_max: f64,
    /// [`normalized_mutual_information`] by [`Normalizer::Sqrt`].
    pub nmi_sqrt: f64,
    /// [`normalized_mutual_information`] by [`Normalizer::Arithmetic`].
    pub nmi_arithmetic: f64,
    /// [`adjusted_mutual_information`].
    pub ami: f64,
    /// [`adjusted_rand`].
    pub ari: f64,
    /// [`rand()`].
    pub rand: f64,
    /// [`accuracy`]; NaN, which text formats store as null, where there are too many clusters to
    /// match. Then these scores equal none, not even themselves.
    #[cfg_attr(feature = "serde", serde(with = "or_nan"))]
    pub accuracy: f64,
    /// [`purity`].
    pub purity: f64,
    /// [`homogeneity`].
    pub homogeneity: f64,
    /// [`completeness`].
    pub completeness: f64,
    /// [`v_measure`].
    pub v_measure: f64,
    /// [`variation_of_information`], in nats; lower is better.
    pub vi: f64,
    /// [`mutual_information`], in nats.
    pub mutual_information: f64,
    /// [`pair_precision`].
    pub pair_precision: f64,
    /// [`pair_recall`].
    pub pair_recall: f64,
    /// [`pair_f`].
    pub pair_f: f64,
    /// [`fowlkes_mallows`].
    pub fowlkes_mallows: f64,
    /// [`jaccard`].
    pub jaccard: f64,
}

impl Scores {
    /// Compares a result with the truth; each number equals that of the function of its name. Where
    /// [`accuracy`] has too many clusters to match it is NaN, and all others are there.
    ///
    /// # Complexity
    /// That of [`adjusted_mutual_information`] plus that of [`accuracy`], the only ones above O(n).
    ///
    /// # Errors
    /// [`ErrorKind::ShapeMismatch`](crate::ErrorKind::ShapeMismatch) with both lengths where they
    /// differ, [`ErrorKind::Empty`](crate::ErrorKind::Empty) where no object is labelled in both.
    pub fn compare(result: &Partition, truth: &Partition) -> Result<Scores> {
        Self::of(&Contingency::new(result, truth)?)
    }

    /// The scores of a table that is there already, for instance of objects that stand for many
    /// ([`Contingency::with_counts`]) or counted elsewhere ([`Contingency::from_cells`]).
    ///
    /// # Errors
    /// None: what [`accuracy`] refuses is NaN here.
    pub fn of(table: &Contingency) -> Result<Scores> {
        let information = information::Information::new(table);
        let pairs = pair::PairTable::new(table);
        Ok(Scores {
            nmi_max: information.normalized(Normalizer::Max),
            nmi_sqrt: information.normalized(Normalizer::Sqrt),
            nmi_arithmetic: information.normalized(Normalizer::Arithmetic),
            ami: adjusted::adjusted(table, &information),
            ari: pairs.adjusted_rand(),
            rand: pairs.rand(),
            accuracy: matching::accuracy_or_nan(table)?,
            purity: matching::pure_fraction(table),
            homogeneity: information.homogeneity(),
            completeness: information.completeness(),
            v_measure: information.v_measure(),
            vi: information.variation,
            mutual_information: information.mutual,
            pair_precision: pairs.precision(),
            pair_recall: pairs.recall(),
            pair_f: pairs.f(),
            fowlkes_mallows: pairs.fowlkes_mallows(),
            jaccard: pairs.jaccard(),
        })
    }

    /// Names and values in the order of the fields, for tables and files.
    pub fn entries(&self) -> [(&'static str, f64); 18] {
        [
            ("nmi_max", self.nmi_max),
            ("nmi_sqrt", self.nmi_sqrt),
            ("nmi_arithmetic", self.nmi_arithmetic),
            ("ami", self.ami),
            ("ari", self.ari),
            ("rand", self.rand),
            ("accuracy", self.accuracy),
            ("purity", self.purity),
            ("homogeneity", self.homogeneity),
            ("completeness", self.completeness),
            ("v_measure", self.v_measure),
            ("vi", self.vi),
            ("mutual_information", self.mutual_information),
            ("pair_precision", self.pair_precision),
            ("pair_recall", self.pair_recall),
            ("pair_f", self.pair_f),
            ("fowlkes_mallows", self.fowlkes_mallows),
            ("jaccard", self.jaccard),
        ]
    }
}

/// A number that may be NaN, for which JSON has no word.
#[cfg(feature = "serde")]
mod or_nan {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(super) fn serialize<S: Serializer>(value: &f64, to: S) -> Result<S::Ok, S::Error> {
        Some(*value).filter(|value| !value.is_nan()).serialize(to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
        Ok(Option::deserialize(from)?.unwrap_or(f64::NAN))
    }
}
