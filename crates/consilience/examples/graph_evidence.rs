//! Module `graph`: from an ensemble to microclusters and pair counts, and from those to a tree that
//! says by itself how many clusters there are.
//!
//! cargo run --example graph_evidence

use consilience::consensus::EvidenceAccumulation;
use consilience::graph::PairCounts;
use consilience::{
    Clusters, ConsensusFunction, Ensemble, Hierarchy, MemoryBudget, Microclusters, Partition,
    Result, Seed,
};

/// Ten people sort 300 cards that belong to three piles; each misplaces some and leaves some out.
fn sorted_cards() -> Result<Ensemble> {
    let person = |p: u64| {
        let mut random = Seed(3).derive("person", p).stream();
        let labels: Vec<i64> = (0..300)
            .map(|card| match random.uniform() {
                u if u < 0.05 => -1,
                u if u < 0.15 => random.below(4) as i64,
                _ => card / 100,
            })
            .collect();
        Partition::from_labels(&labels)
    };
    Ensemble::new((0..10).map(person).collect::<Result<_>>()?)
}

fn main() -> Result<()> {
    let ensemble = sorted_cards()?;
    let microclusters = Microclusters::of(&ensemble)?;
    let largest = microclusters.sizes().iter().max().copied().unwrap_or(0);
    println!("{} cards in {} microclusters", ensemble.n_objects(), microclusters.n_nodes());
    println!("cards that all people treat alike: up to {largest}");

    let counts = PairCounts::of(&microclusters, MemoryBudget::default(), &())?;
    let node = microclusters.grouping().of_object();
    for (i, j) in [(0, 1), (0, 150), (150, 250)] {
        let (together, both) = counts.get(node[i] as usize, node[j] as usize);
        println!("cards {i} and {j}: together for {together} of {both} people");
    }

    let (_, tree) = EvidenceAccumulation::new(Clusters::Lifetime).dendrogram(&ensemble, &())?;
    let top: Vec<String> =
        tree.merges().iter().rev().take(5).map(|m| format!("{:.3}", m.height)).collect();
    println!("last merges, from the top, at {}", top.join(" "));
    let piles = tree.longest_lifetime(1.0);
    let found = EvidenceAccumulation::new(Clusters::Lifetime).consensus(&ensemble)?;
    println!("{piles} clusters persist longest, of sizes {:?}", found.sizes());
    assert_eq!((piles, found.n_clusters()), (3, 3));
    assert!(found.sizes().iter().all(|size| (95..=105).contains(size)));
    Ok(())
}

#[test]
fn runs() {
    main().unwrap();
}
