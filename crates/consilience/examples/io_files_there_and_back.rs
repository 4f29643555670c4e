//! Module `io` (feature `io`): labels, features, links and answers from files, results to files.
//!
//! cargo run --example io_files_there_and_back --features io

use std::fs;

use consilience::crowd::{Answers, PairAnswer};
use consilience::generate::{Generator, KMeans};
use consilience::prelude::*;
use consilience::trust::Recommended;
use consilience::{Link, Result, Seed, io};

fn main() -> Result<()> {
    let folder = std::env::temp_dir().join(format!("consilience-tour-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder for temporary files");
    let at = |name: &str| folder.join(name);

    // A table of features, as a spreadsheet writes it.
    let mut random = Seed(7).stream();
    let mut text = String::from("height,weight\n");
    for i in 0..60 {
        let (height, weight) = if i < 30 { (1.2, 30.0) } else { (1.8, 80.0) };
        let row = (height + 0.05 * random.normal(), weight + 3.0 * random.normal());
        text.push_str(&format!("{:.2},{:.1}\n", row.0, row.1));
    }
    fs::write(at("people.csv"), &text).expect("a file that can be written");
    let features = io::read_features(at("people.csv"))?;

    // Clusterings go out as one column each, and come back equal in any format.
    let ensemble =
        Generator::new(KMeans::new()).members(8).clusters(2..=5).generate(features.view())?;
    for name in ["pool.csv", "pool.npy", "pool.parquet"] {
        io::write_ensemble(at(name), &ensemble)?;
        assert_eq!(io::read_ensemble(at(name))?, ensemble);
        let bytes = fs::metadata(at(name)).map_or(0, |file| file.len());
        println!("{name:12} {bytes:5} bytes");
    }
    let consensus = Recommended::new(2).consensus(&io::read_ensemble(at("pool.npy"))?)?;
    io::write_labels(at("consensus.csv"), &consensus)?;
    assert_eq!(io::read_labels(at("consensus.csv"))?.sizes(), [30, 30]);

    // Links and answers are rows with names.
    fs::write(at("links.csv"), "i,j,link\n0,1,must\n1,45,cannot\n").expect("a file");
    let links = io::read_constraints(at("links.csv"), ensemble.n_objects())?;
    assert_eq!(links.relation(0, 45), Some(Link::Cannot));
    fs::write(at("answers.csv"), "worker,i,j,same\nann,0,1,yes\nbob,0,45,no\n").expect("a file");
    let table = io::read_answers(at("answers.csv"))?;
    let rows: Vec<PairAnswer> = table
        .rows()
        .iter()
        .map(|&[worker, i, j, same]| PairAnswer { worker, i, j, same: same == 1 })
        .collect();
    let answers = Answers::from_pairs(60, &rows)?;
    println!("{} answers, the first of {}", answers.n_pair_answers(), table.worker(0));

    // A mistake in a file is named with its place.
    fs::write(at("people.csv"), text.replacen("1.", "tall", 1)).expect("a file");
    let error = io::read_features(at("people.csv")).map(|_| ()).unwrap_err();
    println!("{}", error.message().replace(&folder.display().to_string(), ""));
    assert!(error.message().contains("height"));
    fs::remove_dir_all(&folder).expect("a folder that can be removed");
    Ok(())
}

#[test]
fn runs() {
    main().unwrap();
}
