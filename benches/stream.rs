//! How fast a stream is made and read: `cargo bench --bench stream`.
//!
//! Items are lines; the bytes beside them are those of the lines, so that the rate compares with
//! `cat` of the same file.

use std::io::{self, Write};
use std::sync::atomic::{AtomicU64, Ordering};

use divan::Bencher;
use divan::counter::{BytesCount, ItemsCount};
use quipu::event::tracker::Tracker;
use quipu::event::{
    AgentMessage, AssistantMessage, AssistantMessageEvent, MessageFold, MessageUpdateEvent,
    Outcome, PartialJson, QuipuEvent,
};
use quipu::wire::{Ending, Output, WireOptions};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

const DELTAS: usize = 20_000;

fn main() {
    divan::main();
}

fn parse(value: Value) -> QuipuEvent {
    serde_json::from_value(value).expect("an event of the schema")
}

fn usage() -> Value {
    json!({
        "input": 1200, "output": 345, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 1545,
        "cost": {"input": 0.0036, "output": 0.005, "cacheRead": 0, "cacheWrite": 0, "total": 0.0086},
    })
}

fn answer() -> Value {
    json!({
        "role": "assistant", "content": [], "api": "offline", "provider": "offline", "model": "m",
        "usage": usage(), "stopReason": "pending", "timestamp": 1_700_000_000_000_u64,
    })
}

fn update(delta: &Value) -> QuipuEvent {
    parse(json!({"type": "message_update", "usage": usage(), "assistantMessageEvent": delta}))
}

/// Header, one run, and an answer of a text and a call that grow by `DELTAS` pieces.
fn stream() -> Vec<QuipuEvent> {
    let mut events = vec![
        parse(json!({
            "type": "session", "version": 3, "id": "s", "timestamp": "2026-01-01T00:00:00.000Z",
            "cwd": "/", "stream": {"wire": "quipu", "version": "1.0.0", "schema": "sha256:0"},
        })),
        parse(json!({"type": "agent_start"})),
        parse(json!({"type": "turn_start"})),
        parse(json!({"type": "message_start", "message": answer()})),
        update(&json!({"type": "text_start", "contentIndex": 0})),
    ];
    for number in 0..DELTAS / 2 {
        let delta = format!("word {number}, wört {number}\n");
        events.push(update(
            &json!({"type": "text_delta", "contentIndex": 0, "delta": delta}),
        ));
    }
    events.push(update(&json!({
        "type": "toolcall_start", "contentIndex": 1, "id": "call_1", "toolName": "write",
    })));
    for piece in pieces() {
        events.push(update(
            &json!({"type": "toolcall_delta", "contentIndex": 1, "delta": piece}),
        ));
    }
    events
}

/// The arguments of a large `write`, as a service streams them.
fn pieces() -> Vec<String> {
    let mut pieces = vec![r#"{"path":"notes.md","content":""#.to_owned()];
    pieces.extend((2..DELTAS / 2).map(|number| format!("line {number}\\n\\u00e9 \\\"q\\\" ")));
    pieces.push(r#""}"#.to_owned());
    pieces
}

fn lines(events: &[QuipuEvent]) -> Vec<String> {
    let line = |event| serde_json::to_string(event).expect("a line");
    events.iter().map(line).collect()
}

fn size(lines: &[String]) -> BytesCount {
    BytesCount::new(lines.iter().map(|line| line.len() + 1).sum::<usize>())
}

fn deltas(events: &[QuipuEvent]) -> Vec<AssistantMessageEvent> {
    let delta = |event: &QuipuEvent| match event {
        QuipuEvent::MessageUpdate(MessageUpdateEvent {
            assistant_message_event,
            ..
        }) => Some(assistant_message_event.clone()),
        _ => None,
    };
    events.iter().filter_map(delta).collect()
}

/// Takes everything and keeps nothing.
struct Drain(&'static AtomicU64);

impl Write for Drain {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Event channel, tracker, lines and writer together, as a run uses them.
#[divan::bench(sample_count = 20)]
fn emit(bencher: Bencher) {
    static TAKEN: AtomicU64 = AtomicU64::new(0);
    let events = stream();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .expect("a runtime");
    bencher
        .counter(size(&lines(&events)))
        .counter(ItemsCount::new(events.len()))
        .with_inputs(|| events.clone())
        .bench_values(|events| {
            runtime.block_on(async {
                let cancel = CancellationToken::new();
                let options = WireOptions::default();
                let (sender, output) = Output::start(options, Drain(&TAKEN), || 0, cancel)
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
                output.finish(ending, std::future::pending()).await
            })
        });
}

/// The tracker alone.
#[divan::bench(sample_count = 20)]
fn track(bencher: Bencher) {
    let events = stream();
    bencher
        .counter(size(&lines(&events)))
        .counter(ItemsCount::new(events.len()))
        .bench(|| {
            let mut tracker = Tracker::default();
            for event in &events {
                tracker.observe(event).expect("a legal stream");
            }
            tracker
        });
}

/// The deltas to the message that they make.
#[divan::bench(sample_count = 20)]
fn fold(bencher: Bencher) {
    let events = stream();
    let deltas = deltas(&events);
    bencher
        .counter(size(&lines(&events)))
        .counter(ItemsCount::new(deltas.len()))
        .bench(|| {
            let mut fold = MessageFold::default();
            for delta in &deltas {
                fold.apply(delta).expect("a legal delta");
            }
            fold.content()
        });
}

/// Lines to events.
#[divan::bench(sample_count = 20)]
fn read(bencher: Bencher) {
    let lines = lines(&stream());
    bencher
        .counter(size(&lines))
        .counter(ItemsCount::new(lines.len()))
        .bench(|| {
            for line in &lines {
                let event: QuipuEvent = serde_json::from_str(line).expect("a line");
                divan::black_box(event);
            }
        });
}

/// Growing arguments, looked at after each piece.
#[divan::bench(sample_count = 20)]
fn partial_json(bencher: Bencher) {
    let pieces = pieces();
    bencher
        .counter(BytesCount::new(
            pieces.iter().map(String::len).sum::<usize>(),
        ))
        .counter(ItemsCount::new(pieces.len()))
        .bench(|| {
            let mut arguments = PartialJson::default();
            for piece in &pieces {
                arguments.push(piece);
                divan::black_box(arguments.value());
            }
            arguments.finish().expect("whole arguments")
        });
}

/// Whether a message says what its deltas did.
#[divan::bench(sample_count = 20)]
fn agree(bencher: Bencher) {
    let mut fold = MessageFold::default();
    for delta in &deltas(&stream()) {
        fold.apply(delta).expect("a legal delta");
    }
    let start: AgentMessage = serde_json::from_value(answer()).expect("a message");
    let AgentMessage::Assistant(start) = start else {
        unreachable!("the message of an assistant")
    };
    let message = AssistantMessage {
        content: fold.content(),
        ..start
    };
    bencher.bench(|| fold.agrees_with(&message).expect("the same"));
}
