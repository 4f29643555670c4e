//! What you can rely on, and where it ends.
//!
//! Tests of the repository hold every promise here. The tables name them, and `docs/guarantees.md`
//! there has them all, with every limit.
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
//! The order of the objects can change a result only through tie-breaking; for many methods it
//! never does. Bits may differ between kinds of processors, with the feature `lapack` between
//! backends, and, before version 1.0, between versions: the change log says when.
//!
//! | promise | held by | limit |
//! |---|---|---|
//! | the same bits at 1, 2, 3 and 8 threads | `tests/conformance*.rs` | |
//! | names of labels change no bit | `tests/conformance.rs`, `tests/fuzz.rs` | |
//! | the order of members changes no partition | `tests/order.rs` | |
//! | the order of objects permutes the partition | `tests/order.rs` | up to symmetries; trees and votes break ties by the first objects |
//! | a connected component is never divided while parts of two are joined | `components_are_joined_whole` in `tests/order.rs` | spectral cuts |
//!
//! # Rows that stand for many
//!
//! A row with a count gives what its repetitions give, in every method, score and criterion, up to
//! 2^53 objects. Objectives are sums in another order, and may differ in their last digits.
//!
//! # Bad input
//!
//! Bad input gives an [`Error`](crate::Error) that says what was found, where, and what was
//! expected; nothing panics on input. More than 800,000 damaged files and states, and thousands of
//! odd ensembles under odd parameters, are tried on every run of the tests.
//!
//! # Memory
//!
//! Readers and methods stay within a [`MemoryBudget`](crate::MemoryBudget) where memory may grow
//! with the square of the objects, or with what a file claims; one page of a Parquet file is beyond
//! that. What does not fit is an error of the kind [`TooLarge`](crate::ErrorKind::TooLarge), before
//! anything is allocated. The budget of a method is 8 GiB by default and has a setter,
//! `memory_budget`; readers have none unless `io::Input` is given one. A method with a budget of 8
//! GiB handles dense matrices of some 32,000 microclusters in double precision, fewer where it
//! needs several. On a machine or in a container with less memory set it lower: a container does
//! not refuse memory, it ends the process. The program takes what the machine, its container and
//! `ulimit` leave, or `--memory`.
//!
//! | attack | held by | how often |
//! |---|---|---|
//! | damaged files, states, stored results and odd ensembles | `tests/fuzz.rs` | more than 800,000 on every run; once ten million for each of the commonest formats: no panic |
//! | memory that is refused at the k-th large request, k up to 25 | `tests/refused.rs` | readers never end the process; of methods the file says where one still does |
//! | memory that ends under the whole program | `crates/consilience-cli/tests/faults.rs` | 1,008 runs once: no output was changed |
//!
//! The crates have no `unsafe` of their own, which the compiler enforces, so that a memory error
//! could only come from the crates that they depend on: the kernels of `faer` and `pulp`, the
//! readers of Parquet, Arrow and compressed files (zstd is C), and, with its feature, METIS, which
//! is C. These have not been run under Miri or AddressSanitizer here.
//!
//! # Files
//!
//! A file appears whole or not at all. The program writes all its files together at the end: an
//! exit code other than 0 means that none has changed. A stored state or model comes back to the
//! bit, and a damaged one is refused; the checksums find accidents, not forgers. That was tried on
//! 14 of the 15 writing commands, by kills at 1,008 moments in all, disks full at 1,055 bytes and
//! 924 system calls that fail or are killed at, and by changing every byte of every kind of state
//! in every way.
//!
//! | attack | held by | how often, once |
//! |---|---|---|
//! | kill -9 at a random moment | `crates/consilience-cli/tests/faults.rs` | 1,008: none half-written |
//! | a disk full at some byte | the same | 1,055: each refused in one line |
//! | a system call that fails, or a kill at it | the same | 924: none half-written |
//! | a byte of a state of another value, left out, or all behind it | `tests/states.rs` | 9,209,017: all refused |
//! | two updates of one state at once | `crates/consilience-cli/tests/safety.rs` | none lost, where the file system has locks |
//!
//! # Ending early
//!
//! Every method asks its [`Observer`](crate::Observer) whether to go on, most many times a second.
//! A step without a place to ask, such as all eigenvectors of a dense matrix, or one sort of all
//! rows, is finished first.
//! The program does not wait for such a step: it ends within a second of Ctrl-C.
//! `crates/consilience-cli/tests/cancel.rs` interrupts nine commands that work for long, and allows
//! five seconds, since the machine may be busy.
//!
//! # Numbers
//!
//! Where a method solves an optimisation problem that has a certificate, the certificate is in the
//! [`Report`](crate::Report): `error_bound`, and [`Status`](crate::Status) when the iterations ran
//! out before it. Approximations say so in the report's notes: samples, landmarks, truncated
//! spectra. Features may be of any unit from 1e-300 to 1e300, far from 0, or there twice: clusters
//! are found as before. A table in `docs/guarantees.md` says what else was tried and for which
//! methods it does not hold. On every ensemble of two members over five objects the methods of the
//! table below are held equal to naive code, and scores to their definitions. Published methods are
//! held to values that another program computes from their papers, and to published programs where
//! there are any.
//!
//! | equal to | held by | how many |
//! |---|---|---|
//! | naive EAC, PTA and PTGP, merge by merge | `tests/small_worlds.rs` | 20,706 ensembles |
//! | naive similarities: LWEA, WEAC, ECPCS, WCT, SRS | `tests/small_methods.rs` | 20,706 |
//! | naive objectives: HBGF, LWGP, QMI, voting, least squares | `tests/small_methods.rs` | 20,706 |
//! | definitions of scores | `tests/small_scores.rs` | 41,209 pairs, 18 scores |
//! | what is possible at all, for batches of constraints | `tests/small_updates.rs` | 8,421 batches, four rules |
//! | formulas of the papers, computed by another program | `tests/witnesses.rs` | to 1e-10, objectives to 1e-8 |
//!
//! Mutation testing shows how far the tests detect faults: of one mutant in twelve of `core`,
//! `num`, `graph` and `simplex`, and some of `walk` and `completion`, the unit tests of the crate
//! alone catch 85 to 95 %. It takes a run of these tests for each mutant, too much for every
//! change.
//!
//! # What is not promised
//!
//! That a consensus is better than its best member: it is better than most of them, most of the
//! time. [`Diagnostics`](crate::trust::Diagnostics) say how far the members agree, and no score
//! without a truth says more than that.
