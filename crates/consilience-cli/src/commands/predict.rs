//! `consilience predict`: new objects into a consensus clustering that is there already.

use std::path::Path;
use std::time::Instant;

use consilience::io::Labelled;
use consilience::model::{ConsensusModel, Placement};
use consilience::scores::Scores;
use consilience::{Partition, io};
use ndarray::{Array2, ArrayView2};

use super::labelled_otherwise;
use crate::args::Predict;
use crate::failure::{Failure, Outcome};
use crate::files;
use crate::memory;
use crate::outputs::Outputs;
use crate::summary::Summary;
use crate::terminal::Terminal;

/// Objects that the summary names, at most.
const NAMED: usize = 1000;

/// Runs the command.
pub(crate) fn run(args: &Predict, terminal: &Terminal) -> Outcome<()> {
    let mut outputs = Outputs::new(&args.common)
        .table("-o", "labels", args.output.as_deref())?
        .table("--soft", "votes", args.soft.as_deref())?
        .table("--details", "details", args.details.as_deref())?;

    let start = Instant::now();
    if files::is_standard(&args.model) && files::is_standard(&args.features) {
        return Err(files::read_twice());
    }
    let model = read(&args.model)?;
    let names = model.feature_names();
    let known = names.unwrap_or_default();
    let table = files::new_features(&args.features, &args.drop, known, terminal)?;
    let table = match names {
        Some(names) => table.in_the_order_of(names, &args.features, terminal)?,
        None => table,
    };
    outputs.ids(table.ids.as_ref(), terminal);
    let (features, n) = (table.view(), table.view().n_objects());
    let truth = files::truth(args.truth.as_deref(), &table.objects(), terminal)?;
    let read = start.elapsed();

    let start = Instant::now();
    let placed = model
        .place_observed(features, terminal)
        .map_err(|error| Failure::from(error).within(args.features.display()))?;
    let total = start.elapsed();
    note(&placed, terminal);
    outputs.labels("-o", Labelled::Numbers(&placed.labels), terminal)?;
    if outputs.wants("--soft") {
        let votes = model.memberships_within(features, memory::budget())?;
        note_otherwise(&placed, votes.view(), terminal);
        outputs.numbers("--soft", votes.view(), terminal)?;
    }
    if outputs.wants("--details") {
        let details = Array2::from_shape_fn((n, 2), |(i, j)| match j {
            0 => placed.confidence[i],
            _ => placed.distance[i],
        });
        outputs.numbers("--details", details.view(), terminal)?;
    }
    let confidence = placed.confidence.iter().sum::<f64>() / n as f64;
    let outside = placed.outside();
    let mut summary = Summary::new();
    summary
        .both("n", "objects", n)
        .both("clusters", "clusters", model.partition().n_clusters())
        .data("confidence", confidence)
        .line("mean confidence", format!("{confidence:.4}"))
        .both("outside", "outside of everything seen", outside.len())
        .data("outside_objects", named(&outside, args.common.json, terminal))
        .both("tied", "between two clusters", placed.tied.len())
        .times(read, [], total);
    if let Some(truth) = &truth {
        let found = Partition::from_fn(n, |i| Some(placed.labels[i] as u64))?;
        summary.scores(&Scores::compare(&found, &truth.partition)?.entries());
    }
    outputs.conclude(summary, &args.common, terminal)
}

/// Says how many labels are not those of the most votes.
fn note_otherwise(placed: &Placement, votes: ArrayView2<'_, f64>, terminal: &Terminal) {
    let labels = placed.labels.iter().copied().map(Some);
    let (n, count) = (placed.labels.len(), labelled_otherwise(labels, votes));
    if count > 0 {
        terminal.note(format!(
            "--soft has the votes of the members; {count} of {n} rows are labelled otherwise: all \
             members know them from the fit, and they keep its consensus label"
        ));
    }
}

/// What users should know of the objects that were placed.
pub(super) fn note(placed: &Placement, terminal: &Terminal) {
    let (n, outside, tied) = (placed.labels.len(), placed.outside().len(), placed.tied.len());
    if outside > 0 {
        terminal.note(format!("{outside} of {n} new objects lie outside of everything seen"));
    }
    if tied > 0 {
        terminal.note(format!("{tied} of {n} new objects lie between two clusters"));
    }
}

/// The first objects of those outside; programs, which alone get to see them, are told where there
/// are more.
fn named(outside: &[usize], json: bool, terminal: &Terminal) -> Vec<usize> {
    let named = outside.len().min(NAMED);
    if json && named < outside.len() {
        terminal.note(format!("outside_objects: the first {named} of {}", outside.len()));
    }
    outside[..named].to_vec()
}

fn read(path: &Path) -> Outcome<ConsensusModel> {
    let bytes = io::read_bytes(files::stream_at(path)?, memory::budget())?;
    ConsensusModel::from_bytes(&bytes).map_err(|error| Failure::from(error).within(path.display()))
}
