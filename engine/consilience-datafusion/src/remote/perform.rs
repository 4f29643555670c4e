//! What a machine does with a task.

use std::any::Any;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use consilience::{Error, ErrorKind, Observer, Result};
use serde::{Deserialize, Serialize};

use crate::engine::{Engine, rows_at_once};
use crate::fault::{system, within};
use crate::followed::FollowedLabels;
use crate::generate::{Fetch, MemberLabels, Pass};
use crate::groups::GROUPS;
use crate::labels::Lookup;
use crate::output::FileWriter;
use crate::remote::folder::{WORK, Watch};
use crate::remote::wire::{TableRef, answer, from_bytes, unique, write_at_once};
use crate::score::Counting;
use crate::soft::Soft;
use crate::work::{Fold, Labels, Numbered, Order, Write};

/// What a machine may take for one task.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Resources {
    /// Bytes of memory; grouping goes on on disk beyond half of them.
    pub memory: u64,
    /// Where it goes on; the system's folder for temporary files without.
    pub spill: Option<PathBuf>,
    /// Engines that no task uses at the moment.
    idle: Arc<Mutex<Vec<Engine>>>,
}

impl Default for Resources {
    /// A gibibyte.
    fn default() -> Self {
        Self::new(1 << 30, None)
    }
}

impl Resources {
    /// So much memory, and that folder for more.
    pub fn new(memory: u64, spill: Option<PathBuf>) -> Self {
        Resources { memory, spill, idle: Arc::default() }
    }

    /// Lends an engine for a task.
    fn lend<T>(&self, task: impl FnOnce(&Engine) -> Result<T>) -> Result<T> {
        let idle = || self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let known = idle().pop();
        let engine = match known {
            Some(engine) => engine,
            None => {
                let builder = Engine::builder().memory(self.memory).partitions(1);
                match &self.spill {
                    Some(folder) => builder.spill_folder(folder).build()?,
                    None => builder.build()?,
                }
            }
        };
        let done = task(&engine);
        idle().push(engine);
        done
    }
}

/// A task as it travels.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct Errand {
    pub(crate) verb: String,
    pub(crate) folder: PathBuf,
    pub(crate) number: usize,
    pub(crate) table: TableRef,
}

impl Errand {
    /// Where the answer belongs.
    pub(crate) fn answer(&self) -> PathBuf {
        self.folder.join(format!("{}.answer", self.number))
    }

    /// A name for a file that belongs to the answer.
    pub(crate) fn part(&self) -> String {
        format!("{}-{}.parquet", self.number, unique())
    }
}

/// Does a task, and leaves the answer where the one who asked looks for it. Files that cannot be
/// read and results that cannot be written are answers too.
///
/// # Errors
/// [`ErrorKind::Corrupt`] for bytes that are no task, [`ErrorKind::Io`] where the answer cannot be
/// written, [`ErrorKind::Cancelled`] where nobody waits for it any more.
pub fn perform(task: &[u8], resources: &Resources) -> Result<()> {
    let errand: Errand = from_bytes(task)?;
    let observer = Watch::new(&errand.folder);
    observer.check()?;
    let done = match errand.verb.as_str() {
        GROUPS => answer(errand.groups(resources, &observer)),
        verb => errand.piecewise(verb, resources, &observer),
    };
    observer.check()?;
    write_at_once(&errand.answer(), &done?)
}

impl Errand {
    /// What is done piece by piece.
    fn piecewise(&self, verb: &str, own: &Resources, observer: &dyn Observer) -> Result<Vec<u8>> {
        macro_rules! known {
            (fold: $($fold:ty),*; write: $($write:ty),*; labels: $($labels:ty),* $(,)?) => {
                match verb {
                    $(<$fold as Fold>::NAME => answer(self.folded::<$fold>(observer)),)*
                    $(<$write as Write>::NAME => answer(self.written::<$write>(own, observer)),)*
                    $(<$labels as Labels>::ORDER => {
                        answer(self.folded::<Order<$labels>>(observer))
                    })*
                    $(<$labels as Labels>::NUMBERED => {
                        answer(self.written::<Numbered<$labels>>(own, observer))
                    })*
                    other => answer::<()>(Err(Error::new(
                        ErrorKind::Io,
                        format!("a machine cannot do {other:?}; expected the same version"),
                    ))),
                }
            };
        }
        known!(
            fold: Counting, Fetch<f32>, Fetch<f64>, Pass<f32>, Pass<f64>;
            write: Lookup, Soft;
            labels: FollowedLabels, MemberLabels<f32>, MemberLabels<f64>,
        )
    }

    fn folded<W: Fold>(&self, observer: &dyn Observer) -> Result<Vec<W::Part>> {
        let (table, work) = (self.table.open()?, self.work::<W>()?);
        let each = |piece| observer.check().and_then(|()| work.part(&table, piece, observer));
        table.pieces(0..table.n_files()).iter().map(each).collect()
    }

    fn written<W: Write>(
        &self,
        own: &Resources,
        observer: &dyn Observer,
    ) -> Result<(String, Vec<W::Part>)> {
        let (table, work) = (self.table.open()?, self.work::<W>()?);
        let name = self.part();
        let path = self.folder.join(&name);
        let mut file = FileWriter::new(path, work.fields(&table), table.n_rows())?;
        let mut parts = Vec::new();
        for piece in table.pieces_of(0..table.n_files(), rows_at_once(own.memory, 1, work.row())) {
            observer.check()?;
            let (columns, part) = work.part(&table, &piece, observer)?;
            file.write(columns)?;
            parts.push(part);
        }
        file.finish()?;
        Ok((name, parts))
    }

    /// The file with the groups of rows, unless there are no rows.
    fn groups(&self, resources: &Resources, observer: &dyn Observer) -> Result<Option<String>> {
        let table = self.table.open()?;
        if table.n_rows() == 0 {
            return Ok(None);
        }
        let name = self.part();
        let path = self.folder.join(&name);
        resources.lend(|engine| engine.write_groups(&table, &path, observer))?;
        Ok(Some(name))
    }

    fn work<W: serde::de::DeserializeOwned + Send + Sync + 'static>(&self) -> Result<Arc<W>> {
        read_once(&self.folder.join(WORK))
    }
}

/// The work that was read last: tasks of one job come one after the other.
static LAST: Mutex<Option<(PathBuf, Arc<dyn Any + Send + Sync>)>> = Mutex::new(None);

fn read_once<W>(path: &Path) -> Result<Arc<W>>
where
    W: serde::de::DeserializeOwned + Send + Sync + 'static,
{
    // Under the lock: two tasks that start together read it once.
    let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((known, work)) = &*last
        && known == path
        && let Ok(work) = work.clone().downcast::<W>()
    {
        return Ok(work);
    }
    *last = None;
    let place = within(path.display());
    let bytes = fs::read(path).map_err(system).map_err(&place)?;
    let work: Arc<W> = Arc::new(from_bytes(&bytes).map_err(&place)?);
    *last = Some((path.to_path_buf(), work.clone()));
    Ok(work)
}
