//! The few vector operations that the kernels need, for `f32` and `f64` alike.

use pulp::{Simd, bytemuck};

/// One row per lane: elementary operations on vectors of `Self`. Being unnameable outside it seals
/// [`Float`](crate::Float).
pub trait Lanes: Sized + Copy + Into<f64> {
    /// A vector of `Self`.
    type Vector<S: Simd>: Copy + Send + Sync + 'static;
    /// A vector of equally wide indices.
    type Index<S: Simd>: Copy + Send + Sync + 'static;

    /// Rows per vector.
    fn lanes<S: Simd>() -> usize;
    /// Positive infinity.
    fn infinity() -> Self;
    /// The vectors of a slice; what is left over at the end is dropped.
    fn vectors<S: Simd>(x: &[Self]) -> &[Self::Vector<S>];
    /// All lanes equal.
    fn splat<S: Simd>(simd: S, x: Self) -> Self::Vector<S>;
    /// All lanes equal.
    fn splat_index<S: Simd>(simd: S, i: u32) -> Self::Index<S>;
    /// `a b + c`, rounded once.
    fn mul_add<S: Simd>(
        simd: S,
        a: Self::Vector<S>,
        b: Self::Vector<S>,
        c: Self::Vector<S>,
    ) -> Self::Vector<S>;
    /// `a - b`.
    fn sub<S: Simd>(simd: S, a: Self::Vector<S>, b: Self::Vector<S>) -> Self::Vector<S>;
    /// Smaller of the two.
    fn min<S: Simd>(simd: S, a: Self::Vector<S>, b: Self::Vector<S>) -> Self::Vector<S>;
    /// Larger of the two.
    fn max<S: Simd>(simd: S, a: Self::Vector<S>, b: Self::Vector<S>) -> Self::Vector<S>;
    /// `i` where `a < b`, else `j`.
    fn pick<S: Simd>(
        simd: S,
        a: Self::Vector<S>,
        b: Self::Vector<S>,
        i: Self::Index<S>,
        j: Self::Index<S>,
    ) -> Self::Index<S>;
    /// Copies the lanes out; `out` has at least as many entries as the vectors have lanes.
    fn store<S: Simd>(x: &[Self::Vector<S>], out: &mut [Self]);
    /// As [`Lanes::store`], for indices.
    fn store_index<S: Simd>(x: &[Self::Index<S>], out: &mut [u32]);
}

macro_rules! lanes {
    ($t:ty, $i:ty, $v:ident, $iv:ident, $slice:ident, $splat:ident, $splat_i:ident,
     $fma:ident, $sub:ident,
     $min:ident, $max:ident, $less:ident, $select:ident) => {
        impl Lanes for $t {
            type Vector<S: Simd> = S::$v;
            type Index<S: Simd> = S::$iv;

            #[inline(always)]
            fn lanes<S: Simd>() -> usize {
                size_of::<S::$v>() / size_of::<$t>()
            }
            #[inline(always)]
            fn infinity() -> Self {
                <$t>::INFINITY
            }
            #[inline(always)]
            fn vectors<S: Simd>(x: &[Self]) -> &[S::$v] {
                S::$slice(x).0
            }
            #[inline(always)]
            fn splat<S: Simd>(simd: S, x: Self) -> S::$v {
                simd.$splat(x)
            }
            #[inline(always)]
            fn splat_index<S: Simd>(simd: S, i: u32) -> S::$iv {
                simd.$splat_i(<$i>::from(i))
            }
            #[inline(always)]
            fn mul_add<S: Simd>(simd: S, a: S::$v, b: S::$v, c: S::$v) -> S::$v {
                simd.$fma(a, b, c)
            }
            #[inline(always)]
            fn sub<S: Simd>(simd: S, a: S::$v, b: S::$v) -> S::$v {
                simd.$sub(a, b)
            }
            #[inline(always)]
            fn min<S: Simd>(simd: S, a: S::$v, b: S::$v) -> S::$v {
                simd.$min(a, b)
            }
            #[inline(always)]
            fn max<S: Simd>(simd: S, a: S::$v, b: S::$v) -> S::$v {
                simd.$max(a, b)
            }
            #[inline(always)]
            fn pick<S: Simd>(simd: S, a: S::$v, b: S::$v, i: S::$iv, j: S::$iv) -> S::$iv {
                simd.$select(simd.$less(a, b), i, j)
            }
            #[inline(always)]
            fn store<S: Simd>(x: &[S::$v], out: &mut [Self]) {
                for (o, &v) in out.iter_mut().zip(bytemuck::cast_slice::<S::$v, $t>(x)) {
                    *o = v;
                }
            }
            #[inline(always)]
            fn store_index<S: Simd>(x: &[S::$iv], out: &mut [u32]) {
                for (o, &v) in out.iter_mut().zip(bytemuck::cast_slice::<S::$iv, $i>(x)) {
                    *o = v as u32;
                }
            }
        }
    };
}
lanes! {
    f64, u64, f64s, u64s, as_simd_f64s, splat_f64s, splat_u64s, mul_add_f64s, sub_f64s,
    min_f64s, max_f64s, less_than_f64s, select_u64s
}
lanes! {
    f32, u32, f32s, u32s, as_simd_f32s, splat_f32s, splat_u32s, mul_add_f32s, sub_f32s,
    min_f32s, max_f32s, less_than_f32s, select_u32s
}
