//! An object store in this process, which speaks as much of Amazon's S3 as programs here use.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Command;
use std::sync::{Arc, Mutex, MutexGuard};

pub(crate) const BUCKET: &str = "pools";

/// What is to go wrong with a request that the store sees, told by its method and its target.
type Fault = Box<dyn FnMut(&str, &str) -> Option<Trouble> + Send>;

#[derive(Clone, Copy, Debug)]
pub(crate) enum Trouble {
    /// An answer with this status instead of the right one.
    Status(u16),
    /// The right answer, broken off in its middle.
    Cut,
    /// Done, and nobody is told.
    Silent,
    /// The right answer, of another version.
    Newer,
}

#[derive(Default)]
struct State {
    objects: BTreeMap<String, Vec<u8>>,
    uploads: BTreeMap<String, (String, BTreeMap<usize, Vec<u8>>)>,
    started: usize,
    requests: Vec<String>,
    fault: Option<Fault>,
}

/// The store; its threads end with the process.
#[derive(Clone)]
pub(crate) struct Store {
    address: String,
    state: Arc<Mutex<State>>,
}

struct Request {
    method: String,
    key: String,
    query: BTreeMap<String, String>,
    headers: BTreeMap<String, String>,
    body: Vec<u8>,
}

struct Answer {
    status: u16,
    headers: Vec<(&'static str, String)>,
    body: Vec<u8>,
}

impl Store {
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let store = Store { address, state: Arc::default() };
        let own = store.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let own = own.clone();
                std::thread::spawn(move || own.serve(&stream));
            }
        });
        store
    }

    /// Tells a program where the store is.
    pub(crate) fn known_to<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        command
            .env("AWS_ENDPOINT", &self.address)
            .env("AWS_ALLOW_HTTP", "true")
            .env("AWS_REGION", "us-east-1")
            .env("AWS_ACCESS_KEY_ID", "somebody")
            .env("AWS_SECRET_ACCESS_KEY", "secret")
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    pub(crate) fn put(&self, key: &str, bytes: Vec<u8>) {
        self.state().objects.insert(key.to_owned(), bytes);
    }

    pub(crate) fn remove(&self, key: &str) {
        self.state().objects.remove(key);
    }

    /// The objects whose names begin so, without that beginning.
    pub(crate) fn below(&self, prefix: &str) -> Vec<(String, Vec<u8>)> {
        let state = self.state();
        let own = state
            .objects
            .iter()
            .filter_map(|(key, bytes)| Some((key.strip_prefix(prefix)?.to_owned(), bytes.clone())));
        own.collect()
    }

    /// Uploads that are neither complete nor given up.
    pub(crate) fn open_uploads(&self) -> usize {
        self.state().uploads.len()
    }

    /// The requests since this was asked last.
    pub(crate) fn requests(&self) -> Vec<String> {
        std::mem::take(&mut self.state().requests)
    }

    /// Has requests go wrong from now on.
    pub(crate) fn trouble(
        &self,
        fault: impl FnMut(&str, &str) -> Option<Trouble> + Send + 'static,
    ) {
        self.state().fault = Some(Box::new(fault));
    }

    pub(crate) fn no_trouble(&self) {
        self.state().fault = None;
    }

    fn serve(&self, stream: &TcpStream) -> Option<()> {
        stream.set_nodelay(true).ok()?;
        let mut reader = BufReader::new(stream);
        loop {
            let request = read(&mut reader)?;
            let target = format!("{} {:?}", request.key, request.query);
            let trouble = {
                let mut state = self.state();
                state.requests.push(format!("{} {target}", request.method));
                state.fault.as_mut().and_then(|fault| fault(&request.method, &target))
            };
            let mut answer = match trouble {
                Some(Trouble::Status(status)) => {
                    let body = "<Error><Code>Told</Code><Token>secret</Token></Error>";
                    Answer { status, headers: Vec::new(), body: body.into() }
                }
                _ => self.answer(&request),
            };
            if matches!(trouble, Some(Trouble::Newer)) {
                answer.headers.retain(|(name, _)| *name != "ETag");
                answer.headers.push(("ETag", tag(b"newer")));
            }
            if matches!(trouble, Some(Trouble::Silent)) {
                return None;
            }
            let cut = matches!(trouble, Some(Trouble::Cut));
            write(stream, &request.method, &answer, cut)?;
            if cut {
                return None;
            }
        }
    }

    fn answer(&self, request: &Request) -> Answer {
        let asks = |name: &str| request.query.contains_key(name);
        let signed = request.headers.get("authorization");
        if !signed.is_some_and(|text| text.starts_with("AWS4-HMAC-SHA256 Credential=somebody/")) {
            return status(403);
        }
        match request.method.as_str() {
            "GET" if asks("list-type") => self.list(request),
            "GET" | "HEAD" => self.get(request),
            "PUT" if asks("partNumber") => self.part(request),
            "PUT" => {
                let mut state = self.state();
                let free = request.headers.get("if-none-match").is_none_or(|tag| tag != "*");
                if !free && state.objects.contains_key(&request.key) {
                    return status(412);
                }
                state.objects.insert(request.key.clone(), request.body.clone());
                tagged(200, &request.body)
            }
            "POST" if asks("uploads") => {
                let mut state = self.state();
                state.started += 1;
                let id = format!("upload{}", state.started);
                state.uploads.insert(id.clone(), (request.key.clone(), BTreeMap::new()));
                xml(format!(
                    "<InitiateMultipartUploadResult><Bucket>{BUCKET}</Bucket><Key>{}</Key>\
                     <UploadId>{id}</UploadId></InitiateMultipartUploadResult>",
                    request.key
                ))
            }
            "POST" if asks("uploadId") => self.complete(request),
            "POST" if asks("delete") => self.delete(request),
            "DELETE" if asks("uploadId") => {
                self.state().uploads.remove(&request.query["uploadId"]);
                status(204)
            }
            "DELETE" => {
                self.state().objects.remove(&request.key);
                status(204)
            }
            _ => status(501),
        }
    }

    fn get(&self, request: &Request) -> Answer {
        let state = self.state();
        let Some(bytes) = state.objects.get(&request.key) else { return status(404) };
        if request.headers.get("if-match").is_some_and(|wanted| *wanted != tag(bytes)) {
            return status(412);
        }
        let mut answer = tagged(200, bytes);
        answer.headers.push(("Last-Modified", "Sun, 01 Nov 2026 10:00:00 GMT".to_owned()));
        answer.body = bytes.clone();
        let Some(range) = request.headers.get("range") else { return answer };
        let (start, end) = range.strip_prefix("bytes=").unwrap().split_once('-').unwrap();
        let all = bytes.len();
        let (start, end) = match (start.parse::<usize>(), end.parse::<usize>()) {
            (Ok(start), Ok(end)) => (start, (end + 1).min(all)),
            (Ok(start), Err(_)) => (start, all),
            (Err(_), last) => (all.saturating_sub(last.unwrap()), all),
        };
        if start >= end {
            return status(416);
        }
        answer.status = 206;
        answer.headers.push(("Content-Range", format!("bytes {start}-{}/{all}", end - 1)));
        answer.body = bytes[start..end].to_vec();
        answer
    }

    fn list(&self, request: &Request) -> Answer {
        let prefix = request.query.get("prefix").cloned().unwrap_or_default();
        let mut found = String::new();
        for (key, bytes) in &self.state().objects {
            let here = key.strip_prefix(&prefix).is_some_and(|rest| !rest.contains('/'));
            if here {
                found += &format!(
                    "<Contents><Key>{key}</Key><LastModified>2026-11-01T10:00:00.000Z\
                     </LastModified><ETag>{}</ETag><Size>{}</Size></Contents>",
                    tag(bytes),
                    bytes.len()
                );
            }
        }
        xml(format!(
            "<ListBucketResult><Name>{BUCKET}</Name><Prefix>{prefix}</Prefix>\
             <IsTruncated>false</IsTruncated>{found}</ListBucketResult>"
        ))
    }

    fn part(&self, request: &Request) -> Answer {
        let number = request.query["partNumber"].parse().unwrap();
        let mut state = self.state();
        let Some((_, parts)) = state.uploads.get_mut(&request.query["uploadId"]) else {
            return status(404);
        };
        parts.insert(number, request.body.clone());
        tagged(200, &request.body)
    }

    fn complete(&self, request: &Request) -> Answer {
        let mut state = self.state();
        let Some((key, parts)) = state.uploads.remove(&request.query["uploadId"]) else {
            return status(404);
        };
        let bytes: Vec<u8> = parts.into_values().flatten().collect();
        let etag = tag(&bytes);
        state.objects.insert(key.clone(), bytes);
        xml(format!(
            "<CompleteMultipartUploadResult><Bucket>{BUCKET}</Bucket><Key>{key}</Key>\
             <ETag>{etag}</ETag></CompleteMultipartUploadResult>"
        ))
    }

    fn delete(&self, request: &Request) -> Answer {
        let text = String::from_utf8(request.body.clone()).unwrap();
        let mut gone = String::new();
        for part in text.split("<Key>").skip(1) {
            let key = part.split("</Key>").next().unwrap();
            self.state().objects.remove(key);
            gone += &format!("<Deleted><Key>{key}</Key></Deleted>");
        }
        xml(format!("<DeleteResult>{gone}</DeleteResult>"))
    }
}

fn status(status: u16) -> Answer {
    Answer { status, headers: Vec::new(), body: Vec::new() }
}

fn tagged(status: u16, bytes: &[u8]) -> Answer {
    Answer { status, headers: vec![("ETag", tag(bytes))], body: Vec::new() }
}

fn xml(text: String) -> Answer {
    let headers = vec![("Content-Type", "application/xml".to_owned())];
    Answer { status: 200, headers, body: text.into_bytes() }
}

fn tag(bytes: &[u8]) -> String {
    use std::hash::{DefaultHasher, Hash, Hasher};
    let mut hasher = DefaultHasher::new();
    bytes.hash(&mut hasher);
    format!("\"{:016x}\"", hasher.finish())
}

fn read(reader: &mut impl BufRead) -> Option<Request> {
    let mut line = String::new();
    reader.read_line(&mut line).ok().filter(|&n| n > 0)?;
    let mut words = line.split_whitespace();
    let (method, target) = (words.next()?.to_owned(), words.next()?);
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let path = plain(path);
    let key = path.trim_start_matches('/').strip_prefix(BUCKET)?;
    let key = key.trim_start_matches('/').to_owned();
    let pair = |text: &str| {
        let (name, value) = text.split_once('=').unwrap_or((text, ""));
        (plain(name), plain(value))
    };
    let query = query.split('&').filter(|text| !text.is_empty()).map(pair).collect();
    let mut headers = BTreeMap::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
    }
    let length = headers.get("content-length").and_then(|text| text.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(Request { method, key, query, headers, body })
}

/// The text without its percent signs.
fn plain(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'%' => {
                let digits = [rest.next().unwrap(), rest.next().unwrap()];
                u8::from_str_radix(std::str::from_utf8(&digits).unwrap(), 16).unwrap()
            }
            other => other,
        });
    }
    String::from_utf8(bytes).unwrap()
}

fn write(mut stream: &TcpStream, method: &str, answer: &Answer, cut: bool) -> Option<()> {
    let mut text = format!("HTTP/1.1 {} Said\r\n", answer.status);
    for (name, value) in &answer.headers {
        text += &format!("{name}: {value}\r\n");
    }
    if answer.status != 204 {
        text += &format!("Content-Length: {}\r\n", answer.body.len());
    }
    text += "\r\n";
    stream.write_all(text.as_bytes()).ok()?;
    if method != "HEAD" {
        let sent = if cut { answer.body.len() / 2 } else { answer.body.len() };
        stream.write_all(&answer.body[..sent]).ok()?;
    }
    stream.flush().ok()
}
