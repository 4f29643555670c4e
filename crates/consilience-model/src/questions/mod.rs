//! A budgeted loop for costly answerers: what to ask, what follows from the answers, when to stop.

mod cells;
mod evidence;
mod gaussians;
mod joins;
mod moves;
mod options;
mod propose;
mod question;
mod revision;
mod space;
#[cfg(test)]
mod tests;
mod tree;

use std::collections::BTreeMap;

use consilience_core::{Observer, Partition, Result, ensure};
use ndarray::{Array1, Array2};

use cells::Cells;
use evidence::{Evidence, Vote};
use joins::Joins;
use moves::Moves;
use space::Space;
use tree::{Odds, Places, Tree};

pub use options::QuestionerOptions;
pub use question::{Answer, Question, StopReason, WorkerAccuracy};

/// Log-odds from which on something is decided: 99 of 100.
const CERTAIN: f64 = 4.6;
/// Objects of a cell of several are taken to be like the cell so often.
const PURITY: f64 = 0.95;
/// Log-odds below which two objects of one cell divide it.
const DIVIDED: f64 = -1.5;
/// Answers before the metric is learned again; then as often as they double.
const FIRST_METRIC: usize = 100;
/// What answers are weighed by where the tree only tells clusters to start from: distances, or
/// answers, may have joined too early what the others would put right.
const WEIGHTS: [f64; 2] = [0.5, 3.0];
/// Bytes that an answer about a pair of objects takes at most.
const PAIR_BYTES: usize = 256;
/// How sharply objects between cells go to the nearest: 1 as in a Gaussian mixture.
const SHARPNESS: f64 = 0.6;

/// Features and costly answers: proposes questions, takes what people or language models say of
/// them, and keeps the clustering.
///
/// For objects whose features tell much but not all, and answerers who know the rest, err, and are
/// paid by the answer. Where labels or pairs are there already, [`LinkedClustering`] or
/// [`constrained`](consilience_constrained) take them; where objects have no features,
/// [`crowd`](https://docs.rs/consilience-crowd) does.
///
/// [`LinkedClustering`]: crate::LinkedClustering
///
/// ```
/// use consilience::model::{Answer, QuestionerOptions};
/// use consilience::ndarray::Array2;
///
/// // Four groups of features, but the first and the last are one topic, say three workers.
/// let x = Array2::from_shape_fn((120, 2), |(i, j)| {
///     let group = i / 30;
///     (if j == 0 { group % 2 } else { group / 2 }) as f64 * 9.0 + (i * (j + 3) % 7) as f64 * 0.1
/// });
/// let topic = |i: usize| if i / 30 == 3 { 0 } else { i / 30 };
/// let mut questioner = QuestionerOptions::new(3).budget(60).start(&x)?;
/// while !questioner.is_done() {
///     let mut answers = Vec::new();
///     for question in questioner.propose(3) {
///         let (i, j) = (question.objects[0], question.objects[1]);
///         // The three take turns.
///         let worker = (questioner.spent() + answers.len()) % 3;
///         answers.push(Answer::pair(worker, i, j, topic(i) == topic(j)));
///     }
///     questioner.answer(&answers)?;
/// }
/// assert_eq!(questioner.partition()?.sizes(), [60, 30, 30]);
/// assert!(questioner.spent() <= 60);
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # How it works
/// 1. **Metric.** A Gaussian mixture with one common scatter on the leading 64 components finds the
///    directions in which groups differ, 50 of them at least. With 50 clusters or more it is
///    learned again from these after 100, 200, 400, ... answers: what workers join widens the
///    scatter within.
/// 2. **Cells.** k-means divides the objects, under that metric, into some hundred cells.
/// 3. **Tree.** Cells are joined two by two, those of highest log-odds first, and where these are
///    negative, those of least log-odds times objects of the smaller side:
///
/// ```text
/// odds(A, B) = logit( lapse + (.9999 - lapse) logistic( offset + slope likeness(A, B) ) )
///            + sum over answers between A and B of  l_w(answer)
/// likeness   = -ln( |mean_A - mean_B|^2 (2 |A| |B| / (|A| + |B|) / mean size)^0.6 )
/// l_w(same)  = ln p_w / r_w,   l_w(different) = ln (1 - p_w) / (1 - r_w)
/// ```
///
/// p and r being how often worker w says "same" of objects that belong together, and of others; the
/// lapse, 1 / (4 k) and at most .05, is what distance can never exclude. Nearness counts up to odds
/// of 9,999 to 1, so that a few wrong answers do not cut a dense group.
/// Where that leaves k clusters, the tree is cut. What follows from several answers by way of
/// others counts, and so do contradictions: they are evidence on either side.
///
/// 4. **Moves.** A cut divides a dense group as soon as a few answers allow it, because each join
///    counts once. So the labels of the cells are weighed by another sum, the log-odds by distance
///    of all joins of a tree by distance alone whose two sides have one label, and those by answers
///    of all pairs of one label: to cut a group across costs as many joins as it cuts. From the
///    cuts of both trees, of two trees in which answers weigh half and three times as much, and
///    from the clusters before, nodes of the tree by distance take another label while that sum
///    grows; then, from the largest, single cells that answers contradict. Where anything has moved
///    the tree is made again with these clusters.
/// 5. **Estimates.** Offset and slope, by a logistic regression on the pairs asked about, and each
///    worker's rates are estimated by turns after every batch. A worker's repeated answers to one
///    question are correlated, which is estimated too: n of them count as `n / (1 + (n - 1) rho)`.
///    An error may keep itself alive by that, so each time that answers are a quarter more they are
///    understood from other starts too: workers taken to answer as expected, distances alone
///    saying who errs, and with fewer than 50 clusters a metric from the pairs that answers put
///    together, all features being wrong ones perhaps. What is clearly more probable is kept.
/// 6. **Round clusters.** Where the features look like as many Gaussians of one scatter as there
///    are clusters, and not like more by the Bayesian information criterion, a Gaussian mixture
///    says what belongs to which: by features and answers, those of two objects in the mean field
///    of each other, from k-means' clusters or the tree's. A tree cuts such clouds where chance
///    left a gap. Where answers are clearly more probable under the tree's clusters, these stay.
/// 7. **Questions.** [`propose`](Questioner::propose) asks about the joins of the tree that rather
///    belong together, and about all pairs of the nodes that these leave: where an answer has most
///    information for most objects, and each of these once in a round.
///
/// # References
/// Ours; docs/questions.md has figures and their protocol. Rates of workers: A. Dawid, A. Skene,
/// "Maximum likelihood estimation of observer error-rates using the EM algorithm", 1979. Effective
/// number of correlated answers: L. Kish, "Survey sampling", 1965.
#[doc(alias = "active learning")]
#[doc(alias = "active clustering")]
#[doc(alias = "human in the loop")]
#[doc(alias = "large language model")]
#[derive(Clone, Debug)]
pub struct Questioner {
    options: QuestionerOptions,
    clusters: usize,
    /// Groups that the metric is learned from.
    groups: usize,
    space: Space,
    cells: Cells,
    /// Whether the objects look like as many Gaussians as there are clusters.
    round: bool,
    tree: Tree,
    /// The cluster of each object's cell in it.
    before: Vec<u32>,
    joins: Joins,
    /// Log-odds by answers between cells, the lower number first.
    between: BTreeMap<(usize, usize), f64>,
    evidence: Evidence,
    spent: usize,
    /// Answers at which the metric was learned last.
    learned_at: usize,
    /// Answers at which they were understood anew last.
    revised_at: usize,
}

impl Questioner {
    /// Takes answers, to questions proposed or others, and updates estimates and clustering.
    ///
    /// Workers may differ, contradict each other and themselves, and answer again. Answers beyond
    /// the budget count too.
    ///
    /// ```
    /// use consilience::model::{Answer, QuestionerOptions};
    /// use consilience::ndarray::array;
    ///
    /// let x = array![[0.0], [0.1], [5.0], [5.1], [9.0]];
    /// let mut questioner = QuestionerOptions::new(2).start(&x)?;
    /// // One says so twice, another the opposite: the first is believed, a little.
    /// let said = [true, true, false].map(|same| Answer::pair(usize::from(same), 2, 4, same));
    /// questioner.answer(&said)?;
    /// assert_eq!(questioner.partition()?.to_signed(), [0, 0, 1, 1, 1]);
    /// // Nothing is taken of a batch with an object that does not exist.
    /// assert!(questioner.answer(&[said[0].clone(), Answer::pair(0, 2, 77, true)]).is_err());
    /// assert_eq!(questioner.spent(), 3);
    /// # Ok::<(), consilience::Error>(())
    /// ```
    ///
    /// # Complexity
    /// O(m^2) time for m cells and O(a log a) for a answers so far. Where these are a quarter more
    /// than when they were understood anew last, some fifteen times as much, and O(n m r), if there
    /// is room for two; where the metric is learned again, after 100, 200, 400, ... answers,
    /// O(n (p r + m r)). What is known of answers and cells stands twice in memory then.
    ///
    /// # Errors
    /// An object that does not exist, the same object twice, fewer than two objects, not one group
    /// for each, [`ErrorKind::TooLarge`](consilience_core::ErrorKind::TooLarge) where the pairs of
    /// all answers, s (s - 1) / 2 of s objects, exceed the
    /// [memory budget](QuestionerOptions::memory_budget): nothing is taken then.
    pub fn answer(&mut self, answers: &[Answer]) -> Result<()> {
        self.answer_observed(answers, &())
    }

    /// As [`answer`](Questioner::answer); the observer may cancel while the metric is learned
    /// again. One who cancels later leaves out the start by answers alone, and no answer.
    ///
    /// # Errors
    /// As [`answer`](Questioner::answer), and where the observer cancels: nothing is taken then.
    pub fn answer_observed(&mut self, answers: &[Answer], observer: &dyn Observer) -> Result<()> {
        let pairs = answers.iter().fold(self.evidence.votes, |pairs, answer| {
            let size = answer.objects.len();
            pairs.saturating_add(size.saturating_mul(size.saturating_sub(1)) / 2)
        });
        self.options.memory.check_table("answers about pairs", pairs, 1, PAIR_BYTES)?;
        for (at, answer) in answers.iter().enumerate() {
            self.check(at, answer)?;
        }
        if answers.is_empty() {
            return Ok(());
        }
        // Groups finer than the clusters do not show what workers join.
        let coarse = self.groups == self.clusters;
        let spent = self.spent + answers.iter().map(Answer::price).sum::<usize>();
        // There are two meanwhile where the metric is learned again, and where answers are
        // understood anew, which can be done without.
        let twice = pairs.saturating_mul(2);
        let learns = coarse && spent >= FIRST_METRIC.max(2 * self.learned_at);
        if learns {
            self.options.memory.check_table("answers about pairs", twice, 1, PAIR_BYTES)?;
        }
        let revises = self.revises(spent) && self.options.memory.allows_table(twice, 1, PAIR_BYTES);
        if learns {
            // Learning may be cancelled: this one is as before then.
            let mut next = self.clone();
            next.learned_at = spent;
            answers.iter().for_each(|answer| next.take(answer));
            next.join();
            next.learn(observer)?;
            *self = next;
        } else {
            answers.iter().for_each(|answer| self.take(answer));
        }
        self.evidence.estimate();
        self.join();
        if revises {
            self.revise(observer);
        }
        Ok(())
    }

    fn check(&self, at: usize, answer: &Answer) -> Result<()> {
        let Answer { objects, groups, .. } = answer;
        let n = self.n_objects();
        ensure!(objects.len() >= 2, invalid("answer {at} is about fewer than 2 objects"));
        ensure!(
            objects.len() == groups.len(),
            shape("answer {at} has {} groups for {} objects", groups.len(), objects.len())
        );
        for (place, &i) in objects.iter().enumerate() {
            ensure!(i < n, out_of_range("answer {at} is about object {i}; there are {n}"));
            let twice = objects[..place].contains(&i);
            ensure!(!twice, invalid("answer {at} is about object {i} twice"));
        }
        Ok(())
    }

    fn take(&mut self, answer: &Answer) {
        let Answer { worker, objects, groups } = answer;
        let weight = self.weight(objects.len());
        for (u, &i) in objects.iter().enumerate() {
            for (v, &j) in objects.iter().enumerate().skip(u + 1) {
                let vote = Vote { worker: *worker, same: groups[u] == groups[v], weight };
                let likeness = self.likeness(i, j);
                self.evidence.add((i.min(j), i.max(j)), vote, likeness);
            }
        }
        self.spent += answer.price();
    }

    /// What each pair of an answer about so many objects counts: pairs of one answer follow from
    /// each other. The entropy of a grouping of s objects of k equal clusters is this share of that
    /// of its pairs, within .04: exactly 2 / s for two clusters, and nearly 1 for many.
    fn weight(&self, objects: usize) -> f64 {
        let others = 2.0 * (self.clusters.max(2) - 1) as f64;
        others / (objects as f64 + others - 2.0)
    }

    /// How alike the nodes are that bring two objects together.
    fn likeness(&self, i: usize, j: usize) -> Option<f64> {
        let (a, b) = (self.cells.of[i] as usize, self.cells.of[j] as usize);
        if a == b {
            return None;
        }
        Some(self.joins.of(&self.tree, a, b).0)
    }

    /// The metric from the groups of the tree, and the cells under it.
    fn learn(&mut self, observer: &dyn Observer) -> Result<()> {
        let cell = self.tree.labels(self.tree.made_for(self.groups));
        let groups = cell.iter().max().map_or(1, |&most| most as usize + 1);
        let labels: Vec<u32> = self.cells.of.iter().map(|&c| cell[c as usize]).collect();
        observer.check()?;
        self.space.learn(&labels, groups);
        observer.check()?;
        if self.cells.len() < self.n_objects() {
            let (z, seed) = (self.space.z.view(), self.options.seed);
            self.cells = self.cells.again(z, self.clusters, seed, observer)?;
        } else {
            self.cells.move_to(self.space.z.view());
        }
        self.join();
        Ok(())
    }

    /// The odds by distance, and the likeness of all pairs asked about, as a tree of the cells has
    /// them that knows no answer.
    fn begin(&mut self) {
        let mut asked = std::mem::take(&mut self.evidence.asked);
        self.evidence.begin_with(Odds::LEVEL);
        self.join();
        self.evidence.begin_with(Odds::first(self.odds_at_cut(), self.clusters));
        self.join();
        for (&(i, j), asked) in &mut asked {
            (asked.likeness, asked.elsewhere) = (self.likeness(i, j), 0.0);
        }
        self.evidence.asked = asked;
    }

    /// The tree of the cells, by all answers.
    fn join(&mut self) {
        let divide: Vec<(usize, usize)> = self
            .evidence
            .asked
            .iter()
            .filter(|(pair, asked)| {
                self.cells.of[pair.0] == self.cells.of[pair.1]
                    && self.evidence.of(asked, 1.0) < DIVIDED
            })
            .map(|(&pair, _)| pair)
            .collect();
        for (i, j) in divide {
            if self.cells.of[i] == self.cells.of[j] {
                self.cells.divide(self.space.z.view(), i, j);
            }
        }
        let mut between = BTreeMap::new();
        for (&(i, j), asked) in &self.evidence.asked {
            if let Some((cells, purity)) = self.cells_of(i, j) {
                *between.entry(cells).or_insert(0.0) += self.evidence.of(asked, purity);
            }
        }
        self.tree = self.tree_of(&self.cell_sizes(), &between);
        self.joins = Joins::new(&self.tree, &self.cells, &between, self.evidence.odds);
        self.between = between;
        let label = self.tree.labels(self.tree.made_for(self.clusters));
        self.before = self.cells.of.iter().map(|&c| label[c as usize]).collect();
        let elsewhere: Vec<f64> = self
            .evidence
            .asked
            .iter()
            .map(|(&(i, j), asked)| match self.cells_of(i, j) {
                Some(((a, b), purity)) => {
                    self.joins.of(&self.tree, a, b).1 - self.evidence.of(asked, purity)
                }
                None => 0.0,
            })
            .collect();
        for (asked, elsewhere) in self.evidence.asked.values_mut().zip(elsewhere) {
            asked.elsewhere = elsewhere;
        }
    }

    fn cell_sizes(&self) -> Vec<f64> {
        (0..self.cells.len()).map(|c| self.cells.size(c)).collect()
    }

    /// The greedy tree, or where parts of it go over to other clusters, one that has these.
    fn tree_of(&self, sizes: &[f64], between: &BTreeMap<(usize, usize), f64>) -> Tree {
        let odds = self.evidence.odds;
        let places = Places::new(&self.cells.centres, sizes, odds);
        let tree = Tree::new(&places, between);
        if between.is_empty() {
            return tree;
        }
        let near = Tree::new(&places, &BTreeMap::new());
        let made = tree.made_for(self.clusters);
        let first = tree.labels(made);
        let moves = Moves { near: &near, between, odds };
        let mut starts = vec![first.clone(), near.labels(made)];
        for weight in WEIGHTS {
            let between = between.iter().map(|(&cells, odds)| (cells, weight * odds)).collect();
            starts.push(Tree::new(&places, &between).labels(made));
        }
        starts.extend(self.labels_before(tree.n_cells() - made));
        let found = starts.into_iter().map(|start| moves.parts(start));
        // The first of equals.
        let best = found.reduce(|best, next| if next.0 > best.0 { next } else { best });
        let Some((_, best)) = best else { return tree };
        let labels = moves.cells(&self.cells, best);
        if labels == first {
            return tree;
        }
        Tree::within(&places, between, &labels)
    }

    /// The clusters of the last tree, for the cells that there are now: one of each cell's objects
    /// stands for it. `None` before there is one, and where no cell is left of a cluster.
    fn labels_before(&self, clusters: usize) -> Option<Vec<u32>> {
        let of = |members: &Vec<usize>| self.before.get(members[0]).copied();
        let labels: Vec<u32> = self.cells.members.iter().map(of).collect::<Option<_>>()?;
        let labels = moves::numbered(labels);
        (labels.iter().max().map_or(0, |&most| most as usize + 1) == clusters).then_some(labels)
    }

    /// The cells of two objects, the lower number first, and how probably both are like their
    /// cells; `None` for one cell.
    fn cells_of(&self, i: usize, j: usize) -> Option<((usize, usize), f64)> {
        let (a, b) = (self.cells.of[i] as usize, self.cells.of[j] as usize);
        let purity = |c: usize| if self.cells.members[c].len() == 1 { 1.0 } else { PURITY };
        (a != b).then(|| ((a.min(b), a.max(b)), purity(a) * purity(b)))
    }

    /// Log-odds half-way between the last join that is made and the first that is not.
    fn odds_at_cut(&self) -> f64 {
        let made = self.tree.made_for(self.clusters);
        let of = |t: Option<usize>| t.and_then(|t| self.tree.merges.get(t)).map(|m| m.odds);
        match (of(made.checked_sub(1)), of(Some(made))) {
            (Some(a), Some(b)) => 0.5 * (a + b),
            (Some(a), None) | (None, Some(a)) => a,
            (None, None) => 0.0,
        }
    }

    /// For every object how far it belongs to each cell, n x m.
    fn cell_memberships(&self) -> Array2<f64> {
        if self.cells.len() == self.n_objects() {
            return space::one_hot(&self.cells.of, self.cells.len());
        }
        let n = self.n_objects() as f64;
        let shares: Array1<f64> = (0..self.cells.len()).map(|c| self.cells.size(c) / n).collect();
        let (z, centres) = (self.space.z.view(), self.cells.centres.view());
        let mut q = space::memberships(z, centres, shares.view(), SHARPNESS);
        // Who was asked about is where the answers say. Where cells lie in one place, distances say
        // nothing of which of them an object is in.
        let asked = self.evidence.asked.keys().flat_map(|&(i, j)| [i, j]);
        let in_one_place = self.cells.in_one_place();
        let unknown = (0..self.n_objects()).filter(|&o| in_one_place[self.cells.of[o] as usize]);
        for o in asked.chain(unknown) {
            q.row_mut(o).fill(0.0);
            q[[o, self.cells.of[o] as usize]] = 1.0;
        }
        q
    }

    /// For every object how far it belongs to each cluster of the tree, n x k.
    fn by_tree(&self) -> Array2<f64> {
        let label = self.tree.labels(self.tree.made_for(self.clusters));
        let clusters = label.iter().max().map_or(1, |&most| most as usize + 1);
        self.cell_memberships().dot(&space::one_hot(&label, clusters))
    }

    /// The most probable cluster of each object, and, where these are Gaussians, how probable it
    /// is.
    fn placed(&self) -> (Vec<u32>, Option<Vec<f64>>) {
        let tree = gaussians::best(&self.by_tree());
        let round = if self.round { self.by_gaussians(&tree) } else { None };
        let Some(q) = round else { return (tree, None) };
        let labels = gaussians::best(&q);
        let sure = labels.iter().enumerate().map(|(i, &c)| q[[i, c as usize]]).collect();
        (labels, Some(sure))
    }

    /// The clusters by all answers so far, as many as asked for.
    ///
    /// # Complexity
    /// O(n m r) time and O(n m) memory for m cells; where clusters are Gaussians, also O(n k d)
    /// for each of at most 400 iterations.
    ///
    /// # Errors
    /// None but those of a clustering that cannot exist.
    pub fn partition(&self) -> Result<Partition> {
        Partition::from_labels(&self.placed().0)
    }

    /// For each object the probability that it sits right: that it belongs with the larger part of
    /// its cluster.
    ///
    /// The product of two: how surely the object belongs to the cells of its cluster, and for each
    /// of these how probable the joins are by which it came to the larger part. The second is
    /// calibrated by the answers; before any it is a guess.
    ///
    /// ```
    /// use consilience::model::{Answer, QuestionerOptions};
    /// use consilience::ndarray::array;
    ///
    /// let x = array![[0.0], [0.1], [5.0], [5.1], [9.0]];
    /// let mut questioner = QuestionerOptions::new(2).start(&x)?;
    /// let before = questioner.confidence();
    /// let said: Vec<Answer> = (0..4).map(|w| Answer::pair(w, 2, 4, true)).collect();
    /// questioner.answer(&said)?;
    /// assert!(questioner.confidence()[4] > before[4]);
    /// # Ok::<(), consilience::Error>(())
    /// ```
    ///
    /// # Complexity
    /// As [`partition`](Questioner::partition).
    pub fn confidence(&self) -> Vec<f64> {
        let (labels, sure) = self.placed();
        if let Some(sure) = sure {
            return sure;
        }
        let made = self.tree.made_for(self.clusters);
        let label = self.tree.labels(made);
        let sure = self.tree.belonging(made);
        let clusters = label.iter().max().map_or(1, |&most| most as usize + 1);
        let mut weighed = space::one_hot(&label, clusters);
        for (mut row, sure) in weighed.rows_mut().into_iter().zip(sure) {
            row *= sure;
        }
        let right = self.cell_memberships().dot(&weighed);
        labels.iter().enumerate().map(|(i, &c)| right[[i, c as usize]].clamp(0.0, 1.0)).collect()
    }

    /// How each worker answers, by ascending number.
    pub fn workers(&self) -> Vec<WorkerAccuracy> {
        self.evidence.table()
    }

    /// Answers taken so far; one about s objects counts as s - 1.
    pub fn spent(&self) -> usize {
        self.spent
    }

    /// The number of objects.
    pub fn n_objects(&self) -> usize {
        self.cells.of.len()
    }
}
