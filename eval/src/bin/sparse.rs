//! Times k-means on the sparse data of `eval/peers/sparse.py`, which says how.

use std::time::Instant;

use consilience::core::BaseClusterer;
use consilience::generate::{MiniBatchKMeans, SphericalKMeans, USpec};
use consilience::metric::TruncatedSvd;
use consilience::ndarray::Array2;
use consilience::num::kmeans::KMeansOptions;
use consilience::num::kmeans::sparse::{ScaledRows, from_centres};
use consilience::{Features, Seed};
use consilience_io::read_features;

/// Most memory that the process held so far, in bytes.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM"));
    let kilobytes = line.and_then(|line| line.split_whitespace().nth(1)?.parse::<u64>().ok());
    kilobytes.unwrap_or(0) * 1024
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let Some(folder) = args.next() else {
        println!("name the folder that eval/peers/sparse.py wrote");
        return Ok(());
    };
    let begin = Instant::now();
    let table = read_features(format!("{folder}/x.npz"))?;
    let Features::Sparse64(x) = table.view() else { return Err("no sparse doubles".into()) };
    let matrix = x.n_entries() * 16 + (x.n_rows() + 1) * 8;
    println!(
        "{} x {}, {} entries, {matrix} bytes, read in {:.2} s, peak {} bytes",
        x.n_rows(),
        x.n_columns(),
        x.n_entries(),
        begin.elapsed().as_secs_f64(),
        peak()
    );
    let start: Array2<f64> = ndarray_npy::read_npy(format!("{folder}/start.npy"))?;
    let options = KMeansOptions::new(start.nrows()).max_iterations(10);
    let mut seconds = Vec::new();
    let mut last = (0, 0.0);
    for _ in 0..5 {
        let begin = Instant::now();
        let rows = ScaledRows::new(x)?;
        let fit = from_centres(&rows, None, start.view(), &options, &())?;
        seconds.push(begin.elapsed().as_secs_f64());
        last = (fit.iterations, fit.inertia);
    }
    seconds.sort_by(f64::total_cmp);
    println!(
        "consilience k-means: {:.3} s, {} iterations, inertia {:.6}, peak {} bytes",
        seconds[2],
        last.0,
        last.1,
        peak()
    );
    if args.next().as_deref() != Some("all") {
        return Ok(());
    }
    let methods: [Box<dyn BaseClusterer>; 3] = [
        Box::new(SphericalKMeans::new().max_iterations(10)),
        Box::new(MiniBatchKMeans::new()),
        Box::new(USpec::new()),
    ];
    for method in methods {
        let begin = Instant::now();
        method.fit(x.into(), 20, Seed(1), &())?;
        println!("{}: {:.2} s, peak {}", method.name(), begin.elapsed().as_secs_f64(), peak());
    }
    let begin = Instant::now();
    let map = TruncatedSvd::new(100).learn(x)?;
    let reduced = map.apply(x)?;
    println!(
        "truncated SVD to {} dimensions: {:.2} s, peak {}",
        reduced.ncols(),
        begin.elapsed().as_secs_f64(),
        peak()
    );
    Ok(())
}
