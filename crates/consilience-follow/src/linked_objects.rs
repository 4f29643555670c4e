//! Where linked objects go: by their links at their word, or against prices of broken links.

use std::collections::BTreeMap;

use consilience_core::{Constraints, Link, Observer, Pair, Result, Seed, SideInformation};
use consilience_num::reduce::try_map_each;

use crate::disputed::agrees;

/// Sweeps over the linked groups at most.
const SWEEPS: usize = 20;
/// Prices of a broken link that are tried one after the other, in units of the mean margin of the
/// linked objects between their nearest two centres. With the first a link alone does not move an
/// object that is sure of its centre by more than this; two or three links that agree do. With the
/// last no link moves anything.
const SHARES: [f64; 3] = [0.5, 0.2, 0.0];
/// A move must gain more than this share of the price, so that rounding moves nothing.
const LEAST_GAIN: f64 = 1e-9;
/// Standard errors by which held-out links must be better kept for links to be set aside: as many
/// as a score must be above chance. Two links that say so alone are not enough.
const SURE: f64 = 1.5;

/// Draws of folds: by a single one it is chance which way is taken.
const DRAWS: usize = 5;

/// Centres of linked objects.
pub(crate) type Placed = BTreeMap<usize, usize>;

/// What it costs to give linked objects each of k centres.
pub(crate) struct LinkedObjects {
    centres: usize,
    /// For each linked object; `None` where no member labels it.
    costs: BTreeMap<usize, Option<Vec<f64>>>,
    /// Price of a cannot-linked group at the same centre where must-links hold.
    spread: f64,
}

/// The first of the lowest.
fn lowest(cost: &[f64]) -> usize {
    (1..cost.len()).fold(0, |best, h| if cost[h] < cost[best] { h } else { best })
}

fn add(sum: &mut [f64], cost: &[f64]) {
    sum.iter_mut().zip(cost).for_each(|(s, c)| *s += c);
}

/// The objects that links are about, ascending.
pub(crate) fn linked(links: &[Pair]) -> Vec<usize> {
    let mut objects: Vec<usize> = links.iter().flat_map(|l| [l.i, l.j]).collect();
    objects.sort_unstable();
    objects.dedup();
    objects
}

impl LinkedObjects {
    pub(crate) fn new(
        centres: usize,
        costs: BTreeMap<usize, Option<Vec<f64>>>,
        spread: f64,
    ) -> Self {
        LinkedObjects { centres, costs, spread }
    }

    /// The costs of an object that some member labels.
    fn cost(&self, object: usize) -> Option<&[f64]> {
        self.costs.get(&object)?.as_deref()
    }

    /// The mean margin, by which links have prices; nothing where it would not be above 0.
    fn price(&self) -> Option<f64> {
        let margin = |cost: &Vec<f64>| {
            let best = lowest(cost);
            let others = (0..cost.len()).filter(|&h| h != best).map(|h| cost[h] - cost[best]);
            others.fold(f64::INFINITY, f64::min)
        };
        let margins: Vec<f64> = self.costs.values().flatten().map(margin).collect();
        let price = margins.iter().sum::<f64>() / margins.len().max(1) as f64;
        (price > 0.0 && price.is_finite()).then_some(price)
    }

    /// Every set of must-linked objects at the centre that is best for all of them together, where
    /// `spread` is added for each cannot-linked set that has the same centre.
    pub(crate) fn held(&self, constraints: &Constraints) -> Placed {
        let side = SideInformation::from_constraints(constraints);
        let groups = side.labelled_sets();
        let mut apart = vec![Vec::new(); groups.len()];
        for (a, b) in side.sets_apart() {
            apart[a].push(b);
            apart[b].push(a);
        }
        let together = |group: &Vec<usize>| {
            group.iter().filter_map(|&i| self.cost(i)).fold(None, |sum, cost| {
                let mut sum = sum.unwrap_or_else(|| vec![0.0; self.centres]);
                add(&mut sum, cost);
                Some(sum)
            })
        };
        let cost: Vec<Option<Vec<f64>>> = groups.iter().map(together).collect();
        let mut at: Vec<Option<usize>> =
            cost.iter().map(|c| c.as_ref().map(|c| lowest(c))).collect();
        for _ in 0..SWEEPS {
            let mut moved = false;
            for (a, cost) in cost.iter().enumerate() {
                let (Some(cost), Some(now)) = (cost, at[a]) else { continue };
                let mut priced = cost.clone();
                apart[a].iter().filter_map(|&b| at[b]).for_each(|h| priced[h] += self.spread);
                let to = lowest(&priced);
                if priced[to] < priced[now] {
                    at[a] = Some(to);
                    moved = true;
                }
            }
            if !moved {
                break;
            }
        }
        let known = side.labelled_objects().iter();
        known.filter_map(|&(i, set)| at[set].map(|h| (i, h))).collect()
    }

    /// Every linked object where it costs least with a price for each broken link. Of the ends of
    /// two searches, from the nearest centres and from where links hold, the cheaper: the former
    /// does not know which sets belong together, the latter cannot divide a large one.
    fn weighed(&self, links: &[Pair], held: &Placed, price: f64) -> Placed {
        let objects = linked(links);
        let place = |i: usize| objects.binary_search(&i).unwrap_or(0);
        let mut near = vec![Vec::new(); objects.len()];
        for l in links {
            let (a, b) = (place(l.i), place(l.j));
            near[a].push((b, l.link));
            near[b].push((a, l.link));
        }
        // One that no member labels may be anywhere: chains through it count.
        let anywhere = vec![0.0; self.centres];
        let cost = objects.iter().map(|&i| self.cost(i).unwrap_or(&anywhere)).collect();
        let search = PricedLinks { cost, near, price };
        let nearest = search.cost.iter().map(|cost| lowest(cost)).collect();
        let from_nearest = search.settled(nearest);
        let from_held =
            search.settled(objects.iter().map(|i| held.get(i).copied().unwrap_or(0)).collect());
        let cheaper = search.total(&from_nearest) < search.total(&from_held);
        objects.into_iter().zip(if cheaper { from_nearest } else { from_held }).collect()
    }

    /// Whether a link is kept; objects without links are at the nearest centre, and nothing is
    /// known where no member labels one.
    fn keeps(&self, placed: &Placed, l: &Pair) -> Option<bool> {
        let at = |i: usize| {
            let nearest = self.cost(i).map(lowest)?;
            Some(placed.get(&i).copied().unwrap_or(nearest))
        };
        Some((at(l.i)? == at(l.j)?) == (l.link == Link::Must))
    }

    /// Where linked objects go by prices, or without any links, in place of where links hold, if
    /// links that are held out are more often kept then: the mean of the shares of must-links and
    /// of cannot-links must be better by more than one and a half standard errors. `constraints`
    /// are those of the links that do not contradict others before them. Were links counted without
    /// their kinds, one cluster that wrong must-links tie together would be right about every
    /// must-link. Folds are drawn more than once.
    ///
    /// # Errors
    /// [`ErrorKind::Cancelled`](consilience_core::ErrorKind::Cancelled).
    pub(crate) fn better_weighed(
        &self,
        constraints: &Constraints,
        links: &[Pair],
        folds: usize,
        observer: &dyn Observer,
    ) -> Result<Option<Placed>> {
        let Some(price) = self.price() else { return Ok(None) };
        let (nearest, held) = (Placed::new(), self.held(constraints));
        let broken =
            |l: &Pair| [&nearest, &held].map(|at| self.keeps(at, l)).contains(&Some(false));
        if !links.iter().any(broken) {
            return Ok(None);
        }
        let fold_of = draws(links.len(), folds);
        let judged = |part: usize| -> Result<Vec<Kept>> {
            observer.check()?;
            let (draw, fold) = (&fold_of[part / folds], part % folds);
            let of_fold = |out: bool| {
                let numbered = links.iter().zip(draw).filter(move |(_, f)| (**f == fold) == out);
                numbered.map(|(&link, _)| link)
            };
            let mut others = Constraints::new(constraints.n_objects())?;
            let known: Vec<Pair> = of_fold(false).collect();
            for &link in &known {
                agrees(&mut others, link)?;
            }
            let held = self.held(&others);
            let priced = SHARES.map(|share| self.weighed(&known, &held, share * price));
            let kept = |l: Pair| -> Option<Kept> {
                let mut by = [self.keeps(&held, &l)?; 1 + SHARES.len()];
                for (by, placed) in by[1..].iter_mut().zip(&priced) {
                    *by = self.keeps(placed, &l)?;
                }
                Some(((l.i, l.j, l.link), by))
            };
            Ok(of_fold(true).filter_map(kept).collect())
        };
        let mut kept = try_map_each(folds * DRAWS, &judged)?.concat();
        kept.sort_unstable_by_key(|&((i, j, link), _)| (i, j, link == Link::Must));
        let ways = 1..=SHARES.len();
        let best = ways.fold(0, |best, way| if better(&kept, way, best) { way } else { best });
        Ok((best > 0).then(|| self.weighed(links, &held, SHARES[best - 1] * price)))
    }
}

/// A link that was held out, and whether it is kept where links hold and with each price.
type Kept = ((usize, usize, Link), [bool; 1 + SHARES.len()]);

/// For each draw the folds of all links: by their numbers first, then by chance.
fn draws(links: usize, folds: usize) -> Vec<Vec<usize>> {
    let fold_of = |draw: usize| {
        let mut fold_of: Vec<usize> = (0..links).map(|t| t % folds).collect();
        if draw > 0 {
            Seed(0).derive("folds of links", draw as u64).stream().shuffle(&mut fold_of);
        }
        fold_of
    };
    (0..DRAWS).map(fold_of).collect()
}

/// Whether held-out links speak for one way to place objects over another, those of a link standing
/// one behind the other: what was drawn more than once does not count more.
fn better(kept: &[Kept], way: usize, other: usize) -> bool {
    let (mut gain, mut variance) = (0.0, 0.0);
    for kind in [Link::Must, Link::Cannot] {
        let own = kept.chunk_by(|a, b| a.0 == b.0).filter(|draws| draws[0].0.2 == kind);
        let gains: Vec<f64> = own
            .map(|draws| {
                let more = |by: &[bool; 1 + SHARES.len()]| {
                    f64::from(u8::from(by[way])) - f64::from(u8::from(by[other]))
                };
                draws.iter().map(|(_, by)| more(by)).sum::<f64>() / draws.len() as f64
            })
            .collect();
        let all = gains.len().max(1) as f64;
        gain += gains.iter().sum::<f64>() / all;
        variance += gains.iter().map(|gain| gain * gain).sum::<f64>() / (all * all);
    }
    gain > 0.0 && gain * gain > SURE * SURE * variance
}

/// Linked objects by their places, each of whose broken links has a price.
struct PricedLinks<'a> {
    cost: Vec<&'a [f64]>,
    /// For each the objects that it is linked to.
    near: Vec<Vec<(usize, Link)>>,
    price: f64,
}

impl PricedLinks<'_> {
    /// What all objects and all broken links cost.
    fn total(&self, at: &[usize]) -> f64 {
        let broken = |a: usize| {
            let links = self.near[a].iter();
            links.filter(|&&(b, link)| (at[a] == at[b]) != (link == Link::Must)).count()
        };
        let own: f64 = self.cost.iter().zip(at).map(|(cost, &h)| cost[h]).sum();
        // Each link is at both of its objects.
        own + 0.5 * self.price * (0..at.len()).map(broken).sum::<usize>() as f64
    }

    /// Moves single objects, then whole sets that are tied by kept must-links, until nothing gains.
    fn settled(&self, mut at: Vec<usize>) -> Vec<usize> {
        let single: Vec<Vec<usize>> = (0..at.len()).map(|a| vec![a]).collect();
        for _ in 0..SWEEPS {
            let mut moved = false;
            for _ in 0..SWEEPS {
                if !self.sweep(&single, &mut at) {
                    break;
                }
                moved = true;
            }
            moved |= self.sweep(&self.tied(&at), &mut at);
            if !moved {
                break;
            }
        }
        at
    }

    /// Sets of objects that must-links tie which are kept.
    fn tied(&self, at: &[usize]) -> Vec<Vec<usize>> {
        let mut seen = vec![false; at.len()];
        let mut sets = Vec::new();
        for first in 0..at.len() {
            if std::mem::replace(&mut seen[first], true) {
                continue;
            }
            let (mut set, mut next) = (vec![first], 0);
            while let Some(&a) = set.get(next) {
                next += 1;
                for &(b, link) in &self.near[a] {
                    let ties = link == Link::Must && at[a] == at[b];
                    if ties && !std::mem::replace(&mut seen[b], true) {
                        set.push(b);
                    }
                }
            }
            sets.push(set);
        }
        sets
    }

    /// Moves each set, whose objects have one centre, to the centre where it costs least; whether
    /// any moved.
    fn sweep(&self, sets: &[Vec<usize>], at: &mut [usize]) -> bool {
        let mut inside = vec![false; at.len()];
        let mut moved = false;
        for set in sets {
            set.iter().for_each(|&a| inside[a] = true);
            let mut priced = vec![0.0; self.cost[set[0]].len()];
            for &a in set {
                add(&mut priced, self.cost[a]);
                for &(b, link) in self.near[a].iter().filter(|(b, _)| !inside[*b]) {
                    match link {
                        Link::Must => priced[at[b]] -= self.price,
                        Link::Cannot => priced[at[b]] += self.price,
                    }
                }
            }
            set.iter().for_each(|&a| inside[a] = false);
            let (now, to) = (at[set[0]], lowest(&priced));
            if priced[to] < priced[now] - LEAST_GAIN * self.price {
                set.iter().for_each(|&a| at[a] = to);
                moved = true;
            }
        }
        moved
    }
}
