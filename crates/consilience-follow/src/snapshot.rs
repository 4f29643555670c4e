//! An updater in bytes.

use consilience_core::{Ensemble, Result};
use consilience_simplex::WeightUpdater;
use consilience_simplex::stored::{Envelope, Reader, Writer, corrupt};

use crate::consensus_metric::ConsensusMetric;
use crate::disputed::Disputed;
use crate::metric_rule::MetricRule;
use crate::updater::Updater;

const ENVELOPE: Envelope = Envelope { magic: *b"CNSLSPLX", version: 4 };

impl Updater {
    /// The state in bytes: rules, weights, alignment, links, metric and the members that were
    /// [grown](Updater::grow), but not the other members, of which only a hash is kept. Write them
    /// to a file beside the old one and rename, so that there always is a whole one.
    ///
    /// All numbers are little-endian: the same state gives the same bytes everywhere.
    ///
    /// # Complexity
    /// O(n m) to hash the ensemble, at the speed of memory; a few bytes per member, cluster and
    /// link, one to four per object and grown member.
    #[doc(alias = "save")]
    #[doc(alias = "snapshot")]
    #[doc(alias = "serialize")]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Writer::default();
        self.weights.write_state(self.grown().start, &mut out);
        self.metric_rule.write(&mut out);
        let metric = self.metric.as_ref().map(ConsensusMetric::to_bytes).unwrap_or_default();
        out.u64(metric.len() as u64);
        out.bytes(&metric);
        self.disputed.write(&mut out);
        ENVELOPE.seal(&out.into_bytes())
    }

    /// The updater that [`Updater::to_bytes`] was called on, over the same ensemble, with or
    /// without the members that were grown. Continuing gives the same bits as never having stopped.
    ///
    /// ```
    /// use consilience::{Ensemble, ErrorKind};
    /// use consilience::follow::Updater;
    /// use consilience::ndarray::array;
    ///
    /// let ensemble = Ensemble::from_array(array![[0, 1], [0, 0], [1, 0]].view())?;
    /// let mut bytes = Updater::new(ensemble.clone(), 2)?.to_bytes();
    /// assert!(Updater::from_bytes(&bytes, ensemble.clone()).is_ok());
    /// bytes[30] ^= 1;
    /// assert_eq!(Updater::from_bytes(&bytes, ensemble).unwrap_err().kind(), ErrorKind::Corrupt);
    /// # Ok::<(), consilience::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::Corrupt`](consilience_core::ErrorKind::Corrupt) for bytes that are not what was
    /// written, [`ErrorKind::InvalidParameter`](consilience_core::ErrorKind::InvalidParameter) for
    /// a version that this one does not read or for another ensemble.
    ///
    /// # Complexity
    /// As [`Updater::to_bytes`], and opening the metric where one was stored.
    #[doc(alias = "load")]
    #[doc(alias = "restore")]
    pub fn from_bytes(bytes: &[u8], ensemble: Ensemble) -> Result<Self> {
        let mut body = Reader::new(ENVELOPE.open(bytes)?);
        let (weights, given) = WeightUpdater::read_state(&mut body, ensemble)?;
        let metric_rule = MetricRule::read(&mut body)?;
        let length = body.size()?;
        let stored = body.bytes(length)?;
        let disputed = Disputed::read(&mut body, weights.constraints())?;
        let metric = match length {
            0 => None,
            _ => Some(ConsensusMetric::from_bytes(
                stored,
                &metric_rule,
                weights.ensemble(),
                &disputed.among(weights.constraints()),
                &(),
            )?),
        };
        let updater = Updater { weights, disputed, metric_rule, metric, notes: Vec::new() };
        if updater.grown().start != given {
            let grown = updater.ensemble().n_members() - given;
            return Err(corrupt(format!("{grown} grown members without a metric on them")));
        }
        Ok(updater)
    }
}
