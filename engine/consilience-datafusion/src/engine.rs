use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use consilience::{Error, ErrorKind, Observer, Result};
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::execution::disk_manager::{DiskManagerBuilder, DiskManagerMode};
use datafusion::execution::memory_pool::FairSpillPool;
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::physical_plan::{ExecutionPlan, execute_stream};
use datafusion::prelude::{DataFrame, SessionConfig, SessionContext};
use futures::StreamExt;
use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use tokio::runtime::Runtime;

use crate::fault::{query, system};
use crate::remote::{Cluster, Remote};
use crate::scan::Scan;
use crate::table::Table;

/// How often a query that has nothing to show is asked how far it is.
const LOOK: Duration = Duration::from_millis(100);
/// The share of the memory that queries may take; the rest is for what they hand out.
const SHARE: u64 = 2;
/// The least memory that a query is given.
const LEAST: u64 = 32 << 20;
/// Rows of a piece at least, however little memory there is.
const FEWEST: u64 = 1 << 12;

/// DataFusion in this process: how much memory, how many threads, and where to spill.
///
/// ```
/// use consilience_datafusion::Engine;
///
/// let engine = Engine::builder().memory(2 << 30).partitions(2).build()?;
/// assert_eq!((engine.memory(), engine.partitions()), (2 << 30, 2));
/// # Ok::<(), consilience::Error>(())
/// ```
pub struct Engine {
    runtime: Runtime,
    context: SessionContext,
    threads: ThreadPool,
    memory: u64,
    partitions: usize,
    remote: Option<Remote>,
}

/// Settings of an [`Engine`], from [`Engine::builder`].
#[derive(Clone, Debug)]
pub struct EngineBuilder {
    memory: u64,
    partitions: usize,
    spill: Option<PathBuf>,
    remote: Option<Remote>,
}

impl EngineBuilder {
    /// Bytes that everything together may take. Default 4 GiB; at least 64 MiB.
    pub fn memory(mut self, bytes: u64) -> Self {
        self.memory = bytes;
        self
    }

    /// Parts of a table that are worked on at the same time. Default the number of cores; at
    /// least 1. Results do not depend on it.
    pub fn partitions(mut self, partitions: usize) -> Self {
        self.partitions = partitions;
        self
    }

    /// The folder for what does not fit in memory. Default the system's folder for temporary
    /// files.
    pub fn spill_folder(mut self, folder: impl Into<PathBuf>) -> Self {
        self.spill = Some(folder.into());
        self
    }

    /// Other machines for all work on rows; they and this one see `shared`, the files of tables and
    /// the places of outputs under the same names. Default none: everything is done here.
    pub fn cluster(mut self, cluster: Arc<dyn Cluster>, shared: impl Into<PathBuf>) -> Self {
        self.remote = Some(Remote::new(cluster, shared.into()));
        self
    }

    /// The engine.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidParameter`] for no partitions or less than 64 MiB, [`ErrorKind::Io`]
    /// where threads cannot be started.
    pub fn build(self) -> Result<Engine> {
        if !(1..=1024).contains(&self.partitions) {
            return Err(Error::invalid(format!(
                "{} partitions; expected 1..=1024",
                self.partitions
            )));
        }
        if self.memory < 2 * LEAST {
            return Err(Error::invalid(format!(
                "{} bytes of memory; expected 64 MiB",
                self.memory
            )));
        }
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(self.partitions)
            .enable_time()
            .build()
            .map_err(system)?;
        let pool = FairSpillPool::new((self.memory / SHARE) as usize);
        // What does not fit in memory may take the disk.
        let mut disk = DiskManagerBuilder::default().with_max_temp_directory_size(u64::MAX);
        if let Some(folder) = self.spill {
            disk = disk.with_mode(DiskManagerMode::Directories(vec![folder]));
        }
        let builder = RuntimeEnvBuilder::new()
            .with_memory_pool(Arc::new(pool))
            .with_disk_manager_builder(disk);
        let config = SessionConfig::new()
            .with_target_partitions(self.partitions)
            .with_repartition_file_min_size(1 << 16)
            // A broadcast of a small table, never a sort of a large one.
            .set_bool("datafusion.optimizer.prefer_hash_join", true)
            .with_collect_statistics(false);
        let environment = builder.build_arc().map_err(query)?;
        let context = SessionContext::new_with_config_rt(config, environment);
        let threads = ThreadPoolBuilder::new()
            .num_threads(self.partitions)
            .build()
            .map_err(|error| Error::new(ErrorKind::Io, error.to_string()))?;
        Ok(Engine {
            runtime,
            context,
            threads,
            memory: self.memory,
            partitions: self.partitions,
            remote: self.remote,
        })
    }
}

impl fmt::Debug for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Engine")
            .field("memory", &self.memory)
            .field("partitions", &self.partitions)
            .finish_non_exhaustive()
    }
}

impl Engine {
    /// Settings with their defaults.
    pub fn builder() -> EngineBuilder {
        let partitions = std::thread::available_parallelism().map_or(1, usize::from);
        EngineBuilder { memory: 4 << 30, partitions, spill: None, remote: None }
    }

    /// Bytes that everything together may take.
    pub fn memory(&self) -> u64 {
        self.memory
    }

    /// Parts of a table that are worked on at the same time.
    pub fn partitions(&self) -> usize {
        self.partitions
    }

    /// The machines that do the work on rows, unless it is this one.
    pub(crate) fn remote(&self) -> Option<&Remote> {
        self.remote.as_ref()
    }

    /// Hands each piece to a thread, and what becomes of it to `after`, in the order of the pieces.
    pub(crate) fn in_order<P: Sync, T: Send>(
        &self,
        pieces: &[P],
        observer: &dyn Observer,
        work: impl Fn(&P) -> Result<T> + Sync,
        mut after: impl FnMut(&P, T) -> Result<()>,
    ) -> Result<()> {
        for wave in pieces.chunks(2 * self.partitions) {
            let done: Vec<Result<T>> = self.threads.install(|| {
                let each = |piece| observer.check().and_then(|()| work(piece));
                wave.par_iter().map(each).collect()
            });
            for (piece, done) in wave.iter().zip(done) {
                after(piece, done?)?;
            }
        }
        Ok(())
    }

    /// Rows of a piece of which so many bytes are written for each.
    pub(crate) fn rows_at_once(&self, bytes: u64) -> u64 {
        rows_at_once(self.memory, self.partitions, bytes)
    }

    /// The rows of a table, to be queried.
    pub(crate) fn frame(&self, scan: Arc<Scan>) -> Result<DataFrame> {
        if let Some((url, store)) = scan.store() {
            self.context.register_object_store(url.as_ref(), store);
        }
        self.context.read_table(scan).map_err(query)
    }

    /// Runs a query over a table and hands out its batches, in any order.
    pub(crate) fn run(
        &self,
        frame: DataFrame,
        table: &Table,
        stage: &str,
        observer: &dyn Observer,
        mut each: impl FnMut(RecordBatch) -> Result<()>,
    ) -> Result<()> {
        let total = table.n_rows() as usize;
        observer.progress(stage, 0, total);
        let done = crate::fault::shielded(|| {
            self.runtime.block_on(async {
                let plan = frame.create_physical_plan().await.map_err(query)?;
                let context = self.context.task_ctx();
                let mut stream = execute_stream(plan.clone(), context).map_err(query)?;
                loop {
                    match tokio::time::timeout(LOOK, stream.next()).await {
                        Ok(Some(batch)) => each(batch.map_err(query)?)?,
                        Ok(None) => return Ok(()),
                        Err(_) => observer.progress(stage, scanned(&plan).min(total), total),
                    }
                    observer.check()?;
                }
            })
        });
        match done {
            Ok(()) => observer.progress(stage, total, total),
            Err(error) => return Err(self.placed(error, table, observer)),
        }
        table.check_versions()
    }

    /// The error with the file that it is about: readers inside of a query do not name it.
    fn placed(&self, error: Error, table: &Table, observer: &dyn Observer) -> Error {
        match error.kind() {
            ErrorKind::Format | ErrorKind::Io => table.fault(observer).unwrap_or(error),
            _ => error,
        }
    }
}

/// Rows that the leaves of a plan have read so far.
fn scanned(plan: &Arc<dyn ExecutionPlan>) -> usize {
    let children = plan.children();
    if children.is_empty() {
        return plan.metrics().and_then(|metrics| metrics.output_rows()).unwrap_or(0);
    }
    children.into_iter().map(scanned).sum()
}

/// Rows of a piece of which so many bytes are written for each, that all pieces in hand take an
/// eighth of the memory together.
pub(crate) fn rows_at_once(memory: u64, partitions: usize, bytes: u64) -> u64 {
    let piece = memory / 8 / (2 * partitions as u64);
    (piece / bytes.max(1)).max(FEWEST)
}
