use consilience_conformance::{Planted, planted};
use consilience_core::scores::adjusted_rand;
use consilience_core::{ErrorKind, Link, Pair, Partition, Seed};
use consilience_simplex::stored::{Envelope, write_link};
use ndarray::Array2;

use super::Means;
use crate::{LinkTrust, MapLearner, MemberGrowth, MetricRule, Updater};

fn world() -> Planted {
    planted(Seed(5), &[50, 50, 50, 50], 12, 0.3, 0.0).unwrap()
}

/// Links between random objects, of which this share says the opposite of the truth.
fn noisy(truth: &Partition, count: usize, wrong: f64, seed: u64) -> Vec<Pair> {
    let mut draw = Seed(seed).derive("noisy links", 0).stream();
    let mut links = Vec::new();
    while links.len() < count {
        let (i, j) = (draw.below(truth.n_objects()), draw.below(truth.n_objects()));
        let right = draw.uniform() >= wrong;
        let same = truth.label(i) == truth.label(j);
        if i != j {
            links.push(Pair::new(i, j, if same == right { Link::Must } else { Link::Cannot }));
        }
    }
    links
}

fn ari(updater: &mut Updater, truth: &Partition) -> f64 {
    adjusted_rand(&updater.partition().unwrap(), truth).unwrap()
}

/// Where must-links tie nearly everything together, cannot-links that come later are refused: what
/// is left agrees with itself, and not with the truth.
#[test]
fn disputed_links_are_heard() {
    let world = world();
    let links = noisy(&world.truth, 600, 0.2, 1);
    let mut kept = Updater::new(world.ensemble.clone(), 4).unwrap();
    let mut left_out = kept.clone();
    let mut disputed = Vec::new();
    for batch in links.chunks(100) {
        disputed.extend(kept.update_disputed(batch, &()).unwrap().1);
        let mut known = left_out.constraints().clone();
        let agree = |l: &&Pair| known.add(l.i, l.j, l.link).is_ok();
        let batch: Vec<Pair> = batch.iter().filter(agree).copied().collect();
        left_out.update(&batch).unwrap();
    }
    assert_eq!(kept.constraints(), left_out.constraints());
    assert_eq!(kept.disputed(), disputed);
    assert!(disputed.len() > 50, "{}", disputed.len());
    let with = ari(&mut kept, &world.truth);
    left_out.set_metric_rule(MetricRule::new(4).links(LinkTrust::Hold)).unwrap();
    let held = ari(&mut left_out, &world.truth);
    assert!(with > 0.85 && held < 0.5, "{with} {held}");
    // With those it has read, it says which it did not hold to.
    let read = kept.read_out(&()).unwrap().output;
    let aside = read.links_set_aside();
    assert!(aside.iter().any(|l| disputed.contains(l)), "{} set aside", aside.len());
}

#[test]
fn without_a_dispute_nothing_changes() {
    let world = world();
    let links = noisy(&world.truth, 200, 0.0, 2);
    let mut plain = Updater::new(world.ensemble.clone(), 4).unwrap();
    let mut tolerant = plain.clone();
    for batch in links.chunks(50) {
        let report = plain.update(batch).unwrap();
        assert_eq!(tolerant.update_disputed(batch, &()).unwrap(), (report, Vec::new()));
    }
    assert!(plain.to_bytes() == tolerant.to_bytes());
    assert_eq!(plain.partition().unwrap(), tolerant.partition().unwrap());
}

/// An updater that goes on, one that is stored and resumed before every batch, and one that reads
/// out at the end alone: a metric that follows batch by batch sees the links in the same order.
#[test]
fn stored_and_resumed() {
    let world = world();
    let mut draw = Seed(6).stream();
    let x = Array2::from_shape_fn((200, 4), |(i, j)| {
        f64::from(u8::from(world.truth.label(i) == Some(j))) + 0.4 * draw.normal()
    });
    // Completion takes long at each read-out.
    for (learner, links) in [(MapLearner::LogDet, 240), (MapLearner::Completion, 60)] {
        let mut on = Updater::new(world.ensemble.clone(), 4).unwrap();
        on.set_metric_rule(MetricRule::new(4).learner(learner)).unwrap();
        let (mut stored, mut late) = (on.clone(), on.clone());
        on.open_metric(&()).unwrap();
        for batch in noisy(&world.truth, links, 0.3, 3).chunks(links.min(80)) {
            stored = Updater::from_bytes(&stored.to_bytes(), world.ensemble.clone()).unwrap();
            let told = [&mut on, &mut stored, &mut late].map(|u| u.update_disputed(batch, &()));
            let told = told.map(|told| told.unwrap().1);
            assert!(told[0] == told[1] && told[0] == told[2]);
            assert_eq!(on.read_out(&()).unwrap().output.partition(on.ensemble(), &()).unwrap(), {
                let read = stored.read_out(&()).unwrap().output;
                read.partition(stored.ensemble(), &()).unwrap()
            });
        }
        assert!(on.to_bytes() == stored.to_bytes() && on.disputed() == late.disputed());
        late.open_metric(&()).unwrap();
        let links = |u: &Updater| u.metric().unwrap().links.clone();
        assert_eq!(links(&on), links(&late));
        assert_eq!(links(&on).len(), on.constraints().len() + on.disputed().len());
        let growth = MemberGrowth::new(Means).members(10);
        for updater in [&mut on, &mut stored] {
            updater.grow(x.view().into(), &growth, 0.0, &()).unwrap();
            assert!(ari(updater, &world.truth) > 0.5);
        }
        assert!(on.to_bytes() == stored.to_bytes());
        let resumed = Updater::from_bytes(&on.to_bytes(), world.ensemble.clone()).unwrap();
        assert!(resumed.to_bytes() == on.to_bytes());
    }
}

#[test]
fn what_is_no_dispute_is_refused() {
    let world = world();
    let mut updater = Updater::new(world.ensemble.clone(), 4).unwrap();
    let first = [Pair::must_link(0, 1), Pair::must_link(1, 2), Pair::cannot_link(2, 60)];
    updater.update(&first).unwrap();
    let before = updater.to_bytes();
    for (batch, kind) in [
        ([Pair::must_link(3, 4), Pair::cannot_link(9, 9)], ErrorKind::Contradiction),
        ([Pair::cannot_link(0, 2), Pair::must_link(1, 200)], ErrorKind::OutOfRange),
    ] {
        assert_eq!(updater.update_disputed(&batch, &()).unwrap_err().kind(), kind);
        assert!(updater.to_bytes() == before && updater.disputed().is_empty());
    }
    // Known links and disputes, in either direction, are nothing new.
    let told = [Pair::cannot_link(2, 0), Pair::must_link(60, 0), Pair::cannot_link(0, 2)];
    for expected in [&[Pair::cannot_link(0, 2), Pair::must_link(0, 60)][..], &[]] {
        assert_eq!(updater.update_disputed(&told, &()).unwrap().1, expected);
        assert_eq!(updater.update_disputed(&first, &()).unwrap().1, []);
    }
    assert_eq!(updater.disputed().len(), 2);
    let envelope = Envelope { magic: *b"CNSLSPLX", version: 4 };
    for (after, link) in [
        (3, Pair::must_link(0, 1)),
        (3, Pair::cannot_link(0, 3)),
        (3, Pair::cannot_link(2, 0)),
        (4, Pair::cannot_link(0, 2)),
        (3, Pair::cannot_link(0, 500)),
    ] {
        let mut body = envelope.open(&before).unwrap().to_vec();
        let mut more = consilience_simplex::stored::Writer::default();
        more.u64(after);
        write_link(link, &mut more);
        body.extend(more.into_bytes());
        let open = |body: &[u8]| {
            Updater::from_bytes(&envelope.seal(body), world.ensemble.clone()).map(|_| ())
        };
        assert_eq!(open(&body).unwrap_err().kind(), ErrorKind::Corrupt, "{link:?}");
        assert_eq!(open(&body[..body.len() - 1]).unwrap_err().kind(), ErrorKind::Corrupt);
    }
}
