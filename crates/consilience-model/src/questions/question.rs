/// A few objects to ask about: which of them belong together?
///
/// From [`Questioner::propose`](crate::Questioner::propose). Two objects make a question that is
/// answered by "same" or "different", more of them one that is answered by groups.
///
/// ```
/// use consilience::model::QuestionerOptions;
/// use consilience::ndarray::array;
///
/// let x = array![[0.0], [0.1], [4.0], [5.0], [9.0]];
/// let questioner = QuestionerOptions::new(2).group_size(3).start(&x)?;
/// for question in questioner.propose(2) {
///     println!("which of {:?} belong together?", question.objects);
///     assert!((2..=3).contains(&question.objects.len()));
///     assert!((0.0..=1.0).contains(&question.together) && question.gain > 0.0);
/// }
/// # Ok::<(), consilience::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Question {
    /// The objects, two or more, all different.
    pub objects: Vec<usize>,
    /// Probability that the first two belong together, by features and answers so far.
    pub together: f64,
    /// Information that one answer of the crowd is expected to give at least, in bits: pairs of s
    /// objects count 2 / s each, as for two clusters. Where there are more they tell more.
    pub information: f64,
    /// Objects that each answer is expected to put right: half an object for every bit about
    /// whether one object moves. Questions about s objects cost s - 1 answers, by which it is
    /// divided.
    pub gain: f64,
}

/// What a worker said of a few objects.
///
/// ```
/// use consilience::model::Answer;
///
/// // Worker 7, a person or a language model, was asked about two objects, and about three.
/// let pair = Answer::pair(7, 12, 5, false);
/// let three = Answer::groups(7, &[12, 5, 30], &["a", "b", "a"]);
/// assert_eq!(pair.objects, [12, 5]);
/// assert_eq!(three.groups, [0, 1, 0]);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Answer {
    /// The worker's own number, any that the caller likes.
    pub worker: usize,
    /// The objects that were shown.
    pub objects: Vec<usize>,
    /// The group of each: equal numbers belong together.
    pub groups: Vec<usize>,
}

impl Answer {
    /// "The same" or "different" of two objects.
    pub fn pair(worker: usize, i: usize, j: usize, same: bool) -> Self {
        Answer { worker, objects: vec![i, j], groups: vec![0, usize::from(!same)] }
    }

    /// Answers about pairs that it counts as.
    pub(super) fn price(&self) -> usize {
        self.objects.len() - 1
    }

    /// A group for each of the objects, by any names.
    pub fn groups<L: PartialEq>(worker: usize, objects: &[usize], groups: &[L]) -> Self {
        let first = |g: &L| groups.iter().position(|h| h == g).unwrap_or(groups.len());
        Answer { worker, objects: objects.to_vec(), groups: groups.iter().map(first).collect() }
    }
}

/// How a worker answers, as far as answers and features tell; see
/// [`Questioner::workers`](crate::Questioner::workers).
///
/// ```
/// use consilience::model::{Answer, QuestionerOptions};
/// use consilience::ndarray::Array2;
///
/// // Two groups far apart. Worker 0 knows them, worker 1 says "same" of everything.
/// let x = Array2::from_shape_fn((40, 1), |(i, _)| (i / 20 * 9) as f64 + (i % 5) as f64 * 0.1);
/// let mut questioner = QuestionerOptions::new(2).start(&x)?;
/// let said: Vec<Answer> = (0..19)
///     .flat_map(|i| [(i, i + 1), (i, i + 20)])
///     .flat_map(|(i, j)| {
///         [Answer::pair(0, i, j, i / 20 == j / 20), Answer::pair(1, i, j, true)]
///     })
///     .collect();
/// questioner.answer(&said)?;
/// let workers = questioner.workers();
/// assert!(workers[0].informedness() > workers[1].informedness() + 0.3);
/// # Ok::<(), consilience::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct WorkerAccuracy {
    /// The worker's own number.
    pub worker: usize,
    /// Pair answers; those of a group of s objects count 2 (k - 1) / (s + 2 (k - 2)) each, k being
    /// the number of clusters.
    pub answers: f64,
    /// Probability of calling two objects that belong together the same (sensitivity), shrunk to
    /// the crowd's.
    pub same_together: f64,
    /// Probability of calling two others the same (1 less the specificity), shrunk to the crowd's.
    pub same_apart: f64,
    /// Correlation of the worker's answers to one question asked again, 0 to 1: n of them count as
    /// `n / (1 + (n - 1) correlation)`.
    pub repeat_correlation: f64,
}

impl WorkerAccuracy {
    /// Youden's index, `same_together - same_apart`, -1 to 1: 1 for perfect answers, 0 for answers
    /// that tell nothing; negative where a worker answers the wrong way round.
    #[doc(alias = "information")]
    #[doc(alias = "Youden")]
    pub fn informedness(&self) -> f64 {
        self.same_together - self.same_apart
    }
}

/// Why there is nothing more to ask; see [`Questioner::stop`](crate::Questioner::stop).
///
/// ```
/// use consilience::model::{QuestionerOptions, StopReason};
/// use consilience::ndarray::array;
///
/// let x = array![[0.0], [0.1], [4.0], [5.0], [9.0]];
/// let options = QuestionerOptions::new(2);
/// assert_eq!(options.start(&x)?.stop(), None);
/// assert_eq!(options.budget(0).start(&x)?.stop(), Some(StopReason::Budget));
/// // An answer costs as much as putting a hundred objects right would bring.
/// assert_eq!(options.price(100.0).start(&x)?.stop(), Some(StopReason::Price));
/// # Ok::<(), consilience::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StopReason {
    /// All answers of the budget were given.
    Budget,
    /// No question is expected to put as many objects right as an answer costs.
    Price,
    /// Nothing is in doubt that a question could decide.
    Decided,
}

impl StopReason {
    /// The name that the program prints.
    ///
    /// ```
    /// assert_eq!(consilience::model::StopReason::Price.name(), "price");
    /// ```
    pub fn name(self) -> &'static str {
        match self {
            StopReason::Budget => "budget",
            StopReason::Price => "price",
            StopReason::Decided => "decided",
        }
    }
}
