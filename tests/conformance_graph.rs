//! The graph methods on the ensemble's clusters go through the suite that users put theirs through.

use consilience::consensus::{
    EcCms, EcpcsHc, EcpcsMc, EnhancedCoAssociation, GpMgla, GuidedCoAssociation, Hbgf,
    LocallyWeighted, Lwea, Lwgp, Sdgca, SelfEnhancedCoAssociation, USenc, Weac,
    WeightedCoAssociation,
};
use consilience::{Clusters, ConsensusFunction, Linkage, Partition, Seed, Similarity};
use consilience_conformance::{Profile, consensus_function, similarity};

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

fn graph(of: &dyn Similarity, profile: Profile) {
    alone(|| similarity(of, &profile));
}

/// For methods that share most of their steps with LWEA, which goes through all of the small
/// worlds, or with LWGP.
fn shorter() -> Profile {
    Profile { small_worlds: (4, 2), ..Profile::default() }
}

/// For methods that solve at length, and are compared with their references on more worlds beside
/// their code.
fn solved() -> Profile {
    Profile { object_ties: false, small_worlds: (3, 2), thread_objects: 200, ..Profile::default() }
}

/// A tree: of pairs that are equally near the first is merged.
fn tree() -> Profile {
    Profile { object_ties: false, ..shorter() }
}

/// The method finds the number of clusters: there is none to check.
fn automatic() -> Profile {
    Profile { exact_clusters: false, checks_clusters: false, ..shorter() }
}

/// Microclusters that are linked alike get one place in the embedding, and no spectral cut tells
/// them apart.
fn cut() -> Profile {
    Profile { exact_clusters: false, ..shorter() }
}

#[test]
fn weac_average() {
    method(Weac::new, tree());
}

#[test]
fn weac_single() {
    method(|k| Weac::new(k).linkage(Linkage::Single), tree());
}

#[test]
fn weac_complete() {
    method(|k| Weac::new(k).linkage(Linkage::Complete), tree());
}

#[test]
fn weac_by_lifetime() {
    method(|_| Weac::new(Clusters::Auto), Profile { object_ties: false, ..automatic() });
}

#[test]
fn lwea() {
    method(Lwea::new, Profile { object_ties: false, ..Profile::default() });
}

#[test]
fn lwea_by_lifetime() {
    // Similarities fall fast with entropy, so another number of clusters may live longer than the
    // planted one: of one planted world comes out an adjusted Rand index of 0.887.
    method(
        |_| Lwea::new(Clusters::Auto),
        Profile { planted: false, object_ties: false, ..automatic() },
    );
}

#[test]
fn ec_cms() {
    method(EcCms::new, solved());
}

#[test]
fn ec_cms_with_small_components() {
    method(|k| EcCms::new(k).confidence(0.6).largest_share(0.5), solved());
}

#[test]
fn sdgca() {
    method(Sdgca::new, solved());
}

#[test]
fn self_enhanced_co_association() {
    let similarity = SelfEnhancedCoAssociation::default().confidence(0.6);
    graph(&similarity, solved());
    graph(&similarity.largest_share(0.5), solved());
}

#[test]
fn guided_co_association() {
    graph(&GuidedCoAssociation::default().confidence(0.6), solved());
}

#[test]
fn gp_mgla() {
    // Its k-means starts at the first object, as the published one does.
    method(GpMgla::new, Profile { exact_clusters: false, ..tree() });
}

#[test]
fn gp_mgla_by_eigengap() {
    method(|_| GpMgla::new(Clusters::Auto), Profile { object_ties: false, ..automatic() });
}

#[test]
fn ecpcs_hc() {
    method(EcpcsHc::new, tree());
}

#[test]
fn ecpcs_hc_by_lifetime() {
    method(|_| EcpcsHc::new(Clusters::Auto), Profile { object_ties: false, ..automatic() });
}

/// A meta-cluster may win no object, so fewer clusters than asked for may come out.
#[test]
fn ecpcs_mc() {
    method(|k| EcpcsMc::new(k).seed(Seed(1)), Profile { exact_clusters: false, ..shorter() });
}

#[test]
fn ecpcs_mc_by_eigengap() {
    method(|_| EcpcsMc::new(Clusters::Auto), automatic());
}

#[test]
fn enhanced_co_association() {
    graph(&EnhancedCoAssociation::default(), Profile::default());
}

#[test]
fn hbgf() {
    method(|k| Hbgf::new(k).seed(Seed(1)), cut());
}

#[test]
fn usenc() {
    // Few objects are cut as by HBGF; the streamed cut goes through the suite beside its code.
    method(|k| USenc::new(k).seed(Seed(1)), Profile { exact_clusters: false, ..shorter() });
}

#[test]
fn hbgf_by_eigengap() {
    method(|_| Hbgf::new(Clusters::Auto), automatic());
}

#[test]
fn lwgp() {
    method(|k| Lwgp::new(k).seed(Seed(1)), cut());
}

#[test]
fn lwgp_by_eigengap() {
    method(|_| Lwgp::new(Clusters::Auto), automatic());
}

#[test]
fn locally_weighted() {
    graph(&LocallyWeighted::default(), Profile::default());
}

#[test]
fn weighted_co_association() {
    graph(&WeightedCoAssociation::default(), Profile::default());
}
