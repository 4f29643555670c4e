use std::sync::Arc;

use consilience_core::{Ensemble, Result, ensure};
use ndarray::{Array2, ArrayView2, Axis, concatenate, s};

use crate::consensus_embedding::ConsensusEmbedding;
use crate::products::Products;

/// The coordinates of the objects: their positions in the embedding, and behind these their
/// features where there are any.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Coordinates {
    pub(crate) embedding: Arc<ConsensusEmbedding>,
    features: Option<Features>,
}

/// Features in rows, multiplied so that their total variance is that of the positions.
#[derive(Clone, Debug, PartialEq)]
struct Features {
    rows: Arc<Array2<f32>>,
    scale: f64,
}

impl Coordinates {
    pub(crate) fn new(embedding: Arc<ConsensusEmbedding>) -> Self {
        Coordinates { embedding, features: None }
    }

    /// With features, one row per object; none where they have no columns.
    pub(crate) fn with_features(
        embedding: ConsensusEmbedding,
        ensemble: &Ensemble,
        features: &Arc<Array2<f32>>,
    ) -> Self {
        let mut coordinates = Coordinates::new(Arc::new(embedding));
        let (nodes, sizes) =
            (coordinates.embedding.nodes().to_vec(), coordinates.embedding.sizes());
        if features.ncols() > 0 && !nodes.is_empty() {
            let spread = variance(&coordinates.embedding.rows(ensemble, &nodes), sizes);
            let own = variance(&scaled(features, &nodes, 1.0), sizes);
            let scale = if own > 0.0 { (spread / own).sqrt() } else { 0.0 };
            coordinates.features = Some(Features { rows: Arc::clone(features), scale });
        }
        coordinates
    }

    /// Refuses another ensemble than the one that was embedded, and where there are features,
    /// which objects that joined since then lack, one of another number of objects.
    pub(crate) fn check(&self, ensemble: &Ensemble) -> Result<()> {
        self.embedding.check(ensemble)?;
        let n = ensemble.n_objects();
        let rows = self.features.as_ref().map_or(n, |f| f.rows.nrows());
        ensure!(
            rows == n,
            shape("an ensemble of {n} objects; features of {rows} lie beside the positions")
        );
        Ok(())
    }

    /// Dimensions of positions and features together.
    pub(crate) fn n_dimensions(&self) -> usize {
        self.embedding.n_dimensions() + self.features.as_ref().map_or(0, |f| f.rows.ncols())
    }

    /// The coordinates of some objects, in rows.
    pub(crate) fn rows(&self, ensemble: &Ensemble, objects: &[u32]) -> Array2<f64> {
        let positions = self.embedding.rows(ensemble, objects);
        let Some(features) = &self.features else { return positions };
        let own = scaled(&features.rows, objects, features.scale);
        concatenate(Axis(1), &[positions.view(), own.view()]).unwrap_or(positions)
    }

    /// The coordinates of an object, `None` where no member labels it.
    fn row(&self, ensemble: &Ensemble, object: usize) -> Option<Vec<f64>> {
        let mut row = self.embedding.position(ensemble, object).ok()??.to_vec();
        if let Some(features) = &self.features {
            row.extend(features.rows.row(object).iter().map(|&x| features.scale * f64::from(x)));
        }
        Some(row)
    }

    /// The difference of two objects, `None` where no member labels one of them.
    pub(crate) fn difference(&self, ensemble: &Ensemble, i: usize, j: usize) -> Option<Vec<f64>> {
        let (x, y) = (self.row(ensemble, i)?, self.row(ensemble, j)?);
        Some(x.iter().zip(&y).map(|(x, y)| x - y).collect())
    }

    /// Squared distance of the directions of two objects.
    pub(crate) fn direction_distance(
        &self,
        ensemble: &Ensemble,
        i: usize,
        j: usize,
    ) -> Option<f64> {
        let (x, y) = (self.row(ensemble, i)?, self.row(ensemble, j)?);
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let lengths = (dot(&x, &x) * dot(&y, &y)).sqrt();
        Some(if lengths > 0.0 { 2.0 - 2.0 * dot(&x, &y) / lengths } else { 2.0 })
    }

    /// Products with the centres under a map.
    pub(crate) fn products(&self, map: ArrayView2<'_, f64>, centres: &Array2<f64>) -> Products {
        if centres.nrows() == 0 {
            return Products::none();
        }
        let q = self.embedding.n_dimensions();
        let standard = |x: Array2<f64>| x.as_standard_layout().into_owned();
        let table = standard(self.embedding.mapped(map.slice(s![..q, ..])).dot(&centres.t()));
        let features = self.features.as_ref().map(|features| {
            let by = standard(map.slice(s![q.., ..]).dot(&centres.t()) * features.scale);
            (Arc::clone(&features.rows), by)
        });
        Products::new(table, features)
    }
}

/// Some rows times a number.
fn scaled(rows: &Array2<f32>, objects: &[u32], by: f64) -> Array2<f64> {
    Array2::from_shape_fn((objects.len(), rows.ncols()), |(i, f)| {
        by * f64::from(rows[[objects[i] as usize, f]])
    })
}

/// Weighted total variance of the rows.
pub(crate) fn variance(rows: &Array2<f64>, sizes: &[f64]) -> f64 {
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
