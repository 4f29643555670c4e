//! What the user sees while a command runs, and how the user stops it: progress by rows, notes,
//! Ctrl-C.

use std::io::IsTerminal;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use consilience::{Observer, Report};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::failure::say;

/// What ends sooner than this needs no progress bar.
const PATIENCE: Duration = Duration::from_millis(500);

static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// The first Ctrl-C (or SIGTERM) asks what runs to stop, the second ends the program at once.
pub(crate) fn listen_for_interrupts() {
    // Without a handler Ctrl-C still ends the program, only less tidily: no reason not to work.
    let _ = ctrlc::set_handler(|| {
        if INTERRUPTED.swap(true, Ordering::Relaxed) {
            consilience_datafusion::remove_unfinished();
            consilience_io::remove_unfinished();
            std::process::exit(130);
        }
    });
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

    /// The notes of a report, likewise.
    pub(crate) fn note_all(&self, report: &Report) {
        lock(&self.notes).extend(report.notes.iter().cloned());
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
            let look = "{msg:>14} [{bar:40}] {human_pos} of {human_len} {eta}";
            if let Ok(style) = ProgressStyle::with_template(look) {
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
