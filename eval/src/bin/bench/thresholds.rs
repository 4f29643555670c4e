//! Rules that choose the confidence of EC-CMS for each ensemble without labels.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use consilience::consensus::{EcCms, Lwea};
use consilience::graph::{Components, CountRow};
use consilience::scores::{Normalizer, adjusted_rand, normalized_mutual_information};
use consilience::{Microclusters, Result, Seed};
use rayon::prelude::*;

use crate::Any;
use crate::groups::{Case, MEMBERS};
use crate::runs::{Method, files, head, spread};

/// Confidences that are tried.
const GRID: [f64; 6] = [0.7, 0.75, 0.8, 0.85, 0.9, 0.95];
/// Those of them that are compared by evidence.
const JUDGED: [f64; 3] = [0.7, 0.8, 0.9];
/// Beyond this share of the objects in one component of reliable pairs, a confidence is refused.
const REFUSED: f64 = 0.7;
const SHARES: [f64; 5] = [0.3, 0.4, 0.5, 0.6, 0.7];
const SAMPLES: u64 = 3;
const KEPT: f64 = 0.7;

/// LWEA (no confidence), or EC-CMS at a confidence.
struct Run {
    confidence: Option<f64>,
    /// Part of the objects in the largest component of reliable pairs.
    share: f64,
    /// NMI and ARI with the classes.
    scores: [f64; 2],
    /// Mean ARI of results on samples of the objects with the result, and of members with it.
    evidence: Option<[f64; 2]>,
}

/// An ensemble: its group, how many members it has, and the runs, LWEA first.
struct Trial {
    group: String,
    members: usize,
    runs: Vec<Run>,
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0.0), |(s, c), v| (s + v, c + 1.0));
    sum / f64::max(count, 1.0)
}

/// The part of the objects in the largest component, for each confidence of the grid.
fn shares(nodes: &Microclusters) -> Result<[f64; GRID.len()]> {
    let sizes = nodes.grouping().weights();
    let mut row = CountRow::new(nodes)?;
    let mut links = Vec::new();
    for i in 0..nodes.n_nodes() {
        row.fill(nodes, i);
        links.extend((0..i).map(|j| (i, j, row.ratio(j))).filter(|link| link.2 >= GRID[0]));
    }
    Ok(GRID.map(|least| {
        let ends = links.iter().filter(|link| link.2 >= least).map(|&(i, j, _)| (i, j));
        let parts = Components::of_links(ends, &sizes);
        let mut objects = vec![0.0; parts.n_components()];
        parts.of_node().iter().zip(&sizes).for_each(|(&c, size)| objects[c] += size);
        objects.iter().copied().fold(0.0, f64::max) / sizes.iter().sum::<f64>()
    }))
}

fn run(case: &Case, confidence: Option<f64>, share: f64, seed: Seed) -> Result<Run> {
    let k = case.truth.n_clusters();
    let method: Method = match confidence {
        None => Box::new(Lwea::new(k)),
        Some(confidence) => Box::new(EcCms::new(k).confidence(confidence)),
    };
    let found = method.consensus(&case.ensemble)?;
    let n = case.ensemble.n_objects();
    let judged = share <= REFUSED && confidence.is_none_or(|c| JUDGED.contains(&c));
    let evidence = || -> Result<[f64; 2]> {
        let sample = |at| {
            let objects = seed.derive("objects", at).stream().sample(n, (n as f64 * KEPT) as usize);
            adjusted_rand(&spread(method.as_ref(), &case.ensemble, &objects)?, &found)
        };
        let samples = (0..SAMPLES).map(sample).collect::<Result<Vec<f64>>>()?;
        let members = case.ensemble.members().iter();
        let members = members.map(|m| adjusted_rand(m, &found)).collect::<Result<Vec<f64>>>()?;
        Ok([mean(samples.into_iter()), mean(members.into_iter())])
    };
    Ok(Run {
        confidence,
        share,
        scores: [
            normalized_mutual_information(&found, &case.truth, Normalizer::Max)?,
            adjusted_rand(&found, &case.truth)?,
        ],
        evidence: judged.then(evidence).transpose()?,
    })
}

impl Trial {
    fn of(path: &Path) -> std::result::Result<Self, Any> {
        let (group, case) = head(path)?;
        let members = case.ensemble.members().len();
        let seed = Seed(11).derive(&group, members as u64);
        let shares = shares(&Microclusters::of(&case.ensemble)?)?;
        let mut runs = vec![run(&case, None, 0.0, seed)?];
        for (confidence, share) in GRID.into_iter().zip(shares) {
            if share <= REFUSED || confidence == 0.8 {
                runs.push(run(&case, Some(confidence), share, seed)?);
            }
        }
        Ok(Trial { group, members, runs })
    }

    /// EC-CMS at the least confidence from `floor` on whose components hold at most this share.
    fn least(&self, floor: f64, share: f64) -> [f64; 2] {
        let fits = |r: &&Run| r.confidence.is_some_and(|c| c >= floor) && r.share <= share;
        self.runs.iter().find(fits).unwrap_or(&self.runs[0]).scores
    }

    /// The run with the most evidence; LWEA where it is as good.
    fn judged(&self, weights: [f64; 2]) -> [f64; 2] {
        let worth = |r: &Run| r.evidence.map(|e| weights[0] * e[0] + weights[1] * e[1]);
        let most = |best: &'_ Run, r: &'_ Run| worth(r) > worth(best);
        self.runs.iter().fold(&self.runs[0], |b, r| if most(b, r) { r } else { b }).scores
    }

    fn fixed(&self, confidence: f64) -> [f64; 2] {
        let own = |r: &&Run| r.confidence == Some(confidence);
        self.runs.iter().find(own).unwrap_or(&self.runs[0]).scores
    }

    fn best(&self) -> [f64; 2] {
        let top = |a: &&Run, b: &&Run| a.scores[0].total_cmp(&b.scores[0]);
        self.runs.iter().max_by(top).unwrap_or(&self.runs[0]).scores
    }
}

/// The data of a group, whatever its members and the sizes of its classes.
fn source(group: &str) -> &str {
    let mut words = group.split(' ');
    match (words.next(), words.next()) {
        (Some("pool"), Some("MF")) => "mfeat_pix",
        (Some("pool"), Some("IS")) => "segmentation",
        (Some("pool"), Some(name)) | (Some(name), _) => name,
        (None, _) => group,
    }
}

/// Mean gain over LWEA of each group.
type Gains<'a> = BTreeMap<&'a str, [f64; 2]>;

fn gains<'a>(trials: &[&'a Trial], of: impl Fn(&Trial) -> [f64; 2]) -> Gains<'a> {
    let mut all: BTreeMap<&str, Vec<[f64; 2]>> = BTreeMap::new();
    for &trial in trials {
        let (own, lwea) = (of(trial), trial.runs[0].scores);
        all.entry(&trial.group).or_default().push([own[0] - lwea[0], own[1] - lwea[1]]);
    }
    let means = |v: Vec<[f64; 2]>| [0, 1].map(|s| mean(v.iter().map(|g| g[s])));
    all.into_iter().map(|(g, v)| (g, means(v))).collect()
}

/// Mean gains by NMI and ARI, with standard errors of a bootstrap over sources.
fn cell(gains: &Gains) -> String {
    let mut sources: BTreeMap<&str, Vec<[f64; 2]>> = BTreeMap::new();
    gains.iter().for_each(|(g, own)| sources.entry(source(g)).or_default().push(*own));
    let sources: Vec<_> = sources.into_values().collect();
    let mut stream = Seed(1).derive("bootstrap", 0).stream();
    let drawn: Vec<[f64; 2]> = (0..1000)
        .map(|_| {
            let own: Vec<&[f64; 2]> =
                (0..sources.len()).flat_map(|_| &sources[stream.below(sources.len())]).collect();
            [0, 1].map(|s| mean(own.iter().map(|g| g[s])))
        })
        .collect();
    let part = |s: usize| {
        let centre = mean(drawn.iter().map(|d| d[s]));
        let error = mean(drawn.iter().map(|d| (d[s] - centre) * (d[s] - centre))).sqrt();
        format!("{:+.4} ({error:.4})", mean(gains.values().map(|g| g[s])))
    };
    format!("{} / {}", part(0), part(1))
}

/// For each source of data, the gains of the rule that is best on all others.
fn left_out<'a>(rules: &[Gains<'a>]) -> Gains<'a> {
    let groups = || rules[0].keys().copied();
    let worth = |rule: &Gains, left: &str| {
        mean(rule.iter().filter(|(g, _)| source(g) != left).map(|(_, s)| s[0] + s[1]))
    };
    let mut out = Gains::new();
    for left in groups().map(source).collect::<BTreeSet<_>>() {
        let best = |a: &&Gains, b: &&Gains| worth(a, left).total_cmp(&worth(b, left));
        let Some(rule) = rules.iter().max_by(best) else { continue };
        out.extend(groups().filter(|g| source(g) == left).map(|g| (g, rule[g])));
    }
    out
}

type Rule = (String, Box<dyn Fn(&Trial) -> [f64; 2]>);

fn rules() -> Vec<Rule> {
    let mut out: Vec<Rule> = vec![("LWEA".into(), Box::new(|t| t.runs[0].scores))];
    out.push(("confidence .8 everywhere".into(), Box::new(|t| t.fixed(0.8))));
    for floor in [0.7, 0.8] {
        for share in SHARES {
            let name = format!("least confidence from {floor} on, components of at most {share}");
            out.push((name, Box::new(move |t| t.least(floor, share))));
        }
    }
    let judged = [("samples", [1.0, 0.0]), ("members", [0.0, 1.0]), ("both", [1.0, 1.0])];
    for (name, weights) in judged {
        let name = format!("ARI with {name}: LWEA, .7, .8, .9");
        out.push((name, Box::new(move |t| t.judged(weights))));
    }
    out
}

/// The table of rules: for each number of members and for all, gains over LWEA.
pub(crate) fn table(folder: &Path) -> std::result::Result<(), Any> {
    let trials: Vec<Trial> = files(folder)?
        .par_iter()
        .map(|path| Trial::of(path))
        .collect::<std::result::Result<_, Any>>()?;
    let mut sets: Vec<Vec<&Trial>> =
        MEMBERS.iter().map(|&m| trials.iter().filter(|t| t.members == m).collect()).collect();
    sets.push(trials.iter().collect());
    sets.retain(|set| !set.is_empty());
    let rules = rules();
    let found: Vec<Vec<Gains>> =
        sets.iter().map(|set| rules.iter().map(|r| gains(set, &r.1)).collect()).collect();
    let print = |name: &str, columns: Vec<Gains>| {
        let cells: Vec<String> = columns.iter().map(cell).collect();
        println!("| {name} | {} |", cells.join(" | "));
    };
    println!("{} ensembles; NMI and ARI above LWEA", trials.len());
    for (at, (name, _)) in rules.iter().enumerate() {
        print(name, found.iter().map(|set| set[at].clone()).collect());
    }
    let left = found.iter().map(|set| left_out(set)).collect();
    print("the rule best on the other sources of data", left);
    print("the best by the classes", sets.iter().map(|set| gains(set, Trial::best)).collect());
    Ok(())
}
