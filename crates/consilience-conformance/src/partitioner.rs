//! Laws of graph partitioners.

use ndarray::Array2;

use crate::watch::{cancellation, progress, refuse, succeed, threads};
use crate::{hold, sure};
use consilience_core::{
    ErrorKind, Fit, GraphPartitioner, Grouping, Partition, Seed, SimilarityGraph,
};

/// Makes the partitioner for a number of clusters.
pub(super) type Make<'a> = &'a dyn Fn(usize) -> Box<dyn GraphPartitioner>;

/// One law: its name, and what panics where it is broken.
pub(super) type Law = (&'static str, fn(&str, Make<'_>, &PartitionerProfile));

/// What a partitioner promises; switch off what does not hold for it, and say why where you do.
///
/// ```
/// use consilience::conformance::PartitionerProfile;
///
/// // A method with random choices that depend on the order of the nodes.
/// let profile = PartitionerProfile { node_permutation: false, ..PartitionerProfile::default() };
/// assert!(profile.blocks);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartitionerProfile {
    /// Reordering the nodes reorders the partition, where no ties have to be broken.
    pub node_permutation: bool,
    /// Groups of nodes with strong links inside and weak ones between are found; they are of equal
    /// size.
    pub blocks: bool,
    /// Exactly as many clusters come out as asked for, or as there are nodes where those are fewer.
    /// Otherwise at most as many.
    pub exact_clusters: bool,
    /// The number of clusters is asked for: 0 is refused, and more than there are nodes is answered
    /// by [`Report::clusters_missing`](consilience_core::Report::clusters_missing).
    pub checks_clusters: bool,
    /// Nodes in the graph that is cut at several numbers of threads.
    pub thread_nodes: usize,
}

impl Default for PartitionerProfile {
    /// Everything on but `exact_clusters`, and 300 nodes for threads.
    fn default() -> Self {
        PartitionerProfile {
            node_permutation: true,
            blocks: true,
            exact_clusters: false,
            checks_clusters: true,
            thread_nodes: 300,
        }
    }
}

/// The laws in the order they are tried.
pub(super) const LAWS: [Law; 8] = [
    ("graphs without nodes or links, and extreme weights", hostile),
    ("k = 0 is refused", no_clusters),
    ("k above the number of nodes", too_many_clusters),
    ("objects follow their nodes", groups),
    ("blocks are found", blocks),
    ("permuting nodes", node_permutation),
    ("same bits at any number of threads", same_bits),
    ("cancellation and progress", observed),
];

/// Puts a graph partitioner through every law that its profile does not switch off.
///
/// `make` builds it for a number of clusters; seeded methods fix their seed in it. Tried are:
/// graphs without nodes, without links, of one node, with the largest and smallest weights; k = 0
/// and k above the number of nodes; objects of one node together and objects of none unlabelled;
/// clear blocks, permuted; equal bits on 1, 2, 3 and 8 threads; cancellation and progress.
///
/// # Panics
/// Where a law is broken, with its name and the input.
///
/// ```
/// use consilience::{Error, Fit, Observer, Partition, Report, Result, SimilarityGraph};
/// use consilience::conformance::{PartitionerProfile, graph_partitioner};
/// use consilience::core::GraphPartitioner;
///
/// /// Puts all nodes into one cluster.
/// struct Lump(usize);
/// impl GraphPartitioner for Lump {
///     fn fit(&self, graph: SimilarityGraph, observer: &dyn Observer) -> Result<Fit<Partition>> {
///         observer.check()?;
///         if self.0 == 0 {
///             return Err(Error::invalid("0 clusters; expected at least 1"));
///         }
///         let lump = graph.grouping().expand(&vec![0; graph.grouping().n_nodes()])?;
///         let mut report = Report::default();
///         report.expect_clusters(self.0, lump.n_clusters(), "the ensemble distinguishes no more objects");
///         Ok(Fit::new(lump, report))
///     }
/// }
///
/// let profile = PartitionerProfile { blocks: false, ..PartitionerProfile::default() };
/// graph_partitioner(&|clusters| Box::new(Lump(clusters)), &profile);
/// ```
pub fn graph_partitioner(make: Make<'_>, profile: &PartitionerProfile) {
    for (name, law) in LAWS {
        law(name, make, profile);
    }
}

/// A graph of the given nodes of objects, with weights by (smaller, larger) node.
fn graph(
    law: &str,
    of_object: Vec<u32>,
    nodes: usize,
    weight: impl Fn(usize, usize) -> f64,
) -> SimilarityGraph {
    let weights = Array2::from_shape_fn((nodes, nodes), |(i, j)| weight(i.min(j), i.max(j)));
    sure(law, SimilarityGraph::new(sure(law, Grouping::new(of_object, nodes)), weights))
}

/// One object per node.
fn single(law: &str, nodes: usize, weight: impl Fn(usize, usize) -> f64) -> SimilarityGraph {
    graph(law, (0..nodes as u32).collect(), nodes, weight)
}

fn show(graph: &SimilarityGraph, k: usize) -> String {
    let n = graph.grouping().n_nodes();
    if n > 6 {
        format!("{n} nodes, k = {k}")
    } else {
        format!("k = {k}, weights {}", graph.weights())
    }
}

/// A run that must succeed, and what every result must obey.
fn run(
    law: &str,
    make: Make<'_>,
    profile: &PartitionerProfile,
    k: usize,
    graph: &SimilarityGraph,
) -> Fit<Partition> {
    let input = show(graph, k);
    let fit = succeed(law, &input, || make(k).fit(graph.clone(), &()));
    let of_object = graph.grouping().of_object();
    hold(law, fit.output.n_objects() == of_object.len(), || {
        format!("{} objects of {} on {input}", fit.output.n_objects(), of_object.len())
    });
    let mut cluster = vec![None; graph.grouping().n_nodes()];
    for (i, &node) in of_object.iter().enumerate() {
        let label = fit.output.label(i);
        hold(law, label.is_some() == (node != Grouping::NONE), || {
            format!("object {i} of node {node} has label {label:?} on {input}")
        });
        if let Some(label) = label {
            let first = *cluster[node as usize].get_or_insert(label);
            hold(law, first == label, || format!("node {node} is divided on {input}"));
        }
    }
    if profile.checks_clusters {
        let (most, found) = (k.min(cluster.len()), fit.output.n_clusters());
        hold(law, if profile.exact_clusters { found == most } else { found <= most }, || {
            format!("{found} clusters instead of {most} on {input}")
        });
        hold(law, (found < k) == (fit.report.clusters_missing.is_some()), || {
            format!("clusters missing None with {found} clusters on {input}")
        });
    }
    fit
}

fn hostile(law: &str, make: Make<'_>, profile: &PartitionerProfile) {
    let weights: [fn(usize, usize) -> f64; 6] = [
        |_, _| 0.0,
        |_, _| 1.0,
        |_, _| f64::MAX,
        |i, j| if i + 1 == j { 5e-324 } else { 0.0 },
        |i, j| if i == j { 1.0 } else { 0.0 },
        |i, j| ((i * 5 + j * 3) % 4) as f64,
    ];
    let silent = sure(law, Grouping::new(vec![Grouping::NONE; 2], 0));
    let nobody = sure(law, SimilarityGraph::new(silent, Array2::zeros((0, 0))));
    run(law, make, profile, 1, &nobody);
    for weight in weights {
        for nodes in 1..7 {
            for k in 1..=nodes {
                run(law, make, profile, k, &single(law, nodes, weight));
            }
        }
    }
}

fn no_clusters(law: &str, make: Make<'_>, profile: &PartitionerProfile) {
    if profile.checks_clusters {
        let two = single(law, 2, |_, _| 1.0);
        refuse(law, "two nodes, k = 0", ErrorKind::InvalidParameter, &[0], || {
            make(0).fit(two.clone(), &())
        });
    }
}

fn too_many_clusters(law: &str, make: Make<'_>, profile: &PartitionerProfile) {
    for k in [4, 5, 100] {
        run(law, make, profile, k, &single(law, 3, |i, j| 1.0 / (1.0 + (j - i) as f64)));
    }
}

fn groups(law: &str, make: Make<'_>, profile: &PartitionerProfile) {
    let none = Grouping::NONE;
    let of_object = vec![2, none, 0, 0, 1, 3, none, 3, 3, 2, 4];
    let w = |i: usize, j: usize| if i / 2 == j / 2 { 1.0 } else { 0.1 };
    for k in 1..=5 {
        run(law, make, profile, k, &graph(law, of_object.clone(), 5, w));
    }
}

/// Four blocks of 15 nodes, links inside from .6 to 1 and .05 or less between them, none of them
/// equal.
fn weight(i: usize, j: usize) -> f64 {
    let noise = Seed((i * 1000 + j) as u64).stream().uniform();
    match i % 4 == j % 4 {
        _ if i == j => 1.0,
        true => 0.6 + 0.4 * noise,
        false => 0.05 * noise,
    }
}

fn blocks(law: &str, make: Make<'_>, profile: &PartitionerProfile) {
    if !profile.blocks {
        return;
    }
    let found = run(law, make, profile, 4, &single(law, 60, weight)).output;
    let expected = sure(law, Partition::from_fn(60, |i| Some(i as u64 % 4)));
    hold(law, found == expected, || {
        format!("{:?} instead of four blocks in turn", found.to_signed())
    });
}

fn node_permutation(law: &str, make: Make<'_>, profile: &PartitionerProfile) {
    if !profile.node_permutation {
        return;
    }
    let plain = run(law, make, profile, 4, &single(law, 60, weight)).output;
    for round in 0..3 {
        let mut order: Vec<usize> = (0..60).collect();
        Seed(9).derive("nodes", round).stream().shuffle(&mut order);
        let moved = single(law, 60, |i, j| weight(order[i].min(order[j]), order[i].max(order[j])));
        let again = run(law, make, profile, 4, &moved).output;
        hold(law, again == sure(law, plain.select(&order)), || {
            format!("another partition (order {order:?})")
        });
    }
}

fn same_bits(law: &str, make: Make<'_>, profile: &PartitionerProfile) {
    let graph = single(law, profile.thread_nodes, |i, j| {
        weight(i, j) + 0.5 * Seed((i + 7 * j) as u64).stream().uniform()
    });
    let method = make(5);
    threads(law, &show(&graph, 5), &|observer| method.fit(graph.clone(), observer));
}

fn observed(law: &str, make: Make<'_>, _: &PartitionerProfile) {
    let (graph, method) = (single(law, 60, weight), make(4));
    cancellation(law, &show(&graph, 4), &|observer| method.fit(graph.clone(), observer));
    progress(law, &show(&graph, 4), &|observer| method.fit(graph.clone(), observer));
}
