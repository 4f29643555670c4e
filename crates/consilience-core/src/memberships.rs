use ndarray::{Array2, ArrayView1, ArrayView2};

#[cfg(any(doc, test))]
use crate::ErrorKind;
use crate::{Error, Partition, Result, checks, ensure, room};

/// How far a row may sum away from 1 for each cluster, as probabilities that are printed with six
/// decimals do, before it is refused; rows are then rescaled to sum to 1.
const SUM_TOLERANCE: f64 = 1e-6;

/// A soft clustering: row i holds the probabilities that object i belongs to each of k clusters.
///
/// An object without any evidence has the uniform row and evidence 0.
///
/// Columns are numbered as a [`Partition`] numbers its clusters: by the first object that belongs
/// to them most, and after those the columns that no object belongs to most, in the order given.
/// So column j is label j of [`hard`](Memberships::hard), and row j of any table per cluster made
/// from the memberships. [`numbered`](Memberships::numbered) also tells which given column each one
/// was.
///
/// ```
/// use consilience::Memberships;
/// use consilience::ndarray::array;
///
/// // The first object belongs to the second column, which is cluster 0 therefore.
/// let soft = Memberships::new(array![[0.1, 0.9], [0.8, 0.2]])?;
/// assert_eq!(soft.hard()?.to_signed(), vec![0, 1]);
/// assert_eq!(soft.values(), array![[0.9, 0.1], [0.2, 0.8]]);
/// assert!(soft.entropy()[0] < soft.entropy()[1]);
/// # Ok::<(), consilience::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(
        try_from = "crate::stored::MembershipsFields",
        into = "crate::stored::MembershipsFields"
    )
)]
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
    /// row that does not sum to 1 within 1e-6 for each cluster.
    pub fn new(values: Array2<f64>) -> Result<Self> {
        let n = values.nrows();
        Self::with_evidence(values, room::filled(n, 1.0)?)
    }

    /// Memberships with the amount of evidence behind each object, for instance the number of
    /// members that label it.
    ///
    /// # Errors
    /// As [`Memberships::new`]; also where `evidence` has another length or a negative entry.
    pub fn with_evidence(values: Array2<f64>, evidence: Vec<f64>) -> Result<Self> {
        Ok(Self::numbered(values, evidence)?.0)
    }

    /// As [`Memberships::with_evidence`], and for each column the number of the given column that
    /// it was: what else there is per column is put in the same order by it.
    ///
    /// ```
    /// use consilience::Memberships;
    /// use consilience::ndarray::array;
    ///
    /// let (soft, given) = Memberships::numbered(array![[0.1, 0.9], [0.8, 0.2]], vec![1.0; 2])?;
    /// assert_eq!(given, [1, 0]);
    /// assert_eq!(soft.values().column(0), array![0.9, 0.2]);
    /// # Ok::<(), consilience::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Memberships::with_evidence`].
    pub fn numbered(values: Array2<f64>, evidence: Vec<f64>) -> Result<(Self, Vec<usize>)> {
        Self::checked(values, evidence, 0.0)
    }

    /// Memberships that were some already, to the bit: sums of their rows are 1 up to rounding.
    pub(crate) fn from_fields(values: Array2<f64>, evidence: Vec<f64>) -> Result<Self> {
        let rounding = f64::EPSILON * (values.ncols() as f64 + 1.0);
        Ok(Self::checked(values, evidence, rounding)?.0)
    }

    /// The matrix and the evidence.
    #[cfg(feature = "serde")]
    pub(crate) fn into_fields(self) -> (Array2<f64>, Vec<f64>) {
        (self.values, self.evidence)
    }

    /// [`numbered`](Memberships::numbered); rows that sum to 1 within `exact` stay as they are.
    fn checked(
        mut values: Array2<f64>,
        evidence: Vec<f64>,
        exact: f64,
    ) -> Result<(Self, Vec<usize>)> {
        let (n, k) = values.dim();
        ensure!(n > 0 && k > 0, empty("memberships of {n} objects in {k} clusters"));
        ensure!(
            evidence.len() == n,
            shape("evidence for {} objects, memberships for {n}", evidence.len())
        );
        checks::evidence(&evidence, "object")?;
        for (i, mut row) in values.rows_mut().into_iter().enumerate() {
            for (c, &v) in row.iter().enumerate() {
                if !v.is_finite() {
                    return Err(Error::non_finite("memberships", i, c, v));
                }
                ensure!(
                    (0.0..=1.0 + SUM_TOLERANCE).contains(&v),
                    invalid("membership {v} at row {i}, column {c}; expected 0..=1")
                );
            }
            let sum = row.sum();
            let within = SUM_TOLERANCE * k as f64;
            ensure!(
                (sum - 1.0).abs() <= within,
                invalid("memberships of row {i} sum to {sum}; expected 1 within {within:.0e}")
            );
            if (sum - 1.0).abs() > exact {
                row /= sum;
            }
        }
        let given = by_first_object(values.view(), &evidence);
        if given.iter().enumerate().any(|(new, &old)| new != old) {
            let (n, k) = values.dim();
            values = room::table_of(n, k, |(i, c)| values[[i, given[c]]])?;
        }
        Ok((Memberships { values, evidence }, given))
    }

    /// The n x k matrix.
    pub fn values(&self) -> ArrayView2<'_, f64> {
        self.values.view()
    }

    /// The k memberships of one object.
    ///
    /// ```
    /// use consilience::Memberships;
    /// use consilience::ndarray::array;
    ///
    /// let memberships = Memberships::new(array![[0.75, 0.25], [0.5, 0.5]])?;
    /// assert_eq!(memberships.row(0), array![0.75, 0.25]);
    /// # Ok::<(), consilience::Error>(())
    /// ```
    ///
    /// # Panics
    /// Where there is no such object.
    pub fn row(&self, object: usize) -> ArrayView1<'_, f64> {
        self.values.row(object)
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
    /// its evidence is 0. Label j is column j.
    ///
    /// # Errors
    /// [`ErrorKind::TooLarge`] from 2^32 - 1 objects on.
    pub fn hard(&self) -> Result<Partition> {
        Partition::from_fn(self.n_objects(), |i| {
            if self.evidence[i] == 0.0 {
                return None;
            }
            Some(largest(self.values.row(i)) as u64)
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

/// The column of the largest entry, the first of equals.
fn largest(row: ArrayView1<'_, f64>) -> usize {
    (1..row.len()).fold(0, |best, c| if row[c] > row[best] { c } else { best })
}

/// The columns in the order of the first objects that belong to them most.
fn by_first_object(values: ArrayView2<'_, f64>, evidence: &[f64]) -> Vec<usize> {
    let k = values.ncols();
    let (mut order, mut taken) = (Vec::with_capacity(k), vec![false; k]);
    for (row, _) in values.rows().into_iter().zip(evidence).filter(|&(_, &e)| e > 0.0) {
        if order.len() == k {
            break;
        }
        let best = largest(row);
        // Of equals, one that has a number already comes first in the new order.
        let named = || (0..k).any(|c| taken[c] && row[c] == row[best]);
        if !taken[best] && !named() {
            taken[best] = true;
            order.push(best);
        }
    }
    order.extend((0..k).filter(|&c| !taken[c]));
    order
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
    use ndarray::{Axis, array};

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

    /// Rounding of printed probabilities grows with their number.
    #[test]
    fn probabilities_of_six_decimals_are_taken() {
        let mut s = crate::Seed(3).stream();
        for k in [2, 20, 300] {
            let raw = Array2::from_shape_fn((200, k), |_| s.uniform());
            let exact = &raw / &raw.sum_axis(Axis(1)).insert_axis(Axis(1));
            let printed = exact.mapv(|v| (v * 1e6).round() / 1e6);
            let taken = Memberships::new(printed).unwrap();
            for row in taken.values().rows() {
                assert!((row.sum() - 1.0).abs() < 1e-12, "{k}");
            }
        }
        let e = Memberships::new(array![[0.5, 0.500004]]).unwrap_err();
        assert!(e.message().ends_with("expected 1 within 2e-6"), "{e}");
    }

    #[test]
    fn column_j_is_label_j() {
        for seed in 0..300 {
            let mut s = crate::Seed(seed).stream();
            let (n, k) = (1 + s.below(9), 1 + s.below(5));
            // Few values, so that rows have ties.
            let raw = Array2::from_shape_fn((n, k), |_| (1 + s.below(3)) as f64);
            let values = &raw / &raw.sum_axis(Axis(1)).insert_axis(Axis(1));
            let evidence: Vec<f64> = (0..n).map(|_| s.below(4) as f64).collect();
            let (soft, given) = Memberships::numbered(values.clone(), evidence.clone()).unwrap();
            let hard = soft.hard().unwrap();
            for i in 0..n {
                assert_eq!(hard.label(i).is_some(), evidence[i] > 0.0);
                let Some(label) = hard.label(i) else { continue };
                assert_eq!(label, largest(soft.row(i)), "{values} {evidence:?}");
            }
            let mut all = given.clone();
            all.sort_unstable();
            assert_eq!(all, (0..k).collect::<Vec<_>>());
            for (new, &old) in given.iter().enumerate() {
                assert!((&soft.values().column(new) - &values.column(old)).sum().abs() < 1e-12);
            }
            // Once numbered, always numbered.
            let again = Memberships::numbered(soft.values().to_owned(), evidence).unwrap().1;
            assert_eq!(again, (0..k).collect::<Vec<_>>());
        }
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
