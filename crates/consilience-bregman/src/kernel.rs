//! Sums over the pairs of one object, in vector instructions where the machine has them.
//!
//! Every sum runs over eight fixed lanes and without fused operations, so that its bits do not
//! depend on the width of the vectors.

use consilience_core::Stop;
use consilience_num::dot;

/// Functions whose bodies are compiled for every kind of vectors, and run with the widest that the
/// machine has.
macro_rules! vectorised {
    (@output) => { () };
    (@output $out:ty) => { $out };
    ($(
        $(#[$attribute:meta])*
        $visible:vis fn $name:ident<$life:lifetime>($($argument:ident: $type:ty),+ $(,)?)
        $(-> $out:ty)? $body:block
    )+) => {$(
        $(#[$attribute])*
        $visible fn $name<$life>($($argument: $type),+) $(-> $out)? {
            struct Run<$life> { $($argument: $type),+ }

            impl pulp::NullaryFnOnce for Run<'_> {
                type Output = $crate::kernel::vectorised!(@output $($out)?);
                #[inline(always)]
                fn call(self) -> Self::Output {
                    let Run { $($argument),+ } = self;
                    $body
                }
            }
            pulp::Arch::new().dispatch(Run { $($argument),+ })
        }
    )+};
}
pub(crate) use vectorised;

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

vectorised! {
    /// `out[b] = sum_k c_k y_kb` over the sparse coefficients `(k, c_k)`.
    pub(crate) fn products<'a>(
        coefficients: &'a [(usize, f64)],
        panel: Panel<'a>,
        out: &'a mut [f64],
    ) {
        for (b, out) in out.chunks_mut(BLOCK).enumerate() {
            combine(coefficients, panel, b * BLOCK, out);
        }
    }

    /// `out[k] = sum_b weights[b] y_kb`.
    pub(crate) fn gradient<'a>(panel: Panel<'a>, weights: &'a [f64], out: &'a mut [f64]) {
        out.fill(0.0);
        for (b, weights) in weights.chunks(BLOCK).enumerate() {
            add_dots(|k| &panel.cluster(k)[b * BLOCK..b * BLOCK + weights.len()], weights, out);
        }
    }

    /// `out[l, k] += sum_b weights[b] y_lb y_kb` over the given clusters, symmetric; `out` starts
    /// at 0 and is left unfinished where somebody asks to stop.
    pub(crate) fn gram<'a>(
        panel: Panel<'a>,
        weights: &'a [f64],
        clusters: &'a [usize],
        out: &'a mut [f64],
        stop: &'a Stop<'a>,
    ) {
        let f = clusters.len();
        let mut scaled = [0.0; BLOCK];
        for (b, weights) in weights.chunks(BLOCK).enumerate() {
            let at = b * BLOCK..b * BLOCK + weights.len();
            for (l, &cl) in clusters.iter().enumerate() {
                if l % OFTEN == 0 && stop.asked() {
                    return;
                }
                let scaled = &mut scaled[..weights.len()];
                let values = &panel.cluster(cl)[at.clone()];
                for ((s, &w), &y) in scaled.iter_mut().zip(weights).zip(values) {
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

    /// `out[b] *= weights[b]`.
    pub(crate) fn scale<'a>(out: &'a mut [f64], weights: &'a [f64]) {
        for (o, &w) in out.iter_mut().zip(weights) {
            *o *= w;
        }
    }

    /// `out[b] = v[b] + step q[b]`.
    pub(crate) fn shift<'a>(v: &'a [f64], step: f64, q: &'a [f64], out: &'a mut [f64]) {
        for ((o, &v), &q) in out.iter_mut().zip(v).zip(q) {
            *o = v + step * q;
        }
    }

    /// `sum_b a[b] b[b] c[b]`.
    pub(crate) fn triple<'a>(a: &'a [f64], b: &'a [f64], c: &'a [f64]) -> f64 {
        let mut sums = [0.0; LANES];
        let (x, y, z) = (a.chunks_exact(LANES), b.chunks_exact(LANES), c.chunks_exact(LANES));
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
