use super::*;
use crate::{Ensemble, ErrorKind, Seed, Stream};

fn p(labels: &[i64]) -> Partition {
    Partition::from_labels(labels).unwrap()
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-12 * a.abs().max(b.abs()).max(1.0)
}

fn draw(s: &mut Stream, n: usize, k: usize) -> Vec<i64> {
    (0..n).map(|_| s.below(k + 1) as i64 - 1).collect()
}

/// Every function by the name of its entry.
type Score = fn(&Partition, &Partition) -> Result<f64>;
const SINGLE: [(&str, Score); 18] = [
    ("nmi_max", |a, b| normalized_mutual_information(a, b, Normalizer::Max)),
    ("nmi_sqrt", |a, b| normalized_mutual_information(a, b, Normalizer::Sqrt)),
    ("nmi_arithmetic", |a, b| normalized_mutual_information(a, b, Normalizer::Arithmetic)),
    ("ami", adjusted_mutual_information),
    ("ari", adjusted_rand),
    ("rand", rand),
    ("accuracy", accuracy),
    ("purity", purity),
    ("homogeneity", homogeneity),
    ("completeness", completeness),
    ("v_measure", v_measure),
    ("vi", variation_of_information),
    ("mutual_information", mutual_information),
    ("pair_precision", pair_precision),
    ("pair_recall", pair_recall),
    ("pair_f", pair_f),
    ("fowlkes_mallows", fowlkes_mallows),
    ("jaccard", jaccard),
];

#[test]
fn all_scores_of_a_pair_worked_by_hand() {
    // Table [[2, 1], [0, 3]]: rows 3 and 3, columns 2 and 4, six objects.
    let (a, b) = (p(&[0, 0, 0, 1, 1, 1]), p(&[0, 0, 1, 1, 1, 1]));
    let s = Scores::compare(&a, &b).unwrap();
    let ln = f64::ln;
    let ha = ln(2.0);
    let hb = ln(3.0) / 3.0 + 2.0 / 3.0 * ln(1.5);
    let mi = ln(2.0) / 3.0 + ln(0.5) / 6.0 + ln(1.5) / 2.0;
    assert!(close(s.mutual_information, mi));
    assert!(close(s.nmi_max, mi / ha) && close(s.nmi_sqrt, mi / (ha * hb).sqrt()));
    assert!(close(s.nmi_arithmetic, 2.0 * mi / (ha + hb)) && close(s.v_measure, s.nmi_arithmetic));
    assert!(close(s.homogeneity, mi / hb) && close(s.completeness, mi / ha));
    assert!(close(s.vi, ha + hb - 2.0 * mi));
    // Pairs: 1 + 3 together in both of 6 and 7 together, 15 in all, so 6 apart in both.
    assert!(close(s.rand, 10.0 / 15.0) && close(s.pair_precision, 4.0 / 6.0));
    assert!(
        close(s.pair_recall, 4.0 / 7.0)
            && close(s.pair_f, 8.0 / 13.0)
            && close(s.jaccard, 4.0 / 9.0)
    );
    assert!(close(s.fowlkes_mallows, 4.0 / 42f64.sqrt()));
    let expected = 6.0 * 7.0 / 15.0;
    assert!(close(s.ari, (4.0 - expected) / (6.5 - expected)));
    assert!(close(s.accuracy, 5.0 / 6.0) && close(s.purity, 5.0 / 6.0));
    // Of the 15 ways to choose b's pair, 6 lie inside one cluster of a (this table), 9 are split
    // evenly (0).
    let emi = 6.0 / 15.0 * mi;
    assert!(close(s.ami, (mi - emi) / ((ha + hb) / 2.0 - emi)));
}

#[test]
fn degenerate_pairs_follow_the_conventions() {
    let single = p(&[0, 0, 0, 0]);
    let apart = p(&[0, 1, 2, 3]);
    let two = p(&[0, 0, 1, 1]);
    let one = p(&[5]);
    for same in [&single, &apart, &two, &one] {
        let s = Scores::compare(same, same).unwrap();
        for (name, value) in s.entries() {
            let expected = match name {
                "vi" => 0.0,
                "mutual_information" => ((same.n_clusters()) as f64).ln(),
                // No pair is together: scikit-learn says 0 here.
                "fowlkes_mallows" if same.n_clusters() == same.n_objects() => 0.0,
                _ => 1.0,
            };
            assert!(close(value, expected), "{same:?} {name}: {value}");
        }
    }
    for other in [&apart, &two] {
        let s = Scores::compare(&single, other).unwrap();
        assert_eq!(
            (s.nmi_max, s.nmi_sqrt, s.nmi_arithmetic, s.ami, s.ari),
            (0.0, 0.0, 0.0, 0.0, 0.0)
        );
        assert_eq!((s.homogeneity, s.completeness, s.v_measure), (0.0, 1.0, 0.0));
        assert_eq!(normalized_mutual_information(&single, other, Normalizer::Min).unwrap(), 0.0);
    }
    let s = Scores::compare(&apart, &two).unwrap();
    assert_eq!(
        (s.ami, s.ari, s.purity, s.pair_precision, s.pair_recall),
        (0.0, 0.0, 1.0, 1.0, 0.0)
    );
}

#[test]
fn clusters_seen_only_where_the_other_is_silent_do_not_count() {
    let a = p(&[0, 0, 1, 2, -1]);
    let b = p(&[0, 0, -1, -1, 1]);
    assert_eq!(
        Scores::compare(&a, &b).unwrap(),
        Scores::compare(&p(&[0, 0]), &p(&[0, 0])).unwrap()
    );
}

#[test]
fn properties_on_random_pairs() {
    let mut s = Seed(11).stream();
    for round in 0..400 {
        let n = 1 + s.below(60);
        let (ka, kb) = (1 + s.below(8), 1 + s.below(8));
        let (a, b) = (draw(&mut s, n, ka), draw(&mut s, n, kb));
        let pair = Scores::compare(&p(&a), &p(&b));
        let Ok(pair) = pair else {
            assert_eq!(pair.unwrap_err().kind(), ErrorKind::Empty);
            continue;
        };
        let back = Scores::compare(&p(&b), &p(&a)).unwrap();
        let renamed: Vec<i64> =
            a.iter().map(|&l| if l < 0 { l } else { (1 << 40) - 13 * l }).collect();
        assert_eq!(Scores::compare(&p(&renamed), &p(&b)).unwrap(), pair, "relabelling");
        for (((name, x), (_, y)), (single, f)) in
            pair.entries().into_iter().zip(back.entries()).zip(SINGLE)
        {
            assert_eq!(name, single);
            assert_eq!(f(&p(&a), &p(&b)).unwrap(), x, "{name} alone and in the table");
            let low = if matches!(name, "ami" | "ari") { -1.0 } else { 0.0 };
            let high = if matches!(name, "vi" | "mutual_information") {
                (n as f64).ln() + 1e-12
            } else {
                1.0
            };
            assert!((low..=high).contains(&x), "round {round}: {name} = {x}");
            let swapped = match name {
                "homogeneity" => back.completeness,
                "completeness" => back.homogeneity,
                "pair_precision" => back.pair_recall,
                "pair_recall" => back.pair_precision,
                "purity" => continue,
                _ => y,
            };
            assert!(close(x, swapped), "round {round}: {name} {x} and {swapped}");
        }
        assert!(pair.ari >= -0.5 && pair.purity >= pair.accuracy);
        // Order of objects does not matter beyond rounding.
        let mut order: Vec<usize> = (0..n).collect();
        s.shuffle(&mut order);
        let moved = Scores::compare(&p(&a).select(&order).unwrap(), &p(&b).select(&order).unwrap())
            .unwrap();
        for ((name, x), (_, y)) in pair.entries().into_iter().zip(moved.entries()) {
            assert!(close(x, y), "{name}: {x} {y}");
        }
    }
}

#[test]
fn adjusted_scores_average_to_zero_over_random_partitions() {
    let mut s = Seed(12).stream();
    let (mut ari, mut ami) = (0.0, 0.0);
    for _ in 0..2000 {
        let mut a: Vec<i64> = (0..40).map(|i| i % 5).collect();
        s.shuffle(&mut a);
        let b = p(&(0..40).map(|i| i64::from(i < 30) + i64::from(i < 10)).collect::<Vec<_>>());
        let scores = Scores::compare(&p(&a), &b).unwrap();
        ari += scores.ari / 2000.0;
        ami += scores.ami / 2000.0;
    }
    assert!(ari.abs() < 0.003 && ami.abs() < 0.003, "{ari} {ami}");
}

#[test]
fn average_nmi_leaves_silent_members_out() {
    let a = p(&[0, 0, 1, 1]);
    let ensemble = Ensemble::new(vec![a.clone(), p(&[-1, -1, -1, -1]), p(&[0, 0, -1, 1])]).unwrap();
    assert!(close(average_nmi(&a, &ensemble, Normalizer::Max).unwrap(), 1.0));
    let silent = ensemble.select(&[1]).unwrap();
    assert_eq!(average_nmi(&a, &silent, Normalizer::Max).unwrap_err().kind(), ErrorKind::Empty);
    let longer = p(&[0, 0, 1, 1, 1]);
    assert_eq!(
        average_nmi(&longer, &ensemble, Normalizer::Max).unwrap_err().kind(),
        ErrorKind::ShapeMismatch
    );
}
