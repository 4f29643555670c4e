//! `consilience-engine generate`: features to an ensemble of base clusterings.

use std::ops::RangeInclusive;

use consilience::Seed;
use consilience_datafusion::{KMeansMembers, Output};

use crate::args::Generate;
use crate::failure::{Failure, Outcome};
use crate::summary::{Clock, Summary};
use crate::terminal::Terminal;

/// Runs the command.
pub(crate) fn run(args: &Generate, terminal: &Terminal) -> Outcome<()> {
    let mut settings = KMeansMembers::new()
        .members(args.members)
        .feature_fraction(args.feature_fraction)
        .object_fraction(args.object_fraction)
        .passes(args.passes)
        .seed(Seed(args.common.seed));
    if let Some(range) = &args.clusters {
        settings = settings.clusters(clusters(range)?);
    }
    if let Some(sample) = args.sample {
        settings = settings.sample(sample);
    }
    let table = super::ensemble(&args.features, args.id.as_deref(), &[])?;
    let mut output = Output::new(&args.output, &table)?;
    let engine = crate::engine(&args.common, Some(&args.output))?;

    let mut clock = Clock::start();
    let done = engine.generate(&table, &settings, &mut output, terminal)?;
    clock.step("generate");
    if !done.converged {
        terminal.note(format!("centres still moved after {} passes", done.passes));
    }
    let mut summary = Summary::new();
    summary
        .both("method", "method", "kmeans")
        .both("n", "objects", table.n_rows())
        .both("files", "files", table.n_files())
        .both("features", "features", table.names().len())
        .both("members", "members", done.clusters.len())
        .both("sample", "started from", done.sample)
        .both("passes", "passes", done.passes)
        .data("converged", done.converged)
        .data("clusters", done.clusters);
    clock.tell(&mut summary);
    super::conclude(Some(output), summary, &args.common, terminal)
}

/// `2..50` or `2..=50`, both ends included, or a single number.
fn clusters(text: &str) -> Outcome<RangeInclusive<usize>> {
    let (low, high) = match text.split_once("..") {
        Some((low, high)) => (low, high.strip_prefix('=').unwrap_or(high)),
        None => (text, text),
    };
    match (low.trim().parse(), high.trim().parse()) {
        (Ok(low), Ok(high)) if low <= high => Ok(low..=high),
        _ => Err(Failure::Bad(format!(
            "--clusters {text}: expected a range such as 2..50, or one number"
        ))),
    }
}
