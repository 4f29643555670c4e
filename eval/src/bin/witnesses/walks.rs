//! Probability trajectories (Huang, Lai, Wang 2016): PTA and PTGP, Definitions 1 to 11, Eq. 10 to
//! 14, Algorithms 2 and 3.

use crate::numbers::{Matrix, best_clustering, dot, matrix};
use crate::record::Case;
use crate::trees::{Linkage, cut};
use crate::weights::transfer_cut;
use crate::worlds::{Plan, World};

/// Objects with equal labels, in order of their first (Definition 4).
fn microclusters(world: &World) -> Vec<Vec<usize>> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for i in 0..world.objects() {
        match groups.iter_mut().find(|g| world.row(g[0]) == world.row(i)) {
            Some(group) => group.push(i),
            None => groups.push(vec![i]),
        }
    }
    groups
}

/// PTS of the microclusters.
fn trajectory_similarity(world: &World, groups: &[Vec<usize>], k: usize, t: usize) -> Matrix {
    let n = groups.len();
    let w =
        matrix(n, n, |i, j| if i == j { 0.0 } else { world.together(groups[i][0], groups[j][0]) });
    // K-elite neighbours: the K heaviest links of each end, ties at the threshold included.
    let threshold = |i: usize| {
        let mut others: Vec<f64> = (0..n).filter(|&j| j != i).map(|j| w[i][j]).collect();
        others.sort_by(|a, b| b.total_cmp(a));
        others[(k - 1).min(others.len() - 1)]
    };
    let thresholds: Vec<f64> = (0..n).map(threshold).collect();
    let elite = matrix(n, n, |i, j| {
        if w[i][j] >= thresholds[i] || w[i][j] >= thresholds[j] { w[i][j] } else { 0.0 }
    });
    // Eq. 10: towards a microcluster in proportion to its objects.
    let size = |j: usize| groups[j].len() as f64;
    let out = |i: usize| (0..n).map(|l| size(l) * elite[i][l]).sum::<f64>();
    let p = matrix(n, n, |i, j| size(j) * elite[i][j] / out(i));
    // Trajectories: the rows of P, P^2, ..., P^T behind one another.
    let mut trajectories = vec![Vec::new(); n];
    let mut power = matrix(n, n, |i, j| f64::from(u8::from(i == j)));
    for _ in 0..t {
        power = matrix(n, n, |i, j| (0..n).map(|l| power[i][l] * p[l][j]).sum());
        for (trajectory, row) in trajectories.iter_mut().zip(&power) {
            trajectory.extend(row);
        }
    }
    let norm = |i: usize| dot(&trajectories[i], &trajectories[i]).sqrt();
    matrix(n, n, |i, j| dot(&trajectories[i], &trajectories[j]) / (norm(i) * norm(j)))
}

/// Labels of the objects from those of their microclusters.
fn of_objects(groups: &[Vec<usize>], labels: &[usize]) -> Vec<usize> {
    let n = groups.iter().map(Vec::len).sum();
    let own = |i: usize| groups.iter().position(|g| g.contains(&i)).unwrap_or(0);
    (0..n).map(|i| labels[own(i)]).collect()
}

fn case(name: &str, plan: Plan, steps: Option<(usize, usize)>, seed: u64) -> Option<Case> {
    let world = plan.world(seed);
    let groups = microclusters(&world);
    let own = (((groups.len() as f64).sqrt() / 2.0).floor() as usize).max(1);
    let (k, t) = steps.unwrap_or((own, own));
    let s = trajectory_similarity(&world, &groups, k, t);
    if s.iter().flatten().any(|v| *v <= 1e-6 || v.is_nan()) {
        return None; // pieces that no walk connects: how they join is ours
    }
    let average = cut(&s, Linkage::Average, plan.classes)?;
    let complete = cut(&s, Linkage::Complete, plan.classes)?;
    let single = cut(&s, Linkage::Single, plan.classes)?;
    // PTGP: the mean similarity of a microcluster to those in each cluster of the ensemble.
    let clusters = world.clusters();
    let inside = |i: usize, (u, l): (usize, usize)| world.members[u][groups[i][0]] == Some(l);
    let b = matrix(groups.len(), clusters.len(), |i, c| {
        let own: Vec<usize> = (0..groups.len()).filter(|&j| inside(j, clusters[c])).collect();
        own.iter().map(|&j| s[i][j]).sum::<f64>() / own.len() as f64
    });
    let (labels, inertia) = best_clustering(&transfer_cut(&b, plan.classes)?, plan.classes, seed)?;
    let below: Matrix = (0..groups.len().min(22)).map(|i| s[i][..i].to_vec()).collect();
    let first_rows = b[..3].to_vec();
    Some(
        Case::new(name)
            .members("members", &world.members)
            .whole("clusters", plan.classes)
            .whole("elite_neighbours", k)
            .whole("walk_length", t)
            .rows("similarity_below_diagonal", &below)
            .partition("average", &of_objects(&groups, &average.labels))
            .numbers("average_merges", &average.merges)
            .partition("complete", &of_objects(&groups, &complete.labels))
            .numbers("complete_merges", &complete.merges)
            .partition("single", &of_objects(&groups, &single.labels))
            .numbers("single_merges", &single.merges)
            .rows("bipartite_first_rows", &first_rows)
            .partition("ptgp", &of_objects(&groups, &labels))
            .number("ptgp_inertia", inertia),
    )
}

pub(crate) fn cases() -> Vec<Case> {
    let plain = Plan { objects: 60, classes: 3, members: 4, more: 2, noise: 0.15, missing: 0.0 };
    let gaps = Plan { objects: 40, classes: 2, members: 4, more: 1, noise: 0.1, missing: 0.1 };
    let many = Plan { objects: 200, classes: 4, members: 5, more: 0, noise: 0.12, missing: 0.0 };
    [
        ("default K and T", plain, None),
        ("K = 3, T = 5", plain, Some((3, 5))),
        ("K = 6, T = 12", many, Some((6, 12))),
        ("missing labels", gaps, None),
    ]
    .into_iter()
    .map(|(name, plan, steps)| {
        (1..).find_map(|seed| case(name, plan, steps, seed)).expect("some seed without ties")
    })
    .collect()
}
