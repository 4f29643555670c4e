use ndarray::ArrayView2;

use crate::{Error, Partition, RawLabel, Result};

/// Several clusterings of the same objects: the evidence that a consensus is made from.
///
/// Kept column by column, each base clustering in the narrowest integer that fits it, so that
/// 8.1 million objects under 300 clusterings take 2.43 GB. Objects may be unlabelled in some members
/// or in all of them, alone in their cluster, or exact duplicates of others.
///
/// ```
/// use consilience_core::Ensemble;
/// use ndarray::array;
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
/// # Ok::<(), consilience_core::Error>(())
/// ```
#[doc(alias = "cluster_ensemble")]
#[doc(alias = "base_clusterings")]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ensemble {
    objects: usize,
    members: Vec<Partition>,
}

impl Ensemble {
    /// An ensemble of base clusterings of equal length.
    ///
    /// # Errors
    /// [`ErrorKind::Empty`](crate::ErrorKind::Empty) without members,
    /// [`ErrorKind::ShapeMismatch`](crate::ErrorKind::ShapeMismatch) naming the first member of another length.
    pub fn new(members: Vec<Partition>) -> Result<Self> {
        let Some(first) = members.first() else {
            return Err(Error::empty("an ensemble needs at least one base clustering"));
        };
        let objects = first.n_objects();
        for (u, member) in members.iter().enumerate() {
            if member.n_objects() != objects {
                return Err(Error::shape(format!(
                    "member {u} labels {} objects, member 0 labels {objects}",
                    member.n_objects()
                )));
            }
        }
        Ok(Ensemble { objects, members })
    }

    /// An ensemble from a table of labels, objects in rows and base clusterings in columns; negative
    /// numbers and `None` are unlabelled.
    ///
    /// # Errors
    /// [`ErrorKind::Empty`](crate::ErrorKind::Empty) without rows or columns.
    pub fn from_array<L: RawLabel>(labels: ArrayView2<'_, L>) -> Result<Self> {
        let (n, m) = labels.dim();
        if n == 0 || m == 0 {
            return Err(Error::empty(format!("a label table of {n} objects and {m} base clusterings")));
        }
        let members = labels
            .columns()
            .into_iter()
            .map(|column| Partition::from_fn(n, |i| column[i].key()))
            .collect::<Result<_>>()?;
        Self::new(members)
    }

    /// Number of objects.
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

    /// Whether every member labels every object.
    pub fn is_complete(&self) -> bool {
        self.members.iter().all(Partition::is_complete)
    }

    /// The ensemble of the chosen members, in the order given; a member may be taken twice.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfRange`](crate::ErrorKind::OutOfRange) for a member that does not exist,
    /// [`ErrorKind::Empty`](crate::ErrorKind::Empty) for none.
    pub fn select(&self, members: &[usize]) -> Result<Self> {
        let chosen = members
            .iter()
            .map(|&u| {
                self.members
                    .get(u)
                    .cloned()
                    .ok_or_else(|| Error::out_of_range(format!("member {u} of {}", self.n_members())))
            })
            .collect::<Result<_>>()?;
        Self::new(chosen)
    }

    /// The same base clusterings restricted to the chosen objects, in the order given.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfRange`](crate::ErrorKind::OutOfRange) for an object that does not exist,
    /// [`ErrorKind::Empty`](crate::ErrorKind::Empty) for none.
    pub fn select_objects(&self, objects: &[usize]) -> Result<Self> {
        let members = self.members.iter().map(|p| p.select(objects)).collect::<Result<_>>()?;
        Self::new(members)
    }

    /// Bytes that the labels take.
    pub fn label_bytes(&self) -> usize {
        self.members.iter().map(Partition::label_bytes).sum()
    }

    /// Refuses `k = 0` and `k > n`, the check that every consensus function begins with.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidParameter`](crate::ErrorKind::InvalidParameter) with both numbers.
    pub fn check_clusters(&self, clusters: usize) -> Result<()> {
        if clusters == 0 || clusters > self.objects {
            return Err(Error::invalid(format!(
                "{clusters} clusters of {} objects; expected 1..={}",
                self.objects, self.objects
            )));
        }
        Ok(())
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
    }
}
