use consilience_core::{
    ConsensusFunction, Ensemble, Fit, MemoryBudget, Observer, Partition, Report, Result, Seed,
};

use crate::clique_cut::Division;
use crate::{Clusters, CutMethod, Microclusters};

/// Cluster-based similarity partitioning (CSPA): objects are linked by the number of members that
/// put them together, and that graph is cut.
///
/// The first of the three classics by Strehl and Ghosh. Use it for a global view of the same
/// evidence that [`EvidenceAccumulation`](crate::EvidenceAccumulation) merges pair by pair: every
/// link counts, so chains do no harm, but clusters that are small beside the others may be joined.
/// [`Mcla`](crate::Mcla) and [`Hgpa`] were better on the ensembles that we measured.
///
/// ```text
/// w_ij = c_ij   (members that put i and j in one cluster)
/// ```
///
/// The published method divides by M, which changes no cut, and gives the graph to METIS, which
/// makes clusters of nearly equal size. The default here is the normalised cut by eigenvectors
/// ([`CutMethod::Spectral`]), which leaves sizes free and was better on the ensembles that we
/// measured; with the feature `metis` the published cut is there as `CutMethod::Metis`.
///
/// ```
/// use consilience_core::{ConsensusFunction, Ensemble, Partition};
/// use consilience_graph::Cspa;
///
/// let ensemble = Ensemble::new(vec![
///     Partition::from_labels(&[0, 0, 0, 1, 1, 2, 2])?,
///     Partition::from_labels(&[0, 0, 1, 1, 1, 2, 2])?,
///     Partition::from_labels(&[0, 0, 0, 1, 1, 2, -1])?,
/// ])?;
/// assert_eq!(Cspa::new(3).consensus(&ensemble)?.to_signed(), vec![0, 0, 0, 1, 1, 2, 2]);
/// # Ok::<(), consilience_core::Error>(())
/// ```
///
/// # Complexity
/// O(n M) for the microclusters; with C clusters in the ensemble the spectral cut takes O(n~ M^2)
/// for the overlaps of clusters that share objects, then O(C^3) up to 400 clusters and products of
/// O(overlaps k) beyond: the n~ x n~ graph is never made. METIS needs it: 8 n~^2 bytes and O(n~^2
/// M) time.
///
/// # Errors
/// [`ErrorKind::InvalidParameter`](consilience_core::ErrorKind::InvalidParameter) for k outside
/// `1..=n` or restarts outside `1..=10000`,
/// [`ErrorKind::TooLarge`](consilience_core::ErrorKind::TooLarge) beyond the memory budget.
///
/// # References
/// Strehl, Ghosh 2002, "Cluster Ensembles - A Knowledge Reuse Framework for Combining Multiple
/// Partitions", Section 3.2. An unlabelled object has no links under that member, as there.
/// Microclusters count with their sizes, which is exact under the spectral cut; METIS cannot divide
/// one, and so may miss its balance.
#[doc(alias = "CSPA")]
#[derive(Clone, Copy, Debug)]
pub struct Cspa(Division);

/// Hypergraph partitioning (HGPA): every cluster of every member is a hyperedge, and few of them
/// shall be cut.
///
/// The second of the classics by Strehl and Ghosh. Unlike [`Cspa`] a cluster counts once however
/// large it is, so that small, specific clusters speak louder than members with few large ones.
///
/// Each hyperedge e becomes a clique whose links share its weight:
///
/// ```text
/// w_ij = sum of 1 / (|e| - 1) over the clusters e that hold i and j
/// ```
///
/// so that cutting one object off an otherwise whole cluster costs 1, whatever its size. The
/// published method gives the hypergraph to HMETIS, whose licence is not free and whose clusters
/// are of nearly equal size. The default here is the normalised cut of the cliques, sizes free;
/// `CutMethod::Metis` (feature `metis`) cuts them into equal parts.
///
/// ```
/// use consilience_core::{ConsensusFunction, Ensemble, Partition};
/// use consilience_graph::Hgpa;
///
/// let ensemble = Ensemble::new(vec![
///     Partition::from_labels(&[0, 0, 0, 1, 1, 2, 2])?,
///     Partition::from_labels(&[0, 0, 1, 1, 1, 2, 2])?,
///     Partition::from_labels(&[0, 0, 0, 1, 1, 2, -1])?,
/// ])?;
/// assert_eq!(Hgpa::new(3).consensus(&ensemble)?.to_signed(), vec![0, 0, 0, 1, 1, 2, 2]);
/// # Ok::<(), consilience_core::Error>(())
/// ```
///
/// # Complexity
/// As [`Cspa`].
///
/// # Errors
/// As [`Cspa`].
///
/// # References
/// Strehl, Ghosh 2002, Section 3.3; the cliques: Agarwal, Branson, Belongie 2006, "Higher Order
/// Learning with Graphs". A cluster of one object links nothing and keeps weight 1 with itself.
#[doc(alias = "HGPA")]
#[derive(Clone, Copy, Debug)]
pub struct Hgpa(Division);

/// The setters and the run that [`Cspa`] and [`Hgpa`] share; `$weight` is that of a cluster of so
/// many objects.
macro_rules! clique_method {
    ($name:ident, $short:expr, $weight:expr) => {
        impl $name {
            #[doc = concat!("`", stringify!($name), "` into k clusters.")]
            pub fn new(clusters: usize) -> Self {
                $name(Division::new(Clusters::Fixed(clusters)))
            }

            #[doc = concat!("`", stringify!($name), "`; the widest gap between eigenvalues chooses k.")]
            pub fn by_eigengap() -> Self {
                $name(Division::new(Clusters::Eigengap))
            }

            /// What divides the graph; the spectral cut unless said otherwise.
            pub fn cut_method(mut self, method: CutMethod) -> Self {
                self.0.method = method;
                self
            }

            /// k-means starts of the spectral cut; 10 unless said otherwise.
            pub fn restarts(mut self, restarts: usize) -> Self {
                self.0.spectral = self.0.spectral.restarts(restarts);
                self
            }

            /// Seed of the cut.
            pub fn seed(mut self, seed: Seed) -> Self {
                self.0.spectral = self.0.spectral.seed(seed);
                self
            }

            /// How much memory the graph for METIS may take; the spectral cut makes none.
            pub fn memory_budget(mut self, budget: MemoryBudget) -> Self {
                self.0.budget = budget;
                self
            }
        }

        impl ConsensusFunction for $name {
            type Output = Partition;

            fn name(&self) -> &str {
                $short
            }

            fn fit(&self, ensemble: &Ensemble, observer: &dyn Observer) -> Result<Fit<Partition>> {
                fit(&self.0, $weight, ensemble, observer)
            }
        }
    };
}

clique_method!(Cspa, "cspa", |_| 1.0);
clique_method!(Hgpa, "hgpa", |objects: f64| 1.0 / (objects - 1.0).max(1.0));

fn fit(
    division: &Division,
    weight: fn(f64) -> f64,
    ensemble: &Ensemble,
    observer: &dyn Observer,
) -> Result<Fit<Partition>> {
    if let Clusters::Fixed(k) = division.spectral.clusters {
        ensemble.check_clusters(k)?;
    }
    division.check()?;
    let mut report = Report::default();
    let microclusters =
        report.stage("microclusters", || Microclusters::observed(ensemble, observer))?;
    report.microclusters = Some(microclusters.n_nodes());
    let microclusters = microclusters.sorted_members();
    let found =
        report.stage("partition", || division.of_cliques(&microclusters, weight, observer))?;
    report.status = found.report.status;
    report.iterations = found.report.iterations;
    report.objective = found.report.objective;
    report.notes = found.report.notes;
    Ok(Fit::new(found.output, report))
}
