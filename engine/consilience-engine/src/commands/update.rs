//! `consilience-engine update`: an ensemble and constraints to one clustering.

use consilience::catalogue::{Settings, by_name};
use consilience::simplex::{AdditiveUpdate, ExactUpdate, MultiplicativeUpdate, UpdateRule};
use consilience::{Clusters, MemoryBudget, Pair, Seed};
use consilience_datafusion::Output;
use serde_json::{Value, json};

use crate::args::Update;
use crate::failure::{Failure, Outcome};
use crate::summary::{Clock, Summary};
use crate::terminal::Terminal;

/// Runs the command.
pub(crate) fn run(args: &Update, terminal: &Terminal) -> Outcome<()> {
    let rule = rule(&args.rule)?;
    let method = by_name(&args.method)?;
    let batches: Vec<Vec<Pair>> = consilience_io::read_batches(&args.constraints)?
        .into_iter()
        .map(|batch| batch.pairs)
        .collect();
    let table = super::ensemble(&args.ensemble, args.id.as_deref(), &args.columns)?;
    let mut output = args.output.as_ref().map(|place| Output::new(place, &table)).transpose()?;
    let engine = crate::engine(&args.common, args.output.as_deref())?;

    let mut clock = Clock::start();
    let rows = engine.distinct(&table, terminal)?;
    clock.step("group");
    let clusters = args.clusters.map_or(Clusters::Auto, Clusters::Fixed);
    let left = MemoryBudget::bytes(engine.memory().saturating_sub(rows.bytes()));
    let settings = Settings::new(clusters).seed(Seed(args.common.seed)).memory_budget(left);
    let start = method.build(&settings)?.fit(rows.ensemble(), terminal)?.output.partition;
    clock.step("combine");
    let followed = engine.follow(&table, &rows, &start, rule, &batches, terminal)?;
    clock.step("follow");

    let done: Vec<Value> = followed
        .batches
        .iter()
        .map(|batch| {
            json!({
                "new_constraints": batch.new_constraints,
                "violated_before": batch.before.total(),
                "violated": batch.after.total(),
                "status": batch.status.name(),
            })
        })
        .collect();
    let links: usize = followed.batches.iter().map(|batch| batch.new_constraints).sum();
    let broken: usize = followed.batches.iter().map(|batch| batch.after.total()).sum();
    let mut summary = Summary::new();
    summary
        .both("rule", "rule", args.rule.as_str())
        .both("n", "objects", table.n_rows())
        .both("files", "files", table.n_files())
        .both("members", "members", table.names().len())
        .both("rows", "distinct rows", rows.n_distinct())
        .both("constraints", "constraints", links)
        .line("violated after their batch", broken)
        .both("clusters", "clusters", followed.labels.n_clusters())
        .data("weights", json!(followed.weights))
        .data("batches", done);
    if let Some(output) = &mut output {
        let told = engine.write_labels(&table, &rows, &followed.labels, output, terminal)?;
        summary.data("sizes", json!(told.sizes));
        clock.step("write");
    }
    clock.tell(&mut summary);
    super::conclude(output, summary, &args.common, terminal)
}

fn rule(name: &str) -> Outcome<UpdateRule> {
    match name {
        "exact" => Ok(ExactUpdate::default().into()),
        "additive" => Ok(AdditiveUpdate::default().into()),
        "multiplicative" => Ok(MultiplicativeUpdate::default().into()),
        _ => Err(Failure::Bad(format!(
            "--rule {name}: expected one of exact, additive, multiplicative"
        ))),
    }
}
