//! What members give, how often they count, and which numbers of clusters are tried.

use consilience_conformance::planted;
use consilience_core::{
    Ensemble, ErrorKind, Member, Microclusters, Partition, Seed, SparseMemberships,
};
use ndarray::Array2;

use crate::{ClusterNumber, ConsensusCdf, Diagnostics};

fn world(seed: u64) -> (Ensemble, Partition) {
    let world = planted(Seed(seed), &[14, 9, 5], 6, 0.2, 0.1).unwrap();
    (world.ensemble, world.truth)
}

/// The same members, every second of which is unsure.
fn soft(hard: &Ensemble, seed: u64) -> Ensemble {
    let mut s = Seed(seed).stream();
    let mut members: Vec<Member> = Vec::new();
    for (u, member) in hard.members().iter().enumerate() {
        if u % 2 == 0 {
            members.push(member.clone().into());
            continue;
        }
        let k = member.n_clusters();
        let mut shares = Array2::<f64>::zeros((member.n_objects(), k));
        for (i, label) in member.iter().enumerate() {
            if let Some(l) = label {
                let other = 0.3 * s.uniform();
                shares[[i, l]] += 1.0 - other;
                shares[[i, (l + 1) % k]] += other;
            }
        }
        members.push(SparseMemberships::from_array(shares.view()).unwrap().into());
    }
    Ensemble::mixed(members).unwrap()
}

fn close(a: f64, b: f64) {
    assert!((a - b).abs() < 1e-12, "{a} {b}");
}

fn both_close(a: Option<f64>, b: Option<f64>) {
    assert_eq!(a.is_some(), b.is_some());
    close(a.unwrap_or(0.0), b.unwrap_or(0.0));
}

#[test]
fn memberships_count_by_their_most_probable_clusters() {
    for seed in 0..4 {
        let (hard, truth) = world(seed);
        let soft = soft(&hard, seed);
        assert!(soft.is_soft());
        for weights in [[1.0; 6], [2.0, 0.5, 1.0, 0.0, 1.5, 3.0], [1.0, 1.7, 0.6, 0.0, 2.3, 1.1]] {
            let weighed = |e: &Ensemble| e.clone().with_weights(weights.to_vec()).unwrap();
            let both = [weighed(&soft), weighed(&hard)];
            let [a, b] = both.each_ref().map(|e| Diagnostics::of(e, &truth).unwrap());
            assert_eq!(a, b);
            let [a, b] = both.each_ref().map(|e| ConsensusCdf::of(e).unwrap());
            assert_eq!(a, b);
            let of_some = |e: &Ensemble| ConsensusCdf::of_sample(e, 9, Seed(seed), &()).unwrap();
            let [a, b] = both.each_ref().map(of_some);
            assert_eq!(a, b);
            let [a, b] = both.each_ref().map(|e| ClusterNumber::new().choose_grouped(e).unwrap());
            assert_eq!(a, b);
        }
    }
}

#[test]
fn a_member_of_weight_two_counts_as_if_it_were_there_twice() {
    for seed in 0..6 {
        let (all, truth) = world(seed);
        let weighed = all.clone().with_weights(vec![1.0, 2.0, 1.0, 0.0, 2.0, 1.0]).unwrap();
        let repeated = all.select(&[0, 1, 1, 2, 4, 4, 5]).unwrap();
        let a = Diagnostics::of(&weighed, &truth).unwrap();
        let b = Diagnostics::of(&repeated, &truth).unwrap();
        close(a.anmi, b.anmi);
        assert_eq!(a.second, b.second);
        a.confidence.iter().zip(&b.confidence).for_each(|(a, b)| close(*a, *b));
        assert_eq!(a.clusters.len(), b.clusters.len());
        for (a, b) in a.clusters.iter().zip(&b.clusters) {
            assert_eq!((a.objects, a.nearest.map(|n| n.0)), (b.objects, b.nearest.map(|n| n.0)));
            close(a.density, b.density);
            both_close(a.nearest.map(|n| n.1), b.nearest.map(|n| n.1));
            both_close(a.stability, b.stability);
            close(a.confidence, b.confidence);
        }
        for (at, u) in [0, 1, 1, 2, 4, 4, 5].into_iter().enumerate() {
            both_close(a.members[u].agreement, b.members[at].agreement);
            // A copy of a member is one of its others only where it is told as another member.
            if ![1, 4].contains(&u) {
                let others = a.members[u].agreement_with_others;
                both_close(others, b.members[at].agreement_with_others);
            }
        }
        let [a, b] = [&weighed, &repeated].map(|e| ConsensusCdf::of(e).unwrap());
        assert_eq!(a, b);
        let [a, b] = [&weighed, &repeated].map(|e| ClusterNumber::new().choose_grouped(e).unwrap());
        for row in &a.rows {
            let same = b.rows.iter().find(|r| r.clusters == row.clusters).unwrap();
            assert_eq!((&row.cdf, row.area, row.pac), (&same.cdf, same.area, same.pac));
        }
    }
}

#[test]
fn a_member_of_weight_zero_counts_as_if_it_were_not_there() {
    for seed in 0..6 {
        let (all, truth) = world(seed);
        let silenced = all.clone().with_weights(vec![1.0, 1.0, 1.0, 0.0, 1.0, 1.0]).unwrap();
        let without = all.select(&[0, 1, 2, 4, 5]).unwrap();
        let mut a = Diagnostics::of(&silenced, &truth).unwrap();
        let b = Diagnostics::of(&without, &truth).unwrap();
        assert_eq!((a.anmi, a.diversity), (b.anmi, b.diversity));
        assert_eq!(
            (&a.confidence, &a.second, &a.clusters),
            (&b.confidence, &b.second, &b.clusters)
        );
        let silent = a.members.remove(3);
        assert_eq!((silent.agreement, silent.agreement_with_others), (None, None));
        assert_eq!(silent.clusters, all.members()[3].n_clusters());
        assert_eq!(a.members, b.members);
        let moved: Vec<usize> = a.dissenters.iter().map(|&u| u - usize::from(u > 3)).collect();
        assert_eq!(moved, b.dissenters);
        let [a, b] = [&silenced, &without].map(|e| ConsensusCdf::of(e).unwrap());
        assert_eq!(a, b);
        let [a, b] = [&silenced, &without].map(|e| ClusterNumber::new().choose_grouped(e).unwrap());
        assert_eq!(a, b);
    }
    let (all, truth) = world(0);
    let one = all.with_weights(vec![0.0, 0.0, 3.0, 0.0, 0.0, 0.0]).unwrap();
    let alone = Diagnostics::of(&one, &truth).unwrap();
    assert!(alone.diversity.is_none() && alone.sentences[0].contains("a single member"));
}

#[test]
fn the_median_member_is_that_of_the_weights() {
    let good = planted(Seed(1), &[30, 30, 30], 6, 0.1, 0.0).unwrap();
    let mut s = Seed(2).stream();
    let noise: Vec<usize> = (0..90).map(|_| s.below(3)).collect();
    let mut members = good.ensemble.members().to_vec();
    members.insert(2, Partition::from_labels(&noise).unwrap());
    let all = Ensemble::new(members).unwrap();
    let dissenters = |weights: Vec<f64>| {
        let weighed = all.clone().with_weights(weights).unwrap();
        Diagnostics::of(&weighed, &good.truth).unwrap().dissenters
    };
    assert_eq!(dissenters(vec![1.0; 7]), [2]);
    assert_eq!(dissenters(vec![0.0, 1.0, 1.0, 1.0, 0.5, 1.0, 1.0]), [2]);
    // Noise that counts more than all others is what is usual.
    assert!(dissenters(vec![1.0, 1.0, 20.0, 1.0, 1.0, 1.0, 1.0]).is_empty());
}

#[test]
fn curves_of_any_weights_are_those_of_the_pairs() {
    for seed in 0..4 {
        let world = planted(Seed(seed), &[14, 9, 5], 6, 0.3, 0.2).unwrap();
        let weights = [1.0, 1.7, 0.6, 0.0, 2.3, 1.1];
        let e = world.ensemble.with_weights(weights.to_vec()).unwrap();
        let mut pairs: Vec<f64> = Vec::new();
        for (i, j) in (0..28).flat_map(|i| (0..i).map(move |j| (i, j))) {
            let (mut together, mut both) = (0.0, 0.0);
            for (member, weight) in e.members().iter().zip(weights) {
                if let (Some(a), Some(b)) = (member.label(i), member.label(j)) {
                    both += weight;
                    together += if a == b { weight } else { 0.0 };
                }
            }
            if both > 0.0 {
                pairs.push(together / both);
            }
        }
        let cdf = ConsensusCdf::of(&e).unwrap();
        let share = |x: f64| pairs.iter().filter(|&&p| p <= x).count() as f64 / pairs.len() as f64;
        for x in [-0.1, 0.0, 0.13, 0.37, 0.51, 0.77, 1.0] {
            close(cdf.at(x), share(x));
        }
        let mean = pairs.iter().sum::<f64>() / pairs.len() as f64;
        assert!((cdf.area() - (1.0 - mean)).abs() < 1e-5);
    }
}

#[test]
fn the_least_number_is_kept_or_refused() {
    let e = planted(Seed(1), &[20, 15, 10], 8, 0.3, 0.0).unwrap().ensemble;
    let n = Microclusters::of(&e).unwrap().n_nodes();
    assert!(n > 20, "{n}");
    let number = ClusterNumber::new().resamples(4);
    let error = number.at_least(n + 1).choose(&e).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidParameter);
    let expected = format!("at least {} clusters of {n} distinct objects", n + 1);
    assert_eq!(error.message(), expected);
    let error = number.objects(20).at_least(21).choose(&e).unwrap_err();
    assert!(error.message().ends_with("in the sample"), "{error}");
    let all = number.at_least(n).choose(&e).unwrap();
    assert_eq!((all.rows.len(), all.recommended), (1, n));
    // One object is one cluster where two are the least, and nothing where more are.
    let equal = Ensemble::new(vec![Partition::single_cluster(4).unwrap()]).unwrap();
    assert_eq!(number.at_least(2).choose(&equal).unwrap().recommended, 1);
    let error = number.at_least(3).choose(&equal).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidParameter);
}

#[test]
fn what_was_not_tried_is_told() {
    let e = planted(Seed(1), &[20, 15, 10], 8, 0.3, 0.0).unwrap().ensemble;
    let n = Microclusters::of(&e).unwrap().n_nodes();
    let number = ClusterNumber::new().resamples(2);
    let one = number.at_least(5).up_to(5).choose(&e).unwrap();
    assert_eq!((one.recommended, one.range), (5, (5, 5)));
    assert_eq!(one.notes[0], "5 clusters: no other number was tried");
    assert!(!one.notes.join(" ").contains("agree"), "{:?}", one.notes);
    let cut = number.up_to(100_000).choose(&e).unwrap();
    assert_eq!(cut.rows.len(), n - 1);
    let told = format!("up to {n} clusters were tried, not 100000");
    assert!(cut.notes.iter().any(|note| note.starts_with(&told)), "{:?}", cut.notes);
    let kept = number.up_to(n).choose(&e).unwrap();
    assert!(kept.notes.iter().all(|note| !note.contains("were tried, not")));
    let told = format!("numbers of clusters from 2 to {n} were tried");
    assert!(kept.notes.contains(&told), "{:?}", kept.notes);
}

/// Equal members of k clusters.
fn equal(k: usize, n: usize, members: usize) -> Ensemble {
    let labels: Vec<usize> = (0..n).map(|i| i % k).collect();
    Ensemble::new(vec![Partition::from_labels(&labels).unwrap(); members]).unwrap()
}

#[test]
fn members_that_are_all_alike_keep_their_number() {
    let number = ClusterNumber::new().resamples(4);
    for (k, members) in [(2, 6), (3, 6), (5, 1), (9, 6), (30, 6)] {
        let table = number.choose(&equal(k, 10 * k, members)).unwrap();
        assert_eq!((table.recommended, table.range), (k, (k, k)), "{:?}", table.notes);
        let whose = if members == 1 { "the one member has" } else { "all members have" };
        assert_eq!(table.notes[0], format!("{k} clusters: {whose} these very clusters"));
        assert!(!table.notes.join(" ").contains("agree"), "{:?}", table.notes);
    }
    // More than are tried.
    let many = number.choose(&equal(40, 400, 6)).unwrap();
    assert_eq!((many.recommended, many.range, many.rows.len()), (40, (40, 40), 29));
    assert_eq!(many.notes[0], "40 clusters: all members have these very clusters");
    // More than were asked for: what is said is true, and nothing that is equal chooses.
    let bounded = number.up_to(30).choose(&equal(40, 400, 6)).unwrap();
    let said = bounded.notes.join("; ");
    assert_eq!((bounded.recommended, bounded.rows.len()), (30, 29), "{said}");
    for told in [
        "pac chooses none: it is the same for all numbers tried",
        "the members share more than 30 directions",
        "the members are all alike and have 40 clusters, more than were tried",
        "30 is the largest number that was tried",
    ] {
        assert!(said.contains(told), "{said}");
    }
    let few = number.up_to(5).choose(&equal(9, 90, 6)).unwrap();
    assert!(few.notes.join("; ").contains("have 9 clusters, more than were tried"));
}

/// Members that divide a line into two to eight leave 22 microclusters, the root of which is four.
#[test]
fn few_microclusters_do_not_hide_the_number() {
    let members = (0..12).map(|u| {
        let label = |i: usize| i * (2 + u % 7) / 160;
        Partition::from_labels(&(0..160).map(label).collect::<Vec<_>>()).unwrap()
    });
    let e = Ensemble::new(members.collect()).unwrap();
    let table = ClusterNumber::new().choose(&e).unwrap();
    // A quarter of the members has more.
    assert_eq!(table.rows.last().unwrap().clusters, 6, "{:?}", table.notes);
}

#[test]
fn members_that_nearly_agree_are_tried_beyond_their_number() {
    // Each of twelve objects is elsewhere for one member.
    let members = (0..6).map(|u| {
        let strays = |i: usize| i.is_multiple_of(15) && i / 15 % 6 == u;
        let label = |i: usize| if strays(i) { (i + 1) % 9 } else { i % 9 };
        Partition::from_labels(&(0..180).map(label).collect::<Vec<_>>()).unwrap()
    });
    let near = Ensemble::new(members.collect()).unwrap();
    let table = ClusterNumber::new().choose(&near).unwrap();
    assert_eq!(table.rows.last().unwrap().clusters, 10);
    assert_eq!(table.recommended, 9, "{:?}", table.notes);
    // A column of row numbers among ordinary members is no agreement.
    let world = planted(Seed(1), &[40, 30, 20], 8, 0.3, 0.0).unwrap();
    let mut members = world.ensemble.members().to_vec();
    members.push(Partition::from_labels(&(0..90).collect::<Vec<_>>()).unwrap());
    let table = ClusterNumber::new().choose(&Ensemble::new(members).unwrap()).unwrap();
    assert_eq!(table.rows.last().unwrap().clusters, 9);
}

#[test]
fn an_object_half_way_between_two_clusters_is_undecided() {
    // The first object goes with the ones for two members, with the others for two.
    let member = |first: usize| Partition::from_labels(&[first, 0, 0, 0, 1, 1, 1]).unwrap();
    let e = Ensemble::new([0, 0, 1, 1].map(member).to_vec()).unwrap();
    for first in [0, 1] {
        let trust = Diagnostics::of(&e, &member(first)).unwrap();
        close(trust.confidence[0], 0.5);
        let told = "1 of 7 objects are at least as close to another cluster as to their own.";
        assert!(trust.sentences.iter().any(|s| s == told), "{:?}", trust.sentences);
    }
}
