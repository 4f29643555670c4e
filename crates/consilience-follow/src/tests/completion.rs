use consilience_completion::Mccc;
use consilience_conformance::planted;
use consilience_core::scores::adjusted_rand;
use consilience_core::{Constraints, Ensemble, ErrorKind, Partition, Seed};
use consilience_num::kmeans::{self, KMeansOptions};
use ndarray::Array2;

use super::metric::{followed, in_batches, links, listed, read, two_ways};
use super::{Means, StopAt, on_pool, renamed};
use crate::{ConsensusMetric, MapLearner, MemberGrowth, MetricRule, ReadOutMethod, Updater};

fn rule(clusters: usize) -> MetricRule {
    MetricRule::new(clusters).learner(MapLearner::Completion)
}

#[test]
fn links_decide_between_two_ways() {
    for seed in 0..4 {
        let (e, _, meant) = two_ways(seed, 400);
        let known = links(&meant, 200, Seed(seed));
        let metric = followed(&rule(3), &e, &known);
        let fit = metric.read_out(&e, &known, &()).unwrap();
        assert_eq!(fit.output.method(), ReadOutMethod::Metric);
        let found = fit.output.partition(&e, &()).unwrap();
        let score = adjusted_rand(&found, &meant).unwrap();
        assert!(score > 0.7, "seed {seed}: {score}");
    }
}

/// As from the definition: MCCC on the positions of all objects, which has the same solution.
#[test]
fn equals_completion_of_all_positions() {
    let (e, _, meant) = two_ways(5, 200);
    let known = links(&meant, 120, Seed(5));
    let metric = followed(&rule(3).cross_validated(false), &e, &known);
    let found =
        metric.read_out_by(ReadOutMethod::Metric, &e, &()).unwrap().partition(&e, &()).unwrap();
    let embedding = metric.embedding();
    let q = embedding.n_dimensions();
    let mut z = Array2::zeros((200, q));
    for i in 0..200 {
        z.row_mut(i).assign(&embedding.position(&e, i).unwrap().unwrap());
    }
    let side = consilience_core::SideInformation::from_constraints(&known);
    let naive = Mccc::new(3).fit_coordinates(z.view(), &side, &()).unwrap().output;
    let rows = naive.similarity.embedding().to_owned();
    let labels = kmeans::fit(rows.view(), None, &KMeansOptions::new(3).restarts(10), &()).unwrap();
    let expected = Partition::from_labels(&labels.assignment).unwrap();
    assert!(adjusted_rand(&found, &expected).unwrap() > 0.95);
}

#[test]
fn few_links_and_one_kind_are_the_plain_consensus() {
    let world = planted(Seed(3), &[30, 20, 10], 6, 0.3, 0.0).unwrap();
    let plain = {
        let none = Constraints::new(60).unwrap();
        read(&rule(3).open(&world.ensemble, &()).unwrap(), &world.ensemble, &none)
    };
    let mut known = Constraints::new(60).unwrap();
    for i in 0..5 {
        known.add(i, 59 - i, consilience_core::Link::Cannot).unwrap();
        let metric = followed(&rule(3), &world.ensemble, &known);
        let fit = metric.read_out(&world.ensemble, &known, &()).unwrap().output;
        assert_eq!(fit.method(), ReadOutMethod::Plain);
    }
    assert_eq!(plain.n_objects(), 60);
}

#[test]
fn labels_and_threads_and_batches_change_no_bit() {
    let world = planted(Seed(5), &[40, 30, 20], 8, 0.3, 0.1).unwrap();
    let known = links(&world.truth, 80, Seed(5));
    let run = |e: &Ensemble, batch: usize| {
        let metric = in_batches(&rule(3), e, &known, batch);
        (metric.to_bytes(), read(&metric, e, &known))
    };
    let expected = run(&world.ensemble, 1000);
    assert!(run(&renamed(&world.ensemble), 7) == expected);
    for threads in [1, 2, 3] {
        let found = on_pool(threads, || run(&world.ensemble, 20));
        assert!(found == expected, "{threads} threads");
    }
}

#[test]
fn stored_and_resumed_with_the_same_bits() {
    let (e, _, meant) = two_ways(11, 200);
    let all = links(&meant, 120, Seed(11));
    let mut updater = Updater::new(e.clone(), 3).unwrap();
    updater.set_metric_rule(rule(3)).unwrap();
    updater.update(&listed(&all)[..60]).unwrap();
    updater.open_metric(&()).unwrap();
    let x = Array2::from_shape_fn((200, 2), |(i, j)| ((i * (7 + 3 * j)) % 13) as f64);
    updater.grow(x.view().into(), &MemberGrowth::new(Means).members(5), 0.0, &()).unwrap();
    let mut resumed = Updater::from_bytes(&updater.to_bytes(), e.clone()).unwrap();
    assert_eq!(resumed.metric().unwrap().rule().map_learner(), MapLearner::Completion);
    for updater in [&mut updater, &mut resumed] {
        updater.update(&listed(&all)[60..]).unwrap();
    }
    assert_eq!(updater.partition().unwrap(), resumed.partition().unwrap());
    assert_eq!(updater.to_bytes(), resumed.to_bytes());
    let mut known = Constraints::new(200).unwrap();
    listed(&all).iter().for_each(|p| known.add(p.i, p.j, p.link).unwrap());
    let metric = followed(&rule(3), &e, &known);
    let again = ConsensusMetric::from_bytes(&metric.to_bytes(), &rule(3), &e, &listed(&known), &())
        .unwrap();
    assert!(again == metric);
}

#[test]
fn unlabelled_objects_and_sets_that_stay_together() {
    let world = planted(Seed(8), &[50, 40, 30], 6, 0.3, 0.3).unwrap();
    let known = links(&world.truth, 120, Seed(8));
    let metric = followed(&rule(3), &world.ensemble, &known);
    let read = metric.read_out(&world.ensemble, &known, &()).unwrap().output;
    let whole = read.partition(&world.ensemble, &()).unwrap();
    let asked = read.labels(&world.ensemble, &(0..120).collect::<Vec<_>>()).unwrap();
    let named = Partition::from_fn(120, |i| asked[i].map(|l| l as u64)).unwrap();
    assert_eq!(named, whole);
    for pair in known.iter().filter(|p| p.link == consilience_core::Link::Must) {
        assert_eq!(whole.label(pair.i), whole.label(pair.j));
    }
    // Links of objects that no member labels say nothing.
    let some = Ensemble::from_array(ndarray::array![[0, 0], [1, 1], [-1, -1]].view()).unwrap();
    let mut known = Constraints::new(3).unwrap();
    known.add(0, 2, consilience_core::Link::Must).unwrap();
    known.add(1, 2, consilience_core::Link::Cannot).unwrap();
    let metric = followed(&rule(2), &some, &known);
    let found = metric.partition(&some, &known, &()).unwrap().output;
    assert_eq!(found.to_signed(), [0, 1, -1]);
}

#[test]
fn cancelled_anywhere() {
    let (e, _, meant) = two_ways(2, 150);
    let known = links(&meant, 80, Seed(2));
    let metric = followed(&rule(3), &e, &known);
    let count = StopAt::question(usize::MAX);
    metric.read_out(&e, &known, &count).unwrap();
    let questions = count.1.into_inner();
    assert!(questions > 10);
    for at in (0..questions).step_by(questions.div_ceil(12)) {
        let error = metric.read_out(&e, &known, &StopAt::question(at)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Cancelled, "question {at} of {questions}");
    }
}

/// There is nothing to solve, but many links take long to be looked up.
#[test]
fn following_can_be_cancelled() {
    let (e, _, meant) = two_ways(7, 80);
    let known = listed(&links(&meant, 40, Seed(7)));
    let mut metric = rule(3).open(&e, &()).unwrap();
    let before = metric.clone();
    let stopped = metric.follow(&e, &known, &StopAt::question(0)).unwrap_err();
    assert_eq!((stopped.kind(), &metric), (ErrorKind::Cancelled, &before));
    metric.follow(&e, &known, &()).unwrap();
    assert_eq!(metric.n_links(), known.len());
}
