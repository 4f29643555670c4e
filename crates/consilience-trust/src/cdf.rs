use consilience_core::{Ensemble, Error, ErrorKind, Microclusters, Observer, Result, Seed, ensure};
use consilience_graph::CountRow;
use consilience_num::reduce::try_map_each;

use crate::members::repeated;
use crate::sample::sampled;

/// Microclusters per parallel chunk.
const CHUNK: usize = 64;
/// The table of counts (c, N) has this many rows and columns at most.
pub(crate) const MAX_MEMBERS: usize = 2047;
/// So many values of the co-association are told apart where members have weights.
const CELLS: usize = 1 << 18;

/// The consensus CDF: how the co-association is distributed over the pairs of objects.
///
/// Where the members agree, two objects are together nearly always or nearly never: the curve is a
/// step at 0, flat between, and a step at 1. Pairs between are ambiguous. Pairs of objects that no
/// member labels both are left out.
///
/// `CDF(x) = share of the pairs i < j with c_ij / N_ij <= x`.
///
/// Members that give memberships count by their most probable clusters, each member as often as its
/// weight says. Weights that are whole multiples of the least of them, or of 1, give the very curve
/// of the members repeated; of others, values that differ by less than 4e-6 may be one step.
///
/// ```
/// use consilience::{Ensemble, Partition};
/// use consilience::trust::ConsensusCdf;
///
/// let ensemble = Ensemble::new(vec![
///     Partition::from_labels(&[0, 0, 1, 1])?,
///     Partition::from_labels(&[0, 0, 0, 1])?,
/// ])?;
/// // Of six pairs one is always together, three in one of two members, two never.
/// let cdf = ConsensusCdf::of(&ensemble)?;
/// assert_eq!(cdf.values(), [0.0, 0.5, 1.0]);
/// assert_eq!(cdf.at(0.0), 2.0 / 6.0);
/// assert_eq!(cdf.at(0.7), 5.0 / 6.0);
/// assert_eq!(cdf.ambiguous(0.1, 0.9), 0.5);
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # References
/// Monti, Tamayo, Mesirov, Golub 2003, "Consensus Clustering"; Senbabaoglu, Michailidis, Li 2014,
/// "Critical limitations of consensus clustering in class discovery".
#[doc(alias = "PAC")]
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(try_from = "crate::stored::ConsensusCdfFields")
)]
pub struct ConsensusCdf {
    values: Vec<f64>,
    cumulative: Vec<f64>,
}

impl ConsensusCdf {
    /// A stored curve: shares in \[0, 1\] that ascend, and how much of the pairs is up to each,
    /// which ends at 1.
    #[cfg(feature = "serde")]
    pub(crate) fn from_steps(values: Vec<f64>, cumulative: Vec<f64>) -> Result<Self> {
        ensure!(
            values.len() == cumulative.len() && !values.is_empty(),
            shape("{} values of a CDF at {} steps", cumulative.len(), values.len())
        );
        let within = |steps: &[f64]| steps.iter().all(|v| (0.0..=1.0 + 1e-9).contains(v));
        ensure!(
            within(&values) && values.is_sorted_by(|a, b| a < b) && within(&cumulative),
            invalid("steps of a CDF that do not ascend from 0 to 1")
        );
        ensure!(cumulative.is_sorted(), invalid("a CDF that falls"));
        let last = cumulative[cumulative.len() - 1];
        ensure!((last - 1.0).abs() < 1e-9, invalid("a CDF that ends at {last}; expected 1"));
        Ok(ConsensusCdf { values, cumulative })
    }

    /// The CDF over all pairs of objects.
    ///
    /// # Complexity
    /// O(n M) for the microclusters, then O(n~^2 M) byte operations in parallel; for very many
    /// microclusters [`ConsensusCdf::of_sample`] takes a sample of the objects. No memory of order
    /// n^2: pairs are only counted, in 16 (M + 1)^2 bytes per thread. Members count for M as often
    /// as their weights say where these are whole; with other weights it takes several times as
    /// long, and 6 MiB per thread.
    ///
    /// # Errors
    /// [`ErrorKind::Empty`] where no two objects are labelled by a member, [`ErrorKind::TooLarge`]
    /// from 2,048 members on, those of weight 0 aside.
    pub fn of(ensemble: &Ensemble) -> Result<Self> {
        Self::of_observed(ensemble, &())
    }

    /// As [`ConsensusCdf::of`], with cancellation.
    ///
    /// # Errors
    /// As [`ConsensusCdf::of`]; [`ErrorKind::Cancelled`].
    pub fn of_observed(ensemble: &Ensemble, observer: &dyn Observer) -> Result<Self> {
        let ensemble = repeated(ensemble, MAX_MEMBERS)?;
        let m = ensemble.n_members();
        if m > MAX_MEMBERS {
            return Err(Error::new(
                ErrorKind::TooLarge,
                format!("a consensus CDF of {m} members; at most {MAX_MEMBERS} are supported"),
            ));
        }
        let nodes = Microclusters::observed(&ensemble, observer)?;
        if nodes.is_plain() {
            Self::from_counts(&pair_table(&nodes, observer)?, m + 1)
        } else {
            Self::from_pairs(weighted_pairs(&nodes, observer)?)
        }
    }

    /// The CDF over the pairs of that many objects, drawn at random, where there are more
    /// microclusters; otherwise over all pairs. Of 10,000 objects each share is within .02 of that
    /// of all pairs in nearly every draw.
    ///
    /// ```
    /// use consilience::{Ensemble, Partition, Seed};
    /// use consilience::trust::ConsensusCdf;
    ///
    /// // Every object is a microcluster of its own.
    /// let half = Partition::from_fn(300, |i| Some(i as u64 % 2))?;
    /// let alone = Partition::from_fn(300, |i| Some(i as u64))?;
    /// let ensemble = Ensemble::new(vec![half, alone])?;
    /// let cdf = ConsensusCdf::of_sample(&ensemble, 100, Seed(0), &())?;
    /// assert_eq!(cdf.values(), [0.0, 0.5]);
    /// assert!((cdf.at(0.0) - 0.5).abs() < 0.05);
    /// # Ok::<(), consilience::Error>(())
    /// ```
    ///
    /// # Complexity
    /// O(n M) for the microclusters, then O(objects^2 M) byte operations.
    ///
    /// # Errors
    /// As [`ConsensusCdf::of_observed`];
    /// [`ErrorKind::InvalidParameter`] for fewer than 2 objects.
    pub fn of_sample(
        ensemble: &Ensemble,
        objects: usize,
        seed: Seed,
        observer: &dyn Observer,
    ) -> Result<Self> {
        ensure!(objects >= 2, invalid("a sample of {objects} objects; expected at least 2"));
        let nodes = Microclusters::observed(&ensemble.hardened(), observer)?;
        Self::of_observed(&sampled(&nodes, objects, &mut seed.stream())?.1, observer)
    }

    /// The curve of numbers of pairs by (N, c), `width` entries for each N.
    fn from_counts(pairs: &[u128], width: usize) -> Result<Self> {
        let mut steps: Vec<(f64, u128)> = (1..width)
            .flat_map(|both| (0..=both).map(move |c| (both, c)))
            .map(|(both, c)| (c as f64 / both as f64, pairs[both * width + c]))
            .filter(|s| s.1 > 0)
            .collect();
        steps.sort_by(|a, b| a.0.total_cmp(&b.0));
        Self::from_pairs(steps)
    }

    /// The curve of numbers of pairs, more than 0, by their co-association, ascending.
    fn from_pairs(steps: Vec<(f64, u128)>) -> Result<Self> {
        let all: u128 = steps.iter().map(|s| s.1).sum();
        ensure!(all > 0, empty("no two objects are labelled by any member"));
        let mut cdf = ConsensusCdf { values: Vec::new(), cumulative: Vec::new() };
        let mut seen = 0;
        for (value, pairs) in steps {
            seen += pairs;
            if cdf.values.last() == Some(&value) {
                cdf.cumulative.pop();
            } else {
                cdf.values.push(value);
            }
            cdf.cumulative.push(seen as f64 / all as f64);
        }
        Ok(cdf)
    }

    /// The values of the co-association that occur, ascending: where the curve steps.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// The share of pairs at or below each of [`ConsensusCdf::values`]; the last is 1.
    pub fn cumulative(&self) -> &[f64] {
        &self.cumulative
    }

    /// The share of pairs with a co-association of at most x.
    pub fn at(&self, x: f64) -> f64 {
        match self.values.partition_point(|&v| v <= x) {
            0 => 0.0,
            i => self.cumulative[i - 1],
        }
    }

    /// The area under the curve between 0 and 1: 1 - the mean co-association. The papers sum over
    /// the steps with the value to their right, which is larger by up to a step; this is the
    /// integral.
    pub fn area(&self) -> f64 {
        let ends = self.values.iter().skip(1).copied().chain([1.0]);
        self.values
            .iter()
            .zip(ends)
            .zip(&self.cumulative)
            .map(|((&from, to), &c)| (to - from) * c)
            .sum()
    }

    /// The proportion of ambiguous pairs (PAC): those with a co-association above `low` and at most
    /// `high`; .1 and .9 are usual.
    pub fn ambiguous(&self, low: f64, high: f64) -> f64 {
        (self.at(high) - self.at(low)).max(0.0)
    }

    /// The curve as a staircase from (0, 0) to (1, 1), for plotting: x and y of every corner.
    pub fn staircase(&self) -> (Vec<f64>, Vec<f64>) {
        let (mut x, mut y) = (vec![0.0], vec![0.0]);
        for (&value, &share) in self.values.iter().zip(&self.cumulative) {
            x.extend([value, value]);
            y.extend([y[y.len() - 1], share]);
        }
        x.push(1.0);
        y.push(1.0);
        (x, y)
    }
}

/// Adds up over the rows of so many microclusters, a table for each thread. Row i has i pairs: each
/// thread takes every so-manieth chunk.
fn by_thread<T: Send>(
    n: usize,
    observer: &dyn Observer,
    table: impl Fn() -> T + Sync,
    add: impl Fn(&mut T, usize) + Sync,
) -> Result<Vec<T>> {
    let threads = rayon::current_num_threads().min(n.div_ceil(CHUNK)).max(1);
    let part = |thread: usize| -> Result<T> {
        let mut own = table();
        for first in (thread * CHUNK..n).step_by(threads * CHUNK) {
            observer.check()?;
            (first..n.min(first + CHUNK)).for_each(|i| add(&mut own, i));
        }
        Ok(own)
    };
    try_map_each(threads, &part)
}

/// Numbers of pairs of objects by (N, c): whole numbers, so that the sums are exact in any order,
/// and one table for each thread is enough.
fn pair_table(nodes: &Microclusters, observer: &dyn Observer) -> Result<Vec<u128>> {
    let width = nodes.n_members() + 1;
    let sizes = nodes.sizes();
    let scratch = CountRow::new(nodes)?;
    let table = || (vec![0u128; width * width], scratch.clone());
    let add = |(pairs, row): &mut (Vec<u128>, CountRow), i: usize| {
        row.fill(nodes, i);
        let (both, together) = (row.both(), row.together());
        let cell = |j: usize| usize::from(both[j]) * width + usize::from(together[j]);
        for (j, size) in sizes[..i].iter().enumerate() {
            pairs[cell(j)] += u128::from(sizes[i]) * u128::from(*size);
        }
        pairs[cell(i)] += u128::from(sizes[i]) * u128::from(sizes[i] - 1) / 2;
    };
    let mut parts = by_thread(sizes.len(), observer, table, add)?.into_iter().map(|part| part.0);
    let mut total = parts.next().unwrap_or_default();
    for part in parts {
        total.iter_mut().zip(part).for_each(|(t, p)| *t += p);
    }
    Ok(total)
}

/// What a thread counts of weighted members.
struct WeightedPairs {
    /// Numbers of pairs by co-association, in cells.
    pairs: Vec<u128>,
    /// The least co-association in each cell.
    least: Vec<f64>,
    /// c and N of the microcluster at hand with those before it and with itself.
    together: Vec<f64>,
    both: Vec<f64>,
}

impl WeightedPairs {
    fn new(n: usize) -> Self {
        WeightedPairs {
            pairs: vec![0; CELLS + 1],
            least: vec![f64::INFINITY; CELLS + 1],
            together: vec![0.0; n],
            both: vec![0.0; n],
        }
    }

    fn add(&mut self, nodes: &Microclusters, i: usize) {
        let WeightedPairs { pairs, least, together, both } = self;
        together[..=i].fill(0.0);
        both[..=i].fill(0.0);
        for (u, member) in nodes.rows().iter().enumerate() {
            let Some(own) = member.label(i) else { continue };
            let weight = nodes.weight(u);
            for (j, label) in member.iter().take(i + 1).enumerate() {
                if let Some(label) = label {
                    both[j] += weight;
                    // Where all are together, c is N to the bit.
                    together[j] += if label == own { weight } else { 0.0 };
                }
            }
        }
        let sizes = nodes.sizes();
        for j in 0..=i {
            let objects = if j == i { sizes[i] - 1 } else { sizes[j] };
            let of_pair = u128::from(sizes[i]) * u128::from(objects);
            if both[j] > 0.0 && of_pair > 0 {
                let value = together[j] / both[j];
                let cell = ((value * CELLS as f64) as usize).min(CELLS);
                pairs[cell] += if j == i { of_pair / 2 } else { of_pair };
                least[cell] = least[cell].min(value);
            }
        }
    }
}

/// Numbers of pairs of objects by co-association, ascending, of members with weights. Least values
/// and whole numbers are exact in any order.
fn weighted_pairs(nodes: &Microclusters, observer: &dyn Observer) -> Result<Vec<(f64, u128)>> {
    let n = nodes.n_nodes();
    let table = || WeightedPairs::new(n);
    let parts = by_thread(n, observer, table, |own: &mut WeightedPairs, i| own.add(nodes, i))?;
    let of_cell = |cell: usize| {
        let pairs = parts.iter().map(|part| part.pairs[cell]).sum::<u128>();
        let least = parts.iter().map(|part| part.least[cell]).fold(f64::INFINITY, f64::min);
        (least, pairs)
    };
    Ok((0..=CELLS).map(of_cell).filter(|step| step.1 > 0).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use consilience_conformance::planted;
    use consilience_core::Partition;

    #[test]
    fn a_sample_is_near_all_pairs() {
        let e = planted(Seed(5), &[900, 600, 500], 8, 0.3, 0.1).unwrap().ensemble;
        let all = ConsensusCdf::of(&e).unwrap();
        for seed in 0..5 {
            let some = ConsensusCdf::of_sample(&e, 1_000, Seed(seed), &()).unwrap();
            assert_ne!(some, all);
            for x in [0.0, 0.25, 0.5, 0.75] {
                assert!((some.at(x) - all.at(x)).abs() < 0.05, "{x} {} {}", some.at(x), all.at(x));
            }
        }
        assert_eq!(ConsensusCdf::of_sample(&e, 2_000, Seed(1), &()).unwrap(), all);
        let error = ConsensusCdf::of_sample(&e, 1, Seed(1), &()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidParameter);
    }

    #[test]
    fn equals_the_sorted_pairs() {
        for (seed, missing) in [(1, 0.0), (2, 0.3), (3, 0.6)] {
            let e = planted(Seed(seed), &[20, 12, 8], 7, 0.3, missing).unwrap().ensemble;
            let e = e.select_objects(&(0..80).map(|i| i / 2).collect::<Vec<_>>()).unwrap();
            let mut pairs = Vec::new();
            for i in 0..80 {
                for j in 0..i {
                    let both =
                        e.members().iter().filter(|m| m.label(i).is_some() && m.label(j).is_some());
                    let n = both.clone().count();
                    if n > 0 {
                        pairs.push(
                            both.filter(|m| m.label(i) == m.label(j)).count() as f64 / n as f64,
                        );
                    }
                }
            }
            let cdf = ConsensusCdf::of(&e).unwrap();
            let share =
                |x: f64| pairs.iter().filter(|&&p| p <= x).count() as f64 / pairs.len() as f64;
            for x in [-0.1, 0.0, 0.1, 0.25, 1.0 / 3.0, 0.5, 0.9, 1.0, 2.0] {
                assert!((cdf.at(x) - share(x)).abs() < 1e-15, "{x}");
            }
            let mean = pairs.iter().sum::<f64>() / pairs.len() as f64;
            assert!((cdf.area() - (1.0 - mean)).abs() < 1e-12);
            assert!((cdf.ambiguous(0.1, 0.9) - (share(0.9) - share(0.1))).abs() < 1e-15);
            let (x, y) = cdf.staircase();
            assert!(
                x.windows(2).all(|w| w[0] <= w[1]) && y.windows(2).all(|w| w[0] <= w[1] + 1e-15)
            );
            assert_eq!((x.len(), y[y.len() - 1]), (y.len(), 1.0));
        }
    }

    #[test]
    fn bad_input_is_refused() {
        let e = Ensemble::new(vec![Partition::from_labels(&[0, -1]).unwrap()]).unwrap();
        assert_eq!(ConsensusCdf::of(&e).unwrap_err().kind(), ErrorKind::Empty);
        let many = Ensemble::new(vec![Partition::from_labels(&[0, 1]).unwrap(); 2048]).unwrap();
        assert_eq!(ConsensusCdf::of(&many).unwrap_err().kind(), ErrorKind::TooLarge);
    }
}
