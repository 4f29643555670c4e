//! Values that are equal but for rounding.

/// Values that differ by no more than this share of the numbers that they were computed from are
/// equal but for rounding.
pub const EQUAL: f64 = 1e-9;

/// Index of the first of the largest values; 0 where there is none. `scale` is the size of the
/// numbers that they are differences or means of: by their last bits a tie would be decided anyhow.
pub fn first_largest(values: impl Iterator<Item = f64> + Clone, scale: f64) -> usize {
    let largest = values.clone().fold(f64::NEG_INFINITY, f64::max);
    // Infinite values less an infinite tolerance would be no number.
    let least = largest - EQUAL * scale.min(f64::MAX);
    values.into_iter().position(|v| v >= least).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounding_decides_no_tie() {
        let first = |values: &[f64], scale| first_largest(values.iter().copied(), scale);
        let thirds = [1.0 / 3.0, 2.0 / 3.0 - 1.0 / 3.0, 1.0 - 2.0 / 3.0];
        assert!(thirds.iter().any(|&v| v > thirds[0]));
        assert_eq!(first(&thirds, 1.0), 0);
        // The same in another unit.
        assert_eq!(first(&thirds.map(|v| v * 1e12), 1e12), 0);
        assert_eq!(first(&thirds.map(|v| v * 1e-12), 1e-12), 0);
        assert_eq!(first(&[0.1, 0.3, 0.2, 0.3], 1.0), 1);
        assert_eq!(first(&[0.1, 0.1 + 1e-8], 1.0), 1);
        assert_eq!(first(&[0.1, f64::INFINITY], f64::INFINITY), 1);
        assert_eq!(first(&[], 1.0), 0);
    }
}
