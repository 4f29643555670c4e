//! `consilience-engine update`: an ensemble and constraints to one clustering.

use std::path::{Path, PathBuf};
use std::time::Duration;

use consilience::catalogue::{Method, Settings, by_name};
use consilience::{Clusters, MemoryBudget, Observer, Pair, Partition, Seed};
use consilience_datafusion::{DistinctRows, Engine, FollowRule, Followed, UpdateState};
use consilience_io::{FileLock, OutputFile};
use serde_json::{Value, json};

use crate::args::Update;
use crate::failure::{Failure, Outcome};
use crate::memory;
use crate::summary::{Clock, Summary};
use crate::terminal::Terminal;

/// The rule where neither the user nor a stored state names one.
const RULE: &str = "metric";
/// How often it is asked whether a state is free.
const LOOK: Duration = Duration::from_millis(20);

/// Runs the command.
pub(crate) fn run(args: &Update, terminal: &Terminal) -> Outcome<()> {
    let method = by_name(&args.method)?;
    if let Some(rule) = &args.rule {
        let named = FollowRule::named(rule, 1, Seed(0));
        named.map_err(|error| Failure::from(error).within("--rule"))?;
    }
    // Held until the new state is in its place.
    let mut kept = args.state.as_deref().map(|path| Kept::open(path, terminal)).transpose()?;
    let new = links(args)?;
    let table = super::ensemble(&args.ensemble, args.id.as_deref(), &args.columns, terminal)?;
    let mut output = super::output(args.output.as_deref(), &table, &args.common)?;
    let engine = crate::engine(&args.common, args.output.as_deref())?;

    let mut clock = Clock::start();
    let rows = engine.distinct(&table, terminal)?;
    clock.step("group");
    let stored = kept.as_ref().and_then(|kept| kept.bytes.as_deref());
    let resumed = stored.is_some();
    let mut state = match (stored, &args.state) {
        (Some(bytes), Some(path)) => resume(args, bytes, path, &rows)?,
        _ => open(args, method, &engine, &rows, terminal)?,
    };
    clock.step("combine");
    let before = state.batches.len();
    state.batches.extend(new);
    let rule = state.rule()?;
    let (start, batches) = (&state.reference, &state.batches);
    let followed = engine.follow(&table, &rows, start, rule, batches, terminal)?;
    if let Some((object, _)) = state.linked.iter().find(|l| followed.rows.binary_search(l).is_err())
    {
        let place = args.state.as_deref().unwrap_or(Path::new("")).display();
        return Err(Failure::Bad(format!(
            "{place}: a state over a table whose rows are in another order: the labels of object \
             {object} differ"
        )));
    }
    state.linked.clone_from(&followed.rows);
    clock.step("follow");

    let mut summary = Summary::new();
    summary
        .both("rule", "rule", state.rule.as_str())
        .both("n", "objects", table.n_rows())
        .both("files", "files", table.n_files())
        .both("members", "members", table.names().len())
        .both("rows", "distinct rows", rows.n_distinct())
        .data("resumed", resumed);
    tell(&followed, before, &mut summary);
    if let Some(output) = &mut output {
        let told = engine.write_followed(&table, &rows, &followed, output, terminal)?;
        summary.data("sizes", json!(told.sizes));
        clock.step("write");
    }
    if let Some(kept) = &mut kept {
        kept.file.write(state.to_bytes(&rows))?;
        kept.file.finish()?;
        summary.line("state", kept.path.display());
    }
    clock.tell(&mut summary);
    let state = kept.map(|kept| (kept.file, kept.lock));
    let labels = [("labels", output)];
    super::conclude_with(labels, summary, &args.common, terminal, || match state {
        Some((file, _lock)) => Ok(file.commit()?),
        None => Ok(()),
    })
}

/// The new links, batch by batch.
fn links(args: &Update) -> Outcome<Vec<Vec<Pair>>> {
    let Some(path) = &args.constraints else { return Ok(Vec::new()) };
    let batches = consilience_io::read_batches(path)?.into_iter().map(|batch| batch.pairs);
    Ok(batches.filter(|pairs| !pairs.is_empty()).collect())
}

/// A new state: what the method makes of the rows is what members are aligned to.
fn open(
    args: &Update,
    method: &Method,
    engine: &Engine,
    rows: &DistinctRows,
    terminal: &Terminal,
) -> Outcome<UpdateState> {
    let clusters = args.clusters.map_or(Clusters::Auto, Clusters::Fixed);
    let left = MemoryBudget::bytes(engine.memory().saturating_sub(rows.bytes()));
    let settings = Settings::new(clusters).seed(Seed(args.common.seed)).memory_budget(left);
    let start = method.build(&settings)?.fit(rows.ensemble(), terminal)?.output.partition;
    let rule = args.rule.as_deref().unwrap_or(RULE);
    Ok(UpdateState::new(rule, start, Seed(args.common.seed))?)
}

/// The stored state, unless the options ask for another.
fn resume(args: &Update, bytes: &[u8], path: &Path, rows: &DistinctRows) -> Outcome<UpdateState> {
    let place = path.display();
    let state =
        UpdateState::from_bytes(bytes, rows).map_err(|error| Failure::from(error).within(place))?;
    let k = state.reference.n_clusters();
    if let Some(asked) = args.clusters.filter(|&asked| asked != k) {
        let place = path.display();
        return Err(Failure::Bad(format!("--clusters {asked}: {place} is of {k} clusters")));
    }
    if let Some(asked) = args.rule.as_ref().filter(|asked| **asked != state.rule) {
        let (place, rule) = (path.display(), &state.rule);
        return Err(Failure::Bad(format!("--rule {asked}: {place} follows by the rule {rule}")));
    }
    Ok(state)
}

/// What the links did; those of the stored batches were told before.
fn tell(followed: &Followed, before: usize, summary: &mut Summary) {
    let new = &followed.batches[before.min(followed.batches.len())..];
    let done: Vec<Value> = new
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
    let broken: usize = new.iter().map(|batch| batch.after.total()).sum();
    summary
        .both("constraints", "constraints", links)
        .line("violated by the weights after their batch", broken)
        .both("clusters", "clusters", clusters(followed))
        .data("weights", json!(followed.weights))
        .data("batches", done);
    if let Some(validation) = &followed.cross_validation {
        summary.both("reading", "read out", validation.chosen.name());
    }
}

/// Clusters that some object is in.
fn clusters(followed: &Followed) -> usize {
    let rows: &Partition = &followed.labels;
    let linked = followed.linked.iter().filter_map(|&(_, label)| label).max();
    rows.n_clusters().max(linked.map_or(0, |label| label + 1))
}

/// The place of a state, which nobody else may change meanwhile.
struct Kept {
    path: PathBuf,
    bytes: Option<Vec<u8>>,
    file: OutputFile,
    lock: FileLock,
}

impl Kept {
    fn open(path: &Path, terminal: &Terminal) -> Outcome<Self> {
        if std::fs::metadata(path).is_ok_and(|found| !found.is_file()) {
            return Err(Failure::Bad(format!(
                "{}: is no regular file; expected a state that can be read and replaced",
                path.display()
            )));
        }
        let lock = loop {
            if let Some(lock) = FileLock::try_new(path)? {
                break lock;
            }
            terminal.check()?;
            std::thread::sleep(LOOK);
        };
        let bytes = match path.try_exists() {
            Ok(false) => None,
            _ => Some(consilience_io::read_bytes(path, memory::budget())?),
        };
        Ok(Kept { path: path.to_path_buf(), bytes, file: OutputFile::any(path)?, lock })
    }
}
