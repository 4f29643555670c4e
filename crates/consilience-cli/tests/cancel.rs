//! Ctrl-C in the middle of heavy work ends the program soon, whatever it does, and no output
//! appears; while outputs are put in their places it comes too late.
#![cfg(unix)]

mod common;

use std::fmt::Write as _;
use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use common::{Dice, Folder};

/// How long each command works before it is interrupted; less where it is over by then.
const WORK: Duration = Duration::from_millis(1_000);
/// What is promised is a second; on a machine that does much else, waking up takes its time.
const PATIENCE: Duration = Duration::from_secs(5);

/// Labels that have hardly anything in common.
fn labels(objects: usize, members: usize, clusters: u64) -> String {
    let mut dice = Dice::new(3);
    let mut text = String::new();
    for _ in 0..objects {
        let row: Vec<String> = (0..members).map(|_| dice.below(clusters).to_string()).collect();
        text += &row.join(",");
        text.push('\n');
    }
    text
}

fn features(objects: usize, columns: usize) -> String {
    let mut dice = Dice::new(4);
    let mut text = String::new();
    for _ in 0..objects {
        let row: Vec<String> =
            (0..columns).map(|_| (dice.below(1_000_000) as f64 / 1e6).to_string()).collect();
        text += &row.join(",");
        text.push('\n');
    }
    text
}

/// Links whose ends no other link has, half of them of objects that are alike in nothing.
fn links(count: usize) -> String {
    let mut text = String::from("i,j,link\n");
    for link in 0..count {
        let kind = if link % 2 == 0 { "must" } else { "cannot" };
        writeln!(text, "{},{},{kind}", 2 * link, 2 * link + 1).unwrap();
    }
    text
}

/// Answers of people of whom every tenth is wrong.
fn answers(count: usize, objects: u64) -> String {
    let mut dice = Dice::new(5);
    let mut text = String::from("worker,i,j,same\n");
    for answer in 0..count {
        let (i, step) = (dice.below(objects), 1 + dice.below(objects - 1));
        let j = (i + step) % objects;
        let same = (i % 6 == j % 6) != (dice.below(10) == 0);
        writeln!(text, "{},{i},{j},{}", answer % 50, if same { "yes" } else { "no" }).unwrap();
    }
    text
}

/// What lies in the folder before, and then nothing else must.
const INPUTS: [&str; 7] =
    ["answers.csv", "few.csv", "links.csv", "many.csv", "plane.csv", "space.csv", "square.csv"];

const COMMANDS: [&str; 9] = [
    "consensus few.csv --method pcc-kl --clusters 1500 -o out.csv",
    "consensus few.csv --method diffusion --clusters 1500 -o out.csv",
    "consensus square.csv --method srs-al --clusters 20 -o out.csv",
    "generate plane.csv --method agglomerative --members 4 -o out.npz",
    "generate plane.csv --method spectral --members 4 -o out.npz",
    "plot dendrogram square.csv --method eac-ward -o out.svg",
    "crowd answers.csv --method rmc --clusters 60 -o out.csv",
    "report many.csv -o out.html",
    "cluster space.csv --method kmeans --metric itml --constraints links.csv --clusters 6 \
     --param max_iterations=1000000 --param tolerance=1e-300 -o out.csv",
];

fn prepared() -> Folder {
    let folder = Folder::new();
    folder.write("few.csv", labels(1_500, 8, 40));
    folder.write("square.csv", labels(9_000, 6, 60));
    folder.write("many.csv", labels(60_000, 6, 60));
    folder.write("plane.csv", features(20_000, 2));
    folder.write("space.csv", features(4_000, 150));
    folder.write("links.csv", links(2_000));
    folder.write("answers.csv", answers(300_000, 6_000));
    assert_eq!(folder.names(), INPUTS);
    folder
}

/// A command in the middle of its work.
fn working(folder: &Folder, args: &str) -> Child {
    let mut wait = WORK;
    for _ in 0..5 {
        let mut child = folder.command(&format!("{args} --quiet")).spawn().unwrap();
        std::thread::sleep(wait);
        if child.try_wait().unwrap().is_none() {
            return child;
        }
        // A fast machine.
        for name in folder.names().iter().filter(|name| !INPUTS.contains(&name.as_str())) {
            std::fs::remove_file(folder.path(name)).unwrap();
        }
        wait /= 2;
    }
    panic!("too little work to be interrupted: {args}");
}

/// Interrupts a command; how long it took to end.
fn interrupted(folder: &Folder, args: &str) -> Duration {
    let mut child = working(folder, args);
    let kill = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(kill.success());
    let start = Instant::now();
    let code = ended(&mut child, args);
    let took = start.elapsed();
    let mut reply = String::new();
    child.stderr.take().unwrap().read_to_string(&mut reply).unwrap();
    assert_eq!(code, Some(130), "{args}: {reply}");
    assert_eq!(reply, "error: cancelled; nothing was written\n", "{args}");
    assert_eq!(folder.names(), INPUTS, "{args}");
    took
}

/// The exit code, within [`PATIENCE`].
fn ended(child: &mut Child, args: &str) -> Option<i32> {
    let until = Instant::now() + PATIENCE;
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return status.code();
        }
        if Instant::now() > until {
            child.kill().unwrap();
            child.wait().unwrap();
            panic!("not over {PATIENCE:?} after Ctrl-C: {args}");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn heavy_commands_end_soon_after_an_interrupt() {
    let folder = prepared();
    for args in COMMANDS {
        let took = interrupted(&folder, args);
        println!("{:>5.2} s: {args}", took.as_secs_f64());
    }
}

/// Sends two signals at once where an output is there before a moment is over; or then.
fn interrupted_twice(folder: &Folder, child: &mut Child, patience: Duration) {
    let pid = child.id();
    // It waits for a line, since a process takes longer to start than two files to be renamed.
    let mut killer = Command::new("sh")
        .args(["-c", &format!("read go && kill -TERM {pid} && kill -INT {pid}")])
        .stdin(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let until = Instant::now() + patience;
    let mut over = false;
    while !over && Instant::now() < until && !OUTPUTS.iter().any(|o| folder.path(o).exists()) {
        over = child.try_wait().unwrap().is_some();
    }
    let mut go = killer.stdin.take().unwrap();
    // The number of a process that is over may be that of another one.
    if !over {
        go.write_all(b"go\n").unwrap();
    }
    drop(go);
    killer.wait().unwrap();
}

const OUTPUTS: [&str; 2] = ["a.csv", "b.csv"];

#[test]
fn two_interrupts_leave_all_outputs_or_none() {
    let folder = Folder::new();
    folder.write("few.csv", labels(2_000, 6, 5));
    let args = "consensus few.csv --method voting --clusters 3 -o a.csv --soft b.csv --quiet";
    let mut both = 0;
    for round in 0..24 {
        for name in OUTPUTS {
            let _ = std::fs::remove_file(folder.path(name));
        }
        let mut child = folder.command(args).spawn().unwrap();
        // By turns while the outputs appear, and at any moment.
        let patience = if round % 2 == 0 { PATIENCE } else { Duration::from_millis(2 * round) };
        interrupted_twice(&folder, &mut child, patience);
        let code = ended(&mut child, args);
        let left = folder.names();
        if code == Some(0) {
            both += 1;
            assert_eq!(left, ["a.csv", "b.csv", "few.csv"], "round {round}");
        } else {
            assert_eq!(left, ["few.csv"], "round {round}: {code:?}");
        }
    }
    assert!(both > 0);
}
