use consilience::simplex::stored::{Envelope, Reader, Writer, corrupt};
use consilience::{Error, Link, Pair, Partition, Result, Seed};

use crate::distinct::DistinctRows;
use crate::follow::FollowRule;

const ENVELOPE: Envelope = Envelope { magic: *b"CNSLTABL", version: 2 };
/// Stands for no label.
const NONE: u32 = u32::MAX;

/// What an update of a clustering is resumed from: all links so far, batch by batch, and what
/// members are aligned to. Of the table there is only a hash.
///
/// [`Engine::follow`](crate::Engine::follow) follows all batches from the beginning, which takes
/// milliseconds each, and ends where it would have ended without a stop.
///
/// ```
/// use consilience::{Pair, Seed};
/// use consilience_datafusion::{Engine, Table, UpdateState, made};
///
/// let folder = tempfile::tempdir().unwrap();
/// let pool = folder.path().join("pool");
/// let shape = made::Shape { files: 2, rows: 100, members: 5, distinct: 12, seed: 0 };
/// made::ensemble(&pool, &shape)?;
///
/// let engine = Engine::builder().memory(256 << 20).build()?;
/// let table = Table::open(&pool)?;
/// let rows = engine.distinct(&table, &())?;
/// let start = rows.ensemble().members()[0].clone();
/// let mut state = UpdateState::new("exact", start, Seed(0))?;
/// state.batches.push(vec![Pair::must_link(1, 150)]);
/// let bytes = state.to_bytes(&rows);
///
/// let mut resumed = UpdateState::from_bytes(&bytes, &rows)?;
/// resumed.batches.push(vec![Pair::cannot_link(2, 7)]);
/// let rule = resumed.rule()?;
/// let done = engine.follow(&table, &rows, &resumed.reference, rule, &resumed.batches, &())?;
/// assert_eq!(done.batches.len(), 2);
/// # Ok::<(), consilience::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct UpdateState {
    /// The name of the rule, as [`FollowRule::named`] takes it.
    pub rule: String,
    /// What members are aligned to: a clustering of the distinct rows.
    pub reference: Partition,
    /// The seed of the rule.
    pub seed: Seed,
    /// All links so far. Objects are numbered through all files.
    pub batches: Vec<Vec<Pair>>,
    /// The distinct row of each object of the links that were followed, as
    /// [`Followed::rows`](crate::Followed::rows) has them: where the table has others, its rows are
    /// in another order.
    pub linked: Vec<(u64, u64)>,
}

impl UpdateState {
    /// Without a link yet.
    ///
    /// # Errors
    /// As [`FollowRule::named`].
    pub fn new(rule: impl Into<String>, reference: Partition, seed: Seed) -> Result<Self> {
        let state = UpdateState {
            rule: rule.into(),
            reference,
            seed,
            batches: Vec::new(),
            linked: Vec::new(),
        };
        state.rule()?;
        Ok(state)
    }

    /// The rule with its defaults.
    ///
    /// # Errors
    /// As [`FollowRule::named`].
    pub fn rule(&self) -> Result<FollowRule> {
        FollowRule::named(&self.rule, self.reference.n_clusters(), self.seed)
    }

    /// The state in bytes, for a file beside the old one that then takes its name. All numbers are
    /// little-endian.
    ///
    /// # Complexity
    /// O(u M) for the hash of u distinct rows of M members; 4 u bytes, 17 for each link and 16 for
    /// each object of one.
    pub fn to_bytes(&self, rows: &DistinctRows) -> Vec<u8> {
        let mut out = Writer::default();
        out.u64(rows.fingerprint());
        out.u64(rows.total());
        out.u64(self.seed.0);
        out.u64(self.rule.len() as u64);
        out.bytes(self.rule.as_bytes());
        out.u64(self.reference.n_objects() as u64);
        self.reference.iter().for_each(|label| out.u32(label.map_or(NONE, |l| l as u32)));
        out.u64(self.batches.len() as u64);
        for batch in &self.batches {
            out.u64(batch.len() as u64);
            for Pair { i, j, link } in batch {
                out.u64(*i as u64);
                out.u64(*j as u64);
                out.bytes(&[u8::from(*link == Link::Must)]);
            }
        }
        out.u64(self.linked.len() as u64);
        for &(object, row) in &self.linked {
            out.u64(object);
            out.u64(row);
        }
        ENVELOPE.seal(&out.into_bytes())
    }

    /// The state that [`UpdateState::to_bytes`] was called on, over the same table.
    ///
    /// # Errors
    /// [`ErrorKind::Corrupt`](consilience::ErrorKind::Corrupt) for bytes that are not what was
    /// written, [`ErrorKind::InvalidParameter`](consilience::ErrorKind::InvalidParameter) for
    /// another version and another table.
    pub fn from_bytes(bytes: &[u8], rows: &DistinctRows) -> Result<Self> {
        let mut body = Reader::new(ENVELOPE.open(bytes)?);
        let (table, total, seed) = (body.u64()?, body.u64()?, Seed(body.u64()?));
        if table != rows.fingerprint() || total != rows.total() {
            return Err(Error::invalid(format!(
                "a state over another table of {total} rows: the labels differ"
            )));
        }
        let length = body.size()?;
        let rule = String::from_utf8_lossy(body.bytes(length)?).into_owned();
        let n = body.size()?;
        if n != rows.ensemble().n_objects() {
            let expected = rows.ensemble().n_objects();
            return Err(corrupt(format!("labels of {n} distinct rows; expected {expected}")));
        }
        let labels: Vec<u32> = (0..n).map(|_| body.u32()).collect::<Result<_>>()?;
        let label = |i: usize| Some(u64::from(labels[i])).filter(|_| labels[i] != NONE);
        let reference = Partition::from_fn(n, label)?;
        let mut batches = Vec::new();
        for _ in 0..body.size()? {
            let links = body.size()?;
            batches.push((0..links).map(|_| pair(&mut body, total)).collect::<Result<_>>()?);
        }
        let mut linked = Vec::new();
        for _ in 0..body.size()? {
            linked.push((body.u64()?, body.u64()?));
        }
        if body.left() > 0 {
            return Err(corrupt(format!("{} bytes too many", body.left())));
        }
        let state = UpdateState { rule, reference, seed, batches, linked };
        state.rule().map_err(|error| corrupt(error.message()))?;
        Ok(state)
    }
}

fn pair(body: &mut Reader<'_>, total: u64) -> Result<Pair> {
    let (i, j, link) = (body.u64()?, body.u64()?, body.u8()?);
    if i >= total || j >= total {
        return Err(corrupt(format!("a link between {i} and {j} of {total} objects")));
    }
    let link = if link == 0 { Link::Cannot } else { Link::Must };
    Ok(Pair::new(i as usize, j as usize, link))
}
