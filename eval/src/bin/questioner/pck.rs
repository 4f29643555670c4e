//! PCK-Means on random pairs, and on those of its own scheme.

use consilience::constrained::PckMeans;
use consilience::core::ConstrainedClusterer;
use consilience::{Constraints, Link, Partition, Result, Seed, SideInformation};
use ndarray::{Array1, Array2, ArrayView1};

use crate::answerers::Answerers;

/// The pairs that a scheme has asked for, in order; answers that contradict those before are left
/// out, but paid for.
pub struct Pairs {
    stated: Constraints,
    /// Answers paid for when each stated pair came.
    paid: Vec<usize>,
    asked: usize,
}

impl Pairs {
    fn new(n: usize) -> Result<Self> {
        Ok(Pairs { stated: Constraints::new(n)?, paid: Vec::new(), asked: 0 })
    }

    fn ask(&mut self, i: usize, j: usize, answerers: &mut Answerers<'_>) -> bool {
        let same = answerers.same(i, j);
        self.asked += 1;
        let link = if same { Link::Must } else { Link::Cannot };
        if self.stated.add(i, j, link).is_ok() {
            self.paid.resize(self.stated.len(), self.asked);
        }
        same
    }

    /// PCK-Means with what the first answers said.
    pub fn cluster(
        &self,
        x: &Array2<f64>,
        k: usize,
        answers: usize,
        seed: Seed,
    ) -> Result<Partition> {
        let mut some = Constraints::new(x.nrows())?;
        for (pair, _) in self.stated.iter().zip(&self.paid).filter(|(_, paid)| **paid <= answers) {
            some.add(pair.i, pair.j, pair.link)?;
        }
        let side = SideInformation::from_constraints(&some);
        Ok(PckMeans::new(k).seed(seed).fit(x.into(), &side, &())?.output.partition)
    }
}

/// Pairs of random objects.
pub fn random(n: usize, count: usize, answerers: &mut Answerers<'_>, seed: Seed) -> Result<Pairs> {
    let mut draw = seed.derive("pairs", 0).stream();
    let mut pairs = Pairs::new(n)?;
    while pairs.asked < count {
        let (i, j) = (draw.below(n), draw.below(n));
        if i != j {
            pairs.ask(i, j, answerers);
        }
    }
    Ok(pairs)
}

/// The scheme of Basu, Banerjee and Mooney (2004): farthest-first objects until each cluster has a
/// neighbourhood, then random objects, each compared with the neighbourhoods in the order of their
/// centres' distance until one holds it.
pub fn farthest_first(
    x: &Array2<f64>,
    k: usize,
    count: usize,
    answerers: &mut Answerers<'_>,
    seed: Seed,
) -> Result<Pairs> {
    let n = x.nrows();
    let mut draw = seed.derive("scheme", 0).stream();
    let mut pairs = Pairs::new(n)?;
    let first = draw.below(n);
    let mut hoods: Vec<Vec<usize>> = vec![vec![first]];
    let mut placed = vec![false; n];
    placed[first] = true;
    let mut far: Vec<f64> = (0..n).map(|i| distance(x.row(i), x.row(first))).collect();
    while pairs.asked < count && hoods.len() < k {
        let free = (0..n).filter(|&i| !placed[i]);
        let Some(i) = free.max_by(|&a, &b| far[a].total_cmp(&far[b])) else { break };
        let order: Vec<usize> = (0..hoods.len()).collect();
        place(i, &order, &mut hoods, &mut pairs, count, answerers, true);
        placed[i] = true;
        for (o, d) in far.iter_mut().enumerate() {
            *d = d.min(distance(x.row(o), x.row(i)));
        }
    }
    let mut centres: Vec<Array1<f64>> = hoods.iter().map(|hood| mean(x, hood)).collect();
    while pairs.asked < count {
        let i = draw.below(n);
        if placed[i] {
            continue;
        }
        let mut order: Vec<usize> = (0..hoods.len()).collect();
        let near: Vec<f64> = centres.iter().map(|c| distance(x.row(i), c.view())).collect();
        order.sort_by(|&a, &b| near[a].total_cmp(&near[b]));
        if let Some(h) = place(i, &order, &mut hoods, &mut pairs, count, answerers, false) {
            centres[h] = mean(x, &hoods[h]);
        }
        placed[i] = true;
    }
    Ok(pairs)
}

/// Compares an object with one of each neighbourhood until it is in one; which one.
fn place(
    i: usize,
    order: &[usize],
    hoods: &mut Vec<Vec<usize>>,
    pairs: &mut Pairs,
    count: usize,
    answerers: &mut Answerers<'_>,
    open: bool,
) -> Option<usize> {
    for &h in order {
        if pairs.asked >= count {
            return None;
        }
        if pairs.ask(i, hoods[h][0], answerers) {
            hoods[h].push(i);
            return Some(h);
        }
    }
    if open {
        hoods.push(vec![i]);
    }
    None
}

fn mean(x: &Array2<f64>, rows: &[usize]) -> Array1<f64> {
    rows.iter().fold(Array1::zeros(x.ncols()), |sum, &i| sum + x.row(i)) / rows.len() as f64
}

fn distance(a: ArrayView1<'_, f64>, b: ArrayView1<'_, f64>) -> f64 {
    a.iter().zip(b).map(|(u, v)| (u - v) * (u - v)).sum()
}
