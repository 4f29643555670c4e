use consilience_core::{
    Accepts, Clusters, Ensemble, Fit, Grouping, Microclusters, NodeConsensus, Observer, Partition,
    Report, Result, SimilarityGraph,
};
use consilience_graph::{CliqueCut, ClusterIncidence, ClusterOverlaps};

use super::clique_method::clique_settings;
use super::on_grid;

/// Meta-clustering (MCLA): clusters of all members are clustered themselves, and each object joins
/// the meta-cluster that it is most associated with.
///
/// The third of the classics by Strehl and Ghosh, on average the best of them on the ensembles that
/// we measured, and cheap: its graph has one node per cluster of the ensemble, whatever the number
/// of objects. Use it where members agree on what the clusters are; where every object is in
/// question, as with very few members, [`Cspa`](crate::Cspa) and [`Hgpa`](crate::Hgpa) look at the
/// objects themselves.
///
/// 1. Clusters p and q are linked by their Jaccard index `|p & q| / |p | q|`.
/// 2. That graph is cut into k meta-clusters. Where a spectral cut finds more components, those of
///    most objects are meta-clusters, and all others together are the last.
/// 3. Object i is associated with meta-cluster m by the share of the clusters of m that hold it,
///    and joins the one of largest association. Ties go to the meta-cluster with more objects in
///    its clusters, then to the one whose clusters hold the earlier microcluster in the order of
///    [`Microclusters::canonical`], by which components of equal size go too.
///
/// Nothing depends on the order of the members, unlike in implementations that break ties by
/// cluster number, nor on that of the objects, but that where the ensemble is symmetric another of
/// its symmetric answers may come out. A meta-cluster that wins no object is lost; the report says
/// so.
///
/// ```
/// use consilience::{ConsensusFunction, Ensemble, Partition};
/// use consilience::consensus::Mcla;
///
/// let ensemble = Ensemble::new(vec![
///     Partition::from_labels(&[0, 0, 0, 1, 1, 2, 2])?,
///     Partition::from_labels(&[0, 0, 1, 1, 1, 2, 2])?,
///     Partition::from_labels(&[0, 0, 0, 1, 1, 2, -1])?,
/// ])?;
/// assert_eq!(Mcla::new(3).consensus(&ensemble)?.to_signed(), vec![0, 0, 0, 1, 1, 2, 2]);
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Complexity
/// With C clusters in the ensemble O(n M) for the microclusters, O(n~ M^2) for the overlaps, O(C^3)
/// for the cut up to C = 400 and O(C^2 k) beyond; 32 C^2 bytes.
///
/// # Errors
/// [`ErrorKind::InvalidParameter`](consilience_core::ErrorKind::InvalidParameter) for k outside
/// `1..=n` or restarts outside `1..=10000`,
/// [`ErrorKind::TooLarge`](consilience_core::ErrorKind::TooLarge) beyond the memory budget.
///
/// # References
/// Strehl, Ghosh 2002, Section 3.4. Theirs cuts with METIS, in the published form into
/// meta-clusters of nearly equal size (here `CutMethod::Metis`, feature `metis`). With missing
/// labels the Jaccard index counts the objects that both members label.
#[doc(alias = "meta-clustering")]
#[doc(alias = "MCLA")]
#[doc(alias = "meta-clustering algorithm")]
#[derive(Clone, Copy, Debug)]
pub struct Mcla(CliqueCut);

clique_settings!(Mcla);

impl Mcla {
    /// The meta-cluster of each cluster of the ensemble.
    fn meta(
        &self,
        incidence: &ClusterIncidence,
        observer: &dyn Observer,
    ) -> Result<Fit<Vec<usize>>> {
        let clusters = incidence.n_clusters();
        self.0.budget().check_square("links between clusters", clusters, 32)?;
        let links = ClusterOverlaps::of(incidence, observer)?.jaccard()?.to_dense()?;
        observer.check()?;
        let each: Vec<u32> = (0..clusters as u32).collect();
        let graph = SimilarityGraph::new_observed(Grouping::new(each, clusters)?, links, observer)?;
        let fit = self.0.fit_of_clusters(graph, incidence, observer)?;
        Ok(Fit::new(fit.output.iter().flatten().collect(), fit.report))
    }
}

impl NodeConsensus for Mcla {
    type Output = Partition;

    fn name(&self) -> &str {
        "mcla"
    }

    fn clusters(&self) -> Clusters {
        self.0.clusters()
    }

    fn accepts(&self) -> Accepts {
        Accepts::MEMBERSHIPS
    }

    fn check(&self, _ensemble: &Ensemble) -> Result<()> {
        self.0.check()
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
        let Fit { output: meta, report: mut found } =
            report.stage("meta-clusters", || self.meta(&incidence, observer))?;
        // In more components than meta-clusters, the largest hold most objects, not most clusters.
        let count = meta.iter().max().map_or(0, |m| m + 1);
        if let Some(joined) = self.0.joined(&incidence, count, observer)? {
            report.adopt(joined.report);
            return Ok(joined.output);
        }
        // Clusters are counted once, where the objects have theirs.
        found.notes.clear();
        found.clusters_missing = None;
        report.adopt(found);
        Ok(report.stage("partition", || associate(&incidence, &meta)))
    }
}

/// The meta-cluster that each node is most associated with.
fn associate(incidence: &ClusterIncidence, meta: &[usize]) -> Vec<usize> {
    let count = meta.iter().max().map_or(0, |m| m + 1);
    let (mut clusters, mut objects) = (vec![0.0; count], vec![0.0; count]);
    let mut earliest = vec![usize::MAX; count];
    for (e, &m) in meta.iter().enumerate() {
        clusters[m] += 1.0;
        objects[m] += incidence.objects()[e];
    }
    for i in 0..incidence.n_rows() {
        for &e in incidence.clusters_of(i) {
            let first = &mut earliest[meta[e as usize]];
            *first = (*first).min(i);
        }
    }
    // Shares of one object in thousands of clusters at most: sums of memberships on a grid, which
    // are exact in any order, as counts of labels are.
    let mut held = vec![0.0; count];
    (0..incidence.n_rows())
        .map(|i| {
            held.fill(0.0);
            for (e, p) in incidence.shares_of(i) {
                held[meta[e]] += on_grid(p);
            }
            // Shares are compared as fractions: no rounding decides.
            let better = |a: usize, b: usize| {
                (held[a] * clusters[b])
                    .total_cmp(&(held[b] * clusters[a]))
                    .then(objects[a].total_cmp(&objects[b]))
                    .then(earliest[b].cmp(&earliest[a]))
                    .then(b.cmp(&a))
            };
            (0..count).max_by(|&a, &b| better(a, b)).unwrap_or(0)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn association_and_its_ties() {
        // Two members over four microclusters; clusters 0, 1 of the first and 2, 3 of the second.
        let ensemble = Ensemble::new(vec![
            Partition::from_labels(&[0, 0, 1, 1, 1]).unwrap(),
            Partition::from_labels(&[0, 1, 0, 1, 1]).unwrap(),
        ])
        .unwrap();
        let h = ClusterIncidence::of(&Microclusters::of(&ensemble).unwrap()).unwrap();
        assert_eq!(h.objects(), [2.0, 3.0, 2.0, 3.0]);
        // Meta-clusters {0, 2} and {1, 3}: nodes 1 and 2 are half in each, and the larger one takes
        // them.
        assert_eq!(associate(&h, &[0, 1, 0, 1]), [0, 1, 1, 1]);
        // {0} and {1, 2, 3}: node 0 is wholly in the first and a third in the second.
        assert_eq!(associate(&h, &[0, 1, 1, 1]), [0, 0, 1, 1]);
    }
}
