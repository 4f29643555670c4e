mod evidence;

use consilience_consensus::{EvidenceAccumulation, Lwea};
use consilience_core::{
    Accepts, Clusters, ConsensusFunction, Ensemble, Grouping, MemoryBudget, Microclusters,
    NodeConsensus, Observer, Partition, Report, Result, Seed,
};
use consilience_walk::Diffusion;

use crate::ClusterNumber;
use evidence::Witnesses;

/// Default of the most microclusters for a dense similarity.
const DENSE: usize = 10_000;
/// Default of the most microclusters for average linkage.
const LINKAGE: usize = 30_000;

/// The result that an ensemble supports best: that of [`Diffusion`], of [`Lwea`], a consensus of
/// both, or that of [`EvidenceAccumulation`].
///
/// Take it where nothing is known about the data. Graph cuts, of which diffusion is one, make
/// clusters of similar size and suit equal classes; average linkage keeps small classes. Both are
/// run on the whole ensemble and on random halves of its members, three times. Candidates are the
/// two results on the whole and their *joint* result, which is LWEA on an ensemble of results: the
/// two, and those on the first two halves. All these weigh clusters by how little others divide
/// them, which is in favour of small clusters: a few random members of many clusters then outweigh
/// good ones of few. Evidence accumulation, which weighs all pairs alike, is the fourth candidate.
/// Taken is the candidate with the highest agreement:
///
/// ```text
/// mean ARI with the members
///     + (mean ARI with diffusion on halves + mean ARI with LWEA on halves) / 2
/// ```
///
/// with ARI the adjusted Rand index. On 77 groups of ensembles that is better on average than any
/// single method by ARI, level with the best by NMI, and not best on each (`docs/choosing.md`). The
/// notes of the report say which candidate was taken, how the others agree, and how stable both
/// methods are. Where one result must be traced to one published method, name the method instead.
///
/// Members may give memberships, of which agreement counts the most probable clusters; weights of
/// members count in both methods and in the mean over the members, halves are drawn without them.
/// Members that label nothing, or of weight 0, are left out before anything is drawn.
///
/// Where the number of clusters is not given ([`Clusters::Auto`]) it is that of [`ClusterNumber`].
///
/// ```
/// use consilience::{ConsensusFunction, Ensemble, Partition};
/// use consilience::trust::Recommended;
///
/// let ensemble = Ensemble::new(vec![
///     Partition::from_labels(&[0, 0, 0, 1, 1, 2, 2])?,
///     Partition::from_labels(&[0, 0, 1, 1, 1, 2, 2])?,
///     Partition::from_labels(&[0, 0, 0, 1, 1, 2, 2])?,
/// ])?;
/// let fit = Recommended::new(3).fit(&ensemble, &())?;
/// assert_eq!(fit.output.to_signed(), vec![0, 0, 0, 1, 1, 2, 2]);
/// assert!(fit.report.notes[0].starts_with("chosen: diffusion, which agrees best"));
/// let quick = Recommended::new(3).linkage_limit(2).fit(&ensemble, &())?;
/// assert!(quick.report.notes[0].contains("average linkage was not tried: 4 microclusters"));
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Complexity
/// Up to 2,000 microclusters four times the work of [`Diffusion`] and [`Lwea`], which needs no
/// matrix for complete ensembles, and that of evidence accumulation; three quarters of it run side
/// by side on all threads. Beyond, halves are compared on a sample of 2,000 objects, and the joint
/// result is that of the two alone. Beyond 30,000 microclusters, and where labels are missing
/// beyond 10,000 or the memory budget, diffusion is taken and the report says so.
///
/// # Errors
/// [`ErrorKind::InvalidParameter`](consilience_core::ErrorKind::InvalidParameter) for k outside
/// `1..=n`, or a criterion other than [`Clusters::Auto`];
/// [`ErrorKind::TooLarge`](consilience_core::ErrorKind::TooLarge) where what diffusion needs is
/// beyond the memory budget.
///
/// # References
/// Ours; the candidates are those of Huang, Wang, Lai 2018, Fred, Jain 2005 and of [`Diffusion`].
/// Agreement of results on halves of the data as a measure of their worth is the *stability* of
/// Ben-Hur, Elisseeff, Guyon 2002 and von Luxburg 2010; here members are halved instead of objects.
#[doc(alias = "auto")]
#[derive(Clone, Copy, Debug)]
pub struct Recommended {
    clusters: Clusters,
    dense_limit: usize,
    linkage_limit: usize,
    budget: MemoryBudget,
    seed: Seed,
}

impl Recommended {
    /// The recommended consensus; [`ClusterNumber`] chooses the number of clusters too where it is
    /// [`Clusters::Auto`].
    pub fn new(clusters: impl Into<Clusters>) -> Self {
        Recommended {
            clusters: clusters.into(),
            dense_limit: DENSE,
            linkage_limit: LINKAGE,
            budget: MemoryBudget::default(),
            seed: Seed(0),
        }
    }

    consilience_core::setters! {
        /// Seed of everything random. Default 0.
        pub fn seed(mut self, seed: Seed) { self.seed = seed }

        /// Up to how many microclusters a dense similarity is tried, which only an ensemble with
        /// missing labels needs. Default 10,000; any number.
        pub fn dense_limit(mut self, nodes: usize) { self.dense_limit = nodes }

        /// Up to how many microclusters average linkage is tried at all: its time grows with their
        /// square. Default 30,000; any number.
        pub fn linkage_limit(mut self, nodes: usize) { self.linkage_limit = nodes }

        /// How much memory a dense similarity may take; where it does not fit, it is not tried.
        /// The same for the matrices of all clusters of the members, without which there is no
        /// result. Default 8 GiB.
        pub fn memory_budget(mut self, budget: MemoryBudget) { self.budget = budget }
    }

    /// The same for another number of clusters.
    #[doc(hidden)]
    pub fn of_clusters(self, clusters: Clusters) -> Self {
        Recommended { clusters, ..self }
    }

    /// Why average linkage is not affordable, where it is not: its time grows with the square, and
    /// it needs a matrix where labels are missing.
    fn without_linkage(&self, nodes: &Microclusters) -> Option<String> {
        let n = nodes.n_nodes();
        if n > self.linkage_limit {
            let limit = self.linkage_limit;
            return Some(format!(
                "average linkage was not tried: {n} microclusters, limit {limit} (`linkage_limit`)"
            ));
        }
        let dense = n <= self.dense_limit && self.budget.allows_table(n, n, 8);
        (!nodes.is_complete() && !dense)
            .then(|| format!("a dense similarity of {n} microclusters was not tried"))
    }

    /// Cluster of each node by the candidate chosen.
    fn choose(
        &self,
        nodes: &Microclusters,
        k: usize,
        report: &mut Report,
        observer: &dyn Observer,
    ) -> Result<Vec<usize>> {
        let n = nodes.n_nodes();
        if k >= n {
            report
                .notes
                .push("as many clusters as distinct rows of labels: nothing to choose".into());
            return Ok((0..n).collect());
        }
        let canonical =
            report.stage("canonical order", || nodes.clone().canonical_observed(observer))?;
        let mut inner = Report::default();
        let diffusion = report.stage("diffusion", || {
            let diffusion = Diffusion::new(k).seed(self.seed).memory_budget(self.budget);
            diffusion.solve(&canonical, &mut inner, observer)
        })?;
        report.status = inner.status;
        report.iterations = inner.iterations;
        if let Some(reason) = self.without_linkage(nodes) {
            report.notes.push(format!("chosen: diffusion, since {reason}"));
            return Ok(of_nodes(nodes, &canonical, &diffusion));
        }
        let lwea = report.stage("lwea", || {
            let lwea = Lwea::new(k).memory_budget(self.budget);
            lwea.solve(&canonical, &mut Report::default(), observer)
        })?;
        let eac = report.stage("eac", || {
            let eac = EvidenceAccumulation::new(k).memory_budget(self.budget);
            eac.solve(&canonical, &mut Report::default(), observer)
        })?;
        let witnesses = report.stage("halves of the members", || {
            Witnesses::of(&canonical, k, (self.seed, self.budget), observer)
        })?;
        let joint = report.stage("joint", || {
            self.joint(&canonical, k, [&diffusion, &lwea], &witnesses, observer)
        })?;
        let candidates =
            [("diffusion", diffusion), ("lwea", lwea), ("joint", joint), ("eac-al", eac)];
        let chosen = best(&candidates, &witnesses, report)?;
        Ok(of_nodes(nodes, &canonical, chosen))
    }

    /// The consensus of the two results, and of those of a split of the members into halves where
    /// they are about all nodes.
    fn joint(
        &self,
        nodes: &Microclusters,
        k: usize,
        results: [&[usize]; 2],
        witnesses: &Witnesses,
        observer: &dyn Observer,
    ) -> Result<Vec<usize>> {
        let whole = results.iter().map(|r| Partition::from_labels(r));
        let halves = witnesses.first_split().map(|half| Ok(half.clone()));
        let results = whole.chain(halves).collect::<Result<_>>()?;
        let ensemble = Ensemble::new(results)?.with_counts(nodes.sizes())?;
        let k = k.min(nodes.n_nodes());
        let found = Lwea::new(k).memory_budget(self.budget).fit(&ensemble, observer)?.output;
        Ok(found.iter().map(|label| label.unwrap_or(0)).collect())
    }
}

/// The members that count and label some object. Halves and resamples of the members are drawn by
/// place, and one that says nothing would take a place in them.
fn heard(ensemble: &Ensemble) -> Vec<usize> {
    let counts = |u: usize| ensemble.weights().is_none_or(|weights| weights[u] > 0.0);
    let says = |u: usize| ensemble.members()[u].n_labelled() > 0;
    (0..ensemble.n_members()).filter(|&u| counts(u) && says(u)).collect()
}

/// What the same nodes in another order got.
fn of_nodes(nodes: &Microclusters, other: &Microclusters, found: &[usize]) -> Vec<usize> {
    let mut out = vec![0; nodes.n_nodes()];
    let pairs = nodes.grouping().of_object().iter().zip(other.grouping().of_object());
    for (&node, &other) in pairs.filter(|(node, _)| **node != Grouping::NONE) {
        out[node as usize] = found[other as usize];
    }
    out
}

/// The candidate that agrees best with the members and with what halves of them give; the first of
/// equals. The report says by how much.
fn best<'a>(
    candidates: &'a [(&'static str, Vec<usize>); 4],
    witnesses: &Witnesses,
    report: &mut Report,
) -> Result<&'a [usize]> {
    let mut best = 0;
    let mut agreements = Vec::with_capacity(candidates.len());
    for (at, (_, clusters)) in candidates.iter().enumerate() {
        agreements.push(witnesses.agreement(clusters)?);
        if agreements[at].mean() > agreements[best].mean() {
            best = at;
        }
    }
    let cells: Vec<String> = candidates
        .iter()
        .zip(&agreements)
        .map(|((name, _), a)| format!("{name} {:.3}", a.mean()))
        .collect();
    let halves = agreements[0].halves.zip(agreements[1].halves);
    let with = match halves {
        Some(_) => "the members and with results on halves of them",
        None => "the only member, which has no halves",
    };
    report.notes.push(format!(
        "chosen: {}, which agrees best with {with} ({}; mean adjusted Rand index)",
        candidates[best].0,
        cells.join(", "),
    ));
    if let Some(([diffusion, _], [_, lwea])) = halves {
        let both = witnesses.adjusted_rand(&candidates[0].1, &candidates[1].1)?;
        report.notes.push(format!(
            "results on halves of the members agree with those on all by {diffusion:.3} \
             (diffusion) and {lwea:.3} (lwea), the two results with each other by {both:.3}"
        ));
    }
    if let Some(objects) = witnesses.drawn() {
        report.notes.push(format!("methods were compared on {objects} objects, drawn at random"));
    }
    Ok(&candidates[best].1)
}

impl NodeConsensus for Recommended {
    type Output = Partition;

    fn name(&self) -> &str {
        "auto"
    }

    fn clusters(&self) -> Clusters {
        self.clusters
    }

    fn accepts(&self) -> Accepts {
        Accepts::ALL
    }

    fn check(&self, _: &Ensemble) -> Result<()> {
        match self.clusters {
            Clusters::Auto | Clusters::Fixed(_) => Ok(()),
            other => Err(other.refuse("the recommended consensus", "a number, or auto")),
        }
    }

    fn nodes(&self, ensemble: &Ensemble, observer: &dyn Observer) -> Result<Microclusters> {
        let heard = heard(ensemble);
        // Where nobody says anything there is nothing to leave out.
        if heard.is_empty() || heard.len() == ensemble.n_members() {
            return Ok(Microclusters::observed(ensemble, observer)?.sorted_members());
        }
        Ok(Microclusters::observed(&ensemble.select(&heard)?, observer)?.sorted_members())
    }

    fn solve(
        &self,
        nodes: &Microclusters,
        report: &mut Report,
        observer: &dyn Observer,
    ) -> Result<Vec<usize>> {
        // Halves of the members count by what they have in common, as all of them do.
        let nodes = &*nodes.in_lowest_terms();
        if let Some(k) = self.clusters.fixed() {
            return self.choose(nodes, k, report, observer);
        }
        let table = report.stage("number of clusters", || {
            let number = ClusterNumber::new().seed(self.seed).memory_budget(self.budget);
            number.of_nodes(nodes, observer)
        })?;
        let clusters = self.choose(nodes, table.recommended, report, observer)?;
        report.notes.extend(table.notes);
        Ok(clusters)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use consilience_conformance::planted;
    use consilience_core::ConsensusFunction;

    /// One large class of three dense lumps and two tiny ones, under members that cut the large one
    /// at random and always keep the tiny ones together.
    fn unbalanced(seed: u64) -> (Ensemble, Partition) {
        let mut s = Seed(seed).stream();
        let n = 400;
        let truth: Vec<usize> =
            (0..n).map(|i| if i < 380 { 0 } else { 1 + (i - 380) / 10 }).collect();
        let members = (0..10)
            .map(|_| {
                let pieces = 2 + s.below(6);
                let width = 1 + 380 / pieces;
                let shift = s.below(width);
                let labels: Vec<usize> = (0..n)
                    .map(|i| if i < 380 { (i + shift) / width } else { 100 + truth[i] })
                    .collect();
                Partition::from_labels(&labels).unwrap()
            })
            .collect();
        (Ensemble::new(members).unwrap(), Partition::from_labels(&truth).unwrap())
    }

    #[test]
    fn each_candidate_is_taken_where_it_agrees_best() {
        let mut chosen = Vec::new();
        for seed in 0..6 {
            let planted = |sizes: &[usize], members, flips| {
                planted(Seed(seed), sizes, members, flips, 0.0).unwrap().ensemble
            };
            let worlds = [
                (3, planted(&[40, 35, 30], 10, 0.3)),
                (6, planted(&[40, 35, 30, 20, 10, 5], 6, 0.55)),
                (3, unbalanced(seed).0),
            ];
            for (k, e) in worlds {
                let fit = Recommended::new(k).fit(&e, &()).unwrap();
                let note = &fit.report.notes[0];
                let name = note.split([' ', ',']).nth(1).unwrap();
                let expected = match name {
                    "diffusion" => Some(Diffusion::new(k).consensus(&e).unwrap()),
                    "lwea" => Some(Lwea::new(k).consensus(&e).unwrap()),
                    _ => None,
                };
                assert!(expected.is_none_or(|e| e == fit.output), "{note}");
                chosen.push(name.to_string());
            }
        }
        for name in ["diffusion", "lwea", "joint"] {
            assert!(chosen.iter().any(|c| c == name), "{name} never: {chosen:?}");
        }
    }

    /// Five members that know the classes, and five of forty clusters at random, which local
    /// weights take for the surer ones.
    #[test]
    fn random_members_of_many_clusters_do_not_hide_the_others() {
        for seed in 0..4 {
            let mut s = Seed(seed).stream();
            let truth: Vec<usize> = (0..400).map(|_| s.below(4)).collect();
            let mut member = |u: usize| {
                let label = |&own: &usize| match u < 5 {
                    true if s.uniform() < 0.05 => s.below(4),
                    true => own,
                    false => s.below(40),
                };
                Partition::from_labels(&truth.iter().map(label).collect::<Vec<_>>()).unwrap()
            };
            let e = Ensemble::new((0..10).map(&mut member).collect()).unwrap();
            let fit = Recommended::new(4).fit(&e, &()).unwrap();
            let truth = Partition::from_labels(&truth).unwrap();
            let ari = consilience_core::scores::adjusted_rand(&fit.output, &truth).unwrap();
            assert!(ari > 0.95, "{ari} {:?}", fit.report.notes);
            assert!(fit.report.notes[0].starts_with("chosen: eac-al"), "{:?}", fit.report.notes);
        }
    }

    /// Nothing is run where every microcluster is a cluster.
    #[test]
    fn as_many_clusters_as_distinct_objects_need_no_choice() {
        let labels: Vec<usize> = (0..3000).map(|i| i % 1000).collect();
        let e = Ensemble::new(vec![Partition::from_labels(&labels).unwrap(); 3]).unwrap();
        for clusters in [Clusters::Auto, Clusters::Fixed(1000), Clusters::Fixed(2000)] {
            let fit = Recommended::new(clusters).fit(&e, &()).unwrap();
            assert_eq!(fit.output, e.members()[0]);
            assert!(fit.report.notes[0].starts_with("as many clusters"), "{:?}", fit.report.notes);
        }
    }

    /// One member has no halves: a candidate that is the member itself agrees with all there is.
    #[test]
    fn a_single_member_is_judged_by_itself() {
        let member = Partition::from_labels(&[0, 0, 0, 1, 1, 1, 2, 2]).unwrap();
        let e = Ensemble::new(vec![member.clone()]).unwrap();
        let fit = Recommended::new(2).fit(&e, &()).unwrap();
        let notes = fit.report.notes.join("; ");
        let ari = consilience_core::scores::adjusted_rand(&fit.output, &member).unwrap();
        assert!(notes.contains("the only member, which has no halves ("), "{notes}");
        assert!(notes.contains(&format!(" {ari:.3}")) && !notes.contains("on halves"), "{notes}");
    }

    /// Where both methods are sure of different things, the one that finds the small classes is
    /// right.
    #[test]
    fn small_classes_are_kept() {
        for seed in 0..4 {
            let (e, truth) = unbalanced(seed);
            let found = Recommended::new(3).consensus(&e).unwrap();
            assert_eq!(found, truth, "seed {seed}");
        }
    }

    #[test]
    fn many_microclusters_are_judged_on_a_sample() {
        let sizes = [900, 800, 600, 300, 100];
        let world = planted(Seed(3), &sizes, 12, 0.3, 0.0).unwrap();
        let fit = Recommended::new(5).fit(&world.ensemble, &()).unwrap();
        assert!(fit.report.microclusters.unwrap() > 2_000, "{:?}", fit.report.microclusters);
        assert_eq!(fit.output.n_clusters(), 5);
        assert!(fit.report.notes[0].contains("joint 0."), "{:?}", fit.report.notes);
    }

    #[test]
    fn beyond_the_dense_limit_diffusion_is_taken_where_labels_are_missing() {
        let world = |missing| planted(Seed(1), &[60, 45, 30], 8, 0.2, missing).unwrap().ensemble;
        let (complete, incomplete) = (world(0.0), world(0.1));
        for method in [
            Recommended::new(3).dense_limit(0),
            // The matrices of 33 clusters fit, that of all microclusters does not.
            Recommended::new(3).memory_budget(MemoryBudget::bytes(70_000)),
        ] {
            let fit = method.fit(&incomplete, &()).unwrap();
            assert_eq!(fit.output, Diffusion::new(3).consensus(&incomplete).unwrap());
            assert!(fit.report.notes[0].contains("not tried"));
            let notes = method.fit(&complete, &()).unwrap().report.notes;
            assert!(notes[0].contains("agrees best"), "{notes:?}");
        }
    }

    #[test]
    fn members_that_say_nothing_change_nothing() {
        for seed in 0..4 {
            let e = planted(Seed(seed), &[14, 9, 7, 4], 9, 0.4, 0.1).unwrap().ensemble;
            let mut members = vec![Partition::from_labels(&[-1_i64; 34]).unwrap()];
            members.extend(e.members().iter().cloned());
            let silent = Ensemble::new(members.clone()).unwrap();
            members.push(Partition::single_cluster(34).unwrap());
            let mut weights = vec![1.0; 11];
            weights[10] = 0.0;
            let weighed = Ensemble::new(members).unwrap().with_weights(weights).unwrap();
            for clusters in [Clusters::Fixed(4), Clusters::Auto] {
                let method = Recommended::new(clusters);
                let plain = method.fit(&e, &()).unwrap();
                for more in [&silent, &weighed] {
                    let found = method.fit(more, &()).unwrap();
                    assert_eq!(found.output, plain.output, "seed {seed}");
                    assert_eq!(found.report.notes, plain.report.notes, "seed {seed}");
                }
            }
        }
    }

    #[test]
    fn the_number_of_clusters_is_that_of_the_criteria() {
        let e = planted(Seed(2), &[30, 20, 10], 12, 0.1, 0.1).unwrap().ensemble;
        let table = ClusterNumber::new().choose(&e).unwrap();
        let fit = Recommended::new(Clusters::Auto).fit(&e, &()).unwrap();
        assert_eq!(fit.output.n_clusters(), table.recommended);
        assert!(fit.report.notes.ends_with(&table.notes));
        assert!(Recommended::new(Clusters::Lifetime).fit(&e, &()).is_err());
    }
}
