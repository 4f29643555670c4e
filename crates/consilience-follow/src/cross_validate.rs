//! Which read-out is used: each is compared with links that it was made without.

use consilience_completion::CompletedMap;
use consilience_core::{
    Constraints, Ensemble, Fit, Observer, Pair, Partition, Report, Result, Status,
};
use consilience_num::logdet::LogDet;
use consilience_num::reduce::try_map_each;

use crate::consensus_embedding::tell;
use crate::consensus_metric::ConsensusMetric;
use crate::coordinates::Coordinates;
use crate::cross_validation::{CrossValidation, ReadOutMethod};
use crate::learned::{Completion, Learned};
use crate::link_evidence::{HeldOutLink, ScoredLinks};
use crate::link_trust::LinkTrust;
use crate::metric_read_out::{Cut, MetricReadOut};
use crate::space_metric::SpaceMetric;

/// Links that contradict the plain consensus from which on it is told, and of how many one.
const AGAINST: usize = 10;
/// Starts of k-means for a fold.
const FOLD_RESTARTS: usize = 2;

/// The read-out of a fold, and what distances are measured by; without it the directions of
/// positions are compared.
type FoldReadOut<'a> = (MetricReadOut, Option<Learned<'a>>);

/// Makes that of a fold.
type FoldRead<'r, 'a> = &'r (dyn Fn(usize) -> Result<FoldReadOut<'a>> + Sync);

/// What completion makes of all links in the coordinates of the first members, and in those with
/// grown ones.
#[derive(Default)]
struct Maps {
    base: Option<CompletedMap>,
    grown: Option<CompletedMap>,
}

impl ConsensusMetric {
    /// Compares the possible read-outs with links that they were made without.
    ///
    /// # Errors
    /// As [`ConsensusMetric::read_out`].
    #[doc(alias = "judge")]
    pub fn cross_validate(
        &self,
        ensemble: &Ensemble,
        constraints: &Constraints,
        observer: &dyn Observer,
    ) -> Result<CrossValidation> {
        self.check_links(constraints)?;
        self.check(ensemble)?;
        let plain = self.plain_read_out(ensemble, observer)?;
        let maps = self.maps(ensemble, observer)?;
        self.compare(&plain, ensemble, &maps, observer)
    }

    fn plain_read_out(
        &self,
        ensemble: &Ensemble,
        observer: &dyn Observer,
    ) -> Result<MetricReadOut> {
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

    /// Compares the other read-outs with the plain one.
    fn compare<'a>(
        &'a self,
        consensus: &MetricReadOut,
        ensemble: &Ensemble,
        maps: &Maps,
        observer: &dyn Observer,
    ) -> Result<CrossValidation> {
        let links = &self.links;
        let all = links.iter().enumerate();
        let plain = ScoredLinks::of(&held_out(consensus, None, ensemble, all), links.len());
        let cut = Cut { quick: true, restarts: FOLD_RESTARTS, ..self.cut(observer) };
        let one = |fold: usize, read: FoldRead<'_, 'a>| -> Result<Vec<HeldOutLink>> {
            let (read, learned) = read(fold)?;
            let of_fold = links.iter().enumerate().skip(fold).step_by(self.rule.folds);
            Ok(held_out(&read, learned.as_ref(), ensemble, of_fold))
        };
        let by_folds = |read: FoldRead<'_, 'a>| -> Result<ScoredLinks> {
            let all = try_map_each(self.rule.folds.min(links.len()), &|fold| one(fold, read))?;
            Ok(ScoredLinks::of(&all.concat(), links.len()))
        };
        let under = |f, space: (&Coordinates, &'a LogDet), all: &Option<CompletedMap>| {
            let learned = self.learned_without(f, space, all.as_ref(), ensemble, observer)?;
            let others = links.iter().enumerate().filter(|&(t, _)| self.rule.fold(t) != f);
            let others: Vec<Pair> = others.map(|(_, &link)| link).collect();
            let (map, start) = (learned.map()?, (consensus, &others[..]));
            let read = MetricReadOut::of(space.0, ensemble, map.view(), start, &cut)?;
            Ok((read, Some(learned)))
        };
        let base = &self.base.coordinates;
        let metric = by_folds(&|f| under(f, (base, &self.folds[f]), &maps.base))?;
        let grown = match &self.grown {
            None => None,
            Some(g) => {
                let plain = by_folds(&|f| {
                    Ok((MetricReadOut::of_directions(&g.plain_folds[f], ensemble, &cut)?, None))
                })?;
                let of = |f: usize| (&g.folds[f].coordinates, &g.folds[f].metric);
                Some((plain, by_folds(&|f| under(f, of(f), &maps.grown))?))
            }
        };
        let grown = grown.as_ref().map(|(plain, metric)| (plain, metric));
        Ok(CrossValidation::of(&plain, &metric, grown, self.rule.caution))
    }

    /// What completion makes of all links, where the rule completes.
    fn maps(&self, ensemble: &Ensemble, observer: &dyn Observer) -> Result<Maps> {
        let with = (&self.rule, self.budget);
        let of = |space: &SpaceMetric| space.completed(with, ensemble, &self.links, observer);
        if self.links.is_empty() {
            return Ok(Maps::default());
        }
        let grown = self.grown.as_ref().map(|grown| of(&grown.all)).transpose()?.flatten();
        Ok(Maps { base: of(&self.base)?, grown })
    }

    /// What the links outside a fold teach about some coordinates, under the metric of these links;
    /// `all` is what all links teach, where that is completed.
    fn learned_without<'a>(
        &self,
        fold: usize,
        (coordinates, metric): (&Coordinates, &'a LogDet),
        all: Option<&CompletedMap>,
        ensemble: &Ensemble,
        observer: &dyn Observer,
    ) -> Result<Learned<'a>> {
        let Some(all) = all else { return Ok(Learned::Metric(metric)) };
        let with = (&self.rule, self.budget);
        let own = Completion::new(with, coordinates, ensemble, &self.links, observer);
        Ok(Learned::Completed(own.without(fold, all)?.map))
    }

    /// The clustering that cross-validation chooses, ready to label objects; `constraints` are
    /// those followed. Where the metric without grown members breaks more of them than the plain
    /// consensus, in both of which linked objects are placed as groups, by more than the square
    /// root of those that it breaks, the plain consensus takes its place. The report notes which it
    /// is, says how many links were set aside ([`MetricReadOut::links_set_aside`]), tells of the
    /// embeddings where their clusters were placed by a sample or by inexact eigenvectors, and says
    /// where the metric of all links stopped before it was solved.
    ///
    /// Centres are found on at most 65,536 microclusters, on 4,096 in cross-validation; all objects
    /// are labelled by them.
    ///
    /// # Complexity
    /// O(n~ q k) per iteration of k-means over the microclusters, and folds times that over those
    /// of cross-validation.
    ///
    /// # Errors
    /// [`ErrorKind::ShapeMismatch`](consilience_core::ErrorKind::ShapeMismatch) for another
    /// ensemble, [`ErrorKind::InvalidParameter`](consilience_core::ErrorKind::InvalidParameter)
    /// unless `constraints` are the links followed, in the same order, but for those that
    /// contradict them,
    /// [`ErrorKind::TooLarge`](consilience_core::ErrorKind::TooLarge) where a completed similarity
    /// exceeds the memory budget, [`ErrorKind::Cancelled`](consilience_core::ErrorKind::Cancelled).
    pub fn read_out(
        &self,
        ensemble: &Ensemble,
        constraints: &Constraints,
        observer: &dyn Observer,
    ) -> Result<Fit<MetricReadOut>> {
        self.check_links(constraints)?;
        self.check(ensemble)?;
        let mut plain = self.plain_read_out(ensemble, observer)?;
        let maps = self.maps(ensemble, observer)?;
        let mut validation = if self.n_links() == 0 {
            CrossValidation::default()
        } else if self.rule.cross_validated {
            self.compare(&plain, ensemble, &maps, observer)?
        } else {
            let chosen = match self.grown {
                Some(_) => ReadOutMethod::MetricGrown,
                None => ReadOutMethod::Metric,
            };
            CrossValidation { chosen, ..CrossValidation::default() }
        };
        let mut report = self.opened.clone();
        let learned = match validation.chosen {
            ReadOutMethod::Plain => None,
            method => Some(self.read_out_with(method, &plain, ensemble, &maps, observer)?),
        };
        let against = plain.broken(ensemble, &self.links);
        plain.hold(ensemble, constraints);
        let mut read = match learned {
            None => plain,
            Some(mut learned) => {
                learned.hold(ensemble, constraints);
                let by_metric = validation.chosen == ReadOutMethod::Metric;
                let judged = self.rule.cross_validated && by_metric;
                if judged && self.breaks_more(&learned, &plain, ensemble) {
                    validation.chosen = ReadOutMethod::Plain;
                    let note = "metric breaks more links than the plain consensus";
                    report.notes.push(note.to_owned());
                    plain
                } else {
                    learned
                }
            }
        };
        // What is read out was chosen with links at their word, so that both were judged alike.
        if self.rule.links == LinkTrust::Weigh {
            read.weigh(ensemble, constraints, &self.links, (self.rule.folds, observer))?;
            let told = self.n_links();
            if read.links_set_aside().is_empty() && against >= AGAINST.max(told / AGAINST) {
                report.notes.push(format!(
                    "{against} of {told} links contradict the plain consensus; links held out do \
                     not speak for setting any aside"
                ));
            }
        }
        read.cross_validation = validation;
        self.tell_read(&read, &mut report);
        Ok(Fit::new(read, report))
    }

    /// Says what was read out, and of what.
    fn tell_read(&self, read: &MetricReadOut, report: &mut Report) {
        if let Some(grown) = &self.grown {
            tell(report, grown.opened.clone());
        }
        report.microclusters = Some(read.coordinates.embedding.nodes().len());
        report.expect_clusters(
            self.rule.clusters,
            read.n_clusters(),
            "the ensemble distinguishes no more objects",
        );
        report.notes.push(format!("read out: {}", read.method().name()));
        let (aside, all) = (read.links_set_aside().len(), self.n_links());
        if aside > 0 {
            report.notes.push(format!(
                "{aside} of {all} links set aside, which members and other links contradict"
            ));
        }
        self.tell_capped(read.method(), report);
    }

    /// Whether a read-out breaks more links than another by more than chance: the standard error of
    /// a number of rare events is its square root. The folds were judged by metrics and centres of
    /// their own, and do not know where those of all links end. Grown members are not judged so:
    /// they are better even where they break more (docs/notes/updater.md).
    fn breaks_more(
        &self,
        read: &MetricReadOut,
        other: &MetricReadOut,
        ensemble: &Ensemble,
    ) -> bool {
        let broken = read.broken(ensemble, &self.links);
        let more = broken.saturating_sub(other.broken(ensemble, &self.links));
        more.saturating_mul(more) > broken
    }

    /// Says where a metric of all links stopped at its cap, and whether what was read out did.
    fn tell_capped(&self, chosen: ReadOutMethod, report: &mut Report) {
        let used = match chosen {
            ReadOutMethod::Metric => self.capped[0],
            ReadOutMethod::MetricGrown => self.capped[1],
            _ => false,
        };
        if used {
            report.status = Status::MaxIterations;
        }
        if self.capped.contains(&true) {
            report.notes.push(format!(
                "the metric stopped at max_iterations, {}, before it was solved",
                self.rule.max_iterations
            ));
        }
    }

    /// The clustering by a given method, without cross-validation and without placing linked
    /// objects by their links. Where no members were grown, the methods with grown members are
    /// those without.
    ///
    /// # Errors
    /// [`ErrorKind::ShapeMismatch`](consilience_core::ErrorKind::ShapeMismatch) for another
    /// ensemble, [`ErrorKind::Cancelled`](consilience_core::ErrorKind::Cancelled).
    #[doc(alias = "read_as")]
    pub fn read_out_by(
        &self,
        method: ReadOutMethod,
        ensemble: &Ensemble,
        observer: &dyn Observer,
    ) -> Result<MetricReadOut> {
        self.check(ensemble)?;
        let plain = self.plain_read_out(ensemble, observer)?;
        let maps = self.maps(ensemble, observer)?;
        self.read_out_with(method, &plain, ensemble, &maps, observer)
    }

    fn read_out_with(
        &self,
        method: ReadOutMethod,
        plain: &MetricReadOut,
        ensemble: &Ensemble,
        maps: &Maps,
        observer: &dyn Observer,
    ) -> Result<MetricReadOut> {
        let cut = self.cut(observer);
        let (space, completed) = match (method, &self.grown) {
            (ReadOutMethod::Plain, _) | (ReadOutMethod::PlainGrown, None) => {
                return Ok(plain.clone());
            }
            (ReadOutMethod::PlainGrown, Some(grown)) => {
                let mut read = MetricReadOut::of_directions(&grown.plain, ensemble, &cut)?;
                read.cross_validation.chosen = method;
                return Ok(read);
            }
            (ReadOutMethod::MetricGrown, Some(grown)) => (&grown.all, &maps.grown),
            _ => (&self.base, &maps.base),
        };
        let map = match completed {
            Some(completed) => completed.map.clone(),
            None => space.metric.root()?,
        };
        let start = (plain, &self.links[..]);
        let mut read = MetricReadOut::of(&space.coordinates, ensemble, map.view(), start, &cut)?;
        read.cross_validation.chosen = method;
        Ok(read)
    }

    /// The clustering of all objects that cross-validation chooses.
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
}

/// Links with what a read-out made without them says: whether their objects share a cluster, and
/// their squared distance under the metric in units of the total variance, or without a metric that
/// of the directions of their positions.
fn held_out<'a>(
    read: &MetricReadOut,
    learned: Option<&Learned<'_>>,
    ensemble: &Ensemble,
    links: impl Iterator<Item = (usize, &'a Pair)>,
) -> Vec<HeldOutLink> {
    let unit = if read.spread > 0.0 { read.spread } else { 1.0 };
    let one = |(link, &Pair { i, j, link: kind }): (usize, &Pair)| {
        let (a, b) = (read.label(ensemble, i)?, read.label(ensemble, j)?);
        let square = match learned {
            Some(learned) => learned.square(&read.coordinates.difference(ensemble, i, j)?) / unit,
            None => read.coordinates.direction_distance(ensemble, i, j)?,
        };
        Some(HeldOutLink { link, same: a == b, square, kind })
    };
    links.filter_map(one).collect()
}
