//! The iteration on one pair of groups of the graph of high confidence, or on one with itself.

use consilience_core::{Error, Observer, Result};
use consilience_num::eigen::symmetric_eigen;
use ndarray::{Array1, Array2, ArrayView2, Axis};

use crate::co_association::confidence::{Group, product};

/// The penalty grows by so much from round to round, to at most [`MOST`].
const GROWTH: f64 = 1.1;
const MOST: f64 = 1e6;

/// A group with the eigenvectors of its Laplacian.
pub(super) struct Operator {
    pub(super) nodes: Vec<usize>,
    pub(super) sizes: Vec<f64>,
    /// Of an object of each node, the weights of all its links.
    degrees: Vec<f64>,
    /// Eigenvalues of the Laplacian, and its eigenvectors from the right and from the left; none
    /// without links.
    spectrum: Option<(Vec<f64>, Array2<f64>, Array2<f64>)>,
}

impl Operator {
    pub(super) fn new(group: Group, linked: bool) -> Result<Self> {
        let own = group.degrees();
        let degrees = own.iter().zip(&group.sizes).map(|(d, s)| d + s).collect();
        let spectrum = if linked {
            let root: Array1<f64> = group.sizes.iter().map(|s| s.sqrt()).collect();
            let column = root.insert_axis(Axis(1));
            let found = symmetric_eigen(group.symmetric(1.0, 0.0).view());
            let found = found
                .ok_or_else(|| Error::invalid("a Laplacian that is not finite".to_string()))?;
            let left = (&found.vectors * &column).reversed_axes();
            Some((found.values, &found.vectors / &column, left.as_standard_layout().into_owned()))
        } else {
            None
        };
        Ok(Operator { nodes: group.nodes, sizes: group.sizes, degrees, spectrum })
    }

    /// (2 L + 2 mu I)^-1 X.
    fn times(&self, x: &Array2<f64>, mu: f64, observer: &dyn Observer) -> Result<Array2<f64>> {
        let Some((values, right, left)) = &self.spectrum else { return Ok(x / (2.0 * mu)) };
        let mut inner = Array2::zeros(x.dim());
        product(inner.view_mut(), left.view(), x.view(), observer)?;
        for (mut row, value) in inner.rows_mut().into_iter().zip(values) {
            row /= 2.0 * (value.max(0.0) + mu);
        }
        let mut out = Array2::zeros(x.dim());
        product(out.view_mut(), right.view(), inner.view(), observer)?;
        Ok(out)
    }

    /// X (2 L + 2 mu I)^-1, where the rows of X are over the nodes.
    fn after(&self, x: &Array2<f64>, mu: f64, observer: &dyn Observer) -> Result<Array2<f64>> {
        let Some((values, right, left)) = &self.spectrum else { return Ok(x / (2.0 * mu)) };
        let mut inner = Array2::zeros(x.dim());
        product(inner.view_mut(), x.view(), left.t(), observer)?;
        for mut row in inner.rows_mut() {
            row.iter_mut().zip(values).for_each(|(x, v)| *x /= 2.0 * (v.max(0.0) + mu));
        }
        let mut out = Array2::zeros(x.dim());
        product(out.view_mut(), inner.view(), right.t(), observer)?;
        Ok(out)
    }
}

/// One of the two matrices, S or D: its targets (0 where there are none), the iterate there and
/// back (transposed), the multipliers of both, and the symmetric matrix within the bounds.
struct Matrix {
    target: Array2<f64>,
    x: [Array2<f64>; 2],
    y: [Array2<f64>; 2],
    f: Array2<f64>,
    /// Of objects with themselves: target, iterate, multiplier, and what is within the bounds.
    selves: Vec<[f64; 4]>,
}

impl Matrix {
    fn new(target: Array2<f64>, own: Option<f64>) -> Self {
        let zero = || Array2::zeros(target.dim());
        let selves = own.map_or(0, |_| target.nrows());
        Matrix {
            x: [zero(), zero()],
            y: [zero(), zero()],
            f: zero(),
            selves: vec![[own.unwrap_or(0.0), 0.0, 0.0, 0.0]; selves],
            target,
        }
    }

    /// X = (2 mu F - other' - Y) (2 L + 2 mu I)^-1 in both directions.
    fn solve(
        &mut self,
        other: &Matrix,
        ends: (&Operator, &Operator),
        mu: f64,
        observer: &dyn Observer,
    ) -> Result<()> {
        for side in 0..2 {
            let mut r = &self.f * (2.0 * mu) - &other.x[1 - side] - &self.y[side];
            let itself =
                |(own, other): (&[f64; 4], &[f64; 4])| 2.0 * mu * own[3] - other[1] - own[2];
            let beyond: Vec<f64> = self.selves.iter().zip(&other.selves).map(itself).collect();
            let beyond: Vec<f64> =
                beyond.iter().enumerate().map(|(i, own)| own - r[[i, i]]).collect();
            for (i, d) in beyond.iter().enumerate() {
                r[[i, i]] += d / ends.0.sizes[i];
            }
            let mut x = if side == 0 {
                ends.1.after(&r, mu, observer)?
            } else {
                ends.0.times(&r, mu, observer)?
            };
            for (i, d) in beyond.iter().enumerate() {
                let (size, q) = (ends.0.sizes[i], 0.5 / (ends.0.degrees[i] + mu));
                if size == 1.0 {
                    self.selves[i][1] = x[[i, i]];
                } else {
                    x[[i, i]] -= d * q / size;
                    self.selves[i][1] = x[[i, i]] + d * q;
                }
            }
            self.x[side] = x;
        }
        Ok(())
    }

    /// F: the targets, and elsewhere the mean of both directions within 0 and 1.
    fn bound(&mut self, mu: f64) {
        let value = |target: f64, x: f64, y: f64| {
            if target > 0.0 { target } else { (x + 0.5 * y / mu).clamp(0.0, 1.0) }
        };
        let [(x, y), (back, of_back)] = [0, 1].map(|side| (&self.x[side], &self.y[side]));
        for (at, f) in self.f.indexed_iter_mut() {
            let target = self.target[at];
            *f = 0.5 * (value(target, x[at], y[at]) + value(target, back[at], of_back[at]));
        }
        self.selves.iter_mut().for_each(|own| own[3] = value(own[0], own[1], own[2]));
    }

    fn multiply(&mut self, mu: f64) {
        for side in 0..2 {
            let steps = self.x[side].iter().zip(&self.f);
            self.y[side].iter_mut().zip(steps).for_each(|(y, (x, f))| *y += mu * (x - f));
        }
        self.selves.iter_mut().for_each(|own| own[2] += mu * (own[1] - own[3]));
    }

    /// Squared distance of the iterate from its bounds, over objects.
    fn distance(&self, ends: (&Operator, &Operator)) -> f64 {
        let own = !self.selves.is_empty();
        let square = |x: f64| x * x;
        let entries = self.x[0].indexed_iter().map(|((i, j), x)| {
            let others = ends.1.sizes[j] - f64::from(own && i == j);
            let back = if own { 0.0 } else { square(self.x[1][[i, j]] - self.f[[i, j]]) };
            ends.0.sizes[i] * others * (square(x - self.f[[i, j]]) + back)
        });
        let selves = self.selves.iter().zip(&ends.0.sizes);
        entries.sum::<f64>() + selves.map(|(own, s)| s * square(own[1] - own[3])).sum::<f64>()
    }
}

/// When to stop.
#[derive(Clone, Copy)]
pub(super) struct Limits {
    pub(super) max_iterations: usize,
    pub(super) tolerance: f64,
    /// All objects.
    pub(super) objects: f64,
    /// The target of an object with itself.
    pub(super) itself: f64,
}

/// S and D of one pair of groups, and how they came about.
pub(super) struct Solved {
    pub(super) s: Array2<f64>,
    pub(super) d: Array2<f64>,
    pub(super) rounds: usize,
    pub(super) reached: bool,
}

/// Solves for S and D between two groups, or within one; targets of S are positive, of D negative.
pub(super) fn solve(
    ends: (&Operator, &Operator),
    own: bool,
    targets: ArrayView2<'_, f64>,
    limits: Limits,
    observer: &dyn Observer,
) -> Result<Solved> {
    let at = |(i, j): (usize, usize)| targets[[ends.0.nodes[i], ends.1.nodes[j]]];
    let shape = (ends.0.nodes.len(), ends.1.nodes.len());
    let mut targets = Array2::from_shape_fn(shape, at);
    if own {
        for (target, &size) in targets.diag_mut().iter_mut().zip(&ends.0.sizes) {
            // A node of one object has no pairs inside.
            *target = if size == 1.0 { limits.itself } else { *target };
        }
    } else if targets.iter().all(|&t| t == 0.0) {
        let zero = || Array2::zeros(shape);
        return Ok(Solved { s: zero(), d: zero(), rounds: 0, reached: true });
    }
    let mut s = Matrix::new(targets.mapv(|t| t.max(0.0)), own.then_some(limits.itself));
    let mut d = Matrix::new(targets.mapv(|t| (-t).max(0.0)), own.then_some(0.0));
    let objects = |of: &Operator| of.sizes.iter().sum::<f64>() / limits.objects;
    let share = objects(ends.0) * objects(ends.1) * if own { 1.0 } else { 2.0 };
    let bound = limits.tolerance * limits.tolerance * share;
    let mut mu = 1.0f64;
    for round in 1..=limits.max_iterations {
        observer.check()?;
        s.solve(&d, ends, mu, observer)?;
        s.bound(mu);
        d.solve(&s, ends, mu, observer)?;
        d.bound(mu);
        s.multiply(mu);
        d.multiply(mu);
        mu = (GROWTH * mu).min(MOST);
        if s.distance(ends) < bound && d.distance(ends) < bound {
            return Ok(Solved { s: s.f, d: d.f, rounds: round, reached: true });
        }
    }
    Ok(Solved { s: s.f, d: d.f, rounds: limits.max_iterations, reached: false })
}
