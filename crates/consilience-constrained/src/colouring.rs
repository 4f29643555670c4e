//! List colouring: groups that are apart must get different clusters, each cheap.

use consilience_core::{Error, ErrorKind, Pace, Result, room};

/// A first colouring in which no two neighbours are alike, cheap by greed; colours are `0..k` and
/// `cost(v, c)` prefers one.
///
/// Nodes with fewer than k neighbours can always be coloured last: they are peeled off until none
/// is left, and only the core is searched, by saturation (fewest colours left first; Brelaz 1979)
/// with backtracking. Colours that no node of the core has yet are interchangeable, so that only
/// one of them is tried.
///
/// # Errors
/// `Contradiction` where no colouring exists, `TooLarge` where `limit` steps have not decided that
/// or there is no memory for colours of nodes, `Cancelled`.
pub(crate) fn colour(
    neighbours: &[Vec<usize>],
    k: usize,
    cost: impl Fn(usize, usize) -> f64,
    limit: usize,
    pace: &mut Pace<'_>,
) -> Result<Vec<usize>> {
    let n = neighbours.len();
    let (peeled, core) = peel(neighbours, k);
    let mut colour = vec![usize::MAX; n];
    let mut in_core = vec![false; n];
    core.iter().for_each(|&v| in_core[v] = true);
    let mut steps = 0;
    for part in components(neighbours, &core, &in_core) {
        Search::new(neighbours, &part, k, &cost)?.run(limit, &mut steps, &mut colour, pace)?;
    }
    for &v in peeled.iter().rev() {
        pace.work(k.saturating_add(neighbours[v].len()))?;
        let mut taken = vec![false; k];
        neighbours[v].iter().filter(|&&u| colour[u] < k).for_each(|&u| taken[colour[u]] = true);
        // One is free: fewer than k neighbours were left when v was peeled.
        let best = (0..k).filter(|&c| !taken[c]).min_by(|&a, &b| cost(v, a).total_cmp(&cost(v, b)));
        colour[v] = best.unwrap_or(0);
    }
    Ok(colour)
}

/// Nodes in the order of peeling, and the core that is left.
fn peel(neighbours: &[Vec<usize>], k: usize) -> (Vec<usize>, Vec<usize>) {
    let n = neighbours.len();
    let mut degree: Vec<usize> = neighbours.iter().map(Vec::len).collect();
    let mut gone = vec![false; n];
    let mut peeled: Vec<usize> = (0..n).filter(|&v| degree[v] < k).collect();
    peeled.iter().for_each(|&v| gone[v] = true);
    let mut at = 0;
    while at < peeled.len() {
        for &u in &neighbours[peeled[at]] {
            if !gone[u] {
                degree[u] -= 1;
                if degree[u] < k {
                    gone[u] = true;
                    peeled.push(u);
                }
            }
        }
        at += 1;
    }
    let core = (0..n).filter(|&v| !gone[v]).collect();
    (peeled, core)
}

fn components(neighbours: &[Vec<usize>], core: &[usize], in_core: &[bool]) -> Vec<Vec<usize>> {
    let mut seen = vec![false; neighbours.len()];
    let mut out = Vec::new();
    for &start in core {
        if seen[start] {
            continue;
        }
        seen[start] = true;
        let mut part = vec![start];
        let mut at = 0;
        while at < part.len() {
            for &u in &neighbours[part[at]] {
                if in_core[u] && !seen[u] {
                    seen[u] = true;
                    part.push(u);
                }
            }
            at += 1;
        }
        part.sort_unstable();
        out.push(part);
    }
    out
}

/// A node on the search path, with the colours still to try, the best last.
struct Level {
    node: usize,
    left: Vec<usize>,
}

/// What sorting takes for each colour, in additions.
const SORTING: usize = 16;

/// The search for the colours of one connected part of the core.
struct Search<'a, C> {
    neighbours: &'a [Vec<usize>],
    part: &'a [usize],
    /// Number of a node within the part.
    number: Vec<usize>,
    k: usize,
    cost: &'a C,
    /// How many neighbours of a node have each colour.
    taken: Vec<u32>,
    /// Colours that no neighbour of a node has.
    open: Vec<usize>,
    /// Nodes of each colour.
    used: Vec<usize>,
    path: Vec<Level>,
}

impl<'a, C: Fn(usize, usize) -> f64> Search<'a, C> {
    fn new(neighbours: &'a [Vec<usize>], part: &'a [usize], k: usize, cost: &'a C) -> Result<Self> {
        let mut number = vec![usize::MAX; neighbours.len()];
        part.iter().enumerate().for_each(|(p, &v)| number[v] = p);
        Ok(Search {
            neighbours,
            part,
            number,
            k,
            cost,
            taken: room::zeros(part.len().saturating_mul(k))?,
            open: vec![k; part.len()],
            used: vec![0; k],
            path: Vec::new(),
        })
    }

    /// Colours the part; `steps` counts on, up to `limit`.
    fn run(
        &mut self,
        limit: usize,
        steps: &mut usize,
        colour: &mut [usize],
        pace: &mut Pace<'_>,
    ) -> Result<()> {
        while let Some(level) = self.choose(colour) {
            pace.work(self.part.len().saturating_add(SORTING.saturating_mul(self.k)))?;
            self.path.push(level);
            self.advance(limit, steps, colour, pace)?;
        }
        Ok(())
    }

    /// The node with the fewest colours left.
    fn choose(&self, colour: &[usize]) -> Option<Level> {
        let next =
            self.part.iter().enumerate().filter(|&(_, &v)| colour[v] == usize::MAX).min_by_key(
                |&(p, &v)| (self.open[p], std::cmp::Reverse(self.neighbours[v].len())),
            )?;
        let (p, &node) = next;
        let mut left: Vec<usize> =
            (0..self.k).filter(|&c| self.taken[p * self.k + c] == 0).collect();
        left.sort_by(|&a, &b| (self.cost)(node, b).total_cmp(&(self.cost)(node, a)));
        // Of the colours not used yet, the cheapest alone.
        let fresh = left.iter().rposition(|&c| self.used[c] == 0);
        let mut at = 0;
        left.retain(|&c| {
            at += 1;
            self.used[c] > 0 || Some(at - 1) == fresh
        });
        left.shrink_to_fit();
        Some(Level { node, left })
    }

    /// Colours the last node of the path, and goes back while it has no colour left.
    fn advance(
        &mut self,
        limit: usize,
        steps: &mut usize,
        colour: &mut [usize],
        pace: &mut Pace<'_>,
    ) -> Result<()> {
        loop {
            let Some(level) = self.path.last_mut() else { return Err(self.impossible(*steps)) };
            let (v, next) = (level.node, level.left.pop());
            pace.work(self.neighbours[v].len().saturating_mul(2))?;
            self.clear(v, colour);
            let Some(c) = next else {
                self.path.pop();
                continue;
            };
            *steps += 1;
            if *steps > limit {
                return Err(undecided(limit, self.k));
            }
            if self.set(v, c, colour) {
                return Ok(());
            }
        }
    }

    /// Takes a node's colour away, where it has one.
    fn clear(&mut self, v: usize, colour: &mut [usize]) {
        let c = std::mem::replace(&mut colour[v], usize::MAX);
        if c == usize::MAX {
            return;
        }
        self.used[c] -= 1;
        for &u in &self.neighbours[v] {
            let q = self.number[u];
            if q != usize::MAX {
                self.taken[q * self.k + c] -= 1;
                self.open[q] += usize::from(self.taken[q * self.k + c] == 0);
            }
        }
    }

    /// Colours a node; whether every neighbour has a colour left.
    fn set(&mut self, v: usize, c: usize, colour: &mut [usize]) -> bool {
        colour[v] = c;
        self.used[c] += 1;
        let mut alive = true;
        for &u in &self.neighbours[v] {
            let q = self.number[u];
            if q != usize::MAX {
                self.open[q] -= usize::from(self.taken[q * self.k + c] == 0);
                self.taken[q * self.k + c] += 1;
                alive &= self.open[q] > 0 || colour[u] != usize::MAX;
            }
        }
        alive
    }

    fn impossible(&self, steps: usize) -> Error {
        Error::new(
            ErrorKind::Contradiction,
            format!(
                "{} clusters cannot satisfy the cannot-links: among the {} sets around object set \
                 {} every assignment breaks one (proven in {steps} steps)",
                self.k,
                self.part.len(),
                self.part[0]
            ),
        )
    }
}

fn undecided(limit: usize, k: usize) -> Error {
    Error::too_large(format!(
        "{limit} steps found no assignment to {k} clusters that satisfies the cannot-links, \
             and no proof that there is none; raise the search limit, or use a method with \
             penalties"
    ))
}

/// Lowers the total cost by swapping two colours along a Kempe chain (all nodes reached from one
/// through nodes of two colours), which keeps neighbours different; a lone node simply moves.
/// Whether anything changed.
pub(crate) fn improve(
    neighbours: &[Vec<usize>],
    k: usize,
    cost: impl Fn(usize, usize) -> f64,
    colour: &mut [usize],
    pace: &mut Pace<'_>,
) -> Result<bool> {
    let n = neighbours.len();
    let mut mark = vec![0u32; n];
    let mut round = 0u32;
    let mut changed = false;
    for v in 0..n {
        pace.work(SORTING.saturating_mul(k))?;
        let mut order: Vec<usize> = (0..k).collect();
        order.sort_by(|&a, &b| cost(v, a).total_cmp(&cost(v, b)));
        for to in order {
            let from = colour[v];
            if !(cost(v, to) < cost(v, from)) {
                break;
            }
            round += 1;
            mark[v] = round;
            let mut chain = vec![v];
            let mut at = 0;
            let (mut gain, mut size) = (0.0, 0.0);
            while at < chain.len() {
                let u = chain[at];
                pace.work(1 + neighbours[u].len())?;
                let other = if colour[u] == from { to } else { from };
                gain += cost(u, other) - cost(u, colour[u]);
                size += cost(u, colour[u]).abs();
                for &w in &neighbours[u] {
                    if mark[w] != round && colour[w] == other {
                        mark[w] = round;
                        chain.push(w);
                    }
                }
                at += 1;
            }
            if gain < -1e-12 * size {
                for u in chain {
                    colour[u] = if colour[u] == from { to } else { from };
                }
                changed = true;
                break;
            }
        }
    }
    Ok(changed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use consilience_core::Seed;

    fn graph(n: usize, edges: &[(usize, usize)]) -> Vec<Vec<usize>> {
        let mut out = vec![Vec::new(); n];
        for &(a, b) in edges {
            if a != b && !out[a].contains(&b) {
                out[a].push(b);
                out[b].push(a);
            }
        }
        out
    }

    /// Every colouring, by counting.
    fn feasible(neighbours: &[Vec<usize>], k: usize) -> bool {
        let n = neighbours.len();
        (0..k.pow(n as u32)).any(|code| {
            let c = |v: usize| code / k.pow(v as u32) % k;
            (0..n).all(|v| neighbours[v].iter().all(|&u| c(u) != c(v)))
        })
    }

    fn proper(neighbours: &[Vec<usize>], colour: &[usize]) -> bool {
        (0..colour.len()).all(|v| neighbours[v].iter().all(|&u| colour[u] != colour[v]))
    }

    #[test]
    fn finds_a_colouring_exactly_where_one_exists() {
        let (mut yes, mut no) = (0, 0);
        for seed in 0..400 {
            let mut s = Seed(seed).stream();
            let n = 1 + s.below(8);
            let k = 1 + s.below(4);
            let edges: Vec<_> = (0..s.below(4 * n)).map(|_| (s.below(n), s.below(n))).collect();
            let g = graph(n, &edges);
            let prices: Vec<f64> = (0..n * k).map(|_| s.uniform()).collect();
            match colour(&g, k, |v, c| prices[v * k + c], 1_000_000, &mut Pace::new(&())) {
                Ok(c) => {
                    assert!(proper(&g, &c) && c.iter().all(|&c| c < k));
                    yes += 1;
                    let total = |c: &[usize]| (0..n).map(|v| prices[v * k + c[v]]).sum::<f64>();
                    let mut better = c.clone();
                    while improve(&g, k, |v, c| prices[v * k + c], &mut better, &mut Pace::new(&()))
                        .unwrap()
                    {}
                    assert!(proper(&g, &better) && total(&better) <= total(&c) + 1e-12);
                }
                Err(e) => {
                    assert_eq!(e.kind(), ErrorKind::Contradiction);
                    assert!(!feasible(&g, k));
                    no += 1;
                }
            }
        }
        assert!(yes > 100 && no > 50, "{yes} {no}");
    }

    #[test]
    fn planted_colourings_are_found() {
        for seed in 0..10 {
            let mut s = Seed(seed).stream();
            let (n, k) = (200, 4);
            let planted: Vec<usize> = (0..n).map(|_| s.below(k)).collect();
            let edges: Vec<_> = (0..1500)
                .map(|_| (s.below(n), s.below(n)))
                .filter(|&(a, b)| planted[a] != planted[b])
                .collect();
            let g = graph(n, &edges);
            let c = colour(
                &g,
                k,
                |v, c| ((v * 7 + c * 13) % 11) as f64,
                1_000_000,
                &mut Pace::new(&()),
            )
            .unwrap();
            assert!(proper(&g, &c));
        }
    }

    #[test]
    fn cliques_and_the_limit_are_told() {
        let all: Vec<_> = (0..9).flat_map(|a| (0..a).map(move |b| (a, b))).collect();
        let error = colour(&graph(9, &all), 8, |_, c| c as f64, 1_000_000, &mut Pace::new(&()))
            .unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Contradiction);
        assert!(error.message().contains("proven"), "{error}");
        assert!(
            colour(&graph(9, &all), 9, |_, c| c as f64, 1_000_000, &mut Pace::new(&())).is_ok()
        );
        let error =
            colour(&graph(9, &all), 8, |_, c| c as f64, 3, &mut Pace::new(&())).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::TooLarge);
    }
}
