//! Data that the ensembles are made from: sets of features, worlds that are drawn, and pools.

use std::fs::File;
use std::path::Path;

use consilience::core::Stream;
use consilience::ndarray::{Array1, Array2, Axis, Ix1, Ix2, OwnedRepr};
use consilience::{Partition, Result, Seed};
use ndarray_npy::NpzReader;

use crate::Any;

/// At most so many objects of a set.
const OBJECTS: usize = 1000;

/// Features and classes; objects of no class (noise) are unlabelled in the truth.
pub(crate) struct World {
    pub(crate) x: Array2<f64>,
    pub(crate) truth: Partition,
}

/// The sets of features, with how the sizes of their classes are changed: class j keeps `ratio^j`
/// of the first one's objects.
pub(crate) const SETS: [(&str, Option<f64>); 22] = [
    ("usps", None),
    ("usps", Some(0.7)),
    ("usps", Some(0.5)),
    ("letters", None),
    ("letters", Some(0.9)),
    ("letters", Some(0.8)),
    ("mfeat_pix", None),
    ("mfeat_pix", Some(0.7)),
    ("mfeat_pix", Some(0.5)),
    ("segmentation", None),
    ("segmentation", Some(0.7)),
    ("segmentation", Some(0.5)),
    ("yeast", None),
    ("ecoli", None),
    ("balance", None),
    ("ionosphere", None),
    ("credit", None),
    ("voting", None),
    ("mushrooms", None),
    ("soybean_small", None),
    ("promoters", None),
    ("hepatitis", None),
];

/// Worlds that are drawn anew each time: name and number of classes.
pub(crate) const DRAWN: [(&str, usize); 12] = [
    ("moons", 2),
    ("moons", 8),
    ("gauss", 5),
    ("gauss", 20),
    ("unequal", 4),
    ("unequal", 8),
    ("unequal", 16),
    ("rings", 3),
    ("rings", 6),
    ("filaments", 6),
    ("filaments", 14),
    ("noise", 7),
];

/// The set of that name in the folder, without what is missing: the mean of the feature instead.
fn read(folder: &Path, name: &str) -> std::result::Result<(Array2<f64>, Vec<i32>), Any> {
    let mut npz = NpzReader::new(File::open(folder.join(format!("{name}.npz")))?)?;
    let y: Vec<i32> = match npz.by_name::<OwnedRepr<u8>, Ix1>("y") {
        Ok(y) => y.iter().map(|&v| i32::from(v)).collect(),
        Err(_) => npz.by_name::<OwnedRepr<i32>, Ix1>("y")?.to_vec(),
    };
    let mut x: Array2<f64> = match npz.by_name::<OwnedRepr<u8>, Ix2>("x") {
        Ok(x) => x.mapv(f64::from),
        Err(_) => npz.by_name::<OwnedRepr<f32>, Ix2>("x")?.mapv(f64::from),
    };
    for mut column in x.columns_mut() {
        let known: Vec<f64> = column.iter().copied().filter(|v| v.is_finite()).collect();
        let mean = known.iter().sum::<f64>() / known.len().max(1) as f64;
        column.mapv_inplace(|v| if v.is_finite() { v } else { mean });
    }
    Ok((x, y))
}

/// A draw of a set of features.
pub(crate) fn features(
    folder: &Path,
    (name, ratio): (&str, Option<f64>),
    s: &mut Stream,
) -> std::result::Result<World, Any> {
    let (x, y) = read(folder, name)?;
    let chosen = match ratio {
        None => s.sample(y.len(), OBJECTS.min(y.len())),
        Some(ratio) => geometric(&y, ratio, s),
    };
    let truth = Partition::from_labels(&y)?.select(&chosen)?;
    Ok(World { x: x.select(Axis(0), &chosen), truth })
}

/// Objects of each class (in random order) so that class j has `ratio^j` of the first one's, at
/// least six, and about [`OBJECTS`] together.
fn geometric(y: &[i32], ratio: f64, s: &mut Stream) -> Vec<usize> {
    let mut classes: Vec<i32> = y.to_vec();
    classes.sort_unstable();
    classes.dedup();
    s.shuffle(&mut classes);
    let total: f64 = (0..classes.len()).map(|j| ratio.powi(j as i32)).sum();
    let mut out = Vec::new();
    for (j, &class) in classes.iter().enumerate() {
        let mut own: Vec<usize> = (0..y.len()).filter(|&i| y[i] == class).collect();
        s.shuffle(&mut own);
        own.truncate(((OBJECTS as f64 * ratio.powi(j as i32) / total) as usize).max(6));
        out.extend(own);
    }
    out
}

/// Points with their classes while a world is drawn.
#[derive(Default)]
struct Points {
    rows: Vec<f64>,
    labels: Vec<i64>,
}

impl Points {
    fn push(&mut self, row: &[f64], label: i64) {
        self.rows.extend_from_slice(row);
        self.labels.push(label);
    }

    fn world(self) -> Result<World> {
        let n = self.labels.len();
        let x = Array2::from_shape_vec((n, self.rows.len() / n), self.rows).unwrap_or_default();
        Ok(World { x, truth: Partition::from_labels(&self.labels)? })
    }
}

/// A world of k classes by its name.
pub(crate) fn drawn(name: &str, k: usize, s: &mut Stream) -> Result<World> {
    let mut points = Points::default();
    match name {
        "moons" => moons(k, s, &mut points),
        "gauss" => gaussians(&vec![1.0; k], 2.2, s, &mut points),
        "unequal" => {
            let ratio = 0.06_f64.powf(1.0 / k as f64);
            let shares: Vec<f64> = (0..k).map(|j| ratio.powi(j as i32)).collect();
            gaussians(&shares, 2.0, s, &mut points);
        }
        "rings" => rings(k, s, &mut points),
        "filaments" => filaments(k, s, &mut points),
        _ => {
            gaussians(&vec![1.0; k], 2.5, s, &mut points);
            for _ in 0..points.labels.len() / 5 {
                let row: Vec<f64> = (0..6).map(|_| 14.0 * (s.uniform() - 0.5)).collect();
                points.push(&row, -1);
            }
        }
    }
    points.world()
}

fn moons(k: usize, s: &mut Stream, points: &mut Points) {
    let each = 900 / k;
    for c in 0..k {
        let (column, up) = ((c / 2) as f64, c % 2 == 0);
        for _ in 0..each {
            let turn = std::f64::consts::PI * s.uniform();
            let (x, y) =
                if up { (turn.cos(), turn.sin()) } else { (1.0 - turn.cos(), 0.4 - turn.sin()) };
            let (dx, dy) = (0.12 * s.normal(), 0.12 * s.normal());
            points.push(
                &[x + 3.2 * (column % 2.0) + dx, y + 2.6 * (column / 2.0).floor() + dy],
                c as i64,
            );
        }
    }
}

/// Gaussians of unlike spread in six dimensions.
fn gaussians(shares: &[f64], apart: f64, s: &mut Stream, points: &mut Points) {
    let total: f64 = shares.iter().sum();
    for (c, share) in shares.iter().enumerate() {
        let centre: Vec<f64> = (0..6).map(|_| apart * s.normal()).collect();
        let spread = 0.5 + 1.2 * s.uniform();
        for _ in 0..((900.0 * share / total) as usize).max(6) {
            let row: Vec<f64> = centre.iter().map(|m| m + spread * s.normal()).collect();
            points.push(&row, c as i64);
        }
    }
}

/// Rings around one centre, of as many objects each as they are long.
fn rings(k: usize, s: &mut Stream, points: &mut Points) {
    for c in 0..k {
        let radius = 1.0 + c as f64;
        for _ in 0..(1800 * (c + 1) / (k * (k + 1))).max(20) {
            let turn = std::f64::consts::TAU * s.uniform();
            let r = radius + 0.13 * s.normal();
            points.push(&[r * turn.cos(), r * turn.sin()], c as i64);
        }
    }
}

/// Smooth curves at random places of a cube.
fn filaments(k: usize, s: &mut Stream, points: &mut Points) {
    let side = 1.6 * (k as f64).powf(1.0 / 3.0);
    for c in 0..k {
        let mut place: Vec<f64> = (0..3).map(|_| side * s.uniform()).collect();
        let mut heading: Vec<f64> = (0..3).map(|_| s.normal()).collect();
        let each = 450 / k + s.below(900 / k);
        for _ in 0..each {
            heading.iter_mut().for_each(|h| *h += 0.25 * s.normal());
            let norm = heading.iter().map(|h| h * h).sum::<f64>().sqrt();
            heading.iter_mut().for_each(|h| *h /= norm);
            place.iter_mut().zip(&heading).for_each(|(p, h)| *p += 2.5 / each as f64 * h);
            let row: Vec<f64> = place.iter().map(|p| p + 0.07 * s.normal()).collect();
            points.push(&row, c as i64);
        }
    }
}

/// A pool: labels of its members and the truth.
pub(crate) fn pool(
    folder: &Path,
    name: &str,
) -> std::result::Result<(Array2<u8>, Array1<i32>), Any> {
    let mut npz = NpzReader::new(File::open(folder.join(format!("{name}.npz")))?)?;
    let truth = match npz.by_name::<OwnedRepr<u8>, Ix1>("truth") {
        Ok(t) => t.mapv(i32::from),
        Err(_) => npz.by_name::<OwnedRepr<i32>, Ix1>("truth")?,
    };
    Ok((npz.by_name("labels")?, truth))
}

/// The stream of one draw.
pub(crate) fn stream(group: &str, draw: u64) -> Stream {
    Seed(20).derive(group, draw).stream()
}
