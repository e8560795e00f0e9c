//! `quipu sample`: sound by every witness, and nothing of a wire is missing.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::Read as _;
use std::process::Stdio;

use quipu::contract::{SCHEMA_HASH, SCHEMA_VERSION};
use quipu::sample::Sample;
use quipu::wire::Wire;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::check::{self, kind};
use crate::harness::{World, finish};
use crate::wire_check::{self, Ended};

/// What a stream can have only once, and so a sample has or has not: the even seeds one form, the odd
/// seeds the other. `Title.field` is the field, `Title!field` its absence.
const ONCE: [(Wire, &[&str]); 3] = [
    // `seq` and `at` of every line, told apart below.
    (Wire::Quipu, &[]),
    (
        Wire::Senpi,
        &[
            "SenpiSessionHeader.parentSession",
            "SenpiSessionHeader!parentSession",
        ],
    ),
    (
        Wire::Dreb,
        &[
            "DrebSessionHeader.parentSession",
            "DrebSessionHeader!parentSession",
            "DrebSessionHeader.agentType",
            "DrebSessionHeader!agentType",
        ],
    ),
];

/// What no legal stream of a wire has.
const NEVER: [(Wire, &[&str]); 3] = [
    // A native header names the native wire.
    (Wire::Quipu, &["WireName=senpi", "WireName=dreb"]),
    (Wire::Senpi, &[]),
    // A fresh answer is `stop` on this wire.
    (Wire::Dreb, &["StopReason=pending"]),
];

fn of<'a>(lists: &[(Wire, &'a [&'a str])], wire: Wire) -> BTreeSet<&'a str> {
    let list = lists.iter().find(|(of, _)| *of == wire);
    list.into_iter()
        .flat_map(|(_, names)| *names)
        .copied()
        .collect()
}

fn sample(wire: Wire, seed: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    Sample::new(wire).seed(seed).write(&mut bytes).unwrap();
    bytes
}

/// The lines of a sample, sound or the test fails.
#[track_caller]
fn sound(wire: Wire, seed: u64) -> Vec<Value> {
    let bytes = sample(wire, seed);
    let lines = match wire {
        Wire::Quipu => check::check_any(&bytes).map(|stream| stream.lines),
        _ => wire_check::check(wire, &bytes, Ended::ByItself),
    };
    lines.unwrap_or_else(|findings| panic!("{} {seed}:\n{}", wire.name(), findings.join("\n")))
}

/// A strict bundle, walked alongside lines.
struct Bundle(Value);

impl Bundle {
    fn of(wire: Wire) -> Self {
        Self(serde_json::from_str(wire.strict()).unwrap())
    }

    fn definition(&self, title: &str) -> &Value {
        &self.0["$defs"][title]
    }

    /// What a union's member is called: its title, or the JSON type that it is.
    fn members(union: &Value) -> impl Iterator<Item = (&str, &Value)> {
        let members = union["oneOf"].as_array().into_iter().flatten();
        members.map(|member| {
            let name = title(member).or_else(|| member["type"].as_str());
            (name.expect("a member has a title or a type"), member)
        })
    }

    /// Everything that can be met, under the names of [`Bundle::meet`].
    fn known(&self) -> BTreeSet<String> {
        let mut known = BTreeSet::new();
        for (title, schema) in self.0["$defs"].as_object().unwrap() {
            known.insert(title.clone());
            let values = schema["enum"].as_array().into_iter().flatten();
            known.extend(values.map(|value| format!("{title}={}", value.as_str().unwrap())));
            known.extend(Self::members(schema).map(|(name, _)| format!("{title}>{name}")));
            let required = schema["required"].as_array();
            for (name, field) in schema["properties"].as_object().into_iter().flatten() {
                known.extend(
                    Self::members(field).map(|(member, _)| format!("{title}.{name}>{member}")),
                );
                if !required.is_some_and(|list| list.iter().any(|listed| listed == name)) {
                    known.insert(format!("{title}.{name}"));
                    known.insert(format!("{title}!{name}"));
                }
                if field["type"] == "boolean" && field.get("const").is_none() {
                    known.extend([true, false].map(|value| format!("{title}.{name}={value}")));
                }
            }
        }
        known.extend(Self::members(&self.0).map(|(name, _)| format!("line>{name}")));
        known
    }

    /// Notes all that a line shows.
    fn line(&self, line: &Value, met: &mut BTreeSet<String>) {
        self.union("line", &self.0, line, met);
    }

    /// Notes what a value shows of its schema; `at` names a schema without a title.
    fn meet(&self, at: &str, schema: &Value, value: &Value, met: &mut BTreeSet<String>) {
        if schema["$ref"] == "#" {
            self.line(value, met);
        } else if let Some(title) = title(schema) {
            met.insert(title.into());
            self.meet(title, self.definition(title), value, met);
        } else {
            for part in schema["allOf"].as_array().into_iter().flatten() {
                self.meet(at, part, value, met);
            }
            if schema["enum"].is_array() {
                met.insert(format!("{at}={}", value.as_str().unwrap()));
            }
            if schema["type"] == "boolean" {
                met.insert(format!("{at}={value}"));
            }
            for (name, field) in schema["properties"].as_object().into_iter().flatten() {
                match value.get(name) {
                    Some(value) => {
                        let at = format!("{at}.{name}");
                        self.meet(&at, field, value, met);
                        met.insert(at);
                    }
                    None => {
                        met.insert(format!("{at}!{name}"));
                    }
                }
            }
            for item in value.as_array().into_iter().flatten() {
                self.meet(at, &schema["items"], item, met);
            }
            self.union(at, schema, value, met);
        }
    }

    fn union(&self, at: &str, union: &Value, value: &Value, met: &mut BTreeSet<String>) {
        for (name, member) in Self::members(union).filter(|(_, member)| self.fits(member, value)) {
            met.insert(format!("{at}>{name}"));
            self.meet(at, member, value, met);
        }
    }

    /// Whether a value is that member of a union: of its JSON type, with its constants.
    fn fits(&self, member: &Value, value: &Value) -> bool {
        let Some(title) = title(member) else {
            return match value {
                Value::Null => member["type"] == "null",
                Value::String(_) => member["type"] == "string",
                Value::Array(_) => member["type"] == "array",
                _ => false,
            };
        };
        let definition = self.definition(title);
        if definition["oneOf"].is_array() {
            return Self::members(definition).any(|(_, member)| self.fits(member, value));
        }
        let tags = ["type", "role", "source"];
        value.is_object()
            && tags
                .iter()
                .all(|tag| match &definition["properties"][tag]["const"] {
                    Value::Null => true,
                    constant => value[tag] == *constant,
                })
    }
}

fn title(reference: &Value) -> Option<&str> {
    reference["$ref"].as_str()?.strip_prefix("#/$defs/")
}

/// Whether it tells of the stamp of a line.
fn is_stamp(name: &str) -> bool {
    [".seq", ".at", "!seq", "!at"]
        .iter()
        .any(|end| name.ends_with(end))
}

/// What a sample shows, but for what even and odd seeds share between them, which comes second.
fn shown(bundle: &Bundle, wire: Wire, seed: u64) -> (BTreeSet<String>, BTreeSet<String>) {
    let mut met = BTreeSet::new();
    for line in sound(wire, seed) {
        bundle.line(&line, &mut met);
    }
    let once = of(&ONCE, wire);
    met.into_iter()
        .partition(|name| !(once.contains(name.as_str()) || seed % 2 == 1 && is_stamp(name)))
}

/// The known names without some.
fn missing(
    known: &BTreeSet<String>,
    met: &BTreeSet<String>,
    but: impl Fn(&str) -> bool,
) -> Vec<String> {
    let missing = known.difference(met).filter(|name| !but(name));
    missing.cloned().collect()
}

fn nothing_is_missing(wire: Wire, seeds: std::ops::Range<u64>) {
    let bundle = Bundle::of(wire);
    let known = bundle.known();
    let (once, never) = (of(&ONCE, wire), of(&NEVER, wire));
    for name in once.iter().chain(&never) {
        assert!(known.contains(*name), "nothing is called {name}");
    }
    let mut shared = BTreeSet::new();
    for seed in seeds {
        let (met, rest) = shown(&bundle, wire, seed);
        let odd = seed % 2 == 1;
        let excused =
            |name: &str| once.contains(name) || never.contains(name) || odd && is_stamp(name);
        let missing = missing(&known, &met, excused);
        assert!(
            missing.is_empty(),
            "{} {seed} lacks {missing:#?}",
            wire.name()
        );
        let impossible: Vec<_> = never.iter().filter(|name| met.contains(**name)).collect();
        assert!(
            impossible.is_empty(),
            "{} {seed} has {impossible:?}",
            wire.name()
        );
        assert!(!odd || wire != Wire::Quipu || rest.iter().all(|name| !name.contains(".seq")));
        if seed < 2 {
            // Of what there is only once a sample has one form; the other one comes from its neighbour.
            assert_eq!(
                rest.iter()
                    .filter(|name| once.contains(name.as_str()))
                    .count()
                    * 2,
                once.len()
            );
            shared.extend(rest);
        }
    }
    let unshared: Vec<_> = once
        .iter()
        .filter(|name| !shared.contains(**name))
        .collect();
    assert!(
        unshared.is_empty(),
        "neither an even nor an odd seed of {} has {unshared:?}",
        wire.name()
    );
}

#[test]
fn native_samples_are_sound_and_lack_nothing() {
    nothing_is_missing(Wire::Quipu, 0..4);
}

#[test]
fn senpi_samples_are_sound_and_lack_nothing() {
    nothing_is_missing(Wire::Senpi, 0..8);
}

#[test]
fn dreb_samples_are_sound_and_lack_nothing() {
    nothing_is_missing(Wire::Dreb, 0..4);
}

#[test]
#[ignore = "it takes minutes; .ci/run does it"]
fn fifty_samples_of_every_wire_are_sound_and_lack_nothing() {
    std::thread::scope(|scope| {
        for wire in Wire::ALL {
            scope.spawn(move || nothing_is_missing(wire, 0..50));
        }
    });
}

/// The digests of samples, but for the version and digest of the schema in their headers. A sample
/// keeps its bytes for ever: a line of this list changes with the contract or not at all.
const DIGESTS: &str = include_str!("samples.txt");

#[test]
fn a_seed_gives_the_same_bytes_for_ever() {
    let mut digests = String::new();
    for wire in Wire::ALL {
        for seed in [0, 1, 2, u64::MAX] {
            let text = String::from_utf8(sample(wire, seed)).unwrap();
            let text = text.replace(SCHEMA_HASH, "").replace(SCHEMA_VERSION, "");
            let _ = write!(digests, "{} {seed} ", wire.name());
            for byte in Sha256::digest(text) {
                let _ = write!(digests, "{byte:02x}");
            }
            digests.push('\n');
        }
    }
    assert_eq!(
        digests, DIGESTS,
        "the whole of tests/suite/samples.txt, if this is meant:\n{digests}"
    );
}

#[test]
fn the_program_writes_the_samples_of_the_library() {
    let world = World::new();
    let run = world.bare().arg("sample").run();
    assert_eq!((run.code(), run.stderr.as_str()), (0, ""));
    assert!(run.stdout == sample(Wire::Quipu, 0));
    let args = ["sample", "--wire", "senpi", "--seed", "7"];
    assert!(world.bare().args(args).run().stdout == sample(Wire::Senpi, 7));
}

#[test]
fn a_wire_that_there_is_not_is_a_mistake() {
    let run = World::new().bare().args(["sample", "--wire", "pi"]).run();
    assert_eq!((run.code(), run.stdout.len()), (2, 0));
    assert!(run.stderr.contains("quipu, senpi, dreb"), "{}", run.stderr);
}

#[test]
fn a_number_below_0_is_a_mistake_that_is_named() {
    let world = World::new();
    for option in ["--seed", "--deltas"] {
        let run = world.bare().args(["sample", option, "-1"]).run();
        assert_eq!((run.code(), run.stdout.len()), (2, 0));
        let told = format!("invalid value '-1' for '{option} <N>'");
        assert!(run.stderr.contains(&told), "{}", run.stderr);
    }
}

#[test]
fn a_reader_that_goes_away_early_is_no_error() {
    let world = World::new();
    let mut sample = world.bare().args(["sample", "--deltas", "100000000"]);
    let mut child = sample.start(Stdio::piped());
    let mut first = [0; 100];
    let mut stdout = child.stdout.take().unwrap();
    stdout.read_exact(&mut first).unwrap();
    drop(stdout);
    let (status, stderr) = finish(child);
    assert_eq!((status.code(), stderr.as_str()), (Some(0), ""));
}

#[test]
fn a_long_sample_is_sound_and_its_lines_stay_short() {
    let mut bytes = Vec::new();
    let long = Sample::new(Wire::Quipu).seed(1).deltas(3_000);
    long.write(&mut bytes).unwrap();
    let stream = check::check_any(&bytes).unwrap_or_else(|findings| panic!("{findings:#?}"));
    let updates = stream.of("message_update").len();
    assert!((3_000..4_000).contains(&updates), "{updates}");
    let longest = |bytes: &[u8]| bytes.split(|byte| *byte == b'\n').map(<[u8]>::len).max();
    assert!(longest(&bytes) < Some(64 << 10), "{:?}", longest(&bytes));
}

#[test]
fn the_walk_sees_what_is_taken_away() {
    let bundle = Bundle::of(Wire::Quipu);
    let lines = sound(Wire::Quipu, 0);
    let met = |lines: &[Value]| {
        let mut met = BTreeSet::new();
        for line in lines {
            bundle.line(line, &mut met);
        }
        met
    };
    let all = met(&lines);
    for gone in [
        "suggest_next",
        "tool_hook_status",
        "queue_update",
        "system_prompt_change",
    ] {
        let is_it = |line: &Value| {
            let inner = std::iter::successors(Some(line), |line| line.get("event"));
            inner.last().is_some_and(|line| kind(line) == gone)
        };
        let rest: Vec<Value> = lines.iter().filter(|line| !is_it(line)).cloned().collect();
        let fewer = met(&rest);
        assert!(fewer.len() < all.len() && fewer.is_subset(&all), "{gone}");
    }
}
