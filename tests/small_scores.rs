//! Every score of every two clusterings of five objects, any of them unlabelled, against the
//! definitions: pairs of objects one by one, all matchings of clusters, all orders of the labels.

use consilience::scores::Scores;
use consilience::{ErrorKind, Partition};
use consilience_conformance::small_worlds;
use rayon::prelude::*;

/// Labels of the objects that both label.
type Labels = Vec<(usize, usize)>;

fn labels(a: &Partition, b: &Partition) -> Labels {
    a.iter().zip(b.iter()).filter_map(|(a, b)| Some((a?, b?))).collect()
}

/// Shares of the objects by what they are called.
fn shares<K: Ord>(names: impl Iterator<Item = K>) -> Vec<f64> {
    let mut names: Vec<K> = names.collect();
    names.sort_unstable();
    let n = names.len() as f64;
    names.chunk_by(|a, b| a == b).map(|run| run.len() as f64 / n).collect()
}

fn entropy(shares: &[f64]) -> f64 {
    -shares.iter().map(|p| p * p.ln()).sum::<f64>()
}

/// `H(A) + H(B) - H(A, B)`.
fn information(labels: &Labels) -> f64 {
    let of = |f: fn(&(usize, usize)) -> usize| entropy(&shares(labels.iter().map(f)));
    of(|l| l.0) + of(|l| l.1) - entropy(&shares(labels.iter().copied()))
}

/// Every order of so many things.
fn orders(n: usize) -> Vec<Vec<usize>> {
    if n == 0 {
        return vec![vec![]];
    }
    let put = |order: &Vec<usize>, at: usize| {
        let mut order = order.clone();
        order.insert(at, n - 1);
        order
    };
    orders(n - 1).iter().flat_map(|order| (0..n).map(move |at| put(order, at))).collect()
}

/// `ratio` where it is one, and what is agreed on for 0 over 0.
fn ratio(above: f64, below: f64, else_: f64) -> f64 {
    if below.abs() < 1e-12 { else_ } else { above / below }
}

/// Scores of pairs: rand, adjusted Rand, precision, recall, F, Fowlkes and Mallows, Jaccard.
fn of_pairs(labels: &Labels) -> [f64; 7] {
    let (mut both, mut first, mut second, mut all) = (0.0, 0.0, 0.0, 0.0);
    for (i, x) in labels.iter().enumerate() {
        for y in &labels[..i] {
            let (a, b) = (x.0 == y.0, x.1 == y.1);
            both += f64::from(u8::from(a && b));
            first += f64::from(u8::from(a));
            second += f64::from(u8::from(b));
            all += 1.0;
        }
    }
    let apart = all - first - second + both;
    let expected = ratio(first * second, all, 0.0);
    let ari = ratio(both - expected, (first + second) / 2.0 - expected, 1.0);
    let (precision, recall) = (ratio(both, first, 1.0), ratio(both, second, 1.0));
    let f = ratio(2.0 * precision * recall, precision + recall, 0.0);
    let fowlkes = if both > 0.0 { both / (first * second).sqrt() } else { 0.0 };
    let jaccard = ratio(both, first + second - both, 1.0);
    [ratio(both + apart, all, 1.0), ari, precision, recall, f, fowlkes, jaccard]
}

/// Accuracy over all matchings of five clusters, and purity.
fn of_matchings(labels: &Labels, orders: &[Vec<usize>]) -> [f64; 2] {
    let n = labels.len() as f64;
    let matched = |order: &Vec<usize>| labels.iter().filter(|l| order[l.0] == l.1).count();
    let accuracy = orders.iter().map(matched).max().unwrap_or(0) as f64 / n;
    let count = |c: usize, k: usize| labels.iter().filter(|l| **l == (c, k)).count();
    let most = |c: usize| (0..5).map(|k| count(c, k)).max().unwrap_or(0);
    [accuracy, (0..5).map(most).sum::<usize>() as f64 / n]
}

/// Mutual information as it is on average over all orders of the second labels.
fn expected_information(labels: &Labels, orders: &[Vec<usize>]) -> f64 {
    let moved = |order: &Vec<usize>| {
        let labels = labels.iter().enumerate().map(|(i, l)| (l.0, labels[order[i]].1)).collect();
        information(&labels)
    };
    orders.iter().map(moved).sum::<f64>() / orders.len() as f64
}

fn by_definition(labels: &Labels, all: &[Vec<Vec<usize>>]) -> [f64; 18] {
    let first = entropy(&shares(labels.iter().map(|l| l.0)));
    let second = entropy(&shares(labels.iter().map(|l| l.1)));
    let mutual = information(labels);
    let trivial = first < 1e-12 && second < 1e-12;
    let normalized = |by: f64| if trivial { 1.0 } else { ratio(mutual, by, 0.0) };
    let (homogeneity, completeness) = (ratio(mutual, second, 1.0), ratio(mutual, first, 1.0));
    let arithmetic = (first + second) / 2.0;
    let expected = expected_information(labels, &all[labels.len()]);
    // Where the information cannot vary, equal partitions have all of it.
    let ami = ratio(mutual - expected, arithmetic - expected, 1.0);
    let [rand, ari, precision, recall, f, fowlkes, jaccard] = of_pairs(labels);
    let [accuracy, purity] = of_matchings(labels, &all[5]);
    [
        normalized(first.max(second)),
        normalized((first * second).sqrt()),
        normalized(arithmetic),
        ami,
        ari,
        rand,
        accuracy,
        purity,
        homogeneity,
        completeness,
        ratio(2.0 * homogeneity * completeness, homogeneity + completeness, 0.0),
        first + second - 2.0 * mutual,
        mutual,
        precision,
        recall,
        f,
        fowlkes,
        jaccard,
    ]
}

#[test]
fn every_score_is_that_of_its_definition() {
    let orders: Vec<_> = (0..=5).map(orders).collect();
    let worlds: Vec<_> = small_worlds(5, 2).collect();
    worlds.par_iter().for_each(|world| {
        let [a, b] = world.members() else { unreachable!("two members") };
        let labels = labels(a, b);
        let scores = match Scores::compare(a, b) {
            Ok(scores) => scores,
            Err(error) => {
                assert_eq!((error.kind(), labels.len()), (ErrorKind::Empty, 0));
                return;
            }
        };
        for ((name, score), should) in scores.entries().iter().zip(by_definition(&labels, &orders))
        {
            assert!((score - should).abs() < 1e-12, "{name}: {score}, not {should}, of {labels:?}");
        }
    });
    println!("{} pairs of clusterings, 18 scores each", worlds.len());
}
