//! From hand-written bytes of the service to deltas.

#![allow(
    clippy::needless_pass_by_value,
    reason = "a JSON literal needs no `&` in front of it"
)]

mod connection;
mod ends;
mod rules;

use std::collections::VecDeque;

use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::decode::ResponsesDecoder;
use crate::event::{ErrorCode, StopReason};
use crate::model::answer::Reader;
use crate::model::{ModelDelta as D, ModelError, TokenUsage};

pub(in crate::model) fn decode(chunks: &[&[u8]]) -> (Vec<D>, Option<ModelError>) {
    let mut reader = Reader::new(ResponsesDecoder::new("mock-1"));
    let mut out = VecDeque::new();
    let fed = chunks
        .iter()
        .try_for_each(|chunk| reader.bytes(chunk, &mut out));
    let end = fed.and_then(|()| reader.end(&mut out));
    (out.into(), end.err())
}

fn data(events: &[Value]) -> String {
    let event = |event: &Value| {
        let name = event["type"].as_str().unwrap_or("message");
        format!("event: {name}\ndata: {event}\n\n")
    };
    events.iter().map(event).collect()
}

fn run(events: &[Value]) -> (Vec<D>, Option<ModelError>) {
    decode(&[data(events).as_bytes()])
}

fn added(at: u64, item: Value) -> Value {
    json!({"type": "response.output_item.added", "output_index": at, "item": item})
}

fn done(at: u64, item: Value) -> Value {
    json!({"type": "response.output_item.done", "output_index": at, "item": item})
}

fn piece(of: &str, at: u64, delta: &str) -> Value {
    json!({"type": format!("response.{of}.delta"), "output_index": at, "delta": delta})
}

fn said(at: u64, delta: &str) -> Value {
    piece("output_text", at, delta)
}

fn argued(at: u64, delta: &str) -> Value {
    piece("function_call_arguments", at, delta)
}

fn thought(at: u64, part: u64, delta: &str) -> Value {
    json!({"type": "response.reasoning_summary_text.delta", "output_index": at,
        "summary_index": part, "delta": delta})
}

fn end(status: &str) -> Value {
    json!({"type": format!("response.{status}"), "response": {"status": status}})
}

fn incomplete(reason: Value) -> Value {
    json!({"type": "response.incomplete", "response": {"status": "incomplete",
        "incomplete_details": {"reason": reason}}})
}

fn message(text: &str) -> Value {
    json!({"id": "msg_1", "type": "message", "role": "assistant",
        "content": [{"type": "output_text", "text": text}]})
}

fn function(call_id: &str, arguments: Value) -> Value {
    json!({"id": format!("fc_{call_id}"), "type": "function_call", "call_id": call_id,
        "name": "read", "arguments": arguments})
}

/// The deltas in short, `=index` for an end; without usage and the end.
fn outline(events: &[Value]) -> Vec<String> {
    let (deltas, error) = run(events);
    assert_eq!(error, None);
    let line = |delta: &D| match delta {
        D::TextStart { index } => Some(format!("text {index}")),
        D::ThinkingStart { index } => Some(format!("thinking {index}")),
        D::ToolcallStart { index, id, name } => Some(format!("call {index} {id} {name}")),
        D::TextDelta { index, delta }
        | D::ThinkingDelta { index, delta }
        | D::ToolcallDelta { index, delta } => Some(format!("{index}:{delta}")),
        D::TextEnd { index, .. }
        | D::ToolcallEnd { index }
        | D::ThinkingEnd {
            index,
            redacted: false,
            ..
        } => Some(format!("={index}")),
        _ => None,
    };
    deltas.iter().filter_map(line).collect()
}

fn finished(stop_reason: StopReason) -> D {
    D::Finished {
        stop_reason,
        refusal: None,
    }
}

/// As OpenAI sends it.
pub(in crate::model) fn everything() -> (String, Vec<D>) {
    let reasoning = json!({"id": "rs_1", "type": "reasoning", "summary": [
        {"type": "summary_text", "text": "Hm ä."}, {"type": "summary_text", "text": "So."}],
        "encrypted_content": "AA=="});
    let usage = json!({"input_tokens": 1040, "output_tokens": 30, "total_tokens": 1070,
        "input_tokens_details": {"cached_tokens": 1000},
        "output_tokens_details": {"reasoning_tokens": 12}});
    let text = data(&[
        json!({"type": "response.created", "sequence_number": 0,
            "response": {"id": "resp_1", "model": "mock-1-2030", "status": "in_progress"}}),
        json!({"type": "response.in_progress",
            "response": {"id": "resp_1", "model": "mock-1-2030", "error": null}}),
        added(0, json!({"id": "rs_1", "type": "reasoning", "summary": []})),
        json!({"type": "response.reasoning_summary_part.added", "output_index": 0,
            "summary_index": 0, "part": {"type": "summary_text", "text": ""}}),
        thought(0, 0, "Hm ä"),
        thought(0, 0, "."),
        thought(0, 1, "So."),
        done(0, reasoning.clone()),
        added(1, json!({"id": "msg_1", "type": "message", "content": []})),
        said(1, "😀 "),
        said(1, "Grüße"),
        json!({"type": "response.output_text.done", "output_index": 1, "text": "😀 Grüße"}),
        done(1, message("😀 Grüße")),
        added(2, function("a", "".into())),
        argued(2, "{\"a\":"),
        added(3, function("b", "".into())),
        argued(3, "{}"),
        argued(2, "1}"),
        json!({"type": "response.function_call_arguments.done", "output_index": 2,
            "arguments": "{\"a\":1}"}),
        done(2, function("a", "{\"a\":1}".into())),
        done(3, function("b", "{}".into())),
        json!({"type": "response.completed", "response": {"id": "resp_1", "model": "mock-1-2030",
            "status": "completed", "output": [message("😀 Grüße")], "usage": usage}}),
    ]);
    let thought = |delta: &str| D::ThinkingDelta {
        index: 0,
        delta: delta.to_owned(),
    };
    let said = |delta: &str| D::TextDelta {
        index: 1,
        delta: delta.to_owned(),
    };
    let call = |index, id: &str| D::ToolcallStart {
        index,
        id: id.to_owned(),
        name: "read".to_owned(),
    };
    let argued = |index, delta: &str| D::ToolcallDelta {
        index,
        delta: delta.to_owned(),
    };
    let deltas = vec![
        D::ResponseId("resp_1".to_owned()),
        D::ResponseModel("mock-1-2030".to_owned()),
        D::ThinkingStart { index: 0 },
        thought("Hm ä"),
        thought("."),
        thought("\n\n"),
        thought("So."),
        D::ThinkingEnd {
            index: 0,
            signature: Some(reasoning.to_string()),
            redacted: false,
        },
        D::TextStart { index: 1 },
        said("😀 "),
        said("Grüße"),
        D::TextEnd {
            index: 1,
            signature: Some(r#"{"v":1,"id":"msg_1"}"#.to_owned()),
        },
        call(2, "a|fc_a"),
        argued(2, "{\"a\":"),
        call(3, "b|fc_b"),
        argued(3, "{}"),
        argued(2, "1}"),
        D::ToolcallEnd { index: 2 },
        D::ToolcallEnd { index: 3 },
        D::Usage(TokenUsage {
            input: 40,
            output: 30,
            cache_read: 1000,
            reasoning: Some(12),
            total: Some(1070),
            ..TokenUsage::default()
        }),
        finished(StopReason::ToolUse),
    ];
    (format!(": comment\n\n{text}data: [DONE]\n\n"), deltas)
}

#[test]
fn every_kind_of_block() {
    let (text, deltas) = everything();
    assert_eq!(decode(&[text.as_bytes()]), (deltas, None));
}

#[test]
fn items_may_interleave() {
    let events = [
        added(0, function("a", "".into())),
        added(1, function("b", "".into())),
        argued(0, "{"),
        argued(1, "{}"),
        argued(0, "}"),
        done(1, function("b", "{}".into())),
        done(0, function("a", "{}".into())),
        end("completed"),
    ];
    assert_eq!(
        outline(&events),
        [
            "call 0 a|fc_a read",
            "call 1 b|fc_b read",
            "0:{",
            "1:{}",
            "0:}",
            "=1",
            "=0"
        ]
    );
}

#[test]
fn items_are_known_by_place_or_by_id_or_come_one_by_one() {
    let call = |id: &str| {
        json!({"type": "response.output_item.added",
        "item": {"id": id, "type": "function_call", "call_id": id, "name": "read"}})
    };
    let by_id = |id: &str, delta: &str| {
        json!({"output_index": null, "item_id": id, "delta": delta,
        "type": "response.function_call_arguments.delta"})
    };
    let by_id = [
        call("x"),
        call("y"),
        by_id("x", "{}"),
        by_id("y", "[]"),
        by_id("", "\n"),
        end("completed"),
    ];
    assert_eq!(
        outline(&by_id),
        [
            "call 0 x|x read",
            "call 1 y|y read",
            "0:{}",
            "1:[]",
            "1:\n",
            "=0",
            "=1"
        ]
    );
    // Every place the same: the latest.
    let same = [
        added(0, function("a", "".into())),
        argued(0, "{}"),
        done(0, function("a", "{}".into())),
        added(0, function("b", "".into())),
        argued(0, "[]"),
        done(0, function("b", "[]".into())),
        end("completed"),
    ];
    assert_eq!(
        outline(&same),
        [
            "call 0 a|fc_a read",
            "0:{}",
            "=0",
            "call 1 b|fc_b read",
            "1:[]",
            "=1"
        ]
    );
    // Another id with each event, as some gateways do.
    let mut shifting = added(0, function("a", "".into()));
    shifting["item"]["id"] = "fc_other".into();
    let shifting = [
        shifting,
        argued(0, "{}"),
        done(0, function("a", "{}".into())),
        end("completed"),
    ];
    assert_eq!(outline(&shifting), ["call 0 a|fc_other read", "0:{}", "=0"]);
}

#[test]
fn what_no_piece_said_comes_with_the_whole() {
    let item = json!({"id": "rs_1", "type": "reasoning", "summary": [],
        "content": [{"type": "reasoning_text", "text": "a"}, {"type": "reasoning_text", "text": "b"}]});
    let events = [
        // Not even their start was told.
        done(0, item),
        done(1, message("whole")),
        added(2, json!({"id": "msg_2", "type": "message"})),
        said(2, "who"),
        done(2, message("whole")),
        added(3, function("a", "".into())),
        argued(3, "{\"a\""),
        json!({"type": "response.function_call_arguments.done", "output_index": 3,
            "arguments": "{\"a\":1}"}),
        done(3, function("a", "{\"a\":1}".into())),
        done(4, function("b", json!({"b": 2}))),
        end("completed"),
    ];
    assert_eq!(
        outline(&events),
        [
            "thinking 0",
            "0:a\n\nb",
            "=0",
            "text 1",
            "1:whole",
            "=1",
            "text 2",
            "2:who",
            "2:le",
            "=2",
            "call 3 a|fc_a read",
            "3:{\"a\"",
            "3::1}",
            "=3",
            "call 4 b|fc_b read",
            "4:{\"b\":2}",
            "=4"
        ]
    );
    let mut only_end = end("completed");
    only_end["response"]["output"] = json!([message("all"), function("a", "{}".into())]);
    assert_eq!(
        outline(&[only_end]),
        ["text 0", "0:all", "=0", "call 1 a|fc_a read", "1:{}", "=1"]
    );
}

#[test]
fn arguments_that_are_not_those_of_the_pieces_are_no_call() {
    let ended = |pieces: &str, whole: &str| {
        run(&[
            added(0, function("a", "".into())),
            argued(0, pieces),
            done(0, function("a", whole.into())),
            end("completed"),
        ])
        .1
    };
    assert_eq!(ended("{\"a\": 1}", "{\"a\":1}"), None);
    assert_eq!(ended("{\"a\":1}", ""), None);
    let error = ended("{\"a\":\"rm x\"}", "{\"a\":\"rm -i x\"}").unwrap();
    assert_eq!(
        (error.code, error.retryable),
        (ErrorCode::ProviderError, false)
    );
}

#[test]
fn a_call_begins_when_it_has_a_name() {
    let mut nameless = function("a", "".into());
    nameless["name"] = Value::Null;
    let events = [
        added(0, nameless.clone()),
        argued(0, "{}"),
        done(0, function("a", "{}".into())),
        end("completed"),
    ];
    assert_eq!(outline(&events), ["call 0 a|fc_a read", "0:{}", "=0"]);
    // The tool that it asks for is not there, which is for the model to hear.
    let events = [done(0, nameless.clone()), end("completed")];
    assert_eq!(outline(&events), ["call 0 a|fc_a unnamed", "=0"]);
    // One whose end and arguments never came is none.
    for item in [nameless.clone(), function("a", "".into())] {
        let (_, error) = run(&[added(0, item), end("completed")]);
        let error = error.unwrap();
        assert_eq!((error.code, error.retryable), (ErrorCode::Network, true));
    }
    assert_eq!(run(&[added(0, nameless), incomplete("".into())]).1, None);
}

#[test]
fn calls_without_or_with_the_same_ids_get_their_own() {
    let bare = json!({"type": "function_call", "name": "ls", "arguments": "{}"});
    let events = [
        done(0, function("a", "{}".into())),
        done(1, function("a", "{}".into())),
        done(2, bare.clone()),
        done(3, bare),
        // The same place again, but another call.
        done(0, function("b", "{}".into())),
        end("completed"),
    ];
    let (deltas, _) = run(&events);
    let ids: Vec<&str> = deltas
        .iter()
        .filter_map(|delta| match delta {
            D::ToolcallStart { id, .. } => Some(id.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(ids[..2], ["a|fc_a", "a|fc_a_2"]);
    assert!(ids[2].starts_with("call_") && ids[2] != ids[3]);
    assert_eq!(ids[4..], ["b|fc_b"]);
}

#[test]
fn refusals_are_text_and_reasoning_text_is_thinking() {
    let refused = json!({"id": "msg_1", "type": "message", "phase": "final_answer",
        "content": [{"type": "refusal", "refusal": "No."}]});
    let events = [
        added(0, json!({"id": "rs_1", "type": "reasoning"})),
        thought(0, 0, "short"),
        piece("reasoning_text", 0, "long"),
        done(
            0,
            json!({"id": "rs_1", "type": "reasoning", "content": null}),
        ),
        added(1, json!({"id": "msg_1", "type": "message"})),
        piece("refusal", 1, "No."),
        done(1, refused),
        end("completed"),
    ];
    assert_eq!(
        outline(&events),
        [
            "thinking 0",
            "0:short",
            "0:\n\n",
            "0:long",
            "=0",
            "text 1",
            "1:No.",
            "=1"
        ]
    );
    let (deltas, _) = run(&events);
    let signature = r#"{"v":1,"id":"msg_1","phase":"final_answer"}"#.to_owned();
    let text = D::TextEnd {
        index: 1,
        signature: Some(signature),
    };
    assert!(deltas.contains(&text));
}

#[test]
fn a_thought_that_is_only_encrypted_is_a_block_without_text() {
    let item = json!({"id": "rs_1", "type": "reasoning", "summary": [], "encrypted_content": "AA"});
    let (deltas, error) = run(&[
        added(0, json!({"id": "rs_1", "type": "reasoning", "summary": []})),
        done(0, item.clone()),
        end("completed"),
    ]);
    let expected = [
        D::ThinkingStart { index: 0 },
        D::ThinkingEnd {
            index: 0,
            signature: Some(item.to_string()),
            redacted: false,
        },
        finished(StopReason::Stop),
    ];
    assert_eq!((deltas, error), (expected.into(), None));
}

#[test]
fn unknown_items_and_events_are_passed_over() {
    let search = json!({"id": "ws_1", "type": "web_search_call"});
    let events = [
        json!({"type": "keepalive"}),
        added(0, search.clone()),
        json!({"type": "response.web_search_call.searching", "output_index": 0, "delta": {}}),
        said(0, "of the unknown"),
        done(0, search),
        added(1, json!({"id": "msg_1", "type": "message"})),
        json!({"type": "response.content_part.added", "output_index": 1, "part": null}),
        said(1, ""),
        said(1, "x"),
        // No end of the item.
        end("completed"),
    ];
    assert_eq!(outline(&events), ["text 0", "0:x", "=0"]);
    // Nor its start.
    assert_eq!(
        outline(&[said(0, "a"), said(0, "b"), end("done")]),
        ["text 0", "0:a", "0:b", "=0"]
    );
}
