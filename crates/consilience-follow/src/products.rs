use std::sync::Arc;

use consilience_core::{Ensemble, Observer, Result};
use consilience_num::reduce::each_chunk;
use ndarray::{Array2, Axis};

use crate::consensus_embedding::ConsensusEmbedding;

/// Objects that one task labels.
const CHUNK: usize = 4_096;

/// What the product of an object with every centre is summed from: a row for every cluster that has
/// a position, of which an object has the mean over its own clusters, and one for every feature.
#[derive(Clone, Debug)]
pub(crate) struct Products {
    table: Array2<f64>,
    features: Option<(Arc<Array2<f32>>, Array2<f64>)>,
}

impl Products {
    /// Without any centre.
    pub(crate) fn none() -> Self {
        Products { table: Array2::zeros((0, 0)), features: None }
    }

    pub(crate) fn new(
        table: Array2<f64>,
        features: Option<(Arc<Array2<f32>>, Array2<f64>)>,
    ) -> Self {
        Products { table, features }
    }

    /// The products of some objects with every of k centres, in rows; `None` for objects that no
    /// member labels.
    pub(crate) fn scores(
        &self,
        embedding: &ConsensusEmbedding,
        ensemble: &Ensemble,
        objects: &[usize],
        k: usize,
    ) -> Vec<Option<Vec<f64>>> {
        let mut scores = vec![0.0; objects.len() * k];
        let table = self.table.view();
        let known = embedding.gather(ensemble, table, objects.iter().copied(), &mut scores);
        for (&object, score) in objects.iter().zip(scores.chunks_exact_mut(k.max(1))) {
            self.add_features(object, score);
        }
        let score = |(t, known): (usize, bool)| known.then(|| scores[t * k..][..k].to_vec());
        known.into_iter().enumerate().map(score).collect()
    }

    /// For every object the centre of largest product plus `offset`; ties to the lowest, `None`
    /// where no member labels it.
    pub(crate) fn best_centres(
        &self,
        embedding: &ConsensusEmbedding,
        ensemble: &Ensemble,
        offset: &[f64],
        observer: &dyn Observer,
    ) -> Result<Vec<Option<u32>>> {
        let (n, k) = (ensemble.n_objects(), offset.len());
        let mut labels = vec![None; n];
        each_chunk(&mut labels, CHUNK, &|c, out| {
            if observer.cancelled() {
                return;
            }
            let start = c * CHUNK;
            let mut score = vec![0.0; out.len() * k];
            let mut total = vec![0.0; out.len()];
            let objects = start..start + out.len();
            embedding.add_up(ensemble, self.table.view(), objects, &mut score, &mut total);
            let mut own = vec![0.0; k];
            for (t, (label, score)) in out.iter_mut().zip(score.chunks_exact(k)).enumerate() {
                own.copy_from_slice(offset);
                self.add_features(start + t, &mut own);
                *label = (total[t] > 0.0).then(|| best(score, total[t], &own));
            }
        });
        observer.check()?;
        Ok(labels)
    }

    /// Adds what the features of an object contribute.
    fn add_features(&self, object: usize, score: &mut [f64]) {
        let Some((rows, by)) = &self.features else { return };
        for (&x, by) in rows.row(object).iter().zip(by.axis_iter(Axis(0))) {
            score.iter_mut().zip(by).for_each(|(s, b)| *s += f64::from(x) * b);
        }
    }
}

/// The column of largest `score / total + offset`, ties to the lowest.
pub(crate) fn best(score: &[f64], total: f64, offset: &[f64]) -> u32 {
    let mut best = (0, f64::NEG_INFINITY);
    for (h, (s, o)) in score.iter().zip(offset).enumerate() {
        let value = s / total + o;
        if value > best.1 {
            best = (h as u32, value);
        }
    }
    best.0
}
