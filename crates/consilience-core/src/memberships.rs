use ndarray::{Array2, ArrayView2};

#[cfg(any(doc, test))]
use crate::ErrorKind;
use crate::{Error, Partition, Result};

/// How far a row may sum away from 1 before it is refused; rows are then rescaled to sum to 1.
const SUM_TOLERANCE: f64 = 1e-6;

/// A soft clustering: row i holds the probabilities that object i belongs to each of k clusters.
///
/// An object without any evidence has the uniform row and evidence 0.
///
/// ```
/// use consilience_core::Memberships;
/// use ndarray::array;
///
/// let soft = Memberships::new(array![[0.9, 0.1], [0.2, 0.8]])?;
/// assert_eq!(soft.hard()?.to_signed(), vec![0, 1]);
/// assert!(soft.entropy()[0] < soft.entropy()[1]);
/// # Ok::<(), consilience_core::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Memberships {
    values: Array2<f64>,
    evidence: Vec<f64>,
}

impl Memberships {
    /// Memberships from an n x k matrix whose rows are probabilities; every object has evidence 1.
    ///
    /// # Errors
    /// [`ErrorKind::Empty`] without rows or columns, [`ErrorKind::NonFinite`] or
    /// [`ErrorKind::InvalidParameter`] with row and column for an entry that is no probability or a
    /// row that does not sum to 1 within 1e-6.
    pub fn new(values: Array2<f64>) -> Result<Self> {
        let n = values.nrows();
        Self::with_evidence(values, vec![1.0; n])
    }

    /// Memberships with the amount of evidence behind each object, for instance the number of
    /// members that label it.
    ///
    /// # Errors
    /// As [`Memberships::new`]; also where `evidence` has another length or a negative entry.
    pub fn with_evidence(mut values: Array2<f64>, evidence: Vec<f64>) -> Result<Self> {
        let (n, k) = values.dim();
        if n == 0 || k == 0 {
            return Err(Error::empty(format!("memberships of {n} objects in {k} clusters")));
        }
        if evidence.len() != n {
            return Err(Error::shape(format!(
                "evidence for {} objects, memberships for {n}",
                evidence.len()
            )));
        }
        for (i, &e) in evidence.iter().enumerate() {
            if !(e >= 0.0) || e.is_infinite() {
                return Err(Error::invalid(format!("evidence {e} of object {i}; expected >= 0")));
            }
        }
        for (i, mut row) in values.rows_mut().into_iter().enumerate() {
            for (c, &v) in row.iter().enumerate() {
                if !v.is_finite() {
                    return Err(Error::non_finite("memberships", i, c, v));
                }
                if !(0.0..=1.0 + SUM_TOLERANCE).contains(&v) {
                    return Err(Error::invalid(format!(
                        "membership {v} at row {i}, column {c}; expected 0..=1"
                    )));
                }
            }
            let sum = row.sum();
            if (sum - 1.0).abs() > SUM_TOLERANCE {
                return Err(Error::invalid(format!("memberships of row {i} sum to {sum}, not 1")));
            }
            row /= sum;
        }
        Ok(Memberships { values, evidence })
    }

    /// Memberships that nobody looked at, for tests of those who look.
    #[cfg(all(test, feature = "conformance"))]
    pub(crate) fn unchecked(values: Array2<f64>, evidence: Vec<f64>) -> Self {
        Memberships { values, evidence }
    }

    /// The n x k matrix.
    pub fn values(&self) -> ArrayView2<'_, f64> {
        self.values.view()
    }

    /// Number of objects.
    pub fn n_objects(&self) -> usize {
        self.values.nrows()
    }

    /// Number of columns, including clusters that nobody belongs to.
    pub fn n_clusters(&self) -> usize {
        self.values.ncols()
    }

    /// Evidence behind each object; 0 means that its row is only the uniform one.
    pub fn evidence(&self) -> &[f64] {
        &self.evidence
    }

    /// Each object in the cluster of its largest membership (the first of equals); unlabelled where
    /// its evidence is 0.
    ///
    /// # Errors
    /// [`ErrorKind::TooLarge`] from 2^32 - 1 objects on.
    pub fn hard(&self) -> Result<Partition> {
        Partition::from_fn(self.n_objects(), |i| {
            if self.evidence[i] == 0.0 {
                return None;
            }
            let row = self.values.row(i);
            let best = (1..row.len()).fold(0, |b, c| if row[c] > row[b] { c } else { b });
            Some(best as u64)
        })
    }

    /// Entropy of each row in bits: 0 is certain, log2(k) knows nothing.
    pub fn entropy(&self) -> Vec<f64> {
        self.values
            .rows()
            .into_iter()
            .map(|row| row.iter().filter(|&&v| v > 0.0).fold(0.0, |sum, &v| sum - v * v.log2()))
            .collect()
    }
}

impl From<&Partition> for Memberships {
    /// Rows of zeros with a single one; uniform with evidence 0 where the object is unlabelled.
    fn from(partition: &Partition) -> Self {
        let k = partition.n_clusters().max(1);
        let mut values = Array2::zeros((partition.n_objects(), k));
        let mut evidence = vec![1.0; partition.n_objects()];
        for (i, label) in partition.iter().enumerate() {
            match label {
                Some(l) => values[[i, l]] = 1.0,
                None => {
                    values.row_mut(i).fill(1.0 / k as f64);
                    evidence[i] = 0.0;
                }
            }
        }
        Memberships { values, evidence }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    #[test]
    fn bad_rows_are_named() {
        let e = Memberships::new(array![[1.0, 0.0], [0.5, f64::NAN]]).unwrap_err();
        assert_eq!(e.kind(), ErrorKind::NonFinite);
        assert!(e.message().contains("row 1, column 1"), "{e}");
        let e = Memberships::new(array![[0.5, 0.4]]).unwrap_err();
        assert_eq!(e.kind(), ErrorKind::InvalidParameter);
        let e = Memberships::new(array![[1.5, -0.5]]).unwrap_err();
        assert_eq!(e.kind(), ErrorKind::InvalidParameter);
        let e = Memberships::new(Array2::zeros((0, 2))).unwrap_err();
        assert_eq!(e.kind(), ErrorKind::Empty);
    }

    #[test]
    fn hard_partitions_go_in_and_come_back() {
        let p = Partition::from_labels(&[0, 1, -1, 1]).unwrap();
        let soft = Memberships::from(&p);
        assert_eq!(soft.hard().unwrap(), p);
        assert_eq!(soft.evidence(), [1.0, 1.0, 0.0, 1.0]);
        assert_eq!(soft.entropy(), vec![0.0, 0.0, 1.0, 0.0]);
    }
}
