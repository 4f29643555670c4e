use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use ballista_core::config::TaskSchedulingPolicy;
use ballista_core::registry::BallistaFunctionRegistry;
use ballista_executor::executor_process::{ExecutorProcessConfig, start_executor_process};
use consilience::{Error, Result};
use consilience_datafusion::remote::Resources;

use crate::address::Address;
use crate::certificates::Certificates;
use crate::failed;
use crate::function::perform_task;
use crate::scheduler::MESSAGE;

/// Seconds to go on looking for the scheduler.
const CONNECT: u16 = 600;
/// The least memory of a task.
const LEAST: u64 = 64 << 20;

/// Does tasks that a scheduler hands out.
///
/// ```no_run
/// use consilience_ballista::Executor;
///
/// Executor::of("127.0.0.1:50050".parse()?).tasks(2).memory(4 << 30).run()?;
/// # Ok::<(), consilience::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Executor {
    scheduler: Address,
    tasks: usize,
    memory: u64,
    folder: Option<PathBuf>,
    certificates: Option<Certificates>,
}

impl Executor {
    /// For a scheduler that listens there.
    pub fn of(scheduler: Address) -> Self {
        let tasks = std::thread::available_parallelism().map_or(1, usize::from);
        Executor { scheduler, tasks, memory: 4 << 30, folder: None, certificates: None }
    }

    /// Tasks at the same time. Default the number of cores; 1 to 1,024.
    pub fn tasks(mut self, tasks: usize) -> Self {
        self.tasks = tasks;
        self
    }

    /// Bytes that all tasks together may take. Default 4 GiB; at least 64 MiB for each.
    pub fn memory(mut self, bytes: u64) -> Self {
        self.memory = bytes;
        self
    }

    /// Where a task goes on when it needs more. Default the system's folder for temporary files.
    pub fn folder(mut self, folder: impl Into<PathBuf>) -> Self {
        self.folder = Some(folder.into());
        self
    }

    /// Its certificates. Default none, for a scheduler on loopback.
    pub fn certificates(mut self, certificates: Certificates) -> Self {
        self.certificates = Some(certificates);
        self
    }

    /// Works until the process is asked to end, by a signal; tasks under way are finished then.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidParameter`](consilience::ErrorKind::InvalidParameter) for settings out
    /// of range, and for a scheduler beyond loopback without certificates,
    /// [`ErrorKind::Io`](consilience::ErrorKind::Io) where there is no scheduler for ten minutes.
    pub fn run(self) -> Result<()> {
        self.scheduler.check(self.certificates.as_ref())?;
        if !(1..=1024).contains(&self.tasks) {
            return Err(Error::invalid(format!("{} tasks; expected 1..=1024", self.tasks)));
        }
        let memory = self.memory / self.tasks as u64;
        if memory < LEAST {
            let what = format!("{} bytes for {} tasks", self.memory, self.tasks);
            return Err(Error::invalid(format!("{what}; expected at least 64 MiB for each")));
        }
        let folder = self.folder.clone().unwrap_or_else(std::env::temp_dir);
        let own = tempfile::Builder::new().prefix("consilience-executor-").tempdir_in(folder);
        let own = own.map_err(failed)?;
        let resources = Resources::new(memory, Some(own.path().to_path_buf()));
        let config = Arc::new(self.config(resources, own.path().display().to_string()));
        let runtime = tokio::runtime::Runtime::new().map_err(failed)?;
        runtime.block_on(start_executor_process(config)).map_err(failed)
    }

    fn config(&self, resources: Resources, folder: String) -> ExecutorProcessConfig {
        let mut functions = BallistaFunctionRegistry::default();
        let function = perform_task(resources);
        functions.scalar_functions.insert(function.name().to_owned(), function);
        let certificates = self.certificates.clone();
        let address = self.scheduler.to_string();
        ExecutorProcessConfig {
            scheduler_host: self.scheduler.host(),
            scheduler_port: self.scheduler.port(),
            scheduler_connect_timeout_seconds: CONNECT,
            external_host: Some("executor".to_owned()),
            vcores: self.tasks,
            task_scheduling_policy: TaskSchedulingPolicy::PullStaged,
            work_dir: Some(folder),
            job_data_ttl_seconds: 600,
            job_data_clean_up_interval_seconds: 60,
            grpc_max_decoding_message_size: MESSAGE as u32,
            grpc_max_encoding_message_size: MESSAGE as u32,
            override_function_registry: Some(Arc::new(functions)),
            // Nobody fetches anything from an executor: it listens nowhere.
            override_arrow_flight_service: Some(Arc::new(|_, _, mut shutdown, _| {
                tokio::spawn(async move {
                    shutdown.recv().await;
                    Ok(())
                })
            })),
            override_create_grpc_client_endpoint: certificates.map(|certificates| {
                let endpoint = move |_| {
                    let endpoint = certificates.endpoint(&address)?;
                    let endpoint = endpoint
                        .connect_timeout(Duration::from_secs(5))
                        .timeout(Duration::from_secs(20))
                        .tcp_nodelay(true);
                    Ok(endpoint)
                };
                Arc::new(endpoint) as ballista_core::extension::EndpointOverrideFn
            }),
            ..ExecutorProcessConfig::default()
        }
    }
}
