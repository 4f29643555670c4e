//! What an ensemble may hold beside labels: memberships, and weights of its members.

use std::borrow::Cow;
use std::sync::Arc;

use crate::{Ensemble, Error, Memberships, Partition, Result, SparseMemberships, ensure};

/// A base clustering: labels or memberships.
///
/// Made by `from`; what [`Ensemble::mixed`] takes.
///
/// ```
/// use consilience::ndarray::array;
/// use consilience::{Ensemble, Member, Memberships, Partition};
///
/// let labels = Member::from(Partition::from_labels(&[0, 0, 1])?);
/// let soft = Memberships::new(array![[0.9, 0.1], [0.5, 0.5], [0.0, 1.0]])?;
/// let ensemble = Ensemble::mixed([labels, Member::try_from(&soft)?])?;
/// assert!(ensemble.soft(0).is_none() && ensemble.soft(1).is_some());
/// # Ok::<(), consilience::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum Member {
    /// Each object in one cluster.
    Hard(Partition),
    /// Each object in several clusters, with shares that sum to 1.
    Soft(SparseMemberships),
}

impl Member {
    /// Number of objects.
    pub fn n_objects(&self) -> usize {
        match self {
            Member::Hard(labels) => labels.n_objects(),
            Member::Soft(memberships) => memberships.n_objects(),
        }
    }
}

impl From<Partition> for Member {
    fn from(partition: Partition) -> Self {
        Member::Hard(partition)
    }
}

impl From<SparseMemberships> for Member {
    fn from(memberships: SparseMemberships) -> Self {
        Member::Soft(memberships)
    }
}

impl TryFrom<&Memberships> for Member {
    type Error = Error;

    fn try_from(memberships: &Memberships) -> Result<Self> {
        Ok(Member::Soft(SparseMemberships::of(memberships)?))
    }
}

/// Which members a method has a meaning for, beside those of labels that all count alike.
///
/// ```
/// use consilience::prelude::*;
/// use consilience::{Accepts, Ensemble, SparseMemberships};
/// use consilience::consensus::{EvidenceAccumulation, Hgpa};
/// use consilience::core::NodeConsensus;
/// use consilience::ndarray::array;
///
/// assert_eq!(EvidenceAccumulation::new(2).accepts(), Accepts::ALL);
/// let soft = SparseMemberships::from_array(array![[1.0, 0.0], [0.5, 0.5], [0.0, 1.0]].view())?;
/// let ensemble = Ensemble::mixed([soft.into()])?;
/// let error = Hgpa::new(2).consensus(&ensemble).unwrap_err();
/// assert!(error.message().starts_with("hgpa takes labels, member 0 gives memberships"));
/// assert!(Hgpa::new(2).consensus(&ensemble.hardened()).is_ok());
/// # Ok::<(), consilience::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Accepts {
    /// Members that give memberships.
    pub memberships: bool,
    /// Weights of members.
    pub weights: bool,
}

impl Accepts {
    /// Labels alone.
    pub const LABELS: Accepts = Accepts { memberships: false, weights: false };
    /// Memberships, but no weights.
    pub const MEMBERSHIPS: Accepts = Accepts { memberships: true, weights: false };
    /// Weights, but no memberships.
    pub const WEIGHTS: Accepts = Accepts { memberships: false, weights: true };
    /// Memberships and weights.
    pub const ALL: Accepts = Accepts { memberships: true, weights: true };
}

impl Ensemble {
    /// An ensemble of labels and memberships side by side.
    ///
    /// Memberships of 0 and 1 alone are kept as the labels that they are: every method gives the
    /// same bits for either.
    ///
    /// ```
    /// use consilience::prelude::*;
    /// use consilience::{Ensemble, Partition, SparseMemberships, consensus::Lwea};
    /// use consilience::ndarray::array;
    ///
    /// let soft = array![[0.9, 0.1], [0.8, 0.2], [0.4, 0.6], [0.0, 1.0]];
    /// let ensemble = Ensemble::mixed([
    ///     Partition::from_labels(&[0, 0, 1, 1])?.into(),
    ///     SparseMemberships::from_array(soft.view())?.into(),
    /// ])?;
    /// assert_eq!(ensemble.members()[1].to_signed(), [0, 0, 1, 1]); // the most probable clusters
    /// assert_eq!(ensemble.soft(1).map(|m| m.row(2)), Some((&[0, 1][..], &[0.4, 0.6][..])));
    /// assert_eq!(Lwea::new(2).consensus(&ensemble)?.to_signed(), [0, 0, 1, 1]);
    /// # Ok::<(), consilience::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Ensemble::new`].
    pub fn mixed(members: impl IntoIterator<Item = Member>) -> Result<Self> {
        let (mut hard, mut soft) = (Vec::new(), Vec::new());
        for member in members {
            let (labels, memberships) = match member {
                Member::Hard(labels) => (labels, None),
                Member::Soft(m) => (m.hard()?, Some(m)),
            };
            hard.push(labels);
            soft.push(memberships);
        }
        let mut ensemble = Ensemble::new(hard)?;
        ensemble.set_soft(soft);
        Ok(ensemble)
    }

    /// The memberships of a member, `None` where it has labels; then
    /// [`members`](Ensemble::members) holds the most probable clusters.
    pub fn soft(&self, member: usize) -> Option<&SparseMemberships> {
        self.soft.get(member)?.as_ref()
    }

    /// Whether some member gives memberships.
    pub fn is_soft(&self) -> bool {
        !self.soft.is_empty()
    }

    /// The same with labels alone: the most probable cluster of each object in each member.
    #[must_use]
    pub fn hardened(&self) -> Self {
        let mut hard = self.clone();
        hard.soft = Vec::new();
        hard
    }

    /// The same members, where member u counts `weights[u]` times. Default: each once.
    ///
    /// A member of weight 2 counts as if it were there twice, one of weight 0 as if it were not
    /// there. Whether the unit matters depends on the method. Where shares of the weight count,
    /// which is everywhere but in `Weac`, weights that are all 4, or all 0.7, give the clusters
    /// that none give, and others those that they give times any number. That holds to the bit
    /// where the number is a power of two, or where all weights are whole multiples of some part of
    /// the least, a ten-thousandth at smallest (as 1, 2.5 and 0.4 are of 0.1); in PTA where they
    /// have nine decimals at most. Otherwise, and in PCC, which minimizes a sum over the members,
    /// it holds to rounding, which may decide between clusters that are equally good. Where copies
    /// count, as in what `Weac` takes for the other members of one, weights that are all 4 are four
    /// copies of each. Evidence and objectives that are sums over the members are in the unit
    /// given, but for the weight of the clusters that HGPA cuts.
    ///
    /// ```
    /// use consilience::prelude::*;
    /// use consilience::{Ensemble, consensus::EvidenceAccumulation};
    /// use consilience::ndarray::array;
    ///
    /// let ensemble = Ensemble::from_array(array![[0, 0], [0, 1], [1, 1]].view())?;
    /// let first = ensemble.clone().with_weights(vec![3.0, 1.0])?;
    /// let second = ensemble.with_weights(vec![0.5, 1.0])?;
    /// let method = EvidenceAccumulation::new(2);
    /// assert_eq!(method.consensus(&first)?.to_signed(), [0, 0, 1]);
    /// assert_eq!(method.consensus(&second)?.to_signed(), [0, 1, 1]);
    /// # Ok::<(), consilience::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::ShapeMismatch`](crate::ErrorKind::ShapeMismatch) unless there is one weight per
    /// member, [`ErrorKind::NonFinite`](crate::ErrorKind::NonFinite) or
    /// [`ErrorKind::InvalidParameter`](crate::ErrorKind::InvalidParameter) naming a weight that is
    /// none, negative, or neither 0 nor from 1e-9 to 1e9, or where all are 0.
    pub fn with_weights(mut self, weights: impl Into<Arc<[f64]>>) -> Result<Self> {
        let weights = weights.into();
        ensure!(
            weights.len() == self.n_members(),
            shape("{} weights for {} members", weights.len(), self.n_members())
        );
        for (u, &w) in weights.iter().enumerate() {
            if !w.is_finite() {
                let what = format!("weight {w} of member {u}; expected a number of at least 0");
                return Err(Error::new(crate::ErrorKind::NonFinite, what));
            }
            ensure!(
                w == 0.0 || (1e-9..=1e9).contains(&w),
                invalid("weight {w} of member {u}; expected 0 or 1e-9 to 1e9")
            );
        }
        ensure!(weights.iter().any(|&w| w > 0.0), invalid("the weights of all members are 0"));
        self.weights = Some(weights).filter(|w| w.iter().any(|&w| w != 1.0));
        Ok(self)
    }

    /// Adds the members of another ensemble of the same objects at the end, with their memberships
    /// and weights.
    ///
    /// ```
    /// use consilience::Ensemble;
    /// use consilience::ndarray::array;
    ///
    /// let mut all = Ensemble::from_array(array![[0], [0], [1]].view())?;
    /// let more = Ensemble::from_array(array![[0, 1], [1, 1], [1, 0]].view())?;
    /// all.extend(&more.with_weights(vec![1.0, 0.5])?)?;
    /// assert_eq!((all.n_members(), all.weights()), (3, Some(&[1.0, 1.0, 0.5][..])));
    /// # Ok::<(), consilience::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::ShapeMismatch`](crate::ErrorKind::ShapeMismatch) for another number of objects,
    /// [`ErrorKind::InvalidParameter`](crate::ErrorKind::InvalidParameter) where a row stands for
    /// other numbers of objects in the two; the ensemble is then as before.
    #[doc(alias = "concat")]
    #[doc(alias = "append")]
    #[doc(alias = "join")]
    pub fn extend(&mut self, more: &Ensemble) -> Result<()> {
        let n = self.n_objects();
        let found = more.n_objects();
        ensure!(found == n, shape("members of {found} objects for an ensemble of {n}"));
        let count = |e: &Ensemble, i: usize| e.counts().map_or(1, |counts| counts[i]);
        if let Some(i) = (0..n).find(|&i| count(self, i) != count(more, i)) {
            let (own, other) = (count(self, i), count(more, i));
            return Err(Error::invalid(format!(
                "row {i} stands for {own} objects, and for {other} in the members to be added"
            )));
        }
        let both = [&*self, more];
        let weighted = both.iter().any(|e| e.weights().is_some());
        let weights = both.iter().flat_map(|e| {
            (0..e.n_members()).map(move |u| e.weights().map_or(1.0, |weights| weights[u]))
        });
        let weights = weighted.then(|| weights.collect());
        let soft = both.iter().flat_map(|e| (0..e.n_members()).map(move |u| e.soft(u).cloned()));
        let soft = soft.collect();
        self.members.extend_from_slice(&more.members);
        self.set_soft(soft);
        self.weights = weights;
        Ok(())
    }

    /// How often each member counts; `None` where each counts once.
    pub fn weights(&self) -> Option<&[f64]> {
        self.weights.as_deref()
    }

    /// The ensemble that a method works on: this one, or, for a method that accepts no weights, the
    /// members of weight 1 where all others have weight 0.
    ///
    /// ```
    /// use consilience::{Accepts, Ensemble};
    /// use consilience::ndarray::array;
    ///
    /// let ensemble = Ensemble::from_array(array![[0, 0, 0], [0, 1, 0], [1, 1, 0]].view())?;
    /// let ensemble = ensemble.with_weights(vec![1.0, 1.0, 0.0])?;
    /// let heard = ensemble.accepted_by("my-method", Accepts::LABELS)?;
    /// assert_eq!(*heard, ensemble.select(&[0, 1])?);
    /// # Ok::<(), consilience::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Ensemble::check_accepted`] for what is left.
    pub fn accepted_by(&self, method: &str, accepts: Accepts) -> Result<Cow<'_, Self>> {
        let plain = |weights: &[f64]| weights.iter().all(|&w| w == 0.0 || w == 1.0);
        let chosen = !accepts.weights && self.weights().is_some_and(plain);
        self.check_accepted(method, Accepts { weights: accepts.weights || chosen, ..accepts })?;
        if chosen { self.heard() } else { Ok(Cow::Borrowed(self)) }
    }

    /// Refuses memberships and weights that a method does not accept. A member of weight 0 may give
    /// memberships, since it is not heard.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidParameter`](crate::ErrorKind::InvalidParameter) naming the method and
    /// what to do.
    pub fn check_accepted(&self, method: &str, accepts: Accepts) -> Result<()> {
        let heard = |u: usize| self.weights().is_none_or(|weights| weights[u] > 0.0);
        let mut soft = (0..self.soft.len()).filter(|&u| self.soft[u].is_some() && heard(u));
        if let Some(u) = soft.next().filter(|_| !accepts.memberships) {
            return Err(Error::invalid(format!(
                "{method} takes labels, member {u} gives memberships; Ensemble::hardened() (in \
                 the program --harden of consensus) has the most probable clusters"
            )));
        }
        if let Some(weights) = self.weights().filter(|_| !accepts.weights) {
            // Those of weight 0 can be left out, those of another weight only be repeated.
            let other = weights.iter().position(|&w| w != 0.0 && w != 1.0);
            let u = other.or_else(|| weights.iter().position(|&w| w != 1.0)).unwrap_or(0);
            return Err(Error::invalid(format!(
                "{method} takes no weights of members, member {u} has weight {}; repeat members \
                 or leave them out instead: Ensemble::select() (in the program --columns)",
                weights[u]
            )));
        }
        Ok(())
    }

    /// Refuses rows that stand for several objects, where that would be lost.
    ///
    /// ```
    /// use consilience::Ensemble;
    /// use consilience::ndarray::array;
    ///
    /// let rows = Ensemble::from_array(array![[0, 0], [0, 1]].view())?.with_counts(vec![1, 30])?;
    /// let error = rows.check_uncounted("a crowd", "repeat rows instead").unwrap_err();
    /// assert!(error.message().starts_with("a crowd takes no counts of rows, row 1 counts 30"));
    /// # Ok::<(), consilience::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::InvalidParameter`](crate::ErrorKind::InvalidParameter) naming who refuses, the
    /// first such row and what to do.
    pub fn check_uncounted(&self, method: &str, instead: &str) -> Result<()> {
        let counted = self.counts().and_then(|counts| counts.iter().position(|&c| c != 1));
        counted.map_or(Ok(()), |row| {
            Err(Error::invalid(format!(
                "{method} takes no counts of rows, row {row} counts {}; {instead}",
                self.counts().map_or(1, |counts| counts[row])
            )))
        })
    }

    /// The same without the members of weight 0.
    pub(crate) fn heard(&self) -> Result<Cow<'_, Self>> {
        let Some(weights) = self.weights().filter(|w| w.contains(&0.0)) else {
            return Ok(Cow::Borrowed(self));
        };
        let heard: Vec<usize> = (0..self.n_members()).filter(|&u| weights[u] > 0.0).collect();
        Ok(Cow::Owned(self.select(&heard)?))
    }

    /// For each member the objects grouped by what it says of them.
    pub(crate) fn rows(&self) -> Vec<Partition> {
        let of = |(u, labels): (usize, &Partition)| match self.soft(u) {
            Some(soft) => soft.distinct_rows().clone(),
            None => labels.clone(),
        };
        self.members().iter().enumerate().map(of).collect()
    }

    /// The memberships as tables, for storing.
    #[cfg(feature = "serde")]
    pub(crate) fn soft_tables(&self) -> Result<Vec<Option<Memberships>>> {
        let table = |m: &Option<SparseMemberships>| {
            m.as_ref().map(SparseMemberships::to_memberships).transpose()
        };
        self.soft.iter().map(table).collect()
    }

    /// Takes memberships, one entry per member; those of 0 and 1 alone are labels, and where all
    /// members have labels there is no entry at all.
    pub(crate) fn set_soft(&mut self, mut soft: Vec<Option<SparseMemberships>>) {
        soft.iter_mut().for_each(|m| *m = m.take().filter(|m| !m.is_hard()));
        let any = soft.iter().any(Option::is_some);
        self.soft = if any { soft } else { Vec::new() };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ErrorKind;
    use ndarray::array;

    fn mixed() -> Ensemble {
        let soft = array![[0.5, 0.5], [1.0, 0.0], [0.0, 0.0]];
        Ensemble::mixed([
            Partition::from_labels(&[0, 1, 1]).unwrap().into(),
            SparseMemberships::from_array(soft.view()).unwrap().into(),
        ])
        .unwrap()
    }

    #[test]
    fn zeros_and_ones_are_labels() {
        let soft = array![[0.0, 1.0], [1.0, 0.0], [0.0, 0.0]];
        let soft = SparseMemberships::from_array(soft.view()).unwrap();
        let labels = Partition::from_labels(&[4, 2, -1]).unwrap();
        let e = Ensemble::mixed([soft.into()]).unwrap();
        assert_eq!(e, Ensemble::new(vec![labels]).unwrap());
    }

    #[test]
    fn what_members_give_and_weigh_is_in_the_fingerprint() {
        let table = |half: f64| SparseMemberships::from_array(array![[half, 1.0 - half]].view());
        let one = |half: f64| Ensemble::mixed([table(half).unwrap().into()]).unwrap();
        assert_eq!(one(0.5).fingerprint(), one(0.5).fingerprint());
        assert_ne!(one(0.5).fingerprint(), one(0.25).fingerprint());
        let weighed = mixed().with_weights(vec![2.0, 1.0]).unwrap();
        assert_ne!(weighed.fingerprint(), mixed().fingerprint());
    }

    #[test]
    fn members_and_objects_come_and_go() {
        let mut e = mixed();
        assert!(e.is_soft() && e.soft(0).is_none() && !e.select(&[0]).unwrap().is_soft());
        let few = e.select_objects(&[2, 0]).unwrap();
        assert_eq!(few.soft(1).unwrap().row(1), (&[0, 1][..], &[0.5, 0.5][..]));
        assert_eq!(few.members()[1].to_signed(), [-1, 0]);
        assert!(e.append(array![[0, 0]].view()).is_err());
        e = e.with_weights(vec![2.0, 0.0]).unwrap();
        e.push(Partition::from_labels(&[0, 0, 0]).unwrap()).unwrap();
        assert_eq!(e.weights(), Some(&[2.0, 0.0, 1.0][..]));
        assert!(e.soft(1).is_some() && e.soft(2).is_none());
        assert_eq!(e.heard().unwrap().n_members(), 2);
        e.remove(1).unwrap();
        assert!(!e.is_soft());
        assert_eq!(e.weights(), Some(&[2.0, 1.0][..]));
    }

    #[test]
    fn bad_weights_are_named() {
        let kind = |w: &[f64]| mixed().with_weights(w).unwrap_err().kind();
        assert_eq!(kind(&[1.0]), ErrorKind::ShapeMismatch);
        assert_eq!(kind(&[1.0, f64::NAN]), ErrorKind::NonFinite);
        assert_eq!(kind(&[1.0, -1.0]), ErrorKind::InvalidParameter);
        assert_eq!(kind(&[1.0, 1e-300]), ErrorKind::InvalidParameter);
        assert_eq!(kind(&[0.0, 0.0]), ErrorKind::InvalidParameter);
        assert_eq!(mixed().with_weights(vec![1.0, 1.0]).unwrap(), mixed());
    }

    #[test]
    fn what_is_not_accepted_is_said() {
        let e = mixed().check_accepted("hgpa", Accepts::WEIGHTS).unwrap_err();
        assert!(e.message().contains("hgpa") && e.message().contains("member 1"), "{e}");
        let weighted = mixed().with_weights(vec![1.0, 2.0]).unwrap();
        let e = weighted.check_accepted("mm", Accepts::MEMBERSHIPS).unwrap_err();
        assert!(e.message().contains("mm") && e.message().contains("weight 2"), "{e}");
        assert!(weighted.check_accepted("eac", Accepts::ALL).is_ok());
    }

    #[test]
    fn ensembles_are_joined_with_all_that_members_have() {
        let mut all = mixed();
        all.extend(&mixed().with_weights(vec![2.0, 0.0]).unwrap()).unwrap();
        let twice = mixed().select(&[0, 1, 0, 1]).unwrap();
        assert_eq!(all, twice.with_weights(vec![1.0, 1.0, 2.0, 0.0]).unwrap());
        let counted = |count| {
            let counts = (0..mixed().n_objects() as u64).map(|i| if i == 1 { count } else { 1 });
            mixed().with_counts(counts.collect::<Vec<_>>()).unwrap()
        };
        let mut many = counted(7);
        let e = many.extend(&counted(8)).unwrap_err();
        assert!(e.message().starts_with("row 1 stands for 7 objects, and for 8"), "{e}");
        many.extend(&counted(7)).unwrap();
        assert_eq!((many.n_members(), many.counts()), (4, counted(7).counts()));
        let fewer = mixed().select_objects(&[0]).unwrap();
        assert_eq!(many.extend(&fewer).unwrap_err().kind(), crate::ErrorKind::ShapeMismatch);
    }

    #[test]
    fn members_of_weight_0_are_left_out_for_every_method() {
        let weighted = |w: &[f64]| mixed().with_weights(w).unwrap();
        let first = weighted(&[1.0, 0.0]);
        // The other one gives memberships, which nobody hears.
        let heard = first.accepted_by("mm", Accepts::LABELS).unwrap();
        assert_eq!(*heard, mixed().select(&[0]).unwrap());
        let second = weighted(&[0.0, 1.0]);
        let e = second.accepted_by("mm", Accepts::LABELS).unwrap_err();
        assert!(e.message().contains("member 1 gives memberships"), "{e}");
        let heard = second.accepted_by("mcla", Accepts::MEMBERSHIPS).unwrap();
        assert_eq!(*heard, mixed().select(&[1]).unwrap());
        // Whoever takes weights gets them.
        assert_eq!(*second.accepted_by("eac", Accepts::ALL).unwrap(), second);
        assert_eq!(*first.accepted_by("hgpa", Accepts::WEIGHTS).unwrap(), first);
        let e = weighted(&[0.0, 2.0]).accepted_by("mcla", Accepts::MEMBERSHIPS).unwrap_err();
        assert!(e.message().contains("member 1 has weight 2"), "{e}");
        // A state of all members has no place for one that is left out.
        let e = first.check_accepted("the updater", Accepts::LABELS).unwrap_err();
        assert!(e.message().contains("member 1 has weight 0"), "{e}");
        let plain = mixed().hardened();
        assert_eq!(*plain.accepted_by("mm", Accepts::LABELS).unwrap(), plain);
    }
}
