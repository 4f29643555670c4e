//! Generated crowds, each unlike the others.
//!
//! 300 objects in 3, 5 or 8 classes, equal or geometric in size; workers who see all classes, who
//! know one class each, who merge classes at random, who are half of either kind, or of whom a
//! third follows another criterion; with and without 30 % who do not look; six shapes of tasks.

use consilience::crowd::{Answers, GroupAnswer};
use consilience::{Partition, Seed};

const N: usize = 300;
/// Workers, tasks of each, objects of a task.
const SHAPES: [(usize, usize, usize); 6] =
    [(100, 1, 75), (30, 1, 60), (100, 12, 8), (100, 30, 4), (100, 60, 2), (30, 8, 20)];
/// Mean share of wrong groups.
const WRONG: f64 = 0.15;

/// What workers see.
#[derive(Clone, Copy, Debug)]
pub enum Workers {
    /// All classes.
    Fine,
    /// One class each, and the others as one.
    KnowOneClass,
    /// Classes that each merges in an own way.
    MergeClasses,
    /// The same, half of them.
    HalfMerge,
    /// Another criterion, a third of them.
    TwoCriteria,
}

/// All of them.
pub const KINDS: [Workers; 5] = [
    Workers::Fine,
    Workers::KnowOneClass,
    Workers::MergeClasses,
    Workers::HalfMerge,
    Workers::TwoCriteria,
];

/// A crowd to be generated.
#[derive(Clone, Copy, Debug)]
pub struct World {
    /// What its workers see.
    pub kind: Workers,
    /// Number of classes.
    pub classes: usize,
    unequal: bool,
    blind: f64,
    shape: (usize, usize, usize),
}

/// All 360.
pub fn worlds() -> Vec<World> {
    let mut out = Vec::new();
    for kind in KINDS {
        for classes in [3, 5, 8] {
            for unequal in [false, true] {
                for blind in [0.0, 0.3] {
                    for shape in SHAPES {
                        out.push(World { kind, classes, unequal, blind, shape });
                    }
                }
            }
        }
    }
    out
}

/// The class of each object, by class.
fn classes(world: &World) -> Vec<usize> {
    let weight = |c: usize| if world.unequal { 0.6_f64.powi(c as i32) } else { 1.0 };
    let total: f64 = (0..world.classes).map(weight).sum();
    let mut truth = Vec::with_capacity(N);
    for c in 0..world.classes {
        let until = (0..=c).map(weight).sum::<f64>() / total;
        truth.resize((until * N as f64).round() as usize, c);
    }
    truth
}

impl World {
    /// Objects of a task.
    pub fn task(&self) -> usize {
        self.shape.2
    }
}

/// The answers, and the true classes.
///
/// # Errors
/// None that is known.
pub fn make(world: &World, seed: u64) -> consilience::Result<(Answers, Partition)> {
    let k = world.classes;
    let mut stream = Seed(seed).derive("grid", 0).stream();
    let truth = classes(world);
    let mut rows = Vec::new();
    let (workers, tasks, size) = world.shape;
    for worker in 0..workers {
        let blind = stream.uniform() < world.blind;
        let wrong = WRONG * (0.3 + 1.4 * stream.uniform());
        let merges = match world.kind {
            Workers::MergeClasses => Some(2 + stream.below((k - 1).min(2))),
            Workers::HalfMerge if stream.uniform() < 0.5 => Some(2 + stream.below(k - 1)),
            _ => None,
        };
        let seen: Vec<usize> = match (world.kind, merges) {
            (Workers::KnowOneClass, _) => {
                let known = stream.below(k);
                (0..k).map(|c| usize::from(c == known)).collect()
            }
            (_, Some(groups)) => (0..k).map(|_| stream.below(groups)).collect(),
            _ => (0..k).collect(),
        };
        let other = matches!(world.kind, Workers::TwoCriteria) && stream.uniform() < 0.3;
        let groups = seen.iter().max().map_or(1, |g| g + 1);
        for task in 0..tasks {
            for item in stream.sample(N, size) {
                let lost = blind || stream.uniform() < wrong;
                let group = if lost {
                    stream.below(groups)
                } else if other {
                    item * 7919 % 3
                } else {
                    seen[truth[item]]
                };
                rows.push(GroupAnswer { worker, task, item, group });
            }
        }
    }
    let truth = Partition::from_fn(N, |i| Some(truth[i] as u64))?;
    Ok((Answers::from_groupings(N, &rows)?, truth))
}
