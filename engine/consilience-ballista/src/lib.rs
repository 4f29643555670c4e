//! Clustering ensembles in Parquet tables, on a cluster of machines: the work on rows of
//! `consilience-datafusion`, handed out by [Ballista](https://datafusion.apache.org/ballista).
//!
//! A scheduler, and executors on as many machines as there are, that share a file system:
//!
//! ```no_run
//! use std::sync::Arc;
//!
//! use consilience_ballista::Machines;
//! use consilience_datafusion::{Engine, Table};
//!
//! let machines = Machines::at("10.0.0.1:50050".parse()?);
//! let engine = Engine::builder().cluster(Arc::new(machines), "/shared/").build()?;
//! let rows = engine.distinct(&Table::open("/shared/pool/")?, &())?;
//! println!("{} of {}", rows.n_distinct(), rows.total());
//! # Ok::<(), consilience::Error>(())
//! ```
//!
//! Everything else is as in one process, the labels too: every file is worked on by the same code,
//! and what comes back is put together in the order of the files.
//!
//! # When machines fail
//!
//! Ballista hands tasks to executors, and to others when one is lost. What it says about a job is
//! not relied on: a task is done when its answer lies in the shared folder, whole and with its
//! checksum. Tasks without an answer are handed out again, a bounded number of times and as long
//! as something goes on ([`Machines::patience`]); then there is one error, and nothing is left
//! behind. Every plan is a single stage, since plans of several stages may hang or count twice
//! when an executor is lost (Ballista 55.0.0).
//!
//! # Who may ask
//!
//! Whoever reaches the scheduler may have files read and written by the executors. A scheduler
//! listens on loopback only, unless it is given certificates ([`Certificates`]): then all parties
//! show theirs to each other (mutual TLS). Executors listen nowhere.

mod address;
mod certificates;
mod executor;
mod function;
mod machines;
mod scheduler;

pub use address::Address;
pub use certificates::Certificates;
pub use executor::Executor;
pub use machines::Machines;
pub use scheduler::Scheduler;

use consilience::{Error, ErrorKind};

/// Something between machines that failed.
fn failed(what: impl std::fmt::Display) -> Error {
    Error::new(ErrorKind::Io, what.to_string())
}
