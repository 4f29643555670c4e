use std::borrow::Cow;
use std::sync::Arc;

use consilience_core::{Microclusters, Result};

use crate::evidence_weights::ExpectedCounts;
use crate::{ClusterIncidence, CountRow, EvidenceWeights};

/// How far one microcluster agrees with all others, computed on demand: [`CountRow`] for members of
/// any kind.
///
/// Where members give memberships, c is how many of them are expected to put both together; a
/// member counts as often as its weight says.
///
/// ```
/// use consilience::{Ensemble, Microclusters, Partition, SparseMemberships};
/// use consilience::graph::AgreementRow;
/// use consilience::ndarray::array;
///
/// let ensemble = Ensemble::mixed([
///     Partition::from_labels(&[0, 0, 1])?.into(),
///     SparseMemberships::from_array(array![[0.5, 0.5], [1.0, 0.0], [0.0, 0.0]].view())?.into(),
/// ])?;
/// let nodes = Microclusters::of(&ensemble.with_weights(vec![3.0, 1.0])?)?;
/// let mut row = AgreementRow::new(&nodes)?;
/// row.fill(0);
/// assert_eq!((row.together(1), row.both(1), row.ratio(1)), (3.5, 4.0, 0.875));
/// assert_eq!((row.together(2), row.both(2), row.ratio(2)), (0.0, 3.0, 0.0));
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Complexity
/// A row takes as many operations as microclusters share clusters with it, M n~ at most where
/// members have labels.
#[derive(Clone, Debug)]
pub struct AgreementRow<'a> {
    nodes: &'a Microclusters,
    row: Row<'a>,
}

#[derive(Clone, Debug)]
enum Row<'a> {
    Counted(CountRow),
    Expected { counts: Arc<ExpectedCounts<'a>>, together: Vec<f64>, both: Vec<f64> },
}

impl<'a> AgreementRow<'a> {
    /// Scratch for the rows of these microclusters.
    ///
    /// # Errors
    /// [`ErrorKind::TooLarge`](consilience_core::ErrorKind::TooLarge) with more than 65,535
    /// members.
    pub fn new(nodes: &'a Microclusters) -> Result<Self> {
        if nodes.is_plain() {
            return Ok(AgreementRow { nodes, row: Row::Counted(CountRow::new(nodes)?) });
        }
        let incidence = ClusterIncidence::of(nodes)?;
        let weights = EvidenceWeights::equal(&incidence);
        let counts = Arc::new(ExpectedCounts::new(weights, nodes, Cow::Owned(incidence))?);
        let zeros = || vec![0.0; nodes.n_nodes()];
        Ok(AgreementRow { nodes, row: Row::Expected { counts, together: zeros(), both: zeros() } })
    }

    /// Reads the agreement of microcluster `i` with every other, and of objects within it.
    pub fn fill(&mut self, i: usize) {
        match &mut self.row {
            Row::Counted(row) => row.fill(self.nodes, i),
            Row::Expected { counts, together, both } => counts.fill(i, together, both),
        }
    }

    /// c of the last row read: members that put both microclusters in one cluster.
    #[inline]
    pub fn together(&self, j: usize) -> f64 {
        match &self.row {
            Row::Counted(row) => f64::from(row.together()[j]),
            Row::Expected { counts, together, .. } => together[j] / counts.times(),
        }
    }

    /// N of the last row read: members that label both.
    #[inline]
    pub fn both(&self, j: usize) -> f64 {
        match &self.row {
            Row::Counted(row) => f64::from(row.both()[j]),
            Row::Expected { counts, both, .. } => both[j] / counts.times(),
        }
    }

    /// a = c / N of the last row read, 0 where no member labels both.
    #[inline]
    pub fn ratio(&self, j: usize) -> f64 {
        let (together, both) = match &self.row {
            Row::Counted(_) => (self.together(j), self.both(j)),
            // Before they are divided by what is common to both.
            Row::Expected { together, both, .. } => (together[j], both[j]),
        };
        if both > 0.0 { together / both } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use consilience_core::{Ensemble, Member, Partition, Seed, SparseMemberships};
    use ndarray::Array2;

    /// Rows of labels, of memberships and of weighted members are the pairs of the microclusters.
    #[test]
    fn rows_are_the_agreements_of_pairs() {
        let mut s = Seed(2).stream();
        for kind in 0..3 {
            let members = (0..4).map(|u| -> Member {
                if kind == 1 && u % 2 == 0 {
                    // Quarters, so that sums are exact.
                    let values = Array2::from_shape_fn((12, 2), |(i, c)| {
                        let first = (i * 3 + u) % 6;
                        if first == 5 {
                            0.0
                        } else {
                            let share = first as f64 / 4.0;
                            if c == 0 { share } else { 1.0 - share }
                        }
                    });
                    return SparseMemberships::from_array(values.view()).unwrap().into();
                }
                let labels: Vec<i64> = (0..12).map(|_| s.below(4) as i64 - 1).collect();
                Partition::from_labels(&labels).unwrap().into()
            });
            let mut ensemble = Ensemble::mixed(members.collect::<Vec<_>>()).unwrap();
            if kind == 2 {
                ensemble = ensemble.with_weights(vec![1.0, 0.5, 2.0, 0.25]).unwrap();
            }
            let nodes = Microclusters::of(&ensemble).unwrap();
            assert_eq!(nodes.is_plain(), kind == 0);
            let mut row = AgreementRow::new(&nodes).unwrap();
            for i in 0..nodes.n_nodes() {
                row.fill(i);
                for j in 0..nodes.n_nodes() {
                    let (together, both) = nodes.agreement(i, j);
                    assert_eq!((row.together(j), row.both(j)), (together, both), "{kind} {i} {j}");
                    let ratio = if both == 0.0 { 0.0 } else { together / both };
                    assert_eq!(row.ratio(j), ratio);
                }
            }
        }
    }
}
