//! What a command found: one value, printed as lines for people or as one JSON object for programs.

use std::fmt::Display;
use std::io::{ErrorKind, Write};
use std::time::{Duration, Instant};

use consilience::Report;
use serde_json::{Map, Value, json};

use crate::args::Common;
use crate::failure::{Failure, Outcome};
use crate::terminal::Terminal;

/// The results of a command. Most are both a key of the JSON object and a line.
#[derive(Default)]
pub(crate) struct Summary {
    object: Map<String, Value>,
    lines: Vec<(String, String)>,
}

impl Summary {
    /// Nothing yet.
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// A result for people and programs.
    pub(crate) fn both<T: Clone + Display + Into<Value>>(
        &mut self,
        key: &str,
        name: &str,
        value: T,
    ) -> &mut Self {
        self.line(name, value.clone()).data(key, value)
    }

    /// A result for programs.
    pub(crate) fn data(&mut self, key: &str, value: impl Into<Value>) -> &mut Self {
        self.object.insert(key.to_owned(), value.into());
        self
    }

    /// A result for people.
    pub(crate) fn line(&mut self, name: impl Into<String>, value: impl Display) -> &mut Self {
        self.lines.push((name.into(), value.to_string()));
        self
    }

    /// How a method ended.
    pub(crate) fn report(&mut self, report: &Report) -> &mut Self {
        self.both("status", "status", report.status.name());
        if let Some(missing) = report.clusters_missing {
            self.both("clusters_missing", "clusters missing", missing);
        }
        self.data("iterations", report.iterations).data("objective", report.objective)
    }

    /// Scores by name.
    pub(crate) fn scores(&mut self, entries: &[(&'static str, f64)]) -> &mut Self {
        for (name, value) in entries {
            // Accuracy alone may be none.
            let none = || "none, there are too many clusters to match".to_owned();
            self.line(*name, if value.is_nan() { none() } else { format!("{value:.4}") });
        }
        let object: Map<String, Value> =
            entries.iter().map(|&(name, value)| (name.to_owned(), json!(value))).collect();
        self.data("scores", object)
    }

    /// Prints it, where a progress bar may have been.
    pub(crate) fn print(mut self, common: &Common, terminal: &Terminal) -> Outcome<()> {
        terminal.clear();
        if !common.json {
            let width = self.lines.iter().map(|(name, _)| name.len()).max().unwrap_or(0) + 2;
            let line = |(name, value): &(String, String)| format!("{name:width$}{value}\n");
            return print(&self.lines.iter().map(line).collect::<String>());
        }
        self.data("seed", common.seed)
            .data("threads", rayon::current_num_threads())
            .data("peak_rss_bytes", peak_memory())
            .data("notes", terminal.notes());
        print(&format!("{:#}\n", Value::Object(self.object)))
    }
}

/// Wall times of the steps of a command.
pub(crate) struct Clock {
    start: Instant,
    last: Instant,
    steps: Vec<(&'static str, Duration)>,
}

impl Clock {
    /// Starts now.
    pub(crate) fn start() -> Self {
        Clock { start: Instant::now(), last: Instant::now(), steps: Vec::new() }
    }

    /// A step has ended.
    pub(crate) fn step(&mut self, name: &'static str) {
        self.steps.push((name, self.last.elapsed()));
        self.last = Instant::now();
    }

    /// Adds the times to a summary.
    pub(crate) fn tell(&self, summary: &mut Summary) {
        let mut object = Map::new();
        let mut text = String::new();
        for (name, time) in &self.steps {
            object.insert((*name).to_owned(), json!(time.as_secs_f64()));
            text.push_str(&format!("{name} {:.2}, ", time.as_secs_f64()));
        }
        let total = self.start.elapsed().as_secs_f64();
        object.insert("total".to_owned(), json!(total));
        summary.line("seconds", format!("{text}total {total:.2}")).data("seconds", object);
    }
}

/// Prints to standard output; a reader that has gone away is no error.
pub(crate) fn print(text: &str) -> Outcome<()> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Err(Failure::ClosedPipe),
        Err(error) => Err(Failure::from(error).within("standard output")),
    }
}

/// Most memory this process has had, where the system says.
fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}
