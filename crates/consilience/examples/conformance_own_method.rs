//! Module `conformance`: a consensus function of one's own, put through the laws that all methods
//! of the library obey.
//!
//! cargo run --example conformance_own_method --features conformance

use consilience::conformance::{Profile, consensus_function, planted, same_columns};
use consilience::core::NodeConsensus;
use consilience::prelude::*;
use consilience::{
    Clusters, Ensemble, Memberships, Microclusters, Observer, Partition, Report, Result, Seed,
    scores,
};

/// The medoid of the members with k clusters; one cluster where there are none.
struct Medoid(usize);

impl NodeConsensus for Medoid {
    type Output = Partition;

    fn name(&self) -> &str {
        "medoid"
    }

    fn clusters(&self) -> Clusters {
        Clusters::Fixed(self.0)
    }

    fn check(&self, _: &Ensemble) -> Result<()> {
        Ok(())
    }

    fn solve(
        &self,
        nodes: &Microclusters,
        _: &mut Report,
        observer: &dyn Observer,
    ) -> Result<Vec<usize>> {
        observer.check()?;
        let rows = nodes.rows();
        let weights = nodes.grouping().weights();
        let shared = |a: &Partition, b: &Partition| {
            scores::weighted_nmi(a, b, &weights, scores::Normalizer::Sqrt).unwrap_or(0.0)
        };
        let sum = |member: &Partition| rows.iter().map(|m| shared(member, m)).sum::<f64>();
        let candidates = rows.iter().filter(|m| m.n_clusters() == self.0);
        let best = candidates.max_by(|a, b| sum(a).total_cmp(&sum(b)));
        let label = |i: usize| best.and_then(|m| m.label(i)).unwrap_or(0);
        Ok((0..nodes.n_nodes()).map(label).collect())
    }
}

fn main() -> Result<()> {
    // Few members have k clusters, and of equals one is taken by its place; what it leaves out goes
    // to its first cluster.
    let profile = Profile {
        exact_clusters: false,
        member_permutation: false,
        object_permutation: false,
        object_ties: false,
        planted: false,
        small_worlds: (4, 2),
        ..Profile::default()
    };
    consensus_function(&|k| Box::new(Medoid(k)), &profile);

    let world = planted(Seed(1), &[30, 20, 10], 9, 0.1, 0.0)?;
    let found = Medoid(3).consensus(&world.ensemble)?;
    let ari = scores::adjusted_rand(&found, &world.truth)?;
    println!("agreement with what was planted: {ari:.3}");
    same_columns(&found, &Memberships::from(&found));
    Ok(())
}

#[test]
fn runs() {
    main().unwrap();
}
