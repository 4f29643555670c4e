use std::sync::Arc;

use consilience_core::{Error, Observer, Partition, RawLabel, Result};
use ndarray::{Array2, ArrayView2};

use crate::mirror::Mirror;
use crate::weight_updater::WeightUpdater;
use crate::weights::Weights;

impl WeightUpdater {
    /// Adds objects at the end, in rows: what each member assigns them to, as the number of
    /// one of its clusters ([`Partition::label`]); negative numbers and `None` where it says
    /// nothing.
    ///
    /// Weights and constraints stay, so that the next read-out labels the new objects as it does
    /// the old ones. [`WeightUpdater::labels_by_neighbours`] makes such rows where members have no
    /// rule of their own.
    ///
    /// ```
    /// use consilience::Ensemble;
    /// use consilience::simplex::WeightUpdater;
    /// use consilience::ndarray::array;
    ///
    /// let ensemble = Ensemble::from_array(array![[0, 0], [0, 0], [1, 1]].view())?;
    /// let mut updater = WeightUpdater::new(ensemble, 2)?;
    /// updater.append_objects(array![[1, -1]].view())?;
    /// assert_eq!(updater.partition()?.to_signed(), vec![0, 0, 1, 1]);
    /// # Ok::<(), consilience::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::ShapeMismatch`](consilience_core::ErrorKind::ShapeMismatch) unless there is one
    /// column per member,
    /// [`ErrorKind::OutOfRange`](consilience_core::ErrorKind::OutOfRange) naming row and member of
    /// a cluster that does not exist; nothing has changed then.
    ///
    /// # Complexity
    /// Amortised O(m) per new object.
    pub fn append_objects<L: RawLabel>(&mut self, rows: ArrayView2<'_, L>) -> Result<()> {
        self.append_objects_to_first(self.ensemble.n_members(), rows)
    }

    /// As [`WeightUpdater::append_objects`] where only the first `members` have a rule for new
    /// objects: those behind them leave, and have no column.
    ///
    /// # Errors
    /// As [`WeightUpdater::append_objects`] and [`WeightUpdater::retire_members`]; nothing has
    /// changed then.
    pub fn append_objects_to_first<L: RawLabel>(
        &mut self,
        members: usize,
        rows: ArrayView2<'_, L>,
    ) -> Result<()> {
        let leaving = self.leaving(&(members..self.ensemble.n_members()).collect::<Vec<_>>())?;
        // They leave the ensemble first, so that it checks the columns of the others.
        let left = self.take_members(&leaving)?;
        if let Err(error) = self.ensemble.append(rows) {
            left.into_iter().try_for_each(|member| self.ensemble.push(member))?;
            return Err(error);
        }
        self.constraints.grow(self.ensemble.n_objects())?;
        if leaving.is_empty() {
            let room = |mirror: &mut Arc<Mirror>| {
                Arc::make_mut(mirror).extend(&self.ensemble, &self.alignment)
            };
            self.mirror =
                self.mirror.take().and_then(|mut mirror| room(&mut mirror).then_some(mirror));
        } else {
            self.forget(&leaving);
        }
        Ok(())
    }

    /// Rows for [`WeightUpdater::append_objects`] from labelled neighbours: each member gives a new
    /// object the label that most of its neighbours have, the lowest of equals, and -1 where it
    /// labels none of them.
    ///
    /// Finding the neighbours, for instance in the features, is the caller's part.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfRange`](consilience_core::ErrorKind::OutOfRange) naming the new object
    /// whose neighbour does not exist.
    pub fn labels_by_neighbours(&self, neighbours: &[Vec<usize>]) -> Result<Array2<i64>> {
        let n = self.ensemble.n_objects();
        for (i, near) in neighbours.iter().enumerate() {
            if let Some(bad) = near.iter().find(|&&o| o >= n) {
                return Err(Error::out_of_range(format!(
                    "new object {i}: neighbour {bad} of {n} objects"
                )));
            }
        }
        let members = self.ensemble.members();
        let majority = |(i, u): (usize, usize)| {
            let mut labels: Vec<usize> =
                neighbours[i].iter().filter_map(|&o| members[u].label(o)).collect();
            labels.sort_unstable();
            let most = labels.chunk_by(|a, b| a == b).fold(&[][..], |best: &[usize], now| {
                if now.len() > best.len() { now } else { best }
            });
            most.first().map_or(-1, |&l| l as i64)
        };
        Ok(Array2::from_shape_fn((neighbours.len(), members.len()), majority))
    }

    /// Lets new members join with a share of the weight between them; the others are
    /// scaled to the rest, so that with share 0 nothing changes until constraints come.
    ///
    /// They are aligned to the present clustering by the weights.
    ///
    /// ```
    /// use consilience::{Ensemble, Partition};
    /// use consilience::simplex::WeightUpdater;
    /// use consilience::ndarray::array;
    ///
    /// let ensemble = Ensemble::from_array(array![[0], [0], [1], [1]].view())?;
    /// let mut updater = WeightUpdater::new(ensemble, 2)?;
    /// updater.add_members(vec![Partition::from_labels(&[4, 2, 2, 2])?], 0.25, &())?;
    /// assert_eq!(updater.weights(), vec![0.75, 0.25]);
    /// assert_eq!(updater.alignment_of(1)?, vec![Some(0), Some(1)]);
    /// # Ok::<(), consilience::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::ShapeMismatch`](consilience_core::ErrorKind::ShapeMismatch) naming a member of
    /// another length,
    /// [`ErrorKind::InvalidParameter`](consilience_core::ErrorKind::InvalidParameter) for a share
    /// outside `0..=1`, [`ErrorKind::Cancelled`](consilience_core::ErrorKind::Cancelled); nothing
    /// has changed then.
    ///
    /// # Complexity
    /// As [`WeightUpdater::partition`], and O(n) per new member.
    pub fn add_members(
        &mut self,
        members: Vec<Partition>,
        share: f64,
        observer: &dyn Observer,
    ) -> Result<()> {
        if !(0.0..=1.0).contains(&share) {
            return Err(Error::invalid(format!("share {share} for new members; expected 0..=1")));
        }
        let n = self.ensemble.n_objects();
        if let Some((u, p)) = members.iter().enumerate().find(|(_, p)| p.n_objects() != n) {
            return Err(Error::shape(format!(
                "new member {u} of {} objects, expected {n}",
                p.n_objects()
            )));
        }
        if members.is_empty() {
            return Ok(());
        }
        let (reference, numbers) = self.round()?;
        let tables = self.alignment.match_members(
            &self.ensemble,
            &members,
            (&reference, &numbers),
            self.budgets.work,
            observer,
        )?;
        let each = share / members.len() as f64;
        let joined = |weights: &Weights| {
            let old = weights.gamma().into_iter().map(|g| (1.0 - share) * g);
            Weights::nearest(
                &old.chain(std::iter::repeat_n(each, members.len())).collect::<Vec<_>>(),
            )
        };
        (self.weights, self.earlier) = (joined(&self.weights), joined(&self.earlier));
        for (member, table) in members.into_iter().zip(tables) {
            self.ensemble.push(member)?;
            self.alignment.push(table);
        }
        self.reflect();
        Ok(())
    }

    /// Lets members leave; those behind them move up. The weights of the others are scaled
    /// to sum to 1, so that none without weight gets any and joining undone is as before; where
    /// none with weight is left all get the same. Gives the members back, in
    /// ascending order.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfRange`](consilience_core::ErrorKind::OutOfRange) for a member that does
    /// not exist, [`ErrorKind::Empty`](consilience_core::ErrorKind::Empty) where none would be
    /// left; nothing has changed then.
    pub fn retire_members(&mut self, members: &[usize]) -> Result<Vec<Partition>> {
        let leaving = self.leaving(members)?;
        if leaving.is_empty() {
            return Ok(Vec::new());
        }
        let gone = self.take_members(&leaving)?;
        self.forget(&leaving);
        Ok(gone)
    }

    /// Members that shall leave, ascending, each once, and not all.
    fn leaving(&self, members: &[usize]) -> Result<Vec<usize>> {
        members.iter().try_for_each(|&u| self.check_member(u))?;
        let mut leaving = members.to_vec();
        leaving.sort_unstable();
        leaving.dedup();
        if leaving.len() == self.ensemble.n_members() {
            return Err(Error::empty("an ensemble without its last member"));
        }
        Ok(leaving)
    }

    /// Takes members, ascending and not all, out of the ensemble alone.
    fn take_members(&mut self, leaving: &[usize]) -> Result<Vec<Partition>> {
        // All at once, or none.
        let stays = |u: &usize| leaving.binary_search(u).is_err();
        let rest: Vec<usize> = (0..self.ensemble.n_members()).filter(stays).collect();
        let rest = self.ensemble.select(&rest)?;
        let before = std::mem::replace(&mut self.ensemble, rest);
        Ok(leaving.iter().map(|&u| before.members()[u].clone()).collect())
    }

    /// Takes members, ascending, out of everything else.
    fn forget(&mut self, leaving: &[usize]) {
        let shrunk = |weights: &Weights| {
            let gamma = weights.gamma().into_iter().enumerate();
            let rest: Vec<f64> =
                gamma.filter(|(u, _)| leaving.binary_search(u).is_err()).map(|(_, g)| g).collect();
            Weights::given(&rest, rest.len()).unwrap_or_else(|_| Weights::uniform(rest.len()))
        };
        (self.weights, self.earlier) = (shrunk(&self.weights), shrunk(&self.earlier));
        leaving.iter().rev().for_each(|&u| self.alignment.remove(u));
        self.reflect();
    }
}
