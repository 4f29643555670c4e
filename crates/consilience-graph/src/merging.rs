//! What a merge makes of a row of dissimilarities, and its smallest entry.

/// Rows that one task looks at.
pub(crate) const ROWS: usize = 16;

/// What dissimilarities are kept as: numbers, or their places in the order of those that there are.
pub(crate) trait Level: Copy + PartialOrd + Send + Sync {
    /// Farther than any.
    const FAR: Self;
}

impl Level for f64 {
    const FAR: f64 = f64::INFINITY;
}

impl Level for u8 {
    const FAR: u8 = u8::MAX;
}

impl Level for u16 {
    const FAR: u16 = u16::MAX;
}

/// The dissimilarity of x to the union of a and b, from (d(a,x), d(b,x), d(a,b), weights of a, b,
/// x).
pub(crate) trait Update<T>: Fn(T, T, T, f64, f64, f64) -> T + Sync {}

impl<T, F: Fn(T, T, T, f64, f64, f64) -> T + Sync> Update<T> for F {}

/// [`Update`] of single linkage.
pub(crate) fn nearer<T: Level>(a: T, b: T, _: T, _: f64, _: f64, _: f64) -> T {
    if b < a { b } else { a }
}

/// [`Update`] of complete linkage.
pub(crate) fn farther<T: Level>(a: T, b: T, _: T, _: f64, _: f64, _: f64) -> T {
    if b > a { b } else { a }
}

/// [`Update`] of average linkage.
pub(crate) fn average(a: f64, b: f64, _: f64, wa: f64, wb: f64, _: f64) -> f64 {
    (wa * a + wb * b) / (wa + wb)
}

/// The cluster at `gone` went into that at `keep`: how far they were apart, and their weights.
pub(crate) struct Merge<T> {
    pub(crate) keep: usize,
    pub(crate) gone: usize,
    pub(crate) apart: T,
    pub(crate) weights: [f64; 2],
}

/// Takes merges into the row of a cluster of this weight, in their order.
pub(crate) fn take_in<T: Level>(
    row: &mut [T],
    merges: &[Merge<T>],
    weight: f64,
    update: &impl Update<T>,
) {
    for merge in merges {
        let [wa, wb] = merge.weights;
        row[merge.keep] = update(row[merge.keep], row[merge.gone], merge.apart, wa, wb, weight);
        row[merge.gone] = T::FAR;
    }
}

/// Numbers that are compared at a time.
pub(crate) const LANES: usize = 16;

/// The smallest entry, in lanes that the compiler keeps in vector registers; far where there is
/// none.
pub(crate) fn smallest<T: Level>(row: &[T]) -> T {
    let mut lanes = [T::FAR; LANES];
    let (body, tail) = row.as_chunks::<LANES>();
    for block in body {
        for (m, &v) in lanes.iter_mut().zip(block) {
            *m = if v < *m { v } else { *m };
        }
    }
    lanes.iter().chain(tail).fold(T::FAR, |m, &v| if v < m { v } else { m })
}

/// The first entry of a value, less than far.
pub(crate) fn find<T: Level>(row: &[T], value: T) -> Option<usize> {
    row.iter().position(|&v| v == value && v < T::FAR)
}
