//! All 20,706 pairs of members over five objects, each object possibly unlabelled in each, against
//! naive references written straight from the definitions. Each pair is taken in one order: that
//! the order of members does not matter is a law of the conformance suite.
//!
//! With so few members almost every merge is a tie. Where ties decide, the certificate is checked
//! instead of the labels: every merge joins a pair that no other pair beats, and every cut is among
//! those that *some* way of breaking ties reaches. Where only one is reached, the cut is that one.

use std::collections::BTreeSet;

use consilience::consensus::EvidenceAccumulation;
use consilience::core::Grouping;
use consilience::graph::{CoAssociation, PairCounts, SparsePairCounts};
use consilience::num::eigen::symmetric_eigen;
use consilience::walk::{
    EliteNeighbours, ProbabilityTrajectories, Pta, Ptgp, PtsSolver, Transition,
};
use consilience::{
    ConsensusFunction, Dendrogram, Ensemble, ErrorKind, Hierarchy, Linkage, MemoryBudget,
    Microclusters, Report, Seed, Similarity,
};
use consilience_conformance::small_worlds;
use ndarray::Array2;

/// The differences that rounding may make; true differences at this size are far larger.
const CLOSE: f64 = 1e-9;

type Row = Vec<Option<usize>>;
type Matrix = Vec<Vec<f64>>;

/// Runs on every small world, on one thread: workers would spend their time being woken.
fn each_world(mut test: impl FnMut(&Ensemble) + Send) {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let worlds = pool
        .install(|| small_worlds(5, 2).in_one_order().inspect(|ensemble| test(ensemble)).count());
    assert_eq!(worlds, 20_706);
}

fn matrix(n: usize, entry: impl Fn(usize, usize) -> f64) -> Matrix {
    (0..n).map(|i| (0..n).map(|j| entry(i, j)).collect()).collect()
}

// -------------------------------------------------------------------------------------------------
// Pairs

/// Labels of every object under the members.
fn rows(ensemble: &Ensemble) -> Vec<Row> {
    (0..ensemble.n_objects())
        .map(|i| ensemble.members().iter().map(|m| m.label(i)).collect())
        .collect()
}

fn silent(row: &Row) -> bool {
    row.iter().all(Option::is_none)
}

/// (c, N): members that put both together, members that label both.
fn counts(a: &Row, b: &Row) -> (usize, usize) {
    let both: Vec<_> = a.iter().zip(b).filter(|(a, b)| a.is_some() && b.is_some()).collect();
    (both.iter().filter(|(a, b)| a == b).count(), both.len())
}

/// c / N, no evidence where no member labels both.
fn association(a: &Row, b: &Row) -> f64 {
    match counts(a, b) {
        (_, 0) => 0.0,
        (c, n) => c as f64 / n as f64,
    }
}

/// Microclusters as lists of objects, by their first.
fn groups(rows: &[Row]) -> Vec<Vec<usize>> {
    let mut out: Vec<Vec<usize>> = Vec::new();
    for i in (0..rows.len()).filter(|&i| !silent(&rows[i])) {
        match out.iter_mut().find(|g| rows[g[0]] == rows[i]) {
            Some(group) => group.push(i),
            None => out.push(vec![i]),
        }
    }
    out
}

#[test]
fn counts_and_co_association() {
    each_world(|e| {
        let rows = rows(e);
        let together = Microclusters::of(e).unwrap();
        let expected = groups(&rows);
        let sizes: Vec<u64> = expected.iter().map(|g| g.len() as u64).collect();
        assert_eq!(together.sizes(), sizes);
        for (g, objects) in expected.iter().enumerate() {
            assert!(
                objects.iter().all(|&i| together.grouping().of_object()[i] as usize == g),
                "{rows:?}"
            );
        }
        for m in [together, Microclusters::each_object(e).unwrap()] {
            let node = m.grouping().of_object();
            let dense = PairCounts::of(&m, MemoryBudget::default(), &()).unwrap();
            let sparse = SparsePairCounts::of(&m, &()).unwrap();
            let graph = CoAssociation::default().between(&m, &mut Report::default(), &()).unwrap();
            for i in 0..rows.len() {
                assert_eq!(node[i] == Grouping::NONE, silent(&rows[i]));
                for j in (0..rows.len()).filter(|&j| !silent(&rows[i]) && !silent(&rows[j])) {
                    let (a, b) = (node[i] as usize, node[j] as usize);
                    let (c, n) = counts(&rows[i], &rows[j]);
                    assert_eq!(dense.get(a, b), (c, n), "{rows:?}");
                    assert_eq!(dense.ratio(a, b), (n > 0).then(|| c as f64 / n as f64));
                    assert_eq!(graph.weights()[[a, b]], association(&rows[i], &rows[j]));
                    let link = (a != b && c > 0).then_some((b, c, n));
                    assert_eq!(sparse.row(a).find(|l| l.0 == b), link);
                }
            }
        }
    });
}

// -------------------------------------------------------------------------------------------------
// Agglomeration. A cluster is a set of leaves as bits of a number, a partition the sorted list of
// them.

fn leaves(set: u32) -> impl Iterator<Item = usize> + Clone {
    (0..32).filter(move |i| set >> i & 1 == 1)
}

/// How far two clusters are apart by definition, over all pairs of leaves; for Ward the square of
/// it, since near 0 the root of a rounding error is a large number.
fn apart(d: &Matrix, a: u32, b: u32, linkage: Linkage) -> f64 {
    let pairs = leaves(a).flat_map(|i| leaves(b).map(move |j| d[i][j]));
    match linkage {
        Linkage::Single => pairs.fold(f64::INFINITY, f64::min),
        Linkage::Complete => pairs.fold(f64::NEG_INFINITY, f64::max),
        Linkage::Average => pairs.clone().sum::<f64>() / pairs.count() as f64,
        Linkage::Centroid | Linkage::Median => unreachable!("held to kodama"),
        Linkage::Ward => {
            // Sum of squares about the mean: squared distances of all pairs over the size.
            let scatter = |s: u32| {
                let squares = leaves(s).flat_map(|i| leaves(s).map(move |j| d[i][j] * d[i][j]));
                squares.sum::<f64>() / 2.0 / f64::from(s.count_ones())
            };
            2.0 * (scatter(a | b) - scatter(a) - scatter(b))
        }
    }
}

/// Every pair of clusters with how far it is apart.
fn pairs(d: &Matrix, partition: &[u32], linkage: Linkage) -> Vec<(f64, u32, u32)> {
    let mut out = Vec::new();
    for (at, &a) in partition.iter().enumerate() {
        out.extend(partition[..at].iter().map(|&b| (apart(d, a, b, linkage), a, b)));
    }
    out
}

fn least(pairs: &[(f64, u32, u32)]) -> f64 {
    pairs.iter().fold(f64::INFINITY, |m, p| m.min(p.0))
}

/// The naive agglomeration of single leaves, with all ways of breaking ties at once: for each
/// number of clusters the partitions that are reached.
fn reached(d: &Matrix, singles: Vec<u32>, linkage: Linkage) -> Vec<BTreeSet<Vec<u32>>> {
    let mut levels = vec![BTreeSet::new(); singles.len() + 1];
    levels[singles.len()].insert(singles);
    for k in (2..levels.len()).rev() {
        let mut next = BTreeSet::new();
        for partition in &levels[k] {
            let pairs = pairs(d, partition, linkage);
            let nearest = least(&pairs) + CLOSE;
            for (_, a, b) in pairs.into_iter().filter(|p| p.0 <= nearest) {
                let mut merged: Vec<u32> =
                    partition.iter().copied().filter(|&c| c != a && c != b).collect();
                merged.push(a | b);
                merged.sort_unstable();
                next.insert(merged);
            }
        }
        levels[k - 1] = next;
    }
    levels
}

/// Cuts that were checked, trivial ones (one cluster, or all leaves apart) left out.
#[derive(Default, Debug)]
struct Cuts {
    /// No tie decides: the fast method's partition is the only one.
    decided: usize,
    /// Ties decide: it is one of several.
    tied: usize,
}

/// Replays a tree: each merge joins a pair that no other pair beats, at the height by definition.
fn certify(tree: &Dendrogram, mut nodes: Vec<u32>, d: &Matrix, linkage: Linkage) {
    let mut live = nodes.clone();
    for merge in tree.merges() {
        let [a, b] = merge.nodes.map(|node| nodes[node]);
        let found =
            if linkage == Linkage::Ward { merge.height * merge.height } else { merge.height };
        let (own, nearest) = (apart(d, a, b, linkage), least(&pairs(d, &live, linkage)));
        assert!(
            (own - nearest).abs() <= CLOSE,
            "{linkage:?}: {own} joined, {nearest} left on {d:?}"
        );
        assert!(
            (own - found).abs() <= CLOSE,
            "{linkage:?}: height {found} instead of {own} on {d:?}"
        );
        assert_eq!(merge.leaves, nodes_below(&nodes[..tree.n_leaves()], a | b));
        live.retain(|&c| c != a && c != b);
        live.push(a | b);
        nodes.push(a | b);
    }
    assert_eq!(live.len(), 1);
}

fn nodes_below(leaf_sets: &[u32], set: u32) -> usize {
    leaf_sets.iter().filter(|&&l| l & set == l).count()
}

/// Certifies a tree whose leaf t holds the bits `sets[t]`, and compares every cut of it.
fn compare(
    tree: &Dendrogram,
    sets: &[u32],
    d: &Matrix,
    linkage: Linkage,
    levels: &[BTreeSet<Vec<u32>>],
    cuts: &mut Cuts,
) {
    certify(tree, sets.to_vec(), d, linkage);
    for k in 1..=sets.len() {
        let mut found = vec![0; k];
        for (&cluster, &set) in tree.cut(k).unwrap().iter().zip(sets) {
            found[cluster] |= set;
        }
        found.sort_unstable();
        assert!(
            levels[k].contains(&found),
            "{linkage:?} k = {k}: {found:?}, not in {:?}",
            levels[k]
        );
        if k > 1 && k < sets.len() {
            *(if levels[k].len() == 1 { &mut cuts.decided } else { &mut cuts.tied }) += 1;
        }
    }
}

#[test]
fn evidence_accumulation() {
    for linkage in [Linkage::Average, Linkage::Single, Linkage::Complete, Linkage::Ward] {
        let mut cuts = Cuts::default();
        each_world(|e| {
            let rows = rows(e);
            let single: Vec<u32> = (0..5).filter(|&i| !silent(&rows[i])).map(|i| 1 << i).collect();
            let d = matrix(rows.len(), |i, j| 1.0 - association(&rows[i], &rows[j]));
            let levels = reached(&d, single.clone(), linkage);
            for collapse in [true, false] {
                let eac = EvidenceAccumulation::new(1).linkage(linkage).collapse(collapse);
                let tree = eac.dendrogram(e, &());
                if single.is_empty() {
                    assert_eq!(tree.unwrap_err().kind(), ErrorKind::Empty);
                    continue;
                }
                let (m, tree) = tree.unwrap();
                let mut sets = vec![0; m.n_nodes()];
                for (i, &node) in m.grouping().of_object().iter().enumerate() {
                    if node != Grouping::NONE {
                        sets[node as usize] |= 1 << i;
                    }
                }
                compare(&tree, &sets, &d, linkage, &levels, &mut cuts);
            }
        });
        println!("EAC {linkage:?}: {cuts:?}");
        assert!(cuts.decided > 0 && cuts.tied > 0, "{cuts:?}");
    }
}

// -------------------------------------------------------------------------------------------------
// Walks

/// Everything up to PTS for given K and T, on microclusters.
struct Walk {
    elite: Matrix,
    transition: Matrix,
    pts: Matrix,
}

impl Walk {
    fn new(rows: &[Row], groups: &[Vec<usize>], k: usize, length: usize) -> Self {
        let n = groups.len();
        let w = matrix(n, |i, j| {
            if i == j { 0.0 } else { association(&rows[groups[i][0]], &rows[groups[j][0]]) }
        });
        // The K-th largest weight to another; every link is elite where there are not so many
        // others.
        let threshold: Vec<f64> = (0..n)
            .map(|i| {
                let mut others: Vec<f64> = (0..n).filter(|&j| j != i).map(|j| w[i][j]).collect();
                others.sort_by(|a, b| b.total_cmp(a));
                others.get(k - 1).copied().unwrap_or(0.0)
            })
            .collect();
        let elite = matrix(n, |i, j| {
            if w[i][j] >= threshold[i] || w[i][j] >= threshold[j] { w[i][j] } else { 0.0 }
        });
        let size = |j: usize| groups[j].len() as f64;
        let transition = matrix(n, |i, j| {
            let all: f64 = (0..n).filter(|&l| l != i).map(|l| size(l) * elite[i][l]).sum();
            if all > 0.0 { size(j) * elite[i][j] / all } else { 0.0 }
        });
        let mut power = matrix(n, |i, j| f64::from(u8::from(i == j)));
        let mut trajectories = vec![Vec::new(); n];
        for _ in 0..length {
            power = matrix(n, |i, j| (0..n).map(|l| power[i][l] * transition[l][j]).sum());
            for (trajectory, row) in trajectories.iter_mut().zip(&power) {
                trajectory.extend_from_slice(row);
            }
        }
        let dot = |a: &[f64], b: &[f64]| -> f64 { a.iter().zip(b).map(|(a, b)| a * b).sum() };
        let pts = matrix(n, |i, j| {
            let (a, b) = (&trajectories[i], &trajectories[j]);
            let norms = dot(a, a).sqrt() * dot(b, b).sqrt();
            if i == j {
                1.0
            } else if norms > 0.0 {
                dot(a, b) / norms
            } else {
                0.0
            }
        });
        Walk { elite, transition, pts }
    }
}

/// What is tried: K and T as they are for so few microclusters by default, and longer
/// ones.
const WALKS: [(usize, usize); 2] = [(1, 1), (2, 3)];

#[test]
fn elite_neighbours_transitions_and_trajectories() {
    each_world(|e| {
        let (rows, m) = (rows(e), Microclusters::of(e).unwrap());
        let groups = groups(&rows);
        let n = groups.len();
        for (k, t) in WALKS {
            let naive = Walk::new(&rows, &groups, k, t);
            let elite = EliteNeighbours::of(&m, k).unwrap();
            let links = naive.elite.iter().flatten().filter(|&&w| w > 0.0).count();
            assert_eq!(elite.n_links(), links / 2);
            let p = Transition::new(&elite, &m).probabilities();
            for i in 0..n {
                for (j, &w) in elite.weights().row(i).0.iter().zip(elite.weights().row(i).1) {
                    assert_eq!(w, naive.elite[i][*j as usize], "{rows:?}");
                }
                assert_eq!(p.row(i).0, elite.weights().row(i).0);
                for (j, &w) in p.row(i).0.iter().zip(p.row(i).1) {
                    assert!((w - naive.transition[i][*j as usize]).abs() < 1e-15, "{rows:?}");
                }
            }
            let pts = ProbabilityTrajectories::default();
            let longer = pts.elite_neighbours(k).walk_length(t);
            for (pts, tolerance) in [
                (if (k, t) == WALKS[0] { pts } else { longer }, 1e-14),
                (longer.solver(PtsSolver::Products), 1e-14),
                (longer.solver(PtsSolver::Eigenpairs), 1e-12),
            ] {
                let graph = pts.similarity(e).unwrap();
                for ((i, j), s) in graph.weights().indexed_iter() {
                    let should = naive.pts[i][j];
                    assert!((s - should).abs() < tolerance, "{s} instead of {should} on {rows:?}");
                }
            }
        }
    });
}

#[test]
fn probability_trajectory_accumulation() {
    for linkage in [Linkage::Average, Linkage::Single, Linkage::Complete] {
        let mut cuts = Cuts::default();
        each_world(|e| {
            let rows = rows(e);
            let groups = groups(&rows);
            for (k, t) in WALKS {
                let pta = Pta::new(1).linkage(linkage).elite_neighbours(k).walk_length(t);
                let tree = pta.dendrogram(e, &());
                if groups.is_empty() {
                    assert_eq!(tree.unwrap_err().kind(), ErrorKind::Empty);
                    continue;
                }
                let pts = Walk::new(&rows, &groups, k, t).pts;
                let d = matrix(groups.len(), |i, j| 1.0 - pts[i][j]);
                // A microcluster counts once, whatever its size.
                let single: Vec<u32> = (0..groups.len()).map(|i| 1 << i).collect();
                let levels = reached(&d, single.clone(), linkage);
                compare(&tree.unwrap().1, &single, &d, linkage, &levels, &mut cuts);
            }
        });
        println!("PTA {linkage:?}: {cuts:?}");
        assert!(cuts.decided > 0 && cuts.tied > 0, "{cuts:?}");
    }
}

// -------------------------------------------------------------------------------------------------
// The transfer cut

/// Rows of norm 1 that k-means clusters, or `None` where the k leading eigenvectors are no matter
/// of the graph alone: eigenvalues k and k + 1 are equal or nearly so.
fn embedding(rows: &[Row], groups: &[Vec<usize>], pts: &Matrix, k: usize) -> Option<Matrix> {
    let n = groups.len();
    let mut columns: Vec<Vec<usize>> = Vec::new();
    for u in 0..rows[0].len() {
        let label = |i: usize| rows[groups[i][0]][u];
        let mut seen: Vec<usize> = (0..n).filter_map(label).collect();
        seen.sort_unstable();
        seen.dedup();
        columns.extend(
            seen.iter().map(|&l| (0..n).filter(|&i| label(i) == Some(l)).collect::<Vec<_>>()),
        );
    }
    let c = columns.len();
    let b: Vec<Vec<f64>> = (0..n)
        .map(|i| {
            columns
                .iter()
                .map(|s| s.iter().map(|&j| pts[i][j]).sum::<f64>() / s.len() as f64)
                .collect()
        })
        .collect();
    let dx: Vec<f64> = b.iter().map(|row| row.iter().sum()).collect();
    let wy = matrix(c, |p, q| (0..n).map(|i| b[i][p] * b[i][q] / dx[i]).sum());
    let dy: Vec<f64> = wy.iter().map(|row| row.iter().sum()).collect();
    let normal = Array2::from_shape_fn((c, c), |(p, q)| wy[p][q] / (dy[p] * dy[q]).sqrt());
    let eigen = symmetric_eigen(normal.view()).unwrap();
    if k < c && eigen.values[k - 1] - eigen.values[k] < 1e-6 {
        return None;
    }
    let mut out: Vec<Vec<f64>> = vec![Vec::new(); n];
    for (i, row) in out.iter_mut().enumerate() {
        for q in 0..k.min(c) {
            let f = |p: usize| eigen.vectors[[p, q]] / dy[p].sqrt();
            row.push((0..c).map(|p| b[i][p] * f(p)).sum::<f64>() / dx[i]);
        }
        let norm = row.iter().map(|x| x * x).sum::<f64>().sqrt();
        row.iter_mut().for_each(|x| *x /= norm);
    }
    Some(out)
}

/// Sum of the squared distances of the rows to the mean of their cluster.
fn inertia(rows: &Matrix, clusters: &[usize]) -> f64 {
    let mut total = 0.0;
    for c in 0..rows.len() {
        let own: Vec<&Vec<f64>> =
            (0..rows.len()).filter(|&i| clusters[i] == c).map(|i| &rows[i]).collect();
        for q in 0..rows[0].len() {
            let mean = own.iter().map(|r| r[q]).sum::<f64>() / own.len().max(1) as f64;
            total += own.iter().map(|r| (r[q] - mean) * (r[q] - mean)).sum::<f64>();
        }
    }
    total
}

/// All ways to put n things into at most k clusters, numbered by first appearance.
fn clusterings(n: usize, k: usize) -> Vec<Vec<usize>> {
    let mut out = vec![vec![]];
    for _ in 0..n {
        out = out
            .into_iter()
            .flat_map(|head: Vec<usize>| {
                let used = head.iter().max().map_or(0, |m| m + 1);
                (0..k.min(used + 1)).map(move |c| [head.clone(), vec![c]].concat())
            })
            .collect();
    }
    out
}

/// PTGP is the best clustering of the naive embedding rows wherever the embedding is unique and
/// k-means finds the best at all; that it is valid everywhere is a law of the conformance suite.
#[test]
fn transfer_cut_of_trajectories() {
    let (mut equal, mut tied, mut local, mut ambiguous) = (0, 0, 0, 0);
    let every: Vec<Vec<Vec<Vec<usize>>>> =
        (0..=5).map(|n| (0..=3).map(|k| clusterings(n, k)).collect()).collect();
    each_world(|e| {
        let rows = rows(e);
        let groups = groups(&rows);
        let n = groups.len();
        for k in [2, 3].into_iter().filter(|&k| k < n) {
            let fit = Ptgp::new(k).restarts(8).seed(Seed(1)).fit(e, &()).unwrap();
            let pts = Walk::new(&rows, &groups, 1, 1).pts;
            let Some(embedding) = embedding(&rows, &groups, &pts, k) else {
                ambiguous += 1;
                continue;
            };
            let found: Vec<usize> =
                groups.iter().map(|g| fit.output.label(g[0]).unwrap()).collect();
            let own = inertia(&embedding, &found);
            let objective = fit.report.objective.unwrap();
            assert!(
                (own - objective).abs() < CLOSE,
                "inertia {objective}, by definition {own} on {rows:?}"
            );
            let all: Vec<f64> = every[n][k].iter().map(|c| inertia(&embedding, c)).collect();
            let best = all.iter().copied().fold(f64::INFINITY, f64::min);
            if own > best + CLOSE {
                local += 1;
            } else if all.iter().filter(|&&i| i <= best + CLOSE).count() == 1 {
                let unique = all.iter().position(|&i| i <= best + CLOSE).unwrap();
                assert_eq!(found, every[n][k][unique], "{rows:?}");
                equal += 1;
            } else {
                tied += 1;
            }
        }
    });
    println!(
        "PTGP: {equal} equal, {tied} tied, {local} local optima, {ambiguous} without an eigengap"
    );
    assert!(equal > 0 && tied > 0);
    assert!(50 * local < equal + tied, "k-means misses the best clustering of five rows too often");
}
