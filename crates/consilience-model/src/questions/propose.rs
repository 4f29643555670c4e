//! What to ask next.

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

impl Questioner {
    /// The next questions, those of most gain first: at most `how_many`, and no more than the
    /// budget leaves.
    ///
    /// For every two nodes that may belong together the gain is the information of an answer times
    /// the objects of the smaller node. What answers so far decide is not asked, directly or by way
    /// of others, and no cell is in two of the questions; its objects take turns. Empty where
    /// [`stop`](Questioner::stop) says why.
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
    /// O(m^2) time for m cells, mostly much less, and O(m r) for each question.
    pub fn propose(&self, how_many: usize) -> Vec<Question> {
        let mut left = self.options.budget.saturating_sub(self.spent);
        let mut used = vec![false; self.cells.len()];
        let mut out = Vec::new();
        let open = self.open_joins();
        for &(bound, t) in &open {
            if out.len() == how_many || left == 0 || bound < self.options.price {
                break;
            }
            if let Some(question) = self.question(t, &open, left, &mut used)
                && question.gain >= self.options.price
            {
                left -= question.objects.len() - 1;
                out.push(question);
            }
        }
        out.sort_by(|a, b| b.gain.total_cmp(&a.gain).then(a.objects.cmp(&b.objects)));
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

    /// The question about a join, of objects of cells that are not `used` yet.
    fn question(
        &self,
        t: usize,
        open: &[(f64, usize)],
        left: usize,
        used: &mut [bool],
    ) -> Option<Question> {
        let merge = &self.joins.all[t];
        let (a, b) = self.standing(merge.nodes[0], merge.nodes[1]);
        if used[a] || used[b] {
            return None;
        }
        let (i, j) = self.least_asked(a, b);
        let fresh = self.evidence.fresh(self.evidence.times((i.min(j), i.max(j))));
        let together = sigmoid(merge.odds);
        let mut objects = vec![i, j];
        let mut information = fresh * self.information(together);
        let mut worth = information * self.moved(t);
        used[a] = true;
        used[b] = true;
        // Larger questions take in what the first two may also belong with.
        let most = self.options.group_size.min(left + 1);
        let more = if most > 2 { open } else { &[] };
        let mut nodes = merge.nodes.to_vec();
        for &(_, other) in more {
            if objects.len() >= most {
                break;
            }
            let [c, d] = self.joins.all[other].nodes;
            let new = match (merge.nodes.contains(&c), merge.nodes.contains(&d)) {
                (true, false) => d,
                (false, true) => c,
                _ => continue,
            };
            let free = self.central(new).into_iter().find(|&cell| !used[cell]);
            let Some(cell) = free.filter(|_| !nodes.contains(&new)) else { continue };
            used[cell] = true;
            nodes.push(new);
            objects.push(self.cells.members[cell][0]);
            let bits = self.information(sigmoid(self.joins.all[other].odds));
            information += bits;
            worth += bits * self.moved(other);
        }
        let size = objects.len() as f64;
        // Pairs of s objects weigh 2 / s each, and s - 1 answers are paid for.
        let gain = 0.5 * worth * 2.0 / size / (size - 1.0);
        Some(Question { objects, together, information: information * 2.0 / size, gain })
    }

    /// A central cell of each of two nodes; rather two that were not asked about yet.
    fn standing(&self, a: usize, b: usize) -> (usize, usize) {
        let (a, b) = (self.central(a), self.central(b));
        let mut best = (f64::INFINITY, a[0], b[0]);
        for (ra, &ca) in a.iter().enumerate() {
            for (rb, &cb) in b.iter().enumerate() {
                let known = self.between.get(&(ca.min(cb), ca.max(cb))).map_or(0.0, |e| e.abs());
                let cost = (ra + rb) as f64 + known;
                if cost < best.0 {
                    best = (cost, ca, cb);
                }
            }
        }
        (best.1, best.2)
    }

    /// Some cells of a node, those nearest to its mean first.
    fn central(&self, node: usize) -> Vec<usize> {
        let cells = &self.tree.cells[node];
        let mean = Array1::from(mean(&self.tree, &self.cells, node));
        let far = |c: usize| {
            let difference = &self.cells.centres.row(c) - &mean;
            difference.dot(&difference)
        };
        let mut near: Vec<(f64, usize)> = cells.iter().map(|&c| (far(c), c)).collect();
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
