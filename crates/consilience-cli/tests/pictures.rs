//! `consilience plot`: well-formed SVG that shows what is there.

mod common;

use common::{Folder, prepared};

/// The picture, after checking that every tag is closed.
fn svg(folder: &Folder, name: &str) -> String {
    let text = folder.text(name);
    assert!(text.starts_with("<svg ") && text.trim_end().ends_with("</svg>"), "{name}");
    let opened = text.matches('<').count() - text.matches("</").count();
    let closed = text.matches("/>").count() + text.matches("</").count();
    assert_eq!(opened, closed, "{name}: tags opened and closed");
    assert!(!text.contains("NaN") && !text.contains("inf\""), "{name}");
    text
}

#[test]
fn every_picture_is_drawn() {
    let folder = prepared();
    folder.ok("consensus pool.csv --method pcc-kl --clusters 6 --soft soft.npy");
    for (what, input) in [
        ("co-association", "pool.csv"),
        ("dendrogram", "pool.csv"),
        ("cdf", "pool.csv"),
        ("memberships", "soft.npy"),
        ("cluster-graph", "soft.npy"),
    ] {
        let reply = folder.json(&format!("plot {what} {input} -o {what}.svg"));
        assert_eq!(reply["picture"], format!("{what}.svg"));
        svg(&folder, &format!("{what}.svg"));
    }
    // Four classes survive of six clusters, and all four are in the graph.
    let graph = svg(&folder, "cluster-graph.svg");
    assert_eq!(graph.matches("<circle").count(), 4);
    // Same picture at any number of threads.
    folder.ok("plot co-association pool.csv -o again.svg --threads 1");
    assert_eq!(folder.read("again.svg"), folder.read("co-association.svg"));
}

#[test]
fn blocks_stand_along_the_diagonal() {
    let folder = Folder::new();
    // Two clusters of 30, in alternating order and without a mistake: VAT order puts them side by
    // side, two dark squares.
    folder.write("pool.csv", (0..60).map(|i| format!("{0},{0}\n", i % 2)).collect::<String>());
    folder.ok("plot co-association pool.csv -o out.svg");
    let text = svg(&folder, "out.svg");
    let dark = text.lines().find(|line| line.starts_with("<path fill=\"#08306b\"")).unwrap();
    // Each of the 60 rows is one run of 30 cells, at the left above and at the right below.
    for row in 0..60 {
        let left = if row < 30 { 0 } else { 30 };
        assert!(dark.contains(&format!("M{left} {row}h30v1h-30z")), "{row}");
    }
    assert_eq!(dark.matches('M').count(), 60);
}

#[test]
fn dendrograms_of_every_tree_and_of_many_leaves() {
    let folder = prepared();
    for method in [
        "pta-al", "pta-sl", "eac-ward", "weac-al", "lwea", "wct-al", "srs-al", "ecpcs-hc",
        "ecmc-al",
    ] {
        folder.ok(&format!("plot dendrogram pool.csv --method {method} -o {method}.svg"));
        svg(&folder, &format!("{method}.svg"));
    }
    // Ward's heights are no shares.
    assert!(svg(&folder, "eac-ward.svg").contains("heights are dissimilarities"));
    let plain = folder.read("lwea.svg");
    folder.ok("plot dendrogram pool.csv --method lwea --param linkage=single -o lwea.svg");
    assert_ne!(folder.read("lwea.svg"), plain);
    folder.ok("plot dendrogram pool.csv --method ecmc-al --clusters 4 -o ecmc-al.svg");
    let many: String = (0..400).map(|i| format!("{},{}\n", i % 20, i / 20)).collect();
    folder.write("many.csv", many);
    folder.ok("plot dendrogram many.csv -o many.svg");
    assert!(svg(&folder, "many.svg").contains("100 of 400 leaves"));
    folder.write("one.csv", "0,0\n0,0\n");
    for what in ["dendrogram", "co-association", "cdf"] {
        folder.ok(&format!("plot {what} one.csv -o one-{what}.svg"));
        svg(&folder, &format!("one-{what}.svg"));
    }
}

#[test]
fn what_is_wrong_is_named() {
    let folder = prepared();
    folder.fails("plot co-association pool.csv -o out.png", &["out.png", ".svg"]);
    folder.fails("plot portrait pool.csv -o out.svg", &["portrait", "co-association"]);
    folder.fails(
        "plot dendrogram pool.csv --method ptgp -o out.svg",
        &["ptgp", "pta-al", "eac-ward"],
    );
    folder.fails("plot memberships x.csv -o out.svg", &["x.csv", "membership"]);
    folder.write("none.csv", "-1,-1\n-1,-1\n");
    for what in ["co-association", "dendrogram", "cdf"] {
        folder.fails(
            &format!("plot {what} none.csv -o out.svg"),
            &["none.csv", "no object is labelled"],
        );
    }
    folder.fails("plot cluster-graph truth.csv --delta 2 -o out.svg", &["2"]);
}
