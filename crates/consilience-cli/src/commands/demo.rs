//! `consilience demo`: the main job on the digits that ship with the program.

use std::fmt::Write;
use std::time::{Duration, Instant};

use consilience::catalogue::Settings;
use consilience::generate::{Generator, KMeans};
use consilience::scores::Scores;
use consilience::{Ensemble, Features, Partition, Seed};
use serde_json::{Value, json};

use crate::args::Demo;
use crate::catalogue;
use crate::failure::Outcome;
use crate::files;
use crate::summary::{self, Summary};
use crate::terminal::Terminal;

const CLUSTERS: usize = 10;
const MEMBERS: usize = 30;

/// Runs the command.
pub(crate) fn run(args: &Demo, terminal: &Terminal) -> Outcome<()> {
    ensure!(args.common.id.is_none(), "--id: the digits of the demo have no ids");
    let seed = Seed(args.common.seed);
    let start = Instant::now();
    let (table, truth) = files::shipped_digits(terminal)?;
    let read = start.elapsed();

    let start = Instant::now();
    let ensemble = generate(table.view(), seed, terminal)?;
    let generated = start.elapsed();
    let mut lines = of_members(&ensemble, &truth, generated)?;
    for name in ["auto", "eac-al", "pta-al", "ptgp"] {
        lines.push(of_method(name, &ensemble, &truth, seed, terminal)?);
    }
    let total = start.elapsed();

    let mut summary = Summary::new();
    summary
        .data("n", ensemble.n_objects())
        .data("features", table.view().n_features())
        .data("members", ensemble.n_members())
        .data("clusters", CLUSTERS)
        .data("results", lines.iter().map(Line::json).collect::<Vec<_>>())
        .times(read, [("generate", json!(generated.as_secs_f64()))], total);
    summary.print_as(&text(ensemble.n_objects(), &lines), &args.common, terminal)
}

fn generate(features: Features<'_>, seed: Seed, terminal: &Terminal) -> Outcome<Ensemble> {
    let generator = Generator::new(KMeans::new())
        .members(MEMBERS)
        .clusters(CLUSTERS..=3 * CLUSTERS)
        .feature_fraction(0.5)
        .seed(seed);
    Ok(generator.fit(features, terminal)?.output)
}

/// One line of the table.
struct Line {
    name: &'static str,
    nmi: f64,
    ari: f64,
    accuracy: f64,
    time: Duration,
}

impl Line {
    fn new(name: &'static str, scores: &Scores, time: Duration) -> Self {
        Line { name, nmi: scores.nmi_max, ari: scores.ari, accuracy: scores.accuracy, time }
    }

    fn json(&self) -> Value {
        json!({
            "name": self.name,
            "scores": { "nmi_max": self.nmi, "ari": self.ari, "accuracy": self.accuracy },
            "seconds": self.time.as_secs_f64(),
        })
    }
}

/// The members on average, and the best of them.
fn of_members(ensemble: &Ensemble, truth: &Partition, time: Duration) -> Outcome<Vec<Line>> {
    let members = ensemble
        .members()
        .iter()
        .map(|member| Scores::compare(member, truth))
        .collect::<consilience::Result<Vec<_>>>()?;
    let mean =
        |score: fn(&Scores) -> f64| members.iter().map(score).sum::<f64>() / members.len() as f64;
    let mut lines = vec![Line {
        name: "members, mean",
        nmi: mean(|s| s.nmi_max),
        ari: mean(|s| s.ari),
        accuracy: mean(|s| s.accuracy),
        time,
    }];
    let best = members.iter().max_by(|a, b| a.nmi_max.total_cmp(&b.nmi_max));
    lines.extend(best.map(|best| Line::new("members, best", best, time)));
    Ok(lines)
}

fn of_method(
    name: &'static str,
    ensemble: &Ensemble,
    truth: &Partition,
    seed: Seed,
    terminal: &Terminal,
) -> Outcome<Line> {
    let function = catalogue::find(name)?.build(&Settings::new(CLUSTERS).seed(seed))?;
    let start = Instant::now();
    let consensus = function.fit(ensemble, terminal)?.output.partition;
    let time = start.elapsed();
    Ok(Line::new(name, &Scores::compare(&consensus, truth)?, time))
}

fn text(objects: usize, lines: &[Line]) -> String {
    let mut text = format!(
        "{objects} handwritten digits of 8 x 8 pixels (UCI), ten classes. {MEMBERS} k-means \
         clusterings, each on a random\n\
         half of the pixels and with {CLUSTERS} to {} clusters, combined into {CLUSTERS} \
         clusters:\n\n\
         {:16}{:>8}{:>8}{:>10}{:>10}\n",
        3 * CLUSTERS,
        "",
        "NMI",
        "ARI",
        "accuracy",
        "seconds"
    );
    for l in lines {
        let _ = writeln!(
            text,
            "{:16}{:>8.3}{:>8.3}{:>10.3}{:>10}",
            l.name,
            l.nmi,
            l.ari,
            l.accuracy,
            summary::time(l.time)
        );
    }
    text + NEXT
}

const NEXT: &str = "
NMI is normalised by the larger entropy. auto is what `consensus` takes without --method. On one \
         ensemble another
method may be better: `report` compares several. The same on your own data (.csv, .tsv, .npy, \
         .npz, .parquet,
.arrow, .feather, sparse .mtx or .svmlight):

  consilience generate features.csv -o pool.npz --members 30 --clusters 10..30 \
         --feature-fraction 0.5
  consilience consensus pool.npz --clusters 10 -o labels.csv --truth truth.csv
  consilience score labels.csv truth.csv
  consilience consensus --list
  consilience consensus --list lwea

One page about the result, with pictures, to be opened in any browser:

  consilience report pool.npz --truth truth.csv -o report.html
";
