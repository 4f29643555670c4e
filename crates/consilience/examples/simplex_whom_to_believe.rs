//! Module `simplex`: weights of the members move with every batch of links. Members that agree with
//! the links gain, the others lose, and the clustering by weights follows.
//!
//! cargo run --example simplex_whom_to_believe

use consilience::scores::adjusted_rand;
use consilience::simplex::{WeightUpdater, relabelled};
use consilience::{Ensemble, Pair, Partition, Result, Seed};

const SONGS: usize = 200;

fn mood(i: usize) -> usize {
    i / 100
}

/// Six careless members, little better than guesses, and three careful ones.
fn members() -> Result<Ensemble> {
    let member = |u: u64| {
        let mut random = Seed(8).derive("member", u).stream();
        let labels: Vec<usize> = (0..SONGS)
            .map(|i| {
                let wrong = random.uniform() < if u < 6 { 0.42 } else { 0.05 };
                mood(i) ^ usize::from(wrong)
            })
            .collect();
        Partition::from_labels(&labels)
    };
    Ensemble::new((0..9).map(member).collect::<Result<_>>()?)
}

fn main() -> Result<()> {
    let truth = Partition::from_fn(SONGS, |i| Some(mood(i) as u64))?;
    let mut updater = WeightUpdater::new(members()?, 2)?;
    let mut before = updater.partition()?;
    let start = adjusted_rand(&before, &truth)?;
    println!("batch   weight of the careful   songs moved   adjusted Rand index");
    println!("start   {:21.2} {:>13} {:21.2}", 3.0 / 9.0, "", start);

    let mut random = Seed(1).stream();
    for batch in 1..=4 {
        let links: Vec<Pair> = (0..40)
            .map(|_| (random.below(SONGS), random.below(SONGS)))
            .map(|(i, j)| match mood(i) == mood(j) {
                true => Pair::must_link(i, j),
                false => Pair::cannot_link(i, j),
            })
            .collect();
        let report = updater.update(&links)?;
        // The links of the batch are broken less by the new weights than by the old ones.
        assert!(report.objective <= report.objective_before);

        let now = updater.partition()?;
        let trusted: f64 = updater.weights()[6..].iter().sum();
        let moved = relabelled(&before, &now)?.len();
        println!("{batch:5}   {trusted:21.2} {moved:13} {:21.2}", adjusted_rand(&now, &truth)?);
        before = now;
    }
    let trusted: f64 = updater.weights()[6..].iter().sum();
    assert!(trusted > 0.5 && adjusted_rand(&before, &truth)? > start);

    // How sure the clustering by weights is of one song.
    let shares = updater.memberships()?;
    println!("song 0: shares {:.2}", shares.values().row(0));
    Ok(())
}

#[test]
fn runs() {
    main().unwrap();
}
