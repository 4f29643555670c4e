//! The guide: one page for each way in. Every example on these pages is a test.
//!
//! | page | you have |
//! |---|---|
//! | [`choosing`] | several clusterings, and no idea which method to take |
//! | [`features`] | features, and no clusterings yet |
//! | [`tables`] | tables with names, ids, missing values and categories: what can go in |
//! | [`crowds`] | answers of people or models about a few objects at a time |
//! | [`links`] | pairs that belong together or apart, at once or one after the other |
//! | [`own_method`] | a method of your own, to be combined with ours and put through the laws |
//! | [`guarantees`] | the question what you can rely on |
//! | [`arrays`] | labels or features in linfa, polars, Arrow, CSV files or another `ndarray` |
//!
//! Longer programs, one or more for every module, are the
//! [examples](https://docs.rs/crate/consilience/latest/source/examples/) of the crate.
//!
//! Methods, their papers and their parameters stand in the [`catalogue`](crate::catalogue).

pub mod arrays;
pub mod choosing;
pub mod crowds;
pub mod features;
pub mod guarantees;
pub mod links;
pub mod own_method;
pub mod tables;
