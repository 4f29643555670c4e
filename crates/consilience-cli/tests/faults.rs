//! Faults from outside, at every place: kill -9 at random moments, disks that are full at any byte,
//! memory that ends anywhere, damaged states.
//!
//! The same on every run; `CONSILIENCE_FAULTS=1000 cargo test -p consilience-cli --test faults`
//! takes so many of each.
#![cfg(target_os = "linux")]

mod common;

use std::collections::BTreeMap;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use common::{Dice, Folder, prepared, told};

/// So many faults of each kind: a few where nothing else is said in the variable
/// `CONSILIENCE_FAULTS`.
fn faults(usual: usize) -> usize {
    let asked = std::env::var("CONSILIENCE_FAULTS").ok();
    asked.map_or(usual, |n| n.parse().expect("CONSILIENCE_FAULTS is a number"))
}

/// A command, and the files that it writes.
struct Writes {
    line: &'static str,
    files: &'static [&'static str],
}

const fn writes(line: &'static str, files: &'static [&'static str]) -> Writes {
    Writes { line, files }
}

/// Every command that writes files, in every form that there is.
const COMMANDS: [Writes; 15] = [
    writes("generate x.csv --members 9 -o o.npz", &["o.npz"]),
    writes("generate x.csv --members 9 -o o.npy", &["o.npy"]),
    writes("generate x.csv --members 9 -o o.csv", &["o.csv"]),
    writes(
        "consensus pool.csv --method pcc-l2 --clusters 4 -o o.csv --soft o.npy",
        &["o.csv", "o.npy"],
    ),
    writes("consensus pool.csv --method eac-al --clusters 4 -o o.parquet", &["o.parquet"]),
    writes("consensus pool.csv --method eac-al --clusters 4 -o o.arrow", &["o.arrow"]),
    writes("consensus pool.csv --method eac-al --clusters 4 -o o.csv.gz", &["o.csv.gz"]),
    writes("crowd answers.csv --clusters 2 -o o.csv --soft o.npz", &["o.csv", "o.npz"]),
    writes("ask x.csv --answers answers.csv --clusters 4 -o o.csv", &["o.csv"]),
    writes("complete x.csv --constraints a.csv --clusters 4 -o o.csv", &["o.csv"]),
    writes(
        "cluster x.csv --method consensus --clusters 4 --param members=2 -o o.csv --model m.bin",
        &["o.csv", "m.bin"],
    ),
    writes(
        "predict model.bin x.csv -o o.csv --soft o.npy --details d.csv",
        &["o.csv", "o.npy", "d.csv"],
    ),
    writes("plot co-association pool.csv -o o.svg", &["o.svg"]),
    writes("report pool.csv --methods eac-al,lwea --clusters 4 -o o.html", &["o.html"]),
    writes(
        "update pool.csv --clusters 4 --constraints a.csv --state s --features x.csv -o o.csv",
        &["s", "o.csv"],
    ),
];

fn folder() -> Folder {
    let folder = prepared();
    folder.write("a.csv", "0,4,must\n0,1,cannot\n8,12,must\n");
    folder.write("answers.csv", "worker,i,j,same\n0,0,1,1\n0,1,2,0\n1,0,2,0\n");
    folder.ok("cluster x.csv --method consensus --clusters 4 --param members=2 --model model.bin");
    folder
}

/// Names and contents of all files.
fn contents(folder: &Folder) -> BTreeMap<String, Vec<u8>> {
    folder.names().into_iter().map(|name| (name.clone(), folder.read(&name))).collect()
}

/// What the command leaves in a folder of its own, and how long it took.
fn whole(writes: &Writes) -> (BTreeMap<String, Vec<u8>>, Duration) {
    let folder = folder();
    let start = Instant::now();
    folder.ok(writes.line);
    let took = start.elapsed();
    (contents(&folder), took)
}

/// Puts what was there before in the place of every output, unless it is a state, which is read.
fn precious(folder: &Folder, writes: &Writes) {
    for file in writes.files {
        if *file == "s" {
            let _ = std::fs::remove_file(folder.path(file));
        } else {
            folder.write(file, "precious");
        }
    }
}

#[test]
fn kill_at_any_moment_leaves_each_file_old_or_new() {
    let mut dice = Dice::new(9);
    let rounds = faults(70).div_ceil(COMMANDS.len());
    let (mut old, mut new, mut left) = (0, 0, 0);
    for writes in &COMMANDS {
        let (whole, took) = whole(writes);
        let folder = folder();
        for _ in 0..rounds {
            precious(&folder, writes);
            let mut child = folder.command(writes.line).spawn().unwrap();
            let most = took.as_micros() as u64 * 5 / 4;
            std::thread::sleep(Duration::from_micros(dice.below(most.max(1))));
            child.kill().unwrap();
            child.wait().unwrap();
            for file in writes.files {
                let found = std::fs::read(folder.path(file)).unwrap_or_default();
                let is_new = found == whole[*file];
                assert!(
                    is_new || found == b"precious" || (*file == "s" && found.is_empty()),
                    "{}: {file} is half-written",
                    writes.line
                );
                *(if is_new { &mut new } else { &mut old }) += 1;
            }
            left += folder.names().iter().filter(|name| name.starts_with('.')).count();
        }
        // Nothing that was left blocks the next run.
        precious(&folder, writes);
        folder.ok(writes.line);
        for file in writes.files {
            assert_eq!(folder.read(file), whole[*file], "{}: {file}", writes.line);
        }
    }
    println!("{} kills: files {old} old, {new} new, {left} left over", rounds * COMMANDS.len());
}

/// Files may not grow beyond so many bytes, as if the disk were full there.
fn limited(folder: &Folder, line: &str, bytes: u64) -> Output {
    folder.shell(&format!("exec prlimit --fsize={bytes} PROGRAM {line}"))
}

fn has_prlimit() -> bool {
    let found = Command::new("prlimit").arg("--version").output();
    let found = found.is_ok_and(|output| output.status.success());
    if !found {
        println!("skipped: no prlimit");
    }
    found
}

#[test]
fn a_disk_full_at_any_byte_changes_no_output_of_any_command() {
    if !has_prlimit() {
        return;
    }
    let mut runs = 0;
    for writes in &COMMANDS {
        let (whole, _) = whole(writes);
        let folder = folder();
        precious(&folder, writes);
        let before = contents(&folder);
        // Room for all but one byte of the largest file, for nothing, and for what is between.
        let largest = writes.files.iter().map(|file| whole[*file].len() as u64).max().unwrap();
        let step = (largest / faults(70).div_ceil(COMMANDS.len()) as u64).max(1);
        for room in (0..largest - 1).step_by(step as usize).chain([largest - 1]) {
            let output = limited(&folder, writes.line, room);
            told(&output, &format!("{}, {room} of {largest} bytes", writes.line));
            assert_eq!(contents(&folder), before, "{}, {room} bytes", writes.line);
            runs += 1;
        }
        let output = limited(&folder, writes.line, largest);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    println!("{runs} full disks");
}

/// System calls that write, with the error that each of them gives and how often it is called at
/// most before nothing fails any more.
const CALLS: [(&str, &str, usize); 7] = [
    ("write", "error=EIO", 8),
    ("openat", "error=EACCES", 24),
    ("fsync", "error=EIO", 8),
    ("rename", "error=ENOSPC", 5),
    ("rename", "signal=KILL", 5),
    ("fsync", "signal=KILL", 8),
    ("unlink", "signal=KILL", 8),
];

/// The program, with the k-th call of some kind failing. The system kills or refuses: strace only
/// lets it.
fn with_failing(folder: &Folder, line: &str, call: &str, fault: &str, k: usize) -> Output {
    let trace = format!("strace -f -qq -o /dev/null -e trace={call}");
    folder.shell(&format!("exec {trace} -e inject={call}:{fault}:when={k} PROGRAM {line}"))
}

#[test]
fn system_calls_that_fail_leave_each_file_old_or_new() {
    let probe = Command::new("strace").args(["-qq", "-o", "/dev/null", "true"]).output();
    if !probe.is_ok_and(|output| output.status.success()) {
        println!("skipped: strace is not here, or may not trace");
        return;
    }
    let mut all = Vec::new();
    for (at, _) in COMMANDS.iter().enumerate() {
        for (call, fault, most) in CALLS {
            all.extend((1..=most).map(|k| (at, call, fault, k)));
        }
    }
    let chosen = faults(70).min(all.len());
    let (mut refused, mut killed) = (0, 0);
    let wholes: Vec<_> = COMMANDS.iter().map(|writes| whole(writes).0).collect();
    let folder = folder();
    for &(at, call, fault, k) in (0..chosen).map(|i| &all[i * all.len() / chosen]) {
        let (writes, whole) = (&COMMANDS[at], &wholes[at]);
        precious(&folder, writes);
        let output = with_failing(&folder, writes.line, call, fault, k);
        let what = format!("{}, {call} {k} {fault}", writes.line);
        let is = |wanted: &dyn Fn(&str, &[u8]) -> bool| {
            let found = |file: &str| std::fs::read(folder.path(file)).unwrap_or_default();
            writes.files.iter().all(|file| wanted(file, &found(file)))
        };
        let new = |file: &str, found: &[u8]| found == whole[file];
        let old =
            |file: &str, found: &[u8]| found == b"precious" || (file == "s" && found.is_empty());
        match output.status.code() {
            Some(0) => assert!(is(&new), "{what}: not all of it was written"),
            Some(2) => {
                told(&output, &what);
                assert!(is(&old), "{what}: an output has changed");
                refused += 1;
            }
            // Killed by the injected signal, which strace hands on to itself; before `main` the
            // loader fails with 127.
            code => {
                assert!(code.is_none() || code == Some(127) || code == Some(137), "{what}");
                assert!(is(&|file, found| old(file, found) || new(file, found)), "{what}");
                killed += 1;
            }
        }
    }
    // Nothing that was left blocks the next run.
    for writes in &COMMANDS {
        folder.ok(writes.line);
    }
    println!("{chosen} runs with a failing call: {refused} refused, {killed} killed");
}

/// What the library cannot foresee, such as the stacks of threads, ends the program as the language
/// ends it: by an abort. Outputs are as before then, too.
#[test]
fn memory_that_ends_anywhere_changes_no_output() {
    if !has_prlimit() {
        return;
    }
    let rounds = faults(70).div_ceil(COMMANDS.len()) as u64;
    let (mut done, mut refused, mut aborted) = (0, 0, 0);
    for writes in &COMMANDS {
        let (whole, _) = whole(writes);
        let folder = folder();
        precious(&folder, writes);
        let before = contents(&folder);
        // From what the loader alone takes to what is enough.
        for round in 0..rounds {
            let bytes = (24 << 20) + (120 << 20) * round / rounds;
            let line = format!("ulimit -c 0; exec prlimit --as={bytes} PROGRAM {}", writes.line);
            let output = folder.shell(&line);
            let kept =
                writes.files.iter().all(|file| *file == "s" || folder.read(file) == before[*file]);
            match output.status.code() {
                Some(0) => {
                    let new = writes.files.iter().all(|file| folder.read(file) == whole[*file]);
                    assert!(new, "{}, {bytes} bytes", writes.line);
                    precious(&folder, writes);
                    done += 1;
                }
                Some(2) => {
                    told(&output, writes.line);
                    assert!(kept, "{}, {bytes} bytes", writes.line);
                    refused += 1;
                }
                code => {
                    let text = String::from_utf8_lossy(&output.stderr).into_owned();
                    assert!(code.is_none() || code == Some(127), "{}: {text}", writes.line);
                    assert!(kept, "{}, {bytes} bytes", writes.line);
                    aborted += 1;
                }
            }
        }
        folder.ok(writes.line);
    }
    println!("memory that ends: {done} done, {refused} refused, {aborted} ended by the system");
}
