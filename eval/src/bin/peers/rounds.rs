//! Runs of both sides by turns.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use serde_json::Value;

use crate::Failure;
use crate::lines::Line;
use crate::packages::{Packages, script};

/// Rounds after the first, at most.
const ROUNDS: usize = 5;
/// No more rounds once these many seconds have passed; then the first counts if it is alone.
const LONG: f64 = 10.0;

/// What one side took.
#[derive(Clone)]
pub(crate) struct Side {
    /// Median.
    pub(crate) seconds: f64,
    /// How far memory rose in the first run, which allocates everything.
    pub(crate) bytes: f64,
    pub(crate) score: f64,
}

/// Both sides, and the rounds that count; or why there is nothing.
pub(crate) type Measured = Result<(Side, Side, usize), String>;

/// A process that answers a line with a line.
struct Worker {
    child: Child,
    out: BufReader<std::process::ChildStdout>,
    runs: Vec<(f64, f64, f64)>,
}

impl Worker {
    fn start(mut command: Command, threads: usize) -> Result<Self, Failure> {
        for name in ["RAYON", "OMP", "OPENBLAS", "MKL", "NUMEXPR"] {
            command.env(format!("{name}_NUM_THREADS"), threads.to_string());
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn()?;
        let out = BufReader::new(child.stdout.take().ok_or("no output")?);
        let mut worker = Worker { child, out, runs: Vec::new() };
        worker.line()?;
        Ok(worker)
    }

    fn line(&mut self) -> Result<Value, Failure> {
        let mut line = String::new();
        self.out.read_line(&mut line)?;
        serde_json::from_str(&line).map_err(|_| "ended without an answer".into())
    }

    fn run(&mut self) -> Result<f64, Failure> {
        let stdin = self.child.stdin.as_mut().ok_or("no input")?;
        writeln!(stdin, "run")?;
        stdin.flush()?;
        let answer = self.line()?;
        let number = |key: &str| answer[key].as_f64().unwrap_or(f64::NAN);
        self.runs.push((number("seconds"), number("bytes"), number("score")));
        Ok(number("seconds"))
    }

    /// Medians of all runs but the first, where there are others.
    fn side(&self) -> Side {
        let counted = &self.runs[usize::from(self.runs.len() > 1)..];
        let mut seconds: Vec<f64> = counted.iter().map(|r| r.0).collect();
        seconds.sort_by(f64::total_cmp);
        let middle = seconds.len() / 2;
        let even = seconds.len().is_multiple_of(2);
        let median =
            if even { 0.5 * (seconds[middle - 1] + seconds[middle]) } else { seconds[middle] };
        Side { seconds: median, bytes: self.runs[0].1, score: counted[0].2 }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // It ends with its input; one that does not is ended.
        drop(self.child.stdin.take());
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn data(line: &Line, packages: &Packages, folder: &Path) -> Result<(), Failure> {
    let place = folder.join(&line.data);
    if !place.exists() {
        let python = packages.python(crate::lines::Side::New);
        let status =
            Command::new(python).arg(script()).arg("make").arg(&line.data).arg(&place).status()?;
        if !status.success() {
            return Err("the data could not be made".into());
        }
    }
    Ok(())
}

/// Runs both sides by turns, ours first.
pub(crate) fn compare(line: &Line, packages: &Packages, folder: &Path) -> Measured {
    alternate(line, packages, folder).map_err(|e| e.to_string())
}

fn alternate(
    line: &Line,
    packages: &Packages,
    folder: &Path,
) -> Result<(Side, Side, usize), Failure> {
    data(line, packages, folder)?;
    let place = folder.join(&line.data);
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let threads = if line.parallel { cores } else { 1 };
    let theirs = packages.command(line.side, line.theirs, &place)?;
    let mut own = Command::new(std::env::current_exe()?);
    own.arg("run").arg(line.ours).arg(&place);
    let mut theirs = Worker::start(theirs, threads)?;
    let mut ours = Worker::start(own, threads)?;
    let begin = Instant::now();
    for _ in 0..=ROUNDS {
        ours.run()?;
        theirs.run()?;
        if begin.elapsed().as_secs_f64() > LONG {
            break;
        }
    }
    Ok((ours.side(), theirs.side(), (ours.runs.len() - 1).max(1)))
}
