use consilience_conformance::planted;
use consilience_core::{Ensemble, Member, Seed, SparseMemberships};
use consilience_trust::Diagnostics;
use ndarray::Array2;

use crate::ClusteringReport;

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
