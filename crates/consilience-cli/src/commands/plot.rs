//! `consilience plot`: pictures of ensembles and clusterings.

use std::time::Instant;

use consilience::bregman::{cluster_relations, surviving_clusters};
use consilience::graph::{CoAssociation, vat_order};
use consilience::report::pictures;
use consilience::trust::{ClusterNumber, ConsensusCdf};
use consilience::{Clusters, Ensemble, Microclusters, Seed, Similarity};
use ndarray::Axis;
use serde_json::json;

use crate::args::{Picture, Plot};
use crate::catalogue;
use crate::failure::Outcome;
use crate::files::{self, is_standard};
use crate::memory;
use crate::outputs::Outputs;
use crate::summary::Summary;
use crate::terminal::Terminal;

/// Runs the command.
pub(crate) fn run(args: &Plot, terminal: &Terminal) -> Outcome<()> {
    let is_svg = |ending: &std::ffi::OsStr| ending.eq_ignore_ascii_case("svg");
    ensure!(
        is_standard(&args.output) || args.output.extension().is_some_and(is_svg),
        "{}: unknown ending; expected .svg",
        args.output.display()
    );
    check_options(args)?;
    let mut outputs = Outputs::new(&args.common).any("-o", "picture", Some(&args.output))?;
    let start = Instant::now();
    let svg = match args.what {
        Picture::CoAssociation => co_association(args, terminal)?,
        Picture::Dendrogram => dendrogram(args, terminal)?,
        Picture::Memberships => {
            let (soft, _) = files::memberships(&args.input, terminal)?;
            pictures::memberships(&soft, "Memberships")
        }
        Picture::Cdf => cdf(args, terminal)?,
        Picture::ClusterGraph => cluster_graph(args, terminal)?,
    };
    outputs.bytes("-o", &svg)?;
    let mut summary = Summary::new();
    summary
        .data("picture", args.output.display().to_string())
        .data("seconds", json!({ "total": start.elapsed().as_secs_f64() }));
    outputs.conclude(summary, &args.common, terminal)
}

/// Refuses options that the picture has no use for.
fn check_options(args: &Plot) -> Outcome<()> {
    let (of_ensemble, tree, cdf) = (
        !matches!(args.what, Picture::Memberships | Picture::ClusterGraph),
        matches!(args.what, Picture::Dendrogram),
        matches!(args.what, Picture::Cdf),
    );
    let graph = matches!(args.what, Picture::ClusterGraph);
    for (given, fits, option, what) in [
        (args.counts.is_some(), of_ensemble, "--counts", "a picture of an ensemble"),
        (!args.columns.is_empty(), of_ensemble, "--columns", "a picture of an ensemble"),
        (args.method.is_some(), tree, "--method", "dendrogram"),
        (!args.params.is_empty(), tree, "--param", "dendrogram"),
        (args.clusters.is_some(), tree, "--clusters", "dendrogram"),
        (args.up_to.is_some(), cdf, "--up-to", "cdf"),
        (args.delta.is_some(), graph, "--delta", "cluster-graph"),
    ] {
        ensure!(fits || !given, "{option}: expected {what}");
    }
    Ok(())
}

/// The ensemble, with counts where a file has them.
fn ensemble(args: &Plot, terminal: &Terminal) -> Outcome<Ensemble> {
    let members = files::members(&args.input, &args.columns, terminal)?;
    let objects = members.objects();
    files::counted(members.ensemble, &objects, args.counts.as_deref(), terminal)
}

/// The same, of which some member labels an object.
fn labelled(args: &Plot, terminal: &Terminal) -> Outcome<Ensemble> {
    let ensemble = ensemble(args, terminal)?;
    ensure!(
        ensemble.members().iter().any(|member| member.n_labelled() > 0),
        "{}: no object is labelled",
        args.input.display()
    );
    Ok(ensemble)
}

fn co_association(args: &Plot, terminal: &Terminal) -> Outcome<String> {
    let ensemble = ensemble(args, terminal)?;
    let graph =
        CoAssociation::default().memory_budget(memory::budget()).fit(&ensemble, terminal)?.output;
    ensure!(graph.grouping().n_nodes() > 0, "{}: no object is labelled", args.input.display());
    let order = vat_order(&graph, terminal)?;
    Ok(pictures::co_association(&graph, &order, "Co-association"))
}

fn dendrogram(args: &Plot, terminal: &Terminal) -> Outcome<String> {
    let name = args.method.as_deref().unwrap_or("eac-al");
    let method = catalogue::find(name)?;
    let clusters = args.clusters.map_or(Clusters::Auto, Clusters::Fixed);
    let settings = catalogue::settings(method, clusters, &args.params, Seed(args.common.seed))?;
    let hierarchy = method.hierarchy(&settings)?;
    let ensemble = labelled(args, terminal)?;
    let (leaves, tree) = hierarchy.dendrogram(&ensemble, terminal)?;
    let title = format!("Dendrogram, {name}");
    Ok(pictures::dendrogram(&tree, leaves.sizes(), &title))
}

/// Of how many objects the curve takes the pairs, where there are more.
const CDF_OBJECTS: usize = 10_000;

/// One curve: a steep step at 0 and one at 1 are members that agree, a slope between them is doubt.
fn cdf(args: &Plot, terminal: &Terminal) -> Outcome<String> {
    let ensemble = labelled(args, terminal)?;
    let steps = |cdf: &ConsensusCdf| {
        let (x, y) = cdf.staircase();
        x.into_iter().zip(y).collect::<Vec<_>>()
    };
    let seed = Seed(args.common.seed);
    let members = ConsensusCdf::of_sample(&ensemble, CDF_OBJECTS, seed, terminal)?;
    if Microclusters::observed(&ensemble.hardened(), terminal)?.n_nodes() > CDF_OBJECTS {
        terminal.note(format!("the curve is that of {CDF_OBJECTS} objects, drawn at random"));
    }
    let mut named = vec![("members".to_owned(), steps(&members))];
    if let Some(largest) = args.up_to {
        let number = ClusterNumber::new().up_to(largest).seed(seed).memory_budget(memory::budget());
        let table = terminal.noted(number.fit(&ensemble, terminal)?);
        named.extend(
            table.rows.iter().map(|row| (format!("k = {}", row.clusters), steps(&row.cdf))),
        );
    }
    let axes = ("share of members that put a pair together", "share of pairs");
    Ok(pictures::curves(&named, axes, "Consensus CDF"))
}

fn cluster_graph(args: &Plot, terminal: &Terminal) -> Outcome<String> {
    let (soft, _) = files::memberships(&args.input, terminal)?;
    let relations = cluster_relations(&soft, args.delta.unwrap_or(0.05))?;
    let masses = soft.values().sum_axis(Axis(0));
    let surviving = surviving_clusters(&soft);
    let masses: Vec<f64> = surviving.iter().map(|&c| masses[c]).collect();
    let relations = relations.select(Axis(0), &surviving).select(Axis(1), &surviving);
    let title = "Clusters and how far they overlap";
    Ok(pictures::cluster_graph(&surviving, &masses, relations.view(), title))
}
