//! Times linfa-clustering on the data of `eval/peers/kmeans.py`, which says how.

use std::time::Instant;

use linfa::prelude::*;
use linfa_clustering::{KMeans, KMeansInit};
use ndarray::Array2;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::args().nth(1).ok_or("name the folder that kmeans.py wrote")?;
    let x: Array2<f64> = ndarray_npy::read_npy(format!("{folder}/x.npy"))?;
    let start: Array2<f64> = ndarray_npy::read_npy(format!("{folder}/start.npy"))?;
    let n = x.nrows() as f64;
    let data = DatasetBase::from(x);
    let (mut seconds, mut inertia) = (Vec::new(), f64::NAN);
    for _ in 0..9 {
        let begin = Instant::now();
        // linfa calls a run that stops at the cap an error; the work is the same.
        let fit = KMeans::params(20)
            .n_runs(1)
            .max_n_iterations(10)
            .tolerance(1e-300)
            .init_method(KMeansInit::Precomputed(start.clone()))
            .fit(&data);
        seconds.push(begin.elapsed().as_secs_f64());
        if let Ok(model) = fit {
            inertia = model.inertia() * n;
        }
    }
    seconds.sort_by(f64::total_cmp);
    println!("linfa-clustering 0.8 f64: {:.4} s, inertia {inertia:.6}", seconds[4]);
    Ok(())
}
