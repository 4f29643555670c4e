use std::cmp::Ordering;

use consilience_core::scores::{Contingency, Normalizer, normalized_mutual_information};
use consilience_core::{
    Accepts, Ensemble, Error, ErrorKind, LabelInt, LabelSlice, MemoryBudget, Objects, Observer,
    Partition, Result, ensure, with_labels,
};
use consilience_num::assignment::max_assignment;
use consilience_num::reduce::try_map_each;
use ndarray::Array2;

/// Objects that the medoid is chosen on by default.
pub(crate) const SAMPLE: usize = 4096;
/// Largest number of common clusters: one value of two bytes is kept for "none of them".
const MAX_CLUSTERS: usize = u16::MAX as usize - 1;

/// The clustering whose clusters all members are aligned to.
///
/// The reference only gives the clusters their numbers; it has no more weight than any other
/// member. With a reference of poor quality the memberships blur, so give it the best consensus you
/// have.
///
/// Chosen by [`WeightUpdaterSetup::reference`](crate::WeightUpdaterSetup::reference).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum AlignmentReference {
    /// Of the members with exactly r clusters the one with the largest mean NMI with all members,
    /// on at most 4,096 evenly spaced objects
    /// ([`reference_objects`](crate::WeightUpdaterSetup::reference_objects)). Where no member has r
    /// clusters, one of those with the closest number, of which the r largest clusters count; the
    /// updater of `consilience-follow` takes the diffusion consensus of these objects instead.
    #[default]
    Medoid,
    /// A clustering of all objects into at most r clusters, for instance a consensus; objects may
    /// be unlabelled.
    Given(Partition),
}

/// For each member a table from its own clusters to the r common ones. The labels themselves stay
/// as they are, one byte per object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Alignment {
    clusters: usize,
    /// One entry per cluster of the member and a last one for "unlabelled";
    /// [`Alignment::unlabelled`] where the cluster is none of the common ones.
    tables: Vec<Vec<u16>>,
}

impl Alignment {
    pub(crate) fn of(
        ensemble: &Ensemble,
        clusters: usize,
        reference: &AlignmentReference,
        sample: usize,
        budget: MemoryBudget,
        observer: &dyn Observer,
    ) -> Result<Self> {
        ensemble.check_clusters(clusters)?;
        ensemble.check_accepted("the updater", Accepts::LABELS)?;
        if clusters > MAX_CLUSTERS {
            return Err(Error::new(
                ErrorKind::TooLarge,
                format!("{clusters} common clusters; at most {MAX_CLUSTERS} are supported"),
            ));
        }
        let largest;
        let reference = match reference {
            AlignmentReference::Given(p) => {
                check_reference(p, ensemble.n_objects(), clusters)?;
                p
            }
            AlignmentReference::Medoid => {
                let numbers = ensemble.members().iter().map(Partition::n_clusters);
                let closest = numbers.min_by_key(|&k| (k.abs_diff(clusters), k)).unwrap_or(0);
                let few = Ensemble::new(ensemble.members().to_vec())?
                    .select_objects(&evenly_within(ensemble, sample, budget)?)?;
                let medoid = &ensemble.members()[medoid(ensemble, &few, closest, observer)?];
                if closest > clusters {
                    largest = largest_clusters(medoid, ensemble.counts(), clusters)?;
                    &largest
                } else {
                    medoid
                }
            }
        };
        let mut alignment = Alignment { clusters, tables: Vec::new() };
        let numbers: Vec<u16> = (0..clusters as u16).collect();
        let to = (reference, &numbers[..]);
        alignment.tables =
            alignment.match_members(ensemble, ensemble.members(), to, budget, observer)?;
        Ok(alignment)
    }

    /// The tables of members aligned to a clustering of all objects of the ensemble, whose clusters
    /// have the given common numbers.
    pub(crate) fn match_members(
        &self,
        ensemble: &Ensemble,
        members: &[Partition],
        (reference, numbers): (&Partition, &[u16]),
        budget: MemoryBudget,
        observer: &dyn Observer,
    ) -> Result<Vec<Vec<u16>>> {
        let of_member = |u: usize| -> Result<Vec<u16>> {
            observer.check()?;
            let (member, overlaps) = (&members[u], "overlaps with the reference");
            budget.check_table(overlaps, member.n_clusters(), self.clusters, 24)?;
            let cells = match Contingency::with_counts(member, reference, ensemble.counts()) {
                Ok(cells) => Some(cells),
                // The two share no labelled object.
                Err(error) if error.kind() == ErrorKind::Empty => None,
                Err(error) => return Err(error),
            };
            Ok(table(member.n_clusters(), cells, numbers, self.clusters))
        };
        try_map_each(members.len(), &of_member)
    }

    pub(crate) fn push(&mut self, table: Vec<u16>) {
        self.tables.push(table);
    }

    pub(crate) fn from_tables(clusters: usize, tables: Vec<Vec<u16>>) -> Self {
        Alignment { clusters, tables }
    }

    pub(crate) fn remove(&mut self, member: usize) {
        self.tables.remove(member);
    }

    /// Number of common clusters, r.
    pub(crate) fn clusters(&self) -> usize {
        self.clusters
    }

    /// The entry of a cluster that matches none of the common ones, and of unlabelled objects: r.
    pub(crate) fn unlabelled(&self) -> u16 {
        self.clusters as u16
    }

    /// The common cluster of each cluster of a member, and a last entry for unlabelled objects.
    pub(crate) fn table(&self, member: usize) -> &[u16] {
        &self.tables[member]
    }

    /// Writes down the common clusters of some objects by one member.
    pub(crate) fn gather(
        &self,
        ensemble: &Ensemble,
        member: usize,
        objects: &[u32],
        out: &mut [u16],
    ) {
        let table = &self.tables[member][..];
        let last = table.len() - 1;
        let labels = ensemble.members()[member].labels();
        if let LabelSlice::U8(labels) = labels {
            // Every byte has an entry, so that only the object is checked.
            let mut all = [self.unlabelled(); 256];
            all[..last].copy_from_slice(&table[..last]);
            for (o, &i) in out.iter_mut().zip(objects) {
                *o = all[labels[i as usize] as usize];
            }
            return;
        }
        with_labels!(labels, |labels| {
            for (o, &i) in out.iter_mut().zip(objects) {
                // "Unlabelled" is the largest value of its type, so that this is one comparison.
                *o = table[labels[i as usize].index().min(last)];
            }
        });
    }
}

/// As [`evenly`], where the list and the labels of these objects fit the memory: rows with counts
/// stand for more objects than there may be room for.
#[doc(hidden)]
pub fn evenly_within(
    ensemble: &Ensemble,
    count: usize,
    budget: MemoryBudget,
) -> Result<Vec<usize>> {
    let width = |member: &Partition| match member.labels() {
        LabelSlice::U8(_) => 1,
        LabelSlice::U16(_) => 2,
        LabelSlice::U32(_) => 4,
    };
    let bytes: usize = ensemble.members().iter().map(width).sum();
    let picked = (count as u64).min(ensemble.total_count()) as usize;
    budget.check_table("labels of evenly spaced objects", picked, 8 + bytes, 1)?;
    Ok(evenly(ensemble, count))
}

/// `count` objects at equal distances, or all. A row that stands for many objects comes as often
/// as they would.
#[doc(hidden)]
pub fn evenly(ensemble: &Ensemble, count: usize) -> Vec<usize> {
    Objects::of_ensemble(ensemble).evenly(count)
}

pub(crate) fn check_reference(p: &Partition, objects: usize, clusters: usize) -> Result<()> {
    ensure!(
        p.n_objects() == objects,
        shape("a reference of {} objects for {objects}", p.n_objects())
    );
    ensure!(
        p.n_clusters() > 0 && p.n_clusters() <= clusters,
        invalid("a reference of {} clusters; expected 1..={clusters}", p.n_clusters())
    );
    Ok(())
}

/// A clustering whose other clusters than the largest are unlabelled; the lowest of equals stay.
fn largest_clusters(p: &Partition, counts: Option<&[u64]>, count: usize) -> Result<Partition> {
    let mut sizes = vec![0; p.n_clusters()];
    for (i, label) in p.iter().enumerate() {
        if let Some(c) = label {
            sizes[c] += counts.map_or(1, |counts| counts[i]);
        }
    }
    let mut order: Vec<usize> = (0..sizes.len()).collect();
    order.sort_by_key(|&c| (std::cmp::Reverse(sizes[c]), c));
    let mut kept = vec![false; sizes.len()];
    order.iter().take(count).for_each(|&c| kept[c] = true);
    Partition::from_fn(p.n_objects(), |i| p.label(i).filter(|&c| kept[c]).map(|c| c as u64))
}

/// Of the members with so many clusters, of which there are some, the one that agrees most with
/// all. Neither the order of the members nor the rounding of sums decides: equal agreement is
/// decided by the labels.
fn medoid(
    ensemble: &Ensemble,
    sample: &Ensemble,
    clusters: usize,
    observer: &dyn Observer,
) -> Result<usize> {
    let members = sample.members();
    let candidates: Vec<usize> =
        (0..members.len()).filter(|&u| ensemble.members()[u].n_clusters() == clusters).collect();
    let score = |at: usize| -> Result<f64> {
        observer.check()?;
        // Where two members share no labelled object they do not agree.
        let own = &members[candidates[at]];
        let nmi =
            |v: &Partition| normalized_mutual_information(own, v, Normalizer::Max).unwrap_or(0.0);
        let mut all: Vec<f64> = members.iter().map(nmi).collect();
        all.sort_unstable_by(f64::total_cmp);
        Ok(all.iter().sum())
    };
    let scores = try_map_each(candidates.len(), &score)?;
    let better = |a: usize, b: usize| {
        let labels = |at: usize| members[candidates[at]].iter();
        scores[a].total_cmp(&scores[b]).then_with(|| labels(b).cmp(labels(a)))
    };
    let best =
        (0..candidates.len()).reduce(|a, b| if better(b, a) == Ordering::Greater { b } else { a });
    Ok(best.map_or(0, |b| candidates[b]))
}

/// The common cluster of each cluster of a member: one to one so that the two agree on most
/// objects; clusters left over go where most of their objects are, the lowest of equals; clusters
/// that share no object with the reference match none.
fn table(k: usize, cells: Option<Contingency>, numbers: &[u16], clusters: usize) -> Vec<u16> {
    let mut shared = Array2::<f64>::zeros((k, clusters));
    if let Some(cells) = cells {
        cells.cells().for_each(|(a, b, count)| shared[[a, numbers[b] as usize]] = count as f64);
    }
    let matched = max_assignment(shared.view());
    let mut table: Vec<u16> = shared
        .rows()
        .into_iter()
        .zip(matched)
        .map(|(row, matched)| {
            let most = (1..clusters).fold(0, |best, c| if row[c] > row[best] { c } else { best });
            if row[most] == 0.0 { clusters as u16 } else { matched.unwrap_or(most) as u16 }
        })
        .collect();
    table.push(clusters as u16);
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    fn of(e: &Ensemble, clusters: usize, reference: &AlignmentReference) -> Result<Alignment> {
        Alignment::of(e, clusters, reference, SAMPLE, MemoryBudget::default(), &())
    }

    fn aligned(e: &Ensemble, clusters: usize, reference: &AlignmentReference) -> Alignment {
        of(e, clusters, reference).unwrap()
    }

    #[test]
    fn surplus_clusters_go_where_most_of_them_is_and_few_leave_columns_empty() {
        let reference = Partition::from_labels(&[0, 0, 0, 1, 1, 1, 2, 2, -1]).unwrap();
        let e = Ensemble::from_array(
            array![
                [0, 0, 2],
                [0, 0, 2],
                [1, 0, 2],
                [2, 0, 1],
                [2, 0, 1],
                [3, 0, 1],
                [4, 1, 0],
                [4, 1, 0],
                [5, 1, 0]
            ]
            .view(),
        )
        .unwrap();
        let a = aligned(&e, 3, &AlignmentReference::Given(reference));
        // Cluster 5 shares no labelled object with the reference; the last entry is "unlabelled".
        assert_eq!(a.table(0), [0, 0, 1, 1, 2, 3, 3]);
        // Two clusters of three: the larger overlap decides which column stays empty; ties are the
        // solver's.
        assert_eq!(a.table(1)[1..], [2, 3]);
        assert!(a.table(1)[0] < 2);
        assert_eq!(a.table(2), [0, 1, 2, 3]);
        let mut out = [0; 3];
        a.gather(&e, 0, &[8, 0, 5], &mut out);
        assert_eq!(out, [3, 0, 1]);
    }

    #[test]
    fn the_medoid_does_not_depend_on_the_order_of_members() {
        let table = array![[0, 0, 1, 0], [0, 0, 1, 1], [1, 0, 0, 0], [1, 1, 0, 1], [1, 1, 0, 0]];
        let e = Ensemble::from_array(table.view()).unwrap();
        let a = medoid(&e, &e, 2, &()).unwrap();
        assert!(a == 0 || a == 2);
        let reversed = e.select(&[3, 2, 1, 0]).unwrap();
        let b = medoid(&reversed, &reversed, 2, &()).unwrap();
        assert_eq!(e.members()[a], reversed.members()[b]);
        // Without a member of three clusters it is one of two, without one of one cluster the
        // largest cluster of such a one.
        assert_eq!(aligned(&e, 3, &AlignmentReference::Medoid).clusters(), 3);
        let one = aligned(&e, 1, &AlignmentReference::Medoid);
        assert!((0..4).any(|u| one.table(u).contains(&0)));
    }

    #[test]
    fn members_without_labels_have_no_common_cluster() {
        let e = Ensemble::from_array(array![[-1, 0], [-1, 1], [-1, 1]].view()).unwrap();
        let a = aligned(&e, 2, &AlignmentReference::Medoid);
        assert_eq!(a.table(0), [2]);
        let none = Ensemble::from_array(array![[-1], [-1]].view()).unwrap();
        assert_eq!(aligned(&none, 2, &AlignmentReference::Medoid).table(0), [2]);
    }

    #[test]
    fn bad_references_are_refused() {
        let e = Ensemble::from_array(array![[0], [1], [2]].view()).unwrap();
        let given = |labels: &[i32]| {
            let p = Partition::from_labels(labels).unwrap();
            of(&e, 2, &AlignmentReference::Given(p)).unwrap_err().kind()
        };
        assert_eq!(given(&[0, 1]), ErrorKind::ShapeMismatch);
        assert_eq!(given(&[0, 1, 2]), ErrorKind::InvalidParameter);
        assert_eq!(given(&[-1, -1, -1]), ErrorKind::InvalidParameter);
        for clusters in [0, 4] {
            let error = of(&e, clusters, &AlignmentReference::Medoid).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidParameter);
        }
    }
}
