//! Few clusters and few answers: what wrong answers do where distances tell all, and where they
//! tell only parts of the classes.

use consilience::model::QuestionerOptions;
use consilience::ndarray::Array2;
use consilience::scores::adjusted_rand;
use consilience::{Partition, Result, Seed};

use crate::answerers::Answerers;

const ACCURACIES: [f64; 4] = [1.0, 0.95, 0.9, 0.8];
const BUDGET: usize = 200;
const BATCH: usize = 4;

pub type Made = (Array2<f64>, Vec<usize>);

type World = (&'static str, fn(Seed) -> Made);

const WORLDS: [World; 5] = [
    ("200 objects, 3 clusters, 14 deviations apart", |seed| corners(200, 3, 10.0, seed)),
    ("2,000 objects, 3 clusters, 14 deviations apart", |seed| corners(2_000, 3, 10.0, seed)),
    ("600 objects, 5 clusters, 4 deviations apart", |seed| corners(600, 5, 3.0, seed)),
    ("600 objects, 4 classes of two clusters each", halves),
    ("800 objects, 6 long clusters of 1/2 to 1/32 of them", unequal),
];

/// Round clusters of equal size, each at a distance from 0 along an axis of its own.
pub fn corners(n: usize, k: usize, far: f64, seed: Seed) -> Made {
    let mut draw = seed.derive("corners", 0).stream();
    let place = |i: usize, j: usize| if j == i % k { far } else { 0.0 };
    let x = Array2::from_shape_fn((n, k), |(i, j)| place(i, j) + draw.normal());
    (x, (0..n).map(|i| i % k).collect())
}

pub fn halves(seed: Seed) -> Made {
    let mut draw = seed.derive("halves", 0).stream();
    let centres = Array2::from_shape_simple_fn((8, 4), || 4.0 * draw.normal());
    let x = Array2::from_shape_fn((600, 4), |(i, j)| centres[[i % 8, j]] + draw.normal());
    (x, (0..600).map(|i| i % 8 % 4).collect())
}

pub fn unequal(seed: Seed) -> Made {
    let mut draw = seed.derive("unequal", 0).stream();
    let class = |u: f64| (0..5).find(|&c| u < 1.0 - 0.5f64.powi(c + 1)).unwrap_or(5) as usize;
    let of: Vec<usize> = (0..800).map(|_| class(draw.uniform())).collect();
    let centres = Array2::from_shape_simple_fn((6, 6), || 3.0 * draw.normal());
    let x = Array2::from_shape_fn((800, 6), |(i, j)| {
        let deviation = if (of[i] + j).is_multiple_of(6) { 4.0 } else { 1.0 };
        centres[[of[i], j]] + deviation * draw.normal()
    });
    (x, of)
}

/// ARI before any answer and after all, means over the seeds.
pub fn table(seeds: u64) -> Result<String> {
    let mut text = "| world | 0 answers |".to_string();
    ACCURACIES.iter().for_each(|a| text += &format!(" accuracy {a} |"));
    text += "\n|---|---|";
    ACCURACIES.iter().for_each(|_| text += "---|");
    for (name, make) in WORLDS {
        let (mut before, mut after) = (0.0, [0.0; ACCURACIES.len()]);
        for seed in (0..seeds).map(Seed) {
            let (x, classes) = make(seed);
            let truth = Partition::from_labels(&classes)?;
            let options = QuestionerOptions::new(truth.n_clusters()).budget(BUDGET);
            let start = options.start(&x)?;
            before += adjusted_rand(&start.partition()?, &truth)? / seeds as f64;
            for (sum, accuracy) in after.iter_mut().zip(ACCURACIES) {
                let mut answerers = Answerers::new(&truth, accuracy, seed);
                let mut questioner = start.clone();
                while !questioner.is_done() {
                    let asked = questioner.propose(BATCH);
                    let said: Vec<_> = asked.iter().map(|q| answerers.answer(q)).collect();
                    questioner.answer(&said)?;
                }
                *sum += adjusted_rand(&questioner.partition()?, &truth)? / seeds as f64;
            }
        }
        let cells: Vec<String> = after.iter().map(|v| format!(" {v:.3} |")).collect();
        text += &format!("\n| {name} | {before:.3} |{}", cells.concat());
    }
    Ok(text + "\n")
}
