//! Which rows are equal; sparse rows: how far they are from landmarks, and what is made from that.

use std::collections::HashMap;
use std::ops::Range;

use consilience_core::{Observer, Result, Seed, SparseRows, Stop, room};
use consilience_num::Float;
use consilience_num::kmeans::sparse::{Centres, ScaledRows, fit};
use ndarray::{Array2, ArrayView2};

use crate::similarity::{keep_nearest, landmark_sample, nystroem_of};

/// Rows that are compared with all landmarks at once.
const ROWS: usize = 128;

/// Rows that are equal.
pub(crate) struct Kinds {
    /// Kind of each row.
    pub kind: Vec<u32>,
    /// The first row of each kind.
    pub first: Vec<usize>,
    /// How many rows are of each kind.
    pub weights: Vec<f64>,
}

impl Kinds {
    pub(crate) fn new<F: Float>(x: SparseRows<'_, F>) -> Result<Self> {
        // There are never more kinds than rows.
        Ok(Self::at_most(x, x.n_rows())?.unwrap_or_else(Self::none))
    }

    fn none() -> Self {
        Kinds { kind: Vec::new(), first: Vec::new(), weights: Vec::new() }
    }

    /// `None` as soon as there are more kinds.
    pub(crate) fn at_most<F: Float>(x: SparseRows<'_, F>, most: usize) -> Result<Option<Self>> {
        Self::by_keys(x.n_rows(), most, |i, key| {
            let (columns, values) = x.row(i);
            // A zero that is stored is the same as one that is not.
            for (&j, v) in columns.iter().zip(values).filter(|(_, v)| v.to_f64() != 0.0) {
                key.extend([j as u64, v.to_f64().to_bits()]);
            }
        })
    }

    /// As [`at_most`](Kinds::at_most), of the rows of a table.
    pub(crate) fn of_table<F: Float>(x: ArrayView2<'_, F>, most: usize) -> Result<Option<Self>> {
        // Adding 0 makes the two zeros one.
        let bits = |v: &F| (v.to_f64() + 0.0).to_bits();
        Self::by_keys(x.nrows(), most, |i, key| key.extend(x.row(i).iter().map(bits)))
    }

    /// Rows whose keys are equal, as `write` puts them into an empty one, are equal.
    fn by_keys(
        n: usize,
        most: usize,
        write: impl Fn(usize, &mut Vec<u64>),
    ) -> Result<Option<Self>> {
        let mut seen: HashMap<Vec<u64>, u32> = HashMap::new();
        let mut found = Self::none();
        let mut key = Vec::new();
        for i in 0..n {
            key.clear();
            write(i, &mut key);
            let kind = match seen.get(&key) {
                Some(&kind) => kind,
                None if seen.len() == most => return Ok(None),
                None => {
                    let kind = seen.len() as u32;
                    seen.try_reserve(1).map_err(|_| room::no_room::<Vec<u64>>(seen.len() + 1))?;
                    seen.insert(key.clone(), kind);
                    room::push(&mut found.first, i)?;
                    room::push(&mut found.weights, 0.0)?;
                    kind
                }
            };
            room::push(&mut found.kind, kind)?;
            found.weights[kind as usize] += 1.0;
        }
        Ok(Some(found))
    }
}

/// As [`similarity::nystroem`](crate::similarity::nystroem).
pub(crate) fn nystroem<F: Float>(
    rows: &ScaledRows<'_, F>,
    landmarks: &[usize],
    width: f64,
    observer: &dyn Observer,
) -> Result<Option<Array2<f64>>> {
    let stop = Stop::new(observer);
    let (marks, p) = (Centres::of_rows(rows, landmarks)?, landmarks.len());
    let kernel = |square: f64| (-square / width).exp();
    let mut gram = Array2::zeros((p, p));
    for (mut row, &i) in gram.rows_mut().into_iter().zip(landmarks) {
        stop.check()?;
        row.iter_mut().zip(landmarks).for_each(|(v, &j)| *v = kernel(rows.distance(i, j)));
    }
    nystroem_of(rows.n_rows(), &gram, &stop, |range: Range<usize>| {
        let mut near = Array2::zeros((range.len(), p));
        let parts = near.as_slice_mut().into_iter().flat_map(|near| near.chunks_mut(ROWS * p));
        for (c, near) in parts.enumerate().take_while(|_| !stop.asked()) {
            let first = range.start + c * ROWS;
            marks.squared_distances(rows, first..first + near.len() / p, near);
        }
        near.mapv_into(kernel)
    })
}

/// As [`similarity::landmarks`](crate::similarity::landmarks).
pub(crate) fn landmarks<F: Float>(
    x: SparseRows<'_, F>,
    count: usize,
    seed: Seed,
    observer: &dyn Observer,
) -> Result<Array2<F>> {
    let (drawn, options) = landmark_sample(x.n_rows(), count, seed);
    let drawn = x.select(Some(&drawn), None);
    Ok(fit(&ScaledRows::new(&drawn)?, None, &options, observer)?.centres)
}

/// The nearest centres of some rows with their squared distances, nearest first.
pub(crate) fn nearest<F: Float>(
    rows: &ScaledRows<'_, F>,
    centres: &Centres,
    range: Range<usize>,
    count: usize,
    found: &mut Vec<(u32, f64)>,
) {
    let k = centres.len();
    let mut squares = vec![0.0; range.len() * k];
    centres.squared_distances(rows, range, &mut squares);
    found.clear();
    let mut all: Vec<(u32, f64)> = Vec::with_capacity(k);
    for squares in squares.chunks_exact(k) {
        all.clear();
        all.extend((0..).zip(squares.iter().copied()));
        keep_nearest(&mut all, count);
        found.extend_from_slice(&all);
    }
}
