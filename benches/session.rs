//! What a long session costs: `cargo bench --bench session`.
//!
//! A session of 50,000 entries and 200 MB is opened, once with a compaction before its last 500
//! entries and once without, which is the worst: all of it is given to the model. Appends are
//! measured in an empty session and behind those 200 MB; they should cost the same.

#![allow(clippy::print_stdout, reason = "a bench prints its figures")]

use std::fs::{self, File};
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use quipu::event::AgentMessage;
use quipu::session::SessionStore;
use serde_json::{Value, json};

const ENTRIES: usize = 50_000;
/// Bytes of an entry's text; with 50,000 entries the file has 200 MB.
const TEXT: usize = 3_800;
const APPENDS: usize = 2_000;
/// The best of so many rounds counts, as others may use the machine.
const ROUNDS: usize = 3;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    println!("session        size  entries  in context    opened   memory  an append");
    for (name, entries, compacted) in [
        ("fresh", 1, false),
        ("compacted", ENTRIES, true),
        ("whole", ENTRIES, false),
    ] {
        let path = written(folder.path(), name, entries, compacted)?;
        let size = fs::metadata(&path)?.len();
        let mut opened = Duration::MAX;
        let mut context = 0;
        forget_peak()?;
        let before = peak()?;
        let mut grown = 0;
        for _ in 0..ROUNDS {
            let start = Instant::now();
            let resumed = SessionStore::open(&path)?;
            opened = opened.min(start.elapsed());
            context = resumed.context.len();
            grown = peak()?.saturating_sub(before);
        }
        let append = append(&path)?;
        println!(
            "{name:<10} {:>5} MB {entries:>8} {context:>11} {:>6} ms {:>5} MB {:>7.1} µs",
            size / 1_000_000,
            opened.as_millis(),
            grown / 1000,
            append.as_secs_f64() * 1e6,
        );
        fs::remove_file(path)?;
    }
    Ok(())
}

fn header() -> Value {
    json!({
        "type": "session", "version": 3, "id": "bench", "timestamp": "2026-01-01T00:00:00.000Z",
        "cwd": "/",
    })
}

/// A user's text, an answer with a call and its result, again and again.
fn entry(number: usize, text: &str) -> Value {
    let message = match number % 3 {
        0 => json!({"role": "user", "content": [{"type": "text", "text": text}], "timestamp": 1}),
        1 => json!({
            "role": "assistant", "api": "a", "provider": "p", "model": "m", "timestamp": 1,
            "content": [
                {"type": "text", "text": text},
                {"type": "toolCall", "id": "c", "name": "read", "arguments": {"path": "src/a.rs"}},
            ],
            "usage": {
                "input": 1200, "output": 345, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 1545,
                "cost": {
                    "input": 0.0036, "output": 0.005, "cacheRead": 0, "cacheWrite": 0,
                    "total": 0.0086,
                },
            },
            "stopReason": "toolUse",
        }),
        _ => json!({
            "role": "toolResult", "toolCallId": "c", "toolName": "read", "isError": false,
            "content": [{"type": "text", "text": text}], "details": {}, "timestamp": 1,
        }),
    };
    let mut entry = placed("message", number);
    entry["message"] = message;
    entry
}

fn placed(kind: &str, number: usize) -> Value {
    let parent = number.checked_sub(1).map(|parent| format!("{parent:08x}"));
    json!({
        "type": kind, "id": format!("{number:08x}"), "parentId": parent,
        "timestamp": "2026-01-01T00:00:00.000Z",
    })
}

fn written(folder: &Path, name: &str, entries: usize, compacted: bool) -> std::io::Result<PathBuf> {
    let path = folder.join(format!("{name}.jsonl"));
    let mut out = BufWriter::new(File::create(&path)?);
    writeln!(out, "{}", header())?;
    let text = "let answer = \"forty two\";\n".repeat(TEXT / 28);
    let compaction = entries - entries.min(500);
    for number in 0..entries {
        if compacted && number == compaction {
            let mut entry = placed("compaction", number);
            entry["summary"] = json!(text);
            entry["firstKeptEntryId"] = json!(format!("{:08x}", number - 20));
            entry["tokensBefore"] = json!(180_000);
            writeln!(out, "{entry}")?;
        } else {
            writeln!(out, "{}", entry(number, &text))?;
        }
    }
    out.flush()?;
    Ok(path)
}

/// The mean time of an append, the best of some rounds.
fn append(path: &Path) -> Result<Duration, Box<dyn std::error::Error>> {
    let mut store = SessionStore::open(path)?.store;
    let message: AgentMessage = serde_json::from_value(entry(0, "a line")["message"].take())?;
    let mut best = Duration::MAX;
    for _ in 0..ROUNDS {
        let start = Instant::now();
        for _ in 0..APPENDS {
            store.append_message(&message)?;
        }
        best = best.min(start.elapsed());
    }
    Ok(best / u32::try_from(APPENDS)?)
}

/// Peak resident memory in kB since the last time it was forgotten.
fn peak() -> std::io::Result<u64> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    Ok(line
        .and_then(|line| line.split_whitespace().next()?.parse().ok())
        .unwrap_or_default())
}

fn forget_peak() -> std::io::Result<()> {
    fs::write("/proc/self/clear_refs", "5")
}
