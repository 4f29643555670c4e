use consilience_core::{Result, ensure};

/// The shares from which on a pair counts as known: of the answers, or of the base clusterings,
/// that put its objects together.
///
/// ```
/// use consilience::completion::Thresholds;
///
/// let thresholds = Thresholds::new(0.1, 0.9)?;
/// assert_eq!(thresholds.value(0.95), Some(1.0));
/// assert_eq!(thresholds.value(0.1), Some(0.0));
/// assert_eq!(thresholds.value(0.5), None);
/// # Ok::<(), consilience::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Thresholds {
    apart: f64,
    together: f64,
}

impl Thresholds {
    /// Known to be apart up to the share `apart`, known to be together from `together` on.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidParameter`](consilience_core::ErrorKind::InvalidParameter) unless
    /// `0 <= apart < together <= 1`.
    pub fn new(apart: f64, together: f64) -> Result<Self> {
        ensure!(
            0.0 <= apart && apart < together && together <= 1.0,
            invalid("thresholds {apart} and {together}; expected 0 <= apart < together <= 1")
        );
        Ok(Thresholds { apart, together })
    }

    /// What a share says: 1 together, 0 apart, `None` where the pair is not known.
    pub fn value(self, share: f64) -> Option<f64> {
        if share >= self.together {
            Some(1.0)
        } else if share <= self.apart {
            Some(0.0)
        } else {
            None
        }
    }
}
