use consilience_conformance::{Profile, base_clusterer};
use consilience_core::{
    BaseClusterer, Ensemble, ErrorKind, Features, MemoryBudget, Partition, Seed, Status, Stop,
    scores,
};
use consilience_num::kmeans::RowSource;
use consilience_num::near::NearRows;
use consilience_num::place::Place;
use consilience_num::transfer::small_side;
use ndarray::{Array2, Axis, s};

use super::links::{Embedding, Links};
use super::{USpec, reference};
use crate::spherical_kmeans::compressed;
use crate::{Generator, KMeans};

/// Two half moons, each the other's mirror, with duplicates and a constant feature.
fn moons(n: usize, noise: f64) -> (Array2<f64>, Partition) {
    let mut s = Seed(5).stream();
    let mut x = Array2::zeros((n, 3));
    for i in 0..n {
        let turn = s.uniform() * std::f64::consts::PI;
        let at = if i % 2 == 0 {
            [turn.cos(), turn.sin()]
        } else {
            [1.0 - turn.cos(), 0.4 - turn.sin()]
        };
        for j in 0..2 {
            x[[i, j]] = at[j] + noise * s.normal();
        }
        x[[i, 2]] = 7.0;
        if i % 9 == 8 {
            let earlier = x.row(i - 2).to_owned();
            x.row_mut(i).assign(&earlier);
        }
    }
    (x, Partition::from_fn(n, |i| Some(i as u64 % 2)).unwrap())
}

#[test]
fn obeys_the_laws() {
    base_clusterer(&USpec::new(), &Profile { thread_objects: 1500, ..Profile::default() });
    let few = USpec::new().representatives(40).neighbours(3).restarts(1);
    base_clusterer(&few, &Profile { thread_objects: 2500, ..Profile::default() });
}

#[test]
fn exact_search_gives_the_embedding_of_the_whole_graph() {
    for (seed, (n, p, near)) in
        [(60, 20, 5), (90, 12, 3), (50, 50, 4), (40, 7, 7), (30, 1, 1)].into_iter().enumerate()
    {
        let (x, _) = moons(n, 0.2);
        let rows = Seed(seed as u64).stream().sample(n, p);
        let marks = x.select(Axis(0), &rows);
        let table = NearRows::new(marks.view(), 1, p, Seed(0), &()).unwrap();
        let links = Links::find(x.view(), &Place::HERE, &table, near, &()).unwrap();
        let weights = links.weigh(MemoryBudget::default(), &Stop::new(&()));
        let side = small_side(weights.view(), p.min(4), 0.0).unwrap();
        let embedding = Embedding::new(&links, &side.coordinates);
        let k = embedding.n_columns();
        let mut ours = vec![0.0; n * k];
        embedding.write(0..n, &mut ours);
        let ours = Array2::from_shape_vec((n, k), ours).unwrap().mapv(f64::from);
        let expected =
            reference::inner_products(&reference::affinities(x.view(), marks.view(), near), k);
        let worst = (&ours.dot(&ours.t()) - &expected).iter().fold(0.0f64, |m, v| m.max(v.abs()));
        assert!(worst < 2e-4, "n {n}, p {p}: {worst}");
    }
}

#[test]
fn moons_at_any_road() {
    // The second size is beyond the sample of the k-means.
    for n in [3000, 40_000] {
        let (x, truth) = moons(n, 0.05);
        let single = x.mapv(|v| v as f32);
        for features in [x.view().into(), single.view().into()] {
            let found = USpec::new().representatives(300).fit(features, 2, Seed(1), &()).unwrap();
            let ari = scores::adjusted_rand(&found.output, &truth).unwrap();
            assert!(ari > 0.98, "{n}: {ari}");
            assert_eq!(found.report.objective.is_some(), n < 32_768);
        }
        let plain = KMeans::new().fit(x.view().into(), 2, Seed(1), &()).unwrap().output;
        assert!(scores::adjusted_rand(&plain, &truth).unwrap() < 0.6);
    }
}

#[test]
fn same_bits_at_any_number_of_threads_beyond_the_sample() {
    let (x, _) = moons(50_000, 0.2);
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            USpec::new().representatives(100).fit(x.view().into(), 5, Seed(2), &()).unwrap().output
        })
    };
    let alone = run(1);
    for threads in [2, 5] {
        assert!(run(threads) == alone, "{threads} threads");
    }
}

#[test]
fn members_have_their_own_representatives() {
    let (x, truth) = moons(1200, 0.05);
    let make = || -> Ensemble {
        let generator =
            Generator::new(USpec::new().representatives(100)).members(4).clusters(6..=12);
        generator.seed(Seed(3)).generate(x.slice(s![.., ..2])).unwrap()
    };
    let ensemble = make();
    assert!(make() == ensemble);
    for (u, member) in ensemble.members().iter().enumerate() {
        assert!(scores::adjusted_rand(member, &ensemble.members()[(u + 1) % 4]).unwrap() < 0.999);
        // Fine clusters that hardly cross from one moon to the other.
        assert!(scores::homogeneity(member, &truth).unwrap() > 0.95, "{u}");
    }
}

/// Squares of links are kept in single precision, whose range they once left.
#[test]
fn links_do_not_depend_on_the_scale() {
    let (mut x, truth) = moons(3000, 0.05);
    let uspec = USpec::new().representatives(300);
    let run = |x: Features<'_>| uspec.fit(x, 2, Seed(1), &()).unwrap().output;
    let good = |p: &Partition| scores::adjusted_rand(p, &truth).unwrap() > 0.9;
    let (plain, rows) = (run((&x).into()), run((&compressed(x.view())).into()));
    assert!(good(&plain) && good(&rows));
    for power in [64, -64, 100] {
        let scaled = x.mapv(|v| v * 2f64.powi(power));
        let single = scaled.mapv(|v| v as f32);
        assert!(run((&scaled).into()) == plain, "2^{power}");
        assert!(good(&run((&single).into())), "2^{power} in single precision");
        assert!(run((&compressed(scaled.view())).into()) == rows, "2^{power}, sparse");
        let thin = run((&compressed(single.view())).into());
        assert!(good(&thin), "2^{power}, sparse in single precision");
    }
    // A constant feature beside the others, in any size.
    for constant in [1e9, 2f64.powi(90), -3e37] {
        x.column_mut(2).fill(constant);
        let single = x.mapv(|v| v as f32);
        assert!(good(&run((&x).into())), "{constant:e}");
        assert!(good(&run((&single).into())), "{constant:e} in single precision");
    }
}

#[test]
fn pieces_that_hang_loose_are_no_clusters() {
    // Two moons that touch, and six specks of thirty objects far from everything.
    // A single draw of representatives may go either way: eight are averaged.
    for (noise, least) in [(0.1, 0.85), (0.15, 0.55)] {
        let (mut x, truth) = moons(3000, noise);
        for i in 0..180 {
            x[[i, 2]] += 30.0 * (1 + i / 30) as f64;
        }
        let score = |regularization: f64, seed: u64| {
            let uspec = USpec::new().representatives(300).regularization(regularization);
            let found = uspec.fit(x.view().into(), 2, Seed(seed), &()).unwrap().output;
            let moon = |p: &Partition| {
                Partition::from_fn(2820, |i| p.label(i + 180).map(|l| l as u64)).unwrap()
            };
            scores::adjusted_rand(&moon(&found), &moon(&truth)).unwrap()
        };
        let mean = |value: f64| (1..9).map(|seed| score(value, seed)).sum::<f64>() / 8.0;
        let (published, regularized) = (mean(0.0), mean(0.01));
        assert!(regularized > least, "{noise}: {regularized}");
        assert!(regularized > published + 0.25, "{noise}: {published} {regularized}");
    }
}

#[test]
fn outliers_and_clusters_of_duplicates() {
    // So far out that the kernel vanishes, and many objects at few places.
    let mut x = Array2::from_shape_fn((3000, 2), |(i, j)| ((i * (j + 2)) % 40) as f64);
    x[[17, 0]] = 1e9;
    let found = USpec::new().representatives(30).fit(x.view().into(), 3, Seed(1), &()).unwrap();
    assert!(found.output.is_complete() && found.output.n_clusters() <= 3);
    let places = Array2::from_shape_fn((500, 1), |(i, _)| (i % 6) as f32);
    let found = USpec::new().fit(places.view().into(), 6, Seed(1), &()).unwrap();
    assert_eq!((found.output.n_clusters(), found.report.status), (6, Status::Solved));
    let found = USpec::new().fit(places.view().into(), 60, Seed(1), &()).unwrap();
    assert_eq!(found.output.n_clusters(), 6);
    assert!(found.report.clusters_missing.is_some());
}

#[test]
fn giants_are_refused() {
    let (x, _) = moons(20, 0.1);
    let line = Array2::from_shape_fn((50_000, 1), |(i, _)| i as f64);
    let e = USpec::new().fit(line.view().into(), 24_000, Seed(0), &()).unwrap_err();
    assert_eq!(e.kind(), ErrorKind::TooLarge, "{e}");
    let unlimited = USpec::new().memory_budget(MemoryBudget::bytes(u64::MAX));
    let line = Array2::from_shape_fn((70_000, 1), |(i, _)| i as f64);
    let e = unlimited.fit(line.view().into(), 33_000, Seed(0), &()).unwrap_err();
    assert!(e.message().contains("66000 representatives"), "{e}");
    assert!(USpec::new().representatives(usize::MAX).fit(x.view().into(), 2, Seed(0), &()).is_ok());
    assert!(USpec::new().neighbours(usize::MAX).fit(x.view().into(), 2, Seed(0), &()).is_ok());
}
