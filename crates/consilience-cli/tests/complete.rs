//! `consilience complete`: features and pairs, by both methods.

mod common;

use common::{Dice, Folder, OBJECTS, is_number, prepared, truth};

/// Points and 400 random pairs of them.
fn folder() -> Folder {
    let folder = prepared();
    let (mut dice, truth) = (Dice::new(5), truth());
    let mut pairs = "i,j,link\n".to_owned();
    for _ in 0..400 {
        let (i, j) = (dice.below(OBJECTS as u64) as usize, dice.below(OBJECTS as u64) as usize);
        if i != j {
            let link = if truth[i] == truth[j] { "must" } else { "cannot" };
            pairs.push_str(&format!("{i},{j},{link}\n"));
        }
    }
    folder.write("pairs.csv", pairs);
    folder
}

#[test]
fn both_methods_find_the_classes_and_label_new_objects() {
    let folder = folder();
    for method in ["mccc", "rdml"] {
        let reply = folder.json(&format!(
            "complete x.csv --constraints pairs.csv --clusters 4 --method {method} --truth \
            truth.csv -o out.csv \
             --predict x.csv --predicted again.csv"
        ));
        assert_eq!((reply["method"].as_str(), reply["clusters"].as_u64()), (Some(method), Some(4)));
        assert_eq!(reply["scores"]["ari"], 1.0, "{method}");
        assert_eq!(reply["violated"], 0, "{method}");
        assert!(reply["status"].is_string() && is_number(&reply["seconds"]["total"]), "{method}");
        // The same objects again get the same numbers, not merely the same groups.
        assert_eq!(folder.read("out.csv"), folder.read("again.csv"), "{method}");
    }
}

#[test]
fn parameters_of_both_methods() {
    let folder = folder();
    let complete = "complete x.csv --constraints pairs.csv --clusters 4 --truth truth.csv";
    let reply = folder.json(&format!(
        "{complete} --param basis=singular --param eigenvectors=3 --param loss_weight=50"
    ));
    assert_eq!(
        (reply["basis"].as_str(), reply["eigenvectors"].as_u64()),
        (Some("singular"), Some(3))
    );
    assert_eq!(reply["loss_weight"], 50.0);
    let reply = folder.json(&format!(
        "{complete} --param solver=stochastic --param max_iterations=20 --param \
         loss_weight=balanced"
    ));
    assert_eq!(reply["clusters"], 4);
    let rdml = folder.json(&format!(
        "{complete} --method rdml --param standardize=false --param smoothing=0.1 --param \
         restarts=2"
    ));
    assert_eq!(rdml["clusters"], 4);
    // Names of the papers, and those of before.
    for param in ["k=3", "c=50", "basis=standardised-neighbours"] {
        folder.ok(&format!("{complete} --param {param}"));
    }
    folder.ok(&format!("{complete} --method rdml --param lambda=0.1"));
    // The forms of the papers, and single parts of them.
    let published = folder.json(&format!("{complete} --param published=true"));
    assert_eq!(
        (published["basis"].as_str(), published["status"].as_str()),
        (Some("raw-singular"), Some("max-iterations"))
    );
    let exact = "--param published=true --param solver=accelerated --param read_out=leading";
    assert_eq!(folder.json(&format!("{complete} {exact}"))["status"], "solved");
    let rdml = format!("{complete} --method rdml");
    folder.ok(&format!("{rdml} --param published=true"));
    folder.ok(&format!("{rdml} --param cut=shi-malik --param smoothing_per_object=0.5"));
    folder.fails(
        &format!("{rdml} --param smoothing=1 --param smoothing_per_object=1"),
        &["smoothing_per_object", "expected one"],
    );
    folder.fails(&format!("{rdml} --param cut=knife"), &["knife", "k-means, shi-malik"]);
    folder.fails(&format!("{complete} --param basis=wavelet"), &["basis=wavelet", "held-out"]);
    folder.fails(&format!("{complete} --param loss_weight=much"), &["much", "or a number"]);
    folder.fails(
        &format!("{complete} --param smoothing=1"),
        &["smoothing", "mccc takes published, basis"],
    );
}

/// Forty of the objects, grouped by ten workers of whom each mistakes one answer in ten.
fn answers() -> String {
    let (mut dice, truth) = (Dice::new(9), truth());
    let mut rows = "worker,task,item,group\n".to_owned();
    for worker in 0..10 {
        for item in (0..OBJECTS).filter(|i| i % 3 == 1) {
            let group = if dice.below(10) == 0 { dice.below(4) as i64 } else { truth[item] };
            rows.push_str(&format!("{worker},0,{item},{group}\n"));
        }
    }
    rows
}

#[test]
fn answers_about_some_objects_label_all_of_them_and_new_ones() {
    let folder = folder();
    folder.write("answers.csv", answers());
    let complete = "complete x.csv --answers answers.csv --clusters 4 --truth truth.csv";
    let reply = folder
        .json(&format!("{complete} -o out.csv --predict x.csv --predicted again.csv --threads 1"));
    assert_eq!((reply["method"].as_str(), reply["clusters"].as_u64()), (Some("rdml"), Some(4)));
    assert_eq!((reply["answered"].as_u64(), reply["workers"].as_u64()), (Some(40), Some(10)));
    assert!(reply["completed_rank"].as_u64() >= Some(2), "{reply}");
    assert_eq!(reply["scores"]["ari"], 1.0);
    assert_eq!(folder.read("out.csv"), folder.read("again.csv"));
    let tuned = "--param d0=0.1 --param d1=0.8 --param c=2 --param lambda=0.1 --threads 3";
    let reply = folder.json(&format!("{complete} {tuned}"));
    assert_eq!(reply["scores"]["ari"], 1.0);

    let published = folder.json(&format!("{complete} --param published=true --threads 2"));
    assert!(published["scores"]["ari"].as_f64() > Some(0.5), "{published}");
    let rule = folder.json(&format!("{complete} --param penalty=recovery --param cut=shi-malik"));
    assert_eq!(rule["clusters"], 4);
    folder.fails(&format!("{complete} --param penalty=balance --param c=2"), &["expected one"]);

    folder.fails(&format!("{complete} --method mccc"), &["--answers", "mccc", "rdml"]);
    folder.fails(&format!("{complete} --constraints pairs.csv"), &["--constraints", "--answers"]);
    folder.fails(&format!("{complete} --param d0=1"), &["1"]);
    folder.fails(&format!("{complete} --param c=0"), &["0"]);
    folder
        .fails(&format!("{complete} --param basis=singular"), &["rdml takes published, smoothing"]);
    folder.write("far.csv", "worker,task,item,group\n0,0,1,0\n0,0,120,0\n");
    folder.fails("complete x.csv --answers far.csv --clusters 4", &["far.csv", "120"]);
}

#[test]
fn threads_leave_no_trace() {
    let folder = folder();
    for method in ["mccc", "rdml"] {
        for threads in [1, 3] {
            folder.ok(&format!(
                "complete x.csv --constraints pairs.csv --clusters 4 --method {method} --threads \
                {threads} -o {threads}.npy"
            ));
        }
        assert_eq!(folder.read("1.npy"), folder.read("3.npy"), "{method}");
    }
}

#[test]
fn what_is_wrong_is_named() {
    let folder = folder();
    folder.fails("complete x.csv --clusters 4", &["--constraints"]);
    folder.fails("complete x.csv --constraints pairs.csv", &["--clusters"]);
    folder.fails("complete x.csv --constraints pairs.csv --clusters 0 -o out.csv", &["0", "120"]);
    folder
        .fails("complete x.csv --constraints pairs.csv --clusters 121 -o out.csv", &["121", "120"]);
    folder.fails(
        "complete x.csv --constraints pairs.csv --clusters 4 --method nope",
        &["nope", "mccc, rdml"],
    );
    folder.fails(
        "complete x.csv --constraints pairs.csv --clusters 4 --predict x.csv",
        &["--predicted"],
    );
    folder.write("far.csv", "i,j,link\n0,120,must\n");
    folder
        .fails("complete x.csv --constraints far.csv --clusters 4", &["far.csv", "line 2", "120"]);
    folder.write("against.csv", "0,4,must\n4,8,must\n0,8,cannot\n");
    folder
        .fails("complete x.csv --constraints against.csv --clusters 4", &["against.csv", "line 3"]);
}

/// Where features of one unit hold the clusters and others nothing, a common scale loses them;
/// where a wide feature means nothing, features as they are do.
#[test]
fn answers_choose_between_standardized_features_and_features_as_they_are() {
    let folder = Folder::new();
    let mut dice = Dice::new(4);
    let mut features = [String::new(), String::new()];
    let (mut truth, mut rows) = (String::new(), "worker,task,item,group\n".to_owned());
    for i in 0..200 {
        let class = i % 20;
        let mut noise = |wide: u64| dice.below(wide) as f64 / 100.0;
        let (a, b) = ((class % 5 * 30) as f64 + noise(300), (class / 5 * 30) as f64 + noise(300));
        features[0] += &format!("{a},{b},{},{}\n", noise(300), noise(300));
        features[1] += &format!("{a},{b},{}\n", noise(200_000));
        truth += &format!("{class}\n");
        if i % 3 == 0 {
            (0..3).for_each(|worker| rows += &format!("{worker},0,{i},{class}\n"));
        }
    }
    folder.write("unit.csv", &features[0]);
    folder.write("wide.csv", &features[1]);
    folder.write("y.csv", truth);
    folder.write("a.csv", rows);
    let ari = |of: &str, param: &str, note: &str| {
        let run = format!("complete {of}.csv --answers a.csv --clusters 20 --truth y.csv {param}");
        let reply = folder.json(&run);
        assert_eq!(reply["notes"].to_string().contains(note), param.is_empty(), "{reply}");
        reply["scores"]["ari"].as_f64().unwrap()
    };
    let by_answers = ari("unit", "", "clusters from features as they are: of answers");
    let standardized = ari("unit", "--param standardize=true", "(standardize=false)");
    assert!(by_answers > 0.95 && by_answers > standardized + 0.1, "{by_answers} {standardized}");
    let by_answers = ari("wide", "", "clusters from standardized features: of answers");
    assert_eq!(by_answers, ari("wide", "--param standardize=true", "(standardize=false)"));
}
