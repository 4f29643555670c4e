//! How long a consensus will take, said before a long one begins.

use std::time::{Duration, Instant};

use consilience::{ConsensusFunction, Ensemble, Microclusters, Observer, Result};
use indicatif::HumanDuration;

use crate::catalogue::Request;
use crate::terminal::Terminal;

/// Fewer different rows than this take no time that is worth a line.
const MANY: usize = 10_000;
/// Rows of the two trials.
const FEW: usize = 500;
/// What takes no longer is not announced.
const LONG: Duration = Duration::from_secs(20);

/// Methods that do the same work whatever the size, so that few rows tell about many. Others
/// approximate beyond some size.
const STEADY: [&str; 15] = [
    "pta-al", "pta-cl", "pta-sl", "eac-al", "eac-cl", "eac-sl", "eac-ward", "weac-al", "lwea",
    "wct-al", "srs-al", "ecpcs-hc", "srw", "mm", "qmi",
];

/// Cancels as the terminal does, and shows nothing.
struct Unseen<'a>(&'a Terminal);

impl Observer for Unseen<'_> {
    fn cancelled(&self) -> bool {
        self.0.cancelled()
    }
}

/// Says about how long the method will take where that is long, by trials on few of the rows, and
/// what U-SENC would take.
///
/// # Errors
/// Where the user cancels. A trial that fails says nothing: the method itself will.
pub(crate) fn announce(request: &Request, ensemble: &Ensemble, terminal: &Terminal) -> Result<()> {
    let steady = STEADY.contains(&request.name());
    if !steady || ensemble.n_objects() < MANY || !terminal.talks() {
        return Ok(());
    }
    let observer = Unseen(terminal);
    let nodes = Microclusters::observed(ensemble, &observer)?;
    let all = nodes.n_nodes();
    if all < MANY {
        return Ok(());
    }
    let first = first_objects(&nodes);
    let trial = |request: &Request, rows: usize| -> Result<Duration> {
        let even: Vec<usize> = (0..rows).map(|r| first[r * all / rows]).collect();
        let some = ensemble.select_objects(&even)?;
        let start = Instant::now();
        request.run(&some, &observer)?;
        Ok(start.elapsed())
    };
    let estimated = trial(request, FEW)
        .and_then(|few| Ok(extrapolated(few, trial(request, 2 * FEW)?, all as f64 / FEW as f64)));
    observer.check()?;
    let Ok(long) = estimated else { return Ok(()) };
    if long < LONG {
        return Ok(());
    }
    let mut line = format!("about {} for {all} different rows", HumanDuration(long));
    if let Some(faster) = request.replaced_by("usenc") {
        // Linear: ten thousand rows tell of all.
        if let Ok(time) = trial(&faster, MANY) {
            let time = time.mul_f64(all as f64 / MANY as f64).max(Duration::from_secs(1));
            line += &format!("; --method usenc takes about {}", HumanDuration(time));
        }
    }
    observer.check()?;
    terminal.now(&line);
    Ok(())
}

/// The first object of each microcluster.
fn first_objects(nodes: &Microclusters) -> Vec<usize> {
    let mut first = Vec::with_capacity(nodes.n_nodes());
    for (object, &node) in nodes.grouping().of_object().iter().enumerate() {
        if node as usize == first.len() {
            first.push(object);
        }
    }
    first
}

/// The time for `times` as many rows as the first trial had; the second had twice as many. The
/// power by which it grows is at least 1 and at most 3.
fn extrapolated(few: Duration, twice: Duration, times: f64) -> Duration {
    let (few, twice) = (few.as_secs_f64().max(1e-6), twice.as_secs_f64().max(1e-6));
    let power = (twice / few).log2().clamp(1.0, 3.0);
    let seconds = twice * (times / 2.0).powf(power);
    Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_grow_by_the_power_that_the_trials_show() {
        let ms = Duration::from_millis;
        let near = |time: Duration, seconds: f64| (time.as_secs_f64() / seconds - 1.0).abs() < 1e-9;
        assert!(near(extrapolated(ms(10), ms(20), 100.0), 1.0));
        assert!(near(extrapolated(ms(10), ms(40), 100.0), 100.0));
        assert!(near(extrapolated(ms(10), ms(80), 100.0), 10_000.0));
        // Trials too short to tell are taken for linear, and odd ones for cubic at most.
        assert!(near(extrapolated(ms(10), ms(5), 100.0), 0.25));
        assert!(near(extrapolated(ms(1), ms(1000), 4.0), 8.0));
    }
}
