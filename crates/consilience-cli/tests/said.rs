//! What options say is done, or refused: nothing given is dropped without a word, tables that
//! belong together are joined by their names, and nothing that is read is written over.

mod common;

use common::Folder;

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("f.csv", "a,b\n0,100\n1,101\n0,101\n100,0\n101,1\n100,1\n");
    folder.write("pool.csv", "m0,m1\n0,0\n0,0\n1,0\n1,1\n1,1\n");
    folder.write("links.csv", "i,j,link\n0,4,cannot\n");
    folder
}

fn labels(folder: &Folder, name: &str) -> Vec<String> {
    let text = folder.text(name);
    text.lines().skip(1).map(str::to_owned).collect()
}

#[test]
fn memberships_are_joined_by_ids() {
    let folder = folder();
    folder.write("a.csv", "id,c0,c1\nx,1,0\ny,0,1\nz,1,0\n");
    folder.write("b.csv", "id,c0,c1\ny,0,1\nx,1,0\nz,1,0\n");
    let score = |files: &str| folder.json(&format!("score --soft {files}"))["scores"].clone();
    assert_eq!(score("a.csv b.csv")["jensen_shannon"], 0.0);
    // Those that are there, and a note about the others.
    folder.write("c.csv", "id,c0,c1\ny,0,1\nw,0.5,0.5\n");
    let ran = folder.ok("score --soft a.csv c.csv");
    assert!(ran.stderr.contains("2 objects have no memberships"), "{}", ran.stderr);
    assert!(ran.stderr.contains("1 row of another object"), "{}", ran.stderr);
    folder.write("d.csv", "id,c0,c1\nq,0,1\nw,1,0\n");
    folder.fails("score --soft a.csv d.csv", &["d.csv", "none of its ids"]);
    folder.write("e.csv", "c0,c1\n0,1\n1,0\n");
    folder.fails("score --soft a.csv e.csv", &["e.csv", "2 rows", "expected 3"]);
}

#[test]
fn columns_of_new_objects_are_taken_by_name() {
    let folder = folder();
    folder.write("new.csv", "b,a\n100,0\n0,100\n");
    let cluster = "cluster f.csv --method kmeans --clusters 2 -o l.csv --predicted p.csv";
    let ran = folder.ok(&format!("{cluster} --predict new.csv"));
    assert!(ran.stderr.contains("taken by name"), "{}", ran.stderr);
    let found = labels(&folder, "l.csv");
    assert_eq!(labels(&folder, "p.csv"), [found[0].clone(), found[3].clone()]);
    folder.write("other.csv", "u,v\n0,100\n100,0\n");
    let ran = folder.ok(&format!("{cluster} --predict other.csv"));
    assert!(ran.stderr.contains("called otherwise"), "{}", ran.stderr);
    assert_eq!(labels(&folder, "p.csv"), [found[0].clone(), found[3].clone()]);

    folder.write("half.csv", "b,v\n0,100\n100,0\n");
    let needles = ["half.csv: no column a, and unknown v; expected the columns a, b"];
    folder.fails(&format!("{cluster} --predict half.csv"), &needles);

    folder.write("c.csv", "a,b,c\n0,100,red\n1,101,red\n100,0,blue\n101,1,blue\n");
    let coded = "cluster c.csv --method kmeans --clusters 2 --categorical c -o l.csv";
    folder.write("new.csv", "c,b,a\nblue,0,100\nred,100,0\n");
    let ran = folder.ok(&format!("{coded} --predict new.csv --predicted p.csv"));
    assert!(ran.stderr.contains("taken by name"), "{}", ran.stderr);
    let found = labels(&folder, "l.csv");
    assert_eq!(labels(&folder, "p.csv"), [found[2].clone(), found[0].clone()]);

    let update = "update pool.csv --clusters 2 --constraints links.csv";
    folder.write("new.csv", "m0,m1\n1,0\n0,0\n");
    folder.write("turned.csv", "m1,m0\n0,1\n0,0\n");
    folder.ok(&format!("{update} --new-objects new.csv -o plain.csv"));
    let ran = folder.ok(&format!("{update} --new-objects turned.csv -o turned-labels.csv"));
    assert!(ran.stderr.contains("taken by name"), "{}", ran.stderr);
    assert_eq!(labels(&folder, "plain.csv"), labels(&folder, "turned-labels.csv"));
    folder.write("half.csv", "m1,m2\n0,1\n0,0\n");
    let needles = ["half.csv", "no column m0, and unknown m2"];
    folder.fails(&format!("{update} --new-objects half.csv -o half-labels.csv"), &needles);
}

#[test]
fn features_are_filled_and_scaled_before_they_are_reduced() {
    let folder = folder();
    // Two clusters in p and q; noise a thousand times as large.
    let row = |i: i64| format!("{},{},{}\n", i % 2 * 9 + i % 3, i % 2 * 9, i * 7919 % 10_007);
    let rows: String = (0..80).map(row).collect();
    folder.write("x.csv", format!("p,q,noise\n{rows}"));
    let truth: String = (0..80).map(|i| format!("{}\n", i % 2)).collect();
    folder.write("y.csv", format!("y\n{truth}"));
    let ari = |options: &str| {
        let line = format!("generate x.csv --members 3 --clusters 2 --truth y.csv {options}");
        folder.json(&format!("{line} -o e.csv"))["scores"]["ari"].as_f64().unwrap()
    };
    assert!(ari("--scale zscore --svd 1") > 0.99);
    assert!(ari("--svd 1") < 0.2);
    folder.write("holes.csv", format!("p,q,noise\n,9,1\n{rows}"));
    let holes = "generate holes.csv --members 3 --clusters 2 --svd 2";
    folder.ok(&format!("{holes} --missing mean -o e.csv"));
    folder.fails(&format!("{holes} --missing member -o m.csv"), &["--missing member", "--svd"]);
    let consensus = "cluster x.csv --method consensus --clusters 2 --svd 2";
    folder.fails(&format!("{consensus} --param scale=zscore"), &["scale=zscore", "reduced"]);
}

#[test]
fn clusters_of_different_classes_have_different_names() {
    let folder = Folder::new();
    let rows: String = (0..12).map(|i| format!("{},{}\n", i / 6 * 50, i % 6)).collect();
    folder.write("x.csv", &rows);
    // Whichever cluster has no label would be called as the class is.
    for class in ["cluster 0", "cluster 1"] {
        let known = |i: usize| if i < 2 { class } else { "NA" };
        let text: String = (0..12).map(|i| format!("{}\n", known(i))).collect();
        folder.write("y.csv", format!("y\n{text}"));
        folder.ok("cluster x.csv --method kmeans --labels y.csv --clusters 2 -o l.csv");
        let found = labels(&folder, "l.csv");
        assert_ne!(found[0], found[11], "{class}");
    }
}

#[test]
fn standard_output_takes_what_is_not_a_table_too() {
    let folder = folder();
    let ran = folder.command("plot dendrogram pool.csv -o -").output().unwrap();
    assert!(ran.status.success() && ran.stdout.starts_with(b"<svg"));
    let line = "cluster f.csv --method consensus --clusters 2";
    let ran = folder.command(&format!("{line} --model -")).output().unwrap();
    assert!(ran.status.success() && ran.stdout.len() > 500);
    folder.write("model.bin", &ran.stdout);
    folder.ok("predict model.bin f.csv -o p.csv");
    folder.ok(&format!("{line} -o l.csv"));
    assert_eq!(folder.read("p.csv"), folder.read("l.csv"));
    assert!(!folder.names().contains(&"-".to_owned()));
    let update = "update pool.csv --clusters 2 --constraints links.csv --state -";
    folder.fails(update, &["--state -"]);
}

/// Whoever reads the table may leave: the other files are wanted still.
#[cfg(unix)]
#[test]
fn a_reader_that_leaves_takes_nothing_else_along() {
    let folder = Folder::new();
    let rows: String = (0..60_000).map(|i| format!("{},{}\n", i % 3, i % 3)).collect();
    folder.write("big.csv", format!("a,b\n{rows}"));
    let line = "consensus big.csv --method least-squares --clusters 3 -o - --soft soft.csv";
    let mut child = folder.command(line).spawn().unwrap();
    drop(child.stdout.take());
    assert!(child.wait().unwrap().success());
    assert_eq!(labels(&folder, "soft.csv").len(), 60_000);
}

#[test]
fn options_without_use_are_refused() {
    let folder = folder();
    for (line, needles) in [
        (
            "cluster f.csv --method kmeans --clusters 2 --categorical-distance goodall",
            "categorical",
        ),
        ("report pool.csv -o r.html --drop a", "--features"),
        ("report pool.csv -o r.html --missing mean", "--features"),
        ("plot cdf pool.csv -o c.svg --method lwea", "--method"),
        ("plot cdf pool.csv -o c.svg --clusters 3", "--clusters"),
        ("plot dendrogram pool.csv -o c.svg --up-to 3", "--up-to"),
        ("plot co-association pool.csv -o c.svg --delta 0.5", "--delta"),
    ] {
        folder.fails(line, &[needles]);
    }
    let update = "update pool.csv --clusters 2 --constraints links.csv --read-out consensus";
    folder.fails(&format!("{update} --param dimensions=7"), &["--param"]);
    folder.write("c.csv", "a,c\n1,red\n2,red\n1,red\n9,blue\n8,blue\n9,blue\n");
    let consensus = "cluster c.csv --method consensus --clusters 2 --categorical c";
    folder.fails(&format!("{consensus} --model m.bin"), &["--model", "--categorical"]);
    folder.ok("update pool.csv --clusters 2 --constraints links.csv --rule exact --state s");
    let update = "update pool.csv --constraints links.csv --state s --param slack=2";
    folder.fails(update, &["--param"]);
}

#[test]
fn what_is_read_is_not_written_over() {
    let folder = folder();
    for line in [
        "generate f.csv --members 3 -o f.csv",
        "consensus pool.csv --clusters 2 -o pool.csv",
        "update pool.csv --clusters 2 --constraints links.csv -o links.csv",
    ] {
        let before = (folder.read("f.csv"), folder.read("pool.csv"), folder.read("links.csv"));
        folder.fails(line, &["it is read", "-o"]);
        let after = (folder.read("f.csv"), folder.read("pool.csv"), folder.read("links.csv"));
        assert!(before == after, "{line}");
    }
    // But for earlier labels, which are what is written again.
    let update = "update pool.csv --clusters 2 --constraints links.csv";
    folder.ok(&format!("{update} -o l.csv"));
    folder.ok(&format!("{update} -o l.csv --since l.csv"));
}

#[test]
fn a_bad_cell_among_numbers_makes_no_ids() {
    let folder = folder();
    folder.write("p.csv", "height,weight\nn/a,60\n1.72,70\n1.91,90\n1.65,55\n");
    folder.fails("generate p.csv -o e.csv --members 1 --clusters 2", &["height", "n/a"]);
    folder.write("ids.csv", "name,weight\np1,60\np2,70\n7,90\n");
    folder.ok("generate ids.csv -o e.csv --members 1 --clusters 2");
}

#[test]
fn constraints_are_counted_as_they_were_given() {
    let folder = folder();
    folder.write("pairs.csv", "i,j,link\n0,1,must\n1,2,must\n2,3,cannot\n3,4,must\n");
    let line = "cluster f.csv --method kmeans --clusters 2 --constraints pairs.csv";
    let found = folder.json(line);
    assert_eq!((&found["constraints"], &found["violated"]), (&4.into(), &0.into()));
}

#[test]
fn members_apart_from_the_truth_are_told() {
    let folder = Folder::new();
    let rows: String = (0..40).map(|i| format!("{},{}\n", i / 20 * 9, i % 5)).collect();
    folder.write("x.csv", &rows);
    let truth: String = (0..40).map(|i| if i == 7 { "1\n" } else { "-1\n" }).collect();
    folder.write("y.csv", format!("y\n{truth}"));
    let line = "generate x.csv --object-fraction 0.5 --members 9 --truth y.csv -o e.csv";
    let ran = folder.ok(line);
    assert!(ran.stderr.contains("label no object with a true label"), "{}", ran.stderr);
}

/// Rows that stand for many objects are as so many rows.
#[test]
fn reports_count_objects() {
    let folder = Folder::new();
    folder.write("e.csv", "0,0\n0,\n1,1\n1,1\n");
    folder.write("counts.csv", "1\n97\n1\n1\n");
    folder.ok("report e.csv --counts counts.csv -o r.json");
    let text = folder.text("r.json");
    let found: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(found["input"]["missing"], 0.485);
    let member = &found["members"]["members"][1];
    assert!((member["labelled"].as_f64().unwrap() - 0.03).abs() < 1e-12, "{member}");
}

#[test]
fn a_column_of_answers_that_is_there_twice_is_refused() {
    let folder = Folder::new();
    folder.write("a.csv", "worker,i,i,j,same\nw,0,5,1,1\nw,2,5,1,0\n");
    folder.fails("crowd a.csv --clusters 2 -o l.csv", &["columns 1 and 2 are both called \"i\""]);
    // Those that are not read may be called as they like.
    folder.write("b.csv", "worker,i,j,same,,\nw,0,1,1,,\nw,0,2,0,,\nv,1,2,0,,\n");
    folder.ok("crowd b.csv --clusters 2 -o l.csv");
}

/// Where the table of clusters and classes is cut off, and where scores are of a few objects only.
#[test]
fn what_scores_leave_out_is_told() {
    let folder = Folder::new();
    let names = |of: fn(usize) -> String| (0..1_002).map(of).collect::<String>();
    folder.write("a.csv", "l\n".to_owned() + &names(|i| format!("c{}\n", i % 501)));
    folder.write("b.csv", "t\n".to_owned() + &names(|i| format!("k{i}\n")));
    let said = |reply: &serde_json::Value, note: &str| {
        reply["notes"].as_array().unwrap().iter().any(|n| n.as_str().unwrap().contains(note))
    };
    let reply = folder.json("score a.csv b.csv");
    assert!(reply["contingency"].is_null() && said(&reply, "1002 pairs"), "{}", reply["notes"]);
    assert!(!said(&reply, "unlabelled"), "{}", reply["notes"]);
    folder.write("c.csv", "x\n0\n0\n1\n-1\n-1\n");
    folder.write("d.csv", "x\n0\n0\n-1\n1\n1\n");
    let reply = folder.json("score c.csv d.csv");
    assert!(said(&reply, "2 of 5 objects are compared"), "{}", reply["notes"]);
    folder.write("counts.csv", "1\n10\n5\n1\n1\n");
    let reply = folder.json("score c.csv d.csv --counts counts.csv");
    assert!(said(&reply, "11 of 18 objects are compared"), "{}", reply["notes"]);
}

/// Rows with counts are distinct by their nature, and objects that no member labels have
/// memberships all the same.
#[test]
fn what_is_noted_of_an_ensemble_is_so() {
    let folder = Folder::new();
    folder.write("rows.csv", "m0,m1\n0,0\n0,1\n1,2\n1,3\n");
    folder.write("counts.csv", "50\n50\n50\n50\n");
    let line = "consensus rows.csv --clusters 2 --method lwea";
    let note = "member 1 puts every object apart";
    assert!(folder.ok(line).stderr.contains(note));
    let counted = folder.ok(&format!("{line} --counts counts.csv"));
    assert!(!counted.stderr.contains(note), "{}", counted.stderr);
    folder.write("some.csv", "m0,m1\n0,0\n0,0\n1,1\n,\n");
    let soft = "--clusters 2 --method lwea -o l.csv --soft s.csv";
    let ran = folder.ok(&format!("consensus some.csv {soft}"));
    let note = "its memberships are 0 or 1, those of unlabelled objects 1/2";
    assert!(ran.stderr.contains(note), "{}", ran.stderr);
    let ran = folder.ok(&format!("consensus rows.csv {soft}"));
    assert!(ran.stderr.contains("its memberships are 0 or 1\n"), "{}", ran.stderr);
}

/// A chain through all clusters of both sides, whose table is too large to be solved for one score.
#[test]
fn too_many_clusters_to_match_cost_accuracy_alone() {
    let folder = Folder::new();
    let column = |of: fn(usize) -> usize| -> String {
        (0..40_000).map(|i| format!("{}\n", of(i))).collect()
    };
    folder.write("a.csv", column(|i| i.div_ceil(2)));
    folder.write("b.csv", column(|i| i / 2));
    let reply = folder.json("score a.csv b.csv");
    let scores = reply["scores"].as_object().unwrap();
    assert_eq!(scores.len(), 18);
    for (name, value) in scores {
        assert_eq!(value.is_null(), name == "accuracy", "{name}: {value}");
    }
    let note = "accuracy: none, there are too many clusters to match";
    assert!(reply["notes"].as_array().unwrap().contains(&note.into()), "{}", reply["notes"]);
    let ran = folder.ok("score a.csv b.csv");
    assert!(ran.stderr.contains(note) && ran.stdout.contains("none"), "{}", ran.stderr);
}

/// However the number of clusters is asked for.
#[test]
fn an_ensemble_without_any_label_gives_no_labels() {
    let folder = Folder::new();
    folder.write("none.csv", "a,b\n,\n,\n,\n");
    let forms = ["", "--clusters 1", "--clusters auto", "--method lwea", "--method eac-al"];
    for form in forms.into_iter().chain(["--method lwea --clusters 2"]) {
        folder.ok(&format!("consensus none.csv {form} -o l.csv"));
        assert_eq!(folder.text("l.csv"), "label\n-1\n-1\n-1\n", "{form}");
    }
    let told = folder.ok("consensus none.csv --clusters auto").stderr;
    assert!(told.contains("no object is labelled by any member"), "{told}");
}
