/// A few objects to ask about: which of them belong together?
///
/// From [`Questioner::propose`](crate::Questioner::propose). Two objects make a question that is
/// answered by "same" or "different", more of them one that is answered by groups.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Question {
    /// The objects, two or more, all different.
    pub objects: Vec<usize>,
    /// Probability that the first two belong together, by features and answers so far.
    pub together: f64,
    /// Information that one answer of the crowd is expected to give, in bits; pairs of s objects
    /// count 2 / s each.
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

    /// A group for each of the objects, by any names.
    pub fn groups<L: PartialEq>(worker: usize, objects: &[usize], groups: &[L]) -> Self {
        let first = |g: &L| groups.iter().position(|h| h == g).unwrap_or(groups.len());
        Answer { worker, objects: objects.to_vec(), groups: groups.iter().map(first).collect() }
    }
}

/// How a worker answers, as far as answers and features tell; see
/// [`Questioner::workers`](crate::Questioner::workers).
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct WorkerAccuracy {
    /// The worker's own number.
    pub worker: usize,
    /// Pair answers; those about s objects count 2 / s each.
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
    /// `same_together - same_apart`: 1 for perfect answers, 0 for none (Youden's index).
    pub fn information(&self) -> f64 {
        self.same_together - self.same_apart
    }
}

/// Why there is nothing more to ask; see [`Questioner::stop`](crate::Questioner::stop).
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
