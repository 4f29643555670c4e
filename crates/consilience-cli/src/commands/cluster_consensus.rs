//! `consilience cluster --method consensus`: an ensemble, its consensus and a model of it in one.

use std::path::Path;
use std::time::Instant;

use consilience::Seed;
use consilience::generate::{Generator, Scale};
use consilience::model::ConsensusClustering;

use crate::args::{Cluster, Count, given};
use crate::catalogue::Request;
use crate::choices;
use crate::failure::Outcome;
use crate::files::Table;
use crate::memory;
use crate::summary::{self, Summary};
use crate::tables::cluster::{CONSENSUS, Making};
use crate::tables::generate::{METHODS, cluster_range, scale};
use crate::terminal::Terminal;
use crate::units;

/// Runs the command.
pub(super) fn run(args: &Cluster, terminal: &Terminal) -> Outcome<()> {
    let (method, making) = parse(args)?;
    let mut outputs =
        args.labelling.outputs(&args.common)?.any("--model", "model", args.model.as_deref())?;

    let start = Instant::now();
    let path = given(args.features.as_deref(), "FEATURES")?;
    let (reading, scale) = (&args.labelling.reading, scale(&making.scale)?);
    let table = reading.scaled_features(path, (false, scale), args.common.seed, terminal)?;
    check(args, &table, &making)?;
    let features = table.view();
    if !table.is_reduced() && table.categories.is_none() {
        let making = (&making.generator[..], &making.scale[..]);
        let advice = "--param scale=zscore lets all columns count";
        units::note(features, &table.names, making, advice, terminal);
    }
    if table.is_reduced() && reading.svd.is_none() && making.generator == "kmeans" {
        terminal.note(
            "sparse rows of very different sums, as those of documents are, are compared by their \
             directions under --param generator=spherical-kmeans",
        );
    }
    let beside = args.labelling.read(&table, terminal)?;
    let read = start.elapsed();

    let start = Instant::now();
    let fit = method.fit(features, terminal)?;
    let total = start.elapsed();
    terminal.note_all(&fit.report);
    let model = &fit.output.with_feature_names(&table.names)?;
    if outputs.wants("--model") {
        outputs.bytes("--model", model.to_bytes()?)?;
    }
    let trust = model.diagnostics_within(memory::budget())?;
    let mut summary = Summary::new();
    summary
        .both("method", "method", "consensus")
        .both("generator", "generator", making.generator.as_str())
        .both("function", "consensus function", making.function.as_str())
        .both("n", "objects", features.n_objects())
        .data("features", features.n_features())
        .both("members", "members", model.ensemble().n_members())
        .clusters(model.partition(), None)
        .report(&fit.report)
        .times(read, summary::stages(&fit.report), total)
        .data("anmi", trust.anmi)
        .line("agreement with the members", format!("{:.4}", trust.anmi));
    for sentence in &trust.sentences {
        summary.line("", sentence);
    }
    let assign = |new: consilience::Features<'_>| {
        let placed = model.place_observed(new, terminal)?;
        super::predict::note(&placed, terminal);
        Ok(placed.labels)
    };
    beside.finish(outputs, model.partition(), assign, summary, &args.common, terminal)
}

/// Refuses what the features do not go together with.
fn check(args: &Cluster, table: &Table, making: &Making) -> Outcome<()> {
    if let Some(path) = args.model.as_deref().map(Path::display) {
        ensure!(
            !table.is_reduced(),
            "--model {path}: a model does not hold how features were reduced; expected no --svd \
             and no sparse features"
        );
        ensure!(
            table.categories.is_none(),
            "--model {path}: a model does not hold how categories became features; expected no \
             --categorical"
        );
    }
    ensure!(
        !table.is_reduced() || making.scale == "none" || table.categories.is_some(),
        "--param scale={}: features are reduced before members are made, and a scale for each \
         dimension then would undo that; expected none",
        making.scale
    );
    Ok(())
}

/// Takes the options apart, and refuses at once what can be.
fn parse(args: &Cluster) -> Outcome<(ConsensusClustering, Making)> {
    ensure!(
        args.labels.is_none() && args.constraints.is_none(),
        "--method consensus takes no --labels or --constraints; expected another method, or \
         `update` with an ensemble"
    );
    ensure!(
        args.metric == "euclidean",
        "--metric {}: with --method consensus nothing says what to learn it from",
        args.metric
    );
    let (mut own, mut generator, mut function) = (Vec::new(), Vec::new(), Vec::new());
    for param in &args.params {
        if let Some(param) = param.strip_prefix("generator.") {
            generator.push(param.to_owned());
        } else if let Some(param) = param.strip_prefix("function.") {
            function.push(param.to_owned());
        } else {
            own.push(param.clone());
        }
    }
    let (method, seed) = (choices::find("--method", "consensus", &CONSENSUS)?, args.common.seed);
    let making = method.build(&(), &own)?;
    let scale = scale(&making.scale)?;
    // Beside categories the numbers are scaled already: another scale would undo what these count.
    let coded = !args.labelling.reading.categorical.is_empty();
    let members = members(&making, &generator, seed)
        .map(|members| members.scale(if coded { Scale::None } else { scale }));
    let members = choices::behind("generator.", &args.params, method, members)?;
    let request = Request::parse(&making.function, args.clusters, &function, seed);
    let request = choices::behind("function.", &args.params, method, request)?;
    let clustering = match args.clusters {
        Some(Count::Fixed(k)) => {
            ConsensusClustering::by(request).generator(members.consensus_clusters(k))
        }
        // The features are asked before the members, whatever the function.
        Some(Count::Auto) | None => ConsensusClustering::built(move |clusters| {
            Ok(Box::new(clusters.fixed().map_or(request.clone(), |k| request.of_clusters(k))))
        })
        .generator(members),
    };
    Ok((clustering, making))
}

/// The generator that is asked for.
fn members(making: &Making, params: &[String], seed: u64) -> Outcome<Generator> {
    let method = choices::find("--param generator", &making.generator, &METHODS)?;
    let mut generator = Generator::boxed(method.build(&(), params)?)
        .members(making.members)
        .feature_fraction(making.feature_fraction)
        .object_fraction(making.object_fraction)
        .seed(Seed(seed))
        .memory_budget(memory::budget());
    if let Some(range) = &making.range {
        generator = generator.clusters(cluster_range("--param range", range)?);
    }
    if let Some(dimensions) = making.projection {
        generator = generator.projection(dimensions);
    }
    Ok(generator)
}
