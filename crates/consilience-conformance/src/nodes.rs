//! Laws of methods over microclusters.

use crate::watch::{no_panic, succeed};
use crate::worlds::{heard, plant, show, tied_worlds};
use crate::{Profile, hold, sure};
use consilience_core::{Ensemble, Fit, Grouping, Microclusters, NodeConsensus, Partition, Report};

/// Makes the method for a number of clusters.
pub(super) type Make<'a> = &'a dyn Fn(usize) -> Box<dyn NodeConsensus<Output = Partition>>;

/// One law: its name, and what panics where it is broken.
pub(super) type Law = (&'static str, fn(&str, Make<'_>, &Profile));

/// The laws in the order they are tried.
pub(super) const LAWS: [Law; 3] = [
    ("unlabelled objects are in no node", unlabelled),
    ("each node gets a cluster, whatever k is", clusters),
    ("a node of several objects counts as often", repeated),
];

/// Puts the part that a [`NodeConsensus`] writes itself, its work on given nodes, through every law
/// that its profile does not switch off; as a consensus function it goes through
/// [`consensus_function`](super::consensus_function).
///
/// Tried are: nodes that hold all labelled objects and no others; on small worlds and tiny
/// ensembles one cluster for each node and at most k of them, also where k is beyond the number of
/// nodes; and on planted structure, objects repeated: the same from microclusters with their sizes
/// as from every object as a node.
///
/// ```
/// use consilience::conformance::{Profile, node_consensus};
/// use consilience::consensus::EvidenceAccumulation;
///
/// let profile = Profile { small_worlds: (3, 2), ..Profile::default() };
/// node_consensus(&|clusters| Box::new(EvidenceAccumulation::new(clusters)), &profile);
/// ```
///
/// # Panics
/// Where a law is broken, with its name and the input.
pub fn node_consensus(
    make: &dyn Fn(usize) -> Box<dyn NodeConsensus<Output = Partition>>,
    profile: &Profile,
) {
    for (name, law) in LAWS {
        law(name, make, profile);
    }
}

fn nodes(law: &str, method: &dyn NodeConsensus<Output = Partition>, e: &Ensemble) -> Microclusters {
    sure(law, no_panic(law, &show(e), || method.nodes(e, &())))
}

/// The cluster of each node.
fn solve(
    law: &str,
    method: &dyn NodeConsensus<Output = Partition>,
    nodes: &Microclusters,
    input: &dyn Fn() -> String,
) -> Vec<usize> {
    let found = succeed(law, &input(), || {
        let mut report = Report::default();
        Ok(Fit::new(method.solve(nodes, &mut report, &())?, report))
    });
    hold(law, found.output.len() == nodes.n_nodes(), || {
        format!("{} clusters for {} nodes on {}", found.output.len(), nodes.n_nodes(), input())
    });
    found.output
}

fn unlabelled(law: &str, make: Make<'_>, profile: &Profile) {
    for ensemble in tied_worlds(profile) {
        let nodes = nodes(law, make(1).as_ref(), &ensemble);
        for (i, &node) in nodes.grouping().of_object().iter().enumerate() {
            hold(law, (node != Grouping::NONE) == heard(&ensemble, i), || {
                format!("object {i} is in node {node} on {}", show(&ensemble))
            });
        }
    }
}

fn clusters(law: &str, make: Make<'_>, profile: &Profile) {
    for ensemble in tied_worlds(profile) {
        for k in 1..=ensemble.n_objects() {
            let method = make(k);
            let nodes = nodes(law, method.as_ref(), &ensemble);
            if nodes.n_nodes() == 0 {
                continue;
            }
            let input = || format!("k = {k}, {}", show(&ensemble));
            let mut found = solve(law, method.as_ref(), &nodes, &input);
            found.sort_unstable();
            found.dedup();
            hold(law, !profile.checks_clusters || found.len() <= k, || {
                format!("{} clusters on {}", found.len(), input())
            });
        }
    }
}

fn repeated(law: &str, make: Make<'_>, profile: &Profile) {
    if !profile.duplication || !profile.planted {
        return;
    }
    for (seed, missing) in [(8, 0.0), (9, 0.15)] {
        let world = plant(seed, &[25, 17, 11, 8], 15, 0.08, missing).ensemble;
        let some: Vec<usize> = (0..world.n_objects()).flat_map(|i| vec![i; i % 3 + 1]).collect();
        let ensemble = sure(law, world.select_objects(&some));
        let method = make(4);
        let input = || format!("objects repeated, {}", show(&ensemble));
        let partition = |nodes: &Microclusters| {
            let found = solve(law, method.as_ref(), nodes, &input);
            sure(law, nodes.grouping().expand(&found))
        };
        let together = partition(&nodes(law, method.as_ref(), &ensemble));
        let apart = partition(&sure(law, Microclusters::each_object(&ensemble)));
        hold(law, together == apart, || {
            format!(
                "{:?} from microclusters, {:?} from objects",
                together.to_signed(),
                apart.to_signed()
            )
        });
    }
}
