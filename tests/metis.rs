//! Cuts of graphs by METIS.

use consilience::graph::MetisCut;
use consilience::prelude::*;
use consilience::{ErrorKind, Grouping, MemoryBudget, Seed, SimilarityGraph};
use ndarray::Array2;

fn graph(n: usize, weight: impl Fn(usize, usize) -> f64) -> SimilarityGraph {
    let nodes = Grouping::new((0..n as u32).collect::<Vec<_>>(), n).unwrap();
    SimilarityGraph::new(nodes, Array2::from_shape_fn((n, n), |(i, j)| weight(i.min(j), i.max(j))))
        .unwrap()
}

#[test]
fn blocks_are_found_and_balanced() {
    for k in [2, 5, 12] {
        let blocks = graph(120, |i, j| if i % k == j % k { 1.0 } else { 0.001 });
        let fit = MetisCut::new(k).fit(blocks, &()).unwrap();
        assert_eq!(
            fit.output.to_signed(),
            (0..120).map(|i| (i % k) as i64).collect::<Vec<_>>(),
            "{k}"
        );
    }
}

#[test]
fn hostile_graphs_come_back() {
    let weights: [fn(usize, usize) -> f64; 4] = [
        |_, _| 0.0,
        |_, _| f64::MAX,
        |i, j| if i + 1 == j { 5e-324 } else { 0.0 },
        |i, _| i as f64,
    ];
    for weight in weights {
        for n in 1..9 {
            for k in 1..10 {
                let fit = MetisCut::new(k).fit(graph(n, weight), &()).unwrap();
                assert!(fit.output.n_clusters() <= k.min(n) && fit.output.is_complete());
            }
        }
    }
}

#[test]
fn parameters_and_seeds() {
    let noise = |i: usize, j: usize| ((i * 31 + j * 17) % 101) as f64;
    for bad in
        [MetisCut::new(0), MetisCut::new(2).imbalance(f64::NAN), MetisCut::new(2).imbalance(0.0)]
    {
        let e = bad.fit(graph(4, noise), &()).unwrap_err();
        assert_eq!(e.kind(), ErrorKind::InvalidParameter);
    }
    let small = MetisCut::new(2).memory_budget(MemoryBudget::bytes(8));
    assert_eq!(small.fit(graph(4, noise), &()).unwrap_err().kind(), ErrorKind::TooLarge);
    let cut = |seed| MetisCut::new(6).seed(Seed(seed)).fit(graph(90, noise), &()).unwrap().output;
    assert_eq!(cut(1), cut(1));
    assert!((2..12).any(|seed| cut(seed) != cut(1)), "no seed is heard");
}
