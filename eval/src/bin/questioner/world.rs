//! Worlds like embedded texts: classes of several subtopics under topics, unequal sizes, noise
//! along many directions, much of it common to all classes, rows of length 1.

use consilience::{Partition, Result, Seed, Stream};
use ndarray::{Array1, Array2};

/// What a world is made of. Lengths are in units of a class's own direction.
#[derive(Clone, Copy, Debug)]
pub struct World {
    pub name: &'static str,
    pub objects: usize,
    pub classes: usize,
    pub dimensions: usize,
    /// Directions that classes differ in.
    pub latent: usize,
    /// Noise in all directions, of a spectrum that falls as 1 / (j + 5).
    pub noise: f64,
    /// Noise in 8 directions that all classes share, among those that they differ in.
    pub shared: f64,
    /// Noise in 4 directions of each class's own, among those that they differ in.
    pub own: f64,
    /// Subtopics of a class at most, and how far they lie from its centre.
    pub subtopics: usize,
    pub offset: f64,
}

const TEXTS: World = World {
    name: "",
    objects: 10_000,
    classes: 77,
    dimensions: 128,
    latent: 15,
    noise: 0.7,
    shared: 0.9,
    own: 0.5,
    subtopics: 3,
    offset: 1.0,
};

/// k-means has an NMI of about .65 to .7 on all of them.
pub const WORLDS: [World; 3] = [
    World { name: "noise", ..TEXTS },
    World {
        name: "subtopics",
        latent: 14,
        shared: 0.8,
        own: 0.6,
        subtopics: 4,
        offset: 1.2,
        ..TEXTS
    },
    World { name: "both", latent: 13, own: 0.7, subtopics: 4, offset: 1.2, ..TEXTS },
];

/// Classes of a topic on the mean, and how far topics lie apart.
const PER_TOPIC: usize = 5;
const TOPIC: f64 = 0.7;
/// Deviations of the logarithms of the sizes of classes, of their spread, and of an object's noise.
const SIZES: f64 = 0.6;
const SPREAD: f64 = 0.25;
const TAIL: f64 = 0.3;

struct Class {
    size: f64,
    spread: f64,
    own: Vec<Array1<f64>>,
    /// Weights and centres.
    subtopics: Vec<(f64, Array1<f64>)>,
}

impl World {
    /// The rows and their classes.
    pub fn make(&self, seed: Seed) -> Result<(Array2<f64>, Partition)> {
        let mut draw = seed.derive("world", 0).stream();
        let common = self.direction(&mut draw);
        let topics = self.directions(self.classes.div_ceil(PER_TOPIC), &mut draw);
        let classes: Vec<Class> =
            (0..self.classes).map(|_| self.class(&common, &topics, &mut draw)).collect();
        let shared = self.directions(8, &mut draw);
        let sizes: Vec<f64> = classes.iter().map(|c| c.size).collect();
        let spectrum: Vec<f64> = (0..self.dimensions).map(|j| 1.0 / (j as f64 + 5.0)).collect();
        let total: f64 = spectrum.iter().sum();
        let deviations: Vec<f64> =
            spectrum.iter().map(|v| self.noise * (v / total).sqrt()).collect();
        let mut x = Array2::zeros((self.objects, self.dimensions));
        let mut labels = Vec::with_capacity(self.objects);
        for mut row in x.rows_mut() {
            let c = draw.weighted(&sizes).unwrap_or(0);
            let class = &classes[c];
            labels.push(c);
            let weights: Vec<f64> = class.subtopics.iter().map(|s| s.0).collect();
            row += &class.subtopics[draw.weighted(&weights).unwrap_or(0)].1;
            for v in &shared {
                row.scaled_add(self.shared / 8f64.sqrt() * draw.normal(), v);
            }
            for v in &class.own {
                row.scaled_add(self.own / 2.0 * draw.normal(), v);
            }
            let tail = (TAIL * draw.normal()).exp() * class.spread;
            row.iter_mut().zip(&deviations).for_each(|(v, d)| *v += tail * d * draw.normal());
            let length = row.dot(&row).sqrt();
            row /= length;
        }
        Ok((x, Partition::from_labels(&labels)?))
    }

    fn class(&self, common: &Array1<f64>, topics: &[Array1<f64>], draw: &mut Stream) -> Class {
        let topic = &topics[draw.below(topics.len())];
        let base = common + &(topic * TOPIC) + self.direction(draw);
        let count = 1 + draw.below(self.subtopics);
        let offset = if count > 1 { self.offset } else { 0.0 };
        let subtopics = (0..count)
            .map(|_| (0.3 + draw.uniform(), &base + &(self.direction(draw) * offset)))
            .collect();
        Class {
            size: (SIZES * draw.normal()).exp(),
            spread: (SPREAD * draw.normal()).exp(),
            own: self.directions(4, draw),
            subtopics,
        }
    }

    /// Of expected length 1 among the directions that classes differ in.
    fn direction(&self, draw: &mut Stream) -> Array1<f64> {
        let scale = (1.0 / self.latent as f64).sqrt();
        Array1::from_shape_fn(self.dimensions, |j| {
            if j < self.latent { scale * draw.normal() } else { 0.0 }
        })
    }

    fn directions(&self, count: usize, draw: &mut Stream) -> Vec<Array1<f64>> {
        (0..count).map(|_| self.direction(draw)).collect()
    }
}
