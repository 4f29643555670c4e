//! Laws that all metric learners obey, and the naive forms of those whose formula is short.

use crate::scatter::{eigenpairs, shrunk, within};
use consilience_conformance::{CancelFrom, partly_known};
use consilience_core::{Constraints, ErrorKind, Link, MemoryBudget, Seed, SideInformation};
use consilience_num::rows::differences;
use ndarray::{Array2, Axis, array};

use crate::standard::Standard;
use crate::{Dca, Itml, Lmnn, MetricLearner, Mmc, Rca};

fn all() -> Vec<Box<dyn MetricLearner>> {
    vec![
        Box::new(Rca::new()),
        Box::new(Dca::new()),
        Box::new(Mmc::new()),
        Box::new(Mmc::new().diagonal(true)),
        Box::new(Itml::new()),
        Box::new(Lmnn::new()),
    ]
}

#[test]
fn same_bits_at_any_thread_count() {
    for seed in 0..10 {
        let (x, side, _) = partly_known(seed);
        for method in all() {
            let run = || method.fit(x.view().into(), &side, &()).unwrap();
            let [one, three] = [1, 3].map(|threads| {
                rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(run)
            });
            assert_eq!(one.output, three.output, "{} {seed}", method.name());
            assert_eq!(one.report.objective, three.report.objective);
        }
    }
}

#[test]
fn the_units_of_features_do_not_matter() {
    for seed in [1, 2, 5, 7] {
        let (x, side, _) = partly_known(seed);
        let d = x.ncols();
        let unit: Vec<f64> = (0..d).map(|j| 2f64.powi(j as i32 * 9 - 12)).collect();
        let scaled = Array2::from_shape_fn(x.dim(), |(i, j)| x[[i, j]] * unit[j] + 3.0 * unit[j]);
        for method in all() {
            let plain = method.fit(x.view().into(), &side, &()).unwrap().output;
            let other = method.fit(scaled.view().into(), &side, &()).unwrap().output;
            for i in 1..x.nrows() {
                let a = plain.distance(x.row(0), x.row(i)).unwrap();
                let b = other.distance(scaled.row(0), scaled.row(i)).unwrap();
                let name = method.name();
                assert!((a - b).abs() <= 1e-5 * (1.0 + a), "{name} seed {seed}: {a} {b}");
            }
        }
    }
}

/// Means over the features, which shrink towards them, once counted it.
#[test]
fn a_constant_feature_has_no_say() {
    for seed in [1, 2, 5, 7] {
        let (x, side, _) = partly_known(seed);
        let (n, d) = x.dim();
        let beside =
            Array2::from_shape_fn((n, d + 1), |(i, j)| if j > 0 { x[[i, j - 1]] } else { 0.1 });
        let mut methods = all();
        methods.push(Box::new(Rca::new().standardize(false)));
        for method in methods {
            let plain = method.fit(x.view().into(), &side, &()).unwrap().output;
            let other = method.fit(beside.view().into(), &side, &()).unwrap().output;
            for i in 1..n {
                let a = plain.distance(x.row(0), x.row(i)).unwrap();
                let b = other.distance(beside.row(0), beside.row(i)).unwrap();
                let name = method.name();
                assert!((a - b).abs() <= 1e-12 * (1.0 + a), "{name} seed {seed}: {a} {b}");
            }
            assert_eq!(other.metric()[[0, 0]], 0.0);
        }
    }
}

#[test]
fn degenerate_tables_and_one_kind_of_link_are_answered() {
    let tables = [
        Array2::zeros((8, 2)),
        Array2::from_elem((8, 1), -3e300),
        Array2::from_shape_fn((8, 2), |(i, j)| if j == 0 { 5.0 } else { (i / 4) as f64 }),
        Array2::from_shape_fn((8, 3), |(i, _)| 1e-200 * i as f64),
        Array2::from_shape_fn((8, 40), |(i, j)| ((i * 31 + j * 17) % 13) as f64 * 1e150),
    ];
    let mut must = Constraints::new(8).unwrap();
    must.add(0, 1, Link::Must).unwrap();
    must.add(2, 3, Link::Must).unwrap();
    let mut cannot = Constraints::new(8).unwrap();
    cannot.add(0, 5, Link::Cannot).unwrap();
    cannot.add(2, 6, Link::Cannot).unwrap();
    let sides = [
        SideInformation::none(8),
        SideInformation::from_constraints(&must),
        SideInformation::from_constraints(&cannot),
        SideInformation::from_labels(&[0, 0, -1, -1, 1, 1, 1, -1]).unwrap(),
        SideInformation::from_labels(&[0, 0, 0, 0, 0, 0, 0, 0]).unwrap(),
    ];
    for (t, x) in tables.iter().enumerate() {
        for (s, side) in sides.iter().enumerate() {
            for method in all() {
                let what = format!("{} table {t} side {s}", method.name());
                let fit = method.fit(x.view().into(), side, &());
                let fit = fit.unwrap_or_else(|e| panic!("{what}: {e}"));
                assert!(fit.output.matrix().iter().all(|v| v.is_finite()), "{what}");
                assert_eq!(fit.output.n_features(), x.ncols());
                assert!(!side.is_empty() || !fit.report.notes.is_empty(), "{what}");
            }
        }
    }
}

#[test]
fn bad_input_is_refused() {
    let x = array![[0.0, 1.0], [2.0, 3.0], [4.0, 9.0]];
    let side = SideInformation::none(3);
    for method in all() {
        let kind = |x: &Array2<f64>, side: &SideInformation| {
            method.fit(x.view().into(), side, &()).unwrap_err().kind()
        };
        let other = SideInformation::none(4);
        assert_eq!(kind(&x, &other), ErrorKind::ShapeMismatch, "{}", method.name());
        assert_eq!(kind(&Array2::zeros((0, 2)), &side), ErrorKind::Empty);
        assert_eq!(kind(&array![[0.0], [f64::NAN], [1.0]], &side), ErrorKind::NonFinite);
    }
    let kind = |m: &dyn MetricLearner| m.fit(x.view().into(), &side, &()).unwrap_err().kind();
    let bad: [&dyn MetricLearner; 13] = [
        &Rca::new().shrinkage(f64::NAN),
        &Rca::new().shrinkage(1.5),
        &Dca::new().dimensions(0),
        &Mmc::new().tolerance(f64::NAN),
        &Mmc::new().tolerance(f64::INFINITY),
        &Mmc::new().max_iterations(0),
        &Itml::new().slack(0.0),
        &Itml::new().bounds(2.0, 1.0),
        &Itml::new().quantiles(f64::NAN, 0.5),
        &Itml::new().max_pairs(0),
        &Lmnn::new().neighbours(0),
        &Lmnn::new().pull(1.0),
        &Lmnn::new().regularization(f64::NAN),
    ];
    for method in bad {
        assert_eq!(kind(method), ErrorKind::InvalidParameter, "{}", method.name());
    }
}

/// `sum |x_i - x_j|_M` over the cannot-links.
fn spread(far: &Array2<f64>, m: &Array2<f64>) -> f64 {
    far.rows().into_iter().map(|v| v.dot(&m.dot(&v)).max(0.0).sqrt()).sum()
}

#[test]
fn mmc_is_feasible_and_no_feasible_metric_is_better_than_its_bound_says() {
    for seed in 0..12 {
        let mut s = Seed(100 + seed).stream();
        let (x, side, _) = partly_known(seed);
        let z = Standard::new(&x.view().into(), true, &()).unwrap().z;
        let (must, cannot) = side.links_up_to(usize::MAX);
        if must.is_empty() || cannot.is_empty() || z.iter().all(|v| *v == 0.0) {
            continue;
        }
        let share = Some(0.1);
        let of = |pairs: &[(usize, usize)]| differences(z.view(), pairs, &()).unwrap();
        let inner = shrunk(of(&must).view(), 0, share, &()).unwrap();
        let far = of(&cannot);
        let d = z.ncols();
        let scatter = |m: &Array2<f64>| (m * &inner).sum();
        for diagonal in [false, true] {
            let mmc =
                Mmc::new().diagonal(diagonal).shrinkage(0.1).tolerance(1e-4).max_iterations(5000);
            let fit = mmc.fit(x.view().into(), &side, &()).unwrap();
            // Back to standard features, of which constant ones are none.
            let map = fit.output.matrix();
            let mut m = map.t().dot(&map);
            let unit: Vec<f64> = x.axis_iter(Axis(1)).map(|c| c.std(0.0)).collect();
            for ((i, j), v) in m.indexed_iter_mut() {
                *v *= unit[i] * unit[j];
            }
            let varying: Vec<usize> = (0..unit.len()).filter(|&j| unit[j] > 0.0).collect();
            let m = m.select(Axis(0), &varying).select(Axis(1), &varying);
            let value = spread(&far, &m);
            let objective = fit.report.objective.unwrap();
            // `shrunk` divides by its number of independent rows: a factor in the bound, not in the
            // shape.
            let size = scatter(&m);
            let scaled = value / size.sqrt();
            assert!(size > 0.0 && objective > 0.0);
            let gap = fit.report.error_bound.unwrap();
            assert!(gap <= 1e-4, "seed {seed}: {gap}");
            for _ in 0..200 {
                let a = Array2::from_shape_fn((d, d), |_| s.normal());
                let mut other = if s.below(2) == 0 {
                    a.t().dot(&a)
                } else {
                    &m + &(a.t().dot(&a) * (0.01 * m.diag().sum()))
                };
                if diagonal {
                    other = Array2::from_diag(&other.diag());
                }
                let rival = spread(&far, &other) / scatter(&other).sqrt();
                assert!(
                    rival <= scaled * (1.0 + 2e-4) + 1e-9,
                    "seed {seed} {diagonal}: {rival} {scaled}"
                );
            }
        }
    }
}

#[test]
fn rca_whitens_and_dca_equals_two_whitenings() {
    for seed in (0..12).step_by(2) {
        let (x, side, _) = partly_known(seed);
        let standard = Standard::new(&x.view().into(), true, &()).unwrap();
        let rows = within(standard.z.view(), &side, &()).unwrap();
        if rows.nrows() == 0 {
            continue;
        }
        let sets = side.labelled_sets().iter().filter(|s| s.len() > 1).count();
        let c = shrunk(rows.view(), sets, Some(0.2), &()).unwrap();
        let l = Rca::new().shrinkage(0.2).fit(x.view().into(), &side, &()).unwrap().output;
        // L_z C L_z' = I where L = L_z F.
        let y = l.apply(x.view()).unwrap();
        let inverse = standard.z.t().dot(&standard.z);
        let eigen = eigenpairs(inverse.view(), &()).unwrap();
        if eigen.values.last().is_some_and(|v| *v > 1e-6) {
            let mut root = eigen.vectors.clone();
            root.axis_iter_mut(Axis(1)).zip(&eigen.values).for_each(|(mut c, v)| c /= *v);
            let lz =
                root.dot(&eigen.vectors.t()).dot(&standard.z.t()).dot(&centred(&y)).t().to_owned();
            let one = lz.dot(&c).dot(&lz.t());
            assert!(
                (&one - &Array2::<f64>::eye(one.nrows())).iter().all(|v| v.abs() < 1e-7),
                "seed {seed}"
            );
        }
        // Hoi et al.: whiten C_b in its range, then C_w in that.
        let dca = Dca::new().shrinkage(0.2).fit(x.view().into(), &side, &()).unwrap().output;
        let means: Vec<_> = side
            .labelled_sets()
            .iter()
            .map(|s| consilience_num::rows::mean_row(standard.z.view(), s))
            .collect();
        let mut between = Array2::<f64>::zeros(c.dim());
        for (a, b) in side.sets_apart() {
            let v = &means[a] - &means[b];
            between += &Array2::from_shape_fn(c.dim(), |(i, j)| v[i] * v[j]);
        }
        let eigen = eigenpairs(between.view(), &()).unwrap();
        let kept: Vec<usize> = (0..c.nrows())
            .filter(|&i| eigen.values[i] > 1e-8 * eigen.values[0].max(1e-12))
            .collect();
        if kept.is_empty() {
            continue;
        }
        let mut first = eigen.vectors.select(Axis(1), &kept);
        first
            .axis_iter_mut(Axis(1))
            .zip(&kept)
            .for_each(|(mut col, &i)| col /= eigen.values[i].sqrt());
        let inner = eigenpairs(first.t().dot(&c).dot(&first).view(), &()).unwrap();
        let mut second = inner.vectors.clone();
        second.axis_iter_mut(Axis(1)).zip(&inner.values).for_each(|(mut col, v)| col /= v.sqrt());
        let expected = standard.z.dot(&first.dot(&second));
        let found = dca.apply(x.view()).unwrap();
        for i in 1..x.nrows() {
            let a = (&expected.row(i) - &expected.row(0)).mapv(|v| v * v).sum();
            let b = (&found.row(i) - &found.row(0)).mapv(|v| v * v).sum();
            assert!((a - b).abs() < 1e-6 * (1.0 + a), "seed {seed}: {a} {b}");
        }
    }
}

fn centred(y: &Array2<f64>) -> Array2<f64> {
    y - &y.mean_axis(Axis(0)).unwrap()
}

#[test]
fn nothing_to_learn_needs_no_square() {
    let x = Array2::from_shape_fn((6, 1_000), |(i, j)| ((i * 7 + j * j) % 11) as f64);
    let budget = MemoryBudget::bytes(1 << 20);
    let methods: [Box<dyn MetricLearner>; 3] = [
        Box::new(Rca::new().memory_budget(budget)),
        Box::new(Itml::new().memory_budget(budget)),
        Box::new(Lmnn::new().memory_budget(budget)),
    ];
    for method in methods {
        let map = method.learn((&x).into(), &SideInformation::none(6)).unwrap();
        let z = map.apply(&x).unwrap();
        assert!(map.diagonal().is_some(), "{}", method.name());
        assert!(z.columns().into_iter().all(|c| (c.var(0.0) - 1.0).abs() < 1e-9));
    }
}

#[test]
fn squares_of_features_keep_to_the_memory_budget() {
    let x = Array2::from_shape_fn((6, 100), |(i, j)| ((i * 7 + j * j) % 11) as f64);
    let side = SideInformation::from_labels(&[0, 0, 1, 1, -1, -1]).unwrap();
    let methods = |bytes: u64| -> [Box<dyn MetricLearner>; 5] {
        let budget = MemoryBudget::bytes(bytes);
        [
            Box::new(Rca::new().memory_budget(budget)),
            Box::new(Dca::new().memory_budget(budget)),
            Box::new(Mmc::new().memory_budget(budget)),
            Box::new(Itml::new().memory_budget(budget)),
            Box::new(Lmnn::new().memory_budget(budget)),
        ]
    };
    // Five squares are too few while eigenpairs of one are computed, or a second gradient.
    for (enough, short) in methods(8 * 100 * 940).iter().zip(methods(8 * 100 * 500)) {
        assert!(enough.learn((&x).into(), &side).is_ok(), "{}", enough.name());
        let error = short.learn((&x).into(), &side).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::TooLarge, "{}", short.name());
    }
}

/// Features of very many objects are standardized, their deviations made and their products taken
/// in steps that are asked about.
#[test]
fn long_steps_are_asked_about() {
    let n = 60_000;
    let x = Array2::from_shape_fn((n, 40), |(i, j)| ((i * 31 + j * 17 + i * i * j) % 101) as f64);
    let labels: Vec<u64> = (0..n as u64).map(|i| i % 7).collect();
    let side = SideInformation::from_labels(&labels).unwrap();
    let methods: [Box<dyn MetricLearner>; 4] = [
        Box::new(Rca::new()),
        Box::new(Dca::new()),
        Box::new(Mmc::new().max_iterations(1)),
        Box::new(Itml::new().max_iterations(1)),
    ];
    for method in methods {
        let counts = CancelFrom::new(usize::MAX);
        method.fit((&x).into(), &side, &counts).unwrap();
        let asked = counts.asked();
        assert!(asked >= 10, "{}: asked {asked} times", method.name());
        for query in 0..asked {
            let error = method.fit((&x).into(), &side, &CancelFrom::new(query)).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Cancelled, "{}: question {query}", method.name());
        }
    }
}
