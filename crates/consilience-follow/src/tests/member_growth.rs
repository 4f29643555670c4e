use consilience_core::scores::adjusted_rand;
use consilience_core::{
    BaseClusterer, Constraints, Ensemble, ErrorKind, Features, Fit, Link, MemoryBudget, Objects,
    Observer, Pair, Partition, Result, Seed,
};
use consilience_metric::Itml;
use ndarray::Array2;

use super::metric::listed;
use super::{Means, StopAt, on_pool, rows_of};
use crate::member_growth::{SAMPLE, principal_components};
use crate::{MemberGrowth, MetricRule, ReadOutMethod, Updater};

/// Three classes that only small features distinguish, beside four wide random ones.
fn world(n: usize, seed: u64) -> (Array2<f64>, Partition, Constraints) {
    let mut draw = Seed(seed).stream();
    let truth: Vec<usize> = (0..n).map(|_| draw.below(3)).collect();
    let x = Array2::from_shape_fn((n, 6), |(i, j)| match j {
        0 => f64::from(u8::from(truth[i] == 1)) + 0.15 * draw.normal(),
        1 => f64::from(u8::from(truth[i] == 2)) + 0.15 * draw.normal(),
        _ => 3.0 * draw.normal(),
    });
    let mut links = Constraints::new(n).unwrap();
    for _ in 0..150 {
        let (i, j) = (draw.below(n), draw.below(n));
        links.add(i, j, if truth[i] == truth[j] { Link::Must } else { Link::Cannot }).unwrap();
    }
    (x, Partition::from_labels(&truth).unwrap(), links)
}

/// Members that were made without any link.
fn blind(x: &Array2<f64>, members: u64) -> Ensemble {
    let member = |u| Means.fit(x.view().into(), 4, Seed(u), &()).unwrap().output;
    Ensemble::new((0..members).map(member).collect()).unwrap()
}

#[test]
fn growth_finds_what_no_member_has() {
    let (x, truth, links) = world(300, 1);
    let base = blind(&x, 12);
    let mut metric = MetricRule::new(3).open(&base, &()).unwrap();
    metric.follow(&base, &links.iter().collect::<Vec<_>>(), &()).unwrap();
    let before = metric.partition(&base, &links, &()).unwrap().output;
    let growth = MemberGrowth::new(Means).members(15).seed(Seed(5));
    let grown = growth.grow(x.view().into(), 3, &links, &()).unwrap().output;
    assert_eq!(grown.left_out, [0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4]);
    assert!(grown.members.iter().all(|m| (1..=9).contains(&m.n_clusters())));
    let mut all = base.members().to_vec();
    all.extend(grown.members.iter().cloned());
    let joined = Ensemble::new(all).unwrap();
    metric.grow(&joined, &grown.left_out, grown.features.clone(), &links, &()).unwrap();
    let read = metric.read_out(&joined, &links, &()).unwrap().output;
    assert_eq!(read.method(), ReadOutMethod::MetricGrown);
    let after = read.partition(&joined, &()).unwrap();
    let score = |p: &Partition| adjusted_rand(p, &truth).unwrap();
    assert!(score(&before) < 0.6 && score(&after) > 0.85, "{} {}", score(&before), score(&after));
    // The same members at any number of threads.
    let again = on_pool(3, || growth.grow(x.view().into(), 3, &links, &()).unwrap().output);
    assert_eq!(again, grown);
}

/// Where members are made from some of the objects, the others are labelled as well.
#[test]
fn some_objects_are_enough() {
    let (x, truth, links) = world(9_000, 3);
    let growth = || MemberGrowth::new(Means).members(5).clusters(3..=3);
    let grow = |g: MemberGrowth| g.grow(x.view().into(), 3, &links, &()).unwrap().output;
    let some = grow(growth().sample(600));
    for (member, of_all) in some.members.iter().zip(&grow(growth()).members) {
        assert!((member.n_objects(), member.n_labelled()) == (9_000, 9_000));
        let (found, whole) =
            (adjusted_rand(member, &truth).unwrap(), adjusted_rand(of_all, &truth).unwrap());
        assert!(found > 0.8 && (found - whole).abs() < 0.05, "{found} {whole}");
    }
    assert_ne!(some.members, grow(growth().sample(600).seed(Seed(1))).members);
    let narrow = x.mapv(|v| v as f32);
    let single = growth().sample(600).grow(narrow.view().into(), 3, &links, &()).unwrap().output;
    assert!(adjusted_rand(&single.members[0], &some.members[0]).unwrap() > 0.95);
    assert_eq!(on_pool(3, || grow(growth().sample(600))), some);
}

/// Rows with counts and these rows repeated one behind the other: fewer objects than members are
/// made from, and more, of which the learner sees only some where they are counted.
#[test]
fn rows_with_counts_grow_as_their_objects() {
    let (x, _, links) = world(300, 8);
    let counts: Vec<u64> = (0..300).map(|i| if i % 5 == 0 { 17 } else { 1 }).collect();
    let row_of = rows_of(&counts);
    let first = |row: usize| row_of.partition_point(|&r| r < row);
    let mut of_objects = Constraints::new(row_of.len()).unwrap();
    for p in links.iter() {
        of_objects.add(first(p.i), first(p.j), p.link).unwrap();
    }
    let repeated = x.select(ndarray::Axis(0), &row_of);
    let growth = || MemberGrowth::new(Means).members(5).seed(Seed(3));
    for (growth, least) in
        [(growth(), 1.0), (growth().components(4), 1.0), (growth().sample(400), -1.0)]
    {
        let rows = growth.grow_counted(x.view().into(), &counts, 3, &links, &()).unwrap();
        let objects = growth.grow(repeated.view().into(), 3, &of_objects, &()).unwrap();
        assert_eq!(rows.report.notes, objects.report.notes);
        let (rows, objects) = (rows.output, objects.output);
        for (of_rows, of_objects) in rows.members.iter().zip(&objects.members) {
            let ari = adjusted_rand(&of_rows.select(&row_of).unwrap(), of_objects).unwrap();
            assert!(ari >= least, "{ari}");
        }
        for (object, &row) in row_of.iter().enumerate() {
            let (a, b) = (rows.features.row(row), objects.features.row(object));
            assert!(a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-4), "row {row}");
        }
    }
    // As many members and clusters as there are objects may be asked for, however few the rows.
    let (few, none) = (x.slice(ndarray::s![..2, ..]), Constraints::new(2).unwrap());
    assert!(growth().grow_counted(few.into(), &[3, 2], 5, &none, &()).is_ok());
    let kind = |counts: &[u64], growth: MemberGrowth| {
        growth.grow_counted(few.into(), counts, 2, &none, &()).unwrap_err().kind()
    };
    assert_eq!(kind(&[3], growth()), ErrorKind::ShapeMismatch);
    assert_eq!(kind(&[3, 0], growth()), ErrorKind::OutOfRange);
    let many = growth().sample(usize::MAX);
    assert_eq!(kind(&[1 << 40, 1 << 40], many), ErrorKind::TooLarge);
}

/// An updater over rows with counts grows as one over the rows repeated, and tells the limit.
#[test]
fn an_updater_grows_by_counts() {
    let (x, truth, links) = world(60, 9);
    let base = blind(&x, 6);
    let counts: Vec<u64> = truth.iter().map(|l| if l == Some(0) { 9 } else { 1 }).collect();
    let row_of = rows_of(&counts);
    let first = |row: usize| row_of.partition_point(|&r| r < row);
    let of_rows: Vec<_> = links.iter().collect();
    let of_objects: Vec<_> =
        of_rows.iter().map(|p| Pair::new(first(p.i), first(p.j), p.link)).collect();
    let repeated = base.select_objects(&row_of).unwrap();
    let mut rows = Updater::new(base.with_counts(counts).unwrap(), 3).unwrap();
    let mut objects = Updater::new(repeated, 3).unwrap();
    rows.update(&of_rows).unwrap();
    objects.update(&of_objects).unwrap();
    let wide = x.select(ndarray::Axis(0), &row_of);
    let growth = MemberGrowth::new(Means).members(10);
    let told = rows.grow(x.view().into(), &growth, 0.0, &()).unwrap().report;
    assert_eq!(
        told.notes,
        objects.grow(wide.view().into(), &growth, 0.0, &()).unwrap().report.notes
    );
    for (member, of_objects) in rows.ensemble().members().iter().zip(objects.ensemble().members()) {
        assert_eq!(&member.select(&row_of).unwrap(), of_objects);
    }
    let some = rows.grow(x.view().into(), &growth.sample(20), 0.0, &()).unwrap().report;
    assert!(some.notes.iter().any(|note| note.contains("made from 20 of")), "{:?}", some.notes);
    // A share out of range is refused before anything is made.
    let bad = rows.grow(x.view().into(), &MemberGrowth::new(Never), f64::NAN, &()).unwrap_err();
    assert_eq!(bad.kind(), ErrorKind::InvalidParameter);
    // So are metrics for which there is no room.
    objects.set_memory_budget(MemoryBudget::bytes(10_000));
    let bad = objects.grow(wide.view().into(), &MemberGrowth::new(Never), 0.0, &()).unwrap_err();
    assert_eq!(bad.kind(), ErrorKind::TooLarge);
    assert!(bad.message().contains("metrics"), "{bad}");
}

/// Of 4,000 objects, those of a fold are 4,000 rows of four components for the learner, which it
/// copies, and as many for the clusterer, however many features there are; the components are those
/// of 40 rows.
#[test]
fn growth_by_counts_keeps_to_the_memory_budget() {
    let mut draw = Seed(10).stream();
    let x = Array2::from_shape_fn((40, 100), |_| draw.normal());
    let growth = MemberGrowth::new(Means).members(2).clusters(2..=3).components(4);
    let grow = |bytes: u64| {
        let budget = MemoryBudget::bytes(bytes);
        growth.grow_objects(x.view().into(), Some(&[100; 40]), 2, &[], budget, &())
    };
    // One fold after the other where both do not fit.
    let needed = 8 * (4_000 * (3 * 4 + 1) + 40 * (2 * 100 + 30 + 30));
    assert_eq!(grow(needed - 1).unwrap_err().kind(), ErrorKind::TooLarge);
    assert_eq!(grow(needed).unwrap().output, grow(1 << 30).unwrap().output);
}

/// Few objects, and squares of 200 features.
#[test]
fn the_metric_of_growth_keeps_to_the_memory_budget() {
    let mut draw = Seed(11).stream();
    let x = Array2::from_shape_fn((20, 200), |_| draw.normal());
    let mut links = Constraints::new(20).unwrap();
    for i in 0..8 {
        links.add(i, i + 10, Link::Must).unwrap();
    }
    links.add(0, 19, Link::Cannot).unwrap();
    let growth = MemberGrowth::new(Means).members(2).clusters(2..=3).components(200);
    let grow = |bytes: u64| {
        let budget = MemoryBudget::bytes(bytes);
        growth.grow_objects(x.view().into(), None, 2, &listed(&links), budget, &())
    };
    assert_eq!(grow(1_000_000).unwrap_err().kind(), ErrorKind::TooLarge);
    assert_eq!(grow(10_000_000).unwrap().output.members.len(), 2);
}

/// Rows that count are standardized as their objects: a constant feature has no component, though
/// the sum of its values is rounded.
#[test]
fn constant_features_of_rows_with_counts_are_left_out() {
    let x = Array2::from_shape_fn((30, 3), |(i, j)| match j {
        0 => (i * 7 % 11) as f64,
        1 => 5.0 + (i * 5 % 13) as f64,
        _ => 0.1,
    });
    let counts: Vec<u64> = (0..30).map(|i| 1 + i % 7).collect();
    let row_of = rows_of(&counts);
    let of = |x: &Array2<f64>, counts: Option<&[u64]>| {
        let objects = Objects::of(x.nrows(), counts).unwrap();
        principal_components(x.view().into(), &objects, SAMPLE, 3, &()).unwrap()
    };
    let rows = of(&x, Some(&counts[..]));
    let objects = of(&x.select(ndarray::Axis(0), &row_of), None);
    assert_eq!((rows.ncols(), objects.ncols()), (2, 2));
    for (object, &row) in row_of.iter().enumerate() {
        let (a, b) = (rows.row(row), objects.row(object));
        assert!(a.iter().zip(b).all(|(a, b)| (a.abs() - b.abs()).abs() < 1e-4), "row {row}");
    }
}

/// Not to be asked.
struct Never;

impl BaseClusterer for Never {
    fn name(&self) -> &'static str {
        "never"
    }

    fn fit(&self, _: Features<'_>, _: usize, _: Seed, _: &dyn Observer) -> Result<Fit<Partition>> {
        panic!("a member is made");
    }
}

#[test]
fn components_can_be_stopped() {
    let (x, ..) = world(50, 7);
    let objects = Objects::of(50, None).unwrap();
    let stop = StopAt::question(0);
    let error = principal_components(x.view().into(), &objects, SAMPLE, 3, &stop).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Cancelled);
}

/// Sums and squares of such numbers overflow, and all components were lost.
#[test]
fn components_of_very_large_features_are_those_of_others() {
    let (x, ..) = world(60, 7);
    let objects = Objects::of(60, None).unwrap();
    let of =
        |x: &Array2<f64>| principal_components(x.view().into(), &objects, SAMPLE, 3, &()).unwrap();
    let largest = x.iter().fold(0.0f64, |m, v| m.max(v.abs()));
    let unit = 2f64.powi(1022 - largest.log2() as i32);
    let apart = of(&(&x * unit)) - of(&x);
    assert!(apart.dim() == (60, 3) && apart.iter().all(|v| v.abs() < 1e-4), "{apart}");
}

/// Whatever is added to a feature, the others are labelled alike.
#[test]
fn features_far_from_zero_are_labelled_as_well() {
    let (x, truth, links) = world(3_000, 4);
    let mut far = x.clone();
    far.column_mut(0).mapv_inplace(|v| v + 1e9);
    let growth = MemberGrowth::new(Means).members(5).clusters(3..=3).sample(600);
    let grow = |x: &Array2<f64>| growth.grow(x.view().into(), 3, &links, &()).unwrap().output;
    for (near, far) in grow(&x).members.iter().zip(&grow(&far).members) {
        let score = |member: &Partition| adjusted_rand(member, &truth).unwrap();
        assert!(score(far) > score(near) - 0.02, "{} {}", score(far), score(near));
    }
}

/// Classes lie in two of the features' leading directions; 80 more features are noise, or constant.
#[test]
fn many_features_are_seen_by_their_components() {
    let mut draw = Seed(6).stream();
    let class = |i: usize| i % 3;
    let x = Array2::from_shape_fn((150, 90), |(i, j)| match j {
        0..30 => 3.0 * f64::from(u8::from(class(i) == j % 3)) + draw.normal(),
        30..80 => draw.normal(),
        _ => 7.0,
    });
    let truth = Partition::from_fn(150, |i| Some(class(i) as u64)).unwrap();
    let mut links = Constraints::new(150).unwrap();
    for _ in 0..60 {
        let (i, j) = (draw.below(150), draw.below(150));
        let link = if class(i) == class(j) { Link::Must } else { Link::Cannot };
        links.add(i, j, link).unwrap();
    }
    let growth = || MemberGrowth::new(Means).members(5).clusters(3..=3);
    let grown = |x: &Array2<f64>, growth: &MemberGrowth| {
        growth.grow(x.view().into(), 3, &links, &()).unwrap().output
    };
    for growth in [growth().components(60), growth()] {
        let few = grown(&x, &growth);
        assert_eq!(few.features.ncols(), 30);
        let score = |m: &Partition| adjusted_rand(m, &truth).unwrap();
        assert!(few.members.iter().all(|m| score(m) > 0.9));
    }
    // As if there were no more: components of fewer features are not taken.
    let narrow = x.slice(ndarray::s![.., ..40]).to_owned();
    let whole = grown(&narrow, &MemberGrowth::new(Means).members(5));
    let same = grown(&narrow, &MemberGrowth::new(Means).members(5).components(40));
    assert_eq!(whole, same);
    // Nothing to see in any of them.
    let flat = Array2::from_elem((150, 70), 2.0);
    assert_eq!(grown(&flat, &MemberGrowth::new(Means).members(2)).members.len(), 2);
    let none = MemberGrowth::new(Means).components(0).grow(x.view().into(), 3, &links, &());
    assert_eq!(none.unwrap_err().kind(), ErrorKind::InvalidParameter);
}

#[test]
fn bad_input_is_refused() {
    let (x, _, links) = world(30, 2);
    let grow = |g: MemberGrowth, k| g.grow(x.view().into(), k, &links, &()).map(drop);
    let new = || MemberGrowth::new(Means);
    for bad in [
        grow(new(), 0),
        grow(new(), 31),
        grow(new().members(0), 3),
        grow(new().folds(1), 3),
        grow(new().clusters(0..=3), 3),
        grow(new().clusters(3..=31), 3),
        grow(new().sample(8), 3),
        grow(new().clusters(20..=25).sample(24), 3),
        grow(new().learner(Itml::new().slack(-1.0)), 3),
    ] {
        assert_eq!(bad.unwrap_err().kind(), ErrorKind::InvalidParameter);
    }
    let short = Constraints::new(29).unwrap();
    let kind = new().grow(x.view().into(), 3, &short, &()).unwrap_err().kind();
    assert_eq!(kind, ErrorKind::ShapeMismatch);
    let mut odd = x.clone();
    odd[[4, 2]] = f64::NAN;
    assert_eq!(
        new().grow(odd.view().into(), 3, &links, &()).unwrap_err().kind(),
        ErrorKind::NonFinite
    );
    // Thousands of clusters are no reason to refuse.
    assert_eq!((new().sample_for(30), new().sample_for(4_000)), (SAMPLE, 12_000));
    // Without links, and with one object, there is still something to make.
    let none = Constraints::new(1).unwrap();
    let one = new().members(2).grow(x.slice(ndarray::s![..1, ..]).into(), 1, &none, &()).unwrap();
    assert_eq!(one.output.members.len(), 2);
}
