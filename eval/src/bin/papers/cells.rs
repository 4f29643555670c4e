//! Cells of the tables: means, their errors, and the paper's figure beside them.

/// Mean and twice its standard error.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mean(pub(crate) f64, pub(crate) f64);

/// Of values that are there; NaN of none. One value has no error.
pub(crate) fn mean(values: &[f64]) -> Mean {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (n - 1.0);
    Mean(mean, 2.0 * (variance / n).sqrt())
}

/// Paper / ours ± error, and the difference where it shows.
pub(crate) fn cell(paper: f64, mean: Mean) -> String {
    let difference = mean.0 - paper;
    let told =
        if difference.abs() >= 0.02 { format!(" ({difference:+.3})") } else { String::new() };
    format!("{} / {}{}", short(paper), ours(mean), told.replace("0.", "."))
}

/// Mean ± error; an en dash where there is none.
pub(crate) fn ours(Mean(mean, error): Mean) -> String {
    if error.is_nan() { short(mean) } else { format!("{} ± {}", short(mean), short(error)) }
}

/// Three digits without the leading 0.
pub(crate) fn short(value: f64) -> String {
    if value.is_nan() {
        return "–".to_string();
    }
    let text = format!("{value:.3}");
    match text.strip_prefix("0.").or_else(|| text.strip_prefix("-0.")) {
        Some(rest) if value < 0.0 => format!("-.{rest}"),
        Some(rest) => format!(".{rest}"),
        None => text,
    }
}

/// A row of a table in Markdown.
pub(crate) fn row<S: AsRef<str>>(cells: impl IntoIterator<Item = S>) -> String {
    let mut text = "|".to_string();
    for cell in cells {
        text += &format!(" {} |", cell.as_ref());
    }
    text + "\n"
}

/// The head of a table in Markdown.
pub(crate) fn head<S: AsRef<str>>(titles: &[S]) -> String {
    format!("{}|{}\n", row(titles), "---|".repeat(titles.len()))
}

/// The text, shown on the error stream too, so that of a run that is cut what is done remains.
pub(crate) fn shown(text: String) -> String {
    eprint!("{text}");
    text
}

/// How many cells of a table come out: paper's mean and its standard error, ours and twice ours.
#[derive(Default)]
pub(crate) struct Agreement {
    cells: usize,
    near: usize,
    within: usize,
}

impl Agreement {
    /// Counts a cell, the paper's error being twice the standard error of its mean.
    pub(crate) fn count(&mut self, paper: Mean, ours: Mean) {
        let difference = (paper.0 - ours.0).abs();
        self.cells += 1;
        self.near += usize::from(difference < 0.02);
        self.within += usize::from(difference <= paper.1.hypot(ours.1));
    }

    /// `12 of 20 cells within .02, 15 within chance`.
    pub(crate) fn told(&self) -> String {
        format!(
            "{} of {} cells within .02 of the paper, {} within twice the standard error of the \
             difference",
            self.near, self.cells, self.within
        )
    }
}

#[test]
fn cells_are_short() {
    assert_eq!(short(0.5), ".500");
    assert_eq!(short(-0.25), "-.250");
    assert_eq!(short(1.0), "1.000");
    assert_eq!(cell(0.5, Mean(0.53, 0.01)), ".500 / .530 ± .010 (+.030)");
    assert_eq!(cell(0.5, Mean(0.51, 0.01)), ".500 / .510 ± .010");
    assert_eq!(ours(mean(&[])), "–");
}
