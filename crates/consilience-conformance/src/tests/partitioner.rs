use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;
use crate::partitioner::{LAWS, graph_partitioner};
use consilience_core::{Error, Fit, GraphPartitioner, Report, SimilarityGraph};

#[derive(Clone, Copy, Debug, PartialEq)]
enum Flaw {
    None,
    RefusesLinkless,
    TakesNoClusters,
    HidesFewer,
    DividesNodes,
    LabelsTheSilent,
    IgnoresLinks,
    PrefersTheFirst,
    CountsThreads,
    ChangesItsMind,
    IgnoresTheObserver,
    Boasts,
}

/// Connected components of links above a half, the smallest ones joined until there are k, the
/// largest divided until there are.
struct Toy(usize, Flaw);

static CALLS: AtomicUsize = AtomicUsize::new(0);

impl GraphPartitioner for Toy {
    fn fit(&self, graph: SimilarityGraph, observer: &dyn Observer) -> Result<Fit<Partition>> {
        let Toy(k, flaw) = *self;
        if flaw != Flaw::IgnoresTheObserver {
            observer.check()?;
        }
        if k == 0 && flaw != Flaw::TakesNoClusters {
            return Err(Error::invalid("0 clusters; expected at least 1"));
        }
        let n = graph.grouping().n_nodes();
        if flaw == Flaw::RefusesLinkless && n > 1 && graph.weights().iter().all(|&w| w == 0.0) {
            return Err(Error::empty("no links"));
        }
        let mut cluster: Vec<usize> = (0..n).collect();
        for i in 0..n {
            for j in 0..i {
                if graph.weights()[[i, j]] > 0.55 && flaw != Flaw::IgnoresLinks {
                    let (old, new) = (cluster[i].max(cluster[j]), cluster[i].min(cluster[j]));
                    cluster.iter_mut().filter(|c| **c == old).for_each(|c| *c = new);
                }
            }
        }
        let count = |cluster: &[usize]| {
            let mut seen = cluster.to_vec();
            seen.sort_unstable();
            seen.dedup();
            seen
        };
        while count(&cluster).len() > k.max(1) {
            let seen = count(&cluster);
            let (a, b) = (seen[seen.len() - 2], seen[seen.len() - 1]);
            cluster.iter_mut().filter(|c| **c == b).for_each(|c| *c = a);
        }
        let odd = CALLS.fetch_add(1, Ordering::Relaxed) % 2 == 1;
        let spoilt = match flaw {
            Flaw::PrefersTheFirst => true,
            Flaw::CountsThreads => rayon::current_num_threads() == 8,
            Flaw::ChangesItsMind => odd,
            _ => false,
        };
        if spoilt && n > 1 && k > 1 {
            cluster[0] = cluster[n - 1];
        }
        observer.progress("nodes", n + 1, if flaw == Flaw::Boasts { n } else { n + 1 });
        let mut out = graph.grouping().expand(&cluster)?;
        if flaw == Flaw::LabelsTheSilent {
            out = Partition::from_fn(out.n_objects(), |i| Some(out.label(i).unwrap_or(0) as u64))?;
        }
        if flaw == Flaw::DividesNodes {
            out =
                Partition::from_fn(out.n_objects(), |i| out.label(i).map(|_| i as u64 % k as u64))?;
        }
        let mut report = Report::default();
        if flaw != Flaw::HidesFewer {
            report.expect_clusters(
                k,
                out.n_clusters(),
                "the ensemble distinguishes no more objects",
            );
        }
        Ok(Fit::new(out, report))
    }
}

#[test]
fn an_honest_toy_obeys_every_law() {
    graph_partitioner(&|k| Box::new(Toy(k, Flaw::None)), &PartitionerProfile::default());
}

#[test]
fn every_law_catches_what_breaks_it() {
    let profile = PartitionerProfile { thread_nodes: 40, ..PartitionerProfile::default() };
    let cases = [
        ("graphs without nodes or links, and extreme weights", Flaw::RefusesLinkless, "no links"),
        ("graphs without nodes or links, and extreme weights", Flaw::LabelsTheSilent, "has label"),
        ("k = 0 is refused", Flaw::TakesNoClusters, "accepted"),
        ("k above the number of nodes", Flaw::HidesFewer, "clusters missing None"),
        ("objects follow their nodes", Flaw::DividesNodes, "is divided"),
        ("objects follow their nodes", Flaw::LabelsTheSilent, "has label"),
        ("blocks are found", Flaw::IgnoresLinks, "instead of four blocks"),
        ("permuting nodes", Flaw::PrefersTheFirst, "another partition"),
        ("same bits at any number of threads", Flaw::CountsThreads, "with 8 threads"),
        ("same bits at any number of threads", Flaw::ChangesItsMind, "another result"),
        ("cancellation and progress", Flaw::IgnoresTheObserver, "finished although cancelled"),
        ("cancellation and progress", Flaw::Boasts, "done"),
    ];
    must_catch_all(&LAWS, &cases, |law, name, flaw| {
        law(name, &|k| Box::new(Toy(k, flaw)), &profile)
    });
}
