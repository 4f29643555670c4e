//! The program in processes of its own: as one, and as a scheduler with executors.
// Every test compiles this module anew and uses only a part of it.
#![allow(dead_code)]

pub(crate) mod store;

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

pub(crate) fn program() -> Command {
    Command::new(env!("CARGO_BIN_EXE_consilience-engine"))
}

pub(crate) fn run(folder: &Path, arguments: &str) -> Output {
    let arguments = arguments.split_whitespace();
    program().args(arguments).current_dir(folder).output().unwrap()
}

pub(crate) fn json(folder: &Path, arguments: &str) -> Value {
    let output = run(folder, &format!("{arguments} --json"));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments}: {said}");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// One line on standard error, exit code 2, and nothing new in the folder.
pub(crate) fn refused(folder: &Path, arguments: &str, about: &str) {
    let before = names(folder);
    let output = run(folder, arguments);
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{arguments}: {said}");
    assert!(said.starts_with("error: ") && said.lines().count() == 1, "{said}");
    assert!(said.contains(about), "{said}");
    assert!(output.stdout.is_empty());
    assert_eq!(names(folder), before);
}

pub(crate) fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// Names and contents of all files of a folder.
pub(crate) fn contents(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let read = |name: String| (name.clone(), fs::read(folder.join(name)).unwrap());
    names(folder).into_iter().map(read).collect()
}

/// A process that does not outlive its test.
pub(crate) struct Party {
    child: Child,
    _said: Option<BufReader<ChildStdout>>,
    /// For its temporary files, which it cannot remove where it is killed.
    _folder: TempDir,
}

impl Party {
    fn start(arguments: &str) -> Self {
        Party::start_as(&mut program(), arguments)
    }

    fn start_as(program: &mut Command, arguments: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let child = program
            .args(arguments.split_whitespace())
            .env("TMPDIR", folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        Party { child, _said: None, _folder: folder }
    }

    /// A scheduler that listens there, and where that is.
    pub(crate) fn scheduler(listen: &str, more: &str) -> (Self, String) {
        let mut party = Party::start(&format!("scheduler --listen {listen} {more}"));
        let mut said = BufReader::new(party.child.stdout.take().unwrap());
        let mut line = String::new();
        said.read_line(&mut line).unwrap();
        party._said = Some(said);
        let address = line.trim().strip_prefix("listening on ").expect(&line).to_owned();
        (party, address)
    }

    /// An executor that does one task at a time.
    pub(crate) fn executor(scheduler: &str, more: &str) -> Self {
        Party::start(&format!("executor --scheduler {scheduler} --tasks 1 --memory 512M {more}"))
    }

    /// The same, which reaches an object store.
    pub(crate) fn executor_at(store: &store::Store, scheduler: &str) -> Self {
        let line = format!("executor --scheduler {scheduler} --tasks 1 --memory 512M");
        Party::start_as(store.known_to(&mut program()), &line)
    }

    pub(crate) fn signal(&self, name: &str) {
        let id = self.child.id().to_string();
        Command::new("kill").args([&format!("-{name}"), &id]).status().unwrap();
    }

    /// Ends it as a machine ends that loses its power.
    pub(crate) fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Party {
    fn drop(&mut self) {
        self.kill();
    }
}
