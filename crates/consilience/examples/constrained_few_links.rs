//! Module `constrained`: which of two groupings is meant, a few links say. The clustering that
//! follows them labels new objects too.
//!
//! cargo run --example constrained_few_links

use consilience::constrained::{CopKMeans, Fpc, PckMeans, UnderMetric};
use consilience::metric::Rca;
use consilience::ndarray::{Array2, array};
use consilience::prelude::*;
use consilience::{
    Constraints, ErrorKind, Features, Pair, Partition, Result, Seed, SideInformation, scores,
};

/// Customers by two features: how much they buy (two groups, far apart) and what they buy (two
/// groups, nearer to each other).
fn customers() -> Array2<f64> {
    let mut random = Seed(4).stream();
    Array2::from_shape_fn((120, 2), |(i, j)| {
        let group = if j == 0 { i % 2 } else { i / 60 };
        [8.0, 3.0][j] * group as f64 + 0.6 * random.normal()
    })
}

fn main() -> Result<()> {
    let x = customers();
    let meant = Partition::from_fn(120, |i| Some(i as u64 / 60))?;
    let rand = |p: &Partition| scores::adjusted_rand(p, &meant);

    // Without links the wider grouping wins.
    let plain = Fpc::new(2).seed(Seed(1)).fit_clustering(Features::from(&x), &())?.output;
    println!("no links              {:.2}", rand(&plain.partition)?);

    // Somebody says of twenty pairs whether they are alike in what they buy.
    let mut links = Constraints::new(120)?;
    for i in 0..10 {
        links.extend(&[Pair::must_link(i, i + 11), Pair::cannot_link(i, i + 70)])?;
    }
    let side = SideInformation::from_constraints(&links);
    let penalties = PckMeans::new(2).seed(Seed(1)).cluster(Features::from(&x), &side)?;
    let strict = CopKMeans::new(2).seed(Seed(1)).cluster(Features::from(&x), &side)?;
    let under = UnderMetric::new(Rca::new(), PckMeans::new(2).seed(Seed(1)));
    let learned = under.cluster(Features::from(&x), &side)?;
    println!("links as penalties    {:.2}", rand(&penalties.partition)?);
    println!("links that must hold  {:.2}", rand(&strict.partition)?);
    println!("under a metric        {:.2}  (adjusted Rand index)", rand(&learned.partition)?);
    assert!(rand(&plain.partition)? < 0.1 && rand(&learned.partition)? > 0.8);

    // A new customer buys little, of the second kind.
    let new = array![[0.0, 3.0], [8.0, 0.0]];
    println!("new customers are in clusters {:?}", learned.assign(&new)?);
    assert_eq!(learned.assign(&new)?, [1, 0]);

    // A link that contradicts the others is refused, with the chain that it contradicts.
    let error = links.extend(&[Pair::must_link(11, 70)]).unwrap_err();
    println!("{error}");
    assert_eq!(error.kind(), ErrorKind::Contradiction);
    Ok(())
}

#[test]
fn runs() {
    main().unwrap();
}
