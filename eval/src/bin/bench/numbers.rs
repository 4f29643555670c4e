//! How far the number of clusters is from the number of classes.

use std::collections::BTreeMap;
use std::path::Path;

use consilience::Result;
use consilience::trust::ClusterNumber;
use rayon::prelude::*;

use crate::Any;
use crate::groups::Case;
use crate::runs::{files, head};

/// The first and the last of a range.
type Ends = (f64, f64);

/// What each criterion says of an ensemble, by name, and the numbers given as possible.
fn answers(case: &Case) -> Result<(Vec<(String, f64)>, Ends)> {
    let table = ClusterNumber::new().choose(&case.ensemble)?;
    let possible = (table.range.0 as f64, table.range.1 as f64);
    let mut out: Vec<(String, f64)> =
        table.criteria.iter().map(|c| (c.name.to_string(), c.clusters as f64)).collect();
    out.push(("recommended".into(), table.recommended as f64));
    let mut members: Vec<usize> = case.ensemble.members().iter().map(|m| m.n_clusters()).collect();
    members.sort_unstable();
    let middle = members[members.len() / 2] as f64;
    out.push(("median of the members".into(), middle));
    out.push(("half of that".into(), (middle / 2.0).max(2.0).round()));
    out.push(("always 8".into(), 8.0));
    Ok((out, possible))
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0), |(s, c), v| (s + v, c + 1));
    sum / f64::from(count)
}

/// The number found and the number of classes, for each draw of a group.
type Draws = Vec<(f64, f64)>;

/// One ensemble: its group, its number of classes, the answers, and the range of the possible ones.
type Row = (String, f64, Vec<(String, f64)>, Ends);

/// In how many ensembles a range holds the number of classes, and how far its ends are apart.
fn ranges(name: &str, rows: &[Row], of: impl Fn(&Row) -> Ends) {
    let all: Vec<(f64, Ends)> = rows.iter().map(|row| (row.1, of(row))).collect();
    let inside = all.iter().filter(|(k, (low, high))| (low..=high).contains(&k)).count();
    let apart = median(all.iter().map(|(_, (low, high))| high / low).collect());
    println!(
        "\n{name}: holds the number of classes in {inside} of {} ensembles, median ratio of its \
         ends {apart:.1}",
        rows.len()
    );
}

/// From the least to the largest of what the criteria say.
fn of_criteria(row: &Row) -> Ends {
    let criteria = row.2.iter().take_while(|(name, _)| name != "recommended").map(|a| a.1);
    criteria.fold((f64::MAX, f64::MIN), |(low, high), k| (low.min(k), high.max(k)))
}

/// The table of relative errors.
pub(crate) fn table(folder: &Path) -> std::result::Result<(), Any> {
    let rows: Vec<Row> = files(folder)?
        .par_iter()
        .map(|path| {
            let (group, case) = head(path)?;
            let k = case.truth.n_clusters() as f64;
            let (answers, possible) = answers(&case)?;
            Ok((group, k, answers, possible))
        })
        .collect::<std::result::Result<_, Any>>()?;
    let mut found: BTreeMap<&str, BTreeMap<&str, Draws>> = BTreeMap::new();
    for (group, k, answers, _) in &rows {
        for (name, own) in answers {
            found.entry(name).or_default().entry(group).or_default().push((*own, *k));
        }
    }
    println!(
        "| | median relative error over groups | mean | groups within 25 % | within a factor of 2 \
         | draws of a group apart |\n|---|---|---|---|---|---|"
    );
    for (name, groups) in found {
        let error = |draws: &Draws| mean(draws.iter().map(|(a, k)| (a - k).abs() / k));
        let own: Vec<f64> = groups.values().map(error).collect();
        let near = own.iter().filter(|&&e| e <= 0.25).count();
        let log = |(a, k): &(f64, f64)| (a / k).ln();
        let all = groups.values().flatten().map(log);
        let twice = mean(all.map(|l| f64::from(l.abs() <= 2f64.ln() + 1e-9)));
        let apart = mean(groups.values().map(|draws| {
            let centre = mean(draws.iter().map(log));
            mean(draws.iter().map(|d| (log(d) - centre).powi(2))).sqrt()
        }));
        println!(
            "| {name} | {:.3} | {:.3} | {near} of {} | {twice:.2} | {apart:.2} |",
            median(own.clone()),
            mean(own.iter().copied()),
            own.len()
        );
    }
    ranges("from the least to the largest of the criteria", &rows, of_criteria);
    ranges("the numbers given as possible", &rows, |row| row.3);
    Ok(())
}
