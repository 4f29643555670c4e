use consilience_core::{Error, ErrorKind, Observer, Result};
use consilience_num::eigen::symmetric_eigen;
use ndarray::Array2;

/// A metric that follows must-links and cannot-links as they come: at every moment the one of least
/// LogDet divergence from the identity under which the links so far hold, up to their slack.
///
/// ```text
/// minimise  tr(M) - log det M  +  gamma (slack)    subject to   v' M v <= near + slack  (must),  >= far - slack  (cannot)
/// ```
///
/// Every link keeps its dual variable, so that a new batch starts from what was solved before and
/// ends in the metric of all links together, whatever the batches were (to the tolerance).
/// [`Itml`](consilience_metric::Itml) solves the same problem at once, from features.
///
/// # Complexity
/// O(q^2) per link and sweep, q^2 + c (q + 2) numbers for c links.
///
/// # References
/// J. Davis, B. Kulis, P. Jain, S. Sra, I. Dhillon, "Information-theoretic metric learning", 2007,
/// Algorithm 1, whose cyclic projections are continued here.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct LogDet {
    q: usize,
    slack: f64,
    near: f64,
    far: f64,
    m: Vec<f64>,
    links: Vec<Link>,
}

#[derive(Clone, Debug, PartialEq)]
struct Link {
    v: Vec<f64>,
    sign: f64,
    bound: f64,
    dual: f64,
}

/// Squared differences below this share of the far bound are rounding.
const EQUAL: f64 = 1e-20;

impl LogDet {
    pub(crate) fn new(q: usize, slack: f64, near: f64, far: f64) -> Self {
        let mut m = vec![0.0; q * q];
        (0..q).for_each(|j| m[j * q + j] = 1.0);
        LogDet { q, slack, near, far, m, links: Vec::new() }
    }

    /// Takes a link between two places up; [`settle`](LogDet::settle) makes the metric follow.
    /// Equal places say nothing: `false`.
    pub(crate) fn add(&mut self, v: Vec<f64>, must: bool) -> bool {
        let square: f64 = v.iter().map(|x| x * x).sum();
        let telling = square > EQUAL * self.far && square.is_finite();
        if telling {
            let (sign, bound) = if must { (1.0, self.near) } else { (-1.0, self.far) };
            self.links.push(Link { v, sign, bound, dual: 0.0 });
        }
        telling
    }

    /// Sweeps over all links until one changes the duals by at most `tolerance` of their sum:
    /// sweeps done, and whether that was reached.
    pub(crate) fn settle(
        &mut self,
        tolerance: f64,
        sweeps: usize,
        observer: &dyn Observer,
    ) -> Result<(usize, bool)> {
        let LogDet { q, slack, m, links, .. } = self;
        let mut product = vec![0.0; *q];
        for sweep in 0..sweeps {
            observer.check()?;
            let (mut moved, mut size) = (0.0, 0.0);
            for link in links.iter_mut() {
                let before = link.dual;
                project(link, m, *slack, &mut product);
                moved += (link.dual - before).abs();
                size += link.dual.abs().max(before.abs());
            }
            if moved <= tolerance * size {
                return Ok((sweep + 1, true));
            }
        }
        Ok((sweeps, false))
    }

    /// v' M v.
    pub(crate) fn square(&self, v: &[f64]) -> f64 {
        self.m.chunks_exact(self.q.max(1)).zip(v).map(|(row, x)| x * dot(row, v)).sum()
    }

    /// M, symmetric to the last bit.
    pub(crate) fn metric(&self) -> Array2<f64> {
        let q = self.q;
        Array2::from_shape_fn((q, q), |(i, j)| 0.5 * (self.m[i * q + j] + self.m[j * q + i]))
    }

    /// L with `M = L L'`: places times L are Euclidean under the metric.
    pub(crate) fn map(&self) -> Result<Array2<f64>> {
        if self.q == 0 {
            return Ok(Array2::zeros((0, 0)));
        }
        let eigen = symmetric_eigen(self.metric().view())
            .ok_or_else(|| Error::invalid("the metric on the embedding is not finite"))?;
        let mut map = eigen.vectors;
        for (mut column, v) in map.columns_mut().into_iter().zip(&eigen.values) {
            column *= v.max(0.0).sqrt();
        }
        Ok(map)
    }

    /// M, then bound and dual of every link: little-endian.
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        out.extend((self.links.len() as u64).to_le_bytes());
        let duals = self.links.iter().flat_map(|l| [l.bound, l.dual]);
        self.m.iter().copied().chain(duals).for_each(|v| out.extend(v.to_le_bytes()));
    }

    /// Puts back what [`write`](LogDet::write) wrote; the same links were added before.
    pub(crate) fn read(&mut self, bytes: &mut &[u8]) -> Result<()> {
        let links = u64::from_le_bytes(take(bytes)?);
        if links != self.links.len() as u64 {
            return Err(corrupt(format!(
                "{links} links of a metric that has {}",
                self.links.len()
            )));
        }
        for m in &mut self.m {
            *m = finite(bytes)?;
        }
        for link in &mut self.links {
            link.bound = finite(bytes)?;
            link.dual = finite(bytes)?;
        }
        Ok(())
    }
}

pub(super) fn corrupt(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::Corrupt, message)
}

/// The next bytes.
pub(super) fn take<const N: usize>(bytes: &mut &[u8]) -> Result<[u8; N]> {
    let Some((head, rest)) = bytes.split_first_chunk::<N>() else {
        return Err(corrupt(format!("{} bytes left where {N} are needed", bytes.len())));
    };
    *bytes = rest;
    Ok(*head)
}

fn finite(bytes: &mut &[u8]) -> Result<f64> {
    let value = f64::from_le_bytes(take(bytes)?);
    if !value.is_finite() {
        return Err(corrupt(format!("{value} in a stored metric")));
    }
    Ok(value)
}

/// The Bregman projection of Algorithm 1, steps 3.3 to 3.8.
fn project(link: &mut Link, m: &mut [f64], slack: f64, product: &mut [f64]) {
    let q = product.len();
    for (row, p) in m.chunks_exact(q).zip(product.iter_mut()) {
        *p = dot(row, &link.v);
    }
    let square = dot(product, &link.v);
    if !(square > 0.0) {
        return;
    }
    let step = slack / (slack + 1.0) * (1.0 / square - 1.0 / link.bound);
    let alpha = link.dual.min(link.sign * step);
    link.dual -= alpha;
    if alpha == 0.0 {
        return;
    }
    let beta = link.sign * alpha / (1.0 - link.sign * alpha * square);
    link.bound = slack * link.bound / (slack + link.sign * alpha * link.bound);
    for (row, &p) in m.chunks_exact_mut(q).zip(product.iter()) {
        let by = beta * p;
        row.iter_mut().zip(product.iter()).for_each(|(m, u)| *m += by * u);
    }
}

/// Eight sums, so that the compiler may use vector registers.
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut sums = [0.0; 8];
    let (heads, tails) = (a.chunks_exact(8), b.chunks_exact(8));
    let rest: f64 = heads.remainder().iter().zip(tails.remainder()).map(|(a, b)| a * b).sum();
    for (a, b) in heads.zip(tails) {
        for i in 0..8 {
            sums[i] += a[i] * b[i];
        }
    }
    sums.iter().sum::<f64>() + rest
}
