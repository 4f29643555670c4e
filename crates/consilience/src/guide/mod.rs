//! The guide: one page for each kind of input. The examples on these pages are tests, except the
//! one for polars; two that touch files are only compiled.
//!
//! | page | you have |
//! |---|---|
//! | [`choosing`] | several clusterings, and the question which method to take |
//! | [`features`] | features, and no clusterings yet |
//! | [`tables`] | tables with names, ids, missing values and categories: what can go in |
//! | [`crowds`] | answers of people or models about a few objects at a time |
//! | [`links`] | pairs that belong together or apart, at once or one after the other |
//! | [`own_method`] | a method of your own, to combine with ours and to test against the same laws |
//! | [`guarantees`] | the question what you can rely on |
//! | [`arrays`] | labels or features in linfa, polars, Arrow, CSV files or another `ndarray` |
//! | [`references`] | the name of a paper, to be found in full |
//!
//! Longer programs, one or more for every module, are the
//! [examples](https://docs.rs/crate/consilience/latest/source/examples/) of the crate (the link
//! works once the crate is published; until then see `crates/consilience/examples` in a clone).
//!
//! The [`catalogue`](crate::catalogue) lists the consensus functions with their papers and
//! parameters. The documentation of every method names its paper, and [`references`] has them all.
//!
//! # Words
//!
//! | word | what it means here |
//! |---|---|
//! | member | one clustering of an [`Ensemble`](crate::Ensemble); also: base clustering |
//! | microcluster | a set of objects that every member treats alike; most methods work on these ([`Microclusters`](crate::Microclusters)) |
//! | co-association | the share of the members that put two objects together, of those that label both |
//! | consensus | the one clustering that a [`ConsensusFunction`](crate::ConsensusFunction) makes of an ensemble |
//! | joint result | in the method `auto`: a consensus of the results of diffusion and LWEA, on the ensemble and on halves of it |
//! | elite neighbours | the few microclusters most similar to one; PTA and PTGP walk along these links alone ([`EliteNeighbours`](crate::walk::EliteNeighbours)) |
//! | trajectory | where a random walk from a microcluster is after 1, 2, ... steps; alike trajectories mean alike microclusters |
//! | link | a must-link or cannot-link: two objects that belong together, or apart ([`Pair`](crate::Pair)) |
//! | read-out | in [`follow`](crate::follow): making labels of all objects, or of some, from what the links have taught so far |
//! | growth | in [`follow`](crate::follow): making new members from features under a metric learned from the links ([`MemberGrowth`](crate::follow::MemberGrowth)) |
//! | informedness | of a worker: how often "same" is said of objects that belong together, less how often of others; 1 at best, 0 for answers that tell nothing |

pub mod arrays;
pub mod choosing;
pub mod crowds;
pub mod features;
pub mod guarantees;
pub mod links;
pub mod own_method;
pub mod references;
pub mod tables;
