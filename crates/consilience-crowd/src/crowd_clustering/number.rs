//! How many clusters the answers ask for.

use consilience_core::{Observer, Report, Result};

use super::{CLEAR, CrowdClustering, tries_planted};
use crate::answer_counts::AnswerCounts;
use crate::answers::Answers;
use crate::cluster_count::ClusterCount;
use crate::completed_rank::{self, CompletedRank};
use crate::crowd_method::CrowdMethod;
use crate::planted_partition::{self, PlantedPartition};
use crate::positions::{self, FittedPositions, PositionModel};
use crate::random_workers::{self, Others};
use crate::told;

/// Nats by which planted partitions have to be better than what a look at positions finds, for
/// these not to be fitted.
const FAR: f64 = 100.0;

/// What is said where positions read a part of the answers alone.
const NOT_COMPARED: &str = "the number of clusters is that of positions, which read a part of the \
     answers; planted partitions are not compared with a part";

/// How many clusters, and what is known about that, where no number was asked for.
pub(super) struct Number {
    pub(super) k: usize,
    pub(super) count: Option<ClusterCount>,
    pub(super) rank: Option<CompletedRank>,
    pub(super) fitted: Option<FittedPositions>,
}

impl CrowdClustering {
    /// The number of clusters by the posterior of the answers of workers who do not answer at
    /// random, and the rank of the completed similarity beside it.
    pub(super) fn number(
        &self,
        positions: &PositionModel,
        answers: &Answers,
        counts: &AnswerCounts,
        observer: &dyn Observer,
        report: &mut Report,
    ) -> Result<Number> {
        positions.check_memory(answers)?;
        let others = self.others(answers, counts, observer, report)?;
        let Some(others) = others else {
            return self.number_of(positions, answers, counts, observer, report);
        };
        let budget = self.budget.beside(others.counts.bytes());
        let (crowd, positions) = (self.memory_budget(budget), positions.memory_budget(budget));
        crowd.number_of(&positions, &others.answers, &others.counts, observer, report)
    }

    /// The answers without those of workers who answer at random, where there are such: they hide
    /// clusters from models that know no workers, and make positions find fewer.
    fn others(
        &self,
        answers: &Answers,
        counts: &AnswerCounts,
        observer: &dyn Observer,
        report: &mut Report,
    ) -> Result<Option<Others>> {
        // Its positions are the clusters too, of all objects, and weigh workers.
        if self.method == CrowdMethod::Bayesian {
            return Ok(None);
        }
        let model = self.model.seed(self.seed).memory_budget(self.budget);
        if !random_workers::is_allowed(model, answers, counts) {
            report.notes.push(random_workers::LEFT_OUT.to_owned());
            return Ok(None);
        }
        let others = report.stage("workers at random", || {
            random_workers::left_out(model, answers, counts, observer)
        })?;
        if let Some(Others { answers: left, random, .. }) = &others {
            report.notes.push(told::left_out(random.len(), left.n_workers()));
        }
        Ok(others)
    }

    fn number_of(
        &self,
        positions: &PositionModel,
        answers: &Answers,
        counts: &AnswerCounts,
        observer: &dyn Observer,
        report: &mut Report,
    ) -> Result<Number> {
        let answered = answers.answered().len();
        let few = answered <= completed_rank::MOST_OBJECTS;
        let ranked = few && completed_rank::is_allowed(answers, counts, self.budget);
        let mut tried = Report::default();
        let planted = self.planted(answers, counts, observer, &mut tried)?;
        let (planted, fitted) = report.stage("number of clusters", || {
            self.explained(planted, positions, answers, counts, observer)
        })?;
        if let (None, Some(fitted)) = (&planted, &fitted) {
            fitted.describe(report);
        }
        report.adopt(tried);
        let positions = fitted.as_ref().map(|fitted| fitted.count.clone());
        let count = planted.or(positions).unwrap_or_else(ClusterCount::none);
        let fitted = fitted.map(FittedPositions::without_empty);
        let k = match (self.method, &fitted) {
            (CrowdMethod::Bayesian, Some(fitted)) => fitted.q.ncols(),
            _ => count.most_probable(),
        };
        let k = k.clamp(1, answered.max(1));
        let thresholds = [self.completion.apart, self.completion.together];
        let rank = ranked.then(|| {
            report.stage("rank", || {
                completed_rank::of(answers, counts, thresholds, self.seed, self.budget, observer)
            })
        });
        let rank = rank.transpose()?;
        if answered > 0 {
            report.notes.push(told::number(&count, rank.as_ref(), k));
        }
        if few && !ranked {
            report.notes.push(completed_rank::LEFT_OUT.to_owned());
        }
        Ok(Number { k, count: Some(count), rank, fitted })
    }

    /// The most probable planted partition, where it may tell the number of clusters.
    fn planted(
        &self,
        answers: &Answers,
        counts: &AnswerCounts,
        observer: &dyn Observer,
        report: &mut Report,
    ) -> Result<Option<PlantedPartition>> {
        let positions_alone = self.method == CrowdMethod::Bayesian;
        if positions_alone || !tries_planted(answers, counts, self.budget, report) {
            return Ok(None);
        }
        if answers.n_pair_answers() > positions::TOO_MANY {
            report.notes.push(NOT_COMPARED.to_owned());
            return Ok(None);
        }
        let found = report.stage("planted partition", || {
            planted_partition::best(answers, counts, None, self.budget, observer)
        })?;
        Ok(Some(found))
    }

    /// The number of clusters by a planted partition where it explains the answers better than
    /// positions do, whose evidence is at least their bound; and positions, unless a look at them
    /// shows that they are far from that.
    fn explained(
        &self,
        planted: Option<PlantedPartition>,
        positions: &PositionModel,
        answers: &Answers,
        counts: &AnswerCounts,
        observer: &dyn Observer,
    ) -> Result<(Option<ClusterCount>, Option<FittedPositions>)> {
        let count = |planted: &PlantedPartition| {
            let seed = self.seed.derive("crowd planted count", 0);
            planted_partition::count(answers, counts, &planted.labels, seed, observer)
        };
        let nats = |evidence: f64| evidence * planted_partition::weight(answers);
        if let Some(planted) = &planted {
            let about = positions::about(positions, answers, counts, observer)?;
            if nats(planted.evidence - about) > FAR {
                return Ok((Some(count(planted)?), None));
            }
        }
        let fitted = positions::fit(positions, None, answers, counts, observer)?;
        let better = planted.filter(|planted| nats(planted.evidence - fitted.bound) > CLEAR);
        Ok((better.as_ref().map(count).transpose()?, Some(fitted)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PairAnswer;
    use crate::crowd_clustering::tests::single_pairs;
    use consilience_core::{Clusters, MemoryBudget};

    #[test]
    fn planted_partitions_fit_the_budget_or_are_left_out() {
        let answers = single_pairs(40, 1);
        let counts = AnswerCounts::of(&answers, MemoryBudget::default()).unwrap();
        let fits = |&bytes: &usize| {
            let budget = MemoryBudget::bytes(bytes as u64);
            planted_partition::check_memory(&answers, &counts, budget).is_ok()
        };
        let least = (0..).find(fits).unwrap();
        for (bytes, left_out) in [(least - 1, true), (least, false)] {
            let crowd = CrowdClustering::new(Clusters::Auto);
            let crowd = crowd.memory_budget(MemoryBudget::bytes(bytes as u64));
            let mut report = Report::default();
            let found = crowd.planted(&answers, &counts, &(), &mut report).unwrap();
            assert_eq!(found.is_none(), left_out);
            assert_eq!(report.notes.iter().any(|n| n == planted_partition::LEFT_OUT), left_out);
        }
    }

    /// Where planted partitions are far better than what a look at positions finds, these are not
    /// fitted, and the number is the same.
    #[test]
    fn positions_are_fitted_where_they_may_tell_the_number() {
        for (clusters, alone) in [(2, false), (30, true)] {
            let n = 180;
            let pairs = (0..n).flat_map(|j| (0..j).map(move |i| (i, j)));
            let rows: Vec<PairAnswer> = pairs
                .step_by(if alone { 1 } else { 40 })
                .map(|(i, j)| {
                    let same = (i % clusters == j % clusters) != ((i + 3 * j) % 23 == 0);
                    PairAnswer { worker: (i + j) % 5, i, j, same }
                })
                .collect();
            let answers = Answers::from_pairs(n, &rows).unwrap();
            let counts = AnswerCounts::of(&answers, MemoryBudget::default()).unwrap();
            let crowd = CrowdClustering::new(Clusters::Auto);
            let model = PositionModel::new(Clusters::Auto).restarts(2);
            let planted = crowd.planted(&answers, &counts, &(), &mut Report::default()).unwrap();
            let (count, fitted) = crowd.explained(planted, &model, &answers, &counts, &()).unwrap();
            assert_eq!(fitted.is_none(), alone, "{clusters}");
            if alone {
                assert_eq!(count.unwrap().most_probable(), clusters);
            }
        }
    }
}
