use consilience_core::{Error, ErrorKind, Features, Observer, Result, Stop, ensure, with_rows};
use consilience_num::Float;
use ndarray::{Array2, ArrayView2};
use rayon::prelude::*;

/// How many neighbours give their mean to a missing value.
const NEIGHBOURS: usize = 5;

/// What to do about features that are missing, which are NaN in the table.
///
/// Filling in invents data: every member of an ensemble then believes the same guess. Under
/// [`Missing::Member`] nothing is invented: an object takes no part in members that see a missing
/// feature of it, which is what incomplete ensembles are for. It needs members that see a part of
/// the features each, or few objects with holes; objects that no member labels come out unlabelled.
///
/// ```
/// use consilience::Seed;
/// use consilience::generate::{Generator, KMeans, Missing};
/// use consilience::ndarray::array;
///
/// let hole = f64::NAN;
/// let x = array![[0.0, 0.1], [0.2, hole], [0.1, 0.0], [9.0, 9.1], [hole, 9.2], [9.1, 9.0]];
/// assert_eq!(Missing::Median.filled(x.view())?[[1, 1]], 9.0);
/// assert!((Missing::Mean.filled(x.view())?[[4, 0]] - 3.68).abs() < 1e-12);
/// let ensemble = Generator::new(KMeans::new())
///     .members(10)
///     .clusters(2..=2)
///     .feature_fraction(0.5)
///     .missing(Missing::Member)
///     .seed(Seed(1))
///     .generate(x.view())?;
/// // Objects 1 and 4 are in the members that see what they have.
/// assert!(ensemble.members().iter().all(|m| m.n_labelled() == 5));
/// # Ok::<(), consilience::Error>(())
/// ```
#[doc(alias = "imputation")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Missing {
    /// Missing values are an error.
    #[default]
    Refuse,
    /// The mean of the feature.
    Mean,
    /// The median of the feature.
    Median,
    /// The mean over the five nearest objects that have the feature, by the mean squared difference
    /// of the features that both have, each divided by its variance. A feature that is the same for
    /// all objects that have it makes none of them nearer.
    Nearest,
    /// No value: each member leaves out the objects that lack a feature that it sees.
    Member,
}

// The last is for ensembles alone: where one table is clustered it is left out.
consilience_core::names! {
    name "way with missing values" Missing:
    "error" => Refuse,
    "mean" => Mean,
    "median" => Median,
    "nearest" => Nearest,
    "member" => Member,
}

impl Missing {
    /// The table with its holes filled, in double precision.
    ///
    /// # Errors
    /// [`ErrorKind::Empty`] without objects or features, [`ErrorKind::NonFinite`] for an infinity,
    /// for a feature that no object has, and for any hole under [`Missing::Refuse`],
    /// [`ErrorKind::InvalidParameter`] for [`Missing::Member`], which fills nothing.
    ///
    /// # Complexity
    /// O(n d log n) time; [`Missing::Nearest`] O(n m d) for m objects with holes.
    pub fn filled<'a>(self, features: impl Into<Features<'a>>) -> Result<Array2<f64>> {
        self.filled_observed(features, &())
    }

    /// [`filled`](Missing::filled) with cancellation, which [`Missing::Nearest`] asks for at every
    /// object with holes.
    ///
    /// # Errors
    /// As [`filled`](Missing::filled); [`ErrorKind::Cancelled`].
    pub fn filled_observed<'a>(
        self,
        features: impl Into<Features<'a>>,
        observer: &dyn Observer,
    ) -> Result<Array2<f64>> {
        let features = features.into();
        self.check(&features)?;
        let table = features.dense()?;
        ensure!(
            self != Missing::Member,
            invalid("no values are filled in by member; expected mean, median or nearest")
        );
        let mut x = with_rows!(table, |x| x.mapv(|v| v.to_f64()));
        match self {
            Missing::Mean => by_column(&mut x, mean),
            Missing::Median => by_column(&mut x, median),
            Missing::Nearest => nearest(&mut x, observer)?,
            Missing::Refuse | Missing::Member => {}
        }
        Ok(x)
    }

    /// Refuses infinities, features that nobody has, and holes where there may be none.
    pub(crate) fn check(self, features: &Features<'_>) -> Result<()> {
        if self == Missing::Refuse {
            return features.check();
        }
        let (n, d) = (features.n_objects(), features.n_features());
        ensure!(n > 0 && d > 0, empty("{n} objects of {d} features; expected one at least"));
        with_rows!(features.dense()?, |x| check(x))
    }
}

fn check<F: Float>(x: ArrayView2<'_, F>) -> Result<()> {
    let mut known = vec![false; x.ncols()];
    for ((row, column), value) in x.indexed_iter() {
        let value = value.to_f64();
        known[column] |= value.is_finite();
        if value.is_infinite() {
            let message = format!("row {row}, column {column} is infinite; expected a number");
            return Err(Error::new(ErrorKind::NonFinite, message));
        }
    }
    match known.iter().position(|known| !known) {
        Some(column) => {
            let message = format!("column {column} is missing for every object; leave it out");
            Err(Error::new(ErrorKind::NonFinite, message))
        }
        None => Ok(()),
    }
}

/// One value for all holes of a column.
fn by_column(x: &mut Array2<f64>, value: fn(&mut [f64]) -> f64) {
    for mut column in x.columns_mut() {
        let mut known: Vec<f64> = column.iter().copied().filter(|v| !v.is_nan()).collect();
        let value = value(&mut known);
        column.iter_mut().filter(|v| v.is_nan()).for_each(|v| *v = value);
    }
}

fn mean(values: &mut [f64]) -> f64 {
    let n = values.len() as f64;
    // Shares first: a sum of large numbers may overflow where their mean does not.
    let mean: f64 = values.iter().map(|v| v / n).sum();
    // Rounding may take it beyond all values, and a constant feature would vary then.
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    let largest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    mean.max(least).min(largest)
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    let n = values.len();
    if n % 2 == 1 { values[n / 2] } else { values[n / 2 - 1] / 2.0 + values[n / 2] / 2.0 }
}

/// Means of the nearest objects that have the feature.
fn nearest(x: &mut Array2<f64>, observer: &dyn Observer) -> Result<()> {
    let stop = Stop::new(observer);
    let scaled = scaled(x);
    let (n, d) = x.dim();
    let table = &*x;
    let holes: Vec<usize> = (0..n).filter(|&i| table.row(i).iter().any(|v| v.is_nan())).collect();
    let filled: Vec<(usize, Vec<(usize, f64)>)> = holes
        .into_par_iter()
        .map(|i| {
            if stop.asked() {
                return (i, Vec::new());
            }
            let mut near: Vec<(f64, usize)> = (0..n)
                .filter(|&j| j != i)
                .filter_map(|j| Some((distance(&scaled, i, j)?, j)))
                .collect();
            near.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            let missing = (0..d).filter(|&c| table[[i, c]].is_nan());
            let value = |c: usize| {
                let have = near.iter().map(|&(_, j)| table[[j, c]]).filter(|v| !v.is_nan());
                let mut values: Vec<f64> = have.take(NEIGHBOURS).collect();
                (!values.is_empty()).then(|| mean(&mut values))
            };
            (i, missing.filter_map(|c| Some((c, value(c)?))).collect())
        })
        .collect();
    stop.check()?;
    for (i, values) in filled {
        values.into_iter().for_each(|(c, value)| x[[i, c]] = value);
    }
    // Objects without any feature in common with one that has it.
    by_column(x, mean);
    Ok(())
}

/// Every feature at mean 0 and variance 1, over the objects that have it. Nobody has a constant
/// one: it would count as shared by objects that have nothing else in common.
fn scaled(x: &Array2<f64>) -> Array2<f64> {
    let mut scaled = x.clone();
    for mut column in scaled.columns_mut() {
        let largest = column.iter().filter(|v| !v.is_nan()).fold(0.0f64, |m, v| m.max(v.abs()));
        if largest > 0.0 {
            column.mapv_inplace(|v| v / largest);
        }
        let mut known: Vec<f64> = column.iter().copied().filter(|v| !v.is_nan()).collect();
        let centre = mean(&mut known);
        let variance =
            known.iter().map(|v| (v - centre).powi(2)).sum::<f64>() / known.len().max(1) as f64;
        let factor = if variance > 0.0 { 1.0 / variance.sqrt() } else { f64::NAN };
        column.mapv_inplace(|v| (v - centre) * factor);
    }
    scaled
}

/// The mean squared difference of the features that both objects have.
fn distance(x: &Array2<f64>, i: usize, j: usize) -> Option<f64> {
    let (mut sum, mut count) = (0.0, 0usize);
    for (a, b) in x.row(i).iter().zip(x.row(j)) {
        let difference = a - b;
        if !difference.is_nan() {
            sum += difference * difference;
            count += 1;
        }
    }
    (count > 0).then(|| sum / count as f64)
}

#[cfg(test)]
mod tests {
    use consilience_conformance::CancelFrom;
    use ndarray::array;

    use super::*;
    use crate::{Generator, KMeans};

    const HOLE: f64 = f64::NAN;

    #[test]
    fn holes_are_filled_as_said() {
        let x = array![[1.0, 10.0], [3.0, HOLE], [HOLE, 30.0], [8.0, 20.0]];
        assert_eq!(Missing::Mean.filled(&x).unwrap().column(0).to_vec(), [1.0, 3.0, 4.0, 8.0]);
        assert_eq!(
            Missing::Median.filled(&x).unwrap().column(1).to_vec(),
            [10.0, 20.0, 30.0, 20.0]
        );
        let mut table = Array2::from_shape_fn((12, 3), |(i, _)| (i / 6 * 100 + i % 6) as f64);
        table[[0, 1]] = HOLE;
        let filled = Missing::Nearest.filled(&table).unwrap();
        assert_eq!(filled[[0, 1]], 3.0);
        // The rest is as it was.
        table[[0, 1]] = 3.0;
        assert_eq!(filled, table);
    }

    #[test]
    fn constant_features_stay_constant() {
        for count in 1..40 {
            let mut x = Array2::from_elem((count + 1, 2), 0.1);
            x.column_mut(1).iter_mut().enumerate().for_each(|(i, v)| *v = i as f64);
            x[[count, 0]] = HOLE;
            for missing in [Missing::Mean, Missing::Median, Missing::Nearest] {
                let filled = missing.filled(&x).unwrap();
                assert!(filled.column(0).iter().all(|&v| v == 0.1), "{missing:?} {count}");
            }
            assert!(scaled(&x).column(0).iter().all(|v| v.is_nan()), "{count}");
        }
    }

    #[test]
    fn a_constant_feature_makes_no_object_nearer() {
        let said = |i: usize, j: usize| (i * (j + 2) % 11) as f64;
        let mut x = Array2::from_shape_fn((20, 4), |(i, j)| said(i, j));
        // The first half has nothing in common with the second, but for objects 8 and 9.
        for i in 0..20 {
            let lost = if i < 10 { 2..4 } else { 0..2 };
            lost.filter(|_| i != 8 && i != 9).for_each(|j| x[[i, j]] = HOLE);
        }
        let plain = Missing::Nearest.filled(&x).unwrap();
        for (holes, value) in [(0, 1.0), (0, 0.0), (7, -3.5)] {
            let mut wide = Array2::from_elem((20, 5), value);
            wide.slice_mut(ndarray::s![.., 1..]).assign(&x);
            (0..holes).for_each(|i| wide[[i, 0]] = HOLE);
            let filled = Missing::Nearest.filled(&wide).unwrap();
            assert_eq!(filled.slice(ndarray::s![.., 1..]), plain, "{holes} {value}");
            assert!(filled.column(0).iter().all(|&v| v == value));
        }
        // What varies still tells.
        assert_ne!(plain, Missing::Mean.filled(&x).unwrap());
    }

    #[test]
    fn whoever_watches_can_stop_the_nearest() {
        let mut x = Array2::from_shape_fn((40, 2), |(i, j)| (i * j) as f64);
        (0..40).for_each(|i| x[[i, i % 2]] = HOLE);
        for after in [0, 1, 17] {
            let stops = CancelFrom::new(after);
            let error = Missing::Nearest.filled_observed(&x, &stops).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Cancelled);
            assert!(stops.asked() < after + 10);
            let generator = Generator::new(KMeans::new()).missing(Missing::Nearest);
            let error = generator.fit(&x, &CancelFrom::new(after)).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Cancelled);
        }
    }

    #[test]
    fn what_cannot_be_filled_is_refused() {
        let kind = |missing: Missing, x: &Array2<f64>| missing.filled(x).unwrap_err().kind();
        let x = array![[1.0, HOLE], [2.0, HOLE]];
        assert_eq!(kind(Missing::Mean, &x), ErrorKind::NonFinite);
        assert_eq!(kind(Missing::Refuse, &x), ErrorKind::NonFinite);
        assert_eq!(kind(Missing::Nearest, &array![[1.0, f64::INFINITY]]), ErrorKind::NonFinite);
        assert_eq!(kind(Missing::Member, &array![[1.0]]), ErrorKind::InvalidParameter);
        assert_eq!(kind(Missing::Mean, &Array2::zeros((0, 3))), ErrorKind::Empty);
    }
}
