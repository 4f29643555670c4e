//! `consilience cluster --method consensus` and `consilience predict`: one call from features, and
//! new objects later.

mod common;

use common::{is_number, prepared};

#[test]
fn one_call_clusters_and_the_model_labels_what_comes_later() {
    let folder = prepared();
    let reply = folder.json(
        "cluster x.csv --method consensus --clusters 4 --truth truth.csv -o out.csv --model \
         model.bin --predict x.csv --predicted again.csv",
    );
    assert_eq!((reply["members"].as_u64(), reply["clusters"].as_u64()), (Some(20), Some(4)));
    assert_eq!(reply["scores"]["ari"], 1.0);
    assert!(is_number(&reply["anmi"]) && is_number(&reply["seconds"]["members"]));
    assert_eq!(folder.read("out.csv"), folder.read("again.csv"));

    let later = folder.json(
        "predict model.bin x.csv -o later.csv --soft votes.npy --details sure.csv --truth \
         truth.csv",
    );
    assert_eq!(folder.read("out.csv"), folder.read("later.csv"));
    assert_eq!((later["n"].as_u64(), later["outside"].as_u64()), (Some(120), Some(0)));
    assert_eq!(later["scores"]["ari"], 1.0);
    let votes = folder.json("score votes.npy votes.npy --soft");
    assert!(is_number(&votes["j"]) || votes.is_object());

    folder.write("far.csv", format!("1e9,1e9\n{}", first_line(&folder.read("x.csv"))));
    let far = folder.json("predict model.bin far.csv --details sure.csv");
    assert_eq!((far["outside"].as_u64(), far["outside_objects"][0].as_u64()), (Some(1), Some(0)));
    let told = folder.ok("predict model.bin far.csv");
    assert!(told.stderr.contains("1 of 2 new objects lie outside"), "{}", told.stderr);
    // Not all of very many are named, which is said.
    folder.write("many.csv", "1e9,1e9\n".repeat(1_001));
    let many = folder.json("predict model.bin many.csv");
    assert_eq!(many["outside_objects"].as_array().map(Vec::len), Some(1_000));
    let note = "outside_objects: the first 1000 of 1001";
    assert!(many["notes"].as_array().unwrap().contains(&note.into()), "{}", many["notes"]);
}

fn first_line(csv: &[u8]) -> String {
    let text = String::from_utf8_lossy(csv);
    let row = text.lines().find(|line| line.starts_with(|c: char| c.is_ascii_digit() || c == '-'));
    row.unwrap_or_default().to_owned() + "\n"
}

#[test]
fn generator_and_function_are_chosen_with_their_parameters() {
    let folder = prepared();
    let reply = folder.json(
        "cluster x.csv --method consensus --clusters 4 --truth truth.csv --param \
         generator=agglomerative --param generator.linkage=ward --param members=6 --param \
         range=4..8 --param scale=zscore --param feature_fraction=0.9 --param function=pta-al \
         --param function.elite_neighbours=4",
    );
    assert_eq!(
        (reply["generator"].as_str(), reply["function"].as_str(), reply["members"].as_u64()),
        (Some("agglomerative"), Some("pta-al"), Some(6))
    );
    // As many clusters as the evidence says, by a method that finds them and by one that does not.
    for function in ["auto", "hbgf"] {
        let found = folder.json(&format!(
            "cluster x.csv --method consensus --param function={function} --param range=4..12"
        ));
        assert!(found["clusters"].as_u64().is_some_and(|k| (2..=12).contains(&k)), "{found}");
    }
}

/// Where K is given, members have as many clusters as it takes to keep K apart.
#[test]
fn members_follow_the_number_of_clusters() {
    let folder = prepared();
    let (mut rows, mut truth) = (String::new(), String::new());
    for i in 0..30 {
        let at = |way: usize| way as f64 * 30.0 + (i * 7 % 5) as f64 * 0.2;
        rows += &format!("{},{}\n", at(i % 10 % 4), at(i % 10 / 4));
        truth += &format!("{}\n", i % 10);
    }
    folder.write("ten.csv", rows);
    folder.write("which.csv", truth);
    let run = "cluster ten.csv --method consensus --clusters 10 --truth which.csv";
    let reply = folder.json(run);
    assert_eq!((reply["clusters"].as_u64(), &reply["scores"]["ari"]), (Some(10), &1.0.into()));
    assert!(reply["notes"].to_string().contains("drawn from 10 to 20"), "{}", reply["notes"]);
    let reply = folder.json(&format!("{run} --param range=10..12"));
    assert!(!reply["notes"].to_string().contains("drawn from"), "{}", reply["notes"]);
}

#[test]
fn threads_leave_no_trace() {
    let folder = prepared();
    for threads in [1, 3] {
        folder.ok(&format!(
            "cluster x.csv --method consensus --clusters 4 --threads {threads} -o {threads}.npy \
             --model {threads}.bin"
        ));
        folder.ok(&format!(
            "predict {threads}.bin x.csv --threads {threads} --details d{threads}.npy"
        ));
    }
    for (one, three) in [("1.npy", "3.npy"), ("1.bin", "3.bin"), ("d1.npy", "d3.npy")] {
        assert_eq!(folder.read(one), folder.read(three), "{one}");
    }
}

#[test]
fn bad_requests_leave_everything_as_it_was() {
    let folder = prepared();
    let cluster = "cluster x.csv --method consensus --clusters 4 --model model.bin";
    folder.ok(cluster);
    let model = folder.read("model.bin");
    folder.fails(&format!("{cluster} --constraints pairs.csv"), &["consensus takes no"]);
    folder.fails(&format!("{cluster} --metric itml"), &["--metric itml"]);
    folder.fails(&format!("{cluster} --param members=0"), &["members is 0"]);
    folder.fails(&format!("{cluster} --param generator=some"), &["some", "kmeans"]);
    folder.fails(&format!("{cluster} --param function=some"), &["some"]);
    folder.fails(&format!("{cluster} --param generator.some=1"), &["some", "kmeans takes"]);
    folder.fails(&format!("{cluster} --param function.some=1"), &["some"]);
    // By what was given, and with what takes it.
    for (param, needles) in [
        ("generator.some=1", &["--param generator.some=1: unknown parameter", "kmeans takes"][..]),
        (
            "generator.scale=zscore",
            &[
                "--param generator.scale=zscore: unknown parameter \"scale\"; kmeans takes",
                "; consensus takes --param scale=zscore",
            ],
        ),
        ("generator.restarts=x", &["--param generator.restarts=x: expected a whole number"]),
        ("function.members=4", &["--param function.members=4: ", "; consensus takes --param"]),
        ("function.dense_limit=x", &["--param function.dense_limit=x: dense_limit \"x\""]),
        ("range=x", &["--param range x"]),
    ] {
        folder.fails(&format!("{cluster} --param {param}"), needles);
    }
    let learned =
        "cluster x.csv --constraints pairs.csv --clusters 4 --method kmeans --metric itml";
    for (param, needle) in [
        ("metric.some=1", "--param metric.some=1: unknown parameter \"some\"; itml takes"),
        ("metric.slack=x", "--param metric.slack=x: expected a number"),
        ("slack=x", "--param slack=x: expected a number"),
    ] {
        folder.fails(&format!("{learned} --param {param}"), &[needle]);
    }
    folder.fails(&format!("{cluster} --param range=5..2"), &["--param range 5..2"]);
    folder.fails(&format!("{cluster} --param some=1"), &["some", "generator"]);
    folder.fails("cluster x.csv --method fpc --clusters 4 --model m.bin", &["--model m.bin"]);
    folder.fails("cluster x.csv --method fpc --clusters auto", &["--clusters auto"]);
    folder.fails("cluster x.csv --method consenus --clusters 4", &["pmmc, consensus"]);

    folder.write("wide.csv", "1,2,3\n");
    folder
        .fails("predict model.bin wide.csv -o out.csv", &["wide.csv", "3 features, 2 at the fit"]);
    folder.fails("predict none.bin x.csv", &["none.bin", "no such file"]);
    folder.write("hole.csv", "1,2\n3,\n");
    let hole = ["hole.csv: missing values", "a number in every row: holes of new objects are not"];
    folder.fails("predict model.bin hole.csv", &hole);
    let said = folder.run("predict model.bin hole.csv").stderr;
    assert!(!said.contains("--missing"), "{said}");
    folder.fails(&format!("{cluster} --predict hole.csv --predicted p.csv"), &hole);
    folder.fails("predict x.csv x.csv", &["x.csv", "not a consilience model"]);
    assert_eq!(folder.read("model.bin"), model);
    assert!(!folder.names().iter().any(|name| name == "out.csv"));
}

/// Every byte of a model matters, and every length.
#[test]
fn a_damaged_model_is_refused() {
    let folder = prepared();
    folder.ok("cluster x.csv --method consensus --clusters 4 --param members=2 --model model.bin");
    let model = folder.read("model.bin");
    let step = model.len() / 40;
    for at in (0..model.len()).step_by(step.max(1)) {
        let mut flipped = model.clone();
        flipped[at] ^= 0x20;
        folder.write("flipped.bin", &flipped);
        folder.fails("predict flipped.bin x.csv", &["flipped.bin"]);
        folder.write("short.bin", &model[..at]);
        folder.fails("predict short.bin x.csv", &["short.bin"]);
    }
    folder.write("long.bin", [&model[..], b"x"].concat());
    folder.fails("predict long.bin x.csv", &["long.bin"]);
    folder.fails("predict /dev/zero x.csv --memory 1M", &["/dev/zero", "memory budget"]);
}
