//! Module `core`: label files become partitions, partitions are scored, and what people say about
//! pairs is kept free of contradictions.
//!
//! cargo run --example core_partitions

use consilience::scores::Scores;
use consilience::{Constraints, Ensemble, ErrorKind, Link, Partition, Result};

fn main() -> Result<()> {
    // Labels come with gaps, huge numbers and holes; what counts is who is with whom.
    let truth = Partition::from_labels(&[0, 0, 0, 1, 1, 2])?;
    let first = Partition::from_labels(&[7, 7, 7, 1_000_000, 1_000_000, -1])?;
    let second = Partition::from_labels(&[Some(1u8), Some(1), Some(0), Some(0), Some(0), None])?;
    println!("canonical: {:?} and {:?}", first.to_signed(), second.to_signed());
    assert_eq!(first, Partition::from_labels(&[0, 0, 0, 1, 1, -1])?);

    let ensemble = Ensemble::new(vec![first, second])?;
    println!("{} objects under {} base clusterings", ensemble.n_objects(), ensemble.n_members());
    for (u, member) in ensemble.members().iter().enumerate() {
        let scores = Scores::compare(member, &truth)?;
        println!("member {u}: {} labelled, {} clusters", member.n_labelled(), member.n_clusters());
        for (name, value) in scores.entries().iter().take(6) {
            println!("    {name:20} {value:.4}");
        }
        // Objects that a member leaves out do not count against it.
        assert_eq!(scores.ari == 1.0, u == 0);
    }

    // A chain of must-links and a cannot-link between its ends cannot both be right.
    let mut said = Constraints::new(ensemble.n_objects())?;
    said.add(0, 1, Link::Must)?;
    said.add(1, 2, Link::Must)?;
    said.add(2, 3, Link::Cannot)?;
    let error = said.add(3, 0, Link::Must).unwrap_err();
    println!("refused: {error}");
    assert_eq!((error.kind(), said.len()), (ErrorKind::Contradiction, 3));
    Ok(())
}

#[test]
fn runs() {
    main().unwrap();
}
