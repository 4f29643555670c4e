//! Module `trust`: how many clusters, which method, and which objects and members to doubt, all
//! without any truth.
//!
//! cargo run --example trust_how_many_how_sure

use consilience::prelude::*;
use consilience::trust::{ClusterNumber, Diagnostics, Recommended};
use consilience::{Ensemble, Partition, Result, Seed};

/// Nine clusterings of 100 objects into four groups, a tenth of the labels wrong. The last ten
/// objects are between the first two groups, and the ninth member labels at random.
fn members() -> Result<Ensemble> {
    let member = |u: u64| {
        let mut random = Seed(2).derive("member", u).stream();
        let labels: Vec<usize> = (0..100)
            .map(|i| {
                let group = if i >= 90 { random.below(2) } else { i % 4 };
                if u == 8 || random.uniform() < 0.1 { random.below(4) } else { group }
            })
            .collect();
        Partition::from_labels(&labels)
    };
    Ensemble::new((0..9).map(member).collect::<Result<_>>()?)
}

fn main() -> Result<()> {
    let ensemble = members()?;

    // Five criteria, each with a warning where it should not be trusted.
    let table = ClusterNumber::new().up_to(8).seed(Seed(1)).choose(&ensemble)?;
    for criterion in &table.criteria {
        let warning = criterion.warning.as_deref().unwrap_or("no warning");
        println!("{:10} {} clusters; {warning}", criterion.name, criterion.clusters);
    }
    println!("recommended: {} clusters", table.recommended);
    assert_eq!(table.recommended, 4);

    let fit = Recommended::new(table.recommended).seed(Seed(1)).fit(&ensemble, &())?;
    println!("{}", fit.report.notes[0]);

    let trust = Diagnostics::of(&ensemble, &fit.output)?;
    println!("{}", trust.sentences.join("\n"));
    assert_eq!(trust.dissenters, [8]);

    for (number, cluster) in trust.clusters.iter().enumerate() {
        let stability = cluster.stability.unwrap_or(0.0);
        println!("cluster {number}: {} objects, stability {stability:.2}", cluster.objects);
    }
    let mean = |objects: std::ops::Range<usize>| {
        trust.confidence[objects.clone()].iter().sum::<f64>() / objects.len() as f64
    };
    println!(
        "confidence of clear objects {:.2}, of the ten between {:.2}",
        mean(0..90),
        mean(90..100)
    );
    assert!(mean(90..100) < mean(0..90) - 0.1);
    Ok(())
}

#[test]
fn runs() {
    main().unwrap();
}
