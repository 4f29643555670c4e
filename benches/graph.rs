//! Graph methods on the ensemble's clusters, at the sizes of the published timings.
//!
//! cargo bench -p consilience-tests --bench graph

use std::hint::black_box;
use std::time::Duration;

use consilience::consensus::{
    EcCms, EcpcsHc, EcpcsMc, EvidenceAccumulation, GpMgla, Hbgf, Lwea, Lwgp, Sdgca, Weac,
};
use consilience::graph::{ClusterIncidence, ensemble_driven_cluster_index};
use consilience::{ConsensusFunction, Ensemble, Linkage, Microclusters, Partition, Seed};
use criterion::{Criterion, criterion_group, criterion_main};

mod worlds;

/// Members as k-means makes them: each object at the nearest of k of the objects, k at random in
/// `2..=most`, in a random half of ten dimensions around ten centres.
fn voronoi(objects: usize, members: usize, most: usize) -> Ensemble {
    let mut s = Seed(7).stream();
    let centres: Vec<[f64; 10]> =
        (0..10).map(|_| std::array::from_fn(|_| 4.0 * s.normal())).collect();
    let points: Vec<[f64; 10]> = (0..objects)
        .map(|i| {
            let centre = centres[i % 10];
            std::array::from_fn(|d| centre[d] + 1.5 * s.normal())
        })
        .collect();
    let members = (0..members)
        .map(|_| {
            let k = 2 + s.below(most - 1);
            let at: Vec<usize> = (0..k).map(|_| s.below(objects)).collect();
            let mut dims: Vec<usize> = (0..10).collect();
            s.shuffle(&mut dims);
            let near = |i: usize| {
                let apart = |c: usize| -> f64 {
                    dims[..5].iter().map(|&d| (points[i][d] - points[at[c]][d]).powi(2)).sum()
                };
                (0..k).min_by(|&a, &b| apart(a).total_cmp(&apart(b))).map(|c| c as u64)
            };
            Partition::from_fn(objects, near).unwrap()
        })
        .collect();
    Ensemble::new(members).unwrap()
}

fn group<'a>(
    c: &'a mut Criterion,
    name: String,
) -> criterion::BenchmarkGroup<'a, criterion::measurement::WallTime> {
    let mut group = c.benchmark_group(name);
    group
        .sample_size(10)
        .warm_up_time(Duration::from_millis(100))
        .measurement_time(Duration::from_secs(1));
    group
}

fn describe(e: &Ensemble) -> String {
    let nodes = Microclusters::of(e).unwrap().n_nodes();
    format!(
        "{} objects, {} members, {} clusters, {nodes} microclusters",
        e.n_objects(),
        e.n_members(),
        e.n_clusters()
    )
}

/// The same ensemble, of whose labels each object lacks one member's.
fn with_holes(e: &Ensemble) -> Ensemble {
    let members = e.members().iter().enumerate().map(|(u, member)| {
        let label = |i: usize| member.label(i).filter(|_| i % e.n_members() != u);
        Partition::from_fn(e.n_objects(), |i| label(i).map(|l| l as u64)).unwrap()
    });
    Ensemble::new(members.collect()).unwrap()
}

/// 11,000 objects and 10 members, as USPS in the published tables.
fn dense(c: &mut Criterion) {
    let e = voronoi(11_000, 10, 50);
    let mut group = group(c, describe(&e));
    group.bench_function("microclusters", |b| b.iter(|| Microclusters::of(black_box(&e)).unwrap()));
    group.bench_function("EAC-AL", |b| {
        b.iter(|| EvidenceAccumulation::new(10).consensus(black_box(&e)).unwrap())
    });
    group.bench_function("WEAC-AL", |b| b.iter(|| Weac::new(10).consensus(black_box(&e)).unwrap()));
    group.bench_function("LWEA", |b| b.iter(|| Lwea::new(10).consensus(black_box(&e)).unwrap()));
    group.bench_function("ECPCS-HC", |b| {
        b.iter(|| EcpcsHc::new(10).consensus(black_box(&e)).unwrap())
    });
    for linkage in [Linkage::Complete, Linkage::Single] {
        group.bench_function(format!("EAC, {linkage:?}"), |b| {
            let method = EvidenceAccumulation::new(10).linkage(linkage);
            b.iter(|| method.consensus(black_box(&e)).unwrap())
        });
    }
    let holes = with_holes(&e);
    group.bench_function("EAC-AL, a tenth of the labels missing", |b| {
        b.iter(|| EvidenceAccumulation::new(10).consensus(black_box(&holes)).unwrap())
    });
    group.finish();
}

/// 5,000 microclusters that reliable pairs link into components of at most 15, and into some of
/// hundreds.
fn reliable(c: &mut Criterion) {
    for e in [voronoi(5_000, 10, 300), voronoi(5_800, 10, 70)] {
        let mut group = group(c, describe(&e));
        group
            .bench_function("LWEA", |b| b.iter(|| Lwea::new(10).consensus(black_box(&e)).unwrap()));
        group.bench_function("EC-CMS", |b| {
            b.iter(|| EcCms::new(10).consensus(black_box(&e)).unwrap())
        });
        group.bench_function("SDGCA", |b| {
            b.iter(|| Sdgca::new(10).consensus(black_box(&e)).unwrap())
        });
        group.finish();
    }
}

/// 20,000 objects and 10 members, as LR in the published tables (26 classes).
fn linear(c: &mut Criterion) {
    let e = voronoi(20_000, 10, 141);
    let mut group = group(c, describe(&e));
    let m = Microclusters::of(&e).unwrap();
    group.bench_function("incidence", |b| b.iter(|| ClusterIncidence::of(black_box(&m)).unwrap()));
    let incidence = ClusterIncidence::of(&m).unwrap();
    group.bench_function("cluster index", |b| {
        b.iter(|| ensemble_driven_cluster_index(black_box(&incidence), 0.4, &()).unwrap())
    });
    group.bench_function("LWGP", |b| b.iter(|| Lwgp::new(26).consensus(black_box(&e)).unwrap()));
    group.bench_function("HBGF", |b| b.iter(|| Hbgf::new(26).consensus(black_box(&e)).unwrap()));
    group.bench_function("GP-MGLA", |b| {
        b.iter(|| GpMgla::new(26).consensus(black_box(&e)).unwrap())
    });
    group.bench_function("ECPCS-MC", |b| {
        b.iter(|| EcpcsMc::new(26).consensus(black_box(&e)).unwrap())
    });
    group.finish();
}

/// 49,402 objects, as a tenth of KDD-Cup 99: few microclusters, and nearly as many as objects.
fn large(c: &mut Criterion) {
    for e in [worlds::copies(49_402, 10, 250), worlds::scattered(49_402, 10, 30)] {
        let mut group = group(c, describe(&e));
        group
            .bench_function("HBGF", |b| b.iter(|| Hbgf::new(10).consensus(black_box(&e)).unwrap()));
        group
            .bench_function("LWGP", |b| b.iter(|| Lwgp::new(10).consensus(black_box(&e)).unwrap()));
        group.finish();
    }
}

/// The ensemble in the file `$CONSILIENCE_ENSEMBLE`: an array of objects x members.
fn given(c: &mut Criterion) {
    let Ok(file) = std::env::var("CONSILIENCE_ENSEMBLE") else { return };
    let k = std::env::var("CONSILIENCE_CLUSTERS").ok().and_then(|k| k.parse().ok()).unwrap_or(10);
    let labels: consilience::ndarray::Array2<i64> = ndarray_npy::read_npy(file).unwrap();
    let e = Ensemble::from_array(labels.view()).unwrap();
    let mut group = group(c, format!("given: {}", describe(&e)));
    group.bench_function("HBGF", |b| b.iter(|| Hbgf::new(k).consensus(black_box(&e)).unwrap()));
    group.bench_function("LWGP", |b| b.iter(|| Lwgp::new(k).consensus(black_box(&e)).unwrap()));
    if e.n_objects() <= 30_000 {
        group.bench_function("EAC-AL", |b| {
            b.iter(|| EvidenceAccumulation::new(k).consensus(black_box(&e)).unwrap())
        });
        group.bench_function("WEAC-AL", |b| {
            b.iter(|| Weac::new(k).consensus(black_box(&e)).unwrap())
        });
        group.bench_function("LWEA", |b| b.iter(|| Lwea::new(k).consensus(black_box(&e)).unwrap()));
    }
    group.finish();
}

criterion_group!(benches, given, dense, reliable, linear, large);
criterion_main!(benches);
