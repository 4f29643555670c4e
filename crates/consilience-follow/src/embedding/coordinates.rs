use std::sync::Arc;

use consilience_core::Ensemble;
use ndarray::{Array2, ArrayView2, Axis, concatenate, s};

use super::place::ConsensusEmbedding;

/// Where objects lie: their places in the embedding, and features of their own beside them if they
/// have any.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Ground {
    pub embedding: Arc<ConsensusEmbedding>,
    beside: Option<Beside>,
}

/// Features in rows, multiplied so that they vary as much in total as the places do.
#[derive(Clone, Debug, PartialEq)]
struct Beside {
    rows: Arc<Array2<f32>>,
    scale: f64,
}

impl Ground {
    pub(super) fn new(embedding: Arc<ConsensusEmbedding>) -> Self {
        Ground { embedding, beside: None }
    }

    /// With features, one row per object; none where they have no columns.
    pub(super) fn beside(
        embedding: ConsensusEmbedding,
        ensemble: &Ensemble,
        features: &Arc<Array2<f32>>,
    ) -> Self {
        let mut ground = Ground::new(Arc::new(embedding));
        let (nodes, sizes) = (ground.embedding.nodes().to_vec(), ground.embedding.sizes());
        if features.ncols() > 0 && !nodes.is_empty() {
            let spread = variance(&ground.embedding.rows(ensemble, &nodes), sizes);
            let own = variance(&some(features, &nodes, 1.0), sizes);
            let scale = if own > 0.0 { (spread / own).sqrt() } else { 0.0 };
            ground.beside = Some(Beside { rows: Arc::clone(features), scale });
        }
        ground
    }

    /// Dimensions of places and features together.
    pub(super) fn n_dimensions(&self) -> usize {
        self.embedding.n_dimensions() + self.beside.as_ref().map_or(0, |b| b.rows.ncols())
    }

    /// Where some objects lie, in rows.
    pub(super) fn rows(&self, ensemble: &Ensemble, objects: &[u32]) -> Array2<f64> {
        let places = self.embedding.rows(ensemble, objects);
        let Some(beside) = &self.beside else { return places };
        let own = some(&beside.rows, objects, beside.scale);
        concatenate(Axis(1), &[places.view(), own.view()]).unwrap_or(places)
    }

    /// Where an object lies, `None` where no member labels it.
    fn row(&self, ensemble: &Ensemble, object: usize) -> Option<Vec<f64>> {
        let mut row = self.embedding.place(ensemble, object).ok()??.to_vec();
        if let Some(beside) = &self.beside {
            row.extend(beside.rows.row(object).iter().map(|&x| beside.scale * f64::from(x)));
        }
        Some(row)
    }

    /// The difference of two objects, `None` where one lies nowhere.
    pub(super) fn difference(&self, ensemble: &Ensemble, i: usize, j: usize) -> Option<Vec<f64>> {
        let (x, y) = (self.row(ensemble, i)?, self.row(ensemble, j)?);
        Some(x.iter().zip(&y).map(|(x, y)| x - y).collect())
    }

    /// Squared distance of the directions of two objects.
    pub(super) fn turn(&self, ensemble: &Ensemble, i: usize, j: usize) -> Option<f64> {
        let (x, y) = (self.row(ensemble, i)?, self.row(ensemble, j)?);
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let lengths = (dot(&x, &x) * dot(&y, &y)).sqrt();
        Some(if lengths > 0.0 { 2.0 - 2.0 * dot(&x, &y) / lengths } else { 2.0 })
    }

    /// Products with the centres under a map.
    pub(super) fn products(&self, map: ArrayView2<'_, f64>, centres: &Array2<f64>) -> Products {
        if centres.nrows() == 0 {
            return Products { table: Array2::zeros((0, 0)), beside: None };
        }
        let q = self.embedding.n_dimensions();
        let standard = |x: Array2<f64>| x.as_standard_layout().into_owned();
        Products {
            table: standard(self.embedding.mapped(map.slice(s![..q, ..])).dot(&centres.t())),
            beside: self.beside.as_ref().map(|beside| {
                let by = standard(map.slice(s![q.., ..]).dot(&centres.t()) * beside.scale);
                (Arc::clone(&beside.rows), by)
            }),
        }
    }
}

/// What the product of an object with every centre is summed from: a row for every placed cluster,
/// of which an object has the mean over its own, and one for every feature.
#[derive(Clone, Debug)]
pub(super) struct Products {
    pub table: Array2<f64>,
    beside: Option<(Arc<Array2<f32>>, Array2<f64>)>,
}

impl Products {
    /// Adds what the features of an object contribute.
    pub(super) fn add_features(&self, object: usize, score: &mut [f64]) {
        let Some((rows, by)) = &self.beside else { return };
        for (&x, by) in rows.row(object).iter().zip(by.axis_iter(Axis(0))) {
            score.iter_mut().zip(by).for_each(|(s, b)| *s += f64::from(x) * b);
        }
    }
}

/// Some rows times a number.
fn some(rows: &Array2<f32>, objects: &[u32], by: f64) -> Array2<f64> {
    Array2::from_shape_fn((objects.len(), rows.ncols()), |(i, f)| {
        by * f64::from(rows[[objects[i] as usize, f]])
    })
}

/// Weighted total variance of the rows.
pub(super) fn variance(rows: &Array2<f64>, sizes: &[f64]) -> f64 {
    let total: f64 = sizes.iter().sum();
    if !(total > 0.0) {
        return 0.0;
    }
    let mut mean = vec![0.0; rows.ncols()];
    for (row, s) in rows.axis_iter(Axis(0)).zip(sizes) {
        mean.iter_mut().zip(row).for_each(|(m, x)| *m += s * x);
    }
    mean.iter_mut().for_each(|m| *m /= total);
    let spread: f64 = rows
        .axis_iter(Axis(0))
        .zip(sizes)
        .map(|(row, s)| s * row.iter().zip(&mean).map(|(x, m)| (x - m) * (x - m)).sum::<f64>())
        .sum();
    spread / total
}
