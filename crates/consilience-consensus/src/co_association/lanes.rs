//! Values that are treated by one instruction. Operations on whole arrays are what compilers turn
//! into such instructions where the formula is short; loops over lanes around longer ones they
//! leave as they are.

use std::ops::{Add, AddAssign, Mul, Sub};

/// Values of one [`Lanes`].
pub(super) const LANES: usize = 8;

/// Several values at once.
#[derive(Clone, Copy)]
pub(super) struct Lanes(pub(super) [f64; LANES]);

impl Lanes {
    pub(super) const ZERO: Lanes = Lanes([0.0; LANES]);

    #[inline(always)]
    pub(super) fn all(value: f64) -> Self {
        Lanes([value; LANES])
    }

    #[inline(always)]
    pub(super) fn square(self) -> Self {
        self * self
    }

    /// Within 0 and 1.
    #[inline(always)]
    pub(super) fn bounded(self) -> Self {
        Lanes(self.0.map(|x| x.clamp(0.0, 1.0)))
    }

    /// Its values where they are positive, those of `or` elsewhere.
    #[inline(always)]
    pub(super) fn or(self, or: Self) -> Self {
        Lanes(std::array::from_fn(|l| if self.0[l] > 0.0 { self.0[l] } else { or.0[l] }))
    }

    #[inline(always)]
    pub(super) fn sum(self) -> f64 {
        self.0.iter().sum()
    }
}

impl Add for Lanes {
    type Output = Lanes;

    #[inline(always)]
    fn add(self, other: Lanes) -> Lanes {
        Lanes(std::array::from_fn(|l| self.0[l] + other.0[l]))
    }
}

impl AddAssign for Lanes {
    #[inline(always)]
    fn add_assign(&mut self, other: Lanes) {
        *self = *self + other;
    }
}

impl Sub for Lanes {
    type Output = Lanes;

    #[inline(always)]
    fn sub(self, other: Lanes) -> Lanes {
        Lanes(std::array::from_fn(|l| self.0[l] - other.0[l]))
    }
}

impl Mul for Lanes {
    type Output = Lanes;

    #[inline(always)]
    fn mul(self, other: Lanes) -> Lanes {
        Lanes(std::array::from_fn(|l| self.0[l] * other.0[l]))
    }
}
