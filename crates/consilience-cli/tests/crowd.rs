//! `consilience crowd`: answers in three forms and two formats, by every method.

mod common;

use common::{CLASSES, CROWD_METHODS, Dice, Folder, OBJECTS, is_number, npy, npz, prepared, truth};

const WORKERS: usize = 12;
const SHOWN: usize = 30;

/// Workers who group the objects that they are shown by class, one answer in twelve at random; the
/// last one answers at random altogether.
fn answers() -> Vec<[i64; 4]> {
    let mut dice = Dice::new(3);
    let truth = truth();
    let mut rows = Vec::new();
    for worker in 0..WORKERS {
        for task in 0..4 {
            let mut left: Vec<usize> = (0..OBJECTS).collect();
            for _ in 0..SHOWN {
                let item = left.swap_remove(dice.below(left.len() as u64) as usize);
                let blind = worker + 1 == WORKERS || dice.below(12) == 0;
                let group = if blind { dice.below(CLASSES as u64) as i64 } else { truth[item] };
                rows.push([worker as i64, task, item as i64, group]);
            }
        }
    }
    rows
}

fn csv(rows: &[[i64; 4]]) -> String {
    let mut text = "worker,task,item,group\n".to_owned();
    rows.iter().for_each(|[w, t, i, g]| text.push_str(&format!("{w},{t},{i},{g}\n")));
    text
}

fn folder() -> Folder {
    let folder = prepared();
    folder.write("answers.csv", csv(&answers()));
    folder
}

#[test]
fn every_method_finds_the_classes() {
    let folder = folder();
    for method in CROWD_METHODS {
        let reply = folder.json(&format!(
            "crowd answers.csv --clusters 4 --method {method} --truth truth.csv -o {method}.npy \
            --soft {method}.csv --ask 3"
        ));
        assert_eq!(
            (reply["method"].as_str(), reply["n"].as_u64()),
            (Some(method), Some(OBJECTS as u64))
        );
        assert_eq!(reply["workers"], WORKERS);
        assert_eq!(reply["pair_answers"], WORKERS * 4 * SHOWN * (SHOWN - 1) / 2);
        assert!(reply["scores"]["ari"].as_f64().unwrap() > 0.9, "{method}: {}", reply["scores"]);
        assert!(reply["status"].is_string() && is_number(&reply["seconds"]["total"]), "{method}");
        assert_eq!(
            folder.json(&format!("score {method}.npy truth.csv"))["scores"],
            reply["scores"]
        );
        assert_eq!(reply["spammers"], serde_json::json!(["11"]), "{method}");
        let note = "1 worker seems to answer at random";
        assert!(reply["notes"].as_array().unwrap().contains(&note.into()), "{method}");
        assert_eq!(reply["worker_rates"].as_array().map(Vec::len), Some(WORKERS));
        assert_eq!(reply["ask"]["pairs"].as_array().map(Vec::len), Some(3), "{method}");
        let soft = folder.text(&format!("{method}.csv"));
        assert_eq!(soft.lines().count(), OBJECTS + 1);
    }
}

#[test]
fn other_forms_and_formats() {
    let folder = folder();
    let column = |c: usize| {
        let bytes: Vec<u8> = answers().iter().flat_map(|r| (r[c] as i32).to_le_bytes()).collect();
        npy("<i4", false, &format!("({},)", answers().len()), &bytes)
    };
    let names = ["worker", "task", "item", "group"];
    folder.write("answers.npz", npz(&std::array::from_fn::<_, 4, _>(|c| (names[c], column(c)))));
    folder.ok("crowd answers.csv --clusters 4 -o a.csv");
    folder.ok("crowd answers.npz --clusters 4 -o b.csv");
    assert_eq!(folder.read("a.csv"), folder.read("b.csv"));

    // Names in place of numbers, in any of them.
    let width = 8;
    let texts = |c: usize| {
        let mut bytes = Vec::new();
        for row in answers() {
            let cell = format!("{}{}", ["w", "t", "", "g"][c], row[c]);
            bytes.extend_from_slice(cell.as_bytes());
            bytes.resize(bytes.len().next_multiple_of(width), 0);
        }
        npy("|S8", false, &format!("({},)", answers().len()), &bytes)
    };
    for named in [&[0][..], &[1, 3], &[0, 1, 2, 3]] {
        let array = |c: usize| if named.contains(&c) { texts(c) } else { column(c) };
        let arrays = std::array::from_fn::<_, 4, _>(|c| (names[c], array(c)));
        folder.write("named.npz", npz(&arrays));
        let reply = folder.json("crowd named.npz --clusters 4 --truth truth.csv");
        assert!(reply["scores"]["ari"].as_f64().unwrap() > 0.9, "{named:?}");
        let asked = "ask x.csv --clusters 4 --budget 10000 --answers named.npz";
        assert!(folder.json(asked)["spent"].as_u64() > Some(0), "{named:?}");
    }
    let short = npy("|S8", false, "(1,)", b"ann\0\0\0\0\0");
    let mut arrays = std::array::from_fn::<_, 4, _>(|c| (names[c], column(c)));
    arrays[3].1 = short;
    folder.write("short.npz", npz(&arrays));
    let needles = ["short.npz: array \"group\": 1 rows; expected", "as the array \"worker\""];
    folder.fails("crowd short.npz --clusters 4", &needles);

    // The same as pairs; workers with names.
    let mut pairs = "same,worker,i,j\n".to_owned();
    for (a, [w, t, i, g]) in answers().into_iter().enumerate() {
        for [v, u, j, h] in answers().into_iter().skip(a + 1).take_while(|r| (r[0], r[1]) == (w, t))
        {
            assert_eq!((v, u), (w, t));
            pairs.push_str(&format!("{},worker {w},{i},{j}\n", g == h));
        }
    }
    folder.write("pairs.csv", pairs);
    let reply = folder.json("crowd pairs.csv --clusters 4 --truth truth.csv");
    assert!(reply["scores"]["ari"].as_f64().unwrap() > 0.9);
    // By name: 0, 1, 10, 11, 2, 3, ...
    assert_eq!(reply["worker_rates"][3]["worker"], "worker 11");

    // By keyword: each class has two, and one word belongs to all.
    let mut words = "worker,task,item,keyword\n".to_owned();
    for [w, t, i, g] in answers() {
        for word in [format!("a{g}"), format!("b{g}"), "thing".to_owned()] {
            words.push_str(&format!("{w},{t},{i},{word}\n"));
        }
    }
    folder.write("words.csv", words);
    let reply = folder.json("crowd words.csv --clusters 4 --param shared=2 --truth truth.csv");
    assert!(reply["scores"]["ari"].as_f64().unwrap() > 0.9);

    // Objects that nobody was shown.
    let reply = folder.json("crowd answers.csv --clusters 4 --objects 130 -o more.csv");
    assert_eq!(reply["n"], 130);
    let labels = folder.text("more.csv");
    assert_eq!(labels.lines().filter(|l| *l == "-1").count(), 10);
}

#[test]
fn answers_are_counted_as_rows_and_as_pairs() {
    let folder = folder();
    let reply = folder.json("crowd answers.csv --clusters 4");
    assert_eq!(reply["answers"], answers().len());
    assert_eq!(reply["pair_answers"], WORKERS * 4 * SHOWN * (SHOWN - 1) / 2);
    let text = folder.ok("crowd answers.csv --clusters 4").stdout;
    let said = |name: &str| {
        let line = text.lines().find(|line| line.starts_with(name)).unwrap();
        line.split_whitespace().last().unwrap().to_owned()
    };
    assert_eq!(said("answers "), reply["answers"].to_string());
    assert_eq!(said("compared pairs "), reply["pair_answers"].to_string());
}

#[test]
fn questions_that_would_tell_nothing_are_called_so() {
    let folder = Folder::new();
    let mut rows = "worker,task,item,group\n".to_owned();
    for (worker, item) in (0..40).flat_map(|w| (0..20).map(move |i| (w, i))) {
        rows.push_str(&format!("{worker},0,{item},{}\n", item % 2));
    }
    folder.write("sure.csv", rows);
    let ran = folder.ok("crowd sure.csv --clusters 2 --ask 3");
    assert!(ran.stderr.contains("note: no pair is in doubt"), "{}", ran.stderr);
    let ran = folder.ok("crowd sure.csv --clusters 2");
    assert!(!ran.stderr.contains("doubt"), "{}", ran.stderr);
    // Two workers disagree about one more object.
    let apart = "0,1,0,0\n0,1,20,0\n1,1,1,0\n1,1,20,0\n";
    let some = folder.text("sure.csv") + apart;
    folder.write("unsure.csv", some);
    let ran = folder.ok("crowd unsure.csv --clusters 2 --ask 3");
    assert!(!ran.stderr.contains("no information"), "{}", ran.stderr);
    // Every pair is the same to one worker and not to the other.
    let mut rows = "worker,i,j,same\n".to_owned();
    for (i, j) in (0..4).flat_map(|i| (i + 1..4).map(move |j| (i, j))) {
        rows.push_str(&format!("0,{i},{j},0\n1,{i},{j},1\n"));
    }
    folder.write("half.csv", rows);
    let ran = folder.ok("crowd half.csv --clusters 3 --method log-odds --ask 2");
    assert!(ran.stderr.contains("note: pairs are in doubt, but"), "{}", ran.stderr);
}

#[test]
fn parameters_of_the_methods() {
    let folder = folder();
    let crowd = "crowd answers.csv --clusters 4 --truth truth.csv";
    let rmc = folder.json(&format!("{crowd} --method rmc --param penalty=recovery"));
    assert!(is_number(&rmc["penalty_factor"]));
    let factor = folder.json(&format!("{crowd} --method rmc --param c=1.5 --param d1=0.8"));
    assert_eq!(factor["penalty_factor"], 1.5);
    let block = folder.json(&format!(
        "{crowd} --method block --param restarts=2 --param max_iterations=1 --param \
         second_answer=false"
    ));
    assert_eq!(block["status"], "max-iterations");
    let positions = folder.json(&format!(
        "{crowd} --method bayesian --param dimensions=3 --param restarts=1 --param max_iterations=2"
    ));
    assert_eq!(positions["status"], "max-iterations");
    assert!(is_number(&positions["cluster_count"]["expected"]));
    folder.fails(&format!("{crowd} --method bayesian --param dimensions=99"), &["99", "16"]);
    folder.ok(&format!("{crowd} --method spectral --param alternative=false"));
    folder.fails(
        &format!("{crowd} --method rmc --param c=1 --param penalty=balance"),
        &["a factor and a rule"],
    );
    folder.fails(&format!("{crowd} --method rmc --param penalty=most"), &["most", "recovery"]);
    folder.fails(&format!("{crowd} --method block --param pseudo_count=-1"), &["-1"]);
    folder.fails(&format!("{crowd} --method spectral --param restarts=1"), &["spectral takes"]);
    // What would do nothing is refused.
    let components = "--method bayesian --param components=3";
    folder.fails(&format!("{crowd} {components}"), &["components=3", "only with --clusters auto"]);
    let auto = "crowd answers.csv --clusters auto";
    folder.ok(&format!("{auto} {components} --param max_iterations=2"));
    folder.fails(&format!("{crowd} --param shared=2"), &["shared=2", "only with answers by key"]);
    folder.ok(&format!("{crowd} --param shared=1"));
}

/// Fourteen workers who say what the first of them says, who is often wrong, outvote the others.
#[test]
fn copies_are_named_and_may_be_counted_once() {
    let folder = folder();
    let (mut dice, mut rows) = (Dice::new(5), answers());
    let blind: Vec<[i64; 4]> = (0..4 * SHOWN)
        .map(|i| [0, (i / SHOWN) as i64, (i % OBJECTS) as i64, dice.below(CLASSES as u64) as i64])
        .collect();
    rows.retain(|row| row[0] != 0);
    for worker in [0].into_iter().chain(20..33) {
        rows.extend(blind.iter().map(|&[_, task, item, group]| [worker, task, item, group]));
    }
    folder.write("copied.csv", csv(&rows));
    let crowd = format!("crowd copied.csv --clusters {CLASSES} --truth truth.csv");
    let all = folder.json(&crowd);
    let names: Vec<String> = [0].into_iter().chain(20..33).map(|w: i64| w.to_string()).collect();
    assert_eq!(all["copies"], serde_json::json!([names]));
    let once = folder.json(&format!("{crowd} --param copies_once=true"));
    assert_eq!((&once["copies"], &once["workers"]), (&all["copies"], &12.into()));
    let ari = |reply: &serde_json::Value| reply["scores"]["ari"].as_f64().unwrap();
    assert!(ari(&once) > 0.9 && ari(&once) > ari(&all) + 0.2, "{once} {all}");
}

#[test]
fn the_number_of_clusters_may_be_left_open() {
    let folder = folder();
    for method in ["auto", "bayesian", "spectral"] {
        let reply = folder.json(&format!(
            "crowd answers.csv --clusters auto --method {method} --truth truth.csv"
        ));
        assert!(reply["clusters"].as_u64().unwrap() > 1, "{method}: {reply}");
        assert!(is_number(&reply["cluster_count"]["probabilities"][0]["probability"]));
        assert!(is_number(&reply["completed_rank"]["noise_floor"]));
    }
    folder.fails("crowd answers.csv --clusters many", &["many", "auto"]);
}

#[test]
fn threads_leave_no_trace() {
    let folder = folder();
    for method in CROWD_METHODS {
        for threads in [1, 3] {
            folder.ok(&format!(
                "crowd answers.csv --clusters 4 --method {method} --threads {threads} -o \
                {threads}.npy --soft s{threads}.npy"
            ));
        }
        assert_eq!(folder.read("1.npy"), folder.read("3.npy"), "{method}");
        assert_eq!(folder.read("s1.npy"), folder.read("s3.npy"), "{method}");
    }
}

#[test]
fn what_is_wrong_is_named() {
    let folder = folder();
    folder.fails("crowd answers.csv", &["--clusters"]);
    folder.fails("crowd answers.csv --clusters 0", &["0", "120"]);
    folder.fails("crowd answers.csv --clusters 121 -o out.csv", &["121", "120"]);
    folder.fails("crowd answers.csv --clusters 4 --method nope", &["nope", "dawid-skene"]);
    folder.fails("crowd answers.csv --clusters 4 --param c=1", &["auto takes shared"]);
    folder.fails("crowd answers.csv --clusters 4 --method rmc --param c=-1", &["-1"]);
    folder.fails("crowd answers.csv --clusters 4 --method rmc --param d1=2", &["2"]);
    folder.fails("crowd answers.csv --clusters 4 --objects 50 -o out.csv", &["answers.csv", "50"]);
    folder.fails("crowd pool.csv --clusters 4", &["pool.csv", "worker,task,item,group"]);
    folder.fails("crowd nothing.csv --clusters 4", &["nothing.csv", "no such file"]);
    folder.fails("crowd answers.parquet --clusters 4", &["answers.parquet"]);
    folder.write("twice.csv", "worker,task,item,group\n0,0,1,0\n0,0,1,1\n");
    folder.fails("crowd twice.csv --clusters 1", &["twice.csv", "item 1", "task 0"]);
    folder.write("self.csv", "worker,i,j,same\n0,1,1,0\n");
    folder.fails("crowd self.csv --clusters 1", &["self.csv", "object 1"]);
    folder.write("named.csv", "worker,task,item,group\nann,m,rex,cats\nann,m,rex,dogs\n");
    let needles = ["item rex is twice in task m of worker ann", "in groups cats and dogs"];
    folder.fails("crowd named.csv --clusters 1", &needles);
    folder.write("named.csv", "worker,i,j,same\nbob,tom,rex,yes\nann,rex,rex,no\n");
    folder.fails("crowd named.csv --clusters 1", &["worker ann calls object rex different"]);
    folder.write("none.csv", "worker,task,item,group\n");
    folder.fails("crowd none.csv --clusters 1", &["none.csv"]);
}

/// Six workers sort by three shapes and six by five colours; five clusters are asked for.
#[test]
fn another_criterion_is_told_and_written() {
    let folder = Folder::new();
    let mut dice = Dice::new(4);
    let (shape, colour) = (|i: u64| i % 3, |i: u64| i / 12);
    let mut rows = "worker,i,j,same\n".to_owned();
    for task in 0..3_000 {
        let (worker, i, j) = (task % 12, dice.below(60), dice.below(60));
        let same = if worker < 6 { shape(i) == shape(j) } else { colour(i) == colour(j) };
        if i != j {
            rows.push_str(&format!("w{worker},{i},{j},{}\n", same == (dice.below(10) > 0)));
        }
    }
    folder.write("answers.csv", rows);
    folder.write("colours.csv", (0..60).map(|i| format!("{}\n", colour(i))).collect::<String>());
    folder.write("shapes.csv", (0..60).map(|i| format!("{}\n", shape(i))).collect::<String>());
    let reply = folder.json("crowd answers.csv --clusters 5 -o first.csv --second second.csv");
    let workers = reply["second"]["workers"].as_array().unwrap();
    assert!((4..=8).contains(&workers.len()), "{workers:?}");
    let score = |labels: &str, truth: &str| {
        folder.json(&format!("score {labels} {truth}"))["scores"]["ari"].as_f64().unwrap()
    };
    let files = ["first.csv", "second.csv"];
    for truth in ["colours.csv", "shapes.csv"] {
        assert!(files.iter().any(|file| score(file, truth) > 0.7), "{truth}");
    }
    let told = reply["notes"].to_string().contains("--second writes theirs");
    assert_eq!(told, reply["clusters"] != 5 && score("second.csv", "colours.csv") > 0.7);
    // Where nobody does, no object has a label.
    folder.write("shapes.csv", (0..60).map(|i| format!("{}\n", shape(i))).collect::<String>());
    let one = folder.text("answers.csv");
    let of_shapes: Vec<&str> = one
        .lines()
        .filter(|row| {
            !["w6", "w7", "w8", "w9", "w10", "w11"].contains(&row.split(',').next().unwrap())
        })
        .collect();
    folder.write("few.csv", of_shapes.join("\n"));
    let reply = folder.json("crowd few.csv --clusters 3 --objects 60 --second none.csv");
    assert!(reply["notes"].to_string().contains("no workers group by another"), "{reply}");
    assert!(folder.text("none.csv").lines().skip(1).all(|row| row == "-1"));
}
