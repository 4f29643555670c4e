//! SVG pictures. The numbers come from the library; here they only become shapes.

mod cluster_graph;
mod curves;
mod dendrogram;
mod heat_map;

pub(crate) use cluster_graph::cluster_graph;
pub(crate) use curves::curves;
pub(crate) use dendrogram::dendrogram;
pub(crate) use heat_map::{co_association, memberships};

use plotters::coord::Shift;
use plotters::drawing::DrawingAreaErrorKind;
use plotters::prelude::*;

use crate::failure::{Failure, Outcome};

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Drawn = Result<(), DrawingAreaErrorKind<std::io::Error>>;

const FONT: &str = "sans-serif";
const INK: RGBColor = RGBColor(40, 40, 40);
const PALE: RGBColor = RGBColor(247, 251, 255);
const MIDDLE: RGBColor = RGBColor(107, 174, 214);
const DARK: RGBColor = RGBColor(8, 48, 107);

/// Colours that can be distinguished, for clusters.
const CLUSTERS: [RGBColor; 10] = [
    RGBColor(31, 119, 180),
    RGBColor(255, 127, 14),
    RGBColor(44, 160, 44),
    RGBColor(214, 39, 40),
    RGBColor(148, 103, 189),
    RGBColor(140, 86, 75),
    RGBColor(227, 119, 194),
    RGBColor(127, 127, 127),
    RGBColor(188, 189, 34),
    RGBColor(23, 190, 207),
];

/// A picture of that size under a title.
fn picture(
    size: (u32, u32),
    title: &str,
    paint: impl FnOnce(&Area<'_>) -> Drawn,
) -> Outcome<String> {
    let mut text = String::new();
    let drawn = (|| {
        let root = SVGBackend::with_string(&mut text, size).into_drawing_area();
        root.fill(&WHITE)?;
        let area = root.titled(title, (FONT, 18).into_font().color(&INK))?;
        paint(&area)?;
        root.present()
    })();
    drawn.map_err(|error| Failure::Bad(format!("the picture cannot be drawn: {error}")))?;
    text.push('\n');
    Ok(text)
}

/// From pale for 0 to dark for 1.
fn shade(value: f64) -> RGBColor {
    let value = value.clamp(0.0, 1.0);
    let (from, to, at) =
        if value < 0.5 { (PALE, MIDDLE, 2.0 * value) } else { (MIDDLE, DARK, 2.0 * value - 1.0) };
    let mix = |a: u8, b: u8| (f64::from(a) + at * (f64::from(b) - f64::from(a))).round() as u8;
    RGBColor(mix(from.0, to.0), mix(from.1, to.1), mix(from.2, to.2))
}
