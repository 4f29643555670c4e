//! How probable partitions are before anything is said.

/// How probable partitions are before anything is said: the number of clusters uniform, then their
/// sizes, then which objects have these.
pub(super) struct Partitions {
    /// ln 0! to ln objects!.
    pub(super) factorials: Vec<f64>,
}

impl Partitions {
    pub(super) fn of(objects: usize) -> Self {
        let mut factorials = vec![0.0; objects + 1];
        (1..=objects).for_each(|i| factorials[i] = factorials[i - 1] + (i as f64).ln());
        Partitions { factorials }
    }

    /// What a number of clusters adds, which is above 0 where there are objects.
    pub(super) fn number(&self, k: usize) -> f64 {
        let f = &self.factorials;
        if k == 0 { 0.0 } else { f[k - 1] + f[f.len() - 1 - k] + f[k] }
    }

    pub(super) fn log_probability(&self, labels: &[u32]) -> f64 {
        let (f, n) = (&self.factorials, labels.len());
        if n == 0 {
            return 0.0;
        }
        let mut sizes = vec![0; n];
        labels.iter().for_each(|&c| sizes[c as usize] += 1);
        let shapes: f64 = sizes.iter().map(|&s| f[s]).sum();
        let clusters = sizes.iter().filter(|&&s| s > 0).count();
        shapes + self.number(clusters) - f[n - 1] - f[n] - (n as f64).ln()
    }
}
