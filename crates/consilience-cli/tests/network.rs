//! `consensus --edges`: the consensus of network clusterings.

mod common;

use common::Folder;

/// Two cliques of four nodes on a bridge, and a node by itself; three clusterings.
fn prepared() -> Folder {
    let folder = Folder::new();
    let mut edges = "from,to\n".to_owned();
    for first in [0, 4] {
        for i in first..first + 4 {
            (first..i).for_each(|j| edges += &format!("{i},{j}\n"));
        }
    }
    folder.write("edges.csv", edges + "3,4\n");
    let pool = "0,0,0\n0,0,0\n0,0,0\n0,1,0\n1,1,0\n1,1,1\n1,1,1\n1,1,1\n2,2,1\n";
    folder.write("pool.csv", pool);
    folder
}

#[test]
fn every_method_of_a_network() {
    let folder = prepared();
    let usual = folder.json("consensus pool.csv --edges edges.csv -o labels.csv");
    assert_eq!(usual["method"], "network-propagation");
    assert_eq!((&usual["clusters"], &usual["n"]), (&3.into(), &9.into()));
    assert_eq!(folder.read("labels.csv"), b"label\n0\n0\n0\n0\n1\n1\n1\n1\n2\n");
    let components = "consensus pool.csv --edges edges.csv --method network-components";
    assert_eq!(folder.json(components)["clusters"], 2);
    assert_eq!(folder.json(&format!("{components} --param threshold=0.9"))["clusters"], 5);
    for linkage in ["single", "average", "complete"] {
        let run = format!(
            "consensus pool.csv --edges edges.csv --method network-linkage --clusters 3 --param \
             linkage={linkage}"
        );
        assert_eq!(folder.json(&run)["clusters"], 3);
    }
}

#[test]
fn nodes_by_id() {
    let folder = prepared();
    let pool = folder.text("pool.csv");
    let named: Vec<String> =
        pool.lines().enumerate().map(|(i, row)| format!("n{i},{row}\n")).collect();
    folder.write("named.csv", format!("id,a,b,c\n{}", named.concat()));
    let edges = folder.text("edges.csv");
    let edges: Vec<String> = edges
        .lines()
        .skip(1)
        .filter_map(|row| row.split_once(','))
        .map(|(i, j)| format!("n{i};n{j}\n"))
        .collect();
    folder.write("by_id.csv", edges.concat());
    folder.ok("consensus pool.csv --edges edges.csv -o plain.csv");
    folder.ok("consensus named.csv --edges by_id.csv -o named_labels.csv");
    let labels = |name: &str| folder.text(name);
    let last = |row: &str| row.rsplit(',').next().unwrap().to_owned();
    let of = |name: &str| labels(name).lines().map(last).collect::<Vec<_>>();
    assert_eq!(of("named_labels.csv"), of("plain.csv"));
    folder.write("stranger.csv", "n0,n1\nn0,n99\n");
    folder.fails("consensus named.csv --edges stranger.csv", &["line 2", "n99"]);
}

#[test]
fn what_cannot_be() {
    let folder = prepared();
    let fails = |args: &str, needles: &[&str]| {
        folder.fails(&format!("consensus pool.csv {args}"), needles);
    };
    fails("--method network-linkage", &["network-linkage", "--edges"]);
    fails("--edges edges.csv --method lwea", &["lwea", "network-propagation"]);
    fails("--edges edges.csv --clusters 2", &["--clusters 2", "network-linkage"]);
    fails("--edges edges.csv --param threshold=2", &["threshold"]);
    fails("--edges edges.csv --param x=2", &["threshold, max_iterations"]);
    let linkage = "--edges edges.csv --method network-linkage";
    fails(&format!("{linkage} --clusters 10"), &["10 clusters of 9"]);
    fails(&format!("{linkage} --param linkage=ward"), &["ward", "single, average, complete"]);
    folder.write("loop.csv", "0,1\n2,2\n");
    fails("--edges loop.csv", &["loop.csv", "line 2", "itself"]);
    folder.write("far.csv", "0,9\n");
    fails("--edges far.csv", &["line 1", "node 9 of 9"]);
    folder.write("wide.csv", "0,1,0.5\n");
    fails("--edges wide.csv", &["3 columns", "two"]);
    fails("--edges none.csv", &["none.csv"]);
}
