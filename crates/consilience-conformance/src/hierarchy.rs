//! Laws of hierarchies.

use crate::watch::{cancellation, no_panic, succeed, threads};
use crate::worlds::{heard, members, noise_worlds, plant, show, thread_ensembles, tied_worlds};
use crate::{Profile, broken, hold, sure};
use consilience_core::{
    ConsensusFunction, Dendrogram, Ensemble, ErrorKind, Fit, Hierarchy, Microclusters, Partition,
    Report, Seed,
};

/// A hierarchy, and the consensus function that cuts its tree.
pub(super) struct Both<'a> {
    pub(super) tree: &'a dyn Fn(usize) -> Box<dyn Hierarchy>,
    pub(super) cut: &'a dyn Fn(usize) -> Box<dyn ConsensusFunction<Output = Partition>>,
}

/// One law: its name, and what panics where it is broken.
pub(super) type Law = (&'static str, fn(&str, &Both<'_>, &Profile));

/// The laws in the order they are tried.
pub(super) const LAWS: [Law; 6] = [
    ("an ensemble without labels has no tree", nothing),
    ("a tree over all nodes, from low to high", trees),
    ("the tree is the one that is cut", cuts),
    ("the order of members changes no cut and no height", member_permutation),
    ("the tree has the same bits at any number of threads", same_bits),
    ("cancellation of a tree", cancelled),
];

/// Puts a hierarchy through every law that its profile does not switch off. `tree` builds it and
/// `cut` the consensus function that cuts its tree, both for a number of clusters, which most trees
/// do not depend on.
///
/// Tried, on small worlds, tiny ensembles in many components, noise and planted structure, are: one
/// merge less than there are nodes, of nodes that are merged once each, with finite heights that
/// never fall; each cut a refinement of the one before, and what `cut` finds; equal cuts and
/// heights (within 1e-9) when members are reordered; equal bits on 1, 2, 3 and 8 threads;
/// cancellation.
///
/// ```
/// use consilience::conformance::{Profile, hierarchy};
/// use consilience::consensus::EvidenceAccumulation;
///
/// let profile = Profile { small_worlds: (3, 2), ..Profile::default() };
/// hierarchy(
///     &|clusters| Box::new(EvidenceAccumulation::new(clusters)),
///     &|clusters| Box::new(EvidenceAccumulation::new(clusters)),
///     &profile,
/// );
/// ```
///
/// # Panics
/// Where a law is broken, with its name and the input.
pub fn hierarchy(
    tree: &dyn Fn(usize) -> Box<dyn Hierarchy>,
    cut: &dyn Fn(usize) -> Box<dyn ConsensusFunction<Output = Partition>>,
    profile: &Profile,
) {
    for (name, law) in LAWS {
        law(name, &Both { tree, cut }, profile);
    }
}

/// The ensembles that trees are grown on; some object of each is labelled.
fn worlds(profile: &Profile) -> impl Iterator<Item = Ensemble> {
    let planted = [(0.1, 0.0), (0.3, 0.2)];
    tied_worlds(profile)
        .chain(noise_worlds())
        .chain(planted.map(|(noise, missing)| plant(5, &[9, 7, 4], 6, noise, missing).ensemble))
        .filter(|ensemble| (0..ensemble.n_objects()).any(|i| heard(ensemble, i)))
}

fn grown(law: &str, tree: &dyn Hierarchy, ensemble: &Ensemble) -> (Microclusters, Dendrogram) {
    succeed(law, &show(ensemble), || {
        Ok(Fit::new(tree.dendrogram(ensemble, &())?, Report::default()))
    })
    .output
}

/// The partition of the objects that a cut of the tree means.
fn cut_of(law: &str, nodes: &Microclusters, tree: &Dendrogram, k: usize) -> Partition {
    sure(law, tree.cut(k).and_then(|cut| nodes.grouping().expand(&cut)))
}

fn nothing(law: &str, both: &Both<'_>, _: &Profile) {
    let silent = members(&[&[-1, -1, -1], &[-1, -1, -1]]);
    match no_panic(law, &show(&silent), || (both.tree)(2).dendrogram(&silent, &())) {
        Err(e) => hold(law, e.kind() == ErrorKind::Empty, || format!("{:?} ({e})", e.kind())),
        Ok((_, tree)) => broken(law, format!("a tree of {} leaves", tree.n_leaves())),
    }
}

fn trees(law: &str, both: &Both<'_>, profile: &Profile) {
    for ensemble in worlds(profile) {
        let (nodes, tree) = grown(law, (both.tree)(2).as_ref(), &ensemble);
        let (n, merges) = (nodes.n_nodes(), tree.merges());
        hold(law, tree.n_leaves() == n && merges.len() + 1 == n, || {
            format!("{} merges of {} leaves on {}", merges.len(), tree.n_leaves(), show(&ensemble))
        });
        let mut below = vec![1; n];
        let mut merged = vec![false; 2 * n - 1];
        for (t, merge) in merges.iter().enumerate() {
            let said = || format!("merge {t} is {merge:?} on {}", show(&ensemble));
            hold(law, merge.height.is_finite(), said);
            hold(law, t == 0 || merges[t - 1].height <= merge.height, said);
            for node in merge.nodes {
                hold(law, node < n + t && !merged[node], said);
                merged[node] = true;
            }
            below.push(merge.nodes.iter().map(|&node| below[node]).sum());
            hold(law, merge.leaves == below[n + t], said);
        }
    }
}

fn cuts(law: &str, both: &Both<'_>, profile: &Profile) {
    for ensemble in worlds(profile) {
        let (nodes, tree) = grown(law, (both.tree)(2).as_ref(), &ensemble);
        let mut coarser: Option<Partition> = None;
        for k in 1..=nodes.n_nodes() {
            let cut = cut_of(law, &nodes, &tree, k);
            let refines = coarser.as_ref().is_none_or(|coarser| is_refinement(&cut, coarser));
            hold(law, cut.n_clusters() == k && refines, || {
                format!("{:?} for k = {k} on {}", cut.to_signed(), show(&ensemble))
            });
            coarser = Some(cut);

            let (nodes, tree) = grown(law, (both.tree)(k).as_ref(), &ensemble);
            let own = cut_of(law, &nodes, &tree, k);
            let input = format!("k = {k}, {}", show(&ensemble));
            let found = succeed(law, &input, || (both.cut)(k).fit(&ensemble, &())).output;
            hold(law, found == own, || {
                let (own, found) = (own.to_signed(), found.to_signed());
                format!("the tree says {own:?}, the method {found:?} for {input}")
            });
        }
    }
}

/// Whether each cluster of the fine partition lies in one of the coarse.
fn is_refinement(fine: &Partition, coarse: &Partition) -> bool {
    let mut of: Vec<Option<Option<usize>>> = vec![None; fine.n_clusters()];
    fine.iter().zip(coarse.iter()).all(|(f, c)| match f {
        None => c.is_none(),
        Some(f) => *of[f].get_or_insert(c) == c,
    })
}

fn member_permutation(law: &str, both: &Both<'_>, profile: &Profile) {
    if !profile.member_permutation {
        return;
    }
    for (w, ensemble) in worlds(profile).enumerate() {
        let mut order: Vec<usize> = (0..ensemble.n_members()).rev().collect();
        if w % 2 == 1 {
            Seed(w as u64).derive("members", 0).stream().shuffle(&mut order);
        }
        let tree = (both.tree)(2);
        let (nodes, plain) = grown(law, tree.as_ref(), &ensemble);
        let (moved, again) = grown(law, tree.as_ref(), &sure(law, ensemble.select(&order)));
        let said = |what: &str| format!("{what} (order {order:?}) on {}", show(&ensemble));
        for (a, b) in plain.merges().iter().zip(again.merges()) {
            hold(law, (a.height - b.height).abs() < 1e-9, || said("other heights"));
        }
        for k in 1..=nodes.n_nodes() {
            let (a, b) = (cut_of(law, &nodes, &plain, k), cut_of(law, &moved, &again, k));
            hold(law, a == b, || said("another cut"));
        }
    }
}

fn same_bits(law: &str, both: &Both<'_>, profile: &Profile) {
    for ensemble in thread_ensembles(6, profile) {
        let tree = (both.tree)(2);
        threads(law, &show(&ensemble), &|observer| {
            Ok(Fit::new(tree.dendrogram(&ensemble, observer)?, Report::default()))
        });
    }
}

fn cancelled(law: &str, both: &Both<'_>, _: &Profile) {
    let ensemble = plant(7, &[25, 17, 8], 8, 0.1, 0.1).ensemble;
    let tree = (both.tree)(2);
    cancellation(law, &show(&ensemble), &|observer| {
        Ok(Fit::new(tree.dendrogram(&ensemble, observer)?, Report::default()))
    });
}
