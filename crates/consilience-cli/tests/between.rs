//! What goes from one file or command to the next: columns and labels that belong together, ids,
//! standard input, archives, states.

mod common;

use std::io::Write;
use std::process::Stdio;
use std::sync::Arc;

use common::{Folder, csv, ensemble, npy_i64, npz, prepared};
use parquet::basic::{ConvertedType, Repetition, Type as Physical};
use parquet::data_type::Int64Type;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type;

fn numbers(folder: &Folder, name: &str) -> Vec<Vec<f64>> {
    let text = folder.text(name);
    let row = |line: &str| line.split(',').map(|cell| cell.parse().unwrap()).collect();
    text.lines().skip(1).map(row).collect()
}

/// Column j of the memberships is label j, also where labels are read out otherwise than by them.
#[test]
fn memberships_of_an_update_have_the_labels_as_columns() {
    let folder = prepared();
    let rows = ensemble();
    folder.write("pool.csv", csv(&rows));
    let far: String = (1..rows.len() / 4).map(|i| format!("0,{i},must\n")).collect();
    folder.write("links.csv", format!("i,j,link\n{far}"));
    for read_out in ["", "--read-out kmeans", "--read-out rounding", "--read-out consensus"] {
        folder.ok(&format!(
            "update pool.csv --clusters 4 --constraints links.csv -o l.csv --soft s.csv {read_out}"
        ));
        let (labels, soft) = (numbers(&folder, "l.csv"), numbers(&folder, "s.csv"));
        // No two columns agree better with the labels when they are exchanged.
        let mut shared = [[0.0; 4]; 4];
        for (label, row) in labels.iter().zip(&soft) {
            (0..4).for_each(|c| shared[label[0] as usize][c] += row[c]);
        }
        for (a, b) in (0..4).flat_map(|a| (0..a).map(move |b| (a, b))) {
            let (own, exchanged) = (shared[a][a] + shared[b][b], shared[a][b] + shared[b][a]);
            assert!(own > exchanged, "{read_out}: {shared:?}");
        }
    }
}

/// Objects of the fit keep their label, also where the members vote otherwise.
#[test]
fn votes_that_contradict_a_remembered_label_are_told() {
    let folder = Folder::new();
    let row = |i: usize| format!("{},{}\n", i * 37 % 101, i * 53 % 89);
    folder.write("x.csv", (0..120).map(row).collect::<String>());
    folder.ok("cluster x.csv --method consensus --clusters 5 --model m.bin -o o.csv");
    let told = folder.ok("predict m.bin x.csv -o l.csv --soft v.csv").stderr;
    let (labels, votes) = (numbers(&folder, "l.csv"), numbers(&folder, "v.csv"));
    let otherwise = |(label, row): (&Vec<f64>, &Vec<f64>)| {
        row.iter().any(|&other| other > row[label[0] as usize] + 1e-9)
    };
    let count = labels.iter().zip(&votes).filter(|&pair| otherwise(pair)).count();
    assert!(count > 0 && told.contains(&format!("{count} of 120 rows are labelled otherwise")));
    folder.write("new.csv", "1e3,1e3\n");
    let new = folder.ok("predict m.bin new.csv -o l.csv --soft v.csv").stderr;
    assert!(!new.contains("otherwise"), "{new}");
}

/// What is for the metric alone would be refused beside the read-out that is named.
#[test]
fn advice_about_memberships_can_be_followed() {
    let folder = prepared();
    // The memberships do not put objects of two classes together, the labels do.
    folder.write("links.csv", "i,j,link\n0,1,must\n");
    let run = "update pool.csv --clusters 4 --constraints links.csv -o l.csv --soft s.csv";
    for (more, advice) in [
        ("", "; --read-out rounding takes"),
        ("--rule metric", "; --read-out rounding takes"),
        ("--rule metric --param folds=3", "; --read-out rounding, without --features and --param,"),
    ] {
        let told = folder.ok(&format!("{run} {more}")).stderr;
        assert!(told.contains(advice), "{more}: {told}");
    }
    let refused = format!("{run} --rule metric --param folds=3 --read-out rounding");
    folder.fails(&refused, &["--param"]);
    folder.ok(&format!("{run} --rule metric --read-out rounding"));
}

#[test]
fn a_numbered_column_of_ids_is_one_in_every_format() {
    let folder = prepared();
    let with_ids = |rows: Vec<Vec<i64>>| -> Vec<Vec<i64>> {
        rows.into_iter().enumerate().map(|(i, row)| [vec![500 + i as i64], row].concat()).collect()
    };
    let rows = with_ids(ensemble());
    folder.write("pool.csv", csv(&rows));
    folder.write("pool.npy", npy_i64(&rows));
    folder.write("pool.npz", npz(&[("labels", npy_i64(&rows))]));
    let mut seen = Vec::new();
    for name in ["pool.csv", "pool.npy", "pool.npz"] {
        let run = format!("consensus {name} --id 0 --method lwea --clusters 4 -o l.csv");
        // The truth beside it has one column, and its number 0 is no id.
        let reply = folder.json(&format!("{run} --truth truth.csv"));
        assert_eq!(reply["members"], rows[0].len() - 1, "{name}");
        seen.push(folder.read("l.csv"));
    }
    assert!(seen[0].starts_with(b"id,label\n500,"));
    assert!(seen.windows(2).all(|w| w[0] == w[1]));
    folder.fails("consensus pool.npy --id nosuch --clusters 4", &["no column \"nosuch\""]);
}

#[test]
fn columns_whose_names_are_numbers_are_taken_by_name() {
    let folder = Folder::new();
    folder.write("f.csv", "id,0,1\na,0,100\nb,1,101\nc,0,101\nd,100,0\ne,101,1\nf,100,1\n");
    folder.write("new.csv", "id,1,0\ng,0,100\nh,100,0\n");
    let run = "--method kmeans --clusters 2 -o l.csv --predict new.csv --predicted p.csv";
    let ran = folder.ok(&format!("cluster f.csv {run}"));
    assert!(ran.stderr.contains("taken by name"), "{}", ran.stderr);
    let of = |name: &str| folder.text(name);
    assert_eq!(of("l.csv"), "id,label\na,0\nb,0\nc,0\nd,1\ne,1\nf,1\n");
    assert_eq!(of("p.csv"), "id,label\ng,1\nh,0\n");
    folder.write("f.csv", "x,1,2\n0,a,u\n1,a,u\n0,b,v\n1,b,v\n");
    folder.write("new.csv", "x,2,1\n0,u,a\n0,v,b\n");
    let ran = folder.ok(&format!("cluster f.csv --categorical 1,2 {run}"));
    assert!(ran.stderr.contains("taken by name"), "{}", ran.stderr);
    let (found, new) = (numbers(&folder, "l.csv"), numbers(&folder, "p.csv"));
    assert_eq!(new, [found[0].clone(), found[2].clone()]);
}

#[test]
fn a_model_knows_its_columns() {
    let folder = Folder::new();
    let rows: String = (0..40).map(|i| format!("{},{}\n", i / 20 * 9 + i % 3, i % 5)).collect();
    let turned: String = (0..40).map(|i| format!("{},{}\n", i % 5, i / 20 * 9 + i % 3)).collect();
    folder.write("x.csv", format!("length,width\n{rows}"));
    folder.write("turned.csv", format!("width,length\n{turned}"));
    folder.write("plain.csv", &rows);
    folder.ok("cluster x.csv --method consensus --clusters 2 -o l.csv --model m.bin");
    for (name, said) in [("x", ""), ("turned", "taken by name"), ("plain", "")] {
        let ran = folder.ok(&format!("predict m.bin {name}.csv -o p.csv"));
        assert!(ran.stderr.contains(said), "{}", ran.stderr);
        assert!(!said.is_empty() || !ran.stderr.contains("order"), "{}", ran.stderr);
        assert_eq!(folder.read("p.csv"), folder.read("l.csv"), "{name}");
    }
    folder.write("other.csv", format!("u,v\n{rows}"));
    let ran = folder.ok("predict m.bin other.csv -o p.csv");
    assert!(ran.stderr.contains("called otherwise"), "{}", ran.stderr);
    // One is known and would be taken for the other.
    folder.write("half.csv", format!("width,depth\n{turned}"));
    let needles = ["half.csv: no column length, and unknown depth", "length, width, in any order"];
    folder.fails("predict m.bin half.csv -o p.csv", &needles);
}

/// A state is of the objects that it was made from, in their order.
#[test]
fn a_state_knows_its_objects() {
    let folder = Folder::new();
    let pool = |ids: [&str; 6]| {
        let rows = ["0,0", "0,0", "1,1", "1,1", "2,2", "2,0"];
        let rows: String = ids.iter().zip(rows).map(|(id, row)| format!("{id},{row}\n")).collect();
        format!("id,m0,m1\n{rows}")
    };
    folder.write("pool.csv", pool(["a", "b", "c", "d", "e", "f"]));
    folder.write("links.csv", "i,j,link\nc,a,must\nd,a,cannot\n");
    let update = "update pool.csv --state s.bin -o l.csv";
    folder.ok(&format!("{update} --clusters 3 --constraints links.csv"));
    folder.ok(update);
    folder.write("new.csv", "id,m0,m1\ng,2,2\n");
    folder.ok("update pool.csv --state s.bin -o more.csv --new-objects new.csv");
    folder.write("pool.csv", pool(["a", "b", "c", "d", "e", "f"]) + "g,2,2\n");
    folder.ok(update);
    // c and d have equal labels: the members alone do not tell them apart.
    let state = folder.read("s.bin");
    folder.write("pool.csv", pool(["a", "b", "d", "c", "e", "f"]) + "g,2,2\n");
    folder.fails(update, &["s.bin", "other ids", "another order"]);
    folder.write("pool.csv", pool(["u", "v", "w", "x", "y", "z"]) + "g,2,2\n");
    folder.fails(update, &["s.bin", "other ids"]);
    assert_eq!(folder.read("s.bin"), state);
    folder.write("pool.csv", pool(["a", "b", "c", "d", "e", "f"]) + "g,2,2\n");
    let mut damaged = state.clone();
    damaged[40] ^= 1;
    folder.write("s.bin", damaged);
    folder.fails(update, &["s.bin"]);
}

#[test]
fn standard_input_is_one_file() {
    let folder = Folder::new();
    folder.write("pool.csv", "m0,m1\n0,0\n0,0\n1,1\n1,1\n");
    folder.write("x.csv", "a,b\n0,0\n0,1\n9,9\n9,8\n");
    for (args, input) in [
        ("update - --constraints - --clusters 2 --state s.bin", "pool.csv"),
        ("cluster - --constraints - --clusters 2", "x.csv"),
        ("complete - --constraints - --clusters 2", "x.csv"),
        ("predict - -", "x.csv"),
    ] {
        let mut child = folder.command(args).stdin(Stdio::piped()).spawn().unwrap();
        // It may have ended before it read everything.
        let _ = child.stdin.take().unwrap().write_all(&folder.read(input));
        let ran = child.wait_with_output().unwrap();
        let said = String::from_utf8(ran.stderr).unwrap();
        assert!(!ran.status.success() && said.contains("standard input"), "{args}: {said}");
    }
    assert!(!common::exists(&folder.path("s.bin")));
}

#[test]
fn an_archive_with_other_arrays_is_not_replaced() {
    let folder = Folder::new();
    folder.write("pool.csv", "m0,m1\n0,0\n0,0\n1,1\n1,1\n");
    let other = npy_i64(&[vec![1], vec![2]]);
    folder.write("keep.npz", npz(&[("x", other.clone()), ("id", other.clone())]));
    let run = "consensus pool.csv --method lwea --clusters 2 -o";
    folder.fails(&format!("{run} keep.npz:mine"), &["keep.npz", "other arrays", "x"]);
    folder.ok("score keep.npz:x keep.npz:x");
    // Its own, and whole archives, are replaced as every file is.
    folder.write("own.npz", npz(&[("mine", other)]));
    folder.ok(&format!("{run} own.npz:mine"));
    folder.ok(&format!("{run} keep.npz"));
}

#[test]
fn members_with_memberships_are_clustered_and_diagnosed() {
    let folder = prepared();
    let run = "cluster x.csv --method consensus --clusters 4 --param members=4 \
               --param generator=gaussian-mixture -o l.csv";
    let reply = folder.json(&format!("{run} --truth truth.csv"));
    assert!(reply["anmi"].as_f64().unwrap() > 0.5 && reply["clusters"] == 4, "{reply}");
    folder.write("pool.csv", "m0,m1\n0,0\n0,0\n1,1\n1,0\n");
    folder.write("twice.csv", "m0,m1,m1again\n0,0,0\n0,0,0\n1,1,1\n1,0,0\n");
    let diagnose = "--diagnose --method eac-al --clusters 2";
    let weighted = folder.json(&format!("consensus pool.csv --member-weights 1,2 {diagnose}"));
    let repeated = folder.json(&format!("consensus twice.csv {diagnose}"));
    let anmi = |reply: &serde_json::Value| reply["diagnostics"]["anmi"].as_f64().unwrap();
    assert!((anmi(&weighted) - anmi(&repeated)).abs() < 1e-12);
}

/// Ids may be negative numbers, and columns that cannot be read may be left out.
#[test]
fn parquet_of_negative_ids_and_times() {
    let folder = Folder::new();
    let field = |name: &str, converted| {
        let builder = Type::primitive_type_builder(name, Physical::INT64);
        let builder = builder.with_repetition(Repetition::REQUIRED);
        Arc::new(builder.with_converted_type(converted).build().unwrap())
    };
    let none = ConvertedType::NONE;
    let fields = vec![
        field("id", none),
        field("m0", none),
        field("m1", none),
        field("when", ConvertedType::TIMESTAMP_MILLIS),
    ];
    let schema = Arc::new(Type::group_type_builder("schema").with_fields(fields).build().unwrap());
    let file = std::fs::File::create(folder.path("pool.parquet")).unwrap();
    let mut writer = SerializedFileWriter::new(file, schema, Default::default()).unwrap();
    let mut group = writer.next_row_group().unwrap();
    for cells in [[-2, -1, 0, 7], [0, 0, 1, 1], [0, 0, 1, 1], [5, 6, 7, 8]] {
        let mut column = group.next_column().unwrap().unwrap();
        column.typed::<Int64Type>().write_batch(&cells, None, None).unwrap();
        column.close().unwrap();
    }
    group.close().unwrap();
    writer.close().unwrap();
    folder.fails("consensus pool.parquet --clusters 2", &["\"when\"", "TIMESTAMP"]);
    folder.ok("consensus pool.parquet --columns m0,m1 --id id --clusters 2 -o l.csv");
    assert_eq!(folder.read("l.csv"), b"id,label\n-2,0\n-1,0\n0,1\n7,1\n");
    folder.ok("generate pool.parquet --drop when --members 2 --clusters 2 -o g.csv");
}

#[test]
fn labels_of_text_and_gaps_are_certain_memberships() {
    let folder = Folder::new();
    folder.write("s.csv", "c0,c1\n1,0\n1,0\n0,1\n0,1\n");
    for labels in ["y\ncat\ncat\ndog\ndog\n", "y\n0\n0\n1\n1\n"] {
        folder.write("y.csv", labels);
        let reply = folder.json("score --soft s.csv y.csv");
        assert_eq!(reply["scores"]["jensen_shannon"], 0.0, "{labels}");
    }
    folder.write("s.csv", "c0,c1\n1,0\n0.5,0.5\n0,1\n0,1\n");
    for labels in ["y\ncat\n\ndog\ndog\n", "y\n0\n\n1\n1\n"] {
        folder.write("y.csv", labels);
        folder.ok("score --soft s.csv y.csv");
    }
    folder.write("y.csv", "a,b\ncat,cat\ncat,cat\ndog,cat\ndog,cat\n");
    folder.fails("score --soft s.csv y.csv", &["y.csv", "not numeric"]);
}

#[test]
fn wrong_constraints_are_told_by_their_lines() {
    let folder = Folder::new();
    folder.write("pool.csv", "m0,m1\n0,0\n0,0\n1,1\n1,1\n");
    for (text, needles) in [
        ("0,1,must\n0,9,must\n", ["line 3", "9"]),
        ("0,1,must\n1,1,cannot\n", ["line 3", "1"]),
        ("0,1,must\n1,2,must\n0,2,cannot\n", ["line 4", "cannot"]),
    ] {
        folder.write("links.csv", format!("i,j,link\n{text}"));
        folder.fails("update pool.csv --constraints links.csv --clusters 2", &needles);
    }
    // Objects are called as the file calls them.
    folder.write("pool.csv", "id,m0,m1\nann,0,0\nbob,0,0\ncid,1,1\n");
    folder.write("links.csv", "i,j,link\ncid,ann,must\nann,bob,must\nbob,cid,cannot\n");
    let needles = ["line 4", "cannot-link bob, cid, but must-links say bob = ann = cid"];
    folder.fails("update pool.csv --constraints links.csv --clusters 2", &needles);
}

/// Rows and columns are what they are, whatever their first cells say.
#[test]
fn first_cells_are_read_as_they_are() {
    let folder = Folder::new();
    for (text, objects) in [
        ("NA,1,2\n0,1,2\n0,1,2\n1,0,0\n1,0,0\n", 5),
        ("NA,NA\n0,1\n1,1\n", 3),
        ("p1,NA,1\np2,0,1\np3,0,0\np4,1,1\n", 4),
        ("a,b\n0,1\n1,1\n", 2),
    ] {
        folder.write("pool.csv", text);
        let run = "consensus pool.csv --method voting --clusters 2";
        assert_eq!(folder.json(run)["n"], objects, "{text}");
    }
    // A single new object has labels of its own, which are no ids.
    folder.write("pool.csv", "a,b\ncat,x\ncat,x\ndog,y\ndog,y\n");
    folder.write("new.csv", "a,b\ncat,y\n");
    folder.write("c.csv", "0,1,must\n");
    folder.ok("update pool.csv --clusters 2 --constraints c.csv --new-objects new.csv -o l.csv");
    assert_eq!(folder.read("l.csv").iter().filter(|&&b| b == b'\n').count(), 6);
    folder.write("x.svm", "1:0.5 2:1\n1:0.7 2:3\n");
    folder.fails("generate x.svm -o g.csv", &["line 1", "expected a class"]);
    // Classes that are negative have names that are not read as no label.
    folder.write("y.svm", "-1 1:0\n-1 1:1\n+1 1:9\n+1 1:8\n");
    folder.write("x.csv", "a\n0\n1\n9\n8\n");
    folder.ok("cluster x.csv --labels y.svm --method kmeans -o l.csv");
    let reply = folder.json("score l.csv y.svm");
    assert_eq!((&reply["clusters"], &reply["scores"]["ari"]), (&2.into(), &1.0.into()));
}

#[test]
fn ids_are_numbers_of_their_own() {
    let folder = Folder::new();
    // Edges by id, in text and in an array.
    folder.write("pool.csv", "id,m0\n3,0\n1,0\n0,1\n2,1\n");
    folder.write("e.csv", "3,1\n0,2\n");
    folder.write("e.npy", npy_i64(&[vec![3, 1], vec![0, 2]]));
    for edges in ["e.csv", "e.npy"] {
        folder.ok(&format!("consensus pool.csv --edges {edges} -o l.csv"));
        assert_eq!(folder.read("l.csv"), b"id,label\n3,0\n1,0\n0,1\n2,1\n", "{edges}");
    }
    // Numbered columns of ids of new objects, and of the memberships that a command is about.
    folder.write("p.csv", "key,m0,m1\n5,0,0\n6,0,0\n7,1,1\n8,1,1\n");
    folder.write("n.csv", "key,m0,m1\n9,1,1\n");
    folder.write("c.csv", "5,7,cannot\n");
    folder.ok("update p.csv --constraints c.csv --new-objects n.csv --id 0 --clusters 2 -o l.csv");
    assert!(folder.read("l.csv").ends_with(b"\n9,1\n"));
    folder.write("s.csv", "key,c0,c1\n5,1,0\n6,0,1\n");
    folder.ok("score --soft s.csv s.csv --id key");
    folder.write("b.csv", "c0,c1\n1,0\n0,1\n");
    folder.ok("score --soft s.csv b.csv --id 0");
    // More digits than a float has.
    let big = 9_007_199_254_740_993;
    folder.write("big.npy", npy_i64(&[vec![big, 0], vec![big - 1, 1], vec![1, 2]]));
    folder.fails("generate big.npy -o g.csv --id 0", &["row 0", "fewer digits"]);
    let names = npz(&[("x", npy_i64(&[vec![0], vec![1]])), ("id", npy_i64(&[vec![4], vec![5]]))]);
    folder.write("x.npz", names);
    folder.ok("generate x.npz --id id --members 2 --clusters 2 -o g.csv");
    assert!(folder.read("g.csv").starts_with(b"id,"));
    folder.fails("consensus pool.csv --method lwea -o o.npz:ids", &["for the ids"]);
}

#[test]
fn parameters_that_need_another_are_refused_alone() {
    let folder = prepared();
    folder.write("pool.csv", csv(&ensemble()));
    let run = "consensus pool.csv --clusters 4 --method";
    folder.fails(&format!("{run} ecmc-al --param d0=0.1"), &["d0 or d1 alone"]);
    folder.ok(&format!("{run} ecmc-al --param d0=0.1 --param d1=0.7"));
    folder.fails(&format!("{run} ecmc-al --param d0=0.1 --param d1=x"), &["--param d1=x"]);
}
