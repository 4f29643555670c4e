//! Module `num`: a graph in twenty pieces has the eigenvalue 1 twenty times, and a truncated
//! eigensolver that misses copies of it would cut the graph in the wrong places.
//!
//! cargo run --example num_eigenpairs

use consilience::ndarray::{ArrayView2, ArrayViewMut2};
use consilience::num::eigen::{SymmetricOperator, TruncatedOptions, truncated_eigen};
use consilience::num::sparse::Csr;

/// The normalised adjacency of rings, each a connected piece of its own; known by its products
/// only.
struct Rings(Csr);

impl Rings {
    fn new(rings: usize, around: usize) -> Self {
        let row = |i: usize| {
            let (ring, at) = (i / around * around, i % around);
            let mut ends =
                [(at + 1) % around, (at + around - 1) % around].map(|a| ((ring + a) as u32, 0.5));
            ends.sort_by_key(|&(j, _)| j);
            ends.to_vec()
        };
        Rings(Csr::from_rows(rings * around, (0..rings * around).map(row)))
    }
}

impl SymmetricOperator for Rings {
    fn dim(&self) -> usize {
        self.0.n_rows()
    }

    fn apply(&self, x: ArrayView2<'_, f64>, mut y: ArrayViewMut2<'_, f64>) {
        let width = x.ncols();
        if let (Some(x), Some(y)) = (x.as_slice(), y.as_slice_mut()) {
            self.0.multiply(x, y, width);
        }
    }
}

fn main() {
    let graph = Rings::new(20, 30);
    let top = truncated_eigen(&graph, &TruncatedOptions::new(22));
    for (value, residual) in top.values.iter().zip(&top.residuals).skip(16) {
        println!("{value:.12}  |A v - lambda v| = {residual:.1e}");
    }
    println!(
        "the last six of {}; converged: {} after {} block products",
        top.values.len(),
        top.converged,
        top.iterations
    );
    assert!(top.converged);
    assert!(top.values[..20].iter().all(|v| (v - 1.0).abs() < 1e-9), "one for each ring");
    // The next one belongs to a wave that goes once around a ring.
    assert!((top.values[20] - (std::f64::consts::TAU / 30.0).cos()).abs() < 1e-6);
}

#[test]
fn runs() {
    main();
}
