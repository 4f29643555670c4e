//! Clusters on a circle, joined where their memberships overlap.

use std::f64::consts::TAU;

use ndarray::ArrayView2;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::{CLUSTERS, FONT, INK, picture};
use crate::failure::Outcome;

/// Relations below this are not drawn.
const LEAST: f64 = 0.005;

/// `names` and `masses` are the clusters and their objects in all; `relations` how much of cluster
/// i's membership lies in cluster j as well.
pub(crate) fn cluster_graph(
    names: &[usize],
    masses: &[f64],
    relations: ArrayView2<'_, f64>,
    title: &str,
) -> Outcome<String> {
    let k = names.len();
    let tie = |i: usize, j: usize| f64::midpoint(relations[[i, j]], relations[[j, i]]);
    // Around the circle each cluster is followed by the one that it overlaps most.
    let mut circle: Vec<usize> = Vec::with_capacity(k);
    while circle.len() < k {
        let nearness = |i: usize| circle.last().map_or(masses[i], |&last| tie(last, i));
        let rest = (0..k).filter(|i| !circle.contains(i));
        let Some(next) = rest.reduce(|a, b| if nearness(b) > nearness(a) { b } else { a }) else {
            break;
        };
        circle.push(next);
    }
    let mut place = vec![(0, 0); k];
    for (position, &i) in circle.iter().enumerate() {
        let angle = TAU * position as f64 / k as f64 - TAU / 4.0;
        place[i] = ((380.0 + 250.0 * angle.cos()) as i32, (330.0 + 250.0 * angle.sin()) as i32);
    }
    let largest = masses.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
    picture((760, 700), title, |area| {
        let label = |size| {
            let place = Pos::new(HPos::Center, VPos::Center);
            TextStyle::from((FONT, size).into_font()).color(&INK).pos(place)
        };
        for i in 0..k {
            for j in (i + 1)..k {
                let weight = tie(i, j);
                if weight < LEAST {
                    continue;
                }
                let width = (1.0 + 40.0 * weight).min(20.0) as u32;
                area.draw(&PathElement::new(
                    vec![place[i], place[j]],
                    INK.mix(0.35).stroke_width(width),
                ))?;
                // At a third of the way, so that the numbers of crossing lines are apart.
                let middle = ((2 * place[i].0 + place[j].0) / 3, (2 * place[i].1 + place[j].1) / 3);
                area.draw(&Text::new(format!("{weight:.2}"), middle, label(13)))?;
            }
        }
        for i in 0..k {
            let radius = 12.0 + 36.0 * (masses[i] / largest).sqrt();
            let colour = CLUSTERS[names[i] % CLUSTERS.len()];
            area.draw(&Circle::new(place[i], radius as i32, colour.mix(0.85).filled()))?;
            area.draw(&Text::new(names[i].to_string(), place[i], label(16)))?;
            let below = (place[i].0, place[i].1 + radius as i32 + 10);
            area.draw(&Text::new(format!("{:.0} objects", masses[i]), below, label(12)))?;
        }
        Ok(())
    })
}
