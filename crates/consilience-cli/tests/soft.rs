//! Members that give memberships, from the generator to the consensus, and members with weights.

mod common;

use common::{Folder, npy, npz};

/// Two groups of twelve objects and three between them.
fn features(folder: &Folder) {
    let mut text = String::from("a,b\n");
    for i in 0..27 {
        let at = [0.0, 10.0, 5.0][if i < 24 { i % 2 } else { 2 }];
        text += &format!("{},{}\n", at + (i % 5) as f64 * 0.7, at + (i % 7) as f64 * 0.5);
    }
    folder.write("x.csv", text);
}

#[test]
fn memberships_are_generated_written_and_read() {
    let folder = Folder::new();
    features(&folder);
    for method in ["gaussian-mixture", "fuzzy-c-means"] {
        folder
            .ok(&format!("generate x.csv --method {method} --members 8 --clusters 2..4 -o p.npz"));
        for method in ["lwea", "diffusion", "cspa", "pcc-kl", "auto"] {
            let run = format!("consensus p.npz --method {method} --clusters 2 -o labels.csv");
            let found = folder.json(&run);
            assert_eq!(found["members"], 8);
        }
        folder.ok("consensus p.npz"); // the number of clusters chosen, too
        folder.ok("consensus p.npz --method hgpa --harden --clusters 2");
        let parts = ["hgpa takes labels", "gives memberships", "--harden"];
        folder.fails("consensus p.npz --method hgpa --clusters 2 --quiet", &parts);
        // Before anything is read, whatever the data would give.
        for out in ["p.csv", "p.parquet", "p.npy", "-"] {
            let run = format!("generate none.csv --method {method} --clusters 1 -o {out} --quiet");
            let parts = [out, "other than .npz takes labels", method, "consensus --harden"];
            folder.fails(&run, &parts);
        }
    }
}

#[test]
fn members_count_as_often_as_asked() {
    let folder = Folder::new();
    folder.write("p.csv", "0,0,0\n0,0,1\n1,1,1\n1,1,0\n");
    folder.write("q.csv", "0,0\n0,1\n1,1\n1,0\n");
    let labels = |args: &str| {
        folder.ok(&format!("consensus {args} --method eac-al --clusters 2 -o l.csv --quiet"));
        folder.read("l.csv")
    };
    assert_eq!(labels("p.csv"), labels("q.csv --member-weights 2,1"));
    assert_eq!(labels("q.csv --member-weights 0,3"), labels("q.csv --columns 1"));
    for (weights, say) in [
        ("1", "1 weights for 2 members"),
        ("1,nan", "weight NaN of member 1"),
        ("1,-1", "weight -1 of member 1"),
        ("0,0", "weights of all members are 0"),
    ] {
        let run =
            format!("consensus q.csv --method eac-al --clusters 2 --member-weights {weights}");
        folder.fails(&format!("{run} --quiet"), &["--member-weights", say]);
    }
    let run = "consensus q.csv --method mm --clusters 2 --member-weights 2,1 --quiet";
    folder.fails(run, &["mm takes no weights of members", "--columns"]);
}

/// A weight of 0 leaves a member out, for methods that take no weights too.
#[test]
fn members_of_weight_0_are_left_out() {
    let folder = Folder::new();
    folder.write("p.csv", "0,0,0,1\n0,0,0,0\n1,1,0,1\n1,1,1,0\n1,1,1,1\n0,0,0,0\n");
    for method in ["mm", "mcla", "srs-al", "usenc", "eac-al", "auto"] {
        let labels = |args: &str| {
            let run = format!("consensus p.csv --method {method} --clusters 2 -o l.csv --quiet");
            folder.ok(&format!("{run} {args}"));
            folder.read("l.csv")
        };
        assert_eq!(labels("--member-weights 1,0,1,0"), labels("--columns 0,2"), "{method}");
    }
    // Members keep their numbers in what is said of them.
    let run = "consensus p.csv --method mm --clusters 2 --member-weights 0,1,1,1 --diagnose";
    let found = folder.json(run);
    let members = found["diagnostics"]["members"].as_array().unwrap();
    assert_eq!((&found["members"], members.len()), (&4.into(), 4));
    assert!(members[0]["agreement"].is_null() && members[1]["agreement"].is_number(), "{found}");
}

/// The memberships of one cluster are 1 but for rounding; whole numbers in one column are labels.
#[test]
fn one_column_of_probabilities_is_one_cluster() {
    let folder = Folder::new();
    let bytes = |values: [f64; 3]| -> Vec<u8> { values.map(f64::to_le_bytes).concat() };
    folder.write("one.npy", npy("<f8", false, "(3, 1)", &bytes([1.0 - f64::EPSILON / 2.0; 3])));
    folder.write("one.csv", "0.9999999999999999\n1\n1\n");
    folder.write("labels.npy", npy("<f8", false, "(3, 1)", &bytes([0.0, 1.0, 1.0])));
    for one in ["one.npy", "one.csv"] {
        let same = folder.json(&format!("score --soft {one} one.npy"));
        assert_eq!((&same["clusters"], &same["true_clusters"]), (&1.into(), &1.into()));
        assert!(same["scores"]["jensen_shannon"].as_f64().unwrap() < 1e-12, "{same}");
        assert_eq!(folder.json(&format!("score --soft {one} labels.npy"))["true_clusters"], 2);
    }
    folder.write("half.csv", "0.5\n1\n1\n");
    folder.fails("score --soft half.csv one.npy", &["half.csv", "row 0", "0.5"]);
}

#[test]
fn memberships_that_are_no_numbers_are_named() {
    let folder = Folder::new();
    let member = |last: [f64; 2]| {
        let values = [[0.5, 0.5], [0.25, 0.75], last];
        let bytes: Vec<u8> = values.iter().flatten().flat_map(|v: &f64| v.to_le_bytes()).collect();
        npy("<f8", false, "(3, 2)", &bytes)
    };
    let known = member([0.5, 0.5]);
    let unknown = member([f64::NAN, 1.0]);
    folder.write("nan.npz", npz(&[("member_0", known.clone()), ("member_1", unknown)]));
    let parts = ["member_1", "memberships: NaN at row 2, column 0", "a row of zeros"];
    folder.fails("consensus nan.npz --method eac-al --clusters 2 --quiet", &parts);
    folder.write("known.npz", npz(&[("member_0", known), ("member_1", member([0.0, 0.0]))]));
    folder.ok("consensus known.npz --method eac-al --clusters 2");
}
