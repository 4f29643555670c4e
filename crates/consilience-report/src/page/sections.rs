//! The sections of the page.

use std::fmt::Write;

use ndarray::Array2;

use super::heading;
use super::markup::{Cell, Page, percent, thousands};
use crate::escape::escape;
use crate::findings::{FlowFindings, PROJECTED};
use crate::pictures::canvas::Title;
use crate::pictures::flow::Layer;
use crate::pictures::scatter::Point;
use crate::pictures::{curves, dendrogram, flow, heat_map, histogram, scatter};
use crate::{Findings, NumberFindings};

/// Classes that a contingency table has as columns; more are not shown.
const MOST_CLASSES: usize = 40;

/// What was clustered, in one sentence.
pub(super) fn what(f: &Findings) -> String {
    let input = &f.input;
    let objects = if input.rows as u64 == input.objects {
        format!("{} objects", thousands(input.objects))
    } else {
        format!("{} objects in {} rows", thousands(input.objects), thousands(input.rows as u64))
    };
    let missing = if input.missing > 0.0 {
        format!("; {} of the labels are missing", percent(input.missing))
    } else {
        String::new()
    };
    let plural = if input.members == 1 { "" } else { "s" };
    format!("{objects} under {} base clustering{plural}{missing}.", input.members)
}

/// Where a number or a picture is of a sample, says so.
fn sampled(f: &Findings, sampled: bool) -> String {
    match f.input.sampled.filter(|_| sampled) {
        Some(objects) => format!(" From a random sample of {} objects.", thousands(objects)),
        None => String::new(),
    }
}

pub(super) fn answer(page: &mut Page, f: &Findings) {
    let a = &f.answer;
    page.section("answer", heading("answer"));
    page.raw("<div class=\"first\">\n<div>");
    page.raw(&format!("<p class=\"verdict\">{}</p>", escape(&a.verdict)));
    page.raw("<dl class=\"facts\">");
    let mut fact = |name: &str, value: String| {
        page.raw(&format!("<div><dt>{name}</dt><dd>{}</dd></div>", escape(&value)));
    };
    fact("Clusters", a.clusters.to_string());
    fact("Method", a.method.clone());
    fact("Mean confidence", format!("{:.3}", a.confidence));
    fact("Agreement with members", format!("{:.3}", a.anmi));
    fact("Undecided objects", thousands(a.undecided));
    fact("Labelled objects", thousands(a.labelled));
    page.raw("</dl>");
    page.list(&a.sentences);
    let title = Title::Told("Confidence of the objects");
    let svg = histogram::histogram(&f.objects.confidence, 0.5, "confidence", title);
    page.figure(
        &svg,
        "How clearly objects belong to their clusters, in percent of the objects: 1 is certain, \
         0.5 undecided; hatched bars are objects that are closer to another cluster.",
        "Confidence of the objects",
    );
    page.raw("</div>\n<div>");
    co_association(page, f);
    page.raw("</div>\n</div>");
    page.end_section();
}

fn co_association(page: &mut Page, f: &Findings) {
    let c = &f.co_association;
    let ends: Vec<(f64, String)> =
        c.ends.iter().zip(&c.order).map(|(&end, name)| (end, name.to_string())).collect();
    let below = format!("{} objects, cluster by cluster", c.objects);
    let title = Title::Told("Co-association in consensus order");
    let n = c.percent.len();
    let shares = Array2::from_shape_fn((n, n), |(row, k)| f64::from(c.percent[row][k]) / 100.0);
    let svg = heat_map::square(&shares, &ends, &below, title);
    let caption = format!(
        "How often two objects are together in a base clustering, from never (pale) to always \
         (dark). Dashed lines are the cuts between clusters, whose numbers stand at the left. Dark \
         squares on the diagonal are clusters that the members support; dark elsewhere are \
         clusters that they mix up.{}",
        sampled(f, c.sampled)
    );
    page.figure(&svg, &caption, "Co-association");
}

pub(super) fn number(page: &mut Page, f: &Findings) {
    let n = &f.number;
    page.section("number", heading("number"));
    page.paragraph(&chosen(n));
    page.list(&n.notes);
    if n.rows.len() > 1 {
        over_k(page, f);
        cdf(page, f);
    }
    if !n.rows.is_empty() {
        criteria(page, f);
    }
    if n.flow.len() > 1 {
        let layer = |layer: &FlowFindings| {
            let taken = if layer.clusters == n.clusters { " (taken)" } else { "" };
            let name = format!("k = {}{taken}", layer.clusters);
            Layer { name, shares: layer.shares.clone(), links: layer.links.clone() }
        };
        let layers: Vec<Layer> = n.flow.iter().map(layer).collect();
        let svg = flow::flow(&layers, Title::Told("How clusters split and merge"));
        let caption = format!(
            "The objects from one number of clusters to the next, by {}: a band that divides is a \
             cluster that splits, bands that meet are clusters that merge. Bars are as high as \
             their clusters are large.{}",
            f.answer.method,
            sampled(f, f.methods.sampled)
        );
        page.figure(&svg, &caption, "How clusters split and merge");
    }
    page.end_section();
}

/// Which number was taken, and which are possible.
fn chosen(n: &NumberFindings) -> String {
    let clusters = |k: usize| format!("{k} cluster{}", if k == 1 { "" } else { "s" });
    let (least, most) = n.range;
    let all_choose = n.criteria.iter().all(|c| c.clusters == n.recommended && c.warning.is_none());
    if n.fixed {
        let asked = if n.clusters == 1 { "was" } else { "were" };
        let asked = format!("{} {asked} asked for.", clusters(n.clusters));
        return match &n.rows[..] {
            [] => asked,
            [only] => format!("{asked} The criteria tried only {}.", only.clusters),
            _ if least == most => format!("{asked} The criteria would recommend {least}."),
            _ => format!(
                "{asked} The criteria would recommend {}; {least} to {most} are possible.",
                n.recommended
            ),
        };
    }
    let taken = clusters(n.recommended);
    match &n.rows[..] {
        [] => format!("{taken}; no number was tried."),
        [_] => format!("{taken}; no other number was tried."),
        _ if all_choose => format!("{taken}: all criteria choose that number."),
        _ if least == most => format!("{taken}."),
        _ => format!("{taken}; {least} to {most} are possible."),
    }
}

/// Every criterion over k.
fn over_k(page: &mut Page, f: &Findings) {
    let n = &f.number;
    type Column = fn(&crate::NumberRowFindings) -> Option<f64>;
    let columns: [(&str, Column); 6] = [
        ("Ambiguous pairs (PAC): low is good", |r| Some(r.pac)),
        ("Stability of halves (ARI): high is good", |r| r.stability),
        ("Eigengap: a peak is good", |r| r.eigengap),
        ("Lifetime in the tree: high is good", |r| r.lifetime),
        ("Growth of the area (delta area)", |r| Some(r.delta_area)),
        ("Area under the consensus CDF", |r| Some(r.area)),
    ];
    page.raw("<figure>\n<div class=\"small\">");
    for (name, of) in columns {
        let points: Vec<(usize, Option<f64>)> =
            n.rows.iter().map(|r| (r.clusters, of(r))).collect();
        if points.iter().all(|p| p.1.is_none()) {
            continue;
        }
        let svg = curves::over_k(&points, n.range, n.clusters, Title::Told(name));
        page.raw(&format!("<div><h4>{name}</h4>{svg}</div>"));
    }
    page.raw("</div>");
    let tried = |k: usize| n.rows.iter().any(|r| r.clusters == k);
    let taken = match tried(n.clusters) {
        true => "The band is what they leave possible, the ring the number taken.".to_owned(),
        false => format!("The number taken, {}, was not among those tried.", n.clusters),
    };
    let caption =
        format!("Criteria over the number of clusters. {taken}{}", sampled(f, f.methods.sampled));
    page.raw(&format!("<figcaption>{}</figcaption></figure>", escape(&caption)));
}

fn cdf(page: &mut Page, f: &Findings) {
    let n = &f.number;
    let steps = |points: &[(f64, f64)]| {
        let mut out = vec![(0.0, 0.0)];
        for &(x, share) in points {
            let before = out[out.len() - 1].1;
            out.extend([(x, before), (x, share)]);
        }
        out.push((1.0, 1.0));
        out
    };
    let named: Vec<(String, Vec<(f64, f64)>)> =
        n.rows.iter().map(|r| (format!("k = {}", r.clusters), steps(&r.cdf))).collect();
    let chosen = n.rows.iter().position(|r| r.clusters == n.clusters);
    let axes = ("share of consensus results that put a pair together", "share of pairs");
    let svg = curves::draw(&named, axes, chosen, Title::Told("Consensus CDF"));
    page.figure(
        &svg,
        "Consensus CDF: consensus results of random halves of the members, cut at each k. A flat \
         line between steep ends means that halves agree which pairs belong together; a slope \
         means doubt. The number taken is drawn bold.",
        "Consensus CDF",
    );
}

fn criteria(page: &mut Page, f: &Findings) {
    let rows: Vec<Vec<Cell>> = f
        .number
        .rows
        .iter()
        .map(|r| {
            let own = f.number.criteria.iter().filter(|c| c.clusters == r.clusters);
            let says: Vec<String> = own
                .map(|c| match c.warning {
                    Some(_) => format!("({})", c.name),
                    None => c.name.to_owned(),
                })
                .collect();
            vec![
                Cell::Count(r.clusters as u64),
                Cell::number(r.pac),
                Cell::maybe(r.stability),
                Cell::maybe(r.eigengap),
                Cell::maybe(r.lifetime),
                Cell::number(r.delta_area),
                Cell::number(r.area),
                Cell::Text(says.join(", ")),
            ]
        })
        .collect();
    page.raw("<details><summary>The same as a table</summary>");
    page.table(
        "Criteria over the number of clusters. The last column names those that choose it, in \
         brackets those that have a warning above.",
        &["k", "PAC", "stability", "eigengap", "lifetime", "delta area", "area", "chosen by"],
        &rows,
    );
    page.raw("</details>");
}

pub(super) fn methods(page: &mut Page, f: &Findings) {
    let m = &f.methods;
    page.section("methods", heading("methods"));
    let rows: Vec<Vec<Cell>> = m
        .candidates
        .iter()
        .enumerate()
        .map(|(at, c)| {
            let with_answer = m.agreement[at][0].filter(|_| at > 0);
            let notes = match &c.failure {
                Some(failure) => format!("not run: {failure}"),
                None => c.notes.join("; "),
            };
            let about = if c.about.is_empty() { notes } else { format!("{} {notes}", c.about) };
            let name = if at == 0 { format!("{} (the answer)", c.name) } else { c.name.clone() };
            vec![
                Cell::Text(name),
                Cell::count(c.clusters),
                Cell::maybe(with_answer),
                Cell::maybe(c.with_members),
                Cell::Text(c.status.unwrap_or("").to_owned()),
                Cell::Text(about.trim().to_owned()),
            ]
        })
        .collect();
    let caption = format!(
        "Methods beside each other. Agreement is the adjusted Rand index: 1 is equal, 0 is \
         chance.{}",
        sampled(f, m.sampled)
    );
    let heads = ["method", "clusters", "with the answer", "with members", "ended", "notes"];
    page.table(&caption, &heads, &rows);
    if m.candidates.len() > 1 {
        let names: Vec<String> = m.candidates.iter().map(|c| c.name.clone()).collect();
        let title = Title::Told("Agreement of the methods");
        let svg = heat_map::named(&m.agreement, &names, &names, title);
        page.figure(
            &svg,
            "Adjusted Rand index of every two methods. Methods that agree although they work \
             differently support each other.",
            "Agreement of the methods",
        );
    }
    tree(page, f);
    page.end_section();
}

fn tree(page: &mut Page, f: &Findings) {
    let Some(t) = &f.tree else { return };
    let (whole, sizes) = &t.whole;
    let svg = dendrogram::draw(whole, sizes, Some(t.clusters), Title::Told("Dendrogram"));
    let whose = if t.is_answer {
        format!("The tree that the answer was cut from, by {}", t.method)
    } else if t.method == f.answer.method {
        format!(
            "The answer was cut from a tree of all objects, by {}; this is that of a sample, whose \
             clusters have numbers of their own",
            t.method
        )
    } else {
        format!(
            "{} cuts no tree; this is that of {}, whose clusters have numbers of their own",
            f.answer.method, t.method
        )
    };
    let caption = format!(
        "{whose}. The dashed line is the cut into {} clusters, whose numbers stand in the boxes \
         below.{}",
        t.clusters,
        sampled(f, t.sampled)
    );
    page.figure(&svg, &caption, "Dendrogram");
}

pub(super) fn members(page: &mut Page, f: &Findings) {
    let m = &f.members;
    page.section("members", heading("members"));
    if let Some(diversity) = m.diversity {
        let text = format!(
            "Diversity {diversity:.3}: 0 where all members are alike, 1 where they have nothing in \
             common. A consensus gains most from members that differ, and is worth nothing without \
             something in common."
        );
        page.paragraph(&text);
    }
    if !m.dissenters.is_empty() {
        let names: Vec<&str> =
            m.dissenters.iter().take(20).map(|&u| m.members[u].name.as_str()).collect();
        let more = if m.dissenters.len() > 20 { ", ..." } else { "" };
        page.paragraph(&format!("Members that stand alone: {}{more}.", names.join(", ")));
    }
    members_table(page, f);
    if m.compared.len() > 1 {
        let names: Vec<String> = m.compared.iter().map(|&u| m.members[u].name.clone()).collect();
        let title = Title::Told("Agreement of the members");
        let svg = heat_map::named(&m.agreement, &names, &names, title);
        let some = if m.compared.len() < m.members.len() {
            format!(" {} of {} members.", m.compared.len(), m.members.len())
        } else {
            String::new()
        };
        let caption =
            format!("Adjusted Rand index of every two members.{some}{}", sampled(f, m.sampled));
        page.figure(&svg, &caption, "Agreement of the members");
    }
    coverage(page, f);
    page.end_section();
}

fn members_table(page: &mut Page, f: &Findings) {
    let members = &f.members.members;
    let named = members.iter().enumerate().any(|(u, member)| member.name != u.to_string());
    let mut heads = vec!["member"];
    heads.extend(named.then_some("name"));
    heads.extend(["clusters", "labelled, %", "with the answer", "with the others", "remark"]);
    let rows: Vec<Vec<Cell>> = members
        .iter()
        .enumerate()
        .map(|(u, member)| {
            let mut row = vec![Cell::Count(u as u64)];
            row.extend(named.then(|| Cell::Text(member.name.clone())));
            row.extend([
                Cell::Count(member.clusters as u64),
                Cell::Number(Some(100.0 * member.labelled), 1),
                Cell::maybe(member.with_result),
                Cell::maybe(member.with_others),
                Cell::Text(if member.dissents { "stands alone" } else { "" }.to_owned()),
            ]);
            row
        })
        .collect();
    let caption = "Members. Agreement is normalized mutual information, from 0 to 1.";
    page.table(caption, &heads, &rows);
}

fn coverage(page: &mut Page, f: &Findings) {
    let Some(c) = &f.members.coverage else { return };
    let names: Vec<String> = c.members.iter().map(|&u| f.members.members[u].name.clone()).collect();
    let columns = c.labelled.first().map_or(0, Vec::len);
    let clusters: Vec<String> = (0..columns).map(|k| k.to_string()).collect();
    let title = Title::Told("What the members label");
    let svg = heat_map::named(&c.labelled, &names, &clusters, title);
    let mut caption = String::from(
        "What is missing where: the share of each cluster (columns) that each member (rows) \
         labels. Pale cells are clusters that a member hardly saw.",
    );
    if columns < f.answer.clusters {
        let _ = write!(caption, " The first {columns} of {} clusters.", f.answer.clusters);
    }
    if c.members.len() < f.members.members.len() {
        let _ = write!(caption, " {} of {} members.", c.members.len(), f.members.members.len());
    }
    page.figure(&svg, &caption, "What the members label");
}

pub(super) fn clusters(page: &mut Page, f: &Findings) {
    page.section("clusters", heading("clusters"));
    let rows: Vec<Vec<Cell>> = f
        .clusters
        .iter()
        .map(|c| {
            vec![
                Cell::Count(c.cluster as u64),
                Cell::Count(c.objects),
                Cell::Number(Some(100.0 * c.share), 1),
                Cell::number(c.confidence),
                Cell::maybe(c.stability),
                Cell::number(c.density),
                Cell::count(c.nearest),
                Cell::maybe(c.nearest_density),
            ]
        })
        .collect();
    let more = if f.answer.clusters > f.clusters.len() {
        format!(" The first {} of {}.", f.clusters.len(), f.answer.clusters)
    } else {
        String::new()
    };
    let caption = format!(
        "Clusters. Stability is the mean largest Jaccard index with a cluster of the members: \
         above 0.75 stable, below 0.5 dissolved. Density is how often members that label \
         two of its objects put them together, the last column how often one of its objects and \
         one of the nearest cluster.{more}"
    );
    let heads = [
        "cluster",
        "objects",
        "%",
        "confidence",
        "stability",
        "density",
        "nearest",
        "with nearest",
    ];
    page.table(&caption, &heads, &rows);
    objects(page, f);
    features(page, f);
    truth(page, f);
    page.end_section();
}

fn objects(page: &mut Page, f: &Findings) {
    let named = f.objects.least_certain.iter().any(|o| o.name != o.object.to_string());
    let counted = f.input.rows as u64 != f.input.objects;
    let mut heads = vec!["object"];
    heads.extend(named.then_some("name"));
    heads.extend(counted.then_some("stands for"));
    heads.extend(["cluster", "hesitates with", "confidence"]);
    let rows: Vec<Vec<Cell>> = f
        .objects
        .least_certain
        .iter()
        .filter(|o| o.confidence < 1.0)
        .map(|o| {
            let mut row = vec![Cell::Count(o.object as u64)];
            row.extend(named.then(|| Cell::Text(o.name.clone())));
            row.extend(counted.then_some(Cell::Count(o.count)));
            row.extend([
                Cell::Count(o.cluster as u64),
                Cell::count(o.second),
                Cell::number(o.confidence),
            ]);
            row
        })
        .collect();
    page.heading("The least certain objects");
    if rows.is_empty() {
        page.paragraph("No object hesitates between clusters: all have confidence 1.");
        return;
    }
    page.table(
        "Objects that hesitate between clusters, the least certain first; a dash where no member \
         puts them with another. Objects count from 0.",
        &heads,
        &rows,
    );
}

fn features(page: &mut Page, f: &Findings) {
    let Some(x) = &f.features else { return };
    page.heading("What the features say");
    let points: Vec<Point> =
        x.projection.iter().map(|p| Point { x: p.x, y: p.y, cluster: p.cluster }).collect();
    let share = |at: usize| x.explained.get(at).copied().unwrap_or(0.0);
    let axis = |name: &str, at: usize| {
        format!("{name} principal component ({:.0} % of the variance)", 100.0 * share(at))
    };
    let (across, up) = (axis("first", 0), axis("second", 1));
    let svg = scatter::scatter(&points, (&across, &up), Title::Told("Projection of the features"));
    let some = if x.sampled {
        format!(" {} objects drawn at random.", thousands(PROJECTED as u64))
    } else {
        String::new()
    };
    let caption = format!(
        "The objects in the plane of the first two principal components of the standardized \
         features. Clusters have a number, a colour and a mark. Clusters that overlap here may be \
         apart in other directions.{some}"
    );
    page.figure(&svg, &caption, "Projection of the features");
    let mut rows = Vec::new();
    for (cluster, effects) in x.effects.iter().enumerate() {
        for effect in effects {
            rows.push(vec![
                Cell::Count(cluster as u64),
                Cell::Text(effect.name.clone()),
                Cell::Number(effect.effect, 2),
                Cell::number(effect.inside),
                Cell::number(effect.outside),
            ]);
        }
    }
    if !rows.is_empty() {
        let some = if x.effects.len() < f.answer.clusters {
            format!(" The first {} of {} clusters.", x.effects.len(), f.answer.clusters)
        } else {
            String::new()
        };
        let caption = format!(
            "Features that distinguish each cluster from all other objects, at most five of each. \
             The effect is Cohen's d: the difference of the means in standard deviations within \
             both groups; a dash where nothing varies within them.{some}"
        );
        page.table(
            &caption,
            &["cluster", "feature", "effect", "mean inside", "mean outside"],
            &rows,
        );
    }
}

fn truth(page: &mut Page, f: &Findings) {
    let Some(t) = &f.truth else { return };
    page.heading("Beside the truth");
    let rows: Vec<Vec<Cell>> = t
        .scores
        .iter()
        .map(|(name, value)| vec![Cell::Text((*name).to_owned()), Cell::Number(Some(*value), 4)])
        .collect();
    page.table(
        "Scores of the answer against the truth. 1 is best, but for vi, which is 0 at best.",
        &["score", "value"],
        &rows,
    );
    let known: u64 = t.classes.iter().map(|class| class.objects).sum();
    let told: u64 = t.cells.iter().map(|cell| cell.2).sum();
    if t.classes.len() > MOST_CLASSES || f.clusters.len() < f.answer.clusters || told < known {
        page.paragraph(&format!(
            "There are {} clusters and {} classes; their table is left out.",
            f.answer.clusters,
            t.classes.len()
        ));
        return;
    }
    let mut heads = vec!["cluster"];
    heads.extend(t.classes.iter().map(|c| c.name.as_str()));
    let mut table = vec![vec![0u64; t.classes.len()]; f.answer.clusters];
    for &(cluster, class, objects) in &t.cells {
        table[cluster][class] = objects;
    }
    let rows: Vec<Vec<Cell>> = table
        .into_iter()
        .enumerate()
        .map(|(cluster, row)| {
            let cells = row.into_iter().map(Cell::Count);
            std::iter::once(Cell::Count(cluster as u64)).chain(cells).collect()
        })
        .collect();
    page.table("Clusters (rows) and classes (columns): objects in both.", &heads, &rows);
}

pub(super) fn reproduce(page: &mut Page, f: &Findings) {
    let input = &f.input;
    page.section("reproduce", heading("reproduce"));
    let mut text = String::new();
    if let Some(command) = &input.command {
        let _ = writeln!(text, "{command}\n");
    }
    let _ = writeln!(text, "consilience   {}", f.version);
    let _ = writeln!(text, "method        {}, {} clusters", f.answer.method, f.number.clusters);
    let _ = writeln!(text, "seed          {}", input.seed);
    let _ = writeln!(
        text,
        "ensemble      {} rows, {} members, {} microclusters, fingerprint {}",
        input.rows, input.members, input.microclusters, input.fingerprint
    );
    if let Some(features) = input.features {
        let _ = writeln!(text, "features      {features}");
    }
    page.raw(&format!("<pre>{}</pre>", escape(&text)));
    page.paragraph(
        "The same input, seed and version give the same page, at any number of threads. The \
         fingerprint is that of Ensemble::fingerprint. All numbers of this page stand in it as \
         JSON, in the element with the id findings.",
    );
    page.end_section();
}
