//! Microclusters of a sample of the objects, where there are many.

use consilience_core::{Ensemble, Microclusters, Result, Stream};

/// Some of the microclusters in ascending order, and their rows with how many objects of the sample
/// are in each; all of them where there are no more than `objects`.
pub(crate) fn sampled(
    nodes: &Microclusters,
    objects: usize,
    stream: &mut Stream,
) -> Result<(Vec<usize>, Ensemble)> {
    let rows = nodes.to_ensemble()?;
    let (n, sizes) = (nodes.n_nodes(), nodes.sizes());
    if n <= objects {
        return Ok(((0..n).collect(), rows.with_counts(sizes)?));
    }
    let total: u64 = sizes.iter().sum();
    let (mut chosen, mut counts): (Vec<usize>, Vec<u64>) = (Vec::new(), Vec::new());
    let (mut node, mut end) = (0, sizes[0]);
    for object in stream.sample(total as usize, objects) {
        while end <= object as u64 {
            node += 1;
            end += sizes[node];
        }
        match (chosen.last(), counts.last_mut()) {
            (Some(&last), Some(count)) if last == node => *count += 1,
            _ => {
                chosen.push(node);
                counts.push(1);
            }
        }
    }
    let sample = rows.select_objects(&chosen)?.with_counts(counts)?;
    Ok((chosen, sample))
}
