use std::sync::Arc;

use consilience_core::{Features, Result, ensure, with_rows};
use consilience_num::Float;
use consilience_num::place::{far_off, far_off_sparse};
use ndarray::{Array2, ArrayView2, Axis};

/// How features are brought to a common scale; a constant feature becomes 0.
///
/// Chosen by [`Generator::scale`](crate::Generator::scale).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Scale {
    /// As they are.
    #[default]
    None,
    /// To `[0, 1]` by smallest and largest value.
    MinMax,
    /// To mean 0 and variance 1.
    #[doc(alias = "standardize")]
    ZScore,
}

consilience_core::names! {
    name "scale" Scale: "none" => None, "minmax" => MinMax, "zscore" => ZScore
}

/// `(x unit - centre) factor` of one feature; the unit is a power of two that keeps squares in
/// range.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Affine {
    unit: f64,
    centre: f64,
    factor: f64,
}

impl Affine {
    #[inline(always)]
    pub(super) fn apply(self, x: f64) -> f64 {
        (x * self.unit - self.centre) * self.factor
    }

    #[cfg(feature = "serde")]
    pub(super) fn is_finite(&self) -> bool {
        self.unit.is_finite() && self.centre.is_finite() && self.factor.is_finite()
    }
}

/// Maps that take off what is far out, for a projection: every dimension would have it, and in
/// single precision nothing else. `None` where nothing is.
pub(super) fn nearer(features: Features<'_>) -> Option<Arc<[Affine]>> {
    let map = |centre| Affine { unit: 1.0, centre, factor: 1.0 };
    let off = match features {
        Features::Sparse32(x) => far_off_sparse(x),
        Features::Sparse64(x) => far_off_sparse(x),
        _ => {
            let off = with_rows!(features.dense().ok()?, |x| far_off(x))?;
            return Some(off.into_iter().map(map).collect());
        }
    };
    let mut maps = vec![map(0.0); features.n_features()];
    off?.into_iter().for_each(|(j, centre)| maps[j] = map(centre));
    Some(maps.into())
}

impl Scale {
    /// The features on that scale, n x d, as the members of a [`Generator`](crate::Generator) see
    /// them.
    ///
    /// ```
    /// use consilience::generate::Scale;
    /// use consilience::ndarray::array;
    ///
    /// let x = array![[0.0f32, 5.0], [4.0, 5.0], [1.0, 5.0]];
    /// let scaled = Scale::MinMax.scaled(x.view())?;
    /// assert_eq!(scaled, array![[0.0, 0.0], [1.0, 0.0], [0.25, 0.0]]);
    /// # Ok::<(), consilience::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::Empty`](consilience_core::ErrorKind::Empty) or
    /// [`ErrorKind::NonFinite`](consilience_core::ErrorKind::NonFinite) for bad features.
    ///
    /// # Complexity
    /// O(n d) time and memory.
    pub fn scaled<'a>(self, features: impl Into<Features<'a>>) -> Result<Array2<f64>> {
        let features = features.into();
        self.scaled_as(features, features)
    }

    /// The features of new objects on the scale that those at the fit have.
    ///
    /// ```
    /// use consilience::generate::Scale;
    /// use consilience::ndarray::array;
    ///
    /// let (at_fit, new) = (array![[0.0], [4.0]], array![[2.0], [8.0]]);
    /// assert_eq!(Scale::MinMax.scaled_as(&new, &at_fit)?, array![[0.5], [2.0]]);
    /// # Ok::<(), consilience::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Scale::scaled`], for either;
    /// [`ErrorKind::ShapeMismatch`](consilience_core::ErrorKind::ShapeMismatch) for another number
    /// of features.
    ///
    /// # Complexity
    /// As [`Scale::scaled`].
    pub fn scaled_as<'a, 'b>(
        self,
        new: impl Into<Features<'a>>,
        at_fit: impl Into<Features<'b>>,
    ) -> Result<Array2<f64>> {
        let (new, at_fit) = (new.into(), at_fit.into());
        new.check()?;
        at_fit.check()?;
        let (d, expected) = (new.n_features(), at_fit.n_features());
        ensure!(d == expected, shape("{d} features, {expected} at the fit"));
        let maps = with_rows!(at_fit.dense()?, |x| self.maps(x));
        Ok(with_rows!(new.dense()?, |x| table(x, maps.as_deref())))
    }

    /// Some rows of the features, on the scale of all.
    pub(crate) fn rows<F: Float>(self, x: ArrayView2<'_, F>, rows: &[usize]) -> Array2<f64> {
        table(x.select(Axis(0), rows).view(), self.maps(x).as_deref())
    }

    /// As [`maps`](Scale::maps); none for sparse features, which have no scale.
    pub(super) fn maps_of(self, features: Features<'_>) -> Option<Arc<[Affine]>> {
        let table = features.dense().ok()?;
        with_rows!(table, |x| self.maps(x)).map(Arc::from)
    }

    /// One map per feature, from all objects.
    fn maps<F: Float>(self, x: ArrayView2<'_, F>) -> Option<Vec<Affine>> {
        let spread: fn(f64, f64, f64) -> f64 = match self {
            Scale::None => return None,
            Scale::MinMax => |low, high, _| high - low,
            Scale::ZScore => |_, _, deviation| deviation,
        };
        let d = x.ncols();
        let (mut low, mut high) = (vec![f64::INFINITY; d], vec![f64::NEG_INFINITY; d]);
        for row in x.rows() {
            for (j, v) in row.iter().enumerate() {
                let v = v.to_f64();
                low[j] = low[j].min(v);
                high[j] = high[j].max(v);
            }
        }
        let unit: Vec<f64> = low
            .iter()
            .zip(&high)
            .map(|(l, h)| match l.abs().max(h.abs()) {
                0.0 => 1.0,
                largest => 2f64.powi((-largest.log2().ceil()).clamp(-1022.0, 1022.0) as i32),
            })
            .collect();
        let (mut mean, mut square) = (vec![0.0; d], vec![0.0; d]);
        if self == Scale::ZScore {
            let known = known(x);
            let values = || x.indexed_iter().map(|((_, j), v)| (j, v.to_f64()));
            // What is missing counts for nothing.
            for (j, v) in values().filter(|(_, v)| !v.is_nan()) {
                mean[j] += v * unit[j] / known[j] as f64;
            }
            for (j, v) in values().filter(|(_, v)| !v.is_nan()) {
                square[j] += (v * unit[j] - mean[j]).powi(2) / known[j] as f64;
            }
        }
        let map = |j: usize| {
            let (unit, low, high) = (unit[j], low[j] * unit[j], high[j] * unit[j]);
            let centre = if self == Scale::ZScore { mean[j] } else { low };
            let spread = spread(low, high, square[j].sqrt());
            let varies = high > low && spread > 0.0;
            Affine { unit, centre, factor: if varies { 1.0 / spread } else { 0.0 } }
        };
        Some((0..d).map(map).collect())
    }
}

fn table<F: Float>(x: ArrayView2<'_, F>, maps: Option<&[Affine]>) -> Array2<f64> {
    match maps {
        None => x.mapv(|v| v.to_f64()),
        Some(maps) => Array2::from_shape_fn(x.dim(), |(i, j)| maps[j].apply(x[[i, j]].to_f64())),
    }
}

/// How many objects have each feature.
fn known<F: Float>(x: ArrayView2<'_, F>) -> Vec<usize> {
    let mut known = vec![0; x.ncols()];
    for ((_, j), v) in x.indexed_iter() {
        known[j] += usize::from(!v.to_f64().is_nan());
    }
    known
}
