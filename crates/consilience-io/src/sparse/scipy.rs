//! Sparse matrices as `scipy.sparse.save_npz` writes them: an archive of `data`, `indices`,
//! `indptr`, `shape` and `format`.

use std::io::{Read, Seek};

use consilience_core::{Observer, Result};
use ndarray::Array2;

use super::matrix;
use crate::allowance::Allowance;
use crate::fault::{ensure_format, malformed};
use crate::features::FeatureTable;
use crate::npz;

/// Whether an archive with these arrays holds such a matrix.
pub(crate) fn is_one(names: &[String]) -> bool {
    let has = |name: &str| names.iter().any(|n| n == name);
    has("format") && has("shape") && has("data")
}

/// The matrix of an archive that `open` opens again for every array.
pub(crate) fn read<R: Read + Seek>(
    open: impl Fn() -> Result<R>,
    observer: &dyn Observer,
    allowance: &Allowance,
) -> Result<FeatureTable> {
    let layout = npz::bytes(open()?, "format", 4096)?;
    let by_rows = match layout.trim_ascii_end() {
        layout if layout.ends_with(b"csr") => true,
        layout if layout.ends_with(b"csc") => false,
        layout => {
            let name = layout.iter().rev().take(3).rev().copied().collect::<Vec<u8>>();
            return Err(malformed(format!(
                "a sparse matrix of layout {:?}; expected csr or csc: save x.tocsr()",
                String::from_utf8_lossy(&name)
            )));
        }
    };
    let table = |name: &str| {
        npz::read(open()?, Some(name), observer, allowance, |stream| stream.features())
    };
    let whole = |name: &str| -> Result<Vec<usize>> {
        let numbers = table(name)?.into_f64()?.into_raw_vec_and_offset().0;
        for (at, v) in numbers.iter().enumerate() {
            ensure_format!(
                v.fract() == 0.0 && (0.0..2f64.powi(53)).contains(v),
                "array {name:?}: entry {at} is {v}; expected whole numbers of at least 0"
            );
        }
        Ok(numbers.into_iter().map(|v| v as usize).collect())
    };
    let shape = whole("shape")?;
    let [n, d] = shape[..] else {
        return Err(malformed(format!("a shape of {} numbers; expected 2", shape.len())));
    };
    let shape = if by_rows { (n, d) } else { (d, n) };
    let starts = whole("indptr")?;
    let what = if by_rows { "rows" } else { "columns" };
    ensure_format!(
        starts.len() - 1 == shape.0,
        "{} pointers for {} {what}; expected one more than {what}",
        starts.len(),
        shape.0
    );
    let indices = whole("indices")?;
    let found = match table("data")? {
        FeatureTable::F32(values) => {
            FeatureTable::Sparse32(matrix(shape, starts, indices, flat(values))?)
        }
        other => FeatureTable::Sparse64(matrix(shape, starts, indices, flat(other.into_f64()?))?),
    };
    Ok(if by_rows { found } else { found.transposed() })
}

fn flat<F>(values: Array2<F>) -> Vec<F> {
    values.into_raw_vec_and_offset().0
}
