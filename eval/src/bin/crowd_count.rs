//! How many clusters a crowd has: by the answers' posterior, as `auto` takes it, and by the rank of
//! the completed similarity.
//!
//! `cargo run --release --bin crowd_count [EVERY [FIRST]]`: every so-many-th world of `crowd_grid`,
//! from the given one on; without numbers the reference crowds, which are looked for in
//! `$CONSILIENCE_DATA/crowd`, then in `../shared/data/crowd` beside the checkout.

use std::error::Error;
use std::time::Instant;

use consilience::crowd::{Answers, CrowdClustering};
use consilience::scores::{Normalizer, normalized_mutual_information};
use consilience::{Clusters, Partition};
use consilience_eval::crowd_worlds;
use consilience_eval::crowds::{self, CROWDS};

/// How often each estimate is right, how often off by one at most, and crowds.
#[derive(Default)]
struct Tally {
    posterior: [usize; 2],
    rank: [usize; 2],
    crowds: usize,
}

impl Tally {
    fn add(&mut self, clusters: usize, posterior: usize, rank: usize) {
        for (to, found) in [(&mut self.posterior, posterior), (&mut self.rank, rank)] {
            to[0] += usize::from(found == clusters);
            to[1] += usize::from(found.abs_diff(clusters) <= 1);
        }
        self.crowds += 1;
    }

    fn print(&self, name: &str) {
        println!(
            "| {name} ({}) | {} | {} | {} | {} |",
            self.crowds, self.posterior[0], self.posterior[1], self.rank[0], self.rank[1]
        );
    }
}

fn run(
    name: &str,
    answers: &Answers,
    truth: &Partition,
    tally: &mut Tally,
) -> consilience::Result<()> {
    let crowd = CrowdClustering::new(Clusters::Auto).alternative(false);
    let start = Instant::now();
    let result = crowd.fit(answers, &())?.output;
    let seconds = start.elapsed().as_secs_f64();
    let nmi = normalized_mutual_information(truth, &result.partition, Normalizer::Arithmetic)?;
    let (Some(count), Some(rank)) = (result.cluster_count, result.completed_rank) else {
        return Ok(());
    };
    let (k, found) = (truth.n_clusters(), count.most_probable());
    println!(
        "{name}: k {k}, posterior {found} (probability {:.2}, expected {:.2}), rank {}, \
         NMI {nmi:.3}, {seconds:.1} s",
        count.probability(found),
        count.expected,
        rank.rank,
    );
    tally.add(k, found, rank.rank);
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let numbers: Vec<usize> =
        std::env::args().skip(1).filter_map(|argument| argument.parse().ok()).collect();
    let mut tallies: Vec<(String, Tally)> = Vec::new();
    if let Some(&every) = numbers.first() {
        let first = numbers.get(1).copied().unwrap_or(0);
        for kind in crowd_worlds::KINDS {
            tallies.push((format!("{kind:?}"), Tally::default()));
        }
        for (at, world) in
            crowd_worlds::worlds().iter().enumerate().skip(first).step_by(every.max(1))
        {
            let (answers, truth) = crowd_worlds::make(world, at as u64)?;
            let kind = format!("{:?}", world.kind);
            if let Some((_, tally)) = tallies.iter_mut().find(|(name, _)| *name == kind) {
                run(&format!("{world:?}"), &answers, &truth, tally)?;
            }
        }
    } else {
        tallies.push(("reference".to_owned(), Tally::default()));
        for name in CROWDS {
            match crowds::read(name) {
                Ok((answers, truth)) => run(name, &answers, &truth, &mut tallies[0].1)?,
                Err(e) => println!("{name}: skipped, {e}"),
            }
        }
    }
    println!("| crowds | posterior right | within 1 | rank right | within 1 |");
    tallies.iter().for_each(|(name, tally)| tally.print(name));
    Ok(())
}
