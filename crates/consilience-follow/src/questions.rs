//! Which pairs to ask about for the default read-out.

use std::collections::BTreeSet;

use consilience_core::{Result, Seed, Stream};
use consilience_simplex::Questions;

use crate::updater::Updater;

/// Objects that questions are sought among.
const OBJECTS: usize = 2048;
/// Pairs of them that are tried.
const PAIRS: usize = 4096;

impl Updater {
    /// Pairs to ask about next for the default read-out, and the objects of least certain label by
    /// the weights; at most `count` of each.
    ///
    /// Pairs are of random objects, by turns of one cluster as it is read out now and of two: a
    /// metric learns from both kinds, and of pairs at random nine in ten are apart where there are
    /// ten clusters. Those that would move the weights most
    /// ([`WeightUpdater::next_questions`](consilience_simplex::WeightUpdater::next_questions)) are
    /// all of objects between clusters, and serve the metric worse than random pairs on some
    /// sets (docs/questions.md). Clusters are those of the metric once it is open
    /// ([`Updater::partition`] opens it), before of the weights.
    ///
    /// Pairs whose answer follows from the links so far are left out, and so are objects without a
    /// label. No object occurs twice as long as there are others. They are sought among 2,048
    /// random objects and 4,096 pairs of them; all where there are no more.
    ///
    /// # Errors
    /// As [`Updater::read_out`].
    ///
    /// # Complexity
    /// As [`Updater::read_out`] where the metric is open; O(m + r) for each object and pair tried.
    #[doc(alias = "active learning")]
    pub fn next_questions(&self, count: usize, seed: Seed) -> Result<Questions> {
        let mut questions = self.weights.next_questions(count, seed)?;
        let mut stream = seed.derive("questions of the updater", 0).stream();
        let n = self.ensemble().n_objects();
        let drawn = stream.sample(n, OBJECTS.min(n));
        let labels = match &self.metric {
            Some(metric) => {
                let read = metric.read_out(self.ensemble(), self.constraints(), &())?.output;
                read.labels(self.ensemble(), &drawn)?
            }
            None => self.weights.labels_of(&drawn)?,
        };
        let labelled: Vec<(usize, usize)> = drawn
            .iter()
            .zip(&labels)
            .filter_map(|(&object, label)| label.map(|label| (object, label)))
            .collect();
        let pairs = self.alternating(&labelled, count, &mut stream);
        questions.pairs = self.weights.questions_about(&pairs);
        Ok(questions)
    }

    /// Pairs by turns of one cluster and of two, fresh objects first.
    fn alternating(
        &self,
        objects: &[(usize, usize)],
        count: usize,
        stream: &mut Stream,
    ) -> Vec<(usize, usize)> {
        let mut kinds = tried(objects, stream);
        for pairs in &mut kinds {
            let mut seen = BTreeSet::new();
            pairs.retain(|&(i, j)| {
                seen.insert((i, j)) && self.constraints().relation(i, j).is_none()
            });
            // From the end, so that the first drawn is the first taken.
            pairs.reverse();
        }
        let mut used = BTreeSet::new();
        let (mut out, mut later) = (Vec::new(), [Vec::new(), Vec::new()]);
        let mut kind = 0;
        while out.len() < count && kinds.iter().any(|pairs| !pairs.is_empty()) {
            match kinds[kind].pop() {
                Some((i, j)) if used.contains(&i) || used.contains(&j) => {
                    later[kind].push((i, j));
                    continue;
                }
                Some((i, j)) => {
                    used.extend([i, j]);
                    out.push((i, j));
                }
                None => {}
            }
            kind = 1 - kind;
        }
        // Objects that occurred before, again by turns.
        let most = later[0].len().max(later[1].len());
        for at in 0..most {
            out.extend(later.iter().filter_map(|pairs| pairs.get(at)));
        }
        out.truncate(count);
        out
    }
}

/// Pairs of objects, the smaller first, of one cluster and of two: all of them in random order, or
/// as many as are tried of each kind.
fn tried(objects: &[(usize, usize)], stream: &mut Stream) -> [Vec<(usize, usize)>; 2] {
    let c = objects.len();
    let mut kinds = [Vec::new(), Vec::new()];
    let mut add = |a: usize, b: usize| {
        let ((i, l), (j, m)) = (objects[a], objects[b]);
        kinds[usize::from(l != m)].push((i.min(j), i.max(j)));
    };
    if c < 2 {
        return kinds;
    }
    if c * (c - 1) / 2 <= PAIRS {
        let mut all: Vec<(usize, usize)> =
            (0..c).flat_map(|a| (a + 1..c).map(move |b| (a, b))).collect();
        for at in (1..all.len()).rev() {
            all.swap(at, stream.below(at + 1));
        }
        all.into_iter().for_each(|(a, b)| add(a, b));
        return kinds;
    }
    let clusters = objects.iter().map(|o| o.1).max().map_or(0, |l| l + 1);
    let mut of = vec![Vec::new(); clusters];
    objects.iter().enumerate().for_each(|(at, o)| of[o.1].push(at));
    for at in 0..PAIRS {
        let a = stream.below(c);
        let own = &of[objects[a].1];
        let b = if at.is_multiple_of(2) { own[stream.below(own.len())] } else { stream.below(c) };
        if a != b {
            add(a, b);
        }
    }
    kinds
}
