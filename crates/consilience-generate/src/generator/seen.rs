//! The features that a member works on, in memory of their own where they must be.

use consilience_core::Features;
use ndarray::Array2;
use sprs::CsMat;

/// As given, or some rows and columns of them.
pub(super) enum Seen<'a> {
    As(Features<'a>),
    F32(Array2<f32>),
    F64(Array2<f64>),
    Sparse32(CsMat<f32>),
    Sparse64(CsMat<f64>),
}

impl<'a> Seen<'a> {
    pub(super) fn features<'b>(&'b self) -> Features<'b>
    where
        'a: 'b,
    {
        match self {
            Seen::As(features) => features.reborrow(),
            Seen::F32(x) => x.into(),
            Seen::F64(x) => x.into(),
            Seen::Sparse32(x) => x.into(),
            Seen::Sparse64(x) => x.into(),
        }
    }
}
