//! The folder of a job: what is to be done, what was answered, and whether anybody still waits.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant, SystemTime};

use consilience::{Error, ErrorKind, Observer, Result};
use serde::Serialize;

use crate::fault::{system, within};
use crate::output::Unfinished;
use crate::remote::perform::Errand;
use crate::remote::wire::{TableRef, to_bytes, unique, write_at_once};
use crate::remote::{Job, Task};
use crate::table::Table;

/// The file that is touched as long as somebody waits, and how often.
pub(crate) const ALIVE: &str = "alive";
const PULSE: Duration = Duration::from_secs(2);
/// A job that nobody has touched for so long is given up.
const SILENCE: Duration = Duration::from_secs(60);
/// How often machines look.
const LOOK: Duration = Duration::from_millis(250);

/// The folder of a job; gone when it is dropped.
#[derive(Debug)]
pub(crate) struct JobFolder {
    path: PathBuf,
    _unfinished: Unfinished,
    pulse: Option<(Sender<()>, JoinHandle<()>)>,
}

impl JobFolder {
    /// A new folder in one that all machines see.
    pub(crate) fn new(shared: &Path) -> Result<Self> {
        Self::at(shared.join(format!(".job.consilience-{}", unique())))
    }

    fn at(path: PathBuf) -> Result<Self> {
        let path = std::path::absolute(&path).map_err(system).map_err(within(path.display()))?;
        let unfinished = Unfinished::new(path.clone());
        let alive = path.join(ALIVE);
        let make = || {
            fs::create_dir(&path)?;
            File::create_new(&alive)
        };
        let file = make().map_err(system).map_err(within(path.display()))?;
        let (stop, stopped) = channel();
        let beat = std::thread::spawn(move || {
            while stopped.recv_timeout(PULSE) == Err(RecvTimeoutError::Timeout) {
                let _ = file.set_modified(SystemTime::now());
            }
        });
        Ok(JobFolder { path, _unfinished: unfinished, pulse: Some((stop, beat)) })
    }

    /// A task for every file of the table; the work itself is written once, for all of them.
    pub(crate) fn job<W: Serialize>(
        &self,
        verb: &str,
        stage: &str,
        table: &Table,
        work: &W,
    ) -> Result<Job> {
        write_at_once(&self.path.join(WORK), &to_bytes(work)?)?;
        let tasks = table.files().iter().enumerate().map(|(number, file)| {
            let errand = Errand {
                verb: verb.to_owned(),
                folder: self.path.clone(),
                number,
                table: TableRef::of(table, std::slice::from_ref(file))?,
            };
            Ok(Task::new(to_bytes(&errand)?, file.rows, errand.answer()))
        });
        Ok(Job::new(stage, tasks.collect::<Result<_>>()?))
    }

    /// A file that an answer names.
    pub(crate) fn file(&self, name: &str) -> Result<PathBuf> {
        let path = self.path.join(name);
        if path.parent() != Some(&self.path) {
            return Err(Error::new(ErrorKind::Corrupt, format!("an answer names {name:?}")));
        }
        Ok(path)
    }
}

impl Drop for JobFolder {
    fn drop(&mut self) {
        if let Some((stop, beat)) = self.pulse.take() {
            drop(stop);
            let _ = beat.join();
        }
    }
}

/// The name of what is to be done.
pub(crate) const WORK: &str = "work";

/// Tells a machine to stop when the job has gone, or when nobody waits for it any more.
pub(crate) struct Watch {
    alive: PathBuf,
    seen: Mutex<Seen>,
}

struct Seen {
    looked: Instant,
    touched: Option<SystemTime>,
    changed: Instant,
    over: bool,
}

impl Watch {
    pub(crate) fn new(folder: &Path) -> Self {
        let now = Instant::now();
        let looked = now.checked_sub(LOOK).unwrap_or(now);
        let seen = Seen { looked, touched: None, changed: now, over: false };
        Watch { alive: folder.join(ALIVE), seen: Mutex::new(seen) }
    }
}

impl Observer for Watch {
    fn cancelled(&self) -> bool {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if seen.over || seen.looked.elapsed() < LOOK {
            return seen.over;
        }
        seen.looked = Instant::now();
        match fs::metadata(&self.alive).and_then(|file| file.modified()) {
            // By its changes: clocks of machines differ.
            Ok(time) if seen.touched != Some(time) => {
                (seen.touched, seen.changed) = (Some(time), Instant::now());
            }
            Ok(_) => seen.over = seen.changed.elapsed() > SILENCE,
            Err(_) => seen.over = true,
        }
        seen.over
    }
}
