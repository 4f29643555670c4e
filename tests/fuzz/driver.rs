//! Damaged inputs: what is valid, changed at random, and handed to whatever reads it.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::thread::{Thread, park_timeout, scope};
use std::time::{Duration, Instant};

use consilience::{Error, Seed, Stream};
use rayon::prelude::*;

/// What became of some bytes: accepted, and then held against the laws, or refused.
pub(crate) type Verdict = Result<(), Error>;

/// Reads, and holds whatever is accepted against its laws.
type Read<'a> = Box<dyn Fn(&[u8]) -> Verdict + Sync + 'a>;

/// Makes bytes of its own, where changes to valid ones would hardly find them.
type Draw = fn(&mut Stream) -> Vec<u8>;

/// What reads bytes, and valid bytes of it.
pub(crate) struct Target<'a> {
    pub(crate) name: &'a str,
    pub(crate) valid: Vec<Vec<u8>>,
    pub(crate) read: Read<'a>,
    /// Every second input, where there is one.
    pub(crate) draw: Option<Draw>,
}

/// How long a target is attacked.
#[derive(Clone, Copy)]
enum Length {
    Inputs(usize),
    Time(Duration),
}

fn asked<T: std::str::FromStr>(name: &str) -> Option<T> {
    let value = std::env::var(name).ok()?;
    Some(value.parse().unwrap_or_else(|_| panic!("{name} is a number")))
}

/// `usual` inputs where neither `CONSILIENCE_FUZZ_INPUTS` nor `CONSILIENCE_FUZZ_SECONDS` is set.
fn length(usual: usize) -> Length {
    match (asked("CONSILIENCE_FUZZ_INPUTS"), asked("CONSILIENCE_FUZZ_SECONDS")) {
        (Some(inputs), _) => Length::Inputs(inputs),
        (None, Some(seconds)) => Length::Time(Duration::from_secs_f64(seconds)),
        (None, None) => Length::Inputs(usual),
    }
}

/// Inputs between two looks at the clock.
const BATCH: usize = 256;

/// Inputs of which some must be accepted: of compressed tables, the strictest, it is one in a
/// hundred.
const ENOUGH: usize = 2_000;

/// How long one input may take: a test that hangs would say nothing.
const LONGEST: Duration = Duration::from_secs(120);

/// Which input each thread reads, and since when.
struct Watch {
    start: Instant,
    /// Number of the input, and one more than the milliseconds of the clock; 0 between inputs.
    threads: Vec<(AtomicU64, AtomicU64)>,
    done: AtomicBool,
}

impl Watch {
    fn new() -> Self {
        let threads = (0..rayon::current_num_threads()).map(|_| Default::default()).collect();
        Watch { start: Instant::now(), threads, done: AtomicBool::new(false) }
    }

    fn reading<T>(&self, input: usize, read: impl FnOnce() -> T) -> T {
        let thread = rayon::current_thread_index().and_then(|t| self.threads.get(t));
        let Some((number, since)) = thread else { return read() };
        number.store(input as u64, SeqCst);
        since.store(1 + self.start.elapsed().as_millis() as u64, SeqCst);
        let found = read();
        since.store(0, SeqCst);
        found
    }

    /// Ends the process where an input takes too long.
    fn guard(&self, name: &str) {
        while !self.done.load(SeqCst) {
            park_timeout(Duration::from_secs(1));
            for (number, since) in &self.threads {
                let since = Duration::from_millis(since.load(SeqCst));
                if !since.is_zero() && self.start.elapsed() > since + LONGEST {
                    let number = number.load(SeqCst);
                    eprintln!("{name}, input {number}: no end after {LONGEST:?}");
                    std::process::abort();
                }
            }
        }
    }
}

/// Ends the guard, also where an input panics.
struct Guarded<'a>(&'a Watch, Thread);

impl Drop for Guarded<'_> {
    fn drop(&mut self) {
        self.0.done.store(true, SeqCst);
        self.1.unpark();
    }
}

impl<'a> Target<'a> {
    pub(crate) fn new(
        name: &'a str,
        valid: Vec<Vec<u8>>,
        read: impl Fn(&[u8]) -> Verdict + Sync + 'a,
    ) -> Self {
        Target { name, valid, read: Box::new(read), draw: None }
    }

    /// Reads all that is valid, which must be accepted, what the corpus holds, and damaged copies
    /// of both. A panic is reported with the bytes, and goes on.
    pub(crate) fn attack(&self, usual: usize) {
        for valid in &self.valid {
            let verdict = (self.read)(valid);
            assert!(verdict.is_ok(), "{}: refuses what is valid: {verdict:?}", self.name);
        }
        let files = self.files();
        if std::env::var("CONSILIENCE_FUZZ_CORPUS").is_ok_and(|what| what == "write") {
            return self.write_corpus();
        }
        for (at, bytes) in files.iter().enumerate() {
            let _ = self.verdict(bytes, &format!("corpus file {at}"));
        }
        let pool: Vec<Vec<u8>> = self.valid.iter().chain(&files).cloned().collect();
        let watch = Watch::new();
        let (done, accepted) = scope(|threads| {
            let guard = threads.spawn(|| watch.guard(self.name));
            let _guarded = Guarded(&watch, guard.thread().clone());
            self.attack_damaged(&pool, usual, &watch)
        });
        println!("{}: {} files, {done} inputs, {accepted} accepted", self.name, files.len());
        // Where nothing that is damaged gets in, no law is tried on what gets in.
        assert!(done < ENOUGH || accepted > 0, "{}: none of {done} inputs accepted", self.name);
    }

    /// Reads damaged copies, and says how many, and how many of those that differ from all there
    /// were before were accepted.
    fn attack_damaged(&self, pool: &[Vec<u8>], usual: usize, watch: &Watch) -> (usize, usize) {
        let (mut done, mut accepted, start) = (0, 0, Instant::now());
        loop {
            let batch = match length(usual) {
                Length::Inputs(all) => all - done,
                Length::Time(all) if start.elapsed() < all => BATCH,
                Length::Time(_) => 0,
            };
            if batch == 0 {
                return (done, accepted);
            }
            let accepts = |i: usize| {
                let input = self.input(pool, i);
                let verdict = watch.reading(i, || self.verdict(&input, &format!("input {i}")));
                verdict.is_ok() && !pool.contains(&input)
            };
            accepted += (done..done + batch).into_par_iter().filter(|&i| accepts(i)).count();
            done += batch;
        }
    }

    fn input(&self, pool: &[Vec<u8>], i: usize) -> Vec<u8> {
        let mut stream = Seed(i as u64).derive(self.name, 0).stream();
        match self.draw {
            Some(draw) if i.is_multiple_of(2) => draw(&mut stream),
            _ => damaged(pool, &mut stream),
        }
    }

    fn verdict(&self, bytes: &[u8], what: &str) -> Verdict {
        let outcome = catch_unwind(AssertUnwindSafe(|| (self.read)(bytes)));
        let verdict = outcome.unwrap_or_else(|panic| {
            let text = String::from_utf8_lossy(bytes);
            eprintln!("{}, {what}: {bytes:02x?}\n{text}", self.name);
            resume_unwind(panic)
        });
        if let Err(error) = &verdict {
            // One line that somebody can read.
            let message = error.message();
            assert!(!message.is_empty() && message.len() < 2_000, "{}: {message}", self.name);
        }
        verdict
    }

    /// Where the corpus of this target lies.
    fn folder(&self) -> PathBuf {
        let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
        let name: String = self.name.chars().map(plain).collect();
        let corpus = concat!(env!("CARGO_MANIFEST_DIR"), "/../eval/corpus");
        PathBuf::from(corpus).join(name.replace("--", "-"))
    }

    /// What the corpus holds, in the order of the names; nothing where it is not there.
    fn files(&self) -> Vec<Vec<u8>> {
        let Ok(entries) = std::fs::read_dir(self.folder()) else { return Vec::new() };
        let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
        paths.sort();
        paths.iter().map(|path| std::fs::read(path).unwrap()).collect()
    }

    /// Makes the corpus of a target that reads text or worlds anew: the shortest input that gets
    /// each of the rarest answers.
    fn write_corpus(&self) {
        let text = self.valid.iter().all(|bytes| std::str::from_utf8(bytes).is_ok())
            && !self.name.ends_with("postcard");
        if !text && self.draw.is_none() {
            return;
        }
        let mut seen: BTreeMap<String, (usize, Vec<u8>)> = BTreeMap::new();
        for i in 0..INPUTS {
            let bytes = self.input(&self.valid, i);
            let answer = match (self.read)(&bytes) {
                Ok(()) => continue,
                Err(error) => error.message().replace(|c: char| !c.is_ascii_alphabetic(), " "),
            };
            let kind: Vec<&str> = answer.split_whitespace().filter(|w| w.len() > 3).collect();
            let (count, shortest) = seen.entry(kind.join(" ")).or_insert((0, bytes.clone()));
            *count += 1;
            if bytes.len() < shortest.len() {
                *shortest = bytes;
            }
        }
        let mut rare: Vec<(usize, Vec<u8>)> = seen.into_values().collect();
        rare.retain(|(count, bytes)| *count > 1 && bytes.len() <= SMALL);
        rare.sort();
        let folder = self.folder();
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).unwrap();
        for (at, (_, bytes)) in rare.iter().take(FILES).enumerate() {
            let ending = if text { "txt" } else { "bin" };
            std::fs::write(folder.join(format!("{at}.{ending}")), bytes).unwrap();
        }
    }
}

/// Inputs that the corpus is made of, the most bytes of one, and files for each target.
const INPUTS: usize = 20_000;
const SMALL: usize = 512;
const FILES: usize = 2;

/// What readers of text and of numbers may stumble over.
const WORDS: [&[u8]; 24] = [
    b",",
    b";",
    b"\t",
    b"\"",
    b"\n",
    b"\r\n",
    b"-",
    b"-1",
    b"0",
    b"nan",
    b"inf",
    b"1e308",
    b"1e-310",
    b"4294967295",
    b"18446744073709551616",
    b"-9223372036854775808",
    b"0x1F",
    b"\xef\xbb\xbf",
    b"\xff\xfe",
    b"\x00",
    b"\xc3\x28",
    b"{}()[]'",
    b"99999999999999999999999999999999999999999",
    b"\xff\xff\xff\xff\xff\xff\xff\x7f",
];

/// One valid input with one to eight changes.
fn damaged(valid: &[Vec<u8>], stream: &mut Stream) -> Vec<u8> {
    let mut bytes = valid[stream.below(valid.len())].clone();
    for _ in 0..=stream.below(8) {
        change(&mut bytes, valid, stream);
    }
    bytes
}

fn change(bytes: &mut Vec<u8>, valid: &[Vec<u8>], stream: &mut Stream) {
    let at = stream.below(bytes.len() + 1);
    let rest = bytes.len() - at;
    let some = |rest: usize, stream: &mut Stream| match stream.below(4) {
        0 => stream.below(rest + 1),
        _ => stream.below(rest.min(8) + 1),
    };
    match stream.below(9) {
        0 if rest > 0 => bytes[at] ^= 1 << stream.below(8),
        1 if rest > 0 => bytes[at] = stream.below(256) as u8,
        2 => drop(bytes.drain(at..at + some(rest, stream))),
        3 => bytes.truncate(at),
        4 => {
            let word = WORDS[stream.below(WORDS.len())];
            bytes.splice(at..at, word.iter().copied());
        }
        5 => {
            let word = WORDS[stream.below(WORDS.len())];
            let end = at + rest.min(word.len());
            bytes.splice(at..end, word.iter().copied());
        }
        6 => {
            // A part again, perhaps many times.
            let part = bytes[at..at + some(rest, stream)].to_vec();
            let times = 1 + stream.below(if part.len() < 16 { 40 } else { 2 });
            bytes.splice(at..at, part.repeat(times));
        }
        7 => {
            let other = &valid[stream.below(valid.len())];
            let from = stream.below(other.len() + 1);
            let part = other[from..from + some(other.len() - from, stream)].to_vec();
            bytes.splice(at..at, part);
        }
        _ => {
            // A whole number of some width, little-endian.
            let value = match stream.below(4) {
                0 => 0,
                1 => u64::MAX >> stream.below(64),
                2 => 1 << stream.below(64),
                _ => bytes.len() as u64,
            };
            let width = rest.min(1 << stream.below(4));
            bytes[at..at + width].copy_from_slice(&value.to_le_bytes()[..width]);
        }
    }
}
