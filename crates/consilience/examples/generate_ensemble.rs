//! Module `generate`: features to an ensemble. No single run of k-means can follow two rings; an
//! ensemble of many small clusters, put together again, can.
//!
//! cargo run --example generate_ensemble

use consilience::consensus::EvidenceAccumulation;
use consilience::generate::{Generator, KMeans};
use consilience::ndarray::Array2;
use consilience::scores::adjusted_rand;
use consilience::{ConsensusFunction, Linkage, Partition, Result, Seed};

/// Objects on a small ring, then as many on a large one around it.
fn rings(each: usize) -> (Array2<f64>, Partition) {
    let mut random = Seed(5).stream();
    let x = Array2::from_shape_fn((2 * each, 2), |(i, j)| {
        let radius = if i < each { 1.0 } else { 4.0 } + 0.1 * random.normal();
        let angle = std::f64::consts::TAU * (i % each) as f64 / each as f64;
        radius * if j == 0 { angle.cos() } else { angle.sin() }
    });
    let truth = Partition::from_fn(2 * each, |i| Some((i / each) as u64));
    (x, truth.expect("a ring has objects"))
}

fn main() -> Result<()> {
    let (x, truth) = rings(200);
    let alone = Generator::new(KMeans::new())
        .members(1)
        .clusters(2..=2)
        .seed(Seed(1))
        .generate(x.view())?;
    let single = adjusted_rand(&alone.members()[0], &truth)?;
    println!("k-means into 2:                 adjusted Rand index {single:.3}");

    // Members differ in their number of clusters, the objects that they see and their start.
    let ensemble = Generator::new(KMeans::new())
        .members(60)
        .clusters(15..=25)
        .object_fraction(0.8)
        .seed(Seed(1))
        .generate(x.view())?;
    let labelled: usize = ensemble.members().iter().map(Partition::n_labelled).sum();
    println!(
        "{} members, {} clusters, {labelled} labels",
        ensemble.n_members(),
        ensemble.n_clusters()
    );

    let found = EvidenceAccumulation::new(2).linkage(Linkage::Single).consensus(&ensemble)?;
    let together = adjusted_rand(&found, &truth)?;
    println!("60 runs into 15 to 25, together: adjusted Rand index {together:.3}");
    assert!(single < 0.5 && together == 1.0);
    Ok(())
}

#[test]
fn runs() {
    main().unwrap();
}
