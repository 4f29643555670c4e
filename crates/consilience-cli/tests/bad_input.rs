//! Whatever is wrong: exit code 2, one line that names the place, and no file left behind.

mod common;

use common::{Folder, npy, npy_i64, npz, prepared};

#[test]
fn wrong_command_lines() {
    let folder = prepared();
    folder.fails(
        "",
        &[
            "no command",
            "demo, generate, consensus, crowd, complete, update, cluster, ask, predict, score, \
             plot, report, completions or man",
        ],
    );
    folder.fails("frobnicate", &["frobnicate"]);
    folder.fails("consensus", &["ENSEMBLE"]);
    folder.fails("consensus pool.csv --methd eac-al", &["--methd", "--method"]);
    folder.fails(
        "consensus pool.csv --method nope -o out.csv",
        &["nope", "pta-al", "ptgp", "eac-ward"],
    );
    folder.fails("consensus pool.csv --method eac-al --clusters many", &["many", "--clusters"]);
    folder.fails("consensus pool.csv --method eac-cl --param x=1", &["eac-cl takes no parameters"]);
    folder.fails(
        "consensus pool.csv --method ptgp --param x=1",
        &["x", "elite_neighbours, walk_length, published, measure, solver, restarts"],
    );
    folder.fails("consensus pool.csv --method ptgp --param restarts=few", &["restarts=few"]);
    folder.fails("consensus pool.csv --method ptgp --param restarts", &["name=value"]);
    folder.fails(
        "consensus pool.csv --method ptgp --param restarts=1 --param restarts=2",
        &["twice"],
    );
    folder
        .fails("consensus pool.csv --method eac-al --columns 3,12", &["12", "pool.csv", "0..=11"]);
    folder.fails("consensus pool.csv --method eac-al --columns 3,x", &["x"]);
    folder.fails("consensus pool.csv --method eac-al -o a.csv --soft a.csv", &["-o", "--soft"]);
    folder.fails("demo --threads 0", &["--threads 0", "1..=1024"]);
    folder.fails("demo --seed -1", &["-1"]);
    folder.fails("generate x.csv -o out.npy --method nope", &["nope", "kmeans", "agglomerative"]);
    folder.fails("generate x.csv -o out.npy --clusters 9..2", &["9..2", "2..50"]);
    folder.fails("generate x.csv -o out.npy --clusters few", &["few"]);
    folder.fails("generate x.csv -o out.npy --scale big", &["big", "minmax"]);
    folder.fails("generate x.csv", &["--output"]);
    folder.fails("consensus pool.csv --method eac-al --list=3", &["--list"]);
}

#[test]
fn parameters_that_the_library_refuses() {
    let folder = prepared();
    for method in ["pta-al", "ptgp", "eac-al"] {
        folder.fails(
            &format!("consensus pool.csv --method {method} --clusters 0 -o out.csv"),
            &["0", "120"],
        );
        folder.fails(
            &format!("consensus pool.csv --method {method} --clusters 121 -o out.csv"),
            &["121", "120"],
        );
    }
    folder.fails(
        "consensus pool.csv --method pta-al --clusters 3 --param walk_length=0 -o out.csv",
        &["0"],
    );
    folder.fails(
        "consensus pool.csv --method pta-al --clusters 3 --param elite_neighbours=0 -o out.csv",
        &["0"],
    );
    folder.fails(
        "consensus pool.csv --method ptgp --clusters 3 --param restarts=0 -o out.csv",
        &["0"],
    );
    folder.fails("generate x.csv -o out.npy --members 0", &["0"]);
    folder.fails("generate x.csv -o out.npy --clusters 0", &["0"]);
    folder.fails("generate x.csv -o out.npy --clusters 121", &["121", "120"]);
    folder.fails("generate x.csv -o out.npy --feature-fraction 0", &["0"]);
    folder.fails("generate x.csv -o out.npy --object-fraction 1.5", &["1.5"]);
    folder.fails("generate x.csv -o out.npy --feature-fraction nan", &["NaN"]);
}

#[test]
fn files_that_are_not_there_or_cannot_be() {
    let folder = prepared();
    folder.fails("consensus none.npy --method eac-al -o out.csv", &["none.npy", "no such file"]);
    folder.fails("consensus none.parquet --method eac-al", &["none.parquet", "no such file"]);
    folder.fails(
        "consensus pool.txt --method eac-al",
        &["pool.txt", ".npy, .npz, .parquet, .arrow, .feather, .csv"],
    );
    std::fs::create_dir(folder.path("folder.csv")).unwrap();
    folder.fails("consensus folder.csv --method eac-al", &["folder.csv", "folder"]);
    folder.fails("consensus pool.csv --method eac-al -o folder.csv", &["folder.csv", "folder"]);
    folder.fails("consensus pool.csv --method eac-al -o nowhere/out.csv", &["nowhere"]);
    folder.fails("consensus pool.csv --method eac-al -o pool.csv/out.csv", &["pool.csv"]);
    folder.fails("consensus pool.csv --method eac-al -o out.txt", &["out.txt", ".parquet"]);
    folder.fails("generate x.csv -o nowhere/out.npz", &["nowhere"]);
    for ending in ["npy", "npz", "csv", "parquet"] {
        let empty = format!("empty.{ending}");
        folder.write(&empty, "");
        folder.fails(&format!("consensus {empty} --method eac-al -o out.csv"), &[&empty, "empty"]);
        let noise = format!("noise.{ending}");
        folder.write(&noise, [0xffu8, 0xfe, 0x00, 0x93, 0x0a].repeat(100));
        folder.fails(&format!("consensus {noise} --method eac-al -o out.csv"), &[&noise]);
        folder.fails(&format!("generate {noise} -o out.csv"), &[&noise]);
    }
}

#[cfg(unix)]
#[test]
fn a_folder_without_permission() {
    use std::os::unix::fs::PermissionsExt;
    let folder = prepared();
    let locked = folder.path("locked");
    std::fs::create_dir(&locked).unwrap();
    std::fs::set_permissions(&locked, std::fs::Permissions::from_mode(0o555)).unwrap();
    // The superuser may write anyway.
    if std::fs::write(locked.join("probe"), "").is_err() {
        folder.fails(
            "consensus pool.csv --method eac-al --clusters 4 -o locked/out.csv",
            &["locked/out.csv", "permission"],
        );
    }
    let full = std::path::Path::new("/proc/self");
    if full.is_dir() {
        folder.fails(
            "consensus pool.csv --method eac-al --clusters 4 -o /proc/self/out.csv",
            &["/proc/self/out.csv"],
        );
    }
}

#[test]
fn an_error_leaves_the_old_output_alone() {
    let folder = prepared();
    folder.write("out.csv", "precious");
    folder.fails("consensus pool.csv --method eac-al --clusters 121 -o out.csv", &["121"]);
    assert_eq!(folder.read("out.csv"), b"precious");
    folder.fails(
        "consensus pool.csv --method eac-al --clusters 4 -o out.csv --soft nowhere/s.csv",
        &["nowhere"],
    );
    assert_eq!(folder.read("out.csv"), b"precious");
}

#[test]
fn text_that_is_no_table() {
    let folder = Folder::new();
    folder.write("ragged.csv", "a,b,c\n1,2,3\n4,5\n6,7,8\n");
    folder.fails(
        "consensus ragged.csv --method eac-al -o o.csv",
        &["ragged.csv", "row 1 (line 3)", "2 columns", "expected 3"],
    );
    folder.fails(
        "generate ragged.csv -o o.csv",
        &["ragged.csv", "row 1 (line 3)", "2 columns", "expected 3"],
    );
    folder.write("short.csv", "1\n2,3\n");
    folder.fails(
        "consensus short.csv --method eac-al",
        &["row 1 (line 2)", "2 columns", "expected 1"],
    );
    folder.write("text.csv", "a,b\n1,2\n3,cat\n");
    folder.fails(
        "generate text.csv -o o.csv",
        &["text.csv", "row 1 (line 3)", "column 1 (b)", "\"cat\""],
    );
    folder.write("half.csv", "1,2\n3,4.5\n");
    folder.fails("consensus half.csv --method eac-al", &["row 1", "column 1", "4.5"]);
    folder.write("gap.csv", "1,2\n3,\n");
    folder.fails("generate gap.csv -o o.csv", &["row 1", "1 in column 1", "missing values"]);
    folder.write("nan.csv", "1,2\n3,nan\n5,6\n");
    folder.fails(
        "generate nan.csv -o o.csv",
        &["nan.csv", "row 1", "1 in column 1", "missing values"],
    );
    folder.write("inf.csv", "1,2\n3,inf\n5,6\n");
    folder.fails("generate inf.csv -o o.csv", &["inf.csv", "row 1", "column 1", "inf"]);
    folder.write("header.csv", "a,b\n");
    folder.fails("consensus header.csv --method eac-al", &["header.csv", "no rows"]);
    folder.write("blank.csv", "\n\n\n");
    folder.fails("consensus blank.csv --method eac-al", &["blank.csv", "no rows"]);
    folder.write("large.csv", "1,18446744073709551616\n");
    folder.fails(
        "consensus large.csv --method eac-al",
        &["row 0", "column 1", "18446744073709551616"],
    );
}

#[test]
fn arrays_that_are_damaged_or_of_the_wrong_kind() {
    let folder = Folder::new();
    let good = npy_i64(&[vec![0, 1], vec![1, 0], vec![1, 1]]);
    let fails = |bytes: &[u8], needles: &[&str]| {
        folder.write("bad.npy", bytes);
        for command in ["consensus bad.npy --method eac-al -o o.csv", "generate bad.npy -o o.csv"] {
            let mut needles = needles.to_vec();
            needles.push("bad.npy");
            folder.fails(command, &needles);
        }
    };
    fails(&good[..good.len() - 1], &["truncated", "48 bytes", "47 follow"]);
    fails(&good[..40], &["truncated"]);
    fails(&good[..7], &["not a .npy"]);
    fails(&[&good[..], b"x"].concat(), &["49 follow"]);
    fails(b"PK\x03\x04 and so on", &["not a .npy"]);
    fails(&npy("<i8", false, "(0, 3)", &[]), &["0 rows"]);
    fails(&npy("<i8", false, "(3, 0)", &[]), &["0 columns"]);
    fails(&npy("<i8", false, "(2, 2, 2)", &[0; 64]), &["(2, 2, 2)"]);
    fails(&npy("<i8", false, "(1000000000000, 1000000000000)", &[0; 64]), &["1000000000000"]);
    fails(&npy("<c8", false, "(2, 2)", &[0; 32]), &["c8"]);
    fails(&npy("|O", false, "(2, 2)", &[0; 32]), &["\"O\""]);
    fails(&npy("|V8", false, "(2, 2)", &[0; 32]), &["V8"]);
    fails(b"\x93NUMPY\x09\x00\x10\x00", &["version 9"]);
    folder.write(
        "half.npy",
        npy("<f8", false, "(1, 2)", &[1.0f64, 0.5].map(f64::to_le_bytes).concat()),
    );
    folder.fails("consensus half.npy --method eac-al", &["half.npy", "row 0, column 1", "0.5"]);
}

#[test]
fn archives_without_the_array() {
    let folder = Folder::new();
    let array = npy_i64(&[vec![0], vec![1], vec![1]]);
    folder.write("two.npz", npz(&[("labels", array.clone()), ("truth", array.clone())]));
    folder.fails(
        "consensus two.npz --method eac-al -o o.csv",
        &["two.npz", "labels, truth", ":labels"],
    );
    folder.fails(
        "consensus two.npz:none --method eac-al -o o.csv",
        &["two.npz", "\"none\"", "labels, truth"],
    );
    folder.write("none.npz", npz(&[]));
    folder.fails("consensus none.npz --method eac-al", &["none.npz", "without arrays"]);
    let whole = folder.read("two.npz");
    folder.write("cut.npz", &whole[..whole.len() / 2]);
    folder.fails("consensus cut.npz:labels --method eac-al", &["cut.npz"]);
    let mut flipped = whole.clone();
    let first = whole.windows(6).position(|w| w == b"\x93NUMPY").unwrap();
    flipped[first + array.len() - 8] ^= 4;
    folder.write("flipped.npz", flipped);
    folder.fails(
        "consensus flipped.npz:labels --method eac-al",
        &["flipped.npz", "labels", "checksum"],
    );
    folder.write("inner.npz", npz(&[("labels", array[..20].to_vec())]));
    folder.fails("consensus inner.npz --method eac-al", &["inner.npz", "truncated"]);
}

#[test]
fn parquet_that_is_damaged_at_any_byte() {
    let folder = prepared();
    folder.ok("generate x.csv -o pool.parquet --members 3 --clusters 2..5");
    let whole = folder.read("pool.parquet");
    for length in [1, 4, 8, 20, whole.len() / 2, whole.len() - 8, whole.len() - 1] {
        folder.write("cut.parquet", &whole[..length]);
        folder
            .fails("consensus cut.parquet --method eac-al --clusters 2 -o o.csv", &["cut.parquet"]);
    }
    // A flipped byte may still be a sound file; it must never be anything but an answer or one
    // line.
    for at in (0..whole.len()).step_by(whole.len() / 40 + 1) {
        let mut flipped = whole.clone();
        flipped[at] ^= 0x55;
        folder.write("flipped.parquet", flipped);
        let ran = folder.run("consensus flipped.parquet --method eac-al --clusters 2");
        assert!(
            ran.code == 0 || (ran.code == 2 && ran.stderr.lines().count() == 1),
            "byte {at}: {}",
            ran.stderr
        );
        assert!(
            ran.code == 0 || ran.stderr.contains("flipped.parquet"),
            "byte {at}: {}",
            ran.stderr
        );
    }
}

#[test]
fn messages_stay_short() {
    let folder = prepared();
    let one = npy_i64(&[vec![1], vec![2]]);
    let arrays: Vec<(String, Vec<u8>)> =
        (0..3000).map(|i| (format!("array{i}"), one.clone())).collect();
    let arrays: Vec<(&str, Vec<u8>)> =
        arrays.iter().map(|(name, bytes)| (&name[..], bytes.clone())).collect();
    folder.write("many.npz", npz(&arrays));
    for place in ["many.npz", "many.npz:none"] {
        folder.fails(&format!("consensus {place} --method eac-al"), &["and 2980 more"]);
        let said = folder.run(&format!("consensus {place} --method eac-al")).stderr;
        assert!(said.len() < 600, "{said}");
    }
    let tiny =
        npy("<f8", false, "(2, 1)", &[1e-300f64.to_le_bytes(), 1e308f64.to_le_bytes()].concat());
    folder.write("tiny.npy", tiny);
    folder.fails("consensus tiny.npy --method eac-al", &["1e-300 is no label"]);
    folder.fails("generate x.csv -o o.npy --feature-fraction 1e308", &["1e308"]);
    let said = folder.run("generate x.csv -o o.npy --feature-fraction 1e308").stderr;
    assert!(said.len() < 200, "{said}");
    folder.fails("generate x.csv -o a.npz:../../e", &["../../e", "without /"]);
    folder.fails(
        "consensus pool.csv --method pcc-kl --clusters 3 --param restarts=1000000000000",
        &["1000000000000 restarts", "1..=10000"],
    );
}

#[test]
fn text_of_another_kind() {
    let folder = prepared();
    folder.write("wide.csv", b"\xff\xfea\0,\0b\0\n\0");
    folder.fails("consensus wide.csv", &["wide.csv", "UTF-16", "UTF-8"]);
    // A byte order mark is what spreadsheets write.
    folder.write("bom.csv", "\u{feff}i,j,link\n0,4,must\n");
    folder.ok("cluster x.csv --method kmeans --constraints bom.csv --clusters 4");
    folder.write("bom2.csv", "\u{feff}worker,i,j,same\n0,0,1,1\n0,1,2,0\n");
    folder.ok("crowd bom2.csv --clusters 2");
}

#[test]
fn labels_of_any_size_are_fine() {
    let folder = Folder::new();
    folder.write("huge.npy", npy_i64(&[vec![1 << 40], vec![3], vec![1 << 40], vec![i64::MAX]]));
    folder.write("huge.csv", "1099511627776\n3\n1099511627776\n9223372036854775807\n");
    folder.write("small.csv", "0\n1\n0\n2\n");
    for name in ["huge.npy", "huge.csv"] {
        let reply = folder.json(&format!("score {name} small.csv"));
        assert_eq!(
            (reply["scores"]["ari"].as_f64(), reply["clusters"].as_u64()),
            (Some(1.0), Some(3))
        );
        folder.ok(&format!("consensus {name} --method eac-al --clusters 3 -o out.csv"));
        assert_eq!(folder.read("out.csv"), b"label\n0\n1\n0\n2\n");
    }
}

#[test]
fn truth_of_another_length() {
    let folder = prepared();
    folder.write("short.csv", "0\n1\n");
    folder.fails(
        "consensus pool.csv --method eac-al --truth short.csv -o o.csv",
        &["short.csv", "2 rows", "expected 120"],
    );
    folder.fails(
        "generate x.csv --truth short.csv -o o.csv",
        &["short.csv", "2 rows", "expected 120"],
    );
    folder.fails("score truth.csv short.csv", &["short.csv", "2 rows", "expected 120"]);
    folder.fails("score --soft truth.csv short.csv", &["short.csv", "2 rows", "expected 120"]);
    folder.fails("score pool.csv truth.csv", &["pool.csv", "12 columns", "one column"]);
    folder.write("silent.csv", "-1\n".repeat(120));
    // Before the consensus is computed and written, not after it.
    folder.fails(
        "consensus pool.csv --method eac-al --truth silent.csv -o o.csv",
        &["silent.csv", "no object has a true label"],
    );
    folder.fails(
        "consensus pool.csv --method eac-al -o o.npy --soft ./o.npy",
        &["./o.npy", "written twice", "two files"],
    );
    folder.write("negative.csv", "0.5,-0.5\n");
    folder.fails(
        "score --soft negative.csv negative.csv",
        &["negative.csv", "row 0, column 1", "-0.5"],
    );
}

/// What is meant is told where it is nearly right.
#[test]
fn what_is_nearly_right() {
    let folder = prepared();
    folder.write("comma.csv", "a;b\n1,5;2\n2,5;3\n4;1\n");
    folder.fails("generate comma.csv -o p.csv", &["comma.csv", "not with a decimal comma"]);
    folder.write("e.csv", "0,1\n0,1\n1,0\n");
    let run = "consensus e.csv --method eac-al --clusters 2 -o l.csv --member-weights";
    folder.fails(&format!("{run} -1,1"), &["--member-weights", "-1"]);
    folder.ok(&format!("{run} 1,0"));
    let member = || npy_i64(&[vec![0], vec![0], vec![1]]);
    folder.write("soft.npz", npz(&[("m0", member()), ("m1", member())]));
    let names = ["several arrays: m0, m1", "member_0, member_1, ..."];
    folder.fails("consensus soft.npz --method eac-al --clusters 2 -o l.npy", &names);
}
