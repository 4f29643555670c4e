use consilience_core::{Ensemble, ErrorKind, Link, Pair, Status};
use ndarray::Array1;

use super::{links, open, world};
use crate::reference::{Naive, additive, dense, errors, memberships};
use crate::{AdditiveUpdate, ExactUpdate, MultiplicativeUpdate, PairLoss, WeightUpdater};

fn naive(
    updater: &WeightUpdater,
    links: &[Pair],
    loss: PairLoss,
    balance: bool,
    lambda: f64,
) -> Naive {
    Naive {
        p: dense(updater),
        links: links.to_vec(),
        balance,
        anchor: Array1::from(updater.weights()),
        lambda,
        loss,
    }
}

#[test]
fn exact_equals_the_dense_problem_and_its_gap_is_true() {
    for seed in 0..6 {
        for (missing, balance, lambda) in
            [(0.0, true, None), (0.3, false, None), (0.2, true, Some(1.5))]
        {
            let (e, truth) = world(seed, 60, 6, missing);
            let mut updater = open(&e, 3);
            updater.set_weights(&(0..9).map(|u| 1.0 + (u % 3) as f64).collect::<Vec<_>>()).unwrap();
            let batch = links(&truth, 40, seed);
            let reference = naive(
                &updater,
                &batch,
                PairLoss::Squared,
                balance,
                lambda.unwrap_or(batch.len() as f64),
            );
            let best = reference.value(&reference.solve(1500));
            let mut rule = ExactUpdate::default().gap(1e-9).balance(balance);
            if let Some(l) = lambda {
                rule = rule.regularization(l);
            }
            updater.set_rule(rule).unwrap();
            let before = reference.value(&Array1::from(updater.weights()));
            let report = updater.update(&batch).unwrap();
            let now = Array1::from(updater.weights());
            assert_eq!(report.status, Status::Solved);
            assert!(
                (report.objective_before - before).abs() < 1e-9 * before,
                "{report:?} {before}"
            );
            assert!((report.objective - reference.value(&now)).abs() < 1e-9 * report.objective);
            let gap = report.gap.unwrap();
            assert!(gap <= 2e-9, "{gap}");
            // The certificate: nobody gets further below than it says.
            assert!(
                report.objective - best <= gap * report.objective + 1e-12,
                "{} {best}",
                report.objective
            );
            assert!(report.objective <= best * (1.0 + 1e-8), "{} {best}", report.objective);
            assert!(report.objective < report.objective_before);
        }
    }
}

/// Both ways to the gradient: one matrix where all labels are known, else block by block; here of
/// several blocks and of more pairs than bytes can count at once.
#[test]
fn long_batches_equal_the_dense_problem() {
    for missing in [0.0, 0.01] {
        let (e, truth) = world(3, 160, 4, missing);
        let mut updater = open(&e, 4);
        let batch = links(&truth, 5000, 8);
        let reference = naive(&updater, &batch, PairLoss::Squared, true, 5000.0);
        updater.set_rule(ExactUpdate::default().gap(1e-7)).unwrap();
        let before = reference.value(&Array1::from(updater.weights()));
        let report = updater.update(&batch).unwrap();
        let now = reference.value(&Array1::from(updater.weights()));
        assert!((report.objective_before / before - 1.0).abs() < 1e-9);
        assert!((report.objective / now - 1.0).abs() < 1e-9);
        // At the optimum the gradient is level on the support and no lower elsewhere.
        let at = Array1::from(updater.weights());
        let g = reference.gradient(&at);
        let least = g.iter().fold(f64::INFINITY, |m, &g| m.min(g));
        assert!(g.dot(&at) - least < 1e-3 * now, "{} {least} {now}", g.dot(&at));
    }
}

#[test]
fn a_loose_gap_is_true_too() {
    for seed in 0..10 {
        let (e, truth) = world(seed, 50, 9, 0.1);
        let mut updater = open(&e, 3);
        let batch = links(&truth, 30, seed);
        let reference = naive(&updater, &batch, PairLoss::Squared, true, 0.1);
        let best = reference.value(&reference.solve(1500));
        for (gap, cap) in [(0.5, 1000), (1e-2, 1000), (0.0, 0), (0.0, 1), (0.0, 7)] {
            let mut u = updater.clone();
            u.set_rule(ExactUpdate::default().regularization(0.1).gap(gap).max_iterations(cap))
                .unwrap();
            let report = u.update(&batch).unwrap();
            assert!(report.iterations <= cap);
            let stated = report.gap.unwrap();
            assert!(
                report.objective - best <= stated * report.objective + 1e-9,
                "{report:?} {best}"
            );
        }
        // Without any pull the certificate is the linear one.
        updater.set_rule(ExactUpdate::default().regularization(0.0).gap(1e-4)).unwrap();
        let report = updater.update(&batch).unwrap();
        assert_eq!(report.status, Status::Solved);
    }
}

#[test]
fn probability_loss_descends_to_a_stationary_point() {
    for seed in 0..8 {
        let (e, truth) = world(seed, 50, 6, if seed % 2 == 0 { 0.2 } else { 0.0 });
        let mut updater = open(&e, 3);
        let batch = links(&truth, 30, seed);
        let reference = naive(&updater, &batch, PairLoss::Probability, true, 3.0);
        let rule = ExactUpdate::default().loss(PairLoss::Probability).regularization(3.0).gap(1e-9);
        updater.set_rule(rule).unwrap();
        let report = updater.update(&batch).unwrap();
        let now = Array1::from(updater.weights());
        assert_eq!((report.status, report.gap), (Status::Solved, None));
        assert!(
            (report.objective - reference.value(&now)).abs()
                < 1e-9 * report.objective.abs().max(1.0)
        );
        assert!(report.objective <= report.objective_before);
        let g = reference.gradient(&now);
        let least = g.iter().fold(f64::INFINITY, |m, &g| m.min(g));
        // The tangent with its quadratic term is flat to 1e-9, the tangent alone to its square
        // root.
        assert!(g.dot(&now) - least < 1e-2, "{} {least}", g.dot(&now));
        // The expected number of violations, each object over the members that label it.
        let (f, _) = memberships(&updater);
        let violated = |&Pair { i, j, link }: &Pair| {
            let together = f.row(i).dot(&f.row(j));
            if link == Link::Must { 1.0 - together } else { together }
        };
        let expected: f64 = batch.iter().map(violated).sum();
        let found = report.after.expected;
        assert!((found - expected).abs() < 1e-9, "{found}, by definition {expected}");
    }
}

#[test]
fn relaxed_rules_equal_their_formulas() {
    for seed in 0..8 {
        for (missing, balance) in [(0.0, false), (0.0, true), (0.3, true)] {
            let (e, truth) = world(seed, 50, 6, missing);
            let mut updater = open(&e, 3);
            let batch = links(&truth, 30, seed);
            updater.set_rule(AdditiveUpdate::default().step(0.7).balance(balance)).unwrap();
            let expected = additive(&updater, &batch, 0.7, balance);
            updater.update(&batch).unwrap();
            close(&updater.weights(), &expected);

            updater.set_rule(MultiplicativeUpdate::default().step(0.2).balance(balance)).unwrap();
            let (now, earlier) = (updater.weights(), vec![1.0 / 9.0; 9]);
            let more: Vec<_> = links(&truth, 60, seed + 100)
                .into_iter()
                .filter(|l| !batch.contains(l))
                .take(20)
                .collect();
            let e = errors(&updater, &more, balance);
            // Eq. 6.12 with lambda = p and eta = step / p.
            let (p, eta) = (more.len() as f64, 0.2 / more.len() as f64);
            let mut expected: Vec<f64> = (0..9)
                .map(|u| {
                    (1.0 - 2.0 * p * eta) * now[u] + 2.0 * p * eta * earlier[u]
                        - eta * now[u] * e[u]
                })
                .collect();
            consilience_num::simplex::project_simplex(&mut expected);
            updater.update(&more).unwrap();
            close(&updater.weights(), &expected);
        }
    }
}

fn close(a: &[f64], b: &[f64]) {
    assert!(a.iter().zip(b).all(|(a, b)| (a - b).abs() < 2e-9), "{a:?} {b:?}");
}

#[test]
fn parameters_out_of_range_are_refused() {
    let e = Ensemble::from_array(ndarray::array![[0, 0], [1, 0]].view()).unwrap();
    let mut updater = open(&e, 2);
    for gap in [-1.0, f64::NAN] {
        assert_eq!(
            kind(updater.set_rule(ExactUpdate::default().gap(gap))),
            ErrorKind::InvalidParameter
        );
    }
    let endless = ExactUpdate::default().gap(0.0).max_iterations(usize::MAX);
    assert_eq!(kind(updater.set_rule(endless)), ErrorKind::InvalidParameter);
    for lambda in [-1.0, f64::NAN, f64::INFINITY] {
        assert_eq!(
            kind(updater.set_rule(ExactUpdate::default().regularization(lambda))),
            ErrorKind::InvalidParameter
        );
    }
    for step in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert_eq!(
            kind(updater.set_rule(AdditiveUpdate::default().step(step))),
            ErrorKind::InvalidParameter
        );
        let rule = MultiplicativeUpdate::default().step(step);
        assert_eq!(kind(updater.set_rule(rule)), ErrorKind::InvalidParameter);
    }
}

fn kind(result: consilience_core::Result<()>) -> ErrorKind {
    result.unwrap_err().kind()
}
