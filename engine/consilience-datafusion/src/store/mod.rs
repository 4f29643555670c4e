//! Objects in stores that speak the protocol of Amazon S3.

pub(crate) mod publication;
pub(crate) mod reader;

use std::collections::HashMap;
use std::fmt;
use std::future::Future;
use std::ops::Range;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use consilience::{Error, ErrorKind, Result};
use futures::{StreamExt, TryStreamExt, stream};
use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use object_store::client::SpawnedReqwestConnector;
use object_store::path::Path;
use object_store::{
    ClientConfigKey, GetOptions, GetRange, ObjectMeta, ObjectStore, ObjectStoreExt, RetryConfig,
};
use tokio::runtime::Runtime;

use crate::fault::{CHANGED, stored, within};

/// How names of objects begin.
const SCHEMES: [&str; 2] = ["s3", "s3a"];
/// How often a request is sent again, and how long after the first time at most.
const TRIES: usize = 4;
const PATIENCE: Duration = Duration::from_secs(300);
/// What a request may take with its body, and the variable that says otherwise.
const TIMEOUT: (&str, &str) = ("AWS_TIMEOUT", "120 seconds");
/// How often those who wait look around.
const LOOK: Duration = Duration::from_millis(50);
/// Requests for ranges of one object at the same time.
const ABREAST: usize = 8;

/// Where all requests run, whoever waits for them: connections belong to the runtime that opened
/// them, and outlive engines here.
static NETWORK: LazyLock<std::io::Result<Runtime>> = LazyLock::new(|| {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()
});

/// The buckets that are known by now.
static BUCKETS: LazyLock<Mutex<HashMap<String, Arc<Open>>>> = LazyLock::new(Mutex::default);

fn network() -> Result<&'static Runtime> {
    NETWORK.as_ref().map_err(|error| Error::new(ErrorKind::Io, error.to_string()))
}

/// Waits for what the network does.
pub(crate) fn wait<T: Send + 'static>(
    work: impl Future<Output = Result<T>> + Send + 'static,
) -> Result<T> {
    wait_looking(work, || ())
}

/// The same; meanwhile it looks around again and again.
pub(crate) fn wait_looking<T: Send + 'static>(
    work: impl Future<Output = Result<T>> + Send + 'static,
    look: impl Fn(),
) -> Result<T> {
    let (tell, told) = channel();
    network()?.spawn(async move {
        let _ = tell.send(work.await);
    });
    loop {
        match told.recv_timeout(LOOK) {
            Ok(done) => return done,
            Err(RecvTimeoutError::Timeout) => look(),
            Err(RecvTimeoutError::Disconnected) => {
                return Err(Error::new(ErrorKind::Io, "a request to the object store broke off"));
            }
        }
    }
}

/// Refuses objects that are not of these versions any more.
pub(crate) fn check_versions(objects: Vec<(Object, String)>) -> Result<()> {
    let check = |(object, version): (Object, String)| async move {
        let place = within(object.to_string());
        let now = object.bucket.store.head(&object.key).await.map_err(stored).map_err(&place)?;
        match now.e_tag {
            Some(now) if now != version => Err(place(Error::new(ErrorKind::Io, CHANGED))),
            _ => Ok(()),
        }
    };
    wait(async move { stream::iter(objects).map(check).buffered(ABREAST).try_collect().await })
}

/// How a bucket of a store that speaks the protocol of Amazon S3 is reached, where the environment
/// does not say it.
///
/// Tables and outputs in it are named `s3://bucket/key`. Without this the variables count that
/// other programs know too: `AWS_ACCESS_KEY_ID` and `AWS_SECRET_ACCESS_KEY`, `AWS_REGION`, for
/// other stores than Amazon's `AWS_ENDPOINT`, and `AWS_ALLOW_HTTP=true` where that is not
/// encrypted.
///
/// ```no_run
/// use consilience_datafusion::{Bucket, Table};
///
/// Bucket::named("pools")
///     .setting("AWS_ENDPOINT", "https://store.example:9000")
///     .setting("AWS_ACCESS_KEY_ID", "reader")
///     .setting("AWS_SECRET_ACCESS_KEY", "secret")
///     .register()?;
/// let table = Table::open("s3://pools/monday/part-*.parquet")?;
/// # Ok::<(), consilience::Error>(())
/// ```
#[derive(Clone)]
pub struct Bucket {
    name: String,
    settings: Vec<(String, String)>,
}

impl fmt::Debug for Bucket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Settings may be secret.
        let keys: Vec<&str> = self.settings.iter().map(|(key, _)| key.as_str()).collect();
        f.debug_struct("Bucket").field("name", &self.name).field("settings", &keys).finish()
    }
}

impl Bucket {
    /// The bucket of that name, reached as the environment says.
    pub fn named(name: impl Into<String>) -> Self {
        Bucket { name: name.into(), settings: Vec::new() }
    }

    /// One setting, named as its variable in the environment. Default that variable, if there is
    /// one.
    pub fn setting(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.settings.push((name.into(), value.into()));
        self
    }

    /// Has everything in this process that opens the bucket from now on reach it like this.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidParameter`] for a setting that does not exist, and for values that make
    /// no sense.
    pub fn register(self) -> Result<()> {
        let open = Arc::new(self.open()?);
        buckets().insert(open.name.clone(), open);
        Ok(())
    }

    fn open(self) -> Result<Open> {
        let place = |error: String| Error::invalid(format!("s3://{}: {error}", self.name));
        let mut builder = AmazonS3Builder::from_env();
        if std::env::var_os(TIMEOUT.0).is_none() {
            builder =
                builder.with_config(AmazonS3ConfigKey::Client(ClientConfigKey::Timeout), TIMEOUT.1);
        }
        for (name, value) in &self.settings {
            let key: AmazonS3ConfigKey = name
                .to_ascii_lowercase()
                .parse()
                .map_err(|_| place(format!("setting {name:?}: unknown")))?;
            builder = builder.with_config(key, value);
        }
        let patient =
            RetryConfig { max_retries: TRIES, retry_timeout: PATIENCE, ..RetryConfig::default() };
        let store = builder
            .with_bucket_name(&self.name)
            .with_retry(patient)
            .with_http_connector(SpawnedReqwestConnector::new(network()?.handle().clone()))
            .build()
            .map_err(|error| place(error.to_string()))?;
        Ok(Open { name: self.name, store: Arc::new(store) })
    }
}

fn buckets() -> MutexGuard<'static, HashMap<String, Arc<Open>>> {
    BUCKETS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A bucket with its connections.
struct Open {
    name: String,
    store: Arc<dyn ObjectStore>,
}

/// An object, or a folder of them, whether it is there or not.
#[derive(Clone)]
pub(crate) struct Object {
    bucket: Arc<Open>,
    key: Path,
}

impl fmt::Debug for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl fmt::Display for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "s3://{}/{}", self.bucket.name, self.key)
    }
}

impl PartialEq for Object {
    fn eq(&self, other: &Self) -> bool {
        (&self.bucket.name, &self.key) == (&other.bucket.name, &other.key)
    }
}

impl Eq for Object {}

impl Object {
    /// The object that a text names, if it names one.
    pub(crate) fn parse(text: &str) -> Result<Option<Self>> {
        let Some((scheme, rest)) = text.split_once("://") else { return Ok(None) };
        if scheme.is_empty() || !scheme.bytes().all(|c| c.is_ascii_alphanumeric()) {
            return Ok(None);
        }
        let wrong = |what: String| Error::invalid(format!("{text}: {what}"));
        if !SCHEMES.contains(&scheme) {
            return Err(wrong(format!("no store {scheme}://; expected s3://bucket/key")));
        }
        let (name, key) = rest.split_once('/').unwrap_or((rest, ""));
        if name.is_empty() {
            return Err(wrong("no bucket; expected s3://bucket/key".to_owned()));
        }
        let key = Path::parse(key).map_err(|error| wrong(error.to_string()))?;
        let known = buckets().get(name).cloned();
        let bucket = match known {
            Some(bucket) => bucket,
            None => {
                let open = Arc::new(Bucket::named(name).open()?);
                buckets().entry(name.to_owned()).or_insert(open).clone()
            }
        };
        Ok(Some(Object { bucket, key }))
    }

    /// The last part of its name.
    pub(crate) fn name(&self) -> &str {
        self.key.filename().unwrap_or_default()
    }

    /// What lies in this folder under that name, which a store may not take.
    pub(crate) fn child(&self, name: &str) -> Result<Self> {
        let key = Path::parse(format!("{}/{name}", self.key));
        let key = key.map_err(|error| Error::invalid(format!("{self}: {error}")))?;
        Ok(Object { bucket: self.bucket.clone(), key })
    }

    /// The folder that it lies in.
    pub(crate) fn folder(&self) -> Self {
        let parts: Vec<_> = self.key.parts().collect();
        let parts = parts[..parts.len().saturating_sub(1)].iter().cloned();
        Object { bucket: self.bucket.clone(), key: parts.collect() }
    }

    pub(crate) fn bucket(&self) -> &str {
        &self.bucket.name
    }

    pub(crate) fn store(&self) -> Arc<dyn ObjectStore> {
        self.bucket.store.clone()
    }

    pub(crate) fn key(&self) -> &Path {
        &self.key
    }

    /// Whether it is there.
    pub(crate) fn exists(&self) -> Result<bool> {
        let own = self.clone();
        wait(async move {
            match own.bucket.store.head(&own.key).await {
                Ok(_) => Ok(true),
                Err(object_store::Error::NotFound { .. }) => Ok(false),
                Err(error) => Err(stored(error)),
            }
        })
    }

    /// The objects of this folder, not those of folders in it, in the order of their names.
    pub(crate) fn listed(&self) -> Result<Vec<Object>> {
        let own = self.clone();
        let found = wait(async move {
            let prefix = (!own.key.as_ref().is_empty()).then_some(&own.key);
            match own.bucket.store.list_with_delimiter(prefix).await {
                // An answer that breaks off in its middle was not asked for again.
                Err(object_store::Error::Generic { .. }) => {
                    own.bucket.store.list_with_delimiter(prefix).await
                }
                answer => answer,
            }
            .map_err(stored)
        })?;
        let mut keys: Vec<Path> = found.objects.into_iter().map(|meta| meta.location).collect();
        // Some programs stand for an empty folder by an object of its name.
        keys.retain(|key| *key != self.key);
        keys.sort();
        Ok(keys.into_iter().map(|key| Object { bucket: self.bucket.clone(), key }).collect())
    }

    /// Its last bytes, so many at most, and what is known about it.
    pub(crate) fn tail(&self, bytes: u64) -> Result<(Bytes, ObjectMeta)> {
        let own = self.clone();
        wait(async move {
            let wanted = GetOptions::new().with_range(Some(GetRange::Suffix(bytes)));
            match own.bucket.store.get_opts(&own.key, wanted).await {
                Ok(found) => {
                    let meta = found.meta.clone();
                    Ok((found.bytes().await.map_err(stored)?, meta))
                }
                // Nothing at all has no last bytes.
                Err(error) => match own.bucket.store.head(&own.key).await {
                    Ok(meta) if meta.size == 0 => Ok((Bytes::new(), meta)),
                    _ => Err(stored(error)),
                },
            }
        })
    }

    /// Ranges of its bytes, if it is still of that version.
    pub(crate) fn ranges(
        &self,
        ranges: Vec<Range<u64>>,
        version: Option<String>,
    ) -> Result<Vec<Bytes>> {
        let own = self.clone();
        wait(async move {
            let fetch = |range: Range<u64>| {
                let (own, version) = (own.clone(), version.clone());
                async move { own.range(range, version).await }
            };
            stream::iter(ranges).map(fetch).buffered(ABREAST).try_collect().await
        })
    }

    async fn range(&self, range: Range<u64>, version: Option<String>) -> Result<Bytes> {
        let wanted = GetOptions::new()
            .with_range(Some(GetRange::Bounded(range.clone())))
            .with_if_match(version);
        let found = self.bucket.store.get_opts(&self.key, wanted).await.map_err(stored)?;
        let bytes = found.bytes().await.map_err(stored)?;
        let (got, wanted) = (bytes.len() as u64, range.end - range.start);
        if got != wanted {
            let what = format!("{got} bytes from the object store; expected {wanted}");
            return Err(Error::new(ErrorKind::Io, what));
        }
        Ok(bytes)
    }
}
