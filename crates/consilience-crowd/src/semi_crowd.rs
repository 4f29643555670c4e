//! From answers about some objects, and features of all, to clusters of all.

use consilience_completion::{CompletedClustering, Completion, Rdml, SampleSimilarity};
use consilience_core::{
    Error, Features, Fit, MemoryBudget, Observer, Result, Seed, Status, ensure,
};

use crate::answer_counts::AnswerCounts;
use crate::answers::{Answers, PairAnswer};
use crate::block_model::BlockModel;
use crate::completed::{Chosen, CompletionChoice, CompletionClusterer, PenaltyChoice};

/// Semi-crowdsourced clustering: a crowd annotated some of the objects, and the features extend
/// what it said to all.
///
/// The pairs that the crowd agrees on are completed to the similarity of the annotated objects, a
/// linear metric is learned from that similarity by regression ([`Rdml`]), and all objects are
/// clustered under it. Where every object is annotated, or the features say nothing,
/// [`CrowdClustering`](crate::CrowdClustering) is the method.
///
/// ```
/// use consilience::crowd::{Answers, GroupAnswer, SemiCrowd};
/// use consilience::ndarray::Array2;
///
/// // 200 objects in two groups that only the second column distinguishes. Five workers sort the
/// // first 30; the last one answers at random.
/// let x = Array2::from_shape_fn((200, 2), |(i, j)| {
///     if j == 0 { ((i * 37) % 101) as f64 } else { (i % 2) as f64 + ((i * 13) % 7) as f64 * 0.05 }
/// });
/// let mut rows = Vec::new();
/// for worker in 0..5 {
///     for item in 0..30 {
///         let group = if worker == 4 { (item * 7) % 3 } else { item % 2 };
///         rows.push(GroupAnswer { worker, task: 0, item, group });
///     }
/// }
/// let answers = Answers::from_groupings(200, &rows)?;
/// let found = SemiCrowd::new(2).thresholds(0.2, 0.8).fit(x.view(), &answers, &())?.output;
/// assert_eq!(found.completion.rank(), 2);
/// let partition = &found.completed.clustering.partition;
/// assert!(partition.iter().enumerate().all(|(i, c)| c == Some(i % 2)));
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Complexity
/// That of [`RobustCompletion`](consilience_completion::RobustCompletion) over the annotated
/// objects and of [`Rdml`] over all.
///
/// # Errors
/// As [`Rdml`]; [`ErrorKind::InvalidParameter`](consilience_core::ErrorKind::InvalidParameter) for
/// bad thresholds or a bad penalty;
/// [`ErrorKind::ShapeMismatch`](consilience_core::ErrorKind::ShapeMismatch) where the answers are
/// about another number of objects; [`ErrorKind::Empty`](consilience_core::ErrorKind::Empty) where
/// no similarity is left after the completion.
///
/// # References
/// J. Yi, "Data Clustering with Pairwise Constraints", PhD thesis, Michigan State University, 2014,
/// Chapter 4. Ours: the weight C of the errors, and what [`Rdml`] says of itself.
/// [`SemiCrowd::published`] is the thesis's form.
#[doc(alias = "semi-crowdsourced clustering")]
#[derive(Clone, Debug)]
pub struct SemiCrowd {
    clusters: usize,
    completion: CompletionChoice,
    metric: Rdml,
    seed: Seed,
    budget: MemoryBudget,
}

/// What [`SemiCrowd`] found.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SemiCrowdResult {
    /// The clusters of all objects, which also label new ones, and the learned similarity.
    pub completed: CompletedClustering,
    /// The completed similarity of the annotated objects, in the order of
    /// [`Answers::answered`].
    pub completion: Completion,
}

impl SemiCrowd {
    /// At most this many clusters.
    pub fn new(clusters: usize) -> Self {
        let penalty = PenaltyChoice::Factor(1.3);
        SemiCrowd {
            clusters,
            completion: CompletionChoice { penalty, ..CompletionChoice::default() },
            metric: Rdml::new(clusters),
            seed: Seed(0),
            budget: MemoryBudget::default(),
        }
    }

    consilience_core::setters! {
        /// Pairs called the same by at least the share `together` of answers are known to be
        /// together, by at most `apart` to be apart. Default 0 and 0.9; `0 <= apart < together <=
        /// 1`.
        #[doc(alias = "d0")]
        #[doc(alias = "d1")]
        pub fn thresholds(mut self, apart: f64, together: f64) {
            (self.completion.apart, self.completion.together) = (apart, together)
        }

        /// How the weight C of the errors is found. Default `PenaltyChoice::Factor(1.3)`.
        #[doc(alias = "C")]
        pub fn penalty(mut self, choice: PenaltyChoice) { self.completion.penalty = choice }

        /// The regression; its number of clusters is that given here, its seed and memory budget
        /// too. Default [`Rdml::new`].
        pub fn metric(mut self, metric: Rdml) { self.metric = metric }

        /// Seed of completion and k-means. Default `Seed(0)`.
        pub fn seed(mut self, seed: Seed) { self.seed = seed }

        /// How much memory may be taken. Default 8 GiB.
        pub fn memory_budget(mut self, budget: MemoryBudget) { self.budget = budget }
    }

    /// The form of the thesis: thresholds 0 and 0.8, the C of the most balanced completion, and
    /// [`Rdml::published`]. Default: ours, as the setters say. Setters that follow change single
    /// parts.
    #[must_use]
    pub fn published(self) -> Self {
        let metric = self.metric.clone().published();
        self.thresholds(0.0, 0.8).penalty(PenaltyChoice::Balance).metric(metric)
    }

    /// Clusters all rows; progress goes to the observer, which may also cancel.
    ///
    /// # Errors
    /// As [`SemiCrowd`] says.
    pub fn fit<'a>(
        &self,
        features: impl Into<Features<'a>>,
        answers: &Answers,
        observer: &dyn Observer,
    ) -> Result<Fit<SemiCrowdResult>> {
        let features = features.into();
        ensure!(
            features.n_objects() == answers.n_objects(),
            shape("answers about {} objects, {} rows", answers.n_objects(), features.n_objects())
        );
        self.completion.check()?;
        let among = among_answered(answers)?;
        let clusterer = CompletionClusterer {
            choice: self.completion,
            clusters: self.clusters,
            shrinkage: BlockModel::new(self.clusters).shrinkage(),
            seed: self.seed,
            budget: self.budget,
        };
        let counts = AnswerCounts::of(&among, self.budget)?;
        let first = clusterer.complete(&among, &counts, observer)?;
        let Chosen { completion, factor, .. } = first.output;
        if completion.rank() == 0 {
            return Err(Error::empty(
                "nothing is left of the completed similarity; expected answers on more pairs, or \
                 a larger weight c of the errors",
            ));
        }
        let sample: Vec<usize> = answers.answered().iter().map(|&i| i as usize).collect();
        let given = SampleSimilarity::Eigenpairs(completion.vectors.view(), &completion.values);
        let metric = self.metric.clone().of(self.clusters);
        let metric = metric.seed(self.seed).memory_budget(self.budget);
        let mut fit = metric.fit_sample(features, &sample, given, observer)?;
        if first.report.status == Status::MaxIterations {
            fit.report.status = Status::MaxIterations;
        }
        fit.report.notes.push(format!("completion of rank {} at c = {factor}", completion.rank()));
        Ok(Fit::new(SemiCrowdResult { completed: fit.output, completion }, fit.report))
    }
}

/// The same answers about the answered objects alone, numbered in their order.
fn among_answered(answers: &Answers) -> Result<Answers> {
    let mut number = vec![0; answers.n_objects()];
    for (new, &object) in answers.answered().iter().enumerate() {
        number[object as usize] = new;
    }
    let rows: Vec<PairAnswer> = answers
        .pairs()
        .map(|pair| PairAnswer { i: number[pair.i], j: number[pair.j], ..pair })
        .collect();
    Answers::from_pairs(answers.answered().len(), &rows)
}
