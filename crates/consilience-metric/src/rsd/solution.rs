//! What both programmes end with.

/// A feasible point and how far it can be from the best.
#[derive(Clone, Debug)]
pub(super) struct Solution<T> {
    pub point: T,
    /// The smallest cannot-link at the point.
    pub split: f64,
    /// No point has a larger split.
    pub upper: f64,
    /// Whether the bound on the trace keeps the split from growing.
    pub bounded: bool,
    pub iterations: usize,
    /// Pairs that were ever generated.
    pub generated: usize,
}

impl<T> Solution<T> {
    /// To begin with.
    pub(super) fn new(point: T) -> Self {
        let upper = f64::INFINITY;
        Solution { point, split: 0.0, upper, bounded: false, iterations: 0, generated: 0 }
    }

    pub(super) fn gap(&self) -> f64 {
        gap(self.split, self.upper)
    }
}

/// What a split misses to its upper bound at most, relative to that.
pub(super) fn gap(split: f64, upper: f64) -> f64 {
    if upper > 0.0 { ((upper - split) / upper).max(0.0) } else { 0.0 }
}
