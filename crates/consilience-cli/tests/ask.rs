//! `consilience ask`: questions, answers in two forms, and the clustering that both lead to.

mod common;

use common::Folder;
use serde_json::Value;

const OBJECTS: usize = 120;

/// Four groups of features; by topic the first and the last are one.
fn folder() -> Folder {
    let folder = Folder::new();
    let (mut features, mut truth) = ("id,a,b\n".to_owned(), "id,y\n".to_owned());
    for i in 0..OBJECTS {
        let group = i / 30;
        let at = |way: usize, factor: usize| way as f64 * 9.0 + (i * factor % 7) as f64 * 0.1;
        features += &format!("t{i},{},{}\n", at(group % 2, 3), at(group / 2, 4));
        truth += &format!("t{i},{}\n", topic(i));
    }
    folder.write("f.csv", features);
    folder.write("y.csv", truth);
    folder
}

fn topic(object: usize) -> usize {
    if object / 30 == 3 { 0 } else { object / 30 }
}

fn objects(question: &Value) -> Vec<usize> {
    question["objects"].as_array().unwrap().iter().map(|i| i.as_u64().unwrap() as usize).collect()
}

#[test]
fn asked_again_and_again_it_finds_the_topics() {
    let folder = folder();
    let mut rows = "worker,i,j,same\n".to_owned();
    folder.write("a.csv", &rows);
    for round in 0..30 {
        let reply = folder.json(
            "ask f.csv --clusters 3 --budget 60 --questions 3 --answers a.csv --truth y.csv \
             -o l.csv",
        );
        assert_eq!(reply["spent"].as_u64(), Some(rows.lines().count() as u64 - 1));
        if !reply["stop"].is_null() {
            assert!(round > 1 && reply["ask"]["questions"].as_array().unwrap().is_empty());
            assert_eq!(reply["scores"]["ari"], 1.0);
            assert_eq!(folder.json("score l.csv y.csv")["scores"]["ari"], 1.0);
            assert_eq!(reply["worker_rates"].as_array().map(Vec::len), Some(3));
            return;
        }
        for question in reply["ask"]["questions"].as_array().unwrap() {
            let pair = objects(question);
            let (i, j) = (pair[0], pair[1]);
            assert_eq!(question["ids"][0], format!("t{i}"));
            assert!(question["gain"].as_f64().unwrap() > 0.0);
            // Three workers take turns.
            let same = topic(i) == topic(j);
            rows += &format!("w{},t{i},t{j},{same}\n", rows.lines().count() % 3);
        }
        folder.write("a.csv", &rows);
    }
    panic!("it did not end");
}

#[test]
fn groups_in_any_order_of_rows() {
    let folder = folder();
    let ask = "ask f.csv --clusters 3 --group-size 4 --questions 8";
    let reply = folder.json(ask);
    let mut rows = Vec::new();
    for (task, question) in reply["ask"]["questions"].as_array().unwrap().iter().enumerate() {
        let shown = objects(question);
        assert!((2..=4).contains(&shown.len()));
        // Three say the same of everything, but for one.
        for worker in ["bob", "ann", "eve"] {
            let group =
                |i: usize| if worker == "eve" && i.is_multiple_of(7) { 9 } else { topic(i) };
            rows.extend(shown.iter().map(|&i| format!("{worker},{task},t{i},{}\n", group(i))));
        }
    }
    let write = |name: &str, rows: &[String]| {
        folder.write(name, "worker,task,item,group\n".to_owned() + &rows.concat());
    };
    write("a.csv", &rows);
    rows.reverse();
    write("b.csv", &rows);
    let after = folder.json(&format!("{ask} --answers a.csv --truth y.csv"));
    assert_eq!(after["scores"]["ari"], 1.0);
    let other = folder.json(&format!("{ask} --answers b.csv --truth y.csv"));
    for key in ["spent", "ask", "mean_confidence", "worker_rates", "scores"] {
        assert_eq!(after[key], other[key], "{key}");
    }
    // What is asked for people is the same.
    let text = folder.ok(&format!("{ask} --answers a.csv")).stdout;
    assert!(text.contains("mean confidence") && text.contains("workers"), "{text}");
}

#[test]
fn why_nothing_is_asked() {
    let folder = folder();
    let stop = |more: &str| folder.json(&format!("ask f.csv --clusters 3 {more}"))["stop"].clone();
    assert_eq!(stop("--budget 0"), "budget");
    assert_eq!(stop("--price 1000"), "price");
    assert_eq!(stop("--questions 0"), Value::Null);
}

#[test]
fn what_cannot_be_answers() {
    let folder = folder();
    let refused = |rows: &str, needles: &[&str]| {
        folder.write("a.csv", rows);
        folder.fails("ask f.csv --clusters 3 --answers a.csv", needles);
    };
    refused("worker,i,j,same\nann,t0,t500,true\n", &["a.csv", "t500"]);
    let itself = ["a.csv", "worker ann calls object t0 different from itself"];
    refused("worker,i,j,same\nann,t0,t0,false\n", &itself);
    refused("worker,task,item,keyword\nann,0,t0,red\nann,0,t1,red\n", &["a.csv", "by keyword"]);
    let twice = ["a.csv", "item t0 is twice in task 0 of worker ann"];
    refused("worker,task,item,group\nann,0,t0,1\nann,0,t0,2\n", &twice);
    folder.write("a.csv", "worker,i,j,same\nann,t0,t0,true\nann,t0,t1,true\n");
    assert_eq!(folder.json("ask f.csv --clusters 3 --answers a.csv")["spent"], 1);
    folder.write("a.csv", "worker,task,item,group\nann,0,t0,1\nann,1,t0,1\nann,1,t2,1\n");
    let ran = folder.ok("ask f.csv --clusters 3 --answers a.csv");
    assert!(ran.stderr.contains("1 task with a single item compares nothing"), "{}", ran.stderr);

    folder.write("plain.csv", "a,b\n0,1\n1,0\n9,9\n");
    folder.write("a.csv", "worker,i,j,same\nann,x,y,true\n");
    folder.fails("ask plain.csv --clusters 2 --answers a.csv", &["a.csv", "by text", "--id"]);
    folder.write("a.csv", "worker,i,j,same\nann,0,3,true\n");
    folder.fails("ask plain.csv --clusters 2 --answers a.csv", &["a.csv", "3"]);
    folder.fails("ask plain.csv --clusters 4", &["4"]);
    folder.fails("ask plain.csv --clusters 2 --price=-1", &["price"]);
    folder.fails("ask plain.csv --clusters 2 --group-size 21", &["group_size"]);
    folder.fails("ask plain.csv --clusters 2 --cells 1", &["cells"]);
    folder.fails("ask plain.csv --clusters auto", &["auto"]);
    // A failed command leaves what was there.
    folder.write("l.csv", "kept\n");
    folder.fails("ask plain.csv --clusters 4 -o l.csv", &["4"]);
    assert_eq!(folder.text("l.csv"), "kept\n");
}
