//! A tree of merges.

use consilience_core::Dendrogram;

use super::canvas::{Anchor, Canvas, INK, Label, Title, text_width, tick_text, ticks};

/// Most leaves that are drawn; what merges lower is one leaf.
const MOST_LEAVES: usize = 100;
/// Most leaves that carry their number of objects.
const MOST_NUMBERED: usize = 40;
/// Where the tree is in the picture.
const LEFT: f64 = 52.0;
const TOP: f64 = 12.0;
const WIDTH: f64 = 700.0;
const DEPTH: f64 = 340.0;

/// The last merges of a tree, with the number of objects below each leaf; `sizes` are the objects
/// of the tree's own leaves. Heights are told as dissimilarities: 1 - similarity for most trees,
/// larger for those of [`Linkage::Ward`](consilience_core::Linkage::Ward).
///
/// ```
/// use consilience::Dendrogram;
/// use consilience::report::pictures;
///
/// let tree = Dendrogram::from_merges(3, vec![(0, 1, 0.1), (1, 2, 0.8)])?;
/// assert!(pictures::dendrogram(&tree, &[5, 1, 2], "A tree").contains("3 of 3 leaves"));
/// # Ok::<(), consilience::Error>(())
/// ```
pub fn dendrogram(tree: &Dendrogram, sizes: &[u64], title: &str) -> String {
    draw(tree, sizes, None, Title::Drawn(title))
}

/// The same, cut into so many clusters.
pub(crate) fn draw(
    tree: &Dendrogram,
    sizes: &[u64],
    cut: Option<usize>,
    title: Title<'_>,
) -> String {
    let cut = cut.map(|k| k.clamp(1, tree.n_leaves()));
    let drawing = Drawing::new(tree, sizes, MOST_LEAVES.max(cut.unwrap_or(0)));
    let foot = drawing.foot();
    let mut canvas = Canvas::new(LEFT + WIDTH + 16.0, TOP + DEPTH + foot + 56.0, title);
    drawing.scale(&mut canvas);
    drawing.branches(&mut canvas);
    if foot > 0.0 {
        drawing.numbers(&mut canvas, foot);
    }
    if let Some(k) = cut {
        drawing.cut(&mut canvas, k, TOP + DEPTH + foot + 10.0);
    }
    let text = format!(
        "{} of {} leaves{}; heights are dissimilarities",
        drawing.leaves.len(),
        tree.n_leaves(),
        if foot > 0.0 { ", below each its objects" } else { "" }
    );
    canvas.label((LEFT + WIDTH / 2.0, TOP + DEPTH + foot + 42.0), Label::new(&text));
    let told = match cut {
        Some(k) => format!("a tree of {text}; cut into {k} clusters"),
        None => format!("a tree of {text}"),
    };
    canvas.finish(&told)
}

/// The drawn part of a tree, and where each of its nodes is.
struct Drawing<'a> {
    tree: &'a Dendrogram,
    /// Merges before this one are not drawn: their nodes are leaves.
    first: usize,
    /// Objects below every node.
    objects: Vec<u64>,
    /// Drawn leaves from left to right.
    leaves: Vec<usize>,
    /// Of every drawn node, from the left.
    x: Vec<f64>,
    low: f64,
    high: f64,
}

impl<'a> Drawing<'a> {
    fn new(tree: &'a Dendrogram, sizes: &[u64], most: usize) -> Self {
        let merges = tree.merges();
        let first = tree.n_leaves() - tree.n_leaves().min(most);
        // Merges come after what they join.
        let mut objects: Vec<u64> = sizes.to_vec();
        objects.resize(tree.n_leaves(), 1);
        for merge in merges {
            objects.push(merge.nodes.iter().map(|&c| objects[c]).sum());
        }
        let high = merges.last().map_or(1.0, |m| m.height.max(1.0));
        // Below the lowest merge that is drawn there is nothing to see.
        let low = match merges[first..].first() {
            Some(lowest) if first > 0 => lowest.height - 0.08 * (high - lowest.height).max(1e-6),
            Some(lowest) => lowest.height.min(0.0),
            None => 0.0,
        };
        let x = vec![0.0; tree.n_leaves() + merges.len()];
        let mut drawing = Drawing { tree, first, objects, leaves: Vec::new(), x, low, high };
        drawing.arrange();
        drawing
    }

    /// Leaves from left to right, the larger branch first, without recursion, since a tree may be a
    /// chain; every merge in the middle of what it joins.
    fn arrange(&mut self) {
        let (n, merges) = (self.tree.n_leaves(), self.tree.merges());
        let mut stack = vec![n + merges.len() - 1];
        while let Some(node) = stack.pop() {
            if self.is_leaf(node) {
                self.leaves.push(node);
                continue;
            }
            let [a, b] = merges[node - n].nodes;
            let a_first = self.objects[a] >= self.objects[b];
            stack.extend(if a_first { [b, a] } else { [a, b] });
        }
        let step = WIDTH / self.leaves.len() as f64;
        for (position, &leaf) in self.leaves.iter().enumerate() {
            self.x[leaf] = LEFT + step * (position as f64 + 0.5);
        }
        for (t, merge) in merges.iter().enumerate().skip(self.first) {
            let [a, b] = merge.nodes;
            self.x[n + t] = f64::midpoint(self.x[a], self.x[b]);
        }
    }

    fn is_leaf(&self, node: usize) -> bool {
        node < self.tree.n_leaves() + self.first
    }

    /// Of a height, from the top.
    fn y(&self, height: f64) -> f64 {
        TOP + DEPTH * (self.high - height) / (self.high - self.low)
    }

    /// Heights at the left, with lines across.
    fn scale(&self, canvas: &mut Canvas<'_>) {
        let marks = ticks(self.low, self.high, 5);
        for &height in &marks {
            let (y, text) = (self.y(height), tick_text(height, &marks));
            canvas.label((LEFT - 8.0, y), Label::new(&text).size(12.0).anchor(Anchor::End));
            canvas.line((LEFT, y), (LEFT + WIDTH, y), "stroke=\"#e2e2e2\"");
        }
    }

    fn branches(&self, canvas: &mut Canvas<'_>) {
        let (n, merges) = (self.tree.n_leaves(), self.tree.merges());
        let foot = |node: usize| {
            let height = if self.is_leaf(node) { self.low } else { merges[node - n].height };
            (self.x[node], self.y(height))
        };
        let style = format!("stroke=\"{INK}\"");
        for merge in &merges[self.first..] {
            let [a, b] = merge.nodes.map(foot);
            let top = self.y(merge.height);
            canvas.polyline(&[a, (a.0, top), (b.0, top), b], &style);
        }
    }

    /// Where the tree is cut, and the clusters below it, each with its number where there is room.
    fn cut(&self, canvas: &mut Canvas<'_>, k: usize, top: f64) {
        let (n, merges) = (self.tree.n_leaves(), self.tree.merges());
        let style = "stroke=\"#d55e00\" stroke-width=\"1.6\" stroke-dasharray=\"6 4\"";
        if k > 1 {
            let below = if k < n { merges[n - k - 1].height } else { self.low };
            let y = self.y(f64::midpoint(merges[n - k].height, below));
            canvas.line((LEFT, y), (LEFT + WIDTH, y), style);
        }
        let Ok(clusters) = self.tree.cut(k) else { return };
        let cluster_of = |leaf: usize| {
            let mut node = leaf;
            while node >= n {
                node = merges[node - n].nodes[0];
            }
            clusters[node]
        };
        let step = WIDTH / self.leaves.len() as f64;
        let mut start = 0;
        while start < self.leaves.len() {
            let cluster = cluster_of(self.leaves[start]);
            let end = (start..self.leaves.len())
                .find(|&at| cluster_of(self.leaves[at]) != cluster)
                .unwrap_or(self.leaves.len());
            let gap = (step * 0.12).min(2.0);
            let left = LEFT + step * start as f64 + gap;
            let width = step * (end - start) as f64 - 2.0 * gap;
            canvas.rect((left, top), (width, 16.0), "fill=\"#f3d9c7\" stroke=\"#d55e00\"");
            let name = cluster.to_string();
            if text_width(&name, 12.0) < width {
                canvas.label((left + width / 2.0, top + 8.0), Label::new(&name).size(12.0));
            }
            start = end;
        }
    }

    /// How much room the numbers below the leaves take: none where there are too many.
    fn foot(&self) -> f64 {
        if self.leaves.len() > MOST_NUMBERED {
            return 0.0;
        }
        if self.flat() { 20.0 } else { 10.0 + self.widest() }
    }

    /// The width of the longest number.
    fn widest(&self) -> f64 {
        let width = |&leaf: &usize| text_width(&self.objects[leaf].to_string(), 12.0);
        self.leaves.iter().map(width).fold(0.0, f64::max)
    }

    /// Whether the numbers fit side by side; otherwise they are turned.
    fn flat(&self) -> bool {
        self.widest() + 4.0 < WIDTH / self.leaves.len() as f64
    }

    /// The objects below each leaf.
    fn numbers(&self, canvas: &mut Canvas<'_>, foot: f64) {
        for &leaf in &self.leaves {
            let (x, y, text) = (self.x[leaf], TOP + DEPTH, self.objects[leaf].to_string());
            let label = Label::new(&text).size(12.0);
            if self.flat() {
                canvas.label((x, y + 12.0), label);
            } else {
                canvas.label((x, y + foot - 2.0), label.anchor(Anchor::Start).upwards());
            }
        }
    }
}
