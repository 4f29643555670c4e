//! Links that contradict what was told before them.

use std::collections::BTreeSet;

use consilience_core::{Constraints, Pair, Result};
use consilience_simplex::stored::{Reader, Writer, corrupt, read_link, write_link};

/// Adds a link unless those that are there contradict it; whether it did not.
pub(crate) fn agrees(links: &mut Constraints, Pair { i, j, link }: Pair) -> Result<bool> {
    let said = if i == j { None } else { links.relation(i, j) };
    if said.is_some_and(|said| said != link) {
        return Ok(false);
    }
    links.add(i, j, link)?;
    Ok(true)
}

/// The disputed links of an updater, in the order that they came.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Disputed {
    links: Vec<Pair>,
    /// For each how many links without a dispute came before it.
    after: Vec<usize>,
}

impl Disputed {
    pub(crate) fn links(&self) -> &[Pair] {
        &self.links
    }

    /// All links in the order that they came, where `undisputed` are the others.
    pub(crate) fn among(&self, undisputed: &Constraints) -> Vec<Pair> {
        let mut told = Vec::with_capacity(undisputed.len() + self.links.len());
        let mut disputed = self.links.iter().zip(&self.after).peekable();
        let mut next = |before: usize, told: &mut Vec<Pair>| {
            while let Some((&link, _)) = disputed.next_if(|(_, after)| **after <= before) {
                told.push(link);
            }
        };
        for (t, link) in undisputed.iter().enumerate() {
            next(t, &mut told);
            told.push(link);
        }
        next(undisputed.len(), &mut told);
        told
    }

    /// Cuts a batch into links that can hold together with those before them, and those that
    /// cannot, without such as are known; objects are in ascending order.
    pub(crate) fn divide(
        &self,
        undisputed: &Constraints,
        batch: &[Pair],
    ) -> Result<(Vec<Pair>, Vec<Pair>)> {
        let mut all = undisputed.clone();
        let mut known: BTreeSet<(usize, usize)> = self.links.iter().map(|l| (l.i, l.j)).collect();
        let (mut agreed, mut disputed) = (Vec::new(), Vec::new());
        for &Pair { i, j, link } in batch {
            let pair = Pair::new(i.min(j), i.max(j), link);
            if agrees(&mut all, pair)? {
                agreed.push(pair);
            } else if known.insert((pair.i, pair.j)) {
                disputed.push(pair);
            }
        }
        Ok((agreed, disputed))
    }

    /// Keeps links that came after so many without a dispute.
    pub(crate) fn extend(&mut self, links: &[Pair], after: usize) {
        self.links.extend_from_slice(links);
        self.after.resize(self.links.len(), after);
    }

    /// Nothing, where there are none: a state has as many bytes as before there were any.
    pub(crate) fn write(&self, out: &mut Writer) {
        for (&link, &after) in self.links.iter().zip(&self.after) {
            out.u64(after as u64);
            write_link(link, out);
        }
    }

    /// What [`write`](Disputed::write) wrote, up to the end of the bytes.
    pub(crate) fn read(bytes: &mut Reader<'_>, undisputed: &Constraints) -> Result<Self> {
        let mut disputed = Disputed::default();
        let mut known = BTreeSet::new();
        while bytes.left() > 0 {
            let after = bytes.size()?;
            let link = read_link(bytes)?;
            let last = disputed.after.last().copied().unwrap_or(0);
            let said = undisputed.relation(link.i, link.j);
            let contradicts = link.i < link.j && said.is_some_and(|said| said != link.link);
            if !contradicts
                || !(last..=undisputed.len()).contains(&after)
                || !known.insert((link.i, link.j))
            {
                let (i, j) = (link.i, link.j);
                return Err(corrupt(format!("a disputed link {i}, {j} that is none")));
            }
            disputed.extend(&[link], after);
        }
        Ok(disputed)
    }
}
