//! A consensus clustering labels objects that it has not seen: on the feature sets, where they are.

use consilience::generate::{Generator, KMeans, Scale, Spectral};
use consilience::model::ConsensusClustering;
use consilience::ndarray::Axis;
use consilience::scores::adjusted_rand;
use consilience::{Partition, Seed};

use few_labels::{Data, SETS};

#[allow(dead_code)]
#[path = "reference/few_labels.rs"]
mod few_labels;

/// Every third object is new.
fn split(n: usize) -> (Vec<usize>, Vec<usize>) {
    (0..n).partition(|i| i % 3 != 0)
}

#[test]
fn objects_keep_their_clusters_and_new_ones_find_theirs() {
    let mut worst = 1.0f64;
    let (mut placed_well, mut together) = (0.0, 0.0);
    let mut sets = 0.0;
    for set in &SETS {
        let Some(data) = Data::read(set.name) else { continue };
        let k = data.truth.n_clusters();
        let members = |u: u64| match u {
            0 => Generator::new(KMeans::new()).scale(Scale::ZScore),
            _ => Generator::new(Spectral::new()).members(10).clusters(k..=3 * k),
        };
        for kind in 0..2 {
            let method = || ConsensusClustering::new(k).generator(members(kind)).seed(Seed(1));
            let whole = method().cluster(&data.x).unwrap();
            let again = whole.place(&data.x).unwrap();
            let own = |&i: &usize| whole.partition().label(i) == Some(again.labels[i]);
            let share =
                (0..again.labels.len()).filter(own).count() as f64 / again.labels.len() as f64;
            worst = worst.min(share);

            let (seen, new) = split(data.x.nrows());
            let model = method().cluster(&data.x.select(Axis(0), &seen)).unwrap();
            let placed = model.place(&data.x.select(Axis(0), &new)).unwrap();
            let found = Partition::from_fn(new.len(), |i| Some(placed.labels[i] as u64)).unwrap();
            let truth = data.truth.select(&new).unwrap();
            let score = adjusted_rand(&found, &truth).unwrap();
            let all = adjusted_rand(&whole.partition().select(&new).unwrap(), &truth).unwrap();
            println!(
                "{:14} {} given back {share:.4}, tied {}, outside {} of {}; new {score:.3}, with \
                 them {all:.3}",
                set.name,
                ["k-means ", "spectral"][kind as usize],
                again.tied.len(),
                placed.outside().len(),
                new.len(),
            );
            placed_well += score;
            together += all;
            sets += 1.0;
        }
    }
    if sets == 0.0 {
        return;
    }
    println!(
        "mean: new {:.3}, clustered with the others {:.3}",
        placed_well / sets,
        together / sets
    );
    assert!(worst >= 0.99, "{worst}");
    assert!(placed_well / sets > together / sets - 0.05);
}
