//! One run of each method on one set, and the tables of many.

use std::time::Instant;

use consilience::model::QuestionerOptions;
use consilience::num::kmeans::{KMeansOptions, fit};
use consilience::scores::{Normalizer, normalized_mutual_information};
use consilience::{Partition, Result, Seed};

use crate::answerers::Answerers;
use crate::{Data, Options, pck};

/// Questions of a batch; where the NMI of the questioner is shown.
const BATCH: usize = 20;
const SHOWN: [usize; 4] = [0, 250, 500, 1_000];
/// Shares of the pairs at which PCK-Means is run.
const SHARES: [usize; 5] = [20, 8, 4, 2, 1];
/// The NMI whose price is sought.
const SOUGHT: f64 = 0.8;

/// NMI by answers.
type Points = Vec<(usize, f64)>;

/// One run of all methods.
pub struct Curve {
    pub name: String,
    kmeans: f64,
    ours: Points,
    random: Points,
    scheme: Points,
    start: f64,
    slowest: f64,
    /// Mean confidence, and the share of objects of the class that is most frequent in their
    /// cluster.
    confidence: (f64, f64),
}

/// The runs of a set at one accuracy.
pub struct Row {
    pub name: String,
    pub accuracy: f64,
    pub curves: Vec<Curve>,
}

pub fn run(data: &Data, accuracy: f64, seed: Seed, options: &Options) -> Result<Curve> {
    let Data { name, x, truth } = data;
    let k = truth.n_clusters();
    let nmi = |p: &Partition| normalized_mutual_information(p, truth, Normalizer::Arithmetic);
    let plain = fit(x.view(), None, &KMeansOptions::new(k).restarts(3).seed(seed), &())?;
    let kmeans = nmi(&Partition::from_labels(&plain.assignment)?)?;
    let mut answerers = Answerers::new(truth, accuracy, seed);

    let started = Instant::now();
    let mut questioner = QuestionerOptions::new(k).budget(options.budget).seed(seed).start(x)?;
    let start = started.elapsed().as_secs_f64();
    let mut ours = vec![(0, nmi(&questioner.partition()?)?)];
    let mut slowest: f64 = 0.0;
    loop {
        let questions = questioner.propose(BATCH);
        if questions.is_empty() {
            break;
        }
        let answers: Vec<_> = questions.iter().map(|q| answerers.answer(q)).collect();
        let started = Instant::now();
        questioner.answer(&answers)?;
        slowest = slowest.max(started.elapsed().as_secs_f64());
        ours.push((questioner.spent(), nmi(&questioner.partition()?)?));
    }
    let sure = questioner.confidence();
    let confidence =
        (sure.iter().sum::<f64>() / sure.len() as f64, right(&questioner.partition()?, truth));

    let n = truth.n_objects();
    let mut points = [Points::new(), Points::new()];
    if options.pairs > 0 {
        let schemes = [
            pck::random(n, options.pairs, &mut answerers, seed)?,
            pck::farthest_first(x, k, options.pairs, &mut answerers, seed)?,
        ];
        for (points, pairs) in points.iter_mut().zip(&schemes) {
            for share in SHARES {
                let answers = options.pairs / share;
                points.push((answers, nmi(&pairs.cluster(x, k, answers, seed)?)?));
            }
        }
    }
    let [random, scheme] = points;
    println!(
        "{name} {accuracy} {} k-means {kmeans:.3} ours {} random {} scheme {} start {start:.1}s \
         slowest {slowest:.2}s confidence {:.3} right {:.3} stop {:?}",
        seed.0,
        told(&ours, SHOWN.len()),
        told(&random, random.len()),
        told(&scheme, scheme.len()),
        confidence.0,
        confidence.1,
        questioner.stop(),
    );
    let name = name.clone();
    Ok(Curve { name, kmeans, ours, random, scheme, start, slowest, confidence })
}

/// At most so many of the points, spread evenly, and the last.
fn told(points: &Points, most: usize) -> String {
    let step = points.len().div_ceil(most.max(1)).max(1);
    let last = points.len().saturating_sub(1);
    let shown = points.iter().enumerate().filter(|(i, _)| i % step == 0 || *i == last);
    shown.map(|(_, (a, v))| format!("{a}:{v:.3}")).collect::<Vec<_>>().join(" ")
}

/// The share of objects of the class that is most frequent in their cluster.
fn right(found: &Partition, truth: &Partition) -> f64 {
    let mut counts = vec![vec![0usize; truth.n_clusters()]; found.n_clusters()];
    for (c, t) in found.iter().zip(truth.iter()) {
        if let (Some(c), Some(t)) = (c, t) {
            counts[c][t] += 1;
        }
    }
    let most: usize = counts.iter().filter_map(|row| row.iter().max()).sum();
    most as f64 / found.n_objects() as f64
}

fn mean(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let square = values.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>();
    (mean, (square / (n - 1.0).max(1.0)).sqrt())
}

fn both(values: Vec<f64>) -> String {
    let (mean, deviation) = mean(&values);
    format!("{mean:.3} ± {deviation:.3}")
}

/// The last point at or before so many answers.
fn at(points: &Points, answers: usize) -> f64 {
    points.iter().take_while(|p| p.0 <= answers).last().map_or(f64::NAN, |p| p.1)
}

/// The first answers with which the NMI is reached, over the runs; how many never reach it.
fn price(row: &Row, of: impl Fn(&Curve) -> &Points) -> String {
    let reached: Vec<f64> = row
        .curves
        .iter()
        .filter_map(|c| of(c).iter().find(|p| p.1 >= SOUGHT).map(|p| p.0 as f64))
        .collect();
    let runs = row.curves.len();
    let last = row.curves.iter().filter_map(|c| of(c).last()).map(|p| p.0).max().unwrap_or(0);
    if last == 0 {
        return "-".into();
    }
    if reached.is_empty() {
        return format!("not with {last}");
    }
    let (mean, deviation) = mean(&reached);
    let of = if reached.len() < runs {
        format!(" ({} of {runs})", reached.len())
    } else {
        String::new()
    };
    format!("{mean:.0} ± {deviation:.0}{of}")
}

fn best(row: &Row, of: impl Fn(&Curve) -> &Points) -> String {
    let values: Vec<f64> = row
        .curves
        .iter()
        .filter_map(|c| of(c).iter().map(|p| p.1).max_by(f64::total_cmp))
        .collect();
    if values.is_empty() { "-".into() } else { both(values) }
}

pub fn table(rows: &[Row]) -> String {
    let mut out = String::from("| set | accuracy | runs | k-means |");
    SHOWN.iter().for_each(|s| out += &format!(" {s} answers |"));
    out += " answers to .8 | mean confidence | right |\n|";
    out += &"---|".repeat(SHOWN.len() + 7);
    out.push('\n');
    for row in rows {
        let all = |f: &dyn Fn(&Curve) -> f64| both(row.curves.iter().map(f).collect());
        out += &format!("| {} | {} | {} |", row.name, row.accuracy, row.curves.len());
        out += &format!(" {} |", all(&|c| c.kmeans));
        SHOWN.iter().for_each(|&s| out += &format!(" {} |", all(&|c| at(&c.ours, s))));
        out += &format!(" {} |", price(row, |c| &c.ours));
        out += &format!(" {} | {} |\n", all(&|c| c.confidence.0), all(&|c| c.confidence.1));
    }
    if rows.iter().any(|row| row.curves.iter().any(|c| !c.random.is_empty())) {
        out += "\n| set | accuracy | runs | random pairs: answers to .8 | best NMI |";
        out += " farthest-first: answers to .8 | best NMI |\n|---|---|---|---|---|---|---|\n";
    }
    for row in rows.iter().filter(|row| row.curves.iter().any(|c| !c.random.is_empty())) {
        out += &format!("| {} | {} | {} |", row.name, row.accuracy, row.curves.len());
        out += &format!(" {} | {} |", price(row, |c| &c.random), best(row, |c| &c.random));
        out += &format!(" {} | {} |\n", price(row, |c| &c.scheme), best(row, |c| &c.scheme));
    }
    let curves = || rows.iter().flat_map(|r| &r.curves);
    let start = mean(&curves().map(|c| c.start).collect::<Vec<_>>()).0;
    let slowest = mean(&curves().map(|c| c.slowest).collect::<Vec<_>>()).0;
    out += &format!(
        "\nMeans over the runs: {start:.1} s to start, {slowest:.2} s for the slowest update.\n"
    );
    out
}

/// Writes the table between its marks in the page, or prints it.
pub fn write(page: Option<&str>, mark: &str, table: &str) {
    println!("{table}");
    let Some(page) = page else { return };
    let (from, to) = (format!("<!-- {mark} -->\n"), format!("<!-- /{mark} -->"));
    let text = std::fs::read_to_string(page).unwrap_or_else(|e| panic!("{page}: {e}"));
    let Some((before, rest)) = text.split_once(&from) else { panic!("{page}: no {from}") };
    let Some((_, after)) = rest.split_once(&to) else { panic!("{page}: no {to}") };
    std::fs::write(page, format!("{before}{from}{table}{to}{after}"))
        .unwrap_or_else(|e| panic!("{page}: {e}"));
}
