use consilience_core::{Error, ErrorKind, Result, ensure};

/// Units that make up weight 1.
pub(crate) const ONE: f64 = (1u64 << 31) as f64;

/// A point of the simplex, kept on a grid of 2^-31: sums of its entries are exact in any order, so
/// that memberships do not depend on the order of members or threads, and ties stay ties.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Weights {
    units: Vec<u32>,
    total: u64,
}

impl Weights {
    /// 1/m each.
    pub(crate) fn uniform(members: usize) -> Self {
        Self::nearest(&vec![1.0 / members.max(1) as f64; members])
    }

    /// Weights that a user gives: finite, none negative, some positive. They are divided by their
    /// sum.
    pub(crate) fn given(weights: &[f64], members: usize) -> Result<Self> {
        ensure!(weights.len() == members, shape("{} weights for {members} members", weights.len()));
        for (u, &w) in weights.iter().enumerate() {
            if !w.is_finite() {
                return Err(Error::new(ErrorKind::NonFinite, format!("weight {w} of member {u}")));
            }
            if w < 0.0 {
                return Err(Error::invalid(format!("weight {w} of member {u}; expected >= 0")));
            }
        }
        let largest = weights.iter().fold(0.0f64, |m, &w| m.max(w));
        ensure!(largest != 0.0, invalid("all weights are 0; expected a positive one"));
        let scaled: Vec<f64> = weights.iter().map(|w| w / largest).collect();
        let sum: f64 = scaled.iter().sum();
        Ok(Self::nearest(&scaled.iter().map(|w| w / sum).collect::<Vec<_>>()))
    }

    /// The grid point next to a point of the simplex.
    pub(crate) fn nearest(gamma: &[f64]) -> Self {
        let mut units: Vec<u32> =
            gamma.iter().map(|g| (g.clamp(0.0, 1.0) * ONE).round() as u32).collect();
        if units.iter().all(|&u| u == 0) {
            // So many members that the share of each is below the grid.
            units.fill(1);
        }
        Self::from_units(units)
    }

    /// Weights as they were stored.
    pub(crate) fn from_units(units: Vec<u32>) -> Self {
        let total = units.iter().map(|&u| u64::from(u)).sum();
        Weights { units, total }
    }

    pub(crate) fn units(&self) -> &[u32] {
        &self.units
    }

    /// Units of all members together.
    pub(crate) fn total(&self) -> u64 {
        self.total
    }

    pub(crate) fn gamma(&self) -> Vec<f64> {
        self.units.iter().map(|&u| f64::from(u) / self.total as f64).collect()
    }

    /// Members with any weight, ascending.
    pub(crate) fn support(&self) -> Vec<usize> {
        (0..self.units.len()).filter(|&u| self.units[u] > 0).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn given_weights_are_checked_and_normalised() {
        let w = Weights::given(&[1e300, 0.0, 3e300], 3).unwrap();
        assert_eq!(w.gamma(), [0.25, 0.0, 0.75]);
        assert_eq!(w.support(), [0, 2]);
        assert_eq!(Weights::given(&[1.0], 2).unwrap_err().kind(), ErrorKind::ShapeMismatch);
        assert_eq!(Weights::given(&[1.0, f64::NAN], 2).unwrap_err().kind(), ErrorKind::NonFinite);
        assert_eq!(
            Weights::given(&[1.0, -0.5], 2).unwrap_err().kind(),
            ErrorKind::InvalidParameter
        );
        assert_eq!(Weights::given(&[0.0, 0.0], 2).unwrap_err().kind(), ErrorKind::InvalidParameter);
    }

    #[test]
    fn sums_are_exact_and_fit_the_accumulators() {
        for m in [1, 3, 7, 300, 100_000] {
            let w = Weights::uniform(m);
            assert!(w.total() <= u64::from(u32::MAX), "{m}");
            assert!(w.units().windows(2).all(|p| p[0] == p[1]));
            assert!((w.gamma().iter().sum::<f64>() - 1.0).abs() < 1e-10);
        }
    }
}
