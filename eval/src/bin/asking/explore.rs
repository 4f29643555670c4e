//! Farthest-first questions: Explore and Consolidate (Basu, Banerjee, Mooney 2004), and MinMax
//! (Mallapragada, Jin, Jain 2008), which consolidates by the object least like any neighbourhood.

use consilience::ndarray::{Array2, ArrayView1};
use consilience::{Pair, Stream};

/// How the objects to place are chosen once each class has a neighbourhood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    Random,
    MinMax,
}

/// The questions of the scheme, one object after the other.
pub(crate) struct Explore<'a> {
    x: &'a Array2<f64>,
    k: usize,
    next: Next,
    hoods: Vec<Vec<usize>>,
    placed: Vec<bool>,
    /// Squared distance to the nearest object that was placed.
    far: Vec<f64>,
    stream: Stream,
}

impl<'a> Explore<'a> {
    pub(crate) fn new(x: &'a Array2<f64>, k: usize, next: Next, mut stream: Stream) -> Self {
        let first = stream.below(x.nrows());
        let mut out = Explore {
            x,
            k,
            next,
            hoods: vec![vec![first]],
            placed: vec![false; x.nrows()],
            far: vec![f64::INFINITY; x.nrows()],
            stream,
        };
        out.mark(first);
        out
    }

    fn mark(&mut self, i: usize) {
        self.placed[i] = true;
        let row = self.x.row(i);
        for (o, d) in self.far.iter_mut().enumerate() {
            *d = d.min(square(self.x.row(o), row));
        }
    }

    /// Questions about one more object, with their answers; none where all objects are placed.
    pub(crate) fn place(&mut self, same: &mut dyn FnMut(usize, usize) -> bool) -> Vec<Pair> {
        let explored = self.hoods.len() >= self.k;
        let open: Vec<usize> = (0..self.placed.len()).filter(|&i| !self.placed[i]).collect();
        let chosen = if explored && self.next == Next::Random {
            (!open.is_empty()).then(|| open[self.stream.below(open.len())])
        } else {
            open.into_iter().max_by(|&a, &b| self.far[a].total_cmp(&self.far[b]))
        };
        let Some(i) = chosen else { return Vec::new() };
        self.place_object(i, same)
    }

    /// Whether each class has a neighbourhood.
    pub(crate) fn is_explored(&self) -> bool {
        self.hoods.len() >= self.k
    }

    /// The same about an object that is chosen; none where it is placed already.
    pub(crate) fn place_object(
        &mut self,
        i: usize,
        same: &mut dyn FnMut(usize, usize) -> bool,
    ) -> Vec<Pair> {
        if self.placed[i] {
            return Vec::new();
        }
        let near = |hood: &Vec<usize>| {
            let distances = hood.iter().map(|&j| square(self.x.row(i), self.x.row(j)));
            distances.fold(f64::INFINITY, f64::min)
        };
        let mut order: Vec<(f64, usize)> =
            self.hoods.iter().enumerate().map(|(h, hood)| (near(hood), h)).collect();
        order.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let mut said = Vec::new();
        let mut home = None;
        for (_, h) in order {
            let with = self.hoods[h][0];
            if same(i, with) {
                said.push(Pair::must_link(i, with));
                home = Some(h);
                break;
            }
            said.push(Pair::cannot_link(i, with));
        }
        match home {
            Some(h) => self.hoods[h].push(i),
            None => self.hoods.push(vec![i]),
        }
        self.mark(i);
        said
    }
}

pub(crate) fn square(a: ArrayView1<'_, f64>, b: ArrayView1<'_, f64>) -> f64 {
    a.iter().zip(b).map(|(u, v)| (u - v) * (u - v)).sum()
}
