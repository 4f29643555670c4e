//! Planted ensembles from a seed.

/// SplitMix64.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Random(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// In [0, 1).
    pub(crate) fn uniform(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    pub(crate) fn below(&mut self, n: usize) -> usize {
        (self.uniform() * n as f64) as usize
    }

    /// About normal: twelve uniforms.
    pub(crate) fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.uniform()).sum::<f64>() - 6.0
    }
}

/// Members over objects with planted classes.
pub(crate) struct World {
    pub(crate) members: Vec<Vec<Option<usize>>>,
    pub(crate) truth: Vec<usize>,
    pub(crate) classes: usize,
}

/// What a world is made of.
#[derive(Clone, Copy)]
pub(crate) struct Plan {
    pub(crate) objects: usize,
    pub(crate) classes: usize,
    pub(crate) members: usize,
    /// Clusters that a member may have beside one for each class.
    pub(crate) more: usize,
    /// Share of labels that say nothing.
    pub(crate) noise: f64,
    /// Share of labels that are missing.
    pub(crate) missing: f64,
}

impl Plan {
    /// Classes of falling size; each member splits some of them and errs at random.
    pub(crate) fn world(&self, seed: u64) -> World {
        let mut random = Random::new(seed);
        let truth: Vec<usize> = (0..self.objects)
            .map(|_| {
                let r = random.uniform();
                ((self.classes as f64 * r * (0.6 + 0.4 * r)) as usize).min(self.classes - 1)
            })
            .collect();
        let member = |u: usize, random: &mut Random| {
            let k = self.classes + if self.more == 0 { 0 } else { u % (self.more + 1) };
            let own = |t: usize, half: bool| {
                if half && t + self.classes < k { t + self.classes } else { t }
            };
            let label = |&t: &usize| {
                let (missing, noise) = (random.uniform(), random.uniform());
                let (half, any) = (random.uniform() < 0.5, random.below(k));
                let label = if noise < self.noise { any } else { own(t, half) };
                (missing >= self.missing).then_some(label)
            };
            numbered(truth.iter().map(label).collect())
        };
        let members = (0..self.members).map(|u| member(u, &mut random)).collect();
        World { members, truth, classes: self.classes }
    }
}

/// Labels numbered by first object, so that a reader who numbers them so finds the same clusters.
fn numbered(labels: Vec<Option<usize>>) -> Vec<Option<usize>> {
    let mut seen: Vec<usize> = Vec::new();
    for l in labels.iter().flatten() {
        if !seen.contains(l) {
            seen.push(*l);
        }
    }
    labels.iter().map(|l| l.and_then(|l| seen.iter().position(|&s| s == l))).collect()
}

impl World {
    pub(crate) fn objects(&self) -> usize {
        self.truth.len()
    }

    /// All labels of one object.
    pub(crate) fn row(&self, i: usize) -> Vec<Option<usize>> {
        self.members.iter().map(|m| m[i]).collect()
    }

    /// (member, label) of every cluster that has an object.
    pub(crate) fn clusters(&self) -> Vec<(usize, usize)> {
        let mut out = Vec::new();
        for (u, member) in self.members.iter().enumerate() {
            let largest = member.iter().flatten().max().map_or(0, |m| m + 1);
            out.extend((0..largest).filter(|&l| member.contains(&Some(l))).map(|l| (u, l)));
        }
        out
    }

    /// Objects of a cluster.
    pub(crate) fn inside(&self, (u, l): (usize, usize)) -> Vec<usize> {
        (0..self.objects()).filter(|&i| self.members[u][i] == Some(l)).collect()
    }

    /// Share of the members that label both which put both together.
    pub(crate) fn together(&self, i: usize, j: usize) -> f64 {
        let both = self.members.iter().filter(|m| m[i].is_some() && m[j].is_some());
        let (same, all) =
            both.fold((0.0, 0.0), |(s, a), m| (s + f64::from(u8::from(m[i] == m[j])), a + 1.0));
        if all > 0.0 { same / all } else { 0.0 }
    }
}
