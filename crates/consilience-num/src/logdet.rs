//! The metric of least LogDet divergence from the identity under bounds on squared lengths.

mod blocks;

use consilience_core::{Error, Link, Result};
use ndarray::Array2;

use crate::dot;
use crate::eigen::symmetric_eigen;
use blocks::Blocks;

/// A metric M on q dimensions that makes must-linked differences short and cannot-linked ones long,
/// and else stays near the identity: cyclic Bregman projections, which can be continued.
///
/// ```text
/// minimise  tr(M) - log det M  +  slack * (divergence of the bounds reached from those asked for)
/// subject to   v' M v <= near  (must),   v' M v >= far  (cannot),   for the differences v
/// ```
///
/// Every link keeps its dual variable. A link that comes later therefore starts from what was
/// solved before, and the end is the metric of all links together, whatever the batches were (to
/// the tolerance).
///
/// ```
/// use consilience::Link;
/// use consilience::num::logdet::LogDet;
///
/// let mut metric = LogDet::new(2, 1.0, 0.5, 4.0);
/// assert!(metric.add(vec![0.1, 2.0], Link::Must));
/// assert!(metric.add(vec![1.0, 0.1], Link::Cannot));
/// let (sweeps, solved) = metric.settle(1e-3, 1000, |_sweep| Ok(()))?;
/// assert!(solved && sweeps < 1000);
/// assert!(metric.square(&[1.0, 0.0]) > 1.0 && metric.square(&[0.0, 1.0]) < 1.0);
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Complexity
/// O(q^2) time per link and sweep, `q^2 + links (q + 2)` numbers. Every projection needs the one
/// before; from 128 dimensions on 128 links go together, by matrix products on all threads.
///
/// # References
/// J. Davis, B. Kulis, P. Jain, S. Sra, I. Dhillon, "Information-theoretic metric learning", 2007,
/// Algorithm 1.
#[derive(Clone, Debug, PartialEq)]
pub struct LogDet {
    q: usize,
    slack: f64,
    near: f64,
    far: f64,
    m: Vec<f64>,
    links: Vec<Projection>,
}

/// One link with its own bound and dual variable.
#[derive(Clone, Debug, PartialEq)]
struct Projection {
    v: Vec<f64>,
    sign: f64,
    bound: f64,
    dual: f64,
}

/// Multiplications of a sweep between two questions whether to go on.
const WORK: usize = 1 << 28;

/// Squared differences below this share of the far bound are rounding.
const EQUAL: f64 = 1e-20;

impl LogDet {
    /// The identity on q dimensions, without links. The slack (how much a violated link counts
    /// against the distance from the identity) and both bounds must be positive, which the caller
    /// sees to.
    pub fn new(q: usize, slack: f64, near: f64, far: f64) -> Self {
        let mut m = vec![0.0; q * q];
        (0..q).for_each(|j| m[j * q + j] = 1.0);
        LogDet { q, slack, near, far, m, links: Vec::new() }
    }

    /// Number of dimensions q.
    pub fn n_dimensions(&self) -> usize {
        self.q
    }

    /// Number of links that were added.
    pub fn n_links(&self) -> usize {
        self.links.len()
    }

    /// Adds a link between two points with the difference `v`, of q numbers;
    /// [`settle`](LogDet::settle) then moves the metric. `false`, and nothing is added, where the
    /// points are equal or the length is not q.
    pub fn add(&mut self, v: Vec<f64>, link: Link) -> bool {
        let square: f64 = v.iter().map(|x| x * x).sum();
        let differ = v.len() == self.q && square > EQUAL * self.far && square.is_finite();
        if differ {
            let (sign, bound) = match link {
                Link::Must => (1.0, self.near),
                Link::Cannot => (-1.0, self.far),
            };
            self.links.push(Projection { v, sign, bound, dual: 0.0 });
        }
        differ
    }

    /// Sweeps over all links, in the order in which they were added, until a sweep changes the
    /// duals by at most `tolerance` times their sum: the sweeps done, and whether that was reached.
    /// `before` is called with the number of each sweep before it, and in a long sweep now and
    /// then, and may stop with an error.
    ///
    /// # Errors
    /// That of `before`.
    pub fn settle(
        &mut self,
        tolerance: f64,
        sweeps: usize,
        mut before: impl FnMut(usize) -> Result<()>,
    ) -> Result<(usize, bool)> {
        let LogDet { q, slack, m, links, .. } = self;
        let mut one = Lazy::new(m, *q);
        let mut blocks = (*q >= blocks::DIMENSIONS).then(|| Blocks::new(*q));
        for sweep in 0..sweeps {
            before(sweep).inspect_err(|_| one.finish())?;
            let mut moved = Moved::default();
            // Links between two questions.
            let some = WORK / (2 * one.q * one.q).max(1) + 1;
            match &mut blocks {
                Some(blocks) => {
                    let asked = some.div_ceil(blocks::LINKS);
                    for (b, block) in links.chunks_mut(blocks::LINKS).enumerate() {
                        if b > 0 && b % asked == 0 {
                            before(sweep)?;
                        }
                        blocks.project(one.m, block, *slack, &mut moved);
                    }
                }
                None => {
                    for (at, links) in links.chunks_mut(some).enumerate() {
                        if at > 0 {
                            before(sweep).inspect_err(|_| one.finish())?;
                        }
                        for link in links {
                            let square = one.square(&link.v);
                            one.pending = link.project(square, *slack, &mut moved);
                        }
                    }
                }
            }
            if moved.by <= tolerance * moved.size {
                one.finish();
                return Ok((sweep + 1, true));
            }
        }
        one.finish();
        Ok((sweeps, false))
    }

    /// The squared length v' M v.
    pub fn square(&self, v: &[f64]) -> f64 {
        self.m.chunks_exact(self.q.max(1)).zip(v).map(|(row, x)| x * dot(row, v)).sum()
    }

    /// M, symmetric to the last bit.
    pub fn metric(&self) -> Array2<f64> {
        let q = self.q;
        Array2::from_shape_fn((q, q), |(i, j)| 0.5 * (self.m[i * q + j] + self.m[j * q + i]))
    }

    /// A root L with `M = L L'`, q x q: points in rows, times L, are Euclidean under the metric.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidParameter`](consilience_core::ErrorKind::InvalidParameter) where M is
    /// not finite, which bounds far from each other can bring about.
    pub fn root(&self) -> Result<Array2<f64>> {
        if self.q == 0 {
            return Ok(Array2::zeros((0, 0)));
        }
        let eigen = symmetric_eigen(self.metric().view())
            .ok_or_else(|| Error::invalid("the learned metric is not finite"))?;
        let mut root = eigen.vectors;
        for (mut column, v) in root.columns_mut().into_iter().zip(&eigen.values) {
            column *= v.max(0.0).sqrt();
        }
        Ok(root)
    }

    /// What was learned, for a snapshot: the entries of M row by row, then bound and dual of every
    /// link.
    pub fn values(&self) -> impl Iterator<Item = f64> + '_ {
        let duals = self.links.iter().flat_map(|l| [l.bound, l.dual]);
        self.m.iter().copied().chain(duals)
    }

    /// Puts back what [`values`](LogDet::values) gave, after the same links were added; `next`
    /// gives one number after the other.
    ///
    /// # Errors
    /// That of `next`; the metric is then of no use.
    pub fn restore(&mut self, mut next: impl FnMut() -> Result<f64>) -> Result<()> {
        for m in &mut self.m {
            *m = next()?;
        }
        for link in &mut self.links {
            link.bound = next()?;
            link.dual = next()?;
        }
        Ok(())
    }
}

/// How far a sweep moved the duals, and how large they are.
#[derive(Default)]
struct Moved {
    by: f64,
    size: f64,
}

impl Projection {
    /// The Bregman projection of Algorithm 1, steps 3.3 to 3.8 (for another slack than 1 as it
    /// follows from the projection, which is not as it is printed), where `square` is v' M v: the
    /// factor of the update `M += factor (M v)(M v)'`.
    fn project(&mut self, square: f64, slack: f64, moved: &mut Moved) -> f64 {
        let dual = self.dual;
        let mut factor = 0.0;
        if square > 0.0 {
            let step = slack / (slack + 1.0) * (1.0 / square - 1.0 / self.bound);
            let alpha = self.dual.min(self.sign * step);
            self.dual -= alpha;
            if alpha != 0.0 {
                factor = self.sign * alpha / (1.0 - self.sign * alpha * square);
                self.bound = slack * self.bound / (slack + self.sign * alpha * self.bound);
            }
        }
        moved.by += (self.dual - dual).abs();
        moved.size += self.dual.abs().max(dual.abs());
        factor
    }
}

/// M under rank-one updates `M += pending (M v)(M v)'`; the latest is carried out together with the
/// next product, in one pass over M.
struct Lazy<'a> {
    m: &'a mut [f64],
    q: usize,
    /// M v of the vector asked last, and before it.
    product: Vec<f64>,
    next: Vec<f64>,
    pending: f64,
}

impl<'a> Lazy<'a> {
    fn new(m: &'a mut [f64], q: usize) -> Self {
        Lazy { m, q, product: vec![0.0; q], next: vec![0.0; q], pending: 0.0 }
    }

    /// v' M v.
    fn square(&mut self, v: &[f64]) -> f64 {
        let (u, beta) = (&self.product, self.pending);
        for ((row, &ui), out) in self.m.chunks_exact_mut(self.q).zip(u).zip(&mut self.next) {
            add(row, beta, ui, u);
            *out = dot(row, v);
        }
        self.pending = 0.0;
        std::mem::swap(&mut self.product, &mut self.next);
        dot(&self.product, v)
    }

    /// Carries out the last update.
    fn finish(&mut self) {
        let (u, beta) = (&self.product, self.pending);
        for (row, &ui) in self.m.chunks_exact_mut(self.q.max(1)).zip(u) {
            add(row, beta, ui, u);
        }
        self.pending = 0.0;
    }
}

fn add(row: &mut [f64], beta: f64, ui: f64, u: &[f64]) {
    if beta != 0.0 {
        let by = beta * ui;
        row.iter_mut().zip(u).for_each(|(m, u)| *m += by * u);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::on_pool;
    use consilience_core::Seed;
    use ndarray::Array1;

    type Links = Vec<(Vec<f64>, Link)>;

    fn links(seed: u64) -> (usize, Links) {
        let mut s = Seed(seed).stream();
        let q = 1 + s.below(19);
        let links = (0..1 + s.below(30))
            .map(|_| {
                let link = if s.below(2) == 0 { Link::Must } else { Link::Cannot };
                ((0..q).map(|_| s.normal()).collect(), link)
            })
            .collect();
        (q, links)
    }

    /// Algorithm 1 as it stands, with matrices.
    fn reference(q: usize, links: &Links, slack: f64, sweeps: usize) -> Array2<f64> {
        let mut a = Array2::<f64>::eye(q);
        let mut rows: Vec<(Array1<f64>, f64, f64, f64)> = links
            .iter()
            .map(|(v, link)| match link {
                Link::Must => (Array1::from_vec(v.clone()), 1.0, 0.5, 0.0),
                Link::Cannot => (Array1::from_vec(v.clone()), -1.0, 4.0, 0.0),
            })
            .collect();
        for _ in 0..sweeps {
            for (v, delta, xi, lambda) in &mut rows {
                let av = a.dot(v);
                let p = v.dot(&av);
                let alpha = lambda.min(*delta * slack / (slack + 1.0) * (1.0 / p - 1.0 / *xi));
                let beta = *delta * alpha / (1.0 - *delta * alpha * p);
                *xi = slack * *xi / (slack + *delta * alpha * *xi);
                *lambda -= alpha;
                a = &a + &(Array2::from_shape_fn((q, q), |(i, j)| av[i] * av[j]) * beta);
            }
        }
        a
    }

    #[test]
    fn equals_the_algorithm_of_the_paper() {
        for seed in 0..20 {
            let (q, links) = links(seed);
            let mut metric = LogDet::new(q, 0.7, 0.5, 4.0);
            links.iter().for_each(|(v, link)| assert!(metric.add(v.clone(), *link)));
            metric.settle(1e-300, 6, |_| Ok(())).unwrap();
            let expected = reference(q, &links, 0.7, 6);
            let size = expected.iter().fold(1.0f64, |m, v| m.max(v.abs()));
            let found = metric.metric();
            assert!((&found - &expected).iter().all(|e| e.abs() < 1e-9 * size), "seed {seed}");
            let root = metric.root().unwrap();
            assert!((root.dot(&root.t()) - &found).iter().all(|e| e.abs() < 1e-9 * size));
            let v = &links[0].0;
            let plain = Array1::from_vec(v.clone());
            let square = plain.dot(&found.dot(&plain));
            assert!((metric.square(v) - square).abs() < 1e-9 * size * (1.0 + square));
        }
    }

    /// Blocks of links are the same projections, one after the other, at any number of threads.
    #[test]
    fn blocks_are_single_projections() {
        for (seed, q, n) in [(0, 130, 200), (1, 128, 64), (2, 200, 65), (3, 150, 1)] {
            let mut s = Seed(seed).stream();
            let mut metric = LogDet::new(q, 0.7, 0.5 * q as f64, 4.0 * q as f64);
            for i in 0..n {
                let v = (0..q).map(|j| s.normal() * if j < 3 { 2.0 } else { 0.5 }).collect();
                assert!(metric.add(v, if i % 3 == 0 { Link::Cannot } else { Link::Must }));
            }
            let threads = |threads: usize| {
                let mut own = metric.clone();
                on_pool(threads, || own.settle(1e-300, 5, |_| Ok(())).unwrap());
                own
            };
            let found = threads(1);
            assert_eq!(found, threads(3), "seed {seed}");
            let LogDet { q, slack, m, links, .. } = &mut metric;
            let mut one = Lazy::new(m, *q);
            for _ in 0..5 {
                for link in links.iter_mut() {
                    let square = one.square(&link.v);
                    one.pending = link.project(square, *slack, &mut Moved::default());
                }
            }
            one.finish();
            let size = metric.m.iter().fold(1.0f64, |m, v| m.max(v.abs()));
            let near = |(a, b): (&f64, &f64)| (a - b).abs() < 1e-9 * size;
            assert!(found.m.iter().zip(&metric.m).all(near), "seed {seed}");
            for (a, b) in found.links.iter().zip(&metric.links) {
                assert!((a.dual - b.dual).abs() < 1e-9 * (1.0 + b.dual.abs()), "seed {seed}");
            }
        }
    }

    #[test]
    fn goes_on_from_what_was_stored_bit_by_bit() {
        for seed in 0..20 {
            let (q, links) = links(seed);
            let mut metric = LogDet::new(q, 0.7, 0.5, 4.0);
            links.iter().for_each(|(v, link)| assert!(metric.add(v.clone(), *link)));
            let mut stored = metric.clone();
            metric.settle(1e-300, 3, |_| Ok(())).unwrap();
            let values: Vec<f64> = metric.values().collect();
            let mut next = values.iter().copied();
            stored.restore(|| next.next().ok_or_else(|| Error::invalid("too short"))).unwrap();
            assert!(next.next().is_none());
            assert_eq!(stored, metric);
            let mut short = values[1..].iter().copied();
            assert!(stored.restore(|| short.next().ok_or_else(|| Error::invalid(""))).is_err());
        }
    }

    #[test]
    fn equal_points_and_wrong_lengths_are_left_out_and_a_stop_keeps_the_metric_whole() {
        let mut metric = LogDet::new(2, 1.0, 0.5, 4.0);
        assert!(!metric.add(vec![0.0, 0.0], Link::Must));
        assert!(!metric.add(vec![1.0], Link::Must));
        assert!(!metric.add(vec![f64::NAN, 1.0], Link::Cannot));
        assert!(metric.add(vec![2.0, 0.0], Link::Must));
        let mut one = metric.clone();
        one.settle(0.0, 1, |_| Ok(())).unwrap();
        let stop = |sweep| if sweep == 1 { Err(Error::cancelled()) } else { Ok(()) };
        assert!(metric.settle(0.0, 9, stop).is_err());
        assert_eq!(metric, one);
        assert_eq!(LogDet::new(0, 1.0, 0.5, 4.0).settle(0.1, 5, |_| Ok(())).unwrap(), (1, true));
    }

    #[test]
    fn a_long_sweep_is_asked_about_in_its_middle() {
        for q in [100, 200] {
            let mut metric = LogDet::new(q, 1.0, 0.5, 4.0);
            let mut s = Seed(1).stream();
            for _ in 0..2 * WORK / (2 * q * q) {
                assert!(metric.add((0..q).map(|_| s.normal()).collect(), Link::Must));
            }
            let mut asked = Vec::new();
            let (sweeps, _) = metric
                .settle(1e-300, 1, |s| {
                    asked.push(s);
                    Ok(())
                })
                .unwrap();
            assert_eq!((sweeps, asked), (1, vec![0, 0]), "{q}");
            let mut asked = 0;
            let stop = |_| {
                asked += 1;
                if asked == 2 { Err(Error::cancelled()) } else { Ok(()) }
            };
            assert!(metric.settle(1e-300, 9, stop).is_err());
        }
    }
}
