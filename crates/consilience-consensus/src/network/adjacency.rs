use super::Edge;

/// The edges of each node: the other end, and what comes with it.
pub(super) struct Adjacency<T> {
    start: Vec<usize>,
    neighbours: Vec<(u32, T)>,
}

impl<T: Copy + Default> Adjacency<T> {
    /// Of the edges that `value` gives one.
    pub(super) fn of(
        nodes: usize,
        edges: &[Edge],
        value: impl Fn(usize, &Edge) -> Option<T>,
    ) -> Self {
        let kept =
            || edges.iter().enumerate().filter_map(|(e, edge)| Some((edge, value(e, edge)?)));
        let mut start = vec![0; nodes + 1];
        for (edge, _) in kept() {
            edge.ends.iter().for_each(|&end| start[end as usize + 1] += 1);
        }
        for i in 1..start.len() {
            start[i] += start[i - 1];
        }
        let mut neighbours = vec![(0, T::default()); start[nodes]];
        let mut next = start.clone();
        for (edge, value) in kept() {
            let [a, b] = edge.ends;
            for (from, to) in [(a, b), (b, a)] {
                neighbours[next[from as usize]] = (to, value);
                next[from as usize] += 1;
            }
        }
        Adjacency { start, neighbours }
    }

    pub(super) fn n_nodes(&self) -> usize {
        self.start.len() - 1
    }

    pub(super) fn row(&self, node: usize) -> &[(u32, T)] {
        &self.neighbours[self.start[node]..self.start[node + 1]]
    }
}
