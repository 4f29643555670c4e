//! Why a command ended early, and with which exit code.

use std::fmt::Display;
use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};

use consilience::ErrorKind;

/// What a cancelled command says.
pub(crate) const CANCELLED: &str = "error: cancelled; nothing was written";

/// The result of every step of a command.
pub(crate) type Outcome<T> = Result<T, Failure>;

/// Why a command ended early.
#[derive(Debug)]
pub(crate) enum Failure {
    /// Bad input or a failing system call: what, where, and what was expected.
    Bad(String),
    /// The user pressed Ctrl-C.
    Cancelled,
    /// Whoever read our standard output has gone (`| head`); nobody is left to report to.
    ClosedPipe,
}

impl Failure {
    /// Bad input, in one sentence.
    pub(crate) fn bad(message: impl Into<String>) -> Self {
        Failure::Bad(message.into())
    }

    /// The same failure with the place in front: `pool.csv: row 3, column 1: ...`.
    pub(crate) fn within(self, place: impl Display) -> Self {
        match self {
            Failure::Bad(message) => Failure::Bad(format!("{place}: {message}")),
            other => other,
        }
    }

    /// Reports to the user on standard error, in one line whatever the message holds.
    pub(crate) fn report(self) -> ExitCode {
        match self {
            Failure::Bad(message) => {
                let line: Vec<&str> = message.split_whitespace().collect();
                say(&format!("error: {}", line.join(" ")));
                ExitCode::from(2)
            }
            Failure::Cancelled => {
                say_cancelled(CANCELLED);
                ExitCode::from(130)
            }
            Failure::ClosedPipe => ExitCode::SUCCESS,
        }
    }
}

/// A file that may not grow any further (`ulimit -f`) is an error of the write, as a full disk is:
/// the signal that comes with it would end the program without a word. To be called before there
/// are other threads, which then do as this one.
pub(crate) fn of_full_files() {
    #[cfg(unix)]
    {
        use nix::sys::signal::{SigSet, Signal};
        let _ = SigSet::from(Signal::SIGXFSZ).thread_block();
    }
}

/// Prints a line on standard error, if anybody takes it.
pub(crate) fn say(line: &str) {
    let _ = writeln!(io::stderr(), "{line}");
}

/// Says once that the command was cancelled: two threads may come to it at the same time.
pub(crate) fn say_cancelled(line: &str) {
    static SAID: Mutex<bool> = Mutex::new(false);
    let mut said = SAID.lock().unwrap_or_else(PoisonError::into_inner);
    if !std::mem::replace(&mut *said, true) {
        say(line);
    }
}

impl From<consilience::Error> for Failure {
    fn from(error: consilience::Error) -> Self {
        match error.kind() {
            ErrorKind::Cancelled => Failure::Cancelled,
            _ => Failure::Bad(error.to_string()),
        }
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            // The standard texts end in "(os error 2)", which helps nobody.
            io::ErrorKind::NotFound => Failure::bad("no such file"),
            io::ErrorKind::PermissionDenied => Failure::bad("permission denied"),
            io::ErrorKind::IsADirectory => Failure::bad("is a folder, expected a file"),
            io::ErrorKind::StorageFull => Failure::bad("no space left"),
            io::ErrorKind::UnexpectedEof => {
                Failure::bad("truncated: it ends in the middle of its contents")
            }
            _ => Failure::Bad(error.to_string()),
        }
    }
}
