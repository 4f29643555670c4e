#[cfg(feature = "serde")]
use consilience_core::stored::Parts;
use consilience_core::{
    Assign, Clustering, Error, Features, Observer, Pace, Result, SparseRows, Watch, ensure, room,
    with_rows,
};
use consilience_num::Float;
use consilience_num::kmeans::sparse::ScaledRows;
use consilience_num::place::Place;
use consilience_num::rows::{Rows, Scaled};

use crate::points::{PointSets, Table, farthest};

/// Runs one expression with checked features as a [`Table`](crate::points::Table), and where its
/// rows are.
macro_rules! with_table {
    (sparse $x:ident, |$rows:ident, $place:ident| $body:expr) => {{
        let near = near_rows($x)?;
        let $rows = ScaledRows::new(near.as_ref().map_or($x, |(near, _)| near.into()))?;
        let off = near.as_ref().map(|(_, off)| off);
        let $place = Place::of_near($x.n_columns(), off, $rows.scale())?;
        $body
    }};
    ($features:expr, |$rows:ident, $place:ident| $body:expr) => {{
        use consilience_num::kmeans::sparse::ScaledRows;
        use consilience_num::place::{Place, near_rows};
        match $features {
            consilience_core::Features::Sparse32(x) => {
                with_table!(sparse x, |$rows, $place| $body)
            }
            consilience_core::Features::Sparse64(x) => {
                with_table!(sparse x, |$rows, $place| $body)
            }
            features => {
                let scaled = consilience_num::rows::Scaled::new(features.dense()?);
                let $place = scaled.place.clone();
                consilience_core::with_rows!(scaled.features(), |x| {
                    let $rows = consilience_num::rows::Rows::new(x);
                    $body
                })
            }
        }
    }};
}
pub(crate) use with_table;

/// Sets of points that the rows join, and the growth by farthest points.
pub(crate) struct Sets<R> {
    rows: R,
    points: PointSets,
    place: Place,
    /// Squared distance to the farthest member of the nearest set.
    closest: Vec<f64>,
    labels: Vec<u32>,
}

impl<R: Table> Sets<R> {
    pub(crate) fn new(rows: R, place: Place) -> Result<Self> {
        let n = rows.n();
        let points = PointSets::new(rows.d());
        let (closest, labels) = (room::filled(n, f64::INFINITY)?, room::zeros(n)?);
        Ok(Sets { rows, points, place, closest, labels })
    }

    /// Begins with labelled sets; their objects stay with them whatever is nearer.
    pub(crate) fn start(&mut self, sets: &[Vec<usize>], observer: &dyn Observer) -> Result<()> {
        if sets.is_empty() {
            return Ok(());
        }
        self.points.reserve(sets.iter().map(Vec::len).sum())?;
        let mut pace = Pace::new(observer);
        for set in sets {
            pace.work(set.len().saturating_mul(self.rows.d()))?;
            self.points.push(set.iter().map(|&i| self.rows.row(i)))?;
        }
        self.rows.nearest(&self.points, &mut self.closest, &mut self.labels, observer)?;
        for (s, set) in sets.iter().enumerate() {
            for &i in set {
                self.closest[i] = 0.0;
                self.labels[i] = s as u32;
            }
        }
        Ok(())
    }

    /// Adds the farthest object as a set of its own until there are `clusters`, or until no object
    /// is away from all sets. `first` starts where there is no set yet.
    pub(crate) fn grow(
        &mut self,
        clusters: usize,
        first: Option<usize>,
        watch: &mut Watch<'_>,
    ) -> Result<()> {
        let mut next = if self.len() == 0 { first } else { self.away(farthest(&self.closest)) };
        watch.step(self.len())?;
        while self.len() < clusters {
            let Some(object) = next else { break };
            let centre = self.rows.row(object)?;
            let cluster = self.len() as u32;
            let (closest, labels) = (&mut self.closest, &mut self.labels);
            let far =
                self.rows.bring_nearer(&centre, cluster, closest, labels, watch.observer())?;
            self.points.push([Ok(centre)])?;
            next = self.away(far);
            watch.step(self.len())?;
        }
        Ok(())
    }

    fn away(&self, far: Option<(usize, f64)>) -> Option<usize> {
        far.filter(|f| f.1 > 0.0).map(|f| f.0)
    }

    pub(crate) fn len(&self) -> usize {
        self.points.len()
    }

    /// Largest distance of an unlabelled object to the farthest member of its set.
    pub(crate) fn radius(&self) -> f64 {
        farthest(&self.closest).map_or(0.0, |f| f.1).sqrt() / self.place.unit
    }

    pub(crate) fn finish(self) -> Result<Clustering> {
        let clusters = self.points.len();
        let nearest = FarthestMember { points: self.points, place: self.place };
        Clustering::new(&self.labels, clusters, nearest)
    }
}

/// New objects join the set whose farthest member is nearest.
#[derive(Debug)]
pub(crate) struct FarthestMember {
    points: PointSets,
    /// Where the points are.
    place: Place,
}

impl FarthestMember {
    fn nearest<F: Float>(
        &self,
        x: SparseRows<'_, F>,
        closest: &mut [f64],
        labels: &mut [u32],
    ) -> Result<()> {
        x.check()?;
        let near = self.place.sparse_rows(x)?;
        let rows = ScaledRows::new(near.as_ref().map_or(x, SparseRows::from))?;
        let rows = rows.scaled_by(self.place.unit)?;
        if !rows.squares_are_finite() {
            return Err(Error::invalid("features far larger than those at the fit"));
        }
        rows.nearest(&self.points, closest, labels, &())
    }
}

impl Assign for FarthestMember {
    fn n_features(&self) -> usize {
        self.points.d()
    }

    fn assign(&self, features: Features<'_>) -> Result<Vec<usize>> {
        let n = features.n_objects();
        ensure!(n < u32::MAX as usize, too_large("{n} objects"));
        let (mut closest, mut labels) = (room::zeros(n)?, room::zeros(n)?);
        match features {
            Features::Sparse32(x) => self.nearest(x, &mut closest, &mut labels)?,
            Features::Sparse64(x) => self.nearest(x, &mut closest, &mut labels)?,
            _ => with_rows!(Scaled::like(features.dense()?, &self.place).features(), |x| {
                Rows::new(x).nearest(&self.points, &mut closest, &mut labels, &())?;
            }),
        }
        Ok(labels.into_iter().map(|l| l as usize).collect())
    }

    #[cfg(feature = "serde")]
    fn stored(&self) -> Option<Vec<Parts>> {
        let mut parts = Parts::new(KIND).number("scale", self.place.unit);
        if let Some(off) = &self.place.off {
            parts = parts.row("off", off.iter().copied());
        }
        Some(vec![self.points.stored(parts)])
    }
}

#[cfg(feature = "serde")]
crate::stored::assigner!("farthest-member", FarthestMember);

#[cfg(feature = "serde")]
impl FarthestMember {
    fn restored(parts: &mut Parts) -> Result<Self> {
        let (unit, points) = (parts.take_positive("scale")?, PointSets::restored(parts)?);
        let off = if parts.has("off") { Some(parts.take_row("off")?) } else { None };
        if let Some(off) = &off {
            crate::stored::check_length("off", off.len(), points.d())?;
        }
        Ok(FarthestMember { points, place: Place { off, unit } })
    }
}
