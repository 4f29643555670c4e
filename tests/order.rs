//! The order of members and objects, trees, and work on given nodes, for every method of the
//! catalogue.

use consilience::catalogue::{Method, Settings, by_name, methods};
use consilience::consensus::{
    Cspa, EcpcsMc, EvidenceAccumulation, GpMgla, Hbgf, Lwea, Lwgp, Mcla, Qmi, Voting,
};
use consilience::core::NodeConsensus;
use consilience::walk::{Diffusion, Pta, Ptgp, RandomWalker};
use consilience::{ConsensusFunction, Ensemble, Fit, Observer, Partition, Result, Seed};
use consilience_conformance::{Profile, hierarchy, node_consensus, reordering};

/// Between equals the first object decides: equally near pairs, equal votes, or k-means starts that
/// are made from the objects in their order.
const FIRST_OBJECT: [&str; 9] =
    ["auto", "gp-mgla", "least-squares", "mm", "pcc-kl", "pcc-l2", "qmi", "srw", "voting"];

/// A method of the catalogue with k clusters.
struct Named(&'static Method, usize);

impl ConsensusFunction for Named {
    type Output = Partition;

    fn name(&self) -> &str {
        self.0.name()
    }

    fn fit(&self, ensemble: &Ensemble, observer: &dyn Observer) -> Result<Fit<Partition>> {
        let fit = self.0.build(&Settings::new(self.1).seed(Seed(1)))?.fit(ensemble, observer)?;
        Ok(Fit::new(fit.output.partition, fit.report))
    }
}

/// Runs on one thread, as in `conformance.rs`.
fn alone(laws: impl FnOnce() + Send) {
    rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap().install(laws);
}

fn small() -> Profile {
    Profile {
        exact_clusters: false,
        small_worlds: (3, 2),
        thread_objects: 120,
        ..Profile::default()
    }
}

#[test]
fn members_and_objects_of_every_method() {
    for method in methods() {
        let by_first = method.has_tree() || FIRST_OBJECT.contains(&method.name());
        let profile = Profile { object_ties: !by_first, ..small() };
        println!("{}", method.name());
        alone(|| reordering(&|k| Box::new(Named(method, k)), &profile));
    }
}

#[test]
fn every_tree_is_a_tree_and_the_one_that_is_cut() {
    let mut trees = 0;
    for method in methods().iter().filter(|m| m.has_tree()) {
        println!("{}", method.name());
        let tree = |k: usize| method.hierarchy(&Settings::new(k).seed(Seed(1))).unwrap();
        alone(|| hierarchy(&tree, &|k| Box::new(Named(method, k)), &small()));
        trees += 1;
    }
    assert!(trees > 10, "{trees}");
}

fn on_nodes<M: NodeConsensus<Output = Partition> + 'static>(make: fn(usize) -> M) {
    alone(|| node_consensus(&|k| Box::new(make(k)), &small()));
}

#[test]
fn given_nodes() {
    on_nodes(EvidenceAccumulation::new);
    on_nodes(Lwea::new);
    on_nodes(Pta::new);
    on_nodes(Ptgp::new);
    on_nodes(Diffusion::new);
    on_nodes(RandomWalker::new);
    on_nodes(Hbgf::new);
    on_nodes(Lwgp::new);
    on_nodes(GpMgla::new);
    on_nodes(EcpcsMc::new);
    on_nodes(Cspa::new);
    on_nodes(Mcla::new);
    on_nodes(Voting::new);
    on_nodes(Qmi::new);
}

/// Eigenvectors of a graph in more components than clusters are any rotation of the components.
#[test]
fn components_are_joined_whole() {
    let ensemble = |members: &[&[u8]]| {
        Ensemble::new(members.iter().map(|m| Partition::from_labels(m).unwrap()).collect()).unwrap()
    };
    // Two of objects 0, 1 and 5; 2 and 3; 4 are linked.
    let (a, b) = ([0, 0, 6, 7, 4, 0], [0, 1, 7, 6, 4, 0]);
    // Eight objects that no member distinguishes are one microcluster, in fewer clusters than the
    // two components beside them, of three microclusters each.
    let most: [[u8; 14]; 3] = [
        [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 2, 2, 2],
        [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 2, 3, 3, 4],
        [0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 1, 3, 4, 3],
    ];
    let [x, y, z] = &most;
    let whole: Vec<i64> = (0..14).map(|i| i64::from(i >= 8)).collect();
    for name in "hbgf lwgp usenc diffusion gp-mgla ecpcs-mc cspa hgpa mcla ptgp".split(' ') {
        let method = by_name(name).unwrap();
        let run = |e: Ensemble| Named(method, 2).consensus(&e).unwrap().to_signed();
        assert_eq!(run(ensemble(&[&a, &b])), [0, 0, 1, 1, 1, 0], "{name}");
        assert_eq!(run(ensemble(&[&b, &a])), [0, 0, 1, 1, 1, 0], "{name}");
        assert_eq!(run(ensemble(&[x, y, z])), whole, "{name}");
        assert_eq!(run(ensemble(&[z, x, y])), whole, "{name}");
    }
}
