//! Constraints until MCCC recovers five equal clusters perfectly: on random pairs, and on chosen
//! ones (the open question 7.2 of the thesis).

use consilience::completion::{Basis, Mccc};
use consilience::ndarray::{Array2, ArrayView2};
use consilience::scores::adjusted_rand;
use consilience::{Constraints, Link, Pair, Partition, Result, Seed, SideInformation};

use crate::explore::{Explore, Next, square};
use crate::{Failure, head, row};

const CLUSTERS: usize = 5;
const COLUMNS: usize = 15;
const SIZES: [usize; 4] = [2_000, 5_000, 20_000, 50_000];
/// No more constraints than this are tried.
const MOST: usize = 4_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Asks {
    Random,
    /// Farthest-first, then random objects, each against one object of every class.
    Explore,
    /// The same for each class, then the objects whose class the completion leaves open.
    Uncertain,
}

const WAYS: [(&str, Asks); 3] = [
    ("random pairs", Asks::Random),
    ("Explore and Consolidate", Asks::Explore),
    ("explored, then the least sure", Asks::Uncertain),
];

struct World {
    x: Array2<f64>,
    truth: Partition,
    seed: Seed,
}

/// What a fit says.
struct Fitted {
    recovered: bool,
    embedding: Array2<f64>,
}

impl World {
    fn new(n: usize, noise: f64, seed: u64) -> Result<Self> {
        let mut stream = Seed(seed).derive("world", n as u64).stream();
        let g = Array2::from_shape_simple_fn((CLUSTERS, COLUMNS), || stream.normal());
        let x = Array2::from_shape_fn((n, COLUMNS), |(i, j)| {
            g[[i % CLUSTERS, j]] + if noise > 0.0 { noise * stream.normal() } else { 0.0 }
        });
        let truth = Partition::from_fn(n, |i| Some((i % CLUSTERS) as u64))?;
        Ok(World { x, truth, seed: Seed(seed) })
    }

    fn fit(&self, pairs: &[Pair]) -> Result<Fitted> {
        let mut constraints = Constraints::new(self.truth.n_objects())?;
        constraints.extend(pairs)?;
        let side = SideInformation::from_constraints(&constraints);
        let mccc = Mccc::new(CLUSTERS).basis(Basis::Singular);
        let found = mccc.fit_completed(self.x.view(), &side, &())?;
        // Plain spectral clustering, the answer to too few constraints, does not count.
        let completed = found.report.objective.is_some();
        let ari = adjusted_rand(&found.output.clustering.partition, &self.truth)?;
        let embedding = found.output.similarity.embedding().to_owned();
        Ok(Fitted { recovered: completed && ari == 1.0, embedding })
    }

    fn same(&self, i: usize, j: usize) -> bool {
        self.truth.label(i) == self.truth.label(j)
    }

    /// The answers in the order in which they are asked for, where that does not hang on fits.
    fn listed(&self, asks: Asks) -> Vec<Pair> {
        let n = self.truth.n_objects();
        let mut stream = self.seed.derive("asked", n as u64).stream();
        let mut out = Vec::new();
        if asks == Asks::Random {
            while out.len() < MOST {
                let i = stream.below(n);
                let j = (i + 1 + stream.below(n - 1)) % n;
                let link = if self.same(i, j) { Link::Must } else { Link::Cannot };
                out.push(Pair { i, j, link });
            }
            return out;
        }
        let mut explore = Explore::new(&self.x, CLUSTERS, Next::Random, stream);
        // An object costs up to as many answers as there are classes.
        for _ in 0..MOST / 10 {
            out.extend(explore.place(&mut |i, j| self.same(i, j)));
        }
        out
    }

    /// The least number from which on recovery is perfect, as far as halving sees.
    fn least(&self, pairs: &[Pair]) -> Result<usize> {
        let recovers =
            |count: usize| Ok::<_, consilience::Error>(self.fit(&pairs[..count])?.recovered);
        let (mut low, mut high) = (0, 8);
        while high < pairs.len() && !recovers(high)? {
            (low, high) = (high, 2 * high);
        }
        high = high.min(pairs.len());
        while high - low > (low / 32).max(1) {
            let middle = low.midpoint(high);
            if recovers(middle)? { high = middle } else { low = middle }
        }
        Ok(high)
    }

    /// Answers until a fit first recovers all: farthest-first until each class is known, then two
    /// objects at a time, or one for every 20 answers there are, whose similarity to two known
    /// objects differs least, each compared with the classes in the order of that similarity until
    /// one answer is "same".
    fn uncertain(&self) -> Result<usize> {
        let n = self.truth.n_objects();
        let stream = self.seed.derive("asked", n as u64).stream();
        let mut explore = Explore::new(&self.x, CLUSTERS, Next::Random, stream);
        let mut pairs: Vec<Pair> = Vec::new();
        let mut known: Vec<usize> = Vec::new();
        while known.len() < CLUSTERS && pairs.len() < MOST {
            let said = explore.place(&mut |i, j| self.same(i, j));
            if said.is_empty() {
                break;
            }
            for i in said.iter().flat_map(|p| [p.i, p.j]) {
                if known.iter().all(|&c| !self.same(i, c)) {
                    known.push(i);
                }
            }
            pairs.extend(said);
        }
        let mut asked = vec![false; n];
        pairs.iter().for_each(|p| (asked[p.i], asked[p.j]) = (true, true));
        loop {
            let fitted = self.fit(&pairs)?;
            if fitted.recovered || pairs.len() >= MOST {
                return Ok(pairs.len());
            }
            let mut order: Vec<(f64, usize)> = (0..n)
                .filter(|&i| !asked[i])
                .map(|i| (margin(fitted.embedding.view(), i, &known), i))
                .collect();
            order.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            for &(_, i) in order.iter().take((pairs.len() / 20).max(2)) {
                asked[i] = true;
                let rows = fitted.embedding.view();
                let mut classes: Vec<(f64, usize)> =
                    known.iter().map(|&c| (square(rows.row(i), rows.row(c)), c)).collect();
                classes.sort_by(|a, b| a.0.total_cmp(&b.0));
                for (_, c) in classes {
                    if self.same(i, c) {
                        pairs.push(Pair::must_link(i, c));
                        break;
                    }
                    pairs.push(Pair::cannot_link(i, c));
                }
            }
        }
    }
}

/// How much nearer an object is to its nearest known object than to the second.
fn margin(rows: ArrayView2<'_, f64>, i: usize, known: &[usize]) -> f64 {
    let mut all: Vec<f64> =
        known.iter().map(|&c| square(rows.row(i), rows.row(c)).sqrt()).collect();
    all.sort_by(f64::total_cmp);
    let scale = all.iter().sum::<f64>().max(f64::MIN_POSITIVE);
    (all[1] - all[0]) / scale
}

pub(crate) fn table(seeds: u64) -> std::result::Result<String, Failure> {
    let titles = ["noise", "constraints on"].map(String::from);
    let sizes = SIZES.map(|n| format!("N = {n}"));
    let last = ["slope in ln N".to_string()];
    let mut text = head(titles.into_iter().chain(sizes).chain(last));
    for noise in [0.0, 0.3, 0.5] {
        for (what, asks) in WAYS {
            let mut cells = Vec::new();
            let mut points = Vec::new();
            for n in SIZES {
                let mut counts = Vec::new();
                for seed in 0..seeds {
                    let world = World::new(n, noise, seed)?;
                    counts.push(match asks {
                        Asks::Uncertain => world.uncertain()?,
                        _ => world.least(&world.listed(asks))?,
                    });
                }
                counts.sort_unstable();
                let middle = counts[counts.len() / 2];
                cells.push(format!("{middle} ({} to {})", counts[0], counts[counts.len() - 1]));
                points.push(((n as f64).ln(), middle as f64));
            }
            cells.push(format!("{:.1}", slope(&points)));
            let line = row([noise.to_string(), what.to_string()].into_iter().chain(cells));
            eprint!("{line}");
            text += &line;
        }
    }
    Ok(text)
}

/// By least squares.
fn slope(points: &[(f64, f64)]) -> f64 {
    let n = points.len() as f64;
    let (mx, my) =
        (points.iter().map(|p| p.0).sum::<f64>() / n, points.iter().map(|p| p.1).sum::<f64>() / n);
    points.iter().map(|p| (p.0 - mx) * (p.1 - my)).sum::<f64>()
        / points.iter().map(|p| (p.0 - mx) * (p.0 - mx)).sum::<f64>()
}
