//! Comparisons of results up to rounding, for the feature `approx`.

use crate::{Dendrogram, Memberships};

/// Compares two values of a type by their numbers, where all else about them is equal: `$alike`
/// says whether it is, and `$numbers` gives the numbers in order.
#[doc(hidden)]
#[macro_export]
macro_rules! approximate {
    ($type:ty, $alike:expr, $numbers:expr) => {
        impl approx::AbsDiffEq for $type {
            type Epsilon = f64;

            fn default_epsilon() -> f64 {
                f64::EPSILON
            }

            fn abs_diff_eq(&self, other: &Self, epsilon: f64) -> bool {
                let (alike, numbers): (fn(&Self, &Self) -> bool, fn(&Self) -> Vec<f64>) =
                    ($alike, $numbers);
                alike(self, other)
                    && numbers(self)
                        .iter()
                        .zip(&numbers(other))
                        .all(|(a, b)| approx::AbsDiffEq::abs_diff_eq(a, b, epsilon))
            }
        }

        impl approx::RelativeEq for $type {
            fn default_max_relative() -> f64 {
                f64::EPSILON
            }

            fn relative_eq(&self, other: &Self, epsilon: f64, max_relative: f64) -> bool {
                let (alike, numbers): (fn(&Self, &Self) -> bool, fn(&Self) -> Vec<f64>) =
                    ($alike, $numbers);
                alike(self, other)
                    && numbers(self)
                        .iter()
                        .zip(&numbers(other))
                        .all(|(a, b)| approx::RelativeEq::relative_eq(a, b, epsilon, max_relative))
            }
        }
    };
}

approximate!(Memberships, |a, b| a.values().dim() == b.values().dim(), |m| m
    .values()
    .iter()
    .chain(m.evidence())
    .copied()
    .collect());

approximate!(
    Dendrogram,
    |a, b| {
        let pairs = a.merges().iter().zip(b.merges());
        a.n_leaves() == b.n_leaves() && pairs.map(|(a, b)| (a.nodes, b.nodes)).all(|(a, b)| a == b)
    },
    |tree| tree.merges().iter().map(|merge| merge.height).collect()
);

#[cfg(test)]
mod tests {
    use super::*;
    use approx::{assert_abs_diff_eq, assert_abs_diff_ne, assert_relative_eq, assert_relative_ne};
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
        let of = |first, height| {
            Dendrogram::from_merges(3, vec![(first, 2, 0.1), (0, 1, height)]).unwrap()
        };
        assert_abs_diff_eq!(of(0, 0.5), of(0, 0.5 + 1e-9), epsilon = 1e-8);
        assert_abs_diff_ne!(of(0, 0.5), of(0, 0.5 + 1e-7), epsilon = 1e-8);
        assert_abs_diff_ne!(of(0, 0.5), of(1, 0.5), epsilon = 1.0);
        assert_relative_eq!(of(0, 500.0), of(0, 500.0 + 1e-6), max_relative = 1e-8);
        assert_relative_ne!(of(0, 500.0), of(0, 500.0 + 1e-4), max_relative = 1e-8);
    }
}
