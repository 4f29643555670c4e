//! `consilience generate`: features to an ensemble of base clusterings.

use std::path::Path;
use std::time::Instant;

use consilience::generate::{CategoricalDistance, Generator, Missing, Scale};
use consilience::io::{DataTable, FeatureTable, Format, Labelled, Location};
use consilience::scores::Scores;
use consilience::{Ensemble, Error, ErrorKind, Features, Fit, Observer, Partition, Seed};
use ndarray::Axis;

use crate::args::{Generate, given};
use crate::categories::filled;
use crate::choices;
use crate::estimate;
use crate::failure::{Failure, Outcome};
use crate::files::{self, Objects, Reduced, Reduction, is_standard};
use crate::memory;
use crate::outputs::Outputs;
use crate::summary::{self, Summary};
use crate::tables::generate::{METHODS, SOFT, SPARSE, cluster_range, missing, scale};
use crate::terminal::Terminal;
use crate::units;

/// Runs the command.
pub(crate) fn run(args: &Generate, terminal: &Terminal) -> Outcome<()> {
    let generator = generator(args)?;
    distance(args)?;
    let path = given(args.features.as_deref(), "FEATURES")?;
    let output = given(args.output.as_deref(), "--output ENSEMBLE")?;
    check_format(args, output)?;
    let mut outputs = Outputs::new(&args.common).table("-o", "ensemble", Some(output))?;

    let start = Instant::now();
    let holes = args.missing != "error";
    let (categorical, drop) = (&args.categorical, &args.drop);
    let table = files::data_table(path, categorical, drop, holes, terminal)?;
    if holes {
        files::check_columns(&table).map_err(|e| e.within(path.display()))?;
    }
    let n = table.n_objects();
    let objects = Objects { n, ids: table.ids().cloned() };
    outputs.ids(objects.ids.as_ref(), terminal);
    let truth = files::truth(args.truth.as_deref(), &objects, terminal)?;
    let read = start.elapsed();

    let start = Instant::now();
    let fit = ensemble_of(args, &generator, &table, terminal)?;
    let total = start.elapsed();
    terminal.note_all(&fit.report);
    let ensemble = &fit.output;
    outputs.labels("-o", Labelled::All(ensemble), terminal)?;

    let sizes: Vec<usize> = ensemble.members().iter().map(|m| m.n_clusters()).collect();
    let found = (sizes.iter().min().unwrap_or(&0), sizes.iter().max().unwrap_or(&0));
    // Of categories alone, which are members as they are, none is drawn.
    let drawn = table.numbers().is_some() || args.categorical_distance.is_some();
    let range = drawn.then(|| generator.cluster_range(n)).transpose()?;
    let mut summary = Summary::new();
    summary
        .both("method", "method", args.method.as_str())
        .both("n", "objects", n)
        .both("features", "features", table.view().map_or(0, |x| x.n_features()))
        .data("categories", table.categories().map_or(0, |c| c.ensemble().n_members()))
        .both("members", "members", ensemble.n_members())
        .data("range", range.as_ref().map(|range| vec![*range.start(), *range.end()]));
    if let Some(range) = &range {
        summary.line("drawn from", format!("{} to {} clusters", range.start(), range.end()));
    }
    summary
        .line("clusters", format!("{} to {}", found.0, found.1))
        .data("clusters", sizes)
        .report(&fit.report)
        .times(read, summary::stages(&fit.report), total);
    if let Some(truth) = &truth {
        summary.line("", "mean over the members:").scores(&mean_scores(
            ensemble,
            &truth.partition,
            terminal,
        )?);
    }
    outputs.conclude(summary, &args.common, terminal)
}

/// Refuses before the work a file that holds labels alone, where members may be memberships.
fn check_format(args: &Generate, output: &Path) -> Outcome<()> {
    let method = &args.method[..];
    let labels_alone = is_standard(output)
        || Location::parse(output).is_ok_and(|location| location.format != Format::Npz);
    ensure!(
        !labels_alone || !SOFT.contains(&method),
        "{}: a file other than .npz takes labels, {method} gives memberships; expected .npz, of \
         which consensus --harden takes the most probable clusters",
        output.display()
    );
    Ok(())
}

/// The ensemble of a table of numbers, of categories or of both.
fn ensemble_of(
    args: &Generate,
    generator: &Generator,
    table: &DataTable,
    terminal: &Terminal,
) -> Outcome<Fit<Ensemble>> {
    if let (Some(distance), Some(categories)) = (distance(args)?, table.categories()) {
        let way = missing(&args.missing, false)?;
        let numbers = filled(table, way, terminal)?
            .map(|x| scale(&args.scale)?.scaled(&x).map_err(Failure::from))
            .transpose()?;
        let columns = categories.ensemble();
        let mut embedding = distance.embedding(columns).memory_budget(memory::budget());
        let x = embedding.embed(numbers.as_ref().map(Into::into), columns)?;
        let reduced = reduction(args).table((&x).into(), terminal)?;
        let x = reduced.map_or(x, |reduced| reduced.table);
        // What is scaled is scaled already: another scale would change what categories count.
        return Ok(self::generator(args)?.scale(Scale::None).fit(&x, terminal)?);
    }
    let numbers = table.numbers().map(FeatureTable::view);
    let reduced = numbers.map(|x| reduced(args, table, x, terminal)).transpose()?.flatten();
    let own = reduced.is_some().then(|| self::generator(args)).transpose()?;
    // What is reduced is scaled already.
    let own = own.map(|generator| generator.scale(Scale::None).missing(Missing::Refuse));
    let generator = own.as_ref().unwrap_or(generator);
    if let (Some(reduced), None) = (&reduced, table.categories()) {
        announce(args, generator, (&reduced.table).into(), terminal)?;
        return Ok(generator.fit(&reduced.table, terminal)?);
    }
    let numbers = reduced.as_ref().map_or(numbers, |reduced| Some((&reduced.table).into()));
    Ok(match table.categories() {
        Some(categories) => {
            let mut fit = generator.fit_mixed(numbers, categories.ensemble(), terminal)?;
            if table.numbers().is_none() {
                fit.report.notes.extend(unused(args));
            }
            fit
        }
        None => {
            let x = table.view()?;
            let making = (&args.method[..], &args.scale[..]);
            units::note(
                x,
                table.number_names(),
                making,
                "--scale zscore lets all columns count",
                terminal,
            );
            announce(args, generator, x, terminal)?;
            generator.fit(x, terminal)?
        }
    })
}

/// Says which options change nothing, where all columns are categories.
fn unused(args: &Generate) -> Option<String> {
    let given = [
        ("--method", args.method != "kmeans"),
        ("--param", !args.params.is_empty()),
        ("--clusters", args.clusters.is_some()),
        ("--feature-fraction", args.feature_fraction.is_some()),
        ("--object-fraction", args.object_fraction.is_some()),
        ("--projection", args.projection.is_some()),
        ("--svd", args.svd.is_some()),
        ("--scale", args.scale != "none"),
    ];
    let names: Vec<&str> =
        given.into_iter().filter(|option| option.1).map(|option| option.0).collect();
    (!names.is_empty()).then(|| {
        format!(
            "all columns are categories, which are members as they are: {} not used",
            match &names[..] {
                [one] => format!("{one} is"),
                several => format!("{} are", several.join(", ")),
            }
        )
    })
}

fn reduction(args: &Generate) -> Reduction {
    Reduction {
        dimensions: args.svd,
        takes_sparse: SPARSE.contains(&&args.method[..]) || args.projection.is_some(),
        seed: Seed(args.common.seed),
    }
}

/// The numbers in few dimensions, where that is asked for or needed: filled in and scaled before.
fn reduced(
    args: &Generate,
    table: &DataTable,
    numbers: Features<'_>,
    terminal: &Terminal,
) -> Outcome<Option<Reduced>> {
    let reduction = reduction(args);
    if !reduction.reduces(numbers) {
        return Ok(None);
    }
    let (way, scale) = (missing(&args.missing, true)?, scale(&args.scale)?);
    ensure!(
        way != Missing::Member,
        "--missing member: a reduction needs every value; expected mean, median or nearest, or no \
         --svd"
    );
    if !numbers.is_sparse() {
        let filled = filled(table, way, terminal)?;
        let scaled = filled.map(|x| scale.scaled(&x)).transpose()?;
        return match &scaled {
            Some(x) => reduction.table(x.into(), terminal),
            None => Ok(None),
        };
    }
    ensure!(
        scale == Scale::None,
        "--scale {}: sparse features on a common scale are no longer sparse; expected none, or \
         features scaled beforehand",
        args.scale
    );
    reduction.table(numbers, terminal)
}

/// Says how long the members will take, where their time grows with the square of the objects or
/// more and features are a table without holes.
fn announce(
    args: &Generate,
    generator: &Generator,
    x: Features<'_>,
    terminal: &Terminal,
) -> Outcome<()> {
    if !SQUARE.contains(&&args.method[..]) || args.missing != "error" {
        return Ok(());
    }
    let Ok(table) = x.dense() else { return Ok(()) };
    let n = x.n_objects();
    let asked = generator.cluster_range(n)?;
    let shares = args.object_fraction.unwrap_or(1.0);
    let one = |rows: usize, observer: &dyn Observer| -> consilience::Result<()> {
        let few = table.to_f64()?.select(Axis(0), &evenly(n, rows));
        let range = (*asked.start()).min(rows)..=(*asked.end()).min(rows);
        let trial = self::generator(args).map_err(|_| Error::invalid("another trial"))?;
        trial.members(1).object_fraction(1.0).clusters(range).fit(&few, observer).map(drop)
    };
    let seen = (n as f64 * shares).ceil() as usize;
    Ok(estimate::announce_members(seen, args.members, terminal, one)?)
}

/// So many of n rows, at even distances.
fn evenly(n: usize, rows: usize) -> Vec<usize> {
    (0..rows).map(|r| r * n / rows).collect()
}

/// Methods that compare all objects with each other.
const SQUARE: [&str; 3] = ["agglomerative", "kernel-kmeans", "spectral"];

/// How far apart categories are, where they are to be features.
fn distance(args: &Generate) -> Outcome<Option<CategoricalDistance>> {
    Ok(args.categorical_distance.as_deref().map(str::parse).transpose()?)
}

fn generator(args: &Generate) -> Outcome<Generator> {
    let method = choices::find("--method", &args.method, &METHODS)?;
    let mut generator = Generator::boxed(method.build(&(), &args.params)?)
        .members(args.members)
        .scale(scale(&args.scale)?)
        .missing(missing(&args.missing, true)?)
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

/// The mean over the members that label an object of which the truth is known.
fn mean_scores(
    ensemble: &Ensemble,
    truth: &Partition,
    terminal: &Terminal,
) -> Outcome<Vec<(&'static str, f64)>> {
    let mut scores: Vec<Scores> = Vec::new();
    for member in ensemble.members() {
        match Scores::compare(member, truth) {
            Ok(found) => scores.push(found),
            Err(error) if error.kind() == ErrorKind::Empty => {}
            Err(error) => return Err(error.into()),
        }
    }
    ensure!(!scores.is_empty(), "--truth: no member labels an object with a true label");
    let apart = ensemble.n_members() - scores.len();
    match apart {
        0 => {}
        1 => terminal.note("1 member labels no object with a true label: no scores"),
        more => {
            terminal.note(format!("{more} members label no object with a true label: no scores"));
        }
    }
    Ok(summary::mean_scores(&scores))
}
