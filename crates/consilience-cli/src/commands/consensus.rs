//! `consilience consensus`: an ensemble to one clustering.

use std::time::Instant;

use consilience::catalogue::NamedResult;
use consilience::graph::Network;
use consilience::io::Labelled;
use consilience::trust::Diagnostics;
use consilience::{ConsensusFunction, Ensemble, Fit, Memberships, Report};
use serde_json::Value;

use crate::args::{Consensus, given};
use crate::catalogue::Request;
use crate::diagnostics;
use crate::estimate;
use crate::failure::{Failure, Outcome};
use crate::files;
use crate::memory;
use crate::outputs::Outputs;
use crate::summary::{self, Summary};
use crate::tables::network;
use crate::terminal::Terminal;

/// Runs the command.
pub(crate) fn run(args: &Consensus, terminal: &Terminal) -> Outcome<()> {
    let path = given(args.ensemble.as_deref(), "ENSEMBLE")?;
    // Everything that can be refused at once is, before the first byte is read.
    let asked = Asked::parse(args)?;
    let outputs = Outputs::new(&args.common).table("-o", "labels", args.output.as_deref())?;
    let mut outputs = outputs.table("--soft", "memberships", args.soft.as_deref())?;
    let start = Instant::now();
    let members = files::members(path, &args.columns, terminal)?;
    let objects = members.objects();
    outputs.ids(objects.ids.as_ref(), terminal);
    let ensemble = files::counted(members.ensemble, &objects, args.counts.as_deref(), terminal)?;
    let ensemble = weighed(ensemble, args)?;
    let truth = files::truth(args.truth.as_deref(), &objects, terminal)?;
    let edges = args.edges.as_deref();
    let network = edges.map(|path| files::network(path, &objects, terminal)).transpose()?;
    let read = start.elapsed();

    let start = Instant::now();
    let Fit { output: found, report, .. } = asked.run(network, &ensemble, terminal)?;
    let total = start.elapsed();
    terminal.note_all(&report);
    suspicious(&ensemble, terminal);

    outputs.labels("-o", Labelled::One(&found.partition), terminal)?;
    if outputs.wants("--soft") {
        let soft = memberships(asked.name(), &found, terminal);
        outputs.numbers("--soft", soft.values(), terminal)?;
    }
    let mut summary = Summary::new();
    summary
        .both("method", "method", asked.name())
        .both("n", "objects", ensemble.total_count())
        .both("members", "members", ensemble.n_members())
        .data("microclusters", report.microclusters);
    if ensemble.counts().is_some() {
        summary.both("rows", "rows", ensemble.n_objects());
    }
    if let Some(microclusters) = report.microclusters {
        summary.line("microclusters", microclusters);
    }
    summary.clusters(&found.partition, ensemble.counts()).report(&report);
    if let Some(bound) = report.error_bound {
        summary.data("error_bound", bound).line("error bound", format!("{bound:.2e}"));
    }
    summary.times(read, stages(&report), total);
    if args.diagnose {
        let trust = Diagnostics::within(&ensemble, &found.partition, memory::budget())?;
        diagnostics::tell(&trust, ensemble.counts(), &mut summary);
    }
    if let Some(truth) = truth {
        summary.against(&found.partition, &truth.partition, ensemble.counts())?;
    }
    outputs.conclude(summary, &args.common, terminal)
}

/// The consensus function that the command line names.
enum Asked<'a> {
    Named(Request),
    /// Over the edges of a network.
    OnEdges(network::Request<'a>),
}

impl<'a> Asked<'a> {
    fn parse(args: &'a Consensus) -> Outcome<Self> {
        if args.edges.is_some() {
            return Ok(Asked::OnEdges(network::Request::parse(args)?));
        }
        let Consensus { method, clusters, params, common, .. } = args;
        ensure!(
            !network::needs_edges(method),
            "--method {method}: expected --edges, the edges of a network"
        );
        Ok(Asked::Named(Request::parse(method, *clusters, params, common.seed)?))
    }

    fn name(&self) -> &str {
        match self {
            Asked::Named(request) => request.name(),
            Asked::OnEdges(request) => request.name(),
        }
    }

    fn run(
        &self,
        network: Option<Network>,
        ensemble: &Ensemble,
        terminal: &Terminal,
    ) -> Outcome<Fit<NamedResult>> {
        Ok(match (self, network) {
            (Asked::OnEdges(request), Some(network)) => {
                request.on(network)?.fit(ensemble, terminal)?
            }
            (Asked::OnEdges(_), None) => return Err(Failure::bad("expected --edges")),
            (Asked::Named(request), _) => {
                estimate::announce(request, "--method", ensemble, terminal)?;
                request.run(ensemble, terminal)?
            }
        })
    }
}

/// The ensemble with its members hardened and weighed, as asked for.
fn weighed(ensemble: Ensemble, args: &Consensus) -> Outcome<Ensemble> {
    let mut ensemble = if args.harden { ensemble.hardened() } else { ensemble };
    if !args.member_weights.is_empty() {
        ensemble = ensemble
            .with_weights(args.member_weights.clone())
            .map_err(|e| Failure::Bad(format!("--member-weights: {}", e.message())))?;
    }
    Ok(ensemble)
}

/// Columns that are hardly base clusterings: what a trailing comma or a column of row numbers reads
/// as. Rows that stand for many objects are apart by their nature.
fn suspicious(ensemble: &Ensemble, terminal: &Terminal) {
    let n = ensemble.total_count();
    for (u, member) in ensemble.members().iter().enumerate() {
        match member.n_clusters() {
            0 => terminal.note(format!("member {u} labels no object: is there a trailing comma?")),
            k if k as u64 == n && n > 2 => {
                terminal.note(format!("member {u} puts every object apart: is it a row number?"));
            }
            _ => {}
        }
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

/// The stages of a run. Every consensus has these three; a method without one of them leaves null.
fn stages(report: &Report) -> Vec<(&'static str, Value)> {
    let mut seconds: Vec<(&'static str, Value)> =
        ["microclusters", "similarity", "partition"].map(|stage| (stage, Value::Null)).into();
    // What comes later under the same name replaces the null.
    seconds.extend(summary::stages(report));
    seconds
}
