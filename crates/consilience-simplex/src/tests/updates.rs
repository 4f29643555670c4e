use std::sync::atomic::{AtomicUsize, Ordering};

use consilience_core::{Ensemble, ErrorKind, Link, Observer, Pair, Partition, Seed};
use ndarray::array;
use proptest::prelude::*;

use super::read_out::assert_hard_where_clear;
use super::{links, on_pool, open, world};
use crate::{
    AdditiveUpdate, ExactUpdate, MultiplicativeUpdate, PairLoss, UpdateRule, WeightUpdater,
};

fn rules() -> Vec<UpdateRule> {
    vec![
        ExactUpdate::default().into(),
        ExactUpdate::default().loss(PairLoss::Probability).balance(false).max_iterations(20).into(),
        AdditiveUpdate::default().into(),
        MultiplicativeUpdate::default().into(),
    ]
}

/// Stops after some questions.
struct Impatient(AtomicUsize);

impl Observer for Impatient {
    fn cancelled(&self) -> bool {
        self.0.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1)).is_err()
    }
}

#[test]
fn an_error_leaves_the_state_as_it_was() {
    let (e, truth) = world(1, 40, 6, 0.1);
    for rule in rules() {
        let mut updater = open(&e, 3);
        updater.set_rule(rule).unwrap();
        updater
            .update(&[Pair::must_link(0, 1), Pair::must_link(1, 2), Pair::must_link(3, 4)])
            .unwrap();
        let before = updater.to_bytes();
        type Batch<'a> = &'a [Pair];
        let bad: [(Batch<'_>, ErrorKind); 4] = [
            (&[Pair::must_link(5, 6), Pair::must_link(7, 40)], ErrorKind::OutOfRange),
            (&[Pair::must_link(5, 6), Pair::cannot_link(2, 0)], ErrorKind::Contradiction),
            (
                &[Pair::must_link(2, 5), Pair::cannot_link(4, 5), Pair::must_link(3, 0)],
                ErrorKind::Contradiction,
            ),
            (&[Pair::cannot_link(5, 5)], ErrorKind::Contradiction),
        ];
        for (batch, kind) in bad {
            let error = updater.update(batch).unwrap_err();
            assert_eq!(error.kind(), kind, "{error}");
            assert_eq!(updater.to_bytes(), before, "{error}");
        }
        let chain = updater.update(&[Pair::must_link(2, 5), Pair::cannot_link(0, 5)]).unwrap_err();
        assert_eq!(chain.message(), "cannot-link 0, 5, but must-links say 0 = 1 = 2 = 5");
        let far = updater
            .update(&[Pair::cannot_link(2, 7), Pair::must_link(7, 4), Pair::must_link(3, 1)])
            .unwrap_err();
        assert_eq!(far.message(), "must-link 1, 3, but 1 = 2, cannot-link 2, 7, and 7 = 4 = 3");
        for patience in [0, 1, 2] {
            let batch = links(&truth, 10, 5);
            let mut other = updater.clone();
            match other.update_observed(&batch, &Impatient(AtomicUsize::new(patience))) {
                Ok(_) => assert!(patience > 0),
                Err(error) => {
                    assert_eq!(error.kind(), ErrorKind::Cancelled);
                    assert_eq!(other.to_bytes(), before);
                    // And it goes on as if nothing had been.
                    let (a, b) =
                        (other.update(&batch).unwrap(), updater.clone().update(&batch).unwrap());
                    assert_eq!(a, b);
                }
            }
        }
    }
}

#[test]
fn duplicates_change_nothing() {
    let (e, truth) = world(2, 40, 6, 0.0);
    let batch = links(&truth, 12, 1);
    for rule in rules() {
        let mut once = open(&e, 3);
        once.set_rule(rule).unwrap();
        let mut often = once.clone();
        let report = once.update(&batch).unwrap();
        let mut repeated: Vec<_> =
            batch.iter().map(|&Pair { i, j, link, .. }| Pair::new(j, i, link)).collect();
        repeated.extend(&batch);
        repeated.push(Pair::must_link(3, 3));
        assert_eq!(often.update(&repeated).unwrap(), report);
        assert_eq!(often.to_bytes(), once.to_bytes());
        let again = often.update(&repeated).unwrap();
        assert_eq!((again.new_constraints, again.support), (0, once.support()));
        often.update(&[]).unwrap();
        assert_eq!(often.to_bytes(), once.to_bytes());
        assert_eq!(often.n_batches(), 1);
    }
}

#[test]
fn equal_bits_on_any_number_of_threads() {
    let (e, truth) = world(3, 300, 9, 0.1);
    for rule in rules() {
        let run = || {
            let mut updater = open(&e, 3);
            updater.set_rule(rule.clone()).unwrap();
            let reports =
                (0..3).map(|b| updater.update(&links(&truth, 90, b)).unwrap()).collect::<Vec<_>>();
            let partition = updater.partition().unwrap();
            let kmeans = updater.partition_by_kmeans(Seed(1), &()).unwrap().output;
            let questions = updater.next_questions(10, Seed(4)).unwrap();
            (
                reports,
                partition,
                kmeans,
                questions,
                updater.to_bytes(),
                updater.memberships().unwrap(),
            )
        };
        let expected = on_pool(1, run);
        for threads in [2, 3, 8] {
            assert_eq!(on_pool(threads, run), expected);
        }
    }
}

#[test]
fn names_of_labels_leave_no_trace() {
    let (e, truth) = world(4, 60, 6, 0.2);
    let renamed = e.members().iter().enumerate().map(|(u, p)| {
        Partition::from_fn(60, |i| p.label(i).map(|l| 1000 * (u as u64 + 1) - 7 * l as u64))
            .unwrap()
    });
    let renamed = Ensemble::new(renamed.collect()).unwrap();
    for rule in rules() {
        let run = |e: &Ensemble| {
            let mut updater = open(e, 3);
            updater.set_rule(rule.clone()).unwrap();
            updater.update(&links(&truth, 30, 1)).unwrap();
            (updater.to_bytes(), updater.partition().unwrap())
        };
        assert_eq!(run(&e), run(&renamed));
    }
}

#[test]
fn constraints_that_members_agree_on_are_learned() {
    // Three members group by shape, one by colour, and somebody means colour.
    let (shape, colour) = (|i: usize| i % 2, |i: usize| i / 2 % 2);
    let labels =
        ndarray::Array2::from_shape_fn((40, 4), |(i, u)| if u < 3 { shape(i) } else { colour(i) });
    let e = Ensemble::from_array(labels.view()).unwrap();
    let wanted = Partition::from_fn(40, |i| Some(colour(i) as u64)).unwrap();
    for rule in rules() {
        let mut updater = open(&e, 2);
        updater.set_rule(rule.clone()).unwrap();
        let mut best = updater.weights()[3];
        for seed in 0..30 {
            let fresh: Vec<_> = links(&wanted, 20, seed);
            updater.update(&fresh).unwrap();
            // The multiplicative rule leans back towards the weights of one batch before.
            let leans = matches!(rule, UpdateRule::Multiplicative(_));
            assert!(leans || updater.weights()[3] > best - 1e-9, "{rule:?}");
            best = updater.weights()[3];
        }
        assert!(best > 0.5, "{rule:?} {best}");
        assert_eq!(updater.partition().unwrap(), wanted, "{rule:?}");
        assert_eq!(updater.violations().total(), 0);
    }
}

#[test]
fn tiny_and_empty_worlds() {
    let one = Ensemble::from_array(array![[0, -1]].view()).unwrap();
    let mut updater = WeightUpdater::new(one, 1).unwrap();
    assert_eq!(updater.update(&[Pair::must_link(0, 0)]).unwrap().new_constraints, 0);
    assert_eq!(updater.partition().unwrap().to_signed(), vec![0]);
    assert!(updater.next_questions(3, Seed(0)).unwrap().pairs.is_empty());

    let silent = Ensemble::from_array(array![[-1, -1], [-1, -1], [0, -1]].view()).unwrap();
    let mut updater = WeightUpdater::new(silent, 2).unwrap();
    for rule in rules() {
        updater.set_rule(rule).unwrap();
        let report = updater.update(&[Pair::must_link(0, 1), Pair::cannot_link(1, 2)]).unwrap();
        assert_eq!(report.after.total(), 0);
        assert!(updater.weights().iter().all(|g| g.is_finite()));
    }
    assert_eq!(updater.partition().unwrap().to_signed(), vec![-1, -1, 0]);
    let soft = updater.memberships().unwrap();
    assert_eq!(soft.evidence()[0], 0.0);
    assert_eq!(soft.row(0).to_vec(), vec![0.5, 0.5]);

    let e = Ensemble::from_array(array![[0], [1]].view()).unwrap();
    assert_eq!(WeightUpdater::new(e.clone(), 0).unwrap_err().kind(), ErrorKind::InvalidParameter);
    assert_eq!(WeightUpdater::new(e, 3).unwrap_err().kind(), ErrorKind::InvalidParameter);
}

#[test]
fn questions_are_open_and_worth_asking() {
    let (e, truth) = world(5, 80, 9, 0.1);
    let mut updater = open(&e, 3);
    updater.update(&links(&truth, 60, 2)).unwrap();
    let asked = updater.next_questions(15, Seed(1)).unwrap();
    assert_eq!((asked.pairs.len(), asked.objects.len()), (15, 15));
    assert!(asked.pairs.windows(2).all(|w| w[0].movement >= w[1].movement));
    assert!(asked.objects.windows(2).all(|w| w[0].margin <= w[1].margin));
    let mut seen = std::collections::BTreeSet::new();
    for q in &asked.pairs {
        assert_eq!(updater.constraints().relation(q.i, q.j), None);
        assert!(q.i < q.j && seen.insert(q.i) && seen.insert(q.j), "{q:?}");
        assert!((0.0..=1.0 + 1e-12).contains(&q.together));
    }
    // The first answer moves the weights more than an answer that teaches little.
    let all = updater.next_questions(3000, Seed(1)).unwrap().pairs;
    let moved = |q: &crate::PairQuestion| {
        let distance = |link| {
            let mut u = updater.clone();
            u.update(&[Pair::new(q.i, q.j, link)]).unwrap();
            let gamma = u.weights();
            gamma.iter().zip(updater.weights()).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt()
        };
        q.together * distance(Link::Must) + (1.0 - q.together) * distance(Link::Cannot)
    };
    let least = all.iter().min_by(|a, b| a.movement.total_cmp(&b.movement)).unwrap();
    assert!(
        moved(&asked.pairs[0]) > 1.5 * moved(least),
        "{} {}",
        moved(&asked.pairs[0]),
        moved(least)
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Whatever comes, gamma stays on the simplex and the reports are finite.
    #[test]
    fn gamma_stays_on_the_simplex(
        labels in proptest::collection::vec(proptest::collection::vec(-1i8..4, 4), 2..14),
        batches in proptest::collection::vec(
            proptest::collection::vec((0usize..14, 0usize..14, any::<bool>()), 0..6), 1..5),
        rule in 0usize..4,
        clusters in 1usize..4,
    ) {
        let flat: Vec<i8> = labels.concat();
        let table = ndarray::Array2::from_shape_vec((labels.len(), 4), flat).unwrap();
        let e = Ensemble::from_array(table.view()).unwrap();
        let mut updater = open(&e, clusters.min(labels.len()));
        updater.set_rule(rules().swap_remove(rule)).unwrap();
        for batch in batches {
            let batch: Vec<_> = batch
                .into_iter()
                .map(|(i, j, must)| Pair::new(i, j, if must { Link::Must } else { Link::Cannot }))
                .collect();
            let before = updater.to_bytes();
            match updater.update(&batch) {
                Ok(report) => {
                    prop_assert!(report.objective.is_finite());
                    prop_assert!(report.objective_before.is_finite());
                    prop_assert_eq!(report.support, updater.support());
                }
                Err(_) => prop_assert_eq!(updater.to_bytes(), before),
            }
            let gamma = updater.weights();
            prop_assert!(gamma.iter().all(|g| (0.0..=1.0).contains(g)));
            prop_assert!((gamma.iter().sum::<f64>() - 1.0).abs() < 1e-12);
            let all: Vec<usize> = (0..labels.len()).collect();
            let soft = updater.memberships().unwrap();
            prop_assert_eq!(&soft, &updater.memberships_of(&all).unwrap());
            assert_hard_where_clear(&soft, &updater.partition().unwrap());
        }
    }
}
