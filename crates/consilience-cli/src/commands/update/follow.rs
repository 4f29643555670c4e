//! The work of `update`: a state is made or resumed, new objects join, batches are followed,
//! members are grown, labels are read out.

use std::path::Path;
use std::time::Instant;

use consilience::follow::{CrossValidation, MemberGrowth, MetricRule, Updater, UpdaterSetup};
use consilience::io::{Batch, ObjectIds};
use consilience::simplex::{UpdateReport, UpdateRule};
use consilience::{Ensemble, ErrorKind, Fit, Link, Pair, Partition, Report, Seed};
use ndarray::Array2;
use serde_json::{Value, json};

use super::Inputs;
use crate::args::Update;
use crate::choices::{self, Params};
use crate::failure::{Failure, Outcome};
use crate::memory;
use crate::names;
use crate::tables::Ask;
use crate::tables::generate::scale;
use crate::tables::update::{GROWTH, RULES, Rule};
use crate::terminal::Terminal;

/// Links that a note names at most.
const NAMED: usize = 5;
/// Links that a read-out does not hold to.
const SET_ASIDE: &str = "set aside (--param links=hold keeps must-links)";
/// Links that contradict those before them.
const DISPUTED: &str = "disputed, as they contradict links before them";

/// What was asked, taken apart.
pub(super) struct Plan<'a> {
    args: &'a Update,
    /// Whether the rule is the metric's, where one is named.
    metric: Option<bool>,
    /// The rule of the weights, where one is named.
    rule: Option<UpdateRule>,
    read_out: Option<ReadOut>,
    /// Whether links that contradict those before them are kept.
    disputes: bool,
}

/// How labels are read out.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ReadOut {
    Metric,
    Consensus,
    KMeans,
    Rounding,
}

/// What was found.
pub(super) struct Followed {
    pub(super) updater: Updater,
    pub(super) partition: Partition,
    pub(super) report: Report,
    /// What supports the read-out, under the metric.
    pub(super) cross_validation: Option<CrossValidation>,
    /// Whether the rule is the metric's.
    pub(super) metric: bool,
    pub(super) resumed: bool,
    pub(super) batches: Vec<Done>,
    pub(super) seconds: Seconds,
}

/// What a batch did.
pub(super) struct Done {
    pub(super) batch: Batch,
    pub(super) report: UpdateReport,
    /// How many of its links contradict those before them.
    pub(super) disputed: usize,
    pub(super) seconds: f64,
}

/// Wall times of the steps.
#[derive(Default)]
pub(super) struct Seconds {
    align: f64,
    update: f64,
    grow: f64,
    read_out: f64,
}

impl Seconds {
    pub(super) fn entries(&self) -> [(&'static str, Value); 4] {
        [
            ("align", json!(self.align)),
            ("update", json!(self.update)),
            ("grow", json!(self.grow)),
            ("read_out", json!(self.read_out)),
        ]
    }
}

impl<'a> Plan<'a> {
    /// Refuses whatever can be refused before the first byte is read.
    pub(super) fn parse(args: &'a Update) -> Outcome<Self> {
        scale(&args.scale)?;
        let read_out = args.read_out.as_deref().map(read_out).transpose()?;
        let ways = [("refuse", false), ("keep", true)];
        let disputes = choices::one_of("--contradictions", &args.contradictions, &ways)?;
        let mut plan = Plan { args, metric: None, rule: None, read_out, disputes };
        plan.growth()?;
        let rule = plan.built(args.clusters.unwrap_or(1))?;
        if args.rule.is_some() {
            plan.metric = Some(matches!(rule, Rule::Metric(_)));
            if let Rule::Weights(rule) = rule {
                plan.rule = Some(rule);
            }
        }
        Ok(plan)
    }

    fn seed(&self) -> Seed {
        Seed(self.args.common.seed)
    }

    /// The parameters of the rule, and those of the growth where there are features to grow from.
    fn params(&self) -> Outcome<Params<'a>> {
        let rule = self.args.rule.as_deref().unwrap_or("metric");
        let mut known = choices::find("--rule", rule, &RULES)?.params.to_vec();
        if self.args.features.is_some() {
            known.extend(GROWTH.params);
        }
        Params::parse(rule, &known, &self.args.params)
    }

    fn built(&self, clusters: usize) -> Outcome<Rule> {
        let rule = self.args.rule.as_deref().unwrap_or("metric");
        let ask = Ask::new(clusters, self.args.common.seed);
        (choices::find("--rule", rule, &RULES)?.make)(&ask, &self.params()?)
    }

    fn growth(&self) -> Outcome<MemberGrowth> {
        (GROWTH.make)(&Ask::new(1, self.args.common.seed), &self.params()?)
    }

    /// Does the work.
    pub(super) fn follow(&self, inputs: Inputs, terminal: &Terminal) -> Outcome<Followed> {
        let Inputs { ensemble, new, batches, features, stored, ids, .. } = inputs;
        let start = Instant::now();
        let mut seconds = Seconds::default();
        let resumed = stored.is_some();
        let mut updater = self.open(ensemble, stored, terminal)?;
        // A stored metric says that it is what the state is read out by.
        let metric = self.metric.unwrap_or(!resumed || updater.metric().is_some());
        let read_out = self.read_out(metric, features.is_some())?;
        if let Some(rows) = new {
            updater.append_objects(rows.view())?;
        }
        if read_out == ReadOut::Metric {
            self.open_metric(&mut updater, resumed, terminal)?;
        } else if self.rule.is_none() && !self.args.params.is_empty() {
            return Err(Failure::bad(
                "--param: labels are not read out by the metric that it is for; expected \
                 --read-out metric, or --rule with another rule",
            ));
        }
        seconds.align = start.elapsed().as_secs_f64();
        let batches = self.update(&mut updater, batches, ids.as_ref(), terminal)?;
        seconds.update = batches.iter().fold(0.0, |sum, done| sum + done.seconds);
        let start = Instant::now();
        let told = self.grow(&mut updater, features, terminal)?;
        seconds.grow = start.elapsed().as_secs_f64();
        let start = Instant::now();
        let (fit, cross_validation) =
            read(&mut updater, read_out, self.seed(), ids.as_ref(), terminal)?;
        seconds.read_out = start.elapsed().as_secs_f64();
        let (partition, mut report) = (fit.output, fit.report);
        report.notes.extend_from_slice(updater.notes());
        report.notes.extend(told);
        report.notes.extend(some_of(updater.disputed(), ids.as_ref(), DISPUTED));
        Ok(Followed {
            updater,
            partition,
            report,
            cross_validation,
            metric,
            resumed,
            batches,
            seconds,
        })
    }

    /// A new updater, or the stored one.
    fn open(
        &self,
        ensemble: Ensemble,
        stored: Option<Vec<u8>>,
        terminal: &Terminal,
    ) -> Outcome<Updater> {
        let Some(bytes) = stored else {
            let clusters = self.args.clusters.ok_or_else(|| {
                Failure::bad(
                    "expected --clusters K: there is no stored state that would say how many \
                     clusters there are",
                )
            })?;
            let setup = UpdaterSetup::new(clusters)
                .rule(self.rule.clone().unwrap_or_default())
                .memory_budget(memory::budget());
            return Ok(setup.updater_observed(ensemble, terminal)?);
        };
        let place = self.args.state.clone().unwrap_or_default();
        let place = place.display();
        let mut updater = Updater::from_bytes(&bytes, ensemble)
            .map_err(|error| Failure::from(error).within(&place))?;
        updater.set_memory_budget(memory::budget());
        if let Some(k) = self.args.clusters {
            let stored = updater.n_clusters();
            ensure!(k == stored, "--clusters {k}: {place} is of {stored} clusters");
        }
        if let Some(rule) = self.rule.clone() {
            updater.set_rule(rule)?;
            // An open metric would say at the next resume that the state is read out by it.
            if let Some(rule) = updater.metric().map(|metric| metric.rule().clone()) {
                updater.set_metric_rule(rule)?;
            }
        }
        Ok(updater)
    }

    /// How labels are read out, unless the options contradict each other.
    fn read_out(&self, metric: bool, features: bool) -> Outcome<ReadOut> {
        let default = if metric { ReadOut::Metric } else { ReadOut::Consensus };
        let read_out = self.read_out.unwrap_or(default);
        let by_metric = read_out == ReadOut::Metric;
        ensure!(
            by_metric || !features,
            "--features: members are grown for a metric to read out; expected --rule and \
             --read-out metric"
        );
        ensure!(
            metric || !by_metric,
            "--read-out metric: the rule is another; expected --rule metric"
        );
        Ok(read_out)
    }

    /// The metric of the state, or a new one; by the rule of the state, where none is named.
    fn open_metric(
        &self,
        updater: &mut Updater,
        resumed: bool,
        terminal: &Terminal,
    ) -> Outcome<()> {
        let named = |param: &String| {
            let name = param.split('=').next().unwrap_or_default();
            !GROWTH.has(name)
        };
        match self.built(updater.n_clusters())? {
            Rule::Metric(rule) if self.args.rule.is_some() && self.is_another(&rule, updater) => {
                return Err(Failure::bad(
                    "--rule: the stored state has another; without --rule it is kept",
                ));
            }
            Rule::Metric(rule)
                if updater.metric().is_none() && (!resumed || self.args.rule.is_some()) =>
            {
                updater.set_metric_rule(rule)?
            }
            _ if self.args.params.iter().any(named) => {
                return Err(Failure::bad(
                    "--param: the metric of the stored state keeps the parameters that it has",
                ));
            }
            _ => {}
        }
        Ok(updater.open_metric(terminal)?)
    }

    /// Whether the state has a metric that is learned in another way.
    fn is_another(&self, rule: &MetricRule, updater: &Updater) -> bool {
        updater.metric().is_some_and(|m| m.rule().map_learner() != rule.map_learner())
    }

    fn update(
        &self,
        updater: &mut Updater,
        batches: Vec<Batch>,
        ids: Option<&ObjectIds>,
        terminal: &Terminal,
    ) -> Outcome<Vec<Done>> {
        let place = self.args.constraints.as_deref().unwrap_or(Path::new("")).display();
        let within = |batch: &Batch| match &batch.name[..] {
            "" => place.to_string(),
            name => format!("{place}: batch {name}"),
        };
        // Before anything is followed, so that what is wrong is told with its line.
        let mut all = updater.constraints().clone();
        let called = |object: usize| names::of_object(object, ids);
        for batch in &batches {
            for (pair, line) in batch.pairs.iter().zip(&batch.lines) {
                let added = all.add_called(pair.i, pair.j, pair.link, &called);
                self.tolerated(pair, added)
                    .map_err(|failure| failure.within(format!("{}, line {line}", within(batch))))?;
            }
        }
        let mut done = Vec::new();
        for batch in batches {
            let start = Instant::now();
            let followed = if self.disputes {
                updater.update_disputed(&batch.pairs, terminal)
            } else {
                let report = updater.update_observed(&batch.pairs, terminal);
                report.map(|report| (report, Vec::new()))
            };
            let (report, disputed) =
                followed.map_err(|error| Failure::from(error).within(within(&batch)))?;
            let (disputed, seconds) = (disputed.len(), start.elapsed().as_secs_f64());
            done.push(Done { batch, report, disputed, seconds });
        }
        Ok(done)
    }

    /// Whether a link could be added; one that contradicts those before it may be kept.
    fn tolerated(&self, pair: &Pair, added: consilience::Result<()>) -> Outcome<()> {
        let Err(error) = added else { return Ok(()) };
        if error.kind() != ErrorKind::Contradiction || pair.i == pair.j {
            return Err(error.into());
        }
        let advice = "--contradictions keep takes both for answers, of which one is wrong";
        let refused = || Failure::bad(format!("{}; {advice}", error.message()));
        if self.disputes { Ok(()) } else { Err(refused()) }
    }

    /// Without a share of the weights: those are of the members that were given, with or without
    /// growth. What is told of it.
    fn grow(
        &self,
        updater: &mut Updater,
        features: Option<Array2<f64>>,
        terminal: &Terminal,
    ) -> Outcome<Vec<String>> {
        let mut told = Vec::new();
        if let Some(x) = features.filter(|_| !updater.constraints().is_empty()) {
            let named = choices::names(&self.args.params, "grown_folds");
            let folds = updater.metric().map(|metric| metric.rule().n_folds());
            let growth = match folds.filter(|_| !named) {
                Some(folds) => self.growth()?.folds(folds),
                None => self.growth()?,
            };
            told = updater.grow(x.view().into(), &growth, 0.0, terminal)?.report.notes;
        }
        Ok(told)
    }
}

/// The clustering of the updater, and what supports it under the metric.
fn read(
    updater: &mut Updater,
    how: ReadOut,
    seed: Seed,
    ids: Option<&ObjectIds>,
    terminal: &Terminal,
) -> Outcome<(Fit<Partition>, Option<CrossValidation>)> {
    let fit = match how {
        ReadOut::Metric => {
            let mut read = updater.read_out(terminal)?;
            read.report.notes.extend(some_of(read.output.links_set_aside(), ids, SET_ASIDE));
            let partition = read.output.partition(updater.ensemble(), terminal)?;
            let cross_validation = *read.output.cross_validation();
            return Ok((Fit::new(partition, read.report), Some(cross_validation)));
        }
        ReadOut::Consensus => updater.consensus(updater.n_clusters(), seed, terminal)?,
        ReadOut::KMeans => updater.by_weights().partition_by_kmeans(seed, terminal)?,
        ReadOut::Rounding => Fit::new(updater.by_weights().partition()?, Report::default()),
    };
    Ok((fit, None))
}

/// Names the first few of some links, behind what they are.
fn some_of(links: &[Pair], ids: Option<&ObjectIds>, what: &str) -> Option<String> {
    let called = |object: usize| names::of_object(object, ids);
    let named = |l: &Pair| {
        let kind = if l.link == Link::Must { "must" } else { "cannot" };
        format!("{kind} {} and {}", called(l.i), called(l.j))
    };
    let first: Vec<String> = links.iter().take(NAMED).map(named).collect();
    let more = if links.len() > NAMED { ", ..." } else { "" };
    (!links.is_empty()).then(|| format!("{what}: {}{more}", first.join(", ")))
}

fn read_out(name: &str) -> Outcome<ReadOut> {
    let all = [
        ("metric", ReadOut::Metric),
        ("consensus", ReadOut::Consensus),
        ("kmeans", ReadOut::KMeans),
        ("rounding", ReadOut::Rounding),
    ];
    choices::one_of("--read-out", name, &all)
}
