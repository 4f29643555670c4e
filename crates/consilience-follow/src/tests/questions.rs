use consilience_conformance::planted;
use consilience_core::{Link, Pair, Seed};

use crate::{MetricRule, Updater, UpdaterSetup};

fn answered(updater: &Updater, pairs: &[(usize, usize)]) -> Vec<Pair> {
    let truth = |i: usize| i / 40;
    let link = |i, j| if truth(i) == truth(j) { Link::Must } else { Link::Cannot };
    let n = updater.ensemble().n_objects();
    pairs.iter().filter(|p| p.1 < n).map(|&(i, j)| Pair::new(i, j, link(i, j))).collect()
}

/// By turns within a cluster of the read-out and between two, no object twice, nothing that is
/// known, the same for the same seed; before the metric is open and after.
#[test]
fn questions_alternate_under_the_read_out() {
    let world = planted(Seed(1), &[40; 5], 9, 0.3, 0.05).unwrap();
    let mut updater = Updater::new(world.ensemble.clone(), 5).unwrap();
    for round in 0..4u64 {
        let now = match round {
            0 => updater.by_weights().partition().unwrap(),
            _ => updater.partition().unwrap(),
        };
        let asked = updater.next_questions(30, Seed(round)).unwrap();
        assert_eq!(asked, updater.next_questions(30, Seed(round)).unwrap());
        assert_ne!(asked.pairs, updater.next_questions(30, Seed(round + 9)).unwrap().pairs);
        assert_eq!(asked.pairs.len(), 30);
        let mut objects: Vec<usize> = asked.pairs.iter().flat_map(|q| [q.i, q.j]).collect();
        objects.sort_unstable();
        objects.dedup();
        assert_eq!(objects.len(), 60, "an object twice");
        for (at, q) in asked.pairs.iter().enumerate() {
            assert!(q.i < q.j && updater.constraints().relation(q.i, q.j).is_none());
            assert_eq!(now.label(q.i) == now.label(q.j), at % 2 == 0, "round {round}, pair {at}");
            assert!((0.0..=1.0 + 1e-9).contains(&q.together) && q.movement >= 0.0);
        }
        let pairs: Vec<(usize, usize)> = asked.pairs.iter().map(|q| (q.i, q.j)).collect();
        updater.update(&answered(&updater, &pairs)).unwrap();
    }
}

/// Few objects: all open pairs are found, and none where all is known.
#[test]
fn few_objects_are_asked_about_in_full() {
    let world = planted(Seed(2), &[4, 3], 5, 0.2, 0.0).unwrap();
    let mut updater = UpdaterSetup::new(2)
        .metric_rule(MetricRule::new(2).restarts(1))
        .updater(world.ensemble.clone())
        .unwrap();
    let all = updater.next_questions(100, Seed(0)).unwrap().pairs;
    assert_eq!(all.len(), 21);
    let mut seen: Vec<(usize, usize)> = all.iter().map(|q| (q.i, q.j)).collect();
    seen.sort_unstable();
    seen.dedup();
    assert_eq!(seen.len(), 21);
    let said: Vec<Pair> = seen
        .iter()
        .map(|&(i, j)| {
            let same = world.truth.label(i) == world.truth.label(j);
            Pair::new(i, j, if same { Link::Must } else { Link::Cannot })
        })
        .collect();
    updater.update(&said).unwrap();
    assert!(updater.next_questions(3, Seed(0)).unwrap().pairs.is_empty());
}
