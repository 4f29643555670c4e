//! All members, in parallel.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use consilience_core::{Ensemble, Features, Fit, Member, Observer, Report, Result, Status};

use super::Generator;
use super::member::member;

type Outcome = Option<Result<Fit<Member>>>;

pub(super) fn run(
    generator: &Generator,
    features: Features<'_>,
    total: usize,
    observer: &dyn Observer,
) -> Result<Fit<Ensemble>> {
    observer.check()?;
    let mut report = Report::default();
    let outcomes = report.stage("members", || all(generator, features, total, observer));
    let mut members = Vec::with_capacity(total);
    let (mut fewer, mut capped) = (0, 0);
    for outcome in outcomes.into_iter().flatten() {
        let fit = outcome?;
        capped += usize::from(fit.report.status == Status::MaxIterations);
        fewer += usize::from(fit.report.clusters_missing.is_some());
        members.push(fit.output);
    }
    if members.len() < total {
        // Only a cancelled run leaves members out.
        return Err(consilience_core::Error::cancelled());
    }
    if capped > 0 {
        report.status = Status::MaxIterations;
        report.notes.push(format!("{capped} of {total} members stopped at the cap on iterations"));
    }
    if fewer > 0 {
        report.clusters_missing = Some(fewer);
        report
            .notes
            .push(format!("{fewer} of {total} members have fewer clusters than drawn for them"));
    }
    Ok(Fit::new(Ensemble::mixed(members)?, report))
}

fn all(
    generator: &Generator,
    features: Features<'_>,
    total: usize,
    observer: &dyn Observer,
) -> Vec<Outcome> {
    let maps = generator.scale.maps_of(features);
    let threads = rayon::current_num_threads();
    let outcomes: Vec<Mutex<Outcome>> = (0..total).map(|_| Mutex::new(None)).collect();
    let (next, stop, done) = (AtomicUsize::new(0), AtomicBool::new(false), Mutex::new(0));
    // Members are handed out in order and never abandoned, so the first failure is the same at any
    // number of threads.
    let work = || {
        while !stop.load(Ordering::Relaxed) {
            let u = next.fetch_add(1, Ordering::Relaxed);
            if u >= total {
                break;
            }
            if observer.cancelled() {
                stop.store(true, Ordering::Relaxed);
                break;
            }
            let outcome =
                member(generator, features, maps.clone(), generator.member_seed(u), observer);
            if outcome.is_err() {
                stop.store(true, Ordering::Relaxed);
            }
            if let Ok(mut slot) = outcomes[u].lock() {
                *slot = Some(outcome);
            }
            if let Ok(mut done) = done.lock() {
                *done += 1;
                observer.progress("members", *done, total);
            }
        }
    };
    // As many workers as threads, not as many tasks as members: a member that waits for its own
    // parallel parts may start another worker meanwhile, but never more copies of the features than
    // there are threads. Threads without a member help the others with their parts.
    let workers = threads.min(total);
    let many = total >= 2 * threads || generator.clusterer.takes_little_memory();
    if workers > 1 && many {
        rayon::scope(|scope| (0..workers).for_each(|_| scope.spawn(|_| work())));
    } else {
        // One after another, each on the whole pool.
        work();
    }
    outcomes.into_iter().map(|slot| slot.into_inner().unwrap_or(None)).collect()
}
