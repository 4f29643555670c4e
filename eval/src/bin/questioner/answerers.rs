//! Answerers who know the classes and err.

use consilience::model::{Answer, Question};
use consilience::{Partition, Seed, Stream};

/// Workers who take turns at random.
const WORKERS: usize = 5;

pub struct Answerers<'a> {
    truth: &'a Partition,
    /// How often an answer about a pair is right.
    accuracy: f64,
    draw: Stream,
}

impl<'a> Answerers<'a> {
    pub fn new(truth: &'a Partition, accuracy: f64, seed: Seed) -> Self {
        Answerers { truth, accuracy, draw: seed.derive("answers", 0).stream() }
    }

    /// Whether two objects belong together, says one.
    pub fn same(&mut self, i: usize, j: usize) -> bool {
        (self.truth.label(i) == self.truth.label(j)) == (self.draw.uniform() < self.accuracy)
    }

    pub fn answer(&mut self, question: &Question) -> Answer {
        let worker = self.draw.below(WORKERS);
        let (i, j) = (question.objects[0], question.objects[1]);
        Answer::pair(worker, i, j, self.same(i, j))
    }
}
