//! A tree of merges.

use consilience::Dendrogram;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::{FONT, INK, MIDDLE, picture};
use crate::failure::Outcome;

/// Most leaves that are drawn; what merges lower is one leaf.
const MOST_LEAVES: usize = 100;
/// Most leaves that carry their number of objects.
const MOST_NUMBERED: usize = 40;

/// The last merges of a tree, with the number of objects below each leaf; `sizes` are the objects
/// of the tree's own leaves.
pub(crate) fn dendrogram(tree: &Dendrogram, sizes: &[u32], title: &str) -> Outcome<String> {
    let shown = tree.n_leaves().min(MOST_LEAVES);
    let first = tree.n_leaves() - shown;
    let merges = tree.merges();
    let nodes = tree.n_leaves() + merges.len();
    // Objects below every node; merges come after what they join.
    let mut objects: Vec<u64> = sizes.iter().map(|&s| u64::from(s)).collect();
    for merge in merges {
        objects.push(merge.nodes.iter().map(|&c| objects[c]).sum());
    }
    let height = |node: usize| {
        if node < tree.n_leaves() + first {
            None
        } else {
            Some(merges[node - tree.n_leaves()].height)
        }
    };
    // Leaves from left to right: the larger branch first, without recursion, since a tree may be a
    // chain.
    let mut leaves = Vec::with_capacity(shown);
    let mut stack = vec![nodes - 1];
    while let Some(node) = stack.pop() {
        match height(node) {
            None => leaves.push(node),
            Some(_) => {
                let [a, b] = merges[node - tree.n_leaves()].nodes;
                let (large, small) = if objects[a] >= objects[b] { (a, b) } else { (b, a) };
                stack.extend([small, large]);
            }
        }
    }
    let (left, top, width, depth) = (60.0, 30.0, 800.0, 420.0);
    let mut at = vec![0.0; nodes];
    for (position, &leaf) in leaves.iter().enumerate() {
        at[leaf] = left + width * (position as f64 + 0.5) / leaves.len() as f64;
    }
    let low = merges[first..].first().map_or(0.0, |m| m.height.min(0.0));
    let high = merges.last().map_or(1.0, |m| m.height.max(1.0));
    let y = |h: f64| (top + depth * (high - h) / (high - low)) as i32;
    picture((900, 560), title, |area| {
        let label = |anchor| TextStyle::from((FONT, 13).into_font()).color(&INK).pos(anchor);
        for tick in 0..=4 {
            let h = low + (high - low) * f64::from(tick) / 4.0;
            let style = label(Pos::new(HPos::Right, VPos::Center));
            area.draw(&Text::new(format!("{h:.2}"), (left as i32 - 8, y(h)), style))?;
            area.draw(&PathElement::new(
                vec![(left as i32, y(h)), ((left + width) as i32, y(h))],
                MIDDLE.mix(0.3).stroke_width(1),
            ))?;
        }
        for (t, merge) in merges.iter().enumerate().skip(first) {
            let [a, b] = merge.nodes;
            at[tree.n_leaves() + t] = f64::midpoint(at[a], at[b]);
            let foot = |child: usize| height(child).map_or(y(low), y);
            let path = vec![
                (at[a] as i32, foot(a)),
                (at[a] as i32, y(merge.height)),
                (at[b] as i32, y(merge.height)),
                (at[b] as i32, foot(b)),
            ];
            area.draw(&PathElement::new(path, INK.stroke_width(1)))?;
        }
        if leaves.len() <= MOST_NUMBERED {
            for &leaf in &leaves {
                let style = label(Pos::new(HPos::Center, VPos::Top));
                area.draw(&Text::new(
                    objects[leaf].to_string(),
                    (at[leaf] as i32, y(low) + 6),
                    style,
                ))?;
            }
        }
        let text = format!(
            "{} of {} leaves; below them their objects, beside them 1 - similarity",
            leaves.len(),
            tree.n_leaves()
        );
        let style = label(Pos::new(HPos::Center, VPos::Top));
        area.draw(&Text::new(text, (460, y(low) + 28), style))
    })
}
