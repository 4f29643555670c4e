//! The same work on many machines, which share a file system.
//!
//! A [`Job`] has one [`Task`] for each file of a table. Whatever hands tasks to machines is a
//! [`Cluster`]; each machine calls [`perform`], which leaves an answer in the folder of the job.
//! An answer appears at once and whole, and an answer of the same task is always the same: a task
//! that is done twice, or by a machine that was given up, does no harm.

pub(crate) mod folder;
pub(crate) mod perform;
pub(crate) mod wire;

use std::cell::Cell;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use consilience::{Error, ErrorKind, Observer, Result};
use serde::de::DeserializeOwned;

use crate::fault::{system, within};

pub use perform::{Resources, perform};

/// Machines that do tasks.
///
/// ```
/// use consilience::{Observer, Result};
/// use consilience_datafusion::remote::{Cluster, Job, Resources, perform};
///
/// /// One machine: this one.
/// #[derive(Debug)]
/// struct Here;
///
/// impl Cluster for Here {
///     fn run(&self, job: &Job, observer: &dyn Observer) -> Result<()> {
///         for task in job.open()? {
///             perform(task.bytes(), &Resources::default())?;
///             observer.progress(job.stage(), job.rows_done()? as usize, job.rows() as usize);
///         }
///         Ok(())
///     }
/// }
/// ```
pub trait Cluster: fmt::Debug + Send + Sync {
    /// Has all tasks of a job done, that is, answered.
    ///
    /// # Errors
    /// Those of [`Job::open`] and [`Job::rows_done`]; [`ErrorKind::Cancelled`] as soon as the
    /// observer says so; [`ErrorKind::Io`] where the machines cannot be reached or go on failing.
    fn run(&self, job: &Job, observer: &dyn Observer) -> Result<()>;
}

/// A cluster, and a folder that all of its machines see under the same name.
#[derive(Clone, Debug)]
pub(crate) struct Remote {
    cluster: Arc<dyn Cluster>,
    shared: PathBuf,
}

impl Remote {
    pub(crate) fn new(cluster: Arc<dyn Cluster>, shared: PathBuf) -> Self {
        Remote { cluster, shared }
    }

    pub(crate) fn cluster(&self) -> &dyn Cluster {
        &*self.cluster
    }

    pub(crate) fn shared(&self) -> &Path {
        &self.shared
    }
}

/// One kind of work on all files of a table.
///
/// What a [`Cluster`] is given.
#[derive(Debug)]
pub struct Job {
    stage: String,
    tasks: Vec<Task>,
}

/// The work on one file.
///
/// Part of a [`Job`].
#[derive(Debug)]
pub struct Task {
    bytes: Vec<u8>,
    rows: u64,
    answer: PathBuf,
    answered: Cell<bool>,
}

impl Job {
    pub(crate) fn new(stage: &str, tasks: Vec<Task>) -> Self {
        Job { stage: stage.to_owned(), tasks }
    }

    pub(crate) fn tasks(&self) -> &[Task] {
        &self.tasks
    }

    /// What users are told is being done.
    pub fn stage(&self) -> &str {
        &self.stage
    }

    /// Rows of all files.
    pub fn rows(&self) -> u64 {
        self.tasks.iter().map(|task| task.rows).sum()
    }

    /// Rows of the largest file.
    pub fn most_rows(&self) -> u64 {
        self.tasks.iter().map(|task| task.rows).max().unwrap_or(0)
    }

    /// Tasks that nobody has answered so far.
    ///
    /// # Errors
    /// The error that a task was answered with: it would be answered so again.
    pub fn open(&self) -> Result<Vec<&Task>> {
        let mut open = Vec::new();
        for task in &self.tasks {
            if !task.is_answered()? {
                open.push(task);
            }
        }
        Ok(open)
    }

    /// Rows of the files whose tasks are answered.
    ///
    /// # Errors
    /// As [`Job::open`].
    pub fn rows_done(&self) -> Result<u64> {
        let open: u64 = self.open()?.iter().map(|task| task.rows).sum();
        Ok(self.rows() - open)
    }
}

impl Task {
    pub(crate) fn new(bytes: Vec<u8>, rows: u64, answer: PathBuf) -> Self {
        Task { bytes, rows, answer, answered: Cell::new(false) }
    }

    /// What [`perform`] takes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    fn is_answered(&self) -> Result<bool> {
        if !self.answered.get() && wire::is_answer(&self.answer)? {
            self.answered.set(true);
        }
        Ok(self.answered.get())
    }

    /// What the task was answered with.
    pub(crate) fn answer<T: DeserializeOwned>(&self) -> Result<T> {
        let place = within(self.answer.display());
        match fs::read(&self.answer) {
            Ok(bytes) => wire::read_answer(&bytes),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                let what = "a task of the job has no answer, though the cluster called it done";
                Err(Error::new(ErrorKind::Corrupt, what))
            }
            Err(error) => Err(place(system(error))),
        }
    }
}
