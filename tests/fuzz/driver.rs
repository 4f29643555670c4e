//! Damaged inputs: what is valid, changed at random, and handed to whatever reads it.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use consilience::{Seed, Stream};
use rayon::prelude::*;

/// Reads, and holds whatever is accepted against its laws; says whether it was accepted.
type Read<'a> = Box<dyn Fn(&[u8]) -> bool + Sync + 'a>;

/// What reads bytes, and valid bytes of it.
pub(crate) struct Target<'a> {
    pub(crate) name: &'a str,
    pub(crate) valid: Vec<Vec<u8>>,
    pub(crate) read: Read<'a>,
}

/// Inputs for each target: so many where nothing else is said, in the variable
/// `CONSILIENCE_FUZZ_INPUTS`, such as 10000000.
pub(crate) fn inputs(usual: usize) -> usize {
    let asked = std::env::var("CONSILIENCE_FUZZ_INPUTS").ok();
    asked.map_or(usual, |n| n.parse().expect("CONSILIENCE_FUZZ_INPUTS is a number"))
}

impl Target<'_> {
    /// Reads all that is valid, which must be accepted, and so many damaged copies. A panic is
    /// reported with the bytes, and goes on.
    pub(crate) fn attack(&self, inputs: usize) {
        for valid in &self.valid {
            assert!((self.read)(valid), "{}: refuses what is valid", self.name);
        }
        let accepted: usize = (0..inputs)
            .into_par_iter()
            .map(|i| {
                let bytes = damaged(&self.valid, &mut Seed(i as u64).derive(self.name, 0).stream());
                let outcome = catch_unwind(AssertUnwindSafe(|| (self.read)(&bytes)));
                let accepted = outcome.unwrap_or_else(|panic| {
                    let text = String::from_utf8_lossy(&bytes);
                    eprintln!("{}, input {i}: {bytes:02x?}\n{text}", self.name);
                    resume_unwind(panic)
                });
                usize::from(accepted)
            })
            .sum();
        println!("{}: {inputs} inputs, {accepted} accepted", self.name);
    }
}

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
