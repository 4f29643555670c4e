//! Lloyd's iterations of all members in one pass over the table.

use consilience::generate::KMeans;
use consilience::ndarray::{Array2, ArrayView2, Axis};
use consilience::num::Float;
use consilience::num::kmeans::assign;
use consilience::{Error, Features, Observer, Result, Seed};

use serde::{Deserialize, Serialize};

use super::KMeansMembers;
use super::features::{Sampled, rows};
use crate::engine::Engine;
use crate::remote::wire::matrix;
use crate::table::{Piece, Table};
use crate::work::Fold;

/// One member: what it sees, and its centres.
#[derive(Clone, Deserialize, Serialize)]
#[serde(bound = "F: Float")]
pub(crate) struct Member<F> {
    /// The features that it sees; all without.
    columns: Option<Vec<usize>>,
    /// The objects that it sees: those whose number is below, by a stream of its own.
    objects: Option<(u64, u64)>,
    #[serde(with = "matrix")]
    pub(super) centres: Array2<F>,
    /// Summed squared movement of the centres below which they rest.
    still: f64,
    pub(super) rests: bool,
}

impl<F: Float> Member<F> {
    pub(super) fn clusters(&self) -> usize {
        self.centres.nrows()
    }

    fn sees(&self, object: u64) -> bool {
        self.objects.is_none_or(|(seed, below)| Seed(seed).derive("object", object).0 <= below)
    }

    /// The cluster of each row, `None` for the objects that it does not see.
    pub(super) fn labels(
        &self,
        rows: &Array2<F>,
        first: u64,
    ) -> (Option<Array2<F>>, Vec<Option<u32>>) {
        let seen = self.columns.as_ref().map(|columns| rows.select(Axis(1), columns));
        let view: ArrayView2<'_, F> = seen.as_ref().unwrap_or(rows).view();
        let labels = assign(view, self.centres.view(), false);
        let labels = labels.into_iter().zip(first..);
        let labels = labels.map(|(label, object)| self.sees(object).then_some(label)).collect();
        (seen, labels)
    }
}

/// k-means of every member on the sample.
pub(super) fn start<F: Float>(
    settings: &KMeansMembers,
    n: u64,
    sample: &Sampled<F>,
    observer: &dyn Observer,
) -> Result<Vec<Member<F>>>
where
    for<'a> Features<'a>: From<ArrayView2<'a, F>>,
{
    let (objects, d) = sample.rows.dim();
    let range = settings.generator().cluster_range(n as usize)?;
    let width = ((d as f64 * settings.feature_fraction).ceil() as usize).clamp(1, d);
    let part = ((objects as f64 * settings.object_fraction).ceil() as usize).clamp(1, objects);
    if *range.start() > part {
        let (low, high) = (range.start(), range.end());
        return Err(Error::invalid(format!(
            "{low} to {high} clusters of the {part} sampled objects that a member sees"
        )));
    }
    let kmeans = KMeans::new().tolerance(settings.tolerance);
    (0..settings.members)
        .map(|u| {
            observer.check()?;
            let seed = settings.seed.derive("member", u as u64);
            let spread = range.end() - range.start() + 1;
            let k = range.start() + seed.derive("clusters", 0).stream().below(spread);
            let columns = (width < d).then(|| seed.derive("features", 0).stream().sample(d, width));
            let drawn =
                (part < objects).then(|| seed.derive("objects", 0).stream().sample(objects, part));
            let mut rows = match &columns {
                Some(columns) => sample.rows.select(Axis(1), columns),
                None => sample.rows.clone(),
            };
            if let Some(drawn) = &drawn {
                rows = rows.select(Axis(0), drawn);
            }
            let seed_of_fit = seed.derive("clusterer", 0);
            let fit = kmeans.fit_centres(rows.view(), k.min(part), seed_of_fit, observer)?;
            observer.progress("starts", u + 1, settings.members);
            let below = (settings.object_fraction * u64::MAX as f64) as u64;
            Ok(Member {
                columns,
                objects: (settings.object_fraction < 1.0).then_some((seed.0, below)),
                centres: fit.output.centres.mapv(F::from_f64),
                still: settings.tolerance * variance(&rows),
                rests: false,
            })
        })
        .collect()
}

/// Variance of the rows, averaged over the columns.
fn variance<F: Float>(rows: &Array2<F>) -> f64 {
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
    members: Vec<Member<F>>,
}

impl<F: Float> Fold for Pass<F> {
    const NAME: &'static str = if size_of::<F>() == 4 { "pass-f32" } else { "pass-f64" };
    type Part = Vec<Sums>;

    fn part(&self, table: &Table, piece: &Piece, observer: &dyn Observer) -> Result<Vec<Sums>> {
        let mut sums: Vec<Sums> = self.members.iter().map(Sums::of).collect();
        let mut first = piece.first;
        table.read(piece, table.positions(), |columns| {
            let rows = rows::<F>(columns, first)?;
            for (member, sums) in self.members.iter().zip(&mut sums).filter(|(m, _)| !m.rests) {
                let (seen, labels) = member.labels(&rows, first);
                sums.add(seen.as_ref().unwrap_or(&rows), &labels);
            }
            first += rows.nrows() as u64;
            observer.check()
        })?;
        Ok(sums)
    }
}

/// Moves the centres of all members to the means of their objects. Sums are taken piece by piece
/// and added in the order of the pieces: the bits do not depend on the number of partitions.
pub(super) fn pass<F: Float>(
    engine: &Engine,
    table: &Table,
    members: &mut Vec<Member<F>>,
    number: usize,
    observer: &dyn Observer,
) -> Result<()> {
    let mut total: Vec<Sums> = members.iter().map(Sums::of).collect();
    let work = Pass { members: std::mem::take(members) };
    engine.fold(table, &work, &format!("pass {number}"), observer, |sums| {
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
    fn of<F: Float>(member: &Member<F>) -> Self {
        Sums { sums: Array2::zeros(member.centres.raw_dim()), counts: vec![0; member.clusters()] }
    }

    fn add<F: Float>(&mut self, rows: &Array2<F>, labels: &[Option<u32>]) {
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
