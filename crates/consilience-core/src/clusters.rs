use std::fmt;
use std::str::FromStr;

use crate::{Error, Result, named};

/// How many clusters a method makes.
///
/// Every consensus function takes it where it is built, and a plain number is one:
/// `Pta::new(10)`, `Pta::new(Clusters::Lifetime)`. A method refuses the criteria that it does not
/// have, and says which it takes.
///
/// ```
/// use consilience::Clusters;
///
/// assert_eq!(Clusters::from(3), Clusters::Fixed(3));
/// assert_eq!(Clusters::from(3).fixed(), Some(3));
/// assert_eq!(Clusters::Lifetime.fixed(), None);
/// assert_eq!(Clusters::Eigengap.to_string(), "the widest gap between eigenvalues");
/// ```
#[doc(alias = "n_clusters")]
#[doc(alias = "k")]
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Clusters {
    /// As many as the method itself finds, by the criterion that it knows best: the longest
    /// lifetime in a tree, the widest gap between eigenvalues, the clusters that survive.
    Auto,
    /// So many, or as many as there are distinct objects.
    Fixed(usize),
    /// As many as persist longest in the tree; see [`Dendrogram`](crate::Dendrogram).
    Lifetime,
    /// Those of the tree at a dissimilarity: merges at or below it are made.
    Height(f64),
    /// By the widest gap between eigenvalues, of which there are looked at as many as the root of
    /// the number of microclusters, rounded up, and two at least. Better agreement leaves fewer of
    /// these. Where members nearly agree, nine tenths of the objects being in no more than twice as
    /// many microclusters as the median member has clusters, and some member has more clusters than
    /// that root: one more than it has, up to 30.
    Eigengap,
    /// As many as survive in a probabilistic consensus that starts with too many.
    Survival,
}

impl Clusters {
    /// The number, where it is fixed.
    pub fn fixed(self) -> Option<usize> {
        match self {
            Clusters::Fixed(k) => Some(k),
            _ => None,
        }
    }

    /// The error of a method that cannot choose the number of clusters in this way.
    pub fn refuse(self, method: &str, expected: &str) -> Error {
        Error::invalid(format!(
            "number of clusters by {self}, which {method} cannot; expected {expected}"
        ))
    }
}

impl From<usize> for Clusters {
    fn from(k: usize) -> Self {
        Clusters::Fixed(k)
    }
}

/// A whole number, `auto`, `lifetime`, `height=0.5` (the dissimilarity), `eigengap` or `survival`.
/// `Display` says in words what is meant, which is not read.
///
/// ```
/// use consilience::Clusters;
///
/// assert_eq!("10".parse::<Clusters>()?, Clusters::Fixed(10));
/// assert_eq!("height=0.5".parse::<Clusters>()?, Clusters::Height(0.5));
/// assert!("lifetimes".parse::<Clusters>().is_err());
/// # Ok::<(), consilience::Error>(())
/// ```
impl FromStr for Clusters {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        const CRITERIA: [(&str, Clusters); 4] = [
            ("auto", Clusters::Auto),
            ("lifetime", Clusters::Lifetime),
            ("eigengap", Clusters::Eigengap),
            ("survival", Clusters::Survival),
        ];
        if let Ok(k) = text.parse() {
            return Ok(Clusters::Fixed(k));
        }
        if let Some(height) = text.strip_prefix("height=").and_then(|h| h.parse::<f64>().ok())
            && height.is_finite()
        {
            return Ok(Clusters::Height(height));
        }
        named("number of clusters", text, &CRITERIA)
            .map_err(|error| Error::invalid(format!("{error}, height=NUMBER, or a whole number")))
    }
}

impl fmt::Display for Clusters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Clusters::Auto => f.write_str("the method's own criterion"),
            Clusters::Fixed(k) => write!(f, "the number {k}"),
            Clusters::Lifetime => f.write_str("the longest lifetime in the tree"),
            Clusters::Height(h) => write!(f, "the dissimilarity {h}"),
            Clusters::Eigengap => f.write_str("the widest gap between eigenvalues"),
            Clusters::Survival => f.write_str("the clusters that survive"),
        }
    }
}
