//! Sparse features: Matrix Market and svmlight files through the commands.

mod common;

use common::Folder;

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
    folder.ok("cluster x.mtx --method consensus --clusters 3 -o l.csv");
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
