//! Yi et al. 2015, Table 1, and Yi 2014, Table 6.1: seconds of a tier.

use std::time::Instant;

use consilience::ndarray::Array2;
use consilience::simplex::{ExactUpdate, WeightUpdater, WeightUpdaterSetup};
use consilience::{Constraints, Ensemble, Partition, Result, Seed, SideInformation};
use consilience_eval::sets::Set;
use rayon::prelude::*;

use crate::cells::{head, row};
use crate::linked::{Task, add_links};

/// Seconds on USPS in Table 1 of the paper of 2015.
const USPS: [(&str, f64); 7] = [
    ("PGDM", 304.0),
    ("LMNN", 514.0),
    ("ITML", 20.0),
    ("RCA", 1.6),
    ("DCA", 0.9),
    ("CCSKL", 373.0),
    ("PMMC", 791.0),
];
const USPS_ROWS: usize = 9_298;
/// Tiers whose seconds are averaged.
const TIERS: [usize; 3] = [1, 3, 5];

/// An updater's table: set, objects, clusters, members, links of a tier, seconds in the paper.
const LARGE: [(&str, usize, usize, usize, usize, f64); 7] = [
    ("COIL20", 1_440, 20, 300, 100, 0.2),
    ("USPS", USPS_ROWS, 10, 300, 100, 0.5),
    ("Covtype", 581_012, 7, 300, 500, 2.3),
    ("20 News", 18_774, 20, 50, 100, 0.6),
    ("RCV1", 193_844, 103, 50, 100, 1.3),
    ("YouTube", 2_860_264, 2, 50, 100, 1.7),
    ("Network Intrusion", 4_897_988, 10, 50, 100, 2.8),
];

/// Members that know a third of the objects wrongly, and cost nothing to make.
fn members(n: usize, k: usize, count: usize) -> Result<(Partition, Ensemble)> {
    let truth = Partition::from_fn(n, |i| Some((i % k) as u64))?;
    let member = |m: usize| {
        let mut stream = Seed(6).derive("member", m as u64).stream();
        let labels: Vec<u8> = (0..n)
            .map(|i| if stream.below(3) == 0 { stream.below(k) } else { i % k } as u8)
            .collect();
        Partition::from_labels(&labels)
    };
    let members: Result<Vec<Partition>> = (0..count).into_par_iter().map(member).collect();
    Ok((truth, Ensemble::new(members?)?))
}

/// The median of what is there.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Seconds of an update with the rounded clustering, the median of five tiers; and of the
/// clustering by k-means.
fn updater(n: usize, k: usize, count: usize, links: usize) -> Result<[f64; 2]> {
    let (truth, ensemble) = members(n, k, count)?;
    let setup = WeightUpdaterSetup::new(k).rule(ExactUpdate::default().balance(false));
    let mut updater: WeightUpdater = setup.updater(ensemble)?;
    let mut rounded = Vec::new();
    for tier in 0..5 {
        let mut batch = Constraints::new(n)?;
        add_links(&mut batch, &truth, links, Seed(6).derive("tier", tier))?;
        let batch: Vec<_> = batch.iter().collect();
        let start = Instant::now();
        updater.update(&batch)?;
        updater.partition()?;
        rounded.push(start.elapsed().as_secs_f64());
    }
    let start = Instant::now();
    updater.partition_by_kmeans(Seed(0), &())?;
    Ok([median(rounded), start.elapsed().as_secs_f64()])
}

/// Seconds of a compared method with all links so far: mean over the tiers.
fn compared(method: &str, x: &Array2<f64>, truth: &Partition) -> Result<f64> {
    let mut sum = 0.0;
    for tier in TIERS {
        let mut links = Constraints::new(x.nrows())?;
        add_links(&mut links, truth, 100 * tier, Seed(6).derive("links", 0))?;
        let side = SideInformation::from_constraints(&links);
        let task = Task { x: x.view(), k: truth.n_clusters(), side, seed: Seed(0) };
        let start = Instant::now();
        task.by(method)?;
        sum += start.elapsed().as_secs_f64();
    }
    Ok(sum / TIERS.len() as f64)
}

/// Both tables, in Markdown.
pub(crate) fn tables() -> Result<String> {
    let mut text = "### Paper of 2015, Table 1, and thesis, Table 6.1: seconds of a tier\n\n\
        Other machines, and ours shared with other work: single runs. The updater needs labels\n\
        alone, so that it is timed at the papers' sizes on members made of noise.\n\n"
        .to_string();
    text +=
        &head(&["set", "objects", "clusters", "members", "paper / ours, rounded", "k-means on F"]);
    for (name, n, k, count, links, paper) in LARGE {
        eprintln!("seconds, {name}");
        let [rounded, kmeans] = updater(n, k, count, links)?;
        text += &row([
            name.to_string(),
            n.to_string(),
            k.to_string(),
            count.to_string(),
            format!("{paper} / {rounded:.4}"),
            format!("{kmeans:.2}"),
        ]);
    }
    text += "\nThe compared methods on USPS (9,298 of our 11,000 rows, 256 features), learning and \
             clustering,\nmean of tiers 1, 3 and 5:\n\n";
    let Some(set) = Set::read("usps") else { return Ok(text) };
    let set = set.sample(&mut Seed(6).derive("rows", 0).stream(), USPS_ROWS);
    let truth = set.truth();
    text += &head(&["method", "paper / ours, s"]);
    for (method, paper) in USPS {
        eprintln!("seconds, {method}");
        let ours = compared(method, &set.x, &truth)?;
        text += &row([method.to_string(), format!("{paper} / {ours:.1}")]);
    }
    Ok(text + "\n")
}
