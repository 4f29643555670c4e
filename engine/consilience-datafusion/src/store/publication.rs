//! What is written into a store: all bytes are there before any of it is to be seen.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use consilience::{Error, ErrorKind, Observer, Result};
use futures::StreamExt;
use futures::stream::{self, FuturesUnordered};
use object_store::{MultipartUpload, ObjectStore, ObjectStoreExt, PutMode, PutPayload, UploadPart};

use crate::fault::{stored, system, within};
use crate::remote::wire::unique;
use crate::store::{Object, wait, wait_looking};

/// Lies in a folder while its files appear, one after the other. Who finds it there does not read
/// the others.
pub(crate) const UNFINISHED: &str = "_unfinished";
/// Bytes of a part: stores take none below 5 MiB but the last one, and at most 10,000.
const PART: u64 = 8 << 20;
const PARTS: u64 = 9_000;
/// Parts of a file, and files, that are on their way at the same time.
const PARTS_ABREAST: usize = 4;
const FILES_ABREAST: usize = 2;
/// How long a process that ends waits for a part on its way.
const PATIENCE: Duration = Duration::from_secs(5);

/// All that has to be taken back when the process ends.
static OPEN: Mutex<Vec<Weak<State>>> = Mutex::new(Vec::new());

/// Takes back what was not published, before the process ends.
pub(crate) fn withdraw_all() {
    let open = OPEN.lock().unwrap_or_else(PoisonError::into_inner).clone();
    open.iter().filter_map(Weak::upgrade).for_each(|state| state.withdraw());
}

/// Files on their way into a store. Dropped before they are published they leave nothing.
#[derive(Debug)]
pub(crate) struct Publication {
    target: Object,
    folder: bool,
    state: Arc<State>,
}

/// What is there so far.
#[derive(Debug, Default)]
struct State {
    /// Nothing more is to be sent.
    over: AtomicBool,
    /// Files whose parts are on their way.
    busy: AtomicUsize,
    sent: Mutex<Sent>,
    /// Held while something appears or is taken back: a process that ends waits for it.
    work: Mutex<()>,
}

#[derive(Debug, Default)]
struct Sent {
    marker: Option<Object>,
    uploads: Vec<Upload>,
}

/// A file all of whose bytes are there.
#[derive(Debug)]
struct Upload {
    object: Object,
    parts: Box<dyn MultipartUpload>,
}

impl Publication {
    /// Files in this folder, which has to be empty, or one object, which may be there.
    pub(crate) fn new(target: Object, folder: bool) -> Result<Self> {
        if target.name().is_empty() || target.name() == UNFINISHED {
            return Err(Error::invalid(format!("{target}: expected another name")));
        }
        if folder {
            if target.exists().map_err(within(&target))? {
                let what = "is an object; expected the name of a folder, or one ending in .parquet";
                return Err(within(&target)(Error::invalid(what)));
            }
            let held = target.listed().map_err(within(&target))?;
            check(&target, &held)?;
        }
        let state = Arc::new(State::default());
        let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
        open.retain(|state| state.strong_count() > 0);
        open.push(Arc::downgrade(&state));
        Ok(Publication { target, folder, state })
    }

    /// Refuses names of files that the store does not take.
    pub(crate) fn check_name(&self, name: &str) -> Result<()> {
        if self.folder { self.target.child(name).map(drop) } else { Ok(()) }
    }

    /// Sends the files with their names.
    pub(crate) fn send(
        &self,
        files: Vec<(String, PathBuf)>,
        observer: &dyn Observer,
    ) -> Result<()> {
        if self.folder {
            self.mark().map_err(within(&self.target))?;
        }
        let send = |(name, path): (String, PathBuf)| {
            let target = &self.target;
            let object = if self.folder { target.child(&name)? } else { target.clone() };
            let state = self.state.clone();
            Ok(async move {
                let place = within(object.to_string());
                state.send(object, path).await.map_err(place)
            })
        };
        let all: Vec<_> = files.into_iter().map(send).collect::<Result<_>>()?;
        let sending = async move {
            // To the end of each: what is dropped on its way cannot be taken back.
            Ok(stream::iter(all).buffer_unordered(FILES_ABREAST).collect::<Vec<_>>().await)
        };
        let sent = wait_looking(sending, || {
            if observer.cancelled() {
                self.state.over.store(true, Ordering::SeqCst);
            }
        })?;
        // One that fails stops the others.
        let (stopped, failed): (Vec<_>, Vec<_>) = sent
            .into_iter()
            .filter_map(Result::err)
            .partition(|error| error.kind() == ErrorKind::Cancelled);
        failed.into_iter().chain(stopped).next().map_or(Ok(()), Err)
    }

    /// Takes the folder for this run.
    fn mark(&self) -> Result<()> {
        let _work = self.state.work();
        self.state.go_on()?;
        let marker = self.target.child(UNFINISHED)?;
        let own = marker.clone();
        wait(async move {
            let text = format!("A program is writing here, or was ended: {}\n", unique());
            let put = PutPayload::from(text.clone());
            let put = own.store().put_opts(own.key(), put, PutMode::Create.into()).await;
            // What lies there tells: answers are lost, and some stores know no conditions.
            let found = match own.store().get(own.key()).await {
                Ok(found) => found.bytes().await.ok(),
                Err(_) => None,
            };
            match (put, found.map(|found| found == text)) {
                (_, Some(true)) | (Ok(_), None) => Ok(()),
                (Ok(_) | Err(object_store::Error::AlreadyExists { .. }), _) => Err(unfinished()),
                (Err(error), _) => Err(stored(error)),
            }
        })?;
        self.state.sent().marker = Some(marker.clone());
        // Another run may have been here since this one began.
        let held = self.target.listed()?;
        check(&self.target, &held.into_iter().filter(|found| *found != marker).collect::<Vec<_>>())
    }

    /// Has all files appear.
    pub(crate) fn publish(self) -> Result<()> {
        let _work = self.state.work();
        let Sent { marker, uploads } = std::mem::take(&mut *self.state.sent());
        let state = self.state.clone();
        wait(async move {
            let mut uploads = uploads.into_iter();
            let mut there = Vec::new();
            while let Some(mut upload) = uploads.next() {
                let done = match state.go_on() {
                    Ok(()) => upload.parts.complete().await.map(drop).map_err(stored),
                    over => over,
                };
                if let Err(error) = done {
                    let error = within(&upload.object)(error);
                    // Whether it has appeared cannot be known.
                    let certain = is_gone(upload.parts.abort().await);
                    // One object alone may be what was there before.
                    if marker.is_some() {
                        there.push(upload.object);
                    }
                    remove(there, marker, uploads, certain).await;
                    return Err(error);
                }
                there.push(upload.object);
            }
            if let Some(marker) = marker {
                let place = within(&marker);
                marker.store().delete(marker.key()).await.map_err(stored).map_err(place)?;
            }
            Ok(())
        })
    }
}

impl Drop for Publication {
    fn drop(&mut self) {
        self.state.withdraw();
    }
}

impl State {
    fn sent(&self) -> MutexGuard<'_, Sent> {
        self.sent.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes back what was sent.
    fn withdraw(&self) {
        self.over.store(true, Ordering::SeqCst);
        let start = Instant::now();
        while self.busy.load(Ordering::SeqCst) > 0 && start.elapsed() < PATIENCE {
            std::thread::sleep(Duration::from_millis(20));
        }
        let _work = self.work();
        let Sent { marker, uploads } = std::mem::take(&mut *self.sent());
        if marker.is_some() || !uploads.is_empty() {
            let _ = wait(async move {
                remove(Vec::new(), marker, uploads, true).await;
                Ok(())
            });
        }
    }

    fn work(&self) -> MutexGuard<'_, ()> {
        self.work.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether there is still something to be done.
    fn go_on(&self) -> Result<()> {
        match self.over.load(Ordering::SeqCst) {
            true => Err(Error::new(ErrorKind::Cancelled, "cancelled")),
            false => Ok(()),
        }
    }

    /// Sends one file.
    async fn send(&self, object: Object, path: PathBuf) -> Result<()> {
        self.busy.fetch_add(1, Ordering::SeqCst);
        let sent = self.send_parts(object, &path).await;
        if sent.is_err() {
            self.over.store(true, Ordering::SeqCst);
        }
        self.busy.fetch_sub(1, Ordering::SeqCst);
        sent
    }

    async fn send_parts(&self, object: Object, path: &Path) -> Result<()> {
        self.go_on()?;
        let file = File::open(path).map_err(system)?;
        let bytes = file.metadata().map_err(system)?.len();
        let mut parts = object.store().put_multipart(object.key()).await.map_err(stored)?;
        let mut going = FuturesUnordered::new();
        if let Err(error) = self.send_all(file, bytes, &mut *parts, &mut going).await {
            // Parts that arrive after the end would stay.
            while going.next().await.is_some() {}
            let _ = parts.abort().await;
            return Err(error);
        }
        self.sent().uploads.push(Upload { object, parts });
        Ok(())
    }

    async fn send_all(
        &self,
        mut file: File,
        bytes: u64,
        parts: &mut dyn MultipartUpload,
        going: &mut FuturesUnordered<UploadPart>,
    ) -> Result<()> {
        let part = PART.max(bytes.div_ceil(PARTS));
        let mut left = bytes;
        loop {
            while left > 0 && going.len() < PARTS_ABREAST {
                self.go_on()?;
                let mut held = vec![0; part.min(left) as usize];
                file.read_exact(&mut held).map_err(system)?;
                left -= held.len() as u64;
                going.push(parts.put_part(PutPayload::from(held)));
            }
            match going.next().await {
                Some(sent) => sent.map_err(stored)?,
                None => return Ok(()),
            }
        }
    }
}

/// Removes what has appeared, forgets what has not, and takes the marker away where it is certain
/// that nothing is left beside it.
async fn remove(
    there: Vec<Object>,
    marker: Option<Object>,
    uploads: impl IntoIterator<Item = Upload>,
    mut certain: bool,
) {
    for mut upload in uploads {
        let _ = upload.parts.abort().await;
    }
    for object in there {
        certain &= is_gone(object.store().delete(object.key()).await);
    }
    if let Some(marker) = marker.filter(|_| certain) {
        let _ = marker.store().delete(marker.key()).await;
    }
}

/// Whether what was to be removed is not there.
fn is_gone(removed: object_store::Result<()>) -> bool {
    matches!(removed, Ok(()) | Err(object_store::Error::NotFound { .. }))
}

/// Refuses a folder in which something lies.
fn check(folder: &Object, held: &[Object]) -> Result<()> {
    let place = within(folder);
    if held.iter().any(|object| object.name() == UNFINISHED) {
        return Err(place(unfinished()));
    }
    match held.is_empty() {
        true => Ok(()),
        false => Err(place(Error::invalid("holds something; expected a new folder"))),
    }
}

/// What is said of a folder that another program has not finished.
pub(crate) fn unfinished() -> Error {
    Error::new(
        ErrorKind::Io,
        format!(
            "another program writes here, or was ended before it had finished; remove \
             {UNFINISHED} and what lies beside it if none does"
        ),
    )
}
