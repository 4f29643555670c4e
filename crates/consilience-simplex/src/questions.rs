use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

use consilience_core::ties::EQUAL;
use consilience_core::{Link, Result, Seed};
use consilience_num::reduce::map_together;

use crate::rules::PairLoss;
use crate::rules::block::{Labels, Rows};
use crate::weight_updater::WeightUpdater;

/// Objects that questions are sought among.
const OBJECTS: usize = 2048;
/// Pairs of them that are tried.
const PAIRS: usize = 4096;
/// Pairs that one task tries.
const TOGETHER: usize = 64;

/// A pair of objects to ask about.
///
/// Part of [`Questions`], from [`WeightUpdater::next_questions`].
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct PairQuestion {
    /// The first object.
    pub i: usize,
    /// The second object, larger than the first.
    pub j: usize,
    /// `F_i.F_j`, how probable it is by now that they belong together.
    pub together: f64,
    /// How far the answer would move the weights: the expected length of its gradient within the
    /// simplex.
    pub movement: f64,
}

/// An object whose label is uncertain.
///
/// Part of [`Questions`], from [`WeightUpdater::next_questions`].
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct UncertainObject {
    /// The object.
    pub object: usize,
    /// Its largest membership less its second largest: 0 is undecided, 1 certain.
    pub margin: f64,
}

/// What to ask next; see [`WeightUpdater::next_questions`].
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Questions {
    /// Pairs, the most instructive first.
    pub pairs: Vec<PairQuestion>,
    /// Objects, the least certain first.
    pub objects: Vec<UncertainObject>,
}

impl WeightUpdater {
    /// The pairs whose answer would move the weights most, and the objects of least certain label;
    /// at most `count` of each.
    ///
    /// Let p be the probability that the pair belongs together, and g the gradient of its loss by
    /// the weights, less its mean (so that the weights still sum to 1). The value of a pair is
    ///
    /// ```text
    /// p |g_must| + (1 - p) |g_cannot|.
    /// ```
    ///
    /// Pairs whose answer follows from the constraints are left out, and so are objects that no
    /// member with weight labels. No object occurs twice as long as there are others. Of pairs that
    /// move the weights alike, as all do where members are equal, those go first whose two cells
    /// have the fewest links and questions between them, then the fewest on each of them, a cell
    /// being the objects that have equal labels in every member; then those of objects without a
    /// link, of the largest cells, and of the lowest numbers. Pairs within a cell whose answer
    /// would not move the weights are last.
    ///
    /// Pairs are sought among 2,048 random objects and 4,096 pairs of them, half of whose first
    /// objects are uncertain ones; all objects and pairs where there are no more.
    ///
    /// ```
    /// use consilience::{Ensemble, Seed};
    /// use consilience::simplex::WeightUpdater;
    /// use consilience::ndarray::array;
    ///
    /// // Both members agree on the first two objects: asking about them would teach nothing.
    /// let ensemble = Ensemble::from_array(array![[0, 0], [0, 0], [1, 0], [1, 1]].view())?;
    /// let questions = WeightUpdater::new(ensemble, 2)?.next_questions(1, Seed(0))?;
    /// assert_eq!(questions.objects[0].object, 2);
    /// assert_eq!((questions.pairs[0].i, questions.pairs[0].j), (0, 2));
    /// # Ok::<(), consilience::Error>(())
    /// ```
    ///
    /// # Errors
    /// None but those of a clustering that cannot exist.
    ///
    /// # Complexity
    /// O(m + r) for each object and pair tried, and O(m) for each link; nothing in n. Putting the
    /// pairs in order takes O(p log p) for p of at most 4,096 that are tried and, where most move
    /// the weights alike, as much again for each of the `count` questions.
    #[doc(alias = "active learning")]
    pub fn next_questions(&self, count: usize, seed: Seed) -> Result<Questions> {
        let mut candidates = Vec::new();
        for (object, margin) in self.margins(&self.drawn(seed)) {
            if let Some(margin) = margin {
                candidates.push(UncertainObject { object, margin });
            }
        }
        candidates.sort_by(|a, b| a.margin.total_cmp(&b.margin).then(a.object.cmp(&b.object)));
        let pairs = self.pairs_among(&candidates, seed);
        let objects: Vec<u32> = candidates.iter().map(|c| c.object as u32).collect();
        let labels = Labels::of(&self.ensemble, &self.alignment, &objects);
        let rows = Rows::of(&labels, 0..objects.len(), self.n_clusters(), &self.weights);
        let loss = self.rule.loss();
        let questions = map_together(pairs.len(), TOGETHER, |at| {
            let (a, b) = pairs[at];
            let (i, j) = (candidates[a].object, candidates[b].object);
            let (a, b) = if i < j { (a, b) } else { (b, a) };
            let (together, movement) = movement(&rows, a, b, loss);
            PairQuestion { i: i.min(j), j: i.max(j), together, movement }
        });
        let known = self.known_of(&candidates);
        candidates.truncate(count);
        Ok(Questions { pairs: known.spread(&questions, count), objects: candidates })
    }

    /// The cells of the candidates, and what links say of them.
    fn known_of(&self, candidates: &[UncertainObject]) -> Known {
        let mut numbers = BTreeMap::new();
        let mut known = Known::default();
        let cell = |known: &mut Known, numbers: &mut BTreeMap<Vec<Option<usize>>, usize>, i| {
            *known.cells.entry(i).or_insert_with(|| {
                let labels = self.ensemble.members().iter().map(|member| member.label(i));
                let next = numbers.len();
                *numbers.entry(labels.collect()).or_insert(next)
            })
        };
        for candidate in candidates {
            let c = cell(&mut known, &mut numbers, candidate.object);
            *known.sizes.entry(c).or_default() += 1;
        }
        for pair in self.constraints.iter() {
            let cells = [pair.i, pair.j].map(|i| cell(&mut known, &mut numbers, i));
            known.count(cells);
            known.linked.extend([pair.i, pair.j]);
        }
        known
    }

    /// Objects to choose among, ascending.
    fn drawn(&self, seed: Seed) -> Vec<usize> {
        let n = self.ensemble.n_objects();
        if n <= OBJECTS {
            return (0..n).collect();
        }
        let mut stream = seed.derive("questions", 0).stream();
        let mut drawn: Vec<usize> = (0..OBJECTS).map(|_| stream.below(n)).collect();
        drawn.sort_unstable();
        drawn.dedup();
        drawn
    }

    /// The margin of each object, `None` without evidence.
    fn margins<'a>(
        &self,
        objects: &'a [usize],
    ) -> impl Iterator<Item = (usize, Option<f64>)> + use<'a> {
        let r = self.n_clusters();
        let votes = self.votes_of(objects);
        let margin =
            move |row: &[u32]| {
                let (best, second) = row.iter().fold((0, 0), |(best, second), &v| {
                    if v > best { (v, best) } else { (best, second.max(v)) }
                });
                let sum: u64 = row.iter().map(|&v| u64::from(v)).sum();
                (sum > 0).then(|| f64::from(best - second) / sum as f64)
            };
        let margins: Vec<Option<f64>> = votes.chunks(r).map(margin).collect();
        objects.iter().copied().zip(margins)
    }

    /// Pairs to try, by their places among the candidates, whose answer is open.
    fn pairs_among(&self, candidates: &[UncertainObject], seed: Seed) -> Vec<(usize, usize)> {
        let c = candidates.len();
        let mut pairs: Vec<(usize, usize)> = if c * c.saturating_sub(1) / 2 <= PAIRS {
            (0..c).flat_map(|a| (a + 1..c).map(move |b| (a, b))).collect()
        } else {
            let mut stream = seed.derive("questions", 1).stream();
            let draw = |at: usize| {
                let a = stream.below(if at.is_multiple_of(2) { c / 8 } else { c });
                let b = stream.below(c);
                (a.min(b), a.max(b))
            };
            (0..PAIRS).map(draw).collect()
        };
        pairs.sort_unstable();
        pairs.dedup();
        let open = |&(a, b): &(usize, usize)| {
            a != b
                && self.constraints.relation(candidates[a].object, candidates[b].object).is_none()
        };
        pairs.retain(open);
        pairs
    }
}

/// The probability of being together, and the expected length of the gradient.
fn movement(rows: &Rows<'_>, a: usize, b: usize, loss: PairLoss) -> (f64, f64) {
    let (fa, fb) = (rows.prior_of(a), rows.prior_of(b));
    let together: f64 = fa.iter().zip(&fb).map(|(a, b)| a * b).sum();
    let length = |link: Link| {
        let (by_a, by_b) = loss.derivatives(link, &fa, &fb);
        let g = rows.gradient_of(a, &by_a).zip(rows.gradient_of(b, &by_b)).map(|(a, b)| a + b);
        let g: Vec<f64> = g.collect();
        let mean = g.iter().sum::<f64>() / g.len() as f64;
        let length = g.iter().map(|g| (g - mean) * (g - mean)).sum::<f64>().sqrt();
        // What rounding leaves of equal entries would be told, and decide what is asked.
        let scale = g.iter().fold(0.0, |most: f64, g| most.max(g.abs()));
        if length > EQUAL * scale { length } else { 0.0 }
    };
    (together, together * length(Link::Must) + (1.0 - together) * length(Link::Cannot))
}

/// What is known of cells, which hold the objects of equal labels.
#[derive(Default)]
struct Known {
    /// Of the candidates, and of the objects that have links.
    cells: BTreeMap<usize, usize>,
    /// Candidates in each cell.
    sizes: BTreeMap<usize, usize>,
    /// Links and questions between two cells, the lower one first, and on each cell.
    between: BTreeMap<[usize; 2], usize>,
    on: BTreeMap<usize, usize>,
    linked: BTreeSet<usize>,
}

impl Known {
    fn count(&mut self, cells: [usize; 2]) {
        *self.between.entry(ordered(cells)).or_default() += 1;
        cells.iter().for_each(|&c| *self.on.entry(c).or_default() += 1);
    }

    /// The best `count` pairs, objects that occurred before behind those that did not.
    fn spread(mut self, questions: &[PairQuestion], count: usize) -> Vec<PairQuestion> {
        let mut seen = BTreeSet::new();
        let first = |at: usize| (self.rank(&questions[at], &seen), Reverse(at));
        let mut heap: BinaryHeap<_> = (0..questions.len()).map(first).collect();
        let mut out = Vec::new();
        while out.len() < count
            && let Some((rank, Reverse(at))) = heap.pop()
        {
            let q = questions[at];
            let now = self.rank(&q, &seen);
            // Ranks fall by what was taken since: that pair goes back.
            if now != rank {
                heap.push((now, Reverse(at)));
                continue;
            }
            seen.extend([q.i, q.j]);
            self.count([q.i, q.j].map(|i| self.cells[&i]));
            out.push(q);
        }
        out
    }

    /// Where a pair comes; the largest first.
    fn rank(&self, q: &PairQuestion, seen: &BTreeSet<usize>) -> impl Ord + use<> {
        let objects = [q.i, q.j];
        let cells = ordered(objects.map(|i| self.cells[&i]));
        let idle = q.movement == 0.0 && cells[0] == cells[1];
        let repeated = objects.iter().any(|i| seen.contains(i));
        let on = |c: &usize| self.on.get(c).copied().unwrap_or(0);
        let asked = self.between.get(&cells).copied().unwrap_or(0);
        let touched: usize = cells.iter().map(on).sum();
        let linked = objects.iter().filter(|i| self.linked.contains(i)).count();
        let size: usize = cells.iter().map(|c| self.sizes.get(c).copied().unwrap_or(0)).sum();
        // Floats that are not negative are in the order of their bits: probabilities are sums over
        // shares of whole units, and no more than 1.
        let first = (Reverse(idle), Reverse(repeated), q.movement.to_bits());
        (first, Reverse((asked, touched, linked)), size, Reverse(objects))
    }
}

fn ordered([a, b]: [usize; 2]) -> [usize; 2] {
    [a.min(b), a.max(b)]
}
