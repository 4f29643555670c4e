//! Ensembles, and features of which something is known, to try methods on.

use ndarray::Array2;
use rustc_hash::FxHashSet;

use crate::{Profile, broken};
use consilience_core::{
    Constraints, Ensemble, Link, Partition, Result, Seed, SideInformation, Stream,
};

/// Every ensemble of `members` base clusterings over `objects` objects, each object possibly
/// unlabelled in each.
///
/// Meant for comparing a method with a naive reference on everything that can happen: ties,
/// duplicates, isolated objects, silent members. Each ordered tuple of groupings comes exactly once
/// (labels are canonical), `B(n + 1)^M` in all, `B` being the Bell numbers: 203^2 = 41,209 for 2
/// members over 5 objects.
///
/// ```
/// use consilience::conformance::small_worlds;
///
/// assert_eq!(small_worlds(5, 2).count(), 41_209);
/// assert!(small_worlds(3, 1).any(|e| e.n_clusters() == 0));
/// ```
///
/// # Complexity
/// O(B(n + 1) n) memory; the ensembles are made one at a time.
pub fn small_worlds(objects: usize, members: usize) -> SmallWorlds {
    let mut groupings = Vec::new();
    let mut labels = vec![-1i64; objects];
    fn extend(at: usize, clusters: i64, labels: &mut Vec<i64>, out: &mut Vec<Partition>) {
        if at == labels.len() {
            out.extend(Partition::from_labels(labels));
            return;
        }
        for l in -1..=clusters {
            labels[at] = l;
            extend(at + 1, clusters.max(l + 1), labels, out);
        }
    }
    extend(0, 0, &mut labels, &mut groupings);
    let next = (members > 0 && !groupings.is_empty()).then(|| vec![0; members]);
    SmallWorlds { groupings, next, any_order: true }
}

/// The iterator of [`small_worlds`].
#[derive(Clone, Debug)]
pub struct SmallWorlds {
    groupings: Vec<Partition>,
    /// Which grouping each member takes next; `None` at the end.
    next: Option<Vec<usize>>,
    /// Whether the same members come again in other orders.
    any_order: bool,
}

impl SmallWorlds {
    /// Each set of members in one order only, for what does not depend on it: half of them for two
    /// members. Default: every order.
    ///
    /// ```
    /// use consilience::conformance::small_worlds;
    ///
    /// assert_eq!(small_worlds(5, 2).in_one_order().count(), 203 * 204 / 2);
    /// ```
    #[must_use]
    pub fn in_one_order(mut self) -> Self {
        self.any_order = false;
        self
    }
}

impl Iterator for SmallWorlds {
    type Item = Ensemble;

    fn next(&mut self) -> Option<Ensemble> {
        let chosen = self.next.as_mut()?;
        let ensemble =
            Ensemble::new(chosen.iter().map(|&g| self.groupings[g].clone()).collect()).ok();
        let mut digit = chosen.len();
        loop {
            if digit == 0 {
                self.next = None;
                break;
            }
            digit -= 1;
            chosen[digit] += 1;
            if chosen[digit] < self.groupings.len() {
                let first = if self.any_order { 0 } else { chosen[digit] };
                chosen[digit + 1..].fill(first);
                break;
            }
        }
        ensemble
    }
}

/// An ensemble with the grouping that was hidden in it.
#[derive(Clone, Debug, PartialEq)]
pub struct Planted {
    /// The hidden grouping; complete.
    pub truth: Partition,
    /// Its noisy copies.
    pub ensemble: Ensemble,
}

/// Noisy copies of a hidden grouping: clusters of the given sizes in a random order of the objects,
/// each label replaced by a random one with probability `noise` and dropped with probability
/// `missing`.
///
/// Members have as many clusters as there are sizes, plus up to two. No object is silent in all
/// members, and where `missing` is moderate every two objects meet in some member.
///
/// ```
/// use consilience::{Seed, scores};
/// use consilience::conformance::planted;
///
/// let world = planted(Seed(1), &[12, 9, 5], 8, 0.1, 0.2)?;
/// assert_eq!((world.truth.n_clusters(), world.ensemble.n_members()), (3, 8));
/// assert!(scores::adjusted_rand(&world.ensemble.members()[0], &world.truth)? > 0.3);
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Errors
/// [`ErrorKind::Empty`](consilience_core::ErrorKind::Empty) without objects or members.
pub fn planted(
    seed: Seed,
    sizes: &[usize],
    members: usize,
    noise: f64,
    missing: f64,
) -> Result<Planted> {
    let mut truth: Vec<usize> =
        sizes.iter().enumerate().flat_map(|(c, &size)| std::iter::repeat_n(c, size)).collect();
    seed.derive("planted order", 0).stream().shuffle(&mut truth);
    let copies = (0..members)
        .map(|u| {
            let mut s = seed.derive("planted member", u as u64).stream();
            let extra = s.below(3);
            let labels: Vec<i64> = truth
                .iter()
                .enumerate()
                .map(|(i, &c)| {
                    let label = if s.uniform() < noise { s.below(sizes.len() + extra) } else { c };
                    let silent = s.uniform() < missing && i % members != u;
                    if silent { -1 } else { label as i64 }
                })
                .collect();
            Partition::from_labels(&labels)
        })
        .collect::<Result<_>>()?;
    Ok(Planted { truth: Partition::from_labels(&truth)?, ensemble: Ensemble::new(copies)? })
}

/// As [`planted`], where the arguments are known to be good.
pub(super) fn plant(
    seed: u64,
    sizes: &[usize],
    members: usize,
    noise: f64,
    missing: f64,
) -> Planted {
    match planted(Seed(seed), sizes, members, noise, missing) {
        Ok(world) => world,
        Err(e) => broken("the suite's own input", e),
    }
}

/// A small table with duplicates and a constant feature now and then, side information that some
/// clustering satisfies, and a number of clusters.
#[doc(hidden)]
pub fn partly_known(seed: u64) -> (Array2<f64>, SideInformation, usize) {
    let mut s = Seed(seed).stream();
    let (n, d, k) = (12 + s.below(40), 1 + s.below(5), 2 + s.below(4));
    let truth: Vec<i64> = (0..n).map(|_| s.below(k) as i64).collect();
    let mut x = Array2::from_shape_fn((n, d), |(i, j)| {
        let centre = ((truth[i] as usize * 7 + j * 3) % 5) as f64;
        if seed.is_multiple_of(4) && j == 0 { 1.5 } else { centre + 0.8 * s.normal() }
    });
    if seed.is_multiple_of(3) {
        x.mapv_inplace(f64::round);
    }
    let mut known = || {
        if seed.is_multiple_of(2) {
            let seen = truth.iter().map(|&t| if s.below(3) == 0 { t } else { -1 });
            return SideInformation::from_labels(&seen.collect::<Vec<i64>>());
        }
        let mut pairs = Constraints::new(n)?;
        for _ in 0..n {
            let (i, j) = (s.below(n), s.below(n));
            pairs.add(i, j, if truth[i] == truth[j] { Link::Must } else { Link::Cannot })?;
        }
        Ok(SideInformation::from_constraints(&pairs))
    };
    match known() {
        Ok(side) => (x, side, k),
        Err(e) => broken("the suite's own input", e),
    }
}

/// How many random tiny ensembles there are.
const TINY: u64 = 160;
/// How many random ensembles whose rows are to stand for unequal numbers of objects.
const UNEQUAL: u64 = 48;
/// How many ensembles of noise.
const NOISE: u64 = 16;

/// Random ensembles of two to four members over four to seven objects: one in two of several
/// components that no member links, one in three with missing labels.
pub(super) fn tiny_worlds() -> impl Iterator<Item = Ensemble> {
    (0..TINY).filter_map(|w| {
        let mut s = Seed(w).derive("tiny world", 0).stream();
        let (objects, members) = (4 + s.below(4), 2 + s.below(3));
        let (parts, missing) = (1 + (w % 2) as usize * (1 + s.below(3)), (w % 3 == 0) as u64);
        drawn(&mut s, objects, members, parts, 1 + w as usize % 3, 0.2 * missing as f64).ok()
    })
}

/// Random ensembles of three members over six objects, one in four with missing labels: what is
/// found depends on how many objects each row stands for more often than in larger ones.
pub(super) fn unequal_worlds() -> impl Iterator<Item = Ensemble> {
    (0..UNEQUAL).filter_map(|w| {
        let mut s = Seed(w).derive("unequal world", 0).stream();
        drawn(&mut s, 6, 3, 1, 3, if w % 4 == 3 { 0.2 } else { 0.0 }).ok()
    })
}

/// Ensembles of ten members that agree on nothing.
pub(super) fn noise_worlds() -> impl Iterator<Item = Ensemble> {
    (0..NOISE).filter_map(|w| {
        let mut s = Seed(w).derive("noise", 0).stream();
        drawn(&mut s, 7 + w as usize % 4, 10, 1, 3, 0.0).ok()
    })
}

/// Ensembles in which ties decide: small worlds of at most four objects, and tiny worlds.
pub(super) fn tied_worlds(profile: &Profile) -> impl Iterator<Item = Ensemble> {
    let (objects, members) = profile.small_worlds;
    small_worlds(objects.min(4), members).in_one_order().chain(tiny_worlds())
}

/// Random labels; object i is in part i modulo their number, and no member links two parts.
fn drawn(
    s: &mut Stream,
    objects: usize,
    members: usize,
    parts: usize,
    clusters: usize,
    missing: f64,
) -> Result<Ensemble> {
    let member = |s: &mut Stream| {
        let label = |i: usize, s: &mut Stream| {
            let label = i % parts * clusters + s.below(clusters);
            if s.uniform() < missing { -1 } else { label as i64 }
        };
        Partition::from_labels(&(0..objects).map(|i| label(i, s)).collect::<Vec<_>>())
    };
    Ensemble::new((0..members).map(|_| member(s)).collect::<Result<_>>()?)
}

/// An ensemble from rows of labels per member.
pub(super) fn members(rows: &[&[i64]]) -> Ensemble {
    match rows
        .iter()
        .map(|r| Partition::from_labels(r))
        .collect::<Result<_>>()
        .and_then(Ensemble::new)
    {
        Ok(ensemble) => ensemble,
        Err(e) => broken("the suite's own input", e),
    }
}

/// Labels of one object in every member.
pub(super) fn row(ensemble: &Ensemble, object: usize) -> Vec<Option<usize>> {
    ensemble.members().iter().map(|m| m.label(object)).collect()
}

/// Whether some member labels the object.
pub(super) fn heard(ensemble: &Ensemble, object: usize) -> bool {
    ensemble.members().iter().any(|m| m.label(object).is_some())
}

/// Number of different label rows, silent ones left out: the most clusters that a method can tell
/// apart.
pub(super) fn distinct_rows(ensemble: &Ensemble) -> usize {
    let rows: FxHashSet<_> = (0..ensemble.n_objects())
        .filter(|&i| heard(ensemble, i))
        .map(|i| row(ensemble, i))
        .collect();
    rows.len()
}

/// An ensemble as a message shows it: one bracket per member, only where it is small.
pub(super) fn show(ensemble: &Ensemble) -> String {
    let (n, m) = (ensemble.n_objects(), ensemble.n_members());
    if n * m > 120 {
        return format!("an ensemble of {n} objects and {m} members");
    }
    let members: Vec<String> =
        ensemble.members().iter().map(|p| format!("{:?}", p.to_signed())).collect();
    format!("members {}", members.join(" "))
}

/// Clear structure, sizes unequal and no two members alike: nothing has to be decided by ties at k
/// = 4.
pub(super) fn clear_worlds() -> [Planted; 3] {
    let sizes = [25, 17, 11, 8];
    [
        plant(1, &sizes, 15, 0.08, 0.0),
        plant(2, &sizes, 15, 0.1, 0.0),
        plant(3, &sizes, 20, 0.05, 0.15),
    ]
}

/// Ensembles of a few objects about which little can be said.
pub(super) fn trivial_ensembles() -> impl Iterator<Item = Ensemble> {
    const ALL: [&[&[i64]]; 11] = [
        &[&[0]],
        &[&[-1]],
        &[&[-1; 4], &[-1; 4]],
        &[&[0; 5], &[0; 5]],
        &[&[0, 1, 2, 3, 4]],
        &[&[0; 5], &[0, 1, 2, 3, 4]],
        &[&[0, 0, -1, 1, 1, -1], &[-1, 0, 0, 1, -1, 1]],
        &[&[-1, 0, 0, 1, 1, -1], &[-1, 0, 0, 1, 1, -1]],
        &[&[-1, 0, 0, 1], &[-1, 0, 1, 1]],
        &[&[0, 0, 1, -1, -1, -1, 2], &[-1, -1, -1, 0, 0, 1, -1]],
        &[&[-1; 5], &[0, 0, 1, 1, 1]],
    ];
    ALL.into_iter().map(members)
}

/// Two ensembles of as many objects as are run at several numbers of threads, one of them with
/// missing labels.
pub(super) fn thread_ensembles(seed: u64, profile: &Profile) -> [Ensemble; 2] {
    let n = profile.thread_objects.max(15);
    let sizes = [n / 2, n / 3, n - n / 2 - n / 3];
    [0.0, 0.2].map(|missing| plant(seed, &sizes, 10, 0.2, missing).ensemble)
}

/// Two ensembles of three planted clusters, one of them with missing labels.
pub(crate) fn planted_ensembles(seed: u64) -> [Ensemble; 2] {
    [(0.1, 0.0), (0.15, 0.2)]
        .map(|(noise, missing)| plant(seed, &[20, 13, 9], 12, noise, missing).ensemble)
}
