//! Golden values as JSON text: twelve significant digits, a line for each field.

use crate::numbers::Matrix;

/// One case: names and values, in order.
#[derive(Default)]
pub(crate) struct Case(Vec<(&'static str, String)>);

impl Case {
    pub(crate) fn new(name: &str) -> Self {
        Case(vec![("name", format!("\"{name}\""))])
    }

    pub(crate) fn whole(mut self, key: &'static str, value: usize) -> Self {
        self.0.push((key, value.to_string()));
        self
    }

    pub(crate) fn number(mut self, key: &'static str, value: f64) -> Self {
        self.0.push((key, short(value)));
        self
    }

    pub(crate) fn numbers(mut self, key: &'static str, values: &[f64]) -> Self {
        self.0.push((key, list(values)));
        self
    }

    pub(crate) fn rows(mut self, key: &'static str, rows: &Matrix) -> Self {
        let rows: Vec<String> = rows.iter().map(|r| list(r)).collect();
        self.0.push((key, format!("[\n  {}]", rows.join(",\n  "))));
        self
    }

    /// Labels of each member: one character for an object, a point where there is none.
    pub(crate) fn members(mut self, key: &'static str, members: &[Vec<Option<usize>>]) -> Self {
        let text: Vec<String> = members.iter().map(|m| format!("\"{}\"", labels(m))).collect();
        self.0.push((key, format!("[\n  {}]", text.join(",\n  "))));
        self
    }

    pub(crate) fn partition(mut self, key: &'static str, labels_of: &[usize]) -> Self {
        let known: Vec<Option<usize>> = labels_of.iter().map(|&l| Some(l)).collect();
        self.0.push((key, format!("\"{}\"", labels(&known))));
        self
    }

    /// Pairs (i, j, value).
    pub(crate) fn pairs(mut self, key: &'static str, pairs: &[(usize, usize, f64)]) -> Self {
        let text: Vec<String> =
            pairs.iter().map(|(i, j, v)| format!("[{i},{j},{}]", short(*v))).collect();
        self.0.push((key, format!("[{}]", text.join(","))));
        self
    }
}

/// The number with twelve significant digits, as short as it goes.
fn short(value: f64) -> String {
    let rounded: f64 = format!("{value:.11e}").parse().unwrap_or(value);
    if rounded == 0.0 || (1e-4..1e6).contains(&rounded.abs()) {
        format!("{rounded}")
    } else {
        format!("{rounded:e}")
    }
}

fn list(values: &[f64]) -> String {
    let text: Vec<String> = values.iter().map(|&v| short(v)).collect();
    format!("[{}]", text.join(","))
}

fn labels(labels: &[Option<usize>]) -> String {
    let symbol = |l: usize| char::from_digit(l as u32, 36).unwrap_or('?');
    labels.iter().map(|l| l.map_or('.', symbol)).collect()
}

pub(crate) fn file(cases: &[Case]) -> String {
    let case = |c: &Case| {
        let fields: Vec<String> = c.0.iter().map(|(k, v)| format!(" \"{k}\": {v}")).collect();
        format!("{{\n{}\n}}", fields.join(",\n"))
    };
    let cases: Vec<String> = cases.iter().map(case).collect();
    format!("[{}]\n", cases.join(",\n"))
}
