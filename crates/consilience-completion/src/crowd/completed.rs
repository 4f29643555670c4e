//! Crowdclustering by robust completion, with C from the answers.

use consilience_core::{Error, Fit, MemoryBudget, Observer, Result, Seed};

use crate::blocks::Shrinkage;
use crate::rmc::check_thresholds;
use crate::{AnswerCounts, Answers, Completion, ObservedPairs, Penalty, RobustCompletion, held_out};

/// Penalty factors c that are tried.
const GRID: [f64; 5] = [0.7, 1.0, 1.5, 2.0, 3.0];
/// The factor that did best, or within .03 of it, on every crowd that was tried (docs/crowds.md).
const FACTOR: f64 = 2.0;
/// Folds of tasks that are left out in turn.
const FOLDS: usize = 3;
/// Relative duality gap while c is being chosen, and for the answer.
const ROUGH: f64 = 1e-3;
const FINE: f64 = 1e-4;

/// How [`CrowdMethod::Rmc`](crate::CrowdMethod::Rmc) finds the weight `C = c / sqrt(n p)` of the errors.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PenaltyChoice {
    /// This factor c. 2 suits most crowds.
    Factor(f64),
    /// The factor of 0.7, 1, 1.5, 2, 3 whose clusters foretell left-out tasks best: 3 folds, 15 completions.
    HeldOut,
    /// The factor of the same grid with the smallest `1'A1`, the most balanced, among completions with at
    /// least k eigenvalues above 1 (Yi 2014, Sect. 3.3.2; the guard is ours). A smaller weight of the errors
    /// always has the smaller sum, so that this picks the smallest c that is not trivial: kept for
    /// comparison.
    Balance,
}

/// What is completed and how C is found.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CompletionChoice {
    pub(crate) d0: f64,
    pub(crate) d1: f64,
    pub(crate) penalty: PenaltyChoice,
}

impl Default for CompletionChoice {
    fn default() -> Self {
        CompletionChoice { d0: 0.0, d1: 0.9, penalty: PenaltyChoice::Factor(FACTOR) }
    }
}

impl CompletionChoice {
    pub(crate) fn check(&self) -> Result<()> {
        check_thresholds(self.d0, self.d1)?;
        match self.penalty {
            PenaltyChoice::Factor(c) if !(c > 0.0) || c.is_infinite() => {
                Err(Error::invalid(format!("penalty factor {c}; expected a number above 0")))
            }
            _ => Ok(()),
        }
    }
}

/// Completion and k-means on its leading eigenvectors.
pub(crate) struct Completed {
    pub(crate) choice: CompletionChoice,
    pub(crate) clusters: usize,
    pub(crate) shrinkage: Shrinkage,
    pub(crate) seed: Seed,
    pub(crate) budget: MemoryBudget,
}

/// Labels of the answered objects and the factor that led to them.
pub(crate) struct CompletedLabels {
    pub(crate) labels: Vec<u32>,
    pub(crate) factor: f64,
    pub(crate) held_out: Vec<(String, f64)>,
}

impl Completed {
    pub(crate) fn cluster(
        &self,
        answers: &Answers,
        counts: &AnswerCounts,
        observer: &dyn Observer,
    ) -> Result<Fit<CompletedLabels>> {
        let (factor, held_out) = match self.choice.penalty {
            PenaltyChoice::Factor(c) => (c, Vec::new()),
            PenaltyChoice::Balance => (self.balanced(counts, observer)?, Vec::new()),
            PenaltyChoice::HeldOut => self.foretelling(answers, observer)?,
        };
        let fit = self.complete(counts, factor, FINE, observer)?;
        let labels = self.labels(answers, &fit.output, observer)?;
        let mut report = fit.report;
        report.notes.push(format!("completion of rank {} at c = {factor}", fit.output.rank()));
        Ok(Fit::new(CompletedLabels { labels, factor, held_out }, report))
    }

    fn complete(
        &self,
        counts: &AnswerCounts,
        factor: f64,
        tolerance: f64,
        observer: &dyn Observer,
    ) -> Result<Fit<Completion>> {
        let observed = ObservedPairs::reliable(counts, self.choice.d0, self.choice.d1)?;
        RobustCompletion::new()
            .penalty(Penalty::Scaled(factor))
            .tolerance(tolerance)
            .seed(self.seed)
            .memory_budget(self.budget)
            .fit(&observed, observer)
    }

    fn labels(
        &self,
        answers: &Answers,
        completion: &Completion,
        observer: &dyn Observer,
    ) -> Result<Vec<u32>> {
        let all = completion.labels(self.clusters, self.seed, observer)?;
        Ok(answers.answered().iter().map(|&i| all[i as usize]).collect())
    }

    /// The thesis's rule: the smallest `1'A1`, among completions that tell k groups apart. A = 0 and solutions
    /// of lower rank are trivial, whatever their sum.
    fn balanced(&self, counts: &AnswerCounts, observer: &dyn Observer) -> Result<f64> {
        let mut best = (f64::INFINITY, GRID[GRID.len() - 1]);
        for c in GRID {
            let completion = self.complete(counts, c, ROUGH, observer)?.output;
            let positive = completion.values.iter().filter(|&&v| v > 1.0).count();
            if positive >= self.clusters && completion.total() < best.0 {
                best = (completion.total(), c);
            }
        }
        Ok(best.1)
    }

    /// The c whose clusters foretell unseen tasks best.
    fn foretelling(&self, answers: &Answers, observer: &dyn Observer) -> Result<(f64, Vec<(String, f64)>)> {
        let mut scores = [0.0; GRID.len()];
        let mut pairs = 0usize;
        let fold = held_out::folds(answers, FOLDS, self.seed);
        for f in 0..FOLDS {
            let seen = answers.filter(|t, _| fold[t] != f);
            let unseen = answers.filter(|t, _| fold[t] == f);
            if seen.n_tasks() == 0 || unseen.n_tasks() == 0 {
                continue;
            }
            let counts = AnswerCounts::of(&seen, self.budget)?;
            pairs += unseen.n_pair_answers();
            for (score, c) in scores.iter_mut().zip(GRID) {
                let completion = self.complete(&counts, c, ROUGH, observer)?.output;
                let labels = self.labels(&seen, &completion, observer)?;
                *score += held_out::score(&seen, &labels, self.clusters, self.shrinkage, &unseen)
                    .iter()
                    .sum::<f64>();
            }
        }
        let best = (1..GRID.len()).fold(0, |b, g| if scores[g] > scores[b] { g } else { b });
        let share = |s: &f64| if pairs > 0 { s / pairs as f64 } else { 0.0 };
        let held_out = GRID.iter().zip(&scores).map(|(c, s)| (format!("c = {c}"), share(s))).collect();
        Ok((GRID[best], held_out))
    }
}
