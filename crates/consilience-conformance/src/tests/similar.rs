use std::sync::atomic::{AtomicUsize, Ordering};

use ndarray::Array2;

use super::*;
use crate::similar::{LAWS, similarity};
use crate::worlds::{heard, row};
use consilience_core::{Error, Grouping, Microclusters, Report, Similarity, SimilarityGraph};

#[derive(Clone, Copy, Debug, PartialEq)]
enum Flaw {
    None,
    NodesForTheSilent,
    OneNode,
    ForgetsSilence,
    ChangesItsMind,
    TrustsTheFirstMember,
    PrefersTheFirstObject,
    CountsThreads,
    IgnoresTheObserver,
    Boasts,
    RefusesOneWorld,
}

/// Co-association of distinct rows.
struct Toy(Flaw);

static CALLS: AtomicUsize = AtomicUsize::new(0);

impl Similarity for Toy {
    fn name(&self) -> &str {
        "toy"
    }

    fn between(
        &self,
        _: &Microclusters,
        _: &mut Report,
        _: &dyn Observer,
    ) -> Result<SimilarityGraph> {
        Err(Error::empty("the toy looks at ensembles"))
    }

    fn fit(&self, ensemble: &Ensemble, observer: &dyn Observer) -> Result<Fit<SimilarityGraph>> {
        if self.0 != Flaw::IgnoresTheObserver {
            observer.check()?;
        }
        let clusters: Vec<usize> = ensemble.members().iter().map(Partition::n_clusters).collect();
        if self.0 == Flaw::RefusesOneWorld && clusters == [1, 3] {
            return Err(Error::empty("not this one"));
        }
        let mut rows: Vec<Vec<Option<usize>>> = Vec::new();
        let mut nodes = Vec::new();
        for i in 0..ensemble.n_objects() {
            if !heard(ensemble, i) && self.0 != Flaw::NodesForTheSilent {
                nodes.push(Grouping::NONE);
                continue;
            }
            let mut r = row(ensemble, i);
            if self.0 == Flaw::ForgetsSilence {
                r.iter_mut().for_each(|l| *l = l.or(Some(0)));
            }
            let found = rows.iter().position(|s| *s == r || self.0 == Flaw::OneNode);
            nodes.push(found.unwrap_or(rows.len()) as u32);
            if found.is_none() {
                rows.push(r);
            }
        }
        let flip = self.0 == Flaw::ChangesItsMind && CALLS.fetch_add(1, Ordering::Relaxed) % 2 == 1;
        let weights = Array2::from_shape_fn((rows.len(), rows.len()), |(g, h)| {
            let (mut seen, mut same) = (0.0, 0.0);
            for (u, (x, y)) in rows[g].iter().zip(&rows[h]).enumerate() {
                let w = if u == 0 && self.0 == Flaw::TrustsTheFirstMember { 2.0 } else { 1.0 };
                seen += w * f64::from(x.is_some() && y.is_some());
                same += w * f64::from(x.is_some() && x == y);
            }
            let spoilt = flip
                || self.0 == Flaw::PrefersTheFirstObject && g == 0 && h == 0
                || self.0 == Flaw::CountsThreads && rayon::current_num_threads() == 8;
            if spoilt {
                return 7.0;
            }
            if seen == 0.0 { 0.0 } else { same / seen }
        });
        observer.progress("pairs", 1, usize::from(self.0 != Flaw::Boasts));
        let grouping = Grouping::new(nodes, rows.len())?;
        Ok(Fit::new(SimilarityGraph::new(grouping, weights)?, Report::default()))
    }
}

#[test]
fn an_honest_toy_obeys_every_law() {
    similarity(&Toy(Flaw::None), &Profile { thread_objects: 100, ..Profile::default() });
}

#[test]
fn every_law_catches_what_breaks_it() {
    let profile = Profile { thread_objects: 40, small_worlds: (4, 2), ..Profile::default() };
    let cases = [
        ("weights and nodes", Flaw::NodesForTheSilent, "silent objects have none"),
        ("weights and nodes", Flaw::OneNode, "share node"),
        ("weights and nodes", Flaw::ForgetsSilence, "share node"),
        ("permuting members", Flaw::TrustsTheFirstMember, "becomes"),
        ("permuting objects", Flaw::PrefersTheFirstObject, "becomes"),
        ("same bits at any number of threads", Flaw::ChangesItsMind, "another result"),
        ("same bits at any number of threads", Flaw::CountsThreads, "with 8 threads"),
        ("cancellation and progress", Flaw::IgnoresTheObserver, "finished although cancelled"),
        ("cancellation and progress", Flaw::Boasts, "1 of 0 done"),
        ("small worlds", Flaw::RefusesOneWorld, "not this one"),
    ];
    must_catch_all(&LAWS, &cases, |law, name, flaw| law(name, &Toy(flaw), &profile));
}
