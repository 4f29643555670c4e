use std::sync::Arc;
use std::time::{Duration, Instant};

use ballista_core::config::{
    BALLISTA_ADAPTIVE_PLANNER_ENABLED, BALLISTA_SCHEDULER_MAX_PARTITIONS_PER_TASK,
};
use ballista_core::serde::protobuf::execute_query_params::Query;
use ballista_core::serde::protobuf::execute_query_result::Result as Submitted;
use ballista_core::serde::protobuf::job_status::Status;
use ballista_core::serde::protobuf::scheduler_grpc_client::SchedulerGrpcClient;
use ballista_core::serde::protobuf::{
    CancelJobParams, ExecuteQueryParams, GetJobStatusParams, KeyValuePair,
};
use ballista_core::version;
use consilience::{Observer, Result};
use consilience_datafusion::remote::{Cluster, Job, Resources, Task};
use datafusion::arrow::array::BinaryArray;
use datafusion::arrow::datatypes::{DataType, Field, Schema};
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::config::ConfigOptions;
use datafusion::datasource::memory::MemorySourceConfig;
use datafusion::physical_expr::ScalarFunctionExpr;
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::projection::ProjectionExec;
use datafusion_proto::physical_plan::{AsExecutionPlan, DefaultPhysicalExtensionCodec};
use datafusion_proto::protobuf::PhysicalPlanNode;
use tonic::transport::{Channel, Endpoint};

use crate::address::Address;
use crate::certificates::Certificates;
use crate::failed;
use crate::function::perform_task;
use crate::scheduler::MESSAGE;

/// How often answers are looked for, unless looking takes long itself.
const LOOK: Duration = Duration::from_millis(50);
/// How long a single call may take.
const CALL: Duration = Duration::from_secs(20);
/// How long answers may take to be seen here after a job is done.
const SEEN: Duration = Duration::from_secs(5);
/// What a row may cost at most, once a machine works on its file.
const ROW: Duration = Duration::from_micros(20);
/// The first pause between two tries; each is twice as long as the one before.
const PAUSE: Duration = Duration::from_millis(250);

/// The executors of a scheduler, as a [`Cluster`].
///
/// ```
/// use std::time::Duration;
///
/// use consilience_ballista::Machines;
///
/// let machines = Machines::at("127.0.0.1:50050".parse()?)
///     .tries(3)
///     .patience(Duration::from_secs(30));
/// # let _ = machines;
/// # Ok::<(), consilience::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Machines {
    scheduler: Address,
    certificates: Option<Certificates>,
    tries: usize,
    patience: Duration,
}

/// Why an attempt ended before all was done.
struct Again(String);

type Attempt<T> = std::result::Result<T, Again>;

impl Machines {
    /// Those of the scheduler that listens there.
    pub fn at(scheduler: Address) -> Self {
        Machines { scheduler, certificates: None, tries: 4, patience: Duration::from_secs(60) }
    }

    /// The certificates of this party. Default none, for a scheduler on loopback.
    pub fn certificates(mut self, certificates: Certificates) -> Self {
        self.certificates = Some(certificates);
        self
    }

    /// How often tasks are handed out, without an answer in between, until it is given up. Default
    /// 4; at least 1.
    pub fn tries(mut self, tries: usize) -> Self {
        self.tries = tries.max(1);
        self
    }

    /// How long one try waits for an answer, beside 20 microseconds for each row of the largest
    /// file, and how long to wait for a scheduler that does not answer. Default a minute.
    pub fn patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }
}

impl Cluster for Machines {
    fn run(&self, job: &Job, observer: &dyn Observer) -> Result<()> {
        self.scheduler.check(self.certificates.as_ref())?;
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(failed)?;
        let patience = self.patience + ROW.saturating_mul(job.most_rows().min(1 << 31) as u32);
        let now = Instant::now();
        let mut run = Run { job, observer, patience, done: 0, since: now, tries: 0, reached: now };
        loop {
            if run.look()? {
                return Ok(());
            }
            let before = run.done;
            match runtime.block_on(self.attempt(&mut run))? {
                Ok(()) => return Ok(()),
                Err(Again(why)) => {
                    run.tries = if run.done > before { 1 } else { run.tries + 1 };
                    let over = match why.starts_with(UNREACHABLE) {
                        true => run.reached.elapsed() >= self.patience,
                        false => run.tries >= self.tries,
                    };
                    if over {
                        let stage = job.stage();
                        return Err(failed(format!("the cluster gave up {stage}: {why}")));
                    }
                    run.rest(PAUSE * (1 << run.tries.min(5)))?;
                }
            }
        }
    }
}

const UNREACHABLE: &str = "no scheduler";

/// A job under way.
struct Run<'a> {
    job: &'a Job,
    observer: &'a dyn Observer,
    patience: Duration,
    /// Rows of the files that are done, and since when.
    done: u64,
    since: Instant,
    /// Tries without an answer in between.
    tries: usize,
    /// When the scheduler answered last.
    reached: Instant,
}

impl Run<'_> {
    /// Looks for answers; whether all are there.
    fn look(&mut self) -> Result<bool> {
        self.observer.check()?;
        let open = self.job.open()?;
        let done = self.job.rows_done()?;
        if done > self.done || open.is_empty() {
            (self.done, self.since) = (done, Instant::now());
        }
        self.observer.progress(self.job.stage(), done as usize, self.job.rows() as usize);
        Ok(open.is_empty())
    }

    /// Sleeps, unless the observer has enough.
    fn rest(&self, pause: Duration) -> Result<()> {
        let end = Instant::now() + pause;
        while Instant::now() < end {
            self.observer.check()?;
            std::thread::sleep(LOOK);
        }
        Ok(())
    }
}

impl Machines {
    /// Hands out all tasks that have no answer, and waits for the answers.
    async fn attempt(&self, run: &mut Run<'_>) -> Result<Attempt<()>> {
        let mut scheduler = match self.connect().await {
            Ok(scheduler) => scheduler,
            Err(again) => return Ok(Err(again)),
        };
        let id = match submit(&mut scheduler, &run.job.open()?).await? {
            Ok(id) => id,
            Err(again) => return Ok(Err(again)),
        };
        let waited = wait(&mut scheduler, &id, run).await;
        if !matches!(waited, Ok(Ok(()))) || !run.job.open()?.is_empty() {
            // Nobody is to go on with it; that the call fails changes nothing.
            let cancel = scheduler.cancel_job(CancelJobParams { job_id: id });
            let _ = tokio::time::timeout(Duration::from_secs(2), cancel).await;
        }
        waited
    }

    async fn connect(&self) -> Attempt<SchedulerGrpcClient<Channel>> {
        let address = &self.scheduler;
        let endpoint = match &self.certificates {
            Some(certificates) => certificates.endpoint(&address.to_string()),
            None => Endpoint::from_shared(format!("http://{address}")),
        };
        let unreachable = |error: tonic::transport::Error| {
            let mut why: &dyn std::error::Error = &error;
            while let Some(deeper) = why.source() {
                why = deeper;
            }
            Again(format!("{UNREACHABLE} answers at {address}: {why}"))
        };
        let endpoint = endpoint.map_err(unreachable)?;
        let endpoint = endpoint.connect_timeout(Duration::from_secs(5)).timeout(CALL);
        let channel = endpoint.connect().await.map_err(unreachable)?;
        let client = SchedulerGrpcClient::new(channel);
        Ok(client.max_decoding_message_size(MESSAGE).max_encoding_message_size(MESSAGE))
    }
}

/// Hands the tasks to the scheduler; the name of the job.
async fn submit(
    scheduler: &mut SchedulerGrpcClient<Channel>,
    tasks: &[&Task],
) -> Result<Attempt<String>> {
    let plan = plan(tasks).map_err(failed)?;
    let node = PhysicalPlanNode::try_from_physical_plan(plan, &DefaultPhysicalExtensionCodec {});
    let mut bytes = Vec::new();
    node.and_then(|node| node.try_encode(&mut bytes)).map_err(failed)?;
    let setting = |key: &str, value: &str| KeyValuePair {
        key: key.to_owned(),
        value: Some(value.to_owned()),
    };
    let mut request = tonic::Request::new(ExecuteQueryParams {
        query: Some(Query::PhysicalPlan(bytes)),
        settings: vec![
            setting(BALLISTA_SCHEDULER_MAX_PARTITIONS_PER_TASK, "1"),
            setting(BALLISTA_ADAPTIVE_PLANNER_ENABLED, "false"),
        ],
        ..ExecuteQueryParams::default()
    });
    version::insert_version_header(request.metadata_mut());
    let answer = match scheduler.execute_query(request).await {
        Ok(answer) => answer.into_inner().result,
        Err(status) => return Ok(Err(called(&status))),
    };
    match answer {
        Some(Submitted::Success(job)) => Ok(Ok(job.job_id)),
        Some(Submitted::Failure(why)) => Ok(Err(Again(format!("refused: {:?}", why.failure)))),
        None => Ok(Err(Again("the scheduler answered nothing".to_owned()))),
    }
}

/// One partition for each task, and the function over it: a single stage.
fn plan(tasks: &[&Task]) -> datafusion::common::Result<Arc<dyn ExecutionPlan>> {
    let schema = Arc::new(Schema::new(vec![Field::new("task", DataType::Binary, false)]));
    let batch = |task: &&Task| {
        let task = BinaryArray::from_vec(vec![task.bytes()]);
        RecordBatch::try_new(schema.clone(), vec![Arc::new(task)]).map(|batch| vec![batch])
    };
    let partitions = tasks.iter().map(batch).collect::<std::result::Result<Vec<_>, _>>()?;
    let scan = MemorySourceConfig::try_new_exec(&partitions, schema.clone(), None)?;
    let function = ScalarFunctionExpr::try_new(
        perform_task(Resources::default()),
        vec![Arc::new(Column::new("task", 0))],
        &schema,
        Arc::new(ConfigOptions::default()),
    )?;
    let done = vec![(Arc::new(function) as _, "done".to_owned())];
    Ok(Arc::new(ProjectionExec::try_new(done, scan)?))
}

/// Waits until all tasks are answered, whatever the scheduler says; it is asked for failures alone.
async fn wait(
    scheduler: &mut SchedulerGrpcClient<Channel>,
    id: &str,
    run: &mut Run<'_>,
) -> Result<Attempt<()>> {
    // The attempt has its own time; what was waited for before does not count.
    run.since = run.since.max(Instant::now());
    let mut ended: Option<Instant> = None;
    loop {
        let start = Instant::now();
        if run.look()? {
            return Ok(Ok(()));
        }
        if run.since.elapsed() > run.patience {
            let seconds = run.patience.as_secs();
            return Ok(Err(Again(format!("no answer from any machine for {seconds} s"))));
        }
        let asked = GetJobStatusParams { job_id: id.to_owned() };
        let status = match scheduler.get_job_status(asked).await {
            Ok(answer) => {
                run.reached = Instant::now();
                answer.into_inner().status.and_then(|status| status.status)
            }
            Err(status) => return Ok(Err(called(&status))),
        };
        match status {
            Some(Status::Failed(job)) => return Ok(Err(Again(job.error))),
            Some(Status::Successful(_)) => {
                let since = *ended.get_or_insert_with(Instant::now);
                if since.elapsed() > SEEN {
                    let why = "the scheduler calls tasks done whose answers are not there";
                    return Ok(Err(Again(why.to_owned())));
                }
            }
            // A scheduler that was started again has never heard of the job.
            None => {
                let since = *ended.get_or_insert_with(Instant::now);
                if since.elapsed() > SEEN {
                    return Ok(Err(Again("the scheduler does not know the job".to_owned())));
                }
            }
            Some(_) => ended = None,
        }
        tokio::time::sleep(LOOK.max(20 * start.elapsed())).await;
    }
}

/// A call that failed.
fn called(status: &tonic::Status) -> Again {
    match status.code() {
        tonic::Code::Unavailable | tonic::Code::DeadlineExceeded | tonic::Code::Cancelled => {
            Again(format!("{UNREACHABLE} answers: {}", status.message()))
        }
        _ => Again(status.message().to_owned()),
    }
}
