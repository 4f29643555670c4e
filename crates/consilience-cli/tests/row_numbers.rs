//! Row numbers that other programs write in front of tables of features.

mod common;

use common::{Dice, Folder};

const OBJECTS: usize = 90;

/// Three groups ten deviations apart, in the order of a die, behind what a program writes in front
/// of each row; and the groups.
fn table(folder: &Folder, name: &str, head: &str, separator: char, id: impl Fn(usize) -> String) {
    let mut dice = Dice::new(5);
    let (mut text, mut truth) = (format!("{head}a{separator}b\n"), String::from("group\n"));
    for i in 0..OBJECTS {
        let group = dice.below(3);
        let mut near = |centre: u64| (centre * 100 + dice.below(10)) as f64 / 10.0;
        let (a, b) = (near(group), near(group * group));
        text += &format!("{}{a}{separator}{b}\n", id(i));
        truth += &format!("{group}\n");
    }
    folder.write(name, text);
    folder.write("truth.csv", truth);
}

#[test]
fn row_numbers_are_no_features() {
    let folder = Folder::new();
    let labels = |from: &str| {
        let run = format!("generate {from} --members 15 --clusters 3..6 -o pool.csv");
        assert!(folder.ok(&run).stderr.contains("a column of row numbers"), "{from}");
        let found =
            folder.json("consensus pool.csv --clusters 3 --truth truth.csv --method lwea -o l.csv");
        assert_eq!(found["scores"]["ari"], 1.0, "{from}");
        folder.text("l.csv")
    };
    for (head, first) in [("", 0), ("\"\"", 1), ("Unnamed: 0", 0), ("index", 0), ("X", 1)] {
        table(&folder, "x.csv", &format!("{head},"), ',', |i| format!("{},", i + first));
        table(&folder, "x.tsv", &format!("{head}\t"), '\t', |i| format!("{}\t", i + first));
        let found = labels("x.csv");
        assert!(found.starts_with(&format!("id,label\n{first},")), "{found}");
        assert_eq!(found, labels("x.tsv"), "{head:?}");
    }
    let cluster = "cluster x.csv --method consensus --clusters 3 --truth truth.csv -o l.csv";
    let found = folder.json(&format!("{cluster} --model m.bin"));
    assert_eq!(found["scores"]["ari"], 1.0);
    // New objects, with the numbers of their rows, shuffled, and without.
    for head in ["X", "", "index"] {
        table(&folder, "new.csv", &format!("{head},"), ',', |i| format!("{},", 7 * (i + 3) % 97));
        folder.ok("predict m.bin new.csv -o new_labels.csv --truth truth.csv");
        let found = folder.json("predict m.bin new.csv -o new_labels.csv --truth truth.csv");
        assert_eq!(found["scores"]["ari"], 1.0, "{head:?}");
        assert!(folder.text("new_labels.csv").starts_with("id,"));
    }
    table(&folder, "new.csv", "", ',', |_| String::new());
    let found = folder.json("predict m.bin new.csv -o new_labels.csv --truth truth.csv");
    assert_eq!(found["scores"]["ari"], 1.0);
}

/// A model whose features count rows under such a name keeps them.
#[test]
fn models_keep_their_columns() {
    let folder = Folder::new();
    table(&folder, "x.csv", "index,", ',', |i| format!("{},", i * i));
    folder.ok("cluster x.csv --method consensus --clusters 3 -o l.csv --model m.bin");
    table(&folder, "new.csv", "index,", ',', |i| format!("{i},"));
    let ran = folder.ok("predict m.bin new.csv -o new_labels.csv");
    assert!(!ran.stderr.contains("row numbers"), "{}", ran.stderr);
    assert!(!folder.text("new_labels.csv").starts_with("id,"));
}

#[test]
fn other_columns_that_count_the_rows_are_asked_about() {
    let folder = Folder::new();
    for head in ["time,", ""] {
        let rows: String = (0..40).map(|i| format!("{i},{}\n", i % 7)).collect();
        let names = if head.is_empty() { String::new() } else { format!("{head}a\n") };
        folder.write("x.csv", names + &rows);
        let ran = folder.ok("generate x.csv --members 2 --clusters 3 -o pool.csv");
        assert!(ran.stderr.contains("is it a row number?"), "{head:?}: {}", ran.stderr);
    }
}

/// Columns are known by their names in upper and lower case.
#[test]
fn names_in_another_case_are_the_same() {
    let folder = Folder::new();
    table(&folder, "x.csv", "", ',', |_| String::new());
    folder.ok("cluster x.csv --method consensus --clusters 3 -o l.csv --model m.bin");
    let turned: String = folder
        .text("x.csv")
        .lines()
        .skip(1)
        .map(|line| line.split_once(',').map(|(a, b)| format!("{b},{a}\n")).unwrap())
        .collect();
    folder.write("turned.csv", format!("B,A\n{turned}"));
    let ran = folder.ok("predict m.bin turned.csv -o new.csv");
    assert!(ran.stderr.contains("by upper and lower case alone"), "{}", ran.stderr);
    let found = folder.json("predict m.bin turned.csv -o new.csv --truth truth.csv");
    assert_eq!(found["scores"]["ari"], 1.0);
    folder.write("other.csv", format!("B,C\n{turned}"));
    folder.fails("predict m.bin other.csv -o new.csv", &["no column a, and unknown C"]);
}
