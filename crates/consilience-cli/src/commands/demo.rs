//! `consilience demo`: the main job on the digits that ship with the program.

use std::fmt::Write;
use std::time::{Duration, Instant};

use consilience::scores::Scores;
use consilience::{Generator, KMeans, Seed};
use serde_json::{Value, json};

use crate::args::Demo;
use crate::failure::Outcome;
use crate::files;
use crate::methods;
use crate::output;
use crate::terminal::Terminal;

const CLUSTERS: usize = 10;
const MEMBERS: usize = 30;

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
}

/// Runs the command.
pub(crate) fn run(args: &Demo, terminal: &Terminal) -> Outcome<()> {
    let seed = Seed(args.common.seed);
    let start = Instant::now();
    let (table, truth) = files::shipped_digits(terminal)?;
    let read = start.elapsed();

    let start = Instant::now();
    let features = table.view();
    let generator = Generator::boxed(Box::new(KMeans::default()))
        .members(MEMBERS)
        .clusters(CLUSTERS..=3 * CLUSTERS)
        .feature_fraction(0.5)
        .seed(seed);
    let ensemble = generator.fit(features, terminal)?.output;
    let generated = start.elapsed();

    let mut lines = Vec::new();
    let members = ensemble
        .members()
        .iter()
        .map(|member| Scores::compare(member, &truth))
        .collect::<consilience::Result<Vec<_>>>()?;
    let mean =
        |score: fn(&Scores) -> f64| members.iter().map(score).sum::<f64>() / members.len() as f64;
    lines.push(Line {
        name: "members, mean",
        nmi: mean(|s| s.nmi_max),
        ari: mean(|s| s.ari),
        accuracy: mean(|s| s.accuracy),
        time: generated,
    });
    if let Some(best) = members.iter().max_by(|a, b| a.nmi_max.total_cmp(&b.nmi_max)) {
        lines.push(Line::new("members, best", best, generated));
    }
    for name in ["pta-al", "ptgp", "eac-al"] {
        let function = methods::find(name)?.build(Some(CLUSTERS), &[], seed)?;
        let start = Instant::now();
        let consensus = function.run(&ensemble, terminal)?.partition;
        let time = start.elapsed();
        lines.push(Line::new(name, &Scores::compare(&consensus, &truth)?, time));
    }
    let total = start.elapsed();
    terminal.clear();

    if args.common.json {
        let results: Vec<Value> = lines
            .iter()
            .map(|l| {
                json!({
                    "name": l.name,
                    "scores": { "nmi_max": l.nmi, "ari": l.ari, "accuracy": l.accuracy },
                    "seconds": l.time.as_secs_f64(),
                })
            })
            .collect();
        let object = json!({
            "n": ensemble.n_objects(),
            "features": features.n_features(),
            "members": ensemble.n_members(),
            "clusters": CLUSTERS,
            "results": results,
            "seconds": {
                "read": read.as_secs_f64(),
                "generate": generated.as_secs_f64(),
                "total": total.as_secs_f64(),
            },
        });
        return output::print_json(object, &args.common, terminal);
    }
    let mut text = format!(
        "{} handwritten digits of 8 x 8 pixels (UCI), ten classes. {MEMBERS} k-means clusterings, each on a random\n\
         half of the pixels and with {CLUSTERS} to {} clusters, combined into {CLUSTERS} clusters:\n\n\
         {:16}{:>8}{:>8}{:>10}{:>10}\n",
        ensemble.n_objects(),
        3 * CLUSTERS,
        "",
        "NMI",
        "ARI",
        "accuracy",
        "seconds"
    );
    for l in &lines {
        let _ = writeln!(
            text,
            "{:16}{:>8.3}{:>8.3}{:>10.3}{:>10}",
            l.name,
            l.nmi,
            l.ari,
            l.accuracy,
            output::time(l.time)
        );
    }
    text.push_str(NEXT);
    output::print(&text)
}

const NEXT: &str = "
NMI is normalised by the larger entropy. The same on your own data, from .npy, .npz, .csv or .parquet:

  consilience generate features.csv -o pool.npz --members 30 --clusters 10..30 --feature-fraction 0.5
  consilience consensus pool.npz --method pta-al --clusters 10 -o labels.csv --truth truth.csv
  consilience score labels.csv truth.csv
  consilience consensus --list
";
