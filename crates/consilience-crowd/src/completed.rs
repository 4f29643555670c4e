//! Crowdclustering by robust completion, with C from the answers.

use consilience_completion::{Completion, ObservedPairs, Penalty, RobustCompletion, Thresholds};
use consilience_core::{Error, Fit, MemoryBudget, Observer, Result, Seed};
use ndarray::Axis;

use crate::answer_counts::AnswerCounts;
use crate::answers::Answers;
use crate::expected_counts::Shrinkage;
use crate::{held_out, spectral};

/// Penalty factors c that are tried.
const GRID: [f64; 5] = [0.7, 1.0, 1.5, 2.0, 3.0];
/// The factor at which a planted clustering is recovered where the errors are few enough, ...
const RECOVERING: f64 = 1.3;
/// ... and the one that did best, or within .03 of it, on every crowd where it is not
/// (docs/notes/crowds.md).
const FACTOR: f64 = 2.0;
/// Ranks of so many times k pass for a clustering.
const RANK: usize = 2;
/// A rank so many times that, and beyond this share of the objects, will not come down to it once
/// the gap is at 3 %: on crowds that are recovered it was below a seventh by then.
const FAR: usize = 8;
const SIXTH: usize = 6;
/// Folds of tasks that are left out in turn.
const FOLDS: usize = 3;
/// Relative duality gap.
const TOLERANCE: f64 = 1e-3;

/// How [`CrowdMethod::Rmc`](crate::CrowdMethod::Rmc) finds the weight `C = c / sqrt(n p)` of the
/// errors.
///
/// ```
/// use consilience::crowd::{CrowdClustering, CrowdMethod, PenaltyChoice};
///
/// let crowd = CrowdClustering::new(3).method(CrowdMethod::Rmc);
/// let _believing = crowd.penalty(PenaltyChoice::Factor(3.0));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum PenaltyChoice {
    /// 1.3 where that completion has a rank of at most 2 k, so that next to nothing but a
    /// clustering was needed to explain the answers, and at least k eigenvalues above 1, so that it
    /// can distinguish k clusters; 2 where it has not.
    Recovery,
    /// This factor c.
    Factor(f64),
    /// The factor of 0.7, 1, 1.5, 2, 3 whose clusters predict left-out tasks best, among
    /// completions with at least k eigenvalues above 1: 3 folds, 15 completions. On sparse crowds
    /// it may well pick a poor one.
    HeldOut,
    /// The factor of the same grid with the smallest `1'A1`, the most balanced, among completions
    /// with at least k eigenvalues above 1 (Yi 2014, Sect. 3.3.2; the guard is ours). A smaller
    /// weight of the errors always has the smaller sum, so that this picks the smallest c that is
    /// not trivial: kept for comparison.
    Balance,
}

/// What is completed and how C is found.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CompletionChoice {
    pub(crate) apart: f64,
    pub(crate) together: f64,
    pub(crate) penalty: PenaltyChoice,
}

impl Default for CompletionChoice {
    fn default() -> Self {
        CompletionChoice { apart: 0.0, together: 0.9, penalty: PenaltyChoice::Recovery }
    }
}

impl CompletionChoice {
    pub(crate) fn check(&self) -> Result<()> {
        Thresholds::new(self.apart, self.together)?;
        match self.penalty {
            PenaltyChoice::Factor(c) if !(c > 0.0) || c.is_infinite() => {
                Err(Error::invalid(format!("penalty factor {c}; expected a number above 0")))
            }
            _ => Ok(()),
        }
    }
}

/// Completion and k-means on its leading eigenvectors.
pub(crate) struct CompletionClusterer {
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

/// A completion, the factor that it was made at, and how the others predicted.
pub(crate) struct Chosen {
    pub(crate) completion: Completion,
    pub(crate) factor: f64,
    pub(crate) held_out: Vec<(String, f64)>,
}

impl CompletionClusterer {
    pub(crate) fn cluster(
        &self,
        answers: &Answers,
        counts: &AnswerCounts,
        observer: &dyn Observer,
    ) -> Result<Fit<CompletedLabels>> {
        let Fit { output, mut report, .. } = self.complete(answers, counts, observer)?;
        let Chosen { completion, factor, held_out } = output;
        let labels = self.labels(answers, &completion, observer)?;
        report.notes.push(format!("completion of rank {} at c = {factor}", completion.rank()));
        Ok(Fit::new(CompletedLabels { labels, factor, held_out }, report))
    }

    /// The completed similarity of the answered objects.
    pub(crate) fn complete(
        &self,
        answers: &Answers,
        counts: &AnswerCounts,
        observer: &dyn Observer,
    ) -> Result<Fit<Chosen>> {
        let mut path = self.path(counts)?;
        let answered = answers.answered().len();
        let mut held_out = Vec::new();
        let mut factor = match self.choice.penalty {
            PenaltyChoice::Recovery => RECOVERING,
            PenaltyChoice::Factor(c) => c,
            PenaltyChoice::Balance => self.balanced(counts, observer)?,
            PenaltyChoice::HeldOut => {
                let chosen = self.predicting(answers, observer)?;
                held_out = chosen.1;
                chosen.0
            }
        };
        let recovery = self.choice.penalty == PenaltyChoice::Recovery;
        let most = (FAR * RANK * self.clusters).max(answered / SIXTH);
        let mut fit = path.next_below(recovery.then_some(most), factor, observer)?;
        let low_rank = fit.output.rank() <= RANK * self.clusters;
        let recovered = low_rank && self.distinguishes(&fit.output);
        if recovery && !recovered {
            factor = FACTOR;
            fit = path.next(factor, observer)?;
        }
        let chosen = Chosen { completion: fit.output, factor, held_out };
        Ok(Fit::new(chosen, fit.report))
    }

    /// Whether A can distinguish k groups: A = 0 and solutions of lower rank are trivial.
    fn distinguishes(&self, completion: &Completion) -> bool {
        completion.values.iter().filter(|&&v| v > 1.0).count() >= self.clusters
    }

    /// Completions of the pairs that the crowd agrees on.
    fn path(&self, counts: &AnswerCounts) -> Result<Path> {
        Ok(Path {
            observed: counts.reliable_pairs(self.choice.apart, self.choice.together)?,
            completion: RobustCompletion::new()
                .tolerance(TOLERANCE)
                .seed(self.seed)
                .memory_budget(self.budget),
            last: None,
        })
    }

    /// k-means on the leading eigenvectors; one cluster where A is 0.
    fn labels(
        &self,
        answers: &Answers,
        completion: &Completion,
        observer: &dyn Observer,
    ) -> Result<Vec<u32>> {
        // Objects that nobody compared are all alike, and would be a cluster.
        let answered: Vec<usize> = answers.answered().iter().map(|&i| i as usize).collect();
        let rows = completion.embedding(self.clusters).select(Axis(0), &answered);
        spectral::round(rows.view(), self.clusters, self.seed, observer)
    }

    /// The thesis's rule: the smallest `1'A1`, among completions that distinguish k groups.
    fn balanced(&self, counts: &AnswerCounts, observer: &dyn Observer) -> Result<f64> {
        let mut best = (f64::INFINITY, GRID[GRID.len() - 1]);
        let mut path = self.path(counts)?;
        for c in GRID {
            let completion = path.next(c, observer)?.output;
            if self.distinguishes(&completion) && completion.total() < best.0 {
                best = (completion.total(), c);
            }
        }
        Ok(best.1)
    }

    /// The c whose clusters predict unseen tasks best.
    fn predicting(
        &self,
        answers: &Answers,
        observer: &dyn Observer,
    ) -> Result<(f64, Vec<(String, f64)>)> {
        let mut scores = [0.0; GRID.len()];
        let mut trivial = [false; GRID.len()];
        let mut pairs = 0usize;
        let fold = held_out::folds(answers, FOLDS, self.seed);
        for f in 0..FOLDS {
            let seen = answers.filter(|t, _| fold[t] != f);
            let unseen = answers.filter(|t, _| fold[t] == f);
            if seen.n_tasks() == 0 || unseen.n_tasks() == 0 {
                continue;
            }
            let mut path = self.path(&AnswerCounts::of(&seen, self.budget)?)?;
            pairs += unseen.n_pair_answers();
            for (g, c) in GRID.into_iter().enumerate() {
                let completion = path.next(c, observer)?.output;
                let labels = self.labels(&seen, &completion, observer)?;
                trivial[g] |= !self.distinguishes(&completion);
                scores[g] +=
                    held_out::score(&seen, &labels, self.clusters, self.shrinkage, &unseen)
                        .iter()
                        .sum::<f64>();
            }
        }
        let mut best = GRID.len() - 1;
        for g in (0..best).rev() {
            if !trivial[g] && scores[g] > scores[best] {
                best = g;
            }
        }
        let share = |s: &f64| if pairs > 0 { s / pairs as f64 } else { 0.0 };
        let held_out =
            GRID.iter().zip(&scores).map(|(c, s)| (format!("c = {c}"), share(s))).collect();
        Ok((GRID[best], held_out))
    }
}

/// Completions of the same answers at one c after the other, each from where the last one ended.
struct Path {
    observed: ObservedPairs,
    completion: RobustCompletion,
    last: Option<Completion>,
}

impl Path {
    fn next(&mut self, c: f64, observer: &dyn Observer) -> Result<Fit<Completion>> {
        self.next_below(None, c, observer)
    }

    /// The same, but given up where the rank is beyond `rank`.
    fn next_below(
        &mut self,
        rank: Option<usize>,
        c: f64,
        observer: &dyn Observer,
    ) -> Result<Fit<Completion>> {
        let completion = self.completion.penalty(Penalty::Scaled(c)).max_rank(rank);
        let fit = match &self.last {
            Some(last) => completion.fit_from(&self.observed, last, observer)?,
            None => completion.fit(&self.observed, observer)?,
        };
        self.last = Some(fit.output.clone());
        Ok(fit)
    }
}
