use consilience_core::{
    Constraints, Ensemble, Memberships, MemoryBudget, Observer, Partition, Result, at_least_one,
    ensure,
};
use consilience_num::assignment::max_assignment;
use consilience_num::reduce::map_each;
use ndarray::Array2;

use crate::alignment::{Alignment, AlignmentReference, SAMPLE, evenly_within};
use crate::rules::UpdateRule;
use crate::rules::block::{Labels, Rows};
use crate::rules::solve::{Part, Problem};
use crate::weight_updater::{Budgets, WeightUpdater};
use crate::weights::Weights;

/// Objects that the weights closest to a clustering are found on, unless told otherwise.
const CLOSEST: usize = 4096;
/// Objects of one part of that problem: fixed, so that its sums have the same bits on any number of
/// threads.
const PART: usize = 128;
/// Relative gap at which that problem is solved, and iterations at most.
const GAP: f64 = 1e-6;
const ITERATIONS: usize = 500;

/// Where the weights of a [`WeightUpdater`] start.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum InitialWeights {
    /// 1/m each: the plain mean of the members.
    #[default]
    Uniform,
    /// Any weights that are not negative, one per member; they are divided by their sum.
    Given(Vec<f64>),
    /// The weights whose memberships are closest to a clustering, `min sum_i |F_i - Y_i|^2` over
    /// evenly spaced objects ([`WeightUpdaterSetup::start_objects`]). Its clusters are matched to
    /// the common ones first.
    Closest(Partition),
    /// The same for soft memberships.
    ClosestMemberships(Memberships),
}

/// How to open a [`WeightUpdater`]: number of clusters, reference, start and rule.
///
/// ```
/// use consilience::Ensemble;
/// use consilience::simplex::{AdditiveUpdate, InitialWeights, WeightUpdaterSetup};
/// use consilience::ndarray::array;
///
/// let ensemble = Ensemble::from_array(array![[0, 0], [0, 1], [1, 1]].view())?;
/// let updater = WeightUpdaterSetup::new(2)
///     .start(InitialWeights::Given(vec![3.0, 1.0]))
///     .rule(AdditiveUpdate::default())
///     .updater(ensemble)?;
/// assert_eq!(updater.weights(), vec![0.75, 0.25]);
/// # Ok::<(), consilience::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct WeightUpdaterSetup {
    clusters: usize,
    reference: AlignmentReference,
    start: InitialWeights,
    reference_objects: usize,
    start_objects: usize,
    rule: UpdateRule,
    budgets: Budgets,
}

impl WeightUpdater {
    /// An updater over r common clusters with every default; [`WeightUpdaterSetup`] has the
    /// options.
    ///
    /// # Errors
    /// As [`WeightUpdaterSetup::updater`].
    pub fn new(ensemble: Ensemble, clusters: usize) -> Result<Self> {
        WeightUpdaterSetup::new(clusters).updater(ensemble)
    }
}

impl WeightUpdaterSetup {
    /// r common clusters; the reference is the medoid, the weights start at 1/m, the rule is
    /// [`UpdateRule::default`].
    pub fn new(clusters: usize) -> Self {
        WeightUpdaterSetup {
            clusters,
            reference: AlignmentReference::default(),
            start: InitialWeights::default(),
            reference_objects: SAMPLE,
            start_objects: CLOSEST,
            rule: UpdateRule::default(),
            budgets: Budgets::default(),
        }
    }

    consilience_core::setters! {
        /// What the members are aligned to. Default [`AlignmentReference::Medoid`].
        pub fn reference(mut self, reference: AlignmentReference) { self.reference = reference }

        /// Evenly spaced objects that the medoid is chosen on at most; where there are more,
        /// [`WeightUpdater::notes`] says so. Default 4,096; at least 1, and at most as many as the
        /// memory budget has room for.
        pub fn reference_objects(mut self, objects: usize) { self.reference_objects = objects }

        /// Where the weights start. Default [`InitialWeights::Uniform`], 1/m each.
        pub fn start(mut self, start: InitialWeights) { self.start = start }

        /// Evenly spaced objects on which the weights closest to a clustering are found at most;
        /// where there are more, [`WeightUpdater::notes`] says so. Default 4,096; at least 1, and
        /// at most as many as the memory budget has room for.
        pub fn start_objects(mut self, objects: usize) { self.start_objects = objects }

        /// How the weights follow links. Default [`ExactUpdate`](crate::ExactUpdate).
        pub fn rule(mut self, rule: impl Into<UpdateRule>) { self.rule = rule.into() }

        /// How much memory an update or a read-out may allocate. Default 8 GiB.
        pub fn memory_budget(mut self, budget: MemoryBudget) { self.budgets.work = budget }

        /// How much memory the second copy of the labels may take, one byte per label, object by
        /// object. With it updates and single objects are several times faster; beyond the budget
        /// there is none. Default 300 MB; 0 for never.
        #[doc(alias = "mirror")]
        pub fn label_copy(mut self, budget: MemoryBudget) { self.budgets.mirror = budget }
    }

    /// How much memory an update or a read-out may allocate.
    #[doc(hidden)]
    pub fn work_budget(&self) -> MemoryBudget {
        self.budgets.work
    }

    /// Aligns the members and opens the updater, which takes the ensemble over without copying it
    /// ([`WeightUpdater::into_ensemble`] gives it back).
    ///
    /// # Complexity
    /// O(n m) to align; choosing the medoid costs O(m c) comparisons of `reference_objects`, c
    /// the number of members with r clusters. Memory beside the ensemble: one table of k_u entries
    /// per member, and one byte per label where the budget for these allows it.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidParameter`](consilience_core::ErrorKind::InvalidParameter) for r outside
    /// `1..=n`, a reference of no or more than r clusters, or parameters of the rule out of range;
    /// [`ErrorKind::ShapeMismatch`](consilience_core::ErrorKind::ShapeMismatch) for a reference, a
    /// start or weights of another length,
    /// [`ErrorKind::NonFinite`](consilience_core::ErrorKind::NonFinite) for such weights,
    /// [`ErrorKind::TooLarge`](consilience_core::ErrorKind::TooLarge) beyond 65,534 common
    /// clusters, or beyond the memory budget.
    pub fn updater(&self, ensemble: Ensemble) -> Result<WeightUpdater> {
        self.updater_observed(ensemble, &())
    }

    /// As [`WeightUpdaterSetup::updater`], with cancellation.
    ///
    /// # Errors
    /// As [`WeightUpdaterSetup::updater`], and
    /// [`ErrorKind::Cancelled`](consilience_core::ErrorKind::Cancelled).
    pub fn updater_observed(
        &self,
        ensemble: Ensemble,
        observer: &dyn Observer,
    ) -> Result<WeightUpdater> {
        ensemble.check_clusters(self.clusters)?;
        self.rule.check()?;
        at_least_one("reference_objects", self.reference_objects)?;
        at_least_one("start_objects", self.start_objects)?;
        let m = ensemble.n_members();
        let weights = match &self.start {
            InitialWeights::Given(weights) => Weights::given(weights, m)?,
            _ => Weights::uniform(m),
        };
        let length = match &self.start {
            InitialWeights::Closest(p) => p.n_objects(),
            InitialWeights::ClosestMemberships(y) => y.n_objects(),
            _ => ensemble.n_objects(),
        };
        ensure!(
            length == ensemble.n_objects(),
            shape("a start of {length} objects for an ensemble of {}", ensemble.n_objects())
        );
        let alignment = Alignment::of(
            &ensemble,
            self.clusters,
            &self.reference,
            self.reference_objects,
            self.budgets.work,
            observer,
        )?;
        let weights = match &self.start {
            InitialWeights::Closest(p) => {
                let row = |i: usize, out: &mut [f64]| p.label(i).map(|l| out[l] = 1.0).is_some();
                let few = self.few(&ensemble, &alignment, p.n_clusters())?;
                closest(&ensemble, &alignment, weights, &few, p.n_clusters(), row, observer)?
            }
            InitialWeights::ClosestMemberships(y) => {
                let row = |i: usize, out: &mut [f64]| {
                    y.row(i).iter().zip(out).for_each(|(y, o)| *o = *y);
                    y.evidence()[i] > 0.0
                };
                let few = self.few(&ensemble, &alignment, y.n_clusters())?;
                closest(&ensemble, &alignment, weights, &few, y.n_clusters(), row, observer)?
            }
            _ => weights,
        };
        let constraints = Constraints::new(ensemble.n_objects())?;
        let notes = self.limits(&ensemble);
        let mut updater = WeightUpdater::open(
            ensemble,
            alignment,
            weights,
            constraints,
            self.rule.clone(),
            self.budgets,
        );
        updater.notes = notes;
        Ok(updater)
    }

    /// The objects that the weights at the start are found on, if a start of so many clusters fits
    /// the memory.
    fn few(
        &self,
        ensemble: &Ensemble,
        alignment: &Alignment,
        clusters: usize,
    ) -> Result<Vec<usize>> {
        // Rows with counts stand for more objects than there may be room for.
        let few = (self.start_objects as u64).min(ensemble.total_count()) as usize;
        let rows = few.saturating_add(2 * alignment.clusters());
        self.budgets.work.check_table("clusters of the start", rows, clusters, 8)?;
        evenly_within(ensemble, self.start_objects, self.budgets.work)
    }

    /// What is found on some of the objects only.
    fn limits(&self, ensemble: &Ensemble) -> Vec<String> {
        let n = ensemble.total_count();
        let closest = matches!(
            self.start,
            InitialWeights::Closest(_) | InitialWeights::ClosestMemberships(_)
        );
        let medoid = matches!(self.reference, AlignmentReference::Medoid);
        let all = [
            (medoid, self.reference_objects, "the medoid is chosen", "reference_objects"),
            (closest, self.start_objects, "the weights at the start are found", "start_objects"),
        ];
        let bound = all.into_iter().filter(|(used, limit, ..)| *used && (*limit as u64) < n);
        let told = |(_, limit, what, setter): (bool, usize, &str, &str)| {
            format!("{what} on {limit} of {n} objects, at even distances; {setter} sets the limit")
        };
        bound.map(told).collect()
    }
}

/// The weights whose memberships are closest to given ones of `columns` clusters; `row` writes down
/// one object and says whether anything is known of it.
fn closest(
    ensemble: &Ensemble,
    alignment: &Alignment,
    start: Weights,
    few: &[usize],
    columns: usize,
    row: impl Fn(usize, &mut [f64]) -> bool,
    observer: &dyn Observer,
) -> Result<Weights> {
    let mut wanted = Vec::new();
    let mut objects = Vec::new();
    for &i in few {
        let mut y = vec![0.0; columns];
        if row(i, &mut y) {
            objects.push(i as u32);
            wanted.push(y);
        }
    }
    let r = alignment.clusters();
    let labels = Labels::of(ensemble, alignment, &objects);
    let rows = map_each(objects.len().div_ceil(PART), &|p| {
        Rows::of(&labels, p * PART..labels.n().min((p + 1) * PART), r, &start)
    });
    let gamma = start.gamma();
    // How much each given cluster overlaps with each common one under the plain mean.
    let mut shared = Array2::<f64>::zeros((columns, r));
    for (rows, wanted) in rows.iter().zip(wanted.chunks(PART)) {
        let f = rows.forward(&gamma);
        for (t, y) in wanted.iter().enumerate() {
            for (c, y) in y.iter().enumerate().filter(|(_, y)| **y != 0.0) {
                (0..r).for_each(|d| shared[[c, d]] += y * f[d * rows.n() + t]);
            }
        }
    }
    let matched = max_assignment(shared.view());
    let column = |c: usize| {
        let most =
            (1..r).fold(0, |best, d| if shared[[c, d]] > shared[[c, best]] { d } else { best });
        matched[c].unwrap_or(most)
    };
    let to: Vec<usize> = (0..columns).map(column).collect();
    let parts: Vec<Part<'_>> = rows
        .into_iter()
        .zip(wanted.chunks(PART))
        .map(|(rows, wanted)| {
            let mut target = vec![0.0; r * rows.n()];
            for (t, y) in wanted.iter().enumerate() {
                y.iter().zip(&to).for_each(|(y, d)| target[d * rows.n() + t] += y);
            }
            Part::Target(rows, target)
        })
        .collect();
    let floor = 1e-3 * objects.len().max(1) as f64;
    let problem = Problem { parts: &parts, anchor: &gamma, lambda: 0.0, floor };
    Ok(Weights::nearest(&problem.minimise(&gamma, GAP, ITERATIONS, observer)?.gamma))
}
