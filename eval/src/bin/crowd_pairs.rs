//! Crowd methods where people answer about single pairs and clusters are many: ARI of each, with
//! the number of clusters given and not.
//!
//! `cargo run --release --bin crowd_pairs [SEEDS [FIRST]]`: so many draws of each world, from the
//! given one on. The planted partition model was tried on draws 0 to 2.

use std::time::Instant;

use consilience::crowd::{Answers, CrowdClustering, CrowdMethod, PairAnswer};
use consilience::scores::adjusted_rand;
use consilience::{Clusters, Partition, Seed};

const METHODS: [CrowdMethod; 6] = [
    CrowdMethod::Spectral,
    CrowdMethod::Pairs,
    CrowdMethod::Bayesian,
    CrowdMethod::Block,
    CrowdMethod::PlantedPartition,
    CrowdMethod::Auto,
];

/// Clusters of equal or falling sizes, objects in the largest, pairs drawn at random that workers
/// answer, and the share of these that is wrong; of two workers in three where they differ.
#[derive(Clone, Copy, Debug)]
struct World {
    clusters: usize,
    size: usize,
    falling: bool,
    answers: usize,
    wrong: f64,
    differ: bool,
}

/// Clusters, objects in each, answers, and the share that is wrong.
const SHAPES: [(usize, usize, usize, f64); 12] = [
    (1, 40, 1_000, 0.2),
    (3, 30, 1_500, 0.2),
    (5, 20, 3_000, 0.2),
    (10, 3, 500, 0.05),
    (10, 5, 1_500, 0.1),
    (10, 20, 6_000, 0.1),
    (20, 3, 2_000, 0.02),
    (20, 3, 4_000, 0.05),
    (20, 10, 8_000, 0.05),
    (30, 4, 8_000, 0.05),
    (40, 2, 6_000, 0.01),
    (50, 6, 30_000, 0.02),
];

impl World {
    fn all() -> Vec<World> {
        let of = |&(clusters, size, answers, wrong): &(usize, usize, usize, f64)| {
            let plain = World { clusters, size, falling: false, answers, wrong, differ: false };
            [plain, World { falling: true, ..plain }, World { differ: true, ..plain }]
        };
        SHAPES.iter().flat_map(of).collect()
    }

    fn make(self, seed: u64) -> consilience::Result<(Answers, Partition)> {
        let size =
            |c: usize| if self.falling { (self.size * 2 / (1 + c % 4)).max(1) } else { self.size };
        let classes: Vec<usize> = (0..self.clusters).flat_map(|c| vec![c; size(c)]).collect();
        let n = classes.len();
        let mut stream = Seed(seed).derive("crowd pairs", self.answers as u64).stream();
        let row = |_| {
            let (i, worker) = (stream.below(n), stream.below(6));
            let j = (i + 1 + stream.below(n - 1)) % n;
            // Two of six err three times as often, the others less.
            let share = match (self.differ, worker) {
                (false, _) => self.wrong,
                (true, 0 | 1) => (3.0 * self.wrong).min(0.5),
                (true, _) => 0.3 * self.wrong,
            };
            let same = (classes[i] == classes[j]) != (stream.uniform() < share);
            PairAnswer { worker, i, j, same }
        };
        let rows: Vec<PairAnswer> = (0..self.answers).map(row).collect();
        Ok((Answers::from_pairs(n, &rows)?, Partition::from_labels(&classes)?))
    }
}

fn main() -> consilience::Result<()> {
    let numbers: Vec<u64> =
        std::env::args().skip(1).filter_map(|argument| argument.parse().ok()).collect();
    let draws = numbers.first().copied().unwrap_or(3);
    let first = numbers.get(1).copied().unwrap_or(0);
    let worlds = World::all();
    let mut means = vec![0.0; 2 * METHODS.len()];
    let mut seconds = vec![0.0; 2 * METHODS.len()];
    for &world in &worlds {
        let mut own = vec![0.0; 2 * METHODS.len()];
        let mut numbers = vec![0; METHODS.len()];
        for draw in first..first + draws {
            let (answers, truth) = world.make(draw)?;
            for (m, &method) in METHODS.iter().enumerate() {
                for (at, clusters) in
                    [Clusters::Fixed(world.clusters), Clusters::Auto].into_iter().enumerate()
                {
                    let crowd = CrowdClustering::new(clusters).method(method).alternative(false);
                    let start = Instant::now();
                    let found = crowd.cluster(&answers)?;
                    seconds[2 * m + at] += start.elapsed().as_secs_f64();
                    own[2 * m + at] += adjusted_rand(&found, &truth)? / draws as f64;
                    numbers[m] += at * found.n_clusters();
                }
            }
        }
        let cells: Vec<String> = own.iter().map(|x| format!("{x:.2}")).collect();
        let numbers: Vec<String> =
            numbers.iter().map(|&k| format!("{:.0}", k as f64 / draws as f64)).collect();
        println!("| {world:?} | {} | {} |", cells.join(" | "), numbers.join(", "));
        means.iter_mut().zip(&own).for_each(|(m, x)| *m += x / worlds.len() as f64);
    }
    let names: Vec<String> =
        METHODS.iter().flat_map(|m| [m.name().to_string(), "number not given".into()]).collect();
    println!("| | {} |", names.join(" | "));
    let line = |values: &[f64], digits: usize| -> String {
        values.iter().map(|x| format!("{x:.digits$}")).collect::<Vec<_>>().join(" | ")
    };
    println!("| mean ARI | {} |", line(&means, 3));
    println!("| seconds in all | {} |", line(&seconds, 1));
    Ok(())
}
