//! Module `catalogue`: every consensus function by name, with its paper and its parameters; here
//! all of them compete on one small ensemble.
//!
//! cargo run --example catalogue_methods_by_name

use consilience::catalogue::{self, Settings};
use consilience::scores::adjusted_rand;
use consilience::{Ensemble, Partition, Result, Seed};

/// Twelve clusterings of 80 objects into pieces of four classes, with mistakes; every tenth label
/// is missing.
fn members() -> Result<Ensemble> {
    let member = |u: u64| {
        let mut random = Seed(5).derive("member", u).stream();
        let pieces = 1 + u as usize % 3;
        let labels: Vec<Option<u64>> = (0..80)
            .map(|i| {
                let class = if random.uniform() < 0.15 { random.below(4) } else { i / 20 };
                let label = class * pieces + random.below(pieces);
                (random.uniform() >= 0.1).then_some(label as u64)
            })
            .collect();
        Partition::from_labels(&labels)
    };
    Ensemble::new((0..12).map(member).collect::<Result<_>>()?)
}

fn main() -> Result<()> {
    let ensemble = members()?;
    let truth = Partition::from_fn(80, |i| Some(i as u64 / 20))?;
    let settings = Settings::new(4).seed(Seed(1));

    let mut table = Vec::new();
    for method in catalogue::methods() {
        let found = method.build(&settings)?.consensus(&ensemble)?;
        table.push((adjusted_rand(&found, &truth)?, method));
    }
    table.sort_by(|a, b| b.0.total_cmp(&a.0));
    println!("adjusted Rand index of {} methods, the first five and the last:", table.len());
    for (score, method) in table[..5].iter().chain(table.last()) {
        println!("{score:.2}  {:10} {} [{}]", method.name(), method.about(), method.paper());
    }
    assert!(table.len() > 30 && table[0].0 > 0.9);

    // Parameters are text, as on a command line; what is not known is refused with what is.
    let method = catalogue::by_name("pta-al")?;
    for parameter in method.parameters() {
        println!("pta-al takes {}: {}", parameter.name, parameter.about);
    }
    let short = Settings::new(4).parameter("walk_length", "3");
    assert_eq!(method.build(&short)?.consensus(&ensemble)?.n_clusters(), 4);
    let error = method.build(&Settings::new(4).parameter("walk", "3")).map(|_| ()).unwrap_err();
    println!("{error}");
    assert!(error.message().contains("walk_length"));

    // Some methods grow a tree, which can be cut anywhere.
    let trees = catalogue::methods().iter().filter(|m| m.has_tree()).count();
    let (_, tree) = method.hierarchy(&settings)?.dendrogram(&ensemble, &())?;
    println!("{trees} methods grow a tree; this one has {} leaves", tree.n_leaves());
    Ok(())
}

#[test]
fn runs() {
    main().unwrap();
}
