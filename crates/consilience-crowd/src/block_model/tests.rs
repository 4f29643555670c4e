use consilience_core::Status;
use consilience_core::scores::{Normalizer, adjusted_rand, normalized_mutual_information};

use super::sweep::{Occurrences, Weights, sweep};
use super::*;
use crate::expected_counts::ExpectedCounts;
use crate::memberships::ln_share;
use crate::rates::{Rates, per_task};
use crate::{GroupAnswer, PairAnswer, spectral};

/// A crowd that sorts random tasks of `size` objects; the last `blind` workers do not look.
pub(crate) fn crowd(
    clusters: usize,
    n: usize,
    workers: usize,
    (tasks, size): (usize, usize),
    wrong: f64,
    blind: usize,
    seed: u64,
) -> Vec<GroupAnswer> {
    let mut stream = Seed(seed).stream();
    let mut rows = Vec::new();
    for worker in 0..workers {
        for task in 0..tasks {
            for item in stream.sample(n, size) {
                let lost = worker + blind >= workers || stream.uniform() < wrong;
                let group = if lost { stream.below(clusters) } else { item % clusters };
                rows.push(GroupAnswer { worker, task, item, group });
            }
        }
    }
    rows
}

/// Rates, evidence bound and best memberships straight from the definition: pair by pair.
struct Naive<'a> {
    answers: &'a Answers,
    q: Array2<f64>,
}

impl Naive<'_> {
    /// (worker, i, j, same) over places in the answered objects.
    fn pairs(&self) -> Vec<(usize, usize, usize, bool)> {
        let place = |i: usize| self.answered().binary_search(&(i as u32)).unwrap();
        let worker = |w: usize| self.answers.workers().binary_search(&w).unwrap();
        self.answers.pairs().map(|p| (worker(p.worker), place(p.i), place(p.j), p.same)).collect()
    }

    fn answered(&self) -> &[u32] {
        self.answers.answered()
    }

    /// Expected "same" and all answers of some workers on pairs of two clusters.
    fn between(&self, c: usize, d: usize, of: impl Fn(usize) -> bool) -> [f64; 2] {
        let (mut same, mut all) = (0.0, 0.0);
        for (_, i, j, said) in self.pairs().into_iter().filter(|pair| of(pair.0)) {
            let here = self.q[[i, c]] * self.q[[j, d]] + self.q[[i, d]] * self.q[[j, c]];
            all += here;
            same += if said { here } else { 0.0 };
        }
        [same, all]
    }

    fn log_likelihood(&self, rates: &Rates) -> f64 {
        let mut total = 0.0;
        for (w, i, j, same) in self.pairs() {
            let log = |p: f64| if same { p.ln() } else { (1.0 - p).ln() };
            for ((c, d), p) in rates_of(rates, w) {
                total += self.q[[i, c]] * self.q[[j, d]] * log(p);
            }
        }
        total
    }

    /// What one object's memberships become when all others stay.
    fn update(&self, object: usize, rates: &Rates, ln_share: &[f64]) -> Vec<f64> {
        let mut field = ln_share.to_vec();
        for (w, i, j, same) in self.pairs() {
            if i == object || j == object {
                let other = i + j - object;
                for ((c, d), p) in rates_of(rates, w) {
                    let r = rates.apart[w];
                    let odds = if same { (p / r).ln() } else { ((1.0 - p) / (1.0 - r)).ln() };
                    field[c] += odds * self.q[[other, d]];
                }
            }
        }
        let most = field.iter().fold(f64::NEG_INFINITY, |m, &v| m.max(v));
        let sum: f64 = field.iter().map(|f| (f - most).exp()).sum();
        field.iter().map(|f| (f - most).exp() / sum).collect()
    }
}

/// The rate of one worker for every two clusters.
fn rates_of(rates: &Rates, w: usize) -> Vec<((usize, usize), f64)> {
    let k = rates.within.ncols();
    let of = |c, d| if c == d { rates.within[[w, c]] } else { rates.across(w, c, d) };
    (0..k * k).map(|e| ((e / k, e % k), of(e / k, e % k))).collect()
}

fn random_memberships(n: usize, k: usize, seed: u64) -> Array2<f64> {
    let mut stream = Seed(seed).stream();
    let mut q = Array2::from_shape_fn((n, k), |_| stream.uniform() + 0.01);
    for mut row in q.rows_mut() {
        let sum = row.sum();
        row /= sum;
    }
    q
}

/// Answers enough for rates between clusters: in tasks of eleven, of two, and of both.
fn shapes() -> [Vec<GroupAnswer>; 3] {
    let large = crowd(3, 12, 5, (4, 11), 0.2, 1, 2);
    let pairs = crowd(3, 12, 5, (70, 2), 0.2, 1, 3);
    let after = pairs.iter().map(|&row| GroupAnswer { task: 2 * row.task + 1, ..row });
    let both = large.iter().map(|&row| GroupAnswer { task: 2 * row.task, ..row }).chain(after);
    let both = both.collect();
    [large, pairs, both]
}

#[test]
fn sums_over_groups_equal_sums_over_pairs() {
    let few = [crowd(3, 12, 5, (4, 2), 0.2, 1, 0), crowd(3, 12, 5, (4, 5), 0.2, 1, 1)];
    let plain = few.iter().map(|rows| (rows.clone(), false, false));
    let many =
        shapes().into_iter().flat_map(|rows| [false, true].map(|own| (rows.clone(), true, own)));
    for (seed, (rows, between, own)) in plain.chain(many).enumerate() {
        let seed = seed as u64;
        let answers = Answers::from_groupings(13, &rows).unwrap();
        let n = answers.answered().len();
        let model = BlockModel::new(3).pseudo_count(2.0).rates_between_by_worker(own);
        let q = random_memberships(n, 3, seed);
        let (counts, mut sums) = ExpectedCounts::of(&answers, q.view(), model.shrinkage);
        let rates = Rates::of(&counts, model.shrinkage);
        assert_eq!(rates.shifts.is_some(), between);
        let naive = Naive { answers: &answers, q: q.clone() };
        let (fast, slow): (f64, f64) =
            (per_task(&answers, q.view(), &rates).iter().sum(), naive.log_likelihood(&rates));
        assert!((fast - slow).abs() < 1e-9 * slow.abs(), "{fast} {slow}");

        let share = ln_share(q.view());
        let mut swept = q.clone();
        sweep(
            &mut swept,
            &mut sums,
            &Occurrences::of(&answers).unwrap(),
            &Weights::of(&rates),
            &share,
        );
        let mut naive = naive;
        for i in 0..n {
            let row = naive.update(i, &rates, &share);
            for c in 0..3 {
                assert!((row[c] - swept[[i, c]]).abs() < 1e-9, "object {i}: {row:?}");
                naive.q[[i, c]] = row[c];
            }
        }
    }
}

#[test]
fn answers_between_clusters_are_counted() {
    for rows in shapes() {
        let answers = Answers::from_groupings(13, &rows).unwrap();
        let q = random_memberships(answers.answered().len(), 3, 2);
        let (counts, _) = ExpectedCounts::of(&answers, q.view(), BlockModel::new(3).shrinkage);
        let between = counts.between.unwrap();
        let naive = Naive { answers: &answers, q: q.clone() };
        for c in 0..3 {
            for d in 0..c {
                let [same, all] = naive.between(c, d, |_| true);
                assert!((between.all[[c, d]] - all).abs() < 1e-9 * all);
                assert!((between.same[[d, c]] - same).abs() < 1e-9 * all);
            }
        }
    }
}

#[test]
fn answers_of_each_worker_between_clusters_are_counted() {
    for (rows, repeated) in shapes().iter().zip([Some(5.5), Some(1.0), None]) {
        let answers = Answers::from_groupings(13, rows).unwrap();
        let q = random_memberships(answers.answered().len(), 3, 2);
        let shrinkage = BlockModel::new(3).rates_between_by_worker(true).shrinkage;
        let (counts, _) = ExpectedCounts::of(&answers, q.view(), shrinkage);
        let own = counts.between.unwrap().of_workers.unwrap();
        if let Some(repeated) = repeated {
            assert!(own.repeated.iter().all(|&r| r == repeated));
        }
        let naive = Naive { answers: &answers, q: q.clone() };
        for worker in 0..5 {
            for c in 0..3 {
                for d in 0..c {
                    let [same, all] = naive.between(c, d, |w| w == worker);
                    let at = (worker * 3 + c) * 3 + d;
                    assert!((own.all[at] - all).abs() < 1e-9 * all);
                    assert!((own.same[at] - same).abs() < 1e-9 * all);
                }
            }
        }
    }
}

#[test]
fn clusters_that_are_often_confused_stay_apart() {
    // Half of the workers do not tell cluster 1 from 0, and cluster 3 is a rest of four kinds.
    let mut gain = 0.0;
    for draw in 1..9 {
        gain += confused(draw);
    }
    assert!(gain > 0.1, "{gain}");
}

/// How much better a model with rates between clusters is; it is never worse.
fn confused(draw: u64) -> f64 {
    let mut rows = crowd(5, 150, 60, (20, 4), 0.15, 0, draw);
    for row in &mut rows {
        let truth = row.item % 5;
        if row.group == truth {
            row.group = match truth {
                1 if row.worker % 2 == 0 => 0,
                3 => 10 + row.item / 5 % 4,
                other => other,
            };
        }
    }
    let answers = Answers::from_groupings(150, &rows).unwrap();
    let truth = Partition::from_fn(150, |i| Some((i % 5) as u64)).unwrap();
    let score = |between: bool| {
        let blocks =
            BlockModel::new(5).rates_between_clusters(between).fit(&answers, &()).unwrap().output;
        let score =
            normalized_mutual_information(&truth, &blocks.partition, Normalizer::Arithmetic)
                .unwrap();
        (score, blocks)
    };
    let ((with, blocks), (without, plain)) = (score(true), score(false));
    assert!(with > 0.85 && with > without - 1e-9, "{draw}: {with} {without}");
    if with > 0.99 {
        // 0 and 1 are the most confused.
        let q = blocks.memberships.values();
        let of = |i: usize| (0..5).find(|&c| q[[i, c]] > 0.5).unwrap();
        let most = blocks.between_rates[[of(0), of(1)]];
        let rates = &blocks.between_rates;
        assert!((0..5).all(|c| (0..c).all(|d| rates[[c, d]] <= most)), "{rates}");
    }
    assert!(plain.between_rates.indexed_iter().all(|((c, d), &x)| c == d || x == plain.apart_rate));
    with - without
}

#[test]
fn a_sweep_never_lowers_the_bound_at_its_rates() {
    let answers = Answers::from_groupings(40, &crowd(4, 40, 12, (3, 6), 0.3, 2, 5)).unwrap();
    let mut q = random_memberships(answers.answered().len(), 4, 9);
    let shrinkage = BlockModel::new(4).shrinkage;
    let occurrences = Occurrences::of(&answers).unwrap();
    let at = |q: &Array2<f64>, rates: &Rates, share: &[f64]| {
        let own: f64 = q
            .rows()
            .into_iter()
            .flat_map(|r| r.to_vec().into_iter().zip(share.to_vec()))
            .map(|(x, s)| if x > 0.0 { x * (s - x.ln()) } else { 0.0 })
            .sum();
        per_task(&answers, q.view(), rates).iter().sum::<f64>() + own
    };
    for _ in 0..30 {
        let (counts, mut sums) = ExpectedCounts::of(&answers, q.view(), shrinkage);
        let (rates, share) = (Rates::of(&counts, shrinkage), ln_share(q.view()));
        let before = at(&q, &rates, &share);
        sweep(&mut q, &mut sums, &occurrences, &Weights::of(&rates), &share);
        let after = at(&q, &rates, &share);
        assert!(after >= before - 1e-9 * before.abs(), "{before} {after}");
    }
}

/// A worker who puts all items of a task together, with hardly anything added.
#[test]
fn the_least_pseudo_count_gives_finite_memberships() {
    let row = |worker, item, group| GroupAnswer { worker, task: 0, item, group };
    let rows: Vec<_> = (0..2).flat_map(|w| (0..6).map(move |i| row(w, i, w * i % 3))).collect();
    let answers = Answers::from_groupings(6, &rows).unwrap();
    for k in [1, 2, 3] {
        let found = BlockModel::new(k).pseudo_count(1e-6).fit(&answers, &()).unwrap().output;
        assert!(found.memberships.values().iter().all(|v| v.is_finite()));
    }
}

#[test]
fn bad_options_are_refused() {
    let answers = Answers::from_groupings(6, &crowd(2, 6, 3, (2, 4), 0.0, 0, 1)).unwrap();
    let kind = |model: BlockModel| model.fit(&answers, &()).unwrap_err().kind();
    use consilience_core::ErrorKind::{InvalidParameter, TooLarge};
    assert_eq!(kind(BlockModel::new(0)), InvalidParameter);
    assert_eq!(kind(BlockModel::new(7)), InvalidParameter);
    assert_eq!(kind(BlockModel::new(2).pseudo_count(f64::NAN)), InvalidParameter);
    assert_eq!(kind(BlockModel::new(2).pseudo_count(1e-17)), InvalidParameter);
    assert_eq!(kind(BlockModel::new(2).tolerance(0.0)), InvalidParameter);
    assert_eq!(kind(BlockModel::new(2).restarts(0)), InvalidParameter);
    assert_eq!(kind(BlockModel::new(2).memory_budget(MemoryBudget::bytes(10))), TooLarge);
    let once = BlockModel::new(2).max_iterations(1).fit(&answers, &()).unwrap();
    assert_eq!((once.report.status, once.report.iterations), (Status::MaxIterations, 1));
}

/// Counting alone takes less than the matrices of the starts, beside which the counts stay.
#[test]
fn what_is_held_beside_the_pair_counts_is_asked_of_the_budget() {
    let pairs = (0..400).flat_map(|j| (0..j).map(move |i| (i, j)));
    let said = |(i, j)| PairAnswer { worker: 0, i, j, same: i % 2 == j % 2 };
    let rows: Vec<PairAnswer> = pairs.map(said).collect();
    let answers = Answers::from_pairs(400, &rows).unwrap();
    let (pairs, objects) = (rows.len() as u64, 2 << 20);
    let within = |each: u64| MemoryBudget::bytes(each * pairs + objects);
    AnswerCounts::of(&answers, within(48)).unwrap();
    let kind = |each: u64| {
        let model = BlockModel::new(2).memory_budget(within(each));
        model.check_memory(&answers).map_err(|error| error.kind())
    };
    assert_eq!(kind(48), Err(consilience_core::ErrorKind::TooLarge));
    assert_eq!(kind(340), Ok(()));
}

/// Answers on pairs of objects with given labels; each worker is right with a probability, which
/// may be below 1/2.
fn judged(
    labels: &[usize],
    right: &[f64],
    pairs: impl Fn(usize) -> Vec<(usize, usize)>,
    seed: Seed,
) -> Answers {
    let asked = (0..right.len()).flat_map(|w| pairs(w).into_iter().map(move |pair| (w, pair)));
    let rows: Vec<PairAnswer> = asked
        .enumerate()
        .map(|(at, (worker, (i, j)))| {
            let same = (labels[i] == labels[j]) == (drawn(seed, "answer", at) < right[worker]);
            PairAnswer { worker, i, j, same }
        })
        .collect();
    Answers::from_pairs(labels.len(), &rows).unwrap()
}

/// Uniform in `[0, 1)`.
fn drawn(seed: Seed, what: &str, at: usize) -> f64 {
    (seed.derive(what, at as u64).0 >> 11) as f64 / (1u64 << 53) as f64
}

/// Every object with four of its neighbours; the next worker's are further on by one.
fn neighbours(n: usize, worker: usize) -> Vec<(usize, usize)> {
    (1..5).flat_map(|step| (0..n).map(move |i| (i, (i + step + worker) % n))).collect()
}

/// Any two objects.
fn anywhere(n: usize, worker: usize, count: usize, seed: Seed) -> Vec<(usize, usize)> {
    let pair = |at: usize| {
        let drawn = seed.derive("pair", (worker * 100_000 + at) as u64).0 as usize;
        (drawn % n, (drawn % n + 1 + drawn / n % (n - 1)) % n)
    };
    (0..count).map(pair).collect()
}

/// What a model of four clusters finds, and how well it agrees with the labels.
fn found(labels: &[usize], answers: &Answers) -> (BlockModelResult, f64) {
    let truth = Partition::from_fn(labels.len(), |i| Some(labels[i] as u64)).unwrap();
    let blocks = BlockModel::new(4).fit(answers, &()).unwrap().output;
    let score = adjusted_rand(&truth, &blocks.partition).unwrap();
    (blocks, score)
}

/// From spectral starts and what these are perturbed to, five of the six end between 0.33 and 0.47.
#[test]
fn who_compares_neighbours_finds_all_though_one_answers_the_wrong_way_round() {
    for seed in (0..6).map(Seed) {
        let labels: Vec<usize> =
            (0..100).map(|i| (seed.derive("label", i).0 % 4) as usize).collect();
        let answers = judged(&labels, &[0.9, 0.9, 0.9, 0.9, 0.1], |w| neighbours(100, w), seed);
        let (_, score) = found(&labels, &answers);
        assert!(score > 0.9, "{seed:?}: {score}");
    }
}

/// Two thirds of the answers are from one worker. Three are more than one; where all answers are
/// taken at their word, these three end at 0.
#[test]
fn most_workers_are_right_and_not_most_answers() {
    for seed in [1, 2, 5].map(Seed) {
        let labels: Vec<usize> = (0..80).map(|i| i % 4).collect();
        let count = |w: usize| if w == 3 { 1500 } else { 250 };
        let pairs = |w: usize| anywhere(80, w, count(w), seed);
        let answers = judged(&labels, &[0.85, 0.85, 0.85, 0.1], pairs, seed);
        let (blocks, score) = found(&labels, &answers);
        assert!(score > 0.9, "{seed:?}: {score}");
        let informed: Vec<f64> = blocks.workers.iter().map(|w| w.informedness()).collect();
        assert!(informed[3] < -0.5 && informed[..3].iter().all(|&x| x > 0.3), "{informed:?}");
    }
}

#[test]
fn neighbours_are_told_from_pairs_here_and_there() {
    let labels: Vec<usize> = (0..100).map(|i| i % 4).collect();
    let is_local = |pairs: &dyn Fn(usize) -> Vec<(usize, usize)>| {
        let answers = judged(&labels, &[0.9; 3], pairs, Seed(0));
        let counts = AnswerCounts::of(&answers, MemoryBudget::default()).unwrap();
        spectral::is_local(&answers, &counts, Seed(0), &()).unwrap()
    };
    assert!(is_local(&|w: usize| neighbours(100, w)));
    for count in [100, 300, 1000] {
        assert!(!is_local(&|w: usize| anywhere(100, w, count, Seed(7))));
        // Two objects that only know each other are no chain.
        let with_two = |w: usize| {
            let rest = anywhere(98, w, count, Seed(7)).into_iter();
            rest.chain([(98, 99)]).collect::<Vec<_>>()
        };
        assert!(!is_local(&with_two));
    }
    // Pairs that nobody compared with others are none either.
    assert!(!is_local(&|_: usize| (0..50).map(|i| (2 * i, 2 * i + 1)).collect()));
}

/// Tasks of fifteen of 300 objects.
#[test]
fn tasks_along_a_list_are_told_from_tasks_at_random() {
    let is_local = |tasks: &[Vec<usize>]| {
        let of_task = |(task, items): (usize, &Vec<usize>)| -> Vec<GroupAnswer> {
            let row = |&item| GroupAnswer { worker: task % 9, task, item, group: item % 3 };
            items.iter().map(row).collect()
        };
        let rows: Vec<GroupAnswer> = tasks.iter().enumerate().flat_map(of_task).collect();
        let answers = Answers::from_groupings(300, &rows).unwrap();
        let counts = AnswerCounts::of(&answers, MemoryBudget::default()).unwrap();
        spectral::is_local(&answers, &counts, Seed(0), &()).unwrap()
    };
    let along = |count: usize| -> Vec<Vec<usize>> {
        let from = |task: usize| task * 300 / count;
        (0..count).map(|t| (0..15).map(|at| (from(t) + at) % 300).collect()).collect()
    };
    assert!(is_local(&along(80)));
    // One cut of a list alone has no neighbours beyond the tasks.
    assert!(!is_local(&along(20)));
    let at_random = |seed: u64| -> Vec<Vec<usize>> {
        let mut items: Vec<usize> = (0..300).collect();
        Seed(seed).stream().shuffle(&mut items);
        items.chunks(15).map(<[usize]>::to_vec).collect()
    };
    assert!(!is_local(&(0..4).flat_map(at_random).collect::<Vec<_>>()));
}
