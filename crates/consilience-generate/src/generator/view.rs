//! What a member sees of the features.

use std::sync::Arc;

use consilience_core::{
    FeatureMap, Features, Observer, Pace, Result, Seed, SparseRows, Stop, ensure, with_rows,
};
use consilience_num::Float;
use ndarray::{Array2, ArrayView2};
use rayon::prelude::*;

use super::Generator;
use super::scale::Affine;
use super::seen::Seen;

/// Rows of a chunk in the projection: rows are independent, so it has no influence on the bits.
const CHUNK: usize = 1024;

/// What one member of an ensemble sees of an object: some of its features, on a common scale,
/// perhaps projected.
///
/// From [`Generator::views`]. New objects go through the same view before they are compared with
/// what the member found.
///
/// ```
/// use consilience::core::FeatureMap;
/// use consilience::generate::{Generator, KMeans, Scale};
/// use consilience::ndarray::array;
///
/// let x = array![[0.0, 10.0, 5.0], [1.0, 30.0, 5.0], [2.0, 20.0, 7.0]];
/// let generator = Generator::new(KMeans::new()).members(2).scale(Scale::MinMax).feature_fraction(0.5);
/// let views = generator.views(&x)?;
/// // Two of three features, each within [0, 1] on the objects at hand.
/// assert_eq!((views.len(), views[0].columns().len()), (2, 2));
/// let seen = views[0].apply(array![[1.0, 20.0, 6.0]].view().into())?;
/// assert_eq!(seen, array![[0.5, 0.5]]);
/// # Ok::<(), consilience::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(try_from = "super::stored::ViewFields", into = "super::stored::ViewFields")
)]
pub struct View {
    /// Features of the table.
    pub(super) features: usize,
    /// Those that are seen; all where none are named.
    pub(super) columns: Option<Vec<usize>>,
    /// One for each feature of the table: to a common scale, or before a projection to near 0.
    pub(super) maps: Option<Arc<[Affine]>>,
    /// Seen features in rows, dimensions in columns.
    pub(super) projection: Option<Array2<f64>>,
}

impl View {
    /// The view of the member that has this seed, on a table of `d` features.
    pub(super) fn drawn(
        generator: &Generator,
        d: usize,
        maps: Option<Arc<[Affine]>>,
        seed: Seed,
    ) -> Self {
        let seen = share(d, generator.feature_fraction);
        let columns = (seen < d).then(|| seed.derive("features", 0).stream().sample(d, seen));
        let projection = generator.projection.map(|dimensions| {
            // Independent normal numbers of variance 1 / dimensions.
            let mut stream = seed.derive("projection", 0).stream();
            let root = (dimensions as f64).sqrt();
            Array2::from_shape_simple_fn((seen, dimensions), || stream.normal() / root)
        });
        View { features: d, columns, maps, projection }
    }

    /// The features that are seen, in the order in which they are.
    pub fn columns(&self) -> Vec<usize> {
        self.columns.clone().unwrap_or_else(|| (0..self.features).collect())
    }

    /// Whether objects are seen as they are.
    pub fn is_whole(&self) -> bool {
        self.columns.is_none() && self.maps.is_none() && self.projection.is_none()
    }

    fn n_seen(&self) -> usize {
        self.columns.as_ref().map_or(self.features, Vec::len)
    }

    #[inline(always)]
    fn at<F: Float>(&self, x: ArrayView2<'_, F>, i: usize, j: usize) -> f64 {
        let j = self.columns.as_ref().map_or(j, |columns| columns[j]);
        let x = x[[i, j]].to_f64();
        self.maps.as_ref().map_or(x, |maps| maps[j].apply(x))
    }

    /// The rows of a table as they are seen, which is as [`FeatureMap::apply`] has them, without
    /// its checks: as many columns as [`FeatureMap::n_features`] says.
    #[doc(hidden)]
    pub fn rows(&self, x: Array2<f64>) -> Array2<f64> {
        if self.is_whole() { x } else { self.table(x.view(), None, &Stop::new(&())) }
    }

    /// What is seen of some features, or only of the rows that are named.
    pub(super) fn seen<'a>(
        &self,
        features: Features<'a>,
        rows: Option<&[usize]>,
        observer: &dyn Observer,
    ) -> Result<Seen<'a>> {
        if rows.is_none() && self.is_whole() {
            return Ok(Seen::As(features));
        }
        let stop = Stop::new(observer);
        let (columns, projected) = (self.columns.as_deref(), self.projection.is_some());
        let seen = match features {
            Features::F32(x) => Seen::F32(self.table(x, rows, &stop)),
            Features::F64(x) => Seen::F64(self.table(x, rows, &stop)),
            Features::Sparse32(x) if projected => Seen::F32(self.projected(x, rows, &stop)),
            Features::Sparse64(x) if projected => Seen::F64(self.projected(x, rows, &stop)),
            Features::Sparse32(x) => Seen::Sparse32(x.select(rows, columns)),
            Features::Sparse64(x) => Seen::Sparse64(x.select(rows, columns)),
        };
        stop.check()?;
        Ok(seen)
    }

    /// Sparse rows, projected. What is not stored is 0, which may be far from 0 once it is mapped.
    fn projected<F: Float>(
        &self,
        x: SparseRows<'_, F>,
        rows: Option<&[usize]>,
        stop: &Stop<'_>,
    ) -> Array2<F> {
        let Some(table) = &self.projection else {
            return Array2::default((0, 0));
        };
        let place = self.columns.as_ref().map(|columns| {
            let mut place = vec![usize::MAX; self.features];
            columns.iter().enumerate().for_each(|(p, &j)| place[j] = p);
            place
        });
        let mapped = |j: usize, v: f64| self.maps.as_ref().map_or(v, |maps| maps[j].apply(v));
        let add = |j: usize, v: f64, sums: &mut [f64]| {
            let p = place.as_ref().map_or(j, |place| place[j]);
            if p != usize::MAX {
                let (v, weights) = (mapped(j, v), table.row(p));
                sums.iter_mut().zip(weights).for_each(|(s, t)| *s += v * t);
            }
        };
        let features = if self.maps.is_some() { self.features } else { 0 };
        let zeros: Vec<usize> = (0..features).filter(|&j| mapped(j, 0.0) != 0.0).collect();
        let n = rows.map_or(x.n_rows(), <[_]>::len);
        let terms = zeros.len() + x.n_entries() / x.n_rows().max(1);
        summed(n, table.ncols(), terms, stop, |at, sums| {
            let (columns, values) = x.row(rows.map_or(at, |rows| rows[at]));
            for (&j, v) in columns.iter().zip(values) {
                add(j, v.to_f64(), sums);
            }
            for &j in zeros.iter().filter(|j| columns.binary_search(j).is_err()) {
                add(j, 0.0, sums);
            }
        })
    }

    /// The rows as they are seen, or only those that are named.
    pub(super) fn table<F: Float>(
        &self,
        x: ArrayView2<'_, F>,
        rows: Option<&[usize]>,
        stop: &Stop<'_>,
    ) -> Array2<F> {
        let n = rows.map_or(x.nrows(), <[_]>::len);
        let row = |i: usize| rows.map_or(i, |rows| rows[i]);
        let Some(table) = &self.projection else {
            let seen = |(i, j)| F::from_f64(self.at(x, row(i), j));
            return Array2::from_shape_fn((n, self.n_seen()), seen);
        };
        summed(n, table.ncols(), table.nrows(), stop, |at, sums| {
            for (j, weights) in table.rows().into_iter().enumerate() {
                let x = self.at(x, row(at), j);
                sums.iter_mut().zip(weights).for_each(|(sum, t)| *sum += x * t);
            }
        })
    }
}

/// So many rows, each of so many sums of some so many terms, which `add` adds up from 0.
fn summed<F: Float>(
    n: usize,
    dimensions: usize,
    terms: usize,
    stop: &Stop<'_>,
    add: impl Fn(usize, &mut [f64]) + Sync,
) -> Array2<F> {
    let mut out = vec![F::default(); n * dimensions];
    out.par_chunks_mut(CHUNK * dimensions).enumerate().for_each(|(c, out)| {
        let (mut sums, mut pace) = (vec![0.0; dimensions], Pace::new(stop));
        let rows = out.chunks_mut(dimensions).enumerate();
        for (r, out) in rows.take_while(|_| pace.work(terms * dimensions).is_ok()) {
            sums.fill(0.0);
            add(c * CHUNK + r, &mut sums);
            out.iter_mut().zip(&sums).for_each(|(o, &sum)| *o = F::from_f64(sum));
        }
    });
    // The length is right by construction; the default is never used.
    Array2::from_shape_vec((n, dimensions), out).unwrap_or_default()
}

impl FeatureMap for View {
    fn n_features(&self) -> usize {
        self.features
    }

    fn n_outputs(&self) -> usize {
        self.projection.as_ref().map_or(self.n_seen(), Array2::ncols)
    }

    fn apply(&self, features: Features<'_>) -> Result<Array2<f64>> {
        features.check()?;
        ensure!(
            features.n_features() == self.features,
            shape("{} features, {} at the fit", features.n_features(), self.features)
        );
        let (projected, stop) = (self.projection.is_some(), &Stop::new(&()));
        Ok(match features {
            Features::Sparse32(x) if projected => self.projected(x, None, stop).mapv(f64::from),
            Features::Sparse64(x) if projected => self.projected(x, None, stop),
            _ => with_rows!(features.dense()?, |x| {
                self.table(x.mapv(|v| v.to_f64()).view(), None, stop)
            }),
        })
    }
}

/// How many of `all` a fraction is: at least 1.
pub(super) fn share(all: usize, fraction: f64) -> usize {
    ((all as f64 * fraction).ceil() as usize).clamp(1, all)
}
