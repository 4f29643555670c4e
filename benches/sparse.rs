//! Sparse features of the size of 20 Newsgroups: 18,800 texts, 61,000 words, 2.4 million entries.

use std::hint::black_box;

use consilience::Seed;
use consilience::core::BaseClusterer;
use consilience::generate::{KMeans, MiniBatchKMeans, SphericalKMeans, USpec};
use consilience::metric::TruncatedSvd;
use criterion::{Criterion, criterion_group, criterion_main};
use sprs::CsMat;

const TEXTS: usize = 18_800;
const WORDS: usize = 61_000;
const LENGTH: usize = 150;

/// Texts of twenty topics: a word is one of all with frequencies after Zipf, or, two times in five,
/// the one that the topic has in its place.
fn texts() -> CsMat<f64> {
    let mut stream = Seed(1).stream();
    let mut cumulated = vec![0.0; WORDS];
    let mut sum = 0.0;
    for (rank, at) in cumulated.iter_mut().enumerate() {
        sum += 1.0 / (rank as f64 + 10.0);
        *at = sum;
    }
    let (mut starts, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
    for i in 0..TEXTS {
        let topic = i % 20 * 2_909;
        let mut words: Vec<usize> = (0..LENGTH)
            .map(|_| {
                let at = stream.uniform() * sum;
                let rank = cumulated.partition_point(|&c| c < at).min(WORDS - 1);
                if stream.below(5) < 2 { (rank * 17 + topic) % WORDS } else { rank }
            })
            .collect();
        words.sort_unstable();
        for word in words {
            if indices.len() > starts[i] && indices.last() == Some(&word) {
                if let Some(count) = values.last_mut() {
                    *count += 1.0;
                }
            } else {
                indices.push(word);
                values.push(1.0);
            }
        }
        starts.push(indices.len());
    }
    CsMat::new((TEXTS, WORDS), starts, indices, values)
}

fn sparse(c: &mut Criterion) {
    let x = texts();
    let mut group = c.benchmark_group(format!("{TEXTS} x {WORDS}, {} entries, k = 20", x.nnz()));
    group.sample_size(10);
    let methods: [(&str, Box<dyn BaseClusterer>); 4] = [
        ("k-means, 10 iterations", Box::new(KMeans::new().max_iterations(10).tolerance(0.0))),
        ("spherical k-means, 10 iterations", {
            Box::new(SphericalKMeans::new().max_iterations(10).tolerance(0.0))
        }),
        ("mini-batch k-means", Box::new(MiniBatchKMeans::new())),
        ("U-SPEC, 200 representatives", Box::new(USpec::new().representatives(200))),
    ];
    for (name, method) in methods {
        group.bench_function(name, |b| {
            b.iter(|| method.fit(black_box((&x).into()), 20, Seed(1), &()).expect("clusters"));
        });
    }
    group.bench_function("truncated SVD, 50 dimensions", |b| {
        b.iter(|| TruncatedSvd::new(50).learn(black_box(&x)).expect("a map"));
    });
    group.finish();
}

criterion_group!(benches, sparse);
criterion_main!(benches);
