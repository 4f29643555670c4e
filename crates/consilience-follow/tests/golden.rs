//! States and clusterings keep their bits.

use consilience_conformance::planted;
use consilience_core::{
    BaseClusterer, Features, Fit, Observer, Pair, Partition, Report, Result, Seed,
};
use consilience_num::kmeans::{self, KMeansOptions};
use consilience_simplex::{
    AdditiveUpdate, ExactUpdate, HullGrowth, MultiplicativeUpdate, PairLoss, UpdateRule, Updater,
    UpdaterSetup,
};
use ndarray::Array2;

struct Means;

impl BaseClusterer for Means {
    fn name(&self) -> &'static str {
        "means"
    }

    fn fit(
        &self,
        x: Features<'_>,
        k: usize,
        seed: Seed,
        _: &dyn Observer,
    ) -> Result<Fit<Partition>> {
        let Features::F64(x) = x else { panic!("double precision is wanted") };
        let options = KMeansOptions::new(k).seed(seed);
        let fit = kmeans::fit(x, None, &options, &mut |_| true);
        Ok(Fit::new(Partition::from_labels(&fit.assignment)?, Report::default()))
    }
}

fn fnv(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |h, &b| (h ^ u64::from(b)).wrapping_mul(0x0000_0100_0000_01b3))
}

fn links(truth: &Partition, count: usize, seed: u64) -> Vec<Pair> {
    let (mut draw, n) = (Seed(seed).stream(), truth.n_objects());
    (0..count)
        .map(|_| (draw.below(n), draw.below(n)))
        .map(|(i, j)| {
            if truth.label(i) == truth.label(j) {
                Pair::must_link(i, j)
            } else {
                Pair::cannot_link(i, j)
            }
        })
        .collect()
}

fn labels(p: &Partition) -> Vec<u8> {
    p.to_signed().into_iter().map(|l| l as u8).collect()
}

/// State after three batches, three read-outs, questions.
fn run(rule: UpdateRule, clusters: usize, missing: f64, grow: bool) -> [u64; 6] {
    let world = planted(Seed(3), &[50, 40, 30], 8, 0.5, missing).unwrap();
    let mut draw = Seed(4).stream();
    let x = Array2::from_shape_fn((120, 3), |(i, j)| {
        f64::from(u8::from(world.truth.label(i) == Some(j))) + 0.4 * draw.normal()
    });
    let setup = UpdaterSetup::new(clusters).rule(rule);
    let mut updater: Updater = setup.updater(world.ensemble.clone()).unwrap();
    for batch in 0..3 {
        updater.update(&links(&world.truth, 40, batch)).unwrap();
        if grow {
            updater.grow(x.view().into(), &HullGrowth::new(Means).members(10), 0.2, &()).unwrap();
        }
    }
    let read = updater.read_out(&()).unwrap().output;
    let read = read.partition(updater.ensemble(), &()).unwrap();
    let asked = updater.next_questions(5, Seed(1)).unwrap();
    let asked: Vec<u8> = asked.pairs.iter().flat_map(|q| [q.i as u8, q.j as u8]).collect();
    [
        fnv(&updater.to_bytes()),
        fnv(&labels(&read)),
        fnv(&labels(&updater.partition().unwrap())),
        fnv(&labels(&updater.partition_by_kmeans(Seed(1), &()).unwrap().output)),
        fnv(&labels(&updater.consensus(clusters, Seed(1), &()).unwrap().output)),
        fnv(&asked),
    ]
}

#[test]
fn bits() {
    let rules: [UpdateRule; 4] = [
        ExactUpdate::default().into(),
        ExactUpdate::default().loss(PairLoss::Probability).max_iterations(20).into(),
        AdditiveUpdate::default().into(),
        MultiplicativeUpdate::default().into(),
    ];
    for rule in rules {
        for (clusters, missing, grow) in [(3, 0.0, false), (4, 0.1, false), (3, 0.1, true)] {
            println!("{:#018x?},", run(rule.clone(), clusters, missing, grow));
        }
    }
}
