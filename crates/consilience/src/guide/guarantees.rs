//! What you can rely on, and where it ends.
//!
//! Every promise here is held by tests of the repository, which `docs/guarantees.md` there names
//! one by one.
//!
//! # The same answer every time
//!
//! The same input, parameters and [`Seed`](crate::Seed) give the same bits on every run, at any
//! number of threads. What labels are called changes nothing, and neither does the order of the
//! members:
//!
//! ```
//! use consilience::ndarray::array;
//! use consilience::prelude::*;
//! use consilience::{Ensemble, walk::Diffusion};
//!
//! let a = Ensemble::from_array(array![[0, 5], [0, 5], [0, 7], [1, 7], [1, 9]].view())?;
//! // The same with other labels, the second member first.
//! let b = Ensemble::from_array(array![[4, 30], [4, 30], [0, 30], [0, 10], [2, 10]].view())?;
//! let method = Diffusion::new(2);
//! assert_eq!(method.consensus(&a)?, method.consensus(&b)?);
//! # Ok::<(), consilience::Error>(())
//! ```
//!
//! The order of the objects matters only where ties are broken, and for many methods not even then.
//! Bits may differ between processors of another kind, with the feature `lapack` between backends,
//! and, before version 1.0, between versions: the change log says when.
//!
//! # Rows that stand for many
//!
//! A row with a count gives what its repetitions give, in every method, score and criterion, up to
//! 2^53 objects. Objectives are sums in another order, and may differ in their last digits.
//!
//! # Bad input
//!
//! Whatever is wrong is an [`Error`](crate::Error) that says what was found, where, and what was
//! expected; nothing panics on input. Half a million damaged files and states, and thousands of odd
//! ensembles under odd parameters, are tried on every run of the tests. Readers and methods stay
//! within a [`MemoryBudget`](crate::MemoryBudget) where memory may grow with the square of the
//! objects, or with what a file claims; one page of a Parquet file is beyond that.
//!
//! # Files
//!
//! A file appears whole or not at all. The program writes all its files together at the end: an
//! exit code other than 0 means that none has changed. A stored state or model comes back to the
//! bit, and a damaged one is refused; the checksums find accidents, not forgers. That was tried by
//! killing every writing command at a thousand moments, by disks full at a thousand bytes, by
//! system calls that fail, and by changing every byte of every kind of state in every way.
//!
//! # Ending early
//!
//! Every method asks its [`Observer`](crate::Observer) whether to go on, most many times a second.
//! A step without a place to ask, such as all eigenvectors of a dense matrix, is finished first.
//!
//! # Numbers
//!
//! Where a method solves an optimisation problem that has a certificate, the certificate is in the
//! [`Report`](crate::Report): `error_bound`, and [`Status`](crate::Status) when the iterations ran
//! out before it. Approximations say so in the report's notes: samples, landmarks, truncated
//! spectra. Features may be of any unit from 1e-300 to 1e300, far from 0, or there twice: clusters
//! are found as before. A table in `docs/guarantees.md` says what else was tried and for which
//! methods it does not hold. Fast code is held equal to naive code on every ensemble of two members
//! over five objects, scores to their definitions there, published methods to values that another
//! program computes from their papers, and to published programs where there are any.
//!
//! # What is not promised
//!
//! That a consensus is better than its best member: it is better than most of them, most of the
//! time. [`Diagnostics`](crate::trust::Diagnostics) say how far the members agree, and no score
//! without a truth says more than that.
