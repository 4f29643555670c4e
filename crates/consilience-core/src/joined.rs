use crate::Grouping;

/// Sets of objects that are joined, one object of each standing for it.
#[doc(hidden)]
#[derive(Clone, Debug)]
pub struct Joined(Vec<u32>);

impl Joined {
    /// Each object by itself; there are fewer than 2^32.
    pub fn new(objects: usize) -> Self {
        Joined((0..objects as u32).collect())
    }

    /// The object that stands for its set; the way there is halved.
    #[inline]
    pub fn find(&mut self, object: usize) -> usize {
        let mut at = object;
        while self.0[at] as usize != at {
            self.0[at] = self.0[self.0[at] as usize];
            at = self.0[at] as usize;
        }
        at
    }

    /// Whether they were apart. The first object stands for both.
    #[inline]
    pub fn join(&mut self, i: usize, j: usize) -> bool {
        let (i, j) = (self.find(i), self.find(j));
        self.0[i.max(j)] = i.min(j) as u32;
        i != j
    }

    /// The set that the first object stands for comes under the other.
    #[inline]
    pub fn join_under(&mut self, gone: usize, kept: usize) {
        self.0[gone] = kept as u32;
    }

    /// Where first objects stand for their sets: the number of the set of each object that counts,
    /// by first object, and how many there are.
    pub fn numbers(&mut self, counts: impl Fn(usize) -> bool) -> (Vec<u32>, usize) {
        let mut of_object = vec![Grouping::NONE; self.0.len()];
        let mut sets = 0;
        for i in 0..self.0.len() {
            if !counts(i) {
                continue;
            }
            let root = self.find(i);
            // The first object of the set comes first: it is its root.
            if of_object[root] == Grouping::NONE {
                of_object[root] = sets;
                sets += 1;
            }
            of_object[i] = of_object[root];
        }
        (of_object, sets as usize)
    }
}
