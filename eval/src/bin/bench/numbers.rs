//! How far the number of clusters is from the number of classes.

use std::collections::BTreeMap;
use std::path::Path;

use consilience::Result;
use consilience::trust::ClusterNumber;
use rayon::prelude::*;

use crate::Any;
use crate::groups::Case;
use crate::runs::{files, head};

/// What each criterion says of an ensemble, by name.
fn answers(case: &Case) -> Result<Vec<(String, f64)>> {
    let table = ClusterNumber::new().choose(&case.ensemble)?;
    let mut out: Vec<(String, f64)> =
        table.criteria.iter().map(|c| (c.name.to_string(), c.clusters as f64)).collect();
    out.push(("recommended".into(), table.recommended as f64));
    let mut members: Vec<usize> = case.ensemble.members().iter().map(|m| m.n_clusters()).collect();
    members.sort_unstable();
    let middle = members[members.len() / 2] as f64;
    out.push(("median of the members".into(), middle));
    out.push(("half of that".into(), (middle / 2.0).max(2.0).round()));
    out.push(("always 8".into(), 8.0));
    Ok(out)
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

/// One ensemble: its group, its number of classes, and the answers.
type Row = (String, f64, Vec<(String, f64)>);

/// The table of relative errors.
pub(crate) fn table(folder: &Path) -> std::result::Result<(), Any> {
    let rows: Vec<Row> = files(folder)?
        .par_iter()
        .map(|path| {
            let (group, case) = head(path)?;
            let k = case.truth.n_clusters() as f64;
            Ok((group, k, answers(&case)?))
        })
        .collect::<std::result::Result<_, Any>>()?;
    let mut found: BTreeMap<&str, BTreeMap<&str, Draws>> = BTreeMap::new();
    let (mut inside, mut width) = (0, Vec::new());
    for (group, k, answers) in &rows {
        for (name, own) in answers {
            found.entry(name).or_default().entry(group).or_default().push((*own, *k));
        }
        let criteria = answers.iter().take_while(|(name, _)| name != "recommended").map(|a| a.1);
        let (low, high) =
            criteria.fold((f64::MAX, f64::MIN), |(low, high), k| (low.min(k), high.max(k)));
        inside += usize::from((low..=high).contains(k));
        width.push(high / low);
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
    println!(
        "\nfrom the least to the largest of the criteria: holds the number of classes in \
         {inside} of {} ensembles, median ratio of its ends {:.1}",
        rows.len(),
        median(width)
    );
    Ok(())
}
