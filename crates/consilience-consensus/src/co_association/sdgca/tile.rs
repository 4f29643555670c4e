//! The iteration on one pair of groups of the graph of high confidence, or on one with itself.

use std::ops::Range;

use consilience_core::{Error, Observer, Result};
use consilience_num::eigen::symmetric_eigen;
use ndarray::{Array1, Array2, ArrayView2, Axis, Zip, s};
use pulp::{Arch, NullaryFnOnce};

use crate::co_association::confidence::{Group, product};
use crate::co_association::lanes::{LANES, Lanes};
use crate::co_association::small::{FEW, Small, Terms, block_extents, row_extents};

/// The penalty grows by so much from round to round, to at most [`MOST`].
const GROWTH: f64 = 1.1;
const MOST: f64 = 1e6;
/// A group is inverted for every penalty where the other one has at least so small a part of its
/// nodes; otherwise its eigenvectors are applied, twice as many products.
const WIDE: usize = 4;

/// A group with the eigenvectors of its Laplacian.
pub(super) struct Operator {
    pub(super) nodes: Vec<usize>,
    pub(super) sizes: Vec<f64>,
    /// Of an object of each node, the weights of all its links.
    degrees: Vec<f64>,
    /// None without links.
    spectrum: Option<Spectrum>,
}

/// Eigenvalues of a Laplacian, and its eigenvectors from the right and from the left, component by
/// component.
struct Spectrum {
    values: Vec<f64>,
    right: Array2<f64>,
    left: Array2<f64>,
    /// Components, which stand side by side.
    parts: Vec<Range<usize>>,
}

/// (2 L + 2 mu I)^-1 for one mu.
enum Inverse<'a> {
    /// A multiple of I.
    Scaled(f64),
    /// By eigenvectors, with the values of the inverse.
    Spectral(&'a Spectrum, Vec<f64>),
    Whole(Array2<f64>),
    /// The matrix and its transpose, and where they are not 0.
    Few([Array2<f64>; 2], Vec<Range<usize>>, Vec<Range<usize>>),
}

/// Components of a group: between two of them no link reaches over.
fn parts(links: &Array2<f64>) -> Vec<Range<usize>> {
    let (mut parts, mut start, mut reach) = (Vec::new(), 0, 0);
    for (i, row) in links.rows().into_iter().enumerate() {
        reach = reach.max(row.iter().rposition(|&h| h > 0.0).unwrap_or(0));
        if reach <= i {
            parts.push(start..i + 1);
            start = i + 1;
        }
    }
    parts
}

impl Spectrum {
    fn of(group: &Group) -> Result<Self> {
        let b = group.nodes.len();
        let symmetric = group.symmetric(1.0, 0.0);
        let parts = parts(&group.links);
        let (mut values, mut vectors) = (Vec::with_capacity(b), Array2::zeros((b, b)));
        for part in &parts {
            let found = symmetric_eigen(symmetric.slice(s![part.clone(), part.clone()]));
            let found = found
                .ok_or_else(|| Error::invalid("a Laplacian that is not finite".to_string()))?;
            values.extend(found.values);
            vectors.slice_mut(s![part.clone(), part.clone()]).assign(&found.vectors);
        }
        let root: Array1<f64> = group.sizes.iter().map(|s| s.sqrt()).collect();
        let column = root.insert_axis(Axis(1));
        let left = (&vectors * &column).reversed_axes().as_standard_layout().into_owned();
        Ok(Spectrum { values, right: vectors / &column, left, parts })
    }

    /// The matrix whose eigenvalues are these.
    fn with(&self, values: &[f64], observer: &dyn Observer) -> Result<Array2<f64>> {
        let mut left = self.left.clone();
        for (mut row, value) in left.rows_mut().into_iter().zip(values) {
            row *= *value;
        }
        let mut out = Array2::zeros(left.dim());
        for part in &self.parts {
            let at = s![part.clone(), part.clone()];
            product(out.slice_mut(at), self.right.slice(at), left.slice(at), observer)?;
        }
        Ok(out)
    }
}

impl Operator {
    pub(super) fn new(group: Group, linked: bool) -> Result<Self> {
        let own = group.degrees();
        let degrees = own.iter().zip(&group.sizes).map(|(d, s)| d + s).collect();
        let spectrum = linked.then(|| Spectrum::of(&group)).transpose()?;
        Ok(Operator { nodes: group.nodes, sizes: group.sizes, degrees, spectrum })
    }

    /// (2 L + 2 mu I)^-1, to be applied to so many rows or columns.
    fn inverse(&self, mu: f64, others: usize, observer: &dyn Observer) -> Result<Inverse<'_>> {
        let Some(spectrum) = &self.spectrum else { return Ok(Inverse::Scaled(0.5 / mu)) };
        let of = |value: &f64| 0.5 / (value.max(0.0) + mu);
        let values: Vec<f64> = spectrum.values.iter().map(of).collect();
        let b = values.len();
        if b > FEW && b > WIDE * others {
            return Ok(Inverse::Spectral(spectrum, values));
        }
        let whole = spectrum.with(&values, observer)?;
        if b > FEW {
            return Ok(Inverse::Whole(whole));
        }
        let back = whole.t().as_standard_layout().into_owned();
        let blocks = block_extents(back.as_slice().unwrap_or_default(), b);
        let rows = row_extents(&whole);
        Ok(Inverse::Few([whole, back], rows, blocks))
    }
}

impl Inverse<'_> {
    /// out = (2 L + 2 mu I)^-1 X.
    fn times(&self, x: &Array2<f64>, out: &mut Array2<f64>, observer: &dyn Observer) -> Result<()> {
        match self {
            Inverse::Scaled(by) => Zip::from(out).and(x).for_each(|o, x| *o = x * by),
            Inverse::Whole(q) => product(out.view_mut(), q.view(), x.view(), observer)?,
            Inverse::Spectral(spectrum, values) => {
                let mut inner = Array2::zeros(x.dim());
                product(inner.view_mut(), spectrum.left.view(), x.view(), observer)?;
                for (mut row, value) in inner.rows_mut().into_iter().zip(values) {
                    row *= *value;
                }
                product(out.view_mut(), spectrum.right.view(), inner.view(), observer)?;
            }
            Inverse::Few([q, _], rows, _) => {
                let (a, b) = (q.as_slice().unwrap_or_default(), x.as_slice().unwrap_or_default());
                let (inner, width, terms) = (q.ncols(), x.ncols(), Terms::OfRows(rows));
                let out = out.as_slice_mut().unwrap_or_default();
                Small { a, inner, b, width, terms }.put_into(out);
            }
        }
        Ok(())
    }

    /// out = X (2 L + 2 mu I)^-1, transposed, where the columns of X are over the nodes.
    fn after(&self, x: &Array2<f64>, out: &mut Array2<f64>, observer: &dyn Observer) -> Result<()> {
        match self {
            Inverse::Scaled(by) => Zip::from(out).and(x).for_each(|o, x| *o = x * by),
            Inverse::Whole(q) => product(out.view_mut(), x.view(), q.t(), observer)?,
            Inverse::Spectral(spectrum, values) => {
                let mut inner = Array2::zeros(x.dim());
                product(inner.view_mut(), x.view(), spectrum.left.t(), observer)?;
                for mut row in inner.rows_mut() {
                    row.iter_mut().zip(values).for_each(|(x, v)| *x *= v);
                }
                product(out.view_mut(), inner.view(), spectrum.right.t(), observer)?;
            }
            Inverse::Few([_, back], _, blocks) => {
                let (a, b) = (x.as_slice().unwrap_or_default(), back.as_slice());
                let (inner, terms) = (back.nrows(), Terms::OfBlocks(blocks));
                let out = out.as_slice_mut().unwrap_or_default();
                Small { a, inner, b: b.unwrap_or_default(), width: inner, terms }.put_into(out);
            }
        }
        Ok(())
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

    /// X = (2 mu F - other' - Y) (2 L + 2 mu I)^-1 in both directions; within a group the one is
    /// the other transposed.
    fn solve(
        &mut self,
        other: &Matrix,
        (left, inverses): (&Operator, &[Inverse<'_>; 2]),
        mu: f64,
        r: &mut Array2<f64>,
        observer: &dyn Observer,
    ) -> Result<()> {
        let own = !self.selves.is_empty();
        self.right_hand_side(&other.x[1], 0, mu, r);
        let itself = |(own, other): (&[f64; 4], &[f64; 4])| 2.0 * mu * own[3] - other[1] - own[2];
        let beyond: Vec<f64> = self.selves.iter().zip(&other.selves).map(itself).collect();
        let beyond: Vec<f64> = beyond.iter().enumerate().map(|(i, b)| b - r[[i, i]]).collect();
        for (i, d) in beyond.iter().enumerate() {
            r[[i, i]] += d / left.sizes[i];
        }
        inverses[1].after(r, &mut self.x[0], observer)?;
        for (i, d) in beyond.iter().enumerate() {
            let (size, q) = (left.sizes[i], 0.5 / (left.degrees[i] + mu));
            let x = &mut self.x[0][[i, i]];
            if size == 1.0 {
                self.selves[i][1] = *x;
            } else {
                *x -= d * q / size;
                self.selves[i][1] = *x + d * q;
            }
        }
        if own {
            let [x, back] = &mut self.x;
            back.assign(&x.t());
            return Ok(());
        }
        self.right_hand_side(&other.x[0], 1, mu, r);
        inverses[0].times(r, &mut self.x[1], observer)
    }

    /// 2 mu F - other' - Y.
    fn right_hand_side(&self, other: &Array2<f64>, side: usize, mu: f64, r: &mut Array2<f64>) {
        let [f, x, y] = [&self.f, other, &self.y[side]].map(values);
        let r = r.as_slice_mut().unwrap_or_default();
        for (((r, f), x), y) in r.iter_mut().zip(f).zip(x).zip(y) {
            *r = f * (2.0 * mu) - x - y;
        }
    }

    /// F: the targets, and elsewhere the mean of both directions within 0 and 1; then the
    /// multipliers. Gives the squared distance of the iterate from its bounds, over objects.
    fn bound(&mut self, ends: (&Operator, &Operator), mu: f64) -> f64 {
        let (own, width) = (!self.selves.is_empty(), self.f.ncols());
        let [x, back] = [&self.x[0], &self.x[1]].map(values);
        let [y, of_back] = &mut self.y;
        let [f, y, of_back] =
            [&mut self.f, y, of_back].map(|v| v.as_slice_mut().unwrap_or_default());
        let rows = values(&self.target).chunks(width).zip(x.chunks(width).zip(back.chunks(width)));
        let multipliers = y.chunks_mut(width).zip(of_back.chunks_mut(width));
        let rows = rows.zip(f.chunks_mut(width).zip(multipliers)).enumerate();
        let mut total = 0.0;
        for (i, ((target, (x, back)), (f, (y, of_back)))) in rows {
            let (sizes, size) = (ends.1.sizes.as_slice(), ends.0.sizes[i]);
            let both = f64::from(!own);
            let row = Row { target, x, back, f, y, of_back, sizes, mu, both };
            let mut sum = Arch::new().dispatch(row);
            if own {
                // An object is not another one of its node.
                sum -= (self.x[0][[i, i]] - f[i]).powi(2);
            }
            total += size * sum;
        }
        for (own, size) in self.selves.iter_mut().zip(&ends.0.sizes) {
            own[3] = bounded(own[0], own[1], own[2], mu);
            own[2] += mu * (own[1] - own[3]);
            total += size * (own[1] - own[3]).powi(2);
        }
        total
    }
}

/// The values of a table, row by row.
fn values(table: &Array2<f64>) -> &[f64] {
    table.as_slice().unwrap_or_default()
}

#[inline(always)]
fn bounded(target: f64, x: f64, y: f64, mu: f64) -> f64 {
    if target > 0.0 { target } else { (x + 0.5 * y / mu).clamp(0.0, 1.0) }
}

/// A row of F and the multipliers after a new iterate, and its squared distance from F.
struct Row<'a> {
    target: &'a [f64],
    x: &'a [f64],
    back: &'a [f64],
    f: &'a mut [f64],
    y: &'a mut [f64],
    of_back: &'a mut [f64],
    sizes: &'a [f64],
    mu: f64,
    /// Whether the way back counts, as 0 or 1.
    both: f64,
}

impl NullaryFnOnce for Row<'_> {
    type Output = f64;

    #[inline(always)]
    fn call(self) -> f64 {
        let Row { target, x, back, f, y, of_back, sizes, mu, both } = self;
        let [target, x, back, sizes] = [target, x, back, sizes].map(|v| v.as_chunks::<LANES>());
        let [f, y, of_back] = [f, y, of_back].map(|v| v.as_chunks_mut::<LANES>());
        let step = Step { mu, by: 0.5 / mu, both };
        let mut sums = Lanes::ZERO;
        for at in 0..f.0.len() {
            let read = [target.0[at], x.0[at], back.0[at], sizes.0[at]];
            sums += step.of(read.map(Lanes), &mut f.0[at], &mut y.0[at], &mut of_back.0[at]);
        }
        // What is left, filled up with objects of no size.
        let mut read = [[0.0; LANES]; 4];
        for (lanes, rest) in read.iter_mut().zip([target.1, x.1, back.1, sizes.1]) {
            lanes[..rest.len()].copy_from_slice(rest);
        }
        let mut changed = [[0.0; LANES]; 3];
        let rest = [f.1, y.1, of_back.1];
        for (lanes, rest) in changed.iter_mut().zip(&rest) {
            lanes[..rest.len()].copy_from_slice(rest);
        }
        let [f, y, of_back] = &mut changed;
        sums += step.of(read.map(Lanes), f, y, of_back);
        for (lanes, rest) in changed.iter().zip(rest) {
            rest.copy_from_slice(&lanes[..rest.len()]);
        }
        sums.sum()
    }
}

/// What a new iterate makes of F and the multipliers.
struct Step {
    mu: f64,
    /// Half of one by mu.
    by: f64,
    both: f64,
}

impl Step {
    /// Of some objects; gives their squared distances.
    #[inline(always)]
    fn of(
        &self,
        [target, there, here, size]: [Lanes; 4],
        f: &mut [f64; LANES],
        y: &mut [f64; LANES],
        of_back: &mut [f64; LANES],
    ) -> Lanes {
        let [mu, by, both, half] = [self.mu, self.by, self.both, 0.5].map(Lanes::all);
        let bounded = |x: Lanes, y: Lanes| target.or((x + by * y).bounded());
        let new = half * (bounded(there, Lanes(*y)) + bounded(here, Lanes(*of_back)));
        let (apart, of_other) = (there - new, here - new);
        *y = (Lanes(*y) + mu * apart).0;
        *of_back = (Lanes(*of_back) + mu * of_other).0;
        *f = new.0;
        size * (apart.square() + both * of_other.square())
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
    let (mut mu, mut r) = (1.0f64, Array2::zeros(shape));
    for round in 1..=limits.max_iterations {
        observer.check()?;
        let left =
            if own { Inverse::Scaled(0.0) } else { ends.0.inverse(mu, shape.1, observer)? };
        let inverses = [left, ends.1.inverse(mu, shape.0, observer)?];
        s.solve(&d, (ends.0, &inverses), mu, &mut r, observer)?;
        let of_s = s.bound(ends, mu);
        d.solve(&s, (ends.0, &inverses), mu, &mut r, observer)?;
        let of_d = d.bound(ends, mu);
        mu = (GROWTH * mu).min(MOST);
        if of_s < bound && of_d < bound {
            return Ok(Solved { s: s.f, d: d.f, rounds: round, reached: true });
        }
    }
    Ok(Solved { s: s.f, d: d.f, rounds: limits.max_iterations, reached: false })
}
