//! Groups of ensembles: one source of data and one way of making members each.

use std::path::PathBuf;

use consilience::core::{BaseClusterer, Linkage};
use consilience::generate::{Agglomerative, Generator, KMeans, Scale, Spectral, USpec};
use consilience::ndarray::Array2;
use consilience::{Ensemble, Partition, Result, Seed};

use crate::worlds::{self, DRAWN, SETS, World};
use crate::{Any, reference};

/// Numbers of members, one for each draw.
pub(crate) const MEMBERS: [usize; 3] = [10, 20, 50];
/// At most so many objects of a pool.
const OBJECTS: usize = 1200;
const POOLS: [&str; 9] = ["Caltech20", "FCT", "IS", "LS", "MF", "PD", "Semeion", "Texture", "VS"];

/// Where the data of a group come from.
#[derive(Clone)]
enum Source {
    Pool(PathBuf, &'static str),
    Features(PathBuf, (&'static str, Option<f64>)),
    Drawn(&'static str, usize),
}

/// How the members are made.
#[derive(Clone, Copy, Debug)]
enum Way {
    /// Drawn from a pool.
    Pool,
    /// k-means with random numbers of clusters.
    KMeans,
    /// k-means on random halves of the features and four fifths of the objects.
    Parts,
    /// Approximate spectral clustering.
    USpec,
    /// k-means, spectral clustering and average linkage together.
    Mixed,
}

/// One source and one way.
pub(crate) struct Group {
    pub(crate) name: String,
    source: Source,
    way: Way,
}

/// An ensemble with its truth.
pub(crate) struct Case {
    pub(crate) ensemble: Ensemble,
    pub(crate) truth: Partition,
}

/// All groups whose data are there.
pub(crate) fn all() -> Vec<Group> {
    let mut out = Vec::new();
    let (pools, features) = (reference::folder("pools"), reference::folder("features"));
    if pools.is_dir() {
        out.extend(POOLS.map(|name| Group {
            name: format!("pool {name}"),
            source: Source::Pool(pools.clone(), name),
            way: Way::Pool,
        }));
    }
    let ways = [Way::KMeans, Way::Parts, Way::USpec, Way::Mixed];
    if features.is_dir() {
        for (i, &(name, ratio)) in SETS.iter().enumerate() {
            let title = ratio.map_or(name.to_string(), |r| format!("{name} x{r}"));
            // Two of the four ways for each set, in turn.
            for way in [ways[i % 2], ways[2 + (i / 2) % 2]] {
                let name = format!("{title} {way:?}");
                out.push(Group { name, source: Source::Features(features.clone(), SETS[i]), way });
            }
        }
    }
    for (i, &(name, k)) in DRAWN.iter().enumerate() {
        for way in [ways[i % 3], Way::Mixed] {
            let title = format!("{name}{k} {way:?}");
            out.push(Group { name: title, source: Source::Drawn(name, k), way });
        }
    }
    out
}

impl Group {
    /// The ensemble of a draw.
    pub(crate) fn case(&self, draw: u64) -> std::result::Result<Case, Any> {
        let mut s = worlds::stream(&self.name, draw);
        let members = MEMBERS[draw as usize % MEMBERS.len()];
        let world = match &self.source {
            Source::Pool(folder, name) => {
                let (labels, truth) = worlds::pool(folder, name)?;
                let columns = s.sample(labels.ncols(), members);
                let objects = s.sample(truth.len(), OBJECTS.min(truth.len()));
                let ensemble = drawn_from(&labels, &columns)?.select_objects(&objects)?;
                let truth = Partition::from_labels(&truth.to_vec())?.select(&objects)?;
                return Ok(Case { ensemble, truth });
            }
            Source::Features(folder, set) => worlds::features(folder, *set, &mut s)?,
            Source::Drawn(name, k) => worlds::drawn(name, *k, &mut s)?,
        };
        let ensemble = self.members(&world, members, Seed(20).derive(&self.name, 1000 + draw))?;
        Ok(Case { ensemble, truth: world.truth })
    }

    fn members(&self, world: &World, m: usize, seed: Seed) -> Result<Ensemble> {
        let most = ((world.x.nrows() as f64).sqrt() * 0.8).clamp(4.0, 50.0) as usize;
        let make = |clusterer: Box<dyn BaseClusterer>, m: usize, parts: bool, seed: Seed| {
            let generator = Generator::boxed(clusterer).members(m).clusters(2..=most).seed(seed);
            let (features, objects) = if parts { (0.5, 0.8) } else { (1.0, 1.0) };
            generator
                .scale(Scale::ZScore)
                .feature_fraction(features)
                .object_fraction(objects)
                .generate(world.x.view())
        };
        match self.way {
            Way::Pool | Way::KMeans => make(Box::new(KMeans::new()), m, false, seed),
            Way::Parts => make(Box::new(KMeans::new()), m, true, seed),
            Way::USpec => {
                let uspec = USpec::new().representatives((world.x.nrows() / 4).clamp(10, 200));
                make(Box::new(uspec.neighbours(4)), m, false, seed)
            }
            Way::Mixed => {
                let kinds: [Box<dyn BaseClusterer>; 3] = [
                    Box::new(KMeans::new()),
                    Box::new(Spectral::new().landmarks(150)),
                    Box::new(Agglomerative::new(Linkage::Average)),
                ];
                let mut all = Vec::new();
                for (i, kind) in kinds.into_iter().enumerate() {
                    let own = (m + i) / 3;
                    let made = make(kind, own, false, seed.derive("kind", i as u64))?;
                    all.extend(made.members().iter().cloned());
                }
                Ensemble::new(all)
            }
        }
    }
}

fn drawn_from(labels: &Array2<u8>, columns: &[usize]) -> Result<Ensemble> {
    let member = |&c: &usize| Partition::from_labels(&labels.column(c).to_vec());
    Ensemble::new(columns.iter().map(member).collect::<Result<_>>()?)
}
