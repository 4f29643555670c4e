use super::*;
use consilience_core::ErrorKind;
use consilience_num::eigen::symmetric_eigen;

/// Three blocks, a share of the entries known, some of them wrong.
fn planted(n: usize, known: f64, wrong: f64, seed: u64) -> Vec<(usize, usize, f64)> {
    let mut stream = Seed(seed).stream();
    let mut entries = Vec::new();
    for i in 0..n {
        for j in 0..=i {
            if i == j || stream.uniform() < known {
                let same = (i % 3 == j % 3) != (i != j && stream.uniform() < wrong);
                entries.push((i, j, f64::from(u8::from(same))));
            }
        }
    }
    entries
}

fn complete(entries: &[(usize, usize, f64)], n: usize, c: f64, tolerance: f64) -> Fit<Completion> {
    let observed = ObservedPairs::new(n, entries).unwrap();
    RobustCompletion::new()
        .penalty(Penalty::Scaled(c))
        .tolerance(tolerance)
        .fit(&observed, &())
        .unwrap()
}

/// The augmented Lagrangian method as printed, with E, its free part and full decompositions: A,
/// objective. Rows stand for `sizes` objects.
fn reference(
    entries: &[(usize, usize, f64)],
    sizes: &[f64],
    penalty: f64,
    steps: usize,
) -> (Array2<f64>, f64) {
    let n = sizes.len();
    let mut known = Array2::<f64>::zeros((n, n));
    let mut data = Array2::<f64>::zeros((n, n));
    for &(i, j, v) in entries {
        for (i, j) in [(i, j), (j, i)] {
            known[[i, j]] = (sizes[i] * sizes[j]).sqrt();
            data[[i, j]] = v * known[[i, j]];
        }
    }
    let (mut a, mut e, mut y) = (data.clone() * 0.0, data.clone() * 0.0, data.clone() * 0.0);
    let mu = 1.0 / 3.0;
    let mut nuclear = 0.0;
    for _ in 0..steps {
        let x = &data - &e + &y / mu;
        let eigen = symmetric_eigen(x.view()).unwrap();
        let shrunk: Vec<f64> =
            eigen.values.iter().map(|v| v.signum() * (v.abs() - 1.0 / mu).max(0.0)).collect();
        nuclear = shrunk.iter().map(|v| v.abs()).sum();
        a = (&eigen.vectors * &ndarray::ArrayView1::from(&shrunk)).dot(&eigen.vectors.t());
        let rest = &data - &a + &y / mu;
        e = Array2::from_shape_fn((n, n), |at| {
            let shrink = rest[at].signum() * (rest[at].abs() - penalty * known[at] / mu).max(0.0);
            if known[at] > 0.0 { shrink } else { rest[at] }
        });
        y = &y + &((&data - &a - &e) * mu);
    }
    let l1: f64 = (&known * &(&data - &a)).iter().map(|v| v.abs()).sum();
    (a, nuclear + penalty * l1)
}

#[test]
fn planted_low_rank_plus_sparse_is_recovered() {
    for (n, c, seed) in [(120, 1.2, 1), (150, 1.2, 2)] {
        let fit = complete(&planted(n, 0.5, 0.05, seed), n, c, 1e-10);
        assert_eq!((fit.report.status, fit.output.rank()), (Status::Solved, 3));
        for i in 0..n {
            for j in 0..i {
                let error = fit.output.entry(i, j) - f64::from(u8::from(i % 3 == j % 3));
                assert!(error.abs() < 1e-6, "({i}, {j}): {error:e}");
            }
        }
        assert!((fit.output.total() - (n * n / 3) as f64).abs() < 1e-3);
    }
}

#[test]
fn objective_is_that_of_the_printed_method() {
    for (n, known, wrong, c) in [(70, 0.3, 0.1, 1.5), (80, 0.5, 0.3, 1.0), (90, 0.2, 0.0, 3.0)] {
        let entries = planted(n, known, wrong, 7);
        let fit = complete(&entries, n, c, 1e-7);
        let (a, objective) = reference(&entries, &vec![1.0; n], fit.output.penalty, 1500);
        assert!(
            (fit.output.objective / objective - 1.0).abs() < 1e-6,
            "{} {objective}",
            fit.output.objective
        );
        assert!(fit.output.objective * (1.0 - fit.output.gap) <= objective * (1.0 + 1e-9));
        assert!(fit.report.status == Status::Solved && (0.0..=1e-7).contains(&fit.output.gap));
        let known = fit.output.penalty * entries.len() as f64;
        let cost = fit.output.nuclear_norm + fit.output.error_cost;
        assert!(cost == fit.output.objective && fit.output.error_cost <= 2.0 * known);
        if wrong == 0.3 {
            assert!((0..n).all(|i| (fit.output.entry(i, 0) - a[[i, 0]]).abs() < 1e-2));
        }
    }
}

#[test]
fn weights_and_missing_diagonals_have_the_printed_optimum_at_every_c() {
    let mut stream = Seed(11).stream();
    for round in 0..4 {
        let n = 20 + stream.below(30);
        // Half of the diagonals are unknown altogether, the others in part.
        let mut entries =
            planted(n, 0.2 + 0.5 * stream.uniform(), 0.3 * stream.uniform(), 20 + round);
        entries.retain(|&(i, j, _)| i != j || (round % 2 == 0 && stream.uniform() < 0.5));
        let sizes: Vec<f64> = (0..n).map(|_| [1.0, 1.0, 2.0, 5.0][stream.below(4)]).collect();
        let mut observed = ObservedPairs::new(n, &entries).unwrap();
        observed.sizes = Some(sizes.clone());
        let mut last = 0.0;
        for c in [0.8, 1.3, 2.0, 4.0] {
            let solver = RobustCompletion::new().penalty(Penalty::Scaled(c)).tolerance(1e-4);
            let fit = solver.fit(&observed, &()).unwrap();
            assert_eq!(fit.report.status, Status::Solved, "round {round}, c = {c}");
            let (_, objective) = reference(&entries, &sizes, fit.output.penalty, 1500);
            let found = fit.output.objective;
            assert!(
                found <= objective * (1.0 + 1.1e-4),
                "round {round}, c = {c}: {found} {objective}"
            );
            assert!(objective >= found * (1.0 - fit.output.gap - 1e-9), "round {round}, c = {c}");
            assert!(found >= last, "the optimum grows with C");
            last = found * (1.0 - 2e-4);
        }
    }
}

#[test]
fn completions_from_another_penalty_end_at_the_same_optimum() {
    let observed = ObservedPairs::new(90, &planted(90, 0.3, 0.1, 5)).unwrap();
    let solver = |c| RobustCompletion::new().penalty(Penalty::Scaled(c)).tolerance(1e-6);
    let first = solver(0.7).complete(&observed).unwrap();
    let there = solver(1.5).fit_from(&observed, &first, &()).unwrap();
    let cold = solver(1.5).fit(&observed, &()).unwrap();
    assert_eq!(there.report.status, Status::Solved);
    assert!((there.output.objective / cold.output.objective - 1.0).abs() < 2e-6);
}

#[test]
fn collapsed_duplicates_have_the_optimum_of_the_expanded_problem() {
    // Every object of 70 twice: known within the pair as well.
    let half = planted(70, 0.4, 0.1, 3);
    let mut twice = Vec::new();
    for &(i, j, v) in &half {
        for (a, b) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
            if i != j || a >= b {
                twice.push((2 * i + a, 2 * j + b, v));
            }
        }
    }
    let expanded = complete(&twice, 140, 1.3, 1e-8);
    let mut observed = ObservedPairs::new(70, &half).unwrap();
    observed.sizes = Some(vec![2.0; 70]);
    let solver = RobustCompletion::new().penalty(Penalty::Scaled(1.3)).tolerance(1e-8);
    let collapsed = solver.fit(&observed, &()).unwrap();
    assert!((collapsed.output.penalty / expanded.output.penalty - 1.0).abs() < 1e-12);
    assert!((collapsed.output.objective / expanded.output.objective - 1.0).abs() < 1e-6);
    for i in 0..70 {
        assert!((collapsed.output.entry(i, 3) - expanded.output.entry(2 * i + 1, 6)).abs() < 1e-3);
    }
}

#[test]
fn noisy_answers_on_most_pairs_take_few_iterations() {
    // Three in ten entries are wrong: the optimum has a high rank.
    let (n, entries) = (110, planted(110, 0.6, 0.3, 6));
    let fit = complete(&entries, n, 2.0, 1e-3);
    assert_eq!(fit.report.status, Status::Solved);
    let (rank, iterations) = (fit.output.rank(), fit.report.iterations);
    assert!(rank > n / 6 && iterations <= 60, "rank {rank}, {iterations} iterations");
    let (_, objective) = reference(&entries, &vec![1.0; n], fit.output.penalty, 1500);
    assert!(fit.output.objective <= objective * (1.0 + 1.1e-3));
    assert!(objective >= fit.output.objective * (1.0 - fit.output.gap - 1e-9));
    // The same optimum without memory for steps on the whole matrix beside the known entries.
    let observed = ObservedPairs::new(n, &entries).unwrap();
    let thin = RobustCompletion::new().penalty(Penalty::Scaled(2.0));
    let budget = MemoryBudget::bytes(56 * (n * n) as u64);
    let thin = thin.memory_budget(budget).fit(&observed, &()).unwrap().output;
    assert!((thin.objective / objective - 1.0).abs() < 2e-3);
}

#[test]
fn a_rank_that_is_too_high_is_given_up_early() {
    let observed = ObservedPairs::new(110, &planted(110, 0.6, 0.3, 6)).unwrap();
    let solver = RobustCompletion::new().penalty(Penalty::Scaled(2.0));
    let full = solver.fit(&observed, &()).unwrap();
    let given_up = solver.max_rank(Some(6)).fit(&observed, &()).unwrap();
    assert_eq!(given_up.report.status, Status::MaxIterations);
    assert!(given_up.output.rank() > 6 && given_up.output.gap <= 0.03);
    assert!(given_up.report.iterations < full.report.iterations);
    // A rank that is low enough is completed as ever.
    let observed = ObservedPairs::new(120, &planted(120, 0.5, 0.05, 1)).unwrap();
    let kept = RobustCompletion::new().max_rank(Some(6)).fit(&observed, &()).unwrap();
    assert_eq!((kept.report.status, kept.output.rank()), (Status::Solved, 3));
}

#[test]
fn embeddings_are_the_leading_eigenvectors_above_0() {
    // Blocks of 5, 3 and 2 objects, all believed: A has the eigenvalues 5, 3 and 2.
    let block = |i: usize| usize::from(i >= 5) + usize::from(i >= 8);
    let pairs = (0..10).flat_map(|i| (0..=i).map(move |j| (i, j)));
    let known: Vec<_> =
        pairs.map(|(i, j)| (i, j, f64::from(u8::from(block(i) == block(j))))).collect();
    let found = complete(&known, 10, 10.0, 1e-10).output;
    for columns in [1, 2, 3] {
        let rows = found.embedding(columns + usize::from(columns == 3));
        assert_eq!(rows.dim(), (10, columns));
        for i in 0..10 {
            for c in 0..columns {
                // The eigenvector of a block of s objects is 1 / sqrt(s) on them.
                let own = if block(i) == c { [5f64, 3.0, 2.0][c].sqrt() } else { 0.0 };
                assert!((rows[[i, c]].abs() - own).abs() < 1e-4, "{i}, {c}: {}", rows[[i, c]]);
            }
        }
    }
    // The eigenvalues of a pair that is unlike itself are 1 and -1.
    let found = complete(&[(0, 0, 0.0), (0, 1, 1.0), (1, 1, 0.0)], 2, 10.0, 1e-10).output;
    assert_eq!((found.rank(), found.embedding(2).dim()), (2, (2, 1)));
    let rows = found.embedding(2);
    assert!((rows[[0, 0]] - rows[[1, 0]]).abs() < 1e-4 && rows[[0, 0]].abs() > 0.7);
}

#[test]
fn nothing_is_certified_for_entries_of_any_magnitude() {
    // The errors are so cheap that A = 0 is the optimum, at 0.05 times the sum of the magnitudes.
    let known = [(0, 0, 130.0), (1, 0, -80.0), (2, 1, 0.5), (3, 3, 40.0), (3, 0, -3.0)];
    for unit in [1.0, 1e-3, 1e6] {
        let known = known.map(|(i, j, v)| (i, j, v * unit));
        let observed = ObservedPairs::new(4, &known).unwrap();
        let solver = |c| RobustCompletion::new().penalty(Penalty::Absolute(c));
        let fit = solver(0.05).fit(&observed, &()).unwrap();
        assert_eq!((fit.report.status, fit.output.rank()), (Status::Solved, 0));
        assert!(fit.output.gap < 1e-12 && (fit.output.objective / unit / 16.85 - 1.0).abs() < 1e-9);
        // From there it goes on to where errors are dear.
        let next = solver(2.0).fit_from(&observed, &fit.output, &()).unwrap();
        let cold = solver(2.0).fit(&observed, &()).unwrap();
        assert_eq!((next.report.status, cold.report.status), (Status::Solved, Status::Solved));
        assert!((next.output.objective / cold.output.objective - 1.0).abs() < 2e-3);
    }
}

#[test]
fn threads_and_edges() {
    let entries = planted(100, 0.3, 0.1, 4);
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| complete(&entries, 100, 1.5, 1e-4).output)
    };
    let (one, three) = (run(1), run(3));
    assert_eq!(one.values, three.values);
    assert_eq!(one.vectors, three.vectors);
    // Nothing but zeros; one object; a capped run.
    assert_eq!(complete(&[(0, 1, 0.0), (2, 2, 0.0)], 3, 2.0, 1e-4).output.rank(), 0);
    let single = complete(&[(0, 0, 1.0)], 1, 2.0, 1e-6).output;
    assert!((single.entry(0, 0) - 1.0).abs() < 1e-6);
    let observed = ObservedPairs::new(100, &entries).unwrap();
    let capped = RobustCompletion::new().max_iterations(3).fit(&observed, &()).unwrap();
    assert_eq!(capped.report.status, Status::MaxIterations);
    assert!(capped.output.gap > 1e-4);
}

#[test]
fn bad_input_is_refused() {
    let kind = |entries: &[(usize, usize, f64)]| ObservedPairs::new(3, entries).unwrap_err().kind();
    assert_eq!(kind(&[]), ErrorKind::Empty);
    assert_eq!(kind(&[(0, 3, 1.0)]), ErrorKind::OutOfRange);
    assert_eq!(kind(&[(0, 1, f64::NAN)]), ErrorKind::NonFinite);
    assert_eq!(kind(&[(0, 1, 1.0), (1, 0, 1.0)]), ErrorKind::InvalidParameter);
    let many = ObservedPairs::new(usize::MAX, &[(0, 1, 1.0)]).unwrap_err();
    assert_eq!(many.kind(), ErrorKind::TooLarge);
    // What is known fits, but not a basis of the twenty columns that it starts with.
    let chain: Vec<_> = (1..500).map(|i| (i - 1, i, 1.0)).collect();
    let observed = ObservedPairs::new(500, &chain).unwrap();
    let budget = MemoryBudget::bytes(60 * observed.n_entries() as u64);
    let refused = RobustCompletion::new().memory_budget(budget).fit(&observed, &()).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::TooLarge);
    assert!(refused.message().contains("basis of the completion"), "{refused}");
    let observed = ObservedPairs::new(3, &[(0, 1, 1.0)]).unwrap();
    let with = |r: RobustCompletion| r.fit(&observed, &()).unwrap_err().kind();
    assert_eq!(
        with(RobustCompletion::new().penalty(Penalty::Scaled(f64::NAN))),
        ErrorKind::InvalidParameter
    );
    assert_eq!(
        with(RobustCompletion::new().penalty(Penalty::Absolute(0.0))),
        ErrorKind::InvalidParameter
    );
    assert_eq!(with(RobustCompletion::new().tolerance(-1.0)), ErrorKind::InvalidParameter);
    assert_eq!(with(RobustCompletion::new().max_iterations(0)), ErrorKind::InvalidParameter);
    assert_eq!(
        with(RobustCompletion::new().memory_budget(MemoryBudget::bytes(9))),
        ErrorKind::TooLarge
    );
}

/// Half of the objects are in no entry: the others have what they have without them, to the bit,
/// also from a start.
#[test]
fn objects_of_which_nothing_is_known_change_nothing() {
    let n = 70;
    let entries = planted(n, 0.6, 0.05, 11);
    let place = |i: usize| 2 * i + 1;
    let spread: Vec<_> = entries.iter().map(|&(i, j, v)| (place(i), place(j), v)).collect();
    let alone = ObservedPairs::new(n, &entries).unwrap();
    let among = ObservedPairs::new(2 * n + 3, &spread).unwrap();
    let strict = RobustCompletion::new().penalty(Penalty::Scaled(2.0));
    let fits = |observed: &ObservedPairs| {
        let first = RobustCompletion::new().fit(observed, &()).unwrap();
        let next = strict.fit_from(observed, &first.output, &()).unwrap();
        [first, next]
    };
    for (alone, among) in fits(&alone).into_iter().zip(fits(&among)) {
        assert_eq!(alone.report.iterations, among.report.iterations);
        let (alone, among) = (alone.output, among.output);
        assert_eq!((&alone.values, alone.penalty), (&among.values, among.penalty));
        assert_eq!(among.vectors.dim(), (2 * n + 3, alone.rank()));
        for (i, row) in among.vectors.rows().into_iter().enumerate() {
            match i % 2 == 1 && i / 2 < n {
                true => assert_eq!(row, alone.vectors.row(i / 2)),
                false => assert!(row.iter().all(|&x| x == 0.0)),
            }
        }
    }
}

/// So many blocks of ten objects each, and as many objects that are 0 in all that is known of them:
/// the first matrix has no more directions than are wanted.
#[test]
fn a_matrix_of_no_higher_rank_than_wanted_is_completed() {
    for blocks in [6, 15] {
        let n = 10 * blocks;
        let all = (0..n).flat_map(|i| (0..=i).map(move |j| (i, j)));
        let known = all.map(|(i, j)| (i, j, f64::from(u8::from(i % blocks == j % blocks))));
        let zeros = (n..2 * n).map(|i| (i, i, 0.0));
        let entries: Vec<_> = known.chain(zeros).collect();
        let found = complete(&entries, 2 * n, 2.0, 1e-3);
        assert_eq!(found.report.status, Status::Solved);
        assert_eq!(found.output.rank(), blocks);
        assert!(found.output.entry(0, blocks) > 0.9 && found.output.entry(0, 1).abs() < 0.1);
    }
}
