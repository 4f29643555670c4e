//! Module `consensus`: votes count labels, co-association counts pairs. Votes are simple and good
//! where members have the clusters that are asked for; pairs also work where members split every
//! class into many pieces.
//!
//! cargo run --example consensus_votes_and_pairs

use consilience::consensus::{EvidenceAccumulation, LeastSquares, Voting};
use consilience::prelude::*;
use consilience::scores::adjusted_rand;
use consilience::{Ensemble, Partition, Result, Seed};

const CLASSES: usize = 3;

/// Ten members over 90 objects of three classes: a fifth of the labels is wrong, and each class
/// is split into so many pieces, by another rule in each member.
fn members(pieces: usize) -> Result<Ensemble> {
    let member = |u: u64| {
        let mut random = Seed(3).derive("member", u).stream();
        let labels: Vec<usize> = (0..90)
            .map(|i| {
                let wrong = random.uniform() < 0.2;
                let class = if wrong { random.below(CLASSES) } else { i / 30 };
                // Members have names of their own for the classes.
                (class + u as usize) % CLASSES * pieces + random.below(pieces)
            })
            .collect();
        Partition::from_labels(&labels)
    };
    Ensemble::new((0..10).map(member).collect::<Result<_>>()?)
}

fn main() -> Result<()> {
    let truth = Partition::from_fn(90, |i| Some(i as u64 / 30))?;
    println!("pieces per class   votes   co-association   (adjusted Rand index)");
    for pieces in [1, 10] {
        let ensemble = members(pieces)?;
        let votes = adjusted_rand(&Voting::new(CLASSES).consensus(&ensemble)?, &truth)?;
        let pairs = EvidenceAccumulation::new(CLASSES).consensus(&ensemble)?;
        let pairs = adjusted_rand(&pairs, &truth)?;
        println!("{pieces:16} {votes:7.2} {pairs:16.2}");
        if pieces == 1 {
            assert!(votes > 0.9 && pairs > 0.9);
        } else {
            assert!(pairs > 0.8 && pairs > votes + 0.2);
        }
    }

    // Soft votes: the share of members that put each object into each cluster.
    let ensemble = members(1)?;
    let soft = LeastSquares::new(CLASSES).consensus(&ensemble)?;
    let hard = soft.hard()?;
    let entropy = soft.entropy();
    let doubtful = (0..90).max_by(|&a, &b| entropy[a].total_cmp(&entropy[b])).unwrap_or(0);
    println!("object {doubtful} is the most doubtful: shares {:.2}", soft.values().row(doubtful));
    // Label j of the hard clustering is column j of the soft one.
    let label = hard.label(doubtful).unwrap_or(0);
    assert!(soft.values().row(doubtful).iter().all(|&p| p <= soft.values()[[doubtful, label]]));
    assert!(adjusted_rand(&hard, &truth)? > 0.95);
    Ok(())
}

#[test]
fn runs() {
    main().unwrap();
}
