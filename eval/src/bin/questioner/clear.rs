//! Small worlds with a clear answer: what right, wrong and random answers make of them, asked a
//! few at a time or given all at once.

use consilience::model::{Answer, QuestionerOptions};
use consilience::ndarray::Array2;
use consilience::scores::adjusted_rand;
use consilience::{Partition, Result, Seed, Stream};
use rayon::prelude::*;

use crate::few::{self, Made};

const BUDGET: usize = 200;
const BATCH: usize = 4;

/// A world, the accuracies of the workers, and the answers about random pairs that are given at
/// once; with none of these the questioner asks.
struct World {
    name: &'static str,
    make: fn(Seed) -> Made,
    workers: &'static [f64],
    given: usize,
}

const RIGHT: &[f64] = &[1.0; 4];
const NEARLY: &[f64] = &[0.95; 4];
const OFTEN: &[f64] = &[0.9; 4];
const MOSTLY: &[f64] = &[0.8; 4];
const CHANCE: &[f64] = &[0.5; 4];

const fn world(
    name: &'static str,
    make: fn(Seed) -> Made,
    workers: &'static [f64],
    given: usize,
) -> World {
    World { name, make, workers, given }
}

fn far(sizes: &[usize], apart: f64, seed: Seed) -> Made {
    let mut draw = seed.derive("far", 0).stream();
    let classes: Vec<usize> =
        sizes.iter().enumerate().flat_map(|(c, &size)| vec![c; size]).collect();
    let place = |c: usize, j: usize| if j == c { apart / 2f64.sqrt() } else { 0.0 };
    let x = Array2::from_shape_fn((classes.len(), sizes.len().max(2)), |(i, j)| {
        place(classes[i], j) + draw.normal()
    });
    (x, classes)
}

fn noise(n: usize, k: usize, seed: Seed) -> Made {
    let mut draw = seed.derive("noise", 0).stream();
    (Array2::from_shape_simple_fn((n, 4), || draw.normal()), (0..n).map(|i| i % k).collect())
}

/// Blobs on a line or on the corners of a square, every so many of one class.
fn parts(n: usize, places: &[[f64; 2]], classes: usize, seed: Seed) -> Made {
    let mut draw = seed.derive("parts", 0).stream();
    let x = Array2::from_shape_fn((n, 2), |(i, j)| places[i % places.len()][j] + draw.normal());
    (x, (0..n).map(|i| i % places.len() % classes).collect())
}

const ROW: [[f64; 2]; 6] =
    [[0.0, 0.0], [8.0, 0.0], [16.0, 0.0], [24.0, 0.0], [32.0, 0.0], [40.0, 0.0]];
const SQUARE: [[f64; 2]; 4] = [[0.0, 0.0], [6.0, 0.0], [6.0, 6.0], [0.0, 6.0]];

#[rustfmt::skip]
const WORLDS: [World; 34] = [
    world("250 and 50 objects, 20 deviations apart", |s| far(&[250, 50], 20.0, s), NEARLY, 0),
    world("290 and 10, 20 apart", |s| far(&[290, 10], 20.0, s), NEARLY, 0),
    world("290 and 10, 100 apart", |s| far(&[290, 10], 100.0, s), NEARLY, 0),
    world("150 and 150, 20 apart", |s| far(&[150, 150], 20.0, s), NEARLY, 0),
    world("180, 90 and 30, 20 apart", |s| far(&[180, 90, 30], 20.0, s), NEARLY, 0),
    world("180, 90 and 30, 20 apart", |s| far(&[180, 90, 30], 20.0, s), OFTEN, 0),
    world("200 objects, 3 clusters, 14 apart", |s| few::corners(200, 3, 10.0, s), MOSTLY, 0),
    world("2,000 objects, 3 clusters, 14 apart", |s| few::corners(2_000, 3, 10.0, s), MOSTLY, 0),
    world("noise, 12 objects, 3 clusters", |s| noise(12, 3, s), RIGHT, 0),
    world("noise, 12 objects, 2 clusters", |s| noise(12, 2, s), RIGHT, 0),
    world("noise, 24 objects, 3 clusters", |s| noise(24, 3, s), RIGHT, 0),
    world("noise, 60 objects, 2 clusters", |s| noise(60, 2, s), RIGHT, 0),
    world("noise, 60 objects, 3 clusters", |s| noise(60, 3, s), OFTEN, 0),
    world("noise, 60 objects, 3 clusters", |s| noise(60, 3, s), RIGHT, 400),
    world("noise, 60 objects, 3 clusters", |s| noise(60, 3, s), OFTEN, 1_000),
    world("120 objects, 3 classes of 2 blobs in a row", |s| parts(120, &ROW, 3, s), RIGHT, 600),
    world("120 objects, 3 classes of 2 blobs in a row", |s| parts(120, &ROW, 3, s), OFTEN, 600),
    world("600 objects, 5 clusters, 4 apart", |s| few::corners(600, 5, 3.0, s), OFTEN, 0),
    world("600 objects, 5 clusters, 4 apart", |s| few::corners(600, 5, 3.0, s), MOSTLY, 0),
    world("4 classes of two clusters", few::halves, RIGHT, 0),
    world("4 classes of two clusters", few::halves, OFTEN, 0),
    world("4 classes of two clusters", few::halves, MOSTLY, 0),
    world("4 classes of two clusters", few::halves, RIGHT, 400),
    world("4 classes of two clusters", few::halves, OFTEN, 800),
    world("long clusters of unequal size", few::unequal, OFTEN, 0),
    world("600 objects, 3 classes of 2 blobs in a row", |s| parts(600, &ROW, 3, s), OFTEN, 0),
    world("300 objects, 2 x 2 blobs, diagonal classes", |s| parts(300, &SQUARE, 2, s), OFTEN, 0),
    world("150 objects, 3 clusters, 14 apart", |s| few::corners(150, 3, 10.0, s), CHANCE, 0),
    world("150 objects, 3 clusters, 14 apart", |s| few::corners(150, 3, 10.0, s), CHANCE, 400),
    world("150 objects, 3 clusters, two workers of four by chance",
        |s| few::corners(150, 3, 10.0, s), &[0.95, 0.95, 0.5, 0.5], 0),
    world("4 classes of two clusters, two of four by chance", few::halves,
        &[0.95, 0.95, 0.5, 0.5], 0),
    world("150 objects, 3 clusters, one of four says the contrary",
        |s| few::corners(150, 3, 10.0, s), &[0.95, 0.95, 0.95, 0.05], 0),
    world("150 objects, 3 clusters, 14 apart", |s| few::corners(150, 3, 10.0, s), MOSTLY, 1_000),
    world("180, 90 and 30, 20 apart", |s| far(&[180, 90, 30], 20.0, s), OFTEN, 400),
];

/// What one world says with one seed: ARI before any answer, and after all.
fn run(world: &World, seed: Seed) -> Result<(f64, f64)> {
    let (x, classes) = (world.make)(seed);
    let truth = Partition::from_labels(&classes)?;
    let budget = if world.given > 0 { world.given } else { BUDGET };
    let options = QuestionerOptions::new(truth.n_clusters()).budget(budget);
    let mut questioner = options.start(&x)?;
    let before = adjusted_rand(&questioner.partition()?, &truth)?;
    let mut draw = seed.derive("answers of a clear world", 0).stream();
    let say = |i: usize, j: usize, draw: &mut Stream| {
        let worker = draw.below(world.workers.len());
        let right = draw.uniform() < world.workers[worker];
        Answer::pair(worker, i, j, (classes[i] == classes[j]) == right)
    };
    if world.given > 0 {
        let said: Vec<_> = (0..world.given)
            .map(|_| {
                let i = draw.below(classes.len());
                let j = (i + 1 + draw.below(classes.len() - 1)) % classes.len();
                say(i, j, &mut draw)
            })
            .collect();
        questioner.answer(&said)?;
    }
    while !questioner.is_done() {
        let asked = questioner.propose(BATCH);
        let said: Vec<_> =
            asked.iter().map(|q| say(q.objects[0], q.objects[1], &mut draw)).collect();
        questioner.answer(&said)?;
    }
    Ok((before, adjusted_rand(&questioner.partition()?, &truth)?))
}

/// Mean ARI of each world over the seeds, and the lowest.
pub fn table(seeds: std::ops::Range<u64>) -> Result<String> {
    let mut text = String::from("| world | workers are right | answers | start | end (lowest) |\n");
    text += "|---|---|---|---|---|\n";
    let mut means = Vec::new();
    for world in &WORLDS {
        let runs: Vec<(f64, f64)> = seeds
            .clone()
            .into_par_iter()
            .map(|seed| run(world, Seed(seed)))
            .collect::<Result<_>>()?;
        let count = runs.len() as f64;
        let before = runs.iter().map(|r| r.0).sum::<f64>() / count;
        let after = runs.iter().map(|r| r.1).sum::<f64>() / count;
        let lowest = runs.iter().fold(f64::INFINITY, |low, r| low.min(r.1));
        let mut rates: Vec<String> = world.workers.iter().map(|a| a.to_string()).collect();
        rates.dedup();
        let answers = match world.given {
            0 => format!("{BUDGET} asked"),
            given => format!("{given} given"),
        };
        text += &format!(
            "| {} | {} | {answers} | {before:.3} | {after:.3} ({lowest:.3}) |\n",
            world.name,
            rates.join(", ")
        );
        means.push(after);
    }
    let mean = means.iter().sum::<f64>() / means.len() as f64;
    Ok(text + &format!("| mean | | | | {mean:.3} |\n"))
}
