//! `--list`: what a command lets one choose from, and what the parameters of each mean.

use std::fmt::Write;

use consilience::catalogue::{Method, Parameter, methods};
use serde_json::{Value, json};

use crate::args::{Command, Common};
use crate::choices::{Choice, Param, unknown};
use crate::failure::Outcome;
use crate::summary::Summary;
use crate::tables::{cluster, complete, crowd, generate, network, update};
use crate::terminal::Terminal;

/// The option that methods over the edges of a network need.
const EDGES: &str = "--edges";

/// Prints everything that there is, or with a name what the parameters of that one mean.
pub(crate) fn run(
    command: &Command,
    name: &str,
    common: &Common,
    terminal: &Terminal,
) -> Outcome<()> {
    let all = entries(command);
    let (chosen, text) = if name.is_empty() {
        // The list of consensus functions is that of the catalogue.
        let listed: Vec<&Entry> = all.iter().filter(|e| e.beside != Some(EDGES)).collect();
        let text = lines(&listed, matches!(command, Command::Consensus(_)));
        (listed, text)
    } else {
        let found = named(name, &all)?;
        let parts: Vec<String> = found.iter().map(|entry| entry.explanation()).collect();
        (found, parts.join("\n"))
    };
    let mut summary = Summary::new();
    summary.data("methods", chosen.iter().map(|entry| entry.json()).collect::<Vec<Value>>());
    summary.print_as(&text, common, terminal)
}

/// Those of that name, and what goes with it.
fn named<'a>(name: &str, all: &'a [Entry]) -> Outcome<Vec<&'a Entry>> {
    if !all.iter().any(|entry| entry.name == name) {
        let mut known: Vec<&str> = all.iter().map(|entry| entry.name).collect();
        known.dedup();
        return Err(unknown("--list", name, known.into_iter()));
    }
    let goes = |entry: &&Entry| entry.name == name || entry.goes_with.contains(&name);
    Ok(all.iter().filter(goes).collect())
}

/// A line for each; those of consensus functions begin with the bare name.
fn lines(entries: &[&Entry], bare: bool) -> String {
    let heading = |entry: &&Entry| if bare { entry.name.to_owned() } else { entry.heading() };
    let headings: Vec<String> = entries.iter().map(heading).collect();
    let width = headings.iter().map(String::len).max().unwrap_or(0);
    entries.iter().zip(&headings).map(|(entry, heading)| entry.line(heading, width)).collect()
}

/// What a command lets one choose from.
fn entries(command: &Command) -> Vec<Entry> {
    match command {
        Command::Generate(_) => table("--method", &generate::METHODS),
        Command::Consensus(_) => of_consensus(),
        Command::Crowd(_) => table("--method", &crowd::METHODS),
        Command::Complete(_) => of_complete(),
        Command::Update(_) => of_update(),
        Command::Cluster(_) => of_cluster(),
        _ => Vec::new(),
    }
}

fn of_consensus() -> Vec<Entry> {
    let mut all: Vec<Entry> = methods().iter().map(Entry::of_method).collect();
    all.extend(table("--method", &network::METHODS).into_iter().map(|entry| entry.with(EDGES)));
    all
}

fn of_complete() -> Vec<Entry> {
    let answered = table("--method", &complete::ANSWERED);
    let mut all = table("--method", &complete::METHODS);
    all.extend(answered.into_iter().map(|entry| entry.with("--answers")));
    all
}

fn of_update() -> Vec<Entry> {
    let mut all = table("--rule", &update::RULES);
    // Members are grown for a metric to read out.
    let goes_with = &["metric", "completion"];
    all.push(Entry { goes_with, ..Entry::of_choice("--features", &update::GROWTH) });
    all
}

fn of_cluster() -> Vec<Entry> {
    let mut all = table("--method", &cluster::AUTO);
    all.extend(table("--method", &cluster::METHODS));
    all.extend(table("--method", &cluster::CONSENSUS));
    all.extend(table("--metric", &cluster::METRICS));
    all
}

fn table<T, A>(option: &'static str, choices: &[Choice<T, A>]) -> Vec<Entry> {
    choices.iter().map(|choice| Entry::of_choice(option, choice)).collect()
}

/// A method, metric or rule.
struct Entry {
    /// The option that takes its name.
    option: &'static str,
    name: &'static str,
    /// The option without which it is not there.
    beside: Option<&'static str>,
    /// The names that its parameters go with.
    goes_with: &'static [&'static str],
    /// One line about it, and where it was published.
    source: [&'static str; 2],
    parameters: Vec<Explained>,
}

impl Entry {
    fn of_method(method: &Method) -> Self {
        let parameters = method.parameters().iter().map(Explained::from).collect();
        let source = [method.about(), method.paper()];
        Entry::new("--method", method.name(), source, parameters)
    }

    fn of_choice<T, A>(option: &'static str, choice: &Choice<T, A>) -> Self {
        let parameters = choice.params.iter().map(Explained::from).collect();
        Entry::new(option, choice.name, choice.source, parameters)
    }

    fn new(
        option: &'static str,
        name: &'static str,
        source: [&'static str; 2],
        parameters: Vec<Explained>,
    ) -> Self {
        Entry { option, name, beside: None, goes_with: &[], source, parameters }
    }

    fn with(self, option: &'static str) -> Self {
        Entry { beside: Some(option), ..self }
    }

    fn params(&self) -> Vec<&'static str> {
        self.parameters.iter().map(|parameter| parameter.name).collect()
    }

    /// How it is asked for.
    fn heading(&self) -> String {
        let Entry { option, name, .. } = *self;
        match self.beside {
            _ if !self.goes_with.is_empty() => format!("with {option} also ({name})"),
            Some(beside) => format!("{option} {name} with {beside}"),
            None => format!("{option} {name}"),
        }
    }

    /// What it is and the names of its parameters, in one line.
    fn line(&self, heading: &str, width: usize) -> String {
        let names = self.params().join(", ");
        let names = if names.is_empty() { names } else { format!(" ({names})") };
        let [about, paper] = self.source;
        format!("{heading:width$} {about}{names}. {paper}\n")
    }

    /// What its parameters mean.
    fn explanation(&self) -> String {
        let [about, paper] = self.source;
        let mut text = format!("{}: {about}. {paper}\n", self.heading());
        if self.parameters.is_empty() {
            text.push_str("  no parameters\n");
        }
        let titles: Vec<String> = self.parameters.iter().map(Explained::title).collect();
        let width = titles.iter().map(|title| title.chars().count()).max().unwrap_or(0) + 2;
        for (p, title) in self.parameters.iter().zip(&titles) {
            let _ = writeln!(text, "  {title:width$}{}", p.about);
            let _ = writeln!(text, "  {:width$}default: {}; values: {}", "", p.default, p.range);
        }
        text
    }

    fn json(&self) -> Value {
        let [about, paper] = self.source;
        let mut object = json!({
            "option": self.option,
            "name": self.name,
            "about": about,
            "paper": paper,
            "params": self.params(),
            "parameters": self.parameters.iter().map(Explained::json).collect::<Vec<_>>(),
        });
        if let Some(option) = self.beside {
            object["with"] = json!(option);
        }
        object
    }
}

/// What a parameter means.
struct Explained {
    name: &'static str,
    aliases: &'static [&'static str],
    about: &'static str,
    default: &'static str,
    range: &'static str,
}

impl Explained {
    /// Its name and other names.
    fn title(&self) -> String {
        match self.aliases {
            [] => self.name.to_owned(),
            aliases => format!("{} ({})", self.name, aliases.join(", ")),
        }
    }

    fn json(&self) -> Value {
        json!({
            "name": self.name,
            "aliases": self.aliases,
            "about": self.about,
            "default": self.default,
            "range": self.range,
        })
    }
}

impl From<&Parameter> for Explained {
    fn from(p: &Parameter) -> Self {
        let Parameter { name, aliases, about, default, range, .. } = *p;
        Explained { name, aliases, about, default, range }
    }
}

impl From<&Param> for Explained {
    fn from(p: &Param) -> Self {
        let [about, default, range] = p.meaning;
        let (name, aliases) = p.names.split_first().map_or(("", &[][..]), |(n, all)| (*n, all));
        Explained { name, aliases, about, default, range }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_crowd() -> Vec<Entry> {
        table("--method", &crowd::METHODS)
    }

    fn all() -> [Vec<Entry>; 6] {
        let of_generate = table("--method", &generate::METHODS);
        [of_generate, of_consensus(), of_crowd(), of_complete(), of_update(), of_cluster()]
    }

    #[test]
    fn every_entry_and_parameter_is_explained() {
        let mut explained = 0;
        for entry in all().iter().flatten() {
            let mut names = entry.params();
            for text in entry.source {
                let place = entry.heading();
                assert!(!text.trim().is_empty() && text.trim() == text, "{place}: {text:?}");
                assert!(!text.ends_with('.') && !text.contains('\n'), "{place}: {text:?}");
            }
            for p in &entry.parameters {
                let place = format!("{}: {}", entry.heading(), p.name);
                for text in [p.name, p.about, p.default, p.range] {
                    assert!(!text.trim().is_empty() && text.trim() == text, "{place}: {text:?}");
                    assert!(!text.ends_with('.') && !text.contains('\n'), "{place}: {text:?}");
                }
                assert!(p.about != p.name, "{place}");
                names.extend(p.aliases);
                explained += 1;
            }
            names.sort_unstable();
            assert!(names.windows(2).all(|w| w[0] != w[1]), "{}: {names:?}", entry.heading());
        }
        assert!(explained > 200, "{explained}");
    }

    #[test]
    fn every_entry_has_a_heading_of_its_own() {
        for entries in all() {
            let mut headings: Vec<String> = entries.iter().map(Entry::heading).collect();
            headings.sort_unstable();
            assert!(headings.windows(2).all(|w| w[0] != w[1]), "{headings:?}");
        }
    }

    #[test]
    fn one_parameter_is_told_in_two_lines() {
        let found = of_crowd();
        let text = found.iter().find(|entry| entry.name == "rmc").map(Entry::explanation);
        let text = text.unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[0].starts_with("--method rmc: robust completion of "), "{text}");
        let at = lines.iter().position(|line| line.starts_with("  d0 (apart_below)")).unwrap();
        assert!(lines[at].ends_with("calls the same are known to be apart"), "{text}");
        assert_eq!(lines[at + 1].trim(), "default: 0; values: at least 0, below d1");
        assert_eq!(lines.len(), 1 + 2 * 7, "{text}");
    }
}
