//! Which answers would be most informative.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use consilience_core::Memberships;
use ndarray::ArrayView1;

use crate::answer_counts::{AnswerCounts, PairCount};
use crate::crowd_rates::CrowdRates;
use crate::misplaced::{Misplaced, repeated};

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

/// The pairs of most expected information, each object in doubt with sure objects of its likeliest
/// clusters.
pub(crate) fn pairs(
    memberships: &Memberships,
    rates: CrowdRates,
    counts: &AnswerCounts,
    count: usize,
) -> Vec<Question> {
    let q = memberships.values();
    let misplaced = Misplaced::of(memberships, counts, rates);
    let mut doubt = memberships.entropy();
    doubt.iter_mut().enumerate().for_each(|(i, x)| *x += misplaced.of_cluster(i));
    let partners = partners(memberships);
    let mut found = BTreeMap::new();
    for i in most_in_doubt(memberships, &doubt, count.saturating_mul(2).max(OBJECTS)) {
        let mut clusters: Vec<usize> = (0..q.ncols()).collect();
        clusters.sort_by(|&a, &b| {
            let wrong = |c: usize| misplaced.between(misplaced.cluster(i), c);
            q[[i, b]].total_cmp(&q[[i, a]]).then(wrong(b).total_cmp(&wrong(a))).then(a.cmp(&b))
        });
        for &j in clusters.iter().take(RIVALS).flat_map(|&c| &partners[c]) {
            if i != j {
                found.entry((i.min(j), i.max(j))).or_insert_with(|| {
                    let said = counts.get(i, j);
                    let placed = q.row(i).dot(&q.row(j)).clamp(0.0, 1.0);
                    let together = misplaced.corrected(i, j, placed, said);
                    let information = information(together, repeated(rates, said));
                    (Question { i, j, together, information }, said)
                });
            }
        }
    }
    let found: Vec<_> = found.into_values().collect();
    let mut questions = spread(&found, memberships.evidence(), count);
    questions.sort_by(|a, b| b.information.total_cmp(&a.information));
    questions
}

/// The surest objects of each cluster.
fn partners(memberships: &Memberships) -> Vec<Vec<usize>> {
    let of_cluster = |column: ArrayView1<'_, f64>| {
        let least = SURE * column.fold(0.0, |most: f64, &x| most.max(x));
        let mut sure: Vec<usize> = (0..column.len()).filter(|&i| column[i] >= least).collect();
        sure.sort_by(|&a, &b| column[b].total_cmp(&column[a]).then(a.cmp(&b)));
        sure.truncate(PARTNERS);
        sure
    };
    memberships.values().columns().into_iter().map(of_cluster).collect()
}

/// The questions of most information, which counts by 1 / (1 + u / 4) where the two objects are in
/// u of the questions before. Of equals those with fewest answers on the pair go first, then on the
/// objects.
fn spread(found: &[(Question, PairCount)], evidence: &[f64], count: usize) -> Vec<Question> {
    let mut uses = vec![0u32; evidence.len()];
    // Floats that are not negative are in the order of their bits.
    let entry = |at: usize, uses: &[u32]| {
        let (q, said) = &found[at];
        let value = q.information / (1.0 + VARIETY * f64::from(uses[q.i] + uses[q.j]));
        let known = (evidence[q.i] + evidence[q.j]).to_bits();
        (value.to_bits(), Reverse(said.answers), Reverse(known), Reverse(at))
    };
    let mut heap: BinaryHeap<_> = (0..found.len()).map(|at| entry(at, &uses)).collect();
    let mut questions = Vec::new();
    while questions.len() < count
        && let Some(top) = heap.pop()
    {
        let at = top.3.0;
        let now = entry(at, &uses);
        // What was put there before others used its objects goes back.
        if now != top {
            heap.push(now);
            continue;
        }
        let q = found[at].0;
        uses[q.i] += 1;
        uses[q.j] += 1;
        questions.push(q);
    }
    questions
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
    use consilience_core::{Clusters, MemoryBudget, Partition, Seed};
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
        let asked = pairs(&q, RATES, &counts(12, &said), 3);
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
            let asked = pairs(&q, RATES, &counts(3, said), 3);
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
            let asked = pairs(&q, RATES, &counts(8, &said), 2);
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
            let found: Vec<f64> = (0..6).map(|seed| after_a_loop(wrong, clusters, seed)).collect();
            assert!(found.iter().all(|&found| found == 1.0), "{wrong}: {found:?}");
        }
    }
}
