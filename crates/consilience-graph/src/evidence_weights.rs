use std::borrow::Cow;
use std::ops::RangeInclusive;

use consilience_core::{
    Dendrogram, Error, MemoryBudget, Microclusters, Observer, Partition, Report, Result,
    SimilarityGraph, ensure, room,
};
use ndarray::Array2;

use crate::average::{average_linkage, canonical};
use crate::{ClusterIncidence, each_row};

/// The weights of an ensemble's clusters and members: what a weighted co-association is made of.
///
/// ```text
/// a_ij = weights of the clusters that hold both / weights of the members that label both
/// ```
///
/// 0 where no member with any weight labels both. Where members give memberships, a cluster holds
/// two objects as far as the product of their memberships says. Weights are rounded to a grid on
/// which sums are exact, at most 2^-52 of the largest apart, so that nothing depends on the order
/// of the members; weights with few decimals are counted in whole ones of the last, so that 0.1 and
/// 0.2 are 0.3. Clusters whose weights lie further apart than 2^24 keep them as they are, and are
/// added in an order of their own.
///
/// ```
/// use consilience::{Ensemble, MemoryBudget, Microclusters, Partition};
/// use consilience::graph::{ClusterIncidence, EvidenceWeights};
///
/// let ensemble = Ensemble::new(vec![
///     Partition::from_labels(&[0, 0, 1])?,
///     Partition::from_labels(&[0, 1, 1])?,
/// ])?;
/// let nodes = Microclusters::of(&ensemble)?;
/// let incidence = ClusterIncidence::of(&nodes)?;
/// // The first member counts three times as much as the second.
/// let weights = EvidenceWeights::new(vec![3.0, 3.0, 1.0, 1.0], vec![3.0, 1.0]);
/// let graph = weights.co_association(&nodes, &incidence, MemoryBudget::default(), &())?;
/// assert_eq!(graph.weights()[[0, 1]], 0.75);
/// assert_eq!(graph.weights()[[1, 2]], 0.25);
/// # Ok::<(), consilience::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct EvidenceWeights {
    /// One for each cluster, numbered as in [`ClusterIncidence`].
    pub clusters: Vec<f64>,
    /// One for each member.
    pub members: Vec<f64>,
}

impl EvidenceWeights {
    /// Weights of the clusters, numbered as in [`ClusterIncidence`], and of the members.
    pub fn new(clusters: Vec<f64>, members: Vec<f64>) -> Self {
        EvidenceWeights { clusters, members }
    }

    /// Each member as often as it counts: plain co-association.
    pub fn equal(incidence: &ClusterIncidence) -> Self {
        let members = incidence.member_weights().to_vec();
        EvidenceWeights { clusters: incidence.cluster_weights(), members }
    }

    /// Each cluster with the weight of its member, as often as that counts.
    pub fn of_members(members: Vec<f64>, incidence: &ClusterIncidence) -> Self {
        let own = members.iter().zip(incidence.member_weights());
        let members: Vec<f64> = own.map(|(weight, count)| weight * count).collect();
        let clusters = incidence.member_of_cluster().into_iter().map(|u| members[u]).collect();
        EvidenceWeights { clusters, members }
    }

    /// Clusters with weights of their own, as often as their members count; members without.
    ///
    /// # Errors
    /// As [`ClusterIncidence::weighed`].
    pub fn of_clusters(clusters: Vec<f64>, incidence: &ClusterIncidence) -> Result<Self> {
        let members = incidence.member_weights().to_vec();
        Ok(EvidenceWeights { clusters: incidence.weighed(clusters)?, members })
    }

    fn check(&self, incidence: &ClusterIncidence) -> Result<()> {
        let (clusters, members) = (incidence.n_clusters(), incidence.n_members());
        let (own, of) = (self.clusters.len(), self.members.len());
        ensure!(
            (own, of) == (clusters, members),
            shape("weights of {own} clusters and {of} members for {clusters} and {members}")
        );
        Ok(())
    }

    /// Weights whose sums are exact unless they are far apart, and what they were multiplied by.
    fn on_grid(mut self, incidence: &ClusterIncidence) -> (Self, f64) {
        let terms = incidence.n_members();
        let power = decimals(self.clusters.iter().chain(&self.members), terms);
        if let Some(power) = power {
            let count = |w: &mut f64| *w = (*w * power).round();
            self.clusters.iter_mut().chain(&mut self.members).for_each(count);
        }
        if !are_far_apart(&self.clusters) {
            on_grid(&mut self.clusters, terms);
            on_grid(&mut self.members, terms);
        }
        (self, power.unwrap_or(1.0))
    }

    /// The weighted co-association of microclusters.
    ///
    /// # Complexity
    /// One addition for each two microclusters that share a cluster, in parallel; 8 n~^2 bytes.
    ///
    /// # Errors
    /// [`ErrorKind::ShapeMismatch`](consilience_core::ErrorKind::ShapeMismatch) for weights of
    /// another ensemble, [`ErrorKind::TooLarge`](consilience_core::ErrorKind::TooLarge) beyond the
    /// budget, [`ErrorKind::Cancelled`](consilience_core::ErrorKind::Cancelled).
    pub fn co_association(
        self,
        nodes: &Microclusters,
        incidence: &ClusterIncidence,
        budget: MemoryBudget,
        observer: &dyn Observer,
    ) -> Result<SimilarityGraph> {
        let n = nodes.n_nodes();
        budget.check_square("weighted co-association", n, 8)?;
        let counts = ExpectedCounts::new(self, nodes, Cow::Borrowed(incidence))?;
        let mut a = room::zeros(n * n)?;
        each_row(&mut a, n, &vec![0.0; n], observer, |both, i, out| {
            counts.fill(i, out, both);
            for (o, &b) in out.iter_mut().zip(both.iter()) {
                *o = if b > 0.0 { *o / b } else { 0.0 };
            }
        })?;
        observer.progress("similarity", n, n);
        let a = Array2::from_shape_vec((n, n), a).map_err(|e| Error::shape(e.to_string()))?;
        SimilarityGraph::new_observed(nodes.grouping().clone(), a, observer)
    }

    /// The tree of average linkage on the weighted co-association, without the matrix: what
    /// [`Similarity::linkage_tree`](consilience_core::Similarity::linkage_tree) asks for. `None`
    /// where some label is missing, and where the matrix is faster, takes half a gibibyte at most
    /// and is within the budget: among 1,000 to 8,192 microclusters of which two share more than
    /// four clusters on average. Merges that tie may be made in another order there. At least one
    /// weight must be positive.
    ///
    /// # Complexity
    /// O(n~ M) memory; each of some 3 n~ searches for a nearest neighbour reads the microclusters
    /// that share the smaller clusters of one, O(n~ M) at worst.
    ///
    /// # Errors
    /// As `weights`; [`ErrorKind::Empty`](consilience_core::ErrorKind::Empty) without nodes,
    /// [`ErrorKind::Cancelled`](consilience_core::ErrorKind::Cancelled).
    pub fn average_tree(
        nodes: &Microclusters,
        budget: MemoryBudget,
        report: &mut Report,
        observer: &dyn Observer,
        weights: impl FnOnce(&ClusterIncidence) -> Result<Self>,
    ) -> Result<Option<Dendrogram>> {
        if !nodes.is_complete() {
            return Ok(None);
        }
        ensure!(nodes.n_nodes() > 0, empty("a dendrogram needs at least one leaf"));
        let of = || ClusterIncidence::of_observed(nodes, observer);
        let incidence = report.stage("similarity", of)?;
        if is_crowded(&incidence) && budget.allows_table(nodes.n_nodes(), nodes.n_nodes(), 8) {
            return Ok(None);
        }
        let weights = report.stage("similarity", || {
            let weights = weights(&incidence)?;
            weights.check(&incidence)?;
            Ok::<_, Error>(weights)
        })?;
        // Only the ratio of the two counts.
        let (Self { clusters, members }, _) = weights.on_grid(&incidence);
        let total = ascending(&members).iter().map(|&u| members[u]).sum();
        let tree = || average_linkage(&incidence, &clusters, total, observer);
        report.stage("partition", tree).map(Some)
    }
}

/// Whether a matrix of similarities is made faster than neighbours are found without one: where
/// two nodes share so many clusters that a search reads more entries than there are nodes. Of few
/// nodes both are fast, and of very many the matrix is large; how much memory there is is not
/// asked, since labels should not depend on that where rounding decides.
fn is_crowded(incidence: &ClusterIncidence) -> bool {
    const NODES: RangeInclusive<usize> = 1000..=8192;
    const SHARED: f64 = 4.0;
    let n = incidence.n_rows();
    let entries = (0..incidence.n_clusters()).map(|c| (incidence.rows_of(c).len() as f64).powi(2));
    NODES.contains(&n) && entries.sum::<f64>() > SHARED * (n as f64).powi(2)
}

/// What a weighted co-association is the ratio of, a row at a time.
#[derive(Clone, Debug)]
pub(crate) struct ExpectedCounts<'a> {
    nodes: &'a Microclusters,
    incidence: Cow<'a, ClusterIncidence>,
    weights: EvidenceWeights,
    /// How many times what was given the weights are.
    times: f64,
    /// The nodes that each member does not label.
    unlabelled: Vec<Vec<u32>>,
    /// Products of memberships are rounded to multiples of it, on which sums are exact.
    unit: f64,
    /// The order in which weights that are far apart are added.
    far: Option<Order>,
}

/// An order that the order of the members leaves no trace in.
#[derive(Clone, Debug)]
struct Order {
    /// The place of each cluster.
    places: Vec<u32>,
    /// The members, by their weights.
    members: Vec<usize>,
}

impl<'a> ExpectedCounts<'a> {
    pub(crate) fn new(
        weights: EvidenceWeights,
        nodes: &'a Microclusters,
        incidence: Cow<'a, ClusterIncidence>,
    ) -> Result<Self> {
        weights.check(&incidence)?;
        let (weights, times) = weights.on_grid(&incidence);
        let without = |p: &Partition| -> Vec<u32> {
            (0..).zip(p.iter()).filter(|(_, l)| l.is_none()).map(|(i, _)| i).collect()
        };
        let unlabelled = nodes.rows().iter().map(without).collect();
        let largest = weights.clusters.iter().fold(0.0f64, |m, &w| m.max(w));
        let most = (largest * incidence.n_members().max(1) as f64).log2().ceil();
        let unit = if most.is_finite() { 2f64.powf(most - 52.0) } else { 1.0 };
        let far = are_far_apart(&weights.clusters).then(|| {
            let mut places = vec![0; weights.clusters.len()];
            let order = canonical(&incidence, &weights.clusters);
            (0..).zip(order).for_each(|(at, c)| places[c as usize] = at);
            Order { places, members: ascending(&weights.members) }
        });
        Ok(ExpectedCounts { nodes, incidence, weights, times, unlabelled, unit, far })
    }

    /// How many times the units of the weights that were given those of [`fill`](Self::fill) are.
    pub(crate) fn times(&self) -> f64 {
        self.times
    }

    /// The weights of the clusters that hold node i and each other, and of the members that label
    /// both, in units of their own: their ratio counts.
    pub(crate) fn fill(&self, i: usize, together: &mut [f64], both: &mut [f64]) {
        if let Some(order) = &self.far {
            return self.fill_far(order, i, together, both);
        }
        both.fill(self.weights.members.iter().sum());
        let members = self.nodes.rows().iter().zip(&self.unlabelled);
        for ((member, unlabelled), &v) in members.zip(&self.weights.members) {
            if member.label(i).is_none() {
                both.iter_mut().for_each(|b| *b -= v);
            } else {
                unlabelled.iter().for_each(|&j| both[j as usize] -= v);
            }
        }
        together.fill(0.0);
        let incidence = &*self.incidence;
        for (c, p) in incidence.shares_of(i) {
            let w = self.weights.clusters[c];
            if incidence.is_soft() {
                let scale = w / self.unit;
                for (j, q) in incidence.shares_in(c) {
                    together[j] += (scale * (p * q)).round() * self.unit;
                }
            } else {
                incidence.rows_of(c).iter().for_each(|&j| together[j as usize] += w);
            }
        }
    }

    /// The same of weights that are far apart: smallest first, and nothing taken off a sum.
    fn fill_far(&self, order: &Order, i: usize, together: &mut [f64], both: &mut [f64]) {
        both.fill(0.0);
        for &u in &order.members {
            let (member, weight) = (&self.nodes.rows()[u], self.weights.members[u]);
            if member.label(i).is_some() {
                let labelled = both.iter_mut().zip(member.iter()).filter(|(_, l)| l.is_some());
                labelled.for_each(|(both, _)| *both += weight);
            }
        }
        together.fill(0.0);
        let mut own: Vec<(usize, f64)> = self.incidence.shares_of(i).collect();
        own.sort_unstable_by_key(|&(c, _)| order.places[c]);
        for (c, p) in own {
            let weight = self.weights.clusters[c];
            self.incidence.shares_in(c).for_each(|(j, q)| together[j] += weight * (p * q));
        }
    }
}

/// The members by their weights: sums in this order have the same bits, whatever theirs is.
fn ascending(weights: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..weights.len()).collect();
    order.sort_by(|&a, &b| weights[a].total_cmp(&weights[b]));
    order
}

/// The power of ten that makes whole numbers of all weights, of which `terms` still add up exactly,
/// where there is one up to 10^9.
fn decimals<'a>(weights: impl Iterator<Item = &'a f64> + Clone, terms: usize) -> Option<f64> {
    let most = 2f64.powi(52) / terms.max(1) as f64;
    (0..=9).map(|digits| 10f64.powi(digits)).find(|power| {
        weights.clone().all(|w| {
            let count = w * power;
            (count - count.round()).abs() <= 4.0 * f64::EPSILON * count && count < most
        })
    })
}

/// Whether a grid that suits the largest weight would leave little of the smallest.
fn are_far_apart(weights: &[f64]) -> bool {
    let positive = || weights.iter().copied().filter(|&w| w > 0.0);
    positive().fold(f64::INFINITY, f64::min) < positive().fold(0.0, f64::max) * FAR
}

/// What the smallest weight may be of the largest on one grid: 2^-24, which leaves it 28 bits of 52
/// less those of the number of members.
const FAR: f64 = 1.0 / 16_777_216.0;

/// Weights on a grid so coarse that sums of `terms` of them are exact: their bits do not depend on
/// the order of the members. The grid is at most 2^-52 `terms` of the largest weight.
///
/// ```
/// use consilience::graph::on_grid;
///
/// let mut weights = [0.1, 0.2, 0.3];
/// on_grid(&mut weights, 3);
/// assert_eq!((weights[0] + weights[1]) + weights[2], weights[0] + (weights[1] + weights[2]));
/// ```
pub fn on_grid(weights: &mut [f64], terms: usize) {
    let largest = weights.iter().fold(0.0f64, |m, &w| m.max(w));
    if largest > 0.0 {
        let bits = largest.log2().ceil() + (terms.max(1) as f64).log2().ceil() - 52.0;
        let unit = 2f64.powi(bits.max(-1000.0) as i32);
        weights.iter_mut().for_each(|w| *w = (*w / unit).round() * unit);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_on_the_grid_are_exact_in_any_order() {
        let mut w: Vec<f64> = (0..1000).map(|i| 0.1 + (f64::from(i) * 0.7).sin().abs()).collect();
        let before = w.clone();
        on_grid(&mut w, 1000);
        assert!(w.iter().zip(&before).all(|(a, b)| (a - b).abs() < 1e-12));
        let forth: f64 = w.iter().sum();
        let back: f64 = w.iter().rev().sum();
        assert_eq!(forth.to_bits(), back.to_bits());
        assert_eq!(w.iter().fold(forth, |s, w| s - w), 0.0);
        let mut zeros = [0.0; 3];
        on_grid(&mut zeros, 3);
        assert_eq!(zeros, [0.0; 3]);
    }

    /// Tenths are counted in tenths, thirds are left alone, and so is what would not add up.
    #[test]
    fn few_decimals_make_whole_numbers() {
        assert_eq!(decimals([0.1, 0.2, 0.3].iter(), 3), Some(10.0));
        assert_eq!(decimals([1.0, 2.0].iter(), 2), Some(1.0));
        assert_eq!(decimals([0.25, 1.5, 0.0].iter(), 3), Some(100.0));
        assert_eq!(decimals([1.0 / 3.0, 1.0].iter(), 2), None);
        assert_eq!(decimals([0.1, 1e15].iter(), 4), None);
        assert_eq!(decimals([1e-17, 1.0].iter(), 2), None);
    }

    /// Weights 16 digits apart: similarities are those of plain sums, whatever the members' order.
    #[test]
    fn faint_clusters_count() {
        let member = |labels: &[i64]| consilience_core::Partition::from_labels(labels).unwrap();
        let members = vec![member(&[0, 0, 1, 1, 2]), member(&[0, 0, 1, 1, 1])];
        let ensemble = consilience_core::Ensemble::new(members).unwrap();
        let nodes = Microclusters::of(&ensemble).unwrap();
        let incidence = ClusterIncidence::of(&nodes).unwrap();
        let weights = EvidenceWeights::new(vec![1.0, 3e-17, 1.0, 1.0, 5e-17], vec![1.0, 1.0]);
        let budget = MemoryBudget::default();
        let graph = weights.clone().co_association(&nodes, &incidence, budget, &()).unwrap();
        // Nodes: objects 0 and 1, objects 2 and 3, object 4.
        assert_eq!(graph.weights()[[0, 0]], 1.0);
        assert_eq!(graph.weights()[[1, 1]], (3e-17 + 5e-17) / 2.0);
        assert_eq!(graph.weights()[[1, 2]], 5e-17 / 2.0);
        let mut report = Report::default();
        let of = |_: &ClusterIncidence| Ok(weights);
        let tree = EvidenceWeights::average_tree(&nodes, budget, &mut report, &(), of).unwrap();
        assert_eq!(tree.unwrap().merges()[0].nodes, [1, 2]);
    }

    /// The matrix is made where two nodes share many clusters, and there is memory for it.
    #[test]
    fn crowded_ensembles_have_a_matrix() {
        let found = |members: u64, budget| {
            let member = |u: u64| {
                let label = |i: usize| Some((i as u64).wrapping_mul(2 * u + 1) / 7 % 4);
                consilience_core::Partition::from_fn(1500, label).unwrap()
            };
            let columns =
                std::iter::once(consilience_core::Partition::from_fn(1500, |i| Some(i as u64)));
            let columns = columns.map(Result::unwrap).chain((0..members).map(member));
            let ensemble = consilience_core::Ensemble::new(columns.collect()).unwrap();
            let nodes = Microclusters::of(&ensemble).unwrap();
            let of = |incidence: &ClusterIncidence| {
                Ok(EvidenceWeights::new(
                    vec![1.0; incidence.n_clusters()],
                    vec![1.0; incidence.n_members()],
                ))
            };
            let mut report = Report::default();
            EvidenceWeights::average_tree(&nodes, budget, &mut report, &(), of).unwrap()
        };
        assert!(found(4, MemoryBudget::default()).is_some());
        assert!(found(20, MemoryBudget::default()).is_none());
        let tree = found(20, MemoryBudget::bytes(1 << 20)).unwrap();
        assert_eq!(tree.n_leaves(), 1500);
    }

    /// Members' weights far apart beside missing labels: a share is one of what labels both.
    #[test]
    fn faint_members_count() {
        let member = |labels: &[i64]| consilience_core::Partition::from_labels(labels).unwrap();
        let members =
            vec![member(&[0, 0, -1, -1]), member(&[-1, 5, 0, 0]), member(&[-1, -1, 0, 1])];
        let ensemble = consilience_core::Ensemble::new(members).unwrap();
        let ensemble = ensemble.with_weights(vec![1.5e-9, 9e5, 1e5]).unwrap();
        let nodes = Microclusters::of(&ensemble).unwrap();
        let incidence = ClusterIncidence::of(&nodes).unwrap();
        let weights = EvidenceWeights::equal(&incidence);
        let graph = weights.co_association(&nodes, &incidence, MemoryBudget::default(), &());
        let graph = graph.unwrap();
        assert_eq!(graph.weights()[[0, 1]], 1.0);
        assert_eq!(graph.weights()[[2, 3]], 0.9);
        assert_eq!(graph.weights()[[1, 2]], 0.0);
    }

    #[test]
    fn members_that_count_twice_weigh_twice() {
        let member = |labels: &[i64]| consilience_core::Partition::from_labels(labels).unwrap();
        let members = vec![member(&[0, 0, 1]), member(&[0, 1, 2])];
        let ensemble = consilience_core::Ensemble::new(members).unwrap();
        let ensemble = ensemble.with_weights(vec![2.0, 0.5]).unwrap();
        let incidence = ClusterIncidence::of(&Microclusters::of(&ensemble).unwrap()).unwrap();
        let equal = EvidenceWeights::equal(&incidence);
        assert_eq!((&equal.members[..], equal.clusters[1]), (&[2.0, 0.5][..], 2.0));
        let own = EvidenceWeights::of_members(vec![3.0, 4.0], &incidence);
        assert_eq!(own.members, [6.0, 2.0]);
        assert_eq!(own.clusters, [6.0, 6.0, 2.0, 2.0, 2.0]);
        let each = EvidenceWeights::of_clusters(vec![1.0, 2.0, 3.0, 4.0, 5.0], &incidence).unwrap();
        assert_eq!(each.clusters, [2.0, 4.0, 1.5, 2.0, 2.5]);
        assert_eq!(each.members, [2.0, 0.5]);
        assert!(EvidenceWeights::of_clusters(vec![1.0; 4], &incidence).is_err());
    }
}
