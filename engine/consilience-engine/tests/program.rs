//! The program as people run it.

mod common;

use std::fs;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use common::{json, names, program, refused, run};

#[test]
fn from_a_made_table_to_scores() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    json(at, "make ensemble pool --files 3 --rows 2000 --columns 8 --distinct 90 --seed 4");
    let found = json(at, "consensus pool --method pta-al --clusters 4 -o labels --diagnose");
    assert_eq!(
        (&found["n"], &found["rows"], &found["files"]),
        (&6000.into(), &90.into(), &3.into())
    );
    assert_eq!(found["clusters"], 4);
    assert!(found["peak_rss_bytes"].as_u64().unwrap() > 0);
    assert!(found["seconds"]["group"].as_f64().unwrap() > 0.0);
    assert!(found["diagnostics"]["anmi"].as_f64().unwrap() > 0.1);
    let sizes = found["sizes"].as_array().unwrap();
    assert_eq!(sizes.iter().map(|size| size.as_u64().unwrap()).sum::<u64>(), 6000);
    // A clustering agrees with itself, in files of other lengths too.
    json(at, "consensus pool --method pta-al --clusters 4 -o again --threads 1 --truth labels");
    let scores = json(at, "score labels again/part-*.parquet");
    assert_eq!((&scores["n"], &scores["scores"]["ari"]), (&6000.into(), &1.0.into()));
    let text = run(at, "score labels again");
    assert!(String::from_utf8(text.stdout).unwrap().contains("nmi"));
    let listed = run(at, "consensus --list");
    assert!(String::from_utf8(listed.stdout).unwrap().contains("pta-al"));
    // Unattended: the method and the number of clusters are found.
    let found = json(at, "consensus pool");
    assert!(found["method"] == "auto" && found["clusters"].as_u64().unwrap() > 0);
}

#[test]
fn features_to_an_ensemble_to_links() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    json(at, "make features x --files 2 --rows 3000 --columns 4");
    let made = json(at, "generate x -o pool --members 6 --clusters 5..15 --sample 1000");
    assert_eq!((&made["members"], &made["sample"]), (&6.into(), &1000.into()));
    let found = json(at, "consensus pool --method lwea --clusters 10 -o labels");
    assert_eq!(found["members"], 6);
    fs::write(at.join("pairs.csv"), "i,j,link\n0,1,cannot\n0,5999,cannot\n").unwrap();
    let line = "update pool --constraints pairs.csv --method lwea --clusters 10 -o followed";
    let followed = json(at, line);
    assert_eq!(followed["constraints"], 2);
    let weights = followed["weights"].as_array().unwrap();
    let sum: f64 = weights.iter().map(|weight| weight.as_f64().unwrap()).sum();
    assert!((sum - 1.0).abs() < 1e-9);
    assert_eq!(json(at, "score followed labels")["n"], 6000);
    fs::write(at.join("pairs.csv"), "0,1,must\n1,0,cannot\n").unwrap();
    refused(at, "update pool --constraints pairs.csv --clusters 10 -o other", "cannot");
}

#[test]
fn what_is_wrong_is_said_in_one_line() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    json(at, "make ensemble pool --files 2 --rows 500 --columns 6 --distinct 0");
    refused(at, "", "no command");
    refused(at, "consensus", "ENSEMBLE");
    refused(at, "consensus nowhere", "nowhere: no such file");
    refused(at, "consensus pool --method magic", "expected one of");
    let line = "consensus pool --method pta-al --param T=-1 --clusters 3 -o labels";
    refused(at, line, "T \"-1\"; expected a whole number");
    refused(at, "consensus pool --method pta-al --clusters 0 -o labels", "0 clusters");
    refused(at, "consensus pool --columns 6", "column 6 of 6");
    refused(at, "consensus pool --memory 1K", "expected 64 MiB");
    refused(at, "consensus pool --threads 0", "--threads 0");
    refused(at, "consensus pool -o pool", "holds something");
    refused(at, "consensus pool -o labels.parquet", "name of a folder");
    refused(at, "make ensemble pool", "pool:");
    refused(at, "score pool pool", "6 columns of labels; expected 1");
    refused(at, "generate pool -o x --clusters 5..2", "--clusters 5..2");
    fs::write(at.join("pool/part-00001.parquet"), "PAR1 no PAR1").unwrap();
    refused(at, "consensus pool -o labels", "part-00001.parquet: not a readable Parquet file");
}

#[test]
fn too_many_rows_for_the_method() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    json(at, "make ensemble pool --files 2 --rows 8000 --columns 12 --distinct 0");
    let line = "consensus pool --method eac-ward --clusters 4 --memory 256M -o labels";
    refused(at, line, "distinct rows are too many for eac-ward");
    refused(at, line, "expected hbgf, lwgp, diffusion or usenc, or --sample ROWS");
    let found = json(at, &format!("{line} --sample 1000"));
    assert_eq!(found["sample"], 1000);
    assert!(found["placed"].as_u64().unwrap() > 10_000);
}

#[test]
fn too_many_rows_for_any_method() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    json(at, "make ensemble pool --files 2 --rows 200000 --columns 20 --distinct 0");
    let line = "consensus pool --method hbgf --clusters 4 --memory 128M -o labels";
    refused(at, line, "whatever the method");
    assert_eq!(json(at, &format!("{line} --sample 1000"))["sample"], 1000);
}

/// A disk that is full, as the limit on the size of a file, with its signal ignored as a full disk
/// sends none.
#[cfg(unix)]
#[test]
fn full_disk() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    json(at, "make ensemble pool --files 1 --rows 400000 --columns 8 --distinct 500");
    let before = names(at);
    let line = format!(
        "ulimit -f 32; exec {} consensus pool --method lwea --clusters 5 -o labels",
        env!("CARGO_BIN_EXE_consilience-engine")
    );
    let output = Command::new("bash").args(["-c", &line]).current_dir(at).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("labels/part-00000.parquet: the file may not grow"), "{said}");
    assert_eq!(names(at), before);
}

/// Ctrl-C at several moments: exit code 130 and nothing left, or done before it came.
#[cfg(unix)]
#[test]
fn interrupts_leave_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    json(at, "make ensemble pool --files 4 --rows 250000 --columns 12 --distinct 2000");
    let mut interrupted = 0;
    for wait in [50, 150, 300, 500, 800, 1200] {
        let line = "consensus pool --method lwea --clusters 5 -o labels";
        let child = program()
            .args(line.split_whitespace())
            .current_dir(at)
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_millis(wait));
        let pid = child.id().to_string();
        Command::new("kill").args(["-INT", &pid]).status().unwrap();
        let sent = Instant::now();
        let output = child.wait_with_output().unwrap();
        assert!(sent.elapsed() < Duration::from_secs(20));
        let said = String::from_utf8(output.stderr).unwrap();
        match output.status.code() {
            Some(0) => {
                assert_eq!(names(at), ["labels", "pool"]);
                fs::remove_dir_all(at.join("labels")).unwrap();
            }
            Some(130) => {
                assert_eq!(said, "error: cancelled; nothing was written\n");
                assert_eq!(names(at), ["pool"]);
                interrupted += 1;
            }
            // Before the program has begun to listen.
            None => assert_eq!(names(at), ["pool"]),
            other => panic!("{other:?}: {said}"),
        }
    }
    assert!(interrupted > 0);
}
