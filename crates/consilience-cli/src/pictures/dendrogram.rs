//! A tree of merges.

use consilience::Dendrogram;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::{Area, Drawn, FONT, INK, MIDDLE, picture};
use crate::failure::Outcome;

/// Most leaves that are drawn; what merges lower is one leaf.
const MOST_LEAVES: usize = 100;
/// Most leaves that carry their number of objects.
const MOST_NUMBERED: usize = 40;
/// Where the tree is in the picture.
const LEFT: f64 = 60.0;
const TOP: f64 = 30.0;
const WIDTH: f64 = 800.0;
const DEPTH: f64 = 420.0;

/// The last merges of a tree, with the number of objects below each leaf; `sizes` are the objects
/// of the tree's own leaves.
pub(crate) fn dendrogram(tree: &Dendrogram, sizes: &[u64], title: &str) -> Outcome<String> {
    let drawing = Drawing::new(tree, sizes);
    picture((900, 560), title, |area| {
        drawing.scale(area)?;
        drawing.branches(area)?;
        if drawing.leaves.len() <= MOST_NUMBERED {
            drawing.numbers(area)?;
        }
        drawing.legend(area)
    })
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
    fn new(tree: &'a Dendrogram, sizes: &[u64]) -> Self {
        let merges = tree.merges();
        let first = tree.n_leaves() - tree.n_leaves().min(MOST_LEAVES);
        // Merges come after what they join.
        let mut objects: Vec<u64> = sizes.to_vec();
        for merge in merges {
            objects.push(merge.nodes.iter().map(|&c| objects[c]).sum());
        }
        let low = merges[first..].first().map_or(0.0, |m| m.height.min(0.0));
        let high = merges.last().map_or(1.0, |m| m.height.max(1.0));
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
    fn y(&self, height: f64) -> i32 {
        (TOP + DEPTH * (self.high - height) / (self.high - self.low)) as i32
    }

    /// Heights at the left, with lines across.
    fn scale(&self, area: &Area<'_>) -> Drawn {
        for tick in 0..=4 {
            let height = self.low + (self.high - self.low) * f64::from(tick) / 4.0;
            let (y, style) = (self.y(height), label(HPos::Right, VPos::Center));
            area.draw(&Text::new(format!("{height:.2}"), (LEFT as i32 - 8, y), style))?;
            area.draw(&PathElement::new(
                vec![(LEFT as i32, y), ((LEFT + WIDTH) as i32, y)],
                MIDDLE.mix(0.3).stroke_width(1),
            ))?;
        }
        Ok(())
    }

    fn branches(&self, area: &Area<'_>) -> Drawn {
        let (n, merges) = (self.tree.n_leaves(), self.tree.merges());
        let foot = |node: usize| {
            let height = if self.is_leaf(node) { self.low } else { merges[node - n].height };
            (self.x[node] as i32, self.y(height))
        };
        for merge in &merges[self.first..] {
            let [a, b] = merge.nodes.map(foot);
            let top = self.y(merge.height);
            let path = vec![a, (a.0, top), (b.0, top), b];
            area.draw(&PathElement::new(path, INK.stroke_width(1)))?;
        }
        Ok(())
    }

    /// The objects below each leaf.
    fn numbers(&self, area: &Area<'_>) -> Drawn {
        for &leaf in &self.leaves {
            let at = (self.x[leaf] as i32, self.y(self.low) + 6);
            let style = label(HPos::Center, VPos::Top);
            area.draw(&Text::new(self.objects[leaf].to_string(), at, style))?;
        }
        Ok(())
    }

    fn legend(&self, area: &Area<'_>) -> Drawn {
        let text = format!(
            "{} of {} leaves; below them their objects, beside them 1 - similarity",
            self.leaves.len(),
            self.tree.n_leaves()
        );
        let style = label(HPos::Center, VPos::Top);
        area.draw(&Text::new(text, (460, self.y(self.low) + 28), style))
    }
}

fn label(horizontal: HPos, vertical: VPos) -> TextStyle<'static> {
    TextStyle::from((FONT, 13).into_font()).color(&INK).pos(Pos::new(horizontal, vertical))
}
