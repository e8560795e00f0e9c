//! What the dreb wire costs beyond its bytes: `cargo bench --bench dreb`.
//!
//! By its contract each update repeats the whole message twice, so the bytes grow with the square of
//! the answer. The time from native events to a pipe that is read is held against the time that the
//! bytes alone take through the same pipe; the goal is a ratio of at most 2.

#![allow(clippy::print_stdout, reason = "a bench prints its figures")]

use std::io::{self, PipeWriter, Read as _, Write as _};
use std::time::{Duration, Instant};

use quipu::event::{Outcome, QuipuEvent};
use quipu::wire::{Ending, Output, Projection, Wire, WireOptions};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

/// The best of so many rounds counts, as others may use the machine.
const ROUNDS: usize = 7;

fn main() {
    println!("growing    deltas        bytes   copied  projected  ratio");
    for (name, stream) in [
        ("text", text as fn(usize) -> Vec<Value>),
        ("arguments", arguments),
    ] {
        for deltas in [2000, 4000] {
            let events = events(stream(deltas));
            let lengths = lengths(&events);
            let copied = best(|| copy(&lengths));
            let projected = best(|| project(&events));
            println!(
                "{name:<10} {deltas:>6} {:>9} KB {:>5} ms {:>7} ms {:>6.2}",
                lengths.iter().sum::<usize>() / 1000,
                copied.as_millis(),
                projected.as_millis(),
                projected.as_secs_f64() / copied.as_secs_f64(),
            );
        }
    }
}

fn best(mut round: impl FnMut() -> Duration) -> Duration {
    (0..ROUNDS).map(|_| round()).min().unwrap_or_default()
}

fn usage() -> Value {
    json!({
        "input": 1200, "output": 345, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 1545,
        "cost": {"input": 0.0036, "output": 0.005, "cacheRead": 0, "cacheWrite": 0, "total": 0.0086},
    })
}

fn update(delta: &Value) -> Value {
    json!({"type": "message_update", "usage": usage(), "assistantMessageEvent": delta})
}

/// A text of lines with a few escapes.
fn text(deltas: usize) -> Vec<Value> {
    let mut updates = vec![update(&json!({"type": "text_start", "contentIndex": 0}))];
    updates.extend((0..deltas).map(|number| {
        let delta = format!("word {number}, wört {number}\n");
        update(&json!({"type": "text_delta", "contentIndex": 0, "delta": delta}))
    }));
    updates
}

/// The arguments of a large `write`, as a service streams them.
fn arguments(deltas: usize) -> Vec<Value> {
    let mut updates = vec![
        update(&json!({
            "type": "toolcall_start", "contentIndex": 0, "id": "call_1", "toolName": "write",
        })),
        update(&json!({
            "type": "toolcall_delta", "contentIndex": 0,
            "delta": r#"{"path":"notes.md","content":""#,
        })),
    ];
    updates.extend((0..deltas).map(|number| {
        let delta = format!("line {number}\\n\\u00e9 \\\"q\\\" ");
        update(&json!({"type": "toolcall_delta", "contentIndex": 0, "delta": delta}))
    }));
    updates
}

fn events(updates: Vec<Value>) -> Vec<QuipuEvent> {
    let begin = [
        json!({
            "type": "session", "version": 3, "id": "s", "timestamp": "2026-01-01T00:00:00.000Z",
            "cwd": "/", "stream": {"wire": "quipu", "version": "1.0.0", "schema": "sha256:0"},
        }),
        json!({"type": "agent_start"}),
        json!({"type": "turn_start"}),
        json!({"type": "message_start", "message": {
            "role": "assistant", "content": [], "api": "offline", "provider": "offline",
            "model": "m", "usage": usage(), "stopReason": "pending", "timestamp": 1,
        }}),
    ];
    let lines = begin.into_iter().chain(updates);
    lines
        .map(|line| serde_json::from_value(line).expect("an event of the schema"))
        .collect()
}

/// How long each line is.
fn lengths(events: &[QuipuEvent]) -> Vec<usize> {
    let mut projection = Projection::new(Wire::Dreb);
    let mut lengths = Vec::new();
    let mut line = Vec::new();
    for event in events {
        projection.project(event.clone(), |written| {
            line.clear();
            written.append_to(&mut line).expect("a line");
            lengths.push(line.len());
        });
    }
    lengths
}

/// The time until a reader has taken all that `write` writes.
fn through_a_pipe(write: impl FnOnce(PipeWriter)) -> Duration {
    let (mut reader, writer) = io::pipe().expect("a pipe");
    let began = Instant::now();
    let taken = std::thread::spawn(move || {
        let mut buffer = vec![0; 1 << 16];
        while reader.read(&mut buffer).expect("bytes") > 0 {}
    });
    write(writer);
    taken.join().expect("a reader");
    began.elapsed()
}

/// Lines of the same lengths, from bytes that are there.
fn copy(lengths: &[usize]) -> Duration {
    let bytes = vec![b'x'; lengths.iter().copied().max().unwrap_or_default()];
    through_a_pipe(|mut pipe| {
        for length in lengths {
            pipe.write_all(&bytes[..*length]).expect("a reader");
        }
    })
}

/// Event channel, tracker, projection and writer together, as a run uses them.
fn project(events: &[QuipuEvent]) -> Duration {
    let events = events.to_vec();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .expect("a runtime");
    through_a_pipe(|pipe| {
        runtime.block_on(async {
            let options = WireOptions {
                wire: Wire::Dreb,
                ..WireOptions::default()
            };
            let (sender, output) = Output::start(options, pipe, || 0, CancellationToken::new())
                .expect("a thread for the writer");
            for event in events {
                sender.send(event).await.expect("a reader");
            }
            let ending = Ending {
                outcome: Outcome::Completed,
                exit_code: 0,
                error: None,
                model: None,
            };
            output.finish(ending, std::future::pending()).await;
        });
    })
}
