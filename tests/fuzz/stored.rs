//! What the feature `serde` stores, as JSON and in bytes.

use std::fmt::Debug;

use consilience::crowd::{Answers, CrowdClustering, CrowdResult, GroupAnswer};
use consilience::generate::{KMeans, KMeansClusters};
use consilience::metric::LinearMap;
use consilience::model::{ConsensusClustering, ConsensusModel};
use consilience::ndarray::{Array2, array};
use consilience::scores::Scores;
use consilience::{
    Constraints, Dendrogram, Ensemble, Error, Link, Memberships, Partition, Result, Seed,
};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::driver::{Target, Verdict};

/// Damages what is stored in both ways, and uses what is taken nevertheless: what it stores again
/// is the same value.
fn attack<T>(name: &str, value: &T, used: impl Fn(&T) -> Result<()> + Sync)
where
    T: Serialize + DeserializeOwned + Debug,
{
    let told = |error: &dyn std::fmt::Display| Err(Error::invalid(error.to_string()));
    let again = |value: &T| -> Verdict {
        let bytes = postcard::to_stdvec(value).expect("what was taken is stored");
        let back: T = postcard::from_bytes(&bytes).expect("what was stored is taken");
        assert_eq!(postcard::to_stdvec(&back).unwrap(), bytes);
        used(value)
    };
    let bytes = postcard::to_stdvec(value).unwrap();
    let read = |bytes: &[u8]| match postcard::from_bytes::<T>(bytes) {
        Ok(value) => again(&value),
        Err(error) => told(&error),
    };
    Target::new(&format!("{name}, postcard"), vec![bytes], read).attack(4_000);
    let text = serde_json::to_vec(value).unwrap();
    let read = |bytes: &[u8]| match serde_json::from_slice::<T>(bytes) {
        Ok(value) => again(&value),
        Err(error) => told(&error),
    };
    Target::new(&format!("{name}, JSON"), vec![text], read).attack(4_000);
}

fn table() -> Array2<f64> {
    Array2::from_shape_fn((30, 2), |(i, j)| (i / 15 * 8 + i * (j + 3) % 7) as f64)
}

fn in_range(p: &Partition) {
    assert_eq!(p.sizes().len(), p.n_clusters());
    assert!(p.iter().flatten().all(|label| label < p.n_clusters()));
}

#[test]
fn stored_labels_survive() {
    let p = Partition::from_labels(&[0, 1, 1, -1, 2, 0]).unwrap();
    attack("partitions", &p, |p| {
        in_range(p);
        Ok(())
    });
    attack("ensembles", &Ensemble::new(vec![p.clone(), p.clone()]).unwrap(), |e| {
        e.members().iter().for_each(in_range);
        assert!(e.members().iter().all(|member| member.n_objects() == e.n_objects()));
        Ok(())
    });
    attack("memberships", &Memberships::from(&p), |m| {
        assert!(m.values().rows().into_iter().all(|row| (row.sum() - 1.0).abs() < 1e-6));
        m.hard().map(drop)
    });
    let tree = Dendrogram::from_merges(4, vec![(0, 1, 0.5), (2, 3, 0.75), (1, 2, 1.0)]).unwrap();
    attack("trees", &tree, |tree| tree.cut(2).map(drop));
}

#[test]
fn stored_results_survive() {
    let a = Partition::from_labels(&[0, 0, 1, 1, 1]).unwrap();
    let b = Partition::from_labels(&[0, 1, 1, 1, 2]).unwrap();
    attack("scores", &Scores::compare(&a, &b).unwrap(), |_| Ok(()));
    let mut said = Constraints::new(6).unwrap();
    said.add(0, 1, Link::Must).unwrap();
    said.add(1, 4, Link::Cannot).unwrap();
    attack("constraints", &said, |said| {
        assert!(said.iter().all(|pair| pair.i < said.n_objects() && pair.j < said.n_objects()));
        Ok(())
    });
    let row = |worker, item, group| GroupAnswer { worker, task: 0, item, group };
    let rows: Vec<GroupAnswer> =
        (0..3).flat_map(|w| (0..6).map(move |i| row(w, i, (i + w / 2) / 3))).collect();
    let answers = Answers::from_groupings(6, &rows).unwrap();
    let result: CrowdResult =
        CrowdClustering::new(2).seed(Seed(1)).fit(&answers, &()).unwrap().output;
    attack("crowds", &result, |result| {
        in_range(&result.partition);
        Ok(())
    });
}

#[test]
fn stored_models_survive() {
    let x = table();
    let map = LinearMap::from_matrix(array![[1.0, 2.0], [0.5, -3.0]]).unwrap();
    attack("linear maps", &map, |map| {
        if map.n_features() == 2 {
            map.apply(x.view())?;
        }
        Ok(())
    });
    let clusters: KMeansClusters = KMeans::new().fit_centres(&x, 3, Seed(1), &()).unwrap().output;
    attack("centres", &clusters, |found| {
        in_range(&found.partition);
        Ok(())
    });
    let model = ConsensusClustering::new(2).cluster(&x).unwrap();
    attack("models", &model, |model: &ConsensusModel| {
        if model.n_features() == 2 {
            let placed = model.place(&x).expect("a model that was accepted places objects");
            assert_eq!(placed.labels.len(), 30);
        }
        Ok(())
    });
}
