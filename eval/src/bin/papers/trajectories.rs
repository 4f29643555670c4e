//! Huang, Lai, Wang 2016: Tables V to IX.

use consilience::catalogue::{Settings, by_name};
use consilience::core::Stream;
use consilience::graph::SparsePairCounts;
use consilience::walk::{EliteNeighbours, Pta, Ptgp};
use consilience::{ConsensusFunction, Ensemble, Microclusters, Partition, Seed};
use rayon::prelude::*;

use crate::Failure;
use crate::figures::{GRAPHS, METHODS, Method, NEIGHBOURS, POOLS, PRESERVED, STEPS, SWEEPS};
use crate::reference::{Pool, integers, pools};

/// Members of an ensemble.
const MEMBERS: usize = 10;

/// Ensembles drawn from a pool.
fn drawn(pool: &Pool, draws: usize) -> Vec<Ensemble> {
    let draw = |at: usize| {
        let mut random: Stream = Seed(2016).derive("draws", at as u64).stream();
        let mut columns: Vec<usize> = (0..pool.labels.ncols()).collect();
        for i in 0..MEMBERS {
            let left = columns.len() - i;
            columns.swap(i, i + random.below(left));
        }
        pool.ensemble(&columns[..MEMBERS])
    };
    (0..draws).map(draw).collect()
}

/// Mean and twice its standard error.
#[derive(Clone, Copy)]
struct Mean(f64, f64);

fn mean(values: &[f64]) -> Mean {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (n - 1.0).max(1.0);
    Mean(mean, 2.0 * (variance / n).sqrt())
}

/// Paper / ours ± error, and the difference where it shows.
fn cell(paper: f64, Mean(ours, error): Mean) -> String {
    let short = |v: f64| format!("{v:.3}").replace("0.", ".");
    let difference = ours - paper;
    let ours = format!("{} ± {}", short(ours), short(error));
    let told =
        if difference.abs() >= 0.02 { format!(" ({difference:+.3})") } else { String::new() };
    format!("{} / {ours}{}", short(paper), told.replace("0.", "."))
}

fn graphs(pools: &[Pool], ensembles: &[Vec<Ensemble>]) -> Result<String, Failure> {
    let mut text = "### Table V: graphs, and Table VI: share of links kept, percent\n\n\
        | pool | nodes | links | K = 1 | 2 | 4 | 8 | 16 | 32 | 64 |\n"
        .to_string();
    text += &format!("|{}\n", "---|".repeat(10));
    for (at, (pool, drawn)) in pools.iter().zip(ensembles).enumerate() {
        let rows: Result<Vec<Vec<f64>>, consilience::Error> = drawn
            .par_iter()
            .map(|e| {
                let nodes = Microclusters::of(e)?;
                let all = SparsePairCounts::of(&nodes, &())?.n_links() as f64;
                let mut row = vec![nodes.n_nodes() as f64, all];
                for &k in &NEIGHBOURS[..7] {
                    row.push(100.0 * EliteNeighbours::of(&nodes, k)?.n_links() as f64 / all);
                }
                Ok(row)
            })
            .collect();
        let rows = rows?;
        let column = |c: usize| rows.iter().map(|r| r[c]).sum::<f64>() / rows.len() as f64;
        let mut cells = vec![
            format!("{} / {:.0}", GRAPHS[at][0], column(0)),
            format!("{} / {:.0}", GRAPHS[at][1], column(1)),
        ];
        cells.extend((0..7).map(|k| format!("{} / {:.1}", PRESERVED[at][k], column(k + 2))));
        text += &format!("| {} | {} |\n", pool.name, cells.join(" | "));
    }
    Ok(text + "\n")
}

/// One method, pool by pool: K varied, or T.
fn sweep(
    which: usize,
    steps: bool,
    pools: &[Pool],
    ensembles: &[Vec<Ensemble>],
) -> Result<String, Failure> {
    let (name, table) = [("PTA", "VII"), ("PTGP", "VIII")][which];
    let (what, values) = if steps { ("T, K = 10", STEPS) } else { ("K, T = 10", NEIGHBOURS) };
    let titles = values.map(|v| if v == 0 { "all".to_string() } else { v.to_string() });
    let mut text =
        format!("### Table {table}: {name} over {what}\n\n| pool | {} |\n", titles.join(" | "));
    text += &format!("|{}\n", "---|".repeat(9));
    for (at, (pool, drawn)) in pools.iter().zip(ensembles).enumerate() {
        let mut cells = Vec::new();
        for (column, &value) in values.iter().enumerate() {
            let value = if value == 0 { usize::MAX >> 1 } else { value };
            let (k, t) = if steps { (10, value) } else { (value, 10) };
            let scores: Result<Vec<f64>, consilience::Error> = drawn
                .par_iter()
                .map(|e| {
                    let found = if which == 0 {
                        Pta::new(pool.clusters).elite_neighbours(k).walk_length(t).consensus(e)?
                    } else {
                        Ptgp::new(pool.clusters).elite_neighbours(k).walk_length(t).consensus(e)?
                    };
                    Ok(pool.nmi(&found))
                })
                .collect();
            cells.push(cell(SWEEPS[which][at][usize::from(steps)][column], mean(&scores?)));
        }
        text += &format!("| {} | {} |\n", pool.name, cells.join(" | "));
    }
    Ok(text + "\n")
}

/// The settings of a method, in its published form.
fn settings(method: &Method, k: usize) -> Settings {
    method.parameters.iter().fold(Settings::new(k), |s, (name, value)| s.parameter(*name, value))
}

/// NMI at the best of the numbers of clusters, and at the true one.
fn scores(method: &Method, pool: &Pool, e: &Ensemble) -> Result<[f64; 2], consilience::Error> {
    let numbers: Vec<usize> = integers(&pool.golden["cluster_numbers_for_best_k"]).collect();
    let entry = by_name(method.ours)?;
    let at: Box<dyn Fn(usize) -> Result<Partition, consilience::Error>> = if entry.has_tree() {
        let tree = entry.hierarchy(&settings(method, pool.clusters))?;
        let (nodes, tree) = tree.dendrogram(e, &())?;
        Box::new(move |k| nodes.grouping().expand(&tree.cut(k.min(tree.n_leaves()))?))
    } else {
        Box::new(|k| entry.build(&settings(method, k))?.consensus(e))
    };
    let mut best = 0.0f64;
    for k in numbers {
        best = best.max(pool.nmi(&at(k)?));
    }
    Ok([best, pool.nmi(&at(pool.clusters)?)])
}

fn comparison(pools: &[Pool], ensembles: &[Vec<Ensemble>], all: bool) -> Result<String, Failure> {
    let mut text =
        "### Table IX: NMI (by the larger entropy)\n\nAt the best and at the true number of \
                    clusters.\n\n| method |"
            .to_string();
    for pool in pools {
        text += &format!(" {}, best k | true k |", pool.name);
    }
    text += &format!(" cause |\n|{}\n", "---|".repeat(2 * pools.len() + 2));
    for method in METHODS {
        eprintln!("{}", method.name);
        let mut row = format!("| {} |", method.name);
        for (at, (pool, drawn)) in pools.iter().zip(ensembles).enumerate() {
            // Where the paper has no figure the method is not run either.
            let [best, at_truth] = method.paper[at];
            if best.is_nan() {
                row += " – | – |";
                continue;
            }
            if method.ours == "ecmc-al" && !all {
                row += &format!(" {best} / not run | {at_truth} / not run |");
                continue;
            }
            let found: Result<Vec<[f64; 2]>, consilience::Error> =
                drawn.par_iter().map(|e| scores(method, pool, e)).collect();
            let found = found?;
            for which in 0..2 {
                let values: Vec<f64> = found.iter().map(|f| f[which]).collect();
                row += &format!(" {} |", cell(method.paper[at][which], mean(&values)));
            }
        }
        text += &format!("{row} {} |\n", method.cause);
    }
    Ok(text + "\n")
}

/// All tables, in Markdown.
pub(crate) fn tables(draws: usize, all: bool) -> Result<String, Failure> {
    let pools = pools(&POOLS);
    if pools.is_empty() {
        return Ok("skipped: no pools\n".to_string());
    }
    let ensembles: Vec<Vec<Ensemble>> = pools.iter().map(|p| drawn(p, draws)).collect();
    let mut text = format!(
        "## Huang, Lai, Wang 2016: probability trajectories\n\n\
         The authors' own pools, {draws} draws of ten members each (the paper: 20 in Tables V\n\
         to VIII, 100 in IX). Six of their ten sets are not at hand: MNIST, ODR, USPS, FC,\n\
         KDD99 and its tenth.\n\n"
    );
    text += &graphs(&pools, &ensembles)?;
    for which in 0..2 {
        for steps in [false, true] {
            text += &sweep(which, steps, &pools, &ensembles)?;
        }
    }
    text += &comparison(&pools, &ensembles, all)?;
    Ok(text)
}
