use std::sync::Arc;

use ndarray::ArrayView2;

use crate::{
    Error, Grouping, Microclusters, Partition, RawLabel, Result, SparseMemberships, checks, ensure,
};

/// Several clusterings of the same objects: the evidence that a consensus is made from.
///
/// Kept column by column, each base clustering in the narrowest integer that fits it, so that 8.1
/// million objects under 300 clusterings take 2.43 GB. Objects may be unlabelled in some members or
/// in all of them, alone in their cluster, or exact duplicates of others.
///
/// Members may also give memberships ([`Ensemble::mixed`]) and count more or less than others
/// ([`Ensemble::with_weights`]).
///
/// ```
/// use consilience::Ensemble;
/// use consilience::ndarray::array;
///
/// // Five objects (rows) under three base clusterings (columns); -1 is unlabelled.
/// let ensemble = Ensemble::from_array(array![
///     [0, 2, 1],
///     [0, 2, 1],
///     [0, 5, -1],
///     [1, 5, 0],
///     [1, 5, 0],
/// ].view())?;
/// assert_eq!((ensemble.n_objects(), ensemble.n_members()), (5, 3));
/// assert!(!ensemble.is_complete());
/// # Ok::<(), consilience::Error>(())
/// ```
#[doc(alias = "cluster ensemble")]
#[doc(alias = "cluster_ensemble")]
#[doc(alias = "base_clusterings")]
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Deserialize),
    serde(try_from = "crate::stored::EnsembleFields")
)]
pub struct Ensemble {
    objects: usize,
    pub(crate) members: Vec<Partition>,
    /// How many identical objects each object stands for; 1 each where `None`.
    counts: Option<Arc<[u64]>>,
    /// One entry for each member, `None` where it has labels; empty where all have.
    pub(crate) soft: Vec<Option<SparseMemberships>>,
    /// How often each member counts; once each where `None`.
    pub(crate) weights: Option<Arc<[f64]>>,
}

// No weight or membership is NaN.
impl Eq for Ensemble {}

impl Ensemble {
    /// An ensemble of base clusterings of equal length.
    ///
    /// # Errors
    /// [`ErrorKind::Empty`](crate::ErrorKind::Empty) without members,
    /// [`ErrorKind::ShapeMismatch`](crate::ErrorKind::ShapeMismatch) naming the first member of
    /// another length.
    pub fn new(members: Vec<Partition>) -> Result<Self> {
        let Some(first) = members.first() else {
            return Err(Error::empty("an ensemble needs at least one base clustering"));
        };
        let objects = first.n_objects();
        for (u, member) in members.iter().enumerate() {
            ensure!(
                member.n_objects() == objects,
                shape(
                    "member {u} labels {} objects, member 0 labels {objects}",
                    member.n_objects()
                )
            );
        }
        Ok(Ensemble { objects, members, counts: None, soft: Vec::new(), weights: None })
    }

    /// An ensemble from a table of labels, objects in rows and base clusterings in columns;
    /// negative numbers and `None` are unlabelled.
    ///
    /// # Errors
    /// [`ErrorKind::Empty`](crate::ErrorKind::Empty) without rows or columns.
    pub fn from_array<L: RawLabel>(labels: ArrayView2<'_, L>) -> Result<Self> {
        let (n, m) = labels.dim();
        ensure!(n > 0 && m > 0, empty("a label table of {n} objects and {m} base clusterings"));
        let members = labels
            .columns()
            .into_iter()
            .map(|column| Partition::from_fn(n, |i| column[i].key()))
            .collect::<Result<_>>()?;
        Self::new(members)
    }

    /// The same rows, where object i stands for `counts[i]` identical ones. Default: each for
    /// itself.
    ///
    /// Every method gives what it would give on the rows repeated: the same labels, bit for bit,
    /// where it works on microclusters. A table of any length reduces to its distinct rows this
    /// way, see [`Ensemble::distinct`].
    ///
    /// What all counts have in common means nothing to methods of which shares of the objects
    /// count: counts that are all 3 give the clusters that none give, to the bit for most of them
    /// and for sums of shares (PTA, PTGP, `RandomWalker`, `MixtureModel`, `LeastSquares`) to
    /// rounding, where the factor is no power of two. It means something where pairs of distinct
    /// objects count (PCC, SimRank, `Recommended`), whether a row stands for a single object
    /// (EC-CMS, SDGCA), or a number of objects as such (HGPA, GP-MGLA, objectives that are sums
    /// over objects, and heights of Ward's linkage, which are roots of such sums); ECMC ends at a
    /// gap, within which it does.
    ///
    /// ```
    /// use consilience::prelude::*;
    /// use consilience::{Ensemble, walk::Pta};
    /// use consilience::ndarray::array;
    ///
    /// // Three kinds of rows, seen 40, 1 and 2 billion times.
    /// let rows = Ensemble::from_array(array![[0, 0], [0, 1], [1, 1]].view())?
    ///     .with_counts(vec![40, 1, 2_000_000_000])?;
    /// assert_eq!((rows.n_objects(), rows.total_count()), (3, 2_000_000_041));
    /// assert_eq!(Pta::new(2).consensus(&rows)?.n_clusters(), 2);
    /// # Ok::<(), consilience::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::ShapeMismatch`](crate::ErrorKind::ShapeMismatch) unless there is one count per
    /// object, [`ErrorKind::OutOfRange`](crate::ErrorKind::OutOfRange) naming a count of 0, or
    /// where the counts exceed 2^53 in all.
    #[doc(alias = "sample_weight")]
    #[doc(alias = "weights")]
    pub fn with_counts(mut self, counts: impl Into<Arc<[u64]>>) -> Result<Self> {
        let counts = counts.into();
        checks::counts(&counts, self.objects)?;
        self.counts = Some(counts);
        Ok(self)
    }

    /// How many identical objects each object stands for; `None` where each stands for itself.
    pub fn counts(&self) -> Option<&[u64]> {
        self.counts.as_deref()
    }

    /// How many objects all rows together stand for.
    pub fn total_count(&self) -> u64 {
        self.counts.as_ref().map_or(self.objects as u64, |counts| counts.iter().sum())
    }

    /// The distinct rows with their counts, in the order of their first objects, and the row of
    /// each object.
    ///
    /// ```
    /// use consilience::Ensemble;
    /// use consilience::ndarray::array;
    ///
    /// let e = Ensemble::from_array(array![[0, 0], [1, 0], [0, 0], [0, 0]].view())?;
    /// let (rows, row_of) = e.distinct()?;
    /// assert_eq!(rows.counts(), Some(&[3, 1][..]));
    /// assert_eq!(row_of, [0, 1, 0, 0]);
    /// # Ok::<(), consilience::Error>(())
    /// ```
    ///
    /// # Complexity
    /// One pass over the labels, O(n M), in parallel.
    ///
    /// # Errors
    /// None but those of an ensemble that cannot exist.
    pub fn distinct(&self) -> Result<(Self, Vec<u32>)> {
        // Members of weight 0 distinguish rows, too.
        let nodes = Microclusters::of(&Ensemble { weights: None, ..self.clone() })?;
        let mut row_of_node = vec![u32::MAX; nodes.n_nodes()];
        // The row of the objects that nobody labels: they are no microcluster.
        let mut row_of_unlabelled = u32::MAX;
        let (mut first, mut counts) = (Vec::new(), Vec::new());
        let row_of: Vec<u32> = nodes
            .grouping()
            .of_object()
            .iter()
            .enumerate()
            .map(|(i, &node)| {
                let row = match node {
                    Grouping::NONE => &mut row_of_unlabelled,
                    node => &mut row_of_node[node as usize],
                };
                if *row == u32::MAX {
                    *row = first.len() as u32;
                    first.push(i);
                    counts.push(0);
                }
                counts[*row as usize] += self.counts.as_ref().map_or(1, |counts| counts[i]);
                *row
            })
            .collect();
        let rows = Ensemble { counts: None, ..self.clone() }.select_objects(&first)?;
        Ok((rows.with_counts(counts)?, row_of))
    }

    /// Number of objects; rows, where they stand for many.
    pub fn n_objects(&self) -> usize {
        self.objects
    }

    /// Number of base clusterings.
    #[doc(alias = "M")]
    pub fn n_members(&self) -> usize {
        self.members.len()
    }

    /// The base clusterings.
    pub fn members(&self) -> &[Partition] {
        &self.members
    }

    /// Number of clusters over all members.
    pub fn n_clusters(&self) -> usize {
        self.members.iter().map(Partition::n_clusters).sum()
    }

    /// A number of 64 bits by which two readings of one ensemble can be told to be the same: equal
    /// ensembles have equal fingerprints on every machine and in every version, different ones
    /// most likely different ones. Nothing for security.
    ///
    /// It is FNV-1a over 32-bit words, where the papers take bytes: number of objects, number of
    /// members, then member by member the cluster of each object, [`u32::MAX`] where it is
    /// unlabelled, and, where objects stand for many, their counts in two words each, the lower
    /// first. Where members give memberships or have weights, these follow: clusters and values of
    /// each object, then the weights, numbers as their bits.
    ///
    /// ```
    /// use consilience::Ensemble;
    /// use consilience::ndarray::array;
    ///
    /// let e = Ensemble::from_array(array![[5, 0], [6, 0], [6, 1]].view())?;
    /// // Clusters are numbered by their first object: what labels are called does not count.
    /// let renamed = Ensemble::from_array(array![[1, 7], [0, 7], [0, 2]].view())?;
    /// assert_eq!(e.fingerprint(), renamed.fingerprint());
    /// assert_ne!(e.fingerprint(), e.select(&[1, 0])?.fingerprint());
    /// # Ok::<(), consilience::Error>(())
    /// ```
    #[doc(alias = "hash")]
    #[doc(alias = "checksum")]
    pub fn fingerprint(&self) -> u64 {
        let mut hash = 0xcbf2_9ce4_8422_2325_u64;
        let mut add = |word: u32| hash = (hash ^ u64::from(word)).wrapping_mul(0x100_0000_01b3);
        add(self.objects as u32);
        add(self.members.len() as u32);
        for member in &self.members {
            for label in member.iter() {
                add(label.map_or(u32::MAX, |l| l as u32));
            }
        }
        for &count in self.counts.iter().flat_map(|counts| counts.iter()) {
            add(count as u32);
            add((count >> 32) as u32);
        }
        let mut number = |value: f64| {
            add(value.to_bits() as u32);
            add((value.to_bits() >> 32) as u32);
        };
        for soft in self.soft.iter().flatten() {
            for i in 0..self.objects {
                let (clusters, values) = soft.row(i);
                clusters.iter().for_each(|&c| number(f64::from(c)));
                values.iter().for_each(|&v| number(v));
            }
        }
        self.weights.iter().flat_map(|weights| weights.iter()).for_each(|&w| number(w));
        hash
    }

    /// Whether every member labels every object.
    pub fn is_complete(&self) -> bool {
        self.members.iter().all(Partition::is_complete)
    }

    /// The ensemble of the chosen members, in the order given; a member may be taken twice.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfRange`](crate::ErrorKind::OutOfRange) for a member that does not exist,
    /// [`ErrorKind::Empty`](crate::ErrorKind::Empty) for none,
    /// [`ErrorKind::InvalidParameter`](crate::ErrorKind::InvalidParameter) where all have weight 0.
    pub fn select(&self, members: &[usize]) -> Result<Self> {
        let chosen = members
            .iter()
            .map(|&u| {
                self.members.get(u).cloned().ok_or_else(|| {
                    Error::out_of_range(format!("member {u} of {}", self.n_members()))
                })
            })
            .collect::<Result<_>>()?;
        let mut chosen = Ensemble { counts: self.counts.clone(), ..Self::new(chosen)? };
        chosen.set_soft(members.iter().map(|&u| self.soft(u).cloned()).collect());
        match self.weights() {
            Some(w) => chosen.with_weights(members.iter().map(|&u| w[u]).collect::<Vec<_>>()),
            None => Ok(chosen),
        }
    }

    /// The same base clusterings restricted to the chosen objects, in the order given.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfRange`](crate::ErrorKind::OutOfRange) for an object that does not exist,
    /// and where the chosen rows stand for more than 2^53 objects in all;
    /// [`ErrorKind::Empty`](crate::ErrorKind::Empty) for none;
    /// [`ErrorKind::TooLarge`](crate::ErrorKind::TooLarge) from 2^32 - 1 on, and where their labels
    /// do not fit in memory.
    pub fn select_objects(&self, objects: &[usize]) -> Result<Self> {
        let members = self.members.iter().map(|p| p.select(objects)).collect::<Result<_>>()?;
        let counts = self.counts.as_ref().map(|c| objects.iter().map(|&i| c[i]).collect());
        let mut chosen = Ensemble { weights: self.weights.clone(), ..Self::new(members)? };
        let soft =
            |m: &Option<SparseMemberships>| m.as_ref().map(|m| m.select(objects)).transpose();
        chosen.set_soft(self.soft.iter().map(soft).collect::<Result<_>>()?);
        match counts {
            Some::<Arc<[u64]>>(counts) => chosen.with_counts(counts),
            None => Ok(chosen),
        }
    }

    /// Adds a base clustering at the end, of weight 1.
    ///
    /// # Errors
    /// [`ErrorKind::ShapeMismatch`](crate::ErrorKind::ShapeMismatch) where it labels another number
    /// of objects.
    pub fn push(&mut self, member: Partition) -> Result<()> {
        let (n, own) = (member.n_objects(), self.objects);
        ensure!(n == own, shape("a new member of {n} objects for an ensemble of {own}"));
        self.members.push(member);
        if self.is_soft() {
            self.soft.push(None);
        }
        self.weights = self.weights.take().map(|w| w.iter().copied().chain([1.0]).collect());
        Ok(())
    }

    /// Takes a base clustering out; those behind it move up.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfRange`](crate::ErrorKind::OutOfRange) for a member that does not exist,
    /// [`ErrorKind::Empty`](crate::ErrorKind::Empty) for the last one,
    /// [`ErrorKind::InvalidParameter`](crate::ErrorKind::InvalidParameter) where the others have
    /// weight 0.
    pub fn remove(&mut self, member: usize) -> Result<Partition> {
        ensure!(member < self.n_members(), out_of_range("member {member} of {}", self.n_members()));
        ensure!(self.n_members() != 1, empty("an ensemble without its last base clustering"));
        let rest: Vec<usize> = (0..self.n_members()).filter(|&u| u != member).collect();
        let rest = self.select(&rest)?;
        Ok(std::mem::replace(self, rest).members.swap_remove(member))
    }

    /// Adds objects at the end, each standing for itself alone, in rows: for each member the number
    /// of one of its clusters, as [`Partition::label`] tells it; negative numbers and `None` are
    /// unlabelled.
    ///
    /// ```
    /// use consilience::Ensemble;
    /// use consilience::ndarray::array;
    ///
    /// let mut e = Ensemble::from_array(array![[5, 0], [6, 0], [6, 1]].view())?;
    /// e.append(array![[1, 1], [-1, 0]].view())?;
    /// assert_eq!(e.members()[0].to_signed(), vec![0, 1, 1, 1, -1]);
    /// # Ok::<(), consilience::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::ShapeMismatch`](crate::ErrorKind::ShapeMismatch) unless there is one column per
    /// member, [`ErrorKind::OutOfRange`](crate::ErrorKind::OutOfRange) naming row and member of a
    /// cluster that does not exist, and where the rows would stand for more than 2^53 objects in
    /// all, [`ErrorKind::TooLarge`](crate::ErrorKind::TooLarge) from 2^32 - 1 rows on,
    /// [`ErrorKind::InvalidParameter`](crate::ErrorKind::InvalidParameter) where a member gives
    /// memberships; nothing has changed then.
    pub fn append<L: RawLabel>(&mut self, rows: ArrayView2<'_, L>) -> Result<()> {
        let (new, m) = rows.dim();
        ensure!(!self.is_soft(), invalid("labels of new objects for members of memberships"));
        ensure!(
            m == self.n_members(),
            shape("{m} labels per new object, {} members", self.n_members())
        );
        for ((i, u), label) in rows.indexed_iter() {
            let k = self.members[u].n_clusters();
            if let Some(c) = label.key().filter(|&c| c >= k as u64) {
                return Err(Error::out_of_range(format!(
                    "new object {i}: cluster {c} of {k} in member {u}"
                )));
            }
        }
        let (old, most) = (self.objects, u32::MAX - 1);
        ensure!(
            old.saturating_add(new) <= most as usize,
            too_large("{new} objects beside {old}; at most {most} are supported")
        );
        let total = self.total_count();
        ensure!(
            total.saturating_add(new as u64) <= checks::MOST_OBJECTS,
            out_of_range("{new} objects beside {total}; at most 2^53 are supported")
        );
        for (member, column) in self.members.iter_mut().zip(rows.columns()) {
            let labels: Vec<Option<usize>> =
                column.iter().map(|l| l.key().map(|c| c as usize)).collect();
            member.append(&labels)?;
        }
        self.objects += new;
        if let Some(counts) = &self.counts {
            self.counts = Some(counts.iter().copied().chain(std::iter::repeat_n(1, new)).collect());
        }
        Ok(())
    }

    /// Bytes that the labels take.
    pub fn label_bytes(&self) -> usize {
        self.members.iter().map(Partition::label_bytes).sum()
    }

    /// Refuses `k = 0` and `k > n`, the check that every consensus function begins with. n counts
    /// all objects that the rows stand for.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidParameter`](crate::ErrorKind::InvalidParameter) with both numbers.
    pub fn check_clusters(&self, clusters: usize) -> Result<()> {
        checks::clusters(clusters, self.total_count())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ErrorKind;
    use ndarray::{Array2, array};

    #[test]
    fn unequal_members_are_named() {
        let a = Partition::from_labels(&[0, 1]).unwrap();
        let b = Partition::from_labels(&[0, 1, 1]).unwrap();
        let e = Ensemble::new(vec![a.clone(), a, b]).unwrap_err();
        assert_eq!(e.kind(), ErrorKind::ShapeMismatch);
        assert!(e.message().contains("member 2"), "{e}");
    }

    #[test]
    fn nothing_is_an_error() {
        assert_eq!(Ensemble::new(vec![]).unwrap_err().kind(), ErrorKind::Empty);
        let none = Array2::<i32>::zeros((0, 3));
        assert_eq!(Ensemble::from_array(none.view()).unwrap_err().kind(), ErrorKind::Empty);
        let none = Array2::<i32>::zeros((3, 0));
        assert_eq!(Ensemble::from_array(none.view()).unwrap_err().kind(), ErrorKind::Empty);
    }

    #[test]
    fn selection_of_members_and_objects() {
        let e = Ensemble::from_array(array![[0, 3], [1, 3], [1, -1]].view()).unwrap();
        assert_eq!(e.n_clusters(), 3);
        assert_eq!(e.select(&[1]).unwrap().members()[0], e.members()[1]);
        assert_eq!(e.select(&[2]).unwrap_err().kind(), ErrorKind::OutOfRange);
        let s = e.select_objects(&[2, 0]).unwrap();
        assert_eq!(s, Ensemble::from_array(array![[0, -1], [1, 0]].view()).unwrap());
        assert_eq!(e.label_bytes(), 6);
        let one = e.select_objects(&[2]).unwrap();
        let error = one.check_clusters(2).unwrap_err();
        assert_eq!(error.message(), "2 clusters of 1 object; expected 1..=1");
    }

    #[test]
    fn members_and_objects_come_and_go() {
        let mut e = Ensemble::from_array(array![[0, 3], [1, 3], [1, -1]].view()).unwrap();
        let before = e.clone();
        assert_eq!(
            e.append(array![[0, 0, 0]].view()).unwrap_err().kind(),
            ErrorKind::ShapeMismatch
        );
        let error = e.append(array![[0, 0], [1, 1]].view()).unwrap_err();
        assert_eq!(error.message(), "new object 1: cluster 1 of 1 in member 1");
        assert_eq!(
            e.push(Partition::from_labels(&[0]).unwrap()).unwrap_err().kind(),
            ErrorKind::ShapeMismatch
        );
        assert_eq!(e.remove(2).unwrap_err().kind(), ErrorKind::OutOfRange);
        assert_eq!(e, before);
        let full = before.clone().with_counts(vec![1, 1, (1u64 << 53) - 3]).unwrap();
        let mut all = full.clone();
        let error = all.append(array![[0, 0], [1, 0]].view()).unwrap_err();
        assert_eq!((error.kind(), &all), (ErrorKind::OutOfRange, &full));
        all.append(array![[0, 0]].view()).unwrap();
        assert_eq!(all.total_count(), 1 << 53);
        e.append(array![[1, -1]].view()).unwrap();
        e.push(Partition::from_labels(&[7, 7, 7, 7]).unwrap()).unwrap();
        let all = array![[0, 0, 0], [1, 0, 0], [1, -1, 0], [1, -1, 0]];
        assert_eq!(e, Ensemble::from_array(all.view()).unwrap());
        e.remove(0).unwrap();
        e.remove(1).unwrap();
        assert_eq!(e.remove(0).unwrap_err().kind(), ErrorKind::Empty);
        assert_eq!(e.members()[0].to_signed(), vec![0, 0, -1, -1]);
    }
}
