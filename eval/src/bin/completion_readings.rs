//! The table of docs/notes/updater.md on completion: NMI (arithmetic mean of the entropies) of MCCC
//! in bases made from an ensemble, beside the updater's readings and MCCC on the features.
//!
//! cargo run --release --bin completion_readings -- [--sets a,b] [--pools A,B] [--seeds 0..3]
//!     [--links 100,300,500,2000] [--rows 2000] [--methods plain,metric,...]
//!
//! One line per set, seed, number of links and method: NMI as found, NMI with linked objects placed
//! as wholes, the share of links left out that were kept, seconds.

use std::time::Instant;

use consilience::completion::{Basis, Mccc};
use consilience::follow::{Embedding, MapLearner, MemberGrowth, MetricRule};
use consilience::generate::{Generator, KMeans};
use consilience::num::eigen::{TruncatedOptions, truncated_eigen};
use consilience::num::near::SelfTuned;
use consilience::scores::{Normalizer, normalized_mutual_information};
use consilience::{Constraints, Ensemble, Link, Partition, Report, Result, Seed, SideInformation};
use consilience_eval::sets::{Set, folder};
use ndarray::{Array1, Array2, Axis, concatenate, s};
use ndarray_npy::NpzReader;

/// By number of rows; every other one had a part in choosing.
const SETS: [&str; 11] = [
    "ecoli",
    "ionosphere",
    "voting",
    "balance",
    "credit",
    "yeast",
    "mfeat_pix",
    "segmentation",
    "mushrooms",
    "usps",
    "letters",
];
const POOLS: [&str; 9] = ["VS", "Semeion", "MF", "IS", "Caltech20", "FCT", "Texture", "LS", "PD"];
const METHODS: &str = "plain,metric,unguarded,u25,u50,p25,p50,gp25,gp50,gc25,gc50,hp,\
    beside,gj50,hj,uf50,gpf50,mccc,grown";
const MEMBERS: usize = 50;
const POOL_MEMBERS: usize = 20;

struct Data {
    x: Option<Array2<f64>>,
    truth: Partition,
    ensemble: Ensemble,
}

struct Options {
    sets: Vec<String>,
    pools: Vec<String>,
    links: Vec<usize>,
    seeds: std::ops::Range<u64>,
    rows: usize,
    methods: Vec<String>,
}

fn main() -> Result<()> {
    let options = options();
    for seed in options.seeds.clone() {
        for set in &options.sets {
            if let Some(data) = of_set(set, Seed(seed), options.rows)? {
                run(set, &data, seed, &options)?;
            }
        }
        for pool in &options.pools {
            if let Some(data) = of_pool(pool, Seed(seed), options.rows)? {
                run(pool, &data, seed, &options)?;
            }
        }
    }
    Ok(())
}

fn options() -> Options {
    let list = |text: &str| -> Vec<String> {
        text.split(',').filter(|w| !w.is_empty()).map(|w| w.trim().to_owned()).collect()
    };
    let mut options = Options {
        sets: SETS.map(String::from).to_vec(),
        pools: POOLS.map(String::from).to_vec(),
        links: vec![100, 300, 500, 2000],
        seeds: 0..3,
        rows: 2_000,
        methods: list(METHODS),
    };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let value = words.next().unwrap_or_else(|| panic!("{word}: expected a value"));
        let number = |text: &str| text.parse::<usize>().unwrap_or_else(|e| panic!("{text}: {e}"));
        match word.as_str() {
            "--sets" => options.sets = list(&value),
            "--pools" => options.pools = list(&value),
            "--links" => options.links = list(&value).iter().map(|l| number(l)).collect(),
            "--methods" => options.methods = list(&value),
            "--rows" => options.rows = number(&value),
            "--seeds" => {
                let (from, to) = value.split_once("..").unwrap_or(("0", &value));
                options.seeds = number(from) as u64..number(to) as u64;
            }
            _ => panic!("{word}: unknown"),
        }
    }
    options
}

fn of_set(set: &str, seed: Seed, rows: usize) -> Result<Option<Data>> {
    let Some(set_of) = Set::read(set) else { return Ok(None) };
    let sample = set_of.sample(&mut seed.derive("rows", 0).stream(), rows).prepared(set);
    let ensemble = Generator::new(KMeans::new())
        .members(MEMBERS)
        .seed(seed.derive("members", 0))
        .feature_fraction(0.5)
        .generate(sample.x.view())?;
    Ok(Some(Data { truth: sample.truth(), x: Some(sample.x), ensemble }))
}

fn of_pool(pool: &str, seed: Seed, rows: usize) -> Result<Option<Data>> {
    let path = folder("pools").join(format!("{pool}.npz"));
    let Ok(file) = std::fs::File::open(&path) else {
        eprintln!("{pool} skipped: {} cannot be read", path.display());
        return Ok(None);
    };
    let mut npz = NpzReader::new(file).expect("a pool");
    let labels: Array2<u8> = npz.by_name("labels").expect("labels");
    let truth: Array1<i64> = match npz.by_name::<ndarray::OwnedRepr<i64>, ndarray::Ix1>("truth") {
        Ok(truth) => truth,
        Err(_) => match npz.by_name::<ndarray::OwnedRepr<i32>, ndarray::Ix1>("truth") {
            Ok(truth) => truth.mapv(i64::from),
            Err(_) => {
                let bytes: Array1<u8> = npz.by_name("truth").expect("truth");
                bytes.mapv(i64::from)
            }
        },
    };
    let mut draw = seed.derive("rows", 0).stream();
    let objects = draw.sample(labels.nrows(), rows);
    let columns = draw.sample(labels.ncols(), POOL_MEMBERS);
    let few = labels.select(Axis(0), &objects).select(Axis(1), &columns);
    let truth: Vec<i64> = objects.iter().map(|&i| truth[i]).collect();
    Ok(Some(Data {
        x: None,
        truth: Partition::from_labels(&truth)?,
        ensemble: Ensemble::from_array(few.view())?,
    }))
}

/// What is made of an ensemble and its features before links are known.
struct Bases {
    /// Objects at the singular vectors of the degree-normalised incidence, orthonormal.
    u: Array2<f64>,
    /// The same times the singular values: the updater's places.
    places: Array2<f64>,
    graph_of_places: Array2<f64>,
    graph_of_labels: Array2<f64>,
    /// Places and the features' components beside them.
    joined: Option<Array2<f64>>,
    graph_of_joined: Option<Array2<f64>>,
    graph_of_features: Option<Array2<f64>>,
    /// How many columns of `joined` are components.
    components: usize,
}

fn bases(data: &Data, seed: Seed) -> Result<Bases> {
    let (n, k) = (data.truth.n_objects(), data.truth.n_clusters());
    let embedding = Embedding::new(101).fit(&data.ensemble, &())?.output;
    let mut all = Array2::zeros((n, embedding.n_dimensions()));
    for i in 0..n {
        if let Some(place) = embedding.position(&data.ensemble, i)? {
            all.row_mut(i).assign(&place);
        }
    }
    let mut u = all.clone();
    for mut column in u.columns_mut() {
        let length = column.dot(&column).sqrt();
        column /= length;
    }
    let q = (1 + 30.max(2 * k)).min(all.ncols());
    let places = all.slice(s![.., 1..q]).to_owned();
    let mut incidence = Vec::new();
    for member in data.ensemble.members() {
        for c in 0..member.n_clusters() {
            let of = |i: usize| f64::from(u8::from(member.label(i) == Some(c)));
            incidence.push(Array1::from_shape_fn(n, of));
        }
    }
    let views: Vec<_> = incidence.iter().map(|c| c.view()).collect();
    let labels = ndarray::stack(Axis(1), &views).expect("columns");
    let components = data.x.as_ref().map(components);
    let joined = components.as_ref().map(|c| {
        let spread = |x: &Array2<f64>| x.var_axis(Axis(0), 0.0).sum();
        let own = c * (spread(&places) / spread(c)).sqrt();
        concatenate(Axis(1), &[places.view(), own.view()]).expect("rows")
    });
    Ok(Bases {
        graph_of_places: graph(&places, seed)?,
        graph_of_labels: graph(&labels, seed)?,
        graph_of_joined: joined.as_ref().map(|j| graph(j, seed)).transpose()?,
        graph_of_features: data.x.as_ref().map(|x| graph(x, seed)).transpose()?,
        components: components.map_or(0, |c| c.ncols()),
        joined,
        u,
        places: all,
    })
}

/// Leading components of standardised features, 30 at most, as the updater has them.
fn components(x: &Array2<f64>) -> Array2<f64> {
    let mut x = x.clone();
    for mut column in x.columns_mut() {
        let (mean, deviation) = (column.mean().unwrap_or(0.0), column.std(0.0));
        column.mapv_inplace(|v| if deviation > 0.0 { (v - mean) / deviation } else { 0.0 });
    }
    let svd = consilience::num::svd::truncated_svd(&x, &consilience::num::svd::SvdOptions::new(30));
    &svd.left * &Array1::from(svd.values)
}

/// Leading eigenvectors of the normalised graph of the 10 nearest neighbours.
fn graph(x: &Array2<f64>, seed: Seed) -> Result<Array2<f64>> {
    let graph = SelfTuned::new(10).graph(x.clone(), &())?;
    let options = TruncatedOptions::new(50).tolerance(1e-6).max_iterations(60).seed(seed);
    let top = truncated_eigen(graph.matrix(), &options);
    let kept = top.values.iter().take_while(|&&v| v > 1e-3).count();
    Ok(top.vectors.slice(s![.., ..kept]).to_owned())
}

/// Orthonormal columns that span both.
fn span(a: &Array2<f64>, b: &Array2<f64>) -> Array2<f64> {
    let mut q: Vec<Array1<f64>> = Vec::new();
    for column in a.columns().into_iter().chain(b.columns()) {
        let mut v = column.to_owned();
        for _ in 0..2 {
            for w in &q {
                let by = v.dot(w);
                v.scaled_add(-by, w);
            }
        }
        let length = v.dot(&v).sqrt();
        if length > 1e-6 {
            q.push(v / length);
        }
    }
    let views: Vec<_> = q.iter().map(|c| c.view()).collect();
    ndarray::stack(Axis(1), &views).expect("columns")
}

fn run(set: &str, data: &Data, seed: u64, options: &Options) -> Result<()> {
    let (n, k) = (data.truth.n_objects(), data.truth.n_clusters());
    let start = Instant::now();
    let bases = bases(data, Seed(seed))?;
    eprintln!("{set} {seed} n {n} k {k} bases {:.1?}", start.elapsed());
    let mut draw = Seed(seed).derive("links", 0).stream();
    let mut links = Constraints::new(n)?;
    for &count in &options.links {
        while links.len() < count {
            let (i, j) = (draw.below(n), draw.below(n));
            if i != j {
                let same = data.truth.label(i) == data.truth.label(j);
                links.add(i, j, if same { Link::Must } else { Link::Cannot })?;
            }
        }
        for method in &options.methods {
            let start = Instant::now();
            let Some(found) = read(method, data, &bases, &links, Seed(seed))? else { continue };
            let seconds = start.elapsed().as_secs_f64();
            let nmi = |p: &Partition| {
                normalized_mutual_information(p, &data.truth, Normalizer::Arithmetic)
            };
            let placed = match &found.rows {
                Some(rows) => nmi(&placed(rows, &found.partition, &links)?)?,
                None => nmi(&found.partition)?,
            };
            println!(
                "run {set} {seed} {count} {method} {:.4} {placed:.4} {:.3} {seconds:.2} {}",
                nmi(&found.partition)?,
                found.kept,
                found.taken,
            );
        }
    }
    Ok(())
}

struct Found {
    partition: Partition,
    /// What k-means saw, where linked objects are not placed yet.
    rows: Option<Array2<f64>>,
    kept: f64,
    taken: String,
}

fn kept(report: &Report) -> f64 {
    let note = report.notes.iter().find_map(|note| note.split(" % of them").next());
    let number = note.and_then(|n| n.rsplit(' ').next()).and_then(|n| n.parse::<f64>().ok());
    number.map_or(f64::NAN, |n| n / 100.0)
}

fn read(
    method: &str,
    data: &Data,
    bases: &Bases,
    links: &Constraints,
    seed: Seed,
) -> Result<Option<Found>> {
    let k = data.truth.n_clusters();
    let side = SideInformation::from_constraints(links);
    let mccc = Mccc::new(k).seed(seed);
    let first = |z: &Array2<f64>, q: usize| z.slice(s![.., ..q.min(z.ncols())]).to_owned();
    let in_basis = |z: Array2<f64>| -> Result<Option<Found>> {
        let fit = mccc.fit_coordinates(z.view(), &side, &())?;
        Ok(Some(Found {
            kept: kept(&fit.report),
            rows: Some(fit.output.similarity.embedding().to_owned()),
            partition: fit.output.partition,
            taken: String::new(),
        }))
    };
    let on_rows = |basis: Basis, x: &Array2<f64>| -> Result<Option<Found>> {
        let fit = mccc.clone().basis(basis).fit_completed(x.view(), &side, &())?;
        Ok(Some(Found {
            kept: kept(&fit.report),
            taken: fit.output.similarity.basis().map_or(String::new(), |b| b.name().to_owned()),
            rows: Some(fit.output.similarity.embedding().to_owned()),
            partition: fit.output.clustering.partition,
        }))
    };
    match method {
        "u25" => return in_basis(first(&bases.u, 25)),
        "u50" => return in_basis(first(&bases.u, 50)),
        "p25" => return in_basis(first(&bases.places, 25)),
        "p100" => return in_basis(bases.places.clone()),
        "p50" => return in_basis(first(&bases.places, 50)),
        "gp25" => return in_basis(first(&bases.graph_of_places, 25)),
        "gp50" => return in_basis(first(&bases.graph_of_places, 50)),
        "gc25" => return in_basis(first(&bases.graph_of_labels, 25)),
        "gc50" => return in_basis(first(&bases.graph_of_labels, 50)),
        "hp" => return on_rows(Basis::HeldOut, &bases.places),
        _ => {}
    }
    if let (Some(x), Some(joined), Some(own), Some(of_joined)) =
        (&data.x, &bases.joined, &bases.graph_of_features, &bases.graph_of_joined)
    {
        match method {
            "gj25" => return in_basis(first(of_joined, 25)),
            "gj50" => return in_basis(of_joined.clone()),
            "gf50" => return in_basis(own.clone()),
            "pj" => {
                let beside = joined.slice(s![.., joined.ncols() - bases.components..]);
                let places = first(&bases.places, 50);
                return in_basis(concatenate(Axis(1), &[places.view(), beside]).expect("rows"));
            }
            "pfj" => {
                // The features' graph at the variance of the places.
                let places = first(&bases.places, 50);
                let spread = |x: &Array2<f64>| x.var_axis(Axis(0), 0.0).sum();
                let by = (spread(&places) / spread(own)).sqrt();
                let all = [places.view(), (own * by).view()].map(|v| v.to_owned());
                let views = [all[0].view(), all[1].view()];
                return in_basis(concatenate(Axis(1), &views).expect("rows"));
            }
            "hj" => return on_rows(Basis::HeldOut, joined),
            "uf50" => return in_basis(span(&first(&bases.u, 25), &first(own, 25))),
            "gpf50" => return in_basis(span(&first(&bases.graph_of_places, 25), &first(own, 25))),
            "gpf100" => return in_basis(span(&bases.graph_of_places, own)),
            "mccc" => return on_rows(Basis::HeldOut, x),
            _ => {}
        }
    }
    updater(method, data, links, seed)
}

/// The updater's own readings.
fn updater(method: &str, data: &Data, links: &Constraints, seed: Seed) -> Result<Option<Found>> {
    let k = data.truth.n_clusters();
    let rule =
        MetricRule::new(k).seed(seed).cross_validated(!["unguarded", "beside"].contains(&method));
    let learner = match method {
        "completion" | "completion+" => MapLearner::Completion,
        _ => MapLearner::LogDet,
    };
    let mut metric = rule.learner(learner).open(&data.ensemble, &())?;
    let none = Constraints::new(data.truth.n_objects())?;
    let known = if method == "plain" { &none } else { links };
    let mut ensemble = data.ensemble.clone();
    match (method, &data.x) {
        ("plain" | "metric" | "unguarded", _) => {}
        ("beside", Some(x)) => {
            metric.lay_beside(&ensemble, x.into(), &none, &())?;
        }
        ("completion", _) | ("grown" | "completion+", Some(_)) => {}
        _ => return Ok(None),
    }
    metric.follow(&ensemble, &known.iter().collect::<Vec<_>>(), &())?;
    if let ("grown" | "completion+", Some(x)) = (method, &data.x) {
        let growth = MemberGrowth::new(KMeans::new()).seed(seed.derive("tier", 0));
        let grown = growth.grow(x.into(), k, known, &())?.output;
        let mut all = ensemble.members().to_vec();
        all.extend(grown.members);
        ensemble = Ensemble::new(all)?;
        metric.grow(&ensemble, &grown.left_out, grown.features, known, &())?;
    }
    let read = metric.read_out(&ensemble, known, &())?.output;
    Ok(Some(Found {
        partition: read.partition(&ensemble, &())?,
        rows: None,
        kept: f64::NAN,
        taken: read.method().name().to_owned(),
    }))
}

/// Linked objects placed as wholes, as the updater does.
fn placed(rows: &Array2<f64>, found: &Partition, links: &Constraints) -> Result<Partition> {
    let (n, k) = (rows.nrows(), found.n_clusters());
    let side = SideInformation::from_constraints(links);
    let mut centres = Array2::<f64>::zeros((k, rows.ncols()));
    for i in 0..n {
        centres.row_mut(found.label(i).unwrap_or(0)).scaled_add(1.0, &rows.row(i));
    }
    for (mut c, size) in centres.rows_mut().into_iter().zip(found.sizes()) {
        c /= size as f64;
    }
    let spread = rows.var_axis(Axis(0), 0.0).sum();
    let groups = side.labelled_sets();
    let mut apart = vec![Vec::new(); groups.len()];
    for (a, b) in side.sets_apart() {
        apart[a].push(b);
        apart[b].push(a);
    }
    let cost: Vec<Vec<f64>> = groups
        .iter()
        .map(|group| {
            let mut cost = vec![0.0; k];
            for &i in group {
                for (h, c) in cost.iter_mut().enumerate() {
                    let d = &rows.row(i) - &centres.row(h);
                    *c += d.dot(&d);
                }
            }
            cost
        })
        .collect();
    let lowest = |c: &[f64]| (1..k).fold(0, |best, h| if c[h] < c[best] { h } else { best });
    let mut at: Vec<usize> = cost.iter().map(|c| lowest(c)).collect();
    for _ in 0..20 {
        let mut moved = false;
        for a in 0..groups.len() {
            let mut priced = cost[a].clone();
            apart[a].iter().for_each(|&b| priced[at[b]] += spread);
            let to = lowest(&priced);
            if priced[to] < priced[at[a]] {
                at[a] = to;
                moved = true;
            }
        }
        if !moved {
            break;
        }
    }
    let mut labels: Vec<usize> = (0..n).map(|i| found.label(i).unwrap_or(0)).collect();
    for &(i, set) in side.labelled_objects() {
        labels[i] = at[set];
    }
    Partition::from_labels(&labels)
}
