//! Laws of similarities.

use ndarray::Array2;

use crate::watch::{cancellation, progress, succeed, threads};
use crate::worlds::{
    heard, planted_ensembles, row, show, small_worlds, thread_ensembles, trivial_ensembles,
};
use crate::{Profile, hold, sure};
use consilience_core::{Ensemble, Grouping, Seed, Similarity, SimilarityGraph};

/// One law: its name, and what panics where it is broken.
pub(super) type Law = (&'static str, fn(&str, &dyn Similarity, &Profile));

/// The laws in the order they are tried.
pub(super) const LAWS: [Law; 6] = [
    ("weights and nodes", graphs),
    ("permuting members", member_permutation),
    ("permuting objects", object_permutation),
    ("same bits at any number of threads", same_bits),
    ("cancellation and progress", observed),
    ("small worlds", all_small_worlds),
];

/// Puts a similarity through every law that its profile does not switch off.
///
/// Tried are: symmetric, finite weights of at least 0; nodes that hold all labelled objects, and
/// only objects with equal labels together; incomplete, silent and trivial members; permuting
/// (weights equal to 1e-9); equal bits on 1, 2, 3 and 8 threads; cancellation and progress; all
/// [`small_worlds`](super::small_worlds).
///
/// # Panics
/// Where a law is broken, with its name and the input.
pub fn similarity(similarity: &dyn Similarity, profile: &Profile) {
    for (name, law) in LAWS {
        law(name, similarity, profile);
    }
}

/// Runs the similarity, which must succeed, and checks what every graph must obey.
fn run(law: &str, similarity: &dyn Similarity, ensemble: &Ensemble) -> SimilarityGraph {
    let before = ensemble.clone();
    let graph = succeed(law, &show(ensemble), || similarity.fit(ensemble, &())).output;
    hold(law, *ensemble == before, || format!("the input changed: {}", show(ensemble)));
    let (grouping, weights) = (graph.grouping(), graph.weights());
    let (n, nodes) = (ensemble.n_objects(), grouping.n_nodes());
    hold(law, grouping.n_objects() == n, || {
        format!("{} objects of {n} on {}", grouping.n_objects(), show(ensemble))
    });
    let mut first: Vec<Option<usize>> = vec![None; nodes];
    for (i, &node) in grouping.of_object().iter().enumerate() {
        hold(law, (node != Grouping::NONE) == heard(ensemble, i), || {
            format!("object {i} in node {node} on {}; silent objects have none", show(ensemble))
        });
        if node != Grouping::NONE {
            let leader = *first[node as usize].get_or_insert(i);
            hold(law, row(ensemble, leader) == row(ensemble, i), || {
                format!("objects {leader} and {i} share node {node} on {}", show(ensemble))
            });
        }
    }
    hold(law, weights.dim() == (nodes, nodes), || {
        format!("weights of {:?} for {nodes} nodes on {}", weights.dim(), show(ensemble))
    });
    for ((i, j), &w) in weights.indexed_iter() {
        hold(law, w.is_finite() && w >= 0.0 && w.to_bits() == weights[[j, i]].to_bits(), || {
            format!("weight {w} at {i}, {j}, mirrored {} on {}", weights[[j, i]], show(ensemble))
        });
    }
    graph
}

fn graphs(law: &str, similarity: &dyn Similarity, _: &Profile) {
    for ensemble in trivial_ensembles().chain(planted_ensembles(5)) {
        run(law, similarity, &ensemble);
    }
}

/// Similarity of each two objects, -1 where one has no node.
fn of_objects(graph: &SimilarityGraph) -> Array2<f64> {
    let node = graph.grouping().of_object();
    Array2::from_shape_fn((node.len(), node.len()), |(i, j)| match (node[i], node[j]) {
        (Grouping::NONE, _) | (_, Grouping::NONE) => -1.0,
        (a, b) => graph.weights()[[a as usize, b as usize]],
    })
}

/// Equal up to the rounding of sums in another order.
fn close(law: &str, input: &Ensemble, a: &Array2<f64>, b: &Array2<f64>) {
    for ((at, x), y) in a.indexed_iter().zip(b) {
        hold(law, (x - y).abs() <= 1e-9 * x.abs().max(y.abs()).max(1.0), || {
            format!("similarity {x} of objects {at:?} becomes {y} on {}", show(input))
        });
    }
}

fn member_permutation(law: &str, similarity: &dyn Similarity, profile: &Profile) {
    if !profile.member_permutation {
        return;
    }
    for ensemble in planted_ensembles(5) {
        let plain = of_objects(&run(law, similarity, &ensemble));
        let mut order: Vec<usize> = (0..ensemble.n_members()).collect();
        Seed(6).stream().shuffle(&mut order);
        let moved = sure(law, ensemble.select(&order));
        close(law, &ensemble, &plain, &of_objects(&run(law, similarity, &moved)));
    }
}

fn object_permutation(law: &str, similarity: &dyn Similarity, profile: &Profile) {
    if !profile.object_permutation {
        return;
    }
    for ensemble in planted_ensembles(5) {
        let plain = of_objects(&run(law, similarity, &ensemble));
        let mut order: Vec<usize> = (0..ensemble.n_objects()).collect();
        Seed(7).stream().shuffle(&mut order);
        let moved = sure(law, ensemble.select_objects(&order));
        let expected = Array2::from_shape_fn(plain.dim(), |(i, j)| plain[[order[i], order[j]]]);
        close(law, &ensemble, &expected, &of_objects(&run(law, similarity, &moved)));
    }
}

fn same_bits(law: &str, similarity: &dyn Similarity, profile: &Profile) {
    for ensemble in thread_ensembles(8, profile) {
        threads(law, &show(&ensemble), &|observer| similarity.fit(&ensemble, observer));
    }
}

fn observed(law: &str, similarity: &dyn Similarity, _: &Profile) {
    for ensemble in planted_ensembles(5) {
        cancellation(law, &show(&ensemble), &|observer| similarity.fit(&ensemble, observer));
        progress(law, &show(&ensemble), &|observer| similarity.fit(&ensemble, observer));
    }
}

fn all_small_worlds(law: &str, similarity: &dyn Similarity, profile: &Profile) {
    let (objects, count) = profile.small_worlds;
    for ensemble in small_worlds(objects, count).in_one_order() {
        run(law, similarity, &ensemble);
    }
}
