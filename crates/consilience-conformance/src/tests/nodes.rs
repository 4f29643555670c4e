use super::*;
use crate::nodes::{LAWS, node_consensus};
use consilience_core::{Microclusters, NodeConsensus, Observer, Report};

#[derive(Clone, Copy, Debug, PartialEq)]
enum Flaw {
    None,
    ForgetsTheUnlabelled,
    DropsTheLast,
    CountsNodes,
}

/// The first member that labels a node says where it goes, as far as there are clusters.
struct Toy {
    clusters: usize,
    flaw: Flaw,
}

impl NodeConsensus for Toy {
    type Output = Partition;

    fn name(&self) -> &str {
        "toy"
    }

    fn clusters(&self) -> consilience_core::Clusters {
        self.clusters.into()
    }

    fn nodes(&self, ensemble: &Ensemble, _: &dyn Observer) -> Result<Microclusters> {
        if self.flaw == Flaw::ForgetsTheUnlabelled {
            let all = vec![Partition::from_labels(&vec![0; ensemble.n_objects()])?];
            return Microclusters::of(&Ensemble::new(all)?);
        }
        Microclusters::of(ensemble)
    }

    fn solve(&self, nodes: &Microclusters, _: &mut Report, _: &dyn Observer) -> Result<Vec<usize>> {
        let label = |i: usize| nodes.rows().iter().find_map(|m| m.label(i)).unwrap_or(0);
        let half = |i: usize| usize::from(2 * i > nodes.n_nodes());
        let counts = self.flaw == Flaw::CountsNodes;
        let cluster = |i: usize| if counts { half(i) } else { label(i) };
        let n = nodes.n_nodes() - usize::from(self.flaw == Flaw::DropsTheLast);
        Ok((0..n).map(|i| cluster(i).min(self.clusters - 1)).collect())
    }
}

fn profile() -> Profile {
    Profile { small_worlds: (3, 2), ..Profile::default() }
}

#[test]
fn an_honest_toy_obeys_every_law() {
    node_consensus(&|clusters| Box::new(Toy { clusters, flaw: Flaw::None }), &profile());
}

#[test]
fn every_law_catches_what_breaks_it() {
    let cases = [
        (Flaw::ForgetsTheUnlabelled, "is in node 0"),
        (Flaw::DropsTheLast, "clusters for"),
        (Flaw::CountsNodes, "from microclusters"),
    ];
    assert_eq!(cases.len(), LAWS.len());
    for ((name, law), (flaw, says)) in LAWS.into_iter().zip(cases) {
        must_catch(name, &flaw, says, || {
            law(name, &|clusters| Box::new(Toy { clusters, flaw }), &profile())
        });
    }
}
