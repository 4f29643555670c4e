//! `consilience update`: rules that follow constraints, and the growth of members.

use consilience::follow::{
    AdditiveUpdate, ExactUpdate, MapLearner, MemberGrowth, MetricRule, MultiplicativeUpdate,
    PairLoss, UpdateRule,
};
use consilience::generate::KMeans;

use super::Ask;
use super::cluster::{Learner, METRICS};
use crate::choices::{Choice, Params, choice, count, find, flag, number, text};
use crate::failure::Outcome;
use crate::memory;

/// How a consensus follows constraints.
pub(crate) enum Rule {
    /// By a metric or a completed similarity; the weights follow by the default rule.
    Metric(MetricRule),
    /// By the weights of the members.
    Weights(UpdateRule),
}

/// `--rule`.
pub(crate) static RULES: [Choice<Rule, Ask>; 5] = [
    choice!("metric", Rule::Metric, |ask: &Ask| MetricRule::new(ask.clusters).seed(ask.seed),
        dimensions: count => MetricRule::dimensions,
        power: number => MetricRule::power,
        slack: number => MetricRule::slack,
        folds: count => MetricRule::folds,
        restarts: count => MetricRule::restarts,
        cross_validated | guarded: flag => MetricRule::cross_validated,
        caution: number => MetricRule::caution,
        tolerance: number => MetricRule::tolerance,
        max_iterations: count => MetricRule::max_iterations,
    ),
    choice!("completion", Rule::Metric,
        |ask: &Ask| MetricRule::new(ask.clusters).seed(ask.seed).learner(MapLearner::Completion),
        dimensions: count => MetricRule::dimensions,
        power: number => MetricRule::power,
        folds: count => MetricRule::folds,
        restarts: count => MetricRule::restarts,
        cross_validated: flag => MetricRule::cross_validated,
        caution: number => MetricRule::caution,
    ),
    choice!("exact", weights, |_: &Ask| ExactUpdate::default(),
        loss: loss => ExactUpdate::loss,
        balance: flag => ExactUpdate::balance,
        regularization | hold | lambda: number => ExactUpdate::regularization,
        gap: number => ExactUpdate::gap,
        max_iterations: count => ExactUpdate::max_iterations,
    ),
    choice!("additive", weights, |_: &Ask| AdditiveUpdate::default(),
        step: number => AdditiveUpdate::step,
        balance: flag => AdditiveUpdate::balance,
    ),
    choice!("multiplicative", weights, |_: &Ask| MultiplicativeUpdate::default(),
        step: number => MultiplicativeUpdate::step,
        balance: flag => MultiplicativeUpdate::balance,
    ),
];

/// What grows members from `--features`.
pub(crate) static GROWTH: Choice<MemberGrowth, Ask> = choice!(
    "growth", |growth| growth, |ask: &Ask| MemberGrowth::new(KMeans::new()).seed(ask.seed),
    grown_members: count => MemberGrowth::members,
    grown_folds: count => MemberGrowth::folds,
    sample: count => MemberGrowth::sample,
    components: count => MemberGrowth::components,
    learner: learner => |growth: MemberGrowth, learner: Learner| match learner {
        Some(learner) => growth.learner(learner),
        None => growth,
    },
);

fn weights(rule: impl Into<UpdateRule>) -> Rule {
    Rule::Weights(rule.into())
}

/// What learns the metric that members are grown by; none is the default, by its name.
fn learner(params: &Params<'_>, name: &str) -> Outcome<Option<Learner>> {
    let Some(named) = text(params, name)? else { return Ok(None) };
    if named == "itml" {
        return Ok(Some(None));
    }
    // The first leaves distances as they are.
    let metric = find("--param learner", &named, &METRICS[1..])?;
    Ok(Some(metric.build(&memory::budget(), &[])?))
}

fn loss(params: &Params<'_>, name: &str) -> Outcome<Option<PairLoss>> {
    let losses = [("squared", PairLoss::Squared), ("probability", PairLoss::Probability)];
    params.one_of(name, &losses)
}
