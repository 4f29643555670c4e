//! Arrays from elsewhere: linfa, polars, Arrow, CSV, another version of `ndarray`.
//!
//! consilience uses `ndarray` 0.17 and `sprs` 0.11 and re-exports both, as
//! [`ndarray`](crate::ndarray) and [`sprs`](crate::sprs). Features are given as `&array` or as a
//! view, in single or double precision; labels may also be plain slices. The methods of traits take
//! [`Features`](crate::Features), which `Features::from(&array)` makes.
//!
//! # Another version of ndarray (linfa 0.8 and its family use 0.16)
//!
//! Two versions of one crate have different types; the compiler says that a trait is not
//! implemented. A slice has no version, and nothing is copied:
//!
//! ```
//! use consilience::ndarray::ArrayView2;
//! use consilience::generate::{Generator, KMeans};
//!
//! // What a linfa dataset's `records()` is.
//! let records: ndarray_0_16::Array2<f64> =
//!     ndarray_0_16::Array2::from_shape_fn((20, 2), |(i, j)| (i / 10 * 5 + i % 3 + j) as f64);
//! let rows = records.as_slice().expect("in standard layout");
//! let x = ArrayView2::from_shape(records.dim(), rows).expect("the same shape");
//! let ensemble = Generator::new(KMeans::new()).members(3).clusters(2..=4).generate(x)?;
//! assert_eq!(ensemble.n_objects(), 20);
//!
//! // And back: labels are plain numbers.
//! let labels: Vec<i64> = ensemble.members()[0].to_signed();
//! let theirs = ndarray_0_16::Array1::from(labels);
//! assert_eq!(theirs.len(), 20);
//! # Ok::<(), consilience::Error>(())
//! ```
//!
//! An array that is not in standard layout has no slice: `as_standard_layout()` makes one.
//!
//! # polars
//!
//! The feature `ndarray` of polars (here 0.55) gives arrays of version 0.17, which go in as they
//! are. A column of labels is an iterator of options, and a missing value is an unlabelled object:
//!
//! ```ignore
//! // polars = { version = "0.55", features = ["ndarray"] }
//! use consilience::Partition;
//! use consilience::generate::{Generator, KMeans};
//! use polars::prelude::*;
//!
//! fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     let frame = df!(
//!         "height" => [1.2, 1.3, 1.9, 1.8],
//!         "weight" => [40.0, 42.0, 80.0, 76.0],
//!         "species" => [Some(3i64), None, Some(8), Some(8)],
//!     )?;
//!     let numbers = frame.select(["height", "weight"])?;
//!     let features = numbers.to_ndarray::<Float64Type>(IndexOrder::C)?;
//!     let members = Generator::new(KMeans::new()).members(5).clusters(2..=3);
//!     let ensemble = members.generate(&features)?;
//!
//!     let column: Vec<Option<i64>> = frame.column("species")?.i64()?.iter().collect();
//!     let species = Partition::from_labels(&column)?;
//!     assert_eq!((ensemble.n_objects(), species.to_signed()), (4, vec![0, -1, 1, 1]));
//!     Ok(())
//! }
//! ```
//!
//! Back into a frame: `Series::new("cluster".into(), partition.to_signed())`.
//!
//! # Arrow
//!
//! A column without nulls is a slice (`column.values()`), which `Partition::from_labels` takes; one
//! with nulls is an iterator of options, as above. A record batch of label columns becomes one
//! member per column:
//!
//! ```
//! // arrow-array = "60"
//! use std::sync::Arc;
//!
//! use arrow_array::{ArrayRef, Int64Array, RecordBatch, cast::AsArray, types::Int64Type};
//! use consilience::{Ensemble, Partition};
//!
//! fn members(batch: &RecordBatch) -> consilience::Result<Ensemble> {
//!     let member = |column: &ArrayRef| {
//!         let labels: Vec<Option<i64>> = column.as_primitive::<Int64Type>().iter().collect();
//!         Partition::from_labels(&labels)
//!     };
//!     Ensemble::new(batch.columns().iter().map(member).collect::<consilience::Result<_>>()?)
//! }
//!
//! let first: ArrayRef = Arc::new(Int64Array::from(vec![Some(3), Some(3), None]));
//! let second: ArrayRef = Arc::new(Int64Array::from(vec![0, 1, 1]));
//! let batch = RecordBatch::try_from_iter([("first", first), ("second", second)])?;
//! let ensemble = members(&batch)?;
//! assert_eq!((ensemble.n_members(), ensemble.n_objects()), (2, 3));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The slices and options themselves, which every version of Arrow gives:
//!
//! ```
//! use consilience::{Ensemble, Partition};
//!
//! let columns: [&[i32]; 2] = [&[0, 0, 1], &[4, 2, 2]];
//! let members = columns.iter().map(|c| Partition::from_labels(c)).collect::<Result<_, _>>()?;
//! assert_eq!(Ensemble::new(members)?.n_members(), 2);
//! let column = [Some(3i64), None, Some(3), Some(8)];
//! assert_eq!(Partition::from_labels(&column)?.to_signed(), [0, -1, 0, 1]);
//! # Ok::<(), consilience::Error>(())
//! ```
//!
//! # Files
//!
//! The feature `io` reads and writes CSV, TSV, npy, npz, Parquet and Arrow
//! ([`tables`](super::tables) lists all forms):
//!
#![cfg_attr(feature = "io", doc = "```no_run")]
#![cfg_attr(not(feature = "io"), doc = "```ignore")]
//! use consilience::io;
//!
//! let ensemble = io::read_ensemble("pool.npz:labels")?;
//! let features = io::read_features("features.csv")?;
//! # Ok::<(), consilience::Error>(())
//! ```
