//! Votes, diffusion and the recommended method go through the suite that users put theirs through.

use consilience::consensus::{LeastSquares, MixtureModel, Qmi, Voting};
use consilience::trust::Recommended;
use consilience::walk::Diffusion;
use consilience::{Clusters, ConsensusFunction, Partition, Seed};
use consilience_conformance::{Hard, Profile, consensus_function};

/// Runs on one thread, as in `conformance.rs`.
fn alone(laws: impl FnOnce() + Send) {
    rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap().install(laws);
}

fn method<F: ConsensusFunction<Output = Partition> + 'static>(
    make: fn(usize) -> F,
    profile: Profile,
) {
    alone(|| consensus_function(&|k| Box::new(make(k)), &profile));
}

/// Clusters that win no object are not made up; equal votes and seeded starts go by the first
/// object.
fn votes() -> Profile {
    Profile {
        exact_clusters: false,
        object_ties: false,
        small_worlds: (4, 2),
        ..Profile::default()
    }
}

/// k-means on places that several microclusters may share.
fn cut() -> Profile {
    Profile { exact_clusters: false, small_worlds: (4, 2), ..Profile::default() }
}

/// The method finds the number of clusters: there is none to check.
fn automatic() -> Profile {
    Profile {
        exact_clusters: false,
        checks_clusters: false,
        unanimous: false,
        small_worlds: (3, 2),
        thread_objects: 200,
        ..Profile::default()
    }
}

#[test]
fn mixture_model() {
    method(|k| MixtureModel::new(k).restarts(2).seed(Seed(1)), votes());
}

#[test]
fn qmi() {
    // A label that all have whom the member labels is its own mean, as is a missing one: objects
    // that differ in nothing else are one place.
    method(|k| Qmi::new(k).seed(Seed(1)), votes());
}

#[test]
fn voting() {
    method(Voting::new, votes());
}

#[test]
fn least_squares() {
    method(|k| Hard(LeastSquares::new(k)), votes());
}

#[test]
fn diffusion() {
    method(|k| Diffusion::new(k).seed(Seed(1)), cut());
}

#[test]
fn diffusion_by_eigengap() {
    method(|_| Diffusion::new(Clusters::Eigengap), automatic());
}

/// One candidate is a tree, which merges the first of pairs that are equally near.
#[test]
fn recommended() {
    let profile = Profile { object_ties: false, small_worlds: (3, 2), ..cut() };
    method(|k| Recommended::new(k).seed(Seed(1)), profile);
}

#[test]
fn recommended_without_a_number() {
    method(|_| Recommended::new(Clusters::Auto), Profile { object_ties: false, ..automatic() });
}
