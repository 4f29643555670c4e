use super::*;
use crate::{BlockModel, CrowdClustering, CrowdMethod, PairAnswer};
use consilience_core::scores::adjusted_rand;
use consilience_core::{Clusters, Partition, Status};

/// Answers on pairs of objects in clusters of equal size, drawn at random, a share of them
/// wrong.
fn said(clusters: usize, size: usize, answers: usize, wrong: f64, seed: u64) -> Answers {
    let n = clusters * size;
    let mut stream = Seed(seed).stream();
    let mut row = |_| {
        let (worker, i) = (stream.below(3), stream.below(n));
        let j = (i + 1 + stream.below(n - 1)) % n;
        let same = (i / size == j / size) != (stream.uniform() < wrong);
        PairAnswer { worker, i, j, same }
    };
    let rows: Vec<PairAnswer> = (0..answers).map(&mut row).collect();
    Answers::from_pairs(n, &rows).unwrap()
}

fn counted(answers: &Answers) -> AnswerCounts {
    AnswerCounts::of(answers, MemoryBudget::default()).unwrap()
}

fn modelled(answers: &Answers, clusters: Option<usize>) -> (Nodes, Model) {
    let pace = &mut Pace::new(&());
    let nodes = Nodes::of(answers, &counted(answers), pace).unwrap();
    let model = Model::of(&nodes, clusters, pace).unwrap();
    (nodes, model)
}

fn found(answers: &Answers, clusters: Option<usize>) -> PlantedPartition {
    best(answers, &counted(answers), clusters, MemoryBudget::default(), &()).unwrap()
}

fn clusters_of(labels: &[u32]) -> usize {
    labels.iter().max().map_or(0, |&c| c as usize + 1)
}

/// Every partition of so many objects.
fn partitions(objects: usize) -> Vec<Vec<u32>> {
    let mut all = vec![vec![]];
    for _ in 0..objects {
        let longer = |labels: Vec<u32>| {
            let next = labels.iter().max().map_or(0, |&c| c + 1);
            (0..=next).map(move |c| [labels.clone(), vec![c]].concat())
        };
        all = all.into_iter().flat_map(longer).collect();
    }
    all
}

/// Answer by answer, each predicted by those before; and the partition from its definition.
fn naive(answers: &Answers, labels: &[u32], own_rates: bool) -> f64 {
    let workers = if own_rates { answers.n_workers() } else { 1 };
    let mut seen = vec![[[1.0_f64; 2]; 2]; workers];
    let mut total = 0.0;
    for pair in answers.pairs() {
        let w = if own_rates { pair.worker } else { 0 };
        let place = usize::from(labels[pair.i] == labels[pair.j]);
        let counts = &mut seen[w][place];
        total += (counts[usize::from(pair.same)] / (counts[0] + counts[1])).ln();
        counts[usize::from(pair.same)] += 1.0;
    }
    let (n, k) = (labels.len(), clusters_of(labels));
    let factorial = |x: usize| (1..=x).map(|i| i as f64).product::<f64>();
    let sizes = (0..k as u32).map(|c| labels.iter().filter(|&&l| l == c).count());
    let ways = factorial(n) / sizes.map(factorial).product::<f64>() / factorial(k);
    let shapes = factorial(n - 1) / factorial(k - 1) / factorial(n - k);
    total - (n as f64 * shapes * ways).ln()
}

#[test]
fn evidence_is_that_of_predictions_multiplied() {
    let answers = said(2, 3, 25, 0.2, 1);
    let (nodes, model) = modelled(&answers, None);
    let mut mass = 0.0;
    for labels in partitions(6) {
        mass += model.partitions.log_probability(&labels).exp();
        let own = by_workers(&answers, &labels);
        assert!((own - naive(&answers, &labels, true)).abs() < 1e-9, "{labels:?}");
        let expected = naive(&answers, &labels, false);
        let partition = model.partition(&nodes, labels);
        assert!((partition.evidence - expected).abs() < 1e-9, "{partition:?}");
    }
    // The partitions' own probabilities are those of all there are.
    assert!((mass - 1.0).abs() < 1e-9, "{mass}");
}

/// Log-factorials in a table are those of the Beta function, to the bit.
#[test]
fn answers_are_weighed_as_by_beta_functions() {
    let answers = said(2, 3, 25, 0.2, 1);
    let (_, model) = modelled(&answers, None);
    let [same, all] = model.total;
    for (s, n) in (0..=all).flat_map(|n| (0..=n).map(move |s| (s, n))) {
        if s <= same && n - s <= all - same {
            let [inside, between] = [[s, n], [same - s, all - n]].map(|c| c.map(|x| x as f64));
            assert_eq!(model.answers([s, n]), ln_beta(inside) + ln_beta(between));
        }
    }
}

/// The probabilities of numbers of clusters, by all partitions.
fn exact(answers: &Answers, objects: usize) -> Vec<f64> {
    let mut exact = vec![0.0; objects + 1];
    for labels in partitions(objects) {
        exact[clusters_of(&labels)] += naive(answers, &labels, false).exp();
    }
    let total: f64 = exact.iter().sum();
    exact.iter().map(|p| p / total).collect()
}

/// Most clusters have no answers with an object: it may go to all of them, and not only to those
/// that it was compared with.
#[test]
fn clusters_without_answers_are_drawn_by_their_probabilities() {
    let said = |(i, j, same)| PairAnswer { worker: 0, i, j, same };
    let chain = [(0, 1, true), (2, 3, true), (4, 5, true), (1, 2, false), (2, 3, true)];
    for rows in [&chain[..3], &chain] {
        let rows: Vec<PairAnswer> = rows.iter().copied().map(said).collect();
        let answers = Answers::from_pairs(6, &rows).unwrap();
        let exact = exact(&answers, 6);
        let (nodes, model) = modelled(&answers, None);
        for everywhere in [true, false] {
            let mut state = State::of(&model, &nodes, vec![0; 6]).unwrap();
            let drawn = draws::drawn(&mut state, 20_000, everywhere, Seed(1), &()).unwrap();
            for (k, p) in exact.iter().enumerate() {
                let drawn = drawn.get(k).copied().unwrap_or(0.0);
                assert!((drawn - p).abs() < 0.03, "{everywhere}, {k}: {drawn}, not {p}");
            }
        }
    }
}

/// A million answers: the last bits of their log-probability are some 1e-9.
#[test]
fn what_rounding_leaves_is_not_better() {
    let nodes = Nodes {
        sizes: vec![1; 2],
        offsets: vec![0, 1, 2],
        others: vec![1, 0],
        same: vec![400_000; 2],
        all: vec![1_000_000; 2],
        inside: [0; 2],
    };
    let model = Model::of(&nodes, None, &mut Pace::new(&())).unwrap();
    let plain = model.partition(&nodes, vec![0, 0]);
    let raised = |by: f64| PlantedPartition { evidence: plain.evidence + by, ..plain.clone() };
    assert!(!model.is_better(&raised(1e-8), &plain));
    assert!(model.is_better(&raised(1.0), &plain));
}

/// Two groups whose objects are called the same as those of the other one and apart from their own,
/// but for a share of the answers.
fn turned(n: usize, wrong: f64, seed: u64) -> Answers {
    let mut stream = Seed(seed).stream();
    let pairs = (0..n).flat_map(|j| (0..j).map(move |i| (i, j)));
    let rows: Vec<PairAnswer> = pairs
        .map(|(i, j)| {
            let same = (i % 2 != j % 2) != (stream.uniform() < wrong);
            PairAnswer { worker: stream.below(3), i, j, same }
        })
        .collect();
    Answers::from_pairs(n, &rows).unwrap()
}

/// The start by workers finds such groups, which explain the answers best: they are taken only
/// where no start found clusters whose objects are called the same, and never by `auto`.
#[test]
fn objects_that_are_called_apart_are_no_cluster_where_others_were_found() {
    let (mut passed_over, mut nothing_else) = (0, 0);
    for (seed, k) in (0..15).flat_map(|seed| [(seed, 3), (seed, 4)]) {
        let answers = turned(20, 0.05, seed);
        let (nodes, model) = modelled(&answers, Some(k));
        let begun = model.begun(&nodes, k as f64, &()).unwrap();
        let posterior = dawid_skene::posterior(&answers, k, &()).unwrap();
        let merged = merging::agglomerate(&posterior, k, &()).unwrap().labels;
        let labels = model.improved(&nodes, merged, &()).unwrap();
        let by_workers = model.partition(&nodes, labels);
        let found = found(&answers, Some(k));
        match begun {
            Some(begun) => {
                assert!(found.assortative, "{seed} {k}");
                let other = !by_workers.assortative && model.is_better(&by_workers, &begun);
                passed_over += usize::from(other);
            }
            None if !by_workers.assortative => {
                assert_eq!(found.labels, by_workers.labels);
                let fit = CrowdClustering::new(k).fit(&answers, &()).unwrap().output;
                assert_ne!(fit.method, CrowdMethod::PlantedPartition, "{seed} {k}");
                nothing_else += 1;
            }
            None => {}
        }
    }
    assert!(passed_over > 0 && nothing_else > 0, "{passed_over} {nothing_else}");
}

#[test]
fn the_best_of_all_partitions_is_found_and_their_numbers_are_drawn() {
    let mut best_ones = 0;
    for seed in 0..20 {
        let answers = said(3, 2, 20 + 4 * seed as usize, 0.1, seed);
        let evidence = |labels: &[u32]| naive(&answers, labels, false);
        let all = partitions(6);
        let highest = all.iter().map(|labels| evidence(labels)).fold(f64::MIN, f64::max);
        let found = found(&answers, None);
        assert!((found.evidence - evidence(&found.labels)).abs() < 1e-9);
        best_ones += usize::from(found.evidence > highest - 1e-9);
        let drawn = count(&answers, &counted(&answers), &found.labels, Seed(seed), &()).unwrap();
        for (k, p) in exact(&answers, 6).into_iter().enumerate() {
            let drawn = drawn.probability(k);
            assert!((drawn - p).abs() < 0.2, "{seed} {k}: {drawn} {p}");
        }
    }
    assert!(best_ones >= 19, "{best_ones}");
}

#[test]
fn no_object_would_gain_in_another_cluster() {
    for (clusters, seed) in [(None, 0), (None, 1), (Some(6), 2), (Some(6), 3)] {
        let answers = said(6, 4, 400, 0.15, seed);
        let found = found(&answers, clusters);
        let k = clusters_of(&found.labels);
        assert!(clusters.is_none_or(|given| given == k));
        let evidence = |labels: &[u32]| naive(&answers, labels, false);
        let own = evidence(&found.labels);
        let compact = |labels: &[u32]| Partition::from_labels(labels).unwrap();
        for i in 0..24 {
            for c in 0..=k as u32 {
                let mut moved = found.labels.clone();
                moved[i] = c;
                let moved = compact(&moved);
                if clusters.is_none_or(|given| given == moved.n_clusters()) {
                    let touched = answers.pairs().any(|p| {
                        (p.i == i && found.labels[p.j] == c) || (p.j == i && found.labels[p.i] == c)
                    });
                    let labels: Vec<u32> =
                        (0..24).map(|i| moved.label(i).unwrap() as u32).collect();
                    assert!(!touched || evidence(&labels) < own + 1e-6, "{i} to {c}");
                }
            }
        }
    }
}

#[test]
fn many_small_clusters_are_counted_and_found() {
    let truth = Partition::from_fn(60, |i| Some(i as u64 / 3)).unwrap();
    for seed in 0..3 {
        let answers = said(20, 3, 4_000, 0.05, seed);
        let fit = CrowdClustering::new(Clusters::Auto).fit(&answers, &()).unwrap();
        let count = fit.output.cluster_count.unwrap();
        assert!((18..=23).contains(&count.most_probable()), "{seed}: {count:?}");
        let score = adjusted_rand(&fit.output.partition, &truth).unwrap();
        assert!(score > 0.85, "{seed}: {score}");
        let notes = &fit.report.notes;
        assert!(notes[0].contains("by the answers' posterior"), "{notes:?}");
    }
}

#[test]
fn what_has_no_clusters_is_one() {
    // All alike but for errors, and answers at random.
    for wrong in [0.2, 0.5] {
        let answers = said(1, 40, 1_000, wrong, 5);
        assert_eq!(clusters_of(&found(&answers, None).labels), 1);
    }
}

#[test]
fn tiny_clusters_of_given_number_are_taken_by_auto() {
    let answers = said(40, 2, 6_000, 0.01, 1);
    let truth = Partition::from_fn(80, |i| Some(i as u64 / 2)).unwrap();
    // How the block model ended, beside which they were taken, is not how they did.
    let model = BlockModel::new(40).restarts(1).max_iterations(1);
    let fit = CrowdClustering::new(40).block_model(model).fit(&answers, &()).unwrap();
    assert_eq!((fit.report.status, fit.report.iterations), (Status::Solved, 0));
    let fit = CrowdClustering::new(40).fit(&answers, &()).unwrap().output;
    assert_eq!(fit.method, CrowdMethod::PlantedPartition);
    let score = adjusted_rand(&fit.partition, &truth).unwrap();
    assert!(score > 0.7, "{score}");
}

/// Every object was compared twelve times, which is less than there are clusters.
#[test]
fn auto_takes_planted_partitions_where_objects_were_seldom_compared() {
    for seed in 0..3 {
        let (size, k) = (10, 20);
        let mut stream = Seed(seed).stream();
        let mut row = |at: usize| {
            let i = stream.below(size * k);
            // Half of the pairs are of one cluster.
            let chosen = at.is_multiple_of(2);
            let (from, among) = if chosen { (i / size * size, size) } else { (0, size * k) };
            let j = (i - from + 1 + stream.below(among - 1)) % among + from;
            let same = (i / size == j / size) != (stream.uniform() < 0.05);
            PairAnswer { worker: at % 3, i, j, same }
        };
        let rows: Vec<PairAnswer> = (0..1200).map(&mut row).collect();
        let answers = Answers::from_pairs(size * k, &rows).unwrap();
        let truth = Partition::from_fn(size * k, |i| Some((i / size) as u64)).unwrap();
        let of = |method| {
            let fit = CrowdClustering::new(k).method(method).fit(&answers, &()).unwrap();
            (adjusted_rand(&fit.output.partition, &truth).unwrap(), fit.output)
        };
        let (auto, found) = of(CrowdMethod::Auto);
        let pairs = of(CrowdMethod::Pairs).0;
        println!("seed {seed}: auto {auto}, pairs {pairs}");
        assert_eq!(found.method, CrowdMethod::PlantedPartition);
        assert!(auto > pairs && auto > 0.8, "{auto} {pairs}");
    }
}
