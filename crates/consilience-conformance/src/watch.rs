//! Observers that check, and the runs under several numbers of threads.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::ThreadPoolBuilder;

use crate::{broken, hold};
use consilience_core::{ErrorKind, Fit, Observer, Report, Result};

/// Numbers of threads at which the bits must be those of the first run, on one thread.
const THREADS: [usize; 4] = [1, 2, 3, 8];

/// Asks to stop from the given query on.
#[doc(hidden)]
#[derive(Debug)]
pub struct CancelFrom {
    query: usize,
    asked: AtomicUsize,
}

impl CancelFrom {
    #[doc(hidden)]
    pub fn new(query: usize) -> Self {
        CancelFrom { query, asked: AtomicUsize::new(0) }
    }

    /// How often it was asked.
    #[doc(hidden)]
    pub fn asked(&self) -> usize {
        self.asked.load(Ordering::Relaxed)
    }
}

impl Observer for CancelFrom {
    fn cancelled(&self) -> bool {
        self.asked.fetch_add(1, Ordering::Relaxed) >= self.query
    }
}

/// Writes down the first progress report that cannot be.
#[derive(Default)]
struct ProgressLaw(Mutex<Option<String>>);

impl Observer for ProgressLaw {
    fn progress(&self, stage: &str, done: usize, total: usize) {
        if (done > total || stage.is_empty())
            && let Ok(mut first) = self.0.lock()
        {
            first.get_or_insert_with(|| format!("stage {stage:?}: {done} of {total} done"));
        }
    }
}

/// A call that takes an observer.
type Observed<'a, T> = &'a (dyn Fn(&dyn Observer) -> Result<Fit<T>> + Sync);

/// Runs a call whose panic is a broken law.
pub(super) fn no_panic<T>(law: &str, input: &str, call: impl FnOnce() -> T) -> T {
    match catch_unwind(AssertUnwindSafe(call)) {
        Ok(out) => out,
        Err(cause) => {
            let said = cause
                .downcast_ref::<String>()
                .map(String::as_str)
                .or_else(|| cause.downcast_ref::<&str>().copied());
            match said {
                // A law that is checked inside, already named.
                Some(said) if said.starts_with("law broken") => resume_unwind(cause),
                Some(said) => broken(law, format!("panicked ({said}) on {input}")),
                None => broken(law, format!("panicked on {input}")),
            }
        }
    }
}

/// A run that must succeed.
pub(super) fn succeed<T>(law: &str, input: &str, run: impl FnOnce() -> Result<Fit<T>>) -> Fit<T> {
    match no_panic(law, input, run) {
        Ok(fit) => fit,
        Err(e) => broken(law, format!("error {:?} ({e}) on {input}", e.kind())),
    }
}

/// A run that must fail with this kind, and a message that holds these numbers.
pub(super) fn refuse<T>(
    law: &str,
    input: &str,
    kind: ErrorKind,
    numbers: &[usize],
    run: impl FnOnce() -> Result<Fit<T>>,
) {
    let Err(e) = no_panic(law, input, run) else {
        broken(law, format!("accepted {input}; expected error {kind:?}"));
    };
    hold(law, e.kind() == kind, || format!("{:?} ({e}) instead of {kind:?} on {input}", e.kind()));
    let said: Vec<usize> =
        e.message().split(|c: char| !c.is_ascii_digit()).filter_map(|w| w.parse().ok()).collect();
    for number in numbers {
        hold(law, said.contains(number), || {
            format!("message \"{e}\" does not hold {number} on {input}")
        });
    }
}

/// The same bits whatever the number of threads, and on every call.
pub(super) fn threads<T: PartialEq + Send>(law: &str, input: &str, run: Observed<'_, T>) {
    let on = |threads: usize| {
        let pool = match ThreadPoolBuilder::new().num_threads(threads).build() {
            Ok(pool) => pool,
            Err(e) => broken(law, format!("no pool of {threads} threads: {e}")),
        };
        pool.install(|| succeed(law, input, || run(&())))
    };
    let first = on(1);
    for threads in THREADS {
        let again = on(threads);
        hold(law, again.output == first.output, || {
            format!("another result with {threads} threads on {input}")
        });
        hold(law, facts(&again.report) == facts(&first.report), || {
            format!("another report with {threads} threads on {input}")
        });
    }
}

/// The report without its times; floats by their bits.
fn facts(report: &Report) -> impl PartialEq {
    (
        report.status,
        report.iterations,
        report.objective.map(f64::to_bits),
        report.microclusters,
        report.error_bound.map(f64::to_bits),
        report.clusters_missing,
        report.notes.clone(),
    )
}

/// Cancelled from the start: error `Cancelled`. Cancelled later: that, or the result as ever where
/// nobody asked any more.
pub(super) fn cancellation<T: PartialEq>(law: &str, input: &str, run: Observed<'_, T>) {
    let counts = CancelFrom::new(usize::MAX);
    let whole = succeed(law, input, || run(&counts));
    let all = counts.asked();
    let mut queries = vec![0, 1, 2, 5, 20, all / 2, all.saturating_sub(1)];
    queries.sort_unstable();
    queries.dedup();
    for query in queries {
        let observer = CancelFrom::new(query);
        match no_panic(law, input, || run(&observer)) {
            Err(e) => hold(law, e.kind() == ErrorKind::Cancelled, || {
                format!("{:?} ({e}) instead of Cancelled on {input}", e.kind())
            }),
            Ok(fit) => {
                hold(law, query > 0, || {
                    format!("finished although cancelled from the start, on {input}")
                });
                hold(law, fit.output == whole.output, || {
                    format!(
                        "cancelled at query {query}, but a different result came back, on {input}"
                    )
                });
                hold(law, observer.asked.into_inner() <= query, || {
                    format!("heard at query {query} that it should stop, and went on, on {input}")
                });
            }
        }
    }
}

/// Progress never beyond its total, never without a stage, and without effect on the result.
pub(super) fn progress<T: PartialEq>(law: &str, input: &str, run: Observed<'_, T>) {
    let observer = ProgressLaw::default();
    let watched = succeed(law, input, || run(&observer));
    let alone = succeed(law, input, || run(&()));
    hold(law, watched.output == alone.output, || {
        format!("an observer changes the result on {input}")
    });
    hold(law, facts(&watched.report) == facts(&alone.report), || {
        format!("an observer changes the report on {input}")
    });
    if let Ok(Some(said)) = observer.0.into_inner() {
        broken(law, format!("{said}, on {input}"));
    }
}
