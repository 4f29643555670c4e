//! Side-information clustering (MCCC, RDML) on feature sets with 2,000, 4,000 and 6,000 constraints
//! on random pairs, as in Table 5.3 of the thesis.
//!
//! `cargo run --release --bin mccc_uci -- [SEEDS] [SET,SET] [METHOD,METHOD] [PAIRS,PAIRS]` on
//! files `NAME.npz` with arrays `x` (n x d) and `y` (classes) in `$CONSILIENCE_DATA/features`.
//! Prints the tables of docs/side-information.md: means of NMI (arithmetic mean as normaliser) and
//! of seconds.

use std::time::Instant;

use consilience::completion::{
    Basis, CompletedClustering, CompletionSolver, LossWeight, Mccc, Rdml, SampleSimilarity,
};
use consilience::ndarray::Array2;
use consilience::{Constraints, Fit, Link, Partition, Result, Seed, SideInformation, scores};
use consilience_eval::sets::{Set, one_hot};

/// Features and classes. Nominal attributes of mushrooms become one column per value, missing
/// values none; of USPS only the digits 0 to 4 are taken (classes 9, 0, 1, 2, 3 of the file), or
/// classes 0 to 4 as `usps-first`.
fn read(name: &str) -> Option<(Array2<f64>, Partition)> {
    let set = Set::read(name.split('-').next()?)?;
    let set = match name {
        "usps" => set.of_classes(|y| matches!(y, 9 | 0..=3)),
        "usps-first" => set.of_classes(|y| y < 5),
        _ => set,
    };
    let x = if name == "mushrooms" { one_hot(&set.x) } else { set.x.clone() };
    Some((x.mapv(|v| if v.is_finite() { v } else { 0.0 }), set.truth()))
}

/// What the classes say about pairs drawn at random.
fn constraints(truth: &Partition, pairs: usize, seed: u64) -> Constraints {
    let n = truth.n_objects();
    let mut stream = Seed(seed).derive("pairs", pairs as u64).stream();
    let mut out = Constraints::new(n).unwrap();
    while out.len() < pairs {
        let (i, j) = (stream.below(n), stream.below(n));
        if i != j {
            let link = if truth.label(i) == truth.label(j) { Link::Must } else { Link::Cannot };
            out.add(i, j, link).unwrap();
        }
    }
    out
}

type Method = Box<dyn Fn(&Array2<f64>, &SideInformation, Seed) -> Result<Fit<CompletedClustering>>>;

fn methods(k: usize) -> Vec<(&'static str, Method)> {
    let mccc = |change: fn(Mccc) -> Mccc| -> Method {
        Box::new(move |x, c, seed| change(Mccc::new(k)).seed(seed).fit_completed(x.view(), c, &()))
    };
    let rdml = |smoothing: f64| -> Method {
        Box::new(move |x, c, seed| {
            Rdml::new(k).smoothing(smoothing).seed(seed).fit_completed(x.view(), c, &())
        })
    };
    vec![
        ("mccc", mccc(|m| m)),
        ("singular", mccc(|m| m.basis(Basis::Singular))),
        ("neighbours", mccc(|m| m.basis(Basis::Neighbours))),
        ("standardised", mccc(|m| m.basis(Basis::StandardizedNeighbours))),
        ("free", mccc(|m| m.semidefinite(false))),
        (
            "thesis",
            mccc(|m| m.basis(Basis::Singular).eigenvectors(100).loss_weight(LossWeight::Balanced)),
        ),
        (
            "algorithm1",
            mccc(|m| {
                m.basis(Basis::Singular).eigenvectors(100).solver(CompletionSolver::Stochastic)
            }),
        ),
        ("rdml-.001", rdml(0.001)),
        ("rdml", rdml(0.01)),
        ("rdml-.1", rdml(0.1)),
        ("rdml-1", rdml(1.0)),
        ("rdml-sample", Box::new(sample)),
    ]
}

/// RDML from 300 objects whose similarity is completed without a mistake; how many pairs are known
/// plays no part.
fn sample(
    x: &Array2<f64>,
    known: &SideInformation,
    seed: Seed,
) -> Result<Fit<CompletedClustering>> {
    let truth = TRUTH.with(|t| t.borrow().clone()).unwrap();
    let rows = seed
        .derive("sample", known.stated().map_or(0, |pairs| pairs.len()) as u64)
        .stream()
        .sample(x.nrows(), 300);
    let factors = Array2::from_shape_fn((rows.len(), truth.n_clusters()), |(a, c)| {
        f64::from(u8::from(truth.label(rows[a]) == Some(c)))
    });
    let given = SampleSimilarity::Factors(factors.view());
    Rdml::new(truth.n_clusters()).seed(seed).fit_sample(x.view(), &rows, given, &())
}

thread_local! {
    static TRUTH: std::cell::RefCell<Option<Partition>> = const { std::cell::RefCell::new(None) };
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let seeds: u64 = arguments.next().and_then(|s| s.parse().ok()).unwrap_or(5);
    let list = |text: Option<String>, otherwise: &str| -> Vec<String> {
        text.unwrap_or(otherwise.to_owned()).split(',').map(str::to_owned).collect()
    };
    let sets = list(arguments.next(), "mushrooms,segmentation,usps");
    let wanted = list(arguments.next(), "mccc,singular,neighbours,standardised,rdml,rdml-sample");
    let pairs = list(arguments.next(), "2000,4000,6000");
    println!(
        "| set | constraints | {} |\n|---|---|{}",
        wanted.join(" | "),
        "---|".repeat(wanted.len())
    );
    for set in &sets {
        let Some((x, truth)) = read(set) else {
            println!("| {set} | not there |");
            continue;
        };
        TRUTH.with(|t| *t.borrow_mut() = Some(truth.clone()));
        for pairs in pairs.iter().filter_map(|p| p.parse().ok()) {
            let mut cells = Vec::new();
            for name in &wanted {
                let all = methods(truth.n_clusters());
                let Some((_, method)) = all.iter().find(|m| m.0 == name) else { continue };
                let (mut nmi, mut seconds) = (0.0, 0.0);
                for seed in 0..seeds {
                    let known = constraints(&truth, pairs, seed);
                    let known = SideInformation::from_constraints(&known);
                    let start = Instant::now();
                    let found = method(&x, &known, Seed(seed)).unwrap();
                    seconds += start.elapsed().as_secs_f64() / seeds as f64;
                    let partition = &found.output.clustering.partition;
                    nmi += scores::normalized_mutual_information(
                        partition,
                        &truth,
                        scores::Normalizer::Arithmetic,
                    )
                    .unwrap()
                        / seeds as f64;
                    if std::env::var_os("NOTES").is_some() {
                        let r = &found.report;
                        eprintln!(
                            "{set} {pairs} {name} {seed}: {:?} {} iterations, rank {}, {:?} {:?}",
                            r.status,
                            r.iterations,
                            found.output.similarity.rank(),
                            r.stages,
                            r.notes
                        );
                    }
                }
                cells.push(format!("{nmi:.3} ({seconds:.1} s)"));
            }
            println!("| {set} | {pairs} | {} |", cells.join(" | "));
        }
    }
}
