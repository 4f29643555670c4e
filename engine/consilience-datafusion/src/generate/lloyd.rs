//! k-means members: starts on a sample, then Lloyd's iterations of all of them in one pass over
//! the table.

use consilience::generate::KMeans;
use consilience::ndarray::{Array2, ArrayView2, Axis};
use consilience::num::Float;
use consilience::num::kmeans::assign;
use consilience::{Features, Observer, Result};
use serde::{Deserialize, Serialize};

use super::features::{Fetched, Source};
use super::member::{Member, Model, View, plans, share};
use super::scale::Scaling;
use super::{Generation, MemberSetup};
use crate::remote::wire::matrix;
use crate::table::{Piece, Table};
use crate::work::Fold;

/// One member on its way.
#[derive(Deserialize, Serialize)]
#[serde(bound = "F: Float")]
struct Moving<F> {
    view: View,
    #[serde(with = "matrix")]
    centres: Array2<F>,
    /// Summed squared movement of the centres below which they rest.
    still: f64,
    rests: bool,
}

/// k-means members of a table of which not all objects fit in memory.
pub(super) fn members<F: Float>(
    source: &Source<'_>,
    setup: &MemberSetup,
    objects: usize,
    done: &mut Generation,
) -> Result<Vec<Member<F>>>
where
    for<'a> Features<'a>: From<ArrayView2<'a, F>>,
{
    let drawn = setup
        .seed
        .derive("sampled objects", 0)
        .stream()
        .sample(source.table.n_rows() as usize, objects);
    let sample = source.fetch(Some(drawn.into_iter().map(|i| i as u64).collect()))?;
    done.sample = objects as u64;
    let mut members = start(source, setup, &sample)?;
    drop(sample);
    while done.passes < setup.passes && members.iter().any(|m| !m.rests) {
        done.passes += 1;
        pass(source, &mut members, done.passes)?;
    }
    done.converged = members.iter().all(|member| member.rests);
    let made = |m: Moving<F>| Member { view: m.view, model: Model::Centres(m.centres) };
    Ok(members.into_iter().map(made).collect())
}

/// k-means of every member on the sample.
fn start<F: Float>(
    source: &Source<'_>,
    setup: &MemberSetup,
    sample: &Fetched<F>,
) -> Result<Vec<Moving<F>>>
where
    for<'a> Features<'a>: From<ArrayView2<'a, F>>,
{
    let (objects, d) = sample.rows.dim();
    let part = share(objects, setup.object_fraction);
    let kmeans = KMeans::new().tolerance(setup.tolerance);
    let plans = plans(setup, source.table.n_rows(), d, part)?;
    let mut members = Vec::with_capacity(plans.len());
    for plan in plans {
        source.observer.check()?;
        let drawn =
            (part < objects).then(|| plan.seed.derive("objects", 0).stream().sample(objects, part));
        let mut rows = plan.view.rows(&sample.rows);
        if let Some(drawn) = &drawn {
            rows = rows.select(Axis(0), drawn).into();
        }
        let fit = kmeans.fit_centres(rows.view(), plan.clusters, plan.fit, source.observer)?;
        source.observer.progress("starts", members.len() + 1, setup.members);
        members.push(Moving {
            centres: fit.output.centres.mapv(F::from_f64),
            still: setup.tolerance * variance(rows.view()),
            rests: false,
            view: plan.view,
        });
    }
    Ok(members)
}

/// Variance of the rows, averaged over the columns.
fn variance<F: Float>(rows: ArrayView2<'_, F>) -> f64 {
    let rows = rows.mapv(Float::to_f64);
    rows.var_axis(Axis(0), 0.0).mean().unwrap_or(0.0)
}

/// Sums and numbers of the objects of each cluster.
#[derive(Deserialize, Serialize)]
pub(crate) struct Sums {
    #[serde(with = "matrix")]
    sums: Array2<f64>,
    counts: Vec<u64>,
}

/// The sums of one pass over the table, for all members that do not rest.
#[derive(Deserialize, Serialize)]
#[serde(bound = "F: Float")]
pub(crate) struct Pass<F> {
    scaling: Scaling,
    members: Vec<Moving<F>>,
}

impl<F: Float> Fold for Pass<F> {
    const NAME: &'static str = if size_of::<F>() == 4 { "pass-f32" } else { "pass-f64" };
    type Part = Vec<Sums>;

    fn part(&self, table: &Table, piece: &Piece, observer: &dyn Observer) -> Result<Vec<Sums>> {
        let mut sums: Vec<Sums> = self.members.iter().map(Sums::of).collect();
        self.scaling.read::<F>(table, piece, observer, |rows, first| {
            for (member, sums) in self.members.iter().zip(&mut sums).filter(|(m, _)| !m.rests) {
                let seen = member.view.rows(&rows);
                let labels = assign(seen.view(), member.centres.view(), false);
                sums.add(seen.view(), &member.view.masked(&labels, rows.nrows(), first));
            }
            Ok(())
        })?;
        Ok(sums)
    }
}

/// Moves the centres of all members to the means of their objects. Sums are taken piece by piece
/// and added in the order of the pieces: the bits do not depend on the number of partitions.
fn pass<F: Float>(source: &Source<'_>, members: &mut Vec<Moving<F>>, number: usize) -> Result<()> {
    let mut total: Vec<Sums> = members.iter().map(Sums::of).collect();
    let work = Pass { scaling: source.scaling.clone(), members: std::mem::take(members) };
    let stage = format!("pass {number}");
    source.engine.fold(source.table, &work, &stage, source.observer, |sums| {
        for (total, part) in total.iter_mut().zip(sums) {
            total.sums += &part.sums;
            total.counts.iter_mut().zip(part.counts).for_each(|(all, part)| *all += part);
        }
        Ok(())
    })?;
    *members = work.members;
    for (member, total) in members.iter_mut().zip(&total) {
        if !member.rests {
            member.rests = total.move_centres(&mut member.centres) <= member.still;
        }
    }
    Ok(())
}

impl Sums {
    fn of<F: Float>(member: &Moving<F>) -> Self {
        Sums {
            sums: Array2::zeros(member.centres.raw_dim()),
            counts: vec![0; member.centres.nrows()],
        }
    }

    fn add<F: Float>(&mut self, rows: ArrayView2<'_, F>, labels: &[Option<u32>]) {
        for (row, label) in rows.outer_iter().zip(labels) {
            if let Some(c) = *label {
                self.counts[c as usize] += 1;
                let mut sum = self.sums.row_mut(c as usize);
                sum.iter_mut().zip(row).for_each(|(sum, x)| *sum += x.to_f64());
            }
        }
    }

    /// Each centre to the mean of its objects; one without objects stays. Returns the summed
    /// squared movement.
    fn move_centres<F: Float>(&self, centres: &mut Array2<F>) -> f64 {
        let mut moved = 0.0;
        for ((mut centre, sum), &count) in
            centres.outer_iter_mut().zip(self.sums.outer_iter()).zip(&self.counts)
        {
            if count > 0 {
                for (x, sum) in centre.iter_mut().zip(sum) {
                    let mean = sum / count as f64;
                    moved += (mean - x.to_f64()).powi(2);
                    *x = F::from_f64(mean);
                }
            }
        }
        moved
    }
}
