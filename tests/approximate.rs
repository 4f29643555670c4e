//! The traits of the crate `approx` on what holds numbers.

use approx::{assert_abs_diff_eq, assert_abs_diff_ne, assert_relative_eq, assert_relative_ne};
use consilience::metric::LinearMap;
use consilience::{Dendrogram, Memberships};
use ndarray::array;

#[test]
fn memberships_of_one_shape_are_compared_by_their_numbers() {
    let of = |p: f64| Memberships::new(array![[1.0 - p, p], [p, 1.0 - p]]).unwrap();
    assert_abs_diff_eq!(of(0.1), of(0.1 + 1e-9), epsilon = 1e-8);
    assert_abs_diff_ne!(of(0.1), of(0.1 + 1e-7), epsilon = 1e-8);
    assert_relative_eq!(of(0.1), of(0.1 + 1e-9), max_relative = 1e-7);
    assert_relative_ne!(of(0.1), of(0.1 + 1e-9), max_relative = 1e-9);
    let more = Memberships::new(array![[0.9, 0.1]]).unwrap();
    assert_abs_diff_ne!(of(0.1), more, epsilon = 1.0);
    let doubted = Memberships::with_evidence(of(0.1).values().to_owned(), vec![1.0, 2.0]);
    assert_abs_diff_ne!(of(0.1), doubted.unwrap(), epsilon = 0.5);
}

#[test]
fn trees_of_one_shape_are_compared_by_their_heights() {
    let of =
        |first, height| Dendrogram::from_merges(3, vec![(first, 2, 0.1), (0, 1, height)]).unwrap();
    assert_abs_diff_eq!(of(0, 0.5), of(0, 0.5 + 1e-9), epsilon = 1e-8);
    assert_abs_diff_ne!(of(0, 0.5), of(0, 0.5 + 1e-7), epsilon = 1e-8);
    assert_abs_diff_ne!(of(0, 0.5), of(1, 0.5), epsilon = 1.0);
    assert_relative_eq!(of(0, 500.0), of(0, 500.0 + 1e-6), max_relative = 1e-8);
    assert_relative_ne!(of(0, 500.0), of(0, 500.0 + 1e-4), max_relative = 1e-8);
}

#[test]
fn maps_of_one_shape_are_compared_by_their_numbers() {
    let of = |l: f64| LinearMap::from_diagonal(&[1.0, l]).unwrap();
    assert_abs_diff_eq!(of(2.0), of(2.0 + 1e-9), epsilon = 1e-8);
    assert_abs_diff_ne!(of(2.0), of(2.0 + 1e-7), epsilon = 1e-8);
    assert_relative_ne!(of(2.0), of(2.0 + 1e-7), max_relative = 1e-8);
    // The same map, but not the same form of it.
    let matrix = LinearMap::from_matrix(array![[1.0, 0.0], [0.0, 2.0]]).unwrap();
    assert_abs_diff_ne!(of(2.0), matrix, epsilon = 1.0);
}
