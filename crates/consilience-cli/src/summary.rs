//! What a command found: one value, printed as lines for people or as one JSON object for programs.

use std::fmt::Display;
use std::io::{ErrorKind, Write};
use std::path::Path;
use std::time::Duration;

use consilience::scores::{Contingency, Scores};
use consilience::{Partition, Report, Result};
use serde_json::{Map, Value, json};

use crate::args::Common;
use crate::failure::{Failure, Outcome};
use crate::memory;
use crate::terminal::Terminal;

/// The results of a command. Most are both a key of the JSON object and a line.
#[derive(Default)]
pub(crate) struct Summary {
    object: Map<String, Value>,
    lines: Vec<(String, String)>,
    /// Files come last.
    files: Vec<(String, String)>,
    /// Whether standard output is taken by a table.
    aside: bool,
    /// What the user should know of it.
    notes: Vec<String>,
}

/// Clusters whose sizes are listed one by one at most.
const SIZES: usize = 12;

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

    /// How many clusters there are, and of how many objects each is, in the order of their first.
    pub(crate) fn clusters(&mut self, found: &Partition, counts: Option<&[u64]>) -> &mut Self {
        let mut sizes = vec![0; found.n_clusters()];
        for (i, label) in found.iter().enumerate() {
            if let Some(label) = label {
                sizes[label] += counts.map_or(1, |counts| counts[i]);
            }
        }
        self.both("clusters", "clusters", sizes.len());
        let mut sorted = sizes.clone();
        sorted.sort_unstable();
        match sorted[..] {
            [] => {}
            [least, .., most] if sorted.len() > SIZES => {
                let median = sorted[sorted.len() / 2];
                self.line("their sizes", format!("{least} to {most}, median {median}"));
            }
            _ => {
                let sizes: Vec<String> = sizes.iter().map(u64::to_string).collect();
                self.line("their sizes", sizes.join(", "));
            }
        }
        self.data("sizes", sizes)
    }

    /// How a method ended.
    pub(crate) fn report(&mut self, report: &Report) -> &mut Self {
        self.both("status", "status", report.status.name());
        if let Some(missing) = report.clusters_missing {
            self.both("clusters_missing", "clusters missing", missing);
        }
        self.data("iterations", report.iterations).data("objective", report.objective)
    }

    /// Wall times of reading and of the work; `seconds` are the keys between them.
    pub(crate) fn times(
        &mut self,
        read: Duration,
        seconds: impl IntoIterator<Item = (&'static str, Value)>,
        total: Duration,
    ) -> &mut Self {
        let mut object = Map::new();
        object.insert("read".into(), json!(read.as_secs_f64()));
        object.extend(seconds.into_iter().map(|(name, value)| (name.to_owned(), value)));
        object.insert("total".into(), json!(total.as_secs_f64()));
        self.line("seconds", format!("{} (and {} to read)", time(total), time(read)))
            .data("seconds", object)
    }

    /// Scores by name. Accuracy alone may be none.
    pub(crate) fn scores(&mut self, entries: &[(&'static str, f64)]) -> &mut Self {
        for (name, value) in entries {
            if value.is_nan() {
                self.line(*name, "none");
                self.notes.push(format!("{name}: none, there are too many clusters to match"));
            } else {
                self.line(*name, format!("{value:.4}"));
            }
        }
        self.data("scores", scores_json(entries))
    }

    /// The scores of labels against known classes, where rows may stand for many objects.
    pub(crate) fn against(
        &mut self,
        found: &Partition,
        truth: &Partition,
        counts: Option<&[u64]>,
    ) -> Result<&mut Self> {
        let table = Contingency::with_counts(found, truth, counts)?;
        Ok(self.scores(&Scores::of(&table)?.entries()))
    }

    /// A file that was written.
    pub(crate) fn file(&mut self, what: &str, path: &Path) -> &mut Self {
        self.files.push((what.to_owned(), path.display().to_string()));
        self
    }

    /// Prints the lines to standard error: standard output is a table's.
    pub(crate) fn aside(&mut self) -> &mut Self {
        self.aside = true;
        self
    }

    /// Prints it, where a progress bar may have been.
    pub(crate) fn print(mut self, common: &Common, terminal: &Terminal) -> Outcome<()> {
        self.notes.drain(..).for_each(|note| terminal.note(note));
        if common.json {
            return print_json(self.object, common, terminal);
        }
        terminal.clear();
        self.lines.append(&mut self.files);
        let width = self.lines.iter().map(|(name, _)| name.len()).max().unwrap_or(0) + 2;
        let text: String =
            self.lines.iter().map(|(name, value)| format!("{name:width$}{value}\n")).collect();
        if self.aside {
            terminal.aside(&text);
            return Ok(());
        }
        print(&text)
    }

    /// Prints the JSON object, or the given text for people in place of lines.
    pub(crate) fn print_as(self, text: &str, common: &Common, terminal: &Terminal) -> Outcome<()> {
        if common.json {
            return print_json(self.object, common, terminal);
        }
        terminal.clear();
        print(text)
    }
}

/// Prints one JSON object, with the keys that every command has.
fn print_json(mut object: Map<String, Value>, common: &Common, terminal: &Terminal) -> Outcome<()> {
    object.insert("seed".into(), json!(common.seed));
    object.insert("threads".into(), json!(rayon::current_num_threads()));
    object.insert("peak_rss_bytes".into(), json!(peak_memory()));
    object.insert("notes".into(), json!(terminal.notes()));
    print(&format!("{:#}\n", Value::Object(object)))
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
    memory::field("/proc/self/status", "VmHWM:").map(|kilobytes| kilobytes * 1024)
}

/// The times of the stages that a method reports, those of one name added up.
pub(crate) fn stages(report: &Report) -> Vec<(&'static str, Value)> {
    let mut sums: Vec<(&'static str, f64)> = Vec::new();
    for &(stage, time) in &report.stages {
        match sums.iter_mut().find(|(name, _)| *name == stage) {
            Some((_, sum)) => *sum += time.as_secs_f64(),
            None => sums.push((stage, time.as_secs_f64())),
        }
    }
    sums.into_iter().map(|(stage, sum)| (stage, json!(sum))).collect()
}

/// Scores by name, as JSON.
pub(crate) fn scores_json(entries: &[(&'static str, f64)]) -> Value {
    Value::Object(entries.iter().map(|&(name, value)| (name.to_owned(), json!(value))).collect())
}

/// The mean of each score over several results; NaN where one of them has none.
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

/// Seconds as people read them.
pub(crate) fn time(duration: Duration) -> String {
    format!("{:.3}", duration.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stages_of_one_name_are_added_up() {
        let mut report = Report::default();
        let half = Duration::from_millis(500);
        report.stages = vec![("cut", half), ("walk", half), ("cut", half)];
        assert_eq!(stages(&report), [("cut", json!(1.0)), ("walk", json!(0.5))]);
    }

    #[test]
    fn a_score_that_is_none_is_null_and_noted() {
        let mut summary = Summary::new();
        summary.scores(&[("ari", 0.5), ("accuracy", f64::NAN)]);
        assert_eq!(summary.object["scores"], json!({ "ari": 0.5, "accuracy": null }));
        assert_eq!(summary.lines[1], ("accuracy".to_owned(), "none".to_owned()));
        assert!(summary.notes[0].starts_with("accuracy: none, there are too many clusters"));
    }

    #[test]
    fn missing_clusters_appear_where_there_are_any() {
        let mut report = Report::default();
        let keys = |report: &Report| {
            let mut summary = Summary::new();
            summary.report(report);
            (summary.object.get("clusters_missing").cloned(), summary.lines.len())
        };
        assert_eq!(keys(&report), (None, 1));
        report.expect_clusters(5, 3, "there are three objects");
        assert_eq!(keys(&report), (Some(json!(2)), 2));
    }
}
