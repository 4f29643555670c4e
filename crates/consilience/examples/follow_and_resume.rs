//! Module `follow`: an updater learns from links, batch by batch, is stored, and goes on elsewhere
//! as if it had never stopped.
//!
//! cargo run --example follow_and_resume

use consilience::follow::Updater;
use consilience::generate::{Generator, KMeans};
use consilience::ndarray::Array2;
use consilience::{Ensemble, ErrorKind, Pair, Partition, Result, Seed, scores};

/// Six lumps in the plane; two of them make up each of three classes.
fn class(i: usize) -> usize {
    i / 80
}

fn ensemble() -> Result<Ensemble> {
    let mut random = Seed(6).stream();
    let x = Array2::from_shape_fn((240, 2), |(i, j)| {
        let lump = i / 40;
        [5.0 * (lump % 2) as f64, 5.0 * (lump / 2) as f64][j] + 0.8 * random.normal()
    });
    Generator::new(KMeans::new()).members(20).clusters(6..=12).seed(Seed(1)).generate(&x)
}

/// What somebody who knows the classes answers.
fn answer(i: usize, j: usize) -> Pair {
    if class(i) == class(j) { Pair::must_link(i, j) } else { Pair::cannot_link(i, j) }
}

fn main() -> Result<()> {
    let truth = Partition::from_fn(240, |i| Some(class(i) as u64))?;
    let mut updater = Updater::new(ensemble()?, 3)?;
    let rand = |p: &Partition| scores::adjusted_rand(p, &truth);
    let start = rand(&updater.partition()?)?;
    println!("links   adjusted Rand index   read out");
    println!("    0   {start:19.2}   plain consensus");

    let mut random = Seed(9).stream();
    for _ in 0..4 {
        let pairs = (0..20).map(|_| (random.below(240), random.below(240)));
        let links: Vec<Pair> = pairs.map(|(i, j)| answer(i, j)).collect();
        updater.update(&links)?;
        let read = updater.read_out(&())?.output;
        let now = rand(&read.partition(updater.ensemble(), &())?)?;
        println!("{:5}   {now:19.2}   {}", updater.constraints().len(), read.method().name());
    }
    let found = updater.partition()?;
    assert!(rand(&found)? > start.max(0.8));

    // Bytes for a file. The members are not in them: they are given again.
    let bytes = updater.to_bytes();
    let mut resumed = Updater::from_bytes(&bytes, ensemble()?)?;
    println!("{} bytes stored, {} links resumed", bytes.len(), resumed.constraints().len());
    assert_eq!(resumed.partition()?, found);
    let more = [answer(3, 77), answer(100, 210)];
    updater.update(&more)?;
    resumed.update(&more)?;
    assert_eq!(resumed.partition()?, updater.partition()?);

    // A link that contradicts the others changes nothing.
    let (i, j) = (3, 77);
    let error = updater.update(&[Pair::cannot_link(i, j)]).unwrap_err();
    println!("{error}");
    assert_eq!(error.kind(), ErrorKind::Contradiction);
    assert_eq!(updater.partition()?, resumed.partition()?);
    Ok(())
}

#[test]
fn runs() {
    main().unwrap();
}
