//! Which answers would be most informative.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use consilience_core::{Memberships, MemoryBudget, Observer, Pace, Result, room};
use ndarray::ArrayView1;

use crate::answer_counts::{AnswerCounts, PairCount};
use crate::crowd_rates::CrowdRates;
use crate::misplaced::{self, Misplaced, repeated};

/// A pair to ask the crowd about next, from
/// [`CrowdResult::ask_pairs`](crate::CrowdResult::ask_pairs).
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Question {
    /// The object that is in doubt.
    pub i: usize,
    /// The object to compare it with.
    pub j: usize,
    /// Probability that the two belong together, by the memberships and by how far the answers on
    /// pairs contradict the clusters.
    pub together: f64,
    /// Information that one more answer of the crowd is expected to give about that, in bits: the
    /// less, the more answers there are on the pair. 0 where the crowd answers alike in both cases.
    pub information: f64,
}

/// Clusters that an object in doubt is compared with.
const RIVALS: usize = 3;
/// Objects of each that it may be compared with, and the share of the surest one's probability that
/// these have at least.
const PARTNERS: usize = 32;
const SURE: f64 = 0.95;
/// Objects in doubt that are looked at, however few questions are wanted.
const OBJECTS: usize = 64;
/// Bytes for a pair that is looked at: the question, twice while it is sorted, then its places
/// among those of its object and of two groups.
const LOOKED_AT: usize = 112;
/// What a question leaves of the others on its objects: 1 / (1 + VARIETY) of their information.
const VARIETY: f64 = 0.25;

/// Answered or not, the objects of most entropy first; ties to less evidence, then to the lower
/// number.
pub(crate) fn objects(memberships: &Memberships, count: usize) -> Vec<usize> {
    most_in_doubt(memberships, &memberships.entropy(), count)
}

fn most_in_doubt(memberships: &Memberships, doubt: &[f64], count: usize) -> Vec<usize> {
    let evidence = memberships.evidence();
    let mut order: Vec<usize> = (0..doubt.len()).collect();
    order.sort_by(|&a, &b| {
        doubt[b].total_cmp(&doubt[a]).then(evidence[a].total_cmp(&evidence[b])).then(a.cmp(&b))
    });
    order.truncate(count);
    order
}

/// Objects in doubt that are looked at for so many questions.
fn looked_at(count: usize) -> usize {
    count.saturating_mul(2).max(OBJECTS)
}

/// Whether the search for so many questions fits the budget beside the counts.
fn check_memory(
    memberships: &Memberships,
    counts: &AnswerCounts,
    count: usize,
    budget: MemoryBudget,
) -> Result<()> {
    let (n, k) = memberships.values().dim();
    let pairs = n.min(looked_at(count)).saturating_mul(k.min(RIVALS) * n.min(PARTNERS));
    let held = [(counts.bytes(), 1), (counts.n_pairs(), misplaced::PAIR), (n, 40)];
    budget.check_tables("questions", &[held[0], held[1], held[2], (pairs, LOOKED_AT)], 1)
}

/// The pairs of most expected information, each object in doubt with sure objects of its likeliest
/// clusters.
pub(crate) fn pairs(
    memberships: &Memberships,
    rates: CrowdRates,
    counts: &AnswerCounts,
    count: usize,
    budget: MemoryBudget,
    observer: &dyn Observer,
) -> Result<Vec<Question>> {
    check_memory(memberships, counts, count, budget)?;
    let (q, pace) = (memberships.values(), &mut Pace::new(observer));
    let misplaced = Misplaced::of(memberships, counts, rates, pace)?;
    let mut doubt = memberships.entropy();
    doubt.iter_mut().enumerate().for_each(|(i, x)| *x += misplaced.of_cluster(i));
    let candidates = candidates(memberships, &misplaced, &doubt, count, pace)?;
    let mut found = room::with_capacity(candidates.len())?;
    for (i, j) in candidates {
        pace.work(q.ncols())?;
        let said = counts.get(i, j);
        let placed = q.row(i).dot(&q.row(j)).clamp(0.0, 1.0);
        let together = misplaced.corrected(i, j, placed, said);
        let information = information(together, repeated(rates, said));
        found.push((Question { i, j, together, information }, said));
    }
    let mut questions = spread(found, memberships.evidence(), count, pace)?;
    questions.sort_by(|a, b| b.information.total_cmp(&a.information));
    Ok(questions)
}

/// Pairs to look at, ascending: the object in doubt, and the one to compare it with.
fn candidates(
    memberships: &Memberships,
    misplaced: &Misplaced,
    doubt: &[f64],
    count: usize,
    pace: &mut Pace<'_>,
) -> Result<Vec<(usize, usize)>> {
    let q = memberships.values();
    let partners = partners(memberships, pace)?;
    let mut pairs = Vec::new();
    for i in most_in_doubt(memberships, doubt, looked_at(count)) {
        pace.work(q.ncols())?;
        for c in rivals(i, q.row(i), misplaced) {
            for &j in partners[c].iter().filter(|&&j| j != i) {
                room::push(&mut pairs, (i, j))?;
            }
        }
    }
    // Of two that are in doubt the first one is compared with the other.
    let pair = |&(i, j): &(usize, usize)| (i.min(j), i.max(j));
    pairs.sort_by_key(pair);
    pairs.dedup_by_key(|at| pair(at));
    Ok(pairs)
}

/// The likeliest clusters of an object, of equals those first with which most of its cluster's
/// pairs are misplaced.
fn rivals(i: usize, row: ArrayView1<'_, f64>, misplaced: &Misplaced) -> Vec<usize> {
    let wrong = |c: usize| misplaced.between(misplaced.cluster(i), c);
    let order = |&a: &usize, &b: &usize| {
        let likelier = row[b].total_cmp(&row[a]);
        likelier.then_with(|| wrong(b).total_cmp(&wrong(a))).then(a.cmp(&b))
    };
    first((0..row.len()).collect(), RIVALS, order)
}

/// The first so many in an order.
fn first(
    mut values: Vec<usize>,
    count: usize,
    order: impl Fn(&usize, &usize) -> std::cmp::Ordering,
) -> Vec<usize> {
    if count < values.len() {
        values.select_nth_unstable_by(count, &order);
        values.truncate(count);
    }
    values.sort_by(order);
    values
}

/// The surest objects of each cluster.
fn partners(memberships: &Memberships, pace: &mut Pace<'_>) -> Result<Vec<Vec<usize>>> {
    let of_cluster = |column: ArrayView1<'_, f64>| -> Result<Vec<usize>> {
        pace.work(column.len())?;
        let least = SURE * column.fold(0.0, |most: f64, &x| most.max(x));
        let sure = (0..column.len()).filter(|&i| column[i] >= least).collect();
        Ok(first(sure, PARTNERS, |&a, &b| column[b].total_cmp(&column[a]).then(a.cmp(&b))))
    };
    memberships.values().columns().into_iter().map(of_cluster).collect()
}

/// The questions of most information, which counts by 1 / (1 + u / 4) where the two objects are in
/// u of the questions before. Of equals those with fewest answers on the pair go first, then on the
/// objects.
fn spread(
    mut found: Vec<(Question, PairCount)>,
    evidence: &[f64],
    count: usize,
    pace: &mut Pace<'_>,
) -> Result<Vec<Question>> {
    found.sort_unstable_by_key(|found| Reverse(value(found, evidence, 0)));
    let mut waiting = Waiting::of(&found, evidence)?;
    let mut questions = Vec::new();
    while questions.len() < count
        && let Some(question) = waiting.take_best()
    {
        room::push(&mut questions, question)?;
        pace.work(std::mem::take(&mut waiting.work))?;
    }
    Ok(questions)
}

/// What a question counts: its information, then by how little is known of the pair and of the
/// objects, then the first pair.
type Value = (u64, Reverse<usize>, Reverse<u64>, Reverse<(usize, usize)>);

/// Where the two objects are in so many questions before.
fn value((q, said): &(Question, PairCount), evidence: &[f64], uses: u32) -> Value {
    let value = q.information / (1.0 + VARIETY * f64::from(uses));
    // Floats that are not negative are in the order of their bits.
    let known = (evidence[q.i] + evidence[q.j]).to_bits();
    let pair = (q.i.min(q.j), q.i.max(q.j));
    (value.to_bits(), Reverse(said.answers), Reverse(known), Reverse(pair))
}

/// Questions that were not asked yet. Those that compare with the same object, and whose objects in
/// doubt were used equally often, stay in the same order whatever else is asked: each such group is
/// a heap, of which only the first one is among those of the others. In one heap of all, most would
/// move at every question where few objects are sure.
struct Waiting<'a> {
    /// In the order of their values where nothing was asked.
    found: &'a [(Question, PairCount)],
    evidence: &'a [f64],
    uses: Vec<u32>,
    asked: Vec<bool>,
    /// By the object in doubt.
    of_object: BTreeMap<usize, Vec<usize>>,
    groups: BTreeMap<Group, Heap>,
    /// The first of each group, its group and the how manieth of that it is: the last one counts.
    best: BinaryHeap<(Value, usize, Group, u32)>,
    /// Questions in the groups, those among them that went to another.
    held: usize,
    /// Work since it was last asked for.
    work: usize,
}

/// The object that is compared with, and how often those in doubt were used.
type Group = (usize, u32);

#[derive(Default)]
struct Heap {
    questions: BinaryHeap<Reverse<usize>>,
    promoted: u32,
}

impl<'a> Waiting<'a> {
    fn of(found: &'a [(Question, PairCount)], evidence: &'a [f64]) -> Result<Self> {
        let mut out = Waiting {
            found,
            evidence,
            uses: room::zeros(evidence.len())?,
            asked: room::filled(found.len(), false)?,
            of_object: BTreeMap::new(),
            groups: BTreeMap::new(),
            best: BinaryHeap::new(),
            held: found.len(),
            work: found.len(),
        };
        for (at, (q, _)) in found.iter().enumerate() {
            room::push(out.of_object.entry(q.i).or_default(), at)?;
            out.groups.entry((q.j, 0)).or_default().questions.push(Reverse(at));
        }
        let groups: Vec<Group> = out.groups.keys().copied().collect();
        groups.into_iter().for_each(|group| out.promote(group));
        Ok(out)
    }

    fn value(&self, at: usize) -> Value {
        let q = &self.found[at].0;
        value(&self.found[at], self.evidence, self.uses[q.i] + self.uses[q.j])
    }

    /// Puts the first of a group among those of the others.
    fn promote(&mut self, group: Group) {
        let Some(heap) = self.groups.get_mut(&group) else { return };
        heap.promoted += 1;
        while let Some(&Reverse(at)) = heap.questions.peek() {
            self.work += 1;
            if !self.asked[at] && self.uses[self.found[at].0.i] == group.1 {
                let promoted = heap.promoted;
                self.best.push((self.value(at), at, group, promoted));
                return;
            }
            heap.questions.pop();
        }
    }

    /// The one that counts most.
    fn take_best(&mut self) -> Option<Question> {
        while let Some((value, at, group, promoted)) = self.best.pop() {
            self.work += 1;
            if self.groups.get(&group).is_none_or(|heap| heap.promoted != promoted) {
                continue;
            }
            let q = self.found[at].0;
            let holds = self.uses[q.i] == group.1 && self.value(at) == value;
            if holds {
                self.asked[at] = true;
                [q.i, q.j].into_iter().for_each(|i| self.use_again(i));
            }
            self.promote(group);
            if holds {
                return Some(q);
            }
        }
        None
    }

    /// An object is in one more question: those of its own go to another group.
    fn use_again(&mut self, i: usize) {
        self.uses[i] += 1;
        let Some(mut own) = self.of_object.remove(&i) else { return };
        own.retain(|&at| !self.asked[at]);
        for &at in &own {
            self.work += 1;
            let group = (self.found[at].0.j, self.uses[i]);
            let heap = self.groups.entry(group).or_default();
            heap.questions.push(Reverse(at));
            if heap.questions.peek() == Some(&Reverse(at)) {
                self.promote(group);
            }
        }
        self.held += own.len();
        self.of_object.insert(i, own);
        if self.held > 2 * self.found.len() {
            self.leave_out();
        }
    }

    /// Leaves out what was asked or is in another group now: as many again had come.
    fn leave_out(&mut self) {
        let (found, asked, uses) = (self.found, &self.asked, &self.uses);
        self.groups.retain(|group, heap| {
            heap.questions.retain(|&Reverse(at)| !asked[at] && uses[found[at].0.i] == group.1);
            !heap.questions.is_empty()
        });
        let groups = &self.groups;
        self.best.retain(|(_, _, group, promoted)| {
            groups.get(group).is_some_and(|heap| heap.promoted == *promoted)
        });
        self.work += self.held;
        self.held = groups.values().map(|heap| heap.questions.len()).sum();
    }
}

/// Mutual information of an answer and of being together.
fn information(together: f64, rates: CrowdRates) -> f64 {
    let (p, r) = (rates.same_together, rates.same_apart);
    let h = |x: f64| {
        let part = |x: f64| if x > 0.0 { -x * x.log2() } else { 0.0 };
        part(x) + part(1.0 - x)
    };
    (h(together * p + (1.0 - together) * r) - together * h(p) - (1.0 - together) * h(r)).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Answers, CrowdClustering, GroupAnswer, PairAnswer};
    use consilience_core::scores::adjusted_rand;
    use consilience_core::{Clusters, ErrorKind, Partition, Seed};
    use ndarray::{Array2, array};

    const RATES: CrowdRates = CrowdRates { same_together: 0.9, same_apart: 0.1 };

    fn counts(n: usize, said: &[(usize, usize, bool)]) -> AnswerCounts {
        let row = |&(i, j, same)| PairAnswer { worker: 0, i, j, same };
        let rows: Vec<PairAnswer> = said.iter().map(row).collect();
        let nobody = [GroupAnswer { worker: 0, task: 0, item: 0, group: 0 }];
        let none = || Answers::from_groupings(n, &nobody);
        let answers = if said.is_empty() { none() } else { Answers::from_pairs(n, &rows) };
        let answers = answers.unwrap();
        AnswerCounts::of(&answers, MemoryBudget::default()).unwrap()
    }

    fn asked(q: &Memberships, counts: &AnswerCounts, count: usize) -> Vec<Question> {
        pairs(q, RATES, counts, count, MemoryBudget::default(), &()).unwrap()
    }

    /// By looking at all that were not asked yet before every question.
    fn naive(
        found: &[(Question, PairCount)],
        evidence: &[f64],
        count: usize,
    ) -> Vec<(usize, usize)> {
        let mut uses = vec![0u32; evidence.len()];
        let mut left: Vec<&(Question, PairCount)> = found.iter().collect();
        let mut asked = Vec::new();
        while asked.len() < count && !left.is_empty() {
            let now = |at: usize| {
                let (q, _) = left[at];
                value(left[at], evidence, uses[q.i] + uses[q.j])
            };
            let at = (0..left.len()).max_by_key(|&at| now(at)).unwrap();
            let (q, _) = left.remove(at);
            uses[q.i] += 1;
            uses[q.j] += 1;
            asked.push((q.i, q.j));
        }
        asked
    }

    /// Objects in doubt beside few that are sure, and some that are both.
    fn drawn(doubt: usize, sure: usize, seed: u64) -> (Vec<(Question, PairCount)>, Vec<f64>) {
        let mut stream = Seed(seed).stream();
        let n = doubt + sure;
        let evidence: Vec<f64> = (0..n).map(|_| stream.below(4) as f64).collect();
        let mut found = Vec::new();
        for i in 0..doubt {
            for j in (0..sure).map(|j| doubt + j).chain((0..i.min(2)).filter(|j| j % 2 == 0)) {
                let information = [0.5, 0.25, 0.125][stream.below(3)];
                let said = PairCount { same: 0, answers: stream.below(3) };
                found.push((Question { i, j, together: 0.5, information }, said));
            }
        }
        found.sort_by_key(|(q, _)| (q.i.min(q.j), q.i.max(q.j)));
        (found, evidence)
    }

    #[test]
    fn every_question_counts_most_of_those_that_are_left() {
        for seed in 0..30 {
            let (found, evidence) = drawn(3 + seed as usize, 1 + seed as usize % 5, seed);
            for count in [1, 7, 40, 1_000] {
                let pace = &mut Pace::new(&());
                let fast = spread(found.clone(), &evidence, count, pace).unwrap();
                let fast: Vec<(usize, usize)> = fast.iter().map(|q| (q.i, q.j)).collect();
                assert_eq!(fast, naive(&found, &evidence, count), "{seed} {count}");
            }
        }
    }

    /// Two objects to compare with, and equal information: every question changes what half of all
    /// others count.
    #[test]
    fn few_sure_objects_are_no_more_work_than_many() {
        let (mut found, evidence) = drawn(2_000, 2, 1);
        found.iter_mut().for_each(|(q, _)| q.information = 0.5);
        let mut waiting = Waiting::of(&found, &evidence).unwrap();
        let asked = std::iter::from_fn(|| waiting.take_best()).take(1_000).count();
        assert_eq!(asked, 1_000);
        assert!(waiting.work < 8 * found.len(), "{} of {}", waiting.work, found.len());
    }

    #[test]
    fn more_questions_than_fit_are_refused_and_a_search_can_be_stopped() {
        struct Stopped;
        impl Observer for Stopped {
            fn cancelled(&self) -> bool {
                true
            }
        }
        let q = Memberships::new(Array2::from_elem((500, 2), 0.5)).unwrap();
        let counts = counts(500, &[(0, 1, true)]);
        let kind = |count, bytes, observer: &dyn Observer| {
            let budget = MemoryBudget::bytes(bytes);
            pairs(&q, RATES, &counts, count, budget, observer).map_err(|e| e.kind())
        };
        assert_eq!(kind(3, 1 << 20, &()).unwrap().len(), 3);
        assert_eq!(kind(400, 1 << 20, &()).unwrap_err(), ErrorKind::TooLarge);
        assert_eq!(kind(3, 1 << 20, &Stopped).unwrap_err(), ErrorKind::Cancelled);
    }

    #[test]
    fn doubt_is_asked_about_first() {
        let rows = |(i, c): (usize, usize)| match i {
            10 => 0.5,
            11 => [0.9, 0.1][c],
            _ => f64::from(u8::from(i / 5 == c)),
        };
        let q = Memberships::new(Array2::from_shape_fn((12, 2), rows)).unwrap();
        assert_eq!(objects(&q, 2), vec![10, 11]);
        // All that is sure was compared.
        let said: Vec<_> =
            (0..10).flat_map(|j| (0..j).map(move |i| (i, j, i / 5 == j / 5))).collect();
        let asked = asked(&q, &counts(12, &said), 3);
        assert_eq!((asked[0].i, asked[0].j), (10, 0));
        assert!(asked.iter().all(|q| q.i == 10), "{asked:?}");
        // 1 - h(0.9), the capacity of such a worker at even odds.
        assert!((asked[0].information - 0.5310044).abs() < 1e-6);
        let blind = CrowdRates { same_together: 0.3, same_apart: 0.3 };
        assert_eq!(information(0.5, blind), 0.0);
    }

    #[test]
    fn what_is_sure_and_was_compared_has_little_to_tell() {
        let q = Memberships::new(array![[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]]).unwrap();
        let said = [(0, 1, false), (0, 2, true), (1, 2, false)];
        let told = |said: &[(usize, usize, bool)]| -> f64 {
            let asked = asked(&q, &counts(3, said), 3);
            assert_eq!(asked.len(), 3);
            asked.iter().map(|question| question.information).sum()
        };
        let never = told(&[]);
        let once = told(&said);
        let often = told(&said.repeat(5));
        assert!(once < 0.5 * never && often < 0.1 * once, "{never} {once} {often}");
    }

    /// Objects 0 to 3 in one cluster, 4 to 7 in another. Where answers within the first say
    /// "apart", its pairs that nobody compared come first; where answers between the two say
    /// "same", those between them.
    #[test]
    fn contradicted_clusters_are_asked_about_where_nobody_compared() {
        let q =
            Memberships::new(Array2::from_shape_fn(
                (8, 2),
                |(i, c)| {
                    if i / 4 == c { 0.999 } else { 0.001 }
                },
            ))
            .unwrap();
        let said = |wrong: [(usize, usize); 2]| -> Vec<(usize, usize, bool)> {
            let right = [(0, 1), (0, 4), (1, 5), (2, 6), (3, 7), (4, 5), (6, 7), (5, 6), (4, 7)];
            let right = right.into_iter().map(|(i, j)| (i, j, i / 4 == j / 4));
            right.chain(wrong.map(|(i, j)| (i, j, i / 4 != j / 4))).collect()
        };
        for (wrong, first) in [([(0, 2), (1, 3)], true), ([(0, 5), (2, 7)], false)] {
            let said = said(wrong);
            let asked = asked(&q, &counts(8, &said), 2);
            for q in &asked {
                let within = q.i < 4 && q.j < 4;
                let between = q.i / 4 != q.j / 4;
                assert!(if first { within } else { between }, "{asked:?}");
                let (i, j) = (q.i.min(q.j), q.i.max(q.j));
                assert!(!said.iter().any(|s| (s.0, s.1) == (i, j)), "{asked:?}");
            }
            let mut objects: Vec<usize> = asked.iter().flat_map(|q| [q.i, q.j]).collect();
            objects.sort_unstable();
            objects.dedup();
            assert_eq!(objects.len(), 4, "{asked:?}");
        }
    }

    /// Adjusted Rand index after 150 answers on 24 objects in three classes, all but the first ten
    /// on pairs that were asked for, five at a time.
    fn after_a_loop(wrong: f64, clusters: Clusters, seed: u64) -> f64 {
        let mut stream = Seed(seed).derive("answers", 0).stream();
        let mut answer = |i: usize, j: usize| {
            let right = stream.uniform() >= wrong;
            PairAnswer { worker: stream.below(3), i, j, same: (i % 3 == j % 3) == right }
        };
        let mut draw = Seed(seed).derive("first", 0).stream();
        let mut first = || {
            let i = draw.below(24);
            (i, (i + 1 + draw.below(23)) % 24)
        };
        let rows: Vec<PairAnswer> = (0..10).map(|_| first()).map(|(i, j)| answer(i, j)).collect();
        let mut answers = Answers::from_pairs(24, &rows).unwrap();
        let crowd = CrowdClustering::new(clusters).alternative(false);
        while answers.n_pair_answers() < 150 {
            let found = crowd.fit(&answers, &()).unwrap().output;
            let asked = found.ask_pairs(&answers, 5).unwrap();
            let rows: Vec<PairAnswer> = asked.iter().map(|q| answer(q.i, q.j)).collect();
            answers.extend(&Answers::from_pairs(24, &rows).unwrap()).unwrap();
        }
        let truth = Partition::from_fn(24, |i| Some(i as u64 % 3)).unwrap();
        adjusted_rand(&crowd.cluster(&answers).unwrap(), &truth).unwrap()
    }

    /// Such a loop stayed at two clusters: sure of them, it asked about pairs that had answers.
    #[test]
    fn asking_in_a_loop_ends_at_the_classes() {
        for (wrong, clusters) in [(0.0, Clusters::Auto), (0.05, Clusters::Fixed(3))] {
            let found: Vec<f64> = (0..3).map(|seed| after_a_loop(wrong, clusters, seed)).collect();
            assert!(found.iter().all(|&found| found == 1.0), "{wrong}: {found:?}");
        }
    }

    /// What was asked, or went to another group, is left out as often as as much again has come.
    #[test]
    fn no_more_questions_are_held_than_twice_those_that_wait() {
        let q = |i, j| Question { i, j, together: 0.5, information: 1.0 / (1 + i + j) as f64 };
        let found: Vec<(Question, PairCount)> =
            (0..12).flat_map(|i| (12..40).map(move |j| (q(i, j), PairCount::default()))).collect();
        let mut waiting = Waiting::of(&found, &[1.0; 40]).unwrap();
        let mut asked = 0;
        while waiting.take_best().is_some() {
            asked += 1;
            let held: usize = waiting.groups.values().map(|heap| heap.questions.len()).sum();
            assert!(held <= waiting.held && waiting.held <= 2 * found.len(), "{asked}: {held}");
        }
        assert_eq!(asked, found.len());
    }
}
