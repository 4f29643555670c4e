//! `consilience cluster`: features and a few labels or pairs to one clustering.

use std::collections::BTreeMap;
use std::time::Instant;

use consilience::constrained::UnderMetric;
use consilience::core::ConstrainedClusterer;
use consilience::model::{LinkJudgement, LinkedClustering, LinkedFit};
use consilience::{Clustering, Constraints, Features, Fit, Pair, Partition, SideInformation};
use serde_json::{Value, json};

use crate::args::{self, Cluster, Count};
use crate::choices;
use crate::classes;
use crate::failure::{Failure, Outcome};
use crate::files::{self, Labels, Objects, Table};
use crate::memory;
use crate::summary::Summary;
use crate::tables::{Ask, cluster as tables};
use crate::terminal::Terminal;
use crate::units;

/// The method that chooses one.
const AUTO: &str = "auto";
/// What lets columns of any unit count.
const STANDARDIZED: &str = "of the candidates kmeans-standardized lets all columns count";
const ONE_SCALE: &str =
    "columns that are divided by their standard deviations beforehand all count";

/// Runs the command.
pub(crate) fn run(args: &Cluster, terminal: &Terminal) -> Outcome<()> {
    let name = method_name(args)?;
    if name == "consensus" {
        return super::cluster_consensus::run(args, terminal);
    }
    if let Some(path) = &args.model {
        let path = path.display();
        return Err(Failure::bad(format!(
            "--model {path}: only --method consensus writes a model"
        )));
    }
    let mut method = Method::parse(args, name)?;
    let outputs = args.labelling.outputs(&args.common)?;

    let start = Instant::now();
    let sparse = args.metric == "euclidean" && tables::SPARSE.contains(&name);
    let seed = args.common.seed;
    let path = args::given(args.features.as_deref(), "FEATURES")?;
    let table = args.labelling.reading.features(path, sparse, seed, terminal)?;
    if table.is_reduced() && name != AUTO {
        let metric = choices::find("--metric", &args.metric, &tables::METRICS)?;
        choices::of_reduced(metric, &mut method.metric_params, terminal);
    }
    let features = table.view();
    let n = features.n_objects();
    note_units(&table, name, &args.metric, terminal);
    let (side, known) = side_information(args, &table.objects(), terminal)?;
    let classes = known.as_ref().map(|known| known.partition.n_clusters()).filter(|&k| k > 0);
    let clusters = given(args.clusters)?.or(classes).ok_or_else(|| no_number(known.is_some()))?;
    let beside = args.labelling.read(&table, terminal)?.knowing(known);
    let read = start.elapsed();

    let start = Instant::now();
    let (fit, judgement) = method.fit(features, clusters, &side, terminal)?;
    let total = start.elapsed();
    terminal.note_all(&fit.report);
    let Clustering { partition, .. } = &fit.output;

    let mut summary = Summary::new();
    summary
        .both("method", "method", name)
        .both("metric", "metric", args.metric.as_str())
        .both("n", "objects", n)
        .data("features", features.n_features())
        .data("labelled", side.labelled_objects().len())
        .data("must_links", side.n_must_links())
        .data("cannot_links", side.n_cannot_links())
        .both("constraints", "constraints", n_known(&side))
        .both("violated", "violated", violated(&side, partition))
        .clusters(partition, None)
        .report(&fit.report)
        .times(read, [], total);
    if let Some(judgement) = &judgement {
        judged(judgement, &mut summary);
    }
    let assign = |new: Features<'_>| fit.output.assign(new);
    beside.finish(outputs, partition, assign, summary, &args.common, terminal)
}

/// Says where some columns outweigh all others, and no metric is learned.
fn note_units(table: &Table, name: &str, metric: &str, terminal: &Terminal) {
    if !table.is_reduced() && table.categories.is_none() && metric == "euclidean" {
        let advice = if name == AUTO { STANDARDIZED } else { ONE_SCALE };
        units::note(table.view(), &table.names, (name, "none"), advice, terminal);
    }
}

/// Nothing says how many clusters there are, also where there are labels.
fn no_number(labels: bool) -> Failure {
    Failure::bad(if labels {
        "expected --clusters K: no object has a label in --labels, so that nothing says how many \
         clusters there are"
    } else {
        "expected --clusters K: without --labels nothing says how many clusters there are"
    })
}

/// The method that is asked for; where something is known, `auto` without asking.
fn method_name(args: &Cluster) -> Outcome<&str> {
    match &args.method {
        Some(name) => Ok(name),
        None if args.labels.is_some() || args.constraints.is_some() => Ok(AUTO),
        None => Err(Failure::bad(
            "without --labels or --constraints there is nothing to learn from: expected one of \
             them, or --method consensus for an ensemble and its consensus",
        )),
    }
}

/// What `auto` took, and what it chose by.
fn judged(judgement: &LinkJudgement, summary: &mut Summary) {
    let taken = judgement.taken();
    summary.both("taken", "taken", taken.name.as_str());
    for candidate in &judgement.candidates {
        let text = match (candidate.score, &candidate.left_out) {
            (Some(score), _) => format!("{score:.3} +- {:.3}", candidate.error),
            (None, Some(reason)) => format!("not judged: {reason}"),
            (None, None) => "not judged".to_owned(),
        };
        summary.line(format!("  {}", candidate.name), text);
    }
    let candidates: Vec<Value> = judgement
        .candidates
        .iter()
        .map(|candidate| {
            json!({
                "name": candidate.name,
                "score": candidate.score,
                "error": candidate.score.map(|_| candidate.error),
                "gain": candidate.score.map(|_| candidate.gain),
                "gain_error": candidate.score.map(|_| candidate.gain_error),
                "left_out": candidate.left_out,
            })
        })
        .collect();
    summary.data("judged_links", judgement.links.len()).data("candidates", candidates);
}

fn given(clusters: Option<Count>) -> Outcome<Option<usize>> {
    match clusters {
        Some(Count::Fixed(k)) => Ok(Some(k)),
        Some(Count::Auto) => Err(Failure::bad(
            "--clusters auto; expected a number: only --method consensus finds one",
        )),
        None => Ok(None),
    }
}

/// A method and a metric, with the parameters of each.
struct Method<'a> {
    args: &'a Cluster,
    name: &'a str,
    params: Vec<String>,
    metric_params: Vec<String>,
}

impl<'a> Method<'a> {
    fn parse(args: &'a Cluster, name: &'a str) -> Outcome<Self> {
        if name == AUTO {
            return Self::parse_auto(args);
        }
        let method =
            choices::find("--method", name, &tables::METHODS).map_err(|error| match error {
                Failure::Bad(message) => Failure::Bad(format!("{message}, consensus, auto")),
                other => other,
            })?;
        let metric = choices::find("--metric", &args.metric, &tables::METRICS)?;
        let (mut params, mut metric_params) = (Vec::new(), Vec::new());
        for param in &args.params {
            let name = param.split('=').next().unwrap_or_default();
            // A name that both have is the method's; metric.NAME is the metric's in any case.
            if let Some(own) = param.strip_prefix("metric.") {
                metric_params.push(own.to_owned());
            } else if method.has(name) {
                params.push(param.clone());
            } else {
                ensure!(
                    metric.has(name),
                    "--param {param}: unknown parameter {name:?}; {}, {}",
                    method.takes(),
                    metric.takes()
                );
                metric_params.push(param.clone());
            }
        }
        let parsed = Method { args, name, params, metric_params };
        // Whatever can be refused at once is.
        parsed.clusterer(1)?;
        let metric = metric.build(&memory::budget(), &parsed.metric_params);
        choices::behind("metric.", &args.params, method, metric)?;
        Ok(parsed)
    }

    fn parse_auto(args: &'a Cluster) -> Outcome<Self> {
        ensure!(
            args.metric == "euclidean",
            "--metric {}: --method auto has candidates that learn one; expected no --metric",
            args.metric
        );
        let parsed =
            Method { args, name: AUTO, params: args.params.clone(), metric_params: Vec::new() };
        parsed.auto(1)?;
        Ok(parsed)
    }

    fn auto(&self, clusters: usize) -> Outcome<LinkedClustering> {
        let ask = Ask::new(clusters, self.args.common.seed);
        choices::find("--method", AUTO, &tables::AUTO)?.build(&ask, &self.params)
    }

    fn clusterer(&self, clusters: usize) -> Outcome<Box<dyn ConstrainedClusterer>> {
        let ask = Ask::new(clusters, self.args.common.seed);
        choices::find("--method", self.name, &tables::METHODS)?.build(&ask, &self.params)
    }

    fn fit(
        &self,
        features: Features<'_>,
        clusters: usize,
        side: &SideInformation,
        terminal: &Terminal,
    ) -> Outcome<(Fit<Clustering>, Option<LinkJudgement>)> {
        if self.name == AUTO {
            let found = self.auto(clusters)?.fit_judged(features, side, terminal)?;
            let LinkedFit { clustering, judgement, .. } = found.output;
            return Ok((Fit::new(clustering, found.report), Some(judgement)));
        }
        let clusterer = self.clusterer(clusters)?;
        let metric = choices::find("--metric", &self.args.metric, &tables::METRICS)?
            .build(&memory::budget(), &self.metric_params)?;
        let found = match metric {
            Some(metric) => UnderMetric::new(metric, clusterer).fit(features, side, terminal)?,
            None => clusterer.fit(features, side, terminal)?,
        };
        Ok((found, None))
    }
}

/// What is known beforehand, and the labels among it.
fn side_information(
    args: &Cluster,
    objects: &Objects,
    terminal: &Terminal,
) -> Outcome<(SideInformation, Option<Labels>)> {
    let path = args.labels.as_deref();
    let labels =
        path.map(|path| files::labels_of(path, objects, "labels", terminal)).transpose()?;
    if let (Some(path), Some(labels)) = (path, &labels) {
        classes::note(path, labels, terminal);
    }
    let path = args.constraints.as_deref();
    let constraints: Option<Constraints> =
        path.map(|path| files::constraints(path, objects, terminal)).transpose()?;
    let side = match (&labels, constraints) {
        (Some(labels), Some(constraints)) => {
            SideInformation::from_labels_and_constraints(&labels.partition, &constraints)?
        }
        (Some(labels), None) => SideInformation::from_partition(&labels.partition),
        (None, Some(constraints)) => SideInformation::from_constraints(&constraints),
        (None, None) => SideInformation::none(objects.n),
    };
    Ok((side, labels))
}

/// How many pairs are known beforehand: those that were given, or all that labels say.
fn n_known(side: &SideInformation) -> usize {
    let all = || side.n_must_links().saturating_add(side.n_cannot_links());
    side.stated().map_or_else(all, <[Pair]>::len)
}

/// How many of these the clustering puts otherwise.
fn violated(side: &SideInformation, partition: &Partition) -> usize {
    if let Some(stated) = side.stated() {
        let (must, cannot) = super::violated(stated.iter().copied(), partition);
        return must + cannot;
    }
    // By how many objects of each set are in each cluster: there may be very many pairs.
    let shares: Vec<BTreeMap<usize, usize>> = side
        .labelled_sets()
        .iter()
        .map(|set| {
            let mut share = BTreeMap::new();
            for cluster in set.iter().filter_map(|&i| partition.label(i)) {
                *share.entry(cluster).or_default() += 1;
            }
            share
        })
        .collect();
    let pairs = |count: usize| count * count.saturating_sub(1) / 2;
    let kept: usize = shares.iter().flat_map(BTreeMap::values).map(|&count| pairs(count)).sum();
    let broken = side.n_must_links() - kept;
    if side.are_classes() {
        let mut all = BTreeMap::<usize, usize>::new();
        let counts = shares.iter().flat_map(BTreeMap::iter);
        counts.for_each(|(&cluster, &count)| *all.entry(cluster).or_default() += count);
        return broken + all.values().map(|&count| pairs(count)).sum::<usize>() - kept;
    }
    let common = |(a, b): (usize, usize)| -> usize {
        let (few, many) = if shares[a].len() < shares[b].len() { (a, b) } else { (b, a) };
        let both =
            |(cluster, count): (&usize, &usize)| count * shares[many].get(cluster).unwrap_or(&0);
        shares[few].iter().map(both).sum()
    };
    broken + side.sets_apart().map(common).sum::<usize>()
}
