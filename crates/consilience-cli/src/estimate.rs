//! How long a command will take, said before a long one begins.

use std::time::{Duration, Instant};

use consilience::{ConsensusFunction, Ensemble, MemoryBudget, Microclusters, Observer, Result};
use indicatif::HumanDuration;

use crate::catalogue::Request;
use crate::memory;
use crate::terminal::Terminal;

/// Fewer different rows than this take no time that is worth a line. Most of the methods that
/// approximate beyond some size do so beyond this one.
const MANY: usize = 10_000;
/// Rows of the first trial; the second has twice as many.
const FEW: usize = 500;
/// Rows of a trial at most, where time is in proportion to them.
const ENOUGH: usize = 64_000;
/// A trial that takes less tells little, and is repeated with twice the rows.
const SHORT: Duration = Duration::from_millis(200);
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

/// Methods that do the same work whatever the size, so that few rows tell about many: by which
/// power of the rows time grows at most, and how many bytes they take for each pair of rows.
const STEADY: [(&str, f64, usize); 19] = [
    ("pta-al", 3.0, 16),
    ("pta-cl", 3.0, 16),
    ("pta-sl", 3.0, 16),
    ("eac-al", 2.0, 0),
    ("eac-cl", 2.0, 1),
    ("eac-sl", 2.0, 1),
    ("eac-ward", 2.0, 8),
    ("weac-al", 2.0, 0),
    ("lwea", 2.0, 0),
    ("wct-al", 2.0, 8),
    ("srs-al", 2.0, 8),
    ("ecpcs-hc", 2.0, 8),
    ("srw", 3.0, 16),
    ("mm", 1.0, 0),
    ("qmi", 1.0, 0),
    ("diffusion", 1.0, 0),
    ("ec-cms", 3.0, 12),
    ("sdgca", 3.0, 32),
    ("cspa", 1.0, 0),
];

/// Bytes for each pair of rows of [`STEADY`] methods without any, where labels are missing.
const INCOMPLETE: usize = 8;

/// Methods that are linear in the rows, beside what they do with the clusters of the members alone,
/// which few rows have as well.
const LINEAR: [&str; 7] =
    ["mcla", "hbgf", "lwgp", "gp-mgla", "ecpcs-mc", "voting", "least-squares"];

/// How time grows with the rows, as two trials show it.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Growth {
    /// By a power, which is so much at most.
    Power(f64),
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
    fn of(request: &Request, nodes: &Microclusters, budget: MemoryBudget) -> Option<Self> {
        let all = nodes.n_nodes();
        let plan = |request, growth| Plan { request, first: FEW, growth };
        let name = request.name();
        match name {
            // Beyond the limit of a matrix the walks are followed in another way.
            "ptgp" if !request.has("dense_limit") => {
                let request = request.with("dense_limit=0");
                Some(Plan { first: WALKS, ..plan(request, Growth::Power(2.0)) })
            }
            "pcc-kl" | "pcc-l2" => {
                let all = !request.has("pairs");
                let growth = if all { Growth::Pairs(PAIRS) } else { Growth::Power(2.0) };
                Some(Plan { first: 2 * FEW, ..plan(request.clone(), growth) })
            }
            "auto" if all > LINKAGE || !nodes.is_complete() => {
                Some(plan(request.by("diffusion")?, Growth::Power(1.0)))
            }
            "auto" => {
                let first = COMPARED + FEW;
                Some(Plan { first, ..plan(request.clone(), Growth::Power(2.0)) })
            }
            _ if LINEAR.contains(&name) => Some(plan(request.clone(), Growth::Line)),
            _ => {
                let &(_, power, bytes) = STEADY.iter().find(|(steady, ..)| *steady == name)?;
                let lists = bytes == 0 && power > 1.0;
                let bytes = if lists && !nodes.is_complete() { INCOMPLETE } else { bytes };
                // The method itself will say that there is not so much memory.
                let fits = bytes == 0 || budget.allows_table(all, all, bytes);
                fits.then(|| plan(request.clone(), Growth::Power(power)))
            }
        }
    }

    /// The time for all rows, from trials.
    fn estimate(&self, all: usize, trial: &Trial<'_>) -> Result<Span> {
        let most = match self.growth {
            Growth::Power(power) if power <= 1.0 => ENOUGH.min(all / 4),
            _ => MANY,
        };
        let Tried { rows, few, twice } = tried(self.first, most, |n| trial(&self.request, n))?;
        let times = all as f64 / rows as f64;
        Ok(match self.growth {
            Growth::Pairs(most) => Span::exactly(in_proportion(twice, most / pairs(2 * rows))),
            Growth::Line => Span::exactly(on_a_line(few, twice, times)),
            Growth::Power(most) => extrapolated(few, twice, times, most),
        })
    }
}

/// Between which times something will take.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Span {
    least: Duration,
    most: Duration,
}

impl Span {
    fn exactly(time: Duration) -> Self {
        Span { least: time, most: time }
    }

    /// In words: where it is wide the ends are told, and where it is very wide the first alone.
    fn told(self) -> String {
        let Span { least, most } = self;
        let (first, last) = (HumanDuration(least.max(SECOND)), HumanDuration(most));
        match most.as_secs_f64() / least.as_secs_f64().max(1.0) {
            times if times > 20.0 => format!("about {first} at least"),
            times if times > 1.5 => format!("about {first} to {last}"),
            _ => format!("about {last}"),
        }
    }
}

const SECOND: Duration = Duration::from_secs(1);

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
    let Some(plan) = Plan::of(request, &nodes, memory::budget()) else { return Ok(()) };
    let first = first_objects(&nodes);
    let trial = |request: &Request, rows: usize| -> Result<Duration> {
        let some = even_rows(ensemble, &nodes, &first, rows)?;
        let start = Instant::now();
        request.run(&some, &observer)?;
        Ok(start.elapsed())
    };
    let estimated = plan.estimate(all, &trial);
    observer.check()?;
    let Ok(span) = estimated else { return Ok(()) };
    if span.most < LONG {
        return Ok(());
    }
    let mut line = format!("{} for {all} different rows", span.told());
    // What may take no time is no reason to take another method.
    let long = span.least >= LONG;
    if let Some(faster) = request.replaced_by("usenc").filter(|_| long) {
        // Linear: ten thousand rows tell of all.
        if let Ok(time) = trial(&faster, MANY) {
            let time = in_proportion(time, all as f64 / MANY as f64).max(SECOND);
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
    // By which power time grows at most nobody knows: two trials have to do.
    let Span { least: each, .. } = extrapolated(few, twice, objects as f64 / rows as f64, 3.0);
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

/// So many of the different rows, at even distances, each as often as it is there: without their
/// counts the rare rows, which are mostly noise, would outweigh all others.
fn even_rows(
    ensemble: &Ensemble,
    nodes: &Microclusters,
    first: &[usize],
    rows: usize,
) -> Result<Ensemble> {
    let node = |row: usize| row * first.len() / rows;
    let objects: Vec<usize> = (0..rows).map(|row| first[node(row)]).collect();
    let some = ensemble.select_objects(&objects)?;
    match nodes.sizes().iter().any(|&size| size > 1) {
        true => some.with_counts((0..rows).map(|row| nodes.sizes()[node(row)]).collect::<Vec<_>>()),
        false => Ok(some),
    }
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

/// The time for `times` as many rows as the first trial had; the second had twice as many. It grows
/// in proportion to the rows at least, and by the power `most` of them at most: the trials show a
/// power in between, which is the least. Where it is in proportion, the trials may differ by what
/// they take for each row, as those of iterations do.
fn extrapolated(few: Duration, twice: Duration, times: f64, most: f64) -> Span {
    if most <= 1.0 {
        let (a, b) = (in_proportion(few, times), in_proportion(twice, times / 2.0));
        return Span { least: a.min(b), most: a.max(b) };
    }
    let shown = (twice.as_secs_f64().max(1e-6) / few.as_secs_f64().max(1e-6)).log2();
    let grown = |power: f64| in_proportion(twice, (times / 2.0).max(1.0).powf(power));
    Span { least: grown(shown.clamp(1.0, most)), most: grown(most) }
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
        let grown = |few: u64, twice: u64, times: f64, power: f64| {
            extrapolated(ms(few), ms(twice), times, power)
        };
        let is =
            |span: Span, least: f64, most: f64| near(span.least, least) && near(span.most, most);
        assert!(is(grown(10, 20, 100.0, 2.0), 1.0, 50.0));
        assert!(is(grown(10, 40, 100.0, 2.0), 100.0, 100.0));
        assert!(is(grown(10, 80, 100.0, 3.0), 10_000.0, 10_000.0));
        // Odd trials: it grows by no more than it can, and no less than the rows.
        assert!(is(grown(10, 80, 100.0, 2.0), 200.0, 200.0));
        assert!(is(grown(10, 5, 100.0, 2.0), 0.25, 12.5));
        // In proportion: 100 times as many rows never take more than 100 times as long.
        assert!(is(grown(20, 400, 100.0, 1.0), 2.0, 20.0));
        assert!(is(grown(40, 20, 100.0, 1.0), 1.0, 4.0));
        // Half of the first trial does not grow.
        assert!(near(on_a_line(ms(20), ms(30), 100.0), 1.01));
        assert!(near(on_a_line(ms(20), ms(10), 100.0), 0.01));
    }

    #[test]
    fn spans_are_told_as_far_as_they_are_known() {
        let span = |least, most| {
            let of = Duration::from_secs;
            Span { least: of(least), most: of(most) }.told()
        };
        assert_eq!(span(110, 120), "about 2 minutes");
        assert_eq!(span(0, 20), "about 1 second to 20 seconds");
        assert_eq!(span(120, 600), "about 2 minutes to 10 minutes");
        assert_eq!(span(120, 6_000), "about 2 minutes at least");
    }

    /// Rare rows do not outweigh the others.
    #[test]
    fn trials_keep_counts() {
        use consilience::Partition;
        let labels: Vec<i64> =
            [[0; 6], [1; 6], [2; 6]].concat().into_iter().chain([3, 4]).collect();
        let ensemble = Ensemble::new(vec![Partition::from_labels(&labels).unwrap()]).unwrap();
        let nodes = Microclusters::of(&ensemble).unwrap();
        let some = even_rows(&ensemble, &nodes, &first_objects(&nodes), 4).unwrap();
        assert_eq!(some.counts(), Some(&[6, 6, 6, 1][..]));
    }

    #[test]
    fn short_trials_are_repeated_with_more_rows() {
        let mut asked = Vec::new();
        let found = tried(500, 10_000, |rows| {
            asked.push(rows);
            Ok(Duration::from_micros(30 * rows as u64))
        });
        let Tried { rows, few, twice } = found.unwrap();
        assert_eq!((rows, asked), (4_000, vec![500, 1_000, 2_000, 4_000, 8_000]));
        assert_eq!((few, twice), (Duration::from_millis(120), Duration::from_millis(240)));
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
        let within = |method: &str, params: &[&str], unlabelled: bool, bytes: u64| {
            let params: Vec<String> = params.iter().map(|p| p.to_string()).collect();
            let request = Request::parse(method, Some(Count::Fixed(3)), &params, 0).unwrap();
            Plan::of(&request, &nodes(unlabelled), MemoryBudget::bytes(bytes))
        };
        let plan = |method: &str, params: &[&str], unlabelled: bool| {
            within(method, params, unlabelled, u64::MAX)
        };
        assert!(plan("ptgp", &[], false).unwrap().request.has("dense_limit"));
        assert!(plan("ptgp", &["dense_limit=7"], false).is_none());
        assert_eq!(plan("auto", &[], true).unwrap().request.name(), "diffusion");
        assert_eq!(plan("auto", &[], false).unwrap().request.name(), "auto");
        assert_eq!(plan("pcc-kl", &[], false).unwrap().growth, Growth::Pairs(PAIRS));
        assert_eq!(plan("pcc-kl", &["pairs=0.5"], false).unwrap().growth, Growth::Power(2.0));
        assert_eq!(plan("lwea", &[], false).unwrap().first, FEW);
        assert_eq!(plan("voting", &[], false).unwrap().growth, Growth::Line);
        assert_eq!(plan("sdgca", &[], false).unwrap().growth, Growth::Power(3.0));
        assert_eq!(plan("mm", &[], false).unwrap().growth, Growth::Power(1.0));
        assert_eq!(plan("auto", &[], true).unwrap().growth, Growth::Power(1.0));
        // Of what is refused for memory, 81 pairs of rows here, nobody waits.
        assert!(within("pta-al", &[], false, 500).is_none());
        assert!(within("eac-sl", &[], false, 500).is_some());
        assert!(within("eac-al", &[], false, 500).is_some());
        assert!(within("eac-al", &[], true, 500).is_none());
        assert!(within("mm", &[], true, 500).is_some());
        // It takes seconds whatever comes.
        assert!(plan("usenc", &[], false).is_none());
    }
}
