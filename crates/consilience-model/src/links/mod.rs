//! Features and a few labels or pairs: which method, judged by what is left out.

mod candidates;
mod folds;
mod judgement;
#[cfg(test)]
mod tests;

use consilience_core::{
    Clustering, ConstrainedClusterer, Dense, ErrorKind, Features, Fit, MemoryBudget, Observer,
    Report, Result, Seed, SideInformation, at_least_one, ensure,
};
use consilience_num::reduce::try_map_each;
use ndarray::{Array2, Axis};

pub use judgement::{JudgedCandidate, LinkJudgement};

use crate::table;
use candidates::{Candidate, Fitted, Problem};
use folds::HeldOut;
use folds::keeps;

/// Multiplications of a candidate, with all its folds, at most.
const COST_LIMIT: f64 = 1e12;

/// Features and a few labels or pairs to a clustering, by the method that the links support: the
/// program's `cluster --method auto`.
///
/// The first choice where nobody knows whether links are many enough to learn from, or which of the
/// methods that use them is right. Several candidates are made without a part of the linked
/// objects, part after part, and judged by whether they keep the links of what was left out. Plain
/// k-means is always among them: any other has to be better by more than half a standard error of
/// the difference. Where there are too few links to judge by, k-means is what comes out, on the
/// features as they are or standardized, and a note says so.
///
/// | candidate | what it is |
/// |---|---|
/// | `kmeans` | k-means on the features as they are, 10 starts: no links |
/// | `kmeans-standardized` | the same, each feature centred and over its deviation: no links |
/// | `pck-means` | [`PckMeans`](consilience_constrained::PckMeans) |
/// | `mpck-means` | [`MpckMeans`](consilience_constrained::MpckMeans) |
/// | `itml` | k-means under [`Itml`](consilience_metric::Itml) |
/// | `mccc` | [`Mccc`](consilience_completion::Mccc) |
/// | `updater` | 20 k-means members under a metric learned on their embedding |
///
/// `itml` sees the leading components where there are more than 60 features; `updater` has those of
/// the features beside the embedding
/// ([`ConsensusMetric::lay_beside`](consilience_follow::ConsensusMetric::lay_beside)).
///
/// ```text
/// score = (share of held-out must-links kept + share of held-out cannot-links kept) / 2
/// kept  = (1 - w) kept without all links of one of its objects + w kept without the link itself
/// w     = (share of the objects that have a link)^2 of pairs; 0 of labels
/// ```
///
/// The two parts are for pairs with an object of which nothing is known and for pairs without:
/// where nearly all objects have links, a method that holds what it is told is right, however
/// little it learns for others. Labels say every pair of their objects, so that none can be left
/// out by itself: they are judged by objects that are left out alone, also where all have a label.
///
/// ```
/// use consilience::model::LinkedClustering;
/// use consilience::ndarray::Array2;
/// use consilience::{Constraints, Pair, SideInformation};
///
/// // The wide first feature means nothing; the second holds two groups, which the pairs mean.
/// let x = Array2::from_shape_fn((120, 2), |(i, j)| match j {
///     0 => ((i * 37) % 101) as f64,
///     _ => (i % 2) as f64 + (i * 13 % 11) as f64 * 0.02,
/// });
/// let mut pairs = Constraints::new(120)?;
/// for i in 0..40 {
///     pairs.extend(&[Pair::must_link(i, 119 - (i + 1) % 40), Pair::cannot_link(i, i + 41)])?;
/// }
/// let side = SideInformation::from_constraints(&pairs);
/// let found = LinkedClustering::new(2).fit_judged(&x, &side, &())?.output;
/// assert!((0..120).all(|i| found.clustering.partition.label(i) == Some(i % 2)));
/// let taken = found.judgement.taken();
/// assert!(taken.name != "kmeans" && taken.gain > 2.0 * taken.gain_error);
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// Links are taken by ascending objects, so that the order they are given in means nothing, and
/// which part an object is in depends on them and the seed alone. Objects are left out with those
/// that must-links tie to them, labels object by object, so that no pair of an object that is left
/// out follows from what is not. MCCC's basis and weight are chosen once, by all links.
///
/// # Standard errors
/// Links that share an object are kept or broken together: of many links among few objects each
/// tells little that is new. The errors of scores and gains are robust to that:
///
/// ```text
/// error^2 = sum over kinds of link (must, cannot), over all pairs of links l, m that share an
///           object, l = m among them, of  r_l r_m,        but no less than sum of r_l^2
/// r_l     = (kept_l - mean of its kind) / (kinds sqrt(c (c - 1))),   c links of its kind
/// ```
///
/// The only link of a kind has no spread: it adds `1 / kinds^2` to the square of the error.
///
/// They say how far a score may be off because these objects were drawn to have links, the fits
/// being what they are. That other links would lead to other fits is not in them.
///
/// # Complexity
/// That of all candidates, each `1 + folds` times; what does not depend on the links (neighbour
/// graphs, members, plain k-means) once. Candidates are judged on at most 10,000 objects
/// ([`sample`](LinkedClustering::sample)). One that would take more than 1e12 multiplications
/// ([`cost_limit`](LinkedClustering::cost_limit)) is left out, and the judgement says so. They are
/// judged by 5,000 links of a kind at most, and of labels the updater follows 2,000 of a kind;
/// where there are more, or objects are left aside, a note says so.
///
/// # Errors
/// As [`ConstrainedClusterer::fit`]; fewer than 2 folds or more than 1,000, no sample.
///
/// # References
/// Ours; docs/links.md has how its rules were chosen, and its figures. Errors of pairs that share
/// objects: M. Fafchamps, F. Gubert, "The formation of risk sharing networks", 2007; P. Aronow,
/// C. Samii, V. Assenova, "Cluster-robust variance estimation for dyadic data", 2015, without
/// their factor for few objects.
#[doc(alias = "semi-supervised clustering")]
#[doc(alias = "cross-validation")]
#[doc(alias = "auto")]
#[derive(Debug)]
pub struct LinkedClustering {
    clusters: usize,
    candidates: Vec<Candidate>,
    folds: usize,
    least_links: usize,
    caution: f64,
    sample: usize,
    cost_limit: f64,
    seed: Seed,
    budget: MemoryBudget,
}

/// What [`LinkedClustering`] found: the clustering, and what it was chosen by.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct LinkedFit {
    /// The clusters, also of new objects.
    pub clustering: Clustering,
    /// Every candidate with what it kept of the links that it had not seen.
    pub judgement: LinkJudgement,
}

impl LinkedClustering {
    /// Into at most this many clusters, by the default candidates.
    pub fn new(clusters: usize) -> Self {
        LinkedClustering {
            clusters,
            candidates: Candidate::all(),
            folds: 5,
            least_links: 10,
            caution: 0.5,
            sample: 10_000,
            cost_limit: COST_LIMIT,
            seed: Seed(0),
            budget: MemoryBudget::default(),
        }
    }

    consilience_core::setters! {
        /// Adds a method of the caller's own to the candidates, behind all others. Default: none.
        pub fn candidate(mut self, clusterer: impl ConstrainedClusterer + 'static) {
            self.candidates.push(Candidate::Given(Box::new(clusterer)))
        }

        /// Only those of the default candidates, by name, and plain k-means in any case; the
        /// caller's own stay. Default all; an unknown name is refused at the fit.
        pub fn only(mut self, names: &[&str]) {
            self.candidates = Candidate::named(names, self.candidates)
        }

        /// Parts that the linked objects are cut into, each left out once. Default 5; 2 to 1,000.
        pub fn folds(mut self, folds: usize) { self.folds = folds }

        /// With fewer links than this only the candidates are judged that use none, which keep what
        /// they keep without having seen it. Default 10; at
        /// least 1.
        pub fn least_links(mut self, links: usize) { self.least_links = links }

        /// How many standard errors of its gain over plain k-means are taken off the gain of a
        /// candidate before they are compared. Default 0.5; 0 or more.
        pub fn caution(mut self, standard_errors: f64) { self.caution = standard_errors }

        /// Objects that candidates are judged on at most; all linked objects are among them.
        /// Default 10,000; at least 1.
        pub fn sample(mut self, objects: usize) { self.sample = objects }

        /// Multiplications of a candidate, with all its folds, at most. Default 1e12; above 0.
        pub fn cost_limit(mut self, multiplications: f64) { self.cost_limit = multiplications }

        /// Seed of the parts and of the candidates. Default `Seed(0)`.
        pub fn seed(mut self, seed: Seed) { self.seed = seed }

        /// How much memory may be taken. Default 8 GiB.
        pub fn memory_budget(mut self, budget: MemoryBudget) { self.budget = budget }
    }

    /// The clustering with every candidate's score.
    ///
    /// # Errors
    /// As [`LinkedClustering`] says.
    pub fn fit_judged<'a>(
        &self,
        features: impl Into<Features<'a>>,
        side: &SideInformation,
        observer: &dyn Observer,
    ) -> Result<Fit<LinkedFit>> {
        let features = table::of(features.into(), "a linked clustering", table::MAPPED)?;
        self.check(features.into(), side)?;
        observer.check()?;
        let x = self.table(features)?;
        let mut report = Report::default();
        let rows = self.rows(x.nrows(), side);
        let (judgement, prepared) = report.stage("judgement", || match &rows {
            None => self.judge(&x, side, x.nrows(), observer),
            Some(rows) => {
                let some = x.select(Axis(0), rows);
                let (judgement, _) = self.judge(&some, &side.select(rows)?, x.nrows(), observer)?;
                Ok((judgement.of_rows(rows), None))
            }
        })?;
        let problem = self.problem(&x);
        let found = report.stage("clustering", || match prepared {
            Some(prepared) => prepared.fit(side, observer),
            None => {
                self.candidates[judgement.chosen].prepare(&problem, observer)?.fit(side, observer)
            }
        })?;
        report.notes.push(judgement.sentence());
        if let (Some(rows), Some(_)) = (&rows, judgement.taken().score) {
            report.notes.push(format!(
                "candidates were judged on {} of {} objects; sample sets the limit",
                rows.len(),
                x.nrows()
            ));
        }
        side.tell_used(folds::MOST_LINKS, "judge the candidates, at even distances", &mut report);
        report.adopt(found.report);
        let clustering = found.output;
        Ok(Fit::new(LinkedFit { clustering, judgement }, report))
    }

    /// The clustering by one of the candidates, whatever the links say of it.
    ///
    /// # Errors
    /// As [`LinkedClustering`] says, and for a name that no candidate has.
    pub fn fit_by<'a>(
        &self,
        candidate: &str,
        features: impl Into<Features<'a>>,
        side: &SideInformation,
        observer: &dyn Observer,
    ) -> Result<Fit<Clustering>> {
        let features = table::of(features.into(), "a linked clustering", table::MAPPED)?;
        self.check(features.into(), side)?;
        let known = self.candidates.iter().find(|c| c.name() == candidate);
        let candidate = known.ok_or_else(|| candidates::unknown(candidate))?;
        let x = self.table(features)?;
        candidate.prepare(&self.problem(&x), observer)?.fit(side, observer)
    }

    /// A copy of the features, and room for those that candidates make.
    fn table(&self, features: Dense<'_>) -> Result<Array2<f64>> {
        self.budget.check_table("features", features.n_objects(), features.n_features(), 32)?;
        features.to_f64()
    }

    fn problem<'a>(&self, x: &'a Array2<f64>) -> Problem<'a> {
        Problem { x, clusters: self.clusters, seed: self.seed, budget: self.budget }
    }

    /// What every candidate keeps of the links that it has not seen, and what the one that is
    /// taken has made of the features; these may be those of some of the `objects`.
    fn judge<'a>(
        &'a self,
        x: &'a Array2<f64>,
        side: &SideInformation,
        objects: usize,
        observer: &dyn Observer,
    ) -> Result<(LinkJudgement, Option<Box<dyn Fitted + 'a>>)> {
        let held = HeldOut::new(side, objects, self.folds, self.seed);
        let mut judgement = LinkJudgement::new(&held, self.candidates.iter().map(Candidate::name));
        let few = held.links().len() < self.least_links;
        if few {
            judgement.too_few(self.least_links);
        }
        if held.links().is_empty() {
            return Ok((judgement, None));
        }
        let problem = self.problem(x);
        let mut ready = Vec::with_capacity(self.candidates.len());
        for (c, candidate) in self.candidates.iter().enumerate() {
            observer.progress("candidates", c, self.candidates.len());
            observer.check()?;
            ready.push(None);
            if few && !candidate.sees_no_link() {
                continue;
            }
            let cost =
                candidate.cost(&problem, held.links().len()) * (1 + held.trials().len()) as f64;
            if c > 0 && cost > self.cost_limit {
                judgement.leave_out(c, format!("would take {cost:.0e} multiplications"));
                continue;
            }
            let tried = candidate.prepare(&problem, observer).and_then(|mut prepared| {
                prepared.settle(side, observer)?;
                let kept = self.kept(prepared.as_ref(), side, &held, observer)?;
                Ok((prepared, kept))
            });
            match tried {
                Ok((prepared, kept)) => {
                    judgement.judged(c, kept);
                    ready[c] = Some(prepared);
                }
                // The observer may have taken back that it asked to stop.
                Err(error)
                    if c == 0 || error.kind() == ErrorKind::Cancelled || observer.cancelled() =>
                {
                    return Err(error);
                }
                Err(error) => judgement.leave_out(c, error.message().to_owned()),
            }
        }
        judgement.decide(self.caution);
        let taken = ready.swap_remove(judgement.chosen);
        Ok((judgement, taken))
    }

    /// For every link how far the fits that have not seen it keep it, from 0 to 1.
    fn kept(
        &self,
        prepared: &dyn Fitted,
        side: &SideInformation,
        held: &HeldOut,
        observer: &dyn Observer,
    ) -> Result<Vec<f64>> {
        if !prepared.uses_links() {
            let labels = prepared.labels(&SideInformation::none(side.n_objects()), observer)?;
            return Ok(held.links().iter().map(|link| keeps(&labels, link)).collect());
        }
        let trials = held.trials();
        let found = try_map_each(trials.len(), &|t| {
            prepared.labels(&held.side_of(side, trials[t])?, observer)
        })?;
        Ok((0..held.links().len()).map(|l| held.mean_kept(l, &trials, &found)).collect())
    }

    /// The objects that candidates are judged on, ascending; `None` for all.
    fn rows(&self, n: usize, side: &SideInformation) -> Option<Vec<usize>> {
        if n <= self.sample {
            return None;
        }
        let mut chosen = vec![false; n];
        side.labelled_objects().iter().for_each(|&(i, _)| chosen[i] = true);
        let missing = self.sample.saturating_sub(side.labelled_objects().len());
        let mut others: Vec<usize> = (0..n).filter(|&i| !chosen[i]).collect();
        self.seed.derive("sample", 0).stream().shuffle(&mut others);
        // Never fewer objects than clusters.
        let fewest = self.clusters.saturating_sub(side.labelled_objects().len());
        others.iter().take(missing.max(fewest)).for_each(|&i| chosen[i] = true);
        Some((0..n).filter(|&i| chosen[i]).collect())
    }

    fn check(&self, features: Features<'_>, side: &SideInformation) -> Result<()> {
        features.check()?;
        features.check_clusters(self.clusters)?;
        side.check_features(features)?;
        let folds = self.folds;
        ensure!((2..=1000).contains(&folds), invalid("{folds} folds; expected 2 to 1000"));
        at_least_one("least_links", self.least_links)?;
        at_least_one("sample", self.sample)?;
        let caution = self.caution;
        ensure!(
            caution >= 0.0,
            invalid("caution of {caution} standard errors; expected 0 or more")
        );
        let limit = self.cost_limit;
        ensure!(limit > 0.0, invalid("cost_limit {limit}; expected above 0"));
        for candidate in &self.candidates {
            candidate.check()?;
        }
        Ok(())
    }
}

impl ConstrainedClusterer for LinkedClustering {
    fn name(&self) -> &'static str {
        "auto"
    }

    fn fit(
        &self,
        features: Features<'_>,
        side: &SideInformation,
        observer: &dyn Observer,
    ) -> Result<Fit<Clustering>> {
        let found = self.fit_judged(features, side, observer)?;
        Ok(Fit::new(found.output.clustering, found.report))
    }
}
