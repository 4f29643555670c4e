//! Objects and the answers between them.

use consilience_core::{Pace, Result, room};

use crate::answer_counts::AnswerCounts;
use crate::answers::Answers;

/// Objects, or clusters of them, and the answers between them.
pub(super) struct Nodes {
    pub(super) sizes: Vec<u32>,
    pub(super) offsets: Vec<usize>,
    pub(super) others: Vec<u32>,
    /// Answers "same", and all answers, with each of the others.
    pub(super) same: Vec<u32>,
    pub(super) all: Vec<u32>,
    /// The same inside the nodes.
    pub(super) inside: [u64; 2],
}

impl Nodes {
    pub(super) fn of(
        answers: &Answers,
        counts: &AnswerCounts,
        pace: &mut Pace<'_>,
    ) -> Result<Self> {
        let answered = answers.answered();
        let entries = 2 * counts.n_pairs();
        let mut nodes = Nodes {
            sizes: room::filled(answered.len(), 1)?,
            offsets: room::with_capacity(answered.len() + 1)?,
            others: room::with_capacity(entries)?,
            same: room::with_capacity(entries)?,
            all: room::with_capacity(entries)?,
            inside: [0; 2],
        };
        nodes.offsets.push(0);
        for &i in answered {
            for (j, count) in counts.row(i as usize) {
                // Whoever was compared is answered.
                if let Ok(place) = answered.binary_search(&(j as u32)) {
                    nodes.others.push(place as u32);
                    nodes.same.push(count.same as u32);
                    nodes.all.push(count.answers as u32);
                }
            }
            nodes.offsets.push(nodes.others.len());
            pace.work(nodes.others.len() - nodes.offsets[nodes.offsets.len() - 2])?;
        }
        Ok(nodes)
    }

    pub(super) fn len(&self) -> usize {
        self.sizes.len()
    }

    pub(super) fn row(&self, i: usize) -> impl Iterator<Item = (usize, [u64; 2])> + '_ {
        let entry = |at: usize| {
            (self.others[at] as usize, [u64::from(self.same[at]), u64::from(self.all[at])])
        };
        (self.offsets[i]..self.offsets[i + 1]).map(entry)
    }

    /// Clusters as nodes; labels are 0 to k - 1.
    pub(super) fn joined(&self, labels: &[u32], k: usize) -> Result<Self> {
        let mut members = vec![Vec::new(); k];
        (0..self.len()).for_each(|i| members[labels[i] as usize].push(i));
        let mut out = Nodes {
            sizes: vec![0; k],
            offsets: vec![0],
            others: Vec::new(),
            same: Vec::new(),
            all: Vec::new(),
            inside: self.inside,
        };
        let mut sums = Sums::new(k)?;
        for (c, own) in members.iter().enumerate() {
            sums.clear();
            for &i in own {
                out.sizes[c] += self.sizes[i];
                self.row(i).for_each(|(j, counts)| sums.add(labels[j] as usize, counts));
            }
            sums.touched.sort_unstable();
            for &d in &sums.touched {
                let [same, all] = sums.of[d];
                if d == c {
                    // From both sides.
                    out.inside[0] += same / 2;
                    out.inside[1] += all / 2;
                } else {
                    out.others.push(d as u32);
                    out.same.push(same as u32);
                    out.all.push(all as u32);
                }
            }
            out.offsets.push(out.others.len());
        }
        Ok(out)
    }
}

/// Answers of one node with every cluster.
pub(super) struct Sums {
    pub(super) of: Vec<[u64; 2]>,
    /// Clusters with answers, in order of the first.
    pub(super) touched: Vec<usize>,
}

impl Sums {
    pub(super) fn new(clusters: usize) -> Result<Self> {
        Ok(Sums { of: room::filled(clusters, [0; 2])?, touched: Vec::new() })
    }

    pub(super) fn clear(&mut self) {
        self.touched.drain(..).for_each(|c| self.of[c] = [0; 2]);
    }

    pub(super) fn add(&mut self, cluster: usize, counts: [u64; 2]) {
        let sum = &mut self.of[cluster];
        if sum[1] == 0 {
            self.touched.push(cluster);
        }
        *sum = plus(*sum, counts);
    }
}

pub(super) fn plus(a: [u64; 2], b: [u64; 2]) -> [u64; 2] {
    [a[0] + b[0], a[1] + b[1]]
}

pub(super) fn minus(a: [u64; 2], b: [u64; 2]) -> [u64; 2] {
    [a[0] - b[0], a[1] - b[1]]
}
