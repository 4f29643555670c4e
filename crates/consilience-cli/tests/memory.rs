//! Memory that ends inside the large tables of the methods: the right result or one clear error.
//!
//! A few limits on every run; `CONSILIENCE_FAULTS=40 cargo test -p consilience-cli --test memory`
//! takes so many for each command. What a method needs for hardly any rows at all (threads, the
//! workspace of matrix products, the tables of a few KiB) nobody can refuse: below that the program
//! is ended as the language ends it, and `faults.rs` sees that no output changes then.
#![cfg(target_os = "linux")]

mod common;

use std::process::{Command, Output, Stdio};

use common::{Dice, Folder};

/// Rows of the tables, and of those that show what a command takes for itself.
const ROWS: usize = 1_500;
const FEW: usize = 60;
/// No command here needs more.
const ENOUGH: u64 = 1 << 30;
/// Limits are found to this.
const EXACT: u64 = 1 << 20;
/// What lies between the need for few rows and the first table that is asked for: the input, and
/// rows that are collected.
const SMALL: u64 = 8 << 20;

/// Commands whose large tables grow with the square of the rows, or with the rows; without matrix
/// products, whose workspace depends on the machine.
const LINES: [&str; 6] = [
    "consensus holes.csv --method weac-al --clusters 6",
    "consensus holes.csv --method lwea --clusters 6",
    "consensus pool.csv --method eac-ward --clusters 6",
    "consensus pool.csv --method voting --clusters 6",
    "generate x.csv --method agglomerative --members 3",
    "plot co-association pool.csv",
];

fn limits(usual: u64) -> u64 {
    let asked = std::env::var("CONSILIENCE_FAULTS").ok();
    asked.map_or(usual, |n| n.parse().expect("CONSILIENCE_FAULTS is a number"))
}

/// Members and features of so many objects in six clusters, hardly two of them alike.
fn tables(rows: usize) -> Folder {
    let folder = Folder::new();
    let mut dice = Dice::new(5);
    let (mut pool, mut holes, mut features) = (String::new(), String::new(), String::from("a,b\n"));
    for row in 0..rows {
        for member in 0..10 {
            let label = if dice.below(4) == 0 { dice.below(30) } else { row as u64 % 6 * 5 };
            let label = label + dice.below(3);
            let end = if member < 9 { "," } else { "\n" };
            pool += &format!("{label}{end}");
            holes += &if dice.below(10) == 0 { end.to_owned() } else { format!("{label}{end}") };
        }
        features += &format!("{}.{},{}\n", row % 6, dice.below(1000), dice.below(1000));
    }
    folder.write("pool.csv", pool);
    folder.write("holes.csv", holes);
    folder.write("x.csv", features);
    folder
}

/// The command under limits of data and of time, since an OpenBLAS asks for memory for ever.
fn limited(folder: &Folder, line: &str, bytes: u64) -> Output {
    let program = env!("CARGO_BIN_EXE_consilience");
    let out = if line.starts_with("plot") { "o.svg" } else { "o.csv" };
    let limits = format!("--core=0 --cpu=30 --data={bytes}");
    let line = format!("exec prlimit {limits} {program} {line} -o {out}");
    let mut command = Command::new("sh");
    command.args(["-c", &line]).current_dir(folder.path("")).stdin(Stdio::null());
    command.env("RAYON_NUM_THREADS", "2").output().unwrap()
}

/// About the least limit under which the command ends well.
fn need(folder: &Folder, line: &str) -> u64 {
    let (mut low, mut high) = (0, ENOUGH);
    while high - low > EXACT {
        let middle = low + (high - low) / 2;
        if limited(folder, line, middle).status.success() { high = middle } else { low = middle }
    }
    high
}

#[test]
fn memory_that_ends_inside_large_tables_is_an_error() {
    if Command::new("prlimit").arg("--version").output().is_err() {
        println!("skipped: no prlimit");
        return;
    }
    let (few, many) = (tables(FEW), tables(ROWS));
    let steps = limits(3);
    let (mut done, mut refused) = (0, 0);
    for line in LINES {
        let out = if line.starts_with("plot") { "o.svg" } else { "o.csv" };
        let from = need(&few, line) + SMALL;
        let to = need(&many, line).max(from) + EXACT;
        assert!(limited(&many, line, ENOUGH).status.success(), "{line}");
        let whole = many.read(out);
        for step in 0..=steps {
            let bytes = from + (to - from) * step / steps;
            many.write(out, "precious");
            let output = limited(&many, line, bytes);
            let text = String::from_utf8_lossy(&output.stderr);
            let what = format!("{line}, {bytes} bytes: {text}");
            if output.status.success() {
                assert_eq!(many.read(out), whole, "{what}");
                done += 1;
            } else {
                assert_eq!(output.status.code(), Some(2), "{what}");
                assert!(text.starts_with("error: ") && text.contains("memory"), "{what}");
                assert_eq!(many.read(out), b"precious", "{what}");
                refused += 1;
            }
        }
    }
    println!("{done} done, {refused} refused");
}

/// Clusters that overlap in a chain, 5,001 with 5,000: a table of all their pairs would take 200
/// MB, those that share objects are 10,000.
#[test]
fn scores_of_very_many_clusters_need_no_table_of_them() {
    if Command::new("prlimit").arg("--version").output().is_err() {
        println!("skipped: no prlimit");
        return;
    }
    let folder = Folder::new();
    let column = |of: fn(u32) -> u32| (0..10_000).map(|i| format!("{}\n", of(i))).collect();
    let (labels, truth): (String, String) = (column(|i| i.div_ceil(2)), column(|i| i / 2));
    folder.write("labels.csv", labels);
    folder.write("truth.csv", truth);
    let program = env!("CARGO_BIN_EXE_consilience");
    let limits = format!("--core=0 --cpu=30 --data={}", 100 << 20);
    let line = format!("exec prlimit {limits} {program} score labels.csv truth.csv");
    let mut command = Command::new("sh");
    command.args(["-c", &line]).current_dir(folder.path("")).stdin(Stdio::null());
    let output = command.env("RAYON_NUM_THREADS", "2").output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let accuracy = text.lines().find(|line| line.starts_with("accuracy"));
    assert!(accuracy.is_some_and(|line| line.ends_with(" 0.5000")), "{text}");
}
