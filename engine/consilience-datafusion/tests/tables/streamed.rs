//! Members that are made without holding all objects in memory are those of the library.

use crate::common::{engine, generate, heaps, read, signed, write_features};
use consilience::generate::{Generator, MiniBatchKMeans, Scale, USpec};
use consilience::ndarray::Array2;
use consilience::{Ensemble, ErrorKind, Seed};
use consilience_datafusion::{Engine, MemberMethod, MemberSetup, Table};

/// Features far from each other in place and width, and a constant one.
fn uneven(n: usize, d: usize) -> Array2<f64> {
    let mut x = heaps(n, d);
    for (j, mut column) in x.columns_mut().into_iter().enumerate() {
        let (wide, far) = (10f64.powi(j as i32 * 2 - 3), 1e3 * j as f64);
        column.mapv_inplace(|x| x * wide + far);
    }
    x.column_mut(d - 1).fill(7.0);
    x
}

fn small_batches() -> MemberMethod {
    MemberMethod::MiniBatch { batch: 64, batches: 20 }
}

fn few_representatives() -> MemberMethod {
    MemberMethod::uspec().parameter("representatives", "120").unwrap()
}

/// The library's generator by a method of the engine.
fn library(method: MemberMethod) -> Generator {
    match method {
        MemberMethod::MiniBatch { batch, batches } => {
            Generator::new(MiniBatchKMeans::new().batch(batch).batches(batches))
        }
        MemberMethod::USpec { representatives, .. } => {
            Generator::new(USpec::new().representatives(representatives))
        }
        other => panic!("{other:?}"),
    }
}

fn same(place: &std::path::Path, expected: &Ensemble, what: &str) {
    for (u, member) in expected.members().iter().enumerate() {
        let found = read(place, &format!("m{u}"));
        let unequal = found.iter().zip(signed(member)).filter(|(a, b)| **a != *b).count();
        assert_eq!(unequal, 0, "{what}, member {u} of {} objects", found.len());
    }
}

#[test]
fn other_methods_draw_what_the_library_draws() {
    let folder = tempfile::tempdir().unwrap();
    let x = uneven(1500, 5);
    for single in [false, true] {
        let rounded = x.mapv(|x| x as f32);
        for (files, partitions) in [(1, 1), (4, 3)] {
            write_features(&folder.path().join(format!("x{single}{files}")), &x, single, files);
            let table = Table::open(folder.path().join(format!("x{single}{files}"))).unwrap();
            for method in [small_batches(), few_representatives()] {
                for scale in [Scale::None, Scale::MinMax, Scale::ZScore] {
                    let generator = library(method)
                        .members(3)
                        .clusters(2..=6)
                        .feature_fraction(0.7)
                        .scale(scale)
                        .seed(Seed(4));
                    let expected = match single {
                        true => generator.generate(rounded.view()).unwrap(),
                        false => generator.generate(x.view()).unwrap(),
                    };
                    let setup = MemberSetup::new()
                        .method(method)
                        .members(3)
                        .clusters(2..=6)
                        .feature_fraction(0.7)
                        .scale(scale)
                        .seed(Seed(4));
                    let name = method.name();
                    let what = format!("{name}, {scale:?}, {files} files, single: {single}");
                    for sample in [1500, 100] {
                        let place = folder.path().join(format!("{sample} of {what}"));
                        let setup = setup.clone().sample(sample);
                        let done = generate(&engine(partitions), &table, &setup, &place).unwrap();
                        let found: Vec<usize> =
                            expected.members().iter().map(|m| m.n_clusters()).collect();
                        assert_eq!(done.clusters, found, "{what}");
                        same(&place, &expected, &what);
                    }
                }
            }
        }
    }
}

/// In the unit of a large constant the squares of all others once vanished.
#[test]
fn what_is_far_out_hides_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let mut x = heaps(3000, 4);
    x.column_mut(1).fill(-3e30);
    x.column_mut(3).mapv_inplace(|v| v + 1e5);
    for single in [false, true] {
        let place = folder.path().join(format!("x{single}"));
        write_features(&place, &x, single, 3);
        let method = few_representatives();
        let generator = library(method).members(3).clusters(3..=5);
        let expected = match single {
            true => generator.generate(x.mapv(|x| x as f32).view()).unwrap(),
            false => generator.generate(x.view()).unwrap(),
        };
        let setup = MemberSetup::new().method(method).members(3).clusters(3..=5).sample(100);
        let pool = folder.path().join(format!("pool{single}"));
        generate(&engine(2), &Table::open(&place).unwrap(), &setup, &pool).unwrap();
        same(&pool, &expected, &format!("single: {single}"));
    }
}

/// The centres of k-means rest on the sample, but the scale is that of all objects.
#[test]
fn scales_come_from_all_objects() {
    let folder = tempfile::tempdir().unwrap();
    let x = uneven(2000, 3);
    let scaled = Scale::ZScore.scaled(&x).unwrap();
    write_features(&folder.path().join("x"), &x, false, 3);
    write_features(&folder.path().join("scaled"), &scaled, false, 1);
    let setup = MemberSetup::new().members(3).clusters(4..=4).sample(150).passes(3);
    let labels = |name: &str, scale: Scale| {
        let table = Table::open(folder.path().join(name)).unwrap();
        let place = folder.path().join(format!("pool-{name}"));
        generate(&engine(2), &table, &setup.clone().scale(scale), &place).unwrap();
        (0..3).map(|u| read(&place, &format!("m{u}"))).collect::<Vec<_>>()
    };
    assert_eq!(labels("x", Scale::ZScore), labels("scaled", Scale::None));
}

/// More objects than a stretch and than the k-means of U-SPEC takes, and members that take turns.
#[test]
fn stretches_and_turns() {
    let folder = tempfile::tempdir().unwrap();
    let x = heaps(150_000, 2);
    write_features(&folder.path().join("x"), &x, true, 3);
    let table = Table::open(folder.path().join("x")).unwrap();
    let rounded = x.mapv(|x| x as f32);
    let method = MemberMethod::uspec().parameter("representatives", "300").unwrap();
    let expected = library(method).members(8).clusters(3..=5).generate(rounded.view()).unwrap();
    let setup = MemberSetup::new().method(method).members(8).clusters(3..=5).sample(1000);
    let small = Engine::builder().memory(64 << 20).partitions(2).build().unwrap();
    let place = folder.path().join("pool");
    let done = generate(&small, &table, &setup, &place).unwrap();
    assert!(done.sample > 40_000 && done.converged, "{done:?}");
    same(&place, &expected, "turns");
}

#[test]
fn members_of_a_share_of_the_objects() {
    let folder = tempfile::tempdir().unwrap();
    let x = heaps(4000, 3);
    for method in [small_batches(), few_representatives()] {
        let setup = MemberSetup::new()
            .method(method)
            .members(3)
            .clusters(2..=4)
            .object_fraction(0.3)
            .sample(100);
        let mut all = Vec::new();
        for (files, partitions) in [(1, 1), (3, 4)] {
            let source = folder.path().join(format!("x{}{files}", method.name()));
            write_features(&source, &x, false, files);
            let table = Table::open(&source).unwrap();
            let place = folder.path().join(format!("pool{}{files}", method.name()));
            generate(&engine(partitions), &table, &setup, &place).unwrap();
            let members: Vec<Vec<i32>> = (0..3).map(|u| read(&place, &format!("m{u}"))).collect();
            for member in &members {
                let labelled = member.iter().filter(|&&label| label >= 0).count();
                assert!((1050..1350).contains(&labelled), "{labelled}");
            }
            all.push(members);
        }
        assert_eq!(all[0], all[1], "{}", method.name());
        // Hardly any object is seen: no labels, or an error, and no panic.
        let source = folder.path().join(format!("x{}1", method.name()));
        let table = Table::open(&source).unwrap();
        let place = folder.path().join(format!("none{}", method.name()));
        let setup = setup.clusters(1..=1).object_fraction(1e-9);
        match generate(&engine(2), &table, &setup, &place) {
            Ok(_) => assert!(read(&place, "m0").iter().all(|&label| label == -1)),
            Err(error) => assert_eq!(error.kind(), ErrorKind::Empty, "{error}"),
        }
    }
}

#[test]
fn draws_that_do_not_fit() {
    let folder = tempfile::tempdir().unwrap();
    write_features(&folder.path().join("x"), &heaps(20_000, 3), false, 1);
    let table = Table::open(folder.path().join("x")).unwrap();
    let small = Engine::builder().memory(64 << 20).partitions(1).build().unwrap();
    let place = folder.path().join("pool");
    for method in [
        MemberMethod::uspec().parameter("representatives", "2000").unwrap(),
        MemberMethod::MiniBatch { batch: 20_000, batches: 1000 },
    ] {
        let setup = MemberSetup::new().method(method).sample(100);
        let error = generate(&small, &table, &setup, &place).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::TooLarge);
        assert!(error.message().contains("of a member takes some"), "{error}");
        assert!(!place.exists());
    }
    let setup = MemberSetup::new().method(MemberMethod::uspec()).members(1000).sample(100);
    let error = generate(&small, &table, &setup, &place).unwrap_err();
    assert!(error.message().starts_with("what is kept of all members"), "{error}");
}

#[test]
fn parameters_by_name() {
    let method: MemberMethod = "minibatch".parse().unwrap();
    assert_eq!(method, MemberMethod::mini_batch());
    for (name, value, about) in [
        ("batch", "many", "expected a whole number"),
        ("restarts", "3", "minibatch takes batch, batches"),
    ] {
        let error = method.parameter(name, value).unwrap_err();
        assert!(error.message().contains(about), "{error}");
    }
    let error = MemberMethod::KMeans.parameter("batch", "3").unwrap_err();
    assert!(error.message().contains("no parameters"), "{error}");
    assert!("spectral".parse::<MemberMethod>().is_err());
}
