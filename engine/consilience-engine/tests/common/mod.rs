//! The program on folders of small tables.
// Every test compiles this module anew and uses only a part of it.
#![allow(dead_code)]

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

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
