use consilience_core::{Clusters, ErrorKind, MemoryBudget, Seed, Status};
use ndarray::{Array1, Array2};

use super::layout::Layout;
use super::mixture::Mixture;
use super::objects::Objects;
use super::prior::Prior;
use super::reference::{Naive, Said};
use super::small::Shape;
use super::state::{Fixed, State};
use crate::answers::Answers;
use crate::block_model::crowd;
use crate::{GroupAnswer, PairAnswer, PositionModel};

/// Every answer, in the numbers of the answered objects.
fn said(answers: &Answers) -> Vec<Said> {
    let place = |i: usize| answers.answered().binary_search(&(i as u32)).unwrap();
    let worker = |w: usize| answers.workers().binary_search(&w).unwrap();
    let one =
        |p: PairAnswer| (worker(p.worker), place(p.i), place(p.j), if p.same { 1.0 } else { -1.0 });
    answers.pairs().map(one).collect()
}

/// The same factors, to go on with naively.
fn naive(state: &State, shape: &Shape, prior: Prior, said: Vec<Said>) -> Naive {
    let d = shape.d;
    let covariance = |mean: &[f64], second: &[f64]| {
        let full = shape.full(second);
        Array2::from_shape_fn((d, d), |(r, c)| full[r * d + c] - mean[r] * mean[c])
    };
    let square =
        |values: &[f64], n: usize| Array2::from_shape_vec((n, n), values.to_vec()).unwrap();
    let n = state.objects.mean.len() / d;
    let t = state.mixture.components.len();
    let array = |values: &[f64]| Array1::from(values.to_vec());
    Naive {
        said,
        prior,
        x: (0..n)
            .map(|i| state.objects.of(shape, i))
            .map(|(mean, second)| (array(mean), covariance(mean, second)))
            .collect(),
        u: (state.workers.each.iter())
            .map(|w| (array(&w.mean), square(&w.covariance, shape.q())))
            .collect(),
        crowd: array(&state.workers.crowd),
        crowd_variance: array(&state.workers.crowd_variance),
        spread: state.workers.spread,
        q: Array2::from_shape_vec((n, t), state.mixture.q.clone()).unwrap(),
        components: (state.mixture.components.iter())
            .map(|c| (array(&c.mean), c.weight, square(&c.scale, d), c.freedom))
            .collect(),
        sticks: state.mixture.sticks.clone(),
        concentration: state.mixture.concentration,
    }
}

/// All numbers of all factors.
fn numbers(naive: &Naive) -> Vec<f64> {
    let mut out = Vec::new();
    for (mean, square) in naive.x.iter().chain(&naive.u) {
        out.extend(mean.iter().chain(square));
    }
    out.extend(naive.crowd.iter().chain(&naive.crowd_variance).chain(&naive.q));
    out.extend(naive.spread.as_flattened().iter().chain(naive.sticks.as_flattened()));
    out.extend(naive.concentration);
    for (mean, weight, scale, freedom) in &naive.components {
        out.extend(mean.iter().chain(scale).chain([weight, freedom]));
    }
    out
}

/// Crowds of large tasks, pairs, one answer a worker, an answer given twice, silent workers.
fn crowds() -> Vec<Answers> {
    let large = crowd(3, 14, 4, (1, 9), 0.2, 1, 1);
    let pairs = crowd(2, 10, 5, (6, 2), 0.2, 0, 2);
    let mut once: Vec<GroupAnswer> = crowd(3, 12, 30, (1, 2), 0.1, 0, 3);
    once.push(GroupAnswer { worker: 77, task: 0, item: 3, group: 0 });
    let mut stream = Seed(4).stream();
    let mut again: Vec<PairAnswer> = (0..20)
        .map(|at| (at % 3, stream.below(9), 9 + stream.below(3), stream.uniform() < 0.5))
        .map(|(worker, i, j, same)| PairAnswer { worker, i, j, same })
        .collect();
    again.push(again[0]);
    vec![
        Answers::from_groupings(14, &large).unwrap(),
        Answers::from_groupings(10, &pairs).unwrap(),
        Answers::from_groupings(12, &once).unwrap(),
        Answers::from_pairs(12, &again).unwrap(),
    ]
}

fn labels(n: usize, k: usize, seed: u64) -> Vec<u32> {
    let mut stream = Seed(seed).stream();
    let label = |i: usize| if i < k { i } else { stream.below(k) };
    (0..n).map(label).map(|label| label as u32).collect()
}

#[test]
fn a_round_equals_the_definition() {
    for (at, answers) in crowds().iter().enumerate() {
        for (d, truncation) in [(2, 4), (3, 1)] {
            let layout = Layout::of(answers);
            let fixed = Fixed {
                layout: &layout,
                shape: Shape::new(d),
                prior: Prior::default(),
                truncation,
                abreast: 2,
            };
            let start = labels(layout.n, truncation.min(3), at as u64);
            let mut state = State::start(&fixed, &start);
            let mut slow = naive(&state, &fixed.shape, fixed.prior, said(answers));
            for _ in 0..2 {
                state.round(&fixed);
                slow.round();
                let fast = naive(&state, &fixed.shape, fixed.prior, Vec::new());
                for (x, y) in numbers(&fast).into_iter().zip(numbers(&slow)) {
                    assert!((x - y).abs() < 1e-7 * (1.0 + y.abs()), "{at} {d}: {x} {y}");
                }
                let (fast, slow) = (state.bound(&fixed), slow.bound(&slow.best_xi()));
                assert!((fast - slow).abs() < 1e-6 * slow.abs(), "{at} {d}: {fast} {slow}");
            }
        }
    }
}

#[test]
fn the_bound_never_falls() {
    for (at, answers) in crowds().iter().enumerate() {
        for (d, truncation) in [(2, 3), (4, 8)] {
            let layout = Layout::of(answers);
            let fixed = Fixed {
                layout: &layout,
                shape: Shape::new(d),
                prior: Prior::default(),
                truncation,
                abreast: 2,
            };
            let start = labels(layout.n, 3, 9 + at as u64);
            let mut state = State::start(&fixed, &start);
            let mut before = state.bound(&fixed);
            for round in 0..60 {
                state.round(&fixed);
                let after = state.bound(&fixed);
                assert!(
                    after >= before - 1e-9 * before.abs(),
                    "{at} {d} {round}: {before} {after}"
                );
                before = after;
            }
        }
    }
}

/// Each update is where the bound's slope in that factor is 0, all else fixed.
#[test]
fn updates_are_where_the_slope_is_zero() {
    let answers = &crowds()[0];
    let layout = Layout::of(answers);
    let (shape, prior) = (Shape::new(2), Prior::default());
    let fixed = Fixed { layout: &layout, shape, prior, truncation: 3, abreast: 2 };
    let mut state = State::start(&fixed, &labels(layout.n, 3, 1));
    state.round(&fixed);
    let mut at = naive(&state, &fixed.shape, fixed.prior, said(answers));
    let xi = at.best_xi();
    let flat = |at: &Naive, name: &str, change: &dyn Fn(&mut Naive, f64)| {
        let h = 1e-4;
        let moved = |by: f64| {
            let mut other = at.clone();
            change(&mut other, by);
            other.bound(&xi)
        };
        let (up, middle, down) = (moved(h), moved(0.0), moved(-h));
        let (slope, bend) = ((up - down) / (2.0 * h), (up + down - 2.0 * middle) / (h * h));
        assert!(bend < 0.0, "{name}: bends by {bend}");
        assert!(slope.abs() < 1e-4 * (1.0 + bend.abs()), "{name}: slope {slope}, bend {bend}");
    };
    at.renew_worker(1, &xi);
    flat(&at, "W", &|n, h| n.u[1].0[1] += h);
    flat(&at, "tau", &|n, h| n.u[1].0[3] += h);
    flat(&at, "covariance of W", &|n, h| n.u[1].1[[0, 0]] *= 1.0 + h);
    at.renew_object(2, &xi);
    flat(&at, "x", &|n, h| n.x[2].0[0] += h);
    flat(&at, "covariance of x", &|n, h| n.x[2].1[[1, 1]] *= 1.0 + h);
    at.renew_components();
    flat(&at, "mean of a component", &|n, h| n.components[0].0[1] += h);
    flat(&at, "weight of a component", &|n, h| n.components[0].1 *= 1.0 + h);
    flat(&at, "scale of a component", &|n, h| n.components[0].2[[0, 0]] *= 1.0 + h);
    at.renew_memberships();
    flat(&at, "memberships", &|n, h| {
        // Along the simplex.
        let moved = h * n.q[[3, 0]] * n.q[[3, 1]];
        n.q[[3, 0]] += moved;
        n.q[[3, 1]] -= moved;
    });
    at.renew_sticks();
    flat(&at, "concentration", &|n, h| n.concentration[1] *= 1.0 + h);
    at.renew_crowd();
    flat(&at, "spread", &|n, h| n.spread[0][1] *= 1.0 + h);
}

/// Where the number of clusters is automatic as well: the ladder's one or two starts for a number
/// miss fits of the same model that are better by some nats, and with those the number.
#[test]
fn further_starts_find_better_fits_and_the_number_is_not_sure() {
    let mut gained: f64 = 0.0;
    let mut surest: Vec<f64> = Vec::new();
    for seed in 0..4 {
        let rows = crowd(4, 40, 8, (15, 6), 0.2, 0, seed);
        let answers = Answers::from_groupings(40, &rows).unwrap();
        let found = |restarts: usize| {
            PositionModel::new(Clusters::Auto).restarts(restarts).fit(&answers, &()).unwrap().output
        };
        let (few, many) = (found(1), found(60));
        gained = gained.max(many.evidence_bound - few.evidence_bound);
        for found in [few, many] {
            let count = found.cluster_count;
            let sum: f64 = count.probabilities.iter().sum();
            assert!((sum - 1.0).abs() < 1e-9, "{count:?}");
            surest.push(count.probability(count.most_probable()));
        }
    }
    assert!(gained > 0.1, "{gained}");
    assert!(surest.iter().any(|&p| p < 0.97), "{surest:?}");
}

/// No bit of a fit that chooses the number of clusters depends on the number of threads.
#[test]
fn the_number_is_the_same_at_any_number_of_threads() {
    let rows = crowd(3, 30, 8, (8, 6), 0.2, 0, 5);
    let answers = Answers::from_groupings(30, &rows).unwrap();
    let found = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let fit = pool.install(|| PositionModel::new(Clusters::Auto).fit(&answers, &()));
        let found = fit.unwrap().output;
        (found.evidence_bound.to_bits(), found.cluster_count, found.partition.to_signed())
    };
    assert_eq!(found(1), found(4));
}

#[test]
fn components_that_hold_objects_are_counted() {
    let shape = Shape::new(2);
    let objects = Objects::start(&shape, vec![0.0; 6], 0.1);
    let q = vec![0.5, 0.5, 0.0, 0.2, 0.7, 0.1, 0.9, 0.0, 0.1];
    let mixture = Mixture::start(&shape, &Prior::default(), q, 3, &objects);
    assert_eq!(mixture.held(), 2);
}

/// Three workers who sort 1,500 objects each: all of their 3.4 million pair answers would be read
/// in every round.
#[test]
fn long_tasks_of_large_crowds_are_read_in_part() {
    let rows: Vec<GroupAnswer> = crowd(3, 1500, 3, (1, 1500), 0.05, 0, 7);
    let answers = Answers::from_groupings(1500, &rows).unwrap();
    let model = PositionModel::new(3);
    let fit = model.fit(&answers, &()).unwrap();
    let notes = fit.report.notes.join("; ");
    assert!(notes.contains("random parts") && notes.contains("of 3372750 pair"), "{notes}");
    let labels = fit.output.partition.to_signed();
    let of_class = |c: usize| (0..1500_usize).filter(move |i| i % 3 == c);
    let likeliest = [0, 1, 2].map(|c| {
        let mut times = [0; 3];
        of_class(c).for_each(|i| times[labels[i] as usize] += 1);
        let (label, most) = (0..3).map(|l| (l, times[l])).max_by_key(|at| at.1).unwrap();
        assert!(most >= 350, "{c}: {times:?}");
        label
    });
    assert_eq!(likeliest.iter().sum::<usize>(), 3, "{likeliest:?}");
    assert_ne!(likeliest[0], likeliest[1]);
    // Crowds of fewer answers are read whole.
    let rows = crowd(3, 300, 3, (1, 300), 0.05, 0, 7);
    let few = Answers::from_groupings(300, &rows).unwrap();
    let model = PositionModel::new(Clusters::Auto).max_iterations(2);
    let report = model.fit(&few, &()).unwrap().report;
    assert!(!report.notes.iter().any(|note| note.contains("random parts")), "{:?}", report.notes);
}

/// Memberships may rest long before the bound does, and a cap may come first.
#[test]
fn how_far_a_fit_is_from_its_end_is_told() {
    let answers = Answers::from_groupings(40, &crowd(3, 40, 12, (3, 8), 0.1, 0, 3)).unwrap();
    let after = |rounds: usize, tolerance: f64| {
        let model = PositionModel::new(3).restarts(1).tolerance(tolerance).max_iterations(rounds);
        model.fit(&answers, &()).unwrap()
    };
    let told = |ended: &str, rise: f64| {
        format!(
            "the fit of positions {ended} memberships at rest; one more round would raise its \
             evidence bound by {rise:.1} nats"
        )
    };
    let [two, three] = [2, 3].map(|rounds| after(rounds, 1e-300));
    let rise = three.output.evidence_bound - two.output.evidence_bound;
    assert!(rise > 0.0 && two.report.status == Status::MaxIterations);
    let note = told("was stopped before", rise);
    assert!(two.report.notes.contains(&note), "{note}: {:?}", two.report.notes);
    // No membership changes by more than 1.
    let once = after(9, 1.0);
    assert_eq!((once.report.status, once.report.iterations), (Status::Solved, 1));
    let rise = after(2, 1e-300).output.evidence_bound - once.output.evidence_bound;
    let note = told("ended with", rise);
    assert!(rise > 1.0 && once.report.notes.contains(&note), "{note}: {:?}", once.report.notes);
}

/// Two kilobytes for each worker of every state: a third of the starts that go on, the best so far
/// and one on its way.
#[test]
fn many_workers_are_asked_of_the_budget() {
    let pair = |worker| {
        let (i, j) = [(0, 1), (1, 2), (0, 2)][worker % 3];
        PairAnswer { worker, i, j, same: j == 1 && worker % 7 > 0 }
    };
    let rows: Vec<PairAnswer> = (0..2_000).map(pair).collect();
    let answers = Answers::from_pairs(3, &rows).unwrap();
    let kind = |bytes: u64| {
        let budget = MemoryBudget::bytes(bytes);
        let model = PositionModel::new(Clusters::Auto).max_iterations(1).memory_budget(budget);
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        pool.install(|| model.fit(&answers, &()).map(|_| ()).map_err(|error| error.kind()))
    };
    assert_eq!(kind(20_000_000), Err(ErrorKind::TooLarge));
    assert_eq!(kind(40_000_000), Ok(()));
}
