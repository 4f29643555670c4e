//! Memory that is refused at the k-th large request, for k = 1, 2, ...: the right result or one
//! error, and for what reads files never the end of the process.
//!
//! `CONSILIENCE_REFUSED=eac cargo test -p consilience-tests --test refused -- --nocapture` takes
//! the paths whose names hold `eac` alone, and tells the functions that a refusal ended.

#[path = "refused/allocator.rs"]
mod allocator;
#[path = "refused/methods.rs"]
mod methods;
#[path = "refused/paths.rs"]
mod paths;

use std::fmt::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::process::{Command, Stdio};

use consilience::ErrorKind;
use rayon::prelude::*;

use paths::Job;

/// What a child is to do: a path, the first request to refuse, and the folder of the files.
const CHILD: &str = "CONSILIENCE_REFUSED_CHILD";

/// Requests that are refused at most, the first ones: iterations ask for the same again and again.
const MOST: usize = 25;

/// How runs of one path ended, each with another request refused.
#[derive(Default)]
struct Outcome {
    right: usize,
    errors: usize,
    ended: Vec<usize>,
    /// What no refusal may lead to.
    faults: String,
    /// Who asked where the process ended.
    traces: String,
}

/// One process after the other, each until a refusal ends it.
fn outcome(path: &str, folder: &Path, traces: bool) -> Outcome {
    let (mut outcome, mut from) = (Outcome::default(), 1);
    while from <= MOST {
        let output = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "child", "--nocapture", "--test-threads=1"])
            .env(CHILD, format!("{path}|{from}|{traces}|{}", folder.display()))
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let (text, said) =
            (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        for line in text.lines() {
            match line.split_once(": ") {
                Some((_, "right")) => outcome.right += 1,
                Some((_, "error")) => outcome.errors += 1,
                Some((k, "asks")) => from = k.parse().unwrap(),
                Some((_, "fault")) => writeln!(outcome.faults, "{path}, {line}").unwrap(),
                Some(("fault", _)) => writeln!(outcome.faults, "{path}, {line}").unwrap(),
                _ => {}
            }
        }
        if output.status.success() {
            return outcome;
        }
        if !said.contains("memory allocation of") {
            writeln!(outcome.faults, "{path}, request {from}: {text}{said}").unwrap();
            return outcome;
        }
        outcome.ended.push(from);
        if traces {
            writeln!(outcome.traces, "{path}, request {from}:\n{said}").unwrap();
        }
        from += 1;
    }
    outcome
}

#[test]
fn a_refused_request_is_an_error() {
    if std::env::var_os(CHILD).is_some() {
        return;
    }
    let asked = std::env::var("CONSILIENCE_REFUSED").ok();
    let folder = tempfile::tempdir().unwrap();
    paths::write_files(folder.path());
    let chosen = |p: &&paths::Path| asked.as_ref().is_none_or(|part| p.name.contains(part));
    let all: Vec<&paths::Path> = paths::PATHS.iter().filter(chosen).collect();
    let outcomes: Vec<Outcome> =
        all.par_iter().map(|p| outcome(p.name, folder.path(), asked.is_some())).collect();
    let mut faults = String::new();
    for (path, outcome) in all.iter().zip(outcomes) {
        let Outcome { right, errors, ended, .. } = &outcome;
        println!("{}: {right} right, {errors} errors, {} ended", path.name, ended.len());
        print!("{}", outcome.traces);
        faults += &outcome.faults;
        if ended.len() > path.may_end {
            writeln!(faults, "{}: ended at requests {ended:?}", path.name).unwrap();
        }
        if right + errors + ended.len() == 0 {
            writeln!(faults, "{}: asks for no large piece of memory", path.name).unwrap();
        }
    }
    assert!(faults.is_empty(), "{faults}");
}

/// Not a test by itself: what `outcome` starts.
#[test]
fn child() {
    let Ok(task) = std::env::var(CHILD) else { return };
    let parts: Vec<&str> = task.splitn(4, '|').collect();
    let [name, from, traces, folder] = parts[..] else { panic!("{task}") };
    let path = paths::PATHS.iter().find(|p| p.name == name).unwrap();
    // Behind what the test harness begins its line with.
    println!();
    let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    one.install(|| each_request(&(path.prepare)(Path::new(folder)), from.parse().unwrap(), traces));
}

fn each_request(job: &Job, from: usize, traces: &str) {
    let whole = job().expect("a path that ends well");
    for k in from..=MOST {
        println!("{k}: asks");
        let refusal = allocator::refuse(k, traces == "true");
        let found = catch_unwind(AssertUnwindSafe(job));
        if !refusal.end() {
            return;
        }
        match found {
            Ok(Ok(found)) if found == whole => println!("{k}: right"),
            Ok(Err(error)) if error.kind() == ErrorKind::TooLarge => println!("{k}: error"),
            Ok(Ok(_)) => println!("fault: another result where request {k} is refused"),
            Ok(Err(error)) => println!("fault: request {k}: {error}"),
            Err(_) => println!("fault: a panic where request {k} is refused"),
        }
    }
}
