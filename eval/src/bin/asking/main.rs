//! What active questions bring: NMI against the number of questions.
//!
//! `asking docs/notes/questions.md [SEEDS] [crowds|links|explored|recovery ...]` writes the tables
//! between their markers on the page, `asking - ...` prints them: answers of simulated workers
//! about crowds, links of the updater, which part of a published scheme brings its lead there,
//! constraints until MCCC recovers its clusters perfectly.

use std::error::Error;

mod crowds;
mod explore;
mod explored;
mod links;
mod recovery;

type Failure = Box<dyn Error>;
type Part = (&'static str, fn(u64) -> Result<String, Failure>);

const PARTS: [Part; 4] = [
    ("crowds", crowds::table),
    ("links", links::table),
    ("explored", explored::table),
    ("recovery", recovery::table),
];

fn main() -> Result<(), Failure> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let Some(page) = words.first() else {
        println!("asking PAGE.md [SEEDS] [crowds|links|explored|recovery ...]; - prints");
        return Ok(());
    };
    let seeds = words.get(1).map_or(Ok(5), |w| w.parse())?;
    for (name, table) in PARTS {
        if words.len() > 2 && !words[2..].iter().any(|w| w == name) {
            continue;
        }
        let text = table(seeds)?;
        if page == "-" {
            println!("{text}");
            continue;
        }
        let (from, to) = (format!("<!-- asked {name} -->\n"), format!("<!-- /asked {name} -->"));
        let old = std::fs::read_to_string(page)?;
        let at = old.find(&from).ok_or_else(|| format!("{page}: no {from}"))? + from.len();
        let end = old.find(&to).ok_or_else(|| format!("{page}: no {to}"))?;
        std::fs::write(page, [&old[..at], &text, &old[end..]].concat())?;
    }
    Ok(())
}

/// Mean ± standard error, three digits without the leading 0.
fn cell(values: &[f64]) -> String {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / (n - 1.0);
    let short = |v: f64| format!("{v:.3}").replacen("0.", ".", 1);
    if values.len() < 2 {
        return short(mean);
    }
    format!("{} ± {}", short(mean), short((variance / n).sqrt()))
}

/// A row of a table.
fn row(cells: impl IntoIterator<Item = String>) -> String {
    cells.into_iter().fold("|".to_string(), |text, cell| text + " " + &cell + " |") + "\n"
}

/// The head of a table.
fn head(titles: impl IntoIterator<Item = String>) -> String {
    let titles: Vec<String> = titles.into_iter().collect();
    let count = titles.len();
    format!("{}|{}\n", row(titles), "---|".repeat(count))
}

#[test]
fn cells_are_short() {
    assert_eq!(cell(&[0.5]), ".500");
    assert_eq!(cell(&[0.5, 0.7]), ".600 ± .100");
    assert_eq!(head(["a".to_string()]), "| a |\n|---|\n");
}
