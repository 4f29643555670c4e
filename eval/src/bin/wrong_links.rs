//! What is left of a consensus where some links say the opposite: `wrong_links FROM TO` prints the
//! mean adjusted Rand index of an updater over drawn worlds of these seeds.
//!
//! Links are between random objects and come in batches of 100. Those that contradict the ones
//! before them are left out, or kept as disputed.

use std::collections::BTreeSet;

use consilience::follow::{LinkTrust, MetricRule, Updater, UpdaterSetup};
use consilience::generate::{Generator, KMeans};
use consilience::scores::adjusted_rand;
use consilience::{Ensemble, Link, Pair, Partition, Result, Seed};
use ndarray::Array2;

const WORLDS: [&str; 6] =
    ["blobs", "unequal blobs", "two blobs each", "noise", "two ways", "votes"];
const COUNTS: [usize; 4] = [50, 100, 300, 600];
const WRONG: [f64; 4] = [0.0, 0.1, 0.2, 0.3];
/// Must-links hold and contradictions are left out; links are weighed; disputed ones too.
const WAYS: [(LinkTrust, bool); 3] =
    [(LinkTrust::Hold, false), (LinkTrust::Weigh, false), (LinkTrust::Weigh, true)];

struct World {
    ensemble: Ensemble,
    truth: Vec<usize>,
    clusters: usize,
}

/// Gaussians of these sizes in d dimensions.
fn gaussians(sizes: &[usize], d: usize, far: f64, seed: Seed) -> (Array2<f64>, Vec<usize>) {
    let mut draw = seed.stream();
    let of = |(class, &size): (usize, &usize)| vec![class; size];
    let truth = sizes.iter().enumerate().flat_map(of).collect::<Vec<usize>>();
    let centres = Array2::from_shape_simple_fn((sizes.len(), d), || far * draw.normal());
    let x =
        Array2::from_shape_fn((truth.len(), d), |(i, j)| centres[[truth[i], j]] + draw.normal());
    (x, truth)
}

/// Thirty members by k-means on halves of the features, of k to 2k clusters.
fn by_means(x: &Array2<f64>, truth: Vec<usize>, clusters: usize, seed: Seed) -> Result<World> {
    let generator = Generator::new(KMeans::new()).members(30).clusters(clusters..=2 * clusters);
    let ensemble = generator.feature_fraction(0.5).seed(seed).generate(x)?;
    Ok(World { ensemble, truth, clusters })
}

/// Members that each give a share of the objects a random label.
fn by_votes(bases: &[&[usize]], wrong: f64, clusters: usize, seed: Seed) -> Result<Ensemble> {
    let mut draw = seed.derive("votes", 0).stream();
    let mut member = |base: &&[usize]| {
        let mut label = |&class: &usize| {
            let own = draw.uniform() >= wrong;
            (if own { class } else { draw.below(clusters) }) as u64
        };
        Partition::from_labels(&base.iter().map(&mut label).collect::<Vec<u64>>())
    };
    Ensemble::new(bases.iter().map(&mut member).collect::<Result<_>>()?)
}

fn world(name: &str, seed: Seed) -> Result<World> {
    let shuffled = |n: usize| {
        let mut order: Vec<usize> = (0..n).collect();
        seed.derive("order", 0).stream().shuffle(&mut order);
        order
    };
    match name {
        "blobs" => {
            let (x, truth) = gaussians(&[50; 4], 6, 1.6, seed);
            by_means(&x, truth, 4, seed)
        }
        "unequal blobs" => {
            let (x, truth) = gaussians(&[100, 35, 15], 6, 1.6, seed);
            by_means(&x, truth, 3, seed)
        }
        "two blobs each" => {
            let (x, blobs) = gaussians(&[40; 6], 6, 2.5, seed);
            by_means(&x, blobs.into_iter().map(|blob| blob % 3).collect(), 3, seed)
        }
        "noise" => {
            let (x, truth) = gaussians(&[67, 67, 66], 2, 2.0, seed);
            let (other, order) =
                (gaussians(&[67, 67, 66], 6, 2.0, seed.derive("other", 0)).0, shuffled(200));
            let both = Array2::from_shape_fn((200, 8), |(i, j)| match j {
                0 | 1 => x[[i, j]],
                j => other[[order[i], j - 2]],
            });
            by_means(&both, truth, 3, seed)
        }
        "two ways" => {
            let truth: Vec<usize> = (0..240).map(|i| i % 3).collect();
            let other: Vec<usize> = shuffled(240).into_iter().map(|i| i % 3).collect();
            let bases = [vec![&other[..]; 13], vec![&truth[..]; 7]].concat();
            Ok(World { ensemble: by_votes(&bases, 0.15, 3, seed)?, truth, clusters: 3 })
        }
        _ => {
            let truth: Vec<usize> = (0..200).map(|i| i % 4).collect();
            let ensemble = by_votes(&[&truth[..]; 12], 0.4, 4, seed)?;
            Ok(World { ensemble, truth, clusters: 4 })
        }
    }
}

/// So many different pairs of random objects, of which this share says the opposite.
fn links(truth: &[usize], count: usize, wrong: f64, seed: Seed) -> Vec<Pair> {
    let (mut draw, mut seen) = (seed.derive("links", count as u64).stream(), BTreeSet::new());
    let mut links = Vec::new();
    while links.len() < count {
        let (a, b) = (draw.below(truth.len()), draw.below(truth.len()));
        let (i, j) = (a.min(b), a.max(b));
        if i != j && seen.insert((i, j)) {
            let right = draw.uniform() >= wrong;
            let same = truth[i] == truth[j];
            links.push(Pair::new(i, j, if same == right { Link::Must } else { Link::Cannot }));
        }
    }
    links
}

fn score(world: &World, links: &[Pair], (trust, disputes): (LinkTrust, bool)) -> Result<f64> {
    let rule = MetricRule::new(world.clusters).links(trust);
    let setup = UpdaterSetup::new(world.clusters).metric_rule(rule);
    let mut updater: Updater = setup.updater(world.ensemble.clone())?;
    for batch in links.chunks(100) {
        if disputes {
            updater.update_disputed(batch, &())?;
            continue;
        }
        let mut known = updater.constraints().clone();
        let agrees = |l: &&Pair| known.add(l.i, l.j, l.link).is_ok();
        let batch: Vec<Pair> = batch.iter().filter(agrees).copied().collect();
        updater.update(&batch)?;
    }
    adjusted_rand(&updater.partition()?, &Partition::from_labels(&world.truth)?)
}

fn main() -> Result<()> {
    let seeds: Vec<u64> = std::env::args().skip(1).filter_map(|arg| arg.parse().ok()).collect();
    let [from, to] = seeds[..] else { panic!("expected FROM TO, two seeds") };
    let head: Vec<String> = WRONG.map(|wrong| format!("{:.0} % wrong", 100.0 * wrong)).to_vec();
    println!("| world | none | links | {} |", head.join(" | "));
    println!("|---|---|---|{}", "---|".repeat(WRONG.len()));
    for name in WORLDS {
        let worlds = (from..to).map(|seed| world(name, Seed(seed)));
        let worlds: Vec<World> = worlds.collect::<Result<_>>()?;
        let mean = |count: usize, wrong: f64, way| -> Result<f64> {
            let one = |(seed, world): (u64, &World)| {
                score(world, &links(&world.truth, count, wrong, Seed(seed)), way)
            };
            let sum: f64 = (from..).zip(&worlds).map(one).sum::<Result<f64>>()?;
            Ok(sum / worlds.len() as f64)
        };
        let none = mean(0, 0.0, WAYS[1])?;
        for count in COUNTS {
            let cell = |wrong: f64| -> Result<String> {
                let ways = WAYS.map(|way| mean(count, wrong, way));
                let scores: Vec<f64> = ways.into_iter().collect::<Result<_>>()?;
                Ok(scores.iter().map(|s| format!("{s:.3}")).collect::<Vec<_>>().join(" / "))
            };
            let cells: Vec<String> = WRONG.iter().map(|&w| cell(w)).collect::<Result<_>>()?;
            println!("| {name} | {none:.3} | {count} | {} |", cells.join(" | "));
        }
    }
    Ok(())
}
