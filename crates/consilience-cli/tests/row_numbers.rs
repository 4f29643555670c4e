//! Row numbers that other programs write in front of tables of features and of labels.

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

/// Labels of three groups as another program writes them, with what it writes in front of each row.
fn labels(folder: &Folder, name: &str, head: &str, columns: usize, id: impl Fn(usize) -> String) {
    let names: Vec<String> = (0..columns).map(|c| format!("m{c}")).collect();
    let mut text = format!("{head}{}\n", names.join(","));
    for i in 0..OBJECTS {
        // Every member but the first errs about a ninth of the objects.
        let label = |c: usize| (i % 3 + usize::from(c > 0 && i % 9 == c)) % 3;
        let row: Vec<String> = (0..columns).map(|c| label(c).to_string()).collect();
        text += &format!("{}{}\n", id(i), row.join(","));
    }
    folder.write(name, text);
}

#[test]
fn row_numbers_are_no_labels() {
    let folder = Folder::new();
    labels(&folder, "plain.csv", "", 4, |_| String::new());
    labels(&folder, "truth.csv", "\"\",", 1, |i| format!("{},", i + 1));
    let run = "consensus plain.csv --method lwea --clusters 3 -o l.csv --truth truth.csv";
    assert_eq!(folder.json(run)["scores"]["ari"], 1.0);
    let plain = folder.text("l.csv");
    let bare = |text: &str| -> Vec<String> {
        text.lines().map(|line| line.rsplit(',').next().unwrap().to_owned()).collect()
    };
    for (head, first) in [("", 0), ("Unnamed: 0", 0), ("\"\"", 1), ("index", 0), ("X", 1)] {
        labels(&folder, "pool.csv", &format!("{head},"), 4, |i| format!("{},", i + first));
        let ran = folder.ok("consensus pool.csv --method lwea --clusters 3 -o l.csv");
        assert!(ran.stderr.contains("a column of row numbers"), "{head:?}: {}", ran.stderr);
        let found = folder.text("l.csv");
        assert!(found.starts_with(&format!("id,label\n{first},")), "{found}");
        assert_eq!(bare(&found), bare(&plain), "{head:?}");
        // Rows are numbered from 0 here and from 1 there, and both are the same objects.
        for truth in ["0", "1"] {
            labels(&folder, "truth.csv", ",", 1, |i| format!("{},", i + usize::from(truth == "1")));
            let run = "consensus pool.csv --method lwea --clusters 3 -o l.csv --truth truth.csv";
            assert_eq!(folder.json(run)["scores"]["ari"], 1.0, "{head:?} {truth}");
            let score = folder.json("score l.csv truth.csv");
            assert_eq!((&score["scores"]["ari"], &score["n"]), (&1.0.into(), &OBJECTS.into()));
        }
    }
    // Of other numbers of rows nobody knows which are the same.
    let truth = folder.text("truth.csv");
    folder.write("some.csv", truth.lines().take(OBJECTS).collect::<Vec<_>>().join("\n"));
    labels(&folder, "zero.csv", ",", 4, |i| format!("{i},"));
    let run = "consensus zero.csv --method lwea --clusters 3 --truth some.csv";
    folder.fails(run, &["numbered from 1 on, those of the objects from 0 on"]);
    // Names on one side, the numbers of rows on the other.
    labels(&folder, "pool.csv", "name,", 4, |i| format!("p{i},"));
    let found = folder.json("consensus pool.csv --method lwea --clusters 3 --truth truth.csv");
    assert_eq!(found["scores"]["ari"], 1.0);
    // Rows of a table, by their numbers in it.
    labels(&folder, "pool.csv", ",", 4, |i| format!("{},", 7 * (i + 3) % 97));
    labels(&folder, "truth.csv", ",", 1, |i| format!("{},", 7 * (i + 3) % 97));
    let found = folder.json("consensus pool.csv --method lwea --clusters 3 --truth truth.csv");
    assert_eq!(found["scores"]["ari"], 1.0);
    // A member under such a name that counts nothing stays one.
    labels(&folder, "pool.csv", "index,", 4, |i| format!("{},", i % 3));
    assert_eq!(folder.json("consensus pool.csv --method lwea --clusters 3")["members"], 5);
}

/// The numbers go on where those of further objects begin anew or are missing.
#[test]
fn rows_of_new_labels_are_numbered_on() {
    let folder = Folder::new();
    for (ours, theirs) in [(true, true), (true, false), (false, true), (false, false)] {
        for (name, numbered) in [("pool.csv", ours), ("new.csv", theirs)] {
            let head = if numbered { "," } else { "" };
            let id = |i: usize| if numbered { format!("{},", i + 1) } else { String::new() };
            labels(&folder, name, head, 4, id);
        }
        let first = usize::from(ours);
        folder.write("links.csv", format!("i,j,link\n{first},{},must\n", OBJECTS + 3 + first));
        let run = "update pool.csv --new-objects new.csv --constraints links.csv --clusters 3";
        let ran = folder.ok(&format!("{run} -o l.csv"));
        let found = folder.text("l.csv");
        assert_eq!(found.starts_with("id,label\n1,"), ours, "{}", ran.stderr);
        let last = found.lines().last().unwrap().to_owned();
        assert_eq!(last.starts_with(&format!("{},", 2 * OBJECTS)), ours, "{last}");
        assert_eq!(found.lines().count(), 1 + 2 * OBJECTS, "{ours} {theirs}");
    }
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
