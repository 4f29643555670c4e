//! Module `report`: one page about a consensus, with what stands on it as numbers.
//!
//! cargo run --example report_one_page --features report

use consilience::catalogue::{self, Settings};
use consilience::generate::{Generator, KMeans, Scale};
use consilience::ndarray::Array2;
use consilience::report::ClusteringReport;
use consilience::{Clusters, Partition, Result, Seed};

/// Flowers of three kinds, by the length and the width of a petal and by the hour of the day.
fn flowers() -> (Array2<f64>, Vec<u32>) {
    let mut random = Seed(4).stream();
    let kinds: Vec<u32> = (0..120).map(|i| i / 40).collect();
    let x = Array2::from_shape_fn((120, 3), |(i, j)| match j {
        0 => [1.5, 4.2, 5.6][kinds[i] as usize] + 0.3 * random.normal(),
        1 => [0.2, 1.3, 2.1][kinds[i] as usize] + 0.15 * random.normal(),
        _ => 24.0 * random.uniform(),
    });
    (x, kinds)
}

fn main() -> Result<()> {
    let (x, kinds) = flowers();
    let ensemble = Generator::new(KMeans::new())
        .members(20)
        .clusters(2..=6)
        .feature_fraction(0.7)
        .scale(Scale::ZScore)
        .generate(&x)?;
    // The first method gives the answer, the others stand beside it.
    let settings = Settings::new(Clusters::Auto).seed(Seed(1));
    let methods = ["auto", "pta-al", "mcla"]
        .map(|name| catalogue::by_name(name).and_then(|method| method.candidate(&settings)));
    let truth = Partition::from_labels(&kinds)?;
    let findings = ClusteringReport::new(&ensemble)
        .title("Flowers")
        .methods(methods.into_iter().collect::<Result<_>>()?)
        .cluster_range(2..=8)
        .features(&x)
        .feature_names(["length", "width", "hour"])
        .truth(&truth)
        .run(&())?;

    let answer = &findings.answer;
    println!("{} clusters by {}: {}", answer.clusters, answer.method, answer.verdict);
    for cluster in &findings.clusters {
        println!("{} flowers, confidence {:.2}", cluster.objects, cluster.confidence);
    }
    for method in &findings.methods.candidates {
        println!("{}: agrees with the members by {:?}", method.name, method.with_members);
    }
    for (cluster, effects) in findings.features.iter().flat_map(|f| &f.effects).enumerate() {
        println!("cluster {cluster} stands out by its {}", effects[0].name);
        assert_ne!(effects[0].name, "hour");
    }

    // The page is one file without any other; the same numbers are JSON.
    let (page, numbers) = (findings.html(), findings.json());
    println!("a page of {} kB, {} kB of numbers", page.len() / 1000, numbers.len() / 1000);
    assert!(page.contains("Flowers") && numbers.starts_with('{'));
    Ok(())
}

#[test]
fn runs() {
    main().unwrap();
}
