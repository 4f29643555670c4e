//! `consilience update`: a consensus that follows constraints, batch by batch.

mod findings;
mod follow;
mod state;

use std::path::Path;
use std::time::{Duration, Instant};

use consilience::core::assignment::max_assignment;
use consilience::generate::Missing;
use consilience::io::{Batch, FileLock, Labelled, ObjectIds};
use consilience::simplex::{Questions, relabelled_within};
use consilience::{Ensemble, Observer, Partition, Seed};
use ndarray::{Array2, ArrayView2, Axis};
use serde_json::json;

use super::{labelled_otherwise, violated};
use crate::args::{Update, given};
use crate::failure::{Failure, Outcome};
use crate::files::{self, Objects};
use crate::joins::by_id;
use crate::memory;
use crate::outputs::Outputs;
use crate::summary::Summary;
use crate::tables::generate::scale;
use crate::terminal::Terminal;
use follow::{Followed, Plan};

/// Runs the command.
pub(crate) fn run(args: &Update, terminal: &Terminal) -> Outcome<()> {
    let stream = args.state.as_deref().is_some_and(files::is_standard);
    ensure!(!stream, "--state -: a state is read and written; expected a file");
    let plan = Plan::parse(args)?;
    let mut outputs = Outputs::new(&args.common)
        .table("-o", "labels", args.output.as_deref())?
        .table("--soft", "memberships", args.soft.as_deref())?
        .any("--state", "state", args.state.as_deref())?;

    let start = Instant::now();
    // Held until the new state is in its place.
    let _lock = args.state.as_deref().map(|path| lock(path, terminal)).transpose()?;
    let inputs = Inputs::read(args, terminal)?;
    let read = start.elapsed();

    let start = Instant::now();
    let Inputs { truth, since, .. } = &inputs;
    let (truth, since) = (truth.clone(), since.clone());
    let ids = inputs.ids.clone();
    outputs.ids(ids.as_ref(), terminal);
    let followed = plan.follow(inputs, terminal)?;
    let total = start.elapsed();
    terminal.note_all(&followed.report);
    let questions = ask(args, &followed)?;
    let (partition, updater) = (&followed.partition, &followed.updater);
    let changed =
        since.map(|before| relabelled_within(&before, partition, memory::budget())).transpose()?;

    outputs.labels("-o", Labelled::One(partition), terminal)?;
    if outputs.wants("--soft") {
        let counts = updater.ensemble().counts();
        let soft = updater.by_weights().memberships()?;
        let soft = numbered_as(partition, soft.values(), counts);
        tell_apart(args, &followed, soft.view(), terminal);
        outputs.numbers("--soft", soft.view(), terminal)?;
    }
    if outputs.wants("--state") {
        outputs.bytes("--state", state::sealed(updater.to_bytes(), ids.as_ref()))?;
    }
    let mut summary = Summary::new();
    findings::followed(&followed, &mut summary);
    let told = updater.constraints().iter().chain(updater.disputed().iter().copied());
    let (must, cannot) = violated(told, partition);
    summary
        .data("violated", json!({ "must": must, "cannot": cannot }))
        .line("violated", must + cannot)
        .report(&followed.report)
        .times(read, followed.seconds.entries(), total);
    if let Some(changed) = changed {
        findings::changed(changed, updater.ensemble().counts(), &mut summary);
    }
    if let Some(questions) = &questions {
        findings::questions(questions, ids.as_ref(), &mut summary);
    }
    if let Some(truth) = truth {
        summary.against(partition, &truth, updater.ensemble().counts())?;
    }
    outputs.conclude(summary, &args.common, terminal)
}

/// What to ask about next, if the user wants to know.
fn ask(args: &Update, followed: &Followed) -> Outcome<Option<Questions>> {
    if args.ask == 0 {
        return Ok(None);
    }
    Ok(Some(followed.updater.next_questions(args.ask, Seed(args.common.seed))?))
}

/// Keeps other updates of the same state waiting, which would lose what this one adds.
fn lock(path: &Path, terminal: &Terminal) -> Outcome<FileLock> {
    let special = std::fs::metadata(path).is_ok_and(|found| !found.is_file());
    ensure!(
        !special,
        "{}: is no regular file; expected a state that can be read and replaced",
        path.display()
    );
    let mut told = false;
    loop {
        if let Some(lock) = FileLock::try_new(path)? {
            return Ok(lock);
        }
        if !std::mem::replace(&mut told, true) {
            terminal.now(&format!("waiting for another update of {}", path.display()));
        }
        terminal.check()?;
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// What was read.
struct Inputs {
    ensemble: Ensemble,
    /// What its objects and the new ones are called.
    ids: Option<ObjectIds>,
    /// The labels that the members give to objects that the ensemble does not have yet.
    new: Option<Array2<i64>>,
    batches: Vec<Batch>,
    features: Option<Array2<f64>>,
    truth: Option<Partition>,
    since: Option<Partition>,
    stored: Option<Vec<u8>>,
}

impl Inputs {
    fn read(args: &Update, terminal: &Terminal) -> Outcome<Self> {
        let ensemble = given(args.ensemble.as_deref(), "ENSEMBLE")?;
        let (members, new) = match &args.new_objects {
            Some(path) => {
                let (members, new) = files::ensemble_and_new(ensemble, path, terminal)?;
                (members, Some(new))
            }
            None => (files::members(ensemble, &[], terminal)?, None),
        };
        let before = members.ensemble.n_objects();
        let n = before + new.as_ref().map_or(0, |rows| rows.nrows());
        let objects = Objects { n, ids: members.ids };
        let path = args.constraints.as_deref();
        let batches = path.map(|path| files::batches(path, &objects, terminal)).transpose()?;
        let truth = files::truth(args.truth.as_deref(), &objects, terminal)?;
        let features = features(args, &objects, terminal)?;
        let since = earlier(args, &objects, before, terminal)?;
        let read = |path| state::read(path, objects.ids.as_ref(), terminal);
        let stored = args.state.as_deref().map(read).transpose()?.flatten();
        let ensemble =
            files::counted(members.ensemble, &objects, args.counts.as_deref(), terminal)?;
        Ok(Inputs {
            ensemble,
            ids: objects.ids,
            new,
            batches: batches.unwrap_or_default(),
            features,
            truth: truth.map(|truth| truth.partition),
            since,
            stored,
        })
    }
}

/// Earlier labels, of all objects or, without ids, of the first of them where others joined: now,
/// behind the `before` that there were, or earlier, as a state remembers.
fn earlier(
    args: &Update,
    objects: &Objects,
    before: usize,
    terminal: &Terminal,
) -> Outcome<Option<Partition>> {
    let Some(path) = args.since.as_deref() else { return Ok(None) };
    // What changed since they were written may be written in their place.
    files::may_replace(path);
    let labels = files::labels_beside(path, terminal)?;
    let (ids, rows) = (labels.ids.as_ref(), labels.partition.n_objects());
    if by_id(path, objects, ids, rows, terminal)?.is_some() {
        return Ok(Some(files::labels_of(path, objects, "labels", terminal)?.partition));
    }
    let n = objects.n;
    let joined = args.state.is_some() || args.new_objects.is_some();
    if rows > n || !joined {
        files::check_rows(path, rows, "labels", objects)?;
    }
    if rows < n && rows != before {
        terminal.note(format!(
            "{}: {rows} rows of labels, of the first of {n} objects; the others were not labelled",
            path.display()
        ));
    }
    Ok(Some(labels.partition))
}

fn features(args: &Update, objects: &Objects, terminal: &Terminal) -> Outcome<Option<Array2<f64>>> {
    let Some(path) = &args.features else { return Ok(None) };
    let table = files::features_of(path, &[], Missing::Refuse, objects, terminal)?;
    let scaled = scale(&args.scale)?.scaled(table.view());
    Ok(Some(scaled.map_err(|error| Failure::from(error).within(path.display()))?))
}

/// Memberships by the weights of the members, their columns numbered as the labels: each cluster
/// has the column that holds most of it.
fn numbered_as(
    partition: &Partition,
    soft: ArrayView2<'_, f64>,
    counts: Option<&[u64]>,
) -> Array2<f64> {
    let k = soft.ncols();
    let mut shared = Array2::zeros((partition.n_clusters(), k));
    for (i, (label, row)) in partition.iter().zip(soft.rows()).enumerate() {
        if let Some(label) = label {
            let objects = counts.map_or(1.0, |counts| counts[i] as f64);
            shared.row_mut(label).scaled_add(objects, &row);
        }
    }
    let mut order: Vec<usize> = max_assignment(shared.view()).into_iter().flatten().collect();
    order.extend((0..k).filter(|column| !order.contains(column)).collect::<Vec<_>>());
    soft.select(Axis(1), &order)
}

/// Says where memberships and labels, which are read out otherwise, do not agree.
fn tell_apart(args: &Update, followed: &Followed, soft: ArrayView2<'_, f64>, terminal: &Terminal) {
    let partition = &followed.partition;
    let rows = partition.n_objects();
    let count = labelled_otherwise(partition.iter(), soft);
    if count > 0 {
        // What is for another read-out only would be refused beside it.
        let advice = if args.features.is_some() || (followed.metric && !args.params.is_empty()) {
            "--read-out rounding, without --features and --param, takes the most probable cluster"
        } else {
            "--read-out rounding takes the most probable cluster"
        };
        terminal.note(format!(
            "--soft has memberships by the weights of the members; {count} of {rows} rows are \
             labelled otherwise by how labels are read out; {advice}"
        ));
    }
}
