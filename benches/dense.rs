//! All eigenpairs of a stored matrix and thin singular values, by faer, or by LAPACK with
//! `--features openblas-system`. One thread: `OPENBLAS_NUM_THREADS=1`, and a pool of one here.

use consilience_core::Seed;
use consilience_num::eigen::symmetric_eigen;
use consilience_num::svd::{SvdOptions, truncated_svd};
use criterion::{Criterion, criterion_group, criterion_main};
use ndarray::Array2;

fn noise(rows: usize, columns: usize) -> Array2<f64> {
    let mut stream = Seed(7).stream();
    Array2::from_shape_fn((rows, columns), |_| stream.normal())
}

fn all(c: &mut Criterion) {
    let by = if cfg!(feature = "lapack") { "lapack" } else { "faer" };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let mut group = c.benchmark_group(by);
    group.sample_size(10);
    for n in [500, 1000, 2000] {
        let x = noise(n, n);
        let a = &x + &x.t();
        group.bench_function(format!("symmetric eigen {n}"), |b| {
            b.iter(|| pool.install(|| symmetric_eigen(a.view()).unwrap()))
        });
    }
    let x = noise(2000, 500);
    group.bench_function("thin singular values 2000 x 500", |b| {
        b.iter(|| pool.install(|| truncated_svd(&x, &SvdOptions::new(500))))
    });
}

criterion_group!(benches, all);
criterion_main!(benches);
