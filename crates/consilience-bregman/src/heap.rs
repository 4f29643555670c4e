//! A priority queue over 0..n whose priorities may change.

/// Children per node: four share a cache line of priorities' numbers.
const ARITY: usize = 4;

/// All numbers `0..n` with a priority each, the largest on top; equal ones by the smaller number.
pub(crate) struct IndexedHeap {
    heap: Vec<(f64, u32)>,
    place: Vec<u32>,
}

impl IndexedHeap {
    pub(crate) fn new(keys: Vec<f64>) -> Self {
        let n = keys.len();
        let heap: Vec<(f64, u32)> = keys.into_iter().zip(0..).collect();
        let mut out = IndexedHeap { heap, place: (0..n as u32).collect() };
        for at in (0..n / ARITY + 1).rev().filter(|&at| at < n) {
            out.sink(at);
        }
        out
    }

    /// The number of largest priority, and the priority.
    pub(crate) fn top(&self) -> Option<(usize, f64)> {
        self.heap.first().map(|&(key, i)| (i as usize, key))
    }

    pub(crate) fn update(&mut self, i: usize, key: f64) {
        let at = self.place[i] as usize;
        let old = std::mem::replace(&mut self.heap[at].0, key);
        if key > old {
            self.rise(at);
        } else if key < old {
            self.sink(at);
        }
    }

    fn before((x, a): (f64, u32), (y, b): (f64, u32)) -> bool {
        x > y || (x == y && a < b)
    }

    fn put(&mut self, at: usize, entry: (f64, u32)) {
        self.heap[at] = entry;
        self.place[entry.1 as usize] = at as u32;
    }

    fn rise(&mut self, mut at: usize) {
        let i = self.heap[at];
        while at > 0 {
            let parent = (at - 1) / ARITY;
            let above = self.heap[parent];
            if !Self::before(i, above) {
                break;
            }
            self.put(at, above);
            at = parent;
        }
        self.put(at, i);
    }

    fn sink(&mut self, mut at: usize) {
        let i = self.heap[at];
        loop {
            let first = ARITY * at + 1;
            if first >= self.heap.len() {
                break;
            }
            let mut best = first;
            for child in first + 1..(first + ARITY).min(self.heap.len()) {
                if Self::before(self.heap[child], self.heap[best]) {
                    best = child;
                }
            }
            let below = self.heap[best];
            if !Self::before(below, i) {
                break;
            }
            self.put(at, below);
            at = best;
        }
        self.put(at, i);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use consilience_core::Seed;

    #[test]
    fn the_top_is_always_the_largest() {
        for n in [0, 1, 2, 5, 6, 21, 100] {
            let mut random = Seed(n as u64).stream();
            let mut keys: Vec<f64> = (0..n).map(|_| random.below(10) as f64).collect();
            let mut heap = IndexedHeap::new(keys.clone());
            for _ in 0..300 {
                let best = (0..n).fold(None, |b: Option<usize>, i| match b {
                    Some(b) if keys[b] >= keys[i] => Some(b),
                    _ => Some(i),
                });
                assert_eq!(heap.top(), best.map(|b| (b, keys[b])));
                if n == 0 {
                    break;
                }
                let i = random.below(n);
                keys[i] = random.below(10) as f64 - 3.0;
                heap.update(i, keys[i]);
            }
        }
    }
}
