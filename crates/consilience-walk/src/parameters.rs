use consilience_core::{Error, Result};

/// The two parameters of a walk, shared by everything that walks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct WalkParameters {
    pub(crate) elite_neighbours: Option<usize>,
    pub(crate) walk_length: Option<usize>,
    /// Whether the defaults grow beyond the published program's cap, as the paper's text has it.
    pub(crate) uncapped: bool,
}

/// The published program's cap on both defaults.
const CAP: usize = 20;
/// Walks have long mixed by then; larger values are refused as a mistake.
const LONGEST: usize = 1000;

impl WalkParameters {
    /// Refuses values out of range, before any work.
    pub(crate) fn check(&self) -> Result<()> {
        if self.elite_neighbours == Some(0) {
            return Err(Error::invalid("0 elite neighbours; expected at least 1"));
        }
        match self.walk_length {
            Some(t) if t == 0 || t > LONGEST => {
                Err(Error::invalid(format!("walk length {t}; expected 1..={LONGEST}")))
            }
            _ => Ok(()),
        }
    }

    /// (K, T): as set, else `floor(sqrt(n~) / 2)`, at least 1 and, where capped, at most 20.
    pub(crate) fn resolve(&self, nodes: usize) -> (usize, usize) {
        let most = if self.uncapped { LONGEST } else { CAP };
        let default = ((nodes as f64).sqrt() / 2.0).floor().clamp(1.0, most as f64) as usize;
        (self.elite_neighbours.unwrap_or(default), self.walk_length.unwrap_or(default))
    }
}
