//! From features to clusters in one call, and new objects later: how sure, and what is like nothing
//! seen before.
//!
//! `cargo run --example model_new_objects`

use consilience::Seed;
use consilience::generate::{Generator, KMeans, Scale};
use consilience::model::{ConsensusClustering, ConsensusModel};
use consilience::ndarray::{Array2, array};

fn main() -> Result<(), consilience::Error> {
    // Three clouds; the second feature has a scale of its own.
    let mut stream = Seed(1).stream();
    let mut cloud = |n: usize| {
        Array2::from_shape_fn((n, 2), |(i, j)| {
            let middle = [[0.0, 0.0], [6.0, 0.0], [3.0, 6.0]][i % 3][j];
            (middle + stream.normal()) * if j == 0 { 1.0 } else { 100.0 }
        })
    };
    let (x, new) = (cloud(600), cloud(300));

    let members = Generator::new(KMeans::new()).members(30).clusters(3..=12).scale(Scale::ZScore);
    let model: ConsensusModel = ConsensusClustering::new(3).generator(members).cluster(&x)?;
    println!("clusters of {:?} objects", model.partition().sizes());
    println!("{}", model.diagnostics()?.sentences.join("\n"));

    let placed = model.place(&new)?;
    let right = (0..300).filter(|&i| model.partition().label(i % 3) == Some(placed.labels[i]));
    println!("{} of 300 new objects are in the cluster of their cloud", right.count());
    let unsure = placed.confidence.iter().filter(|&&sure| sure < 0.6).count();
    println!("{unsure} of them lie so far between clusters that less than 60 % of the votes agree");

    // What is like nothing seen gets a label too, and is told.
    let odd = array![[3.0, 200.0], [40.0, -900.0]];
    let placed = model.place(&odd)?;
    println!(
        "outside of everything seen: {:?}, distances {:.1?}",
        placed.outside(),
        placed.distance
    );
    assert_eq!(placed.outside(), [1]);
    println!("votes for each cluster:\n{:.2}", model.memberships(&odd)?);
    Ok(())
}
