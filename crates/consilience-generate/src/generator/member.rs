//! One member: what it sees, and its labels or memberships.

use std::sync::Arc;

use consilience_core::{
    Features, Fit, Member, Observer, OnlyCancels, Partition, Result, Seed, check_answer, ensure,
    with_rows,
};
use consilience_num::Float;
use ndarray::ArrayView2;

use super::scale::Affine;
use super::view::{View, share};
use super::{Generator, Missing};

/// The features come with the maps to their scale; `into` is how many clusters the consensus is to
/// have.
pub(super) fn member(
    generator: &Generator,
    (features, maps): (Features<'_>, Option<Arc<[Affine]>>),
    into: Option<usize>,
    seed: Seed,
    observer: &dyn Observer,
) -> Result<Fit<Member>> {
    let (n, d) = (features.n_objects(), features.n_features());
    let objects = share(n, generator.object_fraction);
    let view = View::drawn(generator, d, maps, seed);
    let rows = (objects < n).then(|| seed.derive("objects", 0).stream().sample(n, objects));
    let rows = match generator.missing {
        Missing::Member => {
            Some(with_rows!(features.dense()?, |x| complete(x, rows, &view.columns()))?)
        }
        _ => rows,
    };
    let range = generator.range(n, rows.as_ref().map_or(n, Vec::len), into)?;
    let k =
        range.start() + seed.derive("clusters", 0).stream().below(range.end() - range.start() + 1);
    let seen = view.seen(features, rows.as_deref(), observer)?;
    let fit = generator.clusterer.member(
        seen.features(),
        k,
        seed.derive("clusterer", 0),
        &OnlyCancels(observer),
    )?;
    let (labels, asked) = (fit.output.n_objects(), rows.as_ref().map_or(n, Vec::len));
    check_answer(generator.clusterer.name(), "labels", labels, asked)?;
    let Some(rows) = rows else {
        return Ok(fit);
    };
    drop(seen);
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

/// The rows of which a member would see no feature missing, of those that it may see.
fn complete<F: Float>(
    x: ArrayView2<'_, F>,
    rows: Option<Vec<usize>>,
    columns: &[usize],
) -> Result<Vec<usize>> {
    let (n, d) = x.dim();
    let whole = |&i: &usize| columns.iter().all(|&j| !x[[i, j]].to_f64().is_nan());
    let rows: Vec<usize> = match rows {
        Some(rows) => rows.into_iter().filter(whole).collect(),
        None => (0..n).filter(whole).collect(),
    };
    let seen = columns.len();
    ensure!(
        !rows.is_empty(),
        invalid(
            "a member that sees {seen} of {d} features finds no object that has them all; \
             expected a smaller feature fraction, or another way about missing values"
        )
    );
    Ok(rows)
}
