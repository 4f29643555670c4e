//! What a command leaves when it cannot be finished: exit code 2 means that no file has changed,
//! whatever fails, and memory that is not there is an error like any other.
#![cfg(target_os = "linux")]

mod common;

use std::fs::{self, File};
use std::io::Read;
use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};

use common::{CROWD_METHODS, Folder, npy, npz, prepared, told};

/// Runs what must fail with one line on standard error that holds the needle.
fn refused(folder: &Folder, line: &str, needle: &str) {
    let before = folder.names();
    let text = told(&folder.shell(line), line);
    assert!(text.contains(needle), "{line}: {needle:?} is not in {text}");
    assert_eq!(folder.names(), before, "{line}");
}

fn with_pairs() -> Folder {
    let folder = prepared();
    folder.write("a.csv", "0,4,must\n0,1,cannot\n8,12,must\n");
    folder.write("b.csv", "2,6,must\n2,3,cannot\n");
    folder.write("answers.csv", "worker,i,j,same\n0,0,1,1\n0,1,2,0\n1,0,2,0\n");
    folder
}

#[test]
fn numbers_of_objects_take_no_memory_before_they_are_checked() {
    let folder = Folder::new();
    folder.write("h.csv", "worker,task,item,keyword\n0,1,1,b\n0,1,1000000000,a\n");
    for method in CROWD_METHODS {
        let line = format!("ulimit -v 6000000; PROGRAM crowd h.csv --clusters 2 --method {method}");
        refused(&folder, &line, "memory budget");
    }
    folder.write("s.csv", "worker,i,j,same\n0,0,1,1\n0,1,2,0\n");
    let line = "ulimit -v 6000000; PROGRAM crowd s.csv --objects 4000000000 --clusters 2";
    refused(&folder, line, "memory budget");
    // Within the budget any number will do.
    folder.write("gap.csv", "worker,i,j,same\n0,0,1,1\n0,1,50000,0\n1,0,1,1\n");
    folder.ok("crowd gap.csv --clusters 2");
}

#[test]
fn tables_beyond_memory_are_refused_by_every_reader() {
    let folder = Folder::new();
    // Zeros that the disk does not hold.
    let header = npy("|i1", false, "(4000000000,)", &[]);
    folder.write("large.npy", &header);
    File::options()
        .write(true)
        .open(folder.path("large.npy"))
        .unwrap()
        .set_len(header.len() as u64 + 4_000_000_000)
        .unwrap();
    let consensus = "PROGRAM consensus large.npy --method voting --clusters 1";
    refused(&folder, &format!("ulimit -v 900000; {consensus}"), "memory budget");
    // Where the limit is lower than what was said, the system's answer is taken for an answer.
    let lying = format!("ulimit -v 900000; {consensus} --memory 100G");
    refused(&folder, &lying, "the system has not so much memory left");
    refused(&folder, "ulimit -v 900000; PROGRAM generate large.npy -o o.npy", "fit in memory");
    fs::remove_file(folder.path("large.npy")).unwrap();

    let rows = 60_000;
    let zeros = npy("|i1", false, &format!("({rows}, 4)"), &vec![0; 4 * rows]);
    folder.write("zeros.npy", &zeros);
    folder.write("zeros.npz", npz(&[("labels", zeros)]));
    folder.write("zeros.csv", "0,0,0,0\n".repeat(rows));
    folder.ok("generate zeros.npy -o zeros.parquet --members 4 --clusters 1");
    for file in ["zeros.npy", "zeros.npz", "zeros.csv", "zeros.parquet"] {
        let line = format!("PROGRAM consensus {file} --method voting --clusters 1 --memory 100k");
        refused(&folder, &line, "memory");
        let line = format!("PROGRAM generate {file} -o o.npy --memory 100k");
        refused(&folder, &line, "memory");
        folder.ok(&format!("consensus {file} --method voting --clusters 1 --memory 500M"));
    }
    // Every column has a table of the labels that it saw.
    folder.write(
        "wide.npy",
        npy("<u2", false, "(1, 20000)", &60_000u16.to_le_bytes().repeat(20_000)),
    );
    refused(&folder, "PROGRAM consensus wide.npy --clusters 1 --memory 100M", "memory");
    folder.write("answers.csv", "worker,i,j,same\n".to_owned() + &"0,0,1,1\n".repeat(10_000));
    refused(&folder, "PROGRAM crowd answers.csv --clusters 2 --memory 100k", "memory");
}

#[test]
fn endless_input_ends() {
    let folder = prepared();
    symlink("/dev/zero", folder.path("zero.csv")).unwrap();
    symlink("/dev/zero", folder.path("zero.npz")).unwrap();
    symlink("/dev/zero", folder.path("zero.parquet")).unwrap();
    for file in ["zero.csv", "zero.npz", "zero.parquet"] {
        refused(&folder, &format!("ulimit -v 2000000; PROGRAM consensus {file}"), file);
    }
    refused(
        &folder,
        "ulimit -v 2000000; PROGRAM update pool.csv --clusters 4 --state /dev/zero",
        "no regular file",
    );
    symlink("/dev/zero", folder.path("zero.state")).unwrap();
    refused(&folder, "PROGRAM update pool.csv --clusters 4 --state zero.state", "zero.state");
}

#[test]
fn the_limit_reaches_every_command() {
    let folder = with_pairs();
    for method in ["pta-al", "eac-ward", "wct-al", "ecpcs-hc", "pcc-kl", "gp-mgla"] {
        let line =
            format!("PROGRAM consensus pool.csv --method {method} --clusters 4 --memory 20k");
        refused(&folder, &line, "memory budget is 20480 bytes");
    }
    folder.write("far.csv", "worker,i,j,same\n0,0,1,1\n0,1,50000,0\n1,0,1,1\n");
    for line in [
        "generate x.csv -o o.npy --method agglomerative",
        "cluster x.csv --method ccskl --clusters 4 --constraints a.csv",
        "complete x.csv --constraints a.csv --clusters 4",
        "crowd far.csv --clusters 2",
        "plot co-association pool.csv -o p.svg",
    ] {
        refused(&folder, &format!("PROGRAM {line} --memory 20k"), "memory budget is 20480 bytes");
    }
    let update = "PROGRAM update pool.csv --constraints a.csv --clusters 4 --memory 4k";
    refused(&folder, update, "budget of 4096 bytes");
    refused(&folder, "PROGRAM demo --memory lots", "--memory lots: expected a size such as");
    refused(&folder, "PROGRAM demo --memory 0", "--memory 0");
}

#[test]
fn what_cannot_be_told_is_not_kept() {
    let folder = with_pairs();
    let update = "update pool.csv --constraints a.csv --state s --rule additive";
    folder.ok(&format!("{update} --clusters 4"));
    fs::copy(folder.path("s"), folder.path("first")).unwrap();
    for line in [
        "consensus pool.csv --method eac-al --clusters 4 -o old.csv --soft old.npy",
        "generate x.csv -o old.csv",
        "crowd answers.csv --clusters 2 -o old.csv",
        "cluster x.csv --method kmeans --clusters 4 -o old.csv",
        "complete x.csv --constraints a.csv --clusters 4 -o old.csv",
        "plot cdf pool.csv -o old.svg",
        "update pool.csv --constraints b.csv --state s --rule additive -o old.csv",
    ] {
        for name in ["old.csv", "old.npy", "old.svg"] {
            folder.write(name, "precious");
        }
        for json in ["", "--json"] {
            let line = format!("PROGRAM {line} {json} > /dev/full");
            refused(&folder, &line, "standard output: no space left");
            for name in ["old.csv", "old.npy", "old.svg"] {
                assert_eq!(folder.read(name), b"precious", "{line}");
            }
            assert_eq!(folder.read("s"), folder.read("first"), "{line}");
        }
    }
    // A score that cannot be computed.
    folder.write("e.csv", "0,1\n0,1\n1,0\n-1,-1\n");
    folder.write("t.csv", "-1\n-1\n-1\n5\n");
    folder.write("p.csv", "0,1,must\n");
    folder.ok("update e.csv --clusters 2 --state e --rule additive");
    let before = folder.read("e");
    refused(
        &folder,
        "PROGRAM update e.csv --constraints p.csv --state e --rule additive --truth t.csv",
        "",
    );
    assert_eq!(folder.read("e"), before);
    // Nobody to tell is no reason to keep nothing.
    let piped = "PROGRAM consensus pool.csv --method eac-al --clusters 4 -o new.csv | true";
    assert!(folder.shell(piped).status.success());
    let piped = "PROGRAM consensus nope.csv --method eac-al 2> /dev/full";
    assert_eq!(folder.shell(piped).status.code(), Some(2));
}

#[test]
fn files_left_behind_by_others_block_nobody() {
    let folder = prepared();
    let line = "touch .o.csv.$$.tmp; exec PROGRAM consensus pool.csv --method eac-al --clusters 3 \
                -o o.csv";
    for _ in 0..2 {
        let output = folder.shell(line);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    assert!(common::exists(&folder.path("o.csv")));
    let taken = "PROGRAM consensus pool.csv --method eac-al --clusters 3 -o o.csv --soft ./o.csv";
    refused(&folder, taken, "twice");
}

#[test]
fn updates_of_one_state_wait_for_each_other() {
    let folder = with_pairs();
    for round in 0..5 {
        let state = format!("s{round}");
        let start = |pairs: &str| {
            let args = format!(
                "update pool.csv --constraints {pairs} --clusters 4 --state {state} --rule additive"
            );
            folder.command(&args).spawn().unwrap()
        };
        let both = [start("a.csv"), start("b.csv")];
        for mut child in both {
            let mut said = String::new();
            child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
            assert!(child.wait().unwrap().success(), "{said}");
        }
        let found = folder.json(&format!("update pool.csv --state {state} --rule additive"));
        assert_eq!(found["constraints"], 5, "round {round}: a batch is lost");
    }
    assert!(folder.names().iter().all(|name| !name.starts_with('.')), "{:?}", folder.names());
    // A lock that its owner left behind.
    folder.write(".s0.lock", "");
    folder.ok("update pool.csv --state s0 --rule additive");
}

#[test]
fn devices_pipes_and_links_stay_what_they_are() {
    let folder = prepared();
    symlink("/dev/null", folder.path("null.csv")).unwrap();
    let consensus = "consensus pool.csv --method eac-al --clusters 4";
    folder.ok(&format!("{consensus} -o null.csv"));
    assert!(fs::symlink_metadata(folder.path("null.csv")).unwrap().is_symlink());
    assert!(fs::metadata("/dev/null").unwrap().file_type().is_char_device());
    symlink("/dev/full", folder.path("full.csv")).unwrap();
    folder.fails(&format!("{consensus} -o full.csv"), &["full.csv", "no space left"]);
    symlink("loop.csv", folder.path("loop.csv")).unwrap();
    folder.fails(&format!("{consensus} -o loop.csv"), &["loop.csv"]);
    symlink("later.csv", folder.path("dangling.csv")).unwrap();
    folder.ok(&format!("{consensus} -o dangling.csv"));
    assert!(fs::symlink_metadata(folder.path("later.csv")).unwrap().is_file());
    // A table through a pipe, out and in again.
    let line = format!("mkfifo p.npy; cat p.npy > copy.npy & PROGRAM {consensus} -o p.npy; wait");
    assert!(folder.shell(&line).status.success());
    folder.ok("score copy.npy truth.csv");
    let line = "cat copy.npy > p.npy & PROGRAM score p.npy truth.csv";
    let output = folder.shell(line);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    // Whom a state is hidden from does not see the next one either.
    folder.ok("update pool.csv --clusters 4 --state s --rule additive");
    fs::set_permissions(folder.path("s"), fs::Permissions::from_mode(0o600)).unwrap();
    folder.ok("update pool.csv --state s --rule additive");
    assert_eq!(fs::metadata(folder.path("s")).unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn a_disk_that_is_full_is_told_in_one_line() {
    let folder = prepared();
    for ending in ["csv", "npy", "npz", "parquet"] {
        // The limit counts blocks of 512 bytes.
        let line = format!(
            "ulimit -f 0; PROGRAM consensus pool.csv --method eac-al --clusters 4 -o o.{ending}"
        );
        refused(&folder, &line, "o.");
    }
}
