//! `consilience score`: how well one clustering agrees with another.

use std::time::Instant;

use consilience::scores::{self, Scores};
use serde_json::json;

use super::read_truth;
use crate::args::Score;
use crate::failure::{Failure, Outcome};
use crate::files;
use crate::output::{self, Lines};
use crate::terminal::Terminal;

/// Runs the command.
pub(crate) fn run(args: &Score, terminal: &Terminal) -> Outcome<()> {
    if args.soft {
        return soft(args, terminal);
    }
    let start = Instant::now();
    let labels = files::read_labels(&args.labels, terminal)?;
    let truth = read_truth(Some(&args.truth), labels.n_objects(), terminal)?
        .ok_or_else(|| Failure::bad("expected a file of true labels"))?;
    let read = start.elapsed();

    let start = Instant::now();
    let entries = Scores::compare(&labels, &truth)?.entries();
    let total = start.elapsed();
    if args.common.json {
        let object = json!({
            "n": labels.n_objects(),
            "clusters": labels.n_clusters(),
            "true_clusters": truth.n_clusters(),
            "scores": output::scores_json(&entries),
            "seconds": { "read": read.as_secs_f64(), "total": total.as_secs_f64() },
        });
        return output::print_json(object, &args.common, terminal);
    }
    let mut lines = Lines::default();
    lines
        .add("objects", labels.n_objects())
        .add("clusters", format!("{}, and {} true ones", labels.n_clusters(), truth.n_clusters()))
        .scores(&entries)
        .print(terminal)
}

/// J, the mean Jensen-Shannon divergence of memberships under the best matching of clusters.
fn soft(args: &Score, terminal: &Terminal) -> Outcome<()> {
    let start = Instant::now();
    let result = files::read_memberships(&args.labels, terminal)?;
    let truth = files::read_memberships(&args.truth, terminal)?;
    if result.n_objects() != truth.n_objects() {
        return Err(Failure::Bad(format!(
            "{}: {} rows, expected {} as in {}",
            args.truth.display(),
            truth.n_objects(),
            result.n_objects(),
            args.labels.display()
        )));
    }
    let read = start.elapsed();

    let start = Instant::now();
    let divergence = scores::jensen_shannon(&result, &truth)?;
    let total = start.elapsed();
    if args.common.json {
        let object = json!({
            "n": result.n_objects(),
            "clusters": result.n_clusters(),
            "true_clusters": truth.n_clusters(),
            "scores": { "jensen_shannon": divergence },
            "seconds": { "read": read.as_secs_f64(), "total": total.as_secs_f64() },
        });
        return output::print_json(object, &args.common, terminal);
    }
    let mut lines = Lines::default();
    lines
        .add("objects", result.n_objects())
        .scores(&[("jensen_shannon", divergence)])
        .print(terminal)
}
