//! Cuts, link-based similarities and seeded walks go through the suite that users put theirs
//! through.

use consilience::consensus::{
    ApproximateSimRank, ConnectedTriples, Cspa, Hgpa, LinkBased, Mcla, SimRank,
};
use consilience::graph::{Agglomeration, SpectralCut};
use consilience::walk::RandomWalker;
use consilience::{Clusters, ConsensusFunction, Linkage, Partition, Seed, Similarity};
use consilience_conformance::{
    Hard, PartitionerProfile, Profile, consensus_function, graph_partitioner, similarity,
};

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

/// No spectral cut tells nodes apart that have the same links.
fn cut() -> Profile {
    Profile { exact_clusters: false, small_worlds: (4, 2), ..Profile::default() }
}

/// The method finds the number of clusters: there is none to check.
fn by_eigengap() -> Profile {
    Profile { checks_clusters: false, ..cut() }
}

/// A tree, or seeds that are grown in turn: between equals the first decides.
fn tree() -> Profile {
    Profile { object_ties: false, ..Profile::default() }
}

fn by_lifetime() -> Profile {
    Profile {
        object_ties: false,
        exact_clusters: false,
        checks_clusters: false,
        small_worlds: (4, 2),
        ..Profile::default()
    }
}

#[test]
fn cspa() {
    method(|k| Cspa::new(k).seed(Seed(1)), cut());
}

#[test]
fn cspa_by_eigengap() {
    method(|_| Cspa::new(Clusters::Eigengap), by_eigengap());
}

#[test]
fn hgpa() {
    method(|k| Hgpa::new(k).seed(Seed(1)), cut());
}

#[test]
fn mcla() {
    method(|k| Mcla::new(k).seed(Seed(1)), cut());
}

#[test]
fn wct_average() {
    method(LinkBased::wct, tree());
}

#[test]
fn wct_complete() {
    method(
        |k| LinkBased::wct(k).linkage(Linkage::Complete),
        Profile { small_worlds: (4, 2), ..tree() },
    );
}

#[test]
fn wct_by_lifetime() {
    method(|_| LinkBased::wct(Clusters::Auto), by_lifetime());
}

#[test]
fn srs_average() {
    method(LinkBased::srs, Profile { small_worlds: (4, 2), ..tree() });
}

#[test]
fn srs_by_lifetime() {
    method(|_| LinkBased::srs(Clusters::Auto), by_lifetime());
}

#[test]
fn asrs_average() {
    method(LinkBased::asrs, Profile { small_worlds: (4, 2), ..tree() });
}

#[test]
fn seeded_walks() {
    method(RandomWalker::new, tree());
}

#[test]
fn seeded_walks_with_soft_results() {
    method(|k| Hard(RandomWalker::new(k).soft()), Profile { small_worlds: (4, 2), ..tree() });
}

#[test]
fn seeded_walks_by_lifetime() {
    method(|_| RandomWalker::new(Clusters::Lifetime), by_lifetime());
}

#[test]
fn similarities() {
    graph(&ConnectedTriples::new(), Profile::default());
    graph(&SimRank::new(), Profile { small_worlds: (4, 2), ..Profile::default() });
    graph(&ApproximateSimRank::new(), Profile { small_worlds: (4, 2), ..Profile::default() });
}

#[test]
fn partitioners() {
    alone(|| {
        graph_partitioner(&|k| Box::new(SpectralCut::new(k)), &PartitionerProfile::default());
        let eigengap =
            PartitionerProfile { checks_clusters: false, ..PartitionerProfile::default() };
        graph_partitioner(&|_| Box::new(SpectralCut::new(Clusters::Eigengap)), &eigengap);
        let exact = PartitionerProfile { exact_clusters: true, ..PartitionerProfile::default() };
        graph_partitioner(&|k| Box::new(Agglomeration::new(Linkage::Average, k)), &exact);
    });
}

/// A balanced cut: clusters that differ in size are not found, and doubling or reordering may
/// change what the random choices of METIS meet.
#[cfg(feature = "metis")]
mod metis {
    use super::*;
    use consilience::graph::{CutMethod, MetisCut};

    fn balanced() -> Profile {
        Profile {
            unanimous: false,
            planted: false,
            duplication: false,
            object_permutation: false,
            object_ties: false,
            ..cut()
        }
    }

    #[test]
    fn cspa() {
        method(|k| Cspa::new(k).cut_method(CutMethod::Metis), balanced());
    }

    #[test]
    fn hgpa() {
        method(|k| Hgpa::new(k).cut_method(CutMethod::Metis), balanced());
    }

    #[test]
    fn mcla() {
        method(|k| Mcla::new(k).cut_method(CutMethod::Metis), balanced());
    }

    #[test]
    fn partitioner() {
        let profile =
            PartitionerProfile { node_permutation: false, ..PartitionerProfile::default() };
        alone(|| graph_partitioner(&|k| Box::new(MetisCut::new(k)), &profile));
    }
}
