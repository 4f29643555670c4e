//! One member: what it sees, and its partition.

use std::sync::Arc;

use consilience_core::{Features, Fit, Observer, Partition, Result, Seed};
use consilience_num::Float;
use ndarray::ArrayView2;

use super::Generator;
use super::scale::Affine;
use super::view::{View, share};

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
    maps: Option<Arc<[Affine]>>,
    seed: Seed,
    observer: &dyn Observer,
) -> Result<Fit<Partition>>
where
    for<'b> Features<'b>: From<ArrayView2<'b, F>>,
{
    let (n, d) = x.dim();
    let objects = share(n, generator.object_fraction);
    let range = generator.range(n, objects)?;
    let k =
        range.start() + seed.derive("clusters", 0).stream().below(range.end() - range.start() + 1);
    let rows = (objects < n).then(|| seed.derive("objects", 0).stream().sample(n, objects));
    let view = View::drawn(generator, d, maps, seed);
    let copy = (rows.is_some() || !view.is_whole()).then(|| view.table(x, rows.as_deref()));
    let seen = copy.as_ref().map_or(x, |copy| copy.view());
    let fit =
        generator.clusterer.fit(seen.into(), k, seed.derive("clusterer", 0), &Quiet(observer))?;
    let Some(rows) = rows else {
        return Ok(fit);
    };
    drop(copy);
    let mut place = vec![u32::MAX; n];
    for (p, &i) in rows.iter().enumerate() {
        place[i] = p as u32;
    }
    let label = |i: usize| match place[i] {
        u32::MAX => None,
        p => fit.output.label(p as usize).map(|l| l as u64),
    };
    Ok(Fit::new(Partition::from_fn(n, label)?, fit.report))
}
