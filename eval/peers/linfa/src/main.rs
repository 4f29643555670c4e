//! linfa's side of `peers` (eval/src/bin/peers): k-means on the rows in a folder, once for every
//! line that it reads.

use std::io::{BufRead, Write};
use std::time::Instant;

use linfa::prelude::*;
use linfa_clustering::{KMeans, KMeansInit};
use ndarray::Array2;

/// A field of the process's status, in bytes.
fn memory(field: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with(field));
    let kilobytes = line.and_then(|line| line.split_whitespace().nth(1)?.parse::<u64>().ok());
    kilobytes.unwrap_or(0) * 1024
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::args().nth(1).ok_or("name a folder with x.npy and start.npy")?;
    let x: Array2<f64> = ndarray_npy::read_npy(format!("{folder}/x.npy"))?;
    let start: Array2<f64> = ndarray_npy::read_npy(format!("{folder}/start.npy"))?;
    let n = x.nrows() as f64;
    let data = DatasetBase::from(x);
    let mut out = std::io::stdout();
    writeln!(out, "{{\"ready\": true}}")?;
    out.flush()?;
    for line in std::io::stdin().lock().lines() {
        line?;
        let _ = std::fs::write("/proc/self/clear_refs", "5");
        let before = memory("VmRSS");
        let begin = Instant::now();
        // linfa calls a run that stops at the cap an error; the work is the same.
        let fit = KMeans::params(20)
            .n_runs(1)
            .max_n_iterations(10)
            .tolerance(1e-300)
            .init_method(KMeansInit::Precomputed(start.clone()))
            .fit(&data);
        let seconds = begin.elapsed().as_secs_f64();
        let rose = memory("VmHWM").saturating_sub(before);
        let score = fit.map_or("null".to_string(), |model| (model.inertia() * n).to_string());
        writeln!(out, "{{\"seconds\": {seconds}, \"bytes\": {rose}, \"score\": {score}}}")?;
        out.flush()?;
    }
    Ok(())
}
