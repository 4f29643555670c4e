//! Every method that is implemented goes through the suite that users put theirs through.

use consilience::consensus::EvidenceAccumulation;
use consilience::graph::CoAssociation;
use consilience::walk::{ProbabilityTrajectories, Pta, Ptgp, PtsSolver};
use consilience::{Clusters, ConsensusFunction, Linkage, Partition, Seed, Similarity};
use consilience_conformance::{Profile, consensus_function, similarity};

/// Runs on one thread. A hundred thousand tiny runs would else spend their time waking workers; the
/// law about threads makes its own pools.
fn alone(laws: impl FnOnce() + Send) {
    rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap().install(laws);
}

fn method<F: ConsensusFunction<Output = Partition> + 'static>(
    make: fn(usize) -> F,
    profile: Profile,
) {
    alone(|| consensus_function(&|k| Box::new(make(k)), &profile));
}

fn graph(of: &dyn Similarity, profile: Profile) {
    alone(|| similarity(of, &profile));
}

/// A tree: of pairs that are equally near the first is merged.
fn tree() -> Profile {
    Profile { object_ties: false, ..Profile::default() }
}

/// A tree where the method finds the number of clusters.
fn lifetime() -> Profile {
    Profile { object_ties: false, ..automatic() }
}

/// For a second way to what has gone through all of the small worlds already.
fn shorter() -> Profile {
    Profile { small_worlds: (4, 2), ..Profile::default() }
}

/// The method finds the number of clusters: there is none to check.
fn automatic() -> Profile {
    Profile { exact_clusters: false, checks_clusters: false, ..shorter() }
}

#[test]
fn eac_average() {
    method(EvidenceAccumulation::new, tree());
}

#[test]
fn eac_single() {
    method(|k| EvidenceAccumulation::new(k).linkage(Linkage::Single), tree());
}

#[test]
fn eac_complete() {
    method(|k| EvidenceAccumulation::new(k).linkage(Linkage::Complete), tree());
}

#[test]
fn eac_ward() {
    method(|k| EvidenceAccumulation::new(k).linkage(Linkage::Ward), tree());
    let shorter = Profile { small_worlds: (4, 2), ..tree() };
    method(|k| EvidenceAccumulation::new(k).linkage(Linkage::Centroid), shorter.clone());
    method(|k| EvidenceAccumulation::new(k).linkage(Linkage::Median), shorter);
}

#[test]
fn eac_on_single_objects() {
    // Copies of an object may be told apart where nothing else tells objects apart.
    method(
        |k| EvidenceAccumulation::new(k).collapse(false),
        Profile { counts: false, small_worlds: (4, 2), ..tree() },
    );
}

#[test]
fn eac_by_lifetime() {
    method(|_| EvidenceAccumulation::new(Clusters::Lifetime), lifetime());
}

#[test]
fn pta_average() {
    method(Pta::new, tree());
}

#[test]
fn pta_single() {
    method(|k| Pta::new(k).linkage(Linkage::Single), tree());
}

#[test]
fn pta_complete() {
    method(|k| Pta::new(k).linkage(Linkage::Complete), tree());
}

#[test]
fn pta_by_lifetime() {
    method(|_| Pta::new(Clusters::Lifetime), lifetime());
}

/// Microclusters whose walkers see the same have equal rows in the bipartite graph, and no spectral
/// cut tells them apart: under [0, 0, 1, 1, 1, 0, 1] and [0, 0, 0, 0, 1, 0, 1] both ends of the
/// chain of three microclusters step to its middle. Fewer clusters come out then, and the status
/// says so.
fn cut() -> Profile {
    Profile { exact_clusters: false, ..shorter() }
}

#[test]
fn ptgp() {
    method(|k| Ptgp::new(k).seed(Seed(1)), cut());
}

#[test]
fn ptgp_in_products() {
    method(|k| Ptgp::new(k).dense_limit(0), Profile { exact_clusters: false, ..shorter() });
}

#[test]
fn ptgp_by_eigengap() {
    method(|_| Ptgp::new(Clusters::Eigengap), automatic());
}

#[test]
fn co_association() {
    graph(&CoAssociation::default(), Profile::default());
}

#[test]
fn probability_trajectories() {
    graph(&ProbabilityTrajectories::default(), Profile::default());
}

#[test]
fn probability_trajectories_by_eigenpairs() {
    graph(&ProbabilityTrajectories::default().solver(PtsSolver::Eigenpairs), shorter());
}

#[test]
fn probability_trajectories_of_long_walks() {
    graph(&ProbabilityTrajectories::default().elite_neighbours(3).walk_length(12), shorter());
}
