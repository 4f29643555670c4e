//! The tables of `docs/engine.md` and `docs/cluster.md`: makes tables in a folder, runs the program
//! on them, and prints what it took; `growth` leaves `engine-cost.svg` there too. The folder needs
//! some 5 GB for `all`, and 15 GB for `billion`.
//!
//!     cargo run --release --example measure -- FOLDER [PART]
//!
//! where PART is one of rows, growth, features, distinct, cluster, billion and all.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use consilience::{Ensemble, Microclusters, Partition, Seed};
use serde_json::Value;

/// The program beside this example.
fn program() -> Command {
    let own = std::env::current_exe().expect("a program");
    let folder = own.parent().and_then(Path::parent).expect("a folder of programs");
    Command::new(folder.join("consilience-engine"))
}

/// Runs the program; what it says as JSON, or its error.
fn run(folder: &Path, line: &str) -> Result<Value, String> {
    eprintln!("{line}");
    let arguments = line.split_whitespace().chain(["--json", "--quiet"]);
    let output = program().args(arguments).current_dir(folder).output().expect("the program");
    match output.status.success() {
        true => Ok(serde_json::from_slice(&output.stdout).expect("JSON")),
        false => Err(String::from_utf8_lossy(&output.stderr).trim().to_owned()),
    }
}

fn seconds(told: &Value, step: &str) -> String {
    told["seconds"][step].as_f64().map_or(String::from("-"), |s| format!("{s:.1} s"))
}

fn peak(told: &Value) -> String {
    told["peak_rss_bytes"].as_f64().map_or(String::from("-"), |b| format!("{:.0} MB", b / 1e6))
}

/// An ensemble, made unless it is there.
fn pool(folder: &Path, files: usize, rows: u64, members: usize, distinct: usize) -> String {
    let name = format!("pool-{files}-{rows}-{members}-{distinct}");
    if !folder.join(&name).exists() {
        let line =
            format!("make ensemble {name} --files {files} --rows {rows} --columns {members}");
        run(folder, &format!("{line} --distinct {distinct}")).expect("a table");
    }
    name
}

/// A line of the table of consensus runs. Returns the seconds of grouping, combining and writing.
fn consensus(folder: &Path, pool: &str, method: &str, more: &str) -> [f64; 3] {
    let _ = std::fs::remove_dir_all(folder.join("labels"));
    let line = format!("consensus {pool} --method {method} --clusters 10 -o labels {more}");
    match run(folder, &line) {
        Ok(told) => {
            println!(
                "| {} x {}, {}, {} | {method} {more} | {} | {} | {} | {} | {} |",
                told["n"],
                told["members"],
                told["rows"],
                told["files"],
                seconds(&told, "group"),
                seconds(&told, "combine"),
                seconds(&told, "write"),
                seconds(&told, "total"),
                peak(&told),
            );
            ["group", "combine", "write"].map(|step| told["seconds"][step].as_f64().unwrap_or(0.0))
        }
        Err(error) => {
            println!("| {pool} | {method} {more} | {error} | | | | |");
            [0.0; 3]
        }
    }
}

/// A bar for each run, of its steps, to a file.
fn plot(path: &Path, bars: &[(String, [f64; 3])]) {
    const COLOURS: [(&str, &str); 3] =
        [("group", "#4477aa"), ("combine", "#ccbb44"), ("write", "#66ccee")];
    let most = bars.iter().map(|(_, steps)| steps.iter().sum()).fold(f64::MIN_POSITIVE, f64::max);
    let height = 24 * bars.len() + 40;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"820\" height=\"{height}\" \
         font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"820\" height=\"{height}\" fill=\"white\"/>\n"
    );
    for (at, (name, colour)) in COLOURS.iter().enumerate() {
        let x = 330 + 90 * at;
        svg += &format!(
            "<rect x=\"{x}\" y=\"8\" width=\"12\" height=\"12\" fill=\"{colour}\"/>\
             <text x=\"{}\" y=\"18\">{name}</text>\n",
            x + 16
        );
    }
    for (at, (name, steps)) in bars.iter().enumerate() {
        let (y, mut x) = (30 + 24 * at, 330.0);
        svg += &format!("<text x=\"320\" y=\"{}\" text-anchor=\"end\">{name}</text>\n", y + 13);
        for ((_, colour), seconds) in COLOURS.iter().zip(steps) {
            let width = 420.0 * seconds / most;
            svg += &format!(
                "<rect x=\"{x:.1}\" y=\"{y}\" width=\"{width:.1}\" height=\"17\" \
                 fill=\"{colour}\"/>"
            );
            x += width;
        }
        let sum: f64 = steps.iter().sum();
        svg += &format!("<text x=\"{:.1}\" y=\"{}\">{sum:.1} s</text>\n", x + 5.0, y + 13);
    }
    std::fs::write(path, svg + "</svg>\n").expect("a plot");
}

fn header(title: &str) {
    println!("\n{title}\n");
    println!(
        "| rows x members, distinct rows, files | method | group | combine | write | total | peak |"
    );
    println!("|---|---|---|---|---|---|---|");
}

fn rows(folder: &Path) {
    header("A hundred million rows");
    let pool = pool(folder, 100, 1_000_000, 20, 3000);
    consensus(folder, &pool, "pta-al", "--memory 1500M");
}

fn growth(folder: &Path) {
    header("How cost grows");
    let mut bars = Vec::new();
    for (files, rows, members, distinct) in [
        (10, 200_000, 20, 3000),
        (10, 1_000_000, 20, 3000),
        (50, 1_000_000, 20, 3000),
        (1, 10_000_000, 20, 3000),
        (100, 100_000, 20, 3000),
        (10, 1_000_000, 5, 3000),
        (10, 1_000_000, 50, 3000),
        (10, 1_000_000, 20, 100),
        (10, 1_000_000, 20, 300_000),
    ] {
        let pool = pool(folder, files, rows, members, distinct);
        let steps = consensus(folder, &pool, "hbgf", "--memory 4G");
        let millions = (files as u64 * rows) as f64 / 1e6;
        let name = format!("{millions} million x {members}, {distinct} distinct, {files} files");
        bars.push((name, steps));
    }
    let pool = pool(folder, 10, 1_000_000, 20, 3000);
    let steps = consensus(folder, &pool, "hbgf", "--memory 4G --threads 1");
    bars.push((String::from("10 million x 20, 3000 distinct, 10 files, 1 thread"), steps));
    plot(&folder.join("engine-cost.svg"), &bars);
    in_memory();
}

/// The library's pass over as many labels in memory.
fn in_memory() {
    let n = 10_000_000;
    let tuple = |i: usize| Seed(1).derive("object", i as u64).0 % 3000;
    let tuples: Vec<u16> = (0..n).map(|i| tuple(i) as u16).collect();
    let members = (0..20u64).map(|u| {
        let label = |t: u64| Seed(2).derive("label", 20 * t + u).0 % 10;
        let labels: Vec<u64> = (0..3000).map(label).collect();
        Partition::from_fn(n, |i| Some(labels[usize::from(tuples[i])])).expect("labels")
    });
    let ensemble = Ensemble::new(members.collect()).expect("an ensemble");
    let mut times: Vec<f64> = (0..5)
        .map(|_| {
            let start = Instant::now();
            assert!(Microclusters::of(&ensemble).is_ok());
            start.elapsed().as_secs_f64()
        })
        .collect();
    times.sort_by(f64::total_cmp);
    println!("\nThe same ten million in memory, microclusters of the library: {:.2} s", times[2]);
}

fn distinct(folder: &Path) {
    header("Twenty million distinct rows");
    let pool = pool(folder, 20, 1_000_000, 20, 0);
    consensus(folder, &pool, "hbgf", "--memory 4G");
    consensus(folder, &pool, "hbgf", "--memory 4G --sample 200000");
    consensus(folder, &pool, "hbgf", "--memory 12G");
}

fn features(folder: &Path) {
    println!("\nFrom features to labels\n");
    println!("| objects x features | members | generate | consensus and labels | peak memory |");
    println!("|---|---|---|---|---|");
    for (files, rows, more) in [
        (50, 1_000_000, "--memory 4G"),
        (5, 1_000_000, "--memory 4G"),
        (5, 1_000_000, "--memory 20G"),
    ] {
        let name = format!("features-{files}-{rows}");
        if !folder.join(&name).exists() {
            let line = format!("make features {name} --files {files} --rows {rows} --columns 16");
            run(folder, &line).expect("a table");
        }
        for place in ["ensemble", "labels"] {
            let _ = std::fs::remove_dir_all(folder.join(place));
        }
        let line = format!("generate {name} -o ensemble --members 20 --clusters 10..30");
        let made = run(folder, &format!("{line} --method minibatch {more}")).expect("members");
        let line =
            "consensus ensemble --method lwea --clusters 10 --memory 4G --sample 20000 -o labels";
        let found = run(folder, line).expect("labels");
        println!(
            "| {} x {} | 20 by mini-batches, {more} | {} | {} | {}, {} |",
            made["n"],
            made["features"],
            seconds(&made, "total"),
            seconds(&found, "total"),
            peak(&made),
            peak(&found),
        );
    }
}

/// A scheduler and so many executors, until dropped.
struct Cluster(Vec<Child>, String);

impl Cluster {
    fn start(executors: usize) -> Self {
        let start = |line: &str| {
            let mut command = program();
            command.args(line.split_whitespace()).stdout(Stdio::piped()).spawn().expect("a party")
        };
        let mut scheduler = start("scheduler --listen 127.0.0.1:0");
        let mut said = String::new();
        let out = scheduler.stdout.take().expect("its words");
        BufReader::new(out).read_line(&mut said).expect("its address");
        let address = said.trim().rsplit(' ').next().expect("an address").to_owned();
        let line = format!("executor --scheduler {address} --tasks 1 --memory 2G");
        let executors = (0..executors).map(|_| start(&line));
        Cluster(std::iter::once(scheduler).chain(executors).collect(), address)
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        for party in &mut self.0 {
            let _ = party.kill();
            let _ = party.wait();
        }
    }
}

fn cluster(folder: &Path) {
    header("On a cluster of processes");
    let pool = pool(folder, 50, 1_000_000, 20, 3000);
    consensus(folder, &pool, "hbgf", "--memory 4G --threads 1");
    consensus(folder, &pool, "hbgf", "--memory 4G");
    for executors in [1, 2, 3] {
        let cluster = Cluster::start(executors);
        println!("{executors} executors:");
        consensus(folder, &pool, "hbgf", &format!("--memory 4G --scheduler {}", cluster.1));
    }
}

fn billion(folder: &Path) {
    header("A billion rows");
    let pool = pool(folder, 1000, 1_000_000, 20, 3000);
    consensus(folder, &pool, "pta-al", "--memory 2G");
}

/// Measures something in a folder.
type Part = fn(&Path);

fn main() {
    let mut arguments = std::env::args().skip(1);
    let folder = PathBuf::from(arguments.next().expect("a folder"));
    let what = arguments.next().unwrap_or_else(|| String::from("all"));
    std::fs::create_dir_all(&folder).expect("the folder");
    let parts: [(&str, Part); 5] = [
        ("rows", rows),
        ("growth", growth),
        ("features", features),
        ("distinct", distinct),
        ("cluster", cluster),
    ];
    for (name, part) in parts {
        if what == name || what == "all" {
            part(&folder);
        }
    }
    if what == "billion" {
        billion(&folder);
    }
}
