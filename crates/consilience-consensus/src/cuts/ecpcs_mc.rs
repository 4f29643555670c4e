use consilience_core::{
    Accepts, Clusters, Ensemble, Fit, MemoryBudget, Microclusters, NodeConsensus, Observer,
    Partition, Report, Result, Seed, Status, check_restarts,
};
use consilience_graph::{
    ClusterIncidence, Components, SpectralCount, cluster_directions, eigen_columns,
    leading_eigenpairs_within,
};
use consilience_num::kmeans::KMeansOptions;
use ndarray::{Array2, Axis};

use super::on_grid;
use crate::co_association::{STEPS, check_steps, propagated_cluster_similarity};

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
/// A cluster of memberships holds an object as far as its membership says.
///
/// ```
/// use consilience::{ConsensusFunction, Ensemble, Partition};
/// use consilience::consensus::EcpcsMc;
///
/// let ensemble = Ensemble::new(vec![
///     Partition::from_labels(&[0, 0, 0, 1, 1, 2, 2])?,
///     Partition::from_labels(&[0, 0, 1, 1, 1, 2, 2])?,
///     Partition::from_labels(&[0, 0, 0, 1, 1, 2, 2])?,
/// ])?;
/// let consensus = EcpcsMc::new(3).consensus(&ensemble)?;
/// assert_eq!(consensus.to_signed(), vec![0, 0, 0, 1, 1, 2, 2]);
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Complexity
/// O(n M) for the microclusters, then as
/// [`propagated_cluster_similarity`](crate::propagated_cluster_similarity) with O(C^3) for the cut;
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
    /// ECPCS-MC; [`Clusters::Auto`] is the widest gap between eigenvalues, which chooses the number
    /// of meta-clusters, up to the square root of the number of clusters, or further where members
    /// nearly agree ([`most_clusters`](consilience_graph::most_clusters)).
    pub fn new(clusters: impl Into<Clusters>) -> Self {
        EcpcsMc {
            clusters: clusters.into(),
            steps: STEPS,
            restarts: 10,
            seed: Seed(0),
            budget: MemoryBudget::default(),
        }
    }

    consilience_core::setters! {
        /// The steps of a walk. Default 20; 1 to 1000.
        pub fn steps(mut self, steps: usize) { self.steps = steps }

        /// k-means starts on the clusters, of which the one of least inertia is kept. Default 10; 1
        /// to 10,000.
        pub fn restarts(mut self, restarts: usize) { self.restarts = restarts }

        /// Seed of the k-means starts. Default `Seed(0)`.
        pub fn seed(mut self, seed: Seed) { self.seed = seed }

        /// How large the similarity of clusters may become. Default 8 GiB.
        pub fn memory_budget(mut self, budget: MemoryBudget) { self.budget = budget }
    }

    /// Meta-cluster of each cluster.
    fn meta_clusters(
        &self,
        (parts, count): (&Components, SpectralCount),
        mut alike: Array2<f64>,
        observer: &dyn Observer,
    ) -> Result<Fit<Vec<usize>>> {
        let c = alike.nrows();
        let scale = alike.sum_axis(Axis(1)).mapv(|d| d.sqrt().recip());
        alike *= &scale;
        alike *= &scale.view().insert_axis(Axis(1));
        let found = leading_eigenpairs_within(&alike, count.eigenpairs(), self.budget, observer)?;
        observer.check()?;
        let k = count.clusters(&found.values);
        if let Some(joined) = parts.joined(k) {
            return Ok(joined);
        }
        let vectors = found.vectors.slice(ndarray::s![.., ..k]);
        let ones = vec![1.0; c];
        let mut fit = parts.cut(k, vectors, vectors.to_owned(), &ones, |rows, _, k| {
            let options = KMeansOptions::new(k)
                .restarts(self.restarts)
                .seed(self.seed.derive("meta-clusters", 0));
            cluster_directions(rows, None, &options, observer)
        })?;
        if !found.converged {
            fit.report.status = Status::MaxIterations;
        }
        Ok(fit)
    }
}

/// The meta-cluster that holds each microcluster with the largest share of its clusters.
fn vote(incidence: &ClusterIncidence, meta: &[usize]) -> Vec<usize> {
    let count = meta.iter().max().map_or(0, |m| m + 1);
    let mut clusters = vec![0.0; count];
    meta.iter().for_each(|&r| clusters[r] += 1.0);
    let mut votes = vec![0.0f64; count];
    (0..incidence.n_rows())
        .map(|i| {
            let own = || incidence.shares_of(i);
            own().for_each(|(c, p)| votes[meta[c]] += on_grid(p));
            let first = incidence.clusters_of(i)[0] as usize;
            let best = own().fold(meta[first], |best, (c, _)| {
                let r = meta[c];
                // votes / clusters compared exactly, then votes, then the number.
                let share = (votes[r] * clusters[best]).total_cmp(&(votes[best] * clusters[r]));
                let order = share.then(votes[r].total_cmp(&votes[best])).then(best.cmp(&r));
                if order.is_gt() { r } else { best }
            });
            own().for_each(|(c, _)| votes[meta[c]] = 0.0);
            best
        })
        .collect()
}

impl NodeConsensus for EcpcsMc {
    type Output = Partition;

    fn name(&self) -> &str {
        "ecpcs-mc"
    }

    fn clusters(&self) -> Clusters {
        self.clusters
    }

    fn accepts(&self) -> Accepts {
        Accepts::MEMBERSHIPS
    }

    fn check(&self, _ensemble: &Ensemble) -> Result<()> {
        SpectralCount::check(self.clusters)?;
        check_steps(self.steps)?;
        check_restarts(self.restarts)
    }

    fn nodes(&self, ensemble: &Ensemble, observer: &dyn Observer) -> Result<Microclusters> {
        Microclusters::observed(ensemble, observer)?.canonical_observed(observer)
    }

    fn solve(
        &self,
        nodes: &Microclusters,
        report: &mut Report,
        observer: &dyn Observer,
    ) -> Result<Vec<usize>> {
        let incidence = ClusterIncidence::of_observed(nodes, observer)?;
        let c = incidence.n_clusters();
        let count = SpectralCount::new(self.clusters, c)?.of_members(&incidence);
        let columns = eigen_columns(c, count.eigenpairs());
        self.budget.check_table("eigenvectors of clusters", c, columns, 8)?;
        let alike = report.stage("similarity", || {
            propagated_cluster_similarity(&incidence, self.steps, self.budget, observer)
        })?;
        let parts = Components::of_clusters(&incidence, observer)?;
        let cut = || self.meta_clusters((&parts, count), alike, observer);
        let meta = report.stage("partition", cut)?;
        report.adopt(meta.report);
        Ok(vote(&incidence, &meta.output))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::EcpcsHc;
    use consilience_core::ConsensusFunction;

    #[test]
    fn votes_by_hand() {
        let e = Ensemble::new(vec![
            Partition::from_labels(&[0, 0, 1, 1, 2]).unwrap(),
            Partition::from_labels(&[0, 0, 0, 1, 1]).unwrap(),
        ])
        .unwrap();
        let m = Microclusters::of(&e).unwrap();
        let incidence = ClusterIncidence::of(&m).unwrap();
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
