//! Sparse features: what takes them finds what it finds on the same table, and all else refuses
//! them with a sentence.

use consilience::constrained::{Fpc, Nnc, PckMeans};
use consilience::core::{BaseClusterer, ConstrainedClusterer, FeatureMap};
use consilience::generate::{
    Agglomerative, FuzzyCMeans, GaussianMixture, Generator, KMeans, KernelKMeans, MiniBatchKMeans,
    Missing, Rpcl, Scale, Spectral, SphericalKMeans, USpec,
};
use consilience::metric::{LinearMap, MetricLearner, Rca, TruncatedSvd};
use consilience::ndarray::Array2;
use consilience::scores::adjusted_rand;
use consilience::{ErrorKind, Features, Partition, Seed, SideInformation};
use sprs::CsMat;

/// The entries of a table that are not 0.
fn sparse<F: Copy + PartialEq + Default>(x: &Array2<F>) -> CsMat<F> {
    let (mut starts, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
    for row in x.rows() {
        for (j, &v) in row.iter().enumerate().filter(|(_, v)| **v != F::default()) {
            indices.push(j);
            values.push(v);
        }
        starts.push(indices.len());
    }
    CsMat::new(x.dim(), starts, indices, values)
}

/// Texts of four topics: each topic has words of its own, and all share a few.
fn texts(n: usize, d: usize, seed: u64) -> (Array2<f64>, Partition) {
    let mut stream = Seed(seed).stream();
    let mut x = Array2::zeros((n, d));
    for i in 0..n {
        let own = d / 5;
        for _ in 0..20 {
            x[[i, i % 4 * own + stream.below(own)]] += 1.0;
            if stream.below(4) == 0 {
                x[[i, 4 * own + stream.below(d - 4 * own)]] += 1.0;
            }
        }
    }
    let truth: Vec<i64> = (0..n).map(|i| (i % 4) as i64).collect();
    (x, Partition::from_labels(&truth).unwrap())
}

/// Whole numbers with ties, rows of zeros and equal rows.
fn small(seed: u64) -> Array2<f64> {
    let mut stream = Seed(seed).stream();
    let (n, d) = (1 + stream.below(24), 1 + stream.below(12));
    let mut x = Array2::from_shape_simple_fn((n, d), || stream.below(8).saturating_sub(5) as f64);
    if n > 3 {
        let copy = x.row(0).to_owned();
        x.row_mut(n - 1).assign(&copy);
        x.row_mut(n - 2).fill(0.0);
    }
    x
}

fn takes() -> Vec<Box<dyn BaseClusterer>> {
    vec![
        Box::new(KMeans::new().restarts(5)),
        Box::new(SphericalKMeans::new().restarts(5)),
        Box::new(MiniBatchKMeans::new().batch(100)),
        Box::new(KernelKMeans::new().restarts(5)),
        Box::new(USpec::new()),
    ]
}

#[test]
fn topics_are_found_in_sparse_rows_as_in_the_table() {
    let (x, truth) = texts(240, 100, 1);
    let narrow = x.mapv(|v| v as f32);
    let (wide_rows, narrow_rows) = (sparse(&x), sparse(&narrow));
    for method in takes() {
        let inputs: [Features<'_>; 4] =
            [(&x).into(), (&narrow).into(), (&wide_rows).into(), (&narrow_rows).into()];
        for features in inputs {
            // Some starts of the small batches are poor: the best of a few seeds.
            let ari = |seed| {
                let found = method.fit(features, 4, Seed(seed), &()).unwrap().output;
                adjusted_rand(&found, &truth).unwrap()
            };
            let best = (0..4).map(ari).fold(f64::MIN, f64::max);
            assert!(best > 0.97, "{}: {best}, sparse {}", method.name(), features.is_sparse());
        }
    }
}

#[test]
fn the_same_bits_at_any_number_of_threads() {
    let (x, _) = texts(600, 200, 3);
    let rows = sparse(&x);
    let on = |threads: usize, work: &(dyn Fn() -> Vec<i64> + Sync)| {
        rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(work)
    };
    for method in takes() {
        let work = || method.fit((&rows).into(), 7, Seed(5), &()).unwrap().output.to_signed();
        assert_eq!(on(1, &work), on(3, &work), "{}", method.name());
    }
    let nnc = Nnc::new(5).seed(Seed(2));
    let side = SideInformation::none(600);
    let work = || nnc.fit((&rows).into(), &side, &()).unwrap().output.partition.to_signed();
    assert_eq!(on(1, &work), on(3, &work));
}

#[test]
fn small_worlds_break_nothing() {
    for seed in 0..300 {
        let x = small(seed);
        let rows = sparse(&x);
        for method in takes() {
            for k in [1, 2, x.nrows()] {
                let k = k.min(x.nrows());
                let found = method.fit((&rows).into(), k, Seed(seed), &()).unwrap();
                let partition = &found.output;
                assert_eq!(partition.n_objects(), x.nrows());
                assert!(partition.n_clusters() <= k && partition.n_labelled() == x.nrows());
                let fewer = partition.n_clusters() < k;
                assert_eq!(found.report.clusters_missing.is_some(), fewer, "{}", method.name());
            }
        }
    }
}

#[test]
fn nearest_neighbours_are_those_of_the_table() {
    for seed in 0..300 {
        let x = small(seed);
        let rows = sparse(&x);
        let mut stream = Seed(seed).stream();
        let labels: Vec<i64> = (0..x.nrows()).map(|_| stream.below(6) as i64 - 3).collect();
        let side = SideInformation::from_labels(&labels).unwrap();
        let k = side.labelled_sets().len().max(1).max(x.nrows() / 2);
        let nnc = Nnc::new(k).seed(Seed(seed));
        let dense = nnc.fit((&x).into(), &side, &()).unwrap();
        let found = nnc.fit((&rows).into(), &side, &()).unwrap();
        assert_eq!(found.output.partition, dense.output.partition, "seed {seed}");
        assert_eq!(found.report.objective, dense.report.objective);
        // New objects join the same sets, whichever form either has.
        assert_eq!(found.output.assign(&rows).unwrap(), dense.output.assign(&x).unwrap());
        let fpc = Fpc::new(k).seed(Seed(seed));
        let dense = fpc.fit_clustering(&x, &()).unwrap().output.partition;
        assert_eq!(fpc.fit_clustering(&rows, &()).unwrap().output.partition, dense);
    }
}

#[test]
fn a_large_constant_has_no_say_in_farthest_points() {
    let mut stream = Seed(6).stream();
    let x = Array2::from_shape_fn((120, 4), |(i, j)| match j {
        3 => 0.0,
        _ => stream.normal() + if i % 3 == j { 5.0 } else { 0.0 },
    });
    let labels: Vec<i64> = (0..120).map(|i| if i < 9 { i % 3 } else { -1 }).collect();
    let side = SideInformation::from_labels(&labels).unwrap();
    let methods: [Box<dyn ConstrainedClusterer>; 2] =
        [Box::new(Fpc::new(3)), Box::new(Nnc::new(3))];
    for method in methods {
        let plain = method.fit((&x).into(), &side, &()).unwrap();
        let labels = plain.output.assign(&x).unwrap();
        for value in [7e5, 1e12, -1e250] {
            let mut table = x.clone();
            table.column_mut(3).fill(value);
            let rows = sparse(&table);
            let both: [Features<'_>; 2] = [(&table).into(), (&rows).into()];
            for features in both {
                let found = method.fit(features, &side, &()).unwrap();
                let what = format!("{} beside {value:e}", method.name());
                assert_eq!(found.output.partition, plain.output.partition, "{what}");
                let apart = found.report.objective.unwrap() / plain.report.objective.unwrap();
                assert!((apart - 1.0).abs() < 1e-9, "{what}: {apart}");
                for new in both {
                    assert_eq!(found.output.assign(new).unwrap(), labels, "{what}");
                }
            }
        }
    }
}

#[test]
fn members_see_parts_of_sparse_features() {
    let (x, _) = texts(120, 60, 5);
    let rows = sparse(&x);
    // A projection takes the entries in the same order, so the members see the same bits.
    let projected = Generator::new(KMeans::new())
        .members(6)
        .projection(8)
        .feature_fraction(0.5)
        .object_fraction(0.7)
        .seed(Seed(4));
    assert_eq!(projected.generate(&rows).unwrap(), projected.generate(&x).unwrap());
    let (views, of_table) = (projected.views(&rows).unwrap(), projected.views(&x).unwrap());
    assert_eq!((views.len(), of_table.len()), (6, 6));
    for (view, other) in views.iter().zip(&of_table) {
        assert_eq!(view.columns(), other.columns());
        assert_eq!(view.apply((&rows).into()).unwrap(), view.apply((&x).into()).unwrap());
    }
    // Without one they see some columns of some rows, and stay sparse.
    let parts = Generator::new(SphericalKMeans::new())
        .members(6)
        .clusters(3..=6)
        .feature_fraction(0.5)
        .object_fraction(0.7)
        .seed(Seed(4));
    let ensemble = parts.generate(&rows).unwrap();
    let (views, of_table) = (parts.views(&rows).unwrap(), parts.views(&x).unwrap());
    assert_eq!((views.len(), of_table.len(), ensemble.n_members()), (6, 6, 6));
    let mut changed = 0;
    for (u, member) in ensemble.members().iter().enumerate() {
        let columns = views[u].columns();
        assert_eq!((columns.len(), member.n_labelled()), (30, 84));
        assert_eq!(columns, of_table[u].columns());
        // Whatever else stands in the cells that a member does not see, it finds the same.
        let cell = |(i, j): (usize, usize)| match member.label(i) {
            Some(_) if columns.contains(&j) => x[[i, j]],
            _ => 1.0,
        };
        let other = sparse(&Array2::from_shape_fn(x.dim(), cell));
        let again = parts.generate(&other).unwrap();
        assert_eq!(again.members()[u], *member, "member {u}");
        changed += usize::from(again != ensemble);
    }
    assert!(changed > 0, "the others see something else");
}

#[test]
fn what_needs_a_table_says_so() {
    let (x, _) = texts(40, 20, 2);
    let rows = sparse(&x);
    let refused = |result: Result<(), consilience::Error>, what: &str| {
        let error = result.expect_err(what);
        assert_eq!(error.kind(), ErrorKind::InvalidParameter, "{what}");
        assert!(error.message().contains("sparse"), "{what}: {error}");
    };
    let tables: Vec<Box<dyn BaseClusterer>> = vec![
        Box::new(Spectral::new()),
        Box::new(Rpcl::new()),
        Box::new(Agglomerative::default()),
        Box::new(GaussianMixture::new()),
        Box::new(FuzzyCMeans::new()),
    ];
    for method in tables {
        refused(method.fit((&rows).into(), 3, Seed(1), &()).map(drop), method.name());
    }
    let side = SideInformation::none(40);
    refused(PckMeans::new(3).fit((&rows).into(), &side, &()).map(drop), "pck");
    refused(Rca::new().fit((&rows).into(), &side, &()).map(drop), "rca");
    refused(Generator::new(KMeans::new()).scale(Scale::ZScore).generate(&rows).map(drop), "scale");
    refused(Missing::Mean.filled(&rows).map(drop), "missing");
    refused(Scale::MinMax.scaled(&rows).map(drop), "scaled");
    let diagonal = LinearMap::from_diagonal(&[1.0; 20]).unwrap();
    refused(diagonal.apply(&rows).map(drop), "diagonal map");
}

#[test]
fn damaged_sparse_features_are_refused() {
    let kind = |rows: &CsMat<f64>| KMeans::new().fit(rows.into(), 1, Seed(1), &()).unwrap_err();
    let columns = CsMat::new_csc((2, 3), vec![0, 1, 1, 1], vec![0], vec![1.0]);
    assert_eq!(kind(&columns).kind(), ErrorKind::InvalidParameter);
    assert_eq!(kind(&CsMat::zero((0, 3))).kind(), ErrorKind::Empty);
    assert_eq!(kind(&CsMat::zero((3, 0))).kind(), ErrorKind::Empty);
    let hole = CsMat::new((2, 9), vec![0, 1, 2], vec![8, 3], vec![1.0, f64::NAN]);
    let error = kind(&hole);
    assert_eq!(error.kind(), ErrorKind::NonFinite);
    assert!(error.message().contains("row 1") && error.message().contains('3'), "{error}");
}

#[test]
fn extreme_sizes_of_entries_change_nothing() {
    let (x, _) = texts(80, 50, 9);
    let plain = sparse(&x);
    for factor in [1e-300, 1e-160, 1e150, 1e300] {
        let scaled = sparse(&x.mapv(|v| v * factor));
        for method in takes() {
            let expected = method.fit((&plain).into(), 4, Seed(3), &()).unwrap().output;
            let found = method.fit((&scaled).into(), 4, Seed(3), &()).unwrap().output;
            let ari = adjusted_rand(&found, &expected).unwrap();
            assert!(ari > 0.9, "{} times {factor}: {ari}", method.name());
        }
    }
}

#[test]
fn singular_directions_are_those_of_the_table() {
    let (x, truth) = texts(150, 80, 7);
    let rows = sparse(&x);
    let svd = TruncatedSvd::new(6).tolerance(1e-10);
    let (dense, map) = (svd.learn(&x).unwrap(), svd.learn(&rows).unwrap());
    assert_eq!((map.n_features(), map.n_outputs()), (80, 6));
    let (a, b) = (dense.apply(&x).unwrap(), map.apply(&rows).unwrap());
    // Inner products do not depend on signs.
    let (a, b) = (a.dot(&a.t()), b.dot(&b.t()));
    assert!((&a - &b).iter().all(|v| v.abs() < 1e-6));
    // The same rows give the same coordinates in either form.
    let (a, b) = (map.apply(&x).unwrap(), map.apply(&rows).unwrap());
    assert!((&a - &b).iter().all(|v| v.abs() < 1e-10));
    let found = KMeans::new().restarts(5).fit((&b).into(), 4, Seed(1), &()).unwrap().output;
    assert!(adjusted_rand(&found, &truth).unwrap() > 0.97);
    assert!(TruncatedSvd::new(0).learn(&rows).is_err());
    assert!(TruncatedSvd::new(2).learn(&CsMat::<f64>::zero((3, 4))).is_err());
}

/// Asks to stop at the question of this number.
struct Impatient(usize, std::sync::atomic::AtomicUsize);

impl consilience::Observer for Impatient {
    fn cancelled(&self) -> bool {
        self.1.fetch_add(1, std::sync::atomic::Ordering::Relaxed) >= self.0
    }
}

#[test]
fn singular_directions_can_be_cancelled() {
    // More columns than are decomposed whole.
    let (x, _) = texts(900, 700, 7);
    let rows = sparse(&x);
    let svd = TruncatedSvd::new(6);
    for at in [0, 1, 3] {
        let observer = Impatient(at, Default::default());
        let error = svd.fit(&rows, &observer).unwrap_err();
        assert_eq!(error.kind(), consilience::ErrorKind::Cancelled, "{at}");
    }
    let patient = Impatient(usize::MAX, Default::default());
    assert_eq!(svd.fit(&rows, &patient).unwrap().output, svd.learn(&rows).unwrap());
    let asked = patient.1.into_inner();
    assert!(asked > 5, "{asked}");
}
