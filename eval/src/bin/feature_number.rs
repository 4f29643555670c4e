//! How many clusters are features? That of their silhouettes, where these are clear, beside what
//! the members' criteria say, and what it does to the consensus.
//!
//! `feature_number FROM TO`: seeds of the drawn worlds. Reference sets are read where they are.

use consilience::generate::{Generator, KMeans, Scale};
use consilience::model::ConsensusClustering;
use consilience::scores::adjusted_rand;
use consilience::trust::Recommended;
use consilience::{Clusters, Partition, Seed};
use consilience_eval::sets::{Set, filled};
use ndarray::{Array1, Array2, array};

/// Sets of at most so many objects.
const MOST: usize = 1_500;
const SETS: [&str; 14] = [
    "balance",
    "credit",
    "ecoli",
    "hepatitis",
    "ionosphere",
    "letters",
    "mfeat_pix",
    "mushrooms",
    "promoters",
    "segmentation",
    "soybean_small",
    "usps",
    "voting",
    "yeast",
];

struct World {
    name: String,
    x: Array2<f64>,
    classes: Vec<usize>,
}

/// Gaussians of 2 to 30 clusters in 2 to 11 dimensions, of any distance and of unequal sizes.
fn gaussians(seed: u64) -> World {
    let mut random = Seed(seed).derive("gaussians", 0).stream();
    let mut between = |low: f64, high: f64| (low.ln() + (high / low).ln() * random.uniform()).exp();
    let k = between(2.0, 31.0) as usize;
    let n = between((15 * k).max(120) as f64, (60 * k).max(1_500) as f64) as usize;
    let spread = between(0.5, 3.0);
    let weights: Vec<f64> = (0..k).map(|_| between(0.3, 1.0)).collect();
    let d = 2 + random.below(10);
    let centres = Array2::from_shape_simple_fn((k, d), || 24.0 * random.uniform() - 12.0);
    let classes: Vec<usize> = (0..n).filter_map(|_| random.weighted(&weights)).collect();
    let x = Array2::from_shape_fn((classes.len(), d), |(i, j)| {
        centres[[classes[i], j]] + spread * random.normal()
    });
    World { name: format!("{k} Gaussians, {d} features, spread {spread:.1}"), x, classes }
}

/// Worlds in which silhouettes mislead, or most methods: the name and two features.
fn shapes(seed: u64) -> Vec<World> {
    let mut random = Seed(seed).derive("shapes", 0).stream();
    let mut worlds = Vec::new();
    let mut world = |name: &str, rows: Vec<(usize, [f64; 2])>| {
        let x = Array2::from_shape_fn((rows.len(), 2), |(i, j)| rows[i].1[j]);
        let classes = rows.iter().map(|row| row.0).collect();
        worlds.push(World { name: name.to_owned(), x, classes });
    };
    let mut normal = || random.normal();
    let grid = (0..400).map(|i| (i / 16, [8 * (i / 80), 8 * (i / 16 % 5)].map(|v| v as f64)));
    world("grid of 25", grid.map(|(c, at)| (c, at.map(|v| v + normal()))).collect());
    let place = |i: usize| match i {
        0..900 => (0, [0.0, 0.0]),
        900..980 => (1, [10.0, 0.0]),
        _ => (2, [0.0, 10.0]),
    };
    let uneven = (0..1_000).map(place);
    world("900, 80 and 20", uneven.map(|(c, at)| (c, at.map(|v| v + normal()))).collect());
    let turn = |i: usize| i as f64 / 400.0 * std::f64::consts::TAU;
    let around = |i: usize, r: f64| [r * turn(i).cos(), r * turn(i).sin()];
    let ring = (0..400).map(|i| (0, around(i, 1.0).map(|v| v + 0.05 * normal())));
    world("one ring", ring.collect());
    let rings = (0..400).map(|i| (i % 2, around(i, [1.0, 3.0][i % 2]).map(|v| v + 0.1 * normal())));
    world("two rings", rings.collect());
    let moon = |i: usize| {
        let a = turn(i) / 2.0;
        if i.is_multiple_of(2) { [a.cos(), a.sin()] } else { [1.0 - a.cos(), 0.5 - a.sin()] }
    };
    let moons = (0..400).map(|i| (i % 2, moon(i).map(|v| v + 0.05 * normal())));
    world("two moons", moons.collect());
    let one = |at: fn(f64) -> f64, normal: &mut dyn FnMut() -> f64| -> Vec<(usize, [f64; 2])> {
        (0..500).map(|_| (0, [at(normal()), at(normal())])).collect()
    };
    world("one Gaussian", one(|v| v, &mut normal));
    world("long tails", one(|v| v * v * v, &mut normal));
    world("logarithms normal", one(f64::exp, &mut normal));
    worlds
}

/// A reference set, what is missing filled.
fn reference(name: &str) -> Option<World> {
    let set = Set::read(name)?.sample(&mut Seed(0).stream(), MOST);
    let classes = set.truth().to_signed().iter().map(|&c| c as usize).collect();
    Some(World { name: name.to_owned(), x: filled(set.x), classes })
}

/// Clusters and adjusted Rand index without and with the features' number.
fn judge(world: &World, seed: u64) -> [(usize, f64); 2] {
    let members = || Generator::new(KMeans::new()).scale(Scale::MinMax).seed(Seed(seed));
    let truth = Partition::from_labels(&world.classes).expect("classes");
    let by_members = ConsensusClustering::by(Recommended::new(Clusters::Auto).seed(Seed(seed)));
    let by_features = ConsensusClustering::new(Clusters::Auto).seed(Seed(seed));
    [by_members, by_features].map(|clustering| {
        let model = clustering.generator(members()).cluster(&world.x).expect("a model");
        let found = model.partition();
        (found.n_clusters(), adjusted_rand(&truth, found).expect("labels"))
    })
}

/// Judges the worlds and prints a line for each, and the means of those of several classes.
fn print(title: &str, worlds: impl Iterator<Item = World>, seed: u64) {
    println!("\n{title}\n");
    println!(
        "| world | objects | classes | members: clusters, ARI | features first: clusters, ARI |"
    );
    println!("|---|---|---|---|---|");
    let (mut sums, mut count, mut taken) = (Array1::zeros(6), 0.0, 0);
    let (mut higher, mut lower) = (0, 0);
    for world in worlds {
        let k = Partition::from_labels(&world.classes).expect("classes").n_clusters();
        let [(old, before), (new, after)] = judge(&world, seed);
        let (name, n) = (&world.name, world.x.nrows());
        println!("| {name} | {n} | {k} | {old}, {before:.2} | {new}, {after:.2} |");
        if k > 1 {
            let off = |found: usize| (found as f64 / k as f64).ln().abs();
            let right = |found: usize| f64::from(u8::from(found == k));
            sums += &array![before, after, off(old), off(new), right(old), right(new)];
            count += 1.0;
            higher += usize::from(after > before + 0.02);
            lower += usize::from(after < before - 0.02);
            taken += usize::from(old != new);
        }
    }
    if count == 0.0 {
        return;
    }
    println!(
        "\n{count} of several: ARI {:.3} -> {:.3}, |ln(clusters / classes)| {:.3} -> {:.3}, \
         right number {} -> {}; number differs on {taken}, ARI higher by .02 on {higher}, lower on \
         {lower}",
        sums[0] / count,
        sums[1] / count,
        sums[2] / count,
        sums[3] / count,
        sums[4],
        sums[5]
    );
}

fn main() {
    let mut seeds = std::env::args().skip(1).map(|text| text.parse().expect("a seed"));
    let (from, to): (u64, u64) = (seeds.next().unwrap_or(0), seeds.next().unwrap_or(40));
    print("Gaussians", (from..to).map(gaussians), from);
    print("Shapes", (from..from + 2).flat_map(shapes), from);
    print("Reference sets", SETS.iter().filter_map(|name| reference(name)), from);
}
