//! Dawid and Skene's latent truth, a pair being together or apart.

use consilience_core::{Observer, Result};
use consilience_num::sparse::Csr;

use crate::Answers;
use crate::spectral::Shifted;

const MAX_ITERATIONS: usize = 200;
const TOLERANCE: f64 = 1e-6;

/// The probability that each answered pair is together, pairs taken as independent; 1 on the diagonal and the
/// mean elsewhere. Workers' rates start from one answer each way: shrunk to rates that are themselves fitted, pairs with
/// a single answer would let the whole crowd drift.
pub(crate) fn posterior(answers: &Answers, observer: &dyn Observer) -> Result<(Shifted, usize)> {
    let mut place = vec![0u32; answers.n_objects()];
    for (at, &i) in answers.answered().iter().enumerate() {
        place[i as usize] = at as u32;
    }
    let worker = |w: usize| answers.workers().partition_point(|&x| x < w);
    let mut said: Vec<(u32, u32, u32, bool)> =
        answers.pairs().map(|p| (place[p.i], place[p.j], worker(p.worker) as u32, p.same)).collect();
    said.sort_unstable();
    let pairs: Vec<&[(u32, u32, u32, bool)]> = said.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)).collect();
    let share =
        |pair: &&[(u32, u32, u32, bool)]| pair.iter().filter(|a| a.3).count() as f64 / pair.len() as f64;
    let mut together: Vec<f64> = pairs.iter().map(share).collect();
    let workers = answers.n_workers();
    let mut iterations = 0;
    while iterations < MAX_ITERATIONS {
        observer.check()?;
        // "same" and all answers of each worker, on pairs together and apart.
        let mut counts = vec![[0.0; 4]; workers];
        for (pair, &t) in pairs.iter().zip(&together) {
            for &(_, _, w, same) in *pair {
                let said = f64::from(u8::from(same));
                for (at, x) in [t * said, t, (1.0 - t) * said, 1.0 - t].into_iter().enumerate() {
                    counts[w as usize][at] += x;
                }
            }
        }
        let prior = (together.iter().sum::<f64>() + 1.0) / (together.len() as f64 + 2.0);
        let weights: Vec<[f64; 2]> = counts
            .iter()
            .map(|c| {
                let p = (c[0] + 1.0) / (c[1] + 2.0);
                let r = (c[2] + 1.0) / (c[3] + 2.0);
                [((1.0 - p) / (1.0 - r)).ln(), (p / r).ln()]
            })
            .collect();
        let mut change: f64 = 0.0;
        for (pair, t) in pairs.iter().zip(&mut together) {
            let mut odds = (prior / (1.0 - prior)).ln();
            for &(_, _, w, same) in *pair {
                odds += weights[w as usize][usize::from(same)];
            }
            let new = 1.0 / (1.0 + (-odds).exp());
            change = change.max((new - *t).abs());
            *t = new;
        }
        iterations += 1;
        if change < TOLERANCE {
            break;
        }
    }
    let n = answers.answered().len();
    let mean = if together.is_empty() { 0.0 } else { together.iter().sum::<f64>() / together.len() as f64 };
    let mut rows: Vec<Vec<(u32, f64)>> = (0..n as u32).map(|i| vec![(i, 1.0 - mean)]).collect();
    for (pair, t) in pairs.iter().zip(&together) {
        let (i, j) = (pair[0].0, pair[0].1);
        rows[i as usize].push((j, t - mean));
        rows[j as usize].push((i, t - mean));
    }
    for row in &mut rows {
        row.sort_unstable_by_key(|e| e.0);
    }
    Ok((Shifted { sparse: Csr::from_rows(n, rows), constant: mean }, iterations))
}
