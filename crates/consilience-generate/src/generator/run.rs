//! All members, in parallel, and what they have to tell.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use consilience_core::{Ensemble, Features, Fit, Member, Observer, Report, Result, Status};

use super::member::member;
use super::view::share;
use super::{Ask, Generator, default_end};

type Outcome = Option<Result<Fit<Member>>>;

/// Kinds of notes of the members that are passed on.
const MOST_NOTES: usize = 10;

/// The members of the features that are asked for.
pub(super) fn run(
    generator: &Generator,
    features: Features<'_>,
    ask: Ask<'_>,
    observer: &dyn Observer,
) -> Result<Fit<Ensemble>> {
    let Ask { members: total, name, into } = ask;
    observer.check()?;
    let mut report = Report::default();
    let outcomes = report.stage("members", || all(generator, features, ask, observer));
    let mut members = Vec::with_capacity(total);
    let mut told = Told::default();
    for outcome in outcomes.into_iter().flatten() {
        let fit = outcome?;
        told.take(fit.report);
        members.push(fit.output);
    }
    if members.len() < total {
        // Only a cancelled run leaves members out.
        return Err(consilience_core::Error::cancelled());
    }
    let seen = share(features.n_objects(), generator.object_fraction);
    if let Some(end) = generator.clusters.as_ref().map(|asked| *asked.end()).filter(|&e| e > seen) {
        report.notes.push(format!(
            "numbers of clusters are drawn up to {seen} in place of {end}: a member sees {seen} \
             objects"
        ));
    }
    let n = features.n_objects();
    if let Some(k) = generator.beyond(n, into) {
        let range = generator.range(n, seen, into)?;
        report.notes.push(format!(
            "numbers of clusters are drawn from {} to {}, for a consensus into {k}: the usual \
             range, 2 to {} for {n} objects, ends below twice that",
            range.start(),
            range.end(),
            default_end(n)
        ));
    }
    told.tell(&format!("of {total} {name}"), &mut report);
    Ok(Fit::new(Ensemble::mixed(members)?, report))
}

/// What the members' reports say.
#[derive(Default)]
struct Told {
    /// Members that stopped at the cap on iterations.
    capped: usize,
    /// How many clusters a member lacks, of each that does.
    missing: Vec<usize>,
    notes: Vec<Note>,
}

/// A note of one member or several.
struct Note {
    /// It without numbers, in which members differ.
    kind: String,
    text: String,
    members: usize,
    /// Whether it is the same of all.
    same: bool,
}

impl Told {
    fn take(&mut self, report: Report) {
        self.capped += usize::from(report.status == Status::MaxIterations);
        self.missing.extend(report.clusters_missing);
        for text in report.notes {
            // Those are counted.
            if report.clusters_missing.is_some() && text.contains(" instead of the ") {
                continue;
            }
            let kind: String = text.chars().filter(|c| !c.is_ascii_digit()).collect();
            match self.notes.iter_mut().find(|note| note.kind == kind) {
                Some(note) => {
                    note.members += 1;
                    note.same &= note.text == text;
                }
                None => {
                    if self.notes.len() < MOST_NOTES {
                        self.notes.push(Note { kind, text, members: 1, same: true });
                    }
                }
            }
        }
    }

    fn tell(self, of: &str, report: &mut Report) {
        let capped = self.capped;
        if capped > 0 {
            report.status = Status::MaxIterations;
            report.notes.push(format!("{capped} {of} stopped at the cap on iterations"));
        }
        let (least, most) = (self.missing.iter().min(), self.missing.iter().max());
        if let (Some(&least), Some(&most)) = (least, most) {
            report.clusters_missing = Some(most);
            let few = if least < most { format!("{least} to {most}") } else { most.to_string() };
            let clusters = if most == 1 { "cluster" } else { "clusters" };
            let count = self.missing.len();
            report
                .notes
                .push(format!("{count} {of} have {few} {clusters} fewer than drawn for them"));
        }
        for Note { text, members, same, .. } in self.notes {
            let one = if same { "" } else { "for instance " };
            report.notes.push(format!("{members} {of}: {one}{text}"));
        }
    }
}

fn all(
    generator: &Generator,
    features: Features<'_>,
    Ask { members: total, into, .. }: Ask<'_>,
    observer: &dyn Observer,
) -> Vec<Outcome> {
    let maps = generator.maps(features);
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
            let seen = (features, maps.clone());
            let outcome = member(generator, seen, into, generator.member_seed(u), observer);
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
