use std::borrow::Cow;

use consilience_core::{
    Accepts, Constraints, Ensemble, Error, LabelSlice, Pair, Partition, Result,
};
use consilience_num::reduce::map_each;

use crate::alignment::Alignment;
use crate::rules::{AdditiveUpdate, ExactUpdate, MultiplicativeUpdate, PairLoss, UpdateRule};
use crate::stored::{Envelope, Reader, Writer, corrupt, hash, mix, read_link, write_link};
use crate::weight_updater::{Budgets, WeightUpdater};
use crate::weights::Weights;

const ENVELOPE: Envelope = Envelope { magic: *b"CNSLWGHT", version: 1 };

impl WeightUpdater {
    /// The state in bytes: rule, weights, alignment and links, but not the members, of which only a
    /// hash is kept. Write them to a file beside the old one and rename, so that there always is a
    /// whole one.
    ///
    /// All numbers are little-endian: the same state gives the same bytes everywhere.
    ///
    /// # Complexity
    /// O(n m) to hash the ensemble, at the speed of memory; a few bytes per member, cluster and
    /// link.
    #[doc(alias = "save")]
    #[doc(alias = "snapshot")]
    #[doc(alias = "serialize")]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut body = Writer::default();
        self.write_state(self.ensemble.n_members(), &mut body);
        ENVELOPE.seal(&body.into_bytes())
    }

    /// The updater that [`WeightUpdater::to_bytes`] was called on, over the same ensemble.
    /// Continuing gives the same bits as never having stopped.
    ///
    /// ```
    /// use consilience::{Ensemble, ErrorKind};
    /// use consilience::simplex::WeightUpdater;
    /// use consilience::ndarray::array;
    ///
    /// let ensemble = Ensemble::from_array(array![[0, 1], [0, 0], [1, 0]].view())?;
    /// let mut bytes = WeightUpdater::new(ensemble.clone(), 2)?.to_bytes();
    /// assert!(WeightUpdater::from_bytes(&bytes, ensemble.clone()).is_ok());
    /// bytes[30] ^= 1;
    /// let error = WeightUpdater::from_bytes(&bytes, ensemble).unwrap_err();
    /// assert_eq!(error.kind(), ErrorKind::Corrupt);
    /// # Ok::<(), consilience::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::Corrupt`](consilience_core::ErrorKind::Corrupt) for bytes that are not what was
    /// written, [`ErrorKind::InvalidParameter`](consilience_core::ErrorKind::InvalidParameter) for
    /// a version that this one does not read or for another ensemble.
    ///
    /// # Complexity
    /// As [`WeightUpdater::to_bytes`].
    #[doc(alias = "load")]
    #[doc(alias = "restore")]
    pub fn from_bytes(bytes: &[u8], ensemble: Ensemble) -> Result<Self> {
        let mut body = Reader::new(ENVELOPE.open(bytes)?);
        let (updater, _) = Self::read_state(&mut body, ensemble)?;
        if body.left() > 0 {
            return Err(corrupt(format!("{} bytes too many", body.left())));
        }
        Ok(updater)
    }

    /// The body of a stored state, without an [`Envelope`]: the first `hashed` members by their
    /// hash, those behind them with their labels.
    pub fn write_state(&self, hashed: usize, out: &mut Writer) {
        let (hashed, kept) =
            self.ensemble.members().split_at(hashed.min(self.ensemble.n_members()));
        out.u64(digest(hashed, self.ensemble.counts()));
        out.u64(self.ensemble.n_objects() as u64);
        out.u64(hashed.len() as u64);
        out.u64(kept.len() as u64);
        kept.iter().for_each(|member| write_labels(member.labels(), out));
        out.u64(self.n_clusters() as u64);
        write_rule(&self.rule, out);
        out.u64(self.batches);
        for weights in [&self.weights, &self.earlier] {
            weights.units().iter().for_each(|&u| out.u32(u));
        }
        for u in 0..self.ensemble.n_members() {
            let table = self.alignment.table(u);
            out.u64(table.len() as u64);
            table.iter().for_each(|c| out.bytes(&c.to_le_bytes()));
        }
        out.u64(self.constraints.len() as u64);
        self.constraints.iter().for_each(|link| write_link(link, out));
    }

    /// The updater that [`write_state`](WeightUpdater::write_state) wrote, over the ensemble with
    /// or without the members that were stored with their labels, and the number of those that were
    /// not.
    ///
    /// # Errors
    /// As [`WeightUpdater::from_bytes`].
    pub fn read_state(bytes: &mut Reader<'_>, ensemble: Ensemble) -> Result<(Self, usize)> {
        ensemble.check_accepted("the updater", Accepts::LABELS)?;
        let (ensemble, hashed) = read_members(bytes, ensemble)?;
        let (n, m) = (ensemble.n_objects(), ensemble.n_members());
        let clusters = bytes.size()?;
        let rule = read_rule(bytes)?;
        rule.check().map_err(|e| corrupt(e.message()))?;
        let batches = bytes.u64()?;
        let mut units = || (0..m).map(|_| bytes.u32()).collect::<Result<Vec<u32>>>();
        let (weights, earlier) = (Weights::from_units(units()?), Weights::from_units(units()?));
        for w in [&weights, &earlier] {
            if w.total() == 0 || w.total() > u64::from(u32::MAX) {
                return Err(corrupt(format!("weights that sum to {} units", w.total())));
            }
        }
        if clusters == 0
            || clusters as u64 > ensemble.total_count()
            || clusters >= usize::from(u16::MAX)
        {
            return Err(corrupt(format!("{clusters} clusters of {n} objects")));
        }
        let tables = ensemble
            .members()
            .iter()
            .map(|member| {
                let entries = bytes.size()?;
                let table = (0..entries).map(|_| bytes.u16()).collect::<Result<Vec<u16>>>()?;
                let fits = table.len() == member.n_clusters() + 1
                    && table.iter().all(|&c| usize::from(c) <= clusters);
                if fits { Ok(table) } else { Err(corrupt("a table that is none of its member")) }
            })
            .collect::<Result<_>>()?;
        let mut constraints = Constraints::new(n)?;
        for _ in 0..bytes.size()? {
            let Pair { i, j, link } = read_link(bytes)?;
            constraints.add(i, j, link).map_err(|e| corrupt(e.message()))?;
        }
        // Each brought a constraint.
        if batches > constraints.len() as u64 {
            return Err(corrupt(format!("{batches} batches of {} links", constraints.len())));
        }
        let alignment = Alignment::from_tables(clusters, tables);
        let budgets = Budgets::default();
        let open = WeightUpdater::open(ensemble, alignment, weights, constraints, rule, budgets);
        Ok((WeightUpdater { earlier, batches, ..open }, hashed))
    }
}

/// The ensemble with the members that were stored with their labels, and the number of those that
/// were not.
fn read_members(bytes: &mut Reader<'_>, mut ensemble: Ensemble) -> Result<(Ensemble, usize)> {
    let digest_then = bytes.u64()?;
    let (n, hashed, kept) = (bytes.size()?, bytes.size()?, bytes.size()?);
    let m = hashed.saturating_add(kept);
    let found = ensemble.n_members();
    if n != ensemble.n_objects() || (found != hashed && found != m) {
        return Err(Error::invalid(format!(
            "a state over {hashed} members of {n} objects and {kept} stored ones, the ensemble has \
             {found} of {}",
            ensemble.n_objects()
        )));
    }
    let other = || {
        Error::invalid(format!(
            "a state over another ensemble of {hashed} members and {n} objects: the labels differ"
        ))
    };
    if digest_then != digest(&ensemble.members()[..hashed], ensemble.counts()) {
        return Err(other());
    }
    for u in hashed..m {
        let member = read_labels(bytes, n)?;
        if found == hashed {
            ensemble.push(member)?;
        } else if ensemble.members()[u] != member {
            return Err(other());
        }
    }
    Ok((ensemble, hashed))
}

/// A hash of the labels of all members: others have another one but for odds of 2^-64.
fn digest(members: &[Partition], counts: Option<&[u64]>) -> u64 {
    let of_member = map_each(members.len(), &|u| hash(&le_bytes(members[u].labels())));
    let n = members.first().map_or(0, Partition::n_objects) as u64;
    let of_labels = of_member.into_iter().fold(n, |h, x| mix(h ^ x));
    // Rows that each stand for one object are rows without counts.
    let counts = counts.filter(|counts| counts.iter().any(|&count| count != 1));
    counts.unwrap_or_default().iter().fold(of_labels, |h, &count| mix(h ^ count))
}

/// The labels as they are stored.
fn le_bytes(labels: LabelSlice<'_>) -> Cow<'_, [u8]> {
    match labels {
        LabelSlice::U8(l) => Cow::Borrowed(l),
        LabelSlice::U16(l) => l.iter().flat_map(|l| l.to_le_bytes()).collect(),
        LabelSlice::U32(l) => l.iter().flat_map(|l| l.to_le_bytes()).collect(),
    }
}

/// Width, then the labels.
fn write_labels(labels: LabelSlice<'_>, out: &mut Writer) {
    out.bytes(&[labels.width() as u8]);
    out.bytes(&le_bytes(labels));
}

fn write_rule(rule: &UpdateRule, out: &mut Writer) {
    match rule {
        UpdateRule::Exact(e) => {
            out.bytes(&[0, u8::from(e.loss == PairLoss::Probability), u8::from(e.balance)]);
            // A NaN is no lambda, so that it can stand for none.
            out.f64(e.lambda.unwrap_or(f64::NAN));
            out.f64(e.gap);
            out.u64(e.max_iterations as u64);
        }
        UpdateRule::Additive(a) => {
            out.bytes(&[1, u8::from(a.balance)]);
            out.f64(a.step);
        }
        UpdateRule::Multiplicative(m) => {
            out.bytes(&[2, u8::from(m.balance)]);
            out.f64(m.step);
        }
    }
}

/// The labels of n objects that [`write_labels`] wrote.
fn read_labels(bytes: &mut Reader<'_>, n: usize) -> Result<Partition> {
    let width = usize::from(bytes.u8()?);
    if !matches!(width, 1 | 2 | 4) {
        return Err(corrupt(format!("labels of {width} bytes")));
    }
    let stored = bytes.bytes(n.saturating_mul(width))?;
    let missing = u64::from(u32::MAX) >> (32 - 8 * width);
    Partition::from_fn(n, |i| {
        let label =
            stored[i * width..][..width].iter().rev().fold(0, |l, &b| l << 8 | u64::from(b));
        (label != missing).then_some(label)
    })
}

fn read_rule(bytes: &mut Reader<'_>) -> Result<UpdateRule> {
    Ok(match bytes.u8()? {
        0 => {
            let loss = if bytes.u8()? == 0 { PairLoss::Squared } else { PairLoss::Probability };
            let balance = bytes.u8()? != 0;
            let lambda = Some(bytes.f64()?).filter(|l| !l.is_nan());
            UpdateRule::Exact(ExactUpdate {
                loss,
                balance,
                lambda,
                gap: bytes.f64()?,
                max_iterations: bytes.size()?,
            })
        }
        1 => UpdateRule::Additive(AdditiveUpdate { balance: bytes.u8()? != 0, step: bytes.f64()? }),
        2 => UpdateRule::Multiplicative(MultiplicativeUpdate {
            balance: bytes.u8()? != 0,
            step: bytes.f64()?,
        }),
        other => return Err(corrupt(format!("rule {other}"))),
    })
}
