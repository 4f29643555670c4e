use consilience_core::{
    ConsensusFunction, Ensemble, Error, Fit, LabelInt, MemoryBudget, Observer, Partition, Report,
    Result, Seed, Similarity, SimilarityGraph, with_labels,
};
use consilience_num::kmeans::{self, KMeansOptions};
use ndarray::{Array2, Axis};
use rayon::prelude::*;

use crate::propagation::{STEPS, check_steps, propagated_cluster_similarity};
use crate::spectrum::leading_dense;
use crate::transfer_cut::{eigengap, most_by_gap, numbered, unit_rows};
use crate::weighted::{adopt, asked, collapsed, on_grid};
use crate::{
    Agglomeration, ClusterIncidence, Clusters, CountRow, Cut, Dendrogram, Linkage, Microclusters,
    TransferCut,
};

/// The enhanced co-association: how alike the clusters are that hold two objects, averaged over the
/// members that label both, with the [propagated similarity](propagated_cluster_similarity) of
/// clusters. Objects in different clusters of a member are no longer simply apart.
///
/// ```
/// use consilience_core::{Ensemble, Partition, Similarity};
/// use consilience_graph::EnhancedCoAssociation;
///
/// let ensemble = Ensemble::new(vec![
///     Partition::from_labels(&[0, 0, 1, 2])?,
///     Partition::from_labels(&[0, 0, 0, 1])?,
///     Partition::from_labels(&[0, 1, 1, 2])?,
/// ])?;
/// let graph = EnhancedCoAssociation::default().similarity(&ensemble, &())?.output;
/// let s = graph.weights();
/// assert!(s[[0, 2]] > 0.5); // together once only, but the clusters apart are alike
/// assert_eq!(s[[0, 3]], 0.0);
/// # Ok::<(), consilience_core::Error>(())
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
    /// 20 steps.
    fn default() -> Self {
        EnhancedCoAssociation { steps: STEPS, budget: MemoryBudget::default() }
    }
}

impl EnhancedCoAssociation {
    /// The steps of a walk; 20 unless said otherwise.
    pub fn steps(mut self, steps: usize) -> Self {
        self.steps = steps;
        self
    }

    /// How large the matrices may become.
    pub fn memory_budget(mut self, budget: MemoryBudget) -> Self {
        self.budget = budget;
        self
    }

    /// The enhanced co-association of given microclusters.
    ///
    /// # Errors
    /// As [`EnhancedCoAssociation`].
    pub fn between(
        &self,
        microclusters: &Microclusters,
        observer: &dyn Observer,
    ) -> Result<SimilarityGraph> {
        check_steps(self.steps)?;
        let n = microclusters.n_nodes();
        self.budget.check_square("enhanced co-association", n, 8)?;
        let incidence = ClusterIncidence::of(microclusters);
        let mut alike =
            propagated_cluster_similarity(&incidence, self.steps, self.budget, observer)?;
        if let Some(alike) = alike.as_slice_mut() {
            on_grid(alike, incidence.n_members());
        }
        let scratch = CountRow::new(microclusters)?;
        let mut a = vec![0.0; n * n];
        a.par_chunks_mut(n.max(1)).enumerate().try_for_each_init(
            || scratch.clone(),
            |counts, (i, out)| {
                if i % 64 == 0 {
                    observer.check()?;
                }
                for &c in incidence.clusters_of(i) {
                    // The clusters of one member: a short table, looked up by its labels.
                    let member = incidence.member_of(c as usize);
                    let block = incidence.clusters_of_member(member);
                    let table = alike.row(c as usize);
                    let table = table.as_slice().map_or(&[][..], |t| &t[block]);
                    with_labels!(microclusters.rows()[member].labels(), |labels| {
                        for (o, &l) in out.iter_mut().zip(labels) {
                            if !l.is_missing() {
                                *o += table[l.index()];
                            }
                        }
                    });
                }
                counts.fill(microclusters, i);
                for (o, &both) in out.iter_mut().zip(&counts.both) {
                    if both > 0 {
                        *o /= f64::from(both);
                    }
                }
                Ok::<(), Error>(())
            },
        )?;
        observer.progress("similarity", n, n);
        let a = Array2::from_shape_vec((n, n), a).map_err(|e| Error::shape(e.to_string()))?;
        SimilarityGraph::new(microclusters.grouping().clone(), a)
    }
}

impl Similarity for EnhancedCoAssociation {
    fn name(&self) -> &str {
        "ecpcs"
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
        self.between(nodes, observer)
    }
}

/// Ensemble clustering by propagating cluster-wise similarities, hierarchical (ECPCS-HC): average
/// linkage on the enhanced co-association.
///
/// Use it where clusters of the members overlap in chains, so that plain co-association misses who
/// belongs together. Deterministic; the similarity is a dense matrix over microclusters, beyond
/// some 30,000 of them use [`EcpcsMc`].
///
/// ```
/// use consilience_core::{ConsensusFunction, Ensemble, Partition};
/// use consilience_graph::EcpcsHc;
///
/// let ensemble = Ensemble::new(vec![
///     Partition::from_labels(&[0, 0, 0, 1, 1, 2, 2])?,
///     Partition::from_labels(&[0, 0, 1, 1, 1, 2, 2])?,
///     Partition::from_labels(&[0, 0, 0, 1, 1, 2, 2])?,
/// ])?;
/// let consensus = EcpcsHc::new(3).consensus(&ensemble)?;
/// assert_eq!(consensus.to_signed(), vec![0, 0, 0, 1, 1, 2, 2]);
/// # Ok::<(), consilience_core::Error>(())
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
#[derive(Clone, Copy, Debug)]
pub struct EcpcsHc {
    clusters: Option<usize>,
    similarity: EnhancedCoAssociation,
}

impl EcpcsHc {
    /// ECPCS-HC into k clusters.
    pub fn new(clusters: usize) -> Self {
        EcpcsHc { clusters: Some(clusters), similarity: EnhancedCoAssociation::default() }
    }

    /// ECPCS-HC; the longest lifetime in the dendrogram chooses the number of clusters. Propagation
    /// makes all objects alike to some degree, so lifetimes end at the last merge: one cluster is
    /// never found.
    pub fn by_lifetime() -> Self {
        EcpcsHc { clusters: None, similarity: EnhancedCoAssociation::default() }
    }

    /// As [`EnhancedCoAssociation::steps`].
    pub fn steps(mut self, steps: usize) -> Self {
        self.similarity = self.similarity.steps(steps);
        self
    }

    /// How large the matrices may become.
    pub fn memory_budget(mut self, budget: MemoryBudget) -> Self {
        self.similarity = self.similarity.memory_budget(budget);
        self
    }

    /// The whole tree, with the microclusters that are its leaves; heights are 1 - similarity.
    ///
    /// # Errors
    /// As [`EcpcsHc`]; [`ErrorKind::Empty`](consilience_core::ErrorKind::Empty) where no object is
    /// labelled.
    pub fn dendrogram(
        &self,
        ensemble: &Ensemble,
        observer: &dyn Observer,
    ) -> Result<(Microclusters, Dendrogram)> {
        check_steps(self.similarity.steps)?;
        let microclusters = Microclusters::observed(ensemble, observer)?;
        let graph = self.similarity.between(&microclusters, observer)?;
        let tree = tree(graph, observer)?;
        Ok((microclusters, tree))
    }
}

fn tree(graph: SimilarityGraph, observer: &dyn Observer) -> Result<Dendrogram> {
    Agglomeration::new(Linkage::Average, Cut::Clusters(1)).dendrogram(graph, observer)
}

impl ConsensusFunction for EcpcsHc {
    type Output = Partition;

    fn name(&self) -> &str {
        "ecpcs-hc"
    }

    fn fit(&self, ensemble: &Ensemble, observer: &dyn Observer) -> Result<Fit<Partition>> {
        if let Some(k) = self.clusters {
            ensemble.check_clusters(k)?;
        }
        check_steps(self.similarity.steps)?;
        collapsed(ensemble, self.clusters, observer, |microclusters, report| {
            let graph =
                report.stage("similarity", || self.similarity.between(microclusters, observer))?;
            report.stage("partition", || {
                let tree = tree(graph, observer)?;
                tree.cut(self.clusters.unwrap_or_else(|| {
                    let last = tree.merges().last().map_or(1.0, |m| m.height);
                    tree.longest_lifetime(last)
                }))
            })
        })
    }
}

/// Ensemble clustering by propagating cluster-wise similarities, with meta-clusters (ECPCS-MC): the
/// clusters of all members are clustered by a normalised cut of their propagated similarity, and
/// each object goes where most of its clusters went.
///
/// Linear in the objects. Fewer than k clusters come out where a meta-cluster wins no object; the
/// report says so. An object goes to the meta-cluster r of the largest share
///
/// ```text
/// clusters in r that hold the object / clusters in r   (more clusters win a tie, then the first).
/// ```
///
/// ```
/// use consilience_core::{ConsensusFunction, Ensemble, Partition};
/// use consilience_graph::EcpcsMc;
///
/// let ensemble = Ensemble::new(vec![
///     Partition::from_labels(&[0, 0, 0, 1, 1, 2, 2])?,
///     Partition::from_labels(&[0, 0, 1, 1, 1, 2, 2])?,
///     Partition::from_labels(&[0, 0, 0, 1, 1, 2, 2])?,
/// ])?;
/// let consensus = EcpcsMc::new(3).consensus(&ensemble)?;
/// assert_eq!(consensus.to_signed(), vec![0, 0, 0, 1, 1, 2, 2]);
/// # Ok::<(), consilience_core::Error>(())
/// ```
///
/// # Complexity
/// O(n M) for the microclusters, then as [`propagated_cluster_similarity`] with O(C^3) for the cut;
/// no memory of order n^2.
///
/// # Errors
/// [`ErrorKind::InvalidParameter`](consilience_core::ErrorKind::InvalidParameter) for k outside
/// `1..=n`, steps outside 1..=1000 or no restarts,
/// [`ErrorKind::TooLarge`](consilience_core::ErrorKind::TooLarge) where the similarity of clusters
/// exceeds the memory budget.
///
/// # References
/// Huang, Wang, Peng, Lai, Kwoh 2021, Section III-D. The eigenvectors of the cut are rounded by
/// k-means on their rows' directions (Ng, Jordan, Weiss 2002), where the published program rotates
/// them.
#[doc(alias = "ECPCS-MC")]
#[derive(Clone, Copy, Debug)]
pub struct EcpcsMc {
    clusters: Clusters,
    steps: usize,
    restarts: usize,
    seed: Seed,
    budget: MemoryBudget,
}

impl EcpcsMc {
    /// ECPCS-MC into k clusters.
    pub fn new(clusters: usize) -> Self {
        Self::with(Clusters::Fixed(clusters))
    }

    /// ECPCS-MC; the widest gap between eigenvalues chooses the number of meta-clusters, up to the
    /// square root of the number of clusters.
    pub fn by_eigengap() -> Self {
        Self::with(Clusters::Eigengap)
    }

    fn with(clusters: Clusters) -> Self {
        EcpcsMc {
            clusters,
            steps: STEPS,
            restarts: 10,
            seed: Seed(0),
            budget: MemoryBudget::default(),
        }
    }

    /// The steps of a walk; 20 unless said otherwise.
    pub fn steps(mut self, steps: usize) -> Self {
        self.steps = steps;
        self
    }

    /// k-means starts on the clusters, of which the one of least inertia is kept; 10 unless said
    /// otherwise.
    pub fn restarts(mut self, restarts: usize) -> Self {
        self.restarts = restarts;
        self
    }

    /// Seed of the k-means starts.
    pub fn seed(mut self, seed: Seed) -> Self {
        self.seed = seed;
        self
    }

    /// How large the similarity of clusters may become.
    pub fn memory_budget(mut self, budget: MemoryBudget) -> Self {
        self.budget = budget;
        self
    }

    /// Meta-cluster of each cluster.
    fn meta_clusters(
        &self,
        mut alike: Array2<f64>,
        observer: &dyn Observer,
    ) -> Result<Fit<Vec<usize>>> {
        let c = alike.nrows();
        let scale = alike.sum_axis(Axis(1)).mapv(|d| d.sqrt().recip());
        alike *= &scale;
        alike *= &scale.view().insert_axis(Axis(1));
        let wanted = match self.clusters {
            Clusters::Fixed(k) => k,
            Clusters::Eigengap => most_by_gap(c) + 1,
        };
        let (values, vectors) = leading_dense(&alike, wanted.min(c))?;
        observer.check()?;
        let k = match self.clusters {
            Clusters::Fixed(k) => k.min(c),
            Clusters::Eigengap => eigengap(&values, most_by_gap(c)),
        };
        let mut rows = vectors.slice(ndarray::s![.., ..k]).to_owned();
        unit_rows(&mut rows);
        let options = KMeansOptions {
            restarts: self.restarts,
            seed: self.seed.derive("meta-clusters", 0).0,
            ..KMeansOptions::new(k)
        };
        let fit = kmeans::fit(rows.view(), None, &options, &mut |_| !observer.cancelled());
        observer.check()?;
        numbered(fit)
    }
}

/// The meta-cluster that holds each microcluster with the largest share of its clusters.
fn vote(incidence: &ClusterIncidence, meta: &[usize]) -> Vec<usize> {
    let count = meta.iter().max().map_or(0, |m| m + 1);
    let mut clusters = vec![0u64; count];
    meta.iter().for_each(|&r| clusters[r] += 1);
    let mut votes = vec![0u64; count];
    (0..incidence.n_rows())
        .map(|i| {
            let own = incidence.clusters_of(i);
            own.iter().for_each(|&c| votes[meta[c as usize]] += 1);
            let mut best = meta[own[0] as usize];
            for &c in own {
                let r = meta[c as usize];
                // votes / clusters compared exactly, then votes, then the number.
                let share = (votes[r] * clusters[best]).cmp(&(votes[best] * clusters[r]));
                if share.then(votes[r].cmp(&votes[best])).then(best.cmp(&r)).is_gt() {
                    best = r;
                }
            }
            own.iter().for_each(|&c| votes[meta[c as usize]] = 0);
            best
        })
        .collect()
}

impl ConsensusFunction for EcpcsMc {
    type Output = Partition;

    fn name(&self) -> &str {
        "ecpcs-mc"
    }

    fn fit(&self, ensemble: &Ensemble, observer: &dyn Observer) -> Result<Fit<Partition>> {
        let k = asked(ensemble, self.clusters)?;
        check_steps(self.steps)?;
        TransferCut::new(1).restarts(self.restarts).check(1)?;
        collapsed(ensemble, k, observer, |microclusters, report| {
            let incidence = ClusterIncidence::of(microclusters);
            let alike = report.stage("similarity", || {
                propagated_cluster_similarity(&incidence, self.steps, self.budget, observer)
            })?;
            report.stage("partition", || self.meta_clusters(alike, observer)).map(|fit| {
                let meta = adopt(report, fit);
                vote(&incidence, &meta)
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn votes_by_hand() {
        let e = Ensemble::new(vec![
            Partition::from_labels(&[0, 0, 1, 1, 2]).unwrap(),
            Partition::from_labels(&[0, 0, 0, 1, 1]).unwrap(),
        ])
        .unwrap();
        let m = Microclusters::of(&e).unwrap();
        let incidence = ClusterIncidence::of(&m);
        // Clusters {01} {23} {4}; {012} {34} in meta-clusters a = {01, 012}, b = {23, 4, 34}.
        // Rows 01, 2, 3, 4 hold 2/2 0/3; 1/2 1/3; 0/2 2/3; 0/2 2/3.
        assert_eq!(vote(&incidence, &[0, 1, 1, 0, 1]), vec![0, 0, 1, 1]);
    }

    #[test]
    fn parameters_are_checked() {
        let e = Ensemble::new(vec![Partition::from_labels(&[0, 1]).unwrap()]).unwrap();
        for steps in [0, 1001] {
            assert!(EcpcsHc::new(1).steps(steps).consensus(&e).is_err());
            assert!(EcpcsMc::new(1).steps(steps).consensus(&e).is_err());
        }
        assert!(EcpcsMc::new(1).restarts(0).consensus(&e).is_err());
        assert!(EcpcsHc::new(1).memory_budget(MemoryBudget::bytes(9)).consensus(&e).is_err());
        assert!(EcpcsMc::new(1).memory_budget(MemoryBudget::bytes(9)).consensus(&e).is_err());
    }
}
