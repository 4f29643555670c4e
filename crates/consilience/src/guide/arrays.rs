//! Arrays from elsewhere: linfa, polars, Arrow, CSV, another version of `ndarray`.
//!
//! consilience speaks `ndarray` 0.17 and `sprs` 0.11 and re-exports both, as
//! [`ndarray`](crate::ndarray) and [`sprs`](crate::sprs). Features are given as `&array` or as a
//! view, in single or double precision; labels also come as plain slices. The methods of traits
//! take [`Features`](crate::Features), which `Features::from(&array)` makes.
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
//! The feature `ndarray` of polars gives arrays of version 0.17:
//! `frame.to_ndarray::<Float64Type>(..)` goes in as it is (`array.view()`). A column of labels is
//! an iterator of options, and a missing value is an unlabelled object:
//!
//! ```
//! use consilience::Partition;
//!
//! // What `series.i64()?.iter()` gives.
//! let column = [Some(3i64), None, Some(3), Some(8)];
//! let labels: Vec<Option<i64>> = column.into_iter().collect();
//! assert_eq!(Partition::from_labels(&labels)?.to_signed(), [0, -1, 0, 1]);
//! # Ok::<(), consilience::Error>(())
//! ```
//!
//! # Arrow
//!
//! An array without nulls is a slice (`array.values()`): `Partition::from_labels(array.values())`.
//! One with nulls is an iterator of options, as above. A record batch of label columns becomes one
//! partition per column:
//!
//! ```
//! use consilience::{Ensemble, Partition};
//!
//! let columns: [&[i32]; 2] = [&[0, 0, 1], &[4, 2, 2]];
//! let members = columns.iter().map(|c| Partition::from_labels(c)).collect::<Result<_, _>>()?;
//! assert_eq!(Ensemble::new(members)?.n_members(), 2);
//! # Ok::<(), consilience::Error>(())
//! ```
//!
//! # Files
//!
//! The feature `io` reads and writes CSV, npy, npz, Parquet and Arrow ([`tables`](super::tables)
//! has all forms):
//!
#![cfg_attr(feature = "io", doc = "```no_run")]
#![cfg_attr(not(feature = "io"), doc = "```ignore")]
//! use consilience::io;
//!
//! let ensemble = io::read_ensemble("pool.npz:labels")?;
//! let features = io::read_features("features.csv")?;
//! # Ok::<(), consilience::Error>(())
//! ```
