use consilience_core::{
    Constraints, Ensemble, Error, ErrorKind, LabelSlice, Link, Pair, Partition, Result,
};
use rayon::prelude::*;

use crate::align::Alignment;
use crate::embedding::{ConsensusMetric, MetricRule};
use crate::rules::{AdditiveUpdate, ExactUpdate, MultiplicativeUpdate, PairLoss, UpdateRule};
use crate::updater::Updater;
use crate::weights::Weights;

const MAGIC: &[u8; 8] = b"CNSLSPLX";
const VERSION: u32 = 2;
/// Magic, version and length of what follows.
const HEAD: usize = 20;
/// The hash at the end.
const TAIL: usize = 8;

impl Updater {
    /// The state in bytes: rule, weights, alignment, constraints and the members that were grown,
    /// but not the other members, of which only a hash is kept. Write them to a file beside the old
    /// one and rename, so that there always is a whole one.
    ///
    /// All numbers are little-endian: the same state gives the same bytes everywhere.
    ///
    /// # Complexity
    /// O(n m) to hash the ensemble, at the speed of memory; a few bytes per member, cluster and
    /// constraint, one to four per object and grown member.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Writer(Vec::new());
        out.bytes(MAGIC);
        out.u32(VERSION);
        out.u64(0);
        let (given, grown) = self.ensemble.members().split_at(self.grown().start);
        out.u64(digest(given));
        out.u64(self.ensemble.n_objects() as u64);
        out.u64(given.len() as u64);
        out.u64(grown.len() as u64);
        grown.iter().for_each(|member| out.labels(member.labels()));
        out.u64(self.n_clusters() as u64);
        out.rule(&self.rule);
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
        for Pair { i, j, link } in self.constraints.iter() {
            out.u32(i as u32);
            out.u32(j as u32);
            out.bytes(&[u8::from(link == Link::Must)]);
        }
        self.metric_rule.write(&mut out.0);
        let metric = self.metric.as_ref().map(ConsensusMetric::to_bytes).unwrap_or_default();
        out.u64(metric.len() as u64);
        out.bytes(&metric);
        let mut bytes = out.0;
        let length = (bytes.len() - HEAD) as u64;
        bytes[HEAD - 8..HEAD].copy_from_slice(&length.to_le_bytes());
        let hash = hash(&bytes);
        bytes.extend(hash.to_le_bytes());
        bytes
    }

    /// The updater that [`Updater::to_bytes`] was called on, over the same ensemble, with or
    /// without the members that were grown. Continuing gives the same bits as never having stopped.
    ///
    /// ```
    /// use consilience_core::{Ensemble, ErrorKind};
    /// use consilience_simplex::Updater;
    /// use ndarray::array;
    ///
    /// let ensemble = Ensemble::from_array(array![[0, 1], [0, 0], [1, 0]].view())?;
    /// let mut bytes = Updater::new(ensemble.clone(), 2)?.to_bytes();
    /// assert!(Updater::from_bytes(&bytes, ensemble.clone()).is_ok());
    /// bytes[30] ^= 1;
    /// assert_eq!(Updater::from_bytes(&bytes, ensemble).unwrap_err().kind(), ErrorKind::Corrupt);
    /// # Ok::<(), consilience_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::Corrupt`] for bytes that are not what was written,
    /// [`ErrorKind::InvalidParameter`] for a version that this one does not read or for another
    /// ensemble.
    ///
    /// # Complexity
    /// As [`Updater::to_bytes`].
    pub fn from_bytes(bytes: &[u8], mut ensemble: Ensemble) -> Result<Self> {
        let mut input = Reader(checked(bytes)?);
        let digest_then = input.u64()?;
        let (n, given, grown) = (input.size()?, input.size()?, input.size()?);
        let m = given.saturating_add(grown);
        let found = ensemble.n_members();
        if n != ensemble.n_objects() || (found != given && found != m) {
            return Err(Error::invalid(format!(
                "a state over {given} members of {n} objects and {grown} grown ones, the ensemble has {found} of {}",
                ensemble.n_objects()
            )));
        }
        let other = || {
            Error::invalid(format!(
                "a state over another ensemble of {given} members and {n} objects: the labels differ"
            ))
        };
        if digest_then != digest(&ensemble.members()[..given]) {
            return Err(other());
        }
        for u in given..m {
            let member = input.labels(n)?;
            if found == given {
                ensemble.push(member)?;
            } else if ensemble.members()[u] != member {
                return Err(other());
            }
        }
        let clusters = input.size()?;
        let rule = input.rule()?;
        rule.check().map_err(|e| corrupt(e.message()))?;
        let batches = input.u64()?;
        let mut units = || (0..m).map(|_| input.u32()).collect::<Result<Vec<u32>>>();
        let (weights, earlier) = (Weights::from_units(units()?), Weights::from_units(units()?));
        for w in [&weights, &earlier] {
            if w.total() == 0 || w.total() > u64::from(u32::MAX) {
                return Err(corrupt(&format!("weights that sum to {} units", w.total())));
            }
        }
        if clusters == 0 || clusters > n || clusters >= usize::from(u16::MAX) {
            return Err(corrupt(&format!("{clusters} clusters of {n} objects")));
        }
        let tables = ensemble
            .members()
            .iter()
            .map(|member| {
                let entries = input.size()?;
                let table = (0..entries).map(|_| input.u16()).collect::<Result<Vec<u16>>>()?;
                let fits = table.len() == member.n_clusters() + 1
                    && table.iter().all(|&c| usize::from(c) <= clusters);
                if fits { Ok(table) } else { Err(corrupt("a table that is none of its member")) }
            })
            .collect::<Result<_>>()?;
        let mut constraints = Constraints::new(n)?;
        for _ in 0..input.size()? {
            let (i, j) = (input.u32()? as usize, input.u32()? as usize);
            let link = if input.u8()? == 0 { Link::Cannot } else { Link::Must };
            constraints.add(i, j, link).map_err(|e| corrupt(e.message()))?;
        }
        let metric_rule = MetricRule::read(&mut input.0)?;
        let length = input.size()?;
        let stored =
            input.0.split_off(..length).ok_or_else(|| corrupt("a metric that ends too early"))?;
        let metric = match length {
            0 => None,
            _ => Some(ConsensusMetric::from_bytes(
                stored,
                &metric_rule,
                &ensemble,
                &constraints,
                &(),
            )?),
        };
        if metric.as_ref().map_or(m, ConsensusMetric::n_members) != given {
            return Err(corrupt(&format!("{grown} grown members that no metric knows")));
        }
        if !input.0.is_empty() {
            return Err(corrupt(&format!("{} bytes too many", input.0.len())));
        }
        let alignment = Alignment::from_tables(clusters, tables);
        let open = Updater::open(ensemble, alignment, weights, constraints, rule);
        Ok(Updater { earlier, batches, metric_rule, metric, ..open })
    }
}

fn corrupt(what: &str) -> Error {
    Error::new(ErrorKind::Corrupt, format!("the stored state is damaged: {what}"))
}

/// What lies between head and hash, both of which are checked.
fn checked(bytes: &[u8]) -> Result<&[u8]> {
    if bytes.len() < HEAD + TAIL || &bytes[..8] != MAGIC {
        return Err(corrupt("it does not begin as one"));
    }
    let (body, tail) = bytes.split_at(bytes.len() - TAIL);
    let mut head = Reader(&body[8..HEAD]);
    let (version, length) = (head.u32()?, head.u64()?);
    let payload = &body[HEAD..];
    if length != payload.len() as u64 {
        return Err(corrupt(&format!("{} bytes of {length}", payload.len())));
    }
    if tail != hash(body).to_le_bytes() {
        return Err(corrupt("its hash differs"));
    }
    if version != VERSION {
        return Err(Error::invalid(format!(
            "a stored state of version {version}; expected {VERSION}"
        )));
    }
    Ok(payload)
}

/// A hash of the labels of all members: others have another one but for odds of 2^-64.
fn digest(members: &[Partition]) -> u64 {
    let of_member: Vec<u64> = members
        .par_iter()
        .map(|p| match p.labels() {
            LabelSlice::U8(l) => hash(l),
            LabelSlice::U16(l) => hash(&l.iter().flat_map(|l| l.to_le_bytes()).collect::<Vec<_>>()),
            LabelSlice::U32(l) => hash(&l.iter().flat_map(|l| l.to_le_bytes()).collect::<Vec<_>>()),
        })
        .collect();
    of_member
        .into_iter()
        .fold(members.first().map_or(0, Partition::n_objects) as u64, |h, x| mix(h ^ x))
}

/// Four independent chains of words. Each step is a bijection of the word, so one changed byte
/// always changes the hash; it protects from accidents, not from forgers.
fn hash(bytes: &[u8]) -> u64 {
    let step = |h: u64, word: [u8; 8]| {
        (h ^ u64::from_le_bytes(word)).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29)
    };
    let mut lanes = [1u64, 2, 3, 4];
    let (blocks, rest) = bytes.as_chunks::<32>();
    for block in blocks {
        for (lane, word) in lanes.iter_mut().zip(block.as_chunks::<8>().0) {
            *lane = step(*lane, *word);
        }
    }
    for part in rest.chunks(8) {
        let mut word = [0; 8];
        word[..part.len()].copy_from_slice(part);
        lanes[0] = step(lanes[0], word);
    }
    lanes.into_iter().fold(mix(bytes.len() as u64), |h, lane| mix(h ^ lane))
}

/// Finaliser of SplitMix64.
fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

struct Writer(Vec<u8>);

impl Writer {
    fn bytes(&mut self, bytes: &[u8]) {
        self.0.extend(bytes);
    }

    fn u32(&mut self, x: u32) {
        self.bytes(&x.to_le_bytes());
    }

    fn u64(&mut self, x: u64) {
        self.bytes(&x.to_le_bytes());
    }

    fn f64(&mut self, x: f64) {
        self.u64(x.to_bits());
    }

    /// Width, then the labels as they are stored.
    fn labels(&mut self, labels: LabelSlice<'_>) {
        self.bytes(&[labels.width() as u8]);
        match labels {
            LabelSlice::U8(l) => self.bytes(l),
            LabelSlice::U16(l) => l.iter().for_each(|l| self.bytes(&l.to_le_bytes())),
            LabelSlice::U32(l) => l.iter().for_each(|l| self.bytes(&l.to_le_bytes())),
        }
    }

    fn rule(&mut self, rule: &UpdateRule) {
        match rule {
            UpdateRule::Exact(e) => {
                self.bytes(&[0, u8::from(e.loss == PairLoss::Probability), u8::from(e.balance)]);
                // A NaN is no lambda, so that it can stand for none.
                self.f64(e.lambda.unwrap_or(f64::NAN));
                self.f64(e.gap);
                self.u64(e.max_iterations as u64);
            }
            UpdateRule::Additive(a) => {
                self.bytes(&[1, u8::from(a.balance)]);
                self.f64(a.step);
            }
            UpdateRule::Multiplicative(m) => {
                self.bytes(&[2, u8::from(m.balance)]);
                self.f64(m.step);
            }
        }
    }
}

struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn take<const N: usize>(&mut self) -> Result<[u8; N]> {
        let (now, later) =
            self.0.split_first_chunk::<N>().ok_or_else(|| corrupt("it ends too early"))?;
        self.0 = later;
        Ok(*now)
    }

    fn u8(&mut self) -> Result<u8> {
        Ok(self.take::<1>()?[0])
    }

    fn u16(&mut self) -> Result<u16> {
        Ok(u16::from_le_bytes(self.take()?))
    }

    fn u32(&mut self) -> Result<u32> {
        Ok(u32::from_le_bytes(self.take()?))
    }

    fn u64(&mut self) -> Result<u64> {
        Ok(u64::from_le_bytes(self.take()?))
    }

    fn size(&mut self) -> Result<usize> {
        let x = self.u64()?;
        usize::try_from(x).map_err(|_| corrupt(&format!("a count of {x}")))
    }

    fn f64(&mut self) -> Result<f64> {
        Ok(f64::from_bits(self.u64()?))
    }

    /// The labels of n objects that [`Writer::labels`] wrote.
    fn labels(&mut self, n: usize) -> Result<Partition> {
        let width = usize::from(self.u8()?);
        if !matches!(width, 1 | 2 | 4) {
            return Err(corrupt(&format!("labels of {width} bytes")));
        }
        let stored = n.checked_mul(width).and_then(|bytes| self.0.split_off(..bytes));
        let stored = stored.ok_or_else(|| corrupt("a member that ends too early"))?;
        let missing = u64::from(u32::MAX) >> (32 - 8 * width);
        Partition::from_fn(n, |i| {
            let label =
                stored[i * width..][..width].iter().rev().fold(0, |l, &b| l << 8 | u64::from(b));
            (label != missing).then_some(label)
        })
    }

    fn rule(&mut self) -> Result<UpdateRule> {
        Ok(match self.u8()? {
            0 => {
                let loss = if self.u8()? == 0 { PairLoss::Squared } else { PairLoss::Probability };
                let balance = self.u8()? != 0;
                let lambda = Some(self.f64()?).filter(|l| !l.is_nan());
                UpdateRule::Exact(ExactUpdate {
                    loss,
                    balance,
                    lambda,
                    gap: self.f64()?,
                    max_iterations: self.size()?,
                })
            }
            1 => {
                UpdateRule::Additive(AdditiveUpdate { balance: self.u8()? != 0, step: self.f64()? })
            }
            2 => UpdateRule::Multiplicative(MultiplicativeUpdate {
                balance: self.u8()? != 0,
                step: self.f64()?,
            }),
            other => return Err(corrupt(&format!("rule {other}"))),
        })
    }
}
