//! Probabilistic consensus clustering (Lourenço et al. 2015): Algorithm 1 over single objects, to
//! a stationary point.

use crate::numbers::{Matrix, dot, matrix};
use crate::record::Case;
use crate::worlds::{Plan, Random, World};

/// A divergence of u and v and its derivative in v.
type Divergence = fn(f64, f64) -> (f64, f64);

/// Kullback-Leibler between (u, 1 - u) and (v, 1 - v).
fn kullback_leibler(u: f64, v: f64) -> (f64, f64) {
    let term = |u: f64, v: f64| if u > 0.0 { u * (u / v).ln() } else { 0.0 };
    let slope = |u: f64, v: f64| if u > 0.0 { u / v } else { 0.0 };
    (term(u, v) + term(1.0 - u, 1.0 - v), slope(1.0 - u, 1.0 - v) - slope(u, v))
}

/// Squared distance of (u, 1 - u) and (v, 1 - v).
fn squared(u: f64, v: f64) -> (f64, f64) {
    (2.0 * (u - v) * (u - v), 4.0 * (v - u))
}

/// c / N and N of all pairs.
struct Counts {
    share: Matrix,
    both: Matrix,
}

impl Counts {
    fn of(world: &World) -> Self {
        let n = world.objects();
        let both = matrix(n, n, |i, j| {
            world.members.iter().filter(|m| m[i].is_some() && m[j].is_some()).count() as f64
        });
        Counts { share: matrix(n, n, |i, j| world.together(i, j)), both }
    }

    fn objective(&self, d: Divergence, y: &Matrix) -> f64 {
        let mut sum = 0.0;
        for i in 0..y.len() {
            for j in (0..i).filter(|&j| self.both[i][j] > 0.0) {
                sum += self.both[i][j] * d(self.share[i][j], dot(&y[i], &y[j]).min(1.0)).0;
            }
        }
        sum
    }

    fn gradient(&self, d: Divergence, y: &Matrix, i: usize) -> Vec<f64> {
        let mut g = vec![0.0; y[i].len()];
        for j in (0..y.len()).filter(|&j| j != i && self.both[i][j] > 0.0) {
            let slope = self.both[i][j] * d(self.share[i][j], dot(&y[i], &y[j])).1;
            g.iter_mut().zip(&y[j]).for_each(|(g, y)| *g += slope * y);
        }
        g
    }
}

/// The steepest exchange of all: how steep, the object, the cluster that gains, the one that loses.
fn steepest(counts: &Counts, d: Divergence, y: &Matrix) -> (f64, usize, usize, usize) {
    let mut best = (0.0, 0, 0, 0);
    for j in 0..y.len() {
        let g = counts.gradient(d, y, j);
        for gains in 0..g.len() {
            for loses in (0..g.len()).filter(|&v| y[j][v] > 0.0) {
                if g[loses] - g[gains] > best.0 {
                    best = (g[loses] - g[gains], j, gains, loses);
                }
            }
        }
    }
    best
}

/// Algorithm 1: the steepest exchange, searched by halving, until none is steeper than tau.
fn minimise(counts: &Counts, d: Divergence, y: &mut Matrix, tau: f64) {
    loop {
        let (steep, j, gains, loses) = steepest(counts, d, y);
        if steep <= tau {
            return;
        }
        let room = y[j][loses];
        let slope = |moved: f64, y: &Matrix| {
            let mut z = y.clone();
            z[j][loses] -= moved;
            z[j][gains] += moved;
            let g = counts.gradient(d, &z, j);
            g[gains] - g[loses]
        };
        if slope(room, y) <= 0.0 {
            y[j][gains] += room;
            y[j][loses] = 0.0;
            continue;
        }
        let (mut low, mut high) = (0.0, room);
        for _ in 0..60 {
            let middle = 0.5 * (low + high);
            if slope(middle, y) <= 0.0 { low = middle } else { high = middle }
        }
        if low == 0.0 {
            return;
        }
        y[j][loses] -= low;
        y[j][gains] += low;
    }
}

fn case(name: &str, plan: Plan, seed: u64, d: Divergence) -> Case {
    let world = plan.world(seed);
    let (n, k) = (world.objects(), world.classes);
    let counts = Counts::of(&world);
    // A start with some objects misplaced, a twentieth of it uniform.
    let mut random = Random::new(seed + 1000);
    let start: Vec<usize> = world
        .truth
        .iter()
        .map(|&t| if random.uniform() < 0.1 { random.below(k) } else { t })
        .collect();
    let mut y = matrix(n, k, |i, c| 0.95 * f64::from(u8::from(start[i] == c)) + 0.05 / k as f64);
    minimise(&counts, d, &mut y, 1e-7);
    Case::new(name)
        .members("members", &world.members)
        .whole("clusters", k)
        .partition("start", &start)
        .number("objective", counts.objective(d, &y))
        .rows("memberships", &y)
}

pub(crate) fn cases() -> Vec<Case> {
    let plan = Plan { objects: 36, classes: 3, members: 6, more: 0, noise: 0.25, missing: 0.0 };
    let gaps = Plan { objects: 30, classes: 2, members: 7, more: 0, noise: 0.2, missing: 0.3 };
    vec![
        case("kl", plan, 3, kullback_leibler),
        case("kl, missing labels", gaps, 4, kullback_leibler),
        case("l2", plan, 5, squared),
        case("l2, missing labels", gaps, 6, squared),
    ]
}
