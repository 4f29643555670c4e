//! One member: what it sees, and its labels or memberships.

use consilience_core::{Features, Fit, Member, Observer, Partition, Result, Seed};
use consilience_num::Float;
use ndarray::{Array2, ArrayView2};
use rayon::prelude::*;

use super::Generator;
use super::scale::Affine;

/// Rows of a chunk in the projection: rows are independent, so it has no influence on the bits.
const CHUNK: usize = 1024;

/// Progress inside a member is no progress of the whole: only cancellation passes.
struct Quiet<'a>(&'a dyn Observer);

impl Observer for Quiet<'_> {
    fn cancelled(&self) -> bool {
        self.0.cancelled()
    }
}

pub(super) fn member<F: Float>(
    generator: &Generator,
    x: ArrayView2<'_, F>,
    maps: Option<&[Affine]>,
    seed: Seed,
    observer: &dyn Observer,
) -> Result<Fit<Member>>
where
    for<'b> Features<'b>: From<ArrayView2<'b, F>>,
{
    let (n, d) = x.dim();
    let take = |all: usize, fraction: f64| ((all as f64 * fraction).ceil() as usize).clamp(1, all);
    let (objects, features) =
        (take(n, generator.object_fraction), take(d, generator.feature_fraction));
    let range = generator.range(n, objects)?;
    let k =
        range.start() + seed.derive("clusters", 0).stream().below(range.end() - range.start() + 1);
    let rows = (objects < n).then(|| seed.derive("objects", 0).stream().sample(n, objects));
    let columns = (features < d).then(|| seed.derive("features", 0).stream().sample(d, features));
    let seen = See { x, maps, rows: rows.as_deref(), columns: columns.as_deref() };
    let copy = match generator.projection {
        Some(dimensions) => Some(seen.project(dimensions, seed.derive("projection", 0))),
        None if rows.is_some() || columns.is_some() || maps.is_some() => Some(seen.copy()),
        None => None,
    };
    let view = copy.as_ref().map_or(x, |copy| copy.view());
    let fit = generator.clusterer.member(
        view.into(),
        k,
        seed.derive("clusterer", 0),
        &Quiet(observer),
    )?;
    let Some(rows) = rows else {
        return Ok(fit);
    };
    drop(copy);
    let mut place = vec![u32::MAX; n];
    for (p, &i) in rows.iter().enumerate() {
        place[i] = p as u32;
    }
    let seen = |i: usize| Some(place[i] as usize).filter(|&p| p != u32::MAX as usize);
    let member = match fit.output {
        Member::Hard(labels) => {
            let label = |i| seen(i).and_then(|p| labels.label(p)).map(|l| l as u64);
            Member::Hard(Partition::from_fn(n, label)?)
        }
        Member::Soft(memberships) => Member::Soft(memberships.gathered(n, seen)?),
    };
    Ok(Fit::new(member, fit.report))
}

/// The part of the table that a member sees, scaled.
struct See<'a, F> {
    x: ArrayView2<'a, F>,
    maps: Option<&'a [Affine]>,
    rows: Option<&'a [usize]>,
    columns: Option<&'a [usize]>,
}

impl<F: Float> See<'_, F> {
    fn dim(&self) -> (usize, usize) {
        let (n, d) = self.x.dim();
        (self.rows.map_or(n, <[_]>::len), self.columns.map_or(d, <[_]>::len))
    }

    #[inline(always)]
    fn at(&self, i: usize, j: usize) -> f64 {
        let i = self.rows.map_or(i, |rows| rows[i]);
        let j = self.columns.map_or(j, |columns| columns[j]);
        let x = self.x[[i, j]].to_f64();
        self.maps.map_or(x, |maps| maps[j].apply(x))
    }

    fn copy(&self) -> Array2<F> {
        Array2::from_shape_fn(self.dim(), |(i, j)| F::from_f64(self.at(i, j)))
    }

    /// Rows times a table of independent normal numbers of variance 1 / dimensions.
    fn project(&self, dimensions: usize, seed: Seed) -> Array2<F> {
        let (n, d) = self.dim();
        let mut stream = seed.stream();
        let root = (dimensions as f64).sqrt();
        let table = Array2::from_shape_simple_fn((d, dimensions), || stream.normal() / root);
        let mut out = vec![F::default(); n * dimensions];
        out.par_chunks_mut(CHUNK * dimensions).enumerate().for_each(|(c, out)| {
            let mut sums = vec![0.0; dimensions];
            for (r, out) in out.chunks_mut(dimensions).enumerate() {
                sums.fill(0.0);
                for j in 0..d {
                    let x = self.at(c * CHUNK + r, j);
                    for (sum, t) in sums.iter_mut().zip(table.row(j)) {
                        *sum += x * t;
                    }
                }
                for (o, &sum) in out.iter_mut().zip(&sums) {
                    *o = F::from_f64(sum);
                }
            }
        });
        // The length is right by construction; the default is never used.
        Array2::from_shape_vec((n, dimensions), out).unwrap_or_default()
    }
}
