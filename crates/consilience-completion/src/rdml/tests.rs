use consilience_core::{
    ConstrainedClusterer, Constraints, ErrorKind, Link, Observer, Partition, Seed, SideInformation,
    Status, scores::adjusted_rand,
};
use ndarray::{Array2, Axis, array};

use super::regression::{from_dense, from_eigenpairs, from_factors, from_pairs};
use super::{Rdml, SampleSimilarity, SimilarityCut, Smoothing};
use crate::known_pairs::KnownPairs;

fn normal(rows: usize, columns: usize, seed: u64) -> Array2<f64> {
    let mut stream = Seed(seed).derive("normal", 0).stream();
    Array2::from_shape_simple_fn((rows, columns), || stream.normal())
}

/// Blobs of which the last two columns mean nothing and are wide.
fn blobs(n: usize, clusters: usize, seed: u64) -> (Array2<f64>, Partition) {
    let centres = normal(clusters, 4, seed) * 3.0;
    let noise = normal(n, 6, seed + 1);
    let x = Array2::from_shape_fn((n, 6), |(i, j)| {
        noise[[i, j]] * if j < 4 { 1.0 } else { 30.0 }
            + if j < 4 { centres[[i % clusters, j]] } else { 0.0 }
    });
    (x, Partition::from_fn(n, |i| Some((i % clusters) as u64)).unwrap())
}

fn same(truth: &Partition, sample: &[usize]) -> Array2<f64> {
    Array2::from_shape_fn((sample.len(), sample.len()), |(a, b)| {
        f64::from(u8::from(truth.label(sample[a]) == truth.label(sample[b])))
    })
}

fn side(constraints: &Constraints) -> SideInformation {
    SideInformation::from_constraints(constraints)
}

/// `(G + r I)^-1 B` by elimination with pivots.
fn solved(mut g: Array2<f64>, ridge: f64, mut b: Array2<f64>) -> Array2<f64> {
    let n = g.nrows();
    g.diag_mut().iter_mut().for_each(|v| *v += ridge);
    for at in 0..n {
        let pivot = (at..n).max_by(|&p, &q| g[[p, at]].abs().total_cmp(&g[[q, at]].abs())).unwrap();
        for j in 0..n {
            g.swap([at, j], [pivot, j]);
        }
        for j in 0..b.ncols() {
            b.swap([at, j], [pivot, j]);
        }
        for i in (0..n).filter(|&i| i != at) {
            let f = g[[i, at]] / g[[at, at]];
            for j in 0..n {
                g[[i, j]] -= f * g[[at, j]];
            }
            for j in 0..b.ncols() {
                b[[i, j]] -= f * b[[at, j]];
            }
        }
    }
    Array2::from_shape_fn(b.dim(), |(i, j)| b[[i, j]] / g[[i, i]])
}

#[test]
fn both_sides_of_the_system_are_equation_4_5() {
    for (n, d, seed) in [(30, 5, 1), (5, 30, 2), (12, 12, 3), (1, 4, 4)] {
        let x = normal(40, d, seed);
        let sample: Vec<usize> = (0..n).map(|i| (i * 7) % 40).collect();
        let factors = normal(n, 3.min(n), seed + 10);
        let rows = x.select(Axis(0), &sample);
        let a = factors.dot(&factors.t());
        let trace = rows.iter().map(|v| v * v).sum::<f64>();
        for smoothing in [1e-4, 0.1, 3.0] {
            let half = solved(rows.t().dot(&rows), smoothing * trace, rows.t().dot(&a).dot(&rows));
            // Eq. 4.5 with the second inverse from the right.
            let metric = solved(rows.t().dot(&rows), smoothing * trace, half.t().to_owned());
            let size = metric.iter().fold(0.0f64, |m, v| m.max(v.abs()));
            let ridge = smoothing * trace;
            let dense = from_dense(&rows, a.view(), ridge).unwrap();
            let ones = vec![1.0; factors.ncols()];
            let eigenpairs = from_eigenpairs(&rows, &factors, &ones, ridge).unwrap();
            for map in [from_factors(&rows, &factors, ridge), dense, eigenpairs] {
                let own = map.dot(&map.t());
                assert!(
                    (&own - &metric).iter().all(|e| e.abs() <= 1e-6 * size),
                    "{n} x {d}, {smoothing}"
                );
            }
        }
    }
}

#[test]
fn a_dense_similarity_counts_as_it_is() {
    // Full rank and both signs: M itself by Eq. 4.5, and its positive part by eigenpairs.
    for (n, d, seed) in [(20, 6, 5), (6, 20, 6)] {
        let rows = normal(n, d, seed);
        let noise = normal(n, n, seed + 20);
        let a = &noise + &noise.t();
        let ridge = 0.7;
        let half = solved(rows.t().dot(&rows), ridge, rows.t().dot(&a).dot(&rows));
        let metric = solved(rows.t().dot(&rows), ridge, half.t().to_owned());
        let metric = (&metric + &metric.t()) * 0.5;
        let eigen = consilience_num::eigen::symmetric_eigen(metric.view()).unwrap();
        let mut positive = Array2::<f64>::zeros((d, d));
        for (l, &value) in eigen.values.iter().enumerate().filter(|e| *e.1 > 0.0) {
            let v = eigen.vectors.column(l).insert_axis(Axis(1)).to_owned();
            positive += &(v.dot(&v.t()) * value);
        }
        let size = positive.iter().fold(0.0f64, |m, v| m.max(v.abs()));
        let whole = consilience_num::eigen::symmetric_eigen(a.view()).unwrap();
        for map in [
            from_dense(&rows, a.view(), ridge).unwrap(),
            from_eigenpairs(&rows, &whole.vectors, &whole.values, ridge).unwrap(),
        ] {
            let own = map.dot(&map.t());
            assert!((&own - &positive).iter().all(|e| e.abs() <= 1e-8 * size), "{n} x {d}");
        }
    }
    // Nothing positive, nothing learned.
    let f = normal(10, 3, 5);
    assert!(from_dense(&normal(10, 4, 9), (-f.dot(&f.t())).view(), 0.1).is_none());
}

#[test]
fn every_pair_teaches_what_the_whole_similarity_teaches() {
    // Pairs estimate X A X' / n^2 without bias: all of them, both ways round, are it.
    for (n, d, seed) in [(14, 4, 7), (9, 6, 8)] {
        let x = normal(n, d, seed);
        let alike = |i: usize, j: usize| f64::from(u8::from(i % 3 == j % 3));
        let pairs = (0..n).flat_map(|i| (0..n).map(move |j| (i, j)));
        let links = pairs.map(|(i, j)| (i, j, alike(i, j))).collect();
        let smoothing = Smoothing::OfVariance(0.05);
        let map = from_pairs(&x, &KnownPairs::from_links(links), smoothing, d).unwrap();
        let a = Array2::from_shape_fn((n, n), |(i, j)| alike(i, j));
        let ridge = 0.05 * x.iter().map(|v| v * v).sum::<f64>();
        let half = solved(x.t().dot(&x), ridge, x.t().dot(&a).dot(&x));
        let metric = solved(x.t().dot(&x), ridge, half.t().to_owned());
        let size = metric.iter().fold(0.0f64, |m, v| m.max(v.abs()));
        let own = map.dot(&map.t());
        assert!((&own - &metric).iter().all(|e| e.abs() <= 1e-9 * size), "{n} x {d}");
        // Of one kind they say nothing.
        for kind in [0.0, 1.0] {
            let one = KnownPairs::from_links(vec![(0, 1, kind), (1, 2, kind)]);
            assert!(from_pairs(&x, &one, smoothing, d).is_none());
        }
    }
}

#[test]
fn the_normalised_cut_has_the_eigenvectors_of_the_whole_matrix() {
    let (x, truth) = blobs(90, 3, 40);
    let sample: Vec<usize> = (0..30).collect();
    let a = same(&truth, &sample);
    let method = Rdml::new(3).published();
    let given = SampleSimilarity::Dense(a.view());
    let found = method.fit_sample(x.view(), &sample, given, &()).unwrap();
    // Ridge and similarity from the text: features over the longest, lambda n = 30.
    let long = x.rows().into_iter().map(|r| r.dot(&r)).fold(0.0, f64::max);
    let unit = &x / long.sqrt();
    let rows = unit.select(Axis(0), &sample);
    let half = solved(rows.t().dot(&rows), 30.0, rows.t().dot(&a).dot(&rows));
    let metric = solved(rows.t().dot(&rows), 30.0, half.t().to_owned());
    let s = unit.dot(&metric).dot(&unit.t());
    let own = &found.output.similarity;
    // The library's similarity is in another unit of the features.
    let factor = own.between(0, 0).unwrap() / s[[0, 0]];
    assert!(factor > 0.0 && factor.is_finite());
    for i in 0..90 {
        for j in 0..90 {
            let off = own.between(i, j).unwrap() - factor * s[[i, j]];
            assert!(off.abs() <= 1e-8 * factor * long, "{i}, {j}: {off:e}");
        }
    }
    // k-means of the generalised eigenvectors, N x N.
    let mut degree: Vec<f64> = s.rows().into_iter().map(|row| row.sum()).collect();
    let above: Vec<f64> = degree.iter().copied().filter(|&d| d > 0.0).collect();
    let mean = above.iter().sum::<f64>() / above.len() as f64;
    degree.iter_mut().filter(|d| !(**d > 0.0)).for_each(|d| *d = mean);
    let normal =
        Array2::from_shape_fn((90, 90), |(i, j)| s[[i, j]] / (degree[i] * degree[j]).sqrt());
    let normal = (&normal + &normal.t()) * 0.5;
    let eigen = consilience_num::eigen::symmetric_eigen(normal.view()).unwrap();
    let y = Array2::from_shape_fn((90, 3), |(i, l)| eigen.vectors[[i, l]] / degree[i].sqrt());
    let options = consilience_num::kmeans::KMeansOptions::new(3).restarts(20);
    let labels = consilience_num::kmeans::fit(y.view(), None, &options, &()).unwrap().assignment;
    let expected = Partition::from_fn(90, |i| Some(u64::from(labels[i]))).unwrap();
    assert_eq!(found.output.clustering.partition, expected);
    assert_eq!(
        above.len() < 90,
        found.report.notes.iter().any(|n| n.contains("do not sum to more than 0"))
    );
    // New objects by the same map.
    let again = found.output.clustering.assign(x.view()).unwrap();
    let own = found.output.clustering.partition.iter().map(Option::unwrap);
    assert!(own.zip(again).all(|(a, b)| a == b));
}

#[test]
fn the_cut_finds_what_k_means_finds_on_plain_blobs() {
    let (x, truth) = blobs(300, 3, 6);
    let sample: Vec<usize> = Seed(1).stream().sample(300, 80);
    let a = same(&truth, &sample);
    let given = SampleSimilarity::Dense(a.view());
    let method = Rdml::new(3).cut(SimilarityCut::ShiMalik).smoothing(Smoothing::PerObject(0.01));
    let found = method.fit_sample(x.view(), &sample, given, &()).unwrap();
    let ari = adjusted_rand(&found.output.clustering.partition, &truth).unwrap();
    assert!(ari > 0.9, "{ari}");
    // Centred features, whose similarities sum to 0, have no such cut.
    assert!(found.report.notes.iter().any(|note| note.contains("sum to 0")), "{:?}", found.report);
    let raw = method.standardize(false).fit_sample(x.view(), &sample, given, &()).unwrap();
    assert!(!raw.report.notes.iter().any(|note| note.contains("sum to 0")), "{:?}", raw.report);
    let error = Rdml::new(2).smoothing(Smoothing::PerObject(f64::NAN));
    let error = error.fit_sample(x.view(), &sample, given, &()).map(|_| ()).unwrap_err();
    assert!(error.message().contains("smoothing is NaN"), "{error}");
}

#[test]
fn a_sample_settles_all_objects() {
    let (x, truth) = blobs(600, 4, 6);
    let sample: Vec<usize> = Seed(1).stream().sample(600, 80);
    let a = same(&truth, &sample);
    let method = Rdml::new(4);
    let dense =
        method.fit_sample(x.view(), &sample, SampleSimilarity::Dense(a.view()), &()).unwrap();
    assert!(adjusted_rand(&dense.output.clustering.partition, &truth).unwrap() > 0.95);
    assert_eq!(dense.report.status, Status::Solved);
    let one_hot = Array2::from_shape_fn((80, 4), |(a, c)| {
        f64::from(u8::from(truth.label(sample[a]) == Some(c)))
    });
    let factored = method
        .fit_sample(x.view(), &sample, SampleSimilarity::Factors(one_hot.view()), &())
        .unwrap();
    assert_eq!(dense.output.clustering.partition, factored.output.clustering.partition);
    // The wide columns alone would decide a plain k-means.
    let raw = Rdml::new(4).standardize(false).smoothing(1e-3);
    let raw = raw.fit_sample(x.view(), &sample, SampleSimilarity::Dense(a.view()), &()).unwrap();
    assert!(adjusted_rand(&raw.output.clustering.partition, &truth).unwrap() > 0.9);
    // New objects: the old ones again.
    let again = dense.output.clustering.assign(x.view()).unwrap();
    assert!(
        again
            .iter()
            .enumerate()
            .all(|(i, &c)| dense.output.clustering.partition.label(i) == Some(c))
    );
    let single = x.mapv(|v| v as f32);
    let single =
        method.fit_sample(single.view(), &sample, SampleSimilarity::Dense(a.view()), &()).unwrap();
    assert_eq!(single.output.clustering.partition, dense.output.clustering.partition);
}

#[test]
fn random_pairs_settle_all_objects() {
    let (x, truth) = blobs(500, 3, 8);
    let mut stream = Seed(3).stream();
    let mut known = Constraints::new(500).unwrap();
    while known.len() < 1500 {
        let (i, j) = (stream.below(500), stream.below(500));
        if i != j {
            let link = if truth.label(i) == truth.label(j) { Link::Must } else { Link::Cannot };
            known.add(i, j, link).unwrap();
        }
    }
    let found = Rdml::new(3).fit_completed(x.view(), &side(&known), &()).unwrap();
    assert!(adjusted_rand(&found.output.clustering.partition, &truth).unwrap() > 0.95);
    let nothing =
        Rdml::new(3).fit_completed(x.view(), &side(&Constraints::new(500).unwrap()), &()).unwrap();
    assert!(nothing.report.notes[0].contains("plain k-means"));
    assert_eq!(nothing.output.clustering.assign(x.view()).unwrap().len(), 500);
    // Both kinds are there, but so large a lambda leaves nothing of M.
    let large = Rdml::new(3).smoothing(1e300);
    let notes = large.fit_completed(x.view(), &side(&known), &()).unwrap().report.notes;
    assert!(notes[0].contains("lambda is too large, so the clusters are those of plain k-means"));
}

/// A metric that fits three or five links was taken though the clusters were lost by it.
#[test]
fn a_handful_of_links_does_not_spoil_what_kmeans_finds() {
    let (x, truth) = blobs(80, 2, 5);
    let plain = Rdml::new(2);
    let fit = |method: &Rdml, side: &SideInformation| {
        let fit = method.fit_completed(x.view(), side, &()).unwrap();
        (fit.output.clustering.partition, fit.report.notes)
    };
    let without = fit(&plain, &side(&Constraints::new(80).unwrap())).0;
    assert!(adjusted_rand(&without, &truth).unwrap() > 0.9);
    let mut known = Constraints::new(80).unwrap();
    for count in 1..=6 {
        let i = 4 * count;
        let mate = (i + 1..80).find(|&j| truth.label(j) == truth.label(i)).unwrap();
        let other = (i + 1..80).find(|&j| truth.label(j) != truth.label(i)).unwrap();
        known.add(i, mate, Link::Must).unwrap();
        known.add(i, other, Link::Cannot).unwrap();
        let (found, notes) = fit(&plain, &side(&known));
        let told = notes.concat().contains("the links are not used unless a smoothing or a cut");
        assert_eq!(told, count < 6, "{count}: {notes:?}");
        assert!(found == without || count == 6, "{count}");
        // The form of the thesis is asked for, and so is a lambda of the caller's.
        for named in [plain.clone().published(), plain.clone().smoothing(0.1)] {
            assert!(!fit(&named, &side(&known)).1.concat().contains("not used"), "{count}");
        }
    }
}

#[test]
fn labelled_objects_are_the_sample() {
    let (x, truth) = blobs(300, 3, 30);
    let labels: Vec<i64> = (0..300).map(|i| if i < 60 { (i % 3) as i64 } else { -1 }).collect();
    let side = SideInformation::from_labels(&labels).unwrap();
    let found = Rdml::new(3).cluster(x.view().into(), &side).unwrap();
    assert!(adjusted_rand(&found.partition, &truth).unwrap() > 0.95);
    let sample: Vec<usize> = (0..60).collect();
    let a = same(&truth, &sample);
    let given = SampleSimilarity::Dense(a.view());
    let by_sample = Rdml::new(3).fit_sample(x.view(), &sample, given, &()).unwrap().output;
    assert_eq!(found.partition, by_sample.clustering.partition);
    // A class alone teaches nothing.
    let one: Vec<i64> = (0..300).map(|i| if i < 60 { 0 } else { -1 }).collect();
    let one = SideInformation::from_labels(&one).unwrap();
    let nothing = Rdml::new(3).fit(x.view().into(), &one, &()).unwrap();
    assert!(nothing.report.notes[0].contains("plain k-means"));
}

#[test]
fn bits_do_not_depend_on_threads() {
    let (x, truth) = blobs(3000, 3, 12);
    let sample: Vec<usize> = (0..1200).collect();
    let a = same(&truth, &sample);
    let run = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let given = SampleSimilarity::Dense(a.view());
            Rdml::new(3)
                .fit_sample(x.view(), &sample, given, &())
                .unwrap()
                .output
                .similarity
                .embedding()
                .to_owned()
        })
    };
    let one = run(1);
    assert!(one == run(2) && one == run(3));
}

#[test]
fn odd_tables() {
    let one = Rdml::new(1)
        .fit_sample(
            array![[1.0, 2.0]].view(),
            &[0],
            SampleSimilarity::Dense(array![[1.0]].view()),
            &(),
        )
        .unwrap();
    assert_eq!(one.output.clustering.partition.n_clusters(), 1);
    let equal = Array2::from_elem((20, 2), 3.0);
    let a = Array2::from_elem((4, 4), 1.0);
    let found = Rdml::new(2)
        .fit_sample(equal.view(), &[0, 5, 6, 7], SampleSimilarity::Dense(a.view()), &())
        .unwrap();
    assert_eq!(
        (found.output.clustering.partition.n_clusters(), found.report.clusters_missing.is_some()),
        (1, true)
    );
    for factor in [2f64.powi(900), 2f64.powi(-900)] {
        let (x, truth) = blobs(200, 2, 20);
        let sample: Vec<usize> = (0..60).collect();
        let a = same(&truth, &sample);
        let far = &x * factor;
        let run = |x: &Array2<f64>| {
            Rdml::new(2)
                .fit_sample(x.view(), &sample, SampleSimilarity::Dense(a.view()), &())
                .unwrap()
        };
        assert_eq!(run(&far).output.clustering.partition, run(&x).output.clustering.partition);
    }
}

#[test]
fn bad_input_is_told_with_its_place() {
    let x = normal(10, 3, 1);
    let a = Array2::from_elem((3, 3), 1.0);
    let run = |m: Rdml, x: &Array2<f64>, sample: &[usize], a: &Array2<f64>| {
        let given = SampleSimilarity::Dense(a.view());
        m.fit_sample(x.view(), sample, given, &()).map(|_| ()).unwrap_err()
    };
    assert!(run(Rdml::new(0), &x, &[0, 1, 2], &a).message().contains("0 clusters of 10"));
    assert!(run(Rdml::new(11), &x, &[0, 1, 2], &a).message().contains("11 clusters of 10"));
    for smoothing in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let error = run(Rdml::new(2).smoothing(smoothing), &x, &[0, 1, 2], &a);
        assert_eq!(error.kind(), ErrorKind::InvalidParameter);
        assert!(error.message().contains(&format!("smoothing is {smoothing}")), "{error}");
    }
    assert_eq!(run(Rdml::new(2), &x, &[0, 1, 10], &a).kind(), ErrorKind::OutOfRange);
    assert!(run(Rdml::new(2), &x, &[4, 1, 4], &a).message().contains("object 4 is twice"));
    assert_eq!(run(Rdml::new(2), &x, &[], &Array2::zeros((0, 0))).kind(), ErrorKind::Empty);
    assert_eq!(run(Rdml::new(2), &x, &[0, 1], &a).kind(), ErrorKind::ShapeMismatch);
    let mut lame = a.clone();
    lame[[0, 2]] = 0.5;
    assert!(run(Rdml::new(2), &x, &[0, 1, 2], &lame).message().contains("row 0, column 2"));
    lame[[0, 2]] = f64::NAN;
    assert_eq!(run(Rdml::new(2), &x, &[0, 1, 2], &lame).kind(), ErrorKind::NonFinite);
    let mut bad = x.clone();
    bad[[2, 1]] = f64::INFINITY;
    assert!(run(Rdml::new(2), &bad, &[0, 1, 2], &a).message().contains("row 2, column 1"));
    let other = Constraints::new(9).unwrap();
    let error = Rdml::new(2).fit_completed(x.view(), &side(&other), &()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ShapeMismatch);

    struct Stop;
    impl Observer for Stop {
        fn cancelled(&self) -> bool {
            true
        }
    }
    let given = SampleSimilarity::Dense(a.view());
    let error = Rdml::new(2).fit_sample(x.view(), &[0, 1, 2], given, &Stop).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Cancelled);
}
