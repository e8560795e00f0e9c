//! How fast lines are read and checked: `cargo bench --bench verify`.
//!
//! `skip` is `serde_json` over the same lines without keeping anything, to compare with.

use divan::Bencher;
use divan::counter::{BytesCount, ItemsCount};
use quipu::contract::Wire;
use quipu::contract::check::Checker;
use quipu::contract::json::Document;
use serde::de::IgnoredAny;
use serde_json::{Value, json};

/// Few, so that a sample is short: the fastest one then counts also where others use the machine.
const LINES: usize = 400;

/// What the lines are: updates of a message alone, as most of a stream is, or all of the wire.
const KINDS: [&str; 2] = ["updates", "mixed"];

fn main() {
    divan::main();
}

fn update(number: usize) -> Value {
    let cost = json!({
        "input": 0.0036, "output": 0.005_175, "cacheRead": 0, "cacheWrite": 0, "total": 0.008_775,
    });
    json!({
        "type": "message_update", "seq": number, "at": 1_790_000_000_000_u64 + number as u64,
        "usage": {
            "input": 1200, "output": 345, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 1545,
            "cost": cost,
        },
        "assistantMessageEvent": {
            "type": "text_delta", "contentIndex": 0, "delta": format!("word {number}, wört\n"),
        },
    })
}

/// The examples of every event of the native wire, over and over.
fn mixed() -> Vec<String> {
    let bundle: Value = serde_json::from_str(Wire::Quipu.strict()).expect("a bundle");
    let defs = bundle["$defs"].as_object().expect("defs").values();
    let examples = defs.filter(|def| {
        let tag = &def["properties"]["type"]["const"];
        let types = Wire::Quipu.types();
        tag.as_str().is_some_and(|tag| types.contains(&tag))
    });
    let examples = examples.flat_map(|def| def["examples"].as_array().into_iter().flatten());
    let lines: Vec<String> = examples.map(Value::to_string).collect();
    lines.iter().cycle().take(LINES).cloned().collect()
}

fn lines(kind: &str) -> Vec<String> {
    match kind {
        "updates" => (0..LINES)
            .map(|number| update(number).to_string())
            .collect(),
        _ => mixed(),
    }
}

fn bench(bencher: Bencher<'_, '_>, kind: &str, each: impl Fn(&[String]) + Sync) {
    let lines = lines(kind);
    let size: usize = lines.iter().map(|line| line.len() + 1).sum();
    bencher
        .counter(BytesCount::new(size))
        .counter(ItemsCount::new(lines.len()))
        .bench(|| each(&lines));
}

#[divan::bench(args = KINDS, sample_count = 1000)]
fn skip(bencher: Bencher<'_, '_>, kind: &str) {
    bench(bencher, kind, |lines| {
        for line in lines {
            divan::black_box(serde_json::from_str::<IgnoredAny>(line).expect("JSON"));
        }
    });
}

#[divan::bench(args = KINDS, sample_count = 1000)]
fn read(bencher: Bencher<'_, '_>, kind: &str) {
    bench(bencher, kind, |lines| {
        let mut scratch = Document::default();
        for line in lines {
            let text = str::from_utf8(line.as_bytes()).expect("UTF-8");
            scratch = divan::black_box(Document::read(text, scratch).expect("JSON"));
        }
    });
}

#[divan::bench(args = KINDS, sample_count = 1000)]
fn read_and_check(bencher: Bencher<'_, '_>, kind: &str) {
    let checker = Checker::strict(Wire::Quipu);
    bench(bencher, kind, |lines| {
        let mut scratch = Document::default();
        let mut faults = Vec::new();
        for line in lines {
            let text = str::from_utf8(line.as_bytes()).expect("UTF-8");
            let document = Document::read(text, scratch).expect("JSON");
            checker.check(document.root(), &mut faults);
            scratch = document;
        }
        assert!(faults.is_empty(), "{faults:?}");
    });
}
