//! One number for one cluster, wherever a result speaks of it.

use consilience_core::{Features, Memberships, Partition};
use ndarray::{Array2, ArrayView2};

use crate::{hold, sure};

/// Label j of a partition and column j of memberships are the same cluster, as in every result that
/// has both: the label of an object is the largest of its row, and objects without evidence are
/// unlabelled.
///
/// ```
/// use consilience::conformance::same_columns;
/// use consilience::{Memberships, Partition};
/// use consilience::ndarray::array;
///
/// let soft = Memberships::new(array![[0.9, 0.1], [0.2, 0.8]])?;
/// same_columns(&Partition::from_labels(&[0, 1])?, &soft);
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Panics
/// Where the law is broken, with the object.
pub fn same_columns(partition: &Partition, memberships: &Memberships) {
    columns("label j and column j are one cluster", partition, memberships, &String::new);
}

/// [`same_columns`] as part of a law; what is said ends in the input.
pub(super) fn columns(
    law: &str,
    partition: &Partition,
    memberships: &Memberships,
    input: &dyn Fn() -> String,
) {
    let (n, rows) = (partition.n_objects(), memberships.n_objects());
    hold(law, n == rows, || format!("{n} labels, {rows} rows"));
    let (labels, columns) = (partition.n_clusters(), memberships.n_clusters());
    hold(law, labels <= columns, || format!("{labels} clusters, {columns} columns"));
    for (i, label) in partition.iter().enumerate() {
        let (row, evidence) = (memberships.row(i), memberships.evidence()[i]);
        hold(law, label.is_some() == (evidence > 0.0), || {
            format!("object {i} has label {label:?} and evidence {evidence}{}", input())
        });
        hold(law, label.is_none_or(|l| row.iter().all(|&v| v <= row[l])), || {
            format!("object {i} has label {label:?}, its row is {row}{}", input())
        });
    }
}

/// Label j of a partition and row j of its centres are the same cluster: no other row is nearer to
/// the mean of the objects with that label.
///
/// ```
/// use consilience::conformance::same_rows;
/// use consilience::Partition;
/// use consilience::ndarray::array;
///
/// let x = array![[0.0], [1.0], [9.0]];
/// same_rows(&Partition::from_labels(&[0, 0, 1])?, (&x).into(), array![[0.5], [9.0]].view());
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Panics
/// Where the law is broken, with the cluster.
pub fn same_rows(partition: &Partition, features: Features<'_>, centres: ArrayView2<'_, f64>) {
    let law = "label j and row j of the centres are one cluster";
    let x = sure(law, sure(law, features.dense()).to_f64());
    let (n, rows) = (partition.n_objects(), x.nrows());
    hold(law, n == rows, || format!("{n} labels, {rows} objects"));
    let (k, found) = (partition.n_clusters(), centres.nrows());
    hold(law, k <= found, || format!("{k} clusters, {found} centres"));
    let mut means = Array2::<f64>::zeros((k, x.ncols()));
    for (label, row) in partition.iter().zip(x.rows()) {
        if let Some(label) = label {
            let mut mean = means.row_mut(label);
            mean += &row;
        }
    }
    for ((j, mut mean), size) in means.rows_mut().into_iter().enumerate().zip(partition.sizes()) {
        mean /= size as f64;
        let far = |row: usize| -> f64 {
            centres.row(row).iter().zip(&mean).map(|(a, b)| (a - b) * (a - b)).sum()
        };
        let nearest = (0..found).fold(j, |best, row| if far(row) < far(best) { row } else { best });
        hold(law, nearest == j, || {
            format!("centre {nearest} is nearer to the mean of cluster {j} than centre {j}")
        });
    }
}
