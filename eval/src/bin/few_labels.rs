//! The table of docs/metric-learners.md on five labels per class: every clusterer in the protocol
//! of Yang et al. 2015, whose own columns `papers few-labels` prints beside theirs.
//!
//! cargo run --release --bin few_labels [set ...]

#[path = "../../../tests/reference/few_labels.rs"]
mod protocol;

use consilience::Result;
use protocol::{Data, SETS, methods};

fn main() -> Result<()> {
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    let methods = methods();
    print!("{:14}", "");
    methods.iter().for_each(|m| print!(" {:>14}", m.name));
    println!();
    let mut total = vec![0.0; methods.len()];
    let mut sets = 0;
    for set in SETS.iter().filter(|s| wanted.is_empty() || wanted.iter().any(|w| w == s.name)) {
        let Some(data) = Data::read(set.name) else { continue };
        print!("{:14}", set.name);
        for (m, method) in methods.iter().enumerate() {
            // The semidefinite programme takes ten seconds a run from fifty directions on.
            if method.name == "NNC full" && data.x.ncols() > 50 {
                print!("              -");
                continue;
            }
            let (mean, deviation) = data.score(method, set.labels)?;
            total[m] += mean;
            print!("    {mean:.3} ±{:.3}", deviation);
        }
        println!("   paper {:?}", set.paper.map(|p| p.0));
        sets += 1;
    }
    if sets > 0 {
        print!("{:14}", "mean");
        total.iter().for_each(|t| print!("    {:.3}      ", t / f64::from(sets)));
        println!();
    }
    Ok(())
}
