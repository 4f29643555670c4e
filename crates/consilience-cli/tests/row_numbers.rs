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

/// Objects in their order, or in that of a die.
fn order(shuffled: bool) -> Vec<usize> {
    let mut dice = Dice::new(3);
    let mut order: Vec<usize> = (0..OBJECTS).collect();
    for i in (1..OBJECTS).rev().filter(|_| shuffled) {
        order.swap(i, dice.below(i as u64 + 1) as usize);
    }
    order
}

/// Labels of some objects as another program writes them, with what it writes in front of each row.
/// A die has put the objects into three groups: rows that are joined one too far do not agree.
fn labels_of(
    folder: &Folder,
    name: &str,
    head: &str,
    columns: usize,
    id: impl Fn(usize) -> String,
    objects: &[usize],
) {
    let mut dice = Dice::new(11);
    let groups: Vec<u64> = (0..OBJECTS).map(|_| dice.below(3)).collect();
    let names: Vec<String> = (0..columns).map(|c| format!("m{c}")).collect();
    let mut text = format!("{head}{}\n", names.join(","));
    for &i in objects {
        // Every member but the first errs about a ninth of the objects.
        let label = |c: usize| (groups[i] + u64::from(c > 0 && i % 9 == c)) % 3;
        let row: Vec<String> = (0..columns).map(|c| label(c).to_string()).collect();
        text += &format!("{}{}\n", id(i), row.join(","));
    }
    folder.write(name, text);
}

fn labels(folder: &Folder, name: &str, head: &str, columns: usize, id: impl Fn(usize) -> String) {
    labels_of(folder, name, head, columns, id, &order(false));
}

/// The numbers that pandas writes in front of a row, from 0, and R, from 1.
fn numbered(from: usize) -> impl Fn(usize) -> String {
    move |i| format!("{},", i + from)
}

const CONSENSUS: &str = "consensus pool.csv --method lwea --clusters 3";

/// The agreement with the truth, and the notes that say how the rows were joined.
fn judged(folder: &Folder, options: &str) -> (f64, String) {
    let reply = folder.json(&format!("{CONSENSUS} --truth truth.csv {options}"));
    let notes = reply["notes"].as_array().unwrap().iter().map(|note| note.as_str().unwrap());
    let notes: Vec<&str> = notes.filter(|note| !note.contains("a column of row")).collect();
    (reply["scores"]["ari"].as_f64().unwrap(), notes.join("; "))
}

#[test]
fn row_numbers_are_no_labels() {
    let folder = Folder::new();
    labels(&folder, "plain.csv", "", 4, |_| String::new());
    labels(&folder, "truth.csv", "\"\",", 1, numbered(1));
    let run = "consensus plain.csv --method lwea --clusters 3 -o l.csv --truth truth.csv";
    assert_eq!(folder.json(run)["scores"]["ari"], 1.0);
    let plain = folder.text("l.csv");
    let bare = |text: &str| -> Vec<String> {
        text.lines().map(|line| line.rsplit(',').next().unwrap().to_owned()).collect()
    };
    for (head, first) in [("", 0), ("Unnamed: 0", 0), ("\"\"", 1), ("index", 0), ("X", 1)] {
        labels(&folder, "pool.csv", &format!("{head},"), 4, numbered(first));
        let ran = folder.ok(&format!("{CONSENSUS} -o l.csv"));
        assert!(ran.stderr.contains("a column of row numbers"), "{head:?}: {}", ran.stderr);
        let found = folder.text("l.csv");
        assert!(found.starts_with(&format!("id,label\n{first},")), "{found}");
        assert_eq!(bare(&found), bare(&plain), "{head:?}");
        // Rows are numbered from 0 here and from 1 there, and both are the same objects.
        for from in [0, 1] {
            labels(&folder, "truth.csv", ",", 1, numbered(from));
            let (ari, notes) = judged(&folder, "");
            let said = "truth.csv numbers its rows in another way: joined row by row";
            assert_eq!((ari, notes.as_str()), (1.0, if from == first { "" } else { said }));
        }
        // In another order it is the numbers that say which row is which.
        labels_of(&folder, "truth.csv", ",", 1, numbered(first), &order(true));
        assert_eq!(judged(&folder, ""), (1.0, String::new()), "{head:?}");
        let score = folder.json("score l.csv truth.csv");
        assert_eq!((&score["scores"]["ari"], &score["n"]), (&1.0.into(), &OBJECTS.into()));
    }
    // Names on one side, the numbers of rows on the other.
    labels(&folder, "pool.csv", "name,", 4, |i| format!("p{i},"));
    labels(&folder, "truth.csv", ",", 1, numbered(1));
    let (ari, notes) = judged(&folder, "");
    assert!(ari == 1.0 && notes.contains("joined row by row"), "{ari} {notes}");
    // Rows of a table, by their numbers in it.
    let some = |i: usize| format!("{},", 7 * (i + 3) % 97);
    labels(&folder, "pool.csv", ",", 4, some);
    labels_of(&folder, "truth.csv", ",", 1, some, &order(true));
    assert_eq!(judged(&folder, ""), (1.0, String::new()));
    // A member under such a name that counts nothing stays one.
    labels(&folder, "pool.csv", "index,", 4, |i| format!("{},", i % 3));
    assert_eq!(folder.json(CONSENSUS)["members"], 5);
}

/// Ids that somebody has given are never taken for row numbers.
#[test]
fn given_ids_are_joined_by_them() {
    let folder = Folder::new();
    labels(&folder, "pool.csv", "id,", 4, numbered(0));
    let truth = |rows: &[usize], other: &str| {
        labels_of(&folder, "truth.csv", "id,", 1, numbered(0), rows);
        folder.write("truth.csv", folder.text("truth.csv") + other);
    };
    // One row of another object, and one less of these: from 1 in order, and in another.
    for shuffled in [false, true] {
        let rows: Vec<usize> = order(shuffled).into_iter().filter(|&i| i > 0).collect();
        truth(&rows, &format!("{OBJECTS},0\n"));
        let (ari, notes) = judged(&folder, "");
        assert!(ari == 1.0 && !notes.contains("row by row"), "{ari} {notes}");
        assert!(notes.contains("1 row of another object was left out"), "{notes}");
    }
    // Beside row numbers that do not fit they are of other objects.
    labels(&folder, "truth.csv", ",", 1, numbered(1));
    let (_, notes) = judged(&folder, "");
    assert!(notes.contains("no row for 1 object"), "{notes}");
    labels(&folder, "truth.csv", ",", 1, numbered(1000));
    folder.fails(&format!("{CONSENSUS} --truth truth.csv"), &["none of its ids is that of"]);
}

/// Row numbers of other rows of one table are those of other objects, whatever their order.
#[test]
fn other_rows_are_other_objects() {
    let folder = Folder::new();
    for shuffled in [false, true] {
        labels_of(&folder, "pool.csv", ",", 4, numbered(0), &order(shuffled));
        labels(&folder, "truth.csv", ",", 1, numbered(OBJECTS));
        folder.fails(&format!("{CONSENSUS} --truth truth.csv"), &["none of its ids is that of"]);
        let counts: String = (0..OBJECTS).map(|i| format!("{},2\n", i + OBJECTS)).collect();
        folder.write("counts.csv", format!(",count\n{counts}"));
        folder.fails(&format!("{CONSENSUS} --counts counts.csv"), &["no row for 90 of 90"]);
        let counts: String = (0..OBJECTS).rev().map(|i| format!("{i},2\n")).collect();
        folder.write("counts.csv", format!(",count\n{counts}"));
        folder.ok(&format!("{CONSENSUS} --counts counts.csv"));
    }
}

/// What ids settle is not refused where some of the rows are there and begin with 1.
#[test]
fn some_rows_are_joined_by_their_numbers() {
    let folder = Folder::new();
    for (pool, truth) in [("id,", "id,"), (",", ","), ("id,", ","), (",", "id,")] {
        labels(&folder, "pool.csv", pool, 4, numbered(0));
        for rows in [1..OBJECTS, 1..7, 1..2, 2..9] {
            let rows: Vec<usize> = rows.collect();
            labels_of(&folder, "truth.csv", truth, 1, numbered(0), &rows);
            let (ari, notes) = judged(&folder, "");
            assert!(ari == 1.0 && notes.contains("no row for"), "{pool}{truth}{rows:?} {notes}");
        }
    }
    // Fewer objects than there are true labels.
    labels_of(&folder, "pool.csv", "id,", 4, numbered(0), &(1..20).collect::<Vec<_>>());
    labels_of(&folder, "truth.csv", ",", 1, numbered(0), &order(true));
    let (ari, notes) = judged(&folder, "");
    assert!(ari == 1.0 && notes.contains("rows of other objects"), "{ari} {notes}");
    table(&folder, "x.csv", "id,", ',', numbered(0));
    labels_of(&folder, "known.csv", "id,", 1, numbered(0), &(1..30).collect::<Vec<_>>());
    folder.ok("cluster x.csv --labels known.csv --clusters 3 -o l.csv");
}

/// Also where members are chosen by name, which leaves the ids out of the list.
#[test]
fn chosen_members_keep_their_row_numbers() {
    let folder = Folder::new();
    labels_of(&folder, "pool.csv", ",", 5, numbered(0), &order(true));
    labels(&folder, "truth.csv", ",", 1, numbered(0));
    for columns in ["m0,m1,m2,m3", "0,1,2,3"] {
        let options = format!("--columns {columns} -o l.csv");
        assert_eq!(judged(&folder, &options), (1.0, String::new()), "{columns}");
        assert!(folder.text("l.csv").starts_with("id,label\n"));
    }
}

/// In a table without ids rows are in the order that row numbers count.
#[test]
fn row_numbers_are_those_of_a_table_without() {
    let folder = Folder::new();
    for (from, shuffled) in [(0, true), (1, true), (0, false), (1, false)] {
        labels(&folder, "pool.csv", "", 4, |_| String::new());
        labels_of(&folder, "truth.csv", ",", 1, numbered(from), &order(shuffled));
        let (ari, notes) = judged(&folder, "");
        let said = if shuffled { "joined by these numbers" } else { "joined row by row" };
        assert!(ari == 1.0 && notes.contains(said), "{from} {ari} {notes}");
        labels_of(&folder, "pool.csv", ",", 4, numbered(from), &order(shuffled));
        labels(&folder, "truth.csv", "", 1, |_| String::new());
        let (ari, notes) = judged(&folder, "");
        let said = if shuffled { "joined by the row numbers" } else { "joined row by row" };
        assert!(ari == 1.0 && notes.contains(said), "{from} {ari} {notes}");
    }
    // Given ids are names there, and other numbers too.
    labels(&folder, "pool.csv", "", 4, |_| String::new());
    for (head, from) in [("id,", 0), (",", 7)] {
        labels(&folder, "truth.csv", head, 1, numbered(from));
        let (ari, notes) = judged(&folder, "");
        assert!(ari == 1.0 && notes.contains("joined row by row"), "{head} {notes}");
    }
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

/// Numbers of rows of one table stay what they are where those of further objects are others;
/// beside names they are none.
#[test]
fn row_numbers_of_new_labels_are_kept() {
    let folder = Folder::new();
    folder.write("links.csv", "i,j,link\n5,9,must\n");
    let run = "update pool.csv --new-objects new.csv --clusters 2 -o l.csv";
    folder.write("pool.csv", ",a,b\n5,0,1\n9,1,0\n7,0,1\n");
    folder.write("new.csv", ",a,b\n0,0,1\n1,1,0\n");
    folder.ok(&format!("{run} --constraints links.csv"));
    let text = folder.text("l.csv");
    let ids: Vec<&str> = text.lines().map(|line| line.split(',').next().unwrap()).collect();
    assert_eq!(ids, ["id", "5", "9", "7", "0", "1"]);
    folder.write("links.csv", "i,j,link\np,q,must\n");
    folder.write("pool.csv", "id,a,b\np,0,1\nq,1,0\nr,0,1\n");
    let needles = ["new.csv has row numbers and pool.csv has ids"];
    folder.fails(&format!("{run} --constraints links.csv"), &needles);
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
