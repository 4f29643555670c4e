//! `--list` explains what there is, and what it says is so.

mod common;

use common::{CROWD_METHODS, Folder, prepared, truth};
use serde_json::Value;

const COMMANDS: [&str; 6] = ["generate", "consensus", "crowd", "complete", "update", "cluster"];

/// The prepared folder with pairs, some labels, and the answers of a crowd.
fn furnished() -> Folder {
    let folder = prepared();
    let truth = truth();
    let mut dice = common::Dice::new(5);
    let mut object = |n: usize| dice.below(n as u64) as usize;
    let mut links = "i,j,link\n".to_owned();
    for _ in 0..60 {
        let (i, j) = (object(120), object(120));
        let link = if truth[i] == truth[j] { "must" } else { "cannot" };
        if i != j && !links.contains(&format!("\n{i},{j},")) {
            links.push_str(&format!("{i},{j},{link}\n"));
        }
    }
    folder.write("links.csv", links);
    let mut answers = "worker,task,item,group\n".to_owned();
    for (worker, task) in (0..10).flat_map(|w| (0..4).map(move |t| (w, t))) {
        for place in 0..8 {
            let item = place * 5 + object(5);
            let group = if object(6) == 0 { object(4) as i64 } else { truth[item] };
            answers.push_str(&format!("{worker},{task},{item},{group}\n"));
        }
    }
    folder.write("answers.csv", answers);
    folder
}

/// The entries of a list.
fn methods(folder: &Folder, line: &str) -> Vec<Value> {
    folder.json(line)["methods"].as_array().unwrap().clone()
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap()
}

/// `--param` for each parameter that has a default which can be said beside these options.
fn said(entry: &Value, line: &str) -> String {
    let parameters = entry["parameters"].as_array().unwrap();
    let alone = |p: &Value| {
        text(p, "about").contains("only with --clusters auto") && !line.contains("--clusters auto")
    };
    let sayable = parameters.iter().filter(|p| !text(p, "default").contains(' ') && !alone(p));
    sayable.map(|p| format!(" --param {}={}", text(p, "name"), text(p, "default"))).collect()
}

#[test]
fn a_name_explains_what_the_list_names() {
    let folder = Folder::new();
    for command in COMMANDS {
        let all = methods(&folder, &format!("{command} --list"));
        let listed = folder.ok(&format!("{command} --list")).stdout;
        for entry in &all {
            let name = text(entry, "name");
            assert!(listed.contains(name), "{command}: {name}: {listed}");
            for key in ["about", "paper"] {
                assert!(listed.contains(text(entry, key)), "{command}: {entry}");
            }
            let one = methods(&folder, &format!("{command} --list {name}"));
            assert!(one.contains(entry), "{command}: {name}");
            let explained = folder.ok(&format!("{command} --list {name}")).stdout;
            for p in entry["parameters"].as_array().unwrap() {
                for key in ["name", "about", "default", "range"] {
                    assert!(explained.contains(text(p, key)), "{command} {name}: {p}");
                }
                assert!(listed.contains(text(p, "name")), "{command} {name}: {p}");
            }
        }
        folder
            .fails(&format!("{command} --list nosuch"), &["--list nosuch", text(&all[0], "name")]);
        let help = folder.ok(&format!("{command} --help")).stdout;
        assert!(help.contains("--list NAME explains"), "{help}");
    }
    let names: Vec<String> =
        methods(&folder, "crowd --list").iter().map(|m| text(m, "name").to_owned()).collect();
    assert_eq!(names, CROWD_METHODS);
}

#[test]
fn names_of_other_options_are_explained_too() {
    let folder = Folder::new();
    let network = folder.ok("consensus --list network-linkage").stdout;
    assert!(network.starts_with("--method network-linkage with --edges: "), "{network}");
    let metric = folder.ok("cluster --list itml").stdout;
    assert!(metric.starts_with("--metric itml: ") && metric.contains("quantiles"), "{metric}");
    let plain = folder.ok("cluster --list euclidean").stdout;
    assert!(plain.starts_with("--metric euclidean: distances as they are"), "{plain}");
    assert!(plain.ends_with("\n  no parameters\n"), "{plain}");
    // With pairs and with answers.
    assert_eq!(methods(&folder, "complete --list rdml").len(), 2);
    for name in ["metric", "completion"] {
        let rule = folder.ok(&format!("update --list {name}")).stdout;
        assert!(rule.starts_with(&format!("--rule {name}: ")), "{rule}");
        assert!(rule.contains("\nwith --features also (growth): "), "{rule}");
        assert!(rule.contains("grown_members"), "{rule}");
    }
    // Rules that refuse --features.
    for name in ["exact", "additive", "multiplicative"] {
        let rule = folder.ok(&format!("update --list {name}")).stdout;
        assert!(rule.starts_with(&format!("--rule {name}: ")), "{rule}");
        assert!(!rule.contains("--features") && !rule.contains("grown_members"), "{rule}");
    }
    let named = folder.ok("consensus --list lwea").stdout;
    assert!(named.starts_with("--method lwea: ") && named.contains("Huang"), "{named}");
    assert!(named.contains("entropy_scale (theta)") && named.contains("default: 0.4"), "{named}");
}

/// What is said to be the default changes nothing.
#[test]
fn stated_defaults_are_the_real_ones() {
    let folder = furnished();
    let same = |line: &str, file: &str, entry: &Value| {
        let params = said(entry, line);
        folder.ok(&format!("{line} -o a.{file}"));
        folder.ok(&format!("{line} -o b.{file}{params}"));
        let files = [folder.read(&format!("a.{file}")), folder.read(&format!("b.{file}"))];
        assert!(files[0] == files[1], "{line}{params}");
    };
    for entry in &methods(&folder, "generate --list") {
        let line =
            format!("generate x.csv --members 3 --clusters 3..5 --method {}", text(entry, "name"));
        same(&line, "npz", entry);
    }
    for entry in &methods(&folder, "crowd --list") {
        for clusters in ["4", "auto"] {
            let line = format!("crowd answers.csv --clusters {clusters}");
            same(&format!("{line} --method {}", text(entry, "name")), "csv", entry);
        }
    }
    for entry in &methods(&folder, "complete --list") {
        let known =
            if entry["with"] == "--answers" { "--answers answers" } else { "--constraints links" };
        let line =
            format!("complete x.csv --clusters 4 {known}.csv --method {}", text(entry, "name"));
        same(&line, "csv", entry);
    }
    for entry in &methods(&folder, "cluster --list") {
        let (option, name) = (text(entry, "option"), text(entry, "name"));
        let known = match name {
            "consensus" => "",
            "kmeans" | "constrained-kmeans" => "--labels truth.csv",
            _ => "--constraints links.csv",
        };
        let method = if option == "--metric" { "--method fpc" } else { "" };
        same(&format!("cluster x.csv --clusters 4 {known} {method} {option} {name}"), "csv", entry);
    }
    for entry in &methods(&folder, "update --list") {
        let line = "update pool.csv --clusters 4 --constraints links.csv";
        let how = match text(entry, "name") {
            "growth" => "--features x.csv".to_owned(),
            rule @ ("metric" | "completion") => format!("--rule {rule}"),
            rule => format!("--rule {rule} --read-out rounding"),
        };
        same(&format!("{line} {how}"), "csv", entry);
    }
}
