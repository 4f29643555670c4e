//! Draws of partitions: each object in turn goes to a cluster by the probabilities of these, the
//! others being given.

use consilience_core::{Observer, Pace, Result, Seed, Stream, room};

use super::moves::{Leaving, State};

/// Sweeps in which objects are drawn anew, and what one may cost for so many of them: objects times
/// clusters where these are few.
const DRAWS: usize = 200;
const LEAST_DRAWS: usize = 10;
const AFFORDABLE: usize = 20_000;

/// How often there were so many clusters, after each of some sweeps.
pub(super) fn numbers(
    state: &mut State<'_>,
    seed: Seed,
    observer: &dyn Observer,
) -> Result<Vec<f64>> {
    let n = state.nodes.len();
    let cost = n.saturating_mul(state.clusters()).max(1);
    let everywhere = cost <= AFFORDABLE;
    let work = if everywhere { cost } else { n + state.nodes.others.len() };
    let sweeps = (DRAWS * AFFORDABLE / work.max(1)).clamp(LEAST_DRAWS, DRAWS);
    drawn(state, sweeps, everywhere, seed, observer)
}

/// The same after so many sweeps. `everywhere` weighs cluster by cluster; else those with which an
/// object has no answers are weighed as one, which takes no time for each of them. Probabilities
/// are those of the posterior in both.
pub(super) fn drawn(
    state: &mut State<'_>,
    sweeps: usize,
    everywhere: bool,
    seed: Seed,
    observer: &dyn Observer,
) -> Result<Vec<f64>> {
    let (n, mut stream) = (state.nodes.len(), seed.stream());
    let mut pace = Pace::new(observer);
    let mut weights = if everywhere { None } else { Some(Weights::of(&state.sizes)?) };
    let mut times = room::filled(n + 1, 0.0)?;
    for _ in 0..sweeps {
        for i in 0..n {
            pace.work(state.work(i) + if everywhere { state.clusters() } else { 0 })?;
            draw(state, i, weights.as_mut(), &mut stream);
        }
        times[state.clusters()] += 1.0 / sweeps as f64;
    }
    let last = times.iter().rposition(|&t| t > 0.0).unwrap_or(0);
    times.truncate(last + 1);
    Ok(times)
}

/// Draws the cluster of one object.
fn draw(state: &mut State<'_>, i: usize, weights: Option<&mut Weights>, stream: &mut Stream) {
    let Some(node) = state.leave(i, weights.is_none()) else { return };
    let Some(weights) = weights else {
        let to = state.candidates[by_logarithms(&state.values, stream)];
        state.enter(i, &node, to);
        return;
    };
    weights.set(node.own, state.sizes[node.own]);
    let rest = weights.all - state.candidates.iter().map(|&c| weights.of[c]).sum::<usize>();
    if rest > 0 {
        state.values.push(together(state, &node, rest));
    }
    let to = match state.candidates.get(by_logarithms(&state.values, stream)) {
        Some(&c) => c,
        None => {
            state.candidates.sort_unstable();
            weights.beside(&state.candidates, stream.below(rest))
        }
    };
    state.enter(i, &node, to);
    weights.set(to, state.sizes[to]);
}

/// Log-probability of all clusters with which an object has no answers: its answers and the number
/// of clusters are the same in each, and (s + 1)! / s! of one with s others adds up to `rest`.
fn together(state: &State<'_>, node: &Leaving, rest: usize) -> f64 {
    let model = state.model;
    model.answers(node.without) + model.partitions.number(node.others) + (rest as f64).ln()
}

/// An index drawn by the logarithms of what is in proportion to probabilities.
fn by_logarithms(values: &[f64], stream: &mut Stream) -> usize {
    let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let total: f64 = values.iter().map(|v| (v - most).exp()).sum();
    let mut left = stream.uniform() * total;
    let drawn = values.iter().position(|v| {
        left -= (v - most).exp();
        left < 0.0
    });
    drawn.unwrap_or(0)
}

/// Weights of clusters, objects and one more of those that hold any, and their sums in a binary
/// indexed tree (Fenwick 1994).
struct Weights {
    of: Vec<usize>,
    all: usize,
    /// At i - 1 the sum of the weights from i - (i & -i) to i - 1.
    sums: Vec<usize>,
}

impl Weights {
    fn of(sizes: &[usize]) -> Result<Self> {
        let zeros = || room::zeros(sizes.len());
        let mut weights = Weights { of: zeros()?, all: 0, sums: zeros()? };
        sizes.iter().enumerate().for_each(|(c, &size)| weights.set(c, size));
        Ok(weights)
    }

    fn set(&mut self, c: usize, size: usize) {
        let weight = if size > 0 { size + 1 } else { 0 };
        let before = std::mem::replace(&mut self.of[c], weight);
        self.all = self.all - before + weight;
        let mut at = c + 1;
        while at <= self.sums.len() {
            self.sums[at - 1] = self.sums[at - 1] + weight - before;
            at += at & at.wrapping_neg();
        }
    }

    /// Sum of the weights before a cluster.
    fn before(&self, c: usize) -> usize {
        let (mut sum, mut at) = (0, c);
        while at > 0 {
            sum += self.sums[at - 1];
            at &= at - 1;
        }
        sum
    }

    /// The cluster to which the unit of this number belongs, counted without those of some
    /// clusters, which ascend.
    fn beside(&self, left_out: &[usize], unit: usize) -> usize {
        let mut unit = unit;
        for &c in left_out {
            if self.before(c) > unit {
                break;
            }
            unit += self.of[c];
        }
        // The largest number of clusters whose weights do not sum to more than the unit.
        let mut at = 0;
        let mut step = self.sums.len().next_power_of_two();
        while step > 0 {
            if at + step <= self.sums.len() && self.sums[at + step - 1] <= unit {
                at += step;
                unit -= self.sums[at - 1];
            }
            step /= 2;
        }
        at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_unit_beside_some_clusters_is_in_its_cluster() {
        let sizes = [3, 0, 1, 4, 0, 2, 5];
        let mut weights = Weights::of(&sizes).unwrap();
        weights.set(3, 0);
        weights.set(1, 2);
        let now = [4, 3, 2, 0, 0, 3, 6];
        assert_eq!((weights.of.as_slice(), weights.all), (&now[..], 18));
        for left_out in [&[][..], &[0], &[2, 3, 5], &[1, 4, 6], &[0, 1, 2, 3, 4, 5]] {
            let units = (0..now.len()).filter(|c| !left_out.contains(c));
            let units = units.flat_map(|c| std::iter::repeat_n(c, now[c]));
            for (unit, c) in units.enumerate() {
                assert_eq!(weights.beside(left_out, unit), c, "{left_out:?} {unit}");
            }
        }
    }
}
