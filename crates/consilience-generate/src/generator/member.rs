//! One member: what it sees, and its labels or memberships.

use std::sync::Arc;

use consilience_core::{Features, Fit, Member, Observer, Partition, Result, Seed};
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
) -> Result<Fit<Member>>
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
    let fit = generator.clusterer.member(
        seen.into(),
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
