//! Three labels per class show which of many features matter.
//!
//! cargo run --example metric_few_labels

use consilience::constrained::{Fpc, Nnc, UnderMetric};
use consilience::core::ConstrainedClusterer;
use consilience::metric::{RsdDiagonal, Separation};
use consilience::ndarray::Array2;
use consilience::{Partition, Result, Seed, SideInformation, scores};

/// Three classes of 100 objects that differ in the first two of twelve features; the rest is noise
/// of the same size.
fn noisy() -> Result<(Array2<f64>, Partition)> {
    let mut random = Seed(5).stream();
    let centres = [[0.0, 0.0], [6.0, 0.0], [0.0, 6.0]];
    let x = Array2::from_shape_fn((300, 12), |(i, j)| {
        random.normal() * if j < 2 { 0.5 } else { 3.0 }
            + if j < 2 { centres[i / 100][j] } else { 0.0 }
    });
    Ok((x, Partition::from_fn(300, |i| Some(i as u64 / 100))?))
}

fn main() -> Result<()> {
    let (x, truth) = noisy()?;
    let features = x.view().into();
    let labels: Vec<i64> = (0..300).map(|i| if i % 100 < 3 { i / 100 } else { -1 }).collect();
    let side = SideInformation::from_labels(&labels)?;

    let metric = RsdDiagonal::new().fit_metric(features, &side, &())?;
    let chosen = metric.output.map.diagonal().map_or(0, |l| l.iter().filter(|l| **l > 0.0).count());
    println!(
        "{chosen} of 12 features have a weight; ratio of split to diameter {:.2}",
        metric.output.split.sqrt()
    );
    println!("at most {:.1e} of the ratio is missing to the best", metric.output.gap());

    let ari = |p: &Partition| scores::adjusted_rand(p, &truth);
    let fpc = Fpc::new(3).seed(Seed(1)).fit_clustering(features, &())?.output;
    let nnc = Nnc::new(3).seed(Seed(1)).cluster(features, &side)?;
    let method = UnderMetric::new(RsdDiagonal::new(), Nnc::new(3).seed(Seed(1)));
    let both = method.cluster(features, &side)?;
    println!("adjusted Rand index: FPC {:.2}", ari(&fpc.partition)?);
    println!("                     NNC {:.2}", ari(&nnc.partition)?);
    println!("   NNC under the metric {:.2}", ari(&both.partition)?);
    assert!(ari(&both.partition)? > ari(&nnc.partition)? && ari(&both.partition)? > 0.9);

    // What was learned labels new objects, too; here one that is like the first.
    let again = both.assign(x.slice(consilience::ndarray::s![..1, ..]))?;
    assert_eq!(Some(again[0]), both.partition.label(0));

    let mapped = metric.output.map.apply(features)?;
    let separation = Separation::of(mapped.view(), &truth)?;
    println!("RSD of the true classes under the metric {:.2}", separation.rsd());
    assert!(!separation.certifies_optimum() || both.partition == truth);
    Ok(())
}

#[test]
fn runs() {
    main().unwrap();
}
