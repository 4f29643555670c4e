//! Cuts of the graph in which every cluster of the ensemble is a clique, without making that graph.

use consilience_core::{
    Error, Fit, GraphPartitioner, Grouping, MemoryBudget, Observer, Partition, Report, Result,
    SimilarityGraph, Status,
};
use ndarray::Array2;
use rayon::prelude::*;

use crate::spectrum::leading;
use crate::{ClusterIncidence, Clusters, Microclusters, SpectralCut};

/// What divides the graph of [`Cspa`](crate::Cspa), [`Hgpa`](crate::Hgpa) and
/// [`Mcla`](crate::Mcla).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CutMethod {
    /// The normalised cut by eigenvectors, [`SpectralCut`]: clusters may differ in size.
    #[default]
    Spectral,
    /// METIS, as published: clusters of nearly equal size.
    #[cfg(feature = "metis")]
    Metis,
}

/// What the three methods of Strehl and Ghosh have in common.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Division {
    pub(crate) spectral: SpectralCut,
    pub(crate) method: CutMethod,
    pub(crate) budget: MemoryBudget,
}

impl Division {
    pub(crate) fn new(clusters: Clusters) -> Self {
        Division {
            spectral: SpectralCut::with(clusters),
            method: CutMethod::default(),
            budget: MemoryBudget::default(),
        }
    }

    pub(crate) fn check(&self) -> Result<()> {
        self.spectral.check()?;
        self.fixed().map(|_| ())
    }

    /// The number of clusters, where the method must be told.
    fn fixed(&self) -> Result<Option<usize>> {
        match (self.method, self.spectral.clusters) {
            (_, Clusters::Fixed(k)) => Ok(Some(k)),
            (CutMethod::Spectral, Clusters::Eigengap) => Ok(None),
            #[cfg(feature = "metis")]
            (CutMethod::Metis, Clusters::Eigengap) => Err(Error::invalid(
                "METIS needs the number of clusters; only a spectral cut has eigenvalues",
            )),
        }
    }

    /// Divides a stored graph.
    pub(crate) fn of_graph(
        &self,
        graph: SimilarityGraph,
        observer: &dyn Observer,
    ) -> Result<Fit<Partition>> {
        match self.method {
            CutMethod::Spectral => self.spectral.fit(graph, observer),
            #[cfg(feature = "metis")]
            CutMethod::Metis => {
                let clusters = self.fixed()?.unwrap_or(1);
                crate::MetisCut::new(clusters)
                    .seed(self.spectral.own_seed())
                    .memory_budget(self.budget)
                    .partition(graph, observer)
            }
        }
    }

    /// Divides the graph of weights
    /// `w_ij = sum of weight(e) over the clusters e that hold i and j`, where a cluster of so many
    /// objects has that weight.
    pub(crate) fn of_cliques(
        &self,
        microclusters: &Microclusters,
        weight: fn(f64) -> f64,
        observer: &dyn Observer,
    ) -> Result<Fit<Partition>> {
        let incidence = ClusterIncidence::of(microclusters);
        let weights: Vec<f64> =
            incidence.objects().iter().map(|&objects| weight(objects)).collect();
        let grouping = microclusters.grouping();
        if self.method == CutMethod::Spectral || grouping.n_nodes() == 0 {
            return spectral(grouping, &incidence, &weights, &self.spectral, observer);
        }
        let dense = expand(&incidence, &weights, self.budget)?;
        self.of_graph(SimilarityGraph::new(grouping.clone(), dense)?, observer)
    }
}

/// The graph of cliques, stored.
fn expand(
    incidence: &ClusterIncidence,
    weights: &[f64],
    budget: MemoryBudget,
) -> Result<Array2<f64>> {
    let n = incidence.n_rows();
    budget.check_square("similarity graph", n, 8)?;
    let mut w = vec![0.0; n * n];
    w.par_chunks_mut(n.max(1)).enumerate().for_each(|(i, row)| {
        for &e in incidence.clusters_of(i) {
            for &j in incidence.rows_of(e as usize) {
                row[j as usize] += weights[e as usize];
            }
        }
    });
    Array2::from_shape_vec((n, n), w).map_err(|e| Error::shape(e.to_string()))
}

/// [`SpectralCut`] of the graph of cliques from the incidence alone.
///
/// With B the incidence and Omega the weights, the normalised matrix of the graph is X X' for
/// X = S^1/2 D^-1/2 B Omega^1/2, so that its eigenvectors follow from those of the small X'X.
fn spectral(
    grouping: &Grouping,
    incidence: &ClusterIncidence,
    weights: &[f64],
    cut: &SpectralCut,
    observer: &dyn Observer,
) -> Result<Fit<Partition>> {
    cut.check()?;
    observer.check()?;
    let mut report = Report::default();
    let n = grouping.n_nodes();
    let clusters = if n == 0 {
        Vec::new()
    } else {
        let shares: Vec<f64> = (0..n)
            .map(|i| {
                let objects = |&e: &u32| weights[e as usize] * incidence.objects()[e as usize];
                incidence.sizes()[i] / incidence.clusters_of(i).iter().map(objects).sum::<f64>()
            })
            .collect();
        let scale: Vec<f64> = weights.iter().map(|w| w.sqrt()).collect();
        let wanted = cut.wanted(n).min(incidence.n_clusters());
        let (values, mut vectors, converged) =
            leading(incidence, &shares, &scale, wanted, observer)?;
        if !converged {
            report.status = Status::MaxIterations;
        }
        observer.check()?;
        for (mut row, &scale) in vectors.rows_mut().into_iter().zip(&scale) {
            row *= scale;
        }
        // Beyond the rank of X there are no directions left.
        let rank = values.iter().take_while(|&&v| v > 1e-12).count();
        let mut rows = incidence.times(vectors.slice(ndarray::s![.., ..rank]))?;
        for mut row in rows.rows_mut() {
            for (x, v) in row.iter_mut().zip(&values) {
                *x /= v.sqrt();
            }
        }
        cut.round(&values, rows, incidence.sizes(), &mut report, observer)?
    };
    let partition = grouping.expand(&clusters)?;
    if let Clusters::Fixed(k) = cut.clusters {
        report.expect_clusters(
            k,
            partition.n_clusters(),
            "the ensemble distinguishes no more objects",
        );
    }
    Ok(Fit::new(partition, report))
}

#[cfg(test)]
mod tests {
    use super::*;
    use consilience_conformance::{planted, small_worlds};
    use consilience_core::{Ensemble, Seed, scores};

    /// The weights of CSPA and of HGPA.
    fn weights(h: &ClusterIncidence) -> [Vec<f64>; 2] {
        [vec![1.0; h.n_clusters()], h.objects().iter().map(|&o| 1.0 / (o - 1.0).max(1.0)).collect()]
    }

    /// Object by object: counts of common clusters with their weights, straight from the
    /// definition.
    fn naive(ensemble: &Ensemble, i: usize, j: usize, inverse: bool) -> f64 {
        let mut sum = 0.0;
        for member in ensemble.members() {
            if let Some(l) = member.label(i)
                && member.label(j) == Some(l)
            {
                let size = member.sizes()[l] as f64;
                sum += if inverse { 1.0 / (size - 1.0).max(1.0) } else { 1.0 };
            }
        }
        sum
    }

    #[test]
    fn cliques_are_what_they_say() {
        for ensemble in small_worlds(4, 2) {
            let m = Microclusters::of(&ensemble).unwrap();
            let h = ClusterIncidence::of(&m);
            for (inverse, weights) in weights(&h).iter().enumerate() {
                let w = expand(&h, weights, MemoryBudget::default()).unwrap();
                let node = m.grouping().of_object();
                for i in 0..4 {
                    for j in 0..4 {
                        if let (Some(a), Some(b)) =
                            (h.sizes().get(node[i] as usize), h.sizes().get(node[j] as usize))
                        {
                            assert!(*a > 0.0 && *b > 0.0);
                            let expected = naive(&ensemble, i, j, inverse == 1);
                            assert!(
                                (w[[node[i] as usize, node[j] as usize]] - expected).abs() < 1e-14
                            );
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn the_small_side_cuts_as_the_whole_graph_does() {
        for (seed, missing) in [(1, 0.0), (2, 0.0), (3, 0.2), (4, 0.4)] {
            let world = planted(Seed(seed), &[40, 25, 15, 10], 8, 0.15, missing).unwrap();
            let m = Microclusters::of(&world.ensemble).unwrap();
            let h = ClusterIncidence::of(&m);
            for weights in weights(&h) {
                for k in [2, 4] {
                    let cut = SpectralCut::new(k).restarts(30);
                    let fast = spectral(m.grouping(), &h, &weights, &cut, &()).unwrap();
                    let dense = expand(&h, &weights, MemoryBudget::default()).unwrap();
                    let whole = cut
                        .partition(SimilarityGraph::new(m.grouping().clone(), dense).unwrap(), &())
                        .unwrap();
                    let (a, b) = (fast.report.objective.unwrap(), whole.report.objective.unwrap());
                    assert!((a - b).abs() < 1e-8 * a.max(1.0), "{a} {b}");
                    if k == 4 {
                        assert_eq!(fast.output, whole.output);
                    }
                }
            }
        }
    }

    #[test]
    fn a_few_pairs_of_many_clusters_cut_as_well() {
        let n = 4000;
        let member = |u: u64| {
            let mut random = Seed(u).stream();
            let labels: Vec<usize> = (0..n).map(|i| (i % 5) * 1000 + random.below(180)).collect();
            Partition::from_labels(&labels).unwrap()
        };
        let ensemble = Ensemble::new((0..3).map(member).collect()).unwrap();
        let m = Microclusters::of(&ensemble).unwrap();
        let h = ClusterIncidence::of(&m);
        assert!(h.n_clusters() > 2000, "{}", h.n_clusters());
        let weights = vec![1.0; h.n_clusters()];
        let fit = spectral(m.grouping(), &h, &weights, &SpectralCut::new(5), &()).unwrap();
        let expected = Partition::from_fn(n, |i| Some(i as u64 % 5)).unwrap();
        assert!(
            fit.output == expected,
            "adjusted Rand {:?}",
            scores::adjusted_rand(&fit.output, &expected)
        );
    }
}
