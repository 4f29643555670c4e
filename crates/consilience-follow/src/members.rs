//! Objects and members that come and go.

use consilience_core::{Error, Observer, Partition, RawLabel, Result};
use ndarray::{Array2, ArrayView2};

use crate::updater::Updater;

impl Updater {
    /// Adds objects at the end; see
    /// [`WeightUpdater::append_objects`](consilience_simplex::WeightUpdater::append_objects).
    /// Members that were [grown](Updater::grow) leave, and have no column.
    ///
    /// # Errors
    /// [`ErrorKind::ShapeMismatch`](consilience_core::ErrorKind::ShapeMismatch) unless there is one
    /// column per member that was not grown,
    /// [`ErrorKind::OutOfRange`](consilience_core::ErrorKind::OutOfRange) naming row and member of
    /// a cluster that does not exist; nothing has changed then.
    ///
    /// # Complexity
    /// Amortised O(m) per new object.
    pub fn append_objects<L: RawLabel>(&mut self, rows: ArrayView2<'_, L>) -> Result<()> {
        self.weights.append_objects_to_first(self.grown().start, rows)?;
        self.metric = None;
        Ok(())
    }

    /// Rows for [`Updater::append_objects`] from labelled neighbours, as
    /// [`WeightUpdater`](consilience_simplex::WeightUpdater) makes them.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfRange`](consilience_core::ErrorKind::OutOfRange) naming the new object
    /// whose neighbour does not exist.
    pub fn labels_by_neighbours(&self, neighbours: &[Vec<usize>]) -> Result<Array2<i64>> {
        let all = self.weights.labels_by_neighbours(neighbours)?;
        Ok(all.slice_move(ndarray::s![.., ..self.grown().start]))
    }

    /// Lets new members join with a share of the weight between them; see
    /// [`WeightUpdater::add_members`](consilience_simplex::WeightUpdater::add_members). Members
    /// that were [grown](Updater::grow) leave.
    ///
    /// # Errors
    /// As there; nothing has changed then.
    pub fn add_members(
        &mut self,
        members: Vec<Partition>,
        share: f64,
        observer: &dyn Observer,
    ) -> Result<()> {
        let grown: Vec<usize> = self.grown().collect();
        if members.is_empty() {
            return self.weights.add_members(members, share, observer);
        }
        if grown.is_empty() {
            self.weights.add_members(members, share, observer)?;
        } else {
            // The grown first: the weight that they leave would raise the share of the new ones.
            let mut next = self.weights.clone();
            next.retire_members(&grown)?;
            next.add_members(members, share, observer)?;
            self.weights = next;
        }
        self.metric = None;
        Ok(())
    }

    /// Lets members leave and gives them back, in ascending order; see
    /// [`WeightUpdater::retire_members`](consilience_simplex::WeightUpdater::retire_members). Those
    /// that were [grown](Updater::grow) leave with them.
    ///
    /// # Errors
    /// As there; nothing has changed then.
    pub fn retire_members(&mut self, members: &[usize]) -> Result<Vec<Partition>> {
        members.iter().try_for_each(|&u| self.check_member(u))?;
        if members.is_empty() {
            return Ok(Vec::new());
        }
        let mut leaving: Vec<usize> = members.iter().copied().chain(self.grown()).collect();
        leaving.sort_unstable();
        leaving.dedup();
        if leaving.len() == self.ensemble().n_members() {
            return Err(Error::empty("an ensemble without its last member"));
        }
        let gone = self.weights.retire_members(&leaving)?;
        self.metric = None;
        let asked = gone.into_iter().zip(&leaving).filter(|(_, u)| members.contains(u));
        Ok(asked.map(|(member, _)| member).collect())
    }
}
