//! From answers about some objects, and features of all, to clusters of all.

use consilience_completion::{
    CompletedClustering, Completion, Rdml, SampleSimilarity, SimilarityCut,
};
use consilience_core::{
    Error, ErrorKind, Features, Fit, MemoryBudget, Observer, Result, Seed, SideInformation, Status,
    ensure,
};

use crate::answer_counts::AnswerCounts;
use crate::answers::Answers;
use crate::block_model::BlockModel;
use crate::completed::{Chosen, CompletionChoice, CompletionClusterer, PenaltyChoice};
use crate::left_out::{LeftOut, LeftOutObjects};

/// The factor of C. The regression averages over mistakes itself; a smaller factor takes a few
/// answers about many clusters for mistakes, and joins the clusters
/// (docs/reproduction/side-information.md).
const FACTOR: f64 = 3.0;

/// Semi-crowdsourced clustering: a crowd annotated some of the objects, and the features extend
/// what it said to all.
///
/// The pairs that the crowd agrees on are completed to the similarity of the annotated objects, a
/// linear metric is learned from that similarity by regression ([`Rdml`]), and all objects are
/// clustered under it. Where every object is annotated, or the features say nothing,
/// [`CrowdClustering`](crate::CrowdClustering) is the method.
///
/// A few answers may teach a metric that is worse than none. So annotated objects are left out of
/// the regression, fold by fold, and the learned clusters are taken where they agree better with
/// the answers about these objects than those of plain k-means do ([`LeftOut`]); else the clusters
/// are those of plain k-means.
///
/// Features of one unit lose by a common scale where some mean nothing, others are nothing without.
/// So all this is done for standardized features and for features as they are, and the clusters are
/// those that keep more of the answers about objects left out ([`SemiCrowd::compare_scales`]).
///
/// ```
/// use consilience::crowd::{Answers, GroupAnswer, SemiCrowd};
/// use consilience::ndarray::Array2;
///
/// // 200 objects in two groups that only the last column distinguishes: two others are alike, and
/// // plain k-means follows them. Five workers sort the first 30; the last one answers at random.
/// let x = Array2::from_shape_fn((200, 3), |(i, j)| {
///     if j < 2 { ((i * 37) % 101) as f64 } else { (i % 2) as f64 + ((i * 13) % 7) as f64 * 0.05 }
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
/// assert!(found.left_out.is_some_and(|evidence| evidence.learned));
/// let partition = &found.completed.clustering.partition;
/// assert!(partition.iter().enumerate().all(|(i, c)| c == Some(i % 2)));
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Complexity
/// That of [`RobustCompletion`](consilience_completion::RobustCompletion) over the annotated
/// objects and of [`Rdml`] over all; for what is left out, [`Rdml`] five times more, with two
/// starts of k-means, and plain k-means.
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
/// Chapter 4. Ours: the weight C of the errors, the comparison with plain k-means, and what
/// [`Rdml`] says of itself.
/// [`SemiCrowd::published`] is the thesis's form.
#[doc(alias = "semi-crowdsourced clustering")]
#[derive(Clone, Debug)]
pub struct SemiCrowd {
    clusters: usize,
    completion: CompletionChoice,
    metric: Rdml,
    cross_validated: bool,
    compare_scales: bool,
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
    /// How the learned similarity and plain k-means agree with what was left out; `None` where that
    /// was not asked for, or no annotated object has answers of both kinds.
    pub left_out: Option<LeftOut>,
}

impl SemiCrowd {
    /// At most this many clusters.
    pub fn new(clusters: usize) -> Self {
        let penalty = PenaltyChoice::Factor(FACTOR);
        SemiCrowd {
            clusters,
            completion: CompletionChoice { penalty, ..CompletionChoice::default() },
            metric: Rdml::new(clusters),
            cross_validated: true,
            compare_scales: true,
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

        /// How the weight C of the errors is found. Default `PenaltyChoice::Factor(3.0)`.
        #[doc(alias = "C")]
        pub fn penalty(mut self, choice: PenaltyChoice) { self.completion.penalty = choice }

        /// The regression; its number of clusters is that given here, its seed and memory budget
        /// too. Default [`Rdml::new`].
        pub fn metric(mut self, metric: Rdml) { self.metric = metric }

        /// Whether plain k-means is taken where the learned similarity does not agree better with
        /// answers about annotated objects that are left out. Default true.
        pub fn cross_validated(mut self, on: bool) { self.cross_validated = on }

        /// Whether the scale that [`Rdml::standardize`] does not name is tried too, and taken where
        /// its clusters keep more of the answers about objects left out, by more than the standard
        /// errors. Default true; false has no effect on what is not cross-validated.
        pub fn compare_scales(mut self, on: bool) { self.compare_scales = on }

        /// Seed of completion and k-means. Default `Seed(0)`.
        pub fn seed(mut self, seed: Seed) { self.seed = seed }

        /// How much memory may be taken. Default 8 GiB.
        pub fn memory_budget(mut self, budget: MemoryBudget) { self.budget = budget }
    }

    /// The form of the thesis: thresholds 0 and 0.8, the C of the most balanced completion,
    /// [`Rdml::published`], and nothing left out. Default: ours, as the setters say. Setters that
    /// follow change single parts.
    #[must_use]
    pub fn published(self) -> Self {
        let metric = self.metric.clone().published();
        let own = self.thresholds(0.0, 0.8).penalty(PenaltyChoice::Balance).metric(metric);
        own.cross_validated(false)
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
        // The completion is long; what the regression would refuse after it is refused before.
        let metric = self.metric.clone().of(self.clusters);
        let metric = metric.seed(self.seed).memory_budget(self.budget);
        metric.check_features(features)?;
        let among = answers.among_answered();
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
        let agreed = match self.cross_validated {
            true => Some(counts.reliable_pairs(self.completion.apart, self.completion.together)?),
            false => None,
        };
        let annotated = Annotated {
            features,
            sample: &sample,
            completion: &completion,
            left_out: agreed.as_ref().map(|pairs| LeftOutObjects::new(&sample, pairs, self.seed)),
        };
        let mut fit = annotated.clusters(&metric, observer)?;
        if self.compare_scales && fit.output.1.is_some() {
            fit = annotated.other_scale(fit, &metric, observer)?;
        }
        if first.report.status == Status::MaxIterations {
            fit.report.status = Status::MaxIterations;
        }
        fit.report.notes.push(format!("completion of rank {} at c = {factor}", completion.rank()));
        let (completed, left_out) = fit.output;
        Ok(Fit::new(SemiCrowdResult { completed, completion, left_out }, fit.report))
    }
}

/// Clusters, and how they keep what was left out.
type Found = Fit<(CompletedClustering, Option<LeftOut>)>;

/// Features of all objects, and what is known of the annotated ones.
struct Annotated<'a, 'f> {
    features: Features<'f>,
    sample: &'a [usize],
    completion: &'a Completion,
    /// Where some are to be left out.
    left_out: Option<LeftOutObjects<'a>>,
}

impl Annotated<'_, '_> {
    /// The clusters under the learned metric, or those of plain k-means where these are better.
    fn clusters(&self, metric: &Rdml, observer: &dyn Observer) -> Result<Found> {
        let Completion { vectors, values, .. } = self.completion;
        let given = SampleSimilarity::Eigenpairs(vectors.view(), values);
        let Fit { output: mut clusters, mut report, .. } =
            metric.fit_sample(self.features, self.sample, given, observer)?;
        let mut evidence = None;
        if let Some(objects) = &self.left_out {
            let nothing = SideInformation::none(self.features.n_objects());
            let plain = metric.clone().cut(SimilarityCut::KMeans);
            let plain = plain.fit_completed(self.features, &nothing, observer)?;
            let (of, seen) = (self.features, self.completion);
            evidence = objects.compare(of, metric, seen, &plain.output, observer)?;
            if let Some(evidence) = evidence {
                report.notes.push(evidence.note());
                if !evidence.learned {
                    (clusters, report.objective) = (plain.output, plain.report.objective);
                }
            }
        }
        Ok(Fit::new((clusters, evidence), report))
    }

    /// The clusters of features on the other scale, where these keep more, and else what there is.
    fn other_scale(&self, usual: Found, metric: &Rdml, observer: &dyn Observer) -> Result<Found> {
        let (metric, standardized) = metric.other_scale();
        let names = ["features as they are", "standardized features"];
        let [first, second] = if standardized { names } else { [names[1], names[0]] };
        let kept = |found: &Found| {
            found.output.1.map(|of| (if of.learned { of.kept } else { of.kept_plain }, of.error))
        };
        // What the other scale does not allow takes nothing from this one.
        let other = match self.clusters(&metric, observer) {
            Err(error) if error.kind() == ErrorKind::Cancelled => return Err(error),
            other => other.ok(),
        };
        let both = other.as_ref().and_then(kept).zip(kept(&usual));
        let (Some(other), Some((theirs, ours))) = (other, both) else { return Ok(usual) };
        let taken = theirs.0 - ours.0 > theirs.1.max(ours.1);
        let note = format!(
            "clusters from {}: of answers about objects left out those from {second} keep {:.3}, \
             those from {first} {:.3}",
            if taken { second } else { first },
            theirs.0,
            ours.0
        );
        let mut found = if taken { other } else { usual };
        found.report.notes.push(note);
        Ok(found)
    }
}
