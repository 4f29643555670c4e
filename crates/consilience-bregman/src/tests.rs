use consilience_conformance::{Profile, planted, same_columns, same_rows, soft_consensus_function};
use consilience_core::{
    ConsensusFunction, Ensemble, ErrorKind, Member, Memberships, MemoryBudget, Microclusters,
    Partition, Seed, SparseMemberships, Status, scores,
};
use ndarray::Array2;

use crate::point::{self, Point, Problem, Row};
use crate::reference::{self, Formula};
use crate::*;

const DIVERGENCES: [(&dyn Divergence, Formula); 2] =
    [(&KullbackLeibler, reference::kl), (&SquaredEuclidean, reference::l2)];

/// Each row divided by its sum.
fn normalized(mut rows: Array2<f64>) -> Array2<f64> {
    for mut row in rows.rows_mut() {
        let sum = row.sum();
        row /= sum;
    }
    rows
}

/// Random distributions, in the interior.
fn inside(seed: u64, n: usize, k: usize) -> Array2<f64> {
    let mut random = Seed(seed).stream();
    normalized(Array2::from_shape_simple_fn((n, k), || 0.02 + random.uniform().powi(4)))
}

/// Noisy, incomplete, with duplicates, unlabelled objects and objects that never meet.
fn worlds() -> Vec<Ensemble> {
    let mut out = Vec::new();
    for (seed, noise, missing) in [(1, 0.1, 0.0), (2, 0.2, 0.3), (3, 0.3, 0.7)] {
        let e = planted(Seed(seed), &[8, 5, 4], 6, noise, missing).unwrap().ensemble;
        let doubled: Vec<usize> = (0..34).map(|i| i * i % 17).collect();
        out.push(e.select_objects(&doubled).unwrap());
        out.push(e);
    }
    let rows: [&[i64]; 2] = [&[0, 0, 1, -1, -1, -1, 2, -1], &[-1, -1, -1, 0, 0, 1, -1, -1]];
    out.push(Ensemble::new(rows.map(|r| Partition::from_labels(r).unwrap()).to_vec()).unwrap());
    out
}

/// Memberships of the objects from those of the nodes, unlabelled ones left at anything.
fn expanded(m: &Microclusters, y: &Array2<f64>) -> Array2<f64> {
    let of = m.grouping().of_object();
    Array2::from_shape_fn((of.len(), y.ncols()), |(i, c)| {
        y.get([of[i] as usize, c]).copied().unwrap_or(if c == 0 { 1.0 } else { 0.0 })
    })
}

#[test]
fn objective_and_gradient_are_those_of_single_objects() {
    for (w, e) in worlds().iter().enumerate() {
        let m = Microclusters::of(e).unwrap();
        let all = PairEvidence::all(&m, MemoryBudget::default()).unwrap();
        let listed = PairEvidence::sampled(&m, 1.0, Seed(0), MemoryBudget::default()).unwrap();
        let y = inside(w as u64, m.n_nodes(), 4);
        let z = expanded(&m, &y);
        let (c, both) = reference::counts(e);
        for (divergence, formula) in DIVERGENCES {
            let expected = reference::objective(&c, &both, formula, &z);
            for evidence in [&all, &listed] {
                let problem = Problem { evidence, divergence, clusters: 4 };
                let point = Point::new(y.view(), evidence.is_dense()).unwrap();
                let found = point::objective(&problem, &point, &()).unwrap();
                assert!((found - expected).abs() < 1e-9 * expected.abs(), "{found} {expected}");
                let mut row = Row::default();
                for (i, &g) in m.grouping().of_object().iter().enumerate() {
                    if (g as usize) < m.n_nodes() {
                        let g = g as usize;
                        row.load(&problem, &point, g);
                        row.predict(&point, point.row(g));
                        row.differentiate(&problem, &point, g, true);
                        let expected = reference::gradient(&c, &both, formula, &z, i);
                        for (a, b) in row.gradient.iter().zip(&expected) {
                            assert!((a - b).abs() < 1e-9 * (1.0 + b.abs()), "{a} {b}");
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn all_pairs_and_listed_pairs_are_the_same_evidence() {
    for e in worlds() {
        let m = Microclusters::of(&e).unwrap();
        let all = PairEvidence::all(&m, MemoryBudget::default()).unwrap();
        let listed = PairEvidence::sampled(&m, 1.0, Seed(0), MemoryBudget::default()).unwrap();
        let pairs = (0..m.n_nodes()).flat_map(|i| {
            all.row(i)
                .into_iter()
                .filter(move |p| p.0 > i)
                .map(move |(j, c, n)| (j, i, c as usize, n as usize))
        });
        let given = PairEvidence::from_pairs(m.n_nodes(), pairs).unwrap();
        let given = given.with_sizes(m.sizes(), all.own()).unwrap();
        assert_eq!(given, listed);
        assert_eq!(all.n_pairs(), listed.n_pairs());
        for i in 0..m.n_nodes() {
            assert_eq!(all.row(i), listed.row(i));
        }
    }
}

/// Rows with memberships that stand for several objects each end about where the objects do one by
/// one; a tangent where it does not bound took them to infinity.
#[test]
fn soft_members_of_rows_that_stand_for_many() {
    for seed in 0..6 {
        let mut s = Seed(seed).stream();
        let n = 24;
        let members = (0..4).map(|_| {
            let blur = 0.2 + 0.6 * s.uniform();
            let values = Array2::from_shape_fn((n, 3), |(i, c)| {
                blur / 3.0 * (0.5 + s.uniform()) + if i % 3 == c { 1.0 - blur } else { 0.0 }
            });
            SparseMemberships::from_array(normalized(values).view()).unwrap().into()
        });
        let rows = Ensemble::mixed(members.collect::<Vec<_>>()).unwrap();
        let counts: Vec<u64> = (0..n).map(|i| 1 + (i as u64 * 5 + seed) % 4).collect();
        let of: Vec<usize> =
            (0..n).flat_map(|i| std::iter::repeat_n(i, counts[i] as usize)).collect();
        let objects = rows.select_objects(&of).unwrap();
        let counted = rows.with_counts(counts).unwrap();
        for solver in [Solver::Newton, Solver::LineSearch] {
            let method = |collapse| {
                let method = Pcc::new(3).solver(solver).pairs(Pairs::All).collapse(collapse);
                method.seed(Seed(seed)).max_iterations(50_000)
            };
            for l2 in [false, true] {
                let fit = |ensemble: &Ensemble, collapse| {
                    let method = method(collapse);
                    let found = match l2 {
                        true => method.divergence(SquaredEuclidean).fit(ensemble, &()),
                        false => method.fit(ensemble, &()),
                    };
                    let report = found.unwrap().report;
                    assert_eq!(report.status, Status::Solved, "{solver:?} {l2} {seed}");
                    report.objective.unwrap()
                };
                let (many, each) = (fit(&counted, true), fit(&objects, false));
                // Not convex: where it ends may differ, but not by much.
                let off = if solver == Solver::Newton { 0.1 } else { 0.3 };
                assert!((many / each - 1.0).abs() < off, "{solver:?} {l2} {seed}: {many} {each}");
            }
        }
    }
}

#[test]
fn the_same_sizes_change_nothing_and_the_diagonal_is_no_pair() {
    let soft = |rows: Array2<f64>| SparseMemberships::from_array(rows.view()).unwrap();
    let e = Ensemble::mixed([
        soft(ndarray::array![[0.5, 0.5], [0.5, 0.5], [1.0, 0.0], [0.0, 1.0]]).into(),
        Partition::from_labels(&[0, 0, 0, 1]).unwrap().into(),
    ]);
    let soft = Microclusters::of(&e.unwrap()).unwrap();
    let hard = Microclusters::of(&worlds().into_iter().next().unwrap()).unwrap();
    for m in [soft, hard] {
        let all = PairEvidence::all(&m, MemoryBudget::default()).unwrap();
        let own = all.own().to_vec();
        assert_eq!(all.clone().with_sizes(m.sizes(), &own).unwrap(), all);
        let unknown = all.clone().with_sizes(m.sizes(), &vec![0.0; own.len()]).unwrap();
        assert_eq!(unknown.n_pairs(), all.n_pairs());
    }
}

#[test]
fn samples_have_their_share_and_the_right_counts() {
    let e = planted(Seed(9), &[700, 500, 300], 7, 0.4, 0.3).unwrap().ensemble;
    let m = Microclusters::of(&e).unwrap();
    let n = m.n_nodes();
    let all = PairEvidence::all(&m, MemoryBudget::default()).unwrap();
    let some = PairEvidence::sampled(&m, 0.02, Seed(3), MemoryBudget::default()).unwrap();
    let (found, expected) = (some.n_pairs() as f64, 0.02 * all.n_pairs() as f64);
    assert!((found - expected).abs() < 6.0 * expected.sqrt(), "{found} {expected}");
    for i in (0..n).step_by(37) {
        let full = all.row(i);
        for pair in some.row(i) {
            assert!(full.contains(&pair));
            assert!(some.row(pair.0).contains(&(i, pair.1, pair.2)));
        }
    }
}

/// Pairs of objects inside a microcluster are drawn with the same probability as all others: their
/// part of the objective is, in the mean, the share of what it is among all pairs.
#[test]
fn samples_count_every_pair_of_objects_alike() {
    let e = planted(Seed(4), &[60, 40, 20], 3, 0.2, 0.2).unwrap().ensemble;
    let m = Microclusters::of(&e).unwrap();
    assert!(m.sizes().iter().any(|&s| s > 10));
    let y = inside(1, m.n_nodes(), 3);
    // What is left of the objective without the pairs of different microclusters.
    let within = |evidence: &PairEvidence| {
        let problem = Problem { evidence, divergence: &KullbackLeibler, clusters: 3 };
        let point = Point::new(y.view(), evidence.is_dense()).unwrap();
        let mut rest = point::objective(&problem, &point, &()).unwrap();
        for i in 0..m.n_nodes() {
            for (j, c, both) in evidence.row(i).into_iter().filter(|p| p.0 > i) {
                let sizes = (m.sizes()[i] * m.sizes()[j]) as f64;
                rest -= sizes * both * reference::kl(c / both, y.row(i).dot(&y.row(j))).0;
            }
        }
        rest
    };
    let budget = MemoryBudget::default();
    let all = within(&PairEvidence::all(&m, budget).unwrap());
    assert!(all > 1.0, "{all}");
    for share in [0.05, 0.4, 1.0] {
        let sampled = within(&PairEvidence::sampled(&m, share, Seed(2), budget).unwrap());
        assert!((sampled / (share * all) - 1.0).abs() < 1e-9, "{share}: {sampled} {all}");
    }
}

/// The paper's solver takes the very steps of the reference where no microcluster and no sampling
/// makes it another problem.
#[test]
fn line_search_is_the_papers() {
    // Many members: no two objects alike, whose tie could go either way.
    for w in 20..23 {
        let e = planted(Seed(w), &[8, 5, 4], 40, 0.3, 0.0).unwrap().ensemble;
        let m = Microclusters::each_object(&e).unwrap();
        assert_eq!(Microclusters::of(&e).unwrap().n_nodes(), 17);
        let (c, both) = reference::counts(&e);
        for dense in [true, false] {
            let evidence = if dense {
                PairEvidence::all(&m, MemoryBudget::default()).unwrap()
            } else {
                PairEvidence::sampled(&m, 1.0, Seed(0), MemoryBudget::default()).unwrap()
            };
            for (divergence, formula) in DIVERGENCES {
                let y = inside(w, m.n_nodes(), 3);
                let mut expected = y.clone();
                reference::line_search(&c, &both, formula, &mut expected, 25, 1e-9);
                let mut point = Point::new(y.view(), dense).unwrap();
                let problem = Problem { evidence: &evidence, divergence, clusters: 3 };
                line_search::solve(&problem, &mut point, 1e-12, 25, &()).unwrap();
                let found = point.into_array();
                let worst =
                    found.iter().zip(&expected).fold(0.0f64, |w, (a, b)| w.max((a - b).abs()));
                assert!(worst < 1e-4, "{} dense {dense}, world {w}: {worst}", divergence.name());
            }
        }
    }
}

#[test]
fn every_iterate_is_feasible_and_the_objective_never_rises() {
    for (w, e) in worlds().iter().enumerate() {
        let m = Microclusters::of(e).unwrap();
        for share in [None, Some(0.6)] {
            let budget = MemoryBudget::default();
            let evidence = match share {
                None => PairEvidence::all(&m, budget).unwrap(),
                Some(share) => PairEvidence::sampled(&m, share, Seed(1), budget).unwrap(),
            };
            for (divergence, _) in DIVERGENCES {
                let problem = Problem { evidence: &evidence, divergence, clusters: 4 };
                let start = inside(w as u64, m.n_nodes(), 4);
                let start = Point::new(start.view(), share.is_none()).unwrap();
                for newton in [true, false] {
                    let mut point = start.clone();
                    let mut last = point::objective(&problem, &point, &()).unwrap();
                    for round in 0..30 {
                        let (_, converged) = if newton {
                            newton::solve(&problem, &mut point, 1e-9, 1, &()).unwrap()
                        } else {
                            line_search::solve(&problem, &mut point, 1e-9, 3, &()).unwrap()
                        };
                        let next = point::objective(&problem, &point, &()).unwrap();
                        // Below 1e-12 the objective is rounding: the members agree.
                        let slack = 1e-12 * last.abs().max(1.0);
                        assert!(next <= last + slack, "{round}: {last} to {next}");
                        last = next;
                        for i in 0..m.n_nodes() {
                            let row = point.row(i);
                            assert!(row.iter().all(|v| (0.0..=1.0 + 1e-12).contains(v)));
                            assert!((row.iter().sum::<f64>() - 1.0).abs() < 1e-9);
                        }
                        if converged {
                            break;
                        }
                    }
                }
            }
        }
    }
}

/// The beta divergence of exponent 3/2: finite, but without a bound on how steep it is at its ends.
#[derive(Debug)]
struct Beta;

impl Divergence for Beta {
    fn name(&self) -> &str {
        "beta 3/2"
    }

    fn value(&self, u: f64, v: f64) -> f64 {
        let half = |u: f64, v: f64| (u.powf(1.5) + 0.5 * v.powf(1.5) - 1.5 * u * v.sqrt()) / 0.75;
        half(u, v) + half(1.0 - u, 1.0 - v)
    }

    fn derivative(&self, u: f64, v: f64) -> f64 {
        let (low, high) = (v.max(1e-100), (1.0 - v).max(1e-100));
        (v - u) * (1.0 / low.sqrt() + 1.0 / high.sqrt())
    }

    fn curvature(&self, u: f64, v: f64) -> f64 {
        let half = |u: f64, v: f64| v.powf(-0.5) + u * v.powf(-1.5);
        0.5 * (half(u, v.max(1e-100)) + half(1.0 - u, (1.0 - v).max(1e-100)))
    }
}

/// Rows of which two count up to 2^40, and members, of memberships or with labels that are missing
/// here and there, that weigh 1e-3 to 1e3.
fn uneven(seed: u64, n: usize) -> Ensemble {
    let mut s = Seed(seed).stream();
    let (groups, members) = (2 + s.below(3), 3 + s.below(5));
    let mut out: Vec<Member> = Vec::new();
    for _ in 0..members {
        if s.uniform() < 0.5 {
            let small = 10f64.powf(-6.0 * s.uniform());
            let values = Array2::from_shape_fn((n, groups), |(i, g)| {
                let own = if i % groups == g { 0.2 + s.uniform() } else { 0.0 };
                own + small * s.uniform().powi(6) + 1e-9
            });
            out.push(SparseMemberships::from_array(normalized(values).view()).unwrap().into());
        } else {
            let label = |i: usize| match s.uniform() {
                missing if missing < 0.15 => -1,
                any if any < 0.3 => s.below(groups) as i64,
                _ => (i % groups) as i64,
            };
            let labels: Vec<i64> = (0..n).map(label).collect();
            out.push(Partition::from_labels(&labels).unwrap().into());
        }
    }
    let weights: Vec<f64> = (0..members).map(|_| 10f64.powf(6.0 * s.uniform() - 3.0)).collect();
    let mut counts: Vec<u64> = (0..n).map(|_| 1 + s.below(4) as u64).collect();
    counts[..2].fill_with(|| 2f64.powf(10.0 + 30.0 * s.uniform()) as u64);
    Ensemble::mixed(out).unwrap().with_counts(counts).unwrap().with_weights(weights).unwrap()
}

/// All pairs of an [`uneven`] ensemble, and some.
fn uneven_evidence(seed: u64, n: usize) -> [PairEvidence; 2] {
    let nodes = Microclusters::of(&uneven(seed, n)).unwrap();
    let budget = MemoryBudget::default();
    let some = PairEvidence::sampled(&nodes, 0.7, Seed(seed), budget).unwrap();
    [PairEvidence::all(&nodes, budget).unwrap(), some]
}

/// Heavy pairs press v of light ones to where only rounding is left of it, and then on to where the
/// objective is infinite; so it was with KL in a quarter of these cases.
#[test]
fn uneven_weights_never_raise_the_objective() {
    for seed in 0..48 {
        // Objects enough that several move at once, now and then.
        let (n, rounds) = if seed % 12 == 0 { (96, 12) } else { (8, 40) };
        for evidence in &uneven_evidence(seed, n) {
            for divergence in [&KullbackLeibler as &dyn Divergence, &SquaredEuclidean, &Beta] {
                let clusters = 2 + seed as usize % 4;
                never_rises(&Problem { evidence, divergence, clusters }, seed, rounds);
            }
        }
    }
}

fn never_rises(problem: &Problem<'_>, seed: u64, rounds: usize) {
    let (evidence, n) = (problem.evidence, problem.evidence.n_nodes());
    let mut y = Start::Perturbed.of_nodes(None, n, problem.clusters, Seed(seed)).unwrap();
    for i in (0..n).filter(|&i| evidence.alone(i)) {
        y.row_mut(i).fill(1.0 / problem.clusters as f64);
    }
    let start = Point::new(y.view(), evidence.is_dense()).unwrap();
    let mut row = Row::default();
    let weight = |i: usize| {
        row.load(problem, &start, i);
        evidence.sizes()[i] as f64 * row.total(problem, i)
    };
    // Sums over pairs are rounded.
    let slack = 1e-14 * (0..n).map(weight).sum::<f64>();
    for newton in [true, false] {
        let mut point = start.clone();
        let mut last = point::objective(problem, &point, &()).unwrap();
        for round in 0..rounds {
            let (_, converged) = if newton {
                newton::solve(problem, &mut point, 1e-9, 1, &()).unwrap()
            } else {
                line_search::solve(problem, &mut point, 1e-9, 3, &()).unwrap()
            };
            let next = point::objective(problem, &point, &()).unwrap();
            let name = problem.divergence.name();
            assert!(
                next.is_finite() && next <= last + slack + 1e-12 * last.abs(),
                "{name}, seed {seed}, newton {newton}, round {round}: {last} to {next}"
            );
            last = next;
            if converged {
                break;
            }
        }
    }
}

/// The last moves of a sweep may open gaps that were closed when it began: so it was in one of 300
/// of these.
#[test]
fn what_is_solved_has_the_gap_asked_for() {
    let mut solved = 0;
    for seed in 0..200 {
        for evidence in &uneven_evidence(seed, 8) {
            let clusters = (2 + seed as usize % 4).min(evidence.n_nodes());
            for (tolerance, solver) in [
                (1e-2, Solver::Newton),
                (1e-3, Solver::Newton),
                (1e-4, Solver::Newton),
                (1e-3, Solver::LineSearch),
            ] {
                let method = Pcc::new(clusters).solver(solver).tolerance(tolerance).restarts(1);
                let method = method.seed(Seed(seed)).max_iterations(100);
                let found = method.fit_evidence(evidence, &()).unwrap();
                if found.report.status == Status::Solved {
                    let gap = found.output.gap;
                    assert!(gap <= tolerance * (1.0 + 1e-12), "{solver:?} {seed}: {gap}");
                    solved += 1;
                }
            }
        }
    }
    assert!(solved > 1000, "{solved}");
}

#[test]
fn both_roads_reach_the_same_objective() {
    let e = planted(Seed(4), &[60, 40, 30], 12, 0.15, 0.1).unwrap().ensemble;
    for l2 in [false, true] {
        let pcc = |solver| {
            let p = Pcc::new(4).solver(solver).restarts(1).tolerance(1e-6).max_iterations(200_000);
            let p = if l2 { p.divergence(SquaredEuclidean) } else { p };
            p.fit(&e, &()).unwrap()
        };
        let (newton, paper) = (pcc(Solver::Newton), pcc(Solver::LineSearch));
        assert_eq!((newton.report.status, paper.report.status), (Status::Solved, Status::Solved));
        let (a, b) = (newton.report.objective.unwrap(), paper.report.objective.unwrap());
        assert!((a - b).abs() < 1e-6 * b, "{a} {b}");
        assert!(newton.report.iterations * 20 < paper.report.iterations);
        let j = scores::jensen_shannon(&newton.output, &paper.output).unwrap();
        assert!(j < 1e-4, "{j}");
    }
}

#[test]
fn collapsed_and_single_objects_agree() {
    let e = planted(Seed(5), &[20, 15, 9], 3, 0.1, 0.1).unwrap().ensemble;
    let m = Microclusters::of(&e).unwrap();
    assert!(m.n_nodes() < 35);
    let fit = |collapse: bool| Pcc::new(3).collapse(collapse).tolerance(1e-7).fit(&e, &()).unwrap();
    let (nodes, objects) = (fit(true), fit(false));
    let (a, b) = (nodes.report.objective.unwrap(), objects.report.objective.unwrap());
    assert!((a - b).abs() < 1e-5 * b, "{a} {b}");
    assert!(scores::jensen_shannon(&nodes.output, &objects.output).unwrap() < 1e-4);
}

#[test]
fn soft_structure_is_recovered_and_spare_clusters_empty_themselves() {
    // Each object's true memberships, and members drawn from them.
    let (n, mut random) = (120, Seed(6).stream());
    let mut truth = Array2::zeros((n, 3));
    for i in 0..n {
        let (own, t) = (i % 3, 0.45 * random.uniform().powi(3));
        truth[[i, own]] += 1.0 - t;
        truth[[i, (own + 1) % 3]] += t;
    }
    let members = (0..600)
        .map(|_| {
            let label = |i: usize| {
                let own = i % 3;
                if random.uniform() < truth[[i, own]] { own } else { (own + 1) % 3 }
            };
            let labels: Vec<usize> = (0..n).map(label).collect();
            Partition::from_labels(&labels).unwrap()
        })
        .collect();
    let e = Ensemble::new(members).unwrap();
    let truth = Memberships::new(truth).unwrap();
    for l2 in [false, true] {
        let p = if l2 { Pcc::new(7).divergence(SquaredEuclidean) } else { Pcc::new(7) };
        let fit = p.fit(&e, &()).unwrap();
        assert_eq!(fit.report.status, Status::Solved);
        assert_eq!(surviving_clusters(&fit.output).len(), 3);
        let j = scores::jensen_shannon(&fit.output, &truth).unwrap();
        assert!(j < 1e-3, "{j}");
    }
}

#[test]
fn given_starts_are_taken_and_checked() {
    let world = planted(Seed(7), &[20, 15, 9], 10, 0.1, 0.1).unwrap();
    let e = &world.ensemble;
    let plain = Pcc::new(3).tolerance(1e-7).fit(e, &()).unwrap();
    for start in [Start::Partition(world.truth.clone()), Start::Memberships(plain.output.clone())] {
        let warm = Pcc::new(3).tolerance(1e-7).start(start).fit(e, &()).unwrap();
        let (a, b) = (warm.report.objective.unwrap(), plain.report.objective.unwrap());
        assert!((a - b).abs() < 1e-5 * b, "{a} {b}");
    }
    let of = |p: Pcc| p.fit(e, &()).unwrap_err().kind();
    assert_eq!(
        of(Pcc::new(2).start(Start::Partition(world.truth.clone()))),
        ErrorKind::InvalidParameter
    );
    let short = Partition::from_labels(&[0, 1]).unwrap();
    assert_eq!(of(Pcc::new(2).start(Start::Partition(short))), ErrorKind::ShapeMismatch);
}

#[test]
fn bad_parameters_are_refused() {
    let e = worlds().remove(0);
    let of = |p: Pcc| p.fit(&e, &()).unwrap_err();
    for p in [
        Pcc::new(2).tolerance(0.0),
        Pcc::new(2).tolerance(f64::NAN),
        Pcc::new(2).tolerance(f64::INFINITY),
        Pcc::new(2).restarts(0),
        Pcc::new(2).max_iterations(0),
        Pcc::new(2).pairs(Pairs::Sampled { share: 0.0 }),
        Pcc::new(2).pairs(Pairs::Sampled { share: 1.5 }),
        Pcc::new(2).pairs(Pairs::Sampled { share: f64::NAN }),
    ] {
        assert_eq!(of(p).kind(), ErrorKind::InvalidParameter);
    }
    let tiny = MemoryBudget::bytes(100);
    assert_eq!(of(Pcc::new(2).memory_budget(tiny)).kind(), ErrorKind::TooLarge);
    let evidence = PairEvidence::from_pairs(3, [(0, 1, 1, 2)]).unwrap();
    for k in [0, 4] {
        assert_eq!(
            Pcc::new(k).fit_evidence(&evidence, &()).unwrap_err().kind(),
            ErrorKind::InvalidParameter
        );
    }
    let bad = |pairs: &[(usize, usize, usize, usize)]| {
        PairEvidence::from_pairs(3, pairs.iter().copied()).unwrap_err().kind()
    };
    assert_eq!(bad(&[(0, 3, 1, 2)]), ErrorKind::OutOfRange);
    assert_eq!(bad(&[(1, 1, 1, 2)]), ErrorKind::InvalidParameter);
    assert_eq!(bad(&[(0, 1, 3, 2)]), ErrorKind::InvalidParameter);
    assert_eq!(bad(&[(0, 1, 1, 70_000)]), ErrorKind::TooLarge);
    assert_eq!(PairEvidence::from_pairs(0, []).unwrap_err().kind(), ErrorKind::Empty);
    for own in [-1.0, f64::NAN, f64::INFINITY, 1e300] {
        let sized = evidence.clone().with_sizes(&[1, 2, u64::MAX], &[1.0, 1.0, own]);
        assert_eq!(sized.unwrap_err().kind(), ErrorKind::InvalidParameter);
    }
    let merged = PairEvidence::from_pairs(3, [(0, 1, 1, 2), (1, 0, 2, 2)]).unwrap();
    assert_eq!(merged.row(0), [(1, 3.0, 4.0)]);
}

#[test]
fn objects_outside_the_sample_are_uniform_without_evidence() {
    let e = planted(Seed(8), &[30, 20], 5, 0.4, 0.0).unwrap().ensemble;
    let fit =
        Pcc::new(2).collapse(false).pairs(Pairs::Sampled { share: 0.02 }).fit(&e, &()).unwrap();
    let left_out: Vec<usize> = (0..50).filter(|&i| fit.output.evidence()[i] == 0.0).collect();
    assert!(!left_out.is_empty() && left_out.len() < 50);
    assert!(left_out.iter().all(|&i| fit.output.row(i).iter().all(|&v| v == 0.5)));
    assert!(fit.report.notes.iter().any(|n| n.contains("no sampled pair")));
}

#[test]
fn impossible_counts_have_no_finite_objective() {
    // One cluster says that all are together always.
    let e = worlds().remove(1);
    let fit = Pcc::new(1).fit(&e, &()).unwrap();
    assert_eq!(fit.report.objective, None);
    assert!(fit.output.values().iter().all(|&v| v == 1.0));
    assert!(
        Pcc::new(1).divergence(SquaredEuclidean).fit(&e, &()).unwrap().report.objective.is_some()
    );
}

/// K is an upper bound: fewer clusters may survive. Local optima depend on the seeded starts, which
/// belong to microclusters by number; reordering the objects reorders them.
fn profile() -> Profile {
    Profile {
        exact_clusters: false,
        object_permutation: false,
        object_ties: false,
        small_worlds: (4, 2),
        ..Profile::default()
    }
}

fn laws(make: impl Fn(usize) -> Pcc + Send + Sync, profile: Profile) {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    pool.install(|| soft_consensus_function(&|k| Box::new(make(k)), &profile));
}

#[test]
fn kl_obeys_the_laws() {
    laws(Pcc::new, profile());
}

#[test]
fn l2_obeys_the_laws() {
    let profile = Profile { small_worlds: (3, 2), ..profile() };
    laws(|k| Pcc::new(k).divergence(SquaredEuclidean), profile);
}

#[test]
fn line_search_obeys_the_laws() {
    // To the end: where the paper's cap stops, doubled objects may be at another point.
    let method = |k| Pcc::new(k).solver(Solver::LineSearch).max_iterations(100_000);
    laws(method, Profile { small_worlds: (3, 2), ..profile() });
}

/// Columns of the memberships, rows of the centroids that follow from them, labels.
#[test]
fn column_row_and_label_j_are_one_cluster() {
    for seed in 0..4 {
        let world = planted(Seed(seed), &[30, 20, 10], 8, 0.1, 0.1).unwrap();
        let mut draw = Seed(seed).stream();
        let x = Array2::from_shape_fn((60, 2), |(i, j)| {
            let class = world.truth.label(i).unwrap_or(0) as f64;
            [class, class * class][j] * 9.0 + draw.normal()
        });
        let soft = Pcc::new(4).fit(&world.ensemble, &()).unwrap().output;
        let hard = soft.hard().unwrap();
        same_columns(&hard, &soft);
        same_rows(&hard, (&x).into(), crate::centroids(&soft, (&x).into()).unwrap().view());
    }
}
