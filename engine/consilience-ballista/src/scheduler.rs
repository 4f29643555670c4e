use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;

use ballista_core::config::TaskSchedulingPolicy;
use ballista_core::serde::protobuf::scheduler_grpc_server::SchedulerGrpcServer;
use ballista_scheduler::cluster::BallistaCluster;
use ballista_scheduler::config::SchedulerConfig;
use ballista_scheduler::scheduler_process::create_scheduler;
use consilience::Result;
use consilience_datafusion::remote::Resources;
use datafusion::execution::SessionStateBuilder;
use datafusion::execution::registry::FunctionRegistry;
use datafusion_proto::protobuf::{LogicalPlanNode, PhysicalPlanNode};
use tonic::transport::Server;
use tonic::transport::server::TcpIncoming;

use crate::address;
use crate::certificates::Certificates;
use crate::failed;
use crate::function::perform_task;

/// Seconds without a word from an executor until its tasks go to others. Executors that are busy
/// speak every five seconds.
const SILENCE: u64 = 15;
/// Seconds between looks at who has been silent.
const LOOK: u64 = 1;
/// Bytes of a message: a plan has one task for each file of a table.
pub(crate) const MESSAGE: usize = 256 << 20;

/// Hands tasks to executors.
///
/// ```no_run
/// use consilience_ballista::Scheduler;
///
/// let scheduler = Scheduler::bind("127.0.0.1:50050".parse().unwrap(), None)?;
/// println!("listening on {}", scheduler.address());
/// scheduler.run()?; // until the process ends
/// # Ok::<(), consilience::Error>(())
/// ```
#[derive(Debug)]
pub struct Scheduler {
    listener: TcpListener,
    address: SocketAddr,
    certificates: Option<Certificates>,
}

impl Scheduler {
    /// Listens; port 0 is any free one.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidParameter`](consilience::ErrorKind::InvalidParameter) for an address
    /// beyond loopback without certificates, [`ErrorKind::Io`](consilience::ErrorKind::Io) where
    /// the address is taken.
    pub fn bind(address: SocketAddr, certificates: Option<Certificates>) -> Result<Self> {
        address::check(address, certificates.as_ref())?;
        let place = |error: std::io::Error| failed(format!("{address}: {error}"));
        let listener = TcpListener::bind(address).map_err(place)?;
        listener.set_nonblocking(true).map_err(place)?;
        let address = listener.local_addr().map_err(place)?;
        Ok(Scheduler { listener, address, certificates })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves until the process ends. All that it knows is in memory: a scheduler that is started
    /// again knows no job, and is told of its tasks anew.
    ///
    /// # Errors
    /// [`ErrorKind::Io`](consilience::ErrorKind::Io) where it cannot go on.
    pub fn run(self) -> Result<()> {
        let runtime = tokio::runtime::Runtime::new().map_err(failed)?;
        runtime.block_on(self.serve())
    }

    async fn serve(self) -> Result<()> {
        let config = Arc::new(self.config());
        let cluster = BallistaCluster::new_from_config(&config).await.map_err(failed)?;
        let scheduler = create_scheduler::<LogicalPlanNode, PhysicalPlanNode>(cluster, config);
        let scheduler = scheduler.await.map_err(failed)?;
        let service = SchedulerGrpcServer::new(scheduler)
            .max_decoding_message_size(MESSAGE)
            .max_encoding_message_size(MESSAGE);
        let mut server = Server::builder();
        if let Some(certificates) = &self.certificates {
            server = certificates.server(server).map_err(failed)?;
        }
        let listener = tokio::net::TcpListener::from_std(self.listener).map_err(failed)?;
        let incoming = TcpIncoming::from(listener).with_nodelay(Some(true));
        server.add_service(service).serve_with_incoming(incoming).await.map_err(failed)
    }

    fn config(&self) -> SchedulerConfig {
        let state = |config| {
            let builder = SessionStateBuilder::new().with_config(config);
            let mut state = builder.with_default_features().build();
            state.register_udf(perform_task(Resources::default()))?;
            Ok(state)
        };
        SchedulerConfig {
            external_host: self.address.ip().to_string(),
            bind_host: self.address.ip().to_string(),
            bind_port: self.address.port(),
            scheduling_policy: TaskSchedulingPolicy::PullStaged,
            executor_timeout_seconds: SILENCE,
            expire_dead_executor_interval_seconds: LOOK,
            no_executors_grace_period_seconds: SILENCE,
            finished_job_data_clean_up_interval_seconds: 60,
            finished_job_state_clean_up_interval_seconds: 60,
            override_session_builder: Some(Arc::new(state)),
            ..SchedulerConfig::default()
        }
    }
}
