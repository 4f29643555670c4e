//! Side-information clustering on the feature sets of the thesis, which are not part of the
//! project: without them the tests say so and pass.

use consilience::completion::Mccc;
use consilience::ndarray::{Array1, Array2, Axis, Ix1, Ix2, OwnedRepr, stack};
use consilience::{Constraints, Link, Partition, Seed, SideInformation, Status, scores};
use ndarray_npy::NpzReader;

#[path = "reference/shared_data.rs"]
mod shared_data;

fn read(name: &str) -> Option<(Array2<f64>, Partition)> {
    let folder = shared_data::folder("features");
    let Ok(file) = std::fs::File::open(folder.join(format!("{name}.npz"))) else {
        println!("{name}: not there, skipped");
        return None;
    };
    let mut npz = NpzReader::new(file).unwrap();
    let x: Array2<f32> = npz.by_name::<OwnedRepr<f32>, Ix2>("x").unwrap();
    let y: Array1<i32> = npz.by_name::<OwnedRepr<i32>, Ix1>("y").unwrap();
    Some((x.mapv(f64::from), Partition::from_labels(&y.to_vec()).unwrap()))
}

fn constraints(truth: &Partition, pairs: usize) -> Constraints {
    let n = truth.n_objects();
    let mut stream = Seed(0).derive("pairs", pairs as u64).stream();
    let mut out = Constraints::new(n).unwrap();
    while out.len() < pairs {
        let (i, j) = (stream.below(n), stream.below(n));
        if i != j {
            let link = if truth.label(i) == truth.label(j) { Link::Must } else { Link::Cannot };
            out.add(i, j, link).unwrap();
        }
    }
    out
}

fn nmi(x: &Array2<f64>, truth: &Partition, pairs: usize) -> f64 {
    let known = SideInformation::from_constraints(&constraints(truth, pairs));
    let found = Mccc::new(truth.n_clusters()).fit_completed(x.view(), &known, &()).unwrap();
    println!("{pairs} pairs: {:?}", found.report.notes);
    assert_eq!(found.report.status, Status::Solved);
    scores::normalized_mutual_information(
        &found.output.clustering.partition,
        truth,
        scores::Normalizer::Arithmetic,
    )
    .unwrap()
}

/// Table 5.3 has .982 and .750; C, k and the basis are chosen here, without the truth.
#[test]
fn mushrooms_and_segmentation_as_in_the_thesis() {
    if let Some((x, truth)) = read("mushrooms") {
        let mut columns = Vec::new();
        for column in x.columns() {
            for value in 1..=12 {
                if column.iter().any(|&v| v == f64::from(value)) {
                    columns.push(column.mapv(|v| f64::from(u8::from(v == f64::from(value)))));
                }
            }
        }
        let views: Vec<_> = columns.iter().map(|c| c.view()).collect();
        let found = nmi(&stack(Axis(1), &views).unwrap(), &truth, 2000);
        assert!(found > 0.97, "mushrooms {found}");
    }
    if let Some((x, truth)) = read("segmentation") {
        let found = nmi(&x, &truth, 2000);
        assert!(found > 0.73, "segmentation {found}");
    }
}
