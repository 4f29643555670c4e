//! Every clusterer through the laws that all obey, and the generator through its own.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use consilience_conformance::{Profile, base_clusterer, same_rows};
use consilience_core::{
    BaseClusterer, Ensemble, ErrorKind, FeatureMap, Features, Fit, MemoryBudget, Observer,
    Partition, Report, Result, Seed, SparseRows, scores,
};
use consilience_num::place::{far_off, far_off_sparse};
use ndarray::{Array2, ArrayView2, array};

use crate::spherical_kmeans::compressed;
use crate::{
    Agglomerative, FuzzyCMeans, GaussianMixture, Generator, KMeans, KernelKMeans, Linkage,
    MiniBatchKMeans, Rpcl, Scale, Spectral, SphericalKMeans, USpec,
};

fn blobs(n: usize, d: usize, k: usize, seed: u64) -> (Array2<f64>, Partition) {
    let mut s = Seed(seed).stream();
    let centres = Array2::from_shape_simple_fn((k, d), || 12.0 * s.normal());
    let x = Array2::from_shape_fn((n, d), |(i, j)| centres[[i % k, j]] + s.normal());
    (x, Partition::from_fn(n, |i| Some((i % k) as u64)).unwrap())
}

fn two_rings(n: usize) -> (Array2<f64>, Partition) {
    let mut s = Seed(4).stream();
    let x = Array2::from_shape_fn((n, 2), |(i, j)| {
        let (radius, turn) = ([1.0, 4.0][i % 2], i as f64 * 2.399_963);
        radius * [turn.cos(), turn.sin()][j] + 0.05 * s.normal()
    });
    (x, Partition::from_fn(n, |i| Some(i as u64 % 2)).unwrap())
}

fn agreement(clusterer: &dyn BaseClusterer, x: &Array2<f64>, truth: &Partition) -> f64 {
    let found = clusterer.fit(x.view().into(), truth.n_clusters(), Seed(3), &()).unwrap();
    scores::adjusted_rand(&found.output, truth).unwrap()
}

/// So many objects, where numbers of threads are compared.
fn threaded(objects: usize) -> Profile {
    Profile { thread_objects: objects, ..Profile::default() }
}

#[test]
fn kmeans_obeys_the_laws() {
    base_clusterer(&KMeans::new().restarts(3), &threaded(4000));
}

#[test]
fn centre_j_is_label_j() {
    for seed in 0..5 {
        let (x, _) = blobs(80, 3, 4, seed);
        // The first objects are of the last blobs.
        let x = x.slice(ndarray::s![..;-1, ..]).to_owned();
        let found = KMeans::new().fit_centres(&x, 5, Seed(seed), &()).unwrap().output;
        same_rows(&found.partition, (&x).into(), found.centres.view());
    }
}

#[test]
fn mini_batch_obeys_the_laws() {
    base_clusterer(&MiniBatchKMeans::new().batch(64), &threaded(4000));
}

#[test]
fn rpcl_obeys_the_laws() {
    // It finds the number of clusters itself.
    for random in [false, true] {
        let rpcl = Rpcl::new().random_start(random);
        base_clusterer(&rpcl, &Profile { exact_clusters: false, ..Profile::default() });
    }
}

#[test]
fn agglomerative_obeys_the_laws() {
    for linkage in [
        Linkage::Single,
        Linkage::Complete,
        Linkage::Average,
        Linkage::Ward,
        Linkage::Centroid,
        Linkage::Median,
    ] {
        base_clusterer(&Agglomerative::new(linkage), &Profile::default());
    }
}

#[test]
fn spectral_obeys_the_laws() {
    base_clusterer(&Spectral::new(), &threaded(200));
    base_clusterer(&Spectral::new().landmarks(60), &threaded(2500));
    base_clusterer(&Spectral::new().nearest(8), &threaded(300));
}

#[test]
fn kernel_kmeans_obeys_the_laws() {
    base_clusterer(&KernelKMeans::new().restarts(3), &threaded(1500));
}

#[test]
fn rings_need_more_than_balls() {
    for n in [400, 2400] {
        let (x, truth) = two_rings(n);
        assert!(agreement(&KMeans::new(), &x, &truth) < 0.5);
        assert!(agreement(&Spectral::new(), &x, &truth) > 0.99, "{n}");
        assert!(agreement(&Spectral::new().nearest(10), &x, &truth) > 0.99, "{n}");
        if n == 400 {
            assert_eq!(agreement(&Agglomerative::new(Linkage::Single), &x, &truth), 1.0);
        }
        let kernel = KernelKMeans::new().width(0.1).restarts(10);
        assert!(agreement(&kernel, &x, &truth) > agreement(&KMeans::new(), &x, &truth), "{n}");
    }
}

#[test]
fn rpcl_finds_the_number_of_clusters_at_a_fitting_rate() {
    let (x, truth) = blobs(400, 2, 3, 8);
    let mut exact = 0;
    for seed in 0..10 {
        let found = Rpcl::new().fit(x.view().into(), 6, Seed(seed), &()).unwrap();
        assert!(found.report.clusters_missing.is_none());
        exact += usize::from(found.output.n_clusters() == 3);
    }
    assert!(exact >= 5, "exact in {exact} of 10");
    // Under the default rate most of many units stay, under a high one not even the clusters.
    let left = |rate: f64, asked: usize| {
        let rpcl = Rpcl::new().penalty_rate(rate);
        rpcl.fit(x.view().into(), asked, Seed(1), &()).unwrap().output.n_clusters()
    };
    assert!(left(0.002, 12) > 6 && left(0.02, 12) == 3, "{} {}", left(0.002, 12), left(0.02, 12));
    // Units stay where no rival is pushed away.
    let lazy = Rpcl::new().penalty_rate(0.0).fit(x.view().into(), 6, Seed(0), &()).unwrap();
    assert!(lazy.output.n_clusters() > 3, "{}", lazy.output.n_clusters());
    let few = Rpcl::new().presentations(7).fit(x.view().into(), 6, Seed(0), &()).unwrap();
    let usual = Rpcl::new().fit(x.view().into(), 6, Seed(0), &()).unwrap();
    assert_eq!((few.report.iterations, usual.report.iterations), (7, 20_000));
    assert!(agreement(&Rpcl::new(), &x, &truth) > 0.95);
}

#[test]
fn centres_and_numbers_of_kmeans_fit_the_partition() {
    let (x, _) = blobs(500, 3, 4, 2);
    let found = KMeans::new().tolerance(0.0).fit_centres(x.view(), 4, Seed(5), &()).unwrap();
    let clusters = found.output;
    let mut inertia = 0.0;
    let mut means = Array2::<f64>::zeros((4, 3));
    for (i, row) in x.rows().into_iter().enumerate() {
        let c = clusters.partition.label(i).unwrap();
        inertia += (&row - &clusters.centres.row(c)).mapv(|v| v * v).sum();
        means.row_mut(c).scaled_add(1.0 / clusters.partition.sizes()[c] as f64, &row);
    }
    assert!((inertia - clusters.inertia).abs() < 1e-9 * inertia);
    assert!((&means - &clusters.centres).iter().all(|v| v.abs() < 1e-9));
    assert_eq!(found.report.objective, Some(clusters.inertia));
}

#[test]
fn bad_parameters_are_named() {
    let (x, _) = blobs(20, 2, 2, 1);
    let of = |c: &dyn BaseClusterer| c.fit(x.view().into(), 2, Seed(0), &()).unwrap_err();
    let bad: [(&dyn BaseClusterer, &str); 21] = [
        (&KMeans::new().restarts(0), "restarts"),
        (&KMeans::new().max_iterations(0), "max_iterations"),
        (&KMeans::new().tolerance(f64::NAN), "tolerance"),
        (&MiniBatchKMeans::new().batch(0), "batch"),
        (&Rpcl::new().learning_rate(f64::NAN), "learning rate"),
        (&Rpcl::new().penalty_rate(0.06), "penalty rate"),
        (&Rpcl::new().presentations(0), "presentations"),
        (&Spectral::new().neighbours(0), "neighbours"),
        (&KernelKMeans::new().width(f64::NAN), "width"),
        (&KernelKMeans::new().landmarks(0), "landmarks"),
        (&GaussianMixture::new().max_iterations(0), "max_iterations"),
        (&GaussianMixture::new().tolerance(f64::NAN), "tolerance"),
        (&GaussianMixture::new().variance_floor(0.0), "variance floor"),
        (&FuzzyCMeans::new().max_iterations(0), "max_iterations"),
        (&FuzzyCMeans::new().tolerance(-1.0), "tolerance"),
        (&FuzzyCMeans::new().fuzzifier(1.0), "fuzzifier"),
        (&USpec::new().representatives(0), "representatives"),
        (&USpec::new().neighbours(0), "neighbours"),
        (&USpec::new().restarts(0), "restarts"),
        (&USpec::new().regularization(f64::NAN), "regularization"),
        (&USpec::new().regularization(-0.1), "regularization"),
    ];
    for (clusterer, word) in bad {
        let e = of(clusterer);
        assert_eq!(e.kind(), ErrorKind::InvalidParameter);
        assert!(e.message().contains(word), "{e}");
    }
    for (linkage, bytes) in [(Linkage::Average, 1599), (Linkage::Ward, 319)] {
        let small = Agglomerative::new(linkage).memory_budget(MemoryBudget::bytes(bytes));
        assert_eq!(of(&small).kind(), ErrorKind::TooLarge, "{linkage:?}");
        let enough = small.memory_budget(MemoryBudget::bytes(bytes + 1));
        assert!(enough.fit(x.view().into(), 2, Seed(0), &()).is_ok(), "{linkage:?}");
    }
    // Many features: by distances where they fit, else by means, which find the same.
    let (wide, truth) = blobs(90, 40, 3, 5);
    for bytes in [4 * 90 * 90, 4 * 90 * 90 - 1] {
        let ward = Agglomerative::new(Linkage::Ward).memory_budget(MemoryBudget::bytes(bytes));
        assert_eq!(agreement(&ward, &wide, &truth), 1.0, "{bytes}");
    }
}

fn generator() -> Generator {
    Generator::new(KMeans::new()).members(9).seed(Seed(6))
}

#[test]
fn generator_refuses_what_makes_no_sense() {
    let (x, _) = blobs(30, 4, 3, 1);
    let kind = |g: Generator| g.generate(x.view()).unwrap_err().kind();
    for f in [0.0, -0.5, 1.5, f64::NAN, f64::INFINITY] {
        assert_eq!(kind(generator().feature_fraction(f)), ErrorKind::InvalidParameter);
        assert_eq!(kind(generator().object_fraction(f)), ErrorKind::InvalidParameter);
    }
    #[allow(clippy::reversed_empty_ranges)]
    let empty = 5..=4;
    for range in [0..=3, empty, 31..=40] {
        assert_eq!(kind(generator().clusters(range)), ErrorKind::InvalidParameter);
    }
    assert_eq!(kind(generator().members(0)), ErrorKind::InvalidParameter);
    assert_eq!(kind(generator().projection(0)), ErrorKind::InvalidParameter);
    let none = Array2::<f32>::zeros((0, 2));
    assert_eq!(generator().generate(&none).unwrap_err().kind(), ErrorKind::Empty);
    let mut bad = x.clone();
    bad[[3, 1]] = f64::NAN;
    let e = generator().generate(bad.view()).unwrap_err();
    assert_eq!(e.kind(), ErrorKind::NonFinite);
    assert!(e.message().contains("row 3, column 1"), "{e}");
    assert!(generator().clusters(2..=1000).generate(x.view()).is_ok());
}

#[test]
fn same_ensemble_at_any_number_of_threads() {
    let (x, _) = blobs(2000, 6, 5, 9);
    let single = x.mapv(|v| v as f32);
    for members in [3, 40] {
        let make = |threads: usize| {
            let g = generator()
                .members(members)
                .feature_fraction(0.5)
                .object_fraction(0.7)
                .projection(4)
                .scale(Scale::ZScore);
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| (g.generate(x.view()).unwrap(), g.generate(single.view()).unwrap()))
        };
        let alone = make(1);
        assert!(alone.0.members().iter().all(|m| m.n_labelled() == 1400));
        for threads in [2, 3, 8] {
            assert!(make(threads) == alone, "{members} members, {threads} threads");
        }
    }
}

#[test]
fn odd_tables_give_ensembles() {
    let g = |scale| generator().scale(scale).feature_fraction(0.6);
    for scale in [Scale::None, Scale::MinMax, Scale::ZScore] {
        let one = g(scale).generate(array![[4.0, 4.0]].view()).unwrap();
        assert!(one.members().iter().all(|m| m.n_clusters() == 1));
        let equal = g(scale).fit(Array2::from_elem((12, 3), 0.1f32).view(), &()).unwrap();
        assert!(equal.output.members().iter().all(|m| m.n_clusters() == 1));
        assert!(equal.report.clusters_missing.is_some());
        let (mut x, truth) = blobs(60, 3, 2, 7);
        x.column_mut(1).fill(-3.0);
        for unit in [1.0, 1e200, 1e-200, 1e305] {
            let x = x.mapv(|v| v * unit);
            let found = generator().scale(scale).clusters(2..=2).generate(x.view()).unwrap();
            for member in found.members() {
                let score = scores::adjusted_rand(member, &truth).unwrap();
                assert_eq!(score, 1.0, "{scale:?} {unit:e}");
            }
        }
    }
}

#[test]
fn projections_keep_features_beside_one_that_is_far_out() {
    let (x, truth) = blobs(200, 6, 4, 11);
    // Whole numbers, which single precision holds.
    let x = x.mapv(|v| v.round() as f32);
    let g = || {
        let base = Generator::new(KMeans::new().restarts(5)).members(9).seed(Seed(6));
        base.projection(3).clusters(4..=4).feature_fraction(0.8)
    };
    let beside = |column: &dyn Fn(usize) -> f32| {
        Array2::from_shape_fn((200, 7), |(i, j)| if j < 6 { x[[i, j]] } else { column(i) })
    };
    let without = beside(&|_| 0.0);
    let plain = g().generate(without.view()).unwrap();
    let thin = g().generate(&compressed(without.view())).unwrap();
    let mean = |e: &Ensemble| {
        let scores = e.members().iter().map(|m| scores::adjusted_rand(m, &truth).unwrap());
        scores.sum::<f64>() / e.n_members() as f64
    };
    assert!(mean(&plain) > 0.6, "{}", mean(&plain));
    for far in [1e9f32, -3e15, 1e30] {
        // The same of all objects: as if it were not there, of dense rows and of sparse ones.
        let table = beside(&|_| far);
        assert!(g().generate(table.view()).unwrap() == plain, "{far:e}");
        let rows = compressed(table.view());
        assert!(g().generate(&rows).unwrap() == thin, "{far:e}, sparse");
        // New objects are seen as those at hand are, and one without the feature is far from them.
        let views = g().views(&rows).unwrap();
        assert_eq!(views, g().views(table.view()).unwrap());
        let mut new = without.clone();
        new[[3, 6]] = far;
        let dense = views[0].apply((&new).into()).unwrap();
        let thin = views[0].apply((&compressed(new.view())).into()).unwrap();
        for (a, b) in dense.iter().zip(&thin) {
            assert!((a - b).abs() <= 1e-6 * (1.0 + a.abs()), "{far:e}: {a} {b}");
        }
    }
    // And one that varies as much as the others, but far from 0.
    let step = |i: usize| (i % 4) as f32;
    let near = g().generate(beside(&step).view()).unwrap();
    let far = g().generate(beside(&|i| 1e6 + step(i)).view()).unwrap();
    for (a, b) in near.members().iter().zip(far.members()) {
        assert!(scores::adjusted_rand(a, b).unwrap() > 0.99);
    }
}

#[test]
fn what_is_not_far_out_stays_as_it_is() {
    let (x, _) = blobs(50, 3, 2, 4);
    let off = |x: &Array2<f64>| {
        let found = far_off_sparse(SparseRows::from(&compressed(x.view())))?;
        let mut off = vec![0.0; x.ncols()];
        found.into_iter().for_each(|(j, v)| off[j] = v);
        Some(off)
    };
    assert!(far_off(x.view()).is_none() && off(&x).is_none());
    assert!(far_off(Array2::<f64>::zeros((5, 2)).view()).is_none());
    assert!(far_off(array![[1e9f64, 1.0]].view()).is_none());
    assert!(far_off(Array2::from_elem((5, 2), 1e9f32).view()).is_none());
    // A gap first; what is 1024 times as large as the others differ is far out, and no less.
    let table = |v: f64| array![[f64::NAN, 0.0], [v, 1.0], [v, 0.5], [v, f64::NAN]];
    assert_eq!(far_off(table(1025.0).view()), Some(vec![1025.0, 0.0]));
    assert_eq!(far_off(table(-1025.0).view()), Some(vec![-1025.0, 0.0]));
    assert_eq!(far_off(table(1023.0).view()), None);
    let table = |v: f64| array![[v, 0.0, 1.0], [v, 1.0, 0.0], [v + 0.5, 0.0, 0.5]];
    for v in [1025.0, -2e6] {
        assert_eq!(far_off(table(v).view()), Some(vec![v, 0.0, 0.0]));
        assert_eq!(off(&table(v)), Some(vec![v, 0.0, 0.0]));
    }
    // One row without it, and the column is as wide as it is far.
    let mut hole = table(2000.0);
    hole[[1, 0]] = 0.0;
    assert_eq!(off(&hole), None);
}

/// Lengths and products of sparse rows have no place for the others beside a large number.
#[test]
fn a_large_feature_of_sparse_rows_hides_nothing() {
    let (x, truth) = blobs(300, 4, 3, 21);
    let table = Array2::from_shape_fn((300, 5), |(i, j)| match j {
        4 => 1e12 + (i % 2) as f64,
        _ => x[[i, j]],
    });
    let rows = compressed(table.view());
    let uspec = USpec::new();
    let kernel = KernelKMeans::new().restarts(5);
    let kmeans = KMeans::new().restarts(5);
    let clusterers: [&dyn BaseClusterer; 4] =
        [&kmeans, &kernel, &MiniBatchKMeans::new().batch(64), &uspec];
    for clusterer in clusterers {
        let found = clusterer.fit((&rows).into(), 3, Seed(3), &()).unwrap().output;
        let score = scores::adjusted_rand(&found, &truth).unwrap();
        assert!(score > 0.9, "{}: {score}", clusterer.name());
    }
    let found = kmeans.fit_centres(&rows, 3, Seed(3), &()).unwrap().output;
    for far in found.centres.column(4) {
        assert!((far - 1e12 - 0.5).abs() < 0.2, "{far}");
    }
}

/// Squares of the others once vanished beside a large constant.
#[test]
fn a_large_constant_hides_nothing() {
    let (x, truth) = blobs(90, 4, 3, 21);
    let table = Array2::from_shape_fn((90, 5), |(i, j)| if j < 4 { x[[i, j]] } else { 1e250 });
    let clusterers: [&dyn BaseClusterer; 8] = [
        &KMeans::new().restarts(5),
        &KernelKMeans::new().restarts(5),
        &Spectral::new(),
        &Spectral::new().nearest(10),
        &Agglomerative::new(Linkage::Average),
        &Agglomerative::new(Linkage::Ward),
        &GaussianMixture::new(),
        &FuzzyCMeans::new(),
    ];
    for clusterer in clusterers {
        let plain = agreement(clusterer, &x, &truth);
        let beside = agreement(clusterer, &table, &truth);
        assert!((plain - beside).abs() < 1e-9, "{}: {plain} {beside}", clusterer.name());
    }
}

#[test]
fn scale_brings_features_together() {
    // The wide feature is noise, the narrow one carries the groups.
    let mut s = Seed(2).stream();
    let x = Array2::from_shape_fn((100, 2), |(i, j)| {
        if j == 0 { 1e4 * s.uniform() } else { (i % 2) as f64 + 0.01 * s.normal() }
    });
    let truth = Partition::from_fn(100, |i| Some(i as u64 % 2)).unwrap();
    let mean = |scale| {
        let base = Generator::new(KMeans::new().restarts(10)).members(9);
        let e = base.clusters(2..=2).scale(scale).generate(x.view()).unwrap();
        e.members().iter().map(|m| scores::adjusted_rand(m, &truth).unwrap()).sum::<f64>() / 9.0
    };
    assert!(mean(Scale::None) < 0.1 && mean(Scale::MinMax) > 0.9 && mean(Scale::ZScore) > 0.9);
}

/// Writes down what it is asked.
struct Spy {
    ks: &'static Mutex<Vec<usize>>,
    shape: &'static Mutex<Vec<(usize, usize)>>,
}

static KS: Mutex<Vec<usize>> = Mutex::new(Vec::new());
static SHAPES: Mutex<Vec<(usize, usize)>> = Mutex::new(Vec::new());

impl BaseClusterer for Spy {
    fn name(&self) -> &'static str {
        "spy"
    }
    fn fit(&self, x: Features<'_>, k: usize, _: Seed, _: &dyn Observer) -> Result<Fit<Partition>> {
        self.ks.lock().unwrap().push(k);
        self.shape.lock().unwrap().push((x.n_objects(), x.n_features()));
        Ok(Fit::new(Partition::single_cluster(x.n_objects())?, Report::default()))
    }
}

#[test]
fn what_members_see() {
    let x = Array2::<f64>::zeros((900, 21));
    let spy = Spy { ks: &KS, shape: &SHAPES };
    Generator::new(spy)
        .members(300)
        .feature_fraction(0.1)
        .object_fraction(0.5)
        .generate(x.view())
        .unwrap();
    let ks = KS.lock().unwrap();
    assert_eq!((ks.iter().min(), ks.iter().max(), ks.len()), (Some(&2), Some(&30), 300));
    assert!(SHAPES.lock().unwrap().iter().all(|&s| s == (450, 3)));
}

struct Counting {
    calls: AtomicUsize,
    last: AtomicUsize,
    stop_at: usize,
}

impl Observer for Counting {
    fn progress(&self, stage: &str, done: usize, total: usize) {
        assert_eq!((stage, total), ("members", 9));
        assert_eq!(self.last.swap(done, Ordering::SeqCst) + 1, done);
        self.calls.fetch_add(1, Ordering::SeqCst);
    }
    fn cancelled(&self) -> bool {
        self.calls.load(Ordering::SeqCst) >= self.stop_at
    }
}

#[test]
fn progress_and_cancellation_of_the_generator() {
    let (x, _) = blobs(200, 3, 3, 1);
    let of = |stop_at| Counting { calls: AtomicUsize::new(0), last: AtomicUsize::new(0), stop_at };
    let all = of(100);
    generator().fit(x.view(), &all).unwrap();
    assert_eq!(all.calls.load(Ordering::SeqCst), 9);
    for stop_at in [0, 1, 4] {
        let e = generator().fit(x.view(), &of(stop_at)).unwrap_err();
        assert_eq!(e.kind(), ErrorKind::Cancelled);
    }
    let view: ArrayView2<'_, f64> = x.view();
    assert!(generator().fit(view, &of(100)).is_ok());
}

#[test]
fn what_cannot_fit_is_refused_before_it_is_allocated() {
    let (x, _) = blobs(40, 3, 3, 1);
    for dimensions in [usize::MAX, 1 << 58, 1 << 40] {
        let e =
            Generator::new(KMeans::new()).projection(dimensions).generate(x.view()).unwrap_err();
        assert_eq!(e.kind(), ErrorKind::TooLarge, "{e}");
    }
    for members in [usize::MAX, 1 << 40] {
        let e = Generator::new(KMeans::new()).members(members).generate(x.view()).unwrap_err();
        assert_eq!(e.kind(), ErrorKind::InvalidParameter, "{e}");
    }
    let line = Array2::from_shape_fn((50_000, 1), |(i, _)| i as f64);
    let clusterers: [&dyn BaseClusterer; 5] = [
        &KernelKMeans::new(),
        &Spectral::new(),
        &Spectral::new().landmarks(usize::MAX),
        &Spectral::new().nearest(10),
        &Spectral::new().nearest(usize::MAX),
    ];
    for clusterer in clusterers {
        let e = clusterer.fit(line.view().into(), 24_000, Seed(0), &()).unwrap_err();
        assert_eq!(e.kind(), ErrorKind::TooLarge, "{e}");
    }
}

#[test]
fn ensembles_tell_what_their_members_tell() {
    let x = Array2::from_shape_fn((1100, 2), |(i, j)| ((i * (31 + 17 * j)) % 4999) as f64);
    let notes = |clusterer: Spectral| {
        let generator = Generator::new(clusterer).members(3).clusters(3..=3);
        generator.fit(&x, &()).unwrap().report.notes
    };
    let told = notes(Spectral::new());
    let limit = "1100 distinct objects by 300 landmarks; exact_objects is 1000";
    let by_landmarks = |n: &&String| n.contains(limit);
    let found: Vec<&String> = told.iter().filter(by_landmarks).collect();
    assert!(found.len() == 1 && found[0].starts_with("3 of 3 members: "), "{told:?}");
    assert!(!notes(Spectral::new().exact_objects(1100)).iter().any(|n| n.contains("landmarks")));
    // How many clusters a member lacks, and where a range was cut.
    let few = Array2::from_shape_fn((20, 1), |(i, _)| (i % 3) as f64);
    let report = |low: usize, high: usize| {
        let generator = Generator::new(KMeans::new()).members(40).clusters(low..=high);
        generator.fit(&few, &()).unwrap().report
    };
    let some = report(3, 5);
    assert_eq!(some.clusters_missing, Some(2));
    assert!(some.notes[0].contains("have 1 to 2 clusters fewer"), "{some:?}");
    let one = report(4, 4);
    assert_eq!(one.notes, ["40 of 40 members have 1 cluster fewer than drawn for them"]);
    let cut = report(3, 500);
    assert!(cut.notes[0].contains("up to 20 in place of 500"), "{cut:?}");
}

#[test]
fn members_reach_the_clusters_of_the_consensus() {
    let range = |generator: Generator, n: usize| generator.cluster_range(n).unwrap();
    let of = |k: usize| Generator::new(KMeans::new()).consensus_clusters(k);
    // Where the usual range ends at 2 K or above, it stays.
    assert_eq!([range(of(10), 400), range(of(11), 400)], [2..=20, 11..=22]);
    assert_eq!([range(of(25), 1_000_000), range(of(26), 1_000_000)], [2..=50, 26..=52]);
    // Few objects: half of them, and 10 where the root is less.
    let small = [3, 8, 15, 60, 144].map(|n| range(Generator::new(KMeans::new()), n));
    assert_eq!(small, [2..=2, 2..=4, 2..=7, 2..=10, 2..=12]);
    // Never more than there are objects, those that a member sees where it sees a part.
    assert_eq!([range(of(6), 8), range(of(9), 8), range(of(0), 400)], [6..=8, 8..=8, 2..=20]);
    assert_eq!(range(of(6).object_fraction(0.5), 20), 6..=10);
    assert_eq!(range(of(6).clusters(2..=3), 30), 2..=3);

    let (x, _) = blobs(30, 3, 10, 0);
    let fit = of(10).fit(&x, &()).unwrap();
    assert!(fit.output.members().iter().all(|m| (10..=20).contains(&m.n_clusters())));
    let told = |fit: &Fit<Ensemble>| {
        let note = "drawn from 10 to 20, for a consensus into 10: the usual range, 2 to 10 for 30";
        fit.report.notes.iter().any(|said| said.contains(note))
    };
    assert!(told(&fit), "{:?}", fit.report.notes);
    assert!(!told(&of(10).clusters(10..=20).fit(&x, &()).unwrap()));
}

#[test]
fn limits_that_bind_are_told_and_can_be_set() {
    let x = Array2::from_shape_fn((2200, 2), |(i, j)| ((i * (31 + 17 * j)) % 4999) as f64);
    let notes = |clusterer: &dyn BaseClusterer| {
        clusterer.fit(x.view().into(), 3, Seed(1), &()).unwrap().report.notes
    };
    let told = notes(&Rpcl::new());
    assert!(told[0].contains("100000 presentations of 2200 objects"), "{told:?}");
    assert!(notes(&Rpcl::new().presentations(3000)).is_empty());
    let none = Spectral::new().exact_objects(0).fit(x.view().into(), 3, Seed(1), &());
    assert!(none.unwrap_err().message().contains("exact objects"));
}

/// Hears how often it was asked whether to stop before the first iteration of a k-means.
#[derive(Default)]
struct BeforeKMeans {
    asked: AtomicUsize,
    before: AtomicUsize,
}

impl Observer for BeforeKMeans {
    fn progress(&self, stage: &str, _: usize, _: usize) {
        let now = self.asked.load(Ordering::Relaxed);
        if stage == "k-means" {
            let _ = self.before.compare_exchange(0, now, Ordering::Relaxed, Ordering::Relaxed);
        }
    }

    fn cancelled(&self) -> bool {
        self.asked.fetch_add(1, Ordering::Relaxed);
        false
    }
}

/// What comes before the iterations takes most of the time where there are many features or
/// landmarks.
#[test]
fn cancellation_is_asked_for_before_the_first_iteration() {
    let (x, _) = blobs(2500, 4, 5, 9);
    let rows = compressed(x.view());
    let before = |clusterer: &dyn BaseClusterer, features: Features<'_>| {
        let heard = BeforeKMeans::default();
        clusterer.fit(features, 40, Seed(1), &heard).unwrap();
        heard.before.into_inner()
    };
    // A start for each cluster or landmark, and each landmark compared with the others.
    assert!(before(&KMeans::new(), (&x).into()) > 40);
    assert!(before(&SphericalKMeans::new(), (&rows).into()) > 40);
    assert!(before(&KernelKMeans::new(), (&x).into()) > 200);
    assert!(before(&KernelKMeans::new(), (&rows).into()) > 200);
    assert!(before(&USpec::new(), (&x).into()) > 200);
    assert!(before(&USpec::new(), (&rows).into()) > 200);
    assert!(before(&Spectral::new(), (&x).into()) > 200);
}
