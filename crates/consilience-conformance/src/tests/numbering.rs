use super::{must_catch, verdict};
use crate::*;
use ndarray::array;

const COLUMNS: &str = "label j and column j are one cluster";
const ROWS: &str = "label j and row j of the centres are one cluster";

#[test]
fn honest_results_pass() {
    let soft =
        Memberships::with_evidence(array![[0.9, 0.1], [0.2, 0.8], [0.5, 0.5]], vec![1.0, 2.0, 0.0])
            .unwrap();
    let partition = Partition::from_labels(&[0, 1, -1]).unwrap();
    assert_eq!(verdict(|| same_columns(&partition, &soft)), None);
    let (x, centres) = (array![[0.0], [4.0], [100.0]], array![[1.0], [3.0], [50.0]]);
    assert_eq!(verdict(|| same_rows(&partition, (&x).into(), centres.view())), None);
}

#[test]
fn swapped_numbers_are_caught() {
    let soft = Memberships::new(array![[0.9, 0.1], [0.2, 0.8]]).unwrap();
    let caught = |labels: &[i64], says| {
        let partition = Partition::from_labels(labels).unwrap();
        must_catch(COLUMNS, &labels, says, || same_columns(&partition, &soft));
    };
    caught(&[0, 0], "object 1 has label Some(0)");
    caught(&[0, -1], "object 1 has label None and evidence 1");
    caught(&[0], "1 labels, 2 rows");
    let one = Memberships::new(array![[1.0], [1.0]]).unwrap();
    let two = Partition::from_labels(&[0, 1]).unwrap();
    must_catch(COLUMNS, &two, "2 clusters, 1 columns", || same_columns(&two, &one));
    let x = array![[0.0], [4.0]];
    let caught = |centres: ndarray::Array2<f64>, says| {
        must_catch(ROWS, &centres, says, || same_rows(&two, (&x).into(), centres.view()));
    };
    caught(array![[4.0], [0.0]], "centre 1 is nearer to the mean of cluster 0");
    caught(array![[0.0]], "2 clusters, 1 centres");
    caught(array![[0.0], [9.0], [4.0]], "centre 2 is nearer to the mean of cluster 1");
}
