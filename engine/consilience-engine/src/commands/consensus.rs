//! `consilience-engine consensus`: an ensemble to one clustering.

use std::fmt::Write;

use consilience::catalogue::{AnyConsensus, Method, NamedResult, Settings, by_name, methods};
use consilience::scores::Scores;
use consilience::trust::{ClusterNumber, Diagnostics};
use consilience::{Clusters, ErrorKind, Fit, Memberships, MemoryBudget, Report, Seed};
use consilience_datafusion::{DistinctRows, Engine, Output, Table};
use serde_json::json;

use crate::args::{Consensus, Count};
use crate::diagnostics;
use crate::failure::{Failure, Outcome};
use crate::summary::{self, Clock, Summary};
use crate::terminal::Terminal;

/// Methods that need no table of all pairs of distinct rows.
const LINEAR: &str = "hbgf, lwgp, diffusion or usenc";
/// Bytes that those take at their peak for each label of a distinct row, as measured with HBGF on
/// 20 million rows of 20 labels.
const WORK: u64 = 16;

/// Runs the command.
pub(crate) fn run(args: &Consensus, terminal: &Terminal) -> Outcome<()> {
    if args.list {
        return list(args, terminal);
    }
    let Some(path) = &args.ensemble else {
        return Err(Failure::bad("expected ENSEMBLE, or --list; see --help"));
    };
    // Everything that can be refused at once is, before the first row is read.
    let request = Request::parse(args)?;
    let table = super::ensemble(path, args.id.as_deref(), &args.columns, terminal)?;
    let truth = args.truth.as_ref().map(Table::open).transpose()?;
    if let Some(truth) = truth.as_ref().filter(|truth| truth.n_rows() != table.n_rows()) {
        let (ours, theirs) = (table.n_rows(), truth.n_rows());
        return Err(Failure::bad(format!("--truth: {theirs} rows; expected {ours}")));
    }
    if let Some(truth) = truth.as_ref().filter(|truth| truth.names().len() != 1) {
        let columns = truth.names().len();
        return Err(Failure::bad(format!("--truth: {columns} columns; expected one")));
    }
    if let Some(truth) = &truth {
        super::kept(truth, [args.output.as_deref(), args.soft.as_deref()])?;
    }
    let mut output = super::output(args.output.as_deref(), &table, &args.common)?;
    let mut soft = super::output(args.soft.as_deref(), &table, &args.common)?;
    super::apart(output.as_ref(), soft.as_ref())?;
    let engine = crate::engine(&args.common, args.output.as_deref().or(args.soft.as_deref()))?;

    let mut clock = Clock::start();
    let rows = match args.sample {
        Some(sample) => engine.sample(&table, sample, Seed(args.common.seed), terminal)?,
        None => engine.distinct(&table, terminal)?,
    };
    clock.step("group");
    let Fit { output: found, report, .. } = request.run(&engine, &rows, terminal)?;
    clock.step("combine");
    terminal.note_all(&report);

    let mut summary = Summary::new();
    summary.both("method", "method", args.method.as_str());
    tell(&table, &rows, &found, &report, &mut summary);
    if args.diagnose {
        let left = MemoryBudget::bytes(engine.memory().saturating_sub(rows.bytes()));
        let trust = Diagnostics::within(rows.ensemble(), &found.partition, left)?;
        diagnostics::tell(&trust, rows.ensemble().counts(), &mut summary);
        clock.step("diagnose");
    }
    if let Some(output) = &mut output {
        write(&engine, &table, &rows, &found, output, &mut summary, terminal)?;
        clock.step("write");
        if let Some(truth) = truth {
            let labels = output.written()?.only("label")?;
            let cells = engine.contingency(&labels, &truth, terminal)?;
            summary.scores(&Scores::of(&cells)?.entries());
            clock.step("score");
        }
    }
    if let Some(soft) = &mut soft {
        let memberships = memberships(&args.method, &found, terminal);
        engine.write_memberships(&table, &rows, &memberships, soft, terminal)?;
        clock.step("soft");
    }
    clock.tell(&mut summary);
    let outputs = [("labels", output), ("memberships", soft)];
    super::conclude(outputs, summary, &args.common, terminal)
}

/// What was combined into what.
fn tell(
    table: &Table,
    rows: &DistinctRows,
    found: &NamedResult,
    report: &Report,
    summary: &mut Summary,
) {
    summary
        .both("n", "objects", table.n_rows())
        .both("files", "files", table.n_files())
        .both("members", "members", table.names().len())
        .both("rows", "distinct rows", rows.n_distinct())
        .data("microclusters", report.microclusters)
        .both("clusters", "clusters", found.partition.n_clusters())
        .report(report);
    if let Some(bound) = report.error_bound {
        summary.data("error_bound", bound).line("error bound", format!("{bound:.2e}"));
    }
    if rows.is_sample() {
        summary.both("sample", "sampled rows", rows.ensemble().n_objects());
    }
}

/// The memberships, or those of a hard clustering.
fn memberships(method: &str, found: &NamedResult, terminal: &Terminal) -> Memberships {
    found.memberships.clone().unwrap_or_else(|| {
        let but = match found.partition.n_clusters() {
            k if k > 1 && !found.partition.is_complete() => {
                format!(", those of unlabelled objects 1/{k}")
            }
            _ => String::new(),
        };
        terminal.note(format!("{method} gives a hard clustering: its memberships are 0 or 1{but}"));
        Memberships::from(&found.partition)
    })
}

fn write(
    engine: &Engine,
    table: &Table,
    rows: &DistinctRows,
    found: &NamedResult,
    output: &mut Output,
    summary: &mut Summary,
    terminal: &Terminal,
) -> Outcome<()> {
    let labelled = engine.write_labels(table, rows, &found.partition, output, terminal)?;
    summary.data("sizes", json!(labelled.sizes));
    if rows.is_sample() {
        summary.both("placed", "objects placed", labelled.placed);
    }
    if labelled.unlabelled > 0 {
        summary.both("unlabelled", "unlabelled", labelled.unlabelled);
    }
    Ok(())
}

/// A method, and into how many clusters it is to combine.
struct Request<'a> {
    args: &'a Consensus,
    method: &'static Method,
    clusters: Number,
}

/// How many clusters are to come out.
#[derive(Clone, Copy)]
enum Number {
    Fixed(usize),
    /// As many as the method itself finds.
    Own,
    /// Chosen by several criteria.
    Agreed,
}

impl<'a> Request<'a> {
    fn parse(args: &'a Consensus) -> Outcome<Self> {
        let method = by_name(&args.method)?;
        let clusters = match args.clusters {
            Some(Count::Fixed(k)) => Number::Fixed(k),
            None if method.chooses_clusters() => Number::Own,
            Some(Count::Auto) | None => Number::Agreed,
        };
        let request = Request { args, method, clusters };
        let any = match clusters {
            Number::Fixed(k) => Clusters::Fixed(k),
            Number::Own | Number::Agreed => Clusters::Auto,
        };
        request.build(any, MemoryBudget::default())?;
        Ok(request)
    }

    fn build(&self, clusters: Clusters, budget: MemoryBudget) -> Outcome<AnyConsensus> {
        let seed = Seed(self.args.common.seed);
        let mut settings = Settings::new(clusters).seed(seed).memory_budget(budget);
        for param in &self.args.params {
            let Some((name, value)) = param.split_once('=') else {
                return Err(Failure::Bad(format!("--param {param}: expected name=value")));
            };
            settings = settings.parameter(name, value);
        }
        Ok(self.method.build(&settings)?)
    }

    fn run(
        &self,
        engine: &Engine,
        rows: &DistinctRows,
        terminal: &Terminal,
    ) -> Outcome<Fit<NamedResult>> {
        let left = engine.memory().saturating_sub(rows.bytes());
        let clusters = match self.clusters {
            Number::Fixed(k) => Clusters::Fixed(k),
            Number::Own => Clusters::Auto,
            Number::Agreed => {
                let number = ClusterNumber::new()
                    .seed(Seed(self.args.common.seed))
                    .memory_budget(MemoryBudget::bytes(left));
                let table = number.fit(rows.ensemble(), terminal)?;
                terminal.note_all(&table.report);
                Clusters::Fixed(table.output.recommended)
            }
        };
        let (n, members) = (rows.ensemble().n_objects(), rows.ensemble().n_members());
        let work = n as u64 * members as u64 * WORK;
        if work > left {
            return Err(Failure::Bad(format!(
                "{n} distinct rows of {members} labels need some {work} bytes of memory beside the \
                 rows, whatever the method; {left} of {} are left, expected a larger --memory, or \
                 --sample ROWS",
                engine.memory(),
            )));
        }
        let method = self.build(clusters, MemoryBudget::bytes(left))?;
        method.fit(rows.ensemble(), terminal).map_err(|error| match error.kind() {
            ErrorKind::TooLarge => Failure::Bad(format!(
                "{} distinct rows are too many for {} in {} bytes of memory ({error}); expected \
                 {LINEAR}, or --sample ROWS",
                rows.ensemble().n_objects(),
                self.method.name(),
                engine.memory(),
            )),
            _ => Failure::from(error),
        })
    }
}

/// The methods with their papers.
fn list(args: &Consensus, terminal: &Terminal) -> Outcome<()> {
    if !args.common.json {
        let mut text = String::new();
        for m in methods() {
            let _ = writeln!(text, "{:14} {}. {}", m.name(), m.about(), m.paper());
        }
        return summary::print(&text);
    }
    let methods: Vec<_> = methods()
        .iter()
        .map(|m| json!({ "name": m.name(), "about": m.about(), "paper": m.paper() }))
        .collect();
    let mut summary = Summary::new();
    summary.data("methods", methods);
    summary.print(&args.common, terminal)
}
