//! The reference pools: labels, truth, draws of members and published values.
//!
//! They are not part of the project. They are looked for in `$CONSILIENCE_DATA/pools`, then
//! in `../shared/data/pools` beside the checkout; without them the tests say so and pass.
// Every test, benchmark and example compiles this module anew and uses only a part of it.
#![allow(dead_code)]

mod shared_data;

use std::error::Error;
use std::fs::{File, read_to_string};
use std::path::{Path, PathBuf};

use consilience::ndarray::{Array2, Ix1, OwnedRepr};
use consilience::scores::{Normalizer, normalized_mutual_information};
use consilience::{Ensemble, Partition};
use ndarray_npy::NpzReader;
use serde_json::Value;
pub(crate) use shared_data::folder;

/// Many clusterings of one set of objects.
pub(crate) struct Pool {
    pub(crate) name: String,
    /// One column for each clustering.
    pub(crate) labels: Array2<u8>,
    pub(crate) truth: Partition,
    /// The true number of clusters.
    pub(crate) clusters: usize,
    /// Values of the published programs.
    pub(crate) golden: Value,
    /// The columns of each draw.
    pub(crate) draws: Vec<Vec<usize>>,
    folder: PathBuf,
}

impl Pool {
    /// `NAME.npz` and `golden_NAME.json` of the folder.
    pub(crate) fn read(folder: &Path, name: &str) -> Result<Self, Box<dyn Error>> {
        let mut npz = NpzReader::new(File::open(folder.join(format!("{name}.npz")))?)?;
        let truth = match npz.by_name::<OwnedRepr<u8>, Ix1>("truth") {
            Ok(t) => t.mapv(i32::from),
            Err(_) => npz.by_name::<OwnedRepr<i32>, Ix1>("truth")?,
        };
        let truth = Partition::from_labels(&truth.to_vec())?;
        let golden: Value =
            serde_json::from_str(&read_to_string(folder.join(format!("golden_{name}.json")))?)?;
        let draws = golden["draws"].as_array().ok_or("no draws")?;
        Ok(Pool {
            name: name.to_string(),
            labels: npz.by_name("labels")?,
            clusters: truth.n_clusters(),
            truth,
            draws: draws.iter().map(|d| integers(&d["columns"]).collect()).collect(),
            golden,
            folder: folder.to_path_buf(),
        })
    }

    /// These columns as an ensemble.
    pub(crate) fn ensemble(&self, columns: &[usize]) -> Ensemble {
        let member = |&c: &usize| Partition::from_labels(&self.labels.column(c).to_vec()).unwrap();
        Ensemble::new(columns.iter().map(member).collect()).unwrap()
    }

    /// Where we are, the ensemble and the published values, for every draw.
    pub(crate) fn published(&self) -> impl Iterator<Item = (String, Ensemble, &Value)> {
        self.draws.iter().enumerate().map(|(i, columns)| {
            (format!("{} draw {i}", self.name), self.ensemble(columns), &self.golden["draws"][i])
        })
    }

    /// The draws that another tool could do, with its NMI.
    pub(crate) fn peer(&self, tool: &str) -> Vec<(usize, f64)> {
        let peers: Value =
            serde_json::from_str(&read_to_string(self.folder.join("peers.json")).unwrap()).unwrap();
        let results = peers["results"].as_array().unwrap().iter();
        results
            .filter(|r| r["pool"] == self.name.as_str() && r["tool"] == tool)
            .filter_map(|r| Some((r["draw"].as_u64().unwrap() as usize, r["nmi"].as_f64()?)))
            .collect()
    }

    /// NMI with the truth, by the larger entropy.
    pub(crate) fn nmi(&self, found: &Partition) -> f64 {
        normalized_mutual_information(found, &self.truth, Normalizer::Max).unwrap()
    }
}

/// The pools of these names; none, with one line printed, where the folder is missing.
pub(crate) fn pools(names: &[&str]) -> Vec<Pool> {
    let folder = folder("pools");
    if !folder.is_dir() {
        println!("skipped: no reference pools in {}", folder.display());
        return Vec::new();
    }
    let read =
        |name: &&str| Pool::read(&folder, name).unwrap_or_else(|e| panic!("pool {name}: {e}"));
    names.iter().map(read).collect()
}

pub(crate) fn number(value: &Value) -> f64 {
    value.as_f64().unwrap()
}

pub(crate) fn integers(value: &Value) -> impl Iterator<Item = usize> + '_ {
    value.as_array().unwrap().iter().map(|v| v.as_u64().unwrap() as usize)
}

/// A partition written as the list of its labels.
pub(crate) fn partition(value: &Value) -> Partition {
    Partition::from_labels(&integers(value).collect::<Vec<_>>()).unwrap()
}
