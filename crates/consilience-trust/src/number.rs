use consilience_consensus::{EvidenceAccumulation, Lwea};
use consilience_core::{
    Dendrogram, Ensemble, Error, ErrorKind, Fit, Hierarchy, MemoryBudget, Microclusters, Observer,
    Partition, Report, Result, Seed, ensure,
};
use consilience_graph::{ClusterIncidence, IncidenceSpectrum, most_clusters};

use crate::ConsensusCdf;
use crate::cdf::MAX_MEMBERS;
use crate::common;
use crate::members::heard;
use crate::number_table::{Members, NumberRow, NumberTable, conclude};
use crate::sample::sampled;

/// Default of the most clusters that are tried.
const LARGEST: usize = 30;
/// Pairs with a co-association between these are ambiguous.
const AMBIGUOUS: (f64, f64) = (0.1, 0.9);

/// How many clusters? Five criteria side by side, each with a warning where it cannot be trusted,
/// and a recommendation.
///
/// Known criteria contradict each other, and each has data on which it fails without a sign; so all
/// are shown with their tables. Where eigengap, PAC and lifetime name one number and none of them
/// has a warning, it is recommended; so is what two of them agree on (PAC without a warning) where
/// it is more than the directions, which noise in the members takes away. Elsewhere the
/// recommendation is the geometric mean of eigengap, lifetime and directions, drawn towards 7, a
/// usual number of classes, the more they differ: with v the variance of their logarithms it is
/// `exp((mean / v + ln 7 / s) / (1 / v + 1 / s))`, s = 1/4. One cluster is never recommended where
/// objects differ: no criterion can compare it. Where members are all alike, their number is
/// recommended, also beyond those tried unless a largest one was asked for or objects are sampled.
/// A criterion that is the same for all numbers tried chooses none. A number that is known from
/// elsewhere is worth more than all of this.
///
/// - *eigengap*: the widest gap `lambda_k - lambda_(k+1)` between the squared singular values of
///   the degree-normalized incidence.
/// - *PAC*: the least proportion of pairs that are ambiguous when the consensus is repeated:
///   average linkage (LWEA) of random halves of the members, cut at k; its pairs' distribution is
///   the row's CDF.
/// - *lifetime*: the widest range of heights over which k clusters persist in the tree of evidence
///   accumulation (average linkage).
/// - *delta area*: the last k at which the area under the CDF still grows by a tenth.
/// - *directions*: how many directions the members share, the sum of the squares of those squared
///   singular values. On members that agree it is their number of clusters.
///
/// [`ClusterNumber::choose_grouped`] is the classical form, for an ensemble that holds several
/// members for each k: the CDFs are then those of the members themselves, there are PAC and delta
/// area only, and the first of them without a warning is recommended.
///
/// ```
/// use consilience::Seed;
/// use consilience::conformance::planted;
/// use consilience::trust::ClusterNumber;
///
/// let ensemble = planted(Seed(1), &[40, 30, 20], 12, 0.1, 0.0)?.ensemble;
/// let table = ClusterNumber::new().choose(&ensemble)?;
/// assert_eq!(table.recommended, 3);
/// let row = table.rows.iter().find(|row| row.clusters == 3).unwrap();
/// assert!(row.pac < 0.1);
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Complexity
/// As one LWEA per resample and k consensus CDFs, on at most 2,000 sampled objects where there are
/// more microclusters than that: O(n M) beyond.
///
/// # Errors
/// [`ErrorKind::InvalidParameter`](consilience_core::ErrorKind::InvalidParameter) for a largest
/// number below 2, a least one below 2 or above 2 and the number of distinct objects (of the sample
/// where there is one), fewer than 2 resamples or fewer than 2 sampled objects,
/// [`ErrorKind::Empty`](consilience_core::ErrorKind::Empty) where no object is labelled,
/// [`ErrorKind::TooLarge`] beyond the memory budget.
///
/// # References
/// Monti et al. 2003 (CDF, delta area); Senbabaoglu et al. 2014 (PAC, and why delta area misleads);
/// Fred, Jain 2005 (lifetime); von Luxburg 2007, Section 8.3 (eigengap). Resampling the members
/// instead of the objects is ours: it needs no base clusterer. So are the directions and the
/// recommendation.
#[doc(alias = "choose_k")]
#[derive(Clone, Copy, Debug)]
pub struct ClusterNumber {
    least: usize,
    largest: Option<usize>,
    resamples: usize,
    objects: usize,
    seed: Seed,
    budget: MemoryBudget,
}

impl Default for ClusterNumber {
    fn default() -> Self {
        Self::new()
    }
}

impl ClusterNumber {
    /// The criteria with their default settings.
    pub fn new() -> Self {
        ClusterNumber {
            least: 2,
            largest: None,
            resamples: 20,
            objects: 2_000,
            seed: Seed(0),
            budget: MemoryBudget::default(),
        }
    }

    consilience_core::setters! {
        /// The smallest number of clusters that is tried. Default 2; at least 2, and beyond it no
        /// more than there are distinct objects.
        pub fn at_least(mut self, least: usize) { self.least = least }

        /// The largest number of clusters that is tried; at least 2. Default the square root of the
        /// number of microclusters, or what three quarters of the members do not exceed where that
        /// is more, from 2 to 30. Where members nearly agree, nine tenths of the objects being in
        /// no more than twice as many microclusters as the median member has clusters, and some
        /// member has more clusters than that: one more than it has, up to 30. No more than there
        /// are distinct objects are tried, and a note says so.
        pub fn up_to(mut self, largest: usize) { self.largest = Some(largest) }

        /// How many random halves of the members are combined. Default 20; 2 to 2,047.
        pub fn resamples(mut self, resamples: usize) { self.resamples = resamples }

        /// How many objects are sampled where there are more microclusters. Default 2,000; at least
        /// 2.
        pub fn objects(mut self, objects: usize) { self.objects = objects }

        /// Seed of the samples. Default 0.
        pub fn seed(mut self, seed: Seed) { self.seed = seed }

        /// How much memory the similarity of the sampled objects may take, which average linkage
        /// needs where labels are missing. Default 8 GiB.
        pub fn memory_budget(mut self, budget: MemoryBudget) { self.budget = budget }
    }

    fn check(&self) -> Result<()> {
        let (least, largest) = (self.least, self.largest.unwrap_or(usize::MAX));
        ensure!(least >= 2, invalid("at least {least} clusters; expected at least 2"));
        ensure!(largest >= 2, invalid("up to {largest} clusters; expected at least 2"));
        ensure!(
            least <= largest,
            invalid("at least {least} clusters and up to {largest}; expected an ascending range")
        );
        ensure!(
            (2..=MAX_MEMBERS).contains(&self.resamples),
            invalid("{} resamples; expected 2..={MAX_MEMBERS}", self.resamples)
        );
        let objects = self.objects;
        ensure!(objects >= 2, invalid("{objects} sampled objects; expected at least 2"));
        Ok(())
    }

    /// The microclusters with their sizes, or those of a sample of the objects where there are
    /// many.
    fn sampled(&self, nodes: &Microclusters) -> Result<Ensemble> {
        ensure!(nodes.n_nodes() > 0, empty("no object is labelled by any member"));
        let mut stream = self.seed.derive("number objects", 0).stream();
        Ok(sampled(nodes, self.objects, &mut stream)?.1)
    }

    /// The table of any ensemble, with its recommendation.
    ///
    /// # Errors
    /// As [`ClusterNumber`].
    pub fn choose(&self, ensemble: &Ensemble) -> Result<NumberTable> {
        Ok(self.fit(ensemble, &())?.output)
    }

    /// As [`ClusterNumber::choose`], with progress, cancellation and a report.
    ///
    /// # Errors
    /// As [`ClusterNumber`]; [`ErrorKind::Cancelled`](consilience_core::ErrorKind::Cancelled).
    pub fn fit(&self, ensemble: &Ensemble, observer: &dyn Observer) -> Result<Fit<NumberTable>> {
        self.check()?;
        let mut report = Report::default();
        // Halves are drawn by place: the order of the members must not show.
        let nodes = report.stage("microclusters", || {
            Ok::<_, Error>(Microclusters::observed(ensemble, observer)?.sorted_members())
        })?;
        report.microclusters = Some(nodes.n_nodes());
        let table = report.stage("criteria", || self.of_nodes(&nodes, observer))?;
        report.notes.extend(table.notes.iter().cloned());
        Ok(Fit::new(table, report))
    }

    /// The table of the objects of given microclusters.
    pub(crate) fn of_nodes(
        &self,
        nodes: &Microclusters,
        observer: &dyn Observer,
    ) -> Result<NumberTable> {
        // Only what shares the members have counts.
        let nodes = &*nodes.in_lowest_terms();
        let sample = self.sampled(nodes)?;
        let microclusters = Microclusters::observed(&sample, observer)?;
        let n = microclusters.n_nodes();
        let among = if n < nodes.n_nodes() { " in the sample" } else { "" };
        let least = self.least;
        // Two clusters is where every choice begins, and one object is one cluster.
        ensure!(
            least <= n.max(2),
            invalid("at least {least} clusters of {n} distinct objects{among}")
        );
        let largest = self.largest.unwrap_or_else(|| self.usual(&microclusters)).min(n);
        if largest < 2 {
            return Ok(one_cluster(&format!("the members distinguish no two objects{among}")));
        }
        let cdfs = match self.resampled(&sample, largest, observer) {
            Err(e) if e.kind() == ErrorKind::Empty => {
                return Ok(one_cluster("halves of the members label too few objects to compare"));
            }
            cdfs => cdfs?,
        };
        let mut rows = rows(cdfs);
        let shared = self.compare(&mut rows, &microclusters, largest, observer)?;
        let members = Members { directions: shared, median: median(&microclusters), distinct: n };
        let mut table = conclude(rows, Some(&members));
        settle(&mut table, &microclusters, among, self.largest);
        if let Some(asked) = self.largest.filter(|&asked| asked > n) {
            table.notes.push(format!(
                "up to {n} clusters were tried, not {asked}: there are {n} distinct objects{among}"
            ));
        } else if let [first, .., last] = &table.rows[..] {
            let (first, last) = (first.clusters, last.clusters);
            table.notes.push(format!("numbers of clusters from {first} to {last} were tried"));
        }
        table.notes.extend(self.drawn(nodes));
        Ok(table)
    }

    /// Adds to the rows what the tree and the spectrum say of them, and finds how many directions
    /// the members share.
    fn compare(
        &self,
        rows: &mut [NumberRow],
        nodes: &Microclusters,
        largest: usize,
        observer: &dyn Observer,
    ) -> Result<f64> {
        let eac = EvidenceAccumulation::new(1).memory_budget(self.budget);
        let tree = eac.tree(nodes, &mut Report::default(), observer)?;
        let incidence = ClusterIncidence::of(nodes)?;
        let weights = incidence.cluster_weights();
        let pairs = largest + 1;
        let spectrum =
            IncidenceSpectrum::within(&incidence, &weights, pairs, self.budget, observer)?;
        add_tree_and_spectrum(rows, &tree, &spectrum.values);
        IncidenceSpectrum::sum_of_squares(&incidence, &weights, observer)
    }

    /// The largest number of clusters that is tried where none is given. The root of the number of
    /// microclusters is too few where members agree on much, which leaves few of these: so it is
    /// what three quarters of the members do not exceed, where that is more, and that on which
    /// members nearly agree.
    fn usual(&self, nodes: &Microclusters) -> usize {
        let mut clusters: Vec<usize> = nodes.rows().iter().map(Partition::n_clusters).collect();
        clusters.retain(|&k| k > 0);
        clusters.sort_unstable();
        let three_quarters = (3 * clusters.len()).div_ceil(4);
        let quartile = clusters[..three_quarters].last().copied().unwrap_or(0);
        let root = ((nodes.n_nodes() as f64).sqrt() as usize).clamp(2, LARGEST);
        let agreed = most_clusters(root, nodes.sizes().iter().copied(), clusters);
        agreed.max(quartile.min(LARGEST)).max(self.least)
    }

    /// Says of how many objects the numbers are judged, where not of all.
    fn drawn(&self, nodes: &Microclusters) -> Option<String> {
        let total: u64 = nodes.sizes().iter().sum();
        (nodes.n_nodes() > self.objects).then(|| {
            format!(
                "numbers of clusters were judged on {} of {total} objects, drawn at random",
                self.objects
            )
        })
    }

    /// One CDF for each number of clusters, of the consensus of random halves of the members.
    fn resampled(
        &self,
        ensemble: &Ensemble,
        largest: usize,
        observer: &dyn Observer,
    ) -> Result<Vec<Curve>> {
        let members = ensemble.n_members();
        let mut trees = Vec::with_capacity(self.resamples);
        for r in 0..self.resamples {
            observer.check()?;
            observer.progress("resamples", r, self.resamples);
            let mut stream = self.seed.derive("number members", r as u64).stream();
            let half = ensemble.select(&stream.sample(members, members.div_ceil(2)))?;
            // A half that labels nothing is left out.
            if half.members().iter().any(|m| m.n_labelled() > 0) {
                let lwea = Lwea::new(1).memory_budget(self.budget);
                trees.push(lwea.dendrogram(&half, observer)?);
            }
        }
        (self.least..=largest)
            .map(|k| {
                observer.progress("numbers of clusters", k - 2, largest - 1);
                let cuts = trees
                    .iter()
                    .map(|(nodes, tree)| nodes.grouping().expand(&tree.cut(k)?))
                    .collect::<Result<Vec<_>>>()?;
                let mut cuts = Ensemble::new(cuts)?;
                if let Some(counts) = ensemble.counts() {
                    cuts = cuts.with_counts(counts)?;
                }
                Curve::of(k, &cuts, observer)
            })
            .collect()
    }

    /// The table of an ensemble that holds at least two members for each of several numbers of
    /// clusters, as consensus clustering makes it by resampling: row k is about the members with k
    /// clusters.
    ///
    /// Members that give memberships count by their most probable clusters, those of weight 0 not
    /// at all. The curves, their areas and PAC count each member as often as its weight says; the
    /// stability compares neighbours and has no natural weights: there members count alike.
    ///
    /// # Errors
    /// As [`ClusterNumber`]; [`ErrorKind::Empty`](consilience_core::ErrorKind::Empty) also where no
    /// two members have the same number of clusters, at least 2.
    ///
    /// # References
    /// Monti et al. 2003, Section 2.
    pub fn choose_grouped(&self, ensemble: &Ensemble) -> Result<NumberTable> {
        Ok(self.fit_grouped(ensemble, &())?.output)
    }

    /// As [`ClusterNumber::choose_grouped`], with progress, cancellation and a report.
    ///
    /// # Errors
    /// As [`ClusterNumber::choose_grouped`];
    /// [`ErrorKind::Cancelled`](consilience_core::ErrorKind::Cancelled).
    pub fn fit_grouped(
        &self,
        ensemble: &Ensemble,
        observer: &dyn Observer,
    ) -> Result<Fit<NumberTable>> {
        self.check()?;
        let ensemble = &heard(ensemble)?;
        let nodes = Microclusters::observed(ensemble, observer)?;
        let sample = self.sampled(&nodes)?;
        let most = ensemble.members().iter().map(Partition::n_clusters).max().unwrap_or(0);
        let mut cdfs = Vec::new();
        for k in self.least..=most.min(self.largest.unwrap_or(usize::MAX)) {
            let of_k: Vec<usize> = (0..ensemble.n_members())
                .filter(|&u| ensemble.members()[u].n_clusters() == k)
                .collect();
            if of_k.len() >= 2 {
                cdfs.push(Curve::of(k, &sample.select(&of_k)?, observer)?);
            }
        }
        ensure!(
            !cdfs.is_empty(),
            empty("no two members have the same number of clusters, at least {}", self.least)
        );
        let mut table = conclude(rows(cdfs), None);
        table.notes.extend(self.drawn(&nodes));
        let mut report = Report::default();
        report.microclusters = Some(nodes.n_nodes());
        report.notes.extend(table.notes.iter().cloned());
        Ok(Fit::new(table, report))
    }
}

/// What is seen of one number of clusters before numbers are compared.
struct Curve {
    clusters: usize,
    members: usize,
    cdf: ConsensusCdf,
    stability: Option<f64>,
}

impl Curve {
    /// Of clusterings into so many clusters.
    fn of(clusters: usize, cuts: &Ensemble, observer: &dyn Observer) -> Result<Self> {
        let (members, all) = (cuts.n_members(), cuts.members());
        // Each with the next, the last with the first: two have one comparison only.
        let pairs = (0..if members == 2 { 1 } else { members }).map(|r| (r, (r + 1) % members));
        let shared = pairs
            .filter(|(a, b)| a != b)
            .map(|(a, b)| common::adjusted_rand(&all[a], &all[b], cuts.counts()))
            .collect::<Result<Vec<_>>>()?;
        let stability = common::mean(&shared, None);
        let cdf = ConsensusCdf::of_observed(cuts, observer)?;
        Ok(Curve { clusters, members, cdf, stability })
    }
}

/// Lifetimes in the tree of evidence accumulation, and gaps of the squared singular values of the
/// incidence.
fn add_tree_and_spectrum(rows: &mut [NumberRow], tree: &Dendrogram, values: &[f64]) {
    let (n, merges) = (tree.n_leaves(), tree.merges());
    let value = |k: usize| values.get(k - 1).copied().unwrap_or(0.0);
    // k clusters last from the merge that makes them (none where k is the number of leaves) to the
    // next.
    let made = |k: usize| if k < n { merges[n - k - 1].height } else { 0.0 };
    for row in rows {
        let k = row.clusters;
        row.lifetime = Some(merges[n - k].height - made(k));
        row.eigengap = Some(value(k) - value(k + 1));
    }
}

/// The table where there is nothing to compare.
fn one_cluster(why: &str) -> NumberTable {
    let notes = vec![format!("1 cluster: {why}")];
    NumberTable { rows: Vec::new(), criteria: Vec::new(), recommended: 1, range: (1, 1), notes }
}

fn rows(curves: Vec<Curve>) -> Vec<NumberRow> {
    let mut before: Option<f64> = None;
    curves
        .into_iter()
        .map(|Curve { clusters, members, cdf, stability }| {
            let area = cdf.area();
            let delta_area = match before {
                Some(b) if b > 0.0 => (area - b) / b,
                Some(_) => 0.0,
                None => area,
            };
            before = Some(area);
            let pac = cdf.ambiguous(AMBIGUOUS.0, AMBIGUOUS.1);
            NumberRow {
                clusters,
                members,
                cdf,
                area,
                delta_area,
                pac,
                stability,
                lifetime: None,
                eigengap: None,
            }
        })
        .collect()
}

/// Clusters of the median member.
fn median(nodes: &Microclusters) -> usize {
    let mut clusters: Vec<usize> = nodes.rows().iter().map(Partition::n_clusters).collect();
    clusters.retain(|&k| k > 0);
    clusters.sort_unstable();
    clusters.get(clusters.len().saturating_sub(1) / 2).copied().unwrap_or(0)
}

/// Members that are all alike, all of whose microclusters are then clusters of each, leave nothing
/// to choose, up to the `largest` number where one was asked for. Of a sample the number is known
/// only where it was tried.
fn settle(table: &mut NumberTable, nodes: &Microclusters, among: &str, largest: Option<usize>) {
    let k = nodes.n_nodes();
    let said = || nodes.rows().iter().filter(|member| member.n_labelled() > 0);
    let alike = said().all(|member| member.is_complete() && member.n_clusters() == k);
    if nodes.is_soft() || !alike {
        return;
    }
    let tried = table.rows.last().is_some_and(|row| row.clusters >= k);
    if tried || (largest.is_none() && among.is_empty()) {
        let whose = if said().count() == 1 { "the one member has" } else { "all members have" };
        (table.recommended, table.range) = (k, (k, k));
        table.notes = vec![format!("{k} clusters: {whose} these very clusters{among}")];
    } else {
        table.notes.push(format!(
            "the members are all alike and have {k} clusters{among}, more than were tried"
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use consilience_conformance::planted;
    use consilience_core::Partition;

    #[test]
    fn planted_clusters_are_found_by_all() {
        for seed in 0..4 {
            let world = planted(Seed(seed), &[40, 30, 25, 20], 12, 0.1, 0.1).unwrap();
            let table = ClusterNumber::new().up_to(9).choose(&world.ensemble).unwrap();
            assert_eq!(table.rows.len(), 8);
            for c in &table.criteria[..3] {
                assert_eq!(c.clusters, 4, "{c:?}");
            }
            // Noise blurs the directions, as it blurs the area.
            assert!((3..=4).contains(&table.criteria[4].clusters), "{:?}", table.criteria[4]);
            assert_eq!(table.recommended, 4, "{:?}", table.notes);
        }
    }

    #[test]
    fn members_that_agree_share_as_many_directions_as_they_have_clusters() {
        for k in [2, 3, 7, 12] {
            let world = planted(Seed(1), &vec![15; k], 10, 0.0, 0.0).unwrap();
            let incidence =
                ClusterIncidence::of(&Microclusters::of(&world.ensemble).unwrap()).unwrap();
            let even = vec![1.0; incidence.n_clusters()];
            let values = IncidenceSpectrum::of(&incidence, &even, k + 1, &()).unwrap().values;
            let shared: f64 = values.iter().map(|v| v * v).sum();
            assert!((shared - k as f64).abs() < 1e-9);
        }
    }

    #[test]
    fn areas_grow_and_rows_follow_their_cdfs() {
        let world = planted(Seed(2), &[30, 20, 10], 10, 0.3, 0.0).unwrap();
        let table = ClusterNumber::new().resamples(8).choose(&world.ensemble).unwrap();
        for pair in table.rows.windows(2) {
            assert_eq!(pair[1].clusters, pair[0].clusters + 1);
            let delta = (pair[1].area - pair[0].area) / pair[0].area;
            assert!((pair[1].delta_area - delta).abs() < 1e-15);
        }
        for row in &table.rows {
            assert_eq!((row.area, row.pac), (row.cdf.area(), row.cdf.ambiguous(0.1, 0.9)));
            assert_eq!(row.members, 8);
        }
        // Lifetimes of all numbers from 1 on add up to the height of the tree.
        let (_, tree) = EvidenceAccumulation::new(1).dendrogram(&world.ensemble, &()).unwrap();
        let n = tree.n_leaves();
        let row = &table.rows[1];
        let expected = tree.merges()[n - 3].height - tree.merges()[n - 4].height;
        assert_eq!(row.lifetime, Some(expected));
    }

    #[test]
    fn grouped_members_support_their_number() {
        // Members with 2, 3 and 4 clusters over three planted ones: those with 3 agree.
        let world = planted(Seed(3), &[30, 30, 30], 6, 0.02, 0.0).unwrap();
        let mut s = Seed(4).stream();
        let mut members = Vec::new();
        for _ in 0..6 {
            let truth = &world.truth;
            let lump = s.below(3);
            let split = s.below(3);
            let two =
                Partition::from_fn(90, |i| truth.label(i).map(|l| u64::from(l == lump))).unwrap();
            let four: Vec<usize> = (0..90)
                .map(|i| match truth.label(i).unwrap() {
                    l if l == split && s.below(2) == 0 => 3,
                    l => l,
                })
                .collect();
            members.extend([two, truth.clone(), Partition::from_labels(&four).unwrap()]);
        }
        let e = Ensemble::new(members).unwrap();
        let table = ClusterNumber::new().choose_grouped(&e).unwrap();
        let shape: Vec<_> =
            table.rows.iter().map(|r| (r.clusters, r.members, r.lifetime)).collect();
        assert_eq!(shape, [(2, 6, None), (3, 6, None), (4, 6, None)]);
        assert_eq!(table.recommended, 3, "{:?}", table.notes);
        assert_eq!(table.rows[1].pac, 0.0);
    }

    #[test]
    fn bad_input_is_refused() {
        let e = Ensemble::new(vec![Partition::from_labels(&[0, 1, 1]).unwrap()]).unwrap();
        let number = ClusterNumber::new();
        let many = number.resamples(MAX_MEMBERS + 1);
        for bad in [number.up_to(1), number.resamples(1), many, number.objects(1)] {
            assert_eq!(bad.choose(&e).unwrap_err().kind(), ErrorKind::InvalidParameter);
        }
        assert_eq!(number.choose_grouped(&e).unwrap_err().kind(), ErrorKind::Empty);
        let unlabelled = Ensemble::new(vec![Partition::from_labels(&[-1, -1]).unwrap()]).unwrap();
        assert_eq!(number.choose(&unlabelled).unwrap_err().kind(), ErrorKind::Empty);
        let equal = Ensemble::new(vec![Partition::single_cluster(4).unwrap()]).unwrap();
        assert_eq!(number.choose(&equal).unwrap().recommended, 1);
    }

    /// One of four members has many clusters: three quarters have four at most.
    #[test]
    fn what_three_quarters_of_the_members_do_not_exceed() {
        let by = |f: fn(usize) -> usize| {
            Partition::from_labels(&(0..30).map(f).collect::<Vec<_>>()).unwrap()
        };
        let members = [by(|i| i % 2), by(|i| i % 3), by(|i| i % 4), by(|i| i.min(24))];
        let ensemble = Ensemble::new(members.to_vec()).unwrap();
        let table = ClusterNumber::new().resamples(2).choose(&ensemble).unwrap();
        assert_eq!(table.rows.last().unwrap().clusters, 5);
        let ensemble = Ensemble::new([&members[..], &[by(|i| i % 9)]].concat()).unwrap();
        let table = ClusterNumber::new().resamples(2).choose(&ensemble).unwrap();
        assert_eq!(table.rows.last().unwrap().clusters, 9);
    }

    /// Members that hardly count hardly change what the spectrum says.
    #[test]
    fn weights_of_members_count() {
        let (good, noise) = (planted(Seed(3), &[40, 30, 20], 10, 0.05, 0.0).unwrap(), Seed(4));
        let mut stream = noise.stream();
        let random = (0..30).map(|_| {
            let labels: Vec<i64> = (0..90).map(|_| stream.below(20) as i64).collect();
            Partition::from_labels(&labels)
        });
        let members = good.ensemble.members().iter().cloned().map(Ok).chain(random);
        let all = Ensemble::new(members.collect::<Result<_>>().unwrap()).unwrap();
        let weights: Vec<f64> = (0..40).map(|u| if u < 10 { 1.0 } else { 1e-6 }).collect();
        let table = |e: &Ensemble| ClusterNumber::new().resamples(2).choose(e).unwrap();
        let weighed = table(&all.clone().with_weights(weights).unwrap());
        let (alone, even) = (table(&good.ensemble), table(&all));
        for c in [0, 4] {
            assert_eq!(weighed.criteria[c].clusters, alone.criteria[c].clusters);
        }
        assert_ne!(even.criteria[4].clusters, alone.criteria[4].clusters);
    }

    #[test]
    fn the_most_resamples_are_taken() {
        let e = planted(Seed(3), &[4, 3], 3, 0.2, 0.0).unwrap().ensemble;
        assert!(ClusterNumber::new().resamples(MAX_MEMBERS).up_to(2).choose(&e).is_ok());
    }

    #[test]
    fn many_microclusters_are_sampled() {
        let world = planted(Seed(7), &[200, 150, 100], 10, 0.15, 0.0).unwrap();
        let table = ClusterNumber::new().objects(100).choose(&world.ensemble).unwrap();
        assert_eq!(table.recommended, 3, "{:?}", table.notes);
        let told = "numbers of clusters were judged on 100 of 450 objects, drawn at random";
        assert!(table.notes.iter().any(|note| note == told), "{:?}", table.notes);
    }
}
