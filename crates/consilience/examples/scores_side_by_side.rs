//! Module `scores`: what different scores say of the same mistakes.
//!
//! cargo run --example scores_side_by_side

use consilience::scores::{
    Normalizer, Scores, adjusted_rand, average_nmi, jensen_shannon, normalized_mutual_information,
};
use consilience::{Ensemble, Memberships, Partition, Result, Seed};

/// Ninety letters in three piles.
fn truth() -> Result<Partition> {
    Partition::from_fn(90, |letter| Some(letter as u64 / 30))
}

fn main() -> Result<()> {
    let truth = truth()?;
    let mut random = Seed(2).stream();
    let slips: Vec<usize> =
        (0..90).map(|i| if random.below(10) == 0 { random.below(3) } else { i / 30 }).collect();
    let results = [
        ("a tenth slipped", Partition::from_labels(&slips)?),
        ("two piles joined", Partition::from_fn(90, |i| Some(i as u64 / 30 / 2))?),
        ("a pile cut in two", Partition::from_fn(90, |i| Some((i as u64 / 15).max(1)))?),
        ("at random", Partition::from_fn(90, |i| Some((i * 7 % 3) as u64))?),
    ];
    println!("{:<18} {:>6} {:>6} {:>6} {:>6} {:>6}", "", "ARI", "AMI", "NMI", "purity", "VI");
    for (name, found) in &results {
        let s = Scores::compare(found, &truth)?;
        println!(
            "{name:<18} {:>6.3} {:>6.3} {:>6.3} {:>6.3} {:>6.3}",
            s.ari, s.ami, s.nmi_max, s.purity, s.vi
        );
    }
    // Purity does not mind a pile cut in two, adjusted scores of a random result are about 0.
    let purity = |at: usize| Scores::compare(&results[at].1, &truth).map(|s| s.purity);
    assert_eq!(purity(2)?, 1.0);
    assert!(adjusted_rand(&results[3].1, &truth)?.abs() < 0.05);

    // The names of clusters do not matter; unlabelled letters are left out.
    let named = Partition::from_fn(90, |i| (i > 9).then_some([7, 5, 6][i / 30]))?;
    assert_eq!(adjusted_rand(&named, &truth)?, 1.0);

    // By what entropies are divided changes the score.
    for by in [Normalizer::Max, Normalizer::Arithmetic, Normalizer::Min] {
        let nmi = normalized_mutual_information(&results[1].1, &truth, by)?;
        println!("two piles joined, NMI by {by:?}: {nmi:.3}");
    }

    // Without the truth: how well a result agrees with the members it was made of.
    let members = results.iter().take(3).map(|(_, p)| p.clone()).collect();
    let anmi = average_nmi(&truth, &Ensemble::new(members)?, Normalizer::Sqrt)?;
    println!("the truth agrees with three of the results by {anmi:.3} on average");

    // Memberships beside memberships.
    let (a, b) = (Memberships::from(&truth), Memberships::from(&results[0].1));
    let apart = jensen_shannon(&a, &b)?;
    println!("memberships differ by {apart:.3}");
    assert!(apart > 0.0 && jensen_shannon(&a, &a)? < 1e-9);
    Ok(())
}

#[test]
fn runs() {
    main().unwrap();
}
