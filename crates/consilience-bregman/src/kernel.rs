//! Sums over the pairs of one object, in vector instructions where the machine has them.
//!
//! Every sum runs over eight fixed lanes and without fused operations, so that its bits do not
//! depend on the width of the vectors.

use consilience_core::Stop;
use consilience_num::dot;
use pulp::{Arch, NullaryFnOnce};

const LANES: usize = 8;
/// Pairs that are worked on at once: their memberships stay in the first-level cache.
const BLOCK: usize = 512;
/// Clusters after which a sum over pairs of clusters asks whether to stop.
const OFTEN: usize = 64;

/// Memberships of many objects, cluster by cluster: that of object b in cluster k is
/// `values[k * stride + b]`.
#[derive(Clone, Copy)]
pub(crate) struct Panel<'a> {
    pub values: &'a [f64],
    pub stride: usize,
    pub len: usize,
}

impl<'a> Panel<'a> {
    #[inline(always)]
    pub(crate) fn cluster(&self, k: usize) -> &'a [f64] {
        &self.values[k * self.stride..k * self.stride + self.len]
    }
}

#[inline(always)]
fn add_products(sums: &mut [f64; LANES], a: &[f64], b: &[f64]) {
    for ((s, a), b) in sums.iter_mut().zip(a).zip(b) {
        *s += a * b;
    }
}

/// Four sums at once, each as [`dot`] has it: more additions in flight than in one sum.
#[inline(always)]
fn dots(a: [&[f64]; 4], b: &[f64]) -> [f64; 4] {
    let whole = b.len() - b.len() % LANES;
    let [mut s0, mut s1, mut s2, mut s3] = [[0.0; LANES]; 4];
    let [c0, c1, c2, c3] = a.map(|a| a[..whole].chunks_exact(LANES));
    for ((((b, a0), a1), a2), a3) in b[..whole].chunks_exact(LANES).zip(c0).zip(c1).zip(c2).zip(c3)
    {
        add_products(&mut s0, a0, b);
        add_products(&mut s1, a1, b);
        add_products(&mut s2, a2, b);
        add_products(&mut s3, a3, b);
    }
    let mut out = totals(&[s0, s1, s2, s3]);
    for (out, a) in out.iter_mut().zip(a) {
        *out += a[whole..].iter().zip(&b[whole..]).fold(0.0, |sum, (a, b)| sum + a * b);
    }
    out
}

/// A function of its own, since the compiler would otherwise mix the lanes of the four sums, at
/// several times the cost.
#[inline(never)]
fn totals(sums: &[[f64; LANES]; 4]) -> [f64; 4] {
    [0, 1, 2, 3].map(|c: usize| sums[c].iter().sum())
}

/// `out[c] += a(c)'b` for all c.
#[inline(always)]
fn add_dots<'a>(a: impl Fn(usize) -> &'a [f64], b: &[f64], out: &mut [f64]) {
    let mut fours = out.chunks_exact_mut(4);
    let mut c = 0;
    for four in &mut fours {
        let sums = dots([a(c), a(c + 1), a(c + 2), a(c + 3)], b);
        four.iter_mut().zip(sums).for_each(|(o, s)| *o += s);
        c += 4;
    }
    for (c, o) in (c..).zip(fours.into_remainder()) {
        *o += dot(a(c), b);
    }
}

#[inline(always)]
fn combine(coefficients: &[(usize, f64)], panel: Panel<'_>, from: usize, out: &mut [f64]) {
    let len = out.len();
    let row = |(k, _): (usize, f64)| &panel.cluster(k)[from..from + len];
    out.fill(0.0);
    let fours = coefficients.chunks_exact(4);
    for &c in fours.remainder() {
        for (o, &y) in out.iter_mut().zip(row(c)) {
            *o += c.1 * y;
        }
    }
    // Four clusters per pass: the result is read and written less often.
    for four in fours {
        let (c0, c1, c2, c3) = (four[0], four[1], four[2], four[3]);
        let rows = row(c0).iter().zip(row(c1)).zip(row(c2)).zip(row(c3));
        for (o, (((y0, y1), y2), y3)) in out.iter_mut().zip(rows) {
            *o = *o + c0.1 * y0 + c1.1 * y1 + c2.1 * y2 + c3.1 * y3;
        }
    }
}

struct Combine<'a>(&'a [(usize, f64)], Panel<'a>, &'a mut [f64]);

impl NullaryFnOnce for Combine<'_> {
    type Output = ();
    #[inline(always)]
    fn call(self) {
        for (b, out) in self.2.chunks_mut(BLOCK).enumerate() {
            combine(self.0, self.1, b * BLOCK, out);
        }
    }
}

/// `out[b] = sum_k c_k y_kb` over the sparse coefficients `(k, c_k)`.
pub(crate) fn products(coefficients: &[(usize, f64)], panel: Panel<'_>, out: &mut [f64]) {
    Arch::new().dispatch(Combine(coefficients, panel, out));
}

struct Gradient<'a>(Panel<'a>, &'a [f64], &'a mut [f64]);

impl NullaryFnOnce for Gradient<'_> {
    type Output = ();
    #[inline(always)]
    fn call(self) {
        let Gradient(panel, weights, out) = self;
        out.fill(0.0);
        for (b, weights) in weights.chunks(BLOCK).enumerate() {
            add_dots(|k| &panel.cluster(k)[b * BLOCK..b * BLOCK + weights.len()], weights, out);
        }
    }
}

/// `out[k] = sum_b weights[b] y_kb`.
pub(crate) fn gradient(panel: Panel<'_>, weights: &[f64], out: &mut [f64]) {
    Arch::new().dispatch(Gradient(panel, weights, out));
}

struct Gram<'a> {
    panel: Panel<'a>,
    weights: &'a [f64],
    clusters: &'a [usize],
    out: &'a mut [f64],
    stop: &'a Stop<'a>,
}

impl NullaryFnOnce for Gram<'_> {
    type Output = ();
    #[inline(always)]
    fn call(self) {
        let Gram { panel, weights, clusters, out, stop } = self;
        let f = clusters.len();
        let mut scaled = [0.0; BLOCK];
        for (b, weights) in weights.chunks(BLOCK).enumerate() {
            let at = b * BLOCK..b * BLOCK + weights.len();
            for (l, &cl) in clusters.iter().enumerate() {
                if l % OFTEN == 0 && stop.asked() {
                    return;
                }
                let scaled = &mut scaled[..weights.len()];
                for ((s, &w), &y) in
                    scaled.iter_mut().zip(weights).zip(&panel.cluster(cl)[at.clone()])
                {
                    *s = w * y;
                }
                let out = &mut out[l * f..l * f + l + 1];
                add_dots(|k| &panel.cluster(clusters[k])[at.clone()], scaled, out);
            }
        }
        for l in 0..f {
            for k in 0..l {
                out[k * f + l] = out[l * f + k];
            }
        }
    }
}

/// `out[l, k] += sum_b weights[b] y_lb y_kb` over the given clusters, symmetric; `out` starts at 0
/// and is left unfinished where somebody asks to stop.
pub(crate) fn gram(
    panel: Panel<'_>,
    weights: &[f64],
    clusters: &[usize],
    out: &mut [f64],
    stop: &Stop<'_>,
) {
    Arch::new().dispatch(Gram { panel, weights, clusters, out, stop });
}

struct Scale<'a>(&'a mut [f64], &'a [f64]);

impl NullaryFnOnce for Scale<'_> {
    type Output = ();
    #[inline(always)]
    fn call(self) {
        for (o, &w) in self.0.iter_mut().zip(self.1) {
            *o *= w;
        }
    }
}

/// `out[b] *= weights[b]`.
pub(crate) fn scale(out: &mut [f64], weights: &[f64]) {
    Arch::new().dispatch(Scale(out, weights));
}

struct Shift<'a>(&'a [f64], f64, &'a [f64], &'a mut [f64]);

impl NullaryFnOnce for Shift<'_> {
    type Output = ();
    #[inline(always)]
    fn call(self) {
        for ((o, &v), &q) in self.3.iter_mut().zip(self.0).zip(self.2) {
            *o = v + self.1 * q;
        }
    }
}

/// `out[b] = v[b] + step q[b]`.
pub(crate) fn shift(v: &[f64], step: f64, q: &[f64], out: &mut [f64]) {
    Arch::new().dispatch(Shift(v, step, q, out));
}

struct Triple<'a>(&'a [f64], &'a [f64], &'a [f64]);

impl NullaryFnOnce for Triple<'_> {
    type Output = f64;
    #[inline(always)]
    fn call(self) -> f64 {
        let mut sums = [0.0; LANES];
        let (x, y, z) =
            (self.0.chunks_exact(LANES), self.1.chunks_exact(LANES), self.2.chunks_exact(LANES));
        let mut rest = 0.0;
        for ((&a, &b), &c) in x.remainder().iter().zip(y.remainder()).zip(z.remainder()) {
            rest += a * b * c;
        }
        for ((a, b), c) in x.zip(y).zip(z) {
            for l in 0..LANES {
                sums[l] += a[l] * b[l] * c[l];
            }
        }
        sums.iter().sum::<f64>() + rest
    }
}

/// `sum_b a[b] b[b] c[b]`.
pub(crate) fn triple(a: &[f64], b: &[f64], c: &[f64]) -> f64 {
    Arch::new().dispatch(Triple(a, b, c))
}
