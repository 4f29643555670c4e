//! Probabilistic consensus on all pairs of members over five objects, and consensus of all pairs of
//! soft members over three objects.
//!
//! A fit by PCC is held to its definition: the objective is summed again pair by pair, and a
//! certificate says that no object gains by moving probability from one cluster to another.

#[path = "reference/soft_methods.rs"]
mod soft_methods;

use consilience::bregman::{Divergence, KullbackLeibler, Pcc, Solver, SquaredEuclidean};
use consilience::catalogue;
use consilience::ndarray::Array2;
use consilience::{ConsensusFunction, Ensemble, Member, Partition, Seed, Status};
use consilience_conformance::small_worlds;

const TOLERANCE: f64 = 1e-4;

/// (c, N) of two objects.
fn counts(e: &Ensemble, i: usize, j: usize) -> (f64, f64) {
    let labels = |u: usize| Some((e.members()[u].label(i)?, e.members()[u].label(j)?));
    let both: Vec<(usize, usize)> = (0..e.n_members()).filter_map(labels).collect();
    (both.iter().filter(|(a, b)| a == b).count() as f64, both.len() as f64)
}

/// The objective over all pairs of objects, and the most that any object gains per unit of
/// probability moved, over the weight of its pairs.
fn assess(e: &Ensemble, y: &Array2<f64>, divergence: &dyn Divergence) -> (f64, f64) {
    let (n, k) = y.dim();
    let (mut objective, mut gap) = (0.0, 0.0f64);
    for i in 0..n {
        let (mut gradient, mut total) = (vec![0.0; k], 0.0);
        for j in (0..n).filter(|&j| j != i) {
            let (c, all) = counts(e, i, j);
            if all == 0.0 {
                continue;
            }
            let v = y.row(i).dot(&y.row(j)).clamp(0.0, 1.0);
            if j < i {
                objective += all * divergence.value(c / all, v);
            }
            let slope = all * divergence.derivative(c / all, v);
            gradient.iter_mut().zip(y.row(j)).for_each(|(g, x)| *g += slope * x);
            total += all;
        }
        if total > 0.0 {
            let least = gradient.iter().copied().fold(f64::INFINITY, f64::min);
            // What has as good as no probability cannot lose any.
            let worst = (0..k).filter(|&c| y[[i, c]] > 1e-6).map(|c| gradient[c]);
            gap = gap.max((worst.fold(f64::NEG_INFINITY, f64::max) - least) / total);
        }
    }
    (objective, gap)
}

/// All worlds under one divergence and solver, every `step`-th of them: how many were solved, and
/// how many ended at a larger objective than that of memberships which are all alike.
fn certified(
    divergence: impl Divergence + Copy + 'static,
    solver: Solver,
    step: usize,
) -> (usize, usize) {
    let (mut solved, mut beaten) = (0, 0);
    for (at, e) in small_worlds(5, 2).in_one_order().enumerate().step_by(step) {
        let clusters = 2 + at / step % 2;
        if (0..5).all(|i| e.members().iter().all(|m| m.label(i).is_none())) {
            continue;
        }
        let pcc = Pcc::new(clusters).divergence(divergence).solver(solver).tolerance(TOLERANCE);
        let fit = pcc.seed(Seed(at as u64)).fit(&e, &()).unwrap();
        let y = fit.output.values().to_owned();
        for row in y.rows() {
            assert!(row.iter().all(|&x| (0.0..=1.0).contains(&x)));
            assert!((row.sum() - 1.0).abs() < 1e-9);
        }
        let (objective, gap) = assess(&e, &y, &divergence);
        let said = fit.report.objective.unwrap();
        let close = (said - objective).abs() <= 1e-6 * (1.0 + objective.abs());
        assert!(close || said == objective, "world {at}: {said}, expected {objective}");
        // The line search makes as many steps as the paper's, which need not be enough.
        if objective.is_finite() && fit.report.status == Status::Solved {
            solved += 1;
            assert!(gap <= 2.0 * TOLERANCE, "world {at}: gap {gap:.2e}\n{y:?}");
        }
        let uniform = Array2::from_elem(y.dim(), 1.0 / clusters as f64);
        beaten += usize::from(assess(&e, &uniform, &divergence).0 < objective - 1e-9);
    }
    (solved, beaten)
}

fn on_one_thread<T: Send>(test: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap().install(test)
}

/// The objective has local optima: four worlds of all end in one that is worse than memberships
/// that are all alike.
#[test]
fn probabilistic_consensus_by_likelihood() {
    let (solved, beaten) = on_one_thread(|| certified(KullbackLeibler, Solver::Newton, 1));
    println!("{solved} solved, {beaten} worse than alike");
    assert!(solved > 20_000 && beaten <= 4, "{solved} {beaten}");
}

#[test]
fn probabilistic_consensus_by_squares() {
    let (solved, beaten) = on_one_thread(|| certified(SquaredEuclidean, Solver::Newton, 1));
    println!("{solved} solved, {beaten} worse than alike");
    assert!(solved > 20_000 && beaten <= 4, "{solved} {beaten}");
}

#[test]
fn probabilistic_consensus_by_line_search() {
    let (solved, _) = on_one_thread(|| certified(KullbackLeibler, Solver::LineSearch, 4));
    println!("{solved} solved by likelihood");
    assert!(solved > 1_000, "{solved}");
    let (solved, _) = on_one_thread(|| certified(SquaredEuclidean, Solver::LineSearch, 4));
    println!("{solved} solved by squares");
    assert!(solved > 1_000, "{solved}");
}

/// Every member of two clusters over three objects, each of which lies in the first, half way
/// between both, in the second, or in none.
fn soft_members() -> Vec<Array2<f64>> {
    let rows = [[1.0, 0.0], [0.5, 0.5], [0.0, 1.0], [0.0, 0.0]];
    (0..64usize)
        .map(|code| Array2::from_shape_fn((3, 2), |(i, c)| rows[code >> (2 * i) & 3][c]))
        .collect()
}

fn soft(values: &Array2<f64>) -> Member {
    consilience::SparseMemberships::from_array(values.view()).unwrap().into()
}

/// The same as labels, where every object is in one cluster or in none.
fn hard(values: &Array2<f64>) -> Option<Partition> {
    let whole = values.iter().all(|&x| x == 0.0 || x == 1.0);
    let label = |i: usize| (0..2u64).find(|&c| values[[i, c as usize]] == 1.0);
    whole.then(|| Partition::from_fn(3, label).unwrap())
}

#[test]
fn pairs_of_soft_members() {
    on_one_thread(|| {
        let members = soft_members();
        for name in soft_methods::METHODS {
            let method = catalogue::by_name(name).unwrap();
            let method = method.build(&catalogue::Settings::new(2)).unwrap();
            let found = |e: &Ensemble| method.consensus(e).map_err(|e| e.to_string());
            let pairs = (0..64).flat_map(|i| (i..64).map(move |j| (i, j)));
            for (a, b) in pairs.map(|(i, j)| (&members[i], &members[j])) {
                let e = Ensemble::mixed([soft(a), soft(b)]).unwrap();
                let Ok(result) = found(&e) else {
                    let silent = a.iter().chain(b).all(|&x| x == 0.0);
                    assert!(silent, "{name}: {:?}\n{a}\n{b}", found(&e));
                    continue;
                };
                for i in 0..3 {
                    let evidence = a.row(i).sum() + b.row(i).sum() > 0.0;
                    assert_eq!(result.label(i).is_some(), evidence, "{name}: {i}\n{a}\n{b}");
                }
                assert!(result.n_clusters() <= 2, "{name}\n{a}\n{b}");
                let turned = Ensemble::mixed([soft(b), soft(a)]).unwrap();
                assert_eq!(found(&turned).as_ref(), Ok(&result), "{name}\n{a}\n{b}");
                if let (Some(a), Some(b)) = (hard(a), hard(b)) {
                    let labels = Ensemble::new(vec![a, b]).unwrap();
                    assert_eq!(found(&labels).as_ref(), Ok(&result), "{name}: as labels");
                }
                // Exact arithmetic: elsewhere ties may fall either way.
                if name == "eac-al" {
                    let twice = Ensemble::mixed([soft(a), soft(a), soft(b)]).unwrap();
                    let weighted = e.with_weights(vec![2.0, 1.0]).unwrap();
                    assert_eq!(found(&weighted), found(&twice), "{name}: weights\n{a}\n{b}");
                }
            }
        }
    });
}
