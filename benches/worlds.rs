//! Ensembles of known size that the benches share.

use consilience::{Ensemble, Partition, Seed};

/// An ensemble of `objects` under `members` base clusterings with about `nodes` microclusters of
/// very unequal sizes: `nodes` prototypes follow ten planted blocks with noise, objects copy a
/// prototype.
pub(crate) fn copies(objects: usize, members: usize, nodes: usize) -> Ensemble {
    let mut s = Seed(1).stream();
    let prototypes: Vec<Vec<u8>> = (0..members)
        .map(|_| {
            (0..nodes)
                .map(|g| {
                    if s.uniform() < 0.35 {
                        s.below(20) as u8
                    } else {
                        (g % 10) as u8 * 2 + s.below(2) as u8
                    }
                })
                .collect()
        })
        .collect();
    // Squaring a uniform number makes early prototypes popular and late ones rare.
    let of_object: Vec<usize> = (0..objects)
        .map(|i| if i < nodes { i } else { (s.uniform().powi(2) * nodes as f64) as usize })
        .collect();
    let members = prototypes
        .iter()
        .map(|p| Partition::from_fn(objects, |i| Some(u64::from(p[of_object[i]]))).unwrap())
        .collect();
    Ensemble::new(members).unwrap()
}

/// An ensemble in which nearly every object is its own microcluster: members cut noisy positions on
/// a line of blocks into `clusters` pieces each.
pub(crate) fn scattered(objects: usize, members: usize, clusters: usize) -> Ensemble {
    let mut s = Seed(2).stream();
    let position: Vec<f64> =
        (0..objects).map(|_| (s.below(20) as f64 + 0.5 + 0.2 * s.normal()) / 20.0).collect();
    let members = (0..members)
        .map(|_| {
            let (shift, jitter) = (s.uniform(), 0.01);
            let labels: Vec<u32> = position
                .iter()
                .map(|x| {
                    ((x + shift + jitter * s.normal()).rem_euclid(1.0) * clusters as f64) as u32
                })
                .collect();
            Partition::from_labels(&labels).unwrap()
        })
        .collect();
    Ensemble::new(members).unwrap()
}
