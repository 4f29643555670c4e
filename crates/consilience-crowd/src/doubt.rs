//! How sure the answers are of the clusters that a method gave as labels.

use consilience_core::{Result, room};
use ndarray::Array2;

use crate::answers::Answers;
use crate::memberships::{normalize, weight};
use crate::worker_rates::WorkerRates;

/// Probabilities of clusters for each answered object, all others being where their labels say:
///
/// ```text
/// Q_ic ~ share_c exp( sum over answers (w, i, j, a) with label(j) = c of  l_w(a) ),
/// l_w(1) = ln p_w / r_w,   l_w(0) = ln (1 - p_w) / (1 - r_w),
/// ```
///
/// p and r being the workers' rates under the labels. The answers depend on each other; those of a
/// task of s items weigh 2 / (s + 2) each.
pub(crate) fn memberships(
    answers: &Answers,
    labels: &[u32],
    k: usize,
    table: &[WorkerRates],
) -> Result<Array2<f64>> {
    let n = labels.len();
    let mut sizes = vec![1.0; k];
    labels.iter().for_each(|&c| sizes[c as usize] += 1.0);
    let shares: Vec<f64> = sizes.iter().map(|&size| f64::ln(size / (n + k) as f64)).collect();
    let mut q = room::table_of(n, k, |(_, c)| shares[c])?;
    let mut in_task = Tally::new(k);
    let mut in_group = Tally::new(k);
    for task in answers.tasks() {
        let weight = weight(task.n_items());
        let (p, r) = (table[task.worker].same_together, table[task.worker].same_apart);
        let same = weight * (p / r).ln();
        let differ = weight * ((1.0 - p) / (1.0 - r)).ln();
        in_task.count(task.groups().flatten().map(|&i| labels[i as usize]));
        for group in task.groups() {
            in_group.count(group.iter().map(|&i| labels[i as usize]));
            for &i in group {
                let own = labels[i as usize] as usize;
                for &c in &in_task.present {
                    let near = in_group.counts[c];
                    let others = near - f64::from(u8::from(c == own));
                    q[[i as usize, c]] += same * others + differ * (in_task.counts[c] - near);
                }
            }
        }
    }
    for (row, &label) in q.rows_mut().into_iter().zip(labels) {
        normalize(row, label);
    }
    Ok(q)
}

/// How many items have each label, and which labels there are.
struct Tally {
    counts: Vec<f64>,
    present: Vec<usize>,
}

impl Tally {
    fn new(k: usize) -> Self {
        Tally { counts: vec![0.0; k], present: Vec::new() }
    }

    fn count(&mut self, labels: impl Iterator<Item = u32>) {
        for c in self.present.drain(..) {
            self.counts[c] = 0.0;
        }
        for c in labels {
            if self.counts[c as usize] == 0.0 {
                self.present.push(c as usize);
            }
            self.counts[c as usize] += 1.0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block_model::crowd;
    use crate::{CrowdClustering, CrowdMethod, PairAnswer};
    use consilience_core::scores::{Normalizer, normalized_mutual_information};
    use consilience_core::{Partition, Seed};

    const METHODS: [CrowdMethod; 6] = [
        CrowdMethod::Spectral,
        CrowdMethod::Rmc,
        CrowdMethod::LogOdds,
        CrowdMethod::DawidSkene,
        CrowdMethod::Pairs,
        CrowdMethod::PlantedPartition,
    ];

    #[test]
    fn labels_are_kept_where_nothing_favours_them() {
        let pairs = |n: usize| (0..n).flat_map(move |j| (0..j).map(move |i| (i, j)));
        let rows: Vec<PairAnswer> = pairs(30)
            .flat_map(|(i, j)| (0..3).map(move |worker| PairAnswer { worker, i, j, same: false }))
            .collect();
        let answers = Answers::from_pairs(30, &rows).unwrap();
        for method in METHODS {
            let found = CrowdClustering::new(30).method(method).fit(&answers, &()).unwrap().output;
            assert_eq!(found.partition.n_clusters(), 30, "{method:?}");
        }
    }

    /// The definition, pair by pair.
    #[test]
    fn equals_the_definition() {
        let rows = crowd(3, 40, 9, (1, 12), 0.2, 0, 3);
        let answers = Answers::from_groupings(40, &rows).unwrap();
        let labels: Vec<u32> = (0..answers.answered().len() as u32).map(|i| i % 3).collect();
        let counts = crate::expected_counts::ExpectedCounts::pooled(&answers, &labels);
        let table = crate::worker_rates::table(&answers, &counts, 20.0);
        let q = memberships(&answers, &labels, 3, &table).unwrap();
        let place = |i: usize| answers.answered().binary_search(&(i as u32)).unwrap();
        let n = labels.len();
        let mut field = Array2::from_shape_fn((n, 3), |(_, c)| {
            let size = labels.iter().filter(|&&l| l as usize == c).count();
            ((size as f64 + 1.0) / (n as f64 + 3.0)).ln()
        });
        for pair in answers.pairs() {
            let w = answers.workers().binary_search(&pair.worker).unwrap();
            let (p, r) = (table[w].same_together, table[w].same_apart);
            let odds = if pair.same { p / r } else { (1.0 - p) / (1.0 - r) };
            let (i, j) = (place(pair.i), place(pair.j));
            field[[i, labels[j] as usize]] += odds.ln() * 2.0 / 14.0;
            field[[j, labels[i] as usize]] += odds.ln() * 2.0 / 14.0;
        }
        for i in 0..n {
            let sum: f64 = field.row(i).iter().map(|x| x.exp()).sum();
            let best = (0..3).all(|c| field[[i, c]] <= field[[i, labels[i] as usize]]);
            for c in 0..3 {
                let expected = field[[i, c]].exp() / sum;
                // Ties go to the label by a millionth.
                assert!(!best || (q[[i, c]] - expected).abs() < 1e-6, "{i} {c}");
                let own = c == labels[i] as usize;
                assert!(own || q[[i, c]] < q[[i, labels[i] as usize]], "{i} {c}");
            }
        }
    }

    #[test]
    fn every_method_has_questions_of_its_own_and_they_help_more_than_random_ones() {
        let (mut asked_gain, mut random_gain) = (0.0, 0.0);
        for seed in 0..3 {
            let rows = crowd(3, 90, 30, (2, 8), 0.3, 0, seed);
            let answers = Answers::from_groupings(90, &rows).unwrap();
            let truth = Partition::from_fn(90, |i| Some((i % 3) as u64)).unwrap();
            let nmi = |p: &Partition| {
                normalized_mutual_information(p, &truth, Normalizer::Arithmetic).unwrap()
            };
            let mut lists = Vec::new();
            for method in METHODS {
                let crowd = CrowdClustering::new(3).method(method).alternative(false);
                let before = crowd.fit(&answers, &()).unwrap().output;
                let asked = before.ask_pairs(&answers, 60).unwrap();
                assert!(asked[0].information > 0.0, "{}", method.name());
                let informed = asked.windows(2).all(|w| w[0].information >= w[1].information);
                assert!(informed && asked[0].information > asked[59].information);
                let asked: Vec<(usize, usize)> = asked.iter().map(|a| (a.i, a.j)).collect();
                let mut stream = Seed(seed).derive("random questions", 0).stream();
                let drawn: Vec<(usize, usize)> =
                    (0..60).map(|_| (stream.below(90), stream.below(90))).collect();
                // Three workers who answer each question rightly.
                let after = |questions: &[(usize, usize)]| {
                    let mut more = answers.clone();
                    let rows: Vec<PairAnswer> = (0..3)
                        .flat_map(|w| questions.iter().map(move |&(i, j)| (1_000 + w, i, j)))
                        .map(|(worker, i, j)| PairAnswer { worker, i, j, same: i % 3 == j % 3 })
                        .collect();
                    more.extend(&crate::Answers::from_pairs(90, &rows).unwrap()).unwrap();
                    nmi(&crowd.cluster(&more).unwrap()) - nmi(&before.partition)
                };
                asked_gain += after(&asked);
                random_gain += after(&drawn);
                lists.push(asked);
            }
            lists.sort();
            lists.dedup();
            assert!(lists.len() >= 4, "{} lists of five", lists.len());
        }
        println!("asked {:.3}, random {:.3}", asked_gain / 15.0, random_gain / 15.0);
        assert!(asked_gain > random_gain + 0.75, "{asked_gain} {random_gain}");
    }
}
