/// The largest number of clusters that is looked for, however many a member has.
const MOST: usize = 30;

/// Up to how many clusters a number of clusters is looked for where it is not given: `usual`, which
/// follows from the number of microclusters and so falls where members agree better. Where they
/// nearly agree, nine tenths of the objects being in no more than twice as many microclusters as
/// the median member has clusters, and some member has more clusters than `usual`: one more than it
/// has, up to 30.
///
/// `sizes` are the objects of the microclusters, `clusters` the numbers of clusters of the members,
/// of which those without any do not count.
///
/// ```
/// use consilience::graph::most_clusters;
///
/// // Two equal members of 9 clusters leave 9 microclusters, the root of which is 3.
/// assert_eq!(most_clusters(3, [5; 9], [9, 9]), 10);
/// // Nine objects that three members put each into another of 4 clusters.
/// assert_eq!(most_clusters(3, [1; 9], [4, 4, 4]), 3);
/// ```
///
/// # Complexity
/// O(n~ log n~ + M log M).
pub fn most_clusters(
    usual: usize,
    sizes: impl IntoIterator<Item = u64>,
    clusters: impl IntoIterator<Item = usize>,
) -> usize {
    let mut clusters: Vec<usize> = clusters.into_iter().filter(|&k| k > 0).collect();
    clusters.sort_unstable();
    let most = clusters.last().copied().unwrap_or(0);
    if most <= usual {
        return usual;
    }
    // A single member that puts all objects apart is no agreement.
    let median = clusters[(clusters.len() - 1) / 2];
    let agreed = holding(sizes.into_iter().collect()) <= 2 * median;
    if agreed { (most + 1).min(MOST).max(usual) } else { usual }
}

/// How few microclusters hold nine tenths of the objects.
fn holding(mut sizes: Vec<u64>) -> usize {
    sizes.sort_unstable_by(|a, b| b.cmp(a));
    let total: u128 = sizes.iter().map(|&size| u128::from(size)).sum();
    let mut held = 0u128;
    let enough = sizes.iter().position(|&size| {
        held += u128::from(size);
        10 * held >= 9 * total
    });
    enough.map_or(sizes.len(), |at| at + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_as_members_that_nearly_agree_have() {
        // Nine tenths are in twice as many microclusters as the median member has clusters.
        assert_eq!(most_clusters(3, [9, 9, 9, 9, 9, 9, 9, 9, 4, 4], [4, 4, 5]), 6);
        assert_eq!(most_clusters(3, [9, 9, 9, 9, 9, 9, 9, 9, 5, 5], [4, 4, 5]), 3);
        assert_eq!(most_clusters(5, [9; 8], [4, 4, 5]), 5);
        // One member with every object apart, and members that say nothing.
        assert_eq!(most_clusters(2, [1; 6], [2, 2, 6, 0, 0]), 2);
        assert_eq!(most_clusters(2, [1; 6], [6, 6, 0]), 7);
        assert_eq!(most_clusters(2, [], []), 2);
        assert_eq!(most_clusters(9, [3; 70], [70, 70]), 30);
        assert_eq!(most_clusters(40, [3; 70], [70, 70]), 40);
        assert_eq!(most_clusters(1, [1 << 53], [2]), 3);
    }
}
