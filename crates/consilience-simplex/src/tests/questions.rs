//! What to ask next, against its definition on rows of memberships.

use consilience_core::{Ensemble, Link, Pair, Partition, Seed};

use super::{links, open, world};
use crate::{ExactUpdate, PairLoss, PairQuestion, WeightUpdater};

/// The memberships of each object, and what each member says of it: its cluster, or where it says
/// nothing the memberships.
struct Naive {
    weights: Vec<f64>,
    soft: Vec<Vec<f64>>,
    said: Vec<Vec<Vec<f64>>>,
}

impl Naive {
    fn of(updater: &WeightUpdater) -> Self {
        let (weights, r) = (updater.weights(), updater.n_clusters());
        let common = |u: usize, i: usize| {
            let label = updater.ensemble().members()[u].label(i)?;
            updater.alignment_of(u).unwrap()[label]
        };
        let (mut soft, mut said) = (Vec::new(), Vec::new());
        for i in 0..updater.ensemble().n_objects() {
            let labels: Vec<Option<usize>> = (0..weights.len()).map(|u| common(u, i)).collect();
            let mut row = vec![0.0; r];
            for (label, weight) in labels.iter().zip(&weights) {
                row[label.unwrap_or(0)] += if label.is_some() { weight } else { &0.0 };
            }
            let all: f64 = row.iter().sum();
            row.iter_mut().for_each(|v| *v = if all > 0.0 { *v / all } else { 1.0 / r as f64 });
            let one = |l: usize| (0..r).map(|c| f64::from(u8::from(c == l))).collect();
            said.push(labels.into_iter().map(|l| l.map_or_else(|| row.clone(), one)).collect());
            soft.push(row);
        }
        Naive { weights, soft, said }
    }

    fn margin(&self, i: usize) -> f64 {
        let mut row = self.soft[i].clone();
        row.sort_by(|a, b| b.total_cmp(a));
        row[0] - row[1]
    }

    fn together(&self, i: usize, j: usize) -> f64 {
        dot(&self.soft[i], &self.soft[j])
    }

    /// The expected length of the gradient within the simplex.
    fn movement(&self, i: usize, j: usize, loss: PairLoss) -> f64 {
        let length = |link: Link| {
            let sign = if link == Link::Must { -1.0 } else { 1.0 };
            let slope = |u: usize| {
                let (a, b) = (&self.said[i][u], &self.said[j][u]);
                let (fi, fj) = (&self.soft[i], &self.soft[j]);
                match loss {
                    PairLoss::Squared => (0..fi.len())
                        .map(|c| 2.0 * (fi[c] + sign * fj[c]) * (a[c] + sign * b[c]))
                        .sum(),
                    PairLoss::Probability => sign * (dot(a, fj) + dot(fi, b)),
                }
            };
            let slopes: Vec<f64> = (0..self.weights.len()).map(slope).collect();
            let mean = slopes.iter().sum::<f64>() / slopes.len() as f64;
            slopes.iter().map(|s| (s - mean) * (s - mean)).sum::<f64>().sqrt()
        };
        let p = self.together(i, j);
        p * length(Link::Must) + (1.0 - p) * length(Link::Cannot)
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn assert_as_defined(naive: &Naive, q: &PairQuestion, loss: PairLoss) {
    assert!((q.together - naive.together(q.i, q.j)).abs() < 1e-9, "{q:?}");
    let expected = naive.movement(q.i, q.j, loss);
    assert!((q.movement - expected).abs() < 1e-9 * (1.0 + expected), "{q:?}, not {expected}");
}

#[test]
fn all_open_pairs_and_objects_of_few() {
    for (missing, loss) in
        [(0.0, PairLoss::Squared), (0.3, PairLoss::Squared), (0.3, PairLoss::Probability)]
    {
        let (e, truth) = world(6, 40, 7, missing);
        let mut updater = open(&e, 3);
        updater.set_rule(ExactUpdate::default().loss(loss)).unwrap();
        updater.update(&links(&truth, 25, 1)).unwrap();
        let naive = Naive::of(&updater);
        let all = updater.next_questions(2000, Seed(2)).unwrap();
        assert_eq!(all.objects.len(), 40);
        for o in &all.objects {
            assert!((o.margin - naive.margin(o.object)).abs() < 1e-9, "{o:?}");
        }
        all.pairs.iter().for_each(|q| assert_as_defined(&naive, q, loss));
        let relation = |i: usize, j: usize| updater.constraints().relation(i, j);
        let open: usize =
            (0..40).map(|j| (0..j).filter(|&i| relation(i, j).is_none()).count()).sum();
        assert_eq!(all.pairs.len(), open);
        // Of few questions the first pair moves most, and each next one most among the objects
        // that were not asked about.
        let few = updater.next_questions(6, Seed(2)).unwrap().pairs;
        let mut asked = Vec::new();
        for q in &few {
            let fresh = |p: &&PairQuestion| !asked.contains(&p.i) && !asked.contains(&p.j);
            let best = all.pairs.iter().filter(fresh).map(|p| p.movement).fold(0.0, f64::max);
            assert_eq!(q.movement, best);
            asked.extend([q.i, q.j]);
        }
    }
}

/// Where no object is left that was not asked about, the others follow, the best first.
#[test]
fn objects_come_again_only_behind_all_others() {
    let (e, _) = world(9, 12, 5, 0.0);
    let pairs = open(&e, 3).next_questions(30, Seed(0)).unwrap().pairs;
    let mut seen = std::collections::BTreeSet::new();
    let first = pairs.iter().take_while(|q| seen.insert(q.i) && seen.insert(q.j)).count();
    assert_eq!((first, pairs.len()), (6, 30));
    assert!(pairs[first..].windows(2).all(|w| w[0].movement >= w[1].movement));
}

#[test]
fn half_of_the_pairs_of_many_objects_have_an_uncertain_one() {
    let (e, _) = world(7, 5000, 7, 0.1);
    let updater = open(&e, 3);
    let naive = Naive::of(&updater);
    let all = updater.next_questions(5000, Seed(3)).unwrap();
    let (objects, pairs) = (&all.objects, &all.pairs);
    assert!((1500..=2048).contains(&objects.len()), "{}", objects.len());
    assert!((3500..=4096).contains(&pairs.len()), "{}", pairs.len());
    assert!(objects.windows(2).all(|w| w[0].margin <= w[1].margin));
    // They are drawn from everywhere.
    let late = objects.iter().filter(|o| o.object >= 2500).count();
    assert!((800..1300).contains(&late), "{late}");
    let uncertain: Vec<usize> = objects[..objects.len() / 8].iter().map(|o| o.object).collect();
    let with = |q: &&PairQuestion| uncertain.contains(&q.i) || uncertain.contains(&q.j);
    let share = pairs.iter().filter(with).count() as f64 / pairs.len() as f64;
    // Half of the first ones, and an eighth of all the rest.
    assert!((0.55..0.68).contains(&share), "{share}");
    pairs.iter().step_by(40).for_each(|q| assert_as_defined(&naive, q, PairLoss::Squared));
}

#[test]
fn who_has_no_label_is_not_asked_about() {
    let labels = |l: &[i64]| Partition::from_labels(l).unwrap();
    let e = Ensemble::new(vec![labels(&[0, 0, 1, 1, -1]), labels(&[0, 1, 1, 0, -1])]).unwrap();
    let asked = open(&e, 2).next_questions(20, Seed(0)).unwrap();
    assert_eq!(asked.objects.len(), 4);
    assert_eq!(asked.pairs.len(), 6);
    assert!(asked.pairs.iter().all(|q| q.j < 4));
}

/// Six equal cells of five objects in four equal members: no answer moves the weights. Pairs of one
/// cell came first.
fn six_cells() -> Ensemble {
    let labels = ndarray::Array2::from_shape_fn((30, 4), |(i, _)| i as i64 / 5);
    Ensemble::from_array(labels.view()).unwrap()
}

#[test]
fn equal_members_are_asked_about_cell_by_cell() {
    let mut updater = open(&six_cells(), 6);
    let mut asked = std::collections::BTreeSet::<(usize, usize)>::new();
    for batch in 0..3 {
        let pairs = updater.next_questions(5, Seed(batch)).unwrap().pairs;
        assert_eq!(pairs.len(), 5);
        let mut objects: Vec<usize> = pairs.iter().flat_map(|q| [q.i, q.j]).collect();
        objects.sort_unstable();
        objects.dedup();
        assert_eq!(objects.len(), 10, "{batch}: {pairs:?}");
        for q in &pairs {
            assert_eq!(q.movement, 0.0);
            assert!(q.i / 5 != q.j / 5, "{batch}: {pairs:?}");
            asked.insert((q.i / 5, q.j / 5));
        }
        let link = |q: &PairQuestion| {
            let link = if q.i / 10 == q.j / 10 { Link::Must } else { Link::Cannot };
            Pair::new(q.i, q.j, link)
        };
        updater.update(&pairs.iter().map(link).collect::<Vec<_>>()).unwrap();
    }
    // Of the 15 pairs of cells hardly any twice before all were asked about.
    assert!(asked.len() >= 12, "{asked:?}");
}

/// Cells of 2, 3, 4 and 5 objects: the same cells are asked about, whatever the order of the rows.
#[test]
fn rows_in_another_order_have_the_questions_of_their_cells() {
    let cell = [0, 0, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 3];
    let asked = |order: &dyn Fn(usize) -> usize| {
        let labels = ndarray::Array2::from_shape_fn((14, 3), |(i, _)| cell[order(i)]);
        let e = Ensemble::from_array(labels.view()).unwrap();
        let pairs = open(&e, 2).next_questions(6, Seed(0)).unwrap().pairs;
        let of = |q: &PairQuestion| {
            let cells = [q.i, q.j].map(|i| cell[order(i)]);
            (cells[0].min(cells[1]), cells[0].max(cells[1]))
        };
        pairs.iter().map(of).collect::<Vec<_>>()
    };
    let plain = asked(&|i| i);
    assert_eq!(plain[0], (2, 3), "the largest cells first");
    assert!(plain.iter().all(|(a, b)| a != b), "{plain:?}");
    assert_eq!(asked(&|i| 13 - i), plain);
    assert_eq!(asked(&|i| i * 5 % 14), plain);
}
