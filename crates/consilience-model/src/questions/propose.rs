//! What to ask next.

use std::cmp::Ordering;
use std::collections::{BTreeSet, HashMap};

use ndarray::Array1;

use super::joins::mean;
use super::question::{Question, StopReason};
use super::tree::sigmoid;
use super::{CERTAIN, Questioner};

/// Central cells of a node, and central objects of a cell, that may stand for it.
const CENTRAL_CELLS: usize = 4;
const CENTRAL_OBJECTS: usize = 5;
/// Questions of less information than this, in bits, are not asked.
const LEAST_INFORMATION: f64 = 1e-4;
/// Gains that differ by this share are level.
const ROUNDING: f64 = 1e-9;
/// A group's gain is at least this share of that of its first two objects. What a group tells
/// beyond the mean of its pairs is not counted (docs/notes/questions.md).
pub(super) const KEPT: f64 = 0.5;

/// A question that may be asked, with its cells and the places of its joins among the open ones,
/// that of the first two objects first.
struct Draft {
    places: Vec<usize>,
    cells: Vec<usize>,
    /// What its first two objects alone would gain.
    pair: f64,
    question: Question,
}

impl Draft {
    /// Which is asked first: the one whose first two objects gain more.
    fn order(&self, other: &Draft) -> Ordering {
        other.pair.total_cmp(&self.pair).then(self.places[0].cmp(&other.places[0]))
    }
}

/// What is asked so far in one round.
struct Round {
    /// Cells of its questions.
    used: Vec<bool>,
    /// Whether each open join is asked about.
    asked: Vec<bool>,
    /// Answers that the budget leaves.
    left: usize,
}

impl Round {
    /// Whether nothing that a question needs was taken since it was drafted.
    fn allows(&self, draft: &Draft) -> bool {
        draft.cells.len() <= self.left + 1
            && !self.asked[draft.places[0]]
            && !draft.cells.iter().any(|&c| self.used[c])
    }

    fn take(&mut self, draft: Draft) -> Question {
        self.left -= draft.question.objects.len() - 1;
        draft.cells.iter().for_each(|&c| self.used[c] = true);
        draft.places.iter().for_each(|&p| self.asked[p] = true);
        draft.question
    }
}

/// What may be asked about together: the places of the open joins, by their nodes.
#[derive(Default)]
struct Groups {
    places: HashMap<(usize, usize), usize>,
    nodes: BTreeSet<usize>,
}

impl Groups {
    fn of(&self, a: usize, b: usize) -> Option<usize> {
        self.places.get(&(a.min(b), a.max(b))).copied()
    }

    /// Nodes that a question about some may take in, best first, each with the most that its joins
    /// with them gain in sum. None of these joins is before the question's first, so that every
    /// group is found by its best join.
    fn others(&self, asked: &[usize], place: usize, open: &[(f64, usize)]) -> Vec<(f64, usize)> {
        let sum = |node: usize| {
            let mut sum = 0.0;
            for join in asked.iter().filter_map(|&a| self.of(a, node)) {
                if join < place {
                    return None;
                }
                sum += open[join].0;
            }
            // Nodes without an open join to these may lie within them.
            (sum > 0.0).then_some((sum, node))
        };
        let others = self.nodes.iter().copied().filter(|node| !asked.contains(node));
        let mut others: Vec<(f64, usize)> = others.filter_map(sum).collect();
        others.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        others
    }
}

/// Objects that each answer puts right, by what all pairs of a question about `size` objects are
/// worth: they count 2 / size each, as for two clusters, so that a group never gains more than its
/// best pair; a bit is half an object, and size - 1 answers are paid for.
fn gain_of(worth: f64, size: usize) -> f64 {
    let size = size as f64;
    0.5 * worth * 2.0 / size / (size - 1.0)
}

impl Questioner {
    /// The next questions, at most `how_many` and no more than the budget leaves, those first whose
    /// first two objects alone gain most.
    ///
    /// For every two nodes that may belong together the gain is half the information of an answer
    /// times the objects of the smaller node. A question about more gains the mean of its pairs for
    /// each of its answers, never more than its best pair could; objects are taken in while that
    /// is at least the price and half of what the first two gain. What answers so far decide is not
    /// asked, directly or by way of others, and no cell is in two of the questions; its objects
    /// take turns. Two nodes are asked about once, but each with as many others as it has cells
    /// for: whether large nodes belong together tells most, and what would be asked in their place
    /// mostly confirms the tree. Empty where [`stop`](Questioner::stop) says why.
    ///
    /// ```
    /// use consilience::model::QuestionerOptions;
    /// use consilience::ndarray::array;
    ///
    /// let x = array![[0.0], [0.1], [4.0], [5.0], [9.0]];
    /// let questioner = QuestionerOptions::new(2).budget(1).start(&x)?;
    /// // The budget leaves one.
    /// let questions = questioner.propose(10);
    /// assert_eq!(questions.len(), 1);
    /// assert_eq!(questions[0].objects.len(), 2);
    /// # Ok::<(), consilience::Error>(())
    /// ```
    ///
    /// # Complexity
    /// O(m^2) time for m cells, mostly much less, O(m r) for each question, and for one about s
    /// objects O(m s^2).
    pub fn propose(&self, how_many: usize) -> Vec<Question> {
        let price = self.options.price;
        let (mut out, mut drafts) = (Vec::new(), Vec::<Draft>::new());
        let open = self.open_joins();
        let groups = self.groups(&open);
        let mut round = Round {
            used: vec![false; self.cells.len()],
            asked: vec![false; open.len()],
            left: self.options.budget.saturating_sub(self.spent),
        };
        let mut next = 0;
        while out.len() < how_many && round.left > 0 {
            let best = (0..drafts.len()).min_by(|&a, &b| drafts[a].order(&drafts[b]));
            let gain = best.map_or(f64::NEG_INFINITY, |b| drafts[b].pair);
            // A join gains less than its bound where its objects were asked about.
            let more = |bound: f64| bound * (1.0 - ROUNDING) > gain && bound >= price;
            if open.get(next).is_some_and(|&(bound, _)| more(bound)) {
                drafts.extend(self.draft(next, &open, &groups, &round));
                next += 1;
                continue;
            }
            let Some(draft) = best.map(|b| drafts.swap_remove(b)) else { break };
            if round.allows(&draft) {
                out.push(round.take(draft));
                continue;
            }
            // Others took some of it. Where what is left of it was asked about less often and so
            // gains more it waits for the next round: the best comes first.
            let again = self.draft(draft.places[0], &open, &groups, &round);
            drafts.extend(again.filter(|again| again.pair <= draft.pair));
        }
        out
    }

    /// Why nothing is asked any more; `None` while [`propose`](Questioner::propose) has questions.
    pub fn stop(&self) -> Option<StopReason> {
        if self.spent >= self.options.budget {
            return Some(StopReason::Budget);
        }
        if !self.propose(1).is_empty() {
            return None;
        }
        Some(if self.open_joins().is_empty() { StopReason::Decided } else { StopReason::Price })
    }

    /// Whether nothing is asked any more.
    pub fn is_done(&self) -> bool {
        self.stop().is_some()
    }

    /// Joins that an answer would tell something about, by the most that a new pair could gain.
    fn open_joins(&self) -> Vec<(f64, usize)> {
        // One cluster, or one for each object: nothing is left to know.
        if self.clusters == 1 || self.clusters == self.n_objects() {
            return Vec::new();
        }
        let mut open: Vec<(f64, usize)> = (0..self.joins.all.len())
            .filter_map(|t| {
                let merge = &self.joins.all[t];
                let decided = merge.evidence != 0.0 && merge.odds.abs() > CERTAIN;
                let information = self.information(sigmoid(merge.odds));
                let asked = !decided && information > LEAST_INFORMATION;
                asked.then(|| (0.5 * information * self.moved(t), t))
            })
            .collect();
        open.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        open
    }

    /// Objects of the smaller side of a join.
    fn moved(&self, t: usize) -> f64 {
        let [a, b] = self.joins.all[t].nodes;
        self.tree.sizes[a].min(self.tree.sizes[b])
    }

    /// Mutual information, in bits, of an answer of the crowd and of being together.
    fn information(&self, together: f64) -> f64 {
        let (p, r) = self.evidence.crowd();
        let part = |x: f64| if x > 0.0 { -x * x.log2() } else { 0.0 };
        let h = |x: f64| part(x) + part(1.0 - x);
        let t = together;
        (h(t * p + (1.0 - t) * r) - t * h(p) - (1.0 - t) * h(r)).max(0.0)
    }

    /// The open joins by their nodes, where questions may be about more than two objects.
    fn groups(&self, open: &[(f64, usize)]) -> Groups {
        let mut groups = Groups::default();
        if self.options.group_size > 2 {
            for (place, &(_, t)) in open.iter().enumerate() {
                let [a, b] = self.joins.all[t].nodes;
                groups.places.insert((a.min(b), a.max(b)), place);
                groups.nodes.extend([a, b]);
            }
        }
        groups
    }

    /// The best question that begins with a join, of objects of cells that the round has not used
    /// yet; `None` where it has no such cells, gains less than the price or is asked about already.
    fn draft(
        &self,
        place: usize,
        open: &[(f64, usize)],
        groups: &Groups,
        round: &Round,
    ) -> Option<Draft> {
        let t = open[place].1;
        let merge = &self.joins.all[t];
        if round.asked[place] {
            return None;
        }
        let (a, b) = self.standing(merge.nodes[0], merge.nodes[1], &round.used)?;
        let (i, j) = self.least_asked(a, b);
        let (mut nodes, mut cells, mut objects) = (merge.nodes.to_vec(), vec![a, b], vec![i, j]);
        let (mut information, mut worth) = self.told(t, i, j);
        let pair = gain_of(worth, 2);
        if pair < self.options.price {
            return None;
        }
        let mut places = vec![place];
        let least = self.options.price.max(KEPT * pair) * (1.0 - ROUNDING);
        let most = self.options.group_size.min(round.left + 1);
        while objects.len() < most {
            let size = objects.len() + 1;
            let enough = |worth: f64| gain_of(worth, size) >= least;
            let others = groups.others(&nodes, place, open).into_iter();
            let free = |node| self.central(node, &round.used).first().copied();
            let next = others
                .take_while(|&(sum, _)| enough(worth + 2.0 * sum))
                .find_map(|(_, node)| Some((node, free(node)?)));
            let Some((node, cell)) = next else { break };
            let object = self.cells.members[cell][0];
            let joins: Vec<(usize, usize)> = nodes
                .iter()
                .zip(&objects)
                .filter_map(|(&other, &o)| Some((groups.of(other, node)?, o)))
                .filter(|&(at, _)| !round.asked[at])
                .collect();
            let told = |&(at, o): &(usize, usize)| self.told(open[at].1, o, object);
            let more = joins.iter().map(told).fold((0.0, 0.0), |s, m| (s.0 + m.0, s.1 + m.1));
            if !enough(worth + more.1) {
                break;
            }
            places.extend(joins.iter().map(|&(at, _)| at));
            (information, worth) = (information + more.0, worth + more.1);
            nodes.push(node);
            cells.push(cell);
            objects.push(object);
        }
        let (gain, together) = (gain_of(worth, objects.len()), sigmoid(merge.odds));
        // As in the gain.
        let information = information * 2.0 / objects.len() as f64;
        Some(Draft {
            places,
            cells,
            pair,
            question: Question { objects, together, information, gain },
        })
    }

    /// Bits that a further answer about two objects tells of a join, and these times the objects
    /// that it moves.
    fn told(&self, t: usize, i: usize, j: usize) -> (f64, f64) {
        let fresh = self.evidence.fresh(self.evidence.times((i.min(j), i.max(j))));
        let bits = fresh * self.information(sigmoid(self.joins.all[t].odds));
        (bits, bits * self.moved(t))
    }

    /// A central cell of each of two nodes; rather two that were not asked about yet. `None` where
    /// all cells of one are `used`.
    fn standing(&self, a: usize, b: usize, used: &[bool]) -> Option<(usize, usize)> {
        let (a, b) = (self.central(a, used), self.central(b, used));
        let mut best = (f64::INFINITY, *a.first()?, *b.first()?);
        for (ra, &ca) in a.iter().enumerate() {
            for (rb, &cb) in b.iter().enumerate() {
                let known = self.between.get(&(ca.min(cb), ca.max(cb))).map_or(0.0, |e| e.abs());
                let cost = (ra + rb) as f64 + known;
                if cost < best.0 {
                    best = (cost, ca, cb);
                }
            }
        }
        Some((best.1, best.2))
    }

    /// Some cells of a node that are not `used` yet, those nearest to its mean first.
    fn central(&self, node: usize, used: &[bool]) -> Vec<usize> {
        let mean = Array1::from(mean(&self.tree, &self.cells, node));
        let far = |c: usize| {
            let difference = &self.cells.centres.row(c) - &mean;
            difference.dot(&difference)
        };
        let free = self.tree.cells[node].iter().filter(|&&c| !used[c]);
        let mut near: Vec<(f64, usize)> = free.map(|&c| (far(c), c)).collect();
        near.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        near.into_iter().take(CENTRAL_CELLS).map(|(_, c)| c).collect()
    }

    /// The most central objects of two cells that were asked about together least often.
    fn least_asked(&self, a: usize, b: usize) -> (usize, usize) {
        let some = |c: usize| {
            let members = &self.cells.members[c];
            &members[..members.len().min(CENTRAL_OBJECTS)]
        };
        let mut best = (usize::MAX, usize::MAX, 0, 0);
        for (u, &i) in some(a).iter().enumerate() {
            for (v, &j) in some(b).iter().enumerate() {
                let times = self.evidence.times((i.min(j), i.max(j)));
                // Both objects change where they can.
                let rank = u.max(v) * 4 * CENTRAL_OBJECTS + u + v + 2 * u.abs_diff(v);
                if (times, rank) < (best.0, best.1) {
                    best = (times, rank, i, j);
                }
            }
        }
        (best.2, best.3)
    }
}
