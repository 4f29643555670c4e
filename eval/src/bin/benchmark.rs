//! Beside an independent benchmark: the tables of `docs/benchmark.md`.
//!
//! `cargo run --release --bin benchmark -- docs/benchmark.md` reads the benchmark's figures from
//! `$CONSILIENCE_DATA/benchmark/survey-2026.json` (`datasets[].name`, `variants[]`,
//! `mean[score][variant][dataset]`), runs the same methods on those of its sets that are in
//! `pools` and `features`, and writes the page.

#[path = "../../../tests/reference/mod.rs"]
mod reference;

use std::fmt::Write as _;
use std::time::Instant;

use consilience::consensus::{
    EcCms, EcpcsHc, EcpcsMc, EvidenceAccumulation, GpMgla, Hbgf, Lwea, Lwgp, Sdgca,
};
use consilience::generate::{Generator, KMeans};
use consilience::scores::{Normalizer, adjusted_rand, normalized_mutual_information};
use consilience::trust::Recommended;
use consilience::walk::Diffusion;
use consilience::{ConsensusFunction, Ensemble, Microclusters, Partition, Seed};
use consilience_eval::sets::Set;
use serde_json::Value;

type Any = Box<dyn std::error::Error>;
type Method = Box<dyn ConsensusFunction<Output = Partition>>;

const MEMBERS: usize = 10;
/// Draws of a set of features; a pool has those of its file, at most so many.
const DRAWS: u64 = 5;
/// EC-CMS and SDGCA are quadratic in these, and cubic in the largest component.
const DENSE: usize = 2_500;

/// A method here, and the line of the benchmark that it is compared with.
const METHODS: [(&str, Option<usize>); 11] = [
    ("eac-al", Some(26)),
    ("hbgf", Some(18)),
    ("gp-mgla", Some(10)),
    ("ecpcs-hc", Some(11)),
    ("ecpcs-mc", Some(12)),
    ("lwea", Some(32)),
    ("lwgp", Some(33)),
    ("ec-cms", Some(27)),
    ("sdgca", Some(36)),
    ("diffusion", None),
    ("auto", None),
];

/// Sets of the benchmark that are at hand: its name, ours, and whether ours is a pool.
const SETS: [(&str, &str, bool); 15] = [
    ("Caltech20", "Caltech20", true),
    ("FCT", "FCT", true),
    ("IS", "IS", true),
    ("LS", "LS", true),
    ("MF", "MF", true),
    ("PD", "PD", true),
    ("Semeion", "Semeion", true),
    ("Texture", "Texture", true),
    ("VS", "VS", true),
    ("Ecoli", "ecoli", false),
    ("yeast", "yeast", false),
    ("balance", "balance", false),
    ("Image_Segmentation", "segmentation", false),
    ("USPS", "usps", false),
    ("LR", "letters", false),
];

const SCORES: [&str; 2] = ["NMI", "ARI"];

fn method(name: &str, k: usize, draw: u64) -> Method {
    let seed = Seed(draw);
    match name {
        "eac-al" => Box::new(EvidenceAccumulation::new(k)),
        "hbgf" => Box::new(Hbgf::new(k).seed(seed)),
        "gp-mgla" => Box::new(GpMgla::new(k)),
        "ecpcs-hc" => Box::new(EcpcsHc::new(k)),
        "ecpcs-mc" => Box::new(EcpcsMc::new(k).seed(seed)),
        "lwea" => Box::new(Lwea::new(k)),
        "lwgp" => Box::new(Lwgp::new(k).seed(seed)),
        "ec-cms" => Box::new(EcCms::new(k)),
        "sdgca" => Box::new(Sdgca::new(k)),
        "diffusion" => Box::new(Diffusion::new(k).seed(seed)),
        _ => Box::new(Recommended::new(k).seed(seed)),
    }
}

/// The ensembles of a set, with its classes.
fn ensembles(name: &str, pool: bool) -> Result<(Vec<Ensemble>, Partition), Any> {
    if pool {
        let pool = reference::Pool::read(&reference::folder("pools"), name)?;
        let draws = pool.draws.iter().take(DRAWS as usize);
        return Ok((draws.map(|columns| pool.ensemble(columns)).collect(), pool.truth));
    }
    let set = Set::read(name).ok_or("no such set")?.prepared(name);
    let most = (set.x.nrows() as f64).sqrt() as usize;
    let made = (0..DRAWS).map(|draw| {
        let seed = Seed(draw).derive(name, 0);
        let generator = Generator::new(KMeans::new()).members(MEMBERS).clusters(2..=most);
        generator.seed(seed).generate(set.x.view())
    });
    Ok((made.collect::<Result<_, _>>()?, set.truth()))
}

/// Mean NMI and ARI of a method over ensembles; `None` where it would take minutes.
fn scores(name: &str, ensembles: &[Ensemble], truth: &Partition) -> Result<Option<[f64; 2]>, Any> {
    let mut sums = [0.0; 2];
    for (draw, ensemble) in ensembles.iter().enumerate() {
        let dense = ["ec-cms", "sdgca"].contains(&name);
        if dense && Microclusters::of(ensemble)?.n_nodes() > DENSE {
            return Ok(None);
        }
        let found = method(name, truth.n_clusters(), draw as u64).consensus(ensemble)?;
        sums[0] += normalized_mutual_information(&found, truth, Normalizer::Arithmetic)?;
        sums[1] += adjusted_rand(&found, truth)?;
    }
    Ok(Some(sums.map(|s| s / ensembles.len() as f64)))
}

/// The benchmark's figure of a score, a method and a set.
fn theirs(survey: &Value, score: &str, variant: Option<usize>, set: &str) -> Option<f64> {
    let sets = survey["datasets"].as_array()?;
    let at = sets.iter().position(|s| s["name"] == set)?;
    survey["mean"][score][variant?][at].as_f64()
}

/// A line of the table: per set theirs and ours, and means over the sets that both have.
type Row = Vec<(Option<f64>, Option<f64>)>;

fn table(page: &mut String, names: &[&str], score: &str, rows: &[(&str, Row)]) -> Result<(), Any> {
    writeln!(page, "| {score} | {} | mean |", names.join(" | "))?;
    writeln!(page, "|{}", "---|".repeat(names.len() + 2))?;
    let shown = |v: Option<f64>| v.map_or("-".to_string(), |v| format!("{v:.3}"));
    for (name, row) in rows {
        let cells: Vec<String> = row
            .iter()
            .map(|&(a, b)| match a {
                None if row.iter().all(|c| c.0.is_none()) => shown(b),
                _ => format!("{} / {}", shown(a), shown(b)),
            })
            .collect();
        let published = row.iter().any(|c| c.0.is_some());
        // A method that the survey does not have is in its own mean wherever it ran.
        let pairs = row.iter().filter_map(|&(a, b)| if published { a.zip(b) } else { b.zip(b) });
        let both: Vec<(f64, f64)> = pairs.collect();
        let mean = |f: fn(&(f64, f64)) -> f64| both.iter().map(f).sum::<f64>() / both.len() as f64;
        let means = if published {
            format!("{:.3} / {:.3} ({} sets)", mean(|c| c.0), mean(|c| c.1), both.len())
        } else {
            format!("{:.3} ({} sets)", mean(|c| c.1), both.len())
        };
        writeln!(page, "| {name} | {} | {means} |", cells.join(" | "))?;
    }
    Ok(writeln!(page)?)
}

const HEAD: &str = "\
# Beside an independent benchmark

Are these methods as good here as in an independent comparison? For readers who choose a method: *A
Comprehensive Survey of Ensemble Clustering* (2026) compares 71 variants on 86 data sets, and the
tables below have its figures beside ours, *theirs / ours*, for those of its sets that are at hand
and those of its methods that are here too. Its figures are public: the repository
`xuz2019/ensemble-clustering-survey-interactive-explorer` on GitHub, file `data/review-data.json`,
generated 2026-04-29. Written by

```console
cargo run --release --manifest-path eval/Cargo.toml --bin benchmark -- docs/benchmark.md
```

The two columns are not the same experiment. **Theirs** are the best of a grid of parameters, chosen
with the classes, for every method; how ensembles were drawn is not stated. **Ours** have one
setting for all sets, the default, and the true number of clusters: ten members each, the first
draws of the reference pools and, for sets of features, members by k-means with 2 to sqrt n
clusters; means of five draws. NMI is 2 I / (H + H'), by the arithmetic mean of the entropies, as in
the survey. A mean is over the sets that both have. Where EC-CMS and SDGCA have more than 2,500
microclusters they were not run. Two methods that lead the benchmark's averages are
left out, CELTA (AAAI 2021) and GTLEC (ACM Multimedia 2023): their transform runs along the objects,
so that results depend on the order of the rows, and the sets on which they lead are sorted by
class.

";

fn main() -> Result<(), Any> {
    let page_path = std::env::args().nth(1).ok_or("expected: the page to write")?;
    let file = reference::folder("benchmark").join("survey-2026.json");
    let survey: Value = serde_json::from_str(&std::fs::read_to_string(file)?)?;
    let mut names = Vec::new();
    let mut rows: [Vec<(&str, Row)>; 2] =
        SCORES.map(|_| METHODS.iter().map(|&(name, _)| (name, Row::new())).collect());
    for (set, own, pool) in SETS {
        let start = Instant::now();
        let Ok((ensembles, truth)) = ensembles(own, pool) else {
            println!("{set} skipped: no file");
            continue;
        };
        names.push(set);
        for (at, &(name, variant)) in METHODS.iter().enumerate() {
            let found = scores(name, &ensembles, &truth)?;
            for (s, score) in SCORES.iter().enumerate() {
                let cell = (theirs(&survey, score, variant, set), found.map(|f| f[s]));
                rows[s][at].1.push(cell);
            }
        }
        println!("{set}: {:.0} s", start.elapsed().as_secs_f64());
    }
    let mut page = HEAD.to_string();
    for (score, rows) in SCORES.iter().zip(&rows) {
        table(&mut page, &names, score, rows)?;
    }
    std::fs::write(page_path, page)?;
    Ok(())
}
