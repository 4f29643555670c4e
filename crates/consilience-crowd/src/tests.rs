use consilience_completion::{
    ObservedPairs, Penalty, Rdml, RobustCompletion, SampleSimilarity, Smoothing,
};
use consilience_conformance::same_columns;
use consilience_core::scores::{Normalizer, normalized_mutual_information};
use consilience_core::{
    Clusters, ErrorKind, MemoryBudget, Observer, Partition, Seed, SideInformation, scores,
};
use ndarray::Array2;

use crate::block_model::crowd;
use crate::{
    AnswerCounts, Answers, BlockModel, CrowdClustering, CrowdMethod, GroupAnswer, PairAnswer,
    PenaltyChoice, PositionModel, SemiCrowd,
};

pub(crate) const ALL: [CrowdMethod; 11] = [
    CrowdMethod::Auto,
    CrowdMethod::Block,
    CrowdMethod::BlockByWorker,
    CrowdMethod::LatentClass,
    CrowdMethod::Bayesian,
    CrowdMethod::LogOdds,
    CrowdMethod::Rmc,
    CrowdMethod::Spectral,
    CrowdMethod::DawidSkene,
    CrowdMethod::Pairs,
    CrowdMethod::PlantedPartition,
];

fn truth(n: usize, k: usize) -> Partition {
    Partition::from_fn(n, |i| Some((i % k) as u64)).unwrap()
}

fn nmi(a: &Partition, b: &Partition) -> f64 {
    normalized_mutual_information(a, b, Normalizer::Arithmetic).unwrap()
}

fn quick(k: usize, method: CrowdMethod) -> CrowdClustering {
    CrowdClustering::new(k).method(method).block_model(BlockModel::new(k).restarts(4))
}

#[test]
fn every_method_finds_a_clear_structure() {
    let answers = Answers::from_groupings(60, &crowd(3, 60, 20, (4, 12), 0.05, 0, 1)).unwrap();
    for method in ALL {
        let found = quick(3, method).fit(&answers, &()).unwrap().output;
        assert!(nmi(&found.partition, &truth(60, 3)) > 0.95, "{method:?}");
        assert!(found.method != CrowdMethod::Auto && found.workers.len() == 20);
        assert_eq!(found.memberships.n_objects(), 60);
    }
}

/// Thirty classes in tasks of eight: block models find 15 to 21 of them.
#[test]
fn many_classes_are_found_in_small_groups() {
    for seed in 0..2 {
        let rows = crowd(30, 120, 20, (8, 8), 0.1, 0, seed);
        let answers = Answers::from_groupings(120, &rows).unwrap();
        let ari = |clusters: Clusters, method| {
            let crowd = CrowdClustering::new(clusters).method(method);
            scores::adjusted_rand(&truth(120, 30), &crowd.cluster(&answers).unwrap()).unwrap()
        };
        for clusters in [Clusters::Fixed(30), Clusters::Auto] {
            let (auto, block) =
                (ari(clusters, CrowdMethod::Auto), ari(clusters, CrowdMethod::Block));
            assert!(auto > block + 0.05 && auto > 0.3, "{clusters:?}: {auto:.2}, {block:.2}");
        }
    }
}

/// Workers who never err about a ring of two halves, each object compared with the next three.
fn ring(n: usize) -> Answers {
    let pair = |worker, i, step| {
        let j = (i + step) % n;
        PairAnswer { worker, i, j, same: (i < n / 2) == (j < n / 2) }
    };
    let rows = (0..6).flat_map(|w| (0..n).flat_map(move |i| (1..4).map(move |s| (w, i, s))));
    let rows: Vec<PairAnswer> = rows.map(|(w, i, s)| pair(w, i, s)).collect();
    Answers::from_pairs(n, &rows).unwrap()
}

#[test]
fn a_block_model_of_as_many_clusters_as_objects_finds_those_there_are() {
    for n in [12, 20] {
        let answers = ring(n);
        for k in [2, 3, n / 2 + 1, n - 2, n - 1, n] {
            let found = BlockModel::new(k).fit(&answers, &()).unwrap().output;
            let halves = Partition::from_fn(n, |i| Some((2 * i / n) as u64)).unwrap();
            assert_eq!(found.partition.to_signed(), halves.to_signed(), "{n} {k}");
        }
    }
}

/// A worker who puts everything into one group has evidence like others, and is named.
#[test]
fn who_always_says_the_same_has_finite_evidence() {
    for seed in 0..12 {
        let mut rows = crowd(4, 40, 7, (3, 12), 0.1, 0, seed);
        rows.extend((0..40).map(|item| GroupAnswer { worker: 7, task: 99, item, group: 0 }));
        let answers = Answers::from_groupings(40, &rows).unwrap();
        for method in ALL {
            let found = quick(4, method).fit(&answers, &()).unwrap().output;
            let finite = |v: f64| v.is_finite();
            let all = found.workers.iter();
            assert!(all.clone().all(|w| finite(w.evidence) && finite(w.own_information)));
            let named: Vec<usize> = found.spammers().map(|w| w.worker).collect();
            assert!(named.contains(&7), "{seed} {method:?}: {named:?}");
        }
    }
}

/// Label j of the partition, column j of the memberships, entry j of the rates.
#[test]
fn column_j_is_label_j() {
    // The first objects are of the last cluster, and nobody saw the very first.
    let mut rows = crowd(3, 60, 20, (4, 12), 0.1, 0, 1);
    rows.retain(|r| r.item > 1);
    let answers = Answers::from_groupings(60, &rows).unwrap();
    for method in ALL {
        let found = quick(3, method).fit(&answers, &()).unwrap().output;
        same_columns(&found.partition, &found.memberships);
        let q = found.memberships.values();
        for (i, label) in found.partition.iter().enumerate() {
            assert_eq!(label.is_some(), i > 1, "{method:?} {i}");
            let Some(label) = label else { continue };
            let row = q.row(i);
            assert!(row.iter().all(|&x| x <= row[label]), "{method:?} {i}: {row}");
        }
        assert_eq!(found.partition.label(2), Some(0), "{method:?}");
    }
    // Objects of cluster 2 are called the same less readily than those of the others.
    for row in rows.iter_mut().filter(|r| r.item % 3 == 2 && r.worker % 2 == 0) {
        row.group = 10 + row.item;
    }
    let answers = Answers::from_groupings(60, &rows).unwrap();
    let found = BlockModel::new(3).pseudo_count(1.0).fit(&answers, &()).unwrap().output;
    let least =
        (0..3).min_by(|&a, &b| found.cluster_rates[a].total_cmp(&found.cluster_rates[b])).unwrap();
    let of_label = (2..60).filter(|&i| found.partition.label(i) == Some(least));
    let wrong = of_label.filter(|i| i % 3 != 2).count();
    assert!(wrong < 5, "{wrong} {:?}", found.cluster_rates);
    for j in 0..3 {
        assert_eq!(found.between_rates[[j, j]], found.cluster_rates[j]);
    }
}

#[test]
fn planted_crowds_of_a_thousand_are_found() {
    for (workers, wrong, least) in [(100, 0.1, 0.935), (400, 0.3, 0.99)] {
        let rows = crowd(10, 1_000, workers, (1, 50), wrong, 0, 7);
        let answers = Answers::from_groupings(1_000, &rows).unwrap();
        let crowd = CrowdClustering::new(10).method(CrowdMethod::Block);
        let score = nmi(&crowd.cluster(&answers).unwrap(), &truth(1_000, 10));
        println!("{workers} workers, {wrong} wrong: {score:.4}");
        assert!(score >= least, "{workers}: {score}");
    }
}

#[test]
fn many_small_clusters_of_single_pairs_go_by_planted_partitions() {
    // 150 pairs of twins; for each its own pair and five others are judged by three of 40 workers.
    let mut stream = Seed(8).stream();
    let mut rows = Vec::new();
    for twin in 0..150 {
        for other in 0..6 {
            let (i, j) = (2 * twin, if other == 0 { 2 * twin + 1 } else { stream.below(300) });
            for worker in stream.sample(40, 3) {
                let same = (i / 2 == j / 2) != (stream.uniform() < 0.1);
                if i != j {
                    rows.push(PairAnswer { worker, i, j, same });
                }
            }
        }
    }
    let answers = Answers::from_pairs(300, &rows).unwrap();
    let twins = Partition::from_fn(300, |i| Some((i / 2) as u64)).unwrap();
    let fit = CrowdClustering::new(150).fit(&answers, &()).unwrap();
    let clusters = fit.output.partition.n_clusters();
    assert_eq!((fit.output.method, clusters), (CrowdMethod::PlantedPartition, 150));
    let score = nmi(&fit.output.partition, &twins);
    let pairs = CrowdClustering::new(150).method(CrowdMethod::Pairs);
    let pairs = nmi(&pairs.cluster(&answers).unwrap(), &twins);
    assert!(score > 0.98 && pairs > 0.98, "{score} {pairs}");
    assert!(fit.output.crowd_rates.same_together > 0.8 && fit.output.crowd_rates.same_apart < 0.2);
}

#[test]
fn single_answers_do_not_mislead_dawid_and_skene() {
    // Nearly every pair has one answer, of workers who are right in three of four.
    let rows = crowd(4, 160, 80, (60, 2), 0.25, 0, 9);
    let answers = Answers::from_groupings(160, &rows).unwrap();
    let score = |method| nmi(&quick(4, method).cluster(&answers).unwrap(), &truth(160, 4));
    let (latent, mean) = (score(CrowdMethod::DawidSkene), score(CrowdMethod::Spectral));
    println!("{latent} {mean}");
    assert!(latent > mean - 0.05 && latent > 0.6, "{latent} {mean}");
}

/// Half of the pairs lie inside clusters, and so do nearly all that are asked about again.
#[test]
fn pairs_asked_about_again_may_be_of_one_kind() {
    let mut stream = Seed(4).stream();
    let rows: Vec<PairAnswer> = (0..40_000)
        .map(|at| {
            let i = stream.below(1_000);
            let inside = stream.below(125) * 8 + i % 8;
            let j = if at % 2 == 0 { inside } else { stream.below(1_000) };
            let j = if i == j { (j + 8) % 1_000 } else { j };
            let same = (i % 8 == j % 8) != (stream.uniform() < 0.1);
            PairAnswer { worker: at % 40, i, j, same }
        })
        .collect();
    let answers = Answers::from_pairs(1_000, &rows).unwrap();
    let score = |method| nmi(&quick(8, method).cluster(&answers).unwrap(), &truth(1_000, 8));
    let (latent, mean) = (score(CrowdMethod::DawidSkene), score(CrowdMethod::Spectral));
    assert!(latent > 0.78 && score(CrowdMethod::Auto) > 0.95, "{latent} {mean}");
}

#[test]
fn spammers_are_named_and_nobody_else() {
    let answers = Answers::from_groupings(80, &crowd(4, 80, 30, (6, 8), 0.1, 6, 2)).unwrap();
    let found = quick(4, CrowdMethod::Block).fit(&answers, &()).unwrap().output;
    assert_eq!(
        found.spammers().map(|w| w.worker).collect::<Vec<_>>(),
        (24..30).collect::<Vec<_>>()
    );
    assert!(found.alternative.is_none());
    let asked = found.ask_pairs(&answers, 5).unwrap();
    assert!(asked.len() <= 5 && asked.windows(2).all(|w| w[0].information >= w[1].information));
}

#[test]
fn a_second_criterion_is_found_where_there_is_one() {
    // Thirty workers sort by i % 3, twelve by i / 20. Some crowds are too few to be sure.
    let other = Partition::from_fn(60, |i| Some((i / 20) as u64)).unwrap();
    let mut seen = 0;
    for draw in 1..9 {
        let mut rows = crowd(3, 60, 42, (4, 8), 0.05, 0, draw);
        for row in rows.iter_mut().filter(|r| r.worker >= 30) {
            row.group = row.item / 20;
        }
        let answers = Answers::from_groupings(60, &rows).unwrap();
        let found = quick(3, CrowdMethod::Block).fit(&answers, &()).unwrap().output;
        assert!(nmi(&found.partition, &truth(60, 3)) > 0.9, "{draw}");
        let Some(second) = found.alternative else { continue };
        seen += 1;
        assert_eq!(second.workers, (30..42).collect::<Vec<_>>(), "{draw}");
        assert!(nmi(&second.partition, &other) > 0.85 && second.significance > 4.0, "{draw}");
    }
    // By standard errors about 0, as once, 5.
    assert!(seen >= 7, "{seen} of 8");
}

#[test]
fn order_of_rows_and_threads_change_no_bit() {
    let rows = crowd(3, 40, 12, (3, 7), 0.2, 2, 4);
    let answers = Answers::from_groupings(41, &rows).unwrap();
    let mut turned = rows.clone();
    turned.reverse();
    for row in &mut turned {
        row.group = 50 - row.group;
        row.task += 9;
    }
    let turned = Answers::from_groupings(41, &turned).unwrap();
    for method in ALL {
        let on = |threads: usize, answers: &Answers| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| quick(3, method).fit(answers, &()).unwrap().output.memberships)
        };
        let one = on(1, &answers);
        assert_eq!(one, on(3, &answers), "{method:?}");
        assert_eq!(one, on(2, &turned), "{method:?}");
    }
}

#[test]
fn workers_and_objects_in_another_order_are_grouped_alike() {
    let rows = crowd(3, 40, 12, (3, 10), 0.05, 0, 5);
    let moved: Vec<GroupAnswer> = rows
        .iter()
        .map(|r| GroupAnswer { worker: 100 - r.worker, item: (r.item * 7 + 3) % 40, ..*r })
        .collect();
    for method in ALL {
        let plain = quick(3, method).cluster(&Answers::from_groupings(40, &rows).unwrap()).unwrap();
        let moved =
            quick(3, method).cluster(&Answers::from_groupings(40, &moved).unwrap()).unwrap();
        let back = moved.select(&(0..40).map(|i| (i * 7 + 3) % 40).collect::<Vec<_>>()).unwrap();
        assert_eq!(plain, back, "{method:?}");
    }
}

#[test]
fn strange_crowds_are_answered() {
    let pair = |worker, i, j, same| PairAnswer { worker, i, j, same };
    let crowds: Vec<(&str, Answers)> = vec![
        (
            "one item",
            Answers::from_groupings(1, &[GroupAnswer { worker: 0, task: 0, item: 0, group: 0 }])
                .unwrap(),
        ),
        ("nothing compared", Answers::from_pairs(3, &[pair(0, 1, 1, true)]).unwrap()),
        ("one pair", Answers::from_pairs(2, &[pair(0, 0, 1, true)]).unwrap()),
        (
            "one worker, all the same",
            Answers::from_groupings(8, &crowd(1, 8, 1, (1, 8), 0.0, 0, 1)).unwrap(),
        ),
        ("all apart", Answers::from_groupings(6, &crowd(6, 6, 2, (1, 6), 0.0, 0, 1)).unwrap()),
        (
            "contradictory",
            Answers::from_pairs(
                4,
                &[
                    pair(0, 0, 1, true),
                    pair(0, 0, 1, false),
                    pair(1, 1, 2, true),
                    pair(1, 2, 0, false),
                    pair(0, 2, 3, true),
                    pair(1, 2, 3, false),
                ],
            )
            .unwrap(),
        ),
        (
            "disconnected",
            Answers::from_pairs(
                9,
                &[
                    pair(0, 0, 1, true),
                    pair(0, 2, 3, true),
                    pair(1, 4, 5, true),
                    pair(1, 6, 7, false),
                ],
            )
            .unwrap(),
        ),
    ];
    for (name, answers) in &crowds {
        let n = answers.n_objects();
        for method in ALL {
            for k in [1, 2.min(n), n] {
                let fit = quick(k, method).fit(answers, &()).unwrap();
                let p = &fit.output.partition;
                assert_eq!(p.n_labelled(), answers.answered().len(), "{name} {method:?} {k}");
                assert!(p.n_clusters() <= k && fit.output.memberships.n_objects() == n);
                assert_eq!(fit.report.clusters_missing.is_some(), p.n_clusters() < k);
            }
            assert_eq!(
                quick(0, method).fit(answers, &()).unwrap_err().kind(),
                ErrorKind::InvalidParameter
            );
            assert_eq!(
                quick(n + 1, method).fit(answers, &()).unwrap_err().kind(),
                ErrorKind::InvalidParameter
            );
        }
    }
}

#[test]
fn duplicates_stay_together() {
    // Objects i and i + 20 are answered alike by everybody.
    let mut rows = crowd(2, 20, 8, (3, 8), 0.1, 0, 6);
    rows.extend(rows.clone().into_iter().map(|r| GroupAnswer { item: r.item + 20, ..r }));
    let answers = Answers::from_groupings(40, &rows).unwrap();
    for method in ALL {
        let p = quick(2, method).cluster(&answers).unwrap();
        assert!((0..20).all(|i| p.label(i) == p.label(i + 20)), "{method:?}");
    }
}

#[test]
fn limits_and_options_are_checked() {
    let answers = Answers::from_groupings(6, &crowd(2, 6, 3, (2, 4), 0.3, 0, 1)).unwrap();
    let kind = |c: CrowdClustering| c.fit(&answers, &()).unwrap_err().kind();
    let new = || CrowdClustering::new(2);
    assert_eq!(kind(new().memory_budget(MemoryBudget::bytes(64))), ErrorKind::TooLarge);
    assert_eq!(kind(new().thresholds(0.5, 0.5)), ErrorKind::InvalidParameter);
    assert_eq!(kind(new().thresholds(f64::NAN, 0.9)), ErrorKind::InvalidParameter);
    assert_eq!(
        kind(new().penalty(PenaltyChoice::Factor(f64::INFINITY))),
        ErrorKind::InvalidParameter
    );
    for choice in [PenaltyChoice::Factor(3.0), PenaltyChoice::HeldOut, PenaltyChoice::Balance] {
        let fit = new()
            .method(CrowdMethod::Rmc)
            .penalty(choice)
            .seed(Seed(3))
            .fit(&answers, &())
            .unwrap();
        assert!(fit.output.penalty_factor.is_some());
    }
}

#[test]
fn cancelled_from_the_first_question() {
    struct Stop;
    impl Observer for Stop {
        fn cancelled(&self) -> bool {
            true
        }
    }
    let answers = Answers::from_groupings(20, &crowd(2, 20, 3, (2, 6), 0.0, 0, 1)).unwrap();
    for method in ALL {
        assert_eq!(quick(2, method).fit(&answers, &Stop).unwrap_err().kind(), ErrorKind::Cancelled);
    }
}

/// Ninety objects in three groups, which three of four columns distinguish; eight workers sort the
/// first forty and make one mistake in ten: as answers about all, and about the forty alone.
fn annotated() -> (Array2<f64>, [Answers; 2], Partition) {
    let mut draw = Seed(5).stream();
    let x = Array2::from_shape_fn((90, 4), |(i, j)| {
        let far = if i % 3 == j { 4.0 } else { 0.0 };
        far + draw.normal() * if j < 3 { 0.5 } else { 1.5 }
    });
    let mut rows = Vec::new();
    for worker in 0..8 {
        for item in 0..40 {
            let group = if draw.uniform() < 0.1 { draw.below(3) } else { item % 3 };
            rows.push(GroupAnswer { worker, task: 0, item, group });
        }
    }
    let answers = [90, 40].map(|n| Answers::from_groupings(n, &rows).unwrap());
    (x, answers, Partition::from_fn(90, |i| Some((i % 3) as u64)).unwrap())
}

#[test]
fn the_road_from_a_crowd_to_all_objects_is_that_of_its_parts() {
    let (x, [answers, forty], truth) = annotated();
    let semi = SemiCrowd::new(3).thresholds(0.2, 0.8).cross_validated(false).seed(Seed(3));
    let found = semi.fit(x.view(), &answers, &()).unwrap();
    let ari = scores::adjusted_rand(&found.output.completed.clustering.partition, &truth).unwrap();
    assert!(ari > 0.9, "{ari}");
    // Filter, completion, regression, each by itself.
    let counts = AnswerCounts::of(&forty, MemoryBudget::default()).unwrap();
    let first: Vec<usize> = (0..40).collect();
    let mut known: Vec<(usize, usize, f64)> = first.iter().map(|&i| (i, i, 1.0)).collect();
    for &i in &first {
        for (j, pair) in counts.row(i).filter(|&(j, _)| j < i) {
            let share = pair.same as f64 / pair.answers as f64;
            if share >= 0.8 || share <= 0.2 {
                known.push((i, j, f64::from(u8::from(share >= 0.8))));
            }
        }
    }
    let completion = RobustCompletion::new().penalty(Penalty::Scaled(3.0)).seed(Seed(3));
    let completion = completion.complete(&ObservedPairs::new(40, &known).unwrap()).unwrap();
    assert_eq!(completion.rank(), found.output.completion.rank());
    let a = Array2::from_shape_fn((40, 40), |(i, j)| completion.entry(i.min(j), i.max(j)));
    let rdml = Rdml::new(3).seed(Seed(3));
    let given = SampleSimilarity::Dense(a.view());
    let expected = rdml.fit_sample(x.view(), &first, given, &()).unwrap().output;
    let own = &found.output.completed;
    assert_eq!(own.clustering.partition, expected.clustering.partition);
    for (i, j) in [(0, 3), (50, 53), (50, 52), (7, 88)] {
        let both = [&own.similarity, &expected.similarity].map(|s| s.between(i, j).unwrap());
        assert!((both[0] - both[1]).abs() < 1e-6 * both[0].abs().max(1.0), "{both:?}");
    }
}

#[test]
fn the_thesis_form_of_the_road() {
    let (x, [answers, forty], truth) = annotated();
    let found = SemiCrowd::new(3).published().fit(x.view(), &answers, &()).unwrap();
    let ari = scores::adjusted_rand(&found.output.completed.clustering.partition, &truth).unwrap();
    assert!(ari > 0.6, "{ari} {:?}", found.report.notes);
    // Its C is that of the most balanced completion of the grid that tells three groups apart.
    let counts = AnswerCounts::of(&forty, MemoryBudget::default()).unwrap();
    let agreed = counts.reliable_pairs(0.0, 0.8).unwrap();
    let mut best = (f64::INFINITY, 0.0);
    for c in [0.7, 1.0, 1.5, 2.0, 3.0] {
        let solver = RobustCompletion::new().penalty(Penalty::Scaled(c));
        let a = solver.complete(&agreed).unwrap();
        if a.values.iter().filter(|&&v| v > 1.0).count() >= 3 && a.total() < best.0 {
            best = (a.total(), c);
        }
    }
    let note = format!("at c = {}", best.1);
    assert!(found.report.notes.iter().any(|n| n.ends_with(&note)), "{best:?} {:?}", found.report);

    assert!(found.output.left_out.is_none());

    let kind = |e: consilience_core::Error| e.kind();
    let few = x.slice(ndarray::s![..80, ..]);
    let wrong = SemiCrowd::new(3).fit(few, &answers, &()).map(|_| ()).unwrap_err();
    assert_eq!(kind(wrong), ErrorKind::ShapeMismatch);
    let bad = SemiCrowd::new(3).penalty(PenaltyChoice::Factor(0.0));
    assert_eq!(
        kind(bad.fit(x.view(), &answers, &()).map(|_| ()).unwrap_err()),
        ErrorKind::InvalidParameter
    );
}

/// Before the completion, which is long: here it has no memory even to begin.
#[test]
fn what_the_regression_refuses_is_refused_first() {
    let (mut x, [answers, _], _) = annotated();
    let kind = |semi: SemiCrowd, x: &Array2<f64>| {
        let semi = semi.memory_budget(MemoryBudget::bytes(100));
        semi.fit(x.view(), &answers, &()).map(|_| ()).unwrap_err().kind()
    };
    for clusters in [0, 91, usize::MAX] {
        assert_eq!(kind(SemiCrowd::new(clusters), &x), ErrorKind::InvalidParameter);
    }
    let metric = Rdml::new(3).smoothing(Smoothing::PerObject(-1.0));
    assert_eq!(kind(SemiCrowd::new(3).metric(metric), &x), ErrorKind::InvalidParameter);
    assert_eq!(kind(SemiCrowd::new(3), &x), ErrorKind::TooLarge);
    x[[2, 0]] = f64::NAN;
    assert_eq!(kind(SemiCrowd::new(3), &x), ErrorKind::NonFinite);
}

/// Five thousand million pair answers, none of which is written down.
#[test]
fn a_task_of_very_many_items_is_refused_and_not_expanded() {
    let n = 100_000;
    let row = |item| GroupAnswer { worker: 0, task: 0, item, group: item % 3 };
    let answers = Answers::from_groupings(n, &(0..n).map(row).collect::<Vec<_>>()).unwrap();
    assert_eq!(answers.n_pair_answers(), n * (n - 1) / 2);
    let x = Array2::from_shape_fn((n, 1), |(i, _)| (i % 3) as f64);
    let refused = SemiCrowd::new(3).fit(x.view(), &answers, &()).map(|_| ()).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::TooLarge);
    assert_eq!(answers.pairs().take(n + 1).filter(|pair| pair.i == 0).count(), n - 1);
}

/// Six hundred objects in ten classes, which differ in 20 of 60 columns; 25 workers sort a fifth of
/// so many annotated objects each, and put that share of them anywhere. The other columns are
/// noise; with `shared` four kinds of noise are in ten columns each, and hide the classes.
fn ten_classes(
    annotated: usize,
    wrong: f64,
    shared: bool,
    seed: u64,
) -> (Array2<f64>, Answers, Partition) {
    let mut draw = Seed(seed).stream();
    let centres = Array2::from_shape_fn((10, 20), |_| 1.2 * draw.normal());
    let noise = Array2::from_shape_fn((600, 4), |_| if shared { 3.0 * draw.normal() } else { 0.0 });
    let x = Array2::from_shape_fn((600, 60), |(i, j)| {
        draw.normal() + if j < 20 { centres[[i % 10, j]] } else { noise[[i, j % 4]] }
    });
    let mut rows = Vec::new();
    for worker in 0..25 {
        for item in draw.sample(annotated, annotated / 5) {
            let group = if draw.uniform() < wrong { draw.below(10) } else { item % 10 };
            rows.push(GroupAnswer { worker, task: 0, item, group });
        }
    }
    (x, Answers::from_groupings(600, &rows).unwrap(), truth(600, 10))
}

/// Few answers about many classes: a weight of the errors that recovers a clustering from many
/// answers takes classes of ten for mistakes. Where plain k-means finds the classes, nothing is
/// lost by what is learned.
#[test]
fn a_few_annotated_objects_of_many_classes_help_and_do_not_harm() {
    for (seed, shared) in [(0, true), (1, true), (2, true), (0, false), (1, false)] {
        let (x, answers, truth) = ten_classes(100, 0.15, shared, seed);
        let nothing = SideInformation::none(600);
        let plain = Rdml::new(10).fit_completed(x.view(), &nothing, &()).unwrap().output;
        let plain = nmi(&plain.clustering.partition, &truth);
        let of = |semi: SemiCrowd| {
            let found = semi.fit(x.view(), &answers, &())?.output;
            Ok(nmi(&found.completed.clustering.partition, &truth))
        };
        let own = of(SemiCrowd::new(10)).unwrap();
        let before = SemiCrowd::new(10).penalty(PenaltyChoice::Factor(1.3)).cross_validated(false);
        let before = of(before).unwrap_or_else(|error: consilience_core::Error| {
            // The optimum at c = 1.3 is A = 0 with the last two draws.
            assert_eq!(error.kind(), ErrorKind::Empty, "{error}");
            0.0
        });
        println!("seed {seed}, {shared}: plain {plain}, default {own}, c = 1.3 {before}");
        assert!(own > before + 0.2, "{own} {before}");
        assert!(own > if shared { plain + 0.3 } else { plain - 0.02 }, "{own} {plain}");
    }
}

/// Three columns tell the groups apart, and forty that differ by less than a thousandth of them
/// count as much on a common scale.
#[test]
fn the_scale_is_that_of_the_clusters_that_keep_more_answers() {
    let (x, [answers, _], truth) = annotated();
    let mut draw = Seed(11).stream();
    let x = Array2::from_shape_fn((90, 43), |(i, j)| match j {
        0..3 => x[[i, j]],
        _ => 0.001 * draw.normal(),
    });
    let of = |semi: SemiCrowd| {
        let found = semi.fit(x.view(), &answers, &()).unwrap();
        let partition = &found.output.completed.clustering.partition;
        let said = found.report.notes.iter().filter(|n| n.starts_with("clusters from ")).cloned();
        (scores::adjusted_rand(partition, &truth).unwrap(), said.collect::<Vec<_>>())
    };
    let (both, said) = of(SemiCrowd::new(3));
    assert!(both > 0.95 && said[0].starts_with("clusters from features as they are"), "{said:?}");
    let (standardized, said) = of(SemiCrowd::new(3).compare_scales(false));
    assert!(standardized < both - 0.1 && said.is_empty(), "{standardized} {both}");
    // From the other side it is the same choice.
    let raw = SemiCrowd::new(3).metric(Rdml::new(3).standardize(false));
    assert_eq!(of(raw.clone().compare_scales(false)).0, both);
    let (again, said) = of(raw);
    assert!(again == both && said[0].starts_with("clusters from features as they are"), "{said:?}");
}

/// What is learned from answers that are mostly mistakes does not hold for objects left out.
#[test]
fn where_answers_teach_nothing_the_clusters_are_those_of_plain_k_means() {
    for seed in 0..3 {
        let (x, answers, truth) = ten_classes(40, 0.5, false, seed);
        let nothing = SideInformation::none(600);
        let plain = Rdml::new(10).fit_completed(x.view(), &nothing, &()).unwrap().output;
        let found = SemiCrowd::new(10).fit(x.view(), &answers, &()).unwrap();
        let evidence = found.output.left_out.unwrap();
        let learned = SemiCrowd::new(10).cross_validated(false);
        let learned = learned.fit(x.view(), &answers, &()).unwrap().output.completed;
        let scores = [&learned, &plain].map(|c| nmi(&c.clustering.partition, &truth));
        println!("seed {seed}: learned {}, plain {}, {evidence:?}", scores[0], scores[1]);
        assert!(!evidence.learned && scores[0] < scores[1], "{evidence:?} {scores:?}");
        let own = found.output.completed.clustering.partition;
        assert_eq!(own, plain.clustering.partition);
        assert!(found.report.notes.iter().any(|n| n.starts_with("clusters by plain k-means")));
    }
}

/// Every worker knows one of five classes and sorts into "this kind or not".
fn coarse(seed: u64, (tasks, size): (usize, usize)) -> Answers {
    let mut stream = Seed(seed).stream();
    let mut rows = Vec::new();
    for worker in 0..100 {
        for task in 0..tasks {
            for item in stream.sample(150, size) {
                let lost = stream.uniform() < 0.1;
                let group =
                    if lost { stream.below(2) } else { usize::from(item % 5 == worker % 5) };
                rows.push(GroupAnswer { worker, task, item, group });
            }
        }
    }
    Answers::from_groupings(150, &rows).unwrap()
}

#[test]
fn workers_who_merge_clusters_each_in_an_own_way() {
    for (seed, shape) in [(1, (12, 8)), (2, (30, 4)), (3, (1, 60))] {
        let answers = coarse(seed, shape);
        let score = |method| {
            let crowd = CrowdClustering::new(5).method(method).alternative(false);
            let found = crowd.fit(&answers, &()).unwrap().output;
            (nmi(&found.partition, &truth(150, 5)), found)
        };
        let (block, _) = score(CrowdMethod::Block);
        let (own, _) = score(CrowdMethod::BlockByWorker);
        let (auto, found) = score(CrowdMethod::Auto);
        println!("{shape:?}: block {block:.3}, by worker {own:.3}, auto {auto:.3}");
        assert_eq!(found.method, CrowdMethod::BlockByWorker);
        assert!(found.evidence[1].1 > found.evidence[0].1);
        assert!(auto == own && own > 0.8 && own > block - 0.02, "{block} {own} {auto}");
    }
}

/// Workers who all see the same classes have no use for rates of their own.
#[test]
fn a_crowd_of_one_mind_needs_no_rates_by_worker() {
    let answers = Answers::from_groupings(150, &crowd(4, 150, 60, (8, 5), 0.2, 6, 3)).unwrap();
    let found = CrowdClustering::new(4).fit(&answers, &()).unwrap().output;
    assert_eq!(found.method, CrowdMethod::Block, "{:?}", found.evidence);
}

#[test]
fn the_number_of_clusters_is_told() {
    let answers = Answers::from_groupings(60, &crowd(1, 60, 25, (4, 12), 0.05, 0, 1)).unwrap();
    for method in [CrowdMethod::Bayesian, CrowdMethod::Auto, CrowdMethod::Spectral] {
        let fit = quick_auto(method).fit(&answers, &()).unwrap();
        let (found, count) = (fit.output.partition, fit.output.cluster_count.unwrap());
        assert_eq!((found.n_clusters(), count.most_probable()), (1, 1), "{method:?}");
        assert_eq!(fit.report.clusters_missing, None);
        assert!(fit.output.completed_rank.is_some());
        assert!(fit.report.notes.iter().any(|n| n.contains("posterior")), "{:?}", fit.report);
    }
    // Objects that were often put wrongly may get a component of their own.
    let answers = Answers::from_groupings(60, &crowd(3, 60, 25, (4, 12), 0.05, 0, 2)).unwrap();
    let found = quick_auto(CrowdMethod::Bayesian).fit(&answers, &()).unwrap().output;
    assert!((3..=4).contains(&found.partition.n_clusters()), "{:?}", found.cluster_count);
}

fn quick_auto(method: CrowdMethod) -> CrowdClustering {
    CrowdClustering::new(Clusters::Auto).method(method).alternative(false)
}

/// Where nobody answers twice, what a worker is like must come from the crowd.
#[test]
fn one_answer_a_worker_is_enough() {
    let mut stream = Seed(12).stream();
    let rows: Vec<PairAnswer> = (0..1_500)
        .map(|worker| {
            let (i, j) = (stream.below(60), stream.below(60));
            let j = if i == j { (j + 1) % 60 } else { j };
            let same = (i % 3 == j % 3) != (stream.uniform() < 0.1);
            PairAnswer { worker, i, j, same }
        })
        .collect();
    let answers = Answers::from_pairs(60, &rows).unwrap();
    assert_eq!(answers.n_workers(), 1_500);
    let found = quick(3, CrowdMethod::Bayesian).cluster(&answers).unwrap();
    assert!(nmi(&found, &truth(60, 3)) > 0.95, "{}", nmi(&found, &truth(60, 3)));
}

#[test]
fn options_of_positions_are_checked() {
    let answers = Answers::from_groupings(6, &crowd(2, 6, 3, (2, 4), 0.0, 0, 1)).unwrap();
    let kind = |model: PositionModel| model.fit(&answers, &()).unwrap_err().kind();
    let new = || PositionModel::new(2);
    for bad in [
        new().dimensions(0),
        new().dimensions(17),
        new().components(0),
        new().restarts(0),
        new().tolerance(f64::NAN),
        new().max_iterations(0),
        PositionModel::new(0),
        PositionModel::new(7),
        PositionModel::new(Clusters::Lifetime),
    ] {
        assert_eq!(kind(bad), ErrorKind::InvalidParameter, "{bad:?}");
    }
    assert_eq!(kind(new().memory_budget(MemoryBudget::bytes(1_000))), ErrorKind::TooLarge);
    struct Stopped;
    impl Observer for Stopped {
        fn cancelled(&self) -> bool {
            true
        }
    }
    assert_eq!(new().fit(&answers, &Stopped).unwrap_err().kind(), ErrorKind::Cancelled);
    // Strange crowds have a number of clusters too.
    let one = [GroupAnswer { worker: 0, task: 0, item: 0, group: 0 }];
    let lonely = Answers::from_groupings(1, &one).unwrap();
    let found = quick_auto(CrowdMethod::Auto).fit(&lonely, &()).unwrap().output;
    assert_eq!(found.cluster_count.unwrap().most_probable(), 0);
    let pair = [PairAnswer { worker: 0, i: 0, j: 1, same: true }];
    let found = quick_auto(CrowdMethod::Bayesian).fit(&Answers::from_pairs(3, &pair).unwrap(), &());
    assert_eq!(found.unwrap().output.partition.to_signed(), vec![0, 0, -1]);
}

/// One of three objects was compared: those have what they have without the others.
#[test]
fn objects_that_nobody_compared_change_nothing() {
    let rows = crowd(3, 40, 15, (4, 12), 0.1, 0, 1);
    let spread: Vec<GroupAnswer> =
        rows.iter().map(|&row| GroupAnswer { item: 3 * row.item + 1, ..row }).collect();
    let alone = Answers::from_groupings(40, &rows).unwrap();
    let among = Answers::from_groupings(120, &spread).unwrap();
    let asked = ALL.map(|method| (method, Clusters::Fixed(3)));
    for (method, clusters) in asked.into_iter().chain([(CrowdMethod::Rmc, Clusters::Auto)]) {
        let fit = |answers: &Answers| {
            let crowd = CrowdClustering::new(clusters).method(method);
            crowd.block_model(BlockModel::new(3).restarts(4)).fit(answers, &()).unwrap().output
        };
        let (alone, among) = (fit(&alone), fit(&among));
        assert_eq!(alone.completed_rank, among.completed_rank, "{method:?}");
        let labels = among.partition.to_signed();
        for (i, label) in labels.into_iter().enumerate() {
            let expected = if i % 3 == 1 { alone.partition.to_signed()[i / 3] } else { -1 };
            assert_eq!(label, expected, "{method:?}");
        }
    }
}
