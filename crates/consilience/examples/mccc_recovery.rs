//! How many constraints on random pairs MCCC needs to recover five equal clusters perfectly, as the objects grow in
//! number (Section 5.4.2 of the thesis): features are U G, with U the memberships and G (5 x 15) Gaussian, and the
//! same with noise of standard deviation 0.3 added.
//!
//! `cargo run --release --example mccc_recovery -- [SEEDS] [LARGEST]` prints the table of docs/side-information.md:
//! the least number of constraints from which on recovery is perfect (found by halving, median over seeds), what
//! one more factor e of objects costs, and seconds of one fit at that number.

use std::time::Instant;

use consilience::ndarray::Array2;
use consilience::{Basis, Constraints, Link, Mccc, Partition, Seed, scores};

const CLUSTERS: usize = 5;
const COLUMNS: usize = 15;
/// No more constraints than this are tried.
const MOST: usize = 20_000;

struct World {
    x: Array2<f64>,
    truth: Partition,
    pairs: Vec<(usize, usize)>,
}

impl World {
    fn new(n: usize, noise: f64, seed: u64) -> Self {
        let mut stream = Seed(seed).derive("world", n as u64).stream();
        let g = Array2::from_shape_simple_fn((CLUSTERS, COLUMNS), || stream.normal());
        let x = Array2::from_shape_fn((n, COLUMNS), |(i, j)| {
            g[[i % CLUSTERS, j]] + if noise > 0.0 { noise * stream.normal() } else { 0.0 }
        });
        let truth = Partition::from_fn(n, |i| Some((i % CLUSTERS) as u64)).unwrap();
        let mut draw = || (stream.below(n), stream.below(n));
        let pairs = std::iter::repeat_with(&mut draw).filter(|(i, j)| i != j).take(MOST).collect();
        World { x, truth, pairs }
    }

    fn constraints(&self, count: usize) -> Constraints {
        let mut out = Constraints::new(self.truth.n_objects()).unwrap();
        for &(i, j) in &self.pairs[..count] {
            let link = if self.truth.label(i) == self.truth.label(j) { Link::Must } else { Link::Cannot };
            out.add(i, j, link).unwrap();
        }
        out
    }

    /// Whether that many constraints recover all clusters, and the seconds it took.
    fn recovers(&self, count: usize) -> (bool, f64) {
        let known = self.constraints(count);
        let start = Instant::now();
        let found =
            Mccc::new(CLUSTERS).basis(Basis::Singular).fit(self.x.view().into(), &known, &()).unwrap();
        let seconds = start.elapsed().as_secs_f64();
        // Plain spectral clustering, the answer to too few constraints, does not count.
        let completed = found.report.objective.is_some();
        let ari = scores::adjusted_rand(&found.output.partition, &self.truth).unwrap();
        (completed && ari == 1.0, seconds)
    }

    /// The least number from which on recovery is perfect, as far as halving sees.
    fn least(&self) -> (usize, f64) {
        let (mut low, mut high) = (0, 16);
        while high < MOST && !self.recovers(high).0 {
            (low, high) = (high, 2 * high);
        }
        high = high.min(MOST);
        while high - low > (low / 32).max(1) {
            let middle = low.midpoint(high);
            if self.recovers(middle).0 { high = middle } else { low = middle }
        }
        (high, self.recovers(high).1)
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn main() {
    let mut arguments = std::env::args().skip(1).map(|a| a.parse::<usize>().unwrap());
    let (seeds, largest) = (arguments.next().unwrap_or(9), arguments.next().unwrap_or(100_000));
    for noise in [0.0, 0.3] {
        println!(
            "\nnoise {noise}\n\n| N | constraints, median of {seeds} (least to most) | seconds |\n|---|---|---|"
        );
        let mut points = Vec::new();
        for n in [5_000, 10_000, 20_000, 50_000, 100_000].into_iter().filter(|&n| n <= largest) {
            let found: Vec<(usize, f64)> =
                (0..seeds).map(|seed| World::new(n, noise, seed as u64).least()).collect();
            let counts: Vec<f64> = found.iter().map(|f| f.0 as f64).collect();
            let (least, most) = (found.iter().map(|f| f.0).min(), found.iter().map(|f| f.0).max());
            let middle = median(counts);
            points.push(((n as f64).ln(), middle));
            println!(
                "| {n} | {middle} ({} to {}) | {:.3} |",
                least.unwrap_or(0),
                most.unwrap_or(0),
                median(found.iter().map(|f| f.1).collect())
            );
        }
        let count = points.len() as f64;
        let (mx, my) = (
            points.iter().map(|p| p.0).sum::<f64>() / count,
            points.iter().map(|p| p.1).sum::<f64>() / count,
        );
        let slope = points.iter().map(|p| (p.0 - mx) * (p.1 - my)).sum::<f64>()
            / points.iter().map(|p| (p.0 - mx) * (p.0 - mx)).sum::<f64>().max(f64::MIN_POSITIVE);
        println!("\nslope against ln N: {slope:.2} constraints");
    }
}
