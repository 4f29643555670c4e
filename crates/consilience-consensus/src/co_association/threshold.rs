use consilience_core::{Joined, Microclusters, Observer, Result};
use consilience_graph::CountRow;

/// From which co-association on a pair is reliable.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Threshold {
    From(f64),
    Above(f64),
}

impl Threshold {
    /// The least one, from `confidence` on, at which no component of the graph of reliable pairs
    /// holds more than this share of the objects.
    ///
    /// The components at every threshold are those of a maximum spanning tree. Prim's algorithm
    /// finds it with one row of counts at a time.
    pub(super) fn raised(
        nodes: &Microclusters,
        confidence: f64,
        share: f64,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let mut links = spanning_tree(nodes, observer)?;
        links.retain(|link| link.0 >= confidence);
        links.sort_by(|a, b| b.0.total_cmp(&a.0));
        let mut sizes = nodes.grouping().weights();
        let most = share * sizes.iter().sum::<f64>();
        if sizes.iter().any(|&size| size > most) {
            return Ok(Threshold::Above(1.0));
        }
        let mut joined = Joined::new(sizes.len());
        for (together, i, j) in links {
            let (i, j) = (joined.find(i), joined.find(j));
            joined.join_under(i, j);
            sizes[j] += sizes[i];
            // Links of equal weight come or stay out together.
            if sizes[j] > most {
                return Ok(Threshold::Above(together));
            }
        }
        Ok(Threshold::From(confidence))
    }

    /// The least number that a reliable pair can have.
    pub(super) fn least(self) -> f64 {
        match self {
            Threshold::From(least) => least,
            Threshold::Above(bound) => bound.next_up(),
        }
    }
}

impl std::fmt::Display for Threshold {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Threshold::From(least) => write!(f, "of at least {least}"),
            Threshold::Above(bound) => write!(f, "above {bound:.4}"),
        }
    }
}

/// Links of a maximum spanning tree over the co-association of the nodes, with their weights.
fn spanning_tree(
    nodes: &Microclusters,
    observer: &dyn Observer,
) -> Result<Vec<(f64, usize, usize)>> {
    let n = nodes.n_nodes();
    let mut counts = CountRow::new(nodes)?;
    let mut links = Vec::with_capacity(n);
    let mut best = vec![(-1.0, 0); n];
    let mut outside: Vec<usize> = (1..n).collect();
    let mut last = 0;
    while !outside.is_empty() {
        observer.check()?;
        counts.fill(nodes, last);
        let (mut next, mut most) = (0, -1.0);
        for (at, &j) in outside.iter().enumerate() {
            let together = counts.ratio(j);
            if together > best[j].0 {
                best[j] = (together, last);
            }
            if best[j].0 > most {
                (next, most) = (at, best[j].0);
            }
        }
        last = outside.swap_remove(next);
        links.push((most, best[last].1, last));
    }
    Ok(links)
}

#[cfg(test)]
mod tests {
    use super::super::ec_cms::reference::{labelled, together, world};
    use super::*;
    use proptest::prelude::*;

    /// Objects of the largest component where pairs are linked that `linked` takes.
    fn largest(n: usize, linked: impl Fn(usize, usize) -> bool) -> usize {
        let mut seen = vec![false; n];
        let mut most = 0;
        for start in 0..n {
            let (mut stack, mut found) = (vec![start], 0);
            while let Some(i) = stack.pop() {
                if std::mem::replace(&mut seen[i], true) {
                    continue;
                }
                found += 1;
                stack.extend((0..n).filter(|&j| linked(i, j)));
            }
            most = most.max(found);
        }
        most
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]

        /// Tried at the confidence and above every co-association that there is, on all objects.
        #[test]
        fn is_the_least_that_keeps_components_small(
            seed in 0u64..100_000, n in 1usize..26, m in 1usize..9, k in 1usize..5, gaps: bool,
            confidence in prop_oneof![Just(0.2), Just(0.5), Just(0.7), Just(1.0)],
            share in prop_oneof![Just(0.15), Just(0.3), Just(0.5), Just(0.8), Just(1.0)],
        ) {
            let e = world(seed, n, m, k, if gaps { 0.2 } else { 0.0 });
            let objects = labelled(&e);
            prop_assume!(!objects.is_empty());
            let a = together(&e, &objects, |_, _| 1.0);
            let nodes = Microclusters::of(&e).unwrap();
            let of = |x: usize| nodes.grouping().of_object()[objects[x]];
            let small = |t: Threshold| {
                let linked = |x, y| of(x) == of(y) || a[[x, y]] >= t.least();
                largest(objects.len(), linked) as f64 <= share * objects.len() as f64
            };
            let mut values: Vec<f64> = a.iter().copied().filter(|&v| v >= confidence).collect();
            values.sort_by(f64::total_cmp);
            let tried = std::iter::once(Threshold::From(confidence))
                .chain(values.into_iter().map(Threshold::Above));
            let expected = tried.into_iter().find(|&t| small(t)).unwrap_or(Threshold::Above(1.0));
            let found = Threshold::raised(&nodes, confidence, share, &()).unwrap();
            for x in 0..objects.len() {
                for y in (0..x).filter(|&y| of(x) != of(y)) {
                    let (found, expected) = (found.least(), expected.least());
                    prop_assert_eq!(a[[x, y]] >= found, a[[x, y]] >= expected);
                }
            }
        }
    }
}
