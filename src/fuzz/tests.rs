//! Runs every target on its seeds, on what becomes of them when they are damaged, and on noise.

use std::fs;
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};

use super::{TARGETS, Target};

/// Inputs for each target beside its seeds, unless `FUZZ_CASES` says how many.
const CASES: usize = 1000;
/// A target costs time in proportion to its input, so damaged seeds do not grow on and on.
const LONGEST: usize = 6000;

fn folder(target: &str) -> PathBuf {
    let seeds = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fuzz");
    seeds.join(target)
}

/// The seeds of a target with the names of their files, in the order of the names.
pub(crate) fn seeds(target: &str) -> Vec<(String, Vec<u8>)> {
    let files = fs::read_dir(folder(target)).unwrap();
    let mut seeds: Vec<_> = files
        .map(|file| file.unwrap())
        .map(|file| {
            let name = file.file_name().into_string().unwrap();
            (name, fs::read(file.path()).unwrap())
        })
        .collect();
    seeds.sort();
    seeds
}

/// Xorshift: the same numbers each time.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// Less than `bound`, or 0.
    fn below(&mut self, bound: usize) -> usize {
        let bound = bound.max(1) as u64;
        usize::try_from((self.next() >> 16) % bound).unwrap()
    }

    fn byte(&mut self) -> u8 {
        self.next().to_le_bytes()[3]
    }

    fn pick<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        &list[self.below(list.len())]
    }
}

/// Values to put in place of others.
const VALUES: &[&str] = &[
    "null",
    "true",
    "0",
    "1",
    "7",
    "-1",
    "1e400",
    "1e15",
    "18446744073709551615",
    "18446744073709551616",
    "1.5",
    "\"\"",
    "\"0\"",
    "\"error\"",
    "\"\\ud83d\"",
    "\"\\ude00\\ud83d\"",
    "\"\\u0000\"",
    "\"{\"",
    "\"{}\"",
    "[]",
    "[[]]",
    "[null]",
    "{}",
    "{\"error\":{}}",
    "{\"type\":\"text\",\"text\":\"x\"}",
];

/// Pieces of text to put between others.
const PIECES: &[&str] = &[
    "\n",
    "\r",
    "\r\n",
    "\n\n",
    "\r\n\r\n",
    "data:",
    "data: ",
    "\ndata: ",
    "event: error\n",
    ": x\n",
    "data: [DONE]\n\n",
    "\u{feff}",
    "\0",
    "\u{2028}",
    "\u{1f600}",
    "{",
    "}",
    "[",
    "]",
    "\"",
    "\\",
    ",",
    ":",
    "\\ud83d",
    "\\u",
    "[[[[[[[[",
    "{\"a\":{\"a\":{\"a\":",
    "1e400",
];

/// Damages the input in one place.
fn damage(input: &mut Vec<u8>, other: &[u8], random: &mut Random) {
    let at = random.below(input.len() + 1);
    let rest = input.len() - at;
    match random.below(10) {
        // A whole event more, less, or elsewhere: what the state of a reader depends on.
        0..=3 => events(input, other, random),
        4 | 5 => value(input, random),
        6 => {
            let piece = random.pick(PIECES).bytes();
            input.splice(at..at, piece);
        }
        7 => {
            let length = random.below(rest.min(12) + 1);
            input.drain(at..at + length);
        }
        8 => {
            if let Some(byte) = input.get_mut(at) {
                *byte = random.byte();
            }
        }
        _ => {
            let from = random.below(other.len() + 1);
            let length = random.below((other.len() - from).min(200) + 1);
            let piece = other[from..from + length].to_vec();
            let length = random.below(rest.min(200) + 1);
            input.splice(at..at + length, piece);
        }
    }
    input.truncate(LONGEST);
}

fn events(input: &mut Vec<u8>, other: &[u8], random: &mut Random) {
    let split = |bytes: &[u8]| -> Vec<Vec<u8>> {
        let ends = bytes.windows(2).enumerate();
        let ends = ends.filter(|(_, pair)| matches!(pair, [b'\n', b'\n' | b'\r'] | [b'\r', b'\r']));
        let mut events = Vec::new();
        let mut from = 0;
        for (at, _) in ends {
            if at >= from {
                events.push(bytes[from..at + 2].to_vec());
                from = at + 2;
            }
        }
        events.push(bytes[from..].to_vec());
        events
    };
    let mut list = split(input);
    let at = random.below(list.len());
    match random.below(5) {
        0 => drop(list.remove(at)),
        1 => {
            let event = list[at].clone();
            list.insert(random.below(list.len()), event);
        }
        2 => {
            let event = list.remove(at);
            list.insert(random.below(list.len() + 1), event);
        }
        3 => list.truncate(at + 1),
        _ => {
            let foreign = split(other);
            list.insert(at, random.pick(&foreign).clone());
        }
    }
    *input = list.concat();
}

/// Puts another value behind some colon.
fn value(input: &mut Vec<u8>, random: &mut Random) {
    let colons: Vec<usize> = (0..input.len()).filter(|at| input[*at] == b':').collect();
    if colons.is_empty() {
        return;
    }
    let behind = |colon: usize| {
        let end = input[colon + 1..]
            .iter()
            .position(|byte| b",}]\n".contains(byte));
        colon + 1..end.map_or(input.len(), |end| colon + 1 + end)
    };
    let old = behind(*random.pick(&colons));
    let alike = |value: &&&str| value.as_bytes().first() == input[old.clone()].trim_ascii().first();
    let new = match random.below(4) {
        // From elsewhere in the same input, which is of a kind that others expect.
        0 => input[behind(*random.pick(&colons))].to_vec(),
        // Most readers refuse another kind of value at once.
        1 | 2 => {
            let alike: Vec<&str> = VALUES.iter().filter(alike).copied().collect();
            if alike.is_empty() {
                return;
            }
            random.pick(&alike).as_bytes().to_vec()
        }
        _ => random.pick(VALUES).as_bytes().to_vec(),
    };
    input.splice(old, new);
}

fn noise(random: &mut Random) -> Vec<u8> {
    let length = random.below(200);
    let mut bytes = Vec::new();
    while bytes.len() < length {
        match random.below(3) {
            0 => bytes.extend_from_slice(random.pick(PIECES).as_bytes()),
            1 => bytes.extend_from_slice(random.pick(VALUES).as_bytes()),
            _ => bytes.push(random.byte()),
        }
    }
    bytes
}

/// Fails with the input, as a byte string of Rust, if the target panics.
fn check(name: &str, target: Target, input: &[u8], origin: &str) {
    assert!(
        catch_unwind(|| target(input)).is_ok(),
        "{name} fails (see above) on {origin}, {} bytes:\nb\"{}\"",
        input.len(),
        input.escape_ascii()
    );
}

fn run(name: &str) {
    let (_, target) = TARGETS.iter().find(|(known, _)| *known == name).unwrap();
    let seeds = seeds(name);
    for (file, seed) in &seeds {
        check(name, *target, seed, file);
    }
    let cases = std::env::var("FUZZ_CASES");
    let cases = cases.map_or(CASES, |cases| cases.parse().unwrap());
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    for number in 0..cases {
        let input = if random.below(16) == 0 {
            noise(&mut random)
        } else {
            let mut input = random.pick(&seeds).1.clone();
            for _ in 0..=random.below(6) {
                let other = &random.pick(&seeds).1;
                damage(&mut input, other, &mut random);
            }
            input
        };
        check(name, *target, &input, &format!("case {number}"));
    }
}

/// One test a target, so that they run beside each other.
macro_rules! targets {
    ($($name:ident)*) => {
        $(#[test]
        fn $name() {
            run(stringify!($name));
        })*

        #[test]
        fn every_target_is_run_and_has_seeds() {
            let names: Vec<&str> = TARGETS.iter().map(|(name, _)| *name).collect();
            assert_eq!(names, [$(stringify!($name)),*]);
            let folders = fs::read_dir(folder("")).unwrap();
            let mut folders: Vec<String> = folders
                .map(|file| file.unwrap().file_name().into_string().unwrap())
                .collect();
            folders.sort();
            assert_eq!(folders, names);
            for name in names {
                assert!(seeds(name).len() >= 4, "seeds of {name}");
            }
        }
    };
}

targets! { anthropic convert google openai_chat openai_responses partial_json session sse }
