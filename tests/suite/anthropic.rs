//! The Messages API over a loopback socket, through the whole program.

use std::sync::mpsc::Receiver;

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::check::{Stream, text_at};
use crate::harness::{PATIENCE, Quipu, Run, World};
use crate::server::{Answer, End, Request, serve};

/// A stream of these events.
pub(crate) fn sse(events: &[Value]) -> Answer {
    let event = |event: &Value| {
        format!(
            "event: {}\ndata: {event}\n\n",
            event["type"].as_str().unwrap()
        )
    };
    Answer::events(events.iter().map(event).collect::<String>())
}

pub(crate) const KEY: &str = "canary-key-of-the-service";

/// The program on a server with a priced model.
fn quipu(world: &World, url: &str) -> Quipu {
    let models = json!({ "providers": { "loopback": {
        "baseUrl": url, "api": "anthropic-messages", "apiKey": KEY,
        "models": [{
            "id": "model-1", "reasoning": true, "input": ["text", "image"], "contextWindow": 200_000, "maxTokens": 8192,
            "cost": { "input": 3, "output": 15, "cacheRead": 0.3, "cacheWrite": 3.75 },
        }],
    }}});
    world.config("models.json", models.to_string());
    world.quipu().args(["--model", "loopback/model-1"])
}

fn begin(id: &str) -> Value {
    json!({ "type": "message_start", "message": {
        "id": id, "type": "message", "role": "assistant", "model": "model-1-dated", "content": [],
        "stop_reason": null, "stop_sequence": null,
        "usage": { "input_tokens": 1000, "output_tokens": 1, "cache_read_input_tokens": 2000,
            "cache_creation_input_tokens": 400,
            "cache_creation": { "ephemeral_5m_input_tokens": 300, "ephemeral_1h_input_tokens": 100 } },
    }})
}

fn block(index: usize, block: &Value, deltas: &[Value]) -> Vec<Value> {
    let mut events =
        vec![json!({ "type": "content_block_start", "index": index, "content_block": block })];
    for delta in deltas {
        events.push(json!({ "type": "content_block_delta", "index": index, "delta": delta }));
    }
    events.push(json!({ "type": "content_block_stop", "index": index }));
    events
}

fn words(pieces: &[&str]) -> Vec<Value> {
    pieces
        .iter()
        .map(|piece| json!({ "type": "text_delta", "text": piece }))
        .collect()
}

fn finish(reason: &str, output: u64) -> Vec<Value> {
    vec![
        json!({ "type": "message_delta", "delta": { "stop_reason": reason, "stop_sequence": null },
            "usage": { "output_tokens": output } }),
        json!({ "type": "message_stop" }),
    ]
}

/// An answer with every kind of block, a call included, and things nobody knows.
pub(crate) fn rich() -> Vec<Value> {
    let input = |text: &str| json!({ "type": "input_json_delta", "partial_json": text });
    let thought = [
        json!({ "type": "thinking_delta", "thinking": "Let me " }),
        json!({ "type": "thinking_delta", "thinking": "look – ü." }),
        json!({ "type": "signature_delta", "signature": "c2lnbmF0" }),
        json!({ "type": "signature_delta", "signature": "dXJl" }),
    ];
    let call = json!({ "type": "tool_use", "id": "toolu_1", "name": "read", "input": {} });
    [
        vec![begin("msg_1"), json!({ "type": "ping" })],
        block(
            0,
            &json!({ "type": "thinking", "thinking": "", "signature": "" }),
            &thought,
        ),
        block(
            1,
            &json!({ "type": "redacted_thinking", "data": "b3BhcXVl" }),
            &[],
        ),
        vec![json!({ "type": "weather_report", "sunny": true })],
        block(
            2,
            &json!({ "type": "hologram", "light": "blue" }),
            &[json!({ "type": "hologram_delta" })],
        ),
        block(
            3,
            &json!({ "type": "text", "text": "" }),
            &words(&["I read ", "😀", " it."]),
        ),
        block(
            4,
            &call,
            &[input(""), input("{\"path\": \"no"), input("tes.txt\"}")],
        ),
        finish("tool_use", 50),
    ]
    .concat()
}

/// An answer that is one text.
pub(crate) fn plain(text: &[&str]) -> Vec<Value> {
    let block = block(0, &json!({ "type": "text", "text": "" }), &words(text));
    [vec![begin("msg_2")], block, finish("end_turn", 9)].concat()
}

/// Two requests with a tool between, served in pieces of so many bytes.
fn conversation(piece: usize) -> (Run, Receiver<Request>) {
    let world = World::new();
    world.file("notes.txt", "a note\n");
    let answers = [rich(), plain(&["Read."])].map(|events| sse(&events).in_pieces(piece));
    let (url, requests) = serve(answers.to_vec());
    (quipu(&world, &url).arg("Read the notes").run(), requests)
}

/// The body of the one request of a run.
pub(crate) fn asked(world: &World, arrange: impl FnOnce(Quipu) -> Quipu) -> Value {
    let (url, requests) = serve(vec![sse(&plain(&["Seen."]))]);
    let stream = arrange(quipu(world, &url)).run().stream();
    assert_eq!(stream.outcome(), "completed");
    requests.recv().unwrap().body
}

/// Runs for [`crate::coverage`].
pub(crate) fn runs() -> Vec<Stream> {
    vec![conversation(usize::MAX).0.stream()]
}

fn assert_near(value: &Value, expected: f64) {
    let value = value.as_f64().unwrap();
    assert!(
        (value - expected).abs() < 1e-12,
        "{value} is not {expected}"
    );
}

#[test]
fn an_answer_becomes_events_exactly() {
    let (run, _requests) = conversation(usize::MAX);
    let stream = run.stream();
    assert_eq!((stream.outcome(), run.code()), ("completed", 0));
    let answer = stream.messages("assistant")[0];
    let content = json!([
        { "type": "thinking", "thinking": "Let me look – ü.", "thinkingSignature": "c2lnbmF0dXJl" },
        { "type": "thinking", "thinking": answer["content"][1]["thinking"],
            "thinkingSignature": "b3BhcXVl", "redacted": true },
        { "type": "text", "text": "I read 😀 it." },
        { "type": "toolCall", "id": "toolu_1", "name": "read", "arguments": { "path": "notes.txt" } },
    ]);
    assert_eq!(answer["content"], content);
    assert_eq!(text_at(answer, "/responseId"), "msg_1");
    assert_eq!(text_at(answer, "/responseModel"), "model-1-dated");
    assert_eq!(text_at(answer, "/stopReason"), "toolUse");
    let told: Vec<&str> = stream
        .deltas("text_delta")
        .iter()
        .map(|d| text_at(d, "/delta"))
        .collect();
    assert_eq!(told, ["I read ", "😀", " it.", "Read."]);
    let told: Vec<&str> = stream
        .deltas("toolcall_delta")
        .iter()
        .map(|d| text_at(d, "/delta"))
        .collect();
    assert_eq!(told, ["{\"path\": \"no", "tes.txt\"}"]);
    assert!(stream.results()[0].contains("a note"));

    let usage = &answer["usage"];
    let tokens = [
        "input",
        "output",
        "cacheRead",
        "cacheWrite",
        "cacheWrite1h",
        "totalTokens",
    ];
    assert_eq!(
        tokens.map(|name| usage[name].as_u64().unwrap()),
        [1000, 50, 2000, 400, 100, 3450]
    );
    assert_near(&usage["cost"]["input"], 0.003);
    assert_near(&usage["cost"]["output"], 0.000_75);
    assert_near(&usage["cost"]["cacheRead"], 0.000_6);
    // An hour of keeping costs twice the input price, five minutes what the model file says.
    assert_near(
        &usage["cost"]["cacheWrite"],
        (300.0 * 3.75 + 100.0 * 6.0) / 1e6,
    );
}

#[test]
fn bytes_may_be_cut_anywhere() {
    let bare = |run: &Run| {
        let mut lines = run.stream().lines;
        lines.iter_mut().for_each(timeless);
        lines
    };
    let whole = bare(&conversation(usize::MAX).0);
    for piece in [1, 7] {
        assert_eq!(
            bare(&conversation(piece).0),
            whole,
            "in pieces of {piece} bytes"
        );
    }
}

/// Takes out times, places and ids.
fn timeless(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            if fields.get("type").is_some_and(|kind| kind == "session") {
                fields.remove("id");
                fields.remove("cwd");
            }
            fields.remove("timestamp");
            fields.remove("durationMs");
            fields.values_mut().for_each(timeless);
        }
        Value::Array(items) => items.iter_mut().for_each(timeless),
        _ => {}
    }
}

#[test]
fn requests_are_as_the_service_wants_them() {
    let (run, requests) = conversation(usize::MAX);
    run.stream();
    let (first, second) = (
        requests.recv_timeout(PATIENCE).unwrap(),
        requests.recv_timeout(PATIENCE).unwrap(),
    );
    let head = first.head.to_ascii_lowercase();
    assert!(head.starts_with("post /v1/messages http/1.1"), "{head}");
    for header in [
        &format!("x-api-key: {KEY}"),
        "anthropic-version: 2023-06-01",
        "content-type: application/json",
    ] {
        assert!(head.contains(header), "{header} is not in {head}");
    }
    assert_eq!(
        (&first.body["model"], &first.body["stream"]),
        (&json!("model-1"), &json!(true))
    );
    assert!(
        first.body["max_tokens"]
            .as_u64()
            .is_some_and(|tokens| tokens > 0)
    );
    let tools: Vec<&str> = first.body["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| text_at(tool, "/name"))
        .collect();
    assert_eq!(
        tools,
        [
            "read",
            "bash",
            "edit",
            "write",
            "grep",
            "find",
            "ls",
            "tasks_update",
            "suggest_next",
            "subagent",
            "wait"
        ]
    );
    assert!(
        first.body["system"]
            .to_string()
            .contains("Working directory")
    );
    assert!(
        first.body["messages"][0]
            .to_string()
            .contains("Read the notes")
    );

    let messages = second.body["messages"].as_array().unwrap();
    let roles: Vec<&str> = messages
        .iter()
        .map(|message| text_at(message, "/role"))
        .collect();
    assert_eq!(roles, ["user", "assistant", "user"]);
    let sent = messages[1]["content"].as_array().unwrap();
    let kinds: Vec<&str> = sent.iter().map(|block| text_at(block, "/type")).collect();
    assert_eq!(kinds, ["thinking", "redacted_thinking", "text", "tool_use"]);
    assert_eq!(text_at(&sent[0], "/signature"), "c2lnbmF0dXJl");
    assert_eq!(text_at(&sent[1], "/data"), "b3BhcXVl");
    let result = &messages[2]["content"][0];
    assert_eq!(
        (text_at(result, "/type"), text_at(result, "/tool_use_id")),
        ("tool_result", "toolu_1")
    );
    assert!(result["content"].to_string().contains("a note"));
}

#[test]
fn a_key_that_a_tool_finds_is_not_told() {
    let world = World::new();
    let call = json!({ "type": "tool_use", "id": "toolu_1", "name": "bash", "input": {} });
    let input = json!({ "command": "cat ../config/models.json" }).to_string();
    let input = json!({ "type": "input_json_delta", "partial_json": input });
    let asks = [
        vec![begin("msg_1")],
        block(0, &call, &[input]),
        finish("tool_use", 9),
    ]
    .concat();
    let (url, requests) = serve(vec![sse(&asks), sse(&plain(&["Read."]))]);
    let run = quipu(&world, &url).arg("hi").run();
    let stream = run.stream();
    assert!(
        stream.results()[0].contains("loopback"),
        "{}",
        stream.results()[0]
    );
    assert!(
        !String::from_utf8_lossy(&run.stdout).contains(KEY),
        "the key was told"
    );
    let (_, second) = (
        requests.recv_timeout(PATIENCE).unwrap(),
        requests.recv_timeout(PATIENCE).unwrap(),
    );
    assert!(!second.body.to_string().contains(KEY));
}

#[test]
fn a_limit_of_cost() {
    let world = World::new();
    let call = json!({ "type": "tool_use", "id": "toolu_1", "name": "bash", "input": {} });
    let input = json!({ "command": "true" }).to_string();
    let input = json!({ "type": "input_json_delta", "partial_json": input });
    let asks = [
        vec![begin("msg_1")],
        block(0, &call, &[input]),
        finish("tool_use", 9),
    ]
    .concat();
    let (url, _requests) = serve(vec![sse(&asks), sse(&plain(&["never"]))]);
    let run = quipu(&world, &url)
        .args(["--max-cost", "0.000001", "hi"])
        .run();
    let stream = run.stream();
    assert_eq!(
        (stream.outcome(), stream.error_code(), run.code()),
        ("limit", "limit", 1)
    );
    assert!(stream.error_message().contains("--max-cost"));
    assert_eq!(
        (&stream.end()["turns"], stream.results().len()),
        (&json!(1), 1)
    );
}

#[test]
fn what_came_before_a_cut_is_kept() {
    let world = World::new();
    let mut answer = sse(&rich());
    answer.body.truncate(answer.body.len() / 2);
    let (url, _requests) = serve(vec![answer.ending(End::Cut)]);
    let stream = quipu(&world, &url).arg("hi").run().stream();
    assert_eq!(stream.error_code(), "network");
    let message = stream.messages("assistant")[0];
    assert_eq!(text_at(message, "/content/0/thinking"), "Let me look – ü.");
}

#[test]
fn header_and_prompt_come_before_the_service_answers() {
    let world = World::new();
    let silent = sse(&[]).ending(End::Silence);
    let (url, requests) = serve(vec![silent]);
    let mut live = quipu(&world, &url).arg("hi").live();
    live.until("message_end");
    requests.recv_timeout(PATIENCE).unwrap();
    live.signal(Signal::TERM);
    let stream = live.end().stream();
    let message = stream.messages("assistant")[0];
    assert_eq!(
        (text_at(message, "/stopReason"), &message["content"]),
        ("aborted", &json!([]))
    );
    assert_eq!(stream.outcome(), "interrupted");
}
