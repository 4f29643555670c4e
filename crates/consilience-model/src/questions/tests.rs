use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};

use consilience_core::scores::{Normalizer, normalized_mutual_information};
use consilience_core::{Clusters, ErrorKind, MemoryBudget, Observer, Partition, Seed};
use ndarray::{Array2, array};

use super::evidence::{Evidence, Vote};
use super::propose::KEPT;
use super::tree::{Merge, Odds, Places, Tree, sigmoid};
use super::{Answer, Questioner, QuestionerOptions, StopReason};

/// Six blobs in a row, two of each class: distances do not tell which two.
fn world(n: usize, seed: u64) -> (Array2<f64>, Vec<usize>) {
    let mut draw = Seed(seed).derive("blobs", 0).stream();
    let x = Array2::from_shape_fn((n, 3), |(i, j)| {
        let place = if j == 0 { 6.0 * (i % 6) as f64 } else { 0.0 };
        place + draw.normal()
    });
    (x, (0..n).map(|i| i % 3).collect())
}

fn nmi(found: &Partition, classes: &[usize]) -> f64 {
    let truth = Partition::from_labels(classes).unwrap();
    normalized_mutual_information(found, &truth, Normalizer::Arithmetic).unwrap()
}

/// Asks until there is nothing more to ask; workers by turns, each right with a probability of its
/// own.
fn ask(questioner: &mut Questioner, classes: &[usize], right: &[f64], seed: u64) {
    let mut draw = Seed(seed).derive("answers", 0).stream();
    let mut number = 0;
    while !questioner.is_done() {
        let mut answers = Vec::new();
        for question in questioner.propose(10) {
            let worker = number % right.len();
            number += 1;
            let truth: Vec<usize> = question.objects.iter().map(|&i| classes[i]).collect();
            let answer = if truth.len() > 2 {
                Answer::groups(worker, &question.objects, &truth)
            } else {
                let same = (truth[0] == truth[1]) == (draw.uniform() < right[worker]);
                Answer::pair(worker, question.objects[0], question.objects[1], same)
            };
            answers.push(answer);
        }
        questioner.answer(&answers).unwrap();
    }
}

/// One object may be left where it is: its place is too sure for a question. In one draw of 64 it
/// is.
#[test]
fn right_answers_lead_to_the_truth() {
    let mut whole = 0;
    for seed in 0..3 {
        let (x, classes) = world(120, seed);
        let options = QuestionerOptions::new(3).budget(400).seed(Seed(seed));
        let mut questioner = options.start(&x).unwrap();
        let before = nmi(&questioner.partition().unwrap(), &classes);
        ask(&mut questioner, &classes, &[1.0, 1.0, 1.0], seed);
        let after = nmi(&questioner.partition().unwrap(), &classes);
        assert!(before < 0.9 && after > 0.96, "{before} {after}");
        whole += usize::from(after > 0.999);
    }
    assert!(whole > 1, "{whole} of 3");
}

/// Well separated blobs are found without an answer, and a tenth of wrong ones must not undo it:
/// they cut a dense blob only where they are many.
#[test]
fn wrong_answers_leave_what_distances_tell() {
    for (seed, workers) in [(0, 1), (1, 3), (2, 1), (3, 3)] {
        let mut draw = Seed(seed).derive("far blobs", 0).stream();
        let classes: Vec<usize> = (0..200).map(|i| i % 3).collect();
        let x = Array2::from_shape_fn((200, 3), |(i, j)| {
            let centre = if j == classes[i] { 10.0 } else { 0.0 };
            centre + draw.normal()
        });
        let price = if seed == 1 { 0.5 } else { 0.0 };
        let options = QuestionerOptions::new(3).cells(90).budget(200).price(price);
        let mut questioner = options.start(&x).unwrap();
        assert!(nmi(&questioner.partition().unwrap(), &classes) > 0.999);
        ask(&mut questioner, &classes, &vec![0.9; workers], seed);
        assert!(nmi(&questioner.partition().unwrap(), &classes) > 0.999, "{seed}");
    }
}

/// A few wrong answers must not cut a large blob that distance keeps whole, and join two that are
/// far apart.
#[test]
fn wrong_answers_do_not_cut_the_larger_of_two_far_blobs() {
    for seed in 0..2 {
        let mut draw = Seed(seed).derive("two blobs", 0).stream();
        let classes: Vec<usize> = (0..300).map(|i| usize::from(i % 6 == 0)).collect();
        let x = Array2::from_shape_fn((300, 2), |(i, j)| {
            let centre = if j == 0 { 20.0 * classes[i] as f64 } else { 0.0 };
            centre + draw.normal()
        });
        let mut questioner = QuestionerOptions::new(2).cells(90).budget(200).start(&x).unwrap();
        assert!(nmi(&questioner.partition().unwrap(), &classes) > 0.999);
        ask(&mut questioner, &classes, &[0.95; 3], seed);
        assert!(nmi(&questioner.partition().unwrap(), &classes) > 0.999, "{seed}");
    }
}

/// 600 right answers about 120 objects settle nearly all, whatever distances say.
#[test]
fn right_answers_move_what_the_tree_joined_wrongly() {
    for seed in 0..3 {
        let mut draw = Seed(seed).derive("four blobs", 0).stream();
        let classes: Vec<usize> = (0..120).map(|i| [0, 1, 1, 2][i % 4]).collect();
        let x = Array2::from_shape_fn((120, 3), |(i, j)| {
            let place = [i % 4 % 2, i % 4 / 2, 0][j];
            4.0 * place as f64 + draw.normal()
        });
        let mut questioner = QuestionerOptions::new(3).start(&x).unwrap();
        let said: Vec<Answer> = (0..600)
            .map(|t| {
                let i = draw.below(120);
                let j = (i + 1 + draw.below(119)) % 120;
                Answer::pair(t % 4, i, j, classes[i] == classes[j])
            })
            .collect();
        questioner.answer(&said).unwrap();
        let after = nmi(&questioner.partition().unwrap(), &classes);
        assert!(after > 0.97, "{seed}: {after}");
    }
}

/// Equal features decide nothing, and one cluster, or one for each object, leaves nothing to ask.
#[test]
fn equal_objects_are_asked_about_and_one_cluster_is_not() {
    let equal = Array2::<f64>::ones((20, 2));
    for cells in [8, 300] {
        let options = QuestionerOptions::new(2).cells(cells);
        let questioner = options.start(&equal).unwrap();
        assert_eq!((questioner.stop(), questioner.partition().unwrap().n_clusters()), (None, 2));
        assert!(questioner.confidence().iter().sum::<f64>() < 19.0);
    }
    let (x, _) = world(30, 0);
    for k in [1, 30] {
        let questioner = QuestionerOptions::new(k).start(&x).unwrap();
        assert_eq!(questioner.stop(), Some(StopReason::Decided));
    }
}

/// Blobs in a row, two of each class, and a tenth of the answers wrong.
#[test]
fn noisy_answers_join_blobs_that_distances_keep_apart() {
    for seed in 0..2 {
        let (x, classes) = world(600, seed);
        let mut questioner = QuestionerOptions::new(3).cells(90).budget(200).start(&x).unwrap();
        let before = nmi(&questioner.partition().unwrap(), &classes);
        ask(&mut questioner, &classes, &[0.9, 0.9, 0.9], seed);
        let after = nmi(&questioner.partition().unwrap(), &classes);
        assert!(after > before + 0.15, "{before} {after}");
    }
}

/// A metric under which nothing but noise is left had the answers fit by chance after 40 to 70 of
/// them, and was kept: .97 and more became .14 and less.
#[test]
fn no_metric_is_kept_that_foresees_no_answer() {
    for seed in [11, 14, 20] {
        let (x, classes) = world(900, seed);
        let options = QuestionerOptions::new(3).cells(90).budget(100).seed(Seed(seed));
        let mut questioner = options.start(&x).unwrap();
        ask(&mut questioner, &classes, &[0.95; 5], seed);
        let after = nmi(&questioner.partition().unwrap(), &classes);
        assert!(after > 0.8, "{seed}: {after}");
    }
}

#[test]
fn noisy_answers_help_and_questions_about_groups_too() {
    let (x, classes) = world(900, 7);
    let options = QuestionerOptions::new(3).cells(180).budget(300).seed(Seed(7));
    for (size, right) in [(2, 0.95), (4, 1.0)] {
        let mut questioner = options.group_size(size).start(&x).unwrap();
        let before = nmi(&questioner.partition().unwrap(), &classes);
        assert!(questioner.propose(9).iter().all(|q| (2..=size).contains(&q.objects.len())));
        ask(&mut questioner, &classes, &[right; 5], 7);
        let after = nmi(&questioner.partition().unwrap(), &classes);
        println!("{size} objects: {before:.3} before, {after:.3} after");
        assert!(after > before + 0.1, "{size}: {before} {after}");
    }
}

#[test]
fn a_worker_at_random_is_found_out() {
    let (x, classes) = world(600, 1);
    let mut questioner = QuestionerOptions::new(3).cells(90).budget(600).start(&x).unwrap();
    ask(&mut questioner, &classes, &[0.95, 0.5, 0.95, 0.95], 1);
    let workers = questioner.workers();
    let informedness: Vec<f64> = workers.iter().map(|w| w.informedness()).collect();
    assert_eq!(workers.iter().map(|w| w.worker).collect::<Vec<_>>(), [0, 1, 2, 3]);
    assert!(informedness[1] < 0.35, "{informedness:?}");
    assert!([0, 2, 3].iter().all(|&w| informedness[w] > 0.5), "{informedness:?}");
}

/// A node is asked about with several others in one round: what is asked within six blobs tells
/// hardly anything beside it.
#[test]
fn a_round_asks_about_most_pairs_of_large_nodes() {
    for seed in 0..3 {
        let mut draw = Seed(seed).derive("halves", 0).stream();
        let centres = Array2::from_shape_simple_fn((6, 6), || 5.0 * draw.normal());
        let x = Array2::from_shape_fn((240, 6), |(i, j)| centres[[i % 6, j]] + draw.normal());
        let questioner = QuestionerOptions::new(3).start(&x).unwrap();
        let mut blobs: Vec<[usize; 2]> = (questioner.propose(20).iter())
            .map(|q| [q.objects[0] % 6, q.objects[1] % 6])
            .filter(|[a, b]| a != b)
            .map(|[a, b]| [a.min(b), a.max(b)])
            .collect();
        blobs.sort_unstable();
        blobs.dedup();
        assert!(blobs.len() >= 5, "seed {seed}: {blobs:?}");
    }
}

#[test]
fn the_budget_is_kept_and_nothing_is_asked_twice_in_a_batch() {
    let (x, classes) = world(300, 2);
    for size in [2, 3, 5] {
        let options = QuestionerOptions::new(3).budget(37).group_size(size);
        let mut questioner = options.start(&x).unwrap();
        let mut objects: Vec<usize> =
            questioner.propose(10).into_iter().flat_map(|q| q.objects).collect();
        let asked = objects.len();
        objects.sort_unstable();
        objects.dedup();
        assert_eq!(objects.len(), asked);
        ask(&mut questioner, &classes, &[0.8, 0.8], 2);
        assert!(questioner.spent() <= 37, "{}", questioner.spent());
        assert!(questioner.is_done() && questioner.propose(3).is_empty());
    }
    let none = QuestionerOptions::new(3).budget(0).start(&x).unwrap();
    assert_eq!(none.stop(), Some(StopReason::Budget));
}

#[test]
fn a_high_price_stops_early() {
    let (x, classes) = world(120, 3);
    let mut spent = Vec::new();
    for price in [0.0, 0.5, 4.0, 1e9] {
        let options = QuestionerOptions::new(3).budget(200).price(price);
        let mut questioner = options.start(&x).unwrap();
        ask(&mut questioner, &classes, &[0.95; 3], 3);
        spent.push(questioner.spent());
        if price > 4.0 {
            assert_eq!(questioner.stop(), Some(StopReason::Price));
        }
    }
    assert!(spent.windows(2).all(|w| w[0] >= w[1]) && spent[3] == 0, "{spent:?}");
}

/// Whatever the size of questions, and where pairs were asked about before.
#[test]
fn the_best_question_comes_first_and_price_is_compared_with_it() {
    for seed in 0..4 {
        let (x, classes) = world(if seed % 2 == 0 { 24 } else { 120 }, seed);
        let options = QuestionerOptions::new(3).budget(300).seed(Seed(seed));
        let pair = options.start(&x).unwrap().propose(1)[0].gain;
        for size in [2, 3, 5] {
            let mut questioner = options.group_size(size).start(&x).unwrap();
            let least = if size == 2 { 1.0 } else { KEPT };
            assert!(questioner.propose(1)[0].gain > least * pair * (1.0 - 1e-6));
            for round in 0..12 {
                let all = questioner.propose(usize::MAX);
                let mut pairs = questioner.clone();
                pairs.options.group_size = 2;
                let pairs = pairs.propose(usize::MAX);
                let Some(most) = pairs.first() else { break };
                assert_eq!(questioner.propose(1), all[..1], "seed {seed}, {size}, {round}");
                assert!(pairs.is_sorted_by(|a, b| a.gain >= b.gain));
                assert_eq!(all[0].objects[..2], most.objects, "seed {seed}, {size}, {round}");
                // Until an answer costs more than the best pair brings.
                for (share, stop) in [(0.9, None), (1.1, Some(StopReason::Price))] {
                    let mut priced = questioner.clone();
                    priced.options.price = share * most.gain;
                    assert_eq!(priced.stop(), stop, "seed {seed}, {size}, {round}");
                }
                // They disagree, so that much stays in doubt.
                let answers = questioner.propose(4).into_iter().enumerate().map(|(q, question)| {
                    let groups: Vec<usize> = question.objects.iter().map(|&i| classes[i]).collect();
                    let other: Vec<usize> = (0..groups.len()).collect();
                    let said = if (q + round) % 2 == 0 { &groups } else { &other };
                    Answer::groups(q, &question.objects, said)
                });
                questioner.answer(&answers.collect::<Vec<_>>()).unwrap();
            }
        }
    }
}

/// Eight objects of which every pair is equally in doubt, and then one pair less.
#[test]
fn groups_are_asked_about_where_they_gain_enough() {
    let start = |size: usize, budget: usize| {
        let options = QuestionerOptions::new(7).group_size(size).budget(budget);
        let mut questioner = options.start(&Array2::<f64>::eye(8)).unwrap();
        questioner.joins.all = (0..8)
            .flat_map(|b| (0..b).map(move |a| [a, b]))
            .map(|nodes| Merge { nodes, likeness: 0.0, evidence: 0.0, odds: 0.3 })
            .collect();
        questioner
    };
    let pair = &start(2, 100).propose(1)[0];
    for size in [3, 4, 8] {
        let mut questioner = start(size, 100);
        let group = &questioner.propose(1)[0];
        assert_eq!(group.objects.len(), size);
        assert!((group.gain / pair.gain - 1.0).abs() < 1e-9, "{group:?} {pair:?}");
        let answers = (size - 1) as f64;
        assert!((group.information / (answers * pair.information) - 1.0).abs() < 1e-9);
        // No more objects than the budget has answers for.
        let few = start(size, 2).propose(5);
        assert_eq!(few.iter().map(|q| q.objects.len() - 1).sum::<usize>(), 2);
        // One pair is in far more doubt than all others: the two alone.
        let nodes = [3, 6];
        questioner.joins.all.iter_mut().filter(|m| m.nodes != nodes).for_each(|m| m.odds = 4.0);
        let best = &questioner.propose(1)[0];
        assert_eq!(best.objects.len(), 2, "{best:?}");
    }
}

#[test]
fn the_order_that_objects_are_named_in_means_nothing() {
    let (x, _) = world(150, 4);
    let mut left = QuestionerOptions::new(3).start(&x).unwrap();
    let mut right = left.clone();
    left.answer(&[Answer::pair(0, 3, 90, true), Answer::groups(1, &[5, 6, 7], &[1, 2, 1])])
        .unwrap();
    right
        .answer(&[Answer::pair(0, 90, 3, true), Answer::groups(1, &[7, 6, 5], &['a', 'b', 'a'])])
        .unwrap();
    assert_eq!(left.confidence(), right.confidence());
    assert_eq!(left.workers(), right.workers());
    assert_eq!(left.propose(20), right.propose(20));
}

#[test]
fn the_same_bits_at_any_number_of_threads() {
    let (x, classes) = world(1_200, 5);
    let run = || {
        let options = QuestionerOptions::new(3).budget(250).cells(60).seed(Seed(5));
        let mut questioner = options.start(&x).unwrap();
        ask(&mut questioner, &classes, &[0.9, 0.8], 5);
        (questioner.confidence(), questioner.partition().unwrap(), questioner.workers())
    };
    let on = |threads| {
        rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(run)
    };
    assert_eq!(on(1), on(3));
}

#[test]
fn bad_answers_and_settings_are_refused_and_nothing_is_lost() {
    let (x, _) = world(60, 6);
    let mut questioner = QuestionerOptions::new(3).start(&x).unwrap();
    questioner.answer(&[Answer::pair(0, 1, 2, true)]).unwrap();
    let before = (questioner.confidence(), questioner.propose(50), questioner.spent());
    let good = Answer::pair(0, 3, 4, true);
    let cases = [
        (Answer::pair(0, 1, 60, true), ErrorKind::OutOfRange),
        (Answer::pair(0, 7, 7, true), ErrorKind::InvalidParameter),
        (Answer::groups(0, &[1], &[0]), ErrorKind::InvalidParameter),
        (Answer::groups(0, &[1, 2, 3], &[0, 0]), ErrorKind::ShapeMismatch),
    ];
    for (bad, kind) in cases {
        let error = questioner.answer(&[good.clone(), bad]).unwrap_err();
        assert_eq!(error.kind(), kind, "{error}");
        let after = (questioner.confidence(), questioner.propose(50), questioner.spent());
        assert_eq!(before, after);
    }
    let options = QuestionerOptions::new(3);
    let refused = [
        QuestionerOptions::new(0),
        QuestionerOptions::new(61),
        QuestionerOptions::new(Clusters::Lifetime),
        options.price(-1.0),
        options.price(f64::NAN),
        options.group_size(1),
        options.group_size(21),
        options.cells(2),
    ];
    assert!(refused.iter().all(|o| o.start(&x).is_err()));
    assert!(options.start(&array![[0.0], [f64::NAN], [1.0]]).is_err());
}

#[test]
fn objects_that_are_equal_or_few_do_no_harm() {
    let equal = Array2::<f64>::ones((40, 2));
    let mut questioner = QuestionerOptions::new(3).start(&equal).unwrap();
    questioner.answer(&[Answer::pair(0, 1, 2, true), Answer::pair(1, 1, 2, false)]).unwrap();
    assert!(questioner.partition().unwrap().n_clusters() <= 3);
    let one = QuestionerOptions::new(1).start(&array![[1.0, 2.0]]).unwrap();
    assert_eq!(one.partition().unwrap().n_clusters(), 1);
    assert_eq!(one.stop(), Some(StopReason::Decided));
    // Fewer places than clusters, each with objects enough: there are as many as asked for.
    for (places, objects, clusters, cells) in [(5, 4, 8, 8), (5, 4, 7, 8), (30, 10, 40, 120)] {
        let x = Array2::from_shape_fn((places * objects, 1), |(i, _)| (i % places) as f64 / 7.0);
        let options = QuestionerOptions::new(clusters).cells(cells);
        let found = options.start(&x).unwrap().partition().unwrap();
        assert_eq!(found.n_clusters(), clusters, "{places} places of {objects}");
    }
    // Large numbers are no others.
    let (x, _) = world(90, 8);
    let labels = |x: &Array2<f64>| {
        QuestionerOptions::new(3).start(x).unwrap().partition().unwrap().to_signed()
    };
    assert_eq!(labels(&x), labels(&(&x * 2f64.powi(600))));
}

/// Objects in few directions, of unit length: those of one direction are equal but for rounding.
#[test]
fn groups_that_are_equal_but_for_rounding_stay_whole() {
    for (k, d) in [(3, 5), (2, 4)] {
        for seed in 0..6 {
            let mut draw = Seed(seed).derive("directions", 0).stream();
            let directions = Array2::from_shape_simple_fn((k, d), || draw.normal());
            let mut x = Array2::<f64>::zeros((60, d));
            for (i, mut row) in x.rows_mut().into_iter().enumerate() {
                row.assign(&(&directions.row(i % k) * (1.0 + draw.uniform())));
                let norm = row.dot(&row).sqrt();
                row /= norm;
            }
            let options = QuestionerOptions::new(k).budget(9).seed(Seed(seed));
            let mut questioner = options.start(&x).unwrap();
            let whole = |questioner: &Questioner| {
                let labels = questioner.partition().unwrap();
                (0..60).all(|i| labels.label(i) == labels.label(i % k))
            };
            assert!(whole(&questioner), "{k}, seed {seed}");
            questioner.answer(&[Answer::pair(0, 0, 1, false)]).unwrap();
            assert!(whole(&questioner), "{k}, seed {seed}");
            assert!(questioner.confidence().iter().all(|c| (0.0..=1.0).contains(c)));
            assert!(questioner.propose(9).iter().all(|q| q.gain.is_finite()));
        }
    }
    // Without a lapse a likeness of any size has odds.
    let odds = Odds { offset: 0.0, slope: 2.5, lapse: 0.0 };
    for likeness in [-400.0, -1.0, 20.0, 400.0] {
        assert!((odds.of(likeness) - 2.5025 * likeness).abs() < 1e-9);
    }
}

#[test]
fn answers_keep_to_the_memory_budget() {
    let (x, _) = world(300, 1);
    let options = QuestionerOptions::new(3).memory_budget(MemoryBudget::bytes(6_000_000));
    let mut questioner = options.start(&x).unwrap();
    let all: Vec<usize> = (0..300).collect();
    // 44,850 pairs of 256 bytes.
    let error = questioner.answer(&[Answer::groups(0, &all, &all)]).unwrap_err();
    assert_eq!((error.kind(), questioner.spent()), (ErrorKind::TooLarge, 0));
    questioner.answer(&[Answer::groups(0, &all[..20], &all[..20])]).unwrap();
    assert_eq!(questioner.spent(), 19);
}

/// Asks to stop from the given query on.
struct StopFrom(usize, AtomicUsize);

impl Observer for StopFrom {
    fn cancelled(&self) -> bool {
        self.1.fetch_add(1, Ordering::Relaxed) >= self.0
    }
}

#[test]
fn cancelled_while_the_metric_is_learned_again_it_is_as_before() {
    let (x, classes) = world(120, 2);
    let mut before = QuestionerOptions::new(12).cells(40).seed(Seed(1)).start(&x).unwrap();
    let said = |i: usize| {
        let j = (i * 7 + 1 + i / 60) % 120;
        Answer::pair(i % 3, i, j, classes[i] == classes[j])
    };
    let said: Vec<Answer> = (0..120).map(said).collect();
    before.answer(&said[..60]).unwrap();
    let seen = |q: &Questioner| (q.spent(), q.confidence(), q.workers(), q.propose(20));
    let mut whole = before.clone();
    whole.answer(&said[60..]).unwrap();
    let mut again = before.clone();
    let mut refused = 0;
    loop {
        let stop = StopFrom(refused, AtomicUsize::new(0));
        match again.answer_observed(&said[60..], &stop) {
            Ok(()) => break,
            Err(error) => assert_eq!(error.kind(), ErrorKind::Cancelled),
        }
        assert_eq!(seen(&again), seen(&before));
        refused += 1;
    }
    // Before the map, before the cells and in each iteration of these.
    assert!(refused > 3, "{refused}");
    assert_eq!(seen(&again), seen(&whole));
    assert_ne!(seen(&again), seen(&before));
}

#[test]
fn repeated_answers_count_less_than_those_of_others() {
    let evidence = |workers: &[usize]| {
        let mut evidence = Evidence::new(Odds { offset: 0.0, slope: 1.0, lapse: 0.01 });
        for &worker in workers {
            evidence.add((0, 1), Vote { worker, same: true, weight: 1.0 }, Some(0.0));
        }
        let asked = &evidence.asked[&(0, 1)];
        evidence.of(asked, 1.0)
    };
    let once = evidence(&[4]);
    assert!((once - (0.85f64 / 0.15).ln()).abs() < 1e-12);
    // Five at a correlation of a half count as 5 / 3.
    assert!((evidence(&[4; 5]) - once * 5.0 / 3.0).abs() < 1e-12);
    assert!((evidence(&[1, 2, 3, 4, 5]) - once * 5.0).abs() < 1e-12);
}

/// A worker who always says the same of a question is seen to, and so is one who draws lots.
#[test]
fn the_correlation_of_repeated_answers_is_estimated() {
    let mut evidence = Evidence::new(Odds { offset: 0.0, slope: 1.0, lapse: 0.01 });
    let mut draw = Seed(3).stream();
    for pair in 0..80usize {
        let together = pair.is_multiple_of(2);
        let likeness = Some(if together { 4.0 } else { -4.0 });
        let stubborn = together == (draw.uniform() < 0.8);
        for _ in 0..5 {
            let fresh = together == (draw.uniform() < 0.8);
            for (worker, same) in [(0, stubborn), (1, fresh)] {
                evidence.add((pair, 1_000), Vote { worker, same, weight: 1.0 }, likeness);
            }
        }
    }
    evidence.estimate();
    let table = evidence.table();
    assert!(table[0].repeat_correlation > 0.9, "{table:?}");
    assert!(table[1].repeat_correlation < 0.2, "{table:?}");
    assert!(table.iter().all(|w| (w.same_together - 0.8).abs() < 0.12), "{table:?}");
}

/// Features that say nothing, and all answers at once, a tenth of them wrong: by what distances
/// tell of the pairs workers would be taken to guess.
#[test]
fn answers_are_understood_from_other_starts_too() {
    for seed in 0..3 {
        let mut draw = Seed(seed).derive("noise", 0).stream();
        let x = Array2::from_shape_simple_fn((60, 4), || draw.normal());
        let classes: Vec<usize> = (0..60).map(|i| i % 3).collect();
        let mut say = || {
            let i = draw.below(60);
            let j = (i + 1 + draw.below(59)) % 60;
            let same = (classes[i] == classes[j]) == (draw.uniform() < 0.9);
            Answer::pair(draw.below(4), i, j, same)
        };
        let said: Vec<Answer> = (0..1_000).map(|_| say()).collect();
        let mut questioner = QuestionerOptions::new(3).start(&x).unwrap();
        questioner.answer(&said).unwrap();
        assert!(nmi(&questioner.partition().unwrap(), &classes) > 0.95, "seed {seed}");
    }
}

/// Features that say little beside groups that workers form, a tenth of their labels at random: by
/// pairs that count 2 / s each, workers would be taken to guess.
#[test]
fn groups_that_workers_form_are_believed_where_features_say_little() {
    for seed in 0..3 {
        let mut draw = Seed(seed).derive("overlap", 0).stream();
        let centres = Array2::from_shape_simple_fn((4, 4), || 3.0 * draw.normal());
        let x = Array2::from_shape_fn((70, 4), |(i, j)| centres[[i % 4, j]] + 3.0 * draw.normal());
        let said: Vec<Answer> = (0..24)
            .map(|task| {
                let objects = draw.sample(70, 10);
                let right = |i: &usize| if draw.uniform() < 0.1 { draw.below(4) } else { i % 4 };
                let groups: Vec<usize> = objects.iter().map(right).collect();
                Answer::groups(task % 8, &objects, &groups)
            })
            .collect();
        let mut questioner = QuestionerOptions::new(4).start(&x).unwrap();
        questioner.answer(&said).unwrap();
        let classes: Vec<usize> = (0..70).map(|i| i % 4).collect();
        assert!(nmi(&questioner.partition().unwrap(), &classes) > 0.75, "seed {seed}");
        for worker in questioner.workers() {
            assert!(worker.informedness() > 0.5, "seed {seed}: {worker:?}");
        }
    }
}

/// The entropy of a grouping of s objects of k equal clusters, as a share of that of its pairs.
/// Two features tell the classes, six tell four other groups that lie farther apart: a metric from
/// the features alone sees these, one from the answers does not.
#[test]
fn answers_teach_which_features_matter() {
    for (seed, cells) in [(0, 150), (1, 60)] {
        let mut draw = Seed(seed).derive("other groups", 0).stream();
        let classes: Vec<usize> = (0..150).map(|i| i % 3).collect();
        let x = Array2::from_shape_fn((150, 8), |(i, j)| {
            let place = if j < 2 {
                [[0.0, 0.0], [6.0, 0.0], [0.0, 6.0]][classes[i]][j]
            } else {
                if i / 3 % 4 == j - 2 { 15.0 } else { 0.0 }
            };
            place + draw.normal()
        });
        let answers: Vec<Answer> = (0..200)
            .map(|_| {
                let i = (draw.uniform() * 150.0) as usize;
                let j = (i + 1 + (draw.uniform() * 149.0) as usize) % 150;
                Answer::pair(0, i, j, classes[i] == classes[j])
            })
            .collect();
        let mut questioner = QuestionerOptions::new(3).cells(cells).start(&x).unwrap();
        let before = nmi(&questioner.partition().unwrap(), &classes);
        questioner.answer(&answers).unwrap();
        let after = nmi(&questioner.partition().unwrap(), &classes);
        assert!(before < 0.1 && after > 0.8, "{cells}: {before} {after}");
    }
}

#[test]
fn pairs_of_a_group_count_what_the_group_tells() {
    let x = Array2::from_shape_fn((24, 1), |(i, _)| i as f64);
    for k in 2..=20 {
        let questioner = QuestionerOptions::new(k).start(&x).unwrap();
        // How many groupings of so many objects there are into so many groups.
        let mut groupings = vec![1.0];
        for s in 1..=20 {
            let of = |g: usize| groupings.get(g).copied().unwrap_or(0.0);
            groupings =
                (0..=s).map(|g| g as f64 * of(g) + g.checked_sub(1).map_or(0.0, of)).collect();
            if s < 2 {
                groupings[0] = 0.0;
                continue;
            }
            let entropy: f64 = (1..=s.min(k))
                .map(|g| {
                    let named: f64 = (k - g + 1..=k).map(|f| f as f64).product();
                    let p = named / (k as f64).powi(s as i32);
                    -groupings[g] * p * p.ln()
                })
                .sum();
            let same = 1.0 / k as f64;
            let pair = -same * same.ln() - (1.0 - same) * (1.0 - same).ln();
            let share = entropy / (pair * (s * (s - 1)) as f64 / 2.0);
            assert!((questioner.weight(s) - share).abs() < 0.04, "{s} of {k}: {share}");
        }
    }
    let one = QuestionerOptions::new(1).start(&x).unwrap();
    assert_eq!((one.weight(2), one.weight(10)), (1.0, 0.2));
}

/// Clusters that a worker's repeated answers contradict make these look correlated, and must not be
/// the more probable for it.
#[test]
fn repeated_answers_count_alike_for_both_clusterings_that_are_compared() {
    for (times, right) in [(3, 0.8), (5, 0.8), (10, 0.9)] {
        let mut draw = Seed(6).stream();
        let mut known = Evidence::new(Odds { offset: 0.0, slope: 2.5, lapse: 0.05 });
        let together = |i: usize| i.is_multiple_of(2);
        let unrelated = |i: usize| (i / 2).is_multiple_of(2);
        for i in 0..60 {
            for _ in 0..times {
                let same = together(i) == (draw.uniform() < right);
                known.add((2 * i, 2 * i + 1), Vote { worker: 0, same, weight: 1.0 }, None);
            }
        }
        let by = |clusters: &dyn Fn(usize) -> bool| {
            let mut known = known.clone();
            for (pair, asked) in &mut known.asked {
                asked.elsewhere = if clusters(pair.0 / 2) { 20.0 } else { -20.0 };
            }
            known.estimate();
            known
        };
        let (truth, other) = (by(&together), by(&unrelated));
        let of_truth = truth.log_posterior(&other, |i, _| (together(i / 2), 1.0));
        let of_other = other.log_posterior(&truth, |i, _| (unrelated(i / 2), 1.0));
        assert!(of_truth > of_other + 20.0, "{times} times: {of_truth} and {of_other}");
    }
}

/// Where labels are given what belongs together is joined before what does not, however far apart
/// it lies.
#[test]
fn sound_joins_of_given_labels_come_first() {
    let odds = Odds { offset: 0.0, slope: 2.0, lapse: 0.02 };
    // The first two lie apart and are told to belong together; the other two lie nearer, and are
    // told that they do not.
    let centres = array![[0.0], [9.0], [100.0], [101.2]];
    let evidence = BTreeMap::from([((0, 1), 9.0), ((2, 3), -1.0)]);
    let tree = Tree::within(&Places::new(&centres, &[1.0; 4], odds), &evidence, &[0, 0, 1, 1]);
    assert_eq!(tree.merges[0].nodes, [0, 1]);
    assert_eq!(tree.sound(), 1);
}

/// The tree by its definition: all pairs of nodes, anew at every merge.
#[test]
fn the_tree_equals_the_definition() {
    let mut draw = Seed(9).stream();
    let odds = Odds { offset: 0.5, slope: 2.0, lapse: 0.02 };
    for m in [1usize, 2, 3, 9, 24] {
        let centres = Array2::from_shape_fn((m, 3), |_| draw.normal());
        let sizes: Vec<f64> = (0..m).map(|_| 1.0 + draw.below(9) as f64).collect();
        let mut evidence = BTreeMap::new();
        for _ in 0..m {
            let (a, b) = (draw.below(m), draw.below(m));
            if a != b {
                evidence.insert((a.min(b), a.max(b)), 3.0 * draw.normal());
            }
        }
        let tree = Tree::new(&Places::new(&centres, &sizes, odds), &evidence);
        let mean = sizes.iter().sum::<f64>() / m as f64;
        let mut nodes: Vec<Vec<usize>> = (0..m).map(|c| vec![c]).collect();
        for merge in &tree.merges {
            let mut best = (f64::NEG_INFINITY, 0, 0);
            let mut odds_of_best = 0.0;
            for a in 0..nodes.len() {
                for b in 0..a {
                    let (na, nb) = (&nodes[a], &nodes[b]);
                    let size = |n: &[usize]| n.iter().map(|&c| sizes[c]).sum::<f64>();
                    let squared: f64 = (0..3)
                        .map(|j| {
                            let at = |n: &[usize]| {
                                n.iter().map(|&c| sizes[c] * centres[[c, j]]).sum::<f64>() / size(n)
                            };
                            (at(na) - at(nb)).powi(2)
                        })
                        .sum();
                    let common = 2.0 * size(na) * size(nb) / (size(na) + size(nb)) / mean;
                    let said: f64 = na
                        .iter()
                        .flat_map(|&c| nb.iter().map(move |&d| (c.min(d), c.max(d))))
                        .filter_map(|pair| evidence.get(&pair))
                        .sum();
                    let value = odds.of(-(squared * common.powf(0.6)).ln()) + said;
                    let smaller = size(na).min(size(nb)) / mean;
                    let order = if value > 0.0 { value } else { value * smaller };
                    if order > best.0 {
                        best = (order, a, b);
                        odds_of_best = value;
                    }
                }
            }
            assert!((merge.odds - odds_of_best).abs() < 1e-9 * (1.0 + odds_of_best.abs()), "{m}");
            let taken = nodes.remove(best.1);
            nodes[best.2].extend(taken);
        }
        assert_eq!(nodes.len(), 1);
        // Cuts are nested, and every cell comes to its larger part by its own joins.
        for k in 1..=m {
            let labels = tree.labels(tree.made_for(k));
            assert_eq!(labels.iter().max().map(|&l| l as usize + 1), Some(k));
        }
        let sure = tree.belonging(m - 1);
        assert!(sure.iter().all(|s| (0.0..=1.0).contains(s)) && sure.contains(&1.0));
        if m == 2 {
            let small = usize::from(sizes[0] >= sizes[1]);
            assert!((sure[small] - sigmoid(tree.merges[0].odds)).abs() < 1e-12);
        }
    }
}
