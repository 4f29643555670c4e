//! Members of other kinds, memberships and stored states, as people ask the program for them.

mod common;

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use common::{json, names, program, refused};
use datafusion::arrow::array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use datafusion::parquet::arrow::ArrowWriter;
use datafusion::parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

/// The files of two folders are equal, byte by byte.
fn same(one: &Path, other: &Path) {
    assert_eq!(names(one), names(other));
    for name in names(one) {
        assert!(
            fs::read(one.join(&name)).unwrap() == fs::read(other.join(&name)).unwrap(),
            "{name}"
        );
    }
}

#[test]
fn members_of_every_kind() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    json(at, "make features x --files 3 --rows 2000 --columns 5");
    for (method, scale) in [
        ("minibatch --param batch=100 --param batches=20", "zscore"),
        ("uspec --param representatives=100", "minmax"),
    ] {
        let name = method.split_whitespace().next().unwrap();
        let line = format!("generate x --method {method} --scale {scale} --members 4");
        let made = json(at, &format!("{line} -o {name}"));
        assert_eq!((&made["method"], &made["members"]), (&name.into(), &4.into()));
        // The same without holding all objects in memory, at any number of threads.
        json(at, &format!("{line} --sample 50 --threads 1 -o {name}-streamed"));
        same(&at.join(name), &at.join(format!("{name}-streamed")));
    }
    let made = json(at, "generate x -o pool --scale zscore --members 3 --object-fraction 0.5");
    assert_eq!(made["method"], "kmeans");
    refused(at, "generate x -o y --method magic", "expected one of kmeans, minibatch, uspec");
    refused(at, "generate x -o y --scale large", "expected one of none, minmax, zscore");
    refused(at, "generate x -o y --param batch=3", "kmeans takes no parameters");
    refused(at, "generate x -o y --method uspec --param restarts=0", "restarts 0");
    refused(at, "generate x -o y --method uspec --param restarts", "expected name=value");
}

#[test]
fn memberships_beside_labels() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    json(at, "make ensemble pool --files 3 --rows 1000 --columns 8 --distinct 60");
    json(at, "consensus pool --method pcc-kl --clusters 3 -o labels --soft soft");
    assert_eq!(names(&at.join("soft")), names(&at.join("labels")));
    // In a file too, without labels, and of a sample.
    let line = "consensus pool/part-00000.parquet --method pcc-kl --clusters 3 --soft soft.parquet";
    json(at, &format!("{line} --sample 20"));
    let hard = json(at, "consensus pool --method eac-al --clusters 3 --soft hard");
    assert!(hard["notes"][0].as_str().unwrap().contains("its memberships are 0 or 1"));
    let line = "consensus pool --clusters 3 -o twice --soft";
    refused(at, &format!("{line} twice"), "name the same place");
    refused(at, &format!("{line} ./twice"), "name the same place");
    refused(at, &format!("{line} labels"), "holds something");
}

/// Batches one after the other, each in a run of its own, end where one run ends.
#[test]
fn states_are_resumed() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    json(at, "make ensemble pool --files 2 --rows 1500 --columns 8 --distinct 90");
    let batches = ["0,1,cannot,a\n2,2900,must,a\n", "3,1600,must,b\n", "1600,4,cannot,c\n"];
    fs::write(at.join("all.csv"), format!("i,j,link,batch\n{}", batches.concat())).unwrap();
    let update = "update pool --method lwea --clusters 4";
    for rule in ["metric", "completion", "exact", "additive"] {
        let line = format!("{update} --rule {rule}");
        let whole = json(at, &format!("{line} --constraints all.csv -o whole"));
        assert_eq!((&whole["constraints"], &whole["resumed"]), (&4.into(), &false.into()));
        for (b, batch) in batches.iter().enumerate() {
            fs::write(at.join("new.csv"), format!("i,j,link,batch\n{batch}")).unwrap();
            let out = format!("--constraints new.csv --state {rule}.state -o labels{b}");
            let found = json(at, &format!("{line} {out}"));
            assert_eq!(found["batches"].as_array().unwrap().len(), 1);
            assert_eq!(found["resumed"], b > 0);
        }
        // Without new links, and without saying again what the state knows.
        let found = json(at, &format!("update pool --state {rule}.state -o labels3"));
        assert_eq!((&found["rule"], &found["constraints"]), (&rule.into(), &4.into()));
        assert_eq!(
            (&found["weights"], &found["clusters"]),
            (&whole["weights"], &whole["clusters"])
        );
        same(&at.join("whole"), &at.join("labels2"));
        same(&at.join("whole"), &at.join("labels3"));
        for name in ["whole", "labels0", "labels1", "labels2", "labels3"] {
            fs::remove_dir_all(at.join(name)).unwrap();
        }
    }
    assert_eq!(json(at, &format!("{update} --constraints all.csv"))["rule"], "metric");
    let kept = fs::read(at.join("exact.state")).unwrap();
    let line = "update pool --state exact.state";
    refused(at, &format!("{line} --clusters 5"), "exact.state is of 4 clusters");
    refused(at, &format!("{line} --rule metric"), "follows by the rule exact");
    fs::write(at.join("new.csv"), "1600,0,must\n4,0,must\n").unwrap();
    refused(at, &format!("{line} --constraints new.csv -o labels"), "1600");
    refused(at, "update pool --state pool", "no regular file");
    refused(at, "update pool", "--constraints");
    refused(at, "update pool --constraints all.csv --rule magic", "--rule: unknown rule \"magic\"");
    json(at, "make ensemble other --files 2 --rows 1500 --columns 8 --distinct 90 --seed 1");
    refused(at, "update other --state exact.state -o labels", "over another table");
    assert!(fs::read(at.join("exact.state")).unwrap() == kept);
    let mut damaged = kept;
    damaged[40] ^= 4;
    fs::write(at.join("exact.state"), &damaged).unwrap();
    refused(at, line, "exact.state: the stored state is damaged");
    assert!(fs::read(at.join("exact.state")).unwrap() == damaged);
}

/// A process that is killed leaves the old state or the new one, and labels only with the new one.
#[cfg(unix)]
#[test]
fn killed_updates_leave_a_whole_state() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    json(at, "make ensemble pool --files 3 --rows 300000 --columns 10 --distinct 800");
    fs::write(at.join("old.csv"), "0,1,cannot\n").unwrap();
    fs::write(at.join("new.csv"), "0,800000,must\n1,700000,must\n").unwrap();
    json(at, "update pool --method lwea --clusters 5 --constraints old.csv --state pool.state");
    let old = fs::read(at.join("pool.state")).unwrap();
    let line = "update pool --constraints new.csv --state pool.state -o labels";
    json(at, line);
    let new = fs::read(at.join("pool.state")).unwrap();
    assert!(old != new);
    let mut killed = 0;
    for wait in [20, 60, 120, 200, 300, 400, 500, 600, 700, 800, 1000, 1500] {
        fs::remove_dir_all(at.join("labels")).ok();
        fs::write(at.join("pool.state"), &old).unwrap();
        let mut child = program()
            .args(line.split_whitespace())
            .current_dir(at)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_millis(wait));
        child.kill().unwrap();
        killed += usize::from(child.wait().unwrap().code().is_none());
        let state = fs::read(at.join("pool.state")).unwrap();
        assert!(state == old || state == new, "after {wait} ms");
        if at.join("labels").exists() {
            assert!(state == new, "after {wait} ms");
            assert_eq!(json(at, "score labels labels")["n"], 900_000);
        }
        for name in names(at).iter().filter(|name| name.starts_with('.')) {
            let path = at.join(name);
            fs::remove_dir_all(&path).or_else(|_| fs::remove_file(&path)).unwrap();
        }
    }
    assert!(killed > 0);
}

/// A disk that is full while memberships are written, as the limit on the size of a file.
#[cfg(unix)]
#[test]
fn full_disks_leave_everything_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    json(at, "make ensemble pool --files 1 --rows 200000 --columns 8 --distinct 500");
    fs::write(at.join("pairs.csv"), "0,1,cannot\n").unwrap();
    json(at, "update pool --method lwea --clusters 5 --constraints pairs.csv --state pool.state");
    fs::write(at.join("pairs.csv"), "5,1000,must\n").unwrap();
    let (before, state) = (names(at), fs::read(at.join("pool.state")).unwrap());
    for (line, about) in [
        ("consensus pool --method pcc-kl --clusters 3 --soft soft", "soft/part-00000.parquet"),
        ("update pool --constraints pairs.csv --state pool.state -o labels", "labels/part-00000"),
    ] {
        let line =
            format!("ulimit -f 16; exec {} {line}", env!("CARGO_BIN_EXE_consilience-engine"));
        let output = Command::new("bash").args(["-c", &line]).current_dir(at).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(about) && said.contains("the file may not grow"), "{said}");
        assert_eq!(names(at), before);
        assert!(fs::read(at.join("pool.state")).unwrap() == state);
    }
}

/// A table of labels in one file, with ids where there are any.
fn table(place: std::path::PathBuf, rows: &[[i64; 2]], ids: Option<[&str; 4]>) {
    let member = |m: usize| -> ArrayRef {
        Arc::new(Int64Array::from_iter_values(rows.iter().map(|row| row[m])))
    };
    let ids = ids.map(|ids| ("id", Arc::new(StringArray::from_iter_values(ids)) as ArrayRef));
    let columns = ids.into_iter().chain([("m0", member(0)), ("m1", member(1))]);
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let file = fs::File::create(place).unwrap();
    let mut writer = ArrowWriter::try_new(file, batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
}

#[test]
fn a_first_column_of_ids_is_no_member() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let ids = Some(["p", "q", "r", "s"]);
    table(at.join("pool.parquet"), &[[0, 0], [0, 0], [1, 1], [1, 1]], ids);
    let found = json(at, "consensus pool.parquet --method lwea --clusters 2 -o l.parquet");
    assert_eq!((&found["members"], &found["rows"]), (&2.into(), &2.into()));
    let file = fs::File::open(at.join("l.parquet")).unwrap();
    let labels = ParquetRecordBatchReaderBuilder::try_new(file).unwrap();
    let names: Vec<_> = labels.schema().fields().iter().map(|f| f.name().clone()).collect();
    assert_eq!(names, ["id", "label"]);
    // From a folder beside it.
    std::fs::create_dir(at.join("beside")).unwrap();
    let found = json(
        &at.join("beside"),
        "consensus ../pool.parquet --method lwea --clusters 2 -o l.parquet",
    );
    assert_eq!(found["clusters"], 2);
}

#[test]
fn nothing_that_is_read_is_written_over() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    json(at, "make ensemble pool --files 1 --rows 50 --columns 3 --distinct 4");
    json(at, "consensus pool --method lwea --clusters 2 -o truth.parquet");
    for option in ["-o", "-o other.parquet --soft"] {
        let line = "consensus pool/part-00000.parquet --method lwea --clusters 2";
        let line = format!("{line} --truth truth.parquet {option} truth.parquet");
        refused(at, &line, "read by --truth");
    }
    // Files of a table that would get one name.
    std::fs::copy(at.join("pool/part-00000.parquet"), at.join("pool/part-00000")).unwrap();
    refused(at, "consensus pool/part* --method lwea --clusters 2 -o labels", "two files");
}

#[test]
fn a_state_is_of_objects_in_their_order() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let [a, b, c, d] = [[0, 0], [0, 1], [1, 0], [1, 1]];
    table(at.join("a.parquet"), &[a, b, a, b, c, d], None);
    table(at.join("b.parquet"), &[a, b, b, a, c, d], None);
    std::fs::write(at.join("c.csv"), "0,2,must\n").unwrap();
    let rest = "--method lwea --clusters 2 --state s";
    json(at, &format!("update a.parquet --constraints c.csv -o l1.parquet {rest}"));
    json(at, &format!("update a.parquet -o l2.parquet {rest}"));
    refused(at, &format!("update b.parquet -o l3.parquet {rest}"), "another order");
}
