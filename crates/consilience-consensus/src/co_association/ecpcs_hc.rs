use std::ops::Range;

use consilience_core::{
    Accepts, Clusters, Dendrogram, Linkage, MemoryBudget, Microclusters, Observer, Report, Result,
    Similarity, SimilarityGraph, room,
};
use consilience_graph::{
    AgreementRow, ClusterIncidence, Lifespan, Linked, SimilarityRows, average_of_rows, each_row,
    linked_method, on_grid,
};
use ndarray::Array2;

use super::propagation::{STEPS, check_steps, propagated_cluster_similarity};

/// The enhanced co-association: how alike the clusters are that hold two objects, averaged over the
/// members that label both, with the [propagated similarity](propagated_cluster_similarity) of
/// clusters. Objects in different clusters of a member are no longer simply apart.
///
/// ```
/// use consilience::{Ensemble, Partition, Similarity};
/// use consilience::consensus::EnhancedCoAssociation;
///
/// let ensemble = Ensemble::new(vec![
///     Partition::from_labels(&[0, 0, 1, 2])?,
///     Partition::from_labels(&[0, 0, 0, 1])?,
///     Partition::from_labels(&[0, 1, 1, 2])?,
/// ])?;
/// let graph = EnhancedCoAssociation::default().similarity(&ensemble)?;
/// let s = graph.weights();
/// assert!(s[[0, 2]] > 0.5); // together once only, but the clusters apart are alike
/// assert_eq!(s[[0, 3]], 0.0);
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Complexity
/// As [`propagated_cluster_similarity`] and O(n~^2 M), in parallel; 8 n~^2 bytes.
///
/// # Errors
/// [`ErrorKind::InvalidParameter`](consilience_core::ErrorKind::InvalidParameter) for steps outside
/// 1..=1000, [`ErrorKind::TooLarge`](consilience_core::ErrorKind::TooLarge) beyond the memory
/// budget.
///
/// # References
/// Huang, Wang, Peng, Lai, Kwoh 2021, "Enhanced Ensemble Clustering via Fast Propagation of
/// Cluster-Wise Similarities", Section III-C. Missing labels are ours.
#[doc(alias = "ECA")]
#[derive(Clone, Copy, Debug)]
pub struct EnhancedCoAssociation {
    steps: usize,
    budget: MemoryBudget,
}

impl Default for EnhancedCoAssociation {
    fn default() -> Self {
        EnhancedCoAssociation { steps: STEPS, budget: MemoryBudget::default() }
    }
}

impl EnhancedCoAssociation {
    consilience_core::setters! {
        /// The steps of a walk. Default 20; 1 to 1000.
        pub fn steps(mut self, steps: usize) { self.steps = steps }

        /// How large the matrices may become. Default 8 GiB.
        pub fn memory_budget(mut self, budget: MemoryBudget) { self.budget = budget }
    }
}

impl Similarity for EnhancedCoAssociation {
    fn name(&self) -> &str {
        "ecpcs"
    }

    fn accepts(&self) -> Accepts {
        Accepts::MEMBERSHIPS
    }

    fn check(&self) -> Result<()> {
        check_steps(self.steps)
    }

    fn between(
        &self,
        nodes: &Microclusters,
        _report: &mut Report,
        observer: &dyn Observer,
    ) -> Result<SimilarityGraph> {
        self.check()?;
        let n = nodes.n_nodes();
        self.budget.check_square("enhanced co-association", n, 8)?;
        // Walks between clusters are sums in their order, which is that of the members.
        let nodes = &nodes.clone().sorted_members();
        let incidence = ClusterIncidence::of_observed(nodes, observer)?;
        let alike = self.alike(&incidence, observer)?;
        let scratch = (AgreementRow::new(nodes)?, vec![0.0; n], [Vec::new(), Vec::new()]);
        let groups = groups(nodes, &incidence)?;
        let (complete, members) = (nodes.is_complete(), nodes.n_members() as f64);
        let mut a = room::zeros(n * n)?;
        each_row(&mut a, n, &scratch, observer, |(counts, sums, tables), i, out| {
            sums.fill(0.0);
            add_up(&groups, &alike, i, sums, tables);
            add_up_soft(nodes, &incidence, &alike, i, sums);
            // Written once: memory that is read first is given by the system twice.
            if complete {
                out.iter_mut().zip(&*sums).for_each(|(o, sum)| *o = sum / members);
            } else {
                counts.fill(i);
                for (j, (o, &sum)) in out.iter_mut().zip(&*sums).enumerate() {
                    let both = counts.both(j);
                    *o = if both > 0.0 { sum / both } else { sum };
                }
            }
        })?;
        observer.progress("similarity", n, n);
        if incidence.is_soft() {
            // Sums of products from either side are rounded otherwise: those of the smaller count.
            for i in 0..n {
                observer.check()?;
                (0..i).for_each(|j| a[i * n + j] = a[j * n + i]);
            }
        }
        SimilarityGraph::of_symmetric(nodes.grouping().clone(), a)
    }

    /// Of members with labels, from a row of the matrix at a time: the same to the bit.
    fn linkage_tree(
        &self,
        linkage: Linkage,
        nodes: &Microclusters,
        report: &mut Report,
        observer: &dyn Observer,
    ) -> Result<Option<Dendrogram>> {
        if linkage != Linkage::Average || !nodes.is_plain() {
            return Ok(None);
        }
        self.check()?;
        self.budget.check_square("enhanced co-association", nodes.n_nodes(), 8)?;
        let nodes = &nodes.clone().sorted_members();
        let mut rows = report.stage("similarity", || {
            let incidence = ClusterIncidence::of_observed(nodes, observer)?;
            let alike = self.alike(&incidence, observer)?;
            Rows::new(nodes, &incidence, alike)
        })?;
        let weights = nodes.grouping().weights();
        let tree = || average_of_rows(&mut rows, &weights, observer);
        report.stage("partition", tree).map(Some)
    }
}

impl EnhancedCoAssociation {
    /// How alike clusters are, on a grid on which the sums of the members are exact.
    fn alike(&self, incidence: &ClusterIncidence, observer: &dyn Observer) -> Result<Array2<f64>> {
        let mut alike =
            propagated_cluster_similarity(incidence, self.steps, self.budget, observer)?;
        if let Some(alike) = alike.as_slice_mut() {
            on_grid(alike, incidence.n_members());
        }
        Ok(alike)
    }
}

/// Rows of the enhanced co-association of members with labels, one at a time.
struct Rows<'a> {
    alike: Array2<f64>,
    groups: Vec<Group>,
    /// The sums of a group for every combination of labels, for two groups.
    tables: [Vec<f64>; 2],
    members: f64,
    /// Where some label is missing: the members that label both, and the leaves asked about.
    counts: Option<(AgreementRow<'a>, Vec<usize>)>,
}

impl<'a> Rows<'a> {
    fn new(
        nodes: &'a Microclusters,
        incidence: &ClusterIncidence,
        alike: Array2<f64>,
    ) -> Result<Self> {
        let counts = if nodes.is_complete() {
            None
        } else {
            Some((AgreementRow::new(nodes)?, room::collected(0..nodes.n_nodes())?))
        };
        Ok(Rows {
            alike,
            groups: groups(nodes, incidence)?,
            tables: [Vec::new(), Vec::new()],
            members: nodes.n_members() as f64,
            counts,
        })
    }
}

impl SimilarityRows for Rows<'_> {
    fn keep(&mut self, leaves: &[usize]) -> Result<()> {
        if let Some((_, asked)) = &mut self.counts {
            leaves.clone_into(asked);
        }
        self.groups.iter_mut().try_for_each(|group| group.keep(leaves))
    }

    fn fill(&mut self, leaf: usize, out: &mut [f64]) {
        out.fill(0.0);
        add_up(&self.groups, &self.alike, leaf, out, &mut self.tables);
        match &mut self.counts {
            None => out.iter_mut().for_each(|o| *o = -(*o / self.members)),
            Some((counts, asked)) => {
                counts.fill(leaf);
                for (o, &j) in out.iter_mut().zip(&*asked) {
                    let both = counts.both(j);
                    *o = if both > 0.0 { -(*o / both) } else { -*o };
                }
            }
        }
    }
}

/// Adds how alike the clusters that hold node i are to those that hold each node asked about.
fn add_up(
    groups: &[Group],
    alike: &Array2<f64>,
    i: usize,
    sums: &mut [f64],
    [first, second]: &mut [Vec<f64>; 2],
) {
    for pair in groups.chunks(2) {
        if let [a, b] = pair
            && a.tabulate(alike, i, first)
            && b.tabulate(alike, i, second)
        {
            let (first, second) = (table(first), table(second));
            for ((sum, &p), &q) in sums.iter_mut().zip(&a.places).zip(&b.places) {
                *sum += first[usize::from(p) % SUMS] + second[usize::from(q) % SUMS];
            }
        } else {
            pair.iter().for_each(|group| group.add_up(alike, i, sums, first));
        }
    }
}

/// A table at the length that every place lies in.
fn table(sums: &mut Vec<f64>) -> &[f64; SUMS] {
    sums.resize(SUMS, 0.0);
    sums.first_chunk().unwrap_or(&[0.0; SUMS])
}

/// Sums that one table holds: as many as stay in the nearest cache.
const SUMS: usize = 2048;

/// Members with labels whose sums are looked up together: one table holds the sum for every
/// combination of their labels, and every node has the place of its own combination. Sums are exact
/// (they lie on a grid), so that their order does not matter.
///
/// A member of more clusters is alone, without a table: its clusters are looked up themselves.
struct Group {
    members: Vec<Labels>,
    /// Of the nodes that are asked about.
    places: Vec<u16>,
    clusters: Vec<u32>,
}

/// The labels of a member, as clusters of the ensemble; `clusters.end` where there is none.
struct Labels {
    clusters: Range<usize>,
    of: Vec<u32>,
}

fn groups(nodes: &Microclusters, incidence: &ClusterIncidence) -> Result<Vec<Group>> {
    let mut groups: Vec<Group> = Vec::new();
    let mut sums = usize::MAX;
    for member in (0..incidence.n_members()).filter(|&u| nodes.soft(u).is_none()) {
        let clusters = incidence.clusters_of_member(member);
        let labels = &nodes.rows()[member];
        let cluster = |i| labels.label(i).map_or(clusters.end, |l| clusters.start + l) as u32;
        let of = room::collected((0..nodes.n_nodes()).map(cluster))?;
        // One more for the nodes without a label.
        let choices = clusters.len() + 1;
        if sums.saturating_mul(choices) > SUMS {
            groups.push(Group { members: Vec::new(), places: Vec::new(), clusters: Vec::new() });
            sums = 1;
        }
        sums *= choices;
        if let Some(group) = groups.last_mut() {
            group.members.push(Labels { clusters, of });
        }
    }
    let all = room::collected(0..nodes.n_nodes())?;
    groups.iter_mut().try_for_each(|group| group.keep(&all))?;
    Ok(groups)
}

impl Group {
    /// The place of a node's combination of labels: the first member's label counts most.
    fn place(&self, i: usize) -> u16 {
        let place = self.members.iter().fold(0, |place, labels| {
            place * (labels.clusters.len() + 1) + labels.of[i] as usize - labels.clusters.start
        });
        place as u16
    }

    /// These nodes are asked about from now on.
    fn keep(&mut self, nodes: &[usize]) -> Result<()> {
        if let [labels] = &self.members[..] {
            self.clusters = room::collected(nodes.iter().map(|&i| labels.of[i]))?;
        } else {
            self.places = room::collected(nodes.iter().map(|&i| self.place(i)))?;
        }
        Ok(())
    }

    /// How alike the clusters that hold node i are to every combination of clusters; false where
    /// there is no table.
    fn tabulate(&self, alike: &Array2<f64>, i: usize, table: &mut Vec<f64>) -> bool {
        if self.members.len() < 2 {
            return false;
        }
        table.clear();
        table.push(0.0);
        for labels in &self.members {
            let (cluster, before) = (labels.of[i] as usize, table.len());
            let choices = labels.clusters.len() + 1;
            let own = if cluster < labels.clusters.end {
                alike.row(cluster).to_slice().map_or(&[][..], |row| &row[labels.clusters.clone()])
            } else {
                &[]
            };
            table.resize(before * choices, 0.0);
            // From the last on: an entry is read before it is overwritten.
            for at in (0..before).rev() {
                let sum = table[at];
                let entries = &mut table[at * choices..(at + 1) * choices];
                entries.fill(sum);
                entries.iter_mut().zip(own).for_each(|(entry, v)| *entry += v);
            }
        }
        true
    }

    /// Adds how alike the clusters that hold node i are to those that hold each other.
    fn add_up(&self, alike: &Array2<f64>, i: usize, sums: &mut [f64], table: &mut Vec<f64>) {
        if self.tabulate(alike, i, table) {
            for (sum, &place) in sums.iter_mut().zip(&self.places) {
                *sum += table[usize::from(place)];
            }
            return;
        }
        for labels in &self.members {
            let cluster = labels.of[i] as usize;
            if cluster < labels.clusters.end {
                let row = alike.row(cluster);
                for (sum, &c) in sums.iter_mut().zip(&self.clusters) {
                    if (c as usize) < labels.clusters.end {
                        *sum += row[c as usize];
                    }
                }
            }
        }
    }
}

/// The same for members with memberships.
fn add_up_soft(
    nodes: &Microclusters,
    incidence: &ClusterIncidence,
    alike: &Array2<f64>,
    i: usize,
    sums: &mut [f64],
) {
    let mut mean = Vec::new();
    for member in 0..incidence.n_members() {
        let Some(soft) = nodes.soft(member) else { continue };
        // The clusters of one member: a short table, looked up by its labels.
        let block = incidence.clusters_of_member(member);
        let table = |c: usize| alike.row(c).to_slice().map_or(&[][..], |t| &t[block.clone()]);
        let (clusters, shares) = soft.row(i);
        mean.clear();
        mean.resize(block.len(), 0.0);
        for (&c, p) in clusters.iter().zip(shares) {
            let row = table(block.start + c as usize);
            mean.iter_mut().zip(row).for_each(|(m, v)| *m += p * v);
        }
        for (j, sum) in sums.iter_mut().enumerate().filter(|_| !clusters.is_empty()) {
            let (others, shares) = soft.row(j);
            let terms = others.iter().zip(shares).map(|(&d, q)| q * mean[d as usize]);
            *sum += terms.sum::<f64>();
        }
    }
}

/// Ensemble clustering by propagating cluster-wise similarities, hierarchical (ECPCS-HC): average
/// linkage on the enhanced co-association.
///
/// Use it where clusters of the members overlap in chains, so that plain co-association misses who
/// belongs together. Deterministic; average linkage of labels computes the similarities of
/// microclusters a row at a time, all else has a dense matrix of them. Beyond some 30,000
/// microclusters, whose matrix would not fit, use [`EcpcsMc`](crate::EcpcsMc).
///
/// ```
/// use consilience::{ConsensusFunction, Ensemble, Partition};
/// use consilience::consensus::EcpcsHc;
///
/// let ensemble = Ensemble::new(vec![
///     Partition::from_labels(&[0, 0, 0, 1, 1, 2, 2])?,
///     Partition::from_labels(&[0, 0, 1, 1, 1, 2, 2])?,
///     Partition::from_labels(&[0, 0, 0, 1, 1, 2, 2])?,
/// ])?;
/// let consensus = EcpcsHc::new(3).consensus(&ensemble)?;
/// assert_eq!(consensus.to_signed(), vec![0, 0, 0, 1, 1, 2, 2]);
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Complexity
/// O(n M) for the microclusters, then as [`EnhancedCoAssociation`] and O(n~^2) for the tree.
///
/// # Errors
/// [`ErrorKind::InvalidParameter`](consilience_core::ErrorKind::InvalidParameter) for k outside
/// `1..=n` or steps outside 1..=1000,
/// [`ErrorKind::TooLarge`](consilience_core::ErrorKind::TooLarge) beyond the memory budget.
///
/// # References
/// Huang, Wang, Peng, Lai, Kwoh 2021, Section III-C.
#[doc(alias = "ECPCS-HC")]
#[derive(Clone, Debug)]
pub struct EcpcsHc(Linked<EnhancedCoAssociation>);

impl EcpcsHc {
    /// ECPCS-HC with average linkage; [`Clusters::Auto`] is the longest lifetime in the dendrogram.
    /// Propagation makes all objects alike to some degree, so lifetimes end at the last merge: one
    /// cluster is never found.
    pub fn new(clusters: impl Into<Clusters>) -> Self {
        let linked = Linked::new(EnhancedCoAssociation::default(), clusters);
        EcpcsHc(linked.lifespan(Lifespan::ToLastMerge))
    }

    consilience_core::setters! { through map_similarity:
        /// As [`EnhancedCoAssociation::steps`]. Default 20; 1 to 1000.
        pub fn steps(mut self, steps: usize);
    }
}

linked_method!(EcpcsHc, "ecpcs-hc");

#[cfg(test)]
mod tests {
    use super::*;
    use consilience_core::{Ensemble, Partition, Seed};
    use consilience_graph::Agglomeration;

    #[test]
    fn trees_of_rows_are_those_of_the_matrix_to_the_bit() {
        // The members of the last are too many for tables.
        let sizes = [(1, 1, 1), (2, 3, 2), (80, 3, 4), (500, 7, 9), (300, 3, 200)];
        for (seed, (objects, members, clusters)) in (0..).zip(sizes) {
            for missing in [false, true] {
                let mut s = Seed(seed).stream();
                let members = (0..members).map(|_| {
                    let label = |i: usize| {
                        let own = (i / 3 + s.below(clusters)) % clusters;
                        (!missing || s.below(4) > 0).then_some(own as u64)
                    };
                    let labels: Vec<_> = (0..objects).map(label).collect();
                    Partition::from_fn(objects, |i| labels[i]).unwrap()
                });
                let ensemble = Ensemble::new(members.collect()).unwrap();
                let nodes = Microclusters::of(&ensemble).unwrap();
                if nodes.n_nodes() == 0 {
                    continue;
                }
                let similarity = EnhancedCoAssociation::default();
                let mut report = Report::default();
                let graph = similarity.between(&nodes, &mut report, &()).unwrap();
                let tree = Agglomeration::new(Linkage::Average, 1).dendrogram(graph, &()).unwrap();
                let found = similarity.linkage_tree(Linkage::Average, &nodes, &mut report, &());
                assert_eq!(found.unwrap(), Some(tree), "{objects} objects, missing: {missing}");
            }
        }
    }
}
