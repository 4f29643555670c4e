use super::*;
use crate::frame::first_centres;
use consilience_conformance::partly_known;

#[test]
fn the_objective_never_rises() {
    for seed in 0..40 {
        let (x, side, k) = partly_known(seed);
        let (frame, x) = Frame::new(&x.view().into(), &()).unwrap();
        let table = frame.varying(x, &()).unwrap();
        for (each, full) in [(false, false), (true, false), (false, true), (true, true)] {
            let method = MpckMeans::new(k).per_cluster(each).full(full);
            let method = method.weight(0.3 + (seed % 3) as f64);
            let centres = first_centres(table.x.view(), &side, k, Seed(seed), &()).unwrap();
            let mut state = State::new(&method, &table, &side, centres, &()).unwrap();
            let mut seen = Vec::new();
            let mut watch = Watch::new(&(), "", 100);
            let mut report = Report::default();
            method.run(&mut state, &mut report, &mut watch, &mut |o| seen.push(o)).unwrap();
            seen.push(report.objective.unwrap());
            for pair in seen.windows(2) {
                let most = pair[0] + 1e-9 * pair[0].abs();
                assert!(pair[1] <= most, "seed {seed} {each} {full}: {seen:?}");
            }
            let (told, own) = (report.objective.unwrap(), by_formula(&state));
            assert!((own - told).abs() <= 1e-8 * (1.0 + own.abs()), "{seed}: {told} {own}");
        }
    }
}

/// The objective of what was found.
fn by_formula(state: &State<'_>) -> f64 {
    let h = |i: usize| state.labels[i] as usize;
    let metric = |c: usize| &state.metrics[c.min(state.metrics.len() - 1)];
    let far = |c: usize| {
        let square = |&pair: &(usize, usize)| metric(c).square(state.apart(pair).view());
        state.far.iter().map(square).fold(0.0, f64::max)
    };
    let own = |i: usize| {
        let v = &state.x.row(i) - &state.centres.row(h(i));
        metric(h(i)).square(v.view()) - metric(h(i)).log_det
    };
    let broken = |p: &Pair| {
        let (v, g, f) = (&state.x.row(p.i) - &state.x.row(p.j), h(p.i), h(p.j));
        match p.link {
            Link::Must if g != f => (metric(g).square(v.view()) + metric(f).square(v.view())) / 2.0,
            Link::Cannot if g == f => (far(g) - metric(g).square(v.view())).max(0.0),
            _ => 0.0,
        }
    };
    let held = |m: &Metric| state.prior * (m.trace(state.variance) - m.log_det);
    (0..state.x.nrows()).map(own).sum::<f64>()
        + state.weight * state.pairs.iter().map(broken).sum::<f64>()
        + state.metrics.iter().map(held).sum::<f64>()
}

/// Four far corners, three labels each: cannot-links between sets that are not placed yet once
/// pushed the first one to a foreign corner and held it there.
#[test]
fn sets_start_at_their_own_centres() {
    let mut s = Seed(5).stream();
    let corner = |i: usize, j: usize| if j == 0 { i % 2 } else { i / 2 % 2 } as f64;
    let x = Array2::from_shape_fn((120, 2), |(i, j)| 10.0 * corner(i, j) + 2.0 * s.uniform());
    let labels: Vec<i64> = (0..120).map(|i| if i < 12 { i % 4 } else { -1 }).collect();
    let side = SideInformation::from_labels(&labels).unwrap();
    for (each, full) in [(false, false), (true, false), (false, true), (true, true)] {
        let method = MpckMeans::new(4).per_cluster(each).full(full);
        let found = method.cluster(x.view().into(), &side).unwrap().partition;
        assert!((0..120).all(|i| found.label(i) == found.label(i % 4)), "{each} {full}");
    }
}

#[test]
fn a_single_metric_without_links_is_the_inverse_pooled_variance_in_any_unit() {
    for (unit, full) in [(1.0, false), (1e-5, false), (1.0, true), (1e-5, true)] {
        let mut s = Seed(3).stream();
        let x = Array2::from_shape_fn((100, 3), |(i, j)| match j {
            0 => (i % 2) as f64 * 8.0 + 0.5 * s.normal(),
            1 => unit * s.normal(),
            _ => 0.1,
        });
        let (frame, x) = Frame::new(&x.view().into(), &()).unwrap();
        let table = frame.varying(x, &()).unwrap();
        assert_eq!(table.features, [0, 1]);
        let side = SideInformation::none(100);
        let method = MpckMeans::new(2).prior(1e-9).full(full);
        let centres = first_centres(table.x.view(), &side, 2, Seed(0), &()).unwrap();
        let mut state = State::new(&method, &table, &side, centres, &()).unwrap();
        let mut watch = Watch::new(&(), "", 100);
        method.run(&mut state, &mut Report::default(), &mut watch, &mut |_| {}).unwrap();
        // The metric of the last clusters, to the last digit.
        take_means(state.x, &state.labels, &mut state.centres, &()).unwrap();
        state.learn().unwrap();
        let apart = &table.x
            - &Array2::from_shape_fn(table.x.dim(), |(i, j)| {
                state.centres[[state.labels[i] as usize, j]]
            });
        let covariance = apart.t().dot(&apart) / 100.0;
        for i in 0..2 {
            for j in 0..=i {
                let (a, b) = (covariance[[i, i]].sqrt(), covariance[[j, j]].sqrt());
                let mut v = Array1::zeros(2);
                v[i] += a;
                v[j] += b;
                // v' C^-1 v for v = a e_i + b e_j, by the correlation r.
                let r = covariance[[1, 0]] / (covariance[[0, 0]] * covariance[[1, 1]]).sqrt();
                let expected = match (i == j, full) {
                    (true, false) => 4.0,
                    (true, true) => 4.0 / (1.0 - r * r),
                    (false, false) => 2.0,
                    (false, true) => 2.0 / (1.0 + r),
                };
                let found = state.metrics[0].square(v.view());
                assert!((found / expected - 1.0).abs() < 1e-5, "{unit} {full} {i} {j}");
            }
        }
    }
}

#[test]
fn a_feature_in_a_small_unit_counts() {
    let mut s = Seed(8).stream();
    let class = |i: usize| i % 2;
    let x = Array2::from_shape_fn((200, 2), |(i, j)| {
        if j == 0 { s.normal() } else { 1e-4 * (class(i) as f64 + 0.1 * s.normal()) }
    });
    let labels: Vec<i64> = (0..200).map(|i| if i < 120 { class(i) as i64 } else { -1 }).collect();
    let side = SideInformation::from_labels(&labels).unwrap();
    for (each, full) in [(false, false), (true, false), (false, true), (true, true)] {
        let method = MpckMeans::new(2).per_cluster(each).full(full);
        let found = method.cluster(x.view().into(), &side).unwrap().partition;
        assert!((0..200).all(|i| found.label(i) == found.label(class(i))), "{each} {full}");
    }
}
