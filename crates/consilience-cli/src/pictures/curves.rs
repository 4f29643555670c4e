//! Curves over [0, 1], as consensus CDFs are.

use plotters::prelude::*;

use super::{CLUSTERS, FONT, INK, picture};
use crate::failure::Outcome;

/// Named curves of points in the unit square.
pub(crate) fn curves(
    named: &[(String, Vec<(f64, f64)>)],
    axes: (&str, &str),
    title: &str,
) -> Outcome<String> {
    picture((760, 560), title, |area| {
        let mut chart = ChartBuilder::on(area)
            .margin(16)
            .x_label_area_size(40)
            .y_label_area_size(50)
            .build_cartesian_2d(0.0..1.0, 0.0..1.0)?;
        chart
            .configure_mesh()
            .x_desc(axes.0)
            .y_desc(axes.1)
            .label_style((FONT, 13).into_font())
            .draw()?;
        for (i, (name, points)) in named.iter().enumerate() {
            let colour = CLUSTERS[i % CLUSTERS.len()];
            chart
                .draw_series(LineSeries::new(points.iter().copied(), colour.stroke_width(2)))?
                .label(name)
                .legend(move |(x, y)| {
                    PathElement::new(vec![(x, y), (x + 18, y)], colour.stroke_width(2))
                });
        }
        if named.len() > 1 {
            chart
                .configure_series_labels()
                .position(SeriesLabelPosition::LowerRight)
                .label_font((FONT, 13).into_font().color(&INK))
                .background_style(WHITE.mix(0.8))
                .draw()?;
        }
        Ok(())
    })
}
