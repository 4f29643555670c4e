use consilience_core::{
    Clusters, Dendrogram, ErrorKind, Microclusters, Observer, Partition, Report, Result,
};
use consilience_trust::common::{adjusted_rand, mean};
use serde::Serialize;

use super::sample::Sample;
use crate::{Candidate, ClusteringReport};

/// Most microclusters whose whole tree is grown for the page.
const MOST_NODES: usize = 4_000;

/// The methods beside each other. Part of [`Findings`](crate::Findings).
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct MethodsFindings {
    /// Every method; the first gave the answer.
    pub candidates: Vec<CandidateFindings>,
    /// Adjusted Rand index of every two methods; `None` where one failed.
    pub agreement: Vec<Vec<Option<f64>>>,
    /// Whether the others were run, and all compared, on a sample of the objects.
    pub sampled: bool,
}

/// One method. Part of [`Findings`](crate::Findings).
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct CandidateFindings {
    /// Its name.
    pub name: String,
    /// A sentence about it.
    pub about: String,
    /// Clusters that it found: the first on all objects, the others on the sample where there is
    /// one; `None` where it failed.
    pub clusters: Option<usize>,
    /// Mean adjusted Rand index with the members, each as often as it counts.
    pub with_members: Option<f64>,
    /// How it ended.
    pub status: Option<&'static str>,
    /// What it says about its run.
    pub notes: Vec<String>,
    /// Why it failed.
    pub failure: Option<String>,
}

/// A tree of merges. Part of [`Findings`](crate::Findings).
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct TreeFindings {
    /// Whose tree it is.
    pub method: String,
    /// Whether it is the very tree that the answer was cut from. Where it is not, though it is the
    /// answer's own method's, it is the tree of a sample.
    pub is_answer: bool,
    /// Whether it is of a sample of the objects.
    pub sampled: bool,
    /// Number of clusters that it is cut into.
    pub clusters: usize,
    /// Leaves of the whole tree.
    pub leaves: usize,
    /// Objects below each leaf that is kept: what merges lowest is one leaf.
    pub objects: Vec<u64>,
    /// Cluster of each leaf that is kept.
    pub leaf_clusters: Vec<usize>,
    /// Merges from low to high: the two nodes, and the height. Leaves come first among nodes, then
    /// merges.
    pub merges: Vec<(usize, usize, f64)>,
    /// The whole tree and the objects below its leaves.
    #[serde(skip)]
    pub(crate) whole: (Dendrogram, Vec<u64>),
}

pub(super) fn compare(
    candidates: &[Candidate<'_>],
    sample: &Sample,
    (clusters, partition, fit): (Clusters, &Partition, &Report),
    observer: &dyn Observer,
) -> Result<MethodsFindings> {
    let mut results: Vec<Option<Partition>> = vec![Some(sample.result.clone())];
    let mut found = vec![ended(&candidates[0], partition, fit)];
    // On a sample there may be fewer rows than clusters.
    let clusters = match clusters {
        Clusters::Fixed(k) => Clusters::Fixed(k.min(sample.rows.n_objects())),
        other => other,
    };
    for (done, candidate) in candidates.iter().enumerate().skip(1) {
        observer.progress("methods", done, candidates.len());
        match candidate.fit(clusters, &sample.rows, observer) {
            Ok(fit) => {
                found.push(ended(candidate, &fit.output, &fit.report));
                results.push(Some(fit.output));
            }
            Err(e) if e.kind() == ErrorKind::Cancelled => return Err(e),
            Err(e) => {
                let failure = Some(e.message().to_owned());
                found.push(CandidateFindings { failure, ..begun(candidate) });
                results.push(None);
            }
        }
    }
    let counts = sample.rows.counts();
    for (own, result) in found.iter_mut().zip(&results) {
        let Some(result) = result else { continue };
        let with = |member| adjusted_rand(result, member, counts);
        let all: Vec<Option<f64>> =
            sample.rows.members().iter().map(with).collect::<Result<_>>()?;
        own.with_members = mean(&all, sample.rows.weights());
    }
    let agreement = pairs(&results, counts)?;
    Ok(MethodsFindings { candidates: found, agreement, sampled: sample.drawn })
}

/// A method of which nothing is known yet.
fn begun(candidate: &Candidate<'_>) -> CandidateFindings {
    CandidateFindings {
        name: candidate.name.clone(),
        about: candidate.about.clone(),
        clusters: None,
        with_members: None,
        status: None,
        notes: Vec::new(),
        failure: None,
    }
}

/// A method that found something.
fn ended(candidate: &Candidate<'_>, found: &Partition, report: &Report) -> CandidateFindings {
    CandidateFindings {
        clusters: Some(found.n_clusters()),
        status: Some(report.status.name()),
        notes: report.notes.clone(),
        ..begun(candidate)
    }
}

fn pairs(results: &[Option<Partition>], counts: Option<&[u64]>) -> Result<Vec<Vec<Option<f64>>>> {
    let pair = |a: &Option<Partition>, b: &Option<Partition>| match (a, b) {
        (Some(a), Some(b)) => adjusted_rand(a, b, counts),
        _ => Ok(None),
    };
    results.iter().map(|a| results.iter().map(|b| pair(a, b)).collect()).collect()
}

/// The tree of the first method that grows one: of all microclusters where there are few. Where
/// that fails, what was found of the method says why.
pub(super) fn tree(
    report: &ClusteringReport<'_>,
    (candidates, found): (&[Candidate<'_>], &mut [CandidateFindings]),
    nodes: &Microclusters,
    sample: &Sample,
    clusters: Clusters,
    observer: &dyn Observer,
) -> Result<Option<TreeFindings>> {
    let of_tree = candidates.iter().enumerate().find(|(_, c)| c.tree.is_some());
    let Some((at, candidate)) = of_tree else { return Ok(None) };
    let sampled = nodes.n_nodes() > MOST_NODES;
    let ensemble = if sampled { &sample.rows } else { report.ensemble };
    let (leaves, tree) = match candidate.grown(clusters, ensemble, observer) {
        Ok(Some(grown)) => grown,
        Ok(None) => return Ok(None),
        Err(e) if e.kind() == ErrorKind::Cancelled => return Err(e),
        Err(e) => {
            // A method that failed altogether has said why.
            if found[at].failure.is_none() {
                found[at].notes.push(format!("its tree is left out: {}", e.message()));
            }
            return Ok(None);
        }
    };
    let k = clusters.fixed().unwrap_or(1).clamp(1, tree.n_leaves());
    Ok(Some(shortened(tree, leaves.sizes(), (k, sampled, at == 0 && !sampled), candidate)?))
}

/// The last merges of a tree.
fn shortened(
    tree: Dendrogram,
    sizes: &[u64],
    (k, sampled, is_answer): (usize, bool, bool),
    candidate: &Candidate<'_>,
) -> Result<TreeFindings> {
    let (n, merges) = (tree.n_leaves(), tree.merges());
    let first = n - n.min(k.max(100));
    let cut = tree.cut(k)?;
    let mut objects: Vec<u64> = sizes.to_vec();
    let mut cluster = cut;
    for merge in merges {
        objects.push(merge.nodes.iter().map(|&c| objects[c]).sum());
        cluster.push(cluster[merge.nodes[0]]);
    }
    // Nodes that the last merges join, in the order of their numbers.
    let kept: Vec<usize> = {
        let mut all: Vec<usize> = merges[first..].iter().flat_map(|m| m.nodes).collect();
        all.retain(|&node| node < n + first);
        all.sort_unstable();
        if all.is_empty() { vec![n + first - 1] } else { all }
    };
    let number = |node: usize| match kept.binary_search(&node) {
        Ok(at) => at,
        Err(_) => kept.len() + node - n - first,
    };
    let shown = merges[first..].iter();
    Ok(TreeFindings {
        method: candidate.name.clone(),
        is_answer,
        sampled,
        clusters: k,
        leaves: n,
        objects: kept.iter().map(|&node| objects[node]).collect(),
        leaf_clusters: kept.iter().map(|&node| cluster[node]).collect(),
        merges: shown.map(|m| (number(m.nodes[0]), number(m.nodes[1]), m.height)).collect(),
        whole: (tree, sizes.to_vec()),
    })
}
