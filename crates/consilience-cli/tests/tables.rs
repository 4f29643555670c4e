//! Tables as people have them: labels that are text, ids, missing values and categories.

mod common;

use std::io::Write;
use std::process::Stdio;

use common::{Dice, Folder, OBJECTS, ensemble, npy, npz, prepared, truth};

const COLOURS: [&str; 4] = ["red", "dark, blue", "\"green\"", "n/a"];

/// A cell of CSV.
fn cell(text: &str) -> String {
    format!("\"{}\"", text.replace('"', "\"\""))
}

/// The number of each object in an order that mixes them: 7 and 120 have no common divisor.
fn mixed() -> impl Iterator<Item = usize> {
    (0..OBJECTS).map(|i| i * 7 % OBJECTS)
}

/// The prepared folder with ids in front of every table, those beside the ensemble in other orders.
fn with_ids() -> Folder {
    let folder = prepared();
    let id = |i: usize| cell(&format!("object, \"{i}\""));
    let named = |text: Vec<u8>, order: &mut dyn Iterator<Item = usize>| {
        let text = String::from_utf8(text).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        let mut out = format!("id,{}\n", lines[0]);
        order.for_each(|i| out.push_str(&format!("{},{}\n", id(i), lines[i + 1])));
        out
    };
    folder.write("pool-id.csv", named(folder.read("pool.csv"), &mut (0..OBJECTS)));
    folder.write("x-id.csv", named(folder.read("x.csv"), &mut (0..OBJECTS)));
    folder.write("truth-id.csv", named(folder.read("truth.csv"), &mut mixed()));
    folder
}

fn ari(value: &serde_json::Value) -> f64 {
    value["scores"]["ari"].as_f64().unwrap()
}

#[test]
fn labels_that_are_text_group_as_numbers_do() {
    let folder = prepared();
    let name = |label: i64| usize::try_from(label).map_or(String::new(), |l| cell(COLOURS[l]));
    let rows: Vec<String> = ensemble()
        .iter()
        .map(|row| row.iter().map(|&l| name(l)).collect::<Vec<_>>().join(","))
        .collect();
    let header: Vec<String> = (0..12).map(|m| format!("m{m}")).collect();
    folder.write("names.csv", format!("{}\n{}\n", header.join(","), rows.join("\n")));
    for method in ["eac-al", "ptgp", "auto"] {
        folder.ok(&format!("consensus pool.csv --method {method} --clusters 4 -o a.csv"));
        folder.ok(&format!("consensus names.csv --method {method} --clusters 4 -o b.csv"));
        assert_eq!(folder.read("a.csv"), folder.read("b.csv"), "{method}");
    }
    let classes: Vec<String> = truth().into_iter().map(name).collect();
    folder.write("colours.csv", format!("colour\n{}\n", classes.join("\n")));
    let reply = folder.json("score colours.csv truth.csv");
    assert_eq!(ari(&reply), 1.0);
    assert_eq!(reply["contingency"][1]["cluster"], "dark, blue");
    assert_eq!(reply["contingency"][1]["class"], "1");
    assert_eq!(reply["contingency"][1]["objects"], 30);
    let said = folder.ok("score colours.csv truth.csv").stdout;
    assert!(said.contains("cluster \"green\"") && said.contains("30 2"), "{said}");
}

#[test]
fn names_come_back_in_every_format() {
    let folder = prepared();
    let classes: Vec<String> = truth().iter().map(|&l| cell(COLOURS[l as usize])).collect();
    // Not the last ones: blank lines at the end are no objects.
    let known = |i: usize| if i % 3 == 2 { classes[i].clone() } else { String::new() };
    let known: Vec<String> = (0..OBJECTS).map(known).collect();
    folder.write("known.csv", format!("colour\n{}\n", known.join("\n")));
    folder.write("colours.csv", format!("colour\n{}\n", classes.join("\n")));
    folder.write("new.csv", "x,y\n0,0\n10,10\n");
    let command = "cluster x.csv --method kmeans --labels known.csv --predict new.csv \
                   --predicted new-labels.csv";
    for ending in ["csv", "npy", "npz", "parquet"] {
        folder.ok(&format!("{command} -o out.{ending}"));
        let reply = folder.json(&format!("score out.{ending} colours.csv"));
        assert_eq!(ari(&reply), 1.0, "{ending}");
        for row in reply["contingency"].as_array().unwrap() {
            assert_eq!(row["cluster"], row["class"], "{ending}");
        }
    }
    assert_eq!(folder.read("new-labels.csv"), b"label\nred\nn/a\n");
    let text = folder.text("out.csv");
    assert!(text.starts_with("label\nred\n\"dark, blue\"\n\"\"\"green\"\"\"\nn/a\n"), "{text}");
}

#[test]
fn tables_are_joined_by_their_ids() {
    let folder = with_ids();
    let plain = folder.json("consensus pool.csv --clusters 4 --truth truth.csv -o plain.csv");
    let joined = folder.json("consensus pool-id.csv --clusters 4 --truth truth-id.csv -o out.csv");
    assert_eq!(plain["scores"], joined["scores"]);
    let (plain, out) = (folder.read("plain.csv"), folder.read("out.csv"));
    let (plain, out) = (String::from_utf8(plain).unwrap(), String::from_utf8(out).unwrap());
    for (i, (plain, out)) in plain.lines().skip(1).zip(out.lines().skip(1)).enumerate() {
        assert_eq!(out, format!("{},{plain}", cell(&format!("object, \"{i}\""))));
    }
    assert!(out.starts_with("id,label\n"));
    for ending in ["csv", "npz", "parquet"] {
        folder.ok(&format!("generate x-id.csv -o pool2.{ending} --members 5"));
        folder.ok(&format!("consensus pool2.{ending} --clusters 4 -o labels.{ending}"));
        let reply = folder.json(&format!("score labels.{ending} truth-id.csv"));
        assert!(ari(&reply) > 0.99, "{ending}");
        let notes = reply["notes"].to_string();
        assert!(!notes.contains("row by row"), "{ending}: {notes}");
    }
    folder.ok("generate x-id.csv -o pool.npy --members 5");
    let reply = folder.json("score labels.csv truth.csv");
    assert!(reply["notes"].to_string().contains("truth.csv has no ids: joined row by row"));
    assert!(folder.ok("generate x-id.csv -o pool.npy --members 5").stderr.contains("no place for"));
}

#[test]
fn ids_that_are_missing_or_twice_are_said() {
    let folder = Folder::new();
    folder.write("pool.csv", "id,a,b\np1,0,0\np2,0,0\np3,1,1\np4,1,1\n");
    folder.write("truth.csv", "id,class\np4,b\np1,a\np9,b\n");
    let reply = folder.json("consensus pool.csv --clusters 2 --truth truth.csv");
    let notes = reply["notes"].to_string();
    assert!(notes.contains("truth.csv: 1 row of another object was left out"), "{notes}");
    assert!(
        notes.contains("no row for 2 objects, taken as unlabelled: \\\"p2\\\", \\\"p3\\\""),
        "{notes}"
    );
    folder.write("none.csv", "id,class\nq4,b\nq1,a\n");
    folder.fails(
        "consensus pool.csv --clusters 2 --truth none.csv",
        &["none.csv", "\"q4\"", "\"p1\""],
    );
    folder.write("twice.csv", "id,a\np1,0\np2,0\np1,1\np2,0\n");
    folder.fails("consensus twice.csv", &["twice.csv", "more than once: \"p1\", \"p2\""]);
    folder.write("hole.csv", "id,a\np1,0\n,0\n");
    folder.fails("consensus hole.csv", &["hole.csv", "row 1", "without an id"]);
    folder.fails("consensus pool.csv --id name", &["pool.csv", "\"name\"", "id, a, b"]);
    // The column may be any, and its name another.
    folder.write("last.csv", "a;b;who\n0;0;p1\n0;0;p2\n1;1;p3\n1;1;p4\n");
    let reply = folder.json("consensus last.csv --id who --clusters 2 --truth truth.csv -o o.csv");
    assert_eq!(ari(&reply), 1.0);
    assert_eq!(folder.read("o.csv"), b"id,label\np1,0\np2,0\np3,1\np4,1\n");
    assert!(reply["notes"].to_string().contains("separated by semicolons"));
}

#[test]
fn pairs_answers_and_new_objects_by_id() {
    let folder = with_ids();
    let id = |i: usize| cell(&format!("object, \"{i}\""));
    folder.write(
        "pairs.csv",
        format!("i,j,link\n{},{},must\n{},{},cannot\n", id(0), id(4), id(0), id(1)),
    );
    folder.write("rows.csv", "i,j,link\n0,4,must\n0,1,cannot\n");
    let command = "cluster x-id.csv --method pck-means --clusters 4";
    folder.ok(&format!("{command} --constraints pairs.csv -o a.csv"));
    let said = folder.ok(&format!("{command} --constraints rows.csv -o b.csv")).stderr;
    assert!(said.contains("none of the ids and were read as row numbers"), "{said}");
    assert_eq!(folder.read("a.csv"), folder.read("b.csv"));
    folder.write("bad.csv", format!("i,j,link\n{},nobody,must\n", id(0)));
    folder.fails(
        &format!("{command} --constraints bad.csv"),
        &["bad.csv", "line 2, column j", "nobody"],
    );
    let by_id = "update pool-id.csv --clusters 4 --constraints pairs.csv --truth truth-id.csv";
    let by_row = "update pool.csv --clusters 4 --constraints rows.csv --truth truth.csv";
    assert_eq!(folder.json(by_id)["scores"], folder.json(by_row)["scores"]);
    folder
        .write("new.csv", "id,m0,m1,m2,m3,m4,m5,m6,m7,m8,m9,m10,m11\nz,0,0,0,0,0,0,0,0,0,0,0,0\n");
    folder.ok(&format!("{by_id} --new-objects new.csv -o out.csv"));
    assert!(folder.text("out.csv").contains("\nz,"));
    folder.write(
        "answers.csv",
        "worker,i,j,same\nann,rex,tom,yes\nbob,kit,tom,no\nann,rex,kit,no\nbob,rex,tom,yes\n",
    );
    folder.write("cats.csv", "id,kind\nkit,cat\ntom,dog\nrex,dog\n");
    let reply =
        folder.json("crowd answers.csv --clusters 2 --method pairs --truth cats.csv -o crowd.csv");
    assert_eq!(ari(&reply), 1.0);
    assert_eq!(folder.read("crowd.csv"), b"id,label\nrex,0\ntom,0\nkit,1\n");
}

#[test]
fn columns_by_name_and_columns_that_are_no_numbers() {
    let folder = prepared();
    folder.ok("consensus pool.csv --clusters 4 --columns m3,m7,m1 -o a.csv");
    folder.ok("consensus pool.csv --clusters 4 --columns 3,7,1 -o b.csv");
    assert_eq!(folder.read("a.csv"), folder.read("b.csv"));
    folder.fails("consensus pool.csv --columns m3,m99", &["--columns", "m99", "m0, m1"]);
    folder.write(
        "people.csv",
        "name,age,town,height\nann,30,rome,1.7\nann,40,oslo,1.8\nbob,50,rome,1.6\n",
    );
    let options = ["--id", "--categorical", "--drop"];
    let needles =
        ["people.csv", "2 columns are not numeric", "column 0 (name)", "column 2 (town)", "rome"];
    folder.fails("generate people.csv -o o.csv", &[&needles[..], &options].concat());
    folder.ok("generate people.csv -o o.csv --drop name,town --members 2 --clusters 2");
    let reply = folder.json(
        "generate people.csv -o o.csv --drop name --categorical town --members 4 --clusters 2",
    );
    assert_eq!((reply["features"].as_u64(), reply["categories"].as_u64()), (Some(2), Some(1)));
    folder.fails("generate people.csv -o o.csv --drop shoe", &["shoe", "name, age, town, height"]);
    // Text that is different in every row names the objects, with and without a header.
    folder.write("ids.csv", "ann,30,1.7\nbob,40,1.8\ncid,50,1.6\n");
    let said = folder.ok("generate ids.csv -o o.csv --members 2 --clusters 2").stderr;
    assert!(
        said.contains("another text in every row") && said.contains("not as a header"),
        "{said}"
    );
    assert!(folder.text("o.csv").starts_with("id,m0,m1\nann,"));
}

#[test]
fn missing_values_are_counted_filled_or_left_out() {
    let folder = Folder::new();
    let mut text = String::from("id,a,b,c\n");
    for i in 0..40 {
        let base = if i < 20 { 0.0 } else { 50.0 };
        let value = |c: usize| match (i + 3 * c) % 10 {
            0 => ["", "NA", "nan", "?"][i % 4].to_owned(),
            r => (base + r as f64 / 10.0).to_string(),
        };
        text.push_str(&format!("p{i},{},{},{}\n", value(0), value(1), value(2)));
    }
    folder.write("x.csv", &text);
    folder.fails(
        "generate x.csv -o o.csv",
        &["x.csv", "4 in column 1 (a)", "4 in column 2 (b)", "4 in column 3 (c)", "--missing mean"],
    );
    for way in ["mean", "median", "nearest", "member"] {
        folder.ok(&format!(
            "generate x.csv -o o.csv --missing {way} --members 12 --clusters 2 \
             --feature-fraction 0.4"
        ));
        folder.ok("consensus o.csv --method eac-al --clusters 2 -o labels.csv");
        let labels = folder.text("labels.csv");
        let zeros = labels.lines().filter(|line| line.ends_with(",0")).count();
        assert_eq!(zeros, 20, "{way}: {labels}");
    }
    let said =
        folder.ok("generate x.csv -o o.csv --missing member --members 3 --clusters 2").stderr;
    assert!(said.contains("12 of 40 objects are labelled by no member"), "{said}");
    folder.write("all.csv", "a,b\n1,\n,2\n3,\n");
    folder.fails(
        "generate all.csv -o o.csv --missing member",
        &["2 of 2 features", "feature fraction"],
    );
    folder.write("empty.csv", "a,b\n1,\n2,\n3,\n");
    let needles = ["empty.csv", "column \"b\"", "missing for every", "--drop b"];
    folder.fails("generate empty.csv -o o.csv --missing mean", &needles);
    folder.fails("generate empty.csv -o o.csv --missing member", &needles);
    folder.ok("generate empty.csv -o o.csv --missing mean --drop b --clusters 2");
    folder.fails("generate x.csv -o o.csv --missing guess", &["guess", "member"]);
    folder.ok("cluster x.csv --method kmeans --clusters 2 --missing nearest -o labels.csv");
    folder.fails(
        "cluster x.csv --method kmeans --clusters 2 --missing member",
        &["member", "nearest"],
    );
    folder.fails("cluster x.csv --method kmeans --clusters 2", &["missing values", "column 1 (a)"]);
}

#[test]
fn categories_are_features_by_a_distance_of_their_own() {
    let folder = Folder::new();
    let mut text = String::from("id,size,colour,shape\n");
    for i in 0..40 {
        let own = usize::from(i < 20);
        let (colour, shape) = (["red", "blue"][own], ["round", "long"][own]);
        let colour = if i % 20 == 3 { "grey" } else { colour };
        let shape = if i % 20 == 5 { "" } else { shape };
        text.push_str(&format!("p{i},{},{colour},{shape}\n", i % 7));
    }
    folder.write("x.csv", &text);
    folder.write("new.csv", "id,size,colour,shape\na,3,red,round\nb,3,blue,green\nc,3,,long\n");
    for distance in ["hamming", "goodall", "chi-square"] {
        let how = format!("--categorical colour,shape --categorical-distance {distance}");
        let reply = folder.json(&format!(
            "cluster x.csv {how} --drop size --method kmeans --clusters 2 -o labels.csv --predict \
             new.csv --predicted new-labels.csv"
        ));
        assert_eq!(reply["features"], 5, "{distance}");
        let labels = folder.text("labels.csv");
        let zeros = labels.lines().filter(|line| line.ends_with(",0")).count();
        assert_eq!(zeros, 20, "{distance}: {labels}");
        let new = folder.text("new-labels.csv");
        assert!(new.contains("a,1") && new.contains("b,0") && new.contains("c,0"), "{new}");
        assert!(reply["notes"].to_string().contains("1 categories that no object had"), "{reply}");
        folder.ok(&format!("generate x.csv {how} -o o.csv --members 5 --scale zscore"));
        folder.ok("consensus o.csv --method eac-al --clusters 2");
    }
    // Beside numbers, and with what is known.
    folder.ok("cluster x.csv --categorical colour,shape --method nnc --clusters 2");
    folder.fails(
        "cluster x.csv --categorical colour --categorical-distance gower --method nnc --clusters 2",
        &["gower", "hamming, goodall, chi-square"],
    );
    folder.fails(
        "generate x.csv --categorical colour,shape --categorical-distance gower -o o.csv",
        &["gower", "hamming"],
    );
    folder.fails("generate x.csv --categorical-distance hamming -o o.csv", &["--categorical"]);
    // Categories alone are members as they are: no number of clusters is drawn.
    let alone = "generate x.csv --drop size --categorical colour,shape -o o.csv --members 4";
    let reply = folder.json(&format!("{alone} --clusters 3..4 --scale zscore"));
    assert!(reply["range"].is_null(), "{reply}");
    let notes = reply["notes"].to_string();
    assert!(notes.contains("--clusters, --scale are not used"), "{notes}");
    let said = folder.ok(&format!("{alone} --scale zscore"));
    assert!(said.stderr.contains("--scale is not used"), "{}", said.stderr);
    assert!(!said.stdout.contains("drawn from"), "{}", said.stdout);
    assert!(!folder.ok(alone).stderr.contains("not used"));
}

#[test]
fn text_in_arrays_of_numpy() {
    let folder = Folder::new();
    let wide = |names: &[&str]| -> Vec<u8> {
        let bytes = names.iter().flat_map(|name| {
            let mut cell: Vec<u32> = name.chars().map(u32::from).collect();
            cell.resize(4, 0);
            cell
        });
        bytes.flat_map(u32::to_le_bytes).collect()
    };
    let labels = npy("<U4", false, "(4,)", &wide(&["über", "cat", "", "über"]));
    folder.write("labels.npy", &labels);
    let ids = npy("<U4", false, "(4,)", &wide(&["p1", "007", "7", "p4"]));
    folder.write("all.npz", npz(&[("ids", ids), ("species", labels)]));
    folder.write("bytes.npy", npy("|S3", false, "(4,)", b"catdog\0\0\0cat"));
    folder.write("truth.csv", "id,y\np4,1\n007,2\n7,\np1,1\n");
    let reply = folder.json("score all.npz truth.csv");
    assert_eq!((ari(&reply), reply["n"].as_u64()), (1.0, Some(4)));
    assert_eq!(reply["contingency"][0]["cluster"], "über");
    let reply = folder.json("score bytes.npy labels.npy");
    assert_eq!(reply["contingency"][0]["class"], "über");
    assert_eq!(reply["clusters"].as_u64(), Some(2));
}

#[test]
fn compressed_text_and_arrow_files_are_tables_too() {
    let folder = with_ids();
    folder.ok("consensus pool-id.csv --method eac-al --clusters 4 -o plain.csv");
    for ending in ["csv.gz", "csv.zst", "tsv", "tsv.gz", "arrow", "feather"] {
        folder.ok(&format!("generate x-id.csv --members 5 -o pool.{ending}"));
        folder.ok("generate x-id.csv --members 5 -o pool2.csv");
        folder.ok(&format!("consensus pool.{ending} --clusters 4 -o labels.{ending}"));
        folder.ok("consensus pool2.csv --clusters 4 -o labels2.csv");
        let reply = folder.json(&format!("score labels.{ending} labels2.csv"));
        assert_eq!(ari(&reply), 1.0, "{ending}");
        assert!(!reply["notes"].to_string().contains("row by row"), "{ending}");
    }
    // What a file holds decides, not what it is called.
    let packed = folder.read("pool.csv.gz");
    assert!(packed.starts_with(b"\x1f\x8b"));
    folder.write("hidden.csv", &packed);
    folder.ok("consensus hidden.csv --clusters 4");
    folder.write("half.csv.gz", &packed[..packed.len() / 2]);
    folder.fails("consensus half.csv.gz --clusters 4", &["half.csv.gz", "truncated"]);
    // Parallel compressors write frames that are to be skipped.
    let frames = [b"\x50\x2a\x4d\x18\x02\0\0\0ab".to_vec(), folder.read("pool.csv.zst")];
    folder.write("frames.csv", frames.concat());
    folder.ok("consensus frames.csv --clusters 4");
    let mut wrong = folder.read("pool.csv.zst");
    let middle = wrong.len() / 2;
    wrong[middle..].iter_mut().for_each(|byte| *byte ^= 0x55);
    folder.write("wrong.csv.zst", &wrong);
    folder.fails("consensus wrong.csv.zst --clusters 4", &["wrong.csv.zst", "zstd"]);
    let endings = [".feather", ".csv", ".tsv", ".mtx", ".svmlight", ".libsvm", ".svm", ".csv.zst"];
    folder.fails("consensus pool.csv --clusters 4 -o labels.txt.gz", &endings);
}

#[test]
fn tsv_is_read_and_written_with_tabs() {
    let folder = with_ids();
    folder.write("pool.tsv", "id\tfirst, coarse\tsecond\nSmith, A\t0\t0\nLee\t0\t1\nKim\t1\t2\n");
    let ran = folder.ok("consensus pool.tsv --method eac-al --clusters 2 -o labels.tsv");
    assert!(!ran.stderr.contains("separated"), "{}", ran.stderr);
    assert_eq!(folder.read("labels.tsv"), b"id\tlabel\n\"Smith, A\"\t0\nLee\t0\nKim\t1\n");
    assert_eq!(ari(&folder.json("score labels.tsv labels.tsv")), 1.0);
}

#[test]
fn standard_input_and_output_are_called_by_a_dash() {
    let folder = with_ids();
    folder.ok("generate x-id.csv --members 5 -o pool.parquet");
    let piped = |args: &str, input: &[u8]| {
        let mut child = folder.command(args).stdin(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(input).unwrap();
        let out = child.wait_with_output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (out.status.code(), text(out.stdout), text(out.stderr))
    };
    folder.ok("consensus pool.parquet --clusters 4 -o labels.csv");
    let labels = folder.text("labels.csv");
    // The format is that of the contents, and the summary makes room for the table.
    let command = "consensus - --clusters 4 -o -";
    let (code, out, said) = piped(command, &folder.read("pool.parquet"));
    assert_eq!((code, out), (Some(0), labels.clone()), "{said}");
    assert!(said.contains("clusters") && said.contains("members"), "{said}");
    let (_, pool, _) = piped("generate - --members 5 -o - --quiet", &folder.read("x-id.csv"));
    assert!(pool.starts_with("id,m0,m1,m2,m3,m4\n"), "{pool}");
    assert_eq!(piped("consensus - --clusters 4 -o - --quiet", pool.as_bytes()).1, labels);
    let (code, out, said) = piped("score - truth-id.csv --json", labels.as_bytes());
    assert_eq!(code, Some(0), "{said}");
    assert!(ari(&serde_json::from_str(&out).unwrap()) > 0.99);
    let (code, out, said) = piped("consensus - --clusters 4 -o - --json", b"");
    // Said before the first byte is read.
    assert_eq!((code, out.as_str()), (Some(2), ""));
    assert!(said.contains("-o -: standard output is for --json"), "{said}");
    let (code, _, said) = piped("consensus - --clusters 4", b"");
    assert_eq!((code, said.as_str()), (Some(2), "error: standard input: the file is empty\n"));
    let (code, _, said) = piped("consensus - --clusters 4", b"a,b\n1,2\n1\n");
    assert!(code == Some(2) && said.contains("standard input: row 1 (line 3)"), "{said}");
    let (code, _, said) =
        piped("cluster x.csv --method pck-means --clusters 4 --constraints -", b"0,4,must\n");
    assert_eq!(code, Some(0), "{said}");
}

#[test]
fn awkward_text_is_read_or_refused() {
    let folder = Folder::new();
    let rows = "p1,red,0\r\np2,red,0\r\np3,\"a, \"\"b\"\"\r\nc\",1\r\np4,nan,1\r\n";
    folder.write("bom.csv", format!("\u{feff}id,x,y\r\n{rows}"));
    folder.ok("consensus bom.csv --clusters 2 -o o.csv");
    assert!(folder.text("o.csv").starts_with("id,label\np1,0\n"));
    let utf16: Vec<u8> =
        "\u{feff}id,x,y\np1,0,1\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    folder.write("utf16.csv", utf16);
    folder.fails("consensus utf16.csv --clusters 2", &["utf16.csv", "UTF-16"]);
    // Numbers and text in one column: all are names of clusters.
    folder.write("mixed.csv", "a,b\n1,1\none,1\n1,2\n-1,2\n");
    folder.write("names.csv", "a,b\nx,1\ny,1\nx,2\n,2\n");
    folder.ok("consensus mixed.csv --method eac-al --clusters 2 -o m.csv");
    folder.ok("consensus names.csv --method eac-al --clusters 2 -o n.csv");
    assert_eq!(folder.read("m.csv"), folder.read("n.csv"));
    folder.write("twice.csv", "id,a\np1,0\np1,1\np2,0\n");
    folder.fails("consensus twice.csv --clusters 2", &["twice.csv", "more than once", "\"p1\""]);
}

/// A scale for each column behind the categories would have each of these count as a number.
#[test]
fn numbers_are_scaled_before_categories_come_beside_them() {
    let folder = Folder::new();
    let (mut dice, mut rows, mut truth) = (Dice::new(3), String::new(), String::new());
    rows += "age,income,colour\n";
    for i in 0..240 {
        let class = i % 3;
        let said = if dice.below(20) < 17 { class } else { dice.below(3) };
        let age = 40 + 10 * class + dice.below(11);
        let income = 30_000 + 20_000 * u64::from(class == 1) + dice.below(14_000);
        rows += &format!("{age},{income},{}\n", ["red", "green", "blue"][said as usize]);
        truth += &format!("{class}\n");
    }
    folder.write("x.csv", rows);
    folder.write("t.csv", truth);
    let run = "cluster x.csv --method consensus --clusters 3 --categorical colour --truth t.csv \
               -o l.csv --predict x.csv --predicted p.csv --param scale=";
    let ari = |scale: &str| folder.json(&format!("{run}{scale}"))["scores"]["ari"].as_f64();
    for scale in ["zscore", "minmax"] {
        assert!(ari(scale) > Some(0.9), "{scale}: {:?}", ari(scale));
        // Objects of the fit are where they were.
        assert_eq!(folder.text("l.csv"), folder.text("p.csv"), "{scale}");
    }
    folder.fails(&format!("{run}big"), &["big", "zscore"]);
}
