//! Crowds: the reference sets, where they are at hand.
//!
//! The sets are not part of the project. They are looked for in `$CONSILIENCE_DATA/crowd`, then
//! in `../shared/data/crowd` beside the checkout; without them the tests say so and pass.

use std::fs::File;

use consilience::completion::{Penalty, RobustCompletion};
use consilience::crowd::{AnswerCounts, Answers, CrowdClustering, CrowdMethod, GroupAnswer};
use consilience::ndarray::{Ix1, OwnedRepr};
use consilience::scores::{Normalizer, normalized_mutual_information};
use consilience::{MemoryBudget, Partition};
use ndarray_npy::NpzReader;

#[path = "reference/shared_data.rs"]
mod shared_data;

fn read(name: &str) -> Option<(Answers, Partition)> {
    let folder = shared_data::folder("crowd");
    let Ok(file) = File::open(folder.join(format!("crowd_{name}.npz"))) else {
        println!("{name}: no such crowd in {}, skipped", folder.display());
        return None;
    };
    let mut npz = NpzReader::new(file).unwrap();
    let mut column = |name: &str| npz.by_name::<OwnedRepr<i32>, Ix1>(name).unwrap().to_vec();
    let (worker, task, item, group) =
        (column("worker"), column("task"), column("item"), column("group"));
    let truth = Partition::from_labels(&column("y")).unwrap();
    let row = |r: usize| GroupAnswer {
        worker: worker[r] as usize,
        task: task[r] as usize,
        item: item[r] as usize,
        group: group[r] as usize,
    };
    let rows: Vec<GroupAnswer> = (0..worker.len()).map(row).collect();
    Some((Answers::from_groupings(truth.n_objects(), &rows).unwrap(), truth))
}

fn nmi(a: &Partition, b: &Partition) -> f64 {
    normalized_mutual_information(a, b, Normalizer::Arithmetic).unwrap()
}

#[test]
fn blocks_beat_the_mean_answer_where_workers_differ() {
    let (mut ours, mut spectral, mut sets) = (0.0, 0.0, 0);
    for name in ["birds5_drag_wp2", "birds5_drag_wp4", "birds5_radio2", "bluebirds"] {
        let Some((answers, truth)) = read(name) else { continue };
        let run = |method| {
            let crowd = CrowdClustering::new(truth.n_clusters()).method(method);
            nmi(&crowd.cluster(&answers).unwrap(), &truth)
        };
        let (block, mean) = (run(CrowdMethod::Block), run(CrowdMethod::Spectral));
        println!("{name}: block {block:.3}, spectral {mean:.3}");
        assert!(block > mean - 0.02, "{name}");
        (ours, spectral, sets) = (ours + block, spectral + mean, sets + 1);
    }
    assert!(sets == 0 || ours > spectral + 0.05 * f64::from(sets));
}

#[test]
fn real_answers_are_completed_to_a_certified_gap() {
    for name in ["birds5_drag_wp2", "birds5_radio2"] {
        let Some((answers, _)) = read(name) else { continue };
        let counts = AnswerCounts::of(&answers, MemoryBudget::default()).unwrap();
        let observed = counts.reliable_pairs(0.0, 0.9).unwrap();
        let fit = RobustCompletion::new()
            .penalty(Penalty::Scaled(2.0))
            .tolerance(1e-3)
            .fit(&observed, &())
            .unwrap();
        println!("{name}: {} after {} iterations", fit.output.objective, fit.report.iterations);
        assert!(fit.output.gap <= 1e-3);
    }
}
