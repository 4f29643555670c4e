//! Module `graph`: one graph, many ways to cut it, and how sure a walker is of where an object
//! belongs.
//!
//! cargo run --example graph_cuts

use consilience::consensus::{Cspa, Hgpa, LinkBased, Mcla};
use consilience::scores::{Normalizer, normalized_mutual_information};
use consilience::walk::RandomWalker;
use consilience::{ConsensusFunction, Ensemble, Partition, Result, Seed};

/// 400 stars in four constellations, one of them much larger, as twelve observers draw them: each
/// sees his own number of groups, gets some stars wrong and misses some.
fn drawn_stars() -> Result<(Partition, Ensemble)> {
    let truth = |star: i64| match star {
        0..220 => 0,
        220..300 => 1,
        300..360 => 2,
        _ => 3,
    };
    let observer = |o: u64| {
        let mut random = Seed(7).derive("observer", o).stream();
        let split = random.below(3) as i64;
        let labels: Vec<i64> = (0..400)
            .map(|star| match random.uniform() {
                u if u < 0.08 => -1,
                u if u < 0.20 => random.below(4) as i64,
                // Some observers divide the constellation that they know best.
                _ if truth(star) == split => truth(star) + 4 * (star % 2),
                _ => truth(star),
            })
            .collect();
        Partition::from_labels(&labels)
    };
    let labels: Vec<i64> = (0..400).map(truth).collect();
    Ok((
        Partition::from_labels(&labels)?,
        Ensemble::new((0..12).map(observer).collect::<Result<_>>()?)?,
    ))
}

fn main() -> Result<()> {
    let (truth, ensemble) = drawn_stars()?;
    let methods: [(&str, Box<dyn ConsensusFunction<Output = Partition>>); 6] = [
        ("cspa", Box::new(Cspa::new(4))),
        ("hgpa", Box::new(Hgpa::new(4))),
        ("mcla", Box::new(Mcla::new(4))),
        ("wct-al", Box::new(LinkBased::wct(4))),
        ("srs-al", Box::new(LinkBased::srs(4))),
        ("srw", Box::new(RandomWalker::new(4))),
    ];
    for (name, method) in methods {
        let found = method.consensus(&ensemble)?;
        let nmi = normalized_mutual_information(&found, &truth, Normalizer::Max)?;
        println!("{name:7} NMI {nmi:.3}, sizes {:?}", found.sizes());
        assert!(nmi > 0.8, "{name}: {nmi}");
    }

    let soft = RandomWalker::new(4).soft().consensus(&ensemble)?;
    let entropy = soft.entropy();
    let mut stars: Vec<usize> = (0..400).collect();
    stars.sort_by(|&a, &b| entropy[b].total_cmp(&entropy[a]));
    for &star in &stars[..3] {
        println!("star {star}: chances {:.2}", soft.values().row(star));
    }
    assert!(entropy[stars[399]] < 1e-6);
    Ok(())
}

#[test]
fn runs() {
    main().unwrap();
}
