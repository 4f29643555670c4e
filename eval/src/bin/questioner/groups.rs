//! Answers by groups, given all at once: what they make of worlds whose features tell much, little
//! or nothing, beside the crowd's own method, which knows no features.

use consilience::crowd::{Answers, CrowdClustering, GroupAnswer};
use consilience::model::{Answer, QuestionerOptions};
use consilience::ndarray::Array2;
use consilience::scores::adjusted_rand;
use consilience::{Partition, Result, Seed};
use rayon::prelude::*;

/// Round blobs of a deviation about centres drawn in four dimensions with a deviation of 3; every
/// so many blobs are one class.
struct World {
    objects: usize,
    classes: usize,
    blobs: usize,
    deviation: f64,
    tasks: usize,
    size: usize,
    /// Who take turns, and how many of a hundred of their labels are drawn at random.
    workers: &'static [u8],
}

const fn world(
    [objects, classes, blobs]: [usize; 3],
    deviation: f64,
    [tasks, size]: [usize; 2],
    workers: &'static [u8],
) -> World {
    World { objects, classes, blobs, deviation, tasks, size, workers }
}

const WORLDS: [World; 24] = [
    world([70, 4, 4], 1.0, [24, 10], &[10; 8]),
    world([70, 4, 4], 2.0, [24, 10], &[10; 8]),
    world([70, 4, 4], 3.0, [24, 10], &[10; 8]),
    world([40, 3, 3], 2.0, [10, 12], &[10; 5]),
    world([60, 3, 3], 100.0, [40, 8], &[10; 4]),
    world([100, 3, 3], 3.0, [40, 8], &[20; 20]),
    world([150, 3, 3], 3.0, [100, 6], &[20; 8]),
    world([120, 3, 3], 3.0, [120, 4], &[5; 4]),
    world([200, 5, 5], 2.0, [60, 12], &[10; 5]),
    world([200, 5, 5], 3.0, [100, 8], &[10; 20]),
    world([200, 4, 4], 2.0, [10, 10], &[10; 5]),
    world([300, 6, 6], 1.5, [40, 10], &[30; 10]),
    world([600, 4, 4], 2.0, [150, 10], &[10; 10]),
    world([120, 3, 6], 1.0, [40, 8], &[10; 5]),
    world([400, 4, 8], 1.0, [60, 8], &[20; 5]),
    world([150, 4, 4], 0.7, [40, 5], &[30; 3]),
    world([150, 3, 3], 0.7, [40, 8], &[100; 4]),
    world([100, 2, 2], 3.0, [50, 8], &[20; 8]),
    world([100, 2, 2], 3.0, [50, 8], &[30, 30, 100, 100]),
    world([240, 8, 8], 2.0, [120, 8], &[10; 8]),
    world([240, 8, 8], 1.0, [40, 12], &[40; 8]),
    world([120, 4, 4], 2.0, [80, 6], &[10, 10, 10, 10, 100, 100, 100, 100]),
    world([120, 3, 3], 0.7, [60, 10], &[10, 10, 100, 100]),
    world([100, 4, 4], 3.0, [60, 12], &[30; 12]),
];

/// What one world says with one seed: ARI before any answer and after all, and that of the crowd.
fn run(world: &World, seed: Seed) -> Result<[f64; 3]> {
    let &World { objects, classes, blobs, .. } = world;
    let mut draw = seed.derive("blobs", 0).stream();
    let centres = Array2::from_shape_simple_fn((blobs, 4), || 3.0 * draw.normal());
    let x = Array2::from_shape_fn((objects, 4), |(i, j)| {
        centres[[i % blobs, j]] + world.deviation * draw.normal()
    });
    let class = |i: usize| i % blobs % classes;
    let truth = Partition::from_labels(&(0..objects).map(class).collect::<Vec<_>>())?;
    let mut draw = seed.derive("answers by groups", 0).stream();
    let (mut said, mut rows) = (Vec::new(), Vec::new());
    for task in 0..world.tasks {
        let worker = task % world.workers.len();
        let random = f64::from(world.workers[worker]) / 100.0;
        let asked = draw.sample(objects, world.size);
        let mut label = |&i: &usize| {
            if draw.uniform() < random { draw.below(classes) } else { class(i) }
        };
        let groups: Vec<usize> = asked.iter().map(&mut label).collect();
        said.push(Answer::groups(worker, &asked, &groups));
        let row = |(&item, &group)| GroupAnswer { worker, task, item, group };
        rows.extend(asked.iter().zip(&groups).map(row));
    }
    let mut questioner = QuestionerOptions::new(classes).start(&x)?;
    let before = adjusted_rand(&questioner.partition()?, &truth)?;
    questioner.answer(&said)?;
    let after = adjusted_rand(&questioner.partition()?, &truth)?;
    let answers = Answers::from_groupings(objects, &rows)?;
    let crowd = CrowdClustering::new(classes).fit(&answers, &())?.output.partition;
    Ok([before, after, adjusted_rand(&crowd, &truth)?])
}

/// Mean ARI of each world over the seeds, and the lowest.
pub fn table(seeds: std::ops::Range<u64>) -> Result<String> {
    let mut text = "| objects, classes, blobs | deviation | tasks of objects | workers, labels at \
        random | start | end (lowest) | crowd |\n|---|---|---|---|---|---|---|\n"
        .to_string();
    let mut sum = [0.0; 3];
    for world in &WORLDS {
        let one = |seed| run(world, Seed(seed));
        let runs: Vec<[f64; 3]> = seeds.clone().into_par_iter().map(one).collect::<Result<_>>()?;
        let mean = [0, 1, 2].map(|v| runs.iter().map(|r| r[v]).sum::<f64>() / runs.len() as f64);
        let lowest = runs.iter().fold(f64::INFINITY, |low, r| low.min(r[1]));
        sum.iter_mut().zip(mean).for_each(|(s, m)| *s += m / WORLDS.len() as f64);
        let mut random: Vec<String> = world.workers.iter().map(|w| format!("{w} %")).collect();
        random.dedup();
        text += &format!(
            "| {}, {}, {} | {} | {} of {} | {}, {} | {:.3} | {:.3} ({lowest:.3}) | {:.3} |\n",
            world.objects,
            world.classes,
            world.blobs,
            world.deviation,
            world.tasks,
            world.size,
            world.workers.len(),
            random.join(" and "),
            mean[0],
            mean[1],
            mean[2],
        );
    }
    Ok(text + &format!("| mean | | | | {:.3} | {:.3} | {:.3} |\n", sum[0], sum[1], sum[2]))
}
