//! Weights of members that follow links: the exact rule (SCSC, Yi et al. 2015, Eq. 8), its additive
//! relaxation (Eq. 11) and the multiplicative one (CCCS, Yi 2014, Eq. 6.12).

use crate::numbers::{Matrix, matrix};
use crate::record::Case;
use crate::worlds::{Plan, Random, World};

/// Algorithm 1: the nearest point of the simplex.
fn onto_simplex(v: &[f64]) -> Vec<f64> {
    let mut w = v.to_vec();
    w.sort_by(|a, b| b.total_cmp(a));
    let over = |j: usize| (w[..j].iter().sum::<f64>() - 1.0) / j as f64;
    let k = (1..=w.len()).filter(|&j| w[j - 1] - over(j) > 0.0).max().unwrap_or(1);
    v.iter().map(|x| (x - over(k)).max(0.0)).collect()
}

/// P_k of each member: its clusters renamed so that they overlap most with those of the first.
fn aligned(world: &World) -> Vec<Matrix> {
    let (n, r) = (world.objects(), world.classes);
    let mut names: Vec<Vec<usize>> = vec![vec![]];
    for _ in 0..r {
        let longer = |p: &Vec<usize>| {
            let free = (0..r).filter(|c| !p.contains(c));
            free.map(|c| [p.clone(), vec![c]].concat()).collect::<Vec<_>>()
        };
        names = names.iter().flat_map(longer).collect();
    }
    let own = |m: &Vec<Option<usize>>, i: usize| m[i].unwrap_or(0);
    let align = |m: &Vec<Option<usize>>| {
        let agree =
            |p: &Vec<usize>| (0..n).filter(|&i| p[own(m, i)] == own(&world.members[0], i)).count();
        let best = names.iter().max_by_key(|p| agree(p)).cloned().unwrap_or_default();
        matrix(n, r, |i, c| f64::from(u8::from(best[own(m, i)] == c)))
    };
    world.members.iter().map(align).collect()
}

/// Links as (i, j, 1 for a must-link and 0 for a cannot-link).
type Links = [(usize, usize, f64)];

/// The difference of the rows of a must-link, the sum of those of a cannot-link.
fn joined(p: &Matrix, &(i, j, must): &(usize, usize, f64)) -> Vec<f64> {
    let sign = if must > 0.0 { -1.0 } else { 1.0 };
    p[i].iter().zip(&p[j]).map(|(a, b)| a + sign * b).collect()
}

/// The sum over members, weighted.
fn mixed(p: &[Matrix], gamma: &[f64], link: &(usize, usize, f64)) -> Vec<f64> {
    let mut sum = vec![0.0; p[0][0].len()];
    for (p, g) in p.iter().zip(gamma) {
        sum.iter_mut().zip(joined(p, link)).for_each(|(s, x)| *s += g * x);
    }
    sum
}

/// Eq. 8 with lambda the number of links.
fn objective(p: &[Matrix], links: &Links, before: &[f64], gamma: &[f64]) -> f64 {
    let lambda = links.len() as f64;
    let pull: f64 = gamma.iter().zip(before).map(|(g, b)| (g - b) * (g - b)).sum();
    let loss = |l: &(usize, usize, f64)| mixed(p, gamma, l).iter().map(|x| x * x).sum::<f64>();
    lambda * pull + links.iter().map(loss).sum::<f64>()
}

/// Its minimum over the simplex, by projected gradient steps (Eq. 9, 10).
fn exact(p: &[Matrix], links: &Links, before: &[f64]) -> Vec<f64> {
    let lambda = links.len() as f64;
    // |P_k(i) +- P_k(j)|^2 is at most 4.
    let step = 0.5 / (lambda + 4.0 * p.len() as f64 * lambda);
    let mut gamma = before.to_vec();
    for _ in 0..200_000 {
        let mut g: Vec<f64> =
            gamma.iter().zip(before).map(|(g, b)| 2.0 * lambda * (g - b)).collect();
        for link in links {
            let sum = mixed(p, &gamma, link);
            for (g, p) in g.iter_mut().zip(p) {
                *g += 2.0 * joined(p, link).iter().zip(&sum).map(|(a, b)| a * b).sum::<f64>();
            }
        }
        let next: Vec<f64> = gamma.iter().zip(&g).map(|(x, g)| x - step * g).collect();
        let next = onto_simplex(&next);
        let moved = gamma.iter().zip(&next).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        gamma = next;
        if moved < 1e-15 {
            break;
        }
    }
    gamma
}

/// How many links each member puts wrong.
fn errors(p: &[Matrix], links: &Links) -> Vec<f64> {
    let wrong = |p: &Matrix, &(i, j, must): &(usize, usize, f64)| (p[i] == p[j]) != (must > 0.0);
    p.iter().map(|p| links.iter().filter(|l| wrong(p, l)).count() as f64).collect()
}

/// Eq. 11, iterated: every step forgets a part of the weights and goes back to those before.
fn additive(p: &[Matrix], links: &Links, before: &[f64], c: f64) -> Vec<f64> {
    let (lambda, e) = (links.len() as f64, errors(p, links));
    let eta = 0.1 / lambda;
    let mut gamma = before.to_vec();
    for _ in 0..2000 {
        let next = |u: usize| {
            (1.0 - 2.0 * lambda * eta) * gamma[u] + 2.0 * lambda * eta * before[u] - c * eta * e[u]
        };
        gamma = onto_simplex(&(0..gamma.len()).map(next).collect::<Vec<_>>());
    }
    gamma
}

/// Eq. 6.12: one step from the weights now, held back by those of one batch before.
fn multiplicative(p: &[Matrix], links: &Links, now: &[f64], before: &[f64], eta: f64) -> Vec<f64> {
    let (lambda, e) = (links.len() as f64, errors(p, links));
    let next = |u: usize| {
        (1.0 - 2.0 * lambda * eta) * now[u] + 2.0 * lambda * eta * before[u] - eta * now[u] * e[u]
    };
    onto_simplex(&(0..now.len()).map(next).collect::<Vec<_>>())
}

fn draw(
    world: &World,
    count: usize,
    known: &Links,
    random: &mut Random,
) -> Vec<(usize, usize, f64)> {
    let mut links: Vec<(usize, usize, f64)> = Vec::new();
    while links.len() < count {
        let (i, j) = (random.below(world.objects()), random.below(world.objects()));
        let new = !known.iter().chain(&links).any(|l| (l.0, l.1) == (i, j));
        if i < j && new {
            links.push((i, j, f64::from(u8::from(world.truth[i] == world.truth[j]))));
        }
    }
    links
}

fn case(name: &str, plan: Plan, counts: [usize; 2], seed: u64) -> Case {
    let (world, mut random) = (plan.world(seed), Random::new(seed + 1));
    let p = aligned(&world);
    let even = vec![1.0 / p.len() as f64; p.len()];
    let first = draw(&world, counts[0], &[], &mut random);
    let second = draw(&world, counts[1], &first, &mut random);
    let one = exact(&p, &first, &even);
    let two = exact(&p, &second, &one);
    let (c, eta) = (0.4, 0.2 / second.len() as f64);
    let relaxed = additive(&p, &first, &even, c);
    let early = multiplicative(&p, &first, &even, &even, 0.2 / first.len() as f64);
    let late = multiplicative(&p, &second, &early, &even, eta);
    // Eq. 2: memberships under the weights after both batches.
    let f = matrix(world.objects(), world.classes, |i, j| {
        two.iter().zip(&p).map(|(g, p)| g * p[i][j]).sum()
    });
    let top = |row: &Vec<f64>| (0..row.len()).max_by(|&a, &b| row[a].total_cmp(&row[b]));
    let labels: Vec<usize> = f.iter().map(|r| top(r).unwrap_or(0)).collect();
    Case::new(name)
        .members("members", &world.members)
        .whole("clusters", world.classes)
        .pairs("first_links", &first)
        .pairs("second_links", &second)
        .numbers("exact_first", &one)
        .number("exact_first_objective", objective(&p, &first, &even, &one))
        .numbers("exact_second", &two)
        .number("exact_second_objective", objective(&p, &second, &one, &two))
        .partition("exact_partition", &crate::numbers::numbered(&labels))
        .number("additive_c", c)
        .numbers("additive_first", &relaxed)
        .number("multiplicative_step", 0.2)
        .numbers("multiplicative_first", &early)
        .numbers("multiplicative_second", &late)
}

pub(crate) fn cases() -> Vec<Case> {
    let three = Plan { objects: 60, classes: 3, members: 6, more: 0, noise: 0.25, missing: 0.0 };
    let four = Plan { objects: 150, classes: 4, members: 12, more: 0, noise: 0.3, missing: 0.0 };
    vec![
        case("three classes", three, [25, 15], 1),
        case("four classes", four, [60, 40], 2),
        case("few links", three, [4, 3], 3),
    ]
}
