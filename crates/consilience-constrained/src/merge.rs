//! More sets of objects that belong together than clusters: which of them to unite.

use consilience_core::{MemoryBudget, Pace, Result, SideInformation, Watch, room};
use consilience_num::rows::squared;
use ndarray::Array2;

use crate::points::Table;

pub(crate) struct Merged {
    /// The united sets, by first object.
    pub(crate) sets: Vec<Vec<usize>>,
    /// Cannot-links within them.
    pub(crate) violated: usize,
}

/// What uniting two sets costs: cannot-links broken first, then the diameter.
type Cost = (usize, f64);

fn cheaper(a: Cost, b: Cost) -> bool {
    a.0 < b.0 || (a.0 == b.0 && a.1 < b.1)
}

/// What uniting any two of the labelled sets costs.
fn costs<R: Table>(
    rows: &R,
    side: &SideInformation,
    watch: &mut Watch<'_>,
) -> Result<Array2<Cost>> {
    let sets = side.labelled_sets();
    let mut pace = Pace::new(watch.observer());
    let mut all = |set: &Vec<usize>| {
        pace.work(set.len().saturating_mul(rows.d()))?;
        set.iter().map(|&i| rows.row(i)).collect()
    };
    let points: Vec<Vec<Vec<f64>>> = sets.iter().map(&mut all).collect::<Result<_>>()?;
    let m = sets.len();
    let mut cost = room::table_of(m, m, |_| (0, 0.0))?;
    let mut pace = Pace::new(watch.observer());
    for a in 0..m {
        watch.step(0)?;
        for b in a + 1..m {
            let mut far = 0.0f64;
            for x in &points[a] {
                pace.work(points[b].len().saturating_mul(rows.d()))?;
                for y in &points[b] {
                    far = far.max(squared(x, y));
                }
            }
            let broken = if side.are_apart(a, b) { points[a].len() * points[b].len() } else { 0 };
            cost[[a, b]] = (broken, far);
            cost[[b, a]] = (broken, far);
        }
    }
    Ok(cost)
}

/// Unites the labelled sets to `clusters` of them, always the two whose union costs least. Both
/// parts of the cost only grow as sets do, so that what was not cheapest for a set need not be
/// looked at again.
pub(crate) fn merge_sets<R: Table>(
    rows: &R,
    side: &SideInformation,
    clusters: usize,
    budget: MemoryBudget,
    watch: &mut Watch<'_>,
) -> Result<Merged> {
    let m = side.labelled_sets().len();
    let tables = [(m, 2 * m), (side.labelled_objects().len(), rows.d() + 4)];
    budget.check_tables("costs of uniting sets", &tables, 8)?;
    let mut sets: Vec<Vec<usize>> = side.labelled_sets().to_vec();
    let mut cost = costs(rows, side, watch)?;
    let mut alive = vec![true; m];
    let cheapest = |a: usize, alive: &[bool], cost: &Array2<Cost>| {
        (a + 1..m).filter(|&b| alive[b]).fold(None, |best: Option<usize>, b| match best {
            Some(c) if !cheaper(cost[[a, b]], cost[[a, c]]) => Some(c),
            _ => Some(b),
        })
    };
    let mut pace = Pace::new(watch.observer());
    let mut partner = Vec::with_capacity(m);
    for a in 0..m {
        pace.work(m)?;
        partner.push(cheapest(a, &alive, &cost));
    }
    let mut violated = 0;
    for _ in clusters..m {
        watch.step(0)?;
        let best = (0..m)
            .filter(|&a| alive[a])
            .filter_map(|a| Some((a, partner[a]?)))
            .reduce(|x, y| if cheaper(cost[[y.0, y.1]], cost[[x.0, x.1]]) { y } else { x });
        let Some((a, b)) = best else { break };
        violated += cost[[a, b]].0;
        alive[b] = false;
        let moved = std::mem::take(&mut sets[b]);
        sets[a].extend(moved);
        for c in (0..m).filter(|&c| alive[c] && c != a) {
            let joined = (cost[[a, c]].0 + cost[[b, c]].0, cost[[a, c]].1.max(cost[[b, c]].1));
            cost[[a, c]] = joined;
            cost[[c, a]] = joined;
        }
        for c in (0..m).filter(|&c| alive[c]) {
            if c == a || partner[c] == Some(a) || partner[c] == Some(b) {
                pace.work(m)?;
                partner[c] = cheapest(c, &alive, &cost);
            }
        }
    }
    let mut sets: Vec<Vec<usize>> = sets.into_iter().filter(|s| !s.is_empty()).collect();
    sets.iter_mut().for_each(|s| s.sort_unstable());
    sets.sort_unstable();
    Ok(Merged { sets, violated })
}

#[cfg(test)]
mod tests {
    use super::*;
    use consilience_core::{Constraints, Link, Seed};

    /// The cheapest union again and again, every cost computed anew.
    fn reference(x: &Array2<f64>, side: &SideInformation, k: usize) -> (Vec<Vec<usize>>, usize) {
        let cannot: Vec<(usize, usize)> = side.cannot_links().collect();
        let mut sets = side.labelled_sets().to_vec();
        let within =
            |s: &[usize]| cannot.iter().filter(|c| s.contains(&c.0) && s.contains(&c.1)).count();
        while sets.len() > k {
            let mut best: Option<(Cost, usize, usize)> = None;
            for a in 0..sets.len() {
                for b in a + 1..sets.len() {
                    let union = [sets[a].clone(), sets[b].clone()].concat();
                    let broken = within(&union) - within(&sets[a]) - within(&sets[b]);
                    let mut far = 0.0f64;
                    for &i in &sets[a] {
                        for &j in &sets[b] {
                            far = far.max((&x.row(i) - &x.row(j)).mapv(|v| v * v).sum());
                        }
                    }
                    if best.is_none_or(|c| cheaper((broken, far), c.0)) {
                        best = Some(((broken, far), a, b));
                    }
                }
            }
            let (_, a, b) = best.unwrap();
            let gone = sets.remove(b);
            sets[a].extend(gone);
        }
        let violated = sets.iter().map(|s| within(s)).sum();
        sets.iter_mut().for_each(|s| s.sort_unstable());
        sets.sort();
        (sets, violated)
    }

    #[test]
    fn equals_the_reference() {
        for seed in 0..200 {
            let mut s = Seed(seed).stream();
            let n = 12;
            // Distances without ties.
            let x = Array2::from_shape_simple_fn((n, 2), || s.normal());
            let mut c = Constraints::new(n).unwrap();
            for _ in 0..s.below(20) {
                let link = if s.below(3) == 0 { Link::Must } else { Link::Cannot };
                let _ = c.add(s.below(n), s.below(n), link);
            }
            let side = SideInformation::from_constraints(&c);
            let k = 1 + s.below(4);
            if side.labelled_sets().len() <= k {
                continue;
            }
            let rows = consilience_num::rows::Rows::new(x.view());
            let mut watch = Watch::new(&(), "", 0);
            let found = merge_sets(&rows, &side, k, MemoryBudget::default(), &mut watch).unwrap();
            let (sets, violated) = reference(&x, &side, k);
            assert_eq!((found.sets, found.violated), (sets, violated), "seed {seed}");
        }
    }
}
