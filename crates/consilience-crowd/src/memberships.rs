//! Memberships of the answered objects, and of all.

use consilience_core::{Memberships, Result, room};
use ndarray::{Array2, ArrayView1, ArrayView2, ArrayViewMut1};

use crate::answers::Answers;

/// Mass that soft memberships from labels leave to the other clusters.
const SOFTNESS: f64 = 0.1;
/// What a label has at least, times the likeliest of the others: it stays the likeliest, even
/// where the answers favour another or none.
const KEPT: f64 = 1.0 + 1e-6;
/// Items that a task has more than are seen, where its answers are weighed: found with those below
/// on generated crowds and on the birds' (docs/notes/crowds.md).
const UNSEEN: f64 = 2.0;

/// What each pair answer of a task of so many items weighs where probabilities are told. The
/// answers of a task depend on each other, as those on an object do that is unlike its class: the
/// s - 1 on each item count as nearly two, and an answer on two items alone as half of one.
pub(crate) fn weight(items: usize) -> f64 {
    2.0 / (items as f64 + UNSEEN)
}

/// The most probable cluster of each row, the first of equals.
pub(crate) fn most_probable(q: ArrayView2<'_, f64>) -> Vec<u32> {
    let best = |row: ArrayView1<'_, f64>| {
        (1..row.len()).fold(0, |b, c| if row[c] > row[b] { c } else { b }) as u32
    };
    q.rows().into_iter().map(best).collect()
}

/// Logarithms of the clusters' expected shares.
pub(crate) fn ln_share(q: ArrayView2<'_, f64>) -> Vec<f64> {
    let (n, k) = q.dim();
    q.columns().into_iter().map(|c| ((c.sum() + 1.0) / (n + k) as f64).ln()).collect()
}

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

/// The same probabilities with what the answers say of each object, the shares of the clusters
/// apart, taken to the power of their mean [`weight`]. The likeliest cluster stays, and so does
/// what was 0 to begin with.
pub(crate) fn weighed(answers: &Answers, mut q: Array2<f64>) -> Result<Array2<f64>> {
    let mut sums: Vec<[f64; 2]> = room::filled(q.nrows(), [0.0; 2])?;
    for task in answers.tasks() {
        let others = (task.n_items() - 1) as f64;
        let weight = others * weight(task.n_items());
        for &i in task.groups().flatten() {
            let [weighed, all] = &mut sums[i as usize];
            *weighed += weight;
            *all += others;
        }
    }
    let (labels, share) = (most_probable(q.view()), ln_share(q.view()));
    for ((mut row, label), [weighed, all]) in q.rows_mut().into_iter().zip(labels).zip(sums) {
        let power = if all > 0.0 { weighed / all } else { 1.0 };
        row.iter_mut().zip(&share).for_each(|(x, share)| *x = share + power * (x.ln() - share));
        normalize(row, label);
    }
    Ok(q)
}

/// Turns log-odds into probabilities of which the label's is the largest.
pub(crate) fn normalize(mut row: ArrayViewMut1<'_, f64>, label: u32) {
    let most = row.fold(f64::NEG_INFINITY, |m, &x| m.max(x));
    row.mapv_inplace(|x| (x - most).exp());
    let others = row.indexed_iter().filter(|&(c, _)| c != label as usize);
    let likeliest = others.fold(0.0, |most: f64, (_, &x)| most.max(x));
    row[label as usize] = row[label as usize].max(KEPT * likeliest);
    let sum = row.sum();
    row /= sum;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block_model::crowd;
    use crate::{CrowdClustering, CrowdMethod};
    use consilience_core::Partition;
    use consilience_core::scores::accuracy;
    use ndarray::array;

    #[test]
    fn answers_weigh_by_their_tasks_and_the_likeliest_cluster_stays() {
        // Two tasks of three, and one of two that holds object 0 as well.
        let mut rows = crowd(2, 3, 2, (1, 3), 0.0, 0, 1);
        rows.extend(crowd(2, 2, 1, (1, 2), 0.0, 0, 1).into_iter().map(|mut row| {
            row.worker = 2;
            row
        }));
        let answers = Answers::from_groupings(3, &rows).unwrap();
        let q = array![[0.9, 0.1], [1.0, 0.0], [0.5, 0.5]];
        let found = weighed(&answers, q.clone()).unwrap();
        let share = [(2.4_f64 + 1.0) / 5.0, (0.6_f64 + 1.0) / 5.0];
        // Four answers of tasks of three on each object, and one on two of them.
        let mean = (4.0 * 0.4 + 0.5) / 5.0;
        let odds = share[0] / share[1] * (9.0 * share[1] / share[0]).powf(mean);
        assert!((found[[0, 0]] - odds / (1.0 + odds)).abs() < 1e-12, "{found}");
        assert_eq!((found[[1, 0]], found[[1, 1]]), (1.0, 0.0));
        // The first of equals, which the other's share would have outdone.
        let turned = weighed(&answers, array![[0.1, 0.9], [0.0, 1.0], [0.5, 0.5]]).unwrap();
        assert!(turned[[2, 0]] > turned[[2, 1]] && turned[[2, 0]] < 0.500_001, "{turned}");
    }

    /// Two of five labels are random: nearly all objects had a probability of .99 and more.
    #[test]
    fn what_is_sure_is_right() {
        let (mut sure, mut right, mut told, mut known) = (0.0, 0.0, 0.0, 0.0);
        for seed in 0..4 {
            let rows = crowd(4, 160, 24, (4, 12), 0.4, 0, seed);
            let answers = Answers::from_groupings(160, &rows).unwrap();
            let truth = Partition::from_fn(160, |i| Some((i % 4) as u64)).unwrap();
            let model = CrowdClustering::new(4).method(CrowdMethod::Block).alternative(false);
            let found = model.fit(&answers, &()).unwrap().output;
            let most = |i: usize| found.memberships.row(i).fold(0.0, |m: f64, &x| m.max(x));
            let label = |i: usize| found.partition.label(i).map(|label| label as u64);
            let of_sure =
                Partition::from_fn(160, |i| label(i).filter(|_| most(i) >= 0.99)).unwrap();
            sure += of_sure.n_labelled() as f64;
            right += of_sure.n_labelled() as f64 * accuracy(&of_sure, &truth).unwrap();
            told += (0..160).map(most).sum::<f64>();
            known += 160.0 * accuracy(&found.partition, &truth).unwrap();
        }
        println!("sure {sure}, of these right {right}; told {told:.1}, right {known}");
        assert!(sure > 0.0 && right >= 0.97 * sure, "{sure} {right}");
        assert!((told - known).abs() < 0.15 * 640.0, "{told} {known}");
    }
}
