//! Every score against scikit-learn, SciPy and NumPy, on the pairs of `scores_sklearn.csv`; the
//! script that wrote it, `scores_sklearn.py`, says how the labels come about.

use consilience_core::Partition;
use consilience_core::scores::Scores;

struct Recipe {
    seed: u64,
    n: usize,
    ka: u64,
    kb: u64,
    noise: u64,
    skew: bool,
    missing: u64,
}

/// As `labels` of the script.
fn labels(recipe: &Recipe) -> (Vec<i64>, Vec<i64>) {
    let mut state = recipe.seed;
    let mut next = |k: u64| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % k
    };
    let (mut a, mut b) = (Vec::new(), Vec::new());
    for i in 0..recipe.n as u64 {
        let mut x = if recipe.ka == 0 { i } else { next(recipe.ka) };
        if recipe.ka > 0 && recipe.skew {
            x = x.min(next(recipe.ka));
        }
        let r = next(100);
        let c = if recipe.kb == 0 { i } else { next(recipe.kb) };
        let y = if r < recipe.noise || recipe.kb == 0 { c } else { x % recipe.kb };
        let u = next(100);
        a.push(if u < recipe.missing { -1 } else { x as i64 });
        b.push(if u > 99 - recipe.missing { -1 } else { y as i64 });
    }
    (a, b)
}

#[test]
fn scores_equal_those_of_scikit_learn() {
    let mut lines = include_str!("scores_sklearn.csv").lines();
    let names: Vec<&str> = lines.next().unwrap().split(',').skip(7).collect();
    let mut pairs = 0;
    let mut worst = (0.0f64, String::new());
    for line in lines {
        let fields: Vec<&str> = line.split(',').collect();
        let whole = |at: usize| fields[at].parse::<u64>().unwrap();
        let recipe = Recipe {
            seed: whole(0),
            n: whole(1) as usize,
            ka: whole(2),
            kb: whole(3),
            noise: whole(4),
            skew: whole(5) == 1,
            missing: whole(6),
        };
        let (a, b) = labels(&recipe);
        let result = Partition::from_labels(&a).unwrap();
        let truth = Partition::from_labels(&b).unwrap();
        let entries = Scores::compare(&result, &truth).unwrap().entries();
        assert_eq!(entries.map(|e| e.0)[..], names);
        for ((name, ours), theirs) in entries.into_iter().zip(&fields[7..]) {
            let theirs: f64 = theirs.parse().unwrap();
            let error = (ours - theirs).abs() / theirs.abs().max(1.0);
            if error > worst.0 {
                worst =
                    (error, format!("pair {}, {name}: {ours}, scikit-learn {theirs}", recipe.seed));
            }
        }
        pairs += 1;
    }
    assert_eq!(pairs, 60);
    assert!(worst.0 <= 1e-10, "{}", worst.1);
}
