//! Large functions that are generic over the precision, compiled here once for each.
//!
//! A generic function is compiled again in every crate that calls it. Ten crates of this workspace
//! had one or two k-means of their own, which was a fifth of the time to build the library. What is
//! called through a table of both functions is compiled where the table lies.

/// A type for each precision, such as that of a function. Unnameable outside.
pub trait Family {
    /// The type for `F`.
    type Of<F>;
}

/// The two of a family, of which [`Float::of`](crate::Float::of) takes one. Unnameable outside.
#[expect(missing_debug_implementations, reason = "nobody outside ever holds one")]
pub struct Both<T: Family> {
    /// For `f32`.
    pub single: T::Of<f32>,
    /// For `f64`.
    pub double: T::Of<f64>,
}

/// Makes `Name::of::<F>()`, the function for `F`, compiled here.
macro_rules! compiled {
    ($($name:ident($($type:ty),* $(,)?) -> $output:ty = $function:path;)*) => {$(
        pub(crate) struct $name;

        impl $crate::compiled::Family for $name {
            type Of<F> = fn($($type),*) -> $output;
        }

        impl $name {
            pub(crate) fn of<F: $crate::Float>() -> fn($($type),*) -> $output {
                static BOTH: $crate::compiled::Both<$name> =
                    $crate::compiled::Both { single: $function, double: $function };
                *F::of(&BOTH)
            }
        }
    )*};
}
pub(crate) use compiled;
