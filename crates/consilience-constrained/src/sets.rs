#[cfg(feature = "serde")]
use consilience_core::stored::Parts;
use consilience_core::{Assign, Clustering, Features, Result, Watch, ensure, with_rows};
use consilience_num::Float;
use consilience_num::rows::{Rows, Scaled};

use crate::points::{PointSets, bring_nearer, farthest};

/// Sets of points that the rows join, and the growth by farthest points.
pub(crate) struct Sets<'a, F> {
    rows: Rows<'a, F>,
    points: PointSets,
    scale: f64,
    /// Squared distance to the farthest member of the nearest set.
    closest: Vec<f64>,
    labels: Vec<u32>,
}

impl<'a, F: Float> Sets<'a, F> {
    pub(crate) fn new(rows: Rows<'a, F>, scale: f64) -> Self {
        let n = rows.n();
        let points = PointSets::new(rows.d());
        Sets { rows, points, scale, closest: vec![f64::INFINITY; n], labels: vec![0; n] }
    }

    /// Begins with labelled sets; their objects stay with them whatever is nearer.
    pub(crate) fn start(&mut self, sets: &[Vec<usize>]) {
        if sets.is_empty() {
            return;
        }
        for set in sets {
            self.points.push(set.iter().map(|&i| self.rows.row(i)));
        }
        self.points.nearest(&self.rows, &mut self.closest, &mut self.labels);
        for (s, set) in sets.iter().enumerate() {
            for &i in set {
                self.closest[i] = 0.0;
                self.labels[i] = s as u32;
            }
        }
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
            let centre = self.rows.row(object);
            let cluster = self.len() as u32;
            let far =
                bring_nearer(&self.rows, &centre, cluster, &mut self.closest, &mut self.labels);
            self.points.push([centre]);
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
        farthest(&self.closest).map_or(0.0, |f| f.1).sqrt() / self.scale
    }

    pub(crate) fn finish(self) -> Result<Clustering> {
        let clusters = self.points.len();
        Clustering::new(
            &self.labels,
            clusters,
            FarthestMember { points: self.points, scale: self.scale },
        )
    }
}

/// New objects join the set whose farthest member is nearest.
#[derive(Debug)]
pub(crate) struct FarthestMember {
    points: PointSets,
    scale: f64,
}

impl Assign for FarthestMember {
    fn n_features(&self) -> usize {
        self.points.d()
    }

    fn assign(&self, features: Features<'_>) -> Result<Vec<usize>> {
        let n = features.n_objects();
        ensure!(n < u32::MAX as usize, too_large("{n} objects"));
        let scaled = Scaled::like(features, self.scale);
        let (mut closest, mut labels) = (vec![0.0; n], vec![0; n]);
        with_rows!(scaled.features(), |x| {
            self.points.nearest(&Rows::new(x), &mut closest, &mut labels);
        });
        Ok(labels.into_iter().map(|l| l as usize).collect())
    }

    #[cfg(feature = "serde")]
    fn stored(&self) -> Option<Vec<Parts>> {
        let parts = Parts::new(crate::stored::FARTHEST_MEMBER).number("scale", self.scale);
        Some(vec![self.points.stored(parts)])
    }
}

#[cfg(feature = "serde")]
impl crate::stored::Stored for FarthestMember {
    fn restored(parts: &mut Parts) -> Result<Self> {
        let (scale, points) = (parts.take_positive("scale")?, PointSets::restored(parts)?);
        Ok(FarthestMember { points, scale })
    }
}
