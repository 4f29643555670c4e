//! `consilience-engine scheduler` and `executor`, and who asks them for work.

use std::time::Duration;

use consilience_ballista as ballista;

use crate::args::{Certificates, Cluster, Executor, Scheduler};
use crate::failure::Outcome;
use crate::{memory, summary};

/// The machines that the options name.
pub(crate) fn of(cluster: &Cluster) -> Outcome<Option<ballista::Machines>> {
    let Some(scheduler) = cluster.scheduler.clone() else { return Ok(None) };
    let machines = ballista::Machines::at(scheduler)
        .patience(Duration::from_secs(cluster.patience))
        .tries(cluster.tries);
    Ok(Some(match certificates(&cluster.certificates)? {
        Some(own) => machines.certificates(own),
        None => machines,
    }))
}

/// Hands out work until the process is ended.
pub(crate) fn scheduler(args: &Scheduler) -> Outcome<()> {
    let scheduler = ballista::Scheduler::bind(args.listen, certificates(&args.certificates)?)?;
    summary::print(&format!("listening on {}\n", scheduler.address()))?;
    Ok(scheduler.run()?)
}

/// Works until the process is ended.
pub(crate) fn executor(args: &Executor) -> Outcome<()> {
    memory::limit(args.memory.as_deref())?;
    let mut executor =
        ballista::Executor::of(args.scheduler.clone()).memory(memory::budget().n_bytes());
    if let Some(tasks) = args.tasks {
        executor = executor.tasks(tasks);
    }
    if let Some(folder) = &args.spill {
        executor = executor.folder(folder);
    }
    if let Some(own) = certificates(&args.certificates)? {
        executor = executor.certificates(own);
    }
    Ok(executor.run()?)
}

fn certificates(args: &Certificates) -> Outcome<Option<ballista::Certificates>> {
    let Some(folder) = &args.certificates else { return Ok(None) };
    let at = |name| folder.join(name);
    let own = ballista::Certificates::read(at("ca.pem"), at("cert.pem"), at("key.pem"))?;
    Ok(Some(own.name(&args.scheduler_name)))
}
