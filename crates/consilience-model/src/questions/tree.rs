//! Cells joined two by two, those first that belong together most probably.

use std::collections::BTreeMap;

use ndarray::Array2;

/// How much the sizes of two nodes count in their likeness: 0 not at all, 1 as in Ward's linkage.
const SIZES: f64 = 0.6;
/// Squared distances are at least this, in units of the variance within clusters.
const NEAREST: f64 = 1e-9;
/// Squared distances below this share of the squared lengths are taken from differences: of
/// products, rounding leaves too little of them.
const CLOSE: f64 = 1e-6;
/// Beyond its limits a likeness still counts so much of what it would: nothing is tied.
const BEYOND: f64 = 1e-3;

/// What nearness can never exclude, that two alike nodes belong apart. Much less than the lapse for
/// those that are far from one another: clusters of several parts are common, parts of one dense
/// group that belong apart are not, and wrong answers must not be able to cut it.
const NEAR_LAPSE: f64 = 1e-4;

/// Log-odds at the first cut, and how fast they change with the logarithm of the distance, before
/// any answer.
const AT_CUT: f64 = -1.0;
const SLOPE: f64 = 2.5;
/// Share of pairs that belong together however unlike they are: one of so many for each cluster, at
/// most this.
const LAPSE: (f64, f64) = (4.0, 0.05);

/// Log-odds of two nodes belonging together by how alike they are: logistic in
/// `offset + slope likeness`, but no nearer to 0 than `lapse`, nor to 1 than [`NEAR_LAPSE`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Odds {
    pub(super) offset: f64,
    pub(super) slope: f64,
    pub(super) lapse: f64,
}

impl Odds {
    /// Before anything is known of where groups end.
    pub(super) const LEVEL: Odds = Odds { offset: 0.0, slope: SLOPE, lapse: 0.0 };

    /// Before any answer, where a first cut has these odds under [`LEVEL`](Odds::LEVEL).
    pub(super) fn first(at_cut: f64, clusters: usize) -> Self {
        let lapse = LAPSE.1.min(1.0 / (LAPSE.0 * clusters as f64));
        Odds { offset: AT_CUT - at_cut, slope: SLOPE, lapse }
    }

    pub(super) fn of(&self, likeness: f64) -> f64 {
        let line = self.offset + self.slope * likeness;
        if self.lapse == 0.0 {
            // What is below would be infinite where a probability rounds to 0 or 1.
            return line + BEYOND * line;
        }
        let p = self.probability(line);
        (p / (1.0 - p)).ln() + BEYOND * line
    }

    fn probability(&self, line: f64) -> f64 {
        self.lapse + self.range() * sigmoid(line)
    }

    /// The probability, and how fast it changes with `offset + slope likeness`.
    pub(super) fn change(&self, likeness: f64) -> (f64, f64) {
        let line = self.offset + self.slope * likeness;
        let s = sigmoid(line);
        (self.probability(line), self.range() * s * (1.0 - s))
    }

    fn range(&self) -> f64 {
        1.0 - self.lapse - if self.lapse == 0.0 { 0.0 } else { NEAR_LAPSE }
    }
}

/// Two nodes that are joined: cells by their number, and behind them the earlier merges.
#[derive(Clone, Copy, Debug)]
pub(super) struct Merge {
    pub(super) nodes: [usize; 2],
    /// Minus the logarithm of the distance.
    pub(super) likeness: f64,
    /// Log-odds by the answers between the two.
    pub(super) evidence: f64,
    /// Log-odds by both.
    pub(super) odds: f64,
}

/// The cells' tree.
#[derive(Clone, Debug, Default)]
pub(super) struct Tree {
    pub(super) merges: Vec<Merge>,
    /// Cells of every node, the leaves first.
    pub(super) cells: Vec<Vec<usize>>,
    /// Objects of every node.
    pub(super) sizes: Vec<f64>,
    /// The merge that each node goes into, `None` for the root.
    pub(super) into: Vec<Option<usize>>,
}

impl Tree {
    /// Joins what has the highest log-odds until all is one: the mean place of a node against the
    /// other's, and the sum of all evidence between their cells.
    pub(super) fn new(cells: &Places, evidence: &BTreeMap<(usize, usize), f64>) -> Self {
        Self::joined(Open::new(cells, evidence, None))
    }

    /// As [`new`](Tree::new), but cells of equal labels are joined before any others, and of these
    /// what distance joins first: by answers the wrong ones would be left for the last join.
    pub(super) fn within(
        cells: &Places,
        evidence: &BTreeMap<(usize, usize), f64>,
        labels: &[u32],
    ) -> Self {
        Self::joined(Open::new(cells, evidence, Some(labels)))
    }

    fn joined(mut open: Open) -> Self {
        let m = open.sizes.len();
        let sizes = open.sizes.clone();
        let mut tree = Tree {
            merges: Vec::with_capacity(m.saturating_sub(1)),
            cells: (0..m).map(|c| vec![c]).collect(),
            sizes,
            into: vec![None; m],
        };
        let mut node: Vec<usize> = (0..m).collect();
        while let Some((a, b)) = open.best() {
            let nodes = [node[a], node[b]];
            let at = Some(tree.merges.len());
            nodes.iter().for_each(|&n| tree.into[n] = at);
            tree.merges.push(open.merge(nodes, a, b));
            let cells = [tree.cells[nodes[0]].as_slice(), &tree.cells[nodes[1]]].concat();
            tree.cells.push(cells);
            tree.sizes.push(tree.sizes[nodes[0]] + tree.sizes[nodes[1]]);
            tree.into.push(None);
            node[a] = tree.cells.len() - 1;
            open.join(a, b);
        }
        tree
    }

    pub(super) fn n_cells(&self) -> usize {
        self.merges.len() + 1
    }

    /// Merges that are made for so many clusters.
    pub(super) fn made_for(&self, clusters: usize) -> usize {
        self.n_cells().saturating_sub(clusters.max(1))
    }

    /// The cluster of each cell where the first `made` merges are made, numbered by first cell.
    pub(super) fn labels(&self, made: usize) -> Vec<u32> {
        let mut label = vec![u32::MAX; self.n_cells()];
        let mut next = 0;
        for c in 0..label.len() {
            if label[c] == u32::MAX {
                for &other in &self.cells[self.top(c, made)] {
                    label[other] = next;
                }
                next += 1;
            }
        }
        label
    }

    /// The largest node of the first `made` merges that holds the node.
    pub(super) fn top(&self, mut node: usize, made: usize) -> usize {
        while let Some(t) = self.into[node].filter(|&t| t < made) {
            node = self.n_cells() + t;
        }
        node
    }

    /// Merges at the beginning that join what rather belongs together.
    pub(super) fn sound(&self) -> usize {
        self.merges.iter().take_while(|merge| merge.odds > 0.0).count()
    }

    /// The nodes that the first `made` merges leave, by first cell.
    pub(super) fn tops(&self, made: usize) -> Vec<usize> {
        let mut tops: Vec<usize> = (0..self.n_cells()).map(|c| self.top(c, made)).collect();
        tops.sort_unstable_by_key(|&node| (self.cells[node].iter().min().copied(), node));
        tops.dedup();
        tops
    }

    /// The merge that brings two different cells together.
    pub(super) fn joining(&self, a: usize, b: usize) -> Option<usize> {
        let (mut a, mut b) = (a, b);
        loop {
            let (ta, tb) = (self.into[a]?, self.into[b]?);
            if ta == tb {
                return Some(ta);
            }
            if ta < tb {
                a = self.n_cells() + ta;
            } else {
                b = self.n_cells() + tb;
            }
        }
    }

    /// How probably each cell is with the larger part of its cluster: at every merge on its way the
    /// smaller part comes to the larger.
    pub(super) fn belonging(&self, made: usize) -> Vec<f64> {
        let m = self.n_cells();
        let mut sure = vec![1.0; self.cells.len()];
        for (t, merge) in self.merges[..made].iter().enumerate().rev() {
            let [a, b] = merge.nodes;
            let (large, small) = if self.sizes[a] >= self.sizes[b] { (a, b) } else { (b, a) };
            sure[large] = sure[m + t];
            sure[small] = sure[m + t] * sigmoid(merge.odds);
        }
        sure.truncate(m);
        sure
    }
}

/// Where cells lie, and how probably they belong together by that: what all trees of the same cells
/// begin with.
pub(super) struct Places {
    /// Squared distances, m x m.
    squared: Vec<f64>,
    /// Log-odds by distance, m x m; of a cell and itself 0.
    alone: Vec<f64>,
    sizes: Vec<f64>,
    /// Objects of a cell on the mean.
    mean: f64,
    by: Odds,
}

impl Places {
    pub(super) fn new(centres: &Array2<f64>, sizes: &[f64], by: Odds) -> Self {
        let m = sizes.len();
        let mean = sizes.iter().sum::<f64>() / m.max(1) as f64;
        let products = centres.dot(&centres.t());
        let (mut squared, mut alone) = (vec![0.0; m * m], vec![0.0; m * m]);
        for a in 0..m {
            for b in 0..a {
                let apart = squared_distance(centres, &products, a, b);
                let odds = by.of(likeness(apart, sizes[a], sizes[b], mean));
                for at in [a * m + b, b * m + a] {
                    (squared[at], alone[at]) = (apart, odds);
                }
            }
        }
        Places { squared, alone, sizes: sizes.to_vec(), mean, by }
    }
}

/// What is joined first, and within that the order: what belongs together most surely; of what
/// rather does not, where so many clusters are asked for, what puts fewest objects wrong.
type Order = (u8, f64);

/// The nodes that are not joined yet, by the number of one of their cells; tables are m x m.
struct Open {
    m: usize,
    squared: Vec<f64>,
    evidence: Vec<f64>,
    odds: Vec<f64>,
    order: Vec<Order>,
    sizes: Vec<f64>,
    /// What is joined before all else, where that is given: nodes of equal labels.
    labels: Option<Vec<u32>>,
    mean: f64,
    by: Odds,
    /// In order.
    alive: Vec<usize>,
    /// The best partner of each.
    near: Vec<Option<usize>>,
}

impl Open {
    fn new(cells: &Places, given: &BTreeMap<(usize, usize), f64>, labels: Option<&[u32]>) -> Self {
        let m = cells.sizes.len();
        let mut evidence = vec![0.0; m * m];
        for (&(a, b), &e) in given {
            evidence[a * m + b] += e;
            evidence[b * m + a] += e;
        }
        let mut open = Open {
            m,
            squared: cells.squared.clone(),
            evidence,
            odds: vec![0.0; m * m],
            order: vec![(0, 0.0); m * m],
            sizes: cells.sizes.clone(),
            labels: labels.map(<[u32]>::to_vec),
            mean: cells.mean,
            by: cells.by,
            alive: (0..m).collect(),
            near: vec![None; m],
        };
        for a in 0..m {
            for b in 0..a {
                open.weigh(a, b, cells.alone[a * m + b]);
            }
        }
        for a in 0..m {
            open.near[a] = open.partner(a);
        }
        open
    }

    fn likeness(&self, a: usize, b: usize) -> f64 {
        likeness(self.squared[a * self.m + b], self.sizes[a], self.sizes[b], self.mean)
    }

    /// Takes in log-odds by distance.
    fn weigh(&mut self, a: usize, b: usize, alone: f64) {
        let odds = alone + self.evidence[a * self.m + b];
        let smaller = self.sizes[a].min(self.sizes[b]) / self.mean;
        let lead = if self.labels.is_some() { alone } else { odds };
        let alike = self.labels.as_ref().is_none_or(|labels| labels[a] == labels[b]);
        let order = (
            2 * u8::from(alike) + u8::from(odds > 0.0),
            if odds > 0.0 { lead } else { odds * smaller },
        );
        for at in [a * self.m + b, b * self.m + a] {
            (self.odds[at], self.order[at]) = (odds, order);
        }
    }

    /// The best of all others for one; ties to the lowest.
    fn partner(&self, a: usize) -> Option<usize> {
        let order = &self.order[a * self.m..][..self.m];
        let others = self.alive.iter().copied().filter(|&b| b != a);
        others.reduce(|best, b| if order[b] > order[best] { b } else { best })
    }

    /// The two of highest log-odds, the lower number first.
    fn best(&self) -> Option<(usize, usize)> {
        let pairs = self.alive.iter().filter_map(|&a| Some((a, self.near[a]?)));
        let of = |(a, b): (usize, usize)| self.order[a * self.m + b];
        let best = pairs.reduce(|best, pair| if of(pair) > of(best) { pair } else { best });
        best.map(|(a, b)| (a.min(b), a.max(b)))
    }

    fn merge(&self, nodes: [usize; 2], a: usize, b: usize) -> Merge {
        let at = a * self.m + b;
        Merge {
            nodes,
            likeness: self.likeness(a, b),
            evidence: self.evidence[at],
            odds: self.odds[at],
        }
    }

    /// b goes into a.
    fn join(&mut self, a: usize, b: usize) {
        let m = self.m;
        let (sa, sb) = (self.sizes[a], self.sizes[b]);
        let (all, apart) = (sa + sb, self.squared[a * m + b]);
        self.alive.retain(|&c| c != b);
        self.sizes[a] = all;
        let others: Vec<usize> = self.alive.iter().copied().filter(|&c| c != a).collect();
        for &c in &others {
            // The squared distance to the mean of both.
            let squared = (sa * self.squared[a * m + c] + sb * self.squared[b * m + c]) / all
                - sa * sb / (all * all) * apart;
            let evidence = self.evidence[a * m + c] + self.evidence[b * m + c];
            for at in [a * m + c, c * m + a] {
                (self.squared[at], self.evidence[at]) = (squared, evidence);
            }
            self.weigh(a, c, self.by.of(self.likeness(a, c)));
        }
        self.near[a] = self.partner(a);
        for &c in &others {
            match self.near[c] {
                Some(d) if d != a && d != b => {
                    if self.order[c * m + a] > self.order[c * m + d] {
                        self.near[c] = Some(a);
                    }
                }
                _ => self.near[c] = self.partner(c),
            }
        }
    }
}

/// How alike two nodes are by the squared distance of their means and their sizes; `mean` is the
/// mean size of a cell.
pub(super) fn likeness(squared: f64, a: f64, b: f64, mean: f64) -> f64 {
    -squared.max(NEAREST).ln() - SIZES * (2.0 * a * b / (a + b) / mean).ln()
}

/// The squared distance of two rows, by the products of all.
pub(super) fn squared_distance(
    rows: &Array2<f64>,
    products: &Array2<f64>,
    a: usize,
    b: usize,
) -> f64 {
    let lengths = products[[a, a]] + products[[b, b]];
    let squared = lengths - products[[a, b]] - products[[b, a]];
    if squared > CLOSE * lengths {
        return squared;
    }
    rows.row(a).iter().zip(rows.row(b)).map(|(x, y)| (x - y) * (x - y)).sum()
}

/// The probability of log-odds.
pub(super) fn sigmoid(odds: f64) -> f64 {
    1.0 / (1.0 + (-odds).exp())
}
