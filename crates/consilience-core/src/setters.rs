/// Writes setters, inside an `impl`, in a line each: every function takes `mut self`, changes it,
/// and gives it back. What returns it, `-> Self` and `#[must_use]`, is the same in all of them.
///
/// ```text
/// setters! {
///     /// Most iterations. Default 100; at least 1.
///     pub fn max_iterations(mut self, iterations: usize) { self.max_iterations = iterations }
/// }
/// ```
///
/// What wraps another value in its field 0 hands settings on to that, `through` the method that
/// changes it there:
///
/// ```text
/// setters! { through map_similarity:
///     /// As [`Similar::steps`]. Default 20; at least 1.
///     pub fn steps(mut self, steps: usize);
/// }
/// ```
#[doc(hidden)]
#[macro_export]
macro_rules! setters {
    ($(
        $(#[$attribute:meta])*
        pub fn $name:ident(mut $self:ident, $($argument:ident: $type:ty),+) { $($body:tt)+ }
    )+) => {$(
        $(#[$attribute])*
        #[must_use]
        pub fn $name(mut $self, $($argument: $type),+) -> Self {
            $($body)+;
            $self
        }
    )+};
    (through $change:ident: $(
        $(#[$attribute:meta])*
        pub fn $name:ident(mut $self:ident, $argument:ident: $type:ty);
    )+) => {
        $crate::setters! {$(
            $(#[$attribute])*
            pub fn $name(mut $self, $argument: $type) {
                $self.0 = $self.0.$change(|inner| inner.$name($argument))
            }
        )+}
    };
}
