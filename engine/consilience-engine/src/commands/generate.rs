//! `consilience-engine generate`: features to an ensemble of base clusterings.

use std::ops::RangeInclusive;

use consilience::Seed;
use consilience::generate::Scale;
use consilience_datafusion::{MemberMethod, MemberSetup};

use crate::args::Generate;
use crate::failure::{Failure, Outcome};
use crate::summary::{Clock, Summary};
use crate::terminal::Terminal;

/// Runs the command.
pub(crate) fn run(args: &Generate, terminal: &Terminal) -> Outcome<()> {
    let method = method(args)?;
    let scale = args.scale.parse::<Scale>();
    let mut setup = MemberSetup::new()
        .method(method)
        .scale(scale.map_err(|error| Failure::from(error).within("--scale"))?)
        .members(args.members)
        .feature_fraction(args.feature_fraction)
        .object_fraction(args.object_fraction)
        .passes(args.passes)
        .seed(Seed(args.common.seed));
    if let Some(range) = &args.clusters {
        setup = setup.clusters(clusters(range)?);
    }
    if let Some(sample) = args.sample {
        setup = setup.sample(sample);
    }
    let table = super::ensemble(&args.features, args.id.as_deref(), &[], terminal)?;
    let mut output = super::open(&args.output, &table, &args.common)?;
    let engine = crate::engine(&args.common, Some(&args.output))?;

    let mut clock = Clock::start();
    let done = engine.generate(&table, &setup, &mut output, terminal)?;
    clock.step("generate");
    if !done.converged {
        terminal.note(match done.passes {
            0 => "some members stopped at the cap on iterations".to_owned(),
            passes => format!("centres still moved after {passes} passes"),
        });
    }
    let mut summary = Summary::new();
    summary
        .both("method", "method", method.name())
        .both("n", "objects", table.n_rows())
        .both("files", "files", table.n_files())
        .both("features", "features", table.names().len())
        .both("members", "members", done.clusters.len())
        .both("sample", "made from", done.sample)
        .both("passes", "passes", done.passes)
        .data("converged", done.converged)
        .data("clusters", done.clusters);
    clock.tell(&mut summary);
    super::conclude([("ensemble", Some(output))], summary, &args.common, terminal)
}

/// The base clusterer with its parameters.
fn method(args: &Generate) -> Outcome<MemberMethod> {
    let named = args.method.parse::<MemberMethod>();
    let mut method = named.map_err(|error| Failure::from(error).within("--method"))?;
    for param in &args.params {
        let Some((name, value)) = param.split_once('=') else {
            return Err(Failure::Bad(format!("--param {param}: expected name=value")));
        };
        let set = method.parameter(name, value);
        method = set.map_err(|error| Failure::from(error).within("--param"))?;
    }
    Ok(method)
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
