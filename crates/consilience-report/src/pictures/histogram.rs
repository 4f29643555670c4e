//! How many objects have which value.

use super::canvas::{Canvas, FAINT, Label, Title};

/// Bars over [0, 1], each as high as its share; where bars end at or below `edge` they are hatched,
/// so that both kinds can be told without colours.
pub(crate) fn histogram(shares: &[f64], edge: f64, axis: &str, title: Title<'_>) -> String {
    let (width, height, left, top) = (420.0, 150.0, 12.0, 20.0);
    let mut canvas = Canvas::new(left + width + 14.0, top + height + 40.0, title);
    canvas.raw(
        "<defs><pattern id=\"hatch\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" \
         patternTransform=\"rotate(45)\"><rect width=\"6\" height=\"6\" fill=\"#f3d9c7\"/>\
         <path d=\"M0 0V6\" stroke=\"#d55e00\" stroke-width=\"3\"/></pattern></defs>",
    );
    let high = shares.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
    let step = width / shares.len().max(1) as f64;
    for (at, &share) in shares.iter().enumerate() {
        let tall = height * share / high;
        let below = (at + 1) as f64 / shares.len() as f64 <= edge + 1e-9;
        let fill = if below { "url(#hatch)" } else { "#0072b2" };
        let place = (left + step * at as f64 + 1.0, top + height - tall);
        canvas.rect(place, (step - 2.0, tall), &format!("fill=\"{fill}\""));
        if share >= 0.005 {
            let text = format!("{:.0}", 100.0 * share);
            let middle = (place.0 + step / 2.0 - 1.0, place.1 - 9.0);
            canvas.label(middle, Label::new(&text).size(11.0));
        }
    }
    let foot = top + height;
    canvas.line((left, foot), (left + width, foot), &format!("stroke=\"{FAINT}\""));
    for tick in [0.0, 0.25, 0.5, 0.75, 1.0] {
        let text = format!("{tick}");
        canvas.label((left + width * tick, foot + 12.0), Label::new(&text).size(12.0));
    }
    canvas.label((left + width / 2.0, foot + 30.0), Label::new(axis));
    canvas.finish(&format!("bars of the share of objects by {axis}"))
}
