//! How far the number of clusters is from the number of classes.

use std::collections::BTreeMap;
use std::path::Path;

use consilience::graph::{ClusterIncidence, IncidenceSpectrum};
use consilience::trust::ClusterNumber;
use consilience::{Microclusters, Result};
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
    let nodes = Microclusters::of(&case.ensemble)?;
    let incidence = ClusterIncidence::of(&nodes);
    let even = vec![1.0; incidence.n_clusters()];
    let most = 40.min(nodes.n_nodes()).min(incidence.n_clusters());
    let values = IncidenceSpectrum::of(&incidence, &even, most, &())?.values;
    let spread = values.iter().map(|v| v * v).sum::<f64>().round().max(2.0);
    out.push(("spread".into(), spread));
    let mut members: Vec<usize> = case.ensemble.members().iter().map(|m| m.n_clusters()).collect();
    members.sort_unstable();
    let middle = members[members.len() / 2] as f64;
    out.push(("median of the members".into(), middle));
    out.push(("half of that".into(), (middle / 2.0).max(2.0).round()));
    let joined: f64 = out
        .iter()
        .filter(|(name, _)| ["spread", "half of that"].contains(&name.as_str()))
        .map(|(_, k)| k.ln())
        .sum();
    out.push(("spread with half of that".into(), (joined / 2.0).exp().round()));
    out.push(("always 8".into(), 8.0));
    Ok(out)
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

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
    let mut errors: BTreeMap<&str, BTreeMap<&str, Vec<f64>>> = BTreeMap::new();
    let (mut inside, mut width) = (0, Vec::new());
    for (group, k, answers) in &rows {
        for (name, found) in answers {
            let error = (found - k).abs() / k;
            errors.entry(name).or_default().entry(group).or_default().push(error);
        }
        let criteria = answers[..4].iter().map(|(_, k)| *k);
        let (low, high) =
            criteria.fold((f64::MAX, f64::MIN), |(low, high), k| (low.min(k), high.max(k)));
        inside += usize::from((low..=high).contains(k));
        width.push(high / low);
    }
    println!(
        "| | median relative error over groups | mean | groups within 25 % |\n|---|---|---|---|"
    );
    for (name, groups) in errors {
        let own: Vec<f64> =
            groups.values().map(|e| e.iter().sum::<f64>() / e.len() as f64).collect();
        let near = own.iter().filter(|&&e| e <= 0.25).count();
        let mean = own.iter().sum::<f64>() / own.len() as f64;
        println!("| {name} | {:.3} | {mean:.3} | {near} of {} |", median(own.clone()), own.len());
    }
    println!(
        "\nfrom the least to the largest of the four criteria: holds the number of classes in \
         {inside} of {} ensembles, median ratio of its ends {:.1}",
        rows.len(),
        median(width)
    );
    Ok(())
}
