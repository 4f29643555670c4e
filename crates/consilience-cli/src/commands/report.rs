//! `consilience report`: one page about a consensus.

use std::path::{Path, PathBuf};
use std::time::Instant;

use consilience::catalogue::Settings;
use consilience::report::{Candidate, ClusteringReport, Findings};
use consilience::{Clusters, Ensemble, Seed};

use crate::args::{Count, Numbers, Report};
use crate::catalogue::Request;
use crate::estimate;
use crate::failure::{Failure, Outcome};
use crate::files::{self, STANDARD};
use crate::memory;
use crate::outputs::Outputs;
use crate::summary::Summary;
use crate::tables::generate::missing;
use crate::terminal::Terminal;
use crate::units;

/// The methods where none are named: the recommended one, and others that work differently.
const METHODS: [&str; 5] = ["auto", "lwea", "pta-al", "ptgp", "mcla"];

/// Runs the command.
pub(crate) fn run(args: &Report, terminal: &Terminal) -> Outcome<()> {
    let form = Form::of(&args.output)?;
    let methods = methods(&args.methods, Seed(args.common.seed))?;
    let missing = missing(&args.missing, false)?;
    let mut outputs = Outputs::new(&args.common).any("-o", "report", Some(&args.output))?;
    let start = Instant::now();
    let members = files::members(&args.ensemble, &args.columns, terminal)?;
    let objects = members.objects();
    let ensemble = files::counted(members.ensemble, &objects, args.counts.as_deref(), terminal)?;
    let truth = files::truth(args.truth.as_deref(), &objects, terminal)?;
    let of = |path| files::features_of(path, &args.drop, missing, &objects, terminal);
    let features = args.features.as_deref().map(of).transpose()?;
    let read = start.elapsed();

    let start = Instant::now();
    let mut report = ClusteringReport::new(&ensemble)
        .member_names(members.names)
        .methods(methods)
        .title(args.title.clone().unwrap_or_else(|| usual_title(&args.ensemble)))
        .command(command(args))
        .seed(Seed(args.common.seed))
        .memory_budget(memory::budget());
    report = match &args.clusters {
        Some(Numbers::Fixed(k)) => report.clusters(*k),
        Some(Numbers::Range(range)) => report.cluster_range(range.clone()),
        Some(Numbers::Auto) | None => report,
    };
    if let Some(ids) = &members.ids {
        report = report.object_names(ids.iter());
    }
    if let Some(truth) = &truth {
        report = report.truth(&truth.partition);
        if truth.text {
            report = report.class_names(truth.names.iter().cloned());
        }
    }
    if let Some(features) = &features {
        let advice = "base clusterings that were made without a scale followed these";
        units::note(features.view(), &features.names, ("", "none"), advice, terminal);
        report = report.features(features.view()).feature_names(features.names.iter().cloned());
    }
    announce(args, &ensemble, terminal)?;
    let findings = report.run(terminal)?;
    outputs.bytes("-o", form.text(&findings))?;
    let mut summary = Summary::new();
    summary
        .both("n", "objects", findings.input.objects)
        .both("members", "members", findings.input.members)
        .both("method", "method", findings.answer.method.as_str())
        .both("clusters", "clusters", findings.answer.clusters)
        .both("verdict", "verdict", findings.answer.verdict.as_str())
        .data("recommended", findings.number.recommended)
        .data("report", args.output.display().to_string())
        .times(read, [], start.elapsed());
    if let Some(truth) = &findings.truth {
        summary.scores(&truth.scores);
    }
    outputs.conclude(summary, &args.common, terminal)
}

/// Says how long the answer will take where that is long; the other methods see a sample.
fn announce(args: &Report, ensemble: &Ensemble, terminal: &Terminal) -> Outcome<()> {
    let answer = args.methods.first().map_or(METHODS[0], String::as_str);
    let clusters = match &args.clusters {
        Some(Numbers::Fixed(k)) => Count::Fixed(*k),
        Some(Numbers::Range(_) | Numbers::Auto) | None => Count::Auto,
    };
    let request = Request::parse(answer, Some(clusters), &[], args.common.seed)?;
    Ok(estimate::announce(&request, "--methods", ensemble, terminal)?)
}

/// What is written.
enum Form {
    /// The page.
    Html,
    /// The numbers alone.
    Json,
}

impl Form {
    fn of(path: &Path) -> Outcome<Self> {
        if files::is_standard(path) {
            return Ok(Form::Html);
        }
        let ending = path.extension().unwrap_or_default().to_ascii_lowercase();
        match ending.to_str() {
            Some("html" | "htm") => Ok(Form::Html),
            Some("json") => Ok(Form::Json),
            _ => Err(Failure::Bad(format!(
                "{}: unknown ending; expected .html, or .json for the numbers alone",
                path.display()
            ))),
        }
    }

    fn text(&self, findings: &Findings) -> String {
        match self {
            Form::Html => findings.html(),
            Form::Json => findings.json() + "\n",
        }
    }
}

/// The methods of the report, the first of which gives the answer.
fn methods(names: &[String], seed: Seed) -> Outcome<Vec<Candidate<'static>>> {
    let usual = || METHODS.iter().map(|&name| name.to_owned()).collect();
    let names: Vec<String> = if names.is_empty() { usual() } else { names.to_vec() };
    let settings = Settings::new(Clusters::Auto).seed(seed).memory_budget(memory::budget());
    names
        .iter()
        .map(|name| {
            let found = consilience::catalogue::by_name(name);
            let method = found.map_err(|e| Failure::from(e).within(format!("--methods {name}")))?;
            Ok(method.candidate(&settings)?)
        })
        .collect()
}

fn usual_title(path: &Path) -> String {
    let name = path.file_name().unwrap_or(path.as_os_str());
    format!("Consensus clustering of {}", name.to_string_lossy())
}

/// The command that makes the page again: what changes its contents, and nothing else.
fn command(args: &Report) -> String {
    let mut words = vec!["consilience report".to_owned(), quoted(&file(&args.ensemble))];
    let mut option = |name: &str, value: Option<String>| {
        words.extend(value.map(|value| {
            // What begins like an option is a value only behind an equals sign; a dash alone is
            // one anyway.
            let between = if value.starts_with('-') && value != STANDARD { '=' } else { ' ' };
            format!("{name}{between}{}", quoted(&value))
        }));
    };
    let path = |path: &Option<PathBuf>| path.as_deref().map(file);
    let listed = |items: Vec<String>| (!items.is_empty()).then(|| items.join(","));
    option("--columns", listed(args.columns.clone()));
    option("--counts", path(&args.counts));
    option("--id", args.common.id.clone());
    option("--features", path(&args.features));
    option("--drop", listed(args.drop.clone()));
    option("--missing", (args.missing != "error").then(|| args.missing.clone()));
    option("--truth", path(&args.truth));
    option(
        "--clusters",
        args.clusters.as_ref().map(|numbers| match numbers {
            Numbers::Fixed(k) => k.to_string(),
            Numbers::Range(range) => format!("{}..{}", range.start(), range.end()),
            Numbers::Auto => "auto".to_owned(),
        }),
    );
    option("--methods", listed(args.methods.clone()));
    option("--title", args.title.clone());
    option("--seed", (args.common.seed != 0).then(|| args.common.seed.to_string()));
    option("-o", Some(file(&args.output)));
    words.join(" ")
}

/// A path that no program takes for an option.
fn file(path: &Path) -> String {
    let name = path.to_string_lossy();
    if name.starts_with('-') && name != STANDARD { format!("./{name}") } else { name.into_owned() }
}

/// A word as a shell takes it.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "._-/:,=+".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}
