//! Features in other units, far from 0, with columns twice, and with objects many times.

use consilience::ndarray::{Array2, Axis, array, concatenate, s};
use consilience::{Partition, Seed, SideInformation};
use rayon::prelude::*;

use super::methods::{self, Method};
use super::{Exceptions, hold, worlds};

/// The blob of each object: interleaved, and of unequal size.
const BLOB: [usize; 6] = [0, 1, 0, 2, 1, 0];

/// Features, the blob of each object, and the labels of two of every five.
pub(super) struct World {
    pub(super) x: Array2<f64>,
    truth: Partition,
    pub(super) side: SideInformation,
}

impl World {
    /// Three blobs far apart. Multiples of 1/64, so that 1e12 can be added without rounding.
    pub(super) fn blobs(seed: u64) -> Self {
        let mut stream = Seed(seed).derive("blobs", 0).stream();
        let centres = [[0.0, 0.0, 0.0], [40.0, 0.0, 10.0], [0.0, 50.0, -20.0]];
        let of: Vec<usize> = (0..60).map(|i| BLOB[i % 6]).collect();
        let near =
            |(i, j): (usize, usize)| centres[of[i]][j] + (stream.normal() * 64.0).round() / 64.0;
        Self::of(Array2::from_shape_fn((60, 3), near), &of)
    }

    /// No structure: the least change of a bit may give another result.
    pub(super) fn noise(seed: u64) -> Self {
        let mut stream = Seed(seed).derive("noise", 0).stream();
        let x = Array2::from_shape_simple_fn((60, 3), || stream.normal());
        let of: Vec<usize> = (0..60).map(|_| stream.below(3)).collect();
        Self::of(x, &of)
    }

    fn of(x: Array2<f64>, of: &[usize]) -> Self {
        let known = of.iter().enumerate().map(|(i, &c)| if i % 5 < 2 { c as i64 } else { -1 });
        World {
            x,
            truth: Partition::from_labels(of).unwrap(),
            side: SideInformation::from_labels(&known.collect::<Vec<_>>()).unwrap(),
        }
    }
}

/// A change of the features that the result should not notice.
pub(super) type Change = (&'static str, fn(&Array2<f64>) -> Array2<f64>);

pub(super) const CHANGES: [Change; 13] = [
    ("times 1e-300", |x| x * 1e-300),
    ("times 1e-200", |x| x * 1e-200),
    ("times 1e-155", |x| x * 1e-155),
    ("times 1e-100", |x| x * 1e-100),
    ("times 1e-10", |x| x * 1e-10),
    ("times 1e10", |x| x * 1e10),
    ("times 1e100", |x| x * 1e100),
    ("times 1e155", |x| x * 1e155),
    ("times 1e200", |x| x * 1e200),
    ("times 1e300", |x| x * 1e300),
    ("plus 1e12", |x| x + 1e12),
    ("columns twice", |x| concatenate![Axis(1), *x, *x]),
    ("a constant column", |x| concatenate![Axis(1), *x, Array2::from_elem((x.nrows(), 1), 7.0)]),
];

/// Every column in a unit of its own.
pub(super) fn mixed_units(x: &Array2<f64>) -> Array2<f64> {
    let mut x = x.clone();
    x.column_mut(0).mapv_inplace(|v| v * 1e150);
    x.column_mut(1).mapv_inplace(|v| v * 1e-150);
    x
}

/// Tries a law on every method in parallel: `broken` names the worlds on which it is.
fn law(
    name: &str,
    methods: Vec<Method>,
    exceptions: Exceptions,
    broken: impl Fn(&Method) -> Vec<String> + Sync,
) {
    methods.par_iter().for_each(|method| hold(name, method.name, exceptions, &broken(method)));
}

/// What the method makes of a world, where that is not what is expected. An error is never what an
/// exception means: who may err says of which kind.
fn differs(
    method: &Method,
    x: &Array2<f64>,
    side: &SideInformation,
    expected: &Partition,
    world: impl std::fmt::Display,
) -> Option<String> {
    match method.run(x, side) {
        Ok(found) if found == *expected => None,
        Ok(found) => Some(format!("{world}: {:?}", found.sizes())),
        Err(error) => panic!("{} on {world}: {:?}: {error}", method.name, error.kind()),
    }
}

#[test]
fn blobs_are_found_in_any_unit() {
    for (name, change) in CHANGES {
        law(name, methods::all(3), &[], |method| {
            let broken = |seed| {
                let World { x, truth, side } = World::blobs(seed);
                differs(method, &change(&x), &side, &truth, seed)
            };
            worlds(2).filter_map(broken).collect()
        });
    }
}

#[test]
fn powers_of_two_change_no_label_of_noise() {
    for power in [-1000, -500, -30, 30, 500, 1000] {
        law(&format!("2^{power}"), methods::all(3), &[], |method| {
            let broken = |seed| {
                let World { x, side, .. } = World::noise(seed);
                let plain = method.run(&x, &side).unwrap();
                differs(method, &(&x * 2f64.powi(power)), &side, &plain, seed)
            };
            worlds(2).filter_map(broken).collect()
        });
    }
}

/// Distances are sums over features: others than these ask for features of like units.
#[test]
fn units_of_single_features_do_not_matter_under_a_metric() {
    law("mixed units", methods::standardizing(3), &[], |method| {
        let broken = |seed| {
            let World { x, truth, side } = World::blobs(seed);
            differs(method, &mixed_units(&x), &side, &truth, seed)
        };
        worlds(3).filter_map(broken).collect()
    });
}

/// The default of MCCC is not among them: it may choose neighbours in the units that there are.
#[test]
fn units_of_single_features_change_no_label_of_noise() {
    law("columns times powers of two", methods::standardizing_all(3), &[], |method| {
        let broken = |seed| {
            let World { x, side, .. } = World::noise(seed);
            let plain = method.run(&x, &side).unwrap();
            let mut other = x.clone();
            other.column_mut(0).mapv_inplace(|v| v * 2f64.powi(500));
            other.column_mut(1).mapv_inplace(|v| v * 2f64.powi(-500));
            differs(method, &other, &side, &plain, seed)
        };
        worlds(2).filter_map(broken).collect()
    });
}

const MANY: Exceptions = &[
    ("CCSKL", "the nearest neighbours of a copy are its copies, and rounding decides which"),
    ("MCCC", "with so few links it is spectral clustering of neighbours: of an object's copies"),
    ("consensus model", "members get as many clusters as the number of rows lets them"),
];

#[test]
fn objects_a_thousand_times() {
    const TIMES: usize = 1000;
    let truth = Partition::from_fn(6 * TIMES, |i| Some(BLOB[i / TIMES] as u64)).unwrap();
    let known = |i: usize| if i.is_multiple_of(TIMES) { BLOB[i / TIMES] as i64 } else { -1 };
    let known: Vec<i64> = (0..6 * TIMES).map(known).collect();
    let side = SideInformation::from_labels(&known).unwrap();
    law("every object 1,000 times", methods::all(3), MANY, |method| {
        let broken = |seed| {
            let few = World::blobs(seed).x;
            let copies: Vec<usize> = (0..6 * TIMES).map(|i| i / TIMES).collect();
            differs(method, &few.select(Axis(0), &copies), &side, &truth, seed)
        };
        worlds(1).filter_map(broken).collect()
    });
}

const ALONE: Exceptions = &[
    ("RPCL", "a centre that wins nothing else is driven away"),
    ("CCSKL", "every object has as many neighbours"),
];

#[test]
fn a_cluster_of_one_object() {
    law("a cluster of one object", methods::all(4), ALONE, |method| {
        let broken = |seed| {
            let few = World::blobs(seed).x;
            let of: Vec<usize> = (0..60).map(|i| BLOB[i % 6]).chain([3]).collect();
            let far = concatenate![Axis(0), few, array![[-60.0, -60.0, 60.0]]];
            let World { x, truth, side } = World::of(far, &of);
            differs(method, &x, &side, &truth, seed)
        };
        worlds(8).filter_map(broken).collect()
    });
}

const AS_MANY: Exceptions = &[("PMMC", "a cluster needs a margin of its own")];

#[test]
fn as_many_clusters_as_objects() {
    law("k = n", methods::all(12), AS_MANY, |method| {
        let broken = |seed| {
            let x = World::blobs(seed).x.slice(s![..12, ..]).to_owned();
            let (found, missing) = method.run_and_miss(&x, &SideInformation::none(12)).unwrap();
            let found = found.n_clusters();
            assert_eq!(found + missing, 12, "{}: {missing} clusters missing", method.name);
            (found < 12).then(|| format!("{seed}: {found} clusters"))
        };
        worlds(3).filter_map(broken).collect()
    });
    law("one object", methods::all(1), &[], |method| {
        let one = Partition::single_cluster(1).unwrap();
        let x = array![[1e300, -1e-300]];
        differs(method, &x, &SideInformation::none(1), &one, "one").into_iter().collect()
    });
}
