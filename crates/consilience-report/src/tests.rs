use consilience_conformance::planted;
use consilience_consensus::{EvidenceAccumulation, Lwea};
use consilience_core::{Ensemble, Member, Partition, Seed, SparseMemberships};
use consilience_trust::Diagnostics;
use ndarray::Array2;

use crate::{Candidate, ClusteringReport};

/// Members of three planted clusters, every second of which is unsure.
fn soft() -> Ensemble {
    let world = planted(Seed(3), &[20, 15, 10], 6, 0.2, 0.1).unwrap();
    let mut members: Vec<Member> = Vec::new();
    for (u, member) in world.ensemble.members().iter().enumerate() {
        if u % 2 == 0 {
            members.push(member.clone().into());
            continue;
        }
        let k = member.n_clusters();
        let mut shares = Array2::<f64>::zeros((member.n_objects(), k));
        for (i, label) in member.iter().enumerate() {
            if let Some(l) = label {
                shares[[i, l]] += 0.75;
                shares[[i, (l + 1) % k]] += 0.25;
            }
        }
        members.push(SparseMemberships::from_array(shares.view()).unwrap().into());
    }
    Ensemble::mixed(members).unwrap()
}

#[test]
fn members_that_are_unsure_or_weighed_have_their_page() {
    let soft = soft();
    assert!(soft.is_soft());
    let weighed = soft.clone().with_weights(vec![2.0, 1.0, 0.0, 0.5, 1.0, 1.0]).unwrap();
    for (e, compared) in [(&soft, vec![0, 1, 2, 3, 4, 5]), (&weighed, vec![0, 1, 3, 4, 5])] {
        let findings = ClusteringReport::new(e).run(&()).unwrap();
        let trust = Diagnostics::of(&e.hardened(), &findings.partition).unwrap();
        assert_eq!(findings.answer.anmi, trust.anmi);
        assert_eq!(findings.answer.sentences, trust.sentences);
        let members = &findings.members;
        assert_eq!((members.members.len(), &members.compared), (6, &compared));
        assert_eq!(members.agreement.len(), compared.len());
        for (at, row) in members.agreement.iter().enumerate() {
            assert!((row[at].unwrap() - 1.0).abs() < 1e-12);
        }
        assert!(findings.html().ends_with("</html>\n"));
    }
}

/// A member of weight 0 changes nothing but the table of the members.
#[test]
fn a_member_of_weight_zero_is_listed_alone() {
    let all = planted(Seed(5), &[20, 15, 10], 5, 0.2, 0.1).unwrap().ensemble;
    let silenced = all.clone().with_weights(vec![1.0, 0.0, 1.0, 1.0, 1.0]).unwrap();
    let without = all.select(&[0, 2, 3, 4]).unwrap();
    let [a, b] =
        [&silenced, &without].map(|e| ClusteringReport::new(e).clusters(3).run(&()).unwrap());
    assert_eq!(a.partition, b.partition);
    assert_eq!((&a.clusters, &a.co_association), (&b.clusters, &b.co_association));
    assert_eq!(
        (&a.members.compared, &a.members.agreement),
        (&vec![0, 2, 3, 4], &b.members.agreement)
    );
    assert_eq!(a.members.members[1].with_result, None);
    assert_eq!(a.members.members[2].with_result, b.members.members[1].with_result);
}

fn labels(n: usize, of: impl Fn(usize) -> usize) -> Partition {
    Partition::from_labels(&(0..n).map(of).collect::<Vec<_>>()).unwrap()
}

#[test]
fn equal_members_are_found_again_and_nobody_hesitates() {
    let e = Ensemble::new(vec![labels(90, |i| i % 9); 6]).unwrap();
    let findings = ClusteringReport::new(&e).run(&()).unwrap();
    assert_eq!((findings.answer.clusters, findings.number.range), (9, (9, 9)));
    let page = findings.html();
    assert!(page.contains("<p>9 clusters.</p>") && !page.contains("all criteria choose"));
    assert!(page.contains("No object hesitates") && !page.contains("Objects that hesitate"));
    assert!(findings.answer.verdict.contains("100 % of the objects"));
    // Two distinct rows: there is one number to try.
    let e = Ensemble::new(vec![labels(90, |i| i % 2); 6]).unwrap();
    let findings = ClusteringReport::new(&e).run(&()).unwrap();
    assert!(findings.html().contains("2 clusters; no other number was tried."));
}

#[test]
fn ties_are_undecided() {
    // The first of 41 objects is half way between two clusters; nobody labels another.
    let member = |first: usize| {
        Partition::from_fn(42, |i| match i {
            0 => Some(first as u64),
            41 => None,
            _ => Some(u64::from(i > 20)),
        })
        .unwrap()
    };
    let e = Ensemble::new([0, 0, 1, 1].map(member).to_vec()).unwrap();
    let answer = ClusteringReport::new(&e).clusters(2).run(&()).unwrap().answer;
    assert_eq!((answer.labelled, answer.undecided), (41, 1));
    assert!(answer.verdict.contains("98 % of the labelled objects"), "{}", answer.verdict);
}

/// Few of many objects are in the sample, and the answer is about all.
#[test]
fn a_sample_is_not_taken_for_the_answer() {
    // Five objects are alone for every member.
    let mut stream = Seed(3).stream();
    let n = 2_505;
    let mut members = Vec::new();
    for _ in 0..8 {
        let labels: Vec<usize> =
            (0..n).map(|i| if i < n - 5 { stream.below(30) } else { i }).collect();
        members.push(Partition::from_labels(&labels).unwrap());
    }
    let e = Ensemble::new(members).unwrap();
    let eac = Candidate::new("eac", |k| Ok(Box::new(EvidenceAccumulation::new(k))))
        .tree(|k| Ok(Box::new(EvidenceAccumulation::new(k))));
    let report = ClusteringReport::new(&e).clusters(6).methods(vec![eac]);
    let mut findings = report.run(&()).unwrap();
    assert_eq!(findings.answer.clusters, 6);
    assert_eq!(findings.methods.candidates[0].clusters, Some(6));
    let mut tree = findings.tree.take().unwrap();
    assert!(tree.is_answer && findings.methods.sampled);
    // As it is with more microclusters.
    (tree.is_answer, tree.sampled) = (false, true);
    findings.tree = Some(tree);
    let page = findings.html();
    assert!(page.contains("The answer was cut from a tree of all objects, by eac; this is that"));
    assert!(!page.contains("cuts no tree"));
}

#[test]
fn pictures_that_leave_something_out_say_so() {
    let world = planted(Seed(2), &[2; 110], 70, 0.0, 0.1).unwrap();
    let features = Array2::from_shape_fn((220, 2), |(i, j)| (i * (j + 1) % 17) as f64);
    let lwea = Candidate::new("lwea", |k| Ok(Box::new(Lwea::new(k))));
    let report = ClusteringReport::new(&world.ensemble).clusters(110).methods(vec![lwea]);
    let findings = report.features(&features).run(&()).unwrap();
    let clusters = findings.answer.clusters;
    assert!(clusters > 100);
    let page = findings.html();
    let told = format!("The first 60 of {clusters} clusters. 60 of 70 members.");
    assert!(page.contains(&told), "{told}");
    assert!(page.contains(&format!("The first 100 of {clusters} clusters.")));
}
