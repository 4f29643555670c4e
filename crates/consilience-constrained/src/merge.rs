//! More sets of objects that belong together than clusters: which of them to unite.

use consilience_core::{ErrorKind, MemoryBudget, Pace, Result, SideInformation, Watch, room};
use consilience_num::rows::squared;
use ndarray::Array2;

use crate::colouring::{colour, improve};
use crate::points::Table;

/// Steps of the search for a colouring at most: the default of [`CopKMeans`](crate::CopKMeans).
const SEARCH: usize = 1_000_000;
/// Steps of each search for one that keeps more of what was united: there are many of them.
const AGAIN: usize = 100_000;
/// Passes of chain swaps that make a colouring cheaper.
const PASSES: usize = 20;

pub(crate) struct Merged {
    /// The united sets, by first object.
    pub(crate) sets: Vec<Vec<usize>>,
    /// Cannot-links within them.
    pub(crate) violated: usize,
    /// Whether it is proven that so few clusters cannot satisfy all cannot-links.
    pub(crate) impossible: bool,
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

/// The sets while they are united, and what each further union costs.
struct Unions {
    /// Empty where it went into an earlier one.
    sets: Vec<Vec<usize>>,
    cost: Array2<Cost>,
    /// The later set that each unites with most cheaply.
    partner: Vec<Option<usize>>,
    /// The later set of each went into the earlier.
    done: Vec<(usize, usize)>,
    violated: usize,
}

impl Unions {
    fn new<R: Table>(rows: &R, side: &SideInformation, watch: &mut Watch<'_>) -> Result<Self> {
        let mut new = Unions {
            sets: side.labelled_sets().to_vec(),
            cost: costs(rows, side, watch)?,
            partner: vec![None; side.labelled_sets().len()],
            done: Vec::new(),
            violated: 0,
        };
        new.find_partners(&mut Pace::new(watch.observer()))?;
        Ok(new)
    }

    fn alive(&self) -> impl Iterator<Item = usize> {
        (0..self.sets.len()).filter(|&a| !self.sets[a].is_empty())
    }

    fn cheapest(&self, a: usize) -> Option<usize> {
        let later = (a + 1..self.sets.len()).filter(|&b| !self.sets[b].is_empty());
        later.reduce(|c, b| if cheaper(self.cost[[a, b]], self.cost[[a, c]]) { b } else { c })
    }

    fn find_partners(&mut self, pace: &mut Pace<'_>) -> Result<()> {
        for a in 0..self.sets.len() {
            pace.work(self.sets.len())?;
            self.partner[a] = self.cheapest(a);
        }
        Ok(())
    }

    /// Both parts of the cost only grow as sets do, so that what was not cheapest for a set need
    /// not be looked at again.
    fn unite(&mut self, a: usize, b: usize, pace: &mut Pace<'_>) -> Result<()> {
        self.violated += self.cost[[a, b]].0;
        self.done.push((a, b));
        let moved = std::mem::take(&mut self.sets[b]);
        self.sets[a].extend(moved);
        for c in (0..self.sets.len()).filter(|&c| !self.sets[c].is_empty() && c != a) {
            let (near, far) = (self.cost[[a, c]], self.cost[[b, c]]);
            let joined = (near.0 + far.0, near.1.max(far.1));
            self.cost[[a, c]] = joined;
            self.cost[[c, a]] = joined;
        }
        for c in 0..self.sets.len() {
            let stale = c == a || self.partner[c] == Some(a) || self.partner[c] == Some(b);
            if stale && !self.sets[c].is_empty() {
                pace.work(self.sets.len())?;
                self.partner[c] = self.cheapest(c);
            }
        }
        Ok(())
    }

    /// Unites the two whose union costs least, until so many are left or, unless it may, a
    /// cannot-link would break; whether so many are left.
    fn unite_to(
        &mut self,
        clusters: usize,
        may_break: bool,
        watch: &mut Watch<'_>,
    ) -> Result<bool> {
        let mut pace = Pace::new(watch.observer());
        while self.sets.len() - self.done.len() > clusters {
            watch.step(0)?;
            let pairs = self.alive().filter_map(|a| Some((a, self.partner[a]?)));
            let best = pairs.reduce(|x, y| {
                if cheaper(self.cost[[y.0, y.1]], self.cost[[x.0, x.1]]) { y } else { x }
            });
            let Some((a, b)) = best else { break };
            if self.cost[[a, b]].0 > 0 && !may_break {
                return Ok(false);
            }
            self.unite(a, b, &mut pace)?;
        }
        Ok(true)
    }

    /// Sets of different colours count as apart from here on, and no others.
    fn keep_to(&mut self, colour: &[usize], pace: &mut Pace<'_>) -> Result<()> {
        for ((a, b), cost) in self.cost.indexed_iter_mut() {
            cost.0 = usize::from(colour[a] != colour[b]);
        }
        self.find_partners(pace)
    }

    /// So many sets, each the farthest from those before.
    fn far_apart(&self, count: usize, pace: &mut Pace<'_>) -> Result<Vec<usize>> {
        let mut near = vec![f64::INFINITY; self.sets.len()];
        let mut chosen: Vec<usize> = Vec::with_capacity(count);
        for _ in 0..count {
            pace.work(self.sets.len())?;
            let free = self.alive().filter(|&a| near[a] >= 0.0);
            let Some(next) = free.reduce(|a, b| if near[b] > near[a] { b } else { a }) else {
                break;
            };
            chosen.push(next);
            near.iter_mut().enumerate().for_each(|(a, d)| *d = d.min(self.cost[[a, next]].1));
            near[next] = -1.0;
        }
        Ok(chosen)
    }
}

/// Which sets are apart after these unions; a set that went into another has no neighbours.
fn graph(
    side: &SideInformation,
    done: &[(usize, usize)],
    pace: &mut Pace<'_>,
) -> Result<Vec<Vec<usize>>> {
    let mut root: Vec<usize> = (0..side.labelled_sets().len()).collect();
    // From the last one on, what a set goes into is known before what goes into it.
    done.iter().rev().for_each(|&(a, b)| root[b] = root[a]);
    let mut neighbours = vec![Vec::new(); root.len()];
    for (a, b) in side.sets_apart() {
        pace.work(1)?;
        room::push(&mut neighbours[root[a]], root[b])?;
        room::push(&mut neighbours[root[b]], root[a])?;
    }
    for list in &mut neighbours {
        list.sort_unstable();
        list.dedup();
    }
    Ok(neighbours)
}

/// A colouring in which no two sets that are apart are alike after these unions; else why there
/// is none: `Contradiction` where that is proven, `TooLarge` where the search ended undecided.
fn colouring(
    side: &SideInformation,
    done: &[(usize, usize)],
    clusters: usize,
    limit: usize,
    pace: &mut Pace<'_>,
) -> Result<std::result::Result<Vec<usize>, ErrorKind>> {
    let neighbours = graph(side, done, pace)?;
    match colour(&neighbours, clusters, |_, c| c as f64, limit, pace) {
        Ok(colour) => Ok(Ok(colour)),
        Err(e) if matches!(e.kind(), ErrorKind::Contradiction | ErrorKind::TooLarge) => {
            Ok(Err(e.kind()))
        }
        Err(e) => Err(e),
    }
}

/// As many of the first unions as leave a way to break no link, that way, and else why there is
/// none.
fn way_out(
    side: &SideInformation,
    done: &[(usize, usize)],
    clusters: usize,
    pace: &mut Pace<'_>,
) -> Result<std::result::Result<(usize, Vec<usize>), ErrorKind>> {
    let mut way = match colouring(side, &[], clusters, SEARCH, pace)? {
        Ok(colour) => (0, colour),
        Err(why) => return Ok(Err(why)),
    };
    // A union never makes a colouring possible, and after all of them there is none: every two
    // sets are apart there.
    let mut too_many = done.len();
    while too_many - way.0 > 1 {
        let middle = usize::midpoint(way.0, too_many);
        match colouring(side, &done[..middle], clusters, AGAIN, pace)? {
            Ok(colour) => way = (middle, colour),
            Err(_) => too_many = middle,
        }
    }
    Ok(Ok(way))
}

/// Unites the labelled sets to `clusters` of them, always the two whose union costs least. Where
/// every further union would break a link, goes back to where some k clusters broke none, and
/// from there on unites within these alone.
pub(crate) fn merge_sets<R: Table>(
    rows: &R,
    side: &SideInformation,
    clusters: usize,
    budget: MemoryBudget,
    watch: &mut Watch<'_>,
) -> Result<Merged> {
    let m = side.labelled_sets().len();
    // Sets that are apart are listed with both; lists grow by doubling.
    let lists = (side.sets_apart().count(), 4);
    let tables = [(m, 2 * m), (side.labelled_objects().len(), rows.d() + 4), lists];
    budget.check_tables("costs of uniting sets", &tables, 8)?;
    let mut unions = Unions::new(rows, side, watch)?;
    let mut impossible = false;
    if !unions.unite_to(clusters, false, watch)? {
        let mut pace = Pace::new(watch.observer());
        // The search has the memory of the costs in the meantime.
        let done = std::mem::take(&mut unions.done);
        drop(unions);
        let way = way_out(side, &done, clusters, &mut pace)?;
        let kept = way.as_ref().map_or(done.len(), |&(kept, _)| kept);
        unions = Unions::new(rows, side, watch)?;
        for &(a, b) in &done[..kept] {
            unions.unite(a, b, &mut pace)?;
        }
        match way {
            Ok((kept, mut colour)) => {
                let centres = unions.far_apart(clusters, &mut pace)?;
                let price = |s: usize, c: usize| unions.cost[[s, centres[c]]].1;
                let neighbours = graph(side, &done[..kept], &mut pace)?;
                for _ in 0..PASSES {
                    if !improve(&neighbours, centres.len(), price, &mut colour, &mut pace)? {
                        break;
                    }
                }
                unions.keep_to(&colour, &mut pace)?;
            }
            Err(why) => impossible = why == ErrorKind::Contradiction,
        }
        unions.unite_to(clusters, true, watch)?;
    }
    let mut sets: Vec<Vec<usize>> = unions.sets.into_iter().filter(|s| !s.is_empty()).collect();
    sets.iter_mut().for_each(|s| s.sort_unstable());
    sets.sort_unstable();
    Ok(Merged { sets, violated: unions.violated, impossible })
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

    /// Whether some assignment breaks no link, by trying each set's clusters in turn.
    fn satisfiable(side: &SideInformation, k: usize, of_set: &mut Vec<usize>) -> bool {
        let s = of_set.len();
        s == side.labelled_sets().len()
            || (0..k).any(|c| {
                if (0..s).any(|t| of_set[t] == c && side.are_apart(s, t)) {
                    return false;
                }
                of_set.push(c);
                let found = satisfiable(side, k, of_set);
                of_set.pop();
                found
            })
    }

    #[test]
    fn equals_the_reference_and_breaks_no_link_without_need() {
        let (mut mended, mut none) = (0, 0);
        for seed in 0..400 {
            let mut s = Seed(seed).stream();
            let n = 12;
            // Distances without ties.
            let x = Array2::from_shape_simple_fn((n, 2), || s.normal());
            let mut c = Constraints::new(n).unwrap();
            for _ in 0..s.below(24) {
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
            let can = satisfiable(&side, k, &mut Vec::new());
            assert_eq!(found.impossible, !can, "seed {seed}");
            if violated == 0 || !can {
                assert_eq!((found.sets, found.violated), (sets, violated), "seed {seed}");
                none += usize::from(!can);
                continue;
            }
            mended += 1;
            assert_eq!((found.sets.len(), found.violated), (k, 0), "seed {seed}");
            let within = |(i, j): (usize, usize)| {
                found.sets.iter().any(|set| set.contains(&i) && set.contains(&j))
            };
            assert!(!side.cannot_links().any(within) && side.must_links().all(within));
        }
        assert!(mended > 10 && none > 10, "{mended} {none}");
    }

    /// Sets that were united before the dead end stay so where that leaves a way out, and those
    /// that are near are not parted by it.
    #[test]
    fn a_way_out_keeps_what_is_near() {
        // Two far clusters of five, and within each a chain of links that ends in the other.
        let x = Array2::from_shape_fn((10, 1), |(i, _)| {
            i as f64 % 5.0 * [0.1, 0.12][i / 5] + 50.0 * (i / 5) as f64
        });
        let mut c = Constraints::new(10).unwrap();
        for (i, j) in [(0, 5), (1, 6), (2, 7), (3, 8), (4, 9), (0, 9)] {
            c.add(i, j, Link::Cannot).unwrap();
        }
        let side = SideInformation::from_constraints(&c);
        let rows = consilience_num::rows::Rows::new(x.view());
        let mut watch = Watch::new(&(), "", 0);
        let found = merge_sets(&rows, &side, 2, MemoryBudget::default(), &mut watch).unwrap();
        assert_eq!(found.sets, [[0, 1, 2, 3, 4], [5, 6, 7, 8, 9]]);
        assert_eq!(found.violated, 0);
    }
}
