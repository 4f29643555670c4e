//! Mini-batch k-means members. All objects that a member looks at are drawn beforehand, as the
//! library draws them, and fetched in one pass.

use consilience::Result;
use consilience::generate::MiniBatchKMeans;
use consilience::ndarray::{Array2, Axis};
use consilience::num::Float;
use consilience::num::kmeans::{self, assign};

use super::features::{Fetched, Source};
use super::member::{Member, Model, Plan, plans, share};
use super::{Generation, MemberSetup, most_at_once, union};

/// How centres follow objects.
#[derive(Clone, Copy)]
pub(super) struct Batches {
    pub(super) batch: usize,
    pub(super) batches: usize,
}

/// The objects that a member looks at.
struct Draws {
    /// Those among which the starts are.
    starts: Vec<u64>,
    batches: Vec<Vec<u64>>,
}

impl Draws {
    fn of(plan: &Plan, batches: Batches, n: u64) -> Self {
        let mut stream = plan.fit.derive("mini-batch", 0).stream();
        let wanted = batches.batch.saturating_mul(3).max(plan.clusters.saturating_mul(10));
        let starts = plan.view.sample(&mut stream, n, wanted);
        let size = batches.batch.min(plan.view.objects(n));
        let batches = (0..batches.batches)
            .map(|_| (0..size).filter_map(|_| plan.view.draw(&mut stream, 0, n)).collect())
            .collect();
        Draws { starts, batches }
    }

    fn objects(&self) -> impl Iterator<Item = u64> + '_ {
        self.starts.iter().chain(self.batches.iter().flatten()).copied()
    }
}

/// Mini-batch members of a table of which not all objects fit in memory.
pub(super) fn members<F: Float>(
    source: &Source<'_>,
    setup: &MemberSetup,
    batches: Batches,
    done: &mut Generation,
) -> Result<Vec<Member<F>>> {
    let n = source.table.n_rows();
    let part = share(n as usize, setup.object_fraction);
    let plans = plans(setup, n, source.width(), part)?;
    let at_once = most_at_once(source.engine, bytes::<F>(source, batches), "a draw of a member")?;
    let mut members = Vec::with_capacity(plans.len());
    for wave in plans.chunks(at_once) {
        let draws: Vec<Draws> = wave.iter().map(|plan| Draws::of(plan, batches, n)).collect();
        let fetched = source.fetch::<F>(Some(union(draws.iter().flat_map(Draws::objects))))?;
        done.sample += fetched.rows.nrows() as u64;
        for (plan, draws) in wave.iter().zip(&draws) {
            source.observer.check()?;
            let centres = centres(plan, batches, draws, &fetched)?;
            members.push(Member { view: plan.view.clone(), model: Model::Centres(centres) });
            source.observer.progress("members", members.len(), setup.members);
        }
    }
    done.converged = true;
    Ok(members)
}

/// Bytes of what a member draws: the numbers of the objects, their rows, and those of its starts.
fn bytes<F: Float>(source: &Source<'_>, batches: Batches) -> u64 {
    let row = (source.width() * size_of::<F>()) as u64;
    let starts = batches.batch.saturating_mul(3) as u64;
    let looked_at = batches.batch.saturating_mul(batches.batches.saturating_add(3)) as u64;
    let rows = looked_at.min(source.table.n_rows()).saturating_add(starts);
    looked_at.saturating_mul(16).saturating_add(rows.saturating_mul(row))
}

/// Sculley's iterations.
fn centres<F: Float>(
    plan: &Plan,
    Batches { batch, batches }: Batches,
    draws: &Draws,
    fetched: &Fetched<F>,
) -> Result<Array2<F>> {
    let rows = |objects: &[u64]| {
        let rows = fetched.rows.select(Axis(0), &fetched.places(objects));
        plan.view.rows(&rows).into_owned()
    };
    let sample = rows(&draws.starts);
    let method = MiniBatchKMeans::new().batch(batch).batches(batches);
    let options = method.start_options(plan.clusters, sample.nrows(), plan.fit).parallel(false);
    let mut centres = kmeans::fit(sample.view(), None, &options, &())?.centres;
    let mut seen = vec![0.0; centres.nrows()];
    let mut exact: Array2<f64> = centres.mapv(F::to_f64);
    for batch in &draws.batches {
        let rows = rows(batch);
        for (row, c) in rows.rows().into_iter().zip(assign(rows.view(), centres.view(), false)) {
            seen[c as usize] += 1.0;
            let rate = 1.0 / seen[c as usize];
            for (c, x) in exact.row_mut(c as usize).iter_mut().zip(row) {
                // Not c + rate (x - c): the difference may overflow.
                *c = (1.0 - rate) * *c + rate * x.to_f64();
            }
        }
        centres = exact.mapv(F::from_f64);
    }
    Ok(centres)
}
