//! `consilience generate`: features to an ensemble of base clusterings.

use std::time::Instant;

use consilience::generate::Generator;
use consilience::io::Labelled;
use consilience::scores::Scores;
use consilience::{Ensemble, Partition, Seed};

use crate::args::Generate;
use crate::choices;
use crate::failure::Outcome;
use crate::files;
use crate::memory;
use crate::outputs::Outputs;
use crate::summary::{self, Summary};
use crate::tables::generate::{METHODS, cluster_range, scale};
use crate::terminal::Terminal;

/// Runs the command.
pub(crate) fn run(args: &Generate, terminal: &Terminal) -> Outcome<()> {
    let generator = generator(args)?;
    let mut outputs = Outputs::new().table("-o", "ensemble", Some(&args.output))?;

    let start = Instant::now();
    let table = files::features(&args.features, terminal)?;
    let features = table.view();
    let truth = files::truth(args.truth.as_deref(), features.n_objects(), terminal)?;
    let read = start.elapsed();

    let start = Instant::now();
    let fit = generator.fit(features, terminal)?;
    let total = start.elapsed();
    terminal.note_all(&fit.report);
    let ensemble = &fit.output;
    outputs.labels("-o", Labelled::All(ensemble), terminal)?;

    let sizes: Vec<usize> = ensemble.members().iter().map(|m| m.n_clusters()).collect();
    let found = (sizes.iter().min().unwrap_or(&0), sizes.iter().max().unwrap_or(&0));
    let range = generator.cluster_range(features.n_objects())?;
    let mut summary = Summary::new();
    summary
        .both("method", "method", args.method.as_str())
        .both("n", "objects", features.n_objects())
        .both("features", "features", features.n_features())
        .both("members", "members", ensemble.n_members())
        .data("range", vec![*range.start(), *range.end()])
        .line("asked for", format!("{} to {} clusters", range.start(), range.end()))
        .line("clusters", format!("{} to {}", found.0, found.1))
        .data("clusters", sizes)
        .report(&fit.report)
        .times(read, summary::stages(&fit.report), total);
    if let Some(truth) = &truth {
        summary.line("", "mean over the members:").scores(&mean_scores(ensemble, truth)?);
    }
    outputs.conclude(summary, &args.common, terminal)
}

fn generator(args: &Generate) -> Outcome<Generator> {
    let method = choices::find("--method", &args.method, &METHODS)?;
    let mut generator = Generator::boxed(method.build(&(), &args.params)?)
        .members(args.members)
        .scale(scale(&args.scale)?)
        .seed(Seed(args.common.seed))
        .memory_budget(memory::budget());
    if let Some(range) = &args.clusters {
        generator = generator.clusters(cluster_range("--clusters", range)?);
    }
    if let Some(fraction) = args.feature_fraction {
        generator = generator.feature_fraction(fraction);
    }
    if let Some(fraction) = args.object_fraction {
        generator = generator.object_fraction(fraction);
    }
    if let Some(dimensions) = args.projection {
        generator = generator.projection(dimensions);
    }
    Ok(generator)
}

fn mean_scores(ensemble: &Ensemble, truth: &Partition) -> Outcome<Vec<(&'static str, f64)>> {
    let scores: Vec<Scores> = ensemble
        .members()
        .iter()
        .map(|member| Scores::compare(member, truth))
        .collect::<consilience::Result<_>>()?;
    Ok(summary::mean_scores(&scores))
}
