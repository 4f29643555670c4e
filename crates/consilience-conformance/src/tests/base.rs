use super::*;
use crate::base::{LAWS, base_clusterer};
use consilience_core::{BaseClusterer, Error, Features, Report, with_rows};

#[derive(Clone, Copy, Debug, PartialEq)]
enum Flaw {
    None,
    AcceptsNothing,
    SkipsTheCheck,
    HidesThePlace,
    OnlyChecksWide,
    ClampsClusters,
    RefusesOneObject,
    TellsNothing,
    DividesByTheSpread,
    PanicsOnOverflow,
    SquaresAsItComes,
    GoesByPosition,
    ReadsMemoryInOrder,
    CountsThreads,
    IgnoresTheObserver,
    Boasts,
    LeavesSomeOut,
}

/// Farthest-first traversal from the first row; every row goes to its nearest centre.
struct Toy(Flaw);

impl BaseClusterer for Toy {
    fn name(&self) -> &'static str {
        "farthest-first"
    }

    fn fit(
        &self,
        features: Features<'_>,
        clusters: usize,
        _: Seed,
        observer: &dyn Observer,
    ) -> Result<Fit<Partition>> {
        let (n, wide) = (features.n_objects(), matches!(features, Features::F64(_)));
        let checked = match self.0 {
            Flaw::AcceptsNothing if n == 0 || features.n_features() == 0 => {
                return Ok(Fit::new(Partition::single_cluster(1)?, Report::default()));
            }
            Flaw::SkipsTheCheck => Ok(()),
            Flaw::OnlyChecksWide if !wide => Ok(()),
            Flaw::HidesThePlace => {
                features.check().map_err(|e| Error::new(e.kind(), "something is not finite"))
            }
            _ => features.check(),
        };
        checked?;
        if (clusters == 0 || clusters > n) && self.0 != Flaw::ClampsClusters {
            return Err(Error::invalid(format!("{clusters} clusters of {n} objects")));
        }
        let clusters = clusters.clamp(1, n);
        if self.0 != Flaw::IgnoresTheObserver {
            observer.check()?;
        }
        if self.0 == Flaw::RefusesOneObject && n == 1 {
            return Err(Error::empty("one object"));
        }
        let table = features.dense()?;
        let x = table.to_f64()?;
        let spread = x.column(0).iter().fold(f64::MIN, |m, &v| m.max(v))
            - x.column(0).iter().fold(f64::MAX, |m, &v| m.min(v));
        assert!(self.0 != Flaw::DividesByTheSpread || n < 2 || spread > 0.0, "0/0");

        // Squares of what is at most 1 do not overflow.
        let unit = match self.0 {
            Flaw::PanicsOnOverflow | Flaw::SquaresAsItComes => 1.0,
            _ => x.iter().fold(f64::MIN_POSITIVE, |most, v| most.max(v.abs())),
        };
        let square = |a: f64, b: f64| (a / unit - b / unit).powi(2);
        let mut label = vec![0u64; n];
        let mut distance = vec![f64::INFINITY; n];
        let mut centre = 0;
        for c in 0..clusters {
            for i in 0..n {
                let d: f64 = x.row(i).iter().zip(x.row(centre)).map(|(&a, &b)| square(a, b)).sum();
                assert!(self.0 != Flaw::PanicsOnOverflow || d.is_finite(), "overflow");
                if d < distance[i] {
                    (distance[i], label[i]) = (d, c as u64);
                }
            }
            observer.progress("centres", c + 1 + usize::from(self.0 == Flaw::Boasts), clusters);
            centre = (0..n).fold(0, |best, i| if distance[i] > distance[best] { i } else { best });
            if distance[centre] == 0.0 {
                break;
            }
        }
        let standard = with_rows!(table, |x| x.is_standard_layout());
        let by_position = match self.0 {
            Flaw::GoesByPosition => true,
            Flaw::ReadsMemoryInOrder => !standard,
            Flaw::CountsThreads => rayon::current_num_threads() == 2,
            _ => false,
        };
        let out = Partition::from_fn(n, |i| {
            if self.0 == Flaw::LeavesSomeOut && i == 7 {
                return None;
            }
            Some(if by_position { (i % clusters) as u64 } else { label[i] })
        })?;
        let mut report = Report::default();
        if self.0 != Flaw::TellsNothing {
            report.expect_clusters(
                clusters,
                out.n_clusters(),
                "the ensemble distinguishes no more objects",
            );
        }
        Ok(Fit::new(out, report))
    }
}

#[test]
fn an_honest_toy_obeys_every_law() {
    base_clusterer(&Toy(Flaw::None), &Profile::default());
    base_clusterer(&Toy(Flaw::LeavesSomeOut), &Profile { complete: false, ..Profile::default() });
}

#[test]
fn every_law_catches_what_breaks_it() {
    let k_range = "k outside 1..=n is refused with both numbers";
    let finite = "NaN and infinities are refused with row and column";
    let cases = [
        ("empty features are refused", Flaw::AcceptsNothing, "accepted"),
        (finite, Flaw::SkipsTheCheck, "accepted NaN"),
        (finite, Flaw::HidesThePlace, "does not hold 7"),
        (finite, Flaw::OnlyChecksWide, "accepted NaN"),
        (k_range, Flaw::ClampsClusters, "accepted k = 0"),
        ("one object", Flaw::RefusesOneObject, "one object"),
        ("all rows equal", Flaw::DividesByTheSpread, "panicked (0/0)"),
        ("all rows equal", Flaw::TellsNothing, "clusters missing None"),
        ("a constant feature", Flaw::DividesByTheSpread, "panicked (0/0)"),
        ("a constant feature", Flaw::LeavesSomeOut, "unlabelled objects"),
        ("k above the number of distinct rows", Flaw::TellsNothing, "clusters missing None"),
        ("k above the number of distinct rows", Flaw::GoesByPosition, "clusters, expected 3"),
        ("values near the ends of the range", Flaw::PanicsOnOverflow, "panicked (overflow)"),
        ("values near the ends of the range", Flaw::SquaresAsItComes, "ARI"),
        ("blobs are found, in both precisions", Flaw::GoesByPosition, "adjusted Rand index"),
        ("memory layout does not matter", Flaw::ReadsMemoryInOrder, "column-major"),
        ("same bits at any number of threads", Flaw::CountsThreads, "with 2 threads"),
        ("cancellation and progress", Flaw::IgnoresTheObserver, "finished although cancelled"),
        ("cancellation and progress", Flaw::Boasts, "done"),
    ];
    must_catch_all(&LAWS, &cases, |law, name, flaw| law(name, &Toy(flaw), &Profile::default()));
}
