//! `consilience plot`: pictures of ensembles and clusterings.

use std::time::Instant;

use consilience::{
    Agglomeration, ClusterNumber, Clusters, CoAssociation, ConsensusCdf, Seed, Similarity,
    cluster_relations, surviving_clusters, vat_order,
};
use ndarray::Axis;
use serde_json::json;

use super::read_members;
use crate::args::{Picture, Plot};
use crate::failure::{Failure, Outcome};
use crate::files;
use crate::files::target::Target;
use crate::methods;
use crate::output::{self, Lines};
use crate::pictures;
use crate::terminal::Terminal;

/// Runs the command.
pub(crate) fn run(args: &Plot, terminal: &Terminal) -> Outcome<()> {
    let mut target = Target::picture(&args.output)?;
    let start = Instant::now();
    let svg = match args.what {
        Picture::CoAssociation => co_association(args, terminal)?,
        Picture::Dendrogram => dendrogram(args, terminal)?,
        Picture::Memberships => {
            let soft = files::read_memberships(&args.input, terminal)?;
            pictures::memberships(&soft, "Memberships")?
        }
        Picture::Cdf => cdf(args, terminal)?,
        Picture::ClusterGraph => cluster_graph(args, terminal)?,
    };
    target.write(&svg)?;
    target.commit()?;
    let total = start.elapsed();
    if args.common.json {
        let object = json!({
            "picture": args.output.display().to_string(),
            "seconds": { "total": total.as_secs_f64() },
        });
        return output::print_json(object, &args.common, terminal);
    }
    Lines::default().add("picture", args.output.display()).print(terminal)
}

fn co_association(args: &Plot, terminal: &Terminal) -> Outcome<String> {
    let ensemble = read_members(&args.input, &args.columns, terminal)?;
    let graph = CoAssociation::default().fit(&ensemble, terminal)?.output;
    if graph.grouping().n_nodes() == 0 {
        return Err(Failure::Bad(format!("{}: no object is labelled", args.input.display())));
    }
    let order = vat_order(&graph, terminal)?;
    pictures::co_association(&graph, &order, "Co-association")
}

fn dendrogram(args: &Plot, terminal: &Terminal) -> Outcome<String> {
    let grown = methods::find(&args.method)?.tree(&args.params, Seed(args.common.seed))?;
    let ensemble = read_members(&args.input, &args.columns, terminal)?;
    let graph = grown.similarity.fit(&ensemble, terminal)?.output;
    let sizes = graph.grouping().sizes().to_vec();
    if sizes.is_empty() {
        return Err(Failure::Bad(format!("{}: no object is labelled", args.input.display())));
    }
    let tree = Agglomeration::new(grown.linkage, Clusters::Lifetime)
        .weights(grown.weights)
        .dendrogram(graph, terminal)?;
    pictures::dendrogram(&tree, &sizes, &format!("Dendrogram, {}", args.method))
}

/// One curve: a steep step at 0 and one at 1 are members that agree, a slope between them is doubt.
fn cdf(args: &Plot, terminal: &Terminal) -> Outcome<String> {
    let ensemble = read_members(&args.input, &args.columns, terminal)?;
    if ensemble.members().iter().all(|member| member.n_labelled() == 0) {
        return Err(Failure::Bad(format!("{}: no object is labelled", args.input.display())));
    }
    let steps = |cdf: &ConsensusCdf| {
        let (x, y) = cdf.staircase();
        x.into_iter().zip(y).collect::<Vec<_>>()
    };
    let mut named =
        vec![("members".to_owned(), steps(&ConsensusCdf::of_observed(&ensemble, terminal)?))];
    if let Some(largest) = args.up_to {
        let number = ClusterNumber::new().up_to(largest).seed(Seed(args.common.seed));
        let table = number.fit(&ensemble, terminal)?.output;
        table.notes.iter().for_each(|note| terminal.note(note));
        named.extend(
            table.rows.iter().map(|row| (format!("k = {}", row.clusters), steps(&row.cdf))),
        );
    }
    pictures::curves(
        &named,
        ("share of members that put a pair together", "share of pairs"),
        "Consensus CDF",
    )
}

fn cluster_graph(args: &Plot, terminal: &Terminal) -> Outcome<String> {
    let soft = files::read_memberships(&args.input, terminal)?;
    let relations = cluster_relations(&soft, args.delta)?;
    let masses = soft.values().sum_axis(Axis(0));
    let surviving = surviving_clusters(&soft);
    let masses: Vec<f64> = surviving.iter().map(|&c| masses[c]).collect();
    let relations = relations.select(Axis(0), &surviving).select(Axis(1), &surviving);
    pictures::cluster_graph(
        &surviving,
        &masses,
        relations.view(),
        "Clusters and how far they overlap",
    )
}
