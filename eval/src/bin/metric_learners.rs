//! Our side of `eval/peers/metric_learn.py` and `eval/peers/constrained_kmeans.py`, which say how;
//! without arguments, a small tour of the metric learners.
//!
//! cargo run --bin metric_learners

use std::time::Instant;

use consilience::constrained::{Ccskl, CopKMeans, MpckMeans, PckMeans, Pmmc, SeededKMeans};
use consilience::core::ConstrainedClusterer;
use consilience::metric::{Dca, Itml, LinearMap, Lmnn, MetricLearner, Mmc, Rca};
use consilience::ndarray::{Array1, Array2};
use consilience::scores::rand;
use consilience::{Constraints, Link, Partition, Seed, SideInformation};

type Failure = Box<dyn std::error::Error>;

/// Squared distances under the metric are those after the map.
fn far(z: &Array2<f64>, pairs: &Array2<i64>) -> Vec<f64> {
    pairs
        .rows()
        .into_iter()
        .map(|p| {
            let apart = &z.row(p[0] as usize) - &z.row(p[1] as usize);
            apart.dot(&apart)
        })
        .collect()
}

/// Share of (must-link, cannot-link) couples of which the cannot-link is longer; ties count half.
fn ranked(must: &[f64], cannot: &[f64]) -> f64 {
    let mut sorted = must.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let right: f64 = cannot
        .iter()
        .map(|c| {
            let below = sorted.partition_point(|m| m < c) as f64;
            0.5 * (below + sorted.partition_point(|m| m <= c) as f64)
        })
        .sum();
    right / (must.len() * cannot.len()) as f64
}

fn one_nn(z: &Array2<f64>, y: &Array1<i64>) -> f64 {
    let n = z.nrows();
    let norms: Vec<f64> = z.rows().into_iter().map(|r| r.dot(&r)).collect();
    let products = z.dot(&z.t());
    let right = (0..n)
        .filter(|&i| {
            let near = (0..n).filter(|&j| j != i).min_by(|&a, &b| {
                (norms[a] - 2.0 * products[[i, a]]).total_cmp(&(norms[b] - 2.0 * products[[i, b]]))
            });
            near.is_some_and(|j| y[i] == y[j])
        })
        .count();
    right as f64 / n as f64
}

fn learners() -> Vec<(&'static str, Box<dyn MetricLearner>, bool)> {
    vec![
        ("itml", Box::new(Itml::new()), false),
        ("mmc", Box::new(Mmc::new()), false),
        ("mmc-diagonal", Box::new(Mmc::new().diagonal(true)), false),
        ("dca (pairs)", Box::new(Dca::new()), false),
        ("rca", Box::new(Rca::new()), true),
        ("dca", Box::new(Dca::new()), true),
        ("lmnn", Box::new(Lmnn::new()), true),
        ("itml (labels)", Box::new(Itml::new()), true),
    ]
}

fn names(folder: &str, ending: &str) -> Result<Vec<String>, Failure> {
    let mut names: Vec<String> = std::fs::read_dir(folder)?
        .filter_map(|e| {
            e.ok()?.file_name().into_string().ok()?.strip_suffix(ending).map(str::to_owned)
        })
        .collect();
    names.sort();
    Ok(names)
}

fn metrics(folder: &str) -> Result<(), Failure> {
    println!("set,method,seconds,given,held,one_nn");
    let draws = names(folder, "-x.npy")?;
    let mut sets: Vec<&str> = draws.iter().filter_map(|d| Some(d.rsplit_once('-')?.0)).collect();
    sets.dedup();
    for set in sets {
        for (name, learner, labelled) in learners() {
            let mut sum = [0.0; 4];
            let mine: Vec<&String> =
                draws.iter().filter(|d| d.rsplit_once('-').is_some_and(|d| d.0 == set)).collect();
            for draw in &mine {
                let at = |what: &str| format!("{folder}/{draw}-{what}.npy");
                let x: Array2<f64> = ndarray_npy::read_npy(at("x"))?;
                let y: Array1<i64> = ndarray_npy::read_npy(at("y"))?;
                let mut pairs = Constraints::new(y.len())?;
                let mut given = Vec::new();
                for (what, link) in [("must", Link::Must), ("cannot", Link::Cannot)] {
                    let list: Array2<i64> = ndarray_npy::read_npy(at(what))?;
                    for p in list.rows() {
                        pairs.add(p[0] as usize, p[1] as usize, link)?;
                    }
                    given.push(list);
                }
                let labels: Array1<i64> = ndarray_npy::read_npy(at("labels"))?;
                let side = if labelled {
                    SideInformation::from_labels(&labels.to_vec())?
                } else {
                    SideInformation::from_constraints(&pairs)
                };
                if labelled {
                    let list = |links: Vec<(usize, usize)>| {
                        Array2::from_shape_fn((links.len(), 2), |(p, e)| {
                            if e == 0 { links[p].0 as i64 } else { links[p].1 as i64 }
                        })
                    };
                    given = vec![
                        list(side.must_links().collect()),
                        list(side.cannot_links().collect()),
                    ];
                }
                let begin = Instant::now();
                let map: LinearMap = learner.fit(x.view().into(), &side, &())?.output;
                sum[0] += begin.elapsed().as_secs_f64();
                let z = map.apply(x.view())?;
                sum[1] += ranked(&far(&z, &given[0]), &far(&z, &given[1]));
                let held: [Array2<i64>; 2] = [
                    ndarray_npy::read_npy(at("held-must"))?,
                    ndarray_npy::read_npy(at("held-cannot"))?,
                ];
                sum[2] += ranked(&far(&z, &held[0]), &far(&z, &held[1]));
                sum[3] += one_nn(&z, &y);
            }
            let [seconds, given, held, nn] = sum.map(|s| s / mine.len() as f64);
            println!("{set},{name},{seconds:.4},{given:.3},{held:.3},{nn:.3}");
        }
    }
    Ok(())
}

fn clusterers(folder: &str) -> Result<(), Failure> {
    println!("set,method,seconds (median of 9),rand");
    for set in names(folder, "-x.npy")? {
        let x: Array2<f64> = ndarray_npy::read_npy(format!("{folder}/{set}-x.npy"))?;
        let y: Array1<i64> = ndarray_npy::read_npy(format!("{folder}/{set}-y.npy"))?;
        let labels: Array1<i64> = ndarray_npy::read_npy(format!("{folder}/{set}-labels.npy"))?;
        let truth = Partition::from_labels(&y.to_vec())?;
        let side = SideInformation::from_labels(&labels.to_vec())?;
        let k = truth.n_clusters();
        let methods: [(&str, Box<dyn ConstrainedClusterer>); 9] = [
            ("seeded-kmeans", Box::new(SeededKMeans::new(k))),
            ("constrained-kmeans", Box::new(SeededKMeans::constrained(k))),
            ("cop-kmeans", Box::new(CopKMeans::new(k))),
            ("pck-means", Box::new(PckMeans::new(k))),
            ("mpck-means", Box::new(MpckMeans::new(k))),
            ("mpck-means per cluster", Box::new(MpckMeans::new(k).per_cluster(true))),
            ("mpck-means full", Box::new(MpckMeans::new(k).full(true))),
            ("ccskl", Box::new(Ccskl::new(k))),
            ("pmmc", Box::new(Pmmc::new(k))),
        ];
        for (name, method) in methods {
            let mut seconds = Vec::new();
            let mut score = 0.0;
            for _ in 0..9 {
                let begin = Instant::now();
                let found = method.fit(x.view().into(), &side, &())?;
                seconds.push(begin.elapsed().as_secs_f64());
                score = rand(&found.output.partition, &truth)?;
            }
            seconds.sort_by(f64::total_cmp);
            println!("{set},{name},{:.5},{score:.3}", seconds[4]);
        }
    }
    Ok(())
}

/// Two classes that differ in one of six features, twelve labels each: with five, a full metric may
/// fit chance.
fn tour() -> Result<(), Failure> {
    let mut noise = Seed(2).stream();
    let truth: Vec<i64> = (0..200).map(|i| i % 2).collect();
    let x = Array2::from_shape_fn((200, 6), |(i, j)| {
        let wide = if j == 0 { 0.0 } else { 6.0 * noise.uniform() };
        if j == 0 { 2.0 * truth[i] as f64 + 0.4 * noise.normal() } else { wide }
    });
    let labels: Vec<i64> = (0..200).map(|i| if i < 24 { truth[i] } else { -1 }).collect();
    let side = SideInformation::from_labels(&labels)?;
    let y = Array1::from_vec(truth);
    let plain = one_nn(&x, &y);
    println!("1-NN accuracy, plain features: {plain:.3}");
    for (name, learner, _) in learners() {
        let learned = learner.fit(x.view().into(), &side, &())?;
        let nn = one_nn(&learned.output.apply(x.view())?, &y);
        println!("{name:>14}: {nn:.3}");
        assert!(nn > plain - 0.05, "{name}");
    }
    Ok(())
}

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["--clusterers", folder] => clusterers(folder),
        [folder] => metrics(folder),
        _ => tour(),
    }
}

#[test]
fn runs() {
    tour().unwrap();
}
