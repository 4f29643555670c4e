//! The page about a consensus: what it shows is what the library finds, whatever the input is.

use consilience::conformance::planted;
use consilience::ndarray::{Array2, Axis, array};
use consilience::report::{
    Candidate, ClusteringReport, FeatureFindings, Findings, ProjectedObject,
};
use consilience::scores::{Scores, adjusted_rand};
use consilience::trust::{ClusterNumber, Diagnostics, Recommended};
use consilience::walk::Diffusion;
use consilience::{
    ConsensusFunction, Ensemble, ErrorKind, Hierarchy, Observer, Partition, Seed, consensus,
};
use serde_json::Value;

fn partition(labels: &[i64]) -> Partition {
    Partition::from_labels(labels).unwrap()
}

fn world() -> (Ensemble, Partition) {
    let world = planted(Seed(4), &[30, 25, 20, 10], 12, 0.2, 0.1).unwrap();
    (world.ensemble, world.truth)
}

/// The numbers inside a page.
fn inside(page: &str) -> Value {
    let (_, rest) = page.split_once("<script type=\"application/json\" id=\"findings\">").unwrap();
    serde_json::from_str(rest.split_once("</script>").unwrap().0).unwrap()
}

/// Elements without an end.
const VOID: [&str; 3] = ["meta", "link", "br"];

/// Every element is closed in its order, and no value of an attribute is left open.
fn check_markup(page: &str) {
    assert!(page.starts_with("<!DOCTYPE html>") && page.ends_with("</html>\n"));
    let mut open: Vec<&str> = Vec::new();
    let mut rest = &page["<!DOCTYPE html>".len()..];
    while let Some(at) = rest.find('<') {
        rest = &rest[at + 1..];
        let mut quote = false;
        let end = rest
            .find(|c| {
                quote ^= c == '"';
                c == '>' && !quote
            })
            .expect("a tag that ends");
        let tag = &rest[..end];
        rest = &rest[end + 1..];
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name), "closed out of order");
            continue;
        }
        let name = tag.split([' ', '\n', '/']).next().unwrap();
        if tag.ends_with('/') || VOID.contains(&name) {
            continue;
        }
        if ["script", "style"].contains(&name) {
            let close = format!("</{name}>");
            rest = rest.split_once(&close).expect("a script that ends").1;
            continue;
        }
        open.push(name);
    }
    assert_eq!(open, Vec::<&str>::new());
}

fn check(findings: &Findings) -> String {
    let page = findings.html();
    check_markup(&page);
    assert_eq!(inside(&page), serde_json::from_str::<Value>(&findings.json()).unwrap());
    // Nothing is taken from elsewhere.
    let elsewhere = page.replace("http://www.w3.org/2000/svg", "");
    for mark in ["http:", "https:", "src=", "@import"] {
        assert!(!elsewhere.contains(mark), "{mark}");
    }
    let shown = page.split_once("<script type=").unwrap().0;
    for number in ["NaN", ">inf", "\"inf", "-inf"] {
        assert!(!shown.contains(number), "{number}");
    }
    // Every picture has a text alternative, every table a caption.
    let count = |mark: &str| shown.matches(mark).count();
    assert_eq!(count("<svg "), count("role=\"img\" aria-label=\""));
    assert_eq!(count("<table "), count("<caption>"));
    for id in ["answer", "number", "methods", "members", "clusters", "reproduce"] {
        assert!(shown.contains(&format!("<h2 id=\"{id}\">")));
    }
    page
}

#[test]
fn small_and_odd_ensembles_have_a_page() {
    let ensemble =
        |members: &[&[i64]]| Ensemble::new(members.iter().map(|m| partition(m)).collect()).unwrap();
    let odd = [
        ensemble(&[&[0]]),
        ensemble(&[&[0, 0]]),
        ensemble(&[&[0, 1]]),
        ensemble(&[&[0, 1], &[0, 0]]),
        ensemble(&[&[0, 0, 1, 1, 2]]),
        ensemble(&[&[0, 0, 0, 0], &[0, 0, 0, 0]]),
        ensemble(&[&[0, -1, 1, -1, 0], &[-1, 0, -1, 1, -1]]),
        ensemble(&[&[0, 1, 2, 3, 4, 5], &[0, 1, 2, 3, 4, 5], &[0, 0, 1, 1, -1, -1]]),
        ensemble(&[&[0, 1, -1], &[0, 1, -1]]),
        ensemble(&[&[0, 0, 1, 1], &[0, 1, 0, 1]])
            .with_counts(vec![5, 1, 1, 9_000_000_000])
            .unwrap(),
    ];
    for e in odd {
        let n = e.n_objects();
        let findings = ClusteringReport::new(&e).run(&()).unwrap();
        check(&findings);
        for k in 1..=n {
            let findings = ClusteringReport::new(&e).clusters(k).run(&()).unwrap();
            check(&findings);
            assert!(findings.number.fixed && findings.partition.n_clusters() <= k);
        }
        // All that can be said of the objects beside their labels.
        let features = Array2::from_shape_fn((n, 2), |(i, j)| if j == 0 { 7.0 } else { i as f64 });
        let truth = Partition::from_fn(n, |i| Some(i as u64 % 2)).unwrap();
        let report = ClusteringReport::new(&e).features(&features).truth(&truth);
        check(&report.run(&()).unwrap());
    }
}

#[test]
fn the_numbers_are_those_of_the_library() {
    let (e, truth) = world();
    let findings = ClusteringReport::new(&e).truth(&truth).seed(Seed(3)).run(&()).unwrap();
    let json = inside(&check(&findings));
    let table = ClusterNumber::new().seed(Seed(3)).choose(&e).unwrap();
    let k = table.recommended;
    assert_eq!(json["number"]["recommended"], k);
    for (own, row) in json["number"]["rows"].as_array().unwrap().iter().zip(&table.rows) {
        assert_eq!(own["pac"].as_f64(), Some(row.pac));
        assert_eq!(own["stability"].as_f64(), row.stability);
        assert_eq!(own["eigengap"].as_f64(), row.eigengap);
        assert_eq!(own["cdf"].as_array().unwrap().len(), row.cdf.values().len());
    }
    let fit = Recommended::new(k).seed(Seed(3)).fit(&e, &()).unwrap();
    assert_eq!(findings.partition, fit.output);
    assert_eq!(findings.methods.candidates[0].notes, fit.report.notes);
    let trust = Diagnostics::of(&e, &fit.output).unwrap();
    assert_eq!(json["answer"]["anmi"].as_f64(), Some(trust.anmi));
    assert_eq!(json["answer"]["sentences"][0], trust.sentences[0]);
    for (own, cluster) in json["clusters"].as_array().unwrap().iter().zip(&trust.clusters) {
        assert_eq!(own["objects"], cluster.objects);
        assert_eq!(own["confidence"].as_f64(), Some(cluster.confidence));
        assert_eq!(own["stability"].as_f64(), cluster.stability);
        assert_eq!(own["nearest"], cluster.nearest.unwrap().0);
    }
    for object in &findings.objects.least_certain {
        assert_eq!(object.confidence, trust.confidence[object.object]);
        assert_eq!(object.second, trust.second[object.object]);
    }
    let least = trust.confidence.iter().copied().fold(1.0, f64::min);
    assert_eq!(findings.objects.least_certain[0].confidence, least);
    let scores = Scores::compare(&fit.output, &truth).unwrap();
    assert_eq!(findings.truth.as_ref().unwrap().scores, scores.entries());
    let members = &findings.members;
    let ari = adjusted_rand(&e.members()[2], &e.members()[5]).unwrap();
    assert!((members.agreement[2][5].unwrap() - ari).abs() < 1e-12);
    assert_eq!(json["input"]["fingerprint"], format!("{:016x}", e.fingerprint()));
}

/// Shares of the flow and of the picture add up, and the tree is the one that was cut.
#[test]
fn pictures_show_all_objects() {
    let (e, _) = world();
    let lwea = || {
        Candidate::new("lwea", |k| Ok(Box::new(consensus::Lwea::new(k))))
            .tree(|k| Ok(Box::new(consensus::Lwea::new(k))))
    };
    let report = ClusteringReport::new(&e).clusters(5).methods(vec![lwea()]);
    let findings = report.run(&()).unwrap();
    check(&findings);
    let (nodes, tree) = consensus::Lwea::new(5).dendrogram(&e, &()).unwrap();
    let cut = nodes.grouping().expand(&tree.cut(5).unwrap()).unwrap();
    assert_eq!(findings.partition, cut);
    let shown = findings.tree.as_ref().unwrap();
    assert!(shown.is_answer && shown.leaves == nodes.n_nodes());
    assert_eq!(shown.objects.iter().sum::<u64>(), 85);
    let mut sizes = [0; 5];
    for (&cluster, objects) in shown.leaf_clusters.iter().zip(&shown.objects) {
        sizes[cluster] += objects;
    }
    assert_eq!(sizes.map(|s| s as usize).to_vec(), cut.sizes());
    assert_eq!(shown.merges.len() + 1, shown.objects.len());
    let ks: Vec<usize> = findings.number.flow.iter().map(|layer| layer.clusters).collect();
    assert_eq!(ks, [3, 4, 5, 6, 7]);
    for layer in &findings.number.flow {
        assert!((layer.shares.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        let flowing: f64 = layer.links.iter().map(|l| l.2).sum();
        assert!(layer.links.is_empty() || (flowing - 1.0).abs() < 1e-12);
    }
    let picture = &findings.co_association;
    assert_eq!((picture.objects, picture.ends.len()), (85, 5));
    assert!((picture.ends[4] - 1.0).abs() < 1e-12);
    assert!(picture.percent.iter().enumerate().all(|(i, row)| row[i] == 100));
}

#[test]
fn text_of_users_is_never_markup() {
    let (e, truth) = world();
    let attack = "</script><script>alert(1)</script><img onerror=\"x\"><!--'\u{0}&\u{2028}";
    let features = Array2::from_shape_fn((85, 2), |(i, j)| (i * (j + 1) % 17) as f64);
    let other = Candidate::new(attack, |k| Ok(Box::new(consensus::Lwea::new(k)))).about(attack);
    let failing = Candidate::new("failing", |_| Err(consilience::Error::invalid("<b>\"no\"")));
    let methods = vec![other, failing];
    let findings = ClusteringReport::new(&e)
        .methods(methods)
        .title(attack)
        .command(attack)
        .features(&features)
        .feature_names([attack, "plain"])
        .truth(&truth)
        .class_names([attack, "b", "c", "d"])
        .member_names(vec![attack; 12])
        .object_names(vec![attack; 85])
        .run(&())
        .unwrap();
    let page = check(&findings);
    // The numbers and the script that sorts.
    assert_eq!(page.matches("<script").count(), 2);
    assert!(!page.contains("<img") && !page.contains("<!--") && !page.contains("<b>"));
    assert!(page.contains("not run: &lt;b&gt;"));
    assert_eq!(inside(&page)["title"], attack);
    assert_eq!(findings.methods.candidates[1].failure.as_deref(), Some("<b>\"no\""));
}

#[test]
fn the_same_page_at_any_number_of_threads() {
    let world = planted(Seed(9), &[900, 700, 500, 300], 20, 0.25, 0.05).unwrap();
    let features = Array2::from_shape_fn((2_400, 5), |(i, j)| ((i * 31 + j * 17) % 101) as f64);
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let report = ClusteringReport::new(&world.ensemble).clusters(4).features(&features);
        pool.install(|| report.run(&()).unwrap().html())
    };
    let page = run(1);
    assert!(page == run(3));
    assert!(page.contains("random sample of"));
}

#[test]
fn a_page_of_many_objects_stays_small() {
    let sizes: Vec<usize> = (1..=40).map(|i| 12 * i).collect();
    let e = planted(Seed(1), &sizes, 64, 0.4, 0.1).unwrap().ensemble;
    let n = e.n_objects();
    let features = Array2::from_shape_fn((n, 30), |(i, j)| ((i * 37 + j * 11) % 97) as f64);
    let truth = Partition::from_fn(n, |i| Some(i as u64 % 35)).unwrap();
    let walk = Candidate::new("diffusion", |k| Ok(Box::new(Diffusion::new(k))));
    let report = ClusteringReport::new(&e).clusters(40).methods(vec![walk]);
    let findings = report.features(&features).truth(&truth).run(&()).unwrap();
    let page = check(&findings);
    assert!(page.len() < 5_000_000, "{} bytes", page.len());
    assert!(findings.co_association.sampled && findings.members.compared.len() == 60);
}

#[test]
fn features_that_distinguish_clusters_come_first() {
    let e = Ensemble::new(vec![partition(&[0, 0, 0, 1, 1, 1]); 2]).unwrap();
    let x = array![
        [1.0, 5.0, 0.1, 3.0],
        [2.0, 5.0, 0.3, 3.0],
        [3.0, 5.0, 0.2, 3.0],
        [7.0, 5.0, 0.2, 4.0],
        [8.0, 5.0, 0.1, 4.0],
        [9.0, 5.0, 0.4, 4.0],
    ];
    let findings = ClusteringReport::new(&e).clusters(2).features(&x).run(&()).unwrap();
    let features = findings.features.as_ref().unwrap();
    let [total, wide, narrow] = &features.effects[0][..] else { panic!("{features:?}") };
    // Nothing varies within the last column, and nothing at all in the second.
    assert_eq!((total.feature, total.effect), (3, None));
    // Means 2 and 8, variance 1 within both.
    assert_eq!((wide.feature, wide.effect, wide.inside, wide.outside), (0, Some(-6.0), 2.0, 8.0));
    assert_eq!(narrow.feature, 2);
    let share: f64 = features.explained.iter().sum();
    assert!(features.projection.len() == 6 && share > 0.9 && share < 1.0 + 1e-12);
    let side = |i: usize| features.projection[i].x > 0.0;
    assert!((0..3).all(|i| side(i) == side(0)) && (3..6).all(|i| side(i) != side(0)));
}

#[test]
fn what_is_wrong_is_refused() {
    let (e, _) = world();
    let kind = |report: ClusteringReport<'_>| report.run(&()).unwrap_err().kind();
    let report = || ClusteringReport::new(&e);
    let (short, x) = (partition(&[0, 1]), Array2::<f64>::zeros((85, 3)));
    let mut bad = x.clone();
    bad[[4, 1]] = f64::NAN;
    let few = Array2::<f64>::zeros((3, 2));
    assert_eq!(kind(report().truth(&short)), ErrorKind::ShapeMismatch);
    assert_eq!(kind(report().features(&few)), ErrorKind::ShapeMismatch);
    assert_eq!(kind(report().features(&x).feature_names(["one"])), ErrorKind::ShapeMismatch);
    assert_eq!(kind(report().object_names(["one"])), ErrorKind::ShapeMismatch);
    assert_eq!(kind(report().member_names(["one"])), ErrorKind::ShapeMismatch);
    assert_eq!(kind(report().features(&bad)), ErrorKind::NonFinite);
    for k in [0, 86] {
        assert_eq!(kind(report().clusters(k)), ErrorKind::InvalidParameter);
    }
    #[allow(clippy::reversed_empty_ranges)]
    for range in [1..=4, 5..=4] {
        assert_eq!(kind(report().cluster_range(range)), ErrorKind::InvalidParameter);
    }
    let none = Ensemble::new(vec![partition(&[-1, -1])]).unwrap();
    assert_eq!(kind(ClusteringReport::new(&none)), ErrorKind::Empty);

    struct Stopped;
    impl Observer for Stopped {
        fn cancelled(&self) -> bool {
            true
        }
    }
    let error = report().run(&Stopped).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Cancelled);
}

#[test]
fn the_range_of_numbers_is_kept() {
    let (e, _) = world();
    let findings = ClusteringReport::new(&e).cluster_range(5..=9).run(&()).unwrap();
    let tried: Vec<usize> = findings.number.rows.iter().map(|r| r.clusters).collect();
    assert_eq!(tried, [5, 6, 7, 8, 9]);
    assert!((5..=9).contains(&findings.number.clusters));
}

#[test]
fn rows_that_stand_for_many_objects_count_as_often() {
    let world = planted(Seed(6), &[9, 7, 5], 8, 0.25, 0.1).unwrap();
    let n = world.ensemble.n_objects();
    let counts: Vec<u64> = (0..n as u64).map(|i| 1 + i % 4).collect();
    let rows: Vec<usize> = (0..n).flat_map(|i| vec![i; counts[i] as usize]).collect();
    let repeated = world.ensemble.select_objects(&rows).unwrap();
    let counted = world.ensemble.with_counts(counts).unwrap();
    let run = |e: &Ensemble| {
        let findings = ClusteringReport::new(e).clusters(3).run(&()).unwrap();
        serde_json::from_str::<Value>(&findings.json()).unwrap()
    };
    let (a, b) = (run(&counted), run(&repeated));
    for part in ["answer", "clusters", "number", "methods", "co_association"] {
        assert_eq!(a[part], b[part], "{part}");
    }
    assert_eq!(a["input"]["objects"], b["input"]["objects"]);
    assert_eq!(a["objects"]["confidence"], b["objects"]["confidence"]);
}

/// Two projections are of the same objects, each in its own signs; `row` is the row in the first
/// of an object of the second.
fn check_projections(a: &FeatureFindings, b: &FeatureFindings, row: impl Fn(usize) -> usize) {
    assert_eq!(a.explained.len(), b.explained.len());
    for (a, b) in a.explained.iter().zip(&b.explained) {
        assert!((a - b).abs() < 1e-9, "{a} {b}");
    }
    // Signs are arbitrary: those of the first object that is in both.
    let of = |row: usize| a.projection.iter().find(|p| p.object == row).unwrap();
    let pairs: Vec<_> = b.projection.iter().map(|p| (of(row(p.object)), p)).collect();
    let sign = |of: fn(&ProjectedObject) -> f64| {
        let (a, b) = pairs.iter().find(|(a, _)| of(a).abs() > 0.1).unwrap();
        (of(a) * of(b)).signum()
    };
    let (across, up) = (sign(|p| p.x), sign(|p| p.y));
    for (a, b) in &pairs {
        assert!((a.x - across * b.x).abs() < 1e-6 && (a.y - up * b.y).abs() < 1e-6);
    }
}

/// The projection is that of all objects, however many each row stands for.
#[test]
fn counts_are_projected_as_repeated_rows() {
    let world = planted(Seed(6), &[9, 7, 5], 8, 0.25, 0.1).unwrap();
    let n = world.ensemble.n_objects();
    let x = Array2::from_shape_fn((n, 4), |(i, j)| ((i * i * (j + 2) + 3 * i) % 23) as f64);
    let run = |e: &Ensemble, x: &Array2<f64>| {
        let findings = ClusteringReport::new(e).clusters(3).features(x).run(&()).unwrap();
        findings.features.unwrap()
    };
    let counted = |counts: Vec<u64>| {
        let features = run(&world.ensemble.clone().with_counts(counts).unwrap(), &x);
        assert!(!features.sampled && features.projection.len() == n);
        features
    };
    let counts = |scale: u64| (0..n as u64).map(|i| scale * (1 + i % 4)).collect::<Vec<u64>>();
    let rows: Vec<usize> = (0..n).flat_map(|i| vec![i; 1 + i % 4]).collect();
    let repeated = run(&world.ensemble.select_objects(&rows).unwrap(), &x.select(Axis(0), &rows));
    assert!(!repeated.sampled && repeated.projection.len() == rows.len());
    let a = counted(counts(1));
    check_projections(&a, &repeated, |object| rows[object]);
    for point in &repeated.projection {
        assert_eq!(point.cluster, a.projection[rows[point.object]].cluster);
    }
    // No object is drawn where few rows stand for many.
    check_projections(&a, &counted(counts(90)), |object| object);
    let mut heavy = vec![1; n];
    heavy[0] = 1_000_000;
    let heavy = counted(heavy);
    assert!(heavy.explained.len() == 2 && heavy.projection[1].x != heavy.projection[2].x);
}

/// Of many rows objects are drawn: the same ones, whether a row is counted or repeated.
#[test]
fn objects_are_drawn_of_many_counted_rows() {
    let world = planted(Seed(6), &[900, 700, 500], 8, 0.25, 0.1).unwrap();
    let n = world.ensemble.n_objects();
    let x = Array2::from_shape_fn((n, 4), |(i, j)| ((i * i * (j + 2) + 3 * i) % 23) as f64);
    let rows: Vec<usize> = (0..n).flat_map(|i| vec![i; 1 + i % 2]).collect();
    let repeated = world.ensemble.select_objects(&rows).unwrap();
    let counts: Vec<u64> = (0..n as u64).map(|i| 1 + i % 2).collect();
    let counted = world.ensemble.clone().with_counts(counts).unwrap();
    let run = |e: &Ensemble, x: &Array2<f64>| {
        let findings = ClusteringReport::new(e).clusters(3).features(x).run(&()).unwrap();
        findings.features.unwrap()
    };
    let (a, b) = (run(&counted, &x), run(&repeated, &x.select(Axis(0), &rows)));
    assert!(a.sampled && b.sampled);
    assert!(a.projection.len() < 2_000 && b.projection.len() == 2_000);
    check_projections(&a, &b, |object| rows[object]);
}
