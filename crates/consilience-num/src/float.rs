use std::fmt::Debug;
use std::ops::Add;

use crate::compiled::{Both, Family};
use crate::kmeans::lanes::Lanes;

/// The two precisions that rows come in: `f32` and `f64`. Sealed.
pub trait Float:
    Lanes + Copy + PartialOrd + Default + Debug + Add<Output = Self> + Send + Sync + 'static
{
    /// Difference between 1 and the next larger number.
    const EPSILON: f64;
    /// The same number in double precision.
    fn to_f64(self) -> f64;
    /// The nearest number of this precision.
    fn from_f64(value: f64) -> Self;
    /// `(self - other)^2 + sum`, the product and the sum rounded once.
    fn add_square(self, other: Self, sum: Self) -> Self;
    /// `self * other + sum`, rounded once.
    fn add_product(self, other: Self, sum: Self) -> Self;
    /// Of two the one for this precision.
    #[doc(hidden)]
    fn of<T: Family>(both: &Both<T>) -> &T::Of<Self>;
}

macro_rules! float {
    ($type:ty, $precision:ident) => {
        impl Float for $type {
            const EPSILON: f64 = <$type>::EPSILON as f64;
            #[inline(always)]
            fn to_f64(self) -> f64 {
                self as f64
            }
            #[inline(always)]
            fn from_f64(value: f64) -> Self {
                value as $type
            }
            #[inline(always)]
            fn add_square(self, other: Self, sum: Self) -> Self {
                let t = self - other;
                t.mul_add(t, sum)
            }
            #[inline(always)]
            fn add_product(self, other: Self, sum: Self) -> Self {
                self.mul_add(other, sum)
            }
            fn of<T: Family>(both: &Both<T>) -> &T::Of<$type> {
                &both.$precision
            }
        }
    };
}
float!(f32, single);
float!(f64, double);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn squares_of_differences_are_added() {
        assert_eq!(5.0f64.add_square(2.0, 0.25), 9.25);
        assert_eq!(5.0f32.add_square(2.0, 0.25), 9.25);
        // Rounded once: the square alone would lose its last bit.
        let close = 1.0 + f64::EPSILON;
        assert_eq!(close.add_square(0.0, -1.0 - 2.0 * f64::EPSILON), f64::EPSILON * f64::EPSILON);
    }

    #[test]
    fn products_are_added() {
        assert_eq!(5.0f64.add_product(2.0, 0.25), 10.25);
        assert_eq!(5.0f32.add_product(2.0, 0.25), 10.25);
        let close = 1.0 + f32::EPSILON;
        let square = f32::EPSILON * f32::EPSILON;
        assert_eq!(close.add_product(close, -1.0 - 2.0 * f32::EPSILON), square);
    }
}
