//! Small ensembles, methods and parameters at random, and the laws.

use consilience::catalogue::{Method, NamedResult, Settings, methods};
use consilience::ndarray::Array2;
use consilience::{Clusters, Ensemble, Fit, Result, Seed, Stream};
use rayon::prelude::*;

use super::driver::inputs;

/// What parameters are set to.
const VALUES: [&str; 18] = [
    "0", "1", "2", "5", "20", "1000", "-1", "0.5", "0.01", "1e-12", "1e12", "nan", "inf", "",
    "average", "single", "auto", "yes",
];

/// An ensemble, a method, its settings.
struct World {
    table: Array2<i64>,
    method: &'static Method,
    clusters: Clusters,
    seed: Seed,
    parameter: Option<(&'static str, &'static str)>,
}

impl World {
    fn drawn(stream: &mut Stream) -> Self {
        let shape = (1 + stream.below(9), 1 + stream.below(5));
        let labels = 1 + stream.below(4);
        let gaps = stream.below(3) == 0;
        let label = || match stream.below(6) {
            0 if gaps => -1,
            _ => stream.below(labels) as i64,
        };
        let table = Array2::from_shape_simple_fn(shape, label);
        let method = &methods()[stream.below(methods().len())];
        let clusters = match stream.below(8) {
            0 => Clusters::Auto,
            1 => Clusters::Lifetime,
            _ => Clusters::Fixed(1 + stream.below(shape.0 + 1)),
        };
        let parameters = method.parameters();
        let parameter = (!parameters.is_empty() && stream.below(2) == 0).then(|| {
            (parameters[stream.below(parameters.len())].name, VALUES[stream.below(VALUES.len())])
        });
        World { table, method, clusters, seed: Seed(stream.below(9) as u64), parameter }
    }

    fn result(&self, table: &Array2<i64>) -> Result<Fit<NamedResult>> {
        let settings = Settings::new(self.clusters).seed(self.seed);
        let settings = match self.parameter {
            Some((name, value)) => settings.parameter(name, value),
            None => settings,
        };
        self.method.build(&settings)?.fit(&Ensemble::from_array(table.view())?, &())
    }

    /// Holds the result against the laws; says whether there is one.
    fn check(&self) -> bool {
        let found = match self.result(&self.table) {
            Ok(found) => found,
            Err(error) => {
                assert!(!error.message().is_empty() && error.message().len() < 1000, "{error}");
                return false;
            }
        };
        let partition = &found.output.partition;
        let n = self.table.nrows();
        assert_eq!(partition.n_objects(), n);
        if let Some(soft) = &found.output.memberships {
            let row = |i: usize| soft.values().row(i).sum();
            assert!((0..n).all(|i| (row(i) - 1.0).abs() < 1e-9), "rows that do not sum to 1");
        }
        if let Clusters::Fixed(k) = self.clusters {
            let told = found.report.clusters_missing.unwrap_or(0);
            let kept = partition.n_clusters();
            assert!(kept <= k && (kept + told >= k || n < k), "{kept} clusters, {told} missing");
        }
        let again = self.result(&self.table).expect("it did before");
        assert_eq!(&again.output.partition, partition, "another run");
        // Labels are names.
        let other = self.table.mapv(|v| if v < 0 { -7 } else { 1_000_003 * (9 - v) });
        let relabelled = self.result(&other).expect("it did before");
        assert_eq!(&relabelled.output.partition, partition, "other labels");
        let mut turned = self.table.clone();
        turned.invert_axis(consilience::ndarray::Axis(1));
        let reordered = self.result(&turned).expect("it did before");
        assert_eq!(&reordered.output.partition, partition, "members in another order");
        true
    }
}

#[test]
fn methods_survive() {
    let inputs = inputs(4_000);
    let check = |i: usize| {
        let world = World::drawn(&mut Seed(i as u64).derive("methods", 0).stream());
        let outcome = std::panic::catch_unwind(|| world.check());
        usize::from(outcome.unwrap_or_else(|panic| {
            eprintln!(
                "input {i}: {} {:?} {:?} {:?} of\n{:?}",
                world.method.name(),
                world.clusters,
                world.seed,
                world.parameter,
                world.table
            );
            std::panic::resume_unwind(panic)
        }))
    };
    let accepted: usize = (0..inputs).into_par_iter().map(check).sum();
    println!("methods: {inputs} inputs, {accepted} accepted");
}
