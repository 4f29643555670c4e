//! Weighted members and weighted clusters: WEAC and GP-MGLA (Huang, Lai, Wang 2015), LWEA and LWGP
//! (Huang, Wang, Lai 2018). Matrices are n x n over single objects.

use crate::numbers::{
    Matrix, best_clustering, eigen, lloyd, matrix, product, squared_distance, transposed, unit_rows,
};
use crate::record::Case;
use crate::trees::{Linkage, cut};
use crate::worlds::{Plan, World};

/// The rows to cluster of a bipartite graph (rows to columns), by the transfer cut (Li, Wu, Chang
/// 2012): `W_y = B' D_x^-1 B`, the leading eigenvectors v of `D_y^-1/2 W_y D_y^-1/2`, then rows of
/// `D_x^-1 B D_y^-1/2 v` of length 1. None without a gap after the k-th eigenvalue.
pub(crate) fn transfer_cut(b: &Matrix, k: usize) -> Option<Matrix> {
    let (n, c) = (b.len(), b[0].len());
    let dx: Vec<f64> = b.iter().map(|r| r.iter().sum()).collect();
    let scaled = matrix(n, c, |i, j| b[i][j] / dx[i]);
    let w = product(&transposed(b), &scaled);
    let dy: Vec<f64> = w.iter().map(|r| r.iter().sum()).collect();
    let (values, v) = eigen(&matrix(c, c, |i, j| w[i][j] / (dy[i] * dy[j]).sqrt()));
    if values[k - 1] - values[k] < 0.05 {
        return None;
    }
    let f = matrix(c, k, |i, j| v[i][j] / dy[i].sqrt());
    Some(unit_rows(&product(&scaled, &f)))
}

fn entropy(shares: impl Iterator<Item = f64>) -> f64 {
    shares.filter(|p| *p > 0.0).map(|p| -p * p.log2()).sum()
}

/// Mutual information over the larger entropy.
fn nmi(a: &[Option<usize>], b: &[Option<usize>]) -> f64 {
    let n = a.len() as f64;
    let share = |f: &dyn Fn(usize) -> bool| (0..a.len()).filter(|&i| f(i)).count() as f64 / n;
    let kinds = |x: &[Option<usize>]| x.iter().flatten().max().map_or(0, |m| m + 1);
    let (p, q) = (kinds(a), kinds(b));
    let ha = entropy((0..p).map(|l| share(&|i| a[i] == Some(l))));
    let hb = entropy((0..q).map(|l| share(&|i| b[i] == Some(l))));
    let cells = (0..p).flat_map(|l| (0..q).map(move |m| (l, m)));
    let joint = entropy(cells.map(|(l, m)| share(&|i| a[i] == Some(l) && b[i] == Some(m))));
    (ha + hb - joint) / ha.max(hb)
}

/// Crowd agreement of every member over the largest.
fn crowd_agreement(world: &World) -> Vec<f64> {
    let m = &world.members;
    let mean = |u: usize| {
        let others = (0..m.len()).filter(|&v| v != u);
        others.map(|v| nmi(&m[u], &m[v])).sum::<f64>() / (m.len() - 1) as f64
    };
    let agreement: Vec<f64> = (0..m.len()).map(mean).collect();
    let best = agreement.iter().fold(0.0f64, |a, &b| a.max(b));
    agreement.iter().map(|a| a / best).collect()
}

/// Ensemble-driven cluster index of every cluster, theta = 0.4.
fn cluster_index(world: &World) -> Vec<f64> {
    let index = |cluster: &(usize, usize)| {
        let objects = world.inside(*cluster);
        let of_member = |m: &Vec<Option<usize>>| {
            let largest = m.iter().flatten().max().map_or(0, |l| l + 1);
            let count = |l: usize| objects.iter().filter(|&&i| m[i] == Some(l)).count() as f64;
            entropy((0..largest).map(|l| count(l) / objects.len() as f64))
        };
        let h: f64 = world.members.iter().map(of_member).sum();
        (-h / (0.4 * world.members.len() as f64)).exp()
    };
    world.clusters().iter().map(index).collect()
}

/// For each object and cluster whether the cluster holds it.
fn incidence(world: &World) -> Matrix {
    let clusters = world.clusters();
    matrix(world.objects(), clusters.len(), |i, c| {
        f64::from(u8::from(world.members[clusters[c].0][i] == Some(clusters[c].1)))
    })
}

/// GP-MGLA: the rows of the objects in the cut of `[alpha B0 diag(w); SACT]`.
fn multi_granularity(world: &World, member_weights: &[f64]) -> Option<Matrix> {
    let (clusters, b0) = (world.clusters(), incidence(world));
    let (n, c) = (world.objects(), clusters.len());
    let w: Vec<f64> = clusters.iter().map(|(u, _)| member_weights[*u]).collect();
    let jaccard = matrix(c, c, |s, t| {
        let both = (0..n).filter(|&i| b0[i][s] > 0.0 && b0[i][t] > 0.0).count();
        let any = (0..n).filter(|&i| b0[i][s] > 0.0 || b0[i][t] > 0.0).count();
        both as f64 / any as f64
    });
    let triples =
        matrix(c, c, |s, t| (0..c).map(|l| w[l] * jaccard[s][l].min(jaccard[t][l])).sum());
    let largest = triples.iter().flatten().fold(0.0f64, |m, &x| m.max(x));
    let sact = matrix(c, c, |s, t| if s == t { 1.0 } else { triples[s][t] / largest });
    let b = matrix(n + c, c, |i, t| if i < n { 0.5 * b0[i][t] * w[t] } else { sact[i - n][t] });
    let rows = transfer_cut(&b, world.classes)?;
    Some(rows[..n].to_vec())
}

/// k-means from the first row and always the farthest from those taken, as published.
fn from_farthest(rows: &Matrix, k: usize) -> Vec<usize> {
    let mut centres = vec![rows[0].clone()];
    while centres.len() < k {
        let near = |r: &Vec<f64>| {
            centres.iter().map(|c| squared_distance(r, c)).fold(f64::INFINITY, f64::min)
        };
        let d: Vec<f64> = rows.iter().map(near).collect();
        let far = (0..d.len()).fold(0, |best, i| if d[i] > d[best] { i } else { best });
        centres.push(rows[far].clone());
    }
    lloyd(rows, centres).0
}

fn case(name: &str, plan: Plan, seed: u64) -> Option<Case> {
    let (world, k) = (plan.world(seed), plan.classes);
    let n = world.objects();
    let agreement = crowd_agreement(&world);
    let squares: Vec<f64> = agreement.iter().map(|a| a * a).collect();
    let all: f64 = squares.iter().sum();
    let weac = matrix(n, n, |i, j| {
        let same = world.members.iter().zip(&squares).filter(|(m, _)| m[i] == m[j]);
        same.map(|(_, w)| w).sum::<f64>() / all
    });
    let (index, b0) = (cluster_index(&world), incidence(&world));
    let locally = matrix(n, n, |i, j| {
        let both = (0..index.len()).map(|c| b0[i][c] * b0[j][c] * index[c]);
        both.sum::<f64>() / world.members.len() as f64
    });
    let weac_cut = cut(&weac, Linkage::Average, k)?;
    let lwea_cut = cut(&locally, Linkage::Average, k)?;
    let weighted = matrix(n, index.len(), |i, c| b0[i][c] * index[c]);
    let (lwgp, inertia) = best_clustering(&transfer_cut(&weighted, k)?, k, seed)?;
    let mgla = multi_granularity(&world, &squares)?;
    best_clustering(&mgla, k, seed)?; // clear to any k-means, not only from these starts
    let first = |s: &Matrix| s[..3].to_vec();
    Some(
        Case::new(name)
            .members("members", &world.members)
            .whole("clusters", k)
            .numbers("crowd_agreement", &agreement)
            .rows("weac_first_rows", &first(&weac))
            .partition("weac", &weac_cut.labels)
            .numbers("weac_merges", &weac_cut.merges)
            .partition("gp_mgla", &from_farthest(&mgla, k))
            .numbers("cluster_index", &index)
            .rows("locally_weighted_first_rows", &first(&locally))
            .partition("lwea", &lwea_cut.labels)
            .numbers("lwea_merges", &lwea_cut.merges)
            .partition("lwgp", &lwgp)
            .number("lwgp_inertia", inertia),
    )
}

pub(crate) fn cases() -> Vec<Case> {
    let small = Plan { objects: 45, classes: 3, members: 5, more: 2, noise: 0.2, missing: 0.0 };
    let larger = Plan { objects: 120, classes: 4, members: 8, more: 3, noise: 0.25, missing: 0.0 };
    let two = Plan { objects: 60, classes: 2, members: 7, more: 3, noise: 0.15, missing: 0.0 };
    [("three classes", small), ("four classes", larger), ("two classes", two)]
        .into_iter()
        .map(|(name, plan)| {
            (1..).find_map(|seed| case(name, plan, seed)).expect("some seed without ties")
        })
        .collect()
}
