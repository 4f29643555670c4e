//! What is believed before any answer.

/// The fixed numbers of the model.
#[derive(Clone, Copy, Debug)]
pub(super) struct Prior {
    /// Weight of the origin in a component's mean, in objects.
    pub(super) mean_weight: f64,
    /// Degrees of freedom of a component's precision beyond D, and the variance of each coordinate
    /// inside a component that they expect.
    pub(super) freedom: f64,
    pub(super) variance: f64,
    /// Precision of the crowd's W around the identity, and of its tau around 0.
    pub(super) crowd: [f64; 2],
    /// Shape and rate of the precision of workers around the crowd, of W and of tau.
    pub(super) spread: [f64; 2],
    /// Shape and rate of the concentration of the sticks.
    pub(super) concentration: [f64; 2],
}

impl Default for Prior {
    fn default() -> Self {
        Prior {
            mean_weight: 0.05,
            freedom: 2.0,
            variance: 0.1,
            crowd: [1.0, 0.1],
            spread: [2.0, 0.5],
            concentration: [1.0, 1.0],
        }
    }
}
