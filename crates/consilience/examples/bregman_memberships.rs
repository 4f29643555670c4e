//! Module `bregman`: soft memberships whose inner products predict how often two objects are
//! together, in at most K clusters, and what can be read from them.
//!
//! cargo run --example bregman_memberships

use consilience::bregman::{Pcc, Solver, centroids, cluster_relations, surviving_clusters};
use consilience::generate::{Generator, KMeans};
use consilience::ndarray::Array2;
use consilience::{ConsensusFunction, Ensemble, Features, Result, Seed};

/// Three clouds in the plane; every tenth point lies half way between the first two.
fn points() -> Array2<f64> {
    let mut random = Seed(5).stream();
    let centres = [[0.0, 0.0], [8.0, 0.0], [4.0, 30.0]];
    Array2::from_shape_fn((150, 2), |(i, j)| {
        let centre = if between(i) { [4.0, 0.0] } else { centres[i % 3] };
        centre[j] + random.normal()
    })
}

fn between(i: usize) -> bool {
    i % 10 == 9
}

fn members(x: &Array2<f64>) -> Result<Ensemble> {
    let generator = Generator::new(KMeans::new()).members(60).clusters(3..=4).object_fraction(0.5);
    generator.seed(Seed(1)).generate(x)
}

fn main() -> Result<()> {
    let x = points();
    let ensemble = members(&x)?;

    // Six clusters are allowed; the evidence needs fewer.
    let fit = Pcc::new(6).seed(Seed(2)).fit(&ensemble, &())?;
    let soft = fit.output;
    let left = surviving_clusters(&soft);
    println!("{} of 6 clusters survive after {} sweeps", left.len(), fit.report.iterations);
    println!("{}", fit.report.notes.join("; "));
    assert!(left.len() < 6);

    let entropy = soft.entropy();
    let mean = |of: bool| {
        let of: Vec<f64> = (0..150).filter(|&i| between(i) == of).map(|i| entropy[i]).collect();
        of.iter().sum::<f64>() / of.len() as f64
    };
    println!("mean entropy: {:.2} bits in a cloud, {:.2} between two", mean(false), mean(true));
    assert!(mean(true) > mean(false));

    let relations = cluster_relations(&soft, 0.05)?;
    let centres = centroids(&soft, Features::from(&x))?;
    for &c in &left {
        let shares: Vec<String> =
            left.iter().map(|&l| format!("{:.2}", relations[[c, l]])).collect();
        println!("cluster at {:.1} shares {}", centres.row(c), shares.join(" "));
    }

    // The paper's own solver ends at the same optimum.
    let paper = Pcc::new(6).seed(Seed(2)).solver(Solver::LineSearch).max_iterations(1_000_000);
    let paper = paper.fit(&ensemble, &())?.report;
    let (sweeps, steps) = (fit.report.iterations, paper.iterations);
    let [a, b] = [&fit.report, &paper].map(|report| report.objective.unwrap_or(f64::NAN));
    println!("objective {a:.4} in {sweeps} sweeps, {b:.4} in {steps} line searches");
    assert!((a - b).abs() < 1e-3 * a);
    Ok(())
}

#[test]
fn runs() {
    main().unwrap();
}
