//! Sparse features: Matrix Market and svmlight files through the commands.

mod common;

use common::{Dice, Folder};

/// Three topics of ten words each, in thirty texts, as Matrix Market text and as svmlight with the
/// classes.
fn texts(folder: &Folder) {
    let (mut entries, mut lines, mut truth) = (Vec::new(), String::new(), String::from("topic\n"));
    for i in 0..30 {
        let topic = i % 3;
        lines += &format!("{topic}");
        let mut words: Vec<usize> = (0..5).map(|w| topic * 10 + (i * 3 + w * w) % 10).collect();
        words.sort_unstable();
        words.dedup();
        for word in words {
            entries.push(format!("{} {} {}", i + 1, word + 1, 1 + i % 2));
            lines += &format!(" {}:{}", word + 1, 1 + i % 2);
        }
        lines += "\n";
        truth += &format!("{topic}\n");
    }
    let head =
        format!("%%MatrixMarket matrix coordinate integer general\n30 30 {}\n", entries.len());
    folder.write("x.mtx", head + &entries.join("\n") + "\n");
    folder.write("x.svmlight", lines);
    folder.write("truth.csv", truth);
}

#[test]
fn sparse_files_become_ensembles() {
    let folder = Folder::new();
    texts(&folder);
    for method in ["kmeans", "minibatch", "spherical-kmeans", "kernel-kmeans", "uspec"] {
        for file in ["x.mtx", "x.svmlight"] {
            let run = format!("generate {file} --method {method} --members 10 --clusters 3..5");
            let made = folder.json(&format!("{run} -o {method}.csv"));
            assert_eq!((&made["n"], &made["features"]), (&30.into(), &30.into()), "{file}");
        }
    }
    let found =
        folder.json("consensus spherical-kmeans.csv --clusters 3 -o labels.csv --truth truth.csv");
    assert_eq!(found["scores"]["ari"], 1.0);
    // The classes of an svmlight file serve as labels.
    let found = folder.json("score labels.csv x.svmlight");
    assert_eq!(found["scores"]["ari"], 1.0);
}

#[test]
fn what_needs_a_table_gets_one() {
    let folder = Folder::new();
    texts(&folder);
    folder.write("pairs.csv", "0,3,must\n0,1,cannot\n1,2,cannot\n");
    let ran = folder
        .run("cluster x.mtx --method pck-means --constraints pairs.csv --clusters 3 -o l.csv");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(ran.stderr.contains("(30 x 30) reduced to") && ran.stderr.contains("--svd"));
    // New objects go the same way.
    let cluster = "cluster x.mtx --method pck-means --clusters 3 --svd 5 --seed 2 -o l.csv";
    folder.ok(&format!("{cluster} --predict x.mtx --predicted new.csv --truth truth.csv --quiet"));
    assert_eq!(folder.read("l.csv"), folder.read("new.csv"));
    folder.ok("cluster x.svmlight --method nnc --labels truth.csv -o l.csv");
    folder.ok("generate x.mtx --method spectral --members 3 --clusters 3 --svd 4 -o p.csv");
    folder.ok("generate x.mtx --method agglomerative --projection 4 --members 3 -o p.csv");
    let reply = folder.json("cluster x.mtx --method consensus --clusters 3 -o l.csv");
    assert!(reply["notes"].to_string().contains("generator=spherical-kmeans"), "{reply}");
    for (args, says) in [
        ("cluster x.mtx --method consensus --clusters 3 -o l.csv --model m.bin", "--svd"),
        ("generate x.mtx --scale zscore -o p.csv", "sparse"),
        ("generate x.mtx --drop 3 -o p.csv", "sparse"),
        ("generate x.mtx --svd 0 -o p.csv", "at least 1"),
        ("consensus x.mtx", "holds features"),
        ("generate x.mtx -o p.mtx", "reading alone"),
    ] {
        let ran = folder.run(&format!("{args} --quiet"));
        assert_eq!(ran.code, 2, "{args}: {}", ran.stderr);
        assert!(ran.stderr.contains(says), "{args}: {}", ran.stderr);
        assert_eq!(ran.stderr.trim_end().lines().count(), 1, "{args}: {}", ran.stderr);
    }
}

/// Three topics of a third of the words each, in texts in which other words come up now and then;
/// two labels of each.
fn noisy_texts(folder: &Folder) {
    let (n, d) = (150, 200);
    let mut dice = Dice::new(3);
    let (mut entries, mut rows) = (Vec::new(), String::new());
    let (mut truth, mut labels) = (String::from("topic\n"), String::from("label\n"));
    rows += &(0..d).map(|word| format!("w{word}")).collect::<Vec<_>>().join(",");
    for i in 0..n {
        let topic = i % 3;
        let mut row = vec![0; d];
        for (word, count) in row.iter_mut().enumerate() {
            let share = if word * 3 / d == topic { 250 } else { 30 };
            if dice.below(1000) < share {
                *count = 1 + dice.below(3);
                entries.push(format!("{} {} {count}", i + 1, word + 1));
            }
        }
        rows += "\n";
        rows += &row.iter().map(u64::to_string).collect::<Vec<_>>().join(",");
        truth += &format!("{topic}\n");
        labels += &if i < 9 { format!("{topic}\n") } else { String::from("-1\n") };
    }
    let head = "%%MatrixMarket matrix coordinate integer general";
    folder.write("x.mtx", format!("{head}\n{n} {d} {}\n{}\n", entries.len(), entries.join("\n")));
    folder.write("x.csv", rows + "\n");
    folder.write("truth.csv", truth);
    folder.write("labels.csv", labels);
}

/// Standardized, the dimensions of noise would count as much as the topics.
#[test]
fn metrics_take_reduced_features_as_they_are() {
    let folder = Folder::new();
    noisy_texts(&folder);
    for reduced in ["x.mtx", "x.csv --svd 100"] {
        let run =
            format!("cluster {reduced} --labels labels.csv --method kmeans --truth truth.csv");
        for metric in ["itml", "rca"] {
            let found = folder.json(&format!(
                "{run} --metric {metric} -o l.csv --predict x.{} --predicted new.csv",
                &reduced[2..5]
            ));
            let ari = found["scores"]["ari"].as_f64().unwrap();
            assert!(ari > 0.9, "{reduced} {metric}: {ari}");
            assert_eq!(folder.read("l.csv"), folder.read("new.csv"), "{reduced} {metric}");
        }
        let ran = folder.ok(&format!("{run} --metric itml -o l.csv"));
        assert!(ran.stderr.contains("itml: standardize=false, since"), "{}", ran.stderr);
        let asked = "--metric itml --param standardize=true -o l.csv";
        let ran = folder.ok(&format!("{run} {asked}"));
        assert!(!ran.stderr.contains("standardize=false"), "{}", ran.stderr);
    }
    let plain = "cluster x.csv --labels labels.csv --method kmeans --metric itml -o l.csv";
    assert!(!folder.ok(plain).stderr.contains("standardize=false"));
    folder.write("pairs.csv", "0,3,must\n0,1,cannot\n1,2,cannot\n3,6,must\n4,8,cannot\n");
    let complete = "complete x.mtx --constraints pairs.csv --clusters 3 -o l.csv";
    let ran = folder.ok(&format!("{complete} --method rdml"));
    assert!(ran.stderr.contains("rdml: standardize=false, since"), "{}", ran.stderr);
    assert!(!folder.ok(&format!("{complete} --method mccc")).stderr.contains("standardize="));
}
