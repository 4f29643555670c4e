mod order;

use std::cmp::Reverse;
use std::ops::Range;

use consilience_core::{
    Accepts, Clusters, ConsensusFunction, Ensemble, Error, ErrorKind, Fit, LabelInt, MemoryBudget,
    Microclusters, Observer, Partition, Report, Result, Seed, Status, Stop, check_restarts, mix,
    with_labels,
};
use consilience_graph::{Components, eigen_columns};
use consilience_num::kmeans::{KMeansOptions, RowSource, fit_drawn};
use consilience_num::transfer::{link_sums_within, try_small_side};
use ndarray::{Array2, ArrayView2, Axis};

use crate::Hbgf;

/// The consensus of U-SENC: a transfer cut of the graph between objects and the clusters of all
/// members.
///
/// For ensembles of very many objects, whose members are fine clusterings that agree on shape, such
/// as those of U-SPEC with many clusters each. It is the cut of [`Hbgf`](crate::Hbgf); where
/// collapsing equal objects would save little, it streams over the labels and needs only a few
/// bytes per object. Not for ensembles of few objects and noisy members, where methods that look at
/// pairs are better.
///
/// ```text
/// B_ic = 1 where object i lies in cluster c;   W = B' D_x^-1 B
/// v = k leading eigenvectors of D_c^-1/2 W D_c^-1/2
/// rows of D_x^-1 B D_c^-1/2 v, scaled to norm 1  ->  k-means
/// ```
///
/// ```
/// use consilience::{ConsensusFunction, Ensemble, Partition};
/// use consilience::consensus::USenc;
///
/// let ensemble = Ensemble::new(vec![
///     Partition::from_labels(&[0, 0, 0, 1, 1, 2, 2])?,
///     Partition::from_labels(&[0, 0, 1, 1, 1, 2, 2])?,
///     Partition::from_labels(&[0, 0, 0, 1, 1, 2, 2])?,
/// ])?;
/// let consensus = USenc::new(3).consensus(&ensemble)?;
/// assert_eq!(consensus.to_signed(), vec![0, 0, 0, 1, 1, 2, 2]);
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Complexity
/// O(n (M^2 + M k) + C^3) time for C clusters in all members, and 4 bytes per object beside the
/// labels, where it streams; as [`Hbgf`](crate::Hbgf) elsewhere.
///
/// # Errors
/// [`ErrorKind::InvalidParameter`] for k outside `1..=n`, a criterion in place of a number, or
/// restarts outside `1..=10000`; [`ErrorKind::TooLarge`] beyond the memory budget.
///
/// # References
/// D. Huang, C.-D. Wang, J.-S. Wu, J.-H. Lai, C.-K. Kwoh, "Ultra-scalable spectral clustering and
/// ensemble clustering", 2020, Section 3.2.3. Ours: microclusters where an even sample of the
/// objects shows that they save work; else clusters are put into a canonical order first, and the
/// centres of the k-means come from 65,536 rows (200 per cluster) that are drawn evenly from all in
/// the order of a hash of their labels, so that neither the order of members nor that of objects is
/// seen. Unlabelled objects are linked to fewer clusters; with no label at all they stay
/// unlabelled. Where there are more components than clusters, and which of them are kept depends on
/// components of equal size, microclusters are made whatever their number.
#[doc(alias = "U-SENC")]
#[derive(Clone, Copy, Debug)]
pub struct USenc {
    clusters: Clusters,
    restarts: usize,
    seed: Seed,
    budget: MemoryBudget,
}

/// Up to so many objects microclusters are always made.
const FEW: usize = 1 << 17;
/// Objects that are looked at to see how many microclusters there will be.
const PROBE: usize = 1 << 14;
/// Rows that the centres of the streamed k-means are made from, and so many for each cluster.
const SAMPLE: usize = 1 << 16;
const SAMPLE_PER_CLUSTER: usize = 200;
/// Most clusters over all members for a table of their pairs.
const TABLE: usize = 8192;
/// Objects whose clusters are written side by side at once.
const BLOCK: usize = 1024;
/// Cluster of an unlabelled object.
const NONE: u32 = u32::MAX;

impl USenc {
    /// U-SENC into a fixed number of clusters.
    pub fn new(clusters: impl Into<Clusters>) -> Self {
        let clusters = clusters.into();
        USenc { clusters, restarts: 3, seed: Seed(0), budget: MemoryBudget::default() }
    }

    consilience_core::setters! {
        /// k-means starts, of which the one of least inertia is kept. Default 3; 1 to 10,000.
        pub fn restarts(mut self, restarts: usize) { self.restarts = restarts }

        /// Seed of the k-means starts. Default `Seed(0)`.
        pub fn seed(mut self, seed: Seed) { self.seed = seed }

        /// How much memory the links between all clusters of the members may take. Default 8 GiB.
        pub fn memory_budget(mut self, budget: MemoryBudget) { self.budget = budget }
    }

    /// The number of clusters, which must be fixed.
    fn fixed(&self) -> Result<usize> {
        self.clusters.fixed().ok_or_else(|| self.clusters.refuse("U-SENC", "a number"))
    }

    /// Whether one pass over the objects costs less. Rows with counts are few by their nature.
    fn streams(ensemble: &Ensemble) -> Result<bool> {
        let n = ensemble.n_objects();
        if n <= FEW || ensemble.n_clusters() > TABLE || ensemble.counts().is_some() {
            return Ok(false);
        }
        let probe: Vec<usize> =
            (0..PROBE).map(|i| (i as u64 * n as u64 / PROBE as u64) as usize).collect();
        let distinct = Microclusters::of(&ensemble.select_objects(&probe)?)?.n_nodes();
        Ok(distinct > PROBE / 8)
    }

    /// Refuses what the pass takes that does not fit.
    fn check_room(&self, ensemble: &Ensemble, k: usize) -> Result<()> {
        let (n, c) = (ensemble.n_objects(), ensemble.n_clusters());
        // Beside what the eigenvectors take the links, also as they are stored.
        let columns = eigen_columns(c, k).saturating_add(2 * c);
        self.budget.check_table("links between clusters", c, columns, 8)?;
        // The rows; labels; the clusters' coordinates; and sums of some blocks of rows.
        let of_row = k.saturating_mul(4).saturating_add(40);
        let of_cluster = k.saturating_mul(12);
        let tables = [(n.min(sample(k)), of_row), (n, 16), (c, of_cluster), (k, 20 * of_cluster)];
        self.budget.check_tables("objects that centres are made from", &tables, 1)
    }

    /// The cut of the microclusters.
    fn collapsed(&self, ensemble: &Ensemble, observer: &dyn Observer) -> Result<Fit<Partition>> {
        let same = Hbgf::new(self.clusters).restarts(self.restarts).seed(self.seed);
        same.memory_budget(self.budget).fit(ensemble, observer)
    }

    fn streamed(&self, ensemble: &Ensemble, observer: &dyn Observer) -> Result<Fit<Partition>> {
        let k = self.fixed()?;
        self.check_room(ensemble, k)?;
        let mut report = Report::default();
        let stop = Stop::new(observer);
        let mut labels = Labels::new(ensemble, &stop);
        let members = ensemble.n_members();
        let mut weights = report.stage("clusters", || links(&labels, members, self.budget));
        stop.check()?;
        if let Some(parts) = surplus(&labels, &weights, k, observer)? {
            drop(weights);
            let joined = joined(&parts, k, &mut report)?;
            drop((parts, labels));
            return match joined {
                Some(partition) => Ok(Fit::new(partition, report)),
                None => self.collapsed(ensemble, observer),
            };
        }
        let order = report.stage("clusters", || order::canonical(&labels, &weights));
        weights = weights.select(Axis(0), &order);
        weights = weights.select(Axis(1), &order);
        stop.check()?;
        let side = report
            .stage("eigenvectors", || {
                try_small_side(weights.view(), k, 0.0, self.budget, observer)
            })?
            .ok_or_else(|| {
                Error::new(ErrorKind::NonFinite, "the graph of clusters has no eigenpairs")
            })?;
        drop(weights);
        let mut place = vec![0; order.len()];
        order.iter().enumerate().for_each(|(at, &c)| place[c] = at);
        labels.sort_members(&place);
        let options = KMeansOptions::new(k)
            .restarts(self.restarts)
            .seed(self.seed.derive("usenc", 0))
            .tolerance(1e-6)
            .parallel(rayon::current_num_threads() > 1);
        let drawn = report.stage("sample", || labels.drawn(&place, sample(k), self.seed));
        stop.check()?;
        let rows = Embedding::new(labels, side.coordinates.select(Axis(0), &place).view());
        let found = report.stage("k-means", || fit_drawn(&rows, &drawn, &options, observer))?;
        let labelled = |i: usize| ensemble.members().iter().any(|p| p.label(i).is_some());
        let complete = ensemble.members().iter().any(Partition::is_complete);
        let partition = Partition::from_fn(found.assignment.len(), |i| {
            (complete || labelled(i)).then(|| u64::from(found.assignment[i]))
        })?;
        report.iterations = found.iterations;
        if !found.converged {
            report.status = Status::MaxIterations;
        }
        report.expect_clusters(k, partition.n_clusters(), "k-means of the objects found no more");
        Ok(Fit::new(partition, report))
    }
}

/// Objects that the centres are made from at most.
fn sample(k: usize) -> usize {
    SAMPLE.max(k.saturating_mul(SAMPLE_PER_CLUSTER))
}

/// How much the objects link each two clusters, unless stopped.
fn links(labels: &Labels<'_>, members: usize, budget: MemoryBudget) -> Array2<f64> {
    link_sums_within(labels.objects, labels.clusters, budget, |objects, sums| {
        if labels.stop.asked() {
            return;
        }
        let mut row = vec![0; objects.len() * members];
        labels.write(objects, &mut row);
        for row in row.chunks_exact(members) {
            let labelled = row.iter().filter(|&&c| c != NONE).count();
            let weight = 1.0 / labelled as f64;
            for (u, &c) in row.iter().enumerate().filter(|(_, c)| **c != NONE) {
                for &d in row[u..].iter().filter(|d| **d != NONE) {
                    sums.add(c as usize, d as usize, weight);
                }
            }
        }
    })
}

impl ConsensusFunction for USenc {
    type Output = Partition;

    fn name(&self) -> &str {
        "usenc"
    }

    fn fit(&self, ensemble: &Ensemble, observer: &dyn Observer) -> Result<Fit<Partition>> {
        ensemble.check_clusters(self.fixed()?)?;
        let ensemble = &*ensemble.accepted_by("usenc", Accepts::LABELS)?;
        check_restarts(self.restarts)?;
        observer.check()?;
        if Self::streams(ensemble)? {
            self.streamed(ensemble, observer)
        } else {
            self.collapsed(ensemble, observer)
        }
    }
}

/// The components of the graph, where these are more than clusters, from the links between clusters
/// of the ensemble.
fn surplus(
    labels: &Labels<'_>,
    weights: &Array2<f64>,
    k: usize,
    observer: &dyn Observer,
) -> Result<Option<Partition>> {
    let parts = Components::of_graph(weights.view(), &vec![1.0; labels.clusters], observer)?;
    if parts.n_components() <= k {
        return Ok(None);
    }
    let of = |i: usize| labels.any(i).map(|c| parts.of_node()[c] as u64);
    Partition::from_fn(labels.objects, of).map(Some)
}

/// The largest of these components as clusters, and all others together as the last one, as in
/// [`Components`]. `None` where one of the former is as large as one of the latter: which of them
/// is kept follows from an order of the microclusters, which there are none of here.
fn joined(all: &Partition, k: usize, report: &mut Report) -> Result<Option<Partition>> {
    let (count, sizes) = (all.n_clusters(), all.sizes());
    let mut order: Vec<usize> = (0..count).collect();
    order.sort_by_key(|&c| (Reverse(sizes[c]), c));
    if k > 1 && sizes[order[k - 2]] == sizes[order[k - 1]] {
        return Ok(None);
    }
    let mut cluster = vec![k - 1; sizes.len()];
    order.iter().take(k - 1).enumerate().for_each(|(at, &c)| cluster[c] = at);
    report.notes.push(format!(
        "the graph has {count} components, more than clusters: the smallest {} are joined",
        count + 1 - k
    ));
    Partition::from_fn(all.n_objects(), |i| Some(cluster[all.label(i)?] as u64)).map(Some)
}

/// The clusters of objects, numbered through all members.
struct Labels<'a> {
    /// Sorted by what they say: sums over them do not depend on their order.
    members: Vec<&'a Partition>,
    /// First cluster of each member.
    first: Vec<u32>,
    clusters: usize,
    objects: usize,
    /// Asked inside of every pass over the objects: who makes a pass checks it afterwards.
    stop: &'a Stop<'a>,
}

impl<'a> Labels<'a> {
    fn new(ensemble: &'a Ensemble, stop: &'a Stop<'a>) -> Self {
        let mut members: Vec<&Partition> = ensemble.members().iter().collect();
        members.sort_by(|a, b| a.iter().cmp(b.iter()));
        let mut clusters = 0;
        let first = members
            .iter()
            .map(|p| {
                clusters += p.n_clusters();
                (clusters - p.n_clusters()) as u32
            })
            .collect();
        Labels { members, first, clusters, objects: ensemble.n_objects(), stop }
    }

    /// Puts the members into the order of their clusters' places, which follow from no order of
    /// objects.
    fn sort_members(&mut self, place: &[usize]) {
        let least = |range: Range<usize>| place[range].iter().min().copied();
        let mut order: Vec<_> = self.ranges().map(least).zip(0..).collect();
        order.sort_unstable();
        self.members = order.iter().map(|&(_, u): &(_, usize)| self.members[u]).collect();
        self.first = order.iter().map(|&(_, u)| self.first[u]).collect();
    }

    /// The numbers of each member's clusters.
    fn ranges(&self) -> impl Iterator<Item = Range<usize>> {
        let range = |(p, &first): (&&Partition, &u32)| {
            let first = first as usize;
            first..first + p.n_clusters()
        };
        self.members.iter().zip(&self.first).map(range)
    }

    /// Objects to make centres from, by the places of their clusters.
    fn drawn(&self, place: &[usize], most: usize, seed: Seed) -> Vec<usize> {
        let colours: Vec<u64> = place.iter().map(|&at| mix(at as u64)).collect();
        order::drawn(self, &colours, most, seed.derive("usenc", 0))
    }

    /// Calls `with` for each of some objects and its clusters, until somebody asks to stop.
    #[inline(always)]
    fn each(&self, objects: Range<usize>, mut with: impl FnMut(usize, &[u32])) {
        let members = self.first.len();
        let mut rows = vec![NONE; BLOCK.min(objects.len()) * members];
        for first in objects.clone().step_by(BLOCK).take_while(|_| !self.stop.asked()) {
            let block = first..objects.end.min(first + BLOCK);
            let rows = &mut rows[..block.len() * members];
            self.write(block.clone(), rows);
            block.zip(rows.chunks_exact(members)).for_each(|(i, row)| with(i, row));
        }
    }

    /// Some cluster of the object.
    fn any(&self, object: usize) -> Option<usize> {
        let of = |(p, &first): (&&Partition, &u32)| Some(first as usize + p.label(object)?);
        self.members.iter().zip(&self.first).find_map(of)
    }

    /// Writes the clusters of some objects, one row of members per object.
    fn write(&self, objects: Range<usize>, out: &mut [u32]) {
        let members = self.first.len();
        for (u, (member, &first)) in self.members.iter().zip(&self.first).enumerate() {
            with_labels!(member.labels(), |labels| {
                for (row, &l) in out.chunks_exact_mut(members).zip(&labels[objects.clone()]) {
                    row[u] = if l.is_missing() { NONE } else { first + l.index() as u32 };
                }
            });
        }
    }
}

/// Objects by the mean coordinates of their clusters, scaled to norm 1; written when needed.
struct Embedding<'a> {
    labels: Labels<'a>,
    columns: usize,
    /// Clusters in rows.
    table: Vec<f32>,
}

impl<'a> Embedding<'a> {
    fn new(labels: Labels<'a>, coordinates: ArrayView2<'_, f64>) -> Self {
        let table = coordinates.iter().map(|&v| v as f32).collect();
        Embedding { labels, columns: coordinates.ncols(), table }
    }
}

impl RowSource for Embedding<'_> {
    fn n_rows(&self) -> usize {
        self.labels.objects
    }

    fn n_columns(&self) -> usize {
        self.columns
    }

    fn write(&self, rows: Range<usize>, out: &mut [f32]) {
        let members = self.labels.first.len();
        let mut clusters = vec![NONE; rows.len() * members];
        self.labels.write(rows, &mut clusters);
        for (clusters, out) in
            clusters.chunks_exact(members).zip(out.chunks_exact_mut(self.columns))
        {
            out.fill(0.0);
            for &c in clusters.iter().filter(|c| **c != NONE) {
                for (o, &v) in out.iter_mut().zip(&self.table[c as usize * self.columns..]) {
                    *o += v;
                }
            }
            let norm = out.iter().map(|&v| f64::from(v) * f64::from(v)).sum::<f64>().sqrt();
            if norm > 0.0 {
                let factor = (1.0 / norm) as f32;
                out.iter_mut().for_each(|v| *v *= factor);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use consilience_conformance::{Profile, consensus_function};
    use consilience_core::{ErrorKind, scores};
    use consilience_graph::TransferCut;

    /// Members that split a line of objects into runs at random places near planted ones, some
    /// labels missing.
    fn runs(n: usize, members: usize, missing: f64) -> (Ensemble, Partition) {
        let mut s = Seed(7).stream();
        let truth = Partition::from_fn(n, |i| Some((3 * i / n) as u64)).unwrap();
        let members = (0..members)
            .map(|_| {
                let mut cuts: Vec<f64> =
                    (0..12).map(|_| s.uniform()).chain([1.0 / 3.0, 2.0 / 3.0]).collect();
                cuts.iter_mut().for_each(|c| *c += 0.002 * (s.uniform() - 0.5));
                let mut labels = Vec::with_capacity(n);
                for i in 0..n {
                    let at = i as f64 / n as f64;
                    let label = cuts.iter().filter(|c| **c < at).count() as i64;
                    labels.push(if s.uniform() < missing { -1 } else { label });
                }
                Partition::from_labels(&labels).unwrap()
            })
            .collect();
        (Ensemble::new(members).unwrap(), truth)
    }

    /// The cut of the dense graph, object by object.
    fn reference(ensemble: &Ensemble, k: usize) -> Partition {
        let mut b = Array2::zeros((ensemble.n_objects(), ensemble.n_clusters()));
        let mut first = 0;
        for member in ensemble.members() {
            for (i, l) in member.iter().enumerate() {
                if let Some(l) = l {
                    b[[i, first + l]] = 1.0;
                }
            }
            first += member.n_clusters();
        }
        let found = TransferCut::new(k).restarts(10).partition(b.view()).unwrap();
        Partition::from_fn(found.len(), |i| Some(found[i] as u64)).unwrap()
    }

    #[test]
    fn one_pass_equals_the_cut_of_the_dense_graph() {
        for missing in [0.0, 0.2] {
            let (ensemble, truth) = runs(600, 9, missing);
            let found = USenc::new(3).restarts(10).streamed(&ensemble, &()).unwrap().output;
            let expected = reference(&ensemble, 3);
            let ari = scores::adjusted_rand(&found, &expected).unwrap();
            assert!(ari > 0.999, "{ari}");
            assert!(scores::adjusted_rand(&found, &truth).unwrap() > 0.95);
        }
    }

    struct Streamed(USenc);

    impl ConsensusFunction for Streamed {
        type Output = Partition;

        fn name(&self) -> &str {
            "streamed"
        }

        fn fit(&self, ensemble: &Ensemble, observer: &dyn Observer) -> Result<Fit<Partition>> {
            ensemble.check_clusters(self.0.fixed()?)?;
            ensemble.check_accepted("usenc", Accepts::LABELS)?;
            observer.check()?;
            if ensemble.n_clusters() == 0 {
                // No object is labelled; such ensembles do not come this way.
                return Hbgf::new(self.0.clusters).fit(ensemble, observer);
            }
            self.0.streamed(ensemble, observer)
        }
    }

    #[test]
    fn the_streamed_solver_obeys_the_laws() {
        // It is meant for huge ensembles: of a few objects it may distinguish fewer than there are.
        // Rows with counts take the other way.
        let profile = Profile {
            exact_clusters: false,
            counts: false,
            small_worlds: (3, 2),
            ..Profile::default()
        };
        let alone = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        alone.install(|| consensus_function(&|k| Box::new(Streamed(USenc::new(k))), &profile));
    }

    /// Components of equal size, none of which is like another but in size.
    #[test]
    fn both_ways_keep_the_same_of_equal_components() {
        let of_part: [&[[i64; 3]]; 4] = [
            &[[0, 0, 0], [0, 1, 0], [0, 0, 1], [0, 1, 1]],
            &[[1, 2, 2], [1, 2, 3], [2, 2, 2], [2, 2, 2]],
            &[[3, 3, 4], [3, 3, 4], [3, 3, 4], [3, 3, 4]],
            &[[4, 4, 5], [5, 4, 5], [6, 4, 5], [7, 4, 5]],
        ];
        let rows: Vec<[i64; 3]> = of_part.concat();
        let members = (0..3).map(|u| {
            Partition::from_labels(&rows.iter().map(|row| row[u]).collect::<Vec<_>>()).unwrap()
        });
        let plain = Ensemble::new(members.collect()).unwrap();
        for k in 1..=4 {
            let found = USenc::new(k).streamed(&plain, &()).unwrap().output;
            for seed in 0..20 {
                let mut order: Vec<usize> = (0..16).collect();
                Seed(seed).stream().shuffle(&mut order);
                let moved = plain.select_objects(&order).unwrap();
                let streamed = USenc::new(k).streamed(&moved, &()).unwrap().output;
                assert!(streamed == USenc::new(k).consensus(&moved).unwrap(), "{k} {order:?}");
                assert!(streamed == found.select(&order).unwrap(), "{k} {order:?}");
            }
        }
    }

    #[test]
    fn the_solver_follows_from_the_ensemble() {
        let (many, truth) = runs(140_000, 20, 0.3);
        assert!(USenc::streams(&many).unwrap());
        let found = USenc::new(3).consensus(&many).unwrap();
        assert!(scores::adjusted_rand(&found, &truth).unwrap() > 0.95);
        assert!(!USenc::streams(&runs(140_000, 5, 0.0).0).unwrap());
        assert!(!USenc::streams(&runs(1000, 20, 0.3).0).unwrap());
        let run = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| USenc::new(5).consensus(&many).unwrap())
        };
        assert!(run(1) == run(3));
    }

    /// Among them objects whose starts are drawn and objects that are not.
    #[test]
    fn no_order_is_seen_in_many_objects() {
        let (plain, _) = runs(140_000, 20, 0.3);
        let found = USenc::new(5).consensus(&plain).unwrap();
        let (mut objects, mut members) =
            ((0..140_000).collect::<Vec<_>>(), (0..20).collect::<Vec<_>>());
        Seed(8).stream().shuffle(&mut objects);
        Seed(9).stream().shuffle(&mut members);
        let moved = plain.select_objects(&objects).unwrap().select(&members).unwrap();
        assert!(USenc::new(5).consensus(&moved).unwrap() == found.select(&objects).unwrap());
    }

    #[test]
    fn objects_are_drawn_evenly_by_their_hashes() {
        // Two thirds of the objects are all alike.
        let (some, _) = runs(3000, 6, 0.1);
        let order: Vec<usize> = (0..9000).map(|i| if i % 3 == 0 { i / 3 } else { 7 }).collect();
        let ensemble = some.select_objects(&order).unwrap();
        let stop = Stop::new(&());
        let labels = Labels::new(&ensemble, &stop);
        let place: Vec<usize> = (0..labels.clusters).collect();
        let mut row = vec![0; 6];
        let mut hash = |i: usize| {
            labels.write(i..i + 1, &mut row);
            let of = |&c: &u32| mix(u64::from(c));
            mix(row.iter().filter(|c| **c != NONE).map(of).fold(0, u64::wrapping_add))
        };
        let mut sorted: Vec<u64> = (0..9000).map(&mut hash).collect();
        sorted.sort_unstable();
        for most in [1, 10, 700, 9000, 20_000] {
            let drawn = labels.drawn(&place, most, Seed(most as u64));
            let most = most.min(9000);
            assert_eq!(drawn.len(), most);
            for (s, &i) in drawn.iter().enumerate() {
                let stretch = &sorted[s * 9000 / most..(s + 1) * 9000 / most];
                assert!(stretch.contains(&hash(i)), "{s} of {most}");
            }
        }
    }

    /// They are in no cluster, and no start of the k-means is one of them.
    #[test]
    fn objects_without_any_label_change_nothing() {
        let (some, _) = runs(3000, 9, 0.2);
        let order: Vec<usize> =
            (0..3000).filter(|&i| some.members()[0].label(i).is_some()).collect();
        let all = some.select_objects(&order).unwrap();
        let n = order.len();
        // Four without a label after each.
        let members = all.members().iter().map(|member| {
            let label =
                |i: usize| member.label(i / 5).filter(|_| i.is_multiple_of(5)).map(|l| l as u64);
            Partition::from_fn(5 * n, label).unwrap()
        });
        let sparse = Ensemble::new(members.collect()).unwrap();
        for k in [3, 6, 9] {
            let run = |ensemble: &Ensemble| USenc::new(k).streamed(ensemble, &()).unwrap().output;
            let (alone, found) = (run(&all), run(&sparse));
            assert_eq!(found.n_clusters(), k);
            assert_eq!(found.n_labelled(), n);
            let labelled: Vec<usize> = (0..n).map(|i| 5 * i).collect();
            assert_eq!(found.select(&labelled).unwrap(), alone);
        }
    }

    #[test]
    fn bad_parameters_are_named() {
        let (ensemble, _) = runs(30, 2, 0.0);
        for method in [
            USenc::new(0),
            USenc::new(31),
            USenc::new(2).restarts(0),
            USenc::new(Clusters::Lifetime),
        ] {
            assert_eq!(
                method.consensus(&ensemble).unwrap_err().kind(),
                ErrorKind::InvalidParameter
            );
        }
    }
}
