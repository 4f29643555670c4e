use ndarray::Array2;

use crate::{Error, Result, check_answer, ensure, ties};

/// One merge of a [`Dendrogram`].
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Merge {
    /// The merged nodes, the smaller first: leaves are `0..n`, merge t makes node `n + t`.
    pub nodes: [usize; 2],
    /// Dissimilarity at which they merge.
    pub height: f64,
    /// Leaves below.
    pub leaves: usize,
}

/// The tree of an agglomerative clustering: n leaves and n - 1 merges from low to high.
///
/// ```
/// use consilience::Dendrogram;
///
/// let tree = Dendrogram::from_merges(3, vec![(0, 1, 0.1), (1, 2, 0.8)])?;
/// assert_eq!(tree.cut(2)?, vec![0, 0, 1]);
/// assert_eq!(tree.cut_at(0.05), vec![0, 1, 2]);
/// assert_eq!(tree.longest_lifetime(1.0), 2);
/// # Ok::<(), consilience::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(try_from = "crate::stored::DendrogramFields", into = "crate::stored::DendrogramFields")
)]
pub struct Dendrogram {
    leaves: usize,
    merges: Vec<Merge>,
}

impl Dendrogram {
    /// The tree of `leaves - 1` merges `(i, j, height)` in any order, where a leaf stands for the
    /// cluster that holds it. Merges of equal height stay in the order given.
    ///
    /// # Errors
    /// [`ErrorKind::Empty`](crate::ErrorKind::Empty) without leaves,
    /// [`ErrorKind::ShapeMismatch`](crate::ErrorKind::ShapeMismatch) for another number of merges,
    /// [`ErrorKind::OutOfRange`](crate::ErrorKind::OutOfRange) for a leaf that does not exist,
    /// [`ErrorKind::NonFinite`](crate::ErrorKind::NonFinite) for a height, and
    /// [`ErrorKind::InvalidParameter`](crate::ErrorKind::InvalidParameter) for a merge of two
    /// leaves that are together already.
    ///
    /// # Complexity
    /// O(n log n).
    pub fn from_merges(leaves: usize, mut found: Vec<(usize, usize, f64)>) -> Result<Self> {
        ensure!(leaves > 0, empty("a dendrogram without leaves"));
        ensure!(found.len() + 1 == leaves, shape("{} merges of {leaves} leaves", found.len()));
        for (t, &(a, b, height)) in found.iter().enumerate() {
            ensure!(a.max(b) < leaves, out_of_range("leaf {} of {leaves}", a.max(b)));
            if !height.is_finite() {
                return Err(Error::non_finite("heights of merges", t, 2, height));
            }
        }
        found.sort_by(|a, b| a.2.total_cmp(&b.2));
        // Union-find over leaves, each root knowing its node and the leaves below.
        let mut parent: Vec<usize> = (0..leaves).collect();
        let mut node: Vec<usize> = (0..leaves).collect();
        let mut below = vec![1usize; leaves];
        fn root(parent: &mut [usize], mut i: usize) -> usize {
            while parent[i] != i {
                parent[i] = parent[parent[i]];
                i = parent[i];
            }
            i
        }
        let merges = found
            .into_iter()
            .enumerate()
            .map(|(t, (a, b, height))| {
                let (first, second) = (a, b);
                let (a, b) = (root(&mut parent, a), root(&mut parent, b));
                ensure!(
                    a != b,
                    invalid("a merge of leaves {first} and {second}, which are together already")
                );
                let nodes = [node[a].min(node[b]), node[a].max(node[b])];
                parent[b] = a;
                node[a] = leaves + t;
                below[a] += below[b];
                Ok(Merge { nodes, height, leaves: below[a] })
            })
            .collect::<Result<_>>()?;
        Ok(Dendrogram { leaves, merges })
    }

    /// The tree of merges that are in order and numbered already.
    #[cfg(feature = "serde")]
    pub(crate) fn from_fields(leaves: usize, merges: Vec<Merge>) -> Result<Self> {
        ensure!(leaves > 0, empty("a dendrogram without leaves"));
        let m = merges.len();
        ensure!(m == leaves - 1, shape("{m} merges of {leaves} leaves"));
        check_heights(&merges)?;
        // Leaves below each node that nothing has merged yet.
        let mut below = vec![Some(1); leaves];
        for (t, merge) in merges.iter().enumerate() {
            let [a, b] = merge.nodes;
            let latest = a.max(b);
            ensure!(latest < below.len(), out_of_range("node {latest} in merge {t}"));
            let sizes = (a < b).then(|| (below[a].take(), below[b].take()));
            let Some((Some(left), Some(right))) = sizes else {
                return Err(Error::invalid(format!(
                    "merge {t} of nodes {a} and {b}; expected two, ascending, not merged before"
                )));
            };
            let made = merge.leaves;
            ensure!(
                made == left + right,
                shape("merge {t} of {left} and {right} leaves makes {made}")
            );
            below.push(Some(left + right));
        }
        Ok(Dendrogram { leaves, merges })
    }

    /// Refuses a tree that somebody's code grew over another number of leaves than it was given, or
    /// whose heights [`map_heights`](Dendrogram::map_heights) left without their order.
    ///
    /// # Errors
    /// [`ErrorKind::ShapeMismatch`](crate::ErrorKind::ShapeMismatch),
    /// [`ErrorKind::NonFinite`](crate::ErrorKind::NonFinite) and
    /// [`ErrorKind::InvalidParameter`](crate::ErrorKind::InvalidParameter), naming `who`.
    #[doc(hidden)]
    pub fn check_answer(&self, who: &str, leaves: usize) -> Result<()> {
        check_answer(who, "leaves of a tree", self.leaves, leaves)?;
        check_heights(&self.merges)
            .map_err(|e| Error::new(e.kind(), format!("the tree of {who}: {}", e.message())))
    }

    /// Number of leaves.
    pub fn n_leaves(&self) -> usize {
        self.leaves
    }

    /// The merges from low to high, one less than there are leaves.
    pub fn merges(&self) -> &[Merge] {
        &self.merges
    }

    /// The merges as a table of n - 1 rows: two nodes, height, leaves below. This is the linkage
    /// matrix `Z` of SciPy, numbered alike, as its `dendrogram` and `fcluster` take it.
    ///
    /// ```
    /// use consilience::Dendrogram;
    /// use consilience::ndarray::array;
    ///
    /// let tree = Dendrogram::from_merges(3, vec![(0, 1, 0.1), (1, 2, 0.8)])?;
    /// assert_eq!(tree.to_array(), array![[0.0, 1.0, 0.1, 2.0], [2.0, 3.0, 0.8, 3.0]]);
    /// # Ok::<(), consilience::Error>(())
    /// ```
    #[doc(alias = "linkage_matrix")]
    #[doc(alias = "scipy")]
    pub fn to_array(&self) -> Array2<f64> {
        Array2::from_shape_fn((self.merges.len(), 4), |(t, column)| {
            let Merge { nodes: [a, b], height, leaves } = self.merges[t];
            [a as f64, b as f64, height, leaves as f64][column]
        })
    }

    /// The same tree with every height passed through a function that keeps their order.
    pub fn map_heights(mut self, f: impl Fn(f64) -> f64) -> Self {
        for m in &mut self.merges {
            m.height = f(m.height);
        }
        self
    }

    /// Cluster of each leaf when the last merges are undone until there are `k` clusters; as many
    /// clusters as leaves where `k` is larger. Clusters are numbered by their first leaf.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidParameter`](crate::ErrorKind::InvalidParameter) for `k = 0`.
    ///
    /// # Complexity
    /// O(n).
    pub fn cut(&self, k: usize) -> Result<Vec<usize>> {
        ensure!(
            k > 0,
            invalid("a cut into 0 clusters of {} leaves; expected at least 1", self.leaves)
        );
        Ok(self.cut_after(self.leaves - k.min(self.leaves)))
    }

    /// Cluster of each leaf when only merges at or below `height` are made.
    pub fn cut_at(&self, height: f64) -> Vec<usize> {
        self.cut_after(self.merges.partition_point(|m| m.height <= height))
    }

    /// Clusters after the first `merges` merges.
    fn cut_after(&self, merges: usize) -> Vec<usize> {
        // A merge that was not made passes nothing down; one that was gives its node to its
        // children.
        let mut top: Vec<usize> = (0..self.leaves + merges).collect();
        for t in (0..merges).rev() {
            for child in self.merges[t].nodes {
                top[child] = top[self.leaves + t];
            }
        }
        let mut number = vec![usize::MAX; top.len()];
        let mut clusters = 0;
        (0..self.leaves)
            .map(|leaf| {
                let slot = &mut number[top[leaf]];
                if *slot == usize::MAX {
                    *slot = clusters;
                    clusters += 1;
                }
                *slot
            })
            .collect()
    }

    /// The number of clusters that persists over the widest range of heights between 0 and
    /// `ceiling` (the largest dissimilarity possible); the fewest of equals, which differ by no
    /// more than 1e-9 of the ceiling. Merges above the ceiling or below 0 count as made there.
    ///
    /// # References
    /// Fred, Jain 2005, "Combining Multiple Clusterings Using Evidence Accumulation", Section 3.3.
    #[doc(alias = "lifetime criterion")]
    pub fn longest_lifetime(&self, ceiling: f64) -> usize {
        self.longest_lifetime_but_for_rounding(ceiling, ceiling)
    }

    /// As [`longest_lifetime`](Self::longest_lifetime), where equals differ by no more than 1e-9 of
    /// the size of the numbers that the heights are differences of.
    #[doc(hidden)]
    pub fn longest_lifetime_but_for_rounding(&self, ceiling: f64, size: f64) -> usize {
        let ceiling = ceiling.max(0.0);
        let clip = |h: f64| h.clamp(0.0, ceiling);
        // k clusters live from the merge that makes them to the next one.
        let made = |k: usize| {
            if k == self.leaves { 0.0 } else { clip(self.merges[self.leaves - k - 1].height) }
        };
        let ended = |k: usize| {
            if k == 1 { ceiling } else { clip(self.merges[self.leaves - k].height) }
        };
        1 + ties::first_largest((1..=self.leaves).map(|k| ended(k) - made(k)), size.max(0.0))
    }
}

/// Refuses heights that are no numbers or do not ascend.
fn check_heights(merges: &[Merge]) -> Result<()> {
    let mut last = f64::NEG_INFINITY;
    for (t, &Merge { height, .. }) in merges.iter().enumerate() {
        if !height.is_finite() {
            return Err(Error::non_finite("heights of merges", t, 2, height));
        }
        ensure!(
            height >= last,
            invalid("merge {t} at height {height} after one at {last}; merges go from low to high")
        );
        last = height;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ErrorKind;

    fn tree() -> Dendrogram {
        Dendrogram::from_merges(5, vec![(3, 4, 0.4), (0, 2, 0.1), (0, 1, 0.9), (0, 3, 0.5)])
            .unwrap()
    }

    #[test]
    fn merges_are_sorted_and_numbered() {
        let t = tree();
        let nodes: Vec<_> = t.merges().iter().map(|m| (m.nodes, m.leaves)).collect();
        assert_eq!(nodes, vec![([0, 2], 2), ([3, 4], 2), ([5, 6], 4), ([1, 7], 5)]);
    }

    #[test]
    fn trees_of_other_leaves_or_without_order_are_refused() {
        assert!(tree().check_answer("own", 5).is_ok());
        assert_eq!(tree().check_answer("own", 4).unwrap_err().kind(), ErrorKind::ShapeMismatch);
        let falling = tree().map_heights(|h| -h).check_answer("own", 5).unwrap_err();
        assert_eq!(falling.kind(), ErrorKind::InvalidParameter);
        assert!(falling.message().starts_with("the tree of own: merge 1 at"), "{falling}");
        let none = tree().map_heights(|_| f64::NAN).check_answer("own", 5).unwrap_err();
        assert_eq!(none.kind(), ErrorKind::NonFinite);
    }

    #[test]
    fn cuts() {
        let t = tree();
        assert_eq!(t.cut(1).unwrap(), vec![0; 5]);
        assert_eq!(t.cut(2).unwrap(), vec![0, 1, 0, 0, 0]);
        assert_eq!(t.cut(3).unwrap(), vec![0, 1, 0, 2, 2]);
        assert_eq!(t.cut(9).unwrap(), vec![0, 1, 2, 3, 4]);
        assert!(t.cut(0).is_err());
        assert_eq!(t.cut_at(0.4), t.cut(3).unwrap());
        assert_eq!(t.cut_at(-1.0), t.cut(5).unwrap());
        assert_eq!(t.cut_at(2.0), t.cut(1).unwrap());
    }

    #[test]
    fn lifetimes() {
        // Clusters live: 5 for .1, 4 for .3, 3 for .1, 2 for .4, 1 for .1.
        assert_eq!(tree().longest_lifetime(1.0), 2);
        assert_eq!(tree().longest_lifetime(1.5), 1);
        // Each lives for a quarter: the fewest of equals.
        let even = vec![(0, 1, 0.25), (2, 3, 0.5), (0, 2, 0.75)];
        assert_eq!(Dendrogram::from_merges(4, even).unwrap().longest_lifetime(1.0), 1);
        // Each for a third, which rounding makes differ.
        let thirds = vec![(0, 1, 1.0 - 2.0 / 3.0), (1, 2, 1.0 - 1.0 / 3.0)];
        let thirds = Dendrogram::from_merges(3, thirds).unwrap();
        assert_eq!(thirds.longest_lifetime(1.0), 1);
        let far = thirds.clone().map_heights(|h| 1e6 * h);
        assert_eq!(far.longest_lifetime(1e6), 1);
        assert_eq!(far.longest_lifetime(f64::INFINITY), 1);
        assert_eq!(far.longest_lifetime(-1.0), 1);
        assert_eq!(thirds.map_heights(|h| h - 1e-6).longest_lifetime(1.0), 1);
        assert_eq!(Dendrogram::from_merges(1, vec![]).unwrap().longest_lifetime(1.0), 1);
        assert_eq!(Dendrogram::from_merges(1, vec![]).unwrap().cut(1).unwrap(), vec![0]);
    }
}
