//! Where a tree is cut.

use consilience_core::{Clusters, Dendrogram, Error, Merge, Result};

/// The heights of a tree between which [`Clusters::Lifetime`] compares lifetimes.
///
/// Lifetimes at the two ends depend on the scale of a similarity: where no two nodes are ever very
/// similar, the time before the first merge is long and says nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Lifespan {
    /// From 0 to 1, the range of all dissimilarities.
    #[default]
    Whole,
    /// From the first merge to 1; all nodes stay apart where none are linked.
    FromFirstMerge,
    /// From 0 to the last merge: one cluster is never found.
    ToLastMerge,
}

impl Lifespan {
    /// The number of clusters that a criterion chooses in a tree.
    ///
    /// ```
    /// use consilience::{Clusters, Linkage};
    /// use consilience::graph::{Lifespan, linkage};
    /// use consilience::ndarray::array;
    ///
    /// let distances = array![[0.0, 0.1, 0.9], [0.1, 0.0, 0.9], [0.9, 0.9, 0.0]];
    /// let tree = linkage(distances, &[1.0; 3], Linkage::Average, &())?;
    /// assert_eq!(Lifespan::Whole.clusters(Clusters::Lifetime, &tree)?, 2);
    /// assert_eq!(Lifespan::Whole.clusters(Clusters::Height(0.05), &tree)?, 3);
    /// # Ok::<(), consilience::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Lifespan::check`].
    pub fn clusters(self, clusters: Clusters, tree: &Dendrogram) -> Result<usize> {
        chosen(clusters, self, tree)
    }

    /// Refuses what chooses no number of clusters in a tree.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidParameter`](consilience_core::ErrorKind::InvalidParameter).
    pub fn check(clusters: Clusters) -> Result<()> {
        check_tree_cut(clusters)
    }

    /// The number of clusters of the longest lifetime.
    fn longest(self, tree: &Dendrogram) -> usize {
        let height = |merge: Option<&Merge>| merge.map_or(1.0, |m| m.height);
        match self {
            Lifespan::Whole => tree.longest_lifetime(1.0),
            Lifespan::ToLastMerge => tree.longest_lifetime(height(tree.merges().last())),
            Lifespan::FromFirstMerge => {
                let start = height(tree.merges().first());
                if start < 1.0 {
                    tree.clone().map_heights(|h| h - start).longest_lifetime(1.0 - start)
                } else {
                    tree.n_leaves()
                }
            }
        }
    }
}

/// The number of clusters that a criterion chooses in a tree.
pub(crate) fn chosen(clusters: Clusters, lifespan: Lifespan, tree: &Dendrogram) -> Result<usize> {
    match clusters {
        Clusters::Fixed(k) => Ok(k),
        Clusters::Auto | Clusters::Lifetime => Ok(lifespan.longest(tree)),
        Clusters::Height(height) => {
            Ok(tree.n_leaves() - tree.merges().partition_point(|m| m.height <= height))
        }
        other => Err(refused(other)),
    }
}

/// Refuses what chooses no number of clusters in a tree.
pub(crate) fn check_tree_cut(clusters: Clusters) -> Result<()> {
    match clusters {
        Clusters::Height(height) if height.is_nan() => {
            Err(Error::invalid("a cut at the dissimilarity NaN; expected a number"))
        }
        Clusters::Auto | Clusters::Fixed(_) | Clusters::Lifetime | Clusters::Height(_) => Ok(()),
        other => Err(refused(other)),
    }
}

fn refused(clusters: Clusters) -> Error {
    clusters.refuse("linkage", "a number, the longest lifetime or a height")
}
