//! Times k-means on the data of `eval/peers/kmeans.py`, which says how.

use std::time::Instant;

use consilience::ndarray::{Array2, ArrayView2};
use consilience::num::Float;
use consilience::num::kmeans::{KMeansOptions, from_centres};

fn time<F: Float>(
    name: &str,
    x: ArrayView2<'_, F>,
    start: ArrayView2<'_, F>,
) -> consilience::Result<()> {
    let options = KMeansOptions::new(start.nrows()).max_iterations(10);
    let mut seconds = Vec::new();
    let mut last = (0, 0.0);
    for _ in 0..9 {
        let begin = Instant::now();
        let fit = from_centres(x, None, start, &options, &())?;
        seconds.push(begin.elapsed().as_secs_f64());
        last = (fit.iterations, fit.inertia);
    }
    seconds.sort_by(f64::total_cmp);
    println!(
        "consilience {name}: {:.4} s, {} iterations, inertia {:.6}",
        seconds[4], last.0, last.1
    );
    Ok(())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let Some(folder) = std::env::args().nth(1) else {
        println!("name the folder that eval/peers/kmeans.py wrote");
        return Ok(());
    };
    let x: Array2<f64> = ndarray_npy::read_npy(format!("{folder}/x.npy"))?;
    let start: Array2<f64> = ndarray_npy::read_npy(format!("{folder}/start.npy"))?;
    time("f64", x.view(), start.view())?;
    time("f32", x.mapv(|v| v as f32).view(), start.mapv(|v| v as f32).view())?;
    Ok(())
}
