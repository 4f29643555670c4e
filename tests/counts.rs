//! A row that stands for many objects counts as all of them: methods, scores, diagnostics, numbers
//! of clusters and updates give on rows with counts what they give on the rows repeated.

use consilience::catalogue::{self, Settings};
use consilience::conformance::planted;
use consilience::follow::Updater;
use consilience::scores::{self, Contingency, Normalizer, Scores};
use consilience::trust::{ClusterNumber, ConsensusCdf, Diagnostics};
use consilience::{Clusters, Ensemble, Fit, Pair, Partition, Seed};

/// Rows with counts, the same rows repeated one behind the other, and the row of each object.
struct Worlds {
    counted: Ensemble,
    repeated: Ensemble,
    row_of: Vec<usize>,
    counts: Vec<u64>,
    truth: Partition,
}

fn worlds() -> Vec<Worlds> {
    [(1, 0.1, 0.0), (2, 0.25, 0.0), (3, 0.15, 0.2), (4, 0.3, 0.4)]
        .map(|(seed, noise, missing)| {
            let sizes = [14, 9, 6, 4];
            let world = planted(Seed(seed), &sizes, 12, noise, missing).unwrap();
            let mut random = Seed(seed).derive("counts", 0).stream();
            let n = world.ensemble.n_objects();
            let counts: Vec<u64> = (0..n).map(|_| 1 + random.below(6) as u64).collect();
            let row_of: Vec<usize> =
                (0..n).flat_map(|i| std::iter::repeat_n(i, counts[i] as usize)).collect();
            Worlds {
                repeated: world.ensemble.select_objects(&row_of).unwrap(),
                counted: world.ensemble.with_counts(counts.clone()).unwrap(),
                row_of,
                counts,
                truth: world.truth,
            }
        })
        .into()
}

/// As many clusters as there are objects may be asked for, however few rows they are.
#[test]
fn more_clusters_than_rows() {
    let members = [[0, 1], [0, 1]].map(|labels| Partition::from_labels(&labels).unwrap());
    let counted = Ensemble::new(members.into()).unwrap().with_counts(vec![5, 5]).unwrap();
    let row_of = [0, 0, 0, 0, 0, 1, 1, 1, 1, 1];
    let repeated = counted.clone().select_objects(&row_of).unwrap();
    for method in catalogue::methods() {
        let fit = |k: usize, ensemble: &Ensemble| {
            method.build(&Settings::new(k)).unwrap().fit(ensemble, &())
        };
        let name = method.name();
        let rows = fit(3, &counted).unwrap_or_else(|e| panic!("{name}: {e}"));
        let objects = fit(3, &repeated).unwrap_or_else(|e| panic!("{name}: {e}"));
        let expanded = rows.output.partition.select(&row_of).unwrap();
        assert_eq!(expanded, objects.output.partition, "{name}");
        assert!(fit(11, &counted).is_err(), "{name}");
    }
}

#[test]
fn every_method_of_the_catalogue() {
    for (w, world) in worlds().iter().enumerate() {
        for method in catalogue::methods() {
            let mut asked = vec![Clusters::Fixed(4), Clusters::Fixed(2)];
            if method.chooses_clusters() {
                asked.push(Clusters::Auto);
            }
            for clusters in asked {
                let built = method.build(&Settings::new(clusters)).unwrap();
                let rows = built.fit(&world.counted, &()).unwrap().output;
                let objects = built.fit(&world.repeated, &()).unwrap().output;
                let name = format!("{} of {clusters:?} on world {w}", method.name());
                let expanded = rows.partition.select(&world.row_of).unwrap();
                assert_eq!(objects.partition, expanded, "{name}");
                let soft = (rows.memberships, objects.memberships);
                if let (Some(rows), Some(objects)) = soft {
                    for (object, &row) in world.row_of.iter().enumerate() {
                        let same = rows.values().row(row) == objects.values().row(object)
                            && rows.evidence()[row] == objects.evidence()[object];
                        assert!(same, "{name}: row {row}, object {object}");
                    }
                }
            }
        }
    }
}

/// Methods to which the number of objects means something beside shares: pairs of distinct objects
/// (PCC, SimRank, the adjusted Rand index in `auto`), whether a microcluster has a single one
/// (EC-CMS, SDGCA), one less than the size of a cluster (HGPA), links of objects beside links of
/// clusters (GP-MGLA). ECMC stops at a gap.
const COUNTING: [&str; 9] =
    ["pcc-kl", "pcc-l2", "srs-al", "auto", "ec-cms", "sdgca", "hgpa", "gp-mgla", "ecmc-al"];
/// Methods that add up shares of objects in their own unit: the same to the bit in units that are
/// powers of two, and to rounding in others.
const ROUNDED: [&str; 7] = ["pta-al", "pta-cl", "pta-sl", "ptgp", "srw", "mm", "least-squares"];

/// What the counts of all rows have in common means nothing: counts that are all 3 are none, and
/// others the same times anything.
#[test]
fn the_unit_of_counts_leaves_no_trace() {
    let mut s = Seed(6).derive("noise", 0).stream();
    let noise = (0..8).map(|_| {
        let labels: Vec<usize> = (0..40).map(|_| s.below(3)).collect();
        Partition::from_labels(&labels).unwrap()
    });
    let noise = Ensemble::new(noise.collect()).unwrap();
    let noise = (noise, (0..40).map(|i| 1 + i % 4).collect::<Vec<u64>>());
    let worlds = worlds().into_iter().map(|world| (world.counted, world.counts));
    for (w, (ensemble, counts)) in worlds.chain([noise]).enumerate() {
        for method in catalogue::methods() {
            let name = method.name();
            if COUNTING.contains(&name) {
                continue;
            }
            let built = method.build(&Settings::new(4)).unwrap();
            let of = |counts: Vec<u64>| {
                built.consensus(&ensemble.clone().with_counts(counts).unwrap()).unwrap()
            };
            let (plain, own) = (of(vec![1; counts.len()]), of(counts.clone()));
            let units: &[u64] = if ROUNDED.contains(&name) { &[2, 1024] } else { &[2, 3, 1000] };
            for &by in units {
                let name = format!("{name} on world {w}, times {by}");
                assert_eq!(of(vec![by; counts.len()]), plain, "{name}: all counts alike");
                assert_eq!(of(counts.iter().map(|c| c * by).collect()), own, "{name}");
            }
        }
    }
}

#[test]
fn scores_and_diagnostics() {
    for world in worlds() {
        let member = &world.counted.members()[0];
        let truth = world.truth.select(&world.row_of).unwrap();
        let table = Contingency::with_counts(member, &world.truth, &world.counts[..]).unwrap();
        let of_objects = Scores::compare(&world.repeated.members()[0], &truth).unwrap();
        assert_eq!(Scores::of(&table).unwrap(), of_objects);
        let cells = Contingency::from_cells(table.cells()).unwrap();
        assert_eq!(Scores::of(&cells).unwrap(), of_objects);

        let anmi = |e: &Ensemble, p| scores::average_nmi(p, e, Normalizer::Sqrt).unwrap();
        assert_eq!(anmi(&world.counted, &world.truth), anmi(&world.repeated, &truth));

        let rows = Diagnostics::of(&world.counted, &world.truth).unwrap();
        let objects = Diagnostics::of(&world.repeated, &truth).unwrap();
        assert_eq!(rows.clusters, objects.clusters);
        assert_eq!(rows.members, objects.members);
        assert_eq!(rows.sentences, objects.sentences);
        assert_eq!((rows.anmi, rows.diversity), (objects.anmi, objects.diversity));
        for (object, &row) in world.row_of.iter().enumerate() {
            assert_eq!(rows.confidence[row], objects.confidence[object]);
        }
    }
}

#[test]
fn numbers_of_clusters() {
    for world in worlds() {
        let [rows, objects] =
            [&world.counted, &world.repeated].map(|e| ConsensusCdf::of(e).unwrap());
        assert_eq!(rows, objects);
        // Of all objects, and of a sample of them.
        for few in [2_000, 20] {
            let choice = ClusterNumber::new().objects(few).seed(Seed(3));
            let [rows, objects] =
                [&world.counted, &world.repeated].map(|e| choice.choose(e).unwrap());
            assert_eq!(rows, objects);
        }
    }
}

#[test]
fn an_updater_follows_rows() {
    for world in worlds() {
        let mut rows = Updater::new(world.counted.clone(), 4).unwrap();
        let mut objects = Updater::new(world.repeated.clone(), 4).unwrap();
        let first = |row: usize| world.row_of.iter().position(|&r| r == row).unwrap();
        let mut random = Seed(9).stream();
        for _ in 0..3 {
            let batch: Vec<(usize, usize)> = (0..5)
                .map(|_| (random.below(world.counts.len()), random.below(world.counts.len())))
                .filter(|(i, j)| i != j)
                .collect();
            let link = |i: usize, j: usize, row_i: usize, row_j: usize| {
                if world.truth.label(row_i) == world.truth.label(row_j) {
                    Pair::must_link(i, j)
                } else {
                    Pair::cannot_link(i, j)
                }
            };
            let of_rows: Vec<Pair> = batch.iter().map(|&(i, j)| link(i, j, i, j)).collect();
            let of_objects: Vec<Pair> =
                batch.iter().map(|&(i, j)| link(first(i), first(j), i, j)).collect();
            rows.update(&of_rows).unwrap();
            objects.update(&of_objects).unwrap();
            let weights = |u: &Updater| u.by_weights().weights().to_vec();
            assert_eq!(weights(&rows), weights(&objects));
        }
        // The read-out by k-means, its centres found on all rows and on some of them.
        for most in [200_000, 20] {
            let [of_rows, of_objects] = [&rows, &objects]
                .map(|u| u.by_weights().partition_by_kmeans_on(most, Seed(4), &()).unwrap());
            let expanded = of_rows.output.select(&world.row_of).unwrap();
            assert_eq!(expanded, of_objects.output, "{most} rows");
            let objective = |fit: &Fit<Partition>| fit.report.objective.unwrap();
            let (of_rows, of_objects) = (objective(&of_rows), objective(&of_objects));
            let difference = (of_rows - of_objects).abs();
            let close = difference <= 1e-6 * of_objects.max(1e-6);
            assert!(close, "{most} rows: {of_rows}, {of_objects}");
        }
        // Bytes go with the counts they were made under.
        let bytes = rows.to_bytes();
        assert!(Updater::from_bytes(&bytes, world.counted.clone()).is_ok());
        let other = world.counted.clone().with_counts(vec![7; world.counts.len()]).unwrap();
        assert!(Updater::from_bytes(&bytes, other).is_err());
    }
}

#[test]
fn distinct_rows_are_all_there_is() {
    for world in worlds() {
        let (rows, row_of) = world.repeated.distinct().unwrap();
        assert_eq!(rows.total_count(), world.repeated.n_objects() as u64);
        // Both number clusters by first object, and rows come in that order.
        for (of_rows, of_objects) in rows.members().iter().zip(world.repeated.members()) {
            for (object, &row) in row_of.iter().enumerate() {
                assert_eq!(of_rows.label(row as usize), of_objects.label(object));
            }
        }
    }
}

#[test]
fn absurd_counts_are_refused() {
    let ensemble = &worlds()[0].counted;
    let n = ensemble.n_objects();
    let refuse =
        |counts: Vec<u64>| ensemble.clone().with_counts(counts).unwrap_err().message().to_string();
    assert!(refuse(vec![1; n - 1]).contains(&format!("{n} objects")));
    let mut counts = vec![1; n];
    counts[3] = 0;
    assert!(refuse(counts.clone()).contains("object 3"));
    counts[3] = 1 << 53;
    assert!(refuse(counts.clone()).contains("2^53"));
    counts[3] = u64::MAX;
    assert!(refuse(counts).contains("2^53"));
}
