//! Objects are alike where their clusters are alike, and clusters are alike where they are linked
//! to the same others.

mod clusters;
mod consensus;
#[cfg(test)]
mod reference;
#[cfg(test)]
mod tests;

pub use consensus::{LinkBased, LinkSimilarity};

use consilience_core::{
    MemoryBudget, Microclusters, Observer, Report, Result, Similarity, SimilarityGraph, ensure,
};
use consilience_graph::ClusterIncidence;

use self::clusters::ClusterLinks;

/// SimRank has converged long before.
const MAX_ITERATIONS: usize = 1000;

fn check_decay(decay: f64) -> Result<()> {
    ensure!((0.0..=1.0).contains(&decay), invalid("decay {decay}; expected 0..=1"));
    Ok(())
}

/// The similarity of an ensemble from links between its clusters.
fn similarity(
    nodes: &Microclusters,
    budget: MemoryBudget,
    report: &mut Report,
    observer: &dyn Observer,
    links: impl FnOnce(&ClusterIncidence) -> Result<ClusterLinks>,
) -> Result<SimilarityGraph> {
    observer.check()?;
    // Before any work is done for a table that cannot be stored.
    budget.check_square("similarity of objects by their clusters", nodes.n_nodes(), 8)?;
    let nodes = nodes.clone().sorted_members();
    let incidence = ClusterIncidence::of_observed(&nodes, observer)?;
    let links = report.stage("links", || links(&incidence))?;
    links.between(&nodes, &incidence, budget, observer)
}

/// What a similarity by the links of clusters has that a decay alone describes.
macro_rules! decayed {
    ($similarity:ident, $name:literal, $decay:literal, $new:literal, $links:path) => {
        impl Default for $similarity {
            fn default() -> Self {
                Self::new()
            }
        }

        impl $similarity {
            #[doc = $new]
            pub fn new() -> Self {
                $similarity { decay: $decay, budget: MemoryBudget::default() }
            }

            consilience_core::setters! {
                /// The largest similarity that two different clusters may have. Default that of
                /// [`new`](Self::new); 0 to 1.
                pub fn decay(mut self, decay: f64) { self.decay = decay }

                /// How much memory the similarity of objects may take. Default 8 GiB.
                pub fn memory_budget(mut self, budget: MemoryBudget) { self.budget = budget }
            }
        }

        impl Similarity for $similarity {
            fn name(&self) -> &str {
                $name
            }

            fn check(&self) -> Result<()> {
                check_decay(self.decay)
            }

            fn between(
                &self,
                nodes: &Microclusters,
                report: &mut Report,
                observer: &dyn Observer,
            ) -> Result<SimilarityGraph> {
                similarity(nodes, self.budget, report, observer, |h| {
                    $links(h, self.decay, self.budget, observer)
                })
            }
        }
    };
}

/// Similarity by weighted connected triples (WCT, CTS): two objects that a member separates are
/// still alike where their clusters overlap the same clusters of other members.
///
/// The refinement of co-association to try first: pairs that are never together, all at 0 there,
/// get an order.
///
/// Clusters p and q of different members are linked by their Jaccard index `w_pq`; two clusters of
/// one member share the triple through k by the weaker of its two links:
///
/// ```text
/// WCT_pq = sum_k min(w_pk, w_qk),   Sim(p, q) = decay WCT_pq / max WCT,   Sim(p, p) = 1
/// s_ij   = mean of Sim(C_u(i), C_u(j)) over the members u that label both
/// ```
///
/// ```
/// use consilience::{Ensemble, Partition, Similarity};
/// use consilience::consensus::ConnectedTriples;
///
/// let ensemble = Ensemble::new(vec![
///     Partition::from_labels(&[0, 0, 1, 1, 2, 2])?,
///     Partition::from_labels(&[0, 0, 0, 0, 1, 1])?,
/// ])?;
/// let graph = ConnectedTriples::new().similarity(&ensemble)?;
/// // Nodes: objects 0, 1; objects 2, 3; objects 4, 5. One member separates the first two, into
/// // clusters that share the same cluster of the other.
/// assert_eq!(graph.weights()[[0, 1]], 0.95);
/// assert_eq!(graph.weights()[[0, 2]], 0.0);
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Complexity
/// Between clusters sparse, in proportion to the connected triples; between microclusters O(n~^2 M)
/// and 8 n~^2 bytes. Collapsing is exact: objects of one microcluster have similarity 1.
///
/// # Errors
/// [`ErrorKind::InvalidParameter`](consilience_core::ErrorKind::InvalidParameter) for a decay
/// outside `0..=1`, [`ErrorKind::TooLarge`](consilience_core::ErrorKind::TooLarge) beyond the
/// memory budget.
///
/// # References
/// Iam-On, Boongoen, Garrett, Price 2011, "A Link-Based Approach to the Cluster Ensemble Problem",
/// Section 3; between objects: Iam-On, Boongoen, Garrett 2008, "Refining Pairwise Similarity Matrix
/// for Cluster Ensemble Problem with Cluster Relations" (CTS). The maximum is taken over pairs of
/// one member, as in their program LinkCluE: no other pair is used. Jaccard indices count the
/// objects that both members label.
#[doc(alias = "WCT")]
#[doc(alias = "CTS")]
#[derive(Clone, Copy, Debug)]
pub struct ConnectedTriples {
    decay: f64,
    budget: MemoryBudget,
}

decayed!(
    ConnectedTriples,
    "wct",
    0.9,
    "With decay 0.9, as in the paper of 2011.",
    clusters::connected_triples
);

/// SimRank-based similarity (SRS): objects are alike where their clusters are alike, and clusters
/// are alike where their objects are.
///
/// Looks further than [`ConnectedTriples`], round by round along chains of overlapping clusters, at
/// the price of a dense matrix between clusters.
///
/// With C(i) the clusters that hold object i, from `S = I` on both sides and all at once in each
/// round,
///
/// ```text
/// s(i, j) = decay / (|C(i)| |C(j)|) sum over p in C(i), q in C(j) of s(p, q),   s(i, i) = 1
/// s(p, q) = decay / (|p| |q|)       sum over i in p,    j in q    of s(i, j),   s(p, p) = 1
/// ```
///
/// ```
/// use consilience::{Ensemble, Partition, Similarity};
/// use consilience::consensus::SimRank;
///
/// let ensemble = Ensemble::new(vec![
///     Partition::from_labels(&[0, 0, 1])?,
///     Partition::from_labels(&[0, 1, 1])?,
/// ])?;
/// // After one round: decay times one common cluster of two times two.
/// let graph = SimRank::new().iterations(1).similarity(&ensemble)?;
/// assert_eq!(graph.weights()[[0, 1]], 0.8 / 4.0);
/// assert_eq!(graph.weights()[[0, 2]], 0.0);
/// // Later rounds see that objects 0 and 2 have a common neighbour.
/// let graph = SimRank::new().similarity(&ensemble)?;
/// assert!(graph.weights()[[0, 2]] > 0.05);
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Complexity
/// With C clusters in the ensemble O(R nnz C) for R rounds, nnz being the pairs of overlapping
/// clusters, and 56 C^2 bytes; between microclusters O(n~^2 M) and 8 n~^2 bytes. Object
/// similarities of the rounds before the last are never stored.
///
/// # Errors
/// [`ErrorKind::InvalidParameter`](consilience_core::ErrorKind::InvalidParameter) for a decay
/// outside `0..=1` or rounds outside `1..=1000`,
/// [`ErrorKind::TooLarge`](consilience_core::ErrorKind::TooLarge) beyond the memory budget.
///
/// # References
/// Iam-On, Boongoen, Garrett 2008, Section 3.2, after Jeh, Widom 2002, "SimRank". Their program
/// makes one round fewer than its R says. Similarities equal those of single objects, but two
/// objects with the same labels have a SimRank below 1: here they stay together all the same.
#[doc(alias = "SRS")]
#[derive(Clone, Copy, Debug)]
pub struct SimRank {
    decay: f64,
    iterations: usize,
    budget: MemoryBudget,
}

impl Default for SimRank {
    fn default() -> Self {
        Self::new()
    }
}

impl SimRank {
    /// With decay 0.8 and 5 rounds, as in the paper.
    pub fn new() -> Self {
        SimRank { decay: 0.8, iterations: 5, budget: MemoryBudget::default() }
    }

    consilience_core::setters! {
        /// How much of a similarity one step of a chain passes on. Default 0.8; 0 to 1.
        pub fn decay(mut self, decay: f64) { self.decay = decay }

        /// R, the number of rounds. Default 5; 1 to 1000.
        pub fn iterations(mut self, iterations: usize) { self.iterations = iterations }

        /// How much memory each matrix may take. Default 8 GiB.
        pub fn memory_budget(mut self, budget: MemoryBudget) { self.budget = budget }
    }
}

impl Similarity for SimRank {
    fn name(&self) -> &str {
        "srs"
    }

    fn check(&self) -> Result<()> {
        check_decay(self.decay)?;
        ensure!(
            (1..=MAX_ITERATIONS).contains(&self.iterations),
            invalid("{} rounds of SimRank; expected 1..={MAX_ITERATIONS}", self.iterations)
        );
        Ok(())
    }

    fn between(
        &self,
        nodes: &Microclusters,
        report: &mut Report,
        observer: &dyn Observer,
    ) -> Result<SimilarityGraph> {
        report.iterations = self.iterations;
        similarity(nodes, self.budget, report, observer, |h| {
            clusters::sim_rank(h, self.decay, self.iterations, self.budget, observer)
        })
    }
}

/// Approximate SimRank-based similarity (ASRS): one round of [`SimRank`] between clusters, by their
/// weighted common neighbours, without going through the objects.
///
/// Nearly as cheap as [`ConnectedTriples`], and like [`SimRank`] it compares all clusters of two
/// objects, not only those of one member.
///
/// With n_p the clusters of other members that p overlaps,
///
/// ```text
/// sim(p, q) = decay / max * sum_k w_pk w_qk / (n_p n_q),   sim(p, p) = 1
/// s(i, j)   = mean of sim(p, q) over p in C(i), q in C(j)
/// ```
///
/// ```
/// use consilience::{Ensemble, Partition, Similarity};
/// use consilience::consensus::ApproximateSimRank;
///
/// let ensemble = Ensemble::new(vec![
///     Partition::from_labels(&[0, 0, 1])?,
///     Partition::from_labels(&[0, 1, 1])?,
/// ])?;
/// let graph = ApproximateSimRank::new().similarity(&ensemble)?;
/// assert!(graph.weights()[[0, 1]] > graph.weights()[[0, 2]] && graph.weights()[[0, 2]] > 0.0);
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Complexity
/// As [`ConnectedTriples`], over the pairs of all clusters that share a neighbour.
///
/// # Errors
/// As [`ConnectedTriples`].
///
/// # References
/// Iam-On, Garrett 2010, "LinkCluE: A MATLAB Package for Link-Based Cluster Ensembles", Section
/// 2.3. The program leaves the most similar pair of clusters undecayed; here every pair of
/// different clusters is decayed, as the text says. Two objects with the same labels have an s
/// below 1 where several members label them: here they stay together, with similarity 1.
#[doc(alias = "ASRS")]
#[derive(Clone, Copy, Debug)]
pub struct ApproximateSimRank {
    decay: f64,
    budget: MemoryBudget,
}

decayed!(ApproximateSimRank, "asrs", 0.8, "With decay 0.8.", clusters::approximate_sim_rank);
