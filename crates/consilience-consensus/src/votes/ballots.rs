use consilience_core::{
    Ensemble, Grouping, MemoryBudget, Microclusters, Observer, Partition, Result, room,
};
use consilience_num::assignment::max_assignment;
use ndarray::{Array2, ArrayView2};

/// The members of an ensemble over its microclusters, in an order that does not depend on the order
/// in which they came.
///
/// Votes are counted object by object, and objects that all members treat alike vote alike: a
/// microcluster casts as many votes as it has objects. Members are sorted by their canonical
/// labels, so that sums over them have the same bits whatever order they were given in.
///
/// ```
/// use consilience::{Ensemble, Partition};
/// use consilience::consensus::Ballots;
///
/// let a = Partition::from_labels(&[0, 0, 1, 1])?;
/// let b = Partition::from_labels(&[0, 0, 0, 1])?;
/// let one = Ballots::of(&Ensemble::new(vec![a.clone(), b.clone()])?)?;
/// let other = Ballots::of(&Ensemble::new(vec![b, a])?)?;
/// assert_eq!(one, other);
/// assert_eq!((one.n_nodes(), one.weights()), (3, &[2.0, 1.0, 1.0][..]));
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Complexity
/// O(n M) for the microclusters, O(n~ M log M) at worst for the order.
#[derive(Clone, Debug, PartialEq)]
pub struct Ballots {
    /// With the members sorted, their weights in lowest terms.
    nodes: Microclusters,
    weights: Vec<f64>,
    /// What a weight of 1 was before.
    unit: f64,
}

impl Ballots {
    /// The ballots of an ensemble.
    ///
    /// # Errors
    /// None but those of an ensemble that cannot exist.
    pub fn of(ensemble: &Ensemble) -> Result<Self> {
        Self::of_observed(ensemble, &())
    }

    /// As [`Ballots::of`], with progress and cancellation.
    ///
    /// # Errors
    /// [`ErrorKind::Cancelled`](consilience_core::ErrorKind::Cancelled).
    pub fn of_observed(ensemble: &Ensemble, observer: &dyn Observer) -> Result<Self> {
        Ok(Self::from(&Microclusters::observed(ensemble, observer)?))
    }

    /// Nodes that vote: microclusters.
    pub fn n_nodes(&self) -> usize {
        self.weights.len()
    }

    /// The nodes, with the members sorted.
    pub(crate) fn nodes(&self) -> &Microclusters {
        &self.nodes
    }

    /// Objects of each node.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// The members over the nodes, sorted; none where no object is labelled. Of those that give
    /// memberships, the most probable clusters.
    pub fn members(&self) -> &[Partition] {
        self.nodes.rows()
    }

    /// Clusters of a member.
    pub(crate) fn n_clusters(&self, member: usize) -> usize {
        match self.nodes.soft(member) {
            Some(soft) => soft.n_clusters(),
            None => self.members()[member].n_clusters(),
        }
    }

    /// Calls `vote(node, cluster, share)` for each cluster of a member that a node lies in: one of
    /// share 1 for labels, the memberships otherwise.
    #[inline(always)]
    pub(crate) fn each_vote(&self, member: usize, mut vote: impl FnMut(usize, usize, f64)) {
        if let Some(soft) = self.nodes.soft(member) {
            for i in 0..self.n_nodes() {
                let (clusters, shares) = soft.row(i);
                clusters.iter().zip(shares).for_each(|(&l, &p)| vote(i, l as usize, p));
            }
        } else {
            let labels = self.members()[member].iter().enumerate();
            labels.for_each(|(i, l)| l.into_iter().for_each(|l| vote(i, l, 1.0)));
        }
    }

    /// How often a member counts, in a unit that all have in common.
    pub(crate) fn count(&self, member: usize) -> f64 {
        self.nodes.weight(member)
    }

    /// That unit: what sums over the members are multiplied by to be those of the weights given.
    pub(crate) fn unit(&self) -> f64 {
        self.unit
    }

    /// Which node each object belongs to.
    pub fn grouping(&self) -> &Grouping {
        self.nodes.grouping()
    }

    /// For each cluster of a member the reference cluster that it corresponds to, `None` where it
    /// is left over: the one-to-one matching under which the member agrees with the reference most,
    /// `sum_i s_i reference[i, match(label_i)]`, or the mean of that by the memberships of the
    /// object. The reference is soft, nodes in rows. Panics beyond the last member, as indexing
    /// does.
    ///
    /// # Complexity
    /// O(n~ k) for the table and O(s^2 l) for the matching, s and l the smaller and the larger
    /// number of clusters; 24 s l bytes, which [`Ballots::check_alignment`] asks for.
    pub fn align(&self, member: usize, reference: ArrayView2<'_, f64>) -> Vec<Option<usize>> {
        max_assignment(self.overlap(member, reference).view())
    }

    /// Refuses the tables of [`Ballots::align`] with a reference of so many clusters, for the
    /// member with most clusters, where they do not fit the budget.
    ///
    /// ```
    /// use consilience::consensus::Ballots;
    /// use consilience::{Ensemble, MemoryBudget, Partition};
    ///
    /// let two = Partition::from_labels(&[0, 0, 1])?;
    /// let three = Partition::from_labels(&[0, 1, 2])?;
    /// let ballots = Ballots::of(&Ensemble::new(vec![two, three])?)?;
    /// assert!(ballots.check_alignment(2, MemoryBudget::bytes(24 * 3 * 2)).is_ok());
    /// assert!(ballots.check_alignment(2, MemoryBudget::bytes(24 * 3 * 2 - 1)).is_err());
    /// # Ok::<(), consilience::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::TooLarge`](consilience_core::ErrorKind::TooLarge).
    pub fn check_alignment(&self, clusters: usize, budget: MemoryBudget) -> Result<()> {
        let most = (0..self.members().len()).map(|u| self.n_clusters(u)).max().unwrap_or(0);
        // The objects that are shared, and two copies for the matching.
        budget.check_table("clusters of a member and of all", most, clusters, 24)
    }

    /// Objects that each cluster of a member shares with each cluster of the soft reference.
    pub(crate) fn overlap(&self, member: usize, reference: ArrayView2<'_, f64>) -> Array2<f64> {
        let mut shared = Array2::zeros((self.n_clusters(member), reference.ncols()));
        self.each_vote(member, |i, l, p| {
            shared.row_mut(l).scaled_add(self.weights[i] * p, &reference.row(i));
        });
        shared
    }
}

impl From<&Microclusters> for Ballots {
    fn from(microclusters: &Microclusters) -> Self {
        let weights = microclusters.grouping().weights();
        let nodes = microclusters.in_lowest_terms();
        // Of the least weight: which member is the first depends on their order.
        let least = |nodes: &Microclusters| {
            (0..nodes.rows().len()).map(|u| nodes.weight(u)).fold(f64::INFINITY, f64::min)
        };
        let unit = if nodes.rows().is_empty() { 1.0 } else { least(microclusters) / least(&nodes) };
        Ballots { nodes: nodes.into_owned().sorted_members(), weights, unit }
    }
}

/// A hard clustering of the nodes as rows of zeros and a one, which nodes without a cluster lack.
pub(crate) fn indicator(clusters: &[Option<usize>], k: usize) -> Result<Array2<f64>> {
    let mut out = room::table(clusters.len(), k)?;
    for (mut row, c) in out.rows_mut().into_iter().zip(clusters) {
        c.iter().for_each(|&c| row[c] = 1.0);
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    #[test]
    fn a_cluster_without_a_counterpart_is_left_over() {
        let e = Ensemble::from_array(array![[0, 0], [0, 0], [1, 0], [2, 1]].view()).unwrap();
        let ballots = Ballots::of(&e).unwrap();
        let reference = array![[1.0, 0.0], [0.0, 1.0], [0.0, 1.0]];
        let fine = (0..2).find(|&u| ballots.n_clusters(u) == 3).unwrap();
        let matched = ballots.align(fine, reference.view());
        assert_eq!(matched.iter().filter(|m| m.is_none()).count(), 1);
        assert_eq!(matched[0], Some(0));
    }

    #[test]
    fn the_unit_of_weights_does_not_depend_on_the_order_of_members() {
        let member = |labels: &[u8]| Partition::from_labels(labels).unwrap();
        let (a, b) = (member(&[0, 0, 1, 1]), member(&[0, 1, 1, 1]));
        let weighed = |members: Vec<Partition>, weights: Vec<f64>| {
            Ballots::of(&Ensemble::new(members).unwrap().with_weights(weights).unwrap()).unwrap()
        };
        let one = weighed(vec![a.clone(), b.clone()], vec![0.1, 0.3]);
        assert_eq!(one, weighed(vec![b, a], vec![0.3, 0.1]));
    }
}
