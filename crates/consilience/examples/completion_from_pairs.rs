//! Module `completion`: a few pairs, some of them wrong, determine all others, since the matrix of
//! a clustering has low rank.
//!
//! cargo run --example completion_from_pairs

use consilience::completion::{Mccc, ObservedPairs, Penalty, RobustCompletion};
use consilience::ndarray::Array2;
use consilience::prelude::*;
use consilience::{Constraints, Features, Pair, Result, Seed, SideInformation};

const N: usize = 90;

fn class(i: usize) -> usize {
    i % 3
}

fn main() -> Result<()> {
    // Somebody has looked at 40 per cent of the pairs, and was wrong on one in twenty.
    let mut random = Seed(1).stream();
    let mut known = Vec::new();
    let mut wrong = 0;
    for (i, j) in (0..N).flat_map(|i| (0..i).map(move |j| (i, j))) {
        if random.uniform() < 0.4 {
            let mistaken = random.uniform() < 0.05;
            wrong += usize::from(mistaken);
            known.push((i, j, f64::from(u8::from((class(i) == class(j)) != mistaken))));
        }
    }
    known.extend((0..N).map(|i| (i, i, 1.0)));
    let completed = RobustCompletion::new()
        .penalty(Penalty::Scaled(1.0))
        .complete(&ObservedPairs::new(N, &known)?)?;
    let right = (0..N)
        .flat_map(|i| (0..i).map(move |j| (i, j)))
        .filter(|&(i, j)| (completed.entry(i, j) > 0.5) == (class(i) == class(j)))
        .count();
    let pairs = N * (N - 1) / 2;
    println!("{} known entries, {wrong} of them wrong; rank {}", known.len(), completed.rank());
    println!("{right} of all {pairs} pairs are right after completion");
    assert!(completed.rank() == 3 && right == pairs);

    // With features, links on some objects are enough to place all, and new ones too.
    let x = Array2::from_shape_fn((N, 3), |(i, j)| match j {
        0 => 9.0 * random.normal(), // wide, and says nothing
        j => f64::from(u8::from(class(i) == j)) + 0.1 * random.normal(),
    });
    let mut links = Constraints::new(N)?;
    for i in 0..30 {
        links.extend(&[Pair::must_link(i, i + 3), Pair::cannot_link(i, i + 4)])?;
    }
    let side = SideInformation::from_constraints(&links);
    let found = Mccc::new(3).seed(Seed(1)).cluster(Features::from(&x), &side)?;
    println!("{} links, clusters of {:?} objects", links.len(), found.partition.sizes());
    assert!(found.partition.iter().enumerate().all(|(i, c)| c == Some(class(i))));
    let new = Array2::from_shape_fn((1, 3), |(_, j)| [30.0, 0.0, 1.0][j]);
    assert_eq!(found.assign(&new)?, [2]);
    Ok(())
}

#[test]
fn runs() {
    main().unwrap();
}
