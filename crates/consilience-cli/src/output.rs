//! What goes to standard output: plain tables for people, one JSON object for programs.

use std::io::{ErrorKind, Write};
use std::time::Duration;

use consilience::Report;
use consilience::scores::Scores;
use serde_json::{Map, Value, json};

use crate::args::Common;
use crate::failure::{Failure, Outcome};
use crate::terminal::Terminal;

/// Prints to standard output; a reader that has gone away is no error.
pub(crate) fn print(text: &str) -> Outcome<()> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Err(Failure::ClosedPipe),
        Err(error) => Err(Failure::from(error).within("standard output")),
    }
}

/// Prints one JSON object, with what every command tells added to it.
pub(crate) fn print_json(mut object: Value, common: &Common, terminal: &Terminal) -> Outcome<()> {
    object["seed"] = json!(common.seed);
    object["threads"] = json!(rayon::current_num_threads());
    object["peak_rss_bytes"] = json!(peak_memory());
    object["notes"] = json!(terminal.notes());
    print(&format!("{object:#}\n"))
}

/// Most memory this process has had, where the system tells.
fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}

/// Wall times: reading, the stages that the method reports, and the step as a whole.
pub(crate) fn seconds(read: Duration, report: &Report, total: Duration) -> Value {
    let mut object = Map::new();
    object.insert("read".into(), json!(read.as_secs_f64()));
    // Every consensus has these three; a method without one of them leaves null.
    for stage in ["microclusters", "similarity", "partition"] {
        object.insert(stage.into(), Value::Null);
    }
    for (stage, time) in &report.stages {
        let so_far = object.get(*stage).and_then(Value::as_f64).unwrap_or(0.0);
        object.insert((*stage).into(), json!(so_far + time.as_secs_f64()));
    }
    object.insert("total".into(), json!(total.as_secs_f64()));
    Value::Object(object)
}

/// Scores by name.
pub(crate) fn scores_json(entries: &[(&'static str, f64)]) -> Value {
    Value::Object(entries.iter().map(|&(name, value)| (name.to_owned(), json!(value))).collect())
}

/// The mean of each score over several results.
pub(crate) fn mean_scores(all: &[Scores]) -> Vec<(&'static str, f64)> {
    let mut mean: Vec<(&'static str, f64)> = Vec::new();
    for (i, scores) in all.iter().enumerate() {
        for (e, (name, value)) in scores.entries().into_iter().enumerate() {
            if i == 0 {
                mean.push((name, 0.0));
            }
            mean[e].1 += value / all.len() as f64;
        }
    }
    mean
}

/// Lines of a name and what it is, in two columns.
#[derive(Default)]
pub(crate) struct Lines(Vec<(String, String)>);

impl Lines {
    /// Adds a line.
    pub(crate) fn add(&mut self, name: impl Into<String>, value: impl ToString) -> &mut Self {
        self.0.push((name.into(), value.to_string()));
        self
    }

    /// Adds a line per score.
    pub(crate) fn scores(&mut self, entries: &[(&'static str, f64)]) -> &mut Self {
        for (name, value) in entries {
            self.add(*name, format!("{value:.4}"));
        }
        self
    }

    /// Prints them, where a progress bar may have been.
    pub(crate) fn print(&self, terminal: &Terminal) -> Outcome<()> {
        terminal.clear();
        let width = self.0.iter().map(|(name, _)| name.len()).max().unwrap_or(0) + 2;
        let text: String =
            self.0.iter().map(|(name, value)| format!("{name:width$}{value}\n")).collect();
        print(&text)
    }
}

/// Seconds as people read them.
pub(crate) fn time(duration: Duration) -> String {
    format!("{:.3}", duration.as_secs_f64())
}
