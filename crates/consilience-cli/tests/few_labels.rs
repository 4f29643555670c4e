//! `consilience cluster`: a few labels or pairs, with every method and metric.

mod common;

use common::{CLASSES, Dice, Folder, OBJECTS, is_number, prepared, truth};

const METHODS: [&str; 9] = [
    "fpc",
    "nnc",
    "kmeans",
    "constrained-kmeans",
    "cop-kmeans",
    "pck-means",
    "mpck-means",
    "ccskl",
    "pmmc",
];
const METRICS: [&str; 8] =
    ["euclidean", "rsd-diagonal", "rsd-full", "mmc", "itml", "rca", "dca", "lmnn"];

/// Points (`x.csv`), the labels of three objects of each class (`known.csv`), and some pairs
/// (`pairs.csv`).
fn folder() -> Folder {
    let folder = prepared();
    let known: String = truth()
        .iter()
        .enumerate()
        .map(|(i, &class)| if i < 3 * CLASSES { format!("{class}\n") } else { "-1\n".to_owned() })
        .collect();
    folder.write("known.csv", format!("label\n{known}"));
    let mut pairs = "i,j,link,batch\n".to_owned();
    for i in 0..CLASSES {
        pairs.push_str(&format!("{i},{},must,0\n", i + CLASSES));
        pairs.push_str(&format!("{i},{},cannot,1\n", (i + 1) % CLASSES));
    }
    folder.write("pairs.csv", pairs);
    folder
}

/// A question mark is no label, other words are, and names that differ in case alone are told.
#[test]
fn names_that_are_hardly_classes_are_told() {
    let folder = folder();
    let with = |nothing: &str, other: &str| {
        let known = truth().into_iter().enumerate().map(|(i, class)| match i {
            0 => format!("{other}\n"),
            i if i < 3 * CLASSES => format!("class {class}\n"),
            _ => format!("{nothing}\n"),
        });
        folder.write("names.csv", format!("label\n{}", known.collect::<String>()));
        let reply = folder.json("cluster x.csv --labels names.csv");
        (reply["labelled"].as_u64().unwrap(), reply["notes"].to_string())
    };
    let own = format!("class {}", truth()[0]);
    let (labelled, notes) = with("?", &own);
    assert_eq!(labelled, 3 * CLASSES as u64);
    assert!(!notes.contains("class\\\"") && !notes.contains("in case alone"), "{notes}");
    let (labelled, notes) = with("Unknown", &own.to_uppercase());
    assert_eq!(labelled, OBJECTS as u64);
    assert!(notes.contains("are \\\"Unknown\\\", which counts as a class"), "{notes}");
    assert!(notes.contains("differ in case alone"), "{notes}");
}

/// Two columns of large numbers beside two of small ones, and a column that is another whole number
/// in each row.
#[test]
fn columns_that_outweigh_the_others_are_told() {
    let folder = Folder::new();
    let mut dice = Dice::new(3);
    let (mut rows, mut ids) = ("age,income,wealth,years\n".to_owned(), "a,patient\n".to_owned());
    for i in 0..60 {
        let (income, wealth) = (40_000 + dice.below(9_000), 25_000 + dice.below(9_000));
        rows.push_str(&format!("{},{income},{wealth},{}\n", 20 + i % 3 * 20, i % 7));
        ids.push_str(&format!("{}.5,{}\n", i % 3, 100_000 + 7 * (i * 37 % 60)));
    }
    folder.write("rows.csv", rows);
    folder.write("ids.csv", ids);
    for (method, advice) in [
        ("kmeans", "divided by their standard deviations"),
        ("auto --labels known.csv", "kmeans-standardized"),
        ("consensus", "--param scale=zscore"),
    ] {
        folder.write("known.csv", "0\n1\n2\n".to_owned() + &"-1\n".repeat(57));
        let reply = folder.json(&format!("cluster rows.csv --method {method} --clusters 3"));
        let notes = reply["notes"].to_string();
        let told = ["income", "wealth", " hold ", advice].map(|part| notes.contains(part));
        assert_eq!(told, [true; 4], "{method}: {notes}");
        let sizes = reply["sizes"].as_array().unwrap();
        assert_eq!(sizes.iter().filter_map(|size| size.as_u64()).sum::<u64>(), 60);
    }
    let notes = folder.json("cluster ids.csv --method kmeans --clusters 3")["notes"].to_string();
    assert!(notes.contains("patient has another whole number in each row"), "{notes}");
}

/// Clusters bear the numbers of their classes, as they bear the names of classes that have some.
#[test]
fn numbers_of_classes_stay() {
    let folder = folder();
    let numbers = ["30", "7", "200", "0"];
    let known: String = (0..OBJECTS)
        .map(|i| if i < 3 * CLASSES { numbers[truth()[i] as usize] } else { "" })
        .map(|number| format!("\"{number}\"\n"))
        .collect();
    folder.write("numbers.csv", format!("label\n{known}"));
    let rows = |name: &str| -> Vec<String> {
        folder.text(name).lines().skip(1).map(str::to_owned).collect()
    };
    for method in ["auto", "kmeans", "constrained-kmeans", "nnc"] {
        folder.ok(&format!(
            "cluster x.csv --method {method} --labels numbers.csv -o out.csv --predict x.csv \
             --predicted again.csv"
        ));
        let right = |row: (usize, &String)| *row.1 == numbers[truth()[row.0] as usize];
        for found in ["out.csv", "again.csv"] {
            let right = rows(found).iter().enumerate().filter(|&row| right(row)).count();
            assert!(10 * right > 9 * OBJECTS, "{method}, {found}: {right}");
        }
    }
    // More clusters than classes: the least numbers that are free.
    folder.ok("cluster x.csv --method kmeans --labels numbers.csv --clusters 6 -o out.csv");
    let mut found: Vec<u32> = rows("out.csv").iter().map(|row| row.parse().unwrap()).collect();
    found.sort_unstable();
    found.dedup();
    assert_eq!(found.len(), 6);
    assert!(found.iter().filter(|f| ![0, 7, 30, 200].contains(f)).all(|f| *f < 4), "{found:?}");
}

#[test]
fn labels_guide_every_method_and_metric() {
    let folder = folder();
    for method in METHODS {
        for metric in METRICS {
            if metric != "euclidean" && !["nnc", "pck-means"].contains(&method) {
                continue;
            }
            let name = format!("{method} under {metric}");
            let reply = folder.json(&format!(
                "cluster x.csv --method {method} --metric {metric} --labels known.csv --truth \
                truth.csv -o out.npy"
            ));
            assert_eq!(
                (reply["method"].as_str(), reply["metric"].as_str()),
                (Some(method), Some(metric))
            );
            assert_eq!(
                (reply["clusters"].as_u64(), reply["labelled"].as_u64()),
                (Some(4), Some(12)),
                "{name}"
            );
            assert_eq!(
                (reply["must_links"].as_u64(), reply["cannot_links"].as_u64()),
                (Some(12), Some(54))
            );
            assert_eq!(reply["violated"], 0, "{name}");
            assert!(is_number(&reply["seconds"]["total"]) && reply["status"].is_string());
            assert_eq!(reply["scores"]["ari"], 1.0, "{name}");
            assert_eq!(folder.json("score out.npy truth.csv")["scores"], reply["scores"]);
        }
    }
}

/// Two groupings that cross: the labels say which one is meant. To CCSKL, four heaps without a link
/// are four components of a graph, which no weights of eigenvectors make two.
#[test]
fn labels_say_which_grouping_is_meant() {
    let folder = Folder::new();
    let mut dice = Dice::new(4);
    let of = |i: usize, by: usize| (i >> by) % 2;
    let mut x = "a,b\n".to_owned();
    for i in 0..120 {
        let mut at = |by: usize| of(i, by) as f64 * 4.0 + dice.below(100) as f64 / 100.0;
        x.push_str(&format!("{},{}\n", at(0), at(1)));
    }
    folder.write("x.csv", x);
    for by in 0..2 {
        let column = |known: usize| -> String {
            let label = |i: usize| if i < known { of(i, by).to_string() } else { "-1".to_owned() };
            "y\n".to_owned() + &(0..120).map(|i| label(i) + "\n").collect::<String>()
        };
        folder.write("truth.csv", column(120));
        folder.write("known.csv", column(40));
        for how in [
            "constrained-kmeans",
            "cop-kmeans",
            "pck-means",
            "mpck-means",
            "pmmc",
            "nnc --metric rca",
            "nnc --metric itml",
            "nnc --metric mmc",
            "nnc --metric lmnn",
            "nnc --metric dca",
            "nnc --metric rsd-diagonal",
            "nnc --metric rsd-full",
        ] {
            let reply = folder.json(&format!(
                "cluster x.csv --method {how} --labels known.csv --truth truth.csv"
            ));
            assert!(reply["scores"]["ari"].as_f64() > Some(0.8), "{how} by {by}: {reply}");
        }
    }
}

#[test]
fn pairs_guide_and_new_objects_are_labelled() {
    let folder = folder();
    let reply = folder.json(
        "cluster x.csv --method cop-kmeans --constraints pairs.csv --clusters 4 --truth truth.csv \
         -o out.csv --predict x.csv --predicted again.csv",
    );
    assert_eq!((reply["violated"].as_u64(), reply["scores"]["ari"].as_f64()), (Some(0), Some(1.0)));
    // The same objects again get the same numbers, not merely the same groups.
    assert_eq!(folder.read("out.csv"), folder.read("again.csv"));
    let both =
        folder.json("cluster x.csv --method pck-means --constraints pairs.csv --labels known.csv");
    assert_eq!(both["clusters"], 4);
    let plain = folder.json("cluster x.csv --method kmeans --clusters 4 --truth truth.csv");
    assert_eq!((plain["labelled"].as_u64(), plain["violated"].as_u64()), (Some(0), Some(0)));
}

#[test]
fn threads_leave_no_trace() {
    let folder = folder();
    for method in METHODS {
        let mut files = Vec::new();
        for threads in [1, 3] {
            folder.ok(&format!(
                "cluster x.csv --method {method} --metric itml --labels known.csv --threads \
                {threads} -o {threads}.npy"
            ));
            files.push(folder.read(&format!("{threads}.npy")));
        }
        assert_eq!(files[0], files[1], "{method}");
    }
}

#[test]
fn parameters_go_to_the_method_or_to_the_metric() {
    let folder = folder();
    let labels = |how: &str| {
        folder.ok(&format!("cluster x.csv --labels known.csv -o out.npy {how}"));
        folder.read("out.npy")
    };
    for (method, param) in [
        ("fpc", "first=7"),
        ("kmeans", "max_iterations=5"),
        ("cop-kmeans", "search_limit=1000"),
        ("pck-means", "weight=3"),
        ("mpck-means", "full=true"),
        ("ccskl", "neighbours=5"),
        ("pmmc", "decay=0.1"),
    ] {
        labels(&format!("--method {method} --param {param}"));
        folder.fails(
            &format!("cluster x.csv --method {method} --labels known.csv --param size=1"),
            &["size", &format!("{method} takes ")],
        );
    }
    // Of the metric by name, and where both have it by its prefix.
    labels("--method nnc --metric mmc --param diagonal=true");
    labels(
        "--method pck-means --metric itml --param max_iterations=5 --param metric.max_iterations=3",
    );
    let fails = |how: &str, needles: &[&str]| {
        folder.fails(&format!("cluster x.csv --labels known.csv {how}"), needles);
    };
    fails("--method nnc --metric mmc --param diagonal=often", &["diagonal=often", "true or false"]);
    fails("--method pck-means --metric itml --param max_iterations=0", &["0"]);
    fails("--method pck-means --metric itml --param metric.max_iterations=0", &["0"]);
    labels("--method pck-means --metric itml --param quantiles=0.1..0.8");
    labels("--method pck-means --metric itml --param bounds=0.5..2");
    fails("--method pck-means --metric itml --param bounds=2..1", &["2", "1"]);
    let both = "--param quantiles=0.1..0.8 --param bounds=0.5..2";
    fails(&format!("--method nnc --metric itml {both}"), &["bounds and quantiles: expected one"]);
    fails("--method pck-means --metric itml --param quantiles=0.1", &["quantiles", "0.05..0.95"]);
    fails("--method nnc --metric rca --param metric.bound=1", &["bound", "rca takes shrinkage"]);
    fails("--method nnc --metric mmc --param width=1", &["width", "nnc", "diagonal"]);
}

/// Either there is a metric for features near the smallest numbers, or the message speaks of them.
#[test]
fn features_of_any_scale_have_a_metric_or_a_name() {
    let folder = folder();
    let text = folder.text("x.csv");
    let mut tiny = String::from("x,y\n");
    for line in text.lines().skip(1) {
        let cells: Vec<String> =
            line.split(',').map(|x| format!("{}e-310", x.parse::<f64>().unwrap())).collect();
        tiny.push_str(&(cells.join(",") + "\n"));
    }
    folder.write("tiny.csv", tiny);
    folder.write("pairs.csv", "0,4,must\n0,8,must\n1,5,must\n0,1,cannot\n0,2,cannot\n");
    for metric in ["rsd-diagonal", "rsd-full", "mmc", "itml", "rca", "dca"] {
        let command = format!(
            "cluster tiny.csv --method kmeans --clusters 4 --constraints pairs.csv \
             --metric {metric}"
        );
        let ran = folder.run(&command);
        let named = ran.stderr.contains("feature 0") || ran.stderr.contains("feature 1");
        assert!(ran.code == 0 || named, "{metric}: {}", ran.stderr);
    }
}

#[test]
fn where_something_is_known_the_method_is_chosen() {
    let folder = folder();
    let reply = folder.json("cluster x.csv --labels known.csv --truth truth.csv -o out.csv");
    assert_eq!(
        (reply["method"].as_str(), reply["scores"]["ari"].as_f64()),
        (Some("auto"), Some(1.0))
    );
    let candidates = reply["candidates"].as_array().unwrap();
    assert_eq!(candidates[0]["name"], "kmeans");
    assert!(candidates.iter().any(|c| c["name"] == reply["taken"]));
    assert!(candidates.iter().all(|c| is_number(&c["score"]) && is_number(&c["gain_error"])));
    assert_eq!(reply["judged_links"], 66);
    assert!(reply["notes"].to_string().contains("links that it has not seen"), "{reply}");
    // Four pairs of either kind are too few.
    let reply = folder.json("cluster x.csv --constraints pairs.csv --clusters 4");
    assert_eq!(
        (reply["taken"].as_str(), reply["judged_links"].as_u64()),
        (Some("kmeans"), Some(8))
    );
    assert!(reply["notes"].to_string().contains("8 links are too few"), "{reply}");
    let said = folder.ok(
        "cluster x.csv --method auto --constraints pairs.csv --clusters 4 --param least_links=2 \
         --param candidates=pck-means,mccc --param folds=3 --predict x.csv --predicted again.csv",
    );
    assert!(said.stdout.contains("pck-means") && !said.stdout.contains("updater"));
    let fails = |how: &str, needles: &[&str]| {
        folder.fails(&format!("cluster x.csv --labels known.csv {how}"), needles);
    };
    fails("--metric itml", &["itml", "auto", "expected no --metric"]);
    fails("--param size=1", &["size", "auto takes candidates"]);
    fails("--param candidates=magic", &["magic", "mccc"]);
    folder.fails("cluster x.csv --clusters 4", &["--method", "--labels", "--constraints"]);
}

#[test]
fn what_is_wrong_is_named() {
    let folder = folder();
    folder.fails("cluster x.csv --method nope --clusters 2", &["nope", "fpc", "mpck-means"]);
    folder.fails(
        "cluster x.csv --method nnc --metric nope --labels known.csv",
        &["nope", "rsd-full"],
    );
    folder.fails("cluster x.csv --method fpc", &["--clusters"]);
    folder.fails("cluster x.csv --method fpc --clusters 121 -o out.csv", &["121", "120"]);
    folder.fails("cluster x.csv --method fpc --clusters 2 --predict x.csv", &["--predicted"]);
    folder.write("nobody.csv", "label\n".to_owned() + &"-1\n".repeat(120));
    folder.fails("cluster x.csv --labels nobody.csv", &["--clusters", "no object has a label"]);
    folder.write("short.csv", "0\n1\n");
    folder.fails("cluster x.csv --method nnc --labels short.csv", &["short.csv", "2 rows", "120"]);
    folder.write("far.csv", "0,1,must\n3,120,must\n");
    folder.fails(
        "cluster x.csv --method fpc --clusters 2 --constraints far.csv",
        &["far.csv", "line 2", "120"],
    );
    folder.write("odd.csv", "i,j,link\n0,1,perhaps\n");
    folder.fails(
        "cluster x.csv --method fpc --clusters 2 --constraints odd.csv",
        &["odd.csv", "line 2", "perhaps"],
    );
    folder.write("clash.csv", "0,1,must\n1,2,must\n2,0,cannot\n");
    folder.fails(
        "cluster x.csv --method cop-kmeans --clusters 2 --constraints clash.csv",
        &["clash.csv", "line 3", "0 = 1 = 2"],
    );
    folder.fails("cluster x.csv --method nnc --labels none.csv", &["none.csv", "no such file"]);
}
