//! Small ensembles, methods and parameters out of bytes, and the laws.

use consilience::catalogue::{Method, NamedResult, Settings, methods};
use consilience::ndarray::{Array2, Axis};
use consilience::{Clusters, Ensemble, Error, Fit, Result, Seed, Stream};

use super::driver::{Target, Verdict};

/// What parameters are set to.
const VALUES: [&str; 18] = [
    "0", "1", "2", "5", "20", "1000", "-1", "0.5", "0.01", "1e-12", "1e12", "nan", "inf", "",
    "average", "single", "auto", "yes",
];
/// Bytes before those of the labels.
const HEAD: usize = 8;

/// An ensemble, a method, its settings.
struct World {
    table: Array2<i64>,
    method: &'static Method,
    clusters: Clusters,
    seed: Seed,
    parameter: Option<(&'static str, &'static str)>,
}

impl World {
    /// The world that bytes tell of: method, clusters, seed, parameter, its value, objects,
    /// members, how many labels there are; then the labels, row by row. Bytes that are not there
    /// are 0.
    fn of(bytes: &[u8]) -> Self {
        let at = |place: usize| bytes.get(place).map_or(0, |&byte| usize::from(byte));
        let method = &methods()[at(0) % methods().len()];
        let (n, members) = (1 + at(5) % 9, 1 + at(6) % 5);
        let (labels, gaps) = (1 + (at(7) & 3), at(7) & 4 > 0);
        let table = Array2::from_shape_fn((n, members), |(i, u)| {
            let byte = at(HEAD + i * members + u);
            if gaps && byte / 64 == 3 { -1 } else { (byte % labels) as i64 }
        });
        let clusters = match at(1) {
            0 => Clusters::Auto,
            1 => Clusters::Lifetime,
            k => Clusters::Fixed(1 + (k - 2) % (n + 1)),
        };
        let (parameters, asked) = (method.parameters(), at(3));
        let parameter = (asked > 0 && !parameters.is_empty())
            .then(|| (parameters[asked % parameters.len()].name, VALUES[at(4) % VALUES.len()]));
        World { table, method, clusters, seed: Seed(at(2) as u64), parameter }
    }

    fn result(&self, table: &Array2<i64>) -> Result<Fit<NamedResult>> {
        let settings = Settings::new(self.clusters).seed(self.seed);
        let settings = match self.parameter {
            Some((name, value)) => settings.parameter(name, value),
            None => settings,
        };
        self.method.build(&settings)?.fit(&Ensemble::from_array(table.view())?, &())
    }

    fn checked(&self) -> Verdict {
        let told = || {
            let World { table, method, clusters, seed, parameter } = self;
            format!("{} {clusters:?} {seed:?} {parameter:?} of\n{table:?}", method.name())
        };
        self.check().map_err(|error: Error| {
            assert!(error.message().len() < 1_000, "{}: {error}", told());
            error
        })
    }

    /// Holds the result against the laws, where there is one.
    fn check(&self) -> Verdict {
        let found = self.result(&self.table)?;
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
        turned.invert_axis(Axis(1));
        let reordered = self.result(&turned).expect("it did before");
        assert_eq!(&reordered.output.partition, partition, "members in another order");
        Ok(())
    }
}

/// Any world: every second one with a parameter.
fn drawn(stream: &mut Stream) -> Vec<u8> {
    let mut bytes: Vec<u8> = (0..HEAD + 45).map(|_| stream.below(256) as u8).collect();
    bytes[0] = stream.below(methods().len()) as u8;
    bytes[1] = stream.below(12) as u8;
    if stream.below(2) == 0 {
        bytes[3] = 0;
    }
    bytes
}

#[test]
fn methods_survive() {
    let one = |method: usize| {
        let mut bytes = vec![method as u8, 3, 1, 0, 0, 5, 2, 2];
        bytes.extend([0, 0, 0, 0, 0, 1, 0, 1, 0, 1, 1, 1, 1, 1, 2, 2, 2, 2]);
        bytes
    };
    let valid = (0..methods().len()).map(one).collect();
    let mut target = Target::new("methods", valid, |bytes| World::of(bytes).checked());
    target.draw = Some(drawn);
    target.attack(8_000);
}
