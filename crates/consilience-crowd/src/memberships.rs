//! Memberships of the answered objects, and of all.

use consilience_core::{Memberships, Result, room};
use ndarray::Array2;

use crate::answers::Answers;

/// Mass that soft memberships from labels leave to the other clusters.
const SOFTNESS: f64 = 0.1;

/// Soft memberships of hard labels.
pub(crate) fn soft(labels: &[u32], k: usize) -> Array2<f64> {
    Array2::from_shape_fn((labels.len(), k), |(i, c)| {
        SOFTNESS / k as f64 + if labels[i] as usize == c { 1.0 - SOFTNESS } else { 0.0 }
    })
}

/// Memberships that are certain.
pub(crate) fn hard(labels: &[u32], k: usize) -> Array2<f64> {
    Array2::from_shape_fn((labels.len(), k), |(i, c)| f64::from(u8::from(labels[i] as usize == c)))
}

/// Memberships of all objects from those of the answered ones, and for each column the number of
/// the given column that it was; evidence is the number of pair answers.
pub(crate) fn of_all(answers: &Answers, q: Array2<f64>) -> Result<(Memberships, Vec<usize>)> {
    let (n, k) = (answers.n_objects(), q.ncols());
    let mut evidence = room::zeros(n)?;
    let values = if q.nrows() == n {
        q
    } else {
        let mut values = room::table_of(n, k, |_| 1.0 / k as f64)?;
        for (row, &object) in q.rows().into_iter().zip(answers.answered()) {
            values.row_mut(object as usize).assign(&row);
        }
        values
    };
    for task in answers.tasks() {
        let others = (task.n_items() - 1) as f64;
        for &i in task.groups().flatten() {
            evidence[answers.answered()[i as usize] as usize] += others;
        }
    }
    Memberships::numbered(values, evidence)
}
