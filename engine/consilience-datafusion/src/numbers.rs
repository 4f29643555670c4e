//! Clusters numbered by their first objects, as the library numbers them.

use serde::{Deserialize, Serialize};

/// The number of each cluster so far.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub(crate) struct Numbers {
    of: Vec<i32>,
    len: usize,
}

impl Numbers {
    /// Numbers the labels of objects that come behind all before; negative ones stay.
    pub(crate) fn number(&mut self, labels: &mut [i32]) {
        for label in labels {
            let Ok(at) = usize::try_from(*label) else { continue };
            if at >= self.of.len() {
                self.of.resize(at + 1, -1);
            }
            if self.of[at] < 0 {
                self.of[at] = self.len as i32;
                self.len += 1;
            }
            *label = self.of[at];
        }
    }

    /// Clusters so far.
    pub(crate) fn len(&self) -> usize {
        self.len
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clusters_are_numbered_by_their_first_objects() {
        let mut numbers = Numbers::default();
        let (mut first, mut later) = (vec![5, -1, 2, 5], vec![0, 2, 7, -1]);
        numbers.number(&mut first);
        numbers.number(&mut later);
        assert_eq!((first, later), (vec![0, -1, 1, 0], vec![2, 1, 3, -1]));
        assert_eq!(numbers.len(), 4);
    }
}
