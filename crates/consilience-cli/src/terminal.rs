//! What the user sees while a command runs, and how the user stops it: progress bars, notes,
//! Ctrl-C.

use std::io::IsTerminal;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use consilience::{Fit, Observer, Report};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::failure::{CANCELLED, Failure, Outcome, say};

/// What ends sooner than this needs no progress bar.
const PATIENCE: Duration = Duration::from_millis(500);

/// How long a method has to stop by itself once it is asked to. Most do in a few hundredths of a
/// second; some steps (the eigenvectors of a dense matrix, a read from a pipe) hear nothing.
const GRACE: Duration = Duration::from_millis(700);

static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// Whether the command has begun to put its results in their places: then it ends by itself, since
/// nobody should hear "nothing was written" of half of it.
static CONCLUDING: Mutex<bool> = Mutex::new(false);

/// The first Ctrl-C (or SIGTERM) asks the running method to stop and ends the program where that
/// takes too long, the second ends it at once.
pub(crate) fn listen_for_interrupts() {
    // Without a handler Ctrl-C still ends the program, only less tidily: no reason not to work.
    let _ = ctrlc::set_handler(|| {
        if INTERRUPTED.swap(true, Ordering::Relaxed) {
            consilience::io::remove_unfinished();
            std::process::exit(130);
        }
        // Not on this thread, which has to hear the second one.
        let _ = std::thread::Builder::new().spawn(|| {
            std::thread::sleep(GRACE);
            let concluding = lock(&CONCLUDING);
            if !*concluding {
                consilience::io::remove_unfinished();
                end_at_once();
            }
        });
    });
}

/// Ends the program as a cancelled command does, without waiting for the threads at work. Nothing
/// is printed where a blocked thread holds standard error.
fn end_at_once() -> ! {
    let _ = std::thread::Builder::new().spawn(|| say(CANCELLED)).map(|line| {
        let until = Instant::now() + Duration::from_millis(100);
        while !line.is_finished() && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(1));
        }
    });
    std::process::exit(130);
}

/// From here on an interrupt comes too late.
pub(crate) fn conclude() -> Outcome<()> {
    let mut concluding = lock(&CONCLUDING);
    if INTERRUPTED.load(Ordering::Relaxed) {
        return Err(Failure::Cancelled);
    }
    *concluding = true;
    Ok(())
}

/// The observer of everything a command runs; it also collects the notes for the user.
pub(crate) struct Terminal {
    bars: bool,
    quiet: bool,
    started: Instant,
    bar: Mutex<Option<(String, ProgressBar)>>,
    notes: Mutex<Vec<String>>,
}

impl Terminal {
    /// Bars are for people: none where standard error is no terminal, nor with `--quiet` or
    /// `--json`.
    pub(crate) fn new(quiet: bool, json: bool) -> Self {
        Terminal {
            bars: !quiet && !json && std::io::stderr().is_terminal(),
            quiet,
            started: Instant::now(),
            bar: Mutex::new(None),
            notes: Mutex::new(Vec::new()),
        }
    }

    /// Something the user should know, although the command goes on.
    pub(crate) fn note(&self, text: impl Into<String>) {
        lock(&self.notes).push(text.into());
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
        if let Some((_, bar)) = lock(&self.bar).take() {
            bar.finish_and_clear();
        }
    }
}

impl Observer for Terminal {
    fn progress(&self, stage: &str, done: usize, total: usize) {
        if !self.bars || self.started.elapsed() < PATIENCE {
            return;
        }
        let mut slot = lock(&self.bar);
        if slot.as_ref().is_none_or(|(name, _)| name != stage) {
            if let Some((_, old)) = slot.take() {
                old.finish_and_clear();
            }
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
            if let Ok(style) =
                ProgressStyle::with_template("{msg:>14} [{bar:40}] {percent:>3}% {eta}")
            {
                bar.set_style(style.progress_chars("=> "));
            }
            bar.set_message(stage.to_owned());
            *slot = Some((stage.to_owned(), bar));
        }
        if let Some((_, bar)) = slot.as_ref() {
            bar.set_length(total as u64);
            bar.set_position(done as u64);
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
