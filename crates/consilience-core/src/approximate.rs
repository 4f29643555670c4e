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
