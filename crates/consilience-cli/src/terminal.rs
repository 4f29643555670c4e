//! What the user sees while a command runs, and how the user stops it: progress bars, notes,
//! Ctrl-C.

use std::collections::BTreeMap;
use std::io::IsTerminal;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use consilience::{Fit, Observer, Report};
use indicatif::{HumanDuration, ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::failure::{CANCELLED, Failure, Outcome, say, say_cancelled};
use crate::stages::{Drawn, Stages};

/// What ends sooner than this needs no progress bar.
const PATIENCE: Duration = Duration::from_millis(500);

/// How long a method has to stop by itself once it is asked to. Most do in a few hundredths of a
/// second; some steps (the eigenvectors of a dense matrix, a read from a pipe) hear nothing.
const GRACE: Duration = Duration::from_millis(700);

static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// How far a command is.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
enum Step {
    /// At work.
    Working,
    /// It prints what it found, for a reader who may not take it; every file is as it was.
    Printing,
    /// It puts files in their places. That takes no time and is always finished, since nobody
    /// should hear "nothing was written" of half of it.
    Placing,
}

static STEP: Mutex<Step> = Mutex::new(Step::Working);

/// The first Ctrl-C (or SIGTERM) asks the running method to stop and ends the program where that
/// takes too long, the second ends it at once. Neither does once files are put in their places.
pub(crate) fn listen_for_interrupts() {
    // Without a handler Ctrl-C still ends the program, only less tidily: no reason not to work.
    // It runs on a thread of its own, which may wait for locks.
    let _ = ctrlc::set_handler(|| {
        if INTERRUPTED.swap(true, Ordering::Relaxed) {
            end_before(Step::Placing);
            return;
        }
        // Not on this thread, which has to hear the second one.
        let _ = std::thread::Builder::new().spawn(|| {
            std::thread::sleep(GRACE);
            end_before(Step::Printing);
        });
    });
}

/// Ends the program where the command has not come to a step yet. It cannot come there meanwhile:
/// the lock is held to the end.
fn end_before(step: Step) {
    let at = lock(&STEP);
    if *at < step {
        let printed = *at == Step::Printing;
        end_at_once(if printed { "error: cancelled; no file was changed" } else { CANCELLED });
    }
}

/// Ends the program as a cancelled command does, without waiting for the threads at work. Nothing
/// is printed where a blocked thread holds standard error.
fn end_at_once(line: &'static str) -> ! {
    let _ = std::thread::Builder::new().spawn(move || say_cancelled(line)).map(|line| {
        let until = Instant::now() + Duration::from_millis(100);
        while !line.is_finished() && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(1));
        }
    });
    // Last, since a thread at work may open files meanwhile.
    consilience::io::remove_unfinished();
    std::process::exit(130);
}

/// From here on one interrupt comes too late.
pub(crate) fn conclude() -> Outcome<()> {
    let mut step = lock(&STEP);
    if INTERRUPTED.load(Ordering::Relaxed) {
        return Err(Failure::Cancelled);
    }
    *step = Step::Printing;
    Ok(())
}

/// From here on any number of interrupts come too late.
pub(crate) fn place() {
    *lock(&STEP) = Step::Placing;
}

/// The observer of everything a command runs; it also collects the notes for the user.
pub(crate) struct Terminal {
    bars: bool,
    quiet: bool,
    json: bool,
    started: Instant,
    bar: Mutex<Bar>,
    notes: Mutex<Vec<String>>,
}

impl Terminal {
    /// Bars are for people: none where standard error is no terminal, nor with `--quiet` or
    /// `--json`.
    pub(crate) fn new(quiet: bool, json: bool) -> Self {
        Terminal {
            bars: !quiet && !json && std::io::stderr().is_terminal(),
            quiet,
            json,
            started: Instant::now(),
            bar: Mutex::new(Bar::default()),
            notes: Mutex::new(Vec::new()),
        }
    }

    /// Something the user should know, although the command goes on.
    pub(crate) fn note(&self, text: impl Into<String>) {
        lock(&self.notes).push(text.into());
    }

    /// Whether somebody reads along.
    pub(crate) fn talks(&self) -> bool {
        !self.quiet && !self.json
    }

    /// Something the user should know at once.
    pub(crate) fn now(&self, text: &str) {
        if !self.quiet {
            self.clear();
            say(&format!("note: {text}"));
        }
    }

    /// The notes of a report, likewise.
    pub(crate) fn note_all(&self, report: &Report) {
        lock(&self.notes).extend(report.notes.iter().cloned());
    }

    /// What was read, once its notes are taken.
    pub(crate) fn noted<T>(&self, fit: Fit<T>) -> T {
        self.note_all(&fit.report);
        fit.output
    }

    /// What was read from a file, whose name its notes get. Some files are read twice; what is
    /// noted of them is said once.
    pub(crate) fn read<T>(&self, path: &Path, fit: Fit<T>) -> T {
        let mut notes = lock(&self.notes);
        for note in fit.report.notes {
            let note = format!("{}: {note}", path.display());
            if !notes.contains(&note) {
                notes.push(note);
            }
        }
        fit.output
    }

    /// The notes so far.
    pub(crate) fn notes(&self) -> Vec<String> {
        lock(&self.notes).clone()
    }

    /// Takes the bar off the screen and prints the notes. They wait until here so that a command
    /// that fails says one line only.
    pub(crate) fn finish(&self) {
        self.clear();
        if !self.quiet {
            for note in lock(&self.notes).iter() {
                say(&format!("note: {note}"));
            }
        }
    }

    /// Prints a result beside standard output.
    pub(crate) fn aside(&self, text: &str) {
        if !self.quiet {
            say(text.trim_end());
        }
    }

    /// Takes the bar off the screen.
    pub(crate) fn clear(&self) {
        if let Some((_, bar)) = lock(&self.bar).drawn.take() {
            bar.finish_and_clear();
        }
    }
}

/// The bar on the screen.
#[derive(Default)]
struct Bar {
    stages: Stages,
    /// When each stage began, and how far it was then.
    begun: BTreeMap<String, (Instant, usize)>,
    /// The stage that it is of.
    drawn: Option<(String, ProgressBar)>,
}

impl Bar {
    fn report(&mut self, stage: &str, done: usize, total: usize, visible: bool) {
        let drawn = self.stages.report(stage, done, total);
        if drawn == Drawn::Part {
            if let Some((outer, bar)) = &self.drawn {
                bar.set_message(format!("{outer}: {stage}"));
            }
            return;
        }
        if drawn == Drawn::Begun {
            self.begun.insert(stage.to_owned(), (Instant::now(), done));
        }
        if drawn != Drawn::Goes || self.drawn.is_none() {
            if let Some((_, old)) = self.drawn.take() {
                old.finish_and_clear();
            }
            self.drawn = visible.then(|| (stage.to_owned(), new_bar(stage)));
        }
        let Some((_, bar)) = &self.drawn else { return };
        bar.set_length(total as u64);
        bar.set_position(done as u64);
        let (start, first) = self.begun.get(stage).copied().unwrap_or((Instant::now(), done));
        bar.set_prefix(time_left(
            start.elapsed(),
            done.saturating_sub(first),
            total - done.min(total),
        ));
    }
}

/// How long what is left takes at the speed so far; nothing where nothing is known of that.
fn time_left(elapsed: Duration, done: usize, left: usize) -> String {
    if done == 0 {
        return String::new();
    }
    let seconds = elapsed.as_secs_f64() * left as f64 / done as f64;
    match Duration::try_from_secs_f64(seconds) {
        Ok(time) => format!(", {:#} left", HumanDuration(time)),
        Err(_) => String::new(),
    }
}

fn new_bar(stage: &str) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
    let style = ProgressStyle::with_template("{msg:>14} [{bar:40}] {percent:>3}%{prefix}");
    if let Ok(style) = style {
        bar.set_style(style.progress_chars("=> "));
    }
    bar.set_message(stage.to_owned());
    bar
}

impl Observer for Terminal {
    fn progress(&self, stage: &str, done: usize, total: usize) {
        if self.bars {
            let visible = self.started.elapsed() >= PATIENCE;
            lock(&self.bar).report(stage, done, total, visible);
        }
    }

    fn cancelled(&self) -> bool {
        INTERRUPTED.load(Ordering::Relaxed)
    }
}

/// A worker that panicked leaves nothing half-done behind these locks.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
