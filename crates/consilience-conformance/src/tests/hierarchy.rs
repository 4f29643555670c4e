use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;
use crate::hierarchy::{Both, LAWS, hierarchy};
use consilience_core::{
    Dendrogram, Error, Hierarchy, Microclusters, NodeConsensus, Observer, Report,
};

#[derive(Clone, Copy, Debug, PartialEq)]
enum Flaw {
    None,
    PanicsOnNothing,
    ForgetsANode,
    CutsAnother,
    BelievesTheFirstMember,
    CountsThreads,
    IgnoresTheObserver,
}

/// A chain: every node joins those before it.
#[derive(Clone, Copy)]
struct Toy {
    clusters: usize,
    flaw: Flaw,
}

static CALLS: AtomicUsize = AtomicUsize::new(0);

impl Hierarchy for Toy {
    fn tree(
        &self,
        nodes: &Microclusters,
        _: &mut Report,
        observer: &dyn Observer,
    ) -> Result<Dendrogram> {
        observer.check()?;
        let n = nodes.n_nodes();
        if n == 0 && self.flaw != Flaw::PanicsOnNothing {
            return Err(Error::empty("no nodes"));
        }
        let leaves = if self.flaw == Flaw::ForgetsANode { n.max(2) - 1 } else { n };
        let last = n.checked_sub(1).expect("a node");
        let off = match self.flaw {
            Flaw::BelievesTheFirstMember => nodes.rows()[0].n_clusters() as f64,
            Flaw::CountsThreads => f64::from(u8::from(rayon::current_num_threads() == 3)),
            _ => 0.0,
        };
        let turned =
            self.flaw == Flaw::CutsAnother && CALLS.fetch_add(1, Ordering::Relaxed) % 2 == 1;
        let merge = |t: usize| {
            if turned { (last - t, last - t - 1, t as f64) } else { (t, t + 1, t as f64 + off) }
        };
        Dendrogram::from_merges(leaves, (0..leaves - 1).map(merge).collect())
    }

    fn dendrogram(
        &self,
        ensemble: &Ensemble,
        observer: &dyn Observer,
    ) -> Result<(Microclusters, Dendrogram)> {
        let deaf: &dyn Observer = &();
        let observer = if self.flaw == Flaw::IgnoresTheObserver { deaf } else { observer };
        let nodes = Microclusters::observed(ensemble, observer)?;
        let tree = self.tree(&nodes, &mut Report::default(), observer)?;
        Ok((nodes, tree))
    }
}

impl NodeConsensus for Toy {
    type Output = Partition;

    fn name(&self) -> &str {
        "toy"
    }

    fn clusters(&self) -> consilience_core::Clusters {
        self.clusters.into()
    }

    fn solve(
        &self,
        nodes: &Microclusters,
        report: &mut Report,
        observer: &dyn Observer,
    ) -> Result<Vec<usize>> {
        self.tree(nodes, report, observer)?.cut(self.clusters)
    }
}

fn profile() -> Profile {
    Profile { small_worlds: (3, 2), thread_objects: 40, ..Profile::default() }
}

#[test]
fn an_honest_chain_obeys_every_law() {
    let make = |clusters| Toy { clusters, flaw: Flaw::None };
    hierarchy(&|k| Box::new(make(k)), &|k| Box::new(make(k)), &profile());
}

#[test]
fn every_law_catches_what_breaks_it() {
    let cases = [
        (Flaw::PanicsOnNothing, "panicked"),
        (Flaw::ForgetsANode, "leaves on"),
        (Flaw::CutsAnother, "the tree says"),
        (Flaw::BelievesTheFirstMember, "other heights"),
        (Flaw::CountsThreads, "with 3 threads"),
        (Flaw::IgnoresTheObserver, "finished although cancelled"),
    ];
    assert_eq!(cases.len(), LAWS.len());
    for ((name, law), (flaw, says)) in LAWS.into_iter().zip(cases) {
        let make = |clusters| Toy { clusters, flaw };
        must_catch(name, &flaw, says, || {
            let tree = |k| Box::new(make(k)) as Box<dyn Hierarchy>;
            let cut = |k| Box::new(make(k)) as Box<dyn ConsensusFunction<Output = Partition>>;
            law(name, &Both { tree: &tree, cut: &cut }, &profile())
        });
    }
}
