//! Generated ensembles.

use consilience::{Ensemble, Partition, Seed};

/// Members that see a share of the objects and cut noisy positions of `classes` groups into 2 to 10
/// pieces.
pub fn half_sampled(n: usize, members: usize, classes: usize, share: f64) -> (Partition, Ensemble) {
    let mut random = Seed(1).stream();
    let truth: Vec<usize> = (0..n).map(|_| random.below(classes)).collect();
    let x: Vec<f64> = truth.iter().map(|&t| t as f64 + 0.5 + 0.15 * random.normal()).collect();
    let members = (0..members)
        .map(|u| {
            let mut random = Seed(2).derive("member", u as u64).stream();
            let (pieces, shift) = (2 + random.below(9), random.uniform());
            let labels: Vec<i64> = x
                .iter()
                .map(|x| {
                    if random.uniform() >= share {
                        return -1;
                    }
                    let at = x + 0.1 * random.normal();
                    // Few pieces split between classes, many split within.
                    if pieces <= classes {
                        at as i64
                    } else {
                        ((at + shift) / classes as f64 * pieces as f64) as i64
                    }
                })
                .map(|l| l.max(-1))
                .collect();
            Partition::from_labels(&labels).expect("labels")
        })
        .collect();
    let truth = Partition::from_labels(&truth).expect("labels");
    (truth, Ensemble::new(members).expect("members of one length"))
}
