//! Feature sets `NAME.npz` with arrays `x` (n x d) and `y` (classes), as the experiments want them.

use std::path::{Path, PathBuf};

use consilience::Partition;
use consilience::core::Stream;
use consilience::ndarray::{Array1, Array2, Axis, Ix1, Ix2, OwnedRepr, stack};
use ndarray_npy::NpzReader;

#[path = "../../tests/reference/shared_data.rs"]
mod shared_data;

/// Sets whose features are categories.
pub const CATEGORIES: [&str; 4] = ["soybean_small", "promoters", "voting", "mushrooms"];
/// Sets whose features are pixels, all in one unit.
const PIXELS: [&str; 2] = ["usps", "mfeat_pix"];

/// A folder of reference data: `pools`, `features` or `crowd`.
pub fn folder(name: &str) -> PathBuf {
    shared_data::folder(name)
}

/// Features of n objects and their classes.
#[derive(Clone, Debug)]
pub struct Set {
    /// n x d.
    pub x: Array2<f64>,
    /// Class of each object.
    pub y: Vec<i32>,
}

impl Set {
    /// The set as it is in the file, a missing value as NaN; `None` with a line printed where the
    /// file is missing. The name may also be a path that ends in `.npz`.
    pub fn read(name: &str) -> Option<Self> {
        let path = if name.ends_with(".npz") {
            PathBuf::from(name)
        } else {
            folder("features").join(format!("{name}.npz"))
        };
        let set = Self::open(&path);
        if set.is_none() {
            eprintln!("{name} skipped: {} cannot be read", path.display());
        }
        set
    }

    fn open(path: &Path) -> Option<Self> {
        let mut npz = NpzReader::new(std::fs::File::open(path).ok()?).ok()?;
        let x: Array2<f64> = match npz.by_name::<OwnedRepr<f32>, Ix2>("x") {
            Ok(x) => x.mapv(f64::from),
            Err(_) => npz.by_name::<OwnedRepr<u8>, Ix2>("x").ok()?.mapv(f64::from),
        };
        let y: Array1<i32> = npz.by_name::<OwnedRepr<i32>, Ix1>("y").ok()?;
        Some(Set { x, y: y.to_vec() })
    }

    /// The classes as a partition.
    pub fn truth(&self) -> Partition {
        Partition::from_labels(&self.y).expect("classes")
    }

    /// These rows.
    pub fn select(&self, rows: &[usize]) -> Self {
        Set { x: self.x.select(Axis(0), rows), y: rows.iter().map(|&i| self.y[i]).collect() }
    }

    /// At most so many rows, drawn at random.
    pub fn sample(&self, stream: &mut Stream, most: usize) -> Self {
        self.select(&stream.sample(self.x.nrows(), most))
    }

    /// Objects of classes for which `keep` says so.
    pub fn of_classes(&self, keep: impl Fn(i32) -> bool) -> Self {
        let rows: Vec<usize> = (0..self.y.len()).filter(|&i| keep(self.y[i])).collect();
        self.select(&rows)
    }

    /// Categories as one column per value, pixels as they are, other features standardised and
    /// without constant ones.
    pub fn prepared(&self, name: &str) -> Self {
        let x = if name == "mushrooms" || name == "voting" {
            one_hot(&self.x)
        } else if PIXELS.contains(&name) {
            self.x.clone()
        } else {
            standardised(&self.x, false)
        };
        Set { x, y: self.y.clone() }
    }
}

/// One column per value of each feature; a missing one is 0 in all of them.
pub fn one_hot(x: &Array2<f64>) -> Array2<f64> {
    let mut columns = Vec::new();
    for column in x.columns() {
        let mut values: Vec<f64> = column.iter().copied().filter(|v| !v.is_nan()).collect();
        values.sort_by(f64::total_cmp);
        values.dedup();
        columns.extend(values.iter().map(|v| column.mapv(|x| f64::from(u8::from(x == *v)))));
    }
    let views: Vec<_> = columns.iter().map(|c| c.view()).collect();
    stack(Axis(1), &views).expect("columns of one length")
}

/// Mean 0 and deviation 1 in each column, a missing value at the mean. A constant column becomes 0,
/// or is left out.
pub fn standardised(x: &Array2<f64>, keep_constant: bool) -> Array2<f64> {
    let mut columns = Vec::new();
    for column in x.columns() {
        let known: Vec<f64> = column.iter().copied().filter(|v| v.is_finite()).collect();
        let n = known.len().max(1) as f64;
        let mean = known.iter().sum::<f64>() / n;
        let spread = (known.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / n).sqrt();
        if spread > 0.0 {
            columns.push(column.mapv(|v| if v.is_finite() { (v - mean) / spread } else { 0.0 }));
        } else if keep_constant {
            columns.push(Array1::zeros(column.len()));
        }
    }
    let views: Vec<_> = columns.iter().map(|c| c.view()).collect();
    stack(Axis(1), &views).expect("columns of one length")
}

/// A missing value at the mean of its column.
pub fn filled(mut x: Array2<f64>) -> Array2<f64> {
    for mut column in x.columns_mut() {
        let known: Vec<f64> = column.iter().copied().filter(|v| !v.is_nan()).collect();
        let mean = known.iter().sum::<f64>() / known.len().max(1) as f64;
        column.mapv_inplace(|v| if v.is_nan() { mean } else { v });
    }
    x
}
