//! Module `graph`: good and bad clusters in one member, and what weighing them is worth.
//!
//! cargo run --example graph_local_weights

use consilience::consensus::{Lwea, Lwgp, Weac};
use consilience::graph::{
    ClusterIncidence, ensemble_driven_cluster_index, normalized_crowd_agreement,
};
use consilience::{ConsensusFunction, Ensemble, Microclusters, Partition, Result, Seed, scores};

/// Eight members that see one of three groups well and guess among the rest; two that guess
/// everywhere.
fn partial_experts() -> Result<(Ensemble, Partition)> {
    let truth = |i: usize| i as u64 / 100;
    let member = |u: u64| {
        let mut random = Seed(5).derive("member", u).stream();
        let labels: Vec<u64> = (0..300)
            .map(|i| match truth(i) {
                g if u < 8 && (g == u % 3 || random.uniform() < 0.5) => g,
                _ => 3 + random.below(2) as u64,
            })
            .collect();
        Partition::from_labels(&labels)
    };
    let ensemble = Ensemble::new((0..10).map(member).collect::<Result<_>>()?)?;
    Ok((ensemble, Partition::from_fn(300, |i| Some(truth(i)))?))
}

fn main() -> Result<()> {
    let (ensemble, truth) = partial_experts()?;
    let microclusters = Microclusters::of(&ensemble)?;
    let incidence = ClusterIncidence::of(&microclusters)?;
    println!(
        "{} objects in {} microclusters, {} clusters, {} links between them",
        ensemble.n_objects(),
        incidence.n_rows(),
        incidence.n_clusters(),
        incidence.n_entries()
    );

    let ncai = normalized_crowd_agreement(&incidence, &())?;
    let eci = ensemble_driven_cluster_index(&incidence, 0.4, &())?;
    for u in [0, 1, 9] {
        let clusters: Vec<String> = incidence
            .clusters_of_member(u)
            .map(|c| format!("{:.3} ({} objects)", eci[c], incidence.objects()[c]))
            .collect();
        println!(
            "member {u}: agreement {:.2}, its clusters' index {}",
            ncai[u],
            clusters.join(", ")
        );
    }
    assert!(ncai[9] < 0.1);

    let mut found = Vec::new();
    for (name, result) in [
        ("WEAC", Weac::new(3).consensus(&ensemble)?),
        ("LWEA", Lwea::new(3).consensus(&ensemble)?),
        ("LWGP", Lwgp::new(3).consensus(&ensemble)?),
    ] {
        let ari = scores::adjusted_rand(&result, &truth)?;
        println!("{name}: adjusted Rand index {ari:.3}");
        found.push(ari);
    }
    assert!(found[1] > 0.9 && found[2] > 0.9);
    Ok(())
}

#[test]
fn runs() {
    main().unwrap();
}
