use std::sync::Arc;

use consilience_core::{
    Constraints, Ensemble, Error, Fit, Link, Observer, Pair, Partition, Report, Result, Status,
};
use ndarray::Array2;
use rayon::prelude::*;

use super::evidence::{Judgement, Reading, Seen, Weighed};
use super::ground::Ground;
use super::logdet::{LogDet, corrupt, take};
use super::place::{ConsensusEmbedding, Embedding};
use super::read_out::{Cut, MetricReadOut};
use super::rule::MetricRule;

/// How fast the weight of a cluster falls with its entropy, in the plain consensus.
const THETA: f64 = 0.4;
/// Quantiles of the squared distances that must-links should be below, and cannot-links above.
const QUANTILES: (f64, f64) = (0.05, 0.95);
/// Objects that the quantiles are taken over, at most.
const MEASURED: usize = 1_000;
/// What grown members weigh together, in weights of the others together.
const GROWN_SHARE: f64 = 0.5;
/// Starts of k-means where a fold is judged.
const FOLD_STARTS: usize = 2;

/// A metric on the embedding of an ensemble that follows links batch by batch, with what it needs
/// to judge itself.
///
/// [`MetricRule::open`] makes it. The ensemble is not kept: every call takes it, and refuses
/// another.
///
/// ```
/// use consilience_core::{Constraints, Ensemble, Link};
/// use consilience_simplex::{MetricRule, Reading};
/// use ndarray::array;
///
/// let labels = array![[0, 0, 0], [0, 0, 0], [0, 0, 1], [1, 1, 1], [1, 1, 2], [1, 1, 2]];
/// let ensemble = Ensemble::from_array(labels.view())?;
/// let mut metric = MetricRule::new(2).open(&ensemble, &())?;
/// let links = Constraints::new(6)?;
/// let read = metric.read_out(&ensemble, &links, &())?.output;
/// assert_eq!(read.reading(), Reading::Plain); // no link, no evidence against the plain consensus
/// assert_eq!(read.partition(&ensemble, &())?.to_signed(), [0, 0, 0, 1, 1, 1]);
/// let asked = read.labels(&ensemble, &[0, 2, 5])?;
/// assert!(asked[0] == asked[1] && asked[1] != asked[2]);
/// # Ok::<(), consilience_core::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ConsensusMetric {
    rule: MetricRule,
    /// Members that the embedding was opened with; those after them were grown.
    members: usize,
    links: usize,
    /// What the plain consensus is read from.
    plain: Arc<ConsensusEmbedding>,
    base: Arm,
    /// For each fold the metric of all links outside it.
    folds: Vec<LogDet>,
    grown: Option<Grown>,
}

/// Where objects lie and the metric there.
#[derive(Clone, Debug, PartialEq)]
struct Arm {
    ground: Ground,
    metric: LogDet,
}

#[derive(Clone, Debug, PartialEq)]
struct Grown {
    /// The fold that each grown member has not seen.
    left_out: Vec<usize>,
    /// Features of the objects beside their places, n x f.
    features: Arc<Array2<f32>>,
    /// All members, and the metric of all links.
    joined: Arm,
    /// For each fold the members that have not seen it, and the metric of all links outside it.
    folds: Vec<Arm>,
    /// What the plain consensus of all members is read from, and that of those that have not seen a
    /// fold.
    plain: Arc<ConsensusEmbedding>,
    plain_folds: Vec<Arc<ConsensusEmbedding>>,
}

/// What following a batch did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MetricReport {
    /// Whether every metric settled within the cap on sweeps.
    pub status: Status,
    /// Most sweeps over the links that a metric took.
    pub sweeps: usize,
    /// Links that were followed.
    pub links: usize,
    /// Those among them whose objects the ensemble tells apart; others say nothing about a metric.
    pub telling: usize,
}

impl Arm {
    fn new(rule: &MetricRule, ground: Ground, ensemble: &Ensemble) -> Self {
        let (near, far) = bounds(&ground, ensemble);
        let metric = LogDet::new(ground.n_dimensions(), rule.slack, near, far);
        Arm { ground, metric }
    }
}

fn plain_embedding(rule: &MetricRule) -> Embedding {
    Embedding::new(rule.clusters).theta(THETA)
}

/// The quantiles of the squared distances of evenly spaced objects.
fn bounds(ground: &Ground, ensemble: &Ensemble) -> (f64, f64) {
    let n = ensemble.n_objects();
    let count = n.min(MEASURED);
    let objects: Vec<u32> = (0..count)
        .map(|t| t * n / count)
        .filter(|&i| ground.embedding.place(ensemble, i).is_ok_and(|p| p.is_some()))
        .map(|i| i as u32)
        .collect();
    let rows = ground.rows(ensemble, &objects);
    let mut squares = Vec::with_capacity(objects.len() * objects.len().saturating_sub(1) / 2);
    for i in 0..rows.nrows() {
        for j in 0..i {
            squares.push(
                rows.row(i).iter().zip(rows.row(j)).map(|(x, y)| (x - y) * (x - y)).sum::<f64>(),
            );
        }
    }
    let mean = squares.iter().sum::<f64>() / squares.len().max(1) as f64;
    let mut at = |q: f64| match squares.len() {
        0 => 0.0,
        count => {
            *squares
                .select_nth_unstable_by((q * (count - 1) as f64).round() as usize, f64::total_cmp)
                .1
        }
    };
    // Many equal objects must not ask for distance 0, nor must all of them.
    let near = at(QUANTILES.0).max(1e-3 * mean).max(f64::MIN_POSITIVE);
    (near, at(QUANTILES.1).max(near))
}

impl ConsensusMetric {
    pub(super) fn open(
        rule: MetricRule,
        ensemble: &Ensemble,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let embedding = rule.embedding(&[]).fit(ensemble, observer)?.output;
        let base = Arm::new(&rule, Ground::new(Arc::new(embedding)), ensemble);
        let folds = vec![base.metric.clone(); rule.folds];
        let plain = Arc::new(plain_embedding(&rule).fit(ensemble, observer)?.output);
        Ok(ConsensusMetric {
            rule,
            members: ensemble.n_members(),
            links: 0,
            plain,
            base,
            folds,
            grown: None,
        })
    }

    /// The rule that it was opened by.
    pub fn rule(&self) -> &MetricRule {
        &self.rule
    }

    /// Members that it was opened on; those after them were grown.
    pub fn n_members(&self) -> usize {
        self.members
    }

    /// Links followed so far.
    pub fn n_links(&self) -> usize {
        self.links
    }

    /// The embedding that it was opened on.
    pub fn embedding(&self) -> &ConsensusEmbedding {
        &self.base.ground.embedding
    }

    /// M, q x q: distances of places are `(x - y)' M (x - y)`.
    pub fn metric(&self) -> Array2<f64> {
        self.base.metric.metric()
    }

    /// Fold of a link by its number.
    fn fold(&self, link: usize) -> usize {
        link % self.rule.folds
    }

    /// Follows new links `(i, j, link)`: such as [`Constraints`] took, which refuse what
    /// contradicts and drop duplicates. On an error nothing has changed.
    ///
    /// # Complexity
    /// O(q^2) per link so far and sweep, for 1 + folds metrics (twice that with grown members);
    /// nothing in n.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfRange`](consilience_core::ErrorKind::OutOfRange) for an object that does
    /// not exist, [`ErrorKind::ShapeMismatch`](consilience_core::ErrorKind::ShapeMismatch) for
    /// another ensemble, [`ErrorKind::Cancelled`](consilience_core::ErrorKind::Cancelled).
    pub fn follow(
        &mut self,
        ensemble: &Ensemble,
        links: &[Pair],
        observer: &dyn Observer,
    ) -> Result<MetricReport> {
        self.base.ground.embedding.check(ensemble)?;
        let n = ensemble.n_objects();
        if let Some(o) = links.iter().flat_map(|l| [l.i, l.j]).find(|&o| o >= n) {
            return Err(Error::out_of_range(format!("object {o} of {n}")));
        }
        let mut report =
            MetricReport { status: Status::Solved, sweeps: 0, links: links.len(), telling: 0 };
        if links.is_empty() {
            return Ok(report);
        }
        let mut next = self.clone();
        for &Pair { i, j, link } in links {
            report.telling += usize::from(next.take_up(ensemble, (i, j), link));
        }
        next.settle(false, &mut report, observer)?;
        *self = next;
        Ok(report)
    }

    /// Hands a link to every metric that may see it; whether it says anything about the one of all
    /// links.
    fn take_up(&mut self, ensemble: &Ensemble, (i, j): (usize, usize), link: Link) -> bool {
        let (fold, must) = (self.fold(self.links), link == Link::Must);
        self.links += 1;
        if let Some(grown) = &mut self.grown {
            grown.add(ensemble, (i, j), must, fold);
        }
        let Some(v) = self.base.ground.difference(ensemble, i, j) else { return false };
        let others = self.folds.iter_mut().enumerate().filter(|&(f, _)| f != fold);
        others.for_each(|(_, metric)| {
            metric.add(v.clone(), must);
        });
        self.base.metric.add(v, must)
    }

    /// Settles every metric, or only those of grown members.
    fn settle(
        &mut self,
        grown_only: bool,
        report: &mut MetricReport,
        observer: &dyn Observer,
    ) -> Result<()> {
        let (tolerance, sweeps) = (self.rule.tolerance, self.rule.sweeps);
        let grown =
            self.grown.iter_mut().flat_map(|g| std::iter::once(&mut g.joined).chain(&mut g.folds));
        let mut metrics: Vec<&mut LogDet> = std::iter::once(&mut self.base.metric)
            .chain(&mut self.folds)
            .filter(|_| !grown_only)
            .chain(grown.map(|arm| &mut arm.metric))
            .collect();
        let ends: Vec<(usize, bool)> = metrics
            .par_iter_mut()
            .map(|metric| metric.settle(tolerance, sweeps, observer))
            .collect::<Result<_>>()?;
        for (done, converged) in ends {
            report.sweeps = report.sweeps.max(done);
            if !converged {
                report.status = Status::MaxIterations;
            }
        }
        Ok(())
    }

    /// Takes members in that were grown from the links so far: `ensemble` has them after the
    /// members that the metric was opened on, `left_out` says for each which fold of the links it
    /// has not seen, and `features` (one row per object, perhaps no columns) has what lies beside
    /// the places. Members grown before are given up. On an error nothing has changed.
    ///
    /// [`HullGrowth`](crate::HullGrowth) makes all three. They are read out only where they prove
    /// themselves on links that they have not seen.
    ///
    /// # Errors
    /// [`ErrorKind::ShapeMismatch`](consilience_core::ErrorKind::ShapeMismatch) for another
    /// ensemble or number of members,
    /// [`ErrorKind::OutOfRange`](consilience_core::ErrorKind::OutOfRange) for a fold that does not
    /// exist, [`ErrorKind::InvalidParameter`](consilience_core::ErrorKind::InvalidParameter) unless
    /// `constraints` are those followed,
    /// [`ErrorKind::Cancelled`](consilience_core::ErrorKind::Cancelled).
    pub fn grow(
        &mut self,
        ensemble: &Ensemble,
        left_out: &[usize],
        features: Array2<f32>,
        constraints: &Constraints,
        observer: &dyn Observer,
    ) -> Result<MetricReport> {
        self.check_links(constraints)?;
        let n = ensemble.n_objects();
        if features.nrows() != n || features.iter().any(|x| !x.is_finite()) {
            return Err(Error::shape(format!(
                "features of {} objects; expected finite ones of {n}",
                features.nrows()
            )));
        }
        let (m, folds) = (self.members, self.rule.folds);
        if ensemble.n_members() != m + left_out.len() {
            return Err(Error::shape(format!(
                "{} members; expected {m} and {} grown",
                ensemble.n_members(),
                left_out.len()
            )));
        }
        if let Some(f) = left_out.iter().find(|f| **f >= folds) {
            return Err(Error::out_of_range(format!("fold {f} of {folds}")));
        }
        let base = self.base.ground.embedding.beside(ensemble, m)?;
        let mut next = ConsensusMetric {
            plain: Arc::new(self.plain.beside(ensemble, m)?),
            base: Arm { ground: Ground::new(Arc::new(base)), metric: self.base.metric.clone() },
            grown: None,
            ..self.clone()
        };
        let mut report =
            MetricReport { status: Status::Solved, sweeps: 0, links: self.links, telling: 0 };
        if !left_out.is_empty() {
            let mut grown = Grown::open(&self.rule, m, left_out, features, ensemble, observer)?;
            for (t, Pair { i, j, link }) in constraints.iter().enumerate() {
                grown.add(ensemble, (i, j), link == Link::Must, self.fold(t));
            }
            next.grown = Some(grown);
            next.settle(true, &mut report, observer)?;
        }
        *self = next;
        Ok(report)
    }

    /// Refuses other constraints than those followed.
    fn check_links(&self, constraints: &Constraints) -> Result<()> {
        if constraints.len() != self.links {
            return Err(Error::invalid(format!(
                "{} constraints; the metric has followed {}",
                constraints.len(),
                self.links
            )));
        }
        Ok(())
    }

    /// How the plain consensus, the metric and the grown members judge links that they have not
    /// seen.
    ///
    /// # Errors
    /// As [`ConsensusMetric::read_out`].
    pub fn judge(
        &self,
        ensemble: &Ensemble,
        constraints: &Constraints,
        observer: &dyn Observer,
    ) -> Result<Judgement> {
        self.check_links(constraints)?;
        self.base.ground.embedding.check(ensemble)?;
        let plain = self.plain(ensemble, observer)?;
        self.judge_beside(&plain, ensemble, constraints, observer)
    }

    fn plain(&self, ensemble: &Ensemble, observer: &dyn Observer) -> Result<MetricReadOut> {
        MetricReadOut::of_directions(&self.plain, ensemble, &self.cut(observer))
    }

    fn cut<'a>(&self, observer: &'a dyn Observer) -> Cut<'a> {
        Cut {
            clusters: self.rule.clusters,
            restarts: self.rule.restarts,
            seed: self.rule.seed,
            quick: false,
            observer,
        }
    }

    fn judge_beside(
        &self,
        plain: &MetricReadOut,
        ensemble: &Ensemble,
        constraints: &Constraints,
        observer: &dyn Observer,
    ) -> Result<Judgement> {
        let links: Vec<Pair> = constraints.iter().collect();
        let plain =
            Weighed::of(&seen(plain, None, ensemble, links.iter().enumerate()), links.len());
        let cut = Cut { quick: true, restarts: FOLD_STARTS, ..self.cut(observer) };
        let folded =
            |read: &dyn Fn(usize) -> Result<(MetricReadOut, Option<LogDet>)>| -> Result<Weighed> {
                let mut all = Vec::with_capacity(links.len());
                for fold in 0..self.rule.folds.min(links.len()) {
                    let (read, metric) = read(fold)?;
                    let unseen = links.iter().enumerate().skip(fold).step_by(self.rule.folds);
                    all.append(&mut seen(&read, metric.as_ref(), ensemble, unseen));
                }
                Ok(Weighed::of(&all, links.len()))
            };
        let under = |ground: &Ground, metric: &LogDet| {
            let read = MetricReadOut::of(ground, ensemble, metric.map()?.view(), &cut)?;
            Ok((read, Some(metric.clone())))
        };
        let metric = folded(&|f| under(&self.base.ground, &self.folds[f]))?;
        let grown = match &self.grown {
            None => None,
            Some(g) => Some((
                folded(&|f| {
                    Ok((MetricReadOut::of_directions(&g.plain_folds[f], ensemble, &cut)?, None))
                })?,
                folded(&|f| under(&g.folds[f].ground, &g.folds[f].metric))?,
            )),
        };
        Ok(Judgement::of(&plain, &metric, grown.as_ref().map(|(joined, grown)| (joined, grown))))
    }

    /// The clustering of best evidence, ready to label objects; `constraints` are those followed.
    /// The report notes which it is.
    ///
    /// # Complexity
    /// O(n~ q k) per iteration of k-means over at most 65,536 microclusters, and folds times that
    /// over 4,096.
    ///
    /// # Errors
    /// [`ErrorKind::ShapeMismatch`](consilience_core::ErrorKind::ShapeMismatch) for another
    /// ensemble, [`ErrorKind::InvalidParameter`](consilience_core::ErrorKind::InvalidParameter)
    /// unless `constraints` are as many as were followed,
    /// [`ErrorKind::Cancelled`](consilience_core::ErrorKind::Cancelled).
    pub fn read_out(
        &self,
        ensemble: &Ensemble,
        constraints: &Constraints,
        observer: &dyn Observer,
    ) -> Result<Fit<MetricReadOut>> {
        self.check_links(constraints)?;
        self.base.ground.embedding.check(ensemble)?;
        let plain = self.plain(ensemble, observer)?;
        let judgement = if self.links == 0 {
            Judgement::default()
        } else if self.rule.guarded {
            self.judge_beside(&plain, ensemble, constraints, observer)?
        } else {
            let reading = if self.grown.is_some() { Reading::Grown } else { Reading::Metric };
            Judgement { reading, ..Judgement::default() }
        };
        let mut read = match judgement.reading {
            Reading::Plain => plain,
            reading => self.read_as(reading, ensemble, observer)?,
        };
        read.judgement = judgement;
        read.place_sets(ensemble, constraints);
        let mut report = Report::default();
        report.microclusters = Some(read.ground.embedding.nodes().len());
        report.expect_clusters(
            self.rule.clusters,
            read.n_clusters(),
            "the ensemble distinguishes no more objects",
        );
        report.notes.push(format!("read out: {}", judgement.reading.name()));
        Ok(Fit::new(read, report))
    }

    /// The clustering of one reading, whatever speaks for it, and without placing the linked sets;
    /// that without grown members where nothing was grown.
    ///
    /// # Errors
    /// [`ErrorKind::ShapeMismatch`](consilience_core::ErrorKind::ShapeMismatch) for another
    /// ensemble, [`ErrorKind::Cancelled`](consilience_core::ErrorKind::Cancelled).
    pub fn read_as(
        &self,
        reading: Reading,
        ensemble: &Ensemble,
        observer: &dyn Observer,
    ) -> Result<MetricReadOut> {
        self.base.ground.embedding.check(ensemble)?;
        let arm = match (reading, &self.grown) {
            (Reading::Plain, _) => return self.plain(ensemble, observer),
            (Reading::Joined, None) => return self.plain(ensemble, observer),
            (Reading::Joined, Some(grown)) => {
                let mut read =
                    MetricReadOut::of_directions(&grown.plain, ensemble, &self.cut(observer))?;
                read.judgement.reading = reading;
                return Ok(read);
            }
            (Reading::Grown, Some(grown)) => &grown.joined,
            _ => &self.base,
        };
        let mut read = MetricReadOut::of(
            &arm.ground,
            ensemble,
            arm.metric.map()?.view(),
            &self.cut(observer),
        )?;
        read.judgement.reading = reading;
        Ok(read)
    }

    /// The clustering of best evidence, of all objects.
    ///
    /// # Errors
    /// As [`ConsensusMetric::read_out`].
    pub fn partition(
        &self,
        ensemble: &Ensemble,
        constraints: &Constraints,
        observer: &dyn Observer,
    ) -> Result<Fit<Partition>> {
        let read = self.read_out(ensemble, constraints, observer)?;
        Ok(Fit::new(read.output.partition(ensemble, observer)?, read.report))
    }

    /// The metrics in bytes, little-endian; not the rule, the ensemble or the links, from which
    /// [`from_bytes`](ConsensusMetric::from_bytes) computes the embedding anew, to the same bits.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::new();
        let left_out = self.grown.as_ref().map_or(&[][..], |g| &g.left_out);
        let head = [self.members, self.links, left_out.len()];
        head.iter().chain(left_out).for_each(|&v| out.extend((v as u64).to_le_bytes()));
        if let Some(grown) = &self.grown {
            out.extend((grown.features.ncols() as u64).to_le_bytes());
            grown.features.iter().for_each(|v| out.extend(v.to_le_bytes()));
        }
        let grown = self.grown.iter().flat_map(|g| std::iter::once(&g.joined).chain(&g.folds));
        std::iter::once(&self.base.metric)
            .chain(&self.folds)
            .chain(grown.map(|arm| &arm.metric))
            .for_each(|metric| metric.write(&mut out));
        out
    }

    /// The state that [`to_bytes`](ConsensusMetric::to_bytes) was called on, over the same rule,
    /// ensemble and links: continuing gives the same bits as never having stopped.
    ///
    /// # Errors
    /// [`ErrorKind::Corrupt`](consilience_core::ErrorKind::Corrupt) for bytes that do not fit to
    /// them, and as [`MetricRule::open`].
    pub fn from_bytes(
        bytes: &[u8],
        rule: &MetricRule,
        ensemble: &Ensemble,
        constraints: &Constraints,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let mut rest = bytes;
        let mut head = [0usize; 3];
        for value in &mut head {
            *value = number(&mut rest)?;
        }
        let [members, links, grown] = head;
        if members == 0
            || members.checked_add(grown) != Some(ensemble.n_members())
            || links != constraints.len()
        {
            return Err(corrupt(format!(
                "a metric of {members} and {grown} members and {links} links, for {} members and {} links",
                ensemble.n_members(),
                constraints.len()
            )));
        }
        let left_out: Vec<usize> = (0..grown).map(|_| number(&mut rest)).collect::<Result<_>>()?;
        if let Some(f) = left_out.iter().find(|f| **f >= rule.folds) {
            return Err(corrupt(format!("fold {f} of {}", rule.folds)));
        }
        let features = if grown > 0 {
            stored_features(&mut rest, ensemble.n_objects())?
        } else {
            Array2::zeros((0, 0))
        };
        let base: Vec<usize> = (0..members).collect();
        let mut state = rule.open(&ensemble.select(&base)?, observer)?;
        state.base.ground =
            Ground::new(Arc::new(state.base.ground.embedding.beside(ensemble, members)?));
        state.plain = Arc::new(state.plain.beside(ensemble, members)?);
        if grown > 0 {
            state.grown =
                Some(Grown::open(rule, members, &left_out, features, ensemble, observer)?);
        }
        for Pair { i, j, link } in constraints.iter() {
            state.take_up(ensemble, (i, j), link);
        }
        let arms =
            state.grown.iter_mut().flat_map(|g| std::iter::once(&mut g.joined).chain(&mut g.folds));
        for metric in std::iter::once(&mut state.base.metric)
            .chain(&mut state.folds)
            .chain(arms.map(|arm| &mut arm.metric))
        {
            metric.read(&mut rest)?;
        }
        if !rest.is_empty() {
            return Err(corrupt(format!("{} bytes after the metrics", rest.len())));
        }
        Ok(state)
    }
}

/// n rows of as many features as the bytes say.
fn stored_features(bytes: &mut &[u8], n: usize) -> Result<Array2<f32>> {
    let columns = number(bytes)?;
    if columns.checked_mul(n).is_none_or(|count| count > bytes.len() / 4) {
        return Err(corrupt(format!("{columns} features of {n} objects in {} bytes", bytes.len())));
    }
    let mut features = Array2::zeros((n, columns));
    for value in &mut features {
        *value = f32::from_le_bytes(take(bytes)?);
        if !value.is_finite() {
            return Err(corrupt(format!("a feature of {value}")));
        }
    }
    Ok(features)
}

fn number(bytes: &mut &[u8]) -> Result<usize> {
    usize::try_from(u64::from_le_bytes(take(bytes)?))
        .map_err(|_| corrupt("a number beyond this machine's"))
}

impl Grown {
    fn open(
        rule: &MetricRule,
        members: usize,
        left_out: &[usize],
        features: Array2<f32>,
        ensemble: &Ensemble,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let features = Arc::new(features);
        // Grown members have half the weight of the others, however many there are of either, and
        // so have the few that stand for all that would have been grown without a fold.
        let weights = |fold: Option<usize>| -> Vec<f64> {
            let counted = |f: usize| fold.is_none_or(|fold| f == fold);
            let count = left_out.iter().filter(|&&f| counted(f)).count();
            let each = GROWN_SHARE * members as f64 / count.max(1) as f64;
            let grown = left_out.iter().map(|&f| if counted(f) { each } else { 0.0 });
            (0..members).map(|_| 1.0).chain(grown).collect()
        };
        let arm = |fold| -> Result<Arm> {
            let embedding = rule.embedding(&weights(fold)).fit(ensemble, observer)?.output;
            Ok(Arm::new(rule, Ground::beside(embedding, ensemble, &features), ensemble))
        };
        let plain = |fold| -> Result<Arc<ConsensusEmbedding>> {
            Ok(Arc::new(
                plain_embedding(rule)
                    .member_weights(&weights(fold))
                    .fit(ensemble, observer)?
                    .output,
            ))
        };
        Ok(Grown {
            left_out: left_out.to_vec(),
            joined: arm(None)?,
            folds: (0..rule.folds).map(|fold| arm(Some(fold))).collect::<Result<_>>()?,
            plain: plain(None)?,
            plain_folds: (0..rule.folds).map(|fold| plain(Some(fold))).collect::<Result<_>>()?,
            features,
        })
    }

    fn add(&mut self, ensemble: &Ensemble, (i, j): (usize, usize), must: bool, fold: usize) {
        let others =
            self.folds.iter_mut().enumerate().filter(|&(f, _)| f != fold).map(|(_, arm)| arm);
        for arm in std::iter::once(&mut self.joined).chain(others) {
            if let Some(v) = arm.ground.difference(ensemble, i, j) {
                arm.metric.add(v, must);
            }
        }
    }
}

/// How links look to a read-out under a metric, distances squared in units of the spread; without
/// one it is the directions of the places that are compared.
fn seen<'a>(
    read: &MetricReadOut,
    metric: Option<&LogDet>,
    ensemble: &Ensemble,
    links: impl Iterator<Item = (usize, &'a Pair)>,
) -> Vec<Seen> {
    let unit = if read.spread > 0.0 { read.spread } else { 1.0 };
    links
        .filter_map(|(link, &Pair { i, j, link: kind })| {
            let (a, b) = (read.label(ensemble, i)?, read.label(ensemble, j)?);
            let square = match metric {
                Some(metric) => metric.square(&read.ground.difference(ensemble, i, j)?) / unit,
                None => read.ground.turn(ensemble, i, j)?,
            };
            Some(Seen { link, same: a == b, square, kind })
        })
        .collect()
}
