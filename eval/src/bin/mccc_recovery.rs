//! How many constraints on random pairs MCCC needs to recover five equal clusters perfectly, as the
//! objects grow in number (Section 5.4.2 of the thesis): features are U G, with U the memberships
//! and G (5 x 15) Gaussian, and the same with noise of standard deviation 0.3 added.
//!
//! `cargo run --release --bin mccc_recovery -- [SEEDS] [LARGEST] [PLOT.svg]` prints the table
//! of docs/side-information.md and draws its plot: the least number of constraints from which on
//! recovery is perfect (found by halving, median over seeds), what one more factor e of objects
//! costs, and seconds of one fit at that number.

use std::error::Error;
use std::time::Instant;

use consilience::completion::{Basis, Mccc};
use consilience::ndarray::Array2;
use consilience::{Constraints, Link, Partition, Seed, SideInformation, scores};
use plotters::prelude::*;

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
            let link =
                if self.truth.label(i) == self.truth.label(j) { Link::Must } else { Link::Cannot };
            out.add(i, j, link).unwrap();
        }
        out
    }

    /// Whether that many constraints recover all clusters, and the seconds it took.
    fn recovers(&self, count: usize) -> (bool, f64) {
        let known = SideInformation::from_constraints(&self.constraints(count));
        let start = Instant::now();
        let found = Mccc::new(CLUSTERS)
            .basis(Basis::Singular)
            .fit_completed(self.x.view(), &known, &())
            .unwrap();
        let seconds = start.elapsed().as_secs_f64();
        // Plain spectral clustering, the answer to too few constraints, does not count.
        let completed = found.report.objective.is_some();
        let ari = scores::adjusted_rand(&found.output.clustering.partition, &self.truth).unwrap();
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

/// What was found for one standard deviation of noise: per number of objects the least number of
/// constraints in each world, ascending.
struct Series {
    noise: f64,
    found: Vec<(usize, Vec<usize>)>,
}

impl Series {
    fn medians(&self) -> impl Iterator<Item = (f64, f64)> {
        self.found.iter().map(|(n, counts)| (*n as f64, counts[counts.len() / 2] as f64))
    }

    /// Constraints that one more factor e of objects costs, by least squares, and the constant.
    fn line(&self) -> (f64, f64) {
        let points: Vec<(f64, f64)> = self.medians().map(|(n, y)| (n.ln(), y)).collect();
        let mean =
            |of: fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / points.len() as f64;
        let (mx, my) = (mean(|p| p.0), mean(|p| p.1));
        let slope = points.iter().map(|p| (p.0 - mx) * (p.1 - my)).sum::<f64>()
            / points.iter().map(|p| (p.0 - mx) * (p.0 - mx)).sum::<f64>().max(f64::MIN_POSITIVE);
        (slope, my - slope * mx)
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let mut number = |default| arguments.next().map_or(Ok(default), |a| a.parse::<usize>());
    let (seeds, largest) = (number(9)?, number(100_000)?);
    let mut all = Vec::new();
    for noise in [0.0, 0.3] {
        println!(
            "\nnoise {noise}\n\n\
             | N | constraints, median of {seeds} (least to most) | seconds |\n|---|---|---|"
        );
        let mut series = Series { noise, found: Vec::new() };
        for n in [5_000, 10_000, 20_000, 50_000, 100_000].into_iter().filter(|&n| n <= largest) {
            let found: Vec<(usize, f64)> =
                (0..seeds).map(|seed| World::new(n, noise, seed as u64).least()).collect();
            let mut counts: Vec<usize> = found.iter().map(|f| f.0).collect();
            counts.sort_unstable();
            let seconds = median(found.iter().map(|f| f.1).collect());
            let middle = counts[counts.len() / 2];
            println!(
                "| {n} | {middle} ({} to {}) | {seconds:.3} |",
                counts[0],
                counts[counts.len() - 1]
            );
            series.found.push((n, counts));
        }
        println!("\nslope against ln N: {:.2} constraints", series.line().0);
        all.push(series);
    }
    match arguments.next() {
        Some(path) => Ok(std::fs::write(path, plot(&all)?)?),
        None => Ok(()),
    }
}

/// Each world as a pale dot, medians as strong ones, and the fitted lines, over ln N. Worlds that
/// never recovered lie on the upper edge.
fn plot(all: &[Series]) -> Result<String, Box<dyn Error>> {
    const FONT: &str = "sans-serif";
    const TOP: f64 = 600.0;
    let mut text = String::new();
    {
        let root = SVGBackend::with_string(&mut text, (760, 480)).into_drawing_area();
        root.fill(&WHITE)?;
        let title = "MCCC: constraints until five equal clusters are recovered perfectly";
        let root = root.titled(title, (FONT, 18))?;
        let mut chart = ChartBuilder::on(&root)
            .margin(16)
            .x_label_area_size(40)
            .y_label_area_size(50)
            .build_cartesian_2d((4_000.0..125_000.0).log_scale(), 0.0..TOP)?;
        chart
            .configure_mesh()
            .x_desc("objects (logarithmic)")
            .y_desc("constraints")
            .max_light_lines(0)
            .x_label_formatter(&|n| format!("{:.0},000", n / 1e3))
            .y_label_formatter(&|y| format!("{y:.0}"))
            .label_style((FONT, 13))
            .draw()?;
        for (series, colour) in all.iter().zip([RGBColor(31, 119, 180), RGBColor(214, 39, 40)]) {
            for (n, counts) in &series.found {
                let dots = counts.iter().map(|&y| (*n as f64, (y as f64).min(TOP)));
                chart.draw_series(dots.map(|at| Circle::new(at, 3, colour.mix(0.35).filled())))?;
            }
            chart.draw_series(series.medians().map(|at| Circle::new(at, 5, colour.filled())))?;
            let (slope, constant) = series.line();
            let line =
                series.found.iter().map(|(n, _)| (*n as f64, slope * (*n as f64).ln() + constant));
            chart
                .draw_series(LineSeries::new(line, colour.stroke_width(2)))?
                .label(format!("noise {}: {slope:.1} constraints per ln N", series.noise))
                .legend(move |(x, y)| {
                    PathElement::new(vec![(x, y), (x + 18, y)], colour.stroke_width(2))
                });
        }
        chart
            .configure_series_labels()
            .position(SeriesLabelPosition::UpperLeft)
            .label_font((FONT, 13))
            .background_style(WHITE.mix(0.8))
            .draw()?;
        root.present()?;
    }
    text.push('\n');
    Ok(text)
}
