//! `consilience update`: batches of constraints, states that are stored and resumed, every rule and
//! read-out.

mod common;

use common::{Dice, Folder, OBJECTS, is_number, prepared, truth};

const RULES: [&str; 5] = ["metric", "completion", "exact", "additive", "multiplicative"];

/// Three batches of pairs (`all.csv`), and each alone (`0.csv` to `2.csv`).
fn folder() -> Folder {
    let folder = prepared();
    let (mut dice, truth) = (Dice::new(7), truth());
    let mut all = "i,j,link,batch\n".to_owned();
    for batch in 0..3 {
        let mut own = "i,j,link\n".to_owned();
        for _ in 0..30 {
            let (i, j) = (dice.below(OBJECTS as u64) as usize, dice.below(OBJECTS as u64) as usize);
            if i != j {
                let link = if truth[i] == truth[j] { "must" } else { "cannot" };
                own.push_str(&format!("{i},{j},{link}\n"));
                all.push_str(&format!("{i},{j},{link},{batch}\n"));
            }
        }
        folder.write(&format!("{batch}.csv"), own);
    }
    folder.write("all.csv", all);
    folder
}

/// Five members of one grouping and two of another that crosses it, which the links mean.
#[test]
fn links_decide_what_members_do_not() {
    let folder = Folder::new();
    let mut dice = Dice::new(3);
    let (most, meant) = (|i: u64| i % 2, |i: u64| i / 2 % 2);
    let row = |i: u64| {
        let labels = [[most(i); 5].to_vec(), vec![meant(i); 2]].concat();
        labels.iter().map(u64::to_string).collect::<Vec<_>>().join(",") + "\n"
    };
    folder.write("pool.csv", (0..120).map(row).collect::<String>());
    folder.write("truth.csv", (0..120).map(|i| format!("{}\n", meant(i))).collect::<String>());
    let mut links = "i,j,link\n".to_owned();
    for _ in 0..300 {
        let (i, j) = (dice.below(120), dice.below(120));
        if i != j {
            let link = if meant(i) == meant(j) { "must" } else { "cannot" };
            links.push_str(&format!("{i},{j},{link}\n"));
        }
    }
    folder.write("links.csv", links);
    for rule in RULES {
        let reply = folder.json(&format!(
            "update pool.csv --clusters 2 --constraints links.csv --rule {rule} --truth truth.csv"
        ));
        let of = |key: &str| reply["batches"][0][key]["expected"].as_f64().unwrap();
        assert!(of("violated") < of("violated_before"), "{rule}: {reply}");
        if ["metric", "completion", "exact"].contains(&rule) {
            assert!(reply["scores"]["ari"].as_f64() > Some(0.9), "{rule}: {reply}");
        }
    }
}

#[test]
fn every_rule_follows_and_resumes() {
    let folder = folder();
    for rule in RULES {
        let reply = folder.json(&format!(
            "update pool.csv --clusters 4 --constraints all.csv --rule {rule} --truth truth.csv \
            -o once.npy --soft soft.npy --ask 4"
        ));
        assert_eq!(
            (reply["method"].as_str(), reply["resumed"].as_bool()),
            (Some(rule), Some(false))
        );
        let batches = reply["batches"].as_array().unwrap();
        assert_eq!(batches.len(), 3, "{rule}");
        for batch in batches {
            assert!(
                batch["new"].as_u64().unwrap() > 20 && is_number(&batch["milliseconds"]),
                "{rule}"
            );
            assert!(
                is_number(&batch["violated_before"]["expected"])
                    && is_number(&batch["violated"]["expected"])
            );
        }
        assert!(reply["scores"]["ari"].as_f64().unwrap() > 0.9, "{rule}: {}", reply["scores"]);
        let weight: f64 = reply["support"]
            .as_array()
            .unwrap()
            .iter()
            .map(|m| m["weight"].as_f64().unwrap())
            .sum();
        assert!((weight - 1.0).abs() < 1e-9, "{rule}");
        assert_eq!(reply["ask"]["pairs"].as_array().map(Vec::len), Some(4), "{rule}");

        // Batch by batch through a stored state, the rule being remembered: the same to the last
        // bit.
        for batch in 0..3 {
            let how =
                if batch == 0 { format!("--clusters 4 --rule {rule}") } else { String::new() };
            let reply = folder.json(&format!(
                "update pool.csv {how} --constraints {batch}.csv --state {rule}.state -o \
                steps.npy --soft soft2.npy"
            ));
            assert_eq!(
                (reply["method"].as_str(), reply["resumed"].as_bool()),
                (Some(rule), Some(batch > 0))
            );
        }
        assert_eq!(folder.read("once.npy"), folder.read("steps.npy"), "{rule}");
        assert_eq!(folder.read("soft.npy"), folder.read("soft2.npy"), "{rule}");

        // What is known already changes nothing; a state alone can be read out.
        let state = folder.read(&format!("{rule}.state"));
        let again = folder.json(&format!(
            "update pool.csv --constraints 1.csv --state {rule}.state -o again.npy --since once.npy"
        ));
        assert_eq!(
            (again["batches"][0]["new"].as_u64(), again["changed"].as_array().map(Vec::len)),
            (Some(0), Some(0))
        );
        assert_eq!(folder.read(&format!("{rule}.state")), state, "{rule}");
        folder.ok(&format!("update pool.csv --state {rule}.state -o again.npy"));
        assert_eq!(folder.read("again.npy"), folder.read("once.npy"), "{rule}");
    }
}

/// A rule that is named is that of the state from then on, whatever the state had before.
#[test]
fn another_rule_is_remembered() {
    let folder = folder();
    let update = "update pool.csv --state s.bin";
    for first in ["metric", "completion"] {
        folder.ok(&format!("{update} --clusters 4 --rule {first} --constraints 0.csv"));
        for rule in ["exact", "additive"] {
            let named = format!("{update} --rule {rule} --constraints 1.csv -o named.npy");
            assert_eq!(folder.json(&named)["method"], rule, "after {first}");
            let resumed = folder.json(&format!("{update} --constraints 2.csv -o resumed.npy"));
            assert_eq!(resumed["method"], rule, "after {first}");
        }
        // And back, by the links so far.
        assert_eq!(folder.json(&format!("{update} --rule {first} -o back.npy"))["method"], first);
        assert_eq!(folder.json(&format!("{update} -o again.npy"))["method"], first);
        assert_eq!(folder.read("back.npy"), folder.read("again.npy"), "{first}");
        std::fs::remove_file(folder.path("s.bin")).unwrap();
    }
}

#[test]
fn every_read_out() {
    let folder = folder();
    for how in ["consensus", "kmeans", "rounding"] {
        for threads in [1, 3] {
            let reply = folder.json(&format!(
                "update pool.csv --clusters 4 --rule exact --constraints all.csv --read-out \
                {how} --threads {threads} \
                 --truth truth.csv -o {threads}.npy"
            ));
            assert!(reply["scores"]["ari"].as_f64().unwrap() > 0.9, "{how}: {}", reply["scores"]);
        }
        assert_eq!(folder.read("1.npy"), folder.read("3.npy"), "{how}");
    }
    for threads in [1, 3] {
        folder.ok(&format!(
            "update pool.csv --clusters 4 --constraints all.csv --threads {threads} -o \
            {threads}.npy"
        ));
    }
    assert_eq!(folder.read("1.npy"), folder.read("3.npy"));
}

#[test]
fn what_is_wrong_changes_no_state() {
    let folder = folder();
    folder.fails("update pool.csv --constraints 0.csv", &["--clusters K"]);
    folder.fails("update pool.csv --clusters 4", &["--constraints"]);
    folder.fails("update pool.csv --clusters 0 --constraints 0.csv", &["0", "120"]);
    folder.fails("update pool.csv --clusters 121 --constraints 0.csv", &["121", "120"]);
    folder.fails(
        "update pool.csv --clusters 4 --constraints 0.csv --rule nope",
        &["nope", "multiplicative"],
    );
    folder.fails(
        "update pool.csv --clusters 4 --constraints 0.csv --read-out nope",
        &["nope", "rounding"],
    );
    folder.fails(
        "update pool.csv --clusters 4 --rule exact --constraints 0.csv --read-out metric",
        &["metric"],
    );
    folder.ok("update pool.csv --clusters 4 --constraints 0.csv --state s.state");
    let state = folder.read("s.state");
    // A good batch, then one that cannot hold: all or nothing.
    folder.write("bad.csv", "i,j,link,batch\n0,4,must,a\n4,8,must,b\n8,0,cannot,b\n");
    folder.fails(
        "update pool.csv --constraints bad.csv --state s.state -o out.csv",
        &["bad.csv", "batch b", "0", "8"],
    );
    folder.write("far.csv", "0,120,must\n");
    folder.fails("update pool.csv --constraints far.csv --state s.state", &["far.csv", "120"]);
    folder.fails("update pool.csv --clusters 5 --state s.state", &["--clusters 5", "s.state", "4"]);
    assert_eq!(folder.read("s.state"), state);
    // A state is of one ensemble, and whole.
    folder.write("other.csv", "m0,m1\n".to_owned() + &"0,1\n1,0\n".repeat(60));
    folder.fails("update other.csv --constraints 1.csv --state s.state", &["s.state"]);
    folder.write("half.state", &state[..state.len() / 2]);
    folder.fails("update pool.csv --constraints 1.csv --state half.state", &["half.state"]);
    let mut flipped = state.clone();
    flipped[state.len() / 3] ^= 4;
    folder.write("flipped.state", flipped);
    folder.fails("update pool.csv --constraints 1.csv --state flipped.state", &["flipped.state"]);
    assert_eq!(folder.read("half.state"), &state[..state.len() / 2]);
}

/// Three wrong must-links tie the classes together, which right cannot-links to objects elsewhere
/// contradict: they are set aside and named, unless links hold.
#[test]
fn wrong_links_are_set_aside_and_named() {
    let folder = Folder::new();
    let mut dice = Dice::new(5);
    let class = |i: u64| i % 3;
    let row = |i: u64| format!("{},{},{}\n", class(i), (i / 40 + i) % 3, class(i));
    folder.write("pool.csv", (0..120).map(row).collect::<String>());
    folder.write("truth.csv", (0..120).map(|i| format!("{}\n", class(i))).collect::<String>());
    let mut links = "i,j,link\n0,1,must\n1,2,must\n30,31,must\n".to_owned();
    for _ in 0..200 {
        let (i, j, far) = (dice.below(60), dice.below(60), 60 + dice.below(60));
        if i != j && class(i) == class(j) {
            links.push_str(&format!("{i},{j},must\n"));
        }
        if class(i) != class(far) {
            links.push_str(&format!("{i},{far},cannot\n"));
        }
    }
    folder.write("links.csv", links);
    let update = "update pool.csv --clusters 3 --constraints links.csv --truth truth.csv";
    let of = |more: &str| {
        let reply = folder.json(&format!("{update} {more}"));
        let broken = reply["violated"]["must"].as_u64().unwrap();
        (reply["notes"].to_string(), broken, reply["scores"]["ari"].as_f64().unwrap())
    };
    let (told, broken, score) = of("");
    let named = "keeps must-links): must 0 and 1, must 1 and 2, must 30 and 31";
    assert!(told.contains("3 of ") && told.contains(named), "{told}");
    assert!(broken == 3 && score == 1.0, "{broken} {score}");
    let (told, broken, score) = of("--param links=hold");
    assert!(!told.contains("set aside") && broken == 0 && score < 0.8, "{told} {score}");
}

/// A contradiction is refused with its line, or kept as an answer like all others; a state
/// remembers it.
#[test]
fn contradictions_are_refused_or_kept() {
    let folder = Folder::new();
    let (mut dice, class) = (Dice::new(9), |i: u64| i % 4);
    let row = |_: &mut Dice, i: u64| format!("{},{},{}\n", class(i), class(i), class(i / 2));
    folder.write("pool.csv", (0..120).map(|i| row(&mut dice, i)).collect::<String>());
    folder.write("truth.csv", (0..120).map(|i| format!("{}\n", class(i))).collect::<String>());
    let mut links = String::new();
    for _ in 0..400 {
        let (i, j, right) = (dice.below(120), dice.below(120), dice.below(5) > 0);
        if i != j {
            let link = if (class(i) == class(j)) == right { "must" } else { "cannot" };
            links.push_str(&format!("{i},{j},{link}\n"));
        }
    }
    folder.write("links.csv", format!("i,j,link\n{links}"));
    let update = "update pool.csv --clusters 4 --constraints links.csv --truth truth.csv";
    folder.fails(update, &["links.csv, line ", "must-links say", "--contradictions keep"]);
    folder.fails(&format!("{update} --contradictions some"), &["one of refuse, keep"]);
    folder.write("self.csv", "i,j,link\n3,3,cannot\n");
    let own = "update pool.csv --clusters 4 --constraints self.csv --contradictions keep";
    folder.fails(own, &["self.csv, line 2", "with itself"]);
    let reply = folder.json(&format!("{update} --contradictions keep --state s.bin"));
    let disputed = reply["disputed"].as_array().unwrap();
    assert!(disputed.len() > 20 && disputed.iter().all(|link| link["must"].is_boolean()));
    assert_eq!(reply["batches"][0]["disputed"], disputed.len());
    assert!(reply["notes"].to_string().contains("disputed, as they contradict links before"));
    assert!(reply["scores"]["ari"].as_f64() > Some(0.95), "{reply}");
    folder.write("none.csv", "i,j,link\n0,4,must\n");
    let again = folder.json("update pool.csv --constraints none.csv --state s.bin");
    assert_eq!(again["disputed"], reply["disputed"]);
    assert_eq!(again["batches"][0]["disputed"], 0);
}

/// Eight more objects, labelled by the members in the labels that their file has.
#[test]
fn new_objects_join_behind_the_others() {
    let folder = folder();
    let pool = folder.text("pool.csv");
    let mut lines = pool.lines();
    let header = lines.next().unwrap();
    let more: Vec<&str> = lines.take(8).collect();
    folder.write("new.csv", format!("{header}\n{}\n", more.join("\n")));
    folder.write("both.csv", format!("{pool}{}\n", more.join("\n")));
    let reply = folder.json(
        "update pool.csv --clusters 4 --constraints all.csv --new-objects new.csv \
         --state s.state -o joined.csv",
    );
    assert_eq!(reply["n"], OBJECTS + 8);
    let labels = folder.text("joined.csv");
    let labels: Vec<&str> = labels.lines().skip(1).collect();
    // The same labels by all members, the same cluster; constraints may have moved the old ones.
    let same = (0..8).filter(|&i| labels[i] == labels[OBJECTS + i]).count();
    assert!(same >= 6, "{same} of 8");
    // The state is of both, and remembers that.
    let again = folder.json("update both.csv --state s.state -o again.csv");
    assert_eq!((again["n"].as_u64(), again["resumed"].as_bool()), (Some(128), Some(true)));
    assert_eq!(folder.read("joined.csv"), folder.read("again.csv"));
    folder.fails("update pool.csv --state s.state -o out.csv", &["s.state"]);

    folder.write("strange.csv", format!("{header}\n{}\n", more[0].replacen(',', "7,", 1)));
    let update = "update pool.csv --clusters 4 --constraints all.csv --new-objects";
    folder.fails(&format!("{update} strange.csv"), &["strange.csv", "row 0, column 0", "member 0"]);
    folder.write("narrow.csv", "0,1\n");
    folder.fails(&format!("{update} narrow.csv"), &["narrow.csv", "2 columns", "12"]);
}

#[test]
fn parameters_of_the_rules() {
    let folder = folder();
    let update = "update pool.csv --clusters 4 --constraints all.csv";
    for (rule, param) in [
        ("metric", "links=hold"),
        ("completion", "links=weigh"),
        ("metric", "dimensions=5"),
        ("metric", "guarded=false"),
        ("metric", "cross_validated=false"),
        ("metric", "tolerance=0.1"),
        ("exact", "loss=probability"),
        ("exact", "hold=3"),
        ("exact", "regularization=3"),
        ("additive", "step=0.5"),
        ("multiplicative", "balance=false"),
    ] {
        folder.ok(&format!("{update} --rule {rule} --param {param} -o {rule}.npy"));
        folder.fails(
            &format!("{update} --rule {rule} --param pace=1"),
            &["pace", &format!("{rule} takes ")],
        );
    }
    folder.fails(&format!("{update} --param folds=x"), &["folds=x", "a whole number"]);
    folder.fails(&format!("{update} --rule exact --param step=1"), &["exact takes loss"]);
    folder.fails(
        &format!("{update} --param caution=1 --param guarded=false"),
        &["caution: only with cross_validated=true"],
    );
    folder.fails(&format!("{update} --param sample=10"), &["sample", "metric takes"]);
    let grown = format!("{update} --features x.csv --param grown_members=3 --param grown_folds=3");
    folder.fails(&grown, &["grown in 3 folds", "judged in 5"]);
    folder.ok(&format!("{update} --features x.csv --param grown_members=3 --param folds=3"));
    let grown = folder.json(&format!("{grown} --param folds=3"));
    assert_eq!(grown["grown"], 3);
    folder.ok(&format!("{update} --state s.state"));
    folder.fails("update pool.csv --state s.state --param slack=2", &["--param", "stored state"]);
}

/// Members that know nothing of the classes, features that do, and constraints that say which: only
/// members grown from the features can answer.
#[test]
fn features_grow_what_no_member_knew() {
    let folder = folder();
    let (mut dice, truth) = (Dice::new(11), truth());
    let mut noise = |width: u64| dice.below(width) as f64 / 10.0;
    let pool: String = (0..OBJECTS)
        .map(|i| format!("{},{},{}\n", i % 3, i / 5 % 3, (i * 7 / 3) % 2))
        .fold("a,b,c\n".to_owned(), |text, row| text + &row);
    folder.write("blind.csv", pool);
    let x: String = (0..OBJECTS)
        .map(|i| format!("{},{},{}\n", 3.0 * truth[i] as f64 + noise(10), noise(400), noise(400)))
        .fold("x,y,z\n".to_owned(), |text, row| text + &row);
    folder.write("wide.csv", x);
    let update = "update blind.csv --clusters 4 --constraints all.csv --truth truth.csv";
    let without = folder.json(&format!("{update} --state without.state -o without.npy"));
    let with = folder.json(&format!("{update} --state with.state --features wide.csv -o with.npy"));
    assert!(without["scores"]["ari"].as_f64().unwrap() < 0.3, "{}", without["scores"]);
    assert!(with["scores"]["ari"].as_f64().unwrap() > 0.8, "{}", with["scores"]);
    // Which of the two read-outs with grown members wins is a matter of the draws.
    let read_out = with["reading"].as_str();
    assert!(matches!(read_out, Some("joined" | "grown")), "{read_out:?}");
    assert!(without["evidence"]["grown"].is_null() && is_number(&with["evidence"]["grown"]["auc"]));
    assert!(is_number(&with["seconds"]["grow"]));
    // The state keeps them; growing again replaces them by the same ones.
    for features in ["", "--features wide.csv"] {
        let again =
            folder.json(&format!("update blind.csv --state with.state {features} -o again.npy"));
        assert_eq!((again["members"].as_u64(), again["grown"].as_u64()), (Some(3), Some(25)));
        assert_eq!(again["reading"].as_str(), read_out);
        assert_eq!(folder.read("again.npy"), folder.read("with.npy"));
    }
    // Nothing to learn a metric from, nothing to grow.
    let alone = folder.json("update blind.csv --clusters 4 --state new.state --features wide.csv");
    assert_eq!((alone["grown"].as_u64(), alone["reading"].as_str()), (Some(0), Some("plain")));
    // Scaled or not, on any number of threads.
    for threads in [1, 3] {
        folder.ok(&format!(
            "{update} --features wide.csv --scale zscore --threads {threads} -o {threads}.npy"
        ));
    }
    assert_eq!(folder.read("1.npy"), folder.read("3.npy"));

    folder.fails(&format!("{update} --features wide.csv --rule exact"), &["--features", "metric"]);
    folder.fails(&format!("{update} --features wide.csv --scale log"), &["log", "zscore"]);
    folder.fails(&format!("{update} --scale zscore"), &["--features"]);
    folder.fails(&format!("{update} --features none.csv"), &["none.csv"]);
    folder.write("short.csv", "x\n1\n2\n");
    folder.fails(&format!("{update} --features short.csv"), &["short.csv", "2 rows", "120"]);
    folder.write("gap.csv", "x\n1\nnan\n");
    folder.fails(&format!("{update} --features gap.csv"), &["gap.csv", "row"]);
}

/// Limits of the alignment and of the growth are told.
#[test]
fn what_was_found_on_some_objects_is_told() {
    let folder = Folder::new();
    let n = 4_200;
    let mut dice = Dice::new(3);
    let (mut pool, mut features) = (String::new(), String::new());
    for i in 0..n {
        let class = i % 2;
        let other = if dice.below(5) == 0 { 1 - class } else { class };
        pool.push_str(&format!("{class},{other}\n"));
        features.push_str(&format!("{class},{}\n", dice.below(100)));
    }
    let links: String = (0..40).map(|i| format!("{i},{},cannot\n", i + 1)).collect();
    folder.write("pool.csv", pool);
    folder.write("x.csv", features);
    folder.write("links.csv", format!("i,j,link\n{links}"));
    let reply = folder.json(
        "update pool.csv --clusters 2 --constraints links.csv --features x.csv --param sample=500 \
        -o l.csv",
    );
    let notes = reply["notes"].to_string();
    assert!(notes.contains("the medoid is chosen on 4096 of 4200 objects"), "{notes}");
    assert!(notes.contains("members made from 500 of 4200 objects"), "{notes}");
}

/// Rows that changed are listed, and their objects counted.
#[test]
fn changed_objects_are_counted() {
    let folder = Folder::new();
    folder.write("rows.csv", "0,0\n0,0\n1,1\n1,1\n");
    folder.write("counts.csv", "50\n50\n50\n49\n");
    folder.write("since.csv", "0\n0\n1\n0\n");
    folder.write("links.csv", "i,j,link\n0,2,cannot\n");
    let update = "update rows.csv --counts counts.csv --constraints links.csv --clusters 2 \
        --rule exact --since since.csv -o l.csv";
    let reply = folder.json(update);
    assert_eq!((&reply["n"], &reply["changed"]), (&199.into(), &serde_json::json!([3])));
    let ran = folder.ok(update);
    assert!(ran.stdout.contains("49 objects"), "{}", ran.stdout);
}

/// Earlier labels without ids are of all objects, or of the first of them where others joined.
#[test]
fn earlier_labels_are_one_for_each_object() {
    let folder = Folder::new();
    folder.write("rows.csv", "0,0\n0,0\n1,1\n1,1\n");
    folder.write("new.csv", "0,0\n1,1\n");
    folder.write("links.csv", "i,j,link\n0,2,cannot\n");
    for rows in 3..8 {
        folder.write(&format!("{rows}.csv"), &"0\n0\n1\n1\n0\n1\n1\n"[..2 * rows]);
    }
    let update = "update rows.csv --constraints links.csv --clusters 2 --rule exact";
    folder.ok(&format!("{update} --since 4.csv"));
    for rows in [3, 5] {
        let needle = format!("{rows}.csv: {rows} rows of labels, expected 4, one per object");
        folder.fails(&format!("{update} --since {rows}.csv"), &[&needle]);
    }
    let update = format!("{update} --new-objects new.csv");
    for rows in 3..7 {
        let reply = folder.json(&format!("{update} --since {rows}.csv"));
        assert_eq!(reply["changed"].as_array().map(Vec::len), Some(6 - rows), "{rows}");
        // Those of the objects before the new ones are what is to be expected.
        let noted = reply["notes"].to_string().contains("of the first of 6 objects");
        assert_eq!(noted, [3, 5].contains(&rows), "{rows}: {}", reply["notes"]);
    }
    let needle = "7.csv: 7 rows of labels, expected 6, one per object";
    folder.fails(&format!("{update} --since 7.csv"), &[needle]);
}

/// Objects may have joined a state since the labels were written.
#[test]
fn earlier_labels_may_be_of_a_younger_state() {
    let folder = Folder::new();
    folder.write("rows.csv", "0,0\n0,0\n1,1\n1,1\n");
    folder.write("new.csv", "0,0\n1,1\n");
    folder.write("both.csv", "0,0\n0,0\n1,1\n1,1\n0,0\n1,1\n");
    folder.ok("update rows.csv --clusters 2 --state s -o day1.csv");
    folder.ok("update rows.csv --state s --new-objects new.csv");
    let reply = folder.json("update both.csv --state s --since day1.csv");
    assert_eq!(reply["changed"], serde_json::json!([4, 5]));
    let note = "day1.csv: 4 rows of labels, of the first of 6 objects";
    assert!(reply["notes"].to_string().contains(note), "{}", reply["notes"]);
}
