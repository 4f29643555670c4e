//! Module `walk`: random walks see through single links. Two objects that no member puts together are
//! still alike where their walkers meet.
//!
//! cargo run --example walk_trajectories

use consilience::scores::adjusted_rand;
use consilience::walk::{ProbabilityTrajectories, Pta, Ptgp};
use consilience::{ConsensusFunction, Ensemble, Partition, Result, Seed, Similarity};

/// Four groups of 60 objects under members that each cut the groups into random pieces, with
/// mistakes.
fn fragments() -> Result<(Ensemble, Partition)> {
    let truth = Partition::from_fn(240, |i| Some(i as u64 / 60))?;
    let member = |u: u64| {
        let mut random = Seed(11).derive("member", u).stream();
        let labels: Vec<usize> = (0..240)
            .map(|i| {
                let group = if random.uniform() < 0.1 { random.below(4) } else { i / 60 };
                6 * group + random.below(6)
            })
            .collect();
        Partition::from_labels(&labels)
    };
    Ok((Ensemble::new((0..15).map(member).collect::<Result<_>>()?)?, truth))
}

fn main() -> Result<()> {
    let (ensemble, truth) = fragments()?;
    let members: Vec<f64> =
        ensemble.members().iter().map(|m| adjusted_rand(m, &truth)).collect::<Result<_>>()?;
    let best = members.iter().copied().fold(0.0, f64::max);
    println!("best of {} members:  adjusted Rand index {best:.3}", members.len());

    // Objects that no member puts together, and what their walkers say.
    let graph = ProbabilityTrajectories::default().similarity(&ensemble)?;
    let s = graph.weights();
    let node = graph.grouping().of_object();
    // Summed similarity and number of pairs, between groups and within them.
    let mut seen = [(0.0, 0), (0.0, 0)];
    for (i, j) in (0..240).flat_map(|i| (0..i).map(move |j| (i, j))) {
        if ensemble.members().iter().all(|m| m.label(i) != m.label(j)) {
            let (sum, pairs) = &mut seen[usize::from(i / 60 == j / 60)];
            *sum += s[[node[i] as usize, node[j] as usize]];
            *pairs += 1;
        }
    }
    let [between, within] = seen.map(|(sum, pairs)| sum / f64::from(pairs));
    println!("never together, within a group:  similarity {within:.3} ({} pairs)", seen[1].1);
    println!("never together, between groups:  similarity {between:.3} ({} pairs)", seen[0].1);
    assert!(within > 2.0 * between);

    let by_linkage = Pta::new(4).fit(&ensemble, &())?;
    let by_cut = Ptgp::new(4).seed(Seed(1)).fit(&ensemble, &())?;
    for (name, fit) in [("PTA", by_linkage), ("PTGP", by_cut)] {
        let ari = adjusted_rand(&fit.output, &truth)?;
        let stages: Vec<String> =
            fit.report.stages.iter().map(|(s, t)| format!("{s} {t:.1?}")).collect();
        println!("{name:5} adjusted Rand index {ari:.3}  ({})", stages.join(", "));
        assert!(ari > 0.9 && ari > best);
    }
    Ok(())
}

#[test]
fn runs() {
    main().unwrap();
}
