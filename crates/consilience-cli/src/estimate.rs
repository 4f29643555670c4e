//! How long a command will take, said before a long one begins.

use std::time::{Duration, Instant};

use consilience::{ConsensusFunction, Ensemble, Microclusters, Observer, Result};
use indicatif::HumanDuration;

use crate::catalogue::Request;
use crate::memory;
use crate::terminal::Terminal;

/// Fewer different rows than this take no time that is worth a line. Most of the methods that
/// approximate beyond some size do so beyond this one.
const MANY: usize = 10_000;
/// Rows of the first trial; the second has twice as many.
const FEW: usize = 500;
/// A trial that takes less tells little, and is repeated with twice the rows.
const SHORT: Duration = Duration::from_millis(50);
/// What takes no longer is not announced.
const LONG: Duration = Duration::from_secs(20);

/// Pairs of rows that PCC is fitted to at most, where nothing else is asked for.
const PAIRS: f64 = 2e7;
/// More rows than this are too many for `auto` to try average linkage; and fewer than this it
/// compares on halves of the members with all rows, which takes four times as long.
const LINKAGE: usize = 30_000;
const COMPARED: usize = 2_000;
/// From so many rows on walks have their full length.
const WALKS: usize = 1_600;

/// Methods that do the same work whatever the size, so that few rows tell about many.
const STEADY: [&str; 19] = [
    "pta-al",
    "pta-cl",
    "pta-sl",
    "eac-al",
    "eac-cl",
    "eac-sl",
    "eac-ward",
    "weac-al",
    "lwea",
    "wct-al",
    "srs-al",
    "ecpcs-hc",
    "srw",
    "mm",
    "qmi",
    "diffusion",
    "ec-cms",
    "sdgca",
    "cspa",
];

/// Methods that are linear in the rows, beside what they do with the clusters of the members alone,
/// which few rows have as well.
const LINEAR: [&str; 7] =
    ["mcla", "hbgf", "lwgp", "gp-mgla", "ecpcs-mc", "voting", "least-squares"];

/// How time grows with the rows, as two trials show it.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Growth {
    /// By a power.
    Power,
    /// By a straight line.
    Line,
    /// In proportion to the pairs that are fitted, so many at most.
    Pairs(f64),
}

/// How the time of all rows follows from trials with few.
struct Plan {
    /// What is tried.
    request: Request,
    /// Rows of the first trial.
    first: usize,
    growth: Growth,
}

impl Plan {
    /// `None` where few rows tell nothing about as many as there are.
    fn of(request: &Request, nodes: &Microclusters) -> Option<Self> {
        let all = nodes.n_nodes();
        let plan = |request| Plan { request, first: FEW, growth: Growth::Power };
        let name = request.name();
        match name {
            // Beyond the limit of a matrix the walks are followed in another way.
            "ptgp" if !request.has("dense_limit") => {
                Some(Plan { first: WALKS, ..plan(request.with("dense_limit=0")) })
            }
            "pcc-kl" | "pcc-l2" => {
                let all = !request.has("pairs");
                let growth = if all { Growth::Pairs(PAIRS) } else { Growth::Power };
                Some(Plan { first: 2 * FEW, growth, ..plan(request.clone()) })
            }
            "auto" if all > LINKAGE || !nodes.is_complete() => Some(plan(request.by("diffusion")?)),
            "auto" => Some(Plan { first: COMPARED + FEW, ..plan(request.clone()) }),
            // Bytes for each pair of rows: the method itself will say that there are not so many.
            "ec-cms" if !memory::budget().allows_table(all, all, 12) => None,
            "sdgca" if !memory::budget().allows_table(all, all, 32) => None,
            _ if LINEAR.contains(&name) => {
                Some(Plan { growth: Growth::Line, ..plan(request.clone()) })
            }
            _ => STEADY.contains(&name).then(|| plan(request.clone())),
        }
    }

    /// The time for all rows, from trials.
    fn estimate(&self, all: usize, trial: &Trial<'_>) -> Result<Duration> {
        let Tried { rows, few, twice } = tried(self.first, MANY, |n| trial(&self.request, n))?;
        let times = all as f64 / rows as f64;
        Ok(match self.growth {
            Growth::Pairs(most) => in_proportion(twice, most / pairs(2 * rows)),
            Growth::Line => on_a_line(few, twice, times),
            Growth::Power => extrapolated(few, twice, times),
        })
    }
}

/// Two trials.
struct Tried {
    /// Rows of the first.
    rows: usize,
    few: Duration,
    /// With twice as many.
    twice: Duration,
}

/// Trials with so many rows and twice as many, or with more, up to `most`, where these are too
/// short to tell.
fn tried(
    first: usize,
    most: usize,
    mut trial: impl FnMut(usize) -> Result<Duration>,
) -> Result<Tried> {
    let mut rows = first;
    let (mut few, mut twice) = (trial(rows)?, trial(2 * rows)?);
    while twice < SHORT && 4 * rows <= most {
        rows *= 2;
        (few, twice) = (twice, trial(2 * rows)?);
    }
    Ok(Tried { rows, few, twice })
}

/// The time of a request on so many rows.
type Trial<'a> = dyn Fn(&Request, usize) -> Result<Duration> + 'a;

/// Cancels as the terminal does, and shows nothing.
struct Unseen<'a>(&'a Terminal);

impl Observer for Unseen<'_> {
    fn cancelled(&self) -> bool {
        self.0.cancelled()
    }
}

/// Says about how long the method will take where that is long, by trials on few of the rows, and
/// what U-SENC would take, to which `option` leads.
///
/// # Errors
/// Where the user cancels. A trial that fails says nothing: the method itself will.
pub(crate) fn announce(
    request: &Request,
    option: &str,
    ensemble: &Ensemble,
    terminal: &Terminal,
) -> Result<()> {
    if ensemble.n_objects() <= MANY || !terminal.talks() {
        return Ok(());
    }
    let observer = Unseen(terminal);
    let nodes = Microclusters::observed(ensemble, &observer)?;
    let all = nodes.n_nodes();
    if all <= MANY {
        return Ok(());
    }
    let Some(plan) = Plan::of(request, &nodes) else { return Ok(()) };
    let first = first_objects(&nodes);
    let trial = |request: &Request, rows: usize| -> Result<Duration> {
        let even: Vec<usize> = (0..rows).map(|r| first[r * all / rows]).collect();
        let some = ensemble.select_objects(&even)?;
        let start = Instant::now();
        request.run(&some, &observer)?;
        Ok(start.elapsed())
    };
    let estimated = plan.estimate(all, &trial);
    observer.check()?;
    let Ok(long) = estimated else { return Ok(()) };
    if long < LONG {
        return Ok(());
    }
    let mut line = format!("about {} for {all} different rows", HumanDuration(long));
    if let Some(faster) = request.replaced_by("usenc") {
        // Linear: ten thousand rows tell of all.
        if let Ok(time) = trial(&faster, MANY) {
            let time = in_proportion(time, all as f64 / MANY as f64).max(Duration::from_secs(1));
            line += &format!("; {option} usenc takes about {}", HumanDuration(time));
        }
    }
    observer.check()?;
    terminal.now(&line);
    Ok(())
}

/// Says about how long members will take where that is long, by trials with one member and few of
/// the objects: `one` makes a member of so many.
///
/// # Errors
/// Where the user cancels. A trial that fails says nothing: the generator itself will.
pub(crate) fn announce_members(
    objects: usize,
    members: usize,
    terminal: &Terminal,
    one: impl Fn(usize, &dyn Observer) -> Result<()>,
) -> Result<()> {
    if objects <= 4 * FEW || !terminal.talks() {
        return Ok(());
    }
    let observer = Unseen(terminal);
    let estimated = tried(FEW, objects / 2, |rows| {
        let start = Instant::now();
        one(rows, &observer)?;
        Ok(start.elapsed())
    });
    observer.check()?;
    let Ok(Tried { rows, few, twice }) = estimated else { return Ok(()) };
    let each = extrapolated(few, twice, objects as f64 / rows as f64);
    // Members are made side by side.
    let rounds = members.div_ceil(rayon::current_num_threads().max(1));
    let long = in_proportion(each, rounds as f64);
    if long >= LONG {
        terminal.now(&format!("about {} for {members} members", HumanDuration(long)));
    }
    Ok(())
}

/// Pairs of so many rows.
fn pairs(rows: usize) -> f64 {
    0.5 * rows as f64 * rows as f64
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
    in_proportion(Duration::from_secs_f64(twice), (times / 2.0).powf(power))
}

/// The same where time is a part that does not grow and a part in proportion to the rows.
fn on_a_line(few: Duration, twice: Duration, times: f64) -> Duration {
    let more = in_proportion(twice.saturating_sub(few), (times - 2.0).max(0.0));
    twice.saturating_add(more)
}

fn in_proportion(time: Duration, times: f64) -> Duration {
    Duration::try_from_secs_f64(time.as_secs_f64() * times).unwrap_or(Duration::MAX)
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
        // Half of the first trial does not grow.
        assert!(near(on_a_line(ms(20), ms(30), 100.0), 1.01));
        assert!(near(on_a_line(ms(20), ms(10), 100.0), 0.01));
    }

    #[test]
    fn short_trials_are_repeated_with_more_rows() {
        let mut asked = Vec::new();
        let found = tried(500, 10_000, |rows| {
            asked.push(rows);
            Ok(Duration::from_micros(10 * rows as u64))
        });
        let Tried { rows, few, twice } = found.unwrap();
        assert_eq!((rows, asked), (4_000, vec![500, 1_000, 2_000, 4_000, 8_000]));
        assert_eq!((few, twice), (Duration::from_millis(40), Duration::from_millis(80)));
    }

    #[test]
    fn plans_try_what_all_rows_would_do() {
        use crate::args::Count;
        use consilience::Partition;
        let labels = |unlabelled: bool| -> Vec<i64> {
            (0..9).map(|i| if unlabelled && i == 4 { -1 } else { i }).collect()
        };
        let nodes = |unlabelled| {
            let members = [labels(unlabelled), vec![0; 9]];
            let members = members.iter().map(|m| Partition::from_labels(m).unwrap()).collect();
            Microclusters::of(&Ensemble::new(members).unwrap()).unwrap()
        };
        let plan = |method: &str, params: &[&str], unlabelled: bool| {
            let params: Vec<String> = params.iter().map(|p| p.to_string()).collect();
            let request = Request::parse(method, Some(Count::Fixed(3)), &params, 0).unwrap();
            Plan::of(&request, &nodes(unlabelled))
        };
        assert!(plan("ptgp", &[], false).unwrap().request.has("dense_limit"));
        assert!(plan("ptgp", &["dense_limit=7"], false).is_none());
        assert_eq!(plan("auto", &[], true).unwrap().request.name(), "diffusion");
        assert_eq!(plan("auto", &[], false).unwrap().request.name(), "auto");
        assert_eq!(plan("pcc-kl", &[], false).unwrap().growth, Growth::Pairs(PAIRS));
        assert_eq!(plan("pcc-kl", &["pairs=0.5"], false).unwrap().growth, Growth::Power);
        assert_eq!(plan("lwea", &[], false).unwrap().first, FEW);
        assert_eq!(plan("voting", &[], false).unwrap().growth, Growth::Line);
        assert_eq!(plan("sdgca", &[], false).unwrap().growth, Growth::Power);
        // It takes seconds whatever comes.
        assert!(plan("usenc", &[], false).is_none());
    }
}
