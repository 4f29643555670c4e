//! `consilience score`: how well one clustering agrees with another.

use std::time::Instant;

use consilience::Ensemble;
use consilience::scores::{self, Contingency, Scores};
use serde_json::{Value, json};

use crate::args::Score;
use crate::failure::{Failure, Outcome};
use crate::files::{self, Labels};
use crate::memory;
use crate::summary::Summary;
use crate::terminal::Terminal;

/// Runs the command.
pub(crate) fn run(args: &Score, terminal: &Terminal) -> Outcome<()> {
    let summary = if args.soft { soft(args, terminal)? } else { hard(args, terminal)? };
    summary.print(&args.common, terminal)
}

fn hard(args: &Score, terminal: &Terminal) -> Outcome<Summary> {
    let start = Instant::now();
    let found = files::labels(&args.labels, terminal)?;
    let objects = found.objects();
    let Some(truth) = files::truth(Some(&args.truth), &objects, terminal)? else {
        return Err(Failure::bad("expected TRUTH"));
    };
    let rows = Ensemble::new(vec![found.partition.clone()])?;
    let rows = files::counted(rows, &objects, args.counts.as_deref(), terminal)?;
    let labels = &rows.members()[0];
    let read = start.elapsed();

    let start = Instant::now();
    let table = Contingency::with_counts(labels, &truth.partition, rows.counts())?;
    let entries = Scores::of(&table)?.entries();
    let total = start.elapsed();
    let mut summary = Summary::new();
    summary
        .both("n", "objects", rows.total_count())
        .data("clusters", labels.n_clusters())
        .data("true_clusters", truth.names.len())
        .line("clusters", format!("{}, and {} true ones", labels.n_clusters(), truth.names.len()))
        .times(read, [], total)
        .scores(&entries);
    if table.n_cells() <= CELLS {
        contingency(&table, &found, &truth, &mut summary);
    } else if args.common.json || found.text || truth.text {
        terminal.note(format!(
            "{} pairs of a cluster and a class share objects; beyond {CELLS} they are not listed",
            table.n_cells()
        ));
    }
    note_compared(table.n_objects(), rows.total_count(), terminal);
    Ok(summary)
}

/// Says how many objects the scores are of, where some are left out.
fn note_compared(compared: u64, all: u64, terminal: &Terminal) {
    if compared < all {
        terminal.note(format!(
            "{compared} of {all} objects are compared: the others are unlabelled in one of the two"
        ));
    }
}

/// How many cells of the table of clusters and classes are listed at most.
const CELLS: usize = 1000;

/// Which clusters meet which classes: under their names for programs and, where there are names,
/// for people too.
fn contingency(table: &Contingency, found: &Labels, truth: &Labels, summary: &mut Summary) {
    let mut cells: Vec<(usize, usize, u64)> = table.cells().collect();
    cells.sort_by_key(|&(cluster, class, count)| (cluster, std::cmp::Reverse(count), class));
    if found.text || truth.text {
        for row in cells.chunk_by(|a, b| a.0 == b.0) {
            let classes: Vec<String> =
                row.iter().map(|c| format!("{} {}", c.2, truth.names[c.1])).collect();
            summary.line(format!("cluster {}", found.names[row[0].0]), classes.join(", "));
        }
    }
    let cells: Vec<Value> = cells
        .into_iter()
        .map(|(cluster, class, count)| {
            let (cluster, class) = (&found.names[cluster], &truth.names[class]);
            json!({ "cluster": cluster, "class": class, "objects": count })
        })
        .collect();
    summary.data("contingency", cells);
}

/// J, the mean Jensen-Shannon divergence of memberships under the best matching of clusters.
fn soft(args: &Score, terminal: &Terminal) -> Outcome<Summary> {
    let start = Instant::now();
    let (result, objects) = files::memberships(&args.labels, terminal)?;
    let truth = files::memberships_of(&args.truth, &objects, terminal)?;
    let read = start.elapsed();

    let start = Instant::now();
    let divergence = scores::jensen_shannon_within(&result, &truth, memory::budget())?;
    let total = start.elapsed();
    let mut summary = Summary::new();
    summary
        .both("n", "objects", result.n_objects())
        .data("clusters", result.n_clusters())
        .data("true_clusters", truth.n_clusters())
        .times(read, [], total)
        .scores(&[("jensen_shannon", divergence)]);
    Ok(summary)
}
