//! What the kept runs say: evidence without labels, and how well rules on it choose.

use std::collections::BTreeMap;
use std::fs::{File, read_to_string};
use std::io::{BufWriter, Write};
use std::path::Path;

use consilience::scores::{Normalizer, adjusted_rand, normalized_mutual_information};
use consilience::{Partition, Result, Seed};
use serde_json::{Value, json};

use crate::Any;
use crate::runs::{files, partitions, read};

/// What a result is judged by, in the order of [`Run::evidence`].
const EVIDENCE: [&str; 7] = [
    "ARI with the members",
    "NMI with the members",
    "ARI of halves with each other",
    "ARI of halves with the whole",
    "ARI of samples of the objects with the whole",
    "ARI with halves, both methods",
    "members and halves, both methods",
];

/// One method on one ensemble.
struct Run {
    method: String,
    labels: Partition,
    halves: Vec<Partition>,
    samples: Vec<Partition>,
    /// NMI and ARI with the truth.
    scores: [f64; 2],
    seconds: f64,
    evidence: Vec<f64>,
}

/// One ensemble with its runs.
struct Draw {
    group: String,
    draw: u64,
    runs: Vec<Run>,
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let all: Vec<f64> = values.collect();
    all.iter().sum::<f64>() / all.len().max(1) as f64
}

impl Run {
    fn read(line: &Value) -> Result<Self> {
        let number = |name: &str| line[name].as_f64().unwrap_or(0.0);
        Ok(Run {
            method: line["method"].as_str().unwrap_or("").to_string(),
            labels: read(line["labels"].as_str().unwrap_or(""))?,
            halves: partitions(&line["halves"])?,
            samples: partitions(&line["samples"])?,
            scores: [number("nmi"), number("ari")],
            seconds: number("seconds"),
            evidence: Vec::new(),
        })
    }

    /// In the order of [`EVIDENCE`]; `others` are results on halves by the methods of `auto`.
    fn evidence(&self, members: &[Partition], others: &[&Partition]) -> Vec<f64> {
        let ari = |a: &Partition, b: &Partition| adjusted_rand(a, b).unwrap_or(0.0);
        let nmi = |m: &Partition| {
            normalized_mutual_information(&self.labels, m, Normalizer::Sqrt).unwrap_or(0.0)
        };
        let with_members = mean(members.iter().map(|m| ari(&self.labels, m)));
        let with_halves = mean(others.iter().map(|h| ari(&self.labels, h)));
        vec![
            with_members,
            mean(members.iter().map(nmi)),
            mean(self.halves.chunks_exact(2).map(|h| ari(&h[0], &h[1]))),
            mean(self.halves.iter().map(|h| ari(&self.labels, h))),
            mean(self.samples.iter().map(|s| ari(&self.labels, s))),
            with_halves,
            with_members + with_halves,
        ]
    }
}

impl Draw {
    fn read(path: &Path) -> std::result::Result<Self, Any> {
        let text = read_to_string(path)?;
        let lines: Vec<Value> =
            text.lines().map(serde_json::from_str).collect::<std::result::Result<_, _>>()?;
        let head = lines.first().ok_or("an empty file")?;
        let members = partitions(&head["members"])?;
        let mut runs = lines[1..].iter().map(Run::read).collect::<Result<Vec<_>>>()?;
        let others: Vec<Partition> = runs
            .iter()
            .filter(|r| ["lwea", "diffusion"].contains(&r.method.as_str()))
            .flat_map(|r| r.halves.clone())
            .collect();
        let others: Vec<&Partition> = others.iter().collect();
        for run in &mut runs {
            run.evidence = run.evidence(&members, &others);
        }
        let group = head["group"].as_str().unwrap_or("").to_string();
        Ok(Draw { group, draw: head["draw"].as_u64().unwrap_or(0), runs })
    }

    fn scores(&self, method: &str) -> [f64; 2] {
        self.runs.iter().find(|r| r.method == method).map_or([f64::NAN; 2], |r| r.scores)
    }

    /// The scores of the candidate with the most of an evidence.
    fn chosen(&self, candidates: &[&str], evidence: usize) -> [f64; 2] {
        let own = self.runs.iter().filter(|r| candidates.contains(&r.method.as_str()));
        own.max_by(|a, b| a.evidence[evidence].total_cmp(&b.evidence[evidence]))
            .map_or([f64::NAN; 2], |r| r.scores)
    }
}

/// Mean scores of each group.
type ByGroup = BTreeMap<String, [f64; 2]>;

fn by_group(draws: &[Draw], of: impl Fn(&Draw) -> [f64; 2]) -> ByGroup {
    let mut sums: BTreeMap<String, ([f64; 2], f64)> = BTreeMap::new();
    for draw in draws {
        let scores = of(draw);
        let entry = sums.entry(draw.group.clone()).or_default();
        entry.0.iter_mut().zip(scores).for_each(|(s, v)| *s += v);
        entry.1 += 1.0;
    }
    sums.into_iter().map(|(g, (s, n))| (g, [s[0] / n, s[1] / n])).collect()
}

fn total(groups: &ByGroup) -> [f64; 2] {
    [mean(groups.values().map(|s| s[0])), mean(groups.values().map(|s| s[1]))]
}

/// A row: means, gain over a method with the standard error of a bootstrap over groups, and how far
/// below the best of the methods on the worst group.
fn row(name: &str, groups: &ByGroup, base: &ByGroup, best: &BTreeMap<String, f64>) -> String {
    let [nmi, ari] = total(groups);
    let gains: Vec<[f64; 2]> =
        groups.iter().map(|(g, s)| [s[0] - base[g][0], s[1] - base[g][1]]).collect();
    let mut cells = String::new();
    for score in 0..2 {
        let own: Vec<f64> = gains.iter().map(|g| g[score]).collect();
        let mut stream = Seed(1).derive("bootstrap", score as u64).stream();
        let draws: Vec<f64> =
            (0..1000).map(|_| mean((0..own.len()).map(|_| own[stream.below(own.len())]))).collect();
        let centre = mean(draws.iter().copied());
        let error = mean(draws.iter().map(|d| (d - centre) * (d - centre))).sqrt();
        cells += &format!(" {:+.4} ({error:.4}) |", mean(own.into_iter()));
    }
    let short: Vec<f64> = groups.iter().map(|(g, s)| best[g] - s[0]).collect();
    let worst = short.iter().copied().fold(f64::MIN, f64::max);
    let many = short.iter().filter(|&&s| s > 0.03).count();
    format!("| {name} | {nmi:.4} | {ari:.4} |{cells} {worst:.3} | {many} |")
}

/// Kinds of groups, by how their names begin and end.
fn kind(group: &str) -> &'static str {
    let drawn = ["moons", "gauss", "unequal", "rings", "filaments", "noise"];
    if group.starts_with("pool") {
        "pools"
    } else if drawn.iter().any(|d| group.starts_with(d)) {
        "drawn worlds"
    } else if group.contains(" x0") {
        "features, geometric sizes"
    } else {
        "features"
    }
}

/// The tables, and `evidence.jsonl` in the folder: a line for each ensemble and method.
pub(crate) fn tables(folder: &Path) -> std::result::Result<(), Any> {
    let draws: Vec<Draw> =
        files(folder)?.iter().map(|p| Draw::read(p)).collect::<std::result::Result<_, _>>()?;
    let mut out = BufWriter::new(File::create(folder.join("evidence.jsonl"))?);
    for draw in &draws {
        for run in &draw.runs {
            let evidence: BTreeMap<_, _> = EVIDENCE.iter().zip(&run.evidence).collect();
            let line = json!({"group": draw.group, "draw": draw.draw, "method": run.method,
                "nmi": run.scores[0], "ari": run.scores[1], "seconds": run.seconds,
                "evidence": evidence});
            writeln!(out, "{line}")?;
        }
    }
    print_tables(&draws);
    Ok(())
}

fn print_tables(draws: &[Draw]) {
    let mut methods: Vec<&str> =
        draws.iter().flat_map(|d| d.runs.iter().map(|r| r.method.as_str())).collect();
    methods.sort_unstable();
    methods.dedup();
    let single: Vec<&str> = methods.iter().copied().filter(|m| *m != "auto").collect();
    let of: BTreeMap<&str, ByGroup> =
        methods.iter().map(|m| (*m, by_group(draws, |d| d.scores(m)))).collect();
    let base_name = single
        .iter()
        .max_by(|a, b| total(&of[*a])[0].total_cmp(&total(&of[*b])[0]))
        .copied()
        .unwrap_or("lwea");
    let base = &of[base_name];
    let rivals = ["pta", "ptgp", "lwea", "lwgp", "eac-al", "diffusion"];
    let best: BTreeMap<String, f64> = base
        .keys()
        .map(|g| (g.clone(), rivals.iter().map(|m| of[m][g][0]).fold(f64::MIN, f64::max)))
        .collect();
    println!("{} groups, {} ensembles\n", base.len(), draws.len());
    let head = format!(
        "| NMI | ARI | NMI above {base_name} (error) | ARI above it (error) | worst group below \
         the best | groups more than .03 below |\n|---|---|---|---|---|---|---|"
    );
    println!("| method {head}");
    for method in &methods {
        println!("{}", row(method, &of[method], base, &best));
    }
    println!(
        "\n| kind | groups | {} |\n|---|---|{}",
        methods.join(" | "),
        "---|".repeat(methods.len())
    );
    for name in ["pools", "features", "features, geometric sizes", "drawn worlds"] {
        let own: Vec<&String> = base.keys().filter(|g| kind(g) == name).collect();
        let cell = |m: &&str| {
            let [nmi, ari] = [0, 1].map(|s| mean(own.iter().map(|g| of[m][*g][s])));
            format!("{nmi:.3} / {ari:.3}")
        };
        let cells: Vec<String> = methods.iter().map(cell).collect();
        println!("| {name} | {} | {} |", own.len(), cells.join(" | "));
    }
    let seconds = |m: &str| {
        let mut all: Vec<f64> = draws
            .iter()
            .flat_map(|d| d.runs.iter().filter(|r| r.method == m).map(|r| r.seconds))
            .collect();
        all.sort_by(f64::total_cmp);
        all.get(all.len() / 2).copied().unwrap_or(0.0)
    };
    let cells: Vec<String> = methods.iter().map(|m| format!("{m} {:.3}", seconds(m))).collect();
    println!("\nmedian seconds: {}\n", cells.join(", "));
    print_rules(draws, &single, base, &best, &head);
}

/// Every rule (an evidence and a set of candidates), and what is reached when the rule for each
/// group is the one that is best on all others.
fn print_rules(
    draws: &[Draw],
    single: &[&str],
    base: &ByGroup,
    best: &BTreeMap<String, f64>,
    head: &str,
) {
    let sets: [(&str, Vec<&str>); 3] = [
        ("lwea, diffusion", vec!["lwea", "diffusion"]),
        ("lwea, lwgp, diffusion", vec!["lwea", "lwgp", "diffusion"]),
        ("all", single.to_vec()),
    ];
    let mut rules: Vec<ByGroup> = Vec::new();
    println!("| chosen by, among {head}");
    for (name, set) in &sets {
        for (evidence, title) in EVIDENCE.iter().enumerate() {
            rules.push(by_group(draws, |d| d.chosen(set, evidence)));
            let title = format!("{title}: {name}");
            println!("{}", row(&title, &rules[rules.len() - 1], base, best));
        }
    }
    let oracle = by_group(draws, |d| {
        let top = |a: &&Run, b: &&Run| a.scores[0].total_cmp(&b.scores[0]);
        let own = d.runs.iter().filter(|r| single.contains(&r.method.as_str()));
        own.max_by(top).map_or([f64::NAN; 2], |r| r.scores)
    });
    let left_out: ByGroup = base
        .keys()
        .map(|group| {
            let others = |rule: &ByGroup| {
                mean(rule.iter().filter(|(g, _)| *g != group).map(|(_, s)| s[0] + s[1]))
            };
            let rule = rules.iter().max_by(|a, b| others(a).total_cmp(&others(b)));
            (group.clone(), rule.map_or([f64::NAN; 2], |r| r[group]))
        })
        .collect();
    println!("{}", row("the rule best on the other groups", &left_out, base, best));
    println!("{}", row("the best by the truth", &oracle, base, best));
}
