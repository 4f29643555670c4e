//! Which objects are targets and impostors of which, and what the triples of these say at a map.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use consilience_core::{Observer, Pace, Result, SideInformation, Stop, room};
use consilience_num::product::{across, times};
use consilience_num::rows::squared;
use ndarray::{Array2, ArrayView2, s};
use rayon::prelude::*;

/// Rows that are worked on together.
const ROWS: usize = 64;
/// Where either side has fewer rows, their differences are quicker than a product.
const FEW: usize = 8;

/// Targets of every labelled object, and impostors of every set.
///
/// Objects go by their position among the labelled ones, set by set: what is apart from a set lies
/// in a few runs, in two where the sets are classes.
pub(super) struct Triples {
    targets: Vec<Vec<usize>>,
    /// Of each set.
    impostors: Vec<Vec<Range<usize>>>,
    /// Runs of objects of one set that have targets and impostors, ascending.
    runs: Vec<Run>,
}

struct Run {
    set: usize,
    objects: Range<usize>,
}

/// The value of all triples at a map, and the weight that each squared distance has in it.
pub(super) struct Pulls {
    pub(super) value: f64,
    /// Of each run, object by object.
    weights: Vec<Vec<Weights>>,
}

/// The other object and the weight.
type Weights = Vec<(usize, f64)>;

impl Triples {
    /// From the features of the labelled objects, set by set.
    pub(super) fn new(
        z: ArrayView2<'_, f64>,
        side: &SideInformation,
        neighbours: usize,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let mut starts = vec![0];
        for (s, set) in side.labelled_sets().iter().enumerate() {
            starts.push(starts[s] + set.len());
        }
        let impostors = impostors(side, &starts, observer)?;
        let mut runs = Vec::new();
        for (set, range) in starts.windows(2).map(|w| w[0]..w[1]).enumerate() {
            if range.len() > 1 && !impostors[set].is_empty() {
                let first = range.clone().step_by(ROWS);
                runs.extend(first.map(|i| Run { set, objects: i..range.end.min(i + ROWS) }));
            }
        }
        let near = |run: &Run| -> Result<Vec<Vec<usize>>> {
            let own = starts[run.set]..starts[run.set + 1];
            let apart = squares(z, run.objects.clone(), own.clone(), observer)?;
            let nearest = |(i, row): (usize, ndarray::ArrayView1<'_, f64>)| {
                let mut others: Vec<(f64, usize)> =
                    row.iter().copied().zip(own.clone()).filter(|o| o.1 != i).collect();
                let order =
                    |a: &(f64, usize), b: &(f64, usize)| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1));
                if neighbours < others.len() {
                    others.select_nth_unstable_by(neighbours, order);
                    others.truncate(neighbours);
                }
                others.sort_by(order);
                // Through a reference: else the few would keep the room of all.
                others.iter().map(|o| o.1).collect()
            };
            Ok(run.objects.clone().zip(apart.rows()).map(nearest).collect())
        };
        let found = runs.par_iter().map(near).collect::<Result<Vec<_>>>()?;
        let mut targets = vec![Vec::new(); z.nrows()];
        for (run, found) in runs.iter().zip(found) {
            run.objects.clone().zip(found).for_each(|(i, near)| targets[i] = near);
        }
        Ok(Triples { targets, impostors, runs })
    }

    /// Whether no object has both targets and impostors.
    pub(super) fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    /// Mean squared distance from an object with targets to its nearest impostor.
    pub(super) fn margin(&self, y: ArrayView2<'_, f64>, observer: &dyn Observer) -> Result<f64> {
        let nearest = |run: &Run| -> Result<Vec<f64>> {
            let mut least = vec![f64::INFINITY; run.objects.len()];
            for range in &self.impostors[run.set] {
                let apart = squares(y, run.objects.clone(), range.clone(), observer)?;
                for (least, row) in least.iter_mut().zip(apart.rows()) {
                    *least = row.iter().fold(*least, |m, &v| m.min(v));
                }
            }
            Ok(least)
        };
        let least = self.runs.par_iter().map(nearest).collect::<Result<Vec<_>>>()?;
        let n: usize = least.iter().map(Vec::len).sum();
        Ok(least.iter().flatten().sum::<f64>() / n.max(1) as f64)
    }

    /// The value where the labelled objects are at `y`: `pull` times the squared distance to each
    /// target, and the rest of 1 times what each triple lacks of the margin.
    /// `None` where the weights take more than so many bytes.
    pub(super) fn pulls(
        &self,
        y: ArrayView2<'_, f64>,
        pull: f64,
        bytes: u64,
        observer: &dyn Observer,
    ) -> Result<Option<Pulls>> {
        let held = AtomicU64::new(0);
        let of = |run: &Run| -> Result<Option<(f64, Vec<Weights>)>> {
            if held.load(Ordering::Relaxed) > bytes {
                return Ok(None);
            }
            let part = self.pulls_of(run, y, pull, observer)?;
            let room: usize = part.1.iter().map(Weights::capacity).sum();
            held.fetch_add((room * size_of::<(usize, f64)>()) as u64, Ordering::Relaxed);
            Ok(Some(part))
        };
        let parts = self.runs.par_iter().map(of).collect::<Result<Vec<_>>>()?;
        if held.into_inner() > bytes {
            return Ok(None);
        }
        let parts: Vec<_> = parts.into_iter().flatten().collect();
        let value = parts.iter().map(|p| p.0).sum();
        Ok(Some(Pulls { value, weights: parts.into_iter().map(|p| p.1).collect() }))
    }

    /// How many weights these are, with the room that a list keeps for more.
    pub(super) fn n_weights(
        &self,
        y: ArrayView2<'_, f64>,
        pull: f64,
        observer: &dyn Observer,
    ) -> Result<usize> {
        let of = |run: &Run| -> Result<usize> {
            let (_, weights) = self.pulls_of(run, y, pull, observer)?;
            Ok(weights.iter().map(Weights::capacity).sum())
        };
        self.runs.par_iter().map(of).sum()
    }

    fn pulls_of(
        &self,
        run: &Run,
        y: ArrayView2<'_, f64>,
        pull: f64,
        observer: &dyn Observer,
    ) -> Result<(f64, Vec<Weights>)> {
        let push = 1.0 - pull;
        let mut value = 0.0;
        let mut near = Vec::with_capacity(run.objects.len());
        for i in run.objects.clone() {
            let to = |&j: &usize| (j, squared(row(&y, i), row(&y, j)));
            let squares: Vec<(usize, f64)> = self.targets[i].iter().map(to).collect();
            value += pull * squares.iter().map(|t| t.1).sum::<f64>();
            let farthest = squares.iter().fold(0.0f64, |m, t| m.max(t.1));
            let weights: Weights = squares.iter().map(|t| (t.0, pull)).collect();
            near.push((squares, 1.0 + farthest, weights));
        }
        for range in &self.impostors[run.set] {
            let apart = squares(y, run.objects.clone(), range.clone(), observer)?;
            for (row, (squares, reach, weights)) in apart.rows().into_iter().zip(&mut near) {
                for (k, &far) in range.clone().zip(row).filter(|(_, far)| **far < *reach) {
                    let mut pushed = 0.0;
                    for (t, &(_, near)) in squares.iter().enumerate() {
                        let lacks = 1.0 + near - far;
                        if lacks > 0.0 {
                            value += push * lacks;
                            weights[t].1 += push;
                            pushed += push;
                        }
                    }
                    room::push(weights, (k, -pushed))?;
                }
            }
        }
        Ok((value, near.into_iter().map(|n| n.2).collect()))
    }

    /// `sum w_ij (z_i - z_j)(z_i - z_j)'` over the weights.
    ///
    /// With D the sums of the rows and columns of W it is `Z' D Z - Z' W Z - Z' W' Z`: a matrix and
    /// its transpose.
    pub(super) fn scatter(
        &self,
        z: ArrayView2<'_, f64>,
        pulls: &Pulls,
        observer: &dyn Observer,
    ) -> Result<Array2<f64>> {
        let (p, d) = z.dim();
        let mut degrees: Vec<f64> = room::zeros(p)?;
        let mut pace = Pace::new(observer);
        for (i, weights) in self.weighted(pulls) {
            pace.work(weights.len())?;
            for &(j, w) in weights {
                degrees[i] += w;
                degrees[j] += w;
            }
        }
        // Half of D Z - 2 W Z.
        let mut half = room::table::<f64>(p, d)?;
        let mut parts = Vec::with_capacity(p);
        let mut rows = half.as_slice_mut().unwrap_or_default().chunks_exact_mut(d.max(1));
        let mut next = 0;
        for (i, weights) in self.weighted(pulls) {
            parts.extend(rows.nth(i - next).map(|row| (row, weights)));
            next = i + 1;
        }
        let stop = Stop::new(observer);
        parts.into_par_iter().with_min_len(FEW).for_each(|(out, weights)| {
            if stop.asked() {
                return;
            }
            for &(j, w) in weights {
                out.iter_mut().zip(row(&z, j)).for_each(|(o, z)| *o -= w * z);
            }
        });
        stop.check()?;
        for ((mut out, z), degree) in half.rows_mut().into_iter().zip(z.rows()).zip(&degrees) {
            out.scaled_add(0.5 * degree, &z);
        }
        let mut scatter = across(z, half.view(), observer)?;
        for i in 0..d {
            for j in 0..=i {
                let both = scatter[[i, j]] + scatter[[j, i]];
                (scatter[[i, j]], scatter[[j, i]]) = (both, both);
            }
        }
        Ok(scatter)
    }

    /// The objects that have weights, ascending, with these.
    fn weighted<'a>(&'a self, pulls: &'a Pulls) -> impl Iterator<Item = (usize, &'a Weights)> {
        self.runs.iter().zip(&pulls.weights).flat_map(|(run, w)| run.objects.clone().zip(w))
    }
}

/// Of each set, what is apart from it. Pairs of sets come in order, so that the runs do.
fn impostors(
    side: &SideInformation,
    starts: &[usize],
    observer: &dyn Observer,
) -> Result<Vec<Vec<Range<usize>>>> {
    let mut pace = Pace::new(observer);
    let mut all = vec![Vec::<Range<usize>>::new(); side.labelled_sets().len()];
    for (a, b) in side.sets_apart() {
        pace.work(1)?;
        for (set, other) in [(a, b), (b, a)] {
            let run = starts[other]..starts[other + 1];
            match all[set].last_mut() {
                Some(last) if last.end == run.start => last.end = run.end,
                _ => room::push(&mut all[set], run)?,
            }
        }
    }
    Ok(all)
}

/// Squared distances between two ranges of rows.
fn squares(
    y: ArrayView2<'_, f64>,
    rows: Range<usize>,
    columns: Range<usize>,
    observer: &dyn Observer,
) -> Result<Array2<f64>> {
    if rows.len() < FEW || columns.len() < FEW {
        observer.check()?;
        let mut out = room::table(rows.len(), columns.len())?;
        for (i, mut out) in rows.zip(out.rows_mut()) {
            out.iter_mut()
                .zip(columns.clone())
                .for_each(|(o, j)| *o = squared(row(&y, i), row(&y, j)));
        }
        return Ok(out);
    }
    let (a, b) = (y.slice(s![rows, ..]), y.slice(s![columns, ..]));
    let mut out = times(a, b.t(), observer)?;
    let norms: Vec<f64> = b.rows().into_iter().map(|r| r.dot(&r)).collect();
    for (mut out, a) in out.rows_mut().into_iter().zip(a.rows()) {
        let norm = a.dot(&a);
        out.iter_mut().zip(&norms).for_each(|(o, b)| *o = (norm + b - 2.0 * *o).max(0.0));
    }
    Ok(out)
}

/// A row of a table in standard order.
fn row<'a>(y: &'a ArrayView2<'_, f64>, i: usize) -> &'a [f64] {
    let d = y.ncols();
    y.as_slice().map_or(&[], |values| &values[i * d..(i + 1) * d])
}
